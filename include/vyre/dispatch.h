/* What a run gives back. What goes in and comes out is described in backend.h: inputs are given in
 * the order of declaration, without the `out` buffers: a buffer as its elements, a scalar as its
 * bytes, all little-endian. Outputs come back in the same order: the `inout` and `out` buffers. */
#ifndef VYRE_DISPATCH_H
#define VYRE_DISPATCH_H

#include <vyre/backend.h>
#include <vyre/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_outputs {
    vyre_output *items;
    size_t count;
} vyre_outputs;

/* Frees what a run gave, and sets it to none. */
VYRE_API void vyre_outputs_free(vyre_outputs *outputs);

#ifdef __cplusplus
}
#endif

#endif
