/* Heap memory through the allocator hook. Everything returns NULL on failure; nobody else in the
 * library calls malloc. */
#ifndef VYRE_BASE_ALLOC_H
#define VYRE_BASE_ALLOC_H

#include <vyre/allocator.h>

/* A size of 0 is treated as 1. `count * size` is checked for overflow. */
void *vyre_alloc(size_t size);
void *vyre_alloc_zeroed(size_t count, size_t size);
void *vyre_alloc_array(size_t count, size_t size);
void *vyre_resize(void *memory, size_t count, size_t size);
void vyre_free(void *memory);

#endif
