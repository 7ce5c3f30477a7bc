/* The inside of the builder: a draft of the program, in which variables are still instructions.
 *
 * build_table.c  interface and sizes            build_step.c    phases and repeats
 * build_data.c   constant arrays                build_message.c print and assert
 * build_value.c  values and memory              build_block.c   control flow and variables
 * build_ssa.c    variables become values        build_finish.c  the draft becomes a program
 */
#ifndef VYRE_IR_BUILDER_H
#define VYRE_IR_BUILDER_H

#include <vyre/builder.h>

#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"

/* Operations of the draft alone, beyond all others. */
enum {
    DRAFT_VAR = 0xff00, /* a: variable, b: first value */
    DRAFT_GET,          /* a: variable */
    DRAFT_SET           /* a: variable, b: value */
};

typedef struct draft_arg {
    uint32_t name; /* in the builder's strings */
    uint32_t type, resource;
    uint8_t dimensions; /* 1 unless the text declares more; the length is their product */
} draft_arg;

typedef struct draft_resource {
    vyre_resource row;
    uint32_t name;  /* in debug_strings */
    uint32_t phase; /* of shared and private arrays; else VYRE_NONE */
} draft_resource;

typedef struct draft_size {
    vyre_size_node node;
    uint32_t depth;
    bool used;
    bool counts; /* uses the counter of a repeat */
} draft_size;

typedef struct draft_step {
    vyre_step row;
    uint32_t name;
} draft_step;

typedef struct draft_requirement {
    vyre_requirement row;
    vyre_place place;
} draft_requirement;

typedef struct draft_variable {
    uint32_t name;
    uint32_t declared; /* its DRAFT_VAR */
    uint32_t block;    /* serial number of the block it lives in */
    uint8_t type;
} draft_variable;

typedef enum block_kind {
    BLOCK_PHASE,
    BLOCK_THEN,
    BLOCK_ELSE,
    BLOCK_LOOP,
    BLOCK_FOR,
    BLOCK_INLINE
} block_kind;

typedef struct block {
    block_kind kind;
    uint32_t serial;
    uint32_t owner;      /* instruction that holds the block; VYRE_NONE for a phase */
    uint32_t loop, call; /* innermost enclosing loop and inline, itself included; or VYRE_NONE */
    uint32_t exits;      /* reachable ways out of the owner so far */
    uint32_t results;    /* explicit values on the ways out; VYRE_NONE before the first */
    uint32_t types;      /* their types, in type_stack */
    uint32_t args;       /* explicit values a loop carries; VYRE_NONE if they were refused */
    bool mistaken;       /* values on a way out were refused: nobody knows how many there are */
    bool unreachable;    /* the whole block */
    bool dead;           /* from here on: a terminator was built */
    size_t dead_insts, dead_operands, dead_names; /* what was there then; the rest is cut off */
} block;

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

/* The buffer that a field belongs to; another resource itself. */
uint32_t builder_buffer_of(const vyre_builder *builder, uint32_t resource);

struct vyre_builder {
    vyre_diagnostics *diagnostics;
    bool no_memory, finished;
    uint32_t flags;

    vyre_strbuf strings, debug_strings;
    vyre_map debug_map;
    uint32_t file;
    VYRE_VEC(draft_arg) args;
    VYRE_VEC(draft_resource) resources;
    VYRE_VEC(draft_size) sizes;
    VYRE_VEC(uint8_t) data; /* of constant arrays, in the order of their declaration */
    vyre_map data_map;
    VYRE_VEC(draft_requirement) requirements;
    VYRE_VEC(draft_step) steps;
    VYRE_VEC(vyre_phase) phases;
    VYRE_VEC(uint32_t) open_repeats; /* steps: repeats and branches */
    bool in_phase;

    VYRE_VEC(vyre_const) consts;
    vyre_map const_map;
    VYRE_VEC(uint32_t) operands;
    VYRE_VEC(vyre_inst) insts;
    VYRE_VEC(vyre_place) places; /* as many as insts */
    VYRE_VEC(vyre_value_name) names;
    VYRE_VEC(vyre_call_scope) scopes;
    VYRE_VEC(draft_variable) variables;
    VYRE_VEC(block) blocks;
    VYRE_VEC(uint8_t) type_stack; /* result types of the phase's blocks; grows until its end */
    uint32_t block_serial;

    uint32_t line, column, length, scope;

    VYRE_VEC(uint32_t) resource_map; /* resource -> final one, while the program is made */
    ssa_arrays ssa;
};

/* Fills the empty arrays of the draft, whose resource_map is known. False without memory or beyond
 * the limit of instructions. The draft must be free of errors. */
bool vyre_build_ssa(vyre_builder *draft);

/* Gives back the memory of the draft's code with what turning it into final instructions took, and
 * of those instructions. */
void builder_free_draft(vyre_builder *builder);
void builder_free_code(vyre_builder *builder);

void builder_no_memory(vyre_builder *builder);
/* Report a mistake, and give what stands for nothing: `return builder_none(builder, 309, ...);`. */
#define builder_none(...) (vyre_build_report(__VA_ARGS__), VYRE_NONE)
#define builder_refuse(...) (vyre_build_report(__VA_ARGS__), false)

/* Adds to one of the builder's vectors and gives its number; VYRE_NONE without memory. */
#define builder_add(builder, vec, ...)                                                             \
    (vyre_vec_push(&(builder)->vec, __VA_ARGS__) ? (uint32_t)(builder)->vec.count - 1              \
                                                 : (builder_no_memory(builder), VYRE_NONE))

/* Where the builder stands. */
vyre_place builder_place(const vyre_builder *builder);

/* Appends an instruction and gives its number; VYRE_NONE if it cannot. */
uint32_t builder_emit(vyre_builder *builder, vyre_inst inst);

/* The same for a list of operands: gives where it starts. False if it cannot. */
bool builder_list(vyre_builder *builder, uint32_t count, const uint32_t *values, uint32_t *at);

/* Whether an instruction may be built here at all; reports if not. */
bool builder_ready(vyre_builder *builder, const char *what);

/* VYRE_NONE was passed. That is what an earlier mistake leaves behind; without one it is itself the
 * mistake, and reported. */
void builder_absent(vyre_builder *builder, const char *what, const char *kind);

/* The type of `value`; void, after a report, if it is none. `operand` counts from 1. */
static inline vyre_type builder_value(vyre_builder *builder, const char *what, uint32_t operand,
                                      uint32_t value);
void builder_no_value(vyre_builder *builder, const char *what, uint32_t operand, uint32_t value);
bool builder_resource(vyre_builder *builder, const char *what, uint32_t resource);

/* Adds an array of the program, or of a phase. */
uint32_t builder_add_resource(vyre_builder *builder, const char *name, vyre_resource row,
                              uint32_t phase);

/* Declares a constant array of another program. */
uint32_t builder_copy_constant(vyre_builder *builder, const char *name, const vyre_ir *ir,
                               const vyre_resource *constant);

/* Gives the constant arrays that instructions use the numbers from `*next` on, in the order of
 * their first use; the others keep VYRE_NONE. */
void builder_order_constants(vyre_builder *builder, uint32_t *next);

/* A message with a text that is a constant array. */
void builder_message(vyre_builder *builder, vyre_op op, uint32_t text, uint32_t count,
                     const uint32_t *operands);

/* Closes the phase's block. */
void builder_open_phase_block(vyre_builder *builder);
void builder_close_phase_block(vyre_builder *builder);

/* A name's place in debug_strings; 0 for none. */
uint32_t builder_name(vyre_builder *builder, const char *name);

/* An operation on values alone; `result` is its type, which conversions alone have to be told. */
uint32_t builder_op(vyre_builder *builder, vyre_op op, vyre_type result,
                    const uint32_t operands[3]);

/* Takes a size into use as part of something; reports if it is none or used already. */
bool builder_use_size(vyre_builder *builder, const char *what, uint32_t size);
/* The same for what has its size before the run: without counters of repeats. */
bool builder_use_fixed_size(vyre_builder *builder, const char *what, uint32_t size);
/* Whether a repeat is open, and not another kind of step. */
bool builder_in_repeat(const vyre_builder *builder, uint32_t repeat);

/* What is known about two sizes before the program runs; `numbers` are those that differ. */
typedef enum size_match { SIZES_MAY_BE_EQUAL, SIZES_ARE_EQUAL, SIZES_DIFFER } size_match;
size_match builder_match_sizes(const vyre_builder *builder, uint32_t left, uint32_t right,
                               uint64_t numbers[2]);

/* void for what is no value. */
static inline vyre_type builder_type(const vyre_builder *builder, uint32_t value) {
    uint32_t index = value & ~VYRE_CONSTANT;
    if (value & VYRE_CONSTANT) { /* VYRE_NONE is beyond all of them */
        return index < builder->consts.count ? (vyre_type)builder->consts.items[index].type
                                             : VYRE_TYPE_VOID;
    }
    return index < builder->insts.count ? (vyre_type)builder->insts.items[index].type
                                        : VYRE_TYPE_VOID;
}

static inline uint64_t builder_bits(const vyre_builder *builder, uint32_t constant) {
    return builder->consts.items[constant & ~VYRE_CONSTANT].bits;
}

static inline vyre_type builder_value(vyre_builder *builder, const char *what, uint32_t operand,
                                      uint32_t value) {
    vyre_type type = builder_type(builder, value);
    bool is_here =
        value & VYRE_CONSTANT || value >= builder->phases.items[builder->phases.count - 1].first;
    if (type == VYRE_TYPE_VOID || !is_here) {
        builder_no_value(builder, what, operand, value);
        return VYRE_TYPE_VOID;
    }
    return type;
}

static inline block *builder_block(vyre_builder *builder) {
    return &builder->blocks.items[builder->blocks.count - 1];
}

#endif
