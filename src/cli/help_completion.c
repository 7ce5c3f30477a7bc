/* Completions for shells, from the tables. */
#include <string.h>

#include "cli/complete.h"
#include "cli/help.h"

/* What follows must be legal within single quotes, where each shell has its own escape. */
static void quote(vyre_strbuf *text, const char *string, const char *escaped, const char *special) {
    for (; *string; string++) {
        if (*string == '\'') {
            vyre_strbuf_puts(text, escaped);
        } else {
            vyre_strbuf_puts(text, strchr(special, *string) ? "\\" : "");
            vyre_strbuf_putc(text, *string);
        }
    }
}

static void write_choices(vyre_strbuf *text, const cli_choice *choices) {
    for (size_t i = 0; choices[i].text; i++) {
        vyre_strbuf_printf(text, "%s%s", i ? " " : "", choices[i].text);
    }
}

/* Words that may follow `vyre help`. */
static void write_help_words(vyre_strbuf *text) {
    for (size_t i = 0; cli_commands[i]; i++) {
        vyre_strbuf_printf(text, "%s ", cli_commands[i]->name);
    }
    write_choices(text, cli_topics);
}

static void write_bash_values(vyre_strbuf *text, const cli_command *command) {
    for (size_t i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        if (!option->value) {
            continue;
        }
        vyre_strbuf_printf(text, "            %s:%s", command->name, option->name);
        if (option->letter) {
            vyre_strbuf_printf(text, "|%s:-%c", command->name, option->letter);
        }
        vyre_strbuf_puts(text, ") words='");
        if (option->choices) {
            write_choices(text, option->choices);
        }
        vyre_strbuf_printf(text, "'%s ;;\n", cli_complete_knows_value(option) ? " ask=1" : "");
    }
}

static void write_bash_words(vyre_strbuf *text, const cli_command *command) {
    vyre_strbuf_printf(text, "            %s:*) words='", command->name);
    if (command->operand == CLI_OPERAND_TOPIC) {
        write_help_words(text);
    }
    vyre_strbuf_printf(text, "' options='%s %s", cli_option_help.name, cli_option_quiet.name);
    for (size_t i = 0; i < command->option_count; i++) {
        vyre_strbuf_printf(text, " %s", command->options[i].name);
    }
    vyre_strbuf_printf(text, "'%s ;;\n", cli_complete_knows_operands(command) ? " ask=1" : "");
}

void cli_help_completion_bash(vyre_strbuf *text) {
    vyre_strbuf_puts(
        text, "# bash completion for vyre. Without an answer bash completes names of files.\n"
              "_vyre() {\n"
              "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
              "    local words='' options='' ask=''\n"
              "    # bash takes --name=VALUE for three words.\n"
              "    if [ \"$word\" = '=' ]; then\n"
              "        word=''\n"
              "    elif [ \"$before\" = '=' ]; then\n"
              "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
              "    fi\n"
              "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
              "        words='");
    for (size_t i = 0; cli_commands[i]; i++) {
        vyre_strbuf_printf(text, "%s ", cli_commands[i]->name);
    }
    vyre_strbuf_puts(text, "--help --version'\n"
                           "    else\n"
                           "        case ${COMP_WORDS[1]}:$before in\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        write_bash_values(text, cli_commands[i]);
    }
    for (size_t i = 0; cli_commands[i]; i++) {
        write_bash_words(text, cli_commands[i]);
    }
    vyre_strbuf_puts(text, "        esac\n"
                           "    fi\n"
                           "    if [ \"${word:0:1}\" = - ]; then\n"
                           "        words=\"$words $options\"\n"
                           "    fi\n"
                           "    if [ -n \"$ask\" ]; then\n"
                           "        words=\"$words $(\"${COMP_WORDS[0]}\" " CLI_COMPLETE
                           " \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\"\n"
                           "    fi\n"
                           "    # shellcheck disable=SC2207\n"
                           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                           "    if [ \"${COMPREPLY[0]: -1}\" = = ]; then\n"
                           "        compopt -o nospace 2>/dev/null\n"
                           "    fi\n"
                           "}\n"
                           "complete -o default -F _vyre vyre\n");
}

static void write_zsh_text(vyre_strbuf *text, const char *string) {
    quote(text, string, "'\\''", "\\[]:");
}

static void write_zsh_choices(vyre_strbuf *text, const cli_choice *choices) {
    vyre_strbuf_puts(text, "((");
    for (size_t i = 0; choices[i].text; i++) {
        vyre_strbuf_printf(text, "%s%s\\:\"", i ? " " : "", choices[i].text);
        quote(text, choices[i].documentation, "'\\''", "\\[]:\"$`");
        vyre_strbuf_putc(text, '"');
    }
    vyre_strbuf_puts(text, "))");
}

static void write_zsh_option(vyre_strbuf *text, const cli_option *option) {
    vyre_strbuf_puts(text, "                ");
    if (option->letter) {
        vyre_strbuf_printf(text, "'(-%c %s)'{-%c%s,%s%s}'", option->letter, option->name,
                           option->letter, option->value ? "+" : "", option->name,
                           option->value ? "=" : "");
    } else {
        vyre_strbuf_printf(text, "'%s%s%s", cli_option_repeats(option) ? "*" : "", option->name,
                           option->value ? "=" : "");
    }
    vyre_strbuf_putc(text, '[');
    write_zsh_text(text, option->documentation);
    vyre_strbuf_putc(text, ']');
    if (option->value) {
        vyre_strbuf_putc(text, ':');
        write_zsh_text(text, option->value);
        vyre_strbuf_putc(text, ':');
        if (option->choices) {
            write_zsh_choices(text, option->choices);
        } else {
            vyre_strbuf_puts(text, cli_complete_knows_value(option) ? "_vyre_ask" : "_files");
        }
    }
    vyre_strbuf_puts(text, "' \\\n");
}

static void write_zsh_command(vyre_strbuf *text, const cli_command *command) {
    vyre_strbuf_printf(text, "        %s)\n            _arguments -s -S \\\n", command->name);
    for (size_t i = 0; i < command->option_count; i++) {
        write_zsh_option(text, &command->options[i]);
    }
    write_zsh_option(text, &cli_option_quiet);
    write_zsh_option(text, &cli_option_help);
    if (cli_complete_knows_operands(command)) {
        vyre_strbuf_printf(text, "                '*:%s:_vyre_ask%s'\n            ;;\n",
                           command->operand == CLI_OPERAND_FILE ? "FILE" : "NAME",
                           command->operand == CLI_OPERAND_FILE ? " -f" : "");
        return;
    }
    switch (command->operand) {
    case CLI_OPERAND_FILE: vyre_strbuf_puts(text, "                '*:FILE:_files'\n"); break;
    case CLI_OPERAND_TOPIC:
        vyre_strbuf_puts(text, "                '1:TOPIC:(");
        write_help_words(text);
        vyre_strbuf_puts(text, ")'\n");
        break;
    case CLI_OPERAND_NONE: vyre_strbuf_puts(text, "                ':'\n"); break;
    }
    vyre_strbuf_puts(text, "            ;;\n");
}

void cli_help_completion_zsh(vyre_strbuf *text) {
    vyre_strbuf_puts(text, "#compdef vyre\n"
                           "# zsh completion for vyre.\n"
                           "_vyre_ask() {\n"
                           "    local -a found\n"
                           "    found=(${(f)\"$(vyre " CLI_COMPLETE
                           " \"${(@)words[1,CURRENT]}\" 2>/dev/null)\"})\n"
                           "    compadd -S '' -- ${(M)found:#*=}\n"
                           "    compadd -- ${found:#*=}\n"
                           "    [[ $1 == -f ]] && _files\n"
                           "    return 0\n"
                           "}\n"
                           "_vyre() {\n"
                           "    local -a subcommands=(\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        vyre_strbuf_printf(text, "        '%s:", cli_commands[i]->name);
        write_zsh_text(text, cli_commands[i]->summary);
        vyre_strbuf_puts(text, "'\n");
    }
    vyre_strbuf_puts(text, "    )\n"
                           "    if (( CURRENT == 2 )); then\n"
                           "        _describe subcommand subcommands\n"
                           "        return\n"
                           "    fi\n"
                           "    local name=$words[2]\n"
                           "    shift words\n"
                           "    (( CURRENT-- ))\n"
                           "    case $name in\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        write_zsh_command(text, cli_commands[i]);
    }
    vyre_strbuf_puts(text, "    esac\n"
                           "}\n"
                           "if [[ $funcstack[1] == _vyre ]]; then\n"
                           "    _vyre \"$@\"\n"
                           "else\n"
                           "    compdef _vyre vyre\n"
                           "fi\n");
}

static void write_fish_text(vyre_strbuf *text, const char *string) {
    vyre_strbuf_puts(text, " -d '");
    quote(text, string, "\\'", "\\");
    vyre_strbuf_puts(text, "'\n");
}

static void write_fish_option(vyre_strbuf *text, const char *name, const cli_option *option) {
    vyre_strbuf_printf(text, "complete -c vyre -n '__fish_seen_subcommand_from %s' -l %s", name,
                       option->name + 2);
    if (option->letter) {
        vyre_strbuf_printf(text, " -s %c", option->letter);
    }
    if (option->choices) {
        vyre_strbuf_puts(text, " -x -a '");
        write_choices(text, option->choices);
        vyre_strbuf_putc(text, '\'');
    } else if (cli_complete_knows_value(option)) {
        vyre_strbuf_puts(text, " -x -a '(__vyre_ask)'");
    } else if (option->value) {
        vyre_strbuf_puts(text, " -r -F");
    }
    write_fish_text(text, option->documentation);
}

void cli_help_completion_fish(vyre_strbuf *text) {
    vyre_strbuf_puts(text, "# fish completion for vyre.\n"
                           "function __vyre_ask\n"
                           "    set -l before (commandline -opc)\n"
                           "    vyre " CLI_COMPLETE " $before[2..] (commandline -ct) 2>/dev/null\n"
                           "end\n"
                           "complete -c vyre -f\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        vyre_strbuf_printf(text, "complete -c vyre -n __fish_use_subcommand -a %s",
                           cli_commands[i]->name);
        write_fish_text(text, cli_commands[i]->summary);
    }
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *command = cli_commands[i];
        for (size_t k = 0; k < command->option_count; k++) {
            write_fish_option(text, command->name, &command->options[k]);
        }
        write_fish_option(text, command->name, &cli_option_quiet);
        write_fish_option(text, command->name, &cli_option_help);
        if (cli_complete_knows_operands(command)) {
            vyre_strbuf_printf(
                text, "complete -c vyre -n '__fish_seen_subcommand_from %s' -a '(__vyre_ask)'\n",
                command->name);
        }
        if (command->operand == CLI_OPERAND_FILE) {
            vyre_strbuf_printf(text, "complete -c vyre -n '__fish_seen_subcommand_from %s' -F\n",
                               command->name);
        } else if (command->operand == CLI_OPERAND_TOPIC) {
            vyre_strbuf_printf(text, "complete -c vyre -n '__fish_seen_subcommand_from %s' -a '",
                               command->name);
            write_help_words(text);
            vyre_strbuf_puts(text, "'\n");
        }
    }
}
