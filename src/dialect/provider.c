/* What the language knows of the operations: the snapshot in force. */
#include "text/library.h"

static vyre_status enter(vyre_library_view *view) {
    (void)view;
    return VYRE_OK;
}

static bool find(const vyre_library_view *view, vyre_str id, vyre_library_source *out_source) {
    (void)view;
    (void)id;
    (void)out_source;
    return false;
}

static vyre_str at(const vyre_library_view *view, size_t index) {
    (void)view;
    (void)index;
    return (vyre_str){0};
}

static void leave(vyre_library_view *view) {
    (void)view;
}

const vyre_library vyre_library_builtin = {"vyre-driver::DialectRegistry", enter, find, at, leave};
