/* Library operations in the form that fits a device: chosen when a program meets it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "backend/table.h"
#include "dialect/provider.h"
#include "ir/program.h"
#include "tests/mock/mock.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/wire_bytes.h"
#include "text/module.h"
#include "wire/variants.h"

/* Each form writes another number, so that one can tell which ran. A real one gives the same. */
static const char form_text[] =
    "program own(x: inout buffer<u32>) over x { x[gid] = 1; }\n"
    "program for_gpu(x: inout buffer<u32>) {\n"
    "    scratch s: u32[len(x) + 1];\n"
    "    phase over s { s[gid] = 2; }\n"
    "    phase over x { x[gid] = s[gid]; }\n"
    "}\n"
    "program for_cpu(x: inout buffer<u32>) over x { x[gid] = 3; }\n"
    "program for_mock(x: inout buffer<u32>) over x { x[gid] = 4; }\n"
    "program deep(x: inout buffer<u32>) {\n"
    "    repeat 1 { repeat 1 { repeat 1 { repeat 1 { repeat 1 { repeat 1 { repeat 1 { repeat 1 {\n"
    "        phase over x { x[gid] = 6; }\n"
    "    } } } } } } } }\n"
    "}\n"
    "fn number() -> u32 { return 1; }\n"
    "fn number_gpu() -> u32 { return 2; }\n"
    "program outer(x: inout buffer<u32>) { form.all(x); }\n";

static const vyre_variant gpu[] = {{"for_gpu", "gpu", NULL}};
static const vyre_variant all[] = {
    {"for_gpu", "gpu", NULL}, {"for_cpu", "cpu", NULL}, {"for_mock", "mock", NULL}};
static const vyre_variant mock_only[] = {{"for_mock", "mock", NULL}};
static const vyre_variant deep[] = {{"deep", "gpu", NULL}};
static const vyre_variant function[] = {{"number_gpu", "gpu", NULL}};

#define ROW(id, form, entry, variants)                                                             \
    {                                                                                              \
        id, "form", "1.0.0", form, "form.vyre", form_text, sizeof form_text - 1, entry, variants,  \
            sizeof variants / sizeof *variants                                                     \
    }
static const vyre_library_source rows[] = {
    ROW("form.gpu", VYRE_LIBRARY_PROGRAM, "own", gpu),
    ROW("form.all", VYRE_LIBRARY_PROGRAM, "own", all),
    ROW("form.mock", VYRE_LIBRARY_PROGRAM, "own", mock_only),
    ROW("form.deep", VYRE_LIBRARY_PROGRAM, "own", deep),
    ROW("form.number", VYRE_LIBRARY_FUNCTION, "number", function),
    {"form.outer", "form", "1.0.0", VYRE_LIBRARY_PROGRAM, "form.vyre", form_text,
     sizeof form_text - 1, "outer", NULL, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool find(const vyre_library_view *view, vyre_str id, vyre_library_source *out_source) {
    (void)view;
    for (size_t i = 0; i < ROWS; i++) {
        if (strlen(rows[i].id) == id.size && !memcmp(rows[i].id, id.data, id.size)) {
            *out_source = rows[i];
            return true;
        }
    }
    return false;
}

static vyre_str at(const vyre_library_view *view, size_t index) {
    (void)view;
    return index < ROWS ? (vyre_str){rows[index].id, strlen(rows[index].id)} : (vyre_str){0};
}

static const vyre_library forms = {"forms", NULL, find, at, NULL};

static vyre_program *parse_with(const char *text, const vyre_library *library,
                                vyre_diagnostics *found) {
    vyre_module *module;
    vyre_parse_options options = {.library = library};
    vyre_status status =
        vyre_module_parse_with(&options, "my.vyre", text, strlen(text), found, &module);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    vyre_program *program = vyre_program_retain(vyre_module_program(module, 0));
    vyre_module_free(module);
    return program;
}

static vyre_program *parse(const char *call) {
    char text[256];
    snprintf(text, sizeof text, "program p(x: inout buffer<u32>) { %s }\n", call);
    return parse_with(text, &forms, NULL);
}

/* What the form for a device writes. */
static uint32_t runs(const vyre_program *program, const char *backend, bool is_gpu) {
    uint32_t zero = 0, found;
    vyre_input input = {&zero, sizeof zero};
    vyre_outputs outputs;
    const vyre_program *suited = vyre_program_suited(program, backend, is_gpu);
    assert_null(vyre_reference_run(suited, &input, 1, NULL, NULL, &outputs));
    memcpy(&found, outputs.items[0].data, sizeof found);
    vyre_outputs_free(&outputs);
    return found;
}

static void expect_forms(const char *call, uint32_t reference, uint32_t cpu, uint32_t gpu_form,
                         uint32_t mock_gpu) {
    vyre_program *program = parse(call);
    uint32_t zero = 0;
    vyre_input input = {&zero, sizeof zero};
    vyre_outputs outputs;
    assert_null(vyre_reference_run(program, &input, 1, NULL, NULL, &outputs));
    assert_memory_equal(outputs.items[0].data, &reference, sizeof reference);
    vyre_outputs_free(&outputs);
    assert_int_equal(runs(program, "cpu", false), cpu);
    assert_int_equal(runs(program, "cuda", true), gpu_form);
    assert_int_equal(runs(program, "mock", true), mock_gpu);
    vyre_program_release(program);
}

static void the_form_fits_backend_then_kind(void **state) {
    (void)state;
    expect_forms("form.gpu(x);", 1, 1, 2, 2);
    expect_forms("form.all(x);", 1, 3, 2, 4);
    expect_forms("form.mock(x);", 1, 1, 1, 4);
    expect_forms("form.outer(x);", 1, 3, 2, 4);
    /* Each call for itself: the second has no variant for the backend. */
    expect_forms("form.mock(x); form.gpu(x);", 1, 1, 2, 2);
    expect_forms("phase over x { x[gid] = form.number(); }", 1, 1, 2, 2);
}

/* The digest is about what the program means, and stays what it was. */
static void variants_are_not_in_the_digest(void **state) {
    (void)state;
    vyre_program *program = parse("form.gpu(x);");
    char *text;
    size_t size;
    assert_int_equal(program->variant_count, 1);
    assert_null(vyre_program_print(program, &text, &size));
    vyre_program *plain = parse_with(text, &forms, NULL);
    assert_int_equal(plain->variant_count, 0);
    vyre_digest a = vyre_program_digest(program), b = vyre_program_digest(plain);
    assert_true(a.low == b.low && a.high == b.high);
    a = vyre_program_whole_digest(program);
    assert_false(a.low == b.low && a.high == b.high);
    vyre_string_free(text);
    vyre_program_release(plain);
    vyre_program_release(program);
}

static const vyre_program *program_on(vyre_program *program, bool is_gpu, const vyre_op_set *ops) {
    mock *m = mock_create(
        &(mock_spec){.id = "card",
                     .slots = MOCK_BIT(device_profile) | (ops ? MOCK_BIT(supported_ops) : 0),
                     .ops = ops,
                     .profile = {.flags = is_gpu ? VYRE_PROFILE_IS_GPU : 0}});
    vyre_device *device;
    vyre_pipeline *pipeline;
    assert_null(mock_open(m, &device));
    vyre_status status = vyre_device_compile(device, program, NULL, &pipeline);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    const vyre_program *found = vyre_pipeline_program(pipeline);
    vyre_pipeline_release(pipeline);
    vyre_device_release(device);
    mock_free(m);
    return found; /* which the program still holds */
}

static void a_device_compiles_the_form_that_fits_it(void **state) {
    (void)state;
    vyre_program *program = parse("form.gpu(x);");
    assert_ptr_equal(program_on(program, false, NULL), program);
    assert_ptr_equal(program_on(program, true, NULL), program->variants[0].program);
    vyre_program_release(program);
}

/* A form that the device cannot run leaves the program as it is. */
static void a_form_that_a_device_lacks_something_for_is_not_taken(void **state) {
    (void)state;
    vyre_program *program = parse("form.gpu(x);");
    vyre_op_set ops;
    memset(&ops, 0xff, sizeof ops);
    ops.words[VYRE_OP_LOAD / 64] &= ~(UINT64_C(1) << VYRE_OP_LOAD % 64); /* of its scratch array */
    assert_ptr_equal(program_on(program, true, &ops), program);
    vyre_program_release(program);
}

/* Programs that were accepted stay accepted. */
static void a_form_that_cannot_be_built_is_a_warning(void **state) {
    (void)state;
    vyre_diagnostics *found;
    assert_null(vyre_diagnostics_create(&found));
    vyre_program *program = parse_with(
        "program p(x: inout buffer<u32>) { repeat 2 { form.deep(x); } }\n", &forms, found);
    assert_int_equal(program->variant_count, 0);
    assert_int_equal(vyre_diagnostics_count(found), 1);
    const vyre_diagnostic *item = vyre_diagnostics_get(found, 0);
    assert_int_equal(item->code, 808);
    assert_int_equal(item->line, 1);
    assert_non_null(strstr(item->message, "gpu devices"));
    assert_true(*item->fix);
    vyre_diagnostics_free(found);
    vyre_program_release(program);
}

/* The binary form */

static wire_bytes encode(const vyre_program *program, uint32_t flags) {
    wire_bytes bytes;
    assert_null(vyre_wire_encode(program, flags, &bytes.data, &bytes.size));
    return bytes;
}

static void the_binary_form_has_all_variants(void **state) {
    (void)state;
    vyre_program *program = parse("form.all(x);"), *again;
    wire_bytes bytes = encode(program, 0), alone = encode(program, VYRE_WIRE_NO_DEBUG);
    assert_null(vyre_wire_decode(bytes.data, bytes.size, &again));
    assert_int_equal(again->variant_count, program->variant_count);
    assert_int_equal(runs(again, "cpu", false), 3);
    assert_int_equal(runs(again, "cuda", true), 2);
    assert_int_equal(runs(again, "mock", true), 4);
    wire_bytes twice = encode(again, 0);
    assert_int_equal(twice.size, bytes.size);
    assert_memory_equal(twice.data, bytes.data, bytes.size);
    vyre_program_release(again);
    /* Backends that decode it themselves get one program. */
    assert_null(vyre_wire_decode(alone.data, alone.size, &again));
    assert_int_equal(again->variant_count, 0);
    assert_int_equal(wire_get(alone.data + WIRE_AT_MINOR, 2), 0);
    vyre_program_release(again);
    vyre_bytes_free(bytes.data);
    vyre_bytes_free(alone.data);
    vyre_bytes_free(twice.data);
    vyre_program_release(program);
}

static void expect_refused(wire_bytes bytes, size_t offset, int size, uint64_t number,
                           const char *part) {
    vyre_program *program;
    wire_bytes copy = wire_copy(bytes, bytes.size);
    wire_put(copy.data + offset, size, number);
    wire_fix_checksum(copy);
    vyre_status status = vyre_wire_decode(copy.data, copy.size, &program);
    if (!status || !strstr(vyre_status_text(status), part)) {
        fail_msg("\"%s\", expected \"%s\"", status ? vyre_status_text(status) : "none", part);
    }
    assert_null(program);
    vyre_status_free(status);
    free(copy.data);
}

static void malformed_variants_are_refused(void **state) {
    (void)state;
    vyre_program *program = parse("form.gpu(x);");
    wire_bytes bytes = encode(program, 0);
    size_t section = wire_offset_of(bytes, WIRE_VARIANTS);
    size_t entry = wire_entry_of(bytes, WIRE_VARIANTS);
    expect_refused(bytes, section + WIRE_VARIANT_KIND, 4, 3, "suits no device");
    expect_refused(bytes, section + WIRE_VARIANT_KIND, 4, 0, "suits no device");
    expect_refused(bytes, section + WIRE_VARIANT_ID_BYTES, 4, 300, "suits no device");
    expect_refused(bytes, section + WIRE_VARIANT_ID_BYTES, 4, 8, "");
    expect_refused(bytes, section + WIRE_VARIANT_BYTES, 8, UINT64_MAX, "after the last byte");
    expect_refused(bytes, section + WIRE_VARIANT_BYTES, 8, 0, "in the variant at byte");
    expect_refused(bytes, section + WIRE_VARIANT_HEAD, 1, 'X', "in the variant at byte");
    expect_refused(bytes, entry + WIRE_ENTRY_ITEM_BYTES, 4, 4, "items of VARIANTS");
    expect_refused(bytes, entry + WIRE_ENTRY_COUNT, 4, 0, "has no items");
    expect_refused(bytes, WIRE_AT_MINOR, 2, 0, "needs 1.2");
    for (size_t size = section; size < bytes.size; size += 8) {
        wire_bytes cut = wire_copy(bytes, size);
        vyre_program *none;
        vyre_status status = vyre_wire_decode(cut.data, cut.size, &none);
        assert_non_null(status);
        vyre_status_free(status);
        free(cut.data);
    }
    vyre_bytes_free(bytes.data);
    vyre_program_release(program);
}

/* A variant takes what the program takes, and has none of its own. */
static void a_variant_is_one_of_the_same_arguments(void **state) {
    (void)state;
    vyre_program *program = parse("form.gpu(x);"), *nested = parse("form.gpu(x);");
    vyre_program *other =
        parse_with("program p(y: inout buffer<u32>) over y { y[gid] = 1; }\n", &forms, NULL);
    vyre_suits suits = {NULL, VYRE_KIND_CPU};
    vyre_status status = vyre_program_add_variant(program, suits, other);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_PROGRAM);
    vyre_status_free(status);
    status = vyre_program_add_variant(program, suits, nested);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_PROGRAM);
    vyre_status_free(status);
    vyre_program_release(program);
}

/* The standard library */

static size_t count(const char *text, const char *part) {
    size_t found = 0;
    for (; (text = strstr(text, part)); text++) {
        found++;
    }
    return found;
}

static const char sorting[] = "program p(keys: buffer<u32>, sorted: out buffer<u32>[len(keys)]) {\n"
                              "    sort.keys_u32(keys, sorted);\n}\n";

/* The GPU form makes one pass over all digits first; the other counts in each. */
static void ptx_has_the_form_for_gpus(void **state) {
    (void)state;
    vyre_program *program = parse_with(sorting, &vyre_dialects_library, NULL);
    uint8_t *bytes;
    size_t size;
    const vyre_emitter *ptx = vyre_emitter_find("secondary_text");
    assert_non_null(ptx);
    assert_null(vyre_emit(ptx, program, NULL, &bytes, &size));
    char *text = calloc(1, size + 1);
    assert_non_null(text);
    memcpy(text, bytes, size);
    const vyre_program *form = vyre_program_suited(program, "cuda", true);
    assert_int_equal(vyre_program_ir(program)->phase_count, 10);
    assert_int_equal(vyre_program_ir(form)->phase_count, 4);
    assert_int_equal(count(text, ".entry"), 4);
    free(text);
    vyre_bytes_free(bytes);
    vyre_program_release(program);
}

/* Whether bytes have a name, as symbols of an object do. */
static bool has_name(const uint8_t *bytes, size_t size, const char *name) {
    size_t length = strlen(name) + 1;
    for (size_t i = 0; i + length <= size; i++) {
        if (!memcmp(bytes + i, name, length)) {
            return true;
        }
    }
    return false;
}

static void the_object_for_cpus_has_the_own_form(void **state) {
    (void)state;
    vyre_program *program = parse_with(sorting, &vyre_dialects_library, NULL);
    uint8_t *bytes;
    size_t size;
    const vyre_emitter *object = vyre_emitter_find("native_module");
    assert_non_null(object);
    vyre_status status = vyre_emit(object, program, NULL, &bytes, &size);
    vyre_program_release(program);
    if (vyre_status_code_of(status) == VYRE_STATUS_UNAVAILABLE) { /* without libLLVM */
        vyre_status_free(status);
        skip();
    }
    assert_null(status);
    assert_true(has_name(bytes, size, "phase_9"));
    assert_false(has_name(bytes, size, "phase_10"));
    vyre_bytes_free(bytes);
}

static void both_forms_of_a_sort_give_the_same_bytes(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    static uint32_t keys[COUNT];
    uint32_t number = 1;
    for (size_t i = 0; i < COUNT; i++) {
        keys[i] = number = number * 1664525u + 1013904223u;
    }
    vyre_program *program = parse_with(sorting, &vyre_dialects_library, NULL);
    vyre_input input = {keys, sizeof keys};
    vyre_outputs own, form;
    assert_null(vyre_reference_run(program, &input, 1, NULL, NULL, &own));
    assert_null(vyre_reference_run(vyre_program_suited(program, "cuda", true), &input, 1, NULL,
                                   NULL, &form));
    assert_int_equal(own.items[0].size, sizeof keys);
    assert_memory_equal(own.items[0].data, form.items[0].data, sizeof keys);
    vyre_outputs_free(&own);
    vyre_outputs_free(&form);
    vyre_program_release(program);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const char text[] = "program p(x: inout buffer<u32>) { form.all(x); }\n";
    vyre_program *program = parse("form.all(x);");
    wire_bytes bytes = encode(program, 0);
    vyre_program_release(program);
    vyre_parse_options options = {.library = &forms};
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_module *module = NULL;
        uint8_t *again = NULL;
        size_t size;
        program = NULL;
        vyre_status status = vyre_wire_decode(bytes.data, bytes.size, &program);
        status = status ? status : vyre_wire_encode(program, 0, &again, &size);
        status = status ? status
                        : vyre_module_parse_with(&options, "my.vyre", text, sizeof text - 1, NULL,
                                                 &module);
        bool was_refused = status != NULL;
        vyre_status_free(status);
        vyre_module_free(module);
        vyre_bytes_free(again);
        vyre_program_release(program);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            break;
        }
        assert_true(was_refused);
    }
    vyre_bytes_free(bytes.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_form_fits_backend_then_kind),
        cmocka_unit_test(variants_are_not_in_the_digest),
        cmocka_unit_test(a_device_compiles_the_form_that_fits_it),
        cmocka_unit_test(a_form_that_a_device_lacks_something_for_is_not_taken),
        cmocka_unit_test(a_form_that_cannot_be_built_is_a_warning),
        cmocka_unit_test(the_binary_form_has_all_variants),
        cmocka_unit_test(malformed_variants_are_refused),
        cmocka_unit_test(a_variant_is_one_of_the_same_arguments),
        cmocka_unit_test(ptx_has_the_form_for_gpus),
        cmocka_unit_test(the_object_for_cpus_has_the_own_form),
        cmocka_unit_test(both_forms_of_a_sort_give_the_same_bytes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
