/* Library: where the text of an operation comes from that a program calls by its id.
 *
 * The language knows no registry. One provider a process is asked instead: the first that is
 * installed, and if nobody was, the one that is built in. A parse enters it with the first call of
 * an operation and leaves it at its end, so that all it finds belongs together.
 *
 *     vyre_library_view view;
 *     status = vyre_library_enter(&view);
 *     if (vyre_library_find(&view, id, &source)) { ... source.text ... }
 *     vyre_library_leave(&view); */
#ifndef VYRE_TEXT_LIBRARY_H
#define VYRE_TEXT_LIBRARY_H

#include <vyre/status.h>

typedef enum vyre_library_form {
    VYRE_LIBRARY_PROGRAM, /* its steps stand in the place of the call */
    VYRE_LIBRARY_FUNCTION,
    VYRE_LIBRARY_OPAQUE /* known, but without a text: it cannot be called from one */
} vyre_library_form;

/* Borrowed from the view. The same operation has the same `text` pointer and `entry` pointer as
 * long as the view lasts. */
typedef struct vyre_library_source {
    const char *id, *dialect, *version;
    vyre_library_form form;
    const char *file, *text; /* what holds its program or function; NULL if opaque */
    size_t text_size;
    const char *entry; /* its name there */
} vyre_library_source;

typedef struct vyre_library vyre_library;

/* By one thread, any number at a time. */
typedef struct vyre_library_view {
    const vyre_library *library;
    void *held[4]; /* the provider's own */
} vyre_library_view;

/* A provider: static storage. */
struct vyre_library {
    const char *id;
    /* What is found does not change from enter to leave. Nothing is held after an error. */
    vyre_status (*enter)(vyre_library_view *view);
    bool (*find)(const vyre_library_view *view, vyre_str id, vyre_library_source *out_source);
    /* The ids in order, for whoever looks for a near one; a NULL pointer past the last. */
    vyre_str (*at)(const vyre_library_view *view, size_t index);
    void (*leave)(vyre_library_view *view);
};

/* Takes effect once: one of the same id is accepted and changes nothing, another is refused. */
VYRE_MUST_USE vyre_status vyre_library_install(const vyre_library *library);

VYRE_MUST_USE vyre_status vyre_library_enter(vyre_library_view *out_view);
bool vyre_library_find(const vyre_library_view *view, vyre_str id, vyre_library_source *out_source);
vyre_str vyre_library_at(const vyre_library_view *view, size_t index);
void vyre_library_leave(vyre_library_view *view);

/* What this thread asks instead, until it is set back to what the call returned: who reads a set of
 * operations that call each other has them know of each other before anybody else does. It need
 * not be static. NULL: the process's. */
const vyre_library *vyre_library_use(const vyre_library *library);

/* The one that is built in; given by the room that has the operations. */
extern const vyre_library vyre_library_builtin;

#endif
