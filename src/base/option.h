/* Options: every environment variable that vyre reads, in one table. Names, allowed values,
 * defaults and documentation come from here. A value that is not allowed is an error, never a
 * silent default; an empty one counts as not set. */
#ifndef VYRE_BASE_OPTION_H
#define VYRE_BASE_OPTION_H

#include <vyre/log.h>
#include <vyre/status.h>

/* X(name, kind, values, default, documentation). The variable is VYRE_ and the name. A CHOICE is
 * one of the texts of a table X(name, number, text), and its value the number. */
#define VYRE_OPTIONS(X)                                                                            \
    X(LOG, CHOICE, VYRE_LOG_LEVELS, "warning", "the least severe messages that are shown")

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

/* The value of a CHOICE. */
VYRE_MUST_USE vyre_status vyre_option_choice(vyre_option option, int *out_number);

#endif
