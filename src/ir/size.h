/* Size expressions as text. */
#ifndef VYRE_IR_SIZE_H
#define VYRE_IR_SIZE_H

#include <vyre/program.h>

#include "base/text.h"

void vyre_size_print(vyre_text *text, const vyre_ir *ir, uint32_t size);

#endif
