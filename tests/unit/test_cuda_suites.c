/* The suites of conformance on the cuda backend, by the machine that runs PTX on the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "conform/suite.h"
#include "tests/ptx/device.h"
#include "tests/unit/settings.h"

enum { MOST_GROUP = 64 };

static vyre_device *oracle, *cuda;

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

static void run_suite(conform_suite_kind kind) {
    const conform_suite_runner runner = {.oracle = oracle, .device = cuda, .runs = 1};
    conform_suite suite;
    size_t compared = 0, unsupported = 0, failed = 0, group = 0;
    expect_ok(conform_suite_make(kind, &suite));
    suite.vectors = 1000; /* of floats: what runs PTX is slow */
    for (size_t first = 0, end; first < suite.case_count; first = end) {
        const conform_suite_case *cases[MOST_GROUP];
        conform_suite_result results[MOST_GROUP];
        end = conform_suite_group_end(&suite, first);
        assert_true(end - first <= MOST_GROUP);
        for (size_t i = first; i < end; i++) {
            cases[i - first] = &suite.cases[i];
        }
        if (suite.cases[first].tags & CONFORM_TAG_BIT(CONFORM_TAG_SLOW) || !test_takes(group++)) {
            continue;
        }
        expect_ok(conform_suite_run(&runner, &suite, cases, end - first, results));
        for (size_t i = 0; i < end - first; i++) {
            bool refused = results[i].verdict == CONFORM_VERDICT_UNSUPPORTED;
            compared += !refused;
            unsupported += refused;
            if (results[i].verdict) {
                print_message("%s: %s\n", cases[i]->id, results[i].text);
                failed += !refused;
            }
            vyre_free(results[i].text);
        }
    }
    print_message("%zu cases, %zu unsupported\n", compared, unsupported);
    conform_suite_free(&suite);
    assert_int_equal(failed, 0);
    assert_int_equal(unsupported, 0);
}

static void operations(void **state) {
    (void)state;
    run_suite(CONFORM_SUITE_OPERATIONS);
}

static void special_values(void **state) {
    (void)state;
    run_suite(CONFORM_SUITE_SPECIAL);
}

static void floats(void **state) {
    (void)state;
    run_suite(CONFORM_SUITE_FLOATS);
}

static void sizes(void **state) {
    (void)state;
    run_suite(CONFORM_SUITE_SIZES);
}

static int open_devices(void **state) {
    (void)state;
    const vyre_reference_options plain = {0};
    expect_ok(vyre_reference_open(&plain, &oracle));
    expect_ok(ptx_device_open(&cuda));
    return 0;
}

static int close_devices(void **state) {
    (void)state;
    vyre_device_release(oracle);
    vyre_device_release(cuda);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations),
        cmocka_unit_test(special_values),
        cmocka_unit_test(floats),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
