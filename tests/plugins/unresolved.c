/* Needs a function that no library has. */
#define ID "unresolved"
#include "tests/plugins/plain.h"

vyre_status nobody_defines_this(const vyre_host *host, uint32_t device, vyre_backend *out_backend);

PLAIN_PLUGIN(nobody_defines_this)
