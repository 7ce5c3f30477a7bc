/* Has the function that it needs under a name that nobody asks for. */
#define ID "no-symbol"
#define vyre_backend_query vyre_backend_ask
#include "tests/plugins/plain.h"

PLAIN_PLUGIN(.create = plain_create)
