/* A program as OpenCL C 1.2: a kernel a phase, called phase_N, one invocation a work-item.
 *
 * A kernel has one parameter for each array that it touches, and for each other fact of the run
 * that it uses a word of 64 bits. Where the device has no room for so many words, they are in a
 * buffer, the frame. The list of a phase says what each parameter is. */
#ifndef VYRE_OPENCL_CODEGEN_EMIT_H
#define VYRE_OPENCL_CODEGEN_EMIT_H

#include <vyre/program.h>

#include "base/strbuf.h"

/* X(NAME, prefix of the name in the code). The first three are buffers, the others words. */
#define OPENCL_PARAMETERS(X)                                                                       \
    X(ARRAY, "b")     /* index: a buffer or scratch array */                                       \
    X(STOP, "stop")   /* u32: not 0 where the run is to end soon */                                \
    X(TICKET, "next") /* u32: the next workgroup in line, 0 before the launch */                   \
    X(OFFSET, "o")    /* index: an array; bytes from the start of its buffer */                    \
    X(LENGTH, "n")    /* index: an array; elements */                                              \
    X(SCALAR, "s")    /* index: an argument; its bits, extended by its sign */                     \
    X(ITERATION, "t") /* index: a step; iterations of the repeat so far */                         \
    X(DOMAIN, "d")    /* index: a dimension; invocations, 1 where there is no such dimension */    \
    X(GROUPS, "g")    /* index: a dimension; workgroups, with a workgroup clause */                \
    X(FIRST, "f")     /* index: a dimension; workgroups in front of those of this launch, or       \
                       * invocations where there is no workgroup clause */

typedef enum opencl_parameter_kind {
#define OPENCL_PARAMETER_ENUM(name, prefix) OPENCL_##name,
    OPENCL_PARAMETERS(OPENCL_PARAMETER_ENUM)
#undef OPENCL_PARAMETER_ENUM
        OPENCL_PARAMETER_COUNT
} opencl_parameter_kind;

typedef struct opencl_parameter {
    uint32_t kind, index;
} opencl_parameter;

static inline bool opencl_is_buffer(const opencl_parameter *parameter) {
    return parameter->kind <= OPENCL_TICKET;
}

/* That an array has as many elements as the domain has invocations along a dimension. */
typedef struct opencl_assumption {
    uint32_t array, dimension;
} opencl_assumption;

/* How a phase is launched. With a workgroup clause: workgroups of `threads` in one dimension, as
 * many in x, y and z as the grid has; else any workgroups that cover the domain, or, for a target
 * that says so, those that make it up. */
typedef struct opencl_phase_info {
    uint32_t threads;      /* of a workgroup; 0 without a clause */
    uint32_t shared_bytes; /* */
    bool ordered;          /* takes its workgroups by ticket: one may wait for an earlier one */
    bool has_frame;        /* words are in a buffer, which is the first parameter */
    bool is_long;          /* has loops that may run for long */
    uint32_t parameter_count;
    opencl_parameter *parameters; /* in the order of the kernel, without the frame */
    /* Where all of these hold, the kernel inner_N does the same without looking whether accesses
     * are inside. There is none without assumptions. */
    uint32_t assumption_count;
    opencl_assumption *assumptions;
} opencl_phase_info;

/* How atomics that order other accesses are written. */
typedef enum opencl_order {
    OPENCL_ORDER_NONE,  /* not at all: only relaxed atomics */
    OPENCL_ORDER_FENCE, /* atomics of OpenCL 1.2 between fences of NVIDIA's compiler */
    OPENCL_ORDER_C11    /* atomics of OpenCL 2.0 */
} opencl_order;

enum { OPENCL_WARP = 32 /* lanes that run together on NVIDIA's devices */ };

typedef struct opencl_target {
    bool has_f64;
    bool has_atomics64, has_atomics64_extended;
    opencl_order order;
    uint32_t sm; /* whose instructions exchange values of lanes: NVIDIA's compute capability, 70 or
                  * more, else 0 */
    uint32_t most_threads, parameter_bytes;
    uint64_t shared_bytes, constant_bytes;
    bool is_covered; /* without a workgroup clause, exactly the domain is launched */
    bool general;    /* phases may run over more than the domain that is theirs */
    bool polls;      /* loops that may run for long look at the stop word */
    bool is_serial;  /* one thread runs a workgroup, and its invocations take turns at barriers */
    bool nan_by_extremes; /* NaNs become canonical without comparisons, by functions of clang */
} opencl_target;

/* A device with all that can be asked for: for texts that nobody runs. */
static inline opencl_target opencl_any_target(void) {
    return (opencl_target){
        .has_f64 = true,
        .has_atomics64 = true,
        .has_atomics64_extended = true,
        .order = OPENCL_ORDER_C11,
        .sm = 90,
        .most_threads = 1024,
        .parameter_bytes = 1024,
        .shared_bytes = 49152,
        .constant_bytes = 65536,
        .polls = true,
    };
}

/* Widths of subgroups that are native, as pass/subgroup.h keeps them; and whether products of
 * matrices are, too. */
uint64_t opencl_widths(const opencl_target *target);
bool opencl_has_matrices(const opencl_target *target);

/* `program` is lowered: no elementary functions, no subgroup operations of other widths than the
 * device's, no arithmetic that the device does not do. What cannot be had on the device is refused
 * as UNSUPPORTED. `out_infos` has room for one a phase and is zeroed before; opencl_infos_free
 * frees the lists, after an error too. */
VYRE_MUST_USE vyre_status opencl_emit(const vyre_program *program, const opencl_target *target,
                                      vyre_strbuf *out_text, opencl_phase_info *out_infos);
void opencl_infos_free(opencl_phase_info *infos, uint32_t count);

#endif
