/* One operation with all that there is to know of it. */
#include <string.h>

#include "cli/describe.h"
#include "cli/operation.h"
#include "cli/ops.h"
#include "cli/page.h"
#include "values/sample.h"

static const char *role_name(vyre_role role) {
    static const char *const names[] = {[VYRE_ROLE_INPUT] = "input",
                                        [VYRE_ROLE_OUTPUT] = "output",
                                        [VYRE_ROLE_UPDATED] = "updated",
                                        [VYRE_ROLE_ATTRIBUTE] = "attribute"};
    return names[role];
}

static void write_parameters(vyre_strbuf *text, const vyre_operation *operation) {
    for (size_t i = 0; i < operation->parameter_count; i++) {
        cli_describe_label(text, i ? "" : "arguments");
        cli_describe_parameter(text, &operation->parameters[i]);
        vyre_strbuf_printf(text, "   %s\n", role_name(operation->parameters[i].role));
    }
}

static void write_laws(vyre_strbuf *text, const vyre_operation *operation) {
    for (size_t i = 0; i < operation->law_count; i++) {
        cli_describe_label(text, i ? "" : "laws");
        cli_describe_law(text, &operation->laws[i]);
        vyre_strbuf_printf(text, ": %s\n", cli_law_meaning(operation->laws[i].kind));
    }
}

/* Words of a witness, as a shell takes them. */
static void write_words(vyre_strbuf *text, const char *words) {
    for (const char *at = words; *at;) {
        size_t size = strcspn(at, "\n");
        bool is_plain = strcspn(at, " '\"$`\\&|;<>()*?[]#~!") >= size;
        vyre_strbuf_printf(text, is_plain ? " %.*s" : " '%.*s'", (int)size, at);
        at += size + (at[size] == '\n');
    }
}

static void write_witnesses(vyre_strbuf *text, const vyre_operation *operation) {
    for (size_t i = 0; i < operation->witness_count; i++) {
        cli_describe_label(text, i ? "" : "witnesses");
        vyre_strbuf_printf(text, "vyre run %s", operation->id);
        write_words(text, operation->witnesses[i].arguments);
        vyre_strbuf_puts(text, "\n");
        cli_describe_label(text, "");
        vyre_strbuf_puts(text, "   gives");
        write_words(text, operation->witnesses[i].expected);
        vyre_strbuf_puts(text, "\n");
    }
}

/* What `vyre run ID --sample N` takes. */
static void write_sample(vyre_strbuf *text, const vyre_operation *operation) {
    if (!cli_sample_exists(operation)) {
        return;
    }
    const char *words = operation->sample ? operation->sample : "n random elements in each buffer";
    for (const char *at = words; *at;) {
        size_t size = strcspn(at, "\n");
        cli_describe_label(text, at == words ? "sample" : "");
        vyre_strbuf_printf(text, "%.*s\n", (int)size, at);
        at += size + (at[size] == '\n');
    }
    if (operation->work) {
        cli_describe_label(text, "work");
        vyre_strbuf_printf(text, "%s\n", operation->work);
    }
}

static void write_paragraph(vyre_strbuf *text, const char *paragraph) {
    vyre_strbuf_puts(text, "  ");
    cli_wrap(text, paragraph, 2, 2);
}

void cli_ops_show_text(vyre_strbuf *text, const vyre_operation *operation) {
    cli_targets targets;
    vyre_strbuf signature = {0};
    vyre_strbuf_puts(&signature, operation->id);
    cli_describe_signature(&signature, operation);
    cli_wrap(text, vyre_strbuf_string(&signature), 4, 0);
    text->failed |= signature.failed;
    vyre_strbuf_free(&signature);
    cli_paragraphs(text, operation->doc, write_paragraph, "\n");
    cli_describe_label(text, "dialect");
    vyre_strbuf_printf(text, "%s %s, %s\n", operation->dialect, operation->version,
                       cli_category_name(operation->category));
    if (operation->entry) {
        cli_describe_label(text, "meaning");
        vyre_strbuf_printf(text, "%s `%s` of %s\n",
                           operation->form == VYRE_OPERATION_FUNCTION ? "fn" : "program",
                           operation->entry, operation->file);
    }
    write_parameters(text, operation);
    write_laws(text, operation);
    for (size_t i = 0; i < operation->variant_count; i++) {
        cli_describe_label(text, i ? "" : "variants");
        vyre_strbuf_printf(text, "%s, for %s\n", operation->variants[i].entry,
                           operation->variants[i].suits);
    }
    write_witnesses(text, operation);
    write_sample(text, operation);
    cli_operation_targets(operation, &targets);
    for (size_t i = 0; i < targets.count; i++) {
        if (!i) {
            cli_describe_label(text, "targets");
        }
        vyre_strbuf_printf(text, "%s%s", i ? ", " : "", targets.ids[i]);
    }
    vyre_strbuf_puts(text, targets.count ? "\n" : "");
    const vyre_program *program;
    vyre_status status = vyre_operation_program(operation, NULL, &program);
    if (program) {
        cli_describe_label(text, "digest");
        cli_describe_digest(text, program);
        vyre_strbuf_puts(text, "\n");
    }
    text->failed |= status != NULL;
    vyre_status_free(status);
}

/* JSON */

static void json_words(vyre_json *json, const char *key, const char *words) {
    vyre_json_key(json, key);
    vyre_json_array(json);
    while (*words) {
        size_t size = strcspn(words, "\n");
        vyre_json_str(json, (vyre_str){words, size});
        words += size + (words[size] == '\n');
    }
    vyre_json_array_end(json);
}

static void json_parameters(vyre_json *json, const vyre_operation *operation) {
    vyre_json_key(json, "parameters");
    vyre_json_array(json);
    for (size_t i = 0; i < operation->parameter_count; i++) {
        const vyre_parameter *parameter = &operation->parameters[i];
        vyre_json_object(json);
        cli_json_string(json, "name", parameter->name);
        cli_json_string(json, "role", role_name(parameter->role));
        cli_json_string(json, "type", vyre_type_name(parameter->type));
        vyre_json_key(json, "buffer");
        vyre_json_bool(json, parameter->is_buffer);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void json_lists(vyre_json *json, const vyre_operation *operation) {
    vyre_json_key(json, "laws");
    vyre_json_array(json);
    for (size_t i = 0; i < operation->law_count; i++) {
        vyre_strbuf law = {0};
        cli_describe_law(&law, &operation->laws[i]);
        vyre_json_string(json, vyre_strbuf_string(&law));
        json->text->failed |= law.failed;
        vyre_strbuf_free(&law);
    }
    vyre_json_array_end(json);
    vyre_json_key(json, "variants");
    vyre_json_array(json);
    for (size_t i = 0; i < operation->variant_count; i++) {
        vyre_json_object(json);
        cli_json_string(json, "entry", operation->variants[i].entry);
        cli_json_string(json, "suits", operation->variants[i].suits);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
    vyre_json_key(json, "witnesses");
    vyre_json_array(json);
    for (size_t i = 0; i < operation->witness_count; i++) {
        vyre_json_object(json);
        json_words(json, "arguments", operation->witnesses[i].arguments);
        json_words(json, "expected", operation->witnesses[i].expected);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

void cli_ops_show_json(vyre_json *json, const vyre_operation *operation) {
    cli_targets targets;
    vyre_strbuf signature = {0};
    vyre_json_object(json);
    cli_json_string(json, "id", operation->id);
    cli_json_string(json, "dialect", operation->dialect);
    cli_json_string(json, "version", operation->version);
    cli_json_string(json, "category", cli_category_name(operation->category));
    cli_json_string(json, "form", cli_form_name(operation->form));
    cli_json_string(json, "doc", operation->doc);
    cli_describe_signature(&signature, operation);
    cli_json_string(json, "signature", vyre_strbuf_string(&signature));
    json->text->failed |= signature.failed;
    vyre_strbuf_free(&signature);
    json_parameters(json, operation);
    json_lists(json, operation);
    json_words(json, "sample", operation->sample ? operation->sample : "");
    cli_json_string(json, "work", operation->work ? operation->work : "");
    vyre_json_key(json, "targets");
    vyre_json_array(json);
    cli_operation_targets(operation, &targets);
    for (size_t i = 0; i < targets.count; i++) {
        vyre_json_string(json, targets.ids[i]);
    }
    vyre_json_array_end(json);
    cli_json_string(json, "file", operation->file ? operation->file : "");
    cli_json_string(json, "entry", operation->entry ? operation->entry : "");
    vyre_json_object_end(json);
}
