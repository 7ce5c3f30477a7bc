#include "backend/opencl/runtime/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/opencl/runtime/backend.h"
#include "backend/opencl/runtime/stop.h"
#include "base/alloc.h"
#include "base/status.h"

/* What makes a context unusable. */
static bool is_final(cl_int result) {
    return result == CL_DEVICE_NOT_AVAILABLE || result == CL_INVALID_CONTEXT ||
           result == CL_INVALID_COMMAND_QUEUE || result == CL_INVALID_DEVICE ||
           result == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST || result == -9999;
}

static bool is_memory(cl_int result) {
    return result == CL_MEM_OBJECT_ALLOCATION_FAILURE || result == CL_OUT_OF_HOST_MEMORY ||
           result == CL_OUT_OF_RESOURCES || result == CL_INVALID_BUFFER_SIZE;
}

vyre_status opencl_check(opencl_device *device, cl_int result, const char *format, ...) {
    if (result >= 0) {
        return VYRE_OK;
    }
    char error[OPENCL_ERROR_TEXT_BYTES];
    vyre_strbuf what = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&what, format, arguments);
    va_end(arguments);
    opencl_error_text(result, error);
    bool lost = is_final(result);
    if (lost) {
        atomic_store(&device->is_lost, true);
    }
    vyre_status status = vyre_status_make(
        lost                ? VYRE_STATUS_DEVICE_LOST
        : is_memory(result) ? VYRE_STATUS_OUT_OF_MEMORY
                            : VYRE_STATUS_BACKEND,
        lost                ? "call vyre_device_recover, or restart the process"
        : is_memory(result) ? "free resident buffers, or use smaller buffers"
                            : "try again; if it persists, check that `clinfo` works and update the "
                              "driver",
        "%s on %s: %s", vyre_strbuf_string(&what), device->info.found.name, error);
    vyre_strbuf_free(&what);
    return status;
}

vyre_status opencl_check_lost(opencl_device *device) {
    return atomic_load(&device->is_lost)
               ? vyre_status_make(
                     VYRE_STATUS_DEVICE_LOST, "call vyre_device_recover, or restart the process",
                     "%s is lost: an earlier run ended in a fault", device->info.found.name)
               : VYRE_OK;
}

/* What the device has */

static uint64_t number(const opencl_device *device, cl_device_info what, size_t bytes) {
    uint64_t value = 0;
    cl_int result =
        device->cl->clGetDeviceInfo(device->info.found.device, what, bytes, &value, NULL);
    return result ? 0 : value;
}

static bool has_word(const char *text, const char *word) {
    size_t size = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        if ((at == text || at[-1] == ' ') && (!at[size] || at[size] == ' ')) {
            return true;
        }
    }
    return false;
}

/* Whether atomics of OpenCL 2.0 order what this language asks for, by the numbers of OpenCL 3.0:
 * all orders, at the scope of the device. */
static bool has_new_atomics(const opencl_device *device) {
    enum { VERSION = 0x105E, MEMORY = 0x1063, NEEDED = 2 | 4 | 32 /* acq_rel, seq_cst, device */ };
    return number(device, VERSION, sizeof(cl_uint)) >> 22 >= 3 &&
           (number(device, MEMORY, sizeof(cl_ulong)) & NEEDED) == NEEDED;
}

/* The compute capability of a device of NVIDIA's, by the numbers of cl_nv_device_attribute_query,
 * if its lanes exchange values whether or not they run in step; else 0. */
static uint32_t find_sm(const opencl_device *device) {
    enum { MAJOR = 0x4000, MINOR = 0x4001, WARP = 0x4003, LEAST = 70 };
    uint64_t sm =
        10 * number(device, MAJOR, sizeof(cl_uint)) + number(device, MINOR, sizeof(cl_uint));
    bool suits = number(device, WARP, sizeof(cl_uint)) == OPENCL_WARP && sm >= LEAST;
    return suits ? (uint32_t)sm : 0;
}

static vyre_status look_at_extensions(opencl_device *device) {
    opencl_target *target = &device->info.target;
    size_t size = 0;
    cl_device_id id = device->info.found.device;
    device->cl->clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size);
    char *text = vyre_alloc_zeroed(size + 1, 1);
    if (!text) {
        return vyre_no_memory("for a device of backend `opencl`");
    }
    device->cl->clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, size, text, NULL);
    target->has_atomics64 = has_word(text, "cl_khr_int64_base_atomics");
    target->has_atomics64_extended = has_word(text, "cl_khr_int64_extended_atomics");
    target->has_f64 = has_word(text, "cl_khr_fp64") &&
                      number(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config));
    bool is_nvidia = has_word(text, "cl_nv_compiler_options");
    target->sm = is_nvidia && has_word(text, "cl_nv_device_attribute_query") ? find_sm(device) : 0;
    vyre_free(text);
    target->order = has_new_atomics(device) ? OPENCL_ORDER_C11
                    : is_nvidia             ? OPENCL_ORDER_FENCE
                                            : OPENCL_ORDER_NONE;
    return VYRE_OK;
}

/* An option that lets a compiler assume what is not so, or NULL. What it makes of that depends on
 * the code around an operation, so no probe finds it. */
static const char *careless_option(const char *options) {
    static const char *const rows[] = {"-cl-no-signed-zeros", "-cl-finite-math-only",
                                       "-cl-unsafe-math-optimizations", "-cl-fast-relaxed-math"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        found = strstr(options, rows[i]) ? rows[i] : found;
    }
    return found;
}

static vyre_status choose_options(opencl_device *device) {
    opencl_info *info = &device->info;
    uint64_t floats = number(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config));
    vyre_option_info extra = vyre_option_describe(VYRE_OPTION_OPENCL_OPTIONS);
    const char *careless = extra.from_environment ? careless_option(extra.text) : NULL;
    if (careless) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "leave that option out",
                                "VYRE_OPENCL_OPTIONS has `%s`, with which a compiler may change "
                                "the results of floats where nothing can correct them",
                                careless);
    }
    int size = snprintf(
        info->options, sizeof info->options, "-w -cl-std=%s%s%s%s",
        info->target.order == OPENCL_ORDER_C11 ? "CL3.0" : "CL1.2",
        floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ? " -cl-fp32-correctly-rounded-divide-sqrt"
                                                     : "",
        extra.from_environment ? " " : "", extra.from_environment ? extra.text : "");
    return size >= 0 && (size_t)size < sizeof info->options
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "give fewer options",
                                  "VYRE_OPENCL_OPTIONS has too many options for the compiler of "
                                  "%s: all of them have at most %zu characters",
                                  info->found.name, sizeof info->options - 1);
}

/* A CPU runs a workgroup on one thread, on whose stack are the private arrays of all invocations.
 * Nobody looks whether there is room for them. Half of the stack is for other values. */
static uint64_t stack_for_private(void) {
    enum { LEAST = 1 << 18 };
    pthread_attr_t usual;
    size_t bytes = 0;
    if (!pthread_attr_init(&usual)) {
        pthread_attr_getstacksize(&usual, &bytes);
        pthread_attr_destroy(&usual);
    }
    return bytes / 2 > LEAST ? bytes / 2 : LEAST;
}

/* What is known of PoCL on CPUs alone. A workgroup is a function that loops over its invocations,
 * between any two barriers. Before these loops are there its compiler looks for vectors in one
 * invocation, beginning at comparisons; what it finds it makes no vectors of neighbours of. The
 * processor's maximum gives the second operand for each NaN; options may let it flush. */
static void choose_pocl(opencl_device *device) {
    opencl_info *info = &device->info;
    bool is_x86 = false;
#ifdef __x86_64__
    is_x86 = true;
#endif
    info->is_pocl = !strcmp(info->found.platform_name, "Portable Computing Language");
    info->target.is_serial = info->is_pocl && info->is_cpu;
    info->target.nan_by_extremes =
        info->target.is_serial && is_x86 &&
        !vyre_option_describe(VYRE_OPTION_OPENCL_OPTIONS).from_environment;
}

vyre_status opencl_device_look(opencl_device *device) {
    opencl_info *info = &device->info;
    opencl_target *target = &info->target;
    VYRE_TRY(look_at_extensions(device));
    target->most_threads = (uint32_t)number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
    target->parameter_bytes =
        (uint32_t)number(device, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(size_t));
    target->shared_bytes = number(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong));
    target->constant_bytes = number(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, sizeof(cl_ulong));
    info->compute_units = (uint32_t)number(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
    info->most_bytes = number(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
    info->memory_bytes = number(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
    info->cache_bytes = number(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof(cl_ulong));
    info->is_cpu = info->found.type & CL_DEVICE_TYPE_CPU;
    info->private_bytes = info->is_cpu ? stack_for_private() : 0;
    target->is_covered = info->is_cpu; /* a condition around all of it keeps it out of vectors */
    target->polls = !info->is_cpu;     /* and so does a loop that may be left */
    VYRE_TRY(choose_options(device));
    choose_pocl(device);
    snprintf(info->driver, sizeof info->driver, "%s %s", info->found.platform_name,
             info->found.driver);
    snprintf(info->version, sizeof info->version, "%s, %s", VYRE_VERSION_STRING, info->driver);
    snprintf(info->key, sizeof info->key, "%s, %s, %s", info->version, info->found.identity,
             info->options);
    return target->most_threads && target->parameter_bytes >= 256 && info->most_bytes
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_UNAVAILABLE, "check that `clinfo` shows the device",
                                  "cannot query device %u of backend `opencl`: %s", device->index,
                                  info->found.name);
}

uint32_t opencl_device_count(void) {
    opencl_found found[OPENCL_MOST_DEVICES];
    uint32_t count = 0;
    vyre_status_free(opencl_driver_list(found, &count));
    return count;
}

vyre_status opencl_device_create(uint32_t index, opencl_device **out_device) {
    opencl_found found[OPENCL_MOST_DEVICES];
    uint32_t count;
    *out_device = NULL;
    VYRE_TRY(opencl_driver_list(found, &count));
    if (index >= count) {
        return vyre_status_make(VYRE_STATUS_NOT_FOUND, "use a lower number; devices count from 0",
                                "backend `opencl` has %u device%s, and there is no device %u",
                                count, count == 1 ? "" : "s", index);
    }
    opencl_device *device = vyre_alloc_zeroed(1, sizeof *device);
    if (!device) {
        return vyre_no_memory("for a device of backend `opencl`");
    }
    device->index = index;
    device->info.found = found[index];
    vyre_status status = opencl_driver_open(&device->cl);
    status = status ? status : opencl_device_look(device);
    if (status) {
        vyre_free(device);
        return status;
    }
    pthread_mutex_init(&device->lock, NULL);
    *out_device = device;
    return VYRE_OK;
}

void opencl_device_free(opencl_device *device) {
    opencl_device_close(device);
    for (size_t i = 0; i < device->failures.count; i++) {
        vyre_status_free(device->failures.items[i].status);
    }
    vyre_vec_free(&device->tickets);
    vyre_vec_free(&device->failures);
    pthread_mutex_destroy(&device->lock);
    vyre_free(device);
}

/* Opening and closing */

static vyre_status open_all(opencl_device *device) {
    const opencl_table *cl = device->cl;
    cl_int result;
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, (cl_context_properties)device->info.found.platform, 0};
    device->context =
        cl->clCreateContext(properties, 1, &device->info.found.device, NULL, NULL, &result);
    VYRE_TRY(opencl_check(device, result, "making a context"));
    device->queue = cl->clCreateCommandQueue(device->context, device->info.found.device,
                                             CL_QUEUE_PROFILING_ENABLE, &result);
    VYRE_TRY(opencl_check(device, result, "making a queue"));
    if (!device->info.is_cpu) {
        device->control =
            cl->clCreateCommandQueue(device->context, device->info.found.device, 0, &result);
        VYRE_TRY(opencl_check(device, result, "making a queue"));
    }
    VYRE_TRY(opencl_memory_make(device, 0, NULL, &device->empty));
    return opencl_memory_zero(device, device->empty, 0, 16);
}

vyre_status opencl_device_open(opencl_device *device) {
    if (device->context) {
        return VYRE_OK;
    }
    vyre_status status = open_all(device);
    if (status) {
        opencl_device_close(device);
    }
    return status;
}

void opencl_device_close(opencl_device *device) {
    const opencl_table *cl = device->cl;
    if (device->queue && !atomic_load(&device->is_lost)) {
        cl->clFinish(device->queue);
    }
    for (size_t i = 0; i < device->tickets.count; i++) {
        if (device->tickets.items[i].event) {
            cl->clReleaseEvent(device->tickets.items[i].event);
        }
    }
    device->tickets.count = 0;
    device->last_done = device->last_ticket;
    opencl_stops_free(device);
    opencl_memory_free(device, device->empty);
    if (device->control) {
        cl->clReleaseCommandQueue(device->control);
    }
    if (device->queue) {
        cl->clReleaseCommandQueue(device->queue);
    }
    if (device->context) {
        cl->clReleaseContext(device->context);
    }
    device->empty = NULL;
    device->control = device->queue = NULL;
    device->context = NULL;
}

vyre_status opencl_device_reset(opencl_device *device) {
    atomic_store(&device->is_lost, true);
    opencl_device_close(device);
    atomic_store(&device->is_lost, false);
    vyre_status status = opencl_device_open(device);
    if (status) {
        atomic_store(&device->is_lost, true);
    }
    return status;
}

/* Memory */

vyre_status opencl_memory_make(opencl_device *device, uint64_t bytes, void *host,
                               cl_mem *out_memory) {
    enum { LEAST = 16 };
    cl_int result;
    cl_mem_flags flags = CL_MEM_READ_WRITE | (host ? (cl_mem_flags)CL_MEM_USE_HOST_PTR : 0);
    *out_memory = device->cl->clCreateBuffer(
        device->context, flags, (size_t)(bytes < LEAST && !host ? LEAST : bytes), host, &result);
    return opencl_check(device, result, "allocating %llu bytes", (unsigned long long)bytes);
}

void opencl_memory_free(opencl_device *device, cl_mem memory) {
    if (memory) {
        device->cl->clReleaseMemObject(memory);
    }
}

vyre_status opencl_memory_zero(opencl_device *device, cl_mem memory, uint64_t offset,
                               uint64_t bytes) {
    static const uint64_t zeros[2];
    size_t pattern = bytes % 16 || offset % 16 ? bytes % 4 || offset % 4 ? 1 : 4 : 16;
    return bytes ? opencl_check(device,
                                device->cl->clEnqueueFillBuffer(device->queue, memory, zeros,
                                                                pattern, (size_t)offset,
                                                                (size_t)bytes, 0, NULL, NULL),
                                "zeroing memory")
                 : VYRE_OK;
}
