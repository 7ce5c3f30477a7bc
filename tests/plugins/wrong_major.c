/* Answers with the next major ABI, whatever it was asked for. */
#define ID "wrong-major"
#include "tests/plugins/plain.h"

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_registration registration = {.id = ID, .create = plain_create};
    static vyre_bundle bundle = {VYRE_BUNDLE_HEAD, PLAIN_ROWS(&registration)};
    bundle.abi = (VYRE_ABI_MAJOR + 1) << 16;
    (void)max_abi;
    return &bundle;
}
