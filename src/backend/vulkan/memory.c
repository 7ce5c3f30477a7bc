#include "backend/vulkan/memory.h"

#include <string.h>

#include "backend/vulkan/device.h"
#include "base/alloc.h"
#include "base/status.h"

enum { LEAST_BITS = 8, SLAB_BYTES = 2 << 20 };
static const uint64_t largest_small = UINT64_C(1) << (LEAST_BITS + VULKAN_SMALL_BUCKETS - 1);
static const VkBufferUsageFlags usage =
    VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
    VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

void vulkan_memory_init(vulkan_memory *memory) {
    memset(memory, 0, sizeof *memory);
    pthread_mutex_init(&memory->lock, NULL);
}

void vulkan_memory_deinit(vulkan_memory *memory) {
    pthread_mutex_destroy(&memory->lock);
}

/* The number of the highest bit. */
static uint32_t bits_of(uint64_t size) {
    return 63 - (uint32_t)__builtin_clzll(size | 1);
}

/* Small blocks are powers of two. Others have three bits behind the first, so that at most an
 * eighth is lost and freed ones fit again. */
static uint64_t round_up(uint64_t size) {
    size = size < UINT64_C(1) << LEAST_BITS ? UINT64_C(1) << LEAST_BITS : size;
    uint32_t shift = bits_of(size - 1);
    if (size <= largest_small) {
        return UINT64_C(1) << (shift + 1);
    }
    uint64_t step = UINT64_C(1) << (shift - 3);
    return (size + step - 1) / step * step;
}

static void free_chunk(vulkan_device *device, vulkan_chunk *chunk) {
    if (!atomic_load(&device->is_abandoned)) {
        device->vk.vkDestroyBuffer(device->handle, chunk->buffer, NULL);
        device->vk.vkFreeMemory(device->handle, chunk->memory, NULL);
    }
    vyre_free(chunk);
}

/* `imported` is memory of the host, or NULL. */
static VkResult make_buffer(vulkan_device *device, uint32_t type, const void *imported,
                            vulkan_chunk *chunk) {
    const vulkan_table *vk = &device->vk;
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
    };
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = imported ? &external : NULL,
        .size = chunk->size,
        .usage = usage,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    VkResult result = vk->vkCreateBuffer(device->handle, &info, NULL, &chunk->buffer);
    if (result) {
        return result;
    }
    VkMemoryRequirements needs;
    vk->vkGetBufferMemoryRequirements(device->handle, chunk->buffer, &needs);
    const VkImportMemoryHostPointerInfoEXT pointer = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
        .pHostPointer = (void *)(uintptr_t)imported,
    };
    const VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .pNext = imported ? &pointer : NULL,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    const VkMemoryAllocateInfo allocation = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = imported ? chunk->size : needs.size,
        .memoryTypeIndex = type,
    };
    bool fits =
        needs.memoryTypeBits & UINT32_C(1) << type && (!imported || needs.size <= chunk->size);
    result = fits ? vk->vkAllocateMemory(device->handle, &allocation, NULL, &chunk->memory)
                  : VK_ERROR_FEATURE_NOT_PRESENT;
    if (!result) {
        result = vk->vkBindBufferMemory(device->handle, chunk->buffer, chunk->memory, 0);
        if (result) {
            vk->vkFreeMemory(device->handle, chunk->memory, NULL);
        }
    }
    if (result) {
        vk->vkDestroyBuffer(device->handle, chunk->buffer, NULL);
        return result;
    }
    const VkBufferDeviceAddressInfo asked = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                             .buffer = chunk->buffer};
    chunk->address = vk->vkGetBufferDeviceAddress(device->handle, &asked);
    return VK_SUCCESS;
}

static bool is_mapped(const vulkan_device *device, vulkan_kind kind) {
    return kind != VULKAN_DEVICE || device->memory.is_unified;
}

static vyre_status no_memory(vulkan_device *device, uint64_t size) {
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY,
                            "free resident buffers, stop other programs on the device, or use "
                            "smaller buffers",
                            "no memory on %s for %llu bytes; it has %llu in all", device->info.name,
                            (unsigned long long)size,
                            (unsigned long long)device->info.memory_bytes);
}

static vyre_status make_chunk(vulkan_device *device, vulkan_kind kind, uint64_t size,
                              vulkan_chunk **out_chunk) {
    vulkan_chunk *chunk = vyre_alloc_zeroed(1, sizeof *chunk);
    *out_chunk = NULL;
    if (!chunk) {
        return vyre_no_memory("on the host to track device memory");
    }
    chunk->size = size;
    uint32_t type = device->memory.types[kind];
    VkResult result = size > device->info.most_buffer_bytes + SLAB_BYTES
                          ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                          : make_buffer(device, type, NULL, chunk);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
        result == VK_ERROR_TOO_MANY_OBJECTS) {
        vulkan_memory_trim(device);
        result = size > device->info.most_buffer_bytes + SLAB_BYTES
                     ? result
                     : make_buffer(device, type, NULL, chunk);
    }
    if (!result && is_mapped(device, kind)) {
        result = device->vk.vkMapMemory(device->handle, chunk->memory, 0, VK_WHOLE_SIZE, 0,
                                        (void **)&chunk->mapped);
        if (result) {
            device->vk.vkDestroyBuffer(device->handle, chunk->buffer, NULL);
            device->vk.vkFreeMemory(device->handle, chunk->memory, NULL);
        }
    }
    if (result) {
        vyre_free(chunk);
        return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
                       result == VK_ERROR_TOO_MANY_OBJECTS
                   ? no_memory(device, size)
                   : vulkan_check(device, result, "allocating %llu bytes",
                                  (unsigned long long)size);
    }
    *out_chunk = chunk;
    return VYRE_OK;
}

static uint32_t small_bucket(uint64_t size) {
    return bits_of(size) - LEAST_BITS;
}

static uint32_t bucket_of(uint64_t size) {
    uint32_t bucket = bits_of(size);
    return bucket < VULKAN_BUCKETS ? bucket : VULKAN_BUCKETS - 1;
}

/* Cuts a new slab into blocks of a size. The blocks that there is no memory for are left out. */
static vyre_status cut_slab(vulkan_device *device, uint64_t size) {
    vulkan_memory *memory = &device->memory;
    vulkan_chunk *slab;
    VYRE_TRY(make_chunk(device, VULKAN_DEVICE, SLAB_BYTES, &slab));
    uint32_t most = (uint32_t)(SLAB_BYTES / size), count = 0;
    pthread_mutex_lock(&memory->lock);
    slab->next = memory->slabs;
    memory->slabs = slab;
    for (; count < most; count++) {
        vulkan_block *block = vyre_alloc(sizeof *block);
        if (!block) {
            break;
        }
        vulkan_block **list = &memory->small[small_bucket(size)];
        *block = (vulkan_block){.chunk = slab,
                                .offset = (most - 1 - count) * size,
                                .size = size,
                                .is_small = true,
                                .next = *list};
        *list = block;
    }
    pthread_mutex_unlock(&memory->lock);
    return count ? VYRE_OK : vyre_no_memory("on the host to track device memory");
}

static vyre_status take_small(vulkan_device *device, uint64_t size, vulkan_block **out_block) {
    vulkan_memory *memory = &device->memory;
    vulkan_block **list = &memory->small[small_bucket(size)];
    for (;;) {
        pthread_mutex_lock(&memory->lock);
        vulkan_block *block = *list;
        if (block) {
            *list = block->next;
            memory->used_blocks++;
        }
        pthread_mutex_unlock(&memory->lock);
        if (block) {
            *out_block = block;
            return VYRE_OK;
        }
        VYRE_TRY(cut_slab(device, size));
    }
}

static vulkan_block *find_kept(vulkan_memory *memory, vulkan_kind kind, uint64_t size) {
    vulkan_block **at = &memory->kept[kind][bucket_of(size)];
    while (*at && (*at)->size != size) {
        at = &(*at)->next;
    }
    vulkan_block *found = *at;
    if (found) {
        *at = found->next;
        memory->kept_bytes -= size;
        memory->used_blocks++;
    }
    return found;
}

vyre_status vulkan_memory_take(vulkan_device *device, vulkan_kind kind, uint64_t size,
                               vulkan_block **out_block) {
    vulkan_memory *memory = &device->memory;
    *out_block = NULL;
    if (size > UINT64_MAX / 2) {
        return no_memory(device, size);
    }
    uint64_t rounded = round_up(size);
    if (kind == VULKAN_DEVICE && rounded <= largest_small) {
        return take_small(device, rounded, out_block);
    }
    pthread_mutex_lock(&memory->lock);
    *out_block = find_kept(memory, kind, rounded);
    pthread_mutex_unlock(&memory->lock);
    if (*out_block) {
        return VYRE_OK;
    }
    vulkan_block *made = vyre_alloc_zeroed(1, sizeof *made);
    if (!made) {
        return vyre_no_memory("on the host to track a block of device memory");
    }
    made->size = rounded;
    made->kind = (uint8_t)kind;
    /* What rounding adds must not make the largest buffer too large. */
    uint64_t asked = rounded > device->info.most_buffer_bytes ? (size + 3) / 4 * 4 : rounded;
    vyre_status status = make_chunk(device, kind, asked, &made->chunk);
    if (status) {
        vyre_free(made);
        return status;
    }
    pthread_mutex_lock(&memory->lock);
    memory->used_blocks++;
    pthread_mutex_unlock(&memory->lock);
    *out_block = made;
    return VYRE_OK;
}

void vulkan_memory_give(vulkan_device *device, vulkan_block *block) {
    if (!block) {
        return;
    }
    vulkan_memory *memory = &device->memory;
    bool keeps = false;
    pthread_mutex_lock(&memory->lock);
    memory->used_blocks--;
    if (block->is_small) {
        vulkan_block **list = &memory->small[small_bucket(block->size)];
        block->next = *list;
        *list = block;
        keeps = true;
    } else if (!block->is_import && block->chunk->size == block->size &&
               block->size <= memory->most_kept_bytes - memory->kept_bytes) {
        vulkan_block **list = &memory->kept[block->kind][bucket_of(block->size)];
        block->next = *list;
        *list = block;
        memory->kept_bytes += block->size;
        keeps = true;
    }
    pthread_mutex_unlock(&memory->lock);
    if (!keeps) {
        free_chunk(device, block->chunk);
        vyre_free(block);
    }
}

void vulkan_memory_trim(vulkan_device *device) {
    vulkan_memory *memory = &device->memory;
    vulkan_block *all = NULL;
    pthread_mutex_lock(&memory->lock);
    for (uint32_t kind = 0; kind < VULKAN_KINDS; kind++) {
        for (uint32_t i = 0; i < VULKAN_BUCKETS; i++) {
            while (memory->kept[kind][i]) {
                vulkan_block *block = memory->kept[kind][i];
                memory->kept[kind][i] = block->next;
                block->next = all;
                all = block;
            }
        }
    }
    memory->kept_bytes = 0;
    pthread_mutex_unlock(&memory->lock);
    while (all) {
        vulkan_block *next = all->next;
        free_chunk(device, all->chunk);
        vyre_free(all);
        all = next;
    }
}

void vulkan_memory_close(vulkan_device *device) {
    vulkan_memory *memory = &device->memory;
    vulkan_memory_trim(device);
    for (uint32_t i = 0; i < VULKAN_SMALL_BUCKETS; i++) {
        while (memory->small[i]) {
            vulkan_block *next = memory->small[i]->next;
            vyre_free(memory->small[i]);
            memory->small[i] = next;
        }
    }
    while (memory->slabs) {
        vulkan_chunk *next = memory->slabs->next;
        free_chunk(device, memory->slabs);
        memory->slabs = next;
    }
}

/* The first type with all wanted properties; of these, one with what would be good to have. Some
 * types are not for arrays, or only for devices with a feature that is not asked for. */
static bool find_type(const VkPhysicalDeviceMemoryProperties *all, uint32_t allowed,
                      VkMemoryPropertyFlags wanted, VkMemoryPropertyFlags good,
                      uint32_t *out_type) {
    const VkMemoryPropertyFlags never =
        VK_MEMORY_PROPERTY_PROTECTED_BIT | VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT |
        VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;
    bool found = false;
    for (uint32_t i = 0; i < all->memoryTypeCount; i++) {
        VkMemoryPropertyFlags has = all->memoryTypes[i].propertyFlags;
        bool fits = allowed & UINT32_C(1) << i && (has & wanted) == wanted && !(has & never);
        if (fits && (!found || (has & good) == good)) {
            *out_type = i;
            if ((has & good) == good) {
                return true;
            }
            found = true;
        }
    }
    return found;
}

static vyre_status allowed_types(vulkan_device *device, uint32_t *out_types) {
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = UINT64_C(1) << LEAST_BITS,
                                     .usage = usage,
                                     .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    VkBuffer buffer;
    VkMemoryRequirements needs;
    VYRE_TRY(vulkan_check(device, device->vk.vkCreateBuffer(device->handle, &info, NULL, &buffer),
                          "making a buffer"));
    device->vk.vkGetBufferMemoryRequirements(device->handle, buffer, &needs);
    device->vk.vkDestroyBuffer(device->handle, buffer, NULL);
    *out_types = needs.memoryTypeBits;
    return VYRE_OK;
}

vyre_status vulkan_memory_open(vulkan_device *device) {
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    const VkMemoryPropertyFlags shared =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    vulkan_memory *memory = &device->memory;
    VkPhysicalDeviceMemoryProperties all;
    uint32_t allowed;
    VYRE_TRY(allowed_types(device, &allowed));
    device->instance->vkGetPhysicalDeviceMemoryProperties(device->info.handle, &all);
    bool has_own = device->info.type != VK_PHYSICAL_DEVICE_TYPE_CPU &&
                   device->info.type != VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    memory->is_unified =
        !has_own && !vulkan_drill.is_discrete &&
        find_type(&all, allowed, local | shared, cached, &memory->types[VULKAN_DEVICE]);
    bool found =
        memory->is_unified || find_type(&all, allowed, local, 0, &memory->types[VULKAN_DEVICE]);
    found = found && find_type(&all, allowed, shared, cached, &memory->types[VULKAN_HOST]) &&
            find_type(&all, allowed, shared, local, &memory->types[VULKAN_FRAME]);
    uint64_t eighth = device->info.memory_bytes / 8, most = UINT64_C(1) << 30;
    memory->most_kept_bytes = eighth < most ? eighth : most;
    return found ? VYRE_OK
                 : vyre_status_make(VYRE_STATUS_UNAVAILABLE, "update the driver",
                                    "%s has no memory that both it and the host can use",
                                    device->info.name);
}

/* Of the types that memory of the host may have: nothing here is flushed. */
static bool find_coherent(const vulkan_device *device, uint32_t allowed, uint32_t *out_type) {
    const VkMemoryPropertyFlags shared =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties all;
    device->instance->vkGetPhysicalDeviceMemoryProperties(device->info.handle, &all);
    return find_type(&all, allowed, shared, VK_MEMORY_PROPERTY_HOST_CACHED_BIT, out_type);
}

vyre_status vulkan_memory_import(vulkan_device *device, const void *memory, uint64_t size,
                                 vulkan_block **out_block) {
    uint64_t alignment = device->info.import_alignment;
    *out_block = NULL;
    if (!alignment || !device->vk.vkGetMemoryHostPointerPropertiesEXT ||
        !device->memory.is_unified) {
        return VYRE_OK;
    }
    uint64_t first = (uintptr_t)memory / alignment * alignment;
    uint64_t end = ((uintptr_t)memory + size + alignment - 1) / alignment * alignment;
    const void *pages = (const void *)(uintptr_t)first;
    VkMemoryHostPointerPropertiesEXT has = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    VkResult result = device->vk.vkGetMemoryHostPointerPropertiesEXT(
        device->handle, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, pages, &has);
    uint32_t type;
    if (result || end - first > device->info.most_buffer_bytes ||
        !find_coherent(device, has.memoryTypeBits, &type)) {
        return VYRE_OK;
    }
    vulkan_block *block = vyre_alloc_zeroed(1, sizeof *block);
    vulkan_chunk *chunk = vyre_alloc_zeroed(1, sizeof *chunk);
    if (!block || !chunk) {
        vyre_free(block);
        vyre_free(chunk);
        return vyre_no_memory("on the host to use memory in place");
    }
    chunk->size = end - first;
    result = make_buffer(device, type, pages, chunk);
    if (result) {
        vyre_free(block);
        vyre_free(chunk);
        return VYRE_OK;
    }
    chunk->mapped = (uint8_t *)(uintptr_t)first;
    *block = (vulkan_block){
        .chunk = chunk, .offset = (uintptr_t)memory - first, .size = size, .is_import = true};
    pthread_mutex_lock(&device->memory.lock);
    device->memory.used_blocks++;
    pthread_mutex_unlock(&device->memory.lock);
    *out_block = block;
    return VYRE_OK;
}
