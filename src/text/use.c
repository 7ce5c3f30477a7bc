#include "text/use.h"

#include <string.h>

static const char how[] = "write `use \"file.vyre\";`, `use dialect.*;` or `use dialect.name;`";

static bool is_id_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

/* A quoted path in one line. */
static bool read_path(vyre_lexer *lexer, const char *at, vyre_use *use) {
    const char *end = vyre_source_end_at(lexer->source, at), *after = at + 1;
    while (after < end && *after != '"' && (unsigned char)*after >= 0x20) {
        after++;
    }
    bool closed = after < end && *after == '"';
    use->kind = VYRE_USE_FILE;
    use->length = use->spot.length = (uint32_t)(after - at) + closed;
    if (!closed || after == at + 1) {
        vyre_source_report(lexer->source, use->spot, closed ? 209 : 104, how,
                           closed ? "the name of the file is empty"
                                  : "the name of the file has no closing quote");
        return false;
    }
    return true;
}

/* NAME { "." NAME } [ "." "*" ], without anything in between. */
static bool read_id(vyre_lexer *lexer, const char *at, vyre_use *use) {
    const char *end = lexer->source->end, *after = at;
    bool well_formed = true, has_point = false;
    while (after < end && is_id_byte(*after)) {
        bool is_point = *after == '.';
        well_formed &= !is_point || (after > at && after[-1] != '.');
        has_point |= is_point;
        after++;
    }
    bool is_all = after > at && after < end && *after == '*' && after[-1] == '.';
    well_formed &= has_point && (is_all || after[-1] != '.');
    after += is_all;
    use->kind = is_all ? VYRE_USE_DIALECT : VYRE_USE_OPERATION;
    use->length = use->spot.length = (uint32_t)(after - at);
    if (!well_formed) {
        use->spot.length += !use->length;
        vyre_source_report(lexer->source, use->spot, 102, how,
                           "`use` names neither a file nor a dialect nor an operation");
    } else if (use->length > VYRE_LIMIT_NAME_BYTES) {
        vyre_source_report(lexer->source, use->spot, 209, "`vyre ops` lists the operations",
                           "the ID has more than %d bytes", VYRE_LIMIT_NAME_BYTES);
        well_formed = false;
    }
    return well_formed;
}

/* Behind a line that is wrong: its semicolon, or its end. */
static void skip_line(vyre_lexer *lexer) {
    const char *end = vyre_source_end_at(lexer->source, lexer->at);
    while (lexer->at < end && *lexer->at != '\n' && *lexer->at != ';') {
        lexer->at++;
    }
    lexer->at += lexer->at < end && *lexer->at == ';';
}

/* Behind the word `use`. */
static bool read_one(vyre_lexer *lexer, vyre_use *use) {
    const char *at = lexer->at, *end = lexer->source->end;
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    use->offset = (uint32_t)(at - lexer->source->text);
    use->spot = (vyre_spot){lexer->line, (uint32_t)(at - lexer->line_start) + 1, 1};
    bool valid = at < end && *at == '"' ? read_path(lexer, at, use) : read_id(lexer, at, use);
    lexer->at = at + use->length;
    if (!valid) {
        skip_line(lexer);
        return false;
    }
    vyre_lexer behind = *lexer;
    vyre_token token;
    vyre_lexer_next(&behind, &token);
    if (token.kind != VYRE_TOKEN_SEMICOLON) {
        vyre_source_report(lexer->source, use->spot, 102, "end the line with `;`",
                           "expected `;` behind `use`");
        return false;
    }
    *lexer = behind;
    return true;
}

bool vyre_use_read(vyre_lexer *lexer, uint32_t part, vyre_uses *uses) {
    for (;;) {
        vyre_lexer ahead = *lexer;
        vyre_token token;
        vyre_lexer_next(&ahead, &token);
        if (token.kind != VYRE_TOKEN_NAME ||
            lexer->names->symbols.items[token.symbol].word != VYRE_WORD_USE) {
            return !lexer->source->no_memory;
        }
        vyre_use use = {.part = part};
        bool valid = read_one(&ahead, &use);
        *lexer = ahead;
        if (valid && !vyre_vec_push(uses, use)) {
            return false;
        }
    }
}

vyre_str vyre_use_name(const vyre_source *source, const vyre_use *use) {
    vyre_str name = {source->text + use->offset, use->length};
    switch ((vyre_use_kind)use->kind) {
    case VYRE_USE_FILE: return (vyre_str){name.data + 1, name.size - 2};
    case VYRE_USE_DIALECT: return (vyre_str){name.data, name.size - 2};
    case VYRE_USE_OPERATION: break;
    }
    return name;
}

/* Adds a component to a path that ends with `/`, or is empty. */
static void add_component(vyre_strbuf *out, size_t root, vyre_str component) {
    if (!component.size || vyre_str_is(component, ".")) {
        return;
    }
    size_t before = out->size;
    while (before > root && out->data[before - 1] == '/') {
        before--;
    }
    size_t start = before;
    while (start > root && out->data[start - 1] != '/') {
        start--;
    }
    vyre_str last = {out->data + start, before - start};
    bool goes_up = vyre_str_is(component, "..") && last.size && !vyre_str_is(last, "..");
    if (goes_up) {
        vyre_strbuf_cut(out, start);
    } else {
        vyre_strbuf_add(out, component.data, component.size);
        vyre_strbuf_putc(out, '/');
    }
}

static void add_components(vyre_strbuf *out, size_t root, vyre_str path) {
    for (size_t at = 0; at < path.size && !out->failed;) {
        const char *slash = memchr(path.data + at, '/', path.size - at);
        size_t size = slash ? (size_t)(slash - path.data) - at : path.size - at;
        add_component(out, root, (vyre_str){path.data + at, size});
        at += size + 1;
    }
}

void vyre_use_path(const char *from, vyre_str path, vyre_strbuf *out) {
    const char *slash = from ? strrchr(from, '/') : NULL;
    bool is_absolute = path.size && *path.data == '/';
    vyre_str folder = {from, slash && !is_absolute ? (size_t)(slash - from) + 1 : 0};
    bool has_root = is_absolute || (folder.size && *folder.data == '/');
    size_t root = has_root;
    vyre_strbuf_puts(out, has_root ? "/" : "");
    add_components(out, root, folder);
    add_components(out, root, path);
    if (out->size > root && !out->failed) {
        vyre_strbuf_cut(out, out->size - 1); /* the last `/` */
    }
}
