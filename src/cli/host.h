/* Operations that the host does: run without a device. */
#ifndef VYRE_CLI_HOST_H
#define VYRE_CLI_HOST_H

#include <vyre/dialect.h>

#include "cli/command.h"
#include "values/bind.h"

/* Does the operation with values as for a program, but that `path=` is followed by a path. */
typedef struct cli_host_call {
    const vyre_operation *operation;
    vyre_program *shape;
    values_binding binding;
    vyre_outputs outputs;
    vyre_strbuf way; /* which way the bytes went */
    uint64_t time_ns;
} cli_host_call;

VYRE_MUST_USE vyre_status cli_host_bind(cli_host_call *call, const vyre_operation *operation,
                                        const char *const *values, size_t count);
VYRE_MUST_USE vyre_status cli_host_do(cli_host_call *call);
void cli_host_deinit(cli_host_call *call);

#endif
