/* Words for shell completion: `vyre complete WORD...`, which the scripts of `vyre help
 * --completion` call. It is not listed. */
#ifndef VYRE_CLI_COMPLETE_H
#define VYRE_CLI_COMPLETE_H

#include "cli/command.h"

#define CLI_COMPLETE "complete"

/* Prints the words that may stand in place of the last of `words`, one a line: those of a command
 * line behind `vyre`, where the last may be empty or unfinished. The shell takes those that fit.
 * What cannot be answered has no words; nothing is an error. */
cli_exit cli_complete(size_t count, const char *const *words);

/* Whether operands, or the value of an option, are words that this knows. */
bool cli_complete_knows_operands(const cli_command *command);
bool cli_complete_knows_value(const cli_option *option);

#endif
