/* subgroup_matrix_mad: what the verifier takes, how it is stored, what passes make of it, and what
 * the reference and the cpu backend compute, against a plain product. */
#include "tests/unit/cpu_check.h"
#include "tests/unit/matrix_check.h"

#include <vyre/reference.h>
#include <vyre/registry.h>
#include <vyre/sanitize.h>
#include <vyre/wire.h>

#include "base/alloc.h"
#include "ir/verify.h"
#include "pass/pass.h"

static uint32_t count_ops(const vyre_program *program, vyre_op op) {
    const vyre_ir *ir = vyre_program_ir(program);
    uint32_t count = 0;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        count += ir->insts[i].op == op;
    }
    return count;
}

/* What lanes hold */

static void reference_gives_the_plain_product(void **state) {
    (void)state;
    static matrix_data m;
    vyre_program *program = contract_program(MATRIX_TEXT);
    for (uint64_t seed = 0; seed < 5; seed++) {
        matrix_fill(&m, seed);
        const vyre_input inputs[] = {{m.a, sizeof m.a}, {m.b, sizeof m.b}, {m.c, sizeof m.c}};
        vyre_reference_options options = {.seed = seed};
        vyre_outputs outputs;
        expect_ok(vyre_reference_run(program, inputs, 3, NULL, &options, &outputs));
        assert_int_equal(outputs.items[0].size, sizeof m.expected);
        assert_memory_equal(outputs.items[0].data, m.expected, sizeof m.expected);
        vyre_outputs_free(&outputs);
    }
    assert_int_equal(m.expected[0][0][0], 32 * 128 * 128);
    assert_int_equal(m.expected[2][3][3], INT32_MIN + 32 * 128 * 128 - 1);
    assert_int_equal(m.expected[3][15][7], INT32_MAX - 32 * 127 * 128 + 1);
    vyre_program_release(program);
}

/* Subgroups that do not come there have no part in it, and lose nothing. */
#define BRANCHES                                                                                   \
    "program p(x: buffer<u32>, y: out buffer<i32>[len(x)]) over x workgroup 128 {\n"               \
    "    var sum = i32(gid);\n"                                                                    \
    "    for turn in 0..subgroup_id {\n"                                                           \
    "        if subgroup_id != 2 {\n"                                                              \
    "            let (d, e, f, g) = subgroup_matrix_mad(x[gid], turn, lane, gid, x[gid] ^ turn,\n" \
    "                lid * 9999, sum, 5, -(sum), 0);\n"                                            \
    "            sum = d ^ e ^ f ^ g;\n"                                                           \
    "        }\n"                                                                                  \
    "    }\n"                                                                                      \
    "    y[gid] = sum;\n"                                                                          \
    "}\n"

static void run_on(vyre_device *device, const vyre_program *program, const vyre_input *inputs,
                   size_t count) {
    vyre_outputs expected, found;
    expect_ok(vyre_reference_run(program, inputs, count, NULL, NULL, &expected));
    expect_ok(vyre_device_dispatch(device, program, inputs, count, NULL, &found));
    assert_int_equal(found.items[0].size, expected.items[0].size);
    assert_memory_equal(found.items[0].data, expected.items[0].data, found.items[0].size);
    vyre_outputs_free(&expected);
    vyre_outputs_free(&found);
}

static void cpu_gives_the_plain_product(void **state) {
    (void)state;
    static matrix_data m;
    static uint32_t numbers[512];
    if (!cpu_check_available()) {
        skip();
    }
    vyre_device *device;
    expect_ok(vyre_acquire("cpu", &device));
    vyre_program *program = contract_program(MATRIX_TEXT);
    for (uint64_t seed = 0; seed < 3; seed++) {
        matrix_fill(&m, seed);
        const vyre_input inputs[] = {{m.a, sizeof m.a}, {m.b, sizeof m.b}, {m.c, sizeof m.c}};
        vyre_outputs outputs;
        expect_ok(vyre_device_dispatch(device, program, inputs, 3, NULL, &outputs));
        assert_memory_equal(outputs.items[0].data, m.expected, sizeof m.expected);
        vyre_outputs_free(&outputs);
    }
    vyre_program_release(program);
    uint64_t drawn = 3;
    for (uint32_t i = 0; i < 512; i++) {
        numbers[i] = matrix_draw(&drawn) * 5;
    }
    program = contract_program(BRANCHES);
    run_on(device, program, (const vyre_input[]){{numbers, sizeof numbers}}, 1);
    vyre_program_release(program);
    matrix_whole_check(device);
    vyre_device_release(device);
}

/* No race, nothing unwritten: the operation itself touches no memory. */
static void sanitizer_has_nothing_to_say(void **state) {
    (void)state;
    static matrix_data m;
    matrix_fill(&m, 9);
    vyre_program *program = contract_program(MATRIX_TEXT);
    const vyre_input inputs[] = {{m.a, sizeof m.a}, {m.b, sizeof m.b}, {m.c, sizeof m.c}};
    vyre_findings *findings;
    expect_ok(vyre_sanitize(program, inputs, 3, NULL, &findings));
    assert_int_equal(vyre_findings_count(findings), 0);
    vyre_findings_free(findings);
    vyre_program_release(program);
}

/* What is refused */

static void refuse(const char *clause, const char *code, const char *message) {
    char text[700];
    snprintf(text, sizeof text,
             "program p(x: buffer<u32>, f: buffer<f32>, n: u32, y: out buffer<i32>[64]) over 64 %s "
             "{ let u = 1u; %s }",
             clause, code);
    vyre_module *module;
    vyre_status status = vyre_module_parse("test.vyre", text, strlen(text), NULL, &module);
    if (!status) {
        fail_msg("taken: %s", text);
    }
    if (!strstr(vyre_status_text(status), message)) {
        fail_msg("%s\ninstead of: %s", vyre_status_text(status), message);
    }
    vyre_status_free(status);
}

static void verifier_refuses_what_is_wrong(void **state) {
    (void)state;
#define MAD "subgroup_matrix_mad(u, u, u, u, u, u, 1, 2, 3, 4)"
#define ALL "let (d, _e, _f, _g) = "
    refuse("workgroup 64 subgroup 16", ALL MAD "; y[gid] = d;", "needs subgroups of 32 lanes");
    refuse("workgroup 64 subgroup 64", ALL MAD "; y[gid] = d;", "those of the phase have 64");
    refuse("", ALL MAD "; y[gid] = d;", "workgroup clause");
    refuse("workgroup 64", ALL "subgroup_matrix_mad(u, u, f[0], u, u, u, 1, 2, 3, 4); y[gid] = d;",
           "operand 3 of `subgroup_matrix_mad` is f32, expected u32");
    refuse("workgroup 64", ALL "subgroup_matrix_mad(u, u, u, u, u, u, u, 2, 3, 4); y[gid] = d;",
           "operand 7 of `subgroup_matrix_mad` is u32, expected i32");
    refuse("workgroup 64", ALL "subgroup_matrix_mad(u, u, u, u, u, u, 1, 2, 3); y[gid] = d;",
           "takes 10 operands, found 9");
    refuse("workgroup 64", "let (d, e) = " MAD "; y[gid] = d + e;", "gives 4 values, 2 are named");
    refuse("workgroup 64", "let d = " MAD "; y[gid] = d;", "gives 4 values");
    refuse("workgroup 64", "y[gid] = " MAD " + 1;", "gives 4 values");
    refuse("workgroup 64", "if lane < 7 { " ALL MAD "; y[gid] = d; }",
           "must be reached by the whole subgroup together");
    /* What it gives is not the same in all lanes. */
    refuse("workgroup 64", ALL MAD "; if d > 0 { barrier; }", "`subgroup_matrix_mad`");
}

/* Damage */

static void wire_is_damaged(uint32_t byte, uint8_t by, const char *message) {
    vyre_program *program = contract_program(MATRIX_TEXT), *decoded;
    uint8_t *bytes;
    size_t size;
    expect_ok(vyre_wire_encode(program, VYRE_WIRE_NO_DEBUG, &bytes, &size));
    bytes[byte] = by;
    expect_fail(vyre_wire_decode(bytes, size, &decoded), VYRE_STATUS_MALFORMED, message);
    vyre_bytes_free(bytes);
    vyre_program_release(program);
}

static void wire_states_the_version_that_has_it(void **state) {
    (void)state;
    vyre_program *program = contract_program(MATRIX_TEXT), *decoded;
    uint8_t *bytes, *again;
    size_t size, again_size;
    expect_ok(vyre_wire_encode(program, 0, &bytes, &size));
    assert_int_equal(bytes[10], 1);
    expect_ok(vyre_wire_decode(bytes, size, &decoded));
    expect_ok(vyre_wire_encode(decoded, 0, &again, &again_size));
    assert_int_equal(again_size, size);
    assert_memory_equal(again, bytes, size);
    vyre_digest left = vyre_program_digest(program), right = vyre_program_digest(decoded);
    assert_true(left.low == right.low && left.high == right.high);
    vyre_bytes_free(bytes);
    vyre_bytes_free(again);
    vyre_program_release(program);
    vyre_program_release(decoded);
    program = contract_program(TWICE);
    expect_ok(vyre_wire_encode(program, 0, &bytes, &size));
    assert_int_equal(bytes[10], 0);
    bytes[10] = 1;
    expect_fail(vyre_wire_decode(bytes, size, &decoded), VYRE_STATUS_MALFORMED,
                "the header gives version 1.1, and the program needs 1.0");
    vyre_bytes_free(bytes);
    vyre_program_release(program);
    wire_is_damaged(10, 0, "the header gives version 1.0, and the program needs 1.1");
}

/* The form of the arrays, which a builder never gets wrong. */
static void verifier_refuses_a_group_of_another_form(void **state) {
    (void)state;
    static const struct {
        uint32_t inst; /* behind the operation */
        uint32_t field, value;
        const char *message;
    } rows[] = {
        {0, 'b', 9, "number of operands"},
        {0, 'c', 0, "does not match its results"},
        {0, 't', VYRE_TYPE_I32, "has the wrong type"},
        {2, 'b', 3, "does not match its results"},
        {4, 't', VYRE_TYPE_U32, "does not match its results"},
    };
    vyre_program *program = contract_program(MATRIX_TEXT);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_ir ir = *vyre_program_ir(program);
        vyre_inst *insts = vyre_alloc_array(ir.inst_count, sizeof *insts);
        memcpy(insts, ir.insts, ir.inst_count * sizeof *insts);
        vyre_inst *at = insts;
        while (at->op != VYRE_OP_MATRIX_MAD) {
            at++;
        }
        at += rows[i].inst;
        switch (rows[i].field) {
        case 'b': at->b = rows[i].value; break;
        case 'c': at->c = rows[i].value; break;
        default: at->type = (uint8_t)rows[i].value; break;
        }
        ir.insts = insts;
        vyre_diagnostics *diagnostics;
        expect_ok(vyre_diagnostics_create(&diagnostics));
        expect_fail(vyre_verify(&ir, diagnostics, NULL), VYRE_STATUS_INVALID_PROGRAM,
                    rows[i].message);
        vyre_diagnostics_free(diagnostics);
        vyre_free(insts);
    }
    vyre_program_release(program);
}

/* Passes */

static void passes_take_it_as_one(void **state) {
    (void)state;
    vyre_program *program = contract_program(
        "program p(x: buffer<u32>, y: out buffer<i32>[64]) over 64 workgroup 64 {\n"
        "    let u = x[gid];\n"
        "    let (a, b, _c, _d) = subgroup_matrix_mad(u, 1, 2, 3, 4, 5, 6, 7, 8, 9);\n"
        "    let (e, _f, g, _h) = subgroup_matrix_mad(u, 1, 2, 3, 4, 5, 6, 7, 8, 9);\n"
        "    let (i, _j, _k, _l) = subgroup_matrix_mad(u, 1, 2, 3, 4, 5, 6, 7, 8, 0);\n"
        "    let (_m, _n, _o, _p) = subgroup_matrix_mad(u, 1, 2, 3, 4, 5, 6, 7, 0, 0);\n"
        "    y[gid] = a + b + e * g + i;\n"
        "}\n");
    vyre_program *same, *lean;
    assert_int_equal(vyre_program_stats(program).subgroup_ops, 4);
    expect_ok(vyre_cse(program, &same));
    assert_non_null(same);
    assert_int_equal(count_ops(same, VYRE_OP_MATRIX_MAD), 3);
    expect_ok(vyre_dce(same, &lean));
    assert_non_null(lean);
    assert_int_equal(count_ops(lean, VYRE_OP_MATRIX_MAD), 2);
    assert_int_equal(count_ops(lean, VYRE_OP_RESULT), 8);
    uint32_t x[64];
    for (uint32_t i = 0; i < 64; i++) {
        x[i] = i * 2654435761u;
    }
    const vyre_input inputs[] = {{x, sizeof x}};
    vyre_outputs before, after;
    expect_ok(vyre_reference_run(program, inputs, 1, NULL, NULL, &before));
    expect_ok(vyre_reference_run(lean, inputs, 1, NULL, NULL, &after));
    assert_memory_equal(before.items[0].data, after.items[0].data, before.items[0].size);
    vyre_outputs_free(&before);
    vyre_outputs_free(&after);
    vyre_program_release(program);
    vyre_program_release(same);
    vyre_program_release(lean);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_gives_the_plain_product),
        cmocka_unit_test(cpu_gives_the_plain_product),
        cmocka_unit_test(sanitizer_has_nothing_to_say),
        cmocka_unit_test(verifier_refuses_what_is_wrong),
        cmocka_unit_test(wire_states_the_version_that_has_it),
        cmocka_unit_test(verifier_refuses_a_group_of_another_form),
        cmocka_unit_test(passes_take_it_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
