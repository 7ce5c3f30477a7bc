/* Registers a backend without a name. */
#define ID NULL
#include "tests/plugins/plain.h"

PLAIN_PLUGIN(.create = plain_create)
