/* Programs as text: what is printed reads well, and parses back to the same program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <vyre/text.h>

#include "tests/unit/random_programs.h"
#include "tests/unit/wire_bytes.h"

static char *print(const vyre_program *program) {
    char *text;
    size_t size;
    vyre_status status = vyre_program_print(program, &text, &size);
    assert_string_equal(vyre_status_text(status), "ok");
    assert_int_equal(strlen(text), size);
    return text;
}

static void assert_parses_back(const vyre_program *program, const char *about) {
    char *text = print(program);
    vyre_module *module;
    vyre_status status = vyre_module_parse("printed", text, strlen(text), NULL, &module);
    if (status) {
        fail_msg("%s: %s\n%s", about, vyre_status_text(status), text);
        vyre_status_free(status);
        vyre_string_free(text);
        return;
    }
    assert_int_equal(vyre_module_count(module), 1);
    vyre_program *parsed = vyre_module_program(module, 0);
    vyre_digest wanted = vyre_program_digest(program), found = vyre_program_digest(parsed);
    if (wanted.low != found.low || wanted.high != found.high) {
        char *again = print(parsed);
        fail_msg("%s: the digest changed\n%s\n%s", about, text, again);
        vyre_string_free(again);
    }
    vyre_module_free(module);
    vyre_string_free(text);
}

static void print_of_every_sample_parses_back(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        vyre_program *program = sample_program(i);
        assert_parses_back(program, sample_rows[i].name);
        vyre_program_release(program);
    }
}

static void print_without_names_parses_back(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        wire_bytes bytes = wire_of_sample(sample_rows[i].name, VYRE_WIRE_NO_DEBUG);
        vyre_program *program;
        assert_null(vyre_wire_decode(bytes.data, bytes.size, &program));
        assert_parses_back(program, sample_rows[i].name);
        vyre_program_release(program);
        free(bytes.data);
    }
}

static void print_of_random_programs_parses_back(void **state) {
    (void)state;
    static random_source s;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        random_make(&s, seed);
        vyre_program *program = random_program(&s);
        assert_parses_back(program, "random");
        vyre_program_release(program);
    }
}

/* Names for people that would mislead, or that are no names of the language. */
static const char *const odd_names[] = {
    "v0", "v1",  "n",  "n_0",  "x_m1",  "if",  "u32",    "gid",     "loop", "a b",  "\xc3\xa9",
    "",   "_",   "__", "step", "array", "1st", "kept_m", "barrier", "nan",  "inf",  "true",
    "e1", "0x1", "\"", "//",   "\n",    "f_",  "with",   "len",     "max",  "bits",
};

static void build_odd_names(vyre_builder *b) {
    vyre_build_scalar(b, "v0", VYRE_TYPE_U32);
    vyre_build_scalar(b, "v1_", VYRE_TYPE_U32);
    vyre_build_scalar(b, "n_4", VYRE_TYPE_U32);
    vyre_build_scalar(b, "step_s0", VYRE_TYPE_U32);
    vyre_build_scalar(b, "array_m0", VYRE_TYPE_U32);
    vyre_build_scalar(b, "_v7", VYRE_TYPE_U32);
    uint32_t scratch = 0;
    for (size_t i = 0; i < sizeof odd_names / sizeof *odd_names; i++) {
        scratch = vyre_build_scratch(b, odd_names[i], VYRE_TYPE_U32, vyre_build_size_const(b, 4));
    }
    for (size_t i = 0; i < 4; i++) {
        vyre_build_repeat(b, odd_names[i], vyre_build_size_const(b, 2));
    }
    for (size_t i = 0; i < sizeof odd_names / sizeof *odd_names; i++) {
        vyre_build_phase(
            b, &(vyre_phase_desc){.name = odd_names[i], .domain = {vyre_build_size_const(b, 1)}});
        uint32_t p = vyre_build_private(b, odd_names[i], VYRE_TYPE_U32, 2);
        uint32_t value = build_gid(b);
        vyre_build_name(b, value, odd_names[i]);
        for (size_t k = 0; k < sizeof odd_names / sizeof *odd_names; k++) {
            value = build_op2(b, VYRE_OP_ADD, value, value);
            vyre_build_name(b, value, odd_names[k]);
        }
        vyre_build_store(b, p, value, vyre_build_load(b, scratch, value));
        vyre_build_phase_end(b);
    }
    for (size_t i = 0; i < 4; i++) {
        vyre_build_repeat_end(b);
    }
}

static void print_of_odd_names_parses_back(void **state) {
    (void)state;
    vyre_program *program = build_valid(build_odd_names);
    assert_parses_back(program, "odd names");
    vyre_program_release(program);
}

/* Exactly as it should look. */

static void build_shown(vyre_builder *b) {
    uint32_t n = vyre_build_scalar(b, "n", VYRE_TYPE_I32);
    uint32_t x = build_buffer(b, "x", VYRE_ACCESS_IN, VYRE_TYPE_F32);
    uint32_t size = vyre_build_size_op(b, VYRE_SIZE_SUB, vyre_build_size_len(b, x),
                                       vyre_build_size_const(b, 1));
    uint32_t y = vyre_build_buffer(b, "y", VYRE_ACCESS_OUT, VYRE_TYPE_F32, size);
    uint32_t flags = vyre_build_scratch(b, "flags", VYRE_TYPE_U32, vyre_build_size_const(b, 2));
    vyre_build_deterministic(b);
    uint32_t turn = vyre_build_repeat_while(b, "turn", flags, vyre_build_size_const(b, 1));
    vyre_build_phase(b, &(vyre_phase_desc){.name = "work",
                                           .domain = {vyre_build_size_const(b, 100)},
                                           .from_memory = true,
                                           .from_resource = flags,
                                           .from_index = vyre_build_size_const(b, 0),
                                           .workgroup = {64}});
    uint32_t s = vyre_build_shared(b, "tile", VYRE_TYPE_I32, 64);
    uint32_t i = vyre_build_position(b, VYRE_OP_LID, 0), result, arg;
    vyre_build_name(b, i, "i");
    uint32_t negative = build_op2(b, VYRE_OP_NEG, vyre_build_i32(b, -3), VYRE_NONE);
    vyre_build_for(b, vyre_build_i32(b, 0), vyre_build_param(b, n), vyre_build_i32(b, 1), 1,
                   &negative, &arg);
    vyre_build_if(b, build_op2(b, VYRE_OP_LE, arg, vyre_build_i32(b, INT32_MIN)));
    vyre_build_break(b, 1, &arg);
    vyre_build_if_end(b, 0, NULL);
    vyre_build_continue(b, 1, (uint32_t[]){build_op2(b, VYRE_OP_ADD, arg, vyre_build_i32(b, 7))});
    vyre_build_loop_end(b, 1, &result);
    vyre_build_atomic(b, VYRE_OP_ATOMIC_MAX, s, i, result, VYRE_NONE, VYRE_ORDERING_ACQ_REL,
                      VYRE_SCOPE_WORKGROUP);
    vyre_build_barrier(b, VYRE_OP_BARRIER);
    uint32_t all =
        vyre_build_combine(b, VYRE_OP_REDUCE, VYRE_COMBINE_MIN, vyre_build_load(b, s, i));
    uint32_t real = vyre_build_bitcast(b, VYRE_TYPE_F32, all);
    uint32_t chosen = vyre_build_op(b, VYRE_OP_SELECT, vyre_build_position(b, VYRE_OP_IN_DOMAIN, 0),
                                    real, vyre_build_const(b, VYRE_TYPE_F32, 0x7fc00001));
    vyre_build_store(b, y, vyre_build_iteration(b, turn), chosen);
    vyre_build_phase_end(b);
    vyre_build_repeat_end(b);
}

static void print_looks_as_it_should(void **state) {
    (void)state;
    vyre_program *program = build_valid(build_shown);
    char *text = print(program);
    assert_string_equal(
        text,
        "program test(n: i32, x: buffer<f32>, y: out buffer<f32>[len(x) - 1]) deterministic {\n"
        "    scratch flags_m2: u32[2];\n"
        "    repeat turn_s0 while flags_m2[1] {\n"
        "        phase work_s1 over flags_m2[0] max 100 workgroup 64 subgroup 32 {\n"
        "            shared tile_m3: i32[64];\n"
        "            let i_0 = lid.x;\n"
        "            let v1 = -(-3i);\n"
        "            let v2 = n;\n"
        "            let v12 = for _v4 in 0i..v2 step 1i with (v5 = v1) {\n"
        "                let v6 = v5 <= -2147483648i;\n"
        "                if v6 {\n"
        "                    break v5;\n"
        "                }\n"
        "                let v10 = v5 + 7i;\n"
        "                continue v10;\n"
        "            };\n"
        "            atomic_max(tile_m3[i_0], v12, acq_rel);\n"
        "            barrier;\n"
        "            let v15 = tile_m3[i_0];\n"
        "            let v16 = subgroup_min(v15);\n"
        "            let v17 = bitcast<f32>(v16);\n"
        "            let v18 = in_domain;\n"
        "            let v19 = select(v18, v17, bits<f32>(0x7fc00001));\n"
        "            let v20 = turn_s0;\n"
        "            y[v20] = v19;\n"
        "        }\n"
        "    }\n"
        "}\n");
    vyre_string_free(text);
    assert_parses_back(program, "shown");
    vyre_program_release(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(print_of_every_sample_parses_back),
        cmocka_unit_test(print_without_names_parses_back),
        cmocka_unit_test(print_of_random_programs_parses_back),
        cmocka_unit_test(print_of_odd_names_parses_back),
        cmocka_unit_test(print_looks_as_it_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
