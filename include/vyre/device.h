/* Device: a backend that was acquired, ready to run programs.
 *
 *     vyre_device *device;
 *     status = vyre_acquire("preferred", &device);
 *     status = vyre_device_dispatch(device, program, inputs, 2, NULL, &outputs);
 *     vyre_outputs_free(&outputs);
 *     vyre_device_release(device);
 *
 * To run a program often, compile it: pipeline.h. Any thread may use a device at any time. Whatever
 * a backend lacks the host adds: phases and grid barriers become several runs, missing slots get
 * their defaults. `config` may be NULL everywhere.
 *
 * A device belongs to the process that opened it. In a child of fork() every call on it is refused
 * with VYRE_STATUS_INVALID_ARGUMENT; the child may acquire devices of its own. */
#ifndef VYRE_DEVICE_H
#define VYRE_DEVICE_H

#include <vyre/dispatch.h>
#include <vyre/registry.h>

#ifdef __cplusplus
extern "C" {
#endif

VYRE_API vyre_device *vyre_device_retain(vyre_device *device);
/* The last release waits for all work and frees resident buffers. NULL is allowed. */
VYRE_API void vyre_device_release(vyre_device *device);

VYRE_API const char *vyre_device_id(const vyre_device *device);   /* of the backend */
VYRE_API const char *vyre_device_name(const vyre_device *device); /* "cuda:1", "reference" */
VYRE_API const char *vyre_device_version(const vyre_device *device);

/* What it can do; see the slots of the same names in backend.h. */
VYRE_API const vyre_op_set *vyre_device_supported_ops(const vyre_device *device);
VYRE_API uint32_t vyre_device_features(const vyre_device *device);
VYRE_API void vyre_device_max_workgroup_size(const vyre_device *device, uint32_t out_size[3]);
VYRE_API void vyre_device_max_workgroups_per_dimension(const vyre_device *device,
                                                       uint32_t out_count[3]);
VYRE_API uint32_t vyre_device_max_invocations_per_workgroup(const vyre_device *device);
VYRE_API uint32_t vyre_device_subgroup_size(const vyre_device *device);
VYRE_API uint64_t vyre_device_max_storage_buffer_bytes(const vyre_device *device);
VYRE_API void vyre_device_profile(const vyre_device *device, vyre_profile *out_profile);

/* Runs a program with inputs that are read during the call. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch(
    vyre_device *device, const vyre_program *program, const vyre_input *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_outputs *out_outputs);

/* The same with inputs that the run may overwrite, aligned as the C library's allocator aligns:
 * saves a backend a copy. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_owned(
    vyre_device *device, const vyre_program *program, const vyre_output *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_outputs *out_outputs);

/* The same, with the times that the device can tell; others are VYRE_NO_TIME. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_timed(
    vyre_device *device, const vyre_program *program, const vyre_input *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_outputs *out_outputs, vyre_timing *out_timing);

/* The same into outputs of an earlier run, or of the caller: where number and sizes are those of
 * the result their memory is written, else they are freed and made again. So memory of the caller's
 * own must have the right sizes. Outputs that overlap an input or one another are refused. A
 * failure before the device starts leaves them alone. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_into(
    vyre_device *device, const vyre_program *program, const vyre_input *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_outputs *outputs);

/* A run that goes on by itself. Inputs are gone when the call returns. */
typedef struct vyre_pending vyre_pending;

VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_async(
    vyre_device *device, const vyre_program *program, const vyre_input *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_pending **out_pending);
/* The same with inputs as for vyre_device_dispatch_owned, which stay the run's until it is freed.
 */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_owned_async(
    vyre_device *device, const vyre_program *program, const vyre_output *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_pending **out_pending);
/* Never blocks. */
VYRE_API bool vyre_pending_is_ready(vyre_pending *pending);
/* Waits, and gives the outputs; a second call is refused. */
VYRE_API VYRE_MUST_USE vyre_status vyre_pending_await(vyre_pending *pending,
                                                      vyre_outputs *out_outputs);
/* With or without having waited; NULL is allowed. */
VYRE_API void vyre_pending_free(vyre_pending *pending);

/* Resident buffers: memory on the device. A handle is a value; one that was freed, or that belongs
 * to another device, is refused wherever it is used. */
typedef struct vyre_resident {
    uint64_t owner;
    uint32_t index, generation;
} vyre_resident;

VYRE_API VYRE_MUST_USE vyre_status vyre_resident_allocate(vyre_device *device, size_t size,
                                                          vyre_resident *out_resident);
/* The whole of it. Runs behind work that was enqueued before on the same buffer. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_upload(vyre_device *device, vyre_resident resident,
                                                        const void *data, size_t size);
/* A part of it, likewise. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_upload_at(vyre_device *device,
                                                           vyre_resident resident, size_t offset,
                                                           const void *data, size_t size);
/* A part of it, after all work that was enqueued before on the same buffer. If the last work that
 * wrote it failed, this is told here, too, until there are new contents. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_read(vyre_device *device, vyre_resident resident,
                                                      size_t offset, void *data, size_t size);
/* Refused while work that uses it goes on. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_free(vyre_device *device, vyre_resident resident);

/* An argument of a run on resident buffers: a buffer, or the bits of a scalar. */
typedef struct vyre_binding {
    vyre_resident buffer;
    uint64_t bits; /* little-endian bytes of the scalar, upper ones zero */
} vyre_binding;

/* Runs on resident buffers and waits. All arguments in declaration order, `out` buffers included,
 * of exactly the sizes that the program says. A buffer may be bound twice only if all these
 * arguments are read alone. Outputs stay on the device. `out_timing` may be NULL. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_resident(
    vyre_device *device, const vyre_program *program, const vyre_binding *bindings, size_t count,
    const vyre_dispatch_config *config, vyre_timing *out_timing);

/* Work that was enqueued, as a number that grows; 0 is work that is done. */
typedef uint64_t vyre_ticket;
/* A ticket that the device never gave is done; waiting for it is refused. */
VYRE_API bool vyre_device_is_done(vyre_device *device, vyre_ticket ticket);
VYRE_API VYRE_MUST_USE vyre_status vyre_device_wait(vyre_device *device, vyre_ticket ticket);

/* Lifecycle. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_prepare(vyre_device *device);
VYRE_API VYRE_MUST_USE vyre_status vyre_device_flush(vyre_device *device);
/* Nothing runs on the device afterwards. Waits for calls of other threads. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_shutdown(vyre_device *device);
VYRE_API bool vyre_device_lost(vyre_device *device);
/* Waits for calls of other threads. After success, pipelines and resident buffers of before are
 * refused. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_recover(vyre_device *device);

#ifdef __cplusplus
}
#endif

#endif
