/* Operations on integers and bool against arithmetic of twice the width, written from
 * docs/semantics.md: 8 bits in full, special values of all widths with one another, and random
 * ones. Here too: the operation table has an evaluator for whatever it defines, and for nothing
 * else. */
#include "tests/unit/eval_integer.h"

enum { RANDOM = 100000 };

/* Operands and result that this file is about: no float among them, and no conversion. */
static bool is_ours(const eval_case *c) {
    return vyre_type_class_of(c->types[c->operands - 1]) != VYRE_CLASS_FLOAT &&
           c->op != VYRE_OP_CONVERT && c->op != VYRE_OP_BITCAST;
}

enum { SPECIALS = 260 };

/* Every power of two and its neighbours, and their complements. Shift counts also lie around every
 * width and its multiples. */
static size_t specials_of(vyre_type type, uint64_t *to) {
    size_t count = 0;
    if (type == VYRE_TYPE_BOOL) {
        to[0] = 0;
        to[1] = 1;
        return 2;
    }
    for (int i = 0; i < width_of(type); i += width_of(type) == 64 && i > 6 && i < 58 ? 4 : 1) {
        for (uint64_t near = 0; near < 3; near++) {
            uint64_t value = ((uint64_t)1 << i) + near - 1;
            to[count++] = value & eval_mask(type);
            to[count++] = ~value & eval_mask(type);
        }
    }
    const uint64_t others[] = {
        0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0x0123456789abcdef, 0x00ff00ff00ff00ff, 3, 10,
        0xb504f333f9de6484};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        to[count++] = others[i] & eval_mask(type);
    }
    assert_true(count <= SPECIALS);
    return count;
}

static uint64_t random_of(vyre_type type) {
    uint64_t any = eval_random() & eval_mask(type);
    int shift = eval_random_in(0, width_of(type) - 1);
    switch (type == VYRE_TYPE_BOOL ? 4 : eval_random_in(0, 5)) {
    case 0: return any >> shift; /* small, and small negative ones */
    case 1: return ~(any >> shift) & eval_mask(type);
    case 2: return any << shift & eval_mask(type);
    case 4: return type == VYRE_TYPE_BOOL ? any & 1 : any;
    default: return any;
    }
}

static void every_operation_on_integers_is_exact_arithmetic_of_twice_the_width(void **state) {
    (void)state;
    static uint64_t lists[3][SPECIALS];
    uint32_t cases = 0;
    eval_case c = {0};
    while (eval_next(&c)) {
        if (!is_ours(&c)) {
            continue;
        }
        cases++;
        eval_batch *batch = eval_batch_start(&c, integer_oracles[c.op], NULL);
        size_t counts[3] = {0};
        bool narrow = true;
        for (uint32_t i = 0; i < c.operands; i++) {
            counts[i] = specials_of(c.types[i], lists[i]);
            narrow = narrow && vyre_type_bytes(c.types[i]) == 1;
        }
        eval_add_all(batch, (const uint64_t *const[]){lists[0], lists[1], lists[2]}, counts);
        for (uint32_t i = 0; narrow && c.types[0] != VYRE_TYPE_BOOL && i < 0x10000; i++) {
            eval_add(batch, (uint64_t[]){i & 0xff, i >> 8, 0});
        }
        for (uint32_t i = 0; c.operands == 1 && vyre_type_bytes(c.types[0]) == 2 && i < 0x10000;
             i++) {
            eval_add(batch, (uint64_t[]){i, 0, 0});
        }
        for (uint32_t i = 0; i < eval_share(RANDOM); i++) {
            uint64_t x[3] = {0};
            for (uint32_t k = 0; k < c.operands; k++) {
                x[k] = random_of(c.types[k]);
            }
            /* Equal operands, and neighbours, are rare otherwise. */
            if (c.operands == 2 && c.types[0] == c.types[1] && c.types[0] != VYRE_TYPE_BOOL &&
                i % 8 == 0) {
                x[1] = x[0] + (uint64_t)eval_random_in(-1, 1);
            }
            eval_add(batch, x);
        }
        assert_true(eval_batch_end(batch) > eval_share(RANDOM));
    }
    assert_true(cases > 200);
}

/* The few sentences of docs/semantics.md that are easiest to get wrong, spelled out. */
static void known_answers(void **state) {
    (void)state;
    const struct {
        vyre_op op;
        vyre_type type;
        uint64_t a, b, result;
    } known[] = {
        {VYRE_OP_DIV, VYRE_TYPE_I32, 7, 0, 7},
        {VYRE_OP_DIV, VYRE_TYPE_I32, 0x80000000, 0xffffffff, 0x80000000},
        {VYRE_OP_DIV, VYRE_TYPE_I8, 0xf9, 2, 0xfd}, /* -7 / 2 = -3 */
        {VYRE_OP_REM, VYRE_TYPE_I8, 0xf9, 2, 0xff}, /* -7 % 2 = -1 */
        {VYRE_OP_REM, VYRE_TYPE_I64, 0x8000000000000000, UINT64_MAX, 0},
        {VYRE_OP_REM, VYRE_TYPE_U64, 5, 0, 0},
        {VYRE_OP_SHL, VYRE_TYPE_U8, 1, 9, 2},
        {VYRE_OP_SHR, VYRE_TYPE_I16, 0x8000, 31, 0xffff},
        {VYRE_OP_ROTL, VYRE_TYPE_U64, 0x8000000000000001, 65, 3},
        {VYRE_OP_ROTR, VYRE_TYPE_I32, 1, 0, 1},
        {VYRE_OP_CLZ, VYRE_TYPE_U8, 0, 0, 8},
        {VYRE_OP_CTZ, VYRE_TYPE_I64, 0, 0, 64},
        {VYRE_OP_ABS, VYRE_TYPE_I16, 0x8000, 0, 0x8000},
        {VYRE_OP_MUL_HIGH, VYRE_TYPE_I64, UINT64_MAX, 1, UINT64_MAX},
        {VYRE_OP_MUL_HIGH, VYRE_TYPE_U64, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1},
        {VYRE_OP_ADD_SAT, VYRE_TYPE_I8, 0x7f, 1, 0x7f},
        {VYRE_OP_SUB_SAT, VYRE_TYPE_I8, 0x80, 1, 0x80},
        {VYRE_OP_SUB_SAT, VYRE_TYPE_U32, 1, 2, 0},
        {VYRE_OP_NOT, VYRE_TYPE_BOOL, 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        vyre_type type = known[i].type;
        uint64_t a, b, to = 0;
        bool shift = vyre_op_info_of(known[i].op)->rule == VYRE_RULE_SHIFT;
        eval_put(&a, 0, vyre_type_bytes(type), known[i].a);
        eval_put(&b, 0, shift ? 4 : vyre_type_bytes(type), known[i].b);
        vyre_evaluator evaluate = vyre_eval_find(known[i].op, type, type);
        assert_non_null(evaluate);
        evaluate(&to, &a, &b, NULL, 1);
        assert_int_equal(eval_get(&to, 0, vyre_type_bytes(type)), known[i].result);
    }
}

/* What the rules refuse has no evaluator, and elementary functions have none: they are expansions.
 * Select and bitcast look at sizes alone. */
static void there_is_no_evaluator_for_what_is_not_defined(void **state) {
    (void)state;
    static bool defined[VYRE_OP_COUNT][VYRE_TYPE_COUNT];
    eval_case c = {0};
    while (eval_next(&c)) {
        defined[c.op][c.types[0]] = true;
    }
    for (uint32_t op = 0; op < VYRE_OP_COUNT; op++) {
        for (uint32_t type = 0; type < VYRE_TYPE_COUNT; type++) {
            if (!defined[op][type] && op != VYRE_OP_SELECT && op != VYRE_OP_BITCAST &&
                vyre_eval_find((vyre_op)op, (vyre_type)type, (vyre_type)type)) {
                fail_msg("%s on %s is not defined, but has an evaluator",
                         vyre_op_info_of(op)->name ? vyre_op_info_of(op)->name : "nothing",
                         vyre_type_name((vyre_type)type));
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(every_operation_on_integers_is_exact_arithmetic_of_twice_the_width),
        cmocka_unit_test(there_is_no_evaluator_for_what_is_not_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
