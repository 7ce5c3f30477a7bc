#include <string.h>

#include "registry/registry.h"
#include "runtime/slots.h"

static const void *row_at(const void *rows, uint32_t row_bytes, size_t index) {
    return (const char *)rows + index * row_bytes;
}

const vyre_registration *vyre_bundle_registration(const vyre_bundle *bundle, size_t index) {
    return row_at(bundle->registrations, bundle->registration_size, index);
}

const vyre_precedence *vyre_bundle_precedence(const vyre_bundle *bundle, size_t index) {
    return row_at(bundle->precedences, bundle->precedence_size, index);
}

const vyre_capability *vyre_bundle_capability(const vyre_bundle *bundle, size_t index) {
    return row_at(bundle->capabilities, bundle->capability_size, index);
}

/* Rows are aligned as their types ask for, and none is shorter than those of ABI 1.0: what a later
 * version adds to one is there only if its size says so. */
static bool rows_are_whole(const vyre_bundle *bundle) {
#define REACHES(size, type, field) ((size) >= offsetof(type, field) + sizeof(((type *)0)->field))
    return REACHES(bundle->registration_size, vyre_registration, device_count) &&
           REACHES(bundle->precedence_size, vyre_precedence, rank) &&
           REACHES(bundle->capability_size, vyre_capability, dispatches) &&
           !(bundle->registration_size % _Alignof(vyre_registration)) &&
           !(bundle->precedence_size % _Alignof(vyre_precedence)) &&
           !(bundle->capability_size % _Alignof(vyre_capability)) && !bundle->reserved;
#undef REACHES
}

/* Ids must be fit for names of devices and for lists of globs. */
static vyre_status check_id(const char *id) {
    if (!id || !*id) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "set the backend's ID in every entry",
                                "an entry of the bundle has no ID");
    }
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    enum { MOST_LETTERS = 64 };
    if (strnlen(id, MOST_LETTERS + 1) > MOST_LETTERS) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "choose a shorter one",
                                "the id of a backend that starts with `%.16s` has more than %d "
                                "letters",
                                id, MOST_LETTERS);
    }
    if (id[strspn(id, letters)] || !strcmp(id, "auto") || !strcmp(id, "preferred")) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "use the letters a-z, digits, '_' and '-', but not the words auto "
                                "and preferred",
                                "`%s` is not valid as the ID of a backend", id);
    }
    return VYRE_OK;
}

vyre_status vyre_registry_check(const vyre_bundle *bundle) {
    if (!bundle) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "pass the bundle of a backend",
                                "the bundle is NULL");
    }
    if (!VYRE_HAS(bundle, capability_count) || !vyre_abi_suits(bundle->abi, VYRE_ABI)) {
        return vyre_status_make(
            VYRE_STATUS_UNSUPPORTED, "build it with the headers of this library",
            "the bundle needs ABI %u.%u and has %u bytes; this library has ABI %d.%d and takes %zu "
            "bytes or more",
            (unsigned)(bundle->abi >> 16), (unsigned)(bundle->abi & 0xffff),
            (unsigned)bundle->struct_size, VYRE_ABI_MAJOR, VYRE_ABI_MINOR, sizeof *bundle);
    }
    if (!rows_are_whole(bundle)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "start it with VYRE_BUNDLE_HEAD",
                                "the bundle has rows of %u, %u and %u bytes, which are too short",
                                (unsigned)bundle->registration_size,
                                (unsigned)bundle->precedence_size,
                                (unsigned)bundle->capability_size);
    }
    if ((bundle->registration_count && !bundle->registrations) ||
        (bundle->precedence_count && !bundle->precedences) ||
        (bundle->capability_count && !bundle->capabilities)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "set the pointers that belong to the counts of the bundle",
                                "the bundle has a count above 0 with a NULL pointer");
    }
    vyre_status status = VYRE_OK;
    for (size_t i = 0; !status && i < bundle->registration_count; i++) {
        const vyre_registration *row = vyre_bundle_registration(bundle, i);
        status = check_id(row->id);
        if (!status && !row->create) {
            status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "set `create`",
                                      "the registration of backend `%s` has no factory", row->id);
        }
    }
    for (size_t i = 0; !status && i < bundle->precedence_count; i++) {
        status = check_id(vyre_bundle_precedence(bundle, i)->id);
    }
    for (size_t i = 0; !status && i < bundle->capability_count; i++) {
        status = check_id(vyre_bundle_capability(bundle, i)->id);
    }
    return status;
}
