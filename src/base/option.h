/* Options: every environment variable that vyre reads, in one table. Names, allowed values,
 * defaults and documentation come from here. A value that is not allowed is an error, never a
 * silent default; an empty one counts as not set. */
#ifndef VYRE_BASE_OPTION_H
#define VYRE_BASE_OPTION_H

#include <vyre/log.h>
#include <vyre/status.h>

/* X(name, kind, values, default, documentation). The variable is VYRE_ and the name. A CHOICE is
 * one of the texts of a table X(name, number, text), and its value the number. A SIZE is a number
 * of bytes, with K, M, G or T behind it in units of 1024; its values are what help says of them.
 * A NUMBER lies between (least, most). PATHS are folders or files, whose text is looked at where
 * they are opened. */
/* From VYRE_LANES_SCALARS on: that many scalars side by side. */
enum { VYRE_LANES_SCALARS = 1000 };
#define VYRE_LANE_COUNTS(X)                                                                        \
    X(AUTO, 0, "auto")                                                                             \
    X(ONE, 1, "1")                                                                                 \
    X(ONE_BY_TWO, VYRE_LANES_SCALARS + 2, "1x2")                                                   \
    X(ONE_BY_FOUR, VYRE_LANES_SCALARS + 4, "1x4")                                                  \
    X(ONE_BY_EIGHT, VYRE_LANES_SCALARS + 8, "1x8")                                                 \
    X(FOUR, 4, "4")                                                                                \
    X(EIGHT, 8, "8")                                                                               \
    X(SIXTEEN, 16, "16")                                                                           \
    X(THIRTY_TWO, 32, "32")

#define VYRE_OPTIONS(X)                                                                            \
    X(LOG, CHOICE, VYRE_LOG_LEVELS, "warning", "the least severe messages that are shown")         \
    X(TRACE, PATHS, "a file; %p in its name is the number of the process", "",                     \
      "where a process that opens a device writes what it did and when, for trace viewers")        \
    X(CACHE_LIMIT, SIZE, "bytes, as 65536, 512K, 256M or 2G", "256M",                              \
      "how large the cache of compiled programs may grow; 0: there is none")                       \
    X(BACKEND_PATH, PATHS, "absolute folders, separated by colons", "",                            \
      "where manifests of backends are looked for first")                                          \
    X(DIALECT_PATH, PATHS, "absolute folders, separated by colons, or none", "",                   \
      "where manifests of dialects are looked for, in place of the user's and the system's")       \
    X(ROUTES, PATHS, "a file, or off", "",                                                         \
      "the file of routes that auto goes by, in place of the user's; off: none")                   \
    X(LEARN, NUMBER, (0, 1), "0", "whether the router learns from runs on auto; 1: yes")           \
    X(THREADS, NUMBER, (0, 1024), "0",                                                             \
      "how many threads the cpu backend runs programs on; 0: one for each CPU it may use")         \
    X(CPU_LANES, CHOICE, VYRE_LANE_COUNTS, "auto",                                                 \
      "32-bit lanes of the cpu backend's vectors, 1xN being N scalars; auto: what suits best")     \
    X(LLVM, PATHS, "a library", "",                                                                \
      "the libLLVM that the cpu backend opens, in place of the newest it finds")                   \
    X(CUDA, PATHS, "a library, or none", "",                                                       \
      "the libcuda that the cuda backend opens, in place of libcuda.so.1; none: as if absent")

typedef enum vyre_option {
#define VYRE_OPTION_ENUM(name, kind, values, default_text, documentation) VYRE_OPTION_##name,
    VYRE_OPTIONS(VYRE_OPTION_ENUM)
#undef VYRE_OPTION_ENUM
        VYRE_OPTION_COUNT
} vyre_option;

typedef struct vyre_option_info {
    const char *variable; /* "VYRE_LOG" */
    const char *allowed;  /* "error, warning, info, debug, trace" */
    const char *default_text;
    const char *documentation; /* one line without a full stop */
    const char *text;          /* the value in force, as written */
    bool from_environment;     /* else it is the default */
} vyre_option_info;

/* What a person may want to know. The value may be one that is not allowed. */
vyre_option_info vyre_option_describe(vyre_option option);

/* The value of a CHOICE, of a SIZE, and of a NUMBER. */
VYRE_MUST_USE vyre_status vyre_option_choice(vyre_option option, int *out_number);
VYRE_MUST_USE vyre_status vyre_option_size(vyre_option option, uint64_t *out_bytes);
VYRE_MUST_USE vyre_status vyre_option_number(vyre_option option, uint32_t *out_number);

#endif
