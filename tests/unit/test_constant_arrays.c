/* Constant arrays: what the builder makes of them, how they are stored, and who runs them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "backend/cpu/codegen/emit.h"
#include "backend/cuda/codegen/emit.h"
#include "backend/reference/backend.h"
#include "base/strbuf.h"
#include "ir/lookup.h"
#include "pass/pass.h"
#include "runtime/device.h"
#include "tests/unit/build_check.h"
#include "tests/unit/reference_check.h"

static const uint32_t four[] = {1, 2, 3, 4};

static uint32_t input(vyre_builder *b) {
    uint32_t x = vyre_build_buffer(b, "x", VYRE_ACCESS_INOUT, VYRE_TYPE_U32, VYRE_NONE);
    vyre_build_phase(b,
                     &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 4)}, .workgroup = {4}});
    return x;
}

static uint32_t table(vyre_builder *b) {
    return vyre_build_constant_array(b, "k", VYRE_TYPE_U32, 4, four);
}

static void array_without_a_type(vyre_builder *b) {
    vyre_build_constant_array(b, "k", VYRE_TYPE_VOID, 4, four);
}

static void array_without_elements(vyre_builder *b) {
    vyre_build_constant_array(b, "k", VYRE_TYPE_U32, 0, four);
}

static void array_from_nowhere(vyre_builder *b) {
    vyre_build_constant_array(b, "k", VYRE_TYPE_U32, 4, NULL);
}

static void array_too_large(vyre_builder *b) {
    vyre_build_constant_array(b, "k", VYRE_TYPE_U8, VYRE_LIMIT_CONSTANT_BYTES + 1, four);
}

/* Two that are too large together. */
static void arrays_too_large(vyre_builder *b) {
    uint32_t length = VYRE_LIMIT_CONSTANT_BYTES / 8;
    uint64_t *elements = calloc(length, sizeof *elements);
    assert_non_null(elements);
    vyre_build_constant_array(b, "k", VYRE_TYPE_U64, length, elements);
    vyre_build_constant_array(b, "l", VYRE_TYPE_U32, 4, four);
    free(elements);
}

static void array_is_stored_to(vyre_builder *b) {
    input(b);
    vyre_build_store(b, table(b), vyre_build_u32(b, 0), vyre_build_u32(b, 0));
    vyre_build_phase_end(b);
}

static void array_is_cleared(vyre_builder *b) {
    input(b);
    vyre_build_clear(b, table(b));
    vyre_build_phase_end(b);
}

static void array_is_loaded_together(vyre_builder *b) {
    input(b);
    vyre_build_uniform_load(b, table(b), vyre_build_u32(b, 0));
    vyre_build_phase_end(b);
}

static void array_is_loaded_atomically(vyre_builder *b) {
    input(b);
    vyre_build_atomic(b, VYRE_OP_ATOMIC_LOAD, table(b), vyre_build_u32(b, 0), VYRE_NONE, VYRE_NONE,
                      VYRE_ORDERING_RELAXED, VYRE_SCOPE_DEVICE);
    vyre_build_phase_end(b);
}

static void array_is_a_domain(vyre_builder *b) {
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_const(b, 4)},
                                           .from_memory = true,
                                           .from_resource = table(b),
                                           .from_index = vyre_build_size_const(b, 0)});
    vyre_build_phase_end(b);
}

static void array_is_a_condition(vyre_builder *b) {
    vyre_build_repeat_while(b, NULL, table(b), vyre_build_size_const(b, 0));
    input(b);
    vyre_build_phase_end(b);
    vyre_build_repeat_end(b);
}

static void array_is_a_size(vyre_builder *b) {
    vyre_build_size_len(b, table(b));
}

static void mistakes_are_refused(void **state) {
    (void)state;
    static const build_case cases[] = {
        BUILD_CASE(array_without_a_type, 306, "`k` has no element type"),
        BUILD_CASE(array_without_elements, 604, "`k` has no elements"),
        BUILD_CASE(array_from_nowhere, 604, "`k` has no elements"),
        BUILD_CASE(array_too_large, 701, "takes 524289 bytes"),
        BUILD_CASE(arrays_too_large, 701, "`l` takes 16 bytes, and all of a program may take"),
        BUILD_CASE(array_is_stored_to, 401, "`k` is a constant array, and `store` writes it"),
        BUILD_CASE(array_is_cleared, 402, "`k` is not a private array"),
        BUILD_CASE(array_is_loaded_together, 402, "which needs no `uniform_load`"),
        BUILD_CASE(array_is_loaded_atomically, 402, "`k` is only read"),
        BUILD_CASE(array_is_a_domain, 605, "`over` reads a constant array"),
        BUILD_CASE(array_is_a_condition, 605, "`repeat` reads a constant array"),
        BUILD_CASE(array_is_a_size, 604, "only lengths of the program's buffers"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        build_case_check(&cases[i]);
    }
}

/* Equal arrays are one, of any name; they stand in the order of first use, at multiples of 8. */
static void equal_arrays_are_one(void **state) {
    (void)state;
    vyre_builder *b;
    vyre_program *program;
    static const uint8_t bytes[] = {9, 8, 7};
    static const int32_t same_bits[] = {1, 2, 3, 4};
    assert_null(vyre_builder_create("p", &b));
    uint32_t first = table(b);
    uint32_t again = vyre_build_constant_array(b, "l", VYRE_TYPE_U32, 4, four);
    uint32_t shorter = vyre_build_constant_array(b, "m", VYRE_TYPE_U32, 3, four);
    uint32_t other = vyre_build_constant_array(b, "n", VYRE_TYPE_I32, 4, same_bits);
    uint32_t small = vyre_build_constant_array(b, "o", VYRE_TYPE_U8, 3, bytes);
    assert_int_equal(first, again);
    assert_int_not_equal(first, shorter);
    assert_int_not_equal(first, other);
    uint32_t x = input(b), zero = vyre_build_u32(b, 0);
    uint32_t byte = vyre_build_load(b, small, zero);
    uint32_t sum = vyre_build_convert(b, VYRE_TYPE_U32, byte);
    uint32_t number = vyre_build_load(b, again, vyre_build_u32(b, 1));
    vyre_build_store(b, x, zero, vyre_build_op(b, VYRE_OP_ADD, sum, number, VYRE_NONE));
    vyre_build_phase_end(b);
    assert_null(vyre_builder_finish(b, NULL, &program));
    vyre_builder_free(b);
    const vyre_ir *ir = vyre_program_ir(program);
    static const uint8_t data[] = {9, 8, 7, 0, 0, 0, 0, 0, 1, 0, 0, 0,
                                   2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0};
    assert_int_equal(ir->resource_count, 3);
    assert_int_equal(ir->resources[1].type, VYRE_TYPE_U8);
    assert_int_equal(ir->resources[2].kind, VYRE_RESOURCE_CONSTANT);
    assert_int_equal(ir->resources[2].length, 4);
    assert_int_equal(ir->data_bytes, sizeof data);
    assert_memory_equal(ir->data, data, sizeof data);
    assert_int_equal(vyre_program_stats(program).constant_bytes, sizeof data);
    vyre_program_release(program);
}

/* Arrays lie in the order of their use, whatever padding the order of their making had. */
static void arrays_lie_in_the_order_of_use(void **state) {
    (void)state;
    vyre_builder *b;
    vyre_program *program;
    static const uint8_t bytes[14] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    assert_null(vyre_builder_create("p", &b));
    uint32_t longer = vyre_build_constant_array(b, "l", VYRE_TYPE_U8, 14, bytes);
    uint32_t shorter = vyre_build_constant_array(b, "s", VYRE_TYPE_U8, 3, bytes);
    uint32_t x = input(b), zero = vyre_build_u32(b, 0);
    uint32_t first = vyre_build_load(b, shorter, zero), second = vyre_build_load(b, longer, zero);
    uint32_t sum = vyre_build_op(b, VYRE_OP_ADD, first, second, VYRE_NONE);
    vyre_build_store(b, x, zero, vyre_build_convert(b, VYRE_TYPE_U32, sum));
    vyre_build_phase_end(b);
    assert_null(vyre_builder_finish(b, NULL, &program));
    vyre_builder_free(b);
    const vyre_ir *ir = vyre_program_ir(program);
    assert_int_equal(ir->data_bytes, 8 + 14);
    assert_memory_equal(ir->data, bytes, 3);
    assert_memory_equal(ir->data + 8, bytes, 14);
    vyre_program_release(program);
}

static const char lookup_text[] =
    "const k: u32[5] = [3, 1, 4, 1, 5];\n"
    "const b: bool[2] = [false, true];\n"
    "program lookup(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x {\n"
    "    y[gid] = k[x[gid]] + select(b[x[gid]], 10, 20) + len(k);\n"
    "}\n";
static const uint32_t numbers[] = {0, 1, 4, 5, 0xffffffff, 2},
                      looked_up[] = {28, 16, 30, 25, 25, 29};

static void the_oracle_looks_up(void **state) {
    (void)state;
    check_run(lookup_text, LIST(BYTES(numbers)), LIST(BYTES(looked_up)));
}

/* The binary form has a version of its own, and comes back as it was. */
static void binary_form_is_1_2(void **state) {
    (void)state;
    vyre_program *program = check_parse(lookup_text), *decoded;
    uint8_t *bytes, *again;
    size_t size, again_size;
    assert_null(vyre_wire_encode(program, 0, &bytes, &size));
    assert_int_equal(bytes[10], 2);
    assert_null(vyre_wire_decode(bytes, size, &decoded));
    vyre_digest left = vyre_program_digest(program), right = vyre_program_digest(decoded);
    assert_true(left.low == right.low && left.high == right.high);
    assert_null(vyre_wire_encode(decoded, 0, &again, &again_size));
    assert_int_equal(size, again_size);
    assert_memory_equal(bytes, again, size);
    vyre_bytes_free(bytes);
    vyre_bytes_free(again);
    vyre_program_release(decoded);
    vyre_program_release(program);
}

/* One element is another meaning. */
static void digests_cover_elements(void **state) {
    (void)state;
    vyre_program *left =
        check_parse("const k: u8[2] = [1, 2]; program p(y: out buffer<u8>[2]) over "
                    "y { y[gid] = k[gid]; }");
    vyre_program *right = check_parse("const k: u8[2] = [1, 3]; program p(y: out buffer<u8>[2]) "
                                      "over y { y[gid] = k[gid]; }");
    assert_int_not_equal(vyre_program_digest(left).low, vyre_program_digest(right).low);
    vyre_program_release(left);
    vyre_program_release(right);
}

/* A backend that knows no constant arrays: it gets buffers. */

static uint32_t own_features, runs;

static vyre_status dispatch_plain(const vyre_backend *backend, const vyre_call *call,
                                  vyre_output *outputs) {
    (void)backend;
    const vyre_ir *ir = vyre_program_ir(call->program);
    bool knows = own_features & VYRE_FEATURE_CONSTANT_ARRAYS;
    assert_int_equal(ir->data_bytes != 0, knows);
    runs++;
    return check_dispatch(call, outputs);
}

static const char *plain_id(const vyre_backend *backend) {
    (void)backend;
    return "plain";
}

static uint32_t plain_features(const vyre_backend *backend) {
    (void)backend;
    return own_features;
}

static void other_backends_get_buffers(void **state) {
    (void)state;
    static const uint32_t features[] = {
        0,
        VYRE_FEATURE_PHASES,
        VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC,
        VYRE_FEATURE_CONSTANT_ARRAYS,
        VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC | VYRE_FEATURE_CONSTANT_ARRAYS,
    };
    static const char two_phases[] =
        "const k: u32[5] = [3, 1, 4, 1, 5];\n"
        "const b: bool[2] = [false, true];\n"
        "program two(x: buffer<u32>, y: out buffer<u32>[len(x)]) {\n"
        "    scratch s: u32[len(x)];\n"
        "    phase over x { s[gid] = k[x[gid]] + len(k); }\n"
        "    phase over x { y[gid] = s[gid] + select(b[x[gid]], 10, 20); }\n"
        "}\n";
    const char *const texts[] = {lookup_text, two_phases};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        const vyre_backend_slots slots = {
            VYRE_BACKEND_HEAD,
            .id = plain_id,
            .dispatch = dispatch_plain,
            .features = plain_features,
        };
        const vyre_backend made = {&slots, NULL, NULL};
        vyre_device *device;
        own_features = features[i];
        assert_null(vyre_device_open(&made, "plain", 0, &device));
        for (size_t t = 0; t < 2; t++) {
            vyre_program *program = check_parse(texts[t]);
            const vyre_input input_bytes = BYTES(numbers);
            vyre_outputs outputs;
            runs = 0;
            vyre_status status =
                vyre_device_dispatch(device, program, &input_bytes, 1, NULL, &outputs);
            if (status) {
                fail_msg("%s", vyre_status_text(status));
            }
            assert_true(runs > 0);
            assert_int_equal(outputs.items[0].size, sizeof looked_up);
            assert_memory_equal(outputs.items[0].data, looked_up, sizeof looked_up);
            vyre_outputs_free(&outputs);
            vyre_program_release(program);
        }
        vyre_device_release(device);
    }
}

/* A table is declared once, however often a library function or a loop names it. */
static void many_uses_are_one_array(void **state) {
    (void)state;
    vyre_program *program = check_parse("const k: u32[3] = [1, 2, 3];\n"
                                        "fn twice(i: u32) -> u32 { return k[i] + k[i + 1]; }\n"
                                        "program p(y: out buffer<u32>[3]) {\n"
                                        "    phase over y { y[gid] = twice(gid) + twice(0); }\n"
                                        "    phase over y { y[gid] += twice(1) + k[gid]; }\n"
                                        "}\n");
    assert_int_equal(vyre_program_ir(program)->resource_count, 2);
    vyre_program_release(program);
}

/* Compiling does not depend on the number of elements: the code is the same but for the table,
 * which is one line of LLVM IR. */

typedef struct measures {
    uint32_t insts;
    size_t llvm_lines, ptx_code;
} measures;

static measures measure(uint32_t length) {
    char head[64];
    vyre_strbuf text = {0}, llvm = {0}, ptx = {0};
    snprintf(head, sizeof head, "const k: u32[%u] = [", length);
    vyre_strbuf_puts(&text, head);
    for (uint32_t i = 0; i < length; i++) {
        vyre_strbuf_printf(&text, "%u, ", i * 2654435761u);
    }
    vyre_strbuf_puts(&text, "];\nprogram p(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { "
                            "y[gid] = k[x[gid]] ^ k[x[gid] + 1]; }\n");
    vyre_program *program = check_parse(vyre_strbuf_string(&text)), *lowered;
    cpu_phase_info cpu_info;
    cuda_phase_info cuda_info;
    cpu_target cpu = {.lanes = 8, .has_gather = true};
    cuda_target cuda = cuda_baseline();
    assert_null(vyre_lower_program(program, true, &lowered));
    assert_null(cpu_emit(lowered, &cpu, &llvm, &cpu_info));
    assert_null(cuda_emit(lowered, &cuda, &ptx, &cuda_info));
    measures m = {.insts = vyre_program_ir(lowered)->inst_count};
    for (const char *at = vyre_strbuf_string(&llvm); (at = strchr(at, '\n')) != NULL; at++) {
        m.llvm_lines++;
    }
    const char *entry = strstr(vyre_strbuf_string(&ptx), ".visible");
    assert_non_null(entry);
    m.ptx_code = strlen(entry);
    vyre_strbuf_free(&text);
    vyre_strbuf_free(&llvm);
    vyre_strbuf_free(&ptx);
    vyre_program_release(lowered);
    vyre_program_release(program);
    return m;
}

static void code_does_not_grow_with_the_array(void **state) {
    (void)state;
    measures small = measure(4), large = measure(4096);
    assert_int_equal(small.insts, large.insts);
    assert_int_equal(small.llvm_lines, large.llvm_lines);
    assert_in_range(large.ptx_code, small.ptx_code, small.ptx_code + 64); /* a longer number */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_refused),
        cmocka_unit_test(equal_arrays_are_one),
        cmocka_unit_test(arrays_lie_in_the_order_of_use),
        cmocka_unit_test(the_oracle_looks_up),
        cmocka_unit_test(binary_form_is_1_2),
        cmocka_unit_test(digests_cover_elements),
        cmocka_unit_test(other_backends_get_buffers),
        cmocka_unit_test(many_uses_are_one_array),
        cmocka_unit_test(code_does_not_grow_with_the_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
