/* Run: a kernel's text with arguments, in one call.
 *
 *     float a = 2, x[] = {1, 2, 3}, y[] = {1, 1, 1};
 *     const vyre_argument arguments[] = {
 *         {"a", &a, NULL, sizeof a}, {"x", x, NULL, sizeof x}, {"y", y, y, sizeof y}};
 *     vyre_status status = vyre_run("auto", text, arguments, 3, NULL);
 *
 * Compiled once: the process keeps the device and its pipelines for the next call. */
#ifndef VYRE_RUN_H
#define VYRE_RUN_H

#include <vyre/device.h>
#include <vyre/dialect.h>
#include <vyre/dispatch.h>
#include <vyre/route.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An argument, by its name in the program: `in` is read, `out` is written after success, and may be
 * the same. Scalars and read-only buffers have no `out`, and `out` buffers no `in`. */
typedef struct vyre_argument {
    const char *name;
    const void *in;
    void *out;
    size_t size; /* bytes */
} vyre_argument;

/* Runs the one program of a text. `device` is a name as vyre_acquire takes it, or "auto" or NULL
 * for the device that the router chooses (route.h). `config` may be NULL. */
VYRE_API VYRE_MUST_USE vyre_status vyre_run(const char *device, const char *text,
                                            const vyre_argument *arguments, size_t count,
                                            const vyre_dispatch_config *config);

/* Runs an operation of the library (dialect.h), by its id, in the form that suits the device. */
VYRE_API VYRE_MUST_USE vyre_status vyre_run_operation(const char *device, const char *id,
                                                      const vyre_argument *arguments, size_t count,
                                                      const vyre_dispatch_config *config);

/* The same, and which device ran it and why: NULL where it did not come to that. To be released
 * with vyre_router_choice_release, after a failure too. */
VYRE_API VYRE_MUST_USE vyre_status vyre_run_routed(const char *device, const char *text,
                                                   const vyre_argument *arguments, size_t count,
                                                   const vyre_dispatch_config *config,
                                                   const vyre_router_choice **out_choice);
VYRE_API VYRE_MUST_USE vyre_status vyre_run_operation_routed(const char *device, const char *id,
                                                             const vyre_argument *arguments,
                                                             size_t count,
                                                             const vyre_dispatch_config *config,
                                                             const vyre_router_choice **out_choice);

/* The program of an operation that suits a device best: the lowering that was registered for its
 * backend's target, else that of a variant for its backend or its kind, else its own. As
 * vyre_operation_program (dialect.h) otherwise. */
VYRE_API VYRE_MUST_USE vyre_status vyre_operation_choose(const vyre_operation *operation,
                                                         const vyre_device *device,
                                                         const vyre_program **out_program);

#ifdef __cplusplus
}
#endif

#endif
