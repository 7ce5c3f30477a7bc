#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "tests/unit/failing_allocator.h"

enum { PIECES = 5000 };

static void arena_pieces_are_aligned_and_do_not_overlap(void **state) {
    (void)state;
    static unsigned char *pieces[PIECES];
    vyre_arena arena;
    vyre_arena_init(&arena);
    for (size_t i = 0; i < PIECES; i++) {
        size_t size = i * 37 % 301 + (i % 500 == 0 ? 20000 : 0);
        pieces[i] = vyre_arena_alloc(&arena, size);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        memset(pieces[i], (int)(i % 251), size);
    }
    for (size_t i = 0; i < PIECES; i++) {
        size_t size = i * 37 % 301 + (i % 500 == 0 ? 20000 : 0);
        for (size_t j = 0; j < size; j++) {
            assert_int_equal(pieces[i][j], i % 251);
        }
    }
    vyre_arena_deinit(&arena);
}

static void arena_piece_of_no_bytes_is_not_null(void **state) {
    (void)state;
    vyre_arena arena;
    vyre_arena_init(&arena);
    void *first = vyre_arena_alloc(&arena, 0), *second = vyre_arena_alloc(&arena, 0);
    assert_non_null(first);
    assert_ptr_not_equal(first, second);
    vyre_arena_deinit(&arena);
}

static void arena_refuses_sizes_that_overflow(void **state) {
    (void)state;
    vyre_arena arena;
    vyre_arena_init(&arena);
    assert_null(vyre_arena_alloc(&arena, SIZE_MAX));
    assert_null(vyre_arena_alloc(&arena, SIZE_MAX - 8));
    assert_null(vyre_arena_copy(&arena, "", SIZE_MAX));
    vyre_arena_deinit(&arena);
}

static void arena_copy_ends_with_nul(void **state) {
    (void)state;
    vyre_arena arena;
    vyre_arena_init(&arena);
    assert_string_equal(vyre_arena_copy(&arena, "abcdef", 3), "abc");
    assert_string_equal(vyre_arena_copy(&arena, NULL, 0), "");
    assert_memory_equal(vyre_arena_copy(&arena, "a\0b", 3), "a\0b", 4);
    vyre_arena_deinit(&arena);
}

static void arena_takes_few_blocks_and_gives_all_back(void **state) {
    (void)state;
    vyre_arena arena;
    failing_allocator_start(0);
    vyre_arena_init(&arena);
    for (size_t i = 0; i < 1000; i++) {
        assert_non_null(vyre_arena_alloc(&arena, 16));
    }
    assert_true(failing_allocator_state.count <= 2);
    assert_non_null(vyre_arena_alloc(&arena, 100000));
    size_t blocks = failing_allocator_state.count;
    assert_non_null(vyre_arena_alloc(&arena, 16)); /* the open block stays in use */
    assert_int_equal(failing_allocator_state.count, blocks);
    vyre_arena_deinit(&arena);
    failing_allocator_stop();
}

static void arena_can_be_used_on_after_a_failed_allocation(void **state) {
    (void)state;
    vyre_arena arena;
    failing_allocator_start(2);
    vyre_arena_init(&arena);
    char *kept = vyre_arena_copy(&arena, "kept", 4);
    assert_null(vyre_arena_alloc(&arena, 100000));
    assert_non_null(vyre_arena_alloc(&arena, 100000));
    assert_string_equal(kept, "kept");
    vyre_arena_deinit(&arena);
    failing_allocator_stop();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_pieces_are_aligned_and_do_not_overlap),
        cmocka_unit_test(arena_piece_of_no_bytes_is_not_null),
        cmocka_unit_test(arena_refuses_sizes_that_overflow),
        cmocka_unit_test(arena_copy_ends_with_nul),
        cmocka_unit_test(arena_takes_few_blocks_and_gives_all_back),
        cmocka_unit_test(arena_can_be_used_on_after_a_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
