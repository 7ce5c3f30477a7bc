#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "text/foreign.h"
#include "text/parse.h"

bool parse_open(vyre_parser *parser, vyre_node_kind kind, vyre_semicolon semicolon) {
    if (!parser->lost && !parse_at(parser, VYRE_TOKEN_LEFT_BRACE)) {
        parse_unexpected(parser, "`{`", "write the statements of the block in braces");
    }
    if (parser->lost && !parse_recover_block(parser)) {
        return false;
    }
    uint32_t line = parser->state.token.line;
    if (parser->blocks.count - parser->state.base > VYRE_LIMIT_NESTING) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 701,
                    "move inner blocks into functions", "blocks are nested deeper than %d levels",
                    VYRE_LIMIT_NESTING);
        parse_skip_block(parser);
        while (kind == VYRE_NODE_IF && parse_take(parser, VYRE_TOKEN_ELSE)) {
            parse_take(parser, VYRE_TOKEN_IF);
            if (!parse_recover_block(parser)) {
                return false;
            }
            parse_skip_block(parser);
        }
        if (semicolon != VYRE_SEMICOLON_NONE) {
            parse_take(parser, VYRE_TOKEN_SEMICOLON);
        }
        return false;
    }
    vyre_open_block block = {.kind = (uint8_t)kind, .semicolon = (uint8_t)semicolon, .line = line};
    if (!vyre_vec_push(&parser->blocks, block)) {
        parse_stop(parser);
        return false;
    }
    parse_advance(parser);
    return true;
}

/* The end of a simple statement. */
static void parse_semicolon(vyre_parser *parser) {
    if (!parser->lost && !parse_at(parser, VYRE_TOKEN_SEMICOLON)) {
        parse_expect(parser, VYRE_TOKEN_SEMICOLON,
                     parse_at(parser, VYRE_TOKEN_COMMA)
                         ? "end the statement with `;`, and give each name a statement of its own"
                         : "end the statement with `;`");
        if (parser->state.token.line > parser->state.after.line) {
            return; /* nothing else is wrong: the next line is a statement of its own */
        }
    }
    if (parser->lost && parse_at(parser, VYRE_TOKEN_IF)) {
        parse_advance(parser); /* a choice as Python writes it */
    }
    if (parser->lost) {
        parse_recover(parser);
    } else {
        parse_advance(parser);
    }
}

/* NAME [ ":" type ], for what `let` declares. */
static uint32_t parse_typed_name(vyre_parser *parser, const char *what) {
    uint32_t name = parse_name(parser, what);
    if (!parser->lost && parse_take(parser, VYRE_TOKEN_COLON)) {
        parser->syntax.nodes.items[name].detail = (uint16_t)parse_type(parser);
    }
    return name;
}

/* "(" NAME [ ":" type ] "=" expression { "," ... } ")" */
static uint32_t parse_carried(vyre_parser *parser) {
    size_t pending = parser->pending.count;
    parse_expect(parser, VYRE_TOKEN_LEFT_PAREN, "list the carried values, as in (sum = 0.0f)");
    while (!parser->lost && !parse_at(parser, VYRE_TOKEN_RIGHT_PAREN)) {
        parse_push(parser, parse_typed_name(parser, "a carried value"));
        parse_expect(parser, VYRE_TOKEN_ASSIGN, "give the carried value an initial value");
        parse_push(parser, parser->lost ? 0 : vyre_parse_expression(parser));
        if (!parse_take(parser, VYRE_TOKEN_COMMA)) {
            break;
        }
    }
    parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN, NULL);
    return parse_list(parser, pending);
}

/* Opens a head's block, or gives an ERROR if there is none. */
static uint32_t open_head(vyre_parser *parser, vyre_node_kind kind, uint32_t node,
                          vyre_semicolon semicolon) {
    return parse_open(parser, kind, semicolon) ? node : 0;
}

static vyre_semicolon semicolon_of(uint32_t results) {
    return results == VYRE_NONE ? VYRE_SEMICOLON_ALLOWED : VYRE_SEMICOLON_NEEDED;
}

static uint32_t parse_if(vyre_parser *parser, uint32_t results) {
    /* Behind `else` the values go where the outer ones go. */
    const vyre_open_block *outer = &parser->blocks.items[parser->blocks.count - 1];
    bool chained = outer->kind == VYRE_NODE_ELSE && outer->chained;
    bool gives = results != VYRE_NONE || (chained && outer->results);
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    parse_advance(parser);
    uint32_t condition = vyre_parse_expression(parser);
    if (!parser->lost && parse_at(parser, VYRE_TOKEN_ASSIGN)) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 102,
                    "compare with ==", "expected `{` after the condition, found `=`");
        parser->lost = true;
        condition = 0;
    }
    uint32_t node = parse_node(parser, VYRE_NODE_IF, spot, chained, condition, results);
    if (!parse_open(parser, VYRE_NODE_IF,
                    results == VYRE_NONE ? VYRE_SEMICOLON_NONE : VYRE_SEMICOLON_NEEDED)) {
        return 0;
    }
    parser->blocks.items[parser->blocks.count - 1].results = gives;
    return node;
}

/* for (i = 0; i < n; i++) of other languages: what would be the counter's name is kept. */
static uint32_t skip_foreign_for(vyre_parser *parser, uint32_t name) {
    parse_unexpected(parser, name ? "`in`" : "the name of a counter",
                     "write `for i in 0..n { ... }`");
    bool named = false;
    while (!parse_at(parser, VYRE_TOKEN_LEFT_BRACE) && !parse_at(parser, VYRE_TOKEN_RIGHT_BRACE) &&
           !parse_at_item(parser)) {
        const vyre_token *token = &parser->state.token;
        named |= token->kind == VYRE_TOKEN_ASSIGN;
        if (!named && token->kind == VYRE_TOKEN_NAME) {
            name = parse_node(parser, VYRE_NODE_NAME, vyre_token_spot(token), 0, token->symbol, 0);
        }
        parse_advance(parser);
    }
    return name;
}

static uint32_t parse_for(vyre_parser *parser, uint32_t results) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    parse_advance(parser);
    uint32_t parts[VYRE_FOR_PARTS] = {0, 0, 0, VYRE_NONE, VYRE_NONE};
    if (parse_at(parser, VYRE_TOKEN_LEFT_PAREN)) {
        parts[VYRE_FOR_NAME] = skip_foreign_for(parser, 0);
    } else {
        parts[VYRE_FOR_NAME] = parse_name(parser, "a counter");
    }
    if (parse_at(parser, VYRE_TOKEN_ASSIGN)) {
        skip_foreign_for(parser, parts[VYRE_FOR_NAME]);
    }
    parse_expect(parser, VYRE_TOKEN_IN, "write `for i in 0..n { ... }`");
    if (!parser->lost) {
        parts[VYRE_FOR_FIRST] = vyre_parse_expression(parser);
        parse_expect(parser, VYRE_TOKEN_RANGE, "write the range as first..end, as in 0..n");
    }
    if (!parser->lost) {
        parts[VYRE_FOR_END] = vyre_parse_expression(parser);
    }
    if (!parser->lost && parse_at_word(parser, VYRE_WORD_STEP)) {
        parse_advance(parser);
        parts[VYRE_FOR_STEP] = vyre_parse_expression(parser);
    }
    if (!parser->lost && parse_take(parser, VYRE_TOKEN_WITH)) {
        parts[VYRE_FOR_CARRIED] = parse_carried(parser);
    }
    vyre_semicolon semicolon = semicolon_of(results);
    uint32_t at = parse_parts(parser, parts, VYRE_FOR_PARTS);
    uint32_t node = parse_node(parser, VYRE_NODE_FOR, spot, 0, at, results);
    return open_head(parser, VYRE_NODE_FOR, node, semicolon);
}

static uint32_t parse_loop(vyre_parser *parser, uint32_t results) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    parse_advance(parser);
    bool carries = parse_at(parser, VYRE_TOKEN_LEFT_PAREN);
    uint32_t carried = carries ? parse_carried(parser) : VYRE_NONE;
    uint32_t node = parse_node(parser, VYRE_NODE_LOOP, spot, 0, carried, results);
    return open_head(parser, VYRE_NODE_LOOP, node, semicolon_of(results));
}

/* A block that gives values, for `let` or alone. */
static uint32_t parse_values(vyre_parser *parser, uint32_t results) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    switch (parser->state.token.kind) {
    case VYRE_TOKEN_IF: return parse_if(parser, results);
    case VYRE_TOKEN_NAME: return parse_match(parser, results);
    case VYRE_TOKEN_FOR: return parse_for(parser, results);
    case VYRE_TOKEN_LOOP: return parse_loop(parser, results);
    default:
        parse_advance(parser);
        return open_head(parser, VYRE_NODE_INLINE,
                         parse_node(parser, VYRE_NODE_INLINE, spot, 0, 0, results),
                         semicolon_of(results));
    }
}

static bool at_values(vyre_parser *parser) {
    return (parse_at(parser, VYRE_TOKEN_IF) && !parse_at_choice(parser)) ||
           parse_at(parser, VYRE_TOKEN_FOR) || parse_at(parser, VYRE_TOKEN_LOOP) ||
           parse_at(parser, VYRE_TOKEN_INLINE) || parse_at_match(parser) == VYRE_MATCH_STATEMENTS;
}

static uint32_t parse_let_list(vyre_parser *parser, vyre_spot spot) {
    size_t pending = parser->pending.count;
    do {
        parse_push(parser, parse_typed_name(parser, "a value"));
    } while (!parser->lost && parse_take(parser, VYRE_TOKEN_COMMA));
    parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN, NULL);
    uint32_t names = parse_list(parser, pending);
    parse_expect(parser, VYRE_TOKEN_ASSIGN, NULL);
    if (!parser->lost &&
        (at_values(parser) || parse_at(parser, VYRE_TOKEN_IF) || parse_at_match(parser))) {
        return parse_values(parser, names);
    }
    uint32_t value = parser->lost ? 0 : vyre_parse_expression(parser);
    uint32_t node = parse_node(parser, VYRE_NODE_LET_LIST, spot, 0, names, value);
    parse_semicolon(parser);
    return node;
}

/* A declaration as other languages write it, after the report: its name counts as declared. */
static uint32_t parse_declared(vyre_parser *parser, vyre_spot spot) {
    uint32_t name = 0;
    for (;; parse_advance(parser)) {
        const vyre_token *token = &parser->state.token;
        if (token->kind == VYRE_TOKEN_NAME) {
            name = parse_node(parser, VYRE_NODE_NAME, vyre_token_spot(token), 0, token->symbol, 0);
        } else if (token->kind != VYRE_TOKEN_TYPE && token->kind != VYRE_TOKEN_STAR) {
            break;
        }
    }
    bool declares = parse_at(parser, VYRE_TOKEN_ASSIGN) || parse_at(parser, VYRE_TOKEN_COLON) ||
                    parse_at(parser, VYRE_TOKEN_LEFT_BRACKET) ||
                    parse_at(parser, VYRE_TOKEN_SEMICOLON) || parse_at(parser, VYRE_TOKEN_COMMA);
    uint32_t node = parse_node(parser, VYRE_NODE_LET, spot, 0, name, 0);
    parse_recover(parser);
    return declares ? node : 0;
}

static uint32_t parse_let(vyre_parser *parser) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    parse_advance(parser);
    if (parse_take(parser, VYRE_TOKEN_LEFT_PAREN)) {
        return parse_let_list(parser, spot);
    }
    if (parse_peek(parser).kind == VYRE_TOKEN_NAME && parse_foreign(parser, parser->state.token)) {
        parse_unexpected(parser, "the name of a value", "write `let name = value;`");
        return parse_declared(parser, spot);
    }
    uint32_t name = parse_typed_name(parser, "a value");
    parse_expect(parser, VYRE_TOKEN_ASSIGN, "a `let` needs a value: `let name = value;`");
    if (!parser->lost && at_values(parser)) {
        size_t pending = parser->pending.count;
        parse_push(parser, name);
        return parse_values(parser, parse_list(parser, pending));
    }
    uint32_t value = parser->lost ? 0 : vyre_parse_expression(parser);
    uint32_t node = parse_node(parser, VYRE_NODE_LET, spot, 0, name, value);
    parse_semicolon(parser);
    return node;
}

/* NAME ":" type { "[" length "]" } behind `shared`, `scratch` or `var`: the number of elements. */
static uint32_t parse_length(vyre_parser *parser, uint32_t name) {
    if (parser->lost || !parse_at(parser, VYRE_TOKEN_LEFT_BRACKET)) {
        parse_missing(parser, VYRE_TOKEN_LEFT_BRACKET,
                      "write the length in brackets, as in u32[256]");
        return 0;
    }
    uint32_t lengths = parse_lengths(parser);
    parser->syntax.nodes.items[name].b = name ? lengths : 0;
    return parser->lost ? 0 : parse_product(parser, lengths);
}

static uint32_t parse_var(vyre_parser *parser) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    parse_advance(parser);
    if (parse_at(parser, VYRE_TOKEN_LEFT_PAREN)) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 102,
                    "give each a `var` of its own, then assign: `(a, b) = (b, a);`",
                    "expected the name of a variable, found `(`");
        parse_advance(parser);
        return parse_let_list(parser, spot);
    }
    uint32_t name = parse_typed_name(parser, "a variable");
    vyre_node_kind kind = VYRE_NODE_VAR;
    uint32_t value = VYRE_NONE;
    if (!parser->lost && parse_at(parser, VYRE_TOKEN_LEFT_BRACKET)) {
        kind = VYRE_NODE_ARRAY;
        value = parse_length(parser, name);
        if (!parser->lost && parse_at(parser, VYRE_TOKEN_ASSIGN)) {
            parse_unexpected(parser, "`;`",
                             "assign to its elements instead; a private array starts as zeros");
        }
    } else if (!parser->lost && parse_take(parser, VYRE_TOKEN_ASSIGN)) {
        value = vyre_parse_expression(parser);
    }
    if (parser->lost && kind == VYRE_NODE_VAR) {
        value = 0;
    }
    uint32_t node = parse_node(parser, kind, spot, 0, name, value);
    if (!parser->lost && kind == VYRE_NODE_VAR && value == VYRE_NONE &&
        !vyre_parser_node(parser, name).detail) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 102,
                    "give it a type or an initial value, as in `var n: u32;` or `var n = 0u;`",
                    "the variable has neither a type nor a value");
    }
    parse_semicolon(parser);
    return node;
}

/* The type of the sums that a scratch array holds. */
static vyre_type parse_sums(vyre_parser *parser) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    vyre_value_type type = parse_sum(parser);
    bool valid = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
    if (!parser->lost && type && !valid) {
        bool is_integer =
            vyre_type_is_scalar(type) && vyre_type_class_of((vyre_type)type) & VYRE_CLASS_INTEGER;
        parse_error(parser, spot, 301,
                    is_integer ? "add integers with atomic_add" : "write sum<f32> or sum<f64>",
                    "only f32 and f64 have sums");
    }
    return valid ? (vyre_type)type : VYRE_TYPE_VOID;
}

/* `shared` and `scratch`. */
uint32_t parse_array(vyre_parser *parser, vyre_node_kind kind, const char *what) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    parse_advance(parser);
    uint32_t name = parse_name(parser, what);
    parse_expect(parser, VYRE_TOKEN_COLON, "write name, type and length, as in `part: u32[256]`");
    bool holds_sums = !parser->lost && kind == VYRE_NODE_SCRATCH && parse_at_sum(parser);
    vyre_type sum = holds_sums ? parse_sums(parser) : VYRE_TYPE_VOID;
    vyre_value_type type = parser->lost || holds_sums ? VYRE_TYPE_VOID : parse_type(parser);
    type = sum ? VYRE_TYPE_I64 : type;
    parser->syntax.nodes.items[name].detail = name ? (uint16_t)type : 0;
    uint32_t length = parser->lost ? 0 : parse_length(parser, name);
    uint32_t node = parse_node(parser, kind, spot, sum, name, length);
    parse_semicolon(parser);
    return node;
}

static uint32_t parse_shared(vyre_parser *parser) {
    const vyre_open_block *block = &parser->blocks.items[parser->blocks.count - 1];
    if (block->kind != VYRE_NODE_PHASE) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 108,
                    "move it to the start of the phase",
                    "a shared array is declared inside an inner block");
        parser->quiet = false; /* its syntax is looked at all the same */
    }
    return parse_array(parser, VYRE_NODE_SHARED, "a shared array");
}

static uint32_t parse_jump(vyre_parser *parser, vyre_node_kind kind) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    parse_advance(parser);
    uint32_t values = parse_at(parser, VYRE_TOKEN_SEMICOLON)
                          ? parse_list(parser, parser->pending.count)
                          : parse_expressions(parser);
    uint32_t node = parse_node(parser, kind, spot, 0, values, 0);
    parse_semicolon(parser);
    return node;
}

/* A statement that starts with a name which nothing sensible follows: a word of other languages, or
 * a keyword misspelt? */
static uint32_t explain_name(vyre_parser *parser, vyre_token first) {
    static const char *const words[] = {"let",      "var",   "shared", "barrier", "if",
                                        "else",     "for",   "while",  "loop",    "break",
                                        "continue", "yield", "return", "inline"};
    vyre_str name = parse_text(parser, first);
    const char *foreign = parse_foreign(parser, first), *type = vyre_foreign_type(name);
    vyre_near near;
    vyre_near_init(&near, name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        vyre_near_add(&near, vyre_str_of(words[i]));
    }
    char fix[96] = "assign to it, or call it with ( )";
    if (type) {
        snprintf(fix, sizeof fix, "declare it with `let name: %s = value;`, or `var` if it changes",
                 type);
    } else if (parse_at(parser, VYRE_TOKEN_COLON)) {
        snprintf(fix, sizeof fix,
                 "only loops have labels: move it in front of a loop, or remove it");
    } else if (near.count) {
        snprintf(fix, sizeof fix, "write `%.*s`", (int)near.names[0].size, near.names[0].data);
    }
    if (foreign) {
        uint32_t word = parser->names->symbols.items[first.symbol].word;
        bool is_ours = word == VYRE_WORD_PRINT || word == VYRE_WORD_ASSERT;
        parse_error(parser, vyre_token_spot(&first), 102, foreign,
                    is_ours ? "`%.*s` is called with ( )" : "there is no `%.*s`", (int)name.size,
                    name.data);
        parser->lost = true;
    } else {
        parse_unexpected(parser, "`=`, `[` or `(` after the name", fix);
    }
    uint32_t node = parse_declared(parser, vyre_token_spot(&first));
    while (foreign && (parse_at(parser, VYRE_TOKEN_ELSE) || parse_at(parser, VYRE_TOKEN_WHILE))) {
        parse_skip(parser); /* of `elif` and `do` */
    }
    return node;
}

/* Whether a word of other languages starts a block here, as in `switch (n) {`. */
static bool at_foreign_block(const vyre_parser *parser) {
    enum { MOST_TOKENS = 64 };
    vyre_lexer ahead = parser->state.lexer;
    const char *at = ahead.at;
    while (at < parser->source->end && *at == ' ') {
        at++;
    }
    if (at == parser->source->end || *at != '(' || !parse_foreign(parser, parser->state.token)) {
        return false;
    }
    vyre_token token;
    uint32_t open = 0;
    for (int i = 0; i < MOST_TOKENS; i++) {
        vyre_lexer_next(&ahead, &token);
        open += token.kind == VYRE_TOKEN_LEFT_PAREN;
        open -= token.kind == VYRE_TOKEN_RIGHT_PAREN;
        if (!open) {
            vyre_lexer_next(&ahead, &token);
            return token.kind == VYRE_TOKEN_LEFT_BRACE;
        }
    }
    return false;
}

/* A value at the end of a function, which other languages take for its result. */
static bool is_return_forgotten(vyre_parser *parser, vyre_token first, vyre_node_kind kind) {
    const vyre_open_block *block = &parser->blocks.items[parser->blocks.count - 1];
    bool is_call = kind == VYRE_NODE_CALL || kind == VYRE_NODE_LIBRARY_CALL;
    if (parser->lost || !parse_at(parser, VYRE_TOKEN_RIGHT_BRACE) ||
        block->kind != VYRE_NODE_FUNCTION || is_call) {
        return false;
    }
    parse_error(parser, vyre_token_spot(&first), 107, "write `return value;`",
                "a function gives its value with `return`");
    return true;
}

/* Whether something may be a place; reports if not. */
static bool check_place(vyre_parser *parser, uint32_t node, vyre_spot spot) {
    vyre_node_kind kind = vyre_parser_node(parser, node).kind;
    bool valid = kind == VYRE_NODE_NAME || kind == VYRE_NODE_ELEMENT || kind == VYRE_NODE_FIELD;
    if (!valid) {
        parse_error(parser, spot, 102, "assign to a variable or to an element of an array",
                    "the left side cannot be assigned to");
    }
    return valid;
}

/* The values of the branch that ends here, without `yield`. */
static uint32_t parse_last_values(vyre_parser *parser, uint32_t value, vyre_spot spot) {
    size_t pending = parser->pending.count;
    parse_push(parser, value);
    while (!parser->lost && parse_take(parser, VYRE_TOKEN_COMMA)) {
        parse_push(parser, vyre_parse_expression(parser));
    }
    uint32_t node = parse_node(parser, VYRE_NODE_YIELD, spot, 0, parse_list(parser, pending), 0);
    if (!parser->lost && !parse_at(parser, VYRE_TOKEN_RIGHT_BRACE)) {
        parse_unexpected(parser, "`}` after the values of the branch",
                         "write `yield` in front of them, or nothing behind them");
    }
    if (parser->lost) {
        parse_recover(parser);
    }
    return node;
}

/* Whether the values of a branch may stand here, and what follows says that they do. */
static bool at_last_values(const vyre_parser *parser) {
    const vyre_open_block *block = &parser->blocks.items[parser->blocks.count - 1];
    return !parser->lost && block->results &&
           (parse_at(parser, VYRE_TOKEN_RIGHT_BRACE) || parse_at(parser, VYRE_TOKEN_COMMA));
}

/* An assignment or a call, behind what it starts with; anything else that starts like an expression
 * does nothing. */
static uint32_t parse_other_from(vyre_parser *parser, vyre_token first, uint32_t place) {
    const vyre_open_block *block = &parser->blocks.items[parser->blocks.count - 1];
    vyre_token token = parser->state.token;
    bool assigns = token.kind >= VYRE_TOKEN_ASSIGN && token.kind <= VYRE_TOKEN_ASSIGN_SHIFT_RIGHT;
    if (block->results && !parser->lost && !assigns) {
        place = parse_rest(parser, place);
        if (at_last_values(parser)) {
            return parse_last_values(parser, place, vyre_token_spot(&first));
        }
        token = parser->state.token;
    }
    uint32_t node = 0;
    vyre_node_kind kind = vyre_parser_node(parser, place).kind;
    if (parser->lost) {
        /* nothing more to say */
    } else if (assigns) {
        check_place(parser, place, vyre_token_spot(&first));
        parse_advance(parser);
        uint32_t value = vyre_parse_expression(parser);
        node =
            parse_node(parser, VYRE_NODE_ASSIGN, vyre_token_spot(&token), token.kind, place, value);
    } else if (kind == VYRE_NODE_CALL || kind == VYRE_NODE_LIBRARY_CALL) {
        if (!parse_at(parser, VYRE_TOKEN_SEMICOLON)) {
            place = parse_rest(parser, place);
            kind = vyre_parser_node(parser, place).kind;
        }
        if (is_return_forgotten(parser, first, kind)) {
            return 0;
        }
        node = parse_node(parser, VYRE_NODE_EVALUATE, vyre_token_spot(&first), 0, place, 0);
        if (kind == VYRE_NODE_BINARY) {
            parse_error(parser, vyre_token_spot(&first), 107,
                        "use the value, as in `let name = ...;`, or remove the statement",
                        "the statement computes a value that is not used");
        }
    } else if ((token.kind == VYRE_TOKEN_PLUS || token.kind == VYRE_TOKEN_MINUS) &&
               parse_peek(parser).kind == token.kind) {
        parse_error(parser, vyre_token_spot(&token), 102,
                    token.kind == VYRE_TOKEN_PLUS ? "write `+= 1`" : "write `-= 1`",
                    "there is no operator `%s%s`", vyre_token_text(token.kind),
                    vyre_token_text(token.kind));
        parser->lost = true;
    } else if (first.kind == VYRE_TOKEN_NAME && kind == VYRE_NODE_NAME &&
               (token.kind == VYRE_TOKEN_NAME || token.kind == VYRE_TOKEN_NUMBER ||
                token.kind == VYRE_TOKEN_TYPE || token.kind == VYRE_TOKEN_LEFT_BRACE ||
                token.kind == VYRE_TOKEN_COLON || parse_foreign(parser, first))) {
        return explain_name(parser, first);
    } else if (kind == VYRE_NODE_NAME && token.kind == VYRE_TOKEN_COMMA) {
        parse_unexpected(parser, "`=`, `[` or `(` after the name",
                         "write several places in parentheses, as in `(a, b) = (b, a);`");
    } else {
        place = parse_rest(parser, place);
        if (is_return_forgotten(parser, first, VYRE_NODE_NAME)) {
            return 0;
        }
        parse_error(parser, vyre_token_spot(&first), 107,
                    "use the value, as in `let name = ...;`, or remove the statement",
                    "the statement computes a value that is not used");
    }
    parse_semicolon(parser);
    return node;
}

static uint32_t parse_other(vyre_parser *parser) {
    vyre_token first = parser->state.token;
    if (first.kind == VYRE_TOKEN_NAME && at_foreign_block(parser)) {
        parse_advance(parser);
        return explain_name(parser, first);
    }
    uint32_t place =
        first.kind == VYRE_TOKEN_NAME ? parse_named(parser) : vyre_parse_expression(parser);
    return parse_other_from(parser, first, place);
}

/* Behind the first of several places: { "," place } ")" "=" ( call | "(" list ")" ) ";" */
static uint32_t parse_assign_list(vyre_parser *parser, uint32_t first) {
    size_t pending = parser->pending.count;
    parse_push(parser, first);
    while (!parser->lost && parse_take(parser, VYRE_TOKEN_COMMA)) {
        parse_push(parser, parse_nested(parser));
    }
    for (size_t i = pending; i < parser->pending.count && !parser->lost; i++) {
        vyre_node place = vyre_parser_node(parser, parser->pending.items[i]);
        check_place(parser, parser->pending.items[i], vyre_node_spot(&place));
    }
    parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN, NULL);
    uint32_t places = parse_list(parser, pending);
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    parse_expect(parser, VYRE_TOKEN_ASSIGN, "assign to the places, as in `(a, b) = f(a, b);`");
    uint32_t value = 0;
    vyre_spot behind = vyre_token_spot(&parser->state.token);
    if (!parser->lost && parse_take(parser, VYRE_TOKEN_LEFT_PAREN)) {
        uint32_t list = parse_expressions(parser);
        parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN, NULL);
        value = parse_node(parser, VYRE_NODE_LIST, behind, 0, list, 0);
    } else if (!parser->lost) {
        value = vyre_parse_expression(parser);
    }
    uint32_t node = parse_node(parser, VYRE_NODE_ASSIGN_LIST, spot, 0, places, value);
    parse_semicolon(parser);
    return node;
}

/* A statement that starts with a parenthesis: several places, or what another one starts with. */
static uint32_t parse_parenthesis(vyre_parser *parser) {
    vyre_token first = parser->state.token;
    parse_advance(parser);
    uint32_t node = parse_nested(parser);
    if (!parser->lost && parse_at(parser, VYRE_TOKEN_COMMA)) {
        return parse_assign_list(parser, node);
    }
    parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN, "close the parenthesis");
    return parse_other_from(parser, first, parse_rest(parser, parse_fields(parser, node)));
}

/* NAME ":" in front of a loop. */
static bool at_label(const vyre_parser *parser) {
    vyre_lexer ahead = parser->state.lexer;
    vyre_token token;
    vyre_lexer_next(&ahead, &token);
    if (token.kind != VYRE_TOKEN_COLON) {
        return false;
    }
    vyre_lexer_next(&ahead, &token);
    return token.kind == VYRE_TOKEN_FOR || token.kind == VYRE_TOKEN_WHILE ||
           token.kind == VYRE_TOKEN_LOOP;
}

uint32_t parse_statement(vyre_parser *parser) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    switch (parser->state.token.kind) {
    case VYRE_TOKEN_LET: return parse_let(parser);
    case VYRE_TOKEN_VAR: return parse_var(parser);
    case VYRE_TOKEN_SHARED: return parse_shared(parser);
    case VYRE_TOKEN_BARRIER:
    case VYRE_TOKEN_GRID_BARRIER: {
        bool grid = parse_at(parser, VYRE_TOKEN_GRID_BARRIER);
        parse_advance(parser);
        if (parse_at(parser, VYRE_TOKEN_LEFT_PAREN)) {
            parse_unexpected(parser, "`;`", "write the barrier without parentheses");
        }
        uint32_t node = parse_node(parser, VYRE_NODE_BARRIER, spot,
                                   grid ? VYRE_OP_GRID_BARRIER : VYRE_OP_BARRIER, 0, 0);
        parse_semicolon(parser);
        return node;
    }
    case VYRE_TOKEN_IF:
        if (parser->blocks.items[parser->blocks.count - 1].results &&
            !parser->blocks.items[parser->blocks.count - 1].chained && parse_at_choice(parser)) {
            return parse_other(parser);
        }
        return parse_values(parser, VYRE_NONE);
    case VYRE_TOKEN_FOR:
    case VYRE_TOKEN_LOOP:
    case VYRE_TOKEN_INLINE: return parse_values(parser, VYRE_NONE);
    case VYRE_TOKEN_LEFT_PAREN: return parse_parenthesis(parser);
    case VYRE_TOKEN_NAME: {
        if (at_label(parser)) {
            uint32_t name = parse_name(parser, "a loop");
            parse_advance(parser);
            return parse_node(parser, VYRE_NODE_LABEL, spot, 0, name, 0);
        }
        if (parse_at_view(parser)) {
            return parse_stray_view(parser);
        }
        vyre_match_form form = parse_at_match(parser);
        bool gives =
            form == VYRE_MATCH_VALUES && parser->blocks.items[parser->blocks.count - 1].results;
        return form && !gives ? parse_match(parser, VYRE_NONE) : parse_other(parser);
    }
    case VYRE_TOKEN_WHILE: {
        parse_advance(parser);
        uint32_t condition = vyre_parse_expression(parser);
        return open_head(parser, VYRE_NODE_WHILE,
                         parse_node(parser, VYRE_NODE_WHILE, spot, 0, condition, 0),
                         VYRE_SEMICOLON_NONE);
    }
    case VYRE_TOKEN_LEFT_BRACE:
        return open_head(parser, VYRE_NODE_BLOCK,
                         parse_node(parser, VYRE_NODE_BLOCK, spot, 0, 0, 0), VYRE_SEMICOLON_NONE);
    case VYRE_TOKEN_BREAK: return parse_jump(parser, VYRE_NODE_BREAK);
    case VYRE_TOKEN_CONTINUE: return parse_jump(parser, VYRE_NODE_CONTINUE);
    case VYRE_TOKEN_YIELD: return parse_jump(parser, VYRE_NODE_YIELD);
    case VYRE_TOKEN_RETURN: return parse_jump(parser, VYRE_NODE_RETURN);
    case VYRE_TOKEN_SCRATCH:
    case VYRE_TOKEN_PHASE:
    case VYRE_TOKEN_REPEAT:
        parse_error(parser, spot, 108, "move it out of the block, to the level of the program",
                    "`%s` is inside a phase or function",
                    vyre_token_text(parser->state.token.kind));
        return parse_skip(parser);
    case VYRE_TOKEN_CONST:
        parse_error(parser, spot, 108, "move it out of the program, or name the value with `let`",
                    "a constant is declared inside a block");
        parse_advance(parser);
        return parse_declared(parser, spot);
    case VYRE_TOKEN_ELSE:
        parse_error(parser, spot, 102, "remove it, or write an `if` before it",
                    "`else` without an `if`");
        return parse_skip(parser);
    case VYRE_TOKEN_SEMICOLON:
        parse_error(parser, spot, 107, "remove the `;`", "the statement is empty");
        parse_advance(parser);
        return 0;
    case VYRE_TOKEN_RIGHT_PAREN:
    case VYRE_TOKEN_RIGHT_BRACKET:
        parse_unexpected(parser, "a statement", "remove it, or open it earlier");
        return parse_skip(parser);
    case VYRE_TOKEN_TYPE:
        if (parse_peek(parser).kind == VYRE_TOKEN_NAME) {
            parse_unexpected(parser, "a statement",
                             "declare with `let name: type = value;`, or `var` if it changes");
            return parse_declared(parser, spot);
        }
        return parse_other(parser);
    default: return parse_other(parser);
    }
}
