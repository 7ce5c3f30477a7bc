/* Arena: memory for everything that lives as long as one parse, compile or program; one free at the
 * end. One of zeros is empty. Owned by one thread at a time. */
#ifndef VYRE_BASE_ARENA_H
#define VYRE_BASE_ARENA_H

#include <vyre/base.h>

typedef struct vyre_arena_block vyre_arena_block;

typedef struct vyre_arena {
    vyre_arena_block *blocks;
    unsigned char *next;
    size_t left;
} vyre_arena;

void vyre_arena_init(vyre_arena *arena);
void vyre_arena_deinit(vyre_arena *arena);

/* Aligned for any C type; NULL without memory. */
void *vyre_arena_alloc(vyre_arena *arena, size_t size);

/* A NUL-terminated copy; NULL without memory. */
char *vyre_arena_copy(vyre_arena *arena, const char *data, size_t size);

#endif
