#include "backend/vulkan/executable.h"

#include <string.h>

#include "backend/vulkan/counting.h"
#include "backend/vulkan/module.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "ir/program.h"
#include "pass/fill.h"

static vyre_status refuse_phase(const vulkan_executable *executable, uint32_t index,
                                const char *what, uint64_t found, uint64_t most) {
    return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                            "use a smaller workgroup or smaller arrays, or another device",
                            "phase %u of `%s` needs %s: %llu, and %s has at most %llu", index,
                            vyre_program_name(executable->program), what, (unsigned long long)found,
                            executable->device->info.name, (unsigned long long)most);
}

static vyre_status check_phase(const vulkan_executable *executable, uint32_t index) {
    const spirv_phase_info *phase = &executable->phases[index].info;
    const vulkan_info *info = &executable->device->info;
    uint32_t most =
        info->most_size[0] < info->most_invocations ? info->most_size[0] : info->most_invocations;
    if (phase->shared_bytes > info->most_shared_bytes) {
        return refuse_phase(executable, index, "bytes of shared memory", phase->shared_bytes,
                            info->most_shared_bytes);
    }
    if (phase->threads > most) {
        return refuse_phase(executable, index, "invocations in a workgroup", phase->threads, most);
    }
    if (phase->subgroup && phase->threads / phase->subgroup > info->most_subgroups) {
        return refuse_phase(executable, index, "subgroups in a workgroup",
                            phase->threads / phase->subgroup, info->most_subgroups);
    }
    return VYRE_OK;
}

/* Changes a module as a test asks for. */
static spirv_module worsened(const spirv_module *module, spirv_module *copy) {
    if (!vulkan_drill.worsen) {
        return *module;
    }
    copy->words = vyre_alloc_array(module->count, 4);
    copy->count = copy->words ? module->count : 0;
    for (size_t i = 0; i < copy->count; i++) {
        copy->words[i] = module->words[i];
    }
    vulkan_drill.worsen(&copy->words, &copy->count);
    return *copy;
}

VkResult vulkan_pipeline_make(vulkan_device *device, VkPipelineCache cache, uint32_t subgroup,
                              const spirv_module *from, VkPipeline *out_pipeline) {
    const vulkan_table *vk = &device->vk;
    VkShaderModule shader = VK_NULL_HANDLE;
    spirv_module copy = {0}, module = worsened(from, &copy);
    *out_pipeline = VK_NULL_HANDLE;
    const VkShaderModuleCreateInfo shader_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = module.count * 4,
        .pCode = module.words,
    };
    VkResult result = module.count
                          ? vk->vkCreateShaderModule(device->handle, &shader_info, NULL, &shader)
                          : VK_ERROR_OUT_OF_HOST_MEMORY;
    spirv_module_free(&copy);
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = subgroup,
    };
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = subgroup ? &size : NULL,
                  .flags =
                      subgroup ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = shader,
                  .pName = "main"},
        .layout = device->layout,
    };
    if (!result) {
        result = vk->vkCreateComputePipelines(device->handle, cache, 1, &info, NULL, out_pipeline);
        *out_pipeline = result ? VK_NULL_HANDLE : *out_pipeline;
        vk->vkDestroyShaderModule(device->handle, shader, NULL);
    }
    return result;
}

static vyre_status make_pipeline(vulkan_executable *executable, VkPipelineCache cache,
                                 uint32_t index, const spirv_module *module) {
    vulkan_phase *phase = &executable->phases[index];
    VYRE_TRY(check_phase(executable, index));
    VkResult result = vulkan_pipeline_make(executable->device, cache, phase->info.subgroup, module,
                                           &phase->pipeline);
    executable->code_bytes += module->count * 4;
    return vulkan_check(executable->device, result, "compiling phase %u of `%s`", index,
                        vyre_program_name(executable->program));
}

static void unload(vulkan_executable *executable) {
    vulkan_device *device = executable->device;
    for (uint32_t i = 0; executable->phases && i < executable->phase_count; i++) {
        vulkan_phase *phase = &executable->phases[i];
        if (phase->pipeline && !atomic_load(&device->is_abandoned)) {
            device->vk.vkDestroyPipeline(device->handle, phase->pipeline, NULL);
        }
        phase->pipeline = VK_NULL_HANDLE;
    }
    vulkan_memory_give(device, executable->constants);
    executable->constants = NULL;
}

static vyre_status place_constants(vulkan_executable *executable, const vulkan_code *code) {
    if (!code->data_bytes) {
        return VYRE_OK;
    }
    VYRE_TRY(vulkan_memory_take(executable->device, VULKAN_FRAME, code->data_bytes,
                                &executable->constants));
    memcpy(vulkan_block_mapped(executable->constants), code->data, code->data_bytes);
    return VYRE_OK;
}

/* What the driver made, for the artifact. None is no failure. */
static void keep_cache(vulkan_device *device, VkPipelineCache cache, vulkan_code *code) {
    size_t bytes = 0;
    if (device->vk.vkGetPipelineCacheData(device->handle, cache, &bytes, NULL) || !bytes) {
        return;
    }
    code->cache = vyre_alloc(bytes);
    if (code->cache &&
        !device->vk.vkGetPipelineCacheData(device->handle, cache, &bytes, code->cache)) {
        code->cache_bytes = bytes;
    }
}

/* Makes all pipelines; `keeps`: and asks for what the driver made. */
static vyre_status load(vulkan_executable *executable, vulkan_code *code, bool keeps) {
    vulkan_device *device = executable->device;
    const vulkan_table *vk = &device->vk;
    const VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = code->cache_bytes,
        .pInitialData = code->cache,
    };
    VkPipelineCache cache;
    VYRE_TRY(vulkan_check(device, vk->vkCreatePipelineCache(device->handle, &info, NULL, &cache),
                          "making a pipeline cache"));
    vyre_status status = place_constants(executable, code);
    executable->code_bytes = 0;
    for (uint32_t i = 0; i < executable->phase_count && !status; i++) {
        executable->phases[i].info = code->infos[i];
        executable->has_counters |= code->infos[i].ordered || code->infos[i].cooperative;
        executable->has_loops |= code->infos[i].has_loops;
        status = make_pipeline(executable, cache, i, &code->modules[i]);
        if (!status && executable->ir->phases[i].from_resource != VYRE_NONE) {
            status = vulkan_counting_make(device);
        }
    }
    if (!status && keeps) {
        keep_cache(device, cache, code);
    }
    vk->vkDestroyPipelineCache(device->handle, cache, NULL);
    if (status) {
        unload(executable);
    }
    return status;
}

static bool load_artifact(vulkan_executable *executable, const uint8_t *artifact, size_t size) {
    vulkan_code code;
    if (!artifact ||
        !vulkan_code_load(executable->device, executable->phase_count, artifact, size, &code)) {
        return false;
    }
    vyre_status status = load(executable, &code, false);
    vulkan_code_free(&code);
    if (status) {
        vyre_log(VYRE_LOG_INFO,
                 "vulkan: `%s` is compiled again, because the stored code cannot be used: %s",
                 vyre_program_name(executable->program), vyre_status_text(status));
        vyre_status_free(status);
        return false;
    }
    return true;
}

static vyre_status compile(vulkan_executable *executable, bool is_plain,
                           vyre_strbuf *out_artifact) {
    vulkan_code code;
    vyre_status status = vulkan_code_write(executable->device, executable->program,
                                           executable->variant, is_plain, &code);
    status = status ? status : load(executable, &code, out_artifact);
    if (!status && out_artifact) {
        vulkan_code_store(executable->device, &code, out_artifact);
        status = out_artifact->failed
                     ? vyre_no_memory("to compile `%s`", vyre_program_name(executable->program))
                     : VYRE_OK;
    }
    vulkan_code_free(&code);
    return status;
}

/* What is known of a program before there is code. */
static vyre_status describe(vulkan_executable *executable, const vyre_program *program) {
    executable->program = vyre_program_retain((vyre_program *)(uintptr_t)program);
    const vyre_ir *ir = executable->ir = vyre_program_ir(program);
    executable->layout = spirv_layout_of(ir);
    executable->phase_count = ir->phase_count;
    executable->phases = vyre_alloc_zeroed(ir->phase_count, sizeof *executable->phases);
    executable->overwritten =
        vyre_alloc_zeroed(ir->resource_count + 1, sizeof *executable->overwritten);
    for (uint32_t i = 0; i < ir->step_count; i++) {
        executable->has_while |=
            ir->steps[i].kind == VYRE_STEP_REPEAT_WHILE || ir->steps[i].kind == VYRE_STEP_IF;
        executable->swaps |= ir->steps[i].kind == VYRE_STEP_SWAP;
    }
    return executable->phases && executable->overwritten
               ? vyre_fill_find(program, executable->overwritten)
               : vyre_no_memory("to compile `%s`", vyre_program_name(program));
}

static void free_executable(vulkan_executable *executable) {
    if (executable->device->handle) {
        unload(executable);
    }
    for (int i = 0; i < VULKAN_VARIANTS; i++) {
        vulkan_executable_release(executable->variants[i]);
    }
    vyre_program_release(executable->program);
    vyre_free(executable->phases);
    vyre_free(executable->overwritten);
    vyre_free(executable);
}

static vyre_status make(vulkan_device *device, const vyre_program *program, unsigned variant,
                        bool is_plain, const uint8_t *artifact, size_t artifact_size,
                        vyre_strbuf *out_artifact, vulkan_executable **out_executable) {
    *out_executable = NULL;
    VYRE_TRY(vulkan_check_lost(device));
    vulkan_executable *executable = vyre_alloc_zeroed(1, sizeof *executable);
    if (!executable) {
        return vyre_no_memory("to compile `%s`", vyre_program_name(program));
    }
    atomic_init(&executable->references, 1);
    executable->device = device;
    executable->variant = variant | (device->target.polls ? VULKAN_STOPS : 0);
    vyre_status status = describe(executable, program);
    if (!status && !load_artifact(executable, artifact, artifact_size)) {
        status = compile(executable, is_plain, out_artifact);
    }
    if (status) {
        free_executable(executable);
        return status;
    }
    pthread_mutex_lock(&device->lock);
    executable->next = device->executables;
    if (executable->next) {
        executable->next->previous = executable;
    }
    device->executables = executable;
    pthread_mutex_unlock(&device->lock);
    *out_executable = executable;
    return VYRE_OK;
}

vyre_status vulkan_executable_make(vulkan_device *device, const vyre_program *program,
                                   const uint8_t *artifact, size_t artifact_size,
                                   vyre_strbuf *out_artifact, vulkan_executable **out_executable) {
    return make(device, program, 0, false, artifact, artifact_size, out_artifact, out_executable);
}

vyre_status vulkan_executable_make_plain(vulkan_device *device, const vyre_program *program,
                                         vulkan_executable **out_executable) {
    return make(device, program, VULKAN_STOPS, true, NULL, 0, NULL, out_executable);
}

vyre_status vulkan_executable_variant(vulkan_executable *executable,
                                      const vyre_dispatch_config *config,
                                      vulkan_executable **out_executable) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const uint64_t *grid = config->grid;
    bool is_general = grid[0] || grid[1] || grid[2];
    bool stops = config->timeout_ns && executable->has_loops;
    unsigned variant = executable->variant | (is_general ? (unsigned)VULKAN_GENERAL : 0) |
                       (stops ? (unsigned)VULKAN_STOPS : 0);
    vulkan_executable **kept = &executable->variants[variant];
    vyre_status status = VYRE_OK;
    if (variant == executable->variant) {
        *out_executable = executable;
        return VYRE_OK;
    }
    pthread_mutex_lock(&lock);
    if (!*kept) {
        status = make(executable->device, executable->program, variant, false, NULL, 0, NULL, kept);
    }
    *out_executable = *kept;
    pthread_mutex_unlock(&lock);
    return status;
}

vulkan_executable *vulkan_executable_retain(vulkan_executable *executable) {
    atomic_fetch_add(&executable->references, 1);
    return executable;
}

static void take_off(vulkan_executable *executable) {
    vulkan_device *device = executable->device;
    pthread_mutex_lock(&device->lock);
    if (executable->next) {
        executable->next->previous = executable->previous;
    }
    if (executable->previous) {
        executable->previous->next = executable->next;
    } else if (device->executables == executable) {
        device->executables = executable->next;
    }
    executable->next = executable->previous = NULL;
    pthread_mutex_unlock(&device->lock);
}

void vulkan_executables_unload(vulkan_device *device) {
    for (;;) {
        pthread_mutex_lock(&device->lock);
        vulkan_executable *executable = device->executables;
        pthread_mutex_unlock(&device->lock);
        if (!executable) {
            return;
        }
        take_off(executable);
        unload(executable);
    }
}

void vulkan_executable_release(vulkan_executable *executable) {
    if (executable && atomic_fetch_sub(&executable->references, 1) == 1) {
        take_off(executable);
        free_executable(executable);
    }
}
