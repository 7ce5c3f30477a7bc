#include "runtime/plan.h"

#include "ir/lookup.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "ir/program.h"
#include "ir/size.h"
#include "runtime/plan_steps.h"

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

static bool is_scalar(const vyre_plan *plan, uint32_t arg) {
    return plan->ir->args[arg].resource == VYRE_NONE;
}

/* A scalar's bits as a number extended by its own sign rule. */
static vyre_status bind_scalar(vyre_plan *plan, uint32_t arg, uint64_t bits) {
    vyre_type type = (vyre_type)plan->ir->args[arg].type;
    uint32_t width = vyre_type_bytes(type) * 8;
    if (type == VYRE_TYPE_BOOL && bits > 1) {
        return refuse(plan, arg, "pass 0 or 1", "the bool is neither 0 nor 1", bits, 1);
    }
    if (width < 64 && bits >> width) {
        return refuse(plan, arg, "pass a value of the scalar's type",
                      "the value has more bits than the scalar", bits, ((uint64_t)1 << width) - 1);
    }
    bool negative = vyre_type_class_of(type) == VYRE_CLASS_SIGNED && bits >> (width - 1) & 1;
    plan->arguments[arg] = negative && width < 64 ? bits | ~(uint64_t)0 << width : bits;
    return VYRE_OK;
}

static vyre_status bind_buffer(vyre_plan *plan, uint32_t arg, uint64_t size) {
    uint32_t bytes = vyre_arg_bytes(plan->ir, &plan->ir->args[arg]);
    if (size % bytes) {
        return refuse(plan, arg, "pass whole elements",
                      "the size in bytes is not a multiple of the element size", size,
                      size / bytes * bytes);
    }
    if (size / bytes > UINT32_MAX) {
        return refuse(plan, arg, "split the buffer", "too many elements", size / bytes, UINT32_MAX);
    }
    plan->arguments[arg] = size / bytes;
    return VYRE_OK;
}

static vyre_status bind_input(vyre_plan *plan, uint32_t arg, const vyre_input *input) {
    if (!input->data && input->size) {
        return refuse(plan, arg, "pass its data", "no data", 0, input->size);
    }
    if (!is_scalar(plan, arg)) {
        return bind_buffer(plan, arg, input->size);
    }
    uint32_t bytes = vyre_type_bytes((vyre_type)plan->ir->args[arg].type);
    if (input->size != bytes) {
        return refuse(plan, arg, "pass a value of the scalar's type", "wrong number of bytes",
                      input->size, bytes);
    }
    uint64_t bits = 0;
    for (size_t i = input->size; i-- > 0;) {
        bits = bits << 8 | ((const unsigned char *)input->data)[i];
    }
    return bind_scalar(plan, arg, bits);
}

static vyre_status bind_inputs(vyre_plan *plan, const vyre_input *inputs, size_t count) {
    if (count != plan->input_count) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "pass every scalar and every buffer that is not `out`, in "
                                "declaration order",
                                "program `%s` takes %u input%s, found %zu",
                                vyre_program_name(plan->program), plan->input_count,
                                plan->input_count == 1 ? "" : "s", count);
    }
    for (uint32_t i = 0; i < plan->input_count; i++) {
        VYRE_TRY(bind_input(plan, plan->inputs[i], &inputs[i]));
    }
    return VYRE_OK;
}

static vyre_status bind_values(vyre_plan *plan, const vyre_plan_value *values, size_t count) {
    if (count != plan->ir->arg_count) {
        return vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT,
            "bind every argument, including `out` buffers, in declaration order",
            "program `%s` has %u argument%s, found %zu", vyre_program_name(plan->program),
            plan->ir->arg_count, plan->ir->arg_count == 1 ? "" : "s", count);
    }
    for (uint32_t arg = 0; arg < count; arg++) {
        VYRE_TRY(is_scalar(plan, arg) ? bind_scalar(plan, arg, values[arg].bits)
                                      : bind_buffer(plan, arg, values[arg].bytes));
    }
    return VYRE_OK;
}

/* Resident `out` buffers bring a size, too, which must be the program's. */
static vyre_status check_out(const vyre_plan *plan, const vyre_plan_value *values) {
    for (uint32_t i = 0; i < plan->output_count; i++) {
        uint64_t bytes = vyre_plan_output_bytes(plan, i);
        uint32_t arg = plan->outputs[i];
        if (values[arg].bytes != bytes) {
            return refuse(plan, arg, "bind a buffer of the size that the program declares",
                          "wrong number of bytes", values[arg].bytes, bytes);
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
static vyre_status size_buffers(vyre_plan *plan) {
    const vyre_ir *ir = plan->ir;
    const vyre_dispatch_config *config = &plan->config;
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t resource = ir->args[arg].resource;
        if (resource == VYRE_NONE) {
            continue;
        }
        const vyre_resource *row = &ir->resources[resource];
        VYRE_TRY(eval_size(plan, row->size));
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
            plan->output_bytes += plan->arguments[arg] * vyre_resource_stride(ir, row);
        }
    }
    if (config->max_output_bytes && plan->output_bytes > config->max_output_bytes) {
        return vyre_status_make(VYRE_STATUS_LIMIT, "raise the limit, or pass smaller arguments",
                                "program `%s` has outputs of %llu bytes, and the limit is %llu",
                                vyre_program_name(plan->program),
                                (unsigned long long)plan->output_bytes,
                                (unsigned long long)config->max_output_bytes);
    }
    return VYRE_OK;
}

/* Says who requires it: an operation that was called, if it was not the program itself. */
static vyre_status refuse_requirement(const vyre_plan *plan, uint32_t index) {
    const vyre_ir *ir = plan->ir;
    const vyre_requirement *row = &ir->requirements[index];
    vyre_strbuf text = {0};
    uint32_t scope =
        ir->requirement_place_count ? VYRE_PLACE_SCOPE(ir->requirement_places[index]) : 0;
    vyre_strbuf_printf(&text, "program `%s`", vyre_program_name(plan->program));
    for (bool first = true; scope; first = false) {
        const vyre_call_scope *call = &ir->scopes[scope - 1];
        scope = VYRE_PLACE_SCOPE(call->call);
        const char *file = vyre_ir_file(ir, scope);
        vyre_strbuf_printf(&text, "%s%s, called from %s%s%u:%u", first ? ": " : ", in ",
                           ir->debug_strings + call->name, file, *file ? ":" : "line ",
                           VYRE_PLACE_LINE(call->call), VYRE_PLACE_COLUMN(call->call));
    }
    vyre_strbuf_puts(&text, " requires that ");
    vyre_size_print(&text, ir, row->left);
    vyre_strbuf_puts(&text, " is ");
    vyre_size_print(&text, ir, row->right);
    vyre_status status = vyre_status_make(
        VYRE_STATUS_INVALID_ARGUMENT, "pass buffers and arguments that make the two sizes equal",
        "%s, found %llu and %llu", vyre_strbuf_string(&text),
        (unsigned long long)plan->sizes[row->left], (unsigned long long)plan->sizes[row->right]);
    vyre_strbuf_free(&text);
    return status;
}

static vyre_status check_requirements(vyre_plan *plan) {
    for (uint32_t i = 0; i < plan->ir->requirement_count; i++) {
        const vyre_requirement *row = &plan->ir->requirements[i];
        VYRE_TRY(eval_size(plan, row->left));
        VYRE_TRY(eval_size(plan, row->right));
        if (plan->sizes[row->left] != plan->sizes[row->right]) {
            return refuse_requirement(plan, i);
        }
    }
    return VYRE_OK;
}

static vyre_status size_scratch(vyre_plan *plan) {
    const vyre_ir *ir = plan->ir;
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        const vyre_resource *row = &ir->resources[i];
        if (row->kind == VYRE_RESOURCE_SHARED) {
            VYRE_TRY(eval_size(plan, row->size));
        }
        if (row->kind != VYRE_RESOURCE_SCRATCH) {
            continue;
        }
        VYRE_TRY(eval_size(plan, row->size));
        uint64_t length = plan->sizes[row->size];
        if (length > UINT32_MAX) {
            return vyre_status_make(VYRE_STATUS_LIMIT, "pass smaller buffers or arguments",
                                    "program `%s`: a scratch array would have %llu elements",
                                    vyre_program_name(plan->program), (unsigned long long)length);
        }
    }
    return VYRE_OK;
}

static vyre_status refuse_config(const vyre_plan *plan, const char *fix, const char *what) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix, "program `%s`: %s",
                            vyre_program_name(plan->program), what);
}

/* A domain in place of the program's: the program must have one phase, with as many dimensions. */
static vyre_status check_grid(const vyre_plan *plan) {
    const uint64_t *grid = plan->config.grid;
    const vyre_ir *ir = plan->ir;
    if (!grid[0] && !grid[1] && !grid[2]) {
        return VYRE_OK;
    }
    if (ir->step_count != 1 || ir->phases[0].from_resource != VYRE_NONE) {
        return refuse_config(plan, "do not set a grid for this program",
                             "a grid is set, but the program does not have a single phase with a "
                             "domain known before the run");
    }
    for (uint32_t i = 0; i < 3; i++) {
        if ((i < ir->phases[0].dimensions) != (grid[i] != 0)) {
            return refuse_config(plan, "set one number for each dimension of the domain",
                                 "the grid and the domain have different numbers of dimensions");
        }
    }
    return VYRE_OK;
}

/* Words that a later version may give a meaning. */
static vyre_status check_reserved(const vyre_plan *plan) {
    const uint64_t known = VYRE_DISPATCH_NO_ASSERTS | VYRE_DISPATCH_STREAM;
    bool has_stream = plan->config.flags & VYRE_DISPATCH_STREAM;
    return plan->config.reserved[0] || plan->config.flags & ~known ||
                   (plan->config.stream && !has_stream)
               ? refuse_config(plan,
                               "zero the config, then set the fields you need; for newer fields, "
                               "upgrade vyre",
                               "the config sets fields that this version does not know")
               : VYRE_OK;
}

vyre_status vyre_check_demand(const vyre_program *program, const vyre_dispatch_config *config) {
    uint32_t demand = config->determinism;
    if (demand > VYRE_DEMAND_PROVEN || config->grade > VYRE_GRADE_NORMAL_RANGE) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "set the config's fields to a vyre_demand and a vyre_grade",
                                "the config has determinism %u and grade %u, and one of them is "
                                "not a valid value",
                                demand, config->grade);
    }
    if (demand == VYRE_DEMAND_NOTHING) {
        return VYRE_OK;
    }
    vyre_determinism found = vyre_program_determinism(program);
    bool met = demand == VYRE_DEMAND_PROVEN ? found == VYRE_DETERMINISTIC
                                            : found != VYRE_SCHEDULE_DEPENDENT;
    return met ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "demand less, or change the program so that its result does not "
                                  "depend on the schedule",
                                  "program `%s` is %s, and the run demands more: %s",
                                  vyre_program_name(program), vyre_determinism_name(found),
                                  vyre_program_determinism_reason(program));
}

static uint64_t *take(uint64_t **next, size_t count, size_t item_bytes) {
    uint64_t *taken = *next;
    *next += (count * item_bytes + 7) / 8;
    return taken;
}

/* Lays out all arrays in the plan's own room, or in one block. */
static vyre_status make_room(vyre_plan *plan) {
    const vyre_ir *ir = plan->ir;
    size_t words = (size_t)ir->arg_count * 3 + ir->size_count + 2 +
                   (size_t)ir->phase_count * (sizeof(vyre_grid) / 8);
    uint64_t *next = plan->room;
    if (words > VYRE_PLAN_ROOM) {
        next = plan->block = vyre_alloc_array(words, 8);
        if (!next) {
            return vyre_no_memory("to bind the arguments of `%s`",
                                  vyre_program_name(plan->program));
        }
    }
    memset(next, 0, words * 8);
    plan->arguments = take(&next, ir->arg_count, 8);
    plan->sizes = take(&next, ir->size_count, 8);
    plan->grids = (vyre_grid *)(void *)take(&next, ir->phase_count, sizeof(vyre_grid));
    plan->inputs = (uint32_t *)(void *)take(&next, ir->arg_count, 4);
    plan->outputs = (uint32_t *)(void *)take(&next, ir->arg_count, 4);
    return VYRE_OK;
}

static vyre_status plan_start(vyre_plan *plan, const vyre_program *program,
                              const vyre_dispatch_config *config) {
    const vyre_ir *ir = vyre_program_ir(program);
    plan->program = program;
    plan->ir = ir;
    plan->config = *config;
    plan->input_count = plan->output_count = 0;
    plan->output_bytes = 0;
    plan->block = NULL;
    plan->arguments = plan->sizes = NULL;
    plan->inputs = plan->outputs = NULL;
    plan->grids = NULL;
    VYRE_TRY(make_room(plan));
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t resource = ir->args[arg].resource;
        if (!vyre_ir_is_out(ir, arg)) {
            plan->inputs[plan->input_count++] = arg;
        }
        if (resource != VYRE_NONE && ir->resources[resource].access != VYRE_ACCESS_IN) {
            plan->outputs[plan->output_count++] = arg;
        }
    }
    return VYRE_OK;
}

/* The largest grid of any iteration, and of any domain that comes from memory. */
static vyre_grid largest_grid(const vyre_plan *plan, uint32_t phase) {
    const vyre_phase *row = &plan->ir->phases[phase];
    vyre_grid grid = {{1, 1, 1}, {0, 0, 0}};
    for (uint32_t i = 0; i < row->dimensions; i++) {
        grid.domain[i] = plan->config.grid[i] ? plan->config.grid[i] : plan->sizes[row->domain[i]];
    }
    for (uint32_t i = 0; i < 3 && row->workgroup[0]; i++) {
        grid.groups[i] = (grid.domain[i] + row->workgroup[i] - 1) / row->workgroup[i];
    }
    return grid;
}

static vyre_status plan_finish(vyre_plan *plan) {
    VYRE_TRY(size_buffers(plan));
    VYRE_TRY(check_requirements(plan));
    VYRE_TRY(size_scratch(plan));
    VYRE_TRY(check_grid(plan));
    VYRE_TRY(vyre_plan_size_steps(plan));
    VYRE_TRY(check_reserved(plan));
    plan->config.prints = NULL; /* the host's own */
    plan->config.flags &= VYRE_DISPATCH_STREAM;
    VYRE_TRY(vyre_check_demand(plan->program, &plan->config));
    for (uint32_t i = 0; i < plan->ir->phase_count; i++) {
        plan->grids[i] = largest_grid(plan, i);
    }
    return VYRE_OK;
}

static vyre_status plan_inputs(vyre_plan *plan, const vyre_input *inputs, size_t count) {
    VYRE_TRY(bind_inputs(plan, inputs, count));
    return plan->config.flags & VYRE_DISPATCH_STREAM
               ? vyre_status_make(
                     VYRE_STATUS_UNSUPPORTED,
                     "run on resident buffers, or wait for the stream's work and run "
                     "without VYRE_DISPATCH_STREAM",
                     "program `%s`: a run on data of the host has no order in a stream",
                     vyre_program_name(plan->program))
               : plan_finish(plan);
}

static vyre_status plan_values(vyre_plan *plan, const vyre_plan_value *values, size_t count) {
    VYRE_TRY(bind_values(plan, values, count));
    VYRE_TRY(plan_finish(plan));
    return check_out(plan, values);
}

vyre_status vyre_plan_init(vyre_plan *plan, const vyre_program *program, const vyre_input *inputs,
                           size_t input_count, const vyre_dispatch_config *config) {
    VYRE_TRY(plan_start(plan, program, config));
    vyre_status status = plan_inputs(plan, inputs, input_count);
    if (status) {
        vyre_plan_deinit(plan);
    }
    return status;
}

vyre_status vyre_plan_init_resident(vyre_plan *plan, const vyre_program *program,
                                    const vyre_plan_value *values, size_t count,
                                    const vyre_dispatch_config *config) {
    VYRE_TRY(plan_start(plan, program, config));
    vyre_status status = plan_values(plan, values, count);
    if (status) {
        vyre_plan_deinit(plan);
    }
    return status;
}

vyre_status vyre_plan_init_again(vyre_plan *plan, const vyre_program *original,
                                 const vyre_program *program, bool was_split,
                                 const vyre_call *call) {
    const vyre_ir *ir = vyre_program_ir(original);
    vyre_plan_value values[VYRE_LIMIT_ARGUMENTS];
    vyre_dispatch_config config = *call->config;
    config.max_output_bytes = 0;
    config.determinism = VYRE_DEMAND_NOTHING;
    if (was_split && (config.grid[0] || config.grid[1] || config.grid[2])) {
        /* Arrays that carry values over the cuts have room for that alone. */
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                "do not set a grid, or use a device with native grid barriers",
                                "a grid is set, but `%s` is split at its grid barriers here and "
                                "runs over its own domain",
                                vyre_program_name(program));
    }
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t bytes = vyre_arg_bytes(ir, &ir->args[arg]);
        uint64_t value = call->arguments[arg];
        uint64_t bits = bytes < 8 ? value & (((uint64_t)1 << bytes * 8) - 1) : value;
        values[arg] = (vyre_plan_value){value * bytes, bits};
    }
    return vyre_plan_init_resident(plan, program, values, ir->arg_count, &config);
}

void vyre_plan_deinit(vyre_plan *plan) {
    vyre_free(plan->block);
    plan->block = NULL;
    plan->arguments = plan->sizes = NULL;
    plan->inputs = plan->outputs = NULL;
    plan->grids = NULL;
}

vyre_call vyre_plan_call(const vyre_plan *plan, const vyre_input *inputs,
                         const vyre_native *native) {
    return (vyre_call){
        .program = plan->program,
        .config = &plan->config,
        .inputs = inputs,
        .input_count = inputs ? plan->input_count : 0,
        .arguments = plan->arguments,
        .argument_count = plan->ir->arg_count,
        .sizes = plan->sizes,
        .size_count = plan->ir->size_count,
        .grids = plan->grids,
        .grid_count = plan->ir->phase_count,
        .output_count = plan->output_count,
        .native = native,
        .reserved = {0, 0, 0, 0}, /* all that is named is stored, the rest would be filled first */
    };
}

uint64_t vyre_plan_output_bytes(const vyre_plan *plan, uint32_t output) {
    uint32_t arg = plan->outputs[output];
    return plan->arguments[arg] * vyre_arg_bytes(plan->ir, &plan->ir->args[arg]);
}

uint64_t vyre_plan_length(const vyre_plan *plan, uint32_t resource) {
    const vyre_ir *ir = plan->ir;
    const vyre_resource *row = &ir->resources[resource];
    resource = vyre_resource_is_field(row) ? row->size : resource;
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

uint64_t vyre_call_size(const vyre_ir *ir, const vyre_call *call, uint32_t size,
                        const uint32_t *iterations) {
    return vyre_size_counts(ir, size) ? vyre_size_now(ir, size, call->arguments, iterations)
                                      : call->sizes[size];
}

vyre_grid vyre_call_grid(const vyre_ir *ir, const vyre_call *call, uint32_t phase,
                         const uint32_t *iterations, const int64_t *from_memory) {
    const vyre_phase *row = &ir->phases[phase];
    vyre_grid grid = call->grids[phase];
    bool changes = row->from_resource != VYRE_NONE;
    for (uint32_t i = 0; i < row->dimensions; i++) {
        if (vyre_size_counts(ir, row->domain[i])) {
            grid.domain[i] = vyre_size_now(ir, row->domain[i], call->arguments, iterations);
            changes = true;
        }
        if (row->from_resource != VYRE_NONE && from_memory) {
            uint64_t count = from_memory[i] < 0 ? 0 : (uint64_t)from_memory[i];
            grid.domain[i] = count < grid.domain[i] ? count : grid.domain[i];
        }
    }
    for (uint32_t i = 0; i < 3 && row->workgroup[0] && changes; i++) {
        grid.groups[i] = (grid.domain[i] + row->workgroup[i] - 1) / row->workgroup[i];
    }
    return grid;
}

int64_t vyre_plan_element(vyre_type type, const void *element) {
    uint32_t bytes = vyre_type_bytes(type), width = bytes * 8;
    uint64_t value = 0;
    for (uint32_t i = bytes; i-- > 0;) {
        value = value << 8 | ((const uint8_t *)element)[i];
    }
    if (vyre_type_class_of(type) == VYRE_CLASS_SIGNED) {
        return value >> (width - 1) & 1 && width < 64 ? (int64_t)(value | ~(uint64_t)0 << width)
                                                      : (int64_t)value;
    }
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}
