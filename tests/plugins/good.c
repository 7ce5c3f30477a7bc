/* Nothing is wrong with this one. */
#define ID "good"
#include "tests/plugins/plain.h"

PLAIN_PLUGIN(.create = plain_create)
