/* What the slots of a mock do. */
#include <stdlib.h>
#include <string.h>

#include <vyre/reference.h>
#include <vyre/wire.h>

#include "tests/mock/state.h"

static mock *of(const vyre_backend *backend) {
    return backend->state;
}

/* For slots that cannot fail. */
static mock *ask(const vyre_backend *backend, mock_slot slot) {
    mock *self = backend->state;
    self->host->status_free(mock_enter(self, slot, NULL, NULL, NULL));
    return self;
}

static vyre_status refuse(mock *self, const char *what) {
    char text[128] = "the mock runs no program with ";
    strcat(text, what);
    return self->host->status_make(VYRE_FAIL_UNSUPPORTED, "split it", text);
}

/* What a backend without phases of its own must never be given. */
static vyre_status check_single_phase(mock *self, const vyre_program *program) {
    const vyre_ir *ir = vyre_program_ir(program);
    if (ir->phase_count > 1) {
        return refuse(self, "several phases");
    }
    for (uint32_t i = 0; i < ir->step_count; i++) {
        if (ir->steps[i].kind != VYRE_STEP_PHASE) {
            return refuse(self, "a repeat");
        }
    }
    for (uint32_t i = 0; i < ir->phase_count; i++) {
        if (ir->phases[i].from_resource != VYRE_NONE) {
            return refuse(self, "a domain from memory");
        }
    }
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        if (ir->resources[i].kind == VYRE_RESOURCE_SCRATCH) {
            return refuse(self, "scratch");
        }
    }
    return NULL;
}

/* A backend is given only what it claims to have. */
static vyre_status check_claims(mock *self, const vyre_program *program) {
    const vyre_ir *ir = vyre_program_ir(program);
    bool claims = self->spec.slots & MOCK_BIT(features);
    bool has_barriers = claims && (self->spec.features & VYRE_FEATURE_GRID_SYNC);
    vyre_status status = self->spec.single_phase ? check_single_phase(self, program) : NULL;
    for (uint32_t i = 0; i < ir->inst_count && !status; i++) {
        if (ir->insts[i].op == VYRE_OP_GRID_BARRIER && (self->spec.single_phase || !has_barriers)) {
            status = refuse(self, "a grid barrier");
        }
    }
    return status;
}

vyre_status mock_compute(mock *self, const vyre_program *program, const vyre_input *inputs,
                         size_t count, const vyre_dispatch_config *config, vyre_output *outputs) {
    vyre_outputs own = {0};
    vyre_dispatch_config without = *config; /* a stream, which the mock has no use for */
    without.flags = without.stream = 0;
    vyre_status status = check_claims(self, program);
    if (!status) {
        status = vyre_reference_run(program, inputs, count, &without, NULL, &own);
    }
    for (size_t i = 0; i < own.count; i++) {
        if (own.items[i].size) {
            memcpy(outputs[i].data, own.items[i].data, own.items[i].size);
        }
    }
    vyre_outputs_free(&own);
    return status;
}

/* A failure leaves nothing that could pass for a result. */
static vyre_status compute(mock *self, const vyre_program *program, const vyre_call *call,
                           vyre_output *outputs, vyre_status status) {
    if (!status) {
        status =
            mock_compute(self, program, call->inputs, call->input_count, call->config, outputs);
    }
    for (size_t i = 0; status && i < call->output_count; i++) {
        memset(outputs[i].data, 0xa5, outputs[i].size);
    }
    return status;
}

static void overwrite_inputs(const vyre_call *call) {
    for (size_t i = 0; i < call->input_count; i++) {
        if (call->inputs[i].size) {
            memset((void *)(uintptr_t)call->inputs[i].data, 0xee, call->inputs[i].size);
        }
    }
}

static uint8_t *resident_data(mock *self, uint64_t buffer, size_t *out_size) {
    pthread_mutex_lock(&self->lock);
    mock_resident row = {0};
    if (buffer && buffer <= self->resident_count) {
        row = self->residents[buffer - 1];
    }
    pthread_mutex_unlock(&self->lock);
    *out_size = row.size;
    return row.live ? row.data : NULL;
}

static vyre_status no_buffer(mock *self) {
    return self->host->status_make(VYRE_FAIL_INVALID_ARGUMENT,
                                   "have the host check buffers before they come here",
                                   "the mock has no such buffer");
}

vyre_status mock_compute_resident(mock *self, const vyre_program *program,
                                  const uint64_t *arguments, const uint64_t *buffers,
                                  const vyre_dispatch_config *config) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_input *inputs = mock_alloc(ir->arg_count * sizeof *inputs);
    vyre_output *outputs = mock_alloc(ir->arg_count * sizeof *outputs);
    size_t input_count = 0, output_count = 0;
    vyre_status status = NULL;
    for (uint32_t i = 0; i < ir->arg_count && !status; i++) {
        uint32_t resource = ir->args[i].resource;
        if (resource == VYRE_NONE) {
            inputs[input_count++] =
                (vyre_input){&arguments[i], vyre_type_bytes((vyre_type)ir->args[i].type)};
            continue;
        }
        size_t size;
        uint8_t *data = resident_data(self, buffers[i], &size);
        if (!data || size != arguments[i] * vyre_type_bytes((vyre_type)ir->args[i].type)) {
            status = no_buffer(self);
        }
        if (ir->resources[resource].access != VYRE_ACCESS_OUT) {
            inputs[input_count++] = (vyre_input){data, size};
        }
        if (ir->resources[resource].access != VYRE_ACCESS_IN) {
            outputs[output_count++] = (vyre_output){data, size};
        }
    }
    if (!status) {
        status = mock_compute(self, program, inputs, input_count, config, outputs);
    }
    free(inputs);
    free(outputs);
    return status;
}

static const char *slot_id(const vyre_backend *backend) {
    return ask(backend, MOCK_id)->spec.id;
}

static vyre_status slot_dispatch(const vyre_backend *backend, const vyre_call *call,
                                 vyre_output *outputs) {
    vyre_status status = mock_enter(of(backend), MOCK_dispatch, call, outputs, NULL);
    status = compute(of(backend), call->program, call, outputs, status);
    overwrite_inputs(call);
    return status;
}

static const char *slot_version(const vyre_backend *backend) {
    return ask(backend, MOCK_version)->spec.version;
}

static const vyre_op_set *slot_supported_ops(const vyre_backend *backend) {
    return ask(backend, MOCK_supported_ops)->spec.ops;
}

static vyre_status slot_dispatch_borrowed(const vyre_backend *backend, const vyre_call *call,
                                          vyre_output *outputs) {
    return compute(of(backend), call->program, call, outputs,
                   mock_enter(of(backend), MOCK_dispatch_borrowed, call, outputs, NULL));
}

static const vyre_timing times = {
    .wall_ns = 1000, .device_ns = 700, .enqueue_ns = 200, .wait_ns = 100};

static vyre_status slot_dispatch_borrowed_timed(const vyre_backend *backend, const vyre_call *call,
                                                vyre_output *outputs, vyre_timing *out_timing) {
    *out_timing = times;
    return compute(of(backend), call->program, call, outputs,
                   mock_enter(of(backend), MOCK_dispatch_borrowed_timed, call, outputs, NULL));
}

static vyre_status slot_dispatch_borrowed_into(const vyre_backend *backend, const vyre_call *call,
                                               vyre_output *outputs) {
    return compute(of(backend), call->program, call, outputs,
                   mock_enter(of(backend), MOCK_dispatch_borrowed_into, call, outputs, NULL));
}

static vyre_status slot_dispatch_in_place(const vyre_backend *backend, const vyre_call *call,
                                          const vyre_output *arguments) {
    vyre_output outputs[VYRE_LIMIT_ARGUMENTS];
    vyre_outputs_in_place(call, arguments, outputs);
    return compute(of(backend), call->program, call, outputs,
                   mock_enter(of(backend), MOCK_dispatch_in_place, call, outputs, NULL));
}

static vyre_status slot_dispatch_async(const vyre_backend *backend, const vyre_call *call,
                                       vyre_output *outputs, vyre_pending_run *out_run) {
    vyre_status status = mock_enter(of(backend), MOCK_dispatch_async, call, outputs, NULL);
    return status ? status : mock_job_start(of(backend), call, outputs, false, out_run);
}

static vyre_status slot_dispatch_borrowed_async(const vyre_backend *backend, const vyre_call *call,
                                                vyre_output *outputs, vyre_pending_run *out_run) {
    vyre_status status = mock_enter(of(backend), MOCK_dispatch_borrowed_async, call, outputs, NULL);
    return status ? status : mock_job_start(of(backend), call, outputs, true, out_run);
}

/* The number of a new buffer. */
static uint64_t add_resident(mock *self, mock_resident made) {
    pthread_mutex_lock(&self->lock);
    size_t place = 0;
    while (place < self->resident_count && self->residents[place].live) {
        place++;
    }
    if (place == self->resident_count) {
        mock_resident *grown = realloc(self->residents, (place + 1) * sizeof *grown);
        if (!grown) {
            abort();
        }
        self->residents = grown;
        self->resident_count++;
    }
    self->residents[place] = made;
    pthread_mutex_unlock(&self->lock);
    return place + 1;
}

static void forget_resident(mock_resident *resident) {
    if (!resident->is_borrowed) {
        free(resident->data);
    }
    *resident = (mock_resident){0};
}

static vyre_status slot_resident_allocate(const vyre_backend *backend, size_t size,
                                          uint64_t *out_buffer) {
    mock *self = of(backend);
    vyre_status status =
        mock_enter(self, MOCK_resident_allocate, NULL, NULL, &(mock_record){.size = size});
    if (status) {
        return status;
    }
    uint8_t *data = mock_alloc(size);
    memset(data, 0x5a, size);
    *out_buffer = add_resident(self, (mock_resident){data, size, true, false});
    return NULL;
}

static vyre_status slot_resident_upload(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                        const void *data, size_t size) {
    mock *self = of(backend);
    size_t found;
    vyre_status status = mock_enter(self, MOCK_resident_upload, NULL, NULL,
                                    &(mock_record){.buffer = buffer, .size = size});
    mock_drain(self, UINT64_MAX);
    uint8_t *memory = status ? NULL : resident_data(self, buffer, &found);
    if (!status && (!memory || offset > found || size > found - offset)) {
        status = no_buffer(self);
    } else if (!status && size) {
        memcpy(memory + offset, data, size);
    }
    return status;
}

static vyre_status slot_resident_read(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                      void *data, size_t size) {
    mock *self = of(backend);
    size_t found;
    vyre_status status = mock_enter(self, MOCK_resident_read, NULL, NULL,
                                    &(mock_record){.buffer = buffer, .size = size});
    mock_drain(self, UINT64_MAX);
    uint8_t *memory = status ? NULL : resident_data(self, buffer, &found);
    if (!status && (!memory || offset > found || size > found - offset)) {
        status = no_buffer(self);
    } else if (!status && size) {
        memcpy(data, memory + offset, size);
    }
    return status;
}

static vyre_status slot_resident_free(const vyre_backend *backend, uint64_t buffer) {
    mock *self = of(backend);
    vyre_status status =
        mock_enter(self, MOCK_resident_free, NULL, NULL, &(mock_record){.buffer = buffer});
    if (status) {
        return status;
    }
    pthread_mutex_lock(&self->lock);
    bool known = buffer && buffer <= self->resident_count && self->residents[buffer - 1].live;
    if (known) {
        forget_resident(&self->residents[buffer - 1]);
    }
    pthread_mutex_unlock(&self->lock);
    return known ? NULL : no_buffer(self);
}

static vyre_status slot_resident_import(const vyre_backend *backend, const vyre_memory *memory,
                                        uint64_t *out_buffer) {
    mock *self = of(backend);
    vyre_status status =
        mock_enter(self, MOCK_resident_import, NULL, NULL, &(mock_record){.size = memory->size});
    if (!status) {
        uint8_t *data = (uint8_t *)(uintptr_t)memory->address;
        *out_buffer = add_resident(self, (mock_resident){data, memory->size, true, true});
    }
    return status;
}

static vyre_status slot_resident_address(const vyre_backend *backend, uint64_t buffer,
                                         vyre_memory *out_memory) {
    mock *self = of(backend);
    vyre_status status =
        mock_enter(self, MOCK_resident_address, NULL, NULL, &(mock_record){.buffer = buffer});
    if (!status) {
        out_memory->address = (uintptr_t)resident_data(self, buffer, &out_memory->size);
        out_memory->place = VYRE_MEMORY_HOST;
    }
    return status;
}

static vyre_status slot_resident_range(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                       size_t size, uint64_t *out_buffer) {
    mock *self = of(backend);
    size_t found;
    vyre_status status = mock_enter(self, MOCK_resident_range, NULL, NULL,
                                    &(mock_record){.buffer = buffer, .size = size});
    uint8_t *memory = status ? NULL : resident_data(self, buffer, &found);
    if (!status && (!memory || offset > found || size > found - offset)) {
        status = no_buffer(self);
    } else if (!status) {
        *out_buffer = add_resident(self, (mock_resident){memory + offset, size, true, true});
    }
    return status;
}

static vyre_status slot_resident_copy(const vyre_backend *backend, uint64_t to, size_t to_offset,
                                      uint64_t from, size_t from_offset, size_t size) {
    mock *self = of(backend);
    size_t to_size, from_size;
    vyre_status status = mock_enter(self, MOCK_resident_copy, NULL, NULL,
                                    &(mock_record){.buffer = to, .size = size});
    mock_drain(self, UINT64_MAX);
    uint8_t *target = resident_data(self, to, &to_size);
    const uint8_t *source = resident_data(self, from, &from_size);
    if (!status && (!target || !source || to_offset > to_size || size > to_size - to_offset ||
                    from_offset > from_size || size > from_size - from_offset)) {
        status = no_buffer(self);
    } else if (!status) {
        memcpy(target + to_offset, source + from_offset, size);
    }
    return status;
}

static vyre_status slot_resident_fill(const vyre_backend *backend, uint64_t buffer, size_t offset,
                                      size_t size, const void *pattern, size_t pattern_size) {
    mock *self = of(backend);
    size_t found;
    vyre_status status = mock_enter(self, MOCK_resident_fill, NULL, NULL,
                                    &(mock_record){.buffer = buffer, .size = size});
    mock_drain(self, UINT64_MAX);
    uint8_t *memory = status ? NULL : resident_data(self, buffer, &found);
    if (!status && (!memory || offset > found || size > found - offset)) {
        return no_buffer(self);
    }
    for (size_t at = 0; at < size && !status; at += pattern_size) {
        memcpy(memory + offset + at, pattern, pattern_size);
    }
    return status;
}

static vyre_status slot_memory_pin(const vyre_backend *backend, void *memory, size_t size,
                                   uint64_t *out_pin) {
    *out_pin = (uintptr_t)memory;
    return mock_enter(of(backend), MOCK_memory_pin, NULL, NULL,
                      &(mock_record){.buffer = *out_pin, .size = size});
}

static vyre_status slot_memory_unpin(const vyre_backend *backend, uint64_t pin) {
    return mock_enter(of(backend), MOCK_memory_unpin, NULL, NULL, &(mock_record){.buffer = pin});
}

static mock_record note_buffers(const vyre_call *call, const uint64_t *buffers) {
    mock_record note = {0};
    for (size_t i = 0; i < call->argument_count && i < MOCK_ARGUMENTS; i++) {
        note.buffers[i] = buffers[i];
    }
    return note;
}

static vyre_status slot_resident_dispatch_timed(const vyre_backend *backend, const vyre_call *call,
                                                const uint64_t *buffers, vyre_timing *out_timing) {
    mock *self = of(backend);
    mock_record note = note_buffers(call, buffers);
    vyre_status status = mock_enter(self, MOCK_resident_dispatch_timed, call, NULL, &note);
    mock_drain(self, UINT64_MAX);
    *out_timing = times;
    return status
               ? status
               : mock_compute_resident(self, call->program, call->arguments, buffers, call->config);
}

static bool slot_ticket_done(const vyre_backend *backend, uint64_t ticket) {
    mock *self = ask(backend, MOCK_ticket_done);
    pthread_mutex_lock(&self->lock);
    bool done = ticket <= self->done;
    pthread_mutex_unlock(&self->lock);
    return done;
}

static vyre_status slot_ticket_wait(const vyre_backend *backend, uint64_t ticket) {
    mock *self = of(backend);
    vyre_status status = mock_enter(self, MOCK_ticket_wait, NULL, NULL, NULL);
    mock_drain(self, ticket);
    uint32_t code = 0;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->failure_count; i++) {
        code = self->failures[i].ticket == ticket ? self->failures[i].code : code;
    }
    pthread_mutex_unlock(&self->lock);
    return status || !code
               ? status
               : self->host->status_make(code, "enqueue it again", "the mock's execution failed");
}

static bool slot_cache_snapshot(const vyre_backend *backend, vyre_cache_counts *out_counts) {
    (void)ask(backend, MOCK_cache_snapshot);
    *out_counts = (vyre_cache_counts){.hits = 3, .misses = 2, .entries = 1, .bytes = 100};
    return true;
}

static uint32_t slot_features(const vyre_backend *backend) {
    return ask(backend, MOCK_features)->spec.features;
}

static void slot_max_workgroup_size(const vyre_backend *backend, uint32_t out_size[3]) {
    memcpy(out_size, ask(backend, MOCK_max_workgroup_size)->spec.max_workgroup_size,
           3 * sizeof *out_size);
}

static void slot_max_workgroups_per_dimension(const vyre_backend *backend, uint32_t out_count[3]) {
    memcpy(out_count, ask(backend, MOCK_max_workgroups_per_dimension)->spec.max_workgroups,
           3 * sizeof *out_count);
}

static uint32_t slot_max_invocations_per_workgroup(const vyre_backend *backend) {
    return ask(backend, MOCK_max_invocations_per_workgroup)->spec.max_invocations;
}

static uint32_t slot_subgroup_size(const vyre_backend *backend) {
    return ask(backend, MOCK_subgroup_size)->spec.subgroup_size;
}

static uint64_t slot_max_storage_buffer_bytes(const vyre_backend *backend) {
    return ask(backend, MOCK_max_storage_buffer_bytes)->spec.max_storage_buffer_bytes;
}

static void slot_device_profile(const vyre_backend *backend, vyre_profile *out_profile) {
    const mock_spec *spec = &ask(backend, MOCK_device_profile)->spec;
    *out_profile = spec->profile;
}

static vyre_status slot_prepare(const vyre_backend *backend) {
    return mock_enter(of(backend), MOCK_prepare, NULL, NULL, NULL);
}

static vyre_status slot_flush(const vyre_backend *backend) {
    vyre_status status = mock_enter(of(backend), MOCK_flush, NULL, NULL, NULL);
    mock_drain(of(backend), UINT64_MAX);
    return status;
}

static vyre_status slot_shutdown(const vyre_backend *backend) {
    return mock_enter(of(backend), MOCK_shutdown, NULL, NULL, NULL);
}

static bool slot_device_lost(const vyre_backend *backend) {
    mock *self = ask(backend, MOCK_device_lost);
    pthread_mutex_lock(&self->lock);
    bool lost = self->lost;
    pthread_mutex_unlock(&self->lock);
    return lost;
}

static vyre_status slot_try_recover(const vyre_backend *backend) {
    mock *self = of(backend);
    vyre_status status = mock_enter(self, MOCK_try_recover, NULL, NULL, NULL);
    if (status) {
        return status;
    }
    mock_drain(self, UINT64_MAX);
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->resident_count; i++) {
        forget_resident(&self->residents[i]);
    }
    self->lost = false;
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static void slot_destroy(const vyre_backend *backend) {
    (void)ask(backend, MOCK_destroy);
}

void mock_compiled_free(mock_compiled **link) {
    mock_compiled *made = *link;
    *link = made->next;
    made->owner->host->program_release(made->program);
    free(made);
}

static vyre_status compile(mock *self, const vyre_compile *request, bool shared,
                           vyre_native *out_native) {
    const uint8_t *bytes = request->artifact;
    size_t size = request->artifact_size;
    uint8_t *own = NULL;
    vyre_status status = check_claims(self, request->program);
    if (!status && !bytes) {
        status = self->host->program_wire(request->program, &own, &size);
        bytes = own;
    }
    mock_compiled *made = mock_alloc(sizeof *made);
    made->owner = self;
    if (!status && shared) {
        const vyre_program *kept = self->host->program_retain(request->program);
        made->program = (vyre_program *)(uintptr_t)kept;
    } else if (!status) {
        status = vyre_wire_decode(bytes, size, &made->program);
    }
    if (status) {
        self->host->free(own);
        free(made);
        return status;
    }
    if (self->spec.without_artifact) {
        self->host->free(own);
        own = NULL;
    }
    *out_native = (vyre_native){.slots = &self->pipeline_slots,
                                .state = made,
                                .artifact = own,
                                .artifact_size = own ? size : 0};
    pthread_mutex_lock(&self->lock);
    made->next = self->compiled;
    self->compiled = made;
    self->artifact_uses += request->artifact != NULL;
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static vyre_status enter_compile(mock *self, mock_slot slot, const vyre_compile *request) {
    mock_record note = {.program = request->program, .artifact_size = request->artifact_size};
    return mock_enter(self, slot, NULL, NULL, &note);
}

static vyre_status slot_compile_native(const vyre_backend *backend, const vyre_compile *request,
                                       vyre_native *out_native) {
    vyre_status status = enter_compile(of(backend), MOCK_compile_native, request);
    return status ? status : compile(of(backend), request, false, out_native);
}

static vyre_status slot_compile_native_shared(const vyre_backend *backend,
                                              const vyre_compile *request,
                                              vyre_native *out_native) {
    vyre_status status = enter_compile(of(backend), MOCK_compile_native_shared, request);
    return status ? status : compile(of(backend), request, true, out_native);
}

static vyre_status pipeline_run(const vyre_native *native, mock_slot slot, const vyre_call *call,
                                vyre_output *outputs) {
    mock_compiled *self = native->state;
    return compute(self->owner, self->program, call, outputs,
                   mock_enter(self->owner, slot, call, outputs, NULL));
}

static vyre_status pipeline_dispatch(const vyre_native *native, const vyre_call *call,
                                     vyre_output *outputs) {
    vyre_status status = pipeline_run(native, MOCK_pipeline_dispatch, call, outputs);
    overwrite_inputs(call);
    return status;
}

static vyre_status pipeline_dispatch_borrowed(const vyre_native *native, const vyre_call *call,
                                              vyre_output *outputs) {
    return pipeline_run(native, MOCK_pipeline_dispatch_borrowed, call, outputs);
}

static vyre_status pipeline_dispatch_borrowed_timed(const vyre_native *native,
                                                    const vyre_call *call, vyre_output *outputs,
                                                    vyre_timing *out_timing) {
    *out_timing = times;
    return pipeline_run(native, MOCK_pipeline_dispatch_borrowed_timed, call, outputs);
}

static vyre_status pipeline_dispatch_borrowed_into(const vyre_native *native, const vyre_call *call,
                                                   vyre_output *outputs) {
    return pipeline_run(native, MOCK_pipeline_dispatch_borrowed_into, call, outputs);
}

static vyre_status pipeline_dispatch_in_place(const vyre_native *native, const vyre_call *call,
                                              const vyre_output *arguments) {
    vyre_output outputs[VYRE_LIMIT_ARGUMENTS];
    vyre_outputs_in_place(call, arguments, outputs);
    return pipeline_run(native, MOCK_pipeline_dispatch_in_place, call, outputs);
}

static vyre_status pipeline_enqueue(const vyre_native *native, const vyre_call *call,
                                    const uint64_t *buffers, uint64_t *out_ticket) {
    mock_compiled *self = native->state;
    mock_record note = note_buffers(call, buffers);
    vyre_status status = mock_enter(self->owner, MOCK_pipeline_enqueue, call, NULL, &note);
    return status ? status
                  : mock_job_enqueue(self->owner, self->program, call, buffers, out_ticket);
}

static uint64_t pipeline_size_bytes(const vyre_native *native) {
    mock_compiled *self = native->state;
    (void)ask(native->backend, MOCK_pipeline_size_bytes);
    return self->owner->spec.pipeline_bytes;
}

static void pipeline_destroy(const vyre_native *native) {
    mock_compiled *self = native->state;
    mock *owner = ask(native->backend, MOCK_pipeline_destroy);
    pthread_mutex_lock(&owner->lock);
    mock_compiled **link = &owner->compiled;
    while (*link != self) {
        link = &(*link)->next;
    }
    mock_compiled_free(link);
    pthread_mutex_unlock(&owner->lock);
}

void mock_fill_slots(vyre_backend_slots *slots) {
    *slots = (vyre_backend_slots){VYRE_BACKEND_HEAD, .id = slot_id, .dispatch = slot_dispatch,
#define MOCK_FILL(name) .name = slot_##name,
                                  VYRE_OPTIONAL_SLOTS(MOCK_FILL)
#undef MOCK_FILL
    };
}

void mock_fill_pipeline_slots(vyre_pipeline_slots *slots) {
    *slots = (vyre_pipeline_slots){VYRE_PIPELINE_HEAD,
#define MOCK_FILL(name) .name = pipeline_##name,
                                   VYRE_PIPELINE_SLOTS(MOCK_FILL)
#undef MOCK_FILL
    };
}
