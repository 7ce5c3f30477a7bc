#include "backend/vulkan/batch.h"

#include <string.h>

#include "backend/vulkan/executable.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"

enum { MOST_FLYING = 64, FIRST_FRAMES = 16384, FRAME_ALIGNMENT = 64 };

/* Between looks at a deadline, a cancellation, or a loss that another thread saw. */
static const uint64_t slice_ns = 20000000, long_slice_ns = 500000000;
/* How long kernels may take to obey. A software device compiles them when they run first. */
static uint64_t grace_of(const vulkan_device *device) {
    uint64_t seconds = device->info.type == VK_PHYSICAL_DEVICE_TYPE_CPU ? 300 : 20;
    return vulkan_drill.grace_ns ? vulkan_drill.grace_ns : seconds * 1000000000;
}

static void free_batch(vulkan_batch *batch) {
    vulkan_device *device = batch->device;
    const vulkan_table *vk = &device->vk;
    if (!atomic_load(&device->is_abandoned)) {
        vk->vkDestroyCommandPool(device->handle, batch->pool, NULL);
        vk->vkDestroyQueryPool(device->handle, batch->times, NULL);
    }
    vulkan_memory_give(device, batch->words);
    vulkan_memory_give(device, batch->frames);
    vyre_free(batch);
}

static vyre_status make_batch(vulkan_device *device, vulkan_batch **out_batch) {
    const vulkan_table *vk = &device->vk;
    vulkan_batch *batch = vyre_alloc_zeroed(1, sizeof *batch);
    *out_batch = NULL;
    if (!batch) {
        return vyre_no_memory("on the host for a row of commands");
    }
    batch->device = device;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = device->info.queue_family,
    };
    const VkQueryPoolCreateInfo times = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                         .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                         .queryCount = 2};
    VkResult result = vk->vkCreateCommandPool(device->handle, &pool, NULL, &batch->pool);
    if (!result && device->info.timestamp_bits) {
        result = vk->vkCreateQueryPool(device->handle, &times, NULL, &batch->times);
    }
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = batch->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    result =
        result ? result : vk->vkAllocateCommandBuffers(device->handle, &commands, &batch->commands);
    vyre_status status = vulkan_check(device, result, "making a command buffer");
    status = status ? status
                    : vulkan_memory_take(device, VULKAN_FRAME, VULKAN_WORDS_BYTES, &batch->words);
    if (status) {
        free_batch(batch);
        return status;
    }
    memset(vulkan_block_mapped(batch->words), 0, VULKAN_WORDS_BYTES);
    *out_batch = batch;
    return VYRE_OK;
}

vyre_status vulkan_batch_take(vulkan_device *device, vulkan_batch **out_batch) {
    vulkan_batches_collect(device);
    pthread_mutex_lock(&device->lock);
    vulkan_batch *batch = device->free_batches;
    uint64_t oldest = device->flying_count >= MOST_FLYING ? device->first_flying->ticket : 0;
    if (batch && !oldest) {
        device->free_batches = batch->next;
    }
    pthread_mutex_unlock(&device->lock);
    if (oldest) {
        *out_batch = NULL;
        VYRE_TRY(vulkan_ticket_settle(device, oldest));
        return vulkan_batch_take(device, out_batch);
    }
    if (batch) {
        *out_batch = batch;
        return VYRE_OK;
    }
    return make_batch(device, out_batch);
}

static void give_list(vulkan_device *device, vulkan_block **list) {
    while (*list) {
        vulkan_block *next = (*list)->next;
        vulkan_memory_give(device, *list);
        *list = next;
    }
}

void vulkan_batch_clear(vulkan_batch *batch) {
    vulkan_executable *executable = batch->executable;
    give_list(batch->device, &batch->full);
    give_list(batch->device, &batch->left);
    batch->frame_bytes = 0;
    batch->is_recording = false;
    batch->executable = NULL;
    vulkan_executable_release(executable);
}

void vulkan_batch_give(vulkan_batch *batch) {
    if (!batch) {
        return;
    }
    vulkan_device *device = batch->device;
    vulkan_batch_clear(batch);
    vulkan_batch_stop(batch, 0);
    pthread_mutex_lock(&device->lock);
    batch->next = device->free_batches;
    device->free_batches = batch;
    pthread_mutex_unlock(&device->lock);
}

void vulkan_batch_let_go(vulkan_batch *batch) {
    vulkan_device *device = batch->device;
    pthread_mutex_lock(&device->lock);
    /* Two threads may come here in another order than they submitted. */
    vulkan_batch **at = &device->first_flying;
    if (device->last_flying && device->last_flying->ticket < batch->ticket) {
        at = &device->last_flying->next;
    }
    while (*at && (*at)->ticket < batch->ticket) {
        at = &(*at)->next;
    }
    batch->next = *at;
    *at = batch;
    if (!batch->next) {
        device->last_flying = batch;
    }
    device->flying_count++;
    pthread_mutex_unlock(&device->lock);
}

/* Remembers that a run gave up, for who waits for its ticket. In the device's lock. */
static void note_failure(vulkan_device *device, const vulkan_batch *batch) {
    if (!atomic_load(&device->is_lost) && vulkan_batch_gave_up(batch)) {
        device->failed[device->failed_count++ % VULKAN_MOST_FAILURES] = batch->ticket;
    }
}

bool vulkan_ticket_gave_up(vulkan_device *device, uint64_t ticket) {
    bool found = false;
    vulkan_batches_collect(device);
    pthread_mutex_lock(&device->lock);
    for (uint32_t i = 0; i < VULKAN_MOST_FAILURES && i < device->failed_count && !found; i++) {
        found = device->failed[i] == ticket;
    }
    pthread_mutex_unlock(&device->lock);
    return found;
}

void vulkan_batches_collect(vulkan_device *device) {
    for (;;) {
        pthread_mutex_lock(&device->lock);
        vulkan_batch *batch = device->first_flying;
        if (batch && !vulkan_ticket_is_done(device, batch->ticket)) {
            batch = NULL;
        }
        if (batch) {
            device->first_flying = batch->next;
            device->last_flying = device->first_flying ? device->last_flying : NULL;
            device->flying_count--;
            note_failure(device, batch);
        }
        pthread_mutex_unlock(&device->lock);
        if (!batch) {
            return;
        }
        vulkan_batch_give(batch);
    }
}

void vulkan_batches_close(vulkan_device *device) {
    while (device->first_flying) { /* nobody else is here any more */
        vulkan_batch *batch = device->first_flying;
        device->first_flying = batch->next;
        vulkan_batch_give(batch);
    }
    device->last_flying = NULL;
    device->flying_count = 0;
    while (device->free_batches) {
        vulkan_batch *next = device->free_batches->next;
        free_batch(device->free_batches);
        device->free_batches = next;
    }
}

static void barrier(vulkan_batch *batch, VkPipelineStageFlags before, VkPipelineStageFlags after,
                    VkAccessFlags reads) {
    const VkMemoryBarrier all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = reads,
    };
    batch->device->vk.vkCmdPipelineBarrier(batch->commands, before, after, 0, 1, &all, 0, NULL, 0,
                                           NULL);
}

enum {
    WORK = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
    ACCESS = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
             VK_ACCESS_TRANSFER_WRITE_BIT,
};

void vulkan_batch_barrier(vulkan_batch *batch) {
    barrier(batch, WORK, WORK, ACCESS);
}

void vulkan_batch_counted(vulkan_batch *batch) {
    barrier(batch, WORK, WORK | VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT,
            ACCESS | VK_ACCESS_INDIRECT_COMMAND_READ_BIT);
}

vyre_status vulkan_batch_begin(vulkan_batch *batch) {
    const vulkan_table *vk = &batch->device->vk;
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VkResult result = vk->vkResetCommandPool(batch->device->handle, batch->pool, 0);
    result = result ? result : vk->vkBeginCommandBuffer(batch->commands, &info);
    VYRE_TRY(vulkan_check(batch->device, result, "recording commands"));
    batch->is_recording = true;
    vulkan_batch_barrier(batch);
    return VYRE_OK;
}

vyre_status vulkan_batch_go_on(vulkan_batch *batch) {
    give_list(batch->device, &batch->full);
    batch->frame_bytes = 0;
    return vulkan_batch_begin(batch);
}

vyre_status vulkan_batch_frame(vulkan_batch *batch, uint64_t bytes, void **out_frame,
                               uint64_t *out_address) {
    uint64_t rounded = (bytes + FRAME_ALIGNMENT - 1) / FRAME_ALIGNMENT * FRAME_ALIGNMENT;
    vulkan_block *frames = batch->frames;
    if (!frames || frames->size - batch->frame_bytes < rounded) {
        uint64_t size = frames ? frames->size * 2 : FIRST_FRAMES;
        size = size < rounded ? rounded : size > 1 << 20 ? rounded + (1 << 20) : size;
        vulkan_block *made;
        VYRE_TRY(vulkan_memory_take(batch->device, VULKAN_FRAME, size, &made));
        if (frames) {
            frames->next = batch->full;
            batch->full = frames;
        }
        batch->frames = frames = made;
        batch->frame_bytes = 0;
    }
    *out_frame = vulkan_block_mapped(frames) + batch->frame_bytes;
    *out_address = vulkan_block_address(frames) + batch->frame_bytes;
    batch->frame_bytes += rounded;
    return VYRE_OK;
}

vyre_status vulkan_batch_submit(vulkan_batch *batch) {
    vulkan_device *device = batch->device;
    const vulkan_table *vk = &device->vk;
    barrier(batch, WORK, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    VkResult result = vk->vkEndCommandBuffer(batch->commands);
    batch->is_recording = false;
    VYRE_TRY(vulkan_check(device, result, "recording commands"));
    VYRE_TRY(vulkan_check_lost(device));
    pthread_mutex_lock(&device->submitting);
    uint64_t ticket = atomic_load(&device->submitted) + 1;
    const VkTimelineSemaphoreSubmitInfo value = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &ticket,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &value,
        .commandBufferCount = 1,
        .pCommandBuffers = &batch->commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &device->timeline,
    };
    result = vulkan_drill.submit ? vulkan_drill.submit() : VK_SUCCESS;
    result = result ? result : vk->vkQueueSubmit(device->queue, 1, &info, VK_NULL_HANDLE);
    if (!result) {
        batch->ticket = ticket;
        atomic_store(&device->submitted, ticket);
    }
    pthread_mutex_unlock(&device->submitting);
    return vulkan_check(device, result, "submitting work");
}

/* Remembers that a ticket is over. */
static void note_done(vulkan_device *device, uint64_t ticket) {
    unsigned long long before = atomic_load(&device->completed);
    while (before < ticket && !atomic_compare_exchange_weak(&device->completed, &before, ticket)) {
    }
}

static VkResult wait_for(vulkan_device *device, uint64_t ticket, uint64_t ns) {
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &device->timeline,
        .pValues = &ticket,
    };
    VkResult result = device->vk.vkWaitSemaphores(device->handle, &info, ns);
    if (!result) {
        note_done(device, ticket);
    }
    return result;
}

bool vulkan_ticket_is_done(vulkan_device *device, uint64_t ticket) {
    uint64_t value = 0;
    if (ticket <= atomic_load(&device->completed) || atomic_load(&device->is_lost)) {
        return true;
    }
    if (device->vk.vkGetSemaphoreCounterValue(device->handle, device->timeline, &value)) {
        return true; /* the wait says why */
    }
    note_done(device, value);
    return ticket <= value;
}

vyre_status vulkan_ticket_settle(vulkan_device *device, uint64_t ticket) {
    VkResult result = VK_TIMEOUT;
    while (result == VK_TIMEOUT && ticket > atomic_load(&device->completed)) {
        VYRE_TRY(vulkan_check_lost(device));
        result = wait_for(device, ticket, long_slice_ns);
    }
    return ticket <= atomic_load(&device->completed)
               ? VYRE_OK
               : vulkan_check(device, result, "waiting for work");
}

void vulkan_batch_stop(vulkan_batch *batch, unsigned stop) {
    uint8_t *words = vulkan_block_mapped(batch->words);
    atomic_store((atomic_uint *)(void *)(words + VULKAN_STOP_AT), stop);
}

bool vulkan_batch_gave_up(const vulkan_batch *batch) {
    uint8_t *words = vulkan_block_mapped(batch->words);
    return atomic_load((atomic_uint *)(void *)(words + VULKAN_STOP_AT)) == SPIRV_STOP_TURNS;
}

vyre_status vulkan_gave_up(const vulkan_device *device, const char *what) {
    return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                            "use another device, or shorter loops in more phases",
                            "the driver of %s ends loops after %u turns in an invocation, and %s "
                            "needs more",
                            device->info.name, device->target.most_turns, what);
}

static vyre_status abandon(vulkan_device *device) {
    atomic_store(&device->is_abandoned, true);
    atomic_store(&device->is_lost, true);
    return vyre_status_make(
        VYRE_STATUS_DEVICE_LOST, "call vyre_device_recover, or restart the process",
        "a kernel on %s does not end, although it was told to", device->info.name);
}

vyre_status vulkan_batch_wait(vulkan_batch *batch, uint64_t deadline_ns, const atomic_uint *cancel,
                              unsigned *out_stop) {
    vulkan_device *device = batch->device;
    uint64_t give_up_ns = 0;
    uint64_t grace = grace_of(device);
    VkResult result = VK_TIMEOUT;
    *out_stop = 0;
    while (result == VK_TIMEOUT && batch->ticket > atomic_load(&device->completed)) {
        VYRE_TRY(vulkan_check_lost(device));
        uint64_t now = deadline_ns || cancel || give_up_ns ? vyre_now_ns() : 0;
        /* Work in front of it may take its time: its kernels were told nothing. */
        if (give_up_ns && !vulkan_ticket_is_done(device, batch->ticket - 1)) {
            give_up_ns = now + grace;
        } else if (give_up_ns && now >= give_up_ns) {
            return abandon(device);
        }
        if (!give_up_ns && cancel && atomic_load(cancel)) {
            *out_stop = VULKAN_STOP_CANCEL;
        } else if (!give_up_ns && deadline_ns && now >= deadline_ns) {
            *out_stop = VULKAN_STOP_TIMEOUT;
        }
        if (*out_stop && !give_up_ns) {
            vulkan_batch_stop(batch, *out_stop);
            give_up_ns = now + grace;
        }
        uint64_t ns = cancel || give_up_ns ? slice_ns : long_slice_ns;
        if (deadline_ns > now && deadline_ns - now < ns) {
            ns = deadline_ns - now;
        }
        result = wait_for(device, batch->ticket, ns);
    }
    return batch->ticket <= atomic_load(&device->completed)
               ? VYRE_OK
               : vulkan_check(device, result, "waiting for a run");
}

void vulkan_put_pipeline(vulkan_batch *batch, VkPipeline pipeline, uint64_t address) {
    const vulkan_table *vk = &batch->device->vk;
    vk->vkCmdBindPipeline(batch->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vk->vkCmdPushConstants(batch->commands, batch->device->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           sizeof address, &address);
}

void vulkan_put_copy(vulkan_batch *batch, vulkan_block *to, uint64_t to_offset,
                     const vulkan_block *from, uint64_t from_offset, uint64_t bytes) {
    const VkBufferCopy region = {from->offset + from_offset, to->offset + to_offset, bytes};
    if (bytes) {
        batch->device->vk.vkCmdCopyBuffer(batch->commands, from->chunk->buffer, to->chunk->buffer,
                                          1, &region);
    }
}

/* Vulkan fills words; bytes in front of the first and behind the last are copied. */
void vulkan_put_zeros(vulkan_batch *batch, vulkan_block *to, uint64_t offset, uint64_t bytes) {
    uint64_t begin = to->offset + offset, end = begin + bytes;
    uint64_t first = (begin + 3) / 4 * 4, last = end / 4 * 4;
    if (first < last) {
        batch->device->vk.vkCmdFillBuffer(batch->commands, to->chunk->buffer, first, last - first,
                                          0);
    } else {
        first = last = end;
    }
    vulkan_put_copy(batch, to, offset, batch->words, VULKAN_ZEROS_AT, first - begin);
    vulkan_put_copy(batch, to, offset + (last - begin), batch->words, VULKAN_ZEROS_AT, end - last);
}
