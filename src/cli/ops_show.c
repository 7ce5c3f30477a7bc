/* One operation with all that there is to know of it. */
#include <string.h>

#include "base/page.h"
#include "cli/describe.h"
#include "cli/operation.h"
#include "cli/ops.h"
#include "dialect/law.h"
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
        cli_describe_parameter(text, operation, i);
        vyre_strbuf_printf(text, "   %s\n", role_name(operation->parameters[i].role));
    }
}

static void write_laws(vyre_strbuf *text, const vyre_operation *operation) {
    for (size_t i = 0; i < operation->law_count; i++) {
        cli_describe_label(text, i ? "" : "laws");
        vyre_law_print(text, &operation->laws[i]);
        vyre_strbuf_printf(text, ": %s\n", vyre_law_meaning(operation->laws[i].kind));
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
    if (!values_sample_exists(operation)) {
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
    vyre_page_wrap(text, paragraph, 2, 2);
}

void cli_ops_show_text(vyre_strbuf *text, const vyre_operation *operation) {
    cli_targets targets;
    cli_describe_operation(text, operation, 4, 0);
    vyre_page_paragraphs(text, operation->doc, write_paragraph, "\n");
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
    if (targets.count) {
        cli_describe_label(text, "targets");
        cli_describe_targets(text, operation);
        vyre_strbuf_puts(text, "\n");
    }
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
    vyre_json_add_array(json, key);
    while (*words) {
        size_t size = strcspn(words, "\n");
        vyre_json_str(json, (vyre_str){words, size});
        words += size + (words[size] == '\n');
    }
    vyre_json_array_end(json);
}

static void json_parameters(vyre_json *json, const vyre_operation *operation) {
    vyre_json_add_array(json, "parameters");
    for (size_t i = 0; i < operation->parameter_count; i++) {
        const vyre_parameter *parameter = &operation->parameters[i];
        vyre_strbuf length = {0};
        vyre_json_object(json);
        vyre_json_add_string(json, "name", parameter->name);
        vyre_json_add_string(json, "role", role_name(parameter->role));
        vyre_json_add_string(json, "type", vyre_type_name(parameter->type));
        vyre_json_add_bool(json, "buffer", parameter->is_buffer);
        cli_describe_length(&length, operation, i);
        vyre_json_add_string(json, "length", length.size ? length.data : NULL);
        json->text->failed |= length.failed;
        vyre_strbuf_free(&length);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void json_lists(vyre_json *json, const vyre_operation *operation) {
    vyre_json_add_array(json, "laws");
    for (size_t i = 0; i < operation->law_count; i++) {
        vyre_strbuf law = {0};
        vyre_law_print(&law, &operation->laws[i]);
        vyre_json_string(json, vyre_strbuf_string(&law));
        json->text->failed |= law.failed;
        vyre_strbuf_free(&law);
    }
    vyre_json_array_end(json);
    vyre_json_add_array(json, "variants");
    for (size_t i = 0; i < operation->variant_count; i++) {
        vyre_json_object(json);
        vyre_json_add_string(json, "entry", operation->variants[i].entry);
        vyre_json_add_string(json, "suits", operation->variants[i].suits);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
    vyre_json_add_array(json, "witnesses");
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
    vyre_json_add_string(json, "id", operation->id);
    vyre_json_add_string(json, "dialect", operation->dialect);
    vyre_json_add_string(json, "version", operation->version);
    vyre_json_add_string(json, "category", cli_category_name(operation->category));
    vyre_json_add_string(json, "form", cli_form_name(operation->form));
    vyre_json_add_string(json, "doc", operation->doc);
    cli_describe_signature(&signature, operation);
    vyre_json_add_strbuf(json, "signature", &signature);
    json_parameters(json, operation);
    json_lists(json, operation);
    json_words(json, "sample", operation->sample ? operation->sample : "");
    vyre_json_add_string(json, "work", operation->work ? operation->work : "");
    vyre_json_add_array(json, "targets");
    cli_operation_targets(operation, &targets);
    for (size_t i = 0; i < targets.count; i++) {
        vyre_json_string(json, targets.ids[i]);
    }
    vyre_json_array_end(json);
    vyre_json_add_string(json, "file", operation->file ? operation->file : "");
    vyre_json_add_string(json, "entry", operation->entry ? operation->entry : "");
    vyre_json_object_end(json);
}
