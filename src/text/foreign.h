/* Words that people bring from CUDA, OpenCL, WGSL, GLSL, C, Rust and Python, with what to write
 * here instead. Only diagnostics ask: none of them is reserved. */
#ifndef VYRE_TEXT_FOREIGN_H
#define VYRE_TEXT_FOREIGN_H

#include <vyre/base.h>

/* What to write for a word or a mark, as the text of a fix; NULL for one that is not known. */
const char *vyre_foreign_fix(vyre_str word);

/* The type that another language calls by this name; NULL for a name that is none. */
const char *vyre_foreign_type(vyre_str name);

#endif
