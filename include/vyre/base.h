/* Shared vocabulary of the public headers: visibility, must-use, strings, version. */
#ifndef VYRE_BASE_H
#define VYRE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VYRE_VERSION_MAJOR 0
#define VYRE_VERSION_MINOR 1
#define VYRE_VERSION_PATCH 0
#define VYRE_VERSION_STRING "0.1.0"

/* The version of docs/semantics.md. It grows whenever a valid program gives other bytes than
 * before: compiled programs and certificates of another version are not taken. */
#define VYRE_SEMANTICS 2

#if defined(__GNUC__) || defined(__clang__)
#define VYRE_API __attribute__((visibility("default")))
#define VYRE_MUST_USE __attribute__((warn_unused_result))
#define VYRE_PRINTF(format_index, first_argument)                                                  \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define VYRE_API
#define VYRE_MUST_USE
#define VYRE_PRINTF(format_index, first_argument)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes borrowed from someone else; not NUL-terminated. */
typedef struct vyre_str {
    const char *data;
    size_t size;
} vyre_str;

/* The version of the library that is loaded, which may be newer than these headers. */
VYRE_API const char *vyre_version(void);

#ifdef __cplusplus
}
#endif

#endif
