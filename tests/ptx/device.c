#include "tests/ptx/device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "backend/cuda/codegen/emit.h"
#include "base/alloc.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "pass/pass.h"
#include "runtime/device.h"
#include "runtime/plan.h"
#include "tests/ptx/machine.h"

/* A run. Arrays are buffers and scratch arrays, which are the first resources. */
typedef struct run {
    const vyre_program *program;
    const vyre_call *call;
    const vyre_ir *ir;
    cuda_layout layout;
    cuda_phase_info *infos;
    ptx_module *module;
    uint8_t **arrays;
    uint64_t *lengths;
    uint8_t *frame;
    uint64_t (*counters)[CUDA_COUNTER_BYTES / 8]; /* by phase */
    ptx_range *ranges;
    uint64_t launches;
    uint32_t turn, told; /* told: the host's word */
    uint64_t stop[2];    /* the device's word, and where the host's is */
    uint64_t from[3];
} run;

static vyre_status wrong(const run *r, const char *text) {
    return vyre_status_make(VYRE_STATUS_BACKEND, "look at the emitter, or at the machine",
                            "`%s`: %s", vyre_program_name(r->program), text);
}

static void put_u64(run *r, uint32_t offset, uint64_t number) {
    memcpy(r->frame + offset, &number, sizeof number);
}

static void put_u32(run *r, uint32_t offset, uint32_t number) {
    memcpy(r->frame + offset, &number, sizeof number);
}

static uint64_t address(const void *data) {
    return (uintptr_t)data;
}

static const uint8_t *element(const run *r, uint32_t resource, uint64_t index) {
    uint32_t bytes = vyre_type_bytes((vyre_type)r->ir->resources[resource].type);
    return index < r->lengths[resource] ? r->arrays[resource] + index * bytes : NULL;
}

static const uint32_t *iterations(const run *r) {
    return (const uint32_t *)(const void *)(r->frame + r->layout.iterations);
}

static void set_from(run *r, const vyre_phase *phase) {
    uint64_t index = vyre_call_size(r->ir, r->call, phase->from_index, iterations(r)), count = 0;
    uint32_t bytes = vyre_type_bytes((vyre_type)r->ir->resources[phase->from_resource].type);
    for (; count < phase->dimensions && element(r, phase->from_resource, index + count); count++) {
        memcpy((uint8_t *)r->from + count * bytes, element(r, phase->from_resource, index + count),
               bytes);
    }
    put_u64(r, r->layout.from, count ? address(r->from) : 0);
    put_u64(r, r->layout.groups, count);
}

static vyre_status run_phase(run *r, uint32_t index) {
    const vyre_phase *phase = &r->ir->phases[index];
    const cuda_phase_info *info = &r->infos[index];
    const vyre_grid planned = vyre_call_grid(r->ir, r->call, index, iterations(r), NULL);
    const uint64_t *domain = planned.domain;
    cuda_shape shape = cuda_shape_of(phase, info, domain, r->turn % 3 ? 0 : CUDA_FEW_THREADS);
    uint32_t grid[3];
    uint64_t all = 1;
    for (int d = 0; d < 3; d++) {
        uint64_t groups = (domain[d] + shape.tile[d] - 1) / shape.tile[d];
        put_u64(r, r->layout.domain + 8u * (uint32_t)d, domain[d]);
        put_u64(r, r->layout.groups + 8u * (uint32_t)d, groups);
        grid[d] = (uint32_t)groups;
        all *= groups;
    }
    if (!all) {
        return VYRE_OK;
    }
    if (info->strides) { /* fewer blocks than groups, now and then */
        for (int d = 0; d < 3; d++) {
            grid[d] = grid[d] > 2 && r->launches % 2 ? grid[d] / 2 : grid[d];
        }
    }
    if (info->ordered) {
        grid[0] = all > 5 ? 5 : (uint32_t)all;
        grid[1] = grid[2] = 1;
    }
    put_u32(r, r->layout.shape, shape.bits[0]);
    put_u32(r, r->layout.shape + 4, shape.bits[1]);
    put_u64(r, r->layout.counters, address(r->counters[index]));
    if (phase->from_resource != VYRE_NONE) {
        set_from(r, phase);
    }
    char name[32];
    snprintf(name, sizeof name, "phase_%u", index);
    uint64_t pointer = address(r->frame);
    ptx_launch launch = {
        .entry = name,
        .frame = r->layout.by_pointer ? (const void *)&pointer : r->frame,
        .grid = {grid[0], grid[1], grid[2]},
        .threads = info->threads,
        .dynamic_bytes = info->dynamic_bytes,
        .ranges = r->ranges,
        .range_count = r->layout.array_count + 5,
        .seed = ++r->launches,
        .max_steps = 1000000000,
    };
    ptx_error error;
    return ptx_launch_run(r->module, &launch, &error) ? VYRE_OK : wrong(r, error.text);
}

/* Byte by byte, since the memory of arrays is placed differently. */
static void swap(run *r, uint32_t first, uint32_t second) {
    uint64_t bytes = r->lengths[first] * vyre_resource_stride(r->ir, &r->ir->resources[first]);
    for (uint64_t i = 0; i < bytes; i++) {
        uint8_t kept = r->arrays[first][i];
        r->arrays[first][i] = r->arrays[second][i];
        r->arrays[second][i] = kept;
    }
}

static bool is_set(run *r, const vyre_step *step, uint64_t index) {
    const uint8_t *flag = element(r, step->resource, index);
    return flag && vyre_plan_element((vyre_type)r->ir->resources[step->resource].type, flag);
}

static vyre_status run_steps(run *r, uint32_t first, uint32_t end) {
    vyre_status status = VYRE_OK;
    bool taken = false;
    for (uint32_t at = first; at < end && !status; at = r->ir->steps[at].end) {
        const vyre_step *step = &r->ir->steps[at];
        if (step->kind == VYRE_STEP_PHASE) {
            status = run_phase(r, step->size);
            continue;
        }
        if (step->kind == VYRE_STEP_SWAP) {
            swap(r, step->resource, step->size);
            continue;
        }
        uint64_t size = step->kind == VYRE_STEP_ELSE
                            ? 0
                            : vyre_call_size(r->ir, r->call, step->size, iterations(r));
        if (step->kind == VYRE_STEP_IF || step->kind == VYRE_STEP_ELSE) {
            taken = step->kind == VYRE_STEP_IF ? is_set(r, step, size) : !taken;
            status = taken ? run_steps(r, at + 1, step->end) : VYRE_OK;
            continue;
        }
        for (uint64_t turn = 0; !status; turn++) {
            bool more = step->kind == VYRE_STEP_REPEAT_COUNT ? turn < size : is_set(r, step, size);
            if (!more) {
                break;
            }
            put_u32(r, r->layout.iterations + 4 * at, (uint32_t)turn);
            status = run_steps(r, at + 1, step->end);
        }
    }
    return status;
}

/* Some code takes arrays of any alignment. */
static bool is_general(const run *r) {
    return r->call->config->grid[0] || r->turn % 6 == 5;
}

/* Arrays start where 16 bytes do; some where no more do, and those of general code where their
 * elements do. */
static uint32_t shift_of(const run *r, uint32_t array) {
    uint32_t element = vyre_resource_stride(r->ir, &r->ir->resources[array]) | 8;
    return is_general(r) ? element & (~element + 1) : (r->turn + array) % 4 == 3 ? 16 : 0;
}

/* Arrays end where their elements do, so that a step beyond is seen. */
static bool place_arrays(run *r) {
    uint32_t input = 0;
    for (uint32_t i = 0; i < r->layout.array_count; i++) {
        const vyre_resource *row = &r->ir->resources[i];
        if (row->kind == VYRE_RESOURCE_SCRATCH) {
            r->lengths[i] = r->call->sizes[row->size];
        }
    }
    for (uint32_t arg = 0; arg < r->ir->arg_count; arg++) {
        uint32_t resource = r->ir->args[arg].resource;
        if (resource != VYRE_NONE) {
            r->lengths[resource] = r->call->arguments[arg];
        }
    }
    for (uint32_t i = 0; i < r->layout.array_count; i++) {
        size_t bytes = (size_t)(r->lengths[i] * vyre_resource_stride(r->ir, &r->ir->resources[i]));
        uint8_t *block = vyre_alloc_zeroed(bytes + 32, 1);
        if (!block) {
            return false;
        }
        r->arrays[i] = block + shift_of(r, i);
        r->ranges[i] = (ptx_range){r->arrays[i], bytes};
        put_u64(r, r->layout.arrays + 8 * i, address(r->arrays[i]));
        put_u64(r, r->layout.lengths + 8 * i, r->lengths[i]);
    }
    for (uint32_t arg = 0; arg < r->ir->arg_count; arg++) {
        uint32_t resource = r->ir->args[arg].resource;
        put_u64(r, r->layout.arguments + 8 * arg, r->call->arguments[arg]);
        if (!vyre_ir_is_out(r->ir, arg)) {
            const vyre_input *from = &r->call->inputs[input++];
            if (resource != VYRE_NONE && from->size) {
                memcpy(r->arrays[resource], from->data, from->size);
            }
        }
    }
    uint32_t count = r->layout.array_count;
    r->ranges[count] = (ptx_range){r->stop, sizeof r->stop};
    r->ranges[count + 1] = (ptx_range){r->counters, r->ir->phase_count * sizeof *r->counters};
    r->ranges[count + 2] = (ptx_range){r->from, sizeof r->from};
    r->ranges[count + 3] = (ptx_range){r->frame, r->layout.bytes};
    r->ranges[count + 4] = (ptx_range){&r->told, sizeof r->told};
    r->stop[CUDA_STOP_HOST_AT / 8] = address(&r->told);
    put_u64(r, r->layout.stop, r->turn % 2 ? address(r->stop) : 0);
    return true;
}

static vyre_status compile(run *r) {
    vyre_strbuf text = {0};
    ptx_error error;
    cuda_target target = cuda_baseline();
    target.general = is_general(r);
    if (r->turn % 5 < 3) {
        target.sm = 90;
        target.isa = 80;
    } else if (r->turn % 5 == 3) {
        target.sm = 75;
        target.isa = 65;
    }
    target.codes = r->turn % 7 ? 1 : UINT32_MAX; /* which leaves no constant memory */
    vyre_status status = cuda_emit(r->program, &target, &text, r->infos);
    if (!status) {
        r->module = ptx_module_make(vyre_strbuf_string(&text), &error);
        status = r->module ? VYRE_OK : wrong(r, error.text);
    }
    vyre_strbuf_free(&text);
    return status;
}

static vyre_status run_program(run *r, vyre_output *outputs) {
    uint32_t count = r->layout.array_count, output = 0;
    r->infos = vyre_alloc_zeroed(r->ir->phase_count + 1, sizeof *r->infos);
    r->arrays = vyre_alloc_zeroed(count + 1, sizeof *r->arrays);
    r->lengths = vyre_alloc_zeroed(count + 1, sizeof *r->lengths);
    r->frame = vyre_alloc_zeroed(r->layout.bytes, 1);
    r->counters = vyre_alloc_zeroed(r->ir->phase_count + 1, sizeof *r->counters);
    r->ranges = vyre_alloc_zeroed(count + 5, sizeof *r->ranges);
    bool made = r->infos && r->arrays && r->lengths && r->frame && r->counters && r->ranges;
    vyre_status status = made && place_arrays(r) ? compile(r) : wrong(r, "no memory");
    status = status ? status : run_steps(r, 0, r->ir->step_count);
    for (uint32_t i = 0; i < count && !status; i++) {
        const vyre_resource *row = &r->ir->resources[i];
        if (row->kind == VYRE_RESOURCE_BUFFER && row->access != VYRE_ACCESS_IN) {
            const vyre_output *to = &outputs[output++];
            if (to->size) {
                memcpy(to->data, r->arrays[i], to->size);
            }
        }
    }
    for (uint32_t i = 0; made && i < count; i++) {
        vyre_free(r->arrays[i] ? r->arrays[i] - shift_of(r, i) : NULL);
    }
    ptx_module_free(r->module);
    vyre_free(r->infos);
    vyre_free(r->arrays);
    vyre_free(r->lengths);
    vyre_free(r->frame);
    vyre_free(r->counters);
    vyre_free(r->ranges);
    return status;
}

static vyre_status dispatch(const vyre_backend *backend, const vyre_call *call,
                            vyre_output *outputs) {
    (void)backend;
    static atomic_uint turns;
    unsigned turn = atomic_fetch_add(&turns, 1);
    vyre_program *expanded = NULL;
    /* Mostly as a device gets it, and now and then as it was written. */
    vyre_status status = turn % 4
                             ? vyre_lower_program(call->program, !call->config->grid[0], &expanded)
                             : vyre_math_expand(call->program, &expanded);
    if (status) {
        return status;
    }
    run r = {.program = expanded ? expanded : call->program, .call = call, .turn = turn};
    r.ir = vyre_program_ir(r.program);
    r.layout = cuda_layout_of(r.ir);
    status = run_program(&r, outputs);
    vyre_program_release(expanded);
    return status;
}

static const char *id(const vyre_backend *backend) {
    (void)backend;
    return "ptx";
}

static uint32_t features(const vyre_backend *backend) {
    (void)backend;
    return VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC | VYRE_FEATURE_STEPS |
           VYRE_FEATURE_CONSTANT_ARRAYS | VYRE_FEATURE_RECORDS;
}

static const vyre_backend_slots slots = {
    VYRE_BACKEND_HEAD,
    .id = id,
    .dispatch = dispatch,
    .dispatch_borrowed = dispatch,
    .features = features,
    .max_workgroup_size = vyre_any_workgroup_size,
    .max_workgroups_per_dimension = vyre_any_workgroup_count,
    .max_invocations_per_workgroup = vyre_any_invocations,
};

vyre_status ptx_device_open(vyre_device **out_device) {
    const vyre_backend made = {&slots, NULL, NULL};
    return vyre_device_open(&made, "ptx", 0, out_device);
}
