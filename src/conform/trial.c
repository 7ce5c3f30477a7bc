#include "conform/trial.h"

#include <string.h>

#include "base/alloc.h"
#include "ir/program.h"

void conform_trial_free(conform_trial *trial) {
    vyre_program_release(trial->program);
    for (size_t i = 0; i < trial->value_count; i++) {
        vyre_free(trial->values[i].name);
        vyre_free(trial->values[i].data);
    }
    vyre_free(trial->values);
    *trial = (conform_trial){0};
}

vyre_input *conform_trial_inputs(const conform_trial *trial, const vyre_program *program,
                                 size_t *out_count) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_input *inputs = vyre_alloc_array((size_t)ir->arg_count + 1, sizeof *inputs);
    size_t count = 0;
    for (uint32_t arg = 0; inputs && arg < ir->arg_count; arg++) {
        if (vyre_ir_is_out(ir, arg)) {
            continue;
        }
        const char *name = ir->strings + ir->args[arg].name;
        size_t i = 0;
        while (i < trial->value_count && strcmp(trial->values[i].name, name) != 0) {
            i++;
        }
        if (i == trial->value_count) {
            vyre_free(inputs);
            return NULL;
        }
        inputs[count++] = (vyre_input){trial->values[i].data, trial->values[i].size};
    }
    *out_count = count;
    return inputs;
}
