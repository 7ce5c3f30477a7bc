/* What came out, for people and for programs. */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "conform/session.h"
#include "ir/lookup.h"
#include "runtime/device.h"
#include "values/element.h"

enum { MOST_LINES = 20 }; /* of cases that failed, and of reasons */

/* The arguments in the words of `vyre run`. */
static void put_arguments(const conform_failure *failure, vyre_strbuf *text) {
    const vyre_ir *ir = vyre_program_ir(failure->trial.program);
    for (size_t i = 0; i < failure->trial.value_count; i++) {
        const conform_trial_value *value = &failure->trial.values[i];
        uint32_t arg = 0;
        while (arg + 1 < ir->arg_count &&
               strcmp(ir->strings + ir->args[arg].name, value->name) != 0) {
            arg++;
        }
        vyre_type type = vyre_arg_shown_type(&ir->args[arg]);
        vyre_strbuf_printf(text, " %s=", value->name);
        for (size_t k = 0; k < value->size; k += vyre_type_bytes(type)) {
            vyre_strbuf_puts(text, k ? "," : "");
            values_element_print(text, type, value->data + k);
        }
        vyre_strbuf_puts(text, value->size ? "" : "zeros:0");
    }
}

void conform_smallest(const conform_failure *failure, vyre_strbuf *text) {
    vyre_strbuf_printf(text, "// %s\n// arguments:", failure->comparison.text);
    put_arguments(failure, text);
    vyre_strbuf_putc(text, '\n');
    vyre_strbuf_add(text, failure->text, failure->size);
}

/* A case of `floats` may fail behind the vectors that there are usually. */
static void put_vectors(const conform_session *c, vyre_strbuf *text) {
    bool has_floats = conform_session_has_suite(c, CONFORM_SUITE_FLOATS);
    if (has_floats && c->vectors && c->vectors != CONFORM_VECTORS) {
        vyre_strbuf_printf(text, " --vectors %llu", (unsigned long long)c->vectors);
    }
}

/* How to run it again. */
static void put_repeat(const conform_session *c, vyre_strbuf *text) {
    const conform_failure *failure = &c->failure;
    vyre_strbuf_printf(text, "vyre conform -b %s ", vyre_device_name(c->device));
    if (c->against) {
        vyre_strbuf_printf(text, "--against %s ", vyre_device_name(c->against));
    }
    if (failure->is_seeded) {
        vyre_strbuf_printf(text, "--suite %s --seed %llu --programs 1 --runs %llu",
                           conform_suite_name(failure->suite), (unsigned long long)failure->seed,
                           (unsigned long long)failure->run);
    } else {
        vyre_strbuf_printf(text, "'%s' --runs %llu", failure->id, (unsigned long long)c->runs);
        put_vectors(c, text);
    }
}

static const conform_case *first_failed(const conform_session *c) {
    for (size_t i = 0; i < c->cases.count; i++) {
        if (c->cases.items[i].fate == CONFORM_FATE_FAILED) {
            return &c->cases.items[i];
        }
    }
    return NULL;
}

static void put_failures(const conform_session *c, vyre_strbuf *text) {
    uint64_t failed = conform_session_total(c, CONFORM_FATE_FAILED), shown = 0;
    for (size_t i = 0; i < c->cases.count && shown < MOST_LINES; i++) {
        const conform_case *one = &c->cases.items[i];
        if (one->fate == CONFORM_FATE_FAILED) {
            vyre_strbuf_printf(text, "failed: %s: %s\n", one->id, one->text);
            shown++;
        }
    }
    const conform_failure *failure = &c->failure;
    for (conform_suite_kind suite = CONFORM_SUITE_SEEDED; suite < CONFORM_SUITE_COUNT; suite++) {
        const conform_seeded *seeded = &c->seeded[suite - CONFORM_SUITE_SEEDED];
        if (seeded->failure) {
            vyre_strbuf_printf(text, "failed: %s.%llu: in run %llu: %s\n",
                               conform_suite_name(suite), (unsigned long long)seeded->failed_seed,
                               (unsigned long long)seeded->failed_run, seeded->failure);
            shown++;
        }
    }
    if (failed > shown) {
        vyre_strbuf_printf(text, "failed: %llu more\n", (unsigned long long)(failed - shown));
    }
    if (failure->text) {
        vyre_strbuf_puts(text, failure->original.verdict ? "cut down:\n\n" : "its program:\n\n");
        conform_smallest(failure, text);
        vyre_strbuf_putc(text, '\n');
    }
    vyre_strbuf_puts(text, "Fix: correct the backend; repeat with `");
    if (failure->is_known) {
        put_repeat(c, text);
    } else {
        vyre_strbuf_printf(text, "vyre conform -b %s '%s'", vyre_device_name(c->device),
                           first_failed(c)->id);
        put_vectors(c, text);
    }
    vyre_strbuf_puts(text, "`\n");
}

/* Whether two reasons are the same but for names, which stand between backticks. */
static bool is_same_reason(const char *left, const char *right) {
    while (*left == *right && *left) {
        bool is_name = *left == '`';
        left++;
        right++;
        if (is_name) {
            left += strcspn(left, "`");
            right += strcspn(right, "`");
        }
    }
    return *left == *right;
}

/* Cases that were not compared: each reason once, with the first case that has it. */
static void put_reasons(const conform_session *c, conform_fate fate, vyre_strbuf *text) {
    size_t shown = 0;
    uint64_t told = 0;
    for (size_t i = 0; i < c->cases.count; i++) {
        const conform_case *one = &c->cases.items[i];
        bool is_new = one->fate == fate;
        for (size_t k = 0; k < i && is_new; k++) {
            is_new = c->cases.items[k].fate != fate ||
                     !is_same_reason(c->cases.items[k].text, one->text);
        }
        if (!is_new || shown == MOST_LINES) {
            continue; /* these are counted at the end */
        }
        uint64_t count = 0;
        for (size_t k = i; k < c->cases.count; k++) {
            count +=
                c->cases.items[k].fate == fate && is_same_reason(c->cases.items[k].text, one->text);
        }
        vyre_strbuf_printf(text, "%s: %s", conform_fate_name(fate), one->id);
        if (count > 1) {
            vyre_strbuf_printf(text, " and %llu more", (unsigned long long)(count - 1));
        }
        vyre_strbuf_printf(text, ": %s\n", one->text);
        told += count;
        shown++;
    }
    uint64_t all = 0;
    for (conform_suite_kind suite = 0; suite < CONFORM_SUITE_SEEDED; suite++) {
        all += c->tallies[suite].counts[fate];
    }
    if (all > told) {
        vyre_strbuf_printf(text, "%s: %llu more, for other reasons\n", conform_fate_name(fate),
                           (unsigned long long)(all - told));
    }
    for (conform_suite_kind suite = CONFORM_SUITE_SEEDED; suite < CONFORM_SUITE_COUNT; suite++) {
        uint64_t count = c->tallies[suite].counts[fate], seed;
        const char *reason = conform_seeds_reason(c, suite, fate, &seed);
        if (count) {
            vyre_strbuf_printf(text, "%s: %llu %s program%s, such as that of seed %llu: %s\n",
                               conform_fate_name(fate), (unsigned long long)count,
                               conform_suite_name(suite), vyre_plural(count),
                               (unsigned long long)seed, reason);
        }
    }
}

static void put_suites(const conform_session *c, vyre_strbuf *text) {
    vyre_strbuf_puts(text, "  suite       passed  failed  unsupported  skipped\n");
    for (conform_suite_kind kind = 0; kind < CONFORM_SUITE_COUNT; kind++) {
        const uint64_t *counts = c->tallies[kind].counts;
        if (conform_session_has_cases(c, kind)) {
            vyre_strbuf_printf(text, "  %-10s %7llu %7llu %12llu %8llu\n", conform_suite_name(kind),
                               (unsigned long long)counts[CONFORM_FATE_PASSED],
                               (unsigned long long)counts[CONFORM_FATE_FAILED],
                               (unsigned long long)counts[CONFORM_FATE_UNSUPPORTED],
                               (unsigned long long)counts[CONFORM_FATE_SKIPPED]);
        }
    }
}

static void put_head(const conform_session *c, vyre_strbuf *text) {
    uint64_t passed = conform_session_total(c, CONFORM_FATE_PASSED);
    uint64_t failed = conform_session_total(c, CONFORM_FATE_FAILED), ran = passed + failed;
    const char *name = vyre_device_name(c->device);
    if (failed) {
        vyre_strbuf_printf(text, "%s: %llu of %llu case%s that ran fail%s", name,
                           (unsigned long long)failed, (unsigned long long)ran, vyre_plural(ran),
                           failed == 1 ? "s" : "");
    } else if (!passed) {
        vyre_strbuf_printf(text, "%s: no case ran", name);
    } else {
        vyre_strbuf_printf(text, "%s: %llu case%s, the same bytes as %s", name,
                           (unsigned long long)passed, vyre_plural(passed),
                           c->against ? vyre_device_name(c->against) : "the oracle");
    }
    for (conform_fate fate = CONFORM_FATE_UNSUPPORTED; fate < CONFORM_FATE_COUNT; fate++) {
        uint64_t count = conform_session_total(c, fate);
        if (count) {
            vyre_strbuf_printf(text, "; %llu %s", (unsigned long long)count,
                               conform_fate_name(fate));
        }
    }
    vyre_strbuf_putc(text, '\n');
}

void conform_session_print(const conform_session *c, vyre_strbuf *text) {
    put_head(c, text);
    put_suites(c, text);
    if (conform_session_has_cases(c, CONFORM_SUITE_SMALL) ||
        conform_session_has_cases(c, CONFORM_SUITE_RANDOM)) {
        bool by_schedule = conform_has_schedules(c->device);
        vyre_strbuf_printf(text,
                           "programs: seeds from %llu on, %llu %s%s each, %llu instructions\n",
                           (unsigned long long)c->seed, (unsigned long long)c->runs,
                           by_schedule ? "random schedule" : "run", vyre_plural(c->runs),
                           (unsigned long long)c->instructions);
    }
    put_reasons(c, CONFORM_FATE_UNSUPPORTED, text);
    put_reasons(c, CONFORM_FATE_SKIPPED, text);
    vyre_strbuf_printf(text, "%.1f s\n", c->seconds);
    if (conform_session_total(c, CONFORM_FATE_FAILED)) {
        put_failures(c, text);
    }
}

/* JSON */

static void json_suites(const conform_session *c, vyre_json *json) {
    vyre_json_add_array(json, "suites");
    for (conform_suite_kind kind = 0; kind < CONFORM_SUITE_COUNT; kind++) {
        const conform_tally *tally = &c->tallies[kind];
        if (!conform_session_has_cases(c, kind)) {
            continue;
        }
        char digest[24];
        snprintf(digest, sizeof digest, "%016llx", (unsigned long long)tally->digest);
        vyre_json_object(json);
        vyre_json_add_string(json, "name", conform_suite_name(kind));
        for (conform_fate fate = 0; fate < CONFORM_FATE_COUNT; fate++) {
            vyre_json_add_u64(json, conform_fate_name(fate), tally->counts[fate]);
        }
        vyre_json_add_string(json, "digest", digest);
        vyre_json_add_f64(json, "seconds", tally->seconds);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void json_cases(const conform_session *c, vyre_json *json) {
    vyre_json_add_array(json, "cases");
    for (size_t i = 0; i < c->cases.count; i++) {
        const conform_case *one = &c->cases.items[i];
        char digest[24];
        snprintf(digest, sizeof digest, "%016llx", (unsigned long long)one->digest);
        vyre_json_object(json);
        vyre_json_add_string(json, "id", one->id);
        vyre_json_add_string(json, "fate", conform_fate_name(one->fate));
        if (one->fate == CONFORM_FATE_PASSED) {
            vyre_json_add_string(json, "digest", digest);
        } else {
            vyre_json_add_string(json, "reason", one->text);
        }
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

/* Of suites that are drawn from seeds: the first program of each fate but passed. */
static void json_seeded(const conform_session *c, vyre_json *json) {
    vyre_json_add_array(json, "seeds");
    for (conform_suite_kind suite = CONFORM_SUITE_SEEDED; suite < CONFORM_SUITE_COUNT; suite++) {
        for (conform_fate fate = CONFORM_FATE_FAILED; fate < CONFORM_FATE_COUNT; fate++) {
            uint64_t seed;
            const char *reason = conform_seeds_reason(c, suite, fate, &seed);
            if (!c->tallies[suite].counts[fate]) {
                continue;
            }
            vyre_json_object(json);
            vyre_json_add_string(json, "suite", conform_suite_name(suite));
            vyre_json_add_u64(json, "seed", seed);
            vyre_json_add_string(json, "fate", conform_fate_name(fate));
            vyre_json_add_string(json, "reason", reason);
            vyre_json_object_end(json);
        }
    }
    vyre_json_array_end(json);
}

static void json_failure(const conform_session *c, vyre_json *json) {
    const conform_failure *failure = &c->failure;
    vyre_json_key(json, "failure");
    if (!failure->is_known) {
        vyre_json_null(json);
        return;
    }
    vyre_strbuf smallest = {0}, repeat = {0};
    conform_smallest(failure, &smallest);
    put_repeat(c, &repeat);
    vyre_json_object(json);
    if (failure->is_seeded) {
        vyre_json_add_string(json, "suite", conform_suite_name(failure->suite));
        vyre_json_add_u64(json, "seed", failure->seed);
        vyre_json_add_u64(json, "run", failure->run);
    } else {
        vyre_json_add_string(json, "id", failure->id);
    }
    vyre_json_add_string(json, "message", failure->original.text);
    vyre_json_add_string(json, "smallest", vyre_strbuf_string(&smallest));
    vyre_json_add_string(json, "repeat", vyre_strbuf_string(&repeat));
    vyre_json_object_end(json);
    json->text->failed |= smallest.failed || repeat.failed;
    vyre_strbuf_free(&smallest);
    vyre_strbuf_free(&repeat);
}

void conform_session_json(const conform_session *c, vyre_json *json) {
    vyre_profile profile;
    vyre_device_profile(c->device, &profile);
    vyre_json_object(json);
    vyre_json_add_string(json, "backend", vyre_device_name(c->device));
    vyre_json_add_string(json, "version", vyre_device_version(c->device));
    vyre_json_add_string(json, "device", profile.device);
    vyre_json_add_string(json, "driver", profile.driver);
    vyre_json_add_string(json, "grade", vyre_grade_name(profile.grade));
    vyre_json_add_string(json, "against", c->against ? vyre_device_name(c->against) : NULL);
    vyre_json_add_string(json, "verdict", conform_session_verdict(c));
    vyre_json_add_string(json, "started", c->started);
    vyre_json_add_f64(json, "seconds", c->seconds);
    vyre_json_add_u64(json, "instructions", c->instructions);
    json_suites(c, json);
    json_cases(c, json);
    json_seeded(c, json);
    json_failure(c, json);
    vyre_json_object_end(json);
}

/* Lists */

void conform_session_print_list(const conform_session *c, vyre_strbuf *text) {
    for (size_t i = 0; i < c->cases.count; i++) {
        const conform_case *one = &c->cases.items[i];
        vyre_strbuf_printf(text, "%-44s", one->id);
        for (conform_tag tag = 1; tag < CONFORM_TAG_COUNT; tag++) {
            if (one->tags & CONFORM_TAG_BIT(tag)) {
                vyre_strbuf_printf(text, " %s", conform_tag_name(tag));
            }
        }
        vyre_strbuf_putc(text, '\n');
    }
    for (conform_suite_kind suite = CONFORM_SUITE_SEEDED; suite < CONFORM_SUITE_COUNT; suite++) {
        uint64_t count = conform_session_count_seeds(c, suite);
        if (count) {
            vyre_strbuf_printf(text, "%s.%llu and so on: %llu program%s\n",
                               conform_suite_name(suite), (unsigned long long)c->seed,
                               (unsigned long long)count, vyre_plural(count));
        }
    }
}

void conform_session_json_list(const conform_session *c, vyre_json *json) {
    vyre_json_object(json);
    vyre_json_add_array(json, "cases");
    for (size_t i = 0; i < c->cases.count; i++) {
        const conform_case *one = &c->cases.items[i];
        vyre_json_object(json);
        vyre_json_add_string(json, "id", one->id);
        vyre_json_add_string(json, "suite", conform_suite_name(one->suite));
        vyre_json_add_array(json, "tags");
        for (conform_tag tag = 1; tag < CONFORM_TAG_COUNT; tag++) {
            if (one->tags & CONFORM_TAG_BIT(tag)) {
                vyre_json_string(json, conform_tag_name(tag));
            }
        }
        vyre_json_array_end(json);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
    vyre_json_add_u64(json, "programs", conform_session_count(c) - c->cases.count);
    vyre_json_object_end(json);
}
