/* Binding plans: what is refused and with which words, the sizes and grids that come out, and that
 * lack of memory is said and leaves nothing behind, here and in whole runs of the reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/reference.h>
#include <vyre/text.h>

#include "base/strbuf.h"
#include "runtime/plan.h"
#include "tests/unit/failing_allocator.h"

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

#define BYTES(value) ((vyre_input){&(value), sizeof(value)})

static uint64_t scratch_bytes(const vyre_plan *plan) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < plan->ir->resource_count; i++) {
        const vyre_resource *row = &plan->ir->resources[i];
        if (row->kind == VYRE_RESOURCE_SCRATCH) {
            bytes += vyre_plan_length(plan, i) * vyre_type_bytes((vyre_type)row->type);
        }
    }
    return bytes;
}

/* Nobody reads the elements of a buffer to make a plan. */
static vyre_input elements(uint64_t bytes) {
    return (vyre_input){.data = "", .size = (size_t)bytes};
}

static void accept(vyre_plan *plan, const vyre_program *program, const vyre_input *inputs,
                   size_t count) {
    vyre_status status = vyre_plan_init(plan, program, inputs, count, &(vyre_dispatch_config){0});
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

/* Refused with that code, all these words in the message, and a Fix; the plan stays empty. */
static void refuse_with(const vyre_program *program, const vyre_input *inputs, size_t count,
                        const vyre_dispatch_config *config, vyre_status_code code,
                        const char *const *words) {
    vyre_plan plan;
    vyre_status status = vyre_plan_init(&plan, program, inputs, count, config);
    if (!status) {
        fail_msg("it was accepted, though \"%s\" was expected", words[0]);
    }
    assert_int_equal(vyre_status_code_of(status), code);
    for (size_t i = 0; words[i]; i++) {
        if (!strstr(vyre_status_message(status), words[i])) {
            fail_msg("\"%s\" is not in \"%s\"", words[i], vyre_status_message(status));
        }
    }
    assert_non_null(strstr(vyre_status_text(status), "Fix: "));
    vyre_status_free(status);
    assert_null(plan.arguments);
    assert_null(plan.sizes);
    assert_null(plan.inputs);
    assert_null(plan.outputs);
    vyre_plan_deinit(&plan); /* does no harm */
}

#define REFUSE(program, inputs, count, code, ...)                                                  \
    refuse_with(program, inputs, count, &(vyre_dispatch_config){0}, VYRE_STATUS_##code,            \
                (const char *const[]){__VA_ARGS__, NULL})

static const char mixed[] =
    "program mixed(n: i32, x: buffer<f32>, flag: bool, a: out buffer<u16>[n + 1],\n"
    "              y: inout buffer<u64>, b: out buffer<u8>[len(x) * 2], z: buffer<i8>[len(y)],\n"
    "              c: out buffer<f64>[len(b)]) {\n"
    "    scratch s: u32[len(x) + len(a)];\n"
    "    scratch t: u8[3];\n"
    "    phase over x { if flag { b[gid] = u8(s[gid]) + u8(z[gid]); } }\n"
    "    phase over (n, len(y)) workgroup 4, 2 { a[gid.x] = u16(t[gid.y]); }\n"
    "    repeat n { phase over y[0] max len(x) workgroup 8 { y[gid] = u64(c[gid]); } }\n"
    "}\n";

/* The grid of a phase outside of repeats, if its domain comes from memory as `count`. */
static vyre_grid grid_of(const vyre_plan *plan, uint32_t phase, int64_t count) {
    const vyre_call call = vyre_plan_call(plan, NULL, NULL);
    const int64_t counts[3] = {count, count, count};
    return vyre_call_grid(plan->ir, &call, phase, NULL, counts);
}

static void sizes_grids_and_the_order_of_outputs(void **state) {
    (void)state;
    vyre_program *program = parse(mixed);
    const int32_t n = 5;
    const uint8_t flag = 1;
    const vyre_input inputs[] = {BYTES(n), elements(40), BYTES(flag), elements(24), elements(3)};
    vyre_plan plan;
    accept(&plan, program, inputs, 5);
    assert_ptr_equal(plan.program, program);
    assert_int_equal(plan.input_count, 5);
    assert_int_equal(plan.output_count, 4);
    const uint32_t input_args[] = {0, 1, 2, 4, 6}, output_args[] = {3, 4, 5, 7};
    assert_memory_equal(plan.inputs, input_args, sizeof input_args);
    assert_memory_equal(plan.outputs, output_args, sizeof output_args);
    const uint64_t arguments[] = {5, 10, 1, 6, 3, 20, 3, 20};
    assert_memory_equal(plan.arguments, arguments, sizeof arguments);
    const uint64_t bytes[] = {12, 24, 20, 160};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(vyre_plan_output_bytes(&plan, i), bytes[i]);
    }
    assert_int_equal(plan.output_bytes, 12 + 24 + 20 + 160);
    assert_int_equal(scratch_bytes(&plan), (10 + 6) * 4 + 3);
    /* Buffers in the order of arguments, then scratch. */
    const uint64_t lengths[] = {10, 6, 3, 20, 3, 20, 16, 3};
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(vyre_plan_length(&plan, i), lengths[i]);
    }
    vyre_grid grid = grid_of(&plan, 0, 0);
    assert_memory_equal(&grid, &((vyre_grid){{10, 1, 1}, {0, 0, 0}}), sizeof grid);
    grid = grid_of(&plan, 1, 99);
    assert_memory_equal(&grid, &((vyre_grid){{5, 3, 1}, {2, 2, 1}}), sizeof grid);
    vyre_plan_deinit(&plan);
    vyre_program_release(program);
}

static void a_domain_from_memory_is_cut_off(void **state) {
    (void)state;
    vyre_program *program = parse(mixed);
    const int32_t n = 5;
    const uint8_t flag = 0;
    const vyre_input inputs[] = {BYTES(n), elements(40), BYTES(flag), elements(24), elements(3)};
    vyre_plan plan;
    accept(&plan, program, inputs, 5);
    const struct {
        int64_t element;
        uint64_t domain, groups;
    } rows[] = {{0, 0, 0},   {1, 1, 1},          {8, 8, 1},         {9, 9, 2}, {10, 10, 2},
                {11, 10, 2}, {INT64_MAX, 10, 2}, {INT64_MIN, 0, 0}, {-1, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_grid grid = grid_of(&plan, 2, rows[i].element);
        assert_int_equal(grid.domain[0], rows[i].domain);
        assert_int_equal(grid.groups[0], rows[i].groups);
        assert_int_equal(grid.domain[1], 1);
        assert_int_equal(grid.groups[1], 1);
    }
    vyre_plan_deinit(&plan);
    vyre_program_release(program);
}

static void inputs_that_do_not_fit_are_refused(void **state) {
    (void)state;
    vyre_program *program = parse(mixed);
    const int32_t n = 5;
    const uint8_t no = 0, two = 2;
    vyre_input inputs[6] = {BYTES(n), elements(40), BYTES(no), elements(24), elements(3)};
    REFUSE(program, inputs, 4, INVALID_ARGUMENT, "mixed", "takes 5 inputs", "found 4");
    REFUSE(program, inputs, 6, INVALID_ARGUMENT, "takes 5 inputs", "found 6");
    REFUSE(program, NULL, 0, INVALID_ARGUMENT, "takes 5 inputs", "found 0");
    inputs[0].size = 8;
    REFUSE(program, inputs, 5, INVALID_ARGUMENT, "`n`", "wrong number of bytes", "found 8",
           "expected 4");
    inputs[0].size = 0;
    REFUSE(program, inputs, 5, INVALID_ARGUMENT, "`n`", "found 0", "expected 4");
    inputs[0].size = 4;
    inputs[1].size = 41;
    REFUSE(program, inputs, 5, INVALID_ARGUMENT, "`x`", "multiple", "found 41", "expected 40");
    inputs[1].size = 40;
    inputs[2] = BYTES(two);
    REFUSE(program, inputs, 5, INVALID_ARGUMENT, "`flag`", "bool", "found 2");
    inputs[2] = BYTES(no);
    inputs[4].size = 4;
    REFUSE(program, inputs, 5, INVALID_ARGUMENT, "`z`", "wrong number of elements", "found 4",
           "expected 3");
    vyre_program_release(program);
}

static void a_declared_length_holds_for_every_access(void **state) {
    (void)state;
    vyre_program *program = parse("program p(x: inout buffer<u32>[8]) over x { x[gid] = 1; }");
    vyre_input input = elements(32);
    vyre_plan plan;
    accept(&plan, program, &input, 1);
    assert_int_equal(plan.output_bytes, 32);
    vyre_plan_deinit(&plan);
    input = elements(0);
    REFUSE(program, &input, 1, INVALID_ARGUMENT, "`x`", "found 0", "expected 8");
    vyre_program_release(program);
}

static void sizes_that_cannot_be_computed_are_refused(void **state) {
    (void)state;
    static const char *const forms[] = {
        "program p(n: i64, x: buffer<u8>, y: out buffer<u8>[%s]) over x { y[gid] = x[gid]; }",
        "program p(n: i64, x: buffer<u8>, y: inout buffer<u8>[%s]) over x { y[gid] = x[gid]; }",
        "program p(n: i64, x: buffer<u8>) { scratch s: u8[%s]; phase over x { s[gid] = 1; } }",
        "program p(n: i64, x: inout buffer<u8>) over %s { x[gid] = 1; }",
        "program p(n: i64, x: inout buffer<u8>) over (1, 1, %s) { x[gid.x] = 1; }",
        "program p(n: i64, x: inout buffer<u8>) over x[%s] max 5 { x[gid] = 1; }",
        "program p(n: i64, x: inout buffer<u8>) { repeat %s { phase over x { x[gid] = 1; } } }",
        "program p(n: i64, x: inout buffer<u8>) { repeat while x[%s] { phase over x { x[gid] = 0; "
        "} "
        "} }",
    };
    const struct {
        const char *size;
        int64_t n;
        const char *words;
    } rows[] = {
        {"len(x) - n", 11, "the size len(x) - n is less than zero"},
        {"n * 4611686018427387904 + len(x)", 4, "larger than 64 bits"},
        {"len(x) / n", 0, "divides by zero"},
        {"len(x) % n", 0, "divides by zero"},
        {"ceil_div(len(x), n)", 0, "divides by zero"},
        {"n", -1, "argument `n` is -1"},
        {"n + 18446744073709551615", 1, "larger than 64 bits"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            char text[300];
            int size = snprintf(text, sizeof text, forms[i], rows[k].size);
            assert_true(size > 0 && (size_t)size < sizeof text);
            vyre_program *program = parse(text);
            const vyre_input inputs[] = {BYTES(rows[k].n), elements(10), elements(10)};
            REFUSE(program, inputs, i == 1 ? 3 : 2, INVALID_ARGUMENT, rows[k].words);
            vyre_program_release(program);
        }
    }
}

static void arrays_that_are_too_long_are_refused(void **state) {
    (void)state;
    const uint64_t n = UINT32_MAX, more = (uint64_t)UINT32_MAX + 1;
    vyre_plan plan;
    vyre_program *out = parse("program p(n: u64, y: out buffer<f64>[n]) over 1 { y[0] = 1; }");
    vyre_input input = BYTES(n);
    accept(&plan, out, &input, 1);
    assert_int_equal(plan.output_bytes, n * 8);
    vyre_plan_deinit(&plan);
    input = BYTES(more);
    REFUSE(out, &input, 1, INVALID_ARGUMENT, "`y`", "too many elements", "found 4294967296",
           "expected 4294967295");
    vyre_program_release(out);

    vyre_program *scratch =
        parse("program p(n: u64) { scratch s: f64[n]; phase over 1 { s[0] = 1; } }");
    input = BYTES(n);
    accept(&plan, scratch, &input, 1);
    assert_int_equal(scratch_bytes(&plan), n * 8);
    vyre_plan_deinit(&plan);
    input = BYTES(more);
    REFUSE(scratch, &input, 1, LIMIT, "scratch", "4294967296 elements");
    vyre_program_release(scratch);

    vyre_program *in = parse("program p(x: inout buffer<u8>) over 1 { x[0] = 1; }");
    input = elements(n);
    accept(&plan, in, &input, 1);
    assert_int_equal(vyre_plan_length(&plan, 0), n);
    vyre_plan_deinit(&plan);
    input = elements(more);
    REFUSE(in, &input, 1, INVALID_ARGUMENT, "`x`", "too many elements", "found 4294967296");
    vyre_program_release(in);
}

static void a_limit_of_output_bytes_holds(void **state) {
    (void)state;
    vyre_program *program =
        parse("program p(x: inout buffer<u32>, y: out buffer<u8>[len(x)],\n"
              "          z: buffer<u8>) over x { x[gid] = 1; y[gid] = z[gid]; }");
    const vyre_input inputs[] = {elements(400), elements(100000)};
    vyre_plan plan;
    assert_null(vyre_plan_init(&plan, program, inputs, 2,
                               &(vyre_dispatch_config){.max_output_bytes = 500}));
    vyre_plan_deinit(&plan);
    refuse_with(program, inputs, 2, &(vyre_dispatch_config){.max_output_bytes = 499},
                VYRE_STATUS_LIMIT, (const char *const[]){"500 bytes", "limit is 499", NULL});
    vyre_program_release(program);
}

/* gid is a u32, and that of the last invocation of the last workgroup has to fit. So is
 * num_workgroups. */
static void domains_end_where_positions_do(void **state) {
    (void)state;
    const struct {
        const char *over;
        uint64_t most;
        uint64_t groups;
    } rows[] = {
        {"n", (uint64_t)1 << 32, 0},
        {"n workgroup 1", UINT32_MAX, UINT32_MAX},
        {"n workgroup 256", (uint64_t)1 << 32, (uint64_t)1 << 24},
        {"n workgroup 3", ((uint64_t)1 << 32) - 1, 1431655765},
        {"n workgroup 1000", 4294967000, 4294967},
        {"x[0] max n workgroup 3", ((uint64_t)1 << 32) - 1, 1431655765},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "program p(n: u64, x: inout buffer<u32>) over %s { x[gid] = 1; }", rows[i].over);
        vyre_program *program = parse(text);
        const uint64_t most = rows[i].most, more = most + 1;
        vyre_input inputs[] = {BYTES(most), elements(0)};
        vyre_plan plan;
        accept(&plan, program, inputs, 2);
        vyre_grid grid = grid_of(&plan, 0, INT64_MAX);
        assert_int_equal(grid.domain[0], most);
        assert_int_equal(grid.groups[0], rows[i].groups);
        vyre_plan_deinit(&plan);
        inputs[0] = BYTES(more);
        REFUSE(program, inputs, 2, LIMIT, "a domain of", "too large");
        vyre_program_release(program);
    }
}

/* Scalars are extended to 64 bits by the rule of their type, wherever they lie in memory. */
static void scalars_are_extended_by_their_sign(void **state) {
    (void)state;
    static const struct {
        const char *type;
        uint64_t all_ones;
    } rows[] = {
        {"i8", UINT64_MAX},  {"i16", UINT64_MAX},  {"i32", UINT64_MAX}, {"i64", UINT64_MAX},
        {"u8", UINT8_MAX},   {"u16", UINT16_MAX},  {"u32", UINT32_MAX}, {"u64", UINT64_MAX},
        {"f16", UINT16_MAX}, {"bf16", UINT16_MAX}, {"f32", UINT32_MAX}, {"f64", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        snprintf(text, sizeof text, "program p(s: %s, x: inout buffer<%s>) over x { x[gid] = s; }",
                 rows[i].type, rows[i].type);
        vyre_program *program = parse(text);
        size_t size = vyre_type_bytes((vyre_type)vyre_program_ir(program)->args[0].type);
        uint8_t bytes[9];
        memset(bytes, 0xff, sizeof bytes);
        const vyre_input inputs[] = {{bytes + 1, size}, {NULL, 0}};
        vyre_plan plan;
        accept(&plan, program, inputs, 2);
        assert_int_equal(plan.arguments[0], rows[i].all_ones);
        vyre_plan_deinit(&plan);
        bytes[1] = 0x12;
        bytes[size] = size == 1 ? 0x12 : 0x34;
        accept(&plan, program, inputs, 2);
        assert_int_equal(plan.arguments[0] & 0xff, 0x12);
        assert_int_equal(plan.arguments[0] >> ((size - 1) * 8), size == 1 ? 0x12 : 0x34);
        vyre_plan_deinit(&plan);
        vyre_program_release(program);
    }
}

static void a_program_without_arguments_has_an_empty_plan(void **state) {
    (void)state;
    vyre_program *program =
        parse("program p() { scratch s: u32[4]; phase over 4 { s[gid] = gid; } }");
    vyre_plan plan;
    accept(&plan, program, NULL, 0);
    assert_int_equal(plan.input_count, 0);
    assert_int_equal(plan.output_count, 0);
    assert_int_equal(plan.output_bytes, 0);
    assert_int_equal(scratch_bytes(&plan), 16);
    vyre_plan_deinit(&plan);
    vyre_program_release(program);
}

typedef struct attempt {
    const vyre_program *program;
    const vyre_input *inputs;
    size_t input_count;
    uint64_t seed;
} attempt;

/* Repeats with the n-th allocation failing until none fails; returns how many there are. */
static size_t sweep(const attempt *about, vyre_status (*run)(const attempt *)) {
    for (size_t n = 1;; n++) {
        failing_allocator_start(n);
        vyre_status status = run(about);
        vyre_status_code code = vyre_status_code_of(status);
        bool has_text = *vyre_status_message(status);
        vyre_status_free(status);
        failing_allocator_end();
        if (failing_allocator_state.live) {
            fail_msg("%s: %td blocks are left after allocation %zu failed",
                     vyre_program_name(about->program), failing_allocator_state.live, n);
        }
        if (!failing_allocator_failed()) {
            assert_int_equal(code, VYRE_STATUS_OK);
            return failing_allocator_state.count;
        }
        if (code != VYRE_STATUS_OUT_OF_MEMORY || !has_text) {
            fail_msg("%s: the status after allocation %zu failed is \"%s\"",
                     vyre_program_name(about->program), n, vyre_status_code_name(code));
        }
    }
}

static vyre_status make_plan(const attempt *about) {
    vyre_plan plan;
    vyre_status status = vyre_plan_init(&plan, about->program, about->inputs, about->input_count,
                                        &(vyre_dispatch_config){0});
    vyre_plan_deinit(&plan);
    return status;
}

/* A plan of usual size allocates nothing, one of a program with many arguments a single block. */
static void allocation_failures_while_planning(void **state) {
    (void)state;
    vyre_program *program = parse(mixed);
    const int32_t n = 5;
    const uint8_t flag = 1;
    const vyre_input inputs[] = {BYTES(n), elements(40), BYTES(flag), elements(24), elements(3)};
    assert_int_equal(sweep(&(attempt){program, inputs, 5, 0}, make_plan), 0);
    vyre_program_release(program);

    enum { MANY = 200 };
    vyre_strbuf text = {0};
    vyre_input many[MANY];
    vyre_strbuf_puts(&text, "program many(");
    for (int i = 0; i < MANY; i++) {
        vyre_strbuf_printf(&text, "a%d: i32, ", i);
        many[i] = BYTES(n);
    }
    vyre_strbuf_puts(&text, "x: out buffer<i32>[1]) over x { x[gid] = a7; }");
    program = parse(vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
    assert_int_equal(sweep(&(attempt){program, many, MANY, 0}, make_plan), 1);
    vyre_program_release(program);
}

static vyre_status run_reference(const attempt *about) {
    vyre_outputs outputs;
    vyre_reference_options options = {.seed = about->seed};
    vyre_status status = vyre_reference_run(about->program, about->inputs, about->input_count, NULL,
                                            &options, &outputs);
    if (status && (outputs.items || outputs.count)) {
        fail_msg("a run that failed gave outputs");
    }
    vyre_outputs_free(&outputs);
    return status;
}

static void allocation_failures_while_running(void **state) {
    (void)state;
    static const char *const texts[] = {
        "program plain(x: inout buffer<f32>) over x { x[gid] = x[gid] * 2; }",
        "program groups(x: inout buffer<u32>) {\n"
        "    scratch s: u32[len(x)];\n"
        "    phase over x workgroup 16 {\n"
        "        shared part: u32[16];\n"
        "        var own: u32[4];\n"
        "        part[lid] = x[gid];\n"
        "        own[lid & 3] = lid;\n"
        "        barrier;\n"
        "        var sum = 0u;\n"
        "        for i in 0..16 { sum += part[i] + own[i]; }\n"
        "        s[gid] = sum;\n"
        "    }\n"
        "    repeat 2 { phase over s { x[gid] = s[gid]; } }\n"
        "}\n",
        "program together(x: inout buffer<u32>) over x workgroup 16 subgroup 8 {\n"
        "    x[gid] += subgroup_add(gid);\n"
        "    grid_barrier;\n"
        "    atomic_add(x[0], 1);\n"
        "}\n",
    };
    uint32_t words[32] = {1, 2, 3};
    const vyre_input input = BYTES(words);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        vyre_program *program = parse(texts[i]);
        for (uint64_t seed = 0; seed < 2; seed++) {
            assert_true(sweep(&(attempt){program, &input, 1, seed}, run_reference) > 8);
        }
        vyre_program_release(program);
    }
}

/* The definitions of the functions are parsed on first use and kept. Until then a failure leaves
 * nothing; the run that keeps them leaves them and no other does. */
static void allocation_failures_while_expanding_functions(void **state) {
    (void)state;
    vyre_program *program =
        parse("program f(x: inout buffer<f32>) over x { x[gid] = sin(x[gid]) + pow(x[gid], 2); }");
    const float numbers[4] = {0.5f, 1, 2, 3};
    const vyre_input input = BYTES(numbers);
    const attempt about = {program, &input, 1, 0};
    size_t n = 0;
    do {
        failing_allocator_start(++n);
        vyre_status status = run_reference(&about);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
        vyre_status_free(status);
        failing_allocator_end();
    } while (!failing_allocator_state.live);
    assert_true(n > 100);
    assert_true(sweep(&about, run_reference) > 20);
    vyre_program_release(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_grids_and_the_order_of_outputs),
        cmocka_unit_test(a_domain_from_memory_is_cut_off),
        cmocka_unit_test(inputs_that_do_not_fit_are_refused),
        cmocka_unit_test(a_declared_length_holds_for_every_access),
        cmocka_unit_test(sizes_that_cannot_be_computed_are_refused),
        cmocka_unit_test(arrays_that_are_too_long_are_refused),
        cmocka_unit_test(a_limit_of_output_bytes_holds),
        cmocka_unit_test(domains_end_where_positions_do),
        cmocka_unit_test(scalars_are_extended_by_their_sign),
        cmocka_unit_test(a_program_without_arguments_has_an_empty_plan),
        cmocka_unit_test(allocation_failures_while_planning),
        cmocka_unit_test(allocation_failures_while_running),
        cmocka_unit_test(allocation_failures_while_expanding_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
