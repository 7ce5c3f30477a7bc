#include "backend/reference/backend.h"

#include <string.h>

#include <vyre/registry.h>
#include <vyre/sanitize.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "runtime/device.h"

static const char id_text[] = "reference";

static const char *id(const vyre_backend *backend) {
    (void)backend;
    return id_text;
}

static const char *version(const vyre_backend *backend) {
    (void)backend;
    return VYRE_VERSION_STRING;
}

/* Inputs are only read, so borrowed ones will do. */
static vyre_status dispatch(const vyre_backend *backend, const vyre_call *call,
                            vyre_output *outputs) {
    vyre_outputs own;
    vyre_status status = vyre_reference_run(call->program, call->inputs, call->input_count,
                                            call->config, backend->state, &own);
    for (size_t i = 0; i < own.count; i++) {
        if (own.items[i].size) {
            memcpy(outputs[i].data, own.items[i].data, own.items[i].size);
        }
    }
    vyre_outputs_free(&own);
    return status;
}

/* The same memory may be input and output: a run writes its outputs when it is over. */
static vyre_status dispatch_in_place(const vyre_backend *backend, const vyre_call *call,
                                     const vyre_output *arguments) {
    vyre_output outputs[VYRE_LIMIT_ARGUMENTS];
    vyre_outputs_in_place(call, arguments, outputs);
    return dispatch(backend, call, outputs);
}

/* Resident buffers are memory of the host; the number is the address of this. */
typedef struct resident {
    uint8_t *data; /* `own`, a part of another buffer, or the caller's */
    size_t size;
    uint8_t own[];
} resident;

static resident *resident_of(uint64_t buffer) {
    return (resident *)(uintptr_t)buffer;
}

static vyre_status resident_allocate(const vyre_backend *backend, size_t size,
                                     uint64_t *out_buffer) {
    (void)backend;
    resident *made = size < SIZE_MAX - sizeof *made ? vyre_alloc(sizeof *made + size) : NULL;
    *out_buffer = (uintptr_t)made;
    if (!made) {
        return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY,
                                "free memory, or allocate a smaller "
                                "buffer",
                                "no memory for a resident buffer of %zu bytes", size);
    }
    *made = (resident){.data = made->own, .size = size};
    memset(made->data, 0, size);
    return VYRE_OK;
}

static vyre_status borrow(uint8_t *data, size_t size, uint64_t *out_buffer) {
    resident *made = vyre_alloc(sizeof *made);
    *out_buffer = (uintptr_t)made;
    if (!made) {
        return vyre_no_memory("to track a resident buffer");
    }
    made->data = data;
    made->size = size;
    return VYRE_OK;
}

static vyre_status resident_import(const vyre_backend *backend, const vyre_memory *memory,
                                   uint64_t *out_buffer) {
    *out_buffer = 0;
    VYRE_TRY(vyre_check_host_memory(backend, memory));
    return borrow((uint8_t *)(uintptr_t)memory->address, memory->size, out_buffer);
}

static vyre_status resident_range(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                  size_t size, uint64_t *out_buffer) {
    (void)backend;
    return borrow(resident_of(buffer)->data + offset, size, out_buffer);
}

static vyre_status resident_address(const vyre_backend *backend, uint64_t buffer,
                                    vyre_memory *out_memory) {
    (void)backend;
    const resident *self = resident_of(buffer);
    *out_memory = (vyre_memory){
        .address = (uintptr_t)self->data, .size = self->size, .place = VYRE_MEMORY_HOST};
    return VYRE_OK;
}

static vyre_status resident_upload(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                   const void *data, size_t size) {
    (void)backend;
    if (size) {
        memcpy(resident_of(buffer)->data + offset, data, size);
    }
    return VYRE_OK;
}

static vyre_status resident_read(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                 void *data, size_t size) {
    (void)backend;
    if (size) {
        memcpy(data, resident_of(buffer)->data + offset, size);
    }
    return VYRE_OK;
}

static vyre_status resident_copy(const vyre_backend *backend, uint64_t to, size_t to_offset,
                                 uint64_t from, size_t from_offset, size_t size) {
    return resident_upload(backend, to, to_offset, resident_of(from)->data + from_offset, size);
}

static vyre_status resident_free(const vyre_backend *backend, uint64_t buffer) {
    (void)backend;
    vyre_free(resident_of(buffer));
    return VYRE_OK;
}

/* A scalar's bytes are the low ones of its 64 bits, whatever the order of bytes of the machine. */
static vyre_input scalar_input(uint64_t bits, uint32_t size, uint8_t *room) {
    for (uint32_t i = 0; i < size; i++) {
        room[i] = (uint8_t)(bits >> (8 * i));
    }
    return (vyre_input){room, size};
}

static vyre_status resident_dispatch_timed(const vyre_backend *backend, const vyre_call *call,
                                           const uint64_t *buffers, vyre_timing *out_timing) {
    uint64_t start = vyre_now_ns();
    const vyre_ir *ir = vyre_program_ir(call->program);
    vyre_input inputs[VYRE_LIMIT_ARGUMENTS];
    uint8_t scalars[VYRE_LIMIT_ARGUMENTS][8];
    size_t input_count = 0, output = 0;
    vyre_outputs outputs;
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        if (ir->args[arg].resource == VYRE_NONE) {
            inputs[input_count++] = scalar_input(
                call->arguments[arg], vyre_type_bytes(vyre_arg_type(&ir->args[arg])), scalars[arg]);
        } else if (!vyre_ir_is_out(ir, arg)) {
            const resident *from = resident_of(buffers[arg]);
            inputs[input_count++] = (vyre_input){from->data, from->size};
        }
    }
    vyre_status status = vyre_reference_run(call->program, inputs, input_count, call->config,
                                            backend->state, &outputs);
    for (uint32_t arg = 0; arg < ir->arg_count && !status; arg++) {
        uint32_t row = ir->args[arg].resource;
        if (row != VYRE_NONE && ir->resources[row].access != VYRE_ACCESS_IN) {
            const vyre_output *from = &outputs.items[output++];
            if (from->size) {
                memcpy(resident_of(buffers[arg])->data, from->data, from->size);
            }
        }
    }
    vyre_outputs_free(&outputs);
    *out_timing = vyre_wall_time(start);
    return status;
}

/* It steps through subgroup operations and halves one lane at a time, so it does not claim them. */
static uint32_t features(const vyre_backend *backend) {
    (void)backend;
    return VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC | VYRE_FEATURE_STEPS |
           VYRE_FEATURE_CONSTANT_ARRAYS | VYRE_FEATURE_RECORDS;
}

static uint64_t max_storage_buffer_bytes(const vyre_backend *backend) {
    const vyre_reference_options *options = backend->state;
    return options && options->max_memory_bytes ? options->max_memory_bytes
                                                : VYRE_REFERENCE_MEMORY_BYTES;
}

static void destroy(const vyre_backend *backend) {
    vyre_free(backend->state);
}

static const vyre_backend_slots slots = {
    VYRE_BACKEND_HEAD,
    .id = id,
    .dispatch = dispatch,
    .version = version,
    .dispatch_borrowed = dispatch,
    .resident_allocate = resident_allocate,
    .resident_upload = resident_upload,
    .resident_read = resident_read,
    .resident_free = resident_free,
    .resident_dispatch_timed = resident_dispatch_timed,
    .features = features,
    .max_workgroup_size = vyre_any_workgroup_size,
    .max_workgroups_per_dimension = vyre_any_workgroup_count,
    .max_invocations_per_workgroup = vyre_any_invocations,
    .max_storage_buffer_bytes = max_storage_buffer_bytes,
    .destroy = destroy,
    .dispatch_in_place = dispatch_in_place,
    .resident_import = resident_import,
    .resident_address = resident_address,
    .resident_range = resident_range,
    .resident_copy = resident_copy,
};

static vyre_status create(const vyre_host *host, uint32_t device, vyre_backend *out_backend) {
    (void)host;
    if (device) {
        return vyre_status_make(VYRE_STATUS_NOT_FOUND, "name it without a number",
                                "backend `reference` has one device, and there is no device %u",
                                device);
    }
    out_backend->slots = &slots;
    return VYRE_OK;
}

static const vyre_registration registration = {
    .id = id_text, .create = create, .supported_ops = vyre_core_supported_ops};
static const vyre_precedence precedence = {id_text, 1000};
static const vyre_capability capability = {id_text, true};

const vyre_bundle vyre_reference_bundle = {
    VYRE_BUNDLE_HEAD, &registration, 1, &precedence, 1, &capability, 1,
};
const vyre_builtin vyre_reference_builtin = {.bundle = &vyre_reference_bundle};

vyre_status vyre_reference_open(const vyre_reference_options *options, vyre_device **out_device) {
    *out_device = NULL;
    vyre_reference_options *own = vyre_alloc(sizeof *own);
    if (!own) {
        return vyre_no_memory("for the reference backend");
    }
    *own = *options;
    const vyre_backend made = {&slots, own, NULL};
    return vyre_device_open(&made, id_text, 0, out_device);
}

static const vyre_reference_options small_budget = {.max_steps = 50000000};

vyre_status vyre_reference_open_oracle(vyre_device **out_device) {
    return vyre_reference_open(&small_budget, out_device);
}

static bool is_sound(const vyre_program *program, const vyre_input *inputs, size_t input_count) {
    vyre_findings *findings;
    const vyre_sanitize_options options = {.max_steps = small_budget.max_steps};
    vyre_status status = vyre_sanitize(program, inputs, input_count, &options, &findings);
    if (status) {
        vyre_status_free(status);
        return false;
    }
    bool sound = true;
    for (size_t i = 0; i < vyre_findings_count(findings) && sound; i++) {
        sound = !vyre_finding_is_error(vyre_findings_get(findings, i)->kind);
    }
    vyre_findings_free(findings);
    return sound;
}

static bool same_outputs(const vyre_outputs *left, const vyre_outputs *right) {
    bool same = left->count == right->count;
    for (size_t i = 0; i < left->count && same; i++) {
        const vyre_output *a = &left->items[i], *b = &right->items[i];
        same = a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
    }
    return same;
}

bool vyre_reference_has_one_answer(const vyre_program *program, const vyre_input *inputs,
                                   size_t input_count) {
    enum { SCHEDULES = 4 };
    vyre_outputs first = {0};
    bool same = is_sound(program, inputs, input_count);
    for (uint64_t seed = 0; seed < SCHEDULES && same; seed++) {
        vyre_outputs outputs;
        vyre_reference_options options = small_budget;
        options.seed = seed;
        vyre_status status =
            vyre_reference_run(program, inputs, input_count, NULL, &options, &outputs);
        same = !status && (!seed || same_outputs(&first, &outputs));
        vyre_status_free(status);
        if (seed) {
            vyre_outputs_free(&outputs);
        } else {
            first = outputs;
        }
    }
    vyre_outputs_free(&first);
    return same;
}
