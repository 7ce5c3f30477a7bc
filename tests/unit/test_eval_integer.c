/* Operations on integers and bool against arithmetic of twice the width, written from
 * docs/semantics.md: 8 bits in full, special values of all widths with one another, and random
 * ones. Here too: the operation table has an evaluator for whatever it defines, and for nothing
 * else. */
#include "tests/unit/eval_check.h"

enum { RANDOM = 100000 };

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static bool is_signed(vyre_type type) {
    return vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
}

static int width_of(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? 1 : (int)vyre_type_bytes(type) * 8;
}

/* The number that the bits stand for. */
static wide value_of(vyre_type type, uint64_t bits) {
    bool negative = is_signed(type) && bits >> (width_of(type) - 1) & 1;
    return (wide)bits - (negative ? (wide)1 << width_of(type) : 0);
}

/* Modulo 2^width. */
static uint64_t wrap(vyre_type type, wide value) {
    return (uint64_t)(unsigned_wide)value & eval_mask(type);
}

static uint64_t clamp(vyre_type type, wide value) {
    wide high = ((wide)1 << (width_of(type) - is_signed(type))) - 1;
    wide low = is_signed(type) ? -high - 1 : 0;
    return wrap(type, value < low ? low : value > high ? high : value);
}

static bool bit(uint64_t bits, int at) {
    return bits >> at & 1;
}

static uint64_t expect_add(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    return wrap(type, value_of(type, x[0]) + value_of(type, x[1]));
}

static uint64_t expect_sub(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    return wrap(type, value_of(type, x[0]) - value_of(type, x[1]));
}

/* The product of two words of 64 bits without a sign does not fit into a `wide`. */
static unsigned_wide product(vyre_type type, const uint64_t *x) {
    return (unsigned_wide)value_of(type, x[0]) * (unsigned_wide)value_of(type, x[1]);
}

static uint64_t expect_mul(const eval_case *c, const uint64_t *x) {
    return (uint64_t)product(c->types[0], x) & eval_mask(c->types[0]);
}

static uint64_t expect_mul_high(const eval_case *c, const uint64_t *x) {
    return (uint64_t)(product(c->types[0], x) >> width_of(c->types[0])) & eval_mask(c->types[0]);
}

static uint64_t expect_div(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    wide left = value_of(type, x[0]), right = value_of(type, x[1]);
    return wrap(type, right == 0 ? left : left / right);
}

static uint64_t expect_rem(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    wide left = value_of(type, x[0]), right = value_of(type, x[1]);
    return wrap(type, right == 0 ? 0 : left - left / right * right);
}

static uint64_t expect_min(const eval_case *c, const uint64_t *x) {
    return value_of(c->types[0], x[0]) < value_of(c->types[0], x[1]) ? x[0] : x[1];
}

static uint64_t expect_max(const eval_case *c, const uint64_t *x) {
    return value_of(c->types[0], x[0]) > value_of(c->types[0], x[1]) ? x[0] : x[1];
}

static uint64_t expect_neg(const eval_case *c, const uint64_t *x) {
    return wrap(c->types[0], -value_of(c->types[0], x[0]));
}

static uint64_t expect_abs(const eval_case *c, const uint64_t *x) {
    wide value = value_of(c->types[0], x[0]);
    return wrap(c->types[0], value < 0 ? -value : value);
}

static uint64_t expect_add_sat(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    return clamp(type, value_of(type, x[0]) + value_of(type, x[1]));
}

static uint64_t expect_sub_sat(const eval_case *c, const uint64_t *x) {
    vyre_type type = c->types[0];
    return clamp(type, value_of(type, x[0]) - value_of(type, x[1]));
}

/* Operations bit by bit: `from` gives the bit of the result at a place. */
static uint64_t each_bit(const eval_case *c, const uint64_t *x,
                         bool (*from)(const eval_case *c, const uint64_t *x, int at)) {
    uint64_t result = 0;
    for (int at = 0; at < width_of(c->types[0]); at++) {
        result |= (uint64_t)from(c, x, at) << at;
    }
    return result;
}

static bool and_bit(const eval_case *c, const uint64_t *x, int at) {
    (void)c;
    return bit(x[0], at) && bit(x[1], at);
}

static bool or_bit(const eval_case *c, const uint64_t *x, int at) {
    (void)c;
    return bit(x[0], at) || bit(x[1], at);
}

static bool xor_bit(const eval_case *c, const uint64_t *x, int at) {
    (void)c;
    return bit(x[0], at) != bit(x[1], at);
}

static bool not_bit(const eval_case *c, const uint64_t *x, int at) {
    (void)c;
    return !bit(x[0], at);
}

/* The place that the bit at `at` comes from if bits move up by the count. */
static int origin(const eval_case *c, const uint64_t *x, int at) {
    return at - (int)(x[1] % (uint64_t)width_of(c->types[0]));
}

static int origin_down(const eval_case *c, const uint64_t *x, int at) {
    return at + (int)(x[1] % (uint64_t)width_of(c->types[0]));
}

static bool shl_bit(const eval_case *c, const uint64_t *x, int at) {
    int from = origin(c, x, at);
    return from >= 0 && bit(x[0], from);
}

static bool shr_bit(const eval_case *c, const uint64_t *x, int at) {
    int from = origin_down(c, x, at), top = width_of(c->types[0]) - 1;
    return from <= top ? bit(x[0], from) : is_signed(c->types[0]) && bit(x[0], top);
}

static bool rotl_bit(const eval_case *c, const uint64_t *x, int at) {
    int from = origin(c, x, at);
    return bit(x[0], from < 0 ? from + width_of(c->types[0]) : from);
}

static bool rotr_bit(const eval_case *c, const uint64_t *x, int at) {
    return bit(x[0], origin_down(c, x, at) % width_of(c->types[0]));
}

static bool reverse_bit(const eval_case *c, const uint64_t *x, int at) {
    return bit(x[0], width_of(c->types[0]) - 1 - at);
}

#define BY_BIT(name)                                                                               \
    static uint64_t expect_##name(const eval_case *c, const uint64_t *x) {                         \
        return each_bit(c, x, name##_bit);                                                         \
    }
BY_BIT(and)
BY_BIT(or)
BY_BIT(xor)
BY_BIT(not )
BY_BIT(shl)
BY_BIT(shr)
BY_BIT(rotl)
BY_BIT(rotr)
BY_BIT(reverse)

static uint64_t expect_clz(const eval_case *c, const uint64_t *x) {
    uint64_t count = 0;
    for (int at = width_of(c->types[0]) - 1; at >= 0 && !bit(x[0], at); at--) {
        count++;
    }
    return count;
}

static uint64_t expect_ctz(const eval_case *c, const uint64_t *x) {
    uint64_t count = 0;
    for (int at = 0; at < width_of(c->types[0]) && !bit(x[0], at); at++) {
        count++;
    }
    return count;
}

static uint64_t expect_popcount(const eval_case *c, const uint64_t *x) {
    uint64_t count = 0;
    for (int at = 0; at < width_of(c->types[0]); at++) {
        count += bit(x[0], at);
    }
    return count;
}

static uint64_t expect_eq(const eval_case *c, const uint64_t *x) {
    return value_of(c->types[0], x[0]) == value_of(c->types[0], x[1]);
}

static uint64_t expect_ne(const eval_case *c, const uint64_t *x) {
    return value_of(c->types[0], x[0]) != value_of(c->types[0], x[1]);
}

static uint64_t expect_lt(const eval_case *c, const uint64_t *x) {
    return value_of(c->types[0], x[0]) < value_of(c->types[0], x[1]);
}

static uint64_t expect_le(const eval_case *c, const uint64_t *x) {
    return value_of(c->types[0], x[0]) <= value_of(c->types[0], x[1]);
}

static uint64_t expect_select(const eval_case *c, const uint64_t *x) {
    (void)c;
    return x[0] ? x[1] : x[2];
}

static const eval_oracle oracles[VYRE_OP_COUNT] = {
    [VYRE_OP_ADD] = expect_add,
    [VYRE_OP_SUB] = expect_sub,
    [VYRE_OP_MUL] = expect_mul,
    [VYRE_OP_DIV] = expect_div,
    [VYRE_OP_REM] = expect_rem,
    [VYRE_OP_MIN] = expect_min,
    [VYRE_OP_MAX] = expect_max,
    [VYRE_OP_NEG] = expect_neg,
    [VYRE_OP_ABS] = expect_abs,
    [VYRE_OP_MUL_HIGH] = expect_mul_high,
    [VYRE_OP_ADD_SAT] = expect_add_sat,
    [VYRE_OP_SUB_SAT] = expect_sub_sat,
    [VYRE_OP_AND] = expect_and,
    [VYRE_OP_OR] = expect_or,
    [VYRE_OP_XOR] = expect_xor,
    [VYRE_OP_NOT] = expect_not,
    [VYRE_OP_SHL] = expect_shl,
    [VYRE_OP_SHR] = expect_shr,
    [VYRE_OP_ROTL] = expect_rotl,
    [VYRE_OP_ROTR] = expect_rotr,
    [VYRE_OP_CLZ] = expect_clz,
    [VYRE_OP_CTZ] = expect_ctz,
    [VYRE_OP_POPCOUNT] = expect_popcount,
    [VYRE_OP_REVERSE_BITS] = expect_reverse,
    [VYRE_OP_EQ] = expect_eq,
    [VYRE_OP_NE] = expect_ne,
    [VYRE_OP_LT] = expect_lt,
    [VYRE_OP_LE] = expect_le,
    [VYRE_OP_SELECT] = expect_select,
};

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
        eval_batch *batch = eval_batch_start(&c, oracles[c.op], NULL);
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
