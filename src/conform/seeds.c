/* Programs drawn from seeds. */
#include <stdio.h>
#include <string.h>

#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "cli/device.h"
#include "conform/conform.h"

vyre_status cli_conform_seeds_begin(const cli_conform *c, vyre_suite_kind suite,
                                    cli_conform_seeds *out) {
    *out = (cli_conform_seeds){.suite = suite, .failed_at = UINT64_MAX};
    out->count = cli_conform_count_seeds(c, suite) ? c->programs : 0;
    out->digests = vyre_alloc_zeroed((size_t)out->count + 1, sizeof *out->digests);
    return out->digests ? VYRE_OK : cli_conform_no_memory();
}

void cli_conform_seeds_end(cli_conform_seeds *seeds) {
    vyre_trial_free(&seeds->first.trial);
    vyre_free(seeds->digests);
}

bool cli_conform_seeds_take(const cli_conform *c, cli_conform_seeds *seeds, uint64_t *out_number) {
    while (seeds->next < seeds->count &&
           !cli_conform_has_seed(c, seeds->suite, c->seed + seeds->next)) {
        seeds->next++;
    }
    if (seeds->next >= seeds->count || seeds->next >= seeds->failed_at) {
        return false;
    }
    *out_number = seeds->next++;
    return true;
}

vyre_status cli_conform_seeds_reopen(const cli_conform *c, uint64_t seed, uint64_t run,
                                     vyre_device **out_device) {
    const vyre_reference_options schedule = {.seed = seed * 1000003 + run};
    *out_device = NULL;
    return cli_device_is_reference(c->device) ? vyre_reference_open(&schedule, out_device)
                                              : VYRE_OK;
}

/* What the oracle says; where it fails, that is what became of the program. */
static vyre_status expect(const vyre_conform *conform, cli_conform_attempt *a,
                          vyre_outputs *out_expected) {
    vyre_status status = vyre_conform_expect(conform, &a->trial, a->trial.program, out_expected);
    if (!status || vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY) {
        return status;
    }
    a->comparison.verdict = VYRE_VERDICT_FAILED;
    snprintf(a->comparison.text, sizeof a->comparison.text, "the oracle: %s",
             vyre_status_text(status));
    vyre_status_free(status);
    a->run = 1;
    return VYRE_OK;
}

vyre_status cli_conform_seeds_run(const cli_conform *c, vyre_device *oracle, vyre_suite_kind suite,
                                  uint64_t seed, cli_conform_attempt *out) {
    vyre_conform conform = {.oracle = oracle};
    vyre_outputs expected = {0};
    *out = (cli_conform_attempt){0};
    vyre_status status = suite == VYRE_SUITE_SMALL ? vyre_generate_small(seed, &out->trial)
                                                   : vyre_generate(seed, &out->trial);
    if (!status) {
        out->instructions = vyre_program_ir(out->trial.program)->inst_count;
        status = expect(&conform, out, &expected);
    }
    for (; out->run < c->runs && !status && !out->comparison.verdict; out->run++) {
        vyre_device *opened;
        status = cli_conform_seeds_reopen(c, seed, out->run, &opened);
        conform.subject = opened ? opened : c->device;
        if (!status) {
            status = vyre_conform_compare(&conform, &out->trial, out->trial.program, &expected,
                                          &out->comparison);
        }
        vyre_device_release(opened);
    }
    for (size_t i = 0; i < expected.count; i++) {
        out->digest = vyre_hash_next(out->digest, expected.items[i].data, expected.items[i].size);
    }
    out->digest += !out->digest; /* 0 is none */
    vyre_outputs_free(&expected);
    if (status) {
        vyre_trial_free(&out->trial);
        return vyre_status_annotate(status, "with the program of %s.%llu", vyre_suite_name(suite),
                                    (unsigned long long)seed);
    }
    return VYRE_OK;
}

cli_fate cli_fate_of(vyre_verdict verdict) {
    return verdict == VYRE_VERDICT_SAME          ? CLI_FATE_PASSED
           : verdict == VYRE_VERDICT_UNSUPPORTED ? CLI_FATE_UNSUPPORTED
                                                 : CLI_FATE_FAILED;
}

static bool replace_text(char **text, const char *by) {
    vyre_free(*text);
    *text = cli_conform_copy(by);
    return *text;
}

vyre_status cli_conform_seeds_note(cli_conform *c, cli_conform_seeds *seeds, uint64_t number,
                                   cli_conform_attempt *attempt) {
    cli_conform_seeded *seeded = &c->seeded[seeds->suite - VYRE_SUITE_SEEDED];
    uint64_t seed = c->seed + number;
    bool stored = true;
    c->instructions += attempt->instructions;
    switch (cli_fate_of(attempt->comparison.verdict)) {
    case CLI_FATE_PASSED: seeds->digests[number] = attempt->digest; break;
    case CLI_FATE_FAILED:
        if (number < seeds->failed_at) {
            seeds->failed_at = number;
            seeded->failed_seed = seed;
            seeded->failed_run = attempt->run;
            stored = replace_text(&seeded->failure, attempt->comparison.text);
            vyre_trial_free(&seeds->first.trial);
            seeds->first = *attempt;
            attempt->trial = (vyre_trial){0};
        }
        break;
    default:
        seeds->digests[number] = UINT64_MAX;
        if (!seeded->refusal || seed < seeded->refused_seed) {
            seeded->refused_seed = seed;
            stored = replace_text(&seeded->refusal, attempt->comparison.text);
        }
        break;
    }
    return stored ? VYRE_OK : cli_conform_no_memory();
}

void cli_conform_tally_add(cli_conform_tally *tally, const char *id, cli_fate fate,
                           uint64_t digest) {
    tally->counts[fate]++;
    tally->digest = vyre_hash_next(tally->digest, id, strlen(id));
    uint8_t bytes[9] = {(uint8_t)fate};
    for (size_t i = 0; i < 8 && fate == CLI_FATE_PASSED; i++) {
        bytes[i + 1] = (uint8_t)(digest >> i * 8);
    }
    tally->digest = vyre_hash_next(tally->digest, bytes, sizeof bytes);
}

void cli_conform_seeds_count(cli_conform *c, const cli_conform_seeds *seeds) {
    for (uint64_t i = 0; i < seeds->count && i <= seeds->failed_at; i++) {
        uint64_t seed = c->seed + i;
        if (!cli_conform_has_seed(c, seeds->suite, seed)) {
            continue;
        }
        char id[40];
        snprintf(id, sizeof id, "%s.%llu", vyre_suite_name(seeds->suite), (unsigned long long)seed);
        cli_fate fate = i == seeds->failed_at             ? CLI_FATE_FAILED
                        : seeds->digests[i] == UINT64_MAX ? CLI_FATE_UNSUPPORTED
                                                          : CLI_FATE_PASSED;
        cli_conform_tally_add(&c->tallies[seeds->suite], id, fate, seeds->digests[i]);
    }
}
