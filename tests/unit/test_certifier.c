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
#include "base/status.h"
#include "bench/certifier.h"
#include "bench/routes.h"
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
        {"6,16,26", 3, {64, 65536, 67108864}},
        {"6,2..3:1,3,1", 4, {2, 4, 8, 64}},
        {"39..40", 2, {UINT64_C(1) << 39, UINT64_C(1) << 40}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        values_sizes sizes;
        expect_ok(values_sizes_parse(rows[i].text, &sizes));
        assert_int_equal(values_sizes_count(&sizes), rows[i].count);
        for (size_t k = 0; k < rows[i].count; k++) {
            assert_int_equal(values_sizes_at(&sizes, k), rows[i].sizes[k]);
        }
    }
    static const char *const wrong[] = {
        "",      "..",    "8..",  "..8",   "8..4",    "41", "8..41", "8:2",  "8..9:0", "8..9:",
        "8 ..9", "-1..3", "a..b", "8...9", "8..9:1x", "6,", ",6",    "6,,7", "6,41",   "6;7"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        values_sizes sizes;
        vyre_status status = values_sizes_parse(wrong[i], &sizes);
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
        values_places places;
        expect_ok(values_places_parse(rows[i].text, &places));
        assert_int_equal(places.wanted[VYRE_DATA_HOST], rows[i].host);
        assert_int_equal(places.wanted[VYRE_DATA_RESIDENT], rows[i].resident);
    }
    static const char *const wrong[] = {"", "host,", ",host", "hosts", "hos", "host resident"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        values_places places;
        vyre_status status = values_places_parse(wrong[i], &places);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
        vyre_status_free(status);
    }
}

/* A program, and the certifier of the reference backend alone in it. */

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

static void step(void *user, uint64_t done, const char *key) {
    (void)user;
    assert_string_equal(key, "op");
    last_done = done;
}

static vyre_device *device;

static vyre_status hold(bench_certifier *certifier) {
    *certifier = (bench_certifier){.devices = &device,
                                   .device_count = 1,
                                   .sizes = {{2, 4, 6}, 3},
                                   .places = {{true, true}},
                                   .step = step,
                                   .is_interrupted = is_interrupted};
    questions = 0;
    VYRE_TRY(vyre_registry_acquire(vyre_registry_default(), "reference", &device));
    VYRE_TRY(vyre_routes_create(&certifier->table));
    VYRE_TRY(bench_certifier_open(certifier));
    return bench_certifier_measure(
        certifier, &(bench_subject){.key = "op", .program = vyre_module_program(module, 0)});
}

static void end(bench_certifier *certifier) {
    bench_certifier_deinit(certifier);
    vyre_device_release(device);
    device = NULL;
}

static size_t count_rows(const vyre_routes *table) {
    size_t count = 0;
    while (vyre_routes_class_at(table, "op", count)) {
        count++;
    }
    return count;
}

static void a_certifier_measures_all_sizes(void **state) {
    (void)state;
    bench_certifier certifier;
    patience = SIZE_MAX;
    expect_ok(hold(&certifier));
    assert_int_equal(count_rows(certifier.table), 6); /* three sizes, two places */
    assert_int_equal(last_done, 2);
    assert_int_equal(certifier.done, 3);
    assert_string_equal(vyre_routes_fastest(certifier.table, "op"), "reference");
    assert_false(bench_route_has_wrong_bytes(certifier.table, "op", &device, 1));
    end(&certifier);
}

static void a_certifier_stops_when_interrupted(void **state) {
    (void)state;
    size_t most = 0;
    for (patience = 0; most < 6; patience++) {
        bench_certifier certifier;
        expect_ok(hold(&certifier));
        size_t rows = count_rows(certifier.table);
        assert_true(rows >= most && rows <= most + 1); /* never more than the next one */
        assert_null(vyre_routes_fastest(certifier.table, "op"));
        assert_int_equal(certifier.done, 3); /* the bar goes on behind it */
        most = rows;
        end(&certifier);
    }
}

static void memory_may_run_out_in_a_certifier(void **state) {
    (void)state;
    patience = SIZE_MAX;
    for (size_t n = 1; failing_allocator_start(n); n++) {
        bench_certifier certifier;
        vyre_status status = hold(&certifier);
        bool failed = status != VYRE_OK;
        vyre_status_free(status);
        end(&certifier);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            assert_false(failed);
            break;
        }
    }
}

static void memory_may_run_out_in_a_report(void **state) {
    (void)state;
    bench_certifier certifier;
    expect_ok(hold(&certifier));
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_strbuf text = {0}, object = {0}, rows = {0};
        vyre_json json = {.text = &object};
        bench_route_steps steps = {0};
        vyre_table table;
        bench_route_steps_find(&steps, certifier.table, "op", NULL, 0);
        bench_route_put_ranges(&text, &steps);
        bench_route_put_excluded(&text, certifier.table, "op", NULL, 0);
        bench_routes_json(&json, certifier.table, "op");
        bench_routes_table_begin(&table);
        bench_routes_table_add(&table, certifier.table, "op");
        vyre_table_write(&rows, &table, VYRE_FORMAT_CSV);
        bool failed = text.failed || object.failed || rows.failed;
        bench_route_steps_free(&steps);
        vyre_strbuf_free(&text);
        vyre_strbuf_free(&object);
        vyre_strbuf_free(&rows);
        failing_allocator_stop();
        assert_int_equal(failed, failing_allocator_failed());
        if (!failed) {
            break;
        }
    }
    end(&certifier);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_exponents),
        cmocka_unit_test(places_are_a_list),
        cmocka_unit_test(a_certifier_measures_all_sizes),
        cmocka_unit_test(a_certifier_stops_when_interrupted),
        cmocka_unit_test(memory_may_run_out_in_a_certifier),
        cmocka_unit_test(memory_may_run_out_in_a_report),
    };
    return cmocka_run_group_tests(tests, parse, forget);
}
