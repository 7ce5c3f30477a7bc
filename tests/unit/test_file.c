#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp, mkfifo */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "tests/unit/failing_allocator.h"

enum { LIMIT = 1 << 20 };

static char folder[] = P_tmpdir "/vyre-file-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    DIR *opened = opendir(".");
    for (struct dirent *item; opened && (item = readdir(opened));) {
        unlink(item->d_name);
    }
    closedir(opened);
    return rmdir(folder);
}

static size_t count_files(void) {
    size_t count = 0;
    DIR *opened = opendir(".");
    assert_non_null(opened);
    for (struct dirent *item; (item = readdir(opened));) {
        count += item->d_name[0] != '.';
    }
    closedir(opened);
    return count;
}

static void check_contents(const char *path, const void *data, size_t size) {
    vyre_strbuf text = {0};
    assert_null(vyre_file_read(path, LIMIT, &text));
    assert_int_equal(text.size, size);
    assert_memory_equal(vyre_strbuf_string(&text), size ? data : "", size);
    vyre_strbuf_free(&text);
}

static void check_error(vyre_status status, vyre_status_code code, const char *part) {
    assert_non_null(status);
    assert_int_equal(vyre_status_code_of(status), code);
    assert_non_null(strstr(vyre_status_text(status), part));
    assert_non_null(strstr(vyre_status_text(status), "Fix: "));
    vyre_status_free(status);
}

static void file_reads_back_what_was_written(void **state) {
    (void)state;
    static char data[200001];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (char)(i * 7);
    }
    static const size_t sizes[] = {0, 1, 4096, 65535, 65536, 65537, 200001};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_null(vyre_file_replace("data", data, sizes[i]));
        check_contents("data", data, sizes[i]);
    }
    unlink("data");
}

static void file_larger_than_the_limit_is_refused(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    assert_null(vyre_file_replace("data", "0123456789", 10));
    assert_null(vyre_file_read("data", 10, &text));
    vyre_strbuf_free(&text);
    check_error(vyre_file_read("data", 9, &text), VYRE_STATUS_LIMIT, "data is larger than 9");
    assert_null(text.data);
    check_error(vyre_file_read("/dev/zero", 100000, &text), VYRE_STATUS_LIMIT, "100000");
    unlink("data");
}

static void file_that_is_missing_or_a_directory_is_an_error(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    check_error(vyre_file_read("missing", LIMIT, &text), VYRE_STATUS_NOT_FOUND, "missing");
    check_error(vyre_file_read(".", LIMIT, &text), VYRE_STATUS_IO, "a directory");
    check_error(vyre_file_replace(".", "", 0), VYRE_STATUS_IO, "not a directory");
    check_error(vyre_file_replace("missing/data", "", 0), VYRE_STATUS_NOT_FOUND, "missing/data");
    assert_int_equal(count_files(), 0);
}

static void file_path_that_is_too_long_is_an_error(void **state) {
    (void)state;
    static char path[100000];
    memset(path, 'a', sizeof path - 1);
    vyre_status status = vyre_file_replace(path, "", 0);
    assert_non_null(status);
    vyre_status_free(status);
}

static void *write_slowly(void *argument) {
    FILE *pipe = fopen(argument, "w");
    for (int i = 0; i < 20; i++) {
        fprintf(pipe, "line %02d\n", i);
        fflush(pipe);
    }
    fclose(pipe);
    return NULL;
}

static void file_may_be_a_pipe(void **state) {
    (void)state;
    pthread_t thread;
    vyre_strbuf text = {0};
    char name[] = "pipe";
    assert_int_equal(mkfifo(name, 0600), 0);
    assert_int_equal(pthread_create(&thread, NULL, write_slowly, name), 0);
    assert_null(vyre_file_read(name, LIMIT, &text));
    pthread_join(thread, NULL);
    assert_int_equal(text.size, 160);
    assert_memory_equal(text.data + 152, "line 19\n", 8);
    vyre_strbuf_free(&text);
    unlink(name);
}

static void file_replace_keeps_mode_and_symbolic_link(void **state) {
    (void)state;
    struct stat about;
    assert_null(vyre_file_replace("target", "old", 3));
    assert_int_equal(chmod("target", 0640), 0);
    assert_int_equal(symlink("target", "link"), 0);
    assert_null(vyre_file_replace("link", "new", 3));
    assert_int_equal(lstat("link", &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat("target", &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
    check_contents("target", "new", 3);
    unlink("link");
    unlink("target");
}

static void file_new_one_has_the_mode_of_the_umask(void **state) {
    (void)state;
    struct stat about;
    mode_t before = umask(027);
    assert_null(vyre_file_replace("fresh", "x", 1));
    umask(before);
    assert_int_equal(stat("fresh", &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    unlink("fresh");
}

/* A reader that opened the old file goes on reading it, which shows that nothing was
 * overwritten. */
static void file_replace_does_not_touch_the_old_one(void **state) {
    (void)state;
    char buffer[8] = {0};
    assert_null(vyre_file_replace("data", "old", 3));
    FILE *old = fopen("data", "r");
    assert_non_null(old);
    assert_null(vyre_file_replace("data", "newer", 5));
    assert_int_equal(fread(buffer, 1, sizeof buffer, old), 3);
    assert_string_equal(buffer, "old");
    fclose(old);
    check_contents("data", "newer", 5);
    assert_int_equal(count_files(), 1); /* and no temporary file stays */
    unlink("data");
}

static void file_failed_replace_leaves_the_old_one_and_nothing_else(void **state) {
    (void)state;
    assert_null(vyre_file_replace("data", "old", 3));
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_status status = vyre_file_replace("data", "new", 3);
        bool failed = status != VYRE_OK;
        vyre_status_free(status);
        failing_allocator_stop();
        assert_int_equal(failed, failing_allocator_failed());
        assert_int_equal(count_files(), 1);
        check_contents("data", failed ? "old" : "new", 3);
        if (!failed) {
            assert_true(n > 1);
            break;
        }
    }
    unlink("data");
}

/* A process that may not write so large a file stands for a full disk. */
static void file_that_cannot_be_written_leaves_the_old_one_and_nothing_else(void **state) {
    (void)state;
    static char data[100000];
    struct rlimit before, small = {.rlim_cur = 1000};
    assert_null(vyre_file_replace("data", "old", 3));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    vyre_status status = vyre_file_replace("data", data, sizeof data);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    check_error(status, VYRE_STATUS_IO, "cannot write data");
    check_contents("data", "old", 3);
    assert_int_equal(count_files(), 1);
    unlink("data");
}

static void file_read_survives_every_failed_allocation(void **state) {
    (void)state;
    static char data[300000];
    assert_null(vyre_file_replace("data", data, sizeof data));
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_strbuf text = {0};
        vyre_status status = vyre_file_read("data", LIMIT, &text);
        assert_int_equal(status != VYRE_OK, failing_allocator_failed());
        assert_int_equal(text.size, status ? 0 : sizeof data);
        bool failed = status != VYRE_OK;
        vyre_status_free(status);
        vyre_strbuf_free(&text);
        failing_allocator_stop();
        if (!failed) {
            assert_true(n > 1);
            break;
        }
    }
    unlink("data");
}

static void folder_is_made_with_those_above_it_for_this_user_alone(void **state) {
    (void)state;
    struct stat about;
    assert_null(vyre_folder_make("one//two/three/"));
    assert_null(vyre_folder_make("one/two/three"));
    static const char *const made[] = {"one/two/three", "one/two", "one"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stat(made[i], &about), 0);
        assert_int_equal(about.st_mode & 07777, 0700);
    }
    assert_null(vyre_file_replace("one/file", "", 0));
    check_error(vyre_folder_make("one/file/deeper"), VYRE_STATUS_IO, "one/file/deeper");
    unlink("one/file");
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_status status = vyre_folder_make("one/two/three/four");
        bool failed = status != VYRE_OK;
        vyre_status_free(status);
        failing_allocator_stop();
        assert_int_equal(failed, failing_allocator_failed());
        if (!failed) {
            break;
        }
    }
    assert_int_equal(rmdir("one/two/three/four"), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(rmdir(made[i]), 0);
    }
}

static void folder_of_somebody_else_is_not_entered_by_root(void **state) {
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(mkdir("theirs", 0777), 0);
    assert_int_equal(chown("theirs", 65534, 65534), 0);
    check_error(vyre_folder_make("theirs/mine"), VYRE_STATUS_IO, "theirs/mine");
    assert_int_equal(rmdir("theirs"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_reads_back_what_was_written),
        cmocka_unit_test(file_larger_than_the_limit_is_refused),
        cmocka_unit_test(file_that_is_missing_or_a_directory_is_an_error),
        cmocka_unit_test(file_path_that_is_too_long_is_an_error),
        cmocka_unit_test(file_may_be_a_pipe),
        cmocka_unit_test(file_replace_keeps_mode_and_symbolic_link),
        cmocka_unit_test(file_new_one_has_the_mode_of_the_umask),
        cmocka_unit_test(file_replace_does_not_touch_the_old_one),
        cmocka_unit_test(file_failed_replace_leaves_the_old_one_and_nothing_else),
        cmocka_unit_test(file_that_cannot_be_written_leaves_the_old_one_and_nothing_else),
        cmocka_unit_test(file_read_survives_every_failed_allocation),
        cmocka_unit_test(folder_is_made_with_those_above_it_for_this_user_alone),
        cmocka_unit_test(folder_of_somebody_else_is_not_entered_by_root),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
