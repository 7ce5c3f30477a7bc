/* The files of a text, what each of them sees, and operations that are called without their
 * dialect. */
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "ir/diagnostic.h"
#include "text/lower.h"

/* Parts */

static bool add_part(vyre_unit *unit, const char *start, const char *text, const char *file,
                     uint32_t lines_before) {
    vyre_source_part part = {.file = file,
                             .start = start,
                             .end = unit->source.end,
                             .body = text,
                             .body_line_start = text,
                             .body_line = lines_before + 1,
                             .lines_before = lines_before};
    if (unit->parts.count) {
        unit->parts.items[unit->parts.count - 1].end = start;
    }
    bool stored = vyre_vec_push(&unit->parts, part);
    unit->source.parts = unit->parts.items;
    unit->source.part_count = (uint32_t)unit->parts.count;
    return stored;
}

static uint32_t count_lines(const char *from, const char *to) {
    uint32_t lines = 0;
    for (const char *next; (next = memchr(from, '\n', (size_t)(to - from))); from = next + 1) {
        lines++;
    }
    return lines;
}

/* Where each file of the text starts; false without memory. */
static bool find_parts(vyre_unit *unit) {
    const char *at = unit->source.text, *end = unit->source.end, *counted = at;
    bool has_mark = end - at >= 3 && !memcmp(at, "\xef\xbb\xbf", 3); /* of the byte order */
    bool stored = add_part(unit, at, at + (has_mark ? 3 : 0), NULL, 0);
    if (stored) {
        unit->parts.items[0].body_line_start = at;
    }
    uint32_t lines = 0;
    while (stored && (at = memchr(at, VYRE_FILE_MARK, (size_t)(end - at)))) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        bool is_start = line_end && at > unit->source.text && at[-1] == '\n' &&
                        unit->parts.count <= VYRE_LIMIT_FILES + 1;
        if (is_start) {
            lines += count_lines(counted, line_end + 1);
            counted = line_end + 1;
            size_t length = (size_t)(line_end - at) - 1;
            const char *file = vyre_arena_copy(&unit->files, at + 1, length);
            stored = file && add_part(unit, at, counted, length ? file : NULL, lines);
        }
        at = is_start ? counted : at + 1;
    }
    return stored;
}

static const char *part_path(const vyre_unit *unit, size_t part) {
    const char *file = unit->parts.items[part].file;
    return file ? file : unit->source.name;
}

/* The part that a line with `use` names; reports if the text has none. */
static void see_file(vyre_unit *unit, const vyre_use *use) {
    vyre_str named = vyre_use_name(&unit->source, use);
    vyre_strbuf path = {0};
    vyre_use_path(part_path(unit, use->part), named, &path);
    unit->source.no_memory |= path.failed;
    size_t part = 1;
    while (part < unit->parts.count && (!unit->parts.items[part].file || path.failed ||
                                        strcmp(unit->parts.items[part].file, path.data) != 0)) {
        part++;
    }
    if (part < unit->parts.count) {
        unit->parts.items[use->part].sees |= UINT64_C(1) << part;
    } else if (!path.failed) {
        vyre_source_report(&unit->source, use->spot, 209,
                           "run the file with the vyre command, or join the text with its files by "
                           "vyre_text_join first",
                           "the text came without the file %.*s", (int)named.size, named.data);
    }
    vyre_strbuf_free(&path);
}

/* What a file sees of others it sees through them, too. The text itself sees all. */
static void spread(vyre_unit *unit) {
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < unit->parts.count; i++) {
            vyre_source_part *part = &unit->parts.items[i];
            uint64_t sees = part->file ? part->sees | UINT64_C(1) << i : UINT64_MAX;
            for (size_t k = 0; k < unit->parts.count; k++) {
                sees |= sees >> k & 1 ? unit->parts.items[k].sees : 0;
            }
            again |= sees != part->sees;
            part->sees = sees;
        }
    }
}

static bool read_part(vyre_unit *unit, uint32_t number) {
    vyre_source_part *part = &unit->parts.items[number];
    vyre_lexer lexer = {&unit->source,   &unit->names, part->body, part->body_line_start,
                        part->body_line, false,        false};
    bool stored = vyre_use_read(&lexer, number, &unit->uses);
    part->body = lexer.at;
    part->body_line = lexer.line;
    part->body_line_start = lexer.line_start;
    return stored;
}

/* Dialects and operations */

static vyre_str last_component(vyre_str id) {
    const char *at = id.data + id.size;
    while (at > id.data && at[-1] != '.') {
        at--;
    }
    return (vyre_str){at, (size_t)(id.data + id.size - at)};
}

static bool is_same(vyre_str left, vyre_str right) {
    return left.size == right.size && !memcmp(left.data, right.data, left.size);
}

static vyre_str dialect_of(vyre_str id) {
    size_t last = last_component(id).size;
    return (vyre_str){id.data, id.size > last ? id.size - last - 1 : 0};
}

static void report_unknown(vyre_lower *lower, const vyre_use *use) {
    const vyre_library_view *view = &lower->library;
    vyre_str name = vyre_use_name(&lower->unit->source, use), known, before = {0};
    bool is_dialect = use->kind == VYRE_USE_DIALECT;
    vyre_near near;
    vyre_strbuf fix = {0};
    vyre_near_init(&near, name);
    for (size_t i = 0; view->library && (known = view->library->at(view, i)).data; i++) {
        vyre_str here = is_dialect ? dialect_of(known) : known;
        if (!is_dialect || !before.data || !is_same(before, here)) {
            vyre_near_add(&near, here);
        }
        before = here;
    }
    vyre_near_print(&near, &fix, "did you mean ");
    vyre_strbuf_puts(&fix, near.count ? "?" : "`vyre ops` lists the operations by dialect");
    lower_report(lower, use->spot, 209, vyre_strbuf_string(&fix), "there is no %s `%.*s`",
                 is_dialect ? "dialect" : "operation", (int)name.size, name.data);
    if (fix.failed) {
        lower_no_memory(lower);
    }
    vyre_strbuf_free(&fix);
}

/* Whether an operation of the dialect exists; true of a library that does not list what it has. */
static bool has_dialect(const vyre_library_view *view, vyre_str dialect) {
    vyre_str known = view->library->at(view, 0);
    for (size_t i = 0; known.data; known = view->library->at(view, ++i)) {
        if (is_same(dialect_of(known), dialect)) {
            return true;
        }
    }
    return !view->library->at(view, 0).data;
}

/* Whether there is an operation of that id, or one with types behind it. */
static bool has_operation(const vyre_library_view *view, vyre_str id) {
    vyre_library_source source;
    bool found = view->library->find(view, id, &source);
    vyre_str known;
    for (size_t i = 0; !found && (known = view->library->at(view, i)).data; i++) {
        found = known.size > id.size && known.data[id.size] == '<' &&
                !memcmp(known.data, id.data, id.size);
    }
    return found;
}

/* A line that gives an operation a name which is taken. */
static void check_name(vyre_lower *lower, uint32_t number) {
    const vyre_unit *unit = lower->unit;
    const vyre_use *use = &unit->uses.items[number];
    vyre_str id = vyre_use_name(&unit->source, use), name = last_component(id);
    const vyre_word *word = vyre_word_of(vyre_word_find(name));
    bool is_called = word->class_of == VYRE_WORD_OP || word->class_of == VYRE_WORD_FUNCTION ||
                     (word->class_of == VYRE_WORD_CONTEXT && word->code >= VYRE_WORD_VEC2);
    bool is_reserved = word->class_of == VYRE_WORD_KEYWORD || word->class_of == VYRE_WORD_TYPE;
    if (is_called || is_reserved) {
        lower_report(lower, use->spot, 203, "call it by its ID, without `use`",
                     "`%.*s` is a word of the language", (int)name.size, name.data);
        return;
    }
    for (uint32_t i = 0; i < number; i++) {
        const vyre_use *other = &unit->uses.items[i];
        vyre_str first = vyre_use_name(&unit->source, other);
        if (other->kind == VYRE_USE_OPERATION && other->part == use->part && !is_same(first, id) &&
            is_same(last_component(first), name)) {
            lower_report(lower, use->spot, 202, "remove one of them, and call that one by its ID",
                         "`%.*s` would be both `%.*s` and `%.*s`", (int)name.size, name.data,
                         (int)first.size, first.data, (int)id.size, id.data);
        }
    }
}

static void check_use(vyre_lower *lower, uint32_t number) {
    const vyre_use *use = &lower->unit->uses.items[number];
    vyre_str name = vyre_use_name(&lower->unit->source, use);
    const vyre_library_view *view = &lower->library;
    if (!lower_enter_library(lower, use->spot, name)) {
        return;
    }
    bool known = view->library && (use->kind == VYRE_USE_DIALECT ? has_dialect(view, name)
                                                                 : has_operation(view, name));
    if (!known) {
        report_unknown(lower, use);
    } else if (use->kind == VYRE_USE_OPERATION) {
        check_name(lower, number);
    }
}

void lower_read_uses(vyre_lower *lower) {
    vyre_unit *unit = lower->unit;
    bool stored = find_parts(unit);
    for (uint32_t i = 0; i < unit->parts.count && stored; i++) {
        stored = read_part(unit, i);
    }
    if (!stored) {
        lower_no_memory(lower);
        return;
    }
    for (uint32_t i = 0; i < unit->uses.count && !unit->source.no_memory; i++) {
        if (unit->uses.items[i].kind == VYRE_USE_FILE) {
            see_file(unit, &unit->uses.items[i]);
        } else {
            unit->source.uses_operations = true;
        }
    }
    spread(unit);
}

void lower_check_uses(vyre_lower *lower) {
    for (uint32_t i = 0; i < lower->unit->uses.count && !lower->unit->source.no_memory; i++) {
        if (lower->unit->uses.items[i].kind != VYRE_USE_FILE) {
            check_use(lower, i);
        }
    }
}

const char *lower_hidden_in(const vyre_lower *lower, vyre_str name) {
    const vyre_unit *unit = lower->unit;
    for (size_t i = 0; i < unit->items.count && unit->source.hides_items; i++) {
        uint32_t symbol = unit->items.items[i].symbol;
        if (symbol != VYRE_NONE && is_same(vyre_symbol_text(&unit->names, symbol), name)) {
            const char *path = part_path(unit, unit->names.symbols.items[symbol].part);
            return vyre_source_name(path);
        }
    }
    return NULL;
}

/* Whether a line makes the name that a call has stand for an operation, whose id it then gives. */
static bool gives(vyre_lower *lower, const vyre_use *use, vyre_node call, vyre_name_text *out) {
    vyre_str name = vyre_symbol_text(&lower->unit->names, call.a);
    vyre_str used = vyre_use_name(&lower->unit->source, use);
    vyre_library_source source;
    if (use->kind == VYRE_USE_OPERATION) {
        memcpy(out->text, used.data, used.size);
        out->text[used.size] = '\0';
        return is_same(last_component(used), name) && lower_add_types(lower, call, out);
    }
    int size = snprintf(out->text, sizeof out->text, "%.*s.%.*s", (int)used.size, used.data,
                        (int)name.size, name.data);
    return size > 0 && (size_t)size < sizeof out->text && lower_add_types(lower, call, out) &&
           lower->library.library->find(&lower->library, vyre_str_of(out->text), &source);
}

void lower_near_used(const vyre_lower *lower, uint32_t line, vyre_near *near) {
    const vyre_unit *unit = lower->unit;
    const vyre_library_view *view = &lower->library;
    uint32_t part = vyre_source_part_of_line(&unit->source, line);
    for (size_t i = 0; i < unit->uses.count && lower->has_entered; i++) {
        const vyre_use *use = &unit->uses.items[i];
        vyre_str name = vyre_use_name(&unit->source, use), known;
        for (size_t k = 0; use->part == part && (known = view->library->at(view, k)).data; k++) {
            bool fits = use->kind == VYRE_USE_DIALECT ? is_same(dialect_of(known), name)
                                                      : is_same(known, name);
            if (fits) {
                vyre_near_add(near, last_component(known));
            }
        }
    }
}

bool lower_used_id(vyre_lower *lower, vyre_node call, vyre_name_text *out) {
    const vyre_unit *unit = lower->unit;
    vyre_str name = vyre_symbol_text(&unit->names, call.a);
    uint32_t part = vyre_source_part_of_line(&unit->source, call.line);
    vyre_use_kind found = VYRE_USE_FILE;
    for (size_t i = 0; i < unit->uses.count && lower->has_entered; i++) {
        const vyre_use *use = &unit->uses.items[i];
        vyre_name_text id;
        if (use->part != part || use->kind == VYRE_USE_FILE || !gives(lower, use, call, &id)) {
            continue;
        }
        bool is_other = found != VYRE_USE_FILE && strcmp(id.text, out->text) != 0;
        if (is_other && found == VYRE_USE_DIALECT && use->kind == VYRE_USE_DIALECT) {
            lower_report(lower, vyre_node_spot(&call), 206, "call the one that you mean by its ID",
                         "`%.*s` could be `%s` or `%s`", (int)name.size, name.data, out->text,
                         id.text);
            out->text[0] = '\0';
            return true;
        }
        if (found != VYRE_USE_OPERATION) {
            *out = id;
            found = (vyre_use_kind)use->kind;
        }
    }
    return found != VYRE_USE_FILE;
}
