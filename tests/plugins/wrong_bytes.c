/* Runs every program, and gives zeros for all of them: with these, what repeats while an element is
 * not 0 comes to an end. */
#define ID "wrong-bytes"
#include <string.h>

#include "tests/plugins/plain.h"

static vyre_status dispatch(const vyre_backend *backend, const vyre_call *call,
                            vyre_output *outputs) {
    (void)backend;
    for (size_t i = 0; i < call->output_count; i++) {
        memset(outputs[i].data, 0, outputs[i].size);
    }
    return NULL;
}

static vyre_status create(const vyre_host *host, uint32_t device, vyre_backend *out_backend) {
    static const vyre_backend_slots slots = {VYRE_BACKEND_HEAD, .id = plain_id,
                                             .dispatch = dispatch};
    (void)host, (void)device;
    out_backend->slots = &slots;
    return NULL;
}

PLAIN_PLUGIN(.create = create)
