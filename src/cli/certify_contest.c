#include <string.h>

#include <vyre/run.h>

#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "cli/certify.h"
#include "cli/sample.h"
#include "driver/route.h"

vyre_status cli_contest_open(cli_contest *contest) {
    size_t count = contest->devices.list.count;
    contest->left = vyre_alloc_array(count, sizeof *contest->left);
    contest->able = vyre_alloc_array(count, sizeof *contest->able);
    return contest->left && contest->able
               ? vyre_reference_open_oracle(&contest->oracle)
               : vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory, then try again",
                                  "no memory for %zu devices", count);
}

void cli_contest_deinit(cli_contest *contest) {
    vyre_free(contest->left);
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

/* Whoever is wrong, or slow, takes no part in larger sizes. Who refuses one may take another. */
static void drop_excluded(cli_contest *contest, const char *key, vyre_data data,
                          uint32_t size_class) {
    size_t kept = 0;
    for (size_t i = 0; i < contest->left_count; i++) {
        const vyre_exclusion *excluded =
            find_excluded(contest, key, contest->left[i].device, data, size_class);
        if (!excluded || excluded->cause == VYRE_EXCLUDED_REFUSED) {
            contest->left[kept++] = contest->left[i];
        }
    }
    contest->left_count = kept;
}

/* Those who did it whole are candidates for the plain route. */
static void keep_able(cli_contest *contest, const char *key, cli_binding *binding,
                      uint32_t size_class) {
    size_t able = 0;
    for (size_t i = 0; i < contest->left_count; i++) {
        able += !find_excluded(contest, key, contest->left[i].device, VYRE_DATA_HOST, size_class);
    }
    if (!able) {
        cli_binding_deinit(binding);
        return;
    }
    contest->able_count = 0;
    for (size_t i = 0; i < contest->left_count; i++) {
        if (!find_excluded(contest, key, contest->left[i].device, VYRE_DATA_HOST, size_class)) {
            contest->able[contest->able_count++] = contest->left[i];
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
        if (contest->places.wanted[data] && contest->left_count && !contest->is_interrupted()) {
            status = vyre_routes_measure(contest->table, subject->key, data, contest->left,
                                         contest->left_count, binding->inputs, binding->input_count,
                                         &options, out_class);
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

static void enter_all(cli_contest *contest, const cli_subject *subject) {
    contest->able_count = 0;
    contest->left_count = contest->devices.list.count;
    for (size_t i = 0; i < contest->left_count; i++) {
        vyre_device *device = contest->devices.list.items[i];
        contest->left[i] = (vyre_route_candidate){
            device, subject->operation ? vyre_operation_program(subject->operation, device)
                                       : subject->program};
    }
}

vyre_status cli_contest_hold(cli_contest *contest, const cli_subject *subject) {
    size_t sizes = subject->value_count ? 1 : cli_sizes_count(&contest->sizes);
    size_t end = contest->done + sizes;
    vyre_status status = VYRE_OK;
    enter_all(contest, subject);
    for (size_t i = 0; i < sizes && !status && contest->left_count && !contest->is_interrupted();
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
