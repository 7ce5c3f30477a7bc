#include <vyre/run.h>

#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "base/status.h"
#include "bench/certifier.h"
#include "route/route.h"
#include "values/sample.h"

vyre_status bench_certifier_open(bench_certifier *certifier) {
    size_t count = certifier->device_count;
    for (vyre_data data = VYRE_DATA_HOST; data <= VYRE_DATA_RESIDENT; data++) {
        certifier->left[data] = vyre_alloc_array(count, sizeof *certifier->left[data]);
    }
    certifier->able = vyre_alloc_array(count, sizeof *certifier->able);
    return certifier->left[VYRE_DATA_HOST] && certifier->left[VYRE_DATA_RESIDENT] && certifier->able
               ? vyre_reference_open_oracle(&certifier->oracle)
               : vyre_no_memory("for %zu devices", count);
}

void bench_certifier_deinit(bench_certifier *certifier) {
    vyre_free(certifier->left[VYRE_DATA_HOST]);
    vyre_free(certifier->left[VYRE_DATA_RESIDENT]);
    vyre_free(certifier->able);
    vyre_routes_free(certifier->table);
    vyre_device_release(certifier->oracle);
}

static vyre_status bind(const bench_certifier *certifier, const bench_subject *subject, size_t size,
                        values_binding *binding) {
    return subject->value_count
               ? values_bind(binding, subject->program, subject->values, subject->value_count,
                             subject->stdin_used, VALUES_MISSING_REFUSED)
               : values_sample_complete(binding, subject->operation, subject->program,
                                        values_sizes_at(&certifier->sizes, size), NULL, 0,
                                        subject->stdin_used);
}

/* Why a device was excluded in a measurement; NULL if it was not. */
static const vyre_exclusion *find_excluded(const bench_certifier *certifier, const char *key,
                                           const vyre_device *device, vyre_data data,
                                           uint32_t size_class) {
    const vyre_exclusion *excluded;
    const vyre_identity who = vyre_device_identity(device);
    for (size_t i = 0; (excluded = vyre_routes_class_excluded_at(certifier->table, key, i)); i++) {
        if (excluded->data == data && excluded->size_class == size_class &&
            vyre_identity_same(&excluded->who, &who)) {
            break;
        }
    }
    return excluded;
}

/* A device with wrong bytes skips the larger sizes; a device over its budget skips them with data
 * in this place. A device that refuses one size may take another. */
static void drop_excluded(bench_certifier *certifier, const char *key, vyre_data found,
                          uint32_t size_class) {
    for (vyre_data data = VYRE_DATA_HOST; data <= VYRE_DATA_RESIDENT; data++) {
        vyre_route_candidate *left = certifier->left[data];
        size_t kept = 0;
        for (size_t i = 0; i < certifier->left_count[data]; i++) {
            const vyre_exclusion *excluded =
                find_excluded(certifier, key, left[i].device, found, size_class);
            bool is_out = excluded && (excluded->cause == VYRE_EXCLUDED_BYTES ||
                                       (excluded->cause == VYRE_EXCLUDED_TIME && data == found));
            if (!is_out) {
                left[kept++] = left[i];
            }
        }
        certifier->left_count[data] = kept;
    }
}

/* The devices that ran all of it are candidates for the plain route. */
static void keep_able(bench_certifier *certifier, const char *key, values_binding *binding,
                      uint32_t size_class) {
    const vyre_route_candidate *left = certifier->left[VYRE_DATA_HOST];
    size_t able = 0, count = certifier->left_count[VYRE_DATA_HOST];
    for (size_t i = 0; i < count; i++) {
        able += !find_excluded(certifier, key, left[i].device, VYRE_DATA_HOST, size_class);
    }
    if (!able) {
        values_binding_deinit(binding);
        return;
    }
    certifier->able_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!find_excluded(certifier, key, left[i].device, VYRE_DATA_HOST, size_class)) {
            certifier->able[certifier->able_count++] = left[i];
        }
    }
    values_binding_deinit(&certifier->largest);
    certifier->largest = *binding;
}

/* One size in all places of data. */
static vyre_status measure(bench_certifier *certifier, const bench_subject *subject,
                           const values_binding *binding, bool is_smallest, uint32_t *out_class) {
    const vyre_route_candidate oracle = {certifier->oracle, subject->program};
    const vyre_certify_options options = {
        .budget_ns = certifier->budget_ns, .oracle = &oracle, .always_asks = is_smallest};
    for (vyre_data data = VYRE_DATA_HOST; data <= VYRE_DATA_RESIDENT; data++) {
        if (certifier->left_count[data] && !certifier->is_interrupted()) {
            VYRE_TRY(vyre_routes_measure(certifier->table, subject->key, data,
                                         certifier->left[data], certifier->left_count[data],
                                         binding->inputs, binding->input_count, &options,
                                         out_class));
            drop_excluded(certifier, subject->key, data, *out_class);
        }
    }
    return VYRE_OK;
}

/* The plain route: that of the largest size which somebody was left for. */
static vyre_status make_plain_route(bench_certifier *certifier, const bench_subject *subject) {
    const vyre_route_candidate oracle = {certifier->oracle, subject->program};
    const vyre_certify_options options = {.oracle = &oracle};
    return vyre_routes_certify(certifier->table, subject->key, certifier->able,
                               certifier->able_count, certifier->largest.inputs,
                               certifier->largest.input_count, &options, NULL);
}

static vyre_status enter_all(bench_certifier *certifier, const bench_subject *subject) {
    certifier->able_count = 0;
    for (size_t i = 0; i < certifier->device_count; i++) {
        vyre_route_candidate candidate = {certifier->devices[i], subject->program};
        if (subject->operation) {
            VYRE_TRY(
                vyre_operation_choose(subject->operation, candidate.device, &candidate.program));
        }
        certifier->left[VYRE_DATA_HOST][i] = certifier->left[VYRE_DATA_RESIDENT][i] = candidate;
    }
    for (vyre_data data = VYRE_DATA_HOST; data <= VYRE_DATA_RESIDENT; data++) {
        certifier->left_count[data] = certifier->places.wanted[data] ? certifier->device_count : 0;
    }
    return VYRE_OK;
}

static bool anyone_left(const bench_certifier *certifier) {
    return certifier->left_count[VYRE_DATA_HOST] || certifier->left_count[VYRE_DATA_RESIDENT];
}

vyre_status bench_certifier_measure(bench_certifier *certifier, const bench_subject *subject) {
    size_t sizes = subject->value_count ? 1 : values_sizes_count(&certifier->sizes);
    uint64_t end = certifier->done + sizes;
    vyre_status status = enter_all(certifier, subject);
    for (size_t i = 0;
         i < sizes && !status && anyone_left(certifier) && !certifier->is_interrupted(); i++) {
        values_binding binding = {0};
        uint32_t size_class = 0;
        certifier->step(certifier->user, certifier->done++, subject->key);
        status = bind(certifier, subject, i, &binding);
        status = status ? status : measure(certifier, subject, &binding, i == 0, &size_class);
        keep_able(certifier, subject->key, &binding, size_class);
    }
    certifier->done = end;
    if (!status && certifier->able_count && certifier->places.wanted[VYRE_DATA_HOST] &&
        !certifier->is_interrupted()) {
        status = make_plain_route(certifier, subject);
    }
    values_binding_deinit(&certifier->largest);
    return status;
}
