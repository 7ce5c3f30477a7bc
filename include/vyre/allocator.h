/* Allocator: replaces malloc and free for all of the library's heap memory.
 *
 *     vyre_allocator_set(&(vyre_allocator){resize, release, &arena});
 *
 * Set it before any other call and keep it: the library must not free memory from one allocator
 * with another. The default is the C library's allocator. */
#ifndef VYRE_ALLOCATOR_H
#define VYRE_ALLOCATOR_H

#include <vyre/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_allocator {
    /* Resizes `memory` to `size` bytes, aligned for any C type. `memory` is NULL for a new
     * allocation; `size` is never 0. Returns NULL on failure and leaves `memory` as it was. Any
     * thread may call it. */
    void *(*resize)(void *user, void *memory, size_t size);
    /* `memory` may be NULL. */
    void (*free)(void *user, void *memory);
    void *user;
} vyre_allocator;

/* Copies the table. NULL restores the C library's allocator. */
VYRE_API void vyre_allocator_set(const vyre_allocator *allocator);

#ifdef __cplusplus
}
#endif

#endif
