/* The parts of `vyre certify` that transcripts do not reach: sizes as words, memory that runs out,
 * interruptions at every point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/text.h>

#include "backend/reference/backend.h"
#include "cli/certify.h"
#include "tests/unit/failing_allocator.h"

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

static void sizes_are_exponents(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t count;
        uint64_t sizes[6];
    } rows[] = {
        {NULL, 4, {256, 4096, 65536, 1048576}},
        {"8..20", 4, {256, 4096, 65536, 1048576}},
        {"0..3:1", 4, {1, 2, 4, 8}},
        {"4..9", 3, {16, 256, 512}},
        {"6..26", 6, {64, 1024, 16384, 262144, 4194304, 67108864}},
        {"5", 1, {32}},
        {"5..5", 1, {32}},
        {"5..5:40", 1, {32}},
        {"39..40", 2, {UINT64_C(1) << 39, UINT64_C(1) << 40}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cli_sizes sizes;
        expect_ok(cli_sizes_parse(rows[i].text, &sizes));
        assert_int_equal(cli_sizes_count(&sizes), rows[i].count);
        for (size_t k = 0; k < rows[i].count; k++) {
            assert_int_equal(cli_sizes_at(&sizes, k), rows[i].sizes[k]);
        }
    }
    static const char *const wrong[] = {
        "",       "..",    "8..",   "..8",   "8..4", "41",    "8..41",  "8:2",
        "8..9:0", "8..9:", "8 ..9", "-1..3", "a..b", "8...9", "8..9:1x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cli_sizes sizes;
        vyre_status status = cli_sizes_parse(wrong[i], &sizes);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
        assert_non_null(strstr(vyre_status_text(status), "Fix: "));
        vyre_status_free(status);
    }
}

static void places_are_a_list(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool host, resident;
    } rows[] = {{NULL, true, true},
                {"host", true, false},
                {"resident", false, true},
                {"resident,host", true, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cli_places places;
        expect_ok(cli_places_parse(rows[i].text, &places));
        assert_int_equal(places.wanted[VYRE_DATA_HOST], rows[i].host);
        assert_int_equal(places.wanted[VYRE_DATA_RESIDENT], rows[i].resident);
    }
    static const char *const wrong[] = {"", "host,", ",host", "hosts", "hos", "host resident"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cli_places places;
        vyre_status status = cli_places_parse(wrong[i], &places);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
        vyre_status_free(status);
    }
}

/* A program, and the contest of the reference backend alone in it. */

static vyre_module *module;

static int parse(void **state) {
    static const char text[] = "program p(x: inout buffer<u32>) over x { x[gid] += 1; }";
    vyre_diagnostics *diagnostics;
    (void)state;
    expect_ok(vyre_diagnostics_create(&diagnostics));
    expect_ok(vyre_module_parse("p.vyre", text, sizeof text - 1, diagnostics, &module));
    vyre_diagnostics_free(diagnostics);
    return 0;
}

static int forget(void **state) {
    (void)state;
    vyre_module_free(module);
    return 0;
}

static size_t questions, patience; /* how often it was asked, and when the answer is yes */
static size_t last_done;

static bool is_interrupted(void) {
    return ++questions > patience;
}

static void step(void *user, size_t done, const char *key) {
    (void)user;
    assert_string_equal(key, "op");
    last_done = done;
}

static vyre_status hold(cli_contest *contest) {
    *contest = (cli_contest){.sizes = {2, 6, 2},
                             .places = {{true, true}},
                             .step = step,
                             .is_interrupted = is_interrupted};
    vyre_device *device = NULL;
    vyre_status status = vyre_registry_acquire(vyre_registry_default(), "reference", &device);
    if (!status && !vyre_vec_push(&contest->devices.list, device)) {
        vyre_device_release(device);
        status = vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory", "no memory");
    }
    questions = 0;
    status = status ? status : vyre_routes_create(&contest->table);
    status = status ? status : cli_contest_open(contest);
    return status ? status
                  : cli_contest_hold(
                        contest,
                        &(cli_subject){.key = "op", .program = vyre_module_program(module, 0)});
}

static size_t count_rows(const vyre_routes *table) {
    size_t count = 0;
    while (vyre_routes_class_at(table, "op", count)) {
        count++;
    }
    return count;
}

static void a_contest_measures_all_sizes(void **state) {
    (void)state;
    cli_contest contest;
    patience = SIZE_MAX;
    expect_ok(hold(&contest));
    assert_int_equal(count_rows(contest.table), 6); /* three sizes, two places */
    assert_int_equal(last_done, 2);
    assert_int_equal(contest.done, 3);
    assert_string_equal(vyre_routes_fastest(contest.table, "op"), "reference");
    assert_false(cli_route_has_wrong_bytes(contest.table, "op", &contest.devices));
    cli_contest_deinit(&contest);
}

static void a_contest_stops_when_interrupted(void **state) {
    (void)state;
    size_t most = 0;
    for (patience = 0; most < 6; patience++) {
        cli_contest contest;
        expect_ok(hold(&contest));
        size_t rows = count_rows(contest.table);
        assert_true(rows >= most && rows <= most + 1); /* never more than the next one */
        assert_null(vyre_routes_fastest(contest.table, "op"));
        assert_int_equal(contest.done, 3); /* the bar goes on behind it */
        most = rows;
        cli_contest_deinit(&contest);
    }
}

static void memory_may_run_out_in_a_contest(void **state) {
    (void)state;
    patience = SIZE_MAX;
    for (size_t n = 1; failing_allocator_start(n); n++) {
        cli_contest contest;
        vyre_status status = hold(&contest);
        bool failed = status != VYRE_OK;
        vyre_status_free(status);
        cli_contest_deinit(&contest);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            assert_false(failed);
            break;
        }
    }
}

static void memory_may_run_out_in_a_report(void **state) {
    (void)state;
    cli_contest contest;
    expect_ok(hold(&contest));
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_strbuf text = {0}, object = {0}, rows = {0};
        vyre_json json = {.text = &object};
        cli_route_steps steps = {0};
        cli_table table;
        cli_route_steps_find(&steps, contest.table, "op", NULL);
        cli_route_put_ranges(&text, &steps);
        cli_route_put_excluded(&text, contest.table, "op", NULL);
        cli_route_json(&json, contest.table, "op");
        cli_route_table_begin(&table);
        cli_route_table_add(&table, contest.table, "op");
        cli_table_write(&rows, &table, CLI_FORMAT_CSV);
        bool failed = text.failed || object.failed || rows.failed;
        cli_route_steps_free(&steps);
        vyre_strbuf_free(&text);
        vyre_strbuf_free(&object);
        vyre_strbuf_free(&rows);
        failing_allocator_stop();
        assert_int_equal(failed, failing_allocator_failed());
        if (!failed) {
            break;
        }
    }
    cli_contest_deinit(&contest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_exponents),
        cmocka_unit_test(places_are_a_list),
        cmocka_unit_test(a_contest_measures_all_sizes),
        cmocka_unit_test(a_contest_stops_when_interrupted),
        cmocka_unit_test(memory_may_run_out_in_a_contest),
        cmocka_unit_test(memory_may_run_out_in_a_report),
    };
    return cmocka_run_group_tests(tests, parse, forget);
}
