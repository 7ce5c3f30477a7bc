/* Status: the result of every call that can fail.
 *
 * NULL is success. Any other status is an object that says what failed, what was found and, after
 * "Fix: ", what to do about it. The caller owns it and either frees it or returns it further up.
 * One thread at a time may use a status.
 *
 *     vyre_status status = vyre_module_parse(...);
 *     if (status) {
 *         fprintf(stderr, "%s\n", vyre_status_text(status));
 *         vyre_status_free(status);
 *     }
 *
 * Making a status never fails. If memory runs out, the caller gets a static out-of-memory status,
 * which may be freed like any other. */
#ifndef VYRE_STATUS_H
#define VYRE_STATUS_H

#include <vyre/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, number, text). Numbers are stable: new codes are appended. */
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
    X(INTERNAL, 13, "internal error")                                                              \
    X(ASSERTION, 14, "assertion failed")

typedef enum vyre_status_code {
#define VYRE_STATUS_ENUM(name, number, text) VYRE_STATUS_##name = number,
    VYRE_STATUS_CODES(VYRE_STATUS_ENUM)
#undef VYRE_STATUS_ENUM
} vyre_status_code;

typedef struct vyre_status_object *vyre_status;
#define VYRE_OK ((vyre_status)0)

/* Makes a status. `fix` is the advice without "Fix: ". If it is NULL, the message may contain its
 * own "Fix: "; otherwise the library adds a general one. */
VYRE_API VYRE_MUST_USE vyre_status vyre_status_make(vyre_status_code code, const char *fix,
                                                    const char *format, ...) VYRE_PRINTF(3, 4);

/* Adds what the caller was doing when the error occurred, and returns the same status. The
 * innermost caller adds first. NULL stays NULL. If memory runs out, the annotation is dropped. */
VYRE_API VYRE_MUST_USE vyre_status vyre_status_annotate(vyre_status status, const char *format, ...)
    VYRE_PRINTF(2, 3);

/* Sets the place of the error in a file and returns the same status. Lines and columns count from
 * 1. A place that is already set stays, because the innermost one is the most exact. */
VYRE_API VYRE_MUST_USE vyre_status vyre_status_at(vyre_status status, const char *file,
                                                  uint32_t line, uint32_t column);

/* VYRE_STATUS_OK for NULL. */
VYRE_API vyre_status_code vyre_status_code_of(vyre_status status);
VYRE_API const char *vyre_status_code_name(vyre_status_code code);

/* The parts of a status. Pointers are valid as long as the status. vyre_status_place returns false
 * if no place is set. */
VYRE_API const char *vyre_status_message(vyre_status status);
VYRE_API const char *vyre_status_fix(vyre_status status);
VYRE_API bool vyre_status_place(vyre_status status, const char **file, uint32_t *line,
                                uint32_t *column);

/* Returns the whole text: place, message, annotations, "Fix: " and the advice; "ok" for NULL. It is
 * valid until the next annotation or until the status is freed. */
VYRE_API const char *vyre_status_text(vyre_status status);

/* NULL is allowed. */
VYRE_API void vyre_status_free(vyre_status status);

#ifdef __cplusplus
}
#endif

#endif
