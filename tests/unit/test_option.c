#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <vyre/route.h>

#include "backend/cpu/codegen/option.h"
#include "backend/table.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/home.h"
#include "base/option.h"
#include "tests/unit/failing_allocator.h"

enum { NO_OTHER_RIGHTS = 3, USED = 4, MAX_PROGRAM = 256 << 20 };

static void option_without_variable_is_the_default(void **state) {
    (void)state;
    int level = -1;
    unsetenv("VYRE_LOG");
    assert_null(vyre_option_choice(VYRE_OPTION_LOG, &level));
    assert_int_equal(level, VYRE_LOG_WARNING);
    vyre_option_info info = vyre_option_describe(VYRE_OPTION_LOG);
    assert_string_equal(info.variable, "VYRE_LOG");
    assert_string_equal(info.text, "warning");
    assert_false(info.from_environment);
}

static void option_empty_variable_counts_as_not_set(void **state) {
    (void)state;
    int level = -1;
    setenv("VYRE_LOG", "", 1);
    assert_null(vyre_option_choice(VYRE_OPTION_LOG, &level));
    assert_int_equal(level, VYRE_LOG_WARNING);
    assert_false(vyre_option_describe(VYRE_OPTION_LOG).from_environment);
    unsetenv("VYRE_LOG");
}

static void option_takes_every_allowed_value_from_the_environment(void **state) {
    (void)state;
    for (int level = VYRE_LOG_ERROR; level <= VYRE_LOG_TRACE; level++) {
        int found = -1;
        setenv("VYRE_LOG", vyre_log_level_name((vyre_log_level)level), 1);
        assert_null(vyre_option_choice(VYRE_OPTION_LOG, &found));
        assert_int_equal(found, level);
        assert_true(vyre_option_describe(VYRE_OPTION_LOG).from_environment);
    }
    unsetenv("VYRE_LOG");
}

static void option_wrong_value_is_an_error_that_names_the_allowed_ones(void **state) {
    (void)state;
    int level;
    setenv("VYRE_LOG", "debgu", 1);
    vyre_status status = vyre_option_choice(VYRE_OPTION_LOG, &level);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
    assert_non_null(strstr(vyre_status_message(status), "VYRE_LOG is \"debgu\""));
    assert_string_equal(vyre_status_fix(status),
                        "set it to one of error, warning, info, debug, trace, perhaps `debug`, or "
                        "unset it");
    vyre_status_free(status);
    setenv("VYRE_LOG", "DEBUG", 1);
    status = vyre_option_choice(VYRE_OPTION_LOG, &level);
    assert_non_null(status);
    vyre_status_free(status);
    unsetenv("VYRE_LOG");
}

static void check_complete(const vyre_option *const *list) {
    for (; list && *list; list++) {
        assert_memory_equal((*list)->variable, "VYRE_", 5);
        assert_true((*list)->documentation[0] && (*list)->allowed[0]);
        assert_non_null(strstr((*list)->allowed, (*list)->default_text));
    }
}

static void option_table_is_complete(void **state) {
    (void)state;
    check_complete(vyre_options);
    for (size_t i = 0; vyre_builtins[i]; i++) {
        check_complete(vyre_builtins[i]->options);
    }
    /* The default is an allowed value. */
    int number;
    uint32_t count;
    uint64_t bytes;
#define CHECK_CHOICE(option) assert_null(vyre_option_choice(option, &number))
#define CHECK_SIZE(option) assert_null(vyre_option_size(option, &bytes))
#define CHECK_NUMBER(option) assert_null(vyre_option_number(option, &count))
#define CHECK_PATHS(option) assert_string_equal((option)->default_text, "")
#define CHECK(name, kind, values, default_text, documentation) CHECK_##kind(VYRE_OPTION_##name);
    VYRE_OPTIONS(CHECK)
    CPU_OPTIONS(CHECK)
    CUDA_OPTIONS(CHECK)
#undef CHECK
}

static void option_number_lies_in_its_range(void **state) {
    (void)state;
    static const char *const right[] = {"0", "7", "1024"};
    static const uint32_t numbers[] = {0, 7, 1024};
    static const char *const wrong[] = {"1025", "-1", "1 ", "x", "18446744073709551616", "0x10"};
    uint32_t number = 1;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        setenv("VYRE_THREADS", right[i], 1);
        assert_null(vyre_option_number(VYRE_OPTION_THREADS, &number));
        assert_int_equal(number, numbers[i]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("VYRE_THREADS", wrong[i], 1);
        vyre_status status = vyre_option_number(VYRE_OPTION_THREADS, &number);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
        assert_string_equal(vyre_status_fix(status),
                            "set it to a number from 0 to 1024, or unset it");
        vyre_status_free(status);
    }
    unsetenv("VYRE_THREADS");
}

static void option_size_takes_units(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {
        {"", 256 << 20},
        {"0", 0},
        {"1", 1},
        {"65536", 65536},
        {"512K", 512 << 10},
        {"256M", 256 << 20},
        {"2G", (uint64_t)2 << 30},
        {"1T", (uint64_t)1 << 40},
        {"0T", 0},
        {"18446744073709551615", UINT64_MAX},
        {"16777215T", (uint64_t)16777215 << 40},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t bytes = 1;
        setenv("VYRE_CACHE_LIMIT", rows[i].text, 1);
        assert_null(vyre_option_size(VYRE_OPTION_CACHE_LIMIT, &bytes));
        assert_true(bytes == rows[i].bytes);
    }
    unsetenv("VYRE_CACHE_LIMIT");
}

static void option_wrong_size_is_an_error_that_says_what_one_is(void **state) {
    (void)state;
    static const char *const wrong[] = {"K",        "-1",  "1.5G", "12 M", "M1",
                                        "256m",     "1KK", " 1",   "many", "18446744073709551616",
                                        "16777216T"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t bytes;
        setenv("VYRE_CACHE_LIMIT", wrong[i], 1);
        vyre_status status = vyre_option_size(VYRE_OPTION_CACHE_LIMIT, &bytes);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
        assert_non_null(strstr(vyre_status_message(status), wrong[i]));
        assert_string_equal(vyre_status_fix(status),
                            "set it to bytes, such as 65536, 512K, 256M or 2G, or unset it");
        vyre_status_free(status);
    }
    unsetenv("VYRE_CACHE_LIMIT");
}

static void option_error_survives_every_failed_allocation(void **state) {
    (void)state;
    setenv("VYRE_LOG", "loud", 1);
    for (size_t n = 1; failing_allocator_start(n); n++) {
        int level;
        vyre_status status = vyre_option_choice(VYRE_OPTION_LOG, &level);
        assert_non_null(status);
        vyre_status_free(status);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            break;
        }
    }
    unsetenv("VYRE_LOG");
}

/* Runs a copy of this program that belongs to another user with the set-user-ID bit on. */
static void option_variables_do_not_count_in_a_privileged_process(void **state) {
    (void)state;
    char folder[] = P_tmpdir "/vyre-option-XXXXXX", program[sizeof folder + 8];
    vyre_strbuf self = {0};
    assert_false(vyre_environment_is_foreign());
    if (geteuid() != 0) {
        skip(); /* only root can make such a program */
    }
    assert_non_null(mkdtemp(folder));
    chmod(folder, 0755);
    snprintf(program, sizeof program, "%s/program", folder);
    assert_null(vyre_file_read("/proc/self/exe", MAX_PROGRAM, &self));
    assert_null(vyre_file_replace(program, self.data, self.size));
    vyre_strbuf_free(&self);
    assert_int_equal(chown(program, 65534, 65534), 0);
    assert_int_equal(chmod(program, 04755), 0);
    pid_t child = fork();
    if (child == 0) {
        setenv("VYRE_LOG", "trace", 1);
        setenv("HOME", "/", 1);
        setenv("XDG_CONFIG_HOME", "/", 1);
        execl(program, program, "child", (char *)NULL);
        _exit(NO_OTHER_RIGHTS);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    unlink(program);
    rmdir(folder);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_OTHER_RIGHTS) {
        skip(); /* this file system, or this container, does not honour the bit */
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* Leaves at once: what else runs at the end, such as a leak check, may need rights it lacks. */
static void child_main(void) {
    if (getuid() == geteuid()) {
        _exit(NO_OTHER_RIGHTS);
    }
    vyre_strbuf path = {0};
    char *routes = NULL;
    bool finds = vyre_home_path(VYRE_HOME_CONFIG, "x", &path) ||
                 vyre_home_path(VYRE_HOME_CACHE, "x", &path) || vyre_routes_default_path(&routes) ||
                 routes;
    _exit(vyre_option_describe(VYRE_OPTION_LOG).from_environment ||
                  !vyre_environment_is_foreign() || finds
              ? USED
              : 0);
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "child") == 0) {
        child_main();
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(option_without_variable_is_the_default),
        cmocka_unit_test(option_empty_variable_counts_as_not_set),
        cmocka_unit_test(option_takes_every_allowed_value_from_the_environment),
        cmocka_unit_test(option_wrong_value_is_an_error_that_names_the_allowed_ones),
        cmocka_unit_test(option_table_is_complete),
        cmocka_unit_test(option_number_lies_in_its_range),
        cmocka_unit_test(option_size_takes_units),
        cmocka_unit_test(option_wrong_size_is_an_error_that_says_what_one_is),
        cmocka_unit_test(option_error_survives_every_failed_allocation),
        cmocka_unit_test(option_variables_do_not_count_in_a_privileged_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
