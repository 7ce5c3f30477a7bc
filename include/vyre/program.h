/* Program: a kernel as an immutable value.
 *
 * A program is always valid: the parser, the builder and the decoder hand one out only after the
 * verifier accepted it. It never changes, so any number of threads may read it; it is reference
 * counted. Two programs with the same digest mean the same.
 *
 * vyre_program_ir shows the whole of it as arrays without pointers inside:
 *
 *   - instructions of all phases stand in one array, in the order they run; an instruction's number
 *     is its index, and the number of the value it gives;
 *   - an operand is such a number, or a constant's index with VYRE_CONSTANT set;
 *   - a block is a run of instructions that ends with a terminator. `if` holds two blocks, `for`,
 *     `loop` and `inline` one; they stand right behind it, and its words say where they end;
 *   - a loop's block starts with its `arg`s; what leaves an `if`, `for`, `loop` or `inline` stands
 *     right behind it as `result`s. So argument k of loop i is instruction i + 1 + k, and result k
 *     of a block that ends at e is instruction e + k;
 *   - `for` takes first, end and step in front of the values it carries, and its arg 0 is the
 *     counter. When the range is used up its results are its other args;
 *   - lists of operands stand in one array, in the order of the instructions that own them.
 *
 * Every array has exactly one right order (constants by first use, and so on), so that equal
 * programs have equal bytes.
 */
#ifndef VYRE_PROGRAM_H
#define VYRE_PROGRAM_H

#include <vyre/limits.h>
#include <vyre/op.h>
#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_program vyre_program;

#define VYRE_CONSTANT 0x80000000u /* set in an operand that is a constant's index */
#define VYRE_NONE 0xffffffffu     /* no operand, no size, no resource */

typedef struct vyre_inst {
    uint16_t op;  /* vyre_op */
    uint8_t type; /* vyre_type of the value; void where there is none */
    uint8_t aux;  /* atomics: ordering + 8 * scope; subgroup combinations: which; else 0 */
    uint32_t a, b, c;
} vyre_inst;

typedef struct vyre_const {
    uint64_t bits; /* upper bits zero, whatever the type */
    uint32_t type;
    uint32_t zero;
} vyre_const;

typedef enum vyre_access { VYRE_ACCESS_IN, VYRE_ACCESS_INOUT, VYRE_ACCESS_OUT } vyre_access;

/* An argument of the program, in declaration order. */
typedef struct vyre_arg {
    uint32_t name;     /* offset in `strings` */
    uint32_t type;     /* of the scalar, or of the buffer's elements */
    uint32_t resource; /* VYRE_NONE for a scalar */
} vyre_arg;

typedef enum vyre_resource_kind {
    VYRE_RESOURCE_BUFFER,
    VYRE_RESOURCE_SCRATCH,
    VYRE_RESOURCE_SHARED,
    VYRE_RESOURCE_PRIVATE
} vyre_resource_kind;

/* Everything that can be indexed. Buffers come first, in the order of the arguments, then scratch,
 * then the shared and private arrays phase by phase. */
typedef struct vyre_resource {
    uint8_t kind;   /* vyre_resource_kind */
    uint8_t type;   /* of an element */
    uint8_t access; /* buffers: vyre_access; others: inout */
    uint8_t zero;
    uint32_t size;   /* buffers and scratch: number of elements as a size, VYRE_NONE if free */
    uint32_t length; /* shared and private: number of elements; else 0 */
} vyre_resource;

/* Size expressions, computed on the host in checked 64-bit arithmetic before anything runs. A size
 * is the index of its last node; operands stand right in front of their operator. */
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
    X(CEIL_DIV, 10, "ceil_div", 2)

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
    uint32_t domain[3];                    /* sizes; VYRE_NONE beyond the dimensions */
    uint32_t from_resource;                /* domain from memory: the array, else VYRE_NONE; */
    uint32_t from_index;                   /* its element, a size; domain[0] is then the maximum */
    uint32_t workgroup[3];                 /* 0, 0, 0 without a workgroup clause */
    uint32_t subgroup;                     /* width; 0 where no subgroup operation is used */
} vyre_phase;

typedef enum vyre_step_kind {
    VYRE_STEP_PHASE,
    VYRE_STEP_REPEAT_COUNT,
    VYRE_STEP_REPEAT_WHILE
} vyre_step_kind;

/* What the program does in order. A repeat is followed by the steps it repeats. */
typedef struct vyre_step {
    uint32_t kind;     /* vyre_step_kind */
    uint32_t end;      /* first step that is not part of this one */
    uint32_t size;     /* phase: its number; count: how often; while: the element, a size */
    uint32_t resource; /* while: the array; else VYRE_NONE */
} vyre_step;

/* Two sizes that must be equal before anything runs. */
typedef struct vyre_requirement {
    uint32_t left, right;
} vyre_requirement;

/* Where an instruction comes from: line and column in the file, counted from 1, 0 unknown, and the
 * inlined call it belongs to. */
typedef uint64_t vyre_place;
#define VYRE_PLACE(line, column, scope)                                                            \
    ((uint64_t)(line) << 40 | (uint64_t)(column) << 28 | (uint64_t)(scope))
#define VYRE_PLACE_LINE(place) ((uint32_t)((place) >> 40))
#define VYRE_PLACE_COLUMN(place) ((uint32_t)((place) >> 28 & 0xfff))
#define VYRE_PLACE_SCOPE(place) ((uint32_t)((place)&0xfffffff))

/* An inlined call. Scope 0 is the program itself. */
typedef struct vyre_call_scope {
    vyre_place call; /* where it was called; its own scope is the caller's */
    uint32_t name;   /* of the function, in debug_strings */
    uint32_t file;   /* where the function stands, the same way; 0: in the program's own file */
} vyre_call_scope;

/* The name somebody gave to a value. */
typedef struct vyre_value_name {
    uint32_t value;
    uint32_t name; /* in debug_strings */
} vyre_value_name;

enum { VYRE_PROGRAM_DETERMINISTIC = 1 /* the author claims it */ };

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
    const char *strings; /* the program's name, then the arguments', a NUL after each */
    const vyre_requirement *requirements;
    uint32_t arg_count, resource_count, size_count, step_count, phase_count;
    uint32_t const_count, operand_count, inst_count, string_bytes, requirement_count;

    /* For people only; not part of the meaning or the digest. A name of 0 is none. */
    const char *debug_strings;            /* starts with an empty one */
    const uint32_t *resource_names;       /* one a resource, or none at all */
    const uint32_t *step_names;           /* one a step, or none at all */
    const vyre_place *places;             /* one an instruction, or none at all */
    const vyre_call_scope *scopes;        /* scope k is scopes[k - 1] */
    const vyre_value_name *value_names;   /* by value, ascending */
    const vyre_place *requirement_places; /* one a requirement, or none at all */
    uint32_t file;                        /* name of the source file */
    uint32_t resource_name_count, step_name_count, place_count, scope_count, value_name_count;
    uint32_t debug_string_bytes, requirement_place_count;
} vyre_ir;

VYRE_API vyre_program *vyre_program_retain(vyre_program *program);
VYRE_API void vyre_program_release(vyre_program *program); /* NULL is allowed */

/* Valid as long as the program. */
VYRE_API const vyre_ir *vyre_program_ir(const vyre_program *program);
VYRE_API const char *vyre_program_name(const vyre_program *program);

/* Of meaning and declaration order; names of locals and places do not count. */
typedef struct vyre_digest {
    uint64_t low, high;
} vyre_digest;
VYRE_API vyre_digest vyre_program_digest(const vyre_program *program);

/* The value operands of an instruction as a slice of `ir`; returns how many. */
VYRE_API uint32_t vyre_inst_values(const vyre_ir *ir, const vyre_inst *inst,
                                   const uint32_t **values);

/* The type of an operand. */
static inline vyre_type vyre_operand_type(const vyre_ir *ir, uint32_t operand) {
    return (vyre_type)(operand & VYRE_CONSTANT ? ir->consts[operand & ~VYRE_CONSTANT].type
                                               : ir->insts[operand].type);
}

/* Computes a size. `arguments` has one number an argument: a buffer's length in elements, an
 * integer scalar's value extended to 64 bits by its own sign rule; others are not looked at. An
 * underflow, overflow, division by zero or negative scalar is an error that shows the expression.
 */
VYRE_API VYRE_MUST_USE vyre_status vyre_size_eval(const vyre_program *program, uint32_t size,
                                                  const uint64_t *arguments, uint64_t *out_value);

typedef enum vyre_determinism {
    VYRE_DETERMINISTIC,     /* proven: same bytes on every run and device */
    VYRE_CLAIMED,           /* the author says so, and the verifier cannot prove it */
    VYRE_SCHEDULE_DEPENDENT /* the order in which invocations run may show in an output */
} vyre_determinism;

VYRE_API vyre_determinism vyre_program_determinism(const vyre_program *program);
VYRE_API const char *vyre_determinism_name(vyre_determinism determinism);

/* Why it is not proven, naming the instruction and its line; "" where it is. */
VYRE_API const char *vyre_program_determinism_reason(const vyre_program *program);

typedef struct vyre_stats {
    uint32_t insts, phases, blocks, depth, consts;
    uint32_t loads, stores, atomics, barriers, grid_barriers, subgroup_ops;
    uint32_t integer_ops, float_ops, elementary_ops;
    uint32_t shared_bytes, private_bytes; /* largest of any phase */
    uint64_t cost;                        /* sum over all instructions, each counted once */
    uint64_t memory_bytes;                /* heap memory the program holds */
} vyre_stats;
VYRE_API vyre_stats vyre_program_stats(const vyre_program *program);

/* The program as text of the language, one instruction a line. Parsing it gives a program with the
 * same digest. Free the text with vyre_string_free. */
VYRE_API VYRE_MUST_USE vyre_status vyre_program_print(const vyre_program *program, char **out_text,
                                                      size_t *out_size);
VYRE_API void vyre_string_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
