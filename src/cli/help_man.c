/* The man page vyre(1), from the tables. */
#include <string.h>

#include "cli/help.h"

/* Text for roff: dashes are real ones, and no word starts with a dot, which may begin a line. */
static void escape(vyre_strbuf *text, const char *string, size_t size) {
    for (size_t i = 0; i < size; i++) {
        bool starts_word = i == 0 || string[i - 1] == ' ';
        switch (string[i]) {
        case '-': vyre_strbuf_puts(text, "\\-"); break;
        case '\\': vyre_strbuf_puts(text, "\\e"); break;
        case '\'': vyre_strbuf_puts(text, "\\(aq"); break;
        case '`': vyre_strbuf_puts(text, "\\(ga"); break;
        case '~': vyre_strbuf_puts(text, "\\(ti"); break;
        case '^': vyre_strbuf_puts(text, "\\(ha"); break;
        case '.': vyre_strbuf_puts(text, starts_word ? "\\&." : "."); break;
        default: vyre_strbuf_putc(text, string[i]); break;
        }
    }
}

/* Appends words with the code in backquotes in bold, and ends the line. */
static void write_line(vyre_strbuf *text, const char *string) {
    bool is_code = false;
    vyre_strbuf line = {0};
    while (*string) {
        size_t size = strcspn(string, "`");
        escape(&line, string, size);
        string += size;
        if (*string) {
            is_code = !is_code;
            vyre_strbuf_puts(&line, is_code ? "\\fB" : "\\fR");
            string++;
        }
    }
    vyre_page_wrap(text, vyre_strbuf_string(&line), 0, 0);
    text->failed |= line.failed;
    vyre_strbuf_free(&line);
}

static void write_paragraphs(vyre_strbuf *text, const char *paragraphs) {
    vyre_page_paragraphs(text, paragraphs, write_line, ".PP\n");
}

/* A paragraph with a tag: the term, then on lines of its own what it means. */
static void start_entry(vyre_strbuf *text) {
    vyre_strbuf_puts(text, ".TP\n");
}

static void write_option(vyre_strbuf *text, const cli_option *option) {
    start_entry(text);
    if (option->letter) {
        vyre_strbuf_printf(text, "\\fB\\-%c\\fR, ", option->letter);
    }
    vyre_strbuf_puts(text, "\\fB");
    escape(text, option->name, strlen(option->name));
    vyre_strbuf_puts(text, "\\fR");
    if (option->value) {
        vyre_strbuf_printf(text, " \\fI%s\\fR", option->value);
    }
    vyre_strbuf_putc(text, '\n');
    write_line(text, option->documentation);
    for (size_t i = 0; option->choices && option->choices[i].text; i++) {
        vyre_strbuf_printf(text, ".br\n\\fB%s\\fR:\n", option->choices[i].text);
        write_line(text, option->choices[i].documentation);
    }
}

static void write_command(vyre_strbuf *text, const cli_command *command) {
    vyre_strbuf_printf(text, ".SS \"vyre %s", command->name);
    if (*command->operands) {
        vyre_strbuf_putc(text, ' ');
        escape(text, command->operands, strlen(command->operands));
    }
    vyre_strbuf_puts(text, command->option_count ? " [OPTIONS]\"\n" : "\"\n");
    write_paragraphs(text, command->text);
    for (size_t i = 0; i < command->option_count; i++) {
        write_option(text, &command->options[i]);
    }
}

static void write_examples(vyre_strbuf *text) {
    vyre_strbuf_puts(text, ".SH EXAMPLES\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_example *example = cli_commands[i]->examples;
        for (; example && example->command; example++) {
            start_entry(text);
            vyre_strbuf_puts(text, "\\fB");
            escape(text, example->command, strlen(example->command));
            vyre_strbuf_puts(text, "\\fR\n");
            write_line(text, example->documentation);
        }
    }
}

void cli_help_man(vyre_strbuf *text) {
    vyre_strbuf_printf(text, ".TH VYRE 1 \"\" \"vyre %s\" \"User Commands\"\n", vyre_version());
    vyre_strbuf_puts(text,
                     ".SH NAME\nvyre \\- run compute kernels with the same results, byte for byte, "
                     "on every device\n.SH SYNOPSIS\n\\fBvyre\\fR \\fISUBCOMMAND\\fR "
                     "[\\fIARGUMENTS\\fR]\n.SH DESCRIPTION\n");
    write_paragraphs(
        text, "Results go to stdout, everything else to stderr. A FILE of - is stdin. Options may "
              "appear anywhere after the subcommand, as `--name VALUE` or `--name=VALUE`. Every "
              "word after `--` is an operand. Every subcommand takes `--help`, and `-q` or "
              "`--quiet`, which prints no notes.");
    vyre_strbuf_puts(text, ".SH SUBCOMMANDS\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        write_command(text, cli_commands[i]);
    }
    vyre_strbuf_puts(text, ".SH \"TOPICS OF HELP\"\n");
    for (size_t i = 0; cli_topics[i].text; i++) {
        start_entry(text);
        vyre_strbuf_printf(text, "\\fB%s\\fR\n", cli_topics[i].text);
        write_line(text, cli_topics[i].documentation);
    }
    vyre_strbuf_puts(text, ".SH ENVIRONMENT\n");
    cli_variable variable;
    for (size_t i = 0; cli_help_variable(i, &variable); i++) {
        start_entry(text);
        vyre_strbuf_printf(text, "\\fB%s\\fR\n", variable.name);
        vyre_strbuf line = {0};
        vyre_strbuf_printf(&line, "%s (%s%s%s)", variable.documentation, variable.values,
                           *variable.default_text ? "; default: " : "", variable.default_text);
        write_line(text, vyre_strbuf_string(&line));
        text->failed |= line.failed;
        vyre_strbuf_free(&line);
    }
    vyre_strbuf_puts(text, ".SH \"EXIT STATUS\"\n");
#define ROW(name, status, documentation)                                                           \
    start_entry(text);                                                                             \
    vyre_strbuf_puts(text, "\\fB" #status "\\fR\n");                                               \
    write_line(text, documentation);
    CLI_EXITS(ROW)
#undef ROW
    write_examples(text);
}
