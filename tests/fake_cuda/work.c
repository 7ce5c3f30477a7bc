/* Work that waits in streams, memory, modules. */
#define _GNU_SOURCE

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake_cuda/state.h"

typedef struct area {
    uint8_t *start;
    size_t bytes;
    struct area *next;
} area;

static area *blocks, *pages, *registered;

static const area *find(const area *list, const void *address, size_t bytes) {
    const uint8_t *at = address;
    while (list && !(at >= list->start && at + bytes <= list->start + list->bytes)) {
        list = list->next;
    }
    return list;
}

static bool holds(const area *list, const void *address, size_t bytes) {
    return find(list, address, bytes);
}

static area *add_area(area **list, size_t bytes) {
    area *made = malloc(sizeof *made);
    *made = (area){aligned_alloc(256, (bytes + 255) / 256 * 256), bytes, *list};
    memset(made->start, 0xa5, bytes);
    *list = made;
    return made;
}

static bool remove_area(area **list, const void *start, size_t *out_bytes) {
    for (; *list; list = &(*list)->next) {
        if ((*list)->start == start) {
            area *found = *list;
            *list = found->next;
            *out_bytes = found->bytes;
            free(found->start);
            free(found);
            return true;
        }
    }
    return false;
}

typedef struct kept {
    void *object;
    void (*free)(void *object);
    struct kept *next;
} kept;

static kept *objects;

void fake_keep(void *object, void (*free_object)(void *object)) {
    kept *made = malloc(sizeof *made);
    *made = (kept){object, free_object, objects};
    objects = made;
}

void fake_forget(const void *object) {
    kept **at = &objects;
    while (*at && (*at)->object != object) {
        at = &(*at)->next;
    }
    kept *found = *at;
    if (found) {
        *at = found->next;
        free(found);
    }
}

CUresult fake_block_make(size_t bytes, CUdeviceptr *out_address) {
    if (bytes > fake.spec.memory_bytes - fake.live.block_bytes) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out_address = (uintptr_t)add_area(&blocks, bytes)->start;
    fake.live.blocks++;
    fake.live.block_bytes += bytes;
    return CUDA_SUCCESS;
}

CUresult fake_block_free(CUdeviceptr address) {
    size_t bytes;
    if (!remove_area(&blocks, (const void *)(uintptr_t)address, &bytes)) {
        return ERROR_INVALID_VALUE;
    }
    fake.live.blocks--;
    fake.live.block_bytes -= bytes;
    return CUDA_SUCCESS;
}

bool fake_block_holds(const void *address, size_t bytes) {
    return holds(blocks, address, bytes);
}

void *fake_pages_make(size_t bytes) {
    fake.live.pages++;
    return add_area(&pages, bytes)->start;
}

bool fake_pages_free(void *start) {
    size_t bytes;
    bool found = remove_area(&pages, start, &bytes);
    fake.live.pages -= found;
    return found;
}

bool fake_pages_hold(const void *address) {
    return holds(pages, address, 1) || holds(registered, address, 1);
}

static bool overlaps(const area *list, const uint8_t *start, size_t bytes) {
    while (list && !(list->start < start + bytes && start < list->start + list->bytes)) {
        list = list->next;
    }
    return list;
}

CUresult fake_register(void *start, size_t bytes) {
    if (overlaps(pages, start, bytes)) {
        return ERROR_INVALID_VALUE; /* they are pinned already */
    }
    if (overlaps(registered, start, bytes)) {
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    area *made = malloc(sizeof *made);
    *made = (area){start, bytes, registered};
    registered = made;
    fake.live.registered++;
    return CUDA_SUCCESS;
}

CUresult fake_unregister(const void *start) {
    area **at = &registered;
    while (*at && (*at)->start != start) {
        at = &(*at)->next;
    }
    area *found = *at;
    if (!found) {
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    fake_finish_all();
    *at = found->next;
    free(found);
    fake.live.registered--;
    return CUDA_SUCCESS;
}

bool fake_memory_holds(const void *address, size_t bytes) {
    return holds(blocks, address, bytes) || holds(pages, address, bytes) ||
           holds(registered, address, bytes);
}

/* The default stream. */
static CUstream legacy;

/* CU_STREAM_LEGACY is 1 and CU_STREAM_PER_THREAD is 2; both stand for the default stream here. */
CUstream fake_stream_of(CUstream stream) {
    bool is_default = (uintptr_t)stream <= 2;
    if (is_default && !legacy) {
        legacy = calloc(1, sizeof *legacy);
        legacy->next = fake.streams;
        fake.streams = legacy;
    }
    return is_default ? legacy : stream;
}

void fake_append(CUstream stream, fake_work work) {
    stream = fake_stream_of(stream);
    fake_work *own = malloc(sizeof *own);
    *own = work;
    own->next = NULL;
    *(stream->last ? &stream->last->next : &stream->first) = own;
    stream->last = own;
}

CUresult fake_fill(CUdeviceptr to, unsigned value, unsigned unit, size_t count, CUstream stream) {
    if (to % unit) {
        return ERROR_INVALID_VALUE;
    }
    fake_append(stream, (fake_work){.kind = WORK_FILL,
                                    .to = (uint8_t *)(uintptr_t)to,
                                    .bytes = count * unit,
                                    .value = value,
                                    .unit = unit});
    return CUDA_SUCCESS;
}

/* Blocks are the device's, pages are pinned; nothing else is known. */
CUresult fake_pointer_attribute(void *value, int which, CUdeviceptr address) {
    const void *at = (const void *)(uintptr_t)address;
    bool is_block = fake_block_holds(at, 1);
    if (!is_block && !fake_pages_hold(at)) {
        return ERROR_INVALID_VALUE;
    }
    if (which == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ||
        which == CU_POINTER_ATTRIBUTE_RANGE_SIZE) {
        const area *own = find(is_block ? blocks : pages, at, 1);
        own = own ? own : find(registered, at, 1);
        uint64_t number =
            which == CU_POINTER_ATTRIBUTE_RANGE_SIZE ? own->bytes : (uintptr_t)own->start;
        memcpy(value, &number, sizeof number);
        return fake.spec.hides_ranges ? ERROR_INVALID_VALUE : CUDA_SUCCESS;
    }
    if (which == CU_POINTER_ATTRIBUTE_DEVICE_POINTER) {
        *(CUdeviceptr *)value = address;
        return CUDA_SUCCESS;
    }
    *(int *)value = which == CU_POINTER_ATTRIBUTE_MEMORY_TYPE
                        ? (is_block ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST)
                    : which == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? fake.spec.memory_device
                                                                   : 0;
    return CUDA_SUCCESS;
}

static fake_result run_kernel(const fake_work *work) {
    const fake_launch launch = {
        .image = work->function->module->image,
        .entry = work->function->name,
        .parameters = work->own,
        .grid = {work->grid[0], work->grid[1], work->grid[2]},
        .threads = work->threads,
        .dynamic_bytes = work->dynamic_bytes,
        .cooperative = work->cooperative,
        .in_graph = work->in_graph,
    };
    if (!strcmp(launch.entry, "probe")) {
        return fake_probe(&launch);
    }
    return fake.run ? fake.run(&launch) : FAKE_DONE;
}

/* The first piece of work; whether it is over. */
static bool run_work(fake_work *work) {
    fake_result result = FAKE_DONE;
    switch (work->kind) {
    case WORK_COPY:
        if ((fake_memory_holds(work->to, work->bytes) || work->own) &&
            (fake_memory_holds(work->from, work->bytes) || work->own)) {
            memcpy(work->to, work->from, work->bytes);
        } else {
            result = FAKE_FAULT;
        }
        break;
    case WORK_FILL:
        if (fake_memory_holds(work->to, work->bytes)) {
            for (size_t i = 0; i < work->bytes; i++) {
                work->to[i] = (uint8_t)(work->value >> 8 * (work->unit ? i % work->unit : 0));
            }
        } else {
            result = FAKE_FAULT;
        }
        break;
    case WORK_KERNEL: result = run_kernel(work); break;
    case WORK_RECORD:
        if (work->event->reached < work->number) {
            work->event->reached = work->number;
        }
        break;
    case WORK_WAIT:
        result = work->event->reached >= work->number ? FAKE_DONE : FAKE_STILL_RUNNING;
        break;
    }
    if (result == FAKE_FAULT) {
        fake.fault = CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    return result != FAKE_STILL_RUNNING;
}

bool fake_step(CUstream stream) {
    fake_work *work = stream->first;
    if (work && !fake.fault && run_work(work)) {
        stream->first = work->next;
        stream->last = stream->first ? stream->last : NULL;
        free(work->own);
        free(work);
    }
    return stream->first && !fake.fault;
}

/* Others go on, too: one may wait for another. */
static void step_others(CUstream stream) {
    for (CUstream s = fake.streams; s; s = s->next) {
        if (s != stream) {
            fake_step(s);
        }
    }
}

void fake_finish(CUstream stream) {
    stream = fake_stream_of(stream);
    while (fake_step(stream)) {
        step_others(stream);
        pthread_mutex_unlock(&fake.lock);
        sched_yield();
        pthread_mutex_lock(&fake.lock);
    }
}

void fake_finish_all(void) {
    bool more = true;
    while (more && !fake.fault) {
        more = false;
        for (CUstream s = fake.streams; s; s = s->next) {
            more |= fake_step(s);
        }
        if (more) {
            pthread_mutex_unlock(&fake.lock);
            sched_yield();
            pthread_mutex_lock(&fake.lock);
        }
    }
}

void fake_drop_all(void) {
    legacy = NULL;
    while (fake.streams) {
        CUstream stream = fake.streams;
        fake.streams = stream->next;
        while (stream->first) {
            fake_work *next = stream->first->next;
            free(stream->first->own);
            free(stream->first);
            stream->first = next;
        }
        free(stream);
    }
    while (objects) {
        kept *next = objects->next;
        objects->free(objects->object);
        free(objects);
        objects = next;
    }
    size_t bytes;
    while (blocks) {
        remove_area(&blocks, blocks->start, &bytes);
    }
    while (pages) {
        remove_area(&pages, pages->start, &bytes);
    }
    while (registered) {
        area *next = registered->next;
        free(registered);
        registered = next;
    }
}

/* Bytes of the parameters of an entry, from `.param .align 8 .b8 name[N]` and `.param .u64 name`.
 */
static size_t parameter_bytes(const char *at, const char *end) {
    size_t bytes = 0;
    while ((at = strstr(at, ".param")) != NULL && at < end) {
        const char *next = strpbrk(at, ",)");
        const char *open = strchr(at, '[');
        const char *wide = strstr(at, "64");
        size_t size = open && open < next   ? strtoul(open + 1, NULL, 10)
                      : wide && wide < next ? 8
                                            : 4;
        bytes = (bytes + (size > 4 ? 7 : 3)) / (size > 4 ? 8 : 4) * (size > 4 ? 8 : 4) + size;
        at = next;
    }
    return bytes;
}

static void free_module(void *object) {
    CUmodule module = object;
    while (module->functions) {
        CUfunction next = module->functions->next;
        free(module->functions);
        module->functions = next;
    }
    free(module->image);
    free(module);
}

CUmodule fake_module_make(const char *image) {
    if (strncmp(image, "fake cubin\n", 11) != 0 && strncmp(image, ".version", 8) != 0) {
        return NULL;
    }
    CUmodule module = malloc(sizeof *module);
    *module = (struct CUmod_st){strdup(image), NULL};
    const char *at = module->image;
    while ((at = strstr(at, ".entry ")) != NULL) {
        at += 7;
        size_t size = strcspn(at, "( \n");
        CUfunction function = malloc(sizeof *function);
        *function = (struct CUfunc_st){.module = module, .next = module->functions};
        snprintf(function->name, sizeof function->name, "%.*s", (int)size, at);
        const char *close = strchr(at, ')');
        function->parameter_bytes = close ? parameter_bytes(at, close) : 0;
        module->functions = function;
    }
    fake.live.modules++;
    fake_keep(module, free_module);
    return module;
}

void fake_module_free(CUmodule module) {
    fake_forget(module);
    free_module(module);
    fake.live.modules--;
}

fake_result fake_probe(const fake_launch *launch) {
    uint64_t from, to;
    uint32_t count;
    memcpy(&from, launch->parameters, 8);
    memcpy(&to, launch->parameters + 8, 8);
    memcpy(&count, launch->parameters + 16, 4);
    for (uint32_t i = 0; i < count; i++) {
        double a[3], wide[5];
        float x[3], narrow[5];
        memcpy(a, (const uint8_t *)(uintptr_t)from + i * 40, sizeof a);
        memcpy(x, (const uint8_t *)(uintptr_t)from + i * 40 + 24, sizeof x);
        wide[0] = a[0] + a[1];
        wide[1] = a[0] * a[1];
        wide[2] = a[0] / a[1];
        wide[3] = sqrt(a[0]);
        wide[4] = fma(a[0], a[1], a[2]);
        narrow[0] =
            fake.spec.is_inexact && fpclassify(x[0] + x[1]) == FP_SUBNORMAL ? 0 : x[0] + x[1];
        narrow[1] = x[0] * x[1];
        narrow[2] = x[0] / x[1];
        narrow[3] = sqrtf(x[0]);
        narrow[4] = fmaf(x[0], x[1], x[2]);
        memcpy((uint8_t *)(uintptr_t)to + i * 64, wide, sizeof wide);
        memcpy((uint8_t *)(uintptr_t)to + i * 64 + 40, narrow, sizeof narrow);
    }
    return FAKE_DONE;
}
