/* Built against a contract of fewer slots than the host has: its table ends behind `version`, and
 * what lies there is none of the host's business. */
#define ID "shorter"
#include <string.h>

#include "tests/plugins/plain.h"

static const char *version(const vyre_backend *backend) {
    (void)backend;
    return "old";
}

static vyre_status create(const vyre_host *host, uint32_t device, vyre_backend *out_backend) {
    static struct {
        uint32_t struct_size, abi;
        uint64_t marker, reserved[2];
        const char *(*id)(const vyre_backend *backend);
        vyre_status (*dispatch)(const vyre_backend *backend, const vyre_call *call,
                                vyre_output *outputs);
        const char *(*version)(const vyre_backend *backend);
        unsigned char something_else[sizeof(vyre_backend_slots)];
    } slots = {.struct_size = offsetof(vyre_backend_slots, supported_ops),
               .abi = VYRE_ABI,
               .marker = VYRE_BACKEND_MARKER,
               .id = plain_id,
               .dispatch = plain_dispatch,
               .version = version};
    (void)host, (void)device;
    memset(slots.something_else, 0xff, sizeof slots.something_else);
    out_backend->slots = (const vyre_backend_slots *)(const void *)&slots;
    return NULL;
}

PLAIN_PLUGIN(.create = create)
