#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/map.h"
#include "tests/unit/failing_allocator.h"

enum { KEYS = 20000 };

/* Key and value are the same number here. */
static bool same_number(const void *context, uint32_t value) {
    return *(const uint32_t *)context == value;
}

static uint64_t hash_of(uint32_t key) {
    return vyre_hash_key(&key, sizeof key);
}

static uint32_t *find(const vyre_map *map, uint64_t hash, uint32_t key) {
    return vyre_map_find(map, hash, same_number, &key);
}

static void map_finds_what_was_added_and_nothing_else(void **state) {
    (void)state;
    vyre_map map = {0};
    assert_null(find(&map, hash_of(1), 1));
    for (uint32_t key = 0; key < KEYS; key++) {
        assert_null(find(&map, hash_of(key), key));
        assert_true(vyre_map_add(&map, hash_of(key), key));
    }
    assert_int_equal(map.count, KEYS);
    for (uint32_t key = 0; key < KEYS; key++) {
        uint32_t *slot = find(&map, hash_of(key), key);
        assert_non_null(slot);
        assert_int_equal(*slot, key);
    }
    for (uint32_t key = KEYS; key < 2 * KEYS; key++) {
        assert_null(find(&map, hash_of(key), key));
    }
    vyre_map_free(&map);
    assert_int_equal(map.count + map.capacity, 0);
}

static void map_tells_keys_with_the_same_hash_apart(void **state) {
    (void)state;
    static const uint64_t hashes[] = {0, 1, UINT32_MAX, UINT64_MAX, 1ull << 32};
    for (size_t h = 0; h < sizeof hashes / sizeof hashes[0]; h++) {
        vyre_map map = {0};
        for (uint32_t key = 0; key < 100; key++) {
            assert_true(vyre_map_add(&map, hashes[h], key));
        }
        for (uint32_t key = 0; key < 100; key++) {
            assert_int_equal(*find(&map, hashes[h], key), key);
        }
        assert_null(find(&map, hashes[h], 100));
        vyre_map_free(&map);
    }
}

static void map_value_can_be_replaced(void **state) {
    (void)state;
    vyre_map map = {0};
    assert_true(vyre_map_add(&map, hash_of(5), 5));
    *find(&map, hash_of(5), 5) = 6;
    assert_null(find(&map, hash_of(5), 5));
    assert_int_equal(*find(&map, hash_of(5), 6), 6);
    vyre_map_free(&map);
}

static void map_is_unchanged_when_there_is_no_memory(void **state) {
    (void)state;
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_map map = {0};
        uint32_t added = 0;
        while (added < 1000 && vyre_map_add(&map, hash_of(added), added)) {
            added++;
        }
        assert_int_equal(map.count, added);
        for (uint32_t key = 0; key < 1000; key++) {
            assert_int_equal(find(&map, hash_of(key), key) != NULL, key < added);
        }
        vyre_map_free(&map);
        failing_allocator_stop();
        assert_int_equal(added < 1000, failing_allocator_failed());
        if (added == 1000) {
            assert_true(n > 3);
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_finds_what_was_added_and_nothing_else),
        cmocka_unit_test(map_tells_keys_with_the_same_hash_apart),
        cmocka_unit_test(map_value_can_be_replaced),
        cmocka_unit_test(map_is_unchanged_when_there_is_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
