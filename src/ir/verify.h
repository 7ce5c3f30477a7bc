/* Verifier: whether arrays from anywhere are a program.
 *
 * verify.c        the whole: limits, names and places for people, then the parts below
 * verify_table.c  the tables: names, arguments, arrays, sizes, steps, phases, constants
 * verify_code.c   the instructions: structure, types, memory
 * verify_sync.c   barriers and subgroup operations reached together, shared arrays
 *
 * It trusts nothing but the counts of the arrays, runs in linear time, and holds every program to
 * the one canonical form. The first error of a kind that makes going on pointless ends it.
 */
#ifndef VYRE_IR_VERIFY_H
#define VYRE_IR_VERIFY_H

#include <vyre/diagnostic.h>
#include <vyre/program.h>

#include "ir/section.h"

/* What an error is about: an item of a section, which may be one that is missing at the end, or the
 * program as a whole, then VYRE_SECTION_COUNT. */
typedef struct vyre_fault {
    uint32_t section, item;
} vyre_fault;

/* OK, or the first error as a status, all of them being in `diagnostics`. On an error `out_fault`,
 * if given, says what the one in the status is about. */
VYRE_MUST_USE vyre_status vyre_verify(const vyre_ir *ir, vyre_diagnostics *diagnostics,
                                      vyre_fault *out_fault);

/* The rest is the verifier's own. */

typedef struct verifier {
    const vyre_ir *ir;
    vyre_diagnostics *diagnostics;
    vyre_fault fault;                        /* of the first error that blames no instruction */
    uint32_t next_const, next_operand;       /* canonical order: the next one to be used first */
    uint32_t first_constant, constant_count; /* constant arrays... */
    uint32_t used_constants;                 /* ...and how many were used, in the same order */
    bool has_errors, no_memory, swaps_records;
    uint64_t used_fields[VYRE_LIMIT_RESOURCES / 64]; /* a bit for each that an instruction uses */
} verifier;

/* What the code of a phase contains, for the checks that follow. */
typedef struct phase_facts {
    bool syncs;         /* barriers, uniform loads or subgroup operations */
    bool grid_barriers; /* among them */
    bool uses_shared;
    bool uses_subgroup; /* its width matters */
} phase_facts;

/* Reports an error at an instruction. Always false, to be returned. */
bool verify_error(verifier *v, uint32_t inst, uint32_t code, const char *fix, const char *format,
                  ...) VYRE_PRINTF(5, 6);
/* The same at an item of a table. */
bool verify_item_error(verifier *v, vyre_section_id section, uint32_t item, uint32_t code,
                       const char *fix, const char *format, ...) VYRE_PRINTF(6, 7);
/* The same for an item that does not stand where or as canonical form has it. */
bool verify_not_canonical(verifier *v, vyre_section_id section, uint32_t item, const char *what);
void verify_warning(verifier *v, uint32_t inst, uint32_t code, const char *fix, const char *format,
                    ...) VYRE_PRINTF(5, 6);

/* An array's name in backticks-ready form. */
const char *verify_resource_name(const verifier *v, uint32_t resource);

bool verify_tables(verifier *v);
/* The code of a phase, which is step `step` of the program. */
bool verify_code(verifier *v, uint32_t phase, uint32_t step, phase_facts *facts);
void verify_uniformity(verifier *v, uint32_t phase);
void verify_shared(verifier *v, uint32_t phase);

#endif
