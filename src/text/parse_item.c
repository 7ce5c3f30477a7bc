#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "text/foreign.h"
#include "text/parse.h"

/* { "[" length "]" }: a list of them, none if there is no bracket. */
uint32_t parse_lengths(vyre_parser *parser) {
    size_t pending = parser->pending.count;
    if (parser->lost || !parse_at(parser, VYRE_TOKEN_LEFT_BRACKET)) {
        return VYRE_NONE;
    }
    while (!parser->lost && parse_at(parser, VYRE_TOKEN_LEFT_BRACKET)) {
        if (parser->pending.count - pending == VYRE_MOST_DIMENSIONS) {
            parse_error(parser, vyre_token_spot(&parser->state.token), 604, "use at most three",
                        "an array has more than %d dimensions", VYRE_MOST_DIMENSIONS);
            parser->lost = true;
            break;
        }
        parse_advance(parser);
        parse_push(parser, vyre_parse_expression(parser));
        parse_expect(parser, VYRE_TOKEN_RIGHT_BRACKET, NULL);
    }
    return parse_list(parser, pending);
}

uint32_t parse_product(vyre_parser *parser, uint32_t lengths) {
    uint32_t count = vyre_parser_count(parser, lengths);
    uint32_t product = count ? vyre_parser_item(parser, lengths, 0) : VYRE_NONE;
    for (uint32_t i = 1; i < count; i++) {
        vyre_node left = vyre_parser_node(parser, product);
        product = parse_node(parser, VYRE_NODE_BINARY, vyre_node_spot(&left), VYRE_TOKEN_STAR,
                             product, vyre_parser_item(parser, lengths, i));
    }
    return product;
}

/* { "[" "]" }: of a parameter, as a list of nothing for each dimension. */
static uint32_t parse_dimensions(vyre_parser *parser) {
    size_t pending = parser->pending.count;
    if (parser->lost || !parse_at(parser, VYRE_TOKEN_LEFT_BRACKET)) {
        return VYRE_NONE;
    }
    while (!parser->lost && parse_take(parser, VYRE_TOKEN_LEFT_BRACKET)) {
        parse_push(parser, 0);
        parse_expect(parser, VYRE_TOKEN_RIGHT_BRACKET,
                     "leave the brackets empty: a parameter takes the lengths of its argument");
    }
    if (!parser->lost && parser->pending.count - pending > VYRE_MOST_DIMENSIONS) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 604, "use at most three",
                    "an array has more than %d dimensions", VYRE_MOST_DIMENSIONS);
        parser->lost = true;
    }
    return parse_list(parser, pending);
}

static vyre_open_block *top(vyre_parser *parser) {
    return &parser->blocks.items[parser->blocks.count - 1];
}

/* NAME ":" ( [ "inout" ] type | [ "inout" | "out" ] "buffer" "<" type ">" [ "[" size "]" ] ) */
uint32_t parse_argument(vyre_parser *parser, const char *what, bool of_program) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    uint32_t name = parse_name(parser, what);
    parse_expect(parser, VYRE_TOKEN_COLON,
                 "write name and type, as in `x: f32` or `x: buffer<f32>`");
    if (parser->lost) {
        return parse_node(parser, VYRE_NODE_ARGUMENT, spot, 0, name, VYRE_NONE);
    }
    vyre_argument_kind kind = VYRE_ARGUMENT_SCALAR;
    uint32_t size = VYRE_NONE;
    if (parse_at_word(parser, VYRE_WORD_INOUT)) {
        kind = VYRE_ARGUMENT_INOUT;
        parse_advance(parser);
    } else if (parse_at_word(parser, VYRE_WORD_OUT)) {
        kind = VYRE_ARGUMENT_OUT;
        if (!of_program) {
            parse_error(parser, vyre_token_spot(&parser->state.token), 108,
                        "write `inout buffer`; it accepts any writable array",
                        "a function's parameter cannot be `out`");
        }
        parse_advance(parser);
    }
    if (parse_at_word(parser, VYRE_WORD_BUFFER)) {
        kind = kind == VYRE_ARGUMENT_SCALAR ? VYRE_ARGUMENT_IN : kind;
        parse_advance(parser);
        parse_expect(parser, VYRE_TOKEN_LESS, "write the type of its elements, as in buffer<f32>");
        vyre_value_type type = parser->lost ? VYRE_TYPE_VOID : parse_type(parser);
        parser->syntax.nodes.items[name].detail = (uint16_t)type;
        parse_close_angle(parser);
        uint32_t lengths = of_program ? parse_lengths(parser) : parse_dimensions(parser);
        parser->syntax.nodes.items[name].b = lengths;
        size = of_program ? parse_product(parser, lengths) : VYRE_NONE;
    } else if (kind == VYRE_ARGUMENT_OUT || (kind == VYRE_ARGUMENT_INOUT && of_program)) {
        parse_unexpected(parser, "`buffer`", "write `buffer<type>`; only buffers can be written");
    } else {
        kind = kind == VYRE_ARGUMENT_INOUT ? VYRE_ARGUMENT_VARIABLE : kind;
        vyre_value_type type = parse_type(parser);
        parser->syntax.nodes.items[name].detail = (uint16_t)type;
        if (!parser->lost && parse_at(parser, VYRE_TOKEN_LEFT_BRACKET)) {
            parse_unexpected(parser, "`,` or `)`", "write an array as buffer<type>");
        }
    }
    parser->quiet = parser->lost; /* other arguments may have mistakes of their own */
    return parse_node(parser, VYRE_NODE_ARGUMENT, spot, kind, name, size);
}

static uint32_t parse_argument_list(vyre_parser *parser, const char *what, bool of_program) {
    size_t pending = parser->pending.count;
    parse_expect(parser, VYRE_TOKEN_LEFT_PAREN, "list the arguments in parentheses");
    while (!parser->lost && !parse_at(parser, VYRE_TOKEN_RIGHT_PAREN)) {
        if (parser->pending.count - pending == VYRE_LIMIT_ARGUMENTS) {
            parse_error(parser, vyre_token_spot(&parser->state.token), 701,
                        "pass values in a buffer", "there are more than %d arguments",
                        VYRE_LIMIT_ARGUMENTS);
            parser->lost = true;
            break;
        }
        parse_push(parser, parse_argument(parser, what, of_program));
        if (!parse_take(parser, VYRE_TOKEN_COMMA)) {
            break;
        }
    }
    parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN, "separate arguments by commas and close with )");
    return parse_list(parser, pending);
}

/* One size, or several in parentheses, which may also just be the start of an expression. Gives a
 * list, and the size if it stands alone. */
static uint32_t parse_sides(vyre_parser *parser, uint32_t *out_only) {
    size_t pending = parser->pending.count;
    *out_only = VYRE_NONE;
    if (!parse_take(parser, VYRE_TOKEN_LEFT_PAREN)) {
        *out_only = vyre_parse_expression(parser);
    } else {
        uint32_t first = vyre_parse_expression(parser);
        bool are_several = !parser->lost && parse_at(parser, VYRE_TOKEN_COMMA);
        if (are_several) {
            parse_push(parser, first);
        }
        while (!parser->lost && parse_take(parser, VYRE_TOKEN_COMMA)) {
            parse_push(parser, vyre_parse_expression(parser));
        }
        parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN, NULL);
        if (are_several) {
            return parse_list(parser, pending);
        }
        first = parse_rest(parser, first);
        parse_push(parser, first);
        return parse_list(parser, pending);
    }
    parse_push(parser, *out_only);
    return parse_list(parser, pending);
}

static uint32_t parse_domain(vyre_parser *parser, uint32_t *from) {
    uint32_t size, sides = parse_sides(parser, &size);
    if (parser->lost || size == VYRE_NONE ||
        vyre_parser_node(parser, size).kind != VYRE_NODE_ELEMENT) {
        return sides;
    }
    const vyre_token *next = &parser->state.token;
    const vyre_word *word = next->kind == VYRE_TOKEN_NAME
                                ? vyre_word_of(parser->names->symbols.items[next->symbol].word)
                                : vyre_word_of(0);
    if (word->class_of != VYRE_WORD_OP || word->code != VYRE_OP_MAX) {
        parse_unexpected(parser, "`max` after the element",
                         "write the largest size it can have, as in `over count[0] max n`");
        return sides;
    }
    parse_advance(parser);
    *from = size;
    return parse_sides(parser, &size);
}

/* Clauses that stand where they do not belong. */
static void complain_clause(vyre_parser *parser) {
    const char *clause = parse_at_word(parser, VYRE_WORD_DETERMINISTIC) ? "deterministic"
                         : parse_at_word(parser, VYRE_WORD_WORKGROUP)   ? "workgroup"
                         : parse_at_word(parser, VYRE_WORD_SUBGROUP)    ? "subgroup"
                         : parse_at(parser, VYRE_TOKEN_OVER)            ? "over"
                                                                        : NULL;
    if (clause) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 108,
                    "write clauses once, in this order: deterministic over DOMAIN workgroup SIZE "
                    "subgroup WIDTH",
                    "`%s` is out of order or repeated", clause);
        parser->lost = true;
    }
}

uint32_t parse_phase(vyre_parser *parser, uint32_t name) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    uint32_t parts[VYRE_PHASE_PARTS] = {name, VYRE_NONE, VYRE_NONE, VYRE_NONE, VYRE_NONE};
    if (!parser->lost && !parse_at(parser, VYRE_TOKEN_OVER)) {
        complain_clause(parser);
    }
    parse_expect(parser, VYRE_TOKEN_OVER, "write what the phase runs over, as in `over y`");
    if (!parser->lost) {
        parts[VYRE_PHASE_DOMAIN] = parse_domain(parser, &parts[VYRE_PHASE_FROM]);
    }
    if (!parser->lost && parse_at_word(parser, VYRE_WORD_WORKGROUP)) {
        parse_advance(parser);
        parts[VYRE_PHASE_WORKGROUP] = parse_expressions(parser);
    }
    if (!parser->lost && parse_at_word(parser, VYRE_WORD_SUBGROUP)) {
        parse_advance(parser);
        parts[VYRE_PHASE_SUBGROUP] = vyre_parse_expression(parser);
    }
    if (!parser->lost) {
        complain_clause(parser);
    }
    return parse_node(parser, VYRE_NODE_PHASE, spot, 0,
                      parse_parts(parser, parts, VYRE_PHASE_PARTS), 0);
}

/* After a mistake between the parts of an item: on to the next one. */
static uint32_t skip_item(vyre_parser *parser) {
    if (!parse_at_item(parser)) {
        vyre_lexer_find_item(&parser->state.lexer);
        parse_advance(parser);
    }
    return 0;
}

/* A program over a domain is its phase: two blocks that end together. */
static bool open_program(vyre_parser *parser, bool over) {
    if (!over) {
        return parse_open(parser, VYRE_NODE_PROGRAM, VYRE_SEMICOLON_NONE);
    }
    vyre_open_block program = {.kind = VYRE_NODE_PROGRAM, .chained = true, .started = true};
    if (!vyre_vec_push(&parser->blocks, program)) {
        parser->source->no_memory = true;
        return false;
    }
    if (!parse_open(parser, VYRE_NODE_PHASE, VYRE_SEMICOLON_NONE)) {
        parser->blocks.count--;
        return false;
    }
    return true;
}

static uint32_t parse_program(vyre_parser *parser, vyre_spot spot) {
    uint32_t name = parse_name(parser, "a program");
    uint32_t parts[VYRE_PROGRAM_PARTS] = {VYRE_NONE, 0, VYRE_NONE, VYRE_NONE};
    if (!parser->lost &&
        parse_at_stated_types(parser->names, parser->state.token, parser->state.lexer)) {
        vyre_type_list types; /* a part of the name */
        parse_type_arguments(parser, &types);
    } else if (!parser->lost) {
        parts[VYRE_PROGRAM_TYPES] = parse_type_parameters(parser);
    }
    if (!parser->lost) {
        parts[VYRE_PROGRAM_ARGUMENTS] = parse_argument_list(parser, "an argument", true);
    }
    if (!parser->lost && parse_at_word(parser, VYRE_WORD_DETERMINISTIC)) {
        parts[VYRE_PROGRAM_CLAIM] = 1;
        parse_advance(parser);
    }
    bool over = !parser->lost && !parse_at(parser, VYRE_TOKEN_LEFT_BRACE);
    if (over) {
        parts[VYRE_PROGRAM_PHASE] = parse_phase(parser, VYRE_NONE);
    }
    uint32_t at = parse_parts(parser, parts, VYRE_PROGRAM_PARTS);
    uint32_t node = parse_node(parser, VYRE_NODE_PROGRAM, spot, 0, name, at);
    /* Behind a broken head one cannot tell steps from statements. */
    return parser->lost || !open_program(parser, over) ? skip_item(parser) : node;
}

static uint32_t parse_results(vyre_parser *parser) {
    size_t pending = parser->pending.count;
    if (parse_take(parser, VYRE_TOKEN_ARROW)) {
        bool several = parse_take(parser, VYRE_TOKEN_LEFT_PAREN);
        do {
            vyre_spot spot = vyre_token_spot(&parser->state.token);
            vyre_value_type type = parse_type(parser);
            parse_push(parser, parse_node(parser, VYRE_NODE_TYPE, spot, type, 0, 0));
            parser->quiet = parser->lost;
        } while (several && !parser->lost && parse_take(parser, VYRE_TOKEN_COMMA));
        if (several) {
            parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN, NULL);
        }
    } else if (!parser->lost && parse_at(parser, VYRE_TOKEN_COLON)) {
        parse_unexpected(parser, "`->` or `{`", "write the result's type after ->");
    }
    return parse_list(parser, pending);
}

static uint32_t parse_function(vyre_parser *parser, vyre_spot spot) {
    uint32_t name = parse_name(parser, "a function");
    uint32_t parts[VYRE_FUNCTION_PARTS] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    if (!parser->lost) {
        parts[VYRE_FUNCTION_TYPES] = parse_type_parameters(parser);
    }
    if (!parser->lost) {
        parts[VYRE_FUNCTION_PARAMETERS] = parse_argument_list(parser, "a parameter", false);
    }
    if (!parser->lost) {
        parts[VYRE_FUNCTION_RESULTS] = parse_results(parser);
    }
    uint32_t at = parse_parts(parser, parts, VYRE_FUNCTION_PARTS);
    uint32_t node = parse_node(parser, VYRE_NODE_FUNCTION, spot, 0, name, at);
    if (parser->lost) {
        return skip_item(parser);
    }
    /* The block itself is opened where the function is used: see vyre_parse_body. */
    return node;
}

/* "[" element { "," element } [ "," ] "]", or "[" element ";" count "]"; elements of an array of
 * several dimensions are rows themselves. */
static uint32_t parse_row(vyre_parser *parser, uint32_t depth) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    size_t pending = parser->pending.count;
    uint32_t repeat = VYRE_NONE;
    if (depth > VYRE_MOST_DIMENSIONS) {
        parse_error(parser, spot, 604, "use at most three, one list in another",
                    "an array has more than %d dimensions", VYRE_MOST_DIMENSIONS);
        parser->lost = true;
        return 0;
    }
    parse_expect(parser, VYRE_TOKEN_LEFT_BRACKET, "list the elements, as in [1, 2, 3]");
    while (!parser->lost && !parse_at(parser, VYRE_TOKEN_RIGHT_BRACKET)) {
        bool is_row = parse_at(parser, VYRE_TOKEN_LEFT_BRACKET);
        parse_push(parser, is_row ? parse_row(parser, depth + 1) : vyre_parse_expression(parser));
        if (!parser->lost && parser->pending.count == pending + 1 &&
            parse_take(parser, VYRE_TOKEN_SEMICOLON)) {
            repeat = vyre_parse_expression(parser);
            break;
        }
        if (parser->lost || !parse_take(parser, VYRE_TOKEN_COMMA)) {
            break;
        }
    }
    parse_expect(parser, VYRE_TOKEN_RIGHT_BRACKET,
                 "separate elements by commas and close the list with ]");
    return parse_node(parser, VYRE_NODE_ROW, spot, 0, parse_list(parser, pending), repeat);
}

static const char array_fix[] =
    "write the length of an array behind the type of its elements, as in "
    "`const A: u32[2] = [1, 2];`";

/* The value of a constant, which is a list where its type is an array. */
static uint32_t parse_constant_value(vyre_parser *parser, bool is_array) {
    if (is_array) {
        return parse_row(parser, 1);
    }
    if (parse_at(parser, VYRE_TOKEN_LEFT_BRACKET)) {
        parse_unexpected(parser, "a number", array_fix);
        return 0;
    }
    return vyre_parse_expression(parser);
}

/* `const float PI = 3.14;` of other languages: reports the type and goes on to the name. */
static void explain_constant(vyre_parser *parser) {
    vyre_token token = parser->state.token;
    const char *type = token.kind == VYRE_TOKEN_TYPE
                           ? vyre_type_name(vyre_token_type(&parser->state.lexer, &token))
                           : vyre_foreign_type(parse_text(parser, token));
    if (!type || parse_peek(parser).kind != VYRE_TOKEN_NAME) {
        return;
    }
    char fix[64];
    snprintf(fix, sizeof fix, "write `const NAME: %s = value;`", type);
    parse_unexpected(parser, "the name of a constant", fix);
    while (parse_peek(parser).kind == VYRE_TOKEN_NAME) {
        parse_advance(parser);
    }
}

static uint32_t parse_constant(vyre_parser *parser, vyre_spot spot) {
    explain_constant(parser);
    uint32_t name = parse_name(parser, "a constant");
    uint32_t lengths = VYRE_NONE;
    if (!parser->lost && parse_at(parser, VYRE_TOKEN_LEFT_BRACKET)) {
        parse_unexpected(parser, "`:` or `=`", array_fix);
    }
    if (!parser->lost && parse_take(parser, VYRE_TOKEN_COLON)) {
        if (parse_at(parser, VYRE_TOKEN_LEFT_BRACKET)) {
            parse_unexpected(parser, "a type", array_fix);
        }
        vyre_value_type type = parser->lost ? VYRE_TYPE_VOID : parse_type(parser);
        parser->syntax.nodes.items[name].detail = (uint16_t)type;
        lengths = parse_lengths(parser);
        parser->syntax.nodes.items[name].b = lengths;
    }
    parse_expect(parser, VYRE_TOKEN_ASSIGN, "a constant needs a value: `const NAME = value;`");
    uint32_t value = parser->lost ? 0 : parse_constant_value(parser, lengths != VYRE_NONE);
    uint32_t node = parse_node(parser, VYRE_NODE_CONSTANT, spot, 0, name, value);
    parse_expect(parser, VYRE_TOKEN_SEMICOLON, "end the constant with `;`");
    if (parser->lost && !parse_at_item(parser)) {
        skip_item(parser);
    }
    return node;
}

/* NAME ":" type of a struct, without a default or a length. */
static uint32_t parse_struct_field(vyre_parser *parser) {
    uint32_t name = parse_name(parser, "a field");
    parse_expect(parser, VYRE_TOKEN_COLON, "write name and type, as in `mass: f32`");
    if (!parser->lost) {
        vyre_value_type type = parse_type(parser);
        parser->syntax.nodes.items[name].detail = name ? (uint16_t)type : 0;
    }
    if (!parser->lost && parse_at(parser, VYRE_TOKEN_LEFT_BRACKET)) {
        parse_error(parser, vyre_token_spot(&parser->state.token), 102,
                    "a field is no array: use a vector or more fields",
                    "expected `,` or `}`, found `[`");
        parser->lost = true;
    } else if (!parser->lost && parse_at(parser, VYRE_TOKEN_SEMICOLON)) {
        parse_unexpected(parser, "`,` or `}`", "separate the fields by commas");
    }
    parser->quiet = parser->lost; /* other fields may have mistakes of their own */
    return name;
}

/* "struct" NAME "{" field { "," field } [ "," ] "}" */
static uint32_t parse_struct(vyre_parser *parser, vyre_spot spot) {
    uint32_t name = parse_name(parser, "a struct");
    parse_expect(parser, VYRE_TOKEN_LEFT_BRACE, "list the fields in braces");
    size_t pending = parser->pending.count;
    while (!parser->lost && !parse_at(parser, VYRE_TOKEN_RIGHT_BRACE)) {
        if (parser->pending.count - pending == VYRE_LIMIT_STRUCT_SCALARS) {
            parse_error(parser, vyre_token_spot(&parser->state.token), 701, "use several structs",
                        "a struct has more than %d fields", VYRE_LIMIT_STRUCT_SCALARS);
            parser->lost = true;
            break;
        }
        parse_push(parser, parse_struct_field(parser));
        if (!parse_take(parser, VYRE_TOKEN_COMMA)) {
            break;
        }
    }
    parse_expect(parser, VYRE_TOKEN_RIGHT_BRACE, "separate fields by commas and close with }");
    uint32_t fields = parse_list(parser, pending);
    uint32_t node = parse_node(parser, VYRE_NODE_STRUCT, spot, 0, name, fields);
    if (!parser->lost && parse_at(parser, VYRE_TOKEN_SEMICOLON)) {
        parse_unexpected(parser, "another item", "remove the `;` behind the struct");
    }
    return parser->lost ? skip_item(parser) : node;
}

/* Not a word that starts an item: what other languages write, or one of them misspelt? */
static void explain_item(vyre_parser *parser, vyre_token token) {
    static const char *const words[] = {"program", "fn", "const", "struct", "function", "kernel"};
    vyre_str text = parse_text(parser, token);
    bool is_type = token.kind == VYRE_TOKEN_TYPE || vyre_foreign_type(text);
    const char *foreign = vyre_foreign_fix(is_type ? vyre_str_of("function") : text);
    vyre_near near;
    vyre_near_init(&near, text);
    for (size_t i = 0; i < sizeof words / sizeof *words && token.kind == VYRE_TOKEN_NAME; i++) {
        vyre_near_add(&near, vyre_str_of(words[i]));
    }
    char fix[64] = "put statements inside a program or function";
    if (near.count) {
        snprintf(fix, sizeof fix, "write `%.*s`", (int)near.names[0].size, near.names[0].data);
        bool is_foreign = near.names[0].data == words[4] || near.names[0].data == words[5];
        foreign = foreign || !is_foreign ? foreign : vyre_foreign_fix(near.names[0]);
    }
    if (parse_at_word(parser, VYRE_WORD_USE)) {
        foreign = "move the line to the start of the file, in front of all items";
    }
    if (parse_at_word(parser, VYRE_WORD_STRUCT)) {
        vyre_lexer ahead = parser->state.lexer;
        vyre_token next;
        vyre_lexer_next(&ahead, &next);
        vyre_lexer_next(&ahead, &next);
        snprintf(fix, sizeof fix, "%s",
                 next.kind == VYRE_TOKEN_LESS
                     ? "write a struct for each type; a struct is not generic"
                     : "write `struct Name { field: type, ... }`");
    }
    parse_unexpected(parser, "`program`, `fn`, `struct` or `const`", foreign ? foreign : fix);
}

uint32_t vyre_parse_item(vyre_parser *parser) {
    parser->failed = false;
    parser->lost = false;
    vyre_parser_forget_types(parser);
    parser->quiet = parser->state.token.malformed;
    parser->syntax.nodes.count = parser->state.nodes;
    parser->syntax.words.count = parser->state.words;
    vyre_token token = parser->state.token;
    vyre_spot spot = vyre_token_spot(&token);
    switch (token.kind) {
    case VYRE_TOKEN_PROGRAM: parse_advance(parser); return parse_program(parser, spot);
    case VYRE_TOKEN_FN: parse_advance(parser); return parse_function(parser, spot);
    case VYRE_TOKEN_CONST: parse_advance(parser); return parse_constant(parser, spot);
    case VYRE_TOKEN_RIGHT_BRACE:
        parse_unexpected(parser, "`program`, `fn`, `struct` or `const`",
                         "remove the brace; all blocks before it are closed");
        return skip_item(parser);
    case VYRE_TOKEN_NAME:
        if (parse_at_item(parser)) {
            parse_advance(parser);
            return parse_struct(parser, spot);
        }
        explain_item(parser, token);
        return skip_item(parser);
    default: explain_item(parser, token); return skip_item(parser);
    }
}

void vyre_parse_body(vyre_parser *parser) {
    if (!parse_open(parser, VYRE_NODE_FUNCTION, VYRE_SEMICOLON_NONE)) {
        skip_item(parser);
    }
}

static uint32_t complain_step(vyre_parser *parser, vyre_spot spot) {
    if (top(parser)->complained) {
        parser->quiet = true;
    }
    top(parser)->complained = true;
    parse_error(parser, spot, 108,
                "put it into a phase: `phase over DOMAIN { ... }`, or write `over DOMAIN` before "
                "the program's `{`",
                "a statement is outside any phase");
    return parse_skip(parser);
}

static uint32_t end_step(vyre_parser *parser, uint32_t node) {
    parse_expect(parser, VYRE_TOKEN_SEMICOLON, NULL);
    if (parser->lost) {
        parse_recover(parser);
        return 0;
    }
    return node;
}

/* Reports what only the start of a program may have, in front of all its steps. */
static void check_start(vyre_parser *parser, vyre_spot spot, const char *message) {
    if (top(parser)->kind != VYRE_NODE_PROGRAM || top(parser)->started) {
        parse_error(parser, spot, 108, "move it to the start of the program", "%s", message);
        parser->quiet = false;
    }
}

/* "require" size "==" size ";" */
static uint32_t parse_require(vyre_parser *parser, vyre_spot spot) {
    check_start(parser, spot, "a requirement follows a phase or repeat");
    parse_advance(parser);
    uint32_t condition = vyre_parse_expression(parser);
    vyre_node head = vyre_parser_node(parser, condition);
    bool is_equation = head.kind == VYRE_NODE_BINARY && head.detail == VYRE_TOKEN_EQUAL;
    if (!parser->lost && !is_equation && head.kind != VYRE_NODE_ERROR) {
        parse_error(parser, vyre_node_spot(&head), 604,
                    "write `==` between two sizes, as in `require len(a) == len(b);`",
                    "a requirement must compare two sizes with ==");
    }
    return end_step(parser,
                    parse_node(parser, VYRE_NODE_REQUIRE, spot, 0, is_equation ? head.a : VYRE_NONE,
                               is_equation ? head.b : VYRE_NONE));
}

/* "swap" "(" NAME "," NAME ")" ";" */
static uint32_t parse_swap(vyre_parser *parser, vyre_spot spot) {
    top(parser)->started = true;
    parse_advance(parser);
    parse_expect(parser, VYRE_TOKEN_LEFT_PAREN, "write the two arrays, as in `swap(a, b);`");
    uint32_t first = parser->lost ? VYRE_NONE : parse_name(parser, "an array");
    parse_expect(parser, VYRE_TOKEN_COMMA, "write the two arrays, as in `swap(a, b);`");
    uint32_t second = parser->lost ? VYRE_NONE : parse_name(parser, "an array");
    parse_expect(parser, VYRE_TOKEN_RIGHT_PAREN, "write the two arrays, as in `swap(a, b);`");
    return end_step(parser, parse_node(parser, VYRE_NODE_SWAP, spot, 0, first, second));
}

/* Around phases, only memory decides: what invocations compute is not known there. */
static uint32_t parse_step_if(vyre_parser *parser, vyre_spot spot) {
    top(parser)->started = true;
    parse_advance(parser);
    uint32_t condition = vyre_parse_expression(parser);
    vyre_node head = vyre_parser_node(parser, condition);
    if (!parser->lost && head.kind != VYRE_NODE_ELEMENT && head.kind != VYRE_NODE_ERROR) {
        parse_error(parser, vyre_node_spot(&head), 605,
                    "test an element, as in `if changed[0] { ... }`; or put the `if` into a phase",
                    "the condition of an `if` around phases must be one element of an array");
        parse_recover(parser);
        return 0;
    }
    uint32_t node = parse_node(parser, VYRE_NODE_STEP_IF, spot, 0, condition, 0);
    return parse_open(parser, VYRE_NODE_STEP_IF, VYRE_SEMICOLON_NONE) ? node : 0;
}

/* Whether a name may be that of a program: one of the text, or of an operation that it uses. */
static bool may_be_program(const vyre_parser *parser) {
    const vyre_symbol *symbol = &parser->names->symbols.items[parser->state.token.symbol];
    bool is_free =
        symbol->item == VYRE_NONE && vyre_word_of(symbol->word)->class_of != VYRE_WORD_OP;
    return symbol->is_program ||
           (is_free && (parser->source->uses_operations || parser->source->lacks_files));
}

uint32_t parse_step(vyre_parser *parser) {
    vyre_token token = parser->state.token;
    vyre_spot spot = vyre_token_spot(&token);
    switch (token.kind) {
    case VYRE_TOKEN_SCRATCH:
        check_start(parser, spot, "a scratch array is declared after a phase or repeat");
        return parse_array(parser, VYRE_NODE_SCRATCH, "a scratch array");
    case VYRE_TOKEN_PHASE: {
        top(parser)->started = true;
        parse_advance(parser);
        /* Any word may name a phase. */
        vyre_token name = parser->state.token;
        bool named =
            name.symbol != VYRE_NONE && name.kind != VYRE_TOKEN_OVER && !parse_at_item(parser);
        uint32_t node = VYRE_NONE;
        if (named) {
            node = parse_node(parser, VYRE_NODE_NAME, vyre_token_spot(&name), 0, name.symbol, 0);
            parse_advance(parser);
        }
        uint32_t phase = parse_phase(parser, node);
        return parse_open(parser, VYRE_NODE_PHASE, VYRE_SEMICOLON_NONE) ? phase : 0;
    }
    case VYRE_TOKEN_REPEAT: {
        top(parser)->started = true;
        parse_advance(parser);
        vyre_token_kind after = parse_at(parser, VYRE_TOKEN_NAME)
                                    ? (vyre_token_kind)parse_peek(parser).kind
                                    : VYRE_TOKEN_END;
        bool named = after == VYRE_TOKEN_IN || after == VYRE_TOKEN_WHILE;
        uint32_t name = named ? parse_name(parser, "a repeat's count") : VYRE_NONE;
        bool until = parse_take(parser, VYRE_TOKEN_WHILE);
        if (!until && named) {
            parse_take(parser, VYRE_TOKEN_IN);
        }
        uint32_t size = vyre_parse_expression(parser);
        if (until && !parser->lost && vyre_parser_node(parser, size).kind != VYRE_NODE_ELEMENT) {
            vyre_node head = vyre_parser_node(parser, size);
            parse_error(parser, vyre_node_spot(&head), 605,
                        "write `while` with an element, as in `repeat while changed[0] { ... }`",
                        "the condition of a repeat must be one element of an array");
        }
        if (!until && !parser->lost && parse_take(parser, VYRE_TOKEN_RANGE)) {
            uint32_t end = vyre_parse_expression(parser);
            size = parse_node(parser, VYRE_NODE_RANGE, spot, 0, size, end);
        }
        uint32_t node = parse_node(parser, until ? VYRE_NODE_REPEAT_WHILE : VYRE_NODE_REPEAT, spot,
                                   0, name, size);
        return parse_open(parser, VYRE_NODE_REPEAT, VYRE_SEMICOLON_NONE) ? node : 0;
    }
    case VYRE_TOKEN_IF: return parse_step_if(parser, spot);
    case VYRE_TOKEN_NAME:
        if (parse_peek(parser).kind == VYRE_TOKEN_DOT) {
            top(parser)->started = true;
            uint32_t call = parse_named(parser);
            if (!parser->lost && vyre_parser_node(parser, call).kind != VYRE_NODE_LIBRARY_CALL) {
                parse_unexpected(parser, "a call of an operation",
                                 "call it with its arguments in parentheses, as in "
                                 "`sort.keys_u32(keys, sorted);`");
            }
            return end_step(parser, parse_node(parser, VYRE_NODE_STEP_CALL, spot, 0, call, 0));
        }
        if (parse_at_word(parser, VYRE_WORD_SWAP) &&
            parse_peek(parser).kind == VYRE_TOKEN_LEFT_PAREN) {
            return parse_swap(parser, spot);
        }
        if (parse_at_word(parser, VYRE_WORD_REQUIRE)) {
            return parse_require(parser, spot);
        }
        if (parse_at_view(parser)) {
            check_start(parser, spot, "a view is declared after a phase or repeat");
            return end_step(parser, parse_view(parser, spot));
        }
        if (may_be_program(parser) && (parse_peek(parser).kind == VYRE_TOKEN_LEFT_PAREN ||
                                       parse_peek(parser).kind == VYRE_TOKEN_LESS)) {
            top(parser)->started = true;
            uint32_t call = parse_named(parser);
            return end_step(parser, parse_node(parser, VYRE_NODE_STEP_CALL, spot, 0, call, 0));
        }
        return complain_step(parser, spot);
    default: return complain_step(parser, spot);
    }
}

static uint32_t end_block(vyre_parser *parser, vyre_spot spot) {
    vyre_open_block block = parser->blocks.items[--parser->blocks.count];
    if (block.semicolon == VYRE_SEMICOLON_ALLOWED) {
        parse_take(parser, VYRE_TOKEN_SEMICOLON);
    } else if (block.semicolon == VYRE_SEMICOLON_NEEDED) {
        parse_expect(parser, VYRE_TOKEN_SEMICOLON, "end a block that gives values with `};`");
    }
    return parse_node(parser, VYRE_NODE_END, spot, block.kind, 0, 0);
}

/* A `match` has a case, and one for all other numbers if it gives values. */
static void check_match(vyre_parser *parser, const vyre_open_block *block, vyre_spot spot) {
    if (block->complained) {
        return;
    }
    if (!block->has_case) {
        parse_error(parser, spot, 505, "write a case, as in `0 => { ... }`",
                    "the `match` has no cases");
    } else if (block->results && !block->has_else) {
        parse_error(parser, spot, 505, "add `else => { ... }` as its last case",
                    "a `match` that gives values needs one for every number");
    }
}

/* At the brace that closes the innermost block. */
static uint32_t close_block(vyre_parser *parser) {
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    parse_advance(parser);
    vyre_open_block *block = top(parser);
    bool of_steps = block->kind == VYRE_NODE_STEP_IF;
    if ((of_steps || block->kind == VYRE_NODE_IF) && parse_at(parser, VYRE_TOKEN_ELSE)) {
        spot = vyre_token_spot(&parser->state.token);
        parse_advance(parser);
        block->kind = of_steps ? VYRE_NODE_STEP_ELSE : VYRE_NODE_ELSE;
        if (parse_at(parser, VYRE_TOKEN_IF)) {
            block->chained = true;
            block->started = false;
        } else if (!parse_expect(parser, VYRE_TOKEN_LEFT_BRACE, "write `else { ... }`")) {
            if (parse_recover_block(parser)) {
                parse_advance(parser);
            } else {
                block->chained = block->started = true; /* ends at once */
            }
        }
        return parse_node(parser, (vyre_node_kind)block->kind, spot, 0, 0, 0);
    }
    if (block->kind == VYRE_NODE_MATCH) {
        check_match(parser, block, spot);
    }
    if (block->kind == VYRE_NODE_IF && block->results) {
        parse_error(parser, spot, 505, "add `else { yield ...; }`",
                    "an `if` that gives values needs both branches");
    }
    return end_block(parser, spot);
}

uint32_t vyre_parse_next(vyre_parser *parser) {
    parser->syntax.nodes.count = parser->state.nodes;
    parser->syntax.words.count = parser->state.words;
    parser->pending.count = 0;
    parser->depth = parser->choices = parser->branches = 0;
    bool was_lost = parser->lost;
    parser->lost = parser->broken = false;
    parser->quiet = parser->state.token.malformed;
    if (parser->blocks.count == parser->state.base) {
        return VYRE_NONE;
    }
    vyre_open_block *block = top(parser);
    vyre_spot spot = vyre_token_spot(&parser->state.token);
    if (block->chained && block->started) {
        return end_block(parser, spot);
    }
    if (block->chained) {
        block->started = true;
        return block->kind == VYRE_NODE_STEP_ELSE ? parse_step(parser) : parse_statement(parser);
    }
    if (parse_at(parser, VYRE_TOKEN_RIGHT_BRACE)) {
        return close_block(parser);
    }
    if (parse_at_item(parser)) {
        if (!block->complained && !was_lost && !parser->source->no_memory && !parser->source->cut) {
            vyre_spot behind = {parser->state.after.line, parser->state.after.column, 1};
            uint32_t line = block->line;
            vyre_source_file_of(parser->source, &line);
            parse_error(parser, behind, 507, "close it with `}`",
                        "the block opened in line %u is not closed", line);
        }
        for (size_t i = parser->state.base; i < parser->blocks.count; i++) {
            parser->blocks.items[i].complained = true;
        }
        parser->lost = true;
        return end_block(parser, spot);
    }
    if (block->kind == VYRE_NODE_MATCH) {
        return parse_case(parser);
    }
    if (block->kind == VYRE_NODE_PROGRAM || block->kind == VYRE_NODE_REPEAT ||
        block->kind == VYRE_NODE_STEP_IF || block->kind == VYRE_NODE_STEP_ELSE) {
        return parse_step(parser);
    }
    return parse_statement(parser);
}
