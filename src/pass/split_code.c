#include "ir/builder.h"
#include "ir/lookup.h"
#include "pass/split_plan.h"

/* Values */

static uint32_t build(split *s, vyre_op op, uint32_t a, uint32_t b) {
    return vyre_build_op(s->r->to, op, a, b, VYRE_NONE);
}

static uint32_t times_plus(split *s, uint32_t a, uint32_t factor, uint32_t c) {
    return build(s, VYRE_OP_ADD, build(s, VYRE_OP_MUL, a, factor), c);
}

/* The invocation's number: workgroup by workgroup, x fastest. Without a workgroup clause it follows
 * from its position in the domain alone. */
static void build_numbers(split *s) {
    vyre_builder *to = s->r->to;
    uint32_t last = s->phase->dimensions - 1;
    if (!s->phase->workgroup[0]) {
        s->own = vyre_build_position(to, VYRE_OP_GID, last);
        for (uint32_t i = last; i-- > 0;) {
            uint32_t side = split_build_size(s, s->phase->domain[i]);
            side = vyre_build_convert(to, VYRE_TYPE_U32, side);
            s->own = times_plus(s, s->own, side, vyre_build_position(to, VYRE_OP_GID, i));
        }
        return;
    }
    s->group = vyre_build_position(to, VYRE_OP_WID, last);
    s->inside = vyre_build_position(to, VYRE_OP_LID, last);
    for (uint32_t i = last; i-- > 0;) {
        uint32_t groups = vyre_build_position(to, VYRE_OP_NUM_WORKGROUPS, i);
        s->group = times_plus(s, s->group, groups, vyre_build_position(to, VYRE_OP_WID, i));
        s->inside = times_plus(s, s->inside, vyre_build_u32(to, s->phase->workgroup[i]),
                               vyre_build_position(to, VYRE_OP_LID, i));
    }
    s->own = times_plus(s, s->group, vyre_build_u32(to, split_lanes(s)), s->inside);
}

/* This invocation's element, in a way that shows that all who arrive together find the same. */
static uint32_t load_own(split *s, const split_segment *segment, uint32_t scratch, uint32_t level) {
    vyre_builder *to = s->r->to;
    level = level < segment->level ? level : segment->level;
    if (level >= VYRE_UNIFORM_WORKGROUP && segment->has_syncs) {
        uint32_t first = build(s, VYRE_OP_MUL, s->group, vyre_build_u32(to, split_lanes(s)));
        return vyre_build_uniform_load(to, scratch, first);
    }
    uint32_t value = vyre_build_load(to, scratch, s->own);
    return level == VYRE_UNIFORM_SUBGROUP && segment->has_subgroup
               ? build(s, VYRE_OP_BROADCAST, value, vyre_build_u32(to, 0))
               : value;
}

void split_build_keep(split *s, uint32_t inst, uint32_t value) {
    uint32_t slot = split_at(s, inst)->slot;
    if (slot != VYRE_NONE) {
        vyre_build_store(s->r->to, slot, s->own, value);
    }
}

static vyre_type unsigned_type(vyre_type type) {
    switch (vyre_type_bytes(type)) {
    case 1: return VYRE_TYPE_U8;
    case 2: return VYRE_TYPE_U16;
    case 4: return VYRE_TYPE_U32;
    default: return VYRE_TYPE_U64;
    }
}

uint32_t split_build_first_iteration(split *s, uint32_t loop) {
    vyre_for_range range = vyre_for_range_of(s->ir, loop);
    uint32_t step = vyre_rebuild_operand(s->r, range.step);
    uint32_t zero = vyre_build_const(s->r->to, vyre_build_type(s->r->to, step), 0);
    uint32_t some = build(s, VYRE_OP_LT, vyre_rebuild_operand(s->r, range.first),
                          vyre_rebuild_operand(s->r, range.end));
    bool is_one = vyre_operand_has_bits(s->ir, range.step, 1);
    return is_one ? some : build(s, VYRE_OP_AND, some, build(s, VYRE_OP_LT, zero, step));
}

/* What is left of the range, which is not empty, as a number without a sign: nothing can wrap. */
uint32_t split_build_next_iteration(split *s, uint32_t loop) {
    vyre_for_range range = vyre_for_range_of(s->ir, loop);
    uint32_t step = vyre_rebuild_operand(s->r, range.step);
    uint32_t left = build(s, VYRE_OP_SUB, vyre_rebuild_operand(s->r, range.end),
                          s->r->values[vyre_for_counter(loop)]);
    vyre_type type = vyre_build_type(s->r->to, step);
    if (type != unsigned_type(type)) {
        step = vyre_build_bitcast(s->r->to, unsigned_type(type), step);
        left = vyre_build_bitcast(s->r->to, unsigned_type(type), left);
    }
    return build(s, VYRE_OP_LT, step, left);
}

/* Arrays of the phase that became scratch arrays */

/* Where the elements of this invocation start, or of this workgroup. */
static uint32_t first_element(split *s, uint32_t resource) {
    uint32_t number = split_array_of(s, resource)->bit ? s->group : s->own;
    return build(s, VYRE_OP_MUL, number,
                 vyre_build_u32(s->r->to, s->ir->resources[resource].length));
}

/* An index beyond the array goes beyond the scratch array, too. */
static uint32_t element(split *s, uint32_t resource, uint32_t index) {
    vyre_builder *to = s->r->to;
    uint32_t wide = vyre_build_convert(to, VYRE_TYPE_U64, index);
    uint32_t length = vyre_build_const(to, VYRE_TYPE_U64, s->ir->resources[resource].length);
    uint32_t inside = build(s, VYRE_OP_LT, wide, length);
    uint32_t offset = vyre_build_convert(to, VYRE_TYPE_U32, wide);
    uint32_t at = build(s, VYRE_OP_ADD, first_element(s, resource), offset);
    return vyre_build_op(to, VYRE_OP_SELECT, inside, at, vyre_build_u32(to, UINT32_MAX));
}

/* Sets elements `from`, `from + step` and so on to zero. */
static void build_zeros(split *s, uint32_t resource, uint32_t from, uint32_t step) {
    vyre_builder *to = s->r->to;
    const vyre_resource *row = &s->ir->resources[resource];
    uint32_t first = first_element(s, resource);
    uint32_t i = vyre_build_for(to, from, vyre_build_u32(to, row->length), step, 0, NULL, NULL);
    vyre_build_store(to, split_array_of(s, resource)->scratch, build(s, VYRE_OP_ADD, first, i),
                     vyre_build_const(to, vyre_resource_type(row), 0));
    vyre_build_loop_end(to, 0, NULL);
}

static void zero_private(split *s, uint32_t resource) {
    build_zeros(s, resource, vyre_build_u32(s->r->to, 0), vyre_build_u32(s->r->to, 1));
}

/* True if there is any. */
static bool zero_shared(split *s) {
    bool any = false;
    for (uint32_t i = s->phase->first_resource; i < s->phase->end_resource; i++) {
        const split_array *array = split_array_of(s, i);
        if (array->bit && array->kept) {
            build_zeros(s, i, s->inside, vyre_build_u32(s->r->to, split_lanes(s)));
            any = true;
        }
    }
    return any;
}

void split_build_barrier(split *s) {
    bool any = false;
    for (uint32_t i = s->phase->first_resource; i < s->phase->end_resource; i++) {
        any |= split_array_of(s, i)->bit && split_array_of(s, i)->kept;
    }
    if (any) {
        vyre_build_barrier(s->r->to, VYRE_OP_BARRIER);
        zero_shared(s);
    }
}

static uint32_t build_access(split *s, uint32_t at) {
    const vyre_inst *inst = &s->ir->insts[at];
    uint32_t resource = vyre_access_resource(inst);
    uint32_t operands[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    vyre_list values = vyre_inst_operands(s->ir, inst);
    for (uint32_t i = 0; i < values.count && i < 3; i++) {
        operands[i] = vyre_rebuild_operand(s->r, values.items[i]);
    }
    if (inst->op == VYRE_OP_CLEAR) {
        zero_private(s, resource);
        return VYRE_NONE;
    }
    operands[0] = element(s, resource, operands[0]);
    return vyre_rebuild_inst(s->r, at, split_array_of(s, resource)->scratch, operands);
}

/* Copying */

static bool replace(vyre_rebuild *r, uint32_t at) {
    split *s = r->user;
    const vyre_inst *inst = &s->ir->insts[at];
    if (vyre_inst_effects(inst) & VYRE_EFFECT_END) {
        if (split_leaves(s, at)) {
            split_end(s, at, split_control(s, at));
            return true;
        }
        return false;
    }
    r->values[at] = VYRE_NONE;
    if (split_is_idle(s, at)) {
        return true;
    }
    uint32_t resource = vyre_inst_has_resource(inst) ? vyre_access_resource(inst) : 0;
    split_array *array = vyre_inst_has_resource(inst) ? split_array_of(s, resource) : NULL;
    if (!array) {
        return false;
    }
    if (inst->op == VYRE_OP_LEN) {
        r->values[at] = vyre_build_u32(r->to, s->ir->resources[resource].length);
        return true;
    }
    if (array->kept) {
        r->values[at] = build_access(s, at);
        return true;
    }
    if (r->resources[resource] == VYRE_NONE) {
        vyre_rebuild_array(r, resource);
    }
    return false;
}

/* The first row of the names that belongs to the value or one behind it. */
static uint32_t first_name(const vyre_ir *ir, uint32_t value) {
    uint32_t low = 0, high = ir->value_name_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ir->value_names[middle].value < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const char *split_value_name(const split *s, uint32_t value) {
    uint32_t row = first_name(s->ir, value);
    bool found = row < s->ir->value_name_count && s->ir->value_names[row].value == value;
    return found ? s->ir->debug_strings + s->ir->value_names[row].name : NULL;
}

static void name_values(split *s, uint32_t first, uint32_t end) {
    const vyre_ir *ir = s->ir;
    for (uint32_t row = first_name(ir, first);
         row < ir->value_name_count && ir->value_names[row].value < end; row++) {
        vyre_build_name(s->r->to, s->r->values[ir->value_names[row].value],
                        ir->debug_strings + ir->value_names[row].name);
    }
}

void split_build_code(split *s, uint32_t inst) {
    uint32_t end = split_behind(s, inst);
    vyre_rebuild_code(s->r, (vyre_block){inst, end});
    name_values(s, inst, end);
    bool is_owner = vyre_inst_effects(&s->ir->insts[inst]) & VYRE_EFFECT_BLOCK;
    for (uint32_t value = is_owner ? vyre_owner_end(s->ir, inst) : inst; value < end; value++) {
        split_build_keep(s, value, s->r->values[value]);
    }
}

/* Jumps */

void split_build_jump(split *s, uint32_t to, vyre_uniformity level) {
    vyre_builder *b = s->r->to;
    if (to == VYRE_NONE) {
        vyre_build_return(b, 0, NULL);
        return;
    }
    const split_segment *from = split_segment_at(s, s->now), *segment = split_segment_at(s, to);
    if (segment->partial) {
        vyre_build_store(b, s->next, s->own, vyre_build_u32(b, split_at(s, to)->segment + 1));
    }
    uint32_t gates[2], count = 0;
    if (segment->gate != VYRE_NONE) {
        gates[count++] = segment->gate;
    }
    if (segment->sweep != VYRE_NONE && (from->sweep != segment->sweep || to <= s->now)) {
        gates[count++] = s->sweeps.items[segment->sweep].gate;
    }
    /* One of them speaks for all where all go the same way; else each for itself. */
    bool together = level == VYRE_UNIFORM_GRID;
    uint32_t one = vyre_build_u32(b, 1);
    if (together && count) {
        vyre_build_if(b, build(s, VYRE_OP_EQ, s->own, vyre_build_u32(b, 0)));
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t gate = vyre_build_u32(b, gates[i]);
        if (together) {
            vyre_build_store(b, s->gates, gate, one);
        } else {
            vyre_build_atomic(b, VYRE_OP_ATOMIC_STORE, s->gates, gate, one, VYRE_NONE,
                              VYRE_ORDERING_RELAXED, VYRE_SCOPE_DEVICE);
        }
    }
    if (together && count) {
        vyre_build_if_end(b, 0, NULL);
    }
    vyre_build_return(b, 0, NULL);
}

/* Segments */

static void close_gates(split *s, const split_segment *segment) {
    vyre_builder *to = s->r->to;
    const split_sweep *sweep =
        segment->sweep == VYRE_NONE ? NULL : &s->sweeps.items[segment->sweep];
    bool closes_sweep = sweep && (segment->at == split_head(s, sweep->loop) || !sweep->head_leads);
    if (segment->gate == VYRE_NONE && !closes_sweep) {
        return;
    }
    uint32_t zero = vyre_build_u32(to, 0);
    vyre_build_if(to, build(s, VYRE_OP_EQ, s->own, zero));
    if (segment->gate != VYRE_NONE) {
        vyre_build_store(to, s->gates, vyre_build_u32(to, segment->gate), zero);
    }
    if (closes_sweep) {
        vyre_build_store(to, s->gates, vyre_build_u32(to, sweep->gate), zero);
    }
    vyre_build_if_end(to, 0, NULL);
}

/* Those who are not meant leave. */
static void build_entry(split *s, const split_segment *segment) {
    vyre_builder *to = s->r->to;
    if (!segment->partial) {
        return;
    }
    uint32_t number = vyre_build_u32(to, split_at(s, segment->at)->segment + 1);
    uint32_t next = load_own(s, segment, s->next, VYRE_UNIFORM_GRID);
    vyre_build_if(to, build(s, VYRE_OP_NE, next, number));
    vyre_build_return(to, 0, NULL);
    vyre_build_if_end(to, 0, NULL);
    vyre_build_store(to, s->next, s->own, vyre_build_u32(to, 0));
}

/* Scratch arrays in the place of private and shared ones are zero at first. */
static void build_start(split *s) {
    for (uint32_t i = s->phase->first_resource; i < s->phase->end_resource; i++) {
        const split_array *array = split_array_of(s, i);
        if (!array->bit && array->kept) {
            zero_private(s, i);
        }
    }
    if (zero_shared(s)) {
        vyre_build_barrier(s->r->to, VYRE_OP_BARRIER);
    }
}

/* What comes in from other segments. */
static void build_kept(split *s, const split_segment *segment) {
    for (; s->next_use < s->uses.count && s->uses.items[s->next_use].segment == segment->at;
         s->next_use++) {
        uint32_t value = s->uses.items[s->next_use].value;
        if (split_is_asked(&s->ir->insts[value])) {
            vyre_rebuild_one(s->r, value);
        } else {
            s->r->values[value] = load_own(s, segment, split_at(s, value)->slot,
                                           s->uniformity.levels[value - s->phase->first]);
        }
        name_values(s, value, vyre_inst_next(s->ir, value));
    }
}

void split_build_segment(split *s, const split_segment *segment) {
    for (uint32_t i = s->phase->first_resource; i < s->phase->end_resource; i++) {
        s->r->resources[i] = VYRE_NONE;
    }
    s->now = segment->at;
    s->r->replace = replace;
    s->r->user = s;
    build_numbers(s);
    close_gates(s, segment);
    build_entry(s, segment);
    if (segment->at == s->phase->first && s->in_repeat) {
        build_start(s);
    }
    build_kept(s, segment);
    split_walk(s);
    s->r->replace = NULL;
    s->r->user = NULL;
}
