#include "backend/cuda/runtime/memory.h"

#include "backend/cuda/runtime/device.h"
#include "base/alloc.h"
#include "base/status.h"

static const uint64_t least_bytes = 256, huge_bytes = (uint64_t)1 << 30, page_bytes = 2 << 20;

void cuda_memory_init(cuda_memory *memory, uint64_t device_bytes) {
    *memory = (cuda_memory){.most_kept_bytes = device_bytes / 8};
    pthread_mutex_init(&memory->lock, NULL);
}

void cuda_memory_deinit(cuda_memory *memory) {
    pthread_mutex_destroy(&memory->lock);
}

static unsigned highest_bit(uint64_t size) {
    return 63 - (unsigned)__builtin_clzll(size);
}

uint64_t cuda_memory_round(uint64_t size) {
    if (size <= least_bytes) {
        return least_bytes;
    }
    uint64_t step = size >= huge_bytes ? page_bytes : (uint64_t)1 << (highest_bit(size - 1) - 3);
    step = step < least_bytes ? least_bytes : step;
    return size > UINT64_MAX - step ? size : (size + step - 1) / step * step;
}

/* Huge ones share buckets; their sizes are compared. */
static unsigned bucket_of(uint64_t rounded) {
    unsigned top = highest_bit(rounded);
    return top * 8 + (unsigned)(rounded >> (top - 3) & 7);
}

static cuda_block *find_kept(cuda_memory *memory, uint64_t rounded) {
    cuda_block **at = &memory->kept[bucket_of(rounded)];
    while (*at && (*at)->size != rounded) {
        at = &(*at)->next;
    }
    cuda_block *found = *at;
    if (found) {
        *at = found->next;
        memory->kept_bytes -= found->size;
    }
    return found;
}

static CUresult free_block(cuda_device *device, cuda_block *block) {
    CUresult result =
        atomic_load(&device->is_lost) ? CUDA_SUCCESS : device->cuda->cuMemFree(block->address);
    vyre_free(block);
    return result;
}

static vyre_status no_memory(cuda_device *device, uint64_t size) {
    size_t free = 0, total = 0;
    device->cuda->cuMemGetInfo(&free, &total);
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY,
                            "free resident buffers, stop other programs on the GPU, or use smaller "
                            "buffers",
                            "no memory on %s for %llu bytes: %zu of its %zu bytes are free",
                            device->info.name, (unsigned long long)size, free, total);
}

vyre_status cuda_memory_take(cuda_device *device, uint64_t size, cuda_block **out_block) {
    cuda_memory *memory = &device->memory;
    uint64_t rounded = cuda_memory_round(size);
    pthread_mutex_lock(&memory->lock);
    *out_block = find_kept(memory, rounded);
    bool has_kept = memory->kept_bytes;
    pthread_mutex_unlock(&memory->lock);
    if (*out_block) {
        return VYRE_OK;
    }
    cuda_block *made = vyre_alloc(sizeof *made);
    if (!made) {
        return vyre_no_memory("on the host to track a block of device memory");
    }
    *made = (cuda_block){.size = rounded};
    CUresult result = rounded > device->info.memory_bytes
                          ? CUDA_ERROR_OUT_OF_MEMORY
                          : device->cuda->cuMemAlloc(&made->address, (size_t)rounded);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && has_kept) {
        vyre_status status = cuda_memory_trim(device);
        if (status) {
            vyre_free(made);
            return status;
        }
        result = device->cuda->cuMemAlloc(&made->address, (size_t)rounded);
    }
    if (result) {
        vyre_free(made);
        return result == CUDA_ERROR_OUT_OF_MEMORY
                   ? no_memory(device, size)
                   : cuda_check(device, result, "allocating %llu bytes of device memory",
                                (unsigned long long)rounded);
    }
    pthread_mutex_lock(&memory->lock);
    memory->block_count++;
    memory->block_bytes += rounded;
    pthread_mutex_unlock(&memory->lock);
    *out_block = made;
    return VYRE_OK;
}

void cuda_memory_give(cuda_device *device, cuda_block *block) {
    if (!block) {
        return;
    }
    cuda_memory *memory = &device->memory;
    pthread_mutex_lock(&memory->lock);
    bool keep = block->size <= memory->most_kept_bytes - memory->kept_bytes;
    if (keep) {
        cuda_block **bucket = &memory->kept[bucket_of(block->size)];
        block->next = *bucket;
        *bucket = block;
        memory->kept_bytes += block->size;
    } else {
        memory->block_count--;
        memory->block_bytes -= block->size;
    }
    pthread_mutex_unlock(&memory->lock);
    if (!keep) {
        vyre_status_free(cuda_check(device, free_block(device, block), "freeing device memory"));
    }
}

vyre_status cuda_memory_trim(cuda_device *device) {
    cuda_memory *memory = &device->memory;
    cuda_block *all = NULL;
    pthread_mutex_lock(&memory->lock);
    for (size_t i = 0; i < CUDA_BUCKETS; i++) {
        while (memory->kept[i]) {
            cuda_block *block = memory->kept[i];
            memory->kept[i] = block->next;
            block->next = all;
            all = block;
            memory->block_count--;
            memory->block_bytes -= block->size;
        }
    }
    memory->kept_bytes = 0;
    pthread_mutex_unlock(&memory->lock);
    CUresult worst = CUDA_SUCCESS;
    while (all) {
        cuda_block *next = all->next;
        CUresult result = free_block(device, all);
        worst = result ? result : worst;
        all = next;
    }
    return cuda_check(device, worst, "freeing device memory");
}
