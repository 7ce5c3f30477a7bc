/* f16 and bf16: arithmetic on them becomes arithmetic on f32 and on their bits. */
#include <stdio.h>

#include "base/status.h"
#include "pass/correct_code.h"

/* Whether the device does an operation that stands in place of this one wrongly, though no number
 * is subnormal. */
static bool needs_more(const vyre_corrections *needed, vyre_op op) {
    uint32_t always = VYRE_CORRECT_LINEAR | VYRE_CORRECT_COMPARE;
    uint32_t of_op = op == VYRE_OP_DIV       ? VYRE_CORRECT_DIV
                     : op == VYRE_OP_SQRT    ? VYRE_CORRECT_SQRT
                     : op == VYRE_OP_CONVERT ? VYRE_CORRECT_CONVERT
                                             : VYRE_CORRECT_ROUND;
    bool by_f64 =
        op == VYRE_OP_CONVERT && needed->f64 & (VYRE_CORRECT_ABSENT | VYRE_CORRECT_CONVERT);
    return needed->f32 & (always | of_op) || by_f64;
}

static bool takes(const correct_state *state, vyre_op op, vyre_type type) {
    return type == VYRE_TYPE_BF16 ||
           (type == VYRE_TYPE_F16 && (state->is_last || needs_more(&state->needed, op)));
}

static uint32_t call(vyre_rebuild *r, const char *first, const char *second, vyre_type type,
                     const uint32_t *operands, uint32_t count) {
    char name[32];
    snprintf(name, sizeof name, "%s_%s", first, second);
    return correct_call(r, CORRECT_HALF, name, type, operands, count);
}

static uint32_t constant_one(vyre_rebuild *r, vyre_type type) {
    return vyre_build_const(r->to, type, type == VYRE_TYPE_F16 ? 0x3c00 : 0x3f80);
}

/* From a narrow float to anything but itself; the way leads over f32, which holds it. */
static uint32_t widen(vyre_rebuild *r, vyre_type from, vyre_type to, uint32_t value) {
    if (to == VYRE_TYPE_BOOL) {
        uint32_t magnitude =
            vyre_build_op(r->to, VYRE_OP_AND, correct_bits(r, value),
                          vyre_build_const(r->to, VYRE_TYPE_U16, 0x7fff), VYRE_NONE);
        return vyre_build_op(r->to, VYRE_OP_NE, magnitude,
                             vyre_build_const(r->to, VYRE_TYPE_U16, 0), VYRE_NONE);
    }
    uint32_t single = call(r, vyre_type_name(from), "f32", VYRE_TYPE_F32, &value, 1);
    return correct_is_half(to) ? call(r, "f32", vyre_type_name(to), to, &single, 1)
                               : vyre_build_convert(r->to, to, single);
}

/* To a narrow float: f32 holds the narrow integers, and what does not fit has a function. */
static uint32_t narrow(vyre_rebuild *r, vyre_type from, vyre_type to, uint32_t value) {
    bool is_signed = vyre_lookup_class(from) == VYRE_CLASS_SIGNED;
    if (from == VYRE_TYPE_BOOL) {
        return vyre_build_op(r->to, VYRE_OP_SELECT, value, constant_one(r, to),
                             vyre_build_const(r->to, to, 0));
    }
    if (from == VYRE_TYPE_F64) {
        return call(r, "f64", vyre_type_name(to), to, &value, 1);
    }
    if (vyre_type_bytes(from) <= 2 || from == VYRE_TYPE_F32) {
        uint32_t single = vyre_build_convert(r->to, VYRE_TYPE_F32, value);
        return call(r, "f32", vyre_type_name(to), to, &single, 1);
    }
    uint32_t wide = vyre_build_convert(r->to, is_signed ? VYRE_TYPE_I64 : VYRE_TYPE_U64, value);
    return call(r, is_signed ? "i64" : "u64", vyre_type_name(to), to, &wide, 1);
}

static bool replace(vyre_rebuild *r, uint32_t at) {
    correct_state *state = r->user;
    const vyre_inst *inst = &r->ir->insts[at];
    vyre_op op = vyre_inst_op(inst);
    vyre_list list = vyre_inst_operands(r->ir, inst);
    if (correct_is_bitwise(op) || !list.count) {
        return false;
    }
    vyre_type from = vyre_operand_type(r->ir, list.items[0]), to = vyre_inst_type(inst);
    if (!takes(state, op, from) && !takes(state, op, to)) {
        return false;
    }
    state->changed = true;
    uint32_t operands[3];
    for (uint32_t i = 0; i < list.count; i++) {
        operands[i] = vyre_rebuild_operand(r, list.items[i]);
    }
    if (op != VYRE_OP_CONVERT) {
        r->values[at] =
            call(r, vyre_lookup_op(op)->name, vyre_type_name(from), to, operands, list.count);
    } else {
        r->values[at] = correct_is_half(from) ? widen(r, from, to, operands[0])
                                              : narrow(r, from, to, operands[0]);
    }
    return true;
}

vyre_status correct_halves(const vyre_program *program, correct_state *state,
                           vyre_program **out_program) {
    return correct_run(program, (vyre_rebuild){.replace = replace}, state, out_program);
}
