#include "backend/cuda/runtime/executable.h"

#include <stdio.h>
#include <string.h>

#include "backend/cuda/runtime/module.h"
#include "backend/cuda/runtime/texts.h"
#include "base/alloc.h"
#include "base/log.h"
#include "pass/fill.h"
#include "pass/split.h"

static vyre_status no_memory(const vyre_program *program) {
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again",
                            "no memory to compile `%s`", vyre_program_name(program));
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
                  ir->steps[0].kind == VYRE_STEP_PHASE &&
                  ir->phases[0].from_resource == VYRE_NONE &&
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
            status = load_phase(native, code, cuda_prefixes[c], i);
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
    cuda_texts t = {0};
    vyre_text made[CUDA_MOST_IMAGES] = {{0}};
    cuda_images images = {0};
    vyre_status status = cuda_texts_write(&t, native, key->phase_count, infos);
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
    cuda_texts_free(&t);
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

/* Takes the code off the device, in its context; nothing runs it. */
static void take_off(cuda_native *native) {
    cuda_device *device = native->device;
    pthread_mutex_lock(&device->lock);
    bool is_on = native->modules[0];
    if (is_on) {
        *(native->previous ? &native->previous->next : &device->natives) = native->next;
        if (native->next) {
            native->next->previous = native->previous;
        }
        native->next = native->previous = NULL;
    }
    pthread_mutex_unlock(&device->lock);
    if (!is_on) {
        return;
    }
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

/* One that nobody holds, in the lock for unloading. */
static void free_native(cuda_native *native) {
    cuda_device *device = native->device;
    CUcontext before;
    if (native->modules[0]) {
        vyre_status status = cuda_device_enter(device, &before);
        if (!status) {
            settle(native);
        }
        take_off(native);
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

/* In the lock for unloading. */
static void free_left(cuda_device *device) {
    for (;;) {
        pthread_mutex_lock(&device->lock);
        cuda_native *native = device->left;
        if (native) {
            device->left = native->next_left;
        }
        pthread_mutex_unlock(&device->lock);
        if (!native) {
            return;
        }
        free_native(native);
    }
}

static bool has_left(cuda_device *device) {
    pthread_mutex_lock(&device->lock);
    bool found = device->left;
    pthread_mutex_unlock(&device->lock);
    return found;
}

/* Who is at it already does those that come meanwhile, too. */
void cuda_natives_free_left(cuda_device *device) {
    while (has_left(device) && cuda_queue_is_idle(&device->pending) &&
           !pthread_mutex_trylock(&device->unloading)) {
        free_left(device);
        pthread_mutex_unlock(&device->unloading);
    }
}

void cuda_natives_unload(cuda_device *device) {
    pthread_mutex_lock(&device->unloading);
    for (;;) {
        pthread_mutex_lock(&device->lock);
        cuda_native *native = device->natives;
        pthread_mutex_unlock(&device->lock);
        if (!native) {
            break;
        }
        take_off(native);
    }
    free_left(device);
    pthread_mutex_unlock(&device->unloading);
}

void cuda_native_release(cuda_native *native) {
    if (!native || atomic_fetch_sub(&native->references, 1) != 1) {
        return;
    }
    cuda_device *device = native->device;
    pthread_mutex_lock(&device->lock);
    native->next_left = device->left;
    device->left = native;
    pthread_mutex_unlock(&device->lock);
    cuda_natives_free_left(device);
}
