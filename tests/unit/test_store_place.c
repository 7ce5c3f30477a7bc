/* Where the store lies, and who may use it. */
#define _DEFAULT_SOURCE /* P_tmpdir, mkdtemp, flock, mkfifo */

#include <fcntl.h>
#include <sys/file.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <vyre/cache.h>

#include "tests/unit/store_check.h"

static void store_entry_may_be_no_file(void **state) {
    (void)state;
    char name[256], path[512], elsewhere[sizeof store_base + 8];
    store_put_text("p", "load");
    assert_int_equal(store_count(name, NULL), 1);
    store_path(path, name);
    /* A link is not followed, */
    snprintf(elsewhere, sizeof elsewhere, "%s/file", store_base);
    assert_int_equal(rename(path, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, path), 0);
    assert_false(store_has("p", ""));
    store_check_logged(1, "cannot read the cache");
    unlink(path);
    unlink(elsewhere);
    /* a pipe not waited for, */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(store_has("p", ""));
    assert_int_equal(store_count(NULL, NULL), 0);
    /* and a folder is in the way, no more. */
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(store_has("p", ""));
    store_put_text("p", "load");
    assert_false(store_has("p", ""));
    assert_int_equal(rmdir(path), 0);
}

static void store_lies_in_a_folder_for_this_user_alone(void **state) {
    (void)state;
    struct stat about;
    char vyre[sizeof store_base + 8];
    snprintf(vyre, sizeof vyre, "%s/vyre", store_base);
    rmdir(store_folder);
    rmdir(vyre);
    assert_false(store_has("p", ""));
    assert_int_equal(access(vyre, F_OK), -1); /* looking makes nothing */
    store_put_text("p", "load");
    assert_true(store_has("p", "load"));
    assert_int_equal(stat(vyre, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
    assert_int_equal(stat(store_folder, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
}

static void store_place_comes_from_xdg_cache_home_or_home(void **state) {
    (void)state;
    char *home = strdup(getenv("HOME") ? getenv("HOME") : "");
    char cache[sizeof store_base + 8], folder[sizeof store_folder + 8];
    const vyre_cache_list *list;
    snprintf(cache, sizeof cache, "%s/.cache", store_base);
    snprintf(folder, sizeof folder, "%s/vyre/pipelines", cache);
    setenv("HOME", store_base, 1);
    static const char *const not_absolute[] = {NULL, "", "relative/cache", "./cache", "~/cache"};
    for (size_t i = 0; i < sizeof not_absolute / sizeof *not_absolute; i++) {
        if (not_absolute[i]) {
            setenv("XDG_CACHE_HOME", not_absolute[i], 1);
        } else {
            unsetenv("XDG_CACHE_HOME");
        }
        setenv("HOME", store_base, 1);
        assert_null(vyre_cache_list_read(&list));
        assert_string_equal(list->path, folder);
        vyre_cache_list_free(list);
        /* Without a home either, there is no cache. */
        vyre_cache_disk_counts before = vyre_cache_count_disk();
        setenv("HOME", "relative", 1);
        assert_null(vyre_cache_list_read(&list));
        assert_null(list->path);
        vyre_cache_list_free(list);
        unsetenv("HOME");
        store_put_text("p", "load");
        assert_false(store_has("p", ""));
        assert_null(vyre_cache_list_read(&list));
        assert_null(list->path);
        vyre_cache_list_free(list);
        uint64_t files, bytes;
        assert_null(vyre_cache_clear(&files, &bytes));
        assert_int_equal(files + bytes, 0);
        vyre_cache_disk_counts after = vyre_cache_count_disk();
        assert_memory_equal(&before, &after, sizeof after);
    }
    setenv("HOME", store_base, 1);
    store_put_text("p", "load");
    assert_true(store_has("p", "load"));
    assert_int_equal(access(folder, F_OK), 0);
    setenv("XDG_CACHE_HOME", cache, 1); /* leads to the same place */
    assert_true(store_has("p", "load"));
    uint64_t files, bytes;
    assert_null(vyre_cache_clear(&files, &bytes));
    assert_int_equal(files, 1);
    char command[512];
    snprintf(command, sizeof command, "rm -r '%s'", cache);
    assert_int_equal(system(command), 0);
    setenv("HOME", home, 1);
    free(home);
    store_check_logged(0, "");
}

static void store_folder_that_others_may_write_to_is_not_used(void **state) {
    (void)state;
    static const mode_t modes[] = {0720, 0702, 01777};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        store_put_text("p", "load");
        assert_true(store_has("p", "load"));
        store_log_count = 0;
        assert_int_equal(chmod(store_folder, modes[i]), 0);
        for (int k = 0; k < 10; k++) {
            assert_false(store_has("p", ""));
            store_put_text("q", "load");
        }
        assert_int_equal(store_count(NULL, NULL), 1);
        store_check_logged(i == 0, "other users may write"); /* what stays wrong is said once */
        const vyre_cache_list *list;
        vyre_status status = vyre_cache_list_read(&list);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_IO);
        vyre_status_free(status);
        assert_int_equal(chmod(store_folder, 0700), 0);
    }
}

static void store_entry_is_for_this_user_alone(void **state) {
    (void)state;
    char name[256], path[512];
    struct stat about;
    mode_t before = umask(0);
    store_put_text("p", "load");
    umask(before);
    assert_int_equal(store_count(name, NULL), 1);
    store_path(path, name);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
}

/* The entry is not used, `why` is told, and the next one takes its place. */
static void check_unsafe(const char *path, const char *why) {
    const vyre_cache_list *list;
    vyre_cache_disk_counts before = vyre_cache_count_disk();
    assert_null(vyre_cache_list_read(&list));
    assert_int_equal(list->entry_count, 0);
    assert_int_equal(list->refused_count, 1);
    assert_non_null(strstr(list->refusal, why));
    vyre_cache_list_free(list);
    assert_false(store_has("p", ""));
    assert_int_equal(vyre_cache_count_disk().damaged - before.damaged, 1);
    assert_int_not_equal(access(path, F_OK), 0);
    store_put_text("p", "load");
    assert_true(store_has("p", "load"));
}

static void store_entry_that_others_may_write_to_is_not_used(void **state) {
    (void)state;
    static const mode_t modes[] = {0620, 0602, 0666};
    char name[256], path[512];
    store_put_text("p", "load");
    assert_int_equal(store_count(name, NULL), 1);
    store_path(path, name);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        check_unsafe(path, "other users may write to");
    }
    store_check_logged(1, "other users may write to"); /* what stays wrong is said once */
    assert_int_equal(chmod(path, 0644), 0);            /* others only read it */
    assert_true(store_has("p", "load"));
}

static void store_entry_of_somebody_else_is_not_used(void **state) {
    (void)state;
    char name[256], path[512];
    if (geteuid() != 0) {
        skip();
    }
    store_put_text("p", "load");
    assert_int_equal(store_count(name, NULL), 1);
    store_path(path, name);
    assert_int_equal(chown(path, 65534, 65534), 0);
    check_unsafe(path, "belongs to another user, with ID 65534");
    store_check_logged(1, "belongs to another user");
}

static void store_folder_of_somebody_else_is_not_used(void **state) {
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    store_put_text("p", "load");
    assert_int_equal(chown(store_folder, 65534, 65534), 0);
    assert_false(store_has("p", ""));
    store_put_text("q", "load");
    assert_int_equal(store_count(NULL, NULL), 1);
    assert_int_equal(chown(store_folder, 0, 0), 0);
    store_check_logged(1, "belongs to another user");
}

/* Another user than root, who may write everywhere, sees the folder read-only. */
static void store_folder_that_is_read_only_is_still_read(void **state) {
    (void)state;
    char name[256], path[512];
    store_put_text("p", "load");
    assert_int_equal(store_count(name, NULL), 1);
    store_path(path, name);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char vyre[sizeof store_base + 8];
        snprintf(vyre, sizeof vyre, "%s/vyre", store_base);
        if (geteuid() == 0 &&
            (chown(store_base, 65534, 65534) || chown(vyre, 65534, 65534) ||
             chown(store_folder, 65534, 65534) || chown(path, 65534, 65534) || setuid(65534))) {
            _exit(10);
        }
        if (chmod(store_folder, 0500)) {
            _exit(11);
        }
        bool hit = store_has("p", "load");
        store_log_count = 0;
        store_put_text("q", "load");
        store_put_text("p", "other");
        bool silent = store_log_count == 0;
        chmod(store_folder, 0700);
        _exit(!hit ? 12 : silent ? 13 : store_count(NULL, NULL) != 1 ? 14 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (geteuid() == 0) {
        char vyre[sizeof store_base + 8];
        snprintf(vyre, sizeof vyre, "%s/vyre", store_base);
        assert_int_equal(chown(store_base, 0, 0) | chown(vyre, 0, 0) | chown(store_folder, 0, 0) |
                             chown(path, 0, 0),
                         0);
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(store_has("p", "load"));
}

static void store_lock_held_by_others_delays_stores_alone(void **state) {
    (void)state;
    char path[512];
    store_put_text("p", "load");
    store_path(path, "lock");
    int lock = open(path, O_RDWR);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    struct timeval start, end;
    gettimeofday(&start, NULL);
    assert_true(store_has("p", "load"));
    const vyre_cache_list *list;
    assert_null(vyre_cache_list_read(&list));
    vyre_cache_list_free(list);
    gettimeofday(&end, NULL);
    assert_true(end.tv_sec - start.tv_sec <= 1);
    store_check_logged(0, "");
    store_put_text("q", "load");
    store_check_logged(1, "another process holds");
    uint64_t files, bytes;
    vyre_status status = vyre_cache_clear(&files, &bytes);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_TIMEOUT);
    vyre_status_free(status);
    gettimeofday(&end, NULL);
    assert_true(end.tv_sec - start.tv_sec <= 20);
    close(lock);
    assert_false(store_has("q", ""));
    store_put_text("q", "load");
    assert_true(store_has("q", "load"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, store_reset)
    const struct CMUnitTest tests[] = {
        TEST(store_entry_may_be_no_file),
        TEST(store_lies_in_a_folder_for_this_user_alone),
        TEST(store_place_comes_from_xdg_cache_home_or_home),
        TEST(store_folder_that_others_may_write_to_is_not_used),
        TEST(store_entry_is_for_this_user_alone),
        TEST(store_entry_that_others_may_write_to_is_not_used),
        TEST(store_entry_of_somebody_else_is_not_used),
        TEST(store_folder_of_somebody_else_is_not_used),
        TEST(store_folder_that_is_read_only_is_still_read),
        TEST(store_lock_held_by_others_delays_stores_alone),
    };
    return cmocka_run_group_tests(tests, store_make, store_remove);
}
