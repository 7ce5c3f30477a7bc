/* Grains: of which powers of 2 the floats of a program are multiples. A multiple of the smallest
 * normal number is normal or 0, so no device flushes it. Whole numbers, constants, and sums and
 * products of these have large grains; numbers from memory may be anything. */
#ifndef VYRE_PASS_CORRECT_GRAIN_H
#define VYRE_PASS_CORRECT_GRAIN_H

#include <vyre/program.h>

typedef struct correct_grains {
    const vyre_ir *ir;
    int16_t *rows; /* by instruction: the exponent; infinities and NaNs are multiples of all */
    /* The same as long as no fma of f32 that correct_grains_may_group names gave less than the
     * smallest normal number, with what loops carry. */
    int16_t *assumed;
} correct_grains;

/* False without memory; `grains` is then empty. */
bool correct_grains_init(correct_grains *grains, const vyre_ir *ir);
void correct_grains_deinit(correct_grains *grains);

/* Whether no operand and no result of an operation on f32 or f64, or of a conversion, can be
 * subnormal, or it does not matter: the device does it as if it did not flush. */
bool correct_grains_are_normal(const correct_grains *grains, uint32_t inst);

enum { CORRECT_GRAIN_NORMAL = -126 }; /* of f32: what makes a number normal, or 0 */

/* What an operand of f32 is a multiple of; `assumed`: see above. */
int correct_grain_of(const correct_grains *grains, uint32_t operand, bool assumed);

/* Whether an instruction is an fma of f32 that is not sure to be normal, but may be: none of its
 * operands is a constant that rules it out. */
bool correct_grains_may_group(const correct_grains *grains, uint32_t inst);

#endif
