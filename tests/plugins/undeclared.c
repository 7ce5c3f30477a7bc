/* Has no rank, and does not say whether it dispatches. */
#define ID "undeclared"
#include "tests/plugins/plain.h"

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_registration registration = {.id = ID, .create = plain_create};
    static const vyre_bundle bundle = {VYRE_BUNDLE_HEAD, &registration, 1, NULL, 0, NULL, 0};
    (void)max_abi, (void)plain_precedence, (void)plain_capability;
    return &bundle;
}
