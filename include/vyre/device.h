/* Device: an acquired backend, ready to run programs.
 *
 *     vyre_device *device;
 *     status = vyre_acquire("preferred", &device);
 *     status = vyre_device_dispatch(device, program, inputs, 2, NULL, &outputs);
 *     vyre_outputs_free(&outputs);
 *     vyre_device_release(device);
 *
 * To run a program often, compile it (pipeline.h). Any thread may use a device at any time. The
 * host adds what a backend lacks: it splits phases and grid barriers into several runs and fills
 * missing slots with defaults. `config` may be NULL everywhere.
 *
 * A device belongs to the process that opened it. In the child of a fork(), every call on it fails
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

VYRE_API const char *vyre_device_id(const vyre_device *device);   /* of the backend: "cuda" */
VYRE_API const char *vyre_device_name(const vyre_device *device); /* "cuda:1", "reference" */
VYRE_API const char *vyre_device_version(const vyre_device *device);

/* What the device can do; backend.h describes the slots of the same names. The profile includes all
 * limits. The device owns what it returns. */
VYRE_API const vyre_op_set *vyre_device_supported_ops(const vyre_device *device);
VYRE_API uint32_t vyre_device_features(const vyre_device *device);
VYRE_API void vyre_device_profile(const vyre_device *device, vyre_profile *out_profile);

/* Runs a program and waits. The call only reads the inputs. The caller frees the outputs; after an
 * error there are none. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch(
    vyre_device *device, const vyre_program *program, const vyre_input *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_outputs *out_outputs);

/* Like vyre_device_dispatch, but the run may overwrite the inputs, which saves the backend a copy.
 * Inputs must be aligned like memory from malloc. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_owned(
    vyre_device *device, const vyre_program *program, const vyre_output *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_outputs *out_outputs);

/* Like vyre_device_dispatch, and returns the times that the device can measure; the others are
 * VYRE_NO_TIME. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_timed(
    vyre_device *device, const vyre_program *program, const vyre_input *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_outputs *out_outputs, vyre_timing *out_timing);

/* Like vyre_device_dispatch, but writes into existing outputs, of an earlier run or the caller's
 * own.
 *
 * If their number and sizes match the result, the call writes into their memory. Otherwise it frees
 * them with the library's allocator and allocates new ones, so the caller's own memory must match.
 * Outputs must not overlap an input or each other.
 *
 * A failure before the device starts leaves the outputs as they were. After a later failure their
 * contents are unspecified. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_into(
    vyre_device *device, const vyre_program *program, const vyre_input *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_outputs *outputs);

/* Runs on the caller's memory: one piece for each argument, in declaration order, scalars and `out`
 * buffers included. The cpu backend works in that memory without a copy; a GPU copies it there and
 * back. `out` memory is 0 where the program stores nothing.
 *
 * Memory that the run writes must not overlap that of another argument. Programs that print or
 * assert, and buffers that are not aligned to their elements, run through copies.
 *
 * A failure before the run starts leaves all memory as it was. After a later failure the contents
 * of `inout` and `out` memory are unspecified, and the status says so. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_in_place(
    vyre_device *device, const vyre_program *program, const vyre_output *arguments, size_t count,
    const vyre_dispatch_config *config);

/* A run in progress. */
typedef struct vyre_pending vyre_pending;

/* Starts a run. The caller may reuse the inputs once the call returns. Errors during the run come
 * from vyre_pending_await. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_async(
    vyre_device *device, const vyre_program *program, const vyre_input *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_pending **out_pending);
/* Like vyre_device_dispatch_async, with inputs as for vyre_device_dispatch_owned. They must stay
 * untouched until the run is freed. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_owned_async(
    vyre_device *device, const vyre_program *program, const vyre_output *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_pending **out_pending);
/* Returns whether the run has ended, without blocking. */
VYRE_API bool vyre_pending_is_ready(vyre_pending *pending);
/* Waits for the end of the run and returns its outputs, which the caller frees. A second call
 * fails. */
VYRE_API VYRE_MUST_USE vyre_status vyre_pending_await(vyre_pending *pending,
                                                      vyre_outputs *out_outputs);
/* Cancels a run that was not awaited. NULL is allowed. */
VYRE_API void vyre_pending_free(vyre_pending *pending);

/* A resident buffer: memory on the device. The handle is a plain value. Every call refuses a handle
 * that was freed or belongs to another device.
 *
 * Buffers may share memory: a range and the buffer it was taken from, or two imports of the same
 * memory. Calls on such buffers wait for each other like calls on one buffer. */
typedef struct vyre_resident {
    uint64_t owner;
    uint32_t index, generation;
} vyre_resident;

/* Allocates a buffer. `size` may be 0. The last release of the device frees remaining ones. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_allocate(vyre_device *device, size_t size,
                                                          vyre_resident *out_resident);
/* Replaces the whole buffer, after all work enqueued earlier that uses it. The caller may reuse
 * `data` once the call returns. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_upload(vyre_device *device, vyre_resident resident,
                                                        const void *data, size_t size);
/* Like vyre_resident_upload, for a part of the buffer. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_upload_at(vyre_device *device,
                                                           vyre_resident resident, size_t offset,
                                                           const void *data, size_t size);
/* Reads a part of the buffer, after all work enqueued earlier that uses it. If the last work that
 * wrote the buffer failed, every read returns its error until the buffer is written again. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_read(vyre_device *device, vyre_resident resident,
                                                      size_t offset, void *data, size_t size);
/* Fails while a run uses the buffer, or memory that it shares. The handle becomes invalid; the
 * memory stays as long as there are ranges of the buffer. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_free(vyre_device *device, vyre_resident resident);

/* Makes a resident buffer from memory that the caller owns, without a copy. The cpu and reference
 * backends take memory of the host, of any alignment. The cuda backend takes device memory of its
 * GPU, and host memory that is pinned or managed. Runs, uploads, copies and fills refuse to write
 * memory with VYRE_MEMORY_READ_ONLY.
 *
 * The memory must stay valid until the library calls `release`. Others must not use it while the
 * device does. `release` may be NULL. The library calls it exactly once, with `owner`: from the
 * call that frees the last of the buffer and its ranges, or from vyre_device_shutdown, a successful
 * vyre_device_recover or the last vyre_device_release. It must not use the device. If the import
 * fails, the library does not call it.
 *
 * Memory inside another resident buffer of the device shares it, as a range does. Memory that
 * overlaps one only in part is refused, unless both are read-only. Buffers of other devices are not
 * checked. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_import(vyre_device *device,
                                                        const vyre_memory *memory,
                                                        void (*release)(void *owner), void *owner,
                                                        vyre_resident *out_resident);
/* Makes a buffer from a part of another one. It shares the memory and keeps it alive. `size` may be
 * 0. Devices whose backend has no ranges refuse it as an argument of a run. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_range(vyre_device *device, vyre_resident resident,
                                                       size_t offset, size_t size,
                                                       vyre_resident *out_resident);
/* Copies on the device, after all work enqueued earlier that uses the buffers. A copy that would
 * overwrite what it reads is refused. If the last work that wrote `from` failed, the copy returns
 * its error. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_copy(vyre_device *device, vyre_resident to,
                                                      size_t to_offset, vyre_resident from,
                                                      size_t from_offset, size_t size);
/* Fills a part of a buffer with a pattern of 1, 2, 4, 8 or 16 bytes. `size` must be a multiple of
 * pattern_size. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_fill(vyre_device *device, vyre_resident resident,
                                                      size_t offset, size_t size,
                                                      const void *pattern, size_t pattern_size);
/* Returns the address and size of a buffer, to share it with other libraries. First wait for
 * enqueued work (vyre_device_wait), and keep the buffer until the other library is done. */
VYRE_API VYRE_MUST_USE vyre_status vyre_resident_memory(vyre_device *device, vyre_resident resident,
                                                        vyre_memory *out_memory);

/* An argument of a run on resident buffers: a buffer, or the bits of a scalar. pipeline.h has
 * functions that make one: vyre_bind, vyre_bind_f32 and so on, vyre_named. */
typedef struct vyre_binding {
    vyre_resident buffer;
    uint64_t bits;    /* the scalar's little-endian bytes, zero-extended */
    const char *name; /* of the argument; NULL: the argument at this position */
    uint32_t type;    /* vyre_type that the scalar must have; VYRE_TYPE_VOID: not checked */
} vyre_binding;

/* Runs on resident buffers and waits. `bindings` has every argument, `out` buffers included. A
 * binding without a name is the argument at its position; one with a name may stand anywhere. Each
 * buffer must have exactly the size that the program states, and be aligned to its elements. Runs
 * on the cuda backend are fastest if all buffers are aligned to 16 bytes. Only read-only arguments
 * may share memory. Outputs stay on the device. `out_timing` may be NULL.
 *
 * With VYRE_DISPATCH_STREAM in `config->flags`, the run starts after the work that the caller has
 * put into `config->stream`, and later work of that stream starts after the run. Devices without
 * the feature `streams` refuse it. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_dispatch_resident(
    vyre_device *device, const vyre_program *program, const vyre_binding *bindings, size_t count,
    const vyre_dispatch_config *config, vyre_timing *out_timing);

/* Identifies enqueued work. Later work has a higher ticket; 0 means work that is already done. */
typedef uint64_t vyre_ticket;
/* Never blocks. A ticket that the device never gave is done; waiting for it fails. */
VYRE_API bool vyre_device_is_done(vyre_device *device, vyre_ticket ticket);
/* Waits for the work and returns its error, if any. May be called more than once. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_wait(vyre_device *device, vyre_ticket ticket);

/* Initializes the device. The first compile, run or allocation does so too; call it early to hide
 * the start-up time. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_prepare(vyre_device *device);
/* Waits for all submitted work. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_flush(vyre_device *device);
/* Waits for calls in other threads and for all work, then shuts down. Later runs fail. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_shutdown(vyre_device *device);
/* Returns whether the device is gone, for example after a reset of the GPU. */
VYRE_API bool vyre_device_lost(vyre_device *device);
/* Opens a lost device again, after calls in other threads have ended. After success, every call
 * refuses earlier pipelines and resident buffers. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_recover(vyre_device *device);

#ifdef __cplusplus
}
#endif

#endif
