/* Proof: all inputs of a function, or a sample, through an executor and compared with the oracle.
 */
#ifndef PROVE_MATH_PROVE_H
#define PROVE_MATH_PROVE_H

#include <vyre/text.h>

#include "inputs.h"

/* Something that runs `y[gid] = f(x[gid])` on words, of which a program of 32 bits has the lower
 * half. A state belongs to one thread; the program outlives it. */
typedef struct executor {
    vyre_status (*create)(const vyre_program *program, void **out_state);
    void (*run)(void *state, size_t count, const uint64_t *const *inputs, uint64_t *output);
    void (*free)(void *state); /* NULL is allowed */
} executor;

/* Reads the expansions and makes a program of each function and form: from `path` those of f32 and
 * of 16 bits, from the two others those of f64. */
VYRE_MUST_USE vyre_status proof_module(const char *path, vyre_module **out_module);
VYRE_MUST_USE vyre_status proof_module_f64(const char *polynomials, const char *path,
                                           vyre_module **out_module);
const vyre_program *proof_program(const vyre_module *module, const math_function *function,
                                  const math_format *format);

/* Instructions of a program that compute: always, and in branches. */
typedef struct proof_size {
    uint32_t always, in_branches;
} proof_size;
proof_size proof_program_size(const vyre_program *program);

enum { PROOF_SHOWN = 8 };

typedef struct proof_difference {
    uint64_t x, y, found, truth;
} proof_difference;

typedef struct proof_result {
    uint64_t inputs, uncertain;
    uint64_t inexact;   /* not the nearest value */
    uint64_t failures;  /* farther off than the function may be */
    uint64_t worst_ulp; /* UINT64_MAX: NaN against a number */
    size_t shown_count; /* the first few of the inexact ones */
    proof_difference shown[PROOF_SHOWN];
    double seconds;
} proof_result;

/* At most `most` inputs, the first ones; 0 for all. */
VYRE_MUST_USE vyre_status proof_run(const math_function *function, const math_format *format,
                                    const executor *how, const vyre_program *program,
                                    input_extent extent, uint64_t most, unsigned threads,
                                    proof_result *out_result);

/* Operands of f64 from a file, such as the worst cases of CORE-MATH: one or two numbers a line. */
typedef struct proof_cases {
    size_t count;
    uint64_t *x, *y;
} proof_cases;

VYRE_MUST_USE vyre_status proof_cases_read(const char *path, proof_cases *out_cases);
void proof_cases_free(proof_cases *cases);
VYRE_MUST_USE vyre_status proof_run_cases(const math_function *function, const executor *how,
                                          const vyre_program *program, const proof_cases *cases,
                                          unsigned threads, proof_result *out_result);

#endif
