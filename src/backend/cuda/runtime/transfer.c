#include "backend/cuda/runtime/transfer.h"

#include <string.h>

#include "base/status.h"

/* The driver itself is fast with small ones, and asking about their memory would take long. */
enum { SMALL_BYTES = 64 << 10 };

/* Whether host memory is pinned, by us or by other libraries, so that the device reaches all of it.
 * Where the driver does not know, it is not. */
static bool is_pinned(const cuda_device *device, const void *memory, uint64_t bytes) {
    const cuda_table *cuda = device->cuda;
    CUdeviceptr address = (uintptr_t)memory, start = 0;
    size_t size = 0;
    int type = 0;
    return !cuda->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) &&
           type == CU_MEMORYTYPE_HOST &&
           !cuda->cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) &&
           !cuda->cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) &&
           address - start <= size && bytes <= size - (address - start);
}

static bool is_direct(const cuda_device *device, const void *memory, uint64_t bytes) {
    return bytes <= SMALL_BYTES || is_pinned(device, memory, bytes);
}

vyre_status cuda_upload(cuda_stream *stream, CUdeviceptr to, const void *from, uint64_t bytes) {
    cuda_device *device = stream->device;
    if (!bytes) {
        return VYRE_OK;
    }
    CUresult result = is_direct(device, from, bytes)
                          ? device->cuda->cuMemcpyHtoDAsync(to, from, (size_t)bytes, stream->handle)
                          : cuda_staging_copy(stream, (void *)(uintptr_t)from, to, bytes, true);
    return cuda_check(device, result, "uploading %llu bytes", (unsigned long long)bytes);
}

vyre_status cuda_download(cuda_stream *stream, void *to, CUdeviceptr from, uint64_t bytes) {
    cuda_device *device = stream->device;
    if (!bytes) {
        return VYRE_OK;
    }
    CUresult result = is_direct(device, to, bytes)
                          ? device->cuda->cuMemcpyDtoHAsync(to, from, (size_t)bytes, stream->handle)
                          : cuda_staging_copy(stream, to, from, bytes, false);
    return cuda_check(device, result, "reading back %llu bytes", (unsigned long long)bytes);
}

/* The size of the shortest pattern that gives the same bytes. */
static size_t period_of(const uint8_t *pattern, size_t size) {
    while (size > 1 && !memcmp(pattern, pattern + size / 2, size / 2)) {
        size /= 2;
    }
    return size;
}

/* Uploads a first piece, then copies what is there so far until the buffer is full. */
static CUresult repeat(cuda_stream *stream, CUdeviceptr to, size_t bytes, const uint8_t *pattern,
                       size_t size) {
    enum { FIRST_BYTES = 4096 };
    const cuda_table *cuda = stream->device->cuda;
    uint8_t piece[FIRST_BYTES] = {0};
    size_t done = bytes < FIRST_BYTES ? bytes : FIRST_BYTES;
    for (size_t at = 0; at < done; at += size) {
        memcpy(piece + at, pattern, size);
    }
    CUresult result = cuda->cuMemcpyHtoDAsync(to, piece, done, stream->handle);
    for (size_t now; done < bytes && !result; done += now) {
        now = bytes - done < done ? bytes - done : done;
        result = cuda->cuMemcpyDtoDAsync(to + done, to, now, stream->handle);
    }
    return result ? result
                  : cuda->cuStreamSynchronize(stream->handle); /* `piece` is read by then */
}

vyre_status cuda_fill(cuda_stream *stream, CUdeviceptr to, size_t bytes, const void *pattern,
                      size_t pattern_size) {
    cuda_device *device = stream->device;
    const cuda_table *cuda = device->cuda;
    size_t size = period_of(pattern, pattern_size);
    uint32_t value = 0;
    uint16_t narrow = 0;
    memcpy(&value, pattern, size < sizeof value ? size : sizeof value);
    memcpy(&narrow, pattern, size < sizeof narrow ? size : sizeof narrow);
    CUresult result =
        size == 1 ? cuda->cuMemsetD8Async(to, (unsigned char)value, bytes, stream->handle)
        : size == 2 && to % 2 == 0 ? cuda->cuMemsetD16Async(to, narrow, bytes / 2, stream->handle)
        : size == 4 && to % 4 == 0 ? cuda->cuMemsetD32Async(to, value, bytes / 4, stream->handle)
                                   : repeat(stream, to, bytes, pattern, size);
    return cuda_check(device, result, "filling %zu bytes", bytes);
}

static vyre_status refuse_registered(const cuda_device *device, size_t size) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                            "unregister it first (cuMemHostUnregister, cudaHostUnregister)",
                            "a part of the %zu bytes is registered with %s already", size,
                            device->info.name);
}

vyre_status cuda_pin(cuda_device *device, void *memory, size_t size, uint64_t *out_pin) {
    CUcontext before;
    *out_pin = 0;
    VYRE_TRY(cuda_check_lost(device));
    VYRE_TRY(cuda_device_enter(device, &before));
    vyre_status status = VYRE_OK;
    /* Another library may have pinned it, and other devices of this backend do. */
    if (!is_pinned(device, memory, size)) {
        CUresult result = device->cuda->cuMemHostRegister(
            memory, size, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
        status = result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
                     ? refuse_registered(device, size)
                     : cuda_check(device, result, "pinning %zu bytes of host memory", size);
        *out_pin = status ? 0 : (uintptr_t)memory;
    }
    cuda_device_leave(device, before);
    return status;
}

vyre_status cuda_unpin(cuda_device *device, uint64_t pin) {
    CUcontext before;
    if (atomic_load(&device->is_lost)) {
        return VYRE_OK; /* its context took the registration with it */
    }
    VYRE_TRY(cuda_device_enter(device, &before));
    CUresult result = device->cuda->cuMemHostUnregister((void *)(uintptr_t)pin);
    if (result == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED) {
        result = CUDA_SUCCESS; /* somebody else has unregistered it */
    }
    vyre_status status = cuda_check(device, result, "unpinning host memory");
    cuda_device_leave(device, before);
    return status;
}
