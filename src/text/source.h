/* Source: the text that is being read, and the list that receives what is wrong with it. */
#ifndef VYRE_TEXT_SOURCE_H
#define VYRE_TEXT_SOURCE_H

#include <vyre/diagnostic.h>

/* In front of each file that was joined to a text, in a line with its name; no name stands for the
 * text itself, which goes on there. */
enum { VYRE_FILE_MARK = '\x1c' };

/* A file of a text. Lines of tokens, nodes and spots count through all of them. */
typedef struct vyre_source_part {
    const char *file; /* NULL: the text itself */
    const char *start, *end;
    const char *body, *body_line_start; /* behind its `use` lines */
    uint32_t body_line;
    uint32_t lines_before; /* in the text */
    uint64_t sees;         /* by part: whether its items are visible here */
} vyre_source_part;

typedef struct vyre_source {
    const char *name, *text, *end;
    vyre_diagnostics *diagnostics;
    bool no_memory;                    /* everything ends early, and the status says so */
    bool cut;                          /* a comment without an end has swallowed the rest */
    const char *marks[2];              /* the first # and @, of which one report is enough */
    bool foreign;                      /* an operation's, not the one that is parsed */
    const vyre_diagnostic_call *calls; /* that led to this text, the innermost first */
    const vyre_source_part *parts;     /* at least one once `use` lines are read, else NULL */
    uint32_t part_count;
    bool hides_items;     /* from files that do not use the one which declares them */
    bool uses_operations; /* some are called without their dialect */
    bool lacks_files;     /* a name may be declared in a file that is not at hand */
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

/* The part that a byte or a line of the text belongs to; 0 while there are none. */
uint32_t vyre_source_part_at(const vyre_source *source, const char *at);
uint32_t vyre_source_part_of_line(const vyre_source *source, uint32_t line);

/* The file of a line of the text, NULL if the diagnostics are about it, and the line's number
 * there. */
const char *vyre_source_file_of(const vyre_source *source, uint32_t *line);

/* The first byte that does not belong to the same file as `at`. */
static inline const char *vyre_source_end_at(const vyre_source *source, const char *at) {
    return source->part_count < 2 ? source->end
                                  : source->parts[vyre_source_part_at(source, at)].end;
}

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
