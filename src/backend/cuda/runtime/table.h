/* The part of the CUDA driver's interface that is used, declared here so that the library builds
 * without NVIDIA's headers. Names without a version stand for the entry points of the second
 * column, whose prototypes have not changed since CUDA 11.4. */
#ifndef VYRE_CUDA_RUNTIME_TABLE_H
#define VYRE_CUDA_RUNTIME_TABLE_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUlinkState_st *CUlinkState;

typedef struct CUDA_KERNEL_NODE_PARAMS {
    CUfunction func;
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    void **kernelParams;
    void **extra;
} CUDA_KERNEL_NODE_PARAMS;

typedef struct CUDA_MEMSET_NODE_PARAMS {
    CUdeviceptr dst;
    size_t pitch;
    unsigned value, elementSize;
    size_t width, height;
} CUDA_MEMSET_NODE_PARAMS;

typedef struct CUDA_MEMCPY3D {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    unsigned srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray, *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    unsigned dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray, *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

/* Numbers of the driver's enumerations. */
enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,

    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    CU_COMPUTEMODE_PROHIBITED = 2,

    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,

    CU_JIT_INFO_LOG_BUFFER = 3,
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
    CU_JIT_TARGET_FROM_CUCONTEXT = 8,
    CU_JIT_INPUT_PTX = 1,

    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_MEMHOSTALLOC_PORTABLE = 1,
    CU_MEMHOSTALLOC_DEVICEMAP = 2,
    CU_MEMHOSTREGISTER_PORTABLE = 1,
    CU_MEMHOSTREGISTER_DEVICEMAP = 2
};

/* X(name, entry point, parameters); each gives a CUresult. */
#define CUDA_FUNCTIONS(X)                                                                          \
    X(cuInit, cuInit, (unsigned flags))                                                            \
    X(cuDriverGetVersion, cuDriverGetVersion, (int *version))                                      \
    X(cuGetErrorName, cuGetErrorName, (CUresult error, const char **text))                         \
    X(cuGetErrorString, cuGetErrorString, (CUresult error, const char **text))                     \
    X(cuDeviceGetCount, cuDeviceGetCount, (int *count))                                            \
    X(cuDeviceGet, cuDeviceGet, (CUdevice * device, int ordinal))                                  \
    X(cuDeviceGetName, cuDeviceGetName, (char *name, int size, CUdevice device))                   \
    X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                    \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))    \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))  \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                  \
    X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, (CUdevice device))                      \
    X(cuCtxGetCurrent, cuCtxGetCurrent, (CUcontext * context))                                     \
    X(cuCtxSetCurrent, cuCtxSetCurrent, (CUcontext context))                                       \
    X(cuLinkCreate, cuLinkCreate_v2,                                                               \
      (unsigned count, int *options, void **values, CUlinkState *state))                           \
    X(cuLinkAddData, cuLinkAddData_v2,                                                             \
      (CUlinkState state, int kind, void *data, size_t size, const char *name, unsigned count,     \
       int *options, void **values))                                                               \
    X(cuLinkComplete, cuLinkComplete, (CUlinkState state, void **cubin, size_t *size))             \
    X(cuLinkDestroy, cuLinkDestroy, (CUlinkState state))                                           \
    X(cuModuleLoadData, cuModuleLoadData, (CUmodule * module, const void *image))                  \
    X(cuModuleUnload, cuModuleUnload, (CUmodule module))                                           \
    X(cuModuleGetFunction, cuModuleGetFunction,                                                    \
      (CUfunction * function, CUmodule module, const char *name))                                  \
    X(cuFuncGetAttribute, cuFuncGetAttribute, (int *value, int attribute, CUfunction function))    \
    X(cuFuncSetAttribute, cuFuncSetAttribute, (CUfunction function, int attribute, int value))     \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor,    \
      (int *blocks, CUfunction function, int threads, size_t dynamic_bytes))                       \
    X(cuMemGetInfo, cuMemGetInfo_v2, (size_t * free, size_t * total))                              \
    X(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes))                            \
    X(cuMemFree, cuMemFree_v2, (CUdeviceptr address))                                              \
    X(cuMemHostAlloc, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))               \
    X(cuMemFreeHost, cuMemFreeHost, (void *memory))                                                \
    X(cuMemHostRegister, cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags))       \
    X(cuMemHostUnregister, cuMemHostUnregister, (void *memory))                                    \
    X(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2,                                     \
      (CUdeviceptr * address, void *memory, unsigned flags))                                       \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                     \
      (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                           \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                     \
      (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                                 \
    X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                                     \
      (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                           \
    X(cuMemsetD8Async, cuMemsetD8Async,                                                            \
      (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream))                        \
    X(cuMemsetD16Async, cuMemsetD16Async,                                                          \
      (CUdeviceptr to, unsigned short value, size_t count, CUstream stream))                       \
    X(cuMemsetD32Async, cuMemsetD32Async,                                                          \
      (CUdeviceptr to, unsigned value, size_t count, CUstream stream))                             \
    X(cuPointerGetAttribute, cuPointerGetAttribute,                                                \
      (void *value, int attribute, CUdeviceptr address))                                           \
    X(cuStreamCreate, cuStreamCreate, (CUstream * stream, unsigned flags))                         \
    X(cuStreamDestroy, cuStreamDestroy_v2, (CUstream stream))                                      \
    X(cuStreamSynchronize, cuStreamSynchronize, (CUstream stream))                                 \
    X(cuStreamQuery, cuStreamQuery, (CUstream stream))                                             \
    X(cuStreamIsCapturing, cuStreamIsCapturing, (CUstream stream, int *is_capturing))              \
    X(cuStreamWaitEvent, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags))      \
    X(cuEventCreate, cuEventCreate, (CUevent * event, unsigned flags))                             \
    X(cuEventDestroy, cuEventDestroy_v2, (CUevent event))                                          \
    X(cuEventRecord, cuEventRecord, (CUevent event, CUstream stream))                              \
    X(cuEventQuery, cuEventQuery, (CUevent event))                                                 \
    X(cuEventSynchronize, cuEventSynchronize, (CUevent event))                                     \
    X(cuEventElapsedTime, cuEventElapsedTime, (float *ms, CUevent start, CUevent end))             \
    X(cuLaunchKernel, cuLaunchKernel,                                                              \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,                 \
       void **parameters, void **extra))                                                           \
    X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel,                                        \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,                 \
       void **parameters))                                                                         \
    X(cuGraphCreate, cuGraphCreate, (CUgraph * graph, unsigned flags))                             \
    X(cuGraphDestroy, cuGraphDestroy, (CUgraph graph))                                             \
    X(cuGraphAddKernelNode, cuGraphAddKernelNode,                                                  \
      (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count,                 \
       const CUDA_KERNEL_NODE_PARAMS *parameters))                                                 \
    X(cuGraphAddMemsetNode, cuGraphAddMemsetNode,                                                  \
      (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count,                 \
       const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context))                              \
    X(cuGraphAddMemcpyNode, cuGraphAddMemcpyNode,                                                  \
      (CUgraphNode * node, CUgraph graph, const CUgraphNode *before, size_t count,                 \
       const CUDA_MEMCPY3D *parameters, CUcontext context))                                        \
    X(cuGraphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams,                              \
      (CUgraphExec replay, CUgraphNode node, const CUDA_MEMCPY3D *parameters, CUcontext context))  \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags,                                             \
      (CUgraphExec * replay, CUgraph graph, unsigned long long flags))                             \
    X(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec replay))                                \
    X(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams,                              \
      (CUgraphExec replay, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters))           \
    X(cuGraphExecMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams,                              \
      (CUgraphExec replay, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *parameters,            \
       CUcontext context))                                                                         \
    X(cuGraphLaunch, cuGraphLaunch, (CUgraphExec replay, CUstream stream))

typedef struct cuda_table {
#define CUDA_MEMBER(name, entry, parameters) CUresult(*name) parameters;
    CUDA_FUNCTIONS(CUDA_MEMBER)
#undef CUDA_MEMBER
    int version; /* of the driver, 12040 for CUDA 12.4 */
} cuda_table;

#endif
