/* The canonical layout, made from tokens: line ends between statements, four spaces a block, one
 * way to put spaces. Inside a statement the author's line ends stay. Nothing but white space
 * changes. */
#include <string.h>

#include <vyre/text.h>

#include "base/status.h"
#include "base/strbuf.h"
#include "ir/diagnostic.h"
#include "text/parse.h"
#include "text/use.h"

enum { INDENT = 4, COLUMNS = 100 };

typedef struct piece {
    uint32_t offset, length;
    uint8_t kind;     /* vyre_token_kind */
    bool unary;       /* an operator in front of its operand */
    bool angle;       /* <, > or >> around a type */
    bool generic;     /* the name of an item with type parameters */
    bool type;        /* the name of a type */
    bool fields;      /* the brace of a struct, or a comma between its fields */
    bool is_case;     /* an `else` of a match */
    bool line_before; /* the author began a line here */
    bool gap_before;  /* and left one empty before it */
    bool breaks;      /* a comment that ends its line, or has several */
} piece;

/* A comment behind the code of its line, waiting to be aligned with its neighbours. */
typedef struct trailer {
    size_t at;     /* where it starts in the output */
    size_t column; /* of the end of the code in front of it */
} trailer;

typedef struct formatter {
    vyre_source *source;
    vyre_uses uses;
    VYRE_VEC(piece) pieces;
    VYRE_VEC(trailer) trailers; /* of the lines in front of this one */
    vyre_strbuf out;
    size_t line_start; /* of the line that is being written */
    uint32_t depth;    /* blocks that are open */
    uint32_t brackets; /* lists that are open, in which `;` ends no statement */
    bool in_statement; /* the statement has begun and not ended */
    bool else_open;    /* it is an `else` whose block comes next */
    bool flat[VYRE_LIMIT_NESTING +
              8]; /* by depth: the block, or the one before it, is on one line */
} formatter;

static bool is_word(vyre_token_kind kind) {
    return kind == VYRE_TOKEN_NAME || kind == VYRE_TOKEN_NUMBER || kind == VYRE_TOKEN_TYPE ||
           kind == VYRE_TOKEN_STRING || kind >= VYRE_TOKEN_PROGRAM;
}

static bool is_operator(vyre_token_kind kind) {
    return kind >= VYRE_TOKEN_PLUS && kind <= VYRE_TOKEN_ASSIGN_SHIFT_RIGHT;
}

/* Whether an operator behind this piece has an operand in front of it. */
static bool ends_operand(const piece *before) {
    switch (before->kind) {
    case VYRE_TOKEN_NAME:
    case VYRE_TOKEN_NUMBER:
    case VYRE_TOKEN_TYPE:
    case VYRE_TOKEN_RIGHT_PAREN:
    case VYRE_TOKEN_RIGHT_BRACKET:
    case VYRE_TOKEN_TRUE:
    case VYRE_TOKEN_FALSE:
    case VYRE_TOKEN_INF:
    case VYRE_TOKEN_NAN: return true;
    default: return false;
    }
}

/* The pieces in front of one that is being classified. */
typedef struct context {
    const piece *before;
    piece *opened[2]; /* each `<` that only a type stands behind, the inner one last */
    uint32_t opened_count;
    bool after_step;   /* the step of a range comes, which may have a sign */
    bool after_struct; /* a struct's name comes, or its brace */
    bool in_struct;
} context;

/* Angle brackets enclose types alone: comparisons cannot be chained, so nothing else has a name or
 * type between `<` and `>`. */
static void classify_angle(context *c, piece *here) {
    bool is_type = here->kind == VYRE_TOKEN_TYPE || here->kind == VYRE_TOKEN_NAME;
    uint32_t closes = here->kind == VYRE_TOKEN_GREATER       ? 1
                      : here->kind == VYRE_TOKEN_SHIFT_RIGHT ? 2
                                                             : 0;
    if (closes && closes <= c->opened_count && c->before->kind != VYRE_TOKEN_LESS) {
        for (uint32_t i = 0; i < closes; i++) {
            c->opened[--c->opened_count]->angle = true;
        }
        here->angle = true;
    } else if (here->kind == VYRE_TOKEN_LESS && c->opened_count < 2) {
        c->opened[c->opened_count++] = here;
    } else if (!is_type) {
        c->opened_count = 0;
    }
}

/* Angle brackets with several types, or bounds, stand in front of a parenthesis and behind the name
 * of something generic, or with types of the language alone behind any name. */
static void classify_types(formatter *f, size_t first) {
    piece *pieces = f->pieces.items;
    bool is_generic = first > 0 && pieces[first - 1].generic;
    bool is_name = first > 0 && pieces[first - 1].kind == VYRE_TOKEN_NAME;
    bool is_head = first > 1 && (pieces[first - 2].kind == VYRE_TOKEN_FN ||
                                 pieces[first - 2].kind == VYRE_TOKEN_PROGRAM);
    uint32_t open = 0;
    size_t end = first;
    for (bool inside = is_name; inside && end < f->pieces.count; end++) {
        vyre_token_kind kind = (vyre_token_kind)pieces[end].kind;
        uint32_t closes = kind == VYRE_TOKEN_GREATER ? 1 : kind == VYRE_TOKEN_SHIFT_RIGHT ? 2 : 0;
        bool belongs = kind == VYRE_TOKEN_LESS || kind == VYRE_TOKEN_TYPE || closes ||
                       kind == VYRE_TOKEN_COMMA || (is_generic && pieces[end].type) ||
                       (is_head && (kind == VYRE_TOKEN_NAME || kind == VYRE_TOKEN_COLON ||
                                    kind == VYRE_TOKEN_OR || kind == VYRE_TOKEN_COMMENT));
        open += kind == VYRE_TOKEN_LESS;
        if (!belongs || closes > open) {
            return;
        }
        open -= closes;
        inside = open > 0;
    }
    if (end == first || end == f->pieces.count || pieces[end].kind != VYRE_TOKEN_LEFT_PAREN) {
        return;
    }
    for (size_t i = first; i < end; i++) {
        pieces[i].angle |= pieces[i].kind == VYRE_TOKEN_LESS ||
                           pieces[i].kind == VYRE_TOKEN_GREATER ||
                           pieces[i].kind == VYRE_TOKEN_SHIFT_RIGHT;
    }
}

/* A sign stands behind no operand; behind the brace of an `if` with a value, in its line, it
 * subtracts. */
static void classify_sign(formatter *f, context *c, piece *here) {
    bool may_be_sign = here->kind == VYRE_TOKEN_MINUS || here->kind == VYRE_TOKEN_NOT ||
                       here->kind == VYRE_TOKEN_COMPLEMENT;
    bool is_behind = c->before && ends_operand(c->before);
    bool is_behind_value = here->kind == VYRE_TOKEN_MINUS && !here->line_before && c->before &&
                           c->before->kind == VYRE_TOKEN_RIGHT_BRACE;
    here->unary = may_be_sign && (c->after_step || !(is_behind || is_behind_value));
    c->after_step = is_behind && here->kind == VYRE_TOKEN_NAME &&
                    vyre_str_is((vyre_str){f->source->text + here->offset, here->length}, "step");
}

static void classify_struct(formatter *f, context *c, piece *here) {
    bool starts_line = !c->before || c->before->kind == VYRE_TOKEN_RIGHT_BRACE ||
                       c->before->kind == VYRE_TOKEN_SEMICOLON;
    if (here->kind == VYRE_TOKEN_NAME && starts_line &&
        vyre_str_is((vyre_str){f->source->text + here->offset, here->length}, "struct")) {
        c->after_struct = true;
    } else if (c->after_struct && here->kind == VYRE_TOKEN_LEFT_BRACE) {
        here->fields = c->in_struct = true;
        c->after_struct = false;
    } else if (here->kind != VYRE_TOKEN_NAME) {
        c->after_struct = false;
    }
    if (c->in_struct) {
        here->fields |= here->kind == VYRE_TOKEN_COMMA;
        c->in_struct = here->kind != VYRE_TOKEN_RIGHT_BRACE;
    }
}

/* Which < and > enclose a type, which operators stand in front of their operand, which commas end a
 * field. */
static void classify(formatter *f) {
    context c = {0};
    for (size_t i = 0; i < f->pieces.count; i++) {
        piece *here = &f->pieces.items[i];
        if (here->kind == VYRE_TOKEN_COMMENT) {
            continue;
        }
        classify_sign(f, &c, here);
        classify_angle(&c, here);
        if (here->kind == VYRE_TOKEN_LESS) {
            classify_types(f, i);
        }
        classify_struct(f, &c, here);
        if (here->kind == VYRE_TOKEN_GIVES && c.before && c.before->kind == VYRE_TOKEN_ELSE) {
            f->pieces.items[c.before - f->pieces.items].is_case = true;
        }
        c.before = here;
    }
}

/* What a `use` names, which is one word here, if it comes next. */
static bool read_used(const formatter *f, vyre_lexer *lexer, size_t *use, vyre_token *out_token) {
    const vyre_use *next = *use < f->uses.count ? &f->uses.items[*use] : NULL;
    const char *at = lexer->at;
    while (next && at < f->source->end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    if (!next || at != f->source->text + next->offset) {
        return false;
    }
    *out_token = (vyre_token){.kind = VYRE_TOKEN_NAME,
                              .symbol = VYRE_NONE,
                              .offset = next->offset,
                              .length = next->length,
                              .line = lexer->line};
    lexer->at = at + next->length;
    ++*use;
    return true;
}

static bool read_pieces(formatter *f, vyre_names *names) {
    vyre_lexer lexer;
    vyre_lexer_init(&lexer, f->source, names);
    lexer.comments = true;
    uint32_t line = 1;
    size_t use = 0;
    for (;;) {
        vyre_token token;
        if (!read_used(f, &lexer, &use, &token)) {
            vyre_lexer_next(&lexer, &token);
        }
        if (token.kind == VYRE_TOKEN_END) {
            break;
        }
        const char *text = f->source->text + token.offset;
        bool is_name = token.kind == VYRE_TOKEN_NAME && token.symbol != VYRE_NONE;
        const vyre_symbol *symbol = is_name ? &names->symbols.items[token.symbol] : NULL;
        piece here = {.offset = token.offset,
                      .length = token.length,
                      .kind = token.kind,
                      .generic = is_name && symbol->generic,
                      .type = is_name && (symbol->type || parse_vector_count(names, &token)),
                      .line_before = token.line > line,
                      .gap_before = token.line > line + 1};
        if (token.kind == VYRE_TOKEN_COMMENT) {
            bool to_line_end = text[1] == '/';
            here.breaks = to_line_end || memchr(text, '\n', token.length);
            while (to_line_end && (text[here.length - 1] == ' ' || text[here.length - 1] == '\t' ||
                                   text[here.length - 1] == '\r')) {
                here.length--;
            }
        }
        line = lexer.line;
        if (!vyre_vec_push(&f->pieces, here)) {
            return false;
        }
    }
    classify(f);
    return !f->source->no_memory;
}

/* Whether a space separates two pieces of one line. */
static bool wants_space(const piece *left, const piece *right) {
    if (left->kind == VYRE_TOKEN_COMMENT || right->kind == VYRE_TOKEN_COMMENT) {
        return left->kind != VYRE_TOKEN_LEFT_PAREN && left->kind != VYRE_TOKEN_LEFT_BRACKET &&
               right->kind != VYRE_TOKEN_RIGHT_PAREN && right->kind != VYRE_TOKEN_RIGHT_BRACKET &&
               right->kind != VYRE_TOKEN_COMMA && right->kind != VYRE_TOKEN_SEMICOLON;
    }
    if (left->angle || right->angle) {
        return left->angle && left->kind != VYRE_TOKEN_LESS && !right->angle &&
               (is_word(right->kind) || right->kind == VYRE_TOKEN_LEFT_BRACE ||
                right->kind == VYRE_TOKEN_RIGHT_BRACE ||
                (is_operator(right->kind) && !right->unary));
    }
    switch (right->kind) {
    case VYRE_TOKEN_COMMA:
    case VYRE_TOKEN_SEMICOLON:
    case VYRE_TOKEN_COLON:
    case VYRE_TOKEN_RIGHT_PAREN:
    case VYRE_TOKEN_RIGHT_BRACKET:
    case VYRE_TOKEN_DOT:
    case VYRE_TOKEN_RANGE: return false;
    case VYRE_TOKEN_LEFT_BRACE:
    case VYRE_TOKEN_RIGHT_BRACE: return true;
    case VYRE_TOKEN_LEFT_BRACKET:
    case VYRE_TOKEN_LEFT_PAREN:
        if (left->kind == VYRE_TOKEN_NAME || left->kind == VYRE_TOKEN_TYPE ||
            left->kind == VYRE_TOKEN_RIGHT_BRACKET) {
            return false;
        }
        break;
    default: break;
    }
    switch (left->kind) {
    case VYRE_TOKEN_LEFT_PAREN:
    case VYRE_TOKEN_LEFT_BRACKET:
    case VYRE_TOKEN_DOT:
    case VYRE_TOKEN_RANGE: return false;
    default: return !left->unary;
    }
}

static const piece *next_token(const formatter *f, size_t at) {
    for (at++; at < f->pieces.count; at++) {
        if (f->pieces.items[at].kind != VYRE_TOKEN_COMMENT) {
            return &f->pieces.items[at];
        }
    }
    return NULL;
}

static size_t width_of(const char *text, size_t size) {
    size_t width = 0;
    for (size_t i = 0; i < size; i++) {
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return width;
}

/* Whether a block, with the branches of `else` behind it, was written on one line and fits. */
static bool is_flat(const formatter *f, size_t open, size_t column) {
    size_t depth = 0;
    for (size_t i = open; i < f->pieces.count; i++) {
        const piece *here = &f->pieces.items[i];
        column += width_of(f->source->text + here->offset, here->length);
        column += i > open && wants_space(here - 1, here);
        if (column > COLUMNS || here->breaks || (i > open && here->line_before)) {
            return false;
        }
        depth += here->kind == VYRE_TOKEN_LEFT_BRACE;
        if (here->kind == VYRE_TOKEN_RIGHT_BRACE && --depth == 0) {
            const piece *next = next_token(f, i);
            if (!next || next->kind != VYRE_TOKEN_ELSE || next->is_case) {
                return true;
            }
        }
    }
    return false;
}

/* Pushes the comments of neighbouring lines to one column, moving each byte once, the last first.
 */
static void align_trailers(formatter *f) {
    size_t column = 0, shift = 0, end = f->out.size;
    for (size_t i = 0; i < f->trailers.count; i++) {
        column = f->trailers.items[i].column > column ? f->trailers.items[i].column : column;
    }
    for (size_t i = 0; i < f->trailers.count; i++) {
        shift += column - f->trailers.items[i].column;
    }
    f->line_start += shift;
    vyre_strbuf_repeat(&f->out, ' ', shift); /* room at the end */
    for (size_t i = f->trailers.count; i-- > 0 && shift && !f->out.failed;) {
        const trailer *here = &f->trailers.items[i];
        memmove(f->out.data + here->at + shift, f->out.data + here->at, end - here->at);
        shift -= column - here->column;
        memset(f->out.data + here->at + shift, ' ', column - here->column);
        end = here->at;
    }
    f->trailers.count = 0;
}

static size_t column_of(const formatter *f) {
    return width_of(vyre_strbuf_string(&f->out) + f->line_start, f->out.size - f->line_start);
}

static void end_line(formatter *f, bool has_trailer) {
    vyre_strbuf_putc(&f->out, '\n');
    f->line_start = f->out.size;
    if (!has_trailer) {
        align_trailers(f);
    }
}

/* Whether a piece behind a brace goes on with an expression that an `if` is part of: no statement
 * starts with it. */
static bool continues_value(const piece *right) {
    return right->kind == VYRE_TOKEN_RIGHT_PAREN || right->kind == VYRE_TOKEN_RIGHT_BRACKET ||
           (is_operator(right->kind) && !right->unary);
}

/* Whether a line ends between two pieces. */
static bool wants_line(const formatter *f, const piece *left, const piece *right) {
    bool inside_flat = f->depth && f->flat[f->depth];
    if (left->kind == VYRE_TOKEN_COMMENT && f->source->text[left->offset + 1] == '/') {
        return true;
    }
    if (right->kind == VYRE_TOKEN_COMMENT) {
        return right->line_before;
    }
    if (left->kind == VYRE_TOKEN_COMMENT && right->line_before) {
        return true;
    }
    if (left->kind == VYRE_TOKEN_COMMENT && f->in_statement) {
        return false;
    }
    switch (right->kind) {
    case VYRE_TOKEN_RIGHT_BRACE: return !inside_flat && left->kind != VYRE_TOKEN_LEFT_BRACE;
    case VYRE_TOKEN_LEFT_BRACE:
        if (f->in_statement) {
            return false;
        }
        break;
    case VYRE_TOKEN_ELSE:
        if (!right->is_case) {
            return false;
        }
        break;
    case VYRE_TOKEN_SEMICOLON:
    case VYRE_TOKEN_COMMA: return false;
    default: break;
    }
    if (left->kind == VYRE_TOKEN_RIGHT_BRACE && continues_value(right)) {
        return right->line_before;
    }
    switch (left->kind) {
    case VYRE_TOKEN_COMMA: return left->fields ? !inside_flat : right->line_before;
    case VYRE_TOKEN_LEFT_BRACE:
    case VYRE_TOKEN_RIGHT_BRACE: return !inside_flat;
    case VYRE_TOKEN_SEMICOLON: return f->brackets ? right->line_before : !inside_flat;
    default: return right->line_before;
    }
}

static void start_line(formatter *f, const piece *before, const piece *here) {
    bool trailing =
        f->trailers.count && f->trailers.items[f->trailers.count - 1].at >= f->line_start;
    end_line(f, trailing);
    if (here->gap_before && before->kind != VYRE_TOKEN_LEFT_BRACE &&
        here->kind != VYRE_TOKEN_RIGHT_BRACE) {
        end_line(f, false);
    }
    bool closes = here->kind == VYRE_TOKEN_RIGHT_PAREN || here->kind == VYRE_TOKEN_RIGHT_BRACKET;
    size_t levels = f->depth;
    if (here->kind == VYRE_TOKEN_RIGHT_BRACE) {
        levels--;
    } else if (f->in_statement && !closes && here->kind != VYRE_TOKEN_ELSE &&
               here->kind != VYRE_TOKEN_LEFT_BRACE) {
        levels++;
    }
    vyre_strbuf_repeat(&f->out, ' ', levels * INDENT);
}

static void put_piece(formatter *f, size_t index) {
    const piece *here = &f->pieces.items[index];
    const piece *before = index ? here - 1 : NULL;
    const char *text = f->source->text + here->offset;
    if (before && wants_line(f, before, here)) {
        start_line(f, before, here);
    } else if (before) {
        bool empty_block =
            before->kind == VYRE_TOKEN_LEFT_BRACE && here->kind == VYRE_TOKEN_RIGHT_BRACE;
        if (!empty_block && wants_space(before, here)) {
            vyre_strbuf_putc(&f->out, ' ');
        }
        if (here->kind == VYRE_TOKEN_COMMENT && text[1] == '/') {
            vyre_strbuf_putc(&f->out, ' ');
            if (!vyre_vec_push(&f->trailers, (trailer){f->out.size, column_of(f)})) {
                f->out.failed = true;
            }
        }
    }
    if (here->kind == VYRE_TOKEN_LEFT_BRACE) {
        bool outer_flat = f->depth && f->flat[f->depth];
        bool after_else = f->in_statement && f->else_open;
        f->depth++;
        if (!after_else) {
            f->flat[f->depth] = outer_flat || is_flat(f, index, column_of(f));
        }
    }
    vyre_strbuf_add(&f->out, text, here->length);
    if (here->breaks && text[1] == '*') {
        const char *newline = text + here->length;
        while (newline[-1] != '\n') {
            newline--;
        }
        align_trailers(f);
        f->line_start = f->out.size - (size_t)(text + here->length - newline);
    }
    switch (here->kind) {
    case VYRE_TOKEN_COMMENT: break;
    case VYRE_TOKEN_RIGHT_BRACE:
        f->depth--;
        f->in_statement = f->else_open = false;
        break;
    case VYRE_TOKEN_LEFT_BRACE: f->in_statement = f->else_open = false; break;
    case VYRE_TOKEN_SEMICOLON:
        f->in_statement = f->brackets;
        f->else_open = false;
        break;
    case VYRE_TOKEN_LEFT_BRACKET:
        f->brackets++;
        f->in_statement = true;
        break;
    case VYRE_TOKEN_RIGHT_BRACKET: f->brackets -= f->brackets > 0; break;
    case VYRE_TOKEN_COMMA: f->in_statement = !here->fields; break;
    case VYRE_TOKEN_ELSE:
        f->in_statement = true;
        f->else_open = !here->is_case;
        break;
    default: f->in_statement = true; break;
    }
}

/* Makes type parameters known behind the name of an item; false if it has none. */
static bool find_parameters(vyre_lexer *lexer, vyre_names *names) {
    vyre_token token;
    vyre_lexer_next(lexer, &token);
    bool is_generic = token.kind == VYRE_TOKEN_LESS, comes = is_generic;
    while (is_generic && token.kind != VYRE_TOKEN_GREATER && token.kind != VYRE_TOKEN_END) {
        vyre_lexer_next(lexer, &token);
        if (comes && token.kind == VYRE_TOKEN_NAME) {
            names->symbols.items[token.symbol].type = VYRE_FIRST_TYPE_PARAMETER;
        }
        comes = token.kind == VYRE_TOKEN_COMMA;
    }
    return is_generic;
}

/* Makes known the structs, whose names are types, the programs, which steps may call, and what
 * types may follow. Items of other files are not at hand. */
static void find_items(const vyre_lexer *start) {
    vyre_lexer lexer = *start;
    vyre_source *source = lexer.source;
    vyre_names *names = lexer.names;
    for (vyre_lexer_find_item(&lexer); lexer.at < source->end; vyre_lexer_find_item(&lexer)) {
        vyre_token keyword, name;
        vyre_lexer_next(&lexer, &keyword);
        vyre_lexer ahead = lexer;
        vyre_lexer_next(&ahead, &name);
        if (name.symbol != VYRE_NONE) {
            bool may_be_generic = keyword.kind != VYRE_TOKEN_NAME &&
                                  keyword.kind != VYRE_TOKEN_CONST && name.kind == VYRE_TOKEN_NAME;
            bool is_generic = may_be_generic && find_parameters(&ahead, names);
            vyre_symbol *symbol = &names->symbols.items[name.symbol];
            symbol->type = keyword.kind == VYRE_TOKEN_NAME ? VYRE_FIRST_STRUCT : symbol->type;
            symbol->is_program |= keyword.kind == VYRE_TOKEN_PROGRAM;
            symbol->generic |= is_generic;
        }
    }
}

/* Reads the whole text for mistakes of syntax. */
static void check_syntax(vyre_source *source, vyre_names *names, vyre_uses *uses) {
    vyre_parser parser;
    vyre_parser_init(&parser, source, names);
    vyre_lexer start;
    vyre_lexer_init(&start, source, names);
    source->no_memory |= !vyre_use_read(&start, 0, uses);
    for (size_t i = 0; i < uses->count; i++) {
        source->uses_operations |= uses->items[i].kind != VYRE_USE_FILE;
        source->lacks_files |= uses->items[i].kind == VYRE_USE_FILE;
    }
    if (!source->no_memory) {
        find_items(&start);
        parser.blind = true;
        vyre_parser_open(&parser, &start);
    }
    while (!source->no_memory && parser.state.token.kind != VYRE_TOKEN_END &&
           !vyre_diagnostics_full(source->diagnostics)) {
        uint32_t item = vyre_parse_item(&parser);
        if (vyre_parser_node(&parser, item).kind == VYRE_NODE_FUNCTION) {
            vyre_parse_body(&parser);
        }
        while (vyre_parse_next(&parser) != VYRE_NONE) {
        }
    }
    vyre_parser_deinit(&parser);
}

vyre_status vyre_text_format(const char *name, const char *text, size_t size,
                             vyre_diagnostics *diagnostics, char **out_text, size_t *out_size) {
    *out_text = NULL;
    *out_size = 0;
    text = text ? text : ""; /* of 0 bytes */
    vyre_diagnostics *own = NULL;
    vyre_names names = {0};
    formatter f = {0};
    vyre_status status = vyre_words_prepare();
    if (!status && !diagnostics) {
        status = vyre_diagnostics_create(&own);
        diagnostics = own;
    }
    if (status) {
        goto done;
    }
    vyre_source source = {
        .name = name, .text = text, .end = text + size, .diagnostics = diagnostics};
    vyre_names_init(&names, text, text + size);
    if (vyre_source_check(&source)) {
        check_syntax(&source, &names, &f.uses);
    }
    bool memory = !source.no_memory; /* without it, errors say nothing about the text */
    status = memory ? vyre_diagnostics_status(diagnostics, vyre_source_name(name)) : VYRE_OK;
    f.source = &source;
    if (!status && memory && read_pieces(&f, &names)) {
        for (size_t i = 0; i < f.pieces.count; i++) {
            put_piece(&f, i);
        }
        if (f.pieces.count) {
            end_line(&f, true);
            align_trailers(&f);
        }
        vyre_strbuf_add(&f.out, "", 0); /* a string even where there is nothing */
    }
    if (!status && (!memory || source.no_memory || f.out.failed || !f.out.data)) {
        status = vyre_no_memory("to format %s", vyre_source_name(name));
    }
    if (!status) {
        *out_text = f.out.data;
        *out_size = f.out.size;
        f.out = (vyre_strbuf){0};
    }
done:
    vyre_strbuf_free(&f.out);
    vyre_vec_free(&f.uses);
    vyre_vec_free(&f.pieces);
    vyre_vec_free(&f.trailers);
    vyre_names_deinit(&names);
    vyre_diagnostics_free(own);
    return status;
}
