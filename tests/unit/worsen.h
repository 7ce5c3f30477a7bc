/* Devices whose floats are worse than docs/semantics.md asks for, made of good ones: a program is
 * rewritten so that each operation of f32 and f64 does what such a device would do, written as
 * operations again. So the code of corrections can be run where everything is exact.
 *
 *     worse = worsen(corrected, &(vyre_corrections){.f32 = VYRE_CORRECT_FLUSH});
 *
 * Each bit makes wrong what the correction of that bit repairs:
 *   FLUSHED(...)  subnormal operands and results of these become 0 of the same sign
 *   FLUSH    that of all; signs and moves keep them
 *   DIV SQRT results are up to two last digits off, some far more, depending on the operands
 *   FMA      rounds twice
 *   LINEAR CONVERT ROUND COMPARE   always wrong, so nothing may use them
 *   ABSENT   every operation of the type is a failure of the test */
#ifndef VYRE_TESTS_WORSEN_H
#define VYRE_TESTS_WORSEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/text.h>

#include "ir/cases.h"
#include "pass/correct.h"
#include "pass/rebuild.h"

/* Short names for tables of such devices. */
enum {
    FLUSH = VYRE_CORRECT_FLUSH,
    LINEAR = VYRE_CORRECT_LINEAR,
    DIV = VYRE_CORRECT_DIV,
    SQRT = VYRE_CORRECT_SQRT,
    FMA = VYRE_CORRECT_FMA,
    CONVERT = VYRE_CORRECT_CONVERT,
    ROUND = VYRE_CORRECT_ROUND,
    COMPARE = VYRE_CORRECT_COMPARE,
    ABSENT = VYRE_CORRECT_ABSENT
};

/* $F the type, $U its bits, $X the mask of the exponent, $S that of the sign. */
static const char worsen_text[] =
    "fn flushed(x: $U) -> $U { return select(x & $X == 0, x & $S, x); }\n"
    "fn number(x: $U) -> $F { return bitcast<$F>(flushed(x)); }\n"
    "fn bits_of(x: $F) -> $U { return flushed(bitcast<$U>(x)); }\n"
    /* Off by -2 to 2, where the neighbours are normal numbers. */
    "fn off(x: $U, key: $U) -> $U {\n"
    "    let noise = (key * 2654435761) >> 7;\n"
    "    let field = x & $X;\n"
    "    let safe = field > ($X >> 6) && field < $X - ($X >> 6);\n"
    "    let near = x + noise % 5 - 2;\n"
    "    let far = x + (($X & (~$X + 1)) >> 3);\n"
    "    return select(safe, select(noise % 61 == 0, far, near), x);\n"
    "}\n"
    "program neg_flush(x: $U, r: out buffer<$U>[1]) over 1 { r[0] = x ^ $S; }\n"
    "program abs_flush(x: $U, r: out buffer<$U>[1]) over 1 { r[0] = x & ~$S; }\n"
    "program sqrt_flush(x: $U, r: out buffer<$U>[1]) over 1 { r[0] = bits_of(sqrt(number(x))); }\n"
    "program floor_flush(x: $U, r: out buffer<$U>[1]) over 1 { r[0] = bits_of(floor(number(x))); "
    "}\n"
    "program ceil_flush(x: $U, r: out buffer<$U>[1]) over 1 { r[0] = bits_of(ceil(number(x))); }\n"
    "program trunc_flush(x: $U, r: out buffer<$U>[1]) over 1 { r[0] = bits_of(trunc(number(x))); "
    "}\n"
    "program round_flush(x: $U, r: out buffer<$U>[1]) over 1 { r[0] = bits_of(round(number(x))); "
    "}\n"
    "program add_flush(x: $U, y: $U, r: out buffer<$U>[1]) over 1 {\n"
    "    r[0] = bits_of(number(x) + number(y)); }\n"
    "program sub_flush(x: $U, y: $U, r: out buffer<$U>[1]) over 1 {\n"
    "    r[0] = bits_of(number(x) - number(y)); }\n"
    "program mul_flush(x: $U, y: $U, r: out buffer<$U>[1]) over 1 {\n"
    "    r[0] = bits_of(number(x) * number(y)); }\n"
    "program div_flush(x: $U, y: $U, r: out buffer<$U>[1]) over 1 {\n"
    "    r[0] = bits_of(number(x) / number(y)); }\n"
    "program min_flush(x: $U, y: $U, r: out buffer<$U>[1]) over 1 {\n"
    "    r[0] = bits_of(min(number(x), number(y))); }\n"
    "program max_flush(x: $U, y: $U, r: out buffer<$U>[1]) over 1 {\n"
    "    r[0] = bits_of(max(number(x), number(y))); }\n"
    "program fma_flush(x: $U, y: $U, z: $U, r: out buffer<$U>[1]) over 1 {\n"
    "    r[0] = bits_of(fma(number(x), number(y), number(z))); }\n"
    "program eq_flush(x: $U, y: $U, r: out buffer<u32>[1]) over 1 {\n"
    "    r[0] = u32(number(x) == number(y)); }\n"
    "program ne_flush(x: $U, y: $U, r: out buffer<u32>[1]) over 1 {\n"
    "    r[0] = u32(number(x) != number(y)); }\n"
    "program lt_flush(x: $U, y: $U, r: out buffer<u32>[1]) over 1 {\n"
    "    r[0] = u32(number(x) < number(y)); }\n"
    "program le_flush(x: $U, y: $U, r: out buffer<u32>[1]) over 1 {\n"
    "    r[0] = u32(number(x) <= number(y)); }\n"
    "program convert_flush(x: $U, r: out buffer<$U>[1]) over 1 { r[0] = flushed(x); }\n"
    "program sqrt_loose(x: $U, r: out buffer<$U>[1]) over 1 {\n"
    "    r[0] = off(bitcast<$U>(sqrt(bitcast<$F>(x))), x); }\n"
    "program div_loose(x: $U, y: $U, r: out buffer<$U>[1]) over 1 {\n"
    "    r[0] = off(bitcast<$U>(bitcast<$F>(x) / bitcast<$F>(y)), x ^ (y >> 3)); }\n"
    "program fma_loose(x: $U, y: $U, z: $U, r: out buffer<$U>[1]) over 1 {\n"
    "    r[0] = bitcast<$U>(bitcast<$F>(x) * bitcast<$F>(y) + bitcast<$F>(z)); }\n";

/* The text for a type, parsed. */
static inline vyre_module *worsen_module(vyre_type type) {
    bool is_wide = type == VYRE_TYPE_F64;
    static char text[2 * sizeof worsen_text];
    size_t used = 0;
    for (const char *from = worsen_text; *from; from++) {
        const char *put = NULL;
        if (*from == '$') {
            switch (*++from) {
            case 'F': put = is_wide ? "f64" : "f32"; break;
            case 'U': put = is_wide ? "u64" : "u32"; break;
            case 'X': put = is_wide ? "0x7ff0000000000000" : "0x7f800000"; break;
            default: put = is_wide ? "0x8000000000000000" : "0x80000000"; break;
            }
        }
        size_t length = put ? strlen(put) : 1;
        memcpy(text + used, put ? put : from, length);
        used += length;
    }
    vyre_module *module;
    vyre_status status = vyre_module_parse("worsen.vyre", text, used, NULL, &module);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    return module;
}

typedef struct worsen_state {
    vyre_corrections bad;
    bool flushes; /* the second round; the first makes results loose */
    vyre_module *modules[2];
} worsen_state;

static inline uint32_t worsen_bits(vyre_rebuild *r, uint32_t value) {
    vyre_type type = vyre_build_type(r->to, value);
    return type == VYRE_TYPE_F32   ? vyre_build_bitcast(r->to, VYRE_TYPE_U32, value)
           : type == VYRE_TYPE_F64 ? vyre_build_bitcast(r->to, VYRE_TYPE_U64, value)
                                   : value;
}

static inline uint32_t worsen_call(vyre_rebuild *r, const char *op, const char *how, vyre_type type,
                                   vyre_type result, const uint32_t *operands, uint32_t count) {
    worsen_state *state = r->user;
    char name[32];
    snprintf(name, sizeof name, "%s_%s", op, how);
    const vyre_program *function = vyre_module_find(state->modules[type == VYRE_TYPE_F64], name);
    assert_non_null(function);
    uint32_t bits[3];
    for (uint32_t i = 0; i < count; i++) {
        bits[i] = worsen_bits(r, operands[i]);
    }
    uint32_t value = vyre_rebuild_splice(r->to, function, name, bits);
    return result == VYRE_TYPE_F32 || result == VYRE_TYPE_F64
               ? vyre_build_bitcast(r->to, result, value)
               : vyre_build_convert(r->to, result, value);
}

static inline uint32_t worsen_of(const vyre_corrections *bad, vyre_type type) {
    return type == VYRE_TYPE_F32 ? bad->f32 : type == VYRE_TYPE_F64 ? bad->f64 : 0;
}

static inline bool worsen_convert(vyre_rebuild *r, uint32_t at, vyre_type from, vyre_type to) {
    worsen_state *state = r->user;
    uint32_t value = vyre_rebuild_operand(r, r->ir->insts[at].a);
    uint32_t bad = worsen_of(&state->bad, from) | worsen_of(&state->bad, to);
    if (!state->flushes && bad & VYRE_CORRECT_CONVERT) {
        if (vyre_lookup_class(to) == VYRE_CLASS_BOOL) {
            value = vyre_build_convert(r->to, to, value);
            r->values[at] = vyre_build_op(r->to, VYRE_OP_NOT, value, VYRE_NONE, VYRE_NONE);
        } else {
            r->values[at] = vyre_build_const(r->to, to, 7);
        }
        return true;
    }
    bool to_bool = vyre_lookup_class(to) == VYRE_CLASS_BOOL;
    uint32_t flush = VYRE_CORRECT_FLUSHED(to_bool ? VYRE_CORRECT_COMPARE : VYRE_CORRECT_CONVERT);
    if (!state->flushes || !(bad & flush)) {
        return false;
    }
    if (worsen_of(&state->bad, from) & flush) {
        value = worsen_call(r, "convert", "flush", from, from, &value, 1);
    }
    value = vyre_build_convert(r->to, to, value);
    if (worsen_of(&state->bad, to) & flush) {
        value = worsen_call(r, "convert", "flush", to, to, &value, 1);
    }
    r->values[at] = value;
    return true;
}

/* Always another result. */
static inline uint32_t worsen_spoil(vyre_rebuild *r, vyre_type type, uint32_t value) {
    if (type == VYRE_TYPE_BOOL) {
        return vyre_build_op(r->to, VYRE_OP_NOT, value, VYRE_NONE, VYRE_NONE);
    }
    uint32_t bits = worsen_bits(r, value);
    uint32_t one = vyre_build_const(r->to, vyre_build_type(r->to, bits), 1);
    return vyre_build_bitcast(r->to, type, vyre_build_op(r->to, VYRE_OP_XOR, bits, one, VYRE_NONE));
}

static inline bool worsen_inst(vyre_rebuild *r, uint32_t at) {
    worsen_state *state = r->user;
    const vyre_inst *inst = &r->ir->insts[at];
    vyre_op op = vyre_inst_op(inst);
    vyre_list list = vyre_inst_operands(r->ir, inst);
    bool is_pure = false, spoils = false, loosens = false;
    uint32_t flush = 0;
    vyre_type type = list.count ? vyre_operand_type(r->ir, list.items[0]) : VYRE_TYPE_VOID;
    vyre_type result = vyre_inst_type(inst);
    uint32_t bad = worsen_of(&state->bad, type);
    switch (op) {
    case VYRE_ANY_OF(LINEAR):
        is_pure = true, spoils = bad & VYRE_CORRECT_LINEAR, flush = VYRE_CORRECT_LINEAR;
        break;
    case VYRE_OP_DIV:
        is_pure = true, loosens = bad & VYRE_CORRECT_DIV, flush = VYRE_CORRECT_DIV;
        break;
    case VYRE_OP_SQRT:
        is_pure = true, loosens = bad & VYRE_CORRECT_SQRT, flush = VYRE_CORRECT_SQRT;
        break;
    case VYRE_OP_FMA:
        is_pure = true, loosens = bad & VYRE_CORRECT_FMA, spoils = bad & VYRE_CORRECT_LINEAR;
        flush = VYRE_CORRECT_FMA;
        break;
    case VYRE_ONE_OF(FLOOR, CEIL, TRUNC, ROUND):
        is_pure = true, spoils = bad & VYRE_CORRECT_ROUND, flush = VYRE_CORRECT_ROUND;
        break;
    case VYRE_ANY_OF(COMPARE, EXTREME):
        is_pure = true, spoils = bad & VYRE_CORRECT_COMPARE, flush = VYRE_CORRECT_COMPARE;
        break;
    case VYRE_ANY_OF(SIGN): is_pure = true; break;
    case VYRE_OP_CONVERT: break;
    case VYRE_ONE_OF(COPYSIGN, SELECT, BITCAST, REM):
    case VYRE_ANY_OF(SURROUNDINGS, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE, INTEGER, LOGIC, BITS,
                     ELEMENTARY):
        return false;
    }
    assert_false(type == VYRE_TYPE_F16 || type == VYRE_TYPE_BF16
                     ? op != VYRE_OP_NEG && op != VYRE_OP_ABS
                     : false);
    if (op == VYRE_OP_CONVERT) {
        if ((worsen_of(&state->bad, type) | worsen_of(&state->bad, result)) & VYRE_CORRECT_ABSENT) {
            fail_msg("%s to %s is left", vyre_type_name(type), vyre_type_name(result));
        }
        return worsen_convert(r, at, type, result);
    }
    if (!is_pure || (type != VYRE_TYPE_F32 && type != VYRE_TYPE_F64)) {
        return false;
    }
    assert_false(bad & VYRE_CORRECT_ABSENT);
    uint32_t operands[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    for (uint32_t i = 0; i < list.count; i++) {
        operands[i] = vyre_rebuild_operand(r, list.items[i]);
    }
    const char *name = vyre_lookup_op(op)->name;
    if (state->flushes) {
        if (!(bad & VYRE_CORRECT_FLUSHED(flush))) {
            return false;
        }
        r->values[at] = worsen_call(r, name, "flush", type, result, operands, list.count);
    } else if (spoils) {
        r->values[at] = worsen_spoil(
            r, result, vyre_build_op(r->to, op, operands[0], operands[1], operands[2]));
    } else if (loosens) {
        r->values[at] = worsen_call(r, name, "loose", type, result, operands, list.count);
    } else {
        return false;
    }
    return true;
}

static inline vyre_program *worsen_round(const vyre_program *program, worsen_state *state) {
    vyre_program *worse;
    vyre_rebuild hooks = {.replace = worsen_inst, .user = state};
    vyre_status status = vyre_rebuild_run(program, hooks, &worse);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    return worse;
}

/* The program as a worse device would run it. Release it. */
static inline vyre_program *worsen(const vyre_program *program, const vyre_corrections *bad) {
    static vyre_module *modules[2]; /* as long as the process */
    if (!modules[0]) {
        modules[0] = worsen_module(VYRE_TYPE_F32);
        modules[1] = worsen_module(VYRE_TYPE_F64);
    }
    worsen_state state = {*bad, false, {modules[0], modules[1]}};
    vyre_program *loose = worsen_round(program, &state);
    state.flushes = true;
    vyre_program *worse = worsen_round(loose, &state);
    vyre_program_release(loose);
    return worse;
}

#endif
