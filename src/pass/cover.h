/* Cover: whether the stores of a phase reach every element of an array, whatever the arguments are.
 *
 * The index of a store is a sum in which each coordinate (a position of the invocation, the
 * iteration of a loop) has a stride. If the coordinate with stride 1 goes up to the next stride,
 * that one up to the one after and so on, the way digits make up a number, nothing is left out.
 * Several stores that lie side by side count as one more coordinate. */
#ifndef VYRE_PASS_COVER_H
#define VYRE_PASS_COVER_H

#include "pass/sum.h"

enum { COVER_GUARDS = 8, COVER_LOOPS = 6, COVER_STORES = 64 };

/* A condition under which something is run: less < end. */
typedef struct cover_guard {
    uint32_t less, end; /* sums; `less` up to a multiple of 2^32 */
    bool is_exact;      /* `end` is the number itself */
} cover_guard;

/* A store that every invocation of a domain runs, in all iterations of the loops around it, as far
 * as the guards hold. */
typedef struct cover_store {
    uint32_t index; /* a sum, up to a multiple of 2^32 */
    uint8_t guard_count, loop_count;
    uint8_t loops[COVER_LOOPS]; /* by SUM_ITERATION */
    cover_guard guards[COVER_GUARDS];
} cover_store;

/* Whether `count` stores reach all of `length` elements, at most COVER_STORES. The stores are
 * worked on. */
bool cover_reaches(sum_table *sums, const vyre_phase *phase, cover_store *stores, uint32_t count,
                   uint32_t length);

#endif
