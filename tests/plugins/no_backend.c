/* Brings an empty bundle. */
#define ID "no-backend"
#include "tests/plugins/plain.h"

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_bundle bundle = {VYRE_BUNDLE_HEAD,  NULL, 0, &plain_precedence, 1,
                                       &plain_capability, 1};
    (void)max_abi;
    return &bundle;
}
