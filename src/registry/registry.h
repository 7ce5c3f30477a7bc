/* The inside of the registry: what plugins, selection and `vyre doctor` need of it. */
#ifndef VYRE_REGISTRY_REGISTRY_H
#define VYRE_REGISTRY_REGISTRY_H

#include <vyre/registry.h>
#include <vyre/status.h>

#include "registry/plugin.h"

/* Whether it is known, without opening its driver, that a device of a backend is software. */
typedef bool (*vyre_known_software)(const char *id, uint32_t device);

/* The registry of the process, which lives as long as it. The room that knows the built-in backends
 * hands them over, the same list in every call; it ends with NULL. So it does what it knows of
 * their devices. */
vyre_registry *vyre_registry_process(const vyre_bundle *const *built_in,
                                     vyre_known_software known_software);
bool vyre_registry_knows_software(const vyre_registry *registry, const char *id, uint32_t device);

/* The rows of a bundle, which may be larger than those of this version. */
const vyre_registration *vyre_bundle_registration(const vyre_bundle *bundle, size_t index);
const vyre_precedence *vyre_bundle_precedence(const vyre_bundle *bundle, size_t index);
const vyre_capability *vyre_bundle_capability(const vyre_bundle *bundle, size_t index);

/* Whether a bundle can be added to any registry: its ABI suits ours, nothing in it is missing, ids
 * are well formed. */
VYRE_MUST_USE vyre_status vyre_registry_check(const vyre_bundle *bundle);

/* A registry with these built in, and plugins that the first question loads with this function, if
 * it is not NULL. It admits what it finds. */
typedef vyre_status (*vyre_plugin_loader)(vyre_registry *registry);
VYRE_MUST_USE vyre_status vyre_registry_make(const vyre_bundle *const *built_in,
                                             vyre_plugin_loader load_plugins,
                                             vyre_registry **out_registry);

/* Adds a bundle. Takes no lock: for a registry that no other thread uses, and for the loader of
 * plugins. `origin`, the path of a plugin, is copied; NULL means the program itself. */
VYRE_MUST_USE vyre_status vyre_registry_admit(vyre_registry *registry, const vyre_bundle *bundle,
                                              const char *origin);

/* Where the backend of that id comes from, among the bundles that are there so far: "built in",
 * "program" or the path of a plugin; NULL if nobody registers it. Under the same condition, or once
 * the registry is frozen. */
const char *vyre_registry_origin(const vyre_registry *registry, const char *id);

/* What the search for plugins found: written by vyre_plugins_load, read once the registry is
 * frozen. */
vyre_plugin_list *vyre_registry_plugin_list(vyre_registry *registry);

/* The registrations by rank, and what the capability entries say, with the reason where it cannot
 * be told. */
VYRE_MUST_USE vyre_status vyre_registry_sorted(vyre_registry *registry,
                                               const vyre_registration *const **out_list,
                                               size_t *out_count);
VYRE_MUST_USE vyre_status vyre_registry_capable(vyre_registry *registry, const char *id,
                                                bool *out_dispatches);

/* vyre_registry_acquire for names of devices alone: `preferred` and `auto` are not found. */
VYRE_MUST_USE vyre_status vyre_registry_acquire_named(vyre_registry *registry, const char *name,
                                                      vyre_device **out_device);

/* The bundles in the order in which they are visited: built in, of the program, plugins. NULL past
 * the last. `out_origin` is as above. Freezes. */
const vyre_bundle *vyre_registry_bundle(vyre_registry *registry, size_t index,
                                        const char **out_origin);

/* What is wrong with the bundles taken together. */
typedef enum vyre_registry_finding_kind {
    VYRE_REGISTRY_FINDING_DUPLICATE_REGISTRATION,
    VYRE_REGISTRY_FINDING_DUPLICATE_CAPABILITY,
    VYRE_REGISTRY_FINDING_DUPLICATE_PRECEDENCE,
    VYRE_REGISTRY_FINDING_STRAY_CAPABILITY, /* for a backend that nobody registers */
    VYRE_REGISTRY_FINDING_STRAY_PRECEDENCE,
    VYRE_REGISTRY_FINDING_NO_CAPABILITY, /* a registration without one */
    VYRE_REGISTRY_FINDING_PLUGINS        /* the search for them failed as a whole */
} vyre_registry_finding_kind;

typedef struct vyre_registry_finding {
    vyre_registry_finding_kind kind;
    const char *id; /* "" where it is about none */
    char *text;     /* the id, what is wrong, where it comes from, what it leads to and a Fix */
} vyre_registry_finding;

typedef struct vyre_registry_findings {
    vyre_registry_finding *items;
    size_t count, capacity;
} vyre_registry_findings;

/* Freezes. To be freed, also when empty; on failure there is nothing to free. */
VYRE_MUST_USE vyre_status vyre_registry_inspect(vyre_registry *registry,
                                                vyre_registry_findings *out_findings);
void vyre_registry_findings_free(vyre_registry_findings *findings);

/* The status with which loading plugins ended as a whole; NULL if well, or if there was none. It
 * stays with the registry. */
vyre_status vyre_registry_plugins_status(vyre_registry *registry);

#endif
