/* Every way to cut a program's bytes and every bit to flip in them: refused, or still a program in
 * the one form that encoding gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/wire_bytes.h"

static const char *const small_samples[] = {"saxpy", "empty",    "blocks", "variables",
                                            "steps", "barriers", "named"};

/* A refusal says where, and what to do. */
static void assert_refused(wire_bytes bytes) {
    vyre_program *program = (vyre_program *)(void *)bytes.data;
    vyre_status status = vyre_wire_decode(bytes.data, bytes.size, &program);
    assert_non_null(status);
    assert_null(program);
    assert_non_null(strstr(vyre_status_text(status), "at byte "));
    assert_non_null(strstr(vyre_status_text(status), "Fix: "));
    assert_int_not_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
    vyre_status_free(status);
}

/* Refused, or a program that encodes to exactly these bytes. Returns whether it was one. */
static bool assert_refused_or_exact(wire_bytes bytes) {
    vyre_program *program;
    vyre_status status = vyre_wire_decode(bytes.data, bytes.size, &program);
    if (status) {
        vyre_status_free(status);
        assert_refused(bytes);
        return false;
    }
    uint8_t *again;
    size_t size;
    assert_null(vyre_wire_encode(program, 0, &again, &size));
    assert_int_equal(size, bytes.size);
    assert_memory_equal(again, bytes.data, size);
    char *text;
    assert_null(vyre_program_print(program, &text, &size));
    vyre_string_free(text);
    vyre_bytes_free(again);
    vyre_program_release(program);
    return true;
}

static void damage_every_truncation_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof small_samples / sizeof *small_samples; i++) {
        wire_bytes whole = wire_of_sample(small_samples[i], 0);
        for (size_t size = 0; size < whole.size; size++) {
            wire_bytes cut = wire_copy(whole, size);
            assert_refused(cut);
            /* The same from somebody who states the length that is there. */
            if (size >= WIRE_AT_TABLE) {
                wire_put(cut.data + WIRE_AT_LENGTH, 8, size);
                wire_fix_checksum(cut);
                assert_refused(cut);
            }
            free(cut.data);
        }
        free(whole.data);
    }
}

static void damage_every_extension_is_refused(void **state) {
    (void)state;
    wire_bytes whole = wire_of_sample("saxpy", 0);
    for (size_t extra = 1; extra <= 64; extra++) {
        wire_bytes longer = wire_copy(whole, whole.size + extra);
        assert_refused(longer);
        wire_put(longer.data + WIRE_AT_LENGTH, 8, longer.size);
        wire_fix_checksum(longer);
        assert_refused(longer);
        free(longer.data);
    }
    free(whole.data);
}

static void damage_every_flipped_bit_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof small_samples / sizeof *small_samples; i++) {
        wire_bytes bytes = wire_of_sample(small_samples[i], 0);
        for (size_t bit = 0; bit < bytes.size * 8; bit++) {
            bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_refused(bytes);
            bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        free(bytes.data);
    }
}

/* With the checksum made to fit, what the bytes say is looked at. Some flips give another program:
 * other constants, operations, names. */
static void damage_every_flipped_bit_under_a_right_checksum_is_refused_or_exact(void **state) {
    (void)state;
    for (uint32_t flags = 0; flags <= VYRE_WIRE_NO_DEBUG; flags++) {
        for (size_t i = 0; i < sizeof small_samples / sizeof *small_samples; i++) {
            wire_bytes bytes = wire_of_sample(small_samples[i], flags);
            size_t accepted = 0, tried = 0;
            for (size_t bit = 0; bit < bytes.size * 8; bit++) {
                if (bit / 8 >= WIRE_AT_CHECKSUM && bit / 8 < WIRE_CHECKED_FROM) {
                    continue;
                }
                bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
                wire_fix_checksum(bytes);
                accepted += assert_refused_or_exact(bytes);
                tried++;
                bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            }
            wire_fix_checksum(bytes);
            assert_true(assert_refused_or_exact(bytes));
            assert_in_range(accepted, 1, tried - 1);
            free(bytes.data);
        }
    }
}

/* Every 32-bit word set to numbers that are likely to be somebody's boundary. */
static void damage_every_word_with_a_boundary_number_is_refused_or_exact(void **state) {
    (void)state;
    static const uint32_t numbers[] = {0,          1,          2,          0x7f,
                                       0xff,       0xffff,     0x7fffffff, 0x80000000,
                                       0x80000001, 0xfffffffe, 0xffffffff, 0x00400000,
                                       0x01000000, 0x10000000, 0x40000000, 0x55555555};
    for (size_t i = 0; i < sizeof small_samples / sizeof *small_samples; i++) {
        wire_bytes bytes = wire_of_sample(small_samples[i], 0);
        for (size_t at = 0; at + 4 <= bytes.size; at += 4) {
            if (at >= WIRE_AT_CHECKSUM && at < WIRE_CHECKED_FROM) {
                continue;
            }
            uint32_t kept = wire_get_u32(bytes.data + at);
            for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
                wire_put(bytes.data + at, 4, numbers[k]);
                wire_fix_checksum(bytes);
                assert_refused_or_exact(bytes);
                wire_put(bytes.data + at, 4, kept + numbers[k]);
                wire_fix_checksum(bytes);
                assert_refused_or_exact(bytes);
            }
            wire_put(bytes.data + at, 4, kept);
        }
        free(bytes.data);
    }
}

/* Two instructions change places, or one is doubled: structure is all that can tell. */
static void damage_every_swap_of_instructions_is_refused_or_exact(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof small_samples / sizeof *small_samples; i++) {
        wire_bytes bytes = wire_of_sample(small_samples[i], VYRE_WIRE_NO_DEBUG);
        size_t entry = wire_entry_of(bytes, VYRE_SECTION_INSTS);
        uint32_t count = wire_get_u32(bytes.data + entry + WIRE_ENTRY_COUNT);
        uint8_t *insts = bytes.data + wire_offset_of(bytes, VYRE_SECTION_INSTS);
        for (uint32_t a = 0; a < count; a++) {
            for (uint32_t b = 0; b < count; b++) {
                uint8_t kept_a[16], kept_b[16];
                memcpy(kept_a, insts + (size_t)a * 16, 16);
                memcpy(kept_b, insts + (size_t)b * 16, 16);
                memcpy(insts + (size_t)a * 16, kept_b, 16);
                wire_fix_checksum(bytes);
                assert_refused_or_exact(bytes);
                memcpy(insts + (size_t)b * 16, kept_a, 16);
                wire_fix_checksum(bytes);
                assert_refused_or_exact(bytes);
                memcpy(insts + (size_t)a * 16, kept_a, 16);
                memcpy(insts + (size_t)b * 16, kept_b, 16);
            }
        }
        free(bytes.data);
    }
}

/* A copy in which each CR, LF or pair of them was replaced as a transfer of text does it. */
static wire_bytes with_line_ends(wire_bytes bytes, const char *from, const char *to) {
    size_t from_size = strlen(from), to_size = strlen(to);
    wire_bytes changed = wire_copy(bytes, 2 * bytes.size);
    changed.size = 0;
    for (size_t at = 0; at < bytes.size;) {
        bool found = at + from_size <= bytes.size && !memcmp(bytes.data + at, from, from_size);
        memcpy(changed.data + changed.size, found ? to : (const char *)bytes.data + at,
               found ? to_size : 1);
        changed.size += found ? to_size : 1;
        at += found ? from_size : 1;
    }
    return changed;
}

static void assert_sent_as_text(wire_bytes bytes, const char *words) {
    vyre_program *program;
    vyre_status status = vyre_wire_decode(bytes.data, bytes.size, &program);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_MALFORMED);
    assert_non_null(strstr(vyre_status_message(status), words));
    assert_non_null(strstr(vyre_status_fix(status), "as binary, not as text"));
    vyre_status_free(status);
}

static void damage_by_a_transfer_as_text_is_told(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *words;
    } changes[] = {
        {"\n", "\r\n", "at byte 5: LF became CR LF here"},
        {"\x1a\n", "\x1a\r\n", "at byte 7: LF became CR LF here"}, /* leaves CR LF alone */
        {"\r\n", "\n", "at byte 4: CR LF became LF here"},
        {"\r", "\n", "at byte 4: CR became LF here"},
        {"\n", "\r", "at byte 5: LF became CR here"},
    };
    for (size_t i = 0; i < sizeof small_samples / sizeof *small_samples; i++) {
        wire_bytes whole = wire_of_sample(small_samples[i], 0);
        for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
            wire_bytes changed = with_line_ends(whole, changes[k].from, changes[k].to);
            assert_sent_as_text(changed, changes[k].words);
            free(changed.data);
        }
        wire_bytes stripped = wire_copy(whole, whole.size);
        for (size_t at = 0; at < stripped.size; at++) {
            stripped.data[at] &= 0x7f;
        }
        assert_sent_as_text(stripped, "at byte 8: from here on no byte has its highest bit");
        free(stripped.data);
        free(whole.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_by_a_transfer_as_text_is_told),
        cmocka_unit_test(damage_every_truncation_is_refused),
        cmocka_unit_test(damage_every_extension_is_refused),
        cmocka_unit_test(damage_every_flipped_bit_is_refused),
        cmocka_unit_test(damage_every_flipped_bit_under_a_right_checksum_is_refused_or_exact),
        cmocka_unit_test(damage_every_word_with_a_boundary_number_is_refused_or_exact),
        cmocka_unit_test(damage_every_swap_of_instructions_is_refused_or_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
