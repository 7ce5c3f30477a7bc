/* The emitter at work: one phase.
 *
 *   emit.c           entries, workgroups, positions           emit_value.c     operands, arguments
 *   emit_block.c     control flow                             emit_memory.c    loads and stores
 *   emit_run.c       neighbouring elements                    emit_atomic.c    atomics
 *   emit_group.c     barriers, shared arrays                  emit_subgroup.c  subgroups
 *   emit_constant.c  constant arrays
 */
#ifndef VYRE_CUDA_CODEGEN_EMIT_STATE_H
#define VYRE_CUDA_CODEGEN_EMIT_STATE_H

#include "backend/cuda/codegen/analyse.h"
#include "backend/cuda/codegen/emit.h"
#include "backend/cuda/codegen/write.h"

/* A block that is open. */
typedef struct emit_open {
    uint32_t owner;       /* VYRE_NONE: the phase */
    uint32_t exit, latch; /* labels: behind it; the next iteration */
    bool binds; /* loops: the next iteration stands behind this one, and takes its values as
                 * they are */
} emit_open;

/* What is known of an array, once somebody asked. */
typedef struct emit_array {
    cuda_reg base;         /* global and constant: its pointer */
    cuda_reg length;       /* elements, u64 */
    cuda_reg limit;        /* the same as u32 */
    cuda_reg signed_limit; /* what a number that may be negative must be below, as u32 */
    uint32_t offset;       /* shared and private: in the block of all */
} emit_array;

/* Loads of a loop's body, from memory that nobody writes, done for several turns at once before
 * them: at base + counter four iterations by one access, others one by one; these at one address
 * where they are as many elements apart from iteration to iteration. */
enum { EMIT_AHEAD = 4, EMIT_MOST_AHEAD = 8, EMIT_MOST_ITERATIONS = 16 };
typedef struct emit_ahead {
    uint32_t count, iteration; /* iteration: which of them the code at hand is for */
    bool all_run;              /* no iteration ends before the last load, nor is one the last */
    bool rows[EMIT_MOST_AHEAD];
    uint32_t strides[EMIT_MOST_AHEAD]; /* elements from iteration to iteration, or 0 */
    uint32_t insts[EMIT_MOST_AHEAD], bases[EMIT_MOST_AHEAD]; /* VYRE_NONE: the counter alone */
    cuda_reg values[EMIT_MOST_AHEAD][EMIT_MOST_ITERATIONS];
} emit_ahead;

/* Where an element is: bytes behind a register, or, without one, in the block of all shared or
 * private arrays. */
typedef struct emit_where {
    cuda_reg base;
    int64_t offset;
} emit_where;

/* Where the first of neighbours is, or would be, once one of them was looked for. */
typedef struct emit_kept {
    emit_where where;
    bool known;
} emit_kept;

/* The source files of a program, which the text numbers from 1: where their names stand. Those
 * beyond the last are not mentioned. */
enum { EMIT_FILES = 64 };
typedef struct emit_files {
    uint32_t count, names[EMIT_FILES];
} emit_files;

typedef struct emit {
    cuda_writer w;
    vyre_strbuf head; /* in front of the code: what is read of the frame */
    vyre_strbuf cold; /* behind it: what is seldom done */
    const vyre_ir *ir;
    const cuda_target *target;
    cuda_layout layout;
    cuda_facts facts;
    cuda_phase_info *info;
    const vyre_phase *phase;
    uint32_t phase_index;
    char name[96];                 /* of the entry */
    const emit_files *files;       /* of the source; NULL where the text names none */
    uint32_t file_mentioned, line; /* the place that was mentioned last */
    const char *lack;              /* what such devices do not have, or NULL */
    uint32_t labels;

    uint32_t parts;                /* invocations of a thread in the code under way */
    uint32_t first_part, end_part; /* those that the code at hand is for */
    cuda_reg *values;              /* by instruction and part */
    emit_array *arrays;            /* by resource */
    emit_kept *wheres;             /* by group of accesses and part */
    emit_open stack[VYRE_LIMIT_NESTING + 2];
    uint32_t depth;
    emit_ahead ahead;

    cuda_reg frame;               /* its pointer, where it is not the parameter */
    cuda_reg blocks[2];           /* where shared and private arrays start */
    cuda_reg parts_now;           /* open phases: parts of a thread, all or one */
    cuda_reg thread, position[3]; /* open phases: of part 0; else of lid */
    cuda_reg group[3];            /* u32 */
    cuda_reg groups[3];           /* u64 */
    cuda_reg domain[3];           /* u64 */
    cuda_reg hidden_zero;         /* u32 */
    cuda_reg stop, counters;
    cuda_reg may_stop; /* a predicate: somebody may ask for it */
    uint32_t end;      /* label: the invocation is through */
    uint32_t shared_bytes, zeroed_bytes, local_bytes, exchange, ticket;
    bool is_together;            /* the whole workgroup comes to the subgroup operation at hand */
    uint32_t spare, spare_bytes; /* of private memory, for a moment */
} emit;

static inline cuda_fact *emit_fact(const emit *e, uint32_t inst) {
    return cuda_fact_of(&e->facts, inst);
}

static inline cuda_reg *emit_slot(emit *e, uint32_t inst, uint32_t part) {
    return &e->values[(size_t)(inst - e->phase->first) * e->facts.parts + part];
}

/* The parts for which an instruction is written: all at hand, or one for all. */
static inline uint32_t emit_first(const emit *e, uint32_t inst) {
    return cuda_varies(&e->facts, inst) ? e->first_part : 0;
}
static inline uint32_t emit_end(const emit *e, uint32_t inst) {
    return cuda_varies(&e->facts, inst) ? e->end_part : 1;
}

/* Labels and jumps. */
uint32_t cuda_emit_label(emit *e);
void cuda_emit_place(emit *e, uint32_t label);
void cuda_emit_jump(emit *e, uint32_t label);
void cuda_emit_branch(emit *e, cuda_reg predicate, bool holds, uint32_t label, bool uniform);

/* Lines of one instruction under a predicate; `predicate` of the class none is always. */
void cuda_emit_if(emit *e, cuda_reg predicate, const char *format, ...) VYRE_PRINTF(3, 4);

/* What is written between these two stands in front of all other code; and behind it. */
void cuda_emit_begin_head(emit *e);
void cuda_emit_end_head(emit *e);
void cuda_emit_begin_cold(emit *e);
void cuda_emit_end_cold(emit *e);

/* Of the frame, read there. */
cuda_reg cuda_emit_frame(emit *e, cuda_class kind, uint32_t offset);
cuda_reg cuda_emit_length(emit *e, uint32_t resource);
cuda_reg cuda_emit_limit(emit *e, uint32_t resource, bool is_signed);
cuda_reg cuda_emit_base(emit *e, uint32_t resource);
cuda_reg cuda_emit_counters(emit *e);

cuda_reg cuda_emit_operand(emit *e, uint32_t operand, uint32_t part);
void cuda_emit_surroundings(emit *e, uint32_t inst);
void cuda_emit_instruction(emit *e, uint32_t inst);
void cuda_emit_unknown(emit *e,
                       uint32_t inst); /* there is no code for it: the program is refused */
void cuda_emit_block(emit *e, vyre_block code);
void cuda_emit_control(emit *e, uint32_t inst);
void cuda_emit_loop(emit *e, uint32_t inst);
void cuda_emit_for(emit *e, uint32_t inst);

/* Registers for args and results, which are written where control flow meets; and values for them,
 * all at once: an arg may be what another one becomes. */
void cuda_emit_slots(emit *e, vyre_block slots);
void cuda_emit_assign(emit *e, uint32_t first, const uint32_t *operands, uint32_t count);
/* The registers of args as they are, and back again with what is in them now moved there. */
cuda_reg *cuda_emit_keep_slots(emit *e, vyre_block slots);
void cuda_emit_restore_slots(emit *e, vyre_block slots, cuda_reg *kept);
void cuda_emit_settle(emit *e, uint32_t owner);
void cuda_emit_open(emit *e, uint32_t owner, uint32_t exit, uint32_t latch);
/* Whether the whole workgroup comes there, so that one answer is everybody's. */
bool cuda_emit_together(const emit *e, uint32_t inst);
void cuda_emit_jump_out(emit *e, uint32_t inst);

/* Ends the thread if somebody asked for that. Written where the code is, or out of the way. */
void cuda_emit_stop_check(emit *e);

/* The same as text: [%d7+4], [shared+12]; and under which predicate it exists. */
typedef struct emit_place_text {
    char text[160];
} emit_place_text;
typedef struct emit_element {
    emit_place_text place;
    cuda_reg inside; /* of the class none: always */
    bool never;      /* it does not exist */
} emit_element;
/* Where all shared or private arrays start. */
cuda_reg cuda_emit_block_start(emit *e, bool is_shared);
/* Private memory of so many bytes that nobody else uses now: its place among private arrays. */
uint32_t cuda_emit_spare(emit *e, uint32_t bytes);
emit_where cuda_emit_where(emit *e, uint32_t resource, vyre_type type, cuda_reg index);
/* The same by an operand: a number in it goes into the instruction where nothing wraps around. */
emit_where cuda_emit_where_of(emit *e, uint32_t resource, uint32_t operand, uint32_t part);
emit_place_text cuda_emit_place_of(const emit *e, uint32_t resource, emit_where where,
                                   int64_t more);
cuda_reg cuda_emit_inside(emit *e, uint32_t resource, vyre_type type, cuda_reg index);
/* The element of an access. */
emit_element cuda_emit_find(emit *e, uint32_t inst, uint32_t part);
bool cuda_emit_is_local(const emit *e, uint32_t resource); /* shared or private */
/* The state space of all constant arrays, and the register with the address of one. */
const char *cuda_emit_constant_space(const emit *e);
cuda_reg cuda_emit_constant_base(emit *e, uint32_t resource);
const char *cuda_emit_space(const emit *e, uint32_t resource);
const char *cuda_emit_load_name(const emit *e, uint32_t resource);
const char *cuda_emit_memory_type(vyre_type type);
cuda_class cuda_emit_memory_class(vyre_type type);
cuda_reg cuda_emit_to_memory(emit *e, vyre_type type, cuda_reg value);
cuda_reg cuda_emit_from_memory(emit *e, vyre_type type, cuda_reg value);
cuda_reg cuda_emit_zero(emit *e, cuda_class kind);

/* Runs: neighbouring elements, of several parts of a thread or of several accesses. */

/* Whether all parts from position `x` on (64 bits) are in the domain, and in each array that they
 * use at their own positions a row that one access reaches. */
cuda_reg cuda_emit_own_rows_fit(emit *e, cuda_reg x);
/* Neighbours, the first by an index of 32 bits. */
typedef struct emit_row {
    uint32_t resource, count;
    vyre_type index_type;
    cuda_reg first;
    bool is_inside; /* known */
    cuda_reg *out_values;
} emit_row;
/* Loads rows by few accesses where all of them are aligned and inside, which is looked at when it
 * comes to that. With a label `escape` that is where it goes on if they are not inside. */
enum { EMIT_MOST_ROWS = EMIT_MOST_AHEAD };
void cuda_emit_rows(emit *e, const emit_row *rows, uint32_t count, uint32_t escape);
/* Does an access with others, or with the first or last of them; false if it is one by itself. */
bool cuda_emit_load_run(emit *e, uint32_t inst);
bool cuda_emit_store_run(emit *e, uint32_t inst);
/* Whether a store is the same for all parts. */
bool cuda_emit_stores_alike(const emit *e, uint32_t inst);
void cuda_emit_memory(emit *e, uint32_t inst);
void cuda_emit_clear(emit *e, uint32_t resource);
void cuda_emit_atomic(emit *e, uint32_t inst);
void cuda_emit_subgroup(emit *e, uint32_t inst);

void cuda_emit_body(emit *e, uint32_t end); /* the phase's code, up to the label */
void cuda_emit_groups(emit *e);
void cuda_emit_lay_out(emit *e);
void cuda_emit_barrier(emit *e);
void cuda_emit_grid_barrier(emit *e);
void cuda_emit_clear_shared(emit *e);
void cuda_emit_uniform_load(emit *e, uint32_t inst);
void cuda_emit_load(emit *e, uint32_t inst);

#endif
