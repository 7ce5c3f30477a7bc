#include "cli/races.h"

#include <string.h>

#include <vyre/sanitize.h>

#include "base/units.h"
#include "cli/describe.h"
#include "cli/output.h"
#include "text/render.h"
#include "values/bind.h"

static void render_place(vyre_strbuf *text, const cli_input *input, const vyre_finding *finding,
                         const vyre_access_place *place, const char *label, const char *message,
                         const char *fix) {
    vyre_diagnostic_call call = {.function = place->function,
                                 .file = place->call_file,
                                 .line = place->call_line,
                                 .column = place->call_column};
    vyre_diagnostic item = {
        .severity =
            vyre_finding_is_error(finding->kind) ? VYRE_SEVERITY_ERROR : VYRE_SEVERITY_WARNING,
        .message = message,
        .fix = fix,
        .file = place->file,
        .line = place->line,
        .column = place->column,
        .inst = place->inst,
        .calls = place->function ? &call : NULL,
    };
    vyre_str source = {NULL, 0};
    if (!input->is_wire) {
        source = (vyre_str){vyre_strbuf_string(&input->contents), input->contents.size};
    }
    vyre_diagnostic_render(&item, label, input->name, source, cli_message_has_color(), text);
}

/* What happened at the first place, then the second. */
static void render_finding(vyre_strbuf *text, const cli_input *input, const vyre_finding *finding) {
    vyre_strbuf label = {0}, message = {0};
    bool has_second = finding->second.inst != VYRE_NONE;
    vyre_strbuf_printf(&label, "%s: %s", vyre_finding_is_error(finding->kind) ? "error" : "warning",
                       vyre_finding_kind_name(finding->kind));
    vyre_strbuf_puts(&message, finding->message);
    if (finding->count > 1) {
        vyre_strbuf_printf(&message, "; seen %llu times", (unsigned long long)finding->count);
    }
    render_place(text, input, finding, &finding->first, vyre_strbuf_string(&label),
                 vyre_strbuf_string(&message), has_second ? "" : finding->fix);
    if (has_second) {
        bool is_race = finding->kind == VYRE_FINDING_RACE;
        render_place(text, input, finding, &finding->second, "note",
                     is_race ? "the other access" : "other invocations branched differently here",
                     finding->fix);
    }
    text->failed |= label.failed || message.failed;
    vyre_strbuf_free(&label);
    vyre_strbuf_free(&message);
}

static void add_place(vyre_json *json, const char *key, const vyre_access_place *place) {
    vyre_json_key(json, key);
    if (place->inst == VYRE_NONE) {
        vyre_json_null(json);
        return;
    }
    vyre_json_object(json);
    if (place->file) {
        vyre_json_add_string(json, "file", place->file);
    }
    vyre_json_add_u64(json, "line", place->line);
    vyre_json_add_u64(json, "column", place->column);
    vyre_json_add_u64(json, "lane", place->lane);
    vyre_json_add_u64(json, "workgroup", place->workgroup);
    if (place->function) {
        vyre_json_add_string(json, "function", place->function);
        if (place->call_file) {
            vyre_json_add_string(json, "call_file", place->call_file);
        }
        vyre_json_add_u64(json, "call_line", place->call_line);
        vyre_json_add_u64(json, "call_column", place->call_column);
    }
    vyre_json_object_end(json);
}

static void add_findings(vyre_json *json, const vyre_findings *findings) {
    vyre_json_add_array(json, "findings");
    for (size_t i = 0; i < vyre_findings_count(findings); i++) {
        const vyre_finding *finding = vyre_findings_get(findings, i);
        vyre_json_object(json);
        vyre_json_add_string(json, "severity",
                             vyre_finding_is_error(finding->kind) ? "error" : "warning");
        vyre_json_add_string(json, "kind", vyre_finding_kind_name(finding->kind));
        vyre_json_add_string(json, "message", finding->message);
        vyre_json_add_string(json, "fix", finding->fix);
        vyre_json_add_u64(json, "count", finding->count);
        add_place(json, "first", &finding->first);
        add_place(json, "second", &finding->second);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void report_json(vyre_json *json, const cli_races *races, const values_binding *binding,
                        const vyre_findings *findings) {
    vyre_json_object(json);
    vyre_json_add_string(json, "program", vyre_program_name(binding->program));
    vyre_json_add_u64(json, "seed", races->seed);
    vyre_json_add_string(json, "filled_in", vyre_strbuf_string(&binding->filled));
    add_findings(json, findings);
    vyre_json_object_end(json);
}

static void report_text(vyre_strbuf *text, const cli_input *input, const cli_races *races,
                        const values_binding *binding, const vyre_findings *findings,
                        size_t errors) {
    size_t count = vyre_findings_count(findings), warnings = count - errors;
    vyre_strbuf message = {0};
    for (size_t i = 0; i < count; i++) {
        render_finding(&message, input, vyre_findings_get(findings, i));
    }
    text->failed |= message.failed;
    cli_message_write_rendered(message.data, message.size);
    vyre_strbuf_free(&message);
    cli_describe_label(text, "races");
    if (count) {
        vyre_strbuf_printf(text, "%zu error%s, %zu warning%s", errors, vyre_plural(errors),
                           warnings, vyre_plural(warnings));
    } else {
        vyre_strbuf_puts(text, "none found");
    }
    vyre_strbuf_printf(text, " with seed %llu\n", (unsigned long long)races->seed);
    if (binding->filled.size) {
        cli_describe_label(text, "filled in");
        vyre_strbuf_printf(text, "%s\n", vyre_strbuf_string(&binding->filled));
    }
}

vyre_status cli_races_check(cli_races *races, const cli_input *input, size_t index, vyre_json *json,
                            vyre_strbuf *text) {
    const vyre_program *program = cli_input_program(input, index);
    bool stdin_used = !strcmp(input->name, "<stdin>");
    values_binding binding;
    vyre_findings *findings = NULL;
    vyre_sanitize_options options = {.seed = races->seed, .timeout_ns = races->timeout_ns};
    vyre_status status = values_bind(&binding, program, races->values, races->value_count,
                                     stdin_used, VALUES_MISSING_FILLED);
    if (!status) {
        status = vyre_sanitize(program, binding.inputs, binding.input_count, &options, &findings);
    }
    if (status && binding.filled.size) {
        status = vyre_status_annotate(status, "with %s", vyre_strbuf_string(&binding.filled));
    }
    size_t errors = 0, count = status ? 0 : vyre_findings_count(findings);
    for (size_t i = 0; i < count; i++) {
        errors += vyre_finding_is_error(vyre_findings_get(findings, i)->kind);
    }
    if (!status && json) {
        report_json(json, races, &binding, findings);
    } else if (!status) {
        report_text(text, input, races, &binding, findings, errors);
    }
    races->errors += errors;
    races->warnings += count - errors;
    vyre_findings_free(findings);
    values_binding_deinit(&binding);
    return status;
}
