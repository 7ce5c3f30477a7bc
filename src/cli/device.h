/* Devices, as -b names them. */
#ifndef VYRE_CLI_DEVICE_H
#define VYRE_CLI_DEVICE_H

#include "cli/command.h"
#include "driver/backend.h"

/* A row for the table of options of a subcommand. */
#define CLI_DEVICE_OPTION(X)                                                                       \
    X(BACKEND, 'b', "--backend", "DEVICE", NULL, "where to run: auto or the id of a backend")

/* The backend that is meant, and why it is that one, for people. NULL is `auto`. An unknown one is
 * a status NOT_FOUND, for which the command ends with CLI_EXIT_BACKEND. */
VYRE_MUST_USE vyre_status cli_device_find(const char *name, const vyre_backend **out_backend,
                                          const char **out_why);

#endif
