#include "text/parser.h"

#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "ir/diagnostic.h"
#include "text/foreign.h"
#include "text/parse.h"

void parse_stop(vyre_parser *parser) {
    parser->source->no_memory = true;
    parser->state.lexer.at = parser->source->end;
    parser->state.token.kind = VYRE_TOKEN_END;
}

void vyre_parser_init(vyre_parser *parser, vyre_source *source, vyre_names *names) {
    *parser = (vyre_parser){.source = source, .names = names};
    vyre_lexer_init(&parser->state.lexer, source, names);
    vyre_node error = {.kind = VYRE_NODE_ERROR};
    if (!vyre_vec_push(&parser->syntax.nodes, error) ||
        !vyre_vec_reserve(&parser->syntax.words, 1) || !vyre_vec_reserve(&parser->pending, 1)) {
        parse_stop(parser);
    }
    parser->state.nodes = parser->syntax.nodes.count;
}

void vyre_parser_deinit(vyre_parser *parser) {
    vyre_vec_free(&parser->syntax.nodes);
    vyre_vec_free(&parser->syntax.words);
    vyre_vec_free(&parser->blocks);
    vyre_vec_free(&parser->pending);
}

void vyre_parser_open(vyre_parser *parser, const vyre_lexer *place) {
    parser->state = (vyre_parser_state){.lexer = *place,
                                        .base = parser->blocks.count,
                                        .nodes = parser->syntax.nodes.count,
                                        .words = parser->syntax.words.count};
    parser->quiet = parser->lost = false;
    parse_advance(parser);
}

void vyre_parser_restore(vyre_parser *parser, const vyre_parser_state *state) {
    parser->blocks.count = parser->state.base;
    parser->syntax.nodes.count = parser->state.nodes;
    parser->syntax.words.count = parser->state.words;
    parser->state = *state;
}

vyre_lexer vyre_parser_here(const vyre_parser *parser) {
    vyre_lexer place = parser->state.lexer;
    const vyre_token *token = &parser->state.token;
    place.at = parser->source->text + token->offset;
    place.line = token->line;
    place.line_start = place.at - (token->column - 1);
    return place;
}

/* `struct` is a name like any other, unless a name and a brace follow. */
static bool parse_at_struct(const vyre_parser *parser, bool inside) {
    if (!parse_at_word(parser, VYRE_WORD_STRUCT) || (inside && parser->state.token.column > 1)) {
        return false;
    }
    vyre_lexer ahead = parser->state.lexer;
    vyre_token token;
    vyre_lexer_next(&ahead, &token);
    if (token.symbol == VYRE_NONE) {
        return false;
    }
    vyre_lexer_next(&ahead, &token);
    return token.kind == VYRE_TOKEN_LEFT_BRACE;
}

bool parse_at_item(const vyre_parser *parser) {
    const vyre_token *token = &parser->state.token;
    bool inside = parser->blocks.count > parser->state.base;
    switch (token->kind) {
    case VYRE_TOKEN_END: return true;
    case VYRE_TOKEN_CONST:
        if (inside && token->column > 1) {
            return false;
        }
        break;
    case VYRE_TOKEN_PROGRAM:
    case VYRE_TOKEN_FN: break;
    case VYRE_TOKEN_NAME: return parse_at_struct(parser, inside);
    default: return false;
    }
    return !inside || parse_peek(parser).symbol != VYRE_NONE;
}

vyre_token parse_peek(const vyre_parser *parser) {
    vyre_lexer ahead = parser->state.lexer;
    vyre_token token;
    vyre_lexer_next(&ahead, &token);
    return token;
}

void parse_error(vyre_parser *parser, vyre_spot spot, uint32_t code, const char *fix,
                 const char *format, ...) {
    parser->failed = parser->broken = true;
    if (parser->quiet) {
        return;
    }
    parser->quiet = true;
    vyre_source_line line;
    vyre_diagnostic at = vyre_source_place(parser->source, spot, &line);
    va_list arguments;
    va_start(arguments, format);
    vyre_diagnostics_vadd(parser->source->diagnostics, &at, code, fix, format, arguments);
    va_end(arguments);
}

enum { SHOWN_BYTES = 40 };

/* The next token as messages show it. */
static void describe(const vyre_parser *parser, char *out, size_t size) {
    const vyre_token *token = &parser->state.token;
    if (token->kind == VYRE_TOKEN_END) {
        snprintf(out, size, "the end of the file");
        return;
    }
    bool cut = token->length > SHOWN_BYTES;
    snprintf(out, size, "`%.*s%s`", cut ? SHOWN_BYTES : (int)token->length,
             parser->source->text + token->offset, cut ? "..." : "");
}

/* A mark of other languages may be several tokens here: those before the place belong to it. */
static const char *foreign_mark(const char *at, const char *start, size_t length) {
    const char *fix = NULL;
    for (ptrdiff_t before = 2; before > 0 && !fix; before--) {
        if (at - start >= before) {
            fix = vyre_foreign_fix((vyre_str){at - before, (size_t)before + 1});
        }
    }
    fix = fix ? fix : vyre_foreign_fix((vyre_str){at, 2});
    return fix ? fix : vyre_foreign_fix((vyre_str){at, length});
}

const char *parse_foreign(const vyre_parser *parser, vyre_token token) {
    vyre_str text = parse_text(parser, token);
    if (token.kind == VYRE_TOKEN_IF || token.kind == VYRE_TOKEN_CONST) {
        return vyre_foreign_fix(text);
    }
    if (token.symbol == VYRE_NONE) {
        bool is_mark = token.kind != VYRE_TOKEN_NUMBER && text.data + 1 < parser->source->end;
        return is_mark ? foreign_mark(text.data, parser->source->text, text.size) : NULL;
    }
    const vyre_symbol *symbol = &parser->names->symbols.items[token.symbol];
    bool is_own = symbol->item != VYRE_NONE || vyre_names_find(parser->names, token.symbol) ||
                  vyre_word_of(symbol->word)->class_of == VYRE_WORD_OP;
    return is_own || token.kind != VYRE_TOKEN_NAME ? NULL : vyre_foreign_fix(text);
}

/* The fix for the next token, unless it starts the next line and so is not to blame. */
static const char *better_fix(const vyre_parser *parser, const char *fix) {
    const vyre_token *token = &parser->state.token;
    const char *foreign =
        token->line == parser->state.after.line ? parse_foreign(parser, *token) : NULL;
    return foreign ? foreign : fix;
}

void parse_unexpected(vyre_parser *parser, const char *what, const char *fix) {
    char found[SHOWN_BYTES + 8];
    describe(parser, found, sizeof found);
    parse_error(parser, vyre_token_spot(&parser->state.token), 102, better_fix(parser, fix),
                "expected %s, found %s", what, found);
    parser->lost = true;
}

bool parse_missing(vyre_parser *parser, vyre_token_kind kind, const char *fix) {
    if (parser->lost) {
        return false;
    }
    char found[SHOWN_BYTES + 8], general[32];
    describe(parser, found, sizeof found);
    snprintf(general, sizeof general, "write `%s` here", vyre_token_text(kind));
    /* What is missing at the end of a line belongs there, not in front of the next one. */
    const vyre_token *token = &parser->state.token;
    vyre_spot behind = {parser->state.after.line, parser->state.after.column, 1};
    bool line_ends = token->kind == VYRE_TOKEN_END || token->line > behind.line;
    fix = fix ? fix : general;
    fix = kind == VYRE_TOKEN_COLON ? fix : better_fix(parser, fix);
    parse_error(parser, line_ends ? behind : vyre_token_spot(token), 102, fix,
                "expected `%s`, found %s", vyre_token_text(kind), found);
    parser->lost = true;
    return false;
}

void parse_push(vyre_parser *parser, uint32_t word) {
    if (!vyre_vec_push(&parser->pending, word)) {
        parse_stop(parser);
    }
}

uint32_t parse_parts(vyre_parser *parser, const uint32_t *words, uint32_t count) {
    uint32_t at = (uint32_t)parser->syntax.words.count;
    if (!vyre_vec_reserve(&parser->syntax.words, count)) {
        parse_stop(parser);
        return VYRE_NONE;
    }
    if (count) {
        memcpy(parser->syntax.words.items + at, words, count * sizeof *words);
    }
    parser->syntax.words.count += count;
    return at;
}

uint32_t parse_list(vyre_parser *parser, size_t pending) {
    uint32_t count = (uint32_t)(parser->pending.count - pending);
    uint32_t at = parse_parts(parser, &count, 1);
    if (at != VYRE_NONE &&
        parse_parts(parser, parser->pending.items + pending, count) == VYRE_NONE) {
        at = VYRE_NONE;
    }
    parser->pending.count = pending;
    return at;
}

uint32_t parse_name(vyre_parser *parser, const char *what) {
    vyre_token token = parser->state.token;
    if (token.kind == VYRE_TOKEN_NAME) {
        const vyre_word *word = vyre_word_of(parser->names->symbols.items[token.symbol].word);
        if (word->class_of == VYRE_WORD_OP && !vyre_word_gives_way(word)) {
            parse_error(parser, vyre_token_spot(&token), 203, "choose another name",
                        "`%s` is an operation and cannot be the name of %s", word->text, what);
        }
        parse_advance(parser);
        return parse_node(parser, VYRE_NODE_NAME, vyre_token_spot(&token), 0, token.symbol, 0);
    }
    if (token.symbol != VYRE_NONE && !parse_at_item(parser)) {
        parse_error(parser, vyre_token_spot(&token), 203, "choose another name",
                    "`%.*s` is a keyword and cannot be the name of %s", (int)token.length,
                    parser->source->text + token.offset, what);
        parse_advance(parser);
        return 0;
    }
    char wanted[64];
    snprintf(wanted, sizeof wanted, "the name of %s", what);
    parse_unexpected(parser, wanted, "use letters, digits and _, and start with a letter or _");
    return 0;
}

static void explain_type(vyre_parser *parser, vyre_token token) {
    vyre_str name = parse_text(parser, token);
    const char *foreign = vyre_foreign_type(name), *instead = vyre_foreign_fix(name);
    vyre_near near;
    vyre_near_init(&near, name);
    for (vyre_type type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
        vyre_near_add(&near, vyre_str_of(vyre_type_name(type)));
    }
    for (uint32_t i = 0; i < parser->names->symbols.count; i++) {
        bool is_hidden = parser->names->symbols.items[i].other == token.symbol;
        if (parser->names->symbols.items[i].type && is_hidden) {
            instead = "move the struct into a file that this one uses";
        } else if (parser->names->symbols.items[i].type) {
            vyre_near_add(&near, vyre_symbol_text(parser->names, i));
        }
    }
    vyre_str best = foreign      ? vyre_str_of(foreign)
                    : near.count ? near.names[0]
                                 : (vyre_str){"u32", 3};
    char fix[96];
    snprintf(fix, sizeof fix, "%s%.*s",
             foreign || near.count ? "write "
                                   : "use bool, or i, u or f and a width in bits, such as ",
             (int)best.size, best.data);
    parse_error(parser, vyre_token_spot(&token), 201, instead && !foreign ? instead : fix,
                "unknown type `%.*s`",
                (int)(token.length < SHOWN_BYTES ? token.length : SHOWN_BYTES), name.data);
}

bool parse_close_angle(vyre_parser *parser) {
    vyre_token *token = &parser->state.token;
    if (parser->lost || token->kind != VYRE_TOKEN_SHIFT_RIGHT) {
        return parse_expect(parser, VYRE_TOKEN_GREATER, NULL);
    }
    token->kind = VYRE_TOKEN_GREATER;
    token->offset++;
    token->column++;
    token->length--;
    return true;
}

uint32_t parse_vector_count(const vyre_names *names, const vyre_token *token) {
    uint32_t word = names->symbols.items[token->symbol].word;
    return word >= VYRE_WORD_VEC2 && word <= VYRE_WORD_VEC4 ? word - VYRE_WORD_VEC2 + 2 : 0;
}

/* What a type parameter stands for, VYRE_TYPE_VOID for any other token. */
static vyre_value_type parse_parameter(const vyre_parser *parser, vyre_token token) {
    bool is_parameter = token.kind == VYRE_TOKEN_NAME && parse_is_parameter(parser, token.symbol);
    return is_parameter ? parser->names->symbols.items[token.symbol].type : VYRE_TYPE_VOID;
}

/* "<" type ">" behind vec2, vec3 or vec4. */
static vyre_value_type parse_vector_type(vyre_parser *parser, uint32_t count) {
    parse_advance(parser);
    parse_expect(parser, VYRE_TOKEN_LESS, "write the type of its components, as in vec3<f32>");
    vyre_token token = parser->state.token;
    if (!parser->lost && token.kind == VYRE_TOKEN_NAME &&
        !parse_vector_count(parser->names, &token) &&
        vyre_foreign_type(parse_text(parser, token))) {
        explain_type(parser, token);
        parser->lost = true;
    } else if (!parser->lost && token.kind != VYRE_TOKEN_TYPE && !parse_parameter(parser, token)) {
        parse_unexpected(parser, "the type of the components",
                         "write a number type or bool, as in vec3<f32>");
    }
    if (parser->lost) {
        return VYRE_TYPE_VOID;
    }
    vyre_value_type part = token.kind == VYRE_TOKEN_TYPE
                               ? vyre_token_type(&parser->state.lexer, &token)
                               : parse_parameter(parser, token);
    if (!vyre_type_is_scalar(part) && !vyre_type_is_parameter(part)) {
        parse_error(parser, vyre_token_spot(&token), 301, "call it with a scalar for that type",
                    "the components of a vector are scalars, and `%.*s` is none here",
                    (int)token.length, parser->source->text + token.offset);
    }
    parse_advance(parser);
    if (!parse_close_angle(parser)) {
        return VYRE_TYPE_VOID;
    }
    return vyre_type_is_parameter(part)
               ? vyre_type_parameter(vyre_type_parameter_number(part), count)
               : vyre_vector_of(vyre_scalar_of(part), count);
}

bool parse_at_sum(const vyre_parser *parser) {
    return parse_at_word(parser, VYRE_WORD_SUM) && parse_peek(parser).kind == VYRE_TOKEN_LESS;
}

vyre_value_type parse_sum(vyre_parser *parser) {
    parse_advance(parser);
    parse_advance(parser);
    vyre_value_type type = parse_type(parser);
    return parse_close_angle(parser) ? type : VYRE_TYPE_VOID;
}

vyre_value_type parse_type(vyre_parser *parser) {
    vyre_token token = parser->state.token;
    if (parse_at_sum(parser)) {
        parse_error(parser, vyre_token_spot(&token), 108,
                    "declare them at the start of a program, as in `scratch s: sum<f32>[n];`",
                    "only a scratch array holds sums");
        parse_sum(parser);
        return VYRE_TYPE_VOID;
    }
    if (token.kind == VYRE_TOKEN_TYPE) {
        vyre_type type = vyre_token_type(&parser->state.lexer, &token);
        parse_advance(parser);
        return type;
    }
    bool is_pointer = token.kind == VYRE_TOKEN_STAR || token.kind == VYRE_TOKEN_AND;
    if (is_pointer || token.kind == VYRE_TOKEN_LEFT_BRACKET) {
        parse_error(parser, vyre_token_spot(&token), 102,
                    is_pointer
                        ? "write `inout type` for a parameter that changes a variable of the "
                          "caller, and buffer<type> for an array"
                        : "write an array as buffer<type>, or as `var a: type[4];` in a block",
                    "expected a type, found `%s`", vyre_token_text(token.kind));
        parser->lost = true;
        return VYRE_TYPE_VOID;
    }
    if (token.kind != VYRE_TOKEN_NAME) {
        parse_unexpected(parser, "a type",
                         "write bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32 or f64");
        return VYRE_TYPE_VOID;
    }
    vyre_value_type type = parser->names->symbols.items[token.symbol].type;
    if (!type && parser->source->lacks_files && !vyre_foreign_type(parse_text(parser, token))) {
        type = VYRE_FIRST_STRUCT;
    }
    uint32_t components = parse_vector_count(parser->names, &token);
    if (components && (!type || parse_peek(parser).kind == VYRE_TOKEN_LESS)) {
        return parse_vector_type(parser, components);
    }
    if (!type) {
        explain_type(parser, token);
    }
    parse_advance(parser);
    if (!type && (parse_at(parser, VYRE_TOKEN_LESS) || parse_at(parser, VYRE_TOKEN_NAME))) {
        parser->lost = true; /* array<f32>, mut buffer<f32> */
    }
    return type;
}

void vyre_parser_end(vyre_parser *parser) {
    if (!parse_at_item(parser)) {
        vyre_parse_item(parser);
    }
}
