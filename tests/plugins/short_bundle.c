/* Its bundle says that it ends before its tables do. */
#define ID "short-bundle"
#include "tests/plugins/plain.h"

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_registration registration = {.id = ID, .create = plain_create};
    static vyre_bundle bundle = {VYRE_BUNDLE_HEAD, PLAIN_ROWS(&registration)};
    bundle.struct_size = sizeof bundle - sizeof(size_t);
    (void)max_abi;
    return &bundle;
}
