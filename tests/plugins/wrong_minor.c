/* Answers with the next minor ABI. */
#define ID "wrong-minor"
#include "tests/plugins/plain.h"

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_registration registration = {.id = ID, .create = plain_create};
    static vyre_bundle bundle = {VYRE_BUNDLE_HEAD, PLAIN_ROWS(&registration)};
    bundle.abi = VYRE_ABI + 1;
    (void)max_abi;
    return &bundle;
}
