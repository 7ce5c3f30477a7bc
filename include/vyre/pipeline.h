/* Pipeline: a program compiled for a device, to run many times.
 *
 *     vyre_pipeline *pipeline;
 *     status = vyre_device_compile(device, program, NULL, &pipeline);
 *     for (...) {
 *         status = vyre_pipeline_dispatch(pipeline, inputs, 2, NULL, &outputs);
 *     }
 *     vyre_pipeline_release(pipeline);
 *
 * For the lowest overhead, keep the data on the device and enqueue the runs:
 *
 *     vyre_binding bindings[] = {vyre_bind_f32(2), vyre_bind(x), vyre_bind(y)};
 *     status = vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket);
 *     status = vyre_resident_read(device, y, 0, result, sizeof result);
 *
 * A device caches its pipelines by the digest of the program, so compiling an equal program again
 * is cheap. Backends that support it also store compiled code on disk (cache.h). Any thread may use
 * a pipeline at any time. */
#ifndef VYRE_PIPELINE_H
#define VYRE_PIPELINE_H

#include <string.h>

#include <vyre/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_pipeline vyre_pipeline;

/* Compiles a program or takes it from the cache. The pipeline retains the program and the device.
 * Compiling checks only the grade and determinism of `config`, which may be NULL. */
VYRE_API VYRE_MUST_USE vyre_status vyre_device_compile(vyre_device *device,
                                                       const vyre_program *program,
                                                       const vyre_dispatch_config *config,
                                                       vyre_pipeline **out_pipeline);
VYRE_API vyre_pipeline *vyre_pipeline_retain(vyre_pipeline *pipeline);
VYRE_API void vyre_pipeline_release(vyre_pipeline *pipeline); /* NULL is allowed */

/* Returns whether the backend compiled the program. If not, each run goes through the backend's
 * `dispatch`. */
VYRE_API bool vyre_pipeline_is_native(const vyre_pipeline *pipeline);
/* The pipeline owns the program. It is the one that was compiled. If the caller's program calls
 * library operations, this one may have their variants for the device. */
VYRE_API const vyre_program *vyre_pipeline_program(const vyre_pipeline *pipeline);

/* These behave like the functions of the same names in device.h. */
VYRE_API VYRE_MUST_USE vyre_status vyre_pipeline_dispatch(vyre_pipeline *pipeline,
                                                          const vyre_input *inputs,
                                                          size_t input_count,
                                                          const vyre_dispatch_config *config,
                                                          vyre_outputs *out_outputs);
VYRE_API VYRE_MUST_USE vyre_status vyre_pipeline_dispatch_owned(vyre_pipeline *pipeline,
                                                                const vyre_output *inputs,
                                                                size_t input_count,
                                                                const vyre_dispatch_config *config,
                                                                vyre_outputs *out_outputs);
VYRE_API VYRE_MUST_USE vyre_status vyre_pipeline_dispatch_timed(
    vyre_pipeline *pipeline, const vyre_input *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_outputs *out_outputs, vyre_timing *out_timing);
VYRE_API VYRE_MUST_USE vyre_status vyre_pipeline_dispatch_into(vyre_pipeline *pipeline,
                                                               const vyre_input *inputs,
                                                               size_t input_count,
                                                               const vyre_dispatch_config *config,
                                                               vyre_outputs *outputs);
VYRE_API VYRE_MUST_USE vyre_status
vyre_pipeline_dispatch_in_place(vyre_pipeline *pipeline, const vyre_output *arguments, size_t count,
                                const vyre_dispatch_config *config);
VYRE_API VYRE_MUST_USE vyre_status vyre_pipeline_dispatch_async(vyre_pipeline *pipeline,
                                                                const vyre_input *inputs,
                                                                size_t input_count,
                                                                const vyre_dispatch_config *config,
                                                                vyre_pending **out_pending);
VYRE_API VYRE_MUST_USE vyre_status vyre_pipeline_dispatch_owned_async(
    vyre_pipeline *pipeline, const vyre_output *inputs, size_t input_count,
    const vyre_dispatch_config *config, vyre_pending **out_pending);
VYRE_API VYRE_MUST_USE vyre_status
vyre_pipeline_dispatch_resident(vyre_pipeline *pipeline, const vyre_binding *bindings, size_t count,
                                const vyre_dispatch_config *config, vyre_timing *out_timing);

/* Starts a run on resident buffers and returns at once. See vyre_device_dispatch_resident for
 * `bindings`. Runs that share a buffer execute in the order in which they were enqueued.
 * `out_ticket` may be NULL. vyre_device_wait returns errors of the run. A run with asserts or
 * prints is over when the call returns, which returns its errors; its ticket is 0. The same holds
 * for a run with VYRE_DISPATCH_STREAM that has a timeout or a `repeat while`, or follows a run that
 * has. */
VYRE_API VYRE_MUST_USE vyre_status vyre_pipeline_enqueue(vyre_pipeline *pipeline,
                                                         const vyre_binding *bindings, size_t count,
                                                         const vyre_dispatch_config *config,
                                                         vyre_ticket *out_ticket);

/* Make an argument of a run: a resident buffer, a scalar with a type, or the zero-extended bits of
 * a scalar, whose type is not checked. A run refuses a scalar with another type than the argument.
 */
static inline vyre_binding vyre_bind(vyre_resident buffer) {
    vyre_binding binding;
    memset(&binding, 0, sizeof binding);
    binding.buffer = buffer;
    return binding;
}

static inline vyre_binding vyre_bind_bits(uint64_t bits) {
    vyre_binding binding;
    memset(&binding, 0, sizeof binding);
    binding.bits = bits;
    return binding;
}

static inline vyre_binding vyre_bind_typed(uint64_t bits, vyre_type type) {
    vyre_binding binding = vyre_bind_bits(bits);
    binding.type = (uint32_t)type;
    return binding;
}

static inline vyre_binding vyre_bind_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return vyre_bind_typed(bits, VYRE_TYPE_F32);
}

static inline vyre_binding vyre_bind_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return vyre_bind_typed(bits, VYRE_TYPE_F64);
}

static inline vyre_binding vyre_bind_i32(int32_t value) {
    return vyre_bind_typed((uint32_t)value, VYRE_TYPE_I32);
}

static inline vyre_binding vyre_bind_u32(uint32_t value) {
    return vyre_bind_typed(value, VYRE_TYPE_U32);
}

static inline vyre_binding vyre_bind_i64(int64_t value) {
    return vyre_bind_typed((uint64_t)value, VYRE_TYPE_I64);
}

static inline vyre_binding vyre_bind_u64(uint64_t value) {
    return vyre_bind_typed(value, VYRE_TYPE_U64);
}

static inline vyre_binding vyre_bind_bool(bool value) {
    return vyre_bind_typed(value ? 1 : 0, VYRE_TYPE_BOOL);
}

/* Names the argument that a binding is for, so that it may stand anywhere:
 * vyre_named("x", vyre_bind(x)). The name must stay valid during the call. */
static inline vyre_binding vyre_named(const char *name, vyre_binding binding) {
    binding.name = name;
    return binding;
}

/* The device's cache of pipelines. When it exceeds its limit in bytes, the least recently used
 * pipelines are dropped. The size of a pipeline is that of its program plus what the backend
 * reports. Limit 0 turns the cache off. */
#define VYRE_PIPELINE_CACHE_BYTES ((uint64_t)64 << 20)
VYRE_API void vyre_device_cache_counts(vyre_device *device, vyre_cache_counts *out_counts);
VYRE_API void vyre_device_cache_limit(vyre_device *device, uint64_t bytes);

/* Returns the counts of the backend's own cache; false if it has none. */
VYRE_API bool vyre_device_backend_cache(vyre_device *device, vyre_cache_counts *out_counts);

#ifdef __cplusplus
}
#endif

#endif
