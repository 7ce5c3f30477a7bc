/* A program that costs the device takes others along that run beside it: who is guilty is found
 * nevertheless, and nobody else is blamed. conform_session_run starts the threads, by
 * pthread_create.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "backend/reference/backend.h"
#include "conform/session.h"
#include "runtime/device.h"

/* A device that runs programs as the reference backend does, until it is lost. */
typedef struct fragile {
    vyre_digest guilty; /* the program that costs the device */
    uint64_t argument;  /* if its first input is this */
    bool needs_company; /* only while another one runs */
    bool is_final;      /* it does not come back */
    atomic_bool is_lost;
    atomic_int running, recovered;
} fragile;

static const char *fragile_id(const vyre_backend *backend) {
    (void)backend;
    return "fragile";
}

static uint32_t fragile_features(const vyre_backend *backend) {
    (void)backend;
    return VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC | VYRE_FEATURE_STEPS |
           VYRE_FEATURE_CONSTANT_ARRAYS;
}

static bool fragile_lost(const vyre_backend *backend) {
    return atomic_load(&((fragile *)backend->state)->is_lost);
}

static vyre_status fragile_recover(const vyre_backend *backend) {
    fragile *f = backend->state;
    if (f->is_final) {
        return vyre_status_make(VYRE_STATUS_DEVICE_LOST, "restart the process", "it is gone");
    }
    assert_int_equal(atomic_load(&f->running), 0);
    atomic_store(&f->is_lost, false);
    atomic_fetch_add(&f->recovered, 1);
    return VYRE_OK;
}

static bool is_guilty(const fragile *f, const vyre_call *call) {
    vyre_digest digest = vyre_program_digest(call->program);
    uint64_t argument = 0;
    if (call->input_count) {
        size_t size = call->inputs[0].size;
        memcpy(&argument, call->inputs[0].data, size < sizeof argument ? size : sizeof argument);
    }
    return digest.high == f->guilty.high && digest.low == f->guilty.low &&
           (!f->argument || argument == f->argument);
}

static vyre_status fragile_dispatch(const vyre_backend *backend, const vyre_call *call,
                                    vyre_output *outputs) {
    fragile *f = backend->state;
    vyre_outputs own = {0};
    vyre_status status = VYRE_OK;
    atomic_fetch_add(&f->running, 1);
    /* Long enough that others are under way. */
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    if (is_guilty(f, call) && (!f->needs_company || atomic_load(&f->running) > 1)) {
        atomic_store(&f->is_lost, true);
    }
    if (atomic_load(&f->is_lost)) {
        status = vyre_status_make(VYRE_STATUS_DEVICE_LOST, "recover it", "the device is lost");
    } else {
        status = vyre_reference_run(call->program, call->inputs, call->input_count, call->config,
                                    NULL, &own);
    }
    for (size_t i = 0; i < own.count; i++) {
        if (own.items[i].size) {
            memcpy(outputs[i].data, own.items[i].data, own.items[i].size);
        }
    }
    vyre_outputs_free(&own);
    atomic_fetch_sub(&f->running, 1);
    return status;
}

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

static vyre_device *open_fragile(fragile *f) {
    const vyre_backend_slots slots = {
        VYRE_BACKEND_HEAD,
        .id = fragile_id,
        .dispatch = fragile_dispatch,
        .dispatch_borrowed = fragile_dispatch,
        .features = fragile_features,
        .max_workgroup_size = vyre_any_workgroup_size,
        .max_workgroups_per_dimension = vyre_any_workgroup_count,
        .device_lost = fragile_lost,
        .try_recover = fragile_recover,
    };
    const vyre_backend made = {&slots, f, NULL};
    vyre_device *device;
    expect_ok(vyre_device_open(&made, "fragile", 0, &device));
    return device;
}

static conform_session some_cases(void) {
    return (conform_session){.suites = 1u << CONFORM_SUITE_SIZES | 1u << CONFORM_SUITE_SMALL,
                             .glob = "sizes.repeat*,small.*",
                             .seed = 1,
                             .programs = 40,
                             .runs = 1};
}

/* The program of a case, which costs the device. */
static void set_guilty(fragile *f, const conform_session *c, const char *id) {
    for (size_t i = 0; i < c->cases.count; i++) {
        if (!strcmp(c->cases.items[i].id, id)) {
            conform_suite_trial made;
            expect_ok(conform_suite_build(&c->fixed[CONFORM_SUITE_SIZES], &c->cases.items[i].fixed,
                                          1, &made));
            f->guilty = vyre_program_digest(made.trial.program);
            conform_trial_free(&made.trial);
            return;
        }
    }
    fail_msg("there is no case %s", id);
}

static void a_case_that_costs_the_device_is_found(void **state) {
    (void)state;
    fragile f = {.argument = 2};
    conform_session c = some_cases();
    vyre_device *device = open_fragile(&f);
    expect_ok(conform_session_list(&c));
    set_guilty(&f, &c, "sizes.repeat.2");
    expect_ok(conform_session_run(&c, device));
    for (size_t i = 0; i < c.cases.count; i++) {
        const conform_case *one = &c.cases.items[i];
        bool is_guilty_one = !strcmp(one->id, "sizes.repeat.2");
        if ((one->fate == CONFORM_FATE_FAILED) != is_guilty_one) {
            fail_msg("%s: %s", one->id, one->text ? one->text : "passed");
        }
    }
    assert_int_equal(conform_session_total(&c, CONFORM_FATE_FAILED), 1);
    assert_int_equal(c.tallies[CONFORM_SUITE_SMALL].counts[CONFORM_FATE_PASSED], 40);
    assert_true(c.failure.is_known);
    assert_string_equal(c.failure.id, "sizes.repeat.2");
    assert_true(f.recovered >= 2);
    conform_session_deinit(&c);
    vyre_device_release(device);
}

static void a_seed_that_costs_the_device_is_found(void **state) {
    (void)state;
    fragile f = {0};
    conform_session c = some_cases();
    conform_trial trial;
    expect_ok(conform_generate_small(17, &trial));
    f.guilty = vyre_program_digest(trial.program);
    vyre_device *device = open_fragile(&f);
    expect_ok(conform_session_list(&c));
    expect_ok(conform_session_run(&c, device));
    assert_int_equal(conform_session_total(&c, CONFORM_FATE_FAILED), 1);
    assert_int_equal(c.seeded[0].failed_seed, 17);
    assert_int_equal(c.tallies[CONFORM_SUITE_SMALL].counts[CONFORM_FATE_PASSED], 16);
    assert_int_equal(c.failure.seed, 17);
    assert_non_null(strstr(c.failure.original.text, "lost"));
    conform_trial_free(&trial);
    conform_session_deinit(&c);
    vyre_device_release(device);
}

/* A fault that takes two is a fault: it must not pass because each is right alone. */
static void what_needs_company_is_told(void **state) {
    (void)state;
    fragile f = {.argument = 17, .needs_company = true};
    conform_session c = some_cases();
    vyre_device *device = open_fragile(&f);
    expect_ok(conform_session_list(&c));
    set_guilty(&f, &c, "sizes.repeat.17");
    expect_ok(conform_session_run(&c, device));
    if (f.recovered) { /* on one core it has no company */
        assert_int_equal(conform_session_total(&c, CONFORM_FATE_FAILED), 1);
    }
    conform_session_deinit(&c);
    vyre_device_release(device);
}

static void a_device_that_does_not_come_back_ends_it(void **state) {
    (void)state;
    fragile f = {.is_final = true};
    conform_session c = some_cases();
    vyre_device *device = open_fragile(&f);
    expect_ok(conform_session_list(&c));
    set_guilty(&f, &c, "sizes.repeat.2");
    vyre_status status = conform_session_run(&c, device);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_DEVICE_LOST);
    assert_non_null(strstr(vyre_status_text(status), "sizes.repeat."));
    assert_non_null(strstr(vyre_status_text(status), "Fix: run each case by itself"));
    vyre_status_free(status);
    conform_session_deinit(&c);
    vyre_device_release(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_case_that_costs_the_device_is_found),
        cmocka_unit_test(a_seed_that_costs_the_device_is_found),
        cmocka_unit_test(what_needs_company_is_told),
        cmocka_unit_test(a_device_that_does_not_come_back_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
