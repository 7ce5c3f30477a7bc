/* vyre: the command. Looks up the subcommand, reads its options, runs it. */
#include <string.h>
#include <unistd.h>

#include "base/option.h"
#include "cli/command.h"
#include "cli/complete.h"
#include "cli/help.h"
#include "cli/output.h"

static void print_log(void *user, vyre_log_level level, const char *message) {
    (void)user;
    cli_message_print("vyre: %s: %s\n", vyre_log_level_name(level), message);
}

/* What may stand in place of a subcommand: long options that are names of one. */
static const char *subcommand_of(const char *word) {
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
        return cli_command_help.name;
    }
    return strcmp(word, "--version") != 0 ? word : cli_command_version.name;
}

static vyre_status unknown_subcommand(const char *word) {
    const char *names[] = {
#define NAME(name) #name,
        CLI_COMMANDS(NAME)
#undef NAME
            "--help",
        "--version", NULL};
    vyre_strbuf fix = {0};
    if (*word == '-') {
        vyre_strbuf_puts(&fix,
                         "put options after the subcommand; `vyre help` lists the subcommands");
    } else if (access(word, F_OK) == 0) {
        vyre_strbuf_printf(&fix, "use `vyre check %s` to check that file", word);
    } else {
        vyre_strbuf_puts(&fix, "`vyre help` lists the subcommands");
    }
    vyre_status status =
        cli_unknown(*word == '-' ? "option" : "subcommand", word, names, vyre_strbuf_string(&fix));
    vyre_strbuf_free(&fix);
    return status;
}

static cli_exit run(size_t count, const char **words) {
    int level;
    vyre_status status = vyre_option_choice(VYRE_OPTION_LOG, &level);
    if (status) {
        return cli_message_status(NULL, status);
    }
    vyre_log_set(print_log, NULL, (vyre_log_level)level);
    if (!count) {
        vyre_strbuf text = {0};
        cli_help_overview(&text);
        cli_message_write(&text);
        return CLI_EXIT_USAGE;
    }
    if (!strcmp(words[0], CLI_COMPLETE)) {
        return cli_complete(count - 1, words + 1);
    }
    const cli_command *command = cli_command_find(subcommand_of(words[0]));
    if (!command) {
        return cli_message_status(NULL, unknown_subcommand(words[0]));
    }
    cli_arguments arguments;
    status = cli_arguments_parse(command, count - 1, words + 1, &arguments);
    if (status) {
        return cli_message_status(command, status);
    }
    cli_message_set_quiet(arguments.quiet);
    if (arguments.help) {
        vyre_strbuf text = {0};
        cli_help_command(&text, command);
        cli_output_write(&text);
        return CLI_EXIT_DONE;
    }
    return command->run(&arguments);
}

int main(int argc, char **argv) {
    cli_output_prepare();
    /* An empty argv is possible, too. */
    size_t count = argc > 0 ? (size_t)argc - 1 : 0;
    return (int)cli_output_finish(run(count, (const char **)argv + (argc > 0)));
}
