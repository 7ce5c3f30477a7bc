/* Tables of routes on disk: shape, damage, merging, and what happens without memory. */
#define _DEFAULT_SOURCE /* mkdtemp, setrlimit */

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/random.h"
#include "base/toml.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/route_check.h"

static vyre_status certify(vyre_routes *table, const char *op, runner *a, runner *b) {
    const vyre_route_candidate candidates[] = {{a->device, program},
                                               {b ? b->device : NULL, program}};
    return vyre_routes_certify(table, op, candidates, b ? 2 : 1, &route_input, 1, NULL, NULL);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void expect_file(const char *path, const char *text) {
    vyre_strbuf found = {0};
    expect_ok(vyre_file_read(path, 1 << 20, &found));
    assert_string_equal(vyre_strbuf_string(&found), text);
    vyre_strbuf_free(&found);
}

static vyre_routes *load(const char *path) {
    vyre_routes *table;
    expect_ok(vyre_routes_load(path, &table));
    table->clock = test_clock;
    return table;
}

/* Equal as a whole: the texts are. */
static void expect_equal(const vyre_routes *left, const vyre_routes *right) {
    vyre_strbuf a = {0}, b = {0};
    expect_ok(vyre_routes_encode(left, &a));
    expect_ok(vyre_routes_encode(right, &b));
    assert_string_equal(vyre_strbuf_string(&a), vyre_strbuf_string(&b));
    vyre_strbuf_free(&a);
    vyre_strbuf_free(&b);
}

static void load_S115_a_missing_file_is_an_empty_table(void **state) {
    (void)state;
    vyre_routes *table = load(route_path("nowhere/pgo.toml"));
    assert_int_equal(vyre_routes_count(table), 0);
    assert_null(vyre_routes_op_at(table, 0));
    vyre_routes_free(table);
    assert_int_not_equal(access(route_path("nowhere"), F_OK), 0);
}

/* Its fix comes from us, not from who noticed. */
static void expect_refused(const char *path, vyre_status_code code, const char *fix) {
    vyre_routes *table = (vyre_routes *)(uintptr_t)1;
    vyre_status status = vyre_routes_load(path, &table);
    assert_non_null(status);
    assert_null(table);
    if (vyre_status_code_of(status) != code || !strstr(vyre_status_message(status), path) ||
        !strstr(vyre_status_fix(status), fix) || !strstr(vyre_status_text(status), "Fix: ")) {
        fail_msg("%s", vyre_status_text(status));
    }
    vyre_status_free(status);
}

static void load_S116_damage_and_trouble_name_the_path_and_a_fix(void **state) {
    (void)state;
    const char *path = route_path("damaged.toml");
    static const char *const damaged[] = {
        "[routes",
        "routes = 1",
        "[routes]\na = 1",
        "[routes.a]\nobservations = []",
        "[routes.a]\nbackend = 1\nobservations = []",
        "[routes.a]\nbackend = \"x\"",
        "[routes.a]\nbackend = \"x\"\nobservations = 1",
        "[routes.a]\nbackend = \"x\"\nobservations = [1]",
        "[routes.a]\nbackend = \"x\"\nobservations = [{backend = \"x\"}]",
        "[routes.a]\nbackend = \"x\"\nobservations = [{latency_ns = 1}]",
        "[routes.a]\nbackend = \"x\"\nobservations = [{backend = \"x\", latency_ns = -1}]",
        "[routes.a]\nbackend = \"x\"\nobservations = [{backend = \"x\", latency_ns = 1.5}]",
        "[routes.a]\nbackend = \"x\"\nobservations = [{backend = \"x\", latency_ns = "
        "9223372036854775808}]",
        "[routes.a]\nbackend = \"x\\u0000y\"\nobservations = []",
        "[routes.\"\"]\nbackend = \"x\"\nobservations = []",
        "[routes.\"a\\u0000\"]\nbackend = \"x\"\nobservations = []",
        "classes = 1",
        "[classes]\na = 1",
        "[[classes.a]]\ndata = \"host\"",
        "[[classes.a]]\ndata = \"lost\"\nclass = 1\nbackend = \"\"\ndevice = \"\"\ndriver = "
        "\"\"\nlatency_ns = 1",
        "[[classes.a]]\ndata = \"host\"\nclass = 64\nbackend = \"\"\ndevice = \"\"\ndriver = "
        "\"\"\nlatency_ns = 1",
        "[[excluded.a]]\nbackend = \"x\"",
        "[[excluded.a]]\nbackend = \"x\"\ndevice = \"\"\ndriver = \"\"\ncause = \"mood\"\nreason = "
        "\"\"",
        "[[excluded.a]]\nbackend = \"x\"\ndevice = \"\"\ndriver = \"\"\ncause = \"time\"\nreason = "
        "\"\"\nclass = 3",
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        write_file(path, damaged[i]);
        expect_refused(path, VYRE_STATUS_MALFORMED, "regenerate it with the cert gate");
        /* It is not overwritten by who did not read it. */
        vyre_routes *table = route_table();
        vyre_status status = vyre_routes_save(table, path);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_MALFORMED);
        vyre_status_free(status);
        vyre_routes_free(table);
        expect_file(path, damaged[i]);
    }
    expect_refused(route_folder, VYRE_STATUS_IO, "make ~/.config/vyre readable");
    assert_int_equal(truncate(path, VYRE_TOML_MAX_BYTES + 1), 0);
    expect_refused(path, VYRE_STATUS_IO, "remove the file, or entries that are not needed");
    unlink(path);
    /* Nobody waits for a pipe, and nobody replaces one. */
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refused(path, VYRE_STATUS_IO, "make ~/.config/vyre readable: name a file");
    vyre_routes *table = route_table();
    vyre_status status = vyre_routes_save(table, path);
    assert_non_null(
        strstr(vyre_status_text(status), "a pipe or a device, not a file of routes. Fix: "));
    vyre_status_free(status);
    vyre_routes_free(table);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
    unlink(path);
}

static void expect_unsaved(vyre_routes *table, const char *path, const char *what,
                           const char *fix) {
    vyre_status status = vyre_routes_save(table, path);
    assert_non_null(status);
    if (!strstr(vyre_status_message(status), what) || !strstr(vyre_status_fix(status), fix)) {
        fail_msg("%s", vyre_status_text(status));
    }
    vyre_status_free(status);
}

static void save_S117_makes_folders_and_says_what_it_cannot_do(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *a = runner_open(&(mock_spec){.id = "a"}, 5);
    expect_ok(certify(table, "some.op", a, NULL));
    const char *path = route_path("new/er/pgo.toml");
    static const char pretty[] = "\n[routes.\"some.op\"]\n"
                                 "backend = \"a\"\n"
                                 "\n"
                                 "[[routes.\"some.op\".observations]]\n"
                                 "backend = \"a\"\n"
                                 "latency_ns = 5\n"
                                 "\n"
                                 "[winners.\"some.op\"]\n"
                                 "backend = \"a\"\n"
                                 "device = \"\"\n"
                                 "driver = \"1\"\n";
    expect_ok(vyre_routes_save(table, path));
    expect_file(path, pretty + 1);
    /* The folder. */
    write_file(route_path("file"), "");
    expect_unsaved(table, route_path("file/x/pgo.toml"), "make the folder",
                   "make ~/.config/vyre writable");
    /* Writing: as on a disk that is full. */
    struct rlimit before, none = {0, RLIM_INFINITY};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    none.rlim_max = before.rlim_max;
    a->usual_ns = 6;
    expect_ok(certify(table, "some.op", a, NULL));
    setrlimit(RLIMIT_FSIZE, &none);
    expect_unsaved(table, path, "cannot write the routes", "make ~/.config/vyre writable");
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    expect_file(path, pretty + 1); /* the old one is whole */
    expect_ok(vyre_routes_save(table, path));
    vyre_routes *again = load(path); /* and what could not be saved is not forgotten */
    assert_int_equal(vyre_routes_find(again, "some.op")->observations[0].latency_ns, 6);
    vyre_routes_free(again);
    /* Encoding. */
    expect_ok(certify(table, "bad\xff", a, NULL));
    expect_unsaved(table, path, "cannot encode", "UTF-8");
    vyre_routes_free(table);
}

static const char *random_text(uint64_t *random, char room[24]) {
    static const char *const parts[] = {"a", "b.c", "\"", "\\",   "\n", " ",  "'", "=",
                                        "[", "#",   "é",  "\x7f", "\t", "日", "_", "0"};
    room[0] = '\0';
    for (uint64_t i = 1 + vyre_random_below(random, 5); i; i--) {
        strcat(room, parts[vyre_random_below(random, sizeof parts / sizeof *parts)]);
    }
    return room;
}

static uint64_t random_latency(uint64_t *random) {
    uint64_t bits = vyre_random_below(random, 64);
    return bits == 63 ? INT64_MAX : vyre_random(random) & ((UINT64_C(1) << bits) - 1);
}

static vyre_identity random_identity(uint64_t *random, char rooms[3][24]) {
    return (vyre_identity){random_text(random, rooms[0]),
                           vyre_random_below(random, 2) ? random_text(random, rooms[1]) : "",
                           random_text(random, rooms[2])};
}

static void put_random(vyre_routes *table, uint64_t *random) {
    char op[24], backends[4][24], rooms[2][3][24], reason[24], winner[2][24];
    vyre_latency latencies[4];
    vyre_exclusion excluded[2];
    size_t count = vyre_random_below(random, 5), excluded_count = vyre_random_below(random, 3);
    for (size_t i = 0; i < count; i++) {
        latencies[i] = (vyre_latency){random_text(random, backends[i]), random_latency(random)};
    }
    for (size_t i = 0; i < excluded_count; i++) {
        excluded[i] = (vyre_exclusion){random_identity(random, rooms[i]),
                                       (vyre_exclusion_cause)vyre_random_below(random, 3),
                                       random_text(random, reason), VYRE_NO_CLASS, 0};
    }
    random_text(random, op);
    if (vyre_random_below(random, 2)) {
        expect_ok(vyre_routes_put_route(
            table,
            &(vyre_route){op, count && vyre_random_below(random, 2) ? backends[0] : NULL, latencies,
                          count, excluded, excluded_count,
                          vyre_random_below(random, 2) ? random_text(random, winner[0]) : NULL,
                          random_text(random, winner[1])},
            NULL, NULL, true));
    }
    for (uint64_t i = vyre_random_below(random, 6); i; i--) {
        const vyre_route_measured row = {
            .row = {.who = random_identity(random, rooms[0]),
                    .data = (vyre_data)vyre_random_below(random, 2),
                    .size_class = (uint32_t)vyre_random_below(random, 64),
                    .latency_ns = random_latency(random)},
            .is_new = true};
        const vyre_route_banned ban = {
            .exclusion = {random_identity(random, rooms[1]),
                          (vyre_exclusion_cause)vyre_random_below(random, 3),
                          random_text(random, reason), (uint32_t)vyre_random_below(random, 64),
                          (vyre_data)vyre_random_below(random, 2)},
            .is_new = true};
        expect_ok(vyre_routes_put_classes(table, op, &row, 1, &ban, 1));
    }
}

/* Field by field, by what users see. */
static void expect_same_routes(const vyre_routes *left, const vyre_routes *right) {
    assert_int_equal(vyre_routes_count(left), vyre_routes_count(right));
    for (size_t i = 0; i < vyre_routes_count(left); i++) {
        const vyre_route *a = vyre_routes_at(left, i), *b = vyre_routes_at(right, i);
        assert_string_equal(a->op, b->op);
        assert_int_equal(!a->backend, !b->backend);
        assert_string_equal(a->backend ? a->backend : "", b->backend ? b->backend : "");
        assert_int_equal(a->observation_count, b->observation_count);
        for (size_t k = 0; k < a->observation_count; k++) {
            assert_string_equal(a->observations[k].backend, b->observations[k].backend);
            assert_true(a->observations[k].latency_ns == b->observations[k].latency_ns);
        }
        assert_int_equal(!a->device, !b->device);
        assert_string_equal(a->device ? a->device : "", b->device ? b->device : "");
        assert_string_equal(a->device ? a->driver : "", b->device ? b->driver : "");
        assert_int_equal(a->excluded_count, b->excluded_count);
        for (size_t k = 0; k < a->excluded_count; k++) {
            assert_true(vyre_identity_same(&a->excluded[k].who, &b->excluded[k].who));
            assert_string_equal(a->excluded[k].reason, b->excluded[k].reason);
            assert_int_equal(a->excluded[k].cause, b->excluded[k].cause);
        }
    }
    for (size_t i = 0; vyre_routes_op_at(left, i); i++) {
        const char *op = vyre_routes_op_at(left, i);
        assert_string_equal(op, vyre_routes_op_at(right, i));
        const vyre_class_row *a, *b;
        for (size_t k = 0; (a = vyre_routes_class_at(left, op, k)); k++) {
            b = vyre_routes_class_at(right, op, k);
            assert_true(b && vyre_identity_same(&a->who, &b->who) && a->data == b->data &&
                        a->size_class == b->size_class && a->latency_ns == b->latency_ns);
        }
    }
}

static void save_refuses_what_nobody_could_read_again(void **state) {
    (void)state;
    const char *path = route_path("large.toml");
    char *reason = calloc(VYRE_TOML_MAX_BYTES + 1, 1);
    assert_non_null(reason);
    memset(reason, 'x', VYRE_TOML_MAX_BYTES);
    vyre_routes *table = route_table();
    const vyre_route_banned ban = {
        .exclusion = {.who = {"a", "", ""}, .reason = reason, .size_class = 3}, .is_new = true};
    expect_ok(vyre_routes_put_classes(table, "some.op", NULL, 0, &ban, 1));
    expect_unsaved(table, path, "take more than 16777216 bytes", "remove the file");
    assert_int_not_equal(access(path, F_OK), 0);
    vyre_routes_free(table);
    free(reason);
}

static void save_S118_then_load_gives_an_equal_table(void **state) {
    (void)state;
    uint64_t random = 118;
    for (int i = 0; i < 60; i++) {
        vyre_routes *table = route_table();
        for (uint64_t k = vyre_random_below(&random, 12); k; k--) {
            put_random(table, &random);
        }
        const char *path = route_path("equal.toml");
        expect_ok(vyre_routes_save(table, path));
        vyre_routes *again = load(path);
        expect_same_routes(table, again);
        expect_equal(table, again);
        vyre_routes_free(again);
        vyre_routes_free(table);
        unlink(path);
    }
}

static void expect_default(const char *config, const char *home, const char *expected) {
    char *path;
    config ? setenv("XDG_CONFIG_HOME", config, 1) : unsetenv("XDG_CONFIG_HOME");
    home ? setenv("HOME", home, 1) : unsetenv("HOME");
    expect_ok(vyre_routes_default_path(&path));
    assert_string_equal(path ? path : "none", expected);
    vyre_routes_path_free(path);
}

static void path_S119_by_default(void **state) {
    (void)state;
    expect_default("/config", "/home", "/config/vyre/pgo.toml");
    expect_default("/config", NULL, "/config/vyre/pgo.toml");
    expect_default(NULL, "/house", "/house/.config/vyre/pgo.toml");
    expect_default("", "/house", "/house/.config/vyre/pgo.toml"); /* empty counts as not set */
    expect_default("config", "/house", "/house/.config/vyre/pgo.toml"); /* relative does, too */
    expect_default(NULL, NULL, "none"); /* and not the working directory */
    expect_default("", "", "none");
    expect_default("config", "house", "none");
}

static void expect_not_trusted(const char *path, const char *why) {
    vyre_routes *table;
    vyre_status status = vyre_routes_load(path, &table);
    assert_null(table);
    if (!status || !strstr(vyre_status_text(status), why)) {
        fail_msg("%s", vyre_status_text(status));
    }
    vyre_status_free(status);
}

/* Routes decide which device runs a program. */
static void load_S119_refuses_routes_that_others_may_write(void **state) {
    (void)state;
    struct stat about;
    char path[512], folder[512];
    snprintf(folder, sizeof folder, "%s", route_path("open"));
    snprintf(path, sizeof path, "%s", route_path("open/pgo.toml"));
    vyre_routes *table = route_table();
    mode_t before = umask(0);
    expect_ok(vyre_routes_save(table, path));
    umask(before);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0644);
    vyre_routes_free(load(path));
    assert_int_equal(chmod(path, 0664), 0);
    expect_not_trusted(path, "users other than its owner may write to");
    vyre_status status = vyre_routes_save(table, path); /* nor are they merged into ours */
    assert_non_null(status);
    vyre_status_free(status);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    expect_not_trusted(path, "users other than its owner may write to");
    assert_int_equal(chmod(folder, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 65534, 65534), 0);
        expect_not_trusted(path, "belongs to another user, with ID 65534");
    } else {
        printf("unavailable: only root can stand for two users\n");
    }
    vyre_routes_free(table);
    assert_int_equal(unlink(path), 0);
    unlink(route_path("open/pgo.toml.lock"));
    assert_int_equal(rmdir(folder), 0);
}

static void file_S120_has_routes_with_backend_and_observations(void **state) {
    (void)state;
    vyre_routes *table = route_table();
    runner *cpu = runner_open(&(mock_spec){.id = "cpu"}, 50);
    runner *gpu =
        runner_open(&(mock_spec){.id = "gpu", .profile = {.device = "G", .driver = "9"}}, 20);
    expect_ok(certify(table, "reduce.sum_u32", cpu, gpu));
    gpu->wrong_byte = 1;
    expect_ok(certify(table, "plain", cpu, gpu));
    const vyre_route_candidate one = {cpu->device, program};
    expect_ok(vyre_routes_measure(table, "reduce.sum_u32", VYRE_DATA_HOST, &one, 1, &route_input, 1,
                                  NULL, NULL));
    const char *path = route_path("shape.toml");
    expect_ok(vyre_routes_save(table, path));
    expect_file(
        path,
        "[routes.plain]\n"
        "backend = \"\"\n"
        "\n"
        "[[routes.plain.observations]]\n"
        "backend = \"gpu\"\n"
        "latency_ns = 20\n"
        "\n"
        "[[routes.plain.observations]]\n"
        "backend = \"cpu\"\n"
        "latency_ns = 50\n"
        "\n"
        "[routes.\"reduce.sum_u32\"]\n"
        "backend = \"gpu\"\n"
        "\n"
        "[[routes.\"reduce.sum_u32\".observations]]\n"
        "backend = \"gpu\"\n"
        "latency_ns = 20\n"
        "\n"
        "[[routes.\"reduce.sum_u32\".observations]]\n"
        "backend = \"cpu\"\n"
        "latency_ns = 50\n"
        "\n"
        "[winners.\"reduce.sum_u32\"]\n"
        "backend = \"gpu\"\n"
        "device = \"G\"\n"
        "driver = \"9\"\n"
        "\n"
        "[[excluded.plain]]\n"
        "backend = \"cpu\"\n"
        "device = \"\"\n"
        "driver = \"1\"\n"
        "cause = \"bytes\"\n"
        "reason = \"its bytes differ from those of `gpu`: byte 0 of output 0 is 0x02, not 0x82, "
        "and there is no oracle to say which are right\"\n"
        "\n"
        "[[excluded.plain]]\n"
        "backend = \"gpu\"\n"
        "device = \"G\"\n"
        "driver = \"9\"\n"
        "cause = \"bytes\"\n"
        "reason = \"its bytes differ from those of `cpu`: byte 0 of output 0 is 0x82, not 0x02, "
        "and there is no oracle to say which are right\"\n"
        "\n"
        "[[classes.\"reduce.sum_u32\"]]\n"
        "data = \"host\"\n"
        "class = 6\n"
        "backend = \"cpu\"\n"
        "device = \"\"\n"
        "driver = \"1\"\n"
        "latency_ns = 50\n");
    vyre_routes_free(table);
    /* And a file that knows of nothing else, in another order and form. */
    write_file(path, "routes.b = {observations = [{latency_ns = 7, backend = \"x\"}], backend = "
                     "\"x\"}\n[routes.a]\nbackend = \"y\"\nobservations = []\n");
    table = load(path);
    assert_int_equal(vyre_routes_count(table), 2);
    assert_string_equal(vyre_routes_at(table, 0)->op, "a");
    assert_string_equal(vyre_routes_fastest(table, "a"), "y");
    assert_int_equal(vyre_routes_at(table, 1)->observations[0].latency_ns, 7);
    vyre_routes_free(table);
    unlink(path);
}

static void keys_of_a_newer_version_are_kept(void **state) {
    (void)state;
    const char *path = route_path("newer.toml");
    static const char newer[] = "format = 2\n"
                                "future = {a = [1, {b = \"x\\u0000\"}], when = 2030-01-02}\n"
                                "\n"
                                "[routes.kept]\n"
                                "backend = \"x\"\n"
                                "spread = 0.5\n"
                                "\n"
                                "[[routes.kept.observations]]\n"
                                "backend = \"x\"\n"
                                "latency_ns = 1\n"
                                "runs = 9\n"
                                "\n"
                                "[[excluded.kept]]\n"
                                "backend = \"x\"\n"
                                "device = \"\"\n"
                                "driver = \"\"\n"
                                "cause = \"time\"\n"
                                "reason = \"r\"\n"
                                "since = 1979-05-27T07:32:00Z\n"
                                "\n"
                                "[[excluded.kept]]\n"
                                "backend = \"x\"\n"
                                "device = \"\"\n"
                                "driver = \"\"\n"
                                "cause = \"time\"\n"
                                "reason = \"r\"\n"
                                "data = \"host\"\n"
                                "class = 5\n"
                                "more = true\n"
                                "\n"
                                "[[classes.kept]]\n"
                                "data = \"resident\"\n"
                                "class = 5\n"
                                "backend = \"y\"\n"
                                "device = \"\"\n"
                                "driver = \"\"\n"
                                "latency_ns = 3\n"
                                "joules = 1.5\n";
    write_file(path, newer);
    vyre_routes *table = load(path);
    assert_int_equal(vyre_routes_find(table, "kept")->excluded_count, 1);
    expect_ok(vyre_routes_save(table, path));
    expect_file(path, newer);
    runner *a = runner_open(&(mock_spec){.id = "a"}, 5);
    expect_ok(certify(table, "another", a, NULL));
    expect_ok(vyre_routes_save(table, path));
    vyre_routes *again = load(path);
    expect_equal(table, again);
    vyre_strbuf text = {0};
    expect_ok(vyre_file_read(path, 1 << 20, &text));
    static const char *const kept[] = {"format = 2\n",
                                       "future = {",
                                       "spread = 0.5\n",
                                       "runs = 9\n",
                                       "more = true\n",
                                       "joules = 1.5\n",
                                       "since = 1979-05-27T07:32:00Z\n"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        assert_non_null(strstr(text.data, kept[i]));
    }
    vyre_strbuf_free(&text);
    vyre_routes_free(again);
    /* A new measurement is not what the old one's keys speak of. */
    expect_ok(certify(table, "kept", a, NULL));
    expect_ok(vyre_routes_save(table, path));
    expect_ok(vyre_file_read(path, 1 << 20, &text));
    assert_null(strstr(text.data, "spread"));
    assert_null(strstr(text.data, "runs = 9"));
    assert_non_null(strstr(text.data, "joules = 1.5\n"));
    vyre_strbuf_free(&text);
    vyre_routes_free(table);
    unlink(path);
}

static void saves_merge_and_the_last_certification_of_an_op_wins(void **state) {
    (void)state;
    const char *path = route_path("merge.toml");
    runner *a = runner_open(&(mock_spec){.id = "a"}, 5);
    runner *b = runner_open(&(mock_spec){.id = "b"}, 6);
    const vyre_route_candidate of_a = {a->device, program}, of_b = {b->device, program};
    vyre_routes *one = load(path), *two = load(path);
    expect_ok(certify(one, "shared", a, NULL));
    expect_ok(certify(one, "ones", a, NULL));
    expect_ok(
        vyre_routes_measure(one, "shared", VYRE_DATA_HOST, &of_a, 1, &route_input, 1, NULL, NULL));
    expect_ok(certify(two, "twos", b, NULL));
    expect_ok(
        vyre_routes_measure(two, "shared", VYRE_DATA_HOST, &of_b, 1, &route_input, 1, NULL, NULL));
    expect_ok(vyre_routes_save(one, path));
    expect_ok(vyre_routes_save(two, path));
    assert_int_equal(vyre_routes_count(two), 3); /* it knows now what the other saved */
    assert_string_equal(vyre_routes_fastest(two, "ones"), "a");
    assert_non_null(vyre_routes_class_at(two, "shared", 1));
    /* What `one` has is old by now; it did not certify it again. */
    expect_ok(certify(two, "shared", b, NULL));
    expect_ok(vyre_routes_save(two, path));
    expect_ok(vyre_routes_save(one, path));
    assert_string_equal(vyre_routes_fastest(one, "shared"), "b");
    assert_string_equal(vyre_routes_fastest(one, "twos"), "b");
    /* An exclusion takes a row with it, also on disk. */
    b->wrong_byte = 1;
    const vyre_route_candidate both[] = {of_a, of_b};
    expect_ok(vyre_routes_measure(one, "shared", VYRE_DATA_HOST, both, 2, &route_input, 1,
                                  &(vyre_certify_options){.oracle = &of_a}, NULL));
    expect_ok(vyre_routes_save(one, path));
    expect_ok(vyre_routes_save(two, path));
    assert_null(vyre_routes_class_at(two, "shared", 1));
    assert_non_null(vyre_routes_class_excluded_at(two, "shared", 0));
    vyre_routes_free(one);
    vyre_routes_free(two);
    unlink(path);
}

static size_t count_files(const char *folder, const char *end) {
    size_t count = 0;
    DIR *opened = opendir(folder);
    assert_non_null(opened);
    for (struct dirent *item; (item = readdir(opened));) {
        size_t size = strlen(item->d_name), end_size = strlen(end);
        count += size >= end_size && !strcmp(item->d_name + size - end_size, end);
    }
    closedir(opened);
    return count;
}

static void what_killed_processes_left_behind_goes(void **state) {
    (void)state;
    const char *path = route_path("left/pgo.toml"), *folder = route_path("left");
    vyre_routes *table = route_table();
    expect_ok(vyre_routes_save(table, path));
    write_file(route_path("left/pgo.toml.123-0.new"), "half");
    write_file(route_path("left/pgo.toml.99-7.new"), "");
    write_file(route_path("left/another.new"), "");
    assert_int_equal(count_files(folder, ".new"), 3);
    expect_ok(vyre_routes_save(table, path));
    assert_int_equal(count_files(folder, ".new"), 1);
    /* Through a link it is the same file, with the same lock. */
    assert_int_equal(symlink(path, route_path("left/link.toml")), 0);
    runner *a = runner_open(&(mock_spec){.id = "a"}, 5);
    expect_ok(certify(table, "some.op", a, NULL));
    expect_ok(vyre_routes_save(table, route_path("left/link.toml")));
    assert_int_equal(count_files(folder, ".lock"), 1);
    vyre_routes *again = load(path);
    assert_int_equal(vyre_routes_count(again), 1);
    vyre_routes_free(again);
    vyre_routes_free(table);
}

/* Each allocation may fail: then nothing changed, neither the table nor the file. */
static void without_memory_nothing_changes(void **state) {
    (void)state;
    const char *path = route_path("memory.toml");
    runner *a = runner_open(&(mock_spec){.id = "a", .slots = MOCK_RESIDENT}, 5);
    runner *b = runner_open(&(mock_spec){.id = "b", .slots = MOCK_RESIDENT}, 6);
    const vyre_route_candidate both[] = {{a->device, program}, {b->device, program}};
    const vyre_certify_options options = {.oracle = &both[0]};
    vyre_routes *table = route_table();
    expect_ok(certify(table, "before", a, NULL));
    expect_ok(vyre_routes_save(table, path));
    vyre_routes_free(table);
    expect_works(a->device); /* what devices keep is kept by now */
    expect_works(b->device);
    b->wrong_byte = 1;
    bool failed = true;
    size_t n = 1;
    vyre_strbuf before = {0};
    expect_ok(vyre_file_read(path, 1 << 20, &before));
    for (; failed; n++) {
        write_file(path, before.data); /* a save may do without some of the memory */
        failing_allocator_start(n);
        vyre_status status = vyre_routes_load(path, &table);
        if (!status) {
            table->clock = test_clock;
            status = vyre_routes_certify(table, "new", both, 2, &route_input, 1, &options, NULL);
            assert_int_equal(!status, vyre_routes_find(table, "new") != NULL);
        }
        if (!status) {
            status = vyre_routes_measure(table, "new", VYRE_DATA_HOST, both, 2, &route_input, 1,
                                         &options, NULL);
            assert_int_equal(!status, vyre_routes_class_at(table, "new", 0) != NULL);
            assert_int_equal(!status, vyre_routes_class_excluded_at(table, "new", 0) != NULL);
        }
        if (!status) {
            status = vyre_routes_save(table, path);
        }
        vyre_routes_free(table);
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        failing_allocator_stop();
        failed = failing_allocator_failed();
        assert_true(code == VYRE_STATUS_OK || (failed && code == VYRE_STATUS_OUT_OF_MEMORY));
        vyre_routes *found = load(path);
        assert_in_range(vyre_routes_count(found), failed ? 1 : 2, 2);
        assert_non_null(vyre_routes_find(found, "before"));
        vyre_routes_free(found);
    }
    vyre_strbuf_free(&before);
    assert_true(n > 30);
    vyre_routes *found = load(path);
    assert_string_equal(vyre_routes_fastest(found, "new"), "a");
    assert_int_equal(vyre_routes_find(found, "new")->excluded_count, 1);
    vyre_routes_free(found);
    unlink(path);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, route_set_up, route_tear_down)
        TEST(load_S115_a_missing_file_is_an_empty_table),
        TEST(load_S116_damage_and_trouble_name_the_path_and_a_fix),
        TEST(save_S117_makes_folders_and_says_what_it_cannot_do),
        TEST(save_refuses_what_nobody_could_read_again),
        TEST(save_S118_then_load_gives_an_equal_table),
        TEST(path_S119_by_default),
        TEST(load_S119_refuses_routes_that_others_may_write),
        TEST(file_S120_has_routes_with_backend_and_observations),
        TEST(keys_of_a_newer_version_are_kept),
        TEST(saves_merge_and_the_last_certification_of_an_op_wins),
        TEST(what_killed_processes_left_behind_goes),
        TEST(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, route_remove_folder);
}
