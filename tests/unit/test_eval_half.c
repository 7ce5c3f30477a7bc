/* Operations on f16 and bf16: all 65536 values of one operand; all special values with one another
 * and two million pairs and triples, against the definition (compute in f32, round to nearest even;
 * fma: compute exactly, round once) and, for a part, against MPFR rounding the exact result once.
 */
#include "tests/unit/eval_exact.h"
#include "tests/unit/eval_host.h"
#include "tests/unit/eval_number.h"
#include "tests/unit/half_fma.h"

enum { RANDOM = 2000000, ASK_MPFR_EVERY = 9 };

/* Exact: every value of the narrow formats is one of f32. A NaN becomes the canonical one. */
static uint32_t widened[2][0x10000];

static int fill_widened(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        for (uint32_t i = 0; i < 2; i++) {
            number n = number_of_float(i ? VYRE_TYPE_BF16 : VYRE_TYPE_F16, bits);
            widened[i][bits] = (uint32_t)number_to_float(VYRE_TYPE_F32, n);
        }
    }
    return 0;
}

static uint32_t widen(vyre_type type, uint64_t bits) {
    return widened[type == VYRE_TYPE_BF16][bits];
}

static uint64_t narrow(vyre_type type, uint32_t bits) {
    return number_to_float(type, number_of_float(VYRE_TYPE_F32, bits));
}

static uint64_t by_definition(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    if (c->op == VYRE_OP_FMA) {
        return half_fma(type == VYRE_TYPE_F16 ? &half_f16 : &half_bf16, (uint16_t)x[0],
                        (uint16_t)x[1], (uint16_t)x[2]);
    }
    return narrow(type, host_f32(c->op, widen(type, x[0]), widen(type, x[1]), widen(type, x[2])));
}

static uint64_t by_mpfr(const eval_case *c, const uint64_t *x) {
    return exact_operation(c->op, c->types[0], x);
}

static bool is_ours(const eval_case *c) {
    vyre_type type = c->types[c->operands - 1];
    return vyre_type_class_of(type) == VYRE_CLASS_FLOAT && vyre_type_bytes(type) <= 2 &&
           c->op != VYRE_OP_CONVERT && c->op != VYRE_OP_BITCAST;
}

static void every_operation_on_narrow_floats_rounds_once(void **state) {
    (void)state;
    uint32_t cases = 0;
    eval_case c = {0};
    while (eval_next(&c)) {
        if (!is_ours(&c)) {
            continue;
        }
        cases++;
        eval_batch *batch = eval_batch_start(&c, number_oracle_of(c.op, by_definition),
                                             exact_knows(c.op) ? by_mpfr : NULL);
        number_add_specials(batch, &c);
        for (uint32_t i = 0; c.operands == 1 && i < 0x10000; i++) {
            eval_add(batch, (uint64_t[]){i, 0, 0});
        }
        eval_flush(batch);
        batch->stride = ASK_MPFR_EVERY;
        uint32_t random = c.operands == 1 ? 0 : eval_share(host_knows(c.op) ? RANDOM : RANDOM / 8);
        number_add_random(batch, &c, random);
        eval_flush(batch);
        assert_true(!exact_knows(c.op) || batch->second_asked > eval_share(0x10000));
        assert_true(eval_batch_end(batch) > eval_share(0x10000));
    }
    assert_true(cases == 2 * 20);
    exact_free();
}

static uint64_t through_f32(vyre_type type, const uint64_t *x) {
    return narrow(type,
                  host_f32(VYRE_OP_FMA, widen(type, x[0]), widen(type, x[1]), widen(type, x[2])));
}

/* Rounding to f32 first and then to 16 bits is not rounding once: the exact sum lies close to the
 * middle of two values, and f32 cannot tell on which side. */
static void fma_rounds_once_where_twice_goes_wrong(void **state) {
    (void)state;
    eval_case c = {.op = VYRE_OP_FMA};
    while (eval_next(&c) && c.op == VYRE_OP_FMA) {
        if (!is_ours(&c)) {
            continue;
        }
        const half_format *format = c.types[0] == VYRE_TYPE_F16 ? &half_f16 : &half_bf16;
        eval_batch *batch = eval_batch_start(&c, by_definition, by_mpfr);
        batch->stride = ASK_MPFR_EVERY;
        uint64_t random = 1;
        uint32_t differ = 0;
        for (uint32_t i = 0; i < eval_share(RANDOM); i++) {
            uint16_t x[3];
            half_hard_case(format, i, &random, x);
            const uint64_t operands[] = {x[0], x[1], x[2]};
            differ += through_f32(c.types[0], operands) != by_definition(&c, operands);
            eval_add(batch, operands);
        }
        eval_batch_end(batch);
        assert_true(differ > eval_share(RANDOM) / 100);
    }
    const uint16_t x = 0x4200, y = 0x6156, z = 0x0001; /* 3 * 683 + 2^-24 */
    uint16_t to;
    vyre_eval_find(VYRE_OP_FMA, VYRE_TYPE_F16, VYRE_TYPE_F16)(&to, &x, &y, &z, 1);
    assert_int_equal(to, 0x6801);
    exact_free();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_on_narrow_floats_rounds_once),
        cmocka_unit_test(fma_rounds_once_where_twice_goes_wrong),
    };
    return cmocka_run_group_tests(tests, fill_widened, NULL);
}
