/* Certification of one subject after the other: an operation, or a program, on all devices. */
#ifndef VYRE_CLI_CERTIFY_H
#define VYRE_CLI_CERTIFY_H

#include <vyre/dialect.h>

#include "cli/device.h"
#include "cli/route_report.h"
#include "values/bind.h"
#include "values/sizes.h"

/* What devices compete in, and where that is written down. */
typedef struct cli_contest {
    cli_devices devices;
    vyre_device *oracle;
    vyre_routes *table;
    values_sizes sizes;
    values_places places;
    uint64_t budget_ns;
    vyre_route_candidate *left[2]; /* by place of data: who takes part in the next measurement */
    vyre_route_candidate *able;    /* who did the largest size that anybody did, which is this: */
    values_binding largest;
    size_t left_count[2], able_count;
    size_t done;                                            /* sizes, of all subjects */
    void (*step)(void *user, size_t done, const char *key); /* called before each size */
    void *user;
    bool (*is_interrupted)(void);
} cli_contest;

/* What they do in it. */
typedef struct cli_subject {
    const char *key;                 /* in the table */
    const vyre_operation *operation; /* NULL: a program */
    const vyre_program *program;     /* the operation's own, where it is one */
    const char *const *values;       /* NAME=VALUE; without any there are samples of all sizes */
    size_t value_count;
    bool stdin_used;
} cli_subject;

/* With devices in it; deinit it whatever comes out. */
VYRE_MUST_USE vyre_status cli_contest_open(cli_contest *contest);
void cli_contest_deinit(cli_contest *contest);

/* Measures all devices, from the smallest size on. Stops when interrupted, without a failure. */
VYRE_MUST_USE vyre_status cli_contest_hold(cli_contest *contest, const cli_subject *subject);

#endif
