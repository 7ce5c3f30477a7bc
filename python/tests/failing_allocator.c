/* An allocator for libvyre whose n-th allocation fails. test_memory.py compiles it. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static atomic_size_t allocations, fail_at; /* fail_at counts from 1; 0 never fails */
static atomic_ptrdiff_t live;
static atomic_bool failed;

void *failing_resize(void *user, void *memory, size_t size) {
    (void)user;
    if (atomic_fetch_add(&allocations, 1) + 1 == fail_at) {
        failed = 1;
        return NULL;
    }
    void *result = realloc(memory, size);
    live += !memory && result;
    return result;
}

void failing_free(void *user, void *memory) {
    (void)user;
    live -= memory != NULL;
    free(memory);
}

void failing_start(size_t n) {
    allocations = 0;
    failed = 0;
    fail_at = n;
}

/* Ends it, and returns whether an allocation failed. */
int failing_stop(void) {
    fail_at = 0;
    return failed;
}

/* Blocks given out and not freed, less those that another allocator gave out. */
ptrdiff_t failing_live(void) {
    return live;
}
