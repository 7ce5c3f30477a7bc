#include "backend/cuda/runtime/executable.h"

#include <stdio.h>

#include "backend/cuda/runtime/module.h"
#include "backend/cuda/runtime/texts.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "pass/fill.h"
#include "pass/split.h"
#include "pass/walk.h"

static vyre_status refuse_phase(const cuda_executable *executable, const cuda_code *code,
                                uint32_t index, const char *what, uint64_t found, uint64_t most) {
    return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                            "use a smaller workgroup or smaller arrays, or another device",
                            "phase %u of `%s` needs %s: %llu, and %s has at most %llu", index,
                            vyre_program_name(code->program), what, (unsigned long long)found,
                            executable->device->info.name, (unsigned long long)most);
}

/* Finds the kernel of a phase, and how many blocks of it fit. */
static vyre_status load_phase(cuda_executable *executable, const cuda_code *code,
                              const char *prefix, uint32_t index) {
    cuda_device *device = executable->device;
    const cuda_table *cuda = device->cuda;
    cuda_phase *phase = &code->phases[index];
    const cuda_phase_info *info = &phase->info;
    int registers = 0, threads = 0, blocks = 0;
    char name[32];
    snprintf(name, sizeof name, "%s_%u", prefix, index);
    if (info->shared_bytes + info->dynamic_bytes > device->info.most_shared_bytes) {
        return refuse_phase(executable, code, index, "bytes of shared memory",
                            (uint64_t)info->shared_bytes + info->dynamic_bytes,
                            device->info.most_shared_bytes);
    }
    CUresult result =
        cuda->cuModuleGetFunction(&phase->function, executable->modules[info->image], name);
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
        return refuse_phase(executable, code, index, "threads per block", info->threads,
                            (uint64_t)threads);
    }
    return cuda_check(device, result, "finding %s", name);
}

/* In the device's context, unless it is gone. */
static void unload(cuda_executable *executable) {
    cuda_device *device = executable->device;
    for (uint32_t i = 0; i < CUDA_MOST_IMAGES; i++) {
        if (executable->modules[i] && !atomic_load(&device->is_lost)) {
            vyre_status_free(cuda_check(
                device, device->cuda->cuModuleUnload(executable->modules[i]), "unloading code"));
        }
        executable->modules[i] = NULL;
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

static vyre_status load(cuda_executable *executable, const cuda_phase_info *infos,
                        const cuda_images *images) {
    vyre_status status = VYRE_OK;
    executable->image_bytes = 0;
    for (uint32_t i = 0; i < images->count && !status; i++) {
        status = cuda_module_load(executable->device, images->data[i], (size_t)images->bytes[i],
                                  &executable->modules[i]);
        executable->image_bytes += (size_t)images->bytes[i];
    }
    for (uint32_t c = 0; c < executable->code_count && !status; c++) {
        cuda_code *code = &executable->codes[c];
        for (uint32_t i = 0; i < code->phase_count && !status; i++) {
            code->phases[i].info = *infos++;
            code->has_counters |= code->phases[i].info.ordered || code->phases[i].info.cooperative;
            status = load_phase(executable, code, cuda_prefixes[c], i);
        }
        code->is_one_launch = is_one_launch(code);
        if (!status && code->has_while) {
            status = cuda_check(executable->device,
                                executable->device->cuda->cuModuleGetFunction(
                                    &code->iteration, executable->modules[0], "iteration"),
                                "finding iteration");
        }
    }
    if (status) {
        unload(executable);
    }
    return status;
}

/* From an artifact; false if it does not fit, or does not load, which is as good as none. */
static bool load_artifact(cuda_executable *executable, const cuda_artifact_key *key,
                          const uint8_t *artifact, size_t size, cuda_phase_info *infos) {
    cuda_images images;
    if (!artifact || !cuda_artifact_read(key, artifact, size, infos, &images)) {
        return false;
    }
    vyre_status status = load(executable, infos, &images);
    if (status) {
        vyre_log(VYRE_LOG_INFO,
                 "cuda: `%s` is compiled again, because the stored code cannot be "
                 "used: %s",
                 vyre_program_name(executable->codes[0].program), vyre_status_text(status));
        vyre_status_free(status);
    }
    return !status;
}

static vyre_status compile(cuda_executable *executable, const cuda_artifact_key *key,
                           cuda_phase_info *infos, vyre_strbuf *out_artifact) {
    const char *name = vyre_program_name(executable->codes[0].program);
    cuda_texts t = {0};
    vyre_strbuf made[CUDA_MOST_IMAGES] = {{0}};
    cuda_images images = {0};
    vyre_status status = cuda_texts_write(&t, executable, key->phase_count, infos);
    status =
        status ? status : cuda_module_translate(executable->device, t.images, t.count, name, made);
    for (; !status && images.count < t.count; images.count++) {
        images.data[images.count] = (const uint8_t *)made[images.count].data;
        images.bytes[images.count] = made[images.count].size;
    }
    status = status ? status : load(executable, infos, &images);
    if (!status) {
        cuda_artifact_write(key, infos, &images, out_artifact);
        status =
            out_artifact->failed
                ? vyre_no_memory("to compile `%s`", vyre_program_name(executable->codes[0].program))
                : VYRE_OK;
    }
    for (uint32_t i = 0; i < CUDA_MOST_IMAGES; i++) {
        vyre_strbuf_free(&made[i]);
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
        code->has_while |= code->ir->steps[i].kind == VYRE_STEP_REPEAT_WHILE ||
                           code->ir->steps[i].kind == VYRE_STEP_IF;
        code->swaps |= code->ir->steps[i].kind == VYRE_STEP_SWAP;
    }
    for (uint32_t i = 0; i < code->phase_count; i++) {
        uint32_t from = code->ir->phases[i].from_resource;
        code->copies_element |= from != VYRE_NONE && vyre_phase_writes(code->ir, i, from);
    }
    return code->phases && code->overwritten
               ? vyre_fill_find(program, code->overwritten)
               : vyre_no_memory("to compile `%s`", vyre_program_name(program));
}

static vyre_status describe_all(cuda_executable *executable, const vyre_program *program) {
    vyre_program *split = NULL, *own = vyre_program_retain((vyre_program *)(uintptr_t)program);
    executable->code_count = 1;
    vyre_status status = describe(&executable->codes[0], own);
    if (!status && executable->codes[0].has_barrier) {
        status = vyre_split_grid_barriers(program, &split);
    }
    if (!status && split) {
        executable->code_count = 2;
        status = describe(&executable->codes[1], split);
    }
    return status;
}

static vyre_status make(cuda_device *device, const vyre_program *program, bool general,
                        const uint8_t *artifact, size_t artifact_size, vyre_strbuf *out_artifact,
                        cuda_executable **out_executable) {
    *out_executable = NULL;
    cuda_executable *executable = vyre_alloc_zeroed(1, sizeof *executable);
    if (!executable) {
        return vyre_no_memory("to compile `%s`", vyre_program_name(program));
    }
    atomic_init(&executable->references, 1);
    executable->device = device;
    executable->is_general = general;
    cuda_replays_init(&executable->replays);
    vyre_status status = describe_all(executable, program);
    cuda_artifact_key key = {device->info.sm, device->info.isa, (uint32_t)device->cuda->version, 0};
    for (uint32_t c = 0; c < executable->code_count; c++) {
        key.phase_count += executable->codes[c].phase_count;
    }
    cuda_phase_info *infos = vyre_alloc_zeroed(key.phase_count, sizeof *infos);
    status =
        status || infos ? status : vyre_no_memory("to compile `%s`", vyre_program_name(program));
    if (!status && !load_artifact(executable, &key, artifact, artifact_size, infos)) {
        status = compile(executable, &key, infos, out_artifact);
    }
    vyre_free(infos);
    if (executable->modules[0]) {
        pthread_mutex_lock(&device->lock);
        executable->next = device->natives;
        if (executable->next) {
            executable->next->previous = executable;
        }
        device->natives = executable;
        pthread_mutex_unlock(&device->lock);
    }
    if (status) {
        vyre_strbuf_free(out_artifact);
        cuda_executable_release(executable);
        return status;
    }
    *out_executable = executable;
    return VYRE_OK;
}

vyre_status cuda_executable_make(cuda_device *device, const vyre_program *program,
                                 const uint8_t *artifact, size_t artifact_size,
                                 vyre_strbuf *out_artifact, cuda_executable **out_executable) {
    return make(device, program, false, artifact, artifact_size, out_artifact, out_executable);
}

vyre_status cuda_executable_general(cuda_executable *executable, cuda_executable **out_executable) {
    if (executable->is_general) {
        *out_executable = executable;
        return VYRE_OK;
    }
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    cuda_device *device = executable->device;
    vyre_strbuf artifact = {0};
    CUcontext before;
    pthread_mutex_lock(&lock);
    vyre_status status = executable->general ? VYRE_OK : cuda_device_enter(device, &before);
    if (!status && !executable->general) {
        status = make(device, executable->codes[0].program, true, NULL, 0, &artifact,
                      &executable->general);
        cuda_device_leave(device, before);
    }
    *out_executable = executable->general;
    pthread_mutex_unlock(&lock);
    vyre_strbuf_free(&artifact);
    return status;
}

cuda_executable *cuda_executable_retain(cuda_executable *executable) {
    atomic_fetch_add(&executable->references, 1);
    return executable;
}

/* Takes the code off the device, in its context; nothing runs it. */
static void take_off(cuda_executable *executable) {
    cuda_device *device = executable->device;
    pthread_mutex_lock(&device->lock);
    bool is_on = executable->modules[0];
    if (is_on) {
        *(executable->previous ? &executable->previous->next : &device->natives) = executable->next;
        if (executable->next) {
            executable->next->previous = executable->previous;
        }
        executable->next = executable->previous = NULL;
    }
    pthread_mutex_unlock(&device->lock);
    if (!is_on) {
        return;
    }
    cuda_replays_deinit(device, &executable->replays);
    for (uint32_t c = 0; c < CUDA_CODES; c++) {
        cuda_iterations_free(device, executable->codes[c].kept_iterations);
        executable->codes[c].kept_iterations = NULL;
        executable->codes[c].kept_iteration_count = 0;
        for (uint32_t i = 0; i < CUDA_SHARED_STREAMS; i++) {
            cuda_memory_give(device, executable->codes[c].counters[i]);
            executable->codes[c].counters[i] = NULL;
        }
    }
    unload(executable);
}

/* Waits for runs on shared streams before the code goes. */
static void settle(cuda_executable *executable) {
    for (uint32_t i = 0; i < CUDA_SHARED_STREAMS; i++) {
        uint64_t last = atomic_load(&executable->last[i]);
        if (last) {
            vyre_status_free(cuda_stream_settle(&executable->device->streams.shared[i], last));
        }
    }
}

/* One that nobody holds, in the lock for unloading. */
static void free_native(cuda_executable *executable) {
    cuda_device *device = executable->device;
    CUcontext before;
    if (executable->modules[0]) {
        vyre_status status = cuda_device_enter(device, &before);
        if (!status) {
            settle(executable);
        }
        take_off(executable);
        if (!status) {
            cuda_device_leave(device, before);
        }
        vyre_status_free(status);
    }
    cuda_executable_release(executable->general);
    for (uint32_t c = 0; c < CUDA_CODES; c++) {
        vyre_program_release(executable->codes[c].program);
        vyre_free(executable->codes[c].phases);
        vyre_free(executable->codes[c].overwritten);
    }
    pthread_mutex_destroy(&executable->replays.lock);
    vyre_free(executable);
}

/* In the lock for unloading. */
static void free_left(cuda_device *device) {
    for (;;) {
        pthread_mutex_lock(&device->lock);
        cuda_executable *executable = device->left;
        if (executable) {
            device->left = executable->next_left;
        }
        pthread_mutex_unlock(&device->lock);
        if (!executable) {
            return;
        }
        free_native(executable);
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
        cuda_executable *executable = device->natives;
        pthread_mutex_unlock(&device->lock);
        if (!executable) {
            break;
        }
        take_off(executable);
    }
    free_left(device);
    pthread_mutex_unlock(&device->unloading);
}

void cuda_executable_release(cuda_executable *executable) {
    if (!executable || atomic_fetch_sub(&executable->references, 1) != 1) {
        return;
    }
    cuda_device *device = executable->device;
    pthread_mutex_lock(&device->lock);
    executable->next_left = device->left;
    device->left = executable;
    pthread_mutex_unlock(&device->lock);
    cuda_natives_free_left(device);
}
