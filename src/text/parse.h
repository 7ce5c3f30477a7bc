/* What the files of the parser share: looking at tokens, making nodes, reporting. */
#ifndef VYRE_TEXT_PARSE_H
#define VYRE_TEXT_PARSE_H

#include "text/parser.h"

/* Ends everything: no memory. */
void parse_stop(vyre_parser *parser);

static inline void parse_advance(vyre_parser *parser) {
    vyre_token *token = &parser->state.token;
    parser->state.after.line = token->line;
    parser->state.after.column = token->column + token->length;
    parser->broken |= token->malformed;
    vyre_lexer_next(&parser->state.lexer, token);
    if (token->malformed) {
        parser->quiet = parser->failed = true;
    }
}

static inline bool parse_at(const vyre_parser *parser, vyre_token_kind kind) {
    return parser->state.token.kind == kind;
}

/* Whether the next token is that word, which is a name anywhere else. */
static inline bool parse_at_word(const vyre_parser *parser, vyre_context_word word) {
    const vyre_token *token = &parser->state.token;
    return token->kind == VYRE_TOKEN_NAME &&
           parser->names->symbols.items[token->symbol].word == word;
}

/* Whether an item starts here, or the text ends: nothing of the item before may go further. */
bool parse_at_item(const vyre_parser *parser);

static inline bool parse_take(vyre_parser *parser, vyre_token_kind kind) {
    if (!parse_at(parser, kind)) {
        return false;
    }
    parse_advance(parser);
    return true;
}

/* Takes the token or reports that it is missing. `fix` may be NULL: to write it. */
bool parse_missing(vyre_parser *parser, vyre_token_kind kind, const char *fix);

static inline bool parse_expect(vyre_parser *parser, vyre_token_kind kind, const char *fix) {
    if (parser->lost || !parse_at(parser, kind)) {
        return parse_missing(parser, kind, fix);
    }
    parse_advance(parser);
    return true;
}

/* The token after the next one. */
vyre_token parse_peek(const vyre_parser *parser);

/* Reports unless a mistake of this statement was reported before; a statement is not worth more. */
void parse_error(vyre_parser *parser, vyre_spot spot, uint32_t code, const char *fix,
                 const char *format, ...) VYRE_PRINTF(5, 6);

/* "expected WHAT, found ..." at the next token. */
void parse_unexpected(vyre_parser *parser, const char *what, const char *fix);

/* A node at a place; node 0 is an ERROR and stands in where there is no memory. */
static inline uint32_t parse_node(vyre_parser *parser, vyre_node_kind kind, vyre_spot spot,
                                  uint32_t detail, uint32_t a, uint32_t b) {
    if (!vyre_vec_reserve(&parser->syntax.nodes, 1)) {
        parse_stop(parser);
        return 0;
    }
    uint32_t number = (uint32_t)parser->syntax.nodes.count++;
    parser->syntax.nodes.items[number] =
        (vyre_node){(uint8_t)kind, (uint16_t)detail, spot.line, spot.column, spot.length, a, b};
    return number;
}

/* Lists: note how many are pending, push, then make a list of those beyond. */
void parse_push(vyre_parser *parser, uint32_t word);
uint32_t parse_list(vyre_parser *parser, size_t pending);

/* expression { "," expression } */
uint32_t parse_expressions(vyre_parser *parser);

/* { "[" expression "]" }, at most VYRE_MOST_DIMENSIONS; VYRE_NONE without a bracket. */
uint32_t parse_lengths(vyre_parser *parser);
/* The product of such a list as one expression, VYRE_NONE of none. */
uint32_t parse_product(vyre_parser *parser, uint32_t lengths);

/* Words that stand at a node without a count. */
uint32_t parse_parts(vyre_parser *parser, const uint32_t *words, uint32_t count);

/* A name that is being declared, as NAME; reports reserved ones. */
uint32_t parse_name(vyre_parser *parser, const char *what);

/* What to write for a word or mark of other languages, NULL for a token that is none: a name that
 * is declared is its own. */
const char *parse_foreign(const vyre_parser *parser, vyre_token token);

static inline vyre_str parse_text(const vyre_parser *parser, vyre_token token) {
    return (vyre_str){parser->source->text + token.offset, token.length};
}

/* Whether a symbol is a type parameter: a type that is no item. */
static inline bool parse_is_parameter(const vyre_parser *parser, uint32_t symbol) {
    const vyre_symbol *row = &parser->names->symbols.items[symbol];
    return row->type && row->item == VYRE_NONE;
}

/* A type, VYRE_TYPE_VOID if there is none. */
vyre_value_type parse_type(vyre_parser *parser);

/* Whether sum<f32>, the type of a sum, starts here; reads it and gives the type inside of it. */
bool parse_at_sum(const vyre_parser *parser);
vyre_value_type parse_sum(vyre_parser *parser);

/* The components of what `vec2`, `vec3` and `vec4` name, 0 for another token with a symbol. */
uint32_t parse_vector_count(const vyre_names *names, const vyre_token *token);

/* The `>` behind a type, which may be the first half of `>>`. */
bool parse_close_angle(vyre_parser *parser);

/* parse_generic.c */

/* [ "<" NAME [ ":" bound ] { "," ... } ">" ] behind the name of an item, as a list; VYRE_NONE if it
 * has none. From here on the names are types. */
uint32_t parse_type_parameters(vyre_parser *parser);

/* Whether types, not type parameters, stand in angle brackets behind the name of a program: the
 * token at hand is the bracket, and the lexer is behind it. */
bool parse_at_stated_types(const vyre_names *names, vyre_token token, vyre_lexer ahead);

/* Types in angle brackets behind the name of something that is called. */
typedef struct vyre_type_list {
    uint32_t types[VYRE_MOST_TYPE_PARAMETERS];
    uint32_t count;
} vyre_type_list;

/* Whether such a list follows a name, or a dotted one that starts with it. */
bool parse_at_type_arguments(const vyre_parser *parser, uint32_t symbol, bool dotted);
void parse_type_arguments(vyre_parser *parser, vyre_type_list *out_types);

/* A name with its call, index, fields: a primary expression. */
uint32_t parse_named(vyre_parser *parser);

/* An expression inside of another, and fields behind an operand. */
uint32_t parse_nested(vyre_parser *parser);
uint32_t parse_fields(vyre_parser *parser, uint32_t operand);

/* Whether the `if` at hand only has values in its branches, no statements. */
bool parse_at_choice(const vyre_parser *parser);

/* Whether `match`, which may be a name, starts one here: no, with statements in its cases, or with
 * values alone. */
typedef enum vyre_match_form {
    VYRE_MATCH_NONE,
    VYRE_MATCH_STATEMENTS,
    VYRE_MATCH_VALUES
} vyre_match_form;
vyre_match_form parse_at_match(vyre_parser *parser);

/* The head of a `match`, a case of one that is open, and a whole one with values. */
uint32_t parse_match(vyre_parser *parser, uint32_t results);
uint32_t parse_case(vyre_parser *parser);
uint32_t parse_match_value(vyre_parser *parser);

/* One level of an expression more; false, after a report, if there are too many. */
bool parse_go_deeper(vyre_parser *parser);

/* "{" expression "}" */
uint32_t parse_branch(vyre_parser *parser);

/* The rest of an expression whose first operand has been read. */
uint32_t parse_rest(vyre_parser *parser, uint32_t left);

/* parse_view.c */

/* Whether a view is declared here; all of it but the semicolon; and a report where it cannot be. */
bool parse_at_view(const vyre_parser *parser);
uint32_t parse_view(vyre_parser *parser, vyre_spot spot);
uint32_t parse_stray_view(vyre_parser *parser);

/* An argument of a program or function; a view is declared like one. */
uint32_t parse_argument(vyre_parser *parser, const char *what, bool of_program);

/* Heads of phases and bodies, shared by items and steps. */
uint32_t parse_phase(vyre_parser *parser, uint32_t name);
bool parse_open(vyre_parser *parser, vyre_node_kind kind, vyre_semicolon semicolon);

/* `shared` and `scratch` arrays. */
uint32_t parse_array(vyre_parser *parser, vyre_node_kind kind, const char *what);

/* Statement and step of the innermost block. */
uint32_t parse_statement(vyre_parser *parser);
uint32_t parse_step(vyre_parser *parser);

/* A block that gives values where it may not stand: reports and skips it. */
void parse_skip_values(vyre_parser *parser);

/* Skips the rest of a statement with its blocks, of which so many are open. */
void parse_skip_blocks(vyre_parser *parser, uint32_t open);

/* Skips a block, from its brace to the one that closes it. */
void parse_skip_block(vyre_parser *parser);

/* After a mistake: skips the rest of a statement, or its first token with it; gives an ERROR. */
void parse_recover(vyre_parser *parser);
uint32_t parse_skip(vyre_parser *parser);

/* After a mistake in a head: skips to its block; false if there seems to be none. */
bool parse_recover_block(vyre_parser *parser);

#endif
