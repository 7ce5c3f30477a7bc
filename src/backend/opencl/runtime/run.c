#include "backend/opencl/runtime/run.h"

#include <time.h>

#include "backend/opencl/runtime/stop.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "runtime/places.h"
#include "runtime/plan.h"

enum {
    THREADS = 256,          /* of a workgroup, where there is no clause */
    CPU_THREADS = 1024,     /* the same where a thread runs all of them */
    MOST_GROUPS = 65535,    /* of a launch, in y and z, on any device */
    MOST_ITEMS = 1 << 30,   /* in a dimension of one: some devices count them in 32 bits */
    MOST_QUEUED = 2048,     /* launches between two waits */
    TIMED_GROUPS = 1 << 16, /* groups of a launch of a run with a timeout */
};

/* Everything by resource covers buffers and scratch arrays, which come first. */
typedef struct run {
    opencl_executable *executable;
    opencl_device *device;
    const vyre_call *call;
    const vyre_ir *ir;
    uint32_t array_count;
    opencl_place *arrays, *homes; /* homes: as they were at the start */
    uint64_t *lengths;
    uint32_t *iterations; /* by step */
    uint32_t *swapped;    /* by resource: whose home the contents are in */
    cl_mem spare, ticket, frame;
    opencl_stop *stop;
    uint64_t deadline_ns;
    uint32_t queued;
    cl_event first, last; /* of kernels, where times are asked for */
    bool is_timed;
} run;

static vyre_status timed_out(const run *r) {
    return vyre_status_make(VYRE_STATUS_TIMEOUT, "raise the timeout, or pass smaller arguments",
                            "`%s` took longer than its timeout",
                            vyre_program_name(r->executable->program));
}

static bool is_late(const run *r) {
    return r->deadline_ns && vyre_now_ns() >= r->deadline_ns;
}

/* Waits for an event, and stops the run when its time is over. */
static vyre_status await(run *r, cl_event event) {
    enum { SHORTEST_NS = 20000, LONGEST_NS = 1000000 };
    const opencl_table *cl = r->device->cl;
    long pause_ns = SHORTEST_NS;
    vyre_status status = VYRE_OK;
    bool stopped = false;
    for (;;) {
        cl_int state = CL_COMPLETE;
        cl_int result = stopped || !r->deadline_ns
                            ? cl->clWaitForEvents(1, &event)
                            : cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                 sizeof state, &state, NULL);
        if (result || state <= CL_COMPLETE) {
            status = vyre_first_failure(
                status, opencl_check(r->device, result ? result : state, "running `%s`",
                                     vyre_program_name(r->executable->program)));
            break;
        }
        if (is_late(r)) {
            stopped = true;
            status = vyre_first_failure(timed_out(r), opencl_stop_set(r->device, r->stop));
            continue;
        }
        nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        pause_ns = pause_ns < LONGEST_NS ? pause_ns * 2 : pause_ns;
    }
    return status;
}

/* Waits for all that was submitted. */
static vyre_status drain(run *r) {
    const opencl_table *cl = r->device->cl;
    cl_event event;
    r->queued = 0;
    VYRE_TRY(opencl_check(r->device,
                          cl->clEnqueueMarkerWithWaitList(r->device->queue, 0, NULL, &event),
                          "running `%s`", vyre_program_name(r->executable->program)));
    cl->clFlush(r->device->queue);
    vyre_status status = await(r, event);
    cl->clReleaseEvent(event);
    return status;
}

/* The number that a domain or a repeat goes by; 0 past the end. */
static vyre_status read_element(run *r, uint32_t resource, uint64_t index, int64_t *out) {
    vyre_type type = (vyre_type)r->ir->resources[resource].type;
    uint64_t bytes = vyre_type_bytes(type), bits = 0;
    *out = 0;
    if (index >= r->lengths[resource]) {
        return VYRE_OK;
    }
    VYRE_TRY(drain(r));
    const opencl_place *place = &r->arrays[resource];
    cl_int result = r->device->cl->clEnqueueReadBuffer(r->device->queue, place->memory, CL_TRUE,
                                                       place->offset + index * bytes, bytes, &bits,
                                                       0, NULL, NULL);
    *out = vyre_plan_element(type, &bits);
    return opencl_check(r->device, result, "reading an element");
}

/* Launches */

static uint64_t size_now(const run *r, uint32_t size) {
    return vyre_call_size(r->ir, r->call, size, r->iterations);
}

/* A launch of a phase or of a part of one. */
typedef struct launch {
    const opencl_executable *executable;
    opencl_phase *phase;
    cl_kernel kernel;
    const vyre_grid *grid;
    uint64_t base[3];                       /* invocations in front, without a workgroup clause */
    uint64_t groups[3], first[3], count[3]; /* count: groups of this part */
    size_t local[3];
} launch;

/* The word that a parameter stands for. */
static uint64_t word_of(const run *r, const launch *l, const opencl_parameter *parameter) {
    uint32_t i = parameter->index;
    switch ((opencl_parameter_kind)parameter->kind) {
    case OPENCL_OFFSET: return r->arrays[i].offset;
    case OPENCL_LENGTH: return r->lengths[i];
    case OPENCL_SCALAR: return r->call->arguments[i];
    case OPENCL_ITERATION: return r->iterations[i];
    case OPENCL_DOMAIN: return l->grid->domain[i];
    case OPENCL_GROUPS: return l->groups[i];
    case OPENCL_FIRST:
        return l->phase->info.threads ? l->first[i] : l->base[i] + l->first[i] * l->local[i];
    case OPENCL_ARRAY:
    case OPENCL_STOP:
    case OPENCL_TICKET:
    case OPENCL_PARAMETER_COUNT: break;
    }
    return 0;
}

static cl_mem memory_of(const run *r, const opencl_parameter *parameter) {
    cl_mem found = parameter->kind == OPENCL_ARRAY    ? r->arrays[parameter->index].memory
                   : parameter->kind == OPENCL_TICKET ? r->ticket
                   : r->stop                          ? r->stop->memory
                                                      : NULL;
    return found ? found : r->device->empty;
}

/* Words in a buffer, which the commands keep until they are done. */
static cl_int set_frame(run *r, const launch *l) {
    const opencl_table *cl = r->device->cl;
    const opencl_phase_info *info = &l->phase->info;
    uint64_t *words = vyre_alloc_array(info->parameter_count, sizeof *words);
    cl_mem memory = NULL;
    cl_int result = words ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    size_t count = 0;
    for (uint32_t i = 0; i < info->parameter_count && words; i++) {
        if (!opencl_is_buffer(&info->parameters[i])) {
            words[count++] = word_of(r, l, &info->parameters[i]);
        }
    }
    if (words) {
        memory = cl->clCreateBuffer(r->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                    count * sizeof *words, words, &result);
    }
    result = result ? result : cl->clSetKernelArg(l->kernel, 0, sizeof memory, &memory);
    /* The argument does not keep it, but the command will: it is freed behind the launch. */
    r->frame = memory;
    vyre_free(words);
    return result;
}

static cl_int set_arguments(run *r, const launch *l) {
    const opencl_phase_info *info = &l->phase->info;
    cl_uint at = info->has_frame;
    cl_int result = info->has_frame ? set_frame(r, l) : CL_SUCCESS;
    for (uint32_t i = 0; i < info->parameter_count && !result; i++) {
        const opencl_parameter *parameter = &info->parameters[i];
        if (opencl_is_buffer(parameter)) {
            cl_mem memory = memory_of(r, parameter);
            result = r->device->cl->clSetKernelArg(l->kernel, at++, sizeof memory, &memory);
        } else if (!info->has_frame) {
            uint64_t word = word_of(r, l, parameter);
            result = r->device->cl->clSetKernelArg(l->kernel, at++, sizeof word, &word);
        }
    }
    return result;
}

/* Remembers the first and the last kernel of a run. */
static void keep_event(run *r, cl_event event) {
    if (!r->first) {
        r->first = event;
        return;
    }
    if (r->last) {
        r->device->cl->clReleaseEvent(r->last);
    }
    r->last = event;
}

static vyre_status launch_part(run *r, const launch *l) {
    const opencl_table *cl = r->device->cl;
    size_t global[3];
    cl_event event = NULL;
    for (int d = 0; d < 3; d++) {
        global[d] = (size_t)(l->count[d] * l->local[d]);
    }
    pthread_mutex_lock(&l->phase->lock);
    cl_int result = set_arguments(r, l);
    result = result ? result
                    : cl->clEnqueueNDRangeKernel(r->device->queue, l->kernel, 3, NULL, global,
                                                 l->local, 0, NULL, r->is_timed ? &event : NULL);
    if (l->phase->info.has_frame) {
        opencl_memory_free(r->device, r->frame);
        r->frame = NULL;
    }
    pthread_mutex_unlock(&l->phase->lock);
    if (event) {
        keep_event(r, event);
    }
    bool is_large = l->phase->info.threads > l->phase->room;
    if (is_large && (result == CL_OUT_OF_RESOURCES || result == CL_INVALID_WORK_GROUP_SIZE ||
                     result == CL_INVALID_WORK_ITEM_SIZE)) {
        return opencl_executable_refuse(l->executable, l->phase);
    }
    return opencl_check(r->device, result, "launching `%s`",
                        vyre_program_name(r->executable->program));
}

/* Sizes of workgroups where there is no clause: few different ones, because drivers for CPUs
 * compile a kernel again for each. On a GPU as many invocations as possible lie side by side. */
static void choose_local(const run *r, const vyre_phase *phase, launch *l) {
    enum { NARROW = 16 };
    bool is_cpu = r->device->info.is_cpu;
    size_t threads = is_cpu ? CPU_THREADS : THREADS, side = 1;
    if (threads > l->phase->most_threads) {
        threads = l->phase->most_threads;
    }
    l->local[0] = threads;
    l->local[1] = l->local[2] = 1;
    if (phase->dimensions > 1 && l->grid->domain[0] < threads) {
        while (is_cpu ? side < NARROW && l->grid->domain[0] >= NARROW
                      : 2 * side <= l->grid->domain[0]) {
            side *= 2;
        }
        l->local[0] = side;
        l->local[1] = threads / side;
    }
}

/* The most groups of a part in each dimension. */
static void choose_part(const run *r, const launch *l, uint64_t out_most[3]) {
    uint64_t left = r->deadline_ns ? TIMED_GROUPS : UINT64_MAX;
    for (int d = 0; d < 3; d++) {
        uint64_t most = MOST_ITEMS / l->local[d];
        most = d && most > MOST_GROUPS ? MOST_GROUPS : most;
        most = most > left ? left : most;
        out_most[d] = most;
        left /= l->groups[d] < most ? l->groups[d] : most;
        left = left ? left : 1;
    }
}

/* Launches a phase in parts that a driver takes, and that are short enough to be stopped between
 * them. */
static vyre_status launch_all(run *r, launch *l) {
    uint64_t most[3];
    choose_part(r, l, most);
    bool is_divided = l->groups[0] > most[0] || l->groups[1] > most[1] || l->groups[2] > most[2];
    for (l->first[2] = 0; l->first[2] < l->groups[2]; l->first[2] += most[2]) {
        for (l->first[1] = 0; l->first[1] < l->groups[1]; l->first[1] += most[1]) {
            for (l->first[0] = 0; l->first[0] < l->groups[0]; l->first[0] += most[0]) {
                for (int d = 0; d < 3; d++) {
                    uint64_t rest = l->groups[d] - l->first[d];
                    l->count[d] = rest < most[d] ? rest : most[d];
                }
                VYRE_TRY(launch_part(r, l));
                if (++r->queued >= MOST_QUEUED || (r->deadline_ns && is_divided)) {
                    VYRE_TRY(drain(r));
                }
            }
        }
    }
    return VYRE_OK;
}

/* The workgroups of a clause. */
static vyre_status launch_groups(run *r, const vyre_phase *phase, launch *l) {
    l->local[0] = l->phase->info.threads;
    l->local[1] = l->local[2] = 1;
    for (int d = 0; d < 3; d++) {
        uint64_t size = phase->workgroup[d];
        l->groups[d] = (l->grid->domain[d] + size - 1) / size;
    }
    return launch_all(r, l);
}

/* Workgroups that cover the domain; the code leaves out what is outside. */
static vyre_status launch_around(run *r, const vyre_phase *phase, launch *l) {
    choose_local(r, phase, l);
    for (int d = 0; d < 3; d++) {
        l->groups[d] = (l->grid->domain[d] + l->local[d] - 1) / l->local[d];
    }
    return launch_all(r, l);
}

/* A box of the domain whose sides are multiples of the workgroup's. */
static vyre_status launch_box(run *r, launch *l, const size_t local[3], const uint64_t begin[3],
                              const uint64_t end[3]) {
    bool is_empty = false;
    for (int d = 0; d < 3; d++) {
        l->local[d] = local[d];
        l->base[d] = begin[d];
        l->groups[d] = (end[d] - begin[d]) / local[d];
        is_empty = is_empty || !l->groups[d];
    }
    return is_empty ? VYRE_OK : launch_all(r, l);
}

/* Exactly the domain: what whole workgroups leave over is done by workgroups of one. */
static vyre_status launch_exactly(run *r, const vyre_phase *phase, launch *l) {
    static const size_t one[3] = {1, 1, 1};
    const uint64_t *domain = l->grid->domain, zero[3] = {0};
    choose_local(r, phase, l);
    if (l->local[0] > domain[0] || l->local[1] > domain[1]) {
        return launch_box(r, l, one, zero, domain);
    }
    const size_t whole[3] = {l->local[0], l->local[1], 1};
    uint64_t x = domain[0] - domain[0] % whole[0], y = domain[1] - domain[1] % whole[1];
    const uint64_t most[3] = {x, y, domain[2]};
    const uint64_t right[3] = {x, 0, 0}, below[3] = {0, y, 0}, last[3] = {x, domain[1], domain[2]};
    VYRE_TRY(launch_box(r, l, whole, zero, most));
    VYRE_TRY(launch_box(r, l, one, right, domain));
    return launch_box(r, l, one, below, last);
}

/* The counter that workgroups take their turns by: zero before each phase. */
static vyre_status reset_ticket(run *r) {
    if (!r->ticket) {
        VYRE_TRY(opencl_memory_make(r->device, sizeof(cl_uint), NULL, &r->ticket));
    }
    return opencl_memory_zero(r->device, r->ticket, 0, sizeof(cl_uint));
}

/* Whether the config has a domain that is larger than the one the code was written for. */
static bool is_larger(const run *r, uint32_t index) {
    const vyre_phase *phase = &r->ir->phases[index];
    for (uint32_t i = 0; i < phase->dimensions; i++) {
        if (r->call->grids[index].domain[i] > r->call->sizes[phase->domain[i]]) {
            return true;
        }
    }
    return false;
}

/* Whether no access of the phase needs to be looked at. */
static bool is_inside(const run *r, const opencl_phase *phase, const vyre_grid *grid) {
    bool inside = phase->inner != NULL;
    for (uint32_t i = 0; i < phase->info.assumption_count; i++) {
        const opencl_assumption *own = &phase->info.assumptions[i];
        inside = inside && r->lengths[own->array] >= grid->domain[own->dimension];
    }
    return inside;
}

static vyre_status run_phase(run *r, uint32_t index) {
    const vyre_phase *phase = &r->ir->phases[index];
    opencl_executable *executable = r->executable;
    int64_t counts[3] = {0};
    if (is_late(r)) {
        return timed_out(r);
    }
    unsigned variant = r->call->config->grid[0] && is_larger(r, index) ? OPENCL_LARGE : 0;
    if (r->deadline_ns && !r->device->info.target.polls && executable->phases[index].info.is_long) {
        variant |= OPENCL_STOPS;
    }
    VYRE_TRY(opencl_executable_variant(r->executable, variant, &executable));
    for (uint32_t i = 0; i < phase->dimensions && phase->from_resource != VYRE_NONE; i++) {
        VYRE_TRY(
            read_element(r, phase->from_resource, size_now(r, phase->from_index) + i, &counts[i]));
    }
    const vyre_grid grid = vyre_call_grid(r->ir, r->call, index, r->iterations, counts);
    launch l = {.executable = executable, .phase = &executable->phases[index], .grid = &grid};
    l.kernel = is_inside(r, l.phase, &grid) ? l.phase->inner : l.phase->kernel;
    bool is_empty = !grid.domain[0] || !grid.domain[1] || !grid.domain[2];
    if (!is_empty && l.phase->info.ordered) {
        VYRE_TRY(reset_ticket(r));
    }
    return is_empty                            ? VYRE_OK
           : l.phase->info.threads             ? launch_groups(r, phase, &l)
           : r->device->info.target.is_covered ? launch_exactly(r, phase, &l)
                                               : launch_around(r, phase, &l);
}

/* Steps */

static vyre_status run_steps(run *r, uint32_t first, uint32_t end);

static vyre_status run_repeat(run *r, uint32_t index) {
    const vyre_step *step = &r->ir->steps[index];
    uint64_t size = size_now(r, step->size);
    for (uint64_t iteration = 0;; iteration++) {
        int64_t element = 0;
        if (step->kind == VYRE_STEP_REPEAT_WHILE) {
            VYRE_TRY(read_element(r, step->resource, size, &element));
        }
        if (step->kind == VYRE_STEP_REPEAT_COUNT ? iteration >= size : !element) {
            return VYRE_OK;
        }
        if (is_late(r)) {
            return timed_out(r);
        }
        r->iterations[index] = (uint32_t)iteration;
        VYRE_TRY(run_steps(r, index + 1, step->end));
    }
}

static void swap_arrays(run *r, const vyre_step *step) {
    opencl_place kept = r->arrays[step->resource];
    r->arrays[step->resource] = r->arrays[step->size];
    r->arrays[step->size] = kept;
    uint32_t place = r->swapped[step->resource];
    r->swapped[step->resource] = r->swapped[step->size];
    r->swapped[step->size] = place;
}

static vyre_status run_steps(run *r, uint32_t first, uint32_t end) {
    const vyre_step *steps = r->ir->steps;
    int64_t element = 0; /* of the `if` in front of an `else` */
    for (uint32_t i = first; i < end; i = steps[i].end) {
        switch (steps[i].kind) {
        case VYRE_STEP_PHASE: VYRE_TRY(run_phase(r, steps[i].size)); break;
        case VYRE_STEP_SWAP: swap_arrays(r, &steps[i]); break;
        case VYRE_STEP_IF:
            VYRE_TRY(read_element(r, steps[i].resource, size_now(r, steps[i].size), &element));
            VYRE_TRY(element ? run_steps(r, i + 1, steps[i].end) : VYRE_OK);
            break;
        case VYRE_STEP_ELSE: VYRE_TRY(element ? VYRE_OK : run_steps(r, i + 1, steps[i].end)); break;
        case VYRE_STEP_REPEAT_COUNT:
        case VYRE_STEP_REPEAT_WHILE: VYRE_TRY(run_repeat(r, i)); break;
        }
    }
    return VYRE_OK;
}

/* Arrays */

static uint64_t array_bytes(const run *r, uint32_t resource) {
    return r->lengths[resource] * vyre_resource_stride(r->ir, &r->ir->resources[resource]);
}

/* Fills an array with the zeros that it starts as, unless the program overwrites them all unseen.
 * That is known for its own domains alone. */
static vyre_status fill(const run *r, uint32_t resource) {
    bool is_needed = r->executable->overwritten[resource] == VYRE_NONE || r->call->config->grid[0];
    return is_needed ? opencl_memory_zero(r->device, r->arrays[resource].memory,
                                          r->arrays[resource].offset, array_bytes(r, resource))
                     : VYRE_OK;
}

static vyre_status copy_place(void *user, uint32_t to, uint32_t from, uint32_t like) {
    run *r = user;
    uint64_t bytes = array_bytes(r, like);
    if (to == VYRE_NONE && !r->spare) {
        VYRE_TRY(opencl_memory_make(r->device, bytes, NULL, &r->spare));
    }
    opencl_place target = to == VYRE_NONE ? (opencl_place){r->spare, 0} : r->homes[to];
    opencl_place source = from == VYRE_NONE ? (opencl_place){r->spare, 0} : r->homes[from];
    cl_int result = bytes ? r->device->cl->clEnqueueCopyBuffer(
                                r->device->queue, source.memory, target.memory, source.offset,
                                target.offset, (size_t)bytes, 0, NULL, NULL)
                          : CL_SUCCESS;
    if (from == VYRE_NONE) { /* the next one may be larger */
        opencl_memory_free(r->device, r->spare);
        r->spare = NULL;
    }
    return opencl_check(r->device, result, "copying an array");
}

static vyre_status place_arrays(run *r, const opencl_place *places) {
    for (uint32_t arg = 0; arg < r->ir->arg_count; arg++) {
        uint32_t row = r->ir->args[arg].resource;
        if (row != VYRE_NONE) {
            r->arrays[row] = places[arg];
            VYRE_TRY(vyre_ir_is_out(r->ir, arg) ? fill(r, row) : VYRE_OK);
        }
    }
    for (uint32_t i = 0; i < r->array_count; i++) {
        if (r->ir->resources[i].kind == VYRE_RESOURCE_SCRATCH) {
            VYRE_TRY(opencl_memory_make(r->device, array_bytes(r, i), NULL, &r->arrays[i].memory));
            VYRE_TRY(fill(r, i));
        }
    }
    for (uint32_t i = 0; i < r->array_count; i++) {
        r->homes[i] = r->arrays[i];
        r->swapped[i] = i;
    }
    return VYRE_OK;
}

static vyre_status start(run *r) {
    uint32_t count = 0;
    while (count < r->ir->resource_count && r->ir->resources[count].kind <= VYRE_RESOURCE_SCRATCH) {
        count++;
    }
    r->array_count = count;
    r->arrays = vyre_alloc_zeroed(count + 1, sizeof *r->arrays);
    r->homes = vyre_alloc_zeroed(count + 1, sizeof *r->homes);
    r->lengths = vyre_alloc_zeroed(count + 1, sizeof *r->lengths);
    r->swapped = vyre_alloc_zeroed(count + 1, sizeof *r->swapped);
    r->iterations = vyre_alloc_zeroed(r->ir->step_count + 1, sizeof *r->iterations);
    if (!r->arrays || !r->homes || !r->lengths || !r->swapped || !r->iterations) {
        return vyre_no_memory("to run `%s`", vyre_program_name(r->executable->program));
    }
    for (uint32_t i = 0; i < count; i++) {
        const vyre_resource *row = &r->ir->resources[i];
        r->lengths[i] = row->kind == VYRE_RESOURCE_SCRATCH ? r->call->sizes[row->size] : 0;
    }
    for (uint32_t arg = 0; arg < r->ir->arg_count; arg++) {
        if (r->ir->args[arg].resource != VYRE_NONE) {
            r->lengths[r->ir->args[arg].resource] = r->call->arguments[arg];
        }
    }
    r->deadline_ns = vyre_deadline_ns(r->call->config->timeout_ns);
    return r->deadline_ns ? opencl_stop_take(r->device, &r->stop) : VYRE_OK;
}

/* What is on the queue keeps its memory. */
static void give_back(run *r) {
    const opencl_table *cl = r->device->cl;
    for (uint32_t i = 0; i < r->array_count && r->arrays && r->homes; i++) {
        if (r->ir->resources[i].kind == VYRE_RESOURCE_SCRATCH) {
            opencl_memory_free(r->device,
                               r->homes[i].memory ? r->homes[i].memory : r->arrays[i].memory);
        }
    }
    opencl_memory_free(r->device, r->spare);
    opencl_memory_free(r->device, r->ticket);
    opencl_stop_give(r->device, r->stop);
    if (r->first) {
        cl->clReleaseEvent(r->first);
    }
    if (r->last) {
        cl->clReleaseEvent(r->last);
    }
    vyre_free(r->arrays);
    vyre_free(r->homes);
    vyre_free(r->lengths);
    vyre_free(r->swapped);
    vyre_free(r->iterations);
}

static void measure(const run *r, uint64_t *out_ns) {
    const opencl_table *cl = r->device->cl;
    cl_ulong begin = 0, end = 0;
    *out_ns = VYRE_NO_TIME;
    if (r->first &&
        !cl->clGetEventProfilingInfo(r->first, CL_PROFILING_COMMAND_START, sizeof begin, &begin,
                                     NULL) &&
        !cl->clGetEventProfilingInfo(r->last ? r->last : r->first, CL_PROFILING_COMMAND_END,
                                     sizeof end, &end, NULL) &&
        end >= begin) {
        *out_ns = end - begin;
    }
}

vyre_status opencl_run(opencl_executable *executable, const vyre_call *call,
                       const opencl_place *places, const opencl_finish *finish) {
    run r = {.executable = executable,
             .device = executable->device,
             .call = call,
             .ir = vyre_program_ir(executable->program),
             .is_timed = finish->device_ns};
    const opencl_table *cl = r.device->cl;
    vyre_status status = start(&r);
    status = status ? status : place_arrays(&r, places);
    status = status ? status : run_steps(&r, 0, r.ir->step_count);
    if (!status && vyre_places_change(r.ir)) {
        status = vyre_places_settle(r.ir, r.swapped, r.array_count, copy_place, &r);
    }
    if (!status && finish->event) {
        status = opencl_check(
            r.device, cl->clEnqueueMarkerWithWaitList(r.device->queue, 0, NULL, finish->event),
            "running `%s`", vyre_program_name(executable->program));
        cl->clFlush(r.device->queue);
    } else { /* also after an error: nothing of the run is under way when it returns */
        status = vyre_first_failure(status, drain(&r));
    }
    if (!status && finish->device_ns) {
        measure(&r, finish->device_ns);
    }
    give_back(&r);
    return status;
}
