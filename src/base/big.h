/* Natural numbers of a bounded size, exact: what reading and printing floats falls back on. */
#ifndef VYRE_BASE_BIG_H
#define VYRE_BASE_BIG_H

#include <vyre/base.h>

/* The largest comes from reading: 801 digits over 5^1201 are below 2^2790, and one more for the
 * quotient's shifts. */
enum {
    VYRE_BIG_LIMBS = 48,
    VYRE_POWERS_OF_5 = 27 /* 5^27 is the largest below 2^63 */
};

typedef struct vyre_big {
    size_t count; /* limbs in use, least significant first, the last one not 0 */
    uint64_t limbs[VYRE_BIG_LIMBS];
} vyre_big;

uint64_t vyre_power_of_5(unsigned exponent); /* up to VYRE_POWERS_OF_5 */

void vyre_big_set(vyre_big *big, uint64_t value);
void vyre_big_multiply_add(vyre_big *big, uint64_t factor, uint64_t summand);
void vyre_big_multiply_power_of_5(vyre_big *big, unsigned exponent);
void vyre_big_shift_left(vyre_big *big, unsigned bits);
void vyre_big_add(vyre_big *big, const vyre_big *summand);
void vyre_big_subtract(vyre_big *big, const vyre_big *smaller); /* or equal */
int vyre_big_compare(const vyre_big *left, const vyre_big *right);
unsigned vyre_big_bits(const vyre_big *big); /* of a number that is not 0 */

#endif
