/* Text against definitions that go over it byte by byte. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include <ctype.h>

#include "tests/ops/ops_check.h"

enum { MOST = 70000 };

static uint8_t text[2 * MOST + 4], bytes[MOST];

static void bytes_alone(void **state) {
    (void)state;
    static const char small[] = "abcdefghijklmnopqrstuvwxyz",
                      large[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static uint8_t byte[256], lower[256], upper[256], swapped[256], classes[256];
    for (int k = 0; k < 256; k++) {
        const char *in_small = k ? strchr(small, k) : NULL, *in_large = k ? strchr(large, k) : NULL;
        byte[k] = (uint8_t)k;
        lower[k] = in_large ? (uint8_t)small[in_large - large] : byte[k];
        upper[k] = in_small ? (uint8_t)large[in_small - small] : byte[k];
        swapped[k] = in_small ? upper[k] : lower[k];
        /* The C locale's classes, which are ASCII's. */
        classes[k] = k >= 128 ? 128
                              : (uint8_t)((isspace(k) != 0) | (isdigit(k) != 0) << 1 |
                                          (isupper(k) != 0) << 2 | (islower(k) != 0) << 3 |
                                          (isxdigit(k) != 0) << 4 | (ispunct(k) != 0) << 5 |
                                          (iscntrl(k) != 0) << 6);
    }
    ops_expect("text.lower", OPS(OPS_ARRAY(byte, 256)), OPS(OPS_NAMED("result", lower, 256)));
    ops_expect("text.upper", OPS(OPS_ARRAY(byte, 256)), OPS(OPS_NAMED("result", upper, 256)));
    ops_expect("text.swap_case", OPS(OPS_ARRAY(byte, 256)), OPS(OPS_NAMED("result", swapped, 256)));
    ops_expect("text.classes", OPS(OPS_ARRAY(byte, 256)), OPS(OPS_NAMED("result", classes, 256)));
}

/* The number of bytes of the sequence at the start of a text, 0 if it is none: decodes it, and asks
 * whether the number needs and may have that form. */
static size_t sequence(const uint8_t *at, size_t size) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = at[0] < 0x80             ? 1
                    : (at[0] & 0xe0) == 0xc0 ? 2
                    : (at[0] & 0xf0) == 0xe0 ? 3
                    : (at[0] & 0xf8) == 0xf0 ? 4
                                             : 0;
    if (!length || length > size) {
        return 0;
    }
    uint32_t number = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t k = 1; k < length; k++) {
        if ((at[k] & 0xc0) != 0x80) {
            return 0;
        }
        number = number << 6 | (at[k] & 0x3f);
    }
    bool is_surrogate = number >= 0xd800 && number < 0xe000;
    return number < least[length] || number > 0x10ffff || is_surrogate ? 0 : length;
}

static void expect_utf8(const uint8_t *data, size_t size) {
    uint32_t error = 0;
    while (error < size) {
        size_t length = sequence(data + error, size - error);
        if (!length) {
            break;
        }
        error += (uint32_t)length;
    }
    uint32_t valid = error == size;
    ops_expect("text.utf8", OPS({"text", data, size}),
               OPS(OPS_SCALAR("valid", valid), OPS_SCALAR("error", error)));
}

static size_t put_number(uint8_t *at, uint32_t number) {
    size_t length = number < 0x80 ? 1 : number < 0x800 ? 2 : number < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t k = length; k-- > 1; number >>= 6) {
        at[k] = (uint8_t)(0x80 | (number & 0x3f));
    }
    at[0] = (uint8_t)(lead[length] | number);
    return length;
}

static size_t fill_utf8(size_t size, uint64_t seed) {
    size_t used = 0;
    while (used + 4 <= size) {
        static const uint32_t below[] = {0x80, 0x800, 0xd800, 0x110000};
        uint32_t bound = below[ops_random(&seed) % 4], number = ops_random(&seed) % bound;
        used += put_number(text + used, number >= 0xd800 && number < 0xe000 ? 'x' : number);
    }
    return used;
}

/* Each pair of bytes that decides, with all ways to end, behind some that are fine. */
static void utf8_at_its_bounds(void **state) {
    (void)state;
    static const uint8_t second[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    for (uint32_t lead = 0x7f; lead < 0x100; lead++) {
        for (size_t k = 0; k < sizeof second; k++) {
            size_t size = 2 + lead % 3 + put_number(text, 0x20ac);
            memset(text + 3, 0x80, 5);
            text[3] = (uint8_t)lead;
            text[4] = second[k];
            expect_utf8(text, size);
            expect_utf8(text + 3, size - 3);
        }
    }
}

static void utf8_long(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 4, 7, 255, 1025, MOST};
    uint64_t seed = 3;
    expect_utf8((const uint8_t *)"a", 1);
    expect_utf8((const uint8_t *)"\xff", 1);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t used = fill_utf8(sizes[s], s);
        expect_utf8(text, used);
        for (size_t turn = 0; used && turn < 12; turn++) {
            size_t at = ops_random(&seed) % used;
            uint8_t before = text[at];
            text[at] = (uint8_t)ops_random(&seed);
            expect_utf8(text, used);
            expect_utf8(text, used - (used < 4 ? 0 : turn % 4));
            text[at] = turn % 3 ? before : text[at];
        }
    }
}

static void lines(void **state) {
    (void)state;
    static uint32_t starts[MOST];
    static const size_t sizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 8191, 8192, 8193, MOST - 1};
    static const uint32_t one_in[] = {1, 2, 40, 5000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t d = 0; d < 4; d++) {
            uint64_t seed = s * 4 + d;
            uint32_t count = 0;
            bool fresh = true;
            memset(starts, 0, sizeof starts);
            for (uint32_t k = 0; k < sizes[s]; k++) {
                text[k] = ops_random(&seed) % one_in[d] ? 'x' : '\n';
                if (fresh) {
                    starts[count++] = k;
                }
                fresh = text[k] == '\n';
            }
            ops_expect("text.lines", OPS(OPS_ARRAY(text, sizes[s])),
                       OPS(OPS_ARRAY(starts, sizes[s]), OPS_SCALAR("count", count)));
        }
    }
}

static const size_t code_sizes[] = {0, 1, 2, 3, 4, 5, 6, 31, 100, 1027, MOST - 1};
enum { CODE_SIZES = sizeof code_sizes / sizeof *code_sizes };

static void expect_hex_decode(size_t size) {
    uint32_t error = (uint32_t)size;
    for (size_t k = size / 2 * 2; k-- > 0;) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = text[k] ? strchr(digits, text[k]) : NULL;
        uint8_t value = digit ? (uint8_t)((digit - digits) - (digit - digits > 15 ? 6 : 0)) : 0;
        error = digit ? error : (uint32_t)k;
        if (k % 2) {
            bytes[k / 2] = value;
        } else {
            bytes[k / 2] |= (uint8_t)(value << 4);
        }
    }
    uint32_t valid = error == size && size % 2 == 0;
    ops_expect(
        "text.hex_decode", OPS(OPS_ARRAY(text, size)),
        OPS(OPS_ARRAY(bytes, size / 2), OPS_SCALAR("valid", valid), OPS_SCALAR("error", error)));
}

static void hexadecimal(void **state) {
    (void)state;
    static const char wrong[] = "g/:@G`\xb0";
    uint64_t seed = 11;
    for (size_t s = 0; s < CODE_SIZES; s++) {
        size_t size = code_sizes[s];
        for (size_t k = 0; k < size; k++) {
            char digits[3];
            bytes[k] = (uint8_t)ops_random(&seed);
            snprintf(digits, sizeof digits, "%02x", bytes[k]);
            memcpy(text + k * 2, digits, 2);
        }
        ops_expect("text.hex_encode", OPS(OPS_ARRAY(bytes, size)), OPS(OPS_ARRAY(text, size * 2)));
        expect_hex_decode(size * 2);
        for (size_t k = 0; k < size; k++) {
            text[k] = (uint8_t)toupper(text[k]);
        }
        expect_hex_decode(size);
        for (size_t turn = 0; size && turn < 3; turn++) {
            size_t at = ops_random(&seed) % size;
            text[at] = (uint8_t)wrong[ops_random(&seed) % (sizeof wrong - 1)];
            expect_hex_decode(size);
        }
    }
    /* Every byte as a digit. */
    for (uint32_t k = 0; k < 256; k++) {
        text[0] = '7';
        text[1] = (uint8_t)k;
        text[2] = (uint8_t)k;
        text[3] = '8';
        expect_hex_decode(4);
        expect_hex_decode(3);
    }
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* As a stream of bits. */
static size_t encode(size_t size) {
    size_t used = 0;
    for (size_t bit = 0; bit < size * 8; bit += 6) {
        uint32_t value = 0;
        for (size_t k = bit; k < bit + 6; k++) {
            value = value << 1 | (k < size * 8 ? (uint32_t)bytes[k / 8] >> (7 - k % 8) & 1 : 0);
        }
        text[used++] = (uint8_t)alphabet[value];
    }
    while (used % 4) {
        text[used++] = '=';
    }
    return used;
}

static void expect_base64_decode(size_t size) {
    size_t whole = size / 4 * 4, pads = 0;
    uint32_t error = (uint32_t)size;
    if (whole == size && size && text[size - 1] == '=') {
        pads = text[size - 2] == '=' ? 2 : 1;
    }
    uint32_t count = (uint32_t)(whole / 4 * 3 - pads);
    memset(bytes, 0, sizeof bytes);
    for (size_t k = 0; k < whole - pads; k++) {
        const char *digit = text[k] ? strchr(alphabet, text[k]) : NULL;
        uint32_t value = digit ? (uint32_t)(digit - alphabet) : 0;
        bool is_wrong = !digit;
        for (size_t b = 0; b < 6; b++) {
            size_t bit = k * 6 + b;
            uint32_t one = value >> (5 - b) & 1;
            if (bit / 8 < count) {
                bytes[bit / 8] |= (uint8_t)(one << (7 - bit % 8));
            } else {
                is_wrong = is_wrong || one;
            }
        }
        if (is_wrong && k < error) {
            error = (uint32_t)k;
        }
    }
    uint32_t valid = error == size && size == whole;
    ops_expect("text.base64_decode", OPS(OPS_ARRAY(text, size)),
               OPS(OPS_ARRAY(bytes, whole / 4 * 3), OPS_SCALAR("count", count),
                   OPS_SCALAR("valid", valid), OPS_SCALAR("error", error)));
}

static void base64(void **state) {
    (void)state;
    uint64_t seed = 12;
    for (size_t s = 0; s < CODE_SIZES; s++) {
        size_t size = code_sizes[s];
        for (size_t k = 0; k < size; k++) {
            bytes[k] = (uint8_t)ops_random(&seed);
        }
        size_t used = encode(size);
        ops_expect("text.base64_encode", OPS(OPS_ARRAY(bytes, size)), OPS(OPS_ARRAY(text, used)));
        expect_base64_decode(used);
        for (size_t turn = 0; used && turn < 6; turn++) {
            size_t at = turn < 2 ? used - 1 - turn : ops_random(&seed) % used;
            text[at] = (uint8_t) "=-_ A/"[ops_random(&seed) % 6];
            expect_base64_decode(used);
            expect_base64_decode(used - turn % 4);
        }
    }
    static const char *const known[] = {
        "Zg==", "Zm8=", "Zm9v", "Zm9vYmFy", "Zh==",     "ZI==",   "Zm+=",
        "Zm9=", "Z===", "====", "Zm=v",     "Zg==Zg==", "Zm9vYg", "\n"};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        memcpy(text, known[k], strlen(known[k]));
        expect_base64_decode(strlen(known[k]));
    }
    for (uint32_t k = 0; k < 256; k++) {
        for (size_t at = 0; at < 4; at++) {
            memcpy(text, "QUJDREVG", 8);
            text[at + k % 2 * 4] = (uint8_t)k;
            expect_base64_decode(8);
        }
    }
}

/* The examples of RFC 4648, for the oracle. */
static void base64_oracle(void **state) {
    (void)state;
    memcpy(bytes, "foobar", 6);
    assert_int_equal(encode(6), 8);
    assert_memory_equal(text, "Zm9vYmFy", 8);
    assert_int_equal(encode(5), 8);
    assert_memory_equal(text, "Zm9vYmE=", 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_alone), cmocka_unit_test(utf8_at_its_bounds),
        cmocka_unit_test(utf8_long),   cmocka_unit_test(lines),
        cmocka_unit_test(hexadecimal), cmocka_unit_test(base64_oracle),
        cmocka_unit_test(base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
