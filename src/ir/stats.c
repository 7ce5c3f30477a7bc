#include "ir/program.h"
#include "ir/section.h"

static void count_inst(vyre_stats *stats, const vyre_ir *ir, const vyre_inst *inst) {
    const vyre_op_info *info = vyre_op_info_of(inst->op);
    stats->cost += info->cost;
    stats->loads += inst->op == VYRE_OP_LOAD || inst->op == VYRE_OP_UNIFORM_LOAD;
    stats->stores += inst->op == VYRE_OP_STORE || inst->op == VYRE_OP_CLEAR;
    stats->atomics += (info->effects & VYRE_EFFECT_ATOMIC) != 0;
    stats->barriers += inst->op == VYRE_OP_BARRIER || inst->op == VYRE_OP_UNIFORM_LOAD;
    stats->grid_barriers += inst->op == VYRE_OP_GRID_BARRIER;
    stats->subgroup_ops += (info->effects & VYRE_EFFECT_SUBGROUP) != 0;
    stats->blocks += inst->op == VYRE_OP_IF ? 2 : (info->effects & VYRE_EFFECT_BLOCK) != 0;
    if (info->rule == VYRE_RULE_ELEMENTARY) {
        stats->elementary_ops++;
    } else if (!info->effects && info->rule > VYRE_RULE_OWN) {
        vyre_type_class operands = vyre_type_class_of(vyre_operand_type(ir, inst->a));
        bool is_float = operands == VYRE_CLASS_FLOAT ||
                        vyre_type_class_of((vyre_type)inst->type) == VYRE_CLASS_FLOAT;
        stats->float_ops += is_float;
        stats->integer_ops += !is_float;
    }
}

/* The deepest nesting, from where blocks end. */
static uint32_t measure_depth(const vyre_ir *ir) {
    uint32_t ends[VYRE_LIMIT_NESTING + 1], depth = 0, deepest = 0;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        while (depth && ends[depth - 1] == i) {
            depth--;
        }
        if (vyre_op_info_of(ir->insts[i].op)->effects & VYRE_EFFECT_BLOCK) {
            ends[depth++] = ir->insts[i].c;
            deepest = depth > deepest ? depth : deepest;
        }
    }
    return deepest;
}

vyre_stats vyre_program_stats(const vyre_program *program) {
    const vyre_ir *ir = &program->ir;
    vyre_stats stats = {.insts = ir->inst_count,
                        .phases = ir->phase_count,
                        .blocks = ir->phase_count,
                        .depth = measure_depth(ir),
                        .consts = ir->const_count,
                        .memory_bytes = sizeof *program};
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        count_inst(&stats, ir, &ir->insts[i]);
    }
    stats.constant_bytes = ir->data_bytes;
    for (uint32_t i = 0; i < ir->phase_count; i++) {
        uint32_t bytes[2] = {0, 0};
        for (uint32_t k = ir->phases[i].first_resource; k < ir->phases[i].end_resource; k++) {
            const vyre_resource *row = &ir->resources[k];
            bytes[row->kind == VYRE_RESOURCE_PRIVATE] +=
                row->length * vyre_type_bytes((vyre_type)row->type);
        }
        stats.shared_bytes = bytes[0] > stats.shared_bytes ? bytes[0] : stats.shared_bytes;
        stats.private_bytes = bytes[1] > stats.private_bytes ? bytes[1] : stats.private_bytes;
    }
    for (int id = 0; id < VYRE_SECTION_COUNT; id++) {
        stats.memory_bytes += (uint64_t)vyre_section_count(ir, (vyre_section_id)id) *
                              vyre_section_item_bytes((vyre_section_id)id);
    }
    return stats;
}
