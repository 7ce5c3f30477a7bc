#include "backend/cuda/runtime/device.h"

#include <stdarg.h>
#include <stdio.h>

#include "backend/cuda/runtime/executable.h"
#include "backend/cuda/runtime/resident.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/strbuf.h"

/* Compute capability 7.0: threads of a warp that go their own ways. */
enum { OLDEST_SM = 70 };

vyre_status cuda_check(cuda_device *device, CUresult result, const char *format, ...) {
    if (!result) {
        return VYRE_OK;
    }
    char error[CUDA_ERROR_TEXT_BYTES];
    vyre_strbuf what = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&what, format, arguments);
    va_end(arguments);
    cuda_error_text(device->cuda, result, error);
    bool is_final = cuda_error_is_final(result);
    if (is_final) {
        atomic_store(&device->is_lost, true);
    }
    vyre_status status =
        vyre_status_make(is_final                             ? VYRE_STATUS_DEVICE_LOST
                         : result == CUDA_ERROR_OUT_OF_MEMORY ? VYRE_STATUS_OUT_OF_MEMORY
                                                              : VYRE_STATUS_BACKEND,
                         is_final ? "call vyre_device_recover, or restart the process"
                         : result == CUDA_ERROR_OUT_OF_MEMORY
                             ? "free resident buffers, stop other programs on the GPU, or use "
                               "smaller buffers"
                             : "try again; if it persists, check that `nvidia-smi` works and "
                               "update the driver",
                         "%s on %s: %s", vyre_strbuf_string(&what), device->info.name, error);
    vyre_strbuf_free(&what);
    return status;
}

vyre_status cuda_check_lost(cuda_device *device) {
    return atomic_load(&device->is_lost)
               ? vyre_status_make(VYRE_STATUS_DEVICE_LOST,
                                  "call vyre_device_recover, or restart the process",
                                  "%s is lost: an earlier run ended in a fault", device->info.name)
               : VYRE_OK;
}

static uint32_t attribute(cuda_device *device, int which, CUresult *result) {
    int value = 0;
    CUresult own = device->cuda->cuDeviceGetAttribute(&value, which, device->handle);
    *result = *result ? *result : own;
    return value > 0 ? (uint32_t)value : 0;
}

/* The version of PTX that a driver is sure to know. */
static uint32_t isa_of(int version) {
    uint32_t major = (uint32_t)version / 1000, minor = (uint32_t)version % 1000 / 10;
    return major == 11   ? 70 + (minor > 8 ? 8 : minor)
           : major == 12 ? 80 + (minor > 5 ? 5 : minor)
                         : 90;
}

static vyre_status look_at(cuda_device *device) {
    const cuda_table *cuda = device->cuda;
    cuda_info *info = &device->info;
    size_t bytes = 0;
    CUresult result = cuda->cuDeviceGetName(info->name, sizeof info->name, device->handle);
    CUresult total = cuda->cuDeviceTotalMem(&bytes, device->handle);
    result = result ? result : total;
    uint32_t major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &result);
    uint32_t minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &result);
    uint32_t mode = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, &result);
    info->sm = major * 10 + minor;
    info->isa = isa_of(cuda->version);
    info->memory_bytes = bytes;
    info->multiprocessors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &result);
    info->warp = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE, &result);
    info->most_threads = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &result);
    info->most_shared_bytes =
        attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &result);
    info->shared_per_multiprocessor =
        attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &result);
    info->l2_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &result);
    info->memory_clock_khz = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &result);
    info->bus_bits = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &result);
    info->has_cooperative = attribute(device, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, &result) != 0;
    if (result) {
        char error[CUDA_ERROR_TEXT_BYTES];
        cuda_error_text(cuda, result, error);
        return vyre_status_make(VYRE_STATUS_UNAVAILABLE, "check that `nvidia-smi` shows the device",
                                "cannot query device %u of backend `cuda`: %s", device->index,
                                error);
    }
    if (info->sm < OLDEST_SM) {
        return vyre_status_make(
            VYRE_STATUS_UNAVAILABLE, "use a GPU of compute capability 7.0 or more, Volta or newer",
            "%s is too old for backend `cuda`: compute capability %u.%u", info->name, major, minor);
    }
    if (mode == CU_COMPUTEMODE_PROHIBITED) {
        return vyre_status_make(VYRE_STATUS_UNAVAILABLE,
                                "ask an administrator to run nvidia-smi --compute-mode=0",
                                "%s is in the compute mode `prohibited`", info->name);
    }
    snprintf(info->driver, sizeof info->driver, "CUDA %d.%d", cuda->version / 1000,
             cuda->version % 1000 / 10);
    snprintf(info->version, sizeof info->version, "%s, %s, sm_%u", VYRE_VERSION_STRING,
             info->driver, info->sm);
    return VYRE_OK;
}

uint32_t cuda_device_count(void) {
    const cuda_table *cuda;
    int count = 0;
    vyre_status status = cuda_driver_open(&cuda);
    bool is_known = !status && !cuda->cuDeviceGetCount(&count) && count > 0;
    vyre_status_free(status);
    return is_known ? (uint32_t)count : 0;
}

vyre_status cuda_device_create(uint32_t index, cuda_device **out_device) {
    const cuda_table *cuda;
    int count = 0;
    *out_device = NULL;
    vyre_status status = cuda_driver_open(&cuda);
    if (status) {
        return status;
    }
    CUresult result = cuda->cuDeviceGetCount(&count);
    if (result || count <= 0) {
        char error[CUDA_ERROR_TEXT_BYTES] = "it reports 0 devices";
        if (result) {
            cuda_error_text(cuda, result, error);
        }
        return vyre_status_make(VYRE_STATUS_UNAVAILABLE,
                                "plug in an NVIDIA GPU, or make it visible to this process "
                                "(CUDA_VISIBLE_DEVICES, the container's devices)",
                                "backend `cuda` runs on NVIDIA GPUs, and the driver finds no "
                                "device: %s",
                                error);
    }
    if (index >= (uint32_t)count) {
        return vyre_status_make(VYRE_STATUS_NOT_FOUND, "use a lower number; devices count from 0",
                                "backend `cuda` has %d device%s, and there is no device %u", count,
                                count == 1 ? "" : "s", index);
    }
    cuda_device *device = vyre_alloc_zeroed(1, sizeof *device);
    if (!device) {
        return vyre_no_memory("for a device of backend `cuda`");
    }
    device->cuda = cuda;
    device->index = index;
    result = cuda->cuDeviceGet(&device->handle, (int)index);
    if (result) {
        char error[CUDA_ERROR_TEXT_BYTES];
        cuda_error_text(cuda, result, error);
        status = vyre_status_make(VYRE_STATUS_UNAVAILABLE, "check that `nvidia-smi` shows it",
                                  "cannot open device %u of backend `cuda`: %s", index, error);
    }
    status = status ? status : look_at(device);
    if (status) {
        vyre_free(device);
        return status;
    }
    cuda_memory_init(&device->memory, device->info.memory_bytes);
    cuda_streams_init(&device->streams);
    cuda_queue_init(&device->ordered, 1);
    cuda_queue_init(&device->pending, CUDA_QUEUE_THREADS);
    cuda_helpers_init(&device->helpers);
    pthread_mutex_init(&device->unloading, NULL);
    pthread_mutex_init(&device->lock, NULL);
    *out_device = device;
    return VYRE_OK;
}

void cuda_device_free(cuda_device *device) {
    vyre_status_free(cuda_device_close(device));
    cuda_natives_unload(device); /* what was let go since */
    cuda_queue_deinit(&device->ordered);
    cuda_queue_deinit(&device->pending);
    cuda_helpers_deinit(&device->helpers);
    cuda_streams_deinit(&device->streams);
    cuda_memory_deinit(&device->memory);
    pthread_mutex_destroy(&device->lock);
    pthread_mutex_destroy(&device->unloading);
    vyre_free(device);
}

vyre_status cuda_device_open(cuda_device *device) {
    if (device->context) {
        return VYRE_OK;
    }
    const cuda_table *cuda = device->cuda;
    CUcontext before;
    vyre_status status =
        cuda_check(device, cuda->cuDevicePrimaryCtxRetain(&device->context, device->handle),
                   "making a context");
    if (status) {
        device->context = NULL;
        return status;
    }
    status = cuda_device_enter(device, &before);
    if (!status) {
        status = cuda_streams_open(device);
        if (status) {
            vyre_status_free(cuda_memory_trim(device));
        }
        cuda_device_leave(device, before);
    }
    if (status) {
        vyre_status_free(cuda_check(device, cuda->cuDevicePrimaryCtxRelease(device->handle),
                                    "releasing the context"));
        device->context = NULL;
    }
    return status;
}

/* Everything but the context. */
static vyre_status close_all(cuda_device *device) {
    cuda_queue_close(&device->ordered);
    cuda_queue_close(&device->pending);
    CUcontext before = NULL;
    vyre_status status = VYRE_OK;
    bool entered = false;
    if (!atomic_load(&device->is_lost)) {
        status = cuda_device_enter(device, &before);
        entered = !status;
    }
    cuda_helpers_close(device);
    cuda_natives_unload(device);
    cuda_residents_drop(device);
    cuda_streams_close(device);
    status = vyre_first_failure(status, cuda_memory_trim(device));
    if (entered) {
        cuda_device_leave(device, before);
    }
    return status;
}

vyre_status cuda_device_close(cuda_device *device) {
    if (!device->context) {
        return VYRE_OK;
    }
    vyre_status status = close_all(device);
    status = vyre_first_failure(
        status, cuda_check(device, device->cuda->cuDevicePrimaryCtxRelease(device->handle),
                           "releasing the context"));
    device->context = NULL;
    return status;
}

vyre_status cuda_device_reset(cuda_device *device) {
    const cuda_table *cuda = device->cuda;
    if (device->context) {
        CUcontext current = NULL;
        atomic_store(&device->is_lost, true); /* nothing of the old is given back one by one */
        vyre_status_free(close_all(device));
        if (!cuda->cuCtxGetCurrent(&current) && current == device->context) {
            cuda->cuCtxSetCurrent(NULL);
        }
        device->context = NULL;
        cuda->cuDevicePrimaryCtxRelease(device->handle);
    }
    CUresult result = cuda->cuDevicePrimaryCtxReset(device->handle);
    if (!result) {
        atomic_store(&device->is_lost, false);
        vyre_status status = cuda_device_open(device);
        if (!status) {
            return VYRE_OK;
        }
        vyre_status_free(status);
        atomic_store(&device->is_lost, true);
    }
    char error[CUDA_ERROR_TEXT_BYTES];
    cuda_error_text(cuda, result ? result : CUDA_ERROR_LAUNCH_FAILED, error);
    return vyre_status_make(VYRE_STATUS_DEVICE_LOST, "restart the process",
                            "cannot recover %s in this process: %s", device->info.name, error);
}

vyre_status cuda_device_enter(cuda_device *device, CUcontext *out_before) {
    CUresult result = device->cuda->cuCtxGetCurrent(out_before);
    if (!result && *out_before != device->context) {
        result = device->cuda->cuCtxSetCurrent(device->context);
    }
    return cuda_check(device, result, "entering the context");
}

/* Who had none does not miss it; the next call is then the faster for it. */
void cuda_device_leave(cuda_device *device, CUcontext before) {
    if (before && before != device->context) {
        device->cuda->cuCtxSetCurrent(before);
    }
}
