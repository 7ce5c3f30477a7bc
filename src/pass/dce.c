#include "pass/dce.h"

#include "base/alloc.h"
#include "pass/rebuild.h"

static bool drop(vyre_rebuild *rebuild, uint32_t at) {
    const bool *used = rebuild->user;
    return !used[at];
}

vyre_status vyre_dce(const vyre_program *program, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_rebuild rebuild;
    *out_program = NULL;
    bool *used = vyre_alloc_zeroed(ir->inst_count, sizeof *used);
    if (!used) {
        return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again",
                                "no memory to optimise `%s`", vyre_program_name(program));
    }
    vyre_status status = VYRE_OK;
    bool has_any = false;
    for (uint32_t i = ir->inst_count; i-- > 0;) {
        const vyre_inst *inst = &ir->insts[i];
        uint32_t effects = vyre_op_info_of(inst->op)->effects;
        used[i] |= (effects & ~(uint32_t)VYRE_EFFECT_READ) != 0 || inst->op == VYRE_OP_ARG ||
                   inst->op == VYRE_OP_RESULT;
        const uint32_t *values;
        uint32_t count = vyre_inst_values(ir, inst, &values);
        for (uint32_t k = 0; used[i] && k < count; k++) {
            if (!(values[k] & VYRE_CONSTANT)) {
                used[values[k]] = true;
            }
        }
        has_any |= !used[i];
    }
    if (has_any) {
        status = vyre_rebuild_init(&rebuild, program);
        if (!status) {
            rebuild.replace = drop;
            rebuild.user = used;
            status = vyre_rebuild_run(&rebuild, out_program);
            vyre_rebuild_deinit(&rebuild);
        }
    }
    vyre_free(used);
    return status;
}
