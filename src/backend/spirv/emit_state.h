/* The emitter at work: one phase.
 *
 *   emit.c         entry points, instructions          emit_memory.c    loads, stores, arrays
 *   emit_grid.c    groups, positions                   emit_atomic.c    atomics
 *   emit_block.c   control flow                        emit_group.c     barriers, shared arrays
 *   emit_value.c   operands, the frame                 emit_subgroup.c  subgroups
 *   emit_count.c   domains from memory
 *
 * Integers of fewer than 32 bits are held in 32, extended by the sign rule of their type. f16 and
 * bf16 are their 16 bits. f32 and f64 are held as they come about: as bits where they were loaded
 * or chosen, as a number where they were computed; each use says which it wants. */
#ifndef VYRE_SPIRV_EMIT_STATE_H
#define VYRE_SPIRV_EMIT_STATE_H

#include <vyre/limits.h>

#include "backend/spirv/analyse.h"
#include "backend/spirv/build.h"
#include "backend/spirv/emit.h"
#include "backend/spirv/write.h"

/* A block that is open. */
typedef struct emit_open {
    uint32_t owner;     /* VYRE_NONE: the phase */
    spv_id exit, latch; /* labels: behind it; the next iteration. 0: there is none to jump to */
    spv_id flag;        /* variable: a `return` is on its way out of loops */
    spv_id froms[2];    /* `if`: blocks that its branches yield from, */
    uint32_t yields[2]; /* and the ends that do; VYRE_NONE */
    uint32_t end;       /* `inline` without a way out but its end: that */
} emit_open;

/* Facts about an array, found on first use. */
typedef struct emit_array {
    spv_id base;         /* global and constant: its address */
    spv_id length;       /* elements, u64 */
    spv_id limit;        /* the same as u32 */
    spv_id signed_limit; /* what a number that may be negative must be below, as u32 */
    spv_id variable;     /* shared and private */
} emit_array;

typedef struct emit {
    spirv_builder b;
    const vyre_ir *ir;
    const spirv_target *target;
    spirv_layout layout;
    spirv_facts facts;
    spirv_phase_info *info;
    const vyre_phase *phase;
    uint32_t phase_index;
    const char *lack; /* what such devices do not have, or NULL */
    vyre_op unknown;  /* an operation without code, or none */

    spirv_slot *values; /* by instruction of the phase */
    spv_id *variables;  /* the same: of args and results that are variables */
    emit_array *arrays; /* by resource */
    emit_open stack[VYRE_LIMIT_NESTING + 2];
    uint32_t depth;

    spv_id frame;       /* its address; 0: it stands in the push constants */
    spv_id thread;      /* u32: number in the workgroup */
    spv_id position[3]; /* u32: open phases: gid; else lid */
    spv_id group[3];    /* u32 */
    spv_id groups[3];   /* u64 */
    spv_id domain[3];   /* u64 */
    spv_id stop, counters, turns, looks, ticket;
    spv_id hidden_zeros[2]; /* u32, u64 */
    uint32_t most_turns;    /* of an invocation; 0: any number */
    bool turns_are_checked; /* those of loops whose turns are known, too */
    uint32_t known_loops;   /* such loops around */
    spv_id push;            /* the push constants, of all entry points */
    spv_id *files; /* strings, by offset in debug_strings; only while lines are mentioned */
    uint32_t line, line_file, column;
} emit;

static inline spirv_slot *emit_slot(emit *e, uint32_t inst) {
    return &e->values[inst - e->phase->first];
}

/* Code between these two stands in the first block of the entry point. */
static inline void spirv_emit_begin_head(emit *e) {
    e->b.out = &e->b.head;
}
static inline void spirv_emit_end_head(emit *e) {
    e->b.out = &e->b.code;
}

/* A number at an address. */
spv_id spirv_emit_read(emit *e, spirv_kind kind, spv_id address);
void spirv_emit_write(emit *e, spirv_kind kind, spv_id address, spv_id value);
/* Of the frame, read in the first block. */
spv_id spirv_emit_frame(emit *e, spirv_kind kind, uint32_t offset);
/* One of the push constants. */
spv_id spirv_emit_pushed(emit *e, uint32_t index);
spv_id spirv_emit_length(emit *e, uint32_t resource);
spv_id spirv_emit_limit(emit *e, uint32_t resource, bool is_signed);
spv_id spirv_emit_base(emit *e, uint32_t resource);
spv_id spirv_emit_counters(emit *e);
/* Ends the invocation where somebody asked for that. */
void spirv_emit_stop_check(emit *e);
/* On devices that do not allow any number of turns: counts some, and gives up if those are too
 * many. */
void spirv_emit_turns(emit *e, uint32_t count);
/* The same for a loop whose turns are known. */
void spirv_emit_known_turns(emit *e, uint64_t count);
/* An iteration that counts for so many: whether there may be one more. If so, it is counted. */
spv_id spirv_emit_may_turn(emit *e, uint32_t count, spv_id *out_turns);
void spirv_emit_set_turns(emit *e, spv_id turns);
/* Gives up, because there may be no more turns. */
void spirv_emit_give_up(emit *e);
/* Looks in some iterations whether to stop. */
void spirv_emit_poll(emit *e);

/* An operand as it is; as bits, or a truth; as a number of floats. */
spirv_slot spirv_emit_operand(emit *e, uint32_t operand);
spv_id spirv_emit_bits(emit *e, uint32_t operand);
/* A number of which the driver cannot know what it is. */
spv_id spirv_emit_hidden(emit *e, vyre_type type, spv_id bits);
void spirv_emit_set(emit *e, uint32_t inst, spv_id bits);

void spirv_emit_surroundings(emit *e, uint32_t inst);
void spirv_emit_instruction(emit *e, uint32_t inst);
void spirv_emit_unknown(emit *e, uint32_t inst);
void spirv_emit_block(emit *e, vyre_block code);
void spirv_emit_control(emit *e, uint32_t inst);
void spirv_emit_jump_out(emit *e, uint32_t inst);
/* The phase's own block, which ends at the place behind it. */
void spirv_emit_body(emit *e);

void spirv_emit_memory(emit *e, uint32_t inst);
void spirv_emit_load(emit *e, uint32_t inst);
void spirv_emit_clear(emit *e, uint32_t resource);
/* An element: whether it exists (0: always), and its pointer. */
typedef struct emit_element {
    bool never;
    spv_id inside, pointer;
} emit_element;
/* `is_guarded`: without the pointer, which spirv_emit_place gives where it is sure to exist. */
emit_element spirv_emit_find(emit *e, uint32_t inst, bool is_guarded);
spv_id spirv_emit_place(emit *e, uint32_t inst);
/* Asks for what narrow elements in memory, or in variables, need. */
void spirv_emit_need_narrow(emit *e, spirv_kind kind, bool in_memory);
void spirv_emit_declare_arrays(emit *e);
/* The kind of an array's elements in memory. */
spirv_kind spirv_emit_stored(const emit *e, uint32_t resource);

void spirv_emit_atomic(emit *e, uint32_t inst);

spv_id spirv_emit_semantics(emit *e, uint32_t order);
void spirv_emit_barrier(emit *e);
void spirv_emit_grid_barrier(emit *e);
void spirv_emit_uniform_load(emit *e, uint32_t inst);
void spirv_emit_clear_shared(emit *e);
bool spirv_emit_has_shared(const emit *e);

void spirv_emit_subgroup(emit *e, uint32_t inst);

void spirv_emit_groups(emit *e);

/* The body of the kernel that counts. The frame is a spirv_count. */
void spirv_emit_counting(emit *e);

#endif
