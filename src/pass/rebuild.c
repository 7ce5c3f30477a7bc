#include "pass/rebuild.h"

#include <string.h>

#include "base/status.h"
#include "base/vec.h"
#include "ir/builder.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "ir/message.h"

vyre_status vyre_rebuild_init(vyre_rebuild *rebuild, const vyre_program *from) {
    const vyre_ir *ir = vyre_program_ir(from);
    rebuild->from = from;
    rebuild->ir = ir;
    rebuild->unknown = VYRE_NONE;
    rebuild->values = vyre_alloc_array(ir->inst_count, sizeof(uint32_t));
    rebuild->resources = vyre_alloc_array(ir->resource_count, sizeof(uint32_t));
    rebuild->scalars = vyre_alloc_array(ir->arg_count, sizeof(uint32_t));
    rebuild->repeats = vyre_alloc_array(ir->step_count, sizeof(uint32_t));
    vyre_status status = VYRE_OK;
    if (!rebuild->values || !rebuild->resources || !rebuild->scalars || !rebuild->repeats) {
        status = vyre_no_memory("to copy program `%s`", vyre_program_name(from));
    } else {
        memset(rebuild->values, 0xff, ir->inst_count * sizeof *rebuild->values); /* VYRE_NONE */
        status = vyre_builder_create(vyre_program_name(from), &rebuild->to);
    }
    if (status) {
        vyre_rebuild_deinit(rebuild);
    }
    return status;
}

void vyre_rebuild_deinit(vyre_rebuild *rebuild) {
    vyre_builder_free(rebuild->to);
    vyre_free(rebuild->values);
    vyre_free(rebuild->resources);
    vyre_free(rebuild->scalars);
    vyre_free(rebuild->repeats);
    *rebuild = (vyre_rebuild){0};
}

uint32_t vyre_rebuild_operand(vyre_rebuild *rebuild, uint32_t operand) {
    if (vyre_operand_is_value(operand)) {
        return rebuild->values[operand];
    }
    const vyre_const *row = vyre_operand_const(rebuild->ir, operand);
    return vyre_build_const(rebuild->to, vyre_const_type(row), row->bits);
}

/* Tables */

uint32_t vyre_rebuild_size(vyre_rebuild *r, uint32_t size) {
    if (size == VYRE_NONE) {
        return VYRE_NONE;
    }
    const vyre_size_node *node = &r->ir->sizes[size];
    switch (node->op) {
    case VYRE_SIZE_CONST: return vyre_build_size_const(r->to, node->a | (uint64_t)node->b << 32);
    case VYRE_SIZE_LEN: {
        uint32_t buffer = r->ir->args[node->a].resource;
        uint32_t length = vyre_build_size_len(r->to, r->resources[buffer]);
        return r->units && r->units[buffer].count
                   ? vyre_build_size_op(r->to, VYRE_SIZE_DIV, length,
                                        vyre_build_size_const(r->to, r->units[buffer].count))
                   : length;
    }
    case VYRE_SIZE_PARAM: return vyre_build_size_param(r->to, r->scalars[node->a]);
    case VYRE_SIZE_ITERATION: return vyre_build_size_iteration(r->to, r->repeats[node->a]);
    default: break;
    }
    uint32_t left = vyre_rebuild_size(r, node->a);
    return vyre_build_size_op(r->to, (vyre_size_op)node->op, left, vyre_rebuild_size(r, node->b));
}

static const char *debug_name(const vyre_ir *ir, const uint32_t *names, uint32_t count,
                              uint32_t index) {
    return index < count ? ir->debug_strings + names[index] : NULL;
}

const char *vyre_rebuild_resource_name(const vyre_rebuild *r, uint32_t resource) {
    return debug_name(r->ir, r->ir->resource_names, r->ir->resource_name_count, resource);
}

const char *vyre_rebuild_step_name(const vyre_rebuild *r, uint32_t step) {
    return debug_name(r->ir, r->ir->step_names, r->ir->step_name_count, step);
}

static void set_place(vyre_rebuild *r, vyre_place place) {
    vyre_build_at(r->to, VYRE_PLACE_LINE(place), VYRE_PLACE_COLUMN(place), 0);
    r->to->scope = VYRE_PLACE_SCOPE(place);
}

uint32_t vyre_rebuild_buffer(vyre_rebuild *r, uint32_t resource, const char *name,
                             vyre_access access, uint32_t size) {
    const vyre_resource *row = &r->ir->resources[resource];
    vyre_type type = row->type == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : vyre_resource_type(row);
    if (r->units && r->units[resource].count) {
        vyre_record_unit unit = r->units[resource];
        size = size == VYRE_NONE ? size
                                 : vyre_build_size_op(r->to, VYRE_SIZE_MUL, size,
                                                      vyre_build_size_const(r->to, unit.count));
        return vyre_build_buffer(r->to, name, access, unit.type, size);
    }
    return vyre_resource_has_records(row)
               ? vyre_build_records(r->to, name, access, row->length, size)
               : vyre_build_buffer(r->to, name, access, type, size);
}

void vyre_rebuild_constants(vyre_rebuild *r) {
    for (uint32_t i = 0; i < r->ir->resource_count && r->ir->data_bytes; i++) {
        if (r->ir->resources[i].kind == VYRE_RESOURCE_CONSTANT) {
            r->resources[i] = builder_copy_constant(r->to, vyre_rebuild_resource_name(r, i), r->ir,
                                                    &r->ir->resources[i]);
        }
    }
}

static void copy_interface(vyre_rebuild *r) {
    const vyre_ir *ir = r->ir;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        const vyre_arg *arg = &ir->args[i];
        const char *name = ir->strings + arg->name;
        if (arg->resource == VYRE_NONE) {
            r->scalars[i] = vyre_build_scalar(r->to, name, vyre_arg_type(arg));
        } else {
            const vyre_resource *row = &ir->resources[arg->resource];
            r->resources[arg->resource] = vyre_rebuild_buffer(
                r, arg->resource, name, (vyre_access)row->access, vyre_rebuild_size(r, row->size));
        }
    }
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        const vyre_resource *row = &ir->resources[i];
        if (row->kind == VYRE_RESOURCE_SCRATCH) {
            r->resources[i] =
                vyre_build_scratch(r->to, vyre_rebuild_resource_name(r, i), vyre_resource_type(row),
                                   vyre_rebuild_size(r, row->size));
        }
        if (vyre_resource_is_field(row) && !r->units) {
            r->resources[i] = vyre_build_field(r->to, r->resources[row->size],
                                               vyre_resource_type(row), row->length);
        }
    }
    vyre_rebuild_constants(r);
    for (uint32_t i = 0; i < ir->requirement_count; i++) {
        if (ir->requirement_place_count) {
            set_place(r, ir->requirement_places[i]);
        }
        uint32_t left = vyre_rebuild_size(r, ir->requirements[i].left);
        vyre_build_require(r->to, left, vyre_rebuild_size(r, ir->requirements[i].right));
    }
    set_place(r, 0);
}

/* Code */

static void set_place_of(vyre_rebuild *r, uint32_t at) {
    if (r->ir->place_count) {
        set_place(r, r->ir->places[at]);
    }
}

/* The operands of a list, in `to`. NULL without memory, which the builder then knows. */
static uint32_t *copy_list(vyre_rebuild *r, const uint32_t *values, uint32_t count) {
    uint32_t *copied = vyre_alloc_array(count, sizeof *copied);
    for (uint32_t i = 0; copied && i < count; i++) {
        copied[i] = vyre_rebuild_operand(r, values[i]);
    }
    if (!copied) {
        builder_no_memory(r->to);
    }
    return copied;
}

void vyre_rebuild_loop(vyre_rebuild *r, uint32_t loop, uint32_t count, const uint32_t *carried,
                       uint32_t *out_args) {
    if (r->ir->insts[loop].op == VYRE_OP_LOOP) {
        vyre_build_loop(r->to, count, carried, out_args);
        return;
    }
    vyre_for_range range = vyre_for_range_of(r->ir, loop);
    uint32_t first = vyre_rebuild_operand(r, range.first);
    uint32_t end = vyre_rebuild_operand(r, range.end);
    r->values[vyre_for_counter(loop)] = vyre_build_for(
        r->to, first, end, vyre_rebuild_operand(r, range.step), count, carried, out_args);
}

void vyre_rebuild_open(vyre_rebuild *r, uint32_t owner) {
    const vyre_inst *inst = &r->ir->insts[owner];
    switch (vyre_inst_op(inst)) {
    case VYRE_OP_IF: vyre_build_if(r->to, vyre_rebuild_operand(r, inst->a)); return;
    case VYRE_OP_INLINE: vyre_build_inline(r->to); return;
    case VYRE_ONE_OF(FOR, LOOP): break;
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, PICK, JUMP, NONE):
        r->unknown = owner;
        return;
    }
    vyre_list initial = vyre_loop_initial(r->ir, owner);
    uint32_t *list = copy_list(r, initial.items, initial.count);
    if (list) {
        vyre_rebuild_loop(r, owner, initial.count, list,
                          r->values + vyre_loop_arg(r->ir, owner, 0));
    }
    vyre_free(list);
}

void vyre_rebuild_blocks(vyre_rebuild *r, uint32_t owner) {
    if (r->ir->insts[owner].op == VYRE_OP_IF) {
        vyre_rebuild_code(r, vyre_then_block(r->ir, owner));
        vyre_build_else(r->to);
        vyre_rebuild_code(r, vyre_else_block(r->ir, owner));
    } else {
        vyre_rebuild_code(r, vyre_body_block(r->ir, owner));
    }
}

void vyre_rebuild_end(vyre_rebuild *r, uint32_t owner, uint32_t count, uint32_t *out_results) {
    switch (vyre_inst_op(&r->ir->insts[owner])) {
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, PICK, JUMP, NONE):
        break;
    case VYRE_OP_IF: vyre_build_if_end(r->to, count, out_results); return;
    case VYRE_OP_INLINE: vyre_build_inline_end(r->to, count, out_results); return;
    case VYRE_ONE_OF(FOR, LOOP): vyre_build_loop_end(r->to, count, out_results); return;
    }
    r->unknown = owner;
}

void vyre_rebuild_close(vyre_rebuild *r, uint32_t owner) {
    vyre_rebuild_end(r, owner, vyre_result_count(r->ir, owner),
                     r->values + vyre_result(r->ir, owner, 0));
}

void vyre_rebuild_jump(vyre_rebuild *r, uint32_t jump, uint32_t count, const uint32_t *values) {
    switch (vyre_inst_op(&r->ir->insts[jump])) {
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, BLOCK, PICK, NONE):
        break;
    case VYRE_OP_YIELD: vyre_build_yield(r->to, count, values); return;
    case VYRE_OP_BREAK: vyre_build_break(r->to, count, values); return;
    case VYRE_OP_CONTINUE: vyre_build_continue(r->to, count, values); return;
    case VYRE_OP_RETURN: vyre_build_return(r->to, count, values); return;
    case VYRE_OP_UNREACHABLE: return; /* the builder puts it there by itself */
    }
    r->unknown = jump;
}

static void copy_jump(vyre_rebuild *r, uint32_t at) {
    vyre_list values = vyre_inst_operands(r->ir, &r->ir->insts[at]);
    bool is_left = r->ir->insts[at].op == VYRE_OP_UNREACHABLE || (r->replace && r->replace(r, at));
    uint32_t *list = is_left ? NULL : copy_list(r, values.items, values.count);
    if (list) {
        vyre_rebuild_jump(r, at, values.count, list);
    }
    vyre_free(list);
}

uint32_t vyre_rebuild_inst(vyre_rebuild *r, uint32_t at, uint32_t array, const uint32_t *operands) {
    const vyre_inst *inst = &r->ir->insts[at];
    vyre_op op = vyre_inst_op(inst);
    switch (op) {
    case VYRE_OP_PARAM: return vyre_build_param(r->to, r->scalars[inst->a]);
    case VYRE_OP_ITERATION: return vyre_build_iteration(r->to, r->repeats[inst->a]);
    case VYRE_ANY_OF(POSITION): return vyre_build_position(r->to, op, inst->a);
    case VYRE_ANY_OF(PURE, ELEMENTARY, SHUFFLE, VOTE):
        return builder_op(r->to, op, vyre_inst_type(inst), operands);
    case VYRE_ANY_OF(COMBINE):
        return vyre_build_combine(r->to, op, (vyre_combination)inst->aux, operands[0]);
    case VYRE_OP_MATRIX_MAD:
        vyre_build_matrix_mad(r->to, operands, r->values + vyre_result(r->ir, at, 0));
        return VYRE_NONE;
    case VYRE_OP_LEN: return vyre_build_len(r->to, array);
    case VYRE_OP_LOAD: return vyre_build_load(r->to, array, operands[0]);
    case VYRE_OP_UNIFORM_LOAD: return vyre_build_uniform_load(r->to, array, operands[0]);
    case VYRE_OP_STORE: vyre_build_store(r->to, array, operands[0], operands[1]); return VYRE_NONE;
    case VYRE_OP_CLEAR: vyre_build_clear(r->to, array); return VYRE_NONE;
    case VYRE_ANY_OF(ATOMIC):
        return vyre_build_atomic(r->to, op, array, operands[0], operands[1], operands[2],
                                 vyre_atomic_ordering(inst), vyre_atomic_scope(inst));
    case VYRE_ANY_OF(BARRIER): vyre_build_barrier(r->to, op); return VYRE_NONE;
    case VYRE_ANY_OF(CONTROL, NONE): break;
    }
    r->unknown = at;
    return VYRE_NONE;
}

static uint32_t copy_value(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    vyre_list values = vyre_inst_operands(r->ir, inst);
    uint32_t operands[VYRE_MATRIX_OPERANDS] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    for (uint32_t i = 0; i < values.count && i < VYRE_MATRIX_OPERANDS; i++) {
        operands[i] = vyre_rebuild_operand(r, values.items[i]);
    }
    bool is_access = vyre_inst_has_resource(inst);
    uint32_t array = is_access ? r->resources[vyre_access_resource(inst)] : VYRE_NONE;
    return vyre_rebuild_inst(r, at, array, operands);
}

static void copy_message(vyre_rebuild *r, const vyre_inst *inst) {
    vyre_list values = vyre_inst_operands(r->ir, inst);
    uint32_t *list = copy_list(r, values.items, values.count);
    if (list) {
        builder_message(r->to, vyre_inst_op(inst), r->resources[vyre_access_resource(inst)],
                        values.count, list);
    }
    vyre_free(list);
}

static void copy_inst(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    bool comes_with_owner = inst->op == VYRE_OP_ARG || inst->op == VYRE_OP_RESULT;
    if (comes_with_owner || (r->replace && r->replace(r, at))) {
        return;
    }
    if (vyre_op_is_message(inst->op)) {
        copy_message(r, inst);
    } else {
        r->values[at] = copy_value(r, at);
    }
}

/* Where a copy goes on behind the rest of a block that something put in place of an instruction has
 * left; `owner` is the block's. */
static uint32_t behind_rest(const vyre_ir *ir, uint32_t owner, uint32_t at) {
    bool in_then = ir->insts[owner].op == VYRE_OP_IF && at < vyre_else_block(ir, owner).first;
    return in_then ? vyre_else_block(ir, owner).first : vyre_owner_end(ir, owner);
}

void vyre_rebuild_code(vyre_rebuild *r, vyre_block code) {
    const vyre_ir *ir = r->ir;
    uint32_t owners[VYRE_LIMIT_NESTING + 1], depth = 0;
    for (uint32_t at = code.first; at < code.end;) {
        while (depth && vyre_owner_end(ir, owners[depth - 1]) == at) {
            vyre_rebuild_close(r, owners[--depth]);
        }
        if (depth && ir->insts[owners[depth - 1]].op == VYRE_OP_IF &&
            vyre_else_block(ir, owners[depth - 1]).first == at) {
            vyre_build_else(r->to);
        }
        if (!vyre_build_reachable(r->to)) {
            at = depth ? behind_rest(ir, owners[depth - 1], at) : code.end;
            continue;
        }
        uint32_t effects = vyre_inst_effects(&ir->insts[at]);
        set_place_of(r, at);
        if (effects & VYRE_EFFECT_BLOCK) {
            if (r->replace_block && r->replace_block(r, at)) {
                at = vyre_result(ir, at, vyre_result_count(ir, at));
                continue;
            }
            set_place_of(r, at);
            vyre_rebuild_open(r, at);
            owners[depth++] = at;
        } else if (effects & VYRE_EFFECT_END) {
            copy_jump(r, at);
        } else {
            copy_inst(r, at);
        }
        at++;
    }
    while (depth) {
        vyre_rebuild_close(r, owners[--depth]);
    }
}

void vyre_rebuild_one(vyre_rebuild *r, uint32_t inst) {
    vyre_rebuild_code(r, (vyre_block){inst, vyre_inst_next(r->ir, inst)});
}

/* Of several that became one, the first gives its name. */
void vyre_rebuild_names(vyre_rebuild *r, const vyre_phase *phase) {
    while (r->next_name < r->ir->value_name_count &&
           r->ir->value_names[r->next_name].value < phase->first) {
        r->next_name++; /* of a phase that is not there any more */
    }
    if (r->next_name == r->ir->value_name_count ||
        r->ir->value_names[r->next_name].value >= phase->end) {
        return;
    }
    size_t first = r->to->phases.count ? r->to->phases.items[r->to->phases.count - 1].first : 0;
    bool *named = vyre_alloc_zeroed(r->to->insts.count - first, sizeof *named);
    if (!named) {
        builder_no_memory(r->to);
        return;
    }
    for (; r->next_name < r->ir->value_name_count &&
           r->ir->value_names[r->next_name].value < phase->end;
         r->next_name++) {
        const vyre_value_name *row = &r->ir->value_names[r->next_name];
        uint32_t value = r->values[row->value];
        if (value >= first && value < r->to->insts.count && !named[value - first]) {
            named[value - first] = true;
            vyre_build_name(r->to, value, r->ir->debug_strings + row->name);
        }
    }
    vyre_free(named);
}

vyre_phase_desc vyre_rebuild_phase_desc(vyre_rebuild *r, uint32_t step) {
    const vyre_phase *phase = &r->ir->phases[r->ir->steps[step].size];
    vyre_phase_desc desc = {.name = vyre_rebuild_step_name(r, step),
                            .dimensions = phase->dimensions,
                            .from_memory = phase->from_resource != VYRE_NONE,
                            .subgroup = phase->subgroup};
    for (uint32_t i = 0; i < 3; i++) {
        desc.domain[i] = vyre_rebuild_size(r, phase->domain[i]);
        desc.workgroup[i] = phase->workgroup[i];
    }
    if (desc.from_memory) {
        desc.from_resource = r->resources[phase->from_resource];
        desc.from_index = vyre_rebuild_size(r, phase->from_index);
    }
    return desc;
}

void vyre_rebuild_array(vyre_rebuild *r, uint32_t resource) {
    const vyre_resource *row = &r->ir->resources[resource];
    const char *name = vyre_rebuild_resource_name(r, resource);
    vyre_type type = vyre_resource_type(row);
    if (row->kind == VYRE_RESOURCE_PRIVATE) {
        r->resources[resource] = vyre_build_private(r->to, name, type, row->length);
    } else if (row->size != VYRE_NONE && !r->lengths) {
        r->resources[resource] =
            vyre_build_shared_sized(r->to, name, type, vyre_rebuild_size(r, row->size));
    } else {
        uint32_t length = row->size == VYRE_NONE ? row->length : r->lengths[resource];
        r->resources[resource] = vyre_build_shared(r->to, name, type, length);
    }
}

void vyre_rebuild_phase_begin(vyre_rebuild *r, uint32_t step) {
    const vyre_phase *phase = &r->ir->phases[r->ir->steps[step].size];
    vyre_phase_desc desc = vyre_rebuild_phase_desc(r, step);
    vyre_build_phase(r->to, &desc);
    for (uint32_t i = phase->first_resource; i < phase->end_resource; i++) {
        if (!r->left_out || !r->left_out[i]) {
            vyre_rebuild_array(r, i);
        }
    }
}

static void copy_phase(vyre_rebuild *r, uint32_t step) {
    const vyre_phase *phase = &r->ir->phases[r->ir->steps[step].size];
    vyre_rebuild_phase_begin(r, step);
    vyre_rebuild_code(r, vyre_phase_block(phase));
    vyre_rebuild_names(r, phase);
    vyre_build_phase_end(r->to);
}

/* Opens a step that contains others. */
static void open_step(vyre_rebuild *r, uint32_t index) {
    const vyre_step *step = &r->ir->steps[index];
    const char *name = vyre_rebuild_step_name(r, index);
    if (step->kind == VYRE_STEP_ELSE) {
        vyre_build_branch_else(r->to);
        return;
    }
    uint32_t size = vyre_rebuild_size(r, step->size);
    if (step->kind == VYRE_STEP_REPEAT_COUNT) {
        r->repeats[index] = vyre_build_repeat(r->to, name, size);
    } else if (step->kind == VYRE_STEP_REPEAT_WHILE) {
        r->repeats[index] =
            vyre_build_repeat_while(r->to, name, r->resources[step->resource], size);
    } else {
        vyre_build_branch(r->to, r->resources[step->resource], size);
    }
}

/* The end of such a step; that of an `if` waits for its `else`. */
static void close_step(vyre_rebuild *r, uint32_t index) {
    const vyre_ir *ir = r->ir;
    uint32_t end = ir->steps[index].end;
    if (vyre_step_is_repeat(&ir->steps[index])) {
        vyre_build_repeat_end(r->to);
    } else if (end == ir->step_count || ir->steps[end].kind != VYRE_STEP_ELSE ||
               ir->steps[index].kind == VYRE_STEP_ELSE) {
        vyre_build_branch_end(r->to);
    }
}

static void copy_steps(vyre_rebuild *r) {
    const vyre_ir *ir = r->ir;
    uint32_t open[VYRE_LIMIT_REPEATS], depth = 0;
    for (uint32_t i = 0; i <= ir->step_count; i++) {
        while (depth && ir->steps[open[depth - 1]].end == i) {
            close_step(r, open[--depth]);
        }
        if (i == ir->step_count) {
            return;
        }
        const vyre_step *step = &ir->steps[i];
        if (step->kind == VYRE_STEP_PHASE) {
            if (!r->replace_phase || !r->replace_phase(r, i)) {
                copy_phase(r, i);
            }
        } else if (step->kind == VYRE_STEP_SWAP) {
            vyre_build_swap(r->to, r->resources[step->resource], r->resources[step->size]);
        } else {
            open_step(r, i);
            open[depth++] = i;
        }
    }
}

/* Calls that places point to keep their numbers. */
static void copy_scopes(vyre_rebuild *r) {
    for (uint32_t i = 0; i < r->ir->scope_count; i++) {
        const vyre_call_scope *scope = &r->ir->scopes[i];
        set_place(r, scope->call);
        vyre_build_scope_of(r->to, r->ir->debug_strings + scope->name,
                            r->ir->debug_strings + scope->file);
    }
    set_place(r, 0);
}

void vyre_rebuild_head(vyre_rebuild *rebuild) {
    const vyre_ir *ir = rebuild->ir;
    if (ir->file) {
        vyre_build_file(rebuild->to, ir->debug_strings + ir->file);
    }
    if (ir->flags & VYRE_PROGRAM_DETERMINISTIC) {
        vyre_build_deterministic(rebuild->to);
    }
    copy_scopes(rebuild);
}

void vyre_rebuild_build(vyre_rebuild *rebuild) {
    vyre_rebuild_head(rebuild);
    copy_interface(rebuild);
    if (rebuild->declare) {
        rebuild->declare(rebuild);
    }
    copy_steps(rebuild);
}

vyre_status vyre_rebuild_run(const vyre_program *from, vyre_rebuild rebuild,
                             vyre_program **out_program) {
    VYRE_TRY(vyre_rebuild_init(&rebuild, from));
    vyre_rebuild_build(&rebuild);
    vyre_status status = vyre_rebuild_finish(&rebuild, out_program);
    vyre_rebuild_deinit(&rebuild);
    return status;
}

vyre_status vyre_rebuild_finish(vyre_rebuild *rebuild, vyre_program **out_program) {
    if (rebuild->unknown != VYRE_NONE) {
        const char *name = vyre_lookup_op(rebuild->ir->insts[rebuild->unknown].op)->name;
        *out_program = NULL;
        return vyre_internal_error("no pass can copy the operation `%s`", name ? name : "?");
    }
    return vyre_builder_finish(rebuild->to, NULL, out_program);
}

/* Splicing */

typedef struct splice {
    const uint32_t *arguments;
    uint32_t result;
} splice;

static bool splice_inst(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    splice *s = r->user;
    if (inst->op == VYRE_OP_PARAM) {
        r->values[at] = s->arguments[inst->a];
        return true;
    }
    if (inst->op == VYRE_OP_STORE) {
        s->result = vyre_rebuild_operand(r, vyre_access_value(r->ir, inst));
        return true;
    }
    return false;
}

uint32_t vyre_rebuild_splice(vyre_builder *to, const vyre_program *function, const char *name,
                             const uint32_t *arguments) {
    const vyre_ir *ir = vyre_program_ir(function);
    splice s = {.arguments = arguments, .result = VYRE_NONE};
    /* Places of the function's own file mean nothing in the program it goes into. */
    vyre_ir bare = *ir;
    bare.place_count = 0;
    vyre_rebuild r = {.from = function, .ir = &bare, .to = to, .replace = splice_inst, .user = &s};
    r.unknown = VYRE_NONE;
    r.values = vyre_alloc_array(ir->inst_count, sizeof(uint32_t));
    if (!r.values) {
        builder_no_memory(to);
        return VYRE_NONE;
    }
    vyre_block code = vyre_phase_block(&ir->phases[0]);
    code.end = vyre_block_terminator(code); /* without the last return */
    vyre_build_scope(to, name);
    vyre_rebuild_code(&r, code);
    vyre_build_scope_end(to);
    vyre_free(r.values);
    return r.unknown == VYRE_NONE ? s.result : VYRE_NONE; /* which the builder refuses */
}
