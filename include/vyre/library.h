/* Library: the operations that a text may call by id.
 *
 * A process has one provider of operations, a library. It is the registry of dialects (dialect.h)
 * unless another library is installed before the first parse:
 *
 *     static const vyre_library mine = {"mine", enter, find, at, leave};
 *     status = vyre_provider_install(&mine);
 *
 * A parse enters the library at the first call of an operation and leaves it at its end, so
 * everything it finds belongs together. */
#ifndef VYRE_LIBRARY_H
#define VYRE_LIBRARY_H

#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vyre_library_form {
    VYRE_LIBRARY_PROGRAM, /* its steps replace the call */
    VYRE_LIBRARY_FUNCTION,
    VYRE_LIBRARY_OPAQUE /* known, but without text: a text cannot call it */
} vyre_library_form;

/* Borrowed from the view. An operation keeps its `text` and `entry` pointers as long as the view
 * lasts. */
typedef struct vyre_library_source {
    const char *id, *dialect, *version;
    vyre_library_form form;
    const char *file, *text; /* the file that holds its program or function; NULL if opaque */
    size_t text_size;
    const char *entry; /* its name there */
    /* Other entries of the text that give the same bytes, for some devices (dialect.h). */
    const struct vyre_variant *variants;
    size_t variant_count;
} vyre_library_source;

typedef struct vyre_library vyre_library;

/* Belongs to one thread, which may have several. */
typedef struct vyre_library_view {
    const vyre_library *library; /* set before `enter` */
    void *held[4];               /* the library's own */
} vyre_library_view;

/* Outlives all its views. */
struct vyre_library {
    const char *id;
    /* A view finds the same operations from enter to leave. After an error it holds nothing. Either
     * function may be NULL. */
    vyre_status (*enter)(vyre_library_view *view);
    bool (*find)(const vyre_library_view *view, vyre_str id, vyre_library_source *out_source);
    /* The ids in order, to suggest a near one; a NULL pointer past the last. */
    vyre_str (*at)(const vyre_library_view *view, size_t index);
    void (*leave)(vyre_library_view *view);
};

/* Makes a library, in static storage, the provider of the process. The first installation counts:
 * one with the same id is accepted and changes nothing, another is refused. While another library
 * than the registry is installed, vyre_dialects_try_enter fails. */
VYRE_API VYRE_MUST_USE vyre_status vyre_provider_install(const vyre_library *library);

#ifdef __cplusplus
}
#endif

#endif
