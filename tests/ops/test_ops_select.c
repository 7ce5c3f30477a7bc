/* Packing, gather and scatter of the standard library against plain loops. */
#define _XOPEN_SOURCE 700 /* P_tmpdir, mkdtemp */
#include "tests/ops/ops_check.h"

enum { MOST = 30011 };

static const size_t sizes[] = {0, 1, 3, 128, 4095, 4096, 4097, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static uint32_t x[MOST], kept[MOST], indices[MOST], out[MOST];

static void fill(void) {
    uint64_t state = 23;
    for (size_t i = 0; i < MOST; i++) {
        x[i] = ops_random(&state);
    }
}

static void packs_what_is_marked(void **state) {
    (void)state;
    static uint32_t keep[MOST];
    const uint32_t shares[] = {1, 2, 10, 5000, UINT32_MAX};
    uint64_t seed = 1;
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
        for (size_t s = 0; s < SIZES; s++) {
            uint32_t count = 0;
            memset(kept, 0, sizeof kept);
            for (size_t i = 0; i < sizes[s]; i++) {
                uint32_t draw = ops_random(&seed);
                keep[i] = draw % shares[k] ? 0 : draw | 1;
                if (keep[i]) {
                    kept[count++] = x[i];
                }
            }
            ops_expect("select.compact", OPS(OPS_ARRAY(x, sizes[s]), OPS_ARRAY(keep, sizes[s])),
                       OPS(OPS_ARRAY(kept, sizes[s]), OPS_SCALAR("count", count)));
        }
    }
}

static void keeps_each_once(void **state) {
    (void)state;
    static uint32_t sorted[MOST];
    const uint32_t steps[] = {1, 2, 7, 900, UINT32_MAX};
    uint64_t seed = 2;
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        for (size_t s = 0; s < SIZES; s++) {
            uint32_t count = 0, value = (uint32_t)(k % 2) * 5;
            memset(kept, 0, sizeof kept);
            for (size_t i = 0; i < sizes[s]; i++) {
                value += ops_random(&seed) % steps[k] == 0;
                sorted[i] = value;
                if (!i || sorted[i] != sorted[i - 1]) {
                    kept[count++] = value;
                }
            }
            ops_expect("select.unique", OPS(OPS_NAMED("x", sorted, sizes[s])),
                       OPS(OPS_ARRAY(kept, sizes[s]), OPS_SCALAR("count", count)));
        }
    }
}

static void gathers(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (size_t s = 0; s < SIZES; s++) {
        for (size_t t = 0; t < SIZES; t++) {
            size_t n = sizes[s], wanted = sizes[t];
            for (size_t i = 0; i < wanted; i++) {
                uint32_t draw = ops_random(&seed);
                indices[i] = i % 9 ? draw % (uint32_t)(n + 3) : draw;
                out[i] = indices[i] < n ? x[indices[i]] : 0;
            }
            ops_expect("select.gather", OPS(OPS_ARRAY(x, n), OPS_ARRAY(indices, wanted)),
                       OPS(OPS_ARRAY(out, wanted)));
        }
    }
}

static void scatters(void **state) {
    (void)state;
    static uint32_t before[MOST];
    uint64_t seed = 4;
    for (size_t s = 0; s < SIZES; s++) {
        size_t n = sizes[s], room = n - n / 5;
        for (size_t i = 0; i < n; i++) {
            indices[i] = (uint32_t)i;
        }
        for (size_t i = n; i > 1; i--) {
            size_t other = ops_random(&seed) % i;
            uint32_t kept_index = indices[i - 1];
            indices[i - 1] = indices[other];
            indices[other] = kept_index;
        }
        for (size_t i = 0; i < room; i++) {
            before[i] = out[i] = ~(uint32_t)i;
        }
        for (size_t i = 0; i < n; i++) {
            if (indices[i] < room) {
                out[indices[i]] = x[i];
            }
        }
        ops_expect("select.scatter",
                   OPS(OPS_ARRAY(x, n), OPS_ARRAY(indices, n), OPS_NAMED("out", before, room)),
                   OPS(OPS_ARRAY(out, room)));
    }
}

static void packs_many(void **state) {
    (void)state;
    enum { LARGE = 2000003 };
    uint32_t *values = malloc(LARGE * sizeof *values), *keep = malloc(LARGE * sizeof *keep);
    uint32_t *packed = calloc(LARGE, sizeof *packed), count = 0;
    uint64_t seed = 6;
    for (size_t i = 0; i < LARGE; i++) {
        values[i] = ops_random(&seed);
        keep[i] = ops_random(&seed) % 3;
        if (keep[i]) {
            packed[count++] = values[i];
        }
    }
    ops_expect_large("select.compact",
                     OPS(OPS_NAMED("x", values, LARGE), OPS_NAMED("keep", keep, LARGE)),
                     OPS(OPS_NAMED("kept", packed, LARGE), OPS_SCALAR("count", count)));
    free(values);
    free(keep);
    free(packed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_what_is_marked),
        cmocka_unit_test(keeps_each_once),
        cmocka_unit_test(gathers),
        cmocka_unit_test(scatters),
        cmocka_unit_test(packs_many),
    };
    fill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
