/* Run: runs a kernel's text or an operation in one call.
 *
 *     float a = 2, x[] = {1, 2, 3}, y[] = {1, 1, 1};
 *     const vyre_argument arguments[] = {
 *         {"a", &a, NULL, sizeof a}, {"x", x, NULL, sizeof x}, {"y", y, y, sizeof y}};
 *     vyre_status status = vyre_run("auto", text, arguments, 3, NULL);
 *
 * The process keeps the device and the compiled program for later calls. Any thread may make these
 * calls. */
#ifndef VYRE_RUN_H
#define VYRE_RUN_H

#include <vyre/device.h>
#include <vyre/dialect.h>
#include <vyre/dispatch.h>
#include <vyre/route.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An argument, by its name in the program. The run reads `in` and writes `out`. `out` is NULL for
 * scalars and read-only buffers. `in` is NULL for `out` buffers.
 *
 * The run works on the caller's memory (vyre_device_dispatch_in_place) if `in` and `out` of each
 * `inout` buffer are the same memory, and no written memory overlaps another argument's. If such a
 * run fails after its start, the contents of written memory are unspecified, and the status says
 * so. Other runs use copies, and write `out` only if they succeed. A run that the router learns
 * from (VYRE_LEARN) may do the same. */
typedef struct vyre_argument {
    const char *name;
    const void *in;
    void *out;
    size_t size; /* bytes */
} vyre_argument;

/* Runs a text with one program. `device` is a name for vyre_acquire; "auto" or NULL lets the router
 * choose (route.h). `config` may be NULL. */
VYRE_API VYRE_MUST_USE vyre_status vyre_run(const char *device, const char *text,
                                            const vyre_argument *arguments, size_t count,
                                            const vyre_dispatch_config *config);

/* Like vyre_run, for a program that the caller has. */
VYRE_API VYRE_MUST_USE vyre_status vyre_run_program(const char *device, const vyre_program *program,
                                                    const vyre_argument *arguments, size_t count,
                                                    const vyre_dispatch_config *config);

/* Runs an operation of the library (dialect.h) by its id, in the variant that suits the device. */
VYRE_API VYRE_MUST_USE vyre_status vyre_run_operation(const char *device, const char *id,
                                                      const vyre_argument *arguments, size_t count,
                                                      const vyre_dispatch_config *config);

/* Returns the program of an operation that suits a device best: the lowering registered for its
 * backend's target; otherwise that of a variant for its backend or kind ("gpu", "cpu"); otherwise
 * the operation's own. See vyre_operation_program (dialect.h) for ownership and errors. */
VYRE_API VYRE_MUST_USE vyre_status vyre_operation_choose(const vyre_operation *operation,
                                                         const vyre_device *device,
                                                         const vyre_program **out_program);

#ifdef __cplusplus
}
#endif

#endif
