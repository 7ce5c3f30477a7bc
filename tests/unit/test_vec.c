#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"
#include "tests/unit/failing_allocator.h"

typedef struct pair {
    int first, second;
} pair;

static void vec_keeps_what_was_pushed_in_order(void **state) {
    (void)state;
    VYRE_VEC(uint32_t) numbers = {0};
    for (uint32_t i = 0; i < 10000; i++) {
        assert_true(vyre_vec_push(&numbers, i * i));
    }
    assert_int_equal(numbers.count, 10000);
    for (uint32_t i = 0; i < 10000; i++) {
        assert_int_equal(numbers.items[i], i * i);
    }
    vyre_vec_free(&numbers);
    assert_null(numbers.items);
    assert_int_equal(numbers.count + numbers.capacity, 0);
}

static void vec_takes_structs_with_commas(void **state) {
    (void)state;
    VYRE_VEC(pair) pairs = {0};
    assert_true(vyre_vec_push(&pairs, (pair){1, 2}));
    assert_int_equal(pairs.items[0].second, 2);
    vyre_vec_free(&pairs);
}

static void vec_reserve_makes_room_for_that_many(void **state) {
    (void)state;
    VYRE_VEC(char) bytes = {0};
    assert_true(vyre_vec_reserve(&bytes, 1000));
    char *before = bytes.items;
    for (int i = 0; i < 1000; i++) {
        assert_true(vyre_vec_push(&bytes, 'x'));
    }
    assert_ptr_equal(bytes.items, before);
    vyre_vec_free(&bytes);
}

static void vec_grows_geometrically(void **state) {
    (void)state;
    VYRE_VEC(uint64_t) numbers = {0};
    failing_allocator_start(0);
    for (uint64_t i = 0; i < 100000; i++) {
        assert_true(vyre_vec_push(&numbers, i));
    }
    assert_true(failing_allocator_state.count < 20);
    vyre_vec_free(&numbers);
    failing_allocator_stop();
}

static void vec_refuses_counts_that_overflow(void **state) {
    (void)state;
    VYRE_VEC(uint64_t) numbers = {0};
    assert_true(vyre_vec_push(&numbers, 1));
    assert_false(vyre_vec_reserve(&numbers, SIZE_MAX));
    assert_false(vyre_vec_reserve(&numbers, SIZE_MAX / 8));
    assert_int_equal(numbers.items[0], 1);
    vyre_vec_free(&numbers);
}

static void vec_is_unchanged_when_there_is_no_memory(void **state) {
    (void)state;
    for (size_t n = 1; failing_allocator_start(n); n++) {
        VYRE_VEC(int) numbers = {0};
        bool pushed = true;
        for (int i = 0; i < 1000 && pushed; i++) {
            pushed = vyre_vec_push(&numbers, i);
            assert_int_equal(numbers.count, pushed ? i + 1 : i);
        }
        for (size_t i = 0; i < numbers.count; i++) {
            assert_int_equal(numbers.items[i], i);
        }
        vyre_vec_free(&numbers);
        failing_allocator_stop();
        assert_int_equal(pushed, !failing_allocator_failed());
        if (pushed) {
            assert_true(n > 3);
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vec_keeps_what_was_pushed_in_order),
        cmocka_unit_test(vec_takes_structs_with_commas),
        cmocka_unit_test(vec_reserve_makes_room_for_that_many),
        cmocka_unit_test(vec_grows_geometrically),
        cmocka_unit_test(vec_refuses_counts_that_overflow),
        cmocka_unit_test(vec_is_unchanged_when_there_is_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
