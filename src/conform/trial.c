#include "conform/trial.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
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

uint8_t *conform_trial_add(conform_trial *trial, const char *name, vyre_type type, size_t count) {
    conform_trial_value *grown =
        vyre_resize(trial->values, trial->value_count + 1, sizeof *trial->values);
    if (!grown) {
        return NULL;
    }
    trial->values = grown;
    size_t size = count * vyre_type_bytes(type);
    conform_trial_value value = {vyre_copy_string(name), vyre_alloc_zeroed(size + 1, 1), size};
    if (!value.name || !value.data) {
        vyre_free(value.name);
        vyre_free(value.data);
        return NULL;
    }
    trial->values[trial->value_count++] = value;
    return value.data;
}

void conform_element_put(uint8_t *data, size_t index, vyre_type type, uint64_t bits) {
    uint32_t bytes = vyre_type_bytes(type);
    for (uint32_t k = 0; k < bytes; k++) {
        data[index * bytes + k] = (uint8_t)(bits >> 8 * k);
    }
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
