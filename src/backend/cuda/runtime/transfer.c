#include "backend/cuda/runtime/transfer.h"

#include <string.h>

/* The driver itself is fast with small ones. */
enum { SMALL_BYTES = 64 << 10, STAGE_BYTES = 4 << 20, STAGES_BYTES = CUDA_STAGES * STAGE_BYTES };

static vyre_status make_stages(cuda_lane *lane) {
    cuda_device *device = lane->device;
    void *pages = NULL;
    vyre_status status = VYRE_OK;
    for (int i = 0; i < CUDA_STAGES && !status; i++) {
        if (!lane->staged[i]) {
            status = cuda_check(
                device, device->cuda->cuEventCreate(&lane->staged[i], CU_EVENT_DISABLE_TIMING),
                "making an event");
        }
    }
    if (!status && !lane->staging) {
        status = cuda_check(
            device, device->cuda->cuMemHostAlloc(&pages, STAGES_BYTES, CU_MEMHOSTALLOC_PORTABLE),
            "taking %d bytes of host memory for copies", STAGES_BYTES);
        lane->staging = status ? NULL : pages;
    }
    return status;
}

static uint64_t part_of(uint64_t bytes, uint64_t done) {
    return bytes - done < STAGE_BYTES ? bytes - done : STAGE_BYTES;
}

static uint8_t *stage_of(const cuda_lane *lane, uint64_t part) {
    return lane->staging + part % CUDA_STAGES * STAGE_BYTES;
}

/* Waits until a stage is free, or filled. */
static CUresult await_stage(const cuda_lane *lane, uint64_t part) {
    return lane->device->cuda->cuEventSynchronize(lane->staged[part % CUDA_STAGES]);
}

vyre_status cuda_upload(cuda_lane *lane, CUdeviceptr to, const void *from, uint64_t bytes) {
    cuda_device *device = lane->device;
    const cuda_table *cuda = device->cuda;
    if (!bytes) {
        return VYRE_OK;
    }
    if (bytes <= SMALL_BYTES) {
        return cuda_check(device, cuda->cuMemcpyHtoDAsync(to, from, (size_t)bytes, lane->stream),
                          "uploading %llu bytes", (unsigned long long)bytes);
    }
    vyre_status status = make_stages(lane);
    CUresult result = CUDA_SUCCESS;
    for (uint64_t done = 0, part = 0; done < bytes && !status && !result; part++) {
        uint64_t now = part_of(bytes, done);
        uint8_t *stage = stage_of(lane, part);
        result = await_stage(lane, part); /* of before; one that was never recorded is reached */
        if (!result) {
            memcpy(stage, (const uint8_t *)from + done, (size_t)now);
            result = cuda->cuMemcpyHtoDAsync(to + done, stage, (size_t)now, lane->stream);
        }
        result =
            result ? result : cuda->cuEventRecord(lane->staged[part % CUDA_STAGES], lane->stream);
        done += now;
    }
    return status ? status
                  : cuda_check(device, result, "uploading %llu bytes", (unsigned long long)bytes);
}

vyre_status cuda_download(cuda_lane *lane, void *to, CUdeviceptr from, uint64_t bytes) {
    cuda_device *device = lane->device;
    const cuda_table *cuda = device->cuda;
    if (!bytes) {
        return VYRE_OK;
    }
    if (bytes <= SMALL_BYTES) {
        return cuda_check(device, cuda->cuMemcpyDtoHAsync(to, from, (size_t)bytes, lane->stream),
                          "reading back %llu bytes", (unsigned long long)bytes);
    }
    vyre_status status = make_stages(lane);
    CUresult result = CUDA_SUCCESS;
    uint64_t parts = (bytes + STAGE_BYTES - 1) / STAGE_BYTES;
    for (uint64_t part = 0; part <= parts && !status && !result; part++) {
        uint64_t at = part * STAGE_BYTES;
        if (part < parts) {
            result = cuda->cuMemcpyDtoHAsync(stage_of(lane, part), from + at,
                                             (size_t)part_of(bytes, at), lane->stream);
            result = result ? result
                            : cuda->cuEventRecord(lane->staged[part % CUDA_STAGES], lane->stream);
        }
        if (part && !result) {
            at -= STAGE_BYTES;
            result = await_stage(lane, part - 1);
            if (!result) {
                memcpy((uint8_t *)to + at, stage_of(lane, part - 1), (size_t)part_of(bytes, at));
            }
        }
    }
    return status
               ? status
               : cuda_check(device, result, "reading back %llu bytes", (unsigned long long)bytes);
}
