/* vyre version. */
#include "cli/command.h"

#include "cli/output.h"

static cli_exit run(const cli_arguments *arguments) {
    (void)arguments;
    vyre_strbuf text = {0};
    vyre_strbuf_printf(&text, "vyre %s\n", vyre_version());
    cli_output_write(&text);
    return CLI_EXIT_DONE;
}

const cli_command cli_command_version = {
    .name = "version",
    .operands = "",
    .summary = "print the version",
    .text = "Prints the version of the command and of the library in it, as `vyre --version` does.",
    .run = run,
};
