#include "cli/input.h"

#include <string.h>
#include <unistd.h>

#include <vyre/wire.h>

#include "base/file.h"
#include "base/log.h"
#include "base/status.h"
#include "base/units.h"
#include "base/vec.h"
#include "cli/operation.h"
#include "cli/output.h"
#include "dialect/snapshot.h"
#include "text/module.h"
#include "wire/layout.h"

/* By the start of the magic number, so that a file that was damaged later is still known for what
 * it was. No text of the language starts like it. */
static bool looks_like_wire(const vyre_strbuf *contents) {
    const size_t size = 4;
    return contents->size > size && !memcmp(contents->data, WIRE_MAGIC, size) &&
           (contents->data[size] == '\r' || contents->data[size] == '\n');
}

vyre_status cli_input_read(cli_input *input, const char *path) {
    bool is_stdin = !strcmp(path, "-");
    *input = (cli_input){.name = is_stdin ? "<stdin>" : path};
    if (!*path) {
        return cli_no_name("a FILE");
    }
    /* The larger of the two limits; text has a smaller one, which the parser knows. */
    VYRE_TRY(is_stdin ? vyre_file_read_open(STDIN_FILENO, input->name, VYRE_LIMIT_WIRE_BYTES,
                                            &input->contents)
                      : vyre_file_read(path, VYRE_LIMIT_WIRE_BYTES, &input->contents));
    input->is_wire = looks_like_wire(&input->contents);
    vyre_log(VYRE_LOG_DEBUG, "read %s, %zu byte%s of %s", input->name, input->contents.size,
             vyre_plural(input->contents.size), input->is_wire ? "binary form" : "text");
    return VYRE_OK;
}

/* The operation of that id, in place of a file that there is not. */
static vyre_status find_operation(cli_input *input, const char *id) {
    const vyre_dialects *snapshot;
    VYRE_TRY(vyre_dialects_try_enter(&input->guard, &snapshot));
    input->is_entered = true;
    input->operation = vyre_dialects_find(snapshot, id);
    return input->operation ? VYRE_OK : vyre_dialects_unknown(snapshot, "file or operation", id);
}

vyre_status cli_input_open(cli_input *input, const char *path, const char *variant) {
    vyre_status status = cli_input_read(input, path);
    if (vyre_status_code_of(status) == VYRE_STATUS_NOT_FOUND && cli_operation_is_id(path)) {
        vyre_status_free(status);
        status = find_operation(input, path);
        if (!status && vyre_operation_has_program(input->operation)) {
            const vyre_program *program;
            status = cli_operation_program(input->operation, variant, NULL, &program);
            input->program =
                status ? NULL : vyre_program_retain((vyre_program *)(uintptr_t)program);
        }
    } else if (!status && variant) {
        status =
            vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                             "remove --variant, and name the PROGRAM "
                             "after the file",
                             "--variant applies only to operations, and %s is a file", input->name);
    }
    return status;
}

vyre_status cli_input_load(cli_input *input) {
    if (input->operation) {
        return input->program ? VYRE_OK : cli_operation_opaque(input->operation);
    }
    if (input->is_wire) {
        return vyre_status_annotate(vyre_wire_decode((const uint8_t *)input->contents.data,
                                                     input->contents.size, &input->program),
                                    "in %s", input->name);
    }
    const vyre_text_reader files = {vyre_text_read_file, NULL};
    char *text;
    size_t size;
    VYRE_TRY(vyre_diagnostics_create(&input->diagnostics));
    VYRE_TRY(vyre_text_join(&files, input->name, vyre_strbuf_string(&input->contents),
                            input->contents.size, input->diagnostics, &text, &size));
    vyre_status status =
        vyre_module_parse(input->name, text, size, input->diagnostics, &input->module);
    vyre_string_free(text);
    return status;
}

void cli_input_deinit(cli_input *input) {
    vyre_strbuf_free(&input->contents);
    vyre_diagnostics_free(input->diagnostics);
    vyre_module_free(input->module);
    vyre_program_release(input->program);
    if (input->is_entered) {
        vyre_dialects_leave(&input->guard);
    }
    *input = (cli_input){0};
}

size_t cli_input_count(const cli_input *input) {
    return input->program ? 1 : input->module ? vyre_module_count(input->module) : 0;
}

vyre_program *cli_input_program(const cli_input *input, size_t index) {
    return input->program ? input->program : vyre_module_program(input->module, index);
}

/* Says that a generic program is no program before its types are known. */
static vyre_status no_types(const cli_input *input, const vyre_module_generic *generic) {
    vyre_strbuf fix = {0};
    vyre_strbuf_printf(&fix, "state its types after the file, as in '%s<f32>'", generic->name);
    vyre_status status =
        vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, vyre_strbuf_string(&fix),
                         "the program `%s` of %s is generic", generic->head, input->name);
    vyre_strbuf_free(&fix);
    return status;
}

/* Makes the instance of a generic program that a name states, and gives it the form names have. */
static vyre_status make_instance(const cli_input *input, const char **name) {
    vyre_program *program = NULL;
    if (*name && input->module && strchr(*name, '<')) {
        VYRE_TRY(vyre_module_instantiate(input->module, *name, input->diagnostics, &program));
        *name = vyre_program_name(program);
    }
    return VYRE_OK;
}

vyre_status cli_input_choose(const cli_input *input, const char *name, const char *why_one,
                             cli_selection *out) {
    VYRE_TRY(make_instance(input, &name));
    size_t count = cli_input_count(input);
    const vyre_module_generic *generic, *is_generic = NULL;
    VYRE_VEC(const char *) names = {0};
    vyre_strbuf list = {0};
    vyre_status status = VYRE_OK;
    bool stored = true;
    *out = (cli_selection){0, name ? 0 : count};
    for (size_t i = 0; i < count && stored; i++) {
        const char *here = vyre_program_name(cli_input_program(input, i));
        vyre_strbuf_printf(&list, "%s`%s`", i ? ", " : "", here);
        stored = vyre_vec_push(&names, here);
        if (name && !strcmp(name, here)) {
            *out = (cli_selection){i, i + 1};
        }
    }
    for (size_t i = 0; input->module && (generic = vyre_module_generic_at(input->module, i)); i++) {
        vyre_strbuf_printf(&list, "%s`%s`", count || i ? ", " : "", generic->head);
        is_generic = name && !strcmp(name, generic->name) ? generic : is_generic;
    }
    generic = input->module ? vyre_module_generic_at(input->module, 0) : NULL;
    if (!stored || !vyre_vec_push(&names, NULL)) {
        status = vyre_no_memory("for the list of programs");
    } else if (is_generic || (!count && generic)) {
        status = no_types(input, is_generic ? is_generic : generic);
    } else if (!count) {
        status = vyre_status_make(VYRE_STATUS_INVALID_PROGRAM, "add a program to it",
                                  "%s contains no program", input->name);
    } else if (out->first == out->end) {
        vyre_strbuf fix = {0};
        vyre_strbuf_printf(&fix, "%s has %s", input->name, vyre_strbuf_string(&list));
        status = cli_unknown("program", name, names.items, vyre_strbuf_string(&fix));
        vyre_strbuf_free(&fix);
    } else if (why_one && out->end - out->first > 1) {
        status = vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "name one of them after the file",
                                  "%s has %zu programs, and %s: %s", input->name, count, why_one,
                                  vyre_strbuf_string(&list));
    }
    vyre_vec_free(&names);
    vyre_strbuf_free(&list);
    return status;
}

size_t cli_input_errors(const cli_input *input) {
    return input->diagnostics ? vyre_diagnostics_errors(input->diagnostics) : 0;
}

size_t cli_input_warnings(const cli_input *input) {
    return input->diagnostics ? vyre_diagnostics_count(input->diagnostics) - cli_input_errors(input)
                              : 0;
}

vyre_status cli_input_render(const cli_input *input, vyre_diagnostic_form form, char **out_text,
                             size_t *out_size) {
    return vyre_diagnostics_render(input->diagnostics, input->name,
                                   vyre_strbuf_string(&input->contents), input->contents.size, form,
                                   out_text, out_size);
}

static vyre_status show_diagnostics(const cli_input *input) {
    char *text;
    size_t size;
    VYRE_TRY(cli_input_render(
        input, cli_message_has_color() ? VYRE_FORM_COLOR_TEXT : VYRE_FORM_TEXT, &text, &size));
    cli_message_write_rendered(text, size);
    vyre_string_free(text);
    return VYRE_OK;
}

cli_exit cli_input_report(const cli_input *input, const cli_command *command, vyre_status status) {
    cli_exit result = status ? CLI_EXIT_NO : CLI_EXIT_DONE;
    if (input->diagnostics && vyre_diagnostics_count(input->diagnostics)) {
        vyre_status trouble = show_diagnostics(input);
        if (trouble) {
            result = cli_message_status(command, trouble);
        }
    }
    if (status && !cli_input_errors(input)) {
        return cli_message_status(command, status);
    }
    vyre_status_free(status);
    return result;
}

bool cli_input_take(cli_input *input, const cli_command *command, const char *name,
                    const char *why_one, cli_selection *out, cli_exit *out_result) {
    vyre_status status = cli_input_load(input);
    bool taken = !status;
    *out_result = cli_input_report(input, command, status);
    status = taken ? cli_input_choose(input, name, why_one, out) : VYRE_OK;
    if (status) {
        *out_result = cli_message_status(command, status);
        taken = false;
    }
    return taken;
}
