/* Programs as large as they may be: the verifier takes them, and so does the decoder; one more of
 * anything and both refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <vyre/wire.h>

#include "tests/unit/build_check.h"

static uint32_t wanted;

/* A phase of `wanted` instructions. */
static void build_instructions(vyre_builder *b) {
    build_phase(b, 0);
    for (uint32_t i = 1; i < wanted; i++) {
        build_gid(b);
    }
    vyre_build_phase_end(b);
}

static void build_constants(vyre_builder *b) {
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_OUT, VYRE_TYPE_U64);
    build_phase(b, 0);
    uint32_t i = build_gid(b);
    for (uint32_t k = 0; k < wanted; k++) {
        vyre_build_store(b, x, i, vyre_build_const(b, VYRE_TYPE_U64, k));
    }
    vyre_build_phase_end(b);
}

static void build_calls(vyre_builder *b) {
    build_phase(b, 0);
    for (uint32_t k = 0; k < wanted; k++) {
        vyre_build_scope(b, "callee");
        vyre_build_scope_end(b);
    }
    vyre_build_phase_end(b);
}

/* A loop with many ways out, each with a list as long as can be; then one with a single value. */
static void build_operands(vyre_builder *b) {
    static uint32_t values[VYRE_LIMIT_CARRIED];
    uint32_t lists = wanted / VYRE_LIMIT_CARRIED, rest = wanted % VYRE_LIMIT_CARRIED;
    build_phase(b, 0);
    uint32_t i = build_gid(b), holds = build_is(b, i, 1), arg;
    for (uint32_t k = 0; k < VYRE_LIMIT_CARRIED; k++) {
        values[k] = i;
    }
    vyre_build_loop(b, VYRE_LIMIT_CARRIED, values, values);
    for (uint32_t k = 2; k < lists; k++) {
        vyre_build_if(b, holds);
        vyre_build_break(b, VYRE_LIMIT_CARRIED, values);
        vyre_build_if_end(b, 0, NULL);
    }
    vyre_build_break(b, VYRE_LIMIT_CARRIED, values);
    vyre_build_loop_end(b, VYRE_LIMIT_CARRIED, values);
    if (rest) {
        vyre_build_loop(b, rest, &i, &arg);
        vyre_build_break(b, 0, NULL);
        vyre_build_loop_end(b, 0, NULL);
    }
    vyre_build_phase_end(b);
}

static void check_limit(build_function build, uint32_t limit) {
    wanted = limit;
    vyre_program *program = build_valid(build), *decoded;
    uint8_t *bytes;
    size_t size;
    assert_null(vyre_wire_encode(program, 0, &bytes, &size));
    vyre_status status = vyre_wire_decode(bytes, size, &decoded);
    assert_string_equal(vyre_status_text(status), "ok");
    vyre_program_release(decoded);
    vyre_bytes_free(bytes);
    vyre_program_release(program);

    wanted = limit + 1;
    build_case row = {"one more", build, 701, ""};
    build_case_check(&row);
}

static void limit_of_instructions(void **state) {
    (void)state;
    check_limit(build_instructions, VYRE_LIMIT_INSTRUCTIONS);
}

static void limit_of_constants(void **state) {
    (void)state;
    check_limit(build_constants, VYRE_LIMIT_CONSTANTS);
}

static void limit_of_inlined_calls(void **state) {
    (void)state;
    check_limit(build_calls, VYRE_LIMIT_SCOPES);
}

static void limit_of_operands(void **state) {
    (void)state;
    check_limit(build_operands, VYRE_LIMIT_OPERANDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limit_of_instructions),
        cmocka_unit_test(limit_of_constants),
        cmocka_unit_test(limit_of_inlined_calls),
        cmocka_unit_test(limit_of_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
