#include "backend/vulkan/physical.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/spirv/emit.h"
#include "base/alloc.h"
#include "base/status.h"
#include "store/recall.h"

/* Everything that is asked of a device, in two chains. */
typedef struct answers {
    VkPhysicalDeviceProperties2 properties;
    VkPhysicalDeviceVulkan11Properties p11;
    VkPhysicalDeviceVulkan12Properties p12;
    VkPhysicalDeviceMaintenance4Properties maintenance4;
    VkPhysicalDeviceSubgroupSizeControlProperties sizes;
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceVulkan11Features f11;
    VkPhysicalDeviceVulkan12Features f12;
    VkPhysicalDeviceSubgroupSizeControlFeatures size_control;
} answers;

typedef struct extensions {
    bool external_memory_host, size_control, portability;
} extensions;

static extensions find_extensions(const vulkan_instance *vulkan, VkPhysicalDevice handle) {
    extensions found = {false, false, false};
    uint32_t count = 0;
    if (vulkan->vkEnumerateDeviceExtensionProperties(handle, NULL, &count, NULL) || !count) {
        return found;
    }
    VkExtensionProperties *all = vyre_alloc_zeroed(count, sizeof *all);
    if (all && vulkan->vkEnumerateDeviceExtensionProperties(handle, NULL, &count, all) >= 0) {
        for (uint32_t i = 0; i < count; i++) {
            const char *name = all[i].extensionName;
            found.external_memory_host |= !strcmp(name, "VK_EXT_external_memory_host");
            found.portability |= !strcmp(name, "VK_KHR_portability_subset");
            found.size_control |= !strcmp(name, "VK_EXT_subgroup_size_control");
        }
    }
    vyre_free(all);
    return found;
}

/* Adds a structure to the front of a chain. */
static void chain(void *head, void *row) {
    VkBaseOutStructure *first = head, *added = row;
    added->pNext = first->pNext;
    first->pNext = added;
}

static void ask(const vulkan_instance *vulkan, VkPhysicalDevice handle, uint32_t api,
                const extensions *has, answers *out) {
    *out = (answers){
        .properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .p11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
        .p12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES,
        .maintenance4.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES,
        .sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
        .host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT,
        .features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .f11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
        .f12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .size_control.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
    };
    chain(&out->properties, &out->p11);
    chain(&out->properties, &out->p12);
    if (api >= VK_API_VERSION_1_3) {
        chain(&out->properties, &out->maintenance4);
    }
    if (has->external_memory_host) {
        chain(&out->properties, &out->host);
    }
    chain(&out->features, &out->f11);
    chain(&out->features, &out->f12);
    if (has->size_control || api >= VK_API_VERSION_1_3) {
        chain(&out->properties, &out->sizes);
        chain(&out->features, &out->size_control);
    }
    vulkan->vkGetPhysicalDeviceProperties2(handle, &out->properties);
    vulkan->vkGetPhysicalDeviceFeatures2(handle, &out->features);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* A family that computes; one that does nothing else first, since nobody draws with it. */
static const char *choose_queue(const vulkan_instance *vulkan, vulkan_info *info) {
    enum { MOST = 32 };
    VkQueueFamilyProperties all[MOST];
    uint32_t count = MOST;
    bool found = false;
    vulkan->vkGetPhysicalDeviceQueueFamilyProperties(info->handle, &count, all);
    for (uint32_t i = 0; i < count; i++) {
        bool computes = all[i].queueCount && all[i].queueFlags & VK_QUEUE_COMPUTE_BIT;
        bool draws = all[i].queueFlags & VK_QUEUE_GRAPHICS_BIT;
        if (computes && (!found || !draws)) {
            info->queue_family = i;
            info->timestamp_bits = all[i].timestampValidBits;
            if (found || !draws) {
                return NULL;
            }
            found = true;
        }
    }
    return found ? NULL : "a queue for compute";
}

static void look_at_memory(const vulkan_instance *vulkan, vulkan_info *info) {
    VkPhysicalDeviceMemoryProperties memory;
    vulkan->vkGetPhysicalDeviceMemoryProperties(info->handle, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
        if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT &&
            memory.memoryHeaps[i].size > info->memory_bytes) {
            info->memory_bytes = memory.memoryHeaps[i].size;
        }
    }
}

static void look_at_floats(vulkan_info *info, const VkPhysicalDeviceVulkan12Properties *p) {
    info->rte32 = p->shaderRoundingModeRTEFloat32;
    info->rte64 = p->shaderRoundingModeRTEFloat64;
    info->keep32 = p->shaderSignedZeroInfNanPreserveFloat32;
    info->keep64 = p->shaderSignedZeroInfNanPreserveFloat64;
    info->denorm32 = p->shaderDenormPreserveFloat32;
    info->denorm64 = p->shaderDenormPreserveFloat64;
    info->independent_rounding =
        p->roundingModeIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
    info->independent_denorms =
        p->denormBehaviorIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
}

static void write_identity(vulkan_info *info, const VkPhysicalDeviceVulkan11Properties *p) {
    char *at = info->identity;
    for (uint32_t i = 0; i < 2 * VK_UUID_SIZE; i++) {
        uint8_t byte = i < VK_UUID_SIZE ? p->deviceUUID[i] : p->driverUUID[i - VK_UUID_SIZE];
        at += snprintf(at, 4, i == VK_UUID_SIZE ? "-%02x" : "%02x", byte);
    }
}

/* With the required features last, so that all else is known of a device that lacks one. */
static void look_at(const vulkan_instance *vulkan, VkPhysicalDevice handle, vulkan_info *info) {
    VkPhysicalDeviceProperties2 first = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    answers a;
    *info = (vulkan_info){.handle = handle};
    vulkan->vkGetPhysicalDeviceProperties2(handle, &first);
    info->type = first.properties.deviceType;
    info->api = first.properties.apiVersion;
    snprintf(info->name, sizeof info->name, "%s", first.properties.deviceName);
    if (info->api < VK_API_VERSION_1_2) {
        info->missing = "Vulkan 1.2";
        return;
    }
    extensions has = find_extensions(vulkan, handle);
    ask(vulkan, handle, info->api, &has, &a);
    info->portability = has.portability;
    const VkPhysicalDeviceLimits *limits = &a.properties.properties.limits;
    snprintf(info->driver, sizeof info->driver, "%s %s", a.p12.driverName, a.p12.driverInfo);
    snprintf(info->version, sizeof info->version, "%s, %.60s, %x", VYRE_VERSION_STRING,
             info->driver, a.properties.properties.driverVersion);
    write_identity(info, &a.p11);
    memcpy(info->most_size, limits->maxComputeWorkGroupSize, sizeof info->most_size);
    memcpy(info->most_groups, limits->maxComputeWorkGroupCount, sizeof info->most_groups);
    info->most_invocations = limits->maxComputeWorkGroupInvocations;
    info->push_bytes = (uint32_t)least(limits->maxPushConstantsSize, SPIRV_MOST_PUSH);
    info->most_shared_bytes = limits->maxComputeSharedMemorySize;
    info->timestamp_ns = limits->timestampPeriod;
    look_at_memory(vulkan, info);
    info->most_buffer_bytes = least(info->memory_bytes, a.p11.maxMemoryAllocationSize);
    if (a.maintenance4.maxBufferSize) {
        info->most_buffer_bytes = least(info->most_buffer_bytes, a.maintenance4.maxBufferSize);
    }
    info->import_alignment = a.host.minImportedHostPointerAlignment;
    info->subgroup_size = a.p11.subgroupSize;
    info->subgroup_operations = a.p11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT
                                    ? a.p11.subgroupSupportedOperations
                                    : 0;
    if (a.size_control.subgroupSizeControl &&
        a.sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) {
        info->least_subgroup = a.sizes.minSubgroupSize;
        info->most_subgroup = a.sizes.maxSubgroupSize;
        info->most_subgroups = a.sizes.maxComputeWorkgroupSubgroups;
        info->full_subgroups = a.size_control.computeFullSubgroups;
    }
    info->int8 = a.f12.shaderInt8;
    info->int16 = a.features.features.shaderInt16;
    info->float16 = a.f12.shaderFloat16;
    info->float64 = a.features.features.shaderFloat64;
    info->storage8 = a.f12.storageBuffer8BitAccess;
    info->storage16 = a.f11.storageBuffer16BitAccess;
    info->buffer_atomics64 = a.f12.shaderBufferInt64Atomics;
    info->shared_atomics64 = a.f12.shaderSharedInt64Atomics;
    info->memory_model = a.f12.vulkanMemoryModel;
    info->memory_model_device = a.f12.vulkanMemoryModelDeviceScope;
    info->subgroup_extended = a.f12.shaderSubgroupExtendedTypes;
    look_at_floats(info, &a.p12);
    info->missing = !a.f12.bufferDeviceAddress         ? "the feature bufferDeviceAddress"
                    : !a.f12.timelineSemaphore         ? "the feature timelineSemaphore"
                    : !a.features.features.shaderInt64 ? "the feature shaderInt64"
                                                       : choose_queue(vulkan, info);
}

static int rank_of(const vulkan_info *info) {
    int kind = info->type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU     ? 0
               : info->type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ? 1
               : info->type == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU    ? 2
               : info->type == VK_PHYSICAL_DEVICE_TYPE_CPU            ? 4
                                                                      : 3;
    return info->missing ? kind + 8 : kind; /* what cannot be used does not move the others */
}

static int compare(const void *left, const void *right) {
    const vulkan_info *a = left, *b = right;
    int by_rank = rank_of(a) - rank_of(b);
    return by_rank ? by_rank : strcmp(a->identity, b->identity);
}

static const char *const variables[] = {
    "VYRE_VULKAN",         "VK_ICD_FILENAMES",         "VK_DRIVER_FILES",
    "VK_ADD_DRIVER_FILES", "LD_LIBRARY_PATH",          "XDG_DATA_DIRS",
    "XDG_DATA_HOME",       "VK_LOADER_DRIVERS_SELECT", NULL};
static const char *const paths[] = {"/etc/ld.so.cache",
                                    "/usr/share/vulkan/icd.d",
                                    "/usr/local/share/vulkan/icd.d",
                                    "/etc/vulkan/icd.d",
                                    "/dev/dri",
                                    "/dev/nvidiactl",
                                    NULL};
static const vyre_finder finder = {"vulkan", variables, paths};

bool vulkan_physical_known_software(void) {
    return vyre_recall_software(&finder);
}

/* All of them in order; free the list with vyre_free. */
static vyre_status list(const vulkan_instance **out_instance, vulkan_info **out_infos,
                        uint32_t *out_count) {
    const vulkan_instance *vulkan;
    uint32_t count = 0;
    *out_infos = NULL;
    *out_count = 0;
    VYRE_TRY(vulkan_loader_open(&vulkan));
    *out_instance = vulkan;
    VkResult result = vulkan->vkEnumeratePhysicalDevices(vulkan->handle, &count, NULL);
    VkPhysicalDevice *handles = vyre_alloc_zeroed(count, sizeof *handles);
    vulkan_info *infos = vyre_alloc_zeroed(count, sizeof *infos);
    vyre_status status =
        handles && infos ? VYRE_OK : vyre_no_memory("for the list of Vulkan devices");
    if (!status && !result && count) {
        result = vulkan->vkEnumeratePhysicalDevices(vulkan->handle, &count, handles);
    }
    if (!status && (result < 0 || !count)) {
        char text[VULKAN_ERROR_TEXT_BYTES] = "they report 0 devices";
        if (result < 0) {
            vulkan_error_text(result, text);
        }
        status = vyre_status_make(VYRE_STATUS_UNAVAILABLE,
                                  "install a Vulkan driver: mesa-vulkan-drivers for AMD and Intel "
                                  "GPUs and for a software device, or NVIDIA's; or make the device "
                                  "visible to this process (VK_ICD_FILENAMES, /dev/dri)",
                                  "backend `vulkan` needs a Vulkan driver, and the loader's "
                                  "drivers find no device: %s",
                                  text);
    }
    if (!status) {
        for (uint32_t i = 0; i < count; i++) {
            look_at(vulkan, handles[i], &infos[i]);
        }
        qsort(infos, count, sizeof *infos, compare);
        /* CPUs come last, but for what cannot be used. */
        vyre_remember_software(&finder, infos[0].type == VK_PHYSICAL_DEVICE_TYPE_CPU);
        *out_count = count;
        *out_infos = infos;
        infos = NULL;
    }
    vyre_free(handles);
    vyre_free(infos);
    return status;
}

uint32_t vulkan_physical_count(void) {
    const vulkan_instance *vulkan;
    vulkan_info *infos;
    uint32_t count;
    vyre_status status = list(&vulkan, &infos, &count);
    vyre_status_free(status);
    vyre_free(infos);
    return count;
}

vyre_status vulkan_physical_find(uint32_t index, const vulkan_instance **out_instance,
                                 vulkan_info *out_info) {
    vulkan_info *infos;
    uint32_t count;
    VYRE_TRY(list(out_instance, &infos, &count));
    vyre_status status = VYRE_OK;
    if (index >= count) {
        status = vyre_status_make(VYRE_STATUS_NOT_FOUND, "use a lower number; devices count from 0",
                                  "backend `vulkan` has %u device%s, and there is no device %u",
                                  count, count == 1 ? "" : "s", index);
    } else {
        *out_info = infos[index];
        if (out_info->missing) {
            status = vyre_status_make(
                VYRE_STATUS_UNAVAILABLE, "update its driver, or use another device",
                "%s cannot run backend `vulkan`: it lacks %s", out_info->name, out_info->missing);
        }
    }
    vyre_free(infos);
    return status;
}

vyre_status vulkan_physical_find_again(vulkan_info *info) {
    const vulkan_instance *vulkan;
    vulkan_info *infos;
    uint32_t count;
    bool found = false;
    VYRE_TRY(list(&vulkan, &infos, &count));
    for (uint32_t i = 0; i < count && !found; i++) {
        found = !strcmp(infos[i].identity, info->identity) && !infos[i].missing;
        if (found) {
            *info = infos[i];
        }
    }
    vyre_free(infos);
    return found ? VYRE_OK
                 : vyre_status_make(VYRE_STATUS_DEVICE_LOST, "restart the process",
                                    "%s is no longer there", info->name);
}
