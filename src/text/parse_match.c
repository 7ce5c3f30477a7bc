#include "base/strbuf.h"
#include "text/parse.h"

static const char form_fix[] =
    "write `match n { 0 => { ... } 1, 2 => { ... } else => { ... } }`, each case in braces";

/* Whether what follows the word can only be a value to match: no name has an operand behind it. */
static bool is_surely_match(vyre_token word, vyre_token next) {
    return next.line == word.line &&
           (next.kind == VYRE_TOKEN_NAME || next.kind == VYRE_TOKEN_NUMBER ||
            next.kind == VYRE_TOKEN_TYPE);
}

/* From the brace of the cases to the one that closes it. */
static vyre_match_form form_of(vyre_lexer ahead) {
    vyre_token token;
    for (uint32_t open = 1; open;) {
        vyre_lexer_next(&ahead, &token);
        open += token.kind == VYRE_TOKEN_LEFT_BRACE;
        open -= token.kind == VYRE_TOKEN_RIGHT_BRACE;
        if (token.kind == VYRE_TOKEN_SEMICOLON || token.kind == VYRE_TOKEN_END) {
            return VYRE_MATCH_STATEMENTS;
        }
    }
    return VYRE_MATCH_VALUES;
}

/* Looks for the brace of the cases, from the token behind the word on. */
static vyre_match_ahead look_ahead(const vyre_parser *parser, vyre_lexer ahead, vyre_token token) {
    vyre_match_ahead found = {.from = parser->state.token.offset, .form = VYRE_MATCH_STATEMENTS};
    while (token.kind != VYRE_TOKEN_LEFT_BRACE && token.kind != VYRE_TOKEN_SEMICOLON &&
           token.kind != VYRE_TOKEN_RIGHT_BRACE && token.kind != VYRE_TOKEN_END) {
        vyre_lexer_next(&ahead, &token);
    }
    found.to = token.offset;
    if (token.kind != VYRE_TOKEN_LEFT_BRACE) {
        return found;
    }
    found.form = (uint8_t)form_of(ahead);
    do {
        vyre_lexer_next(&ahead, &token);
    } while (token.kind != VYRE_TOKEN_GIVES && token.kind != VYRE_TOKEN_SEMICOLON &&
             token.kind != VYRE_TOKEN_LEFT_BRACE && token.kind != VYRE_TOKEN_RIGHT_BRACE &&
             token.kind != VYRE_TOKEN_END);
    found.has_case = token.kind == VYRE_TOKEN_GIVES;
    return found;
}

vyre_match_form parse_at_match(vyre_parser *parser) {
    if (parser->lost || !parse_at_word(parser, VYRE_WORD_MATCH)) {
        return VYRE_MATCH_NONE;
    }
    vyre_lexer ahead = parser->state.lexer;
    vyre_token token;
    vyre_lexer_next(&ahead, &token);
    bool is_sure = is_surely_match(parser->state.token, token);
    if (!is_sure && token.kind != VYRE_TOKEN_LEFT_PAREN) {
        return VYRE_MATCH_NONE;
    }
    /* All words up to the brace have the same one ahead: it is looked for once. */
    vyre_match_ahead *known = &parser->state.match;
    uint32_t here = parser->state.token.offset;
    if (here < known->from || here >= known->to) {
        *known = look_ahead(parser, ahead, token);
    }
    return is_sure || known->has_case ? (vyre_match_form)known->form : VYRE_MATCH_NONE;
}

uint32_t parse_match(vyre_parser *parser, uint32_t results) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    parse_advance(parser);
    uint32_t value = vyre_parse_expression(parser);
    uint32_t node = parse_node(parser, VYRE_NODE_MATCH, spot, 0, value, results);
    if (!parse_open(parser, VYRE_NODE_MATCH,
                    results == VYRE_NONE ? VYRE_SEMICOLON_NONE : VYRE_SEMICOLON_NEEDED)) {
        return 0;
    }
    parser->blocks.items[parser->blocks.count - 1].results = results != VYRE_NONE;
    return node;
}

/* What people write who come from elsewhere: `_ =>`, `default =>`, `case 0:`, `1 | 2 =>`. */
static bool explain_case(vyre_parser *parser) {
    vyre_str text = parse_text(parser, parser->state.token);
    const char *fix = vyre_str_is(text, "_") || vyre_str_is(text, "default") ? "write `else =>`"
                      : vyre_str_is(text, "case") ? "write the number alone, as in `0 => { ... }`"
                                                  : NULL;
    if (!fix || parser->state.token.kind != VYRE_TOKEN_NAME) {
        return false;
    }
    parse_error(parser, vyre_token_spot(&parser->state.token), 102, fix,
                "expected a case, found `%.*s`", (int)text.size, text.data);
    parser->lost = true;
    return true;
}

/* { constant { "," constant } | "else" } "=>": the list, VYRE_NONE of `else`. */
static uint32_t parse_constants(vyre_parser *parser) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    uint32_t list = VYRE_NONE;
    if (explain_case(parser)) {
        return parse_list(parser, parser->pending.count);
    }
    if (!parse_take(parser, VYRE_TOKEN_ELSE)) {
        list = parse_expressions(parser);
        vyre_node last = vyre_parser_node(
            parser, vyre_parser_item(parser, list, vyre_parser_count(parser, list) - 1));
        if (!parser->lost && last.kind == VYRE_NODE_BINARY && last.detail == VYRE_TOKEN_OR) {
            parse_error(parser, spot, 102,
                        "separate the numbers by commas, as in `1, 2 => { ... }`",
                        "`|` in a case computes one number");
        }
    }
    if (!parser->lost && parse_at(parser, VYRE_TOKEN_RANGE)) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 102,
                    "list the numbers, as in `1, 2 => { ... }`, or write `if`",
                    "a case cannot be a range");
        parser->lost = true;
    }
    parse_expect(parser, VYRE_TOKEN_GIVES, form_fix);
    return list;
}

/* Reports a case behind the last one. */
static void check_order(vyre_parser *parser, bool is_behind, bool is_else, vyre_spot spot) {
    if (is_behind) {
        parse_error(parser, spot, 505, "move it in front of `else`",
                    is_else ? "the `match` has two `else` cases" : "a case follows `else`");
        parser->quiet = parser->lost;
    }
}

uint32_t parse_case(vyre_parser *parser) {
    vyre_open_block *block = &parser->blocks.items[parser->blocks.count - 1];
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    uint32_t start = parser->state.token.offset;
    if (parse_at(parser, VYRE_TOKEN_COMMA)) {
        parse_error(parser, spot, 102, "remove the comma; the brace ends the case",
                    "expected a case, found `,`");
        parse_advance(parser);
        return 0;
    }
    bool results = block->results, is_else = parse_at(parser, VYRE_TOKEN_ELSE);
    check_order(parser, block->has_else, is_else, spot);
    block->has_case = true;
    block->has_else |= is_else;
    uint32_t list = parse_constants(parser);
    block->complained |= parser->lost; /* it may have been any case */
    uint32_t node = parse_node(parser, VYRE_NODE_CASE, spot, 0, list, VYRE_NONE);
    if (!parse_open(parser, VYRE_NODE_CASE, VYRE_SEMICOLON_NONE)) {
        /* What starts a statement ends no case: it is passed over. */
        return parser->state.token.offset == start ? parse_skip(parser) : 0;
    }
    parser->blocks.items[parser->blocks.count - 1].results = results;
    return node;
}

uint32_t parse_match_value(vyre_parser *parser) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    if (parse_at_match(parser) == VYRE_MATCH_STATEMENTS) {
        parse_error(parser, spot, 102,
                    "name the value first, as in `let a = match ... ;`, and use the name",
                    "a `match` with statements stands inside an expression");
        parser->lost = true;
        parse_skip_blocks(parser, 0);
        return 0;
    }
    size_t pending = parser->pending.count;
    bool has_else = false;
    if (!parse_go_deeper(parser)) {
        return 0;
    }
    parse_advance(parser);
    parser->choices++;
    uint32_t value = vyre_parse_expression(parser);
    parse_expect(parser, VYRE_TOKEN_LEFT_BRACE, form_fix);
    parser->branches += !parser->lost;
    while (!parser->lost && !parse_at(parser, VYRE_TOKEN_RIGHT_BRACE)) {
        vyre_spot place = vyre_token_spot(&parser->state.token);
        bool is_else = parse_at(parser, VYRE_TOKEN_ELSE);
        check_order(parser, has_else, is_else, place);
        has_else |= is_else;
        uint32_t list = parse_constants(parser);
        uint32_t given = parser->lost ? 0 : parse_branch(parser);
        parse_push(parser, parse_node(parser, VYRE_NODE_CASE, place, 0, list, given));
    }
    uint32_t cases = parse_list(parser, pending);
    if (!parser->lost && !has_else) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 505,
                    "add `else => { ... }` as its last case",
                    "a `match` that gives values needs one for every number");
    }
    parse_expect(parser, VYRE_TOKEN_RIGHT_BRACE, form_fix);
    parser->branches -= !parser->lost;
    parser->choices--;
    parser->depth--;
    if (parser->lost && !parser->choices) {
        parse_skip_blocks(parser, parser->branches);
        parser->branches = 0;
    }
    return parser->lost ? 0 : parse_node(parser, VYRE_NODE_MATCH_VALUE, spot, 0, value, cases);
}
