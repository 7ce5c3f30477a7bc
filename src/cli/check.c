/* vyre check: are these programs valid, and what are they? */
#include <string.h>

#include "base/page.h"
#include "base/status.h"
#include "base/units.h"
#include "base/vec.h"
#include "base/visible.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/races.h"

#define OPTIONS(X)                                                                                 \
    CLI_FORMAT_OPTION(X)                                                                           \
    X(WERROR, 0, "--werror", NULL, NULL, "exit with status 1 on warnings, too")                    \
    X(RACES, 0, "--races", NULL, NULL,                                                             \
      "also run the programs and look for data races, barriers that not all invocations reach, "   \
      "accesses out of bounds, and reads of memory that was never written")                        \
    X(SEED, 0, "--seed", "N", NULL, "the schedule of the --races run (default: 0)")                \
    X(TIMEOUT, 0, "--timeout", "SECONDS", NULL, "end the --races run after SECONDS (default: 60)")

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre check examples/*.vyre", "check all examples"},
    {"vyre check --werror --format json kernel.vyre",
     "in a build: fail on warnings, and print JSON"},
    {"vyre check -q examples/*.vyre", "print one line for each file"},
    {"vyre check --races kernel.vyre", "run every program in it and look for races"},
    {"vyre check --races kernel.vyre bfs row=@row.npy col=@col.npy source=0",
     "run one program with the given values"},
    {NULL, NULL},
};

const cli_command cli_command_check = {
    .name = "check",
    .operands = CLI_INPUT_OPERANDS "...",
    .summary = "parse and verify programs",
    .text =
        "Parses each FILE (source text or binary form), verifies every program in it and describes "
        "each valid one: its digest, arguments, phases and instructions, and whether and why its "
        "result can depend on the order in which invocations run. An operand that is not a file "
        "may be an OPERATION that `vyre ops` lists.\n\n"
        "Errors and warnings go to stderr, each with its place in the source and a fix. With "
        "--format json they are part of the JSON on stdout. With -q the command prints one line "
        "for each FILE: whether it is valid, and how much was found.\n\n"
        "With --races the command also runs the programs on the reference backend, which tracks "
        "every access. It finds a race in any schedule in which both accesses happen; if atomics "
        "acquire and release, try several seeds. With one FILE you may also name the PROGRAM to "
        "run and give NAME=VALUE arguments, as for `vyre run`. The command chooses the other "
        "arguments and prints them: 1024 random elements for a buffer without a declared length, "
        "with integers below the length; 0.5 for a float; true for a bool; 16 to 1024 for an "
        "integer, so that at most 16384 invocations run. Data races and barriers that not all "
        "invocations reach are errors. The other findings have a defined result, so they are "
        "warnings.",
    .operand = CLI_OPERAND_FILE,
    .operands_min = 1,
    .operands_max = CLI_ANY_NUMBER,
    CLI_COMMAND_PARTS,
};

typedef struct counts {
    size_t files, programs, errors, warnings;
} counts;

/* What the command line asks for. */
typedef struct job {
    const cli_arguments *arguments;
    VYRE_VEC(const char *) files;
    VYRE_VEC(const char *) values;
    const char *program; /* NULL: all */
    cli_races races;
    vyre_json *json; /* NULL: text is asked for */
    counts total;
} job;

/* The command line */

static bool is_name(const char *word, size_t size) {
    size_t letters =
        strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return size && letters >= size && !(*word >= '0' && *word <= '9');
}

/* With --races, a name that is not the FILE is the PROGRAM, and a word that starts with a name and
 * `=` is a value. All others are files. */
static vyre_status sort_operands(job *j) {
    bool races = j->arguments->values[RACES].given, stored = true;
    VYRE_VEC(const char *) words = {0};
    for (size_t i = 0; i < j->arguments->operand_count && stored; i++) {
        stored = vyre_vec_push(&words, j->arguments->operands[i]);
    }
    if (races && stored) {
        cli_operands_order(words.items, words.count);
    }
    vyre_status status = VYRE_OK;
    for (size_t i = 0; i < words.count && stored && !status; i++) {
        const char *word = words.items[i];
        size_t size = strcspn(word, "=");
        if (!races || !i || !is_name(word, size)) {
            stored = vyre_vec_push(&j->files, word);
        } else if (word[size]) {
            stored = vyre_vec_push(&j->values, word);
        } else if (!j->program) {
            j->program = word;
        } else {
            status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                      "write ./ before the name of a file, and values as "
                                      "NAME=VALUE",
                                      "`%s` is a second PROGRAM, after `%s`", word, j->program);
        }
    }
    vyre_vec_free(&words);
    if (!stored) {
        return vyre_no_memory("for the command line");
    }
    if (status) {
        return status;
    }
    if (j->files.count > 1 && (j->program || j->values.count)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "give one FILE",
                                "a PROGRAM or values need exactly one file, and there are %zu",
                                j->files.count);
    }
    return VYRE_OK;
}

static vyre_status read_options(job *j) {
    const cli_value *values = j->arguments->values;
    const uint64_t minute_ns = 60000000000u;
    j->races.timeout_ns = minute_ns;
    if (!values[RACES].given && (values[SEED].given || values[TIMEOUT].given)) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "add --races, or remove the option",
                                "`%s` applies only to --races",
                                values[SEED].given ? "--seed" : "--timeout");
    }
    VYRE_TRY(cli_option_number(j->arguments, SEED, &j->races.seed));
    VYRE_TRY(cli_option_seconds(j->arguments, TIMEOUT, &j->races.timeout_ns));
    return sort_operands(j);
}

/* One file */

/* An error that is no diagnostic: the file cannot be read, or is a damaged binary. */
static void add_failure(vyre_json *json, vyre_status status) {
    vyre_json_add_object(json, "failure");
    vyre_json_add_string(json, "kind", vyre_status_code_name(vyre_status_code_of(status)));
    vyre_json_add_string(json, "message", vyre_status_message(status));
    vyre_json_add_string(json, "fix", vyre_status_fix(status));
    vyre_json_add_string(json, "text",
                         vyre_status_text(status)); /* all of it: the byte, the file */
    vyre_json_object_end(json);
}

static void add_diagnostics(vyre_json *json, const cli_input *input) {
    if (!input->diagnostics) {
        vyre_json_array(json);
        vyre_json_array_end(json);
        return;
    }
    char *text;
    size_t size;
    vyre_status status = cli_input_render(input, VYRE_FORM_JSON, &text, &size);
    if (status) {
        json->text->failed = true;
        vyre_status_free(status);
        return;
    }
    vyre_json_paste(json, (vyre_str){text, size});
    vyre_string_free(text);
}

/* Says what went wrong with a run; returns how to end because of it. */
static cli_exit add_run_failure(const job *j, const char *program, vyre_status status) {
    cli_exit result = vyre_status_code_of(status) == VYRE_STATUS_INVALID_ARGUMENT ? CLI_EXIT_USAGE
                                                                                  : CLI_EXIT_FAILED;
    if (!j->json) {
        (void)cli_message_status(j->arguments->command, status);
        return result;
    }
    vyre_json_object(j->json);
    vyre_json_add_string(j->json, "program", program);
    add_failure(j->json, status);
    vyre_json_object_end(j->json);
    vyre_status_free(status);
    return result;
}

static cli_exit check_races(job *j, const cli_input *input, size_t index, vyre_strbuf *text) {
    vyre_status status = cli_races_check(&j->races, input, index, j->json, text);
    if (status) {
        j->total.errors++;
        return add_run_failure(j, vyre_program_name(cli_input_program(input, index)), status);
    }
    return CLI_EXIT_DONE;
}

static cli_exit worse(cli_exit a, cli_exit b) {
    return a > b ? a : b;
}

static cli_exit describe_text(job *j, const cli_input *input, cli_selection chosen) {
    cli_exit result = CLI_EXIT_DONE;
    vyre_strbuf text = {0};
    for (size_t i = chosen.first; i < chosen.end; i++) {
        cli_describe_text(&text, cli_input_program(input, i), input->name, cli_output_has_color());
        size_t rest = text.size;
        if (j->arguments->values[RACES].given) {
            result = worse(result, check_races(j, input, i, &text));
        }
        vyre_visible_clean(&text, rest, true);
    }
    if (cli_message_is_quiet()) {
        vyre_strbuf_cut(&text, 0);
    }
    cli_output_write_rendered(&text);
    return result;
}

static void add_count(vyre_strbuf *text, size_t count, const char *what) {
    if (count) {
        vyre_strbuf_printf(text, ", %zu %s%s", count, what, vyre_plural(count));
    }
}

/* "a.vyre: valid, 2 programs", with what was found in that file. */
static void tell_file(const job *j, const char *name, const counts *before) {
    vyre_strbuf text = {0};
    size_t errors = j->total.errors - before->errors;
    vyre_strbuf_printf(&text, "%s: %s", name, errors ? "not valid" : "valid");
    add_count(&text, j->total.programs - before->programs, "program");
    add_count(&text, errors, "error");
    add_count(&text, j->total.warnings - before->warnings, "warning");
    vyre_strbuf_putc(&text, '\n');
    cli_output_write(&text);
}

static cli_exit describe_json(job *j, const cli_input *input, cli_selection chosen,
                              vyre_status status) {
    cli_exit result = CLI_EXIT_DONE;
    vyre_json *json = j->json;
    vyre_json_object(json);
    vyre_json_add_string(json, "file", input->name);
    vyre_json_add_bool(json, "valid", !status);
    if (status && !cli_input_errors(input)) {
        add_failure(json, status);
    }
    vyre_json_add_array(json, "programs");
    for (size_t i = chosen.first; i < chosen.end; i++) {
        cli_describe_json(json, cli_input_program(input, i));
    }
    vyre_json_array_end(json);
    vyre_json_key(json, "diagnostics");
    add_diagnostics(json, input);
    if (j->arguments->values[RACES].given) {
        vyre_json_add_array(json, "races");
        for (size_t i = chosen.first; i < chosen.end; i++) {
            result = worse(result, check_races(j, input, i, NULL));
        }
        vyre_json_array_end(json);
    }
    vyre_json_object_end(json);
    return result;
}

/* With JSON everything about the file goes there, else to stdout and stderr. */
static cli_exit check_file(job *j, const char *path) {
    cli_input input;
    cli_selection chosen = {0, 0};
    counts before = j->total;
    vyre_status status = cli_input_open(&input, path, NULL);
    if (!status) {
        status = cli_input_load(&input);
        chosen.end = cli_input_count(&input);
    }
    if (!status && (j->program || j->values.count)) {
        status = cli_input_choose(&input, j->program, "--races with values takes one", &chosen);
        chosen = status ? (cli_selection){0, 0} : chosen;
    }
    bool failure = status && !cli_input_errors(&input);
    size_t warnings = cli_input_warnings(&input);
    j->total.files++;
    j->total.programs += chosen.end - chosen.first;
    j->total.errors += cli_input_errors(&input) + failure;
    j->total.warnings += warnings;
    j->races.errors = j->races.warnings = 0;
    cli_exit result;
    if (j->json) {
        result = cli_exit_of(status);
        result = worse(result, describe_json(j, &input, chosen, status));
        vyre_status_free(status);
    } else {
        result = cli_input_report(&input, j->arguments->command, status);
        result = worse(result, describe_text(j, &input, chosen));
    }
    warnings += j->races.warnings;
    j->total.errors += j->races.errors;
    j->total.warnings += j->races.warnings;
    if (j->races.errors || (warnings && j->arguments->values[WERROR].given)) {
        result = worse(result, CLI_EXIT_NO);
    }
    if (!j->json && cli_message_is_quiet()) {
        tell_file(j, input.name, &before);
    }
    cli_input_deinit(&input);
    return result;
}

static cli_exit check_files(job *j) {
    cli_exit result = CLI_EXIT_DONE;
    vyre_json *json = j->json;
    if (json) {
        vyre_json_object(json);
        vyre_json_add_array(json, "files");
    }
    for (size_t i = 0; i < j->files.count; i++) {
        result = worse(result, check_file(j, j->files.items[i]));
    }
    const counts *total = &j->total;
    if (json) {
        vyre_json_array_end(json);
        vyre_json_add_object(json, "summary");
        vyre_json_add_u64(json, "files", total->files);
        vyre_json_add_u64(json, "programs", total->programs);
        vyre_json_add_u64(json, "errors", total->errors);
        vyre_json_add_u64(json, "warnings", total->warnings);
        vyre_json_object_end(json);
        vyre_json_object_end(json);
        vyre_strbuf_putc(json->text, '\n');
        cli_output_write(json->text);
    }
    cli_message_note("%zu file%s, %zu program%s, %zu error%s, %zu warning%s\n", total->files,
                     vyre_plural(total->files), total->programs, vyre_plural(total->programs),
                     total->errors, vyre_plural(total->errors), total->warnings,
                     vyre_plural(total->warnings));
    return result;
}

static cli_exit run(const cli_arguments *arguments) {
    vyre_strbuf text = {0};
    vyre_json json = {.text = &text};
    bool as_json = arguments->values[FORMAT].choice == VYRE_FORMAT_JSON;
    job j = {.arguments = arguments, .json = as_json ? &json : NULL};
    vyre_status status = read_options(&j);
    j.races.values = j.values.items;
    j.races.value_count = j.values.count;
    cli_exit result = status ? cli_message_status(arguments->command, status) : check_files(&j);
    vyre_vec_free(&j.files);
    vyre_vec_free(&j.values);
    return result;
}
