/* Math expansion: elementary functions become the arithmetic that defines them, from math.vyre. */
#ifndef VYRE_PASS_MATH_H
#define VYRE_PASS_MATH_H

#include <vyre/program.h>

/* The program without elementary functions; NULL if it has none, so can be run as it is. */
VYRE_MUST_USE vyre_status vyre_math_expand(const vyre_program *program, vyre_program **out_program);

#endif
