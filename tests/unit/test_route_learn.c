/* Learning from running times, and runs on auto from end to end. */
#define _DEFAULT_SOURCE /* mkdtemp, flock */

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#include <vyre/run.h>

#include "route/router.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/route_check.h"

static vyre_registry *registry;
static vyre_router *router;
static const char *path;
static runner *usual, *other;

static int set_up(void **state) {
    (void)route_set_up(state);
    path = route_path("pgo.toml");
    unlink(path);
    expect_ok(vyre_registry_create(&registry));
    usual = runner_make(&(mock_spec){.id = "usual", .rank = 10}, 1000);
    other = runner_make(&(mock_spec){.id = "other", .rank = 20}, 1000);
    expect_ok(vyre_registry_add(registry, mock_bundle(usual->m)));
    expect_ok(vyre_registry_add(registry, mock_bundle(other->m)));
    expect_ok(vyre_router_create(registry, path, test_clock, &router));
    return 0;
}

static int tear_down(void **state) {
    vyre_router_free(router);
    vyre_registry_free(registry);
    return route_tear_down(state);
}

static const vyre_router_request request = {.op = "op", .bytes = TWICE_BYTES};

static void observe(const vyre_router_choice *choice, const vyre_outputs *outputs, uint64_t ns) {
    vyre_router_observe(router, &(vyre_router_run){.request = &request,
                                                   .choice = choice,
                                                   .program = program,
                                                   .inputs = &route_input,
                                                   .input_count = 1,
                                                   .outputs = outputs,
                                                   .ns = ns});
}

/* A run as vyre_run does it; which device ran. */
static const char *run_once(void) {
    const vyre_router_choice *choice;
    vyre_outputs outputs;
    expect_ok(vyre_router_ask(router, &request, &choice));
    uint64_t begin = clock_ns;
    expect_ok(vyre_device_dispatch(choice->device, program, &route_input, 1, NULL, &outputs));
    observe(choice, &outputs, clock_ns - begin);
    expect_twice(&outputs); /* whatever else ran */
    const char *name = vyre_device_id(choice->device);
    vyre_router_choice_release(choice);
    return name;
}

static void run_times(int count) {
    while (count--) {
        assert_string_equal(run_once(), "usual");
    }
}

static const vyre_class_row *find_row(const vyre_routes *table, const char *backend) {
    const vyre_class_row *row = NULL;
    for (size_t i = 0; (row = vyre_routes_class_at(table, "op", i)); i++) {
        if (!strcmp(row->who.backend, backend)) {
            break;
        }
    }
    return row;
}

static void three_runs_make_a_row_and_the_last_five_its_median(void **state) {
    (void)state;
    runner_times(usual, 3, 900, 100, 110);
    usual->usual_ns = 5000;
    run_times(2);
    assert_null(find_row(router->routes, "usual"));
    run_times(1);
    const vyre_class_row *row = find_row(router->routes, "usual");
    assert_int_equal(row->latency_ns, 110);
    assert_int_equal(row->size_class, TWICE_CLASS);
    assert_int_equal(row->data, VYRE_DATA_HOST);
    run_times(2); /* 900 100 110 5000 5000 */
    assert_int_equal(find_row(router->routes, "usual")->latency_ns, 900);
    run_times(3);
    assert_int_equal(find_row(router->routes, "usual")->latency_ns, 5000);
    usual->usual_ns = 5100; /* too little to be news */
    run_times(20);
    assert_int_equal(find_row(router->routes, "usual")->latency_ns, 5000);
}

static void exploring_takes_a_sixteenth_of_the_time_and_three_runs(void **state) {
    (void)state;
    other->usual_ns = 1500;
    uint64_t largest = 0;
    for (int i = 0; i < 400; i++) {
        run_times(1);
        uint64_t share = usual->runs * 1000 / 16;
        uint64_t spent = other->runs * 1500;
        assert_true(spent <= share);
        largest = spent > largest ? spent : largest;
    }
    assert_int_equal(other->runs, 3);
    assert_int_equal(router->exploring_ns, 4500);
    assert_int_equal(find_row(router->routes, "other")->latency_ns, 1500);
    assert_int_equal(mock_count(other->m, MOCK_create), 2); /* for preferred selection, and once */
}

static void nobody_waits_for_who_holds_the_lock(void **state) {
    (void)state;
    char name[256];
    snprintf(name, sizeof name, "%s.lock", path);
    int lock = open(name, O_RDWR | O_CREAT, 0600);
    assert_true(lock >= 0 && flock(lock, LOCK_EX) == 0);
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    run_times(10);
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true(end.tv_sec - begin.tv_sec < 5); /* saving waits for ten */
    assert_int_not_equal(access(path, F_OK), 0);
    close(lock);
    clock_ns += UINT64_C(6000000000);
    run_times(1); /* tries again, though it learned nothing */
    vyre_routes *saved;
    expect_ok(vyre_routes_load(path, &saved));
    assert_non_null(find_row(saved, "usual"));
    vyre_routes_free(saved);
}

static void oracles_are_not_tried(void **state) {
    (void)state;
    runner *oracle = runner_make(&(mock_spec){.id = "reference", .rank = 1}, 1);
    expect_ok(vyre_registry_add(registry, mock_bundle(oracle->m)));
    other->usual_ns = 1500;
    vyre_device *device; /* kept, since somebody named it */
    expect_ok(vyre_router_name(router, "reference", &device));
    vyre_device_release(device);
    run_times(400);
    assert_int_equal(other->runs, 3);
    assert_int_equal(oracle->runs, 0);
}

static void the_faster_one_that_was_found_takes_over(void **state) {
    (void)state;
    other->usual_ns = 300;
    int runs = 0;
    while (runs < 400 && !strcmp(run_once(), "usual")) {
        runs++;
    }
    assert_in_range(runs, 64, 120); /* four times its own time must be in a sixteenth */
    const vyre_router_choice *choice;
    expect_ok(vyre_router_ask(router, &request, &choice));
    assert_string_equal(vyre_device_id(choice->device), "other");
    assert_int_equal(choice->source, VYRE_ROUTER_BY_CLASS);
    assert_int_equal(choice->latency_ns, 300);
    vyre_router_choice_release(choice);
}

static const vyre_exclusion *only_exclusion(void) {
    assert_null(vyre_routes_class_excluded_at(router->routes, "op", 1));
    return vyre_routes_class_excluded_at(router->routes, "op", 0);
}

static void wrong_bytes_are_found_and_never_seen(void **state) {
    (void)state;
    other->usual_ns = 1;
    other->wrong_byte = 5;
    run_times(300);
    assert_int_equal(other->runs, 1);
    const vyre_exclusion *why = only_exclusion();
    assert_string_equal(why->who.backend, "other");
    assert_int_equal(why->cause, VYRE_EXCLUDED_BYTES);
    assert_int_equal(why->size_class, TWICE_CLASS);
    assert_string_equal(why->reason,
                        "its bytes differ from those of `usual`, which ran: byte 4 of output 0 is "
                        "0x84, not 0x04");
    assert_null(find_row(router->routes, "other"));
}

static void a_device_that_takes_too_long_is_called_off(void **state) {
    (void)state;
    mock_fail(other->m, MOCK_dispatch_borrowed, 1, VYRE_FAIL_TIMEOUT, "over");
    other->usual_ns = 4100;
    run_times(300);
    assert_int_equal(other->runs, 1);
    assert_int_equal(only_exclusion()->cause, VYRE_EXCLUDED_TIME);
    assert_string_equal(only_exclusion()->reason,
                        "it was stopped after 4100 ns; `usual` takes 1000 ns");
    uint64_t timeout = mock_last(other->m, MOCK_dispatch_borrowed).config.timeout_ns;
    assert_in_range(timeout, 4000, 4100);
}

static void a_device_that_refuses_is_not_asked_twice(void **state) {
    (void)state;
    mock_fail(other->m, MOCK_dispatch_borrowed, 1, VYRE_FAIL_UNSUPPORTED, "never on a Monday");
    run_times(300);
    assert_int_equal(other->runs, 1);
    assert_int_equal(only_exclusion()->cause, VYRE_EXCLUDED_REFUSED);
    assert_non_null(strstr(only_exclusion()->reason, "never on a Monday"));
}

static void oracles_and_software_devices_are_not_explored(void **state) {
    (void)state;
    vyre_router_free(router);
    vyre_registry_free(registry);
    expect_ok(vyre_registry_create(&registry));
    runner *oracle = runner_make(&(mock_spec){.id = "reference", .rank = 1}, 1);
    runner *soft = runner_make(
        &(mock_spec){.id = "soft", .rank = 2, .profile = {.flags = VYRE_PROFILE_IS_SOFTWARE}}, 1);
    expect_ok(vyre_registry_add(registry, mock_bundle(oracle->m)));
    expect_ok(vyre_registry_add(registry, mock_bundle(soft->m)));
    expect_ok(vyre_registry_add(registry, mock_bundle(usual->m)));
    expect_ok(vyre_router_create(registry, path, test_clock, &router));
    run_times(300);
    assert_int_equal(oracle->runs, 0);
    assert_int_equal(soft->runs, 0);
}

static uint64_t saved_latency(void) {
    vyre_routes *table;
    expect_ok(vyre_routes_load(path, &table));
    const vyre_class_row *row = find_row(table, "usual");
    uint64_t latency = row ? row->latency_ns : 0;
    vyre_routes_free(table);
    return latency;
}

static void what_is_learned_is_saved_every_few_seconds(void **state) {
    (void)state;
    run_times(2);
    assert_int_equal(access(path, F_OK), -1);
    run_times(1);
    assert_int_equal(saved_latency(), 1000);
    usual->usual_ns = 2000;
    run_times(5);
    assert_int_equal(find_row(router->routes, "usual")->latency_ns, 2000);
    assert_int_equal(saved_latency(), 1000); /* too soon */
    clock_ns += 4900000000;
    run_times(1);
    assert_int_equal(saved_latency(), 1000);
    clock_ns += 100000000;
    run_times(1);
    assert_int_equal(saved_latency(), 2000);
    usual->usual_ns = 3000;
    run_times(5);
    expect_ok(vyre_router_save(router)); /* who ends does not wait */
    assert_int_equal(saved_latency(), 3000);
}

static void what_others_saved_meanwhile_is_merged(void **state) {
    (void)state;
    run_times(3);
    vyre_routes *theirs;
    expect_ok(vyre_routes_load(path, &theirs));
    expect_ok(vyre_routes_put_route(theirs, &(vyre_route){.op = "theirs", .backend = "other"}, NULL,
                                    NULL, true));
    expect_ok(vyre_routes_save(theirs, path));
    usual->usual_ns = 2000;
    run_times(5);
    clock_ns += 5000000000;
    run_times(1);
    assert_int_equal(saved_latency(), 2000);
    assert_string_equal(vyre_routes_fastest(router->routes, "theirs"), "other");
    /* The other way round: they replace the file while something is not saved yet. */
    usual->usual_ns = 4000;
    run_times(5);
    expect_ok(vyre_routes_put_route(theirs, &(vyre_route){.op = "more", .backend = "other"}, NULL,
                                    NULL, true));
    expect_ok(vyre_routes_save(theirs, path));
    clock_ns += 1000000000;
    run_times(1);
    assert_string_equal(vyre_routes_fastest(router->routes, "more"), "other");
    assert_int_equal(find_row(router->routes, "usual")->latency_ns, 4000);
    expect_ok(vyre_router_save(router));
    assert_int_equal(saved_latency(), 4000);
    vyre_routes_free(theirs);
}

static void trouble_with_the_file_is_no_trouble_for_runs(void **state) {
    (void)state;
    FILE *file = fopen(path, "w");
    fputs("[damaged", file);
    fclose(file);
    other->usual_ns = 300;
    for (int i = 0; i < 300; i++) {
        run_once();
    }
    assert_string_equal(run_once(), "other"); /* learned for this process at least */
    expect_fail(vyre_router_save(router), VYRE_STATUS_MALFORMED, "pgo.toml");
}

static void without_memory_learning_misses_something_and_runs_go_on(void **state) {
    (void)state;
    other->usual_ns = 300;
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        tear_down(NULL);
        set_up(NULL);
        other->usual_ns = 300;
        run_times(70);
        const vyre_router_choice *choice;
        vyre_outputs outputs;
        expect_ok(vyre_router_ask(router, &request, &choice));
        expect_ok(vyre_device_dispatch(choice->device, program, &route_input, 1, NULL, &outputs));
        failing_allocator_start(n);
        for (int i = 0; i < 12; i++) {
            observe(choice, &outputs, 1000);
        }
        failing_allocator_end(); /* what was learned is kept */
        failed = failing_allocator_failed();
        vyre_outputs_free(&outputs);
        vyre_router_choice_release(choice);
    }
}

/* Runs of the process: its registry has these two before anybody asks. */

static void expect_run(const char *device, const runner *expected) {
    uint64_t before = expected->runs;
    uint32_t x[CONTRACT_LENGTH], y[CONTRACT_LENGTH] = {0};
    contract_numbers(x, CONTRACT_LENGTH);
    const vyre_argument arguments[] = {{"x", x, NULL, sizeof x}, {"y", NULL, y, sizeof y}};
    expect_ok(vyre_run(device, TWICE, arguments, 2, NULL));
    expect_numbers(y, CONTRACT_LENGTH, 2);
    assert_int_equal(expected->runs, before + 1);
}

/* The same with a program in place of its text. */
static void expect_run_of_program(const char *device, const runner *expected) {
    uint64_t before = expected->runs;
    uint32_t x[CONTRACT_LENGTH], y[CONTRACT_LENGTH] = {0};
    contract_numbers(x, CONTRACT_LENGTH);
    const vyre_argument arguments[] = {{"x", x, NULL, sizeof x}, {"y", NULL, y, sizeof y}};
    expect_ok(vyre_run_program(device, program, arguments, 2, NULL));
    expect_numbers(y, CONTRACT_LENGTH, 2);
    assert_int_equal(expected->runs, before + 1);
}

/* The router sends TWICE to `steady`, and says on what grounds. */
static void expect_choice(vyre_router_source source) {
    const vyre_router_choice *choice;
    expect_ok(vyre_router_choose(
        &(vyre_router_request){.program = program, .bytes = 2 * CONTRACT_LENGTH * sizeof(uint32_t)},
        &choice));
    assert_string_equal(vyre_device_name(choice->device), "steady");
    assert_int_equal(choice->source, source);
    vyre_router_choice_release(choice);
}

static void auto_goes_through_the_router(void **state) {
    (void)state;
    const char *table = route_path("process.toml");
    setenv("VYRE_ROUTES", table, 1);
    setenv("VYRE_CUDA", "none", 1);
    runner *swift = runner_make(
        &(mock_spec){.id = "swift",
                     .slots = MOCK_BIT(max_workgroup_size) | MOCK_BIT(max_workgroups_per_dimension),
                     .max_workgroup_size = {1024, 1, 1},
                     .max_workgroups = {1024, 1, 1},
                     .max_invocations = 1024},
        1000000);
    vyre_registry *process = vyre_registry_default();
    expect_ok(vyre_registry_add(process, mock_bundle(swift->m)));
    runner *steady = runner_make(&(mock_spec){.id = "steady"}, 1000000);
    expect_ok(vyre_registry_add(process, mock_bundle(steady->m)));
    char key[VYRE_ROUTE_KEY_BYTES], text[512];
    vyre_route_key(program, key);
    snprintf(text, sizeof text,
             "[routes.\"%s\"]\nbackend = \"steady\"\nobservations = []\n"
             "[routes.\"reduce.sum_u32\"]\nbackend = \"swift\"\nobservations = []\n",
             key);
    FILE *file = fopen(table, "w");
    fputs(text, file);
    fclose(file);
    expect_choice(VYRE_ROUTER_BY_ROUTE);
    expect_run("auto", steady);
    expect_run(NULL, steady);
    expect_run("swift", swift);
    assert_int_equal(steady->runs, 2);
    assert_int_equal(swift->runs, 1);
    /* Preferred selection is another word, whatever was measured. */
    vyre_device *preferred;
    expect_ok(vyre_acquire("preferred", &preferred));
    bool is_swift = !strcmp(vyre_device_name(preferred), "swift");
    assert_true(is_swift || !strcmp(vyre_device_name(preferred), "cpu"));
    vyre_device_release(preferred);
    uint32_t one = 1, two = 0;
    const vyre_argument twice[] = {{"x", &one, NULL, sizeof one}, {"y", NULL, &two, sizeof two}};
    expect_ok(vyre_run("preferred", TWICE, twice, 2, NULL));
    assert_int_equal(two, 2);
    assert_int_equal(steady->runs, 2);
    assert_int_equal(swift->runs, is_swift ? 2 : 1);
    uint32_t x[] = {1, 2, 3}, total = 0;
    const vyre_argument sum[] = {{"x", x, NULL, sizeof x}, {"total", NULL, &total, sizeof total}};
    uint64_t before = swift->runs;
    expect_ok(vyre_run_operation("auto", "reduce.sum_u32", sum, 2, NULL));
    assert_int_equal(total, 6);
    assert_true(swift->runs > before);
    expect_fail(vyre_run("tpu", TWICE, NULL, 0, NULL), VYRE_STATUS_NOT_FOUND, "`tpu`");
    const vyre_router_choice *choice;
    expect_ok(vyre_router_choose(
        &(vyre_router_request){.op = "reduce.sum_u32", .bytes = sizeof x + sizeof total}, &choice));
    assert_string_equal(vyre_device_name(choice->device), "swift");
    assert_int_equal(choice->wanted_class, 4);
    vyre_router_choice_release(choice);
    /* Nothing was learned; then it is. */
    expect_ok(vyre_router_flush());
    vyre_routes *found;
    expect_ok(vyre_routes_load(table, &found));
    assert_null(vyre_routes_class_at(found, key, 0));
    vyre_routes_free(found);
    assert_false(vyre_router_learns());
    vyre_router_learn(true);
    assert_true(vyre_router_learns());
    for (int i = 0; i < 3; i++) {
        expect_choice(VYRE_ROUTER_BY_ROUTE);
        if (i == 1) {
            expect_run_of_program("auto", steady);
        } else {
            expect_run("auto", steady);
        }
    }
    expect_choice(VYRE_ROUTER_BY_CLASS);
    expect_run("swift", swift);
    expect_ok(vyre_router_flush());
    vyre_router_learn(false);
    expect_ok(vyre_routes_load(table, &found));
    assert_string_equal(vyre_routes_class_at(found, key, 0)->who.backend, "steady");
    assert_int_equal(vyre_routes_class_at(found, key, 0)->size_class, TWICE_CLASS);
    vyre_routes_free(found);
    /* The devices live as long as the process, and so must these. */
    for (size_t i = 0; i < RUNNERS; i++) {
        if (&runners[i] == swift || &runners[i] == steady) {
            runners[i].m = NULL;
        }
    }
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(three_runs_make_a_row_and_the_last_five_its_median),
        TEST(exploring_takes_a_sixteenth_of_the_time_and_three_runs),
        TEST(nobody_waits_for_who_holds_the_lock),
        TEST(oracles_are_not_tried),
        TEST(the_faster_one_that_was_found_takes_over),
        TEST(wrong_bytes_are_found_and_never_seen),
        TEST(a_device_that_takes_too_long_is_called_off),
        TEST(a_device_that_refuses_is_not_asked_twice),
        TEST(oracles_and_software_devices_are_not_explored),
        TEST(what_is_learned_is_saved_every_few_seconds),
        TEST(what_others_saved_meanwhile_is_merged),
        TEST(trouble_with_the_file_is_no_trouble_for_runs),
        TEST(without_memory_learning_misses_something_and_runs_go_on),
        TEST(auto_goes_through_the_router),
    };
    return cmocka_run_group_tests(tests, NULL, route_remove_folder);
}
