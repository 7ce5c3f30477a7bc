/* Passes: the table of those that take a program and give another one that means the same.
 *
 * A pass leaves the interface, the phases and the steps of a program as they are, and what it
 * computes to the bit. It gives NULL where there is nothing for it to do, and fails for lack of
 * memory alone. Programs that are free of data races stay so.
 *
 * To add one: a row here, cases in tests/golden/passes/NAME/, and its place in the
 * pipeline of pass.c. tests/golden/test_pass.c and tests/unit/test_pass_random.c run every row.
 */
#ifndef VYRE_PASS_PASS_H
#define VYRE_PASS_PASS_H

#include <vyre/program.h>

/* X(NAME, name, function, about). vyre_math_expand gives NULL for a program that has no elementary
 * function, and can be run as it is. */
#define VYRE_PASSES(X)                                                                             \
    X(MATH, "math", vyre_math_expand, "expand elementary functions to arithmetic")                 \
    X(FOLD, "fold", vyre_fold, "fold constants and simplify by identities")                        \
    X(UNROLL, "unroll", vyre_unroll, "unroll short loops of known range")                          \
    X(PROMOTE, "promote", vyre_promote, "promote private arrays with constant indices to values")  \
    X(CSE, "cse", vyre_cse, "reuse values that were computed before")                              \
    X(LICM, "licm", vyre_licm, "hoist loop-invariant code")                                        \
    X(DCE, "dce", vyre_dce, "remove dead code")

#define VYRE_PASS_FUNCTION(id, name, function, about)                                              \
    VYRE_MUST_USE vyre_status function(const vyre_program *program, vyre_program **out_program);
VYRE_PASSES(VYRE_PASS_FUNCTION)
#undef VYRE_PASS_FUNCTION

typedef struct vyre_pass {
    const char *name;
    vyre_status (*run)(const vyre_program *program, vyre_program **out_program);
    const char *about;
} vyre_pass;

typedef enum vyre_pass_id {
#define VYRE_PASS_ENUM(id, name, function, about) VYRE_PASS_##id,
    VYRE_PASSES(VYRE_PASS_ENUM)
#undef VYRE_PASS_ENUM
        VYRE_PASS_COUNT
} vyre_pass_id;

extern const vyre_pass vyre_passes[VYRE_PASS_COUNT];

enum { VYRE_PROMOTE_ELEMENTS = 64 }; /* of private arrays that may become values */

/* Where a workgroup waits, some backends keep values that are needed afterwards in memory. What
 * costs no more than this is better computed again, so passes do not share it across barriers. */
enum { VYRE_PASS_CHEAP = 4 };

/* The pipeline that all backends share. Elementary functions are not expanded, a backend that has
 * none does so before. NULL if nothing changed. */
VYRE_MUST_USE vyre_status vyre_optimise(const vyre_program *program, vyre_program **out_program);

/* What cleans up behind a pass: folds, shares equal values, and leaves out what nothing uses. NULL
 * if nothing changed. */
VYRE_MUST_USE vyre_status vyre_tidy(const vyre_program *program, vyre_program **out_program);

/* The program that code is written for: without elementary functions, and optimised. `own_domain`
 * as for vyre_ranges_init. Release it; it may be `program` itself. UNSUPPORTED for one of more than
 * VYRE_LIMIT_COMPILED instructions. */
VYRE_MUST_USE vyre_status vyre_lower_program(const vyre_program *program, bool own_domain,
                                             vyre_program **out_program);
/* The same with all its loops, for less code. */
VYRE_MUST_USE vyre_status vyre_lower_program_rolled(const vyre_program *program, bool own_domain,
                                                    vyre_program **out_program);

#endif
