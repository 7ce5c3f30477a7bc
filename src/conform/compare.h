/* Conformance: a backend held against the oracle, byte for byte.
 *
 * The backend under test writes into memory that is fenced on both sides and holds garbage before,
 * and reads inputs that are fenced too, so that a write beside an output, an element left alone and
 * a changed input all show.
 *
 * trial.h     what is run            generate.c  random ones by seed
 * compare.c   the comparison         shrink.c    the smallest one that still fails
 */
#ifndef VYRE_CONFORM_COMPARE_H
#define VYRE_CONFORM_COMPARE_H

#include <vyre/device.h>
#include <vyre/pipeline.h>

#include "conform/trial.h"

/* Properties: how an output of a program is compared, where its bytes may depend on the schedule.
 * Whatever a property lets vary is taken out of the bytes: sorted, added up. What remains must be
 * the same, and is what digests are made of. X(name, text, meaning). */
#define CONFORM_PROPERTIES(X)                                                                      \
    X(SAME, "same", "the same bytes")                                                              \
    X(PERMUTATION, "permutation", "the same elements, in any order")                               \
    X(TOTAL, "total", "elements whose sum is the same")

typedef enum conform_property {
#define CONFORM_PROPERTY_ENUM(name, text, meaning) CONFORM_PROPERTY_##name,
    CONFORM_PROPERTIES(CONFORM_PROPERTY_ENUM)
#undef CONFORM_PROPERTY_ENUM
        CONFORM_PROPERTY_COUNT
} conform_property;

/* Every run ends some time, with its compile; also on a busy machine under emulation. */
#define CONFORM_RUN_NS (UINT64_C(300) * 1000000000)

const char *conform_property_name(conform_property property);
const char *conform_property_meaning(conform_property property);

/* Brings the elements of an output into the one form that all outputs with that property have. A
 * total stands in the first element, and the others are 0. */
void conform_property_settle(conform_property property, vyre_type type, uint8_t *data, size_t size);

typedef enum conform_verdict {
    CONFORM_VERDICT_SAME,
    CONFORM_VERDICT_DIFFERENT,   /* bytes of an output */
    CONFORM_VERDICT_FENCE,       /* something beside an output, or an input, was written */
    CONFORM_VERDICT_FAILED,      /* the backend refused or broke off */
    CONFORM_VERDICT_UNSUPPORTED, /* the backend says that it cannot run this; no fault */
} conform_verdict;

typedef struct conform_comparison {
    conform_verdict verdict;
    char text[512]; /* what differs, for people; empty where nothing does */
    uint64_t differing[VYRE_LIMIT_ARGUMENTS / 64]; /* outputs that do, a bit each */
    uint64_t element;                              /* of the first of them: the first that does */
} conform_comparison;

typedef struct conform_pair {
    vyre_device *oracle, *subject;
    vyre_pipeline **kept; /* the program compiled for the subject, for more runs of it; or NULL */
    /* Whether there is one answer at all, asked of programs that were cut down: one without a race
     * may have one then. */
    bool (*has_one_answer)(const vyre_program *program, const vyre_input *inputs,
                           size_t input_count);
    uint64_t end_ns; /* of vyre_now_ns: cutting down ends then, if not sooner; 0: any time */
} conform_pair;

/* What the oracle says to a program with the arguments of a trial, settled by its properties. */
VYRE_MUST_USE vyre_status conform_expect(const conform_pair *conform, const conform_trial *trial,
                                         const vyre_program *program, vyre_outputs *out_expected);

/* Goes on with a digest over all outputs. */
uint64_t conform_digest(uint64_t digest, const vyre_outputs *outputs);

/* Holds the subject against that. A status only if memory ran out. */
VYRE_MUST_USE vyre_status conform_compare(const conform_pair *conform, const conform_trial *trial,
                                          const vyre_program *program, const vyre_outputs *expected,
                                          conform_comparison *out_comparison);

/* Holds the messages of the subject against those of the oracle, text for text. */
void conform_compare_messages(const conform_pair *conform, const vyre_program *program,
                              const vyre_input *inputs, size_t input_count,
                              conform_comparison *out_comparison);

/* Cuts a trial down as far as it still fails, with the same verdict. The comparison is that of the
 * result. */
VYRE_MUST_USE vyre_status conform_shrink(const conform_pair *conform, conform_trial *trial,
                                         conform_comparison *comparison);

#endif
