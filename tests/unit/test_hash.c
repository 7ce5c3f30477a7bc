#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <pthread.h>

#include <cmocka.h>

#include "base/hash.h"

/* Stored checksums and digests depend on these; the values are XXH3's own. */
static void hash_values_are_the_same_everywhere(void **state) {
    (void)state;
    assert_int_equal(vyre_hash("", 0), 0x2d06800538d394c2u);
    assert_int_equal(vyre_hash("vyre", 4), 0x0fae83f8570d0f7bu);
    vyre_hash128 empty = vyre_hash_128("", 0), name = vyre_hash_128("vyre", 4);
    assert_int_equal(empty.high, 0x99aa06d3014798d8u);
    assert_int_equal(empty.low, 0x6001c324468d497fu);
    assert_int_equal(name.high, 0xebd1c41ebd7fa5c9u);
    assert_int_equal(name.low, 0x36aef8be8e9d15d4u);
}

static void hash_depends_on_every_byte_and_the_size(void **state) {
    (void)state;
    unsigned char data[300] = {0};
    for (size_t size = 1; size <= sizeof data; size++) {
        uint64_t plain = vyre_hash(data, size), keyed = vyre_hash_key(data, size);
        assert_true(plain != vyre_hash(data, size - 1));
        assert_true(keyed != vyre_hash_key(data, size - 1));
        data[size - 1] = 1;
        assert_true(plain != vyre_hash(data, size));
        assert_true(keyed != vyre_hash_key(data, size));
        data[size - 1] = 0;
    }
}

static void *hash_once(void *argument) {
    *(uint64_t *)argument = vyre_hash_key("name", 4);
    return NULL;
}

static void hash_key_is_the_same_in_all_threads_of_a_process(void **state) {
    (void)state;
    pthread_t threads[8];
    uint64_t hashes[8];
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, hash_once, &hashes[i]), 0);
    }
    for (size_t i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(hashes[i], vyre_hash_key("name", 4));
    }
    assert_true(vyre_hash_key("name", 4) != vyre_hash("name", 4));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_key_is_the_same_in_all_threads_of_a_process),
        cmocka_unit_test(hash_values_are_the_same_everywhere),
        cmocka_unit_test(hash_depends_on_every_byte_and_the_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
