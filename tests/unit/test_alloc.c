#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "tests/unit/failing_allocator.h"

static void alloc_gives_memory_that_can_be_written_resized_and_freed(void **state) {
    (void)state;
    char *memory = vyre_alloc(100);
    assert_non_null(memory);
    memset(memory, 7, 100);
    memory = vyre_resize(memory, 50, 4);
    assert_non_null(memory);
    assert_int_equal(memory[99], 7);
    vyre_free(memory);
    vyre_free(NULL);
}

static void alloc_of_nothing_is_not_a_failure(void **state) {
    (void)state;
    void *a = vyre_alloc(0), *b = vyre_alloc_array(0, 8), *c = vyre_alloc_zeroed(3, 0);
    assert_true(a && b && c);
    vyre_free(a);
    vyre_free(b);
    vyre_free(c);
}

static void alloc_zeroed_is_zero(void **state) {
    (void)state;
    unsigned char *memory = vyre_alloc_zeroed(1000, 3);
    for (size_t i = 0; i < 3000; i++) {
        assert_int_equal(memory[i], 0);
    }
    vyre_free(memory);
}

static void alloc_refuses_products_that_overflow(void **state) {
    (void)state;
    assert_null(vyre_alloc_array(SIZE_MAX / 2, 3));
    assert_null(vyre_alloc_zeroed(SIZE_MAX, 2));
    char *memory = vyre_alloc(1);
    assert_null(vyre_resize(memory, SIZE_MAX / 4 + 1, 4));
    vyre_free(memory);
}

static void alloc_goes_through_the_hook_and_back_to_the_default(void **state) {
    (void)state;
    failing_allocator_start(2);
    void *first = vyre_alloc(8), *second = vyre_alloc_array(2, 8), *third = vyre_alloc_zeroed(1, 8);
    assert_non_null(first);
    assert_null(second);
    assert_non_null(third);
    assert_int_equal(failing_allocator_state.count, 3);
    assert_int_equal(failing_allocator_state.live, 2);
    vyre_free(first);
    vyre_free(third);
    failing_allocator_stop();
    void *fourth = vyre_alloc(8);
    assert_int_equal(failing_allocator_state.count, 3);
    vyre_free(fourth);
}

static void alloc_failed_resize_keeps_the_old_block(void **state) {
    (void)state;
    failing_allocator_start(2);
    char *memory = vyre_alloc(4);
    memcpy(memory, "abc", 4);
    assert_null(vyre_resize(memory, 1, 4096));
    assert_string_equal(memory, "abc");
    vyre_free(memory);
    failing_allocator_stop();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alloc_gives_memory_that_can_be_written_resized_and_freed),
        cmocka_unit_test(alloc_of_nothing_is_not_a_failure),
        cmocka_unit_test(alloc_zeroed_is_zero),
        cmocka_unit_test(alloc_refuses_products_that_overflow),
        cmocka_unit_test(alloc_goes_through_the_hook_and_back_to_the_default),
        cmocka_unit_test(alloc_failed_resize_keeps_the_old_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
