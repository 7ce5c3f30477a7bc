/* Grains: of which powers of 2 the floats of a program are multiples. A multiple of the smallest
 * normal number is normal or 0, so no device flushes it. Whole numbers, constants, and sums and
 * products of these have large grains; numbers from memory may be anything. */
#ifndef VYRE_PASS_CORRECT_GRAIN_H
#define VYRE_PASS_CORRECT_GRAIN_H

#include <vyre/program.h>

typedef struct correct_grains {
    const vyre_ir *ir;
    int16_t *rows; /* by instruction: the exponent; infinities and NaNs are multiples of all */
} correct_grains;

/* False without memory; `grains` is then empty. */
bool correct_grains_init(correct_grains *grains, const vyre_ir *ir);
void correct_grains_deinit(correct_grains *grains);

/* Whether no operand and no result of an operation on f32 or f64, or of a conversion, can be
 * subnormal, or it does not matter: the device does it as if it did not flush. */
bool correct_grains_are_normal(const correct_grains *grains, uint32_t inst);

#endif
