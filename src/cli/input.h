/* Input: a FILE of the command line, text or binary, and the programs in it; or the id of an
 * operation, whose program it is then. */
#ifndef VYRE_CLI_INPUT_H
#define VYRE_CLI_INPUT_H

#include <vyre/dialect.h>
#include <vyre/text.h>

#include "cli/command.h"

typedef struct cli_input {
    const char *name; /* for messages: the path, or "<stdin>" */
    vyre_strbuf contents;
    bool is_wire;
    vyre_diagnostics *diagnostics;   /* of text; NULL until it is loaded */
    vyre_module *module;             /* of text */
    vyre_program *program;           /* of binary, or of an operation */
    const vyre_operation *operation; /* that is meant; NULL: a file is */
    vyre_dialects_guard guard;       /* of the registry that it belongs to */
    bool is_entered;
} cli_input;

/* What a FILE is where an OPERATION may stand in its place. */
#define CLI_INPUT_OPERANDS "FILE|OPERATION"
/* Reads the bytes; "-" is stdin. Deinit it whatever comes out. */
VYRE_MUST_USE vyre_status cli_input_read(cli_input *input, const char *path);

/* The same; a word that is no file may be the id of an operation. One without a program has none to
 * load. `variant` is which one of its programs is meant, NULL its own. */
VYRE_MUST_USE vyre_status cli_input_open(cli_input *input, const char *path, const char *variant);

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

/* Loads what was opened, tells of it, and chooses. False if that is the end, and how it ends. */
bool cli_input_take(cli_input *input, const cli_command *command, const char *name,
                    const char *why_one, cli_selection *out, cli_exit *out_result);

size_t cli_input_errors(const cli_input *input);
size_t cli_input_warnings(const cli_input *input);

/* The diagnostics as text; free it with vyre_string_free. */
VYRE_MUST_USE vyre_status cli_input_render(const cli_input *input, vyre_diagnostic_form form,
                                           char **out_text, size_t *out_size);

/* Shows the diagnostics, and the status of a load or format if they do not contain its error. Frees
 * the status, which may be NULL, and returns how the command should end because of it. */
cli_exit cli_input_report(const cli_input *input, const cli_command *command, vyre_status status);

#endif
