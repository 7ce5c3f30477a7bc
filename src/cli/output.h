/* Output: results to stdout, everything else to stderr.
 *
 * A result that cannot be written is remembered, later ones are dropped, and cli_output_finish
 * turns the exit status into a failure; so callers need not test each write. Trouble with stderr is
 * ignored, there being nobody left to tell. */
#ifndef VYRE_CLI_OUTPUT_H
#define VYRE_CLI_OUTPUT_H

#include "cli/command.h"

/* To be called before any other file is opened: makes sure that none takes the place of a standard
 * stream that the caller closed. */
void cli_output_prepare(void);

/* Writes what the buffer holds and empties it. One that ran out of memory is a failure, too.
 * Names and texts from outside may stand in it: controls other than line feed and tab, and what
 * changes the direction of text, leave as escapes. */
void cli_output_write(vyre_strbuf *text);

/* The same for a result that others read on, such as a program: as it is into a file or a pipe,
 * with escapes onto a terminal. */
void cli_output_write_data(vyre_strbuf *data);

/* The same without a change, for text with colours. The caller has made visible what is not
 * its own. */
void cli_output_write_rendered(vyre_strbuf *text);

/* False once stdout could not be written; commands that write without end stop then. */
bool cli_output_is_open(void);

/* The exit status to end with. Says why stdout could not be written, unless its reader left. */
cli_exit cli_output_finish(cli_exit status);

bool cli_output_is_terminal(void);

/* Whether colours are wanted on stdout and on stderr: on terminals that have them, without
 * NO_COLOR.
 */
bool cli_output_has_color(void);
bool cli_message_has_color(void);

/* The same to stderr, after everything that went to stdout before. */
void cli_message_write(vyre_strbuf *text);
void cli_message_write_rendered(const char *data, size_t size);
void cli_message_print(const char *format, ...) VYRE_PRINTF(1, 2);

/* The same for what is good to know, and is neither a warning nor an error: nothing once notes are
 * not wanted. */
void cli_message_note(const char *format, ...) VYRE_PRINTF(1, 2);
void cli_message_set_quiet(bool quiet);
bool cli_message_is_quiet(void);

/* The error for a file whose name is empty. */
VYRE_MUST_USE vyre_status cli_no_name(const char *what);

/* How the command should end because of a status. */
cli_exit cli_exit_of(vyre_status status);

/* Says what failed and frees the status; returns how the command should end because of it. The text
 * starts with the command's name, which may be NULL. */
cli_exit cli_message_status(const cli_command *command, vyre_status status);

/* Whether a file can probably be written: called before anything costly is done for it. "-" can. */
VYRE_MUST_USE vyre_status cli_output_check(const char *path);

/* Whether two names are those of one file, there or not; devices are none. */
bool cli_output_is_same(const char *a, const char *b);

/* Writes a whole result to a file: atomically, or straight into a device or pipe. "-" is stdout. */
VYRE_MUST_USE vyre_status cli_output_save(const char *path, vyre_strbuf *contents);

#endif
