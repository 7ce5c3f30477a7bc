/* Conformance: a backend held against the oracle, byte for byte.
 *
 * The backend under test writes into memory that is fenced on both sides and holds garbage before,
 * and reads inputs that are fenced too, so that a write beside an output, an element left alone and
 * a changed input all show.
 *
 * trial.h     what is run            generate.c  random ones by seed
 * conform.c   the comparison         shrink.c    the smallest one that still fails
 */
#ifndef VYRE_CONFORM_COMPARE_H
#define VYRE_CONFORM_COMPARE_H

#include <vyre/device.h>

#include "conform/trial.h"

typedef enum vyre_verdict {
    VYRE_VERDICT_SAME,
    VYRE_VERDICT_DIFFERENT,   /* bytes of an output */
    VYRE_VERDICT_FENCE,       /* something beside an output, or an input, was written */
    VYRE_VERDICT_FAILED,      /* the backend refused or broke off */
    VYRE_VERDICT_UNSUPPORTED, /* the backend says that it cannot run this; no fault */
} vyre_verdict;

typedef struct vyre_comparison {
    vyre_verdict verdict;
    char text[512]; /* what differs, for people; empty where nothing does */
    uint64_t differing[VYRE_LIMIT_ARGUMENTS / 64]; /* outputs that do, a bit each */
    uint64_t element;                              /* of the first of them: the first that does */
} vyre_comparison;

typedef struct vyre_conform {
    vyre_device *oracle, *subject;
    /* Whether there is one answer at all, asked of programs that were cut down: one without a race
     * may have one then. */
    bool (*has_one_answer)(const vyre_program *program, const vyre_input *inputs,
                           size_t input_count);
} vyre_conform;

/* What the oracle says to a program with the arguments of a trial, settled by its properties. */
VYRE_MUST_USE vyre_status vyre_conform_expect(const vyre_conform *conform, const vyre_trial *trial,
                                              const vyre_program *program,
                                              vyre_outputs *out_expected);

/* Holds the subject against that. A status only if memory ran out. */
VYRE_MUST_USE vyre_status vyre_conform_compare(const vyre_conform *conform, const vyre_trial *trial,
                                               const vyre_program *program,
                                               const vyre_outputs *expected,
                                               vyre_comparison *out_comparison);

/* Cuts a trial down as far as it still fails, with the same verdict. The comparison is that of the
 * result. */
VYRE_MUST_USE vyre_status vyre_conform_shrink(const vyre_conform *conform, vyre_trial *trial,
                                              vyre_comparison *comparison);

#endif
