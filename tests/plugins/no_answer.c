/* Made for an ABI that is newer than every one it may be asked for. */
#define ID "no-answer"
#include "tests/plugins/plain.h"

const vyre_bundle *vyre_backend_query(uint32_t max_abi) {
    static const vyre_registration registration = {.id = ID, .create = plain_create};
    static const vyre_bundle bundle = {VYRE_BUNDLE_HEAD, PLAIN_ROWS(&registration)};
    return max_abi == UINT32_MAX ? &bundle : NULL;
}
