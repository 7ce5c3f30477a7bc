/* Groups of fma of f32 on devices that flush only subnormal operands and results: one test of what
 * goes into all of them, instead of one of each.
 *
 * Numbers of the right size have products that are multiples of the smallest normal number. A sum
 * of such multiples is one, too, so no result is subnormal, whatever cancels. Where the test fails,
 * a loop does one fma after the other with care: so the careful code stands there once. */
#ifndef VYRE_PASS_CORRECT_GROUP_H
#define VYRE_PASS_CORRECT_GROUP_H

#include "pass/correct_code.h"

enum { CORRECT_GROUP_MEMBERS = 64 };

typedef struct correct_member {
    uint32_t inst;
    uint32_t operands[3]; /* values of `to`; of another member, that member's number */
    bool fed[3];          /* the operand is another member */
} correct_member;

/* The members wait: they are computed where the first of their results is used, or their block
 * ends. */
struct correct_group {
    correct_member members[CORRECT_GROUP_MEMBERS];
    uint32_t count;
    uint32_t seen; /* instructions of `from` up to here have been looked at */
    uint32_t
        flag; /* a variable of the phase: some group found numbers of the wrong size; or NONE */
};

/* Opens a phase, fma of which are taken or not. */
void correct_group_begin(vyre_rebuild *rebuild, const vyre_phase *phase, bool groups);

/* Comes before each instruction: computes the members if it needs them. */
void correct_group_settle(vyre_rebuild *rebuild, uint32_t at);

/* Takes an fma, whose value is set later. */
void correct_group_take(vyre_rebuild *rebuild, uint32_t at);

#endif
