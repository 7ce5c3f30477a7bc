/* Preferred selection: scores, order, what is skipped, what is said. */
#include "tests/unit/tiny_backends.h"

#include <stdio.h>

#include <vyre/log.h>

#include "registry/registry.h"
#include "registry/select.h"
#include "tests/unit/failing_allocator.h"

/* The first `count` with profiles of their own, all of them empty. */
static void reset_with_profiles(size_t count) {
    tiny_reset();
    for (size_t i = 0; i < count; i++) {
        tiny[i].has_profile = true;
    }
}

/* Runs preferred selection over the first `count`, which must give the device of an id. */
static void expect_choice(size_t count, const vyre_selection *selection, const char *id,
                          const char *why) {
    vyre_registry *registry = tiny_registry(count);
    vyre_device *device;
    vyre_decision decision;
    expect_ok(vyre_registry_acquire_preferred(registry, selection, &decision, &device));
    assert_string_equal(vyre_device_id(device), id);
    assert_int_equal(decision.count, count);
    assert_true(decision.chosen < count);
    assert_string_equal(decision.candidates[decision.chosen].id, id);
    assert_int_equal(decision.candidates[decision.chosen].fate, VYRE_FATE_CHOSEN);
    if (why) {
        assert_non_null(strstr(decision.why, why));
    }
    vyre_decision_free(&decision);
    vyre_device_release(device);
    vyre_registry_free(registry);
}

/* The same where nothing can be chosen: the detail must be exactly this. */
static void expect_none(size_t count, const vyre_selection *selection, const char *detail) {
    char message[512], why[512];
    snprintf(message, sizeof message, "no usable GPU dispatch backend is available (%s)", detail);
    snprintf(why, sizeof why, "none: %s", detail);
    vyre_registry *registry = tiny_registry(count);
    vyre_device *device = (vyre_device *)&registry;
    vyre_decision decision;
    vyre_status status = vyre_registry_acquire_preferred(registry, selection, &decision, &device);
    assert_null(device);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNAVAILABLE);
    assert_string_equal(vyre_status_message(status), message);
    assert_string_equal(decision.why, why);
    assert_int_equal(decision.chosen, count);
    vyre_decision_free(&decision);
    vyre_status_free(status);
    vyre_registry_free(registry);
}

static void order_S15_visits_by_rank_then_id(void **state) {
    (void)state;
    reset_with_profiles(4);
    tiny[0].rank = 40;
    tiny[1].rank = 20;
    tiny[2].rank = 20;
    tiny[3].rank = 10;
    vyre_registry *registry = tiny_registry(4);
    vyre_device *device;
    vyre_decision decision;
    int before = tiny_events;
    expect_ok(vyre_registry_acquire_preferred(registry, NULL, &decision, &device));
    static const size_t expected[] = {3, 1, 2, 0};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(tiny[expected[i]].created_at, before + 1 + (int)i);
        assert_string_equal(decision.candidates[i].id, tiny[expected[i]].id);
    }
    vyre_decision_free(&decision);
    vyre_device_release(device);
    vyre_registry_free(registry);
}

static void skips_S16_what_does_not_dispatch(void **state) {
    (void)state;
    reset_with_profiles(3);
    tiny[0].emission_only = true;
    tiny[0].failure = "must not be asked";
    tiny[1].undeclared = true;
    tiny[1].failure = "must not be asked";
    expect_choice(3, NULL, "c", "the only usable backend");
    expect_none(2, NULL, "no dispatch-capable backend is linked into this binary");
    assert_int_equal(tiny[0].created, 0);
    assert_int_equal(tiny[1].created, 0);
}

static void skips_S17_oracles_even_if_nothing_else_is_there(void **state) {
    (void)state;
    assert_true(vyre_is_oracle("cpu-ref"));
    assert_true(vyre_is_oracle("reference"));
    static const char *const others[] = {"cpu", "cpu-ref2", "cpu-re", "references", "ref", ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(vyre_is_oracle(others[i]));
    }
    reset_with_profiles(3);
    tiny[0].id = "reference";
    tiny[1].id = "cpu-ref";
    tiny[0].profile.max_storage_buffer_bytes = 1;
    tiny[1].profile.max_storage_buffer_bytes = 1;
    expect_choice(3, NULL, "c", NULL);
    expect_none(2, NULL, "only reference oracle backend(s) were available: reference, cpu-ref");
    assert_int_equal(tiny[0].created, 0);
    assert_int_equal(tiny[1].created, 0);
    /* The native CPU backend is one like any other. */
    tiny[0].id = "cpu";
    expect_choice(2, NULL, "cpu", NULL);
}

static void creates_S18_all_and_destroys_losers_afterwards(void **state) {
    (void)state;
    reset_with_profiles(4);
    tiny[1].profile.max_storage_buffer_bytes = 1;
    vyre_registry *registry = tiny_registry(4);
    vyre_device *device;
    expect_ok(vyre_registry_acquire_preferred(registry, NULL, NULL, &device));
    assert_string_equal(vyre_device_id(device), "b");
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(tiny[i].created, 1);
        assert_int_equal(tiny[i].destroyed, i != 1);
        assert_true(i == 1 || tiny[i].destroyed_at > tiny[3].created_at);
    }
    vyre_device_release(device);
    assert_int_equal(tiny[1].destroyed, 1);
    vyre_registry_free(registry);
}

static void failures_S19_S30_are_listed_and_others_are_tried(void **state) {
    (void)state;
    reset_with_profiles(4);
    tiny[0].failure = "no card. Fix: plug one in";
    tiny[2].failure = "no driver. Fix: install one";
    tiny[3].id = "reference";
    vyre_registry *registry = tiny_registry(4);
    vyre_device *device;
    vyre_decision decision;
    expect_ok(vyre_registry_acquire_preferred(registry, NULL, &decision, &device));
    assert_string_equal(vyre_device_id(device), "b");
    assert_int_equal(tiny[2].created, 1); /* after the one that succeeded */
    assert_int_equal(decision.candidates[0].fate, VYRE_FATE_FAILED);
    assert_string_equal(decision.candidates[0].reason, "no card. Fix: plug one in");
    assert_string_equal(decision.candidates[1].reason, "");
    assert_string_equal(decision.candidates[2].reason, "no driver. Fix: install one");
    assert_int_equal(decision.candidates[3].fate, VYRE_FATE_REFERENCE);
    vyre_decision_free(&decision);
    vyre_device_release(device);
    vyre_registry_free(registry);

    /* The reference that was skipped is not mentioned. */
    tiny[1].emission_only = true;
    expect_none(4, NULL, "a: no card. Fix: plug one in; c: no driver. Fix: install one");
}

static void facts_S20_of_each_candidate(void **state) {
    (void)state;
    reset_with_profiles(2);
    tiny[0].profile.flags |= VYRE_PROFILE_SUPPORTS_F16;
    tiny[0].profile.timing_quality = VYRE_TIMING_DEVICE_TIMESTAMPS;
    tiny[0].profile.memory_bandwidth_gbps = 4800;
    tiny[1].unranked = true;
    vyre_registry *registry = tiny_registry(2);
    vyre_device *device;
    vyre_decision decision;
    expect_ok(vyre_registry_acquire_preferred(registry, NULL, &decision, &device));
    const vyre_candidate *a = &decision.candidates[0], *b = &decision.candidates[1];
    assert_string_equal(a->id, "a");
    assert_int_equal(a->rank, 10);
    assert_int_equal(a->capability_score, 2);
    assert_int_equal(a->timing_score, 2);
    assert_int_equal(a->memory_bandwidth_gbps, 4800);
    assert_true(a->acquisition_ns > 0);
    assert_string_equal(b->id, "b");
    assert_int_equal(b->rank, VYRE_NO_RANK);
    assert_int_equal(b->capability_score, 0);
    assert_int_equal(b->timing_score, 0);
    assert_int_equal(b->memory_bandwidth_gbps, 0);
    assert_int_equal(b->fate, VYRE_FATE_OUTSCORED);
    vyre_decision_free(&decision);
    vyre_device_release(device);
    vyre_registry_free(registry);
}

static void time_S21_covers_factory_and_profile_and_saturates(void **state) {
    (void)state;
    reset_with_profiles(1);
    tiny[0].create_ns = 3000000;
    tiny[0].profile_ns = 2000000;
    vyre_registry *registry = tiny_registry(1);
    vyre_device *device;
    vyre_decision decision;
    expect_ok(vyre_registry_acquire_preferred(registry, NULL, &decision, &device));
    assert_true(decision.candidates[0].acquisition_ns >= 5000000);
    assert_true(decision.candidates[0].acquisition_ns < UINT64_C(60000000000));
    vyre_decision_free(&decision);
    vyre_device_release(device);
    vyre_registry_free(registry);

    static const struct {
        int64_t from, to;
        long from_ns, to_ns;
        uint64_t expected;
    } rows[] = {
        {5, 5, 10, 10, 0},
        {5, 5, 10, 17, 7},
        {5, 6, 999999999, 0, 1},
        {5, 7, 3, 4, 2000000001},
        {5, 5, 10, 9, 0},
        {6, 5, 0, 999999999, 0},
        {0, 18446744073, 0, 709551614, UINT64_MAX - 1},
        {0, 18446744073, 0, 709551615, UINT64_MAX},
        {0, 18446744073, 0, 709551616, UINT64_MAX},
        {0, 18446744074, 0, 0, UINT64_MAX},
        {0, INT64_MAX, 0, 0, UINT64_MAX},
        {INT64_MIN, INT64_MAX, 0, 0, UINT64_MAX},
        {INT64_MAX, INT64_MIN, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(vyre_elapsed_ns((struct timespec){(time_t)rows[i].from, rows[i].from_ns},
                                    (struct timespec){(time_t)rows[i].to, rows[i].to_ns}) ==
                    rows[i].expected);
    }
}

static void compare_S22_each_criterion_in_turn(void **state) {
    (void)state;
    /* Each of the better ones wins by one criterion and is worse by all that come after it. */
    static const struct {
        vyre_candidate better, worse;
    } rows[] = {
        {{.id = "z", .capability_score = 2, .rank = 9, .acquisition_ns = 9},
         {.id = "a",
          .capability_score = 1,
          .timing_score = 3,
          .memory_bandwidth_gbps = 9,
          .rank = 1,
          .acquisition_ns = 1}},
        {{.id = "z", .timing_score = 2, .rank = 9, .acquisition_ns = 9},
         {.id = "a",
          .timing_score = 1,
          .memory_bandwidth_gbps = 9,
          .rank = 1,
          .acquisition_ns = 1}},
        {{.id = "z", .memory_bandwidth_gbps = UINT64_MAX, .rank = 9, .acquisition_ns = 9},
         {.id = "a", .memory_bandwidth_gbps = 1, .rank = 1, .acquisition_ns = 1}},
        {{.id = "z", .rank = 1, .acquisition_ns = UINT64_MAX},
         {.id = "a", .rank = UINT32_MAX, .acquisition_ns = 1}},
        {{.id = "z", .acquisition_ns = 1}, {.id = "a", .acquisition_ns = UINT64_MAX}},
        {{.id = "a"}, {.id = "b"}},
        {{.id = "a"}, {.id = "aa"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(vyre_candidate_compare(&rows[i].better, &rows[i].worse) < 0);
        assert_true(vyre_candidate_compare(&rows[i].worse, &rows[i].better) > 0);
        assert_int_equal(vyre_candidate_compare(&rows[i].better, &rows[i].better), 0);
    }
}

static void score_S23_S25_weights(void **state) {
    (void)state;
    static const struct {
        vyre_profile profile;
        uint32_t score;
    } rows[] = {
        {{.max_storage_buffer_bytes = 1}, 16},
        {{.max_storage_buffer_bytes = UINT64_MAX}, 16},
        {{.max_invocations_per_workgroup = 63}, 0},
        {{.max_invocations_per_workgroup = 64}, 8},
        {{.max_invocations_per_workgroup = 255}, 8},
        {{.max_invocations_per_workgroup = 256}, 12},
        {{.max_invocations_per_workgroup = UINT32_MAX}, 12},
        {{.subgroup_size = 1}, 8},
        {{.subgroup_size = 64}, 8},
        {{.flags = VYRE_PROFILE_SUPPORTS_SUBGROUP_OPS}, 8},
        {{.flags = VYRE_PROFILE_HAS_SUBGROUP_SHUFFLE}, 4},
        {{.flags = VYRE_PROFILE_HAS_SHARED_MEMORY}, 4},
        {{.flags = VYRE_PROFILE_SUPPORTS_F16}, 2},
        {{.flags = VYRE_PROFILE_SUPPORTS_BF16}, 2},
        {{.flags = VYRE_PROFILE_SUPPORTS_TENSOR_CORES}, 4},
        {{.flags = VYRE_PROFILE_SUPPORTS_INDIRECT_DISPATCH}, 2},
        {{.flags = VYRE_PROFILE_SUPPORTS_DEVICE_TIMESTAMPS}, 2},
        {{.flags = VYRE_PROFILE_SUPPORTS_HARDWARE_COUNTERS}, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(vyre_capability_score(&rows[i].profile), rows[i].score);
    }
    /* Everything at once is the most there is. */
    vyre_profile all = {0};
#define SET(name, bit, text) all.flags |= VYRE_PROFILE_##name;
    VYRE_PROFILE_FLAGS(SET)
#undef SET
#define SET(field) all.field = UINT64_MAX;
    VYRE_PROFILE_NUMBERS(SET)
#undef SET
    assert_int_equal(vyre_capability_score(&all), 66);
}

static void score_S24_of_nothing_is_nothing(void **state) {
    (void)state;
    assert_int_equal(vyre_capability_score(&(vyre_profile){0}), 0);
    tiny_reset(); /* no slots but the required ones */
    vyre_registry *registry = tiny_registry(1);
    vyre_device *device;
    vyre_decision decision;
    expect_ok(vyre_registry_acquire_preferred(registry, NULL, &decision, &device));
    vyre_profile profile;
    vyre_device_profile(device, &profile);
    assert_int_equal(profile.max_invocations_per_workgroup, 1);
    assert_int_equal(vyre_capability_score(&profile), 0);
    assert_int_equal(decision.candidates[0].capability_score, 0);
    vyre_decision_free(&decision);
    vyre_device_release(device);
    vyre_registry_free(registry);
}

static void score_S26_timing(void **state) {
    (void)state;
    assert_int_equal(vyre_timing_score(VYRE_TIMING_HOST_ONLY), 0);
    assert_int_equal(vyre_timing_score(VYRE_TIMING_HOST_ENQUEUE_WAIT), 1);
    assert_int_equal(vyre_timing_score(VYRE_TIMING_DEVICE_TIMESTAMPS), 2);
    assert_int_equal(vyre_timing_score(VYRE_TIMING_HARDWARE_COUNTERS), 3);
    assert_int_equal(vyre_timing_score(4), 0);
    assert_int_equal(vyre_timing_score(UINT32_MAX), 0);
}

static void choice_S27_capability_over_rank(void **state) {
    (void)state;
    reset_with_profiles(2);
    tiny[0].rank = 1;
    tiny[0].profile.timing_quality = VYRE_TIMING_HARDWARE_COUNTERS;
    tiny[0].profile.memory_bandwidth_gbps = 9000;
    tiny[1].rank = 50;
    tiny[1].profile.flags |= VYRE_PROFILE_SUPPORTS_F16;
    expect_choice(2, NULL, "b", "`b` before `a`: capability score 2 against 0");
    tiny[1].profile.flags &= ~(uint64_t)VYRE_PROFILE_SUPPORTS_F16;
    expect_choice(2, NULL, "a", "`a` before `b`: timing score 3 against 0");
    tiny[1].profile.timing_quality = VYRE_TIMING_HARDWARE_COUNTERS;
    expect_choice(2, NULL, "a", "memory bandwidth in GB/s 9000 against 0");
}

static void choice_S28_rank_where_the_rest_is_equal(void **state) {
    (void)state;
    reset_with_profiles(2);
    tiny[0].rank = 7;
    tiny[1].rank = 5;
    tiny[1].create_ns = 2000000; /* which comes after the rank */
    for (size_t i = 0; i < 2; i++) {
        tiny[i].profile.flags |= VYRE_PROFILE_HAS_SHARED_MEMORY;
        tiny[i].profile.memory_bandwidth_gbps = 100;
    }
    expect_choice(2, NULL, "b", "`b` before `a`: rank 5 against 7");
}

static void choice_S29_acquisition_time_then_id(void **state) {
    (void)state;
    reset_with_profiles(2);
    tiny[0].rank = tiny[1].rank = 5;
    tiny[0].create_ns = 50000000;
    expect_choice(2, NULL, "b", "`b` before `a`: acquisition time in ns ");
    vyre_candidate left = {.id = "a", .acquisition_ns = 5},
                   right = {.id = "b", .acquisition_ns = 5};
    assert_true(vyre_candidate_compare(&left, &right) < 0);
    left.acquisition_ns = 6;
    assert_true(vyre_candidate_compare(&left, &right) > 0);
}

static void none_S31_only_oracles(void **state) {
    (void)state;
    reset_with_profiles(3);
    tiny[0].id = "cpu-ref";
    tiny[1].id = "reference";
    tiny[2].emission_only = true;
    expect_none(3, NULL, "only reference oracle backend(s) were available: cpu-ref, reference");
    expect_none(1, NULL, "only reference oracle backend(s) were available: cpu-ref");
}

static void none_S32_nothing_that_dispatches(void **state) {
    (void)state;
    tiny_reset();
    tiny[0].emission_only = true;
    expect_none(1, NULL, "no dispatch-capable backend is linked into this binary");
    expect_none(0, NULL, "no dispatch-capable backend is linked into this binary");
}

static void none_S33_the_error_says_what_to_do(void **state) {
    (void)state;
    reset_with_profiles(1);
    tiny[0].id = "reference";
    vyre_registry *registry = tiny_registry(1);
    vyre_device *device;
    vyre_status status = vyre_registry_acquire_preferred(registry, NULL, NULL, &device);
    assert_null(device); /* no fallback */
    assert_int_equal(tiny[0].created, 0);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNAVAILABLE);
    assert_string_equal(vyre_status_text(status),
                        "no usable GPU dispatch backend is available (only reference oracle "
                        "backend(s) were available: reference). Fix: link a dispatch-capable GPU "
                        "backend and repair the driver probe; the CPU reference is explicit oracle "
                        "infrastructure only");
    vyre_status_free(status);
    vyre_registry_free(registry);
}

static void lists_S34_are_reserved_up_front(void **state) {
    (void)state;
    reset_with_profiles(3);
    vyre_registry *registry = tiny_registry(3);
    size_t count;
    vyre_registry_by_rank(registry, &count); /* so that the next allocation is the selection's */
    vyre_device *device;
    failing_allocator_start(1);
    vyre_status status = vyre_registry_acquire_preferred(registry, NULL, NULL, &device);
    failing_allocator_end();
    assert_null(device);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tiny[i].created, 0);
    }
    assert_non_null(strstr(vyre_status_fix(status), "request a backend by id"));
    expect_fail(status, VYRE_STATUS_OUT_OF_MEMORY, "3 candidates");
    vyre_registry_free(registry);
}

enum { LOG_LINES = 8, LOG_BYTES = 256 };
static struct {
    char lines[LOG_LINES][LOG_BYTES];
    size_t count;
} logged;

static void keep_log(void *user, vyre_log_level level, const char *message) {
    (void)user;
    if (level == VYRE_LOG_TRACE && logged.count < LOG_LINES) {
        snprintf(logged.lines[logged.count++], LOG_BYTES, "%s", message);
    }
}

static void trace_S37_failures_and_the_choice(void **state) {
    (void)state;
    reset_with_profiles(3);
    tiny[0].failure = "no card. Fix: plug one in";
    tiny[2].profile.flags |= VYRE_PROFILE_SUPPORTS_F16;
    tiny[2].profile.timing_quality = VYRE_TIMING_HOST_ENQUEUE_WAIT;
    vyre_registry *registry = tiny_registry(3);
    vyre_device *device;
    vyre_decision decision;
    logged.count = 0;
    vyre_log_set(keep_log, NULL, VYRE_LOG_TRACE);
    vyre_status status = vyre_registry_acquire_preferred(registry, NULL, &decision, &device);
    vyre_log_set(NULL, NULL, VYRE_LOG_ERROR);
    expect_ok(status);
    assert_int_equal(logged.count, 2);
    assert_non_null(strstr(logged.lines[0], "`a` failed"));
    assert_non_null(strstr(logged.lines[0], "no card. Fix: plug one in"));
    char expected[128];
    snprintf(expected, sizeof expected,
             "`c` with capability_score=2 timing_score=1 rank=30 acquisition_ns=%llu",
             (unsigned long long)decision.candidates[decision.chosen].acquisition_ns);
    assert_non_null(strstr(logged.lines[1], "selected"));
    assert_non_null(strstr(logged.lines[1], expected));
    vyre_decision_free(&decision);
    vyre_device_release(device);
    vyre_registry_free(registry);
}

static void software_devices_are_created_and_dropped(void **state) {
    (void)state;
    reset_with_profiles(3);
    tiny[0].profile.flags = VYRE_PROFILE_IS_SOFTWARE | VYRE_PROFILE_IS_GPU;
    tiny[0].profile.device = "llvmpipe";
    tiny[0].profile.max_storage_buffer_bytes = 1;
    tiny[1].profile = tiny[0].profile;
    expect_choice(3, NULL, "c", "the only usable backend");
    assert_int_equal(tiny[0].created, 1);
    assert_int_equal(tiny[0].destroyed, 1);
    tiny[2].id = "reference";
    expect_none(3, NULL, "only software devices were left: a, b");
    tiny[1].failure = "no card. Fix: plug one in";
    expect_none(3, NULL, "b: no card. Fix: plug one in; dropped as software devices: a");

    vyre_registry *registry = tiny_registry(1);
    vyre_device *device;
    vyre_decision decision;
    vyre_status status = vyre_registry_acquire_preferred(registry, NULL, &decision, &device);
    assert_int_equal(decision.candidates[0].fate, VYRE_FATE_SOFTWARE);
    assert_string_equal(decision.candidates[0].reason, "llvmpipe");
    vyre_decision_free(&decision);
    expect_fail(status, VYRE_STATUS_UNAVAILABLE, "to run on a software device, name it");
    expect_ok(vyre_registry_acquire(registry, "a", &device)); /* it runs when it is named */
    vyre_device_release(device);
    vyre_registry_free(registry);
}

static void require_gpu_never_gives_anything_else(void **state) {
    (void)state;
    const vyre_selection gpu = {.require = VYRE_REQUIRE_GPU};
    reset_with_profiles(3);
    tiny[0].id = "cpu";
    tiny[0].profile.max_storage_buffer_bytes = 1;
    tiny[1].profile.flags |= VYRE_PROFILE_IS_GPU;
    expect_choice(2, NULL, "cpu", NULL);
    expect_choice(2, &gpu, "b", "the only usable backend");
    expect_none(1, &gpu, "not a GPU, which the caller requires: cpu");
    tiny[1].profile.flags |= VYRE_PROFILE_IS_SOFTWARE;
    tiny[2].id = "reference";
    expect_none(3, &gpu,
                "only reference oracle backend(s) were available: reference; dropped as software "
                "devices: b; not a GPU, which the caller requires: cpu");
}

static void globs_allow_and_deny(void **state) {
    (void)state;
    reset_with_profiles(3);
    tiny[0].id = "cuda";
    tiny[1].id = "cpu";
    tiny[2].id = "vulkan";
    tiny[0].profile.max_storage_buffer_bytes = 1;
    expect_choice(3, NULL, "cuda", NULL);
    expect_choice(3, &(vyre_selection){.deny = "cu*"}, "cpu", NULL);
    expect_choice(3, &(vyre_selection){.allow = "vulkan, metal"}, "vulkan", NULL);
    expect_choice(3, &(vyre_selection){.allow = "c*", .deny = "cuda"}, "cpu", NULL);
    int created = tiny[0].created;
    expect_none(3, &(vyre_selection){.deny = "*"},
                "excluded by the caller's rules: cuda, cpu, vulkan");
    expect_none(3, &(vyre_selection){.allow = ""},
                "excluded by the caller's rules: cuda, cpu, vulkan");
    assert_int_equal(tiny[0].created, created);
    tiny[1].failure = "out of order. Fix: mend it";
    expect_none(3, &(vyre_selection){.allow = "c?u"},
                "cpu: out of order. Fix: mend it; excluded by the caller's rules: cuda, vulkan");
    tiny[1].failure = NULL;
    tiny[1].id = "reference";
    vyre_registry *registry = tiny_registry(2);
    vyre_device *device;
    expect_fail(vyre_registry_acquire_preferred(registry, &(vyre_selection){.allow = "reference"},
                                                NULL, &device),
                VYRE_STATUS_UNAVAILABLE,
                "(only reference oracle backend(s) were available: reference; excluded by the "
                "caller's rules: cuda)");
    vyre_registry_free(registry);
}

static void globs_match(void **state) {
    (void)state;
    static const struct {
        const char *patterns, *id;
        bool expected;
    } rows[] = {
        {"cuda", "cuda", true},      {"cuda", "cud", false},
        {"cud", "cuda", false},      {"*", "cuda", true},
        {"**", "cuda", true},        {"", "cuda", false},
        {",", "cuda", false},        {"????", "cuda", true},
        {"???", "cuda", false},      {"?????", "cuda", false},
        {"*a", "cuda", true},        {"*b", "cuda", false},
        {"c*a", "cuda", true},       {"c*d*a", "cuda", true},
        {"c*x*a", "cuda", false},    {"*ab*abc", "ababab-abc", true},
        {"*aab", "aaaab", true},     {"x,cuda", "cuda", true},
        {"x , cuda ", "cuda", true}, {"x,,cuda", "cuda", true},
        {"x,y", "cuda", false},      {"cuda*", "cuda", true},
        {"*?a", "cuda", true},       {"?*?*?*?*?", "cuda", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (vyre_id_matches(rows[i].patterns, rows[i].id) != rows[i].expected) {
            print_error("%s for %s\n", rows[i].patterns, rows[i].id);
            fail();
        }
    }
}

static void grade_and_device_are_respected(void **state) {
    (void)state;
    reset_with_profiles(2);
    tiny[0].profile.max_storage_buffer_bytes = 1;
    tiny[0].profile.grade = VYRE_GRADE_NORMAL_RANGE;
    expect_choice(2, NULL, "b", NULL);
    expect_choice(2, &(vyre_selection){.grade = VYRE_GRADE_NORMAL_RANGE}, "a", NULL);
    expect_none(1, NULL, "less exact than the caller requires: a");
    assert_int_equal(tiny[0].last_device, 0);
    expect_choice(2, &(vyre_selection){.device = 3}, "b", NULL);
    assert_int_equal(tiny[0].last_device, 3);
    assert_int_equal(tiny[1].last_device, 3);

    vyre_registry *registry = tiny_registry(1);
    vyre_device *device;
    vyre_decision decision;
    vyre_status status = vyre_registry_acquire_preferred(registry, NULL, &decision, &device);
    assert_int_equal(decision.candidates[0].fate, VYRE_FATE_GRADE);
    assert_string_equal(decision.candidates[0].reason, "its grade is normal-range");
    assert_string_equal(vyre_fate_name(decision.candidates[0].fate), "not exact enough");
    vyre_decision_free(&decision);
    vyre_status_free(status);
    vyre_registry_free(registry);
}

/* Each allocation fails in turn, from creating the registry on. */
static void selection_survives_every_allocation_that_fails(void **state) {
    (void)state;
    for (int some_usable = 0; some_usable < 2; some_usable++) {
        reset_with_profiles(4);
        tiny[0].failure = "no card. Fix: plug one in";
        tiny[1].failure = some_usable ? NULL : "no driver. Fix: install one";
        tiny[2].emission_only = !some_usable;
        tiny[3].id = "reference";
        size_t errors = 0, n = 1;
        for (;; n++) {
            vyre_registry *registry = NULL;
            vyre_device *device = NULL;
            vyre_decision decision = {0};
            failing_allocator_start(n);
            vyre_status status = vyre_registry_create(&registry);
            status = status ? status : vyre_registry_add(registry, tiny_make_bundle(4));
            status = status ? status
                            : vyre_registry_acquire_preferred(registry, NULL, &decision, &device);
            assert_true(!status == (device != NULL));
            assert_true(!status || strstr(vyre_status_text(status), "Fix: "));
            assert_true(!device || decision.candidates[decision.chosen].id);
            errors += status != NULL;
            vyre_decision_free(&decision);
            vyre_device_release(device);
            vyre_status_free(status);
            vyre_registry_free(registry);
            failing_allocator_stop();
            for (size_t i = 1; i < 4; i++) {
                assert_int_equal(tiny[i].failure ? 0 : tiny[i].created, tiny[i].destroyed);
            }
            if (!failing_allocator_failed()) {
                break;
            }
        }
        assert_true(some_usable ? errors < n : errors == n);
    }
}

static void a_failed_table_ends_the_selection(void **state) {
    (void)state;
    size_t found = 0;
    for (size_t n = 1; n == 1 || failing_allocator_failed(); n++) {
        reset_with_profiles(2);
        vyre_registry *registry = tiny_registry(2);
        vyre_device *device;
        failing_allocator_start(n);
        bool dispatches = vyre_registry_dispatches(registry, "a");
        failing_allocator_end();
        if (!dispatches) {
            found++;
            expect_fail(vyre_registry_acquire_preferred(registry, NULL, NULL, &device),
                        VYRE_STATUS_OUT_OF_MEMORY,
                        "backend registry dispatch capability table is unavailable");
            assert_null(device);
            assert_int_equal(tiny[0].created, 0);
        }
        vyre_registry_free(registry);
    }
    assert_true(found > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_S15_visits_by_rank_then_id),
        cmocka_unit_test(skips_S16_what_does_not_dispatch),
        cmocka_unit_test(skips_S17_oracles_even_if_nothing_else_is_there),
        cmocka_unit_test(creates_S18_all_and_destroys_losers_afterwards),
        cmocka_unit_test(failures_S19_S30_are_listed_and_others_are_tried),
        cmocka_unit_test(facts_S20_of_each_candidate),
        cmocka_unit_test(time_S21_covers_factory_and_profile_and_saturates),
        cmocka_unit_test(compare_S22_each_criterion_in_turn),
        cmocka_unit_test(score_S23_S25_weights),
        cmocka_unit_test(score_S24_of_nothing_is_nothing),
        cmocka_unit_test(score_S26_timing),
        cmocka_unit_test(choice_S27_capability_over_rank),
        cmocka_unit_test(choice_S28_rank_where_the_rest_is_equal),
        cmocka_unit_test(choice_S29_acquisition_time_then_id),
        cmocka_unit_test(none_S31_only_oracles),
        cmocka_unit_test(none_S32_nothing_that_dispatches),
        cmocka_unit_test(none_S33_the_error_says_what_to_do),
        cmocka_unit_test(lists_S34_are_reserved_up_front),
        cmocka_unit_test(trace_S37_failures_and_the_choice),
        cmocka_unit_test(software_devices_are_created_and_dropped),
        cmocka_unit_test(require_gpu_never_gives_anything_else),
        cmocka_unit_test(globs_allow_and_deny),
        cmocka_unit_test(globs_match),
        cmocka_unit_test(grade_and_device_are_respected),
        cmocka_unit_test(selection_survives_every_allocation_that_fails),
        cmocka_unit_test(a_failed_table_ends_the_selection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
