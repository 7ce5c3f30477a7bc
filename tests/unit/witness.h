/* What a driver is really asked for while a backend runs a program. The entry points of an open
 * device are replaced by some that count and pass on. */
#ifndef VYRE_TESTS_WITNESS_H
#define VYRE_TESTS_WITNESS_H

#include "backend/cuda/runtime/device.h"
#include "backend/vulkan/device.h"

typedef struct witness_calls {
    uint32_t launches, indirect; /* indirect: of them, those whose size the device reads */
    bool waits;                  /* the host, for the first launch or a later one */
    bool round_trip;             /* it launched more after it had waited */
    CUstream kernels;            /* of the last launch */
    bool overlaps;               /* a copy was put on another stream, before any wait */
} witness_calls;

static witness_calls witness;
static vulkan_table witness_vulkan; /* what they were */
static const cuda_table *witness_cuda;

static inline void witness_launch(CUstream stream) {
    witness.launches++;
    witness.round_trip |= witness.waits;
    witness.kernels = stream;
}

static inline void witness_wait(void) {
    witness.waits |= witness.launches > 0;
}

/* Vulkan */

static VKAPI_ATTR void VKAPI_CALL witness_dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
                                                   uint32_t z) {
    witness_launch(NULL);
    witness_vulkan.vkCmdDispatch(commands, x, y, z);
}

static VKAPI_ATTR void VKAPI_CALL witness_dispatch_indirect(VkCommandBuffer commands,
                                                            VkBuffer buffer, VkDeviceSize offset) {
    witness_launch(NULL);
    witness.indirect++;
    witness_vulkan.vkCmdDispatchIndirect(commands, buffer, offset);
}

static VKAPI_ATTR VkResult VKAPI_CALL witness_semaphores(VkDevice device,
                                                         const VkSemaphoreWaitInfo *info,
                                                         uint64_t ns) {
    witness_wait();
    return witness_vulkan.vkWaitSemaphores(device, info, ns);
}

static inline void witness_watch_vulkan(vulkan_device *device) {
    witness = (witness_calls){0};
    witness_vulkan = device->vk;
    device->vk.vkCmdDispatch = witness_dispatch;
    device->vk.vkCmdDispatchIndirect = witness_dispatch_indirect;
    device->vk.vkWaitSemaphores = witness_semaphores;
}

static inline void witness_leave_vulkan(vulkan_device *device) {
    device->vk = witness_vulkan;
}

/* CUDA */

static CUresult witness_kernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                               unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared_bytes, CUstream stream,
                               void **parameters, void **extra) {
    witness_launch(stream);
    return witness_cuda->cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                        shared_bytes, stream, parameters, extra);
}

static CUresult witness_graph(CUgraphExec replay, CUstream stream) {
    witness_launch(stream);
    return witness_cuda->cuGraphLaunch(replay, stream);
}

static CUresult witness_stream(CUstream stream) {
    witness_wait();
    return witness_cuda->cuStreamSynchronize(stream);
}

static CUresult witness_event(CUevent event) {
    witness_wait();
    return witness_cuda->cuEventSynchronize(event);
}

static CUresult witness_upload(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    witness.overlaps |= witness.launches && !witness.waits && stream != witness.kernels;
    return witness_cuda->cuMemcpyHtoDAsync(to, from, bytes, stream);
}

static inline void witness_watch_cuda(cuda_device *device) {
    static cuda_table watched;
    witness = (witness_calls){0};
    witness_cuda = device->cuda;
    watched = *witness_cuda;
    watched.cuLaunchKernel = witness_kernel;
    watched.cuGraphLaunch = witness_graph;
    watched.cuStreamSynchronize = witness_stream;
    watched.cuEventSynchronize = witness_event;
    watched.cuMemcpyHtoDAsync = witness_upload;
    device->cuda = &watched;
}

static inline void witness_leave_cuda(cuda_device *device) {
    device->cuda = witness_cuda;
}

#endif
