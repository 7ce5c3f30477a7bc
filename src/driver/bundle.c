#include <string.h>

#include "driver/registry.h"

/* Ids must be fit for names of devices and for lists of globs. */
static vyre_status check_id(const char *id) {
    if (!id || !*id) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "give every entry the backend's id",
                                "an entry of the bundle has no id");
    }
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    if (id[strspn(id, letters)] || !strcmp(id, "auto")) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "use the letters a-z, digits, '_' and '-', and not the word auto",
                                "`%s` cannot be the id of a backend", id);
    }
    return VYRE_OK;
}

vyre_status vyre_registry_check(const vyre_bundle *bundle) {
    if (!bundle) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "pass the bundle of a backend",
                                "there is no bundle to add");
    }
    if (bundle->struct_size < sizeof *bundle || bundle->abi != VYRE_ABI) {
        return vyre_status_make(
            VYRE_STATUS_UNSUPPORTED, "build it with the headers of this library",
            "the bundle has ABI %u.%u and %u bytes; this library has ABI %d.%d and %zu bytes",
            (unsigned)(bundle->abi >> 16), (unsigned)(bundle->abi & 0xffff),
            (unsigned)bundle->struct_size, VYRE_ABI_MAJOR, VYRE_ABI_MINOR, sizeof *bundle);
    }
    if ((bundle->registration_count && !bundle->registrations) ||
        (bundle->precedence_count && !bundle->precedences) ||
        (bundle->capability_count && !bundle->capabilities)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "set the pointers beside the counts of the bundle",
                                "the bundle counts entries that it does not have");
    }
    vyre_status status = VYRE_OK;
    for (size_t i = 0; !status && i < bundle->registration_count; i++) {
        status = check_id(bundle->registrations[i].id);
        if (!status && !bundle->registrations[i].create) {
            status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "set `create`",
                                      "the registration of backend `%s` has no factory",
                                      bundle->registrations[i].id);
        }
    }
    for (size_t i = 0; !status && i < bundle->precedence_count; i++) {
        status = check_id(bundle->precedences[i].id);
    }
    for (size_t i = 0; !status && i < bundle->capability_count; i++) {
        status = check_id(bundle->capabilities[i].id);
    }
    return status;
}
