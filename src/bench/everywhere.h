/* A program on every device there is: how long it takes, and whether all give the oracle's bytes.
 *
 *     bench_everywhere all = {.program = program, .inputs = inputs, .input_count = count, ...};
 *     status = bench_everywhere_begin(&all);
 *     status = bench_everywhere_add(&all, "cpu", device, VYRE_OK);
 *     status = bench_everywhere_end(&all);
 *     bench_everywhere_text(&all, &text);
 *     bench_everywhere_deinit(&all);
 *
 * Each device runs it once, then up to five times more, for half a second at most; the median of
 * these counts. Data are the host's: the times include its way to the device and back.
 *
 * The bytes of all are compared with the oracle's, if it can compute them in a budget of steps,
 * else with those of the first device that ran. A result that depends on the schedule is compared
 * only if that is asked for. */
#ifndef VYRE_BENCH_EVERYWHERE_H
#define VYRE_BENCH_EVERYWHERE_H

#include <vyre/device.h>
#include <vyre/dialect.h>

#include "base/json.h"
#include "base/vec.h"

typedef enum bench_place_fate {
    BENCH_PLACE_RAN,
    BENCH_PLACE_MISSING,     /* the device cannot be used on this machine */
    BENCH_PLACE_UNSUPPORTED, /* the program is not for it */
    BENCH_PLACE_FAILED
} bench_place_fate;

typedef struct bench_place {
    char *name;
    bench_place_fate fate;
    vyre_status failure; /* where it did not run */
    uint64_t time_ns;
    uint64_t device_ns; /* VYRE_NO_TIME if it does not tell */
    bool is_oracle;
    bool is_compared;
    bool matches; /* the bytes that it is compared with */
    vyre_strbuf mismatch;
} bench_place;

/* What the bytes of a device are compared with. */
typedef enum bench_basis {
    BENCH_BASIS_UNDECIDED, /* until the first device has run */
    BENCH_BASIS_NONE,      /* the result depends on the schedule */
    BENCH_BASIS_FIRST,     /* the first device that ran: the oracle would take too long */
    BENCH_BASIS_ORACLE
} bench_basis;

typedef struct bench_everywhere {
    /* Set by the caller; borrowed. */
    const vyre_program *program;
    const char *name;                /* for the table */
    const vyre_operation *operation; /* whose variants suit devices; NULL: all run `program` */
    const vyre_input *inputs;
    size_t input_count;
    const vyre_dispatch_config *config;
    bool verify;       /* the oracle takes part, however long it takes */
    double operations; /* arithmetic ones of a run; 0: not known */

    VYRE_VEC(bench_place) places;
    vyre_outputs outputs; /* of the first that ran */
    uint64_t bytes;       /* of all arguments */
    bench_place oracle;   /* with its bytes, until the end */
    vyre_outputs expected;
    bench_basis basis;
} bench_everywhere;

/* The oracle runs first, where it is wanted, and is the last of the places. These fail where
 * nothing can be done at all; what devices make of it is in `places`. */
VYRE_MUST_USE vyre_status bench_everywhere_begin(bench_everywhere *all);
/* Runs it on a device; NULL if it cannot be used, for the reason that is taken over. */
VYRE_MUST_USE vyre_status bench_everywhere_add(bench_everywhere *all, const char *name,
                                               vyre_device *device, vyre_status failure);
VYRE_MUST_USE vyre_status bench_everywhere_end(bench_everywhere *all);
void bench_everywhere_deinit(bench_everywhere *all);

/* How many ended like that; of those that ran, with other bytes than they should have. */
size_t bench_everywhere_count(const bench_everywhere *all, bench_place_fate fate);
size_t bench_everywhere_differing(const bench_everywhere *all);

/* The table for people. Its columns are wide enough for several to stand below each other. */
void bench_everywhere_text(const bench_everywhere *all, vyre_strbuf *text);
/* The value of a member: a list of all devices. */
void bench_everywhere_json(const bench_everywhere *all, vyre_json *json);

#endif
