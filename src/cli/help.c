/* vyre help: explains the command, its subcommands and the tables of the project. */
#include "cli/help.h"

#include <string.h>

#include "cli/output.h"

const cli_choice cli_topics[] = {
#define ROW(name, documentation) {#name, documentation},
    CLI_TOPICS(ROW)
#undef ROW
        {NULL, NULL}};

static const cli_choice shells[] = {
#define ROW(name, documentation) {#name, documentation},
    CLI_SHELLS(ROW)
#undef ROW
        {NULL, NULL}};

#define OPTIONS(X)                                                                                 \
    X(MAN, 0, "--man", NULL, NULL, "print the man page in roff")                                   \
    X(COMPLETION, 0, "--completion", "SHELL", shells, "print completions for a shell")             \
    X(DOCS, 0, "--docs", "TOPIC", cli_topics, "print a topic as the Markdown page in docs/")

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre help check", "explain a subcommand"},
    {"vyre help limits", "explain a topic"},
    {"source <(vyre help --completion bash)", "turn on completion in bash"},
    {NULL, NULL},
};

const cli_command cli_command_help = {
    .name = "help",
    .operands = "[SUBCOMMAND|TOPIC]",
    .summary = "explain vyre, a subcommand or a topic",
    .text = "Prints the help of a subcommand, or a topic: a reference table, such as the limits of "
            "a program. Without an operand it lists the subcommands and topics.",
    .operand = CLI_OPERAND_TOPIC,
    .operands_max = 1,
    CLI_COMMAND_PARTS,
};

enum { INDENT = 2, DEEPER = 6 };

/* "  term   documentation", the latter from a column on, in a line of its own where it must. */
static void write_entry(vyre_strbuf *text, size_t indent, const char *term, size_t column,
                        const char *documentation) {
    size_t size = indent + strlen(term);
    vyre_strbuf_repeat(text, ' ', indent);
    vyre_strbuf_puts(text, term);
    if (size >= column) {
        vyre_strbuf_putc(text, '\n');
        size = 0;
    }
    vyre_strbuf_repeat(text, ' ', column - size);
    vyre_page_wrap(text, documentation, column, column);
}

static void write_command_term(vyre_strbuf *text, const cli_command *command) {
    vyre_strbuf_printf(text, "%s%s%s", command->name, *command->operands ? " " : "",
                       command->operands);
}

void cli_help_overview(vyre_strbuf *text) {
    size_t column = 30;
    vyre_strbuf term = {0};
    vyre_strbuf_puts(text, "vyre: run compute kernels with the same results, byte for byte, on "
                           "every device\n\n"
                           "usage: vyre SUBCOMMAND [ARGUMENTS]\n\n"
                           "subcommands:\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        vyre_strbuf_cut(&term, 0);
        write_command_term(&term, cli_commands[i]);
        write_entry(text, INDENT, vyre_strbuf_string(&term), column, cli_commands[i]->summary);
    }
    vyre_strbuf_puts(text, "\ntopics of help:\n");
    for (size_t i = 0; cli_topics[i].text; i++) {
        write_entry(text, INDENT, cli_topics[i].text, column, cli_topics[i].documentation);
    }
    vyre_strbuf_puts(text, "\nexit status:\n");
#define ROW(name, status, documentation) write_entry(text, INDENT, #status, column, documentation);
    CLI_EXITS(ROW)
#undef ROW
    vyre_strbuf_puts(text,
                     "\nA FILE of - is stdin. `vyre help SUBCOMMAND` explains a subcommand.\n");
    text->failed |= term.failed;
    vyre_strbuf_free(&term);
}

static void write_option(vyre_strbuf *text, const cli_option *option, size_t column) {
    vyre_strbuf term = {0};
    if (option->letter) {
        vyre_strbuf_printf(&term, "-%c, ", option->letter);
    }
    vyre_strbuf_printf(&term, "%s%s%s", option->name, option->value ? " " : "",
                       option->value ? option->value : "");
    write_entry(text, INDENT, vyre_strbuf_string(&term), column, option->documentation);
    for (size_t i = 0; option->choices && option->choices[i].text; i++) {
        write_entry(text, DEEPER, option->choices[i].text, column,
                    option->choices[i].documentation);
    }
    text->failed |= term.failed;
    vyre_strbuf_free(&term);
}

static void write_paragraph(vyre_strbuf *text, const char *paragraph) {
    vyre_page_wrap(text, paragraph, 0, 0);
}

void cli_help_command(vyre_strbuf *text, const cli_command *command) {
    size_t column = 24;
    vyre_strbuf_printf(text, "vyre %s: %s\n\nusage: vyre ", command->name, command->summary);
    write_command_term(text, command);
    vyre_strbuf_puts(text, command->option_count ? " [OPTIONS]\n\n" : "\n\n");
    vyre_page_paragraphs(text, command->text, write_paragraph, "\n");
    vyre_strbuf_putc(text, '\n');
    vyre_strbuf_puts(text, "options:\n");
    for (size_t i = 0; i < command->option_count; i++) {
        write_option(text, &command->options[i], column);
    }
    write_option(text, &cli_option_quiet, column);
    write_option(text, &cli_option_help, column);
    vyre_strbuf_puts(text, command->examples ? "\nexamples:\n" : "");
    for (size_t i = 0; command->examples && command->examples[i].command; i++) {
        vyre_strbuf_printf(text, "%*s%s\n%*s%s\n", INDENT, "", command->examples[i].command, DEEPER,
                           "", command->examples[i].documentation);
    }
}

static bool write_topic(vyre_strbuf *text, const char *name, bool is_markdown) {
    vyre_page page = {.text = text, .is_markdown = is_markdown};
#define TOPIC(topic, documentation)                                                                \
    if (!strcmp(name, #topic)) {                                                                   \
        cli_help_##topic(&page);                                                                   \
        return true;                                                                               \
    }
    CLI_TOPICS(TOPIC)
#undef TOPIC
    return false;
}

static void write_completion(vyre_strbuf *text, const char *shell) {
#define SHELL(name, documentation)                                                                 \
    if (!strcmp(shell, #name)) {                                                                   \
        cli_help_completion_##name(text);                                                          \
    }
    CLI_SHELLS(SHELL)
#undef SHELL
}

static vyre_status unknown_topic(const char *word) {
    const char *names[] = {
#define NAME(name) #name,
        CLI_COMMANDS(NAME)
#undef NAME
#define NAME(name, documentation) #name,
            CLI_TOPICS(NAME)
#undef NAME
                NULL};
    return cli_unknown("subcommand or topic", word, names,
                       "`vyre help` lists the subcommands and "
                       "topics");
}

static cli_exit run(const cli_arguments *arguments) {
    vyre_strbuf text = {0};
    const cli_value *values = arguments->values;
    int given = values[MAN].given + values[COMPLETION].given + values[DOCS].given +
                (arguments->operand_count > 0);
    if (given > 1) {
        return cli_message_status(arguments->command,
                                  vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                                   "ask for one at a time",
                                                   "the command line asks for several help texts"));
    }
    if (values[MAN].given) {
        cli_help_man(&text);
    } else if (values[COMPLETION].given) {
        write_completion(&text, values[COMPLETION].text);
    } else if (values[DOCS].given) {
        write_topic(&text, values[DOCS].text, true);
    } else if (arguments->operand_count) {
        const char *word = arguments->operands[0];
        const cli_command *command = cli_command_find(word);
        if (command) {
            cli_help_command(&text, command);
        } else if (!write_topic(&text, word, false)) {
            return cli_message_status(arguments->command, unknown_topic(word));
        }
    } else {
        cli_help_overview(&text);
    }
    cli_output_write(&text);
    return CLI_EXIT_DONE;
}
