/* A module cut into parts that can be translated at the same time: the functions of one phase call
 * none of another's, so each part has those of some phases, and all that is outside of functions.
 */
#ifndef VYRE_CPU_CODEGEN_LLVM_PARTS_H
#define VYRE_CPU_CODEGEN_LLVM_PARTS_H

#include "base/strbuf.h"

enum { CPU_MOST_PARTS = 32 };

/* Cuts the text that emit.h makes into at most `most` parts of about the same size, where that is
 * worth it. Returns how many there are, in `out_parts`, all of which are to be freed; 1 means that
 * the text is to stay whole, and 0 that there is no memory: then there is nothing to free. */
uint32_t cpu_llvm_cut(const vyre_strbuf *ir, uint32_t most, vyre_strbuf out_parts[CPU_MOST_PARTS]);

#endif
