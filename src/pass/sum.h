/* Sums: whole numbers that are not known before a program runs, as sums of products of those that
 * it is given: lengths, scalar arguments, positions of invocations, iterations of loops, and
 * quotients of such sums. Two that are written differently and are always the same are the same
 * sum.
 *
 * All parts of a sum, which are called atoms, are from 0 on. So if all factors of a difference are,
 * one number is never less than the other.
 *
 * What does not fit is not known, which is always right. Sums are numbers of a table; SUM_UNKNOWN
 * stands for what is not known, and anything made of it is not known either. */
#ifndef VYRE_PASS_SUM_H
#define VYRE_PASS_SUM_H

#include <vyre/program.h>

#include "base/vec.h"

enum {
    SUM_UNKNOWN = 0,
    SUM_TERMS = 12,
    SUM_FACTORS = 4,
    SUM_ATOMS = 512,
    SUM_ROWS = 1 << 16, /* at a time */
    SUM_WORK = 1 << 20, /* rows made in all; those past it are not known */
};

typedef enum sum_kind {
    SUM_PARAM, /* a: argument */
    SUM_LEN,   /* a: argument, a buffer that states no size */
    SUM_GID,   /* a: dimension; so for the next two */
    SUM_WID,
    SUM_LID,
    SUM_SUBGROUP, /* number of the subgroup */
    SUM_LANE,
    SUM_ITERATION, /* of a `for`; a: how many blocks are around it */
    SUM_DIV,       /* a, b: sums; so for those that follow */
    SUM_REM,
    SUM_CEIL_DIV,
    SUM_MIN,
    SUM_MAX,
} sum_kind;

typedef struct sum_atom {
    sum_kind kind;
    uint32_t a, b;
    uint32_t kinds; /* as bits: its own and those of all atoms in a and b */
} sum_atom;

typedef struct sum_term {
    int64_t factor; /* not 0 */
    uint16_t
        atoms[SUM_FACTORS]; /* counted from 1, ascending, 0 at the front where there are less */
} sum_term;

typedef struct sum_row {
    uint32_t count;
    sum_term terms[SUM_TERMS]; /* in the order of their atoms; the plain number is the first */
} sum_row;

typedef struct sum_table {
    const vyre_ir *ir;
    VYRE_VEC(sum_row) rows; /* the first stands for SUM_UNKNOWN */
    sum_atom atoms[SUM_ATOMS];
    uint32_t atom_count;
    uint32_t *lengths; /* by resource: the sum of its length + 1, 0 where not asked for yet */
    uint32_t work;
    bool no_memory;
} sum_table;

/* How far the table has been filled. What was made since goes away when it is set back. */
typedef struct sum_mark {
    size_t rows;
    uint32_t atoms;
} sum_mark;

/* False without memory. */
bool sum_table_init(sum_table *table, const vyre_ir *ir);
void sum_table_deinit(sum_table *table);

sum_mark sum_table_mark(const sum_table *table);
void sum_table_reset(sum_table *table, sum_mark mark);

uint32_t sum_number(sum_table *table, int64_t value);
uint32_t sum_of(sum_table *table, sum_kind kind, uint32_t a, uint32_t b);
uint32_t sum_add(sum_table *table, uint32_t left, uint32_t right);
uint32_t sum_subtract(sum_table *table, uint32_t left, uint32_t right);
uint32_t sum_multiply(sum_table *table, uint32_t left, uint32_t right);
/* Of numbers that are from 0 on, the right one not 0. Simpler where it goes without a rest. */
uint32_t sum_divide(sum_table *table, sum_kind kind, uint32_t left, uint32_t right);
/* With `by` in the place of an atom. */
uint32_t sum_replace(sum_table *table, uint32_t sum, sum_kind kind, uint32_t a, uint32_t by);

/* A size expression, and the length of an array. */
uint32_t sum_of_size(sum_table *table, uint32_t size);
uint32_t sum_of_length(sum_table *table, uint32_t resource);

bool sum_same(const sum_table *table, uint32_t left, uint32_t right);
/* Whether it is a plain number. */
bool sum_is_number(const sum_table *table, uint32_t sum, int64_t *out_value);
/* Whether no factor is negative, so that the number is not either. */
bool sum_is_positive(const sum_table *table, uint32_t sum);
/* Whether the left number is never less than the right one; false if nobody knows. */
bool sum_reaches(sum_table *table, uint32_t left, uint32_t right);
/* Whether an atom comes up in it. Inside of quotients, any of its kind counts. */
bool sum_mentions(const sum_table *table, uint32_t sum, sum_kind kind, uint32_t a);
/* Whether it is the same for all invocations and iterations. */
bool sum_is_fixed(const sum_table *table, uint32_t sum);
/* Takes a sum apart: what an atom is multiplied by, and the rest. False if it comes up in any other
 * way. */
bool sum_take(sum_table *table, uint32_t sum, sum_kind kind, uint32_t a, uint32_t *out_factor,
              uint32_t *out_rest);

#endif
