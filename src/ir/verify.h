/* Verifier: whether arrays from anywhere are a program.
 *
 * verify.c       the tables: names, arguments, arrays, sizes, steps, phases
 * verify_code.c  the instructions: structure, types, memory
 * verify_sync.c  barriers and subgroup operations reached together; shared arrays across grid barriers
 *
 * It trusts nothing but the counts of the arrays, runs in linear time, and holds every program to the
 * one canonical form. The first error of a kind that makes going on pointless ends it.
 */
#ifndef VYRE_IR_VERIFY_H
#define VYRE_IR_VERIFY_H

#include <vyre/diagnostic.h>
#include <vyre/program.h>

/* OK, or the first error as a status, all of them being in `diagnostics`. */
VYRE_MUST_USE vyre_status vyre_verify(const vyre_ir *ir, vyre_diagnostics *diagnostics);

/* The rest is the verifier's own. */

typedef struct verifier {
    const vyre_ir *ir;
    vyre_diagnostics *diagnostics;
    uint32_t *visible_until; /* by instruction: end of the block that defines it */
    uint32_t next_const, next_operand; /* canonical order: the next one to be used first */
    bool has_errors, no_memory;
} verifier;

/* What the code of a phase contains, for the checks that follow. */
typedef struct phase_facts {
    bool syncs;         /* barriers, uniform loads or subgroup operations */
    bool grid_barriers; /* among them */
    bool uses_shared;
} phase_facts;

/* Reports an error at an instruction, or at none. Always false, to be returned. */
bool verify_error(verifier *v, uint32_t inst, uint32_t code, const char *fix, const char *format,
                  ...) VYRE_PRINTF(5, 6);
void verify_warning(verifier *v, uint32_t inst, uint32_t code, const char *fix, const char *format,
                    ...) VYRE_PRINTF(5, 6);

/* An array's name in backticks-ready form. */
const char *verify_resource_name(const verifier *v, uint32_t resource);

bool verify_code(verifier *v, uint32_t phase, phase_facts *facts);
void verify_uniformity(verifier *v, uint32_t phase);
void verify_shared(verifier *v, uint32_t phase);

#endif
