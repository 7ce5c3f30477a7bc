#include "tests/fake_cuda/device.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>

#include <vyre/reference.h>

#include "backend/cuda/codegen/emit.h"
#include "backend/cuda/runtime/backend.h"
#include "ir/lookup.h"
#include "pass/phase.h"
#include "pass/split.h"
#include "runtime/device.h"
#include "runtime/plan.h"

enum { MOST_PROGRAMS = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static vyre_program *programs[MOST_PROGRAMS];
static size_t program_count;

const fake_cuda *fake_device_start(void) {
    setenv("VYRE_CUDA", FAKE_CUDA_LIBRARY, 1);
    setenv("VYRE_CACHE_LIMIT", "0", 1);
    void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    fake_cuda_control_function control;
    *(void **)(void *)&control = dlsym(library, "fake_cuda_control");
    return control();
}

static void add(vyre_program *program) {
    pthread_mutex_lock(&lock);
    assert_true(program_count < MOST_PROGRAMS);
    programs[program_count++] = program;
    pthread_mutex_unlock(&lock);
}

void fake_device_know(const vyre_program *program) {
    vyre_program *split;
    add(vyre_program_retain((vyre_program *)(uintptr_t)program));
    expect_ok(vyre_split_grid_barriers(program, &split));
    if (split) {
        add(split);
    }
}

vyre_program *fake_device_program(const char *text) {
    vyre_program *program = contract_program(text);
    fake_device_know(program);
    return program;
}

void fake_device_forget(void) {
    while (program_count) {
        vyre_program_release(programs[--program_count]);
    }
}

/* The program whose phase an entry is, by the line in front of its entries. */
static const vyre_program *find_program(const fake_launch *launch, uint32_t *out_phase) {
    const char *number = strrchr(launch->entry, '_');
    char head[64];
    snprintf(head, sizeof head, "// %.*s_N: phases of `", (int)(number - launch->entry),
             launch->entry);
    const char *line = strstr(launch->image, head);
    const char *digest = line ? strstr(line, "`, ") : NULL;
    const vyre_program *found = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < program_count && digest && !found; i++) {
        vyre_digest own = vyre_program_digest(programs[i]);
        char text[40];
        snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)own.high,
                 (unsigned long long)own.low);
        found = strncmp(text, digest + 3, 32) ? NULL : programs[i];
    }
    pthread_mutex_unlock(&lock);
    *out_phase = (uint32_t)atoi(number + 1);
    return found;
}

typedef struct frame {
    const uint8_t *bytes;
    cuda_layout layout;
    uint64_t domain[3];
} frame;

static uint64_t word(const frame *f, uint32_t at) {
    uint64_t value;
    memcpy(&value, f->bytes + at, sizeof value);
    return value;
}

/* The domain: as the frame has it, or from memory. */
static void read_domain(frame *f, const vyre_ir *ir, uint32_t phase) {
    for (uint32_t i = 0; i < 3; i++) {
        f->domain[i] = word(f, f->layout.domain + i * 8);
    }
    if (ir->phases[phase].from_resource != VYRE_NONE) {
        const uint8_t *from = (const uint8_t *)(uintptr_t)word(f, f->layout.from);
        vyre_type type = (vyre_type)ir->resources[ir->phases[phase].from_resource].type;
        for (uint32_t i = 0; i < ir->phases[phase].dimensions; i++) {
            bool exists = i < word(f, f->layout.groups);
            int64_t count = exists ? vyre_plan_element(type, from + i * vyre_type_bytes(type)) : 0;
            count = count < 0 ? 0 : count;
            f->domain[i] = (uint64_t)count < f->domain[i] ? (uint64_t)count : f->domain[i];
        }
    }
}

static uint64_t scalar(const frame *f, const vyre_phase_binding *binding) {
    switch (binding->kind) {
    case VYRE_PHASE_SCALAR: return word(f, f->layout.arguments + binding->index * 8);
    case VYRE_PHASE_DOMAIN: return f->domain[binding->index];
    default: break;
    }
    uint32_t turn;
    const uint8_t *counted = (const uint8_t *)(uintptr_t)word(f, f->layout.device_iterations);
    memcpy(&turn, (counted ? counted : f->bytes + f->layout.iterations) + binding->index * 4,
           sizeof turn);
    return turn;
}

static fake_result run_phase(frame *f, const vyre_program *program, uint32_t phase) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_phase_part part;
    vyre_input inputs[VYRE_LIMIT_ARGUMENTS];
    uint64_t scalars[VYRE_LIMIT_ARGUMENTS];
    vyre_outputs outputs;
    vyre_status status = vyre_phase_extract(program, phase, false, &part);
    if (status) {
        print_error("%s\n", vyre_status_text(status));
        vyre_status_free(status);
        return FAKE_FAULT;
    }
    const vyre_ir *own = vyre_program_ir(part.program);
    for (uint32_t i = 0; i < part.binding_count; i++) {
        const vyre_phase_binding *binding = &part.bindings[i];
        if (binding->kind == VYRE_PHASE_RESOURCE) {
            uint32_t row = binding->index;
            uint64_t length = word(f, f->layout.lengths + row * 8);
            inputs[i] = (vyre_input){(const void *)(uintptr_t)word(f, f->layout.arrays + row * 8),
                                     length * vyre_resource_stride(ir, &ir->resources[row])};
        } else {
            scalars[i] = scalar(f, binding);
            inputs[i] = (vyre_input){&scalars[i], vyre_type_bytes((vyre_type)own->args[i].type)};
        }
    }
    status = vyre_reference_run(part.program, inputs, part.binding_count, NULL, NULL, &outputs);
    size_t output = 0;
    for (uint32_t i = 0; i < part.binding_count && !status; i++) {
        if (part.bindings[i].kind == VYRE_PHASE_RESOURCE &&
            part.bindings[i].access != VYRE_ACCESS_IN) {
            const vyre_output *from = &outputs.items[output++];
            if (from->size) {
                memcpy((void *)(uintptr_t)inputs[i].data, from->data, from->size);
            }
        }
    }
    fake_result result = status ? FAKE_FAULT : FAKE_DONE;
    if (status) {
        print_error("%s\n", vyre_status_text(status));
    }
    vyre_status_free(status);
    vyre_outputs_free(&outputs);
    vyre_phase_part_free(&part);
    return result;
}

/* The kernel between turns of a `repeat while`. */
static fake_result run_turn(const uint8_t *parameters) {
    uint64_t at[4];
    uint32_t rest[2], *number;
    memcpy(at, parameters, sizeof at);
    memcpy(rest, parameters + sizeof at, sizeof rest);
    uint32_t *words = (uint32_t *)(uintptr_t)at[2];
    number = (uint32_t *)(uintptr_t)at[3];
    if (!rest[0]) {
        *number = rest[1];
        return FAKE_DONE;
    }
    static const uint64_t zero;
    words[0] = memcmp((const void *)(uintptr_t)at[0], &zero, rest[0]) != 0 &&
               !atomic_load((const atomic_uint *)(uintptr_t)at[1]);
    if (words[0]) {
        *number = words[1]++;
    }
    return FAKE_DONE;
}

static bool is_gated_off(const frame *f) {
    const uint32_t *gate = (const uint32_t *)(uintptr_t)word(f, f->layout.gate);
    return gate && !*gate;
}

fake_result fake_device_run(const fake_launch *launch) {
    uint32_t phase;
    if (!strcmp(launch->entry, "iteration")) {
        return run_turn(launch->parameters);
    }
    const vyre_program *program = find_program(launch, &phase);
    if (!program) {
        print_error("nobody knows the program of %s\n", launch->entry);
        return FAKE_FAULT;
    }
    const vyre_ir *ir = vyre_program_ir(program);
    frame f = {.bytes = launch->parameters, .layout = cuda_layout_of(ir)};
    if (f.layout.by_pointer) {
        uint64_t at;
        memcpy(&at, launch->parameters, sizeof at);
        f.bytes = (const uint8_t *)(uintptr_t)at;
    }
    if (is_gated_off(&f)) {
        return FAKE_DONE;
    }
    const char *name = vyre_program_name(program);
    if (!strcmp(name, "fault")) {
        return FAKE_FAULT;
    }
    if (!strcmp(name, "endless")) {
        const uint8_t *stop = (const uint8_t *)(uintptr_t)word(&f, f.layout.stop);
        const atomic_uint *host;
        memcpy(&host, stop + CUDA_STOP_HOST_AT, sizeof host);
        return atomic_load(host) ? FAKE_DONE : FAKE_STILL_RUNNING;
    }
    read_domain(&f, ir, phase);
    return f.domain[0] && f.domain[1] && f.domain[2] ? run_phase(&f, program, phase) : FAKE_DONE;
}

vyre_device *fake_device_open(uint32_t index) {
    vyre_backend made = {.host = vyre_host_services()};
    vyre_device *device;
    expect_ok(cuda_bundle.registrations[0].create(vyre_host_services(), index, &made));
    expect_ok(vyre_device_open(&made, "cuda", index, &device));
    return device;
}
