/* The emitter at work: one phase.
 *
 *   emit.c        kernels, positions, values     emit_block.c     control flow, and how it is
 * stopped emit_memory.c arrays, loads and stores       emit_subgroup.c  what lanes do together
 *   emit_atomic.c atomics
 */
#ifndef VYRE_OPENCL_CODEGEN_EMIT_STATE_H
#define VYRE_OPENCL_CODEGEN_EMIT_STATE_H

#include <vyre/limits.h>

#include "backend/opencl/codegen/analyse.h"
#include "backend/opencl/codegen/emit.h"
#include "backend/opencl/codegen/write.h"
#include "base/vec.h"
#include "ir/lookup.h"

/* A block that is open. */
typedef struct emit_open {
    uint32_t owner; /* VYRE_NONE: the phase */
    bool is_left;   /* somebody jumps to its end over others */
} emit_open;

typedef struct emit {
    vyre_strbuf code; /* of the body */
    const vyre_ir *ir;
    const opencl_target *target;
    opencl_phase_info *info;
    const vyre_phase *phase;
    opencl_facts facts;
    VYRE_VEC(opencl_parameter) parameters;
    VYRE_VEC(opencl_assumption) assumptions;
    bool assumes;       /* the code at hand is for runs in which they hold */
    bool *used;         /* by resource: has a pointer in the kernel */
    uint32_t functions; /* that the code calls */
    vyre_op unknown;
    const char *lack, *fix; /* what such devices do not have, or NULL */

    emit_open stack[VYRE_LIMIT_NESTING + 2];
    uint32_t depth, indent;
    uint32_t line; /* the place that was mentioned last */

    /* Where barriers are, nobody may leave alone: who is to stop goes on to the next place that all
     * reach, without results. Until then it may have values that no run has, so accesses are
     * checked whatever is known of their indices. */
    uint32_t alone; /* the outermost block without barriers at hand, or VYRE_NONE */
    bool may_halt;  /* somebody in it, or before, may be on its way out */
    bool has_halt;  /* the kernel has a word for this */
    bool has_poll;  /* and one for stops of a whole workgroup */
    bool failed;    /* no memory */

    /* For PoCL, of kernels with barriers (emit_block.c). */
    bool is_cut;      /* the kernel is one */
    bool is_branched; /* not all come the same way from the last barrier to the line at hand */
} emit;

/* One line of code. */
void opencl_line(emit *e, const char *format, ...) VYRE_PRINTF(2, 3);
/* The start of one, without its end. */
void opencl_begin(emit *e);

/* The name of a value or a constant; of a variable that an instruction gives. */
opencl_name opencl_operand(emit *e, uint32_t operand);
opencl_name opencl_value(uint32_t inst);

/* The parameter of that kind; adds it to the kernel. */
opencl_name opencl_parameter_name(emit *e, opencl_parameter_kind kind, uint32_t index);

void opencl_emit_instruction(emit *e, uint32_t inst);
void opencl_emit_block(emit *e, vyre_block code);
void opencl_emit_control(emit *e, uint32_t inst);
void opencl_emit_jump(emit *e, uint32_t inst);
/* Whether lanes of a subgroup may stop while others go on, and exchange what they left. */
bool opencl_stops_apart(const emit *e);
void opencl_emit_memory(emit *e, uint32_t inst);
void opencl_emit_atomic(emit *e, uint32_t inst);
void opencl_emit_subgroup(emit *e, uint32_t inst);
/* The lanes of the warp that exchange values at an instruction, as a mask: all that there are where
 * the whole workgroup comes there, else those of the subgroup. */
opencl_name opencl_members(const emit *e, uint32_t inst);
void opencl_emit_barrier(emit *e);
void opencl_emit_unknown(emit *e, uint32_t inst);
/* These write what stands before and behind the lines of a loop. Who comes to an iteration also
 * comes to the instruction `inside`, such as the first one of the body. */
bool opencl_begin_loop(emit *e, uint32_t inside);
void opencl_end_loop(emit *e, bool is_apart);
/* The canonical NaN in place of any other that a variable may have. */
void opencl_emit_canonical(emit *e, vyre_type type, const char *name);

/* Declarations at the head of a kernel: pointers to arrays, shared and private arrays. */
void opencl_emit_pointers(emit *e, vyre_strbuf *out);
void opencl_emit_locals(emit *e, vyre_strbuf *out);
void opencl_emit_constants(const vyre_ir *ir, vyre_strbuf *out);
/* Zeros in a private array, in place of an instruction. */
void opencl_emit_clear(emit *e, uint32_t inst, uint32_t resource);

/* An access: the element, and the condition under which it is inside, "" where it always is. */
typedef struct emit_element {
    vyre_strbuf place, inside;
    bool never; /* it is outside whatever happens */
} emit_element;
void opencl_find(emit *e, uint32_t inst, emit_element *out);
void opencl_element_free(emit_element *element);

#endif
