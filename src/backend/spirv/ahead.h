/* SPIR-V without a device: for `vyre emit` and `vyre show`. */
#ifndef VYRE_SPIRV_AHEAD_H
#define VYRE_SPIRV_AHEAD_H

#include <vyre/emit.h>

#include "backend/spirv/emit.h"
#include "base/strbuf.h"

extern const vyre_emitter spirv_emitter;

/* The stages of `vyre show`: X(name, documentation, function). */
#define SPIRV_STAGES(X)                                                                            \
    X("spirv", "the SPIR-V of the vulkan backend, for a device that needs no corrections",         \
      spirv_show)

/* The module for the baseline, as text. */
VYRE_MUST_USE vyre_status spirv_show(const vyre_program *program, vyre_strbuf *out);

/* Writes a module as the text that spirv-as takes. Unknown operations are numbers there. Returns
 * false if the words are no module, or one that ends too early. */
bool spirv_disassemble(const spirv_module *module, vyre_strbuf *out);

#endif
