/* What the language knows of the operations: the snapshot in force. */
#include <string.h>

#include <vyre/dialect.h>

#include "text/library.h"

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
    if (!found) {
        return false;
    }
    vyre_library_form form = !found->text                             ? VYRE_LIBRARY_OPAQUE
                             : found->form == VYRE_OPERATION_PROGRAM  ? VYRE_LIBRARY_PROGRAM
                             : found->form == VYRE_OPERATION_FUNCTION ? VYRE_LIBRARY_FUNCTION
                                                                      : VYRE_LIBRARY_OPAQUE;
    bool has_text = form != VYRE_LIBRARY_OPAQUE;
    *out_source = (vyre_library_source){
        .id = found->id,
        .dialect = found->dialect,
        .version = found->version,
        .form = form,
        .file = found->file,
        .text = has_text ? found->text : NULL,
        .text_size = has_text ? found->text_size : 0,
        .entry = has_text ? found->entry : NULL,
    };
    return true;
}

static vyre_str at(const vyre_library_view *view, size_t index) {
    const vyre_operation *found = vyre_dialects_at(guard_of(view).snapshot, index);
    return found ? (vyre_str){found->id, strlen(found->id)} : (vyre_str){0};
}

static void leave(vyre_library_view *view) {
    vyre_dialects_guard guard = guard_of(view);
    vyre_dialects_leave(&guard);
}

const vyre_library vyre_library_builtin = {"vyre-driver::DialectRegistry", enter, find, at, leave};
