/* Its backend calls itself something else than its registration. */
#define ID "other-id"
#include "tests/plugins/plain.h"

static const char *id(const vyre_backend *backend) {
    (void)backend;
    return "another";
}

static vyre_status create(const vyre_host *host, uint32_t device, vyre_backend *out_backend) {
    static const vyre_backend_slots slots = {VYRE_BACKEND_HEAD, .id = id,
                                             .dispatch = plain_dispatch};
    (void)host, (void)device;
    out_backend->slots = &slots;
    return NULL;
}

PLAIN_PLUGIN(.create = create)
