#define _GNU_SOURCE /* MADV_HUGEPAGE */

#include "runtime/memory.h"

#include <pthread.h>

#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "runtime/device.h"

/* What a device has pinned. */
typedef struct pin {
    vyre_device *device;
    uint64_t number; /* the backend's */
    struct pin *next;
} pin;

/* Memory that is pinned for all devices. */
typedef struct region {
    uint8_t *start;
    size_t size;
    void *block;  /* what is to be freed; NULL: the memory is the caller's */
    bool is_left; /* nobody got it, and a device did not unpin it: it is freed when that one goes */
    pin *pins;
    struct region *next;
} region;

/* Larger memory begins where a huge page does, and is advised to have them: pinning and copying it
 * takes a fraction of the time. */
enum { HUGE_PAGE = 2 << 20, HUGE_BYTES = 4 << 20 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static region *regions;
static vyre_device *devices; /* that are prepared */

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork_parent(void) {
    pthread_mutex_unlock(&lock);
}

/* Devices and what they have pinned belong to the parent; the memory is there. */
static void after_fork_child(void) {
    devices = NULL;
    for (region *r = regions; r; r = r->next) {
        r->pins = NULL;
    }
    pthread_mutex_unlock(&lock);
}

static void init(void) {
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

static void lock_all(void) {
    pthread_once(&once, init);
    pthread_mutex_lock(&lock);
}

static void unlock_all(void) {
    pthread_mutex_unlock(&lock);
}

/* All of what follows is called in the lock. */

static vyre_status pin_on(region *r, vyre_device *device) {
    const vyre_backend *backend = device->backend;
    pin *made = vyre_alloc(sizeof *made);
    if (!made) {
        return vyre_no_memory("to pin memory for device %s", device->name);
    }
    *made = (pin){device, 0, r->pins};
    vyre_status status = backend->slots->memory_pin(backend, r->start, r->size, &made->number);
    if (status || !made->number) {
        vyre_free(made);
        if (status && backend->slots->device_lost(backend)) {
            vyre_status_free(status); /* it is attached again when it was recovered */
            return VYRE_OK;
        }
        return vyre_status_annotate(status, "pinning %zu bytes for device %s", r->size,
                                    device->name);
    }
    r->pins = made;
    return VYRE_OK;
}

/* Undoes a pin. If that fails, the pin stays; a pin that is `forgotten` goes anyway. */
static vyre_status unpin(pin **at, bool is_forgotten) {
    pin *p = *at;
    const vyre_backend *backend = p->device->backend;
    vyre_status status = backend->slots->memory_unpin(backend, p->number);
    status = vyre_status_annotate(status, "unpinning memory on device %s", p->device->name);
    if (!status || is_forgotten) {
        *at = p->next;
        vyre_free(p);
    }
    return status;
}

/* Where the pin of a device stands in the list; at NULL if there is none. */
static pin **find_pin(region *r, const vyre_device *device) {
    pin **at = &r->pins;
    while (*at && (*at)->device != device) {
        at = &(*at)->next;
    }
    return at;
}

/* Where the region of an address stands in the list; at NULL if there is none. */
static region **find_region(const void *start) {
    region **at = &regions;
    while (*at && (*at)->start != start) {
        at = &(*at)->next;
    }
    return at;
}

/* Unpins a region and frees what is ours of it. If a device still has it, it stays. */
static vyre_status drop(region **at) {
    region *r = *at;
    while (r->pins) {
        VYRE_TRY(unpin(&r->pins, false));
    }
    *at = r->next;
    vyre_free(r->block);
    vyre_free(r);
    return VYRE_OK;
}

static vyre_status refuse_overlap(const region *other, const void *memory, size_t size) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            other->block ? "use it as it is: vyre_memory_allocate has pinned it"
                                         : "unpin that first, or pin the whole of it once",
                            "the %zu bytes at %p overlap %zu bytes at %p, which are pinned", size,
                            memory, other->size, (void *)other->start);
}

/* Adds a region and pins it for all devices. */
static vyre_status add(region *made) {
    for (const region *r = regions; r; r = r->next) {
        if (vyre_memory_overlaps(r->start, r->size, made->start, made->size)) {
            vyre_status status = refuse_overlap(r, made->start, made->size);
            vyre_free(made->block);
            vyre_free(made);
            return status;
        }
    }
    made->next = regions;
    regions = made;
    vyre_status status = VYRE_OK;
    for (vyre_device *device = devices; device && !status; device = device->next_prepared) {
        status = pin_on(made, device);
    }
    vyre_status left = status ? drop(&regions) : VYRE_OK;
    if (left && made->block) {
        made->is_left = true;
    } else if (left) {
        status = vyre_status_annotate(status, "another device still has it pinned: unpin it");
    }
    vyre_status_free(left);
    return status;
}

/* Outside of the lock again. */

static vyre_status add_region(void *block, void *start, size_t size) {
    region *made = vyre_alloc(sizeof *made);
    if (!made) {
        vyre_free(block);
        return vyre_no_memory("to pin %zu bytes", size);
    }
    *made = (region){.start = start, .size = size, .block = block};
    lock_all();
    vyre_status status = add(made);
    unlock_all();
    return status;
}

static vyre_status drop_region(const void *memory, bool is_own, const char *fix,
                               const char *problem) {
    lock_all();
    region **at = find_region(memory);
    vyre_status status = *at && ((*at)->block != NULL) == is_own
                             ? drop(at)
                             : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix,
                                                "the memory at %p %s", memory, problem);
    unlock_all();
    return status;
}

vyre_status vyre_memory_allocate(size_t size, void **out_memory) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bool is_huge = size >= HUGE_BYTES;
    size_t alignment = is_huge && page < HUGE_PAGE ? (size_t)HUGE_PAGE : page;
    *out_memory = NULL;
    /* Whole pages, so that nothing else is pinned with it. */
    size_t whole = size > SIZE_MAX - 2 * alignment ? 0 : (size / page + 1) * page;
    uint8_t *block = whole ? vyre_alloc(whole + alignment) : NULL;
    if (!block) {
        return vyre_no_memory("for %zu bytes", size);
    }
    uint8_t *start = block + (alignment - (uintptr_t)block % alignment) % alignment;
    if (is_huge) { /* only advice; no matter if it is not taken */
        madvise(start, whole, MADV_HUGEPAGE);
    }
    VYRE_TRY(add_region(block, start, whole));
    *out_memory = start;
    return VYRE_OK;
}

vyre_status vyre_memory_free(void *memory) {
    return memory ? drop_region(memory, true, "pass what vyre_memory_allocate gave, once",
                                "is not from vyre_memory_allocate, or was freed")
                  : VYRE_OK;
}

vyre_status vyre_memory_pin(void *memory, size_t size) {
    if (!size || size > UINTPTR_MAX - (uintptr_t)memory) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "pass the size of the memory in bytes",
                                "no memory at %p has %zu bytes", memory, size);
    }
    return add_region(NULL, memory, size);
}

vyre_status vyre_memory_unpin(void *memory) {
    return drop_region(memory, false, "pass the address that was given to vyre_memory_pin, once",
                       "was not pinned by vyre_memory_pin");
}

/* The calls of devices. A callback of the log may call this file, so failures are logged when the
 * lock is free; one of them says enough. */

static void log_status(vyre_status status) {
    if (status) {
        vyre_log(VYRE_LOG_WARNING, "%s", vyre_status_text(status));
        vyre_status_free(status);
    }
}

void vyre_memory_attach(vyre_device *device) {
    vyre_status status = VYRE_OK;
    lock_all();
    device->next_prepared = devices;
    devices = device;
    for (region *r = regions; r; r = r->next) {
        status = r->is_left ? status : vyre_first_failure(status, pin_on(r, device));
    }
    unlock_all();
    log_status(status);
}

/* A pin of one device may have served another one of the same backend, which now needs its own. */
static vyre_status pin_for_others(region *r) {
    vyre_status status = VYRE_OK;
    for (vyre_device *device = devices; device && !r->is_left; device = device->next_prepared) {
        if (!*find_pin(r, device)) {
            status = vyre_first_failure(status, pin_on(r, device));
        }
    }
    return status;
}

/* Unpins a region from a device that goes. Returns whether the region is to be freed with it, which
 * is never done with memory that the device did not unpin. */
static bool leave(region *r, const vyre_device *device, vyre_status *status) {
    pin **own = find_pin(r, device);
    if (!*own) {
        return false;
    }
    vyre_status failed = unpin(own, true);
    bool is_last = !failed && r->is_left && !r->pins;
    *status = vyre_first_failure(*status, failed);
    *status = vyre_first_failure(*status, pin_for_others(r));
    return is_last;
}

void vyre_memory_detach(vyre_device *device) {
    vyre_status status = VYRE_OK;
    lock_all();
    vyre_device **at = &devices;
    while (*at && *at != device) {
        at = &(*at)->next_prepared;
    }
    if (*at) {
        *at = device->next_prepared;
    }
    for (region **each = &regions; *each;) {
        if (leave(*each, device, &status)) {
            status = vyre_first_failure(status, drop(each));
        } else {
            each = &(*each)->next;
        }
    }
    unlock_all();
    log_status(status);
}
