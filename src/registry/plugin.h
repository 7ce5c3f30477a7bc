/* Plugins: backends in libraries of their own, found through manifests (docs/backends.md).
 *
 * A manifest is a TOML file that names a library. The folders where manifests may lie are looked at
 * in a fixed order, and what came of each folder and each manifest is written down for people: one
 * that is broken is refused with a reason, and takes nothing else with it. */
#ifndef VYRE_REGISTRY_PLUGIN_H
#define VYRE_REGISTRY_PLUGIN_H

#include <vyre/registry.h>
#include <vyre/status.h>

#include "base/arena.h"
#include "base/vec.h"

/* What became of a folder or a manifest. X(name, text). */
#define VYRE_PLUGIN_FATES(X)                                                                       \
    X(SEARCHED, "searched") /* a folder; its manifests follow */                                   \
    X(ABSENT, "not there")  /* a folder */                                                         \
    X(DISABLED, "disabled") /* a manifest that says so */                                          \
    X(ADMITTED, "admitted") /* its backends are registered */                                      \
    X(REFUSED, "refused")   /* a folder or a manifest */

typedef enum vyre_plugin_fate {
#define VYRE_PLUGIN_FATE_ENUM(name, text) VYRE_PLUGIN_##name,
    VYRE_PLUGIN_FATES(VYRE_PLUGIN_FATE_ENUM)
#undef VYRE_PLUGIN_FATE_ENUM
} vyre_plugin_fate;

typedef struct vyre_plugin_record {
    vyre_plugin_fate fate;
    bool is_folder;
    const char *path;
    const char *library; /* of a manifest, as far as it is known; else "" */
    /* Admitted: the ids, separated by ", ". Refused: the reason, with its "Fix: ". A folder: who
     * names it, as "VYRE_BACKEND_PATH". */
    const char *detail;
} vyre_plugin_record;

/* The records of a registry, in the order of the search. */
typedef struct vyre_plugin_list {
    vyre_arena arena;
    VYRE_VEC(vyre_plugin_record) records;
} vyre_plugin_list;

void vyre_plugin_list_init(vyre_plugin_list *list);
void vyre_plugin_list_deinit(vyre_plugin_list *list);

/* Looks for plugins and admits them. Fails only if the records cannot be kept. Libraries stay
 * loaded until the process ends, refused ones too: what they started may still run. */
VYRE_MUST_USE vyre_status vyre_plugins_load(vyre_registry *registry);

/* Valid as long as the registry. */
const vyre_plugin_record *vyre_plugin_records(vyre_registry *registry, size_t *out_count);
const char *vyre_plugin_fate_name(vyre_plugin_fate fate);

#endif
