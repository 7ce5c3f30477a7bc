/* Status: how every fallible call of vyre answers.
 *
 * NULL is success. Anything else is an object that says what failed, what was found, and after
 * "Fix: " what to do about it. Whoever receives one owns it and frees it with vyre_status_free,
 * or passes it on. Creating one never fails: without memory a static out-of-memory status is
 * returned, which may be freed like any other. A status belongs to one thread at a time.
 *
 *     vyre_status status = vyre_module_parse(...);
 *     if (status) {
 *         fprintf(stderr, "%s\n", vyre_status_text(status));
 *         vyre_status_free(status);
 *     }
 */
#ifndef VYRE_STATUS_H
#define VYRE_STATUS_H

#include <vyre/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, number, text). Numbers are stable; new codes are appended. */
#define VYRE_STATUS_CODES(X)                                                                       \
    X(OK, 0, "ok")                                                                                 \
    X(INVALID_ARGUMENT, 1, "invalid argument")                                                     \
    X(INVALID_PROGRAM, 2, "invalid program")                                                       \
    X(MALFORMED, 3, "malformed data")                                                              \
    X(LIMIT, 4, "limit exceeded")                                                                  \
    X(OUT_OF_MEMORY, 5, "out of memory")                                                           \
    X(NOT_FOUND, 6, "not found")                                                                   \
    X(UNSUPPORTED, 7, "unsupported")                                                               \
    X(IO, 8, "input or output failed")                                                             \
    X(TIMEOUT, 9, "timed out")                                                                     \
    X(DEVICE_LOST, 10, "device lost")                                                              \
    X(UNAVAILABLE, 11, "unavailable")                                                              \
    X(BACKEND, 12, "backend failed")                                                               \
    X(INTERNAL, 13, "internal error")

typedef enum vyre_status_code {
#define VYRE_STATUS_ENUM(name, number, text) VYRE_STATUS_##name = number,
    VYRE_STATUS_CODES(VYRE_STATUS_ENUM)
#undef VYRE_STATUS_ENUM
} vyre_status_code;

typedef struct vyre_status_object *vyre_status;
#define VYRE_OK ((vyre_status)0)

/* Makes a status. `fix` is the advice without the "Fix: " prefix. NULL means the message may carry
 * its own "Fix: "; if it does not, a general one is added, so that no status is without. */
VYRE_API VYRE_MUST_USE vyre_status vyre_status_make(vyre_status_code code, const char *fix,
                                                    const char *format, ...) VYRE_PRINTF(3, 4);

/* Adds what was being done, outermost last, and returns the same status. NULL stays NULL; an
 * annotation that cannot be stored is dropped. */
VYRE_API VYRE_MUST_USE vyre_status vyre_status_annotate(vyre_status status, const char *format, ...)
    VYRE_PRINTF(2, 3);

/* Remembers where in a file the error is; lines and columns count from 1. A place already set
 * stays, because the innermost one is the most exact. Returns the same status. */
VYRE_API VYRE_MUST_USE vyre_status vyre_status_at(vyre_status status, const char *file,
                                                  uint32_t line, uint32_t column);

VYRE_API vyre_status_code vyre_status_code_of(vyre_status status);
VYRE_API const char *vyre_status_code_name(vyre_status_code code);

/* The parts; each pointer lives as long as the status. The place is false when there is none. */
VYRE_API const char *vyre_status_message(vyre_status status);
VYRE_API const char *vyre_status_fix(vyre_status status);
VYRE_API bool vyre_status_place(vyre_status status, const char **file, uint32_t *line,
                                uint32_t *column);

/* The whole: place, message, annotations, "Fix: " and advice. "ok" for NULL. Lives as long as the
 * status, until the next annotation. */
VYRE_API const char *vyre_status_text(vyre_status status);

VYRE_API void vyre_status_free(vyre_status status);

#ifdef __cplusplus
}
#endif

#endif
