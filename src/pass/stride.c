#include "pass/stride.h"

#include "base/alloc.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "ir/uniformity.h"

typedef struct walk {
    const vyre_ir *ir;
    const vyre_phase *phase;
    const vyre_ranges *ranges;
    vyre_strides *strides;
    bool is_told; /* what varies */
} walk;

static const vyre_stride unknown = {VYRE_STRIDE_UNKNOWN, false, false, 0};
static const vyre_stride uniform = {VYRE_STRIDE_UNIFORM, true, true, 0};

vyre_stride vyre_stride_operand(const vyre_strides *strides, uint32_t operand) {
    return vyre_operand_is_value(operand) ? strides->rows[operand - strides->first] : uniform;
}

static bool is_integer(vyre_type type) {
    return vyre_lookup_class(type) & VYRE_CLASS_INTEGER;
}

/* The stride as the type of an instruction has it; where that is 0, all lanes are alike. */
static vyre_stride affine(const vyre_inst *i, uint64_t stride, vyre_stride wraps) {
    uint32_t spare = 64 - vyre_type_bytes(vyre_inst_type(i)) * 8;
    int64_t number = (int64_t)(stride << spare) >> spare;
    return number ? (vyre_stride){VYRE_STRIDE_AFFINE, wraps.exact, wraps.always, number} : uniform;
}

/* Exact if both are. */
static vyre_stride both(vyre_stride a, vyre_stride b) {
    a.exact = a.exact && b.exact;
    a.always = a.always && b.always;
    return a;
}

static bool constant_of(const walk *w, uint32_t operand, uint64_t *out_number) {
    bool is_constant = vyre_operand_is_constant(operand);
    *out_number = is_constant ? vyre_operand_bits(w->ir, operand) : 0;
    return is_constant;
}

static vyre_stride visit_scaled(const walk *w, const vyre_inst *i, vyre_stride own) {
    vyre_stride a = vyre_stride_operand(w->strides, i->a);
    vyre_stride b = vyre_stride_operand(w->strides, i->b);
    uint64_t by;
    if (i->op == VYRE_OP_SHL) {
        uint32_t bits = vyre_type_bytes(vyre_inst_type(i)) * 8;
        return a.kind == VYRE_STRIDE_AFFINE && constant_of(w, i->b, &by)
                   ? affine(i, (uint64_t)a.stride << (by % bits), both(own, a))
                   : unknown;
    }
    if (a.kind == VYRE_STRIDE_AFFINE && constant_of(w, i->b, &by)) {
        return affine(i, (uint64_t)a.stride * by, both(own, a));
    }
    if (b.kind == VYRE_STRIDE_AFFINE && constant_of(w, i->a, &by)) {
        return affine(i, (uint64_t)b.stride * by, both(own, b));
    }
    return unknown;
}

static vyre_stride visit_conversion(const walk *w, const vyre_inst *i) {
    vyre_type from = vyre_operand_type(w->ir, i->a);
    vyre_stride a = vyre_stride_operand(w->strides, i->a);
    vyre_range range = vyre_range_operand(w->ranges, w->ir, i->a);
    uint32_t bits = vyre_type_bytes(vyre_inst_type(i)) * 8;
    bool is_signed = vyre_lookup_class(vyre_inst_type(i)) == VYRE_CLASS_SIGNED;
    if (!is_integer(from) || a.kind != VYRE_STRIDE_AFFINE) {
        return unknown;
    }
    bool fits = range.max < (vyre_wide)1 << (bits - is_signed) &&
                (range.min >= 0 || (is_signed && range.min >= -((vyre_wide)1 << (bits - 1))));
    bool narrower = vyre_type_bytes(vyre_inst_type(i)) <= vyre_type_bytes(from);
    /* A lane that wrapped around is no neighbour in a wider type. */
    a = fits ? a : both(a, unknown);
    return narrower || a.always ? affine(i, (uint64_t)a.stride, a) : unknown;
}

static vyre_stride visit_integer(const walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    const vyre_range *range = vyre_range_of(w->ranges, inst);
    const vyre_stride own = {VYRE_STRIDE_AFFINE, range->exact, range->always, 0};
    vyre_list values = vyre_inst_operands(w->ir, i);
    vyre_stride a = values.count ? vyre_stride_operand(w->strides, values.items[0]) : unknown;
    vyre_stride b = values.count > 1 ? vyre_stride_operand(w->strides, values.items[1]) : unknown;
    uint64_t left = (uint64_t)a.stride, right = (uint64_t)b.stride;
    switch (vyre_inst_op(i)) {
    case VYRE_ONE_OF(ADD, SUB):
        return a.kind && b.kind ? affine(i, i->op == VYRE_OP_ADD ? left + right : left - right,
                                         both(own, both(a, b)))
                                : unknown;
    case VYRE_ONE_OF(MUL, SHL): return visit_scaled(w, i, own);
    case VYRE_OP_NEG: return a.kind ? affine(i, 0 - left, both(own, a)) : unknown;
    case VYRE_ONE_OF(CONVERT, BITCAST): return visit_conversion(w, i);
    case VYRE_ONE_OF(ABS, SHR, SELECT):
    case VYRE_ANY_OF(SURROUNDINGS, QUOTIENT, EXTREME, INTEGER, BITWISE, BITS, FLOAT, COMPARE,
                     ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return unknown;
}

static vyre_stride visit(const walk *w, uint32_t inst) {
    const vyre_inst *i = &w->ir->insts[inst];
    vyre_list values = vyre_inst_operands(w->ir, i);
    uint32_t effects = vyre_inst_effects(i);
    bool all_uniform = !effects && i->op != VYRE_OP_ARG && i->op != VYRE_OP_RESULT;
    for (uint32_t k = 0; k < values.count; k++) {
        vyre_stride form = vyre_stride_operand(w->strides, values.items[k]);
        all_uniform = all_uniform && form.kind == VYRE_STRIDE_UNIFORM;
    }
    switch (vyre_inst_op(i)) {
    case VYRE_ONE_OF(GID, LID): return i->a ? uniform : affine(i, 1, uniform);
    case VYRE_OP_LANE: return affine(i, 1, uniform);
    case VYRE_OP_IN_DOMAIN: return unknown;
    case VYRE_OP_SUBGROUP_ID: return w->is_told ? unknown : uniform;
    case VYRE_ONE_OF(PARAM, WID, NUM_WORKGROUPS, ITERATION, LEN): return uniform;
    case VYRE_ANY_OF(PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    if (all_uniform) {
        return uniform;
    }
    return is_integer(vyre_inst_type(i)) ? visit_integer(w, inst) : unknown;
}

bool vyre_strides_init(vyre_strides *strides, const vyre_ir *ir, uint32_t phase,
                       const vyre_ranges *ranges, const uint8_t *varies) {
    const vyre_phase *row = &ir->phases[phase];
    uint32_t count = row->end - row->first;
    *strides = (vyre_strides){.first = row->first, .count = count};
    vyre_uniformity_map map = {0};
    if (!varies && !vyre_uniformity_init(&map, ir, phase, false, false)) {
        return false;
    }
    strides->rows = vyre_alloc_zeroed(count, sizeof *strides->rows);
    const walk w = {ir, row, ranges, strides, varies};
    for (uint32_t inst = row->first; strides->rows && inst < row->end; inst++) {
        uint32_t k = inst - row->first;
        bool same = varies ? !varies[k] : map.levels[k] >= VYRE_UNIFORM_WORKGROUP;
        strides->rows[k] = ir->insts[inst].type == VYRE_TYPE_VOID ? unknown
                           : same                                 ? uniform
                                                                  : visit(&w, inst);
    }
    vyre_uniformity_deinit(&map);
    return strides->rows;
}

void vyre_strides_deinit(vyre_strides *strides) {
    vyre_free(strides->rows);
    *strides = (vyre_strides){0};
}
