/* Parser: tokens into statements, handed out one at a time.
 *
 *     vyre_parser_open(&parser, place);
 *     uint32_t item = vyre_parse_item(&parser);
 *     for (uint32_t node; (node = vyre_parse_next(&parser)) != VYRE_NONE;) { ... }
 *
 * A statement that holds a block comes as its head; the statements of the block follow, then an
 * END. `else` comes as ELSE between them. Whatever is wrong in the text, heads and ENDs always
 * match. The nodes of a statement live until the next call, so that memory does not grow with the
 * text.
 *
 * The parser can be put anywhere: whoever inlines a function copies the state, opens the function's
 * body and restores afterwards; the nodes of the outer statement stay untouched. */
#ifndef VYRE_TEXT_PARSER_H
#define VYRE_TEXT_PARSER_H

#include "text/lexer.h"
#include "text/syntax.h"
#include "text/type.h"

/* What stands behind the brace that closes a block: nothing, one if the author likes (a block that
 * could give values but names none), or one in any case. */
typedef enum vyre_semicolon {
    VYRE_SEMICOLON_NONE,
    VYRE_SEMICOLON_ALLOWED,
    VYRE_SEMICOLON_NEEDED
} vyre_semicolon;

/* A string where none can be. */
#define VYRE_STRING_MISTAKE "a text can only be shown, by `print` and `assert`"
#define VYRE_STRING_FIX "remove it, or write print(\"...\"); a character is written as 'a'"

typedef struct vyre_open_block {
    uint8_t kind;      /* vyre_node_kind of its head */
    bool results;      /* an `if` whose branches give values */
    uint8_t semicolon; /* behind the brace: vyre_semicolon */
    bool chained;      /* ends with the block inside it: `else if`, or a program over a domain */
    bool started;      /* that block has been opened */
    bool complained;   /* one mistake of its kind is enough */
    bool has_else;     /* a `match` whose last case has come */
    bool has_case;     /* and any */
    uint32_t line;     /* of the brace */
} vyre_open_block;

typedef struct vyre_parser_state {
    vyre_lexer lexer;
    vyre_token token; /* the next one */
    struct {
        uint32_t line, column;
    } after;             /* right behind the one before */
    size_t base;         /* blocks of others below */
    size_t nodes, words; /* nodes of others below */
} vyre_parser_state;

typedef struct vyre_parser {
    vyre_source *source;
    vyre_names *names;
    vyre_syntax syntax;
    vyre_parser_state state;
    VYRE_VEC(vyre_open_block) blocks;
    VYRE_VEC(uint32_t) pending; /* lists under construction */
    uint32_t depth;             /* of the expression */
    uint32_t choices;           /* `if`s with values that the expression is inside of */
    uint32_t branches;          /* their braces that are open */
    bool quiet;                 /* a mistake of this statement has been reported */
    bool lost;                  /* the tokens are not those that were expected */
    bool broken;                /* the text of this statement is wrong: its parts mean little */
    bool failed;                /* there was one in this item */
    bool blind;                 /* local declarations are not known while the text is surveyed */
    uint32_t types[VYRE_MOST_TYPE_PARAMETERS]; /* symbols that stand for themselves in the item */
    uint32_t type_count;
} vyre_parser;

void vyre_parser_init(vyre_parser *parser, vyre_source *source, vyre_names *names);
void vyre_parser_deinit(vyre_parser *parser);

/* Puts the parser somewhere, keeping what it has; and back to a `state` that was copied before. */
void vyre_parser_open(vyre_parser *parser, const vyre_lexer *place);
void vyre_parser_restore(vyre_parser *parser, const vyre_parser_state *state);

/* A place in front of the next token, to come back to. */
vyre_lexer vyre_parser_here(const vyre_parser *parser);

/* The item that starts here: PROGRAM, FUNCTION, CONSTANT, STRUCT, or ERROR, which has no block. */
uint32_t vyre_parse_item(vyre_parser *parser);

/* Ends what type parameters of the item stand for, unless they were bound to types before. */
void vyre_parser_forget_types(vyre_parser *parser);

/* Opens the block of a function without its head. */
void vyre_parse_body(vyre_parser *parser);

/* The next statement of the item, VYRE_NONE at its end. */
uint32_t vyre_parse_next(vyre_parser *parser);

/* Reports what stands here unless another item starts, or the text ends. */
void vyre_parser_end(vyre_parser *parser);

/* An expression that stands alone, such as a constant's. */
uint32_t vyre_parse_expression(vyre_parser *parser);

static inline vyre_node vyre_parser_node(const vyre_parser *parser, uint32_t node) {
    return parser->syntax.nodes.items[node];
}

/* The length of a list, 0 for none, and its members. */
static inline uint32_t vyre_parser_count(const vyre_parser *parser, uint32_t list) {
    return list == VYRE_NONE ? 0 : parser->syntax.words.items[list];
}
static inline uint32_t vyre_parser_item(const vyre_parser *parser, uint32_t list, uint32_t index) {
    return parser->syntax.words.items[list + 1 + index];
}
static inline uint32_t vyre_parser_part(const vyre_parser *parser, uint32_t parts, uint32_t part) {
    return parser->syntax.words.items[parts + part];
}

#endif
