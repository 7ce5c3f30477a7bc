/* Large fills and copies, by all threads. */
#ifndef VYRE_CPU_RUNTIME_FILL_H
#define VYRE_CPU_RUNTIME_FILL_H

#include <vyre/base.h>

void cpu_fill_zero(uint8_t *to, uint64_t size);
/* Repeats a pattern of 1, 2, 4, 8 or 16 bytes; `size` is a multiple of pattern_size. */
void cpu_fill(uint8_t *to, uint64_t size, const void *pattern, size_t pattern_size);
void cpu_copy(uint8_t *to, const void *from, uint64_t size);

#endif
