/* Commands: what the `vyre` command understands.
 *
 * Each subcommand is one file that defines a `cli_command`: names, options, help and the function
 * that does it. Dispatch, usage errors, --help, the man page and the shell completions all read the
 * same tables. To add a subcommand: write its file, add its row to CLI_COMMANDS. */
#ifndef VYRE_CLI_COMMAND_H
#define VYRE_CLI_COMMAND_H

#include <vyre/status.h>

#include "base/strbuf.h"

/* X(name), in the order in which help lists them; the command is cli_command_NAME. */
#define CLI_COMMANDS(X)                                                                            \
    X(check)                                                                                       \
    X(run)                                                                                         \
    X(fmt)                                                                                         \
    X(show)                                                                                        \
    X(emit)                                                                                        \
    X(ops)                                                                                         \
    X(bench)                                                                                       \
    X(conform)                                                                                     \
    X(certify)                                                                                     \
    X(route)                                                                                       \
    X(backends)                                                                                    \
    X(doctor)                                                                                      \
    X(cache)                                                                                       \
    X(help)                                                                                        \
    X(version)

/* X(name, status, what it means) */
#define CLI_EXITS(X)                                                                               \
    X(DONE, 0, "success")                                                                          \
    X(NO, 1,                                                                                       \
      "a check failed: a program is not valid or has a race, results differ, a file is not in "    \
      "canonical layout, or a plugin or the cache has a problem")                                  \
    X(USAGE, 2, "the command line or an environment variable is wrong")                            \
    X(BACKEND, 3, "no backend can be used")                                                        \
    X(FAILED, 4,                                                                                   \
      "a run failed: a file could not be read or written, memory ran out, or a time limit passed")

typedef enum cli_exit {
#define CLI_EXIT_ENUM(name, status, text) CLI_EXIT_##name = status,
    CLI_EXITS(CLI_EXIT_ENUM)
#undef CLI_EXIT_ENUM
} cli_exit;

/* One of the words that an option takes. A list of them ends with one whose text is NULL. */
typedef struct cli_choice {
    const char *text, *documentation;
} cli_choice;

typedef struct cli_option {
    const char *name;          /* with its dashes: "--format" */
    char letter;               /* 0: there is no short form */
    const char *value;         /* what it takes, as help shows it; NULL: nothing. With "..." at its
                                  end the option may be given several times */
    const cli_choice *choices; /* NULL: any text */
    const char *documentation; /* one line without a full stop */
} cli_option;

#define CLI_OPTIONS_MAX 16        /* of a subcommand */
#define CLI_REPEATS_MAX 512       /* values of options that may be given several times */
#define CLI_ANY_NUMBER UINT32_MAX /* of operands */

/* A subcommand's file lists its options as X(ID, letter, name, value, choices, documentation). This
 * makes of the list an enum of their numbers and the table `options`, and declares `run`, so that
 * the command can stand in front of its steps. */
#define CLI_OPTION_TABLE(LIST)                                                                     \
    enum { LIST(CLI_OPTION_ENUM) OPTION_COUNT };                                                   \
    _Static_assert(OPTION_COUNT <= CLI_OPTIONS_MAX, "raise CLI_OPTIONS_MAX");                      \
    static const cli_option options[] = {LIST(CLI_OPTION_ROW)};                                    \
    static cli_exit run(const cli_arguments *arguments)
#define CLI_OPTION_ENUM(id, letter, name, value, choices, documentation) id,
#define CLI_OPTION_ROW(id, letter, name, value, choices, documentation)                            \
    {name, letter, value, choices, documentation},

/* Rows that several subcommands have. */
#define CLI_DEVICE_OPTION(X)                                                                       \
    X(BACKEND, 'b', "--backend", "DEVICE", NULL,                                                   \
      "the device to run on: preferred, gpu, a backend's ID, or ID:N for its device N (default: "  \
      "preferred)")
#define CLI_DEVICES_OPTION(X)                                                                      \
    X(BACKEND, 'b', "--backend", "DEVICE,...", NULL,                                               \
      "the devices: IDs of backends, ID:N for device N, or gpu, separated by commas (default: "    \
      "all but oracles such as reference)")
#define CLI_VARIANT_OPTION(X)                                                                      \
    X(VARIANT, 0, "--variant", "NAME", NULL,                                                       \
      "the variant of the OPERATION to take; all variants give the same bytes")
#define CLI_SIZES_OPTION(X)                                                                        \
    X(SIZES, 0, "--sizes", "A..B[:STEP],...", NULL,                                                \
      "sizes from 2^A to 2^B elements, each 2^STEP times the one before, or a list such as "       \
      "6,16,26 (default: 8..20:4)")
#define CLI_ROUTES_OPTION(X)                                                                       \
    X(ROUTES, 0, "--routes", "FILE", NULL,                                                         \
      "the file of routes (default: $VYRE_ROUTES, else vyre/pgo.toml in the configuration "        \
      "folder)")
#define CLI_DATA_OPTION(X)                                                                         \
    X(DATA, 0, "--data", "PLACE,...", NULL,                                                        \
      "where the data is: host, resident (it stays on the device), or both (default: both)")
#define CLI_PROGRESS_OPTION(X)                                                                     \
    X(NO_PROGRESS, 0, "--no-progress", NULL, NULL, "do not draw a progress bar")
#define CLI_FORMAT_OPTION(X)                                                                       \
    X(FORMAT, 0, "--format", "FORMAT", cli_formats, "the output format (default: text)")
#define CLI_TABLE_FORMAT_OPTION(X)                                                                 \
    X(FORMAT, 0, "--format", "FORMAT", cli_table_formats, "the output format (default: text)")

/* What operands are, for shell completion. */
typedef enum cli_operand { CLI_OPERAND_NONE, CLI_OPERAND_FILE, CLI_OPERAND_TOPIC } cli_operand;

typedef struct cli_example {
    const char *command, *documentation;
} cli_example;

typedef struct cli_arguments cli_arguments;

typedef struct cli_command {
    const char *name;
    const char *operands; /* as usage shows them: "FILE [PROGRAM]" */
    const char *summary;  /* one line without a full stop */
    const char *text;     /* paragraphs with an empty line between them */
    cli_operand operand;
    bool has_program; /* operands are one FILE, a PROGRAM and values, in any order */
    uint32_t operands_min, operands_max;
    const cli_option *options;
    size_t option_count;
    const cli_example *examples; /* ends with one whose command is NULL */
    cli_exit (*run)(const cli_arguments *arguments);
} cli_command;

/* The last members of a command, by what its file calls them. */
#define CLI_COMMAND_PARTS                                                                          \
    .options = options, .option_count = OPTION_COUNT, .examples = examples, .run = run

#define CLI_COMMAND_EXTERN(name) extern const cli_command cli_command_##name;
CLI_COMMANDS(CLI_COMMAND_EXTERN)
#undef CLI_COMMAND_EXTERN

typedef struct cli_value {
    bool given;
    uint32_t choice;  /* number of the word in the option's choices, 0 if it is not given */
    const char *text; /* NULL if it is not given; the last one of several */
} cli_value;

/* A value of an option that may be given several times. */
typedef struct cli_repeat {
    uint32_t option; /* its number */
    const char *text;
} cli_repeat;

struct cli_arguments {
    const cli_command *command;
    const char *const *operands;
    size_t operand_count;
    bool help;  /* --help was asked for; the rest was not looked at */
    bool quiet; /* --quiet: notes are not wanted */
    cli_value values[CLI_OPTIONS_MAX];
    cli_repeat repeats[CLI_REPEATS_MAX]; /* in the order of the command line */
    size_t repeat_count;
};

/* All of them; the list ends with NULL. */
extern const cli_command *const cli_commands[];

/* NULL if there is none of that name. */
const cli_command *cli_command_find(const char *name);

/* Whether it may be given several times. */
bool cli_option_repeats(const cli_option *option);

/* The options that every subcommand has besides its own. */
extern const cli_option cli_option_quiet, cli_option_help;

/* The words of --format, and those of it where the answer is a table. */
#define CLI_FORMATS(X)                                                                             \
    X(TEXT, "text", "for people")                                                                  \
    X(JSON, "json", "for programs")
#define CLI_TABLE_FORMATS(X)                                                                       \
    CLI_FORMATS(X)                                                                                 \
    X(CSV, "csv", "comma-separated values, for spreadsheets")                                      \
    X(MARKDOWN, "md", "a table in Markdown")
extern const cli_choice cli_formats[];
extern const cli_choice cli_table_formats[];

/* Sorts `words` into options and operands; the operands are moved to the front. The arguments point
 * into `words`. */
VYRE_MUST_USE vyre_status cli_arguments_parse(const cli_command *command, size_t count,
                                              const char **words, cli_arguments *out_arguments);

/* Puts the words of a FILE, a PROGRAM and values into that order. A word with a `=`, and neither a
 * point nor a slash before it, is a value. The FILE is the first of the others, unless that is no
 * file but a name, and the second is no name. */
void cli_operands_order(const char **words, size_t count);

/* The value of an option that takes a number, or a time in seconds; where it is not given `out`
 * stays as it is. */
VYRE_MUST_USE vyre_status cli_option_number(const cli_arguments *arguments, uint32_t option,
                                            uint64_t *out);
VYRE_MUST_USE vyre_status cli_option_seconds(const cli_arguments *arguments, uint32_t option,
                                             uint64_t *out_ns);

/* Puts the next word of a list with commas into `word`, and moves the list behind it; false where
 * it is over, which NULL is. */
bool cli_list_next(const char **list, vyre_strbuf *word);

/* An error about a word that means nothing: `what` it should have been, the near ones of `names`
 * (which ends with NULL), and the fix. */
vyre_status cli_unknown(const char *what, const char *word, const char *const *names,
                        const char *fix);

#endif
