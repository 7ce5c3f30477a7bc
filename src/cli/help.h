/* Help: everything the command says about itself, from the tables. Calls append to a buffer. */
#ifndef VYRE_CLI_HELP_H
#define VYRE_CLI_HELP_H

#include "base/page.h"
#include "cli/command.h"

/* All subcommands, topics, exit statuses. */
void cli_help_overview(vyre_strbuf *text);

/* One subcommand: usage, description, options, examples. */
void cli_help_command(vyre_strbuf *text, const cli_command *command);

/* vyre(1) in roff. */
void cli_help_man(vyre_strbuf *text);

/* X(name, what to do with it): each makes a completion script. */
#define CLI_SHELLS(X)                                                                              \
    X(bash, "source it, or put it where bash-completion looks")                                    \
    X(zsh, "put it into a folder of $fpath as _vyre")                                              \
    X(fish, "put it into ~/.config/fish/completions as vyre.fish")

#define CLI_SHELL_FUNCTION(name, documentation) void cli_help_completion_##name(vyre_strbuf *text);
CLI_SHELLS(CLI_SHELL_FUNCTION)
#undef CLI_SHELL_FUNCTION

/* X(name, what it is): topics of help, which are also the generated pages of docs/. */
#define CLI_TOPICS(X)                                                                              \
    X(operations, "the operations of the language")                                                \
    X(diagnostics, "the codes of errors and warnings")                                             \
    X(limits, "how large a program may be")                                                        \
    X(environment, "the environment variables that vyre reads")

#define CLI_TOPIC_FUNCTION(name, documentation) void cli_help_##name(vyre_page *page);
CLI_TOPICS(CLI_TOPIC_FUNCTION)
#undef CLI_TOPIC_FUNCTION

/* Their names and descriptions. */
extern const cli_choice cli_topics[];

/* The last line of a topic as a page of docs/: which table of the sources it comes from. */
void cli_help_source(vyre_page *page, const char *file);

/* An environment variable. */
typedef struct cli_variable {
    const char *name, *values, *default_text, *documentation;
} cli_variable;

/* The variable with that number, from 0; false beyond the last. */
bool cli_help_variable(size_t index, cli_variable *out_variable);

#endif
