/* What the emitter must know of a phase before it writes code.
 *
 * Invocations run many at once, in the lanes of vectors or as a few scalars side by side; those
 * that do so are a chunk, its lanes, and a workgroup is one or more chunks. A value that is the
 * same in all lanes of a chunk is a scalar.
 *
 * Where a workgroup waits (barriers, uniform loads), code is cut into regions: each is run for all
 * chunks before the next begins, and values that are needed in another region lie in memory.
 * Blocks that hold a barrier, or from which the workgroup leaves such a block, are group blocks:
 * their control flow is the workgroup's own. */
#ifndef VYRE_CPU_CODEGEN_ANALYSE_H
#define VYRE_CPU_CODEGEN_ANALYSE_H

#include "pass/divergence.h"
#include "pass/nan.h"

#define CPU_NO_REGION 0xffffffffu

typedef struct cpu_fact {
    uint32_t region; /* where it is computed; CPU_NO_REGION: it lies in memory */
    uint32_t uses;
    bool crosses; /* values: used outside of its region, so kept in memory */
    bool group;   /* blocks and jumps: the workgroup's own control flow */
} cpu_fact;

typedef struct cpu_facts {
    const vyre_ir *ir;
    const vyre_phase *phase;
    cpu_fact *facts;            /* by instruction of the phase */
    vyre_divergence divergence; /* of the lanes of a chunk */
    vyre_nans nans;
    uint32_t lanes; /* of a chunk */
    uint32_t region_count;
    bool has_groups;      /* there are several regions */
    bool rows_are_chunks; /* lanes of a chunk differ in x alone, by 1 each */
} cpu_facts;

/* `lanes` is what a chunk has: with one, nothing varies. False without memory. */
bool cpu_analyse(cpu_facts *facts, const vyre_ir *ir, uint32_t phase, uint32_t lanes);
void cpu_facts_free(cpu_facts *facts);

static inline cpu_fact *cpu_fact_of(const cpu_facts *facts, uint32_t inst) {
    return &facts->facts[inst - facts->phase->first];
}

/* How the lanes of a chunk go through a block or jump. */
static inline const vyre_divergence_fact *cpu_ways_of(const cpu_facts *facts, uint32_t inst) {
    return vyre_divergence_of(&facts->divergence, inst);
}

/* Whether an operand differs between lanes. */
static inline bool cpu_varies(const cpu_facts *facts, uint32_t operand) {
    return vyre_operand_varies(&facts->divergence, operand);
}

#endif
