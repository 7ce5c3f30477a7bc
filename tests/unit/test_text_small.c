/* Functions of the language that are short for a few operations, as the reference backend runs
 * them, and names that hide them. */
#include <math.h>

#include "tests/unit/reference_check.h"

/* Runs `y[gid] = EXPRESSION;` over the elements of x, of that type. */
static void check_f32(const char *expression, check_list x, check_list y) {
    char text[300];
    snprintf(text, sizeof text,
             "program p(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x {\n"
             "    let a = x[gid];\n"
             "    y[gid] = %s;\n"
             "}\n",
             expression);
    check_run(text, x, y);
}

static void check_i32(const char *expression, check_list x, check_list y) {
    char text[300];
    snprintf(text, sizeof text,
             "program p(x: buffer<i32>, y: out buffer<i32>[len(x)]) over x {\n"
             "    let a = x[gid];\n"
             "    y[gid] = %s;\n"
             "}\n",
             expression);
    check_run(text, x, y);
}

static const float numbers[8] = {-INFINITY, -2.25f, -0.0f, 0, 0.5f, 3.75f, INFINITY, NAN};

static void clamp_and_saturate_keep_to_their_bounds(void **state) {
    (void)state;
    const float clamped[8] = {-1, -1, -0.0f, 0, 0.5f, 2, 2, -1};
    const float saturated[8] = {0, 0, 0, 0, 0.5f, 1, 1, 0};
    check_f32("clamp(a, -1, 2)", LIST(BYTES(numbers)), LIST(BYTES(clamped)));
    check_f32("saturate(a)", LIST(BYTES(numbers)), LIST(BYTES(saturated)));
    const int32_t x[3] = {-9, 4, 9}, y[3] = {-3, 4, 5};
    check_i32("clamp(a, -3, 5)", LIST(BYTES(x)), LIST(BYTES(y)));
}

static void mix_is_exact_at_both_ends(void **state) {
    (void)state;
    const float part[4] = {0, 1, 0.25f, 2};
    const float y[4] = {0.1f, 0.7f, fmaf(0.25f, 0.7f, fmaf(-0.25f, 0.1f, 0.1f)),
                        fmaf(2, 0.7f, fmaf(-2, 0.1f, 0.1f))};
    check_f32("mix(0.1, 0.7, a)", LIST(BYTES(part)), LIST(BYTES(y)));
}

static void steps_go_from_0_to_1(void **state) {
    (void)state;
    const float steps[8] = {0, 0, 0, 0, 1, 1, 1, 0};
    check_f32("step(0.5, a)", LIST(BYTES(numbers)), LIST(BYTES(steps)));
    const float x[4] = {-1, 1, 2, 9}, smooth[4] = {0, 0.15625f, 0.5f, 1};
    check_f32("smoothstep(0, 4, a)", LIST(BYTES(x)), LIST(BYTES(smooth)));
}

static void rsqrt_and_fract_round_each_operation(void **state) {
    (void)state;
    const float x[4] = {2, 0.75f, -0x1p-30f, INFINITY};
    const float inverse[4] = {1 / sqrtf(2), 1 / sqrtf(0.75f), NAN, 0};
    const float parts[4] = {0, 0.75f, 1, NAN};
    check_f32("rsqrt(a)", LIST(BYTES(x)), LIST(BYTES(inverse)));
    check_f32("fract(a)", LIST(BYTES(x)), LIST(BYTES(parts)));
}

static void mod_has_the_sign_of_the_divisor(void **state) {
    (void)state;
    const float x[5] = {7.5f, -7.5f, 6, -6, 0.25f};
    const float by2[5] = {1.5f, 0.5f, 0, -0.0f, 0.25f},
                by_minus2[5] = {-0.5f, -1.5f, 0, -0.0f, -1.75f};
    check_f32("mod(a, 2)", LIST(BYTES(x)), LIST(BYTES(by2)));
    check_f32("mod(a, -2)", LIST(BYTES(x)), LIST(BYTES(by_minus2)));
    const int32_t i[5] = {7, -7, 6, -6, INT32_MIN}, by3[5] = {1, 2, 0, 0, 1};
    const int32_t by_minus3[5] = {-2, -1, 0, 0, -2}, by0[5] = {0};
    check_i32("mod(a, 3)", LIST(BYTES(i)), LIST(BYTES(by3)));
    check_i32("mod(a, -3)", LIST(BYTES(i)), LIST(BYTES(by_minus3)));
    check_i32("mod(a, 0)", LIST(BYTES(i)), LIST(BYTES(by0)));
    const uint32_t u[2] = {7, 0xffffffff}, rest[2] = {1, 0};
    check_run(
        "program p(x: buffer<u32>, y: out buffer<u32>[2]) over x { y[gid] = mod(x[gid], 3); }",
        LIST(BYTES(u)), LIST(BYTES(rest)));
}

static void kinds_of_numbers_are_told_apart(void **state) {
    (void)state;
    const float is_nan[8] = {0, 0, 0, 0, 0, 0, 0, 1}, is_inf[8] = {1, 0, 0, 0, 0, 0, 1, 0};
    const float is_finite[8] = {0, 1, 1, 1, 1, 1, 0, 0};
    check_f32("f32(isnan(a))", LIST(BYTES(numbers)), LIST(BYTES(is_nan)));
    check_f32("f32(isinf(a))", LIST(BYTES(numbers)), LIST(BYTES(is_inf)));
    check_f32("f32(isfinite(a))", LIST(BYTES(numbers)), LIST(BYTES(is_finite)));
}

static void sign_gives_zeros_and_nan_back(void **state) {
    (void)state;
    const float signs[8] = {-1, -1, -0.0f, 0, 1, 1, 1, NAN};
    check_f32("sign(a)", LIST(BYTES(numbers)), LIST(BYTES(signs)));
    const int32_t x[3] = {INT32_MIN, 0, 7}, y[3] = {-1, 0, 1};
    check_i32("sign(a)", LIST(BYTES(x)), LIST(BYTES(y)));
    const uint8_t u[3] = {0, 1, 200}, one[3] = {0, 1, 1};
    check_run("program p(x: buffer<u8>, y: out buffer<u8>[3]) over x { y[gid] = sign(x[gid]); }",
              LIST(BYTES(u)), LIST(BYTES(one)));
}

/* All names that the language got later, as a function, a constant, an argument and a variable. */
static void declared_names_hide_them(void **state) {
    (void)state;
    static const char *const names[] = {"clamp", "mix",   "step",  "smoothstep", "saturate",
                                        "rsqrt", "fract", "mod",   "isnan",      "isinf",
                                        "sign",  "exp10", "log10", "fmod",       "isfinite"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = names[i];
        const uint32_t x[2] = {3, 4}, called[2] = {4, 5}, added[2] = {12, 13};
        char text[400];
        snprintf(text, sizeof text,
                 "fn %s(a: u32) -> u32 { return a + 1; }\n"
                 "program p(x: buffer<u32>, y: out buffer<u32>[2]) over x { y[gid] = %s(x[gid]); }",
                 name, name);
        check_run(text, LIST(BYTES(x)), LIST(BYTES(called)));
        snprintf(
            text, sizeof text,
            "const %s = 9;\n"
            "program p(x: buffer<u32>, y: out buffer<u32>[2]) over x { y[gid] = x[gid] + %s; }",
            name, name);
        check_run(text, LIST(BYTES(x)), LIST(BYTES(added)));
        snprintf(text, sizeof text,
                 "program p(%s: buffer<u32>, y: out buffer<u32>[len(%s)]) over %s {\n"
                 "    var r = %s[gid];\n"
                 "    if r > 0 { var %s = 8u; %s += 1; r += %s; }\n"
                 "    y[gid] = r;\n"
                 "}\n",
                 name, name, name, name, name, name, name);
        check_run(text, LIST(BYTES(x)), LIST(BYTES(added)));
    }
}

/* Nothing but a function can be called, so nothing else hides a call. */
static void an_argument_of_the_name_does_not_hide_a_call(void **state) {
    (void)state;
    const float x[2] = {-3, 4}, y[2] = {-1, 1};
    check_run("program p(sign: buffer<f32>, y: out buffer<f32>[2]) over sign {\n"
              "    y[gid] = sign(sign[gid]);\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(y)));
    const float longer[2] = {7, 8};
    check_run("program p(length: buffer<f32>, y: out buffer<f32>[2]) over length {\n"
              "    let mix = length(vec2<f32>(3, 0)) + 1;\n"
              "    y[gid] = mix(mix, mix + 4, 0.75) + f32(gid);\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(longer)));
    const float made[2] = {-6, 8};
    check_run("struct mix { a: f32, b: f32 }\n"
              "program p(x: buffer<f32>, y: out buffer<f32>[2]) over x {\n"
              "    let both = mix(x[gid], 2);\n"
              "    y[gid] = both.a * both.b;\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(made)));
}

/* Functions of vectors give what they give of each component, scalars going with all of them. */
static void vectors_go_component_by_component(void **state) {
    (void)state;
    static const char *const expressions[] = {
        "clamp(a, -1, 2)",
        "clamp(a, a - 1, a * 2)",
        "clamp(0.5, a, 2)",
        "mix(a, 4, 0.25)",
        "mix(1, a, a)",
        "step(0.5, a)",
        "step(a, 0.5)",
        "smoothstep(-1, 3, a)",
        "smoothstep(a, a + 1, 1)",
        "saturate(a)",
        "rsqrt(a)",
        "fract(a)",
        "mod(a, 0.75)",
        "mod(1, a)",
        "sign(a)",
        "fmod(a, 0.75)",
        "exp(a)",
        "log10(a)",
        "pow(2, a)",
        "hypot(a, 3)",
        "select(isnan(a), 1.0f, 0.0f)",
        "select(isinf(a), a, 0.0f)",
        "select(isfinite(a), 1.0f, a)",
    };
    static const char scalars[] = "fn f(a: f32) -> f32 { return %s; }\n"
                                  "program p(x: buffer<f32>, y: out buffer<f32>[24]) over 8 {\n"
                                  "    for i in 0..3 { y[gid * 3 + i] = f(x[(gid + i) %% 8]); }\n"
                                  "}\n";
    static const char vectors[] =
        "fn f(a: vec3<f32>) -> vec3<f32> { return %s; }\n"
        "program p(x: buffer<f32>, y: out buffer<f32>[24]) over 8 {\n"
        "    let v = f(vec3(x[gid], x[(gid + 1) %% 8], x[(gid + 2) %% 8]));\n"
        "    y[gid * 3] = v.x; y[gid * 3 + 1] = v.y; y[gid * 3 + 2] = v.z;\n"
        "}\n";
    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        char text[600];
        float expected[24];
        snprintf(text, sizeof text, scalars, expressions[i]);
        check_output(text, LIST(BYTES(numbers)), expected, sizeof expected);
        snprintf(text, sizeof text, vectors, expressions[i]);
        check_run(text, LIST(BYTES(numbers)), LIST(BYTES(expected)));
    }
    const int32_t x[4] = {-9, 4, 9, -2}, y[4] = {-3, 4, 1, -1};
    check_run("program p(x: buffer<i32>, y: out buffer<i32>[4]) over 1 {\n"
              "    let v = clamp(vec2(x[0], x[1]), -3, vec2<i32>(5, 6));\n"
              "    let w = sign(vec2(x[2], x[3]));\n"
              "    y[0] = v.x; y[1] = v.y; y[2] = w.x; y[3] = w.y;\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(y)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clamp_and_saturate_keep_to_their_bounds),
        cmocka_unit_test(mix_is_exact_at_both_ends),
        cmocka_unit_test(steps_go_from_0_to_1),
        cmocka_unit_test(rsqrt_and_fract_round_each_operation),
        cmocka_unit_test(mod_has_the_sign_of_the_divisor),
        cmocka_unit_test(kinds_of_numbers_are_told_apart),
        cmocka_unit_test(sign_gives_zeros_and_nan_back),
        cmocka_unit_test(declared_names_hide_them),
        cmocka_unit_test(an_argument_of_the_name_does_not_hide_a_call),
        cmocka_unit_test(vectors_go_component_by_component),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
