/* Memory for what programs work on: aligned to 64 bytes, and kept when it is given back, since the
 * next run is likely to want the same. */
#ifndef VYRE_CPU_RUNTIME_MEMORY_H
#define VYRE_CPU_RUNTIME_MEMORY_H

#include <vyre/base.h>

enum { CPU_ALIGNMENT = 64 };

/* With anything in it; NULL if there is none. */
uint8_t *cpu_memory_take(size_t size);
void cpu_memory_give(uint8_t *memory); /* NULL is allowed */

/* Frees what is kept. */
void cpu_memory_trim(void);

#endif
