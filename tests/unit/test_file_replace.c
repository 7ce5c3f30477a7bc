/* Replacing files that others own, link to, or may have planted. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp, S_ISVTX */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/home.h"

enum { LIMIT = 1 << 20, OTHER = 65534 };

static char folder[] = P_tmpdir "/vyre-replace-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) && chmod(folder, 0755) == 0 && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[sizeof folder + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void check_contents(const char *path, const char *expected) {
    vyre_strbuf text = {0};
    assert_null(vyre_file_read(path, LIMIT, &text));
    assert_string_equal(vyre_strbuf_string(&text), expected);
    vyre_strbuf_free(&text);
}

static void check_error(vyre_status status, const char *part) {
    assert_non_null(status);
    if (!strstr(vyre_status_text(status), part) || !strstr(vyre_status_text(status), "Fix: ")) {
        fail_msg("%s", vyre_status_text(status));
    }
    vyre_status_free(status);
}

static void needs_root(void) {
    if (geteuid() != 0) {
        printf("unavailable: only root can stand for two users\n");
        skip();
    }
}

/* A folder such as /tmp, entered. */
static void enter_sticky(void) {
    assert_int_equal(mkdir("sticky", 0700), 0);
    assert_int_equal(chmod("sticky", 01777), 0);
    assert_int_equal(chdir("sticky"), 0);
}

static void leave_sticky(void) {
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(system("rm -rf sticky"), 0);
}

static void replace_keeps_all_names_of_a_file(void **state) {
    (void)state;
    struct stat before, after;
    write_file("one", "a longer text");
    assert_int_equal(link("one", "two"), 0);
    assert_int_equal(stat("one", &before), 0);
    assert_null(vyre_file_replace("one", "new", 3));
    check_contents("two", "new");
    assert_int_equal(stat("two", &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_int_equal(after.st_nlink, 2);
    assert_int_equal(system("test $(ls | wc -l) = 2"), 0);
    unlink("one");
    unlink("two");
}

static void replace_keeps_owner_group_and_mode(void **state) {
    (void)state;
    struct stat about;
    needs_root();
    write_file("theirs", "old");
    assert_int_equal(chown("theirs", OTHER, 12345), 0);
    assert_int_equal(chmod("theirs", 0640), 0);
    assert_null(vyre_file_replace("theirs", "new", 3));
    assert_int_equal(stat("theirs", &about), 0);
    assert_int_equal(about.st_uid, OTHER);
    assert_int_equal(about.st_gid, 12345);
    assert_int_equal(about.st_mode & 07777, 0640);
    check_contents("theirs", "new");
    unlink("theirs");
}

/* A process that may not give a file away writes into it. */
static void replace_of_a_file_that_cannot_be_given_away_is_in_place(void **state) {
    (void)state;
    struct stat before, after;
    needs_root();
    assert_int_equal(mkdir("shared", 0700), 0);
    assert_int_equal(chmod("shared", 0777), 0);
    write_file("shared/file", "older");
    assert_int_equal(chmod("shared/file", 0666), 0);
    assert_int_equal(stat("shared/file", &before), 0);
    pid_t child = fork();
    if (child == 0) {
        vyre_status status = setgid(OTHER) || setuid(OTHER)
                                 ? vyre_status_make(VYRE_STATUS_IO, "", "no other user")
                                 : vyre_file_replace("shared/file", "new", 3);
        _exit(status != NULL);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    assert_int_equal(stat("shared/file", &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_int_equal(after.st_uid, 0);
    check_contents("shared/file", "new");
    assert_int_equal(system("rm -r shared"), 0);
}

static void replace_follows_links_of_this_user(void **state) {
    (void)state;
    struct stat about;
    assert_int_equal(mkdir("target", 0700), 0);
    enter_sticky();
    assert_int_equal(symlink("../target/file", "middle"), 0);
    assert_int_equal(symlink("middle", "link"), 0);
    assert_null(vyre_file_replace("link", "first", 5)); /* leads nowhere yet */
    check_contents("../target/file", "first");
    assert_null(vyre_file_replace("link", "new", 3));
    check_contents("../target/file", "new");
    assert_int_equal(lstat("link", &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(symlink("circle", "circle"), 0);
    check_error(vyre_file_replace("circle", "", 0), "symbolic link");
    leave_sticky();
    assert_int_equal(system("rm -r target"), 0);
}

static void replace_does_not_follow_a_planted_link(void **state) {
    (void)state;
    needs_root();
    write_file("precious", "old");
    enter_sticky();
    assert_int_equal(symlink("../precious", "out"), 0);
    assert_int_equal(lchown("out", OTHER, OTHER), 0);
    check_error(vyre_file_replace("out", "new", 3), "a link of another user, with ID 65534");
    check_error(vyre_file_check_planted("out"), "a link of another user");
    assert_int_equal(symlink("out", "own"), 0); /* and not behind one of ours */
    check_error(vyre_file_replace("own", "new", 3), "a link of another user");
    check_contents("../precious", "old");
    /* Where only this user writes, links are as good as their folder. */
    assert_int_equal(chmod(".", 0755), 0);
    assert_null(vyre_file_replace("out", "new", 3));
    check_contents("../precious", "new");
    leave_sticky();
    unlink("precious");
}

static void replace_does_not_use_a_planted_file_or_pipe(void **state) {
    (void)state;
    needs_root();
    enter_sticky();
    write_file("out", "theirs");
    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_int_equal(chown("out", OTHER, OTHER) | chown("pipe", OTHER, OTHER), 0);
    check_error(vyre_file_replace("out", "new", 3), "a file of another user");
    check_error(vyre_file_check_planted("pipe"), "a file of another user");
    check_contents("out", "theirs");
    leave_sticky();
}

/* A name for a file of ours that another user gave it. */
static void replace_does_not_use_a_planted_hard_link(void **state) {
    (void)state;
    write_file("precious", "old");
    enter_sticky();
    assert_int_equal(link("../precious", "output"), 0);
    check_error(vyre_file_replace("output", "new", 3), "hard link");
    check_error(vyre_file_check_planted("output"), "hard link");
    check_contents("../precious", "old");
    leave_sticky();
    assert_null(vyre_file_replace("precious", "new", 3));
    unlink("precious");
}

/* Looks for the file that is being written, until it is told to stop. */
typedef struct look {
    atomic_bool ended;
    unsigned seen, modes; /* how often, and all bits of its modes */
} look;

static void *look_beside(void *argument) {
    look *l = argument;
    char name[64];
    while (!atomic_load(&l->ended)) {
        for (int i = 0; i < 100; i++) {
            struct stat about;
            snprintf(name, sizeof name, "secret.%ld-%d.new", (long)getpid(), i);
            if (stat(name, &about) == 0) {
                l->seen++;
                l->modes |= about.st_mode & 07777;
            }
        }
    }
    return NULL;
}

static void replace_in_place_shows_the_contents_to_nobody_else(void **state) {
    (void)state;
    enum { BYTES = 32 << 20 };
    char *large = calloc(1, BYTES);
    look l = {0};
    pthread_t thread;
    assert_non_null(large);
    write_file("secret", "old");
    assert_int_equal(chmod("secret", 0600), 0);
    assert_int_equal(link("secret", "other"), 0);
    assert_int_equal(pthread_create(&thread, NULL, look_beside, &l), 0);
    for (int i = 0; i < 4; i++) {
        assert_null(vyre_file_replace("secret", large, BYTES));
    }
    atomic_store(&l.ended, true);
    pthread_join(thread, NULL);
    assert_true(l.seen > 0);
    assert_int_equal(l.modes, 0600);
    free(large);
    unlink("secret");
    unlink("other");
}

static void replace_own_leaves_no_right_to_write_to_others(void **state) {
    (void)state;
    struct stat about;
    mode_t before = umask(0);
    assert_null(vyre_file_replace_own("own", "a", 1));
    assert_int_equal(stat("own", &about), 0);
    assert_int_equal(about.st_mode & 07777, 0644);
    assert_int_equal(chmod("own", 0666), 0);
    assert_null(vyre_file_replace_own("own", "b", 1));
    umask(before);
    assert_int_equal(stat("own", &about), 0);
    assert_int_equal(about.st_mode & 07777, 0644);
    unlink("own");
}

static void put_makes_a_file_for_this_user_alone(void **state) {
    (void)state;
    struct stat about;
    write_file("elsewhere", "old");
    assert_int_equal(symlink("elsewhere", "entry"), 0);
    int opened = open(".", O_RDONLY | O_DIRECTORY);
    mode_t before = umask(0);
    assert_null(vyre_file_put(opened, folder, "entry", "new", 3));
    umask(before);
    assert_int_equal(lstat("entry", &about), 0);
    assert_int_equal(about.st_mode, S_IFREG | 0600);
    check_contents("elsewhere", "old");
    check_contents("entry", "new");
    check_error(vyre_file_put(opened, folder, "no/entry", "new", 3), "no/entry");
    close(opened);
    unlink("elsewhere");
    unlink("entry");
}

static void devices_without_an_end_are_refused(void **state) {
    (void)state;
    static const char *const endless[] = {"/dev/zero", "/dev/urandom"};
    vyre_strbuf text = {0};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        check_error(vyre_file_read(endless[i], SIZE_MAX, &text),
                    "is a device with more than 1048576 bytes");
        assert_null(text.data);
    }
    assert_null(vyre_file_read("/dev/null", SIZE_MAX, &text));
    assert_int_equal(text.size, 0);
    vyre_strbuf_free(&text);
}

static void home_is_never_made(void **state) {
    (void)state;
    char *before = strdup(getenv("HOME") ? getenv("HOME") : "/"), home[sizeof folder + 16];
    char below[sizeof home + 32];
    snprintf(home, sizeof home, "%s/no/home", folder);
    snprintf(below, sizeof below, "%s/.config/vyre", home);
    setenv("HOME", home, 1);
    check_error(vyre_folder_make(below), "HOME is not there");
    check_error(vyre_folder_make(home), "HOME is not there");
    assert_int_not_equal(access("no", F_OK), 0);
    assert_int_equal(mkdir("no", 0700), 0);
    check_error(vyre_folder_make(below), "HOME is not there");
    assert_int_equal(rmdir("no"), 0);
    assert_null(vyre_folder_make("no-home/other")); /* what else there is */
    assert_int_equal(system("rm -r no-home && mkdir -p no/home"), 0);
    assert_null(vyre_folder_make(below));
    assert_int_equal(access(below, F_OK), 0);
    assert_int_equal(system("rm -r no"), 0);
    setenv("HOME", before, 1);
    free(before);
}

static void check_home(const char *config, const char *home, const char *path, const char *origin) {
    vyre_strbuf found = {0};
    config ? setenv("XDG_CONFIG_HOME", config, 1) : unsetenv("XDG_CONFIG_HOME");
    home ? setenv("HOME", home, 1) : unsetenv("HOME");
    const char *variable = vyre_home_path(VYRE_HOME_CONFIG, "x", &found);
    assert_string_equal(variable ? variable : "none", origin ? origin : "none");
    assert_string_equal(vyre_strbuf_string(&found), path);
    vyre_strbuf_free(&found);
}

static void home_is_an_absolute_path_or_none(void **state) {
    (void)state;
    char *before = strdup(getenv("HOME") ? getenv("HOME") : "/");
    check_home("/config", "/home", "/config/vyre/x", "XDG_CONFIG_HOME");
    check_home("config", "/house", "/house/.config/vyre/x", "HOME");
    check_home("", "/house", "/house/.config/vyre/x", "HOME");
    check_home("./config", "home", "", NULL);
    check_home(NULL, "", "", NULL);
    check_home(NULL, NULL, "", NULL);
    setenv("HOME", before, 1);
    free(before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replace_keeps_all_names_of_a_file),
        cmocka_unit_test(replace_keeps_owner_group_and_mode),
        cmocka_unit_test(replace_of_a_file_that_cannot_be_given_away_is_in_place),
        cmocka_unit_test(replace_follows_links_of_this_user),
        cmocka_unit_test(replace_does_not_follow_a_planted_link),
        cmocka_unit_test(replace_does_not_use_a_planted_file_or_pipe),
        cmocka_unit_test(replace_does_not_use_a_planted_hard_link),
        cmocka_unit_test(replace_in_place_shows_the_contents_to_nobody_else),
        cmocka_unit_test(replace_own_leaves_no_right_to_write_to_others),
        cmocka_unit_test(put_makes_a_file_for_this_user_alone),
        cmocka_unit_test(devices_without_an_end_are_refused),
        cmocka_unit_test(home_is_never_made),
        cmocka_unit_test(home_is_an_absolute_path_or_none),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
