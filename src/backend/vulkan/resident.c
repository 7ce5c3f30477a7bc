#include "backend/vulkan/resident.h"

#include "backend/vulkan/dispatch.h"
#include "backend/vulkan/transfer.h"
#include "base/alloc.h"
#include "base/status.h"

typedef struct vulkan_resident {
    vulkan_block *block;
    uint64_t offset, size;                   /* in the block */
    struct vulkan_resident *root;            /* the buffer that a range is a part of; else itself */
    struct vulkan_resident *next, *previous; /* in the device's list */
    /* Roots only, for all buffers that share their memory: */
    atomic_ullong used, written; /* tickets of the last run that has it, and that writes it */
} resident;

static resident *resident_of(uint64_t buffer) {
    return (resident *)(uintptr_t)buffer;
}

static vyre_status make(vulkan_device *device, vulkan_block *block, uint64_t offset, uint64_t size,
                        resident *root, uint64_t *out_buffer) {
    resident *made = vyre_alloc_zeroed(1, sizeof *made);
    if (!made) {
        return vyre_no_memory("on the host for a resident buffer");
    }
    made->block = block;
    made->offset = offset;
    made->size = size;
    made->root = root ? root : made;
    pthread_mutex_lock(&device->lock);
    made->next = device->residents;
    if (made->next) {
        made->next->previous = made;
    }
    device->residents = made;
    pthread_mutex_unlock(&device->lock);
    *out_buffer = (uintptr_t)made;
    return VYRE_OK;
}

static void drop(vulkan_device *device, resident *buffer) {
    pthread_mutex_lock(&device->lock);
    *(buffer->previous ? &buffer->previous->next : &device->residents) = buffer->next;
    if (buffer->next) {
        buffer->next->previous = buffer->previous;
    }
    pthread_mutex_unlock(&device->lock);
    if (buffer->root == buffer) {
        vulkan_memory_give(device, buffer->block);
    }
    vyre_free(buffer);
}

void vulkan_residents_drop(vulkan_device *device) {
    while (device->residents) { /* nobody else is here any more */
        drop(device, device->residents);
    }
}

vyre_status vulkan_resident_allocate(vulkan_device *device, size_t size, uint64_t *out_buffer) {
    static const uint64_t zero = 0;
    vulkan_block *block = NULL;
    *out_buffer = 0;
    VYRE_TRY(vulkan_check_lost(device));
    VYRE_TRY(vulkan_memory_take(device, VULKAN_DEVICE, size, &block));
    uint64_t rounded = ((uint64_t)size + 3) / 4 * 4;
    vyre_status status = vulkan_fill(device, block, 0, rounded, &zero, 4);
    status = status ? status : make(device, block, 0, size, NULL, out_buffer);
    if (status) {
        vulkan_memory_give(device, block);
    }
    return status;
}

vyre_status vulkan_resident_import(vulkan_device *device, const vyre_memory *memory,
                                   uint64_t *out_buffer) {
    vulkan_block *block = NULL;
    *out_buffer = 0;
    VYRE_TRY(vulkan_check_lost(device));
    if (memory->place == VYRE_MEMORY_HOST) {
        VYRE_TRY(memory->size
                     ? vulkan_memory_import(device, (const void *)(uintptr_t)memory->address,
                                            memory->size, &block)
                     : vulkan_memory_take(device, VULKAN_DEVICE, 0, &block));
    }
    if (!block) {
        return vyre_status_make(
            VYRE_STATUS_UNSUPPORTED, "allocate a resident buffer and upload the data",
            "%s cannot use the %zu bytes at address %#llx where they are: %s", device->info.name,
            memory->size, (unsigned long long)memory->address,
            memory->place != VYRE_MEMORY_HOST
                ? "it takes memory of the host"
                : "it does not share memory with the host, or its driver "
                  "lacks VK_EXT_external_memory_host");
    }
    vyre_status status = make(device, block, 0, memory->size, NULL, out_buffer);
    if (status) {
        vulkan_memory_give(device, block);
    }
    return status;
}

vyre_status vulkan_resident_range(vulkan_device *device, uint64_t buffer, size_t offset,
                                  size_t size, uint64_t *out_buffer) {
    resident *root = resident_of(buffer);
    *out_buffer = 0;
    return make(device, root->block, root->offset + offset, size, root, out_buffer);
}

vyre_memory vulkan_resident_memory(uint64_t buffer) {
    const resident *self = resident_of(buffer);
    uint8_t *mapped = vulkan_block_mapped(self->block);
    return (vyre_memory){
        .address = mapped ? (uintptr_t)mapped + self->offset
                          : vulkan_block_address(self->block) + self->offset,
        .size = (size_t)self->size,
        .place = mapped ? VYRE_MEMORY_HOST : VYRE_MEMORY_DEVICE,
    };
}

/* Who writes waits for all others, who reads for the one that wrote. */
static vyre_status settle(vulkan_device *device, uint64_t buffer, bool writes) {
    const resident *root = resident_of(buffer)->root;
    VYRE_TRY(vulkan_check_lost(device));
    return vulkan_ticket_settle(device, atomic_load(writes ? &root->used : &root->written));
}

vyre_status vulkan_resident_upload(vulkan_device *device, uint64_t buffer, size_t offset,
                                   const void *data, size_t size) {
    const resident *self = resident_of(buffer);
    VYRE_TRY(settle(device, buffer, true));
    return vulkan_upload(device, self->block, self->offset + offset, data, size);
}

vyre_status vulkan_resident_read(vulkan_device *device, uint64_t buffer, size_t offset, void *data,
                                 size_t size) {
    const resident *self = resident_of(buffer);
    VYRE_TRY(settle(device, buffer, false));
    return vulkan_download(device, data, self->block, self->offset + offset, size);
}

vyre_status vulkan_resident_copy(vulkan_device *device, uint64_t to, size_t to_offset,
                                 uint64_t from, size_t from_offset, size_t size) {
    const resident *target = resident_of(to), *source = resident_of(from);
    VYRE_TRY(settle(device, to, true));
    VYRE_TRY(settle(device, from, false));
    return vulkan_copy(device, target->block, target->offset + to_offset, source->block,
                       source->offset + from_offset, size);
}

vyre_status vulkan_resident_fill(vulkan_device *device, uint64_t buffer, size_t offset, size_t size,
                                 const void *pattern, size_t pattern_size) {
    const resident *self = resident_of(buffer);
    VYRE_TRY(settle(device, buffer, true));
    return vulkan_fill(device, self->block, self->offset + offset, size, pattern, pattern_size);
}

/* The host frees no buffer in use, but a run may be on its way still. */
vyre_status vulkan_resident_free(vulkan_device *device, uint64_t buffer) {
    resident *self = resident_of(buffer);
    if (!atomic_load(&device->is_lost)) {
        VYRE_TRY(vulkan_ticket_settle(device, atomic_load(&self->root->used)));
    }
    drop(device, self);
    return VYRE_OK;
}

static void places_of(const vyre_ir *ir, const uint64_t *buffers, vulkan_place *out_places) {
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t row = ir->args[arg].resource;
        if (row != VYRE_NONE) {
            const resident *buffer = resident_of(buffers[arg]);
            out_places[row] = (vulkan_place){buffer->block, buffer->offset};
        }
    }
}

static void raise_ticket(atomic_ullong *number, uint64_t ticket) {
    unsigned long long before = atomic_load(number);
    while (before < ticket && !atomic_compare_exchange_weak(number, &before, ticket)) {
    }
}

static void remember(const vyre_ir *ir, const uint64_t *buffers, uint64_t ticket) {
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t row = ir->args[arg].resource;
        if (row != VYRE_NONE) {
            resident *root = resident_of(buffers[arg])->root;
            raise_ticket(&root->used, ticket);
            if (ir->resources[row].access != VYRE_ACCESS_IN) {
                raise_ticket(&root->written, ticket);
            }
        }
    }
}

vyre_status vulkan_resident_run(vulkan_executable *executable, const vyre_call *call,
                                const uint64_t *buffers, vyre_timing *out_timing) {
    vulkan_place places[VYRE_LIMIT_ARGUMENTS];
    places_of(executable->ir, buffers, places);
    return vulkan_dispatch_on(executable, call, places, out_timing);
}

static vyre_status put(vulkan_run *run, const uint64_t *buffers) {
    vulkan_place places[VYRE_LIMIT_ARGUMENTS];
    const vyre_ir *ir = run->executable->ir;
    places_of(ir, buffers, places);
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t row = ir->args[arg].resource;
        if (row != VYRE_NONE) {
            vulkan_run_set_array(run, row, places[row].block, places[row].offset);
        }
    }
    VYRE_TRY(vulkan_run_put(run));
    return vulkan_run_submit(run);
}

vyre_status vulkan_resident_enqueue(vulkan_executable *executable, const vyre_call *call,
                                    const uint64_t *buffers, uint64_t *out_ticket) {
    vulkan_run run;
    vyre_timing timing;
    *out_ticket = 0;
    if (executable->has_while || call->config->timeout_ns) {
        return vulkan_resident_run(executable, call, buffers, &timing);
    }
    VYRE_TRY(vulkan_executable_variant(executable, call->config, &executable));
    VYRE_TRY(vulkan_run_init(&run, executable, call, NULL));
    vyre_status status = put(&run, buffers);
    if (!status) {
        *out_ticket = run.batch->ticket;
        remember(executable->ir, buffers, *out_ticket);
    }
    vulkan_run_deinit(&run, !status);
    return status;
}

vyre_status vulkan_ticket_wait(vulkan_device *device, uint64_t ticket) {
    if (ticket > atomic_load(&device->submitted)) {
        return vyre_status_make(
            VYRE_STATUS_INVALID_ARGUMENT, "wait for what vyre_pipeline_enqueue of this device gave",
            "%s never gave the ticket %llu", device->info.name, (unsigned long long)ticket);
    }
    if (ticket > atomic_load(&device->lost_from) && ticket <= atomic_load(&device->lost_end)) {
        return vyre_status_make(VYRE_STATUS_DEVICE_LOST, "enqueue it again",
                                "the run was lost together with the memory of %s",
                                device->info.name);
    }
    VYRE_TRY(vulkan_ticket_settle(device, ticket));
    return vulkan_ticket_gave_up(device, ticket) ? vulkan_gave_up(device, "the run") : VYRE_OK;
}
