/* Answers with the next minor ABI. */
#define ID "wrong-minor"
#include "tests/plugins/plain.h"

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_registration registration = {ID, plain_create, NULL};
    static const vyre_bundle bundle = {sizeof(vyre_bundle), VYRE_ABI + 1,
                                       PLAIN_ROWS(&registration)};
    (void)max_abi;
    return &bundle;
}
