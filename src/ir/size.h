/* Size expressions: as text, and what an operator gives. */
#ifndef VYRE_IR_SIZE_H
#define VYRE_IR_SIZE_H

#include <vyre/program.h>

#include "base/strbuf.h"

void vyre_size_print(vyre_strbuf *text, const vyre_ir *ir, uint32_t size);

/* Applies an operator; false with what went wrong. */
bool vyre_size_apply(uint32_t op, uint64_t left, uint64_t right, uint64_t *out,
                     const char **problem);

#endif
