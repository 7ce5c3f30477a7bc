/* Buffers that stay on the device: handles, ranges, memory of the caller, and transfers. */
#include "runtime/resident.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "trace/trace.h"

vyre_resident_row *vyre_resident_find(const vyre_device *device, vyre_resident handle) {
    if (handle.owner != device->owner || handle.index >= device->row_count) {
        return NULL;
    }
    vyre_resident_row *row = &device->rows[handle.index];
    return row->live && row->generation == handle.generation ? row : NULL;
}

vyre_status vyre_resident_refuse(const vyre_device *device, vyre_resident handle) {
    bool foreign = handle.owner != device->owner;
    if (!handle.owner) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "pass a handle that vyre_resident_allocate returned; in a binding, "
                                "pass vyre_bind of it",
                                "an empty handle was passed to %s as a resident buffer",
                                device->name);
    }
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            foreign ? "use it with the device that allocated it"
                                    : "allocate it again; a handle is valid until its buffer is "
                                      "freed",
                            foreign ? "a resident buffer passed to %s belongs to another device"
                                    : "a resident buffer passed to %s was freed or lost",
                            device->name);
}

/* A row to use, taken from the free ones or new; NULL without memory. In the lock. */
static vyre_resident_row *take_row(vyre_device *device, uint32_t *out_index) {
    if (device->free_row == VYRE_NONE) {
        if (device->row_count == device->row_capacity) {
            uint32_t capacity = device->row_capacity ? device->row_capacity * 2 : 16;
            void *rows = vyre_resize(device->rows, capacity, sizeof *device->rows);
            if (!rows) {
                return NULL;
            }
            device->rows = rows;
            device->row_capacity = capacity;
        }
        *out_index = device->row_count++;
        device->rows[*out_index] = (vyre_resident_row){.generation = 1, .next = VYRE_NONE};
    } else {
        *out_index = device->free_row;
        device->free_row = device->rows[*out_index].next;
    }
    return &device->rows[*out_index];
}

/* Makes the buffer of `made` known, under a new handle; false without memory. In the lock. */
static bool add_row(vyre_device *device, const vyre_resident_row *made, vyre_resident *out) {
    uint32_t index;
    vyre_resident_row *row = take_row(device, &index);
    if (!row) {
        return false;
    }
    uint32_t generation = row->generation;
    *row = *made;
    row->generation = generation;
    row->next = VYRE_NONE;
    row->root = made->parent == VYRE_NONE ? index : device->rows[made->parent].root;
    row->live = row->is_kept = true;
    if (made->parent != VYRE_NONE) {
        device->rows[made->parent].children++;
    }
    *out = (vyre_resident){device->owner, index, generation};
    return true;
}

/* The buffer of a row is gone. Its `release` is called later, once no lock is held. */
static void drop_row(vyre_device *device, uint32_t index) {
    vyre_resident_row *row = &device->rows[index];
    row->live = row->is_kept = row->is_written = false;
    row->generation++;
    row->users = row->children = 0;
    uint32_t *list = row->release ? &device->releasing : &device->free_row;
    row->next = *list;
    *list = index;
}

void vyre_residents_release_owners(vyre_device *device) {
    pthread_mutex_lock(&device->residents);
    while (device->releasing != VYRE_NONE) {
        uint32_t index = device->releasing;
        vyre_resident_row *row = &device->rows[index];
        void (*release)(void *owner) = row->release;
        void *owner = row->owner;
        device->releasing = row->next;
        row->release = NULL;
        row->next = device->free_row;
        device->free_row = index;
        pthread_mutex_unlock(&device->residents);
        release(owner);
        pthread_mutex_lock(&device->residents);
    }
    pthread_mutex_unlock(&device->residents);
}

/* Sets the address of a buffer, if the backend reports it. */
static vyre_status ask_address(vyre_device *device, vyre_resident_row *row) {
    if (!vyre_backend_has_addresses(device->backend)) {
        return VYRE_OK;
    }
    vyre_memory memory = {0};
    VYRE_TRY(device->backend->slots->resident_address(device->backend, row->buffer, &memory));
    row->address = memory.address;
    row->place = memory.place;
    return VYRE_OK;
}

/* For a buffer that has no handle yet. */
static void give_buffer_up(vyre_device *device, uint64_t buffer) {
    vyre_status_free(device->backend->slots->resident_free(device->backend, buffer));
}

static vyre_status track(vyre_device *device, const vyre_resident_row *made, vyre_resident *out) {
    pthread_mutex_lock(&device->residents);
    bool added = add_row(device, made, out);
    pthread_mutex_unlock(&device->residents);
    return added ? VYRE_OK : vyre_no_memory("to track a resident buffer");
}

static vyre_status allocate(vyre_device *device, size_t size, vyre_resident *out_resident) {
    const vyre_backend *backend = device->backend;
    vyre_resident_row made = {.size = size, .parent = VYRE_NONE};
    VYRE_TRY(backend->slots->resident_allocate(backend, size, &made.buffer));
    vyre_status status = ask_address(device, &made);
    status = status ? status : track(device, &made, out_resident);
    if (status) {
        give_buffer_up(device, made.buffer);
    }
    return status;
}

vyre_status vyre_resident_allocate(vyre_device *device, size_t size, vyre_resident *out_resident) {
    *out_resident = (vyre_resident){0};
    VYRE_TRY(vyre_device_begin(device));
    vyre_status status = allocate(device, size, out_resident);
    vyre_device_end(device);
    return vyre_status_annotate(status, "allocating %zu bytes on %s", size, device->name);
}

/* Memory of the caller */

static vyre_status check_memory(const vyre_memory *memory) {
    const uint64_t *words = memory->reserved;
    bool is_known = memory->place == VYRE_MEMORY_HOST || memory->place == VYRE_MEMORY_DEVICE;
    if (!is_known || memory->flags & ~(uint32_t)VYRE_MEMORY_READ_ONLY || words[0] || words[1] ||
        words[2] || words[3]) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "zero the vyre_memory, then set address, size, place and flags; "
                                "the place is VYRE_MEMORY_HOST or VYRE_MEMORY_DEVICE",
                                "the memory to import has place %u and flags %u, or sets fields "
                                "that this version does not know",
                                memory->place, memory->flags);
    }
    if (memory->size && (!memory->address || memory->size > UINT64_MAX - memory->address)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "pass the address of its first byte",
                                "the memory to import has %zu bytes at address %llu", memory->size,
                                (unsigned long long)memory->address);
    }
    return VYRE_OK;
}

bool vyre_resident_overlap(const vyre_resident_row *one, const vyre_resident_row *other) {
    return one->root == other->root && one->size && other->size &&
           one->offset < other->offset + other->size && other->offset < one->offset + one->size;
}

/* Whether a new buffer overlaps a root; `out_whole`: whether it lies inside the root. */
static bool has_bytes_of(const vyre_resident_row *made, const vyre_resident_row *root,
                         bool *out_whole) {
    *out_whole =
        made->address >= root->address && made->address + made->size <= root->address + root->size;
    return root->is_kept && root->address && root->place == made->place && made->size &&
           root->size && made->address < root->address + root->size &&
           root->address < made->address + made->size;
}

/* Looks for the root that a new import lies in, and makes the import a range of it. Memory that
 * lies only partly in another buffer cannot be tracked, so both must be read-only. In the lock. */
static vyre_status find_parent(const vyre_device *device, vyre_resident_row *made) {
    for (uint32_t i = 0; i < device->row_count; i++) {
        const vyre_resident_row *root = &device->rows[i];
        bool whole;
        if (root->root != i || !has_bytes_of(made, root, &whole) ||
            (root->is_read_only && made->is_read_only)) {
            continue;
        }
        if (!whole || root->is_read_only) {
            return vyre_status_make(
                VYRE_STATUS_INVALID_ARGUMENT,
                "free the other buffer first, or import all of the memory once, writable, and take "
                "ranges of it",
                "the memory to import overlaps a resident buffer of %llu bytes that %s",
                (unsigned long long)root->size, whole ? "is read-only" : "does not contain it");
        }
        made->parent = i;
        made->offset = made->address - root->address;
    }
    return VYRE_OK;
}

/* Makes the backend's buffer for a range; 0 if the backend has no ranges. */
static vyre_status make_range(const vyre_device *device, vyre_resident_row *made) {
    const vyre_backend *backend = device->backend;
    made->buffer = 0;
    return vyre_backend_has_ranges(backend)
               ? backend->slots->resident_range(
                     backend, device->rows[device->rows[made->parent].root].buffer,
                     (size_t)made->offset, (size_t)made->size, &made->buffer)
               : VYRE_OK;
}

/* Makes a range of a buffer known. In the lock, so that nobody frees that buffer. */
static vyre_status track_range(vyre_device *device, vyre_resident_row *made, vyre_resident *out) {
    VYRE_TRY(make_range(device, made));
    if (add_row(device, made, out)) {
        return VYRE_OK;
    }
    if (made->buffer) {
        give_buffer_up(device, made->buffer);
    }
    return vyre_no_memory("to track a resident buffer");
}

/* Makes an import known: as a root, or as a range of the buffer that it lies in. */
static vyre_status track_import(vyre_device *device, vyre_resident_row *made, vyre_resident *out) {
    uint64_t imported = made->buffer;
    pthread_mutex_lock(&device->residents);
    vyre_status status = find_parent(device, made);
    bool is_range = made->parent != VYRE_NONE;
    if (!status && is_range) {
        status = track_range(device, made, out);
    } else if (!status && !add_row(device, made, out)) {
        status = vyre_no_memory("to track a resident buffer");
    }
    pthread_mutex_unlock(&device->residents);
    if (status || is_range) {
        give_buffer_up(device, imported);
    }
    return status;
}

vyre_status vyre_resident_import(vyre_device *device, const vyre_memory *memory,
                                 void (*release)(void *owner), void *owner,
                                 vyre_resident *out_resident) {
    *out_resident = (vyre_resident){0};
    VYRE_TRY(check_memory(memory));
    VYRE_TRY(vyre_device_begin(device));
    const vyre_backend *backend = device->backend;
    vyre_resident_row made = {.size = memory->size,
                              .address = memory->address,
                              .place = memory->place,
                              .is_read_only = memory->flags & VYRE_MEMORY_READ_ONLY,
                              .release = release,
                              .owner = owner,
                              .parent = VYRE_NONE};
    vyre_status status = backend->slots->resident_import(backend, memory, &made.buffer);
    if (!status) {
        status = ask_address(device, &made);
        if (status) {
            give_buffer_up(device, made.buffer);
        } else {
            status = track_import(device, &made, out_resident);
        }
    }
    vyre_device_end(device);
    return vyre_status_annotate(status, "importing %zu bytes on %s", memory->size, device->name);
}

static bool is_inside(const vyre_resident_row *row, size_t offset, size_t size) {
    return offset <= row->size && size <= row->size - offset;
}

static vyre_status refuse_part(const vyre_resident_row *row, const char *verb, const char *noun,
                               size_t offset, size_t size) {
    char fix[64];
    snprintf(fix, sizeof fix, "%s a range inside the buffer", verb);
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix,
                            "the %s of %zu bytes at offset %zu exceeds a resident buffer of %llu",
                            noun, size, offset, (unsigned long long)row->size);
}

vyre_status vyre_resident_range(vyre_device *device, vyre_resident resident, size_t offset,
                                size_t size, vyre_resident *out_resident) {
    *out_resident = (vyre_resident){0};
    VYRE_TRY(vyre_device_begin(device));
    pthread_mutex_lock(&device->residents);
    const vyre_resident_row *row = vyre_resident_find(device, resident);
    vyre_status status = !row ? vyre_resident_refuse(device, resident)
                         : is_inside(row, offset, size)
                             ? VYRE_OK
                             : refuse_part(row, "take", "range", offset, size);
    if (!status) {
        vyre_resident_row made = {.size = size,
                                  .offset = row->offset + offset,
                                  .address = row->address ? row->address + offset : 0,
                                  .place = row->place,
                                  .is_read_only = row->is_read_only,
                                  .parent = resident.index};
        status = track_range(device, &made, out_resident);
    }
    pthread_mutex_unlock(&device->residents);
    vyre_device_end(device);
    return vyre_status_annotate(status, "taking a range on %s", device->name);
}

vyre_status vyre_resident_memory(vyre_device *device, vyre_resident resident,
                                 vyre_memory *out_memory) {
    *out_memory = (vyre_memory){0};
    VYRE_TRY(vyre_device_begin(device));
    vyre_status status = VYRE_OK;
    pthread_mutex_lock(&device->residents);
    const vyre_resident_row *row = vyre_resident_find(device, resident);
    if (!row) {
        status = vyre_resident_refuse(device, resident);
    } else if (!row->place) {
        status = vyre_status_make(VYRE_STATUS_UNSUPPORTED, "read the buffer into the host's memory",
                                  "device %s does not tell the addresses of resident buffers",
                                  device->name);
    } else {
        out_memory->address = row->address;
        out_memory->size = (size_t)row->size;
        out_memory->place = row->place;
        out_memory->flags = row->is_read_only ? VYRE_MEMORY_READ_ONLY : 0;
    }
    pthread_mutex_unlock(&device->residents);
    vyre_device_end(device);
    return status;
}

/* Use */

bool vyre_resident_is_available(const vyre_resident_row *root, bool writes) {
    return writes ? !root->users : !root->is_written;
}

void vyre_resident_take(vyre_resident_row *root, bool writes) {
    root->users++;
    root->is_written = root->is_written || writes;
}

void vyre_resident_give(vyre_resident_row *root) {
    root->users--;
    root->is_written = root->is_written && root->users;
}

void vyre_residents_wait(vyre_device *device) {
    device->waiting++;
    pthread_cond_wait(&device->given_back, &device->residents);
    device->waiting--;
}

void vyre_residents_wake(vyre_device *device) {
    if (device->waiting) {
        pthread_cond_broadcast(&device->given_back);
    }
}

/* Parts of buffers that a call uses, and what their rows were when it began. */
typedef struct use {
    vyre_resident handle;
    bool writes;
    vyre_resident_row row;
    uint64_t buffer;  /* of the root */
    uint64_t made_by; /* ticket of the work that wrote the root last */
    bool is_whole;    /* the buffer is all of the root's memory */
} use;

static vyre_status find_use(const vyre_device *device, use *one, bool *available) {
    const vyre_resident_row *row = vyre_resident_find(device, one->handle);
    if (!row) {
        return vyre_resident_refuse(device, one->handle);
    }
    if (one->writes && row->is_read_only) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "import the memory without VYRE_MEMORY_READ_ONLY, or write another "
                                "buffer",
                                "a resident buffer of %s is read-only", device->name);
    }
    const vyre_resident_row *root = vyre_resident_root(device, row);
    *available = *available && vyre_resident_is_available(root, one->writes);
    one->row = *row;
    one->buffer = root->buffer;
    one->made_by = root->made_by;
    one->is_whole = row->size == root->size;
    return VYRE_OK;
}

/* Marks buffers as used by a call, so that nobody frees them meanwhile: all or none, so that no two
 * calls wait for each other. */
static vyre_status begin_uses(vyre_device *device, use *uses, int count) {
    VYRE_TRY(vyre_device_begin(device));
    vyre_status status = VYRE_OK;
    pthread_mutex_lock(&device->residents);
    for (bool available = false; !available && !status;) {
        available = true;
        for (int i = 0; i < count && !status; i++) {
            status = find_use(device, &uses[i], &available);
        }
        if (!available && !status) {
            vyre_residents_wait(device);
        }
    }
    for (int i = 0; i < count && !status; i++) {
        vyre_resident_take(&device->rows[uses[i].row.root], uses[i].writes);
    }
    pthread_mutex_unlock(&device->residents);
    if (status) {
        vyre_device_end(device);
    }
    return status;
}

/* `known_good`: no work that may have failed wrote the contents of the first buffer. */
static void end_uses(vyre_device *device, const use *uses, int count, bool known_good) {
    pthread_mutex_lock(&device->residents);
    for (int i = 0; i < count; i++) {
        vyre_resident_give(&device->rows[uses[i].row.root]);
    }
    if (known_good) {
        device->rows[uses[0].row.root].made_by = 0;
    }
    vyre_residents_wake(device);
    pthread_mutex_unlock(&device->residents);
    vyre_device_end(device);
}

static vyre_status begin_use(vyre_device *device, vyre_resident handle, bool writes, use *out_use) {
    *out_use = (use){.handle = handle, .writes = writes};
    return begin_uses(device, out_use, 1);
}

static vyre_status upload(vyre_device *device, const use *to, size_t offset, const void *data,
                          size_t size) {
    const vyre_backend *backend = device->backend;
    size_t at = (size_t)to->row.offset + offset;
    vyre_status status;
    VYRE_TRACED(device->track,
                status = backend->slots->resident_upload(backend, to->buffer, at, data, size),
                .kind = "upload", .bytes = size, .failed = status);
    return status;
}

static vyre_status read_back(vyre_device *device, const use *from, size_t offset, void *data,
                             size_t size) {
    const vyre_backend *backend = device->backend;
    size_t at = (size_t)from->row.offset + offset;
    vyre_status status;
    VYRE_TRACED(device->track,
                status = backend->slots->resident_read(backend, from->buffer, at, data, size),
                .kind = "readback", .bytes = size, .failed = status);
    vyre_trace_look(device->track, backend);
    return status;
}

vyre_status vyre_resident_upload(vyre_device *device, vyre_resident resident, const void *data,
                                 size_t size) {
    use to;
    VYRE_TRY(begin_use(device, resident, true, &to));
    vyre_status status =
        size == to.row.size
            ? upload(device, &to, 0, data, size)
            : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "upload the whole buffer",
                               "the upload has %zu bytes, and the resident buffer %llu", size,
                               (unsigned long long)to.row.size);
    end_uses(device, &to, 1, !status && to.is_whole);
    return vyre_status_annotate(status, "uploading to %s", device->name);
}

vyre_status vyre_resident_upload_at(vyre_device *device, vyre_resident resident, size_t offset,
                                    const void *data, size_t size) {
    use to;
    VYRE_TRY(begin_use(device, resident, true, &to));
    vyre_status status = is_inside(&to.row, offset, size)
                             ? upload(device, &to, offset, data, size)
                             : refuse_part(&to.row, "upload", "upload", offset, size);
    end_uses(device, &to, 1, false);
    return vyre_status_annotate(status, "uploading to %s", device->name);
}

/* The work that wrote the buffer may have failed without a wait: this returns its error. */
static vyre_status wait_for_contents(vyre_device *device, const use *from) {
    return from->made_by ? vyre_device_wait_for(device, from->made_by) : VYRE_OK;
}

vyre_status vyre_resident_read(vyre_device *device, vyre_resident resident, size_t offset,
                               void *data, size_t size) {
    use from;
    VYRE_TRY(begin_use(device, resident, false, &from));
    bool known_good = false;
    vyre_status status = is_inside(&from.row, offset, size)
                             ? VYRE_OK
                             : refuse_part(&from.row, "read", "read", offset, size);
    if (!status) {
        status = wait_for_contents(device, &from);
        known_good = !status;
        status = status ? status : read_back(device, &from, offset, data, size);
    }
    end_uses(device, &from, 1, known_good);
    return vyre_status_annotate(status, "reading back from %s", device->name);
}

/* Copies and fills */

static vyre_status check_copy(const use *to, size_t to_offset, const use *from, size_t from_offset,
                              size_t size) {
    if (!is_inside(&to->row, to_offset, size)) {
        return refuse_part(&to->row, "copy to", "copy", to_offset, size);
    }
    if (!is_inside(&from->row, from_offset, size)) {
        return refuse_part(&from->row, "copy from", "copy", from_offset, size);
    }
    const vyre_resident_row target = {
        .root = to->row.root, .offset = to->row.offset + to_offset, .size = size};
    const vyre_resident_row source = {
        .root = from->row.root, .offset = from->row.offset + from_offset, .size = size};
    return vyre_resident_overlap(&target, &source)
               ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "copy through another buffer",
                                  "the copy of %zu bytes would overwrite what it reads", size)
               : VYRE_OK;
}

static vyre_status copy(vyre_device *device, const use *to, size_t to_offset, const use *from,
                        size_t from_offset, size_t size) {
    const vyre_backend *backend = device->backend;
    size_t to_at = (size_t)to->row.offset + to_offset;
    size_t from_at = (size_t)from->row.offset + from_offset;
    vyre_status status;
    VYRE_TRACED(device->track,
                status = backend->slots->resident_copy(backend, to->buffer, to_at, from->buffer,
                                                       from_at, size),
                .kind = "copy", .bytes = size, .failed = status);
    return status;
}

vyre_status vyre_resident_copy(vyre_device *device, vyre_resident to, size_t to_offset,
                               vyre_resident from, size_t from_offset, size_t size) {
    use uses[] = {{.handle = to, .writes = true}, {.handle = from}};
    VYRE_TRY(begin_uses(device, uses, 2));
    vyre_status status = check_copy(&uses[0], to_offset, &uses[1], from_offset, size);
    status = status ? status : wait_for_contents(device, &uses[1]);
    if (!status && size) {
        status = copy(device, &uses[0], to_offset, &uses[1], from_offset, size);
    }
    bool is_replaced = uses[0].is_whole && size == uses[0].row.size;
    end_uses(device, uses, 2, !status && is_replaced);
    return vyre_status_annotate(status, "copying on %s", device->name);
}

static vyre_status check_fill(const use *to, size_t offset, size_t size, size_t pattern_size) {
    if (!is_inside(&to->row, offset, size)) {
        return refuse_part(&to->row, "fill", "fill", offset, size);
    }
    bool is_known = pattern_size && pattern_size <= 16 && !(pattern_size & (pattern_size - 1));
    return is_known && size % pattern_size == 0
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                  "use a pattern of 1, 2, 4, 8 or 16 bytes that fits a whole "
                                  "number of times",
                                  "the fill of %zu bytes has a pattern of %zu", size, pattern_size);
}

static vyre_status fill(vyre_device *device, const use *to, size_t offset, size_t size,
                        const void *pattern, size_t pattern_size) {
    const vyre_backend *backend = device->backend;
    size_t at = (size_t)to->row.offset + offset;
    vyre_status status;
    VYRE_TRACED(device->track,
                status = backend->slots->resident_fill(backend, to->buffer, at, size, pattern,
                                                       pattern_size),
                .kind = "fill", .bytes = size, .failed = status);
    return status;
}

vyre_status vyre_resident_fill(vyre_device *device, vyre_resident resident, size_t offset,
                               size_t size, const void *pattern, size_t pattern_size) {
    use to;
    VYRE_TRY(begin_use(device, resident, true, &to));
    vyre_status status = check_fill(&to, offset, size, pattern_size);
    if (!status && size) {
        status = fill(device, &to, offset, size, pattern, pattern_size);
    }
    end_uses(device, &to, 1, !status && to.is_whole && size == to.row.size);
    return vyre_status_annotate(status, "filling on %s", device->name);
}

/* Freeing */

/* Whether work uses the memory now, through this buffer or another one that shares it. */
static bool is_in_use(const vyre_device *device, const vyre_resident_row *row) {
    const vyre_resident_row *root = vyre_resident_root(device, row);
    return root->users ||
           (root->ticket && !device->backend->slots->ticket_done(device->backend, root->ticket));
}

/* Frees the buffer of a row that has no handle and no ranges any more. Called in the lock, which it
 * releases for a while; nobody else uses the row meanwhile. On failure nothing has changed. */
static vyre_status free_row(vyre_device *device, uint32_t index) {
    uint64_t buffer = device->rows[index].buffer;
    if (buffer) {
        device->rows[index].is_kept = false;
        pthread_mutex_unlock(&device->residents);
        vyre_status status = device->backend->slots->resident_free(device->backend, buffer);
        pthread_mutex_lock(&device->residents);
        if (status) {
            device->rows[index].is_kept = true;
            return status;
        }
    }
    drop_row(device, index);
    return VYRE_OK;
}

/* Frees buffers without a handle whose last range is gone. */
static vyre_status free_parents(vyre_device *device, uint32_t parent) {
    vyre_status status = VYRE_OK;
    while (parent != VYRE_NONE && !status) {
        vyre_resident_row *row = &device->rows[parent];
        uint32_t next = row->parent;
        row->children--;
        if (row->live || row->children) {
            break;
        }
        status = free_row(device, parent);
        parent = next;
    }
    return status;
}

static vyre_status free_resident(vyre_device *device, vyre_resident resident) {
    vyre_resident_row *row = vyre_resident_find(device, resident);
    if (!row) {
        return vyre_resident_refuse(device, resident);
    }
    if (is_in_use(device, row)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "wait for the work that uses it, then free it",
                                "a resident buffer of %s is in use", device->name);
    }
    uint32_t parent = row->parent;
    row->live = false; /* no call finds it now; its generation stays until it is gone */
    if (row->children) {
        return VYRE_OK;
    }
    vyre_status status = free_row(device, resident.index);
    if (status) {
        device->rows[resident.index].live = true; /* the caller may free it again */
        return status;
    }
    return free_parents(device, parent);
}

vyre_status vyre_resident_free(vyre_device *device, vyre_resident resident) {
    VYRE_TRY(vyre_device_begin(device));
    pthread_mutex_lock(&device->residents);
    vyre_status status = free_resident(device, resident);
    pthread_mutex_unlock(&device->residents);
    vyre_device_end(device);
    vyre_residents_release_owners(device);
    return vyre_status_annotate(status, "freeing a buffer of %s", device->name);
}

/* Ranges are freed before their roots. */
static void forget_rows(vyre_device *device, bool roots, bool free) {
    for (uint32_t i = 0; i < device->row_count; i++) {
        const vyre_resident_row *row = &device->rows[i];
        if (row->is_kept && (row->root == i) == roots) {
            if (free && row->buffer) {
                give_buffer_up(device, row->buffer);
            }
            drop_row(device, i);
        }
    }
}

void vyre_residents_forget(vyre_device *device, bool free) {
    pthread_mutex_lock(&device->residents);
    forget_rows(device, false, free);
    forget_rows(device, true, free);
    vyre_residents_wake(device);
    pthread_mutex_unlock(&device->residents);
}
