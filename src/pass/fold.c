#include "pass/fold.h"

#include <fenv.h>

#include "base/alloc.h"
#include "ir/builder.h"
#include "pass/flow.h"
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
    bool is = value & VYRE_CONSTANT && value != VYRE_NONE;
    *out_bits = is ? r->to->consts.items[value & ~VYRE_CONSTANT].bits : 0;
    return is;
}

/* Instructions */

static bool fold_length(vyre_rebuild *r, uint32_t at) {
    const vyre_ir *ir = r->ir;
    const vyre_resource *row = &ir->resources[ir->insts[at].a];
    if (row->kind >= VYRE_RESOURCE_SHARED) {
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

/* Whether an access lies past the end for sure. */
static bool is_outside(vyre_rebuild *r, const vyre_inst *inst) {
    const vyre_resource *row = &r->ir->resources[inst->a];
    uint64_t index;
    /* A negative index is at least as large as it is taken for here. */
    return row->kind >= VYRE_RESOURCE_SHARED &&
           is_constant(r, vyre_rebuild_operand(r, inst->b), &index) && index >= row->length;
}

static bool fold_inst(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    const vyre_op_info *info = vyre_op_info_of(inst->op);
    folding *f = r->user;
    bool folded = false;
    if (inst->op == VYRE_OP_LEN) {
        folded = fold_length(r, at);
    } else if (inst->op == VYRE_OP_LOAD && is_outside(r, inst)) {
        r->values[at] = vyre_build_const(r->to, (vyre_type)inst->type, 0);
        folded = true;
    } else if (inst->op == VYRE_OP_STORE) {
        folded = is_outside(r, inst);
    } else if (!info->effects && info->shape >= VYRE_SHAPE_V1 && info->shape <= VYRE_SHAPE_V3) {
        uint32_t operands[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
        const uint32_t *values;
        uint32_t count = vyre_inst_values(r->ir, inst, &values);
        for (uint32_t i = 0; i < count; i++) {
            operands[i] = vyre_rebuild_operand(r, values[i]);
        }
        uint32_t value = vyre_fold_op(r->to, (vyre_op)inst->op, (vyre_type)inst->type, operands);
        folded = value != VYRE_NONE;
        if (folded) {
            r->values[at] = value;
        }
    }
    f->changed |= folded;
    return folded;
}

/* Blocks */

/* The code of a block that is no block any more. Its end gives the results, or goes on elsewhere
 * than behind it. */
static void dissolve(vyre_rebuild *r, uint32_t owner, uint32_t first, uint32_t end, bool gives) {
    folding *f = r->user;
    const vyre_inst *last = &r->ir->insts[end - 1];
    f->changed = true;
    if (!gives) {
        vyre_rebuild_code(r, first, end);
        return;
    }
    vyre_rebuild_code(r, first, end - 1);
    uint32_t count = vyre_rebuild_result_count(r->ir, owner);
    for (uint32_t k = 0; k < count; k++) {
        r->values[r->ir->insts[owner].c + k] =
            vyre_rebuild_operand(r, r->ir->operands[last->a + k]);
    }
}

/* Whether both branches only choose between values, and computing both costs little. */
static bool is_choice(const vyre_ir *ir, uint32_t at) {
    const vyre_inst *inst = &ir->insts[at];
    uint32_t cost = 0;
    for (uint32_t i = at + 1; i < inst->c && cost <= CHOICE_COST; i++) {
        const vyre_op_info *info = vyre_op_info_of(ir->insts[i].op);
        if (ir->insts[i].op == VYRE_OP_YIELD) {
            cost += i == inst->c - 1 ? ir->insts[i].b : 0;
        } else if (info->effects) {
            return false;
        } else {
            cost += info->cost;
        }
    }
    return cost <= CHOICE_COST && ir->insts[inst->c - 1].op == VYRE_OP_YIELD &&
           ir->insts[inst->c - 1].b && ir->insts[inst->b - 1].op == VYRE_OP_YIELD;
}

static void choose(vyre_rebuild *r, uint32_t at) {
    const vyre_ir *ir = r->ir;
    const vyre_inst *inst = &ir->insts[at];
    folding *f = r->user;
    f->changed = true;
    uint32_t condition = vyre_rebuild_operand(r, inst->a);
    vyre_rebuild_code(r, at + 1, inst->b - 1);
    vyre_rebuild_code(r, inst->b, inst->c - 1);
    const uint32_t *first = ir->operands + ir->insts[inst->b - 1].a;
    const uint32_t *second = ir->operands + ir->insts[inst->c - 1].a;
    for (uint32_t k = 0; k < ir->insts[inst->c - 1].b; k++) {
        uint32_t operands[3] = {condition, vyre_rebuild_operand(r, first[k]),
                                vyre_rebuild_operand(r, second[k])};
        r->values[inst->c + k] = vyre_fold_build(r->to, VYRE_OP_SELECT,
                                                 (vyre_type)ir->insts[inst->c + k].type, operands);
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
    if (operand & VYRE_CONSTANT || undo->count == MOST_ASSUMED) {
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
        uint32_t operand = ir->operands[ir->insts[end].a + k];
        if (operand == self) {
            continue;
        }
        if ((common != VYRE_NONE && operand != common) ||
            (!(operand & VYRE_CONSTANT) && operand >= owner)) {
            return VYRE_NONE;
        }
        common = operand;
    }
    return common;
}

/* Results that are the same on every way out need no block. */
static void take_common(vyre_rebuild *r, uint32_t owner, uint32_t op) {
    folding *f = r->user;
    uint32_t count = vyre_rebuild_result_count(r->ir, owner);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t result = r->ir->insts[owner].c + k;
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
        uint32_t first = holds ? at + 1 : inst->b, end = holds ? inst->b : inst->c;
        dissolve(r, at, first, end, ir->insts[end - 1].op == VYRE_OP_YIELD);
        return true;
    }
    if (is_choice(ir, at)) {
        choose(r, at);
        return true;
    }
    vyre_rebuild_open(r, at);
    assume(r, inst->a, true, &undo);
    vyre_rebuild_code(r, at + 1, inst->b);
    forget(r, &undo);
    vyre_build_else(r->to);
    assume(r, inst->a, false, &undo);
    vyre_rebuild_code(r, inst->b, inst->c);
    forget(r, &undo);
    vyre_rebuild_close(r, at);
    take_common(r, at, VYRE_OP_YIELD);
    return true;
}

static bool has_no_iteration(vyre_rebuild *r, const uint32_t *range, vyre_type type) {
    uint32_t first = vyre_rebuild_operand(r, range[0]), end = vyre_rebuild_operand(r, range[1]);
    uint32_t step = vyre_rebuild_operand(r, range[2]), zero = vyre_build_const(r->to, type, 0);
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
    const vyre_inst *inst = &ir->insts[at];
    uint32_t head = inst->op == VYRE_OP_FOR ? 3 : 0, counters = head ? 1 : 0;
    vyre_rebuild_open(r, at);
    for (uint32_t k = 0; k < inst->b - head; k++) {
        uint32_t arg = at + 1 + counters + k, initial = ir->operands[inst->a + head + k];
        if (f->uses[arg] && common_value(f, at, VYRE_OP_CONTINUE, k, arg, initial) != VYRE_NONE) {
            r->values[arg] = vyre_rebuild_operand(r, initial);
            f->assumed = true;
        }
    }
    vyre_rebuild_code(r, at + 1, inst->c);
    vyre_rebuild_close(r, at);
    if (!head) {
        take_common(r, at, VYRE_OP_BREAK);
        return;
    }
    for (uint32_t k = 0; k < inst->b - head; k++) {
        uint32_t arg = at + 2 + k, initial = ir->operands[inst->a + head + k];
        if (f->uses[inst->c + k] &&
            common_value(f, at, VYRE_OP_CONTINUE, k, arg, initial) != VYRE_NONE &&
            common_value(f, at, VYRE_OP_BREAK, k, arg, initial) != VYRE_NONE) {
            r->values[inst->c + k] = vyre_rebuild_operand(r, initial);
            f->changed = true;
        }
    }
}

/* Whether the only end that leads to an instruction is the last one of its block. */
static bool ends_once(const folding *f, uint32_t owner) {
    uint32_t end = f->flow.end[owner];
    return end == f->ir->insts[owner].c - 1 && f->flow.before[end] == VYRE_NONE;
}

static bool fold_block(vyre_rebuild *r, uint32_t at) {
    folding *f = r->user;
    const vyre_ir *ir = r->ir;
    const vyre_inst *inst = &ir->insts[at];
    switch (inst->op) {
    case VYRE_OP_IF: return fold_if(r, at);
    case VYRE_OP_INLINE:
        if (ends_once(f, at)) {
            dissolve(r, at, at + 1, inst->c, true);
            return true;
        }
        vyre_rebuild_open(r, at);
        vyre_rebuild_code(r, at + 1, inst->c);
        vyre_rebuild_close(r, at);
        take_common(r, at, VYRE_OP_RETURN);
        return true;
    case VYRE_OP_LOOP:
        if (ends_once(f, at) && ir->insts[inst->c - 1].op == VYRE_OP_BREAK) {
            for (uint32_t k = 0; k < inst->b; k++) {
                r->values[at + 1 + k] = vyre_rebuild_operand(r, ir->operands[inst->a + k]);
            }
            dissolve(r, at, at + 1 + inst->b, inst->c, true);
            return true;
        }
        break;
    default:
        if (has_no_iteration(r, ir->operands + inst->a, (vyre_type)ir->insts[at + 1].type)) {
            for (uint32_t k = 0; k < inst->b - 3; k++) {
                r->values[inst->c + k] = vyre_rebuild_operand(r, ir->operands[inst->a + 3 + k]);
            }
            f->changed = true;
            return true;
        }
        break;
    }
    copy_loop(r, at);
    return true;
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
        const uint32_t *values;
        uint32_t count = vyre_inst_values(ir, &ir->insts[i], &values);
        for (uint32_t k = 0; k < count; k++) {
            if (!(values[k] & VYRE_CONSTANT)) {
                f->uses[values[k]]++;
            }
        }
    }
    return true;
}

vyre_status vyre_fold(const vyre_program *program, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    folding f = {0};
    vyre_rebuild rebuild = {0};
    fenv_t callers;
    *out_program = NULL;
    /* An instruction brings two new constants at most, and there is a limit for them. */
    if (ir->const_count + 2 * (uint64_t)ir->inst_count > VYRE_LIMIT_CONSTANTS) {
        return VYRE_OK;
    }
    /* Constants are computed as the host rounds, which must be as programs do. */
    if (fegetenv(&callers) || fesetenv(FE_DFL_ENV)) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, "compile it in another thread",
                                "the floating-point environment of the thread cannot be set");
    }
    vyre_status status = vyre_rebuild_init(&rebuild, program);
    if (status) {
        fesetenv(&callers);
        return status;
    }
    if (!prepare(&f, ir)) {
        builder_no_memory(rebuild.to);
    }
    rebuild.replace = fold_inst;
    rebuild.replace_block = fold_block;
    rebuild.user = &f;
    if (!rebuild.to->no_memory) {
        vyre_rebuild_build(&rebuild);
    }
    fesetenv(&callers);
    if (f.changed || f.assumed || rebuild.to->no_memory) {
        status = vyre_builder_finish(rebuild.to, NULL, out_program);
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
