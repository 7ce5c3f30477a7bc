/* One table of routes, and several processes that save it at once, or are killed while they do. */
#define _DEFAULT_SOURCE /* mkdtemp, MAP_ANONYMOUS */

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "base/random.h"
#include "tests/unit/route_check.h"

enum { ROUNDS = 100, KILLS = 200, FILLERS = 200 };

static void die(vyre_status status) {
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        _exit(1);
    }
}

static const char *name_op(char room[32], const char *who, int round) {
    snprintf(room, 32, "%s.%d", who, round);
    return room;
}

/* Certifies an operation of its own and one that all share, and saves, again and again. */
static void certify_and_save(const char *path, const char *who, uint64_t base_ns) {
    runner *one = runner_open(&(mock_spec){.id = who}, 0);
    const vyre_route_candidate candidate = {one->device, program};
    vyre_routes *table = NULL;
    for (int i = 0; i < ROUNDS; i++) {
        char op[32];
        if (i % 2 == 0) { /* every other time with what it had */
            vyre_routes_free(table);
            die(vyre_routes_load(path, &table));
            table->clock = test_clock;
        }
        one->usual_ns = base_ns + (uint64_t)i;
        die(vyre_routes_certify(table, name_op(op, who, i), &candidate, 1, &route_input, 1, NULL,
                                NULL));
        die(vyre_routes_certify(table, "shared", &candidate, 1, &route_input, 1, NULL, NULL));
        die(vyre_routes_measure(table, "shared", VYRE_DATA_HOST, &candidate, 1, &route_input, 1,
                                NULL, NULL));
        die(vyre_routes_save(table, path));
    }
    _exit(0);
}

static void two_processes_that_certify_at_once_lose_nothing(void **state) {
    (void)state;
    static const char *const names[] = {"left", "right"};
    const char *path = route_path("both.toml");
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (!children[i]) {
            certify_and_save(path, names[i], i ? 5000 : 1000);
        }
    }
    for (int i = 0; i < 2; i++) {
        int how;
        assert_int_equal(waitpid(children[i], &how, 0), children[i]);
        assert_int_equal(how, 0);
    }
    vyre_routes *table;
    expect_ok(vyre_routes_load(path, &table));
    assert_int_equal(vyre_routes_count(table), 2 * ROUNDS + 1);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        char op[32];
        const vyre_route *route =
            vyre_routes_find(table, name_op(op, names[i / ROUNDS], i % ROUNDS));
        assert_non_null(route);
        assert_string_equal(route->backend, names[i / ROUNDS]);
        assert_int_equal(route->observations[0].latency_ns,
                         (i / ROUNDS ? 5000 : 1000) + i % ROUNDS);
    }
    /* Of what both did the last one stays, whole; of what is by device, both. */
    const vyre_route *shared = vyre_routes_find(table, "shared");
    bool is_right = !strcmp(shared->backend, "right");
    assert_string_equal(shared->observations[0].backend, shared->backend);
    assert_int_equal(shared->observations[0].latency_ns, (is_right ? 5000 : 1000) + ROUNDS - 1);
    assert_int_equal(vyre_routes_class_at(table, "shared", 0)->latency_ns, 1000 + ROUNDS - 1);
    assert_int_equal(vyre_routes_class_at(table, "shared", 1)->latency_ns, 5000 + ROUNDS - 1);
    assert_null(vyre_routes_class_at(table, "shared", 2));
    vyre_routes_free(table);
}

typedef struct board {
    _Atomic uint64_t saved; /* the number that was saved last */
    _Atomic uint64_t begun; /* saves */
    _Atomic bool is_saving;
} board;

static board *shared;

static void put_number(vyre_routes *table, const char *op, uint64_t number) {
    const vyre_latency latency = {"x", number};
    die(vyre_routes_put_route(
        table, &(vyre_route){.op = op, .backend = "x", .observations = &latency, 1, NULL, 0}, NULL,
        NULL, true));
}

static void save_for_ever(const char *path) {
    vyre_routes *table;
    die(vyre_routes_load(path, &table));
    for (uint64_t number = shared->saved + 1;; number++) {
        put_number(table, "number", number);
        atomic_store(&shared->is_saving, true);
        atomic_fetch_add(&shared->begun, 1);
        die(vyre_routes_save(table, path));
        atomic_store(&shared->is_saving, false);
        atomic_store(&shared->saved, number);
    }
}

static size_t count_left_behind(void) {
    size_t count = 0;
    DIR *opened = opendir(route_folder);
    assert_non_null(opened);
    for (struct dirent *item; (item = readdir(opened));) {
        count += strstr(item->d_name, ".new") != NULL;
    }
    closedir(opened);
    return count;
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* How long a save takes, so that kills are spread over all of it. */
static uint64_t time_save(vyre_routes *table, const char *path) {
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t begin = now_ns();
        expect_ok(vyre_routes_save(table, path));
        uint64_t took = now_ns() - begin;
        best = took < best ? took : best;
    }
    return best;
}

static void a_kill_during_a_save_leaves_a_valid_table(void **state) {
    (void)state;
    const char *path = route_path("killed.toml");
    uint64_t random = 9, inside = 0, half_written = 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    vyre_routes *table = route_table();
    for (int i = 0; i < FILLERS; i++) { /* a table that takes a while to write */
        char op[32];
        put_number(table, name_op(op, "filler", i), (uint64_t)i);
    }
    put_number(table, "number", 0);
    uint64_t save_ns = time_save(table, path);
    vyre_routes_free(table);
    for (int i = 0; i < KILLS; i++) {
        uint64_t before = shared->begun;
        int how;
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            save_for_ever(path);
        }
        while (shared->begun == before) {
            assert_int_equal(waitpid(child, &how, WNOHANG), 0);
            sched_yield();
        }
        nanosleep(
            &(struct timespec){.tv_nsec = (long)vyre_random_below(&random, save_ns * 3 / 2 + 1)},
            NULL);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
        inside += shared->is_saving;
        half_written += count_left_behind() > 0;
        /* The old table or the new one, with all that is in it. */
        expect_ok(vyre_routes_load(path, &table));
        assert_int_equal(vyre_routes_count(table), FILLERS + 1);
        uint64_t found = vyre_routes_find(table, "number")->observations[0].latency_ns;
        assert_in_range(found, shared->saved, shared->saved + 1);
        shared->saved = found;
        for (int k = 0; k < FILLERS; k++) {
            char op[32];
            const vyre_route *route = vyre_routes_find(table, name_op(op, "filler", k));
            assert_true(route && route->observations[0].latency_ns == (uint64_t)k);
        }
        /* The lock of the dead is nobody's. */
        if (i % 20 == 0) {
            expect_ok(vyre_routes_save(table, path));
            assert_int_equal(count_left_behind(), 0);
        }
        vyre_routes_free(table);
    }
    print_message("%llu of %d kills came during a save of %llu us, %llu left a file behind\n",
                  (unsigned long long)inside, KILLS, (unsigned long long)save_ns / 1000,
                  (unsigned long long)half_written);
    assert_in_range(inside, KILLS / 2, KILLS);
    assert_in_range(half_written, 1, KILLS);
    munmap(shared, sizeof *shared);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_processes_that_certify_at_once_lose_nothing,
                                        route_set_up, route_tear_down),
        cmocka_unit_test(a_kill_during_a_save_leaves_a_valid_table),
    };
    return cmocka_run_group_tests(tests, NULL, route_remove_folder);
}
