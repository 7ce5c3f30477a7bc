/* What the cuda backend writes, run by the machine of tests/ptx and held against the oracle: random
 * programs, and kernels that do what those do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "backend/cuda/codegen/emit.h"
#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "base/file.h"
#include "conform/compare.h"
#include "runtime/device.h"
#include "tests/ptx/device.h"
#include "tests/unit/index_programs.h"
#include "tests/unit/settings.h"

static vyre_device *oracle, *subject;

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

static int open_devices(void **state) {
    (void)state;
    expect_ok(vyre_reference_open_oracle(&oracle));
    expect_ok(ptx_device_open(&subject));
    vyre_device_cache_limit(subject, 0);
    return 0;
}

static int close_devices(void **state) {
    (void)state;
    vyre_device_release(oracle);
    vyre_device_release(subject);
    return 0;
}

static void compare(const conform_trial *trial, conform_verdict wanted, const char *name) {
    const conform_pair both = {
        .oracle = oracle, .subject = subject, .has_one_answer = vyre_reference_has_one_answer};
    vyre_outputs expected;
    conform_comparison comparison;
    expect_ok(conform_expect(&both, trial, trial->program, &expected));
    expect_ok(conform_compare(&both, trial, trial->program, &expected, &comparison));
    if (comparison.verdict != wanted) {
        fail_msg("%s: %s", name, comparison.text);
    }
    vyre_outputs_free(&expected);
}

static void random_programs(void **state) {
    (void)state;
    uint64_t first = test_seed() * 100000;
    uint64_t count = test_work(100, 10);
    for (uint64_t seed = first; seed < first + count; seed++) {
        conform_trial trial;
        char name[32];
        snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
        expect_ok(conform_generate(seed, &trial));
        compare(&trial, CONFORM_VERDICT_SAME, name);
        conform_trial_free(&trial);
    }
}

static vyre_program *parsed(const char *text) {
    vyre_module *module;
    expect_ok(vyre_module_parse("test.vyre", text, strlen(text), NULL, &module));
    vyre_program *program = vyre_program_retain(vyre_module_program(module, 0));
    vyre_module_free(module);
    return program;
}

static void run_both(const vyre_program *program, const vyre_input *inputs, size_t count,
                     const vyre_dispatch_config *config, const char *name) {
    vyre_outputs expected, found;
    expect_ok(vyre_device_dispatch(oracle, program, inputs, count, config, &expected));
    expect_ok(vyre_device_dispatch(subject, program, inputs, count, config, &found));
    assert_int_equal(expected.count, found.count);
    for (size_t i = 0; i < found.count; i++) {
        if (expected.items[i].size != found.items[i].size ||
            memcmp(expected.items[i].data, found.items[i].data, found.items[i].size)) {
            fail_msg("%s: output %zu differs", name, i);
        }
    }
    vyre_outputs_free(&expected);
    vyre_outputs_free(&found);
}

static void programs_about_indices(void **state) {
    (void)state;
    static index_program p;
    uint64_t first = test_seed() * 1000;
    uint64_t count = test_work(100, 10);
    for (uint64_t seed = first; seed < first + count; seed++) {
        index_generate(&p, seed);
        char name[64];
        snprintf(name, sizeof name, "indices, seed %llu", (unsigned long long)seed);
        vyre_program *program = parsed(vyre_strbuf_string(&p.text));
        run_both(program, p.inputs, INDEX_INPUTS, NULL, name);
        vyre_program_release(program);
        vyre_strbuf_free(&p.text);
    }
}

/* Neighbours of which some have numbers for indices, whose address nobody needs, and the head may
 * be such a one, or of another type. */
static void neighbours_of_numbers(void **state) {
    (void)state;
    static uint32_t numbers[64];
    for (uint32_t i = 0; i < 64; i++) {
        numbers[i] = i * 7919;
    }
    static const char *const texts[] = {
        "program p(x: buffer<u32>, y: out buffer<u32>[8]) over (1, 1) workgroup 1, 1 { "
        "let zero = lid.y % lid.x; y[0] = x[i32(1.0bf16)] ^ x[zero]; y[1] = x[2u] + x[zero + 3]; }",
        "program p(x: buffer<u32>, y: out buffer<u32>[8]) over 1 workgroup 1 { shared s: u32[4]; "
        "let zero = lid; s[1] = x[5]; s[zero] = x[6]; s[2u64] = 9; barrier; "
        "y[0] = s[1i8] + s[zero]; y[1] = s[4] + s[zero + 3]; }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vyre_program *program = parsed(texts[i]);
        const vyre_input input = {numbers, sizeof numbers};
        run_both(program, &input, 1, NULL, texts[i]);
        vyre_program_release(program);
    }
}

/* A domain that the config makes larger, or smaller, than what the buffers were made for. */
static void domains_of_the_config(void **state) {
    (void)state;
    static uint32_t numbers[200];
    for (uint32_t i = 0; i < 200; i++) {
        numbers[i] = i * 7919;
    }
    vyre_program *program =
        parsed("program p(x: buffer<u32>, y: inout buffer<u32>[len(x)]) over x { "
               "y[gid] = x[gid] + y[gid] + x[len(x) - 1 - gid]; }");
    const vyre_input inputs[] = {{numbers, 400}, {numbers + 100, 400}};
    static const uint32_t grids[] = {1, 99, 100, 101, 128, 5000};
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        const vyre_dispatch_config config = {.grid = {grids[i], 0, 0}};
        run_both(program, inputs, 2, &config, "a domain of the config");
    }
    vyre_program_release(program);
}

/* Arguments as numbers: a scalar's value, or how many elements a buffer has, which count up. */
static conform_trial_value make_value(const vyre_ir *ir, uint32_t arg, uint64_t number) {
    const vyre_arg *row = &ir->args[arg];
    const char *name = ir->strings + row->name;
    uint32_t bytes = vyre_type_bytes((vyre_type)row->type);
    uint64_t count = row->resource == VYRE_NONE ? 1 : number;
    conform_trial_value value = {vyre_alloc(strlen(name) + 1),
                                 vyre_alloc_zeroed((size_t)count * bytes + 1, 1),
                                 (size_t)count * bytes};
    memcpy(value.name, name, strlen(name) + 1);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = row->resource == VYRE_NONE ? number : (i * 7919) % 251;
        float real = (float)bits;
        if (row->type == VYRE_TYPE_F32) {
            memcpy(&bits, &real, sizeof real);
        }
        memcpy(value.data + i * bytes, &bits, bytes);
    }
    return value;
}

static void run_text(const char *text, const char *program, const uint64_t *numbers,
                     conform_verdict wanted) {
    vyre_module *module;
    expect_ok(vyre_module_parse("test.vyre", text, strlen(text), NULL, &module));
    conform_trial trial = {.program = vyre_module_find(module, program)};
    assert_non_null(trial.program);
    const vyre_ir *ir = vyre_program_ir(trial.program);
    conform_trial_value values[16];
    trial.values = values;
    trial.program = vyre_program_retain(trial.program);
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        values[trial.value_count++] = make_value(ir, arg, numbers[arg]);
    }
    compare(&trial, wanted, program);
    for (size_t i = 0; i < trial.value_count; i++) {
        vyre_free(values[i].name);
        vyre_free(values[i].data);
    }
    vyre_program_release(trial.program);
    vyre_module_free(module);
}

static void run_example(const char *file, const char *program, const uint64_t *numbers) {
    char path[128];
    vyre_strbuf text = {0};
    snprintf(path, sizeof path, "examples/%s.vyre", file);
    expect_ok(vyre_file_read(path, 1 << 20, &text));
    run_text(vyre_strbuf_string(&text), program, numbers, CONFORM_VERDICT_SAME);
    vyre_strbuf_free(&text);
}

static void examples(void **state) {
    (void)state;
    static const struct {
        const char *file, *program;
        uint64_t numbers[8]; /* by argument; of an `out` buffer none is taken */
    } rows[] = {
        {"tickets", "running_sums", {3000, 0}}, /* workgroups that wait for earlier ones */
        {"scan", "scan", {1500, 0}},
        {"total", "total", {1001, 0}},
        {"total", "total_by_subgroup", {1001, 0}},
        {"histogram", "histogram", {1003, 0}},
        {"histogram", "histogram_shared", {1003, 0}},
        {"saxpy", "saxpy", {3, 1027, 1029}}, /* arrays that end one after the other */
        {"saxpy", "saxpy", {3, 1021, 1029}},
        {"fnv", "hash_records", {16, 1000, 0}},
        {"bitonic", "bitonic", {700}},
        {"softmax", "softmax", {40, 400, 0}},
        {"jacobi", "jacobi", {33, 17, 5, 561}},
        {"life", "life", {19, 21, 399, 0}},
        {"mandelbrot", "mandelbrot", {40, 30, 0, 0, 1, 100, 0}},
        {"matmul", "matmul", {33, 18, 21, 693, 378, 0}},
        {"transpose", "transpose", {37, 45, 1665, 0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run_example(rows[i].file, rows[i].program, rows[i].numbers);
    }
}

#define WIDE(body)                                                                                 \
    "program wide(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 1024 subgroup 64 {" \
    "let v = x[gid];" body "}"

/* As many subgroups as there are barriers: the workgroup's has to do, where everybody comes. */
static void widest_subgroups(void **state) {
    (void)state;
    const uint64_t numbers[] = {3000, 0};
    run_text(WIDE("y[gid] = subgroup_add(v) + subgroup_exclusive_add(v);"), "wide", numbers,
             CONFORM_VERDICT_SAME);
    run_text(WIDE("if subgroup_id == 3 { y[gid] = subgroup_max(v); }"), "wide", numbers,
             CONFORM_VERDICT_UNSUPPORTED);
}

/* Parts of a thread that go ways of their own, with rows that are no rows. */
static void parts_of_threads(void **state) {
    (void)state;
    const char *bytes = "program bytes(x: buffer<u8>, y: inout buffer<u8>, n: u32) over y {"
                        "  var sum = x[gid];"
                        "  for i in 0..u32(x[gid] & 7) { sum = sum * 3 + u8(i); }"
                        "  if sum > 100 { sum = y[gid + n]; } else { sum = sum ^ x[gid]; }"
                        "  y[gid] = sum + x[gid + 4];"
                        "}";
    const uint64_t numbers[] = {1000, 1013, 2000};
    run_text(bytes, "bytes", numbers, CONFORM_VERDICT_SAME);
    const char *shorts = "program shorts(x: buffer<i16>, y: out buffer<i16>[len(x)]) over x {"
                         "  y[gid] = x[gid] + x[len(x) - 1 - gid] + x[gid + 8u];"
                         "}";
    run_text(shorts, "shorts", (const uint64_t[]){1234, 0}, CONFORM_VERDICT_SAME);
    const char *doubles = "program doubles(x: buffer<u64>, y: out buffer<f64>[len(x)]) over x {"
                          "  y[gid] = f64(x[gid]) * 0.5;"
                          "}";
    run_text(doubles, "doubles", (const uint64_t[]){513, 0}, CONFORM_VERDICT_SAME);
    /* The first of the neighbours is in front of the array, the others are in it. */
    const char *around = "program around(x: buffer<u32>, y: out buffer<u32>[len(x)])"
                         " over len(x) / 2 {"
                         "  let i = i32(gid); if gid == 5 { return; }"
                         "  y[gid] = x[i - 1] * 31 + x[i] * 7 + x[i + 1] + x[i + 2];"
                         "}";
    run_text(around, "around", (const uint64_t[]){333, 0}, CONFORM_VERDICT_SAME);
}

/* Neighbours of which the first is part of a row and the others are not, or whose indices are the
 * same number for reasons that look different. */
static void neighbours_that_look_different(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t numbers[4];
    } rows[] = {
        {"program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x {"
         "  y[gid] = x[gid] + x[gid + 1] * 3;"
         "}",
         {1001}},
        {"program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x {"
         "  let i = i32(gid);"
         "  y[gid] = x[i] + x[i + 1] * 3 + x[i - 1] * 5 + x[i + 2] * 7;"
         "}",
         {1001}},
        {"program p(x: buffer<u32>[1000], s: u32, y: buffer<u32>, z: out buffer<u32>[len(y)])"
         " over y {"
         "  let t = (s & 127) * 4; let g = gid & 0xffff;"
         "  z[gid] = y[gid] + x[t] + x[((t + g) - g) + 1] * 3 + x[t + 2] * 5 + x[t + 3] * 7;"
         "}",
         {1000, 9, 2000, 0}},
        {"program p(x: buffer<u32>, y: out buffer<u32>[len(x) - 1]) over y {"
         "  let g = gid & 0xffffff; y[gid] = x[gid + g - g] + x[gid + 1] * 3;"
         "}",
         {1001}},
        {"program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 64 {"
         "  shared a: u32[64]; a[lid] = x[gid]; barrier; let i = i32(lid);"
         "  y[gid] = a[i - 1] + a[i] * 3 + a[i + 1] * 5;"
         "}",
         {200}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        run_text(rows[i].text, "p", rows[i].numbers, CONFORM_VERDICT_SAME);
    }
}

/* What a turn leaves for later ones may be its counter, which goes on meanwhile. */
static void counters_that_are_carried(void **state) {
    (void)state;
    const char *text = "program p(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x)]) over x {"
                       "  var p = 0u; var q = 5u; var s = 0u;"
                       "  for i in 0..n { s = s * 3 + x[i + p] + q; q = p; p = i; }"
                       "  y[gid] = s + p * 7 + q;"
                       "}";
    static const uint64_t turns[] = {0, 1, 3, 8, 16, 17, 64};
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        run_text(text, "p", (const uint64_t[]){turns[i], 100, 0}, CONFORM_VERDICT_SAME);
    }
}

/* Lanes that exchange values in a loop go through it together, though loads of some miss. */
static void lanes_stay_together(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "s = s * 3 + subgroup_add(x[i * 7 + lid * 5]);",
        "s = s * 3 + subgroup_shuffle(x[i + lid * 5], 3u);",
        "s = s + x[i + lid]; if n == 7 { break; } s = subgroup_shuffle_xor(s, 1u);",
    };
    static const uint64_t numbers[][3] = {{40, 200, 0}, {40, 600, 0}, {100, 64, 0}, {3, 0, 0}};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            char text[512];
            snprintf(text, sizeof text,
                     "program p(n: u32, x: buffer<u32>, y: out buffer<u32>[64]) over y "
                     "workgroup 64 { var s = 0u; for i in 0..n { %s } y[gid] = s; }",
                     bodies[i]);
            run_text(text, "p", numbers[k], CONFORM_VERDICT_SAME);
        }
    }
}

/* Numbers of f32 at all places of the range, and what is none. */
static uint32_t any_float(uint32_t i) {
    static const uint32_t special[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
                                       0x00800000, 0x0cffffff, 0x0d000000, 0x7f7fffff, 0x7f800000,
                                       0xff800000, 0x7fc12345, 0xffc00001, 0x7f800001, 0x3f800000,
                                       0xbf800000, 0x407fffff, 0x40800000};
    const uint32_t count = sizeof special / sizeof *special;
    return i < count ? special[i] : (i * 2654435761u) ^ (i << 20);
}

static void floats(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    static uint32_t numbers[COUNT];
    static const char *const texts[] = {
        "program roots(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x "
        "{ y[gid] = 1 / sqrt(x[gid]); }",
        "program both(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x "
        "{ let r = sqrt(x[gid]); y[gid] = 1 / r + r; }",
        /* A NaN that nobody computes with keeps its bits around a loop. */
        "program kept(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x { var v = x[gid]; "
        "for i in 0..gid % 8 { if i > 5 { v = v + 1; } } y[gid] = v; }",
    };
    for (uint32_t i = 0; i < COUNT; i++) {
        numbers[i] = any_float(i);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vyre_program *program = parsed(texts[i]);
        run_both(program, &(vyre_input){numbers, sizeof numbers}, 1, NULL, texts[i]);
        vyre_program_release(program);
    }
}

/* Divisions by constants, which are none on the device. */
static void divisions(void **state) {
    (void)state;
    static const char *const types[] = {"u32", "i32", "u16", "i8", "u64", "i64"};
    static const char *const divisors[] = {"1",   "2",          "3",         "7",     "10",
                                           "100", "127",        "64",        "32767", "65535",
                                           "641", "0x7fffffff", "1431655765"};
    static const uint64_t largest[] = {UINT32_MAX, INT32_MAX, 65535, 127, UINT64_MAX, INT64_MAX};
    static uint32_t numbers[500];
    for (uint32_t i = 0; i < 500; i++) {
        uint32_t near = UINT32_C(1) << i % 32;
        numbers[i] = i < 160 ? near + i / 32 - 2 : i * 2654435761u;
    }
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (size_t d = 0; d < sizeof divisors / sizeof *divisors; d++) {
            char text[400];
            if (strtoull(divisors[d], NULL, 0) > largest[t]) {
                continue;
            }
            snprintf(text, sizeof text,
                     "program p(x: buffer<u32>, y: out buffer<%s>[2 * len(x)]) over x {"
                     " let v = %s(x[gid]) * %s(x[(gid + 1) %% len(x)]);"
                     " y[2 * gid] = v / %s; y[2 * gid + 1] = v %% %s; }",
                     types[t], types[t], types[t], divisors[d], divisors[d]);
            vyre_program *program = parsed(text);
            run_both(program, &(vyre_input){numbers, sizeof numbers}, 1, NULL, text);
            vyre_program_release(program);
        }
    }
}

/* The matrix product for GPUs: the oracle's bytes, and those of what it stands for. */
static void products(void **state) {
    (void)state;
    static const char plain_text[] =
        "program plain(m: u32, n: u32, k: u32, a: buffer<f32>[m * k], b: buffer<f32>[k * n],"
        " c: out buffer<f32>[m * n]) over (n, m) { var sum = 0.0f;"
        " for i in 0..k { sum = fma(a[gid.y * k + i], b[i * n + gid.x], sum); }"
        " c[gid.y * n + gid.x] = sum; }";
    static const uint32_t sizes[][3] = {
        {130, 132, 20}, {5, 129, 9}, {128, 4, 8}, {1, 1, 1}, {7, 6, 0}};
    static float numbers[2][20000];
    vyre_strbuf text = {0};
    vyre_module *module;
    expect_ok(vyre_file_read("ops/matmul.vyre", 1 << 20, &text));
    expect_ok(vyre_module_parse("matmul.vyre", text.data, text.size, NULL, &module));
    vyre_program *program = vyre_module_find(module, "matmul_gpu"), *plain = parsed(plain_text);
    assert_non_null(program);
    for (uint32_t i = 0; i < 20000; i++) {
        numbers[0][i] = (float)(i * 7919 % 251) / 7 - 11;
        numbers[1][i] = i % 97 ? (float)(i * 104729 % 509) / 13 - 17 : 0;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
        const vyre_input inputs[] = {
            {&m, 4}, {&n, 4}, {&k, 4}, {numbers[0], 4 * m * k}, {numbers[1], 4 * k * n}};
        vyre_outputs expected, found;
        expect_ok(vyre_device_dispatch(oracle, plain, inputs, 5, NULL, &expected));
        expect_ok(vyre_device_dispatch(subject, program, inputs, 5, NULL, &found));
        assert_int_equal(found.items[0].size, expected.items[0].size);
        assert_memory_equal(found.items[0].data, expected.items[0].data, found.items[0].size);
        vyre_outputs_free(&expected);
        vyre_outputs_free(&found);
    }
    vyre_module_free(module);
    vyre_program_release(plain);
    vyre_strbuf_free(&text);
}

/* Subgroups that are parts of warps: where the whole workgroup comes along, all lanes of a warp
 * exchange values together, and each takes its own subgroup's; elsewhere only those of a subgroup.
 */
static void parts_of_warps(void **state) {
    (void)state;
    static const struct {
        const char *text, *mask;
    } rows[] = {
        {"program p(x: buffer<u32>, y: out buffer<u32>[64]) over y workgroup 16 subgroup 8 { "
         "y[gid] = subgroup_inclusive_add(x[gid]) + u32(subgroup_any(x[gid] > 40)) * 1000; }",
         ", 65535;"},
        {"program p(x: buffer<u32>, y: out buffer<u32>[64]) over y workgroup 64 subgroup 16 { "
         "y[gid] = subgroup_shuffle_xor(x[gid], 3) + u32(subgroup_all(x[gid] < 100)); }",
         ", 0xffffffff;"},
        {"program p(x: buffer<u32>, y: out buffer<u32>[64]) over y workgroup 64 subgroup 8 { "
         "if subgroup_id % 2 == 0 { y[gid] = subgroup_add(x[gid]); } }",
         "shl.b32"},
    };
    uint32_t numbers[64];
    for (uint32_t i = 0; i < 64; i++) {
        numbers[i] = i * 7919 % 101;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_program *program = parsed(rows[i].text);
        const vyre_input input = {numbers, sizeof numbers};
        const cuda_target target = {.sm = 90, .isa = 80, .prefix = "phase"};
        cuda_phase_info info;
        vyre_strbuf ptx = {0};
        expect_ok(cuda_emit(program, &target, &ptx, &info));
        assert_non_null(strstr(vyre_strbuf_string(&ptx), rows[i].mask));
        run_both(program, &input, 1, NULL, rows[i].text);
        vyre_strbuf_free(&ptx);
        vyre_program_release(program);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),
        cmocka_unit_test(programs_about_indices),
        cmocka_unit_test(neighbours_of_numbers),
        cmocka_unit_test(domains_of_the_config),
        cmocka_unit_test(examples),
        cmocka_unit_test(widest_subgroups),
        cmocka_unit_test(parts_of_threads),
        cmocka_unit_test(neighbours_that_look_different),
        cmocka_unit_test(counters_that_are_carried),
        cmocka_unit_test(lanes_stay_together),
        cmocka_unit_test(floats),
        cmocka_unit_test(divisions),
        cmocka_unit_test(products),
        cmocka_unit_test(parts_of_warps),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
