/* The limit on the size of files: whatever writes to one fails, and no signal ends the process. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkstemp */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "store/ledger.h"
#include "trace/file.h"

static char path[] = P_tmpdir "/vyre-limit-XXXXXX";
static int file = -1;
static struct rlimit before;

static int begin(void **state) {
    (void)state;
    file = mkstemp(path);
    return file < 0 || getrlimit(RLIMIT_FSIZE, &before);
}

static int end(void **state) {
    (void)state;
    close(file);
    return unlink(path);
}

static void limit_to(rlim_t bytes) {
    const struct rlimit limit = {bytes, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, bytes == RLIM_INFINITY ? &before : &limit), 0);
}

static void a_write_fails(void **state) {
    (void)state;
    limit_to(4);
    int error = vyre_file_write_open(file, "12345678", 8);
    limit_to(RLIM_INFINITY);
    assert_int_equal(error, EFBIG);
}

static void a_ledger_fails(void **state) {
    (void)state;
    const vyre_store_ledger ledger = {0};
    limit_to(0);
    bool is_written = vyre_store_ledger_write(file, &ledger);
    limit_to(RLIM_INFINITY);
    assert_false(is_written);
}

static void a_trace_fails(void **state) {
    (void)state;
    struct stat about;
    assert_int_equal(fstat(file, &about), 0);
    vyre_trace_file trace = {.file = file, .device = about.st_dev, .node = about.st_ino};
    vyre_trace_line line = {.size = 1};
    limit_to(0);
    int error = vyre_trace_file_add(&trace, &line);
    limit_to(RLIM_INFINITY);
    assert_int_equal(error, EFBIG);
}

/* A signal that came before, from elsewhere, is left to whoever waits for it. */
static void a_signal_of_before_stays(void **state) {
    (void)state;
    sigset_t limit, mask, pending;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &limit, &mask);
    raise(SIGXFSZ);
    limit_to(0);
    int error = vyre_file_write_open(file, "1", 1);
    limit_to(RLIM_INFINITY);
    sigpending(&pending);
    bool stays = sigismember(&pending, SIGXFSZ);
    signal(SIGXFSZ, SIG_IGN); /* which takes it away */
    sigprocmask(SIG_SETMASK, &mask, NULL);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(error, EFBIG);
    assert_true(stays);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_fails),
        cmocka_unit_test(a_ledger_fails),
        cmocka_unit_test(a_trace_fails),
        cmocka_unit_test(a_signal_of_before_stays),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
