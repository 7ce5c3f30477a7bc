/* Batches: a row of commands with all that it needs while it is on its way: a command buffer,
 * memory for the frames of kernels, a word by which the host stops it, and what is to be given back
 * when it is over.
 *
 *     VYRE_TRY(vulkan_batch_take(device, &batch));
 *     status = vulkan_batch_begin(batch);
 *     ... vkCmd... on batch->commands ...
 *     status = vulkan_batch_submit(batch, &ticket);
 *     status = vulkan_batch_wait(batch, 0, NULL, &stop);
 *     vulkan_batch_give(batch);
 *
 * Every batch begins with a barrier behind all that was submitted before. */
#ifndef VYRE_VULKAN_BATCH_H
#define VYRE_VULKAN_BATCH_H

#include "backend/vulkan/device.h"

/* Of `words`: where a kernel looks whether to stop, where an element is copied to for the host, and
 * zeros. */
enum {
    VULKAN_STOP_AT = 0,
    VULKAN_ELEMENT_AT = 64,
    VULKAN_ZEROS_AT = 128,
    VULKAN_WORDS_BYTES = 256
};

typedef struct vulkan_batch {
    vulkan_device *device;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkQueryPool times; /* begin and end */
    bool is_recording;
    uint64_t ticket; /* of what was submitted last; 0: nothing */

    vulkan_block *words;
    vulkan_block *frames;          /* the one that is being filled */
    uint64_t frame_bytes;          /* of it that are taken */
    vulkan_block *full;            /* frames before; given back when it is over */
    vulkan_block *left;            /* memory that it uses last; given back when it is over */
    vulkan_executable *executable; /* or NULL */
    struct vulkan_batch *next;
} vulkan_batch;

VYRE_MUST_USE vyre_status vulkan_batch_take(vulkan_device *device, vulkan_batch **out_batch);
/* Nothing of it is on its way. NULL is allowed. */
void vulkan_batch_give(vulkan_batch *batch);
/* The same for one that is still on its way: it comes back by itself. */
void vulkan_batch_let_go(vulkan_batch *batch);

VYRE_MUST_USE vyre_status vulkan_batch_begin(vulkan_batch *batch);
/* Goes on recording after a wait; frames of before are gone. */
VYRE_MUST_USE vyre_status vulkan_batch_go_on(vulkan_batch *batch);
/* All commands before are over, and their writes seen, when later ones start. */
void vulkan_batch_barrier(vulkan_batch *batch);
/* The same, and what they wrote can be the size of a dispatch. */
void vulkan_batch_counted(vulkan_batch *batch);
/* Memory that the host writes and kernels read, until the batch is over; aligned to 64 bytes. */
VYRE_MUST_USE vyre_status vulkan_batch_frame(vulkan_batch *batch, uint64_t bytes, void **out_frame,
                                             uint64_t *out_address);
VYRE_MUST_USE vyre_status vulkan_batch_submit(vulkan_batch *batch);
/* Frees what it holds of blocks, once it is over, and makes it ready for begin. */
void vulkan_batch_clear(vulkan_batch *batch);

/* Why a run is to stop. */
enum { VULKAN_STOP_TIMEOUT = 1, VULKAN_STOP_CANCEL = 2 };

/* Waits until what was submitted is over. Past the deadline (0: none), or when `cancel` (or NULL)
 * is set, its kernels are told to end, and the reason is given. If they do not, although it is
 * their turn, the device counts as lost. */
VYRE_MUST_USE vyre_status vulkan_batch_wait(vulkan_batch *batch, uint64_t deadline_ns,
                                            const atomic_uint *cancel, unsigned *out_stop);
void vulkan_batch_stop(vulkan_batch *batch, unsigned stop);
/* Whether kernels of it gave up, because the driver would have ended their loops. It is over. */
bool vulkan_batch_gave_up(const vulkan_batch *batch);

/* Tickets. Whether the work is over; never blocks. Waits for it. */
bool vulkan_ticket_is_done(vulkan_device *device, uint64_t ticket);
VYRE_MUST_USE vyre_status vulkan_ticket_settle(vulkan_device *device, uint64_t ticket);
/* Whether it is over and gave up, if it is one of the last thousand that did. */
bool vulkan_ticket_gave_up(vulkan_device *device, uint64_t ticket);
VYRE_MUST_USE vyre_status vulkan_gave_up(const vulkan_device *device, const char *what);

/* Takes back those that are over. */
void vulkan_batches_collect(vulkan_device *device);
/* Frees all; nothing is on its way, or can be ended. */
void vulkan_batches_close(vulkan_device *device);

/* Commands. Dispatches that follow run this pipeline, and its kernel gets an address. */
void vulkan_put_pipeline(vulkan_batch *batch, VkPipeline pipeline, uint64_t address);
/* Copies and fills take any number of bytes. */
void vulkan_put_copy(vulkan_batch *batch, vulkan_block *to, uint64_t to_offset,
                     const vulkan_block *from, uint64_t from_offset, uint64_t bytes);
void vulkan_put_zeros(vulkan_batch *batch, vulkan_block *to, uint64_t offset, uint64_t bytes);

#endif
