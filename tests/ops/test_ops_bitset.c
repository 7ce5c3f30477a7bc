/* Sets of bits against sets of booleans. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include "tests/ops/ops_check.h"

enum { MOST_WORDS = 20000, MOST_BITS = MOST_WORDS * 32 };

static uint32_t bits[MOST_WORDS], other[MOST_WORDS], expected[MOST_WORDS];
static uint8_t flags[MOST_BITS];

/* All bytes with all bytes. */
static void bytes_of_bits(void **state) {
    (void)state;
    static uint8_t a[65536], b[65536], result[65536];
    static const struct {
        const char *id;
        int kind;
    } functions[] = {{"bitset.and_u8", 0},     {"bitset.or_u8", 1},       {"bitset.xor_u8", 2},
                     {"bitset.andnot_u8", 3},  {"bitset.min_u8", 4},      {"bitset.max_u8", 5},
                     {"bitset.add_sat_u8", 6}, {"bitset.sub_sat_u8", 7},  {"bitset.not_u8", 8},
                     {"bitset.reverse_u8", 9}, {"bitset.popcount_u8", 10}};
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        for (int k = 0; k < 65536; k++) {
            int x = k >> 8, y = k & 255, r = 0;
            a[k] = (uint8_t)x;
            b[k] = (uint8_t)y;
            for (int bit = 0; bit < 8; bit++) {
                int p = x >> bit & 1, q = y >> bit & 1;
                switch (functions[f].kind) {
                case 0: r += (p && q) << bit; break;
                case 1: r += (p || q) << bit; break;
                case 2: r += (p != q) << bit; break;
                case 3: r += (p && !q) << bit; break;
                case 8: r += !p << bit; break;
                case 9: r += p << (7 - bit); break;
                case 10: r += p; break;
                default: break;
                }
            }
            switch (functions[f].kind) {
            case 4: r = x < y ? x : y; break;
            case 5: r = x > y ? x : y; break;
            case 6: r = x + y > 255 ? 255 : x + y; break;
            case 7: r = x > y ? x - y : 0; break;
            default: break;
            }
            result[k] = (uint8_t)r;
        }
        ops_expect(functions[f].id, OPS(OPS_ARRAY(a, 65536), OPS_ARRAY(b, 65536)),
                   OPS(OPS_ARRAY(result, 65536)));
    }
}

/* Gray codes of neighbours differ in one bit, and all are different. */
static void gray_codes(void **state) {
    (void)state;
    static uint8_t number[256], code[256];
    uint8_t seen[256] = {0};
    for (int k = 0; k < 256; k++) {
        number[k] = (uint8_t)k;
        /* The n-th change is of the bit that counting changes from 0 to 1. */
        int change = 0;
        while (k && !(k >> change & 1)) {
            change++;
        }
        code[k] = 0;
        if (k) {
            code[k] = (uint8_t)(code[k - 1] ^ 1 << change);
        }
        assert_false(seen[code[k]]++);
    }
    ops_expect("bitset.gray_u8", OPS(OPS_NAMED("a", number, 256)),
               OPS(OPS_NAMED("result", code, 256)));
    ops_expect("bitset.ungray_u8", OPS(OPS_NAMED("a", code, 256)),
               OPS(OPS_NAMED("result", number, 256)));
}

static const size_t lengths[] = {0, 1, 2, 7, 31, 255, 256, 257, 1023, 4097, MOST_WORDS};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* From sparse ones to full ones, by their number. */
static void fill(uint64_t seed, size_t kind) {
    for (size_t k = 0; k < MOST_WORDS; k++) {
        uint32_t x = ops_random(&seed), y = ops_random(&seed), z = ops_random(&seed);
        bits[k] = kind % 4 == 0   ? x
                  : kind % 4 == 1 ? x & y & z & (k % 7 ? 0u : ~0u)
                  : kind % 4 == 2 ? x | y | z
                                  : ~0u;
        other[k] = y ^ z;
    }
}

static bool has(const uint32_t *words, size_t bit) {
    return words[bit / 32] >> bit % 32 & 1;
}

static void words_of_bits(void **state) {
    (void)state;
    static const char *const ids[] = {"bitset.and_u32",    "bitset.or_u32",  "bitset.xor_u32",
                                      "bitset.andnot_u32", "bitset.not_u32", "bitset.reverse_u32"};
    for (size_t f = 0; f < 6; f++) {
        for (size_t l = 0; l < LENGTHS; l++) {
            size_t count = lengths[l];
            fill(f * LENGTHS + l, l);
            memset(expected, 0, sizeof expected);
            for (size_t bit = 0; bit < count * 32; bit++) {
                bool p = has(bits, bit), q = has(other, bit);
                bool r[] = {p && q, p || q, p != q, p && !q, !p, has(bits, bit ^ 31)};
                expected[bit / 32] |= (uint32_t)r[f] << bit % 32;
            }
            ops_expect(ids[f], OPS(OPS_NAMED("a", bits, count), OPS_NAMED("b", other, count)),
                       OPS(OPS_NAMED("result", expected, count)));
        }
    }
}

static void counts(void **state) {
    (void)state;
    for (size_t l = 0; l < LENGTHS; l++) {
        size_t count = lengths[l];
        uint64_t total = 0, both = 0;
        fill(100 + l, l + 1);
        for (size_t bit = 0; bit < count * 32; bit++) {
            total += has(bits, bit);
            both += has(bits, bit) && has(other, bit);
        }
        ops_expect("bitset.count", OPS(OPS_ARRAY(bits, count)), OPS(OPS_SCALAR("total", total)));
        ops_expect("bitset.count_and",
                   OPS(OPS_NAMED("a", bits, count), OPS_NAMED("b", other, count)),
                   OPS(OPS_SCALAR("total", both)));
    }
}

typedef struct range {
    uint32_t first, end;
} range;

static const range ranges[] = {
    {0, 0},      {0, 1},           {31, 32},        {31, 33},
    {5, 5},      {9, 3},           {0, 32},         {1, 8192},
    {32, 64},    {100, 7000},      {0, 640000},     {639999, 640000},
    {7, 700000}, {640000, 640032}, {0, UINT32_MAX}, {UINT32_MAX, UINT32_MAX}};
enum { RANGES = sizeof ranges / sizeof *ranges };

static bool is_in(range r, size_t bit) {
    return bit >= r.first && bit < r.end;
}

static void looks_at_ranges(void **state) {
    (void)state;
    for (size_t k = 0; k < RANGES; k++) {
        for (size_t l = 0; l < LENGTHS; l += 2) {
            size_t count = lengths[l];
            range r = ranges[k];
            uint64_t total = 0;
            fill(200 + l, k);
            if (k % 2) { /* all but a few */
                for (size_t w = 0; w < count; w++) {
                    bits[w] = w == 3000 ? ~8u : ~0u;
                }
            }
            bool all = r.end <= r.first || r.end <= count * 32;
            for (size_t bit = 0; bit < count * 32; bit++) {
                total += is_in(r, bit) && has(bits, bit);
                all = all && (!is_in(r, bit) || has(bits, bit));
            }
            uint32_t any = total > 0, every = all;
            ops_expect(
                "bitset.count_range",
                OPS(OPS_ARRAY(bits, count), OPS_SCALAR("first", r.first), OPS_SCALAR("end", r.end)),
                OPS(OPS_SCALAR("total", total)));
            ops_expect(
                "bitset.any_range",
                OPS(OPS_ARRAY(bits, count), OPS_SCALAR("first", r.first), OPS_SCALAR("end", r.end)),
                OPS(OPS_SCALAR("result", any)));
            ops_expect(
                "bitset.all_range",
                OPS(OPS_ARRAY(bits, count), OPS_SCALAR("first", r.first), OPS_SCALAR("end", r.end)),
                OPS(OPS_SCALAR("result", every)));
        }
    }
}

static void changes_of_ranges(void **state) {
    (void)state;
    static const char *const ids[] = {"bitset.set_range", "bitset.clear_range",
                                      "bitset.flip_range"};
    for (size_t f = 0; f < 3; f++) {
        for (size_t k = 0; k < RANGES; k++) {
            for (size_t l = 0; l < LENGTHS; l += 2) {
                size_t count = lengths[l];
                range r = ranges[k];
                fill(300 + l, k);
                memset(expected, 0, sizeof expected);
                for (size_t bit = 0; bit < count * 32; bit++) {
                    bool p = has(bits, bit);
                    bool changed = f == 0 || (f == 2 && !p);
                    expected[bit / 32] |= (uint32_t)(is_in(r, bit) ? changed : p) << bit % 32;
                }
                ops_expect(ids[f],
                           OPS(OPS_ARRAY(bits, count), OPS_SCALAR("first", r.first),
                               OPS_SCALAR("end", r.end)),
                           OPS(OPS_NAMED("bits", expected, count)));
            }
        }
    }
}

static void single_bits(void **state) {
    (void)state;
    static uint32_t indices[5000], set[MOST_WORDS], cleared[MOST_WORDS];
    static uint8_t tested[5000];
    static const size_t sizes[] = {0, 1, 333, 5000};
    uint64_t seed = 4;
    for (size_t l = 0; l < LENGTHS; l++) {
        for (size_t s = 0; s < 4; s++) {
            size_t count = lengths[l], indices_count = sizes[s];
            fill(400 + l, 0);
            memcpy(set, bits, sizeof set);
            memcpy(cleared, bits, sizeof cleared);
            for (size_t k = 0; k < indices_count; k++) {
                uint32_t at = k % 50 == 3 ? ops_random(&seed) /* mostly outside */
                                          : ops_random(&seed) % (uint32_t)(count * 32 + 40);
                bool inside = at < count * 32;
                indices[k] = at;
                tested[k] = inside && has(bits, at);
                if (inside) {
                    set[at / 32] |= UINT32_C(1) << at % 32;
                    cleared[at / 32] &= ~(UINT32_C(1) << at % 32);
                }
            }
            ops_expect("bitset.test_at",
                       OPS(OPS_ARRAY(bits, count), OPS_ARRAY(indices, indices_count)),
                       OPS(OPS_NAMED("flags", tested, indices_count)));
            ops_expect("bitset.set_at",
                       OPS(OPS_ARRAY(bits, count), OPS_ARRAY(indices, indices_count)),
                       OPS(OPS_NAMED("bits", set, count)));
            ops_expect("bitset.clear_at",
                       OPS(OPS_ARRAY(bits, count), OPS_ARRAY(indices, indices_count)),
                       OPS(OPS_NAMED("bits", cleared, count)));
        }
    }
}

static void flags_and_bits(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 31, 32, 33, 255, 8191, 8193, 100001};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t count = sizes[s], words = (count + 31) / 32;
        uint64_t seed = s;
        memset(expected, 0, sizeof expected);
        for (size_t k = 0; k < count; k++) {
            flags[k] = (uint8_t)(ops_random(&seed) % 3 ? 0 : 1 + ops_random(&seed) % 255);
            expected[k / 32] |= (uint32_t)(flags[k] != 0) << k % 32;
        }
        ops_expect("bitset.from_flags", OPS(OPS_ARRAY(flags, count)),
                   OPS(OPS_NAMED("bits", expected, words)));
    }
    for (size_t l = 0; l < LENGTHS - 1; l++) {
        fill(500 + l, l);
        for (size_t bit = 0; bit < lengths[l] * 32; bit++) {
            flags[bit] = has(bits, bit);
        }
        ops_expect("bitset.to_flags", OPS(OPS_ARRAY(bits, lengths[l])),
                   OPS(OPS_ARRAY(flags, lengths[l] * 32)));
    }
}

static void ranks_and_positions(void **state) {
    (void)state;
    static uint32_t ranks[MOST_WORDS], positions[MOST_BITS];
    for (size_t l = 0; l < LENGTHS; l++) {
        uint32_t count = 0;
        fill(600 + l, l);
        memset(positions, 0, sizeof positions);
        for (size_t bit = 0; bit < lengths[l] * 32; bit++) {
            if (bit % 32 == 0) {
                ranks[bit / 32] = count;
            }
            if (has(bits, bit)) {
                positions[count++] = (uint32_t)bit;
            }
        }
        ops_expect("bitset.rank", OPS(OPS_ARRAY(bits, lengths[l])),
                   OPS(OPS_ARRAY(ranks, lengths[l])));
        ops_expect("bitset.positions", OPS(OPS_ARRAY(bits, lengths[l])),
                   OPS(OPS_ARRAY(positions, lengths[l] * 32), OPS_SCALAR("count", count)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_bits),       cmocka_unit_test(gray_codes),
        cmocka_unit_test(words_of_bits),       cmocka_unit_test(counts),
        cmocka_unit_test(looks_at_ranges),     cmocka_unit_test(changes_of_ranges),
        cmocka_unit_test(single_bits),         cmocka_unit_test(flags_and_bits),
        cmocka_unit_test(ranks_and_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
