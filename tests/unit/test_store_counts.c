/* What all processes together did with the store. */
#define _DEFAULT_SOURCE /* P_tmpdir, mkdtemp */

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/file.h"
#include "store/ledger.h"
#include "tests/unit/contract_check.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/store_check.h"

static vyre_cache_disk_counts listed(void) {
    const vyre_cache_list *list;
    assert_null(vyre_cache_list_read(&list));
    vyre_cache_disk_counts counts = list->counts;
    vyre_cache_list_free(list);
    return counts;
}

static void check_listed(const vyre_cache_disk_counts *expected) {
    vyre_cache_disk_counts found = listed();
    assert_int_equal(found.hits, expected->hits);
    assert_int_equal(found.misses, expected->misses);
    assert_int_equal(found.stores, expected->stores);
    assert_int_equal(found.evictions, expected->evictions);
    assert_int_equal(found.damaged, expected->damaged);
}

#define CHECK_LISTED(...) check_listed(&(vyre_cache_disk_counts){__VA_ARGS__})

/* Does it in another process, which ends without any cleaning up. */
static void in_child(void (*act)(void)) {
    pid_t child = fork();
    int status;
    assert_true(child >= 0);
    if (child == 0) {
        act();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int take_lock(void) {
    vyre_store_place place;
    int lock;
    assert_null(vyre_store_open(&place, true));
    assert_null(vyre_store_lock(&place, true, &lock));
    vyre_store_close(&place);
    return lock;
}

/* One of each, on a store that has two entries' room. */
static void do_everything(void) {
    char name[256], path[512];
    store_set_limit(2 * STORE_ENTRY_BYTES);
    while (store_count(name, NULL)) {
        store_path(path, name);
        unlink(path);
    }
    (void)store_has("a", "load");
    store_put_text("a", "load");
    assert_int_equal(store_count(name, NULL), 1);
    store_path(path, name);
    assert_null(vyre_file_replace(path, "bad", 3));
    (void)store_has("a", "load");
    store_put_text("a", "load");
    store_put_text("b", "load");
    store_put_text("c", "load");
    (void)store_has("c", "load");
    (void)store_has("c", "load");
    vyre_store_flush_counts();
}

static void counts_of_processes_add_up(void **state) {
    (void)state;
    in_child(do_everything);
    CHECK_LISTED(.hits = 2, .misses = 2, .stores = 4, .evictions = 1, .damaged = 1);
    in_child(do_everything);
    in_child(do_everything);
    CHECK_LISTED(.hits = 6, .misses = 6, .stores = 12, .evictions = 3, .damaged = 3);
    do_everything();
    CHECK_LISTED(.hits = 8, .misses = 8, .stores = 16, .evictions = 4, .damaged = 4);
}

/* A device of its own; the program is compiled, or found. */
static void compile_and_close(void) {
    mock *m = mock_create(&(mock_spec){.slots = MOCK_COMPILE});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE_BY("t"));
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static void counts_are_added_when_a_device_is_closed(void **state) {
    (void)state;
    in_child(compile_and_close);
    CHECK_LISTED(.misses = 1, .stores = 1);
    in_child(compile_and_close);
    in_child(compile_and_close);
    CHECK_LISTED(.hits = 2, .misses = 1, .stores = 1);
}

static void hit_and_end(void) {
    (void)store_has("p", "load");
}

static void hit_and_flush(void) {
    (void)store_has("p", "load");
    vyre_store_flush_counts();
}

static void counts_of_a_process_that_adds_nothing_are_lost_alone(void **state) {
    (void)state;
    store_put_text("p", "load");
    in_child(hit_and_end);
    CHECK_LISTED(.stores = 1);
    in_child(hit_and_flush);
    CHECK_LISTED(.hits = 1, .stores = 1);
}

/* A process that is killed with the lock, having written half of the ledger. */
static void counts_outlive_a_process_that_is_killed(void **state) {
    (void)state;
    store_put_text("p", "load");
    in_child(hit_and_flush);
    for (int half = 0; half < 2; half++) {
        pid_t child = fork();
        int status;
        assert_true(child >= 0);
        if (child == 0) {
            int lock = take_lock();
            vyre_store_count(VYRE_STORE_COUNTER_HITS);
            if (half && pwrite(lock, "half of a ledger", 16, 0) != 16) {
                _exit(1);
            }
            raise(SIGKILL);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        if (half) {
            CHECK_LISTED(0);
        } else {
            CHECK_LISTED(.hits = 1, .stores = 1);
        }
        in_child(hit_and_flush);
    }
    CHECK_LISTED(.hits = 1);
    /* What was lost of the folder's size is counted again. */
    store_set_limit(STORE_ENTRY_BYTES);
    store_put_text("q", "load");
    assert_int_equal(store_count(NULL, NULL), 1);
    CHECK_LISTED(.hits = 1, .stores = 1, .evictions = 1);
    store_check_logged(0, "");
}

static void counts_wait_while_others_have_the_lock(void **state) {
    (void)state;
    struct timespec start, end;
    store_put_text("p", "load");
    int lock = take_lock();
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < 100; i++) {
        hit_and_flush();
        CHECK_LISTED(.hits = (uint64_t)i + 1, .stores = 1); /* this process knows them */
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true(end.tv_sec - start.tv_sec < 100); /* to wait would take 200 */
    assert_true(vyre_store_counts_pending());
    vyre_store_unlock(lock);
    vyre_store_flush_counts();
    assert_false(vyre_store_counts_pending());
    CHECK_LISTED(.hits = 100, .stores = 1);
    store_check_logged(0, "");
}

static void counts_from_before_a_fork_are_added_once(void **state) {
    (void)state;
    store_put_text("p", "load");
    (void)store_has("p", "load");
    in_child(vyre_store_flush_counts);
    in_child(hit_and_flush);
    CHECK_LISTED(.hits = 2, .stores = 1);
    vyre_store_flush_counts();
    CHECK_LISTED(.hits = 2, .stores = 1);
}

static void counts_start_again_when_everything_is_dropped(void **state) {
    (void)state;
    uint64_t files, bytes;
    store_put_text("p", "load");
    in_child(hit_and_flush);
    (void)store_has("p", "load");
    vyre_cache_disk_counts before = vyre_cache_count_disk();
    assert_null(vyre_cache_clear(&files, &bytes));
    assert_int_equal(files, 1);
    CHECK_LISTED(0);
    assert_false(vyre_store_counts_pending());
    vyre_cache_disk_counts after = vyre_cache_count_disk();
    assert_memory_equal(&before, &after, sizeof after); /* of this process they stay */
    in_child(hit_and_flush);
    CHECK_LISTED(.misses = 1);
    assert_null(vyre_cache_clear(&files, &bytes));
    CHECK_LISTED(0);
}

static void counts_start_again_where_the_ledger_is_damaged(void **state) {
    (void)state;
    vyre_strbuf ledger = {0};
    char path[512];
    store_path(path, "lock");
    store_put_text("p", "load");
    in_child(hit_and_flush);
    assert_null(vyre_file_read(path, 4096, &ledger));
    assert_int_equal(ledger.size, sizeof(vyre_store_ledger) + 8);
    for (size_t i = 0; i < ledger.size; i++) {
        ledger.data[i] = (char)(ledger.data[i] ^ 0x40);
        assert_null(vyre_file_replace(path, ledger.data, ledger.size));
        CHECK_LISTED(0);
        in_child(hit_and_flush);
        CHECK_LISTED(.hits = 1);
        ledger.data[i] = (char)(ledger.data[i] ^ 0x40);
    }
    for (size_t size = 0; size < ledger.size; size++) {
        assert_null(vyre_file_replace(path, ledger.data, size));
        CHECK_LISTED(0);
    }
    assert_null(vyre_file_replace(path, ledger.data, ledger.size));
    CHECK_LISTED(.hits = 1, .stores = 1);
    vyre_strbuf_free(&ledger);
    store_check_logged(0, "");
}

/* No folder, a lock that is no file, a full disk: nothing is said, and nothing is lost. */
static void counts_stay_where_they_cannot_be_added(void **state) {
    (void)state;
    char path[512];
    rmdir(store_folder);
    hit_and_flush();
    assert_int_equal(access(store_folder, F_OK), -1);
    CHECK_LISTED(.misses = 1);
    store_put_text("p", "load");
    CHECK_LISTED(.misses = 1, .stores = 1);
    store_path(path, "lock");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    hit_and_flush();
    assert_true(vyre_store_counts_pending());
    CHECK_LISTED(.hits = 1);
    assert_int_equal(rmdir(path), 0);
    vyre_store_flush_counts();
    assert_false(vyre_store_counts_pending());
    CHECK_LISTED(.hits = 1);

    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN); /* so that writing fails as on a full disk */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, limit.rlim_max}), 0);
    hit_and_flush();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_true(vyre_store_counts_pending());
    CHECK_LISTED(.hits = 2);
    vyre_store_flush_counts();
    assert_false(vyre_store_counts_pending());
    CHECK_LISTED(.hits = 2);
    store_check_logged(0, "");
}

static void counts_survive_every_failed_allocation(void **state) {
    (void)state;
    store_put_text("p", "load");
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_store_count(VYRE_STORE_COUNTER_HITS);
        vyre_store_flush_counts();
        failing_allocator_stop();
        bool failed = failing_allocator_failed();
        assert_int_equal(vyre_store_counts_pending(), failed);
        CHECK_LISTED(.hits = n, .stores = 1);
        if (!failed) {
            assert_true(n > 1);
            break;
        }
    }
}

enum { THREADS = 8, ROUNDS = 200 };

static void *count_and_flush(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        vyre_store_count(VYRE_STORE_COUNTER_HITS);
        vyre_store_flush_counts();
    }
    return unused;
}

static void counts_of_many_threads_are_exact(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    store_put_text("p", "load");
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count_and_flush, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    vyre_store_flush_counts();
    assert_false(vyre_store_counts_pending());
    CHECK_LISTED(.hits = THREADS * ROUNDS, .stores = 1);
}

static int reset(void **state) {
    vyre_store_counts_drop();
    return store_reset(state);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, reset)
    const struct CMUnitTest tests[] = {
        TEST(counts_of_processes_add_up),
        TEST(counts_are_added_when_a_device_is_closed),
        TEST(counts_of_a_process_that_adds_nothing_are_lost_alone),
        TEST(counts_outlive_a_process_that_is_killed),
        TEST(counts_wait_while_others_have_the_lock),
        TEST(counts_from_before_a_fork_are_added_once),
        TEST(counts_start_again_when_everything_is_dropped),
        TEST(counts_start_again_where_the_ledger_is_damaged),
        TEST(counts_stay_where_they_cannot_be_added),
        TEST(counts_survive_every_failed_allocation),
        TEST(counts_of_many_threads_are_exact),
    };
    return cmocka_run_group_tests(tests, store_make, store_remove);
}
