#include <string.h>

#include "base/status.h"
#include "registry/plugin_parts.h"
#include "registry/registry.h"

static vyre_status refuse(const char *fix, const char *what, const char *id, const char *wrong) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix, "%s `%s`%s", what, id, wrong);
}

/* The rows of the three tables all start with an id. */
static const char *row_id(const void *rows, size_t row_bytes, size_t n) {
    return *(const char *const *)(const void *)((const char *)rows + n * row_bytes);
}

static bool has_id(const void *rows, size_t row_bytes, size_t count, const char *id) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(row_id(rows, row_bytes, i), id) == 0) {
            return true;
        }
    }
    return false;
}

/* Of precedences or capabilities; the registrations were checked. */
static vyre_status check_rows(const vyre_bundle *bundle, const void *rows, size_t row_bytes,
                              size_t count, const char *what) {
    for (size_t i = 0; i < count; i++) {
        const char *id = row_id(rows, row_bytes, i);
        if (has_id(rows, row_bytes, i, id)) {
            return refuse("keep one of the two rows", what, id, " twice");
        }
        if (!has_id(bundle->registrations, bundle->registration_size, bundle->registration_count,
                    id)) {
            return refuse("remove that row; a plugin may describe only its own backends", what, id,
                          ", which it does not register");
        }
    }
    return VYRE_OK;
}

static vyre_status check_registrations(vyre_registry *registry, const vyre_bundle *bundle) {
    if (!bundle->registration_count) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "add a registration to the bundle",
                                "the bundle registers no backend");
    }
    for (size_t i = 0; i < bundle->registration_count; i++) {
        const char *id = vyre_bundle_registration(bundle, i)->id;
        if (has_id(bundle->registrations, bundle->registration_size, i, id)) {
            return refuse("give each backend its own ID", "the bundle registers", id, " twice");
        }
        const char *origin = vyre_registry_origin(registry, id);
        if (origin) {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                    "remove one of the two, or set enabled = false in its manifest",
                                    "a backend `%s` is already registered, from %s", id, origin);
        }
    }
    return VYRE_OK;
}

vyre_status vyre_plugin_check_bundle(vyre_registry *registry, const vyre_bundle *bundle) {
    VYRE_TRY(vyre_registry_check(bundle));
    VYRE_TRY(check_registrations(registry, bundle));
    VYRE_TRY(check_rows(bundle, bundle->precedences, bundle->precedence_size,
                        bundle->precedence_count, "the bundle ranks"));
    return check_rows(bundle, bundle->capabilities, bundle->capability_size,
                      bundle->capability_count, "the bundle has a capability of");
}
