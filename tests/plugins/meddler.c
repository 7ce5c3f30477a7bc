/* Ranks a backend that is not its own. */
#define ID "meddler"
#include "tests/plugins/plain.h"

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_registration registration = {.id = ID, .create = plain_create};
    static const vyre_precedence precedences[] = {{ID, 50}, {"good", 0}};
    static const vyre_bundle bundle = {
        VYRE_BUNDLE_HEAD, &registration, 1, precedences, 2, &plain_capability, 1};
    (void)max_abi;
    return &bundle;
}
