/* The code of corrections: programs of correct_half.vyre, correct_f32.vyre and correct_f64.vyre,
 * and how one is put in place of an instruction. Floats go in and out as their bits. */
#ifndef VYRE_PASS_CORRECT_CODE_H
#define VYRE_PASS_CORRECT_CODE_H

#include "pass/correct.h"
#include "pass/correct_grain.h"
#include "pass/rebuild.h"

typedef struct correct_group correct_group;

/* A rebuild whose hook puts corrections in place; its `user`. */
typedef struct correct_state {
    vyre_corrections needed;
    vyre_status status; /* the first failure of a hook, which cannot return one */
    bool changed;
    correct_grains grains; /* of f32 and f64, while these are corrected */
    correct_group *group;  /* of fma, while they are */
    bool is_last;          /* f16 is replaced where it was not before */
} correct_state;

/* Which text a function stands in. */
typedef enum correct_text { CORRECT_HALF, CORRECT_F32, CORRECT_F64, CORRECT_TEXTS } correct_text;

/* The function of that name, simplified; it lives as long as the process. */
VYRE_MUST_USE vyre_status correct_find(correct_text text, const char *name,
                                       const vyre_program **out_function);

/* The value of a function for these operands, values of `rebuild->to`. Floats go in as bits, and
 * what comes out has the bits of `type`; for a bool it is not 0 where the bool is true. */
uint32_t correct_call(vyre_rebuild *rebuild, correct_text text, const char *name, vyre_type type,
                      const uint32_t *operands, uint32_t count);

/* The unsigned type of a float's bits. */
vyre_type correct_bits_type(vyre_type type);
/* A value as its bits. */
uint32_t correct_bits(vyre_rebuild *rebuild, uint32_t value);

static inline bool correct_is_half(vyre_type type) {
    return type == VYRE_TYPE_F16 || type == VYRE_TYPE_BF16;
}

/* Operations on the bits of floats, which every device does right, and others that give none. */
bool correct_is_bitwise(vyre_op op);

/* A rebuild with these hooks, which set `changed`; NULL if it changed nothing. */
VYRE_MUST_USE vyre_status correct_run(const vyre_program *program, vyre_rebuild hooks,
                                      correct_state *state, vyre_program **out_program);

/* Replaces arithmetic on the narrow types that `state` names, and on f32 and f64. */
VYRE_MUST_USE vyre_status correct_halves(const vyre_program *program, correct_state *state,
                                         vyre_program **out_program);
VYRE_MUST_USE vyre_status correct_wide(const vyre_program *program, correct_state *state,
                                       vyre_program **out_program);

#endif
