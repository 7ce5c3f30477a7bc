#include "pass/probe.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/status.h"
#include "pass/probe_rows.h"
#include "text/module.h"

/* Put into the library by the build. */
extern const char vyre_probe_text[];

vyre_status vyre_probe_program(bool has_f64, vyre_program **out_program) {
    vyre_module *module;
    vyre_parse_options options = {.entry = has_f64 ? "probe_wide" : "probe"};
    *out_program = NULL;
    VYRE_TRY(vyre_module_parse_with(&options, "probe.vyre", vyre_probe_text,
                                    strlen(vyre_probe_text), NULL, &module));
    *out_program = vyre_program_retain(vyre_module_find(module, options.entry));
    vyre_module_free(module);
    return VYRE_OK;
}

/* Operands */

enum { SPECIAL = 20, PAIRS = 2 * SPECIAL };

/* Where rounding is decided: ends of ranges, subnormals, halves of the last place. */
static const uint32_t special[SPECIAL] = {
    0x00000000, 0x00000001, 0x00000003, 0x00400000, 0x007fffff, 0x00800000, 0x00800001,
    0x01000001, 0x33800000, 0x33ffffff, 0x3eaaaaab, 0x3f7fffff, 0x3f800000, 0x3f800001,
    0x3fb504f3, 0x40490fdb, 0x4b7fffff, 0x7e800001, 0x7f7fffff, 0x7f800000};
static const uint64_t special_wide[SPECIAL] = {
    0x0000000000000000, 0x0000000000000001, 0x0000000000000003, 0x0008000000000000,
    0x000fffffffffffff, 0x0010000000000000, 0x0010000000000001, 0x0020000000000001,
    0x3ca0000000000000, 0x3caffffffffffff1, 0x3fd5555555555555, 0x3fefffffffffffff,
    0x3ff0000000000000, 0x3ff0000000000001, 0x3ff6a09e667f3bcd, 0x400921fb54442d18,
    0x433fffffffffffff, 0x7fd0000000000001, 0x7fefffffffffffff, 0x7ff0000000000000};

static void put_special(uint32_t index, uint32_t *out_single, uint64_t *out_double) {
    *out_single = special[index / 2] | (index & 1) << 31;
    *out_double = special_wide[index / 2] | (uint64_t)(index & 1) << 63;
}

/* How random operands are drawn; the last are numbers with a few digits, halves and ties. */
typedef enum drawing { ANY, SMALL, NEAR_ONE, FEW_DIGITS, DRAWINGS } drawing;

static void put_random(uint64_t *state, drawing how, uint32_t *out_single, uint64_t *out_double) {
    uint64_t bits = vyre_random(state), more = vyre_random(state);
    uint32_t single = (uint32_t)bits;
    uint64_t wide = more;
    switch (how) {
    case ANY: break;
    case SMALL: /* subnormal or nearly so */
        single &= 0x81ffffff;
        wide &= 0x803fffffffffffff;
        break;
    case FEW_DIGITS:
        single &= 0x80f80000;
        wide &= 0x80ff000000000000;
        single |= 0x3f000000;
        wide |= 0x3fe0000000000000;
        single += (uint32_t)(bits >> 60) << 23;
        wide += (bits >> 60) << 52;
        break;
    case NEAR_ONE:
    case DRAWINGS: /* 2^-16 to 2^16 */
        single = (single & 0x807fffff) | (0x37800000 + ((uint32_t)(bits >> 33) % 32 << 23));
        wide = (wide & 0x800fffffffffffff) | (0x3ef0000000000000 + ((bits >> 33) % 32 << 52));
        break;
    }
    *out_single = single;
    *out_double = wide;
}

/* A quotient in the middle of two subnormal numbers, or next to it: the divisor is large and has
 * few digits, and the dividend is its product with the middle, which has so many digits that the
 * product may have to be cut off, or the number behind that. */
static void put_middle(uint64_t *state, uint32_t single[3], uint64_t wide[3]) {
    uint64_t bits = vyre_random(state), middle = vyre_random(state);
    int divisor = 8 + (int)(bits & 7), top = (int)(bits >> 3 & 1), up = (int)(bits >> 4 & 1);
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        int digits = is_wide ? 53 : 24, least = is_wide ? -1075 : -150;
        int exponent = (is_wide ? 1019 : 123) + top, cut = 0;
        int unused = 64 - digits + (int)(bits >> 5 & 7);
        uint64_t product = (middle >> unused | 1) * (uint64_t)divisor;
        for (; product >> digits; product >>= 1) {
            cut++;
        }
        product += cut ? (uint64_t)up : 0;
        double dividend = ldexp((double)product, exponent + least + cut);
        double by = ldexp(divisor, exponent);
        if (is_wide) {
            memcpy(&wide[0], &dividend, sizeof dividend);
            memcpy(&wide[1], &by, sizeof by);
        } else {
            const float narrow[] = {(float)dividend, (float)by};
            memcpy(single, narrow, sizeof narrow);
        }
    }
}

static void put_operands(uint32_t at, uint64_t *state, uint32_t single[3], uint64_t wide[3]) {
    if (at < PAIRS * PAIRS) {
        put_special(at / PAIRS, &single[0], &wide[0]);
        put_special(at % PAIRS, &single[1], &wide[1]);
        put_special((at * 7 + at / PAIRS) % PAIRS, &single[2], &wide[2]);
        return;
    }
    /* Half are numbers of common size. The others mix all sizes. */
    for (uint32_t k = 0; k < 3; k++) {
        drawing how = at & 1 ? NEAR_ONE : (drawing)(vyre_random(state) % DRAWINGS);
        put_random(state, how, &single[k], &wide[k]);
    }
    if (at % 8 == 6) {
        put_middle(state, single, wide);
    }
}

vyre_status vyre_probe_inputs(bool has_f64, vyre_probe *out_probe) {
    enum { OPERANDS = 3 * VYRE_PROBE_COUNT };
    uint32_t *singles = vyre_alloc_array(OPERANDS, sizeof *singles);
    uint64_t *doubles = vyre_alloc_array(OPERANDS, sizeof *doubles), random = 1;
    *out_probe = (vyre_probe){0};
    if (!singles || !doubles) {
        vyre_free(singles);
        vyre_free(doubles);
        return vyre_no_memory("to probe the arithmetic of a device");
    }
    for (uint32_t i = 0; i < VYRE_PROBE_COUNT; i++) {
        uint32_t single[3];
        uint64_t wide[3];
        put_operands(i, &random, single, wide);
        for (uint32_t k = 0; k < 3; k++) {
            singles[k * VYRE_PROBE_COUNT + i] = single[k];
            doubles[k * VYRE_PROBE_COUNT + i] = wide[k];
        }
    }
    *out_probe = (vyre_probe){
        .count = has_f64 ? 2 : 1,
        .inputs = {singles, doubles},
        .input_bytes = {OPERANDS * sizeof *singles, OPERANDS * sizeof *doubles},
        .output_bytes = {(size_t)PROBE_COLUMNS * VYRE_PROBE_COUNT * sizeof *singles,
                         (size_t)PROBE_COLUMNS_WIDE * VYRE_PROBE_COUNT * sizeof *doubles},
    };
    return VYRE_OK;
}

void vyre_probe_deinit(vyre_probe *probe) {
    for (uint32_t i = 0; i < VYRE_PROBE_ARRAYS; i++) {
        vyre_free((void *)(uintptr_t)probe->inputs[i]);
    }
    *probe = (vyre_probe){0};
}
