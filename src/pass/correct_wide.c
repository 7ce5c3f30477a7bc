/* f32 and f64: operations that the device does wrongly become functions that do them right. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "ir/cases.h"
#include "pass/correct_code.h"
#include "pass/correct_group.h"

static uint32_t needs(const vyre_corrections *needed, vyre_type type) {
    return type == VYRE_TYPE_F32 ? needed->f32 : type == VYRE_TYPE_F64 ? needed->f64 : 0;
}

/* Whether f64 has the sums and products that an fma of f32 takes. */
static bool has_wide(const vyre_corrections *needed) {
    return !(needed->f64 & (VYRE_CORRECT_ABSENT | VYRE_CORRECT_LINEAR | VYRE_CORRECT_CONVERT |
                            VYRE_CORRECT_COMPARE)) &&
           !(needed->f32 & (VYRE_CORRECT_CONVERT | VYRE_CORRECT_FLUSHED(VYRE_CORRECT_CONVERT)));
}

static const char *fma_variant(const vyre_corrections *needed, vyre_type type, uint32_t need) {
    uint32_t flush = need & VYRE_CORRECT_FLUSHED(VYRE_CORRECT_FMA);
    if (!(need & (VYRE_CORRECT_LINEAR | VYRE_CORRECT_FMA | VYRE_CORRECT_COMPARE))) {
        return flush ? "flush" : NULL;
    }
    if (!(need & (VYRE_CORRECT_LINEAR | VYRE_CORRECT_FMA))) {
        return flush ? "soft" : NULL;
    }
    if (type == VYRE_TYPE_F32) {
        return has_wide(needed) ? "wide" : "soft";
    }
    return need & (VYRE_CORRECT_LINEAR | VYRE_CORRECT_FLUSH | VYRE_CORRECT_COMPARE) ? "soft"
                                                                                    : "exact";
}

/* Of an operation that is inexact by itself (`bit`), flushed, or both. */
static const char *variant(uint32_t need, uint32_t bit) {
    const char *by_device = need & VYRE_CORRECT_COMPARE ? "soft" : "flush";
    if (need & bit) {
        bool has_rest = !(need & (VYRE_CORRECT_LINEAR | VYRE_CORRECT_FMA | VYRE_CORRECT_COMPARE));
        return bit != VYRE_CORRECT_LINEAR && has_rest ? "estimate" : "soft";
    }
    return need & VYRE_CORRECT_FLUSHED(bit) ? by_device : NULL;
}

/* Which function an operation of f32 or f64 on the device needs; NULL if it is right as it is. */
static const char *variant_of(const vyre_corrections *needed, vyre_op op, vyre_type type) {
    uint32_t need = needs(needed, type);
    uint32_t rounds = VYRE_CORRECT_ROUND | VYRE_CORRECT_FLUSHED(VYRE_CORRECT_ROUND);
    uint32_t compares = VYRE_CORRECT_COMPARE | VYRE_CORRECT_FLUSHED(VYRE_CORRECT_COMPARE);
    if (need & VYRE_CORRECT_ABSENT) {
        return "soft";
    }
    switch (op) {
    case VYRE_ANY_OF(LINEAR): return variant(need, VYRE_CORRECT_LINEAR);
    case VYRE_OP_DIV: return variant(need, VYRE_CORRECT_DIV);
    case VYRE_OP_SQRT: return variant(need, VYRE_CORRECT_SQRT);
    case VYRE_OP_FMA: return fma_variant(needed, type, need);
    case VYRE_ONE_OF(FLOOR, CEIL): return need & rounds ? "soft" : NULL;
    case VYRE_ONE_OF(TRUNC, ROUND): return need & VYRE_CORRECT_ROUND ? "soft" : NULL;
    case VYRE_ANY_OF(COMPARE, EXTREME): return need & compares ? "soft" : NULL;
    case VYRE_ANY_OF(SIGN, SURROUNDINGS, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE, INTEGER, LOGIC,
                     BITS, ELEMENTARY, CHOICE):
    case VYRE_ONE_OF(REM, COPYSIGN): break;
    }
    return NULL;
}

static uint32_t call(vyre_rebuild *r, correct_text text, const char *first, const char *second,
                     const char *third, vyre_type type, const uint32_t *operands, uint32_t count) {
    char name[48];
    snprintf(name, sizeof name, "%s_%s_%s", first, second, third);
    return correct_call(r, text, name, type, operands, count);
}

static correct_text text_of(vyre_type type) {
    return type == VYRE_TYPE_F64 ? CORRECT_F64 : CORRECT_F32;
}

/* Signs. Devices that flush subnormals may do so here, too. */

static bool replace_sign(vyre_rebuild *r, uint32_t at, vyre_op op, vyre_type type,
                         const vyre_corrections *needed) {
    const vyre_inst *inst = &r->ir->insts[at];
    if (!(needs(needed, type) & (VYRE_CORRECT_FLUSH | VYRE_CORRECT_ABSENT))) {
        return false;
    }
    vyre_type bits_type = correct_bits_type(type);
    uint64_t sign = (uint64_t)1 << (vyre_type_bytes(type) * 8 - 1);
    uint32_t value = correct_bits(r, vyre_rebuild_operand(r, inst->a));
    uint32_t sign_bit = vyre_build_const(r->to, bits_type, sign);
    uint32_t others = vyre_build_const(r->to, bits_type, sign - 1);
    uint32_t result;
    if (op == VYRE_OP_NEG) {
        result = vyre_build_op(r->to, VYRE_OP_XOR, value, sign_bit, VYRE_NONE);
    } else {
        result = vyre_build_op(r->to, VYRE_OP_AND, value, others, VYRE_NONE);
        if (op == VYRE_OP_COPYSIGN) {
            uint32_t other = correct_bits(r, vyre_rebuild_operand(r, inst->b));
            other = vyre_build_op(r->to, VYRE_OP_AND, other, sign_bit, VYRE_NONE);
            result = vyre_build_op(r->to, VYRE_OP_OR, result, other, VYRE_NONE);
        }
    }
    r->values[at] = vyre_build_bitcast(r->to, type, result);
    return true;
}

/* Conversions */

static uint32_t to_bool(vyre_rebuild *r, vyre_type from, uint32_t value) {
    vyre_type bits_type = correct_bits_type(from);
    uint32_t twice = vyre_build_op(r->to, VYRE_OP_SHL, correct_bits(r, value),
                                   vyre_build_u32(r->to, 1), VYRE_NONE);
    return vyre_build_op(r->to, VYRE_OP_NE, twice, vyre_build_const(r->to, bits_type, 0),
                         VYRE_NONE);
}

static uint32_t from_bool(vyre_rebuild *r, vyre_type to, uint32_t value) {
    uint64_t one = to == VYRE_TYPE_F32 ? 0x3f800000 : 0x3ff0000000000000;
    return vyre_build_op(r->to, VYRE_OP_SELECT, value, vyre_build_const(r->to, to, one),
                         vyre_build_const(r->to, to, 0));
}

/* To an integer: the functions give 32 and 64 bits, and narrower types are clamped from there. */
static uint32_t to_integer(vyre_rebuild *r, vyre_type from, vyre_type to, uint32_t value) {
    bool is_signed = vyre_lookup_class(to) == VYRE_CLASS_SIGNED;
    bool is_wide = vyre_type_bytes(to) == 8;
    vyre_type by = is_signed ? (is_wide ? VYRE_TYPE_I64 : VYRE_TYPE_I32)
                             : (is_wide ? VYRE_TYPE_U64 : VYRE_TYPE_U32);
    uint32_t result =
        call(r, text_of(from), vyre_type_name(from), vyre_type_name(by), "soft", by, &value, 1);
    uint32_t width = vyre_type_bytes(to) * 8;
    if (width < 32) {
        uint64_t most = ((uint64_t)1 << (is_signed ? width - 1 : width)) - 1;
        result =
            vyre_build_op(r->to, VYRE_OP_MIN, result, vyre_build_const(r->to, by, most), VYRE_NONE);
        if (is_signed) {
            result = vyre_build_op(r->to, VYRE_OP_MAX, result, vyre_build_const(r->to, by, ~most),
                                   VYRE_NONE);
        }
    }
    return vyre_build_convert(r->to, to, result);
}

static uint32_t from_integer(vyre_rebuild *r, vyre_type from, vyre_type to, uint32_t value) {
    bool is_signed = vyre_lookup_class(from) == VYRE_CLASS_SIGNED;
    vyre_type by = is_signed ? VYRE_TYPE_I64 : VYRE_TYPE_U64;
    uint32_t wide = vyre_build_convert(r->to, by, value);
    return call(r, text_of(to), vyre_type_name(by), vyre_type_name(to), "soft", to, &wide, 1);
}

/* Whether a conversion, one side of which is f32 or f64, is wrong on the device. */
static bool converts_wrongly(const vyre_corrections *needed, vyre_type from, vyre_type to) {
    uint32_t need = needs(needed, from) | needs(needed, to);
    if (need & (VYRE_CORRECT_ABSENT | VYRE_CORRECT_CONVERT)) {
        return true;
    }
    if (to == VYRE_TYPE_BOOL) {
        return need & (VYRE_CORRECT_COMPARE | VYRE_CORRECT_FLUSHED(VYRE_CORRECT_COMPARE));
    }
    bool of_floats =
        vyre_lookup_class(from) == VYRE_CLASS_FLOAT && vyre_lookup_class(to) == VYRE_CLASS_FLOAT;
    return of_floats && needed->f32 & VYRE_CORRECT_FLUSHED(VYRE_CORRECT_CONVERT);
}

static bool replace_convert(vyre_rebuild *r, uint32_t at, vyre_type from, vyre_type to,
                            const vyre_corrections *needed) {
    bool from_float = vyre_lookup_class(from) == VYRE_CLASS_FLOAT;
    bool to_float = vyre_lookup_class(to) == VYRE_CLASS_FLOAT;
    if (correct_is_half(from) || correct_is_half(to) || !converts_wrongly(needed, from, to)) {
        return false;
    }
    uint32_t value = vyre_rebuild_operand(r, r->ir->insts[at].a);
    if (from_float && to_float) {
        r->values[at] =
            call(r, CORRECT_F32, vyre_type_name(from), vyre_type_name(to), "soft", to, &value, 1);
    } else if (from_float) {
        r->values[at] =
            to == VYRE_TYPE_BOOL ? to_bool(r, from, value) : to_integer(r, from, to, value);
    } else {
        r->values[at] =
            from == VYRE_TYPE_BOOL ? from_bool(r, to, value) : from_integer(r, from, to, value);
    }
    return true;
}

/* All */

/* What an instruction needs: numbers that are never subnormal are not flushed. */
static vyre_corrections needed_at(const correct_state *state, uint32_t at, vyre_type from,
                                  vyre_type to) {
    vyre_corrections needed = state->needed;
    uint32_t flushes = (needs(&needed, from) | needs(&needed, to)) & VYRE_CORRECT_FLUSH;
    if (flushes && correct_grains_are_normal(&state->grains, at)) {
        needed.f32 &= ~(uint32_t)VYRE_CORRECT_FLUSH;
        needed.f64 &= ~(uint32_t)VYRE_CORRECT_FLUSH;
    }
    return needed;
}

static bool groups_fma(const correct_state *state) {
    const char *which = fma_variant(&state->needed, VYRE_TYPE_F32, state->needed.f32);
    return which && strcmp(which, "flush") == 0;
}

static bool replace(vyre_rebuild *r, uint32_t at) {
    correct_state *state = r->user;
    const vyre_inst *inst = &r->ir->insts[at];
    vyre_op op = vyre_inst_op(inst);
    vyre_list list = vyre_inst_operands(r->ir, inst);
    correct_group_settle(r, at);
    if (!list.count) {
        return false;
    }
    if (correct_grains_may_group(&state->grains, at) && groups_fma(state)) {
        correct_group_take(r, at);
        return true;
    }
    vyre_type from = vyre_operand_type(r->ir, list.items[0]), to = vyre_inst_type(inst);
    vyre_corrections needed = needed_at(state, at, from, to);
    bool done = false;
    if (op == VYRE_OP_NEG || op == VYRE_OP_ABS || op == VYRE_OP_COPYSIGN) {
        done = replace_sign(r, at, op, from, &needed);
    } else if (op == VYRE_OP_CONVERT) {
        done = replace_convert(r, at, from, to, &needed);
    } else {
        const char *which = correct_is_bitwise(op) ? NULL : variant_of(&needed, op, from);
        if (which) {
            uint32_t operands[3];
            for (uint32_t i = 0; i < list.count; i++) {
                operands[i] = vyre_rebuild_operand(r, list.items[i]);
            }
            r->values[at] = call(r, text_of(from), vyre_lookup_op(op)->name, vyre_type_name(from),
                                 which, to, operands, list.count);
            done = true;
        }
    }
    state->changed |= done;
    return done;
}

static bool replace_block(vyre_rebuild *r, uint32_t at) {
    correct_group_settle(r, at);
    return false;
}

static bool replace_phase(vyre_rebuild *r, uint32_t step) {
    const vyre_phase *phase = &r->ir->phases[r->ir->steps[step].size];
    vyre_rebuild_phase_begin(r, step);
    correct_group_begin(r, phase, groups_fma(r->user));
    vyre_rebuild_code(r, vyre_phase_block(phase));
    vyre_rebuild_names(r, phase);
    vyre_build_phase_end(r->to);
    return true;
}

vyre_status correct_wide(const vyre_program *program, correct_state *state,
                         vyre_program **out_program) {
    static const vyre_rebuild hooks = {
        .replace = replace, .replace_block = replace_block, .replace_phase = replace_phase};
    correct_group group;
    *out_program = NULL;
    if (!state->needed.f32 && !state->needed.f64) {
        return VYRE_OK;
    }
    if (!correct_grains_init(&state->grains, vyre_program_ir(program))) {
        return vyre_no_memory("to correct `%s`", vyre_program_name(program));
    }
    state->group = &group;
    vyre_status status = correct_run(program, hooks, state, out_program);
    state->group = NULL;
    correct_grains_deinit(&state->grains);
    return status;
}
