#include "pass/fold.h"

#include <fenv.h>

#include "base/alloc.h"
#include "ir/builder.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "pass/flow.h"
#include "pass/pass.h"
#include "pass/rebuild.h"

enum {
    CHOICE_COST = 6,  /* of both branches, for them to be computed always */
    MOST_ASSUMED = 16 /* values that one branch decides */
};

typedef struct folding {
    const vyre_ir *ir;
    vyre_flow flow;
    uint32_t *uses; /* by instruction: how often its value is an operand */
    bool changed;
    bool assumed; /* values that a branch decides were put in, which may have changed something */
} folding;

static bool is_constant(const vyre_rebuild *r, uint32_t value, uint64_t *out_bits) {
    bool is = vyre_operand_is_constant(value);
    *out_bits = is ? builder_bits(r->to, value) : 0;
    return is;
}

/* Instructions */

static bool fold_length(vyre_rebuild *r, uint32_t at) {
    const vyre_ir *ir = r->ir;
    const vyre_resource *row = vyre_access_array(ir, &ir->insts[at]);
    if (!vyre_resource_is_global(row)) {
        r->values[at] = vyre_build_u32(r->to, row->length);
        return true;
    }
    const vyre_size_node *size = row->size == VYRE_NONE ? NULL : &ir->sizes[row->size];
    if (size && size->op == VYRE_SIZE_CONST && !size->b) {
        r->values[at] = vyre_build_u32(r->to, size->a);
        return true;
    }
    if (size && size->op == VYRE_SIZE_LEN) {
        r->values[at] = vyre_build_len(r->to, r->resources[ir->args[size->a].resource]);
        return true;
    }
    return false;
}

/* An element of a constant array at a constant index. */
static bool fold_load(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    const vyre_resource *row = vyre_access_array(r->ir, inst);
    uint64_t index;
    if (row->kind != VYRE_RESOURCE_CONSTANT ||
        !is_constant(r, vyre_rebuild_operand(r, vyre_access_index(r->ir, inst)), &index)) {
        return false;
    }
    uint64_t bits = index < row->length ? vyre_constant_element(r->ir, row, (uint32_t)index) : 0;
    r->values[at] = vyre_build_const(r->to, vyre_inst_type(inst), bits);
    return true;
}

/* Whether an access lies past the end for sure. */
static bool is_outside(vyre_rebuild *r, const vyre_inst *inst) {
    const vyre_resource *row = vyre_access_array(r->ir, inst);
    uint64_t index;
    /* A negative index is at least as large as it is taken for here. */
    return !vyre_resource_is_global(row) &&
           is_constant(r, vyre_rebuild_operand(r, vyre_access_index(r->ir, inst)), &index) &&
           index >= row->length;
}

static bool fold_inst(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    const vyre_op_info *info = vyre_lookup_op(inst->op);
    folding *f = r->user;
    bool folded = false;
    if (inst->op == VYRE_OP_LEN) {
        folded = fold_length(r, at);
    } else if (inst->op == VYRE_OP_LOAD && is_outside(r, inst)) {
        r->values[at] = vyre_build_const(r->to, vyre_inst_type(inst), 0);
        folded = true;
    } else if (inst->op == VYRE_OP_LOAD) {
        folded = fold_load(r, at);
    } else if (inst->op == VYRE_OP_STORE) {
        folded = is_outside(r, inst);
    } else if (!info->effects && info->shape >= VYRE_SHAPE_V1 && info->shape <= VYRE_SHAPE_V3) {
        uint32_t operands[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
        vyre_list values = vyre_inst_operands(r->ir, inst);
        for (uint32_t i = 0; i < values.count; i++) {
            operands[i] = vyre_rebuild_operand(r, values.items[i]);
        }
        uint32_t value = vyre_fold_op(r->to, vyre_inst_op(inst), vyre_inst_type(inst), operands);
        folded = value != VYRE_NONE;
        if (folded) {
            r->values[at] = value;
        }
    }
    f->changed |= folded;
    return folded;
}

/* Blocks */

/* The last instruction of a block. */
static const vyre_inst *terminator_of(const vyre_ir *ir, vyre_block code) {
    return &ir->insts[vyre_block_terminator(code)];
}

/* The code of a block up to its terminator, whose values are handed back. */
static vyre_list copy_straight(vyre_rebuild *r, vyre_block code) {
    vyre_rebuild_code(r, (vyre_block){code.first, vyre_block_terminator(code)});
    return vyre_inst_operands(r->ir, terminator_of(r->ir, code));
}

/* The code of a block that is no block any more. Its end gives the results, or goes on elsewhere
 * than behind it. */
static void dissolve(vyre_rebuild *r, uint32_t owner, vyre_block code, bool gives) {
    folding *f = r->user;
    f->changed = true;
    if (!gives) {
        vyre_rebuild_code(r, code);
        return;
    }
    vyre_list values = copy_straight(r, code);
    for (uint32_t k = 0; k < values.count; k++) {
        r->values[vyre_result(r->ir, owner, k)] = vyre_rebuild_operand(r, values.items[k]);
    }
}

/* Whether both branches only choose between values, and computing both costs little. */
static bool is_choice(const vyre_ir *ir, uint32_t at) {
    vyre_block both = vyre_owner_blocks(ir, at);
    uint32_t cost = vyre_result_count(ir, at);
    bool chooses = cost && terminator_of(ir, vyre_then_block(ir, at))->op == VYRE_OP_YIELD &&
                   terminator_of(ir, both)->op == VYRE_OP_YIELD;
    for (uint32_t i = both.first; i < both.end && chooses && cost <= CHOICE_COST; i++) {
        const vyre_op_info *info = vyre_lookup_op(ir->insts[i].op);
        chooses = !info->effects || ir->insts[i].op == VYRE_OP_YIELD;
        cost += info->cost;
    }
    return chooses && cost <= CHOICE_COST;
}

static void choose(vyre_rebuild *r, uint32_t at) {
    const vyre_ir *ir = r->ir;
    folding *f = r->user;
    f->changed = true;
    uint32_t condition = vyre_rebuild_operand(r, ir->insts[at].a);
    vyre_list first = copy_straight(r, vyre_then_block(ir, at));
    vyre_list second = copy_straight(r, vyre_else_block(ir, at));
    for (uint32_t k = 0; k < second.count; k++) {
        uint32_t operands[3] = {condition, vyre_rebuild_operand(r, first.items[k]),
                                vyre_rebuild_operand(r, second.items[k])};
        uint32_t result = vyre_result(ir, at, k);
        r->values[result] =
            vyre_fold_build(r->to, VYRE_OP_SELECT, vyre_inst_type(&ir->insts[result]), operands);
    }
}

typedef struct assumption {
    uint32_t inst, value; /* what it was before */
} assumption;

typedef struct assumptions {
    assumption items[MOST_ASSUMED];
    uint32_t count;
} assumptions;

/* In a branch the condition is known, and so may be what it is made of. */
static void assume(vyre_rebuild *r, uint32_t operand, bool holds, assumptions *undo) {
    folding *f = r->user;
    if (!vyre_operand_is_value(operand) || undo->count == MOST_ASSUMED) {
        return;
    }
    const vyre_inst *inst = &r->ir->insts[operand];
    undo->items[undo->count++] = (assumption){operand, r->values[operand]};
    r->values[operand] = vyre_build_bool(r->to, holds);
    f->assumed |= f->uses[operand] > 1;
    if (inst->op == VYRE_OP_NOT) {
        assume(r, inst->a, !holds, undo);
    } else if (inst->op == (holds ? VYRE_OP_AND : VYRE_OP_OR)) {
        assume(r, inst->a, holds, undo);
        assume(r, inst->b, holds, undo);
    }
}

static void forget(vyre_rebuild *r, assumptions *undo) {
    while (undo->count) {
        const assumption *item = &undo->items[--undo->count];
        r->values[item->inst] = item->value;
    }
}

/* What the ends of an instruction give, if that is the same on every way and was there before it,
 * as an operand; VYRE_NONE if not. `self`, if given, stands for `initial`. */
static uint32_t common_value(const folding *f, uint32_t owner, uint32_t op, uint32_t k,
                             uint32_t self, uint32_t initial) {
    const vyre_ir *ir = f->ir;
    uint32_t common = initial;
    VYRE_FLOW_ENDS(&f->flow, owner, end) {
        if (ir->insts[end].op != op) {
            continue;
        }
        uint32_t operand = vyre_inst_operands(ir, &ir->insts[end]).items[k];
        if (operand == self) {
            continue;
        }
        if ((common != VYRE_NONE && operand != common) ||
            (vyre_operand_is_value(operand) && operand >= owner)) {
            return VYRE_NONE;
        }
        common = operand;
    }
    return common;
}

/* Results that are the same on every way out need no block. */
static void take_common(vyre_rebuild *r, uint32_t owner, uint32_t op) {
    folding *f = r->user;
    uint32_t count = vyre_result_count(r->ir, owner);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t result = vyre_result(r->ir, owner, k);
        uint32_t common = common_value(f, owner, op, k, VYRE_NONE, VYRE_NONE);
        if (common != VYRE_NONE && f->uses[result]) {
            r->values[result] = vyre_rebuild_operand(r, common);
            f->changed = true;
        }
    }
}

static bool fold_if(vyre_rebuild *r, uint32_t at) {
    const vyre_ir *ir = r->ir;
    const vyre_inst *inst = &ir->insts[at];
    uint64_t holds;
    assumptions undo = {0};
    if (is_constant(r, vyre_rebuild_operand(r, inst->a), &holds)) {
        vyre_block taken = holds ? vyre_then_block(ir, at) : vyre_else_block(ir, at);
        dissolve(r, at, taken, terminator_of(ir, taken)->op == VYRE_OP_YIELD);
        return true;
    }
    if (is_choice(ir, at)) {
        choose(r, at);
        return true;
    }
    vyre_rebuild_open(r, at);
    assume(r, inst->a, true, &undo);
    vyre_rebuild_code(r, vyre_then_block(ir, at));
    forget(r, &undo);
    vyre_build_else(r->to);
    assume(r, inst->a, false, &undo);
    vyre_rebuild_code(r, vyre_else_block(ir, at));
    forget(r, &undo);
    vyre_rebuild_close(r, at);
    take_common(r, at, VYRE_OP_YIELD);
    return true;
}

static bool has_no_iteration(vyre_rebuild *r, uint32_t loop) {
    vyre_for_range range = vyre_for_range_of(r->ir, loop);
    vyre_type type = vyre_operand_type(r->ir, range.first);
    uint32_t first = vyre_rebuild_operand(r, range.first), end = vyre_rebuild_operand(r, range.end);
    uint32_t step = vyre_rebuild_operand(r, range.step), zero = vyre_build_const(r->to, type, 0);
    uint64_t bits;
    uint32_t starts =
        vyre_fold_op(r->to, VYRE_OP_LT, VYRE_TYPE_BOOL, (uint32_t[3]){first, end, VYRE_NONE});
    if (is_constant(r, starts, &bits) && !bits) {
        return true;
    }
    uint32_t goes_on =
        vyre_fold_op(r->to, VYRE_OP_LT, VYRE_TYPE_BOOL, (uint32_t[3]){zero, step, VYRE_NONE});
    return is_constant(r, goes_on, &bits) && !bits;
}

/* A loop is copied with what it carries unchanged taken from outside; what remains of that only
 * feeds itself. */
static void copy_loop(vyre_rebuild *r, uint32_t at) {
    folding *f = r->user;
    const vyre_ir *ir = r->ir;
    vyre_list initial = vyre_loop_initial(ir, at);
    vyre_rebuild_open(r, at);
    for (uint32_t k = 0; k < initial.count; k++) {
        uint32_t arg = vyre_loop_arg(ir, at, k);
        if (f->uses[arg] &&
            common_value(f, at, VYRE_OP_CONTINUE, k, arg, initial.items[k]) != VYRE_NONE) {
            r->values[arg] = vyre_rebuild_operand(r, initial.items[k]);
            f->assumed = true;
        }
    }
    vyre_rebuild_blocks(r, at);
    vyre_rebuild_close(r, at);
    if (ir->insts[at].op == VYRE_OP_LOOP) {
        take_common(r, at, VYRE_OP_BREAK);
        return;
    }
    for (uint32_t k = 0; k < initial.count; k++) {
        uint32_t arg = vyre_loop_arg(ir, at, k), result = vyre_result(ir, at, k);
        if (f->uses[result] &&
            common_value(f, at, VYRE_OP_CONTINUE, k, arg, initial.items[k]) != VYRE_NONE &&
            common_value(f, at, VYRE_OP_BREAK, k, arg, initial.items[k]) != VYRE_NONE) {
            r->values[result] = vyre_rebuild_operand(r, initial.items[k]);
            f->changed = true;
        }
    }
}

/* Whether the only end that leads to an instruction is the last one of its block. */
static bool ends_once(const folding *f, uint32_t owner) {
    uint32_t end = f->flow.end[owner];
    return end == vyre_block_terminator(vyre_owner_blocks(f->ir, owner)) &&
           f->flow.before[end] == VYRE_NONE;
}

static void fold_inline(vyre_rebuild *r, uint32_t at) {
    if (ends_once(r->user, at)) {
        dissolve(r, at, vyre_body_block(r->ir, at), true);
        return;
    }
    vyre_rebuild_open(r, at);
    vyre_rebuild_blocks(r, at);
    vyre_rebuild_close(r, at);
    take_common(r, at, VYRE_OP_RETURN);
}

/* A loop that never starts gives what it carries, one of a single iteration is no loop. */
static void fold_loop(vyre_rebuild *r, uint32_t at) {
    folding *f = r->user;
    const vyre_ir *ir = r->ir;
    vyre_block body = vyre_body_block(ir, at);
    vyre_list initial = vyre_loop_initial(ir, at);
    bool is_for = ir->insts[at].op == VYRE_OP_FOR;
    if (is_for ? !has_no_iteration(r, at)
               : !ends_once(f, at) || terminator_of(ir, body)->op != VYRE_OP_BREAK) {
        copy_loop(r, at);
        return;
    }
    for (uint32_t k = 0; k < initial.count; k++) {
        uint32_t to = is_for ? vyre_result(ir, at, k) : vyre_loop_arg(ir, at, k);
        r->values[to] = vyre_rebuild_operand(r, initial.items[k]);
    }
    f->changed = true;
    if (!is_for) {
        dissolve(r, at, body, true);
    }
}

static bool fold_block(vyre_rebuild *r, uint32_t at) {
    switch (vyre_inst_op(&r->ir->insts[at])) {
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, PICK, JUMP, NONE):
        break;
    case VYRE_OP_IF: return fold_if(r, at);
    case VYRE_OP_INLINE: fold_inline(r, at); return true;
    case VYRE_ONE_OF(FOR, LOOP): fold_loop(r, at); return true;
    }
    return false;
}

static bool same_digest(const vyre_program *one, const vyre_program *other) {
    vyre_digest a = vyre_program_digest(one), b = vyre_program_digest(other);
    return a.low == b.low && a.high == b.high;
}

static bool prepare(folding *f, const vyre_ir *ir) {
    f->ir = ir;
    f->uses = vyre_alloc_zeroed(ir->inst_count, sizeof *f->uses);
    if (!f->uses || !vyre_flow_init(&f->flow, ir)) {
        return false;
    }
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        vyre_list values = vyre_inst_operands(ir, &ir->insts[i]);
        for (uint32_t k = 0; k < values.count; k++) {
            if (vyre_operand_is_value(values.items[k])) {
                f->uses[values.items[k]]++;
            }
        }
    }
    return true;
}

vyre_status vyre_fold(const vyre_program *program, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    folding f = {0};
    vyre_rebuild rebuild = {.replace = fold_inst, .replace_block = fold_block, .user = &f};
    fenv_t callers;
    *out_program = NULL;
    /* An instruction brings two new constants at most, and there is a limit for them. */
    if (ir->const_count + 2 * (uint64_t)ir->inst_count > VYRE_LIMIT_CONSTANTS) {
        return VYRE_OK;
    }
    /* Constants are computed as the host rounds, which must be as programs do. */
    if (fegetenv(&callers) || fesetenv(FE_DFL_ENV)) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, "compile it on another thread",
                                "cannot set the floating-point environment of this thread");
    }
    vyre_status status = vyre_rebuild_init(&rebuild, program);
    if (status) {
        fesetenv(&callers);
        return status;
    }
    if (!prepare(&f, ir)) {
        builder_no_memory(rebuild.to);
    }
    if (!rebuild.to->no_memory) {
        vyre_rebuild_build(&rebuild);
    }
    fesetenv(&callers);
    if (f.changed || f.assumed || rebuild.to->no_memory) {
        status = vyre_rebuild_finish(&rebuild, out_program);
    }
    if (*out_program && !f.changed && same_digest(program, *out_program)) {
        vyre_program_release(*out_program);
        *out_program = NULL;
    }
    vyre_rebuild_deinit(&rebuild);
    vyre_flow_deinit(&f.flow);
    vyre_free(f.uses);
    return status;
}
