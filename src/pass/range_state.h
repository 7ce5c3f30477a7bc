/* The analysis at work: one phase.
 *
 *   range.c         the walk over blocks, loops and branches     range_value.c   single operations
 *   range_symbol.c  sizes, lengths, positions                    range_prove.c   what follows
 *
 * Every integer value has an interval, and where it fits a polynomial over atoms that is equal to
 * it. An atom is an argument, a length, a position, or a value about which only inequalities are
 * known: its bounds, polynomials that are not negative. Conditions of branches are such, too, for
 * as long as the branch is open. */
#ifndef VYRE_PASS_RANGE_STATE_H
#define VYRE_PASS_RANGE_STATE_H

#include "base/arena.h"
#include "base/vec.h"
#include "pass/range.h"
#include "pass/range_poly.h"

/* A polynomial that is kept. */
typedef struct range_kept {
    const poly_term *terms;
    uint32_t count;
} range_kept;

typedef struct range_bound {
    range_kept poly; /* not negative */
    uint32_t next;   /* of the same atom; POLY_NO_ATOM ends */
} range_bound;

typedef struct range_atom {
    vyre_wide min, max;
    uint32_t bounds; /* first of them */
    uint32_t inst;   /* the value it stands for, or VYRE_NONE */
    uint32_t op;     /* what it is, so that it is made once: a range_symbol, with its operands */
    range_kept left, right;
} range_atom;

typedef enum range_symbol {
    SYMBOL_NONE,
    SYMBOL_POSITION, /* left: vyre_op and dimension, argument, resource or step */
    SYMBOL_DIV,
    SYMBOL_REM,
    SYMBOL_MIN,
    SYMBOL_MAX,
    SYMBOL_WRAP /* left: arithmetic that a type, right, may not hold */
} range_symbol;

typedef struct range_value {
    vyre_wide min, max;
    range_kept poly; /* equal to the value, if `has_poly` */
    bool has_poly;
    bool exact, always;
} range_value;

/* Between what the elements of a constant array lie. */
typedef struct range_ends {
    vyre_wide min, max;
    bool known;
} range_ends;

typedef struct range_state {
    const vyre_ir *ir;
    const vyre_phase *phase;
    vyre_range *rows;
    bool own_domain;
    const uint8_t *asked; /* by instruction of the phase: comparisons to be proven; or NULL */
    vyre_arena arena;
    range_value *values; /* by instruction of the phase */
    VYRE_VEC(range_atom) atoms;
    VYRE_VEC(range_bound) bounds;
    VYRE_VEC(range_kept) facts;  /* conditions that hold here, the latest last */
    VYRE_VEC(range_kept) places; /* of accesses: their indices without constants */
    VYRE_VEC(range_kept) caps;   /* polynomials below 2^32: lengths of arrays */
    range_kept *lengths;         /* by resource */
    uint8_t *has_length;         /* by resource: 0 not yet, 1 being made, 2 made */
    range_ends *elements;        /* by resource: of constant arrays */
    poly domain[3];              /* where own_domain */
    poly groups[3];              /* workgroups, where own_domain and has_groups */
    bool has_domain[3], has_groups[3];
    size_t own_facts; /* those that hold everywhere */
    uint32_t budget;  /* steps left for the proof at hand */
    bool numbers_first;
    bool no_memory;
} range_state;

/* Numbers beyond are taken for endless. */
#define RANGE_ENDLESS ((vyre_wide)1 << 100)
vyre_wide range_times(vyre_wide a, vyre_wide b);

range_kept range_keep(range_state *s, const poly *p);
poly range_unkeep(range_kept kept);

/* Between what a polynomial lies, by the intervals of its atoms alone. */
vyre_wide range_least(const range_state *s, const poly *p);
vyre_wide range_greatest(const range_state *s, const poly *p);

/* The greatest number that all coefficients are multiples of; 0 of 0. */
uint32_t range_factor(const poly *p);

/* Atoms */
uint32_t range_atom_make(range_state *s, uint32_t inst, vyre_wide min, vyre_wide max);
/* atom <= p, and atom >= p. */
void range_at_most(range_state *s, uint32_t atom, const poly *p);
void range_at_least(range_state *s, uint32_t atom, const poly *p);
/* The atom of a symbol, made where there is none; `out_new` says so. */
uint32_t range_symbol_atom(range_state *s, range_symbol op, const poly *left, const poly *right,
                           vyre_wide min, vyre_wide max, bool *out_new);

/* Symbols */
void range_symbols(range_state *s); /* the phase's domain, and lengths of all arrays */
bool range_length(range_state *s, uint32_t resource, poly *out);
/* x / by rounded down; neither is negative, and `by` may be 0 where the result is then x. */
bool range_quotient(range_state *s, const poly *x, const poly *by, poly *out);
/* A position of the surroundings or an argument. */
poly range_position(range_state *s, const vyre_inst *inst);

/* Proofs */
bool range_prove(range_state *s, const poly *not_negative);
/* That p lies in [min, max], max being what a type holds. */
bool range_prove_within(range_state *s, const poly *p, vyre_wide min, vyre_wide max);
/* Adds what follows from a condition that is true, or false. */
void range_assume(range_state *s, uint32_t condition, bool holds);
void range_assume_fact(range_state *s, const poly *not_negative);

/* Values */
range_value range_value_of(range_state *s, uint32_t operand);
bool range_poly_of(range_state *s, uint32_t operand, poly *out);
void range_type(vyre_type type, vyre_wide *out_min, vyre_wide *out_max);
void range_set(range_state *s, uint32_t inst, vyre_wide min, vyre_wide max); /* an atom */
void range_value_visit(range_state *s, uint32_t inst);
void range_access_visit(range_state *s, uint32_t inst);

#endif
