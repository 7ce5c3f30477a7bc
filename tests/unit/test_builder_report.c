/* How the builder reports: one mistake once, every mistake, each at its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/build_check.h"

#define NONE VYRE_NONE

/* One mistake leaves VYRE_NONE behind, which says no more. */
static void builder_reports_one_mistake_once(void **state) {
    (void)state;
    vyre_builder *b;
    vyre_diagnostics *diagnostics;
    vyre_program *program;
    assert_null(vyre_diagnostics_create(&diagnostics));
    assert_null(vyre_builder_create("once", &b));
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U32);
    build_phase(b, 64);
    uint32_t wrong = build_op2(b, VYRE_OP_ADD, vyre_build_u32(b, 1), vyre_build_i32(b, 1));
    assert_int_equal(wrong, NONE);
    wrong = build_op2(b, VYRE_OP_MUL, wrong, wrong);
    uint32_t variable = vyre_build_var(b, "v", wrong);
    vyre_build_set(b, variable, wrong);
    wrong = vyre_build_get(b, variable);
    vyre_build_name(b, wrong, "wrong");
    vyre_build_if(b, wrong);
    vyre_build_store(b, x, wrong, wrong);
    vyre_build_if_end(b, 0, NULL);
    uint32_t arg, result;
    vyre_build_loop(b, 1, &wrong, &arg);
    vyre_build_break(b, 1, &arg);
    vyre_build_loop_end(b, 1, &result);
    uint32_t counter = vyre_build_for(b, wrong, wrong, wrong, 1, &wrong, &arg);
    assert_int_equal(counter, NONE);
    vyre_build_continue(b, 1, &arg);
    vyre_build_loop_end(b, 1, &result);
    vyre_build_atomic(b, VYRE_OP_ATOMIC_CAS, x, wrong, wrong, wrong, VYRE_ORDERING_RELAXED,
                      VYRE_SCOPE_DEVICE);
    vyre_build_combine(b, VYRE_OP_REDUCE, VYRE_COMBINE_ADD, wrong);
    vyre_build_convert(b, VYRE_TYPE_F32, wrong);
    vyre_build_bitcast(b, VYRE_TYPE_F32, wrong);
    vyre_build_uniform_load(b, x, wrong);
    vyre_build_inline(b);
    vyre_build_return(b, 1, &wrong);
    vyre_build_inline_end(b, 1, &result);
    vyre_build_phase_end(b);
    vyre_status status = vyre_builder_finish(b, diagnostics, &program);
    for (size_t i = 1; i < vyre_diagnostics_count(diagnostics); i++) {
        fail_msg("one more: %s", vyre_diagnostics_get(diagnostics, i)->message);
    }
    assert_int_equal(build_first_error(diagnostics)->code, 302);
    vyre_status_free(status);
    vyre_builder_free(b);
    vyre_diagnostics_free(diagnostics);
}

/* All mistakes of a program, with the places they were made at. */
static void builder_reports_every_mistake_at_its_place(void **state) {
    (void)state;
    vyre_builder *b;
    vyre_diagnostics *diagnostics;
    vyre_program *program;
    assert_null(vyre_diagnostics_create(&diagnostics));
    assert_null(vyre_builder_create("places", &b));
    vyre_build_file(b, "places.vyre");
    build_phase(b, 64);
    vyre_build_at(b, 9, 3, 4);
    build_op2(b, VYRE_OP_ADD, vyre_build_u32(b, 1), vyre_build_i32(b, 1));
    vyre_build_at(b, 4, 8, 1);
    build_op2(b, VYRE_OP_NEG, vyre_build_u32(b, 1), NONE);
    vyre_build_at(b, 20, 1, 1);
    vyre_build_scope(b, "callee");
    vyre_build_at(b, 5, 2, 1);
    build_op2(b, VYRE_OP_SIN, vyre_build_u32(b, 1), NONE);
    vyre_build_scope_end(b);
    vyre_build_phase_end(b);
    vyre_status status = vyre_builder_finish(b, diagnostics, &program);
    assert_int_equal(vyre_diagnostics_errors(diagnostics), 3);
    const vyre_diagnostic *first = vyre_diagnostics_get(diagnostics, 0);
    const vyre_diagnostic *second = vyre_diagnostics_get(diagnostics, 1);
    const vyre_diagnostic *third = vyre_diagnostics_get(diagnostics, 2);
    assert_int_equal(first->code, 301);
    assert_int_equal(first->line, 4);
    assert_null(first->calls);
    assert_int_equal(second->code, 301);
    assert_string_equal(second->calls->function, "callee");
    assert_int_equal(second->calls->line, 20);
    assert_int_equal(third->code, 302);
    assert_int_equal(third->column, 3);
    assert_int_equal(third->length, 4);
    const char *file;
    uint32_t line, column;
    assert_true(vyre_status_place(status, &file, &line, &column));
    assert_string_equal(file, "places.vyre");
    assert_int_equal(line, 4);
    assert_int_equal(column, 8);
    assert_non_null(strstr(vyre_status_text(status), "the first of 3 errors"));
    vyre_status_free(status);
    vyre_builder_free(b);
    vyre_diagnostics_free(diagnostics);
}

/* Beyond a hundred errors one more says so. */
static void builder_stops_listing_errors_at_the_limit(void **state) {
    (void)state;
    vyre_builder *b;
    vyre_diagnostics *diagnostics;
    vyre_program *program;
    assert_null(vyre_diagnostics_create(&diagnostics));
    assert_null(vyre_builder_create("many", &b));
    build_phase(b, 64);
    for (uint32_t i = 1; i <= 500; i++) {
        vyre_build_at(b, i, 1, 1);
        build_op2(b, VYRE_OP_NEG, vyre_build_u32(b, 1), NONE);
    }
    vyre_build_phase_end(b);
    vyre_status status = vyre_builder_finish(b, diagnostics, &program);
    assert_int_equal(vyre_diagnostics_errors(diagnostics), VYRE_LIMIT_DIAGNOSTICS + 1);
    assert_int_equal(vyre_diagnostics_get(diagnostics, VYRE_LIMIT_DIAGNOSTICS)->code, 702);
    vyre_status_free(status);
    vyre_builder_free(b);
    vyre_diagnostics_free(diagnostics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builder_reports_one_mistake_once),
        cmocka_unit_test(builder_reports_every_mistake_at_its_place),
        cmocka_unit_test(builder_stops_listing_errors_at_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
