/* Registers the same id two times. */
#define ID "twice"
#include "tests/plugins/plain.h"

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_registration registrations[] = {{.id = ID, .create = plain_create},
                                                      {.id = ID, .create = plain_create}};
    static const vyre_bundle bundle = {
        VYRE_BUNDLE_HEAD, registrations, 2, &plain_precedence, 1, &plain_capability, 1};
    (void)max_abi;
    return &bundle;
}
