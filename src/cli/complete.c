#include "cli/complete.h"

#include <string.h>

#include <vyre/dialect.h>
#include <vyre/registry.h>

#include "cli/input.h"
#include "cli/output.h"
#include "ir/program.h"

/* The words of the command line that matter here. */
typedef struct line {
    const cli_command *command;
    const cli_option *option; /* whose value is asked for, or NULL */
    const char *operands[2];  /* the first ones; NULL where there is none */
    size_t operand_count;
} line;

bool cli_complete_knows_operands(const cli_command *command) {
    return strstr(command->operands, "OPERATION") || strstr(command->operands, "GLOB") ||
           strstr(command->operands, "ID");
}

bool cli_complete_knows_value(const cli_option *option) {
    return option->value &&
           (!strncmp(option->value, "DEVICE", 6) || !strncmp(option->value, "NAME[", 5) ||
            !strncmp(option->value, "NAME=", 5));
}

static const cli_option *find_option(const cli_command *command, const char *word) {
    for (size_t i = 0; i < command->option_count; i++) {
        const cli_option *option = &command->options[i];
        bool is_short = word[0] == '-' && word[1] && word[1] == option->letter && !word[2];
        if (option->value && (is_short || !strcmp(word, option->name))) {
            return option;
        }
    }
    return NULL;
}

/* Sorts the words before the last one. bash takes NAME=VALUE for three of them. */
static line read_line(const cli_command *command, size_t count, const char *const *words) {
    line found = {.command = command};
    for (size_t i = 1; i + 1 < count; i++) {
        const char *word = words[i];
        bool assigns = !strcmp(words[i + 1], "=") && i + 2 < count;
        const cli_option *option = find_option(command, word);
        if (option) {
            i += assigns;
            found.option = i + 2 == count ? option : NULL;
            i++;
        } else if (assigns || !strcmp(word, "=")) {
            i += assigns ? 2 : 0; /* a value for an argument, which nobody here knows */
        } else if (word[0] != '-' && !strchr(word, '=')) {
            if (found.operand_count < 2) {
                found.operands[found.operand_count] = word;
            }
            found.operand_count++;
        }
    }
    return found;
}

static void add_backends(vyre_strbuf *text) {
    const vyre_registration **list;
    size_t count;
    vyre_status status = vyre_registry_by_rank_copy(vyre_registry_default(), &list, &count);
    for (size_t i = 0; !status && i < count; i++) {
        vyre_strbuf_printf(text, "%s\n", list[i]->id);
    }
    if (!status) {
        vyre_registry_list_free(list);
    }
    vyre_status_free(status);
}

/* Those of `auto`, `preferred` and `all` that the option's documentation names. */
static void add_device_words(vyre_strbuf *text, const cli_option *option) {
    static const char *const words[] = {"auto", "preferred", "gpu", "all"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(option->documentation, words[i])) {
            vyre_strbuf_printf(text, "%s\n", words[i]);
        }
    }
}

static void add_operations(vyre_strbuf *text) {
    vyre_dialects_guard guard;
    const vyre_dialects *snapshot = vyre_dialects_enter(&guard);
    for (size_t i = 0; i < vyre_dialects_count(snapshot); i++) {
        vyre_strbuf_printf(text, "%s\n", vyre_dialects_at(snapshot, i)->id);
    }
    vyre_dialects_leave(&guard);
}

/* Names of arguments: `NAME=` for those that take a value, the name alone for outputs. */
static void add_arguments(vyre_strbuf *text, const vyre_program *program, bool outputs) {
    const vyre_ir *ir = vyre_program_ir(program);
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (outputs ? vyre_ir_is_output(ir, i) : !vyre_ir_is_out(ir, i)) {
            vyre_strbuf_printf(text, "%s%s\n", ir->strings + ir->args[i].name, outputs ? "" : "=");
        }
    }
}

/* The programs of a file where one has to be named, and the arguments of the one that is meant. */
static void add_of_input(vyre_strbuf *text, const line *at) {
    cli_input input = {0};
    vyre_status status = cli_input_open(&input, at->operands[0], NULL);
    status = status ? status : cli_input_load(&input);
    size_t count = status ? 0 : cli_input_count(&input);
    for (size_t i = 0; i < count; i++) {
        const vyre_program *program = cli_input_program(&input, i);
        bool is_named =
            at->operand_count > 1 && !strcmp(at->operands[1], vyre_program_name(program));
        if (at->operand_count == 1 && count > 1) {
            vyre_strbuf_printf(text, "%s\n", vyre_program_name(program));
        } else if (is_named || count == 1) {
            bool takes_values = strstr(at->command->operands, "NAME=");
            if (at->option || takes_values) {
                add_arguments(text, program, at->option);
            }
        }
    }
    cli_input_deinit(&input);
    vyre_status_free(status);
}

static void add_operands(vyre_strbuf *text, const line *at) {
    const char *operands = at->command->operands;
    if (!strncmp(operands, "[ID", 3)) {
        add_backends(text);
    } else if (strstr(operands, "show ID")) {
        vyre_strbuf_puts(text, at->operand_count ? "" : "check\nshow\nwatch\n");
        add_operations(text);
    } else if (!at->operand_count && cli_complete_knows_operands(at->command)) {
        add_operations(text);
    } else if (at->operand_count && strstr(operands, "OPERATION")) {
        add_of_input(text, at);
    }
}

cli_exit cli_complete(size_t count, const char *const *words) {
    vyre_strbuf text = {0};
    const cli_command *command = count ? cli_command_find(words[0]) : NULL;
    line at = command ? read_line(command, count, words) : (line){0};
    if (at.option && !strncmp(at.option->value, "DEVICE", 6)) {
        add_device_words(&text, at.option);
        add_backends(&text);
    } else if (at.option && cli_complete_knows_value(at.option) && at.operand_count) {
        add_of_input(&text, &at);
    } else if (command && !at.option && count > 1) {
        add_operands(&text, &at);
    }
    cli_output_write(&text);
    return CLI_EXIT_DONE;
}
