/* Words: every name that the language itself gives a meaning to. Keywords, types and the operations
 * of the first edition are reserved. A declared name hides the later operations. The other words
 * mean something only where the grammar expects them. */
#ifndef VYRE_IR_WORD_H
#define VYRE_IR_WORD_H

#include <vyre/op.h>
#include <vyre/status.h>

/* X(name, text): a token of its own each. */
#define VYRE_KEYWORDS(X)                                                                           \
    X(PROGRAM, "program")                                                                          \
    X(FN, "fn")                                                                                    \
    X(CONST, "const")                                                                              \
    X(OVER, "over")                                                                                \
    X(SCRATCH, "scratch")                                                                          \
    X(PHASE, "phase")                                                                              \
    X(REPEAT, "repeat")                                                                            \
    X(LET, "let")                                                                                  \
    X(VAR, "var")                                                                                  \
    X(SHARED, "shared")                                                                            \
    X(BARRIER, "barrier")                                                                          \
    X(GRID_BARRIER, "grid_barrier")                                                                \
    X(IF, "if")                                                                                    \
    X(ELSE, "else")                                                                                \
    X(FOR, "for")                                                                                  \
    X(IN, "in")                                                                                    \
    X(WITH, "with")                                                                                \
    X(WHILE, "while")                                                                              \
    X(LOOP, "loop")                                                                                \
    X(INLINE, "inline")                                                                            \
    X(BREAK, "break")                                                                              \
    X(CONTINUE, "continue")                                                                        \
    X(YIELD, "yield")                                                                              \
    X(RETURN, "return")                                                                            \
    X(BITCAST, "bitcast")                                                                          \
    X(TRUE, "true")                                                                                \
    X(FALSE, "false")                                                                              \
    X(INF, "inf")                                                                                  \
    X(NAN, "nan")

/* X(name, text): names that mean something in one place only. */
#define VYRE_CONTEXT_WORDS(X)                                                                      \
    X(BUFFER, "buffer")                                                                            \
    X(INOUT, "inout")                                                                              \
    X(OUT, "out")                                                                                  \
    X(DETERMINISTIC, "deterministic")                                                              \
    X(WORKGROUP, "workgroup")                                                                      \
    X(SUBGROUP, "subgroup")                                                                        \
    X(STEP, "step")                                                                                \
    X(CEIL_DIV, "ceil_div")                                                                        \
    X(REQUIRE, "require")                                                                          \
    X(PRINT, "print")                                                                              \
    X(ASSERT, "assert")                                                                            \
    X(SWAP, "swap")                                                                                \
    X(VIEW, "view")                                                                                \
    X(DEVICE, "device")                                                                            \
    X(STRUCT, "struct")                                                                            \
    X(USE, "use")                                                                                  \
    X(BITS, "bits")                                                                                \
    X(VEC2, "vec2")                                                                                \
    X(VEC3, "vec3")                                                                                \
    X(VEC4, "vec4")                                                                                \
    X(DOT, "dot")                                                                                  \
    X(CROSS, "cross")                                                                              \
    X(LENGTH, "length")                                                                            \
    X(NORMALIZE, "normalize")                                                                      \
    X(ANY, "any")                                                                                  \
    X(ALL, "all")                                                                                  \
    X(SUM, "sum")                                                                                  \
    X(SUM_ADD, "sum_add")                                                                          \
    X(SUM_CLEAR, "sum_clear")                                                                      \
    X(MATCH, "match")

/* X(NAME, name, operands, class of their type, documentation): functions that are short for a few
 * operations. The operands are a, b, c. */
#define VYRE_SMALL_FUNCTIONS(X)                                                                    \
    X(CLAMP, "clamp", 3, NUMBER, "min(max(a, b), c)")                                              \
    X(MIX, "mix", 3, FLOAT, "from a to b by the part c: fma(c, b, fma(-c, a, a))")                 \
    X(STEP, "step", 2, FLOAT, "1 if a <= b, else 0")                                               \
    X(SMOOTHSTEP, "smoothstep", 3, FLOAT, "t * t * (3 - 2 * t), t = saturate((c - a) / (b - a))")  \
    X(SATURATE, "saturate", 1, FLOAT, "min(max(a, 0), 1)")                                         \
    X(RSQRT, "rsqrt", 1, FLOAT, "1 / sqrt(a)")                                                     \
    X(FRACT, "fract", 1, FLOAT, "a - floor(a)")                                                    \
    X(MOD, "mod", 2, NUMBER, "remainder with the sign of b: fmod(a, b) or a % b, or that plus b")  \
    X(ISNAN, "isnan", 1, FLOAT, "whether a is NaN; returns bool")                                  \
    X(ISINF, "isinf", 1, FLOAT, "whether a is infinite; returns bool")                             \
    X(ISFINITE, "isfinite", 1, FLOAT, "whether a is neither; returns bool")                        \
    X(SIGN, "sign", 1, NUMBER, "-1, 0 or 1; of a zero or NaN, itself")

typedef enum vyre_small_function {
#define VYRE_SMALL_ENUM(name, text, operands, class_name, doc) VYRE_SMALL_##name,
    VYRE_SMALL_FUNCTIONS(VYRE_SMALL_ENUM)
#undef VYRE_SMALL_ENUM
        VYRE_SMALL_COUNT
} vyre_small_function;

typedef struct vyre_small_info {
    const char *name;
    uint32_t operands, classes; /* classes: vyre_type_class of the operands */
    const char *doc;
} vyre_small_info;
extern const vyre_small_info vyre_small_functions[VYRE_SMALL_COUNT];

typedef enum vyre_keyword {
#define VYRE_KEYWORD_ENUM(name, text) VYRE_KEYWORD_##name,
    VYRE_KEYWORDS(VYRE_KEYWORD_ENUM)
#undef VYRE_KEYWORD_ENUM
} vyre_keyword;

/* Each is its number among all words; they come first. */
typedef enum vyre_context_word {
    VYRE_WORD_NO_CONTEXT,
#define VYRE_CONTEXT_ENUM(name, text) VYRE_WORD_##name,
    VYRE_CONTEXT_WORDS(VYRE_CONTEXT_ENUM)
#undef VYRE_CONTEXT_ENUM
} vyre_context_word;

typedef enum vyre_word_class {
    VYRE_WORD_NONE,    /* no word of the language: a name anybody may use */
    VYRE_WORD_KEYWORD, /* code: vyre_keyword */
    VYRE_WORD_TYPE,    /* code: vyre_type */
    VYRE_WORD_OP, /* code: vyre_op that is called or stands for itself; extra: how to combine */
    VYRE_WORD_CONTEXT,  /* code: vyre_context_word */
    VYRE_WORD_ORDERING, /* code: vyre_ordering */
    VYRE_WORD_OPERATOR, /* code: vyre_op that is written as an operator; not reserved */
    VYRE_WORD_FUNCTION  /* code: vyre_small_function; not reserved */
} vyre_word_class;

typedef struct vyre_word {
    const char *text;
    uint8_t class_of, code, extra;
} vyre_word;

/* Makes the words known; to be called before any other function, as often as one likes. */
VYRE_MUST_USE vyre_status vyre_words_prepare(void);

/* The number of a word, 0 for a name that is none. */
uint32_t vyre_word_find(vyre_str name);

/* Number 0 is a word of class none. Numbers are dense, so that all words can be listed. */
extern const vyre_word vyre_words[];
static inline const vyre_word *vyre_word_of(uint32_t number) {
    return &vyre_words[number];
}
uint32_t vyre_word_count(void);

/* Whether the language keeps the name for itself, so that nothing else can have it; `_` too, which
 * names nothing. */
bool vyre_word_is_reserved(vyre_str name);

/* Whether a declared name hides the word, so that programs older than the operation keep their
 * names. */
bool vyre_word_gives_way(const vyre_word *word);

/* How an operation of class operator is written, "a + b"; "" for another. */
const char *vyre_operator_form(vyre_op op);

/* Its sign alone, "+"; NULL for another. */
const char *vyre_operator_sign(uint32_t op);

/* What an author writes for an operation: "+", "sqrt", "subgroup_add", `how` being the combination
 * where there is one. */
const char *vyre_op_written(uint32_t op, uint32_t how);

#endif
