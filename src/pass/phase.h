/* One phase of a program as a program of its own, for backends that know no others: the host runs
 * steps, keeps scratch arrays and computes domains, and the phase gets all of it as arguments. */
#ifndef VYRE_PASS_PHASE_H
#define VYRE_PASS_PHASE_H

#include <vyre/program.h>

typedef enum vyre_phase_binding_kind {
    VYRE_PHASE_SCALAR,    /* index: argument of the whole program */
    VYRE_PHASE_RESOURCE,  /* index: buffer, scratch or constant array of the whole program */
    VYRE_PHASE_ITERATION, /* index: step, a repeat; a u32 that counts its iterations */
    VYRE_PHASE_DOMAIN     /* index: dimension; a u64 */
} vyre_phase_binding_kind;

/* What an argument of the phase's program is. */
typedef struct vyre_phase_binding {
    vyre_phase_binding_kind kind;
    uint32_t index;
    vyre_access access; /* of a resource: in, or inout where the phase writes it */
} vyre_phase_binding;

typedef struct vyre_phase_part {
    vyre_program *program;
    vyre_phase_binding *bindings; /* one an argument of `program`, in its order */
    uint32_t binding_count;
} vyre_phase_part;

/* Takes a phase out of a program. Arrays that it touches, or whose length it asks for, become
 * buffers of free length, those of bool buffers of u8. The workgroup, the subgroup and grid
 * barriers stay. Constant arrays stay, too, unless `lends_constants`: then the host passes them as
 * buffers, for a backend that knows none. */
VYRE_MUST_USE vyre_status vyre_phase_extract(const vyre_program *program, uint32_t phase,
                                             bool lends_constants, vyre_phase_part *out_part);
void vyre_phase_part_free(vyre_phase_part *part);

#endif
