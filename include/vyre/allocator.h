/* The allocator hook: every byte that vyre keeps on the heap comes from here.
 *
 * Install one before the first other call of the library and leave it in place: memory taken from
 * one allocator must not be given to another. The default is the C library's. */
#ifndef VYRE_ALLOCATOR_H
#define VYRE_ALLOCATOR_H

#include <vyre/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_allocator {
    /* Resizes `memory` (NULL: allocates) to `size` bytes (never 0), aligned for any C type. NULL on
     * failure, which leaves `memory` as it was. May be called from any thread. */
    void *(*resize)(void *user, void *memory, size_t size);
    /* `memory` may be NULL. */
    void (*free)(void *user, void *memory);
    void *user;
} vyre_allocator;

/* NULL goes back to the C library's allocator. Copies the table. */
VYRE_API void vyre_allocator_set(const vyre_allocator *allocator);

#ifdef __cplusplus
}
#endif

#endif
