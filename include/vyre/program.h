/* Program: a kernel as an immutable, verified value.
 *
 * The parser, the builder and the decoder return a program only after the verifier accepts it.
 * Programs are reference counted, and any number of threads may read one. Programs with the same
 * digest have the same meaning.
 *
 *     const vyre_ir *ir = vyre_program_ir(program);
 *     for (uint32_t i = 0; i < ir->inst_count; i++) {
 *         puts(vyre_op_info_of(ir->insts[i].op)->name);
 *     }
 *
 * vyre_program_ir shows the program as flat arrays:
 *
 *   - One array holds the instructions of all phases in execution order. The index of an
 *     instruction is also the number of its value.
 *   - An operand is such a number, or the index of a constant with VYRE_CONSTANT set.
 *   - A block is a sequence of instructions that ends with a terminator. `if` has two blocks;
 *     `for`, `loop` and `inline` have one. Blocks follow their instruction, whose words say where
 *     they end.
 *   - The block of a loop starts with its `arg`s: argument k of loop i is instruction i + 1 + k.
 *   - The `result`s of an `if`, `for`, `loop` or `inline` follow its last block: result k of one
 *     that ends at e is instruction e + k. An operation with several values has no block, and its
 *     results follow it directly.
 *   - `for` takes first, end and step before the values it carries, and its arg 0 is the counter.
 *     When the range is exhausted, its results are its other args.
 *   - One array holds all operand lists, in the order of their instructions.
 *
 * Every array has exactly one valid order (constants by first use, and so on), so equal programs
 * have equal bytes. */
#ifndef VYRE_PROGRAM_H
#define VYRE_PROGRAM_H

#include <vyre/limits.h>
#include <vyre/op.h>
#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_program vyre_program;

#define VYRE_CONSTANT 0x80000000u /* marks an operand as the index of a constant */
#define VYRE_NONE 0xffffffffu     /* no operand, no size, no resource */

typedef struct vyre_inst {
    uint16_t op;  /* vyre_op */
    uint8_t type; /* vyre_type of the value; void if there is none */
    uint8_t aux;  /* atomics: ordering + 8 * scope; subgroups: vyre_combination; else 0 */
    uint32_t a, b, c;
} vyre_inst;

typedef struct vyre_const {
    uint64_t bits; /* zero-extended */
    uint32_t type;
    uint32_t zero;
} vyre_const;

typedef enum vyre_access { VYRE_ACCESS_IN, VYRE_ACCESS_INOUT, VYRE_ACCESS_OUT } vyre_access;

/* An argument of the program, in declaration order. */
typedef struct vyre_arg {
    uint32_t name;     /* offset in `strings` */
    uint32_t type;     /* of the scalar, or of the buffer's elements; void for records */
    uint32_t resource; /* VYRE_NONE for a scalar */
} vyre_arg;

typedef enum vyre_resource_kind {
    VYRE_RESOURCE_BUFFER,
    VYRE_RESOURCE_SCRATCH,
    VYRE_RESOURCE_SHARED,
    VYRE_RESOURCE_PRIVATE,
    VYRE_RESOURCE_CONSTANT, /* read-only; its elements are in `data` */
    VYRE_RESOURCE_FIELD     /* one scalar of each record of a buffer */
} vyre_resource_kind;

/* An array that can be indexed. Buffers come first, in argument order, then scratch arrays, then
 * constant arrays in the order of their first use, then fields, by buffer and offset, then the
 * shared and private arrays of each phase.
 *
 * The elements of a buffer may be records of several scalars. Instructions do not access such a
 * buffer, only its fields: element i of a field is in record i. Fields do not overlap. Those that
 * no instruction uses are left out. */
typedef struct vyre_resource {
    uint8_t kind;   /* vyre_resource_kind */
    uint8_t type;   /* of the elements; void for a buffer of records */
    uint8_t access; /* buffers: vyre_access; fields: as their buffer; constant arrays: in; others:
                     * inout */
    uint8_t zero;
    uint32_t size;   /* buffers and scratch: length in elements, as a size; VYRE_NONE: any length.
                      * shared: the same, or VYRE_NONE where `length` is its length.
                      * constant arrays: where the elements start in `data`, a multiple of 8.
                      * fields: their buffer */
    uint32_t length; /* shared, private and constant arrays: length in elements. A buffer of
                      * records: bytes of one. Fields: offset in the record in bytes, a multiple of
                      * the type's size. Else 0 */
} vyre_resource;

/* Size expressions. The host evaluates them in checked 64-bit arithmetic before the run. A size is
 * the index of its last node; operands directly precede their operator. Sizes of steps inside a
 * repeat may use its counter; the host checks them for all iterations before the run. */
#define VYRE_SIZE_OPS(X)                                                                           \
    X(CONST, 0, "const", 0) /* a: low half, b: high half */                                        \
    X(LEN, 1, "len", 0)     /* a: argument, a buffer */                                            \
    X(PARAM, 2, "param", 0) /* a: argument, an integer scalar */                                   \
    X(ADD, 3, "+", 2)                                                                              \
    X(SUB, 4, "-", 2)                                                                              \
    X(MUL, 5, "*", 2)                                                                              \
    X(DIV, 6, "/", 2)                                                                              \
    X(REM, 7, "%", 2)                                                                              \
    X(MIN, 8, "min", 2)                                                                            \
    X(MAX, 9, "max", 2)                                                                            \
    X(CEIL_DIV, 10, "ceil_div", 2)                                                                 \
    X(ITERATION, 11, "iteration", 0) /* a: step, a repeat around the use */

typedef enum vyre_size_op {
#define VYRE_SIZE_ENUM(name, number, text, operands) VYRE_SIZE_##name = number,
    VYRE_SIZE_OPS(VYRE_SIZE_ENUM)
#undef VYRE_SIZE_ENUM
        VYRE_SIZE_COUNT
} vyre_size_op;

typedef struct vyre_size_node {
    uint32_t op, a, b;
} vyre_size_node;

typedef struct vyre_phase {
    uint32_t first, end;                   /* its instructions */
    uint32_t first_resource, end_resource; /* its shared and private arrays */
    uint32_t dimensions;                   /* 1 to 3 */
    uint32_t domain[3];                    /* sizes; VYRE_NONE for unused dimensions */
    uint32_t from_resource;                /* array that holds the domain, or VYRE_NONE */
    uint32_t from_index;                   /* its index there, a size; further dimensions are in the
                                            * elements behind it, and `domain` is the maximum */
    uint32_t workgroup[3];                 /* 0, 0, 0 without a workgroup clause */
    uint32_t subgroup;                     /* width; 0 if the phase uses no subgroup operations */
} vyre_phase;

typedef enum vyre_step_kind {
    VYRE_STEP_PHASE,
    VYRE_STEP_REPEAT_COUNT,
    VYRE_STEP_REPEAT_WHILE,
    VYRE_STEP_SWAP, /* exchanges the contents of two arrays of the same type and length */
    VYRE_STEP_IF,   /* runs its contents if an element is not zero */
    VYRE_STEP_ELSE  /* directly behind an `if`: runs its contents if the `if` did not */
} vyre_step_kind;

/* Steps, in execution order. The steps that a repeat, `if` or `else` contains follow it. */
typedef struct vyre_step {
    uint32_t kind;     /* vyre_step_kind */
    uint32_t end;      /* the first step after this one and its contents */
    uint32_t size;     /* phase: its index; count: a size; while, if: index in `resource`, a size;
                        * swap: the second array; else: VYRE_NONE */
    uint32_t resource; /* while, if: the array; swap: the first array; others VYRE_NONE */
} vyre_step;

/* Two sizes that must be equal for the program to start. */
typedef struct vyre_requirement {
    uint32_t left, right;
} vyre_requirement;

/* The source place of an instruction: line and column from 1, 0 if unknown, and the inlined call it
 * belongs to. */
typedef uint64_t vyre_place;
#define VYRE_PLACE(line, column, scope)                                                            \
    ((uint64_t)(line) << 40 | (uint64_t)(column) << 28 | (uint64_t)(scope))
#define VYRE_PLACE_LINE(place) ((uint32_t)((place) >> 40))
#define VYRE_PLACE_COLUMN(place) ((uint32_t)((place) >> 28 & 0xfff))
#define VYRE_PLACE_SCOPE(place) ((uint32_t)((place)&0xfffffff))

/* An inlined call. Scope 0 is the program itself. */
typedef struct vyre_call_scope {
    vyre_place call; /* place of the call, in the caller's scope */
    uint32_t name;   /* of the function, in debug_strings */
    uint32_t file;   /* file of the function, in debug_strings; 0: the program's own */
} vyre_call_scope;

/* A name that the source gives to a value. */
typedef struct vyre_value_name {
    uint32_t value;
    uint32_t name; /* in debug_strings */
} vyre_value_name;

enum { VYRE_PROGRAM_DETERMINISTIC = 1 /* claimed by the author */ };

typedef struct vyre_ir {
    uint32_t flags; /* VYRE_PROGRAM_ bits */

    const vyre_arg *args;
    const vyre_resource *resources;
    const vyre_size_node *sizes;
    const vyre_step *steps;
    const vyre_phase *phases;
    const vyre_const *consts;
    const uint32_t *operands;
    const vyre_inst *insts;
    const char *strings; /* name of the program, then of its arguments, each with a NUL */
    const vyre_requirement *requirements;
    const uint8_t *data; /* elements of constant arrays, little-endian */
    uint32_t arg_count, resource_count, size_count, step_count, phase_count;
    uint32_t const_count, operand_count, inst_count, string_bytes, requirement_count, data_bytes;

    /* Debug information. It does not affect the meaning or the digest. Name 0 means no name. */
    const char *debug_strings;            /* starts with an empty string */
    const uint32_t *resource_names;       /* one per resource, or none */
    const uint32_t *step_names;           /* one per step, or none */
    const vyre_place *places;             /* one per instruction, or none */
    const vyre_call_scope *scopes;        /* scope k is scopes[k - 1] */
    const vyre_value_name *value_names;   /* sorted by value */
    const vyre_place *requirement_places; /* one per requirement, or none */
    uint32_t file;                        /* name of the source file, in debug_strings */
    uint32_t resource_name_count, step_name_count, place_count, scope_count, value_name_count;
    uint32_t debug_string_bytes, requirement_place_count;
} vyre_ir;

VYRE_API vyre_program *vyre_program_retain(vyre_program *program);
VYRE_API void vyre_program_release(vyre_program *program); /* NULL is allowed */

/* The program owns these. */
VYRE_API const vyre_ir *vyre_program_ir(const vyre_program *program);
VYRE_API const char *vyre_program_name(const vyre_program *program);

/* Writes the sides of a buffer, slowest first, as sizes for vyre_size_eval, and returns their
 * number: 2 for `[height][width]`, at most VYRE_MOST_DIMENSIONS. Scalars, and buffers without a
 * declared size, have none. Only programs from text have several sides: in those from the binary
 * form and from the builder, the one side of a buffer is its length. */
enum { VYRE_MOST_DIMENSIONS = 3 };
VYRE_API uint32_t vyre_program_sides(const vyre_program *program, uint32_t argument,
                                     uint32_t out_sizes[VYRE_MOST_DIMENSIONS]);

/* The digest covers the meaning and the order of declarations, not names of locals or source
 * places. */
typedef struct vyre_digest {
    uint64_t low, high;
} vyre_digest;
VYRE_API vyre_digest vyre_program_digest(const vyre_program *program);

/* Sets `*values` to the value operands of an instruction, owned by `ir`. Returns their number. */
VYRE_API uint32_t vyre_inst_values(const vyre_ir *ir, const vyre_inst *inst,
                                   const uint32_t **values);

/* Returns the type of an operand. */
static inline vyre_type vyre_operand_type(const vyre_ir *ir, uint32_t operand) {
    return (vyre_type)(operand & VYRE_CONSTANT ? ir->consts[operand & ~VYRE_CONSTANT].type
                                               : ir->insts[operand].type);
}

/* Evaluates a size. `arguments` has one number for each argument: the length of a buffer in
 * elements, or the value of an integer scalar, sign- or zero-extended to 64 bits. Other scalars are
 * ignored. Underflow, overflow, division by zero and negative scalars are errors, which show the
 * expression. Counters of repeats are 0, as in the first iteration. */
VYRE_API VYRE_MUST_USE vyre_status vyre_size_eval(const vyre_program *program, uint32_t size,
                                                  const uint64_t *arguments, uint64_t *out_value);

typedef enum vyre_determinism {
    VYRE_DETERMINISTIC,     /* proven: the same bytes on every run and device */
    VYRE_CLAIMED,           /* claimed by the author, not proven */
    VYRE_SCHEDULE_DEPENDENT /* the output may depend on the order of invocations */
} vyre_determinism;

VYRE_API vyre_determinism vyre_program_determinism(const vyre_program *program);
VYRE_API const char *vyre_determinism_name(vyre_determinism determinism);

/* Says why determinism is not proven, with the instruction and its line; "" if it is. */
VYRE_API const char *vyre_program_determinism_reason(const vyre_program *program);

typedef struct vyre_stats {
    uint32_t insts, phases, blocks, depth, consts;
    uint32_t loads, stores, atomics, barriers, grid_barriers, subgroup_ops;
    uint32_t integer_ops, float_ops, elementary_ops;
    uint32_t shared_bytes, private_bytes; /* the largest of any phase */
    uint32_t constant_bytes;              /* of all constant arrays */
    uint64_t cost;                        /* of all instructions, each counted once */
    uint64_t memory_bytes;                /* heap memory of the program */
} vyre_stats;
VYRE_API vyre_stats vyre_program_stats(const vyre_program *program);

/* Prints the program in the language, one instruction per line. Parsing the text gives a program
 * with the same digest. The caller frees it with vyre_string_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_program_print(const vyre_program *program, char **out_text,
                                                      size_t *out_size);
VYRE_API void vyre_string_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
