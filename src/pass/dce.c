/* Dead code: what has no effect and whose value nobody needs goes away.
 *
 * That is values, loads and subgroup operations; branches and `for` loops in which nothing is left,
 * since they end; values that blocks carry or give back, where they feed only themselves; stores to
 * shared and private arrays that nobody reads, and the arrays. A `loop` stays: it may not end, and
 * what comes after it does not happen then. */

#include "base/alloc.h"
#include "base/status.h"
#include "ir/builder.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "pass/flow.h"
#include "pass/pass.h"
#include "pass/rebuild.h"

typedef struct sweep {
    const vyre_ir *ir;
    vyre_flow flow;
    bool *live;             /* by instruction; the ends of an `if` are so with it */
    bool *left_out;         /* by resource: nothing that lives mentions it */
    uint32_t *write;        /* by resource: the last write to it that waits for a read... */
    uint32_t *write_before; /* ...and by instruction, the one before */
    uint32_t *work;         /* instructions that live, but whose needs have not been marked */
    uint32_t work_count;
} sweep;

static void mark(sweep *s, uint32_t operand) {
    if (vyre_operand_is_value(operand) && !s->live[operand]) {
        s->live[operand] = true;
        s->work[s->work_count++] = operand;
    }
}

/* What the ends of an instruction give for an arg or result, as value k. */
static void mark_given(sweep *s, uint32_t owner, uint32_t to, uint32_t k) {
    VYRE_FLOW_ENDS(&s->flow, owner, end) {
        const vyre_inst *inst = &s->ir->insts[end];
        if (vyre_jump_target(s->ir, inst, owner, k) == to) {
            mark(s, vyre_inst_operands(s->ir, inst).items[k]);
        }
    }
}

static void mark_result(sweep *s, uint32_t at) {
    uint32_t owner = vyre_pick_owner(&s->ir->insts[at]), k = vyre_pick_index(&s->ir->insts[at]);
    mark(s, owner);
    if (vyre_is_grouped(s->ir, &s->ir->insts[at])) {
        return; /* all of its values are there, or none */
    }
    if (s->ir->insts[owner].op == VYRE_OP_FOR) {
        mark(s, vyre_loop_arg(s->ir, owner, k)); /* what is left when the range is used up */
    }
    mark_given(s, owner, at, k);
}

static void mark_arg(sweep *s, uint32_t at) {
    const vyre_inst *arg = &s->ir->insts[at];
    uint32_t loop = vyre_pick_owner(arg), k = vyre_arg_index(s->ir, arg);
    mark(s, loop);
    if (k != VYRE_NONE) {
        mark(s, vyre_loop_initial(s->ir, loop).items[k]);
        mark_given(s, loop, at, k);
    }
}

static void mark_plain(sweep *s, const vyre_inst *inst) {
    vyre_list values = vyre_inst_operands(s->ir, inst);
    for (uint32_t i = 0; i < values.count; i++) {
        mark(s, values.items[i]);
    }
    if (vyre_inst_has_resource(inst)) {
        uint32_t resource = vyre_access_resource(inst), *write = &s->write[resource];
        s->left_out[resource] = false;
        for (; vyre_inst_effects(inst) & VYRE_EFFECT_READ && *write != VYRE_NONE;
             *write = s->write_before[*write]) {
            mark(s, *write);
        }
    }
}

/* What an instruction that lives needs: its operands, its place, and, of a block, that it is left
 * where it was left. */
static void mark_needs(sweep *s, uint32_t at) {
    const vyre_inst *inst = &s->ir->insts[at];
    if (s->flow.owner[at] != VYRE_NONE) {
        mark(s, s->flow.owner[at]);
    }
    switch (vyre_inst_op(inst)) {
    case VYRE_OP_ARG: mark_arg(s, at); return;
    case VYRE_OP_RESULT: mark_result(s, at); return;
    case VYRE_OP_IF: mark(s, inst->a); return;
    case VYRE_OP_FOR: {
        vyre_for_range range = vyre_for_range_of(s->ir, at);
        mark(s, range.first);
        mark(s, range.end);
        mark(s, range.step);
        break;
    }
    case VYRE_ONE_OF(LOOP, INLINE): break;
    case VYRE_ANY_OF(JUMP):
        return; /* which of its operands are needed is for those to say who get them */
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, NONE):
        mark_plain(s, inst);
        return;
    }
    VYRE_FLOW_ENDS(&s->flow, at, end) {
        mark(s, end);
    }
}

/* What happens whoever needs it. Writes to arrays that end with the phase wait for a read. */
static void mark_roots(sweep *s) {
    for (uint32_t i = 0; i < s->ir->inst_count; i++) {
        const vyre_inst *inst = &s->ir->insts[i];
        uint32_t effects = vyre_inst_effects(inst);
        if ((inst->op == VYRE_OP_STORE || inst->op == VYRE_OP_CLEAR) &&
            !vyre_resource_is_global(vyre_access_array(s->ir, inst))) {
            s->write_before[i] = s->write[vyre_access_resource(inst)];
            s->write[vyre_access_resource(inst)] = i;
        } else if (effects & (VYRE_EFFECT_WRITE | VYRE_EFFECT_ATOMIC | VYRE_EFFECT_SYNC) ||
                   inst->op == VYRE_OP_LOOP ||
                   (inst->op == VYRE_OP_RETURN && s->flow.target[i] == VYRE_NONE)) {
            mark(s, i);
        }
    }
}

/* Whether a value that a block takes in or gives back is there afterwards. A `for` gives back what
 * it takes in. */
static bool keeps_result(const sweep *s, uint32_t owner, uint32_t k) {
    return s->live[s->ir->insts[owner].op == VYRE_OP_FOR ? vyre_loop_arg(s->ir, owner, k)
                                                         : vyre_result(s->ir, owner, k)];
}

static bool keeps_arg(const sweep *s, uint32_t owner, uint32_t k) {
    return s->live[vyre_loop_arg(s->ir, owner, k)];
}

/* The values that a loop carries; other blocks carry none. */
static uint32_t count_args(const vyre_ir *ir, uint32_t owner) {
    return vyre_op_is_loop(ir->insts[owner].op) ? vyre_loop_initial(ir, owner).count : 0;
}

static bool is_whole(const sweep *s, uint32_t owner) {
    uint32_t args = count_args(s->ir, owner), results = vyre_result_count(s->ir, owner);
    bool whole = true;
    for (uint32_t i = 0; i < args && whole; i++) {
        whole = keeps_arg(s, owner, i);
    }
    for (uint32_t i = 0; i < results && whole; i++) {
        whole = keeps_result(s, owner, i);
    }
    return whole;
}

static bool drops_any(const sweep *s) {
    bool drops = false;
    for (uint32_t i = 0; i < s->ir->inst_count && !drops; i++) {
        uint32_t op = s->ir->insts[i].op, effects = vyre_lookup_op(op)->effects;
        if (effects & VYRE_EFFECT_BLOCK) {
            drops = !s->live[i] || !is_whole(s, i);
        } else if (!(effects & VYRE_EFFECT_END) && op != VYRE_OP_ARG && op != VYRE_OP_RESULT) {
            drops = !s->live[i];
        }
    }
    for (uint32_t i = 0; i < s->ir->resource_count && !drops; i++) {
        drops = s->left_out[i];
    }
    return drops;
}

/* The copy */

/* Ends a block with those values that are still taken. */
static void copy_end(vyre_rebuild *r, uint32_t at) {
    const sweep *s = r->user;
    const vyre_inst *inst = &s->ir->insts[at];
    vyre_list values = vyre_inst_operands(s->ir, inst);
    uint32_t target = s->flow.target[at], kept = 0;
    uint32_t *list = vyre_alloc_array(values.count, sizeof *list);
    if (!list) {
        builder_no_memory(r->to);
        return;
    }
    for (uint32_t k = 0; k < values.count; k++) {
        bool is_kept =
            inst->op == VYRE_OP_CONTINUE ? keeps_arg(s, target, k) : keeps_result(s, target, k);
        uint32_t value = values.items[k];
        if (is_kept && s->ir->insts[target].op == VYRE_OP_FOR && inst->op == VYRE_OP_BREAK &&
            !s->live[vyre_result(s->ir, target, k)]) {
            /* Carried but not needed behind: any will do. */
            value = vyre_loop_arg(s->ir, target, k);
        }
        if (is_kept) {
            list[kept++] = vyre_rebuild_operand(r, value);
        }
    }
    vyre_rebuild_jump(r, at, kept, list);
    vyre_free(list);
}

static bool drop(vyre_rebuild *r, uint32_t at) {
    const sweep *s = r->user;
    if (vyre_inst_effects(&s->ir->insts[at]) & VYRE_EFFECT_END) {
        copy_end(r, at);
        return true;
    }
    return !s->live[at];
}

/* Opens a loop that carries less; `list` has room for what it carried, twice. */
static void open_loop(vyre_rebuild *r, uint32_t at, uint32_t *list) {
    const sweep *s = r->user;
    vyre_list initial = vyre_loop_initial(s->ir, at);
    uint32_t *args = list + initial.count, kept = 0;
    for (uint32_t k = 0; k < initial.count; k++) {
        if (keeps_arg(s, at, k)) {
            list[kept++] = vyre_rebuild_operand(r, initial.items[k]);
        }
    }
    vyre_rebuild_loop(r, at, kept, list, args);
    for (uint32_t k = 0, taken = 0; k < initial.count; k++) {
        if (keeps_arg(s, at, k)) {
            r->values[vyre_loop_arg(s->ir, at, k)] = args[taken++];
        }
    }
}

static bool drop_block(vyre_rebuild *r, uint32_t at) {
    const sweep *s = r->user;
    if (!s->live[at]) {
        return true;
    }
    if (is_whole(s, at)) {
        return false;
    }
    uint32_t args = count_args(s->ir, at), results = vyre_result_count(s->ir, at), kept = 0;
    uint32_t *list = vyre_alloc_array(2 * (size_t)args + results, sizeof *list);
    if (!list) {
        builder_no_memory(r->to);
        return true;
    }
    for (uint32_t k = 0; k < results; k++) {
        kept += keeps_result(s, at, k);
    }
    if (vyre_op_is_loop(s->ir->insts[at].op)) {
        open_loop(r, at, list);
    } else {
        vyre_rebuild_open(r, at);
    }
    vyre_rebuild_blocks(r, at);
    vyre_rebuild_end(r, at, kept, list);
    for (uint32_t k = 0, given = 0; k < results; k++) {
        if (keeps_result(s, at, k)) {
            r->values[vyre_result(s->ir, at, k)] = list[given++];
        }
    }
    vyre_free(list);
    return true;
}

static bool prepare(sweep *s, const vyre_ir *ir) {
    s->ir = ir;
    s->live = vyre_alloc_zeroed(ir->inst_count, sizeof *s->live);
    s->left_out = vyre_alloc_zeroed(ir->resource_count, sizeof *s->left_out);
    s->write = vyre_alloc_array(ir->resource_count, sizeof *s->write);
    s->write_before = vyre_alloc_array(ir->inst_count, sizeof *s->write_before);
    s->work = vyre_alloc_array(ir->inst_count, sizeof *s->work);
    if (!s->live || !s->left_out || !s->write || !s->write_before || !s->work ||
        !vyre_flow_init(&s->flow, ir)) {
        return false;
    }
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        s->write[i] = VYRE_NONE;
        s->left_out[i] = !vyre_resource_is_global(&ir->resources[i]);
    }
    return true;
}

vyre_status vyre_dce(const vyre_program *program, vyre_program **out_program) {
    vyre_status status = VYRE_OK;
    sweep s = {0};
    *out_program = NULL;
    if (!prepare(&s, vyre_program_ir(program))) {
        status = vyre_no_memory("to optimise `%s`", vyre_program_name(program));
        goto done;
    }
    mark_roots(&s);
    while (s.work_count) {
        mark_needs(&s, s.work[--s.work_count]);
    }
    if (drops_any(&s)) {
        vyre_rebuild hooks = {
            .replace = drop, .replace_block = drop_block, .left_out = s.left_out, .user = &s};
        status = vyre_rebuild_run(program, hooks, out_program);
    }
done:
    vyre_flow_deinit(&s.flow);
    vyre_free(s.live);
    vyre_free(s.left_out);
    vyre_free(s.write);
    vyre_free(s.write_before);
    vyre_free(s.work);
    return status;
}
