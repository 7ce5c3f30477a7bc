/* Single operations: the interval of the result, and what it is equal to. */
#include "ir/cases.h"
#include "ir/lookup.h"
#include "pass/range_state.h"

void range_type(vyre_type type, vyre_wide *out_min, vyre_wide *out_max) {
    uint32_t bits = vyre_type_bytes(type) * 8;
    vyre_type_class class_of = vyre_lookup_class(type);
    *out_min = class_of == VYRE_CLASS_SIGNED ? -((vyre_wide)1 << (bits - 1)) : 0;
    *out_max = class_of == VYRE_CLASS_SIGNED     ? ((vyre_wide)1 << (bits - 1)) - 1
               : class_of == VYRE_CLASS_UNSIGNED ? ((vyre_wide)1 << bits) - 1
               : class_of == VYRE_CLASS_BOOL     ? 1
                                                 : 0;
}

static vyre_wide constant_number(const vyre_const *c) {
    uint64_t bits = vyre_const_extended(c);
    bool is_signed = vyre_lookup_class(vyre_const_type(c)) == VYRE_CLASS_SIGNED;
    return is_signed ? (vyre_wide)(int64_t)bits : (vyre_wide)bits;
}

static bool has_number(vyre_type type) {
    return vyre_lookup_class(type) & (VYRE_CLASS_INTEGER | VYRE_CLASS_BOOL);
}

range_value range_value_of(range_state *s, uint32_t operand) {
    if (vyre_operand_is_value(operand)) {
        return s->values[operand - s->phase->first];
    }
    const vyre_const *c = vyre_operand_const(s->ir, operand);
    range_value value = {.exact = true};
    if (has_number(vyre_const_type(c))) {
        value.min = value.max = constant_number(c);
    }
    return value;
}

bool range_poly_of(range_state *s, uint32_t operand, poly *out) {
    range_value value = range_value_of(s, operand);
    if (vyre_operand_is_constant(operand)) {
        *out = poly_constant((int64_t)value.min);
        return value.min >= INT64_MIN && value.min <= INT64_MAX;
    }
    *out = range_unkeep(value.poly);
    return value.has_poly;
}

static range_value *own(range_state *s, uint32_t inst) {
    return &s->values[inst - s->phase->first];
}

/* Equal to p, and in [min, max], too. */
static void set_poly(range_state *s, uint32_t inst, const poly *p, vyre_wide min, vyre_wide max) {
    vyre_wide least = range_least(s, p), most = range_greatest(s, p);
    if (least <= max && most >= min) { /* else nobody gets here */
        min = least > min ? least : min;
        max = most < max ? most : max;
    }
    *own(s, inst) = (range_value){min, max < min ? min : max, range_keep(s, p), true, true, false};
}

void range_set(range_state *s, uint32_t inst, vyre_wide min, vyre_wide max) {
    if (min == max && min >= INT64_MIN && max <= INT64_MAX) {
        poly constant = poly_constant((int64_t)min);
        set_poly(s, inst, &constant, min, max);
        own(s, inst)->exact = false;
        return;
    }
    poly p = poly_atom(range_atom_make(s, inst, min, max));
    *own(s, inst) =
        (range_value){min, max < min ? min : max, range_keep(s, &p), true, false, false};
}

static void set_equal(range_state *s, uint32_t inst, uint32_t operand) {
    range_value value = range_value_of(s, operand);
    poly p;
    if (range_poly_of(s, operand, &p)) {
        set_poly(s, inst, &p, value.min, value.max);
    } else {
        range_set(s, inst, value.min, value.max);
    }
}

static uint32_t last_set_atom(const range_state *s) {
    return (uint32_t)s->atoms.count - 1;
}

/* Whether the value was given an atom just now, to which bounds can be added. */
static bool is_atom(const range_state *s, uint32_t inst) {
    return !s->no_memory && s->atoms.items[last_set_atom(s)].inst == inst;
}

/* Any number of the type. */
static void set_any(range_state *s, uint32_t inst) {
    vyre_wide min, max;
    range_type(vyre_inst_type(&s->ir->insts[inst]), &min, &max);
    range_set(s, inst, min, max);
}

/* The number that arithmetic gives, if the type holds it for sure. */
static void set_result(range_state *s, uint32_t inst, const poly *p, bool fits, vyre_wide min,
                       vyre_wide max) {
    vyre_wide least, most;
    range_type(vyre_inst_type(&s->ir->insts[inst]), &least, &most);
    bool inside = min >= least && max <= most;
    if (fits && (inside || range_prove_within(s, p, least, most))) {
        bool outside = min > most || max < least; /* nobody gets here */
        set_poly(s, inst, p, min < least || outside ? least : min,
                 max > most || outside ? most : max);
    } else if (inside) {
        range_set(s, inst, min, max);
        own(s, inst)->exact = true;
    } else if (fits) { /* what wraps around may do so again, to the same number */
        poly type = poly_constant(s->ir->insts[inst].type);
        bool is_new;
        poly atom = poly_atom(range_symbol_atom(s, SYMBOL_WRAP, p, &type, least, most, &is_new));
        set_poly(s, inst, &atom, least, most);
        own(s, inst)->exact = false;
    } else {
        range_set(s, inst, least, most);
    }
}

static void visit_sum(range_state *s, uint32_t inst, int sign) {
    const vyre_inst *i = &s->ir->insts[inst];
    range_value a = range_value_of(s, i->a), b = range_value_of(s, i->b);
    poly left, right, sum;
    bool fits = range_poly_of(s, i->a, &left) && range_poly_of(s, i->b, &right) &&
                poly_add(&sum, &left, &right, sign);
    set_result(s, inst, &sum, fits, a.min + (sign > 0 ? b.min : -b.max),
               a.max + (sign > 0 ? b.max : -b.min));
}

static void ends_of_product(range_value a, range_value b, vyre_wide *out_min, vyre_wide *out_max) {
    const vyre_wide ends[4] = {range_times(a.min, b.min), range_times(a.min, b.max),
                               range_times(a.max, b.min), range_times(a.max, b.max)};
    *out_min = *out_max = ends[0];
    for (int k = 1; k < 4; k++) {
        *out_min = ends[k] < *out_min ? ends[k] : *out_min;
        *out_max = ends[k] > *out_max ? ends[k] : *out_max;
    }
}

static void visit_product(range_state *s, uint32_t inst, uint32_t left, uint32_t right) {
    poly a, b, product;
    vyre_wide min, max;
    ends_of_product(range_value_of(s, left), range_value_of(s, right), &min, &max);
    bool fits =
        range_poly_of(s, left, &a) && range_poly_of(s, right, &b) && poly_mul(&product, &a, &b);
    set_result(s, inst, &product, fits, min, max);
}

/* The number of bits that a shift goes, if it is a constant. */
static bool shift_count(const range_state *s, const vyre_inst *i, uint32_t *out_count) {
    uint32_t bits = vyre_type_bytes(vyre_inst_type(i)) * 8;
    bool is_constant = vyre_operand_is_constant(i->b);
    *out_count = is_constant ? (uint32_t)vyre_operand_bits(s->ir, i->b) % bits : 0;
    return is_constant;
}

static void visit_shift_left(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    range_value a = range_value_of(s, i->a);
    uint32_t count;
    if (!shift_count(s, i, &count) || count > 62) {
        set_any(s, inst);
        return;
    }
    poly left, product, zero = {0};
    int64_t by = (int64_t)1 << count;
    bool fits = range_poly_of(s, i->a, &left) && poly_add(&product, &zero, &left, by);
    set_result(s, inst, &product, fits, range_times(a.min, by), range_times(a.max, by));
}

/* x / by of numbers that are not negative. */
static void set_quotient(range_state *s, uint32_t inst, uint32_t x, const poly *by,
                         range_value divisor) {
    range_value value = range_value_of(s, x);
    vyre_wide max = divisor.min >= 1 ? value.max / divisor.min : value.max;
    vyre_wide min = divisor.max >= 1 ? value.min / divisor.max : value.min;
    poly dividend, quotient;
    if (by && range_poly_of(s, x, &dividend) && range_quotient(s, &dividend, by, &quotient)) {
        set_poly(s, inst, &quotient, min, max);
        own(s, inst)->exact = true;
    } else {
        range_set(s, inst, min, max);
    }
}

static void visit_division(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    range_value a = range_value_of(s, i->a), b = range_value_of(s, i->b);
    poly by;
    if (a.min < 0 || b.min < 0) {
        set_any(s, inst);
        return;
    }
    bool known = range_poly_of(s, i->b, &by);
    set_quotient(s, inst, i->a, known ? &by : NULL, b);
}

static void visit_shift_right(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    range_value a = range_value_of(s, i->a);
    uint32_t count;
    if (!shift_count(s, i, &count)) {
        range_set(s, inst, a.min < 0 ? a.min : 0, a.max < 0 ? -1 : a.max);
    } else if (a.min >= 0 && count <= 62) {
        int64_t number = (int64_t)1 << count;
        poly by = poly_constant(number);
        set_quotient(s, inst, i->a, &by, (range_value){.min = number, .max = number});
    } else {
        range_set(s, inst, a.min >> count, a.max >> count);
    }
}

static void add_at_most(range_state *s, uint32_t inst, uint32_t operand, int64_t more) {
    poly p;
    if (is_atom(s, inst) && range_poly_of(s, operand, &p) && poly_shift(&p, &p, more)) {
        range_at_most(s, last_set_atom(s), &p);
    }
}

static void add_at_least(range_state *s, uint32_t inst, uint32_t operand) {
    poly p;
    if (is_atom(s, inst) && range_poly_of(s, operand, &p)) {
        range_at_least(s, last_set_atom(s), &p);
    }
}

static void visit_remainder(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    range_value a = range_value_of(s, i->a), b = range_value_of(s, i->b);
    poly by;
    if (a.min < 0 || b.min < 0) {
        set_any(s, inst);
        return;
    }
    if (b.min >= 1 && a.max < b.min) {
        set_equal(s, inst, i->a);
        return;
    }
    vyre_wide max = b.max >= 1 && b.max - 1 < a.max ? b.max - 1 : a.max;
    bool not_0 = b.min >= 1 ||
                 (range_poly_of(s, i->b, &by) && poly_shift(&by, &by, -1) && range_prove(s, &by));
    range_set(s, inst, 0, max);
    add_at_most(s, inst, i->a, 0);
    if (not_0) {
        add_at_most(s, inst, i->b, -1);
    }
}

static vyre_wide all_bits(vyre_wide number) {
    vyre_wide bits = 0;
    while (bits < number) {
        bits = bits * 2 + 1;
    }
    return bits;
}

static void visit_bits(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    range_value a = range_value_of(s, i->a), b = range_value_of(s, i->b);
    if (i->op == VYRE_OP_AND && (a.min >= 0 || b.min >= 0)) {
        vyre_wide max = a.min < 0 ? b.max : b.min < 0 ? a.max : a.max < b.max ? a.max : b.max;
        range_set(s, inst, 0, max);
        if (a.min >= 0) {
            add_at_most(s, inst, i->a, 0);
        }
        if (b.min >= 0) {
            add_at_most(s, inst, i->b, 0);
        }
    } else if (i->op != VYRE_OP_AND && a.min >= 0 && b.min >= 0) {
        vyre_wide low = i->op == VYRE_OP_XOR ? 0 : a.min > b.min ? a.min : b.min;
        range_set(s, inst, low, all_bits(a.max > b.max ? a.max : b.max));
        if (i->op == VYRE_OP_OR) {
            add_at_least(s, inst, i->a);
            add_at_least(s, inst, i->b);
        }
    } else {
        set_any(s, inst);
    }
}

static void visit_extreme(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    range_value a = range_value_of(s, i->a), b = range_value_of(s, i->b);
    bool is_min = i->op == VYRE_OP_MIN;
    if (a.max <= b.min || b.max <= a.min) {
        set_equal(s, inst, (a.max <= b.min) == is_min ? i->a : i->b);
        return;
    }
    vyre_wide low = (a.min < b.min) == is_min ? a.min : b.min;
    vyre_wide high = (a.max < b.max) == is_min ? a.max : b.max;
    range_set(s, inst, low, high);
    if (is_min) {
        add_at_most(s, inst, i->a, 0);
        add_at_most(s, inst, i->b, 0);
    } else {
        add_at_least(s, inst, i->a);
        add_at_least(s, inst, i->b);
    }
}

static void visit_select(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    range_value b = range_value_of(s, i->b), c = range_value_of(s, i->c);
    poly yes, no;
    if (range_poly_of(s, i->b, &yes) && range_poly_of(s, i->c, &no) && poly_equal(&yes, &no)) {
        set_equal(s, inst, i->b);
    } else {
        range_set(s, inst, b.min < c.min ? b.min : c.min, b.max > c.max ? b.max : c.max);
    }
}

/* The same number in another type, or the same bits. */
static void visit_conversion(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    vyre_wide min, max;
    range_type(vyre_inst_type(i), &min, &max);
    range_value a = range_value_of(s, i->a);
    if (has_number(vyre_operand_type(s->ir, i->a)) && a.min >= min && a.max <= max) {
        set_equal(s, inst, i->a);
    } else {
        range_set(s, inst, min, max);
    }
}

static void visit_saturated(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    range_value a = range_value_of(s, i->a), b = range_value_of(s, i->b);
    vyre_wide min, max;
    range_type(vyre_inst_type(i), &min, &max);
    bool is_sum = i->op == VYRE_OP_ADD_SAT;
    vyre_wide low = is_sum ? a.min + b.min : a.min - b.max;
    vyre_wide high = is_sum ? a.max + b.max : a.max - b.min;
    low = low < min ? min : low > max ? max : low;
    high = high > max ? max : high < min ? min : high;
    range_set(s, inst, low, high);
    if (!is_sum && b.min >= 0) {
        add_at_most(s, inst, i->a, 0);
    }
}

static void visit_negation(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    range_value a = range_value_of(s, i->a);
    poly p, zero = {0};
    bool fits = range_poly_of(s, i->a, &p) && poly_add(&p, &zero, &p, -1);
    set_result(s, inst, &p, fits, -a.max, -a.min);
}

static void visit_magnitude(range_state *s, uint32_t inst) {
    range_value a = range_value_of(s, s->ir->insts[inst].a);
    vyre_wide min, max;
    range_type(vyre_inst_type(&s->ir->insts[inst]), &min, &max);
    if (a.min >= 0) {
        set_equal(s, inst, s->ir->insts[inst].a);
    } else if (a.min == min) {
        set_any(s, inst); /* of the least number it is that number */
    } else {
        range_set(s, inst, a.max < 0 ? -a.max : 0, -a.min > a.max ? -a.min : a.max);
    }
}

static void visit_complement(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    vyre_wide min, max;
    range_value a = range_value_of(s, i->a);
    range_type(vyre_inst_type(i), &min, &max);
    /* ~x is -1 - x, or the greatest number less x. */
    vyre_wide from = min < 0 ? -1 : max;
    range_set(s, inst, from - a.max, from - a.min);
}

/* 0 where the other lane is absent. */
static void visit_exchange(range_state *s, uint32_t inst) {
    range_value a = range_value_of(s, s->ir->insts[inst].a);
    range_set(s, inst, a.min < 0 ? a.min : 0, a.max > 0 ? a.max : 0);
}

/* left < right, where that has one answer. */
static void visit_less(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    bool is_asked = s->asked && s->asked[inst - s->phase->first];
    if (!is_asked || !has_number(vyre_operand_type(s->ir, i->a))) {
        set_any(s, inst);
        return;
    }
    range_value a = range_value_of(s, i->a), b = range_value_of(s, i->b);
    poly left, right, more, less;
    bool known = range_poly_of(s, i->a, &left) && range_poly_of(s, i->b, &right);
    bool always = a.max < b.min, never = a.min >= b.max;
    if (!always && !never && known && poly_add(&more, &right, &left, -1) &&
        poly_shift(&more, &more, -1)) {
        always = range_prove(s, &more);
    }
    if (!always && !never && known && poly_add(&less, &left, &right, -1)) {
        never = range_prove(s, &less);
    }
    range_set(s, inst, always, !never);
}

static range_ends find_ends(const range_state *s, const vyre_resource *constant) {
    range_ends ends = {.known = true};
    for (uint32_t i = 0; i < constant->length; i++) {
        vyre_const element = {.bits = vyre_constant_element(s->ir, constant, i),
                              .type = constant->type};
        vyre_wide number = constant_number(&element);
        ends.min = !i || number < ends.min ? number : ends.min;
        ends.max = !i || number > ends.max ? number : ends.max;
    }
    return ends;
}

/* An element of a constant array, or 0 past its end. */
static void visit_load(range_state *s, uint32_t inst) {
    uint32_t resource = vyre_access_resource(&s->ir->insts[inst]);
    const vyre_resource *row = &s->ir->resources[resource];
    if (row->kind != VYRE_RESOURCE_CONSTANT) {
        set_any(s, inst);
        return;
    }
    range_ends *ends = &s->elements[resource];
    if (!ends->known) {
        *ends = find_ends(s, row);
    }
    bool is_inside = s->rows[inst - s->phase->first].in_bounds;
    range_set(s, inst, !is_inside && ends->min > 0 ? 0 : ends->min,
              !is_inside && ends->max < 0 ? 0 : ends->max);
}

void range_value_visit(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    if (!has_number(vyre_inst_type(i))) {
        *own(s, inst) = (range_value){0};
        return;
    }
    bool is_bool = i->type == VYRE_TYPE_BOOL;
    poly p;
    switch (vyre_inst_op(i)) {
    case VYRE_OP_LEN:
        range_length(s, vyre_access_resource(i), &p);
        set_poly(s, inst, &p, 0, UINT32_MAX);
        return;
    case VYRE_ONE_OF(PARAM, GID, LID, WID, NUM_WORKGROUPS, LANE, SUBGROUP_ID, ITERATION): {
        vyre_wide min, max;
        range_type(vyre_inst_type(i), &min, &max);
        p = range_position(s, i);
        set_poly(s, inst, &p, min, max);
        return;
    }
    case VYRE_OP_ADD: visit_sum(s, inst, 1); return;
    case VYRE_OP_SUB: visit_sum(s, inst, -1); return;
    case VYRE_OP_MUL: visit_product(s, inst, i->a, i->b); return;
    case VYRE_OP_SHL: visit_shift_left(s, inst); return;
    case VYRE_OP_SHR: visit_shift_right(s, inst); return;
    case VYRE_OP_DIV: visit_division(s, inst); return;
    case VYRE_OP_REM: visit_remainder(s, inst); return;
    case VYRE_ONE_OF(MIN, MAX): visit_extreme(s, inst); return;
    case VYRE_OP_SELECT: visit_select(s, inst); return;
    case VYRE_ONE_OF(CONVERT, BITCAST): visit_conversion(s, inst); return;
    case VYRE_ONE_OF(ADD_SAT, SUB_SAT): visit_saturated(s, inst); return;
    case VYRE_OP_NEG: visit_negation(s, inst); return;
    case VYRE_OP_ABS: visit_magnitude(s, inst); return;
    case VYRE_ONE_OF(CLZ, CTZ, POPCOUNT):
        range_set(s, inst, 0, (vyre_wide)vyre_type_bytes(vyre_inst_type(i)) * 8);
        return;
    case VYRE_ONE_OF(AND, OR, XOR): is_bool ? set_any(s, inst) : visit_bits(s, inst); return;
    case VYRE_OP_NOT: is_bool ? set_any(s, inst) : visit_complement(s, inst); return;
    case VYRE_ANY_OF(SHUFFLE): visit_exchange(s, inst); return;
    case VYRE_OP_LOAD: visit_load(s, inst); return;
    case VYRE_OP_LT: visit_less(s, inst); return;
    case VYRE_ONE_OF(IN_DOMAIN, MUL_HIGH, ROTL, ROTR, REVERSE_BITS, STORE, CLEAR, UNIFORM_LOAD):
    case VYRE_ONE_OF(EQ, NE, LE):
    case VYRE_ANY_OF(FLOAT, ELEMENTARY, ATOMIC, BARRIER, COLLECTIVE, CONTROL, NONE):
        set_any(s, inst);
        return;
    }
}

/* The place of an index, one of the latest or a new one. */
static void find_place(range_state *s, const poly *at, vyre_range *row) {
    enum { LOOKED_AT = 64 };
    poly rest = {0};
    row->offset = 0;
    for (uint32_t i = 0; i < at->count; i++) {
        if (at->terms[i].atoms[0] == POLY_NO_ATOM) {
            row->offset = at->terms[i].by;
        } else {
            rest.terms[rest.count++] = at->terms[i];
        }
    }
    row->multiple = range_factor(&rest);
    size_t count = s->places.count, first = count > LOOKED_AT ? count - LOOKED_AT : 0;
    for (size_t i = count; i-- > first;) {
        poly other = range_unkeep(s->places.items[i]);
        if (poly_equal(&rest, &other)) {
            row->place = (uint32_t)i;
            return;
        }
    }
    range_kept kept = range_keep(s, &rest);
    if (s->no_memory || !vyre_vec_push(&s->places, kept)) {
        s->no_memory = true;
        return;
    }
    row->place = (uint32_t)count;
}

void range_access_visit(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    uint32_t index = vyre_access_index(s->ir, i);
    range_value value = range_value_of(s, index);
    poly length, at, room;
    bool inside = range_length(s, vyre_access_resource(i), &length);
    if (inside && (value.min < 0 || value.max >= range_least(s, &length))) {
        inside = range_poly_of(s, index, &at) && poly_add(&room, &length, &at, -1) &&
                 poly_shift(&room, &room, -1) && range_prove(s, &room) &&
                 (value.min >= 0 || range_prove(s, &at));
    }
    vyre_range *row = &s->rows[inst - s->phase->first];
    row->in_bounds = inside;
    row->place = VYRE_NONE;
    if (range_poly_of(s, index, &at)) {
        find_place(s, &at, row);
    }
}
