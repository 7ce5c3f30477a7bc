/* The parts of `vyre ops`. */
#ifndef VYRE_CLI_OPS_H
#define VYRE_CLI_OPS_H

#include <vyre/device.h>
#include <vyre/dialect.h>

#include "base/json.h"
#include "cli/command.h"

/* What there is to know of one operation. */
void cli_ops_show_text(vyre_strbuf *text, const vyre_operation *operation);
void cli_ops_show_json(vyre_json *json, const vyre_operation *operation);

/* Watches a folder until the time is over, UINT64_MAX being never, and prints each change. */
cli_exit cli_ops_watch(const cli_command *command, const char *folder, uint64_t timeout_ns,
                       cli_format format);

/* Whether the witnesses and laws of an operation hold on a device, and its sample runs. What does
 * not is appended to `failures`, a line each, and counted. A status is trouble of another kind. */
typedef struct cli_ops_tally {
    bool suiting; /* only variants that suit the device are asked for */
    size_t operations, witnesses, samples, laws, cases, failures;
    size_t unsupported; /* failures that are no fault: the device cannot run the program */
    uint64_t digest;    /* of all outputs that were seen */
} cli_ops_tally;

void cli_ops_tally_outputs(cli_ops_tally *tally, const vyre_outputs *outputs);

VYRE_MUST_USE vyre_status cli_witnesses_check(vyre_device *device, const vyre_operation *operation,
                                              cli_ops_tally *tally, vyre_strbuf *failures);
VYRE_MUST_USE vyre_status cli_samples_check(vyre_device *device, const vyre_operation *operation,
                                            cli_ops_tally *tally, vyre_strbuf *failures);
VYRE_MUST_USE vyre_status cli_laws_check(vyre_device *device, const vyre_dialects *snapshot,
                                         const vyre_operation *operation, cli_ops_tally *tally,
                                         vyre_strbuf *failures);
/* The same for one of its laws. `is_brief` tries fewer values where three of them meet. */
VYRE_MUST_USE vyre_status cli_law_check(vyre_device *device, const vyre_dialects *snapshot,
                                        const vyre_operation *operation, size_t law, bool is_brief,
                                        cli_ops_tally *tally, vyre_strbuf *failures);

#endif
