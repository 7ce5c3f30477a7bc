/* Says that its registrations are shorter than any version has them. */
#define ID "short-rows"
#include "tests/plugins/plain.h"

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_registration registration = {.id = ID, .create = plain_create};
    static vyre_bundle bundle = {VYRE_BUNDLE_HEAD, PLAIN_ROWS(&registration)};
    bundle.registration_size = sizeof(const char *);
    (void)max_abi;
    return &bundle;
}
