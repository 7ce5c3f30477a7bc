/* Replays: what a run puts on a stream, as a graph that one call starts. Programs of several
 * launches are run this way on resident buffers. A graph belongs to the buffers and arguments it
 * was made for; for others of the same shape its nodes are given new parameters. */
#ifndef VYRE_CUDA_RUNTIME_REPLAY_H
#define VYRE_CUDA_RUNTIME_REPLAY_H

#include <pthread.h>

#include <vyre/backend.h>

#include "backend/cuda/runtime/memory.h"
#include "base/vec.h"

typedef struct cuda_node {
    CUgraphNode node;
    CUfunction function; /* NULL: a fill or a copy */
    bool is_copy;
} cuda_node;

typedef struct cuda_replay {
    CUgraph graph;
    CUgraphExec exec; /* NULL while it is made */
    VYRE_VEC(cuda_node) nodes;
    size_t next;     /* node that is to be updated */
    bool is_changed; /* its shape is another one: it has to be made again */
    uint64_t *key;   /* what it was made for */
    size_t key_words;
    cuda_block *counters; /* its own, and scratch arrays of its own, since streams overlap */
    cuda_block *scratch;  /* a list */
    cuda_block *spares;   /* a list: for exchanging buffers */
    uint64_t used;        /* when */
} cuda_replay;

enum { CUDA_REPLAYS = 4, CUDA_REPLAY_LEAST = 3, CUDA_REPLAY_MOST = 4096 };

typedef struct cuda_replays {
    pthread_mutex_t lock;
    cuda_replay items[CUDA_REPLAYS];
    uint64_t uses;
} cuda_replays;

struct cuda_device;
struct cuda_stream;
struct cuda_executable;
struct cuda_code;

void cuda_replays_init(cuda_replays *replays);
/* Frees them; nothing runs them. With a context that is gone, only our own memory. */
void cuda_replays_deinit(struct cuda_device *device, cuda_replays *replays);

/* Whether a run of this call is worth a graph. */
bool cuda_replay_is_worth(const struct cuda_code *code, const vyre_call *call);

/* Puts a run on a shared stream, in its lock; `buffers` are addresses by resource. */
VYRE_MUST_USE vyre_status cuda_replay_run(struct cuda_executable *executable,
                                          struct cuda_code *code, const vyre_call *call,
                                          struct cuda_stream *stream, const CUdeviceptr *buffers,
                                          uint64_t ticket);

/* Before and after all nodes are put into it, or changed: then `is_changed` says that it has to be
 * dropped and made again. */
VYRE_MUST_USE vyre_status cuda_replay_begin(struct cuda_device *device, cuda_replay *replay);
VYRE_MUST_USE vyre_status cuda_replay_end(struct cuda_device *device, cuda_replay *replay);
/* Nothing runs it. With a context that is gone, only our own memory. */
void cuda_replay_drop(struct cuda_device *device, cuda_replay *replay);

/* For a run that is put into a graph instead of on a stream. */
VYRE_MUST_USE vyre_status cuda_replay_kernel(struct cuda_device *device, cuda_replay *replay,
                                             const CUDA_KERNEL_NODE_PARAMS *parameters);
VYRE_MUST_USE vyre_status cuda_replay_fill(struct cuda_device *device, cuda_replay *replay,
                                           CUdeviceptr address, uint64_t bytes);
VYRE_MUST_USE vyre_status cuda_replay_copy(struct cuda_device *device, cuda_replay *replay,
                                           CUdeviceptr to, CUdeviceptr from, uint64_t bytes);

#endif
