/* Turning the builder's draft into final instructions. */
#ifndef VYRE_IR_BUILD_SSA_H
#define VYRE_IR_BUILD_SSA_H

#include "ir/builder.h"

/* The arrays that come out; the caller frees them. */
typedef struct ssa_output {
    VYRE_VEC(vyre_inst) insts;
    VYRE_VEC(vyre_place) places;
    VYRE_VEC(uint32_t) operands;
    VYRE_VEC(vyre_const) consts;
    VYRE_VEC(vyre_value_name) value_names;
    uint32_t *phase_first; /* first instruction of each phase */
} ssa_output;

/* False without memory or beyond the limit of instructions. The draft must be free of errors. */
bool vyre_build_ssa(vyre_builder *draft, ssa_output *out);

#endif
