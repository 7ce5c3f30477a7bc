/* The inside of a program, and how one comes to be. */
#ifndef VYRE_IR_PROGRAM_H
#define VYRE_IR_PROGRAM_H

#include <stdatomic.h>

#include <vyre/diagnostic.h>
#include <vyre/program.h>

#include "ir/verify.h"

struct vyre_program {
    atomic_uint references;
    vyre_ir ir;
    vyre_digest digest;
    vyre_determinism determinism;
    char *determinism_reason;
};

/* The only way to a program: verifies `ir`, computes digest and class, and takes over its arrays
 * (all from vyre_alloc). On failure the arrays are freed, `diagnostics` says why, the status is the
 * first error, and `out_fault`, if given, says where in the arrays it lies. */
VYRE_MUST_USE vyre_status vyre_program_seal(vyre_ir *ir, vyre_diagnostics *diagnostics,
                                            vyre_fault *out_fault, vyre_program **out_program);

/* The class of a valid program, and why it is not proven deterministic (NULL where it is; from
 * vyre_alloc). False without memory. */
bool vyre_determinism_classify(const vyre_ir *ir, vyre_determinism *out_class, char **out_reason);

/* The names as text; a resource or step without one gives "". */
static inline const char *vyre_ir_resource_name(const vyre_ir *ir, uint32_t resource) {
    return ir->resource_name_count ? ir->debug_strings + ir->resource_names[resource] : "";
}

/* Whether an argument is an `out` buffer: made for the caller, who brings no value for it. */
static inline bool vyre_ir_is_out(const vyre_ir *ir, uint32_t arg) {
    uint32_t resource = ir->args[arg].resource;
    return resource != VYRE_NONE && ir->resources[resource].access == VYRE_ACCESS_OUT;
}

/* Whether the caller gets an argument's bytes: an `inout` or `out` buffer. */
static inline bool vyre_ir_is_output(const vyre_ir *ir, uint32_t arg) {
    uint32_t resource = ir->args[arg].resource;
    return resource != VYRE_NONE && ir->resources[resource].access != VYRE_ACCESS_IN;
}

/* The file that the places of a scope are in; "" if unknown. */
static inline const char *vyre_ir_file(const vyre_ir *ir, uint32_t scope) {
    uint32_t file = scope && ir->scopes[scope - 1].file ? ir->scopes[scope - 1].file : ir->file;
    return file ? ir->debug_strings + file : "";
}

/* The other file that an instruction comes from, an operation's; "" if it is the program's own. */
static inline const char *vyre_ir_other_file(const vyre_ir *ir, uint32_t inst) {
    uint32_t scope = ir->place_count ? VYRE_PLACE_SCOPE(ir->places[inst]) : 0;
    return scope && ir->scopes[scope - 1].file ? ir->debug_strings + ir->scopes[scope - 1].file
                                               : "";
}

/* The line an instruction comes from; 0 if unknown. */
static inline uint32_t vyre_ir_line(const vyre_ir *ir, uint32_t inst) {
    return ir->place_count ? VYRE_PLACE_LINE(ir->places[inst]) : 0;
}

#endif
