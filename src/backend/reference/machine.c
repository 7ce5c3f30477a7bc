#include <fenv.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backend/reference/findings.h"
#include "backend/reference/machine.h"
#include "base/alloc.h"
#include "base/random.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "pass/pass.h"
#include "pass/shared.h"
#include "runtime/message.h"
#include "runtime/shared.h"

enum { FREE_LANES = 256 }; /* lanes of a workgroup where the program does not say */

static uint64_t now_ns(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t machine_random(machine *m, uint64_t bound) {
    return vyre_random_below(&m->random, bound);
}

static uint64_t memory_limit(const machine *m) {
    return m->options->max_memory_bytes ? m->options->max_memory_bytes
                                        : VYRE_REFERENCE_MEMORY_BYTES;
}

uint64_t machine_memory_left(const machine *m) {
    return memory_limit(m) - m->memory_bytes;
}

bool machine_reserve(machine *m, uint64_t bytes, const char *what) {
    if (bytes <= machine_memory_left(m)) {
        m->memory_bytes += bytes;
        return true;
    }
    m->status = vyre_status_make(
        VYRE_STATUS_LIMIT, "use smaller buffers or domains, or raise the memory budget",
        "program `%s` needs %llu more bytes for %s, which exceeds the budget of %llu bytes",
        vyre_program_name(m->plan->program), (unsigned long long)bytes, what,
        (unsigned long long)memory_limit(m));
    return false;
}

bool machine_no_memory(machine *m) {
    if (!m->status) {
        m->status = vyre_no_memory("left while running `%s`", vyre_program_name(m->plan->program));
    }
    return false;
}

bool machine_unknown(machine *m, uint32_t at) {
    m->status = vyre_internal_error("the reference backend does not run `%s`",
                                    vyre_lookup_op(m->ir->insts[at].op)->name);
    return false;
}

const char *machine_array_name(const machine *m, uint32_t resource) {
    const vyre_resource *row = &m->ir->resources[resource];
    resource = vyre_resource_is_field(row) ? row->size : resource;
    for (uint32_t i = 0; i < m->ir->arg_count; i++) {
        if (m->ir->args[i].resource == resource) {
            return m->ir->strings + m->ir->args[i].name;
        }
    }
    const char *name = vyre_ir_resource_name(m->ir, resource);
    return *name ? name : "the array";
}

/* The innermost loop that a fiber is in; VYRE_NONE if it is in none. */
static uint32_t current_loop(const machine *m, const fiber *f) {
    for (uint32_t i = f->depth; i-- > 1;) {
        if (vyre_op_is_loop(m->ir->insts[f->frames[i].owner].op)) {
            return f->frames[i].owner;
        }
    }
    return VYRE_NONE;
}

/* Ends the run, saying where it is: in a fiber, or in a repeat if there is none. */
static bool out_of_budget(machine *m, const fiber *f, vyre_status_code code, const char *what) {
    const char *name = vyre_program_name(m->plan->program);
    if (!f) {
        m->status = vyre_status_make(code,
                                     "look for a `repeat while` whose element never becomes 0, or "
                                     "raise the limit",
                                     "program `%s` %s between two phases", name, what);
        return false;
    }
    m->status = vyre_status_make(code,
                                 "look for a loop that does not end, a workgroup that waits for a "
                                 "later one, or an invocation that waits for another of its "
                                 "workgroup; or raise the limit",
                                 "program `%s` %s in workgroup %llu", name, what,
                                 (unsigned long long)f->group);
    uint32_t loop = current_loop(m, f);
    if (loop != VYRE_NONE && vyre_ir_line(m->ir, loop)) {
        vyre_place place = m->ir->places[loop];
        m->status = vyre_status_annotate(m->status, "it was in the loop in line %u",
                                         VYRE_PLACE_LINE(place));
        const char *file = vyre_ir_file(m->ir, VYRE_PLACE_SCOPE(place));
        if (*file) {
            m->status =
                vyre_status_at(m->status, file, VYRE_PLACE_LINE(place), VYRE_PLACE_COLUMN(place));
        }
    }
    return false;
}

bool machine_charge(machine *m, const fiber *f, uint64_t steps) {
    uint64_t limit = m->options->max_steps ? m->options->max_steps : VYRE_REFERENCE_STEPS;
    uint64_t before = m->steps;
    if (steps > limit - m->steps) {
        return out_of_budget(m, f, VYRE_STATUS_LIMIT, "used up its budget of steps");
    }
    m->steps += steps;
    /* The clock is asked every million steps. */
    if (m->deadline_ns && before >> 20 != m->steps >> 20 && now_ns() > m->deadline_ns) {
        return out_of_budget(m, f, VYRE_STATUS_TIMEOUT, "ran out of time");
    }
    return true;
}

/* Arrays */

static vyre_status make_arrays(machine *m, const vyre_input *inputs) {
    const vyre_ir *ir = m->ir;
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        const vyre_resource *row = &ir->resources[i];
        if (row->kind > VYRE_RESOURCE_SCRATCH) {
            break; /* a field is in its buffer */
        }
        array *a = &m->arrays[i];
        a->length = vyre_plan_length(m->plan, i);
        uint64_t bytes = a->length * vyre_resource_stride(ir, row);
        char what[96];
        snprintf(what, sizeof what, "array `%.60s`", machine_array_name(m, i));
        if (!machine_reserve(m, bytes, what)) {
            return m->status;
        }
        a->data = vyre_alloc_zeroed((size_t)bytes, 1);
        if (!a->data) {
            return vyre_no_memory("for %s of %llu bytes", what, (unsigned long long)bytes);
        }
    }
    for (uint32_t i = 0; i < m->plan->input_count; i++) {
        uint32_t resource = ir->args[m->plan->inputs[i]].resource;
        if (resource != VYRE_NONE && inputs[i].size) {
            memcpy(m->arrays[resource].data, inputs[i].data, inputs[i].size);
        }
    }
    return VYRE_OK;
}

/* An element of an integer array as the host reads it; 0 out of bounds. */
static int64_t read_element(const machine *m, uint32_t resource, uint64_t index) {
    vyre_type type = vyre_resource_type(&m->ir->resources[resource]);
    return index < m->arrays[resource].length
               ? vyre_plan_element(type, m->arrays[resource].data + index * vyre_type_bytes(type))
               : 0;
}

/* Phases and repeats */

/* Products of the domain may need more than 64 bits; nobody can run that many, so they end at a
 * number that is out of reach and still leaves room to calculate. */
static uint64_t product(const uint64_t *sides) {
    const uint64_t most = UINT64_MAX / 2048;
    uint64_t total = sides[0];
    for (int i = 1; i < 3; i++) {
        total = sides[i] && total > most / sides[i] ? most : total * sides[i];
    }
    return total;
}

static uint64_t size_now(const machine *m, uint32_t size) {
    return vyre_call_size(m->ir, &m->call, size, m->iterations);
}

/* Puts the machine into a phase; false if nothing is to be run there. */
static bool enter_phase(machine *m, uint32_t index, uint32_t *lanes) {
    const vyre_phase *phase = &m->ir->phases[index];
    int64_t counts[3] = {0};
    for (uint32_t i = 0; i < phase->dimensions && phase->from_resource != VYRE_NONE; i++) {
        counts[i] = read_element(m, phase->from_resource, size_now(m, phase->from_index) + i);
    }
    m->phase = phase;
    m->grid = vyre_call_grid(m->ir, &m->call, index, m->iterations, counts);
    if (phase->workgroup[0]) {
        *lanes = phase->workgroup[0] * phase->workgroup[1] * phase->workgroup[2];
        m->group_count = product(m->grid.groups);
        return m->group_count;
    }
    m->invocation_count = product(m->grid.domain);
    *lanes = m->invocation_count < FREE_LANES ? (uint32_t)m->invocation_count : FREE_LANES;
    m->group_count = *lanes ? (m->invocation_count + *lanes - 1) / *lanes : 0;
    return m->group_count;
}

static vyre_status run_phase(machine *m, uint32_t index) {
    uint32_t lanes;
    if (!enter_phase(m, index, &lanes)) {
        return VYRE_OK;
    }
    size_t stride = (size_t)lanes * REGISTER_BYTES;
    uint64_t memory_before = m->memory_bytes, bytes = layout_bytes(m->ir, index, lanes);
    if (!machine_reserve(m, bytes, "the code of a phase") || !machine_charge(m, NULL, bytes / 8)) {
        return m->status;
    }
    if (m->watch && !sanitizer_enter(m)) {
        return m->status;
    }
    bool made = layout_init(&m->layout, m->ir, index, lanes);
    if (made && machine_reserve(m, (m->layout.most_carried + 2) * (uint64_t)stride,
                                "values that loops carry")) {
        m->indices = vyre_alloc_array(lanes, sizeof *m->indices);
        m->copies = vyre_alloc_zeroed((size_t)m->layout.most_carried + 1, stride);
    }
    if (!m->indices || !m->copies) {
        machine_no_memory(m);
    } else {
        schedule_phase(m);
    }
    vyre_free(m->indices);
    vyre_free(m->copies);
    m->indices = NULL;
    m->copies = NULL;
    layout_deinit(&m->layout);
    m->memory_bytes = memory_before;
    return m->status;
}

static vyre_status run_steps(machine *m, uint32_t first, uint32_t end);

static vyre_status run_repeat(machine *m, uint32_t index) {
    const vyre_step *step = &m->ir->steps[index];
    uint64_t size = size_now(m, step->size);
    vyre_status status = VYRE_OK;
    for (uint64_t iteration = 0; !status; iteration++) {
        bool more = step->kind == VYRE_STEP_REPEAT_COUNT
                        ? iteration < size
                        : read_element(m, step->resource, size) != 0;
        if (!more) {
            break;
        }
        m->iterations[index] = (uint32_t)iteration;
        if (!machine_charge(m, NULL, 1 << 12)) { /* so that a repeat of nothing ends too */
            return m->status;
        }
        status = run_steps(m, index + 1, step->end);
    }
    return status;
}

static void swap_arrays(machine *m, const vyre_step *step) {
    array kept = m->arrays[step->resource];
    m->arrays[step->resource] = m->arrays[step->size];
    m->arrays[step->size] = kept;
    if (m->watch) {
        sanitizer_swap(m->watch, step->resource, step->size);
    }
}

static vyre_status run_steps(machine *m, uint32_t first, uint32_t end) {
    const vyre_step *steps = m->ir->steps;
    bool was_taken = false; /* the `if` in front of an `else` */
    for (uint32_t i = first; i < end; i = steps[i].end) {
        switch (steps[i].kind) {
        case VYRE_STEP_PHASE: VYRE_TRY(run_phase(m, steps[i].size)); break;
        case VYRE_STEP_SWAP: swap_arrays(m, &steps[i]); break;
        case VYRE_STEP_IF:
            was_taken = read_element(m, steps[i].resource, size_now(m, steps[i].size)) != 0;
            VYRE_TRY(was_taken ? run_steps(m, i + 1, steps[i].end) : VYRE_OK);
            break;
        case VYRE_STEP_ELSE:
            VYRE_TRY(was_taken ? VYRE_OK : run_steps(m, i + 1, steps[i].end));
            break;
        case VYRE_STEP_REPEAT_COUNT:
        case VYRE_STEP_REPEAT_WHILE: VYRE_TRY(run_repeat(m, i)); break;
        }
    }
    return VYRE_OK;
}

/* Hands the written buffers over to the caller. */
static vyre_status give_outputs(machine *m, vyre_outputs *outputs) {
    outputs->items = vyre_alloc_zeroed(m->plan->output_count, sizeof *outputs->items);
    if (!outputs->items) {
        return vyre_no_memory("for the list of outputs");
    }
    outputs->count = m->plan->output_count;
    for (uint32_t i = 0; i < m->plan->output_count; i++) {
        const vyre_arg *arg = &m->ir->args[m->plan->outputs[i]];
        array *from = &m->arrays[arg->resource];
        outputs->items[i] =
            (vyre_output){from->data, (size_t)(from->length * vyre_arg_bytes(m->ir, arg))};
        from->data = NULL;
    }
    return VYRE_OK;
}

/* Runs a program without elementary functions. */
static vyre_status run_plain(const vyre_program *program, const vyre_input *inputs,
                             size_t input_count, const vyre_dispatch_config *config,
                             const vyre_reference_options *options, vyre_findings *findings,
                             vyre_outputs *out_outputs) {
    vyre_plan plan;
    VYRE_TRY(vyre_plan_init(&plan, program, inputs, input_count, config));
    machine m = {.plan = &plan, .ir = plan.ir, .options = options, .random = options->seed};
    m.call = vyre_plan_call(&plan, inputs, NULL);
    m.deadline_ns = config->timeout_ns ? now_ns() + config->timeout_ns : 0;
    m.arrays = vyre_alloc_zeroed(m.ir->resource_count, sizeof *m.arrays);
    m.iterations = vyre_alloc_zeroed(m.ir->step_count, sizeof *m.iterations);
    if (!m.arrays || !m.iterations) {
        machine_no_memory(&m);
    }
    vyre_status status = m.status ? m.status : make_arrays(&m, inputs);
    if (!status && findings) {
        status = sanitizer_init(&m, findings) ? VYRE_OK : m.status;
    }
    status = status ? status : run_steps(&m, 0, m.ir->step_count);
    status = status || !out_outputs ? status : give_outputs(&m, out_outputs);
    sanitizer_free(m.watch);
    for (uint32_t i = 0; m.arrays && i < m.ir->resource_count; i++) {
        vyre_free(m.arrays[i].data);
    }
    vyre_free(m.arrays);
    vyre_free(m.iterations);
    vyre_plan_deinit(&plan);
    return status;
}

static vyre_status run(const vyre_program *program, const vyre_input *inputs, size_t input_count,
                       const vyre_dispatch_config *config, const vyre_reference_options *options,
                       vyre_findings *findings, vyre_outputs *out_outputs);

/* A program whose shared arrays have sizes from arguments: numbers take their place. */
static vyre_status run_sized(const vyre_program *program, const vyre_input *inputs,
                             size_t input_count, const vyre_dispatch_config *config,
                             const vyre_reference_options *options, vyre_findings *findings,
                             vyre_outputs *out_outputs) {
    vyre_plan plan;
    vyre_program *fixed;
    VYRE_TRY(vyre_plan_init(&plan, program, inputs, input_count, config));
    vyre_status status = vyre_shared_program(&plan, 0, "a workgroup", &fixed);
    vyre_plan_deinit(&plan);
    if (!status) {
        status = run(fixed, inputs, input_count, config, options, findings, out_outputs);
        vyre_program_release(fixed);
    }
    return status;
}

/* The arithmetic is the host's, so the host must round and keep subnormals as IEEE 754 does by
 * default, whatever the calling thread has set. */
static vyre_status run(const vyre_program *program, const vyre_input *inputs, size_t input_count,
                       const vyre_dispatch_config *config, const vyre_reference_options *options,
                       vyre_findings *findings, vyre_outputs *out_outputs) {
    static const vyre_dispatch_config default_config;
    static const vyre_reference_options default_options;
    if (vyre_shared_is_sized(vyre_program_ir(program))) {
        return run_sized(program, inputs, input_count, config ? config : &default_config, options,
                         findings, out_outputs);
    }
    vyre_program *expanded;
    vyre_status status = vyre_math_expand(program, &expanded);
    fenv_t callers;
    if (!status && (fegetenv(&callers) || fesetenv(FE_DFL_ENV))) {
        status = vyre_status_make(VYRE_STATUS_UNSUPPORTED, "run it on another thread",
                                  "cannot set the floating-point environment of this thread");
    }
    if (!status) {
        status = run_plain(expanded ? expanded : program, inputs, input_count,
                           config ? config : &default_config, options ? options : &default_options,
                           findings, out_outputs);
        fesetenv(&callers);
    }
    vyre_program_release(expanded);
    return status;
}

vyre_status vyre_reference_run(const vyre_program *program, const vyre_input *inputs,
                               size_t input_count, const vyre_dispatch_config *config,
                               const vyre_reference_options *options, vyre_outputs *out_outputs) {
    *out_outputs = (vyre_outputs){0};
    VYRE_TRY(vyre_messages_refuse(program, config));
    return run(program, inputs, input_count, config, options, NULL, out_outputs);
}

vyre_status vyre_sanitize(const vyre_program *program, const vyre_input *inputs, size_t input_count,
                          const vyre_sanitize_options *options, vyre_findings **out_findings) {
    VYRE_TRY(vyre_findings_create(out_findings));
    vyre_sanitize_options chosen = options ? *options : (vyre_sanitize_options){0};
    vyre_dispatch_config config = {.timeout_ns = chosen.timeout_ns};
    vyre_reference_options reference = {.seed = chosen.seed,
                                        .max_steps = chosen.max_steps,
                                        .max_memory_bytes = chosen.max_memory_bytes};
    vyre_status status =
        run(program, inputs, input_count, &config, &reference, *out_findings, NULL);
    /* Workgroups that part at a grid barrier end the run, and are what it was to find. */
    if (vyre_status_code_of(status) == VYRE_STATUS_INVALID_PROGRAM &&
        vyre_findings_count(*out_findings)) {
        vyre_status_free(status);
        status = VYRE_OK;
    }
    if (status) {
        vyre_findings_free(*out_findings);
        *out_findings = NULL;
    }
    return status;
}
