/* Many processes use one store with far too small a budget, and get killed while they do. */
#define _DEFAULT_SOURCE /* P_tmpdir, mkdtemp, MAP_ANONYMOUS */

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <vyre/cache.h>

#include "base/random.h"
#include "store/place.h"
#include "tests/unit/store_check.h"

enum { WORKERS = 8, KILLS = 100, KEYS = 24, BUDGET = 96 << 10, LARGEST = 20000 };

/* What the workers tell, whether they are killed or not. */
typedef struct board {
    _Atomic uint64_t gets, hits, puts, stores, evictions, wrong, damaged, waits, warnings;
    _Atomic bool stop;
} board;

static board *shared;

static void count_warning(void *user, vyre_log_level level, const char *message) {
    (void)user;
    (void)level;
    /* Having waited too long for the others is the one thing that may be said here. */
    bool wait = strstr(message, "another process holds") != NULL;
    atomic_fetch_add(wait ? &shared->waits : &shared->warnings, 1);
    if (!wait) {
        fprintf(stderr, "%s\n", message);
    }
}

/* What the key of a number must give: its size and bytes come from the number alone. */
static size_t make_payload(uint32_t number, char payload[LARGEST]) {
    uint64_t random = number + 1;
    size_t size = 100 + vyre_random_below(&random, LARGEST - 100);
    for (size_t i = 0; i < size; i++) {
        payload[i] = (char)vyre_random(&random);
    }
    return size;
}

static vyre_store_key make_key(uint32_t number, char text[32]) {
    snprintf(text, 32, "program %u", number);
    vyre_store_key key = store_key(text);
    key.digest.low = number;
    return key;
}

/* Whether the store has the entry; a wrong one counts. */
static bool try_get(uint32_t number) {
    char text[32], expected[LARGEST];
    vyre_strbuf found = {0};
    vyre_store_key key = make_key(number, text);
    bool hit = vyre_store_get(&key, &found);
    if (hit) {
        size_t size = make_payload(number, expected);
        if (found.size != size || memcmp(found.data, expected, size) != 0) {
            atomic_fetch_add(&shared->wrong, 1);
        }
    }
    vyre_strbuf_free(&found);
    return hit;
}

static void put(uint32_t number) {
    char text[32], payload[LARGEST];
    vyre_store_key key = make_key(number, text);
    vyre_store_put(&key, payload, make_payload(number, payload));
}

static void work(uint64_t seed, pid_t parent) {
    uint64_t random = seed;
    vyre_cache_disk_counts before = vyre_cache_count_disk();
    while (!shared->stop && getppid() == parent) {
        uint32_t number = (uint32_t)vyre_random_below(&random, KEYS);
        bool hit = try_get(number);
        atomic_fetch_add(&shared->gets, 1);
        atomic_fetch_add(&shared->hits, hit);
        if (!hit || vyre_random_below(&random, 8) == 0) {
            put(number);
            atomic_fetch_add(&shared->puts, 1);
        }
        vyre_cache_disk_counts now = vyre_cache_count_disk();
        atomic_fetch_add(&shared->stores, now.stores - before.stores);
        atomic_fetch_add(&shared->evictions, now.evictions - before.evictions);
        atomic_fetch_add(&shared->damaged, now.damaged - before.damaged);
        before = now;
    }
    vyre_store_flush_counts();
    _exit(0);
}

static pid_t start_worker(uint64_t seed) {
    pid_t parent = getpid(), child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        work(seed, parent);
    }
    return child;
}

/* Under the lock nobody adds entries, so that what is found there was there at one time. */
static void check_size(uint64_t *largest, uint64_t *left_behind) {
    vyre_store_place place;
    vyre_store_files files;
    int lock;
    uint64_t bytes = 0;
    assert_null(vyre_store_open(&place, true));
    vyre_status status = vyre_store_lock(&place, true, &lock);
    if (status) { /* it is the others' turn all the time */
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_TIMEOUT);
        vyre_status_free(status);
    } else {
        assert_null(vyre_store_scan(&place, &files));
        vyre_store_unlock(lock);
        for (size_t i = 0; i < files.list.count; i++) {
            *left_behind += files.list.items[i].is_temporary;
            bytes += files.list.items[i].is_temporary ? 0 : files.list.items[i].bytes;
        }
        vyre_vec_free(&files.list);
    }
    vyre_store_close(&place);
    *largest = bytes > *largest ? bytes : *largest;
    assert_true(bytes <= BUDGET);
}

/* What the cache says that all did. A process saves its stores and evictions before the board has
 * them, and may be killed in between; hits are lost with it if it has not stored since. */
static void check_counts(void) {
    const vyre_cache_list *list;
    assert_null(vyre_cache_list_read(&list));
    const vyre_cache_disk_counts all = list->counts;
    print_message("in the ledger: %llu hits of %llu, %llu stores of %llu\n",
                  (unsigned long long)all.hits, (unsigned long long)shared->hits,
                  (unsigned long long)all.stores, (unsigned long long)shared->stores);
    assert_in_range(all.stores, shared->stores, shared->stores + KILLS);
    assert_in_range(all.evictions, shared->evictions, UINT64_MAX);
    assert_in_range(all.hits, 1, shared->hits + KILLS);
    assert_int_equal(all.damaged, 0);
    vyre_cache_list_free(list);
}

static void store_is_right_however_many_processes_use_it_and_die(void **state) {
    (void)state;
    pid_t workers[WORKERS];
    uint64_t random = 20, largest = 0, left_behind = 0;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint32_t i = 0; i < WORKERS; i++) {
        workers[i] = start_worker(vyre_random(&random));
    }
    for (uint32_t i = 0; i < KILLS; i++) {
        uint32_t victim = (uint32_t)vyre_random_below(&random, WORKERS);
        int status;
        nanosleep(&(struct timespec){.tv_nsec = (long)vyre_random_below(&random, 60000000)}, NULL);
        assert_int_equal(kill(workers[victim], SIGKILL), 0);
        assert_int_equal(waitpid(workers[victim], &status, 0), workers[victim]);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        if (i % 4 == 0) { /* it may take a while to get the lock */
            check_size(&largest, &left_behind);
        }
        workers[victim] = start_worker(vyre_random(&random));
    }
    shared->stop = true;
    for (uint32_t i = 0; i < WORKERS; i++) {
        int status;
        assert_int_equal(waitpid(workers[i], &status, 0), workers[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    check_counts();

    for (int i = 0; i < 256; i++) {
        put(0); /* one of them sweeps what the last ones that were killed left */
    }
    const vyre_cache_list *list;
    assert_null(vyre_cache_list_read(&list));
    assert_int_equal(list->other_count, 0);
    assert_true(list->total_bytes <= BUDGET);
    assert_true(list->entry_count > 0);
    assert_int_equal(store_count(NULL, NULL), list->entry_count);
    size_t found = 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        found += try_get(i);
    }
    assert_int_equal(found, list->entry_count);
    print_message("%d processes, %d killed in %.1f s: %llu gets, %llu hits, %llu stores tried, "
                  "%llu evictions, %llu waits given up, %llu files left behind and swept, at most "
                  "%llu of %d bytes, %zu entries at the end\n",
                  WORKERS, KILLS,
                  (double)(end.tv_sec - start.tv_sec) +
                      (double)(end.tv_nsec - start.tv_nsec) * 1e-9,
                  (unsigned long long)shared->gets, (unsigned long long)shared->hits,
                  (unsigned long long)shared->puts, (unsigned long long)shared->evictions,
                  (unsigned long long)shared->waits, (unsigned long long)left_behind,
                  (unsigned long long)largest, BUDGET, list->entry_count);
    vyre_cache_list_free(list);
    assert_int_equal(shared->wrong, 0);
    assert_int_equal(shared->damaged, 0);
    assert_int_equal(shared->warnings, 0);
    assert_true(shared->hits > 20 && shared->puts > 20 && shared->evictions > 20);
}

static int make_folder(void **state) {
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    vyre_log_set(count_warning, NULL, VYRE_LOG_WARNING);
    if (shared == MAP_FAILED || !store_start()) {
        return -1;
    }
    store_set_limit(BUDGET);
    return 0;
}

static int remove_folder(void **state) {
    munmap(shared, sizeof *shared);
    return store_remove(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_is_right_however_many_processes_use_it_and_die),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
