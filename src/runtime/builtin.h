/* What a built-in backend tells about itself besides its bundle, for the command and its help.
 * Plugins have no such table: nothing here changes what a device does. */
#ifndef VYRE_RUNTIME_BUILTIN_H
#define VYRE_RUNTIME_BUILTIN_H

#include <vyre/backend.h>
#include <vyre/emit.h>

#include "base/option.h"
#include "base/strbuf.h"

/* A form that the backend gives a program on its way to a device, for `vyre show`. */
typedef struct vyre_stage {
    const char *name; /* "ptx" */
    vyre_status (*print)(const vyre_program *program, vyre_strbuf *out);
} vyre_stage;

typedef struct vyre_builtin {
    const vyre_bundle *bundle;
    bool is_gpu;                 /* its devices are GPUs */
    const vyre_emitter *emitter; /* NULL: it emits nothing ahead of time */
    const vyre_stage *stages;    /* ends with one without a name; NULL: none */
    /* Its stage for one device: what that runs, with the code that corrects its arithmetic. NULL:
     * its stages are the same for all devices. */
    vyre_status (*show_for)(const vyre_backend *backend, const vyre_program *program,
                            vyre_strbuf *out);
    /* The environment variables that only this backend reads; ends with NULL. NULL: none. */
    const vyre_option *const *options;
    /* Measures what its devices' profiles tell only once it was measured; it may take tens of
     * milliseconds. NULL: nothing. */
    void (*measure)(void);
    /* What users should know of how it works on this machine, which it finds out; NULL: nothing.
     * NULL here: there never is. */
    const char *(*note)(void);
    /* Whether an earlier process found only software devices, and nothing has changed since. NULL:
     * it has none. */
    bool (*is_known_software)(void);
} vyre_builtin;

#endif
