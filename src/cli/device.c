#include "cli/device.h"

#include <string.h>

#include "backend/reference/backend.h"

static const vyre_backend *const backends[] = {&vyre_backend_reference};

vyre_status cli_device_find(const char *name, const vyre_backend **out_backend,
                            const char **out_why) {
    enum { COUNT = sizeof backends / sizeof *backends };
    const char *names[2 * COUNT + 2];
    size_t count = 0;
    names[count++] = "auto";
    if (!name || !strcmp(name, "auto")) {
        *out_backend = backends[0];
        *out_why = "the only backend of this build";
        return VYRE_OK;
    }
    for (size_t i = 0; i < COUNT; i++) {
        const char *alias = backends[i]->alias;
        if (!strcmp(name, backends[i]->id) || (alias && !strcmp(name, alias))) {
            *out_backend = backends[i];
            *out_why = "named by -b";
            return VYRE_OK;
        }
        names[count++] = backends[i]->id;
        if (alias) {
            names[count++] = alias;
        }
    }
    names[count] = NULL;
    return cli_unknown("backend", name, names, "use -b reference, or leave -b out");
}
