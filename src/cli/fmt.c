/* vyre fmt: the same text in canonical layout. */
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/output.h"

#define OPTIONS(X)                                                                                 \
    X(WRITE, 0, "--write", NULL, NULL, "rewrite the files that differ instead of printing")        \
    X(CHECK, 0, "--check", NULL, NULL,                                                             \
      "print the names of the files that differ, and change "                                      \
      "nothing")

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre fmt kernel.vyre", "print it in canonical layout"},
    {"vyre fmt --write examples/*.vyre", "format all examples in place"},
    {"vyre fmt --check examples/*.vyre", "fail if a file is not formatted"},
    {"vyre fmt - <kernel.vyre", "format stdin, as an editor does"},
    {NULL, NULL},
};

const cli_command cli_command_fmt = {
    .name = "fmt",
    .operands = "FILE...",
    .summary = "format source files",
    .text =
        "Prints each FILE in canonical layout, with its comments. The meaning does not change. The "
        "command refuses a file with syntax errors; it ignores other errors.\n\n"
        "With --write each file is replaced atomically: a failure leaves the old text in place. "
        "The file keeps its owner and mode. A file with several names (hard links), or one that "
        "this user cannot give back to its owner, is written in place.",
    .operand = CLI_OPERAND_FILE,
    .operands_min = 1,
    .operands_max = CLI_ANY_NUMBER,
    CLI_COMMAND_PARTS,
};

/* The text of an input in canonical layout. */
static vyre_status format(cli_input *input, char **out_text, size_t *out_size) {
    if (input->is_wire) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                "`vyre show --stage ir` prints such a program as text",
                                "%s is a program in binary form, which has no layout", input->name);
    }
    VYRE_TRY(vyre_diagnostics_create(&input->diagnostics));
    return vyre_text_format(input->name, vyre_strbuf_string(&input->contents), input->contents.size,
                            input->diagnostics, out_text, out_size);
}

/* Adds to `count` if the file was replaced, or with --check should be. */
static cli_exit format_file(const cli_arguments *arguments, const char *path, size_t *count) {
    cli_exit result = CLI_EXIT_DONE;
    bool write = arguments->values[WRITE].given, check = arguments->values[CHECK].given;
    vyre_strbuf text = {0};
    char *formatted = NULL;
    size_t size = 0;
    cli_input input;
    vyre_status status = cli_input_read(&input, path);
    if (!status) {
        status = format(&input, &formatted, &size);
    }
    if (status) {
        result = cli_input_report(&input, arguments->command, status);
        goto done;
    }
    bool differs = size != input.contents.size ||
                   memcmp(formatted, vyre_strbuf_string(&input.contents), size) != 0;
    if (write && differs) {
        status = vyre_file_replace(path, formatted, size);
        *count += !status;
        result = status ? cli_message_status(arguments->command, status) : result;
    } else if (check && differs) {
        vyre_strbuf_printf(&text, "%s\n", input.name);
        ++*count;
        result = CLI_EXIT_NO;
    } else if (!write && !check) {
        vyre_strbuf_add(&text, formatted, size);
    }
    cli_output_write_data(&text);
done:
    vyre_string_free(formatted);
    cli_input_deinit(&input);
    return result;
}

static cli_exit run(const cli_arguments *arguments) {
    bool write = arguments->values[WRITE].given, check = arguments->values[CHECK].given;
    if (write && check) {
        return cli_message_status(arguments->command,
                                  vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "leave one out",
                                                   "--write and --check exclude each other"));
    }
    for (size_t i = 0; write && i < arguments->operand_count; i++) {
        if (!strcmp(arguments->operands[i], "-")) {
            return cli_message_status(arguments->command,
                                      vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                                       "leave out --write or name a file",
                                                       "--write cannot replace stdin"));
        }
    }
    cli_exit result = CLI_EXIT_DONE;
    size_t count = 0;
    for (size_t i = 0; i < arguments->operand_count; i++) {
        cli_exit answer = format_file(arguments, arguments->operands[i], &count);
        result = answer > result ? answer : result;
    }
    if (write) {
        cli_message_note("%zu file%s, %zu changed\n", arguments->operand_count,
                         vyre_plural(arguments->operand_count), count);
    } else if (check && count) {
        cli_message_print("%zu of %zu file%s not in canonical layout. Fix: vyre fmt --write\n",
                          count, arguments->operand_count, vyre_plural(arguments->operand_count));
    }
    return result;
}
