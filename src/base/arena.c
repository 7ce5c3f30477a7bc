#include "base/arena.h"

#include <string.h>

#include "base/alloc.h"

enum { BLOCK_BYTES = 16384 };

struct vyre_arena_block {
    vyre_arena_block *previous;
    max_align_t bytes[];
};

void vyre_arena_init(vyre_arena *arena) {
    *arena = (vyre_arena){0};
}

void vyre_arena_deinit(vyre_arena *arena) {
    for (vyre_arena_block *block = arena->blocks; block;) {
        vyre_arena_block *previous = block->previous;
        vyre_free(block);
        block = previous;
    }
    *arena = (vyre_arena){0};
}

void *vyre_arena_alloc(vyre_arena *arena, size_t size) {
    size_t align = _Alignof(max_align_t);
    size = size ? size : 1; /* an address of its own, and never NULL */
    if (size > SIZE_MAX - align - sizeof(vyre_arena_block)) {
        return NULL;
    }
    size = (size + align - 1) / align * align;
    if (size > arena->left) {
        size_t bytes = size > BLOCK_BYTES / 4 ? size : BLOCK_BYTES;
        vyre_arena_block *block = vyre_alloc(sizeof(vyre_arena_block) + bytes);
        if (!block) {
            return NULL;
        }
        block->previous = arena->blocks;
        arena->blocks = block;
        if (bytes == size) {
            return block->bytes; /* a large one of its own: the open block stays in use */
        }
        arena->next = (unsigned char *)block->bytes;
        arena->left = bytes;
    }
    void *memory = arena->next;
    arena->next += size;
    arena->left -= size;
    return memory;
}

char *vyre_arena_copy(vyre_arena *arena, const char *data, size_t size) {
    char *copy = size < SIZE_MAX ? vyre_arena_alloc(arena, size + 1) : NULL;
    if (copy) {
        if (size) {
            memcpy(copy, data, size);
        }
        copy[size] = '\0';
    }
    return copy;
}
