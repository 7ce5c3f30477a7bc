/* vyre emit: a program as the bytes that a target takes, ahead of time. */
#include <string.h>

#include <vyre/dialect.h>
#include <vyre/emit.h>
#include <vyre/wire.h>

#include "base/page.h"
#include "base/status.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/input.h"
#include "cli/output.h"

#define OPTIONS(X)                                                                                 \
    X(TARGET, 0, "--target", "ID", NULL,                                                           \
      "the target to emit for; without it the command lists the "                                  \
      "targets")                                                                                   \
    X(DEVICE, 0, "--device", "NAME", NULL,                                                         \
      "the target's own name of the device to emit for, such "                                     \
      "as sm_90")                                                                                  \
    X(OUTPUT, 'o', "--output", "FILE", NULL, "write to FILE instead of stdout")                    \
    CLI_VARIANT_OPTION(X)                                                                          \
    X(FORMAT, 0, "--format", "FORMAT", cli_table_formats,                                          \
      "the format of the list of targets "                                                         \
      "(default: text)")

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre emit", "list the targets and what each gets"},
    {"vyre emit kernel.vyre saxpy --target ptx -o saxpy.ptx", "emit PTX that runs on all devices"},
    {"vyre emit reduce.sum_u32 --target primary_binary -o sum.vyreb",
     "emit an operation in binary form"},
    {NULL, NULL},
};

const cli_command cli_command_emit = {
    .name = "emit",
    .operands = "[" CLI_INPUT_OPERANDS " [PROGRAM]]",
    .summary = "compile a program for a target ahead of time",
    .text =
        "Compiles a PROGRAM of FILE, or an OPERATION that `vyre ops` lists, for a target, and "
        "writes the result. You may omit PROGRAM if FILE has only one. Name the target by its ID; "
        "`ptx` and `spirv` are short names of two targets.\n\n"
        "Without operands the command lists the targets that it can emit for.",
    .operand = CLI_OPERAND_FILE,
    .has_program = true,
    .operands_max = 2,
    CLI_COMMAND_PARTS,
};

static vyre_status unknown_target(const char *id) {
    VYRE_VEC(const char *) names = {0};
    const vyre_emitter *emitter;
    vyre_strbuf fix = {0};
    bool stored = true;
    vyre_strbuf_puts(&fix, "there are ");
    for (size_t i = 0; stored && (emitter = vyre_emitter_at(i)); i++) {
        stored = vyre_vec_push(&names, emitter->target);
        vyre_strbuf_printf(&fix, "%s%s", i ? ", " : "", emitter->target);
    }
    vyre_strbuf_puts(&fix, "; `vyre emit` describes them");
    vyre_status status =
        stored && vyre_vec_push(&names, NULL)
            ? cli_unknown("emitter for the target", id, names.items, vyre_strbuf_string(&fix))
            : vyre_no_memory("for the list of targets");
    vyre_vec_free(&names);
    vyre_strbuf_free(&fix);
    return status;
}

static void list_json(vyre_strbuf *text) {
    vyre_json json = {.text = text};
    const vyre_emitter *emitter;
    vyre_json_array(&json);
    for (size_t i = 0; (emitter = vyre_emitter_at(i)); i++) {
        vyre_json_object(&json);
        vyre_json_add_string(&json, "target", emitter->target);
        vyre_json_add_string(&json, "makes", emitter->makes);
        vyre_json_add_string(&json, "needs", emitter->needs ? emitter->needs : "");
        vyre_json_add_bool(&json, "text", emitter->is_text);
        vyre_json_object_end(&json);
    }
    vyre_json_array_end(&json);
    vyre_strbuf_putc(text, '\n');
}

static cli_exit list_targets(vyre_format format) {
    vyre_strbuf text = {0};
    vyre_table table = {.code = 1};
    const vyre_emitter *emitter;
    if (format == VYRE_FORMAT_JSON) {
        list_json(&text);
        cli_output_write(&text);
        return CLI_EXIT_DONE;
    }
    VYRE_TABLE_CELLS(&table, "target", "needs", "makes");
    for (size_t i = 0; (emitter = vyre_emitter_at(i)); i++) {
        VYRE_TABLE_CELLS(&table, emitter->target, emitter->needs ? emitter->needs : "nothing",
                         emitter->makes);
    }
    vyre_table_write(&text, &table, format);
    cli_output_write(&text);
    return CLI_EXIT_DONE;
}

/* The emitter of the target, whose short names are known, too. */
static const vyre_emitter *find_emitter(const char *id) {
    return vyre_emitter_find(vyre_target_id(vyre_target_read(id)));
}

/* `operation` is NULL for a program of a file and for a variant that was named. */
static vyre_status emit_program(const cli_arguments *arguments, const vyre_emitter *emitter,
                                const vyre_operation *operation, const vyre_program *program) {
    vyre_emit_options options_given = {.device = arguments->values[DEVICE].text};
    const char *path = arguments->values[OUTPUT].given ? arguments->values[OUTPUT].text : "-";
    vyre_strbuf text = {0};
    uint8_t *bytes;
    size_t size;
    if (!emitter->is_text && !strcmp(path, "-") && cli_output_is_terminal()) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "add -o FILE to write it to a file",
                                "the output for %s is binary, and stdout is a terminal",
                                emitter->target);
    }
    VYRE_TRY(operation ? vyre_emit_operation(emitter, operation, &options_given, &bytes, &size)
                       : vyre_emit(emitter, program, &options_given, &bytes, &size));
    vyre_strbuf_add(&text, (const char *)bytes, size);
    vyre_bytes_free(bytes);
    return cli_output_save(path, &text);
}

static vyre_status check_usage(const cli_arguments *arguments) {
    const cli_value *values = arguments->values;
    if (values[TARGET].given && !arguments->operand_count) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name a FILE or an OPERATION",
                                "--target is given, but no program");
    }
    if (!values[TARGET].given && arguments->operand_count) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "add --target ID; `vyre emit` lists the targets",
                                "no target is named to emit `%s` for", arguments->operands[0]);
    }
    return values[TARGET].given && values[FORMAT].given
               ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove it",
                                  "--format applies only to the list of targets")
               : VYRE_OK;
}

static cli_exit run(const cli_arguments *arguments) {
    cli_exit result = CLI_EXIT_DONE;
    cli_selection chosen;
    cli_input input = {0};
    vyre_status status = check_usage(arguments);
    if (!status && !arguments->operand_count) {
        return list_targets((vyre_format)arguments->values[FORMAT].choice);
    }
    const vyre_emitter *emitter = status ? NULL : find_emitter(arguments->values[TARGET].text);
    if (!status && !emitter) {
        status = unknown_target(arguments->values[TARGET].text);
    }
    status = status
                 ? status
                 : cli_input_open(&input, arguments->operands[0], arguments->values[VARIANT].text);
    if (!status) {
        const char *name = arguments->operand_count > 1 ? arguments->operands[1] : NULL;
        if (!cli_input_take(&input, arguments->command, name, "`vyre emit` takes one", &chosen,
                            &result)) {
            goto done;
        }
    }
    if (!status) {
        const vyre_operation *operation = arguments->values[VARIANT].text ? NULL : input.operation;
        status =
            emit_program(arguments, emitter, operation, cli_input_program(&input, chosen.first));
    }
    if (status) {
        result = cli_message_status(arguments->command, status);
    }
done:
    cli_input_deinit(&input);
    return result;
}
