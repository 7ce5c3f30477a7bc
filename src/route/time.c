/* How long one device takes for an operation: a run to warm up, and the median of three. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "route/route.h"
#include "runtime/device.h"
#include "runtime/resident_set.h"

enum { TIMED_RUNS = 3, RUNS = TIMED_RUNS + 1 };

static int compare_times(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

uint64_t vyre_route_median(uint64_t *times, size_t count) {
    qsort(times, count, sizeof *times, compare_times);
    return times[count / 2];
}

void vyre_route_trial_free(vyre_route_trial *trial) {
    vyre_outputs_free(&trial->outputs);
    vyre_strbuf_free(&trial->reason);
}

bool vyre_route_is_comparable(const vyre_program *program) {
    return vyre_program_determinism(program) != VYRE_SCHEDULE_DEPENDENT;
}

bool vyre_route_same_outputs(const vyre_outputs *found, const vyre_outputs *expected,
                             vyre_strbuf *out_where) {
    if (found->count != expected->count) {
        vyre_strbuf_printf(out_where, "%zu outputs, not %zu", found->count, expected->count);
        return false;
    }
    for (size_t i = 0; i < found->count; i++) {
        const vyre_output *a = &found->items[i], *b = &expected->items[i];
        if (a->size != b->size) {
            vyre_strbuf_printf(out_where, "output %zu has %zu bytes, not %zu", i, a->size, b->size);
            return false;
        }
        if (!a->size || !memcmp(a->data, b->data, a->size)) {
            continue;
        }
        size_t at = 0;
        while (a->data[at] == b->data[at]) {
            at++;
        }
        vyre_strbuf_printf(out_where, "byte %zu of output %zu is 0x%02x, not 0x%02x", at, i,
                           a->data[at], b->data[at]);
        return false;
    }
    return true;
}

/* One candidate at work. */
typedef struct stopwatch {
    const vyre_route_work *work;
    vyre_pipeline *pipeline;
    vyre_route_trial *trial;
    uint64_t begin_ns;
    vyre_dispatch_config config; /* of the next run */
    bool is_limited;             /* its timeout is what is left of the budget */
    /* Data that stays on the device. */
    vyre_plan plan;
    bool is_planned;
    vyre_resident_set set;
} stopwatch;

static uint64_t elapsed(const stopwatch *watch) {
    return vyre_route_now(&watch->work->clock) - watch->begin_ns;
}

static void exclude(stopwatch *watch, vyre_exclusion_cause cause) {
    watch->trial->is_excluded = true;
    watch->trial->cause = cause;
}

/* A candidate with wrong bytes stays excluded for them, the graver cause. */
static void print_budget(stopwatch *watch, const char *when) {
    watch->trial->latency_ns = elapsed(watch);
    if (watch->trial->is_excluded) {
        return;
    }
    exclude(watch, VYRE_EXCLUDED_TIME);
    vyre_strbuf_printf(&watch->trial->reason,
                       "it took longer than its budget of %llu ns: %llu ns %s",
                       (unsigned long long)watch->work->budget_ns,
                       (unsigned long long)watch->trial->latency_ns, when);
}

/* Sets the timeout of the next run; false if there is no time left. Watching for a timeout costs
 * some devices time, so runs that count have none: the first one showed how long they take. */
static bool limit(stopwatch *watch, bool counts) {
    uint64_t budget = watch->work->budget_ns, spent = budget ? elapsed(watch) : 0;
    watch->config = watch->work->config;
    watch->is_limited = false;
    if (budget && spent >= budget) {
        return false;
    }
    uint64_t left = budget - spent;
    if (budget && !counts && (!watch->config.timeout_ns || left < watch->config.timeout_ns)) {
        watch->config.timeout_ns = left;
        watch->is_limited = true;
    }
    return true;
}

/* Where a failure is the end of this candidate alone, it is excluded and there is none. */
static vyre_status judge_failure(stopwatch *watch, vyre_status status) {
    vyre_status_code code = vyre_status_code_of(status);
    if (code == VYRE_STATUS_TIMEOUT && watch->is_limited) {
        print_budget(watch, "when a run was stopped");
    } else if (watch->work->excludes_refusals &&
               (code == VYRE_STATUS_UNSUPPORTED || code == VYRE_STATUS_LIMIT)) {
        if (!watch->trial->is_excluded) {
            exclude(watch, VYRE_EXCLUDED_REFUSED);
            vyre_strbuf_puts(&watch->trial->reason, vyre_status_message(status));
        }
    } else {
        return status;
    }
    vyre_status_free(status);
    return VYRE_OK;
}

static vyre_status run_host(stopwatch *watch, int number, uint64_t *out_ns) {
    const vyre_route_work *work = watch->work;
    vyre_outputs outputs;
    uint64_t begin = vyre_route_now(&work->clock);
    vyre_status status = vyre_pipeline_dispatch(watch->pipeline, work->inputs, work->input_count,
                                                &watch->config, &outputs);
    *out_ns = vyre_route_now(&work->clock) - begin;
    if (status) {
        return status;
    }
    if (!number) {
        watch->trial->outputs = outputs;
        return VYRE_OK;
    }
    vyre_strbuf where = {0};
    if (vyre_route_is_comparable(vyre_pipeline_program(watch->pipeline)) &&
        !watch->trial->is_excluded &&
        !vyre_route_same_outputs(&outputs, &watch->trial->outputs, &where)) {
        exclude(watch, VYRE_EXCLUDED_BYTES);
        vyre_strbuf_printf(&watch->trial->reason, "its bytes differ from run to run: in run %d %s",
                           number + 1, vyre_strbuf_string(&where));
    }
    vyre_strbuf_free(&where);
    vyre_outputs_free(&outputs);
    return VYRE_OK;
}

static vyre_status place_data(stopwatch *watch) {
    const vyre_route_work *work = watch->work;
    VYRE_TRY(vyre_plan_init(&watch->plan, watch->pipeline->program, work->inputs, work->input_count,
                            &work->config));
    watch->is_planned = true;
    return vyre_resident_set_init(&watch->set, watch->pipeline->device, &watch->plan, work->inputs);
}

static vyre_status remove_data(stopwatch *watch, vyre_status status) {
    if (!watch->is_planned) {
        return status;
    }
    status = vyre_first_failure(status, vyre_resident_set_deinit(&watch->set));
    vyre_plan_deinit(&watch->plan);
    return status;
}

static vyre_status run_resident(stopwatch *watch, int number, uint64_t *out_ns) {
    const vyre_route_work *work = watch->work;
    VYRE_TRY(number ? vyre_resident_set_renew(&watch->set, work->inputs) : place_data(watch));
    uint64_t begin = vyre_route_now(&work->clock);
    vyre_status status = vyre_pipeline_dispatch_resident(watch->pipeline, watch->set.bindings,
                                                         watch->set.count, &watch->config, NULL);
    *out_ns = vyre_route_now(&work->clock) - begin;
    if (status || number < RUNS - 1) {
        return status;
    }
    VYRE_TRY(vyre_outputs_make(&watch->plan, &watch->trial->outputs));
    return vyre_resident_set_read(&watch->set, &watch->trial->outputs);
}

vyre_status vyre_route_time(const vyre_route_work *work, const vyre_route_candidate *candidate,
                            vyre_route_trial *out_trial) {
    *out_trial = (vyre_route_trial){0};
    stopwatch watch = {.work = work, .trial = out_trial, .begin_ns = vyre_route_now(&work->clock)};
    uint64_t times[RUNS] = {0};
    bool is_late = false;
    vyre_status status =
        vyre_device_compile(candidate->device, candidate->program, &work->config, &watch.pipeline);
    if (status) {
        return judge_failure(&watch, status);
    }
    for (int i = 0; i < RUNS && !status; i++) {
        if (!limit(&watch, i > 0)) {
            print_budget(&watch, "before its last run");
            is_late = true;
            break;
        }
        status = work->data == VYRE_DATA_HOST ? run_host(&watch, i, &times[i])
                                              : run_resident(&watch, i, &times[i]);
        if (status) {
            status = judge_failure(&watch, status);
            is_late = true;
            break;
        }
    }
    if (!status && !is_late && work->budget_ns && elapsed(&watch) > work->budget_ns) {
        print_budget(&watch, "in all");
        is_late = true;
    }
    if (!is_late) {
        out_trial->latency_ns = vyre_route_median(times + 1, TIMED_RUNS);
    }
    status = remove_data(&watch, status);
    vyre_pipeline_release(watch.pipeline);
    if (!status && out_trial->reason.failed) {
        status = vyre_no_memory("for the routes");
    }
    return status;
}
