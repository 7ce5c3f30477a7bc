/* vyre check: are these programs valid, and what are they? */
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/input.h"
#include "cli/output.h"

#define OPTIONS(X)                                                                                 \
    X(FORMAT, 0, "--format", "FORMAT", cli_formats, "the form of the answer; text if not given")   \
    X(WERROR, 0, "--werror", NULL, NULL, "let a warning make the answer no, too")

CLI_OPTION_TABLE(OPTIONS);

typedef struct counts {
    size_t files, programs, errors, warnings;
} counts;

static void describe_text(const cli_input *input) {
    vyre_text text = {0};
    for (size_t i = 0; i < cli_input_count(input); i++) {
        cli_describe_text(&text, cli_input_program(input, i), input->name, cli_output_has_color());
    }
    cli_output_write(&text);
}

static void add_count(vyre_json *json, const char *key, size_t count) {
    vyre_json_key(json, key);
    vyre_json_u64(json, count);
}

/* An error that is no diagnostic: the file cannot be read, or is a damaged binary. */
static void add_failure(vyre_json *json, vyre_status status) {
    vyre_json_key(json, "failure");
    vyre_json_object(json);
    vyre_json_key(json, "kind");
    vyre_json_string(json, vyre_status_code_name(vyre_status_code_of(status)));
    vyre_json_key(json, "message");
    vyre_json_string(json, vyre_status_message(status));
    vyre_json_key(json, "fix");
    vyre_json_string(json, vyre_status_fix(status));
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

static void describe_json(vyre_json *json, const cli_input *input, vyre_status status) {
    vyre_json_object(json);
    vyre_json_key(json, "file");
    vyre_json_string(json, input->name);
    vyre_json_key(json, "valid");
    vyre_json_bool(json, !status);
    if (status && !cli_input_errors(input)) {
        add_failure(json, status);
    }
    vyre_json_key(json, "programs");
    vyre_json_array(json);
    for (size_t i = 0; i < cli_input_count(input); i++) {
        cli_describe_json(json, cli_input_program(input, i));
    }
    vyre_json_array_end(json);
    vyre_json_key(json, "diagnostics");
    add_diagnostics(json, input);
    vyre_json_object_end(json);
}

/* With `json` everything about the file goes there, else to stdout and stderr. */
static cli_exit check_file(const cli_arguments *arguments, const char *path, vyre_json *json,
                           counts *total) {
    cli_input input;
    vyre_status status = cli_input_read(&input, path);
    if (!status) {
        status = cli_input_load(&input);
    }
    bool failure = status && !cli_input_errors(&input);
    size_t warnings = cli_input_warnings(&input);
    total->files++;
    total->programs += cli_input_count(&input);
    total->errors += cli_input_errors(&input) + failure;
    total->warnings += warnings;
    cli_exit result;
    if (json) {
        describe_json(json, &input, status);
        result = cli_exit_of(status);
        vyre_status_free(status);
    } else {
        result = cli_input_report(&input, arguments->command, status);
        describe_text(&input);
    }
    if (result == CLI_EXIT_DONE && warnings && arguments->values[WERROR].given) {
        result = CLI_EXIT_NO;
    }
    cli_input_deinit(&input);
    return result;
}

static cli_exit run(const cli_arguments *arguments) {
    cli_exit result = CLI_EXIT_DONE;
    counts total = {0};
    vyre_text text = {0};
    vyre_json writer = {.text = &text};
    vyre_json *json = arguments->values[FORMAT].choice == CLI_FORMAT_JSON ? &writer : NULL;
    if (json) {
        vyre_json_object(json);
        vyre_json_key(json, "files");
        vyre_json_array(json);
    }
    for (size_t i = 0; i < arguments->operand_count; i++) {
        cli_exit answer = check_file(arguments, arguments->operands[i], json, &total);
        result = answer > result ? answer : result;
    }
    if (json) {
        vyre_json_array_end(json);
        vyre_json_key(json, "summary");
        vyre_json_object(json);
        add_count(json, "files", total.files);
        add_count(json, "programs", total.programs);
        add_count(json, "errors", total.errors);
        add_count(json, "warnings", total.warnings);
        vyre_json_object_end(json);
        vyre_json_object_end(json);
        vyre_text_putc(&text, '\n');
        cli_output_write(&text);
    }
    cli_message_print("%zu file%s, %zu program%s, %zu error%s, %zu warning%s\n", total.files,
                      cli_plural(total.files), total.programs, cli_plural(total.programs),
                      total.errors, cli_plural(total.errors), total.warnings,
                      cli_plural(total.warnings));
    return result;
}

static const cli_example examples[] = {
    {"vyre check examples/*.vyre", "check all examples"},
    {"vyre check --werror --format json kernel.vyre", "for a build: an answer that programs read"},
    {NULL, NULL},
};

const cli_command cli_command_check = {
    .name = "check",
    .operands = "FILE...",
    .summary = "parse and verify programs",
    .text =
        "Reads each FILE, as text or in binary form, verifies every program in it and describes "
        "those that are valid: whether the result can depend on the order in which invocations "
        "run, and why; the digest; arguments, phases, and what the code consists of.\n\n"
        "Errors and warnings go to stderr with their place and a fix; with --format json they are "
        "part of the answer.",
    .operand = CLI_OPERAND_FILE,
    .operands_min = 1,
    .operands_max = CLI_ANY_NUMBER,
    .options = options,
    .option_count = OPTION_COUNT,
    .examples = examples,
    .run = run,
};
