/* The inside of pass/subgroup.h: how the lanes of a subgroup exchange values through memory.
 *
 *   subgroup.c          which phases, where the invocation is, what is refused
 *   subgroup_share.c    the operations
 *   subgroup_matrix.c   matrix_mad */
#ifndef VYRE_PASS_SUBGROUP_SHARE_H
#define VYRE_PASS_SUBGROUP_SHARE_H

#include "pass/rebuild.h"
#include "pass/subgroup.h"

/* A rebuild's `user`. Arrays belong to the phase that is open: one of words, one of double words,
 * with an element for each invocation. Every value travels as one of the two. */
typedef struct share_state {
    uint64_t keep_widths;
    const bool *agreed; /* by instruction: its first operand is the same for the whole subgroup */
    uint32_t phase;     /* that is open, in `from`; VYRE_NONE before the first */
    uint32_t arrays[2]; /* VYRE_NONE before their first use */
} share_state;

/* Of the phase that an instruction belongs to. */
const vyre_phase *share_phase(vyre_rebuild *rebuild, uint32_t inst);
uint32_t share_invocations(const vyre_phase *phase);

/* Values of `to`, at the place where it stands: the invocation's number in its workgroup, its lane,
 * and the number of lane 0 of its subgroup. */
uint32_t share_number(vyre_rebuild *rebuild, const vyre_phase *phase);
uint32_t share_lane(vyre_rebuild *rebuild, const vyre_phase *phase);
uint32_t share_base(vyre_rebuild *rebuild, const vyre_phase *phase);

/* Opens an exchange: stores the value of each invocation, and waits. Between the two calls any
 * lane's value can be loaded, by the invocation's number. The end waits for those who still load.
 */
void share_begin(vyre_rebuild *rebuild, const vyre_phase *phase, uint32_t value);
uint32_t share_load(vyre_rebuild *r, vyre_type type, uint32_t at);
void share_end(vyre_rebuild *rebuild);

/* What stands in place of an operation. */
void share_shuffle(vyre_rebuild *r, const vyre_phase *phase, uint32_t at);
void share_vote(vyre_rebuild *r, const vyre_phase *phase, uint32_t at);
void share_combine(vyre_rebuild *r, const vyre_phase *phase, uint32_t at);
void share_matrix_mad(vyre_rebuild *r, const vyre_phase *phase, uint32_t at);

#endif
