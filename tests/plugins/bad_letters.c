/* Its id cannot be typed as the name of a device. */
#define ID "Bad:Letters"
#include "tests/plugins/plain.h"

PLAIN_PLUGIN(.create = plain_create)
