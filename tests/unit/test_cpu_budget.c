/* Budgets of compiling: short texts that used to keep LLVM busy for minutes are handed to it in a
 * size that it compiles in time. Sizes are counted, not seconds. The plain form that large phases
 * get computes the oracle's bytes, and never leaves an array. */
#define _GNU_SOURCE /* guarded.h */

#include <string.h>

#include "backend/cpu/codegen/emit.h"
#include "backend/cpu/codegen/llvm_effort.h"
#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "bench/scaling_programs.h"
#include "ir/program.h"
#include "pass/pass.h"
#include "tests/unit/cpu_check.h"
#include "tests/unit/guarded.h"

static vyre_module *parse(const char *text) {
    vyre_module *module;
    guarded_expect_ok(vyre_module_parse("budget", text, strlen(text), NULL, &module));
    return module;
}

/* The effort that is made for a text with vectors of so many lanes; its code in bytes, too. */
static cpu_llvm_effort effort_of(const char *text, uint32_t lanes, size_t *out_bytes) {
    const cpu_target target = {.lanes = lanes, .has_half = true, .has_gather = lanes > 4};
    vyre_module *module = parse(text);
    const vyre_program *program = vyre_module_program(module, 0);
    vyre_strbuf ir = {0};
    cpu_phase_info infos[1];
    assert_int_equal(vyre_program_ir(program)->phase_count, 1);
    guarded_expect_ok(cpu_lower_and_emit(program, &target, &ir, infos));
    cpu_llvm_effort effort = cpu_llvm_effort_of(vyre_strbuf_string(&ir));
    *out_bytes = ir.size;
    vyre_strbuf_free(&ir);
    vyre_module_free(module);
    return effort;
}

/* With an effort, and from so many bytes at most. */
static void expect(const char *text, cpu_llvm_effort effort, size_t most_bytes) {
    for (uint32_t lanes = 4; lanes <= 16; lanes *= 2) {
        size_t bytes;
        assert_int_equal(effort_of(text, lanes, &bytes), effort);
        assert_in_range(bytes, 1, most_bytes);
    }
}

static void write_and_expect(void (*write)(vyre_strbuf *out, uint32_t insts), uint32_t insts,
                             cpu_llvm_effort effort, size_t most_bytes) {
    vyre_strbuf text = {0};
    write(&text, insts);
    expect(vyre_strbuf_string(&text), effort, most_bytes);
    vyre_strbuf_free(&text);
}

/* 60 of them took 54 s. Straight code of that size would lose the full effort, so they stay. */
static void loops_of_16_stay(void **state) {
    (void)state;
    write_and_expect(scaling_unrolled, 540, CPU_LLVM_FULL, 400000);
}

/* Stores of which no two invocations share an element, most of them past the end. */
static void write_spread(vyre_strbuf *out, uint32_t insts) {
    vyre_strbuf_printf(out, "%s {\n    let v = x[gid];\n", scaling_head);
    for (uint32_t i = 0; i < insts / 3; i++) {
        vyre_strbuf_printf(out, "    y[gid * %u + %u] = v + %u;\n", insts / 3, i, i);
    }
    vyre_strbuf_puts(out, "}\n");
}

/* A thousand took 8.5 s. Each is an address, and LLVM takes the square of their number. */
static void straight_stores(void **state) {
    (void)state;
    write_and_expect(scaling_stores, 4 * 1024, CPU_LLVM_LEAST, 600000);
    write_and_expect(scaling_stores, 4 * 4096, CPU_LLVM_LEAST, 2400000);
    write_and_expect(write_spread, 3 * 1024, CPU_LLVM_LEAST, 600000);
    write_and_expect(write_spread, 3 * 300, CPU_LLVM_FULL, 600000);
}

/* They took 18 s. */
static void loads_with_odd_indices(void **state) {
    (void)state;
    write_and_expect(scaling_loads, 1250, CPU_LLVM_FULL, 1200000);
}

static void nested_loops_with_private_arrays(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text,
                     "fn f0(v: u32) -> u32 { var s = v; var a: u32[16];\n"
                     "for i in 0..16 { a[i] = s + i; s = s * 3 + a[15 - i]; } return s; }\n");
    for (uint32_t i = 1; i < 4; i++) {
        vyre_strbuf_printf(&text,
                           "fn f%u(v: u32) -> u32 { var s = v; var a: u32[16];\n"
                           "for i in 0..16 { a[i] = f%u(s + i); s ^= a[15 - i]; } return s; }\n",
                           i, i - 1);
    }
    vyre_strbuf_printf(&text, "%s { y[gid] = f3(x[gid]); }\n", scaling_head);
    expect(vyre_strbuf_string(&text), CPU_LLVM_FULL, 400000);
    vyre_strbuf_free(&text);
}

/* The effort falls with the size, so that the time of LLVM grows as the size does. */
static void effort_falls_with_size(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    size_t bytes;
    scaling_loads(&text, 40000);
    assert_int_equal(effort_of(vyre_strbuf_string(&text), 8, &bytes), CPU_LLVM_LEAST);
    vyre_strbuf_free(&text);
}

static void refuse(const char *text) {
    vyre_module *module = parse(text);
    vyre_program *lowered;
    vyre_status status = vyre_lower_program(vyre_module_program(module, 0), true, &lowered);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
    assert_non_null(strstr(vyre_status_text(status), "at most 131072"));
    assert_non_null(strstr(vyre_status_text(status), "Fix: "));
    vyre_status_free(status);
    vyre_module_free(module);
}

static void too_many_instructions_are_refused(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    scaling_chain(&text, 140000);
    refuse(vyre_strbuf_string(&text));
    vyre_strbuf_cut(&text, 0);
    scaling_functions(&text, 91 * 10000); /* by what they become */
    refuse(vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
}

/* Subgroups need vectors, whose code is many times as large. */
static void too_much_code_is_refused(void **state) {
    (void)state;
    const cpu_target target = {.lanes = 8, .has_gather = true};
    vyre_strbuf text = {0}, ir = {0};
    scaling_subgroups(&text, 30000);
    vyre_module *module = parse(vyre_strbuf_string(&text));
    cpu_phase_info infos[1];
    vyre_status status = cpu_emit(vyre_module_program(module, 0), &target, &ir, infos);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
    assert_non_null(strstr(vyre_status_text(status), "too large for backend `cpu`"));
    vyre_status_free(status);
    vyre_module_free(module);
    vyre_strbuf_free(&text);
    vyre_strbuf_free(&ir);
}

/* Values that leave their block lie on the stack of whoever calls, which may be small. */
static void too_much_stack_is_refused(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_device *cpu;
    vyre_pipeline *pipeline;
    guarded_expect_ok(vyre_acquire("cpu", &cpu));
    scaling_carried(&text, 80000);
    vyre_program *program = contract_program(vyre_strbuf_string(&text));
    vyre_status status = vyre_device_compile(cpu, program, NULL, &pipeline);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
    assert_non_null(strstr(vyre_status_text(status), "stack frame size"));
    vyre_status_free(status);
    vyre_program_release(program);
    vyre_device_release(cpu);
    vyre_strbuf_free(&text);
}

/* Plain code, which LLVM compiles with little or with no effort, between guard pages. */
static void plain_code_gives_the_oracles_bytes(void **state) {
    (void)state;
    static void (*const kinds[])(vyre_strbuf * out, uint32_t insts) = {
        write_spread, scaling_loads, scaling_loops, scaling_ifs, scaling_barriers, scaling_atomics};
    static uint32_t x[64], y[77];
    vyre_device *oracle, *cpu;
    guarded_expect_ok(vyre_reference_open_oracle(&oracle));
    guarded_expect_ok(vyre_acquire("cpu", &cpu));
    for (uint32_t i = 0; i < 64; i++) {
        x[i] = i * 7 % 13;
    }
    const vyre_input inputs[] = {{x, sizeof x}, {y, sizeof y}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        vyre_strbuf text = {0};
        kinds[i](&text, 18000);
        vyre_program *program = contract_program(vyre_strbuf_string(&text));
        guarded_run(oracle, cpu, program, inputs, 2, NULL, i % 2);
        vyre_program_release(program);
        vyre_strbuf_free(&text);
    }
    vyre_device_release(oracle);
    vyre_device_release(cpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_of_16_stay),
        cmocka_unit_test(straight_stores),
        cmocka_unit_test(loads_with_odd_indices),
        cmocka_unit_test(nested_loops_with_private_arrays),
        cmocka_unit_test(effort_falls_with_size),
        cmocka_unit_test(too_many_instructions_are_refused),
        cmocka_unit_test(too_much_code_is_refused),
        cmocka_unit_test(too_much_stack_is_refused),
        cmocka_unit_test(plain_code_gives_the_oracles_bytes),
    };
    contract_without_cache();
    return cpu_check_available() ? cmocka_run_group_tests(tests, NULL, NULL) : CPU_SKIPPED;
}
