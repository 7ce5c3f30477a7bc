/* Suites: programs with arguments that every backend must give the same bytes for.
 *
 *     conform_suite suite;
 *     status = conform_suite_make(CONFORM_SUITE_SPECIAL, &suite);
 *     for (size_t first = 0; first < suite.case_count; first = end) {
 *         end = conform_suite_group_end(&suite, first);      cases that one program runs
 *         status = conform_suite_run(&runner, &suite, chosen, count, results);
 *     }
 *     conform_suite_free(&suite);
 *
 * A case is known by its id, "special.f32.add", and carries tags. Cases of a group are outputs of
 * one program, so that a compiler is asked once for many of them; any part of a group can be run.
 *
 * suite_table.c     operations on values, at all types, from the table of operations
 * suite_programs.c  everything else, as text: suite_programs.txt
 * suite_vectors.c   operands of floats, without end
 * suite_values.c    values worth trying         suite_records.txt  the digest of each case's bytes
 * suite_run.c       cases on a device
 */
#ifndef VYRE_CONFORM_SUITE_H
#define VYRE_CONFORM_SUITE_H

#include "base/arena.h"
#include "base/vec.h"
#include "conform/compare.h"

/* X(name, text, what is in it). Those that are made here come first. */
#define CONFORM_SUITES(X)                                                                          \
    X(OPERATIONS, "operations", "every operation at every type, memory, control flow, phases")     \
    X(SPECIAL, "special",                                                                          \
      "the same operations on extremes, subnormals, infinities and NaN, and on "                   \
      "all 8-bit values")                                                                          \
    X(FLOATS, "floats",                                                                            \
      "arithmetic, comparisons and conversions of floats on --vectors operands of every kind")     \
    X(SIZES, "sizes",                                                                              \
      "lengths, domains and repeats of 0, 1, and around powers of two and hardware "               \
      "sizes")                                                                                     \
    X(LAWS, "laws", "the laws that the library's manifests declare")                               \
    X(LIBRARY, "library",                                                                          \
      "the library's operations on their witnesses and on samples of several sizes")               \
    X(SMALL, "small", "random programs of a few lines, each about one rule")                       \
    X(RANDOM, "random", "large random programs that mix all features")

typedef enum conform_suite_kind {
#define CONFORM_SUITE_ENUM(name, text, documentation) CONFORM_SUITE_##name,
    CONFORM_SUITES(CONFORM_SUITE_ENUM)
#undef CONFORM_SUITE_ENUM
        CONFORM_SUITE_COUNT,
    CONFORM_SUITE_FIXED = CONFORM_SUITE_LAWS,  /* how many are made here */
    CONFORM_SUITE_SEEDED = CONFORM_SUITE_SMALL /* from here on programs are drawn from seeds */
} conform_suite_kind;

const char *conform_suite_name(conform_suite_kind kind);

/* X(name, text, what such cases have). In front of these stand the types, by their numbers: cases
 * that have a value of that type. */
#define CONFORM_TAGS(X)                                                                            \
    X(INTEGER, "integer", "integer arithmetic")                                                    \
    X(FLOAT, "float", "floating-point arithmetic")                                                 \
    X(ELEMENTARY, "elementary", "an elementary function")                                          \
    X(CONVERSION, "conversion", "conversions and bitcasts")                                        \
    X(CONSTANT, "constant", "constant operands")                                                   \
    X(MEMORY, "memory", "arrays: bounds, zeros before the first write, indices of all types")      \
    X(CONTROL, "control", "branches, loops, calls")                                                \
    X(WORKGROUP, "workgroup", "workgroups, shared arrays, barriers")                               \
    X(SUBGROUP, "subgroup", "subgroup operations")                                                 \
    X(MATRIX, "matrix", "matrix products of tiles")                                                \
    X(ATOMIC, "atomic", "atomics")                                                                 \
    X(PHASES, "phases", "several phases, repeats, domains from memory, grid barriers")             \
    X(SCHEDULE, "schedule-dependent", "outputs compared by a property instead of by bytes")        \
    X(LAW, "law", "a law of an operation of the library")                                          \
    X(WITNESS, "witness", "an example in a manifest")                                              \
    X(SAMPLE, "sample", "an operation of the library on a sample")                                 \
    X(RANDOM, "random", "a random program")                                                        \
    X(SLOW, "slow", "takes more than a tenth of a second on a CPU")

typedef enum conform_tag {
#define CONFORM_TAG_TYPE(name, number, text, bytes, class_name) CONFORM_TAG_##name,
    VYRE_TYPES(CONFORM_TAG_TYPE)
#undef CONFORM_TAG_TYPE
#define CONFORM_TAG_ENUM(name, text, documentation) CONFORM_TAG_##name,
        CONFORM_TAGS(CONFORM_TAG_ENUM)
#undef CONFORM_TAG_ENUM
            CONFORM_TAG_COUNT
} conform_tag;

/* Of a set of tags. The number of a type is the number of its tag. */
#define CONFORM_TAG_BIT(tag) ((uint64_t)1 << (tag))
const char *conform_tag_name(conform_tag tag);

typedef struct conform_suite_case {
    const char *id;
    uint64_t tags;    /* CONFORM_TAG_BITs */
    uint32_t group;   /* ascending; cases with the same number stand together */
    uint32_t part[3]; /* whatever its maker knows it by */
} conform_suite_case;

/* Vectors of operands that a case of `floats` has, unless another number is asked for; and how many
 * of them are in memory at a time. */
enum { CONFORM_VECTORS = 20000, CONFORM_PART_VECTORS = 1 << 18 };

typedef struct conform_suite {
    conform_suite_kind kind;
    uint64_t vectors; /* of `floats` */
    conform_suite_case *cases;
    size_t case_count;
    vyre_arena arena; /* of ids, and of what makers keep */
    VYRE_VEC(conform_suite_case) list;
} conform_suite;

/* All cases of one of the first CONFORM_SUITE_FIXED suites. */
VYRE_MUST_USE vyre_status conform_suite_make(conform_suite_kind kind, conform_suite *out_suite);
void conform_suite_free(conform_suite *suite);

/* The first case behind the group that begins with `first`. */
size_t conform_suite_group_end(const conform_suite *suite, size_t first);

/* Some cases of one group as a trial. `owners` has for each output the place of its case in
 * `cases`, `properties` how it is compared. */
typedef struct conform_suite_trial {
    conform_trial trial;
    uint16_t owners[VYRE_LIMIT_ARGUMENTS];
    uint8_t properties[VYRE_LIMIT_ARGUMENTS]; /* conform_property; the trial has them, if any is not
                                                 that of the same bytes */
} conform_suite_trial;

VYRE_MUST_USE vyre_status conform_suite_build(const conform_suite *suite,
                                              const conform_suite_case *const *cases, size_t count,
                                              conform_suite_trial *out_trial);

/* How many parts the operands of a suite's cases come in: 1, but for many vectors. A trial that is
 * built has the first part. */
uint64_t conform_suite_parts(const conform_suite *suite);
/* Puts the operands of another part into a trial of these cases. */
VYRE_MUST_USE vyre_status conform_suite_take_part(const conform_suite *suite,
                                                  const conform_suite_case *first, uint64_t part,
                                                  conform_trial *trial);

/* The digest of a case's expected bytes as it is on record; false if there is none. */
bool conform_suite_recorded(const char *id, uint64_t *out_digest);

/* Where cases are run, and what against. */
typedef struct conform_suite_runner {
    vyre_device *oracle;
    vyre_device *device;
    uint64_t runs; /* of what a schedule may show in; others run once */
    /* A device for one more run, which is released behind it: another schedule. May be NULL. */
    vyre_status (*reopen)(uint64_t run, vyre_device **out_device);
    bool ignores_records; /* for who makes them, or has no oracle */
    bool is_alone;        /* nobody else uses the device: it may be recovered where it was lost */
} conform_suite_runner;

typedef struct conform_suite_result {
    conform_verdict verdict;
    uint64_t digest; /* of its bytes, where they are as they should be */
    char *text;      /* what is wrong; NULL where nothing is. vyre_free it */
} conform_suite_result;

/* Runs some cases of one group; `results` has one for each. What differs from the oracle, or from
 * the record, is a result; the status is for trouble of another kind. */
VYRE_MUST_USE vyre_status conform_suite_run(const conform_suite_runner *runner,
                                            const conform_suite *suite,
                                            const conform_suite_case *const *cases, size_t count,
                                            conform_suite_result *results);

/* Between the parts. */

/* Adds a case; `format` makes its id. */
void conform_suite_add(conform_suite *suite, bool *failed, uint64_t tags, uint32_t group,
                       const uint32_t part[3], const char *format, ...) VYRE_PRINTF(6, 7);

void conform_suite_table_list(conform_suite *suite, bool *failed);
VYRE_MUST_USE vyre_status conform_suite_table_build(const conform_suite *suite,
                                                    const conform_suite_case *const *cases,
                                                    size_t count, conform_suite_trial *out_trial);

void conform_suite_programs_list(conform_suite *suite, bool *failed);
VYRE_MUST_USE vyre_status conform_suite_programs_build(const conform_suite_case *chosen,
                                                       conform_suite_trial *out_trial);

/* Vector `number` of operands of `type`, as Berkeley TestFloat draws them: by turns one of all
 * tuples of floats at the bounds of ranges, and one at random that is likely to be rounded, to
 * cancel, to overflow or to underflow. One operand of 16 bits goes through
 * all values. */
void conform_vector(vyre_type type, uint32_t arity, uint64_t number, uint64_t out[3]);

/* The special values of a type; returns how many, at most CONFORM_SPECIALS. */
enum { CONFORM_SPECIALS = 256 };
size_t conform_special_values(vyre_type type, uint64_t *out_values);
/* A value drawn at random: any bits, or numbers that people use. */
uint64_t conform_random_value(vyre_type type, uint64_t *random);
/* Some constants that compilers have rules for; returns how many. */
enum { CONFORM_PLAIN_CONSTANTS = 8 };
size_t conform_plain_constants(vyre_type type, uint64_t *out_values);

#endif
