/* Buffers of records: what the builder and the verifier accept, the binary form, and records
 * lowered to numbers for backends that have none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/builder.h>
#include <vyre/text.h>
#include <vyre/wire.h>

#include "ir/lookup.h"
#include "ir/verify.h"
#include "pass/records.h"
#include "tests/unit/failing_allocator.h"

static const char text[] =
    "struct P { a: vec3<f32>, b: u8, c: u16, d: f64, e: i32 }\n"
    "program p(x: inout buffer<P>, y: buffer<vec2<u16>>, z: out buffer<P>[len(x)], k: i64)\n"
    "    over x {\n"
    "    z[gid].d = f64(x[k].a.y) + x[gid].d;\n"
    "    z[gid].c = y[gid].y + x[gid].c;\n"
    "    x[gid].b = u8(len(z));\n"
    "    x[gid].e = atomic_max(z[gid].e, x[k].e);\n"
    "}\n";

static vyre_program *parse(const char *source, vyre_module **module) {
    vyre_status status = vyre_module_parse("p.vyre", source, strlen(source), NULL, module);
    if (status) {
        fail_msg("%s", vyre_status_message(status));
    }
    return vyre_module_program(*module, 0);
}

static bool is_same(const vyre_program *left, const vyre_program *right) {
    vyre_digest a = vyre_program_digest(left), b = vyre_program_digest(right);
    return a.low == b.low && a.high == b.high;
}

static void fields_are_those_that_are_used(void **state) {
    (void)state;
    vyre_module *module;
    const vyre_ir *ir = vyre_program_ir(parse(text, &module));
    static const struct {
        uint32_t buffer, offset;
        vyre_type type;
    } fields[] = {{0, 4, VYRE_TYPE_F32},  {0, 12, VYRE_TYPE_U8},  {0, 14, VYRE_TYPE_U16},
                  {0, 16, VYRE_TYPE_F64}, {0, 24, VYRE_TYPE_I32}, {1, 2, VYRE_TYPE_U16},
                  {2, 14, VYRE_TYPE_U16}, {2, 16, VYRE_TYPE_F64}, {2, 24, VYRE_TYPE_I32}};
    enum { COUNT = sizeof fields / sizeof *fields };
    assert_int_equal(ir->resource_count, 3 + COUNT);
    static const uint32_t bytes[] = {32, 4, 32};
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(vyre_resource_has_records(&ir->resources[i]));
        assert_int_equal(vyre_resource_stride(ir, &ir->resources[i]), bytes[i]);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const vyre_resource *row = &ir->resources[3 + i];
        assert_true(vyre_resource_is_field(row));
        assert_int_equal(row->size, fields[i].buffer);
        assert_int_equal(row->length, fields[i].offset);
        assert_int_equal(row->type, fields[i].type);
    }
    vyre_module_free(module);
}

static void printed_text_is_the_same_program(void **state) {
    (void)state;
    vyre_module *modules[2];
    vyre_program *program = parse(text, &modules[0]);
    char *printed;
    size_t size;
    assert_null(vyre_program_print(program, &printed, &size));
    assert_true(is_same(program, parse(printed, &modules[1])));
    vyre_string_free(printed);
    vyre_module_free(modules[0]);
    vyre_module_free(modules[1]);
}

static void binary_form_has_version_1_2_only_with_records(void **state) {
    (void)state;
    static const char *const sources[] = {
        text, "program q(x: inout buffer<f32>) over x { x[gid] = 1; }\n"};
    for (uint32_t i = 0; i < 2; i++) {
        vyre_module *module;
        vyre_program *program = parse(sources[i], &module), *decoded;
        uint8_t *bytes;
        size_t size;
        assert_null(vyre_wire_encode(program, 0, &bytes, &size));
        assert_int_equal(bytes[10] | bytes[11] << 8, i == 0 ? 2 : 0);
        assert_null(vyre_wire_decode(bytes, size, &decoded));
        assert_true(is_same(program, decoded));
        vyre_program_release(decoded);
        vyre_bytes_free(bytes);
        vyre_module_free(module);
    }
}

/* One field of one resource changed: what a hostile file could say. */
static void verifier_refuses_fields_that_are_none(void **state) {
    (void)state;
    vyre_module *module;
    const vyre_ir *good = vyre_program_ir(parse(text, &module));
    static const struct {
        uint32_t resource;
        vyre_resource row;
    } rows[] = {
        {0, {VYRE_RESOURCE_BUFFER, VYRE_TYPE_VOID, VYRE_ACCESS_INOUT, 0, VYRE_NONE, 0}},
        {0, {VYRE_RESOURCE_BUFFER, VYRE_TYPE_VOID, VYRE_ACCESS_INOUT, 0, VYRE_NONE, 4104}},
        {0, {VYRE_RESOURCE_BUFFER, VYRE_TYPE_VOID, VYRE_ACCESS_INOUT, 0, VYRE_NONE, 33}},
        {0, {VYRE_RESOURCE_BUFFER, VYRE_TYPE_VOID, VYRE_ACCESS_INOUT, 0, VYRE_NONE, 24}},
        {3, {VYRE_RESOURCE_FIELD, VYRE_TYPE_F32, VYRE_ACCESS_INOUT, 0, 0, 6}},
        {3, {VYRE_RESOURCE_FIELD, VYRE_TYPE_F32, VYRE_ACCESS_INOUT, 0, 0, 32}},
        {3, {VYRE_RESOURCE_FIELD, VYRE_TYPE_F32, VYRE_ACCESS_INOUT, 0, 0, UINT32_MAX - 3}},
        {3, {VYRE_RESOURCE_FIELD, VYRE_TYPE_F32, VYRE_ACCESS_INOUT, 0, 3, 4}},
        {3, {VYRE_RESOURCE_FIELD, VYRE_TYPE_F32, VYRE_ACCESS_INOUT, 0, VYRE_NONE, 4}},
        {3, {VYRE_RESOURCE_FIELD, VYRE_TYPE_F32, VYRE_ACCESS_IN, 0, 0, 4}},
        {3, {VYRE_RESOURCE_FIELD, VYRE_TYPE_VOID, VYRE_ACCESS_INOUT, 0, 0, 4}},
        {3, {VYRE_RESOURCE_FIELD, VYRE_TYPE_BOOL, VYRE_ACCESS_INOUT, 0, 0, 4}},
        {3, {VYRE_RESOURCE_FIELD, VYRE_TYPE_F32, VYRE_ACCESS_INOUT, 1, 0, 4}},
        {3, {4, VYRE_TYPE_F32, VYRE_ACCESS_INOUT, 0, 0, 4}},
        {4, {VYRE_RESOURCE_FIELD, VYRE_TYPE_U8, VYRE_ACCESS_INOUT, 0, 0, 7}},  /* overlaps */
        {5, {VYRE_RESOURCE_FIELD, VYRE_TYPE_U16, VYRE_ACCESS_INOUT, 0, 0, 2}}, /* out of order */
    };
    vyre_resource changed[32];
    assert_true(good->resource_count <= 32);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_ir ir = *good;
        vyre_diagnostics *diagnostics;
        memcpy(changed, good->resources, good->resource_count * sizeof *changed);
        changed[rows[i].resource] = rows[i].row;
        ir.resources = changed;
        assert_null(vyre_diagnostics_create(&diagnostics));
        vyre_status status = vyre_verify(&ir, diagnostics, NULL);
        if (vyre_status_code_of(status) != VYRE_STATUS_INVALID_PROGRAM) {
            fail_msg("change %zu is accepted", i);
        }
        vyre_status_free(status);
        vyre_diagnostics_free(diagnostics);
    }
    vyre_module_free(module);
}

static void builder_refuses_fields_that_are_none(void **state) {
    (void)state;
    static const struct {
        uint32_t bytes, offset;
        vyre_type type;
        const char *message;
    } rows[] = {
        {0, 0, VYRE_TYPE_F32, "the records of `x` have 0 bytes, and 1 to 4096 are allowed"},
        {4097, 0, VYRE_TYPE_U8, "the records of `x` have 4097 bytes, and 1 to 4096 are allowed"},
        {12, 2, VYRE_TYPE_F32, "a record of 12 bytes has no f32 at byte 2"},
        {12, 12, VYRE_TYPE_F32, "a record of 12 bytes has no f32 at byte 12"},
        {12, 0, VYRE_TYPE_F64, "a record of 12 bytes has no f64 at byte 0"},
        {12, 0, VYRE_TYPE_BOOL, "a record of 12 bytes has no bool at byte 0"},
        {12, 4, VYRE_TYPE_U16, "a field at byte 4 overlaps one at byte 4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_builder *b;
        vyre_program *program;
        assert_null(vyre_builder_create("p", &b));
        uint32_t x = vyre_build_records(b, "x", VYRE_ACCESS_IN, rows[i].bytes, VYRE_NONE);
        vyre_build_field(b, x, VYRE_TYPE_F32, 4);
        vyre_build_field(b, x, rows[i].type, rows[i].offset);
        vyre_status status = vyre_builder_finish(b, NULL, &program);
        assert_non_null(status);
        assert_non_null(strstr(vyre_status_message(status), rows[i].message));
        vyre_status_free(status);
        vyre_builder_free(b);
    }
    vyre_builder *b;
    vyre_program *program;
    assert_null(vyre_builder_create("p", &b));
    uint32_t x = vyre_build_records(b, "x", VYRE_ACCESS_IN, 8, VYRE_NONE);
    uint32_t field = vyre_build_field(b, x, VYRE_TYPE_F32, 4);
    assert_int_equal(vyre_build_field(b, x, VYRE_TYPE_F32, 4), field);
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_len(b, field)}});
    vyre_build_load(b, x, vyre_build_u32(b, 0));
    vyre_build_store(b, field, vyre_build_u32(b, 0), vyre_build_f32(b, 1));
    vyre_build_phase_end(b);
    assert_int_equal(vyre_builder_errors(b), 2); /* a whole record; read-only */
    vyre_status_free(vyre_builder_finish(b, NULL, &program));
    vyre_builder_free(b);
}

/* Records become the largest integers that they consist of. */
static void records_are_lowered_to_numbers(void **state) {
    (void)state;
    static const struct {
        const char *source;
        vyre_type type;
    } rows[] = {
        {"program p(x: inout buffer<vec3<f32>>) over x { x[gid].y = 1; }", VYRE_TYPE_U32},
        {"program p(x: inout buffer<vec4<f16>>) over x { x[gid].y = 1; }", VYRE_TYPE_U16},
        {"program p(x: inout buffer<vec2<f64>>) over x { x[gid].y = 1; }", VYRE_TYPE_U64},
        {"struct P { a: f64, b: u8 } program p(x: inout buffer<P>) over x { x[gid].b = 1; }",
         VYRE_TYPE_U8},
        {"struct P { a: f64, b: u8 } program p(x: inout buffer<P>) over x { x[gid].a = 1; }",
         VYRE_TYPE_U64},
        {"program p(x: inout buffer<vec2<i32>>) over x { atomic_min(x[gid].y, 1); }",
         VYRE_TYPE_I32},
        {"program p(x: inout buffer<vec2<i32>>) over x { atomic_add(x[gid].y, 1); }",
         VYRE_TYPE_U32},
        /* Buffers that are swapped are of one type. */
        {"struct P { a: f64, b: u8 } program p(x: inout buffer<P>, y: inout buffer<P>) {"
         " phase over x { x[gid].a = 1; } swap(x, y); phase over y { y[gid].b = 1; } }",
         VYRE_TYPE_U8},
        {"program p(x: inout buffer<vec2<i32>>, y: inout buffer<vec2<i32>>) {"
         " phase over x { x[gid].x = 1; } swap(x, y); phase over y { atomic_min(y[gid].y, 1); } }",
         VYRE_TYPE_I32},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vyre_module *module;
        vyre_program *lowered, *program = parse(rows[i].source, &module);
        assert_true(vyre_has_records(program));
        assert_null(vyre_lower_records(program, &lowered));
        assert_false(vyre_has_records(lowered));
        assert_int_equal(vyre_program_ir(lowered)->args[0].type, rows[i].type);
        vyre_program_release(lowered);
        vyre_module_free(module);
    }
    static const char *const refused[] = {
        "struct P { a: u32, b: u8 } program p(x: inout buffer<P>) over x"
        " { x[gid].b = 1; atomic_add(x[gid].a, 1); }",
        "struct P { a: u32, b: i32 } program p(x: inout buffer<P>) over x"
        " { atomic_min(x[gid].b, 1); atomic_min(x[gid].a, 1); }",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        vyre_module *module;
        vyre_program *lowered;
        vyre_status status = vyre_lower_records(parse(refused[i], &module), &lowered);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
        vyre_status_free(status);
        vyre_module_free(module);
    }
}

static void allocation_failures_are_reported(void **state) {
    (void)state;
    for (size_t n = 0;; n++) {
        vyre_module *module;
        vyre_program *lowered = NULL;
        failing_allocator_start(n); /* 0 fails nowhere, and makes what stays */
        vyre_status status = vyre_module_parse("p.vyre", text, sizeof text - 1, NULL, &module);
        if (!status) {
            status = vyre_lower_records(vyre_module_program(module, 0), &lowered);
        }
        failing_allocator_end();
        bool failed = failing_allocator_failed();
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        vyre_program_release(lowered);
        vyre_module_free(module);
        assert_int_equal(code, failed ? VYRE_STATUS_OUT_OF_MEMORY : VYRE_STATUS_UNSUPPORTED);
        if (n && !failed) {
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_those_that_are_used),
        cmocka_unit_test(printed_text_is_the_same_program),
        cmocka_unit_test(binary_form_has_version_1_2_only_with_records),
        cmocka_unit_test(verifier_refuses_fields_that_are_none),
        cmocka_unit_test(builder_refuses_fields_that_are_none),
        cmocka_unit_test(records_are_lowered_to_numbers),
        cmocka_unit_test(allocation_failures_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
