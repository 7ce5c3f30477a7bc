/* Lowering: statements into calls of the builder.
 *
 * The front end deals with names, plain numbers, constants, functions and the rules of statements.
 * What types an operation takes is the builder's business: it is told the place and reports itself.
 *
 * lower.c            the state, names and reports
 * lower_program.c    programs, phases, repeats
 * lower_statement.c  declarations and assignments
 * lower_let.c        a `let` of a plain number, whose type its first use decides
 * lower_block.c      if, loops, inline, and the jumps out of them
 * lower_label.c      labels of loops, and jumps to them
 * lower_match.c      match
 * lower_range.c      the range of a `for`
 * lower_expression.c numbers, operators, names, conversions
 * lower_composite.c  values of several scalars: vectors and structs, their parts, making them
 * lower_vector.c     operators and functions on vectors, component by component
 * lower_small.c      clamp, mix and others that are short for a few operations
 * lower_place.c      what can be assigned to, and assigning
 * lower_call.c       calls of operations
 * lower_function.c   calls of functions, which are inlined
 * lower_size.c       sizes, and constants of the file
 * lower_struct.c     structs of the file
 * lower_generic.c    type parameters, and the instances of what has them
 * lower_array.c      constant arrays, arrays of several dimensions
 * lower_sum.c        reproducible sums of floats
 * lower_view.c       arrays seen as another type
 * lower_use.c        `use` lines: the files of a text, operations without their dialect
 * lower_variant.c    the same program again, with operations in other forms
 * lower_unit.c       texts and their items, going from one to another and back
 * lower_library.c    operations of the library by their id
 * lower_splice.c     calls of programs, whose steps stand in place of the call
 */
#ifndef VYRE_TEXT_LOWER_H
#define VYRE_TEXT_LOWER_H

#include <vyre/builder.h>
#include <vyre/library.h>

#include "base/arena.h"
#include "base/near.h"
#include "base/strbuf.h"
#include "ir/program.h"
#include "text/parser.h"
#include "text/plain.h"
#include "text/use.h"

typedef enum vyre_item_kind {
    VYRE_ITEM_PROGRAM,
    VYRE_ITEM_FUNCTION,
    VYRE_ITEM_CONSTANT,
    VYRE_ITEM_STRUCT
} vyre_item_kind;

/* A program, function, constant or struct of the file; or an instance of a generic one, which
 * follows them and shares the place of what it is an instance of. */
typedef struct vyre_item {
    uint8_t kind;
    bool generic;    /* has type parameters */
    uint32_t index;  /* among the functions or constants; of a struct its type */
    uint32_t symbol; /* VYRE_NONE if its name is wrong */
    vyre_spot spot;  /* of the name */
    vyre_lexer place;
    uint32_t types, type_count; /* in type_parameters; of an instance in type_arguments */
    uint32_t origin;            /* of an instance the generic item, else VYRE_NONE */
    char *name;                 /* of an instance, such as "lerp<f32>", else NULL */
} vyre_item;

typedef struct vyre_lower_type_parameter {
    uint32_t symbol;
    vyre_type_set set; /* what it may be */
} vyre_lower_type_parameter;

typedef enum vyre_operand_kind {
    VYRE_OPERAND_POISON, /* reported already */
    VYRE_OPERAND_PLAIN,
    VYRE_OPERAND_VALUE,    /* a scalar */
    VYRE_OPERAND_COMPOSITE /* a vector or struct */
} vyre_operand_kind;

/* What an expression gives, small enough for two registers. */
typedef struct vyre_operand {
    uint8_t kind;
    bool real, negative, wraps, literal; /* of a plain number, as in vyre_plain */
    uint16_t type;                       /* vyre_value_type */
    uint64_t value; /* the builder's number; in constants a value's bits; of a plain one `number`;
                       of a composite the first of its leaves */
} vyre_operand;

static inline vyre_plain vyre_operand_plain(vyre_operand operand) {
    return (vyre_plain){operand.real, operand.negative, operand.wraps, operand.literal,
                        operand.value};
}

static inline vyre_operand vyre_plain_operand(vyre_plain plain) {
    return (vyre_operand){VYRE_OPERAND_PLAIN, plain.real,     plain.negative, plain.wraps,
                          plain.literal,      VYRE_TYPE_VOID, plain.number};
}

typedef struct vyre_constant {
    uint32_t item;
    uint8_t state; /* not computed, being computed, computed */
    vyre_operand value;
    uint32_t program; /* in which an array was declared last */
    uint32_t lengths[VYRE_MOST_DIMENSIONS], dimensions;
    vyre_name_binding array; /* of an array, else POISON */
    VYRE_VEC(uint64_t) bits; /* its elements */
} vyre_constant;

typedef struct vyre_lower_parameter {
    uint32_t symbol, line, column;
    uint8_t kind;       /* vyre_argument_kind */
    uint16_t type;      /* vyre_value_type */
    uint8_t dimensions; /* of an array; 0: any, seen as one row of elements */
} vyre_lower_parameter;

/* The lengths of an array of several dimensions. */
typedef struct vyre_array_shape {
    uint32_t dimensions;
    bool fixed;                             /* lengths are numbers, else sizes to be copied */
    uint32_t lengths[VYRE_MOST_DIMENSIONS]; /* slowest first */
} vyre_array_shape;

/* A scalar of the elements of an array that is seen as another type, see lower_view.h. */
typedef struct vyre_view {
    uint32_t resource;       /* that holds them */
    uint8_t type;            /* vyre_type of the scalar */
    uint32_t stride, offset; /* of an element, and of the scalar in it; in bytes */
} vyre_view;

typedef struct vyre_function {
    uint32_t item;
    uint32_t parameters, parameter_count; /* in parameters */
    uint32_t results, result_count;       /* in result_types */
    uint32_t result_values;               /* the scalars of all results */
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
    uint32_t carried_values;         /* the scalars of all that it carries */
    uint32_t matched, branches;      /* of a match: the value, and its open `if`s */
    uint8_t matched_type;            /* vyre_type */
    bool has_else;                   /* the last case has come */
    vyre_node label;                 /* of a loop: a NAME, or nothing */
    uint32_t leaving;                /* the variable that says where jumps to the label go */
    bool is_named;                   /* by a jump */
    bool has_break, has_continue;    /* jumps to the label leave loops inside */
    bool is_passed;                  /* jumps to the label of a loop around it leave this one */
    size_t cases;                    /* the first of its numbers */
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
    VYRE_VEC(uint16_t) result_types; /* vyre_value_type */
    VYRE_VEC(uint32_t) callees;
    VYRE_VEC(vyre_lower_type_parameter) type_parameters;
    VYRE_VEC(uint16_t) type_arguments; /* vyre_value_type */
    uint32_t instance; /* item whose type parameters stand for its types, or VYRE_NONE */
    VYRE_VEC(vyre_source_part) parts; /* its files, the text itself first */
    vyre_uses uses;
    vyre_arena files;  /* the names of parts */
    uint64_t elements; /* of all constant arrays so far */
    bool broken;       /* an operation's text has mistakes, which were reported */
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
    uint16_t type;           /* as in a binding */
} vyre_fill;

/* A program whose steps are being put in place of its call. */
typedef struct vyre_splice {
    const char *id;
    size_t fills; /* its first one */
    bool started; /* the first step has come */
} vyre_splice;

typedef enum vyre_text_place_kind {
    VYRE_PLACE_NONE,     /* reported */
    VYRE_PLACE_NOWHERE,  /* `_` */
    VYRE_PLACE_VALUE,    /* handle: a value; cannot be assigned to */
    VYRE_PLACE_VARIABLE, /* handle: a variable */
    VYRE_PLACE_ELEMENT   /* handle: an array */
} vyre_text_place_kind;

/* Something with a name, an element of an array, or a part of one. */
typedef struct vyre_text_place {
    uint8_t kind; /* vyre_text_place_kind */
    vyre_value_type type;
    uint64_t handle;   /* as in a binding or, of a value, as in an operand */
    uint32_t index;    /* of an element */
    uint32_t variable; /* that holds an element while a function may change it */
    vyre_spot spot;
    uint32_t symbol; /* what it is a part of */
} vyre_text_place;

typedef struct vyre_lower {
    vyre_unit *unit; /* whose names are seen */
    vyre_parser parser;

    /* Operations. */
    vyre_library_view library;
    bool has_entered;            /* the library, which is left at the end */
    VYRE_VEC(vyre_unit *) units; /* their texts */
    VYRE_VEC(vyre_callee) calls; /* that are being inlined or spliced, outermost first */
    vyre_splice *splice;         /* the program that is being spliced, NULL in the program itself */
    vyre_suits suits; /* the devices that operations are to suit; none: in their own form */
    VYRE_VEC(const char *) met; /* what variants of called operations suit */

    vyre_types types; /* structs of all texts */
    /* What composites consist of: values, bits in constants, variables, or arrays. Only grows,
     * about as the programs do, so that an operand stays what it is. */
    VYRE_VEC(uint64_t) leaves;

    /* Of the program that is being built. */
    vyre_builder *spare;   /* serves one program after the other */
    vyre_builder *builder; /* NULL while constants are computed */
    uint32_t dimensions;   /* of the phase; 0 if any component may be named */
    VYRE_VEC(vyre_lower_block) blocks;
    VYRE_VEC(vyre_node) block_names;
    VYRE_VEC(uint32_t) values;        /* lists of values under construction */
    VYRE_VEC(vyre_operand) operands;  /* lists of what arguments gave */
    VYRE_VEC(vyre_text_place) places; /* lists of what is assigned to */
    VYRE_VEC(uint32_t) spine;         /* operators under construction */
    vyre_node label;                  /* of the loop that follows */
    VYRE_VEC(uint64_t) cases;         /* numbers of cases so far, by the `match`es that are open */
    size_t frame;                     /* first block of the current function */
    uint32_t function;                /* the current one, VYRE_NONE in the program itself */
    size_t returned;                  /* where in values a spliced function's results are */
    vyre_spot end;                    /* of the block that ended last */
    bool spliced;                     /* the current function has no block of its own */
    bool silent;                      /* warnings were given before */
    uint32_t depth;                   /* of expressions and calls, inlined ones included */
    uint32_t program;                 /* number of the one that is being built */
    uint32_t loops;                   /* open ones */
    bool poisoned;                    /* something the program uses is wrong, as the list knows */
    uint32_t foreign_line;            /* of the latest report of a word of other languages */
    uint64_t inlined;                 /* nodes of inlined functions, of the whole file */
    bool exhausted;                   /* they were too many, as has been reported */
    bool has_sums;                    /* the program declares some */
    bool adds;                        /* the phase adds to them */
    VYRE_VEC(vyre_array_shape) shapes;
    VYRE_VEC(vyre_view) views;
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
 * by a declared name. Only functions and structs hide a call, since nothing else can be called. */
const vyre_word *lower_word(const vyre_lower *lower, uint32_t symbol);
const vyre_word *lower_called(const vyre_lower *lower, vyre_node node);

/* A function on vectors, or `vec3`, that no function or struct of the text hides. */
vyre_context_word lower_function_word(const vyre_unit *unit, uint32_t symbol);

/* A type as messages write it. */
static inline const char *lower_type_name(const vyre_lower *lower, vyre_value_type type,
                                          vyre_type_text *room) {
    return vyre_value_type_name(&lower->types, type, room);
}

/* How many scalars a type has. */
static inline uint32_t lower_width(const vyre_lower *lower, vyre_value_type type) {
    return vyre_type_is_scalar(type) ? 1 : vyre_type_width(&lower->types, type);
}

/* Adds a value, or so many mistakes, to the list under construction; false without memory. */
bool lower_push(vyre_lower *lower, uint32_t value);
bool lower_push_none(vyre_lower *lower, uint32_t count);

/* Where the next calls of the builder come from. */
static inline void lower_at(vyre_lower *lower, vyre_spot spot) {
    if (lower->unit->source.part_count > 1) {
        vyre_source_file_of(&lower->unit->source, &spot.line);
    }
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
vyre_operand lower_expression(vyre_lower *lower, uint32_t node, vyre_value_type expected);

/* The same for a place that takes a scalar; a plain number takes the type. Gives the builder's
 * number, VYRE_NONE for a mistake; `out_type`, if given, receives the type. */
uint32_t lower_value(vyre_lower *lower, uint32_t node, vyre_type expected, vyre_type *out_type);

/* The same for a place that takes one type only, or any but no plain number: reports others as
 * "WHAT `symbol` is ...", where the symbol may be VYRE_NONE. */
vyre_operand lower_typed(vyre_lower *lower, uint32_t node, vyre_value_type type, const char *what,
                         uint32_t symbol);

/* Whether an operand has that type, void being any. A plain number takes it; another type is
 * reported as above, and the operand is a mistake then. */
bool lower_check_type(vyre_lower *lower, vyre_operand *operand, vyre_value_type type,
                      const char *what, uint32_t symbol, vyre_spot spot);

/* Gives a plain number a type; void and structs are i32 or f32, a vector its scalar. False if it
 * does not fit, which is reported. */
bool lower_settle_plain(vyre_lower *lower, vyre_operand *operand, vyre_value_type type,
                        vyre_spot spot);

/* Reports a composite where a scalar is needed. */
void lower_refuse_composite(vyre_lower *lower, vyre_operand *operand, vyre_spot spot);

/* The same for any operand: whether it is a scalar in the end. */
static inline bool lower_settle(vyre_lower *lower, vyre_operand *operand, vyre_value_type type,
                                vyre_spot spot) {
    if (operand->kind == VYRE_OPERAND_VALUE) {
        return true;
    }
    if (operand->kind == VYRE_OPERAND_COMPOSITE) {
        lower_refuse_composite(lower, operand, spot);
    }
    return operand->kind == VYRE_OPERAND_PLAIN && lower_settle_plain(lower, operand, type, spot);
}

/* A component of gid and the like; none is named where it is 3. */
vyre_operand lower_position(vyre_lower *lower, vyre_node node, vyre_op op, uint32_t component);

/* Whether the nodes after `from` up to `to` neither read nor change anything that others see, and
 * surely end: they may run where they are not needed. */
bool lower_runs_anywhere(vyre_lower *lower, uint32_t from, uint32_t to);

/* An index: any integer, a plain number being a u32. */
uint32_t lower_index(vyre_lower *lower, uint32_t node);

/* An operator on two operands; a plain one takes the type of the other. The nodes are the
 * operator's and its operands', for their places. */
vyre_operand lower_binary(vyre_lower *lower, vyre_token_kind operation, vyre_operand left,
                          vyre_operand right, vyre_value_type expected, const uint32_t nodes[3]);
vyre_operand lower_negate(vyre_lower *lower, vyre_token_kind operation, vyre_operand operand,
                          vyre_spot spot);
vyre_operand lower_converted(vyre_lower *lower, vyre_operand operand, vyre_type type,
                             bool is_bitcast, vyre_spot spot);

/* Operations on values, or on bits where a constant is computed. */
vyre_operand lower_constant(vyre_lower *lower, vyre_type type, uint64_t bits);
vyre_operand lower_operation(vyre_lower *lower, vyre_op op, const vyre_operand *operands,
                             uint32_t count, vyre_spot spot);

/* lower_composite.c */

static inline vyre_operand lower_scalar(vyre_value_type type, uint64_t value) {
    return (vyre_operand){.kind = VYRE_OPERAND_VALUE, .type = (uint16_t)type, .value = value};
}

/* A list of leaves under construction: note how many there are, add, make a composite of those
 * beyond. Without memory it is a mistake. */
bool lower_add_leaf(vyre_lower *lower, uint64_t leaf);
vyre_operand lower_composite(vyre_lower *lower, vyre_value_type type, size_t first);

/* A leaf as an operand; a scalar is its own, whichever is asked for. */
vyre_operand lower_leaf(const vyre_lower *lower, vyre_operand operand, uint32_t leaf);

/* A leaf of what a binding, place or operand of that type has as its handle. */
static inline uint32_t lower_leaf_handle(const vyre_lower *lower, vyre_value_type type,
                                         uint32_t handle, uint32_t leaf) {
    return vyre_type_is_scalar(type) ? handle : (uint32_t)lower->leaves.items[handle + leaf];
}

/* Pushes all leaves of an operand onto `values`; of a mistake as many as the type has. */
bool lower_push_operand(vyre_lower *lower, vyre_operand operand, vyre_value_type type);

/* The operand whose leaves stand in `values` from `first` on. */
vyre_operand lower_gather(vyre_lower *lower, vyre_value_type type, size_t first);

/* vec3<f32>(...) and vec3(...), where the arguments tell the type; Particle(...); and T(...), where
 * T is a type parameter. */
vyre_operand lower_construct(vyre_lower *lower, vyre_node node);
vyre_operand lower_construct_any(vyre_lower *lower, vyre_node call, uint32_t count,
                                 vyre_value_type expected);
vyre_operand lower_construct_struct(vyre_lower *lower, vyre_node call, vyre_value_type type);

/* A vector seen as one of other scalars. */
vyre_operand lower_convert_each(vyre_lower *lower, vyre_operand operand, vyre_type type,
                                bool is_bitcast, vyre_spot spot);

/* "p.mass": a leaf of a variable or array as people see it. */
const char *lower_leaf_name(const vyre_lower *lower, const char *name, vyre_value_type type,
                            uint32_t leaf, vyre_name_text *out);

/* lower_vector.c */

/* Operators of which an operand is a composite. */
vyre_operand lower_vector_binary(vyre_lower *lower, vyre_token_kind operation, vyre_operand left,
                                 vyre_operand right, vyre_value_type expected,
                                 const uint32_t nodes[3]);
vyre_operand lower_vector_unary(vyre_lower *lower, vyre_token_kind operation, vyre_operand operand,
                                vyre_spot spot);

/* Applies something to scalars, component by component, where operands are vectors; a scalar among
 * them goes with each. */
typedef vyre_operand lower_each_function(vyre_lower *lower, const void *context,
                                         const vyre_operand *operands, vyre_spot spot);
vyre_operand lower_each(vyre_lower *lower, const vyre_operand *operands, uint32_t count,
                        const char *name, vyre_spot spot, lower_each_function *apply,
                        const void *context);

/* Lowers operands that have one type, or vectors of it. Plain ones take the type of the others, or
 * the one that is asked for. False after a report. */
bool lower_alike(vyre_lower *lower, vyre_node call, uint32_t count, vyre_type asked,
                 vyre_operand *operands);

/* dot, cross, length, normalize, any, all, vec2, vec3, vec4. */
vyre_operand lower_vector_call(vyre_lower *lower, vyre_node node, vyre_context_word word,
                               vyre_value_type expected);

/* lower_small.c */

/* A call of a function of class VYRE_WORD_FUNCTION. */
vyre_operand lower_small(vyre_lower *lower, vyre_node call, const vyre_word *word,
                         vyre_value_type expected);

/* lower_place.c */

/* What a NAME, ELEMENT, or a FIELD of either, stands for, as something to be written. */
vyre_text_place lower_writable(vyre_lower *lower, uint32_t number);
vyre_operand lower_read(vyre_lower *lower, const vyre_text_place *place);
void lower_write(vyre_lower *lower, const vyre_text_place *place, vyre_operand value);

/* A FIELD as a value. */
vyre_operand lower_field(vyre_lower *lower, uint32_t number);

/* An ELEMENT, or a FIELD of one, of which only the index is computed; without a kind after a
 * report. */
vyre_text_place lower_element_place(vyre_lower *lower, uint32_t number, bool is_written);

/* Variables for all leaves of a first value, and arrays for those of an element; false after a
 * report. The size of a scratch array is used, and copied as needed. */
bool lower_variable(vyre_lower *lower, const char *name, vyre_operand first, uint32_t *out_handle);
typedef struct vyre_array_declaration {
    uint8_t kind; /* vyre_resource_kind */
    vyre_value_type type;
    const char *name;
    uint32_t length, size; /* of scratch arrays a size */
} vyre_array_declaration;
bool lower_declare_array(vyre_lower *lower, const vyre_array_declaration *array,
                         uint32_t *out_handle);

void lower_assign(vyre_lower *lower, uint32_t number);
void lower_assign_list(vyre_lower *lower, vyre_node node);

/* lower_call.c */

/* A call where a value is asked for. */
vyre_operand lower_call(vyre_lower *lower, uint32_t number, vyre_value_type expected);

/* Whether a call has so many operands; reports if not. */
bool lower_check_count(vyre_lower *lower, vyre_node call, const char *name, uint32_t wanted);

/* A call for its effects alone. */
void lower_call_statement(vyre_lower *lower, uint32_t number);

/* What a CALL or LIBRARY_CALL calls; without a unit, after a report, if that is no function. */
vyre_callee lower_callee(vyre_lower *lower, vyre_node node);

/* Lowers all arguments of a call for the mistakes that are in them. */
vyre_operand lower_look_through(vyre_lower *lower, vyre_node call);

/* What gives several values: a call, or a LIST. So many go to the end of `operands`, mistakes if it
 * gives another number. */
void lower_several(vyre_lower *lower, uint32_t number, uint32_t count);

/* lower_function.c */

/* Collects what is to be known about a function before it is used. */
void lower_survey(vyre_lower *lower, uint32_t number);
/* The parameter that an ARGUMENT declares. */
vyre_lower_parameter lower_parameter(const vyre_lower *lower, uint32_t number);
/* Whether a function, or what a symbol calls, only computes. */
bool lower_is_pure(const vyre_unit *unit, uint32_t number, uint32_t depth);
bool lower_call_is_pure(const vyre_unit *unit, uint32_t symbol, uint32_t depth);

static inline vyre_function *lower_function_of(vyre_callee callee) {
    return &callee.unit->functions.items[callee.unit->items.items[callee.item].index];
}

/* Inlines what a CALL calls; `expected` is what its place asks for. The scalars of its results are
 * pushed onto `values`, VYRE_NONE where something is wrong; their types are the function's. Gives
 * what was called: of a generic function the instance, without a unit if there is none. */
vyre_callee lower_inline(vyre_lower *lower, vyre_callee callee, uint32_t call,
                         vyre_value_type expected);

/* The same with arguments that stand in `values` from `arguments` on: a shape for each, then what
 * they are. They fit. */
void lower_inline_values(vyre_lower *lower, vyre_callee callee, size_t arguments, vyre_spot call);

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

/* A CHOICE, which gives one value. */
vyre_operand lower_choice(vyre_lower *lower, vyre_node node, vyre_value_type expected);
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
/* Whether it is a number, which it then gives. */
bool lower_size_is_number(const vyre_lower *lower, uint32_t size, uint64_t *out_number);
uint32_t lower_size_value(vyre_lower *lower, uint32_t size, vyre_type type);

/* Whether all that an expression names is known when the file is read. */
bool lower_is_constant(vyre_lower *lower, uint32_t node);
vyre_operand lower_evaluate(vyre_lower *lower, uint32_t node, vyre_value_type expected);

/* A constant number from 1 to `most`, 0 for a mistake; `what` says what it is for. */
uint32_t lower_count(vyre_lower *lower, uint32_t node, uint32_t most, uint32_t code,
                     const char *what);

/* The value of a constant of the file, computed if it was not yet; POISON of an array. */
vyre_operand lower_constant_item(vyre_lower *lower, uint32_t number);
/* Gives the value of a constant, or of an element of one, the type it was declared with. */
void lower_settle_constant(vyre_lower *lower, vyre_operand *value, vyre_type type, vyre_spot spot);

/* lower_program.c */

/* Builds the program that an item is. */
vyre_program *lower_program_item(vyre_lower *lower, uint32_t item);

void lower_step(vyre_lower *lower, uint32_t number);
void lower_phase(vyre_lower *lower, vyre_node node);

/* lower_struct.c */

/* Enters a struct by its name; its fields are read when all are known. 0 if there are too many. */
vyre_value_type lower_declare_struct(vyre_lower *lower, uint32_t item, const vyre_token *name);
void lower_read_structs(vyre_lower *lower);

/* lower_variant.c */

/* Chooses the entry of an operation for the devices that the program is for. */
void lower_choose_entry(vyre_lower *lower, vyre_library_source *source);
/* Builds a program again for each kind of device that an operation it calls has a variant for. */
void lower_variants(vyre_lower *lower, uint32_t item, vyre_program *program);

/* lower_use.c */

/* Finds the files of the current unit and what each of them sees; its items come next. */
void lower_read_uses(vyre_lower *lower);
/* Reports lines that name no dialect or operation. */
void lower_check_uses(vyre_lower *lower);
/* The file that declares a name, but is not visible from here; NULL if there is none. */
const char *lower_hidden_in(const vyre_lower *lower, vyre_str name);
/* Adds the names that a line may call operations by. */
void lower_near_used(const vyre_lower *lower, uint32_t line, vyre_near *near);
/* Adds the types that a call states to the id of an operation; false if one is wrong. */
bool lower_add_types(vyre_lower *lower, vyre_node call, vyre_name_text *id);
/* Whether a CALL of a name that nothing declares is that of an operation, whose id it gives; "" if
 * it could be several, as was reported. */
bool lower_used_id(vyre_lower *lower, vyre_node call, vyre_name_text *out);

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
    uint32_t names_frame, function, instance;
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
/* The same by its id, which may differ from what the text calls it. */
vyre_callee lower_operation_by_id(vyre_lower *lower, vyre_node call, const char *id,
                                  vyre_library_form form);

/* Enters the library unless the parse has; false after a report. */
bool lower_enter_library(vyre_lower *lower, vyre_spot spot, vyre_str id);

/* The entry of a text, which is read if it was not yet; without a unit after a report. */
vyre_callee lower_entry_of(vyre_lower *lower, vyre_node call, const vyre_library_source *source);

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
