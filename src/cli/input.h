/* Input: a FILE of the command line, text or binary, and the programs in it. */
#ifndef VYRE_CLI_INPUT_H
#define VYRE_CLI_INPUT_H

#include <vyre/text.h>

#include "cli/command.h"

typedef struct cli_input {
    const char *name; /* for messages: the path, or "<stdin>" */
    vyre_text contents;
    bool is_wire;
    vyre_diagnostics *diagnostics; /* of text; NULL until it is loaded */
    vyre_module *module;           /* of text */
    vyre_program *program;         /* of binary */
} cli_input;

/* Reads the bytes; "-" is stdin. Deinit it whatever comes out. */
VYRE_MUST_USE vyre_status cli_input_read(cli_input *input, const char *path);

/* Makes programs of them. */
VYRE_MUST_USE vyre_status cli_input_load(cli_input *input);

void cli_input_deinit(cli_input *input);

/* 0 until they are loaded. */
size_t cli_input_count(const cli_input *input);
vyre_program *cli_input_program(const cli_input *input, size_t index);

/* A range of a file's programs. */
typedef struct cli_selection {
    size_t first, end;
} cli_selection;

/* The program of that name; all of them where it is NULL, which must be one where a reason is given
 * why there can be only one: "the binary form holds one". */
VYRE_MUST_USE vyre_status cli_input_choose(const cli_input *input, const char *name,
                                           const char *why_one, cli_selection *out);

size_t cli_input_errors(const cli_input *input);
size_t cli_input_warnings(const cli_input *input);

/* The diagnostics as text; free it with vyre_string_free. */
VYRE_MUST_USE vyre_status cli_input_render(const cli_input *input, vyre_diagnostic_form form,
                                           char **out_text, size_t *out_size);

/* Shows the diagnostics, and the status of a load or format if they do not contain its error. Frees
 * the status, which may be NULL, and returns how the command should end because of it. */
cli_exit cli_input_report(const cli_input *input, const cli_command *command, vyre_status status);

#endif
