/* Certification: times every candidate, compares the bytes of all, and changes the routes only once
 * all of it succeeded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "route/route.h"
#include "runtime/device.h"

/* One certification, or measurement of a class. */
typedef struct contest {
    const char *op;
    vyre_route_work work;
    const vyre_route_candidate *candidates;
    size_t count;
    const vyre_route_candidate *oracle;
    bool always_asks;
    vyre_route_trial *trials; /* by candidate */
} contest;

static vyre_status refuse(const contest *c, const char *fix, const char *what) {
    return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, fix, "the certification of `%s` %s",
                            c->op, what);
}

/* Whether its bytes take part in the comparison: a run that was called off has none. */
static bool has_bytes(const vyre_route_trial *trial) {
    return !trial->is_excluded || trial->cause == VYRE_EXCLUDED_BYTES;
}

static const vyre_outputs *bytes_of(const vyre_route_trial *trial) {
    return trial->same ? trial->same : &trial->outputs;
}

/* Outputs may be large: those that are the first candidate's are not kept twice. */
static void share_bytes(const contest *c, size_t index) {
    vyre_route_trial *trial = &c->trials[index];
    size_t first = 0;
    while (first < index && c->trials[first].is_excluded) {
        first++;
    }
    vyre_strbuf where = {0};
    if (first < index && !trial->is_excluded &&
        vyre_route_same_outputs(&trial->outputs, &c->trials[first].outputs, &where)) {
        vyre_outputs_free(&trial->outputs);
        trial->same = &c->trials[first].outputs;
    }
    vyre_strbuf_free(&where);
}

static void exclude(vyre_route_trial *trial, const char *whose, const vyre_strbuf *where,
                    const char *end) {
    trial->is_excluded = true;
    trial->cause = VYRE_EXCLUDED_BYTES;
    vyre_strbuf_cut(&trial->reason, 0);
    vyre_strbuf_printf(&trial->reason, "its bytes differ from those of `%s`: %s%s", whose,
                       vyre_strbuf_string(where), end);
    trial->reason.failed = trial->reason.failed || where->failed;
}

/* Runs the oracle, or takes what it gave as a candidate. `out_gone` is why there is none. */
static vyre_status ask_oracle(const contest *c, vyre_outputs *own, const vyre_outputs **out_right,
                              const char **out_gone) {
    *out_right = NULL;
    *out_gone = ", and there is no oracle to say which are right";
    if (!c->oracle) {
        return VYRE_OK;
    }
    for (size_t i = 0; i < c->count; i++) {
        if (c->candidates[i].device == c->oracle->device && !c->trials[i].is_excluded) {
            *out_right = bytes_of(&c->trials[i]);
            return VYRE_OK;
        }
    }
    vyre_dispatch_config config = c->work.config;
    uint64_t budget = c->work.budget_ns;
    bool is_limited = budget && (!config.timeout_ns || budget < config.timeout_ns);
    config.timeout_ns = is_limited ? budget : config.timeout_ns;
    vyre_status status = vyre_device_dispatch(c->oracle->device, c->oracle->program, c->work.inputs,
                                              c->work.input_count, &config, own);
    if (is_limited && vyre_status_code_of(status) == VYRE_STATUS_TIMEOUT) {
        vyre_status_free(status);
        *out_gone = ", and the oracle ran out of time";
        return VYRE_OK;
    }
    *out_right = status ? NULL : own;
    return status;
}

/* Excludes candidates without the oracle's bytes. Without an oracle it excludes every candidate
 * that differs from another one. */
static void judge(const contest *c, const vyre_outputs *right, const char *gone) {
    for (size_t i = 0; i < c->count; i++) {
        vyre_strbuf where = {0};
        if (c->trials[i].is_excluded) {
            continue;
        }
        if (right) {
            if (!vyre_route_same_outputs(bytes_of(&c->trials[i]), right, &where)) {
                exclude(&c->trials[i], vyre_device_name(c->oracle->device), &where, "");
            }
        } else {
            for (size_t k = 0; k < c->count; k++) {
                if (k != i && has_bytes(&c->trials[k]) &&
                    !vyre_route_same_outputs(bytes_of(&c->trials[i]), bytes_of(&c->trials[k]),
                                             &where)) {
                    exclude(&c->trials[i], vyre_device_name(c->candidates[k].device), &where, gone);
                    break;
                }
            }
        }
        vyre_strbuf_free(&where);
    }
}

static vyre_status compare(const contest *c) {
    const vyre_outputs *first = NULL;
    bool differ = false;
    for (size_t i = 0; i < c->count; i++) {
        if (!c->trials[i].is_excluded) {
            first = first ? first : bytes_of(&c->trials[i]);
            differ = differ || bytes_of(&c->trials[i]) != first;
        }
    }
    if (!first || (!differ && !(c->oracle && c->always_asks))) {
        return VYRE_OK;
    }
    vyre_outputs own = {0};
    const vyre_outputs *right;
    const char *gone;
    vyre_status status = ask_oracle(c, &own, &right, &gone);
    if (!status) {
        judge(c, right, gone);
    }
    vyre_outputs_free(&own);
    return status;
}

static vyre_status check_latency(const contest *c, size_t index) {
    uint64_t latency = c->trials[index].latency_ns;
    return latency <= INT64_MAX
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_LIMIT,
                                  "check the clock of this machine, then certify again",
                                  "`%s` on %s took %llu ns, and a route stores at most %lld", c->op,
                                  vyre_device_name(c->candidates[index].device),
                                  (unsigned long long)latency, (long long)INT64_MAX);
}

/* Times every candidate and excludes those that may not win. Free the trials in any case. */
static vyre_status hold(contest *c, const vyre_certify_options *options) {
    static const vyre_certify_options plain;
    options = options ? options : &plain;
    if (!c->op || !*c->op) {
        c->op = "";
        return refuse(c, "name the operation, or use vyre_route_key", "has no operation");
    }
    if (!c->count) {
        return refuse(c, "pass every available backend", "received no backends");
    }
    c->work.config = *vyre_config_or_default(options->config);
    c->work.budget_ns = options->budget_ns;
    c->oracle = options->oracle;
    c->always_asks = options->always_asks;
    c->trials = vyre_alloc_zeroed(c->count, sizeof *c->trials);
    vyre_status status = c->trials ? VYRE_OK : vyre_no_memory("for the routes");
    bool comparable = true;
    for (size_t i = 0; i < c->count && !status; i++) {
        comparable = comparable && vyre_route_is_comparable(c->candidates[i].program);
        status = vyre_route_time(&c->work, &c->candidates[i], &c->trials[i]);
        status = status ? status : check_latency(c, i);
        if (!status && comparable) {
            share_bytes(c, i);
        }
    }
    if (!status && comparable) {
        status = compare(c);
    }
    for (size_t i = 0; i < c->count && !status; i++) {
        if (c->trials[i].reason.failed) {
            status = vyre_no_memory("for the routes");
        }
    }
    return vyre_status_annotate(status, "certifying `%s`", c->op);
}

static void end(contest *c) {
    for (size_t i = 0; c->trials && i < c->count; i++) {
        vyre_route_trial_free(&c->trials[i]);
    }
    vyre_free(c->trials);
}

static int compare_latencies(const void *left, const void *right) {
    const vyre_latency *a = left, *b = right;
    return a->latency_ns != b->latency_ns ? (a->latency_ns < b->latency_ns ? -1 : 1)
                                          : strcmp(a->backend, b->backend);
}

static vyre_exclusion describe_exclusion(const contest *c, size_t index) {
    const vyre_route_trial *trial = &c->trials[index];
    return (vyre_exclusion){
        .who = vyre_device_identity(c->candidates[index].device),
        .cause = trial->cause,
        .reason = vyre_strbuf_string(&trial->reason),
        .size_class = VYRE_NO_CLASS,
    };
}

static bool may_win(const vyre_route *route, const char *backend) {
    for (size_t i = 0; i < route->excluded_count; i++) {
        if (!strcmp(route->excluded[i].who.backend, backend)) {
            return false;
        }
    }
    return true;
}

static vyre_status make_route(vyre_routes *routes, const contest *c) {
    vyre_latency *observations = vyre_alloc_array(c->count, sizeof *observations);
    vyre_exclusion *excluded = vyre_alloc_array(c->count, sizeof *excluded);
    vyre_route route = {.op = c->op, .observations = observations, .excluded = excluded};
    vyre_status status = observations && excluded ? VYRE_OK : vyre_no_memory("for the routes");
    for (size_t i = 0; i < c->count && !status; i++) {
        observations[route.observation_count++] =
            (vyre_latency){vyre_device_name(c->candidates[i].device), c->trials[i].latency_ns};
        if (c->trials[i].is_excluded) {
            excluded[route.excluded_count++] = describe_exclusion(c, i);
        }
    }
    if (!status) {
        qsort(observations, route.observation_count, sizeof *observations, compare_latencies);
        for (size_t i = 0; i < route.observation_count && !route.backend; i++) {
            route.backend =
                may_win(&route, observations[i].backend) ? observations[i].backend : NULL;
        }
        for (size_t i = 0; i < c->count && route.backend; i++) {
            const vyre_identity who = vyre_device_identity(c->candidates[i].device);
            if (!strcmp(who.backend, route.backend)) {
                route.device = who.device;
                route.driver = who.driver;
                break;
            }
        }
        status = vyre_routes_put_route(routes, &route, NULL, NULL, true);
    }
    vyre_free(observations);
    vyre_free(excluded);
    return status;
}

vyre_status vyre_routes_certify(vyre_routes *routes, const char *op,
                                const vyre_route_candidate *candidates, size_t count,
                                const vyre_input *inputs, size_t input_count,
                                const vyre_certify_options *options, const vyre_route **out_route) {
    contest c = {.op = op, .candidates = candidates, .count = count};
    c.work = (vyre_route_work){.clock = routes->clock,
                               .data = VYRE_DATA_HOST,
                               .inputs = inputs,
                               .input_count = input_count};
    if (out_route) {
        *out_route = NULL;
    }
    vyre_status status = hold(&c, options);
    status = status ? status : make_route(routes, &c);
    end(&c);
    if (!status && out_route) {
        *out_route = vyre_routes_find(routes, op);
    }
    return status;
}

vyre_status vyre_routes_certify_owned(vyre_routes *routes, const char *op,
                                      const vyre_route_candidate *candidates, size_t count,
                                      const vyre_output *inputs, size_t input_count,
                                      const vyre_certify_options *options,
                                      const vyre_route **out_route) {
    vyre_input *borrowed = vyre_alloc_array(input_count, sizeof *borrowed);
    if (out_route) {
        *out_route = NULL;
    }
    if (!borrowed) {
        return vyre_no_memory("for the routes");
    }
    for (size_t i = 0; i < input_count; i++) {
        borrowed[i] = (vyre_input){inputs[i].data, inputs[i].size};
    }
    vyre_status status = vyre_routes_certify(routes, op, candidates, count, borrowed, input_count,
                                             options, out_route);
    vyre_free(borrowed);
    return status;
}

vyre_status vyre_route_count_bytes(const vyre_program *program, const vyre_input *inputs,
                                   size_t input_count, const vyre_dispatch_config *config,
                                   uint64_t *out_bytes) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_plan plan;
    *out_bytes = 0;
    VYRE_TRY(vyre_plan_init(&plan, program, inputs, input_count, vyre_config_or_default(config)));
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        uint64_t length = ir->args[i].resource == VYRE_NONE ? 1 : plan.arguments[i];
        *out_bytes += length * vyre_arg_bytes(ir, &ir->args[i]);
    }
    vyre_plan_deinit(&plan);
    return VYRE_OK;
}

static vyre_status make_rows(vyre_routes *routes, const contest *c, uint32_t size_class) {
    vyre_route_measured *rows = vyre_alloc_zeroed(c->count, sizeof *rows);
    vyre_route_banned *bans = vyre_alloc_zeroed(c->count, sizeof *bans);
    size_t row_count = 0, ban_count = 0;
    vyre_status status = rows && bans ? VYRE_OK : vyre_no_memory("for the routes");
    for (size_t i = 0; i < c->count && !status; i++) {
        if (c->trials[i].is_excluded) {
            vyre_route_banned *ban = &bans[ban_count++];
            *ban = (vyre_route_banned){.exclusion = describe_exclusion(c, i), .is_new = true};
            ban->exclusion.size_class = size_class;
            ban->exclusion.data = c->work.data;
        } else {
            rows[row_count++] =
                (vyre_route_measured){.row = {.who = vyre_device_identity(c->candidates[i].device),
                                              .data = c->work.data,
                                              .size_class = size_class,
                                              .latency_ns = c->trials[i].latency_ns},
                                      .is_new = true};
        }
    }
    status =
        status ? status : vyre_routes_put_classes(routes, c->op, rows, row_count, bans, ban_count);
    vyre_free(rows);
    vyre_free(bans);
    return status;
}

vyre_status vyre_routes_measure(vyre_routes *routes, const char *op, vyre_data data,
                                const vyre_route_candidate *candidates, size_t count,
                                const vyre_input *inputs, size_t input_count,
                                const vyre_certify_options *options, uint32_t *out_class) {
    contest c = {.op = op, .candidates = candidates, .count = count};
    c.work = (vyre_route_work){.clock = routes->clock,
                               .data = data,
                               .inputs = inputs,
                               .input_count = input_count,
                               .excludes_refusals = true};
    uint64_t bytes = 0;
    vyre_status status = hold(&c, options);
    if (!status) {
        status = vyre_route_count_bytes(candidates[0].program, inputs, input_count, &c.work.config,
                                        &bytes);
    }
    status = status ? status : make_rows(routes, &c, vyre_route_class(bytes));
    if (!status && out_class) {
        *out_class = vyre_route_class(bytes);
    }
    end(&c);
    return status;
}

void vyre_route_key(const vyre_program *program, char out_key[VYRE_ROUTE_KEY_BYTES]) {
    vyre_digest digest = vyre_program_whole_digest(program);
    const char *name = vyre_program_name(program);
    /* The digest is what tells programs apart: it is never cut off. */
    enum { DIGITS = 33, HEAD = 8 };
    int room = VYRE_ROUTE_KEY_BYTES - 1 - DIGITS - HEAD;
    snprintf(out_key, VYRE_ROUTE_KEY_BYTES, "program:%.*s:%016llx%016llx", room, name,
             (unsigned long long)digest.high, (unsigned long long)digest.low);
}
