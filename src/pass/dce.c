#include "pass/dce.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ir/builder.h"
#include "pass/flow.h"
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
    if (!(operand & VYRE_CONSTANT) && !s->live[operand]) {
        s->live[operand] = true;
        s->work[s->work_count++] = operand;
    }
}

/* Value k of what the ends of an instruction give, those of one kind. */
static void mark_given(sweep *s, uint32_t owner, uint32_t op, uint32_t k) {
    VYRE_FLOW_ENDS(&s->flow, owner, end) {
        if (s->ir->insts[end].op == op) {
            mark(s, s->ir->operands[s->ir->insts[end].a + k]);
        }
    }
}

static void mark_result(sweep *s, const vyre_inst *inst) {
    uint32_t owner = inst->a, k = inst->b;
    mark(s, owner);
    switch (s->ir->insts[owner].op) {
    case VYRE_OP_MATRIX_MAD: break; /* all of its values are there, or none */
    case VYRE_OP_IF: mark_given(s, owner, VYRE_OP_YIELD, k); break;
    case VYRE_OP_INLINE: mark_given(s, owner, VYRE_OP_RETURN, k); break;
    case VYRE_OP_FOR:
        mark(s, owner + 2 + k); /* what is left when the range is used up */
    /* fall through */
    default: mark_given(s, owner, VYRE_OP_BREAK, k); break;
    }
}

static void mark_arg(sweep *s, const vyre_inst *inst) {
    uint32_t owner = inst->a, k = inst->b;
    const vyre_inst *loop = &s->ir->insts[owner];
    mark(s, owner);
    if (loop->op == VYRE_OP_LOOP) {
        mark(s, s->ir->operands[loop->a + k]);
        mark_given(s, owner, VYRE_OP_CONTINUE, k);
    } else if (k) {
        mark(s, s->ir->operands[loop->a + 2 + k]);
        mark_given(s, owner, VYRE_OP_CONTINUE, k - 1);
    }
}

static bool has_resource(const vyre_op_info *info) {
    return info->shape == VYRE_SHAPE_R || info->shape == VYRE_SHAPE_R_V1 ||
           info->shape == VYRE_SHAPE_R_V2 || info->shape == VYRE_SHAPE_R_LIST;
}

static void mark_plain(sweep *s, const vyre_inst *inst, const vyre_op_info *info) {
    const uint32_t *values;
    uint32_t count = vyre_inst_values(s->ir, inst, &values);
    for (uint32_t i = 0; i < count; i++) {
        mark(s, values[i]);
    }
    if (has_resource(info)) {
        s->left_out[inst->a] = false;
        if (info->effects & VYRE_EFFECT_READ) {
            for (; s->write[inst->a] != VYRE_NONE;
                 s->write[inst->a] = s->write_before[s->write[inst->a]]) {
                mark(s, s->write[inst->a]);
            }
        }
    }
}

/* What an instruction that lives needs: its operands, its place, and, of a block, that it is left
 * where it was left. */
static void mark_needs(sweep *s, uint32_t at) {
    const vyre_inst *inst = &s->ir->insts[at];
    const vyre_op_info *info = vyre_op_info_of(inst->op);
    if (s->flow.owner[at] != VYRE_NONE) {
        mark(s, s->flow.owner[at]);
    }
    switch (inst->op) {
    case VYRE_OP_ARG: mark_arg(s, inst); return;
    case VYRE_OP_RESULT: mark_result(s, inst); return;
    case VYRE_OP_IF: mark(s, inst->a); return;
    default: break;
    }
    if (info->effects & VYRE_EFFECT_END) {
        return; /* which of its operands are needed is for those to say who get them */
    }
    if (!(info->effects & VYRE_EFFECT_BLOCK)) {
        mark_plain(s, inst, info);
        return;
    }
    for (uint32_t i = 0; inst->op == VYRE_OP_FOR && i < 3; i++) {
        mark(s, s->ir->operands[inst->a + i]);
    }
    VYRE_FLOW_ENDS(&s->flow, at, end) {
        mark(s, end);
    }
}

/* What happens whoever needs it. Writes to arrays that end with the phase wait for a read. */
static void mark_roots(sweep *s) {
    for (uint32_t i = 0; i < s->ir->inst_count; i++) {
        const vyre_inst *inst = &s->ir->insts[i];
        uint32_t effects = vyre_op_info_of(inst->op)->effects;
        if ((inst->op == VYRE_OP_STORE || inst->op == VYRE_OP_CLEAR) &&
            s->ir->resources[inst->a].kind >= VYRE_RESOURCE_SHARED) {
            s->write_before[i] = s->write[inst->a];
            s->write[inst->a] = i;
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
    const vyre_inst *inst = &s->ir->insts[owner];
    return inst->op == VYRE_OP_FOR ? s->live[owner + 2 + k] : s->live[inst->c + k];
}

static bool keeps_arg(const sweep *s, uint32_t owner, uint32_t k) {
    return s->live[owner + 1 + k + (s->ir->insts[owner].op == VYRE_OP_FOR)];
}

static uint32_t count_args(const vyre_ir *ir, uint32_t owner) {
    const vyre_inst *inst = &ir->insts[owner];
    return inst->op == VYRE_OP_LOOP ? inst->b : inst->op == VYRE_OP_FOR ? inst->b - 3 : 0;
}

static bool is_whole(const sweep *s, uint32_t owner) {
    uint32_t args = count_args(s->ir, owner), results = vyre_rebuild_result_count(s->ir, owner);
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
        uint32_t op = s->ir->insts[i].op, effects = vyre_op_info_of(op)->effects;
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
    uint32_t target = s->flow.target[at], kept = 0;
    uint32_t *list = vyre_alloc_array(inst->b, sizeof *list);
    if (!list) {
        builder_no_memory(r->to);
        return;
    }
    for (uint32_t k = 0; k < inst->b; k++) {
        bool is_kept =
            inst->op == VYRE_OP_CONTINUE ? keeps_arg(s, target, k) : keeps_result(s, target, k);
        uint32_t value = s->ir->operands[inst->a + k];
        if (is_kept && s->ir->insts[target].op == VYRE_OP_FOR && inst->op == VYRE_OP_BREAK &&
            !s->live[s->ir->insts[target].c + k]) {
            value = target + 2 + k; /* carried but not needed behind: any will do */
        }
        if (is_kept) {
            list[kept++] = vyre_rebuild_operand(r, value);
        }
    }
    switch (inst->op) {
    case VYRE_OP_YIELD: vyre_build_yield(r->to, kept, list); break;
    case VYRE_OP_BREAK: vyre_build_break(r->to, kept, list); break;
    case VYRE_OP_CONTINUE: vyre_build_continue(r->to, kept, list); break;
    default: vyre_build_return(r->to, kept, list); break;
    }
    vyre_free(list);
}

static bool drop(vyre_rebuild *r, uint32_t at) {
    const sweep *s = r->user;
    if (vyre_op_info_of(s->ir->insts[at].op)->effects & VYRE_EFFECT_END) {
        copy_end(r, at);
        return true;
    }
    return !s->live[at];
}

/* Opens a loop that carries less; `list` has room for what it carried, twice. */
static void open_loop(vyre_rebuild *r, uint32_t at, uint32_t *list) {
    const sweep *s = r->user;
    const vyre_inst *inst = &s->ir->insts[at];
    uint32_t head = inst->op == VYRE_OP_FOR ? 3 : 0, count = inst->b - head, kept = 0;
    uint32_t *args = list + count, range[3] = {0};
    for (uint32_t i = 0; i < head; i++) {
        range[i] = vyre_rebuild_operand(r, s->ir->operands[inst->a + i]);
    }
    for (uint32_t k = 0; k < count; k++) {
        if (keeps_arg(s, at, k)) {
            list[kept++] = vyre_rebuild_operand(r, s->ir->operands[inst->a + head + k]);
        }
    }
    if (head) {
        r->values[at + 1] = vyre_build_for(r->to, range[0], range[1], range[2], kept, list, args);
    } else {
        vyre_build_loop(r->to, kept, list, args);
    }
    for (uint32_t k = 0, taken = 0; k < count; k++) {
        if (keeps_arg(s, at, k)) {
            r->values[at + 1 + (head != 0) + k] = args[taken++];
        }
    }
}

static bool drop_block(vyre_rebuild *r, uint32_t at) {
    const sweep *s = r->user;
    const vyre_inst *inst = &s->ir->insts[at];
    if (!s->live[at]) {
        return true;
    }
    if (is_whole(s, at)) {
        return false;
    }
    uint32_t args = count_args(s->ir, at), results = vyre_rebuild_result_count(s->ir, at), kept = 0;
    uint32_t *list = vyre_alloc_array(2 * (size_t)args + results, sizeof *list);
    if (!list) {
        builder_no_memory(r->to);
        return true;
    }
    for (uint32_t k = 0; k < results; k++) {
        kept += keeps_result(s, at, k);
    }
    switch (inst->op) {
    case VYRE_OP_IF:
        vyre_build_if(r->to, vyre_rebuild_operand(r, inst->a));
        vyre_rebuild_code(r, at + 1, inst->b);
        vyre_build_else(r->to);
        vyre_rebuild_code(r, inst->b, inst->c);
        vyre_build_if_end(r->to, kept, list);
        break;
    case VYRE_OP_INLINE:
        vyre_build_inline(r->to);
        vyre_rebuild_code(r, at + 1, inst->c);
        vyre_build_inline_end(r->to, kept, list);
        break;
    default:
        open_loop(r, at, list);
        vyre_rebuild_code(r, at + 1, inst->c);
        vyre_build_loop_end(r->to, kept, list);
        break;
    }
    for (uint32_t k = 0, given = 0; k < results; k++) {
        if (keeps_result(s, at, k)) {
            r->values[inst->c + k] = list[given++];
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
        s->left_out[i] = ir->resources[i].kind >= VYRE_RESOURCE_SHARED;
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
        vyre_rebuild rebuild;
        status = vyre_rebuild_init(&rebuild, program);
        if (!status) {
            rebuild.replace = drop;
            rebuild.replace_block = drop_block;
            rebuild.left_out = s.left_out;
            rebuild.user = &s;
            status = vyre_rebuild_run(&rebuild, out_program);
            vyre_rebuild_deinit(&rebuild);
        }
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
