/* What does not end, or needs too much, ends in an error that says which program, where and what to
 * do. And any allocation may fail. */
#include "tests/unit/failing_allocator.h"
#include "tests/unit/reference_check.h"

#define STEPS ((uint64_t)10000000)

typedef struct row {
    const char *name, *text;
    vyre_status_code code;
    const char *part; /* of the message */
    bool some_seeds;  /* may come to an end in some schedules */
} row;

static const row rows[] = {
    {"an endless loop",
     "program p(y: out buffer<u32>[4]) over 4 {\n"
     "    var n = 1u;\n"
     "    loop { n = n * 3; }\n"
     "}\n",
     VYRE_STATUS_LIMIT, "line 3", false},
    {"an endless loop of one lane of many",
     "program p(y: inout buffer<u32>) over 1024 workgroup 1024 {\n"
     "    if gid == 77 {\n"
     "        while y[0] == 0 { y[1] = 5; }\n"
     "    }\n"
     "}\n",
     VYRE_STATUS_LIMIT, "line 3", false},
    {"a loop in a loop",
     "program p(y: inout buffer<u32>) over 1 workgroup 1 {\n"
     "    for i in 0..0xffffffffffffu64 {\n"
     "        for j in 0..3 { y[j] += 1; }\n"
     "    }\n"
     "}\n",
     VYRE_STATUS_LIMIT, "in workgroup 0", false},
    {"a wait for a later workgroup",
     "program p(y: inout buffer<u32>) over 8 workgroup 1 {\n"
     "    if wid == 0 {\n"
     "        loop { if atomic_load(y[0], acquire) == 1 { break; } }\n"
     "    }\n"
     "    if wid == 7 { atomic_store(y[0], 1, release); }\n"
     "}\n",
     VYRE_STATUS_LIMIT, "line 3", true},
    {"a wait for nobody",
     "program p(y: inout buffer<u32>) over 200 workgroup 2 {\n"
     "    loop { if atomic_load(y[0], acquire) == 1 { break; } }\n"
     "}\n",
     VYRE_STATUS_LIMIT, "line 2", false},
    {"a wait before a grid barrier",
     "program p(y: inout buffer<u32>) over 4 workgroup 2 {\n"
     "    loop { if atomic_load(y[0]) == 1 { break; } }\n"
     "    grid_barrier;\n"
     "}\n",
     VYRE_STATUS_LIMIT, "line 2", false},
    {"a repeat that never ends",
     "program p(y: inout buffer<u32>) {\n"
     "    phase over 1 { y[0] = 1; }\n"
     "    repeat while y[0] { phase over 1 { y[1] += 1; } }\n"
     "}\n",
     VYRE_STATUS_LIMIT, "used up its budget of steps", false},
    {"a repeat of nothing",
     "program p(y: inout buffer<u32>) {\n"
     "    repeat 0xffffffffffffffff { phase over 0 { y[1] += 1; } }\n"
     "}\n",
     VYRE_STATUS_LIMIT, "used up its budget of steps", false},
    {"repeats in repeats of nothing",
     "program p(y: inout buffer<u32>) {\n"
     "    repeat 0xffffffff { repeat 0xffffffff { repeat 0 { phase over 1 {} } } }\n"
     "}\n",
     VYRE_STATUS_LIMIT, "used up its budget of steps", false},
    {"a huge domain of nothing", "program p(y: inout buffer<u32>) over 0x100000000 {}",
     VYRE_STATUS_LIMIT, "used up its budget of steps", false},
    {"a domain whose product has more than 64 bits",
     "program p(y: inout buffer<u32>) over (0x100000000, 0x100000000, 0x100000000) {\n"
     "    y[gid.z] = gid.x;\n"
     "}\n",
     VYRE_STATUS_LIMIT, "used up its budget of steps", false},
    {"a domain whose product is 0 modulo 2^64",
     "program p(y: inout buffer<u32>) over (0x100000000, 0x100000000, 2) {\n"
     "    y[gid.z] = gid.y;\n"
     "}\n",
     VYRE_STATUS_LIMIT, "used up its budget of steps", false},
    {"workgroups whose number has more than 64 bits",
     "program p(y: inout buffer<u32>) over (0xffffffff, 0xffffffff, 0xffffffff) workgroup 1 {\n"
     "    y[wid.z] = wid.x;\n"
     "}\n",
     VYRE_STATUS_LIMIT, "used up its budget of steps", false},
    {"workgroups with much shared memory and no work",
     "program p(y: inout buffer<u32>) over 0xffffffff workgroup 1 {\n"
     "    shared s: u8[262144];\n"
     "    s[0] = 1;\n"
     "}\n",
     VYRE_STATUS_LIMIT, "used up its budget of steps", false},
    {"a large private array that is cleared again and again",
     "program p(y: inout buffer<u32>) over 1024 workgroup 1024 {\n"
     "    for i in 0..10000 {\n"
     "        if gid % 2 == 0 { var a: u8[65536]; a[i] = 1; y[0] = u32(a[7]); }\n"
     "    }\n"
     "}\n",
     VYRE_STATUS_LIMIT, "line 2", false},
    {"all workgroups in flight",
     "program p(y: inout buffer<u32>) over 0x7fffffff workgroup 1 { grid_barrier; y[0] = 1; }",
     VYRE_STATUS_LIMIT, "workgroups in flight", false},
    {"more workgroups in flight than can be counted",
     "program p(y: inout buffer<u32>) over (0xffffffff, 0xffffffff, 0xffffffff) workgroup 1 {\n"
     "    grid_barrier; y[0] = 1;\n"
     "}\n",
     VYRE_STATUS_LIMIT, "workgroups in flight", false},
    {"a large output", "program p(y: out buffer<u64>[0xffffffff]) over 1 { y[0] = 1; }",
     VYRE_STATUS_LIMIT, "array `y`", false},
    {"a large scratch array",
     "program p(y: inout buffer<u32>) {\n"
     "    scratch big: f64[0xfffffff0];\n"
     "    phase over 1 { big[0] = 1; }\n"
     "}\n",
     VYRE_STATUS_LIMIT, "array `big`", false},
    {"many private arrays",
     "program p(y: inout buffer<u32>) over 4000000 workgroup 1024 {\n"
     "    var a: u8[65536];\n"
     "    a[lid] = 1;\n"
     "    grid_barrier;\n"
     "    y[0] = u32(a[0]);\n"
     "}\n",
     VYRE_STATUS_LIMIT, "workgroups in flight", false},
};

static void check_ends(const row *r, uint64_t seed, bool sanitized) {
    vyre_program *program = check_parse(r->text);
    uint32_t zero[4] = {0};
    const vyre_input inputs[] = {BYTES(zero)};
    size_t count = strstr(r->text, "out buffer") && !strstr(r->text, "inout") ? 0 : 1;
    vyre_outputs outputs = {0};
    vyre_findings *findings = NULL;
    double start = check_seconds();
    vyre_status status;
    if (sanitized) {
        vyre_sanitize_options options = {
            .seed = seed, .max_steps = STEPS, .max_memory_bytes = (uint64_t)1 << 28};
        status = vyre_sanitize(program, inputs, count, &options, &findings);
    } else {
        vyre_reference_options options = {
            .seed = seed, .max_steps = STEPS, .max_memory_bytes = (uint64_t)1 << 28};
        status = vyre_reference_run(program, inputs, count, NULL, &options, &outputs);
    }
    double seconds = check_seconds() - start;
    if (seconds > 100) { /* of this process: a second, and more for slow machines and builds */
        fail_msg("%s, seed %llu: took %.2f s", r->name, (unsigned long long)seed, seconds);
    }
    const char *text = vyre_status_text(status);
    bool ended = r->some_seeds && seed && !status;
    if (!ended &&
        (vyre_status_code_of(status) != r->code || (!sanitized && !strstr(text, r->part)) ||
         !strstr(text, "`p`") || !strstr(text, "Fix: "))) {
        fail_msg("%s, seed %llu: %s", r->name, (unsigned long long)seed, text);
    }
    assert_true(ended || (!outputs.items && !findings));
    vyre_outputs_free(&outputs);
    vyre_findings_free(findings);
    vyre_status_free(status);
    vyre_program_release(program);
}

static void what_does_not_end_is_ended(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            check_ends(&rows[i], seed, false);
        }
        check_ends(&rows[i], 0, true);
        check_ends(&rows[i], 1, true);
    }
}

static void a_giant_shared_array_is_refused_by_the_verifier(void **state) {
    (void)state;
    static const char text[] = "program p(y: inout buffer<u32>) over y workgroup 1 {\n"
                               "    shared s: u32[100000000];\n"
                               "    s[0] = 1;\n"
                               "}\n";
    vyre_module *module;
    vyre_status status = vyre_module_parse("p", text, sizeof text - 1, NULL, &module);
    assert_non_null(status);
    assert_non_null(strstr(vyre_status_text(status), "the size of a shared array"));
    vyre_status_free(status);
}

static void time_runs_out(void **state) {
    (void)state;
    vyre_program *program = check_parse(rows[0].text);
    vyre_dispatch_config config = {.timeout_ns = 20000000};
    for (uint64_t seed = 0; seed < 2; seed++) {
        vyre_reference_options options = {.seed = seed};
        vyre_outputs outputs;
        double start = check_seconds();
        vyre_status status = vyre_reference_run(program, NULL, 0, &config, &options, &outputs);
        assert_true(check_seconds() - start < 2);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_TIMEOUT);
        assert_non_null(strstr(vyre_status_text(status), "line 3"));
        const char *file;
        uint32_t line, column;
        assert_true(vyre_status_place(status, &file, &line, &column));
        assert_string_equal(file, "test.vyre");
        assert_int_equal(line, 3);
        vyre_status_free(status);
    }
    vyre_program_release(program);
    program = check_parse("program p(y: inout buffer<u32>) {\n"
                          "    phase over 1 { y[0] = 1; }\n"
                          "    repeat while y[0] { phase over 1 { y[1] += 1; } }\n"
                          "}\n");
    uint32_t zero[2] = {0};
    vyre_sanitize_options options = {.timeout_ns = 20000000};
    vyre_findings *findings;
    vyre_status status = vyre_sanitize(program, LIST(BYTES(zero)).items, 1, &options, &findings);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_TIMEOUT);
    assert_null(findings);
    vyre_status_free(status);
    vyre_program_release(program);
}

/* A budget that is just large enough will do, and one byte less will not. */
static void the_memory_budget_is_exact(void **state) {
    (void)state;
    vyre_program *program =
        check_parse("program p(y: out buffer<u32>[1000]) over 1000 workgroup 10 {\n"
                    "    shared s: u32[10];\n"
                    "    s[lid] = gid;\n"
                    "    grid_barrier;\n"
                    "    y[gid] = atomic_add(y[0], 1);\n"
                    "}\n");
    for (int sanitized = 0; sanitized < 2; sanitized++) {
        uint64_t low = 0, high = (uint64_t)1 << 26;
        while (low + 1 < high) {
            uint64_t middle = low + (high - low) / 2;
            vyre_outputs outputs = {0};
            vyre_findings *findings = NULL;
            vyre_reference_options options = {.max_memory_bytes = middle};
            vyre_sanitize_options watch = {.max_memory_bytes = middle};
            failing_allocator_start(0);
            vyre_status status =
                sanitized ? vyre_sanitize(program, NULL, 0, &watch, &findings)
                          : vyre_reference_run(program, NULL, 0, NULL, &options, &outputs);
            bool fits = !status;
            assert_int_equal(vyre_status_code_of(status),
                             fits ? VYRE_STATUS_OK : VYRE_STATUS_LIMIT);
            vyre_status_free(status);
            vyre_outputs_free(&outputs);
            vyre_findings_free(findings);
            failing_allocator_stop();
            *(fits ? &high : &low) = middle;
        }
        assert_true(high > 4000 + 100 * 10 * 8);
        assert_true(high < 10000000);
    }
    vyre_program_release(program);
}

/* Allocation failures */

static const char *const failing[] = {
    "program p(x: buffer<u32>, y: inout buffer<u32>, z: out buffer<f32>[len(x)])\n"
    "over x workgroup 8 subgroup 8 {\n"
    "    shared s: u32[8];\n"
    "    var a: u32[3];\n"
    "    s[lid] = x[gid];\n"
    "    barrier;\n"
    "    a[lid % 3] = s[7 - lid] + subgroup_add(lid);\n"
    "    for i in 0..2 {\n"
    "        if lid == 0 { atomic_add(y[i], a[0], acq_rel); }\n"
    "        grid_barrier;\n"
    "    }\n"
    "    z[gid] = exp(f32(a[lid % 3])) + f32(atomic_load(y[0], acquire));\n"
    "}\n",
    "program p(x: buffer<u32>, y: inout buffer<u32>, z: out buffer<f32>[len(x)]) {\n"
    "    scratch t: u32[len(x)];\n"
    "    repeat 2 {\n"
    "        phase over x workgroup 8 {\n"
    "            shared lock: u32[1];\n"
    "            t[gid] = atomic_add(lock[0], 1, acq_rel);\n"
    "            y[0] = t[0];\n"
    "            z[gid + 1] = z[gid];\n"
    "        }\n"
    "    }\n"
    "}\n",
};

static vyre_status run_failing(const vyre_program *program, const vyre_input *inputs,
                               bool sanitized, uint64_t seed) {
    vyre_outputs outputs = {0};
    vyre_findings *findings = NULL;
    vyre_reference_options options = {.seed = seed};
    vyre_sanitize_options watch = {.seed = seed};
    vyre_status status = sanitized
                             ? vyre_sanitize(program, inputs, 2, &watch, &findings)
                             : vyre_reference_run(program, inputs, 2, NULL, &options, &outputs);
    assert_true(!status || (!findings && !outputs.items));
    vyre_outputs_free(&outputs);
    vyre_findings_free(findings);
    return status;
}

static void any_allocation_may_fail(void **state) {
    (void)state;
    uint32_t x[32] = {0}, y[2] = {0};
    const vyre_input inputs[] = {BYTES(x), BYTES(y)};
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        vyre_program *program = check_parse(failing[i]);
        for (int kind = 0; kind < 4; kind++) {
            bool sanitized = kind & 1;
            uint64_t seed = (uint64_t)kind / 2;
            vyre_status status = run_failing(program, inputs, sanitized, seed); /* math is read */
            assert_null(status);
            size_t n = 1;
            for (; failing_allocator_start(n); n++) {
                status = run_failing(program, inputs, sanitized, seed);
                vyre_status_code code = vyre_status_code_of(status);
                vyre_status_free(status);
                failing_allocator_stop();
                if (!failing_allocator_failed()) {
                    assert_int_equal(code, VYRE_STATUS_OK);
                    break;
                }
                assert_int_equal(code, VYRE_STATUS_OUT_OF_MEMORY);
            }
            assert_true(n > 20);
        }
        vyre_program_release(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_end_is_ended),
        cmocka_unit_test(a_giant_shared_array_is_refused_by_the_verifier),
        cmocka_unit_test(time_runs_out),
        cmocka_unit_test(the_memory_budget_is_exact),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
