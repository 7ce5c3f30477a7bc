#include "ir/diagnostic.h"

#include <string.h>

#include <vyre/program.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "base/vec.h"

struct vyre_diagnostics {
    vyre_arena arena; /* the texts */
    VYRE_VEC(vyre_diagnostic) items;
    size_t errors;
    bool failed;
};

static const struct {
    uint16_t number;
    uint8_t severity;
    const char *title;
} codes[] = {
#define ROW(number, severity, title) {number, VYRE_SEVERITY_##severity, title},
    VYRE_DIAGNOSTICS(ROW)
#undef ROW
};

static size_t find_code(uint32_t code) {
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (codes[i].number == code) {
            return i;
        }
    }
    return SIZE_MAX;
}

const char *vyre_diagnostic_title(uint32_t code) {
    size_t row = find_code(code);
    return row == SIZE_MAX ? "" : codes[row].title;
}

vyre_status vyre_diagnostics_create(vyre_diagnostics **out_diagnostics) {
    *out_diagnostics = vyre_alloc_zeroed(1, sizeof **out_diagnostics);
    if (!*out_diagnostics) {
        return vyre_no_memory("for a list of diagnostics");
    }
    return VYRE_OK;
}

void vyre_diagnostics_free(vyre_diagnostics *diagnostics) {
    if (diagnostics) {
        vyre_arena_deinit(&diagnostics->arena);
        vyre_vec_free(&diagnostics->items);
        vyre_free(diagnostics);
    }
}

size_t vyre_diagnostics_count(const vyre_diagnostics *diagnostics) {
    return diagnostics->items.count;
}

size_t vyre_diagnostics_errors(const vyre_diagnostics *diagnostics) {
    return diagnostics->errors;
}

const vyre_diagnostic *vyre_diagnostics_get(const vyre_diagnostics *diagnostics, size_t index) {
    return index < diagnostics->items.count ? &diagnostics->items.items[index] : NULL;
}

bool vyre_diagnostics_full(const vyre_diagnostics *diagnostics) {
    return diagnostics->failed || diagnostics->errors > VYRE_LIMIT_DIAGNOSTICS;
}

const char *vyre_scope_file(const vyre_call_scope *scopes, const char *strings, uint32_t scope) {
    return scope && scopes[scope - 1].file ? strings + scopes[scope - 1].file : NULL;
}

const vyre_diagnostic_call *vyre_scope_calls(const vyre_call_scope *scopes, const char *strings,
                                             uint32_t scope, vyre_call_list *list) {
    size_t count = 0;
    while (scope && count < VYRE_CALLS_SHOWN) {
        const vyre_call_scope *row = &scopes[scope - 1];
        vyre_diagnostic_call *call = &list->items[count++];
        scope = VYRE_PLACE_SCOPE(row->call);
        *call = (vyre_diagnostic_call){.function = strings + row->name,
                                       .file = vyre_scope_file(scopes, strings, scope),
                                       .line = VYRE_PLACE_LINE(row->call),
                                       .column = VYRE_PLACE_COLUMN(row->call),
                                       .caller = call + 1};
    }
    if (!count) {
        return NULL;
    }
    list->items[count - 1].caller = NULL;
    return list->items;
}

/* What another file is to blame for stands where the text calls it. */
static void find_anchor(const vyre_diagnostic *item, uint32_t *line, uint32_t *column) {
    *line = item->line;
    *column = item->column;
    const char *file = item->file;
    for (const vyre_diagnostic_call *call = item->calls; call && file; call = call->caller) {
        *line = call->line;
        *column = call->column;
        file = call->file;
    }
}

static bool comes_before(const vyre_diagnostic *left, const vyre_diagnostic *right) {
    uint32_t left_line, left_column, right_line, right_column;
    find_anchor(left, &left_line, &left_column);
    find_anchor(right, &right_line, &right_column);
    return left_line != right_line ? left_line < right_line : left_column < right_column;
}

static bool same_report(const vyre_diagnostic *left, const vyre_diagnostic *right) {
    return left->code == right->code && left->line == right->line &&
           left->column == right->column && !left->file == !right->file &&
           (!left->file || !strcmp(left->file, right->file)) &&
           (left->line || (left->inst == right->inst && !strcmp(left->message, right->message)));
}

/* Inserts behind everything that stands at the same place or before. */
static void insert(vyre_diagnostics *list, vyre_diagnostic item) {
    for (size_t i = 0; i < list->items.count; i++) {
        if (same_report(&list->items.items[i], &item)) {
            return;
        }
    }
    if (!vyre_vec_reserve(&list->items, 1)) {
        list->failed = true;
        return;
    }
    size_t at = list->items.count++;
    while (at > 0 && comes_before(&item, &list->items.items[at - 1])) {
        list->items.items[at] = list->items.items[at - 1];
        at--;
    }
    list->items.items[at] = item;
    list->errors += item.severity == VYRE_SEVERITY_ERROR;
}

static const char *keep(vyre_diagnostics *list, const char *text) {
    const char *copy = text ? vyre_arena_copy(&list->arena, text, strlen(text)) : NULL;
    list->failed |= text && !copy;
    return copy;
}

static const vyre_diagnostic_call *keep_calls(vyre_diagnostics *list,
                                              const vyre_diagnostic_call *call) {
    const vyre_diagnostic_call *first = NULL, **next = &first;
    for (; call && !list->failed; call = call->caller) {
        vyre_diagnostic_call *copy = vyre_arena_alloc(&list->arena, sizeof *copy);
        if (!copy) {
            list->failed = true;
            break;
        }
        *copy = *call;
        copy->function = keep(list, call->function);
        copy->file = keep(list, call->file);
        copy->caller = NULL;
        *next = copy;
        next = &copy->caller;
    }
    return first;
}

static vyre_severity severity_of(uint32_t code) {
    size_t row = find_code(code);
    return row == SIZE_MAX ? VYRE_SEVERITY_ERROR : (vyre_severity)codes[row].severity;
}

static bool has_room(const vyre_diagnostics *list, vyre_severity severity) {
    size_t warnings = list->items.count - list->errors;
    return !vyre_diagnostics_full(list) &&
           (severity == VYRE_SEVERITY_ERROR || warnings < VYRE_LIMIT_DIAGNOSTICS);
}

static void add_text(vyre_diagnostics *list, const vyre_diagnostic *at, uint32_t code,
                     const char *fix, const char *message) {
    vyre_diagnostic item = *at;
    item.code = code;
    item.severity = severity_of(code);
    bool is_error = item.severity == VYRE_SEVERITY_ERROR;
    if (!has_room(list, item.severity)) {
        return;
    }
    if (is_error && list->errors == VYRE_LIMIT_DIAGNOSTICS) {
        item.code = 702;
        message = "there are too many errors to list them all";
        fix = "correct the listed errors and check again";
    }
    item.message = keep(list, message);
    item.fix = keep(list, fix);
    item.file = keep(list, at->file);
    item.excerpt = keep(list, at->excerpt);
    item.calls = keep_calls(list, at->calls);
    if (!list->failed) {
        insert(list, item);
    }
}

void vyre_diagnostics_vadd(vyre_diagnostics *diagnostics, const vyre_diagnostic *at, uint32_t code,
                           const char *fix, const char *format, va_list arguments) {
    vyre_strbuf message = {0};
    if (!has_room(diagnostics, severity_of(code))) {
        return; /* a program may have millions of them */
    }
    vyre_strbuf_vprintf(&message, format, arguments);
    if (message.failed) {
        diagnostics->failed = true;
    } else {
        add_text(diagnostics, at, code, fix, vyre_strbuf_string(&message));
    }
    vyre_strbuf_free(&message);
}

void vyre_diagnostics_add(vyre_diagnostics *diagnostics, const vyre_diagnostic *at, uint32_t code,
                          const char *fix, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vyre_diagnostics_vadd(diagnostics, at, code, fix, format, arguments);
    va_end(arguments);
}

bool vyre_diagnostics_merge(vyre_diagnostics *diagnostics, const vyre_diagnostics *from) {
    for (size_t i = 0; i < from->items.count; i++) {
        const vyre_diagnostic *item = &from->items.items[i];
        add_text(diagnostics, item, item->code, item->fix, item->message);
    }
    diagnostics->failed |= from->failed;
    return !diagnostics->failed;
}

vyre_status vyre_diagnostics_status(const vyre_diagnostics *diagnostics, const char *file) {
    if (diagnostics->failed) {
        return vyre_no_memory("left while checking a program");
    }
    for (size_t i = 0; i < diagnostics->items.count; i++) {
        const vyre_diagnostic *item = &diagnostics->items.items[i];
        if (item->severity != VYRE_SEVERITY_ERROR) {
            continue;
        }
        vyre_status_code code = item->code == 701 ? VYRE_STATUS_LIMIT : VYRE_STATUS_INVALID_PROGRAM;
        vyre_status status =
            vyre_status_make(code, item->fix, "V%04u: %s", item->code, item->message);
        if (diagnostics->errors > 1) {
            status = vyre_status_annotate(status, "the first of %zu errors", diagnostics->errors);
        }
        const vyre_diagnostic_call *call = item->file ? item->calls : NULL;
        for (; call; call = call->caller) {
            status = vyre_status_annotate(status, "in %s, called from %s:%u:%u", call->function,
                                          call->file ? call->file
                                          : file     ? file
                                                     : "text",
                                          call->line, call->column);
        }
        if (item->line && (item->file || file)) {
            status =
                vyre_status_at(status, item->file ? item->file : file, item->line, item->column);
        }
        return status;
    }
    return VYRE_OK;
}
