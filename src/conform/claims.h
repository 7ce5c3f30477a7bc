/* Claims: what the manifests say of operations, tested on a device.
 *
 * witness.c    examples with what comes out, and samples, which must run
 * law.c        laws such as `commutative`; law_test.c has each of them
 *
 * What does not hold is appended to `failures`, a line each, and counted. A status is trouble of
 * another kind. */
#ifndef VYRE_CONFORM_CLAIMS_H
#define VYRE_CONFORM_CLAIMS_H

#include <vyre/device.h>
#include <vyre/dialect.h>

#include "values/bind.h"

typedef struct conform_claims {
    bool suiting; /* only variants that suit the device are asked for */
    size_t operations, witnesses, samples, laws, cases, failures;
    size_t unsupported; /* failures that are no fault: the device cannot run the program */
    uint64_t digest;    /* of all outputs that were seen */
} conform_claims;

VYRE_MUST_USE vyre_status conform_witnesses_check(vyre_device *device,
                                                  const vyre_operation *operation,
                                                  conform_claims *claims, vyre_strbuf *failures);
VYRE_MUST_USE vyre_status conform_samples_check(vyre_device *device,
                                                const vyre_operation *operation,
                                                conform_claims *claims, vyre_strbuf *failures);
VYRE_MUST_USE vyre_status conform_laws_check(vyre_device *device, const vyre_dialects *snapshot,
                                             const vyre_operation *operation,
                                             conform_claims *claims, vyre_strbuf *failures);
/* The same for one of its laws. `is_brief` tries fewer values where three of them meet. */
VYRE_MUST_USE vyre_status conform_law_check(vyre_device *device, const vyre_dialects *snapshot,
                                            const vyre_operation *operation, size_t law,
                                            bool is_brief, conform_claims *claims,
                                            vyre_strbuf *failures);

/* The arguments of a witness as inputs of the operation's program. Deinit the binding whatever
 * comes out. */
VYRE_MUST_USE vyre_status conform_witness_bind(const vyre_operation *operation,
                                               const vyre_program *program, const char *arguments,
                                               values_binding *out_binding);

/* Whether a variant is meant for a device, by its backend or its kind; others are never chosen
 * there. */
bool conform_variant_suits(const vyre_variant *variant, const vyre_device *device);

#endif
