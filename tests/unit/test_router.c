/* The router: what it decides, why, and what it says where the table cannot be followed. */
#define _DEFAULT_SOURCE /* mkdtemp */

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "base/log.h"
#include "route/router.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/route_check.h"

static vyre_registry *registry;
static vyre_router *router;
static const char *path;
static runner *cpu, *gpu;

static void write_table(const char *text) {
    char name[256];
    snprintf(name, sizeof name, "%s.part", path);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(rename(name, path), 0); /* so that its stamp is another */
    clock_ns += 1000000000;
}

static void add(runner *r) {
    expect_ok(vyre_registry_add(registry, mock_bundle(r->m)));
}

static void start(void) {
    expect_ok(vyre_router_create(registry, path, test_clock, &router));
}

/* A cpu, which preferred selection takes, and a gpu. */
static int set_up(void **state) {
    (void)state;
    clock_ns = 1000;
    path = route_path("pgo.toml");
    unlink(path);
    expect_ok(vyre_registry_create(&registry));
    cpu = runner_make(&(mock_spec){.id = "cpu", .rank = 10, .version = "16"}, 10);
    gpu = runner_make(
        &(mock_spec){.id = "gpu", .rank = 20, .profile = {.device = "G1", .driver = "535"}}, 10);
    add(cpu);
    add(gpu);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    vyre_router_free(router);
    router = NULL;
    vyre_registry_free(registry);
    runners_close();
    return 0;
}

/* Classes 10 and 20, each with a winner of its own, and a plain route. */
#define ROW(class, backend, device, driver, ns)                                                    \
    "[[classes.op]]\ndata = \"host\"\nclass = " #class "\nbackend = \"" backend                    \
                                                       "\"\ndevice = \"" device                    \
                                                       "\"\ndriver = \"" driver                    \
                                                       "\"\nlatency_ns = " #ns "\n"
#define CPU_ROW(class, ns) ROW(class, "cpu", "", "16", ns)
#define GPU_ROW(class, ns) ROW(class, "gpu", "G1", "535", ns)
#define CROSSOVER CPU_ROW(10, 100) GPU_ROW(10, 500) CPU_ROW(20, 9000) GPU_ROW(20, 700)
#define PLAIN(backend)                                                                             \
    "[routes.op]\nbackend = \"" backend "\"\n[[routes.op.observations]]\nbackend = \"" backend     \
    "\"\nlatency_ns = 77\n"
#define WINNER(backend, device, driver)                                                            \
    "[winners.op]\nbackend = \"" backend "\"\ndevice = \"" device "\"\ndriver = \"" driver "\"\n"
#define EXCLUDED(backend, device, driver, cause, rest)                                             \
    "[[excluded.op]]\nbackend = \"" backend "\"\ndevice = \"" device "\"\ndriver = \"" driver      \
    "\"\ncause = \"" cause "\"\nreason = \"" cause " it was\"\n" rest

static const vyre_router_choice *ask_for(vyre_router_request request) {
    const vyre_router_choice *choice;
    expect_ok(vyre_router_ask(router, &request, &choice));
    return choice;
}

/* Which device, by what, and with which words in the note; "" means no note. */
static void expect_routed(vyre_router_request request, const char *device,
                          vyre_router_source source, const char *note) {
    const vyre_router_choice *choice = ask_for(request);
    if (strcmp(vyre_device_name(choice->device), device) != 0 || choice->source != source ||
        (*note ? !strstr(choice->note, note) : *choice->note)) {
        fail_msg("%s, by %s, because %s; note: %s", vyre_device_name(choice->device),
                 vyre_router_source_name(choice->source), choice->why, choice->note);
    }
    assert_int_equal(choice->wanted_class, vyre_route_class(request.bytes));
    vyre_router_choice_release(choice);
}

static vyre_router_request of_class(uint32_t size_class) {
    return (vyre_router_request){.op = "op", .bytes = UINT64_C(1) << size_class};
}

static void the_nearest_class_decides(void **state) {
    (void)state;
    write_table(CROSSOVER PLAIN("cpu"));
    start();
    for (uint32_t i = 0; i < 64; i++) {
        expect_routed(of_class(i), i < 15 ? "cpu" : "gpu", VYRE_ROUTER_BY_CLASS, "");
    }
    const vyre_router_choice *choice = ask_for(of_class(20));
    assert_int_equal(choice->measured_class, 20);
    assert_int_equal(choice->latency_ns, 700);
    assert_string_equal(choice->why, "gpu: 700 ns, the fastest measured for host data of class 20");
    vyre_router_choice_release(choice);
    choice = ask_for(of_class(12));
    assert_int_equal(choice->measured_class, 10);
    assert_string_equal(
        choice->why,
        "cpu: 100 ns, the fastest measured for host data of class 10, the nearest to class 12");
    vyre_router_choice_release(choice);
    /* Nothing measured where the data stays: the plain route, then preference. */
    vyre_router_request resident = of_class(20);
    resident.data = VYRE_DATA_RESIDENT;
    expect_routed(resident, "cpu", VYRE_ROUTER_BY_ROUTE, "");
    expect_routed((vyre_router_request){.op = "unknown"}, "cpu", VYRE_ROUTER_BY_PREFERRED, "");
}

static void keep_log(void *user, vyre_log_level level, const char *message) {
    assert_int_equal(level, VYRE_LOG_WARNING);
    vyre_strbuf_printf(user, "%s\n", message);
}

static void a_note_says_each_thing_once_and_is_logged_once(void **state) {
    (void)state;
    write_table(ROW(6, "tpu", "T", "1", 5) ROW(6, "tpu", "T", "2", 6) PLAIN("tpu"));
    start();
    const vyre_router_choice *choice = ask_for(of_class(6));
    const char *first = strstr(choice->note, "names `tpu`");
    assert_non_null(first);
    assert_null(strstr(first + 1, "names `tpu`"));
    vyre_router_choice_release(choice);
    /* A table of many machines: enough of it, and then no more. */
    vyre_strbuf many = {0};
    for (int i = 0; i < 30; i++) {
        vyre_strbuf_printf(&many, ROW(6, "gpu", "other %d", "1", 5), i);
    }
    write_table(vyre_strbuf_string(&many));
    vyre_strbuf_free(&many);
    choice = ask_for(of_class(6));
    assert_non_null(strstr(choice->note, "on \"other 10\""));
    assert_null(strstr(choice->note, "; and more; "));
    assert_true(strlen(choice->note) < 600);
    const char *end = choice->note + strlen(choice->note) - strlen("; and more");
    assert_string_equal(end, "; and more");
    vyre_strbuf logged = {0};
    vyre_log_set(keep_log, &logged, VYRE_LOG_INFO);
    vyre_router_choice_log(choice);
    vyre_router_choice_log(choice);
    const vyre_router_choice *quiet = ask_for((vyre_router_request){.op = "unknown"});
    vyre_router_choice_log(quiet);
    vyre_log_set(NULL, NULL, VYRE_LOG_ERROR);
    char expected[1200];
    snprintf(expected, sizeof expected, "routing: %s\n", choice->note);
    assert_string_equal(vyre_strbuf_string(&logged), expected);
    vyre_strbuf_free(&logged);
    vyre_router_choice_release(quiet);
    vyre_router_choice_release(choice);
}

static void the_plain_route_comes_before_preference(void **state) {
    (void)state;
    write_table(PLAIN("gpu") WINNER("gpu", "G1", "535"));
    start();
    expect_routed(of_class(3), "gpu", VYRE_ROUTER_BY_ROUTE, "");
    const vyre_router_choice *choice = ask_for(of_class(3));
    assert_int_equal(choice->latency_ns, 77);
    assert_int_equal(choice->measured_class, VYRE_NO_CLASS);
    assert_non_null(strstr(choice->why, "gpu: certified as the fastest of 1, with 77 ns"));
    vyre_router_choice_release(choice);
    choice = ask_for((vyre_router_request){.op = "other"});
    assert_true(choice->latency_ns == VYRE_NO_TIME);
    assert_non_null(strstr(choice->why, "there are no measurements for it"));
    assert_non_null(strstr(choice->why, "`cpu` before `gpu`: rank 10 against 20"));
    vyre_router_choice_release(choice);
}

static void what_cannot_be_followed_is_told(void **state) {
    (void)state;
    static const struct {
        const char *table, *device;
        vyre_router_source source;
        const char *note;
    } rows[] = {
        /* A device that is not here, faster than one that is. */
        {ROW(6, "tpu", "T", "1", 5) GPU_ROW(6, 50), "gpu", VYRE_ROUTER_BY_CLASS,
         "a route names `tpu`, which is not available: backend `tpu` is not linked"},
        {ROW(6, "gpu", "G2", "535", 5) GPU_ROW(6, 50), "gpu", VYRE_ROUTER_BY_CLASS,
         "times of `gpu` on \"G2\", and this device is \"G1\""},
        {ROW(6, "gpu", "G1", "470", 5) CPU_ROW(6, 50), "cpu", VYRE_ROUTER_BY_CLASS,
         "times of `gpu` with driver 470, and this driver is 535"},
        /* A route of another machine, told by its winner or else by its measurements. */
        {ROW(6, "gpu", "G1", "470", 5) PLAIN("gpu"), "cpu", VYRE_ROUTER_BY_PREFERRED,
         "with driver 470, and this driver is 535"},
        {PLAIN("gpu") WINNER("gpu", "G2", "535"), "cpu", VYRE_ROUTER_BY_PREFERRED,
         "times of `gpu` on \"G2\", and this device is \"G1\""},
        {PLAIN("gpu") WINNER("gpu", "G1", "470"), "cpu", VYRE_ROUTER_BY_PREFERRED,
         "with driver 470, and this driver is 535"},
        {PLAIN("gpu") WINNER("gpu", "G1", "535"), "gpu", VYRE_ROUTER_BY_ROUTE, ""},
        {PLAIN("gpu") EXCLUDED("gpu", "G1", "535", "time", "data = \"host\"\nclass = 60\n")
             ROW(6, "gpu", "G2", "535", 5) "[[classes.op]]\ndata = \"resident\"\nclass = 9\n"
                                           "backend = \"gpu\"\ndevice = \"G1\"\n"
                                           "driver = \"535\"\nlatency_ns = 4\n",
         "gpu", VYRE_ROUTER_BY_ROUTE, "times of `gpu` on \"G2\""},
        /* Of a winner from before the route was certified again. */
        {PLAIN("gpu") WINNER("cpu", "", "16"), "gpu", VYRE_ROUTER_BY_ROUTE,
         "does not say which device it was measured on"},
        {PLAIN("gpu"), "gpu", VYRE_ROUTER_BY_ROUTE, "does not say which device"},
        {PLAIN("tpu"), "cpu", VYRE_ROUTER_BY_PREFERRED, "names `tpu`, which is not available"},
        {PLAIN("preferred"), "cpu", VYRE_ROUTER_BY_PREFERRED,
         "names `preferred`, which is not available"},
        {PLAIN("auto"), "cpu", VYRE_ROUTER_BY_PREFERRED, "names `auto`, which is not available"},
        /* A slower one that is not here is nobody's concern. */
        {GPU_ROW(6, 5) ROW(6, "tpu", "T", "1", 50), "gpu", VYRE_ROUTER_BY_CLASS, ""},
        /* Wrong bytes, wherever they were found, but only of the same device and driver. */
        {GPU_ROW(6, 5) CPU_ROW(6, 50) EXCLUDED("gpu", "G1", "535", "bytes", ""), "cpu",
         VYRE_ROUTER_BY_CLASS, "`gpu` is excluded: bytes it was"},
        {GPU_ROW(6, 5) CPU_ROW(6, 50)
             EXCLUDED("gpu", "G1", "535", "bytes", "data = \"resident\"\nclass = 30\n"),
         "cpu", VYRE_ROUTER_BY_CLASS, "`gpu` is excluded"},
        {GPU_ROW(6, 5) CPU_ROW(6, 50) EXCLUDED("gpu", "G1", "470", "bytes", ""), "gpu",
         VYRE_ROUTER_BY_CLASS, ""},
        {PLAIN("gpu") EXCLUDED("gpu", "G1", "535", "bytes", ""), "cpu", VYRE_ROUTER_BY_PREFERRED,
         "`gpu` is excluded"},
        {EXCLUDED("cpu", "", "16", "bytes", ""), "gpu", VYRE_ROUTER_BY_PREFERRED,
         "`cpu` is excluded: bytes it was"},
        /* Too slow, or unable, for this class alone. */
        {GPU_ROW(7, 5) CPU_ROW(7, 50)
             EXCLUDED("gpu", "G1", "535", "time", "data = \"host\"\nclass = 6\n"),
         "cpu", VYRE_ROUTER_BY_CLASS, "`gpu` is excluded: time it was"},
        {GPU_ROW(7, 5) CPU_ROW(7, 50)
             EXCLUDED("gpu", "G1", "535", "refused", "data = \"host\"\nclass = 6\n"),
         "cpu", VYRE_ROUTER_BY_CLASS, "`gpu` is excluded: refused it was"},
        {GPU_ROW(7, 5) CPU_ROW(7, 50)
             EXCLUDED("gpu", "G1", "535", "time", "data = \"host\"\nclass = 8\n"),
         "gpu", VYRE_ROUTER_BY_CLASS, ""},
        {EXCLUDED("cpu", "", "16", "time", "data = \"host\"\nclass = 6\n"), "cpu",
         VYRE_ROUTER_BY_PREFERRED, "`cpu` is excluded: time it was"},
        /* Nobody could be certified. */
        {"[routes.op]\nbackend = \"\"\nobservations = []\n" EXCLUDED("gpu", "G1", "535", "time",
                                                                     ""),
         "cpu", VYRE_ROUTER_BY_PREFERRED, "no device could be certified; `gpu`: time it was"},
        /* A table that cannot be read. */
        {"[routes", "cpu", VYRE_ROUTER_BY_PREFERRED, "cannot parse the routes"},
    };
    start();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_table(rows[i].table);
        expect_routed(of_class(6), rows[i].device, rows[i].source, rows[i].note);
    }
}

static void where_all_are_wrong_nobody_runs(void **state) {
    (void)state;
    write_table(EXCLUDED("cpu", "", "16", "bytes", "") EXCLUDED("gpu", "G1", "535", "bytes", ""));
    start();
    const vyre_router_choice *choice;
    const vyre_router_request request = of_class(6);
    expect_fail(
        vyre_router_ask(router, &request, &choice), VYRE_STATUS_UNAVAILABLE,
        "no device may run `op` on auto (`cpu` is excluded: bytes it was; `gpu` is excluded");
    assert_null(choice);
    expect_routed((vyre_router_request){.op = "other"}, "cpu", VYRE_ROUTER_BY_PREFERRED, "");
}

static void an_oracle_is_never_chosen(void **state) {
    (void)state;
    runner *oracle = runner_make(&(mock_spec){.id = "reference", .rank = 1, .version = "1"}, 10);
    add(oracle);
    start();
    expect_routed(of_class(6), "cpu", VYRE_ROUTER_BY_PREFERRED, "");
    write_table(ROW(6, "reference", "", "1", 5) CPU_ROW(6, 50));
    expect_routed(of_class(6), "cpu", VYRE_ROUTER_BY_CLASS, "names the oracle `reference`");
    write_table(PLAIN("reference") WINNER("reference", "", "1"));
    expect_routed(of_class(6), "cpu", VYRE_ROUTER_BY_PREFERRED, "names the oracle `reference`");
    write_table(PLAIN("reference:0"));
    expect_routed(of_class(6), "cpu", VYRE_ROUTER_BY_PREFERRED, "names the oracle `reference:0`");
    assert_int_equal(mock_count(oracle->m, MOCK_create), 0);
}

/* A backend that cannot run a program does not stand in the way of those that can, however well it
 * scores or was measured. */
static void what_cannot_run_the_program_is_skipped(void **state) {
    (void)state;
    vyre_op_set few = *vyre_core_supported_ops();
    few.words[VYRE_OP_MUL / 64] &= ~(UINT64_C(1) << VYRE_OP_MUL % 64);
    runner *narrow = runner_make(
        &(mock_spec){.id = "narrow",
                     .rank = 1,
                     .version = "1",
                     .slots = MOCK_BIT(supported_ops) | MOCK_BIT(max_storage_buffer_bytes),
                     .max_storage_buffer_bytes = UINT32_MAX,
                     .ops = &few},
        10);
    add(narrow);
    start();
    vyre_program *twice = contract_program(TWICE), *sum = contract_program(SUM);
    vyre_program *wide = contract_program(
        "program wide(x: inout buffer<u32>) over x workgroup 64 { x[gid] = lid; }");
    expect_routed((vyre_router_request){.program = sum, .bytes = 64}, "narrow",
                  VYRE_ROUTER_BY_PREFERRED, "");
    expect_routed((vyre_router_request){.program = twice, .bytes = 64}, "cpu",
                  VYRE_ROUTER_BY_PREFERRED, "`narrow` is skipped: program `twice` uses `mul`");
    char key[VYRE_ROUTE_KEY_BYTES], text[1024];
    vyre_route_key(twice, key);
    snprintf(text, sizeof text,
             "[routes.\"%s\"]\nbackend = \"narrow\"\nobservations = []\n[winners.\"%s\"]\n"
             "backend = \"narrow\"\ndevice = \"\"\ndriver = \"1\"\n",
             key, key);
    write_table(text);
    expect_routed((vyre_router_request){.program = twice, .bytes = 64}, "cpu",
                  VYRE_ROUTER_BY_PREFERRED, "`narrow` is skipped");
    /* Limits count, too. Nobody here takes such workgroups. */
    const vyre_router_choice *choice;
    const vyre_router_request request = {.program = wide, .bytes = 64};
    expect_fail(vyre_router_ask(router, &request, &choice), VYRE_STATUS_UNAVAILABLE,
                "needs workgroups of 64 x 1 x 1");
    vyre_program_release(twice);
    vyre_program_release(sum);
    vyre_program_release(wide);
}

static void a_weaker_grade_is_chosen_only_where_it_will_do(void **state) {
    (void)state;
    runner *fast = runner_make(
        &(mock_spec){.id = "fast", .version = "1", .profile = {.grade = VYRE_GRADE_NORMAL_RANGE}},
        10);
    add(fast);
    write_table(ROW(6, "fast", "", "1", 5) CPU_ROW(6, 50));
    start();
    vyre_router_request request = of_class(6);
    expect_routed(request, "cpu", VYRE_ROUTER_BY_CLASS, "`fast` has the grade normal-range");
    request.grade = VYRE_GRADE_NORMAL_RANGE;
    expect_routed(request, "fast", VYRE_ROUTER_BY_CLASS, "");
}

static void a_program_stands_for_itself(void **state) {
    (void)state;
    vyre_program *twice = contract_program(TWICE_BY("w")), *same = contract_program(TWICE_BY("v")),
                 *sum = contract_program(SUM);
    char key[VYRE_ROUTE_KEY_BYTES], text[512];
    vyre_route_key(twice, key);
    snprintf(text, sizeof text,
             "[routes.\"%s\"]\nbackend = \"gpu\"\nobservations = [{backend = \"gpu\", latency_ns = "
             "3}]\n",
             key);
    write_table(text);
    start();
    const vyre_router_request request = {.program = twice, .bytes = 64};
    expect_routed(request, "gpu", VYRE_ROUTER_BY_ROUTE, "does not say which device");
    expect_routed((vyre_router_request){.program = sum, .bytes = 64}, "cpu",
                  VYRE_ROUTER_BY_PREFERRED, "");
    expect_routed((vyre_router_request){.program = same, .bytes = 64}, "gpu", VYRE_ROUTER_BY_ROUTE,
                  "does not say which device");
    const vyre_router_choice *choice;
    expect_fail(vyre_router_ask(router, &(vyre_router_request){0}, &choice),
                VYRE_STATUS_INVALID_ARGUMENT, "neither an operation nor a program");
    vyre_program_release(twice);
    vyre_program_release(same);
    vyre_program_release(sum);
}

static void a_change_of_the_file_is_noticed_within_a_second(void **state) {
    (void)state;
    start();
    expect_routed(of_class(6), "cpu", VYRE_ROUTER_BY_PREFERRED, "");
    write_table(GPU_ROW(6, 5));
    clock_ns -= 1000000000;
    expect_routed(of_class(6), "cpu", VYRE_ROUTER_BY_PREFERRED, ""); /* not looked at yet */
    clock_ns += 1000000000;
    const vyre_router_choice *first = ask_for(of_class(6)), *second;
    assert_string_equal(vyre_device_name(first->device), "gpu");
    clock_ns += 1000000000;
    second = ask_for(of_class(6));
    assert_ptr_equal(first, second); /* nothing changed, so it is not decided again */
    vyre_router_choice_release(second);
    write_table(CPU_ROW(6, 5));
    expect_routed(of_class(6), "cpu", VYRE_ROUTER_BY_CLASS, "");
    unlink(path);
    clock_ns += 1000000000;
    expect_routed(of_class(6), "cpu", VYRE_ROUTER_BY_PREFERRED, "");
    assert_string_equal(vyre_device_name(first->device), "gpu"); /* who holds one keeps it */
    vyre_router_choice_release(first);
    assert_int_equal(mock_count(gpu->m, MOCK_create), 2); /* by name, and to be compared */
}

static void a_lost_device_is_acquired_again(void **state) {
    (void)state;
    write_table(GPU_ROW(6, 5));
    start();
    const vyre_router_choice *before = ask_for(of_class(6));
    assert_int_equal(mock_count(gpu->m, MOCK_create), 1);
    mock_lose(gpu->m);
    /* The mock's next device is lost as well: it is tried, once for each question. */
    const vyre_router_choice *after = ask_for(of_class(6));
    assert_int_equal(mock_count(gpu->m, MOCK_create), 2);
    assert_ptr_not_equal(before->device, after->device);
    vyre_router_choice_release(before);
    vyre_router_choice_release(after);
    vyre_device *named;
    expect_ok(vyre_router_name(router, "cpu", &named));
    vyre_device_release(named);
    expect_fail(vyre_router_name(router, "tpu", &named), VYRE_STATUS_NOT_FOUND, "`tpu`");
}

static void asking_again_needs_no_memory(void **state) {
    (void)state;
    write_table(CROSSOVER);
    router = NULL;
    expect_ok(vyre_router_create(registry, path, (vyre_route_clock){0}, &router));
    for (uint32_t class = 0; class < 16; class ++) {
        vyre_router_choice_release(ask_for(of_class(5 + class)));
    }
    failing_allocator_start(1); /* none is asked for memory */
    for (uint32_t i = 0; i < 2000; i++) {
        vyre_router_choice_release(ask_for(of_class(5 + i % 16)));
    }
    failing_allocator_stop();
    assert_false(failing_allocator_failed());
}

/* Threads ask while the file changes under them. */
static atomic_bool stop;

static void *keep_asking(void *argument) {
    atomic_size_t *count = argument;
    for (uint32_t i = 0; !stop; i++) {
        const vyre_router_request request = of_class(5 + i % 20);
        const vyre_router_choice *choice;
        vyre_status status = vyre_router_ask(router, &request, &choice);
        if (status || (choice->source == VYRE_ROUTER_BY_CLASS && !*choice->why)) {
            abort();
        }
        vyre_router_choice_release(choice);
        atomic_fetch_add(count, 1);
    }
    return NULL;
}

static void any_thread_may_ask(void **state) {
    (void)state;
    enum { THREADS = 4, CHANGES = 60 };
    pthread_t threads[THREADS];
    atomic_size_t counts[THREADS] = {0};
    expect_ok(vyre_router_create(registry, path, (vyre_route_clock){0}, &router));
    stop = false;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, keep_asking, &counts[i]), 0);
    }
    for (int i = 0; i < CHANGES; i++) {
        write_table(i % 3 == 0 ? CROSSOVER : i % 3 == 1 ? GPU_ROW(3, 1) : "[damaged");
        pthread_rwlock_wrlock(&router->lock); /* as if the time had come to look */
        router->checked_ns = 0;
        pthread_rwlock_unlock(&router->lock);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    for (size_t i = 0; i < THREADS; i++) {
        while (!atomic_load(&counts[i])) { /* on a busy machine a thread may start late */
            sched_yield();
        }
    }
    stop = true;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

static void without_memory_asking_fails_whole(void **state) {
    (void)state;
    write_table(ROW(6, "tpu", "T", "1", 5) ROW(6, "gpu", "G1", "470", 6) PLAIN("tpu")
                    EXCLUDED("cpu", "", "16", "bytes", ""));
    expect_ok(vyre_router_create(registry, path, test_clock, &router)); /* freezes nothing yet */
    expect_routed(of_class(6), "gpu", VYRE_ROUTER_BY_PREFERRED, "is excluded");
    vyre_router_free(router);
    bool failed = true;
    size_t n = 1;
    for (; failed; n++) {
        const vyre_router_choice *choice = NULL;
        failing_allocator_start(n);
        vyre_status status = vyre_router_create(registry, path, test_clock, &router);
        if (!status) {
            const vyre_router_request request = of_class(6);
            status = vyre_router_ask(router, &request, &choice);
            assert_int_equal(!status, choice != NULL);
            if (status) { /* with memory it goes on */
                failing_allocator_state.fail_at = 0;
                const vyre_router_choice *again;
                vyre_status second = vyre_router_ask(router, &request, &again);
                assert_null(second);
                vyre_router_choice_release(again);
            }
        }
        vyre_status_code code = vyre_status_code_of(status);
        /* A driver that could not be created for want of memory is one that failed. */
        assert_true(code == VYRE_STATUS_OK || code == VYRE_STATUS_OUT_OF_MEMORY ||
                    code == VYRE_STATUS_UNAVAILABLE);
        vyre_status_free(status);
        vyre_router_choice_release(choice);
        vyre_router_free(router);
        router = NULL;
        failing_allocator_stop();
        failed = failing_allocator_failed();
        assert_true(failed || code == VYRE_STATUS_OK);
    }
    assert_true(n > 30);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(the_nearest_class_decides),
        TEST(a_note_says_each_thing_once_and_is_logged_once),
        TEST(the_plain_route_comes_before_preference),
        TEST(what_cannot_be_followed_is_told),
        TEST(where_all_are_wrong_nobody_runs),
        TEST(an_oracle_is_never_chosen),
        TEST(what_cannot_run_the_program_is_skipped),
        TEST(a_weaker_grade_is_chosen_only_where_it_will_do),
        TEST(a_program_stands_for_itself),
        TEST(a_change_of_the_file_is_noticed_within_a_second),
        TEST(a_lost_device_is_acquired_again),
        TEST(asking_again_needs_no_memory),
        TEST(any_thread_may_ask),
        TEST(without_memory_asking_fails_whole),
    };
    return cmocka_run_group_tests(tests, NULL, route_remove_folder);
}
