/* The entry points. */
#define _GNU_SOURCE

#include "tests/fake_cuda/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/fake_cuda/state.h"

/* Each is what table.h says it is. */
#define FAKE_PROTOTYPE(name, entry, parameters) FAKE_API CUresult entry parameters;
CUDA_FUNCTIONS(FAKE_PROTOTYPE)
#undef FAKE_PROTOTYPE

struct CUctx_st {
    int unused;
};

fake_state fake = {.lock = PTHREAD_MUTEX_INITIALIZER};
struct CUctx_st fake_context;
static _Thread_local CUcontext current;

static const fake_spec usual = {
    .version = 12040,
    .devices = 2,
    .major = 9,
    .minor = 0,
    .multiprocessors = 4,
    .blocks_each = 2,
    .cooperative = 1,
    .memory_bytes = (uint64_t)1 << 28,
};

#ifdef FAKE_CUDA_RUNS /* what runs kernels, where no test says */
fake_result FAKE_CUDA_RUNS(const fake_launch *launch);
#endif

__attribute__((constructor)) static void start(void) {
#ifdef FAKE_CUDA_RUNS
    fake.run = FAKE_CUDA_RUNS;
#endif
    const char *devices = getenv("FAKE_CUDA_DEVICES"), *version = getenv("FAKE_CUDA_VERSION");
    const char *major = getenv("FAKE_CUDA_MAJOR");
    fake.spec = usual;
    fake.spec.devices = devices ? atoi(devices) : fake.spec.devices;
    fake.spec.version = version ? atoi(version) : fake.spec.version;
    fake.spec.major = major ? atoi(major) : fake.spec.major;
}

CUresult fake_enter(fake_entry entry) {
    fake.calls[entry]++;
    if (fake.fail_at[entry] && --fake.fail_at[entry] == 0) {
        return fake.failures[entry];
    }
    return CUDA_SUCCESS;
}

CUresult fake_enter_context(fake_entry entry) {
    CUresult result = fake_enter(entry);
    result = result ? result : fake.fault;
    return result                                            ? result
           : current != &fake_context || !fake.live.contexts ? (CUresult)ERROR_INVALID_CONTEXT
                                                             : CUDA_SUCCESS;
}

/* The frame of an entry point: what follows gives `result` a value unless the call is to fail. */
#define PLAIN(name, ...)                                                                           \
    pthread_mutex_lock(&fake.lock);                                                                \
    CUresult result = fake_enter(FAKE_##name);                                                     \
    if (!result) {                                                                                 \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    pthread_mutex_unlock(&fake.lock);                                                              \
    return result
#define INSIDE(name, ...)                                                                          \
    pthread_mutex_lock(&fake.lock);                                                                \
    CUresult result = fake_enter_context(FAKE_##name);                                             \
    if (!result) {                                                                                 \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    pthread_mutex_unlock(&fake.lock);                                                              \
    return result

CUresult cuInit(unsigned flags) {
    PLAIN(cuInit, result = flags || !fake.spec.devices ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS);
}

CUresult cuDriverGetVersion(int *version) {
    PLAIN(cuDriverGetVersion, *version = fake.spec.version);
}

CUresult cuGetErrorName(CUresult error, const char **text) {
    *text = error == CUDA_ERROR_OUT_OF_MEMORY     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == CUDA_ERROR_NO_DEVICE       ? "CUDA_ERROR_NO_DEVICE"
            : error == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == CUDA_ERROR_LAUNCH_FAILED   ? "CUDA_ERROR_LAUNCH_FAILED"
                                                  : "CUDA_ERROR_OF_THE_FAKE";
    PLAIN(cuGetErrorName, (void)0);
}

CUresult cuGetErrorString(CUresult error, const char **text) {
    (void)error;
    *text = "as the test wished";
    PLAIN(cuGetErrorString, (void)0);
}

CUresult cuDeviceGetCount(int *count) {
    PLAIN(cuDeviceGetCount, *count = fake.spec.devices);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    PLAIN(cuDeviceGet, *device = ordinal);
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    PLAIN(cuDeviceGetName, snprintf(name, (size_t)size, "Fake GPU %d", device));
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    (void)device;
    PLAIN(cuDeviceTotalMem, *bytes = (size_t)fake.spec.memory_bytes);
}

static int attribute(int which) {
    switch (which) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return 1024;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return fake.spec.multiprocessors;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE: return fake.spec.compute_mode;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 3201000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 6144;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 1 << 20;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return fake.spec.major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return fake.spec.minor;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return 233472;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: return fake.spec.cooperative;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return 232448;
    default: return 0;
    }
}

CUresult cuDeviceGetAttribute(int *value, int which, CUdevice device) {
    (void)device;
    PLAIN(cuDeviceGetAttribute, *value = attribute(which));
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    (void)device;
    PLAIN(cuDevicePrimaryCtxRetain, {
        result = fake.fault;
        if (!result) {
            *context = &fake_context;
            fake.live.contexts++;
        }
    });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    (void)device;
    PLAIN(cuDevicePrimaryCtxRelease, {
        if (fake.live.contexts) {
            fake.live.contexts--;
        } else {
            result = ERROR_INVALID_CONTEXT;
        }
    });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    (void)device;
    PLAIN(cuDevicePrimaryCtxReset, {
        fake_drop_all();
        fake.live = (fake_live){.contexts = fake.live.contexts};
        if (fake.spec.fails_to_reset) {
            result = CUDA_ERROR_LAUNCH_FAILED;
        } else {
            fake.fault = CUDA_SUCCESS;
        }
    });
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    PLAIN(cuCtxGetCurrent, *context = current);
}

CUresult cuCtxSetCurrent(CUcontext context) {
    PLAIN(cuCtxSetCurrent, current = context);
}

struct CUlinkState_st {
    char *text;
    char *log;
    size_t log_bytes;
};

static void free_link(void *object) {
    free(((CUlinkState)object)->text);
    free(object);
}

CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, CUlinkState *state) {
    INSIDE(cuLinkCreate, {
        *state = calloc(1, sizeof **state);
        for (unsigned i = 0; i < count; i++) {
            if (options[i] == CU_JIT_ERROR_LOG_BUFFER) {
                (*state)->log = values[i];
            } else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
                (*state)->log_bytes = (uintptr_t)values[i];
            }
        }
        fake.live.links++;
        fake_keep(*state, free_link);
    });
}

CUresult cuLinkAddData_v2(CUlinkState state, int kind, void *data, size_t size, const char *name,
                          unsigned count, int *options, void **values) {
    (void)name;
    (void)count;
    (void)options;
    (void)values;
    INSIDE(cuLinkAddData, {
        if (kind != CU_JIT_INPUT_PTX || !size || ((char *)data)[size - 1]) {
            result = ERROR_INVALID_VALUE;
        } else if (fake.spec.log) {
            snprintf(state->log, state->log_bytes, "%s", fake.spec.log);
            result = 218; /* invalid PTX */
        } else {
            state->text = malloc(size + 16);
            snprintf(state->text, size + 16, "fake cubin\n%s", (char *)data);
        }
    });
}

CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *size) {
    uint32_t ms =
        __atomic_load_n(&fake.spec.compile_ms, __ATOMIC_RELAXED); /* a test may set it now */
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&pause, NULL); /* out of the lock */
    INSIDE(cuLinkComplete, {
        *cubin = state->text;
        *size = state->text ? strlen(state->text) + 1 : 0;
        result = state->text ? CUDA_SUCCESS : ERROR_INVALID_VALUE;
    });
}

CUresult cuLinkDestroy(CUlinkState state) {
    INSIDE(cuLinkDestroy, {
        fake_forget(state);
        free_link(state);
        fake.live.links--;
    });
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    INSIDE(cuModuleLoadData, {
        *module = fake_module_make(image);
        result = *module ? CUDA_SUCCESS : ERROR_INVALID_IMAGE;
    });
}

CUresult cuModuleUnload(CUmodule module) {
    INSIDE(cuModuleUnload, {
        fake_finish_all();
        fake_module_free(module);
    });
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    INSIDE(cuModuleGetFunction, {
        *function = module->functions;
        while (*function && strcmp((*function)->name, name) != 0) {
            *function = (*function)->next;
        }
        result = *function ? CUDA_SUCCESS : ERROR_NOT_FOUND;
    });
}

CUresult cuFuncGetAttribute(int *value, int which, CUfunction function) {
    (void)function;
    INSIDE(cuFuncGetAttribute,
           *value = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 32);
}

CUresult cuFuncSetAttribute(CUfunction function, int which, int value) {
    (void)function;
    (void)which;
    (void)value;
    INSIDE(cuFuncSetAttribute, (void)0);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t dynamic_bytes) {
    (void)function;
    (void)threads;
    (void)dynamic_bytes;
    INSIDE(cuOccupancyMaxActiveBlocksPerMultiprocessor, *blocks = fake.spec.blocks_each);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    INSIDE(cuMemGetInfo, {
        *total = (size_t)fake.spec.memory_bytes;
        *free_bytes = (size_t)(fake.spec.memory_bytes - fake.live.block_bytes);
    });
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    INSIDE(cuMemAlloc, result = fake_block_make(bytes, address));
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    INSIDE(cuMemFree, {
        fake_finish_all();
        result = fake_block_free(address);
    });
}

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    (void)flags;
    INSIDE(cuMemHostAlloc, *memory = fake_pages_make(bytes));
}

CUresult cuMemFreeHost(void *memory) {
    INSIDE(cuMemFreeHost, {
        fake_finish_all();
        result = fake_pages_free(memory) ? CUDA_SUCCESS : ERROR_INVALID_VALUE;
    });
}

CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
    (void)flags;
    INSIDE(cuMemHostRegister, result = fake_register(memory, bytes));
}

CUresult cuMemHostUnregister(void *memory) {
    INSIDE(cuMemHostUnregister, result = fake_unregister(memory));
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory, unsigned flags) {
    (void)flags;
    INSIDE(cuMemHostGetDevicePointer, *address = (uintptr_t)memory);
}

/* Memory of the usual kind is read before the call returns. */
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    INSIDE(cuMemcpyHtoDAsync, {
        fake_work work = {.kind = WORK_COPY, .to = (uint8_t *)(uintptr_t)to, .bytes = bytes};
        if (fake_pages_hold(from)) {
            work.from = from;
        } else {
            work.own = malloc(bytes + 1);
            work.from = memcpy(work.own, from, bytes);
        }
        fake_append(stream, work);
    });
}

/* And written, too. */
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    INSIDE(cuMemcpyDtoHAsync, {
        const uint8_t *start_of = (const uint8_t *)(uintptr_t)from;
        if (fake_pages_hold(to)) {
            fake_append(stream,
                        (fake_work){.kind = WORK_COPY, .to = to, .from = start_of, .bytes = bytes});
        } else {
            fake_finish(stream);
            if (!fake.fault && fake_memory_holds(start_of, bytes)) {
                memcpy(to, start_of, bytes);
            } else {
                result = fake.fault = CUDA_ERROR_ILLEGAL_ADDRESS;
            }
        }
    });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    INSIDE(cuMemcpyDtoDAsync,
           fake_append(stream, (fake_work){.kind = WORK_COPY,
                                           .to = (uint8_t *)(uintptr_t)to,
                                           .from = (const uint8_t *)(uintptr_t)from,
                                           .bytes = bytes}));
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
    INSIDE(cuMemsetD8Async, result = fake_fill(to, value, 1, bytes, stream));
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
    INSIDE(cuMemsetD16Async, result = fake_fill(to, value, 2, count, stream));
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    INSIDE(cuMemsetD32Async, result = fake_fill(to, value, 4, count, stream));
}

CUresult cuPointerGetAttribute(void *value, int which, CUdeviceptr address) {
    INSIDE(cuPointerGetAttribute, result = fake_pointer_attribute(value, which, address));
}

CUresult cuStreamIsCapturing(CUstream stream, int *is_capturing) {
    (void)stream;
    INSIDE(cuStreamIsCapturing, *is_capturing = fake.spec.is_capturing);
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    (void)flags;
    INSIDE(cuStreamCreate, {
        *stream = calloc(1, sizeof **stream);
        (*stream)->next = fake.streams;
        fake.streams = *stream;
        fake.live.streams++;
    });
}

CUresult cuStreamDestroy_v2(CUstream stream) {
    INSIDE(cuStreamDestroy, {
        fake_finish(stream);
        CUstream *at = &fake.streams;
        while (*at != stream) {
            at = &(*at)->next;
        }
        *at = stream->next;
        free(stream);
        fake.live.streams--;
    });
}

CUresult cuStreamSynchronize(CUstream stream) {
    INSIDE(cuStreamSynchronize, {
        fake_finish(stream);
        result = fake.fault;
    });
}

static void step_all(void) {
    for (CUstream s = fake.streams; s; s = s->next) {
        fake_step(s);
    }
}

CUresult cuStreamQuery(CUstream stream) {
    INSIDE(cuStreamQuery, {
        step_all();
        result = fake.fault ? fake.fault : stream->first ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
    });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    (void)flags;
    INSIDE(cuStreamWaitEvent,
           fake_append(stream,
                       (fake_work){.kind = WORK_WAIT, .event = event, .number = event->recorded}));
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
    (void)flags;
    INSIDE(cuEventCreate, {
        *event = calloc(1, sizeof **event);
        fake_keep(*event, free);
        fake.live.events++;
    });
}

CUresult cuEventDestroy_v2(CUevent event) {
    INSIDE(cuEventDestroy, {
        fake_finish_all();
        fake_forget(event);
        free(event);
        fake.live.events--;
    });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    INSIDE(cuEventRecord, fake_append(stream, (fake_work){.kind = WORK_RECORD,
                                                          .event = event,
                                                          .number = ++event->recorded}));
}

CUresult cuEventQuery(CUevent event) {
    INSIDE(cuEventQuery, {
        step_all();
        result = fake.fault                         ? fake.fault
                 : event->reached < event->recorded ? CUDA_ERROR_NOT_READY
                                                    : CUDA_SUCCESS;
    });
}

CUresult cuEventSynchronize(CUevent event) {
    INSIDE(cuEventSynchronize, {
        while (event->reached < event->recorded && !fake.fault) {
            step_all();
        }
        result = fake.fault;
    });
}

CUresult cuEventElapsedTime(float *ms, CUevent first, CUevent last) {
    INSIDE(cuEventElapsedTime, {
        *ms = 0.5f;
        result = first->reached && last->reached ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

static fake_work kernel_work(CUfunction function, const unsigned grid[3], unsigned threads,
                             unsigned shared_bytes, void **parameters) {
    fake_work work = {.kind = WORK_KERNEL,
                      .function = function,
                      .own = calloc(1, function->parameter_bytes + 1),
                      .grid = {grid[0], grid[1], grid[2]},
                      .threads = threads,
                      .dynamic_bytes = shared_bytes};
    if (!strcmp(function->name, "probe")) {
        memcpy(work.own, parameters[0], 8);
        memcpy(work.own + 8, parameters[1], 8);
        memcpy(work.own + 16, parameters[2], 4);
    } else if (function->parameter_bytes) {
        memcpy(work.own, parameters[0], function->parameter_bytes);
    }
    return work;
}

static bool is_grid(const unsigned grid[3], unsigned threads) {
    return grid[0] && grid[1] && grid[2] && grid[0] <= INT32_MAX && grid[1] <= 65535 &&
           grid[2] <= 65535 && threads && threads <= 1024;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **parameters, void **extra) {
    const unsigned grid[3] = {grid_x, grid_y, grid_z};
    INSIDE(cuLaunchKernel, {
        if (!is_grid(grid, block_x) || block_y != 1 || block_z != 1 || extra) {
            result = ERROR_INVALID_VALUE;
        } else {
            fake_append(stream, kernel_work(function, grid, block_x, shared_bytes, parameters));
        }
    });
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, CUstream stream,
                                   void **parameters) {
    const unsigned grid[3] = {grid_x, grid_y, grid_z};
    INSIDE(cuLaunchCooperativeKernel, {
        uint64_t blocks = (uint64_t)grid_x * grid_y * grid_z;
        uint64_t most = (uint64_t)fake.spec.multiprocessors * (uint64_t)fake.spec.blocks_each;
        if (!is_grid(grid, block_x) || block_y != 1 || block_z != 1) {
            result = ERROR_INVALID_VALUE;
        } else if (blocks > most) {
            result = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
        } else {
            fake_work work = kernel_work(function, grid, block_x, shared_bytes, parameters);
            work.cooperative = true;
            fake_append(stream, work);
        }
    });
}

/* Graphs: rows of work. A node is its number, counted from 1, and what it does lies in the graph
 * and in each exec. */
typedef struct row {
    fake_work work[4200];
    size_t count;
} row;

struct CUgraph_st {
    row row;
};

struct CUgraphExec_st {
    row row;
    struct CUevent_st last; /* one launch at a time: each waits for the one before */
};

/* Of a graph or an exec, which start with it. */
static void free_row(void *object) {
    row *r = object;
    for (size_t i = 0; i < r->count; i++) {
        free(r->work[i].own);
    }
    free(object);
}

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
    (void)flags;
    INSIDE(cuGraphCreate, {
        *graph = calloc(1, sizeof **graph);
        fake_keep(*graph, free_row);
        fake.live.graphs++;
    });
}

CUresult cuGraphDestroy(CUgraph graph) {
    INSIDE(cuGraphDestroy, {
        fake_forget(graph);
        free_row(graph);
        fake.live.graphs--;
    });
}

static CUresult add_work(CUgraph graph, const CUgraphNode *before, size_t count, fake_work work,
                         CUgraphNode *out_node) {
    if (count != (graph->row.count != 0) || (count && (uintptr_t)*before != graph->row.count)) {
        free(work.own);
        return ERROR_INVALID_VALUE; /* a row of nodes is all that is known here */
    }
    work.in_graph = true;
    graph->row.work[graph->row.count++] = work;
    *out_node = (CUgraphNode)(uintptr_t)graph->row.count;
    return CUDA_SUCCESS;
}

static fake_work node_work(const CUDA_KERNEL_NODE_PARAMS *p) {
    const unsigned grid[3] = {p->gridDimX, p->gridDimY, p->gridDimZ};
    return kernel_work(p->func, grid, p->blockDimX, p->sharedMemBytes, p->kernelParams);
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS *parameters) {
    INSIDE(cuGraphAddKernelNode,
           result = add_work(graph, before, count, node_work(parameters), node));
}

static fake_work fill_work(const CUDA_MEMSET_NODE_PARAMS *p) {
    return (fake_work){.kind = WORK_FILL,
                       .to = (uint8_t *)(uintptr_t)p->dst,
                       .bytes = p->width * p->elementSize * p->height};
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS *parameters,
                              CUcontext context) {
    INSIDE(cuGraphAddMemsetNode,
           result = context == &fake_context
                        ? add_work(graph, before, count, fill_work(parameters), node)
                        : (CUresult)ERROR_INVALID_CONTEXT);
}

static fake_work move_work(const CUDA_MEMCPY3D *p) {
    return (fake_work){.kind = WORK_COPY,
                       .to = (uint8_t *)(uintptr_t)p->dstDevice,
                       .from = (const uint8_t *)(uintptr_t)p->srcDevice,
                       .bytes = p->WidthInBytes * p->Height * p->Depth};
}

static bool is_on_device(const CUDA_MEMCPY3D *p) {
    return p->srcMemoryType == CU_MEMORYTYPE_DEVICE && p->dstMemoryType == CU_MEMORYTYPE_DEVICE &&
           p->srcPitch >= p->WidthInBytes && p->dstPitch >= p->WidthInBytes &&
           p->WidthInBytes <= INT32_MAX;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                              size_t count, const CUDA_MEMCPY3D *parameters, CUcontext context) {
    INSIDE(cuGraphAddMemcpyNode,
           result = context == &fake_context && is_on_device(parameters)
                        ? add_work(graph, before, count, move_work(parameters), node)
                        : (CUresult)ERROR_INVALID_VALUE);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *parameters, CUcontext context) {
    (void)context;
    INSIDE(cuGraphExecMemcpyNodeSetParams, {
        fake_work *work = &exec->row.work[(uintptr_t)node - 1];
        if (work->kind != WORK_COPY || !is_on_device(parameters)) {
            result = ERROR_INVALID_VALUE;
        } else {
            *work = move_work(parameters);
            work->in_graph = true;
        }
    });
}

static fake_work copy_work(fake_work work) {
    if (work.own) {
        uint8_t *own = calloc(1, work.function->parameter_bytes + 1);
        work.own = memcpy(own, work.own, work.function->parameter_bytes);
    }
    return work;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    (void)flags;
    INSIDE(cuGraphInstantiate, {
        *exec = calloc(1, sizeof **exec);
        fake_keep(*exec, free_row);
        for (size_t i = 0; i < graph->row.count; i++) {
            (*exec)->row.work[i] = copy_work(graph->row.work[i]);
        }
        (*exec)->row.count = graph->row.count;
        fake.live.execs++;
    });
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
    INSIDE(cuGraphExecDestroy, {
        fake_forget(exec);
        free_row(exec);
        fake.live.execs--;
    });
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *parameters) {
    INSIDE(cuGraphExecKernelNodeSetParams, {
        fake_work *work = &exec->row.work[(uintptr_t)node - 1];
        if (work->kind != WORK_KERNEL || work->function != parameters->func) {
            result = ERROR_INVALID_VALUE;
        } else {
            free(work->own);
            *work = node_work(parameters);
            work->in_graph = true;
        }
    });
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *parameters,
                                        CUcontext context) {
    (void)context;
    INSIDE(cuGraphExecMemsetNodeSetParams, {
        fake_work *work = &exec->row.work[(uintptr_t)node - 1];
        if (work->kind != WORK_FILL) {
            result = ERROR_INVALID_VALUE;
        } else {
            *work = fill_work(parameters);
        }
    });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    INSIDE(cuGraphLaunch, {
        fake_append(
            stream,
            (fake_work){.kind = WORK_WAIT, .event = &exec->last, .number = exec->last.recorded});
        for (size_t i = 0; i < exec->row.count; i++) {
            fake_append(stream, copy_work(exec->row.work[i]));
        }
        fake_append(stream, (fake_work){.kind = WORK_RECORD,
                                        .event = &exec->last,
                                        .number = ++exec->last.recorded});
    });
}

static void control_reset(void) {
    pthread_mutex_lock(&fake.lock);
    memset(fake.calls, 0, sizeof fake.calls);
    memset(fake.fail_at, 0, sizeof fake.fail_at);
    fake.spec = usual;
    fake.run = NULL;
    fake.fault = CUDA_SUCCESS;
    pthread_mutex_unlock(&fake.lock);
}

static fake_spec *control_spec(void) {
    return &fake.spec;
}

static void control_on_launch(fake_result (*run)(const fake_launch *launch)) {
    pthread_mutex_lock(&fake.lock);
    fake.run = run;
    pthread_mutex_unlock(&fake.lock);
}

static void control_fail(fake_entry entry, uint64_t n, CUresult result) {
    pthread_mutex_lock(&fake.lock);
    fake.fail_at[entry] = n;
    fake.failures[entry] = result;
    pthread_mutex_unlock(&fake.lock);
}

static uint64_t control_calls(fake_entry entry) {
    pthread_mutex_lock(&fake.lock);
    uint64_t count = fake.calls[entry];
    pthread_mutex_unlock(&fake.lock);
    return count;
}

static fake_live control_live(void) {
    pthread_mutex_lock(&fake.lock);
    fake_live live = fake.live;
    pthread_mutex_unlock(&fake.lock);
    return live;
}

FAKE_API const fake_cuda *fake_cuda_control(void);
const fake_cuda *fake_cuda_control(void) {
    static const fake_cuda control = {control_reset, control_spec,  control_on_launch,
                                      control_fail,  control_calls, control_live};
    return &control;
}
