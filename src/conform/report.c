/* What came out, for people and for programs. */
#include <stdio.h>
#include <string.h>

#include "cli/device.h"
#include "cli/output.h"
#include "conform/conform.h"
#include "runtime/device.h"
#include "values/value.h"

enum { MOST_LINES = 20 }; /* of cases that failed, and of reasons */

/* The arguments in the words of `vyre run`. */
static void put_arguments(const cli_conform_failure *failure, vyre_strbuf *text) {
    const vyre_ir *ir = vyre_program_ir(failure->trial.program);
    for (size_t i = 0; i < failure->trial.value_count; i++) {
        const vyre_trial_value *value = &failure->trial.values[i];
        uint32_t arg = 0;
        while (arg + 1 < ir->arg_count &&
               strcmp(ir->strings + ir->args[arg].name, value->name) != 0) {
            arg++;
        }
        vyre_type type = (vyre_type)ir->args[arg].type;
        vyre_strbuf_printf(text, " %s=", value->name);
        for (size_t k = 0; k < value->size; k += vyre_type_bytes(type)) {
            vyre_strbuf_puts(text, k ? "," : "");
            cli_value_print(text, type, value->data + k);
        }
        vyre_strbuf_puts(text, value->size ? "" : "zeros:0");
    }
}

void cli_conform_smallest(const cli_conform_failure *failure, vyre_strbuf *text) {
    vyre_strbuf_printf(text, "// %s\n// arguments:", failure->comparison.text);
    put_arguments(failure, text);
    vyre_strbuf_putc(text, '\n');
    vyre_strbuf_add(text, failure->text, failure->size);
}

/* How to run it again. */
static void put_repeat(const cli_conform *c, vyre_strbuf *text) {
    const cli_conform_failure *failure = &c->failure;
    vyre_strbuf_printf(text, "vyre conform -b %s ", vyre_device_name(c->device));
    if (c->against) {
        vyre_strbuf_printf(text, "--against %s ", vyre_device_name(c->against));
    }
    if (failure->is_seeded) {
        vyre_strbuf_printf(text, "--suite %s --seed %llu --programs 1 --runs %llu",
                           vyre_suite_name(failure->suite), (unsigned long long)failure->seed,
                           (unsigned long long)failure->run);
    } else {
        vyre_strbuf_printf(text, "'%s' --runs %llu", failure->id, (unsigned long long)c->runs);
    }
}

static const cli_conform_case *first_failed(const cli_conform *c) {
    for (size_t i = 0; i < c->cases.count; i++) {
        if (c->cases.items[i].fate == CLI_FATE_FAILED) {
            return &c->cases.items[i];
        }
    }
    return NULL;
}

static void put_failures(const cli_conform *c, vyre_strbuf *text) {
    uint64_t failed = cli_conform_total(c, CLI_FATE_FAILED), shown = 0;
    for (size_t i = 0; i < c->cases.count && shown < MOST_LINES; i++) {
        const cli_conform_case *one = &c->cases.items[i];
        if (one->fate == CLI_FATE_FAILED) {
            vyre_strbuf_printf(text, "failed: %s: %s\n", one->id, one->text);
            shown++;
        }
    }
    const cli_conform_failure *failure = &c->failure;
    for (vyre_suite_kind suite = VYRE_SUITE_SEEDED; suite < VYRE_SUITE_COUNT; suite++) {
        const cli_conform_seeded *seeded = &c->seeded[suite - VYRE_SUITE_SEEDED];
        if (seeded->failure) {
            vyre_strbuf_printf(text, "failed: %s.%llu: in run %llu: %s\n", vyre_suite_name(suite),
                               (unsigned long long)seeded->failed_seed,
                               (unsigned long long)seeded->failed_run, seeded->failure);
            shown++;
        }
    }
    if (failed > shown) {
        vyre_strbuf_printf(text, "failed: %llu more\n", (unsigned long long)(failed - shown));
    }
    if (failure->text) {
        vyre_strbuf_puts(text, failure->original.verdict ? "cut down:\n\n" : "its program:\n\n");
        cli_conform_smallest(failure, text);
        vyre_strbuf_putc(text, '\n');
    }
    vyre_strbuf_puts(text, "Fix: correct the backend; repeat with `");
    if (failure->is_known) {
        put_repeat(c, text);
    } else {
        vyre_strbuf_printf(text, "vyre conform -b %s '%s'", vyre_device_name(c->device),
                           first_failed(c)->id);
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
static void put_reasons(const cli_conform *c, cli_fate fate, vyre_strbuf *text) {
    size_t shown = 0;
    uint64_t told = 0;
    for (size_t i = 0; i < c->cases.count; i++) {
        const cli_conform_case *one = &c->cases.items[i];
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
        vyre_strbuf_printf(text, "%s: %s", cli_fate_name(fate), one->id);
        if (count > 1) {
            vyre_strbuf_printf(text, " and %llu more", (unsigned long long)(count - 1));
        }
        vyre_strbuf_printf(text, ": %s\n", one->text);
        told += count;
        shown++;
    }
    uint64_t all = 0;
    for (vyre_suite_kind suite = 0; suite < VYRE_SUITE_SEEDED; suite++) {
        all += c->tallies[suite].counts[fate];
    }
    if (all > told) {
        vyre_strbuf_printf(text, "%s: %llu more, for other reasons\n", cli_fate_name(fate),
                           (unsigned long long)(all - told));
    }
    for (vyre_suite_kind suite = VYRE_SUITE_SEEDED; suite < VYRE_SUITE_COUNT; suite++) {
        const cli_conform_seeded *seeded = &c->seeded[suite - VYRE_SUITE_SEEDED];
        uint64_t count = c->tallies[suite].counts[fate];
        if (count) {
            vyre_strbuf_printf(text, "%s: %llu %s program%s, as the one of seed %llu: %s\n",
                               cli_fate_name(fate), (unsigned long long)count,
                               vyre_suite_name(suite), cli_plural(count),
                               (unsigned long long)seeded->refused_seed, seeded->refusal);
        }
    }
}

static void put_suites(const cli_conform *c, vyre_strbuf *text) {
    vyre_strbuf_puts(text, "  suite       passed  failed  unsupported  skipped\n");
    for (vyre_suite_kind kind = 0; kind < VYRE_SUITE_COUNT; kind++) {
        const uint64_t *counts = c->tallies[kind].counts;
        if (cli_conform_has_cases(c, kind)) {
            vyre_strbuf_printf(text, "  %-10s %7llu %7llu %12llu %8llu\n", vyre_suite_name(kind),
                               (unsigned long long)counts[CLI_FATE_PASSED],
                               (unsigned long long)counts[CLI_FATE_FAILED],
                               (unsigned long long)counts[CLI_FATE_UNSUPPORTED],
                               (unsigned long long)counts[CLI_FATE_SKIPPED]);
        }
    }
}

static void put_head(const cli_conform *c, vyre_strbuf *text) {
    uint64_t passed = cli_conform_total(c, CLI_FATE_PASSED);
    uint64_t failed = cli_conform_total(c, CLI_FATE_FAILED), ran = passed + failed;
    const char *name = vyre_device_name(c->device);
    if (failed) {
        vyre_strbuf_printf(text, "%s: %llu of %llu case%s that ran fail%s", name,
                           (unsigned long long)failed, (unsigned long long)ran, cli_plural(ran),
                           failed == 1 ? "s" : "");
    } else if (!passed) {
        vyre_strbuf_printf(text, "%s: nothing was compared", name);
    } else {
        vyre_strbuf_printf(text, "%s: %llu case%s, the same bytes as %s", name,
                           (unsigned long long)passed, cli_plural(passed),
                           c->against ? vyre_device_name(c->against) : "the oracle");
    }
    for (cli_fate fate = CLI_FATE_UNSUPPORTED; fate < CLI_FATE_COUNT; fate++) {
        uint64_t count = cli_conform_total(c, fate);
        if (count) {
            vyre_strbuf_printf(text, "; %llu %s", (unsigned long long)count, cli_fate_name(fate));
        }
    }
    vyre_strbuf_putc(text, '\n');
}

void cli_conform_print(const cli_conform *c, vyre_strbuf *text) {
    put_head(c, text);
    put_suites(c, text);
    if (cli_conform_has_cases(c, VYRE_SUITE_SMALL) || cli_conform_has_cases(c, VYRE_SUITE_RANDOM)) {
        bool by_schedule = cli_device_is_reference(c->device);
        vyre_strbuf_printf(text,
                           "programs: seeds from %llu on, %llu %s%s each, %llu instructions\n",
                           (unsigned long long)c->seed, (unsigned long long)c->runs,
                           by_schedule ? "random schedule" : "run", cli_plural(c->runs),
                           (unsigned long long)c->instructions);
    }
    put_reasons(c, CLI_FATE_UNSUPPORTED, text);
    put_reasons(c, CLI_FATE_SKIPPED, text);
    vyre_strbuf_printf(text, "%.1f s\n", c->seconds);
    if (cli_conform_total(c, CLI_FATE_FAILED)) {
        put_failures(c, text);
    }
}

/* JSON */

static void put_string(vyre_json *json, const char *key, const char *value) {
    vyre_json_key(json, key);
    if (value) {
        vyre_json_string(json, value);
    } else {
        vyre_json_null(json);
    }
}

static void put_number(vyre_json *json, const char *key, uint64_t number) {
    vyre_json_key(json, key);
    vyre_json_u64(json, number);
}

static void json_suites(const cli_conform *c, vyre_json *json) {
    vyre_json_key(json, "suites");
    vyre_json_array(json);
    for (vyre_suite_kind kind = 0; kind < VYRE_SUITE_COUNT; kind++) {
        const cli_conform_tally *tally = &c->tallies[kind];
        if (!cli_conform_has_cases(c, kind)) {
            continue;
        }
        char digest[24];
        snprintf(digest, sizeof digest, "%016llx", (unsigned long long)tally->digest);
        vyre_json_object(json);
        put_string(json, "name", vyre_suite_name(kind));
        for (cli_fate fate = 0; fate < CLI_FATE_COUNT; fate++) {
            put_number(json, cli_fate_name(fate), tally->counts[fate]);
        }
        put_string(json, "digest", digest);
        vyre_json_key(json, "seconds");
        vyre_json_f64(json, tally->seconds);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void json_cases(const cli_conform *c, vyre_json *json) {
    vyre_json_key(json, "cases");
    vyre_json_array(json);
    for (size_t i = 0; i < c->cases.count; i++) {
        const cli_conform_case *one = &c->cases.items[i];
        char digest[24];
        snprintf(digest, sizeof digest, "%016llx", (unsigned long long)one->digest);
        vyre_json_object(json);
        put_string(json, "id", one->id);
        put_string(json, "fate", cli_fate_name(one->fate));
        if (one->fate == CLI_FATE_PASSED) {
            put_string(json, "digest", digest);
        } else {
            put_string(json, "reason", one->text);
        }
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

/* Of suites that are drawn from seeds: the first program that failed, and the first unsupported. */
static void json_seeded(const cli_conform *c, vyre_json *json) {
    vyre_json_key(json, "seeds");
    vyre_json_array(json);
    for (vyre_suite_kind suite = VYRE_SUITE_SEEDED; suite < VYRE_SUITE_COUNT; suite++) {
        const cli_conform_seeded *seeded = &c->seeded[suite - VYRE_SUITE_SEEDED];
        const struct {
            const char *text;
            uint64_t seed;
            cli_fate fate;
        } both[] = {{seeded->failure, seeded->failed_seed, CLI_FATE_FAILED},
                    {seeded->refusal, seeded->refused_seed, CLI_FATE_UNSUPPORTED}};
        for (size_t i = 0; i < 2; i++) {
            if (!both[i].text) {
                continue;
            }
            vyre_json_object(json);
            put_string(json, "suite", vyre_suite_name(suite));
            put_number(json, "seed", both[i].seed);
            put_string(json, "fate", cli_fate_name(both[i].fate));
            put_string(json, "reason", both[i].text);
            vyre_json_object_end(json);
        }
    }
    vyre_json_array_end(json);
}

static void json_failure(const cli_conform *c, vyre_json *json) {
    const cli_conform_failure *failure = &c->failure;
    vyre_json_key(json, "failure");
    if (!failure->is_known) {
        vyre_json_null(json);
        return;
    }
    vyre_strbuf smallest = {0}, repeat = {0};
    cli_conform_smallest(failure, &smallest);
    put_repeat(c, &repeat);
    vyre_json_object(json);
    if (failure->is_seeded) {
        put_string(json, "suite", vyre_suite_name(failure->suite));
        put_number(json, "seed", failure->seed);
        put_number(json, "run", failure->run);
    } else {
        put_string(json, "id", failure->id);
    }
    put_string(json, "message", failure->original.text);
    put_string(json, "smallest", vyre_strbuf_string(&smallest));
    put_string(json, "repeat", vyre_strbuf_string(&repeat));
    vyre_json_object_end(json);
    json->text->failed |= smallest.failed || repeat.failed;
    vyre_strbuf_free(&smallest);
    vyre_strbuf_free(&repeat);
}

void cli_conform_json(const cli_conform *c, vyre_json *json) {
    vyre_profile profile;
    vyre_device_profile(c->device, &profile);
    vyre_json_object(json);
    put_string(json, "backend", vyre_device_name(c->device));
    put_string(json, "version", vyre_device_version(c->device));
    put_string(json, "device", profile.device);
    put_string(json, "driver", profile.driver);
    put_string(json, "grade", vyre_grade_name(profile.grade));
    put_string(json, "against", c->against ? vyre_device_name(c->against) : NULL);
    put_string(json, "verdict", cli_conform_verdict_name(c));
    put_string(json, "started", c->started);
    vyre_json_key(json, "seconds");
    vyre_json_f64(json, c->seconds);
    put_number(json, "instructions", c->instructions);
    json_suites(c, json);
    json_cases(c, json);
    json_seeded(c, json);
    json_failure(c, json);
    vyre_json_object_end(json);
}

/* Lists */

void cli_conform_print_list(const cli_conform *c, vyre_strbuf *text) {
    for (size_t i = 0; i < c->cases.count; i++) {
        const cli_conform_case *one = &c->cases.items[i];
        vyre_strbuf_printf(text, "%-44s", one->id);
        for (vyre_tag tag = 1; tag < VYRE_TAG_COUNT; tag++) {
            if (one->tags & VYRE_TAG_BIT(tag)) {
                vyre_strbuf_printf(text, " %s", vyre_tag_name(tag));
            }
        }
        vyre_strbuf_putc(text, '\n');
    }
    for (vyre_suite_kind suite = VYRE_SUITE_SEEDED; suite < VYRE_SUITE_COUNT; suite++) {
        uint64_t count = cli_conform_count_seeds(c, suite);
        if (count) {
            vyre_strbuf_printf(text, "%s.%llu and so on: %llu program%s\n", vyre_suite_name(suite),
                               (unsigned long long)c->seed, (unsigned long long)count,
                               cli_plural(count));
        }
    }
}

void cli_conform_json_list(const cli_conform *c, vyre_json *json) {
    vyre_json_object(json);
    vyre_json_key(json, "cases");
    vyre_json_array(json);
    for (size_t i = 0; i < c->cases.count; i++) {
        const cli_conform_case *one = &c->cases.items[i];
        vyre_json_object(json);
        put_string(json, "id", one->id);
        put_string(json, "suite", vyre_suite_name(one->suite));
        vyre_json_key(json, "tags");
        vyre_json_array(json);
        for (vyre_tag tag = 1; tag < VYRE_TAG_COUNT; tag++) {
            if (one->tags & VYRE_TAG_BIT(tag)) {
                vyre_json_string(json, vyre_tag_name(tag));
            }
        }
        vyre_json_array_end(json);
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
    put_number(json, "programs", cli_conform_count(c) - c->cases.count);
    vyre_json_object_end(json);
}
