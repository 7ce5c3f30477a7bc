#include <string.h>

#include <vyre/run.h>

#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "base/status.h"
#include "cli/certify.h"
#include "route/route.h"
#include "values/sample.h"

vyre_status cli_contest_open(cli_contest *contest) {
    size_t count = contest->devices.list.count;
    for (vyre_data data = VYRE_DATA_HOST; data <= VYRE_DATA_RESIDENT; data++) {
        contest->left[data] = vyre_alloc_array(count, sizeof *contest->left[data]);
    }
    contest->able = vyre_alloc_array(count, sizeof *contest->able);
    return contest->left[VYRE_DATA_HOST] && contest->left[VYRE_DATA_RESIDENT] && contest->able
               ? vyre_reference_open_oracle(&contest->oracle)
               : vyre_no_memory("for %zu devices", count);
}

void cli_contest_deinit(cli_contest *contest) {
    vyre_free(contest->left[VYRE_DATA_HOST]);
    vyre_free(contest->left[VYRE_DATA_RESIDENT]);
    vyre_free(contest->able);
    vyre_routes_free(contest->table);
    vyre_device_release(contest->oracle);
    cli_devices_release(&contest->devices);
}

static vyre_status bind(const cli_contest *contest, const cli_subject *subject, size_t size,
                        cli_binding *binding) {
    return subject->value_count
               ? cli_bind(binding, subject->program, subject->values, subject->value_count,
                          subject->stdin_used, CLI_MISSING_REFUSED)
               : cli_sample_complete(binding, subject->operation, subject->program,
                                     cli_sizes_at(&contest->sizes, size), NULL, 0,
                                     subject->stdin_used);
}

/* Why a device was excluded in a measurement; NULL if it was not. */
static const vyre_exclusion *find_excluded(const cli_contest *contest, const char *key,
                                           const vyre_device *device, vyre_data data,
                                           uint32_t size_class) {
    const vyre_exclusion *excluded;
    const vyre_identity who = vyre_device_identity(device);
    for (size_t i = 0; (excluded = vyre_routes_class_excluded_at(contest->table, key, i)); i++) {
        if (excluded->data == data && excluded->size_class == size_class &&
            vyre_identity_same(&excluded->who, &who)) {
            break;
        }
    }
    return excluded;
}

/* Whoever is wrong takes no part in larger sizes, nor who is slow with data in this place. Who
 * refuses a size may take another. */
static void drop_excluded(cli_contest *contest, const char *key, vyre_data found,
                          uint32_t size_class) {
    for (vyre_data data = VYRE_DATA_HOST; data <= VYRE_DATA_RESIDENT; data++) {
        vyre_route_candidate *left = contest->left[data];
        size_t kept = 0;
        for (size_t i = 0; i < contest->left_count[data]; i++) {
            const vyre_exclusion *excluded =
                find_excluded(contest, key, left[i].device, found, size_class);
            bool is_out = excluded && (excluded->cause == VYRE_EXCLUDED_BYTES ||
                                       (excluded->cause == VYRE_EXCLUDED_TIME && data == found));
            if (!is_out) {
                left[kept++] = left[i];
            }
        }
        contest->left_count[data] = kept;
    }
}

/* Those who did it whole are candidates for the plain route. */
static void keep_able(cli_contest *contest, const char *key, cli_binding *binding,
                      uint32_t size_class) {
    const vyre_route_candidate *left = contest->left[VYRE_DATA_HOST];
    size_t able = 0, count = contest->left_count[VYRE_DATA_HOST];
    for (size_t i = 0; i < count; i++) {
        able += !find_excluded(contest, key, left[i].device, VYRE_DATA_HOST, size_class);
    }
    if (!able) {
        cli_binding_deinit(binding);
        return;
    }
    contest->able_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!find_excluded(contest, key, left[i].device, VYRE_DATA_HOST, size_class)) {
            contest->able[contest->able_count++] = left[i];
        }
    }
    cli_binding_deinit(&contest->largest);
    contest->largest = *binding;
}

/* One size in all places of data. */
static vyre_status measure(cli_contest *contest, const cli_subject *subject,
                           const cli_binding *binding, bool is_smallest, uint32_t *out_class) {
    const vyre_route_candidate oracle = {contest->oracle, subject->program};
    const vyre_certify_options options = {
        .budget_ns = contest->budget_ns, .oracle = &oracle, .always_asks = is_smallest};
    vyre_status status = VYRE_OK;
    for (vyre_data data = VYRE_DATA_HOST; data <= VYRE_DATA_RESIDENT && !status; data++) {
        if (contest->left_count[data] && !contest->is_interrupted()) {
            status = vyre_routes_measure(contest->table, subject->key, data, contest->left[data],
                                         contest->left_count[data], binding->inputs,
                                         binding->input_count, &options, out_class);
            if (!status) {
                drop_excluded(contest, subject->key, data, *out_class);
            }
        }
    }
    return status;
}

/* The plain route: that of the largest size which somebody was left for. */
static vyre_status make_plain_route(cli_contest *contest, const cli_subject *subject) {
    const vyre_route_candidate oracle = {contest->oracle, subject->program};
    const vyre_certify_options options = {.oracle = &oracle};
    return vyre_routes_certify(contest->table, subject->key, contest->able, contest->able_count,
                               contest->largest.inputs, contest->largest.input_count, &options,
                               NULL);
}

static vyre_status enter_all(cli_contest *contest, const cli_subject *subject) {
    contest->able_count = 0;
    for (size_t i = 0; i < contest->devices.list.count; i++) {
        vyre_route_candidate candidate = {contest->devices.list.items[i], subject->program};
        if (subject->operation) {
            VYRE_TRY(
                vyre_operation_choose(subject->operation, candidate.device, &candidate.program));
        }
        contest->left[VYRE_DATA_HOST][i] = contest->left[VYRE_DATA_RESIDENT][i] = candidate;
    }
    for (vyre_data data = VYRE_DATA_HOST; data <= VYRE_DATA_RESIDENT; data++) {
        contest->left_count[data] = contest->places.wanted[data] ? contest->devices.list.count : 0;
    }
    return VYRE_OK;
}

static bool anyone_left(const cli_contest *contest) {
    return contest->left_count[VYRE_DATA_HOST] || contest->left_count[VYRE_DATA_RESIDENT];
}

vyre_status cli_contest_hold(cli_contest *contest, const cli_subject *subject) {
    size_t sizes = subject->value_count ? 1 : cli_sizes_count(&contest->sizes);
    size_t end = contest->done + sizes;
    vyre_status status = enter_all(contest, subject);
    for (size_t i = 0; i < sizes && !status && anyone_left(contest) && !contest->is_interrupted();
         i++) {
        cli_binding binding = {0};
        uint32_t size_class = 0;
        contest->step(contest->user, contest->done++, subject->key);
        status = bind(contest, subject, i, &binding);
        status = status ? status : measure(contest, subject, &binding, i == 0, &size_class);
        keep_able(contest, subject->key, &binding, size_class);
    }
    contest->done = end;
    if (!status && contest->able_count && contest->places.wanted[VYRE_DATA_HOST] &&
        !contest->is_interrupted()) {
        status = make_plain_route(contest, subject);
    }
    cli_binding_deinit(&contest->largest);
    return status;
}
