/* VYRE_TRACE. There is one trace in a process, so each of these starts this program again to do
 * something, `./test_trace WORK`, and reads the file that it left with python3's json. */
#define _GNU_SOURCE /* P_tmpdir, mkdtemp, setenv */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vyre/log.h>

#include "backend/reference/backend.h"
#include "base/file.h"
#include "tests/fake_cuda/device.h"
#include "tests/unit/cpu_check.h"
#include "tests/unit/failing_allocator.h"
#include "trace/trace.h"

#define ROW                                                                                        \
    "program row(x: buffer<u32>, y: inout buffer<u32>) { scratch s: u32[len(x)]; "                 \
    "phase over x { s[gid] = s[gid] + x[gid] * 2; } phase over x { s[gid] = s[gid] + 1; } "        \
    "phase over x { y[gid] = s[gid]; } }"

enum { THREADS = 8, ROUNDS = 40, MANY = 300, KILLS = 6, LIMIT = 8192 };

static char place[256], self[4096];
static const fake_cuda *fake;

/* Everything that is traced, once, on a device. */

static void run_resident(vyre_device *device, const vyre_program *program) {
    vyre_pipeline *pipeline;
    vyre_ticket ticket;
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
    expect_ok(vyre_device_wait(device, ticket));
    expect_resident(device, y, 2);
    expect_ok(vyre_device_dispatch_resident(device, program, bindings, 2, NULL, NULL));
    expect_resident(device, y, 2);
    vyre_pipeline_release(pipeline);
    expect_ok(vyre_resident_free(device, x));
    expect_ok(vyre_resident_free(device, y));
}

static void run_host(vyre_device *device, const vyre_program *program) {
    uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    const vyre_input input = {x, sizeof x};
    const vyre_dispatch_config config = {.label = "a \"label\"\n\xff of a run"};
    vyre_outputs outputs;
    vyre_pending *pending;
    vyre_timing timing; /* runs that are timed are shown in parts */
    expect_ok(vyre_device_dispatch_timed(device, program, &input, 1, &config, &outputs, &timing));
    expect_twice(&outputs);
    expect_ok(vyre_device_dispatch_async(device, program, &input, 1, NULL, &pending));
    expect_ok(vyre_pending_await(pending, &outputs));
    expect_twice(&outputs);
    vyre_pending_free(pending);
    expect_ok(vyre_device_dispatch_async(device, program, &input, 1, NULL, &pending));
    vyre_pending_free(pending);
}

static void use(vyre_device *device, const vyre_program *program) {
    run_host(device, program);
    run_resident(device, program);
    vyre_device_release(device);
}

static void do_backends(void) {
    vyre_device *device;
    vyre_program *program = fake_device_program(TWICE);
    expect_ok(vyre_acquire("reference", &device));
    use(device, program);
    if (cpu_check_available()) {
        expect_ok(vyre_acquire("cpu", &device));
        use(device, program);
    }
    use(fake_device_open(0), program);
    mock *m = mock_create(&(mock_spec){.slots = MOCK_ALL, .mode = MOCK_RUNS_AT_WAIT});
    use(contract_device(m), program);
    mock_free(m);
    vyre_program_release(program);
}

/* A plugin that has only what is required, and phases for which the driver walks. */
static void do_walk(void) {
    vyre_program *twice = contract_program(TWICE), *row = contract_program(ROW);
    const uint64_t kinds[] = {0, MOCK_RESIDENT, MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE};
    const char *const names[] = {"plain", "resident", "queued"};
    for (size_t i = 0; i < 3; i++) {
        uint32_t x[CONTRACT_LENGTH], y[CONTRACT_LENGTH] = {0};
        contract_numbers(x, CONTRACT_LENGTH);
        const vyre_input inputs[] = {{x, sizeof x}, {y, sizeof y}};
        vyre_outputs outputs;
        mock *m =
            mock_create(&(mock_spec){.id = names[i], .slots = kinds[i], .single_phase = true});
        vyre_device *device = contract_device(m);
        expect_ok(vyre_device_dispatch(device, twice, inputs, 1, NULL, &outputs));
        expect_twice(&outputs);
        expect_ok(vyre_device_dispatch(device, row, inputs, 2, NULL, &outputs));
        vyre_outputs_free(&outputs);
        vyre_device_release(device);
        mock_free(m);
    }
    vyre_program_release(twice);
    vyre_program_release(row);
}

typedef struct crowd {
    vyre_device *devices[2];
    const vyre_program *program;
} crowd;

static void *live(void *argument) {
    const crowd *c = argument;
    for (int i = 0; i < ROUNDS; i++) {
        run_host(c->devices[i % 2], c->program);
        run_resident(c->devices[i % 2], c->program);
    }
    return NULL;
}

/* Assertions here end the process, which is what is asked for its status. */
static void do_threads(void) {
    pthread_t threads[THREADS];
    vyre_program *program = contract_program(TWICE);
    mock *m = mock_create(&(mock_spec){.slots = MOCK_ALL, .mode = MOCK_RUNS_ON_THREAD});
    crowd c = {{contract_device(m), NULL}, program};
    expect_ok(vyre_acquire("reference", &c.devices[1]));
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, live, &c), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    vyre_device_release(c.devices[0]);
    vyre_device_release(c.devices[1]);
    mock_free(m);
    vyre_program_release(program);
}

/* More work than is remembered, before anybody looks. */
static void do_tickets(void) {
    vyre_program *program = contract_program(TWICE);
    mock *m = mock_create(&(mock_spec){.slots = MOCK_ALL, .mode = MOCK_RUNS_AT_WAIT});
    vyre_device *device = contract_device(m);
    vyre_pipeline *pipeline;
    vyre_ticket ticket = 0;
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    for (int i = 0; i < MANY; i++) {
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
    }
    expect_ok(vyre_device_wait(device, ticket));
    vyre_pipeline_release(pipeline);
    vyre_device_release(device);
    mock_free(m);
    vyre_program_release(program);
}

static void use_reference(void) {
    vyre_device *device;
    vyre_program *program = contract_program(TWICE);
    expect_ok(vyre_acquire("reference", &device));
    use(device, program);
    vyre_program_release(program);
}

static void do_once(void) {
    use_reference();
}

static void do_fork(void) {
    use_reference();
    pid_t child = fork();
    if (!child) {
        use_reference();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    printf("%ld %ld\n", (long)getpid(), (long)child);
    use_reference();
}

static void do_forever(void) {
    for (;;) {
        use_reference();
    }
}

static atomic_int warnings;
static char warning[1024];

static void remember(void *user, vyre_log_level level, const char *message) {
    (void)user;
    if (level <= VYRE_LOG_WARNING && !atomic_fetch_add(&warnings, 1)) {
        snprintf(warning, sizeof warning, "%s", message);
    }
}

/* A trace that cannot be written is told once, and all else goes on. */
static void do_unwritable(void) {
    vyre_log_set(remember, NULL, VYRE_LOG_WARNING);
    use_reference();
    use_reference();
    assert_int_equal(atomic_load(&warnings), 1);
    assert_non_null(strstr(warning, "the trace ends here"));
    assert_non_null(strstr(warning, "Fix: "));
    assert_false(vyre_trace_is_on());
}

static void do_full(void) {
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){LIMIT, LIMIT}), 0);
    vyre_log_set(remember, NULL, VYRE_LOG_WARNING);
    for (int i = 0; i < 10; i++) {
        use_reference();
    }
    assert_int_equal(atomic_load(&warnings), 1);
    assert_non_null(strstr(warning, "cannot write"));
}

/* The descriptor is another file by now: that one must not be written to. */
static void do_closed(void) {
    vyre_log_set(remember, NULL, VYRE_LOG_WARNING);
    use_reference();
    for (int i = 3; i < 256; i++) {
        close(i);
    }
    char path[300];
    snprintf(path, sizeof path, "%s/other", getenv("PLACE"));
    int files[8];
    for (int i = 0; i < 8; i++) {
        files[i] = open(path, O_RDWR | O_CREAT, 0600);
        assert_true(files[i] >= 0);
    }
    use_reference();
    struct stat about;
    assert_int_equal(fstat(files[0], &about), 0);
    assert_int_equal(about.st_size, 0);
    assert_int_equal(atomic_load(&warnings), 1);
}

/* Each allocation fails in a process of its own, in which the trace is begun: what the caller asks
 * for works or is refused, and a trace that is lost is told. */
static void do_starved(void) {
    vyre_program *program = contract_program(TWICE);
    const vyre_reference_options plain = {0};
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        pid_t child = fork();
        if (!child) {
            vyre_device *device = NULL;
            vyre_outputs outputs = {0};
            uint32_t x[CONTRACT_LENGTH];
            contract_numbers(x, CONTRACT_LENGTH);
            const vyre_input input = {x, sizeof x};
            vyre_log_set(remember, NULL, VYRE_LOG_WARNING);
            failing_allocator_start(n);
            vyre_status status = vyre_reference_open(&plain, &device);
            status =
                status ? status : vyre_device_dispatch(device, program, &input, 1, NULL, &outputs);
            bool is_told = status || atomic_load(&warnings) == 1;
            bool is_right = failing_allocator_failed() ? is_told : !status && vyre_trace_is_on();
            vyre_status_free(status);
            vyre_outputs_free(&outputs);
            vyre_device_release(device);
            failing_allocator_stop();
            _exit(!is_right ? 2 : failing_allocator_failed() ? 1 : 0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        failed = WEXITSTATUS(status);
    }
    vyre_program_release(program);
}

static const struct {
    const char *name;
    void (*work)(void);
} works[] = {
    {"backends", do_backends}, {"walk", do_walk},       {"threads", do_threads},
    {"tickets", do_tickets},   {"once", do_once},       {"fork", do_fork},
    {"forever", do_forever},   {"full", do_full},       {"unwritable", do_unwritable},
    {"closed", do_closed},     {"starved", do_starved},
};

/* The tests, which start them. */

static const char *below(const char *name) {
    static char paths[4][512];
    static size_t next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", place, name);
    return path;
}

__attribute__((format(printf, 1, 2))) static int shell(const char *format, ...) {
    char command[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    int status = system(command);
    if (status) {
        print_error("%s\n", command);
    }
    return status;
}

static void work(const char *name, const char *file) {
    assert_int_equal(shell("PLACE='%s' VYRE_TRACE='%s' '%s' %s", place, file, self, name), 0);
}

static void check(const char *file, const char *wanted) {
    assert_int_equal(shell("python3 tests/unit/trace_check.py '%s' %s", file, wanted), 0);
}

static int make_place(void **state) {
    (void)state;
    snprintf(place, sizeof place, "%s/vyre-trace-XXXXXX", P_tmpdir);
    return mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state) {
    (void)state;
    return shell("rm -rf '%s'", place);
}

static void every_backend_is_traced(void **state) {
    (void)state;
    work("backends", below("t.json"));
    check(below("t.json"),
          "compile@reference upload@reference dispatch@reference=5 readback@reference=2 "
          "compile@cuda upload@cuda dispatch@cuda=5 readback@cuda device@cuda=2 enqueued@cuda=1 "
          "enqueued-end@cuda=1 "
          "compile@mock upload@mock dispatch@mock=5 readback@mock enqueued@mock=1 "
          "enqueued-end@mock=1 async@mock=2 async-end@mock=2 "
          "program:twice cache:memory cache:none bytes:32 phases:1");
    if (cpu_check_available()) {
        check(below("t.json"), "compile@cpu translate@cpu=1 upload@cpu=2 dispatch@cpu=5 "
                               "readback@cpu=2 cache:cold");
    }
}

static void phases_that_the_driver_walks_are_traced(void **state) {
    (void)state;
    work("walk", below("t.json"));
    check(below("t.json"),
          "upload@plain phase@plain=3 phase@resident=3 upload@resident=4 readback@resident=1 "
          "phase@queued=3 wait@queued translate@queued=4 phase:2 bytes_in:64");
}

static void events_of_threads_do_not_overlap(void **state) {
    (void)state;
    work("threads", below("t.json"));
    check(below("t.json"), "dispatch@mock=800 dispatch@reference=800 enqueued-end@mock=160");
}

static void more_work_than_is_remembered(void **state) {
    (void)state;
    work("tickets", below("t.json"));
    check(below("t.json"), "dispatch@mock=300 enqueued@mock=256 enqueued-end@mock=256");
}

static void each_process_has_its_file(void **state) {
    (void)state;
    assert_int_equal(
        shell("VYRE_TRACE='%s' '%s' fork >'%s'", below("%p.json"), self, below("pids")), 0);
    FILE *file = fopen(below("pids"), "r");
    long parent, child;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &parent, &child), 2);
    fclose(file);
    char name[64], path[512];
    snprintf(name, sizeof name, "%ld.json", parent);
    snprintf(path, sizeof path, "%s", below(name));
    check(path, "dispatch@reference=10");
    snprintf(name, sizeof name, "%ld.json", child);
    snprintf(path, sizeof path, "%s", below(name));
    check(path, "dispatch@reference=5");
}

static void a_child_leaves_its_parent_s_file_alone(void **state) {
    (void)state;
    work("fork", below("t.json"));
    check(below("t.json"), "dispatch@reference=10");
}

static pid_t start_forever(const char *file) {
    pid_t child = fork();
    if (!child) {
        setenv("VYRE_TRACE", file, 1);
        execl(self, self, "forever", (char *)NULL);
        _exit(127);
    }
    return child;
}

static void stop(pid_t child) {
    int status;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void wait_for(const char *file, off_t size) {
    struct stat about = {0};
    for (int i = 0; i < 60000 && (stat(file, &about) || about.st_size < size); i++) {
        usleep(10000);
    }
    assert_true(about.st_size >= size);
}

/* The file is whole whenever the process stands still, so also after its end. */
static void a_killed_process_leaves_a_whole_file(void **state) {
    (void)state;
    char file[512];
    snprintf(file, sizeof file, "%s", below("t.json"));
    for (int i = 0; i < KILLS; i++) {
        unlink(file);
        pid_t child = start_forever(file);
        wait_for(file, 3000 * (i + 1));
        int status;
        assert_int_equal(kill(child, SIGSTOP), 0);
        assert_int_equal(waitpid(child, &status, WUNTRACED), child);
        check(file, "dispatch@reference");
        assert_int_equal(kill(child, SIGCONT), 0);
        usleep(5000);
        stop(child);
        check(file, "--killed dispatch@reference");
    }
}

static void later_processes_replace_the_file(void **state) {
    (void)state;
    char file[512];
    snprintf(file, sizeof file, "%s", below("t.json"));
    pid_t child = start_forever(file);
    wait_for(file, 3000);
    work("once", file);
    usleep(50000);
    check(file, "dispatch@reference=5");
    stop(child);
    check(file, "dispatch@reference=5");
}

static void what_cannot_be_written_is_told_once(void **state) {
    (void)state;
    work("unwritable", below("missing/t.json"));
    work("unwritable", "/dev/null");
    work("unwritable", place);
    struct stat about;
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
}

static void a_full_disk_leaves_a_whole_file(void **state) {
    (void)state;
    work("full", below("t.json"));
    check(below("t.json"), "dispatch@reference");
    struct stat about;
    assert_int_equal(stat(below("t.json"), &about), 0);
    assert_true(about.st_size <= LIMIT);
}

static void without_memory_work_goes_on(void **state) {
    (void)state;
    work("starved", below("t.json"));
    check(below("t.json"), "dispatch@reference=1");
}

static void another_file_is_not_written(void **state) {
    (void)state;
    work("closed", below("t.json"));
    check(below("t.json"), "dispatch@reference=5");
}

int main(int count, char **words) {
    fake = fake_device_start();
    if (count > 1) {
        unsetenv("VYRE_DIALECT_PATH");
        fake->reset();
        fake->on_launch(fake_device_run);
        for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
            if (!strcmp(words[1], works[i].name)) {
                works[i].work();
                fake_device_forget();
                return 0;
            }
        }
        return 2;
    }
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size < 0) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
        TEST(every_backend_is_traced),
        TEST(phases_that_the_driver_walks_are_traced),
        TEST(events_of_threads_do_not_overlap),
        TEST(more_work_than_is_remembered),
        TEST(each_process_has_its_file),
        TEST(a_child_leaves_its_parent_s_file_alone),
        TEST(a_killed_process_leaves_a_whole_file),
        TEST(later_processes_replace_the_file),
        TEST(what_cannot_be_written_is_told_once),
        TEST(a_full_disk_leaves_a_whole_file),
        TEST(another_file_is_not_written),
        TEST(without_memory_work_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
