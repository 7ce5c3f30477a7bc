/* Testing laws: an operation as a function of data, and each law on such functions. */
#ifndef VYRE_CONFORM_LAW_H
#define VYRE_CONFORM_LAW_H

#include "cli/ops.h"
#include "values/bind.h"

enum { CLI_LAW_DATA = 8 };

typedef enum cli_law_shape {
    CLI_SHAPE_OTHER,
    CLI_SHAPE_PAIR, /* two buffers of one type to one buffer */
    CLI_SHAPE_FOLD, /* one buffer to one element */
    CLI_SHAPE_MAP   /* buffers to as many, of the same types */
} cli_law_shape;

/* An operation as a function of data. */
typedef struct cli_law_function {
    const vyre_operation *operation;
    const vyre_program *program;
    cli_binding binding;       /* of a witness: everything that is no data */
    size_t data[CLI_LAW_DATA]; /* numbers of inputs */
    vyre_type types[CLI_LAW_DATA];
    size_t data_count;
    vyre_type results[CLI_LAW_DATA];
    size_t result_count;
    bool is_one;     /* the result is one element, whatever goes in */
    bool by_element; /* a fn of scalars: data of any length will do */
} cli_law_function;

typedef struct cli_law_test {
    vyre_device *device;
    const vyre_dialects *snapshot;
    const vyre_law *law;
    cli_law_function f, g; /* g: what undoes it */
    bool has_g;
    cli_ops_tally *tally;
    vyre_strbuf *failures;
    bool failed, is_brief;
    uint64_t seed;
} cli_law_test;

/* Some data: a list of elements for each input or result. */
typedef struct cli_law_data {
    vyre_strbuf items[CLI_LAW_DATA];
    size_t count;
} cli_law_data;

void cli_law_data_free(cli_law_data *data);

VYRE_MUST_USE vyre_status cli_law_no_memory(const cli_law_test *t);

/* Tests the law on some data: a, b and c of a pair; a and b of a fold; of a map all its data, then
 * b. What does not hold is told, and the test has failed. */
VYRE_MUST_USE vyre_status cli_law_test_data(cli_law_test *t, cli_law_shape kind,
                                            cli_law_data *data);

#endif
