/* What goes into a run of a program and what comes out.
 *
 * Inputs are given in the order of declaration, without the `out` buffers: a buffer as its
 * elements, a scalar as its bytes, all little-endian. Outputs come back in the same order: the
 * `inout` and `out` buffers. */
#ifndef VYRE_DISPATCH_H
#define VYRE_DISPATCH_H

#include <vyre/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_input {
    const void *data; /* borrowed during the call; need not be aligned; NULL if size is 0 */
    size_t size;      /* bytes */
} vyre_input;

typedef struct vyre_output {
    uint8_t *data;
    size_t size; /* bytes */
} vyre_output;

typedef struct vyre_outputs {
    vyre_output *items;
    size_t count;
} vyre_outputs;

/* Frees what a run gave, and sets it to none. */
VYRE_API void vyre_outputs_free(vyre_outputs *outputs);

/* Zero means the default. */
typedef struct vyre_dispatch_config {
    uint64_t timeout_ns;       /* 0: none */
    uint64_t max_output_bytes; /* of all outputs together; 0: no limit */
} vyre_dispatch_config;

#ifdef __cplusplus
}
#endif

#endif
