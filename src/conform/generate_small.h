/* Small programs. */
#ifndef VYRE_CONFORM_GENERATE_SMALL_H
#define VYRE_CONFORM_GENERATE_SMALL_H

#include "conform/generate.h"

/* A number of a type at which rules may differ; `before` is one that it may have to do with, or
 * NULL. */
void generate_special(generator *g, vyre_type type, const uint8_t *before, uint8_t *out);

#endif
