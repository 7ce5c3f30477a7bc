/* Binding: the NAME=VALUE words of a command line become the inputs of a program. */
#ifndef VYRE_VALUES_BIND_H
#define VYRE_VALUES_BIND_H

#include <vyre/dispatch.h>

#include "base/strbuf.h"
#include "values/shape.h"
#include "values/words.h"

typedef struct values_binding {
    const vyre_program *program; /* borrowed */
    vyre_strbuf *bytes;          /* by argument: what it was given */
    size_t *offsets;             /* by argument: where its elements start in that */
    bool *given;                 /* by argument */
    uint64_t *numbers;    /* by argument: a buffer's length, an integer's value, as far as known */
    values_shape *shapes; /* by argument: that of the file it was read from */
    vyre_input *inputs;   /* as a run takes them */
    size_t input_count;
    bool stdin_used;
    bool has_words; /* an argument is an automaton: what `accept` and `overlap` are then */
    values_automaton automaton;
    vyre_strbuf filled; /* "a=0.5 x=rand:1024": what was filled in */
} values_binding;

typedef enum values_missing {
    VALUES_MISSING_REFUSED, /* an argument without a value is an error, which shows how to give one
                             */
    VALUES_MISSING_FILLED   /* it gets a value of a size that a checked run can deal with */
} values_missing;

/* Reads `count` words. `stdin_used` tells that stdin is not free. Deinit it whatever comes out. */
VYRE_MUST_USE vyre_status values_bind(values_binding *binding, const vyre_program *program,
                                      const char *const *words, size_t count, bool stdin_used,
                                      values_missing missing);
void values_binding_deinit(values_binding *binding);

/* Completes `numbers` with what suits the arguments that were not given, and the lengths of `out`
 * buffers. Lengths follow from declarations where there is one. */
void values_bind_scale(values_binding *binding);

/* The length of a buffer of a complete binding; an error of the declaration of an `out` buffer. */
VYRE_MUST_USE vyre_status values_bind_length(const values_binding *binding, uint32_t arg,
                                             uint64_t *out);

/* The shape that an output has; NULL where none is known. An `inout` buffer keeps the shape of the
 * file it was read from. Another output has that of the first argument of a known shape whose
 * length it declares, as `[len(x)]` or by the same expression. */
const values_shape *values_bind_shape(const values_binding *binding, uint32_t arg);

/* "x=rand:1024": a value for an argument of the length or size in `numbers`. */
void values_bind_example(const values_binding *binding, uint32_t arg, vyre_strbuf *text);

#endif
