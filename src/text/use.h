/* Use: the lines at the start of a file that name other files, and operations to be called without
 * their dialect. */
#ifndef VYRE_TEXT_USE_H
#define VYRE_TEXT_USE_H

#include "base/strbuf.h"
#include "base/vec.h"
#include "text/lexer.h"

typedef enum vyre_use_kind {
    VYRE_USE_FILE,     /* use "physics.vyre"; */
    VYRE_USE_DIALECT,  /* use image.*; */
    VYRE_USE_OPERATION /* use image.blur; */
} vyre_use_kind;

typedef struct vyre_use {
    uint8_t kind;            /* vyre_use_kind */
    uint32_t part;           /* of the text, whose line it is */
    uint32_t offset, length; /* of what stands behind the word, quotes and `*` included */
    vyre_spot spot;          /* of the same */
} vyre_use;

typedef VYRE_VEC(vyre_use) vyre_uses;

/* Reads the `use` lines that the lexer stands in front of, and goes behind them; mistakes are
 * reported and left out. False without memory. */
bool vyre_use_read(vyre_lexer *lexer, uint32_t part, vyre_uses *uses);

/* What a use names: the path, the dialect without `.*`, or the id of the operation. */
vyre_str vyre_use_name(const vyre_source *source, const vyre_use *use);

/* The path of a file that another one names, NULL standing for a text without a name: relative to
 * the folder of that one, `.` and `..` taken out as far as they can be. */
void vyre_use_path(const char *from, vyre_str path, vyre_strbuf *out);

#endif
