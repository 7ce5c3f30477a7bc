/* The inside of a program, and how one comes to be. */
#ifndef VYRE_IR_PROGRAM_H
#define VYRE_IR_PROGRAM_H

#include <stdatomic.h>

#include <vyre/diagnostic.h>
#include <vyre/program.h>

#include "ir/verify.h"

/* The devices that a variant suits. */
typedef enum vyre_device_kind { VYRE_KIND_ANY, VYRE_KIND_CPU, VYRE_KIND_GPU } vyre_device_kind;
typedef struct vyre_suits {
    const char *backend; /* its id; NULL: any */
    vyre_device_kind kind;
} vyre_suits;

/* A program of the same arguments and meaning, with library operations in another form. */
typedef struct vyre_program_variant {
    vyre_suits suits; /* owns the id */
    vyre_program *program;
} vyre_program_variant;

enum { VYRE_MOST_VARIANTS = 8 }; /* of a program */

struct vyre_program {
    atomic_uint references;
    vyre_ir ir;
    vyre_digest digest;
    vyre_determinism determinism;
    char *determinism_reason;
    uint8_t *dimensions;            /* by argument, as the text declares them; NULL: one each */
    vyre_program_variant *variants; /* none has variants of its own */
    uint32_t variant_count;
};

/* Whether programs take the same arguments. */
bool vyre_program_same_arguments(const vyre_program *left, const vyre_program *right);

/* Gives a variant to a program that nobody else has yet, and takes it over, also on errors. It must
 * take the same arguments. */
VYRE_MUST_USE vyre_status vyre_program_add_variant(vyre_program *program, vyre_suits suits,
                                                   vyre_program *variant);

/* The variant for a device, or the program itself: one for the backend goes before one for the
 * kind. */
const vyre_program *vyre_program_suited(const vyre_program *program, const char *backend,
                                        bool is_gpu);

/* The digest of a program and of its variants, which its own digest does not cover: what was
 * measured or certified on devices is about all of them. */
vyre_digest vyre_program_whole_digest(const vyre_program *program);

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
