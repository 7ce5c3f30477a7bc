/* Where manifests are looked for, in which order, and what they may say. */
#define _GNU_SOURCE /* P_tmpdir, mkdtemp, realpath, setgroups */

#include <grp.h>
#include <sys/auxv.h>

#include "tests/unit/failing_allocator.h"
#include "tests/unit/plugin_check.h"

enum { SAW_LISTED = 1, SAW_HOME = 2, SAW_INSTALLED = 4, HAS_OTHER_RIGHTS = 8, FAILED = 16 };

static void search_goes_through_places_in_order(void **state) {
    (void)state;
    char paths[2 * PLUGIN_PATH];
    plugin_install("two", "a", "good");
    plugin_install("one", "b", "other");
    plugin_install("config/vyre/backends.d", "c", "wrong_bytes");
    plugin_install("home/.config/vyre/backends.d", "d", "bad_marker");
    snprintf(paths, sizeof paths, "%s:%s", below("two"), below("one"));
    setenv("VYRE_BACKEND_PATH", paths, 1);
    set_folder("XDG_CONFIG_HOME", "config");
    plugin_search();

    size_t count;
    const vyre_plugin_record *records = vyre_plugin_records(registry, &count);
    const struct {
        vyre_plugin_fate fate;
        const char *path, *detail;
    } expected[] = {
        {VYRE_PLUGIN_SEARCHED, below("two"), "VYRE_BACKEND_PATH"},
        {VYRE_PLUGIN_ADMITTED, below("two/a.toml"), "good"},
        {VYRE_PLUGIN_SEARCHED, below("one"), "VYRE_BACKEND_PATH"},
        {VYRE_PLUGIN_ADMITTED, below("one/b.toml"), "other"},
        {VYRE_PLUGIN_SEARCHED, below("config/vyre/backends.d"), "XDG_CONFIG_HOME"},
        {VYRE_PLUGIN_ADMITTED, below("config/vyre/backends.d/c.toml"), "wrong-bytes"},
    };
    enum { COUNT = sizeof expected / sizeof *expected };
    assert_in_range(count, COUNT + 2, SIZE_MAX); /* the system's and the installation's follow */
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(records[i].fate, expected[i].fate);
        assert_string_equal(records[i].path, expected[i].path);
        assert_string_equal(records[i].detail, expected[i].detail);
        assert_int_equal(records[i].is_folder, expected[i].fate == VYRE_PLUGIN_SEARCHED);
    }
    assert_string_equal(records[COUNT].path, "/etc/vyre/backends.d");
    assert_string_equal(records[1].library, below("two/good.so"));
    assert_false(has_backend("bad-marker")); /* $HOME/.config only without XDG_CONFIG_HOME */
}

static void search_uses_home_without_xdg(void **state) {
    (void)state;
    plugin_install("home/.config/vyre/backends.d", "d", "good");
    plugin_search();
    assert_admitted("home/.config/vyre/backends.d/d.toml", "good");
    assert_string_equal(plugin_record("home/.config/vyre/backends.d")->detail, "HOME");
}

static void search_of_a_folder_goes_by_bytes_of_names(void **state) {
    (void)state;
    static const char *const names[] = {"B", "a", "b", "a-", "10", "9", "\xc3\xa4"};
    static const char *const order[] = {"10", "9", "B", "a-", "a", "b", "\xc3\xa4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        plugin_install("all", names[i], "good");
    }
    write_text(below("all/.hidden.toml"), "not looked at");
    write_text(below("all/.toml"), "not looked at");
    write_text(below("all/notes.txt"), "not looked at");
    set_folder("VYRE_BACKEND_PATH", "all");
    plugin_search();
    size_t count;
    const vyre_plugin_record *records = vyre_plugin_records(registry, &count);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        assert_string_equal(records[i + 1].path, below("all/%s.toml", order[i]));
        assert_int_equal(records[i + 1].fate, i ? VYRE_PLUGIN_REFUSED : VYRE_PLUGIN_ADMITTED);
    }
    assert_true(records[sizeof order / sizeof *order + 1].is_folder);
}

static void search_refuses_relative_places(void **state) {
    (void)state;
    char before[PLUGIN_PATH];
    assert_non_null(getcwd(before, sizeof before));
    plugin_install("here/vyre/backends.d", "a", "good");
    plugin_install("here/.config/vyre/backends.d", "a", "good");
    assert_int_equal(chdir(below("here")), 0);
    setenv("VYRE_BACKEND_PATH", ":vyre/backends.d::.:", 1);
    setenv("XDG_CONFIG_HOME", ".", 1);
    setenv("HOME", ".", 1);
    plugin_search();
    assert_int_equal(chdir(before), 0);
    size_t count, refused = 0;
    const vyre_plugin_record *records = vyre_plugin_records(registry, &count);
    for (size_t i = 0; i < count; i++) {
        refused += records[i].fate == VYRE_PLUGIN_REFUSED && records[i].is_folder &&
                   strstr(records[i].detail, "vyre searches only absolute ones") &&
                   strstr(records[i].detail, "Fix: write an absolute path");
        assert_int_not_equal(records[i].fate, VYRE_PLUGIN_ADMITTED);
    }
    assert_int_equal(refused, 4); /* an empty part of the list is none */
    assert_string_equal(records[0].path, "vyre/backends.d");
    assert_non_null(strstr(records[0].detail, "VYRE_BACKEND_PATH has a relative path"));
    assert_string_equal(records[1].path, ".");
    assert_string_equal(records[2].path, "./vyre/backends.d");
    assert_non_null(strstr(records[2].detail, "XDG_CONFIG_HOME has a relative path"));
}

static void search_records_places_that_are_not_there(void **state) {
    (void)state;
    set_folder("VYRE_BACKEND_PATH", "nowhere");
    plugin_search();
    assert_int_equal(plugin_record("nowhere")->fate, VYRE_PLUGIN_ABSENT);
    assert_int_equal(plugin_record("home/.config/vyre/backends.d")->fate, VYRE_PLUGIN_ABSENT);
}

/* One folder under two names is searched once: its plugins are no duplicates of themselves. */
static void search_looks_into_a_folder_once(void **state) {
    (void)state;
    char paths[3 * PLUGIN_PATH];
    plugin_install("all", "a", "good");
    assert_int_equal(symlink(below("all"), below("link")), 0);
    snprintf(paths, sizeof paths, "%s:%s:%s/", below("all"), below("link"), below("all"));
    setenv("VYRE_BACKEND_PATH", paths, 1);
    plugin_search();
    assert_admitted("all/a.toml", "good");
    assert_null(find_record(below("link")));
    assert_null(find_record(below("link/a.toml")));
}

static void manifest_mistakes_are_refused_with_their_place(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *reason, *fix;
    } rows[] = {
        {"syntax", "# a\nlibrary = good.so\n", "syntax.toml:2:11", ""},
        {"key", "\nlibary = \"good.so\"\n", "key.toml:2:1: unknown key \"libary\"",
         "perhaps `library`"},
        {"table", "library = \"good.so\"\n[backend]\n", "unknown key \"backend\"", "remove it"},
        {"none", "enabled = true\n", "library", ""},
        {"type", "library = 1\n", "type.toml:1:11", ""},
        {"flag", "library = \"good.so\"\nenabled = 1\n", "flag.toml:2:11", ""},
        {"empty", "library = \"\"\n", "empty.toml:1:11: the path of the library is empty",
         "absolute or relative to the manifest"},
        {"nul", "library = \"good.so\\u0000x\"\n", "interrupted by a NUL",
         "write the library's path"},
    };
    enum { COUNT = sizeof rows / sizeof *rows };
    plugin_install("all", "a", "good");
    plugin_install("all", "z", "other");
    for (size_t i = 0; i < COUNT; i++) {
        write_text(below("all/%s.toml", rows[i].name), rows[i].text);
    }
    make_folder(below("all/folder.toml"));
    assert_int_equal(mkfifo(below("all/pipe.toml"), 0600), 0);
    set_folder("VYRE_BACKEND_PATH", "all");
    plugin_search();
    for (size_t i = 0; i < COUNT; i++) {
        assert_refused(below("all/%s.toml", rows[i].name) + strlen(place) + 1, rows[i].reason,
                       rows[i].fix);
    }
    assert_refused("all/folder.toml", "is not a regular file", "remove it");
    assert_refused("all/pipe.toml", "is not a regular file", "remove it");
    assert_admitted("all/a.toml", "good");
    assert_admitted("all/z.toml", "other");
}

static void manifest_may_disable_its_library(void **state) {
    (void)state;
    plugin_install("all", "a", "good");
    plugin_install("all", "b", "other");
    write_text(below("all/a.toml"), "library = \"good.so\"\nenabled = false\n");
    write_text(below("all/b.toml"), "library = \"other.so\"\nenabled = true\n");
    /* Not even looked at. */
    write_text(below("all/c.toml"), "library = \"absent.so\"\nenabled = false\n");
    set_folder("VYRE_BACKEND_PATH", "all");
    plugin_search();
    assert_int_equal(plugin_record("all/a.toml")->fate, VYRE_PLUGIN_DISABLED);
    assert_string_equal(plugin_record("all/a.toml")->library, below("all/good.so"));
    assert_int_equal(plugin_record("all/c.toml")->fate, VYRE_PLUGIN_DISABLED);
    assert_admitted("all/b.toml", "other");
    assert_false(has_backend("good"));
}

static void manifest_names_a_library_elsewhere(void **state) {
    (void)state;
    char text[PLUGIN_PATH + 64];
    plugin_install("libraries", "unused", "good");
    plugin_install("libraries", "unused", "other");
    make_folder(below("all"));
    write_text(below("all/relative.toml"), "library = \"../libraries/good.so\"\n");
    snprintf(text, sizeof text, "library = \"%s\"\n", below("libraries/other.so"));
    write_text(below("all/absolute.toml"), text);
    set_folder("VYRE_BACKEND_PATH", "all");
    plugin_search();
    assert_admitted("all/relative.toml", "good");
    assert_admitted("all/absolute.toml", "other");
    assert_string_equal(plugin_record("all/absolute.toml")->library, below("libraries/other.so"));
}

/* Whatever others may write to is refused: the folder, the manifest, the library, its folder. */
static void search_refuses_what_others_may_write(void **state) {
    (void)state;
    static const char *const paths[] = {"all", "all/a.toml", "libraries/good.so", "libraries"};
    plugin_install("libraries", "unused", "good");
    plugin_install("all", "z", "other");
    write_text(below("all/a.toml"), "library = \"../libraries/good.so\"\n");
    set_folder("VYRE_BACKEND_PATH", "all");
    plugin_search();
    assert_admitted("all/a.toml", "good");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        for (mode_t more = 020; more >= 02; more = more == 020 ? 02 : 0) {
            struct stat about;
            assert_int_equal(stat(below("%s", paths[i]), &about), 0);
            mode_t mode = about.st_mode & 07777;
            assert_int_equal(chmod(below("%s", paths[i]), mode | more), 0);
            plugin_search();
            assert_refused(i ? "all/a.toml" : "all", "users other than its owner may write to",
                           "chmod go-w");
            assert_non_null(
                strstr(plugin_record(i ? "all/a.toml" : "all")->detail, below("%s", paths[i])));
            assert_false(has_backend("good"));
            assert_int_equal(has_backend("other"), i != 0);
            assert_int_equal(chmod(below("%s", paths[i]), mode), 0);
        }
    }
}

/* Links are followed to where the file lies, and that folder counts. */
static void search_refuses_links_to_where_others_may_write(void **state) {
    (void)state;
    plugin_install("open", "a", "good");
    make_folder(below("all"));
    assert_int_equal(symlink(below("open/good.so"), below("all/good.so")), 0);
    assert_int_equal(symlink(below("open/a.toml"), below("all/a.toml")), 0);
    set_folder("VYRE_BACKEND_PATH", "all");
    plugin_search();
    assert_admitted("all/a.toml", "good");
    assert_int_equal(chmod(below("open"), 0777), 0);
    plugin_search();
    assert_refused("all/a.toml", below("open"), "chmod go-w");
}

static void search_refuses_what_belongs_to_others(void **state) {
    (void)state;
    if (geteuid() != 0) {
        skip(); /* only root can give files away */
    }
    plugin_install("all", "a", "good");
    set_folder("VYRE_BACKEND_PATH", "all");
    assert_int_equal(chown(below("all"), 12345, 0), 0);
    plugin_search();
    assert_refused("all", "belongs to another user, with ID 12345", "chown");
    assert_int_equal(chown(below("all"), 0, 0), 0);
    assert_int_equal(chown(below("all/good.so"), 12345, 0), 0);
    plugin_search();
    assert_refused("all/a.toml", "good.so belongs to another user, with ID 12345", "chown");
}

/* In a process of its own, which is a user without root's rights. */
static void search_refuses_what_it_may_not_read(void **state) {
    (void)state;
    plugin_install("all", "a", "good");
    plugin_install("all", "b", "other");
    plugin_install("closed", "c", "wrong_bytes");
    assert_int_equal(chmod(below("all"), 0755), 0);
    assert_int_equal(chmod(below("all/good.so"), 0), 0);
    assert_int_equal(chmod(below("all/b.toml"), 0), 0);
    assert_int_equal(chmod(below("closed"), 0), 0);
    char paths[2 * PLUGIN_PATH];
    snprintf(paths, sizeof paths, "%s:%s", below("all"), below("closed"));
    setenv("VYRE_BACKEND_PATH", paths, 1);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgroups(0, NULL) || setgid(65534) || setuid(65534))) {
            _exit(FAILED);
        }
        const vyre_plugin_record *library = NULL, *manifest = NULL, *folder = NULL;
        if (!vyre_registry_create(&registry) && !vyre_plugins_load(registry)) {
            library = find_record(below("all/a.toml"));
            manifest = find_record(below("all/b.toml"));
            folder = find_record(below("closed"));
        }
        _exit(library && manifest && folder && library->fate == VYRE_PLUGIN_REFUSED &&
                      strstr(library->detail, "good.so cannot be opened: Permission denied") &&
                      strstr(library->detail, "Fix: give this user permission to read it") &&
                      manifest->fate == VYRE_PLUGIN_REFUSED &&
                      strstr(manifest->detail, "b.toml cannot be opened: Permission denied") &&
                      folder->fate == VYRE_PLUGIN_REFUSED &&
                      strstr(folder->detail, "cannot read the folder: Permission denied")
                  ? 0
                  : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void search_survives_every_failed_allocation(void **state) {
    (void)state;
    plugin_install("all", "a", "good");
    plugin_install("all", "b", "good");
    plugin_install("all", "c", "other");
    write_text(below("all/d.toml"), "libary = 1\n");
    set_folder("VYRE_BACKEND_PATH", "all");
    plugin_search(); /* what the C library keeps of the libraries it keeps from here on */
    vyre_registry_free(registry);
    registry = NULL;
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_registry *own = NULL;
        vyre_status status = vyre_registry_create(&own);
        if (!status) {
            status = vyre_plugins_load(own);
        }
        vyre_status_code code = vyre_status_code_of(status);
        bool both =
            !status && vyre_registry_origin(own, "good") && vyre_registry_origin(own, "other");
        vyre_status_free(status);
        vyre_registry_free(own);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            assert_true(both);
            break;
        }
        /* A text that could not be made is shorter; a plugin is never lost without a word. */
        assert_true(both || code == VYRE_STATUS_OUT_OF_MEMORY);
    }
}

/* What a copy of this program sees of three plugins. */
static int run_copy(const char *program) {
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, "child", (char *)NULL);
        _exit(FAILED);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Gives the copy another user's or another group's rights; false if this user cannot. */
static bool give_other_rights(const char *program) {
    gid_t groups[64];
    if (geteuid() == 0) {
        return chown(program, 65534, 65534) == 0 && chmod(program, 04755) == 0;
    }
    int count = getgroups(64, groups);
    for (int i = 0; i < count; i++) {
        if (groups[i] != getgid() && chown(program, (uid_t)-1, groups[i]) == 0) {
            return chmod(program, 02755) == 0;
        }
    }
    return false;
}

/* A program with more rights than its user must not let that user choose the code that it runs. */
static void search_ignores_the_user_in_a_privileged_process(void **state) {
    (void)state;
    vyre_strbuf self = {0};
    plugin_install("listed", "a", "good");
    plugin_install("home/.config/vyre/backends.d", "a", "other");
    plugin_install("installed/bin/" VYRE_LIBRARY_FROM_PROGRAM "/vyre/backends.d", "a",
                   "wrong_bytes");
    make_folder(below("installed/bin"));
    char command[2 * PLUGIN_PATH];
    snprintf(command, sizeof command, "chmod -R go+rX '%s'", place);
    assert_int_equal(system(command), 0);
    set_folder("VYRE_BACKEND_PATH", "listed");
    char program[PLUGIN_PATH];
    snprintf(program, sizeof program, "%s", below("installed/bin/program"));
    assert_null(vyre_file_read("/proc/self/exe", MAX_LIBRARY, &self));
    write_file(program, self.data, self.size);
    vyre_strbuf_free(&self);
    assert_int_equal(chmod(program, 0755), 0);
    assert_int_equal(run_copy(program), SAW_LISTED | SAW_HOME | SAW_INSTALLED);
    if (!give_other_rights(program)) {
        skip(); /* a user of one group alone cannot make such a program */
    }
    int seen = run_copy(program);
    if (!(seen & HAS_OTHER_RIGHTS)) {
        skip(); /* this file system, or this container, does not honour the bit */
    }
    assert_int_equal(seen, HAS_OTHER_RIGHTS | SAW_INSTALLED);
}

/* Leaves at once: what else runs at the end, such as a leak check, may need rights it lacks. */
static void child_main(void) {
    int seen = getauxval(AT_SECURE) ? HAS_OTHER_RIGHTS : 0;
    if (vyre_registry_create(&registry) || vyre_plugins_load(registry)) {
        _exit(FAILED);
    }
    seen |= has_backend("good") ? SAW_LISTED : 0;
    seen |= has_backend("other") ? SAW_HOME : 0;
    seen |= has_backend("wrong-bytes") ? SAW_INSTALLED : 0;
    _exit(seen);
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "child") == 0) {
        child_main();
    }
    const struct CMUnitTest tests[] = {
        PLUGIN_TEST(search_goes_through_places_in_order),
        PLUGIN_TEST(search_uses_home_without_xdg),
        PLUGIN_TEST(search_of_a_folder_goes_by_bytes_of_names),
        PLUGIN_TEST(search_refuses_relative_places),
        PLUGIN_TEST(search_records_places_that_are_not_there),
        PLUGIN_TEST(search_looks_into_a_folder_once),
        PLUGIN_TEST(search_refuses_what_others_may_write),
        PLUGIN_TEST(search_refuses_links_to_where_others_may_write),
        PLUGIN_TEST(search_refuses_what_belongs_to_others),
        PLUGIN_TEST(search_refuses_what_it_may_not_read),
        PLUGIN_TEST(search_survives_every_failed_allocation),
        PLUGIN_TEST(search_ignores_the_user_in_a_privileged_process),
        PLUGIN_TEST(manifest_mistakes_are_refused_with_their_place),
        PLUGIN_TEST(manifest_may_disable_its_library),
        PLUGIN_TEST(manifest_names_a_library_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
