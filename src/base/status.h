/* Shorthands for code that returns a status. The type itself is public: <vyre/status.h>. */
#ifndef VYRE_BASE_STATUS_H
#define VYRE_BASE_STATUS_H

#include <vyre/status.h>

/* Returns from the calling function if the expression is a failure. Not for functions that hold
 * something which they must give back. */
#define VYRE_TRY(expression)                                                                       \
    do {                                                                                           \
        vyre_status vyre_try_status = (expression);                                                \
        if (vyre_try_status) {                                                                     \
            return vyre_try_status;                                                                \
        }                                                                                          \
    } while (0)

/* An OUT_OF_MEMORY status. The format says what the memory was for and continues the message
 * "no memory": vyre_no_memory("to compile `%s`", name). */
VYRE_MUST_USE vyre_status vyre_no_memory(const char *format, ...) VYRE_PRINTF(1, 2);

/* The first of two failures, for calls that must both be made. Frees the second. */
VYRE_MUST_USE vyre_status vyre_first_failure(vyre_status first, vyre_status second);

/* An INTERNAL status, for states that cannot be reached unless vyre itself is wrong. */
VYRE_MUST_USE vyre_status vyre_internal_error(const char *format, ...) VYRE_PRINTF(1, 2);

#endif
