/* Sorting of the standard library against qsort. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include "tests/ops/ops_check.h"
#include "tests/unit/settings.h"

enum { MOST = 33333 };

static const size_t sizes[] = {0, 1, 2, 255, 5119, 5120, 5121, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct pair {
    uint32_t key, place;
} pair;

static int by_key(const void *left, const void *right) {
    const pair *a = left, *b = right;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key)
                            : (a->place > b->place) - (a->place < b->place);
}

static int from_largest(const void *left, const void *right) {
    const pair *a = left, *b = right;
    return a->key != b->key ? (a->key < b->key) - (a->key > b->key)
                            : (a->place > b->place) - (a->place < b->place);
}

/* Keys of a kind: any, few different ones, all the same, the largest too, in order and against. The
 * largest size has the first two of them. */
enum { KINDS = 6, LARGE_KINDS = 2 };
static void draw_keys(int kind, size_t n, uint32_t *out_keys, pair *out_pairs) {
    uint64_t state = 40 + (uint64_t)kind;
    for (size_t i = 0; i < n; i++) {
        uint32_t draw = ops_random(&state);
        const uint32_t kinds[KINDS] = {
            draw,          draw % 7 << 13,  0xabcdef01,
            0u - draw % 3, (uint32_t)i * 9, 0xffffffff - (uint32_t)i * 9};
        out_keys[i] = kinds[kind];
        out_pairs[i] = (pair){out_keys[i], (uint32_t)i};
    }
}

static uint32_t keys[MOST], values[MOST], sorted[MOST], moved[MOST];
static pair pairs[MOST];

static void keys_and_pairs(void **state) {
    (void)state;
    for (size_t s = 0; s < SIZES; s++) {
        size_t n = sizes[s];
        for (int kind = 0; kind < (n == MOST ? LARGE_KINDS : KINDS); kind++) {
            draw_keys(kind, n, keys, pairs);
            qsort(pairs, n, sizeof *pairs, by_key);
            for (size_t i = 0; i < n; i++) {
                values[i] = (uint32_t)i * 2654435761u;
                sorted[i] = pairs[i].key;
                moved[i] = pairs[i].place * 2654435761u;
            }
            ops_expect("sort.keys_u32", OPS(OPS_ARRAY(keys, n)), OPS(OPS_ARRAY(sorted, n)));
            ops_expect("sort.pairs_u32", OPS(OPS_ARRAY(keys, n), OPS_ARRAY(values, n)),
                       OPS(OPS_ARRAY(sorted, n), OPS_ARRAY(moved, n)));
        }
    }
}

static void the_largest(void **state) {
    (void)state;
    enum { WISHES = 6 };
    const uint32_t wishes[WISHES] = {0, 1, 2, 10, 5121, UINT32_MAX};
    for (size_t s = 0; s < SIZES; s++) {
        size_t n = sizes[s];
        for (int kind = 0; kind < (n == MOST ? LARGE_KINDS : KINDS); kind++) {
            draw_keys(kind, n, keys, pairs);
            qsort(pairs, n, sizeof *pairs, from_largest);
            /* Two of the six a time: each kind meets all of them, and so does each smaller size. */
            for (size_t w = 0; w < 2; w++) {
                uint32_t k = wishes[(s + (size_t)kind + 3 * w) % WISHES];
                size_t count = k < n ? k : n;
                for (size_t i = 0; i < count; i++) {
                    sorted[i] = pairs[i].key;
                    moved[i] = pairs[i].place;
                }
                ops_expect(
                    "sort.top_k_u32", OPS(OPS_SCALAR("k", k), OPS_NAMED("x", keys, n)),
                    OPS(OPS_NAMED("largest", sorted, count), OPS_NAMED("indices", moved, count)));
            }
        }
    }
}

static void sorts_many(void **state) {
    (void)state;
    const size_t large = test_work(250007, 100003);
    uint32_t *all = malloc(large * sizeof *all), *in_order = malloc(large * sizeof *in_order);
    uint32_t *places = malloc(large * sizeof *places), *from = malloc(large * sizeof *from);
    pair *both = malloc(large * sizeof *both);
    draw_keys(0, large, all, both);
    for (size_t i = 0; i < large; i++) {
        all[i] >>= i % 4 * 5;
        both[i].key = all[i];
        from[i] = (uint32_t)i;
    }
    qsort(both, large, sizeof *both, by_key);
    for (size_t i = 0; i < large; i++) {
        in_order[i] = both[i].key;
        places[i] = both[i].place;
    }
    ops_expect_large("sort.keys_u32", OPS(OPS_NAMED("keys", all, large)),
                     OPS(OPS_NAMED("sorted", in_order, large)));
    ops_expect_large("sort.pairs_u32",
                     OPS(OPS_NAMED("keys", all, large), OPS_NAMED("values", from, large)),
                     OPS(OPS_NAMED("sorted", in_order, large), OPS_NAMED("moved", places, large)));
    qsort(both, large, sizeof *both, from_largest);
    const uint32_t k = 70000;
    for (size_t i = 0; i < k; i++) {
        in_order[i] = both[i].key;
        places[i] = both[i].place;
    }
    ops_expect_large("sort.top_k_u32", OPS(OPS_SCALAR("k", k), OPS_NAMED("x", all, large)),
                     OPS(OPS_NAMED("largest", in_order, k), OPS_NAMED("indices", places, k)));
    free(all);
    free(in_order);
    free(places);
    free(from);
    free(both);
}

/* The CPU sorts more than a chunk of keys by buckets of their highest digit, unless one bucket has
 * too large a share: at the sizes around a chunk, with shares around that one. */
static void keys_in_even_and_uneven_buckets(void **state) {
    (void)state;
    enum { CHUNK = 32768, SHARES = 4 };
    static const size_t edges[] = {CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK + 1};
    static uint32_t all[2 * CHUNK + 1], in_order[2 * CHUNK + 1];
    static pair both[2 * CHUNK + 1];
    for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
        const size_t n = edges[e], shares[SHARES] = {0, CHUNK, CHUNK + 1, n};
        for (size_t s = 0; s < SHARES; s++) {
            draw_keys(0, n, all, both);
            for (size_t i = 0; i < n; i++) {
                uint32_t drawn = all[i] >> 24, top = i < shares[s] ? 77 : drawn == 77 ? 78 : drawn;
                all[i] = top << 24 | (all[i] & 0xffffff);
                both[i].key = all[i];
            }
            qsort(both, n, sizeof *both, by_key);
            for (size_t i = 0; i < n; i++) {
                in_order[i] = both[i].key;
            }
            ops_expect_large("sort.keys_u32", OPS(OPS_NAMED("keys", all, n)),
                             OPS(OPS_NAMED("sorted", in_order, n)));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_pairs),
        cmocka_unit_test(the_largest),
        cmocka_unit_test(sorts_many),
        cmocka_unit_test(keys_in_even_and_uneven_buckets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
