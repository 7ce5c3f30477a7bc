/* NaNs: where the bits of a NaN are seen, for backends whose arithmetic on f32 and f64 may give
 * any.
 *
 * The language has one NaN, the canonical one, but arithmetic itself takes all NaNs alike. So an
 * operation that may give another one is followed by code that makes it canonical only where
 * somebody sees the bits: its value is observed. Bits that are not of arithmetic, such as a
 * program's own payload, must stay: the value is kept. What a loop carries and nobody sees inside
 * of it is made canonical behind the loop, not in every iteration: it settles late. */
#ifndef VYRE_PASS_NAN_H
#define VYRE_PASS_NAN_H

#include <vyre/program.h>

typedef struct vyre_nan_fact {
    bool observed;
    bool kept;
    bool stays; /* loops: what leaves them does not settle late */
} vyre_nan_fact;

typedef struct vyre_nans {
    const vyre_ir *ir;
    const vyre_phase *phase;
    vyre_nan_fact *rows; /* by instruction of the phase */
} vyre_nans;

/* `stays` tells of the loops whose results do not settle late; NULL if all do. False without
 * memory. */
bool vyre_nans_init(vyre_nans *nans, const vyre_ir *ir, const vyre_phase *phase,
                    bool (*stays)(const void *user, uint32_t loop), const void *user);
void vyre_nans_deinit(vyre_nans *nans);

/* Whether somebody sees the bits of a NaN that a value may be. */
static inline bool vyre_nan_is_observed(const vyre_nans *nans, uint32_t inst) {
    return nans->rows[inst - nans->phase->first].observed;
}

/* Whether an operation may give another NaN than the canonical one. */
bool vyre_nan_is_made(vyre_op op, vyre_type result);

/* Whether what a comparison of floats compares may also be what somebody chooses by it: compilers
 * make a minimum of both, whose NaNs and subnormals may be others. `uses` are those of the
 * operand's value. What arithmetic gives is not chosen if nobody else uses it. */
bool vyre_nan_may_be_chosen(const vyre_ir *ir, uint32_t compared, uint32_t uses);

/* Whether an instruction gives a value that is to be made canonical at once, or behind a loop. */
bool vyre_nan_settles(const vyre_nans *nans, uint32_t inst);
bool vyre_nan_settles_late(const vyre_nans *nans, uint32_t inst);

#endif
