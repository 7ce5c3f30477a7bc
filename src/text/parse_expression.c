#include <stdio.h>

#include "text/foreign.h"
#include "text/parse.h"

/* How strongly an operator binds; 0 for a token that is none. */
enum { COMPARISON = 3 };

static const uint8_t strengths[VYRE_TOKEN_COUNT] = {
    [VYRE_TOKEN_OR_OR] = 1,
    [VYRE_TOKEN_AND_AND] = 2,
    [VYRE_TOKEN_EQUAL] = COMPARISON,
    [VYRE_TOKEN_NOT_EQUAL] = COMPARISON,
    [VYRE_TOKEN_LESS] = COMPARISON,
    [VYRE_TOKEN_LESS_EQUAL] = COMPARISON,
    [VYRE_TOKEN_GREATER] = COMPARISON,
    [VYRE_TOKEN_GREATER_EQUAL] = COMPARISON,
    [VYRE_TOKEN_OR] = 4,
    [VYRE_TOKEN_XOR] = 5,
    [VYRE_TOKEN_AND] = 6,
    [VYRE_TOKEN_SHIFT_LEFT] = 7,
    [VYRE_TOKEN_SHIFT_RIGHT] = 7,
    [VYRE_TOKEN_PLUS] = 8,
    [VYRE_TOKEN_MINUS] = 8,
    [VYRE_TOKEN_STAR] = 9,
    [VYRE_TOKEN_SLASH] = 9,
    [VYRE_TOKEN_PERCENT] = 9,
};

static const char operand_fix[] = "write a number, a name, a call or an expression in parentheses";

static uint32_t parse_unary(vyre_parser *parser);

/* Whether one level more is allowed; the caller gives it back with parser->depth--. */
bool parse_go_deeper(vyre_parser *parser) {
    if (parser->depth >= VYRE_LIMIT_EXPRESSION_NESTING) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 701,
                    "name parts of the expression with `let`",
                    "the expression is nested deeper than %d levels",
                    VYRE_LIMIT_EXPRESSION_NESTING);
        parser->lost = true;
        return false;
    }
    parser->depth++;
    return true;
}

/* Operators that bind at least as strongly as `weakest`, behind their first operand. */
static uint32_t parse_operators(vyre_parser *parser, uint32_t left, uint32_t weakest) {
    for (;;) {
        vyre_token token = parser->state.token;
        uint32_t strength = strengths[token.kind];
        if (strength < weakest || !strength) {
            return left;
        }
        parse_advance(parser);
        uint32_t right = parse_operators(parser, parse_unary(parser), strength + 1);
        left =
            parse_node(parser, VYRE_NODE_BINARY, vyre_token_spot(&token), token.kind, left, right);
        const vyre_token *next = &parser->state.token;
        if (strength == COMPARISON && strengths[next->kind] == COMPARISON) {
            parse_error(parser, vyre_token_spot(next), 106,
                        "combine two comparisons with &&, or put one in parentheses",
                        "comparisons cannot be chained: `%s` follows `%s`",
                        vyre_token_text(next->kind), vyre_token_text(token.kind));
            left = 0;
        }
    }
}

uint32_t parse_nested(vyre_parser *parser) {
    if (!parse_go_deeper(parser)) {
        return 0;
    }
    uint32_t node = vyre_parse_expression(parser);
    parser->depth--;
    return node;
}

static uint32_t parse_text_argument(vyre_parser *parser) {
    vyre_token token = parser->state.token;
    parse_advance(parser);
    return token.malformed ? 0
                           : parse_node(parser, VYRE_NODE_STRING, vyre_token_spot(&token), 0,
                                        token.offset, token.length);
}

/* Arguments up to and with the closing parenthesis; the opening one has been taken. The types, if
 * any, go in front of the list. */
static uint32_t parse_arguments(vyre_parser *parser, const vyre_type_list *types) {
    size_t pending = parser->pending.count;
    if (!parse_at(parser, VYRE_TOKEN_RIGHT_PAREN)) {
        do {
            bool is_text = parse_at(parser, VYRE_TOKEN_STRING);
            parse_push(parser, is_text ? parse_text_argument(parser) : parse_nested(parser));
        } while (!parser->lost && parse_take(parser, VYRE_TOKEN_COMMA));
    }
    parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN, "separate arguments by commas and close with )");
    if (types) {
        parse_parts(parser, types->types, types->count);
    }
    return parse_list(parser, pending);
}

/* A field's name behind its point; false after a report. */
static bool take_field(vyre_parser *parser, vyre_token *out_name) {
    *out_name = parser->state.token;
    if (out_name->symbol == VYRE_NONE || parse_at_item(parser)) {
        parse_unexpected(parser, "a name after the point", "write .x, .y or .z, or a field");
        return false;
    }
    parse_advance(parser);
    return true;
}

/* A field of an operand. Its place is that of both, if they stand in one line. */
static uint32_t field_node(vyre_parser *parser, uint32_t operand, const vyre_token *name) {
    vyre_node base = vyre_parser_node(parser, operand);
    vyre_spot spot = vyre_token_spot(name);
    if (base.kind != VYRE_NODE_ERROR && base.line == spot.line && base.column < spot.column) {
        spot.length += spot.column - base.column;
        spot.column = base.column;
    }
    return parse_node(parser, VYRE_NODE_FIELD, spot, 0, operand, name->symbol);
}

static bool check_fields(vyre_parser *parser, uint32_t count) {
    if (parser->depth + count >= VYRE_LIMIT_EXPRESSION_NESTING) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 701,
                    "name parts of the expression with `let`",
                    "the expression is nested deeper than %d levels",
                    VYRE_LIMIT_EXPRESSION_NESTING);
        parser->lost = true;
    }
    return !parser->lost;
}

uint32_t parse_fields(vyre_parser *parser, uint32_t operand) {
    vyre_token name;
    for (uint32_t count = 1; !parser->lost && parse_take(parser, VYRE_TOKEN_DOT); count++) {
        if (!take_field(parser, &name) || !check_fields(parser, count)) {
            return 0;
        }
        if (parse_at(parser, VYRE_TOKEN_LEFT_PAREN)) {
            parse_error(parser, vyre_token_spot(&name), 102,
                        "call an operation with the value, as in sqrt(a[i])",
                        "a value has no methods");
            parser->lost = true;
            return 0;
        }
        operand = field_node(parser, operand, &name);
    }
    return operand;
}

/* NAME.field.field, or the id of an operation of the library, whose parts are joined by points. */
static uint32_t parse_dotted(vyre_parser *parser, vyre_token first) {
    vyre_token last = first;
    uint32_t node = parse_node(parser, VYRE_NODE_NAME, vyre_token_spot(&first), 0, first.symbol, 0);
    for (uint32_t count = 1; parse_take(parser, VYRE_TOKEN_DOT); count++) {
        if (!take_field(parser, &last) || !check_fields(parser, count)) {
            return 0;
        }
        node = field_node(parser, node, &last);
    }
    vyre_type_list types = {.count = 0};
    if (parse_at(parser, VYRE_TOKEN_LESS) && parse_at_type_arguments(parser, first.symbol, true)) {
        parse_type_arguments(parser, &types);
    }
    if (!parser->lost && parse_take(parser, VYRE_TOKEN_LEFT_PAREN)) {
        vyre_spot whole = vyre_token_spot(&first);
        whole.length = last.offset + last.length - first.offset;
        uint32_t arguments = parse_arguments(parser, &types);
        return parse_node(parser, VYRE_NODE_LIBRARY_CALL, whole, types.count, first.offset,
                          arguments);
    }
    return node;
}

/* <type>(operand) */
static uint32_t parse_typed(vyre_parser *parser, vyre_node_kind kind, vyre_token first) {
    parse_expect(parser, VYRE_TOKEN_LESS,
                 "write the type in angle brackets, as in bitcast<u32>(x)");
    vyre_value_type type = parser->lost ? VYRE_TYPE_VOID : parse_type(parser);
    if (parser->lost || !parse_close_angle(parser) ||
        !parse_expect(parser, VYRE_TOKEN_LEFT_PAREN, NULL)) {
        return 0;
    }
    uint32_t operand = parse_nested(parser);
    parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN, NULL);
    return parse_node(parser, kind, vyre_token_spot(&first), type, operand, 0);
}

/* `bits` and `vec3` are names like any other, unless a type in angle brackets follows. Behind a
 * vector's type the bracket has to be closed: `vec3 < f32(x)` compares. */
static bool at_type_argument(const vyre_parser *parser, bool closed) {
    vyre_lexer ahead = parser->state.lexer;
    vyre_token token;
    vyre_lexer_next(&ahead, &token);
    if (token.kind != VYRE_TOKEN_LESS) {
        return false;
    }
    vyre_lexer_next(&ahead, &token);
    bool is_foreign = token.kind == VYRE_TOKEN_NAME && vyre_foreign_type(parse_text(parser, token));
    bool is_type = token.kind == VYRE_TOKEN_TYPE ||
                   (token.kind == VYRE_TOKEN_NAME && parse_is_parameter(parser, token.symbol));
    if (!closed || (!is_type && !is_foreign)) {
        return is_type;
    }
    vyre_lexer_next(&ahead, &token);
    return token.kind == VYRE_TOKEN_GREATER;
}

/* vec3<f32>(...) */
static uint32_t parse_construct(vyre_parser *parser, vyre_token first) {
    vyre_value_type type = parse_type(parser);
    vyre_spot spot = vyre_token_spot(&first);
    if (parser->state.after.line == spot.line) {
        spot.length = parser->state.after.column - spot.column;
    }
    if (!parse_expect(parser, VYRE_TOKEN_LEFT_PAREN,
                      "list the components in parentheses, as in vec3<f32>(x, y, z)")) {
        return 0;
    }
    return parse_node(parser, VYRE_NODE_CONSTRUCT, spot, type, 0, parse_arguments(parser, NULL));
}

/* An operand that starts with a word which angle brackets make special; 0 if they do not. */
static uint32_t parse_special(vyre_parser *parser, vyre_token token) {
    if (parse_at_word(parser, VYRE_WORD_BITS) && at_type_argument(parser, false)) {
        parse_advance(parser);
        return parse_typed(parser, VYRE_NODE_BITS, token);
    }
    if (parse_vector_count(parser->names, &token) && at_type_argument(parser, true)) {
        return parse_fields(parser, parse_construct(parser, token));
    }
    return 0;
}

/* Whether a token can only be an operand: words of the language, such as `step`, may follow a name.
 */
static bool is_operand(const vyre_parser *parser, vyre_token before, vyre_token token) {
    if (token.kind == VYRE_TOKEN_NUMBER) {
        return true;
    }
    if (token.kind != VYRE_TOKEN_NAME || token.line != before.line) {
        return false;
    }
    const vyre_word *word = vyre_word_of(parser->names->symbols.items[token.symbol].word);
    return word->class_of != VYRE_WORD_CONTEXT &&
           !(word->class_of == VYRE_WORD_OP && word->code == VYRE_OP_MAX);
}

/* Reports a word of other languages that has been read in front of an operand, as in `not x`, or of
 * a type, as in `array<f32>`. */
static void check_word(vyre_parser *parser, vyre_token word) {
    vyre_token next = parser->state.token;
    bool is_type = next.kind == VYRE_TOKEN_LESS;
    if (is_type) {
        vyre_lexer ahead = parser->state.lexer;
        vyre_lexer_next(&ahead, &next);
        is_type = next.kind == VYRE_TOKEN_TYPE || vyre_foreign_type(parse_text(parser, next));
        vyre_lexer_next(&ahead, &next);
        is_type &= next.kind == VYRE_TOKEN_GREATER || next.kind == VYRE_TOKEN_COMMA;
    }
    const char *fix =
        is_type || is_operand(parser, word, next) ? parse_foreign(parser, word) : NULL;
    if (fix) {
        parse_error(parser, vyre_token_spot(&word), 102, fix, "there is no `%.*s`",
                    (int)word.length, parser->source->text + word.offset);
        parser->lost = true;
    }
}

/* Whether NAME ":" stands behind the brace at hand, as in Point { x: 1.0 }: no block starts so. */
static bool at_named_fields(const vyre_parser *parser) {
    vyre_lexer ahead = parser->state.lexer;
    vyre_token token;
    vyre_lexer_next(&ahead, &token);
    if (token.kind != VYRE_TOKEN_NAME) {
        return false;
    }
    vyre_lexer_next(&ahead, &token);
    return token.kind == VYRE_TOKEN_COLON;
}

/* expression "]" { "[" expression "]" }, behind the first bracket. */
static uint32_t parse_indices(vyre_parser *parser) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    size_t pending = parser->pending.count;
    do {
        parse_push(parser, parse_nested(parser));
        parse_expect(parser, VYRE_TOKEN_RIGHT_BRACKET, NULL);
    } while (!parser->lost && parse_take(parser, VYRE_TOKEN_LEFT_BRACKET));
    if (parser->pending.count == pending + 1) {
        return parser->pending.items[--parser->pending.count];
    }
    return parse_node(parser, VYRE_NODE_INDICES, spot, 0, parse_list(parser, pending), 0);
}

/* A call, behind its parenthesis. The name of a type parameter makes a value of that type. */
static uint32_t parse_called(vyre_parser *parser, vyre_token name, const vyre_type_list *types) {
    uint32_t arguments = parse_arguments(parser, types);
    vyre_spot spot = vyre_token_spot(&name);
    bool is_type = parse_is_parameter(parser, name.symbol);
    uint32_t node =
        is_type ? parse_node(parser, VYRE_NODE_CONSTRUCT, spot,
                             parser->names->symbols.items[name.symbol].type, 0, arguments)
                : parse_node(parser, VYRE_NODE_CALL, spot, types->count, name.symbol, arguments);
    return parse_fields(parser, node);
}

uint32_t parse_named(vyre_parser *parser) {
    vyre_token token = parser->state.token;
    uint32_t word = parser->names->symbols.items[token.symbol].word;
    if (word == VYRE_WORD_MATCH && parse_at_match(parser)) {
        return parse_match_value(parser);
    }
    if (word >= VYRE_WORD_BITS && word <= VYRE_WORD_VEC4) {
        uint32_t special = parse_special(parser, token);
        if (special || parser->lost) {
            return special;
        }
    }
    parse_advance(parser);
    vyre_spot spot = vyre_token_spot(&token);
    vyre_type_list types = {.count = 0};
    if (parse_at(parser, VYRE_TOKEN_LESS) && parse_at_type_arguments(parser, token.symbol, false)) {
        parse_type_arguments(parser, &types);
        if (!parse_expect(parser, VYRE_TOKEN_LEFT_PAREN, NULL)) {
            return 0;
        }
        return parse_called(parser, token, &types);
    }
    if (parse_take(parser, VYRE_TOKEN_LEFT_PAREN)) {
        return parse_called(parser, token, &types);
    }
    if (parse_take(parser, VYRE_TOKEN_LEFT_BRACKET)) {
        uint32_t index = parse_indices(parser);
        if (parser->state.after.line == spot.line) {
            spot.length = parser->state.after.column - spot.column;
        }
        return parse_fields(parser,
                            parse_node(parser, VYRE_NODE_ELEMENT, spot, 0, token.symbol, index));
    }
    if (parse_at(parser, VYRE_TOKEN_DOT)) {
        return parse_dotted(parser, token);
    }
    if (parse_at(parser, VYRE_TOKEN_LEFT_BRACE) &&
        parser->names->symbols.items[token.symbol].type && at_named_fields(parser)) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 102,
                    "list the values of the fields in parentheses, without their names",
                    "expected `(` after the name of a struct, found `{`");
        parser->lost = true;
    }
    return parse_node(parser, VYRE_NODE_NAME, spot, 0, token.symbol, 0);
}

static uint32_t parse_convert(vyre_parser *parser) {
    vyre_token token = parser->state.token;
    parse_advance(parser);
    if (!parse_expect(parser, VYRE_TOKEN_LEFT_PAREN, "a type converts a value, as in u32(x)")) {
        return 0;
    }
    uint32_t operand = parse_nested(parser);
    parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN, "a conversion takes one value, as in u32(x)");
    return parse_node(parser, VYRE_NODE_CONVERT, vyre_token_spot(&token),
                      vyre_token_type(&parser->state.lexer, &token), operand, 0);
}

/* The type that (type)operand of other languages converts to; NULL for an expression. */
static const char *cast_type(const vyre_parser *parser) {
    vyre_lexer ahead = parser->state.lexer;
    vyre_token token;
    vyre_lexer_next(&ahead, &token);
    vyre_str text = parse_text(parser, token);
    const char *type = token.kind == VYRE_TOKEN_TYPE
                           ? vyre_type_name(vyre_token_type(&parser->state.lexer, &token))
                       : token.kind == VYRE_TOKEN_NAME ? vyre_foreign_type(text)
                                                       : NULL;
    while (type && (token.kind == VYRE_TOKEN_NAME || token.kind == VYRE_TOKEN_TYPE)) {
        vyre_lexer_next(&ahead, &token);
    }
    if (!type || token.kind != VYRE_TOKEN_RIGHT_PAREN) {
        return NULL;
    }
    vyre_lexer_next(&ahead, &token);
    bool is_operand = token.kind == VYRE_TOKEN_NAME || token.kind == VYRE_TOKEN_NUMBER ||
                      token.kind == VYRE_TOKEN_TYPE || token.kind == VYRE_TOKEN_LEFT_PAREN;
    return is_operand ? type : NULL;
}

static uint32_t explain_cast(vyre_parser *parser, const char *type) {
    char fix[48];
    snprintf(fix, sizeof fix, "write %s(...) around the value", type);
    parse_error(parser, vyre_token_spot(&parser->state.token), 102, fix,
                "a type in parentheses does not convert");
    parser->lost = true;
    return 0;
}

bool parse_at_choice(const vyre_parser *parser) {
    vyre_lexer ahead = parser->state.lexer;
    vyre_token token = {0};
    vyre_token_kind before;
    for (uint32_t open = 0;;) {
        before = token.kind;
        vyre_lexer_next(&ahead, &token);
        switch (token.kind) {
        case VYRE_TOKEN_END: return true;
        case VYRE_TOKEN_SEMICOLON: return !open;
        case VYRE_TOKEN_LEFT_BRACE: open++; break;
        case VYRE_TOKEN_RIGHT_BRACE:
            if (!open || before == VYRE_TOKEN_LEFT_BRACE) {
                return false; /* an empty block */
            }
            open--;
            break;
        default:
            if (!open && before == VYRE_TOKEN_RIGHT_BRACE && token.kind != VYRE_TOKEN_ELSE) {
                return true;
            }
            break;
        }
    }
}

uint32_t parse_branch(vyre_parser *parser) {
    if (!parse_expect(parser, VYRE_TOKEN_LEFT_BRACE,
                      "write the value in braces, as in `{ 1.0 }`")) {
        return 0;
    }
    parser->branches++;
    uint32_t value = vyre_parse_expression(parser);
    parse_expect(parser, VYRE_TOKEN_RIGHT_BRACE, "write one value in each branch");
    parser->branches -= !parser->lost;
    return value;
}

/* "if" expression "{" expression "}" "else" ... */
static uint32_t parse_choice(vyre_parser *parser) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    if (!parse_go_deeper(parser)) {
        return 0;
    }
    parser->choices++;
    parse_advance(parser);
    uint32_t condition = vyre_parse_expression(parser);
    uint32_t parts[VYRE_CHOICE_PARTS] = {0};
    parts[VYRE_CHOICE_YES] = parse_branch(parser);
    parse_expect(parser, VYRE_TOKEN_ELSE, "add `else { ... }`: an `if` with a value needs both");
    if (!parser->lost) {
        parts[VYRE_CHOICE_NO] =
            parse_at(parser, VYRE_TOKEN_IF) ? parse_choice(parser) : parse_branch(parser);
    }
    parser->choices--;
    parser->depth--;
    if (parser->lost && !parser->choices) {
        parse_skip_blocks(parser, parser->branches);
        parser->branches = 0;
    }
    uint32_t at = parse_parts(parser, parts, VYRE_CHOICE_PARTS);
    return parser->lost ? 0 : parse_node(parser, VYRE_NODE_CHOICE, spot, 0, condition, at);
}

static uint32_t parse_number(vyre_parser *parser, bool negative) {
    vyre_token token = parser->state.token;
    uint32_t node = token.malformed ? 0
                                    : parse_node(parser, VYRE_NODE_NUMBER, vyre_token_spot(&token),
                                                 negative, token.offset, token.length);
    parse_advance(parser);
    return node;
}

static bool at_number(const vyre_parser *parser) {
    return parse_at(parser, VYRE_TOKEN_NUMBER) || parse_at(parser, VYRE_TOKEN_INF) ||
           parse_at(parser, VYRE_TOKEN_NAN);
}

static uint32_t parse_primary(vyre_parser *parser) {
    vyre_token token = parser->state.token;
    switch (token.kind) {
    case VYRE_TOKEN_NUMBER:
    case VYRE_TOKEN_INF:
    case VYRE_TOKEN_NAN: return parse_number(parser, false);
    case VYRE_TOKEN_NAME: {
        uint32_t node = parse_named(parser);
        vyre_token_kind next = parser->state.token.kind;
        if (next == VYRE_TOKEN_NAME || next == VYRE_TOKEN_NUMBER || next == VYRE_TOKEN_LESS) {
            check_word(parser, token);
        }
        return node;
    }
    case VYRE_TOKEN_TYPE: return parse_convert(parser);
    case VYRE_TOKEN_TRUE:
    case VYRE_TOKEN_FALSE:
        parse_advance(parser);
        return parse_node(parser, VYRE_NODE_BOOL, vyre_token_spot(&token),
                          token.kind == VYRE_TOKEN_TRUE, 0, 0);
    case VYRE_TOKEN_BITCAST:
        parse_advance(parser);
        return parse_typed(parser, VYRE_NODE_BITCAST, token);
    case VYRE_TOKEN_LEFT_PAREN: {
        const char *cast = cast_type(parser);
        if (cast) {
            return explain_cast(parser, cast);
        }
        parse_advance(parser);
        uint32_t node = parse_nested(parser);
        parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN,
                     parse_at(parser, VYRE_TOKEN_COMMA)
                         ? "close the parenthesis; give each value a `let` of its own, or assign "
                           "several, as in `(a, b) = (b, a);`"
                         : "close the parenthesis");
        return parse_fields(parser, node);
    }
    case VYRE_TOKEN_STRING:
        parse_error(parser, vyre_token_spot(&token), 101, VYRE_STRING_FIX, VYRE_STRING_MISTAKE);
        parse_advance(parser);
        return 0;
    case VYRE_TOKEN_DOT:
        parse_unexpected(parser, "an operand", "write a digit before the point, as in 0.5");
        return 0;
    case VYRE_TOKEN_PLUS:
        parse_unexpected(parser, "an operand", "remove the sign; to count up write `i += 1`");
        return 0;
    case VYRE_TOKEN_IF:
        if (parser->choices || parse_at_choice(parser)) {
            return parse_choice(parser);
        }
        parse_skip_values(parser);
        return 0;
    case VYRE_TOKEN_FOR:
    case VYRE_TOKEN_LOOP:
    case VYRE_TOKEN_INLINE: parse_skip_values(parser); return 0;
    default: parse_unexpected(parser, "an operand", operand_fix); return 0;
    }
}

static uint32_t parse_unary(vyre_parser *parser) {
    vyre_token token = parser->state.token;
    if (token.kind != VYRE_TOKEN_MINUS && token.kind != VYRE_TOKEN_NOT &&
        token.kind != VYRE_TOKEN_COMPLEMENT) {
        return parse_primary(parser);
    }
    parse_advance(parser);
    if (token.kind == VYRE_TOKEN_MINUS && at_number(parser)) {
        uint32_t node = parse_number(parser, true);
        if (node) { /* the sign is part of the number */
            vyre_node *number = &parser->syntax.nodes.items[node];
            if (number->line == token.line) {
                number->length += number->column - token.column;
                number->column = token.column;
            }
        }
        return node;
    }
    if (!parse_go_deeper(parser)) {
        return 0;
    }
    uint32_t operand = parse_unary(parser);
    parser->depth--;
    return parse_node(parser, VYRE_NODE_UNARY, vyre_token_spot(&token), token.kind, operand, 0);
}

uint32_t vyre_parse_expression(vyre_parser *parser) {
    return parse_operators(parser, parse_unary(parser), 1);
}

uint32_t parse_expressions(vyre_parser *parser) {
    size_t pending = parser->pending.count;
    do {
        parse_push(parser, vyre_parse_expression(parser));
    } while (!parser->lost && parse_take(parser, VYRE_TOKEN_COMMA));
    return parse_list(parser, pending);
}

uint32_t parse_rest(vyre_parser *parser, uint32_t left) {
    return parse_operators(parser, left, 1);
}
