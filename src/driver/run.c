/* A text with arguments in one call. */
#include <vyre/run.h>

#include <pthread.h>
#include <string.h>

#include <vyre/pipeline.h>
#include <vyre/text.h>

#include "base/alloc.h"
#include "dialect/snapshot.h"
#include "ir/program.h"

/* Devices that were acquired by name stay for the next call, with what they compiled. */
typedef struct kept {
    char *name;
    vyre_device *device;
    struct kept *next;
} kept;

static vyre_status acquire_kept(const char *name, vyre_device **out_device) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static kept *first;
    vyre_status status = VYRE_OK;
    name = name ? name : "auto";
    size_t size = strlen(name) + 1;
    pthread_mutex_lock(&lock);
    kept *row = first;
    while (row && (strcmp(row->name, name) != 0 || vyre_device_lost(row->device))) {
        row = row->next;
    }
    if (!row) {
        row = vyre_alloc_zeroed(1, sizeof *row + size);
        status = row ? vyre_acquire(name, &row->device)
                     : vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again",
                                        "no memory for a device");
        if (status) {
            vyre_free(row);
            row = NULL;
        } else {
            row->name = memcpy(row + 1, name, size);
            row->next = first;
            first = row;
        }
    }
    *out_device = row ? vyre_device_retain(row->device) : NULL;
    pthread_mutex_unlock(&lock);
    return status;
}

typedef struct binding {
    const vyre_program *program;
    const vyre_argument *arguments;
    size_t count;
    vyre_input inputs[VYRE_LIMIT_ARGUMENTS];
    size_t input_count;
    const vyre_argument *outputs[VYRE_LIMIT_ARGUMENTS];
    size_t output_count;
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
            return refuse(b, name, "give it once", "it is given twice");
        }
    }
    return VYRE_OK;
}

static vyre_status bind(binding *b) {
    const vyre_ir *ir = vyre_program_ir(b->program);
    vyre_status status = check_names(b);
    for (uint32_t arg = 0; arg < ir->arg_count && !status; arg++) {
        const char *name = ir->strings + ir->args[arg].name;
        const vyre_argument *given = find_argument(b, name);
        uint32_t resource = ir->args[arg].resource;
        bool is_read = !vyre_ir_is_out(ir, arg);
        bool is_written = resource != VYRE_NONE && ir->resources[resource].access != VYRE_ACCESS_IN;
        if (!given) {
            status = refuse(b, name, "give every argument of the program", "it is missing");
        } else if (is_read && !given->in && given->size) {
            status = refuse(b, name, "set `in`", "it is read, and has no `in`");
        } else if (!is_read && given->in) {
            status = refuse(b, name, "set `out` alone", "it is an `out` buffer, and has an `in`");
        } else if (is_written && !given->out && given->size) {
            status = refuse(b, name, "set `out`", "it is written, and has no `out`");
        } else if (!is_written && given->out) {
            status = refuse(b, name, "leave `out` NULL", "it is read alone, and has an `out`");
        }
        if (!status && is_read) {
            b->inputs[b->input_count++] = (vyre_input){given->in, given->size};
        }
        if (!status && is_written) {
            b->outputs[b->output_count++] = given;
        }
    }
    return status;
}

static vyre_status take_outputs(const binding *b, const vyre_outputs *outputs) {
    for (size_t i = 0; i < b->output_count; i++) {
        if (b->outputs[i]->size != outputs->items[i].size) {
            return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                    "give memory of the size that the program declares",
                                    "program `%s`, argument `%s`: it has %zu bytes, %zu were given",
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

/* Runs a program, and writes what comes out where the arguments say. */
static vyre_status run(vyre_device *device, binding *b, const vyre_dispatch_config *config) {
    vyre_outputs outputs = {0};
    vyre_status status = bind(b);
    status = status ? status
                    : vyre_device_dispatch(device, b->program, b->inputs, b->input_count, config,
                                           &outputs);
    status = status ? status : take_outputs(b, &outputs);
    vyre_outputs_free(&outputs);
    return status;
}

vyre_status vyre_run(const char *device, const char *text, const vyre_argument *arguments,
                     size_t count, const vyre_dispatch_config *config) {
    vyre_module *module = NULL;
    vyre_device *acquired = NULL;
    binding b = {.arguments = arguments, .count = count};
    vyre_status status = vyre_module_parse(NULL, text, strlen(text), NULL, &module);
    if (!status && vyre_module_count(module) != 1) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "give a text with one program, or use vyre_module_parse",
                                  "the text has %zu programs", vyre_module_count(module));
    }
    status = status ? status : acquire_kept(device, &acquired);
    if (!status) {
        b.program = vyre_module_program(module, 0);
        status = run(acquired, &b, config);
    }
    vyre_device_release(acquired);
    vyre_module_free(module);
    return status;
}

const vyre_program *vyre_operation_program(const vyre_operation *operation,
                                           const vyre_device *device) {
    const vyre_program *best = operation->composition;
    vyre_profile profile;
    vyre_device_profile(device, &profile);
    const char *kind = profile.flags & VYRE_PROFILE_IS_GPU ? "gpu" : "cpu";
    bool by_kind = false;
    for (size_t i = 0; i < operation->variant_count; i++) {
        const vyre_variant *here = &operation->variants[i];
        if (!strcmp(here->suits, vyre_device_id(device))) {
            return here->program;
        }
        if (!by_kind && !strcmp(here->suits, kind)) {
            by_kind = true;
            best = here->program;
        }
    }
    return best;
}

/* There is none of that id, or none that has a program. */
static vyre_status refuse_operation(const vyre_dialects *now, const vyre_operation *found,
                                    const char *id) {
    if (found) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                "run it through what registers it, as vyre/io.h for those of the "
                                "host, or choose one that has a program",
                                "the operation `%s` has no program", id);
    }
    return vyre_dialects_unknown(now, "operation", id);
}

vyre_status vyre_run_operation(const char *device, const char *id, const vyre_argument *arguments,
                               size_t count, const vyre_dispatch_config *config) {
    vyre_dialects_guard guard;
    const vyre_dialects *now;
    vyre_device *acquired = NULL;
    binding b = {.arguments = arguments, .count = count};
    vyre_status status = vyre_dialects_try_enter(&guard, &now);
    if (status) {
        return status;
    }
    const vyre_operation *operation = vyre_dialects_find(now, id);
    if (!operation || !operation->composition) {
        status = refuse_operation(now, operation, id);
    }
    status = status ? status : acquire_kept(device, &acquired);
    if (!status) {
        b.program = vyre_operation_program(operation, acquired);
        status = run(acquired, &b, config);
    }
    vyre_device_release(acquired);
    vyre_dialects_leave(&guard);
    return status;
}
