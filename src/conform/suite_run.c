#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "conform/suite.h"
#include "ir/program.h"

typedef struct running {
    const conform_suite_runner *runner;
    const conform_suite *suite;
    const conform_suite_case *const *cases;
    size_t count;
    conform_suite_result *results;
    conform_suite_trial trial;
    vyre_outputs expected;
    vyre_pipeline *pipeline; /* where several parts run by it */
    bool no_memory;
} running;

static void fail(running *r, size_t which, conform_verdict verdict, const char *text) {
    conform_suite_result *result = &r->results[which];
    if (result->verdict) {
        return;
    }
    result->verdict = verdict;
    result->text = vyre_copy_string(text);
    r->no_memory |= !result->text;
}

/* Of the bytes that each case is to give. */
static void take_digests(running *r) {
    for (size_t i = 0; i < r->expected.count; i++) {
        conform_suite_result *result = &r->results[r->trial.owners[i]];
        result->digest =
            vyre_hash_next(result->digest, r->expected.items[i].data, r->expected.items[i].size);
    }
}

static void check_records(running *r) {
    bool is_other = r->suite->kind == CONFORM_SUITE_FLOATS && r->suite->vectors != CONFORM_VECTORS;
    bool ignores = r->runner->ignores_records || is_other;
    for (size_t i = 0; i < r->count && !ignores; i++) {
        uint64_t recorded = 0;
        bool known = conform_suite_recorded(r->cases[i]->id, &recorded);
        if (known && recorded == r->results[i].digest) {
            continue;
        }
        char text[192];
        if (known) {
            snprintf(text, sizeof text,
                     "the digest of the reference backend's bytes is %016llx, and %016llx is "
                     "recorded",
                     (unsigned long long)r->results[i].digest, (unsigned long long)recorded);
        } else {
            snprintf(text, sizeof text, "no digest of its bytes is recorded");
        }
        fail(r, i, CONFORM_VERDICT_DIFFERENT, text);
    }
}

static const char *output_name(const vyre_program *program, size_t output) {
    const vyre_ir *ir = vyre_program_ir(program);
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        if (vyre_ir_is_output(ir, arg) && !output--) {
            return ir->strings + ir->args[arg].name;
        }
    }
    return "?";
}

/* Only some of the outputs are wrong: so are the cases that they belong to. */
static void share_out(running *r, const conform_comparison *comparison) {
    bool is_first = true;
    for (size_t i = 0; i < r->expected.count; i++) {
        if (!(comparison->differing[i / 64] >> i % 64 & 1)) {
            continue;
        }
        char text[128];
        snprintf(text, sizeof text, "output `%s` differs", output_name(r->trial.trial.program, i));
        fail(r, r->trial.owners[i], CONFORM_VERDICT_DIFFERENT, is_first ? comparison->text : text);
        is_first = false;
    }
}

static bool shows_schedules(const running *r) {
    uint64_t tags = CONFORM_TAG_BIT(CONFORM_TAG_ATOMIC) | CONFORM_TAG_BIT(CONFORM_TAG_WORKGROUP) |
                    CONFORM_TAG_BIT(CONFORM_TAG_SUBGROUP) | CONFORM_TAG_BIT(CONFORM_TAG_PHASES);
    return r->cases[0]->tags & tags;
}

/* Runs the trial as often as asked for; sets `out_split` if only parts of it can tell more. */
static vyre_status compare(running *r, bool *out_split) {
    conform_pair conform = {.oracle = r->runner->oracle};
    vyre_status status = VYRE_OK;
    bool keeps = conform_suite_parts(r->suite) > 1 && !r->runner->reopen;
    conform.kept = keeps ? &r->pipeline : NULL;
    uint64_t runs = shows_schedules(r) ? r->runner->runs : 1;
    for (uint64_t run = 0; run < runs && !status; run++) {
        vyre_device *opened = NULL;
        conform_comparison comparison;
        if (r->runner->reopen) {
            status = r->runner->reopen(run, &opened);
        }
        conform.subject = opened ? opened : r->runner->device;
        if (!status && r->runner->is_alone && vyre_device_lost(conform.subject)) {
            status = vyre_device_recover(conform.subject);
        }
        if (!status) {
            status = conform_compare(&conform, &r->trial.trial, r->trial.trial.program,
                                     &r->expected, &comparison);
        }
        vyre_device_release(opened);
        if (status || !comparison.verdict) {
            continue;
        }
        if (comparison.verdict == CONFORM_VERDICT_DIFFERENT) {
            share_out(r, &comparison);
        } else if (r->count > 1) {
            *out_split = true;
        } else {
            fail(r, 0, comparison.verdict, comparison.text);
        }
        return VYRE_OK;
    }
    return status;
}

/* Each half by itself: what one case cannot do must not keep others from being compared. */
static vyre_status run_halves(running *r) {
    size_t half = r->count / 2;
    for (size_t i = 0; i < r->count; i++) {
        vyre_free(r->results[i].text);
        r->results[i] = (conform_suite_result){0};
    }
    VYRE_TRY(conform_suite_run(r->runner, r->suite, r->cases, half, r->results));
    return conform_suite_run(r->runner, r->suite, r->cases + half, r->count - half,
                             r->results + half);
}

static bool any_failed(const running *r) {
    bool any = false;
    for (size_t i = 0; i < r->count; i++) {
        any |= r->results[i].verdict != CONFORM_VERDICT_SAME;
    }
    return any;
}

/* The operands that the trial has. */
static vyre_status run_part(running *r, bool is_last, bool *out_split) {
    const conform_pair conform = {.oracle = r->runner->oracle};
    vyre_outputs_free(&r->expected);
    vyre_status status =
        conform_expect(&conform, &r->trial.trial, r->trial.trial.program, &r->expected);
    if (!status) {
        take_digests(r);
        if (is_last) {
            check_records(r);
        }
        return compare(r, out_split);
    }
    if (vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY) {
        return status;
    }
    *out_split = r->count > 1;
    fail(r, 0, CONFORM_VERDICT_FAILED, vyre_status_text(status));
    vyre_status_free(status);
    return VYRE_OK;
}

vyre_status conform_suite_run(const conform_suite_runner *runner, const conform_suite *suite,
                              const conform_suite_case *const *cases, size_t count,
                              conform_suite_result *results) {
    running r = {
        .runner = runner, .suite = suite, .cases = cases, .count = count, .results = results};
    bool split = false;
    memset(results, 0, count * sizeof *results);
    VYRE_TRY(conform_suite_build(suite, cases, count, &r.trial));
    vyre_status status = VYRE_OK;
    uint64_t parts = conform_suite_parts(suite);
    for (uint64_t part = 0; part < parts && !status && !split && !any_failed(&r); part++) {
        status = part ? conform_suite_take_part(suite, cases[0], part, &r.trial.trial) : VYRE_OK;
        status = status ? status : run_part(&r, part + 1 == parts, &split);
    }
    vyre_pipeline_release(r.pipeline);
    vyre_outputs_free(&r.expected);
    conform_trial_free(&r.trial.trial);
    if (status) {
        return vyre_status_annotate(status, "in the case %s", cases[0]->id);
    }
    if (r.no_memory) {
        return vyre_no_memory("for the results of `%s`", cases[0]->id);
    }
    return split ? run_halves(&r) : VYRE_OK;
}
