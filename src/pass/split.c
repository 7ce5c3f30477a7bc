#include "pass/split.h"

#include "ir/builder.h"
#include "ir/lookup.h"
#include "ir/size.h"
#include "pass/split_plan.h"

/* Elements of a scratch array with as many for each invocation, or for each workgroup. */
static uint32_t elements(split *s, uint64_t each, bool of_workgroups) {
    vyre_builder *to = s->r->to;
    uint32_t size = VYRE_NONE;
    for (uint32_t i = 0; i < s->phase->dimensions; i++) {
        uint32_t side = vyre_rebuild_size_bound(s->r, s->phase->domain[i], true);
        if (s->phase->workgroup[i]) {
            side = vyre_build_size_op(to, VYRE_SIZE_CEIL_DIV, side,
                                      vyre_build_size_const(to, s->phase->workgroup[i]));
        }
        size = i ? vyre_build_size_op(to, VYRE_SIZE_MUL, size, side) : side;
    }
    each *= of_workgroups ? 1 : split_lanes(s);
    return each == 1 ? size
                     : vyre_build_size_op(to, VYRE_SIZE_MUL, size, vyre_build_size_const(to, each));
}

/* The scratch arrays that carry what crosses the cuts. */
static void declare_scratch(split *s) {
    vyre_builder *to = s->r->to;
    for (uint32_t i = s->phase->first; i < s->phase->end; i++) {
        const vyre_inst *inst = &s->ir->insts[i];
        if (split_at(s, i)->kept && !split_is_asked(inst)) {
            split_at(s, i)->slot = vyre_build_scratch(to, split_value_name(s, i),
                                                      vyre_inst_type(inst), elements(s, 1, false));
        }
    }
    for (uint32_t i = s->phase->first_resource; i < s->phase->end_resource; i++) {
        split_array *array = split_array_of(s, i);
        const vyre_resource *row = &s->ir->resources[i];
        if (array->kept) {
            array->scratch =
                vyre_build_scratch(to, vyre_rebuild_resource_name(s->r, i), vyre_resource_type(row),
                                   elements(s, row->length, array->bit));
        }
    }
    for (size_t i = 0; i < s->segments.count && s->next == VYRE_NONE; i++) {
        if (s->segments.items[i].partial) {
            s->next = vyre_build_scratch(to, "next", VYRE_TYPE_U32, elements(s, 1, false));
        }
    }
    if (s->gate_count) {
        s->gates = vyre_build_scratch(to, "gates", VYRE_TYPE_U32,
                                      vyre_build_size_const(to, s->gate_count));
    }
    if (s->phase->from_resource != VYRE_NONE) {
        vyre_type type = vyre_resource_type(&s->ir->resources[s->phase->from_resource]);
        s->count =
            vyre_build_scratch(to, "count", type, vyre_build_size_const(to, s->phase->dimensions));
    }
}

/* The host has computed it before, so nothing underflows here but an open size. */
uint32_t split_build_size(split *s, uint32_t size) {
    vyre_builder *to = s->r->to;
    const vyre_size_node *node = &s->ir->sizes[size];
    switch (node->op) {
    case VYRE_SIZE_CONST:
        return vyre_build_const(to, VYRE_TYPE_U64, node->a | (uint64_t)node->b << 32);
    case VYRE_SIZE_LEN:
        return vyre_build_convert(
            to, VYRE_TYPE_U64, vyre_build_len(to, s->r->resources[s->ir->args[node->a].resource]));
    case VYRE_SIZE_PARAM:
        return vyre_build_convert(to, VYRE_TYPE_U64, vyre_build_param(to, s->r->scalars[node->a]));
    case VYRE_SIZE_ITERATION:
        return vyre_build_convert(to, VYRE_TYPE_U64,
                                  vyre_build_iteration(to, s->r->repeats[node->a]));
    default: break;
    }
    static const vyre_op operations[VYRE_SIZE_COUNT] = {
        [VYRE_SIZE_ADD] = VYRE_OP_ADD, [VYRE_SIZE_SUB] = VYRE_OP_SUB,
        [VYRE_SIZE_MUL] = VYRE_OP_MUL, [VYRE_SIZE_DIV] = VYRE_OP_DIV,
        [VYRE_SIZE_REM] = VYRE_OP_REM, [VYRE_SIZE_MIN] = VYRE_OP_MIN,
        [VYRE_SIZE_MAX] = VYRE_OP_MAX, [VYRE_SIZE_CEIL_DIV] = VYRE_OP_DIV};
    uint32_t left = split_build_size(s, node->a), right = split_build_size(s, node->b);
    if (node->op == VYRE_SIZE_SUB && vyre_size_is_open(s->ir, size)) {
        right = vyre_build_op(to, VYRE_OP_MIN, left, right, VYRE_NONE);
    }
    uint32_t value = vyre_build_op(to, operations[node->op], left, right, VYRE_NONE);
    if (node->op == VYRE_SIZE_CEIL_DIV) {
        uint32_t rest = vyre_build_op(to, VYRE_OP_REM, left, right, VYRE_NONE);
        uint32_t some = vyre_build_convert(to, VYRE_TYPE_BOOL, rest);
        value = vyre_build_op(to, VYRE_OP_ADD, value, vyre_build_convert(to, VYRE_TYPE_U64, some),
                              VYRE_NONE);
    }
    return value;
}

/* A domain from memory is read once, and the phase may change it there. */
static void read_domain(split *s) {
    vyre_builder *to = s->r->to;
    if (s->count == VYRE_NONE) {
        return;
    }
    vyre_build_phase(to, &(vyre_phase_desc){.domain = {vyre_build_size_const(to, 1)}});
    for (uint32_t i = 0; i < s->phase->dimensions; i++) {
        uint32_t index = split_build_size(s, s->phase->from_index);
        if (i) {
            index = vyre_build_op(to, VYRE_OP_ADD, index, vyre_build_const(to, VYRE_TYPE_U64, i),
                                  VYRE_NONE);
        }
        uint32_t value = vyre_build_load(to, s->r->resources[s->phase->from_resource], index);
        vyre_build_store(to, s->count, vyre_build_u32(to, i), value);
    }
    vyre_build_phase_end(to);
}

static void open_gate(split *s, uint32_t gate) {
    vyre_build_repeat_while(s->r->to, NULL, s->gates, vyre_build_size_const(s->r->to, gate));
}

static void make_segment(split *s, size_t index) {
    vyre_builder *to = s->r->to;
    const split_segment *segment = &s->segments.items[index];
    vyre_phase_desc desc = vyre_rebuild_phase_desc(s->r, s->step);
    if (s->count != VYRE_NONE) {
        desc.from_resource = s->count;
        desc.from_index = vyre_build_size_const(to, 0);
    }
    if (segment->gate != VYRE_NONE) {
        open_gate(s, segment->gate);
    }
    vyre_build_phase(to, &desc);
    split_build_segment(s, segment);
    vyre_build_phase_end(to);
    if (segment->gate != VYRE_NONE) {
        vyre_build_repeat_end(to);
    }
}

static void make_steps(split *s) {
    uint32_t sweep = VYRE_NONE;
    read_domain(s);
    for (size_t i = 0; i <= s->segments.count; i++) {
        uint32_t here = i < s->segments.count ? s->segments.items[i].sweep : VYRE_NONE;
        if (here != sweep && sweep != VYRE_NONE) {
            vyre_build_repeat_end(s->r->to);
        }
        if (here != sweep && here != VYRE_NONE) {
            open_gate(s, s->sweeps.items[here].gate);
        }
        sweep = here;
        if (i < s->segments.count) {
            make_segment(s, i);
        }
    }
}

static bool has_grid_barrier(const vyre_ir *ir, uint32_t first, uint32_t end) {
    while (first < end && ir->insts[first].op != VYRE_OP_GRID_BARRIER) {
        first++;
    }
    return first < end;
}

static bool split_phase(vyre_rebuild *r, uint32_t step) {
    const vyre_phase *phase = &r->ir->phases[r->ir->steps[step].size];
    if (!has_grid_barrier(r->ir, phase->first, phase->end)) {
        return false;
    }
    split s = {.r = r, .ir = r->ir, .step = step};
    for (uint32_t i = 0; i < step; i++) {
        s.in_repeat |= vyre_step_is_repeat(&r->ir->steps[i]) && r->ir->steps[i].end > step;
    }
    if (split_plan(&s)) {
        s.building = true;
        declare_scratch(&s);
        make_steps(&s);
    } else {
        builder_no_memory(r->to);
    }
    vyre_uniformity_deinit(&s.uniformity);
    vyre_free(s.insts);
    vyre_free(s.arrays);
    vyre_vec_free(&s.segments);
    vyre_vec_free(&s.jumps);
    vyre_vec_free(&s.uses);
    vyre_vec_free(&s.sweeps);
    return true;
}

vyre_status vyre_split_grid_barriers(const vyre_program *program, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    *out_program = NULL;
    vyre_rebuild hooks = {.replace_phase = split_phase};
    return has_grid_barrier(ir, 0, ir->inst_count) ? vyre_rebuild_run(program, hooks, out_program)
                                                   : VYRE_OK;
}
