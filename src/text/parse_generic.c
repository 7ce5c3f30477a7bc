/* Type parameters of functions and programs, and the types that calls give them. */
#include <string.h>

#include "text/parse.h"

static const char bound_fix[] =
    "write number, int, signed, unsigned, float, vector or a scalar type, several with `|` between "
    "them";

/* One alternative of a bound: a class, `vector`, or a scalar type. */
static vyre_type_set parse_alternative(vyre_parser *parser) {
    vyre_token token = parser->state.token;
    vyre_type_set set = 0;
    if (token.kind == VYRE_TOKEN_TYPE) {
        set = vyre_type_set_of(vyre_token_type(&parser->state.lexer, &token));
    } else if (token.kind == VYRE_TOKEN_NAME) {
        vyre_str text = parse_text(parser, token);
        for (size_t i = 0; i < VYRE_TYPE_BOUNDS; i++) {
            set |= vyre_str_is(text, vyre_type_bounds[i].name) ? vyre_type_bound_set(i) : 0;
        }
    }
    if (set) {
        parse_advance(parser);
    } else {
        parse_unexpected(parser, "a bound", bound_fix);
    }
    return set;
}

static vyre_type_set parse_bound(vyre_parser *parser) {
    vyre_type_set set = 0;
    do {
        set |= parse_alternative(parser);
    } while (!parser->lost && parse_take(parser, VYRE_TOKEN_OR));
    return set;
}

/* Makes a name stand for a type: for itself, unless an instance has bound it. */
static void declare(vyre_parser *parser, vyre_node name, uint32_t number) {
    vyre_symbol *symbol = &parser->names->symbols.items[name.a];
    vyre_str text = vyre_symbol_text(parser->names, name.a);
    bool is_twice = symbol->item != VYRE_NONE;
    for (uint32_t i = 0; i < parser->type_count; i++) {
        is_twice |= parser->types[i] == name.a;
    }
    if (is_twice) {
        parse_error(parser, vyre_node_spot(&name), 202, "rename one of them",
                    symbol->item == VYRE_NONE
                        ? "the type parameter `%.*s` is declared twice"
                        : "the type parameter `%.*s` has the name of an item of this file",
                    (int)text.size, text.data);
        parser->lost = true;
    } else if (!symbol->type) {
        symbol->type = (uint16_t)vyre_type_parameter(number, 1);
        parser->types[parser->type_count++] = name.a;
    }
}

void vyre_parser_forget_types(vyre_parser *parser) {
    for (uint32_t i = 0; i < parser->type_count; i++) {
        parser->names->symbols.items[parser->types[i]].type = 0;
    }
    parser->type_count = 0;
}

uint32_t parse_type_parameters(vyre_parser *parser) {
    size_t pending = parser->pending.count;
    if (!parse_take(parser, VYRE_TOKEN_LESS)) {
        return VYRE_NONE;
    }
    do {
        uint32_t number = (uint32_t)(parser->pending.count - pending);
        vyre_spot spot = vyre_token_spot(&parser->state.token);
        if (number == VYRE_MOST_TYPE_PARAMETERS) {
            parse_error(parser, spot, 701, "use fewer", "there are more than %d type parameters",
                        VYRE_MOST_TYPE_PARAMETERS);
            parser->lost = true;
            break;
        }
        uint32_t name = parse_name(parser, "a type parameter");
        vyre_type_set set = VYRE_TYPE_SET_ALL;
        if (!parser->lost && vyre_parser_node(parser, name).kind == VYRE_NODE_NAME) {
            declare(parser, vyre_parser_node(parser, name), number);
        }
        if (!parser->lost && parse_take(parser, VYRE_TOKEN_COLON)) {
            set = parse_bound(parser);
        }
        parse_push(parser, parse_node(parser, VYRE_NODE_TYPE_PARAMETER, spot, 0, name, set));
    } while (!parser->lost && parse_take(parser, VYRE_TOKEN_COMMA));
    parse_close_angle(parser);
    return parse_list(parser, pending);
}

bool parse_at_stated_types(const vyre_names *names, vyre_token token, vyre_lexer ahead) {
    if (token.kind != VYRE_TOKEN_LESS) {
        return false;
    }
    vyre_lexer_next(&ahead, &token);
    bool is_vector = token.kind == VYRE_TOKEN_NAME && parse_vector_count(names, &token);
    vyre_token_kind kind = (vyre_token_kind)token.kind;
    vyre_lexer_next(&ahead, &token);
    return kind == VYRE_TOKEN_TYPE || (is_vector && token.kind == VYRE_TOKEN_LESS);
}

/* Whether a token may be part of a list of types; `known` becomes false with a name that is none,
 * `written` with one that is no word of the language. */
static bool may_be_type(const vyre_parser *parser, vyre_token token, bool *known, bool *written) {
    if (token.kind == VYRE_TOKEN_NAME) {
        bool is_vector = parse_vector_count(parser->names, &token) > 0;
        *known &= is_vector || parser->names->symbols.items[token.symbol].type;
        *written &= is_vector;
    }
    return token.kind == VYRE_TOKEN_NAME || token.kind == VYRE_TOKEN_TYPE ||
           token.kind == VYRE_TOKEN_COMMA;
}

bool parse_at_type_arguments(const vyre_parser *parser, uint32_t symbol, bool dotted) {
    const vyre_symbol *row = &parser->names->symbols.items[symbol];
    bool is_item = row->item != VYRE_NONE || row->generic;
    bool is_elsewhere = parser->source->uses_operations || parser->source->lacks_files;
    if (vyre_names_find(parser->names, symbol) || (dotted ? is_item : !is_item && !is_elsewhere)) {
        return false;
    }
    vyre_lexer ahead = parser->state.lexer;
    vyre_token token = {0};
    bool known = true, written = true;
    uint32_t open = 1;
    while (open) {
        vyre_lexer_next(&ahead, &token);
        uint32_t closes = token.kind == VYRE_TOKEN_GREATER       ? 1
                          : token.kind == VYRE_TOKEN_SHIFT_RIGHT ? 2
                                                                 : 0;
        open += token.kind == VYRE_TOKEN_LESS;
        if (closes > open || (!closes && token.kind != VYRE_TOKEN_LESS &&
                              !may_be_type(parser, token, &known, &written))) {
            return false;
        }
        open -= closes;
    }
    vyre_lexer_next(&ahead, &token);
    /* Names that are no types yet may be mistakes or, while locals are unknown, values. */
    bool believed = written || (row->generic || dotted ? known || !parser->blind : false);
    return token.kind == VYRE_TOKEN_LEFT_PAREN && believed;
}

void parse_type_arguments(vyre_parser *parser, vyre_type_list *out_types) {
    out_types->count = 0;
    parse_advance(parser);
    do {
        if (out_types->count == VYRE_MOST_TYPE_PARAMETERS) {
            parse_error(parser, vyre_token_spot(&parser->state.token), 701, "use fewer",
                        "there are more than %d types", VYRE_MOST_TYPE_PARAMETERS);
            parser->lost = true;
            return;
        }
        out_types->types[out_types->count++] = parse_type(parser);
    } while (!parser->lost && parse_take(parser, VYRE_TOKEN_COMMA));
    parse_close_angle(parser);
}
