/* Scalars: Python numbers as the bits of a kernel's scalar arguments. */
#ifndef VYRE_PYTHON_SCALAR_H
#define VYRE_PYTHON_SCALAR_H

#include "python.h"

/* Converts a number to a scalar type as NumPy does: integers must fit, floats round to nearest even
 * and must not become infinite. Refuses a float for an integer. `where` names the argument in
 * errors: "saxpy(): argument `a`". */
int scalar_read(PyObject *number, vyre_type type, const char *where, uint64_t *out_bits);

/* The number that a program's size expressions see: an integer extended to 64 bits. */
uint64_t scalar_extend(vyre_type type, uint64_t bits);

#endif
