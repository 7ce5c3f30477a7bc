/* Hashes of records against the definitions that were published for them, which are checked
 * themselves by published values. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include "tests/ops/ops_check.h"

enum { MOST_BYTES = 1 << 18, MOST_RECORDS = 1 << 16 };

static uint32_t rotate(uint32_t x, unsigned count) {
    return x << count | x >> (32 - count);
}

static uint32_t word(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* A hash writes its bytes as a buffer has them. */
typedef void (*hash_function)(const uint8_t *data, size_t size, uint32_t seed, uint8_t *out);

static void fnv1a32(const uint8_t *data, size_t size, uint32_t seed, uint8_t *out) {
    (void)seed;
    uint32_t hash = 2166136261u;
    for (size_t k = 0; k < size; k++) {
        hash = (hash ^ data[k]) * 16777619u;
    }
    memcpy(out, &hash, sizeof hash);
}

static void fnv1a64(const uint8_t *data, size_t size, uint32_t seed, uint8_t *out) {
    (void)seed;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t k = 0; k < size; k++) {
        hash = (hash ^ data[k]) * UINT64_C(1099511628211);
    }
    memcpy(out, &hash, sizeof hash);
}

/* Bit by bit: the remainder of a polynomial over two elements. */
static void crc32(const uint8_t *data, size_t size, uint32_t seed, uint8_t *out) {
    (void)seed;
    uint32_t rest = 0xffffffffu;
    for (size_t bit = 0; bit < size * 8; bit++) {
        uint32_t next = data[bit / 8] >> bit % 8 & 1;
        rest = rest >> 1 ^ ((rest & 1) != next ? 0xedb88320u : 0);
    }
    rest = ~rest;
    memcpy(out, &rest, sizeof rest);
}

static void adler32(const uint8_t *data, size_t size, uint32_t seed, uint8_t *out) {
    (void)seed;
    uint32_t a = 1, b = 0;
    for (size_t k = 0; k < size; k++) {
        a = (a + data[k]) % 65521;
        b = (b + a) % 65521;
    }
    a |= b << 16;
    memcpy(out, &a, sizeof a);
}

static void murmur3(const uint8_t *data, size_t size, uint32_t seed, uint8_t *out) {
    uint32_t hash = seed;
    for (size_t k = 0; k < size; k += 4) {
        uint8_t four[4] = {0};
        size_t here = size - k < 4 ? size - k : 4;
        memcpy(four, data + k, here);
        hash ^= rotate(word(four) * 0xcc9e2d51u, 15) * 0x1b873593u;
        if (here == 4) {
            hash = rotate(hash, 13) * 5 + 0xe6546b64u;
        }
    }
    hash ^= (uint32_t)size;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    hash ^= hash >> 16;
    memcpy(out, &hash, sizeof hash);
}

static void xxh32(const uint8_t *data, size_t size, uint32_t seed, uint8_t *out) {
    const uint32_t p1 = 2654435761u, p2 = 2246822519u, p3 = 3266489917u, p4 = 668265263u,
                   p5 = 374761393u;
    uint32_t hash = seed + p5, sums[4] = {seed + p1 + p2, seed + p2, seed, seed - p1};
    size_t at = 0;
    for (; size - at >= 16; at += 16) {
        for (size_t k = 0; k < 4; k++) {
            sums[k] = rotate(sums[k] + word(data + at + k * 4) * p2, 13) * p1;
        }
    }
    if (size >= 16) {
        hash = rotate(sums[0], 1) + rotate(sums[1], 7) + rotate(sums[2], 12) + rotate(sums[3], 18);
    }
    hash += (uint32_t)size;
    for (; size - at >= 4; at += 4) {
        hash = rotate(hash + word(data + at) * p3, 17) * p4;
    }
    for (; at < size; at++) {
        hash = rotate(hash + data[at] * p5, 11) * p1;
    }
    hash = (hash ^ hash >> 15) * p2;
    hash = (hash ^ hash >> 13) * p3;
    hash ^= hash >> 16;
    memcpy(out, &hash, sizeof hash);
}

/* The first 32 bits of the fractional part of the root of a prime: the largest r with r^power at
 * most prime * 2^(32 * power), by trying its bits, without those of the whole part. */
static uint32_t root_fraction(uint32_t prime, int power) {
    uint64_t root = 0;
    for (int bit = 35; bit >= 0; bit--) {
        uint64_t wish = root | UINT64_C(1) << bit;
        /* wish^power <= prime << 32 * power, in parts of 32 bits */
        uint64_t digits[5] = {wish & 0xffffffffu, wish >> 32, 0, 0, 0};
        for (int turn = 1; turn < power; turn++) {
            uint64_t low = wish & 0xffffffffu, high = wish >> 32, next[5] = {0};
            for (int k = 0; k < 4; k++) {
                uint64_t product = digits[k] * low;
                next[k] += product & 0xffffffffu;
                next[k + 1] += (product >> 32) + digits[k] * high;
            }
            for (int k = 0; k < 4; k++) {
                next[k + 1] += next[k] >> 32;
                next[k] &= 0xffffffffu;
            }
            memcpy(digits, next, sizeof digits);
        }
        if (digits[power] < prime) {
            root = wish;
        }
    }
    return (uint32_t)root;
}

static uint32_t backwards(uint32_t x, unsigned count) {
    return rotate(x, 32 - count);
}

static void sha256(const uint8_t *data, size_t size, uint32_t seed, uint8_t *out) {
    static uint32_t k[64], start[8];
    (void)seed;
    for (uint32_t prime = 2, found = 0; !k[63]; prime++) {
        uint32_t factor = 2;
        while (prime % factor) {
            factor++;
        }
        if (factor == prime) {
            k[found] = root_fraction(prime, 3);
            if (found < 8) {
                start[found] = root_fraction(prime, 2);
            }
            found++;
        }
    }
    uint32_t state[8];
    memcpy(state, start, sizeof state);
    for (size_t at = 0; at < (size + 9 + 63) / 64 * 64; at += 64) {
        uint32_t w[64];
        for (size_t t = 0; t < 16; t++) {
            w[t] = 0;
            for (size_t b = at + t * 4; b < at + t * 4 + 4; b++) {
                w[t] = w[t] << 8 | (b < size ? data[b] : b == size ? 0x80 : 0);
            }
        }
        if (at + 64 == (size + 9 + 63) / 64 * 64) {
            w[14] = (uint32_t)((uint64_t)size * 8 >> 32);
            w[15] = (uint32_t)size * 8;
        }
        for (size_t t = 16; t < 64; t++) {
            uint32_t x = w[t - 15], y = w[t - 2];
            w[t] = (backwards(y, 17) ^ backwards(y, 19) ^ y >> 10) + w[t - 7] +
                   (backwards(x, 7) ^ backwards(x, 18) ^ x >> 3) + w[t - 16];
        }
        uint32_t v[8];
        memcpy(v, state, sizeof v);
        for (size_t t = 0; t < 64; t++) {
            uint32_t a = v[0], e = v[4];
            uint32_t t1 = v[7] + (backwards(e, 6) ^ backwards(e, 11) ^ backwards(e, 25)) +
                          ((e & v[5]) ^ (~e & v[6])) + k[t] + w[t];
            uint32_t t2 = (backwards(a, 2) ^ backwards(a, 13) ^ backwards(a, 22)) +
                          ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
            memmove(v + 1, v, 7 * sizeof *v);
            v[0] = t1 + t2;
            v[4] += t1;
        }
        for (size_t t = 0; t < 8; t++) {
            state[t] += v[t];
        }
    }
    for (size_t b = 0; b < 32; b++) {
        out[b] = (uint8_t)(state[b / 4] >> (24 - b % 4 * 8));
    }
}

static const struct hash {
    const char *name;
    hash_function function;
    size_t size; /* bytes of a hash */
    bool has_seed;
} hashes[] = {
    {"fnv1a32", fnv1a32, 4, false}, {"fnv1a64", fnv1a64, 8, false}, {"crc32", crc32, 4, false},
    {"adler32", adler32, 4, false}, {"murmur3", murmur3, 4, true},  {"xxh32", xxh32, 4, true},
    {"sha256", sha256, 32, false},
};
enum { HASHES = sizeof hashes / sizeof *hashes };

static uint32_t hash32(hash_function function, const char *text, uint32_t seed) {
    uint32_t hash;
    function((const uint8_t *)text, strlen(text), seed, (uint8_t *)&hash);
    return hash;
}

static void oracles_give_published_values(void **state) {
    (void)state;
    assert_int_equal(hash32(fnv1a32, "", 0), 0x811c9dc5u);
    assert_int_equal(hash32(fnv1a32, "foobar", 0), 0xbf9cf968u);
    uint64_t wide;
    fnv1a64((const uint8_t *)"foobar", 6, 0, (uint8_t *)&wide);
    assert_true(wide == UINT64_C(0x85944171f73967e8));
    assert_int_equal(hash32(crc32, "123456789", 0), 0xcbf43926u);
    assert_int_equal(hash32(adler32, "123456789", 0), 0x091e01deu);
    assert_int_equal(hash32(adler32, "Wikipedia", 0), 0x11e60398u);
    assert_int_equal(hash32(murmur3, "", 1), 0x514e28b7u);
    assert_int_equal(hash32(murmur3, "hello", 0), 0x248bfa47u);
    assert_int_equal(hash32(murmur3, "The quick brown fox jumps over the lazy dog", 0x9747b28cu),
                     0x2fa826cdu);
    assert_int_equal(hash32(xxh32, "", 0), 0x02cc5d05u);
    assert_int_equal(hash32(xxh32, "abc", 0), 0x32d153ffu);
    assert_int_equal(hash32(xxh32, "Nobody inspects the spammish repetition", 0), 0xe2293b2fu);
    static const struct {
        const char *text;
        uint8_t digest[4];
    } published[] = {
        {"", {0xe3, 0xb0, 0xc4, 0x42}},
        {"abc", {0xba, 0x78, 0x16, 0xbf}},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", {0x24, 0x8d, 0x6a, 0x61}},
    };
    for (size_t k = 0; k < 3; k++) {
        uint8_t digest[32];
        sha256((const uint8_t *)published[k].text, strlen(published[k].text), 0, digest);
        assert_memory_equal(digest, published[k].digest, 4);
    }
}

static uint8_t bytes[MOST_BYTES], expected[MOST_RECORDS * 8];

static void fill(uint64_t seed) {
    for (size_t k = 0; k < MOST_BYTES; k++) {
        bytes[k] = (uint8_t)ops_random(&seed);
    }
}

/* Equal records, and words where they are whole ones. */
static void expect_records(const struct hash *hash, size_t count, uint32_t size, size_t spare) {
    char id[64];
    uint32_t seed = 0x9747b28cu, words = size / 4;
    assert_true(count * size + spare <= MOST_BYTES && count * hash->size <= sizeof expected);
    for (size_t k = 0; k < count; k++) {
        hash->function(bytes + k * size, size, seed, expected + k * hash->size);
    }
    snprintf(id, sizeof id, "hash.%s", hash->name);
    ops_expect(id,
               OPS({"bytes", bytes, count * size + spare}, OPS_SCALAR("size", size),
                   OPS_SCALAR("seed", seed)),
               OPS({"hashes", expected, count * hash->size}));
    if (size % 4 == 0) {
        snprintf(id, sizeof id, "hash.%s_words", hash->name);
        ops_expect(id,
                   OPS({"words", bytes, count * size + spare / 4 * 4}, OPS_SCALAR("size", words),
                       OPS_SCALAR("seed", seed)),
                   OPS({"hashes", expected, count * hash->size}));
    }
}

static void records(void **state) {
    (void)state;
    static const struct {
        size_t count;
        uint32_t size;
        size_t spare; /* bytes behind the last record */
    } cases[] = {{0, 1, 0},  {0, 64, 63}, {1, 1, 0},   {1, 3, 2},  {1, 64, 0},   {7, 13, 12},
                 {3, 52, 5}, {5, 55, 0},  {4, 56, 0},  {3, 60, 4}, {2, 63, 1},   {17, 64, 32},
                 {2, 65, 0}, {3, 124, 0}, {257, 8, 7}, {1, 4, 0},  {1, 6000, 0}, {600, 20, 0}};
    fill(1);
    for (size_t k = 0; k < HASHES; k++) {
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            expect_records(&hashes[k], cases[c].count, cases[c].size, cases[c].spare);
        }
    }
}

/* Sums of the largest bytes are the closest to too large. */
static void long_records_of_large_bytes(void **state) {
    (void)state;
    memset(bytes, 255, sizeof bytes);
    expect_records(&hashes[3], 3, 20000, 0);
    fill(2);
    expect_records(&hashes[3], 2, 50001, 0);
}

static void many_records(void **state) {
    (void)state;
    fill(3);
    for (size_t k = 0; k < HASHES; k++) {
        expect_records(&hashes[k], 3001, 64, 0);
    }
}

static void expect_spans(const struct hash *hash, const uint32_t *offsets, size_t count,
                         size_t size) {
    char id[64];
    uint32_t seed = 77;
    size_t records = count ? count - 1 : 0;
    for (size_t k = 0; k < records; k++) {
        size_t first = offsets[k] < size ? offsets[k] : size;
        size_t end = offsets[k + 1] < size ? offsets[k + 1] : size;
        hash->function(bytes + first, end > first ? end - first : 0, seed,
                       expected + k * hash->size);
    }
    snprintf(id, sizeof id, "hash.%s_spans", hash->name);
    ops_expect(
        id,
        OPS({"bytes", bytes, size}, OPS_NAMED("offsets", offsets, count), OPS_SCALAR("seed", seed)),
        OPS({"hashes", expected, records * hash->size}));
}

static void spans(void **state) {
    (void)state;
    static const uint32_t some[] = {0, 0, 1, 4, 20, 20, 75, 131, 195, 260, 4000, 3990, 4100, 9999};
    static uint32_t many[1500];
    uint64_t seed = 5;
    fill(4);
    for (size_t k = 1; k < 1500; k++) {
        many[k] = many[k - 1] + ops_random(&seed) % 90;
    }
    for (size_t k = 0; k < HASHES; k++) {
        expect_spans(&hashes[k], some, 0, 100);
        expect_spans(&hashes[k], some, 1, 100);
        expect_spans(&hashes[k], some, 2, 0);
        expect_spans(&hashes[k], some, 14, 4050);
        expect_spans(&hashes[k], many, 1500, many[1499]);
    }
}

/* Steps: what a hash is made of, put together again. */
static void steps(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    static uint32_t x[COUNT], swapped[COUNT], mixed[COUNT], avalanche[COUNT], after[COUNT];
    static uint64_t wide[COUNT], wide_after[COUNT];
    static uint8_t byte[COUNT];
    static uint32_t other[COUNT];
    uint64_t seed = 8;
    for (size_t k = 0; k < COUNT; k++) {
        x[k] = k < 2 ? (uint32_t) - (int)k : ops_random(&seed);
        other[k] = ops_random(&seed);
        byte[k] = (uint8_t)ops_random(&seed);
        wide[k] = (uint64_t)x[k] << 32 | other[k];
        swapped[k] = x[k] >> 24 | (x[k] >> 16 & 255) << 8 | (x[k] >> 8 & 255) << 16 | x[k] << 24;
        /* The mix of a hash of no bytes, whose seed is x. */
        murmur3(byte, 0, x[k], (uint8_t *)&mixed[k]);
        uint32_t hash = (x[k] ^ x[k] >> 15) * 2246822519u;
        hash = (hash ^ hash >> 13) * 3266489917u;
        avalanche[k] = hash ^ hash >> 16;
    }
    ops_expect("hash.byte_swap_u32", OPS(OPS_ARRAY(x, COUNT)),
               OPS(OPS_NAMED("result", swapped, COUNT)));
    ops_expect("hash.murmur3_mix", OPS(OPS_ARRAY(x, COUNT)),
               OPS(OPS_NAMED("result", mixed, COUNT)));
    ops_expect("hash.murmur3_unmix", OPS(OPS_NAMED("x", mixed, COUNT)),
               OPS(OPS_NAMED("result", x, COUNT)));
    ops_expect("hash.xxh32_mix", OPS(OPS_ARRAY(x, COUNT)),
               OPS(OPS_NAMED("result", avalanche, COUNT)));
    for (size_t k = 0; k < COUNT; k++) {
        wide_after[k] = (uint64_t)swapped[k];
        wide_after[k] |= (uint64_t)(other[k] >> 24 | (other[k] >> 16 & 255) << 8 |
                                    (other[k] >> 8 & 255) << 16 | other[k] << 24)
                         << 32;
    }
    ops_expect("hash.byte_swap_u64", OPS(OPS_NAMED("x", wide, COUNT)),
               OPS(OPS_NAMED("result", wide_after, COUNT)));
    for (size_t k = 0; k < COUNT; k++) {
        after[k] = (x[k] ^ byte[k]) * 16777619u;
        wide_after[k] = (wide[k] ^ byte[k]) * UINT64_C(1099511628211);
    }
    ops_expect("hash.fnv1a32_step", OPS(OPS_NAMED("hash", x, COUNT), OPS_ARRAY(byte, COUNT)),
               OPS(OPS_NAMED("result", after, COUNT)));
    ops_expect("hash.fnv1a64_step", OPS(OPS_NAMED("hash", wide, COUNT), OPS_ARRAY(byte, COUNT)),
               OPS(OPS_NAMED("result", wide_after, COUNT)));
    for (size_t k = 0; k < COUNT; k++) {
        uint32_t rest = x[k];
        for (int bit = 0; bit < 8; bit++) {
            rest = rest >> 1 ^ ((rest ^ (uint32_t)byte[k] >> bit) & 1 ? 0xedb88320u : 0);
        }
        after[k] = rest;
    }
    ops_expect("hash.crc32_step", OPS(OPS_NAMED("crc", x, COUNT), OPS_ARRAY(byte, COUNT)),
               OPS(OPS_NAMED("result", after, COUNT)));
    for (size_t k = 0; k < COUNT; k++) {
        after[k] =
            rotate(x[k] ^ rotate(other[k] * 0xcc9e2d51u, 15) * 0x1b873593u, 13) * 5 + 0xe6546b64u;
    }
    ops_expect("hash.murmur3_step",
               OPS(OPS_NAMED("hash", x, COUNT), OPS_NAMED("word", other, COUNT)),
               OPS(OPS_NAMED("result", after, COUNT)));
    for (size_t k = 0; k < COUNT; k++) {
        after[k] = rotate(x[k] + other[k] * 2246822519u, 13) * 2654435761u;
    }
    ops_expect("hash.xxh32_step", OPS(OPS_NAMED("sum", x, COUNT), OPS_NAMED("word", other, COUNT)),
               OPS(OPS_NAMED("result", after, COUNT)));
    static uint32_t table[256];
    for (uint32_t k = 0; k < 256; k++) {
        table[k] = k;
        for (int bit = 0; bit < 8; bit++) {
            table[k] = table[k] >> 1 ^ (table[k] & 1 ? 0xedb88320u : 0);
        }
    }
    ops_expect("hash.crc32_table", OPS({0}), OPS(OPS_ARRAY(table, 256)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracles_give_published_values),
        cmocka_unit_test(steps),
        cmocka_unit_test(records),
        cmocka_unit_test(long_records_of_large_bytes),
        cmocka_unit_test(many_records),
        cmocka_unit_test(spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
