/* Operations on f32 and f64: all special values with one another and two million operands each,
 * against the host's own arithmetic and, for a part, MPFR; those that are no arithmetic against
 * their definition on bits. */
#include "evaluate.h"

#include "tests/unit/eval_exact.h"
#include "tests/unit/eval_host.h"
#include "tests/unit/eval_number.h"

enum { RANDOM = 2000000, ASK_MPFR_EVERY = 9 };

static uint64_t by_host(const eval_case *c, const uint64_t *x) {
    return c->types[0] == VYRE_TYPE_F32
               ? host_f32(c->op, (uint32_t)x[0], (uint32_t)x[1], (uint32_t)x[2])
               : host_f64(c->op, x[0], x[1], x[2]);
}

static uint64_t by_mpfr(const eval_case *c, const uint64_t *x) {
    return exact_operation(c->op, c->types[0], x);
}

static bool is_ours(const eval_case *c) {
    vyre_type type = c->types[c->operands - 1];
    return vyre_type_class_of(type) == VYRE_CLASS_FLOAT && vyre_type_bytes(type) > 2 &&
           c->op != VYRE_OP_CONVERT && c->op != VYRE_OP_BITCAST;
}

static void every_operation_on_floats_rounds_once(void **state) {
    (void)state;
    uint32_t cases = 0;
    eval_case c = {0};
    while (eval_next(&c)) {
        if (!is_ours(&c)) {
            continue;
        }
        cases++;
        eval_batch *batch = eval_batch_start(&c, number_oracle_of(c.op, by_host),
                                             exact_knows(c.op) ? by_mpfr : NULL);
        number_add_specials(batch, &c);
        eval_flush(batch);
        batch->stride = ASK_MPFR_EVERY;
        number_add_random(batch, &c, eval_share(host_knows(c.op) ? RANDOM : RANDOM / 8));
        eval_flush(batch);
        assert_true(!host_knows(c.op) || batch->second_asked > eval_share(RANDOM) / 10);
        assert_true(eval_batch_end(batch) > eval_share(RANDOM) / 8);
    }
    assert_true(cases == 2 * 20);
    exact_free();
}

/* Each of these would differ if the product were not rounded before the sum. */
static void a_product_and_a_sum_are_two_roundings(void **state) {
    (void)state;
    const uint64_t f32[] = {0x3f800001, 0x3f800001, 0xbf800002};
    const uint64_t f64[] = {0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002};
    assert_int_equal(host_f32(VYRE_OP_FMA, 0x3f800001, 0x3f800001, 0xbf800002), 0x28800000);
    for (int i = 0; i < 2; i++) {
        vyre_type type = i ? VYRE_TYPE_F64 : VYRE_TYPE_F32;
        const uint64_t *x = i ? f64 : f32;
        uint64_t memory[3], product = 0, sum = ~(uint64_t)0, fused = 0;
        for (int k = 0; k < 3; k++) {
            eval_put(&memory[k], 0, vyre_type_bytes(type), x[k]);
        }
        vyre_eval_find(VYRE_OP_MUL, type, type)(&product, &memory[0], &memory[1], NULL, 1);
        vyre_eval_find(VYRE_OP_ADD, type, type)(&sum, &product, &memory[2], NULL, 1);
        vyre_eval_find(VYRE_OP_FMA, type, type)(&fused, &memory[0], &memory[1], &memory[2], 1);
        assert_int_equal(eval_get(&sum, 0, vyre_type_bytes(type)), 0);
        assert_int_equal(eval_get(&fused, 0, vyre_type_bytes(type)),
                         exact_operation(VYRE_OP_FMA, type, x));
        assert_int_not_equal(eval_get(&fused, 0, vyre_type_bytes(type)), 0);
    }
    exact_free();
}

/* Elementary functions have no vectors here; tools/prove-math proves each of them but fmod, which
 * is exact and compared with C's in test_reference_math. */
static void every_elementary_function_is_proved(void **state) {
    (void)state;
    uint32_t count = 0;
    for (uint32_t op = 0; op < VYRE_OP_COUNT; op++) {
        if (!eval_is_pure(op) || !eval_is_elementary(op) || op == VYRE_OP_FMOD) {
            continue;
        }
        count++;
        if (!math_function_find(vyre_op_info_of(op)->name)) {
            fail_msg("no vectors for %s", vyre_op_info_of(op)->name);
        }
    }
    assert_int_equal(count, math_function_count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_on_floats_rounds_once),
        cmocka_unit_test(a_product_and_a_sum_are_two_roundings),
        cmocka_unit_test(every_elementary_function_is_proved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
