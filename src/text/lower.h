/* Lowering: statements into calls of the builder.
 *
 * The front end deals with names, plain numbers, constants, functions and the rules of statements.
 * What types an operation takes is the builder's business: it is told the place and reports itself.
 *
 * lower.c            the state, names and reports
 * lower_program.c    programs, phases, repeats
 * lower_statement.c  declarations and assignments
 * lower_block.c      if, loops, inline, and the jumps out of them
 * lower_range.c      the range of a `for`
 * lower_expression.c numbers, operators, names, conversions
 * lower_call.c       calls of operations
 * lower_function.c   calls of functions, which are inlined
 * lower_size.c       sizes, and constants of the file
 * lower_unit.c       texts and their items, going from one to another and back
 * lower_library.c    operations of the library by their id
 * lower_splice.c     calls of programs, whose steps stand in place of the call
 */
#ifndef VYRE_TEXT_LOWER_H
#define VYRE_TEXT_LOWER_H

#include <vyre/builder.h>

#include "base/strbuf.h"
#include "text/parser.h"
#include "text/plain.h"
#include <vyre/library.h>

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

typedef struct vyre_lower_parameter {
    uint32_t symbol, line, column;
    uint8_t kind, type; /* vyre_argument_kind, vyre_type */
} vyre_lower_parameter;

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
    bool seen;   /* was inlined: warnings have been given */
    bool failed; /* has mistakes that were reported */
} vyre_function;

/* What a call gives to a parameter of a program. */
typedef struct vyre_given {
    vyre_name_binding binding;
    vyre_spot spot;
    bool zero; /* an array that holds zeros in any case */
} vyre_given;

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

/* A text with its names and items: the one that is parsed, or an operation's. */
typedef struct vyre_unit {
    vyre_source source;
    vyre_names names;
    VYRE_VEC(vyre_item) items;
    VYRE_VEC(vyre_constant) constants;
    VYRE_VEC(vyre_function) functions;
    VYRE_VEC(vyre_lower_parameter) parameters;
    VYRE_VEC(uint8_t) result_types;
    VYRE_VEC(uint32_t) callees;
    bool broken; /* an operation's text has mistakes, which were reported */
} vyre_unit;

/* Something that can be called: a function, or an operation of the library, whose text is a unit of
 * its own. */
typedef struct vyre_callee {
    vyre_unit *unit; /* NULL after a report */
    uint32_t item;   /* of the unit */
    const char *id;  /* of an operation, else NULL */
} vyre_callee;

/* An array that is to be zeros when a spliced program starts. */
typedef struct vyre_fill {
    uint32_t resource, size; /* a size to be copied; VYRE_NONE for the length of a buffer */
    uint8_t type;
} vyre_fill;

/* A program whose steps are being put in place of its call. */
typedef struct vyre_splice {
    const char *id;
    size_t fills; /* its first one */
    bool started; /* the first step has come */
} vyre_splice;

typedef struct vyre_lower {
    vyre_unit *unit; /* whose names are seen */
    vyre_parser parser;

    /* Operations. */
    vyre_library_view library;
    bool has_entered;            /* the library, which is left at the end */
    VYRE_VEC(vyre_unit *) units; /* their texts */
    VYRE_VEC(vyre_callee) calls; /* that are being inlined or spliced, outermost first */
    vyre_splice *splice;         /* the program that is being spliced, NULL in the program itself */

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
    uint32_t foreign_line;     /* of the latest report of a word of other languages */
    uint64_t inlined;          /* nodes of inlined functions, of the whole file */
    bool exhausted;            /* they were too many, as has been reported */
    VYRE_VEC(uint8_t) written; /* by resource: whether something may have written it */
    VYRE_VEC(vyre_fill) fills;
    VYRE_VEC(vyre_lower_parameter) head; /* parameters of programs that are being called */
    VYRE_VEC(vyre_given) given;          /* what they are given */
    vyre_diagnostics *found; /* what the builder said about a program; kept while empty */
} vyre_lower;

/* lower.c */

/* Readies the builder for a program of that name; false without memory. */
bool lower_start(vyre_lower *lower, const char *name);

/* A node of the statement at hand, and its place. */
static inline vyre_node lower_node(const vyre_lower *lower, uint32_t node) {
    return lower->parser.syntax.nodes.items[node];
}
static inline vyre_spot lower_spot(const vyre_lower *lower, uint32_t node) {
    return vyre_node_spot(&lower->parser.syntax.nodes.items[node]);
}

/* The word of the language that a symbol is, and that a node calls; word 0 if it is none or hidden
 * by a declared name. A call is hidden only by a function, since nothing else can be called. */
const vyre_word *lower_word(const vyre_lower *lower, uint32_t symbol);
const vyre_word *lower_called(const vyre_lower *lower, vyre_node node);

/* Adds a value, or so many mistakes, to the list under construction; false without memory. */
bool lower_push(vyre_lower *lower, uint32_t value);
bool lower_push_none(vyre_lower *lower, uint32_t count);

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
void lower_bind(vyre_lower *lower, vyre_node name, vyre_name_binding binding);

/* Reports a name that stands for nothing; further uses in the block are silent. */
void lower_unknown(vyre_lower *lower, vyre_node node, uint32_t symbol, bool is_call);

/* What a symbol stands for, as messages put it: "a value", "a function". */
const char *lower_kind_of(const vyre_lower *lower, uint32_t symbol);

/* A scope opens and closes. Forgetting names, down to a number of them, warns of unused ones. */
void lower_forget(vyre_lower *lower, uint32_t bindings);
bool lower_open(vyre_lower *lower, vyre_lower_block block);
void lower_close(vyre_lower *lower);

void lower_no_memory(vyre_lower *lower);

/* Adds to the list what the builder or the verifier found. Warnings about an operation's text are
 * not for who calls it. */
void lower_keep(vyre_lower *lower, const vyre_diagnostic *item);

/* lower_expression.c */

static inline vyre_operand lower_poison(void) {
    return (vyre_operand){.kind = VYRE_OPERAND_POISON};
}

/* What the builder gave, or a mistake. */
vyre_operand lower_built(const vyre_lower *lower, uint32_t value);

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

/* What a CALL or LIBRARY_CALL calls; without a unit, after a report, if that is no function. */
vyre_callee lower_callee(vyre_lower *lower, vyre_node node);

/* Lowers all arguments of a call for the mistakes that are in them. */
vyre_operand lower_look_through(vyre_lower *lower, vyre_node call);

/* False after a report: the call of `name` has another number of operands. */
bool lower_check_count(vyre_lower *lower, vyre_node call, const char *name, uint32_t wanted);

/* lower_small.c */

/* A call of a function of class VYRE_WORD_FUNCTION. */
vyre_operand lower_small(vyre_lower *lower, vyre_node call, const vyre_word *word,
                         vyre_type expected);

/* lower_call.c */

/* A call of an operation that gives several values, which go to the end of `values`. */
void lower_group(vyre_lower *lower, vyre_node call);

/* An array that a name stands for, NULL if none; reports. */
const vyre_name_binding *lower_array(vyre_lower *lower, vyre_node node, uint32_t symbol);

/* False, after a report, if the array may not be written. From then on it counts as written. */
bool lower_check_writable(vyre_lower *lower, vyre_node node, const vyre_name_binding *array);

/* lower_function.c */

/* Collects what is to be known about a function before it is used. */
void lower_survey(vyre_lower *lower, uint32_t number);
/* The parameter that an ARGUMENT declares. */
vyre_lower_parameter lower_parameter(const vyre_lower *lower, uint32_t number);
bool lower_is_pure(const vyre_unit *unit, uint32_t number, uint32_t depth);

static inline vyre_function *lower_function_of(vyre_callee callee) {
    return &callee.unit->functions.items[callee.unit->items.items[callee.item].index];
}

/* Inlines what a CALL calls. Its results are pushed onto `values`, VYRE_NONE where something is
 * wrong; their types are the function's. */
void lower_inline(vyre_lower *lower, vyre_callee callee, uint32_t call);

/* Whether a call, with that number of arguments, is possible here and now; reports if not. */
bool lower_may_call(vyre_lower *lower, vyre_callee callee, vyre_node call, uint32_t wanted);

/* The array that an argument names, as the parameter wants it; NULL after a report. */
const vyre_name_binding *lower_array_argument(vyre_lower *lower, uint32_t node,
                                              vyre_lower_parameter parameter, uint32_t position,
                                              vyre_callee callee);

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

/* lower_range.c */

/* First, end and step of a `for`, whose nodes are given; VYRE_NONE for a mistake. True for a range
 * that counts down: its numbers are complements, and so is its counter. */
bool lower_range(vyre_lower *lower, const uint32_t nodes[3], uint32_t values[3]);
uint32_t lower_complement(vyre_lower *lower, uint32_t value, vyre_spot spot);

/* lower_size.c */

/* A size of the program, VYRE_NONE for a mistake. */
uint32_t lower_size(vyre_lower *lower, uint32_t node);

/* The length of an array as a size. */
uint32_t lower_length_of(vyre_lower *lower, const vyre_name_binding *array);

/* What a size gives, as a value of the phase. The program must have made sure that it fits. */
uint32_t lower_size_value(vyre_lower *lower, uint32_t size, vyre_type type);

/* Whether all that an expression names is known when the file is read. */
bool lower_is_constant(vyre_lower *lower, uint32_t node);
vyre_operand lower_evaluate(vyre_lower *lower, uint32_t node, vyre_type expected);

/* A constant number from 1 to `most`, 0 for a mistake; `what` says what it is for. */
uint32_t lower_count(vyre_lower *lower, uint32_t node, uint32_t most, uint32_t code,
                     const char *what);

/* The value of a constant of the file, computed if it was not yet. */
vyre_operand lower_constant_item(vyre_lower *lower, uint32_t number);

/* lower_program.c */

/* Builds the program whose head the parser has just read; NULL if it has mistakes. */
vyre_program *lower_program(vyre_lower *lower, uint32_t number);
void lower_step(vyre_lower *lower, uint32_t number);
void lower_phase(vyre_lower *lower, vyre_node node);

/* lower_unit.c */

/* Finds the items of the current unit and collects what is to be known about its functions. */
void lower_read_unit(vyre_lower *lower);
/* Finds all items, so that each may be used before it is declared; part of the above. */
void lower_find_items(vyre_lower *lower);
void lower_free_unit(vyre_unit *unit);

/* Makes a unit the current one, with its names and its text. */
void lower_switch(vyre_lower *lower, vyre_unit *unit);

/* What goes on behind a call. */
typedef struct vyre_caller {
    vyre_unit *unit, *callee;
    vyre_parser_state parser;
    vyre_diagnostic_call site;
    const vyre_diagnostic_call *calls;
    uint32_t names_frame, function;
    size_t frame, returned;
    bool spliced, silent, failed;
    vyre_splice *splice;
} vyre_caller;

/* Into what is called, whose text it has to open itself, and back. */
void lower_enter(vyre_lower *lower, vyre_callee callee, vyre_spot call, vyre_caller *out_caller);
void lower_leave(vyre_lower *lower, const vyre_caller *caller);

/* The name of what is called: an id, or that of a function. */
const char *lower_callee_name(vyre_callee callee, vyre_name_text *out);

/* lower_library.c */

/* The operation that a LIBRARY_CALL names; without a unit, after a report, if it is not of that
 * form or cannot be used. */
vyre_callee lower_operation_of(vyre_lower *lower, vyre_node call, vyre_library_form form);

/* What to do about a call that is wrong: write it as the operation's text has it. A function is
 * near at hand, so there it is `otherwise`. */
const char *lower_how(vyre_callee callee, const char *otherwise, vyre_strbuf *text);

/* lower_splice.c */

/* A LIBRARY_CALL between phases. */
void lower_splice(vyre_lower *lower, uint32_t number);

/* In front of each step: what a spliced program does before its first one. */
void lower_start_steps(vyre_lower *lower);

/* The name of a step or array, behind the id of the program that is spliced; NULL if both are
 * missing. */
const char *lower_step_name(const vyre_lower *lower, const char *name, vyre_name_text *out);

#endif
