/* Its table of functions does not say that it is one. */
#define ID "bad-marker"
#include "tests/plugins/plain.h"

static vyre_status create(const vyre_host *host, uint32_t device, vyre_backend *out_backend) {
    static const vyre_backend_slots slots = {.struct_size = sizeof slots,
                                             .abi = VYRE_ABI,
                                             .marker = VYRE_BACKEND_MARKER + 1,
                                             .id = plain_id,
                                             .dispatch = plain_dispatch};
    (void)host, (void)device;
    out_backend->slots = &slots;
    return NULL;
}

PLAIN_PLUGIN(.create = create)
