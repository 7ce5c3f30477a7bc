/* Nor with this one. */
#define ID "other"
#include "tests/plugins/plain.h"

PLAIN_PLUGIN(.create = plain_create)
