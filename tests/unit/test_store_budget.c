/* How much the store keeps, and what goes first. */
#define _DEFAULT_SOURCE /* P_tmpdir, mkdtemp */

#include <pthread.h>

#include <vyre/cache.h>

#include "base/file.h"
#include "tests/unit/store_check.h"

static void store_drops_the_entries_not_used_for_the_longest_time(void **state) {
    (void)state;
    vyre_cache_disk_counts before = vyre_cache_count_disk();
    uint64_t bytes;
    store_set_limit(4 * STORE_ENTRY_BYTES);
    store_put_aged("a", 10);
    store_put_aged("b", 40);
    store_put_aged("c", 30);
    store_put_aged("d", 20);
    assert_int_equal(store_count(NULL, &bytes), 4);
    assert_int_equal(bytes, 4 * STORE_ENTRY_BYTES);
    assert_true(store_has("b", "load")); /* now the one used last */
    store_put_text("e", "load");
    assert_int_equal(store_count(NULL, &bytes), 4);
    assert_int_equal(bytes, 4 * STORE_ENTRY_BYTES);
    assert_int_equal(vyre_cache_count_disk().evictions - before.evictions, 1);
    store_put_text("f", "longer by ten.");
    assert_int_equal(store_count(NULL, &bytes), 3);
    assert_int_equal(bytes, 3 * STORE_ENTRY_BYTES + 10);
    assert_int_equal(vyre_cache_count_disk().evictions - before.evictions, 3);
    assert_false(store_has("c", ""));
    assert_false(store_has("d", ""));
    assert_false(store_has("a", ""));
    assert_true(store_has("b", "load"));
    assert_true(store_has("e", "load"));
    assert_true(store_has("f", "longer by ten."));
    /* Replacing an entry takes no other's place. */
    store_set_limit(3 * STORE_ENTRY_BYTES + 10);
    store_put_text("f", "just as long..");
    assert_int_equal(store_count(NULL, NULL), 3);
    assert_int_equal(vyre_cache_count_disk().evictions - before.evictions, 3);
    /* A budget that shrinks is kept from the next store on. */
    store_set_limit(STORE_ENTRY_BYTES);
    store_put_text("g", "load");
    assert_int_equal(store_count(NULL, NULL), 1);
    assert_true(store_has("g", "load"));
}

static void store_entry_larger_than_the_budget_is_not_stored(void **state) {
    (void)state;
    vyre_cache_disk_counts before = vyre_cache_count_disk();
    store_set_limit(STORE_ENTRY_BYTES);
    store_put_text("a", "load");
    store_put_text("b", "load!");
    assert_true(store_has("a", "load"));
    assert_false(store_has("b", ""));
    store_set_limit(STORE_ENTRY_BYTES - 1);
    assert_false(store_has("a", "")); /* nor read, but that is no damage */
    assert_int_equal(store_count(NULL, NULL), 1);
    assert_int_equal(vyre_cache_count_disk().stores - before.stores, 1);
    assert_int_equal(vyre_cache_count_disk().evictions, before.evictions);
    assert_int_equal(vyre_cache_count_disk().damaged, before.damaged);
    store_check_logged(0, "");
}

static void store_without_a_budget_does_nothing(void **state) {
    (void)state;
    store_put_text("p", "load");
    vyre_cache_disk_counts before = vyre_cache_count_disk();
    setenv("VYRE_CACHE_LIMIT", "0", 1);
    assert_false(store_has("p", ""));
    store_put_text("q", "load");
    assert_int_equal(store_count(NULL, NULL), 1);
    setenv("VYRE_CACHE_LIMIT", "lots", 1);
    assert_false(store_has("p", ""));
    store_put_text("q", "load");
    assert_int_equal(store_count(NULL, NULL), 1);
    store_check_logged(1, "VYRE_CACHE_LIMIT is \"lots\"");
    vyre_cache_disk_counts after = vyre_cache_count_disk();
    assert_memory_equal(&before, &after, sizeof after);
}

static void store_removes_files_left_behind_and_no_others(void **state) {
    (void)state;
    static const char *const left[] = {
        "0123456789abcdef0123456789abcdef.1-0.new",
        "0123456789abcdef0123456789abcdef.4194304-4294967295.new",
    };
    static const char *const others[] = {
        "notes",
        "0123456789abcdef0123456789abcdef.txt",
        "0123456789abcdef0123456789abcde",
        "0123456789ABCDEF0123456789ABCDEF",
        "0123456789abcdef0123456789abcdef0",
    };
    char path[512];
    store_put_text("p", "load");
    for (size_t i = 0; i < 2; i++) {
        store_path(path, left[i]);
        assert_null(vyre_file_replace(path, "half", 4));
    }
    for (size_t i = 0; i < 5; i++) {
        store_path(path, others[i]);
        assert_null(vyre_file_replace(path, "mine", 4));
    }
    assert_int_equal(store_count(NULL, NULL), 8);
    for (int i = 0; i < 256; i++) { /* not at every store */
        store_put_text("q", "load");
    }
    assert_int_equal(store_count(NULL, NULL), 7);
    assert_true(store_has("p", "load"));
    for (size_t i = 0; i < 2; i++) {
        store_path(path, left[i]);
        assert_int_equal(access(path, F_OK), -1);
        assert_null(vyre_file_replace(path, "half", 4));
    }
    uint64_t files, bytes;
    assert_null(vyre_cache_clear(&files, &bytes));
    assert_int_equal(files, 4);
    assert_int_equal(bytes, 2 * STORE_ENTRY_BYTES + 8);
    assert_int_equal(store_count(NULL, NULL), 5);
}

/* What the lock's file says of the folder's size is believed only if it can be true. */
static void store_counts_again_where_the_ledger_is_damaged(void **state) {
    (void)state;
    static const char *const ledgers[] = {"", "short", "a text that is as long as a ledger"};
    char path[512];
    store_path(path, "lock");
    for (size_t i = 0; i < sizeof ledgers / sizeof *ledgers; i++) {
        store_set_limit(1 << 20);
        store_put_aged("a", 10);
        store_put_aged("b", 20);
        assert_null(vyre_file_replace(path, ledgers[i], strlen(ledgers[i])));
        store_set_limit(2 * STORE_ENTRY_BYTES);
        store_put_text("c", "load");
        assert_int_equal(store_count(NULL, NULL), 2);
        assert_true(store_has("a", "load"));
        assert_false(store_has("b", ""));
        store_empty();
    }
    store_check_logged(0, "");
}

static void store_lists_what_is_there(void **state) {
    (void)state;
    const vyre_cache_list *list;
    char path[512];
    store_put_aged("a", 10);
    store_put_aged("b", 20);
    vyre_store_key key = store_key("c");
    key.name = (vyre_str){0};
    key.device = store_str("another");
    key.digest = (vyre_digest){7, 8};
    vyre_store_put(&key, "loads", 5);
    store_path(path, "0123456789abcdef0123456789abcdef");
    assert_null(vyre_file_replace(path, "damaged", 7));
    store_path(path, "0123456789abcdef0123456789abcdef.1-1.new");
    assert_null(vyre_file_replace(path, "half", 4));
    assert_null(vyre_cache_list_read(&list));
    assert_string_equal(list->path, store_folder);
    assert_int_equal(list->limit_bytes, 256 << 20);
    assert_int_equal(list->total_bytes, 3 * STORE_ENTRY_BYTES - 3 + 11);
    assert_int_equal(list->entry_count, 3);
    assert_int_equal(list->other_count, 2);
    assert_string_equal(list->entries[0].backend, "mock");
    assert_string_equal(list->entries[0].backend_version, "1.2");
    assert_string_equal(list->entries[0].device, "another");
    assert_string_equal(list->entries[0].driver_version, "550.1");
    assert_string_equal(list->entries[0].program, "");
    assert_int_equal(list->entries[0].digest.low, 7);
    assert_int_equal(list->entries[0].digest.high, 8);
    assert_int_equal(list->entries[0].bytes, STORE_ENTRY_BYTES - 3);
    assert_string_equal(list->entries[1].program, "saxpy");
    assert_int_equal(list->entries[1].used_ns, 999999990 * (int64_t)1000000000);
    assert_int_equal(list->entries[2].used_ns, 999999980 * (int64_t)1000000000);
    assert_int_equal(list->entries[2].bytes, STORE_ENTRY_BYTES);
    vyre_cache_list_free(list);
    vyre_cache_list_free(NULL);
}

static void *use_store(void *argument) {
    uintptr_t wrong = 0;
    for (int i = 0; i < 40; i++) {
        char text[8];
        snprintf(text, sizeof text, "%d", (i + *(const int *)argument) % 7);
        vyre_store_key key = store_key(text);
        vyre_strbuf found = {0};
        if (vyre_store_get(&key, &found)) {
            wrong += found.size != 1 || found.data[0] != text[0];
        } else {
            vyre_store_put(&key, text, 1);
        }
        vyre_strbuf_free(&found);
    }
    return (void *)wrong;
}

static void store_may_be_used_by_many_threads(void **state) {
    (void)state;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    int starts[THREADS];
    store_set_limit(5 * STORE_ENTRY_BYTES);
    for (int i = 0; i < THREADS; i++) {
        starts[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, use_store, &starts[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    uint64_t bytes;
    assert_in_range(store_count(NULL, &bytes), 1, 5);
    assert_true(bytes <= 5 * STORE_ENTRY_BYTES);
    if (store_log_count) { /* on a busy machine one may give up waiting for the others */
        store_check_logged(store_log_count, "holds the file lock");
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, store_reset)
    const struct CMUnitTest tests[] = {
        TEST(store_drops_the_entries_not_used_for_the_longest_time),
        TEST(store_entry_larger_than_the_budget_is_not_stored),
        TEST(store_without_a_budget_does_nothing),
        TEST(store_removes_files_left_behind_and_no_others),
        TEST(store_counts_again_where_the_ledger_is_damaged),
        TEST(store_lists_what_is_there),
        TEST(store_may_be_used_by_many_threads),
    };
    return cmocka_run_group_tests(tests, store_make, store_remove);
}
