/* Cannot run on any machine. */
#define ID "failing-create"
#include "tests/plugins/plain.h"

static vyre_status create(const vyre_host *host, uint32_t device, vyre_backend *out_backend) {
    (void)device, (void)out_backend;
    return host->status_make(VYRE_FAIL_UNAVAILABLE, "plug in a device", "there is no device");
}

PLAIN_PLUGIN(.create = create)
