#include "backend/cuda/runtime/transfer.h"

#include <string.h>

/* The driver itself is fast with small ones. */
enum { SMALL_BYTES = 64 << 10, STAGE_BYTES = 4 << 20, STAGES_BYTES = CUDA_STAGES * STAGE_BYTES };

static vyre_status make_stages(cuda_stream *stream) {
    cuda_device *device = stream->device;
    void *pages = NULL;
    vyre_status status = VYRE_OK;
    for (int i = 0; i < CUDA_STAGES && !status; i++) {
        if (!stream->staged[i]) {
            status = cuda_check(
                device, device->cuda->cuEventCreate(&stream->staged[i], CU_EVENT_DISABLE_TIMING),
                "making an event");
        }
    }
    if (!status && !stream->staging) {
        status = cuda_check(
            device, device->cuda->cuMemHostAlloc(&pages, STAGES_BYTES, CU_MEMHOSTALLOC_PORTABLE),
            "allocating %d bytes of host memory for copies", STAGES_BYTES);
        stream->staging = status ? NULL : pages;
    }
    return status;
}

static uint64_t part_of(uint64_t bytes, uint64_t done) {
    return bytes - done < STAGE_BYTES ? bytes - done : STAGE_BYTES;
}

static uint8_t *stage_of(const cuda_stream *stream, uint64_t part) {
    return stream->staging + part % CUDA_STAGES * STAGE_BYTES;
}

/* Waits until a stage is free, or filled. */
static CUresult await_stage(const cuda_stream *stream, uint64_t part) {
    return stream->device->cuda->cuEventSynchronize(stream->staged[part % CUDA_STAGES]);
}

vyre_status cuda_upload(cuda_stream *stream, CUdeviceptr to, const void *from, uint64_t bytes) {
    cuda_device *device = stream->device;
    const cuda_table *cuda = device->cuda;
    if (!bytes) {
        return VYRE_OK;
    }
    if (bytes <= SMALL_BYTES) {
        return cuda_check(device, cuda->cuMemcpyHtoDAsync(to, from, (size_t)bytes, stream->handle),
                          "uploading %llu bytes", (unsigned long long)bytes);
    }
    vyre_status status = make_stages(stream);
    CUresult result = CUDA_SUCCESS;
    for (uint64_t done = 0, part = 0; done < bytes && !status && !result; part++) {
        uint64_t now = part_of(bytes, done);
        uint8_t *stage = stage_of(stream, part);
        result = await_stage(stream, part); /* of before; one that was never recorded is reached */
        if (!result) {
            memcpy(stage, (const uint8_t *)from + done, (size_t)now);
            result = cuda->cuMemcpyHtoDAsync(to + done, stage, (size_t)now, stream->handle);
        }
        result = result ? result
                        : cuda->cuEventRecord(stream->staged[part % CUDA_STAGES], stream->handle);
        done += now;
    }
    return status ? status
                  : cuda_check(device, result, "uploading %llu bytes", (unsigned long long)bytes);
}

vyre_status cuda_download(cuda_stream *stream, void *to, CUdeviceptr from, uint64_t bytes) {
    cuda_device *device = stream->device;
    const cuda_table *cuda = device->cuda;
    if (!bytes) {
        return VYRE_OK;
    }
    if (bytes <= SMALL_BYTES) {
        return cuda_check(device, cuda->cuMemcpyDtoHAsync(to, from, (size_t)bytes, stream->handle),
                          "reading back %llu bytes", (unsigned long long)bytes);
    }
    vyre_status status = make_stages(stream);
    CUresult result = CUDA_SUCCESS;
    uint64_t parts = (bytes + STAGE_BYTES - 1) / STAGE_BYTES;
    for (uint64_t part = 0; part <= parts && !status && !result; part++) {
        uint64_t at = part * STAGE_BYTES;
        if (part < parts) {
            result = cuda->cuMemcpyDtoHAsync(stage_of(stream, part), from + at,
                                             (size_t)part_of(bytes, at), stream->handle);
            result = result
                         ? result
                         : cuda->cuEventRecord(stream->staged[part % CUDA_STAGES], stream->handle);
        }
        if (part && !result) {
            at -= STAGE_BYTES;
            result = await_stage(stream, part - 1);
            if (!result) {
                memcpy((uint8_t *)to + at, stage_of(stream, part - 1), (size_t)part_of(bytes, at));
            }
        }
    }
    return status
               ? status
               : cuda_check(device, result, "reading back %llu bytes", (unsigned long long)bytes);
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
