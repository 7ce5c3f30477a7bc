/* Strides: how integers of a phase change from one invocation to the next along x.
 *
 * Invocations with the same y and z that run together are lanes; lane k has the x of lane 0 plus
 * k. A value is uniform (the same in all lanes), or affine: lane 0's plus k times a constant, in
 * the arithmetic of its type, which wraps around; or nothing is known. */
#ifndef VYRE_PASS_STRIDE_H
#define VYRE_PASS_STRIDE_H

#include "pass/range.h"

typedef enum vyre_stride_kind {
    VYRE_STRIDE_UNKNOWN,
    VYRE_STRIDE_UNIFORM,
    VYRE_STRIDE_AFFINE
} vyre_stride_kind;

typedef struct vyre_stride {
    uint8_t kind;   /* vyre_stride_kind */
    bool exact;     /* affine: no lane that gets there wraps around, */
    bool always;    /* nor one that does not */
    int64_t stride; /* affine: the constant, not 0 */
} vyre_stride;

typedef struct vyre_strides {
    uint32_t first, count;
    vyre_stride *rows; /* by instruction of the phase */
} vyre_strides;

/* `varies`, by instruction of the phase, says what may differ between the lanes at hand; NULL lets
 * the uniformity of the workgroup decide. False without memory. */
bool vyre_strides_init(vyre_strides *strides, const vyre_ir *ir, uint32_t phase,
                       const vyre_ranges *ranges, const uint8_t *varies);
void vyre_strides_deinit(vyre_strides *strides);

vyre_stride vyre_stride_operand(const vyre_strides *strides, uint32_t operand);

#endif
