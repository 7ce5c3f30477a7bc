/* Options: the environment variables that vyre reads, from tables. Names, allowed values, defaults
 * and documentation come from there: those of the whole stack from VYRE_OPTIONS below, those of one
 * backend from a table of its own. A value that is not allowed is an error, never a silent default;
 * an empty one counts as not set. */
#ifndef VYRE_BASE_OPTION_H
#define VYRE_BASE_OPTION_H

#include <vyre/log.h>
#include <vyre/status.h>

typedef struct vyre_option_choice_row {
    const char *text;
    int number;
} vyre_option_choice_row;

/* An environment variable. */
typedef struct vyre_option {
    const char *variable; /* "VYRE_LOG" */
    const char *allowed;  /* "error, warning, info, debug, trace" */
    const char *default_text;
    const char *documentation;             /* one line without a full stop */
    const vyre_option_choice_row *choices; /* of a CHOICE; ends with one without a text */
    uint32_t least, most;                  /* of a NUMBER */
} vyre_option;

/* X(name, kind, values, default, documentation). The variable is VYRE_ and the name. A CHOICE is
 * one of the texts of a table X(name, number, text), and its value the number. A SIZE is a number
 * of bytes, with K, M, G or T behind it in units of 1024; its values are what help says of them.
 * A NUMBER lies between (least, most). PATHS are folders or files; whoever opens them checks the
 * text. */
#define VYRE_OPTIONS(X)                                                                            \
    X(LOG, CHOICE, VYRE_LOG_LEVELS, "warning", "the least severe messages to show")                \
    X(TRACE, PATHS, "a file; %p in its name is the process ID", "",                                \
      "the trace file of a process that opens a device, for trace viewers")                        \
    X(CACHE_LIMIT, SIZE, "bytes, such as 65536, 512K, 256M or 2G", "256M",                         \
      "the largest size of the cache of compiled programs; 0: no cache")                           \
    X(BACKEND_PATH, PATHS, "absolute folders, separated by colons", "",                            \
      "the folders to search first for manifests of backends")                                     \
    X(DIALECT_PATH, PATHS, "absolute folders, separated by colons, or none", "",                   \
      "the folders to search for manifests of dialects, instead of the user's and the system's")   \
    X(ROUTES, PATHS, "a file, or off", "",                                                         \
      "the file of routes for auto, instead of the user's; off: none")                             \
    X(LEARN, NUMBER, (0, 1), "0", "1: the router learns from runs on auto")

/* Applied to a table: declarations, which a header has, definitions, and the rows of a list. Each
 * option is an array of one, so that VYRE_OPTION_LOG is a pointer. */
#define VYRE_OPTION_DECLARE(name, kind, values, default_text, documentation)                       \
    extern const vyre_option VYRE_OPTION_##name[1];
#define VYRE_OPTION_DEFINE(name, kind, values, default_text_, documentation_)                      \
    const vyre_option VYRE_OPTION_##name[1] = {{.variable = "VYRE_" #name,                         \
                                                .default_text = default_text_,                     \
                                                .documentation = documentation_,                   \
                                                VYRE_OPTION_OF_##kind(values)}};
#define VYRE_OPTION_LIST(name, kind, values, default_text, documentation) VYRE_OPTION_##name,

/* What each kind adds to a definition. */
#define VYRE_OPTION_OF_CHOICE(values)                                                              \
    .allowed = &("" values(VYRE_OPTION_CHOICE_TEXT))[2],                                           \
    .choices = (const vyre_option_choice_row[]) {                                                  \
        values(VYRE_OPTION_CHOICE_ROW) {                                                           \
            NULL, 0                                                                                \
        }                                                                                          \
    }
#define VYRE_OPTION_CHOICE_TEXT(name, number, text) ", " text
#define VYRE_OPTION_CHOICE_ROW(name, number, text) {text, number},
#define VYRE_OPTION_OF_SIZE(values) .allowed = values
#define VYRE_OPTION_OF_NUMBER(values) VYRE_OPTION_RANGE values
#define VYRE_OPTION_RANGE(least_, most_)                                                           \
    .allowed = "a number from " #least_ " to " #most_, .least = least_, .most = most_
#define VYRE_OPTION_OF_PATHS(values) .allowed = values

VYRE_OPTIONS(VYRE_OPTION_DECLARE)
extern const vyre_option *const vyre_options[]; /* these; ends with NULL */

/* The value in force, as written, which may be one that is not allowed. */
typedef struct vyre_option_info {
    const char *variable, *text;
    bool from_environment; /* else it is the default */
} vyre_option_info;
vyre_option_info vyre_option_describe(const vyre_option *option);

/* The value of a CHOICE, of a SIZE, and of a NUMBER. */
VYRE_MUST_USE vyre_status vyre_option_choice(const vyre_option *option, int *out_number);
VYRE_MUST_USE vyre_status vyre_option_size(const vyre_option *option, uint64_t *out_bytes);
VYRE_MUST_USE vyre_status vyre_option_number(const vyre_option *option, uint32_t *out_number);

#endif
