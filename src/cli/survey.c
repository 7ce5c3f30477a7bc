#include "cli/survey.h"

#include <stdlib.h>
#include <string.h>

#include "backend/table.h"
#include "base/status.h"
#include "registry/probe.h"
#include "registry/registry.h"
#include "registry/select.h"
#include "runtime/device.h"

static void deinit_row(cli_survey_row *row) {
    vyre_device_release(row->device);
    vyre_status_free(row->failure);
    vyre_free(row->name);
}

/* Names the device and takes it, and what it holds, into the survey. */
static vyre_status add(cli_survey *survey, cli_survey_row row) {
    vyre_strbuf name = {0};
    vyre_strbuf_puts(&name, row.registration->id);
    if (row.index) {
        vyre_strbuf_printf(&name, ":%u", row.index);
    }
    row.name = name.data;
    if (name.failed || !vyre_vec_push(&survey->rows, row)) {
        deinit_row(&row);
        return vyre_no_memory("to list devices");
    }
    return VYRE_OK;
}

/* The code of plugins is tried in a child process first: a crash there is a row of the survey. */
static bool is_plugin(const vyre_registration *registration) {
    const char *origin = vyre_registry_origin(vyre_registry_default(), registration->id);
    return origin && *origin == '/';
}

static vyre_status take_device(cli_survey *survey, const vyre_registration *registration,
                               uint32_t index, bool *out_survived) {
    cli_survey_row row = {.registration = registration, .index = index};
    if (is_plugin(registration)) {
        row.failure = vyre_registration_probe(registration, index);
    }
    *out_survived = !row.failure;
    if (!row.failure) {
        row.failure = vyre_registration_acquire(registration, index, &row.device);
    }
    return add(survey, row);
}

/* Lets a built-in backend measure what its devices cannot tell otherwise. */
static void measure(const cli_survey *survey, const vyre_registration *registration) {
    for (const vyre_builtin *const *built_in = vyre_builtins; *built_in; built_in++) {
        if (!survey->is_brief && (*built_in)->measure &&
            registration == (*built_in)->bundle->registrations) {
            (*built_in)->measure();
        }
    }
}

static vyre_status take_backend(cli_survey *survey, const vyre_registration *registration) {
    measure(survey, registration);
    bool survived;
    /* That there is not even one is worth a row, which says why. */
    VYRE_TRY(take_device(survey, registration, 0, &survived));
    uint32_t count = survived ? vyre_registration_device_count(registration) : 1;
    for (uint32_t i = 1; i < count && survived; i++) {
        VYRE_TRY(take_device(survey, registration, i, &survived));
    }
    return VYRE_OK;
}

vyre_status cli_survey_take_all(cli_survey *survey) {
    const vyre_registration **list;
    size_t count;
    vyre_status status = vyre_registry_by_rank_copy(vyre_registry_default(), &list, &count);
    for (size_t i = 0; !status && i < count; i++) {
        status = take_backend(survey, list[i]);
    }
    vyre_registry_list_free(list);
    return status;
}

vyre_status cli_survey_take_named(cli_survey *survey, const char *name) {
    const vyre_registration *found = NULL;
    const char *colon = strchr(name, ':');
    if (!colon) {
        VYRE_TRY(vyre_registry_find(vyre_registry_default(), name, &found));
    }
    if (found) {
        return take_backend(survey, found);
    }
    /* One device; or a name that stands for nothing, which is told here. */
    cli_survey_row row = {0};
    VYRE_TRY(vyre_registry_acquire(vyre_registry_default(), name, &row.device));
    vyre_status status =
        vyre_registry_find(vyre_registry_default(), vyre_device_id(row.device), &row.registration);
    if (status) {
        vyre_device_release(row.device);
        return status;
    }
    row.index = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
    return add(survey, row);
}

void cli_survey_deinit(cli_survey *survey) {
    for (size_t i = 0; i < survey->rows.count; i++) {
        deinit_row(&survey->rows.items[i]);
    }
    vyre_vec_free(&survey->rows);
}

const char *cli_feature_name(size_t number, uint64_t *out_bit) {
    static const struct {
        uint64_t bit;
        const char *name;
    } rows[] = {
#define ROW(name, bit, text) {VYRE_FEATURE_##name, text},
        VYRE_FEATURES(ROW)
#undef ROW
    };
    if (number >= sizeof rows / sizeof *rows) {
        return NULL;
    }
    *out_bit = rows[number].bit;
    return rows[number].name;
}

static uint64_t count_ops(const vyre_op_set *set) {
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof set->words / sizeof *set->words; i++) {
        count += (uint64_t)__builtin_popcountll(set->words[i]);
    }
    return count;
}

/* Hands facts to a writer; those that take a device are missing where there is none. */
typedef struct teller {
    cli_fact_writer write;
    void *user;
    bool known;
} teller;

static void tell(const teller *t, cli_fact fact) {
    fact.kind = t->known ? fact.kind : CLI_FACT_MISSING;
    t->write(t->user, &fact);
}

static void tell_text(const teller *t, const char *name, cli_fact_scope scope, const char *text) {
    tell(t, (cli_fact){name, scope, CLI_FACT_TEXT, text, 0, {0}});
}

static void tell_number(const teller *t, const char *name, cli_fact_scope scope, uint64_t number) {
    tell(t, (cli_fact){name, scope, CLI_FACT_NUMBER, NULL, number, {0}});
}

static void tell_flag(const teller *t, const char *name, cli_fact_scope scope, bool flag) {
    tell(t, (cli_fact){name, scope, CLI_FACT_FLAG, NULL, flag, {0}});
}

static void tell_sizes(const teller *t, const char *name, const uint32_t sizes[3]) {
    tell(t, (cli_fact){
                name, CLI_FACT_PROFILE, CLI_FACT_SIZES, NULL, 0, {sizes[0], sizes[1], sizes[2]}});
}

static void tell_profile(const teller *t, const vyre_profile *profile) {
    tell_text(t, "device", CLI_FACT_PROFILE, profile->device);
    tell_text(t, "driver", CLI_FACT_PROFILE, profile->driver);
    tell_text(t, "grade", CLI_FACT_PROFILE, vyre_grade_name(profile->grade));
    tell_text(t, "timing_quality", CLI_FACT_PROFILE, vyre_timing_name(profile->timing_quality));
#define FLAG(name, bit, text)                                                                      \
    tell_flag(t, text, CLI_FACT_PROFILE, profile->flags &VYRE_PROFILE_##name);
    VYRE_PROFILE_FLAGS(FLAG)
#undef FLAG
#define NUMBER(field) tell_number(t, #field, CLI_FACT_PROFILE, profile->field);
    VYRE_PROFILE_NUMBERS(NUMBER)
#undef NUMBER
    tell_sizes(t, "max_workgroup_size", profile->max_workgroup_size);
    tell_sizes(t, "max_workgroups_per_dimension", profile->max_workgroups_per_dimension);
    tell_sizes(t, "ideal_workgroup_tile", profile->ideal_workgroup_tile);
}

const char *cli_survey_note(const cli_survey_row *row) {
    const char *note = NULL;
    for (const vyre_builtin *const *built_in = vyre_builtins; *built_in && !note; built_in++) {
        const vyre_bundle *bundle = (*built_in)->bundle;
        if (!row->failure && (*built_in)->note &&
            !strcmp(bundle->registrations[0].id, row->registration->id)) {
            note = (*built_in)->note();
        }
    }
    return note ? note : "";
}

void cli_survey_facts(const cli_survey_row *row, cli_fact_writer write, void *user) {
    const char *id = row->registration->id;
    const vyre_device *device = row->device;
    uint32_t rank = vyre_registry_rank(vyre_registry_default(), id);
    vyre_profile profile = {.device = "", .driver = ""};
    if (device) {
        vyre_device_profile(device, &profile);
    }
    const teller always = {write, user, true}, of_device = {write, user, device},
                 of_failure = {write, user, row->failure},
                 of_choice = {write, user, row->candidate},
                 of_rank = {write, user, rank != VYRE_NO_RANK};
    tell_text(&always, "name", CLI_FACT_BRIEF, row->name);
    tell_text(&of_device, "version", CLI_FACT_BRIEF, device ? vyre_device_version(device) : "");
    tell_flag(&always, "available", CLI_FACT_BRIEF, device);
    tell_flag(&always, "dispatches", CLI_FACT_BRIEF,
              vyre_registry_dispatches(vyre_registry_default(), id));
    tell_number(&of_rank, "precedence", CLI_FACT_BRIEF, rank);
    tell_number(&of_device, "score", CLI_FACT_BRIEF, vyre_capability_score(&profile));
    tell_number(&of_device, "timing", CLI_FACT_BRIEF, vyre_timing_score(profile.timing_quality));
    tell_text(&of_choice, "preferred", CLI_FACT_BRIEF,
              row->candidate ? vyre_fate_name(row->candidate->fate) : "");
    tell_text(&always, "origin", CLI_FACT_BRIEF, vyre_registry_origin(vyre_registry_default(), id));
    tell_text(&of_failure, "reason", CLI_FACT_WIDE,
              row->failure ? vyre_status_text(row->failure) : "");
    tell(&of_device, (cli_fact){"features",
                                CLI_FACT_FULL,
                                CLI_FACT_FEATURES,
                                NULL,
                                device ? vyre_device_features(device) : 0,
                                {0}});
    tell_number(&of_device, "operations", CLI_FACT_FULL,
                device ? count_ops(vyre_device_supported_ops(device)) : 0);
    const char *note = cli_survey_note(row);
    const teller of_note = {write, user, *note};
    tell_text(&of_note, "note", CLI_FACT_FULL, note);
    tell_profile(&of_device, &profile);
}

void cli_fact_print(const cli_fact *fact, vyre_strbuf *text) {
    switch (fact->kind) {
    case CLI_FACT_MISSING: break;
    case CLI_FACT_TEXT: vyre_strbuf_puts(text, fact->text); break;
    case CLI_FACT_NUMBER: vyre_strbuf_u64(text, fact->number); break;
    case CLI_FACT_FLAG: vyre_strbuf_puts(text, fact->number ? "yes" : "no"); break;
    case CLI_FACT_SIZES:
        vyre_strbuf_printf(text, "%u x %u x %u", fact->sizes[0], fact->sizes[1], fact->sizes[2]);
        break;
    case CLI_FACT_FEATURES: {
        const char *name, *between = "";
        uint64_t bit;
        for (size_t i = 0; (name = cli_feature_name(i, &bit)); i++) {
            if (fact->number & bit) {
                vyre_strbuf_printf(text, "%s%s", between, name);
                between = ", ";
            }
        }
        break;
    }
    }
}
