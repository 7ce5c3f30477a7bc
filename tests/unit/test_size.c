/* Sizes: checked arithmetic of 64 bits, with the expression in every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "ir/size.h"
#include "tests/unit/build_check.h"

/* Arguments: n (i32), m (u64), x (a buffer). The size under test is the domain. */
static vyre_program *sized(uint32_t (*build)(vyre_builder *b, uint32_t n, uint32_t m, uint32_t x)) {
    vyre_builder *b;
    vyre_program *program;
    assert_null(vyre_builder_create("sized", &b));
    uint32_t n = vyre_build_scalar(b, "n", VYRE_TYPE_I32);
    uint32_t m = vyre_build_scalar(b, "m", VYRE_TYPE_U64);
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_F32);
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {build(b, n, m, x)}});
    vyre_build_phase_end(b);
    vyre_status status = vyre_builder_finish(b, NULL, &program);
    assert_string_equal(vyre_status_text(status), "ok");
    vyre_builder_free(b);
    return program;
}

static uint32_t domain_of(const vyre_program *program) {
    return vyre_program_ir(program)->phases[0].domain[0];
}

static vyre_size_op current_op;

/* m op len(x), so that both operands are the test's */
static uint32_t build_operator(vyre_builder *b, uint32_t n, uint32_t m, uint32_t x) {
    (void)n;
    return vyre_build_size_op(b, current_op, vyre_build_size_param(b, m),
                              vyre_build_size_len(b, x));
}

static void size_operators_compute_or_refuse(void **state) {
    (void)state;
    const uint64_t most = UINT64_MAX;
    static const char too_large[] = "is larger than 64 bits can hold";
    const struct {
        vyre_size_op op;
        uint64_t left, right, result;
        const char *problem, *shown;
    } rows[] = {
        {VYRE_SIZE_ADD, 2, 3, 5, NULL, NULL},
        {VYRE_SIZE_ADD, most, 0, most, NULL, NULL},
        {VYRE_SIZE_ADD, most, 1, 0, too_large, "m + len(x)"},
        {VYRE_SIZE_ADD, most, most, 0, too_large, "m + len(x)"},
        {VYRE_SIZE_SUB, 3, 3, 0, NULL, NULL},
        {VYRE_SIZE_SUB, 3, 4, 0, "is less than zero", "m - len(x)"},
        {VYRE_SIZE_SUB, 0, most, 0, "is less than zero", "m - len(x)"},
        {VYRE_SIZE_MUL, 0, most, 0, NULL, NULL},
        {VYRE_SIZE_MUL, most, 0, 0, NULL, NULL},
        {VYRE_SIZE_MUL, most, 1, most, NULL, NULL},
        {VYRE_SIZE_MUL, 0x100000000, 0xffffffff, 0xffffffff00000000, NULL, NULL},
        {VYRE_SIZE_MUL, 0x100000000, 0x100000000, 0, too_large, "m * len(x)"},
        {VYRE_SIZE_MUL, most, 2, 0, too_large, "m * len(x)"},
        {VYRE_SIZE_DIV, 7, 2, 3, NULL, NULL},
        {VYRE_SIZE_DIV, 7, 0, 0, "divides by zero", "m / len(x)"},
        {VYRE_SIZE_REM, 7, 4, 3, NULL, NULL},
        {VYRE_SIZE_REM, 7, 0, 0, "divides by zero", "m % len(x)"},
        {VYRE_SIZE_MIN, 7, 4, 4, NULL, NULL},
        {VYRE_SIZE_MIN, 4, most, 4, NULL, NULL},
        {VYRE_SIZE_MAX, 7, 4, 7, NULL, NULL},
        {VYRE_SIZE_MAX, 4, most, most, NULL, NULL},
        {VYRE_SIZE_CEIL_DIV, 8, 4, 2, NULL, NULL},
        {VYRE_SIZE_CEIL_DIV, 9, 4, 3, NULL, NULL},
        {VYRE_SIZE_CEIL_DIV, 0, 4, 0, NULL, NULL},
        {VYRE_SIZE_CEIL_DIV, most, most - 1, 2, NULL, NULL},
        {VYRE_SIZE_CEIL_DIV, most, 1, most, NULL, NULL},
        {VYRE_SIZE_CEIL_DIV, 1, 0, 0, "divides by zero", "ceil_div(m, len(x))"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        current_op = rows[i].op;
        vyre_program *program = sized(build_operator);
        uint64_t arguments[3] = {0, rows[i].left, rows[i].right}, value = 99;
        vyre_status status = vyre_size_eval(program, domain_of(program), arguments, &value);
        if (rows[i].problem) {
            assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
            assert_non_null(strstr(vyre_status_text(status), rows[i].problem));
            assert_non_null(strstr(vyre_status_text(status), rows[i].shown));
            assert_non_null(strstr(vyre_status_text(status), "Fix: "));
            assert_int_equal(value, 0);
        } else {
            assert_string_equal(vyre_status_text(status), "ok");
            assert_true(value == rows[i].result);
        }
        vyre_status_free(status);
        vyre_program_release(program);
    }
}

static uint32_t build_signed(vyre_builder *b, uint32_t n, uint32_t m, uint32_t x) {
    (void)m;
    (void)x;
    return vyre_build_size_op(b, VYRE_SIZE_MUL, vyre_build_size_param(b, n),
                              vyre_build_size_const(b, 0));
}

static void size_refuses_a_negative_argument(void **state) {
    (void)state;
    vyre_program *program = sized(build_signed);
    uint64_t arguments[3] = {(uint64_t)-5, 0, 0}, value;
    vyre_status status = vyre_size_eval(program, domain_of(program), arguments, &value);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
    assert_non_null(strstr(vyre_status_text(status), "argument `n` is -5"));
    vyre_status_free(status);
    arguments[0] = 5;
    assert_null(vyre_size_eval(program, domain_of(program), arguments, &value));
    vyre_program_release(program);
}

static uint32_t build_unsigned(vyre_builder *b, uint32_t n, uint32_t m, uint32_t x) {
    (void)n;
    (void)x;
    return vyre_build_size_param(b, m);
}

static void size_takes_an_unsigned_argument_of_any_size(void **state) {
    (void)state;
    vyre_program *program = sized(build_unsigned);
    uint64_t arguments[3] = {0, UINT64_MAX, 0}, value;
    assert_null(vyre_size_eval(program, domain_of(program), arguments, &value));
    assert_true(value == UINT64_MAX);
    vyre_program_release(program);
}

static void size_refuses_a_number_that_is_no_size(void **state) {
    (void)state;
    vyre_program *program = sized(build_unsigned);
    uint64_t arguments[3] = {0}, value = 7;
    vyre_status status = vyre_size_eval(program, 1, arguments, &value);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
    vyre_status_free(status);
    status = vyre_size_eval(program, VYRE_NONE, arguments, &value);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(value, 0);
    vyre_status_free(status);
    vyre_program_release(program);
}

/* (n - (m - 1)) * min(x + 1, n * 2) / (x / m % 3) */
static uint32_t build_compound(vyre_builder *b, uint32_t n, uint32_t m, uint32_t x) {
    uint32_t inner = vyre_build_size_op(b, VYRE_SIZE_SUB, vyre_build_size_param(b, m),
                                        vyre_build_size_const(b, 1));
    uint32_t left = vyre_build_size_op(b, VYRE_SIZE_SUB, vyre_build_size_param(b, n), inner);
    uint32_t sum = vyre_build_size_op(b, VYRE_SIZE_ADD, vyre_build_size_len(b, x),
                                      vyre_build_size_const(b, 1));
    uint32_t twice = vyre_build_size_op(b, VYRE_SIZE_MUL, vyre_build_size_param(b, n),
                                        vyre_build_size_const(b, 2));
    uint32_t least = vyre_build_size_op(b, VYRE_SIZE_MIN, sum, twice);
    uint32_t quotient = vyre_build_size_op(b, VYRE_SIZE_DIV, vyre_build_size_len(b, x),
                                           vyre_build_size_param(b, m));
    uint32_t rest = vyre_build_size_op(b, VYRE_SIZE_REM, quotient, vyre_build_size_const(b, 3));
    uint32_t product = vyre_build_size_op(b, VYRE_SIZE_MUL, left, least);
    return vyre_build_size_op(b, VYRE_SIZE_DIV, product, rest);
}

static void size_of_many_terms_is_computed_and_shown(void **state) {
    (void)state;
    vyre_program *program = sized(build_compound);
    uint64_t arguments[3] = {10, 4, 8}, value;
    assert_null(vyre_size_eval(program, domain_of(program), arguments, &value));
    assert_int_equal(value, (10 - (4 - 1)) * 9 / (8 / 4 % 3));
    vyre_strbuf text = {0};
    vyre_size_print(&text, vyre_program_ir(program), domain_of(program));
    assert_string_equal(vyre_strbuf_string(&text),
                        "((n - (m - 1)) * min(len(x) + 1, n * 2)) / ((len(x) / m) % 3)");
    vyre_strbuf_free(&text);
    /* The part at fault is shown, not the whole. */
    arguments[1] = 0;
    vyre_status status = vyre_size_eval(program, domain_of(program), arguments, &value);
    assert_non_null(strstr(vyre_status_text(status), "the size m - 1 is less than zero"));
    vyre_status_free(status);
    vyre_program_release(program);
}

static bool leans_left;

static uint32_t build_deep(vyre_builder *b, uint32_t n, uint32_t m, uint32_t x) {
    (void)n;
    (void)m;
    (void)x;
    uint32_t size = vyre_build_size_const(b, 1);
    for (uint32_t i = 1; i < VYRE_LIMIT_EXPRESSION_NESTING; i++) {
        uint32_t one = vyre_build_size_const(b, 1);
        size = leans_left ? vyre_build_size_op(b, VYRE_SIZE_ADD, size, one)
                          : vyre_build_size_op(b, VYRE_SIZE_ADD, one, size);
    }
    return size;
}

static void size_as_deep_as_can_be_is_computed(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        leans_left = i;
        vyre_program *program = sized(build_deep);
        uint64_t arguments[3] = {0}, value;
        assert_null(vyre_size_eval(program, domain_of(program), arguments, &value));
        assert_int_equal(value, VYRE_LIMIT_EXPRESSION_NESTING);
        vyre_program_release(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_operators_compute_or_refuse),
        cmocka_unit_test(size_refuses_a_negative_argument),
        cmocka_unit_test(size_takes_an_unsigned_argument_of_any_size),
        cmocka_unit_test(size_refuses_a_number_that_is_no_size),
        cmocka_unit_test(size_of_many_terms_is_computed_and_shown),
        cmocka_unit_test(size_as_deep_as_can_be_is_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
