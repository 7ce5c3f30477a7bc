/* The instances of generic operations of the standard library against plain loops. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include "tests/ops/ops_check.h"

#include <math.h>

enum { MOST = 9001, BYTES = 8 };

static const size_t sizes[] = {0, 1, 37, 4500, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* A type with the few things that a test has to know about it. */
typedef struct kind {
    const char *name;
    size_t bytes;
    bool is_float, is_signed;
    int digits; /* of a float's significand, the first one included */
    int largest,
        smallest; /* exponents of a float: of its largest power of 2 and least normal one */
} kind;

static const kind kinds[] = {
    {"f16", 2, true, true, 11, 15, -14},   {"bf16", 2, true, true, 8, 127, -126},
    {"f32", 4, true, true, 24, 127, -126}, {"f64", 8, true, true, 53, 1023, -1022},
    {"i8", 1, false, true, 0, 0, 0},       {"u8", 1, false, false, 0, 0, 0},
    {"i16", 2, false, true, 0, 0, 0},      {"u16", 2, false, false, 0, 0, 0},
    {"i32", 4, false, true, 0, 0, 0},      {"u32", 4, false, false, 0, 0, 0},
    {"i64", 8, false, true, 0, 0, 0},      {"u64", 8, false, false, 0, 0, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* An array of any type. */
typedef struct array {
    uint8_t bytes[MOST * BYTES];
} array;

static uint64_t get(const kind *k, const array *from, size_t i) {
    uint64_t bits = 0;
    memcpy(&bits, from->bytes + i * k->bytes, k->bytes);
    return bits;
}

static void put(const kind *k, array *to, size_t i, uint64_t bits) {
    memcpy(to->bytes + i * k->bytes, &bits, k->bytes);
}

/* The bits of a whole number that the type has. */
static uint64_t encode(const kind *k, int64_t number) {
    if (!k->is_float || number == 0) {
        return (uint64_t)number;
    }
    int exponent;
    double fraction = frexp(fabs((double)number), &exponent); /* from 0.5 up to 1 */
    uint64_t significand = (uint64_t)ldexp(fraction, k->digits);
    uint64_t biased = (uint64_t)(exponent - 1 + k->largest);
    uint64_t magnitude =
        biased << (k->digits - 1) | (significand - (UINT64_C(1) << (k->digits - 1)));
    return magnitude | (uint64_t)(number < 0) << (8 * k->bytes - 1);
}

/* What a number of any type is among those of its type; NaN is the largest. */
static uint64_t rank_of(const kind *k, uint64_t bits) {
    uint64_t sign = UINT64_C(1) << (8 * k->bytes - 1), all = sign | (sign - 1);
    uint64_t infinity = (uint64_t)(2 * k->largest + 1) << (k->digits - 1);
    if (k->is_float && (bits & ~sign) > infinity) {
        return UINT64_MAX;
    }
    return !k->is_signed  ? bits
           : !k->is_float ? bits ^ sign
           : bits & sign  ? ~bits & all
                          : bits | sign;
}

static uint64_t draw(uint64_t *state) {
    uint64_t high = ops_random(state);
    return high << 32 | ops_random(state);
}

static void fill(const kind *k, array *to, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++) {
        put(k, to, i, draw(&seed));
    }
}

/* Numbers whose sums and products every type has exactly or, of integers, modulo its width. */
static void fill_exact(const kind *k, array *to, size_t n, uint64_t seed, size_t ones) {
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = draw(&seed);
        put(k, to, i, k->is_float ? encode(k, bits % (n / ones + 1) == 0) : bits);
    }
}

/* Addition of exact numbers, as they are counted: floats as whole numbers. */
static uint64_t count_of(const kind *k, uint64_t bits) {
    return k->is_float ? bits != 0 : bits;
}
static uint64_t bits_of(const kind *k, uint64_t count) {
    return k->is_float ? encode(k, (int64_t)count) : count;
}

static char id[64];
static const char *id_of(const char *stem, const kind *k) {
    snprintf(id, sizeof id, "%s<%s>", stem, k->name);
    return id;
}

/* Two types stand for all where each costs much: the command takes a process each time, and forms
 * for GPUs take seconds to compile for CPUs. */
static bool is_example(const kind *k) {
    return !strcmp(k->name, "f16") || !strcmp(k->name, "i64");
}
static bool is_wanted(const kind *k) {
    return !getenv("VYRE_TEST_COMMAND") || is_example(k);
}

#define OF(name, k, from, count)                                                                   \
    { name, (from)->bytes, (count) * (k)->bytes }

static array x, y, z;
static uint32_t words[MOST], others[MOST];

static void moves_elements(void **state) {
    (void)state;
    for (const kind *k = kinds; k < kinds + KINDS; k++) {
        for (size_t s = 0; s < SIZES && is_wanted(k); s++) {
            size_t n = sizes[s];
            uint64_t seed = s;
            fill(k, &x, n, s);
            for (size_t i = 0; i < n; i++) {
                words[i] = i % 9 ? (uint32_t)(draw(&seed) % (n + 3)) : (uint32_t)draw(&seed);
                put(k, &y, i, words[i] < n ? get(k, &x, words[i]) : 0);
            }
            ops_expect(id_of("select.gather", k),
                       OPS(OF("x", k, &x, n), OPS_NAMED("indices", words, n)),
                       OPS(OF("out", k, &y, n)));
            fill(k, &y, n, s + 100);
            z = y;
            for (size_t i = 0; i < n; i++) {
                words[i] = (uint32_t)(i * 7919 % 9001); /* each another one */
                if (words[i] < n) {
                    put(k, &z, words[i], get(k, &x, i));
                }
            }
            ops_expect(id_of("select.scatter", k),
                       OPS(OF("x", k, &x, n), OPS_NAMED("indices", words, n), OF("out", k, &y, n)),
                       OPS(OF("out", k, &z, n)));
        }
    }
}

static void packs_elements(void **state) {
    (void)state;
    for (const kind *k = kinds; k < kinds + KINDS; k++) {
        for (size_t s = 0; s < SIZES && is_wanted(k); s++) {
            size_t n = sizes[s];
            uint64_t seed = s;
            uint32_t count = 0, differ = 0;
            fill(k, &x, n, s);
            memset(&y, 0, sizeof y);
            for (size_t i = 0; i < n; i++) {
                words[i] = (uint32_t)draw(&seed) % 3;
                if (words[i]) {
                    put(k, &y, count++, get(k, &x, i));
                }
            }
            ops_expect(id_of("select.compact", k),
                       OPS(OF("x", k, &x, n), OPS_NAMED("keep", words, n)),
                       OPS(OF("kept", k, &y, n), OPS_SCALAR("count", count)));
            memset(&y, 0, sizeof y);
            for (size_t i = 0; i < n; i++) {
                put(k, &x, i, encode(k, (int64_t)(draw(&seed) % 3)));
                if (!i || get(k, &x, i) != get(k, &x, i - 1)) {
                    put(k, &y, differ++, get(k, &x, i));
                }
            }
            ops_expect(id_of("select.unique", k), OPS(OF("x", k, &x, n)),
                       OPS(OF("kept", k, &y, n), OPS_SCALAR("count", differ)));
        }
    }
}

static void adds_elements(void **state) {
    (void)state;
    for (const kind *k = kinds; k < kinds + KINDS; k++) {
        for (size_t s = 0; s < SIZES && is_wanted(k); s++) {
            size_t n = sizes[s];
            uint64_t sum = 0, total;
            fill_exact(k, &x, n, s, 100);
            for (size_t i = 0; i < n; i++) {
                put(k, &z, i, bits_of(k, sum));
                sum += count_of(k, get(k, &x, i));
                put(k, &y, i, bits_of(k, sum));
            }
            assert_true(!k->is_float || sum < 256);
            total = bits_of(k, sum);
            ops_expect(id_of("scan.inclusive", k), OPS(OF("x", k, &x, n)),
                       OPS(OF("sums", k, &y, n)));
            ops_expect(id_of("scan.exclusive", k), OPS(OF("x", k, &x, n)),
                       OPS(OF("sums", k, &z, n)));
            ops_expect(id_of("reduce.sum", k), OPS(OF("x", k, &x, n)),
                       OPS({"total", &total, k->bytes}));
        }
    }
}

static void finds_extremes(void **state) {
    (void)state;
    for (const kind *k = kinds; k < kinds + KINDS; k++) {
        for (size_t s = 0; s < SIZES && is_wanted(k); s++) {
            size_t n = sizes[s];
            uint64_t largest = 0, smallest = 0;
            bool found = false;
            fill(k, &x, n, s + 5);
            for (size_t i = 0; i < n; i++) {
                uint64_t bits = get(k, &x, i);
                bool is_nan = rank_of(k, bits) == UINT64_MAX && k->is_float;
                largest =
                    !is_nan && (!found || rank_of(k, bits) > rank_of(k, largest)) ? bits : largest;
                smallest = !is_nan && (!found || rank_of(k, bits) < rank_of(k, smallest))
                               ? bits
                               : smallest;
                found |= !is_nan;
            }
            assert_true(found || !n);
            ops_expect(id_of("reduce.max", k), OPS(OF("x", k, &x, n)),
                       OPS({"largest", &largest, k->bytes}));
            ops_expect(id_of("reduce.min", k), OPS(OF("x", k, &x, n)),
                       OPS({"smallest", &smallest, k->bytes}));
        }
    }
}

static void counts_values(void **state) {
    (void)state;
    for (const kind *k = kinds; k < kinds + KINDS; k++) {
        for (size_t s = 0; s < SIZES && !k->is_float && is_wanted(k); s++) {
            size_t n = sizes[s];
            uint32_t bins = s % 2 ? 100 : 9000;
            fill(k, &x, n, s + 7);
            memset(words, 0, sizeof words);
            for (size_t i = 0; i < n; i++) {
                put(k, &x, i, i % 4 ? get(k, &x, i) & 0x7f : get(k, &x, i));
                uint64_t bits = get(k, &x, i);
                bool is_negative = k->is_signed && bits >> (8 * k->bytes - 1);
                if (!is_negative && bits < bins) {
                    words[bits]++;
                }
            }
            ops_expect(id_of("reduce.histogram", k), OPS(OPS_SCALAR("n", bins), OF("x", k, &x, n)),
                       OPS(OPS_NAMED("bins", words, bins)));
        }
    }
}

static const kind *sorted_kind;

static int compare_places(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    uint64_t first = rank_of(sorted_kind, get(sorted_kind, &x, a));
    uint64_t second = rank_of(sorted_kind, get(sorted_kind, &x, b));
    return first != second ? (first > second) - (first < second) : (a > b) - (a < b);
}

static void sorts_keys(void **state) {
    (void)state;
    for (const kind *k = kinds; k < kinds + KINDS; k++) {
        for (size_t s = 0; s < SIZES && is_wanted(k); s++) {
            size_t n = sizes[s];
            fill(k, &x, n, s + 3);
            for (size_t i = 0; i < n; i += 5) { /* equal ones, zeros of both signs */
                put(k, &x, i,
                    i % 2 ? encode(k, (int64_t)(i % 3)) : UINT64_C(1) << (8 * k->bytes - 1));
            }
            for (size_t i = 0; i < n; i++) {
                words[i] = (uint32_t)i;
            }
            sorted_kind = k;
            qsort(words, n, sizeof *words, compare_places);
            for (size_t i = 0; i < n; i++) {
                put(k, &y, i, get(k, &x, words[i]));
                others[i] = (uint32_t)i;
            }
            void (*expect)(const char *, ops_values, ops_values) =
                is_example(k) ? ops_expect : ops_expect_fitting;
            expect(id_of("sort.keys", k), OPS(OF("keys", k, &x, n)), OPS(OF("sorted", k, &y, n)));
            expect(id_of("sort.pairs", k),
                   OPS(OF("keys", k, &x, n), OPS_NAMED("values", others, n)),
                   OPS(OF("sorted", k, &y, n), OPS_NAMED("moved", words, n)));
        }
    }
}

static void computes_with_matrices(void **state) {
    (void)state;
    static const uint32_t shapes[][3] = {{0, 3, 2}, {1, 1, 1}, {3, 70, 5}, {37, 33, 40}};
    for (const kind *k = kinds; k < kinds + KINDS; k++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes && is_wanted(k); s++) {
            uint32_t m = shapes[s][0], n = shapes[s][1], inner = shapes[s][2];
            fill(k, &x, m * n, s + 9);
            for (uint32_t i = 0; i < m * n; i++) {
                put(k, &y, i % n * m + i / n, get(k, &x, i));
            }
            ops_expect(id_of("linalg.transpose", k),
                       OPS(OPS_SCALAR("rows", m), OPS_SCALAR("columns", n), OF("x", k, &x, m * n)),
                       OPS(OF("y", k, &y, m * n)));
            fill_exact(k, &x, m * inner, s + 10, m * inner / 2 + 1);
            fill_exact(k, &y, inner * n, s + 11, inner * n / 2 + 1);
            for (uint32_t i = 0; i < m * n; i++) {
                uint64_t sum = 0;
                for (uint32_t t = 0; t < inner; t++) {
                    sum += count_of(k, get(k, &x, i / n * inner + t)) *
                           count_of(k, get(k, &y, t * n + i % n));
                }
                put(k, &z, i, bits_of(k, sum));
            }
            ops_expect(id_of("linalg.matmul", k),
                       OPS(OPS_SCALAR("m", m), OPS_SCALAR("n", n), OPS_SCALAR("k", inner),
                           OF("a", k, &x, m * inner), OF("b", k, &y, inner * n)),
                       OPS(OF("c", k, &z, m * n)));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_elements),         cmocka_unit_test(packs_elements),
        cmocka_unit_test(adds_elements),          cmocka_unit_test(finds_extremes),
        cmocka_unit_test(counts_values),          cmocka_unit_test(sorts_keys),
        cmocka_unit_test(computes_with_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
