/* Testing laws: an operation as a function of data, each law on such functions (law_test.c), and
 * the values they are tested on (law_values.c). */
#ifndef VYRE_CONFORM_LAW_H
#define VYRE_CONFORM_LAW_H

#include "conform/claims.h"
#include "values/bind.h"

enum { CONFORM_LAW_DATA = 8, CONFORM_LAW_MADE = 8 };

typedef enum conform_law_shape {
    CONFORM_SHAPE_OTHER,
    CONFORM_SHAPE_PAIR, /* two buffers of one type to one buffer */
    CONFORM_SHAPE_FOLD, /* one buffer to one element */
    CONFORM_SHAPE_MAP   /* buffers to as many, of the same types */
} conform_law_shape;

/* An operation as a function of data. */
typedef struct conform_law_function {
    const vyre_operation *operation;
    const vyre_program *program;
    values_binding binding;        /* of a witness: everything that is no data */
    size_t data[CONFORM_LAW_DATA]; /* numbers of inputs */
    vyre_type types[CONFORM_LAW_DATA];
    size_t data_count;
    vyre_type results[CONFORM_LAW_DATA];
    size_t result_count;
    bool is_one;     /* the result is one element, whatever goes in */
    bool by_element; /* a fn of scalars: data of any length will do */
} conform_law_function;

/* Some data: a list of elements for each input or result. */
typedef struct conform_law_data {
    vyre_strbuf items[CONFORM_LAW_DATA];
    size_t count;
} conform_law_data;

void conform_law_data_free(conform_law_data *data);

typedef struct conform_law_test {
    vyre_device *device;
    const vyre_dialects *snapshot;
    const vyre_law *law;
    conform_law_function f, g; /* g: what undoes it */
    bool has_g;
    conform_claims *claims;
    vyre_strbuf *failures;
    bool failed, is_brief;
    uint64_t seed;
    /* Of the data at hand: lists that were made and results, freed with it; what went wrong. */
    conform_law_data made[CONFORM_LAW_MADE];
    size_t made_count;
    vyre_status trouble;
} conform_law_test;

VYRE_MUST_USE vyre_status conform_law_no_memory(const conform_law_test *t);

/* Begins a line of the failures: "mix.fold: the law identity(0)". */
void conform_law_name(const conform_law_test *t);

/* Appends the values of a type to try, as elements: all where they are few, else zeros, ones,
 * extremes, subnormals, infinities, NaN and some random ones. */
void conform_law_values(vyre_strbuf *bytes, vyre_type type);

/* Appends random elements: any bits, or small whole numbers, which meet more often. */
void conform_law_random(vyre_strbuf *bytes, vyre_type type, size_t count, uint64_t *seed);

/* -1, 0, 1; 2 where there is no order, as with NaN. */
int conform_law_order(vyre_type type, const uint8_t *left, const uint8_t *right);

/* Tests the law on some data: a, b and c of a pair; a and b of a fold; of a map all its data, then
 * b. If it does not hold, that is appended to the failures and the test has failed. */
VYRE_MUST_USE vyre_status conform_law_test_data(conform_law_test *t, conform_law_shape kind,
                                                conform_law_data *data);

#endif
