/* Dead code: what has no effect and whose value nobody needs goes away.
 *
 * That is values, loads and subgroup operations; branches and `for` loops in which nothing is left,
 * since they end; values that blocks carry or give back, where they feed only themselves; stores to
 * shared and private arrays that nobody reads, and the arrays. A `loop` stays: it may not end, and
 * what comes after it does not happen then. */
#ifndef VYRE_PASS_DCE_H
#define VYRE_PASS_DCE_H

#include <vyre/program.h>

VYRE_MUST_USE vyre_status vyre_dce(const vyre_program *program, vyre_program **out_program);

#endif
