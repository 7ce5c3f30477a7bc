#include "pass/decide.h"

#include "base/alloc.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "pass/range.h"
#include "pass/rebuild.h"

typedef struct decisions {
    uint8_t *asked; /* by instruction: a comparison that an index depends on */
    uint8_t *known; /* by instruction: ALWAYS, NEVER, or neither */
    bool any_asked, any_known;
} decisions;

enum { OPEN, NEVER, ALWAYS };

/* The condition of an index that is outside of its array where it does not hold. */
static uint32_t condition_of(const vyre_ir *ir, const vyre_inst *access) {
    uint32_t index = vyre_access_index(ir, access);
    if (!vyre_operand_is_value(index)) {
        return VYRE_NONE;
    }
    const vyre_inst *select = &ir->insts[index];
    bool is_place = select->op == VYRE_OP_SELECT && select->type == VYRE_TYPE_U32 &&
                    vyre_operand_has_bits(ir, select->c, UINT32_MAX);
    return is_place ? select->a : VYRE_NONE;
}

static void ask(decisions *d, const vyre_ir *ir, uint32_t condition, uint32_t depth) {
    enum { DEEPEST = 8 };
    if (!vyre_operand_is_value(condition) || depth == DEEPEST) {
        return;
    }
    const vyre_inst *inst = &ir->insts[condition];
    if (inst->op == VYRE_OP_AND) {
        ask(d, ir, inst->a, depth + 1);
        ask(d, ir, inst->b, depth + 1);
    } else if (inst->op == VYRE_OP_LT) {
        d->asked[condition] = true;
        d->any_asked = true;
    }
}

static void find_asked(decisions *d, const vyre_ir *ir) {
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        const vyre_inst *inst = &ir->insts[i];
        if (vyre_inst_has_resource(inst) && vyre_inst_operands(ir, inst).count) {
            ask(d, ir, condition_of(ir, inst), 0);
        }
    }
}

/* False without memory. */
static bool decide_phase(decisions *d, const vyre_ir *ir, uint32_t phase, bool own_domain) {
    vyre_ranges ranges;
    uint32_t first = ir->phases[phase].first;
    if (!vyre_ranges_decide(&ranges, ir, phase, own_domain, d->asked + first)) {
        return false;
    }
    for (uint32_t i = first; i < ir->phases[phase].end; i++) {
        const vyre_range *row = vyre_range_of(&ranges, i);
        if (d->asked[i] && row->min == row->max) {
            d->known[i] = row->min ? ALWAYS : NEVER;
            d->any_known = true;
        }
    }
    vyre_ranges_deinit(&ranges);
    return true;
}

static bool replace(vyre_rebuild *r, uint32_t at) {
    const decisions *d = r->user;
    if (d->known[at] == OPEN) {
        return false;
    }
    r->values[at] = vyre_build_bool(r->to, d->known[at] == ALWAYS);
    return true;
}

vyre_status vyre_decide(const vyre_program *program, bool own_domain, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_status status = VYRE_OK;
    decisions d = {.asked = vyre_alloc_zeroed(ir->inst_count, 1),
                   .known = vyre_alloc_zeroed(ir->inst_count, 1)};
    *out_program = NULL;
    bool made = d.asked && d.known;
    if (made) {
        find_asked(&d, ir);
    }
    for (uint32_t i = 0; i < ir->phase_count && made && d.any_asked; i++) {
        made = decide_phase(&d, ir, i, own_domain);
    }
    if (!made) {
        status = vyre_no_memory("to optimise `%s`", vyre_program_name(program));
    } else if (d.any_known) {
        status =
            vyre_rebuild_run(program, (vyre_rebuild){.replace = replace, .user = &d}, out_program);
    }
    vyre_free(d.asked);
    vyre_free(d.known);
    return status;
}
