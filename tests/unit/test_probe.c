/* Trying code of a plugin in a child process: what it does there does not reach this one. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "registry/probe.h"

enum { MOST_FILES = 256 };

static void expect_failure(vyre_status status, const char *part) {
    assert_non_null(status);
    if (!strstr(vyre_status_text(status), part) || !strstr(vyre_status_text(status), "Fix: ")) {
        fail_msg("%s", vyre_status_text(status));
    }
    vyre_status_free(status);
}

static void nothing(const void *subject) {
    (void)subject;
}

static void probe_succeeds_if_the_function_returns(void **state) {
    (void)state;
    assert_null(vyre_probe("it", nothing, NULL));
}

static int count_files_kept_by_exec(void) {
    int count = 0;
    for (int file = 3; file < MOST_FILES; file++) {
        int flags = fcntl(file, F_GETFD);
        count += flags >= 0 && !(flags & FD_CLOEXEC);
    }
    return count;
}

static void compare_files(const void *subject) {
    if (count_files_kept_by_exec() != *(const int *)subject) {
        abort();
    }
}

/* A process that another thread starts meanwhile would keep the pipe open. */
static void probe_opens_no_file_that_exec_keeps(void **state) {
    (void)state;
    int count = count_files_kept_by_exec();
    assert_null(vyre_probe("it", compare_files, &count));
}

static void close_all_and_stay(const void *subject) {
    (void)subject;
    for (int file = 0; file < MOST_FILES; file++) {
        close(file);
    }
    for (;;) {
        pause();
    }
}

static void probe_ends_what_closes_its_files_and_stays(void **state) {
    (void)state;
    uint64_t start = vyre_now_ns();
    expect_failure(vyre_probe("it", close_all_and_stay, NULL), "closed the files of the process");
    assert_true(vyre_now_ns() - start < UINT64_C(1000000000) * (VYRE_PROBE_SECONDS + 20));
}

static int *ends; /* shared with children */

static void count_end(void) {
    ++*ends;
}

static void end_process(const void *subject) {
    exit(*(const int *)subject);
}

static void probe_runs_no_exit_handlers_of_the_host(void **state) {
    (void)state;
    ends = mmap(NULL, sizeof *ends, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(ends != MAP_FAILED);
    assert_int_equal(atexit(count_end), 0);
    for (int code = 0; code < 2; code++) {
        expect_failure(vyre_probe("it", end_process, &code), "it ended the process");
    }
    assert_int_equal(*ends, 0);
}

static void hide_crash(int number) {
    (void)number;
    _exit(0);
}

static void crash(const void *subject) {
    (void)subject;
    raise(SIGSEGV);
}

static void probe_runs_no_signal_handlers_of_the_host(void **state) {
    (void)state;
    void (*before)(int) = signal(SIGSEGV, hide_crash);
    expect_failure(vyre_probe("it", crash, NULL), "it crashed: signal 11");
    signal(SIGSEGV, before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probe_succeeds_if_the_function_returns),
        cmocka_unit_test(probe_opens_no_file_that_exec_keeps),
        cmocka_unit_test(probe_ends_what_closes_its_files_and_stays),
        cmocka_unit_test(probe_runs_no_exit_handlers_of_the_host),
        cmocka_unit_test(probe_runs_no_signal_handlers_of_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
