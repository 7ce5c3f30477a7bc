/* An allocator that fails on request, to prove that every allocation may fail.
 *
 *     for (size_t n = 1; failing_allocator_start(n); n++) {     the n-th allocation fails
 *         status = the_call_under_test();
 *         ...
 *         failing_allocator_stop();                             fails the test if memory is left
 *         if (!failing_allocator_failed()) { break; }           n is beyond the last allocation
 *         assert_non_null(status);
 *     }
 *
 * It counts allocations and the blocks that live; memory comes from the C library, so blocks of
 * before may be freed while it is in force. With threads the n-th allocation is that of any. */
#ifndef VYRE_TESTS_FAILING_ALLOCATOR_H
#define VYRE_TESTS_FAILING_ALLOCATOR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <vyre/allocator.h>
#include <vyre/status.h>

static struct {
    size_t fail_at;        /* counted from 1; 0 never fails */
    atomic_size_t count;   /* allocations and resizes so far */
    atomic_ptrdiff_t live; /* blocks given out and not yet freed */
    atomic_size_t largest; /* bytes that were asked for at once */
    atomic_bool failed;
} failing_allocator_state;

static inline void *failing_allocator_resize(void *user, void *memory, size_t size) {
    (void)user;
    if (size > failing_allocator_state.largest) {
        failing_allocator_state.largest = size;
    }
    if (atomic_fetch_add(&failing_allocator_state.count, 1) + 1 ==
        failing_allocator_state.fail_at) {
        failing_allocator_state.failed = true;
        return NULL;
    }
    void *result = realloc(memory, size);
    failing_allocator_state.live += !memory && result;
    return result;
}

static inline void failing_allocator_free(void *user, void *memory) {
    (void)user;
    failing_allocator_state.live -= memory != NULL;
    free(memory);
}

/* Puts it in force; the n-th allocation from now on fails, none if n is 0. Always true. */
static inline bool failing_allocator_start(size_t n) {
    static const vyre_allocator allocator = {failing_allocator_resize, failing_allocator_free,
                                             NULL};
    failing_allocator_state.fail_at = n;
    failing_allocator_state.count = 0;
    failing_allocator_state.live = 0;
    failing_allocator_state.largest = 0;
    failing_allocator_state.failed = false;
    vyre_allocator_set(&allocator);
    return true;
}

/* Goes back to the default without looking for leaks. */
static inline void failing_allocator_end(void) {
    vyre_allocator_set(NULL);
}

static inline void failing_allocator_stop(void) {
    failing_allocator_end();
    assert_int_equal(failing_allocator_state.live, 0);
}

/* The largest block that was asked for since the start. */
static inline size_t failing_allocator_largest(void) {
    return failing_allocator_state.largest;
}

/* Whether the allocation that was to fail came. */
static inline bool failing_allocator_failed(void) {
    return failing_allocator_state.failed;
}

/* For calls that keep memory, between failing_allocator_start(n), with n from 0 on, and _end: frees
 * the status, which has to be OUT_OF_MEMORY if the n-th allocation failed. True when n is beyond
 * the last one. */
static inline bool failing_allocator_judge(size_t n, vyre_status status) {
    bool failed = failing_allocator_failed();
    vyre_status_code code = vyre_status_code_of(status);
    vyre_status_free(status);
    if (code != (failed ? VYRE_STATUS_OUT_OF_MEMORY : VYRE_STATUS_OK)) {
        fail_msg("status %d where allocation %zu fails", (int)code, n);
    }
    return n && !failed;
}

#endif
