/* Conversions between all types, and bitcasts: 8 and 16 bits in full, special values and boundaries
 * of every target, two million random ones of each wider float, against the definition in whole
 * numbers, the host and, for a part, MPFR. */
#include "tests/unit/eval_exact.h"
#include "tests/unit/eval_host.h"
#include "tests/unit/eval_number.h"

enum { RANDOM = 2000000, ASK_MPFR_EVERY = 9 };

static bool is_float(vyre_type type) {
    return vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
}

static uint64_t by_mpfr(const eval_case *c, const uint64_t *x) {
    return exact_conversion(c->types[0], c->result, x[0]);
}

/* The host's conversions, where C has them and they cannot overflow. */
static uint64_t by_host(const eval_case *c, const uint64_t *x) {
    vyre_type from = c->types[0], to = c->result;
    if (is_float(from)) {
        return to == VYRE_TYPE_F32 ? host_f32_of_f64(x[0]) : host_f64_of_f32((uint32_t)x[0]);
    }
    if (vyre_type_class_of(from) == VYRE_CLASS_SIGNED) {
        uint64_t sign = number_sign(from);
        int64_t value = (int64_t)((x[0] ^ sign) - sign);
        return to == VYRE_TYPE_F32 ? host_f32_of_i64(value) : host_f64_of_i64(value);
    }
    return to == VYRE_TYPE_F32 ? host_f32_of_u64(x[0]) : host_f64_of_u64(x[0]);
}

static bool host_converts(vyre_type from, vyre_type to) {
    bool wide_from = from == VYRE_TYPE_F32 || from == VYRE_TYPE_F64 || !is_float(from);
    return wide_from && (to == VYRE_TYPE_F32 || to == VYRE_TYPE_F64);
}

/* Where there are two answers they must be one. */
static uint64_t by_definition_and_host(const eval_case *c, const uint64_t *x) {
    uint64_t expected = number_conversion(c, x);
    if (by_host(c, x) != expected) {
        fail_msg("the oracles differ for %s %llx as %s", vyre_type_name(c->types[0]),
                 (unsigned long long)x[0], vyre_type_name(c->result));
    }
    return expected;
}

static uint64_t same_bits(const eval_case *c, const uint64_t *x) {
    (void)c;
    return x[0];
}

/* The last bits of a number: any, or what is halfway between two shorter numbers and beside it. */
static uint64_t with_tail(uint64_t bits, int tail) {
    uint64_t low = tail ? ~(uint64_t)0 >> (64 - tail) : 0;
    const uint64_t tails[] = {0, 1, low / 2, low / 2 + 1, low / 2 + 2, low, bits & low};
    return (bits & ~low) | (tails[eval_random_in(0, 6)] & low);
}

static uint64_t random_float(vyre_type type) {
    number_format f = number_format_of(type);
    uint64_t any = eval_random();
    bool negative = eval_random() & 1;
    int exponent = 0;
    switch (eval_random_in(0, 7)) {
    case 0: return any & eval_mask(type);
    case 1: exponent = eval_random_in(f.least - f.mantissa, f.most); break;
    case 2: /* subnormal numbers of f16, bf16 and f32 begin and end here */
    case 3: {
        const int edges[] = {-25, -14, -133, -126, -149, -126};
        exponent = edges[eval_random_in(0, 5)] + eval_random_in(-3, 12);
        break;
    }
    case 4: { /* and here numbers end */
        const int edges[] = {15, 127};
        exponent = edges[eval_random_in(0, 1)] + eval_random_in(-1, 1);
        break;
    }
    default: exponent = eval_random_in(-2, 65); break; /* integers */
    }
    return with_tail(number_make(type, negative, exponent, any), eval_random_in(0, f.mantissa));
}

static uint64_t random_integer(vyre_type type) {
    int width = (int)vyre_type_bytes(type) * 8;
    uint64_t any = eval_random() & eval_mask(type);
    any = with_tail(any >> eval_random_in(0, width - 1), eval_random_in(0, width - 1));
    return (eval_random() & 1 ? 0 - any : any) & eval_mask(type);
}

/* Powers of two, halves between them and their neighbours as floats. */
static void add_boundaries(eval_batch *batch) {
    vyre_type type = batch->c.types[0];
    number_format f = number_format_of(type);
    for (int exponent = f.least - f.mantissa; exponent <= f.most; exponent++) {
        for (uint64_t fraction = 0; fraction < 4; fraction++) {
            uint64_t bits = number_make(type, false, exponent, fraction << 62);
            for (uint64_t near = 0; near < 5; near++) {
                uint64_t beside = (bits + near - 2) & ~number_sign(type);
                eval_add(batch, (uint64_t[]){beside, 0, 0});
                eval_add(batch, (uint64_t[]){beside | number_sign(type), 0, 0});
            }
        }
    }
    uint64_t specials[NUMBER_SPECIALS];
    size_t count = number_specials(type, specials);
    for (size_t i = 0; i < count; i++) {
        eval_add(batch, (uint64_t[]){specials[i], 0, 0});
    }
    /* Whole numbers and a half around the ends of every integer type. */
    for (int width = 7; width <= 64; width++) {
        for (int near = -5; near <= 5; near++) {
            number n = {.digits = ((uint64_t)1 << (width - 1)) * 2 + (uint64_t)(int64_t)near};
            n.exponent = width == 64 && near >= 0 ? 64 : 0;
            n.digits = n.exponent ? 1 : n.digits;
            for (int negative = 0; negative < 2; negative++) {
                n.negative = negative;
                eval_add(batch, (uint64_t[]){number_to_float(type, n), 0, 0});
                number half = {n.negative, false, false, n.digits * 2 + 1, n.exponent - 1};
                if (width < 63) {
                    eval_add(batch, (uint64_t[]){number_to_float(type, half), 0, 0});
                }
            }
        }
    }
}

static void add_integers(eval_batch *batch) {
    vyre_type type = batch->c.types[0];
    int width = (int)vyre_type_bytes(type) * 8;
    for (int i = 0; i < width; i++) {
        for (int k = 0; k <= i; k++) { /* 2^i + 2^k is halfway somewhere */
            uint64_t sum = ((uint64_t)1 << i) + ((uint64_t)1 << k) - 1;
            for (uint64_t near = 0; near < 3; near++) {
                eval_add(batch, (uint64_t[]){sum + near, 0, 0});
                eval_add(batch, (uint64_t[]){0 - sum - near, 0, 0});
            }
        }
    }
    uint32_t count = eval_share(is_float(batch->c.result) ? RANDOM / 2 : RANDOM / 16);
    for (uint32_t i = 0; i < count; i++) {
        eval_add(batch, (uint64_t[]){random_integer(type), 0, 0});
    }
}

static void add_operands(eval_batch *batch) {
    vyre_type type = batch->c.types[0];
    uint32_t bytes = vyre_type_bytes(type);
    if (bytes <= 2) {
        uint32_t count = type == VYRE_TYPE_BOOL ? 2 : 1u << bytes * 8;
        for (uint32_t i = 0; i < count; i++) {
            eval_add(batch, (uint64_t[]){i, 0, 0});
        }
        return;
    }
    if (!is_float(type)) {
        add_integers(batch);
        return;
    }
    add_boundaries(batch);
    eval_flush(batch);
    batch->stride = ASK_MPFR_EVERY;
    uint32_t count = eval_share(is_float(batch->c.result) ? RANDOM : RANDOM / 4);
    for (uint32_t i = 0; i < count; i++) {
        eval_add(batch, (uint64_t[]){random_float(type), 0, 0});
    }
}

static void every_conversion_rounds_wraps_or_clamps_as_defined(void **state) {
    (void)state;
    uint32_t cases = 0;
    eval_case c = {0};
    while (eval_next(&c)) {
        if (c.op != VYRE_OP_CONVERT) {
            continue;
        }
        cases++;
        vyre_type from = c.types[0], to = c.result;
        bool numbers = from != VYRE_TYPE_BOOL && to != VYRE_TYPE_BOOL;
        bool floats = is_float(from) || is_float(to);
        eval_batch *batch =
            eval_batch_start(&c, host_converts(from, to) ? by_definition_and_host : number_conversion,
                             numbers && floats ? by_mpfr : NULL);
        batch->stride = is_float(from) ? 1 : ASK_MPFR_EVERY;
        add_operands(batch);
        eval_batch_end(batch);
    }
    assert_int_equal(cases, 13 * 12);
    exact_free();
}

static void a_bitcast_keeps_every_bit(void **state) {
    (void)state;
    uint32_t cases = 0;
    eval_case c = {0};
    while (eval_next(&c)) {
        if (c.op != VYRE_OP_BITCAST) {
            continue;
        }
        cases++;
        eval_batch *batch = eval_batch_start(&c, same_bits, NULL);
        if (vyre_type_bytes(c.types[0]) <= 2) {
            add_operands(batch);
        } else {
            if (is_float(c.types[0])) {
                add_boundaries(batch);
            }
            for (uint32_t i = 0; i < 20000; i++) {
                eval_add(batch, (uint64_t[]){eval_random(), 0, 0});
            }
        }
        eval_batch_end(batch);
    }
    assert_int_equal(cases, 2 + 4 * 3 + 3 * 2 + 3 * 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_conversion_rounds_wraps_or_clamps_as_defined),
        cmocka_unit_test(a_bitcast_keeps_every_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
