/* The host's own IEEE 754 arithmetic, one operation at a time, in a file of its own so that nothing
 * can be folded or contracted. A NaN comes back as the canonical one. */
#ifndef VYRE_TESTS_EVAL_HOST_H
#define VYRE_TESTS_EVAL_HOST_H

#include <vyre/op.h>

/* ADD, SUB, MUL, DIV, SQRT and FMA of f32 and f64; false for others. */
bool host_knows(uint32_t op);
uint32_t host_f32(uint32_t op, uint32_t a, uint32_t b, uint32_t c);
uint64_t host_f64(uint32_t op, uint64_t a, uint64_t b, uint64_t c);

uint32_t host_f32_of_f64(uint64_t bits);
uint64_t host_f64_of_f32(uint32_t bits);
uint32_t host_f32_of_i64(int64_t value);
uint32_t host_f32_of_u64(uint64_t value);
uint64_t host_f64_of_i64(int64_t value);
uint64_t host_f64_of_u64(uint64_t value);

#endif
