/* Passes where memory ends: each allocation of each of them fails once, and the answer is that
 * there is no memory, with nothing left behind. And what they do to programs that are very large,
 * or nested as deep as can be, in time. */
#include "base/strbuf.h"
#include "pass/pass.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/reference_check.h"

static void fail_everywhere(const vyre_pass *pass, const vyre_program *program) {
    size_t n = 1;
    bool failed = true;
    for (; failed; n++) {
        failing_allocator_start(n);
        vyre_program *result;
        vyre_status status = pass->run(program, &result);
        failed = failing_allocator_failed();
        if (failed && vyre_status_code_of(status) != VYRE_STATUS_OUT_OF_MEMORY) {
            fail_msg("%s, allocation %zu: %s", pass->name, n, vyre_status_text(status));
        }
        assert_true(failed ? !result : !status && result);
        vyre_status_free(status);
        vyre_program_release(result);
        failing_allocator_stop();
    }
    assert_true(n > 20);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    vyre_program *program = check_parse(
        "fn f(v: u32, x: buffer<u32>) -> (u32, u32) { if v > 3 { return x[v], 1; } return v, v; }\n"
        "program p(x: buffer<u32>, n: u32, w: f32, y: inout buffer<u32>, z: inout buffer<f32>)\n"
        "    over y workgroup 32 {\n"
        "    shared s: u32[32]; var p: u32[4]; var q: u32[4]; var r: u32[2]; var sum = 0u; var "
        "other = 1u;\n"
        "    let named = gid * 2 + 0; let again = gid * 2; q[n & 3] = n; r[1] = n;\n"
        "    for i in 0..n { sum += x[gid] * n; other += i; p[i & 3] = other; s[lid] = 1; }\n"
        "    loop { if sum > 9 { break; } sum += 1 + p[0]; if sum > 9 { y[gid + 1] = 3; } }\n"
        "    let (first, second) = f(sum, x); if sum < 3 { sum = first; r[1] += 1; }\n"
        "    for k in 0..3 { y[gid + k] = sum + named + again + k + r[1]; }\n"
        "    z[gid] = exp(w) + z[gid]; }");
    for (size_t i = 0; i < VYRE_PASS_COUNT; i++) {
        vyre_program *result; /* what is made once, as by the first expansion, stays */
        assert_null(vyre_passes[i].run(program, &result));
        vyre_program_release(result);
        fail_everywhere(&vyre_passes[i], program);
    }
    fail_everywhere(&(vyre_pass){.name = "optimise", .run = vyre_optimise}, program);
    vyre_program_release(program);
}

static void optimise_soon(const char *what, const char *text) {
    double start = check_seconds();
    vyre_program *program = check_parse(text), *result;
    double parsed = check_seconds();
    assert_null(vyre_optimise(program, &result));
    double seconds = check_seconds() - parsed;
    assert_non_null(result);
    uint32_t before = vyre_program_ir(program)->inst_count;
    printf("%s: %u instructions, %u after %.0f ms, %.1f times as long as to parse them\n", what,
           before, vyre_program_ir(result)->inst_count, seconds * 1e3, seconds / (parsed - start));
    assert_true(before > 20000);
    /* To parse is linear in the size, on any machine; the rest is for noise. */
    assert_true(seconds < 20 * (parsed - start));
    vyre_program_release(result);
    vyre_program_release(program);
}

/* Time must not grow with the square of anything. */
static void large_programs(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text,
                     "program p(x: buffer<u32>, y: inout buffer<u32>) over y { var s = 0u;\n");
    for (uint32_t i = 0; i < 9000; i++) {
        vyre_strbuf_printf(&text, "s = s * %u + x[gid + %u]; if s > %u { y[gid] += s; }\n", i % 9,
                           i % 40, i % 30);
    }
    vyre_strbuf_puts(&text, "y[gid] = s; }");
    optimise_soon("long", vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);

    vyre_strbuf_puts(&text,
                     "program p(x: buffer<u32>, y: inout buffer<u32>) over y { var s = 0u;\n");
    for (uint32_t i = 0; i < VYRE_LIMIT_NESTING - 8; i++) {
        vyre_strbuf_printf(&text, "for i_%u in 0..x[%u] { y[gid] += s; s += x[gid] * %u;\n", i, i,
                           i);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        vyre_strbuf_printf(&text, "s += x[i_%u] * (gid + %u); y[%u] = s;\n", i % 100, i, i);
    }
    for (uint32_t i = 0; i < VYRE_LIMIT_NESTING - 8; i++) {
        vyre_strbuf_puts(&text, "}");
    }
    vyre_strbuf_puts(&text, "y[gid] = s; }");
    optimise_soon("deep", vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);

    vyre_strbuf_puts(&text, "program p(x: buffer<u32>, y: inout buffer<u32>) over y {\n");
    for (uint32_t i = 0; i < 4000; i++) {
        vyre_strbuf_printf(&text, "var a_%u = x[%u];\n", i, i);
    }
    vyre_strbuf_puts(&text, "for i in 0..x[9] { for k in 0..x[8] {\n");
    for (uint32_t i = 0; i < 4000; i++) {
        vyre_strbuf_printf(&text, "a_%u += a_%u;%s\n", i, (i + 1) % 4000,
                           i % 100 ? "" : " if a_7 == 3 { break; }");
    }
    vyre_strbuf_puts(&text, "} }\n");
    for (uint32_t i = 0; i < 4000; i++) {
        vyre_strbuf_printf(&text, "y[gid + %u] = a_%u;\n", i, i);
    }
    vyre_strbuf_puts(&text, "}");
    optimise_soon("wide", vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(large_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
