/* Literal: how a number is written. The parts of the text only; constant.h makes a value of it. */
#ifndef VYRE_TEXT_LITERAL_H
#define VYRE_TEXT_LITERAL_H

#include <vyre/types.h>

typedef struct vyre_literal {
    uint32_t base;    /* 2, 10 or 16; 0 for a character, whose number is in `character` */
    bool real;        /* has a point or an exponent */
    vyre_type suffix; /* void: none */
    uint32_t body;    /* bytes in front of the suffix */
    uint32_t character;
    const char *problem, *fix; /* why it is malformed */
} vyre_literal;

/* False if the text is no number; `problem` and `fix` then say why. */
bool vyre_literal_read(vyre_str text, vyre_literal *out_literal);

#endif
