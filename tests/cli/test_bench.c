/* What follows from times, and every report of a made-up run while memory runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "tests/unit/failing_allocator.h"

static const char made[] = "tests/cli/bench_made.json";

static void bench_times_have_quartiles(void **state) {
    (void)state;
    double times[] = {5, 1, 4, 2, 3};
    bench_times all = bench_times_of(times, 5);
    assert_int_equal(all.runs, 5);
    assert_true(all.best == 1 && all.low == 2 && all.median == 3 && all.high == 4);
    double few[] = {4, 1};
    bench_times two = bench_times_of(few, 2);
    assert_true(two.best == 1 && two.low == 1.75 && two.median == 2.5 && two.high == 3.25);
    double one[] = {7};
    assert_true(bench_times_of(one, 1).high == 7);
    assert_int_equal(bench_times_of(one, 0).runs, 0);
}

static void bench_rates_go_by_the_device_where_it_tells_a_time(void **state) {
    (void)state;
    bench_run bench = {0};
    bench_row row = {.bytes = 1000, .work = 500, .data = VYRE_DATA_RESIDENT};
    char cpu[] = "cpu", other[] = "auto", chosen[] = "cpu";
    bench.device_count = 2;
    bench.devices[0] = (bench_device){.name = cpu, .ceiling = {.copy = {1e9, 4e9}}};
    bench.devices[1] = (bench_device){.name = other, .is_auto = true};
    row.cells[0].host = (bench_times){3, 1000, 1000, 1000, 1000};
    row.cells[1].host = (bench_times){3, 500, 500, 500, 500};
    row.cells[1].ran_on = chosen;
    bench_rates rates = bench_rates_of(&bench, &row, 0);
    assert_true(rates.bytes == 1e9 && rates.operations == 5e8 && rates.copy == 0.25);
    row.cells[0].device = (bench_times){3, 250, 250, 250, 250};
    assert_true(bench_rates_of(&bench, &row, 0).bytes == 4e9);
    /* What auto chose has the copy of that device. */
    assert_true(bench_rates_of(&bench, &row, 1).copy == 0.5);
    row.cells[0].state = BENCH_MISMATCH;
    assert_true(bench_rates_of(&bench, &row, 0).bytes == 0);
}

/* Reads, computes and reports in every form. */
static vyre_status report_all(void) {
    bench_run bench;
    bench_figures figures = {0};
    bench_comparison comparison = {0};
    vyre_strbuf texts[5] = {{0}};
    vyre_status status = bench_run_read(made, &bench);
    status = status ? status : bench_figures_make(&bench, &figures);
    status = status ? status : bench_compare(&bench, &bench, made, &comparison);
    if (!status) {
        bench_report report = {&bench, &figures, &comparison};
        bench_report_json(&report, &texts[0]);
        bench_report_table(&report, VYRE_FORMAT_TEXT, &texts[1]);
        bench_report_table(&report, VYRE_FORMAT_CSV, &texts[2]);
        bench_report_table(&report, VYRE_FORMAT_MARKDOWN, &texts[3]);
        bench_report_page(&report, &texts[4]);
    }
    for (size_t i = 0; i < 5; i++) {
        if (!status && texts[i].failed) {
            status = vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "none", "a report failed");
        }
        vyre_strbuf_free(&texts[i]);
    }
    bench_comparison_deinit(&comparison);
    bench_figures_deinit(&figures);
    bench_run_deinit(&bench);
    return status;
}

static void bench_reports_survive_failing_allocations(void **state) {
    (void)state;
    size_t tried = 0;
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_status status = report_all();
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            assert_int_equal(code, VYRE_STATUS_OK);
            break;
        }
        assert_int_equal(code, VYRE_STATUS_OUT_OF_MEMORY);
        tried++;
    }
    assert_true(tried > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bench_times_have_quartiles),
        cmocka_unit_test(bench_rates_go_by_the_device_where_it_tells_a_time),
        cmocka_unit_test(bench_reports_survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
