/* Evaluator: runs a straight-line program with branches over many lanes at once.
 *
 * It knows what the expansions of elementary functions are made of and refuses everything else. It
 * is written apart from the reference backend on purpose, so that each can be held against the
 * other. */
#ifndef PROVE_MATH_EVALUATE_H
#define PROVE_MATH_EVALUATE_H

#include "prove.h"

extern const executor evaluator_executor;

/* The same, but where an operation on f64 gives a NaN this one gives a different NaN each time, as
 * a backend may: results must not depend on it. */
extern const executor noisy_executor;

#endif
