/* vyre backends: which backends there are, and which device is the preferred one. */
#include <string.h>

#include "base/json.h"
#include "base/page.h"
#include "cli/describe.h"
#include "cli/device.h"
#include "cli/output.h"
#include "cli/survey.h"
#include "registry/registry.h"

#define REQUIREMENTS(X)                                                                            \
    X(ANY, "any", "any device except a software one")                                              \
    X(GPU, "gpu", "a GPU")

static const cli_choice requirements[] = {
#define ROW(name, text, documentation) [VYRE_REQUIRE_##name] = {text, documentation},
    REQUIREMENTS(ROW)
#undef ROW
        {NULL, NULL}};

#define EXACT_TEXT "always the bytes of the reference backend"
#define NORMAL_RANGE_TEXT "the same bytes unless an operand or result is subnormal"
static const cli_choice grades[] = {
#define ROW(name, number, text) [number] = {text, name##_TEXT},
    VYRE_GRADES(ROW)
#undef ROW
        {NULL, NULL}};

#define OPTIONS(X)                                                                                 \
    X(PROFILE, 0, "--profile", NULL, NULL, "print the full profile of each device")                \
    X(REQUIRE, 0, "--require", "WHAT", requirements,                                               \
      "the devices that may be preferred (default: "                                               \
      "any)")                                                                                      \
    X(ALLOW, 0, "--allow", "GLOBS", NULL,                                                          \
      "the IDs that may be preferred, separated by commas, with wildcards * and ?")                \
    X(DENY, 0, "--deny", "GLOBS", NULL, "the IDs that must not be preferred")                      \
    X(GRADE, 0, "--grade", "GRADE", grades, "the exactness that is required (default: exact)")     \
    CLI_TABLE_FORMAT_OPTION(X)

CLI_OPTION_TABLE(OPTIONS);

static const cli_example examples[] = {
    {"vyre backends", "list all devices and which one is preferred"},
    {"vyre backends reference", "show one backend with the profile of its devices"},
    {"vyre backends --require gpu --deny 'vulkan*'", "see which device these rules prefer"},
    {"vyre backends --profile --format csv", "print all profiles as a table"},
    {NULL, NULL},
};

const cli_command cli_command_backends = {
    .name = "backends",
    .operands = "[ID|ID:N]",
    .summary = "list backends and their devices",
    .text =
        "Lists every registered backend with its devices, in order of precedence. For each it "
        "shows whether the device is available, or why not and what to do about it; whether the "
        "backend runs programs or only translates them; the scores that preferred selection uses; "
        "and where the backend comes from.\n\n"
        "The column `preferred` shows how preferred selection judged each device. The last line "
        "names the device it chose and what decided. The reference backend is never selected; it "
        "runs only if you name it. A note on stderr counts the plugins that were refused.\n\n"
        "With an ID only that backend is shown, with ID:N only its device N, each with its full "
        "profile. The exit status is 3 if no device shown can be used.",
    .operands_max = 1,
    CLI_COMMAND_PARTS,
};

typedef struct job {
    const cli_arguments *arguments;
    cli_survey survey;
    vyre_decision decision;
    vyre_status undecided; /* why there is no decision */
} job;

static bool given(const job *j, uint32_t option) {
    return j->arguments->values[option].given;
}

/* Preferred selection; the devices of the survey learn what became of them. */
static void decide(job *j) {
    const cli_value *values = j->arguments->values;
    const vyre_selection selection = {.require = (vyre_require)values[REQUIRE].choice,
                                      .allow = values[ALLOW].text,
                                      .deny = values[DENY].text,
                                      .grade = (vyre_grade)values[GRADE].choice};
    vyre_device *device;
    vyre_status status =
        vyre_registry_acquire_preferred(vyre_registry_default(), &selection, &j->decision, &device);
    vyre_device_release(device);
    if (j->decision.why) {
        vyre_status_free(status);
    } else {
        j->undecided = status;
    }
    for (size_t i = 0; i < j->survey.rows.count; i++) {
        cli_survey_row *row = &j->survey.rows.items[i];
        for (size_t k = 0; k < j->decision.count && !row->index; k++) {
            const vyre_candidate *candidate = &j->decision.candidates[k];
            row->candidate =
                strcmp(candidate->id, row->registration->id) ? row->candidate : candidate;
        }
    }
}

/* Tables */

typedef struct table_writer {
    vyre_table table;
    cli_fact_scope widest;
    bool is_heading;
} table_writer;

static void write_cell(void *user, const cli_fact *fact) {
    table_writer *writer = user;
    vyre_strbuf text = {0};
    if (fact->scope > writer->widest) {
        return;
    }
    if (writer->is_heading) {
        vyre_strbuf_puts(&text, fact->name);
        writer->table.columns++;
    } else {
        cli_fact_print(fact, &text);
    }
    vyre_table_add(&writer->table, "%s", vyre_strbuf_string(&text));
    writer->table.cells.failed |= text.failed;
    vyre_strbuf_free(&text);
}

static void write_table(const job *j, vyre_strbuf *text, vyre_format format,
                        cli_fact_scope widest) {
    enum { NUMBERS = 7 << 4 }; /* precedence, score, timing */
    table_writer writer = {.table = {.right = NUMBERS, .code = 1}, .widest = widest};
    for (size_t i = 0; i <= j->survey.rows.count; i++) {
        writer.is_heading = !i;
        cli_survey_facts(&j->survey.rows.items[i ? i - 1 : 0], write_cell, &writer);
    }
    vyre_table_write(text, &writer.table, format);
}

/* Text */

static void write_line(void *user, const cli_fact *fact) {
    enum { NAME_WIDTH = 34 };
    vyre_strbuf *text = user;
    if (fact->kind == CLI_FACT_MISSING) {
        return;
    }
    if (!strcmp(fact->name, "name")) {
        cli_fact_print(fact, text);
        vyre_strbuf_putc(text, '\n');
        return;
    }
    vyre_strbuf value = {0};
    cli_fact_print(fact, &value);
    if (value.size) {
        vyre_strbuf_printf(text, "  %-*s%s\n", NAME_WIDTH, fact->name, vyre_strbuf_string(&value));
    }
    text->failed |= value.failed;
    vyre_strbuf_free(&value);
}

static void write_full(const job *j, vyre_strbuf *text) {
    for (size_t i = 0; i < j->survey.rows.count; i++) {
        vyre_strbuf_puts(text, i ? "\n" : "");
        cli_survey_facts(&j->survey.rows.items[i], write_line, text);
    }
}

/* The reason of each device that cannot be used, and of each that the selection passed over. */
static void write_reasons(const job *j, vyre_strbuf *text) {
    const char *between = "\n";
    for (size_t i = 0; i < j->survey.rows.count; i++) {
        const cli_survey_row *row = &j->survey.rows.items[i];
        const char *reason = row->failure     ? vyre_status_text(row->failure)
                             : row->candidate ? row->candidate->reason
                                              : "";
        if (*reason) {
            vyre_strbuf_printf(text, "%s%s: %s\n", between, row->name, reason);
            between = "";
        }
    }
}

static void write_decision(const job *j, vyre_strbuf *text) {
    vyre_strbuf_printf(text, "\npreferred selection takes %s\n",
                       j->undecided ? vyre_status_text(j->undecided) : j->decision.why);
}

static void write_text(const job *j, vyre_strbuf *text) {
    bool is_named = j->arguments->operand_count;
    if (is_named || given(j, PROFILE)) {
        write_full(j, text);
    } else {
        write_table(j, text, VYRE_FORMAT_TEXT, CLI_FACT_BRIEF);
        write_reasons(j, text);
    }
    if (!is_named) {
        write_decision(j, text);
    }
}

/* JSON */

typedef struct json_writer {
    vyre_json json;
    bool in_profile;
} json_writer;

static void write_member(void *user, const cli_fact *fact) {
    json_writer *writer = user;
    vyre_json *json = &writer->json;
    if (fact->scope == CLI_FACT_PROFILE && fact->kind == CLI_FACT_MISSING) {
        return;
    }
    if (fact->scope == CLI_FACT_PROFILE && !writer->in_profile) {
        vyre_json_add_object(json, "profile");
        writer->in_profile = true;
    }
    vyre_json_key(json, fact->name);
    switch (fact->kind) {
    case CLI_FACT_MISSING: vyre_json_null(json); break;
    case CLI_FACT_TEXT: vyre_json_string(json, fact->text); break;
    case CLI_FACT_NUMBER: vyre_json_u64(json, fact->number); break;
    case CLI_FACT_FLAG: vyre_json_bool(json, fact->number); break;
    case CLI_FACT_SIZES:
        vyre_json_array(json);
        for (size_t i = 0; i < 3; i++) {
            vyre_json_u64(json, fact->sizes[i]);
        }
        vyre_json_array_end(json);
        break;
    case CLI_FACT_FEATURES: {
        const char *name;
        uint64_t bit;
        vyre_json_array(json);
        for (size_t i = 0; (name = cli_feature_name(i, &bit)); i++) {
            if (fact->number & bit) {
                vyre_json_string(json, name);
            }
        }
        vyre_json_array_end(json);
        break;
    }
    }
}

static void write_candidates(const job *j, vyre_json *json) {
    vyre_json_add_array(json, "candidates");
    for (size_t i = 0; i < j->decision.count; i++) {
        const vyre_candidate *candidate = &j->decision.candidates[i];
        vyre_json_object(json);
        vyre_json_add_string(json, "id", candidate->id);
        vyre_json_add_string(json, "fate", vyre_fate_name(candidate->fate));
        vyre_json_add_string(json, "reason", candidate->reason);
        vyre_json_key(json, "precedence");
        if (candidate->rank == VYRE_NO_RANK) {
            vyre_json_null(json);
        } else {
            vyre_json_u64(json, candidate->rank);
        }
        vyre_json_add_u64(json, "score", candidate->capability_score);
        vyre_json_add_u64(json, "timing", candidate->timing_score);
        vyre_json_add_u64(json, "memory_bandwidth_gbps", candidate->memory_bandwidth_gbps);
        vyre_json_add_u64(json, "acquisition_ns", candidate->acquisition_ns);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void write_json(const job *j, vyre_strbuf *text) {
    json_writer writer = {.json = {.text = text}};
    vyre_json *json = &writer.json;
    vyre_json_object(json);
    vyre_json_add_array(json, "devices");
    for (size_t i = 0; i < j->survey.rows.count; i++) {
        vyre_json_object(json);
        writer.in_profile = false;
        cli_survey_facts(&j->survey.rows.items[i], write_member, &writer);
        if (writer.in_profile) {
            vyre_json_object_end(json);
        }
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
    if (!j->arguments->operand_count) {
        const vyre_decision *decision = &j->decision;
        vyre_json_add_object(json, "preferred");
        vyre_json_add_string(
            json, "takes",
            decision->chosen < decision->count ? decision->candidates[decision->chosen].id : NULL);
        vyre_json_add_string(json, "why",
                             j->undecided ? vyre_status_text(j->undecided) : decision->why);
        write_candidates(j, json);
        vyre_json_object_end(json);
    }
    vyre_json_object_end(json);
    vyre_strbuf_putc(text, '\n');
}

/* The command */

static vyre_status check_usage(const job *j) {
    bool selects = given(j, REQUIRE) || given(j, ALLOW) || given(j, DENY) || given(j, GRADE);
    const char *name = j->arguments->operand_count ? j->arguments->operands[0] : "";
    if (!strcmp(name, "auto") || !strcmp(name, "preferred")) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT,
                                "remove it; the last line names the preferred device, and `vyre "
                                "route` shows which one auto takes",
                                "`%s` is a way to choose a device, not a backend", name);
    }
    return j->arguments->operand_count && selects
               ? vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "remove one of them",
                                  "a named backend is not selected, so the selection options have "
                                  "no effect")
               : VYRE_OK;
}

static cli_exit list(job *j) {
    const char *name = j->arguments->operand_count ? j->arguments->operands[0] : NULL;
    vyre_format format = (vyre_format)j->arguments->values[FORMAT].choice;
    vyre_status status = check_usage(j);
    if (!status) {
        status = name ? cli_survey_take_named(&j->survey, name) : cli_survey_take_all(&j->survey);
    }
    if (status) {
        cli_exit result = cli_message_status(j->arguments->command, status);
        if (name && result != CLI_EXIT_USAGE) {
            cli_device_tell_refused(j->arguments->command);
            result = CLI_EXIT_BACKEND;
        }
        return result;
    }
    if (!name) {
        decide(j);
    }
    vyre_strbuf text = {0};
    if (format == VYRE_FORMAT_TEXT) {
        write_text(j, &text);
    } else if (format == VYRE_FORMAT_JSON) {
        write_json(j, &text);
    } else {
        write_table(j, &text, format, given(j, PROFILE) ? CLI_FACT_PROFILE : CLI_FACT_WIDE);
    }
    cli_output_write(&text);
    if (!name) {
        cli_device_tell_refused(j->arguments->command);
    }
    bool usable = !name;
    for (size_t i = 0; i < j->survey.rows.count; i++) {
        usable |= j->survey.rows.items[i].device != NULL;
    }
    return usable ? CLI_EXIT_DONE : CLI_EXIT_BACKEND;
}

static cli_exit run(const cli_arguments *arguments) {
    job j = {.arguments = arguments};
    cli_exit result = list(&j);
    cli_survey_deinit(&j.survey);
    vyre_decision_free(&j.decision);
    vyre_status_free(j.undecided);
    return result;
}
