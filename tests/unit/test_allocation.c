/* Any allocation may fail. Parsing, building, verifying, encoding, decoding and printing are
 * repeated with the n-th allocation failing, for every n there is: each time they say so, leave
 * nothing behind, and work again afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <vyre/text.h>

#include "ir/program.h"
#include "ir/section.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/sample_programs.h"
#include "tests/unit/wire_bytes.h"

/* What is repeated. It frees what it gets, and gives the status. */
typedef vyre_status (*attempt)(const void *input);

/* Repeats until nothing fails any more; returns how many allocations there are. */
static size_t sweep(const char *about, attempt run, const void *input) {
    size_t n = 1;
    for (;; n++) {
        failing_allocator_start(n);
        vyre_status status = run(input);
        vyre_status_code code = vyre_status_code_of(status);
        bool has_text = *vyre_status_text(status) && *vyre_status_message(status);
        vyre_status_free(status);
        failing_allocator_end();
        if (failing_allocator_state.live != 0) {
            fail_msg("%s: %td blocks are left after allocation %zu failed", about,
                     failing_allocator_state.live, n);
        }
        if (!failing_allocator_failed()) {
            assert_int_equal(code, VYRE_STATUS_OK);
            return n - 1;
        }
        if (code != VYRE_STATUS_OUT_OF_MEMORY || !has_text) {
            fail_msg("%s: the status after allocation %zu failed is \"%s\"", about, n,
                     vyre_status_code_name(code));
        }
    }
}

static vyre_status build_sample(const void *input) {
    const sample_row *row = input;
    vyre_program *program;
    vyre_status status = sample_build(row->name, row->build, &program);
    if (!status == !program) {
        fail_msg("%s: there is a status and a program, or neither", row->name);
    }
    vyre_program_release(program);
    return status;
}

static void allocation_failures_while_building(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        size_t count = sweep(sample_rows[i].name, build_sample, &sample_rows[i]);
        assert_true(count > 10);
    }
}

static vyre_status verify(const void *input) {
    vyre_diagnostics *diagnostics;
    vyre_status status = vyre_diagnostics_create(&diagnostics);
    if (!status) {
        status = vyre_verify(vyre_program_ir(input), diagnostics, NULL);
    }
    vyre_diagnostics_free(diagnostics);
    return status;
}

static vyre_status encode(const void *input) {
    uint8_t *bytes;
    size_t size;
    vyre_status status = vyre_wire_encode(input, 0, &bytes, &size);
    vyre_bytes_free(bytes);
    return status;
}

static vyre_status print(const void *input) {
    char *text;
    size_t size;
    vyre_status status = vyre_program_print(input, &text, &size);
    vyre_string_free(text);
    return status;
}

static void allocation_failures_while_using_a_program(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = sample_program(i);
        assert_true(sweep(sample_rows[i].name, verify, program) >= 1);
        assert_int_equal(sweep(sample_rows[i].name, encode, program), 1);
        assert_true(sweep(sample_rows[i].name, print, program) >= 3);
        vyre_program_release(program);
    }
}

static vyre_status decode(const void *input) {
    const wire_bytes *bytes = input;
    vyre_program *program;
    vyre_status status = vyre_wire_decode(bytes->data, bytes->size, &program);
    vyre_program_release(program);
    return status;
}

static void allocation_failures_while_decoding(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        for (uint32_t flags = 0; flags <= VYRE_WIRE_NO_DEBUG; flags++) {
            wire_bytes bytes = wire_of_sample(sample_rows[i].name, flags);
            assert_true(sweep(sample_rows[i].name, decode, &bytes) >= 5);
            free(bytes.data);
        }
    }
}

/* Bytes that are refused: by whatever is noticed first. */
static void allocation_failures_while_refusing_bytes(void **state) {
    (void)state;
    wire_bytes bytes = wire_of_sample("barriers", 0);
    for (size_t bit = WIRE_AT_FLAGS * 8; bit < bytes.size * 8; bit += 7) {
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        wire_fix_checksum(bytes);
        for (size_t n = 1;; n++) {
            failing_allocator_start(n);
            vyre_program *program;
            vyre_status status = vyre_wire_decode(bytes.data, bytes.size, &program);
            assert_true(!status != !program);
            vyre_status_free(status);
            vyre_program_release(program);
            failing_allocator_stop();
            if (!failing_allocator_failed()) {
                break;
            }
        }
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(bytes.data);
}

static vyre_status parse(const void *input) {
    const char *text = input;
    vyre_diagnostics *diagnostics;
    vyre_module *module = NULL;
    vyre_status status = vyre_diagnostics_create(&diagnostics);
    if (!status) {
        status = vyre_module_parse("text", text, strlen(text), diagnostics, &module);
        assert_true(!status != !module);
    }
    vyre_module_free(module);
    vyre_diagnostics_free(diagnostics);
    return status;
}

static vyre_status format(const void *input) {
    char *text;
    size_t size;
    vyre_status status = vyre_text_format("text", input, strlen(input), NULL, &text, &size);
    vyre_string_free(text);
    return status;
}

static const char kernels[] =
    "const LIMIT: u32 = 3 * 4;\n"
    "fn clamped(x: buffer<f32>, i: u32) -> f32 {\n"
    "    if i >= len(x) { return 0.0; }\n"
    "    var sum = 0.0f;\n"
    "    for k in 0..LIMIT { if k == i { continue; } sum += x[k]; }\n"
    "    return sum;\n"
    "}\n"
    "program smooth(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x {\n"
    "    y[gid] = clamped(x, gid) + clamped(x, gid + 1) * 0.5;\n"
    "}\n"
    "program total(x: buffer<u32>, sum: out buffer<u32>[1]) over x workgroup 256 {\n"
    "    shared part: u32[256];\n"
    "    part[lid] = x[gid];\n"
    "    barrier;\n"
    "    var half = 128u;\n"
    "    while half > 0 {\n"
    "        if lid < half { part[lid] = part[lid] + part[lid + half]; }\n"
    "        barrier;\n"
    "        half = half >> 1;\n"
    "    }\n"
    "    if lid == 0 { atomic_add(sum[0], part[0]); }\n"
    "}\n";

/* The first time some tables are made that stay for good; then everything must be given back. */
static void allocation_failures_while_parsing(void **state) {
    (void)state;
    for (size_t n = 1;; n++) {
        failing_allocator_start(n);
        vyre_status status = parse(kernels);
        failing_allocator_end();
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        if (!failing_allocator_failed()) {
            assert_int_equal(code, VYRE_STATUS_OK);
            break;
        }
        assert_int_equal(code, VYRE_STATUS_OUT_OF_MEMORY);
    }
    assert_true(sweep("kernels", parse, kernels) > 50);
    assert_true(sweep("format", format, kernels) > 2);
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = sample_program(i);
        char *text;
        size_t size;
        assert_null(vyre_program_print(program, &text, &size));
        assert_true(sweep(sample_rows[i].name, parse, text) > 10);
        vyre_string_free(text);
        vyre_program_release(program);
    }
}

static vyre_status parse_and_render(const char *text) {
    vyre_diagnostics *diagnostics;
    vyre_module *module = NULL;
    vyre_status status = vyre_diagnostics_create(&diagnostics);
    if (!status) {
        status = vyre_module_parse("text", text, strlen(text), diagnostics, &module);
        for (int form = VYRE_FORM_TEXT; form <= VYRE_FORM_JSON; form++) {
            char *shown;
            size_t size;
            vyre_status_free(vyre_diagnostics_render(diagnostics, "text", text, strlen(text),
                                                     (vyre_diagnostic_form)form, &shown, &size));
            vyre_string_free(shown);
        }
    }
    vyre_module_free(module);
    vyre_diagnostics_free(diagnostics);
    return status;
}

/* A text with mistakes gives an error each time, the mistakes' or the memory's. */
static void allocation_failures_while_refusing_text(void **state) {
    (void)state;
    static const char wrong[] = "program p(x: buffer<f32>, x: u32) over y workgroup 0 {\n"
                                "    let a = 1 + 1.5; let b = zz[gid] + c; barrier;\n"
                                "    if gid { barrier; } x[0] = bitcast<u8>(a);\n";
    for (size_t n = 1;; n++) {
        failing_allocator_start(n);
        vyre_status status = parse_and_render(wrong);
        assert_non_null(status);
        vyre_status_free(status);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocation_failures_while_parsing),
        cmocka_unit_test(allocation_failures_while_refusing_text),
        cmocka_unit_test(allocation_failures_while_building),
        cmocka_unit_test(allocation_failures_while_using_a_program),
        cmocka_unit_test(allocation_failures_while_decoding),
        cmocka_unit_test(allocation_failures_while_refusing_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
