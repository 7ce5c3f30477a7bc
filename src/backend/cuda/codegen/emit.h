/* A program as PTX: one entry a phase, called <prefix>_N, one invocation a thread or several
 * neighbouring ones.
 *
 * An entry has one parameter, the frame, whose layout follows from the program: either by value, or
 * as one 64-bit pointer to it in global memory where it is larger than CUDA_FRAME_LIMIT. */
#ifndef VYRE_CUDA_CODEGEN_EMIT_H
#define VYRE_CUDA_CODEGEN_EMIT_H

#include <vyre/program.h>

#include "base/strbuf.h"

enum {
    CUDA_FRAME_LIMIT = 4096,
    CUDA_COUNTER_BYTES = 64,
    CUDA_SHAPE_PARTS = 16,   /* first bit of the parts in the second word of the shape */
    CUDA_OPEN_THREADS = 256, /* of a block where there is no workgroup clause */
    /* The same where records are accessed by several instructions each: what one of them leaves of
     * a line is still near when the next comes. On an H200, 0.88 of a copy's speed becomes 0.97. */
    CUDA_RECORD_THREADS = 1024,
    CUDA_FEW_THREADS = 131072, /* do not fill a device, so none has several invocations */
};

/* A look at the host's word goes over the bus, a microsecond each however many look. So few do,
 * drawn by the clock, and tell all others through a word on the device. */
enum { CUDA_STOP_HOST_AT = 8 };
#define CUDA_STOP_FACTOR 2654435761u        /* spreads the clock over all numbers */
#define CUDA_STOP_SHARE (UINT32_C(1) << 25) /* one look of 128 */

/* Where things stand in a frame, in bytes. Arrays are the buffers and scratch arrays, which are the
 * first resources. Everything is aligned to its size. */
typedef struct cuda_layout {
    uint32_t arrays;            /* u64 by array: device pointer, aligned to 16 bytes, or to
                                 * an element in general code */
    uint32_t lengths;           /* u64 by array: elements */
    uint32_t arguments;         /* u64 by argument: a scalar's bits, extended by its sign */
    uint32_t iterations;        /* u32 by step: iterations of repeats so far */
    uint32_t device_iterations; /* u64: pointer to the same as u32 by step in device memory, or 0 */
    uint32_t gate;     /* u64: pointer to a u32, or 0; phases of a `repeat while` do nothing where
                        * it is 0. It does not change while they run */
    uint32_t domain;   /* u64[3], 1 where there is no dimension; from memory: the maximum */
    uint32_t groups;   /* u64[3]: domain / tile, rounded up; from memory: the first is how many of
                        * the elements there are */
    uint32_t shape;    /* u32[2]: what cuda_shape_of says */
    uint32_t from;     /* u64: pointer to the elements that a domain from memory is read from, or
                        * to a copy of them made before the launch where the phase writes the
                        * array; 0 where the first is out of bounds */
    uint32_t stop;     /* u64: pointer to a u32 on the device; not 0 means to end soon. Behind
                        * it, at CUDA_STOP_HOST_AT, stands where the host says so. 0 where nobody
                        * will ask for that */
    uint32_t counters; /* u64: pointer to CUDA_COUNTER_BYTES of this phase's own, aligned to 8:
                        * zero before the first launch, left as the next one needs them, unless
                        * it was stopped: then zero again */
    uint32_t bytes;    /* of all, a multiple of 8 */
    uint32_t array_count;
    bool by_pointer; /* the parameter is a pointer to it */
} cuda_layout;

cuda_layout cuda_layout_of(const vyre_ir *ir);

/* How a phase is launched: with blocks of `threads` in one dimension, and a grid of
 *
 *   - groups[0] x groups[1] x groups[2] blocks, exactly;
 *   - where it strides, at most so many in each dimension, and at least one;
 *   - where it is ordered, any number in x alone, at most as many as there are groups in all. */
typedef struct cuda_phase_info {
    uint32_t threads;       /* of a block: the workgroup, or chosen where there is no clause */
    uint32_t parts;         /* neighbouring invocations a thread, along x; or one */
    uint32_t shared_bytes;  /* that the code itself declares */
    uint32_t dynamic_bytes; /* of shared memory, to be asked for at the launch; then not 48 KiB */
    uint32_t local_bytes;   /* of private arrays, a thread */
    uint32_t image;         /* which of a program's binaries has it; for whoever makes several */
    bool strides;           /* blocks go on with the next group that nobody has */
    bool ordered;           /* blocks take groups by a ticket: one may wait for an earlier one */
    bool cooperative;       /* all groups must be on the device at once: there are grid barriers */
} cuda_phase_info;

typedef struct cuda_target {
    uint32_t sm;        /* 70, 75, 90, ... */
    uint32_t isa;       /* version of PTX, 63 for 6.3 */
    const char *prefix; /* of the entries' names */
    bool general;       /* phases may run over more than the domain that is theirs, and arrays are
                         * aligned to their elements, not to 16 bytes */
    uint32_t codes;     /* programs in one text; 0 means one */
} cuda_target;

/* Constant memory of a module, which the constant arrays of its programs are in while they fit. */
enum { CUDA_CONSTANT_BYTES = 65536 };

/* How a device multiplies matrices of i8: by its own instruction, by four of the older one, or not
 * at all but for words of four. */
typedef enum cuda_matrix { CUDA_MATRIX_WORDS, CUDA_MATRIX_PIECES, CUDA_MATRIX_WHOLE } cuda_matrix;
static inline cuda_matrix cuda_matrix_form(uint32_t sm, uint32_t isa) {
    return sm >= 80 && isa >= 70   ? CUDA_MATRIX_WHOLE
           : sm >= 75 && isa >= 65 ? CUDA_MATRIX_PIECES
                                   : CUDA_MATRIX_WORDS;
}

/* The target of the text that runs everywhere. */
static inline cuda_target cuda_baseline(void) {
    return (cuda_target){.sm = 70, .isa = 63, .prefix = "phase"};
}

/* Invocations that a block covers in each dimension, which depends on the domain where there is no
 * workgroup clause, and the frame's shape that tells the code so. */
typedef struct cuda_shape {
    uint32_t tile[3];
    uint32_t bits[2]; /* the frame's */
} cuda_shape;
/* A thread has one invocation where there would be fewer threads than `few` otherwise. */
cuda_shape cuda_shape_of(const vyre_phase *phase, const cuda_phase_info *info,
                         const uint64_t *domain, uint64_t few);

/* `program` has no elementary functions. What cannot be had on these devices is refused as
 * unsupported. `out_infos` has room for one a phase. */
VYRE_MUST_USE vyre_status cuda_emit(const vyre_program *program, const cuda_target *target,
                                    vyre_strbuf *out_ptx, cuda_phase_info *out_infos);

/* The entries of a program alone, without the head of the file, for several in one. The constant
 * arrays that they name stand in front of them. `out_ends`, if given, has one a phase: where its
 * entry ends in the text. */
void cuda_emit_head(const cuda_target *target, vyre_strbuf *out_ptx);
void cuda_emit_constants(const vyre_program *program, const cuda_target *target,
                         vyre_strbuf *out_ptx);
VYRE_MUST_USE vyre_status cuda_emit_entries(const vyre_program *program, const cuda_target *target,
                                            vyre_strbuf *out_ptx, cuda_phase_info *out_infos,
                                            size_t *out_ends);

#endif
