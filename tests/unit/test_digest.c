/* The digest: of all that a program means, and of nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/build_check.h"
#include "tests/unit/wire_bytes.h"

static bool same_digest(const vyre_program *left, const vyre_program *right) {
    vyre_digest a = vyre_program_digest(left), b = vyre_program_digest(right);
    return a.low == b.low && a.high == b.high;
}

/* Whether a byte of the binary form is part of the meaning. */
static bool is_meaning(wire_bytes bytes, size_t at) {
    if (at < WIRE_AT_TABLE) {
        return at >= WIRE_AT_FLAGS && at < WIRE_AT_FLAGS + 4;
    }
    bool in_table = at < wire_get_u32(bytes.data + WIRE_AT_TABLE + WIRE_ENTRY_OFFSET);
    return at < (in_table ? wire_entry_of(bytes, VYRE_SECTION_RESOURCE_NAMES)
                          : wire_offset_of(bytes, VYRE_SECTION_RESOURCE_NAMES));
}

/* Flips every bit in turn: where that gives another program, the digest tells by whether it means
 * something else. */
static void digest_depends_on_every_bit_of_the_meaning_and_no_other(void **state) {
    (void)state;
    static const char *const names[] = {"saxpy", "blocks",   "variables",
                                        "steps", "barriers", "named"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        wire_bytes whole = wire_of_sample(names[i], 0), bytes = wire_copy(whole, whole.size);
        vyre_program *original, *changed;
        assert_null(vyre_wire_decode(bytes.data, bytes.size, &original));
        size_t meanings = 0, others = 0;
        for (size_t bit = WIRE_AT_FLAGS * 8; bit < bytes.size * 8; bit++) {
            bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            wire_fix_checksum(bytes);
            vyre_status status = vyre_wire_decode(bytes.data, bytes.size, &changed);
            if (!status) {
                bool meaning = is_meaning(whole, bit / 8);
                if (same_digest(original, changed) == meaning) {
                    fail_msg("%s: a bit of byte %zu %s the digest", names[i], bit / 8,
                             meaning ? "does not change" : "changes");
                }
                meanings += meaning;
                others += !meaning;
            }
            vyre_status_free(status);
            vyre_program_release(changed);
            bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_true(meanings > 20 && others > 20);
        vyre_program_release(original);
        free(bytes.data);
        free(whole.data);
    }
}

/* Variants of one program; bits say what differs. */
enum {
    OTHER_LOCAL_NAMES = 1,
    OTHER_PLACES = 2,
    OTHER_STEP_NAMES = 4,
    MORE_DEAD_CODE = 8,
    MORE_UNUSED_CONSTANTS = 16,
    VARIABLES_INSTEAD_OF_VALUES = 32,
    LATER_DECLARATION_OF_SCRATCH = 64,
    SAME_MEANING = 127,
    OTHER_ARGUMENT_NAME = 128,
    OTHER_PROGRAM_NAME = 256,
    OTHER_ORDER_OF_ARGUMENTS = 512,
    OTHER_CONSTANT = 1024,
    NEGATIVE_ZERO = 2048,
    A_CLAIM = 4096,
    OTHER_WORKGROUP = 8192,
    OTHER_SIZE = 16384,
    OTHER_ORDER_OF_OPERANDS = 32768,
    END_OF_VARIANTS = 65536
};

static void declare_scratch(vyre_builder *b, uint32_t variant, uint32_t *kept) {
    *kept = vyre_build_scratch(b, variant & OTHER_LOCAL_NAMES ? "k" : "kept", VYRE_TYPE_F32,
                               vyre_build_size_const(b, variant & OTHER_SIZE ? 9 : 8));
}

static vyre_program *make_variant(uint32_t variant) {
    vyre_builder *b;
    vyre_program *program;
    assert_null(vyre_builder_create(variant & OTHER_PROGRAM_NAME ? "q" : "p", &b));
    vyre_build_file(b, variant & OTHER_PLACES ? "b.vyre" : "a.vyre");
    uint32_t kept = 0, n, x;
    if (!(variant & LATER_DECLARATION_OF_SCRATCH)) {
        declare_scratch(b, variant, &kept);
    }
    const char *name = variant & OTHER_ARGUMENT_NAME ? "m" : "n";
    if (variant & OTHER_ORDER_OF_ARGUMENTS) {
        x = build_buffer(b, "x", VYRE_ACCESS_INOUT, VYRE_TYPE_F32);
        n = vyre_build_scalar(b, name, VYRE_TYPE_F32);
    } else {
        n = vyre_build_scalar(b, name, VYRE_TYPE_F32);
        x = build_buffer(b, "x", VYRE_ACCESS_INOUT, VYRE_TYPE_F32);
    }
    if (variant & LATER_DECLARATION_OF_SCRATCH) {
        declare_scratch(b, variant, &kept);
    }
    if (variant & A_CLAIM) {
        vyre_build_deterministic(b);
    }
    vyre_build_phase(b, &(vyre_phase_desc){.name = variant & OTHER_STEP_NAMES ? NULL : "work",
                                           .domain = {vyre_build_size_len(b, x)},
                                           .workgroup = {variant & OTHER_WORKGROUP ? 128 : 64}});
    if (variant & MORE_UNUSED_CONSTANTS) {
        vyre_build_u32(b, 123456);
    }
    vyre_build_at(b, variant & OTHER_PLACES ? 7 : 3, 1, 1);
    if (variant & OTHER_PLACES) {
        vyre_build_scope(b, "callee");
    }
    uint32_t i = build_gid(b), scale = vyre_build_param(b, n);
    uint32_t sum = build_op2(b, VYRE_OP_ADD, scale,
                             vyre_build_f32(b, variant & OTHER_CONSTANT  ? 3.0f
                                               : variant & NEGATIVE_ZERO ? -0.0f
                                                                         : 0.0f));
    uint32_t loaded = vyre_build_load(b, x, i);
    uint32_t product = variant & OTHER_ORDER_OF_OPERANDS ? build_op2(b, VYRE_OP_MUL, loaded, sum)
                                                         : build_op2(b, VYRE_OP_MUL, sum, loaded);
    vyre_build_name(b, product, variant & OTHER_LOCAL_NAMES ? "other" : "product");
    if (variant & VARIABLES_INSTEAD_OF_VALUES) {
        product = vyre_build_get(b, vyre_build_var(b, "v", product));
    }
    vyre_build_store(b, kept, i, product);
    if (variant & MORE_DEAD_CODE) {
        vyre_build_return(b, 0, NULL);
        vyre_build_store(b, x, i, vyre_build_f32(b, 99.0f));
    }
    vyre_build_phase_end(b);
    vyre_status status = vyre_builder_finish(b, NULL, &program);
    assert_string_equal(vyre_status_text(status), "ok");
    vyre_builder_free(b);
    return program;
}

static void digest_does_not_depend_on_names_places_and_ways_to_build(void **state) {
    (void)state;
    vyre_program *original = make_variant(0);
    for (uint32_t variant = 1; variant <= SAME_MEANING; variant++) {
        vyre_program *program = make_variant(variant);
        if (!same_digest(original, program)) {
            fail_msg("variant %u has another digest", variant);
        }
        vyre_program_release(program);
    }
    vyre_program_release(original);
}

static void digest_depends_on_everything_else(void **state) {
    (void)state;
    for (uint32_t left = SAME_MEANING + 1; left < END_OF_VARIANTS; left *= 2) {
        vyre_program *first = make_variant(left), *original = make_variant(0);
        assert_false(same_digest(first, original));
        for (uint32_t right = left * 2; right < END_OF_VARIANTS; right *= 2) {
            vyre_program *second = make_variant(right);
            assert_false(same_digest(first, second));
            vyre_program_release(second);
        }
        vyre_program_release(first);
        vyre_program_release(original);
    }
}

/* Numbers that are stored somewhere may not change from one release to the next. */
static void digest_of_a_known_program_is_known(void **state) {
    (void)state;
    wire_bytes bytes = wire_of_sample("saxpy", VYRE_WIRE_NO_DEBUG);
    vyre_program *program;
    assert_null(vyre_wire_decode(bytes.data, bytes.size, &program));
    vyre_digest digest = vyre_program_digest(program);
    assert_true(digest.low == 0x53509a0b3daef30f);
    assert_true(digest.high == 0xfcf3a5dbcfa419df);
    vyre_program_release(program);
    free(bytes.data);
}

static void program_lives_as_long_as_somebody_holds_it(void **state) {
    (void)state;
    vyre_program *program = make_variant(0);
    assert_ptr_equal(vyre_program_retain(program), program);
    vyre_program_release(program);
    assert_string_equal(vyre_program_name(program), "p");
    vyre_program_release(program);
    vyre_program_release(NULL);
}

static void program_counts_what_it_holds(void **state) {
    (void)state;
    vyre_program *program = make_variant(0);
    vyre_stats stats = vyre_program_stats(program);
    assert_int_equal(stats.insts, 7);
    assert_int_equal(stats.phases, 1);
    assert_int_equal(stats.blocks, 1);
    assert_int_equal(stats.depth, 0);
    assert_int_equal(stats.consts, 1);
    assert_int_equal(stats.loads, 1);
    assert_int_equal(stats.stores, 1);
    assert_int_equal(stats.float_ops, 2);
    assert_int_equal(stats.integer_ops, 0);
    assert_true(stats.memory_bytes > 7 * 16);
    vyre_program_release(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digest_depends_on_every_bit_of_the_meaning_and_no_other),
        cmocka_unit_test(digest_does_not_depend_on_names_places_and_ways_to_build),
        cmocka_unit_test(digest_depends_on_everything_else),
        cmocka_unit_test(digest_of_a_known_program_is_known),
        cmocka_unit_test(program_lives_as_long_as_somebody_holds_it),
        cmocka_unit_test(program_counts_what_it_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
