#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *default_resize(void *user, void *memory, size_t size) {
    (void)user;
    return realloc(memory, size);
}

static void default_free(void *user, void *memory) {
    (void)user;
    free(memory);
}

static const vyre_allocator default_allocator = {default_resize, default_free, NULL};
static vyre_allocator current = {default_resize, default_free, NULL};

void vyre_allocator_set(const vyre_allocator *allocator) {
    current = allocator ? *allocator : default_allocator;
}

void *vyre_alloc(size_t size) {
    return current.resize(current.user, NULL, size ? size : 1);
}

void *vyre_alloc_array(size_t count, size_t size) {
    return vyre_resize(NULL, count, size);
}

void *vyre_alloc_zeroed(size_t count, size_t size) {
    void *memory = vyre_alloc_array(count, size);
    if (memory) {
        memset(memory, 0, count * size);
    }
    return memory;
}

void *vyre_resize(void *memory, size_t count, size_t size) {
    if (size && count > SIZE_MAX / size) {
        return NULL;
    }
    size_t bytes = count * size;
    return current.resize(current.user, memory, bytes ? bytes : 1);
}

void vyre_free(void *memory) {
    if (memory) {
        current.free(current.user, memory);
    }
}
