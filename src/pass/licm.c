/* Loop-invariant motion: what does not change from iteration to iteration is computed once, in
 * front of the loop, or of the outermost of several.
 *
 * Operations on values move even out of loops that may have no iteration, since none of them traps;
 * out of branches only where they cost next to nothing. Loads move where nothing in the loop writes
 * the array. If something else in the phase does, nothing in the loop may wait for other
 * invocations, and the load must come in the first iteration for sure: else it could meet a write
 * that it did not meet before. Out of a loop with a barrier in it nothing moves that is cheap
 * (VYRE_PASS_CHEAP). */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "pass/flow.h"
#include "pass/pass.h"
#include "pass/rebuild.h"

enum {
    CHEAP = 1,      /* cost of an operation that may leave a branch... */
    SPECULATED = 8, /* ...and of all that do so into the place in front of one loop */
};

/* A loop whose block is open, and how the place that is looked at lies in it. */
typedef struct open_loop {
    uint32_t inst;
    uint32_t branches; /* open branches around it, of all loops */
    uint32_t speculated;
    bool waits;     /* there is a barrier in it */
    bool may_leave; /* something before that place may have left the iteration */
} open_loop;

typedef struct motion {
    const vyre_ir *ir;
    uint32_t *depth; /* by instruction: how many loops are around the place it ends up in */
    uint32_t
        *target; /* by instruction: the loop in front of which it goes; VYRE_NONE if it stays */
    uint32_t *first, *last, *next; /* those that go in front of a loop, in order */
    uint32_t *changes, *change_at; /* by resource: where its writes stand in `writes`, in order */
    uint32_t *writes;
    open_loop loops[VYRE_LIMIT_NESTING + 1];
    uint32_t loop_count, branches;
    vyre_block phase;
    bool found;
} motion;

/* Memory. Places behind the resources are for what orders memory, and for barriers. */

static uint32_t change_places(const vyre_ir *ir, const vyre_inst *inst, uint32_t places[3]) {
    uint32_t effects = vyre_inst_effects(inst), count = 0;
    if (effects & VYRE_EFFECT_WRITE) {
        places[count++] = vyre_access_resource(inst);
    }
    if (effects & (VYRE_EFFECT_SYNC | VYRE_EFFECT_ATOMIC)) {
        places[count++] = ir->resource_count;
    }
    if (effects & VYRE_EFFECT_SYNC) {
        places[count++] = ir->resource_count + 1;
    }
    return count;
}

static bool list_changes(motion *m) {
    const vyre_ir *ir = m->ir;
    uint32_t places[3], total = 0;
    m->changes = vyre_alloc_zeroed((size_t)ir->resource_count + 3, sizeof *m->changes);
    if (!m->changes) {
        return false;
    }
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        uint32_t count = change_places(ir, &ir->insts[i], places);
        for (uint32_t k = 0; k < count; k++, total++) {
            m->changes[places[k] + 1]++;
        }
    }
    for (uint32_t i = 0; i <= ir->resource_count + 1; i++) {
        m->changes[i + 1] += m->changes[i];
    }
    m->writes = vyre_alloc_array(total, sizeof *m->writes);
    m->change_at = vyre_alloc_array((size_t)ir->resource_count + 2, sizeof *m->change_at);
    if (!m->writes || !m->change_at) {
        return false;
    }
    memcpy(m->change_at, m->changes, ((size_t)ir->resource_count + 2) * sizeof *m->change_at);
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        uint32_t count = change_places(ir, &ir->insts[i], places);
        for (uint32_t k = 0; k < count; k++) {
            m->writes[m->change_at[places[k]]++] = i;
        }
    }
    return true;
}

static bool is_changed(const motion *m, uint32_t place, vyre_block code) {
    uint32_t low = m->changes[place], high = m->changes[place + 1];
    uint32_t stop = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->writes[middle] < code.first) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < stop && m->writes[low] < code.end;
}

/* Whether the loop surely has an iteration. */
static bool has_iteration(const vyre_ir *ir, uint32_t loop) {
    vyre_for_numbers range;
    return ir->insts[loop].op == VYRE_OP_LOOP ||
           (vyre_for_numbers_of(ir, loop, &range) && range.iterations);
}

static bool load_leaves(const motion *m, const vyre_inst *inst, const open_loop *loop) {
    const vyre_ir *ir = m->ir;
    uint32_t resource = vyre_access_resource(inst);
    vyre_block code = vyre_owner_blocks(ir, loop->inst);
    if (!is_changed(m, resource, m->phase)) {
        return true;
    }
    if (is_changed(m, resource, code)) {
        return false;
    }
    return ir->resources[resource].kind == VYRE_RESOURCE_PRIVATE ||
           (!is_changed(m, ir->resource_count, code) && has_iteration(ir, loop->inst) &&
            !loop->may_leave);
}

/* Finds the outermost loop that an instruction can stand in front of. */
static void place(motion *m, uint32_t at) {
    const vyre_ir *ir = m->ir;
    const vyre_inst *inst = &ir->insts[at];
    const vyre_op_info *info = vyre_lookup_op(inst->op);
    uint32_t needed = 0, branches = m->branches;
    vyre_list values = vyre_inst_operands(ir, inst);
    for (uint32_t i = 0; i < values.count; i++) {
        uint32_t depth = vyre_operand_is_value(values.items[i]) ? m->depth[values.items[i]] : 0;
        needed = depth > needed ? depth : needed;
    }
    uint32_t depth = m->loop_count;
    for (; depth > needed; depth--) {
        open_loop *loop = &m->loops[depth - 1];
        bool in_branch = branches > loop->branches;
        if (loop->waits && info->cost <= VYRE_PASS_CHEAP) {
            break;
        }
        if (in_branch && (info->cost > CHEAP || loop->speculated + info->cost > SPECULATED)) {
            break;
        }
        if (inst->op == VYRE_OP_LOAD && !load_leaves(m, inst, loop)) {
            break;
        }
        loop->speculated += in_branch ? info->cost : 0;
        branches = loop->branches;
    }
    m->depth[at] = depth;
    if (depth < m->loop_count) {
        uint32_t target = m->loops[depth].inst;
        m->target[at] = target;
        if (m->first[target] == VYRE_NONE) {
            m->first[target] = at;
        } else {
            m->next[m->last[target]] = at;
        }
        m->last[target] = at;
        m->found = true;
    }
}

static void walk(motion *m, const vyre_phase *phase) {
    const vyre_ir *ir = m->ir;
    uint32_t open[VYRE_LIMIT_NESTING + 1], open_count = 0;
    m->phase = vyre_phase_block(phase);
    for (uint32_t at = phase->first; at < phase->end; at++) {
        const vyre_inst *inst = &ir->insts[at];
        const vyre_op_info *info = vyre_lookup_op(inst->op);
        while (open_count && vyre_owner_end(ir, open[open_count - 1]) == at) {
            uint32_t closed = open[--open_count];
            m->loop_count -= vyre_op_is_loop(ir->insts[closed].op);
            m->branches -= ir->insts[closed].op == VYRE_OP_IF;
        }
        m->depth[at] = m->loop_count;
        if (info->effects & VYRE_EFFECT_BLOCK) {
            open[open_count++] = at;
            if (vyre_op_is_loop(ir->insts[at].op)) {
                m->loops[m->loop_count++] = (open_loop){
                    .inst = at,
                    .branches = m->branches,
                    .waits = is_changed(m, ir->resource_count + 1, vyre_owner_blocks(ir, at))};
            }
            m->branches += inst->op == VYRE_OP_IF;
        } else if (info->effects & VYRE_EFFECT_END) {
            uint32_t left = inst->op == VYRE_OP_RETURN ? m->loop_count
                            : inst->op == VYRE_OP_BREAK || inst->op == VYRE_OP_CONTINUE ? 1
                                                                                        : 0;
            for (; left && m->loop_count; left--) {
                m->loops[m->loop_count - left].may_leave = true;
            }
        } else if (m->loop_count && info->shape != VYRE_SHAPE_PICK &&
                   (!info->effects || inst->op == VYRE_OP_LOAD)) {
            place(m, at);
        }
    }
}

/* The copy */

static bool has_moved(vyre_rebuild *r, uint32_t at) {
    const motion *m = r->user;
    return m->target[at] != VYRE_NONE && r->values[at] != VYRE_NONE;
}

static bool move(vyre_rebuild *r, uint32_t at) {
    const motion *m = r->user;
    for (uint32_t i = m->first[at]; i != VYRE_NONE; i = m->next[i]) {
        vyre_rebuild_one(r, i);
    }
    return false;
}

vyre_status vyre_licm(const vyre_program *program, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    size_t count = ir->inst_count;
    vyre_status status = VYRE_OK;
    motion m = {.ir = ir};
    *out_program = NULL;
    uint32_t *all = vyre_alloc_array(count * 5, sizeof *all);
    if (!all || !list_changes(&m)) {
        status = vyre_no_memory("to optimise `%s`", vyre_program_name(program));
        goto done;
    }
    memset(all, 0xff, count * 5 * sizeof *all); /* VYRE_NONE */
    m.depth = all;
    m.target = all + count;
    m.first = all + 2 * count;
    m.last = all + 3 * count;
    m.next = all + 4 * count;
    for (uint32_t i = 0; i < ir->phase_count; i++) {
        walk(&m, &ir->phases[i]);
    }
    if (m.found) {
        vyre_rebuild hooks = {.replace = has_moved, .replace_block = move, .user = &m};
        status = vyre_rebuild_run(program, hooks, out_program);
    }
done:
    vyre_free(all);
    vyre_free(m.changes);
    vyre_free(m.change_at);
    vyre_free(m.writes);
    return status;
}
