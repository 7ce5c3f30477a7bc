#define _DEFAULT_SOURCE /* P_tmpdir, mkdtemp */

#include <vyre/cache.h>

#include "base/file.h"
#include "base/hash.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/store_check.h"

enum { LIMIT = 1 << 20 };

static void store_gives_back_what_was_put(void **state) {
    (void)state;
    vyre_cache_disk_counts before = vyre_cache_count_disk();
    assert_false(store_has("p", ""));
    store_put_text("p", "payload");
    assert_true(store_has("p", "payload"));
    assert_false(store_has("q", ""));
    store_put_text("p", "newer");
    store_put_text("q", "");
    assert_true(store_has("p", "newer"));
    assert_true(store_has("q", ""));
    assert_int_equal(store_count(NULL, NULL), 2);
    vyre_cache_disk_counts after = vyre_cache_count_disk();
    assert_int_equal(after.hits - before.hits, 3);
    assert_int_equal(after.misses - before.misses, 2);
    assert_int_equal(after.stores - before.stores, 3);
    assert_int_equal(after.evictions - before.evictions, 0);
    assert_int_equal(after.damaged - before.damaged, 0);
    store_check_logged(0, "");
}

static void store_keeps_large_binary_payloads_and_programs(void **state) {
    (void)state;
    static char payload[300000], program[100001];
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (char)(i * i >> 7);
    }
    for (size_t i = 0; i < sizeof program; i++) {
        program[i] = (char)(i * 31);
    }
    vyre_store_key key = store_key("");
    vyre_strbuf found = {0};
    key.program = (vyre_str){program, sizeof program};
    vyre_store_put(&key, payload, sizeof payload);
    assert_true(vyre_store_get(&key, &found));
    assert_int_equal(found.size, sizeof payload);
    assert_memory_equal(found.data, payload, sizeof payload);
    assert_int_equal((uintptr_t)found.data % 16, 0);
    vyre_strbuf_free(&found);
    program[sizeof program - 1] ^= 1;
    assert_false(vyre_store_get(&key, &found));
}

static void store_every_part_of_the_key_counts_but_the_name(void **state) {
    (void)state;
    vyre_strbuf found = {0};
    store_put_text("p", "payload");
    vyre_store_key key = store_key("p");
    vyre_str *const parts[] = {&key.backend, &key.backend_version, &key.device, &key.driver_version,
                               &key.program};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        vyre_str right = *parts[i];
        *parts[i] = store_str("other");
        assert_false(vyre_store_get(&key, &found));
        *parts[i] = (vyre_str){right.data, right.size - 1};
        assert_false(vyre_store_get(&key, &found));
        *parts[i] = right;
    }
    key.semantics++;
    assert_false(vyre_store_get(&key, &found));
    key.semantics--;
    key.digest.low++;
    assert_false(vyre_store_get(&key, &found));
    key.digest = (vyre_digest){1, 3};
    assert_false(vyre_store_get(&key, &found));
    key.digest = (vyre_digest){1, 2};
    /* The same bytes, divided otherwise. */
    key.backend = store_str("mock1");
    key.backend_version = store_str(".2");
    assert_false(vyre_store_get(&key, &found));
    key = store_key("p");
    key.name = store_str("another name");
    assert_true(vyre_store_get(&key, &found));
    vyre_strbuf_free(&found);
}

/* A file under the name of another key is what two keys of one hash would give. */
static void store_key_with_the_same_hash_is_a_miss(void **state) {
    (void)state;
    char one[256], other[256], from[512], to[512];
    store_put_text("one", "first");
    assert_int_equal(store_count(one, NULL), 1);
    store_empty();
    store_put_text("two", "second");
    assert_int_equal(store_count(other, NULL), 1);
    store_path(from, other);
    store_path(to, one);
    assert_int_equal(rename(from, to), 0);
    assert_false(store_has("one", ""));
    assert_false(store_has("two", ""));
    assert_int_equal(store_count(NULL, NULL), 1); /* it is not damaged */
    store_put_text("one", "first");
    assert_true(store_has("one", "first"));
    store_check_logged(0, "");
}

/* Puts one entry and reads its file; `out_path` is where that lies. */
static void put_one(vyre_strbuf *file, char out_path[512]) {
    char name[256];
    store_empty();
    store_put_text("p", "load");
    assert_int_equal(store_count(name, NULL), 1);
    store_path(out_path, name);
    assert_null(vyre_file_read(out_path, LIMIT, file));
    assert_int_equal(file->size, STORE_ENTRY_BYTES);
}

static void check_dropped(const char *path, const char *bytes, size_t size) {
    vyre_cache_disk_counts before = vyre_cache_count_disk();
    assert_null(vyre_file_replace(path, bytes, size));
    assert_false(store_has("p", ""));
    assert_int_equal(vyre_cache_count_disk().damaged - before.damaged, 1);
    assert_int_equal(store_count(NULL, NULL), 0);
    assert_non_null(strstr(store_log_last, "damaged file"));
    assert_non_null(strstr(store_log_last, "Fix: "));
}

static void store_file_cut_at_any_length_is_a_miss_and_dropped(void **state) {
    (void)state;
    vyre_strbuf file = {0};
    char path[512];
    put_one(&file, path);
    for (size_t size = 0; size < file.size; size++) {
        check_dropped(path, file.data, size);
    }
    vyre_strbuf_putc(&file, '\0');
    check_dropped(path, file.data, file.size);
    vyre_strbuf_free(&file);
}

static void store_file_with_any_byte_changed_is_a_miss(void **state) {
    (void)state;
    vyre_strbuf file = {0};
    char path[512];
    put_one(&file, path);
    for (size_t i = 0; i < file.size; i++) {
        static const unsigned char flips[] = {0x01, 0x80, 0xff};
        for (size_t k = 0; k < sizeof flips; k++) {
            file.data[i] = (char)(file.data[i] ^ flips[k]);
            if (i >= 8 && i < 12) { /* the format version: the file may be somebody else's */
                assert_null(vyre_file_replace(path, file.data, file.size));
                assert_false(store_has("p", ""));
                assert_int_equal(store_count(NULL, NULL), 1);
            } else {
                check_dropped(path, file.data, file.size);
            }
            file.data[i] = (char)(file.data[i] ^ flips[k]);
        }
    }
    assert_null(vyre_file_replace(path, file.data, file.size));
    assert_true(store_has("p", "load"));
    vyre_strbuf_free(&file);
}

static void sign(vyre_strbuf *file) {
    uint64_t checksum = vyre_hash(file->data, file->size - 8);
    for (size_t i = 0; i < 8; i++) {
        file->data[file->size - 8 + i] = (char)(checksum >> 8 * i);
    }
}

static void store_file_of_another_format_version_is_a_miss_and_stays(void **state) {
    (void)state;
    vyre_strbuf file = {0};
    char path[512];
    put_one(&file, path);
    file.data[8]++;
    sign(&file);
    assert_null(vyre_file_replace(path, file.data, file.size));
    assert_false(store_has("p", ""));
    assert_int_equal(store_count(NULL, NULL), 1);
    store_check_logged(0, "");
    store_put_text("p", "load");
    assert_true(store_has("p", "load"));
    vyre_strbuf_free(&file);
}

/* Sizes that do not add up, under a checksum that is right. */
static void store_file_with_wrong_sizes_is_a_miss_and_dropped(void **state) {
    (void)state;
    vyre_strbuf file = {0};
    char path[512];
    put_one(&file, path);
    static const struct { size_t at, size; } fields[] = {{12, 4}, {16, 8}, {24, 8}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        for (size_t k = 0; k < fields[i].size; k++) {
            char before = file.data[fields[i].at + k];
            file.data[fields[i].at + k] = (char)(before ^ 0xff);
            sign(&file);
            check_dropped(path, file.data, file.size);
            file.data[fields[i].at + k] = before;
        }
    }
    vyre_strbuf_free(&file);
}

static void store_survives_every_failed_allocation(void **state) {
    (void)state;
    for (size_t n = 1; failing_allocator_start(n); n++) {
        store_put_text("p", "load");
        failing_allocator_stop();
        bool failed = failing_allocator_failed();
        assert_int_equal(store_count(NULL, NULL), failed ? 0 : 1);
        assert_int_equal(store_has("p", "load"), !failed);
        if (!failed) {
            assert_true(n > 4);
            break;
        }
    }
    for (size_t n = 1; failing_allocator_start(n); n++) {
        bool hit = store_has("p", "load");
        failing_allocator_stop();
        assert_int_equal(hit, !failing_allocator_failed());
        assert_int_equal(store_count(NULL, NULL), 1);
        if (hit) {
            assert_true(n > 3);
            break;
        }
    }
    for (size_t n = 1; failing_allocator_start(n); n++) {
        const vyre_cache_list *list;
        vyre_status status = vyre_cache_list_read(&list);
        assert_int_equal(status != VYRE_OK, failing_allocator_failed());
        assert_int_equal(list == NULL, failing_allocator_failed());
        bool failed = status != VYRE_OK;
        assert_int_equal(failed ? 1 : list->entry_count, 1);
        vyre_status_free(status);
        vyre_cache_list_free(list);
        failing_allocator_stop();
        if (!failed) {
            assert_true(n > 5);
            break;
        }
    }
    for (size_t n = 1; failing_allocator_start(n); n++) {
        uint64_t files, bytes;
        vyre_status status = vyre_cache_clear(&files, &bytes);
        bool failed = status != VYRE_OK;
        vyre_status_free(status);
        failing_allocator_stop();
        assert_int_equal(failed, failing_allocator_failed());
        assert_int_equal(store_count(NULL, NULL), failed ? 1 : 0);
        if (!failed) {
            assert_int_equal(files, 1);
            break;
        }
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, store_reset)
    const struct CMUnitTest tests[] = {
        TEST(store_gives_back_what_was_put),
        TEST(store_keeps_large_binary_payloads_and_programs),
        TEST(store_every_part_of_the_key_counts_but_the_name),
        TEST(store_key_with_the_same_hash_is_a_miss),
        TEST(store_file_cut_at_any_length_is_a_miss_and_dropped),
        TEST(store_file_with_any_byte_changed_is_a_miss),
        TEST(store_file_of_another_format_version_is_a_miss_and_stays),
        TEST(store_file_with_wrong_sizes_is_a_miss_and_dropped),
        TEST(store_survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, store_make, store_remove);
}
