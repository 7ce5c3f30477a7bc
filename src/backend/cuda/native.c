#include "backend/cuda/native.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/cuda/module.h"
#include "base/alloc.h"
#include "base/log.h"
#include "pass/fill.h"
#include "pass/pass.h"
#include "pass/split.h"

static const char *const prefixes[CUDA_CODES] = {"phase", "part"};

static vyre_status no_memory(const vyre_program *program) {
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again",
                            "no memory to compile `%s`", vyre_program_name(program));
}

/* A program's code as text, and how it is divided among binaries. */
typedef struct texts {
    vyre_text entries[CUDA_CODES]; /* of one phase behind the other */
    size_t *ends;                  /* by phase of all codes: in the text of its own */
    vyre_text images[CUDA_MOST_IMAGES];
    uint32_t count;
} texts;

static void free_texts(texts *t) {
    for (uint32_t i = 0; i < CUDA_CODES; i++) {
        vyre_text_free(&t->entries[i]);
    }
    for (uint32_t i = 0; i < CUDA_MOST_IMAGES; i++) {
        vyre_text_free(&t->images[i]);
    }
    vyre_free(t->ends);
}

static vyre_status emit(const cuda_native *native, const vyre_program *program, const char *prefix,
                        vyre_text *out_ptx, cuda_phase_info *out_infos, size_t *out_ends) {
    const cuda_target target = {native->device->info.sm, native->device->info.isa, prefix,
                                native->any_domain};
    vyre_program *lowered;
    vyre_status status = vyre_lower(program, &lowered);
    if (status) {
        return status;
    }
    status = cuda_emit_entries(lowered, &target, out_ptx, out_infos, out_ends);
    vyre_program_release(lowered);
    return status;
}

/* Which binary each phase goes to: as many as take no longer to translate, side by side, than the
 * largest phase alone, and processors are there; small programs have one. */
static uint32_t divide(const size_t *sizes, uint32_t count, cuda_phase_info *infos) {
    enum { SMALL = 4096 };
    size_t all = 0, largest = 1, loads[CUDA_MOST_IMAGES] = {0};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (uint32_t i = 0; i < count; i++) {
        all += sizes[i];
        largest = sizes[i] > largest ? sizes[i] : largest;
    }
    size_t images = all < SMALL ? 1 : (all + largest - 1) / largest;
    images = images > CUDA_MOST_IMAGES ? CUDA_MOST_IMAGES : images;
    images = processors > 0 && images > (size_t)processors ? (size_t)processors : images;
    for (uint32_t i = 0; i < count; i++) {
        infos[i].image = UINT32_MAX;
    }
    for (uint32_t round = 0; round < count; round++) {
        /* The largest that is left goes to the one that has least; many go as they come. */
        enum { SORTED = 64 };
        uint32_t next = round, to = 0;
        for (uint32_t i = 0; count <= SORTED && i < count; i++) {
            bool is_better = infos[next].image != UINT32_MAX || sizes[i] > sizes[next];
            next = infos[i].image == UINT32_MAX && is_better ? i : next;
        }
        for (uint32_t i = 1; i < images; i++) {
            to = loads[i] < loads[to] ? i : to;
        }
        infos[next].image = to;
        loads[to] += sizes[next];
    }
    return (uint32_t)images;
}

/* The texts of all binaries; the entries of a code stand behind a line that says what it is. */
static void put_together(const cuda_native *native, const cuda_phase_info *infos, texts *t) {
    for (uint32_t k = 0; k < t->count; k++) {
        vyre_text *out = &t->images[k];
        const cuda_target target = {native->device->info.sm, native->device->info.isa, prefixes[0],
                                    native->any_domain};
        cuda_emit_head(&target, out);
        if (!k && (native->codes[0].has_while || native->codes[1].has_while)) {
            cuda_turns_write(out);
        }
        uint32_t phase = 0;
        for (uint32_t c = 0; c < native->code_count; c++) {
            const vyre_program *program = native->codes[c].program;
            vyre_digest digest = vyre_program_digest(program);
            size_t start = 0;
            vyre_text_printf(out, "\n// %s_N: phases of `%s`, %016llx%016llx\n", prefixes[c],
                             vyre_program_name(program), (unsigned long long)digest.high,
                             (unsigned long long)digest.low);
            for (uint32_t i = 0; i < native->codes[c].phase_count; i++, phase++) {
                if (infos[phase].image == k) {
                    vyre_text_add(out, t->entries[c].data + start, t->ends[phase] - start);
                }
                start = t->ends[phase];
            }
        }
        vyre_text_string(out); /* ends with a NUL */
    }
}

static vyre_status write_texts(const cuda_native *native, uint32_t phases, cuda_phase_info *infos,
                               texts *t) {
    vyre_status status = VYRE_OK;
    uint32_t phase = 0;
    t->ends = vyre_alloc_zeroed((size_t)phases + 1, 2 * sizeof *t->ends);
    if (!t->ends) {
        return no_memory(native->codes[0].program);
    }
    size_t *sizes = t->ends + phases + 1;
    for (uint32_t c = 0; c < native->code_count && !status; c++) {
        status = emit(native, native->codes[c].program, prefixes[c], &t->entries[c], infos + phase,
                      t->ends + phase);
        size_t start = 0;
        for (uint32_t i = 0; i < native->codes[c].phase_count && !status; i++, phase++) {
            sizes[phase] = t->ends[phase] - start;
            start = t->ends[phase];
        }
    }
    if (status) {
        return status;
    }
    t->count = divide(sizes, phases, infos);
    put_together(native, infos, t);
    bool failed = false;
    for (uint32_t i = 0; i < t->count; i++) {
        failed |= t->images[i].failed;
    }
    return failed ? no_memory(native->codes[0].program) : VYRE_OK;
}

static vyre_status refuse_phase(const cuda_native *native, const cuda_code *code, uint32_t index,
                                const char *what, uint64_t found, uint64_t most) {
    return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                            "use a smaller workgroup or smaller arrays, or another device",
                            "phase %u of `%s` needs %s: %llu, and %s has at most %llu", index,
                            vyre_program_name(code->program), what, (unsigned long long)found,
                            native->device->info.name, (unsigned long long)most);
}

/* Finds the kernel of a phase, and how many blocks of it fit. */
static vyre_status load_phase(cuda_native *native, const cuda_code *code, const char *prefix,
                              uint32_t index) {
    cuda_device *device = native->device;
    const cuda_table *cuda = device->cuda;
    cuda_phase *phase = &code->phases[index];
    const cuda_phase_info *info = &phase->info;
    int registers = 0, threads = 0, blocks = 0;
    char name[32];
    snprintf(name, sizeof name, "%s_%u", prefix, index);
    if (info->shared_bytes + info->dynamic_bytes > device->info.most_shared_bytes) {
        return refuse_phase(native, code, index, "bytes of shared memory",
                            (uint64_t)info->shared_bytes + info->dynamic_bytes,
                            device->info.most_shared_bytes);
    }
    CUresult result =
        cuda->cuModuleGetFunction(&phase->function, native->modules[info->image], name);
    result =
        result ? result
               : cuda->cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, phase->function);
    result = result ? result
                    : cuda->cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                               phase->function);
    if (!result && info->dynamic_bytes) {
        result = cuda->cuFuncSetAttribute(phase->function,
                                          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                          (int)info->dynamic_bytes);
    }
    result = result ? result
                    : cuda->cuOccupancyMaxActiveBlocksPerMultiprocessor(
                          &blocks, phase->function, (int)info->threads, info->dynamic_bytes);
    phase->registers = (uint32_t)registers;
    phase->most_blocks = (uint64_t)blocks * device->info.multiprocessors;
    if (!result && (info->threads > (uint32_t)threads || !phase->most_blocks)) {
        return refuse_phase(native, code, index, "threads of a block", info->threads,
                            (uint64_t)threads);
    }
    return cuda_check(device, result, "finding %s", name);
}

/* In the device's context, unless it is gone. */
static void unload(cuda_native *native) {
    cuda_device *device = native->device;
    for (uint32_t i = 0; i < CUDA_MOST_IMAGES; i++) {
        if (native->modules[i] && !atomic_load(&device->is_lost)) {
            vyre_status_free(cuda_check(device, device->cuda->cuModuleUnload(native->modules[i]),
                                        "unloading code"));
        }
        native->modules[i] = NULL;
    }
}

static bool is_one_launch(const cuda_code *code) {
    const vyre_ir *ir = code->ir;
    bool is_one = code->phase_count == 1 && ir->step_count == 1 && !code->has_counters &&
                  ir->steps[0].kind == VYRE_STEP_PHASE && ir->phases[0].from_resource == VYRE_NONE &&
                  ir->arg_count <= CUDA_KEPT_ARGUMENTS && code->layout.bytes <= CUDA_KEPT_BYTES;
    for (uint32_t i = 0; i < code->layout.array_count && is_one; i++) {
        const vyre_resource *row = &ir->resources[i];
        is_one = row->kind == VYRE_RESOURCE_BUFFER &&
                 (row->access != VYRE_ACCESS_OUT || code->overwritten[i] != VYRE_NONE);
    }
    return is_one;
}

static vyre_status load(cuda_native *native, const cuda_phase_info *infos,
                        const cuda_images *images) {
    vyre_status status = VYRE_OK;
    native->image_bytes = 0;
    for (uint32_t i = 0; i < images->count && !status; i++) {
        status = cuda_module_load(native->device, images->data[i], (size_t)images->bytes[i],
                                  &native->modules[i]);
        native->image_bytes += (size_t)images->bytes[i];
    }
    for (uint32_t c = 0; c < native->code_count && !status; c++) {
        cuda_code *code = &native->codes[c];
        for (uint32_t i = 0; i < code->phase_count && !status; i++) {
            code->phases[i].info = *infos++;
            code->has_counters |= code->phases[i].info.ordered || code->phases[i].info.cooperative;
            status = load_phase(native, code, prefixes[c], i);
        }
        code->is_one_launch = is_one_launch(code);
        if (!status && code->has_while) {
            status = cuda_check(
                native->device,
                native->device->cuda->cuModuleGetFunction(&code->turn, native->modules[0], "turn"),
                "finding turn");
        }
    }
    if (status) {
        unload(native);
    }
    return status;
}

/* From an artifact; false if it does not fit, or does not load, which is as good as none. */
static bool load_artifact(cuda_native *native, const cuda_artifact_key *key,
                          const uint8_t *artifact, size_t size, cuda_phase_info *infos) {
    cuda_images images;
    if (!artifact || !cuda_artifact_read(key, artifact, size, infos, &images)) {
        return false;
    }
    vyre_status status = load(native, infos, &images);
    if (status) {
        vyre_log(VYRE_LOG_INFO, "cuda: `%s` is compiled again, since what was stored fails: %s",
                 vyre_program_name(native->codes[0].program), vyre_status_text(status));
        vyre_status_free(status);
    }
    return !status;
}

static vyre_status compile(cuda_native *native, const cuda_artifact_key *key,
                           cuda_phase_info *infos, vyre_text *out_artifact) {
    const char *name = vyre_program_name(native->codes[0].program);
    texts t = {0};
    vyre_text made[CUDA_MOST_IMAGES] = {{0}};
    cuda_images images = {0};
    vyre_status status = write_texts(native, key->phase_count, infos, &t);
    status = status ? status : cuda_module_translate(native->device, t.images, t.count, name, made);
    for (; !status && images.count < t.count; images.count++) {
        images.data[images.count] = (const uint8_t *)made[images.count].data;
        images.bytes[images.count] = made[images.count].size;
    }
    status = status ? status : load(native, infos, &images);
    if (!status) {
        cuda_artifact_write(key, infos, &images, out_artifact);
        status = out_artifact->failed ? no_memory(native->codes[0].program) : VYRE_OK;
    }
    for (uint32_t i = 0; i < CUDA_MOST_IMAGES; i++) {
        vyre_text_free(&made[i]);
    }
    free_texts(&t);
    return status;
}

/* What is known of a program before there is code. */
static vyre_status describe(cuda_code *code, vyre_program *program) {
    code->program = program;
    code->ir = vyre_program_ir(program);
    code->layout = cuda_layout_of(code->ir);
    code->phase_count = code->ir->phase_count;
    code->phases = vyre_alloc_zeroed(code->phase_count, sizeof *code->phases);
    code->overwritten = vyre_alloc_zeroed(code->ir->resource_count + 1, sizeof *code->overwritten);
    code->has_barrier = vyre_program_stats(program).grid_barriers;
    for (uint32_t i = 0; i < code->ir->step_count; i++) {
        code->has_while |= code->ir->steps[i].kind == VYRE_STEP_REPEAT_WHILE;
    }
    for (uint32_t i = 0; i < code->phase_count; i++) {
        uint32_t from = code->ir->phases[i].from_resource;
        code->copies_element |= from != VYRE_NONE && cuda_phase_writes(code->ir, i, from);
    }
    return code->phases && code->overwritten ? vyre_fill_find(program, code->overwritten)
                                             : no_memory(program);
}

static vyre_status describe_all(cuda_native *native, const vyre_program *program) {
    vyre_program *split = NULL, *own = vyre_program_retain((vyre_program *)(uintptr_t)program);
    native->code_count = 1;
    vyre_status status = describe(&native->codes[0], own);
    if (!status && native->codes[0].has_barrier) {
        status = vyre_split_grid_barriers(program, &split);
    }
    if (!status && split) {
        native->code_count = 2;
        status = describe(&native->codes[1], split);
    }
    return status;
}

static vyre_status make(cuda_device *device, const vyre_program *program, bool any_domain,
                        const uint8_t *artifact, size_t artifact_size, vyre_text *out_artifact,
                        cuda_native **out_native) {
    *out_native = NULL;
    cuda_native *native = vyre_alloc_zeroed(1, sizeof *native);
    if (!native) {
        return no_memory(program);
    }
    atomic_init(&native->references, 1);
    native->device = device;
    native->any_domain = any_domain;
    cuda_replays_init(&native->replays);
    vyre_status status = describe_all(native, program);
    cuda_artifact_key key = {device->info.sm, device->info.isa, (uint32_t)device->cuda->version, 0};
    for (uint32_t c = 0; c < native->code_count; c++) {
        key.phase_count += native->codes[c].phase_count;
    }
    cuda_phase_info *infos = vyre_alloc_zeroed(key.phase_count, sizeof *infos);
    status = status || infos ? status : no_memory(program);
    if (!status && !load_artifact(native, &key, artifact, artifact_size, infos)) {
        status = compile(native, &key, infos, out_artifact);
    }
    vyre_free(infos);
    if (native->modules[0]) {
        pthread_mutex_lock(&device->lock);
        native->next = device->natives;
        if (native->next) {
            native->next->previous = native;
        }
        device->natives = native;
        pthread_mutex_unlock(&device->lock);
    }
    if (status) {
        vyre_text_free(out_artifact);
        cuda_native_release(native);
        return status;
    }
    *out_native = native;
    return VYRE_OK;
}

vyre_status cuda_native_make(cuda_device *device, const vyre_program *program,
                             const uint8_t *artifact, size_t artifact_size, vyre_text *out_artifact,
                             cuda_native **out_native) {
    return make(device, program, false, artifact, artifact_size, out_artifact, out_native);
}

vyre_status cuda_native_wider(cuda_native *native, cuda_native **out_native) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    cuda_device *device = native->device;
    vyre_text artifact = {0};
    CUcontext before;
    pthread_mutex_lock(&lock);
    vyre_status status = native->wider ? VYRE_OK : cuda_device_enter(device, &before);
    if (!status && !native->wider) {
        status = make(device, native->codes[0].program, true, NULL, 0, &artifact, &native->wider);
        cuda_device_leave(device, before);
    }
    *out_native = native->wider;
    pthread_mutex_unlock(&lock);
    vyre_text_free(&artifact);
    return status;
}

cuda_native *cuda_native_retain(cuda_native *native) {
    atomic_fetch_add(&native->references, 1);
    return native;
}

void cuda_native_unload(cuda_native *native) {
    cuda_device *device = native->device;
    *(native->previous ? &native->previous->next : &device->natives) = native->next;
    if (native->next) {
        native->next->previous = native->previous;
    }
    native->next = native->previous = NULL;
    cuda_replays_deinit(device, &native->replays);
    for (uint32_t c = 0; c < CUDA_CODES; c++) {
        cuda_turns_free(device, native->codes[c].kept_turns);
        native->codes[c].kept_turns = NULL;
        native->codes[c].kept_turn_count = 0;
        for (uint32_t i = 0; i < CUDA_SHARED_LANES; i++) {
            cuda_memory_give(device, native->codes[c].counters[i]);
            native->codes[c].counters[i] = NULL;
        }
    }
    unload(native);
}

/* Waits for runs on shared lanes before the code goes. */
static void settle(cuda_native *native) {
    for (uint32_t i = 0; i < CUDA_SHARED_LANES; i++) {
        uint64_t last = atomic_load(&native->last[i]);
        if (last) {
            vyre_status_free(cuda_lane_settle(&native->device->lanes.shared[i], last));
        }
    }
}

void cuda_native_release(cuda_native *native) {
    if (!native || atomic_fetch_sub(&native->references, 1) != 1) {
        return;
    }
    cuda_device *device = native->device;
    CUcontext before;
    if (native->modules[0]) {
        vyre_status status = cuda_device_enter(device, &before);
        if (!status) {
            settle(native);
        }
        pthread_mutex_lock(&device->lock);
        cuda_native_unload(native);
        pthread_mutex_unlock(&device->lock);
        if (!status) {
            cuda_device_leave(device, before);
        }
        vyre_status_free(status);
    }
    cuda_native_release(native->wider);
    for (uint32_t c = 0; c < CUDA_CODES; c++) {
        vyre_program_release(native->codes[c].program);
        vyre_free(native->codes[c].phases);
        vyre_free(native->codes[c].overwritten);
    }
    pthread_mutex_destroy(&native->replays.lock);
    vyre_free(native);
}
