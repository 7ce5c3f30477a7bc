#include "text/library.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic(const vyre_library *) installed;
static _Thread_local const vyre_library *used;

vyre_status vyre_library_install(const vyre_library *library) {
    const vyre_library *found = NULL;
    if (atomic_compare_exchange_strong_explicit(&installed, &found, library, memory_order_acq_rel,
                                                memory_order_acquire) ||
        !strcmp(found->id, library->id)) {
        return VYRE_OK;
    }
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            "install exactly one provider of operations in a process",
                            "operations are already provided by `%s`, so `%s` cannot be installed",
                            found->id, library->id);
}

const vyre_library *vyre_library_use(const vyre_library *library) {
    const vyre_library *before = used;
    used = library;
    return before;
}

vyre_status vyre_library_enter(vyre_library_view *out_view) {
    const vyre_library *library = used;
    if (!library) {
        library = atomic_load_explicit(&installed, memory_order_acquire);
    }
    if (!library) {
        vyre_status_free(vyre_library_install(&vyre_library_builtin)); /* or another was faster */
        library = atomic_load_explicit(&installed, memory_order_acquire);
    }
    *out_view = (vyre_library_view){.library = library};
    return library->enter(out_view);
}

bool vyre_library_find(const vyre_library_view *view, vyre_str id,
                       vyre_library_source *out_source) {
    return view->library->find(view, id, out_source);
}

vyre_str vyre_library_at(const vyre_library_view *view, size_t index) {
    return view->library->at(view, index);
}

void vyre_library_leave(vyre_library_view *view) {
    view->library->leave(view);
}
