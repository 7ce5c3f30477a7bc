#include "backend/vulkan/transfer.h"

#include <string.h>

#include "base/status.h"

enum { PARTS = 2, PART_BYTES = 4 << 20 };

/* A part of a copy, on its way. */
typedef struct part {
    vulkan_batch *batch; /* NULL: not needed so far */
    vulkan_block *pages;
    uint64_t at, bytes; /* which of the copy it is */
} part;

typedef struct copy {
    vulkan_device *device;
    vulkan_block *block;
    uint64_t offset, bytes;
    uint8_t *host;
    bool is_upload;
    part parts[PARTS];
} copy;

/* Waits for a part, and takes what came with it. */
static vyre_status end_part(copy *c, part *p) {
    unsigned stop;
    if (!p->bytes) {
        return VYRE_OK;
    }
    vyre_status status = vulkan_batch_wait(p->batch, 0, NULL, &stop);
    if (!status && !c->is_upload) {
        memcpy(c->host + p->at, vulkan_block_mapped(p->pages), (size_t)p->bytes);
    }
    p->bytes = 0;
    return status;
}

static vyre_status begin_part(copy *c, part *p, uint64_t at, uint64_t bytes) {
    uint64_t room = c->bytes < PART_BYTES ? c->bytes : PART_BYTES;
    VYRE_TRY(p->pages ? VYRE_OK : vulkan_memory_take(c->device, VULKAN_HOST, room, &p->pages));
    VYRE_TRY(p->batch ? VYRE_OK : vulkan_batch_take(c->device, &p->batch));
    VYRE_TRY(vulkan_batch_begin(p->batch));
    if (c->is_upload) {
        memcpy(vulkan_block_mapped(p->pages), c->host + at, (size_t)bytes);
        vulkan_put_copy(p->batch, c->block, c->offset + at, p->pages, 0, bytes);
    } else {
        vulkan_put_copy(p->batch, p->pages, 0, c->block, c->offset + at, bytes);
    }
    VYRE_TRY(vulkan_batch_submit(p->batch));
    p->at = at;
    p->bytes = bytes;
    return VYRE_OK;
}

static vyre_status copy_staged(copy *c) {
    vyre_status status = VYRE_OK;
    uint32_t turn = 0;
    for (uint64_t at = 0; at < c->bytes && !status; at += PART_BYTES) {
        uint64_t left = c->bytes - at;
        part *p = &c->parts[turn++ % PARTS];
        status = end_part(c, p);
        status = status ? status : begin_part(c, p, at, left < PART_BYTES ? left : PART_BYTES);
    }
    for (uint32_t i = 0; i < PARTS; i++) {
        part *p = &c->parts[turn++ % PARTS];
        status = vyre_first_failure(status, end_part(c, p));
        vulkan_batch_give(p->batch);
        vulkan_memory_give(c->device, p->pages);
    }
    return status;
}

vyre_status vulkan_upload(vulkan_device *device, vulkan_block *to, uint64_t offset,
                          const void *from, uint64_t bytes) {
    uint8_t *mapped = vulkan_block_mapped(to);
    VYRE_TRY(vulkan_check_lost(device));
    if (mapped && bytes) {
        memcpy(mapped + offset, from, (size_t)bytes);
        return VYRE_OK;
    }
    copy c = {device, to, offset, bytes, (uint8_t *)(uintptr_t)from, true, {{0}}};
    return copy_staged(&c);
}

vyre_status vulkan_download(vulkan_device *device, void *to, const vulkan_block *from,
                            uint64_t offset, uint64_t bytes) {
    const uint8_t *mapped = vulkan_block_mapped(from);
    VYRE_TRY(vulkan_check_lost(device));
    if (mapped && bytes) {
        memcpy(to, mapped + offset, (size_t)bytes);
        return VYRE_OK;
    }
    copy c = {device, (vulkan_block *)(uintptr_t)from, offset, bytes, to, false, {{0}}};
    return copy_staged(&c);
}

/* Submits and waits. */
static vyre_status run_batch(vulkan_batch *batch) {
    unsigned stop;
    VYRE_TRY(vulkan_batch_submit(batch));
    return vulkan_batch_wait(batch, 0, NULL, &stop);
}

vyre_status vulkan_copy(vulkan_device *device, vulkan_block *to, uint64_t to_offset,
                        const vulkan_block *from, uint64_t from_offset, uint64_t bytes) {
    const uint8_t *source = vulkan_block_mapped(from);
    if (source && vulkan_block_mapped(to)) {
        return vulkan_upload(device, to, to_offset, source + from_offset, bytes);
    }
    vulkan_batch *batch;
    VYRE_TRY(vulkan_check_lost(device));
    VYRE_TRY(vulkan_batch_take(device, &batch));
    vyre_status status = vulkan_batch_begin(batch);
    if (!status) {
        vulkan_put_copy(batch, to, to_offset, from, from_offset, bytes);
        status = run_batch(batch);
    }
    vulkan_batch_give(batch);
    return status;
}

static void repeat(uint8_t *to, uint64_t bytes, const void *pattern, size_t size) {
    for (uint64_t at = 0; at < bytes; at += size) {
        memcpy(to + at, pattern, size);
    }
}

/* The pattern as a word, if it fits into one and the device can fill with it. */
static bool as_word(const vulkan_block *to, uint64_t offset, uint64_t bytes, const void *pattern,
                    size_t size, uint32_t *out_word) {
    if (size > 4 || (to->offset + offset) % 4 || bytes % 4) {
        return false;
    }
    repeat((uint8_t *)out_word, 4, pattern, size);
    return true;
}

vyre_status vulkan_fill(vulkan_device *device, vulkan_block *to, uint64_t offset, uint64_t bytes,
                        const void *pattern, size_t pattern_size) {
    uint8_t *mapped = vulkan_block_mapped(to);
    uint32_t word;
    VYRE_TRY(vulkan_check_lost(device));
    if (mapped || !bytes) {
        repeat(mapped ? mapped + offset : NULL, bytes, pattern, pattern_size);
        return VYRE_OK;
    }
    vulkan_batch *batch;
    vulkan_block *pages = NULL;
    VYRE_TRY(vulkan_batch_take(device, &batch));
    vyre_status status = vulkan_batch_begin(batch);
    if (!status && as_word(to, offset, bytes, pattern, pattern_size, &word)) {
        device->vk.vkCmdFillBuffer(batch->commands, to->chunk->buffer, to->offset + offset, bytes,
                                   word);
    } else if (!status) {
        uint64_t room = bytes < PART_BYTES ? bytes : PART_BYTES;
        status = vulkan_memory_take(device, VULKAN_HOST, room, &pages);
        if (!status) {
            repeat(vulkan_block_mapped(pages), room, pattern, pattern_size);
        }
        for (uint64_t at = 0; at < bytes && !status; at += room) {
            vulkan_put_copy(batch, to, offset + at, pages, 0,
                            bytes - at < room ? bytes - at : room);
        }
    }
    status = status ? status : run_batch(batch);
    vulkan_batch_give(batch);
    vulkan_memory_give(device, pages);
    return status;
}
