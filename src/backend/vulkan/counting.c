#include "backend/vulkan/counting.h"

#include <stddef.h>

#include "backend/vulkan/executable.h"
#include "base/status.h"

static vyre_status make(vulkan_device *device) {
    spirv_module module;
    VYRE_TRY(spirv_emit_count(&device->target, &module));
    VkResult result = vulkan_pipeline_make(device, VK_NULL_HANDLE, 0, &module, &device->counting);
    spirv_module_free(&module);
    return vulkan_check(device, result, "compiling the kernel that counts workgroups");
}

vyre_status vulkan_counting_make(vulkan_device *device) {
    pthread_mutex_lock(&device->lock);
    vyre_status status = device->counting ? VYRE_OK : make(device);
    pthread_mutex_unlock(&device->lock);
    return status;
}

void vulkan_counting_drop(vulkan_device *device) {
    if (device->counting && !atomic_load(&device->is_abandoned)) {
        device->vk.vkDestroyPipeline(device->handle, device->counting, NULL);
    }
    device->counting = VK_NULL_HANDLE;
}

void vulkan_put_counting(vulkan_batch *batch, uint64_t address) {
    vulkan_put_pipeline(batch, batch->device->counting, address);
    batch->device->vk.vkCmdDispatch(batch->commands, 1, 1, 1);
    vulkan_batch_counted(batch);
}

void vulkan_put_indirect(vulkan_batch *batch, uint64_t address) {
    const vulkan_block *frames = batch->frames;
    uint64_t offset = address - frames->chunk->address + offsetof(spirv_count, grid);
    batch->device->vk.vkCmdDispatchIndirect(batch->commands, frames->chunk->buffer, offset);
}
