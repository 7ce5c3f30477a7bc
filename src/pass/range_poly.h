/* Polynomials with whole coefficients over atoms: numbers that are what they are, such as an
 * argument or the result of a division. Small ones only: what does not fit is given up. */
#ifndef VYRE_PASS_RANGE_POLY_H
#define VYRE_PASS_RANGE_POLY_H

#include <vyre/base.h>

enum { POLY_TERMS = 14, POLY_FACTORS = 4 };
#define POLY_NO_ATOM 0xffffffffu

typedef struct poly_term {
    int64_t by;
    uint32_t atoms[POLY_FACTORS]; /* ascending, POLY_NO_ATOM behind them */
} poly_term;

/* No two terms have the same atoms, none has a factor of 0; the order is that of the atoms. */
typedef struct poly {
    uint32_t count;
    poly_term terms[POLY_TERMS];
} poly;

poly poly_constant(int64_t number);
poly poly_atom(uint32_t atom);
bool poly_equal(const poly *a, const poly *b);
bool poly_terms_equal(const poly_term *a, uint32_t a_count, const poly_term *b, uint32_t b_count);
/* Whether it is a constant, and which. */
bool poly_is_constant(const poly *a, int64_t *out_number);

/* False if the result does not fit; `out` may be an operand. */
bool poly_add(poly *out, const poly *a, const poly *b, int64_t times_b);
bool poly_mul(poly *out, const poly *a, const poly *b);
bool poly_shift(poly *out, const poly *a, int64_t constant);
/* Exactly; false if a coefficient is no multiple. */
bool poly_divide(poly *out, const poly *a, int64_t by);

/* a = factor * atom + rest. False if the atom comes with itself. */
bool poly_split(const poly *a, uint32_t atom, poly *out_factor, poly *out_rest);

/* a >= 0 said with the smallest coefficients; the constant is rounded down. */
void poly_reduce(poly *a);

/* The last atom before `below`, POLY_NO_ATOM if there is none. */
uint32_t poly_last_atom(const poly *a, uint32_t below);

#endif
