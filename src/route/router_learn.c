/* Learning from running times. Each run on auto is an observation of the device that was chosen;
 * now and then another device runs the same, for at most a sixteenth of the time that runs took. */
#include <string.h>

#include <vyre/run.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "registry/registry.h"
#include "registry/select.h"
#include "route/router.h"
#include "runtime/device.h"

enum {
    SHARE = 16,     /* one in so many nanoseconds may go to exploring */
    PATIENCE = 4,   /* how often as long as the chosen one a device may take */
    NOTICEABLE = 8, /* a median that moved by less than one in so many stays as it is */
    MOST_TIMES = 4096,
};
static const uint64_t SAVE_EVERY_NS = UINT64_C(5000000000);

void vyre_router_times_free(vyre_router *router) {
    for (size_t i = 0; i < router->times.count; i++) {
        vyre_free(router->times.items[i].op);
    }
    vyre_vec_free(&router->times);
}

/* What is observed: a device, for the operation, data and class of a run. */
typedef struct subject {
    const char *op;
    vyre_data data;
    uint32_t size_class;
} subject;

/* A choice may hold a device that the router lost and let go. */
static bool is_kept(const vyre_router *router, const vyre_device *device) {
    bool found = false;
    for (size_t i = 0; i < router->devices.count && !found; i++) {
        found = router->devices.items[i].device == device;
    }
    return found;
}

static vyre_router_times *find_times(vyre_router *router, const subject *s,
                                     const vyre_device *device) {
    for (size_t i = 0; i < router->times.count; i++) {
        vyre_router_times *row = &router->times.items[i];
        if (row->device == device && row->size_class == s->size_class && row->data == s->data &&
            !strcmp(row->op, s->op)) {
            return row;
        }
    }
    return NULL;
}

/* NULL without memory: then there is one observation less. */
static vyre_router_times *make_times(vyre_router *router, const subject *s,
                                     const vyre_device *device) {
    vyre_router_times *row = find_times(router, s, device);
    if (row) {
        return row;
    }
    if (router->times.count >= MOST_TIMES) {
        vyre_router_times_free(router);
    }
    size_t size = strlen(s->op) + 1;
    vyre_router_times made = {
        .op = vyre_alloc(size), .data = s->data, .size_class = s->size_class, .device = device};
    if (!made.op || !vyre_vec_push(&router->times, made)) {
        vyre_free(made.op);
        return NULL;
    }
    memcpy(made.op, s->op, size);
    return &router->times.items[router->times.count - 1];
}

static const vyre_class_row *find_row(const vyre_router *router, const subject *s,
                                      const vyre_identity *who) {
    const vyre_route_entry *entry = vyre_routes_entry(router->routes, s->op);
    for (size_t i = 0; entry && i < entry->rows.count; i++) {
        const vyre_class_row *row = &entry->rows.items[i].row;
        if (row->data == s->data && row->size_class == s->size_class &&
            vyre_identity_same(&row->who, who)) {
            return row;
        }
    }
    return NULL;
}

static bool is_banned(const vyre_router *router, const subject *s, const vyre_identity *who) {
    return vyre_router_banned(router, s->op, s->data, s->size_class, who);
}

static void complain(vyre_status status) {
    if (status) {
        vyre_log(VYRE_LOG_WARNING, "learning from running times: %s", vyre_status_text(status));
        vyre_status_free(status);
    }
}

/* Puts the median into the routes once there are enough, and where it tells something new. */
static void note_median(vyre_router *router, const subject *s, const vyre_router_times *times) {
    uint64_t sorted[VYRE_LEARN_WINDOW];
    size_t count = times->count < VYRE_LEARN_WINDOW ? times->count : VYRE_LEARN_WINDOW;
    memcpy(sorted, times->times, sizeof sorted);
    uint64_t median = vyre_route_median(sorted, count);
    const vyre_identity who = vyre_device_identity(times->device);
    const vyre_class_row *row = find_row(router, s, &who);
    uint64_t before = row ? row->latency_ns : 0;
    uint64_t moved = median > before ? median - before : before - median;
    if (times->count < VYRE_LEARN_ENOUGH || median > INT64_MAX ||
        (row && moved <= before / NOTICEABLE) || is_banned(router, s, &who)) {
        return;
    }
    const vyre_route_measured made = {
        .row = {.who = who, .data = s->data, .size_class = s->size_class, .latency_ns = median},
        .is_new = true};
    vyre_status status = vyre_routes_put_classes(router->routes, s->op, &made, 1, NULL, 0);
    if (!status) {
        vyre_router_forget(router);
    }
    complain(status);
}

static void record(vyre_router *router, const subject *s, const vyre_device *device, uint64_t ns) {
    vyre_router_times *times = is_kept(router, device) ? make_times(router, s, device) : NULL;
    if (times) {
        times->times[times->count++ % VYRE_LEARN_WINDOW] = ns;
        if (times->count == 2 * VYRE_LEARN_WINDOW) { /* it wraps with the window */
            times->count = VYRE_LEARN_WINDOW;
        }
        note_median(router, s, times);
    }
}

static void ban(vyre_router *router, const subject *s, const vyre_device *device,
                vyre_exclusion_cause cause, const char *reason) {
    const vyre_route_banned made = {.exclusion = {.who = vyre_device_identity(device),
                                                  .cause = cause,
                                                  .reason = reason,
                                                  .size_class = s->size_class,
                                                  .data = s->data},
                                    .is_new = true};
    vyre_status status = vyre_routes_put_classes(router->routes, s->op, NULL, 0, &made, 1);
    if (!status) {
        vyre_router_forget(router);
    }
    complain(status);
}

/* Takes hold of every device that preferred selection could. */
static vyre_status survey(vyre_router *router) {
    size_t count;
    const vyre_registration *const *list;
    vyre_status status = vyre_registry_sorted(router->registry, &list, &count);
    for (size_t i = 0; i < count && !status; i++) {
        bool dispatches;
        status = vyre_registry_capable(router->registry, list[i]->id, &dispatches);
        if (status || !dispatches || vyre_is_oracle(list[i]->id)) {
            continue;
        }
        uint32_t devices = vyre_registration_device_count(list[i]);
        for (uint32_t k = 0; k < devices && !status; k++) {
            vyre_strbuf name = {0};
            vyre_router_device *kept;
            vyre_strbuf_puts(&name, list[i]->id);
            if (k) {
                vyre_strbuf_printf(&name, ":%u", k);
            }
            status = name.failed ? vyre_no_memory("for the routes")
                                 : vyre_router_keep(router, name.data, &kept);
            vyre_strbuf_free(&name);
        }
    }
    router->has_surveyed = !status;
    return status;
}

static bool is_candidate(vyre_router *router, const subject *s, const vyre_router_run *run,
                         vyre_device *device) {
    const vyre_profile *profile = &device->profile;
    const vyre_identity who = vyre_device_identity(device);
    if (device == run->choice->device || vyre_is_oracle(vyre_device_id(device)) ||
        profile->flags & VYRE_PROFILE_IS_SOFTWARE || profile->grade > run->request->grade ||
        is_banned(router, s, &who) || find_row(router, s, &who) || vyre_device_lost(device)) {
        return false;
    }
    const vyre_router_times *times = find_times(router, s, device);
    return !times || times->count < VYRE_LEARN_ENOUGH;
}

/* How long may be explored now. */
static uint64_t allowance(const vyre_router *router) {
    uint64_t share = router->running_ns / SHARE;
    return share > router->exploring_ns ? share - router->exploring_ns : 0;
}

/* A device to try, with a reference of the caller's; NULL if there is none, or no time. */
static vyre_device *find_candidate(vyre_router *router, const subject *s,
                                   const vyre_router_run *run) {
    uint64_t least = run->ns < UINT64_MAX / PATIENCE ? run->ns * PATIENCE : UINT64_MAX;
    if (router->is_exploring || allowance(router) < (least ? least : 1)) {
        return NULL;
    }
    if (!router->has_surveyed) {
        uint64_t begin = vyre_route_now(&router->clock);
        complain(survey(router));
        router->exploring_ns += vyre_route_now(&router->clock) - begin;
    }
    for (size_t i = 0; i < router->devices.count && allowance(router) >= least; i++) {
        vyre_device *device = router->devices.items[i].device;
        if (device && is_candidate(router, s, run, device)) {
            return vyre_device_retain(device);
        }
    }
    return NULL;
}

/* What a try came to. */
typedef struct finding {
    uint64_t ns, total_ns;
    vyre_status status;
    bool is_other; /* its bytes */
    vyre_strbuf where;
} finding;

static void try_device(const vyre_router *router, const vyre_router_run *run, vyre_device *device,
                       uint64_t timeout_ns, finding *out) {
    const vyre_program *program = run->program;
    vyre_dispatch_config config = *vyre_config_or_default(run->config);
    config.prints = NULL; /* the run that counts has printed */
    if (!config.timeout_ns || timeout_ns < config.timeout_ns) {
        config.timeout_ns = timeout_ns;
    }
    vyre_pipeline *pipeline = NULL;
    vyre_outputs outputs = {0};
    *out = (finding){0};
    if (run->operation) {
        out->status = vyre_operation_choose(run->operation, device, &program);
    }
    uint64_t begin = vyre_route_now(&router->clock);
    if (!out->status) {
        out->status = vyre_device_compile(device, program, &config, &pipeline);
    }
    uint64_t compiled = vyre_route_now(&router->clock);
    if (!out->status) {
        out->status =
            vyre_pipeline_dispatch(pipeline, run->inputs, run->input_count, &config, &outputs);
    }
    uint64_t end = vyre_route_now(&router->clock);
    out->ns = end - compiled;
    out->total_ns = end - begin;
    if (!out->status && vyre_route_is_comparable(program)) {
        out->is_other = !vyre_route_same_outputs(&outputs, run->outputs, &out->where);
    }
    vyre_outputs_free(&outputs);
    vyre_pipeline_release(pipeline);
}

static void judge(vyre_router *router, const subject *s, const vyre_router_run *run,
                  vyre_device *device, const finding *found) {
    vyre_strbuf reason = {0};
    vyre_exclusion_cause cause = VYRE_EXCLUDED_REFUSED;
    const char *chosen = vyre_device_name(run->choice->device);
    if (found->is_other) {
        cause = VYRE_EXCLUDED_BYTES;
        vyre_strbuf_printf(&reason, "its bytes differ from those of `%s`, which ran: %s", chosen,
                           vyre_strbuf_string(&found->where));
    } else if (vyre_status_code_of(found->status) == VYRE_STATUS_TIMEOUT) {
        cause = VYRE_EXCLUDED_TIME;
        vyre_strbuf_printf(&reason, "it was stopped after %llu ns; `%s` takes %llu ns",
                           (unsigned long long)found->ns, chosen, (unsigned long long)run->ns);
    } else if (found->status) {
        vyre_strbuf_puts(&reason, vyre_status_message(found->status));
    }
    /* Memory that ran out is no property of the device. */
    if (reason.size && vyre_status_code_of(found->status) != VYRE_STATUS_OUT_OF_MEMORY) {
        ban(router, s, device, cause, vyre_strbuf_string(&reason));
    } else if (!found->status) {
        record(router, s, device, found->ns);
    }
    vyre_strbuf_free(&reason);
}

/* With the lock held, which is given away while the device runs. */
static void explore(vyre_router *router, const subject *s, const vyre_router_run *run) {
    vyre_device *device = run->outputs ? find_candidate(router, s, run) : NULL;
    if (!device) {
        return;
    }
    uint64_t timeout_ns = allowance(router);
    finding found;
    router->is_exploring = true;
    pthread_rwlock_unlock(&router->lock);
    try_device(router, run, device, timeout_ns, &found);
    pthread_rwlock_wrlock(&router->lock);
    router->is_exploring = false;
    router->exploring_ns += found.total_ns;
    judge(router, s, run, device, &found);
    vyre_status_free(found.status);
    vyre_strbuf_free(&found.where);
    vyre_device_release(device);
}

static subject subject_of(const vyre_router_request *request, char *room) {
    subject s = {request->op, request->data, vyre_route_class(request->bytes)};
    if (!s.op) {
        vyre_route_key(request->program, room);
        s.op = room;
    }
    return s;
}

bool vyre_router_may_explore(vyre_router *router, const vyre_router_request *request,
                             const vyre_router_choice *choice) {
    char of_program[VYRE_ROUTE_KEY_BYTES];
    const subject s = subject_of(request, of_program);
    const vyre_router_run run = {.request = request, .choice = choice};
    pthread_rwlock_rdlock(&router->lock);
    bool may = !router->has_surveyed;
    for (size_t i = 0; i < router->devices.count && !may; i++) {
        vyre_device *device = router->devices.items[i].device;
        may = device && is_candidate(router, &s, &run, device);
    }
    pthread_rwlock_unlock(&router->lock);
    return may;
}

static vyre_status save(vyre_router *router, bool waits) {
    if (!router->path || !vyre_routes_has_new(router->routes)) {
        return VYRE_OK;
    }
    vyre_status status = waits ? vyre_routes_save(router->routes, router->path)
                               : vyre_routes_try_save(router->routes, router->path);
    if (!status) {
        router->stamp = vyre_router_look(router->path);
        vyre_router_forget(router); /* others may have saved something */
    }
    return status;
}

void vyre_router_observe(vyre_router *router, const vyre_router_run *run) {
    char of_program[VYRE_ROUTE_KEY_BYTES];
    const subject s = subject_of(run->request, of_program);
    pthread_rwlock_wrlock(&router->lock);
    router->running_ns += run->ns;
    record(router, &s, run->choice->device, run->ns);
    explore(router, &s, run);
    uint64_t now = vyre_route_now(&router->clock);
    if (router->saved_ns == UINT64_MAX || now - router->saved_ns >= SAVE_EVERY_NS) {
        if (vyre_routes_has_new(router->routes)) {
            router->saved_ns = now;
            /* All runs on auto wait meanwhile. What another process keeps from being saved now is
             * saved the next time. */
            vyre_status status = save(router, false);
            if (vyre_status_code_of(status) == VYRE_STATUS_TIMEOUT) {
                vyre_status_free(status);
            } else {
                complain(status);
            }
        }
    }
    pthread_rwlock_unlock(&router->lock);
}

vyre_status vyre_router_save(vyre_router *router) {
    pthread_rwlock_wrlock(&router->lock);
    vyre_status status = save(router, true);
    pthread_rwlock_unlock(&router->lock);
    return status;
}
