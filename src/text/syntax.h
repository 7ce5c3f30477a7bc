/* Syntax: a statement as nodes that refer to one another by number.
 *
 * Only one statement (or the head of one that holds a block) is a tree at any time; statements and
 * blocks themselves follow one another as the parser hands them out, see parser.h. Lists stand in
 * an array of their own: a count, then that many words. */
#ifndef VYRE_TEXT_SYNTAX_H
#define VYRE_TEXT_SYNTAX_H

#include <vyre/program.h>

#include "base/vec.h"
#include "text/source.h"

/* X(name, what `detail`, a and b hold). A list is the index of its count; a node or list that is
 * absent is VYRE_NONE. Names in lists are NAME nodes. */
#define VYRE_NODES(X)                                                                              \
    X(ERROR) /* something that was reported; silent from here on */                                \
    /* expressions */                                                                              \
    X(NUMBER)       /* detail: negative; a: offset of the text, b: its length */                   \
    X(STRING)       /* a: offset of the text in quotes, b: its length; only in calls */            \
    X(BOOL)         /* detail: 0 or 1 */                                                           \
    X(NAME)         /* a: symbol; in declarations detail: type, b: list of lengths, none or 0 */   \
    X(FIELD)        /* a: operand, b: symbol of a field or swizzle */                              \
    X(ELEMENT)      /* a: symbol, b: index, or INDICES where there are several */                  \
    X(INDICES)      /* a: list of indices */                                                       \
    X(CALL)         /* a: symbol, b: list of arguments; detail: so many types in front of it */    \
    X(LIBRARY_CALL) /* a: offset of the id, b and detail: as in CALL */                            \
    X(CONSTRUCT)    /* detail: type of a vector, or of a type parameter; b: list of arguments */   \
    X(CHOICE)       /* a: condition, b: parts, see vyre_choice_part; an `if` with two values */    \
    X(MATCH_VALUE)  /* a: value, b: list of CASEs, whose b are values */                           \
    X(CONVERT)      /* detail: type; a: operand */                                                 \
    X(BITCAST)      /* detail: type; a: operand */                                                 \
    X(BITS)         /* detail: type; a: operand */                                                 \
    X(LIST)         /* a: list of values, only behind ASSIGN_LIST */                               \
    X(UNARY)        /* detail: token; a: operand */                                                \
    X(BINARY)       /* detail: token; a, b: operands */                                            \
    /* statements; those that may have results are LET forms where b is a list */                  \
    X(LET)         /* a: NAME, b: value */                                                         \
    X(LET_LIST)    /* a: list of NAMEs, b: a call */                                               \
    X(VAR)         /* a: NAME, b: value or none */                                                 \
    X(ARRAY)       /* a: NAME, b: length; a private array */                                       \
    X(SHARED)      /* a: NAME, b: length */                                                        \
    X(ASSIGN)      /* detail: token; a: NAME, ELEMENT or FIELD of one, b: value */                 \
    X(ASSIGN_LIST) /* a: list of what ASSIGN takes; b: a call, or LIST */                          \
    X(EVALUATE)    /* a: a call */                                                                 \
    X(BARRIER)     /* detail: vyre_op */                                                           \
    X(IF)          /* a: condition, b: results; detail: 1 behind `else` */                         \
    X(ELSE)                                                                                        \
    X(FOR)    /* a: parts, see vyre_for_part; b: results */                                        \
    X(WHILE)  /* a: condition */                                                                   \
    X(LOOP)   /* a: list of carried NAMEs and values in turn, b: results */                        \
    X(INLINE) /* b: results */                                                                     \
    X(BLOCK)                                                                                       \
    X(MATCH)    /* a: value, b: results */                                                         \
    X(CASE)     /* a: list of constants, none of `else`; b: of a MATCH_VALUE its value */          \
    X(LABEL)    /* a: NAME of the loop that follows */                                             \
    X(BREAK)    /* a: list of values, or of the label alone */                                     \
    X(CONTINUE) /* a: list of values, or of the label alone */                                     \
    X(YIELD)    /* a: list of values */                                                            \
    X(RETURN)   /* a: list of values */                                                            \
    /* items and steps */                                                                          \
    X(PROGRAM)        /* a: NAME, b: parts, see vyre_program_part */                               \
    X(FUNCTION)       /* a: NAME, b: parts, see vyre_function_part */                              \
    X(CONSTANT)       /* a: NAME, b: value; of an array, a ROW */                                  \
    X(ROW)            /* a: list of elements or ROWs; b: how often the one is repeated, or none */ \
    X(STRUCT)         /* a: NAME, b: list of NAMEs with their types */                             \
    X(ARGUMENT)       /* a: NAME, b: size; detail: vyre_argument_kind */                           \
    X(TYPE)           /* detail: type */                                                           \
    X(TYPE_PARAMETER) /* a: NAME, b: the types it may be, see vyre_type_set */                     \
    X(SCRATCH)        /* a: NAME, b: size; detail: type of the sums it holds, or 0 */              \
    X(VIEW)           /* a: ARGUMENT, b: NAME of an array, or none */                              \
    X(PHASE)          /* a: parts, see vyre_phase_clause */                                        \
    X(REPEAT)         /* a: NAME or none, b: size or RANGE */                                      \
    X(REPEAT_WHILE)   /* a: NAME or none, b: ELEMENT */                                            \
    X(RANGE)          /* a: first, b: end; sizes */                                                \
    X(STEP_IF)        /* a: ELEMENT */                                                             \
    X(STEP_ELSE)                                                                                   \
    X(SWAP)      /* a: NAME, b: NAME */                                                            \
    X(REQUIRE)   /* a: size, b: size; both VYRE_NONE after a mistake */                            \
    X(STEP_CALL) /* a: LIBRARY_CALL or CALL of a program */                                        \
    X(END)       /* detail: the kind of node whose block ends */

typedef enum vyre_node_kind {
#define VYRE_NODE_ENUM(name) VYRE_NODE_##name,
    VYRE_NODES(VYRE_NODE_ENUM)
#undef VYRE_NODE_ENUM
} vyre_node_kind;

/* What stands at a node's parts, word by word. */
typedef enum vyre_for_part {
    VYRE_FOR_NAME,
    VYRE_FOR_FIRST,
    VYRE_FOR_END,
    VYRE_FOR_STEP,    /* or none */
    VYRE_FOR_CARRIED, /* list of NAMEs and values in turn, or none */
    VYRE_FOR_PARTS
} vyre_for_part;

typedef enum vyre_choice_part {
    VYRE_CHOICE_YES,
    VYRE_CHOICE_NO,
    VYRE_CHOICE_PARTS
} vyre_choice_part;

typedef enum vyre_program_part {
    VYRE_PROGRAM_ARGUMENTS, /* list of ARGUMENTs */
    VYRE_PROGRAM_CLAIM,     /* 1: deterministic */
    VYRE_PROGRAM_PHASE,     /* the PHASE of a program over a domain, or none */
    VYRE_PROGRAM_TYPES,     /* list of TYPE_PARAMETERs, or none */
    VYRE_PROGRAM_PARTS
} vyre_program_part;

typedef enum vyre_function_part {
    VYRE_FUNCTION_PARAMETERS, /* list of ARGUMENTs */
    VYRE_FUNCTION_RESULTS,    /* list of TYPEs */
    VYRE_FUNCTION_TYPES,      /* list of TYPE_PARAMETERs, or none */
    VYRE_FUNCTION_PARTS
} vyre_function_part;

typedef enum vyre_phase_clause {
    VYRE_PHASE_NAME,   /* NAME or none */
    VYRE_PHASE_DOMAIN, /* list of sizes */
    VYRE_PHASE_FROM,   /* ELEMENT that holds the size, the domain then being the maximum; or none */
    VYRE_PHASE_WORKGROUP, /* list of constants, or none */
    VYRE_PHASE_SUBGROUP,  /* constant or none */
    VYRE_PHASE_PARTS
} vyre_phase_clause;

typedef enum vyre_argument_kind {
    VYRE_ARGUMENT_SCALAR,
    VYRE_ARGUMENT_IN,
    VYRE_ARGUMENT_INOUT,
    VYRE_ARGUMENT_OUT,
    VYRE_ARGUMENT_VARIABLE /* of a function: a variable of the caller, which it may change */
} vyre_argument_kind;

typedef struct vyre_node {
    uint8_t kind;
    uint16_t detail;
    uint32_t line, column, length;
    uint32_t a, b;
} vyre_node;

typedef struct vyre_syntax {
    VYRE_VEC(vyre_node) nodes;
    VYRE_VEC(uint32_t) words; /* lists and parts */
} vyre_syntax;

static inline vyre_spot vyre_node_spot(const vyre_node *node) {
    return (vyre_spot){node->line, node->column, node->length};
}

#endif
