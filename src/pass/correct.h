/* Corrections: exact floats on devices whose arithmetic is not as docs/semantics.md says.
 *
 * A correction replaces an operation by code of correct.vyre and its neighbours. That code uses the
 * device's own operation where its result is sure to be right, and integers elsewhere. So in a
 * corrected program an `add` of f32 means the device's own add, and who writes code for the device
 * need not know of corrections.
 *
 *     vyre_corrections needed = {.f32 = VYRE_CORRECT_FMA};
 *     status = vyre_lower_corrected(program, true, &needed, &lowered);
 *
 * pass/probe.h finds out what a device needs. */
#ifndef VYRE_PASS_CORRECT_H
#define VYRE_PASS_CORRECT_H

#include <vyre/program.h>

#include "base/strbuf.h"

/* What a device does not do as docs/semantics.md says, by float type. */
enum {
    VYRE_CORRECT_ABSENT = 1,        /* no arithmetic of the type: done in integers */
    VYRE_CORRECT_LINEAR = 2,        /* + - * are not correctly rounded or contracted */
    VYRE_CORRECT_DIV = 4,           /* quotients */
    VYRE_CORRECT_SQRT = 8,          /* square roots */
    VYRE_CORRECT_FMA = 16,          /* fma rounds twice, or otherwise wrongly */
    VYRE_CORRECT_CONVERT = 32,      /* conversions to and from integers or other floats */
    VYRE_CORRECT_ROUND = 64,        /* floor ceil trunc round */
    VYRE_CORRECT_COMPARE = 128,     /* comparisons, min, max */
    VYRE_CORRECT_FLUSH = 254 << 16, /* of any of these, but not of the first */
    VYRE_CORRECT_ALL = 255 | VYRE_CORRECT_FLUSH
};

/* The bits that say that only subnormal operands or results of these operations go wrong: a device
 * may take them for 0. */
#define VYRE_CORRECT_FLUSHED(operations) ((uint32_t)(operations) << 16)

typedef struct vyre_corrections {
    uint32_t f32, f64;
} vyre_corrections;

/* The program with these operations replaced by exact code; NULL if there is nothing to do. The
 * program has no elementary functions. Afterwards no arithmetic, comparison, min, max, rounding or
 * conversion on f16 and bf16 remains: all is computed through their bits and f32. What remains are
 * operations on their bits: load, store, select, bitcast, neg, abs, copysign, shuffles, values of
 * blocks and loops. With f64 ABSENT the same holds for f64, whose arithmetic is done in u64.
 *
 * Fails for lack of memory, and is UNSUPPORTED if the result has more than VYRE_LIMIT_COMPILED
 * instructions, or if f32 is ABSENT, which no device is. */
VYRE_MUST_USE vyre_status vyre_correct(const vyre_program *program, const vyre_corrections *needed,
                                       vyre_program **out_program);

/* vyre_lower_program, then vyre_correct, then the passes that clean up: what code is written for.
 * Release it; it may be `program` itself. */
VYRE_MUST_USE vyre_status vyre_lower_corrected(const vyre_program *program, bool own_domain,
                                               const vyre_corrections *needed,
                                               vyre_program **out_program);

/* Text for people: "f32: subnormals, fma; f64: none". */
void vyre_corrections_print(const vyre_corrections *corrections, vyre_strbuf *out);

#endif
