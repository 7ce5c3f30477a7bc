/* What the emitter must know of a phase before it writes code.
 *
 * A thread may run several neighbouring invocations, its parts, which differ in gid.x by 1 each.
 * Values that are the same in all parts are computed once. Blocks in which the parts go ways of
 * their own are written once a part. */
#ifndef VYRE_CUDA_CODEGEN_ANALYSE_H
#define VYRE_CUDA_CODEGEN_ANALYSE_H

#include "ir/uniformity.h"
#include "pass/access.h"
#include "pass/divergence.h"
#include "pass/nan.h"

typedef struct cuda_fact {
    uint32_t uses;
    uint32_t inverses; /* roots: uses that do not need it, cuda_is_inverse_root */
    bool unit;         /* values of 32 bits: grows by 1 from part to part, modulo 2^32 */
    bool shifted;      /* such a value that is sure not to start where 16 bytes do */
} cuda_fact;

typedef struct cuda_facts {
    const vyre_ir *ir;
    const vyre_phase *phase;
    cuda_fact *facts;           /* by instruction of the phase */
    vyre_divergence divergence; /* of the parts of a thread */
    vyre_nans nans;
    vyre_uniformity_map map;
    vyre_ranges ranges;
    vyre_accesses accesses;
    bool *written;          /* by resource: the phase writes it */
    bool *used;             /* by resource: the phase touches it, or asks for its length */
    uint32_t parts;         /* invocations of a thread that pay */
    bool has_barriers;      /* that the program states */
    bool has_grid_barriers; /* */
    bool has_subgroups;     /* operations that exchange values */
    bool has_loops;         /* that may run for long */
    bool few_threads;       /* that alone cannot keep the memory busy */
    bool has_long_records;  /* little is done but accessing records by several instructions each */
    bool may_wait;          /* for what an earlier workgroup does */
    bool lanes_part; /* subgroup operations stand in code that not the whole workgroup runs */
} cuda_facts;

/* False without memory. `own_domain`: the phase runs over the domain that the program gives it or a
 * part of it. */
bool cuda_analyse(cuda_facts *facts, const vyre_ir *ir, uint32_t phase, bool own_domain);
void cuda_facts_free(cuda_facts *facts);

static inline cuda_fact *cuda_fact_of(const cuda_facts *facts, uint32_t inst) {
    return &facts->facts[inst - facts->phase->first];
}

/* Whether an operand differs between the parts of a thread. */
static inline bool cuda_varies(const cuda_facts *facts, uint32_t operand) {
    return vyre_operand_varies(&facts->divergence, operand);
}

/* Whether all invocations of a workgroup that come along have the same value. */
static inline bool cuda_is_uniform(const cuda_facts *facts, uint32_t operand) {
    return !vyre_operand_is_value(operand) ||
           facts->map.levels[operand - facts->phase->first] >= VYRE_UNIFORM_WORKGROUP;
}

/* Whether an access stays in its array. */
static inline bool cuda_is_inside(const cuda_facts *facts, uint32_t inst) {
    return vyre_range_of(&facts->ranges, inst)->in_bounds;
}

/* Whether it is 1 / sqrt(x) of f32, which is done at once. */
bool cuda_is_inverse_root(const vyre_ir *ir, const vyre_inst *inst);

/* Iterations of a `for` whose range is constant; 0 if it is not, or is empty, or they are too many
 * for 32 bits. */
uint32_t cuda_constant_iterations(const vyre_ir *ir, uint32_t inst);

/* Whether a loop ends soon whatever happens, so that nobody has to be able to stop it. */
bool cuda_ends_soon(const vyre_ir *ir, uint32_t inst);

#endif
