#include "backend/vulkan/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/batch.h"
#include "backend/vulkan/counting.h"
#include "backend/vulkan/executable.h"
#include "backend/vulkan/probe.h"
#include "backend/vulkan/resident.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/strbuf.h"

vulkan_drill_hooks vulkan_drill;

vyre_status vulkan_check(vulkan_device *device, VkResult result, const char *format, ...) {
    if (result >= 0) {
        return VYRE_OK;
    }
    char error[VULKAN_ERROR_TEXT_BYTES];
    vyre_strbuf what = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&what, format, arguments);
    va_end(arguments);
    vulkan_error_text(result, error);
    bool is_final = result == VK_ERROR_DEVICE_LOST;
    bool no_memory =
        result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY;
    if (is_final) {
        atomic_store(&device->is_lost, true);
    }
    vyre_status status = vyre_status_make(
        is_final    ? VYRE_STATUS_DEVICE_LOST
        : no_memory ? VYRE_STATUS_OUT_OF_MEMORY
                    : VYRE_STATUS_BACKEND,
        is_final    ? "call vyre_device_recover, or restart the process"
        : no_memory ? "free resident buffers, stop other programs on the device, or use smaller "
                      "buffers"
                    : "try again; if it persists, check that `vulkaninfo` works and update the "
                      "driver",
        "%s on %s: %s", vyre_strbuf_string(&what), device->info.name, error);
    vyre_strbuf_free(&what);
    return status;
}

vyre_status vulkan_check_lost(vulkan_device *device) {
    return atomic_load(&device->is_lost)
               ? vyre_status_make(VYRE_STATUS_DEVICE_LOST,
                                  "call vyre_device_recover, or restart the process",
                                  "%s is lost: an earlier run ended in a fault", device->info.name)
               : VYRE_OK;
}

/* Widths that phases can have without help: all lanes of a required size, and the operations. */
static uint64_t native_widths(const vulkan_info *info) {
    const uint32_t needed = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
                            VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    uint64_t widths = 0;
    for (uint32_t width = 8; width <= 64; width *= 2) {
        bool has = info->full_subgroups && (info->subgroup_operations & needed) == needed &&
                   width >= info->least_subgroup && width <= info->most_subgroup;
        widths |= has ? width : 0;
    }
    return widths;
}

/* A float control of both widths as SPIRV_F bits. On some devices the widths must have the same. */
static uint32_t control_of(const vulkan_info *info, bool is_independent, bool f32, bool f64) {
    bool differ = info->float64 && f32 != f64 && !is_independent;
    return differ ? 0 : (f32 ? (uint32_t)SPIRV_F32 : 0) | (f64 ? (uint32_t)SPIRV_F64 : 0);
}

static void make_small(vulkan_info *info) {
    info->push_bytes = 8;
    info->most_groups[0] = 3;
    info->most_groups[1] = info->most_groups[2] = 2;
}

static void choose_target(vulkan_device *device) {
    const vulkan_info *info = &device->info;
    device->keep_widths = native_widths(info);
    device->target = (spirv_target){
        .version = info->api >= VK_API_VERSION_1_3 ? 0x10600 : 0x10500,
        .vulkan_model = info->memory_model && info->memory_model_device,
        .storage8 = info->storage8,
        .storage16 = info->storage16,
        .int8 = info->int8,
        .int16 = info->int16,
        .f64 = info->float64,
        .atomics64 = info->buffer_atomics64,
        .shared_atomics64 = info->shared_atomics64,
        .rounds = control_of(info, info->independent_rounding, info->rte32, info->rte64),
        .keeps_nan =
            (info->keep32 ? (uint32_t)SPIRV_F32 : 0) | (info->keep64 ? (uint32_t)SPIRV_F64 : 0),
        .keeps_denorms =
            control_of(info, info->independent_denorms, info->denorm32, info->denorm64),
        .widths = device->keep_widths,
        .push_bytes = info->push_bytes,
        .polls = info->type != VK_PHYSICAL_DEVICE_TYPE_CPU, /* every look costs much there */
    };
}

vyre_status vulkan_device_create(uint32_t index, vulkan_device **out_device) {
    const vulkan_instance *vulkan;
    vulkan_info info;
    *out_device = NULL;
    VYRE_TRY(vulkan_physical_find(index, &vulkan, &info));
    vulkan_device *device = vyre_alloc_zeroed(1, sizeof *device);
    if (!device) {
        return vyre_no_memory("for a device of backend `vulkan`");
    }
    device->instance = vulkan;
    device->info = info;
    if (vulkan_drill.is_small) {
        make_small(&device->info);
    }
    pthread_mutex_init(&device->submitting, NULL);
    pthread_mutex_init(&device->lock, NULL);
    vulkan_memory_init(&device->memory);
    choose_target(device);
    device->is_probed = vulkan_probe_recall(device);
    vyre_status status = device->is_probed ? VYRE_OK : vulkan_device_open(device);
    if (status) {
        vulkan_device_free(device);
        return status;
    }
    *out_device = device;
    return VYRE_OK;
}

void vulkan_device_free(vulkan_device *device) {
    vulkan_device_close(device);
    vulkan_memory_deinit(&device->memory);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->submitting);
    vyre_free(device);
}

/* Only features that the device has and code may use. */
static VkResult make_device(vulkan_device *device) {
    const vulkan_info *info = &device->info;
    static const float priority = 0.5f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = info->queue_family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkPhysicalDeviceSubgroupSizeControlFeatures sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
        .subgroupSizeControl = VK_TRUE,
        .computeFullSubgroups = info->full_subgroups,
    };
    VkPhysicalDeviceVulkan12Features f12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = info->most_subgroup ? &sizes : NULL,
        .storageBuffer8BitAccess = info->storage8,
        .shaderBufferInt64Atomics = info->buffer_atomics64,
        .shaderSharedInt64Atomics = info->shared_atomics64,
        .shaderFloat16 = info->float16,
        .shaderInt8 = info->int8,
        .shaderSubgroupExtendedTypes = info->subgroup_extended,
        .timelineSemaphore = VK_TRUE,
        .bufferDeviceAddress = VK_TRUE,
        .vulkanMemoryModel = info->memory_model,
        .vulkanMemoryModelDeviceScope = info->memory_model_device,
    };
    VkPhysicalDeviceVulkan11Features f11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
        .pNext = &f12,
        .storageBuffer16BitAccess = info->storage16,
    };
    const VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &f11,
        .features = {.shaderInt64 = VK_TRUE,
                     .shaderInt16 = info->int16,
                     .shaderFloat64 = info->float64},
    };
    const char *extensions[3];
    uint32_t count = 0;
    if (info->portability) { /* who has it must be asked for it */
        extensions[count++] = "VK_KHR_portability_subset";
    }
    if (info->import_alignment) {
        extensions[count++] = "VK_EXT_external_memory_host";
    }
    if (info->most_subgroup && info->api < VK_API_VERSION_1_3) {
        extensions[count++] = "VK_EXT_subgroup_size_control";
    }
    const VkDeviceCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
    };
    return device->instance->vkCreateDevice(info->handle, &create, NULL, &device->handle);
}

static vyre_status resolve(vulkan_device *device) {
    const vulkan_instance *vulkan = device->instance;
    const char *missing = NULL;
#define RESOLVE(name)                                                                              \
    device->vk.name = (PFN_##name)vulkan->vkGetDeviceProcAddr(device->handle, #name);              \
    missing = device->vk.name ? missing : #name;
    VULKAN_DEVICE_FUNCTIONS(RESOLVE)
#undef RESOLVE
    if (device->info.import_alignment) {
        device->vk.vkGetMemoryHostPointerPropertiesEXT =
            (PFN_vkGetMemoryHostPointerPropertiesEXT)vulkan->vkGetDeviceProcAddr(
                device->handle, "vkGetMemoryHostPointerPropertiesEXT");
    }
    return missing ? vyre_status_make(VYRE_STATUS_UNAVAILABLE, "update the driver",
                                      "the driver of %s lacks %s", device->info.name, missing)
                   : VYRE_OK;
}

static vyre_status make_objects(vulkan_device *device) {
    const vulkan_table *vk = &device->vk;
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
        .initialValue = atomic_load(&device->submitted), /* tickets of an earlier one are over */
    };
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                             .pNext = &type};
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, device->target.push_bytes};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    vk->vkGetDeviceQueue(device->handle, device->info.queue_family, 0, &device->queue);
    VkResult result = vk->vkCreateSemaphore(device->handle, &semaphore, NULL, &device->timeline);
    result = result ? result
                    : vk->vkCreatePipelineLayout(device->handle, &layout, NULL, &device->layout);
    VYRE_TRY(vulkan_check(device, result, "opening the device"));
    return vulkan_memory_open(device);
}

static void close_objects(vulkan_device *device) {
    const vulkan_table *vk = &device->vk;
    if (!atomic_load(&device->is_abandoned)) {
        if (device->timeline) {
            vk->vkDestroySemaphore(device->handle, device->timeline, NULL);
        }
        if (device->layout) {
            vk->vkDestroyPipelineLayout(device->handle, device->layout, NULL);
        }
        if (vk->vkDestroyDevice) {
            vk->vkDestroyDevice(device->handle, NULL);
        }
    }
    device->timeline = VK_NULL_HANDLE;
    device->layout = VK_NULL_HANDLE;
    device->handle = NULL;
    memset(&device->vk, 0, sizeof device->vk);
    atomic_store(&device->is_abandoned, false);
}

vyre_status vulkan_device_open(vulkan_device *device) {
    if (device->handle) {
        return VYRE_OK;
    }
    VkResult result = make_device(device);
    if (result) {
        device->handle = NULL;
        return vulkan_check(device, result, "opening the device");
    }
    vyre_status status = resolve(device);
    status = status ? status : make_objects(device);
    if (status) {
        close_objects(device);
        return status;
    }
    status = device->is_probed ? VYRE_OK : vulkan_probe_run(device);
    if (status) {
        vulkan_device_close(device);
        return status;
    }
    device->is_probed = true;
    return VYRE_OK;
}

void vulkan_device_close(vulkan_device *device) {
    if (!device->handle) {
        return;
    }
    if (!atomic_load(&device->is_abandoned)) {
        pthread_mutex_lock(&device->submitting);
        device->vk.vkDeviceWaitIdle(device->handle); /* what it says was said before */
        pthread_mutex_unlock(&device->submitting);
    }
    vulkan_batches_close(device);
    vulkan_executables_unload(device);
    vulkan_counting_drop(device);
    vulkan_residents_drop(device);
    vulkan_memory_close(device);
    close_objects(device);
}

vyre_status vulkan_device_reset(vulkan_device *device) {
    atomic_store(&device->lost_from, atomic_load(&device->completed));
    atomic_store(&device->lost_end, atomic_load(&device->submitted));
    vulkan_device_close(device);
    atomic_store(&device->completed, atomic_load(&device->submitted));
    vyre_status status = vulkan_physical_find_again(&device->info);
    if (!status) {
        atomic_store(&device->is_lost, false);
        status = vulkan_device_open(device);
    }
    if (status) {
        atomic_store(&device->is_lost, true);
        status =
            vyre_status_annotate(status, "cannot recover %s in this process", device->info.name);
    }
    return status;
}
