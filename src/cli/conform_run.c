/* All cases on a device, by several threads: each takes the next group, operation or seed. What
 * comes out does not depend on who takes what. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/reference/backend.h"
#include "base/clock.h"
#include "base/hash.h"
#include "cli/conform.h"
#include "cli/device.h"

enum { MOST_THREADS = 16, MOST_GROUP = 64 };

typedef struct campaign {
    cli_conform *c;
    vyre_device *oracle;      /* of fixed cases, which end */
    vyre_device *small_steps; /* of programs that may not */
    uint64_t random_count;    /* seeds to go through */

    pthread_mutex_t lock; /* of all below, and of the results of cases */
    size_t next_case;
    uint64_t next_seed, done;
    vyre_status status; /* what ends it all */
    cli_progress progress;

    uint64_t failed_at; /* the first seed, from 0 on, that fails; UINT64_MAX */
    uint64_t failed_run;
    vyre_trial failed_trial;
    vyre_comparison failed;
} campaign;

/* Schedules */

static vyre_status open_schedule(uint64_t run, vyre_device **out_device) {
    const vyre_reference_options schedule = {.seed = run + 1};
    return vyre_reference_open(&schedule, out_device);
}

static uint64_t random_schedule(uint64_t seed, uint64_t run) {
    return seed * 1000003 + run;
}

/* Only the oracle's own backend has schedules to choose from; it is held against its plain one. */
static bool has_schedules(const cli_conform *c) {
    return cli_device_is_reference(c->device);
}

/* Fixed cases and the library's */

static bool is_normal_range(const vyre_device *device) {
    vyre_profile profile;
    vyre_device_profile(device, &profile);
    return profile.grade != VYRE_GRADE_EXACT;
}

/* Why a case is not run on this device; NULL: it is. */
static const char *skip_reason(const cli_conform *c, const cli_conform_case *one) {
    return one->tags & VYRE_TAG_BIT(VYRE_TAG_FLOAT) && is_normal_range(c->device)
               ? "its numbers may be subnormal, and the device's grade is normal-range"
               : NULL;
}

static char *copy_text(const char *text) {
    vyre_text copy = {0};
    vyre_text_puts(&copy, text);
    if (copy.failed) {
        vyre_text_free(&copy);
    }
    return copy.data;
}

/* Behind the cases that are run together with the one at `first`: by one program, or the same ones,
 * which are compiled once that way. */
static size_t group_end(const cli_conform *c, size_t first) {
    const cli_conform_case *one = &c->cases.items[first], *next;
    size_t end = first + 1;
    for (; end < c->cases.count && end - first < MOST_GROUP; end++) {
        next = &c->cases.items[end];
        bool is_same = one->fixed ? next->fixed && next->fixed->group == one->fixed->group
                                  : next->operation == one->operation;
        if (next->suite != one->suite || !is_same) {
            break;
        }
    }
    return end;
}

static cli_fate fate_of(vyre_verdict verdict) {
    return verdict == VYRE_VERDICT_SAME          ? CLI_FATE_PASSED
           : verdict == VYRE_VERDICT_UNSUPPORTED ? CLI_FATE_UNSUPPORTED
                                                 : CLI_FATE_FAILED;
}

static vyre_status run_group(const campaign *k, size_t first, size_t end) {
    cli_conform *c = k->c;
    const vyre_suite_runner runner = {
        .oracle = k->oracle,
        .device = c->device,
        .runs = c->runs,
        .reopen = has_schedules(c) ? open_schedule : NULL,
    };
    const vyre_case *cases[MOST_GROUP];
    vyre_case_result results[MOST_GROUP];
    for (size_t i = first; i < end; i++) {
        cases[i - first] = c->cases.items[i].fixed;
    }
    vyre_status status = vyre_suite_run(&runner, &c->fixed[c->cases.items[first].suite], cases,
                                        end - first, results);
    for (size_t i = first; i < end && !status; i++) {
        cli_conform_case *one = &c->cases.items[i];
        one->fate = fate_of(results[i - first].verdict);
        one->digest = results[i - first].digest;
        one->text = results[i - first].text;
    }
    return status;
}

static vyre_status run_cases(const campaign *k, size_t first, size_t end) {
    cli_conform_case *one = &k->c->cases.items[first];
    const char *reason = skip_reason(k->c, one);
    if (!reason) {
        vyre_status status = one->fixed ? run_group(k, first, end) : VYRE_OK;
        for (; !one->fixed && one < &k->c->cases.items[end] && !status; one++) {
            status = cli_conform_library_run(k->c, k->oracle, one);
        }
        return status;
    }
    for (size_t i = first; i < end; i++) {
        k->c->cases.items[i].fate = CLI_FATE_SKIPPED;
        k->c->cases.items[i].text = copy_text(reason);
        if (!k->c->cases.items[i].text) {
            return cli_conform_no_memory();
        }
    }
    return VYRE_OK;
}

/* Random programs */

/* What became of one. */
typedef struct attempt {
    vyre_trial trial;
    vyre_comparison comparison;
    uint64_t run;
    uint64_t digest;
    uint32_t instructions;
} attempt;

static vyre_status run_random(const campaign *k, uint64_t seed, attempt *a) {
    const cli_conform *c = k->c;
    vyre_conform conform = {.oracle = k->small_steps, .subject = c->device};
    vyre_outputs expected = {0};
    *a = (attempt){0};
    vyre_status status = vyre_generate(seed, &a->trial);
    if (!status) {
        a->instructions = vyre_program_ir(a->trial.program)->inst_count;
        status = vyre_conform_expect(&conform, &a->trial, a->trial.program, &expected);
    }
    if (status && vyre_status_code_of(status) != VYRE_STATUS_OUT_OF_MEMORY) {
        a->comparison.verdict = VYRE_VERDICT_FAILED;
        snprintf(a->comparison.text, sizeof a->comparison.text, "the oracle: %s",
                 vyre_status_text(status));
        vyre_status_free(status);
        status = VYRE_OK;
        a->run = 1;
    }
    for (; a->run < c->runs && !status && !a->comparison.verdict; a->run++) {
        const vyre_reference_options schedule = {.seed = random_schedule(seed, a->run)};
        if (has_schedules(c)) {
            status = vyre_reference_open(&schedule, &conform.subject);
        }
        if (!status) {
            status = vyre_conform_compare(&conform, &a->trial, a->trial.program, &expected,
                                          &a->comparison);
        }
        if (conform.subject != c->device) {
            vyre_device_release(conform.subject);
            conform.subject = c->device;
        }
    }
    for (size_t i = 0; i < expected.count; i++) {
        a->digest = vyre_hash_next(a->digest, expected.items[i].data, expected.items[i].size);
    }
    a->digest += !a->digest; /* 0 is none */
    vyre_outputs_free(&expected);
    return status ? vyre_status_annotate(status, "with the program of seed %llu",
                                         (unsigned long long)seed)
                  : VYRE_OK;
}

/* Takes down what became of one, under the lock. */
static vyre_status note_random(campaign *k, uint64_t number, attempt *a) {
    cli_conform *c = k->c;
    switch (fate_of(a->comparison.verdict)) {
    case CLI_FATE_PASSED: c->digests[number] = a->digest; break;
    case CLI_FATE_FAILED:
        if (number < k->failed_at) {
            vyre_trial_free(&k->failed_trial);
            k->failed_at = number;
            k->failed_run = a->run;
            k->failed_trial = a->trial;
            k->failed = a->comparison;
            a->trial = (vyre_trial){0};
        }
        break;
    default:
        if (!c->refusal || c->seed + number < c->refused_seed) {
            vyre_free(c->refusal);
            c->refused_seed = c->seed + number;
            c->refusal = copy_text(a->comparison.text);
            if (!c->refusal) {
                return cli_conform_no_memory();
            }
        }
        break;
    }
    c->instructions += a->instructions;
    return VYRE_OK;
}

/* Threads */

/* The first trouble is told. */
static void keep_status(campaign *k, vyre_status status) {
    if (k->status) {
        vyre_status_free(status);
    } else {
        k->status = status;
    }
}

static void step(campaign *k, uint64_t count, const char *now) {
    k->done += count;
    cli_progress_step(&k->progress, k->done, now);
}

/* Runs the next group; false if there is none left. The lock is held. */
static bool take_cases(campaign *k) {
    cli_conform *c = k->c;
    size_t first = k->next_case;
    if (first >= c->cases.count || k->status) {
        return false;
    }
    size_t end = k->next_case = group_end(c, first);
    vyre_suite_kind suite = c->cases.items[first].suite;
    pthread_mutex_unlock(&k->lock);
    uint64_t start = vyre_now_ns();
    vyre_status status = run_cases(k, first, end);
    double seconds = (double)(vyre_now_ns() - start) * 1e-9;
    pthread_mutex_lock(&k->lock);
    c->tallies[suite].seconds += seconds;
    keep_status(k, status);
    step(k, end - first, c->cases.items[first].id);
    return true;
}

/* The same for the next seed: none behind one that failed. */
static bool take_random(campaign *k) {
    cli_conform *c = k->c;
    while (k->next_seed < k->random_count && !cli_conform_has_seed(c, c->seed + k->next_seed)) {
        k->next_seed++;
    }
    uint64_t number = k->next_seed;
    if (number >= k->random_count || number >= k->failed_at || k->status) {
        return false;
    }
    k->next_seed++;
    pthread_mutex_unlock(&k->lock);
    attempt a;
    uint64_t start = vyre_now_ns();
    vyre_status status = run_random(k, c->seed + number, &a);
    double seconds = (double)(vyre_now_ns() - start) * 1e-9;
    pthread_mutex_lock(&k->lock);
    c->tallies[VYRE_SUITE_RANDOM].seconds += seconds;
    status = status ? status : note_random(k, number, &a);
    keep_status(k, status);
    if (a.comparison.verdict == VYRE_VERDICT_UNSUPPORTED) {
        c->digests[number] = UINT64_MAX; /* counted below, if it counts */
    }
    vyre_trial_free(&a.trial);
    step(k, 1, "random programs");
    return true;
}

static void *work(void *user) {
    campaign *k = user;
    pthread_mutex_lock(&k->lock);
    while (take_cases(k) || take_random(k)) {
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

static void run_threads(campaign *k) {
    pthread_t threads[MOST_THREADS];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (size_t)cores;
    size_t started = 0;
    /* Who cannot have another thread does with those there are; this one works, too. */
    while (started + 1 < wanted && !pthread_create(&threads[started], NULL, work, k)) {
        started++;
    }
    (void)work(k);
    for (size_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* Counting */

static void count_case(cli_conform_tally *tally, const char *id, cli_fate fate, uint64_t digest) {
    tally->counts[fate]++;
    tally->digest = vyre_hash_next(tally->digest, id, strlen(id));
    uint8_t bytes[9] = {(uint8_t)fate};
    for (size_t i = 0; i < 8 && fate == CLI_FATE_PASSED; i++) {
        bytes[i + 1] = (uint8_t)(digest >> i * 8);
    }
    tally->digest = vyre_hash_next(tally->digest, bytes, sizeof bytes);
}

static void count_all(campaign *k) {
    cli_conform *c = k->c;
    for (size_t i = 0; i < c->cases.count; i++) {
        const cli_conform_case *one = &c->cases.items[i];
        count_case(&c->tallies[one->suite], one->id, one->fate, one->digest);
    }
    for (uint64_t i = 0; i < k->random_count && i <= k->failed_at; i++) {
        char id[40];
        if (!cli_conform_has_seed(c, c->seed + i)) {
            continue;
        }
        snprintf(id, sizeof id, "random.%llu", (unsigned long long)(c->seed + i));
        cli_fate fate = i == k->failed_at             ? CLI_FATE_FAILED
                        : c->digests[i] == UINT64_MAX ? CLI_FATE_UNSUPPORTED
                                                      : CLI_FATE_PASSED;
        count_case(&c->tallies[VYRE_SUITE_RANDOM], id, fate, c->digests[i]);
    }
}

uint64_t cli_conform_total(const cli_conform *c, cli_fate fate) {
    uint64_t total = 0;
    for (size_t i = 0; i < VYRE_SUITE_COUNT; i++) {
        total += c->tallies[i].counts[fate];
    }
    return total;
}

cli_exit cli_conform_verdict(const cli_conform *c) {
    return cli_conform_total(c, CLI_FATE_FAILED)   ? CLI_EXIT_NO
           : cli_conform_total(c, CLI_FATE_PASSED) ? CLI_EXIT_DONE
                                                   : CLI_EXIT_BACKEND;
}

/* The whole */

static void write_started(char out[32]) {
    time_t now = time(NULL);
    struct tm parts;
    if (!gmtime_r(&now, &parts) || !strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts)) {
        snprintf(out, 32, "1970-01-01T00:00:00Z");
    }
}

static vyre_status explain_first(campaign *k) {
    cli_conform *c = k->c;
    const cli_conform_shrinking how = {c, k->small_steps, open_schedule};
    vyre_status status = VYRE_OK;
    for (size_t i = 0; i < c->cases.count && !c->failure.is_known && !status; i++) {
        if (c->cases.items[i].fate == CLI_FATE_FAILED) {
            status = cli_conform_explain(&how, &c->cases.items[i]);
        }
    }
    if (status || c->failure.is_known || k->failed_at == UINT64_MAX) {
        return status;
    }
    uint64_t seed = c->seed + k->failed_at;
    vyre_device *subject = NULL;
    if (has_schedules(c)) {
        const vyre_reference_options schedule = {.seed = random_schedule(seed, k->failed_run - 1)};
        status = vyre_reference_open(&schedule, &subject);
    }
    if (!status) {
        c->failure = (cli_conform_failure){.seed = seed,
                                           .run = k->failed_run,
                                           .is_random = true,
                                           .original = k->failed,
                                           .trial = k->failed_trial};
        k->failed_trial = (vyre_trial){0};
        status = cli_conform_cut_down(&how, subject ? subject : c->device);
    }
    vyre_device_release(subject);
    return status;
}

vyre_status cli_conform_run(cli_conform *c, vyre_device *device) {
    bool has_random = cli_conform_has_suite(c, VYRE_SUITE_RANDOM);
    campaign k = {.c = c,
                  .random_count = has_random ? c->programs : 0,
                  .failed_at = UINT64_MAX,
                  .progress = {.is_off = c->no_progress}};
    cli_conform_forget(c);
    c->device = device;
    write_started(c->started);
    uint64_t start = vyre_now_ns();
    c->digests = vyre_alloc_zeroed((size_t)k.random_count + 1, sizeof *c->digests);
    vyre_status status = c->digests ? VYRE_OK : cli_conform_no_memory();
    const vyre_reference_options plain = {0};
    if (c->against) {
        k.oracle = k.small_steps = c->against;
    } else {
        status = status ? status : vyre_reference_open(&plain, &k.oracle);
        status = status ? status : vyre_reference_open_oracle(&k.small_steps);
    }
    if (!status) {
        pthread_mutex_init(&k.lock, NULL);
        cli_progress_begin(&k.progress, vyre_device_name(device), cli_conform_count(c));
        run_threads(&k);
        cli_progress_end(&k.progress);
        pthread_mutex_destroy(&k.lock);
        status = k.status;
    }
    c->seconds = (double)(vyre_now_ns() - start) * 1e-9;
    if (!status) {
        count_all(&k);
        status = explain_first(&k);
    }
    vyre_trial_free(&k.failed_trial);
    if (!c->against) {
        vyre_device_release(k.oracle);
        vyre_device_release(k.small_steps);
    }
    return status;
}
