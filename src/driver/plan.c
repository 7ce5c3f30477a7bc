#include "driver/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "ir/program.h"

static const char *arg_name(const vyre_plan *plan, uint32_t arg) {
    return plan->ir->strings + plan->ir->args[arg].name;
}

static vyre_status refuse(const vyre_plan *plan, uint32_t arg, const char *fix, const char *what,
                          unsigned long long found, unsigned long long expected) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix,
                            "program `%s`, argument `%s`: %s (found %llu, expected %llu)",
                            vyre_program_name(plan->program), arg_name(plan, arg), what, found,
                            expected);
}

/* A scalar's bytes, little-endian, as a number extended by its own sign rule. */
static uint64_t read_scalar(const vyre_input *input, vyre_type type) {
    const unsigned char *bytes = input->data;
    uint64_t value = 0;
    uint32_t width = vyre_type_bytes(type) * 8;
    for (size_t i = input->size; i-- > 0;) {
        value = value << 8 | bytes[i];
    }
    bool negative = vyre_type_class_of(type) == VYRE_CLASS_SIGNED && value >> (width - 1) & 1;
    return negative && width < 64 ? value | ~(uint64_t)0 << width : value;
}

static vyre_status bind_input(vyre_plan *plan, uint32_t arg, const vyre_input *input) {
    vyre_type type = (vyre_type)plan->ir->args[arg].type;
    uint32_t bytes = vyre_type_bytes(type);
    if (!input->data && input->size) {
        return refuse(plan, arg, "pass its data", "no data", 0, input->size);
    }
    if (plan->ir->args[arg].resource == VYRE_NONE) {
        if (input->size != bytes) {
            return refuse(plan, arg, "pass a value of the scalar's type", "wrong number of bytes",
                          input->size, bytes);
        }
        plan->arguments[arg] = read_scalar(input, type);
        if (type == VYRE_TYPE_BOOL && plan->arguments[arg] > 1) {
            return refuse(plan, arg, "pass 0 or 1", "a bool that is neither 0 nor 1",
                          plan->arguments[arg], 1);
        }
        return VYRE_OK;
    }
    if (input->size % bytes) {
        return refuse(plan, arg, "pass whole elements",
                      "the bytes are not a multiple of the element's size", input->size,
                      input->size / bytes * bytes);
    }
    if (input->size / bytes > UINT32_MAX) {
        return refuse(plan, arg, "split the buffer", "too many elements", input->size / bytes,
                      UINT32_MAX);
    }
    plan->arguments[arg] = input->size / bytes;
    return VYRE_OK;
}

static vyre_status bind_inputs(vyre_plan *plan, const vyre_input *inputs, size_t count) {
    if (count != plan->input_count) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "pass every scalar and every buffer that is not `out`, in the "
                                "order of declaration",
                                "program `%s` takes %u inputs, %zu were given",
                                vyre_program_name(plan->program), plan->input_count, count);
    }
    for (uint32_t i = 0; i < plan->input_count; i++) {
        vyre_status status = bind_input(plan, plan->inputs[i], &inputs[i]);
        if (status) {
            return status;
        }
    }
    return VYRE_OK;
}

static vyre_status eval_size(vyre_plan *plan, uint32_t size) {
    return size == VYRE_NONE
               ? VYRE_OK
               : vyre_size_eval(plan->program, size, plan->arguments, &plan->sizes[size]);
}

/* An `out` buffer gets its declared length; others must have brought theirs. Sizes can use the
 * lengths of inputs alone, so nothing here depends on the order. */
static vyre_status size_buffers(vyre_plan *plan, const vyre_dispatch_config *config) {
    const vyre_ir *ir = plan->ir;
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t resource = ir->args[arg].resource;
        if (resource == VYRE_NONE) {
            continue;
        }
        const vyre_resource *row = &ir->resources[resource];
        vyre_status status = eval_size(plan, row->size);
        if (status) {
            return status;
        }
        if (row->size != VYRE_NONE && row->access == VYRE_ACCESS_OUT) {
            plan->arguments[arg] = plan->sizes[row->size];
        } else if (row->size != VYRE_NONE && plan->arguments[arg] != plan->sizes[row->size]) {
            return refuse(plan, arg, "pass a buffer of the length that the program declares",
                          "wrong number of elements", plan->arguments[arg], plan->sizes[row->size]);
        }
        if (plan->arguments[arg] > UINT32_MAX) {
            return refuse(plan, arg, "make it smaller", "too many elements", plan->arguments[arg],
                          UINT32_MAX);
        }
        if (row->access != VYRE_ACCESS_IN) {
            plan->output_bytes += plan->arguments[arg] * vyre_type_bytes((vyre_type)row->type);
        }
    }
    if (config->max_output_bytes && plan->output_bytes > config->max_output_bytes) {
        return vyre_status_make(VYRE_STATUS_LIMIT, "raise the limit, or ask for less",
                                "program `%s` would write %llu bytes, the limit is %llu",
                                vyre_program_name(plan->program),
                                (unsigned long long)plan->output_bytes,
                                (unsigned long long)config->max_output_bytes);
    }
    return VYRE_OK;
}

static vyre_status size_scratch(vyre_plan *plan) {
    const vyre_ir *ir = plan->ir;
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        const vyre_resource *row = &ir->resources[i];
        if (row->kind != VYRE_RESOURCE_SCRATCH) {
            continue;
        }
        vyre_status status = eval_size(plan, row->size);
        if (status) {
            return status;
        }
        uint64_t length = plan->sizes[row->size];
        if (length > UINT32_MAX) {
            return vyre_status_make(VYRE_STATUS_LIMIT, "pass smaller buffers or arguments",
                                    "program `%s`: a scratch array would have %llu elements",
                                    vyre_program_name(plan->program), (unsigned long long)length);
        }
    }
    return VYRE_OK;
}

static vyre_status size_phase(vyre_plan *plan, uint32_t index) {
    const vyre_phase *phase = &plan->ir->phases[index];
    vyre_status status = eval_size(plan, phase->from_index);
    for (uint32_t i = 0; i < phase->dimensions && !status; i++) {
        status = eval_size(plan, phase->domain[i]);
        uint64_t group = phase->workgroup[i] ? phase->workgroup[i] : 1;
        uint64_t size = status ? 0 : plan->sizes[phase->domain[i]];
        /* `gid` is a u32, and so is `num_workgroups` where there are any. */
        uint64_t most =
            phase->workgroup[i] == 1 ? UINT32_MAX : ((uint64_t)UINT32_MAX + 1) / group * group;
        if (!status && size > most) {
            status = vyre_status_make(VYRE_STATUS_LIMIT, "pass smaller buffers or arguments",
                                      "program `%s`: a domain of %llu invocations in one "
                                      "dimension is too large",
                                      vyre_program_name(plan->program), (unsigned long long)size);
        }
    }
    return status;
}

static vyre_status size_steps(vyre_plan *plan) {
    const vyre_ir *ir = plan->ir;
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < ir->step_count && !status; i++) {
        status = ir->steps[i].kind == VYRE_STEP_PHASE ? size_phase(plan, ir->steps[i].size)
                                                      : eval_size(plan, ir->steps[i].size);
    }
    return status;
}

vyre_status vyre_plan_init(vyre_plan *plan, const vyre_program *program, const vyre_input *inputs,
                           size_t input_count, const vyre_dispatch_config *config) {
    const vyre_ir *ir = vyre_program_ir(program);
    *plan = (vyre_plan){.program = program, .ir = ir};
    plan->arguments = vyre_alloc_zeroed(ir->arg_count, sizeof *plan->arguments);
    plan->sizes = vyre_alloc_zeroed(ir->size_count, sizeof *plan->sizes);
    plan->inputs = vyre_alloc_array(ir->arg_count, sizeof *plan->inputs);
    plan->outputs = vyre_alloc_array(ir->arg_count, sizeof *plan->outputs);
    vyre_status status = VYRE_OK;
    if (!plan->arguments || !plan->sizes || !plan->inputs || !plan->outputs) {
        status =
            vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again",
                             "no memory to bind the arguments of `%s`", vyre_program_name(program));
        goto done;
    }
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t resource = ir->args[arg].resource;
        if (!vyre_ir_is_out(ir, arg)) {
            plan->inputs[plan->input_count++] = arg;
        }
        if (resource != VYRE_NONE && ir->resources[resource].access != VYRE_ACCESS_IN) {
            plan->outputs[plan->output_count++] = arg;
        }
    }
    status = bind_inputs(plan, inputs, input_count);
    status = status ? status : size_buffers(plan, config);
    status = status ? status : size_scratch(plan);
    status = status ? status : size_steps(plan);
done:
    if (status) {
        vyre_plan_deinit(plan);
    }
    return status;
}

void vyre_plan_deinit(vyre_plan *plan) {
    vyre_free(plan->arguments);
    vyre_free(plan->sizes);
    vyre_free(plan->inputs);
    vyre_free(plan->outputs);
    *plan = (vyre_plan){0};
}

uint64_t vyre_plan_output_bytes(const vyre_plan *plan, uint32_t output) {
    uint32_t arg = plan->outputs[output];
    return plan->arguments[arg] * vyre_type_bytes((vyre_type)plan->ir->args[arg].type);
}

uint64_t vyre_plan_length(const vyre_plan *plan, uint32_t resource) {
    const vyre_ir *ir = plan->ir;
    if (ir->resources[resource].kind == VYRE_RESOURCE_SCRATCH) {
        return plan->sizes[ir->resources[resource].size];
    }
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        if (ir->args[arg].resource == resource) {
            return plan->arguments[arg];
        }
    }
    return ir->resources[resource].length;
}

vyre_grid vyre_plan_grid(const vyre_plan *plan, uint32_t phase, int64_t from_memory) {
    const vyre_phase *row = &plan->ir->phases[phase];
    vyre_grid grid = {{1, 1, 1}, {0, 0, 0}};
    for (uint32_t i = 0; i < row->dimensions; i++) {
        grid.domain[i] = plan->sizes[row->domain[i]];
    }
    if (row->from_resource != VYRE_NONE) {
        uint64_t count = from_memory < 0 ? 0 : (uint64_t)from_memory;
        grid.domain[0] = count < grid.domain[0] ? count : grid.domain[0];
    }
    for (uint32_t i = 0; i < 3 && row->workgroup[0]; i++) {
        grid.groups[i] = (grid.domain[i] + row->workgroup[i] - 1) / row->workgroup[i];
    }
    return grid;
}
