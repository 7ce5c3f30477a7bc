/* Its bundle says that it ends before its tables do. */
#define ID "short-bundle"
#include "tests/plugins/plain.h"

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_registration registration = {ID, plain_create, NULL};
    static const vyre_bundle bundle = {sizeof(vyre_bundle) - sizeof(size_t), VYRE_ABI,
                                       PLAIN_ROWS(&registration)};
    (void)max_abi;
    return &bundle;
}
