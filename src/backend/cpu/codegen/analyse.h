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

#include <vyre/program.h>

#define CPU_NO_REGION 0xffffffffu

typedef struct cpu_fact {
    uint32_t region; /* where it is computed; CPU_NO_REGION: it lies in memory */
    uint32_t uses;
    bool varying;   /* values: differs between the lanes of a chunk */
    bool observed;  /* values: somebody sees the bits of a NaN */
    bool kept;      /* values: a NaN may be one whose bits must stay, so not of arithmetic */
    bool crosses;   /* values: used outside of its region, so kept in memory */
    bool group;     /* blocks and jumps: the workgroup's own control flow */
    bool divergent; /* blocks: lanes part there; jumps: not all lanes that are in the target go */
    bool partial;   /* blocks: some lanes may leave before the end of the block */
    bool blends;    /* loops: several ways lead to the next iteration, at different times */
} cpu_fact;

typedef struct cpu_facts {
    const vyre_ir *ir;
    const vyre_phase *phase;
    cpu_fact *facts; /* by instruction of the phase */
    uint32_t lanes;  /* of a chunk */
    uint32_t region_count;
    bool has_groups;      /* there are several regions */
    bool partial;         /* lanes may end before the phase does */
    bool rows_are_chunks; /* lanes of a chunk differ in x alone, by 1 each */
} cpu_facts;

/* `lanes` is what a chunk has: with one, nothing varies. False without memory. */
bool cpu_analyse(cpu_facts *facts, const vyre_ir *ir, uint32_t phase, uint32_t lanes);
void cpu_facts_free(cpu_facts *facts);

static inline cpu_fact *cpu_fact_of(const cpu_facts *facts, uint32_t inst) {
    return &facts->facts[inst - facts->phase->first];
}

/* Whether a value is made canonical where it leaves its loop, and not in every iteration. */
bool cpu_settles_late(const cpu_facts *facts, uint32_t inst);

/* Whether an operand differs between lanes. */
static inline bool cpu_varies(const cpu_facts *facts, uint32_t operand) {
    return !(operand & VYRE_CONSTANT) && cpu_fact_of(facts, operand)->varying;
}

#endif
