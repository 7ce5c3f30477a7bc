/* What the emitter must know of a phase before it writes code. */
#ifndef VYRE_OPENCL_CODEGEN_ANALYSE_H
#define VYRE_OPENCL_CODEGEN_ANALYSE_H

#include "ir/uniformity.h"
#include "pass/nan.h"
#include "pass/range.h"

typedef struct opencl_facts {
    const vyre_ir *ir;
    const vyre_phase *phase;
    vyre_nans nans;
    vyre_uniformity_map map;
    vyre_ranges ranges;
    bool *written;      /* by resource: the phase writes it */
    uint32_t *uses;     /* by instruction of the phase */
    bool has_barriers;  /* that the program states */
    bool has_atomics;   /* of any kind */
    bool has_subgroups; /* operations of subgroups */
    bool has_loops;     /* that may run for long */
    bool may_wait;      /* for what an earlier workgroup does */
} opencl_facts;

/* False without memory. `own_domain`: the phase runs over the domain that the program gives it or a
 * part of it. */
bool opencl_analyse(opencl_facts *facts, const vyre_ir *ir, uint32_t phase, bool own_domain);
void opencl_facts_free(opencl_facts *facts);

/* Whether a loop ends soon whatever happens, so that nobody has to be able to stop it. */
bool opencl_ends_soon(const vyre_ir *ir, uint32_t inst);

/* Whether a workgroup waits for itself in the blocks of an owner. */
bool opencl_has_barrier(const vyre_ir *ir, uint32_t owner);

/* Whether the whole workgroup reaches an instruction together. */
bool opencl_is_together(const opencl_facts *facts, uint32_t inst);

/* Whether the lanes of a subgroup begin each iteration of a loop together. */
bool opencl_turns_together(const opencl_facts *facts, uint32_t loop);

#endif
