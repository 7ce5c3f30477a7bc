/* A program on every device there is: how long it takes, and whether all give the oracle's bytes.
 *
 *     cli_everywhere all = {.program = program, .inputs = inputs, .input_count = count, ...};
 *     status = cli_everywhere_run(&all);
 *     cli_everywhere_text(&all, &text);
 *     cli_everywhere_deinit(&all);
 *
 * Each device runs it once, then up to five times more, for half a second at most; the median of
 * these counts. Data are the host's: the times include its way to the device and back. */
#ifndef VYRE_CLI_EVERYWHERE_H
#define VYRE_CLI_EVERYWHERE_H

#include <vyre/device.h>
#include <vyre/dialect.h>

#include "base/json.h"
#include "base/vec.h"

typedef enum cli_place_fate {
    CLI_PLACE_RAN,
    CLI_PLACE_MISSING,     /* the device cannot be used on this machine */
    CLI_PLACE_UNSUPPORTED, /* the program is not for it */
    CLI_PLACE_FAILED
} cli_place_fate;

typedef struct cli_place {
    char *name;
    cli_place_fate fate;
    vyre_status failure; /* where it did not run */
    uint64_t time_ns;
    uint64_t device_ns; /* VYRE_NO_TIME if it does not tell */
    bool is_oracle;
    bool matches; /* the oracle's bytes, where it was asked */
    vyre_strbuf mismatch;
} cli_place;

typedef struct cli_everywhere {
    /* Set by the caller; borrowed. */
    const vyre_program *program;
    const vyre_operation *operation; /* whose variants suit devices; or NULL */
    const char *variant;             /* the one to take everywhere; or NULL */
    const vyre_input *inputs;
    size_t input_count;
    const vyre_dispatch_config *config;
    bool verify;       /* runs the oracle, too, once */
    double operations; /* arithmetic ones that a run does; 0: nobody says */

    VYRE_VEC(cli_place) places;
    vyre_outputs outputs; /* of the first that ran */
    uint64_t bytes;       /* of all arguments */
} cli_everywhere;

/* Fails where nothing can be done at all; what devices make of it is in `places`. */
VYRE_MUST_USE vyre_status cli_everywhere_run(cli_everywhere *all);
void cli_everywhere_deinit(cli_everywhere *all);

/* How many ended like that; of those that ran, with other bytes than the oracle's. */
size_t cli_everywhere_count(const cli_everywhere *all, cli_place_fate fate);
size_t cli_everywhere_differing(const cli_everywhere *all);

/* The table for people. Its columns are wide enough for several to stand below each other. */
void cli_everywhere_text(const cli_everywhere *all, vyre_strbuf *text);
/* The value of a member: a list of all devices. */
void cli_everywhere_json(const cli_everywhere *all, vyre_json *json);

#endif
