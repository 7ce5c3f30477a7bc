#include "dialect/library.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "dialect/provider.h"
#include "text/module.h"

/* Numbers into definitions */

typedef struct reader {
    const uint32_t *at; /* the next number */
    _Atomic(vyre_program *) *built;
    vyre_arena arena;
    bool failed; /* without memory; what is read then is of no use */
} reader;

static size_t read_number(reader *r) {
    return *r->at++;
}

static const char *read_string(reader *r) {
    size_t at = read_number(r);
    return at ? vyre_library_strings + at : NULL;
}

/* Zeroed memory for so many items, one at least. */
static void *take(reader *r, size_t count, size_t size) {
    size_t bytes = (count + 1) * size;
    void *items = r->failed ? NULL : vyre_arena_alloc(&r->arena, bytes);
    r->failed = !items;
    return items ? memset(items, 0, bytes) : NULL;
}

static void read_parameters(reader *r, vyre_operation *operation) {
    size_t count = operation->parameter_count = read_number(r);
    vyre_parameter *list = take(r, count, sizeof *list);
    for (size_t i = 0; i < count && list; i++) {
        list[i].name = read_string(r);
        list[i].role = (vyre_role)read_number(r);
        list[i].type = (vyre_type)read_number(r);
        list[i].is_buffer = read_number(r);
    }
    operation->parameters = list;
}

static void read_laws(reader *r, vyre_operation *operation) {
    size_t count = operation->law_count = read_number(r);
    vyre_law *list = take(r, count, sizeof *list);
    for (size_t i = 0; i < count && list; i++) {
        list[i].kind = (vyre_law_kind)read_number(r);
        list[i].operand = read_string(r);
    }
    operation->laws = list;
}

static void read_witnesses(reader *r, vyre_operation *operation) {
    size_t count = operation->witness_count = read_number(r);
    vyre_witness *list = take(r, count, sizeof *list);
    for (size_t i = 0; i < count && list; i++) {
        list[i].arguments = read_string(r);
        list[i].expected = read_string(r);
    }
    operation->witnesses = list;
}

static void read_programs(reader *r, vyre_operation *operation) {
    size_t count = operation->variant_count = read_number(r);
    vyre_variant *list = take(r, count, sizeof *list);
    const char **names = take(r, count + 1, sizeof *names);
    vyre_library_entry *entry = take(r, 1, sizeof *entry);
    if (r->failed) {
        return;
    }
    *entry = (vyre_library_entry){operation->text, read_number(r), names, r->built};
    r->built += count + 1;
    names[0] = read_string(r);
    for (size_t i = 0; i < count; i++) {
        list[i].entry = read_string(r);
        list[i].suits = read_string(r);
        names[i + 1] = read_string(r);
    }
    operation->variants = list;
    operation->library = entry;
}

static void read_operation(reader *r, vyre_operation *operation) {
    operation->id = read_string(r);
    operation->dialect = read_string(r);
    operation->version = read_string(r);
    operation->doc = read_string(r);
    operation->category = (vyre_category)read_number(r);
    operation->form = (vyre_operation_form)read_number(r);
    operation->file = read_string(r);
    operation->entry = read_string(r);
    operation->sample = read_string(r);
    operation->work = read_string(r);
    operation->text = vyre_library_texts + read_number(r);
    operation->text_size = read_number(r);
    read_parameters(r, operation);
    read_laws(r, operation);
    read_witnesses(r, operation);
    read_programs(r, operation);
}

static _Atomic(const vyre_operation *) operations; /* NULL until they are read */

vyre_status vyre_library_read(const vyre_operation **out_operations, size_t *out_count) {
    const vyre_operation *known = atomic_load_explicit(&operations, memory_order_acquire);
    reader r = {.at = vyre_library_numbers, .built = vyre_library_built};
    *out_count = read_number(&r);
    if (!known) {
        vyre_operation *made = take(&r, *out_count, sizeof *made);
        for (size_t i = 0; i < *out_count && !r.failed; i++) {
            read_operation(&r, &made[i]);
        }
        if (!r.failed &&
            atomic_compare_exchange_strong_explicit(&operations, &known, made, memory_order_acq_rel,
                                                    memory_order_acquire)) {
            known = made;
        } else {
            vyre_arena_deinit(&r.arena); /* no memory, or another thread was faster */
        }
    }
    *out_operations = known;
    return known ? VYRE_OK : vyre_no_memory("to read the library of operations");
}

bool vyre_library_has(const vyre_operation *operation) {
    uintptr_t first = (uintptr_t)atomic_load_explicit(&operations, memory_order_acquire);
    return first && (uintptr_t)operation - first < vyre_library_numbers[0] * sizeof *operation;
}

vyre_status vyre_linked_library(vyre_streams *streams) {
    const vyre_operation *list;
    size_t count;
    VYRE_TRY(vyre_library_read(&list, &count));
    for (size_t i = 0; i < count; i++) {
        VYRE_TRY(vyre_streams_add(streams, &list[i]));
    }
    return VYRE_OK;
}

/* Programs. What the sources may call is each other, whatever snapshot is in force. */

static vyre_status enter(vyre_library_view *view) {
    const vyre_operation *list;
    size_t count;
    (void)view;
    return vyre_library_read(&list, &count);
}

static int compare_id(const void *wanted, const void *item) {
    const vyre_str *id = wanted;
    const char *other = ((const vyre_operation *)item)->id;
    int order = strncmp(id->data, other, id->size);
    return order ? order : -(other[id->size] != '\0');
}

static bool find(const vyre_library_view *view, vyre_str id, vyre_library_source *out_source) {
    (void)view;
    const vyre_operation *list = atomic_load_explicit(&operations, memory_order_acquire);
    const vyre_operation *found =
        bsearch(&id, list, vyre_library_numbers[0], sizeof *list, compare_id);
    if (found) {
        *out_source = vyre_library_source_of(found);
    }
    return found;
}

/* Nobody needs a near id: the build knows that there is no mistake. */
static vyre_str at(const vyre_library_view *view, size_t index) {
    (void)view;
    (void)index;
    return (vyre_str){0};
}

static const vyre_library own = {"library", enter, find, at, NULL};

static vyre_status build(const vyre_operation *operation, const char *name,
                         vyre_program **out_program) {
    const vyre_library_entry *entry = operation->library;
    vyre_module *module;
    vyre_parse_options options = {.library = &own, .entry = name};
    vyre_status status =
        vyre_module_parse_with(&options, operation->file, entry->text, entry->size, NULL, &module);
    if (status) {
        return vyre_status_annotate(status, "in the library of operations");
    }
    *out_program = vyre_module_find(module, name);
    if (*out_program) {
        vyre_program_retain(*out_program);
    } else {
        status = vyre_internal_error("the library has no program `%s`", name);
    }
    vyre_module_free(module);
    return status;
}

vyre_status vyre_library_program(const vyre_operation *operation, const vyre_variant *variant,
                                 const vyre_program **out_program) {
    size_t index = variant ? (size_t)(variant - operation->variants) + 1 : 0;
    _Atomic(vyre_program *) *slot = &operation->library->built[index];
    vyre_program *program = atomic_load_explicit(slot, memory_order_acquire);
    if (!program) {
        vyre_program *made;
        VYRE_TRY(build(operation, operation->library->names[index], &made));
        if (atomic_compare_exchange_strong_explicit(slot, &program, made, memory_order_acq_rel,
                                                    memory_order_acquire)) {
            program = made;
        } else {
            vyre_program_release(made); /* another thread was faster */
        }
    }
    *out_program = program;
    return VYRE_OK;
}
