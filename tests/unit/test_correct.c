/* Corrections of floats: every operation on every type, corrected for a worse device, run on an
 * exact one and on such a worse one (tests/unit/worsen.h), against ir/eval bit for bit. */
#include <stdlib.h>

#include "base/alloc.h"
#include "pass/correct.h"
#include "pass/pass.h"
#include "tests/unit/eval_check.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/reference_check.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"
#include "tests/unit/worsen.h"

#include <vyre/reference.h>
#include <vyre/vyre.h>

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

/* Devices */

typedef struct worse_device {
    const char *name;
    vyre_corrections needed;
} worse_device;

static const worse_device devices[] = {
    {"exact", {0, 0}},
    {"unfused", {FMA, FMA}},
    {"unfused single", {FMA, 0}},
    {"unfused without f64", {FMA, ABSENT}},
    {"flushing", {FLUSH, FLUSH}},
    {"flushing single", {FLUSH, 0}},
    {"flushing sums", {VYRE_CORRECT_FLUSHED(LINEAR), VYRE_CORRECT_FLUSHED(LINEAR)}},
    {"flushing comparisons, loose roots",
     {VYRE_CORRECT_FLUSHED(SQRT | FMA | CONVERT | COMPARE) | SQRT, DIV}},
    {"flushing quotients", {VYRE_CORRECT_FLUSHED(DIV | ROUND), VYRE_CORRECT_FLUSHED(DIV | ROUND)}},
    {"loose quotients", {DIV | SQRT, DIV | SQRT}},
    {"flushing and loose", {FLUSH | DIV | SQRT, DIV | SQRT}},
    {"flushing both and loose", {FLUSH | DIV | SQRT | FMA, FLUSH | DIV | SQRT}},
    {"flushing, loose and unfused", {FLUSH | DIV | SQRT | FMA, FLUSH | DIV | SQRT | FMA}},
    {"without f64", {0, ABSENT}},
    {"flushing without f64", {FLUSH, ABSENT}},
    {"wrong sums", {LINEAR, LINEAR}},
    {"wrong conversions", {CONVERT | FLUSH, CONVERT}},
    {"wrong whole numbers", {ROUND, ROUND}},
    {"wrong comparisons", {COMPARE | FLUSH | DIV | SQRT | FMA, COMPARE | DIV | SQRT | FMA}},
    {"wrong", {VYRE_CORRECT_ALL & ~ABSENT, VYRE_CORRECT_ALL & ~ABSENT}},
};
enum { DEVICES = sizeof devices / sizeof *devices };

/* Operands */

typedef struct float_layout {
    uint32_t bits, mantissa;
} float_layout;

static float_layout layout_of(vyre_type type) {
    switch (type) {
    case VYRE_TYPE_F16: return (float_layout){16, 10};
    case VYRE_TYPE_BF16: return (float_layout){16, 7};
    case VYRE_TYPE_F32: return (float_layout){32, 23};
    default: return (float_layout){64, 52};
    }
}

/* Of any size, with few or many digits, at ends of ranges. */
static uint64_t float_operand(vyre_type type) {
    float_layout f = layout_of(type);
    uint64_t one = (uint64_t)1 << f.mantissa, fraction = eval_random() & (one - 1);
    uint32_t fields = 1u << (f.bits - 1 - f.mantissa);
    uint64_t bias = fields / 2 - 1, field = (uint64_t)eval_random_in(0, (int)fields - 1);
    uint64_t sign = (eval_random() & 1) << (f.bits - 1);
    switch (eval_random() % 10) {
    case 0: field = 0; break;
    case 1: field = (uint64_t)eval_random_in(0, 3); break;
    case 2: fraction &= one - (one >> (eval_random() % 8)); break;
    case 3: fraction = eval_random() & 1 ? eval_random() & 3 : one - 1 - (eval_random() & 3); break;
    case 4: field = bias - 4 + eval_random() % (f.mantissa + 12); break;
    case 5: field = fields - 1 - eval_random() % 4; break;
    case 6: field = bias / 2 - 4 + eval_random() % 8; break;
    case 7: fraction = 0; break;
    default: break;
    }
    if (field == fields - 1 && eval_random() % 4) {
        fraction = 0; /* more infinities than NaNs */
    }
    if (field == 0 && eval_random() % 6 == 0) {
        fraction = eval_random() & 1;
    }
    field = field < fields ? field : fields - 1;
    return sign | field << f.mantissa | fraction;
}

static uint64_t any_operand(vyre_type type) {
    uint64_t bits = eval_random();
    if (vyre_lookup_class(type) == VYRE_CLASS_FLOAT) {
        return float_operand(type);
    }
    if (type == VYRE_TYPE_BOOL) {
        return bits & 1;
    }
    bits = bits >> eval_random() % 64;
    bits = eval_random() & 1 ? ~bits : bits;
    bits += eval_random() % 3 ? 0 : 1;
    return bits & eval_mask(type);
}

static uint64_t near_bits(uint64_t bits, vyre_type type) {
    return (bits + (uint64_t)(eval_random_in(-2, 2))) & eval_mask(type);
}

/* Evaluates one operation on one vector. */
static uint64_t evaluate(vyre_op op, vyre_type type, const uint64_t *operands) {
    uint64_t memory[4] = {operands[0], operands[1], operands[2], 0};
    vyre_eval_find(op, type, type)(&memory[3], &memory[0], &memory[1], &memory[2], 1);
    return memory[3] & eval_mask(type);
}

/* Operands at random, and such as cancel, or whose results lie close to the middle of two. */
static void make_operands(const eval_case *c, uint64_t *out) {
    for (uint32_t i = 0; i < 3; i++) {
        out[i] = i < c->operands ? any_operand(c->types[i]) : 0;
    }
    vyre_type type = c->types[0];
    if (vyre_lookup_class(type) != VYRE_CLASS_FLOAT || eval_random() % 3) {
        return;
    }
    uint64_t sign = (uint64_t)1 << (vyre_type_bytes(type) * 8 - 1);
    if (c->op == VYRE_OP_FMA) {
        if (eval_random() & 1) { /* the product cancels, or is one half of the last digit */
            out[2] = near_bits(evaluate(VYRE_OP_MUL, type, out) ^ sign, type);
        } else {
            uint64_t few = (uint64_t)eval_random_in(1, 30);
            uint64_t shift = (uint64_t)eval_random_in(0, (int)layout_of(type).mantissa + 2);
            uint64_t exponent = shift << layout_of(type).mantissa;
            out[2] &=
                eval_random() & 1 ? ~(uint64_t)0 : ~(((uint64_t)1 << layout_of(type).mantissa) - 4);
            out[0] = out[2] - exponent;
            out[1] = (type == VYRE_TYPE_F64   ? 0x3ff0000000000000
                      : type == VYRE_TYPE_F32 ? 0x3f800000
                      : type == VYRE_TYPE_F16 ? 0x3c00
                                              : 0x3f80) +
                     few;
            out[0] &= eval_mask(type);
        }
    } else if (c->op == VYRE_OP_DIV) { /* of a product */
        uint64_t quotient = near_bits(float_operand(type), type);
        out[0] = near_bits(evaluate(VYRE_OP_MUL, type, (uint64_t[]){quotient, out[1], 0}), type);
    } else if (c->op == VYRE_OP_SQRT) {
        out[0] = near_bits(evaluate(VYRE_OP_MUL, type, (uint64_t[]){out[0], out[0], 0}), type);
    } else if (c->operands == 2) {
        out[1] = near_bits(out[0] ^ (eval_random() & 1 ? sign : 0), type);
    }
}

/* Programs */

static vyre_type memory_type(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : type;
}

static uint32_t build_operation(vyre_builder *b, const eval_case *c, const uint32_t *operands) {
    if (c->op == VYRE_OP_CONVERT) {
        return vyre_build_convert(b, c->result, operands[0]);
    }
    if (c->op == VYRE_OP_BITCAST) {
        return vyre_build_bitcast(b, c->result, operands[0]);
    }
    return vyre_build_op(b, (vyre_op)c->op, operands[0], operands[1], operands[2]);
}

/* r[gid] = operation(a[gid], b[gid], c[gid]) */
static vyre_program *build(const eval_case *c) {
    static const char *const names[] = {"a", "b", "c"};
    vyre_builder *b;
    expect_ok(vyre_builder_create("operation", &b));
    uint32_t buffers[3], values[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    for (uint32_t i = 0; i < c->operands; i++) {
        buffers[i] =
            vyre_build_buffer(b, names[i], VYRE_ACCESS_IN, memory_type(c->types[i]), VYRE_NONE);
    }
    uint32_t result = vyre_build_buffer(b, "r", VYRE_ACCESS_OUT, memory_type(c->result),
                                        vyre_build_size_len(b, buffers[0]));
    vyre_build_phase(b, &(vyre_phase_desc){.domain = {vyre_build_size_len(b, buffers[0])}});
    uint32_t at = vyre_build_position(b, VYRE_OP_GID, 0);
    for (uint32_t i = 0; i < c->operands; i++) {
        values[i] = vyre_build_convert(b, c->types[i], vyre_build_load(b, buffers[i], at));
    }
    uint32_t value = build_operation(b, c, values);
    vyre_build_store(b, result, at, vyre_build_convert(b, memory_type(c->result), value));
    vyre_build_phase_end(b);
    vyre_program *program;
    expect_ok(vyre_builder_finish(b, NULL, &program));
    vyre_builder_free(b);
    return program;
}

typedef struct vectors {
    size_t count;
    void *operands[3], *expected;
} vectors;

static vectors make_vectors(const eval_case *c, size_t count) {
    vectors v = {.count = count, .expected = calloc(count, vyre_type_bytes(c->result))};
    for (uint32_t i = 0; i < 3; i++) {
        v.operands[i] = calloc(count, 8);
    }
    for (size_t k = 0; k < count; k++) {
        uint64_t operands[3];
        make_operands(c, operands);
        for (uint32_t i = 0; i < c->operands; i++) {
            eval_put(v.operands[i], k, vyre_type_bytes(c->types[i]), operands[i]);
        }
    }
    c->evaluate(v.expected, v.operands[0], v.operands[1], v.operands[2], count);
    return v;
}

static void free_vectors(vectors *v) {
    for (uint32_t i = 0; i < 3; i++) {
        free(v->operands[i]);
    }
    free(v->expected);
}

static uint64_t bits_at(const void *memory, uint32_t bytes, size_t at) {
    uint64_t bits = 0;
    memcpy(&bits, (const char *)memory + at * bytes, bytes);
    return bits;
}

static void compare(const eval_case *c, const vectors *v, const vyre_output *found,
                    const char *device, const char *where) {
    uint32_t bytes = vyre_type_bytes(c->result);
    assert_int_equal(found->size, v->count * bytes);
    size_t wrong = 0, first = 0;
    for (size_t k = v->count; k-- > 0;) {
        if (bits_at(found->data, bytes, k) != bits_at(v->expected, bytes, k)) {
            wrong++;
            first = k;
        }
    }
    if (wrong) {
        char text[160];
        uint64_t operands[3] = {0};
        eval_describe(c, text, sizeof text);
        for (uint32_t i = 0; i < c->operands; i++) {
            operands[i] = bits_at(v->operands[i], vyre_type_bytes(c->types[i]), first);
        }
        fail_msg("%s, corrected for a device that is %s, on %s: %zu of %zu wrong; of %llx %llx "
                 "%llx it gave %llx, not %llx",
                 text, device, where, wrong, v->count, (unsigned long long)operands[0],
                 (unsigned long long)operands[1], (unsigned long long)operands[2],
                 (unsigned long long)bits_at(found->data, bytes, first),
                 (unsigned long long)bits_at(v->expected, bytes, first));
    }
}

static void run(const eval_case *c, const vyre_program *program, const vectors *v,
                const char *device, const char *where) {
    vyre_input inputs[3];
    for (uint32_t i = 0; i < c->operands; i++) {
        inputs[i] = (vyre_input){v->operands[i], v->count * vyre_type_bytes(c->types[i])};
    }
    vyre_outputs outputs;
    expect_ok(vyre_reference_run(program, inputs, c->operands, NULL, NULL, &outputs));
    compare(c, v, &outputs.items[0], device, where);
    vyre_outputs_free(&outputs);
}

static bool has_float(const eval_case *c) {
    return vyre_lookup_class(c->types[0]) == VYRE_CLASS_FLOAT ||
           vyre_lookup_class(c->result) == VYRE_CLASS_FLOAT;
}

/* The program as code would be written for it on that device. */
static vyre_program *corrected_for(const vyre_program *program, const vyre_corrections *needed) {
    vyre_program *corrected;
    expect_ok(vyre_lower_corrected(program, true, needed, &corrected));
    return corrected;
}

static void check_case(const eval_case *c, const worse_device *device, size_t count) {
    vectors v = make_vectors(c, count);
    vyre_program *program = build(c);
    vyre_program *corrected = corrected_for(program, &device->needed);
    vyre_program *worse = worsen(corrected, &device->needed);
    run(c, corrected, &v, device->name, "an exact one");
    run(c, worse, &v, device->name, "such a one");
    vyre_program_release(program);
    vyre_program_release(corrected);
    vyre_program_release(worse);
    free_vectors(&v);
}

static void every_operation_is_exact(void **state) {
    (void)state;
    for (size_t d = 0; d < DEVICES; d++) {
        eval_case c = {0};
        while (eval_next(&c)) {
            if (has_float(&c)) {
                check_case(&c, &devices[d], test_work(1500, 100));
            }
        }
    }
}

/* The operations whose corrections are the most intricate, on many more operands. */
static void arithmetic_is_exact(void **state) {
    (void)state;
    for (size_t d = 0; d < DEVICES; d++) {
        eval_case c = {0};
        while (eval_next(&c)) {
            bool is_arithmetic = (c.op >= VYRE_OP_ADD && c.op <= VYRE_OP_DIV) ||
                                 c.op == VYRE_OP_FMA || c.op == VYRE_OP_SQRT;
            if (is_arithmetic && has_float(&c)) {
                check_case(&c, &devices[d], test_work(12000, 200));
            }
        }
    }
}

typedef struct grain_case {
    const char *expression; /* of i, an i32, and t, a table of 1/4, -3 and 0 */
    bool stays;             /* no number is subnormal, so that the device does it right */
} grain_case;

/* Operations on numbers that cannot be subnormal stay as they are on a device that flushes; others,
 * however close, do not. */
static void grains_decide(void **state) {
    (void)state;
    static const grain_case cases[] = {
        {"f32(i) * 0.25 + 3", true},
        {"fma(f32(i), 0x1p-100f, 0x1p-126f)", true},
        {"fma(f32(i), 0x1p-127f, 1)", false},
        {"f32(i) * 0x1p-126f", true},
        {"f32(i) * 0x1p-127f", false},
        {"f32(i) * 0x1.8p-125f", true},
        {"f32(i) * 0x1.8p-126f", false},
        {"f32(i) * 0x1p-100f * 0x1p-40f", false},
        {"f32(i) * 0x1p-63f - f32(i / 3) * 0x1p-126f", true},
        {"(f32(i) * 0x1p-140f) + 1", false},
        {"sqrt(abs(f32(i)))", true},
        {"sqrt(abs(f32(i) * 0x1p-140f))", false},
        {"floor(f32(i) * 0x1p-2f)", true},
        {"floor(f32(i) * 0x1p-140f)", false},
        {"min(f32(i), -0x1p-126f) + max(t[i & 3], f32(i))", true},
        {"min(f32(i), -0x1p-149f)", false},
        {"select(bitcast<f32>(i) < 0.5, 1, 2)", true},
        {"select(bitcast<f32>(i) < 0, 1, 2)", false},
        {"f32(f64(i) * 0x1p-126)", true},
        {"f32(f64(i) * 0x1p-127)", false},
        {"f32(f64(t[i & 3]) + 1)", true},
        {"f32(f64(bitcast<f32>(i)) + 1)", false},
        {"t[i & 3] * f32(u8(i))", true},
        {"1 / f32(i)", false},
    };
    const vyre_corrections flushes = {FLUSH, 0};
    int32_t i[512];
    for (size_t k = 0; k < 512; k++) {
        i[k] = (int32_t)(eval_random() >> eval_random() % 64) * (k & 1 ? -1 : 1);
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[400];
        snprintf(text, sizeof text,
                 "const t: f32[3] = [0.25, -3, 0];\n"
                 "program p(x: buffer<i32>, y: out buffer<f32>[len(x)]) over x {\n"
                 "    let i = x[gid];\n    y[gid] = %s;\n}\n",
                 cases[k].expression);
        vyre_program *program = check_parse(text), *corrected;
        expect_ok(vyre_correct(program, &flushes, &corrected));
        if (cases[k].stays == (corrected != NULL)) {
            fail_msg("%s is %scorrected", cases[k].expression, corrected ? "" : "not ");
        }
        vyre_program *worse = worsen(corrected ? corrected : program, &flushes);
        vyre_input input = BYTES(i);
        vyre_outputs expected = check_run_seed(program, (check_list){&input, 1}, 0);
        vyre_outputs found = check_run_seed(worse, (check_list){&input, 1}, 0);
        if (memcmp(found.items[0].data, expected.items[0].data, sizeof i) != 0) {
            fail_msg("%s gives other bytes", cases[k].expression);
        }
        vyre_outputs_free(&expected);
        vyre_outputs_free(&found);
        vyre_program_release(program);
        vyre_program_release(corrected);
        vyre_program_release(worse);
    }
}

/* Stretches of several fma */

enum { STRETCH = 16, STRETCHES = 240, STRETCH_NUMBERS = STRETCH * STRETCHES };

/* Of x, from x[at]: what is put into y, from y[at]. */
static const char *const stretches[] = {
    /* the same operands in several, and sums of rows */
    "var t: f32[16]; for i in 0..4 { for j in 0..4 { t[i * 4 + j] = fma(x[at + i], x[at + 4 + j], "
    "x[at + 8 + (i ^ j)]); } } for i in 0..16 { y[at + i] = t[i]; }",
    /* a result is an addend of the next, from 0 and from a number */
    "var sum = 0.0f; for i in 0..8 { sum = fma(x[at + i], x[at + 8 + i], sum); } y[at] = sum;",
    "var sum = x[at]; for i in 0..7 { sum = fma(x[at + 1 + i], x[at + 8 + i], sum); } y[at] = sum;",
    /* in a loop that stays one, which a number of the wrong size may enter late */
    "var a = 0.0f; var b = x[at + 5]; var c = 0.0f; var d = 0.0f;\n"
    "for i in 0..len(x) - at { if i >= 100 { break; }\n"
    "  let p = x[at + i]; let q = x[at + (i ^ 1) % 16]; let s = x[at + (i + 3) % 16];\n"
    "  a = fma(p, q, a); b = fma(p, s, b); c = fma(q, s, c); d = fma(q, q, d); }\n"
    "y[at] = a; y[at + 1] = b; y[at + 2] = c; y[at + 3] = d;",
    /* sums that go through a loop in a loop, a branch, and other arithmetic */
    "var a = 0.0f; var b = 0.0f;\n"
    "for i in 0..min(len(x) - at, 20) {\n"
    "  for j in 0..i { a = fma(x[at + i], x[at + j % 16], a); b = fma(a, 0.5f, x[at + j % 16]); }\n"
    "  if x[at + i] > 1 { a = fma(b, x[at + i], a); } else { a = a - b; }\n"
    "}\n"
    "y[at] = a; y[at + 1] = b;",
    "var a = 0.0f;\n"
    "for i in 0..min(len(x) - at, 40) { a = fma(x[at + i], x[at + i / 2], a) * 0.5f; }\n"
    "y[at] = a;",
    /* a result is a factor, with constants */
    "let v = x[at]; var p = 0x1.8p-3f; for i in 0..9 { p = fma(p, v, 0x1.2p-2f + f32(i)); } "
    "y[at] = p; y[at + 1] = fma(p, x[at + 1], x[at + 2]);",
    "let v = x[at]; let p = fma(v, 0x1p-100f, 0x1.8p-120f); let q = fma(p, x[at + 1], 0x1p-110f); "
    "y[at] = fma(q, 0x1p-40f, p); y[at + 1] = fma(v, 0x1p-140f, x[at + 2]); y[at + 2] = fma(v, "
    "x[at + 2], 0x1p-130f); y[at + 3] = fma(v, 0, x[at + 1]); y[at + 4] = fma(inf, v, q);",
    /* other operations between them */
    "let p = fma(x[at], x[at + 1], x[at + 2]); let q = fma(-p, x[at + 3], abs(p)); y[at] = q; "
    "let s = fma(x[at + 4], x[at + 5], select(q < p, q, x[at + 6])); y[at + 1] = max(s, "
    "fma(x[at + 7], q, s)); y[at + 2] = bitcast<f32>(bitcast<u32>(s) ^ 1);",
    /* private arrays, and indices that come of results */
    "var t: f32[16]; for i in 0..16 { t[i] = fma(x[at + i], x[at + 15 - i], 1); }\n"
    "let k = u32(abs(t[3])) % 16; t[k] = fma(t[k], t[15 - k], x[at + k]);\n"
    "for i in 0..16 { y[at + i] = t[(i + k) % 16]; }",
    /* more than a group takes, of operands all different */
    "for i in 0..10 { for j in 0..10 { let k = i * 10 + j; y[at + k % 16] = fma(x[at + k % 16], "
    "x[at + k / 16 * 2], fma(x[at + k % 7], x[at + k % 11], y[at + k % 16])); } }",
    /* a block that nothing leaves */
    "let p = fma(x[at], x[at + 1], x[at + 2]); if x[at] > 2 { loop { y[at] = p; y[at + 1] = "
    "fma(x[at + 3], p, 1); return; } } y[at + 2] = fma(p, p, x[at]);",
};

/* Most near 1, with or without some that are not, or of any size, or small, or 0. */
static void fill_stretches(uint32_t *numbers, uint32_t how) {
    for (uint32_t i = 0; i < STRETCH_NUMBERS; i++) {
        uint32_t one = 0x3e000000 + (uint32_t)eval_random() % 0x02000000;
        one |= (uint32_t)(eval_random() & 1) << 31;
        bool is_odd = eval_random() % (how == 5 ? 2 : how == 1 ? 20 : 60) == 0;
        uint32_t odd = eval_random() & 1 ? (uint32_t)eval_random() & 0x807fffff
                                         : (uint32_t)float_operand(VYRE_TYPE_F32);
        uint32_t small = (uint32_t)eval_random() & 0x9fffffff;
        if (how == 5) {
            numbers[i] = eval_random() % 4 ? one & 0x80000000 : is_odd ? odd : small & 0x807fffff;
            continue;
        }
        numbers[i] = how == 3   ? (uint32_t)float_operand(VYRE_TYPE_F32)
                     : how == 4 ? small
                                : (!(eval_random() % 9) ? one & 0x80000000
                                   : how && is_odd      ? odd
                                                        : one);
    }
}

static void check_stretch(const vyre_program *program, const worse_device *device,
                          const char *stretch) {
    static uint32_t numbers[STRETCH_NUMBERS];
    vyre_program *corrected = corrected_for(program, &device->needed);
    vyre_program *worse = worsen(corrected, &device->needed);
    for (uint32_t how = 0; how < 6; how++) {
        fill_stretches(numbers, how);
        vyre_input input = BYTES(numbers);
        vyre_outputs expected = check_run_seed(program, (check_list){&input, 1}, 0);
        vyre_outputs found = check_run_seed(worse, (check_list){&input, 1}, 0);
        const uint32_t *right = (const void *)expected.items[0].data;
        const uint32_t *own = (const void *)found.items[0].data;
        for (size_t i = 0; i < STRETCH_NUMBERS; i++) {
            if (right[i] != own[i]) {
                fail_msg("on a device that is %s, with numbers %u, y[%zu] is %x, not %x:\n%s",
                         device->name, how, i, own[i], right[i], stretch);
            }
        }
        vyre_outputs_free(&expected);
        vyre_outputs_free(&found);
    }
    vyre_program_release(corrected);
    vyre_program_release(worse);
}

static vyre_program *parse_stretch(const char *stretch) {
    char text[1200];
    snprintf(text, sizeof text,
             "program p(x: buffer<f32>, y: out buffer<f32>[len(x)]) over len(x) / %d {\n"
             "    let at = gid * %d;\n%s\n}\n",
             STRETCH, STRETCH, stretch);
    return check_parse(text);
}

static void stretches_are_exact(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof stretches / sizeof *stretches; k++) {
        vyre_program *program = parse_stretch(stretches[k]);
        for (size_t d = 0; d < DEVICES; d++) {
            if (devices[d].needed.f32 & FLUSH) {
                check_stretch(program, &devices[d], stretches[k]);
            }
        }
        vyre_program_release(program);
    }
}

static uint32_t count_all(const vyre_program *program) {
    return vyre_program_ir(program)->inst_count;
}

/* Each fma by itself takes 150. */
static void stretches_are_short(void **state) {
    (void)state;
    const vyre_corrections flushes = {VYRE_CORRECT_FLUSHED(FMA), 0};
    vyre_program *program = parse_stretch(stretches[0]), *bare;
    expect_ok(vyre_lower_program(program, true, &bare));
    vyre_program *corrected = corrected_for(program, &flushes);
    assert_true(count_all(corrected) < count_all(bare) + 16 * 36 + 200);
    vyre_program_release(bare);
    vyre_program_release(corrected);
    vyre_program_release(program);
}

/* A program that the device runs as it is stays as it is, unless it has narrow floats. */
static void exact_devices_need_nothing(void **state) {
    (void)state;
    const vyre_corrections none = {0, 0};
    eval_case c = {0};
    while (eval_next(&c)) {
        vyre_program *program = build(&c), *corrected;
        bool is_half = false;
        for (uint32_t i = 0; i < 2; i++) {
            vyre_type type = i ? c.result : c.types[0];
            is_half |= type == VYRE_TYPE_F16 || type == VYRE_TYPE_BF16;
        }
        expect_ok(vyre_correct(program, &none, &corrected));
        assert_true(is_half || !corrected);
        vyre_program_release(corrected);
        vyre_program_release(program);
    }
}

/* Programs with control flow, memory and elementary functions. Each goes to one of the devices. */
static void random_programs_stay_exact(void **state) {
    (void)state;
    uint32_t refused = 0;
    uint64_t programs = test_work(150, 15);
    for (uint64_t seed = 1; seed <= programs; seed++) {
        conform_trial trial;
        const worse_device *device = &devices[seed % DEVICES];
        expect_ok(trial_generate(seed, &trial));
        check_list inputs = {0};
        vyre_input *items = conform_trial_inputs(&trial, trial.program, &inputs.count);
        inputs.items = items;
        vyre_program *corrected;
        vyre_status status = vyre_lower_corrected(trial.program, true, &device->needed, &corrected);
        if (status) { /* too large */
            assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
            vyre_status_free(status);
            refused++;
        } else {
            vyre_program *worse = worsen(corrected, &device->needed);
            vyre_outputs expected = check_run_seed(trial.program, inputs, 0);
            vyre_outputs found = check_run_seed(worse, inputs, 0);
            assert_int_equal(found.count, expected.count);
            for (size_t i = 0; i < found.count; i++) {
                if (memcmp(found.items[i].data, expected.items[i].data, found.items[i].size) != 0) {
                    fail_msg("seed %llu: other bytes on a device that is %s",
                             (unsigned long long)seed, device->name);
                }
            }
            vyre_outputs_free(&expected);
            vyre_outputs_free(&found);
            vyre_program_release(worse);
        }
        vyre_program_release(corrected);
        vyre_free(items);
        conform_trial_free(&trial);
    }
    assert_true(refused * 10 <= programs);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const vyre_corrections needed = {FLUSH | DIV, FMA};
    vyre_program *program = check_parse(
        "program p(x: buffer<f32>, y: inout buffer<f64>, z: inout buffer<f16>) over y {\n"
        "    z[gid] = z[gid] * f16(x[gid] / 3);\n"
        "    y[gid] = fma(y[gid], f64(x[gid]), 1);\n"
        "}\n");
    vyre_program *corrected; /* what is made once, the texts of the corrections, stays */
    expect_ok(vyre_lower_corrected(program, true, &needed, &corrected));
    vyre_program_release(corrected);
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        failing_allocator_start(n);
        vyre_status status = vyre_lower_corrected(program, true, &needed, &corrected);
        failed = failing_allocator_failed();
        assert_true(failed ? !corrected : !status && corrected);
        assert_true(!failed || vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY);
        vyre_status_free(status);
        vyre_program_release(corrected);
        failing_allocator_stop();
    }
    vyre_program_release(program);
}

static void corrections_are_printed(void **state) {
    (void)state;
    vyre_strbuf text = {0};
    vyre_corrections_print(&(vyre_corrections){FLUSH | FMA, 0}, &text);
    vyre_strbuf_puts(&text, "\n");
    vyre_corrections_print(
        &(vyre_corrections){VYRE_CORRECT_FLUSHED(FMA | COMPARE) | SQRT, VYRE_CORRECT_FLUSHED(FMA)},
        &text);
    vyre_strbuf_puts(&text, "\n");
    vyre_corrections_print(&(vyre_corrections){VYRE_CORRECT_ALL, ABSENT}, &text);
    assert_string_equal(vyre_strbuf_string(&text),
                        "f32: fma, subnormals; f64: none\n"
                        "f32: sqrt, subnormals of fma, comparisons; f64: subnormals of fma\n"
                        "f32: absent, + - *, /, sqrt, fma, conversions, rounding, comparisons, "
                        "subnormals; f64: absent");
    vyre_strbuf_free(&text);
}

static void devices_without_f32_are_refused(void **state) {
    (void)state;
    vyre_program *program =
                     check_parse("program p(y: inout buffer<f32>) over y { y[gid] = y[gid] + 1; }"),
                 *corrected;
    vyre_status status =
        vyre_lower_corrected(program, true, &(vyre_corrections){ABSENT, ABSENT}, &corrected);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
    assert_null(corrected);
    vyre_status_free(status);
    vyre_program_release(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail),
                                       cmocka_unit_test(corrections_are_printed),
                                       cmocka_unit_test(devices_without_f32_are_refused),
                                       cmocka_unit_test(exact_devices_need_nothing),
                                       cmocka_unit_test(grains_decide),
                                       cmocka_unit_test(stretches_are_short),
                                       cmocka_unit_test(stretches_are_exact),
                                       cmocka_unit_test(random_programs_stay_exact),
                                       cmocka_unit_test(every_operation_is_exact),
                                       cmocka_unit_test(arithmetic_is_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
