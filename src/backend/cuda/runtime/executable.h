/* A program that was compiled for a device: code there, and what the host must know to run it. */
#ifndef VYRE_CUDA_RUNTIME_EXECUTABLE_H
#define VYRE_CUDA_RUNTIME_EXECUTABLE_H

#include <vyre/program.h>

#include "backend/cuda/codegen/emit.h"
#include "backend/cuda/runtime/artifact.h"
#include "backend/cuda/runtime/device.h"
#include "backend/cuda/runtime/iterations.h"
#include "backend/cuda/runtime/replay.h"

typedef struct cuda_phase {
    CUfunction function;
    cuda_phase_info info;
    uint32_t registers;
    uint64_t most_blocks; /* that the device has room for at once */
} cuda_phase;

/* The launch of a program of one phase that needs nothing else, as it was put on a stream last. */
enum { CUDA_KEPT_ARGUMENTS = 8, CUDA_KEPT_BYTES = 384 };
typedef struct cuda_kept_launch {
    bool is_set;
    uint32_t grid[3];
    CUdeviceptr addresses[CUDA_KEPT_ARGUMENTS]; /* by resource */
    uint64_t arguments[CUDA_KEPT_ARGUMENTS];
    uint64_t frame[CUDA_KEPT_BYTES / 8];
} cuda_kept_launch;

/* A program with code for each phase. */
typedef struct cuda_code {
    vyre_program *program;
    const vyre_ir *ir; /* of it */
    cuda_layout layout;
    cuda_phase *phases;
    uint32_t phase_count;
    uint32_t *overwritten; /* by resource, as vyre_fill_find says */
    bool has_while;        /* the host looks at memory to know how it goes on */
    bool swaps;            /* arrays */
    bool has_barrier;      /* grid barriers */
    bool has_counters;     /* phases with counters of their own */
    bool copies_element;   /* of a domain from memory, before the phase that overwrites it */
    bool is_one_launch;    /* runs over the program's own domain are */
    CUfunction iteration;  /* of a code with `repeat while` */
    cuda_iterations *kept_iterations; /* that no run holds; in the device's lock */
    uint32_t kept_iteration_count;
    cuda_block *counters[CUDA_SHARED_STREAMS];  /* by shared stream, in its lock; NULL so far */
    cuda_kept_launch kept[CUDA_SHARED_STREAMS]; /* the same */
} cuda_code;

/* With grid barriers, also without: split, for grids that do not fit on the device at once. */
enum { CUDA_CODES = 2 };

struct cuda_executable {
    cuda_device *device;
    atomic_uint references; /* of the pipeline, and of jobs in queues */
    cuda_code codes[CUDA_CODES];
    uint32_t code_count;
    bool is_general;          /* its target is: it runs any domain and arrays of any alignment */
    cuda_executable *general; /* such code for the same program, once a run has asked for it */
    size_t image_bytes;
    CUmodule modules[CUDA_MOST_IMAGES];      /* the first NULL: unloaded, and of no use any more */
    atomic_ullong last[CUDA_SHARED_STREAMS]; /* tickets of the last runs on shared streams */
    cuda_replays replays;
    cuda_executable *next, *previous; /* of the device */
    cuda_executable *next_left;       /* that nobody holds */
};

/* Takes the code from an artifact that fits. Where there is none it is compiled, and
 * `out_artifact`, which must be empty, has what can be stored. In the device's context. */
VYRE_MUST_USE vyre_status cuda_executable_make(cuda_device *device, const vyre_program *program,
                                               const uint8_t *artifact, size_t artifact_size,
                                               vyre_strbuf *out_artifact,
                                               cuda_executable **out_executable);
/* The code for runs whose config brings a domain, or whose arrays are not aligned to 16 bytes. It
 * lives as long as `executable`. */
VYRE_MUST_USE vyre_status cuda_executable_general(cuda_executable *executable,
                                                  cuda_executable **out_executable);
cuda_executable *cuda_executable_retain(cuda_executable *executable);
void cuda_executable_release(cuda_executable *executable); /* NULL is allowed */

/* Natives that nobody holds are freed at once, but where runs are under way that somebody may have
 * to call off: the driver waits for all that runs before it unloads code, so that this comes with
 * the end of the last of them. */
void cuda_natives_free_left(cuda_device *device);

/* Takes the code of all off the device, in its context; nothing runs it. */
void cuda_natives_unload(cuda_device *device);

#endif
