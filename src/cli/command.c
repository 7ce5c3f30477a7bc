#include "cli/command.h"

#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "base/page.h"
#include "values/element.h"

const cli_command *const cli_commands[] = {
#define ROW(name) &cli_command_##name,
    CLI_COMMANDS(ROW)
#undef ROW
        NULL};

const cli_option cli_option_quiet = {"--quiet", 'q', NULL, NULL,
                                     "print results, warnings and errors, but no notes"};
const cli_option cli_option_help = {"--help", 'h', NULL, NULL, "print this help"};

const cli_choice cli_formats[] = {
#define ROW(name, text, documentation) [VYRE_FORMAT_##name] = {text, documentation},
    CLI_FORMATS(ROW)
#undef ROW
        {NULL, NULL}};

const cli_choice cli_table_formats[] = {
#define ROW(name, text, documentation) [VYRE_FORMAT_##name] = {text, documentation},
    CLI_TABLE_FORMATS(ROW)
#undef ROW
        {NULL, NULL}};

const cli_command *cli_command_find(const char *name) {
    for (size_t i = 0; cli_commands[i]; i++) {
        if (!strcmp(cli_commands[i]->name, name)) {
            return cli_commands[i];
        }
    }
    return NULL;
}

static vyre_str str(const char *string) {
    return (vyre_str){string, strlen(string)};
}

bool cli_option_repeats(const cli_option *option) {
    size_t size = option->value ? strlen(option->value) : 0;
    return size > 3 && !strcmp(option->value + size - 3, "...");
}

/* What an option takes, without the dots that say that it may be given several times. */
static vyre_str option_value(const cli_option *option) {
    size_t dots = cli_option_repeats(option) ? 3 : 0;
    return (vyre_str){option->value, strlen(option->value) - dots};
}

vyre_status cli_unknown(const char *what, const char *word, const char *const *names,
                        const char *fix) {
    vyre_near near;
    vyre_near_init(&near, str(word));
    for (; *names; names++) {
        vyre_near_add(&near, str(*names));
    }
    return vyre_near_refuse(&near, fix, "there is no %s `%s`", what, word);
}

static vyre_status wrong_usage(const cli_command *command, const char *format, ...)
    VYRE_PRINTF(2, 3);

static vyre_status wrong_usage(const cli_command *command, const char *format, ...) {
    vyre_strbuf message = {0}, fix = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&message, format, arguments);
    va_end(arguments);
    vyre_strbuf_printf(&fix, "`vyre %s --help` shows the usage", command->name);
    vyre_status status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(&fix),
                                          "%s", vyre_strbuf_string(&message));
    vyre_strbuf_free(&message);
    vyre_strbuf_free(&fix);
    return status;
}

static vyre_status unknown_option(const cli_command *command, vyre_str wanted) {
    vyre_near near;
    vyre_near_init(&near, wanted);
    vyre_near_add(&near, str(cli_option_quiet.name));
    vyre_near_add(&near, str(cli_option_help.name));
    for (size_t i = 0; i < command->option_count; i++) {
        vyre_near_add(&near, str(command->options[i].name));
    }
    vyre_strbuf fix = {0};
    vyre_strbuf_printf(
        &fix, "`vyre %s --help` lists the options%s", command->name,
        command->operand == CLI_OPERAND_FILE ? "; put `--` before a file of that name" : "");
    vyre_status status =
        vyre_near_refuse(&near, vyre_strbuf_string(&fix), "there is no option `%.*s`",
                         (int)wanted.size, wanted.data);
    vyre_strbuf_free(&fix);
    return status;
}

/* `word` is `--name` or `-n`; NULL if there is no such option. */
static const cli_option *find_option(const cli_command *command, vyre_str word) {
    for (size_t i = 0; i <= command->option_count + 1; i++) {
        const cli_option *option = i < command->option_count    ? &command->options[i]
                                   : i == command->option_count ? &cli_option_quiet
                                                                : &cli_option_help;
        bool is_short = word.size == 2 && option->letter && word.data[1] == option->letter;
        bool is_long =
            strlen(option->name) == word.size && !memcmp(option->name, word.data, word.size);
        if (is_short || is_long) {
            return option;
        }
    }
    return NULL;
}

static vyre_status set_value(const cli_option *option, const char *text, cli_value *value) {
    *value = (cli_value){.given = true, .text = text};
    if (!option->choices) {
        return VYRE_OK;
    }
    vyre_near near;
    vyre_near_init(&near, str(text));
    vyre_strbuf fix = {0};
    vyre_strbuf_printf(&fix, "%s takes ", option->name);
    for (uint32_t i = 0; option->choices[i].text; i++) {
        if (!strcmp(option->choices[i].text, text)) {
            value->choice = i;
            vyre_strbuf_free(&fix);
            return VYRE_OK;
        }
        vyre_near_add(&near, str(option->choices[i].text));
        vyre_strbuf_puts(&fix, i == 0 ? "" : option->choices[i + 1].text ? ", " : " or ");
        vyre_strbuf_puts(&fix, option->choices[i].text);
    }
    vyre_status status = vyre_near_refuse(&near, vyre_strbuf_string(&fix), "there is no %s `%s`",
                                          option->name, text);
    vyre_strbuf_free(&fix);
    return status;
}

/* Reads the option in words[*at], and its value, which may be the next word. */
static vyre_status parse_option(const cli_command *command, size_t count, const char **words,
                                size_t *at, cli_arguments *arguments) {
    const char *word = words[*at];
    bool is_long = word[1] == '-';
    vyre_str name = {word, is_long ? strcspn(word, "=") : 2};
    const char *value = word[name.size] ? word + name.size + is_long : NULL;
    const cli_option *option = find_option(command, name);
    if (!option) {
        return unknown_option(command, name);
    }
    if (!option->value && value) {
        return wrong_usage(command, "`%.*s` takes no value", (int)name.size, name.data);
    }
    if (option == &cli_option_help || option == &cli_option_quiet) {
        arguments->help |= option == &cli_option_help;
        arguments->quiet |= option == &cli_option_quiet;
        return VYRE_OK;
    }
    cli_value *slot = &arguments->values[option - command->options];
    if (!option->value) {
        slot->given = true;
        return VYRE_OK;
    }
    if (!value) {
        if (*at + 1 == count) {
            vyre_str wanted = option_value(option);
            return wrong_usage(command, "`%s` needs %.*s after it", word, (int)wanted.size,
                               wanted.data);
        }
        value = words[++*at];
    }
    if (cli_option_repeats(option)) {
        if (arguments->repeat_count == CLI_REPEATS_MAX) {
            return wrong_usage(command, "`%.*s` is given too many times", (int)name.size,
                               name.data);
        }
        arguments->repeats[arguments->repeat_count++] =
            (cli_repeat){(uint32_t)(option - command->options), value};
    }
    return set_value(option, value, slot);
}

static bool is_value(const char *word) {
    size_t size = strcspn(word, "=");
    return word[size] && !memchr(word, '.', size) && !memchr(word, '/', size);
}

/* Whether a PROGRAM could have that name. */
static bool is_name(const char *word) {
    return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                       "0123456789")];
}

static bool is_file(const char *word) {
    return access(word, F_OK) == 0;
}

void cli_operands_order(const char **words, size_t count) {
    size_t others = 0;
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i];
        if (!is_value(word)) {
            memmove(words + others + 1, words + others, (i - others) * sizeof *words);
            words[others++] = word;
        }
    }
    if (others > 1 && is_name(words[0]) && !is_file(words[0]) &&
        (!is_name(words[1]) || is_file(words[1]))) {
        const char *program = words[0];
        words[0] = words[1];
        words[1] = program;
    }
}

static vyre_status check_operands(const cli_command *command, const char **words, size_t count) {
    bool has_file = !command->has_program || !count || !is_value(words[0]) || is_file(words[0]);
    if (count < command->operands_min || (command->operands_min && !has_file)) {
        return wrong_usage(command, "%.*s is missing", (int)strcspn(command->operands, " ."),
                           command->operands);
    }
    return count > command->operands_max
               ? wrong_usage(command, "`%s` is one operand too many", words[command->operands_max])
               : VYRE_OK;
}

vyre_status cli_arguments_parse(const cli_command *command, size_t count, const char **words,
                                cli_arguments *out_arguments) {
    cli_arguments *arguments = out_arguments;
    *arguments = (cli_arguments){.command = command, .operands = words};
    bool options = true;
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i];
        if (options && !strcmp(word, "--")) {
            options = false;
        } else if (options && word[0] == '-' && word[1] != '\0') {
            vyre_status status = parse_option(command, count, words, &i, arguments);
            if (status || arguments->help) {
                return status;
            }
        } else {
            words[arguments->operand_count++] = word;
        }
    }
    if (command->has_program) {
        cli_operands_order(words, arguments->operand_count);
    }
    return check_operands(command, words, arguments->operand_count);
}

vyre_status cli_option_number(const cli_arguments *arguments, uint32_t option, uint64_t *out) {
    const cli_value *value = &arguments->values[option];
    return value->given
               ? values_number_parse(arguments->command->options[option].name, value->text, out)
               : VYRE_OK;
}

vyre_status cli_option_seconds(const cli_arguments *arguments, uint32_t option, uint64_t *out_ns) {
    const cli_value *value = &arguments->values[option];
    return value->given
               ? values_seconds_parse(arguments->command->options[option].name, value->text, out_ns)
               : VYRE_OK;
}

bool cli_list_next(const char **list, vyre_strbuf *word) {
    const char *rest = *list;
    if (!rest) {
        return false;
    }
    size_t size = strcspn(rest, ",");
    vyre_strbuf_cut(word, 0);
    vyre_strbuf_add(word, rest, size);
    *list = rest[size] ? rest + size + 1 : NULL;
    return true;
}
