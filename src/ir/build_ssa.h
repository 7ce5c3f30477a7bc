/* Turning the builder's draft into final instructions. */
#ifndef VYRE_IR_BUILD_SSA_H
#define VYRE_IR_BUILD_SSA_H

#include <vyre/builder.h>

#include "base/vec.h"

/* An instruction with blocks that is open during a sweep. */
typedef struct ssa_region {
    uint32_t owner;       /* in the draft */
    uint32_t final_owner; /* in the result */
    uint32_t end;         /* in the draft */
    uint32_t first;       /* its variables: in `pending` in the first sweep, in `carried` after */
    uint32_t count;
    uint32_t saved;      /* if: values before the first branch, in `saves` */
    uint32_t else_at;    /* if: where its second branch starts in the draft, until it has */
    uint32_t list;       /* first sweep: number of the region */
    uint32_t loop, call; /* innermost enclosing ones, itself included; or VYRE_NONE */
} ssa_region;

typedef struct ssa_phase {
    uint32_t first; /* instruction */
    bool uses_subgroup;
} ssa_phase;

/* The final arrays, and what the sweeps need on the way. The builder keeps the memory for the next
 * program. */
typedef struct ssa_arrays {
    VYRE_VEC(vyre_inst) insts;
    VYRE_VEC(vyre_place) places;
    VYRE_VEC(uint32_t) operands;
    VYRE_VEC(vyre_const) consts;
    VYRE_VEC(vyre_value_name) value_names;
    VYRE_VEC(ssa_phase) phases;

    VYRE_VEC(uint32_t) pending;       /* variables assigned in open regions */
    VYRE_VEC(uint32_t) carried;       /* lists of variables, one a region */
    VYRE_VEC(uint32_t) carried_lists; /* where each list starts and its length, as regions open */
    VYRE_VEC(ssa_region) regions;
    VYRE_VEC(uint32_t) saves;
    VYRE_VEC(uint32_t) map; /* by draft value, draft constant and variable: see build_ssa.c */
} ssa_arrays;

/* Fills the empty arrays of the draft, whose resource_map is known. False without memory or beyond
 * the limit of instructions. The draft must be free of errors. */
bool vyre_build_ssa(vyre_builder *draft);

#endif
