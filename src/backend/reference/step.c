#include "backend/reference/machine.h"
#include "ir/cases.h"
#include "ir/lookup.h"

enum {
    LEAST_COST = 32,      /* steps of an instruction, however few lanes there are */
    MOST_UNCHARGED = 4096 /* instructions until the budgets are asked */
};

/* The invocation's position without a workgroup clause: lanes are consecutive points of the domain.
 */
static void free_position(const machine *m, const fiber *f, uint32_t dimension, uint32_t *to) {
    uint64_t at[3], rest = f->first;
    for (uint32_t i = 0; i < 3; i++) {
        at[i] = rest % m->grid.domain[i];
        rest /= m->grid.domain[i];
    }
    for (uint32_t lane = 0; lane < m->layout.lanes; lane++) {
        to[lane] = (uint32_t)at[dimension];
        for (uint32_t i = 0; i < 3 && ++at[i] == m->grid.domain[i]; i++) {
            at[i] = 0;
        }
    }
}

/* `start` and the position in the workgroup, in the dimension that the instruction states. */
static void position(const machine *m, const fiber *f, uint32_t at, uint32_t start) {
    uint32_t lanes = m->layout.lanes;
    uint32_t *to = (void *)value_of(m, f, at);
    const uint32_t *lids = m->layout.lids + (size_t)lanes * m->ir->insts[at].a;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        to[lane] = start + lids[lane];
    }
}

/* Number of the lane in its subgroup, or of the subgroup. */
static void subgroup_position(const machine *m, const fiber *f, uint32_t at, bool of_lane) {
    uint32_t *to = (void *)value_of(m, f, at), width = m->phase->subgroup;
    for (uint32_t lane = 0; lane < m->layout.lanes; lane++) {
        to[lane] = of_lane ? lane % width : lane / width;
    }
}

static void in_domain(const machine *m, const fiber *f, uint32_t at) {
    uint8_t *to = value_of(m, f, at);
    uint32_t lanes = m->layout.lanes;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        bool inside = true;
        for (uint32_t d = 0; d < m->phase->dimensions; d++) {
            uint64_t at_d = (uint64_t)f->wid[d] * m->phase->workgroup[d] +
                            m->layout.lids[(size_t)lanes * d + lane];
            inside = inside && at_d < m->grid.domain[d];
        }
        to[lane] = inside;
    }
}

/* The same value in every lane. */
#define FILL(type)                                                                                 \
    do {                                                                                           \
        type *to = (void *)value_of(m, f, at);                                                     \
        for (uint32_t lane = 0; lane < m->layout.lanes; lane++) {                                  \
            to[lane] = (type)value;                                                                \
        }                                                                                          \
    } while (0)

static void spread(const machine *m, const fiber *f, uint32_t at, uint64_t value) {
    switch (vyre_type_bytes(vyre_inst_type(&m->ir->insts[at]))) {
    case 1: FILL(uint8_t); break;
    case 2: FILL(uint16_t); break;
    case 4: FILL(uint32_t); break;
    default: FILL(uint64_t); break;
    }
}

/* Everything that is not plain arithmetic; false if it fails. */
static bool run_special(machine *m, fiber *f, uint32_t at) {
    const vyre_inst *inst = &m->ir->insts[at];
    uint32_t d = inst->a; /* of positions: the dimension */
    switch (vyre_inst_op(inst)) {
    case VYRE_OP_PARAM: spread(m, f, at, m->plan->arguments[inst->a]); return true;
    case VYRE_OP_ITERATION: spread(m, f, at, m->iterations[inst->a]); return true;
    case VYRE_OP_LEN: spread(m, f, at, array_length(m, vyre_access_resource(inst))); return true;
    case VYRE_OP_IN_DOMAIN: in_domain(m, f, at); return true;
    case VYRE_OP_GID:
        if (m->phase->workgroup[0]) {
            position(m, f, at, f->wid[d] * m->phase->workgroup[d]);
        } else {
            free_position(m, f, d, (void *)value_of(m, f, at));
        }
        return true;
    case VYRE_OP_LID: position(m, f, at, 0); return true;
    case VYRE_OP_WID: spread(m, f, at, f->wid[d]); return true;
    case VYRE_OP_NUM_WORKGROUPS: spread(m, f, at, m->grid.groups[d]); return true;
    case VYRE_OP_LANE: subgroup_position(m, f, at, true); return true;
    case VYRE_OP_SUBGROUP_ID: subgroup_position(m, f, at, false); return true;
    case VYRE_ANY_OF(ACCESS): return memory_access(m, f, at);
    case VYRE_ANY_OF(BARRIER):
        return !m->watch || sanitizer_barrier(m, f, at) || machine_no_memory(m);
    case VYRE_ANY_OF(SUBGROUP): return subgroup_exchange(m, f, at);
    case VYRE_ANY_OF(BLOCK): return control_open(m, f, at);
    case VYRE_ANY_OF(JUMP): return control_leave(m, f, at);
    case VYRE_ANY_OF(PICK): return true;    /* comes with its owner */
    case VYRE_ANY_OF(MESSAGE): return true; /* the host records them otherwise */
    case VYRE_ANY_OF(PURE, ELEMENTARY):
    case VYRE_ONE_OF(NONE, COUNT): break;
    }
    return machine_unknown(m, at);
}

/* Where others may come in: a workgroup is set aside there. */
static bool is_pause(const machine *m, fiber *f, uint32_t at, uint32_t effects) {
    if (m->ir->insts[at].op == VYRE_OP_GRID_BARRIER) {
        f->state = FIBER_AT_GRID_BARRIER;
        f->barrier = at;
        return true;
    }
    return m->interleaves && effects & VYRE_EFFECT_ATOMIC;
}

/* Runs until the fiber is through, has to wait, or may be set aside. */
outcome fiber_run(machine *m, fiber *f) {
    const vyre_ir *ir = m->ir;
    uint32_t lanes = m->layout.lanes, first = m->phase->first;
    uint64_t cost = lanes < LEAST_COST ? LEAST_COST : lanes, run = 0;
    for (;;) {
        if (f->pc == top_frame(f)->end) {
            if (f->depth == 1) {
                f->state = FIBER_DONE;
                return machine_charge(m, f, run * cost) ? OUTCOME_DONE : OUTCOME_FAILED;
            }
            if (control_close(m, f)) {
                if (!machine_charge(m, f, run * cost)) {
                    return OUTCOME_FAILED;
                }
                run = 0;
                if (m->yields) {
                    return OUTCOME_PAUSED;
                }
            }
            continue;
        }
        uint32_t at = f->pc++;
        const vyre_inst *inst = &ir->insts[at];
        const vyre_op_info *info = vyre_lookup_op(inst->op);
        vyre_evaluator evaluate = m->layout.evaluators[at - first];
        run++;
        if (evaluate) {
            uint32_t count = info->shape - VYRE_SHAPE_V1 + 1;
            evaluate(value_of(m, f, at), value_of(m, f, inst->a),
                     count > 1 ? value_of(m, f, inst->b) : NULL,
                     count > 2 ? value_of(m, f, inst->c) : NULL, lanes);
        } else if (!run_special(m, f, at)) {
            return OUTCOME_FAILED;
        } else if (is_pause(m, f, at, info->effects)) {
            return machine_charge(m, f, run * cost) ? OUTCOME_PAUSED : OUTCOME_FAILED;
        }
        if (run == MOST_UNCHARGED) {
            if (!machine_charge(m, f, run * cost)) {
                return OUTCOME_FAILED;
            }
            run = 0;
        }
    }
}
