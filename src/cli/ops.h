/* The parts of `vyre ops`. */
#ifndef VYRE_CLI_OPS_H
#define VYRE_CLI_OPS_H

#include <vyre/device.h>
#include <vyre/dialect.h>

#include "base/json.h"
#include "base/page.h"
#include "cli/command.h"

/* What there is to know of one operation. */
void cli_ops_show_text(vyre_strbuf *text, const vyre_operation *operation);
void cli_ops_show_json(vyre_json *json, const vyre_operation *operation);

/* Watches a folder until the time is over, UINT64_MAX being never, and prints each change. */
cli_exit cli_ops_watch(const cli_command *command, const char *folder, uint64_t timeout_ns,
                       vyre_format format);

#endif
