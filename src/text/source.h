/* Source: the text that is being read, and the list that receives what is wrong with it. */
#ifndef VYRE_TEXT_SOURCE_H
#define VYRE_TEXT_SOURCE_H

#include <vyre/diagnostic.h>

typedef struct vyre_source {
    const char *name, *text, *end;
    vyre_diagnostics *diagnostics;
    bool no_memory;                    /* everything ends early, and the status says so */
    bool cut;                          /* a comment without an end has swallowed the rest */
    const char *marks[2];              /* the first # and @, of which one report is enough */
    bool foreign;                      /* an operation's, not the one that is parsed */
    const vyre_diagnostic_call *calls; /* that led to this text, the innermost first */
} vyre_source;

/* A place in the text; lines and columns count from 1, columns and lengths in bytes. */
typedef struct vyre_spot {
    uint32_t line, column, length;
} vyre_spot;

/* A place as reports have it. What they borrow from here lasts as long as the buffer. */
typedef struct vyre_source_line {
    char text[256];
} vyre_source_line;
vyre_diagnostic vyre_source_place(const vyre_source *source, vyre_spot spot,
                                  vyre_source_line *line);

/* The line of a text, as much of it as there is room for. */
const char *vyre_source_excerpt(const vyre_source *source, uint32_t line, vyre_source_line *out);

void vyre_source_report(vyre_source *source, vyre_spot spot, uint32_t code, const char *fix,
                        const char *format, ...) VYRE_PRINTF(5, 6);

/* What messages call a text that was given this name, or NULL for none. */
static inline const char *vyre_source_name(const char *name) {
    return name ? name : "text";
}

/* Checks size, encoding and line ends; a text that fails is not looked at any further. */
bool vyre_source_check(vyre_source *source);

#endif
