/* The contract's tables without holes: copied, checked, and each NULL replaced by its default. */
#ifndef VYRE_RUNTIME_SLOTS_H
#define VYRE_RUNTIME_SLOTS_H

#include <vyre/backend.h>
#include <vyre/status.h>

/* Every slot of a backend that may be NULL, and of a pipeline. */
#define VYRE_OPTIONAL_SLOTS(X)                                                                     \
    X(version)                                                                                     \
    X(supported_ops)                                                                               \
    X(dispatch_borrowed)                                                                           \
    X(dispatch_borrowed_timed)                                                                     \
    X(dispatch_borrowed_into)                                                                      \
    X(dispatch_async)                                                                              \
    X(dispatch_borrowed_async)                                                                     \
    X(resident_allocate)                                                                           \
    X(resident_upload)                                                                             \
    X(resident_read)                                                                               \
    X(resident_free)                                                                               \
    X(resident_dispatch_timed)                                                                     \
    X(ticket_done)                                                                                 \
    X(ticket_wait)                                                                                 \
    X(compile_native)                                                                              \
    X(compile_native_shared)                                                                       \
    X(cache_snapshot)                                                                              \
    X(features)                                                                                    \
    X(max_workgroup_size)                                                                          \
    X(max_workgroups_per_dimension)                                                                \
    X(max_invocations_per_workgroup)                                                               \
    X(subgroup_size)                                                                               \
    X(max_storage_buffer_bytes)                                                                    \
    X(device_profile)                                                                              \
    X(prepare)                                                                                     \
    X(flush)                                                                                       \
    X(shutdown)                                                                                    \
    X(device_lost)                                                                                 \
    X(try_recover)                                                                                 \
    X(destroy)                                                                                     \
    X(dispatch_in_place)                                                                           \
    X(resident_import)                                                                             \
    X(resident_address)                                                                            \
    X(resident_range)                                                                              \
    X(resident_copy)                                                                               \
    X(resident_fill)                                                                               \
    X(memory_pin)                                                                                  \
    X(memory_unpin)

#define VYRE_PIPELINE_SLOTS(X)                                                                     \
    X(dispatch)                                                                                    \
    X(dispatch_borrowed)                                                                           \
    X(dispatch_borrowed_timed)                                                                     \
    X(dispatch_borrowed_into)                                                                      \
    X(enqueue)                                                                                     \
    X(size_bytes)                                                                                  \
    X(destroy)                                                                                     \
    X(dispatch_in_place)

/* Whether a host of one ABI takes a table that needs another. */
bool vyre_abi_suits(uint32_t needed, uint32_t host);

/* Takes over what a factory made, with a table without holes. The id must be that of the
 * registration. On failure it destroys what the factory made, as far as its table can be trusted.
 */
VYRE_MUST_USE vyre_status vyre_backend_adopt(const vyre_backend *made, const char *id,
                                             vyre_backend **out_backend);
/* Destroys and frees it; NULL is allowed. */
void vyre_backend_drop(vyre_backend *backend);

/* Takes over an executable likewise. `made->slots` is not NULL; the artifact stays the caller's. */
VYRE_MUST_USE vyre_status vyre_native_adopt(const vyre_native *made, const vyre_backend *backend,
                                            vyre_native **out_native);
void vyre_native_drop(vyre_native *native);

/* Whether it has every slot that resident buffers need; whether it compiles programs. */
bool vyre_backend_has_residents(const vyre_backend *backend);
bool vyre_backend_compiles(const vyre_backend *backend);
/* Whether it reports the addresses of its buffers; whether it makes ranges of them. */
bool vyre_backend_has_addresses(const vyre_backend *backend);
bool vyre_backend_has_ranges(const vyre_backend *backend);

/* Calls a slot of the executable that the call carries, or without one the backend's own. */
#define VYRE_CALL_SLOT(slot, backend, call, ...)                                                   \
    ((call)->native ? (call)->native->slots->slot((call)->native, (call), __VA_ARGS__)             \
                    : (backend)->slots->slot((backend), (call), __VA_ARGS__))

/* A run that is over; and a check of the table of a run that a backend started. */
extern const vyre_pending_run vyre_ready_run;
VYRE_MUST_USE vyre_status vyre_check_run(const vyre_backend *backend, const vyre_pending_run *run);

/* Whether a backend left the list of outputs that it was given as it is. */
VYRE_MUST_USE vyre_status vyre_outputs_check(const vyre_output *given, const vyre_output *outputs,
                                             size_t count);

/* Outputs of the same sizes in memory of their own, NULL without memory. vyre_outputs_settle ends a
 * run into them: it copies them after success and frees them. */
vyre_output *vyre_outputs_aside(const vyre_output *outputs, size_t count);
VYRE_MUST_USE vyre_status vyre_outputs_settle(vyre_output *aside, vyre_output *outputs,
                                              size_t count, vyre_status status);

/* The arguments that a run in place writes, call->output_count of them. */
void vyre_outputs_in_place(const vyre_call *call, const vyre_output *arguments,
                           vyre_output *out_outputs);

/* Times of a run that was not timed, and of one with wall time alone. */
extern const vyre_timing vyre_no_times;
vyre_timing vyre_wall_time(uint64_t start_ns);

/* Refuses memory to import that is not the host's, for backends that work in host memory. */
VYRE_MUST_USE vyre_status vyre_check_host_memory(const vyre_backend *backend,
                                                 const vyre_memory *memory);

/* Limits of backends that run everything that the language allows. */
void vyre_any_workgroup_size(const vyre_backend *backend, uint32_t out_size[3]);
void vyre_any_workgroup_count(const vyre_backend *backend, uint32_t out_count[3]);
uint32_t vyre_any_invocations(const vyre_backend *backend);

/* The services of this library. */
const vyre_host *vyre_host_services(void);

#endif
