/* Programs to bytes and back: nothing is lost, and one program has one form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/text.h>
#include <vyre/wire.h>

#include "ir/program.h"
#include "tests/unit/sample_programs.h"
#include "wire/layout.h"

static uint8_t *encode(const vyre_program *program, uint32_t flags, size_t *size) {
    uint8_t *bytes;
    vyre_status status = vyre_wire_encode(program, flags, &bytes, size);
    assert_string_equal(vyre_status_text(status), "ok");
    return bytes;
}

static vyre_program *decode(const uint8_t *bytes, size_t size) {
    vyre_program *program;
    vyre_status status = vyre_wire_decode(bytes, size, &program);
    assert_string_equal(vyre_status_text(status), "ok");
    return program;
}

static void assert_same_section(const vyre_ir *left, const vyre_ir *right, vyre_section_id id) {
    uint32_t count = vyre_section_count(left, id);
    assert_int_equal(count, vyre_section_count(right, id));
    if (count) {
        assert_memory_equal(vyre_section_items(left, id), vyre_section_items(right, id),
                            count * vyre_section_item_bytes(id));
    }
}

static void assert_same_bytes(const vyre_program *program, uint32_t flags, const uint8_t *bytes,
                              size_t size) {
    size_t again_size;
    uint8_t *again = encode(program, flags, &again_size);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, bytes, size);
    vyre_bytes_free(again);
}

static void wire_round_trip_keeps_everything(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = sample_program(i);
        size_t size;
        uint8_t *bytes = encode(program, 0, &size);
        vyre_program *decoded = decode(bytes, size);
        vyre_digest digest = vyre_program_digest(program);
        vyre_digest decoded_digest = vyre_program_digest(decoded);
        assert_memory_equal(&digest, &decoded_digest, sizeof digest);
        assert_int_equal(program->ir.flags, decoded->ir.flags);
        assert_int_equal(program->ir.file, decoded->ir.file);
        for (uint32_t id = 0; id < VYRE_SECTION_COUNT; id++) {
            assert_same_section(&program->ir, &decoded->ir, id);
        }
        assert_int_equal(vyre_program_determinism(program), vyre_program_determinism(decoded));
        assert_string_equal(vyre_program_determinism_reason(program),
                            vyre_program_determinism_reason(decoded));
        assert_same_bytes(decoded, 0, bytes, size);
        vyre_program_release(decoded);
        vyre_program_release(program);
        vyre_bytes_free(bytes);
    }
}

static void wire_without_debug_keeps_the_meaning_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = sample_program(i);
        size_t size, full_size;
        uint8_t *bytes = encode(program, VYRE_WIRE_NO_DEBUG, &size);
        uint8_t *full = encode(program, 0, &full_size);
        assert_true(size < full_size);
        vyre_program *decoded = decode(bytes, size);
        vyre_digest digest = vyre_program_digest(program);
        vyre_digest decoded_digest = vyre_program_digest(decoded);
        assert_memory_equal(&digest, &decoded_digest, sizeof digest);
        for (uint32_t id = 0; id < VYRE_SECTION_COUNT; id++) {
            if (vyre_section_is_meaning(id)) {
                assert_same_section(&program->ir, &decoded->ir, id);
            } else {
                assert_int_equal(vyre_section_count(&decoded->ir, id), 0);
            }
        }
        assert_int_equal(decoded->ir.file, 0);
        /* Without names there is nothing to leave out. */
        assert_same_bytes(decoded, 0, bytes, size);
        assert_same_bytes(decoded, VYRE_WIRE_NO_DEBUG, bytes, size);
        vyre_program_release(decoded);
        vyre_program_release(program);
        vyre_bytes_free(bytes);
        vyre_bytes_free(full);
    }
}

static void wire_of_equal_programs_is_equal(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = sample_program(i), *twin = sample_program(i);
        size_t size;
        uint8_t *bytes = encode(program, 0, &size);
        assert_same_bytes(twin, 0, bytes, size);
        vyre_program_release(program);
        vyre_program_release(twin);
        vyre_bytes_free(bytes);
    }
}

static uint32_t nan_operand;

static void build_one_constant(vyre_builder *b) {
    uint32_t out =
        vyre_build_buffer(b, "out", VYRE_ACCESS_OUT, VYRE_TYPE_F32, vyre_build_size_const(b, 1));
    sample_phase(b, NULL, 1, 0);
    vyre_build_store(b, out, vyre_build_u32(b, 0), vyre_build_const(b, VYRE_TYPE_F32, nan_operand));
    vyre_build_phase_end(b);
}

static void wire_keeps_the_payload_of_a_nan(void **state) {
    (void)state;
    for (nan_operand = 0x7f800001; nan_operand >= 0x7f800001; nan_operand += 0x01234567) {
        vyre_program *program;
        assert_null(sample_build("payload", build_one_constant, &program));
        size_t size;
        uint8_t *bytes = encode(program, 0, &size);
        vyre_program *decoded = decode(bytes, size);
        const vyre_const *row = &vyre_program_ir(decoded)->consts[1];
        assert_int_equal(row->type, VYRE_TYPE_F32);
        assert_int_equal(row->bits, nan_operand);
        vyre_program_release(decoded);
        vyre_program_release(program);
        vyre_bytes_free(bytes);
    }
}

/* The form as docs/wire.md has it, read without help of the library. */
static void wire_header_and_table_are_as_documented(void **state) {
    (void)state;
    vyre_program *program = sample_program(0);
    size_t size;
    uint8_t *bytes = encode(program, 0, &size);
    const uint8_t start[12] = {'V', 'Y', 'R', 'E', 13, 10, 26, 10, 1, 0, 0, 0};
    assert_memory_equal(bytes, start, sizeof start);
    uint32_t sections = bytes[12];
    assert_int_equal(bytes[16] + 256 * bytes[17], size);
    assert_int_equal(size % 8, 0);
    size_t end = 40 + 16 * sections;
    for (uint32_t i = 0; i < sections; i++) {
        const uint8_t *entry = bytes + 40 + 16 * (size_t)i;
        size_t offset = (size_t)entry[12] + 256 * (size_t)entry[13];
        size_t items = (size_t)entry[8] + 256 * (size_t)entry[9];
        assert_int_equal(offset, (end + 7) / 8 * 8);
        for (; end < offset; end++) {
            assert_int_equal(bytes[end], 0);
        }
        end = offset + items * entry[4];
        if (entry[0] == 8) { /* STRINGS */
            assert_int_equal(items, 12);
            assert_memory_equal(bytes + offset, "saxpy\0a\0x\0y\0", 12);
        }
    }
    assert_int_equal((end + 7) / 8 * 8, size);
    vyre_program_release(program);
    vyre_bytes_free(bytes);
}

/* A program states the lowest version that has all it uses, so older readers take older programs.
 */
static void wire_version_is_the_lowest_that_will_do(void **state) {
    (void)state;
    static const struct {
        vyre_op op;
        vyre_type type;
        uint32_t minor;
    } cases[] = {{VYRE_OP_EXP, VYRE_TYPE_F32, 0},   {VYRE_OP_SQRT, VYRE_TYPE_F64, 0},
                 {VYRE_OP_EXP, VYRE_TYPE_F64, 2},   {VYRE_OP_HYPOT, VYRE_TYPE_F64, 2},
                 {VYRE_OP_EXP10, VYRE_TYPE_F32, 2}, {VYRE_OP_LOG10, VYRE_TYPE_F16, 2},
                 {VYRE_OP_FMOD, VYRE_TYPE_BF16, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        const char *type = vyre_type_name(cases[i].type);
        bool two = vyre_op_info_of(cases[i].op)->shape == VYRE_SHAPE_V2;
        snprintf(text, sizeof text,
                 "program p(x: inout buffer<%s>) over x { x[gid] = %s(x[gid]%s); }", type,
                 vyre_op_info_of(cases[i].op)->name, two ? ", x[gid]" : "");
        vyre_module *module;
        vyre_status status = vyre_module_parse("p.vyre", text, strlen(text), NULL, &module);
        assert_string_equal(vyre_status_text(status), "ok");
        size_t size;
        uint8_t *bytes = encode(vyre_module_program(module, 0), 0, &size);
        assert_int_equal(wire_get(bytes + WIRE_AT_MINOR, 2), cases[i].minor);
        vyre_program *decoded = decode(bytes, size);
        vyre_program_release(decoded);
        vyre_module_free(module);
        vyre_bytes_free(bytes);
    }
}

static void wire_refuses_flags_it_does_not_know(void **state) {
    (void)state;
    vyre_program *program = sample_program(0);
    uint8_t *bytes = (uint8_t *)state;
    size_t size = 1;
    vyre_status status = vyre_wire_encode(program, 6, &bytes, &size);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_INVALID_ARGUMENT);
    assert_null(bytes);
    assert_int_equal(size, 0);
    vyre_status_free(status);
    vyre_program_release(program);
    vyre_bytes_free(NULL);
}

/* Every operation of the table stands in some sample, so that the round trips mean something. */
static void wire_samples_hold_every_operation(void **state) {
    (void)state;
    bool seen[VYRE_OP_COUNT] = {false};
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = sample_program(i);
        for (uint32_t k = 0; k < program->ir.inst_count; k++) {
            seen[program->ir.insts[k].op] = true;
        }
        vyre_program_release(program);
    }
    for (uint32_t op = 0; op < VYRE_OP_COUNT; op++) {
        if (vyre_op_info_of(op)->name && !seen[op]) {
            fail_msg("no sample program uses `%s`", vyre_op_info_of(op)->name);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wire_samples_hold_every_operation),
        cmocka_unit_test(wire_round_trip_keeps_everything),
        cmocka_unit_test(wire_without_debug_keeps_the_meaning_alone),
        cmocka_unit_test(wire_of_equal_programs_is_equal),
        cmocka_unit_test(wire_keeps_the_payload_of_a_nan),
        cmocka_unit_test(wire_header_and_table_are_as_documented),
        cmocka_unit_test(wire_version_is_the_lowest_that_will_do),
        cmocka_unit_test(wire_refuses_flags_it_does_not_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
