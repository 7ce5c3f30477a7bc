/* A module under construction: its sections, and one function at a time.
 *
 * Types and numbers are declared once, when somebody asks for them. Failure for lack of memory is
 * remembered in `failed`, so that callers test once at the end. */
#ifndef VYRE_SPIRV_BUILD_H
#define VYRE_SPIRV_BUILD_H

#include "backend/spirv/spv.h"
#include "base/map.h"
#include "base/vec.h"

typedef VYRE_VEC(uint32_t) spirv_section;

/* Types of what is computed with, and of elements in memory. */
typedef enum spirv_kind {
    SPIRV_VOID,
    SPIRV_BOOL,
    SPIRV_U8, /* in memory alone */
    SPIRV_U16,
    SPIRV_U32,
    SPIRV_U64,
    SPIRV_REAL32,
    SPIRV_REAL64,
    SPIRV_PAIR,  /* of U32 */
    SPIRV_WORDS, /* four U32 */
    SPIRV_TRIPLE,
    SPIRV_KIND_COUNT
} spirv_kind;

static inline uint32_t spirv_kind_bytes(spirv_kind kind) {
    static const uint8_t bytes[SPIRV_KIND_COUNT] = {0, 1, 1, 2, 4, 8, 4, 8, 8, 16, 12};
    return bytes[kind];
}

typedef struct spirv_number {
    uint64_t bits;
    spirv_kind kind;
    spv_id id;
} spirv_number;

/* A pointer or array type that was declared: (class, element, length). */
typedef struct spirv_derived {
    uint32_t storage, element, length;
    spv_id id;
} spirv_derived;

enum { SPIRV_MOST_BUILTINS = 64 };

typedef struct spirv_builder {
    spirv_section modes;       /* execution modes */
    spirv_section entries;     /* entry points */
    spirv_section strings;     /* names of files */
    spirv_section names;       /* of ids */
    spirv_section decorations; /* */
    spirv_section globals;     /* types, numbers, variables */
    spirv_section functions;   /* those that are whole */
    spirv_section variables;   /* of the function under way */
    spirv_section head;        /* the rest of its first block, */
    spirv_section code;        /* and all behind it */
    spirv_section capabilities;

    spirv_section *out; /* `head` or `code` */
    spv_id next;
    spv_id block;    /* label of the block at hand; 0 behind its end */
    spv_id extended; /* the import of GLSL.std.450 */
    spv_id kinds[SPIRV_KIND_COUNT];
    spv_id function_type, yes, no;
    spv_id builtins[SPIRV_MOST_BUILTINS];
    VYRE_VEC(spirv_number) numbers;
    vyre_map number_map;
    VYRE_VEC(spirv_derived) derived;
    vyre_map derived_map;
    spirv_section interface; /* global variables that entry points share, */
    spirv_section own;       /* and those of the one at hand: workgroup memory */
    bool failed;
} spirv_builder;

void spirv_builder_init(spirv_builder *b);
void spirv_builder_free(spirv_builder *b);

spv_id spirv_new(spirv_builder *b);

void spirv_append(spirv_builder *b, spirv_section *to, const uint32_t *words, size_t count);

/* One instruction. `words` are all behind its first. */
void spirv_put(spirv_builder *b, spirv_section *to, spv_op op, const uint32_t *words, size_t count);
/* The same with a string in between. */
void spirv_put_string(spirv_builder *b, spirv_section *to, spv_op op, const uint32_t *before,
                      size_t before_count, const char *string, const uint32_t *after,
                      size_t after_count);
#define SPIRV_PUT(b, to, op, ...)                                                                  \
    spirv_put(b, to, op, (const uint32_t[]){__VA_ARGS__},                                          \
              sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* Code at hand: without a result, and with one. Nothing is written behind the end of a block. */
void spirv_line(spirv_builder *b, spv_op op, const uint32_t *words, size_t count);
spv_id spirv_value(spirv_builder *b, spv_op op, spv_id type, const uint32_t *words, size_t count);
#define SPIRV_LINE(b, op, ...)                                                                     \
    spirv_line(b, op, (const uint32_t[]){__VA_ARGS__},                                             \
               sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define SPIRV_VALUE(b, op, kind, ...)                                                              \
    spirv_value(b, op, spirv_type(b, kind), (const uint32_t[]){__VA_ARGS__},                       \
                sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

spv_id spirv_one(spirv_builder *b, spv_op op, spirv_kind kind, spv_id x);
spv_id spirv_two(spirv_builder *b, spv_op op, spirv_kind kind, spv_id x, spv_id y);
spv_id spirv_choose(spirv_builder *b, spirv_kind kind, spv_id condition, spv_id x, spv_id y);
/* An instruction of GLSL.std.450. */
spv_id spirv_extended(spirv_builder *b, uint32_t number, spirv_kind kind, const spv_id *operands,
                      size_t count);

void spirv_need(spirv_builder *b, uint32_t capability);

spv_id spirv_type(spirv_builder *b, spirv_kind kind);
spv_id spirv_pointer(spirv_builder *b, uint32_t storage, spv_id element);
spv_id spirv_array(spirv_builder *b, spv_id element, uint32_t length);
spv_id spirv_number_of(spirv_builder *b, spirv_kind kind, uint64_t bits);
static inline spv_id spirv_u32(spirv_builder *b, uint32_t number) {
    return spirv_number_of(b, SPIRV_U32, number);
}
static inline spv_id spirv_u64(spirv_builder *b, uint64_t number) {
    return spirv_number_of(b, SPIRV_U64, number);
}
/* Zeros of any type. */
spv_id spirv_null(spirv_builder *b, spv_id type);
spv_id spirv_truth(spirv_builder *b, bool truth);

/* A variable outside of functions, and one of the function at hand. */
spv_id spirv_global(spirv_builder *b, uint32_t storage, spv_id type);
spv_id spirv_local(spirv_builder *b, spv_id type);
/* The variable of an input that the device gives. */
spv_id spirv_builtin(spirv_builder *b, uint32_t builtin, spirv_kind kind);

/* Blocks. A label that is placed while a block is open is jumped to from there. */
void spirv_place(spirv_builder *b, spv_id label);
void spirv_jump(spirv_builder *b, spv_id label);
void spirv_branch(spirv_builder *b, spv_id condition, spv_id yes, spv_id no);
/* The last instruction of a block: Return or Unreachable. */
void spirv_end(spirv_builder *b, spv_op op);

/* `if`: opens a branch that runs where the condition holds. Gives the label behind it. */
spv_id spirv_begin_if(spirv_builder *b, spv_id condition);
void spirv_end_if(spirv_builder *b, spv_id behind);

/* A loop over numbers of 32 bits: from one on, in steps, while they are below a limit. */
typedef struct spirv_turns {
    spv_id head, latch, exit;
    spv_id at;        /* variable */
    spv_id now, step; /* the number in the body; by how much it grows */
} spirv_turns;
spirv_turns spirv_begin_turns(spirv_builder *b, spv_id first, spv_id step, spv_id limit);
void spirv_end_turns(spirv_builder *b, const spirv_turns *turns);

void spirv_begin_function(spirv_builder *b, spv_id function);
void spirv_end_function(spirv_builder *b);

void spirv_name(spirv_builder *b, spv_id id, const char *name);

/* All of it. NULL without memory. */
uint32_t *spirv_finish(spirv_builder *b, uint32_t version, bool vulkan_model, size_t *out_count);

#endif
