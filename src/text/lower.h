/* Lowering: statements into calls of the builder.
 *
 * The front end deals with names, plain numbers, constants, functions and the rules of statements.
 * What types an operation takes is the builder's business: it is told the place and reports itself.
 *
 * lower.c            the state, names and reports
 * lower_program.c    programs, phases, repeats
 * lower_statement.c  declarations and assignments
 * lower_block.c      if, loops, inline, and the jumps out of them
 * lower_expression.c numbers, operators, names, conversions
 * lower_call.c       calls of operations
 * lower_function.c   calls of functions, which are inlined
 * lower_size.c       sizes, and constants of the file
 */
#ifndef VYRE_TEXT_LOWER_H
#define VYRE_TEXT_LOWER_H

#include <vyre/builder.h>

#include "text/parser.h"
#include "text/plain.h"

typedef enum vyre_item_kind {
    VYRE_ITEM_PROGRAM,
    VYRE_ITEM_FUNCTION,
    VYRE_ITEM_CONSTANT
} vyre_item_kind;

/* A program, function or constant of the file. */
typedef struct vyre_item {
    uint8_t kind;
    uint32_t index;  /* among the functions or constants */
    uint32_t symbol; /* VYRE_NONE if its name is wrong */
    vyre_spot spot;  /* of the name */
    vyre_lexer place;
} vyre_item;

typedef enum vyre_operand_kind {
    VYRE_OPERAND_POISON, /* reported already */
    VYRE_OPERAND_PLAIN,
    VYRE_OPERAND_VALUE
} vyre_operand_kind;

/* What an expression gives, small enough for two registers. */
typedef struct vyre_operand {
    uint8_t kind, type;
    bool real, negative, wraps, literal; /* of a plain number, as in vyre_plain */
    uint64_t value; /* the builder's number; in constants a value's bits; of a plain one `number` */
} vyre_operand;

static inline vyre_plain vyre_operand_plain(vyre_operand operand) {
    return (vyre_plain){operand.real, operand.negative, operand.wraps, operand.literal,
                        operand.value};
}

static inline vyre_operand vyre_plain_operand(vyre_plain plain) {
    return (vyre_operand){VYRE_OPERAND_PLAIN, VYRE_TYPE_VOID, plain.real,  plain.negative,
                          plain.wraps,        plain.literal,  plain.number};
}

typedef struct vyre_constant {
    uint32_t item;
    uint8_t state; /* not computed, being computed, computed */
    vyre_operand value;
} vyre_constant;

typedef struct vyre_parameter {
    uint32_t symbol, line, column;
    uint8_t kind, type; /* vyre_argument_kind, vyre_type */
} vyre_parameter;

typedef struct vyre_function {
    uint32_t item;
    uint32_t parameters, parameter_count; /* in parameters */
    uint32_t results, result_count;       /* in result_types */
    uint32_t callees, callee_count;       /* in callees: symbols */
    vyre_lexer body;
    bool broken;  /* its syntax is wrong: not inlined, only looked through */
    bool early;   /* returns before its last statement */
    bool last;    /* its last statement is a return */
    bool touches; /* reads or writes memory, waits, or loops by itself; not what it calls */
    uint8_t purity;
    bool active; /* being inlined */
    bool seen;   /* was inlined: warnings have been given */
    bool failed; /* has mistakes that were reported */
} vyre_function;

/* A block that is open in the builder, or just a scope. */
typedef struct vyre_lower_block {
    uint8_t kind;      /* vyre_node_kind of its head */
    bool warned;       /* about unreachable statements */
    bool gives;        /* its results are named, by itself or by the `if` in front of it */
    bool chained;      /* an `if` behind `else` whose results go to the outer one */
    uint32_t bindings; /* declarations outside of it */
    uint32_t results, result_count;  /* NAMEs of what it gives, in block_names */
    uint32_t carried, carried_count; /* NAMEs of what a loop carries, in block_names */
} vyre_lower_block;

#define VYRE_NOT_RETURNED SIZE_MAX

typedef struct vyre_lower {
    vyre_source *source;
    vyre_names names;
    vyre_parser parser;
    VYRE_VEC(vyre_item) items;
    VYRE_VEC(vyre_constant) constants;
    VYRE_VEC(vyre_function) functions;
    VYRE_VEC(vyre_parameter) parameters;
    VYRE_VEC(uint8_t) result_types;
    VYRE_VEC(uint32_t) callees;

    /* Of the program that is being built. */
    vyre_builder *spare;   /* serves one program after the other */
    vyre_builder *builder; /* NULL while constants are computed */
    uint32_t dimensions;   /* of the phase; 0 if any component may be named */
    VYRE_VEC(vyre_lower_block) blocks;
    VYRE_VEC(vyre_node) block_names;
    VYRE_VEC(uint32_t) values; /* lists of values under construction */
    VYRE_VEC(uint32_t) spine;  /* operators under construction */
    size_t frame;              /* first block of the current function */
    uint32_t function;         /* the current one, VYRE_NONE in the program itself */
    size_t returned;           /* where in values a spliced function's results are */
    vyre_spot end;             /* of the block that ended last */
    bool spliced;              /* the current function has no block of its own */
    bool silent;               /* warnings were given before */
    uint32_t depth;            /* of expressions and calls, inlined ones included */
    uint32_t loops;            /* open ones */
    bool poisoned;             /* something the program uses is wrong, as the list knows */
    uint64_t inlined;          /* nodes of inlined functions, of the whole file */
    bool exhausted;            /* they were too many, as has been reported */
    VYRE_VEC(vyre_lexer) scratch_sizes;
    vyre_diagnostics *found; /* what the builder said about a program; kept while empty */
} vyre_lower;

/* lower.c */

/* Readies the builder for a program of that name; false without memory. */
bool lower_start(vyre_lower *lower, const char *name);

/* Where the next calls of the builder come from. */
static inline void lower_at(vyre_lower *lower, vyre_spot spot) {
    vyre_build_at(lower->builder, spot.line, spot.column, spot.length);
}

/* Reports at a place, naming the function that is being inlined if there is one. */
void lower_report(vyre_lower *lower, vyre_spot spot, uint32_t code, const char *fix,
                  const char *format, ...) VYRE_PRINTF(5, 6);

/* Tells the builder of a mistake that the list has already, if there is one in what is being built:
 * it then neither wonders about what is missing nor judges what is left. */
void lower_spoil(vyre_lower *lower);

/* Whether the program is wrong already; warnings then only distract. */
bool lower_has_mistakes(const vyre_lower *lower);

/* The text of a symbol as a string, for the builder. */
typedef struct vyre_name_text {
    char text[256];
} vyre_name_text;
/* A function whose name could not be read, VYRE_NONE, is called `fn`. */
const char *lower_name(const vyre_lower *lower, uint32_t symbol, vyre_name_text *out);

/* Declares a NAME node; reports a name that the same block declares already. An ERROR node is
 * passed over. */
void lower_bind(vyre_lower *lower, vyre_node name, vyre_binding binding);

/* Reports a name that stands for nothing; further uses in the block are silent. */
void lower_unknown(vyre_lower *lower, vyre_node node, uint32_t symbol, bool is_call);

/* What a symbol stands for, as messages put it: "a value", "a function". */
const char *lower_kind_of(const vyre_lower *lower, uint32_t symbol);

/* A scope opens and closes. Forgetting names, down to a number of them, warns of unused ones. */
void lower_forget(vyre_lower *lower, uint32_t bindings);
bool lower_open(vyre_lower *lower, vyre_lower_block block);
void lower_close(vyre_lower *lower);

void lower_no_memory(vyre_lower *lower);

/* lower_expression.c */

static inline vyre_operand lower_poison(void) {
    return (vyre_operand){.kind = VYRE_OPERAND_POISON};
}

/* Lowers an expression. `expected` is the type its place asks for, void if any will do; it decides
 * on plain numbers alone and promises nothing about the result. */
vyre_operand lower_expression(vyre_lower *lower, uint32_t node, vyre_type expected);

/* The same, and a plain number takes the type. Gives the builder's number, VYRE_NONE for a mistake;
 * `out_type`, if given, receives the type. */
uint32_t lower_value(vyre_lower *lower, uint32_t node, vyre_type expected, vyre_type *out_type);

/* The same for a place that takes one type only: reports others as "WHAT `symbol` is ...", where
 * the symbol may be VYRE_NONE. */
uint32_t lower_typed(vyre_lower *lower, uint32_t node, vyre_type type, const char *what,
                     uint32_t symbol);

/* Gives a plain number a type; void is i32 or f32. False if it does not fit, which is reported. */
bool lower_settle_plain(vyre_lower *lower, vyre_operand *operand, vyre_type type, vyre_spot spot);

/* The same for any operand: whether it is a value in the end. */
static inline bool lower_settle(vyre_lower *lower, vyre_operand *operand, vyre_type type,
                                vyre_spot spot) {
    return operand->kind == VYRE_OPERAND_PLAIN ? lower_settle_plain(lower, operand, type, spot)
                                               : operand->kind == VYRE_OPERAND_VALUE;
}

/* An index: any integer, a plain number being a u32. */
uint32_t lower_index(vyre_lower *lower, uint32_t node);

/* An operator on two operands; a plain one takes the type of the other. The nodes are the
 * operator's and its operands', for their places. */
vyre_operand lower_binary(vyre_lower *lower, vyre_token_kind operation, vyre_operand left,
                          vyre_operand right, vyre_type expected, const uint32_t nodes[3]);

/* Operations on values, or on bits where a constant is computed. */
vyre_operand lower_constant(vyre_lower *lower, vyre_type type, uint64_t bits);
vyre_operand lower_operation(vyre_lower *lower, vyre_op op, const vyre_operand *operands,
                             uint32_t count, vyre_spot spot);

/* lower_call.c */

/* A call where a value is asked for. */
vyre_operand lower_call(vyre_lower *lower, uint32_t number, vyre_type expected);

/* A call for its effects alone. */
void lower_call_statement(vyre_lower *lower, uint32_t number);

/* The function that a CALL names; VYRE_NONE, after a report, if it names something else. */
uint32_t lower_callee(vyre_lower *lower, vyre_node node);

/* A call of an operation that gives several values, which go to the end of `values`. */
void lower_group(vyre_lower *lower, vyre_node call);

/* An array that a name stands for, NULL if none; reports. */
const vyre_binding *lower_array(vyre_lower *lower, vyre_node node, uint32_t symbol);

/* False, after a report, if the array may not be written. */
bool lower_check_writable(vyre_lower *lower, vyre_node node, const vyre_binding *array);

/* lower_function.c */

/* Collects what is to be known about a function before it is used. */
void lower_survey(vyre_lower *lower, uint32_t number);
bool lower_is_pure(vyre_lower *lower, uint32_t number, uint32_t depth);

/* Inlines what a CALL calls. Its results are pushed onto `values`, VYRE_NONE where something is
 * wrong; their types are the function's. */
void lower_inline(vyre_lower *lower, uint32_t number, uint32_t call);

/* Looks through a function that no program uses. */
void lower_check_function(vyre_lower *lower, uint32_t number);

/* Statements up to the end of the item that the parser is in. */
void lower_statements(vyre_lower *lower);

/* lower_statement.c and lower_block.c */

void lower_statement(vyre_lower *lower, uint32_t number);
void lower_head(vyre_lower *lower, uint32_t number);
void lower_else(vyre_lower *lower);
void lower_end(vyre_lower *lower, vyre_node node);
void lower_jump(vyre_lower *lower, uint32_t number);
void lower_unread(vyre_lower *lower);

/* lower_size.c */

/* A size of the program, VYRE_NONE for a mistake. */
uint32_t lower_size(vyre_lower *lower, uint32_t node);

/* A constant number from 1 to `most`, 0 for a mistake; `what` says what it is for. */
uint32_t lower_count(vyre_lower *lower, uint32_t node, uint32_t most, uint32_t code,
                     const char *what);

/* The value of a constant of the file, computed if it was not yet. */
vyre_operand lower_constant_item(vyre_lower *lower, uint32_t number);

/* lower_program.c */

/* Builds the program whose head the parser has just read; NULL if it has mistakes. */
vyre_program *lower_program(vyre_lower *lower, uint32_t number);
void lower_step(vyre_lower *lower, uint32_t number);

#endif
