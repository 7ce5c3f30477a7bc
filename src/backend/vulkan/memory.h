/* Memory: blocks that a device can reach, each a part of a buffer with a device address.
 *
 * There are three kinds. DEVICE is for arrays: a pool keeps what was freed, and small blocks are
 * parts of larger buffers, because drivers allow only a few thousand allocations. HOST is for
 * copies between host and device. FRAME is what the host writes for kernels to read. Where host and
 * device share memory, blocks of all kinds are mapped and can be used by both. */
#ifndef VYRE_VULKAN_MEMORY_H
#define VYRE_VULKAN_MEMORY_H

#include <pthread.h>
#include <stdbool.h>

#include <vyre/status.h>

#include "backend/vulkan/table.h"

struct vulkan_device;

typedef enum vulkan_kind { VULKAN_DEVICE, VULKAN_HOST, VULKAN_FRAME } vulkan_kind;
enum { VULKAN_KINDS = VULKAN_FRAME + 1, VULKAN_BUCKETS = 40, VULKAN_SMALL_BUCKETS = 11 };

/* A buffer and its memory. */
typedef struct vulkan_chunk {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint64_t address;
    uint8_t *mapped; /* NULL: the host cannot reach it */
    uint64_t size;
    struct vulkan_chunk *next; /* of the slabs of small blocks */
} vulkan_chunk;

typedef struct vulkan_block {
    vulkan_chunk *chunk;
    uint64_t offset, size; /* in the chunk */
    uint8_t kind;          /* vulkan_kind */
    bool is_small;         /* a part of a slab */
    bool is_import;        /* of the caller's memory */
    struct vulkan_block *next;
} vulkan_block;

static inline uint64_t vulkan_block_address(const vulkan_block *block) {
    return block->chunk->address + block->offset;
}
/* NULL where the host cannot reach it. */
static inline uint8_t *vulkan_block_mapped(const vulkan_block *block) {
    return block->chunk->mapped ? block->chunk->mapped + block->offset : NULL;
}

typedef struct vulkan_memory {
    pthread_mutex_t lock;
    vulkan_block *small[VULKAN_SMALL_BUCKETS]; /* free ones, by size */
    vulkan_chunk *slabs;
    vulkan_block *kept[VULKAN_KINDS][VULKAN_BUCKETS]; /* larger free ones, by size */
    uint64_t kept_bytes, most_kept_bytes;
    uint32_t types[VULKAN_KINDS]; /* of memory; found when the device is opened */
    bool is_unified;              /* the host reaches blocks of DEVICE, too */
    uint64_t used_blocks;         /* that somebody has */
} vulkan_memory;

void vulkan_memory_init(vulkan_memory *memory);
void vulkan_memory_deinit(vulkan_memory *memory);
/* Chooses the types of memory. */
VYRE_MUST_USE vyre_status vulkan_memory_open(struct vulkan_device *device);
/* Frees all that is kept, and slabs. Nothing is in use. */
void vulkan_memory_close(struct vulkan_device *device);

/* A block of at least that size, with anything in it, aligned to 256 bytes. */
VYRE_MUST_USE vyre_status vulkan_memory_take(struct vulkan_device *device, vulkan_kind kind,
                                             uint64_t size, vulkan_block **out_block);
/* No work uses it any more. NULL is allowed. */
void vulkan_memory_give(struct vulkan_device *device, vulkan_block *block);
/* Frees what is kept, for somebody who needs more. */
void vulkan_memory_trim(struct vulkan_device *device);

/* Makes a block of host memory, which the device then uses in place. NULL where it cannot, which is
 * no failure. `size` is not 0. */
VYRE_MUST_USE vyre_status vulkan_memory_import(struct vulkan_device *device, const void *memory,
                                               uint64_t size, vulkan_block **out_block);

#endif
