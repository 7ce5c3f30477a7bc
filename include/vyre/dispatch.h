/* Dispatch: the outputs of a run. backend.h defines inputs and the options of a run.
 *
 * Inputs are the arguments in declaration order, without `out` buffers. Outputs are the `inout` and
 * `out` buffers in declaration order. A buffer is given as its elements, a scalar as its bytes, all
 * little-endian. */
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

/* Frees the outputs of a run and sets the list to empty. */
VYRE_API void vyre_outputs_free(vyre_outputs *outputs);

#ifdef __cplusplus
}
#endif

#endif
