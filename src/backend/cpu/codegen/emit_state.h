/* The emitter at work: one phase.
 *
 *   emit.c         functions, chunks, regions                emit_block.c      control flow
 *   emit_value.c   code, variables, masks, values            emit_position.c   positions, arguments
 *   emit_memory.c  arrays                                    emit_subgroup.c   subgroups
 *   emit_span.c    lanes at constant distances               emit_atomic.c     atomics
 *   emit_check.c   bounds                                    emit_group.c      workgroups that wait
 *   emit_flat.c    records as plain numbers
 */
#ifndef VYRE_CPU_CODEGEN_EMIT_STATE_H
#define VYRE_CPU_CODEGEN_EMIT_STATE_H

#include <vyre/limits.h>

#include "backend/cpu/codegen/analyse.h"
#include "backend/cpu/codegen/write_parts.h"
#include "base/vec.h"
#include "ir/lookup.h"
#include "pass/access.h"
#include "pass/stride.h"

/* More arrays are not told apart. */
enum { EMIT_MOST_SCOPES = 24 };

/* A value in its region. */
typedef struct emit_value {
    uint32_t id;     /* scalar, or vector where it varies; 0 is none */
    uint32_t base;   /* varying: the scalar that lane 0 has, where it is at hand; or 0 */
    uint64_t offset; /* in the storage, where it crosses regions */
} emit_value;

/* A block that is open. Slots of its args and results are known by the first of them. */
typedef struct emit_open {
    uint32_t owner; /* VYRE_NONE: the phase */
    uint32_t live;  /* lanes that have not left it, in memory; 0 unless some may */
    uint32_t exec;  /* loops that lanes leave one by one: who is still in it, in memory */
    uint32_t exit, latch, rest; /* labels: behind it, next iteration, end of the block */
} emit_open;

/* A group block that is open. */
typedef struct emit_group {
    uint32_t owner; /* VYRE_NONE: the phase */
    uint32_t exit, latch;
    bool partial;   /* lanes may leave it one by one, behind its last wait: then */
    uint64_t alive; /* those that have not, in the storage, a byte each */
    const struct emit_group *outer;
} emit_group;

typedef struct emit {
    cpu_writer w;
    vyre_strbuf allocas; /* of the function, for its entry */
    const vyre_ir *ir;
    cpu_facts facts;
    const vyre_phase *phase;
    uint32_t phase_index;
    uint32_t chunks; /* of a workgroup; each has facts.lanes */
    bool scalar;     /* lanes of a chunk are scalars side by side, not those of vectors */
    uint32_t lanes;  /* of vectors; 1 with scalars */
    uint32_t first_lane, lane_count; /* scalars: the lanes of the chunk that code is written for */
    emit_value *values;              /* by lane of scalars, and instruction of the phase */
    uint32_t *slots; /* the same: args and results of blocks inside a region, memory */
    emit_open stack[VYRE_LIMIT_NESTING + 2];
    uint32_t depth;
    uint32_t region;
    vyre_ranges ranges;
    vyre_strides strides;
    vyre_accesses accesses;
    uint8_t *loaded;            /* by instruction: whether its neighbour loaded it, too */
    uint8_t *tested;            /* by instruction: its index, before the loop at hand */
    uint32_t mask;              /* lanes that run */
    uint32_t whole;             /* the mask with which a chunk starts, lane 0 in it; 0: none */
    uint32_t touched;           /* the array that accesses go to, VYRE_NONE: none of them */
    bool in_group;              /* between regions: no lanes at all */
    bool terminated;            /* the LLVM block has ended */
    uint32_t *arrays, *lengths; /* by resource: pointer and number of elements (i64) */
    uint64_t *array_offsets;    /* shared and private: in the storage */
    bool uses_stack;            /* for private arrays */
    bool is_plain;              /* LLVM gets as few blocks as possible */
    VYRE_VEC(uint32_t) spare[2][VYRE_TYPE_COUNT]; /* variables, of scalars and of vectors */
    uint32_t sink;           /* where stores past the end of an array go, if it is; 0: not yet */
    uint32_t storage;        /* pointer */
    uint32_t chunk;          /* number of the chunk, i64; in memory */
    const emit_group *group; /* the innermost one, where there are regions */
    uint64_t storage_bytes;
    uint32_t wid[3];    /* u32; of a row: 0, y, z */
    uint32_t row;       /* without workgroups: x of lane 0, u32 */
    uint32_t group_end; /* label: the workgroup is through */
} emit;

/* What varies is there once a scalar. */
static inline size_t emit_place_of(const emit *e, uint32_t inst) {
    size_t count = e->phase->end - e->phase->first;
    size_t lane = cpu_varies(&e->facts, inst) ? e->first_lane : 0;
    return lane * count + inst - e->phase->first;
}

static inline emit_value *emit_value_of(emit *e, uint32_t inst) {
    return &e->values[emit_place_of(e, inst)];
}

/* Scalars one by one: for (emit_lanes all = emit_each(e); emit_next(e, &all);) writes the code of
 * the loop for each lane that code is written for, once for a vector. */
typedef struct emit_lanes {
    uint32_t first, count, next;
} emit_lanes;

static inline emit_lanes emit_each(const emit *e) {
    return (emit_lanes){e->first_lane, e->lane_count, e->first_lane};
}

static inline bool emit_next(emit *e, emit_lanes *all) {
    bool more = all->next < all->first + all->count;
    e->first_lane = more ? all->next++ : all->first;
    e->lane_count = more ? 1 : all->count;
    return more;
}

/* Code. A label is a number: b7. */
void emit_line(emit *e, const char *format, ...) VYRE_PRINTF(2, 3);
/* A line "%tN = ..."; gives N. */
#define emit_put(e, ...) cpu_put((cpu_site){&(e)->w, (e)->lanes}, __VA_ARGS__)
/* Lane k of the result is lane from[k] of a, then b. */
uint32_t emit_shuffle(emit *e, const char *type, uint32_t a, uint32_t b, const uint32_t *from,
                      uint32_t count);
uint32_t emit_label(emit *e);
void emit_start(emit *e, uint32_t label);
void emit_jump(emit *e, uint32_t label);
void emit_branch(emit *e, uint32_t condition, uint32_t yes, uint32_t no);
void emit_likely_branch(emit *e, uint32_t condition, uint32_t yes, uint32_t no);
uint32_t emit_new(emit *e);

static inline uint32_t emit_lanes_of(const emit *e, bool varying) {
    return varying ? e->lanes : 1;
}

/* A variable: memory that LLVM turns into values again. Zeroed at the start of the function. */
uint32_t emit_variable(emit *e, vyre_type type, uint32_t lanes);
/* A variable that is not needed any more, for the next one in plain code, which assigns it before
 * reading: without optimisation LLVM lets none share its place on the stack. */
void emit_spare(emit *e, vyre_type type, uint32_t lanes, uint32_t variable);
uint32_t emit_mask_variable(emit *e);
uint32_t emit_read(emit *e, vyre_type type, uint32_t lanes, uint32_t variable);
void emit_assign(emit *e, vyre_type type, uint32_t lanes, uint32_t variable, uint32_t value);

/* Memory: elements, one or a vector of them. */
static inline vyre_type emit_stored_type(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : type;
}
uint32_t emit_from_memory(emit *e, vyre_type type, uint32_t lanes, uint32_t id);
uint32_t emit_to_memory(emit *e, vyre_type type, uint32_t lanes, uint32_t id);
uint32_t emit_load_at(emit *e, vyre_type type, uint32_t lanes, uint32_t pointer);
void emit_store_at(emit *e, vyre_type type, uint32_t lanes, uint32_t pointer, uint32_t value);

/* Operands, as scalars (of values that do not vary) and as vectors. */
uint32_t emit_scalar(emit *e, uint32_t operand);
uint32_t emit_vector(emit *e, uint32_t operand);
/* As the value is. */
uint32_t emit_operand(emit *e, uint32_t operand);
/* For an arg or result, as that one is. */
uint32_t emit_value_for(emit *e, uint32_t inst, uint32_t operand);
/* What lane 0 has, whether it runs or not. */
uint32_t emit_first(emit *e, uint32_t operand);
/* How an operand changes from lane to lane of a vector. */
vyre_stride emit_stride_of(const emit *e, uint32_t operand);

/* A field of the frame, and an entry of a table that lies there, by their offsets in bytes. */
uint32_t emit_frame_field(emit *e, const char *type, uint64_t offset);
uint32_t emit_table_entry(emit *e, const char *type, uint32_t table, uint64_t offset);

/* Makes a value known: `id` as the value is. */
void emit_define(emit *e, uint32_t inst, uint32_t id);

/* Masks. Scalars have none: what they do not run is jumped over. */
uint32_t emit_any(emit *e, uint32_t mask);
uint32_t emit_and(emit *e, uint32_t left, uint32_t right);
uint32_t emit_and_not(emit *e, uint32_t left, uint32_t right);

/* Picks by mask. */
uint32_t emit_pick(emit *e, vyre_type type, uint32_t mask, uint32_t yes, uint32_t no);

/* Where a value lies that crosses regions, for the chunk at hand. */
uint32_t emit_storage_at(emit *e, uint64_t offset, uint64_t bytes_a_chunk);
uint64_t emit_crossing_bytes(const emit *e, uint32_t inst); /* of a chunk */
void emit_store_crossing(emit *e, uint32_t inst, uint32_t id);
uint32_t emit_load_crossing(emit *e, uint32_t inst);

/* Lanes of the chunk at hand that are in a group block, or in what is around it. */
bool emit_has_left(const emit_group *group); /* whether lanes may have left it, or one around it */
uint32_t emit_alive(emit *e, const emit_group *group);
void emit_set_alive(emit *e, const emit_group *group, uint32_t mask);
uint64_t emit_reserve(emit *e, uint64_t bytes);
void emit_zeros(emit *e, uint32_t at, uint64_t bytes);

/* The parts */
uint32_t emit_first_lane(emit *e); /* number of lane 0 in the workgroup, u32 */
void emit_surroundings(emit *e, uint32_t inst);
void emit_instruction(emit *e, uint32_t inst);
void emit_unknown(emit *e, uint32_t inst); /* there is no code for it: the program is refused */
void emit_region_block(emit *e, vyre_block code);
void emit_control(emit *e, uint32_t inst);
void emit_jump_out(emit *e, uint32_t inst);
void emit_group_code(emit *e, vyre_block code);
/* Lanes leave all blocks of the region, and group blocks around it, one by one. */
void emit_leave_groups(emit *e, const vyre_inst *i);
void emit_memory(emit *e, uint32_t inst);
/* Global constants, which the code names by the number of their resource. */
void emit_constants(vyre_strbuf *out, const vyre_ir *ir);
void emit_atomic(emit *e, uint32_t inst);
uint32_t emit_atomic_at(emit *e, const vyre_inst *i, vyre_type type, uint32_t pointer,
                        uint32_t value, uint32_t other);
/* An element that all lanes ask for, at this index. */
uint32_t emit_load_uniform(emit *e, uint32_t inst, uint32_t index);
uint32_t emit_load_lanes(emit *e, uint32_t inst);
/* The pointer, or one to zeros. */
uint32_t emit_safe_pointer(emit *e, uint32_t inside, uint32_t pointer);
/* Elements of a vector by their numbers, as u32, for the lanes of a mask; 0 in others. */
uint32_t emit_gather_lanes(emit *e, vyre_type type, uint32_t vector, uint32_t numbers,
                           uint32_t mask);
void emit_subgroup(emit *e, uint32_t inst);
/* Where there are many products of matrices they are done by a function, phase_N_multiply(list), on
 * operands in memory, in which the sums then are; and the code of that. */
bool emit_multiplies_apart(const emit *e);
void emit_multiply_body(emit *e);
void emit_stop_check(emit *e, uint32_t away);

/* Arrays: types, starts, pointers to elements by their numbers in 64 bits. */
vyre_type emit_element_type(const emit *e, uint32_t resource);
/* From one element to the next. */
uint32_t emit_element_bytes(const emit *e, uint32_t resource);
cpu_type_text emit_suffix(vyre_type type, uint32_t lanes); /* what intrinsics call it */
uint32_t emit_array_start(emit *e, uint32_t resource);
uint32_t emit_widen(emit *e, vyre_type type, uint32_t lanes, uint32_t index);
/* An operand that is an index: the same in all lanes, or of each lane. */
uint32_t emit_one_index(emit *e, uint32_t index);
uint32_t emit_lane_indices(emit *e, uint32_t index);
uint32_t emit_pointer_to(emit *e, uint32_t start, uint32_t index, uint64_t bytes);
uint32_t emit_offset(emit *e, uint32_t pointer, uint64_t bytes); /* so many bytes further on */
uint32_t emit_lane_pointers(emit *e, uint32_t resource, uint32_t wide);
uint32_t emit_gather(emit *e, vyre_type type, uint32_t pointers, uint32_t mask);
/* What is true of accesses to the array at hand, for the end of a line. */
typedef struct emit_alias_text {
    char text[64];
} emit_alias_text;
emit_alias_text emit_alias(const emit *e);

/* Bounds. Whether the index of an access needs no look, for the lanes that run. */
bool emit_is_inside(const emit *e, uint32_t inst);
uint32_t emit_inside(emit *e, uint32_t index, uint32_t length, uint32_t lanes);
/* The lanes that run and whose index, in 64 bits, is inside. */
uint32_t emit_inside_mask(emit *e, uint32_t inst, uint32_t wide);
/* Tests before a `for` whether all its accesses stay inside; 0 if there is nothing to test.
 * Iterations are i64. */
uint32_t emit_loop_test(emit *e, uint32_t inst, uint32_t iterations);
/* Whether accesses of the loop are taken for tested. */
void emit_loop_tested(emit *e, uint32_t inst, bool tested);

/* Elements that lie at a constant distance from lane to lane. */
typedef struct emit_span {
    uint32_t pointer;  /* to the first element of lane 0 */
    uint32_t inside;   /* i1: all elements of all lanes are inside; 0: they are for sure */
    bool masked;       /* only those of lanes that run are inside: a mask is needed */
    uint64_t distance; /* bytes from lane to lane */
} emit_span;
/* `below` is how far in front of the access's own element the first of `count` elements lies; of
 * fields, elements are what their record consists of. False if distances differ or are too large.
 */
bool emit_find_span(emit *e, uint32_t inst, int64_t below, uint32_t count, emit_span *out);
uint32_t emit_all(emit *e, uint32_t mask);
/* Loads of what lies at a distance of more than 1, with neighbours; false: nothing was done. */
bool emit_load_span(emit *e, uint32_t inst);
/* The same for stores of fields of one record, which are done with the last of them. */
bool emit_store_span(emit *e, uint32_t inst);
/* Stores of each lane by itself: at a constant distance, so many bytes on; or anywhere. */
void emit_store_spaced(emit *e, vyre_type type, uint32_t value, const emit_span *span,
                       uint64_t offset);
void emit_store_lanes(emit *e, uint32_t inst, uint32_t value);

/* Where a phase computes all fields of its records alike: code for chunks whose records are all
 * inside, and the label behind it, else 0. What follows is for all other chunks. False without
 * memory. */
bool emit_flat(emit *e, uint32_t *out_behind);

/* The iterations of a `for`, counted in 64 bits. */
typedef struct emit_range {
    bool varying;
    uint32_t iterations; /* i64, scalar or vector */
    uint32_t iteration;  /* variable: iterations so far, i64 */
} emit_range;
emit_range emit_make_range(emit *e, uint32_t inst, bool group);

/* Runs the code that `body` writes for each chunk of the workgroup. */
typedef void (*emit_body)(emit *e, const void *user);
void emit_for_chunks(emit *e, emit_body body, const void *user);
/* Also for those chunks of a workgroup that all lanes have left. */
void emit_for_all_chunks(emit *e, emit_body body, const void *user);

#endif
