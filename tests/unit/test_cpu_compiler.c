/* The process that LLVM runs in: what becomes of a compile when it is lost, late or hungry, and
 * what the program around it notices. */
#define _GNU_SOURCE /* memmem */

#include "tests/unit/cpu_check.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cpu/codegen/llvm_message.h"
#include "backend/cpu/runtime/backend.h"
#include "base/clock.h"
#include "runtime/device.h"
#include "tests/unit/store_check.h"

static const char text[] =
    "define void @phase_0(ptr %f, i64 %first, i64 %end, ptr %s) nounwind { ret void }\n";

static vyre_status compile(uint64_t deadline_ns) {
    vyre_strbuf ir = {0}, out = {0};
    vyre_strbuf_puts(&ir, text);
    vyre_status status = cpu_compiler_run(&ir, CPU_LLVM_OBJECT, deadline_ns, &out);
    assert_true(status ? !out.data : out.size > 0);
    vyre_strbuf_free(&ir);
    vyre_strbuf_free(&out);
    return status;
}

enum { MOST = 64 };

/* Helpers are nobody's children, so what they inherit tells whose they are. */
static void mark_helpers(void) {
    char number[32];
    snprintf(number, sizeof number, "%d", (int)getpid());
    setenv("VYRE_TEST_OWNER", number, 1);
}

static bool is_helper_of(const char *process, pid_t owner) {
    char path[300], text_of[32 << 10], wanted[64];
    snprintf(path, sizeof path, "/proc/%s/comm", process);
    FILE *file = fopen(path, "r");
    char *name = file ? fgets(text_of, sizeof text_of, file) : NULL;
    bool is_helper = name && !strcmp(name, "vyre-llvm\n");
    if (file) {
        fclose(file);
    }
    snprintf(path, sizeof path, "/proc/%s/environ", process);
    file = is_helper ? fopen(path, "r") : NULL;
    size_t size = file ? fread(text_of, 1, sizeof text_of, file) : 0; /* none of one that is dead */
    if (file) {
        fclose(file);
    }
    snprintf(wanted, sizeof wanted, "VYRE_TEST_OWNER=%d", (int)owner);
    return memmem(text_of, size, wanted, strlen(wanted) + 1) != NULL;
}

/* The live helpers of a process. */
static size_t find_helpers(pid_t owner, pid_t out_pids[MOST]) {
    DIR *processes = opendir("/proc");
    assert_non_null(processes);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(processes));) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && count < MOST &&
            is_helper_of(entry->d_name, owner)) {
            out_pids[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
        }
    }
    closedir(processes);
    return count;
}

static size_t count_helpers(void) {
    pid_t pids[MOST];
    return find_helpers(getpid(), pids);
}

/* Whether a process and all its threads have ended within 10 seconds. */
static bool ends(pid_t pid) {
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd ended = {process, POLLIN, 0};
    bool has_ended = process < 0 || poll(&ended, 1, 10000) > 0;
    if (process >= 0) {
        close(process);
    }
    return has_ended;
}

static void kill_helpers(void) {
    pid_t pids[MOST];
    for (size_t i = find_helpers(getpid(), pids); i-- > 0;) {
        kill(pids[i], SIGKILL);
        assert_true(ends(pids[i]));
    }
}

/* From now on LLVM is the fake one, which does this. */
static void go_wrong(const char *how) {
    kill_helpers();
    setenv("VYRE_LLVM", FAKE_LLVM_LIBRARY, 1);
    setenv("FAKE_LLVM", how, 1);
}

/* LLVM is itself again, and works. */
static void go_right(void) {
    unsetenv("VYRE_LLVM");
    unsetenv("FAKE_LLVM");
    kill_helpers();
    expect_ok(compile(0));
}

static void a_helper_is_started_once_and_kept(void **state) {
    (void)state;
    pid_t before[MOST], after[MOST];
    go_right();
    assert_int_equal(find_helpers(getpid(), before), 1);
    for (int i = 0; i < 10; i++) {
        expect_ok(compile(0));
    }
    assert_int_equal(find_helpers(getpid(), after), 1);
    assert_int_equal(before[0], after[0]);
}

static void nobody_hears_of_a_helper(void **state) {
    (void)state;
    expect_ok(compile(0));
    assert_true(count_helpers() > 0);
    assert_int_equal(waitpid(-1, NULL, 0), -1); /* not: waits for it */
    assert_int_equal(errno, ECHILD);
}

static void a_helper_has_no_files_of_ours(void **state) {
    (void)state;
    int files[2];
    assert_int_equal(pipe(files), 0); /* without close-on-exec */
    kill_helpers();
    expect_ok(compile(0));
    pid_t pids[MOST];
    assert_int_equal(find_helpers(getpid(), pids), 1);
    close(files[1]);
    char byte;
    assert_int_equal(read(files[0], &byte, 1), 0); /* nobody else can write to it */
    close(files[0]);
    char path[64], target[64];
    for (int stream = 0; stream < 3; stream++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pids[0], stream);
        ssize_t size = readlink(path, target, sizeof target - 1);
        assert_true(size > 0);
        target[size] = '\0';
        assert_string_equal(target, "/dev/null");
    }
}

static void a_helper_that_is_lost_is_a_status(void **state) {
    (void)state;
    static const struct {
        const char *how, *says;
    } ways[] = {
        {"abort", "signal 6"}, {"crash", "signal 11"}, {"exit", "by itself"}, {"load", "signal 6"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        go_wrong(ways[i].how);
        expect_fail(compile(0), VYRE_STATUS_BACKEND, ways[i].says);
        assert_int_equal(count_helpers(), 0);
        go_right();
    }
}

static void a_helper_that_takes_all_memory_is_a_status(void **state) {
    (void)state;
    go_wrong("memory");
    expect_fail(compile(0), VYRE_STATUS_OUT_OF_MEMORY, "768 MB");
    assert_int_equal(count_helpers(), 0);
    go_right();
}

static void a_helper_that_hangs_ends_at_the_deadline(void **state) {
    (void)state;
    go_wrong("hang");
    uint64_t start = vyre_now_ns();
    expect_fail(compile(start + 300000000), VYRE_STATUS_TIMEOUT, "time was up");
    assert_true(vyre_now_ns() - start >= 300000000);
    assert_int_equal(count_helpers(), 0);
    go_right();
}

static vyre_device *open_cpu(void) {
    vyre_device *device;
    vyre_backend made = {.host = vyre_host_services()};
    expect_ok(cpu_bundle.registrations[0].create(vyre_host_services(), 0, &made));
    expect_ok(vyre_device_open(&made, "cpu", 0, &device));
    return device;
}

static void timeouts_cover_compiling(void **state) {
    (void)state;
    vyre_device *device = open_cpu();
    vyre_program *program = contract_program(TWICE);
    const vyre_dispatch_config config = {.timeout_ns = 300000000};
    uint32_t x = 3;
    const vyre_input input = {&x, sizeof x};
    vyre_outputs outputs;
    go_wrong("hang");
    uint64_t start = vyre_now_ns();
    expect_fail(vyre_device_dispatch(device, program, &input, 1, &config, &outputs),
                VYRE_STATUS_TIMEOUT, "compiling `twice`");
    assert_true(vyre_now_ns() - start >= config.timeout_ns);
    expect_ok(vyre_device_shutdown(device)); /* waits for what was left behind */
    assert_int_equal(count_helpers(), 0);
    vyre_device_release(device);
    go_right();
    device = open_cpu();
    expect_ok(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs));
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void *kill_one(void *argument) {
    (void)argument;
    pid_t pids[MOST];
    while (!find_helpers(getpid(), pids)) {
        usleep(1000);
    }
    usleep(50000); /* now it hangs */
    kill(pids[0], SIGKILL);
    return NULL;
}

static void a_helper_killed_in_the_middle_is_a_status(void **state) {
    (void)state;
    go_wrong("hang");
    pthread_t killer;
    assert_int_equal(pthread_create(&killer, NULL, kill_one, NULL), 0);
    expect_fail(compile(0), VYRE_STATUS_BACKEND, "was killed");
    pthread_join(killer, NULL);
    go_right();
}

static void an_idle_helper_may_be_killed(void **state) {
    (void)state;
    expect_ok(compile(0));
    kill_helpers();
    expect_ok(compile(0));
}

static atomic_int compiled;

static void *compile_many(void *argument) {
    (void)argument;
    for (int i = 0; i < 20; i++) {
        vyre_status status = compile(0);
        compiled += !status;
        vyre_status_free(status);
    }
    return NULL;
}

static void many_threads_share_few_helpers(void **state) {
    (void)state;
    enum { THREADS = 16 };
    pthread_t threads[THREADS];
    compiled = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, compile_many, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(compiled, THREADS * 20);
    assert_true(count_helpers() <= 4); /* of VYRE_THREADS */
}

enum { GIVEN_UP = 6 };
static atomic_int unsupported;

static void *give_up_many(void *argument) {
    (void)argument;
    for (int i = 0; i < GIVEN_UP; i++) {
        vyre_status status = compile(0);
        unsupported += vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED;
        vyre_status_free(status);
    }
    return NULL;
}

/* A helper in which LLVM gave up ends, and nobody else gets it meanwhile. */
static void threads_never_share_a_helper_that_ends(void **state) {
    (void)state;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    unsupported = 0;
    go_wrong("give-up");
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, give_up_many, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    go_right();
    assert_int_equal(unsupported, THREADS * GIVEN_UP);
}

/* Runs in a process of its own; the result is its exit status, 0 if all is well. */
static int in_a_child(int (*run)(void)) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        mark_helpers();
        _exit(run());
    }
    int end = 0;
    assert_int_equal(waitpid(child, &end, 0), child);
    return WIFEXITED(end) ? WEXITSTATUS(end) : -1;
}

static int fails(vyre_status status, vyre_status_code code, const char *part) {
    int wrong = vyre_status_code_of(status) != code || !strstr(vyre_status_text(status), part);
    if (wrong) {
        printf("%s\n", vyre_status_text(status));
        fflush(stdout);
    }
    vyre_status_free(status);
    return wrong;
}

static int compiles_with_its_own(void) {
    return count_helpers() ? 1 : fails(compile(0), VYRE_STATUS_OK, "") ? 2 : count_helpers() != 1;
}

static void a_fork_has_helpers_of_its_own(void **state) {
    (void)state;
    pid_t before[MOST], after[MOST];
    go_right();
    assert_int_equal(find_helpers(getpid(), before), 1);
    assert_int_equal(in_a_child(compiles_with_its_own), 0);
    expect_ok(compile(0));
    assert_int_equal(find_helpers(getpid(), after), 1);
    assert_int_equal(before[0], after[0]);
}

static void *compile_and_hang(void *argument) {
    (void)argument;
    vyre_status_free(compile(0));
    return NULL;
}

/* The number of a helper that hangs, in a pipe. Its process ends by itself. */
static int told[2];
static int leaves_a_helper_behind(void) {
    pthread_t thread;
    pid_t pids[MOST];
    go_wrong("hang");
    if (pthread_create(&thread, NULL, compile_and_hang, NULL)) {
        return 1;
    }
    while (!find_helpers(getpid(), pids)) {
        usleep(1000);
    }
    usleep(50000);
    return write(told[1], &pids[0], sizeof pids[0]) != sizeof pids[0];
}

static void a_helper_ends_with_its_library(void **state) {
    (void)state;
    pid_t pid = 0;
    assert_int_equal(pipe(told), 0);
    assert_int_equal(in_a_child(leaves_a_helper_behind), 0);
    assert_int_equal(read(told[0], &pid, sizeof pid), sizeof pid);
    assert_true(ends(pid));
    close(told[0]);
    close(told[1]);
}

/* From now on the system refuses a call, as old filters of containers do with newer ones. */
static int refuse_call(unsigned number) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Without files of memory no helper can be started. */
static int refuse_memory_files(void) {
    return refuse_call(SYS_memfd_create);
}

static int compiles_in_process(void) {
    if (refuse_memory_files()) {
        return CPU_SKIPPED;
    }
    return fails(compile(0), VYRE_STATUS_OK, "") || count_helpers() || !cpu_compiler_note() ||
           !strstr(cpu_compiler_note(), "LLVM runs in this process");
}

static int refuses_to_risk_the_process(void) {
    const struct rlimit limit = {(rlim_t)1 << 40, (rlim_t)1 << 40};
    return refuse_memory_files() ? CPU_SKIPPED
           : setrlimit(RLIMIT_AS, &limit)
               ? 1
               : fails(compile(0), VYRE_STATUS_OUT_OF_MEMORY, "is limited");
}

static void succeeds_in_a_child(int (*run)(void)) {
    int end = in_a_child(run);
    if (end == CPU_SKIPPED) {
        skip();
    }
    assert_int_equal(end, 0);
}

static void without_processes_llvm_runs_here(void **state) {
    (void)state;
    succeeds_in_a_child(compiles_in_process);
    assert_null(cpu_compiler_note());
}

static void without_processes_llvm_does_not_run_into_a_limit(void **state) {
    (void)state;
    succeeds_in_a_child(refuses_to_risk_the_process);
}

static int ends_a_helper_that_cannot_be_killed(void) {
    alarm(60); /* instead of waiting for ever */
    go_wrong("hang");
    return refuse_call(SYS_pidfd_send_signal)
               ? CPU_SKIPPED
               : fails(compile(vyre_now_ns() + 300000000), VYRE_STATUS_TIMEOUT, "time was up") ||
                     count_helpers() != 0;
}

static void without_signals_a_helper_ends_at_the_deadline(void **state) {
    (void)state;
    succeeds_in_a_child(ends_a_helper_that_cannot_be_killed);
}

static int starts_a_helper_without_files(void) {
    int files[2];
    char byte;
    kill_helpers();
    if (refuse_call(SYS_close_range)) {
        return CPU_SKIPPED;
    }
    alarm(60);
    if (pipe(files) || fails(compile(0), VYRE_STATUS_OK, "") || count_helpers() != 1) {
        return 1;
    }
    close(files[1]);
    return read(files[0], &byte, 1) != 0;
}

static void without_close_range_a_helper_has_no_files_of_ours(void **state) {
    (void)state;
    succeeds_in_a_child(starts_a_helper_without_files);
}

/* A process that takes in orphans, as process 1 of a container does, becomes the parent. */
static int reaps_what_it_ends(void) {
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) {
        return CPU_SKIPPED;
    }
    go_wrong("abort");
    int wrong = 0;
    for (int i = 0; i < 3; i++) {
        wrong |= fails(compile(0), VYRE_STATUS_BACKEND, "signal 6");
    }
    return wrong || waitpid(-1, NULL, WNOHANG | __WALL) != -1 || errno != ECHILD;
}

static void ended_helpers_leave_nothing_to_a_host_that_takes_in_orphans(void **state) {
    (void)state;
    succeeds_in_a_child(reaps_what_it_ends);
}

/* Once it has opened its libraries. */
static void a_helper_does_not_stay_in_our_folder(void **state) {
    (void)state;
    pid_t pids[MOST];
    char path[64], target[8];
    go_right();
    assert_int_equal(find_helpers(getpid(), pids), 1);
    snprintf(path, sizeof path, "/proc/%d/cwd", (int)pids[0]);
    assert_int_equal(readlink(path, target, sizeof target), 1);
    assert_int_equal(target[0], '/');
}

static int asks_for_the_note_first(void) {
    cpu_llvm_info info;
    return cpu_compiler_note() ? 1 : fails(cpu_compiler_info(&info), VYRE_STATUS_OK, "");
}

/* Compiles and runs a program in a process that is new: this one, started again. Its exit status
 * is the number of helpers it has then. */
static int run_once(void) {
    vyre_device *device = open_cpu();
    vyre_outputs outputs;
    uint32_t x[4] = {1, 2, 3, 4};
    const vyre_input input = {x, sizeof x};
    vyre_program *program = contract_program(TWICE);
    expect_ok(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs));
    assert_int_equal(((uint32_t *)(void *)outputs.items[0].data)[3], 8);
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
    vyre_device_release(device);
    return (int)count_helpers();
}

static int run_anew(void) {
    execl("/proc/self/exe", "test_cpu_compiler", "once", (char *)NULL);
    return 99;
}

static void stored_code_needs_no_helper(void **state) {
    (void)state;
    assert_true(store_start());
    assert_int_equal(in_a_child(run_anew), 1);
    assert_int_equal(in_a_child(run_anew), 0);
    setenv("LD_LIBRARY_PATH", "/nonexistent", 1); /* may lead to another library */
    assert_int_equal(in_a_child(run_anew), 1);
    unsetenv("LD_LIBRARY_PATH");
    setenv("VYRE_CACHE_LIMIT", "0", 1);
    assert_int_equal(in_a_child(run_anew), 1);
    store_end();
}

/* No program starts with a stack this small. */
static int says_nothing_of_what_is_over(void) {
    struct rlimit before, small = {4096, 0};
    kill_helpers();
    getrlimit(RLIMIT_STACK, &before);
    small.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_STACK, &small);
    int wrong = fails(compile(0), VYRE_STATUS_OK, "") || count_helpers() || !cpu_compiler_note();
    setrlimit(RLIMIT_STACK, &before);
    return wrong ? 1 : cpu_compiler_note() ? 2 : count_helpers() != 1;
}

static void the_note_is_of_now(void **state) {
    (void)state;
    succeeds_in_a_child(says_nothing_of_what_is_over);
}

static int ask_anew(void) {
    execl("/proc/self/exe", "test_cpu_compiler", "once", "note", (char *)NULL);
    return 99;
}

static void asking_for_the_note_first_is_fine(void **state) {
    (void)state;
    setenv("VYRE_CACHE_LIMIT", "0", 1); /* nothing is known of before */
    assert_int_equal(in_a_child(ask_anew), 0);
}

int main(int argc, char **argv) {
    (void)argv;
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_helper_is_started_once_and_kept),
        cmocka_unit_test(nobody_hears_of_a_helper),
        cmocka_unit_test(a_helper_has_no_files_of_ours),
        cmocka_unit_test(a_helper_that_is_lost_is_a_status),
        cmocka_unit_test(a_helper_that_takes_all_memory_is_a_status),
        cmocka_unit_test(a_helper_that_hangs_ends_at_the_deadline),
        cmocka_unit_test(timeouts_cover_compiling),
        cmocka_unit_test(a_helper_killed_in_the_middle_is_a_status),
        cmocka_unit_test(an_idle_helper_may_be_killed),
        cmocka_unit_test(many_threads_share_few_helpers),
        cmocka_unit_test(threads_never_share_a_helper_that_ends),
        cmocka_unit_test(a_fork_has_helpers_of_its_own),
        cmocka_unit_test(a_helper_ends_with_its_library),
        cmocka_unit_test(without_processes_llvm_runs_here),
        cmocka_unit_test(without_processes_llvm_does_not_run_into_a_limit),
        cmocka_unit_test(without_signals_a_helper_ends_at_the_deadline),
        cmocka_unit_test(without_close_range_a_helper_has_no_files_of_ours),
        cmocka_unit_test(ended_helpers_leave_nothing_to_a_host_that_takes_in_orphans),
        cmocka_unit_test(a_helper_does_not_stay_in_our_folder),
        cmocka_unit_test(stored_code_needs_no_helper),
        cmocka_unit_test(the_note_is_of_now),
        cmocka_unit_test(asking_for_the_note_first_is_fine),
    };
    setenv("VYRE_THREADS", "4", 1);
    unsetenv("VYRE_LLVM");
    mark_helpers();
    if (argc > 1) {
        return argc > 2 ? asks_for_the_note_first() : run_once();
    }
    if (getenv("VYRE_TEST_EMULATED")) { /* the emulator starts no program out of memory */
        return CPU_SKIPPED;
    }
    return cpu_check_available() ? cmocka_run_group_tests(tests, NULL, NULL) : CPU_SKIPPED;
}
