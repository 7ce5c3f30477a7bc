#include "runtime/sequence.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "pass/pass.h"
#include "pass/phase.h"
#include "pass/records.h"
#include "pass/split.h"
#include "runtime/device.h"
#include "runtime/places.h"
#include "trace/trace.h"

/* One phase, as the backend gets it. */
typedef struct part {
    vyre_phase_part phase;
    vyre_native *native; /* its executable; NULL: through the backend's own slots */
} part;

struct vyre_sequence {
    const vyre_backend *backend;
    vyre_program *original; /* as the caller binds its arguments */
    vyre_program *program;  /* without what the backend does not know */
    bool was_split;
    bool whole;           /* the backend takes it as it is now: parts[0] has its pipeline */
    bool lends_constants; /* constant arrays are buffers of the parts */
    part *parts;
    uint32_t part_count;
};

static bool has_grid_barriers(const vyre_program *program) {
    return vyre_program_stats(program).grid_barriers;
}

/* More than one phase over a domain that is known beforehand. */
static bool has_phases(const vyre_ir *ir) {
    bool scratch = false;
    for (uint32_t i = 0; i < ir->resource_count && !scratch; i++) {
        scratch = ir->resources[i].kind == VYRE_RESOURCE_SCRATCH;
    }
    return scratch || ir->step_count != 1 || ir->phases[0].from_resource != VYRE_NONE;
}

/* Backends of ABI 1.1 and before know no constant arrays. */
static bool lends_constants(const vyre_backend *backend, const vyre_program *program) {
    return vyre_program_ir(program)->data_bytes &&
           !(backend->slots->features(backend) & VYRE_FEATURE_CONSTANT_ARRAYS);
}

/* Backends of ABI 1.1 and before know exp10, log10 and fmod of no type, and no other elementary
 * function on f64. They get the code that defines these. */
static bool lacks_functions(const vyre_backend *backend, const vyre_ir *ir) {
    bool found = false;
    bool is_old = backend->slots->abi < (1 << 16 | 2);
    for (uint32_t i = 0; is_old && i < ir->inst_count && !found; i++) {
        const vyre_inst *inst = &ir->insts[i];
        found = vyre_lookup_op(inst->op)->rule == VYRE_RULE_ELEMENTARY &&
                (inst->type == VYRE_TYPE_F64 || inst->op >= VYRE_OP_EXP10);
    }
    return found;
}

/* Steps that came after the first edition of the language, which older backends do not know. */
static bool has_new_steps(const vyre_ir *ir) {
    bool found = false;
    for (uint32_t i = 0; i < ir->step_count && !found; i++) {
        found = ir->steps[i].kind > VYRE_STEP_REPEAT_WHILE;
    }
    for (uint32_t i = 0; i < ir->size_count && !found; i++) {
        found = ir->sizes[i].op == VYRE_SIZE_ITERATION;
    }
    for (uint32_t i = 0; i < ir->phase_count && !found; i++) {
        found = ir->phases[i].from_resource != VYRE_NONE && ir->phases[i].dimensions > 1;
    }
    return found;
}

/* Whether the backend runs all steps of a program by itself. */
static bool runs_steps(uint32_t features, const vyre_ir *ir) {
    return features & VYRE_FEATURE_PHASES && (features & VYRE_FEATURE_STEPS || !has_new_steps(ir));
}

bool vyre_sequence_needed(const vyre_backend *backend, const vyre_program *program) {
    uint32_t features = backend->slots->features(backend);
    const vyre_ir *ir = vyre_program_ir(program);
    return (!(features & VYRE_FEATURE_RECORDS) && vyre_has_records(program)) ||
           lends_constants(backend, program) || lacks_functions(backend, ir) ||
           (!runs_steps(features, ir) && has_phases(ir)) ||
           (!(features & VYRE_FEATURE_GRID_SYNC) && has_grid_barriers(program));
}

static vyre_status make_part(vyre_sequence *s, vyre_device *device, uint64_t deadline_ns,
                             uint32_t index) {
    part *p = &s->parts[index];
    if (s->whole) {
        p->phase.program = vyre_program_retain(s->program);
    } else {
        VYRE_TRY(vyre_phase_extract(s->program, index, s->lends_constants, &p->phase));
    }
    return vyre_device_compile_whole(device, p->phase.program, deadline_ns, &p->native);
}

/* Goes on with another form of the program, if there is one. */
static void take_form(vyre_sequence *s, vyre_program *form) {
    if (form) {
        vyre_program_release(s->program);
        s->program = form;
    }
}

/* The program in a form that the backend knows. */
static vyre_status make_program(vyre_sequence *s, const vyre_program *program) {
    uint32_t features = s->backend->slots->features(s->backend);
    vyre_program *form = NULL;
    s->original = vyre_program_retain((vyre_program *)(uintptr_t)program);
    s->program = vyre_program_retain(s->original);
    if (!(features & VYRE_FEATURE_RECORDS) && vyre_has_records(program)) {
        VYRE_TRY(vyre_lower_records(program, &form));
        take_form(s, form);
    }
    form = NULL;
    if (lacks_functions(s->backend, vyre_program_ir(s->program))) {
        VYRE_TRY(vyre_math_expand(s->program, &form));
        take_form(s, form);
    }
    form = NULL;
    if (!(features & VYRE_FEATURE_GRID_SYNC)) {
        VYRE_TRY(vyre_split_grid_barriers(s->program, &form));
        take_form(s, form);
    }
    s->was_split = form;
    return VYRE_OK;
}

static vyre_status make_parts(vyre_sequence *s, vyre_device *device, const vyre_program *program,
                              uint64_t deadline_ns) {
    uint32_t features = s->backend->slots->features(s->backend);
    VYRE_TRY(make_program(s, program));
    const vyre_ir *ir = vyre_program_ir(s->program);
    s->lends_constants = lends_constants(s->backend, s->program);
    s->whole = (runs_steps(features, ir) || !has_phases(ir)) && !s->lends_constants;
    s->part_count = s->whole ? 1 : ir->phase_count;
    s->parts = vyre_alloc_zeroed(s->part_count, sizeof *s->parts);
    if (!s->parts) {
        return vyre_no_memory("to run `%s` phase by phase", vyre_program_name(program));
    }
    for (uint32_t i = 0; i < s->part_count; i++) {
        VYRE_TRY(make_part(s, device, deadline_ns, i));
    }
    return VYRE_OK;
}

vyre_status vyre_sequence_make(vyre_device *device, const vyre_program *program,
                               uint64_t deadline_ns, vyre_sequence **out_sequence) {
    vyre_sequence *s = *out_sequence = vyre_alloc_zeroed(1, sizeof *s);
    if (!s) {
        return vyre_no_memory("to run `%s` phase by phase", vyre_program_name(program));
    }
    s->backend = device->backend;
    vyre_status status = make_parts(s, device, program, deadline_ns);
    if (status) {
        vyre_sequence_free(s);
        *out_sequence = NULL;
    }
    return status;
}

void vyre_sequence_free(vyre_sequence *s) {
    if (!s) {
        return;
    }
    for (uint32_t i = 0; s->parts && i < s->part_count; i++) {
        vyre_native_drop(s->parts[i].native);
        vyre_phase_part_free(&s->parts[i].phase);
    }
    vyre_free(s->parts);
    vyre_program_release(s->program);
    vyre_program_release(s->original);
    vyre_free(s);
}

bool vyre_sequence_is_compiled(const vyre_sequence *s) {
    bool compiled = false;
    for (uint32_t i = 0; i < s->part_count && !compiled; i++) {
        compiled = s->parts[i].native;
    }
    return compiled;
}

uint64_t vyre_sequence_bytes(const vyre_sequence *s) {
    uint64_t bytes = sizeof *s + vyre_program_stats(s->program).memory_bytes;
    for (uint32_t i = 0; i < s->part_count; i++) {
        const vyre_native *native = s->parts[i].native;
        bytes += vyre_program_stats(s->parts[i].phase.program).memory_bytes +
                 (native ? native->slots->size_bytes(native) : 0);
    }
    return bytes;
}

/* An array of the program during a run. */
typedef struct array {
    size_t size;
    uint8_t *data;     /* on the host: its contents now */
    uint8_t *spare;    /* on the host: where the next phase that writes it puts them */
    uint8_t *owned[2]; /* what of these is to be freed */
    uint64_t buffer;   /* on the device */
    bool is_own;       /* the buffer is to be freed */
} array;

enum { TICKETS = 64 };

typedef struct run {
    const vyre_sequence *sequence;
    const vyre_backend *backend;
    const vyre_ir *ir;
    vyre_plan plan;
    vyre_call call; /* the plan again */
    vyre_dispatch_config part_config;
    uint64_t deadline_ns; /* 0: none */
    bool resident;
    array *arrays;             /* by resource */
    uint32_t *iterations;      /* by step */
    uint64_t tickets[TICKETS]; /* of parts that were enqueued and not waited for */
    uint32_t ticket_count;
} run;

/* The first that failed is the one to tell of. */
static vyre_status wait_for_tickets(const run *r) {
    vyre_status status = VYRE_OK;
    for (uint32_t i = 0; i < r->ticket_count; i++) {
        status =
            vyre_first_failure(status, r->backend->slots->ticket_wait(r->backend, r->tickets[i]));
    }
    return status;
}

/* Waits for all parts that are under way. */
static vyre_status wait_for_parts(run *r) {
    vyre_status status = VYRE_OK;
    if (r->ticket_count) {
        VYRE_TRACED(VYRE_TRACE_HERE, status = wait_for_tickets(r), .kind = "wait",
                    .ticket = r->tickets[r->ticket_count - 1], .failed = status);
        r->ticket_count = 0;
    }
    return status;
}

/* The next part may take the time that is left once all others are done. */
static vyre_status check_time(run *r) {
    if (!r->deadline_ns) {
        return VYRE_OK;
    }
    vyre_status status = wait_for_parts(r);
    uint64_t now = vyre_now_ns();
    if (!status && now >= r->deadline_ns) {
        status = vyre_status_make(VYRE_STATUS_TIMEOUT,
                                  "raise the timeout, or pass smaller "
                                  "arguments",
                                  "`%s` took longer than its timeout",
                                  vyre_program_name(r->sequence->program));
    }
    r->part_config.timeout_ns = status ? 0 : r->deadline_ns - now;
    return status;
}

static vyre_status upload(run *r, const array *a, const void *data) {
    vyre_status status;
    VYRE_TRACED(VYRE_TRACE_HERE,
                status =
                    r->backend->slots->resident_upload(r->backend, a->buffer, 0, data, a->size),
                .kind = "upload", .bytes = a->size, .failed = status);
    return status;
}

static vyre_status read_back(run *r, const array *a, size_t offset, void *data, size_t size) {
    vyre_status status;
    VYRE_TRACED(VYRE_TRACE_HERE,
                status =
                    r->backend->slots->resident_read(r->backend, a->buffer, offset, data, size),
                .kind = "readback", .bytes = size, .failed = status);
    return status;
}

/* Starts a part on buffers of the device. */
static vyre_status enqueue(run *r, const vyre_call *call, const uint64_t *buffers) {
    const vyre_native *native = call->native;
    if (!native) {
        vyre_timing timing;
        return r->backend->slots->resident_dispatch_timed(r->backend, call, buffers, &timing);
    }
    if (r->ticket_count == TICKETS) {
        VYRE_TRY(wait_for_parts(r));
    }
    uint64_t ticket = 0;
    VYRE_TRY(native->slots->enqueue(native, call, buffers, &ticket));
    if (ticket) {
        r->tickets[r->ticket_count++] = ticket;
    }
    return VYRE_OK;
}

/* The number that a domain or a repeat goes by; 0 past the end. */
static vyre_status read_element(run *r, uint32_t resource, uint64_t index, int64_t *out_value) {
    const array *a = &r->arrays[resource];
    vyre_type type = (vyre_type)r->ir->resources[resource].type;
    uint32_t bytes = vyre_type_bytes(type);
    uint8_t element[8] = {0};
    if (index < a->size / bytes && r->resident) {
        VYRE_TRY(read_back(r, a, (size_t)(index * bytes), element, bytes));
    } else if (index < a->size / bytes) {
        memcpy(element, a->data + index * bytes, bytes);
    }
    *out_value = vyre_plan_element(type, element);
    return VYRE_OK;
}

/* The bits of a scalar argument of a part. */
static uint64_t scalar_bits(const run *r, const vyre_phase_binding *binding,
                            const vyre_grid *grid) {
    switch (binding->kind) {
    case VYRE_PHASE_SCALAR: {
        uint32_t width = vyre_type_bytes((vyre_type)r->ir->args[binding->index].type) * 8;
        uint64_t bits = r->plan.arguments[binding->index];
        return width < 64 ? bits & (((uint64_t)1 << width) - 1) : bits;
    }
    case VYRE_PHASE_ITERATION: return r->iterations[binding->index];
    case VYRE_PHASE_DOMAIN: return grid->domain[binding->index];
    case VYRE_PHASE_RESOURCE: break;
    }
    return 0;
}

static vyre_status run_part_resident(run *r, const part *p, const vyre_grid *grid) {
    uint64_t buffers[VYRE_LIMIT_ARGUMENTS];
    vyre_plan_value values[VYRE_LIMIT_ARGUMENTS];
    for (uint32_t i = 0; i < p->phase.binding_count; i++) {
        const vyre_phase_binding *binding = &p->phase.bindings[i];
        bool is_array = binding->kind == VYRE_PHASE_RESOURCE;
        const array *a = is_array ? &r->arrays[binding->index] : NULL;
        buffers[i] = a ? a->buffer : 0;
        values[i] = (vyre_plan_value){a ? a->size : 0, scalar_bits(r, binding, grid)};
    }
    vyre_plan plan;
    VYRE_TRY(vyre_plan_init_resident(&plan, p->phase.program, values, p->phase.binding_count,
                                     &r->part_config));
    vyre_call call = vyre_plan_call(&plan, NULL, p->native);
    vyre_status status = enqueue(r, &call, buffers);
    vyre_plan_deinit(&plan);
    return status;
}

/* Memory that a phase writes an array into, while it reads the contents of before. */
static bool make_spare(array *a) {
    if (!a->spare) {
        a->owned[1] = a->spare = vyre_alloc(a->size);
    }
    return a->spare;
}

static vyre_status run_part_host(run *r, const part *p, const vyre_grid *grid) {
    vyre_input inputs[VYRE_LIMIT_ARGUMENTS];
    vyre_output outputs[VYRE_LIMIT_ARGUMENTS];
    uint8_t scalars[VYRE_LIMIT_ARGUMENTS][8];
    const vyre_ir *ir = vyre_program_ir(p->phase.program);
    size_t output_count = 0;
    for (uint32_t i = 0; i < p->phase.binding_count; i++) {
        const vyre_phase_binding *binding = &p->phase.bindings[i];
        if (binding->kind == VYRE_PHASE_RESOURCE) {
            array *a = &r->arrays[binding->index];
            inputs[i] = (vyre_input){a->data, a->size};
            if (binding->access != VYRE_ACCESS_IN) {
                if (!make_spare(a)) {
                    return vyre_no_memory("to run `%s` phase by phase",
                                          vyre_program_name(r->sequence->program));
                }
                outputs[output_count++] = (vyre_output){a->spare, a->size};
            }
            continue;
        }
        uint64_t bits = scalar_bits(r, binding, grid);
        for (int k = 0; k < 8; k++) {
            scalars[i][k] = (uint8_t)(bits >> (8 * k));
        }
        inputs[i] = (vyre_input){scalars[i], vyre_type_bytes((vyre_type)ir->args[i].type)};
    }
    vyre_plan plan;
    VYRE_TRY(
        vyre_plan_init(&plan, p->phase.program, inputs, p->phase.binding_count, &r->part_config));
    vyre_call call = vyre_plan_call(&plan, inputs, p->native);
    vyre_status status = VYRE_CALL_SLOT(dispatch_borrowed, r->backend, &call, outputs);
    vyre_plan_deinit(&plan);
    for (uint32_t i = 0; i < p->phase.binding_count && !status; i++) {
        const vyre_phase_binding *binding = &p->phase.bindings[i];
        if (binding->kind == VYRE_PHASE_RESOURCE && binding->access != VYRE_ACCESS_IN) {
            array *a = &r->arrays[binding->index];
            uint8_t *data = a->data;
            a->data = a->spare;
            a->spare = data;
        }
    }
    return status;
}

/* How many workgroups a domain from memory has is known here at last. */
static vyre_status check_groups(const run *r, const vyre_grid *grid) {
    const vyre_backend *backend = r->sequence->backend;
    uint32_t most[3];
    backend->slots->max_workgroups_per_dimension(backend, most);
    return grid->groups[0] <= most[0] && grid->groups[1] <= most[1] && grid->groups[2] <= most[2]
               ? VYRE_OK
               : vyre_status_make(
                     VYRE_STATUS_LIMIT,
                     "use larger workgroups, a smaller domain, or another device",
                     "program `%s`: a phase runs in %llu x %llu x %llu workgroups, and backend "
                     "`%s` takes at most %u x %u x %u",
                     vyre_program_name(r->sequence->program), (unsigned long long)grid->groups[0],
                     (unsigned long long)grid->groups[1], (unsigned long long)grid->groups[2],
                     backend->slots->id(backend), most[0], most[1], most[2]);
}

static uint64_t size_now(const run *r, uint32_t size) {
    return vyre_call_size(r->ir, &r->call, size, r->iterations);
}

static vyre_status run_phase(run *r, uint32_t index) {
    const vyre_phase *phase = &r->ir->phases[index];
    const part *p = &r->sequence->parts[index];
    bool from_memory = phase->from_resource != VYRE_NONE;
    int64_t counts[3] = {0};
    VYRE_TRY(check_time(r));
    for (uint32_t i = 0; i < phase->dimensions && from_memory; i++) {
        uint64_t element = size_now(r, phase->from_index) + i;
        VYRE_TRY(read_element(r, phase->from_resource, element, &counts[i]));
    }
    vyre_grid grid = vyre_call_grid(r->ir, &r->call, index, r->iterations, counts);
    if (!grid.domain[0] || !grid.domain[1] || !grid.domain[2]) {
        return VYRE_OK;
    }
    if (from_memory) {
        VYRE_TRY(check_groups(r, &grid));
    }
    vyre_status status;
    VYRE_TRACED(VYRE_TRACE_HERE,
                status = r->resident ? run_part_resident(r, p, &grid) : run_part_host(r, p, &grid),
                .kind = "phase", .program = p->phase.program, .phase = &index, .grid = &grid,
                .ticket = r->ticket_count ? r->tickets[r->ticket_count - 1] : 0, .failed = status);
    return status;
}

static vyre_status run_steps(run *r, uint32_t first, uint32_t end);

static vyre_status run_repeat(run *r, uint32_t index) {
    const vyre_step *step = &r->ir->steps[index];
    uint64_t size = size_now(r, step->size);
    for (uint64_t iteration = 0;; iteration++) {
        int64_t more = iteration < size;
        VYRE_TRY(check_time(r));
        if (step->kind == VYRE_STEP_REPEAT_WHILE) {
            VYRE_TRY(read_element(r, step->resource, size, &more));
        }
        if (!more) {
            return VYRE_OK;
        }
        r->iterations[index] = (uint32_t)iteration;
        VYRE_TRY(run_steps(r, index + 1, step->end));
    }
}

static vyre_status read_flag(run *r, const vyre_step *step, bool *out_set) {
    int64_t value;
    VYRE_TRY(check_time(r));
    VYRE_TRY(read_element(r, step->resource, size_now(r, step->size), &value));
    *out_set = value != 0;
    return VYRE_OK;
}

static void swap_arrays(run *r, const vyre_step *step) {
    array kept = r->arrays[step->resource];
    r->arrays[step->resource] = r->arrays[step->size];
    r->arrays[step->size] = kept;
}

static vyre_status run_steps(run *r, uint32_t first, uint32_t end) {
    const vyre_step *steps = r->ir->steps;
    bool was_taken = false; /* the `if` in front of an `else` */
    for (uint32_t i = first; i < end; i = steps[i].end) {
        switch (steps[i].kind) {
        case VYRE_STEP_PHASE: VYRE_TRY(run_phase(r, steps[i].size)); break;
        case VYRE_STEP_SWAP: swap_arrays(r, &steps[i]); break;
        case VYRE_STEP_IF:
            VYRE_TRY(read_flag(r, &steps[i], &was_taken));
            VYRE_TRY(was_taken ? run_steps(r, i + 1, steps[i].end) : VYRE_OK);
            break;
        case VYRE_STEP_ELSE:
            VYRE_TRY(was_taken ? VYRE_OK : run_steps(r, i + 1, steps[i].end));
            break;
        case VYRE_STEP_REPEAT_COUNT:
        case VYRE_STEP_REPEAT_WHILE: VYRE_TRY(run_repeat(r, i)); break;
        }
    }
    return VYRE_OK;
}

static bool is_lent(const run *r, uint32_t resource) {
    return r->sequence->lends_constants &&
           r->ir->resources[resource].kind == VYRE_RESOURCE_CONSTANT;
}

/* Arrays on the host. What a program writes lies in the caller's outputs as far as possible. */

static vyre_status place_on_host(run *r, const vyre_input *inputs, vyre_output *outputs) {
    uint32_t input = 0, output = 0;
    for (uint32_t arg = 0; arg < r->ir->arg_count; arg++) {
        uint32_t resource = r->ir->args[arg].resource;
        const vyre_input *from = vyre_ir_is_out(r->ir, arg) ? NULL : &inputs[input++];
        if (resource == VYRE_NONE) {
            continue;
        }
        array *a = &r->arrays[resource];
        if (r->ir->resources[resource].access == VYRE_ACCESS_IN) {
            a->data = (uint8_t *)(uintptr_t)from->data; /* read alone */
            continue;
        }
        a->data = outputs[output++].data;
        if (from && a->size && a->data != from->data) {
            memcpy(a->data, from->data, a->size);
        } else if (!from && a->size) {
            memset(a->data, 0, a->size);
        }
    }
    for (uint32_t i = 0; i < r->ir->resource_count; i++) {
        if (r->ir->resources[i].kind == VYRE_RESOURCE_SCRATCH) {
            array *a = &r->arrays[i];
            a->owned[0] = a->data = vyre_alloc_zeroed(a->size, 1);
            if (!a->data) {
                return vyre_no_memory("to run `%s` phase by phase",
                                      vyre_program_name(r->sequence->program));
            }
        } else if (is_lent(r, i)) { /* read alone */
            r->arrays[i].data =
                (uint8_t *)(uintptr_t)vyre_constant_data(r->ir, &r->ir->resources[i]);
        }
    }
    return VYRE_OK;
}

/* Whether the contents of an array are in the memory of another output, by a swap. */
static bool is_in_other_output(const run *r, const vyre_output *outputs, uint32_t output) {
    const uint8_t *data = r->arrays[r->ir->args[r->plan.outputs[output]].resource].data;
    bool found = false;
    for (uint32_t i = 0; i < r->plan.output_count && !found; i++) {
        found = i != output && outputs[i].size && outputs[i].data == data;
    }
    return found;
}

/* Contents that stand where others belong make way first. */
static vyre_status take_from_host(run *r, vyre_output *outputs) {
    for (uint32_t i = 0; i < r->plan.output_count; i++) {
        array *a = &r->arrays[r->ir->args[r->plan.outputs[i]].resource];
        if (is_in_other_output(r, outputs, i)) {
            uint8_t *copy = vyre_alloc(a->size);
            if (!copy) {
                return vyre_no_memory("to run `%s` phase by phase",
                                      vyre_program_name(r->sequence->program));
            }
            memcpy(copy, a->data, a->size);
            vyre_free(a->owned[0]);
            a->owned[0] = a->data = copy;
        }
    }
    for (uint32_t i = 0; i < r->plan.output_count; i++) {
        const array *a = &r->arrays[r->ir->args[r->plan.outputs[i]].resource];
        if (a->data != outputs[i].data && a->size) {
            memcpy(outputs[i].data, a->data, a->size);
        }
    }
    return VYRE_OK;
}

/* Arrays on the device. */

static vyre_status upload_zeros(run *r, const array *a) {
    uint8_t *zeros = vyre_alloc_zeroed(a->size, 1);
    vyre_status status = zeros ? upload(r, a, zeros)
                               : vyre_no_memory("to run `%s` phase by phase",
                                                vyre_program_name(r->sequence->program));
    vyre_free(zeros);
    return status;
}

static vyre_status allocate(run *r, array *a) {
    vyre_status status = r->backend->slots->resident_allocate(r->backend, a->size, &a->buffer);
    a->is_own = !status;
    return status;
}

/* `buffers` by argument are the caller's; without them, all arrays get one and inputs go there. */
static vyre_status place_on_device(run *r, const vyre_input *inputs, const uint64_t *buffers) {
    uint32_t input = 0;
    for (uint32_t arg = 0; arg < r->ir->arg_count; arg++) {
        uint32_t resource = r->ir->args[arg].resource;
        bool is_out = vyre_ir_is_out(r->ir, arg);
        const vyre_input *from = is_out || buffers ? NULL : &inputs[input++];
        if (resource == VYRE_NONE) {
            continue;
        }
        array *a = &r->arrays[resource];
        if (buffers) {
            a->buffer = buffers[arg];
        } else {
            VYRE_TRY(allocate(r, a));
        }
        if (is_out) {
            VYRE_TRY(upload_zeros(r, a));
        } else if (from) {
            VYRE_TRY(upload(r, a, from->data));
        }
    }
    for (uint32_t i = 0; i < r->ir->resource_count; i++) {
        if (r->ir->resources[i].kind == VYRE_RESOURCE_SCRATCH) {
            VYRE_TRY(allocate(r, &r->arrays[i]));
            VYRE_TRY(upload_zeros(r, &r->arrays[i]));
        } else if (is_lent(r, i)) {
            VYRE_TRY(allocate(r, &r->arrays[i]));
            VYRE_TRY(upload(r, &r->arrays[i], vyre_constant_data(r->ir, &r->ir->resources[i])));
        }
    }
    return VYRE_OK;
}

static vyre_status take_from_device(run *r, vyre_output *outputs) {
    VYRE_TRY(wait_for_parts(r));
    for (uint32_t i = 0; i < r->plan.output_count; i++) {
        const array *a = &r->arrays[r->ir->args[r->plan.outputs[i]].resource];
        VYRE_TRY(read_back(r, a, 0, outputs[i].data, a->size));
    }
    return VYRE_OK;
}

static vyre_status end_run(run *r, vyre_status status) {
    status = vyre_first_failure(status, wait_for_parts(r));
    for (uint32_t i = 0; r->arrays && i < r->ir->resource_count; i++) {
        array *a = &r->arrays[i];
        if (a->is_own) {
            status =
                vyre_first_failure(status, r->backend->slots->resident_free(r->backend, a->buffer));
        }
        vyre_free(a->owned[0]);
        vyre_free(a->owned[1]);
    }
    vyre_free(r->arrays);
    vyre_free(r->iterations);
    vyre_plan_deinit(&r->plan);
    return status;
}

/* Plans the whole program anew: after splitting it has other sizes and phases. */
static vyre_status begin_run(run *r, const vyre_sequence *s, const vyre_call *call, bool resident) {
    *r = (run){.sequence = s, .backend = s->backend, .resident = resident};
    r->ir = vyre_program_ir(s->program);
    r->part_config = *call->config; /* domains are arguments of the parts */
    r->part_config.max_output_bytes = 0;
    r->part_config.determinism = VYRE_DEMAND_NOTHING;
    memset(r->part_config.grid, 0, sizeof r->part_config.grid);
    if (call->config->timeout_ns) {
        uint64_t now = vyre_now_ns();
        r->deadline_ns =
            call->config->timeout_ns < UINT64_MAX - now ? now + call->config->timeout_ns : 0;
    }
    VYRE_TRY(vyre_plan_init_again(&r->plan, s->original, s->program, s->was_split, call));
    r->call = vyre_plan_call(&r->plan, NULL, NULL);
    r->arrays = vyre_alloc_zeroed(r->ir->resource_count, sizeof *r->arrays);
    r->iterations = vyre_alloc_zeroed(r->ir->step_count, sizeof *r->iterations);
    if (!r->arrays || !r->iterations) {
        return end_run(r,
                       vyre_no_memory("to run `%s` phase by phase", vyre_program_name(s->program)));
    }
    for (uint32_t i = 0; i < r->ir->resource_count; i++) {
        const vyre_resource *row = &r->ir->resources[i];
        if (row->kind <= VYRE_RESOURCE_SCRATCH) {
            uint64_t length = vyre_plan_length(&r->plan, i);
            r->arrays[i].size = (size_t)(length * vyre_resource_stride(r->ir, row));
        } else if (row->kind == VYRE_RESOURCE_CONSTANT) {
            r->arrays[i].size = (size_t)vyre_resource_bytes(row);
        }
    }
    return VYRE_OK;
}

/* A backend with phases of its own takes the split program as a whole. */
static vyre_status run_whole(run *r, const vyre_call *call, vyre_output *outputs,
                             const vyre_output *arguments, const uint64_t *buffers) {
    const vyre_call own = vyre_plan_call(&r->plan, call->inputs, r->sequence->parts[0].native);
    return buffers     ? enqueue(r, &own, buffers)
           : arguments ? VYRE_CALL_SLOT(dispatch_in_place, r->backend, &own, arguments)
                       : VYRE_CALL_SLOT(dispatch_borrowed, r->backend, &own, outputs);
}

static vyre_status run_on_device(run *r, const vyre_call *call, vyre_output *outputs) {
    VYRE_TRY(place_on_device(r, call->inputs, NULL));
    VYRE_TRY(run_steps(r, 0, r->ir->step_count));
    return take_from_device(r, outputs);
}

static vyre_status run_on_host(run *r, const vyre_call *call, vyre_output *outputs) {
    VYRE_TRY(place_on_host(r, call->inputs, outputs));
    VYRE_TRY(run_steps(r, 0, r->ir->step_count));
    return take_from_host(r, outputs);
}

vyre_status vyre_sequence_run(const vyre_sequence *s, const vyre_call *call, vyre_output *outputs,
                              const vyre_output *arguments) {
    run r;
    VYRE_TRY(begin_run(&r, s, call, vyre_backend_has_residents(s->backend)));
    return end_run(&r, s->whole     ? run_whole(&r, call, outputs, arguments, NULL)
                       : r.resident ? run_on_device(&r, call, outputs)
                                    : run_on_host(&r, call, outputs));
}

/* Contents that swaps have left in other buffers go home through the host, since backends need not
 * copy from buffer to buffer. All are read before the first is written. */
static vyre_status bring_home(run *r, const uint64_t *buffers, uint8_t **copies) {
    VYRE_TRY(wait_for_parts(r));
    for (uint32_t arg = 0; arg < r->ir->arg_count; arg++) {
        uint32_t resource = r->ir->args[arg].resource;
        const array *a = resource == VYRE_NONE ? NULL : &r->arrays[resource];
        if (!a || a->buffer == buffers[arg] || !a->size) {
            continue;
        }
        copies[arg] = vyre_alloc(a->size);
        if (!copies[arg]) {
            return vyre_no_memory("to run `%s` phase by phase",
                                  vyre_program_name(r->sequence->program));
        }
        VYRE_TRY(read_back(r, a, 0, copies[arg], a->size));
    }
    for (uint32_t arg = 0; arg < r->ir->arg_count; arg++) {
        if (copies[arg]) {
            const array home = {.size = r->arrays[r->ir->args[arg].resource].size,
                                .buffer = buffers[arg]};
            VYRE_TRY(upload(r, &home, copies[arg]));
        }
    }
    return VYRE_OK;
}

static vyre_status run_on_buffers(run *r, const uint64_t *buffers) {
    VYRE_TRY(place_on_device(r, NULL, buffers));
    VYRE_TRY(run_steps(r, 0, r->ir->step_count));
    if (!vyre_places_change(r->ir)) {
        return VYRE_OK;
    }
    uint8_t *copies[VYRE_LIMIT_ARGUMENTS] = {NULL};
    vyre_status status = bring_home(r, buffers, copies);
    for (uint32_t arg = 0; arg < r->ir->arg_count; arg++) {
        vyre_free(copies[arg]);
    }
    return status;
}

vyre_status vyre_sequence_run_resident(const vyre_sequence *s, const vyre_call *call,
                                       const uint64_t *buffers) {
    run r;
    VYRE_TRY(begin_run(&r, s, call, true));
    return end_run(&r, s->whole ? run_whole(&r, call, NULL, NULL, buffers)
                                : run_on_buffers(&r, buffers));
}
