/* Log: a callback for messages. The library itself never prints. */
#ifndef VYRE_LOG_H
#define VYRE_LOG_H

#include <vyre/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VYRE_LOG_LEVELS(X)                                                                         \
    X(ERROR, 0, "error")                                                                           \
    X(WARNING, 1, "warning")                                                                       \
    X(INFO, 2, "info")                                                                             \
    X(DEBUG, 3, "debug")                                                                           \
    X(TRACE, 4, "trace")

typedef enum vyre_log_level {
#define VYRE_LOG_ENUM(name, number, text) VYRE_LOG_##name = number,
    VYRE_LOG_LEVELS(VYRE_LOG_ENUM)
#undef VYRE_LOG_ENUM
} vyre_log_level;

/* Receives one line without a newline, valid during the call. Any thread may call it. */
typedef void (*vyre_log_function)(void *user, vyre_log_level level, const char *message);

/* Sets the callback and the most detailed level that it receives. Messages above `level` are not
 * even formatted. NULL, the default, turns the log off. Call it before other threads use the
 * library. */
VYRE_API void vyre_log_set(vyre_log_function function, void *user, vyre_log_level level);

VYRE_API const char *vyre_log_level_name(vyre_log_level level);

#ifdef __cplusplus
}
#endif

#endif
