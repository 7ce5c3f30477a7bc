/* The arithmetic of a run does not depend on its surroundings: a product and a sum are not
 * contracted, and a calling thread that rounds in another direction or flushes subnormal numbers
 * gets the same bytes and keeps what it has set. */
#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/reference.h>
#include <vyre/sanitize.h>
#include <vyre/text.h>

#if defined __x86_64__ || defined __SSE2__
#include <xmmintrin.h>
#define CAN_FLUSH 1
/* Flush to zero, and denormals are zero. */
enum { FLUSH = 0x8040 };
#endif

static vyre_program *parse(const char *text) {
    vyre_module *module;
    vyre_status status = vyre_module_parse("test.vyre", text, strlen(text), NULL, &module);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    vyre_program *program = vyre_program_retain(vyre_module_program(module, 0));
    vyre_module_free(module);
    return program;
}

/* (1 + e)^2 - (1 + 2e) is 0 if the product is rounded, and e^2 if it is not. */
static void a_product_and_a_sum_are_two_roundings_in_every_type(void **state) {
    (void)state;
    static const struct {
        const char *type;
        size_t bytes;
        uint64_t factor, summand, fused;
    } rows[] = {
        {"f16", 2, 0x3c01, 0xbc02, 0x0010},
        {"bf16", 2, 0x3f81, 0xbf82, 0x3880},
        {"f32", 4, 0x3f800001, 0xbf800002, 0x28800000},
        {"f64", 8, 0x3ff0000000000001, 0xbff0000000000002, 0x3970000000000000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum { COUNT = 37 };
        uint8_t memory[3][COUNT * 8];
        const uint64_t values[] = {rows[i].factor, rows[i].factor, rows[i].summand};
        for (size_t k = 0; k < COUNT * 3; k++) {
            for (size_t byte = 0; byte < rows[i].bytes; byte++) {
                memory[k / COUNT][k % COUNT * rows[i].bytes + byte] =
                    (uint8_t)(values[k / COUNT] >> (byte * 8));
            }
        }
        char text[400];
        snprintf(
            text, sizeof text,
            "program p(a: buffer<%s>, b: buffer<%s>, c: buffer<%s>, two: out buffer<%s>[len(a)],\n"
            "          one: out buffer<%s>[len(a)]) over a {\n"
            "    two[gid] = a[gid] * b[gid] + c[gid];\n"
            "    one[gid] = fma(a[gid], b[gid], c[gid]);\n"
            "}\n",
            rows[i].type, rows[i].type, rows[i].type, rows[i].type, rows[i].type);
        vyre_program *program = parse(text);
        const size_t size = rows[i].bytes * COUNT;
        const vyre_input inputs[] = {{memory[0], size}, {memory[1], size}, {memory[2], size}};
        vyre_outputs outputs;
        assert_null(vyre_reference_run(program, inputs, 3, NULL, NULL, &outputs));
        assert_int_equal(outputs.count, 2);
        assert_int_equal(outputs.items[0].size, size);
        for (size_t k = 0; k < size; k++) {
            assert_int_equal(outputs.items[0].data[k], 0);
            assert_int_equal(outputs.items[1].data[k],
                             rows[i].fused >> (k % rows[i].bytes * 8) & 0xff);
        }
        vyre_outputs_free(&outputs);
        vyre_program_release(program);
    }
}

/* Rounds, underflows, converts, folds and calls functions, in every type. */
static const char inexact[] =
    "const THIRD: f32 = 1.0 / 3.0;\n"
    "program inexact(x: buffer<u32>, f: out buffer<f32>[len(x) * 8], d: out buffer<f64>[len(x) * "
    "4],\n"
    "                h: out buffer<f16>[len(x) * 3], g: out buffer<bf16>[len(x) * 3]) over x {\n"
    "    let v = bitcast<f32>(x[gid]);\n"
    "    let w = bitcast<f32>(x[gid] * 2654435761u);\n"
    "    f[gid * 8] = v * 0.1f + THIRD;\n"
    "    f[gid * 8 + 1] = v / w;\n"
    "    f[gid * 8 + 2] = fma(v, w, 1e-40f);\n"
    "    f[gid * 8 + 3] = sqrt(abs(v)) - f32(x[gid]);\n"
    "    f[gid * 8 + 4] = round(v);\n"
    "    f[gid * 8 + 5] = sin(v) + exp(w);\n"
    "    f[gid * 8 + 6] = v * 1e-20f * 1e-20f;\n"
    "    var sum = v;\n"
    "    for i in 0..10 { sum += w * 0.3f; }\n"
    "    f[gid * 8 + 7] = sum;\n"
    "    d[gid * 4] = f64(v) * 0.1 + f64(w);\n"
    "    d[gid * 4 + 1] = f64(v) / f64(w) * 1e-310;\n"
    "    d[gid * 4 + 2] = f64(u64(x[gid]) * 11400714819323198485u64);\n"
    "    d[gid * 4 + 3] = sqrt(f64(x[gid]));\n"
    "    h[gid * 3] = f16(v) * f16(w);\n"
    "    h[gid * 3 + 1] = f16(d[gid * 4]);\n"
    "    h[gid * 3 + 2] = bitcast<f16>(u16(x[gid])) / 3;\n"
    "    g[gid * 3] = bf16(v) + bf16(w);\n"
    "    g[gid * 3 + 1] = bf16(x[gid]);\n"
    "    g[gid * 3 + 2] = tanh(bitcast<bf16>(u16(x[gid])));\n"
    "}\n";

enum { INPUTS = 512 };

static uint32_t input_words[INPUTS];

static int fill_inputs(void **state) {
    (void)state;
    for (uint32_t i = 0; i < INPUTS; i++) {
        input_words[i] = i % 4 == 0 ? i : i * 2654435769u; /* subnormal numbers, and any */
    }
    return 0;
}

static const vyre_input input = {input_words, sizeof input_words};

/* What a thread has set. */
typedef struct surroundings {
    int rounding, raised;
    uint32_t flush;
} surroundings;

static void put(surroundings wanted) {
    fesetenv(FE_DFL_ENV);
    fesetround(wanted.rounding);
    feraiseexcept(wanted.raised);
#ifdef CAN_FLUSH
    _mm_setcsr(_mm_getcsr() | wanted.flush);
#endif
}

static surroundings found(void) {
    surroundings now = {fegetround(), fetestexcept(FE_ALL_EXCEPT), 0};
#ifdef CAN_FLUSH
    now.flush = _mm_getcsr() & FLUSH;
#endif
    return now;
}

/* Back to normal, then compares. */
static void expect_kept(surroundings wanted) {
    surroundings now = found();
    fesetenv(FE_DFL_ENV);
    assert_int_equal(now.rounding, wanted.rounding);
    assert_int_equal(now.raised, wanted.raised);
    assert_int_equal(now.flush, wanted.flush);
}

/* The plain one comes last, so that whatever is made on first use is made elsewhere. */
static const surroundings all_surroundings[] = {
    {FE_UPWARD, FE_DIVBYZERO, 0},   {FE_DOWNWARD, 0, 0},
    {FE_TOWARDZERO, FE_INEXACT, 0},
#ifdef CAN_FLUSH
    {FE_TONEAREST, 0, FLUSH},       {FE_UPWARD, FE_INVALID, FLUSH},
#endif
    {FE_TONEAREST, 0, 0},
};

enum { SURROUNDINGS = sizeof all_surroundings / sizeof *all_surroundings };

static void the_callers_rounding_changes_nothing_and_stays(void **state) {
    (void)state;
    vyre_outputs results[SURROUNDINGS];
    vyre_digest digests[SURROUNDINGS];
    for (size_t i = 0; i < SURROUNDINGS; i++) {
        put(all_surroundings[i]);
        vyre_program *program = parse(inexact);
        vyre_status status = vyre_reference_run(program, &input, 1, NULL, NULL, &results[i]);
        expect_kept(all_surroundings[i]);
        if (status) {
            fail_msg("%s", vyre_status_text(status));
        }
        digests[i] = vyre_program_digest(program);
        vyre_program_release(program);
    }
    for (size_t i = 0; i + 1 < SURROUNDINGS; i++) {
        assert_memory_equal(&digests[i], &digests[SURROUNDINGS - 1], sizeof digests[i]);
        for (size_t k = 0; k < 4; k++) {
            const vyre_output *plain = &results[SURROUNDINGS - 1].items[k];
            assert_int_equal(results[i].items[k].size, plain->size);
            assert_memory_equal(results[i].items[k].data, plain->data, plain->size);
        }
    }
    for (size_t i = 0; i < SURROUNDINGS; i++) {
        vyre_outputs_free(&results[i]);
    }
}

static void a_run_that_fails_leaves_the_callers_rounding_too(void **state) {
    (void)state;
    vyre_program *program = parse(inexact);
    for (size_t i = 0; i < SURROUNDINGS; i++) {
        vyre_outputs outputs;
        put(all_surroundings[i]);
        vyre_status status = vyre_reference_run(
            program, &input, 1, NULL, &(vyre_reference_options){.max_steps = 1}, &outputs);
        expect_kept(all_surroundings[i]);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_LIMIT);
        vyre_status_free(status);
        put(all_surroundings[i]);
        status = vyre_reference_run(program, &input, 0, NULL, NULL, &outputs);
        expect_kept(all_surroundings[i]);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
        vyre_status_free(status);
    }
    vyre_program_release(program);
}

static void looking_for_races_leaves_the_callers_rounding_too(void **state) {
    (void)state;
    vyre_program *program = parse(inexact);
    for (size_t i = 0; i < SURROUNDINGS; i++) {
        vyre_findings *findings;
        put(all_surroundings[i]);
        vyre_status status = vyre_sanitize(program, &input, 1, NULL, &findings);
        expect_kept(all_surroundings[i]);
        assert_null(status);
        vyre_findings_free(findings);
    }
    vyre_program_release(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_callers_rounding_changes_nothing_and_stays),
        cmocka_unit_test(a_run_that_fails_leaves_the_callers_rounding_too),
        cmocka_unit_test(looking_for_races_leaves_the_callers_rounding_too),
        cmocka_unit_test(a_product_and_a_sum_are_two_roundings_in_every_type),
    };
    return cmocka_run_group_tests(tests, fill_inputs, NULL);
}
