/* All cases on a device, by several threads, of several processes where that is asked for: each
 * takes the next group, operation or seed. What comes out does not depend on who takes what.
 *
 * A program that costs the device takes others along that run beside it. Then all stop, the device
 * is recovered, and those whose runs failed run again, one by one: who loses it alone is guilty. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/reference/backend.h"
#include "base/clock.h"
#include "base/status.h"
#include "conform/session.h"

enum { MOST_THREADS = 16, MOST_GROUP = 64, MOST_NAMES = 16 };
#define NS_PER_SECOND UINT64_C(1000000000)

/* Of a case that nobody has begun, or told of. */
static const conform_fate NO_FATE = CONFORM_FATE_COUNT;

/* What a thread takes at a time: some cases, or the program of one seed. */
typedef struct task {
    uint64_t at;          /* its place in the queue */
    conform_seeds *seeds; /* NULL: cases */
    uint64_t number;      /* of the seed */
    size_t first, end;    /* of the cases */
    conform_attempt attempt;
    double seconds;
} task;

typedef struct campaign {
    conform_session *c;
    vyre_device *oracle;      /* of fixed cases, which end */
    vyre_device *small_steps; /* of programs that may not */

    VYRE_VEC(size_t) groups; /* the first case of each task, then how many cases there are */
    uint64_t task_count;
    conform_queue *queue, own; /* shared with other processes, if there are any */

    pthread_mutex_t lock; /* of all below, and of the results of cases */
    pthread_cond_t idle;  /* nobody runs anything, or the device is there again */
    conform_seeds seeds[CONFORM_SEEDED];
    uint64_t done;
    vyre_status status; /* what ends it all */

    size_t running; /* tasks */
    bool is_lost;
    task suspects[MOST_THREADS]; /* what failed when the device was lost */
    size_t suspect_count;
} campaign;

/* Schedules */

static vyre_status open_schedule(uint64_t run, vyre_device **out_device) {
    const vyre_reference_options schedule = {.seed = run + 1};
    return vyre_reference_open(&schedule, out_device);
}

/* Fixed cases and the library's */

static bool is_normal_range(const vyre_device *device) {
    vyre_profile profile;
    vyre_device_profile(device, &profile);
    return profile.grade != VYRE_GRADE_EXACT;
}

/* Why a case is not run on this device; NULL: it is. */
static const char *skip_reason(const conform_session *c, const conform_case *one) {
    return one->tags & CONFORM_TAG_BIT(CONFORM_TAG_FLOAT) && is_normal_range(c->device)
               ? "it may use subnormal numbers, and the device's grade is normal-range"
               : NULL;
}

/* Behind the cases that are run together with the one at `first`: by one program, or the same ones,
 * which are compiled once that way. */
static size_t group_end(const conform_session *c, size_t first) {
    const conform_case *one = &c->cases.items[first], *next;
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

static vyre_status run_group(const campaign *k, size_t first, size_t end, bool alone) {
    conform_session *c = k->c;
    const conform_suite_runner runner = {
        .oracle = k->oracle,
        .device = c->device,
        .runs = c->runs,
        .reopen = conform_has_schedules(c->device) ? open_schedule : NULL,
        .ignores_records = c->against,
        .is_alone = alone,
    };
    const conform_suite_case *cases[MOST_GROUP];
    conform_suite_result results[MOST_GROUP];
    for (size_t i = first; i < end; i++) {
        cases[i - first] = c->cases.items[i].fixed;
    }
    vyre_status status = conform_suite_run(&runner, &c->fixed[c->cases.items[first].suite], cases,
                                           end - first, results);
    for (size_t i = first; i < end && !status; i++) {
        conform_case *one = &c->cases.items[i];
        one->fate = conform_fate_of(results[i - first].verdict);
        one->digest = results[i - first].digest;
        one->text = results[i - first].text;
    }
    return status;
}

static vyre_status recover(const conform_session *c) {
    return vyre_device_lost(c->device) ? vyre_device_recover(c->device) : VYRE_OK;
}

static vyre_status run_cases(const campaign *k, size_t first, size_t end, bool alone) {
    conform_case *one = &k->c->cases.items[first];
    const char *reason = skip_reason(k->c, one);
    if (!reason && one->fixed) {
        return run_group(k, first, end, alone);
    }
    if (!reason) {
        for (size_t i = first; i < end; i++) {
            VYRE_TRY(alone ? recover(k->c) : VYRE_OK);
            VYRE_TRY(conform_library_run(k->c, k->oracle, &k->c->cases.items[i]));
        }
        return VYRE_OK;
    }
    for (size_t i = first; i < end; i++) {
        VYRE_TRY(conform_case_settle(&k->c->cases.items[i], CONFORM_FATE_SKIPPED, reason));
    }
    return VYRE_OK;
}

/* Tasks */

static vyre_status list_tasks(campaign *k) {
    const conform_session *c = k->c;
    bool stored = true;
    for (size_t first = 0; first < c->cases.count; first = group_end(c, first)) {
        stored &= vyre_vec_push(&k->groups, first);
    }
    stored &= vyre_vec_push(&k->groups, c->cases.count);
    k->task_count = k->groups.count - 1;
    for (size_t i = 0; i < CONFORM_SEEDED; i++) {
        k->task_count += k->seeds[i].count;
    }
    return stored ? VYRE_OK : vyre_no_memory("for the cases");
}

static task task_at(campaign *k, uint64_t at) {
    task t = {.at = at};
    size_t groups = k->groups.count - 1, i = 0;
    if (at < groups) {
        t.first = k->groups.items[at];
        t.end = k->groups.items[at + 1];
        return t;
    }
    at -= groups;
    for (; at >= k->seeds[i].count; i++) {
        at -= k->seeds[i].count;
    }
    t.seeds = &k->seeds[i];
    t.number = at;
    return t;
}

/* Whether a task is to run at all: of seeds those that are chosen, and none behind one that failed.
 */
static bool is_wanted(const campaign *k, const task *t) {
    return !t->seeds || (conform_session_has_seed(k->c, t->seeds->suite, k->c->seed + t->number) &&
                         t->number < atomic_load(&k->queue->failed_at[t->seeds - k->seeds]));
}

/* What has its turn before the time is over will be run, and nothing else. */
static bool take_task(campaign *k, task *out) {
    while (!k->c->deadline_ns || vyre_now_ns() < k->c->deadline_ns) {
        uint64_t at = atomic_fetch_add(&k->queue->next, 1);
        if (at >= k->task_count) {
            return false;
        }
        *out = task_at(k, at);
        if (is_wanted(k, out)) {
            return true;
        }
    }
    return false;
}

static conform_suite_kind suite_of(const campaign *k, const task *t) {
    return t->seeds ? t->seeds->suite : k->c->cases.items[t->first].suite;
}

static vyre_status run_task(const campaign *k, task *t, bool alone) {
    const conform_session *c = k->c;
    return t->seeds ? conform_seeds_run(c, k->small_steps, t->seeds->suite, c->seed + t->number,
                                        &t->attempt)
                    : run_cases(k, t->first, t->end, alone);
}

static bool has_failed(const campaign *k, const task *t) {
    bool failed = t->seeds && conform_fate_of(t->attempt.comparison.verdict) == CONFORM_FATE_FAILED;
    for (size_t i = t->first; i < t->end; i++) {
        failed |= k->c->cases.items[i].fate == CONFORM_FATE_FAILED;
    }
    return failed;
}

/* Forgets what came of it, so that it can run again. */
static void forget(campaign *k, task *t) {
    conform_trial_free(&t->attempt.trial);
    t->attempt = (conform_attempt){0};
    for (size_t i = t->first; i < t->end; i++) {
        conform_case_forget(&k->c->cases.items[i]);
    }
}

/* The first trouble is told. */
static void keep_status(campaign *k, vyre_status status) {
    if (k->status) {
        vyre_status_free(status);
    } else {
        k->status = status;
    }
}

static void note_failure(campaign *k, const task *t) {
    atomic_uint_fast64_t *failed_at = &k->queue->failed_at[t->seeds - k->seeds];
    uint_fast64_t least = atomic_load(failed_at);
    while (t->number < least && !atomic_compare_exchange_weak(failed_at, &least, t->number)) {
    }
}

static void tell_done(campaign *k, const task *t) {
    k->done += t->seeds ? 1 : t->end - t->first;
    if (k->c->step) {
        k->c->step(k->c->user, k->done,
                   t->seeds ? "random programs" : k->c->cases.items[t->first].id);
    }
}

/* From a worker to its parent. */
static void send_task(campaign *k, const task *t) {
    const conform_attempt *a = &t->attempt;
    conform_message message = {.task = t->at};
    if (t->seeds) {
        message.kind = CONFORM_MESSAGE_SEED;
        message.number = t->number;
        message.code = a->comparison.verdict;
        message.instructions = a->instructions;
        message.digest = a->digest;
        message.run = a->run;
        conform_jobs_send(&k->c->jobs, &message, a->comparison.text);
    }
    for (size_t i = t->first; i < t->end; i++) {
        const conform_case *one = &k->c->cases.items[i];
        message.kind = CONFORM_MESSAGE_CASE;
        message.number = i;
        message.code = one->fate;
        message.digest = one->digest;
        conform_jobs_send(&k->c->jobs, &message, one->text);
    }
    message.kind = CONFORM_MESSAGE_DONE;
    message.seconds = t->seconds;
    conform_jobs_send(&k->c->jobs, &message, NULL);
}

/* It is over. The lock is held. */
static void note_task(campaign *k, task *t, vyre_status status) {
    if (t->seeds && conform_fate_of(t->attempt.comparison.verdict) == CONFORM_FATE_FAILED) {
        note_failure(k, t);
    }
    if (!status && conform_jobs_is_worker(k->c)) {
        send_task(k, t);
    } else if (!status && t->seeds) {
        status = conform_seeds_note(k->c, t->seeds, t->number, &t->attempt);
    }
    conform_trial_free(&t->attempt.trial);
    keep_status(k, status);
    k->c->tallies[suite_of(k, t)].seconds += t->seconds;
    tell_done(k, t);
}

/* A lost device */

static void put_name(const campaign *k, const task *t, vyre_strbuf *text) {
    if (t->seeds) {
        uint64_t seed = k->c->seed + t->number;
        vyre_strbuf_printf(text, "%s.%llu", conform_suite_name(t->seeds->suite),
                           (unsigned long long)seed);
        return;
    }
    vyre_strbuf_puts(text, k->c->cases.items[t->first].id);
    if (t->end - t->first > 1) {
        vyre_strbuf_printf(text, " to %s", k->c->cases.items[t->end - 1].id);
    }
}

static void put_names(const campaign *k, vyre_strbuf *text) {
    for (size_t i = 0; i < k->suspect_count && i < MOST_NAMES; i++) {
        vyre_strbuf_puts(text, i ? ", " : "");
        put_name(k, &k->suspects[i], text);
    }
}

/* It cannot be had again: nobody can be asked any more. */
static vyre_status give_up(const campaign *k, vyre_status why) {
    vyre_strbuf names = {0};
    put_names(k, &names);
    vyre_status status = vyre_status_make(
        VYRE_STATUS_DEVICE_LOST, "run each case by itself: `vyre conform -b DEVICE ID`",
        "device %s was lost while %s ran, and cannot be recovered: %s",
        vyre_device_name(k->c->device), vyre_strbuf_string(&names), vyre_status_text(why));
    vyre_strbuf_free(&names);
    vyre_status_free(why);
    return status;
}

/* No one of them loses the device alone: it is a fault nevertheless, told of the first. */
static vyre_status blame_company(campaign *k) {
    task *t = &k->suspects[0];
    vyre_strbuf names = {0}, text = {0};
    put_names(k, &names);
    vyre_strbuf_printf(&text,
                       "the device was lost while these cases ran together, though none of them "
                       "alone causes it: %s",
                       vyre_strbuf_string(&names));
    vyre_status status = text.failed || names.failed ? vyre_no_memory("for the cases") : VYRE_OK;
    if (t->seeds) {
        t->attempt.comparison.verdict = CONFORM_VERDICT_FAILED;
        snprintf(t->attempt.comparison.text, sizeof t->attempt.comparison.text, "%s",
                 vyre_strbuf_string(&text));
    } else if (!status) {
        status = conform_case_settle(&k->c->cases.items[t->first], CONFORM_FATE_FAILED,
                                     vyre_strbuf_string(&text));
    }
    vyre_strbuf_free(&names);
    vyre_strbuf_free(&text);
    return status;
}

/* Nobody runs anything: runs the suspects one by one. The lock is held. */
static void find_guilty(campaign *k) {
    const conform_session *c = k->c;
    vyre_status statuses[MOST_THREADS] = {NULL};
    bool is_found = false;
    vyre_status trouble = VYRE_OK;
    for (size_t i = 0; i < k->suspect_count && !trouble; i++) {
        task *t = &k->suspects[i];
        trouble = recover(c);
        if (trouble) {
            break;
        }
        forget(k, t);
        statuses[i] = run_task(k, t, true);
        is_found |= vyre_device_lost(c->device) || has_failed(k, t);
    }
    trouble = trouble ? trouble : recover(c);
    if (trouble) {
        keep_status(k, give_up(k, trouble));
    } else if (!is_found && k->suspect_count && !statuses[0]) {
        statuses[0] = blame_company(k);
    }
    for (size_t i = 0; i < k->suspect_count; i++) {
        note_task(k, &k->suspects[i], statuses[i]);
    }
    k->suspect_count = 0;
    k->is_lost = false;
}

/* Threads */

static void run_next(campaign *k, task *t) {
    conform_session *c = k->c;
    k->running++;
    for (size_t i = t->first; i < t->end; i++) {
        conform_case_forget(&c->cases.items[i]);
    }
    if (conform_jobs_is_worker(c)) {
        conform_message message = {.kind = CONFORM_MESSAGE_TAKEN, .task = t->at};
        conform_jobs_send(&c->jobs, &message, NULL);
    }
    pthread_mutex_unlock(&k->lock);
    uint64_t start = vyre_now_ns();
    vyre_status status = run_task(k, t, false);
    t->seconds = (double)(vyre_now_ns() - start) * 1e-9;
    bool is_lost = vyre_device_lost(c->device);
    pthread_mutex_lock(&k->lock);
    k->running--;
    k->is_lost |= is_lost;
    if (is_lost && !status && has_failed(k, t)) {
        k->suspects[k->suspect_count++] = *t;
    } else {
        note_task(k, t, status);
    }
    if (!k->running) {
        pthread_cond_broadcast(&k->idle);
    }
}

static void *work(void *user) {
    campaign *k = user;
    task t;
    pthread_mutex_lock(&k->lock);
    while (true) {
        if (k->is_lost && k->running) {
            pthread_cond_wait(&k->idle, &k->lock);
        } else if (k->is_lost) {
            find_guilty(k);
            pthread_cond_broadcast(&k->idle);
        } else if (!k->status && take_task(k, &t)) {
            run_next(k, &t);
        } else {
            break;
        }
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

static void run_threads(campaign *k) {
    pthread_t threads[MOST_THREADS];
    long cores = sysconf(_SC_NPROCESSORS_ONLN) / (k->c->jobs.queue ? (long)k->c->jobs.count : 1);
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

/* Workers */

/* What a worker does at the time, if it is known. */
typedef struct engagement {
    uint64_t task;
    uint32_t worker; /* 0: none */
} engagement;

typedef struct collecting {
    campaign *k;
    VYRE_VEC(engagement) list;
} collecting;

static bool engage(collecting *all, const conform_message *message) {
    const engagement one = {message->task, message->worker};
    for (size_t i = 0; i < all->list.count; i++) {
        if (!all->list.items[i].worker) {
            all->list.items[i] = one;
            return true;
        }
    }
    return vyre_vec_push(&all->list, one);
}

static void disengage(collecting *all, const conform_message *message) {
    for (size_t i = 0; i < all->list.count; i++) {
        if (all->list.items[i].worker && all->list.items[i].task == message->task) {
            all->list.items[i].worker = 0;
        }
    }
}

/* Numbers come from a process that a driver may have damaged. */
static bool is_sane(const campaign *k, const conform_message *m) {
    switch (m->kind) {
    case CONFORM_MESSAGE_CASE:
        return m->number < k->c->cases.count && m->code < CONFORM_FATE_COUNT &&
               m->has_text == (m->code != CONFORM_FATE_PASSED);
    case CONFORM_MESSAGE_TROUBLE: return m->has_text && m->code;
    default: return m->task < k->task_count;
    }
}

static void take_message(collecting *all, conform_message *m) {
    campaign *k = all->k;
    vyre_status status = VYRE_OK;
    if (!is_sane(k, m)) {
        status = vyre_status_make(VYRE_STATUS_INTERNAL, "run it with --jobs 1",
                                  "a process of --jobs told what cannot be");
    } else if (m->kind == CONFORM_MESSAGE_TAKEN) {
        status = engage(all, m) ? VYRE_OK : vyre_no_memory("for the cases");
    } else if (m->kind == CONFORM_MESSAGE_CASE) {
        conform_case *one = &k->c->cases.items[m->number];
        one->fate = (conform_fate)m->code;
        one->digest = m->digest;
        status = m->has_text ? conform_case_settle(one, one->fate, m->text) : VYRE_OK;
    } else if (m->kind == CONFORM_MESSAGE_SEED) {
        task t = task_at(k, m->task);
        conform_attempt a = {.run = m->run, .digest = m->digest, .instructions = m->instructions};
        a.comparison.verdict = (conform_verdict)m->code;
        m->text[sizeof a.comparison.text - 1] = '\0'; /* so long it was at most */
        strcpy(a.comparison.text, m->text);
        status = t.seeds ? conform_seeds_note(k->c, t.seeds, t.number, &a) : VYRE_OK;
    } else if (m->kind == CONFORM_MESSAGE_DONE) {
        task t = task_at(k, m->task);
        disengage(all, m);
        k->c->tallies[suite_of(k, &t)].seconds += m->seconds;
        tell_done(k, &t);
    } else {
        status = conform_jobs_trouble(m);
    }
    if (status) {
        atomic_store(&k->queue->next, k->task_count); /* the others end, too */
        keep_status(k, status);
    }
}

/* One of them that is in the middle of a task; 0 if there is none. */
static uint32_t engaged(const collecting *all) {
    uint32_t worker = 0;
    for (size_t i = 0; i < all->list.count && !worker; i++) {
        worker = all->list.items[i].worker;
    }
    return worker;
}

/* A worker was ended by a driver, or by whoever ends processes. */
static vyre_status mourn(const collecting *all, uint32_t worker, const char *how) {
    vyre_strbuf names = {0};
    for (size_t i = 0; i < all->list.count; i++) {
        if (all->list.items[i].worker == worker) {
            const task t = task_at(all->k, all->list.items[i].task);
            vyre_strbuf_puts(&names, names.size ? ", " : " while it ran ");
            put_name(all->k, &t, &names);
        }
    }
    vyre_status status = vyre_status_make(
        VYRE_STATUS_BACKEND, "run each case by itself: `vyre conform -b DEVICE ID`",
        "a process of --jobs ended with %s%s", how, vyre_strbuf_string(&names));
    vyre_strbuf_free(&names);
    return status;
}

static void collect(campaign *k) {
    conform_session *c = k->c;
    collecting all = {.k = k};
    conform_message message;
    char how[CONFORM_JOBS_HOW];
    uint64_t until = c->end_ns;
    while (conform_jobs_receive(&c->jobs, until, &message)) {
        take_message(&all, &message);
    }
    if (until && vyre_now_ns() >= until) {
        conform_jobs_kill(&c->jobs);
        while (conform_jobs_receive(&c->jobs, 0, &message)) {
            take_message(&all, &message);
        }
    }
    uint32_t bad = conform_jobs_wait(&c->jobs, how);
    bad = bad || c->jobs.is_killed ? bad : engaged(&all);
    if (bad) {
        keep_status(k, mourn(&all, bad, how));
    }
    vyre_vec_free(&all.list);
}

/* Counting */

/* What nobody told the fate of did not run, or not to its end. */
static vyre_status count_all(campaign *k) {
    conform_session *c = k->c;
    for (size_t i = 0; i < c->cases.count; i++) {
        conform_case *one = &c->cases.items[i];
        if (one->fate == NO_FATE) {
            VYRE_TRY(conform_case_settle(one, CONFORM_FATE_SKIPPED, CONFORM_LATE));
        }
        conform_tally_add(&c->tallies[one->suite], one->id, one->fate, one->digest);
    }
    for (size_t i = 0; i < CONFORM_SEEDED; i++) {
        conform_seeds_count(c, &k->seeds[i]);
    }
    return VYRE_OK;
}

uint64_t conform_session_total(const conform_session *c, conform_fate fate) {
    uint64_t total = 0;
    for (size_t i = 0; i < CONFORM_SUITE_COUNT; i++) {
        total += c->tallies[i].counts[fate];
    }
    return total;
}

conform_fate conform_session_fate(const conform_session *c) {
    return conform_session_total(c, CONFORM_FATE_FAILED)   ? CONFORM_FATE_FAILED
           : conform_session_total(c, CONFORM_FATE_PASSED) ? CONFORM_FATE_PASSED
                                                           : CONFORM_FATE_SKIPPED;
}

const char *conform_session_verdict(const conform_session *c) {
    conform_fate fate = conform_session_fate(c);
    return fate == CONFORM_FATE_SKIPPED ? "nothing compared" : conform_fate_name(fate);
}

bool conform_session_has_cases(const conform_session *c, conform_suite_kind kind) {
    uint64_t count = 0;
    for (conform_fate fate = 0; fate < CONFORM_FATE_COUNT; fate++) {
        count += c->tallies[kind].counts[fate];
    }
    return count;
}

/* The whole */

static void write_started(char out[32]) {
    time_t now = time(NULL);
    struct tm parts;
    if (!gmtime_r(&now, &parts) || !strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts)) {
        snprintf(out, 32, "1970-01-01T00:00:00Z");
    }
}

static vyre_status explain_seed(campaign *k, conform_seeds *seeds) {
    conform_session *c = k->c;
    const conform_shrinking how = {c, k->small_steps, open_schedule};
    uint64_t seed = c->seed + seeds->failed_at;
    vyre_device *subject = NULL;
    vyre_status status = seeds->first.trial.program /* not if a worker ran it */
                             ? VYRE_OK
                             : conform_seeds_generate(seeds->suite, seed, &seeds->first.trial);
    status = status ? status : conform_seeds_reopen(c, seed, seeds->first.run - 1, &subject);
    if (!status) {
        c->failure = (conform_failure){.seed = seed,
                                       .run = seeds->first.run,
                                       .is_seeded = true,
                                       .suite = seeds->suite,
                                       .original = seeds->first.comparison,
                                       .trial = seeds->first.trial};
        seeds->first.trial = (conform_trial){0};
        status = conform_cut_down(&how, subject ? subject : c->device);
    }
    vyre_device_release(subject);
    return status;
}

/* A case has to run again for that, for which there is time, or not. */
static vyre_status explain_first(campaign *k) {
    conform_session *c = k->c;
    const conform_shrinking how = {c, k->small_steps, open_schedule};
    bool is_late = c->end_ns && vyre_now_ns() >= c->end_ns;
    for (size_t i = 0; i < c->cases.count && !c->failure.is_known && !is_late; i++) {
        if (c->cases.items[i].fate == CONFORM_FATE_FAILED) {
            VYRE_TRY(conform_explain(&how, &c->cases.items[i]));
        }
    }
    for (size_t i = 0; i < CONFORM_SEEDED && !c->failure.is_known; i++) {
        if (k->seeds[i].failed_at != UINT64_MAX) {
            VYRE_TRY(explain_seed(k, &k->seeds[i]));
        }
    }
    return VYRE_OK;
}

static vyre_status begin(campaign *k) {
    conform_session *c = k->c;
    const vyre_reference_options plain = {0};
    for (size_t i = 0; i < CONFORM_SEEDED; i++) {
        VYRE_TRY(
            conform_seeds_begin(c, (conform_suite_kind)(CONFORM_SUITE_SEEDED + i), &k->seeds[i]));
    }
    VYRE_TRY(list_tasks(k));
    for (size_t i = 0; i < c->cases.count; i++) {
        c->cases.items[i].fate = NO_FATE;
    }
    if (c->against) {
        k->oracle = k->small_steps = c->against;
        return VYRE_OK;
    }
    VYRE_TRY(vyre_reference_open(&plain, &k->oracle));
    return vyre_reference_open_oracle(&k->small_steps);
}

void conform_session_begin(conform_session *c) {
    uint64_t now = vyre_now_ns(), whole_ns = c->seconds_most * NS_PER_SECOND;
    c->deadline_ns = whole_ns ? now + whole_ns : 0;
    c->end_ns = whole_ns ? now + whole_ns + whole_ns / 4 : 0;
}

vyre_status conform_session_run(conform_session *c, vyre_device *device) {
    campaign k = {.c = c};
    k.queue = c->jobs.queue ? c->jobs.queue : &k.own;
    conform_queue_init(&k.own);
    if (!c->jobs.queue) {
        conform_session_begin(c);
    }
    conform_session_forget(c);
    c->device = device;
    write_started(c->started);
    uint64_t start = vyre_now_ns();
    vyre_status status = begin(&k);
    if (!status) {
        pthread_mutex_init(&k.lock, NULL);
        pthread_cond_init(&k.idle, NULL);
        if (c->jobs.queue && !conform_jobs_is_worker(c)) {
            collect(&k);
        } else {
            run_threads(&k);
        }
        pthread_cond_destroy(&k.idle);
        pthread_mutex_destroy(&k.lock);
        status = k.status;
    }
    c->seconds = (double)(vyre_now_ns() - start) * 1e-9;
    if (!status && !conform_jobs_is_worker(c)) {
        status = count_all(&k);
        status = status ? status : explain_first(&k);
    }
    vyre_vec_free(&k.groups);
    for (size_t i = 0; i < CONFORM_SEEDED; i++) {
        conform_seeds_end(&k.seeds[i]);
    }
    if (!c->against) {
        vyre_device_release(k.oracle);
        vyre_device_release(k.small_steps);
    }
    return status;
}
