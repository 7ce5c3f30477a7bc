#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/near.h"
#include "text/foreign.h"
#include "text/lower.h"
#include "text/lower_generic.h"

bool lower_add_types(vyre_lower *lower, vyre_node call, vyre_name_text *id) {
    size_t size = strlen(id->text);
    for (uint32_t i = 0; i < call.detail; i++) {
        vyre_value_type type = lower->parser.syntax.words.items[call.b - call.detail + i];
        vyre_type_text room;
        int more = snprintf(id->text + size, sizeof id->text - size, "%c%s%s", i ? ',' : '<',
                            lower_type_name(lower, type, &room), i + 1 < call.detail ? "" : ">");
        if (more < 0 || (size_t)more >= sizeof id->text - size || !type) {
            return false; /* a type that is none was reported; no operation has so long a name */
        }
        size += (size_t)more;
    }
    return true;
}

/* The id that a call names, without what may stand between its parts; false after a report. */
static bool read_id(vyre_lower *lower, vyre_node call, vyre_name_text *out) {
    const char *from = lower->unit->source.text + call.a;
    if (call.length >= sizeof out->text) {
        lower_report(lower, vyre_node_spot(&call), 206, "`vyre ops` lists the operations",
                     "the ID of an operation has more than %d bytes", VYRE_LIMIT_NAME_BYTES);
        return false;
    }
    for (uint32_t i = 0; i < call.length; i++) {
        char c = from[i];
        bool belongs = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '.';
        if (!belongs) {
            lower_report(lower, vyre_node_spot(&call), 102,
                         "write it without spaces or comments, as "
                         "in `hash.mix(...)`",
                         "an operation's ID has a space or comment inside");
            return false;
        }
        out->text[i] = c;
    }
    out->text[call.length] = '\0';
    return lower_add_types(lower, call, out);
}

/* A method or a module of other languages: v.max(0), math.sqrt(x). */
static bool explain_dotted(vyre_lower *lower, vyre_node call, const char *id, vyre_strbuf *fix) {
    const char *last = strrchr(id, '.') + 1;
    size_t first = strcspn(id, ".");
    vyre_names *names = &lower->unit->names;
    uint32_t symbol = vyre_names_symbol(names, lower->unit->source.text + call.a, (uint32_t)first);
    const char *whole = vyre_foreign_fix(vyre_str_of(id)); /* console.log */
    const char *foreign = whole ? whole : vyre_foreign_fix(vyre_str_of(last));
    bool is_method = symbol != VYRE_NONE && vyre_names_find(names, symbol);
    bool is_operation = vyre_word_of(vyre_word_find(vyre_str_of(last)))->class_of == VYRE_WORD_OP;
    if (is_method) {
        vyre_strbuf_printf(fix, "write %s(%.*s%s); there are no methods", last, (int)first, id,
                           vyre_parser_count(&lower->parser, call.b) ? ", ..." : "");
    } else if (is_operation && !whole) {
        vyre_strbuf_printf(fix, "write %s(...) without `%.*s`", last, (int)(last - id), id);
    } else if (foreign) {
        vyre_strbuf_puts(fix, foreign);
    }
    return is_method || is_operation || foreign;
}

static void report_unknown(vyre_lower *lower, vyre_node call, const char *id) {
    vyre_near near;
    vyre_strbuf fix = {0};
    vyre_near_init(&near, vyre_str_of(id));
    const vyre_library_view *view = &lower->library;
    vyre_str known;
    size_t size = strlen(id);
    for (size_t i = 0; view->library && (known = view->library->at(view, i)).data; i++) {
        vyre_near_add(&near, known);
        bool is_instance =
            known.size > size && !memcmp(known.data, id, size) && known.data[size] == '<';
        if (is_instance && !fix.size) {
            vyre_strbuf_printf(&fix, "state its type, as in %.*s", (int)known.size, known.data);
        }
    }
    if (fix.size) {
        near.count = 0;
    } else if (near.count || !explain_dotted(lower, call, id, &fix)) {
        vyre_near_print(&near, &fix, "did you mean ");
        vyre_strbuf_puts(&fix, near.count ? "?" : "`vyre ops` lists the operations");
    }
    lower_report(lower, vyre_node_spot(&call), 206, vyre_strbuf_string(&fix),
                 "unknown operation `%s`", id);
    if (fix.failed) {
        lower_no_memory(lower);
    }
    vyre_strbuf_free(&fix);
}

bool lower_enter_library(vyre_lower *lower, vyre_spot spot, vyre_str id) {
    vyre_library_view *view = &lower->library;
    if (lower->has_entered || !view->library) {
        return true;
    }
    vyre_status status = view->library->enter ? view->library->enter(view) : VYRE_OK;
    lower->has_entered = !status;
    if (vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY) {
        lower_no_memory(lower);
    } else if (status) {
        lower_report(lower, spot, 206, vyre_status_fix(status), "`%.*s` cannot be looked up: %s",
                     (int)id.size, id.data, vyre_status_message(status));
    }
    vyre_status_free(status);
    return lower->has_entered;
}

/* Asks the library; false after a report. */
static bool find_source(vyre_lower *lower, vyre_node call, const char *id,
                        vyre_library_source *out_source) {
    const vyre_library_view *view = &lower->library;
    if (!lower_enter_library(lower, vyre_node_spot(&call), vyre_str_of(id))) {
        return false;
    }
    if (!view->library || !view->library->find(view, vyre_str_of(id), out_source)) {
        report_unknown(lower, call, id);
        return false;
    }
    if (out_source->form == VYRE_LIBRARY_OPAQUE || !out_source->text) {
        lower_report(lower, vyre_node_spot(&call), 206,
                     "use it through the API or from the command line",
                     "`%s` has no program text, so a program cannot call it", id);
        return false;
    }
    return true;
}

/* Reads an operation's text. What is wrong there is reported with the call that led to it. */
static void read_source(vyre_lower *lower, vyre_unit *unit, const char *id, vyre_node call) {
    vyre_unit *from = lower->unit;
    vyre_builder *builder = lower->builder;
    vyre_parser_state saved = lower->parser.state;
    bool failed = lower->parser.failed;
    vyre_diagnostic_call site = {
        .function = id, .line = call.line, .column = call.column, .caller = from->source.calls};
    site.file = vyre_source_file_of(&from->source, &site.line);
    size_t errors = vyre_diagnostics_errors(unit->source.diagnostics);
    unit->source.calls = &site;
    lower->builder = NULL;
    lower_switch(lower, unit);
    if (vyre_source_check(&unit->source)) {
        lower_read_unit(lower);
    }
    lower_switch(lower, from);
    lower->builder = builder;
    vyre_parser_restore(&lower->parser, &saved);
    lower->parser.failed = failed;
    unit->source.calls = NULL;
    unit->broken = vyre_diagnostics_errors(unit->source.diagnostics) > errors;
}

static vyre_unit *find_unit(vyre_lower *lower, const vyre_library_source *source, vyre_node call) {
    for (size_t i = 0; i < lower->units.count; i++) {
        const vyre_source *known = &lower->units.items[i]->source;
        if (known->text == source->text && known->end == source->text + source->text_size) {
            return lower->units.items[i];
        }
    }
    vyre_unit *unit = vyre_alloc_zeroed(1, sizeof *unit);
    if (!unit || !vyre_vec_push(&lower->units, unit)) {
        vyre_free(unit);
        lower_no_memory(lower);
        return NULL;
    }
    unit->source = (vyre_source){.name = source->file ? source->file : source->id,
                                 .text = source->text,
                                 .end = source->text + source->text_size,
                                 .diagnostics = lower->unit->source.diagnostics,
                                 .foreign = true};
    vyre_names_init(&unit->names, unit->source.text, unit->source.end);
    read_source(lower, unit, source->id, call);
    return unit;
}

static const char *const form_names[] = {
    [VYRE_LIBRARY_PROGRAM] = "a program", [VYRE_LIBRARY_FUNCTION] = "a function"};

/* The item that is an operation's entry; of an instance the generic one. */
static bool find_entry(const vyre_unit *unit, const vyre_library_source *source,
                       uint32_t *out_item) {
    vyre_str stem = {source->entry, strcspn(source->entry, "<")};
    vyre_item_kind kind =
        source->form == VYRE_LIBRARY_PROGRAM ? VYRE_ITEM_PROGRAM : VYRE_ITEM_FUNCTION;
    for (uint32_t i = 0; i < unit->items.count; i++) {
        const vyre_item *item = &unit->items.items[i];
        if (item->kind != kind || item->symbol == VYRE_NONE) {
            continue;
        }
        vyre_str name = vyre_symbol_text(&unit->names, item->symbol);
        if (name.size == stem.size && !memcmp(name.data, stem.data, name.size) &&
            item->generic == (source->entry[stem.size] == '<')) {
            *out_item = i;
            return true;
        }
    }
    return false;
}

vyre_callee lower_operation_of(vyre_lower *lower, vyre_node call, vyre_library_form form) {
    vyre_name_text id;
    return read_id(lower, call, &id) ? lower_operation_by_id(lower, call, id.text, form)
                                     : (vyre_callee){0};
}

vyre_callee lower_operation_by_id(vyre_lower *lower, vyre_node call, const char *id,
                                  vyre_library_form form) {
    vyre_library_source source = {0};
    vyre_callee callee = {0};
    if (!find_source(lower, call, id, &source)) {
        return callee;
    }
    if (source.form != form) {
        lower_report(lower, vyre_node_spot(&call), 204,
                     form == VYRE_LIBRARY_PROGRAM ? "call it inside a phase"
                                                  : "call it between phases, as a step",
                     "`%s` is %s, expected %s", source.id, form_names[source.form],
                     form_names[form]);
        return callee;
    }
    lower_choose_entry(lower, &source);
    return lower_entry_of(lower, call, &source);
}

vyre_callee lower_entry_of(vyre_lower *lower, vyre_node call, const vyre_library_source *source) {
    vyre_unit *unit = find_unit(lower, source, call);
    vyre_callee callee = {0};
    if (!unit || lower->unit->source.no_memory) {
        return callee; /* of which not all may be known */
    }
    if (unit->broken) {
        lower->poisoned = true;
        lower_spoil(lower);
    } else if (!find_entry(unit, source, &callee.item)) {
        lower_report(lower, vyre_node_spot(&call), 206, "correct the dialect's manifest",
                     "the manifest says that `%s` is %s `%s` of %s, which has none", source->id,
                     form_names[source->form], source->entry, unit->source.name);
    } else {
        callee.unit = unit;
        if (strchr(source->entry, '<')) {
            callee = lower_stated_instance(lower, callee, source->entry, vyre_node_spot(&call));
        }
        callee.id = source->id;
    }
    return callee;
}

const char *lower_how(vyre_callee callee, const char *otherwise, vyre_strbuf *text) {
    if (!callee.id) {
        return otherwise;
    }
    vyre_lexer lexer = callee.unit->items.items[callee.item].place;
    vyre_token token;
    vyre_lexer_next(&lexer, &token); /* the keyword */
    vyre_lexer_next(&lexer, &token); /* the name */
    vyre_strbuf_printf(text, "write %s", callee.id);
    vyre_lexer behind = lexer;
    do { /* type parameters, which the id has types for */
        lexer = behind;
        vyre_lexer_next(&behind, &token);
    } while (token.kind != VYRE_TOKEN_LEFT_PAREN && token.kind != VYRE_TOKEN_END);
    uint32_t depth = 0, end = token.offset;
    do {
        vyre_lexer_next(&lexer, &token);
        bool gap = token.offset > end && depth && text->data && text->data[text->size - 1] != '(';
        depth += token.kind == VYRE_TOKEN_LEFT_PAREN;
        depth -= token.kind == VYRE_TOKEN_RIGHT_PAREN && depth;
        vyre_strbuf_puts(text, gap && token.kind != VYRE_TOKEN_RIGHT_PAREN ? " " : "");
        vyre_strbuf_add(text, callee.unit->source.text + token.offset, token.length);
        end = token.offset + token.length;
    } while (depth && token.kind != VYRE_TOKEN_END && !text->failed);
    return text->failed ? otherwise : vyre_strbuf_string(text);
}
