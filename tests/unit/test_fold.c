/* Folding against the oracle: every operation on every kind of operand that a rule could look for,
 * two operations deep, for all types and values at which arithmetic turns; each expression must
 * give the same bits whether it is folded or not. */
#include "pass/fold.h"
#include "pass/pass.h"
#include "tests/unit/reference_check.h"

enum {
    LANES = 24,        /* values of each input */
    EXPRESSIONS = 400, /* of one program */
};

/* A program that stores expressions, one after the other, and is run when there are enough. */
typedef struct sheet {
    vyre_builder *b;
    uint32_t in[VYRE_TYPE_COUNT][2], out[VYRE_TYPE_COUNT]; /* values, buffers */
    uint32_t gid, count;
    uint32_t before, after; /* instructions of all programs, with and without folding */
    uint32_t programs;
} sheet;

static const uint64_t turning_points[LANES] = {0,
                                               1,
                                               2,
                                               3,
                                               5,
                                               8,
                                               31,
                                               32,
                                               64,
                                               0x7f,
                                               0x80,
                                               0xff,
                                               0x100,
                                               0x7fff,
                                               0x8000,
                                               0xffff,
                                               0x7fffffff,
                                               0x80000000,
                                               0xffffffff,
                                               0x7fffffffffffffff,
                                               0x8000000000000000,
                                               0xffffffffffffffff,
                                               0x5555555555555555,
                                               0xfffffffffffffffe};

static const uint64_t float_points[4][LANES] = {
    {0,      0x8000, 0x3c00, 0xbc00, 0x4000, 0x0001, 0x8001, 0x03ff,
     0x0400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01,
     0x7d55, 0x3555, 0x4248, 0x5640, 0x6bd0, 0x2e66, 0x1234, 0x9abc},
    {0,      0x8000, 0x3f80, 0xbf80, 0x4000, 0x0001, 0x8001, 0x007f,
     0x0080, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81,
     0x7fd5, 0x3eab, 0x4049, 0x42c8, 0x4f00, 0x3dcd, 0x1234, 0x9abc},
    {0,          0x80000000, 0x3f800000, 0xbf800000, 0x40000000, 1,
     0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
     0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0x7fd55555, 0x3eaaaaab,
     0x40490fdb, 0x4f000000, 0xcf000001, 0x3dcccccd, 0x12345678, 0x9abcdef0},
    {0,
     0x8000000000000000,
     0x3ff0000000000000,
     0xbff0000000000000,
     0x4000000000000000,
     1,
     0x8000000000000001,
     0x000fffffffffffff,
     0x0010000000000000,
     0x7fefffffffffffff,
     0xffefffffffffffff,
     0x7ff0000000000000,
     0xfff0000000000000,
     0x7ff8000000000000,
     0xfff8000000000000,
     0x7ff0000000000001,
     0x7ff5555555555555,
     0x3fd5555555555555,
     0x400921fb54442d18,
     0x43e0000000000000,
     0xc1e0000000200000,
     0x3fb999999999999a,
     0x123456789abcdef0,
     0x9abcdef012345678}};

static bool is_float(vyre_type type) {
    return vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
}

/* Value `lane` of input `which` of a type; the two meet in many pairs, equal ones among them. */
static uint64_t input_bits(vyre_type type, uint32_t which, uint32_t lane) {
    uint32_t index = which && lane % 5 ? lane * 7 % LANES : lane;
    uint64_t bits =
        is_float(type) ? float_points[type - VYRE_TYPE_F16][index] : turning_points[index];
    uint32_t bytes = vyre_type_bytes(type);
    return bytes == 8 ? bits : bits & (((uint64_t)1 << bytes * 8) - 1);
}

static void open_sheet(sheet *s) {
    uint32_t buffers[VYRE_TYPE_COUNT][2];
    assert_null(vyre_builder_create("sheet", &s->b));
    for (uint32_t type = VYRE_TYPE_I8; type < VYRE_TYPE_COUNT; type++) {
        for (uint32_t which = 0; which < 2; which++) {
            char name[16];
            snprintf(name, sizeof name, "%s_%u", vyre_type_name((vyre_type)type), which);
            buffers[type][which] =
                vyre_build_buffer(s->b, name, VYRE_ACCESS_IN, (vyre_type)type, VYRE_NONE);
        }
        char name[16];
        snprintf(name, sizeof name, "%s_out", vyre_type_name((vyre_type)type));
        s->out[type] = vyre_build_buffer(s->b, name, VYRE_ACCESS_OUT, (vyre_type)type,
                                         vyre_build_size_const(s->b, LANES * EXPRESSIONS));
    }
    vyre_build_phase(s->b, &(vyre_phase_desc){.domain = {vyre_build_size_const(s->b, LANES)}});
    s->gid = vyre_build_position(s->b, VYRE_OP_GID, 0);
    for (uint32_t type = VYRE_TYPE_I8; type < VYRE_TYPE_COUNT; type++) {
        for (uint32_t which = 0; which < 2; which++) {
            s->in[type][which] = vyre_build_load(s->b, buffers[type][which], s->gid);
        }
    }
    /* Buffers hold no bool. */
    const uint32_t *halves = s->in[VYRE_TYPE_U16], *bytes = s->in[VYRE_TYPE_I8];
    s->in[VYRE_TYPE_BOOL][0] = vyre_build_op(s->b, VYRE_OP_LT, halves[0], halves[1], VYRE_NONE);
    s->in[VYRE_TYPE_BOOL][1] = vyre_build_op(s->b, VYRE_OP_LT, bytes[1], bytes[0], VYRE_NONE);
    s->count = 0;
}

static void compare(const vyre_program *program, const vyre_program *folded) {
    static uint64_t data[VYRE_TYPE_COUNT][2][LANES];
    vyre_input inputs[2 * VYRE_TYPE_COUNT];
    uint32_t count = 0;
    for (uint32_t type = VYRE_TYPE_I8; type < VYRE_TYPE_COUNT; type++) {
        for (uint32_t which = 0; which < 2; which++) {
            uint32_t bytes = vyre_type_bytes((vyre_type)type);
            uint8_t *to = (uint8_t *)data[type][which];
            for (uint32_t lane = 0; lane < LANES; lane++) {
                uint64_t bits = input_bits((vyre_type)type, which, lane);
                memcpy(to + (size_t)lane * bytes, &bits, bytes);
            }
            inputs[count++] = (vyre_input){to, (size_t)LANES * bytes};
        }
    }
    vyre_outputs expected = check_run_seed(program, (check_list){inputs, count}, 0);
    vyre_outputs found = check_run_seed(folded, (check_list){inputs, count}, 0);
    for (size_t i = 0; i < expected.count; i++) {
        size_t bytes = expected.items[i].size / (LANES * EXPRESSIONS);
        for (size_t k = 0; k < LANES * EXPRESSIONS; k++) {
            if (memcmp(expected.items[i].data + k * bytes, found.items[i].data + k * bytes,
                       bytes) != 0) {
                char *text;
                size_t size;
                assert_null(vyre_program_print(program, &text, &size));
                char store[32];
                snprintf(store, sizeof store, "+ %zuu;", k % EXPRESSIONS);
                char *at = strstr(text, store);
                fail_msg("expression %zu, lane %zu\n%.600s", k % EXPRESSIONS, k / EXPRESSIONS,
                         at ? at > text + 400 ? at - 400 : text : text);
            }
        }
    }
    vyre_outputs_free(&expected);
    vyre_outputs_free(&found);
}

static void close_sheet(sheet *s) {
    vyre_program *program, *folded, *rest;
    vyre_build_phase_end(s->b);
    vyre_status status = vyre_builder_finish(s->b, NULL, &program);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    vyre_builder_free(s->b);
    status = vyre_fold(program, &folded);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    s->programs++;
    if (folded) {
        compare(program, folded);
    }
    assert_null(vyre_dce(folded ? folded : program, &rest));
    s->before += vyre_program_ir(program)->inst_count;
    s->after += vyre_program_ir(rest ? rest : program)->inst_count;
    vyre_program_release(rest);
    vyre_program_release(folded);
    vyre_program_release(program);
}

/* Stores a value for every lane. */
static void keep(sheet *s, uint32_t value) {
    if (vyre_build_type(s->b, value) == VYRE_TYPE_BOOL) {
        value = vyre_build_convert(s->b, VYRE_TYPE_U8, value);
    }
    vyre_type type = vyre_build_type(s->b, value);
    uint32_t row =
        vyre_build_op(s->b, VYRE_OP_MUL, s->gid, vyre_build_u32(s->b, EXPRESSIONS), VYRE_NONE);
    uint32_t index =
        vyre_build_op(s->b, VYRE_OP_ADD, row, vyre_build_u32(s->b, s->count), VYRE_NONE);
    assert_int_not_equal(type, VYRE_TYPE_VOID);
    vyre_build_store(s->b, s->out[type], index, value);
    if (++s->count == EXPRESSIONS) {
        close_sheet(s);
        open_sheet(s);
    }
}

static uint32_t binary(sheet *s, vyre_op op, uint32_t a, uint32_t b) {
    return vyre_build_op(s->b, op, a, b, VYRE_NONE);
}

static uint32_t unary(sheet *s, vyre_op op, uint32_t a) {
    return vyre_build_op(s->b, op, a, VYRE_NONE, VYRE_NONE);
}

/* Operands are told by number, since those of a sheet end with it: two inputs, then constants. */
static uint32_t atom(sheet *s, vyre_type type, uint32_t which) {
    static const uint64_t numbers[] = {0, 1, 0xffffffffffffffff, 5, 2};
    uint32_t width = vyre_type_bytes(type) * 8;
    switch (which) {
    case 0:
    case 1: return s->in[type][which];
    case 7: return vyre_build_const(s->b, type, (uint64_t)1 << (width - 1));
    case 8: return vyre_build_const(s->b, type, ((uint64_t)1 << (width - 1)) - 1);
    default:
        return vyre_build_const(
            s->b, type, type == VYRE_TYPE_BOOL ? numbers[which - 2] & 1 : numbers[which - 2]);
    }
}

static uint32_t shift_count(sheet *s, uint32_t which) {
    static const uint32_t counts[] = {0, 3, 7, 40, 71};
    return which < 5 ? vyre_build_u32(s->b, counts[which]) : s->in[VYRE_TYPE_U32][0];
}

/* The forms an expression can have. */
#define OF_V1(op)
#define OF_V2(op) op,
#define BINARY(name, number, text, shape, rule, effects, cost, doc) OF_##shape(VYRE_OP_##name)
static const vyre_op arithmetic[] = {VYRE_OPS_ARITHMETIC(BINARY, BINARY) VYRE_OPS_INTEGER(
    BINARY, BINARY) VYRE_OPS_BITWISE(BINARY, BINARY)};
static const vyre_op shifts[] = {VYRE_OP_SHL, VYRE_OP_SHR, VYRE_OP_ROTL, VYRE_OP_ROTR};
static const vyre_op comparisons[] = {VYRE_OP_EQ, VYRE_OP_NE, VYRE_OP_LT, VYRE_OP_LE};
static const vyre_op single[] = {VYRE_OP_NOT, VYRE_OP_NEG, VYRE_OP_ABS, VYRE_OP_CLZ,
                                 VYRE_OP_POPCOUNT};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

enum { INNER_PAIRS = 9 };

/* Inner expression `form`; VYRE_NONE beyond the last, and where the type has none. */
static uint32_t inner(sheet *s, vyre_type type, uint32_t form, bool *out_last) {
    static const uint8_t pairs[INNER_PAIRS][2] = {{0, 1}, {0, 3}, {0, 4}, {0, 5}, {3, 0},
                                                  {5, 0}, {0, 7}, {0, 8}, {0, 6}};
    *out_last = false;
    if (form < COUNT(arithmetic) * INNER_PAIRS) {
        const uint8_t *pair = pairs[form % INNER_PAIRS];
        return binary(s, arithmetic[form / INNER_PAIRS], atom(s, type, pair[0]),
                      atom(s, type, pair[1]));
    }
    form -= COUNT(arithmetic) * INNER_PAIRS;
    if (form < COUNT(shifts) * 6) {
        return binary(s, shifts[form / 6], atom(s, type, 0), shift_count(s, form % 6));
    }
    form -= COUNT(shifts) * 6;
    if (form < COUNT(single)) {
        bool has_sign = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
        return (single[form] != VYRE_OP_NEG && single[form] != VYRE_OP_ABS) || has_sign
                   ? unary(s, single[form], atom(s, type, 0))
                   : VYRE_NONE;
    }
    form -= COUNT(single);
    switch (form) {
    case 0: return vyre_build_convert(s->b, type, s->in[VYRE_TYPE_BOOL][0]);
    case 1: return vyre_build_convert(s->b, type, s->in[VYRE_TYPE_U8][0]);
    case 2: return vyre_build_convert(s->b, type, s->in[VYRE_TYPE_I16][0]);
    case 3:
        return vyre_build_op(s->b, VYRE_OP_SELECT, s->in[VYRE_TYPE_BOOL][0], atom(s, type, 3),
                             atom(s, type, 2));
    case 4: return atom(s, type, 0);
    default: *out_last = true; return VYRE_NONE;
    }
}

static void integer_type(sheet *s, vyre_type type) {
    bool last = false, has_sign = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    /* An expression is built anew for each use: its sheet may be closed in between. */
#define KEEP(...)                                                                                  \
    do {                                                                                           \
        uint32_t in = inner(s, type, form, &last);                                                 \
        keep(s, __VA_ARGS__);                                                                      \
    } while (0)
    for (uint32_t form = 0; !last; form++) {
        if (inner(s, type, form, &last) == VYRE_NONE) {
            continue;
        }
        for (uint32_t other = 0; other < 9; other++) {
            for (size_t i = 0; i < COUNT(arithmetic); i++) {
                KEEP(binary(s, arithmetic[i], in, atom(s, type, other)));
                KEEP(binary(s, arithmetic[i], atom(s, type, other), in));
            }
            for (size_t i = 0; i < COUNT(comparisons); i++) {
                KEEP(binary(s, comparisons[i], in, atom(s, type, other)));
                KEEP(binary(s, comparisons[i], atom(s, type, other), in));
            }
        }
        for (uint32_t count = 0; count < 6; count++) {
            for (size_t i = 0; i < COUNT(shifts); i++) {
                KEEP(binary(s, shifts[i], in, shift_count(s, count)));
            }
        }
        for (size_t i = 0; i < COUNT(arithmetic); i++) {
            KEEP(binary(s, arithmetic[i], in, in));
        }
        for (size_t i = 0; i < COUNT(single); i++) {
            if ((single[i] != VYRE_OP_NEG && single[i] != VYRE_OP_ABS) || has_sign) {
                KEEP(unary(s, single[i], in));
            }
        }
        for (size_t i = 0; i < COUNT(comparisons); i++) {
            KEEP(unary(s, VYRE_OP_NOT, binary(s, comparisons[i], in, atom(s, type, 1))));
            KEEP(binary(s, comparisons[i], in, in));
        }
    }
#undef KEEP
}

static void integers(void **state) {
    (void)state;
    sheet s = {0};
    open_sheet(&s);
    for (uint32_t type = VYRE_TYPE_I8; type <= VYRE_TYPE_U64; type++) {
        integer_type(&s, (vyre_type)type);
    }
    close_sheet(&s);
    printf("%u programs, %u instructions, %u after folding\n", s.programs, s.before, s.after);
    assert_true(s.after < s.before);
}

/* Conditions, and choices between them and between numbers. */
static uint32_t condition(sheet *s, uint32_t which) {
    uint32_t p = s->in[VYRE_TYPE_BOOL][0], q = s->in[VYRE_TYPE_BOOL][1];
    switch (which) {
    case 0: return p;
    case 1: return q;
    case 2: return unary(s, VYRE_OP_NOT, p);
    case 3: return vyre_build_bool(s->b, false);
    case 4: return vyre_build_bool(s->b, true);
    case 5: return binary(s, VYRE_OP_AND, p, q);
    case 6: return binary(s, VYRE_OP_OR, p, q);
    case 7: return vyre_build_op(s->b, VYRE_OP_SELECT, p, q, unary(s, VYRE_OP_NOT, q));
    case 8: return binary(s, VYRE_OP_XOR, p, q);
    case 9: return binary(s, VYRE_OP_LT, s->in[VYRE_TYPE_F32][0], s->in[VYRE_TYPE_F32][1]);
    case 10: return binary(s, VYRE_OP_LE, s->in[VYRE_TYPE_F64][0], s->in[VYRE_TYPE_F64][1]);
    default: return unary(s, VYRE_OP_NOT, condition(s, 9));
    }
}

static uint32_t choice(sheet *s, vyre_type type, uint32_t which) {
    uint32_t p = s->in[VYRE_TYPE_BOOL][0];
    switch (which) {
    case 0:
    case 1: return s->in[type][which];
    case 2: return vyre_build_const(s->b, type, 0);
    default: return vyre_build_op(s->b, VYRE_OP_SELECT, p, s->in[type][1], s->in[type][0]);
    }
}

static void conditions(void **state) {
    (void)state;
    static const vyre_op ops[] = {VYRE_OP_AND, VYRE_OP_OR, VYRE_OP_XOR, VYRE_OP_EQ, VYRE_OP_NE};
    sheet s = {0};
    open_sheet(&s);
    for (uint32_t a = 0; a < 12; a++) {
        keep(&s, unary(&s, VYRE_OP_NOT, condition(&s, a)));
        keep(&s, vyre_build_convert(s.b, VYRE_TYPE_F32, condition(&s, a)));
        for (uint32_t b = 0; b < 12; b++) {
            for (size_t i = 0; i < COUNT(ops); i++) {
                keep(&s, binary(&s, ops[i], condition(&s, a), condition(&s, b)));
            }
            for (uint32_t c = 0; c < 12; c++) {
                keep(&s, vyre_build_op(s.b, VYRE_OP_SELECT, condition(&s, a), condition(&s, b),
                                       condition(&s, c)));
            }
        }
        for (uint32_t b = 0; b < 4; b++) {
            for (uint32_t c = 0; c < 4; c++) {
                keep(&s, vyre_build_op(s.b, VYRE_OP_SELECT, condition(&s, a),
                                       choice(&s, VYRE_TYPE_F32, b), choice(&s, VYRE_TYPE_F32, c)));
                keep(&s, vyre_build_op(s.b, VYRE_OP_SELECT, condition(&s, a),
                                       choice(&s, VYRE_TYPE_U8, b), choice(&s, VYRE_TYPE_U8, c)));
            }
        }
    }
    close_sheet(&s);
    assert_true(s.after < s.before);
}

static void conversions(void **state) {
    (void)state;
    sheet s = {0};
    open_sheet(&s);
    for (uint32_t a = VYRE_TYPE_BOOL; a < VYRE_TYPE_COUNT; a++) {
        for (uint32_t b = VYRE_TYPE_BOOL; b < VYRE_TYPE_COUNT; b++) {
            for (uint32_t c = VYRE_TYPE_BOOL; c < VYRE_TYPE_COUNT; c++) {
                keep(&s, vyre_build_convert(s.b, (vyre_type)c,
                                            vyre_build_convert(s.b, (vyre_type)b, s.in[a][0])));
                if (a > VYRE_TYPE_BOOL && b > VYRE_TYPE_BOOL && c > VYRE_TYPE_BOOL &&
                    vyre_type_bytes((vyre_type)a) == vyre_type_bytes((vyre_type)b) &&
                    vyre_type_bytes((vyre_type)b) == vyre_type_bytes((vyre_type)c)) {
                    keep(&s, vyre_build_bitcast(s.b, (vyre_type)c,
                                                vyre_build_bitcast(s.b, (vyre_type)b, s.in[a][0])));
                }
            }
        }
    }
    close_sheet(&s);
    assert_true(s.after < s.before);
}

static void floats(void **state) {
    (void)state;
    static const vyre_op ops[] = {VYRE_OP_ADD, VYRE_OP_SUB, VYRE_OP_MUL,
                                  VYRE_OP_DIV, VYRE_OP_MIN, VYRE_OP_MAX};
    sheet s = {0};
    open_sheet(&s);
    for (uint32_t t = VYRE_TYPE_F16; t < VYRE_TYPE_COUNT; t++) {
        vyre_type type = (vyre_type)t;
        uint32_t width = vyre_type_bytes(type) * 8;
        uint32_t fraction = type == VYRE_TYPE_F16    ? 10
                            : type == VYRE_TYPE_BF16 ? 7
                            : type == VYRE_TYPE_F32  ? 23
                                                     : 52;
        uint64_t exponents = (uint64_t)1 << (width - 1 - fraction);
        for (uint64_t e = 0;
             e<exponents; e += exponents> 256 && e > 4 && e < exponents - 6 ? 7 : 1) {
            for (uint64_t sign = 0; sign < 2; sign++) {
                uint64_t bits = e << fraction | sign << (width - 1);
                keep(&s, binary(&s, VYRE_OP_DIV, s.in[t][0], vyre_build_const(s.b, type, bits)));
                keep(&s,
                     binary(&s, VYRE_OP_DIV, s.in[t][1], vyre_build_const(s.b, type, bits | 1)));
            }
        }
        for (size_t i = 0; i < COUNT(ops); i++) {
            for (uint32_t lane = 0; lane < LANES; lane++) {
                keep(&s, binary(&s, ops[i], s.in[t][0],
                                vyre_build_const(s.b, type, input_bits(type, 0, lane))));
                keep(&s, binary(&s, ops[i], vyre_build_const(s.b, type, input_bits(type, 1, lane)),
                                vyre_build_const(s.b, type, input_bits(type, 0, lane))));
            }
            keep(&s, binary(&s, ops[i], s.in[t][0], s.in[t][0]));
        }
        for (size_t i = 0; i < COUNT(comparisons); i++) {
            keep(&s, binary(&s, comparisons[i], s.in[t][0], s.in[t][0]));
            keep(&s, unary(&s, VYRE_OP_NOT, binary(&s, comparisons[i], s.in[t][0], s.in[t][1])));
        }
        for (int i = 0; i < 4; i++) {
            uint32_t in = unary(&s, i & 1 ? VYRE_OP_NEG : VYRE_OP_ABS, s.in[t][0]);
            keep(&s, unary(&s, i & 2 ? VYRE_OP_NEG : VYRE_OP_ABS, in));
        }
    }
    close_sheet(&s);
    assert_true(s.after < s.before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(conditions),
        cmocka_unit_test(conversions),
        cmocka_unit_test(floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
