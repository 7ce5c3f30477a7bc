/* Unrolling and promotion stay within bounds, whatever the program is. What they make of programs
 * is in tests/golden/passes. */
#include "base/strbuf.h"
#include "pass/pass.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/reference_check.h"

/* What a pass of the table makes of a text; NULL if nothing. */
static vyre_program *apply(vyre_pass_id pass, const char *text, double most_seconds) {
    vyre_program *program = check_parse(text), *result;
    double start = check_seconds();
    vyre_status status = vyre_passes[pass].run(program, &result);
    double seconds = check_seconds() - start;
    if (status) {
        fail_msg("%s: %s", vyre_passes[pass].name, vyre_status_text(status));
    }
    if (seconds > most_seconds) {
        fail_msg("%s takes %g seconds", vyre_passes[pass].name, seconds);
    }
    vyre_program_release(program);
    return result;
}

/* A program whose body is `many` times `middle` between `first` and `last`. */
static char *repeated(const char *first, const char *middle, const char *last, uint32_t many) {
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, "program p(n: u32, y: inout buffer<u32>) over y { ");
    vyre_strbuf_puts(&text, first);
    for (uint32_t i = 0; i < many; i++) {
        vyre_strbuf_puts(&text, middle);
    }
    vyre_strbuf_puts(&text, last);
    vyre_strbuf_puts(&text, " }");
    char *copied = malloc(text.size + 1);
    assert_non_null(copied);
    memcpy(copied, vyre_strbuf_string(&text), text.size + 1);
    vyre_strbuf_free(&text);
    return copied;
}

static void loops_in_one_another_do_not_explode(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, "program p(y: inout buffer<u32>) over y { ");
    for (uint32_t i = 0; i < 100; i++) {
        vyre_strbuf_printf(&text, "for t%u in 0u..%s { ", i, i % 2 ? "4294967295" : "2");
    }
    vyre_strbuf_puts(&text, "y[gid] += t99 * t98; ");
    for (uint32_t i = 0; i < 100; i++) {
        vyre_strbuf_puts(&text, "} ");
    }
    vyre_strbuf_puts(&text, "}");
    vyre_program *result = apply(VYRE_PASS_UNROLL, vyre_strbuf_string(&text), 0.1);
    assert_null(result);
    vyre_strbuf_free(&text);

    vyre_strbuf_puts(&text, "program p(y: inout buffer<u32>) over y { ");
    for (uint32_t i = 0; i < 100; i++) {
        vyre_strbuf_printf(&text, "for t%u in 0u..2u { y[gid] += t%u; ", i, i);
    }
    for (uint32_t i = 0; i < 100; i++) {
        vyre_strbuf_puts(&text, "} ");
    }
    vyre_strbuf_puts(&text, "}");
    result = apply(VYRE_PASS_UNROLL, vyre_strbuf_string(&text), 0.1);
    assert_non_null(result);
    assert_true(vyre_program_ir(result)->inst_count < 3000);
    vyre_program_release(result);
    vyre_strbuf_free(&text);
}

static void a_program_grows_by_so_much(void **state) {
    (void)state;
    enum { LOOPS = 10000 };
    char *text = repeated("", "for i in 0..25 { y[gid] += i; } ", "", LOOPS);
    vyre_program *before = check_parse(text);
    vyre_program *result = apply(VYRE_PASS_UNROLL, text, 0.5);
    assert_non_null(result);
    uint32_t grown = vyre_program_ir(result)->inst_count - vyre_program_ir(before)->inst_count;
    assert_in_range(grown, 5000, 40000);
    vyre_program_release(result);
    vyre_program_release(before);
    free(text);

    /* Loops of one turn cost nothing, however many there are. */
    text = repeated("", "for i in 7..8 { y[gid] += i; } ", "", LOOPS);
    result = apply(VYRE_PASS_UNROLL, text, 0.5);
    assert_non_null(result);
    for (uint32_t i = 0; i < vyre_program_ir(result)->inst_count; i++) {
        assert_int_not_equal(vyre_program_ir(result)->insts[i].op, VYRE_OP_FOR);
    }
    vyre_program_release(result);
    free(text);
}

/* An array that stays, since one index is unknown, is no reason to write loops out. */
static void arrays_that_stay_do_not_grow(void **state) {
    (void)state;
    enum { LOOPS = 60 };
    const char *loops = "for i in 0u..64u { for j in 0u..8u { a[i] = a[(i + j * 3) & 63]; "
                        "a[(i + j) & 63] = a[(i * 7 + j) & 63]; } } ";
    static const struct {
        const char *last;
        uint32_t least, most;
    } rows[] = {{"y[gid] = a[5];", 50000, 150000}, {"y[gid] = a[n & 63];", 1000, 20000}};
    for (size_t i = 0; i < 2; i++) {
        char *text = repeated("var a: u32[64]; ", loops, rows[i].last, LOOPS);
        vyre_program *result = apply(VYRE_PASS_UNROLL, text, 0.5);
        assert_non_null(result);
        assert_in_range(vyre_program_ir(result)->inst_count, rows[i].least, rows[i].most);
        vyre_program_release(result);
        free(text);
    }
}

static void blocks_carry_so_much(void **state) {
    (void)state;
    /* Every block would have to carry all elements. */
    char *text =
        repeated("var a: u32[64]; ", "if y[gid] == 3 { clear(a); a[63] += a[5]; a[5] = 2; } ",
                 "y[gid] = a[63];", 1500);
    vyre_program *result = apply(VYRE_PASS_PROMOTE, text, 0.5);
    assert_non_null(result); /* of two elements, that is possible */
    vyre_program_release(result);
    free(text);

    vyre_strbuf all = {0};
    vyre_strbuf_puts(&all, "var a: u32[64]; ");
    for (uint32_t i = 0; i < 64; i++) {
        vyre_strbuf_printf(&all, "a[%u] = a[%u] + 1; ", i, 63 - i);
    }
    text = repeated(vyre_strbuf_string(&all), "if y[gid] == 3 { clear(a); } ", "y[gid] = a[0];",
                    30000);
    assert_null(apply(VYRE_PASS_PROMOTE, text, 0.5));
    free(text);
    text =
        repeated(vyre_strbuf_string(&all), "if y[gid] == 3 { clear(a); } ", "y[gid] = a[0];", 40);
    result = apply(VYRE_PASS_PROMOTE, text, 0.1);
    assert_non_null(result);
    vyre_program_release(result);
    free(text);
    vyre_strbuf_free(&all);

    /* Many ways out of one block. */
    vyre_strbuf_puts(&all, "loop { ");
    for (uint32_t i = 0; i < 64; i++) {
        vyre_strbuf_printf(&all, "a[%u] = a[%u] + n; ", i, 63 - i);
    }
    char first[8192];
    snprintf(first, sizeof first, "var a: u32[64]; %s", vyre_strbuf_string(&all));
    text = repeated(first, "if y[gid] == n { break; } ", "} y[gid] = a[9];", 20000);
    assert_null(apply(VYRE_PASS_PROMOTE, text, 0.5));
    free(text);
    vyre_strbuf_free(&all);
}

/* More arrays than a block can carry elements of. */
static void blocks_carry_so_many(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, "program p(n: u32, y: inout buffer<u32>) over y { ");
    for (uint32_t i = 0; i < 80; i++) {
        vyre_strbuf_printf(&text, "var a%u: u8[64]; ", i);
    }
    vyre_strbuf_puts(&text, "var sum = 0u8; for i in 0..n { ");
    for (uint32_t i = 0; i < 80; i++) {
        for (uint32_t k = 0; k < 64; k++) {
            vyre_strbuf_printf(&text, "sum += a%u[%u]; a%u[%u] = sum; ", i, k, i, k);
        }
    }
    vyre_strbuf_puts(&text, "} y[gid] = u32(sum); }");
    assert_null(apply(VYRE_PASS_PROMOTE, vyre_strbuf_string(&text), 0.5));
    vyre_strbuf_free(&text);
}

static void large_programs_take_no_time(void **state) {
    (void)state;
    static const struct {
        const char *first, *middle, *last;
    } bodies[] = {
        {"var a: u32[8]; ", "a[3] += a[2] * n; a[2] = a[3] + y[gid]; ", "y[gid] = a[2];"},
        {"var a: u32[8]; ", "for i in 0..8 { a[i] += y[gid + i]; } ", "y[gid] = a[2];"},
        {"", "if y[gid] == n { y[gid] += 1; } else { y[gid] *= 3; } ", ""},
        {"var k = n; ", "k = k * 3 + y[k]; ", "y[gid] = k;"},
        {"", "for i in 0..n { if y[i] == n { break; } y[i] += 1; } ", ""},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char *text = repeated(bodies[i].first, bodies[i].middle, bodies[i].last, 12000);
        vyre_program_release(apply(VYRE_PASS_UNROLL, text, 0.5));
        vyre_program_release(apply(VYRE_PASS_PROMOTE, text, 0.5));
        free(text);
    }
}

static void memory_may_run_out(void **state) {
    (void)state;
    static const vyre_pass_id passes[] = {VYRE_PASS_UNROLL, VYRE_PASS_PROMOTE};
    vyre_program *program =
        check_parse("program p(x: buffer<u32>, y: inout buffer<u32>) over y { var a: u32[4]; "
                    "a[1] = x[0]; for i in 0..4 { a[2] += x[i] * a[1]; if x[i] == 9 { a[3] = 1; } "
                    "} y[gid] = a[2] + a[3]; }");
    for (size_t i = 0; i < 2; i++) {
        size_t n = 1;
        for (; failing_allocator_start(n); n++) {
            vyre_program *result;
            vyre_status status = vyre_passes[passes[i]].run(program, &result);
            bool failed = failing_allocator_failed();
            assert_int_equal(vyre_status_code_of(status),
                             failed ? VYRE_STATUS_OUT_OF_MEMORY : VYRE_STATUS_OK);
            assert_true(failed == !result);
            vyre_status_free(status);
            vyre_program_release(result);
            failing_allocator_stop();
            if (!failed) {
                break;
            }
        }
        assert_true(n > 20);
    }
    vyre_program_release(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_in_one_another_do_not_explode),
        cmocka_unit_test(a_program_grows_by_so_much),
        cmocka_unit_test(arrays_that_stay_do_not_grow),
        cmocka_unit_test(blocks_carry_so_much),
        cmocka_unit_test(blocks_carry_so_many),
        cmocka_unit_test(large_programs_take_no_time),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
