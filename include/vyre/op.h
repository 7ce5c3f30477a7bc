/* Operations: a table with one row for each instruction of the IR. The builder, the parser, the
 * printer, the verifier and the documentation use it. */
#ifndef VYRE_OP_H
#define VYRE_OP_H

#include <vyre/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The meaning of the words a, b and c of an instruction. */
typedef enum vyre_shape {
    VYRE_SHAPE_NONE,   /* nothing */
    VYRE_SHAPE_NUMBER, /* a: a number, whose meaning depends on the operation */
    VYRE_SHAPE_V1,     /* a: value */
    VYRE_SHAPE_V2,     /* a, b: values */
    VYRE_SHAPE_V3,     /* a, b, c: values */
    VYRE_SHAPE_R,      /* a: resource */
    VYRE_SHAPE_R_V1,   /* a: resource, b: index */
    VYRE_SHAPE_R_V2,   /* a: resource, b: index, c: value */
    VYRE_SHAPE_R_LIST, /* a: resource, b: operand list, c: its length */
    VYRE_SHAPE_LIST,   /* a: operand list, b: its length */
    VYRE_SHAPE_PICK,   /* a: the instruction it belongs to, b: index of the value */
    VYRE_SHAPE_IF,     /* a: condition, b: start of the else block, c: first behind it */
    VYRE_SHAPE_LOOP,   /* a: operand list, b: its length, c: first instruction behind the block */
    VYRE_SHAPE_INLINE, /* c: first instruction behind the block */
    VYRE_SHAPE_GROUP,  /* a: operand list, b: its length, c: number of results, which follow it */
    VYRE_SHAPE_MESSAGE /* a: constant array with the text, b: operand list, c: its length */
} vyre_shape;

/* How operand types determine the result type. T stands for one type in each row. */
typedef enum vyre_rule {
    VYRE_RULE_NONE,       /* no result */
    VYRE_RULE_OWN,        /* checked per operation: memory, control, built-in values */
    VYRE_RULE_NUMBER,     /* T... -> T, T an integer or a float */
    VYRE_RULE_INTEGER,    /* T... -> T, T an integer */
    VYRE_RULE_NEGATABLE,  /* T... -> T, T a signed integer or a float */
    VYRE_RULE_BITS,       /* T... -> T, T an integer or bool */
    VYRE_RULE_FLOAT,      /* T... -> T, T a float */
    VYRE_RULE_ELEMENTARY, /* T... -> T, T a float; passes expand it to arithmetic */
    VYRE_RULE_SHIFT,      /* T, u32 -> T, T an integer */
    VYRE_RULE_EQUAL,      /* T, T -> bool */
    VYRE_RULE_ORDER,      /* T, T -> bool, T an integer or a float */
    VYRE_RULE_SELECT,     /* bool, T, T -> T */
    VYRE_RULE_CONVERT,    /* T -> any other type */
    VYRE_RULE_BITCAST,    /* T -> another type of the same size, neither bool */
    VYRE_RULE_LANE,       /* T, u32 -> T */
    VYRE_RULE_BALLOT,     /* bool -> u32, or u64 if the subgroup has 64 lanes */
    VYRE_RULE_VOTE,       /* bool -> bool */
    VYRE_RULE_COMBINE,    /* T -> T, T depending on the combination */
    VYRE_RULE_MATRIX      /* four u32, two u32, four i32 -> four i32 results */
} vyre_rule;

/* Effects, as bits. An operation without any is pure: its result depends only on its operands. */
enum {
    VYRE_EFFECT_READ = 1,      /* reads memory */
    VYRE_EFFECT_WRITE = 2,     /* writes memory */
    VYRE_EFFECT_ATOMIC = 4,    /* is atomic, with an ordering and a scope in aux */
    VYRE_EFFECT_SYNC = 8,      /* waits for other invocations */
    VYRE_EFFECT_SUBGROUP = 16, /* exchanges values within the subgroup */
    VYRE_EFFECT_BLOCK = 32,    /* contains blocks */
    VYRE_EFFECT_END = 64,      /* ends its block */
    VYRE_EFFECT_MESSAGE = 128  /* reports to the caller; changes no value and no memory */
};

/* X(name, number, text, shape, rule, effects, cost, documentation). Numbers are part of the binary
 * form: they are never reused, and new ones are appended. The cost is a rough number of cycles per
 * lane. The table comes in groups: a group applies F to its first row and X to the others. */

#define VYRE_OPS_POSITION(F, X)                                                                    \
    F(GID, 2, "gid", NUMBER, OWN, 0, 0, "position of the invocation in the domain")                \
    X(LID, 3, "lid", NUMBER, OWN, 0, 0, "position of the invocation in its workgroup")             \
    X(WID, 4, "wid", NUMBER, OWN, 0, 0, "position of the workgroup in the grid")                   \
    X(NUM_WORKGROUPS, 5, "num_workgroups", NUMBER, OWN, 0, 0, "number of workgroups in the grid")  \
    X(IN_DOMAIN, 6, "in_domain", NONE, OWN, 0, 1, "whether the invocation lies inside the domain") \
    X(LANE, 7, "lane", NONE, OWN, 0, 0, "position of the invocation in its subgroup")              \
    X(SUBGROUP_ID, 8, "subgroup_id", NONE, OWN, 0, 0, "position of the subgroup in its workgroup")

#define VYRE_OPS_SURROUNDINGS(F, X)                                                                \
    F(PARAM, 1, "param", NUMBER, OWN, 0, 0, "a scalar argument of the program")                    \
    VYRE_OPS_POSITION(X, X)                                                                        \
    X(ITERATION, 9, "iteration", NUMBER, OWN, 0, 0, "earlier iterations of the enclosing repeat")  \
    X(LEN, 10, "len", R, OWN, 0, 0, "number of elements of an array")

#define VYRE_OPS_LINEAR(F, X)                                                                      \
    F(ADD, 16, "add", V2, NUMBER, 0, 1, "sum; integers wrap")                                      \
    X(SUB, 17, "sub", V2, NUMBER, 0, 1, "difference; integers wrap")                               \
    X(MUL, 18, "mul", V2, NUMBER, 0, 1, "product; integers wrap")

#define VYRE_OPS_QUOTIENT(F, X)                                                                    \
    F(DIV, 19, "div", V2, NUMBER, 0, 12, "quotient; integer x / 0 = x and MIN / -1 = MIN")         \
    X(REM, 20, "rem", V2, INTEGER, 0, 14, "remainder with the sign of the dividend; x % 0 = 0")

#define VYRE_OPS_EXTREME(F, X)                                                                     \
    F(MIN, 21, "min", V2, NUMBER, 0, 1, "smaller value; ignores one NaN, -0 < +0")                 \
    X(MAX, 22, "max", V2, NUMBER, 0, 1, "larger value; ignores one NaN, -0 < +0")

#define VYRE_OPS_SIGN(F, X)                                                                        \
    F(NEG, 23, "neg", V1, NEGATABLE, 0, 1, "negation; of a float, the sign bit flipped")           \
    X(ABS, 24, "abs", V1, NEGATABLE, 0, 1, "magnitude; of a float, the sign bit cleared")

#define VYRE_OPS_ARITHMETIC(F, X)                                                                  \
    VYRE_OPS_LINEAR(F, X)                                                                          \
    VYRE_OPS_QUOTIENT(X, X)                                                                        \
    VYRE_OPS_EXTREME(X, X)                                                                         \
    VYRE_OPS_SIGN(X, X)

#define VYRE_OPS_INTEGER(F, X)                                                                     \
    F(MUL_HIGH, 25, "mul_high", V2, INTEGER, 0, 3, "upper half of the product of twice the width") \
    X(ADD_SAT, 26, "add_sat", V2, INTEGER, 0, 2, "sum clamped to the type's range")                \
    X(SUB_SAT, 27, "sub_sat", V2, INTEGER, 0, 2, "difference clamped to the type's range")

#define VYRE_OPS_BITWISE(F, X)                                                                     \
    F(AND, 32, "and", V2, BITS, 0, 1, "bitwise and")                                               \
    X(OR, 33, "or", V2, BITS, 0, 1, "bitwise or")                                                  \
    X(XOR, 34, "xor", V2, BITS, 0, 1, "bitwise exclusive or")                                      \
    X(NOT, 35, "not", V1, BITS, 0, 1, "bitwise complement")

#define VYRE_OPS_SHIFT(F, X)                                                                       \
    F(SHL, 36, "shl", V2, SHIFT, 0, 1, "shift left; the count is taken modulo the width")          \
    X(SHR, 37, "shr", V2, SHIFT, 0, 1, "shift right, keeping the sign of a signed type")

#define VYRE_OPS_LOGIC(F, X)                                                                       \
    VYRE_OPS_BITWISE(F, X)                                                                         \
    VYRE_OPS_SHIFT(X, X)

#define VYRE_OPS_BITS(F, X)                                                                        \
    F(ROTL, 38, "rotl", V2, SHIFT, 0, 1, "rotate left")                                            \
    X(ROTR, 39, "rotr", V2, SHIFT, 0, 1, "rotate right")                                           \
    X(CLZ, 40, "clz", V1, INTEGER, 0, 1, "leading zero bits; the width for 0")                     \
    X(CTZ, 41, "ctz", V1, INTEGER, 0, 1, "trailing zero bits; the width for 0")                    \
    X(POPCOUNT, 42, "popcount", V1, INTEGER, 0, 1, "bits that are set")                            \
    X(REVERSE_BITS, 43, "reverse_bits", V1, INTEGER, 0, 2, "bits in opposite order")

#define VYRE_OPS_FLOAT(F, X)                                                                       \
    F(FMA, 48, "fma", V3, FLOAT, 0, 1, "a * b + c with one rounding")                              \
    X(SQRT, 49, "sqrt", V1, FLOAT, 0, 12, "square root, correctly rounded")                        \
    X(FLOOR, 50, "floor", V1, FLOAT, 0, 1, "largest whole number not above")                       \
    X(CEIL, 51, "ceil", V1, FLOAT, 0, 1, "smallest whole number not below")                        \
    X(TRUNC, 52, "trunc", V1, FLOAT, 0, 1, "whole part")                                           \
    X(ROUND, 53, "round", V1, FLOAT, 0, 1, "nearest whole number, half to even")                   \
    X(COPYSIGN, 54, "copysign", V2, FLOAT, 0, 1, "magnitude of the first, sign of the second")

#define VYRE_OPS_COMPARE(F, X)                                                                     \
    F(EQ, 64, "eq", V2, EQUAL, 0, 1, "equal")                                                      \
    X(NE, 65, "ne", V2, EQUAL, 0, 1, "not equal; true if one is NaN")                              \
    X(LT, 66, "lt", V2, ORDER, 0, 1, "less")                                                       \
    X(LE, 67, "le", V2, ORDER, 0, 1, "less or equal")

#define VYRE_OPS_CHOICE(F, X)                                                                      \
    F(SELECT, 68, "select", V3, SELECT, 0, 1, "the second where the first holds, else the third")  \
    X(CONVERT, 69, "convert", V1, CONVERT, 0, 1, "the same number in another type")                \
    X(BITCAST, 70, "bitcast", V1, BITCAST, 0, 0, "the same bits in another type")

#define VYRE_OPS_ELEMENTARY(F, X)                                                                  \
    F(EXP, 80, "exp", V1, ELEMENTARY, 0, 20, "e to the power of x, correctly rounded")             \
    X(EXP2, 81, "exp2", V1, ELEMENTARY, 0, 18, "2 to the power of x, correctly rounded")           \
    X(LOG, 82, "log", V1, ELEMENTARY, 0, 20, "natural logarithm, correctly rounded")               \
    X(LOG2, 83, "log2", V1, ELEMENTARY, 0, 20, "logarithm to base 2, correctly rounded")           \
    X(SIN, 84, "sin", V1, ELEMENTARY, 0, 28, "sine, correctly rounded")                            \
    X(COS, 85, "cos", V1, ELEMENTARY, 0, 28, "cosine, correctly rounded")                          \
    X(TAN, 86, "tan", V1, ELEMENTARY, 0, 36, "tangent, correctly rounded")                         \
    X(ASIN, 87, "asin", V1, ELEMENTARY, 0, 32, "arc sine, correctly rounded")                      \
    X(ACOS, 88, "acos", V1, ELEMENTARY, 0, 32, "arc cosine, correctly rounded")                    \
    X(ATAN, 89, "atan", V1, ELEMENTARY, 0, 30, "arc tangent, correctly rounded")                   \
    X(SINH, 90, "sinh", V1, ELEMENTARY, 0, 30, "hyperbolic sine, correctly rounded")               \
    X(COSH, 91, "cosh", V1, ELEMENTARY, 0, 30, "hyperbolic cosine, correctly rounded")             \
    X(TANH, 92, "tanh", V1, ELEMENTARY, 0, 30, "hyperbolic tangent, correctly rounded")            \
    X(ERF, 93, "erf", V1, ELEMENTARY, 0, 34, "error function, correctly rounded")                  \
    X(CBRT, 94, "cbrt", V1, ELEMENTARY, 0, 30, "cube root, correctly rounded")                     \
    X(POW, 95, "pow", V2, ELEMENTARY, 0, 48, "x to the power of y, at most 1 ULP")                 \
    X(ATAN2, 96, "atan2", V2, ELEMENTARY, 0, 44, "angle of the point (second, first)")             \
    X(HYPOT, 97, "hypot", V2, ELEMENTARY, 0, 24, "length of the vector, at most 1 ULP")            \
    X(EXP10, 98, "exp10", V1, ELEMENTARY, 0, 20, "10 to the power of x, correctly rounded")        \
    X(LOG10, 99, "log10", V1, ELEMENTARY, 0, 22, "logarithm to base 10, correctly rounded")        \
    X(FMOD, 100, "fmod", V2, ELEMENTARY, 0, 40, "remainder with the sign of the dividend, exact")

#define VYRE_OPS_MEMORY(F, X)                                                                      \
    F(LOAD, 112, "load", R_V1, OWN, VYRE_EFFECT_READ, 4, "an element; 0 past the end")             \
    X(STORE, 113, "store", R_V2, NONE, VYRE_EFFECT_WRITE, 4,                                       \
      "writes an element; no effect past the end")                                                 \
    X(CLEAR, 114, "clear", R, NONE, VYRE_EFFECT_WRITE, 4, "sets a private array to zero")          \
    X(UNIFORM_LOAD, 115, "uniform_load", R_V1, OWN, VYRE_EFFECT_READ | VYRE_EFFECT_SYNC, 24,       \
      "an element that is the same for the whole workgroup; a barrier before and after")

#define VYRE_OPS_UPDATE(F, X)                                                                      \
    F(ATOMIC_ADD, 118, "atomic_add", R_V2, OWN, VYRE_EFFECT_UPDATE, 16,                            \
      "adds; returns the old value")                                                               \
    X(ATOMIC_SUB, 119, "atomic_sub", R_V2, OWN, VYRE_EFFECT_UPDATE, 16, "subtracts")               \
    X(ATOMIC_AND, 120, "atomic_and", R_V2, OWN, VYRE_EFFECT_UPDATE, 16, "bitwise and")             \
    X(ATOMIC_OR, 121, "atomic_or", R_V2, OWN, VYRE_EFFECT_UPDATE, 16, "bitwise or")                \
    X(ATOMIC_XOR, 122, "atomic_xor", R_V2, OWN, VYRE_EFFECT_UPDATE, 16, "bitwise exclusive or")    \
    X(ATOMIC_MIN, 123, "atomic_min", R_V2, OWN, VYRE_EFFECT_UPDATE, 16, "keeps the smaller")       \
    X(ATOMIC_MAX, 124, "atomic_max", R_V2, OWN, VYRE_EFFECT_UPDATE, 16, "keeps the larger")        \
    X(ATOMIC_EXCHANGE, 125, "atomic_exchange", R_V2, OWN, VYRE_EFFECT_UPDATE, 16,                  \
      "writes; returns the old value")

#define VYRE_OPS_ATOMIC(F, X)                                                                      \
    F(ATOMIC_LOAD, 116, "atomic_load", R_V1, OWN, VYRE_EFFECT_READ | VYRE_EFFECT_ATOMIC, 8,        \
      "an element, atomically")                                                                    \
    X(ATOMIC_STORE, 117, "atomic_store", R_V2, NONE, VYRE_EFFECT_WRITE | VYRE_EFFECT_ATOMIC, 8,    \
      "writes an element atomically")                                                              \
    VYRE_OPS_UPDATE(X, X)                                                                          \
    X(ATOMIC_CAS, 126, "atomic_cas", R_LIST, OWN, VYRE_EFFECT_UPDATE, 20,                          \
      "writes the second if the element equals the first; returns the old value")

#define VYRE_OPS_BARRIER(F, X)                                                                     \
    F(BARRIER, 127, "barrier", NONE, NONE, VYRE_EFFECT_SYNC, 20,                                   \
      "waits for the workgroup; its writes are visible after")                                     \
    X(GRID_BARRIER, 128, "grid_barrier", NONE, NONE, VYRE_EFFECT_SYNC, 2000,                       \
      "waits for all workgroups; all writes are visible after, shared arrays are zero")

#define VYRE_OPS_SHUFFLE(F, X)                                                                     \
    F(SHUFFLE, 144, "subgroup_shuffle", V2, LANE, VYRE_EFFECT_SUBGROUP, 4,                         \
      "the value of the lane with that number; 0 if absent")                                       \
    X(SHUFFLE_XOR, 145, "subgroup_shuffle_xor", V2, LANE, VYRE_EFFECT_SUBGROUP, 4,                 \
      "the value of the lane whose number differs in these bits")                                  \
    X(SHUFFLE_UP, 146, "subgroup_shuffle_up", V2, LANE, VYRE_EFFECT_SUBGROUP, 4,                   \
      "the value of the lane that many below; 0 if absent")                                        \
    X(SHUFFLE_DOWN, 147, "subgroup_shuffle_down", V2, LANE, VYRE_EFFECT_SUBGROUP, 4,               \
      "the value of the lane that many above; 0 if absent")                                        \
    X(BROADCAST, 148, "subgroup_broadcast", V2, LANE, VYRE_EFFECT_SUBGROUP, 4,                     \
      "the value of one lane for all; the lane number must be subgroup-uniform")

#define VYRE_OPS_VOTE(F, X)                                                                        \
    F(BALLOT, 149, "subgroup_ballot", V1, BALLOT, VYRE_EFFECT_SUBGROUP, 4,                         \
      "one bit per lane, set where the condition holds")                                           \
    X(ANY, 150, "subgroup_any", V1, VOTE, VYRE_EFFECT_SUBGROUP, 4, "whether it holds in any lane") \
    X(ALL, 151, "subgroup_all", V1, VOTE, VYRE_EFFECT_SUBGROUP, 4, "whether it holds in all")

#define VYRE_OPS_COMBINE(F, X)                                                                     \
    F(REDUCE, 152, "subgroup", V1, COMBINE, VYRE_EFFECT_SUBGROUP, 12, "all lanes combined")        \
    X(SCAN, 153, "subgroup_inclusive", V1, COMBINE, VYRE_EFFECT_SUBGROUP, 16,                      \
      "lanes up to this one combined")                                                             \
    X(SCAN_EXCLUSIVE, 154, "subgroup_exclusive", V1, COMBINE, VYRE_EFFECT_SUBGROUP, 18,            \
      "lanes below this one combined; the identity in lane 0")

#define VYRE_OPS_COLLECTIVE(F, X)                                                                  \
    VYRE_OPS_VOTE(F, X)                                                                            \
    VYRE_OPS_COMBINE(X, X)                                                                         \
    X(MATRIX_MAD, 155, "subgroup_matrix_mad", GROUP, MATRIX, VYRE_EFFECT_SUBGROUP, 8,              \
      "a product of i8 tiles, 16x32 by 32x8, added to a tile of i32; four values")

#define VYRE_OPS_BLOCK(F, X)                                                                       \
    F(IF, 176, "if", IF, NONE, VYRE_EFFECT_BLOCK, 1, "runs one of two blocks")                     \
    X(FOR, 177, "for", LOOP, NONE, VYRE_EFFECT_BLOCK, 1,                                           \
      "runs a block for each number of a range")                                                   \
    X(LOOP, 178, "loop", LOOP, NONE, VYRE_EFFECT_BLOCK, 1, "runs a block until it breaks")         \
    X(INLINE, 179, "inline", INLINE, NONE, VYRE_EFFECT_BLOCK, 0, "the body of an inlined call")

#define VYRE_OPS_PICK(F, X)                                                                        \
    F(ARG, 180, "arg", PICK, OWN, 0, 0, "a value carried into a loop's block")                     \
    X(RESULT, 181, "result", PICK, OWN, 0, 0, "a value that left a block, or one of several")

#define VYRE_OPS_JUMP(F, X)                                                                        \
    F(YIELD, 182, "yield", LIST, NONE, VYRE_EFFECT_END, 0, "ends a branch with values")            \
    X(BREAK, 183, "break", LIST, NONE, VYRE_EFFECT_END, 0, "leaves the innermost loop")            \
    X(CONTINUE, 184, "continue", LIST, NONE, VYRE_EFFECT_END, 0, "next iteration of the loop")     \
    X(RETURN, 185, "return", LIST, NONE, VYRE_EFFECT_END, 0,                                       \
      "leaves the inlined call, or ends the invocation")                                           \
    X(UNREACHABLE, 186, "unreachable", NONE, NONE, VYRE_EFFECT_END, 0,                             \
      "ends a block after an instruction that never completes")

/* The host replaces these before a backend sees the program. */
#define VYRE_OPS_MESSAGE(F, X)                                                                     \
    F(PRINT, 187, "print", MESSAGE, NONE, VYRE_EFFECT_MESSAGE, 0,                                  \
      "hands a text with values to the caller; no effect on the results")                          \
    X(ASSERT, 188, "assert", MESSAGE, NONE, VYRE_EFFECT_MESSAGE, 0,                                \
      "fails the run with a text and values where the first value, a bool, is false")

/* All that a backend computes from values alone; elementary functions are expanded before. */
#define VYRE_OPS_PURE(F, X)                                                                        \
    VYRE_OPS_ARITHMETIC(F, X)                                                                      \
    VYRE_OPS_INTEGER(X, X)                                                                         \
    VYRE_OPS_LOGIC(X, X)                                                                           \
    VYRE_OPS_BITS(X, X)                                                                            \
    VYRE_OPS_FLOAT(X, X)                                                                           \
    VYRE_OPS_COMPARE(X, X)                                                                         \
    VYRE_OPS_CHOICE(X, X)

#define VYRE_OPS(X)                                                                                \
    VYRE_OPS_SURROUNDINGS(X, X)                                                                    \
    VYRE_OPS_PURE(X, X)                                                                            \
    VYRE_OPS_ELEMENTARY(X, X)                                                                      \
    VYRE_OPS_MEMORY(X, X)                                                                          \
    VYRE_OPS_ATOMIC(X, X)                                                                          \
    VYRE_OPS_BARRIER(X, X)                                                                         \
    VYRE_OPS_SHUFFLE(X, X)                                                                         \
    VYRE_OPS_COLLECTIVE(X, X)                                                                      \
    VYRE_OPS_BLOCK(X, X)                                                                           \
    VYRE_OPS_PICK(X, X)                                                                            \
    VYRE_OPS_JUMP(X, X)                                                                            \
    VYRE_OPS_MESSAGE(X, X)

#define VYRE_EFFECT_UPDATE (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE | VYRE_EFFECT_ATOMIC)

typedef enum vyre_op {
    VYRE_OP_NONE = 0,
#define VYRE_OP_ENUM(name, number, text, shape, rule, effects, cost, doc) VYRE_OP_##name = number,
    VYRE_OPS(VYRE_OP_ENUM)
#undef VYRE_OP_ENUM
        VYRE_OP_COUNT
} vyre_op;

typedef struct vyre_op_info {
    const char *name;
    const char *doc;
    uint8_t shape;   /* vyre_shape */
    uint8_t rule;    /* vyre_rule */
    uint8_t effects; /* VYRE_EFFECT_ bits */
    uint16_t cost;
} vyre_op_info;

/* Returns the row of an operation. For an unknown number its name is NULL. */
VYRE_API const vyre_op_info *vyre_op_info_of(uint32_t op);

/* Orderings and scopes of atomics. The aux byte of an instruction is ordering + 8 * scope. */
#define VYRE_ORDERINGS(X)                                                                          \
    X(RELAXED, 0, "relaxed")                                                                       \
    X(ACQUIRE, 1, "acquire")                                                                       \
    X(RELEASE, 2, "release")                                                                       \
    X(ACQ_REL, 3, "acq_rel")                                                                       \
    X(SEQ_CST, 4, "seq_cst")

typedef enum vyre_ordering {
#define VYRE_ORDERING_ENUM(name, number, text) VYRE_ORDERING_##name = number,
    VYRE_ORDERINGS(VYRE_ORDERING_ENUM)
#undef VYRE_ORDERING_ENUM
        VYRE_ORDERING_COUNT
} vyre_ordering;

typedef enum vyre_scope { VYRE_SCOPE_DEVICE = 0, VYRE_SCOPE_WORKGROUP = 1 } vyre_scope;

/* How subgroup reductions and scans combine values. The aux byte of an instruction holds the
 * number. */
#define VYRE_COMBINATIONS(X)                                                                       \
    X(ADD, 0, "add")                                                                               \
    X(MUL, 1, "mul")                                                                               \
    X(MIN, 2, "min")                                                                               \
    X(MAX, 3, "max")                                                                               \
    X(AND, 4, "and")                                                                               \
    X(OR, 5, "or")                                                                                 \
    X(XOR, 6, "xor")

typedef enum vyre_combination {
#define VYRE_COMBINE_ENUM(name, number, text) VYRE_COMBINE_##name = number,
    VYRE_COMBINATIONS(VYRE_COMBINE_ENUM)
#undef VYRE_COMBINE_ENUM
        VYRE_COMBINE_COUNT
} vyre_combination;

/* Operands and results of VYRE_OP_MATRIX_MAD per lane: words of a, words of b, elements of c. */
enum {
    VYRE_MATRIX_A = 4,
    VYRE_MATRIX_B = 2,
    VYRE_MATRIX_C = 4,
    VYRE_MATRIX_OPERANDS = VYRE_MATRIX_A + VYRE_MATRIX_B + VYRE_MATRIX_C,
    VYRE_MATRIX_LANES = 32 /* the only subgroup size that has it */
};

/* Returns NULL for an unknown number. */
VYRE_API const char *vyre_ordering_name(uint32_t ordering);

#ifdef __cplusplus
}
#endif

#endif
