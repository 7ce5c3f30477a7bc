/* Answers with the next major ABI, whatever it was asked for. */
#define ID "wrong-major"
#include "tests/plugins/plain.h"

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_registration registration = {ID, plain_create, NULL};
    static const vyre_bundle bundle = {sizeof(vyre_bundle), (VYRE_ABI_MAJOR + 1) << 16,
                                       PLAIN_ROWS(&registration)};
    (void)max_abi;
    return &bundle;
}
