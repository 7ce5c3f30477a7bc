/* The arithmetic of examples/backend-plugin against the one of the project. Random programs reach
 * few of its corners, because most use something that the example does not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "examples/backend-plugin/value.c"
#include "ir/eval.h"

enum { ROUNDS = 20000 };

/* The classes of types that a rule takes. */
static unsigned rule_classes(uint8_t rule) {
    switch (rule) {
    case VYRE_RULE_NUMBER:
    case VYRE_RULE_ORDER: return VYRE_CLASS_NUMBER;
    case VYRE_RULE_INTEGER:
    case VYRE_RULE_SHIFT: return VYRE_CLASS_INTEGER;
    case VYRE_RULE_NEGATABLE: return VYRE_CLASS_SIGNED | VYRE_CLASS_FLOAT;
    case VYRE_RULE_BITS: return VYRE_CLASS_INTEGER | VYRE_CLASS_BOOL;
    case VYRE_RULE_FLOAT: return VYRE_CLASS_FLOAT;
    case VYRE_RULE_EQUAL:
    case VYRE_RULE_CONVERT: return VYRE_CLASS_ANY;
    default: return VYRE_CLASS_NONE;
    }
}

/* Any bits, or what arithmetic gets wrong: few bits set or missing, at the ends of a field. */
static uint64_t draw(uint64_t *random, vyre_type type) {
    uint64_t bits = vyre_random(random);
    uint64_t edge = UINT64_C(1) << vyre_random_below(random, 64);
    switch (vyre_random_below(random, 6)) {
    case 0: bits = edge - vyre_random_below(random, 3); break;
    case 1: bits = -edge + vyre_random_below(random, 3); break;
    case 2: bits &= 0xff; break;
    case 3: bits = pack(VYRE_TYPE_F64, (double)(int64_t)bits / 4096); break;
    default: break;
    }
    return value_cut(type, bits);
}

static void check(vyre_op op, vyre_type type, vyre_type to, uint64_t *random) {
    vyre_evaluator evaluate = vyre_eval_find(op, type, to);
    bool shifts = vyre_op_info_of(op)->rule == VYRE_RULE_SHIFT;
    assert_non_null(evaluate);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t a = draw(random, type), b = draw(random, shifts ? VYRE_TYPE_U32 : type);
        uint64_t c = draw(random, type), expected = 0;
        evaluate(&expected, &a, &b, &c, 1);
        uint64_t found = value_compute(op, type, to, a, b, c);
        if (found != expected) {
            print_message("%s %s to %s of %llx, %llx, %llx: found %llx, expected %llx\n",
                          vyre_op_info_of(op)->name, vyre_type_name(type), vyre_type_name(to),
                          (unsigned long long)a, (unsigned long long)b, (unsigned long long)c,
                          (unsigned long long)found, (unsigned long long)expected);
        }
        assert_true(found == expected);
    }
}

static void scalar_computes_what_the_reference_does(void **state) {
    (void)state;
    uint64_t random = 1;
    size_t checked = 0;
    for (uint32_t op = 1; op < VYRE_OP_COUNT; op++) {
        const vyre_op_info *info = vyre_op_info_of(op);
        for (vyre_type type = VYRE_TYPE_BOOL; info->name && type < VYRE_TYPE_COUNT; type++) {
            if (info->effects || !(rule_classes(info->rule) & vyre_type_class_of(type))) {
                continue;
            }
            bool compares = info->rule == VYRE_RULE_EQUAL || info->rule == VYRE_RULE_ORDER;
            if (info->rule != VYRE_RULE_CONVERT) {
                check((vyre_op)op, type, compares ? VYRE_TYPE_BOOL : type, &random);
                checked++;
                continue;
            }
            for (vyre_type to = VYRE_TYPE_BOOL; to < VYRE_TYPE_COUNT; to++) {
                if (to != type) {
                    check((vyre_op)op, type, to, &random);
                    checked++;
                }
            }
        }
    }
    assert_in_range(checked, 400, 1000); /* the table was walked */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalar_computes_what_the_reference_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
