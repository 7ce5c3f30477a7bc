/* A text with arguments in one call. */
#include <vyre/run.h>

#include <string.h>

#include <vyre/pipeline.h>

#include "backend/table.h"
#include "base/clock.h"
#include "base/status.h"
#include "dialect/snapshot.h"
#include "ir/program.h"
#include "route/router.h"
#include "route/texts.h"
#include "runtime/device.h"

typedef struct binding {
    const vyre_program *program;
    const vyre_argument *arguments;
    size_t count;
    vyre_input *inputs;
    size_t input_count;
    const vyre_argument **outputs;
    size_t output_count;
    vyre_output *memory; /* by argument of the program */
    bool in_place;       /* the run may work on it */
} binding;

static vyre_status refuse(const binding *b, const char *name, const char *fix, const char *what) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix, "program `%s`, argument `%s`: %s",
                            vyre_program_name(b->program), name, what);
}

static const vyre_argument *find_argument(const binding *b, const char *name) {
    for (size_t i = 0; i < b->count; i++) {
        if (b->arguments[i].name && !strcmp(b->arguments[i].name, name)) {
            return &b->arguments[i];
        }
    }
    return NULL;
}

static vyre_status check_names(const binding *b) {
    const vyre_ir *ir = vyre_program_ir(b->program);
    for (size_t i = 0; i < b->count; i++) {
        const char *name = b->arguments[i].name ? b->arguments[i].name : "";
        bool known = false;
        for (uint32_t arg = 0; arg < ir->arg_count && !known; arg++) {
            known = !strcmp(ir->strings + ir->args[arg].name, name);
        }
        if (!known) {
            return refuse(b, name, "name an argument of the program", "there is no such argument");
        }
        if (find_argument(b, name) != &b->arguments[i]) {
            return refuse(b, name, "pass it once", "it is passed twice");
        }
    }
    return VYRE_OK;
}

static vyre_status bind_each(binding *b) {
    const vyre_ir *ir = vyre_program_ir(b->program);
    vyre_status status = check_names(b);
    for (uint32_t arg = 0; arg < ir->arg_count && !status; arg++) {
        const char *name = ir->strings + ir->args[arg].name;
        const vyre_argument *given = find_argument(b, name);
        bool is_read = !vyre_ir_is_out(ir, arg);
        bool is_written = vyre_ir_is_output(ir, arg);
        if (!given) {
            status = refuse(b, name, "pass every argument of the program", "it is missing");
        } else if (is_read && !given->in && given->size) {
            status = refuse(b, name, "set `in`", "the program reads it, and `in` is NULL");
        } else if (!is_read && given->in) {
            status = refuse(b, name, "set only `out`", "it is an `out` buffer, and `in` is set");
        } else if (is_written && !given->out && given->size) {
            status = refuse(b, name, "set `out`", "the program writes it, and `out` is NULL");
        } else if (!is_written && given->out) {
            status = refuse(b, name, "leave `out` NULL",
                            "the program only reads it, and `out` is "
                            "set");
        }
        if (!status && is_read) {
            b->inputs[b->input_count++] = (vyre_input){given->in, given->size};
        }
        if (!status && is_written) {
            b->outputs[b->output_count++] = given;
            b->in_place = b->in_place && (!is_read || given->in == given->out);
        }
        if (!status) {
            void *memory = is_written ? given->out : (void *)(uintptr_t)given->in;
            b->memory[arg] = (vyre_output){memory, given->size};
        }
    }
    return status;
}

/* A run whose written memory overlaps another argument's goes through copies. */
static vyre_status bind(binding *b) {
    uint32_t written, other;
    b->in_place = true;
    VYRE_TRY(bind_each(b));
    b->in_place = b->in_place &&
                  !vyre_arguments_overlap(vyre_program_ir(b->program), b->memory, &written, &other);
    return VYRE_OK;
}

static vyre_status take_outputs(const binding *b, const vyre_outputs *outputs) {
    for (size_t i = 0; i < b->output_count; i++) {
        if (b->outputs[i]->size != outputs->items[i].size) {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                    "pass memory of the size that the program declares",
                                    "program `%s`, argument `%s`: the output has %zu bytes, and "
                                    "the memory %zu",
                                    vyre_program_name(b->program), b->outputs[i]->name,
                                    outputs->items[i].size, b->outputs[i]->size);
        }
    }
    for (size_t i = 0; i < b->output_count; i++) {
        if (b->outputs[i]->size) {
            memcpy(b->outputs[i]->out, outputs->items[i].data, b->outputs[i]->size);
        }
    }
    return VYRE_OK;
}

/* What is run where. */
typedef struct job {
    vyre_router *router;
    const char *device;              /* a name, "auto" or NULL */
    const vyre_operation *operation; /* NULL: the binding's program */
    vyre_router_request request;
    const vyre_dispatch_config *config;
    binding b;
    vyre_device *acquired;
    const vyre_router_choice *choice; /* NULL for a device that was named, unless somebody asks */
} job;

static bool is_auto(const char *device) {
    return !device || !strcmp(device, "auto");
}

static vyre_status acquire(job *j) {
    VYRE_TRY(vyre_router_default(&j->router));
    if (is_auto(j->device)) {
        for (size_t i = 0; i < j->b.count; i++) {
            j->request.bytes += j->b.arguments[i].size;
        }
        j->request.grade = vyre_config_or_default(j->config)->grade;
        VYRE_TRY(vyre_router_ask(j->router, &j->request, &j->choice));
        j->acquired = vyre_device_retain(j->choice->device);
        return VYRE_OK;
    }
    return vyre_router_name(j->router, j->device, &j->acquired);
}

/* Compiling is not part of what a run takes: it is done once. */
static vyre_status dispatch_and_learn(job *j) {
    const binding *b = &j->b;
    bool in_place = b->in_place && !vyre_router_may_explore(j->router, &j->request, j->choice);
    vyre_outputs outputs = {0};
    vyre_pipeline *pipeline;
    vyre_dispatch_config rest;
    uint64_t start_ns = vyre_now_ns();
    VYRE_TRY(vyre_device_compile(j->acquired, b->program, j->config, &pipeline));
    vyre_status status = vyre_config_rest(j->config, start_ns, b->program, &rest);
    uint64_t begin = vyre_route_now(&j->router->clock);
    status = status ? status
             : in_place
                 ? vyre_pipeline_dispatch_in_place(pipeline, b->memory, b->count, &rest)
                 : vyre_pipeline_dispatch(pipeline, b->inputs, b->input_count, &rest, &outputs);
    uint64_t end = vyre_route_now(&j->router->clock);
    if (!status) {
        vyre_router_observe(j->router, &(vyre_router_run){.request = &j->request,
                                                          .choice = j->choice,
                                                          .operation = j->operation,
                                                          .program = b->program,
                                                          .inputs = b->inputs,
                                                          .input_count = b->input_count,
                                                          .config = j->config,
                                                          .outputs = in_place ? NULL : &outputs,
                                                          .ns = end - begin});
        status = in_place ? VYRE_OK : take_outputs(b, &outputs);
    }
    vyre_outputs_free(&outputs);
    vyre_pipeline_release(pipeline);
    return status;
}

static vyre_status dispatch(job *j) {
    const binding *b = &j->b;
    if (is_auto(j->device) && atomic_load_explicit(&j->router->learns, memory_order_relaxed)) {
        return dispatch_and_learn(j);
    }
    if (b->in_place) {
        return vyre_device_dispatch_in_place(j->acquired, b->program, b->memory, b->count,
                                             j->config);
    }
    vyre_outputs outputs;
    VYRE_TRY(vyre_device_dispatch(j->acquired, b->program, b->inputs, b->input_count, j->config,
                                  &outputs));
    vyre_status status = take_outputs(b, &outputs);
    vyre_outputs_free(&outputs);
    return status;
}

/* Runs a program, and writes what comes out where the arguments say. */
static vyre_status run(job *j) {
    binding *b = &j->b;
    vyre_input inputs[VYRE_LIMIT_ARGUMENTS];
    const vyre_argument *outputs[VYRE_LIMIT_ARGUMENTS];
    vyre_output memory[VYRE_LIMIT_ARGUMENTS];
    b->inputs = inputs;
    b->outputs = outputs;
    b->memory = memory;
    vyre_status status = acquire(j);
    if (!status && j->operation) {
        status = vyre_operation_choose(j->operation, j->acquired, &b->program);
    }
    if (!status && !b->program) {
        status =
            vyre_status_make(VYRE_STATUS_UNSUPPORTED, "name a device that has a lowering of it",
                             "the operation `%s` has no program for device %s", j->operation->id,
                             vyre_device_name(j->acquired));
    }
    status = status ? status : bind(b);
    status = status ? status : dispatch(j);
    vyre_device_release(j->acquired);
    if (j->choice) {
        vyre_router_choice_log(j->choice);
        vyre_router_choice_release(j->choice);
    }
    return status;
}

vyre_status vyre_run(const char *device, const char *text, const vyre_argument *arguments,
                     size_t count, const vyre_dispatch_config *config) {
    vyre_program *program;
    job j = {.device = device, .config = config, .b = {.arguments = arguments, .count = count}};
    VYRE_TRY(vyre_texts_program(text, &program));
    j.b.program = j.request.program = program;
    vyre_status status = run(&j);
    vyre_program_release(program);
    return status;
}

vyre_status vyre_run_program(const char *device, const vyre_program *program,
                             const vyre_argument *arguments, size_t count,
                             const vyre_dispatch_config *config) {
    job j = {.device = device,
             .request.program = program,
             .config = config,
             .b = {.program = program, .arguments = arguments, .count = count}};
    return run(&j);
}

vyre_status vyre_operation_choose(const vyre_operation *operation, const vyre_device *device,
                                  const vyre_program **out_program) {
    const vyre_variant *best = NULL;
    *out_program =
        vyre_operation_registered(operation, vyre_backend_target(vyre_device_id(device)));
    if (*out_program) {
        return VYRE_OK;
    }
    const char *kind = device->profile.flags & VYRE_PROFILE_IS_GPU ? "gpu" : "cpu";
    for (size_t i = 0; i < operation->variant_count; i++) {
        const vyre_variant *here = &operation->variants[i];
        if (!strcmp(here->suits, vyre_device_id(device))) {
            best = here;
            break;
        }
        best = !best && !strcmp(here->suits, kind) ? here : best;
    }
    return vyre_operation_program(operation, best, out_program);
}

/* There is none of that id, or none that has a program. */
static vyre_status refuse_operation(const vyre_dialects *now, const vyre_operation *found,
                                    const char *id) {
    if (found) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                "run it through the API that registers it, such as vyre/io.h, or "
                                "use an operation with a program",
                                "the operation `%s` has no program", id);
    }
    return vyre_dialects_unknown(now, "operation", id);
}

static bool has_registered_program(const vyre_operation *operation) {
    bool any = false;
    for (size_t i = 0; i < operation->lowering_count && !any; i++) {
        any = operation->lowerings[i].program;
    }
    return any;
}

vyre_status vyre_run_operation(const char *device, const char *id, const vyre_argument *arguments,
                               size_t count, const vyre_dispatch_config *config) {
    vyre_dialects_guard guard;
    const vyre_dialects *now;
    job j = {.device = device,
             .request.op = id,
             .config = config,
             .b = {.arguments = arguments, .count = count}};
    VYRE_TRY(vyre_dialects_try_enter(&guard, &now));
    j.operation = vyre_dialects_find(now, id);
    vyre_status status = j.operation && (vyre_operation_has_program(j.operation) ||
                                         has_registered_program(j.operation))
                             ? run(&j)
                             : refuse_operation(now, j.operation, id);
    vyre_dialects_leave(&guard);
    return status;
}
