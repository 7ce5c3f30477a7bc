#include "dialect/provider.h"

#include <stdatomic.h>
#include <string.h>

#include "base/status.h"
#include "base/strbuf.h"
#include "text/module.h"

static _Atomic(const vyre_library *) installed;

vyre_status vyre_provider_install(const vyre_library *library) {
    const vyre_library *found = NULL;
    if (atomic_compare_exchange_strong_explicit(&installed, &found, library, memory_order_acq_rel,
                                                memory_order_acquire) ||
        !strcmp(found->id, library->id)) {
        return VYRE_OK;
    }
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            "install exactly one provider of operations per process",
                            "operations are already provided by `%s`, so `%s` cannot be installed",
                            found->id, library->id);
}

const vyre_library *vyre_provider(void) {
    const vyre_library *library = atomic_load_explicit(&installed, memory_order_acquire);
    if (!library) {
        vyre_status_free(vyre_provider_install(&vyre_dialects_library)); /* or another was faster */
        library = atomic_load_explicit(&installed, memory_order_acquire);
    }
    return library;
}

vyre_status vyre_module_parse(const char *name, const char *text, size_t size,
                              vyre_diagnostics *diagnostics, vyre_module **out_module) {
    vyre_parse_options options = {.library = vyre_provider()};
    return vyre_module_parse_with(&options, name, text, size, diagnostics, out_module);
}

/* Says that a module has no program of a name, and what it has. */
static vyre_status no_program(const vyre_module *module, const char *name) {
    vyre_strbuf fix = {0};
    const vyre_module_generic *generic;
    const char *between = "name ";
    for (size_t i = 0; i < vyre_module_count(module); i++) {
        vyre_strbuf_printf(&fix, "%s`%s`", between,
                           vyre_program_name(vyre_module_program(module, i)));
        between = ", ";
    }
    for (size_t i = 0; (generic = vyre_module_generic_at(module, i)); i++) {
        vyre_strbuf_printf(&fix, "%s`%s` with types, as in %s<f32>", between, generic->head,
                           generic->name);
        between = ", ";
    }
    vyre_status status = vyre_status_make(VYRE_STATUS_NOT_FOUND, vyre_strbuf_string(&fix),
                                          "the text has no program `%s`", name);
    vyre_strbuf_free(&fix);
    return status;
}

vyre_status vyre_module_instantiate(vyre_module *module, const char *program_name,
                                    vyre_diagnostics *diagnostics, vyre_program **out_program) {
    *out_program = vyre_module_find(module, program_name);
    const char *file;
    vyre_str text = vyre_module_text(module, &file);
    if (*out_program) {
        return VYRE_OK;
    }
    if (!text.data || !strchr(program_name, '<')) {
        return no_program(module, program_name);
    }
    vyre_module *built;
    vyre_parse_options options = {.library = vyre_provider(), .entry = program_name};
    VYRE_TRY(vyre_module_parse_with(&options, file, text.data, text.size, diagnostics, &built));
    vyre_status status = vyre_module_count(built) ? vyre_module_adopt(module, built, 0)
                                                  : no_program(module, program_name);
    vyre_module_free(built);
    *out_program = status ? NULL : vyre_module_find(module, program_name);
    return status;
}

vyre_library_source vyre_library_source_of(const vyre_operation *operation) {
    static const vyre_library_form forms[] = {[VYRE_OPERATION_NAME] = VYRE_LIBRARY_OPAQUE,
                                              [VYRE_OPERATION_PROGRAM] = VYRE_LIBRARY_PROGRAM,
                                              [VYRE_OPERATION_FUNCTION] = VYRE_LIBRARY_FUNCTION};
    bool has_text = operation->text && operation->form != VYRE_OPERATION_NAME;
    return (vyre_library_source){
        .id = operation->id,
        .dialect = operation->dialect,
        .version = operation->version,
        .form = has_text ? forms[operation->form] : VYRE_LIBRARY_OPAQUE,
        .file = operation->file,
        .text = has_text ? operation->text : NULL,
        .text_size = has_text ? operation->text_size : 0,
        .entry = has_text ? operation->entry : NULL,
        .variants = operation->variants,
        .variant_count = has_text ? operation->variant_count : 0,
    };
}

/* The registry as a library: a view holds a guard. */

_Static_assert(sizeof(vyre_dialects_guard) <= sizeof((vyre_library_view *)0)->held,
               "a view has no room for a guard");

static vyre_dialects_guard guard_of(const vyre_library_view *view) {
    vyre_dialects_guard guard;
    memcpy(&guard, view->held, sizeof guard);
    return guard;
}

static vyre_status enter(vyre_library_view *view) {
    vyre_dialects_guard guard;
    const vyre_dialects *snapshot;
    vyre_status status = vyre_dialects_try_enter(&guard, &snapshot);
    memcpy(view->held, &guard, sizeof guard);
    return status;
}

static bool find(const vyre_library_view *view, vyre_str id, vyre_library_source *out_source) {
    uint32_t name = vyre_intern_find(id);
    const vyre_operation *found = vyre_dialects_lookup(guard_of(view).snapshot, name);
    if (found) {
        *out_source = vyre_library_source_of(found);
    }
    return found;
}

static vyre_str at(const vyre_library_view *view, size_t index) {
    const vyre_operation *found = vyre_dialects_at(guard_of(view).snapshot, index);
    return found ? vyre_str_of(found->id) : (vyre_str){0};
}

static void leave(vyre_library_view *view) {
    vyre_dialects_guard guard = guard_of(view);
    vyre_dialects_leave(&guard);
}

const vyre_library vyre_dialects_library = {"vyre-driver::DialectRegistry", enter, find, at, leave};
