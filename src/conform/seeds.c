/* Programs drawn from seeds. */
#include <stdio.h>
#include <string.h>

#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/status.h"
#include "conform/session.h"

bool conform_has_schedules(const vyre_device *device) {
    return !strcmp(vyre_device_id(device), "reference");
}

vyre_status conform_seeds_begin(const conform_session *c, conform_suite_kind suite,
                                conform_seeds *out) {
    *out = (conform_seeds){.suite = suite, .failed_at = UINT64_MAX};
    out->count = conform_session_count_seeds(c, suite) ? c->programs : 0;
    out->digests = vyre_alloc_zeroed((size_t)out->count + 1, sizeof *out->digests);
    return out->digests ? VYRE_OK : vyre_no_memory("for the cases");
}

void conform_seeds_end(conform_seeds *seeds) {
    conform_trial_free(&seeds->first.trial);
    vyre_free(seeds->digests);
}

vyre_status conform_seeds_generate(conform_suite_kind suite, uint64_t seed,
                                   conform_trial *out_trial) {
    vyre_status status = suite == CONFORM_SUITE_SMALL ? conform_generate_small(seed, out_trial)
                                                      : conform_generate(seed, out_trial);
    out_trial->is_untimed = seed % 2;
    return status;
}

vyre_status conform_seeds_reopen(const conform_session *c, uint64_t seed, uint64_t run,
                                 vyre_device **out_device) {
    const vyre_reference_options schedule = {.seed = seed * 1000003 + run};
    *out_device = NULL;
    return conform_has_schedules(c->device) ? vyre_reference_open(&schedule, out_device) : VYRE_OK;
}

/* What the oracle says; where it fails, that is what became of the program. */
static vyre_status expect(const conform_pair *conform, conform_attempt *a,
                          vyre_outputs *out_expected) {
    vyre_status status = conform_expect(conform, &a->trial, a->trial.program, out_expected);
    if (!status || vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY) {
        return status;
    }
    a->comparison.verdict = CONFORM_VERDICT_FAILED;
    snprintf(a->comparison.text, sizeof a->comparison.text, "the oracle: %s",
             vyre_status_text(status));
    vyre_status_free(status);
    a->run = 1;
    return VYRE_OK;
}

vyre_status conform_seeds_run(const conform_session *c, vyre_device *oracle,
                              conform_suite_kind suite, uint64_t seed, conform_attempt *out) {
    conform_pair conform = {.oracle = oracle};
    vyre_outputs expected = {0};
    *out = (conform_attempt){0};
    vyre_status status = conform_seeds_generate(suite, seed, &out->trial);
    if (!status) {
        out->instructions = vyre_program_ir(out->trial.program)->inst_count;
        status = expect(&conform, out, &expected);
    }
    for (; out->run < c->runs && !status && !out->comparison.verdict; out->run++) {
        vyre_device *opened;
        status = conform_seeds_reopen(c, seed, out->run, &opened);
        conform.subject = opened ? opened : c->device;
        if (!status) {
            status = conform_compare(&conform, &out->trial, out->trial.program, &expected,
                                     &out->comparison);
        }
        vyre_device_release(opened);
    }
    out->digest = conform_digest(0, &expected);
    out->digest += !out->digest; /* 0 is none */
    vyre_outputs_free(&expected);
    if (status) {
        conform_trial_free(&out->trial);
        return vyre_status_annotate(status, "with the program of %s.%llu",
                                    conform_suite_name(suite), (unsigned long long)seed);
    }
    return VYRE_OK;
}

conform_fate conform_fate_of(conform_verdict verdict) {
    return verdict == CONFORM_VERDICT_SAME          ? CONFORM_FATE_PASSED
           : verdict == CONFORM_VERDICT_UNSUPPORTED ? CONFORM_FATE_UNSUPPORTED
                                                    : CONFORM_FATE_FAILED;
}

static bool replace_text(char **text, const char *by) {
    vyre_free(*text);
    *text = vyre_copy_string(by);
    return *text;
}

vyre_status conform_seeds_note(conform_session *c, conform_seeds *seeds, uint64_t number,
                               conform_attempt *attempt) {
    conform_seeded *seeded = &c->seeded[seeds->suite - CONFORM_SUITE_SEEDED];
    uint64_t seed = c->seed + number;
    bool stored = true;
    c->instructions += attempt->instructions;
    switch (conform_fate_of(attempt->comparison.verdict)) {
    case CONFORM_FATE_PASSED: seeds->digests[number] = attempt->digest; break;
    case CONFORM_FATE_FAILED:
        if (number < seeds->failed_at) {
            seeds->failed_at = number;
            seeded->failed_seed = seed;
            seeded->failed_run = attempt->run;
            stored = replace_text(&seeded->failure, attempt->comparison.text);
            conform_trial_free(&seeds->first.trial);
            seeds->first = *attempt;
            attempt->trial = (conform_trial){0};
        }
        break;
    default:
        seeds->digests[number] = CONFORM_SEED_UNSUPPORTED;
        if (!seeded->refusal || seed < seeded->refused_seed) {
            seeded->refused_seed = seed;
            stored = replace_text(&seeded->refusal, attempt->comparison.text);
        }
        break;
    }
    return stored ? VYRE_OK : vyre_no_memory("for the cases");
}

void conform_tally_add(conform_tally *tally, const char *id, conform_fate fate, uint64_t digest) {
    tally->counts[fate]++;
    tally->digest = vyre_hash_next(tally->digest, id, strlen(id));
    uint8_t bytes[9] = {(uint8_t)fate};
    for (size_t i = 0; i < 8 && fate == CONFORM_FATE_PASSED; i++) {
        bytes[i + 1] = (uint8_t)(digest >> i * 8);
    }
    tally->digest = vyre_hash_next(tally->digest, bytes, sizeof bytes);
}

void conform_seeds_count(conform_session *c, const conform_seeds *seeds) {
    conform_seeded *seeded = &c->seeded[seeds->suite - CONFORM_SUITE_SEEDED];
    for (uint64_t i = 0; i < seeds->count && i <= seeds->failed_at; i++) {
        uint64_t seed = c->seed + i;
        if (!conform_session_has_seed(c, seeds->suite, seed)) {
            continue;
        }
        char id[40];
        snprintf(id, sizeof id, "%s.%llu", conform_suite_name(seeds->suite),
                 (unsigned long long)seed);
        uint64_t digest = seeds->digests[i];
        conform_fate fate = i == seeds->failed_at                ? CONFORM_FATE_FAILED
                            : !digest                            ? CONFORM_FATE_SKIPPED
                            : digest == CONFORM_SEED_UNSUPPORTED ? CONFORM_FATE_UNSUPPORTED
                                                                 : CONFORM_FATE_PASSED;
        if (fate == CONFORM_FATE_SKIPPED && !c->tallies[seeds->suite].counts[fate]) {
            seeded->late_seed = seed;
        }
        conform_tally_add(&c->tallies[seeds->suite], id, fate, digest);
    }
}

const char *conform_seeds_reason(const conform_session *c, conform_suite_kind suite,
                                 conform_fate fate, uint64_t *out_seed) {
    const conform_seeded *seeded = &c->seeded[suite - CONFORM_SUITE_SEEDED];
    *out_seed = fate == CONFORM_FATE_FAILED        ? seeded->failed_seed
                : fate == CONFORM_FATE_UNSUPPORTED ? seeded->refused_seed
                                                   : seeded->late_seed;
    return fate == CONFORM_FATE_FAILED        ? seeded->failure
           : fate == CONFORM_FATE_UNSUPPORTED ? seeded->refusal
                                              : CONFORM_LATE;
}
