/* A device shows every slot of its backend's contract as it is. */
#include <vyre/memory.h>

#include "runtime/device.h"
#include "tests/unit/contract_check.h"

/* What a device was asked and did in a walk through all of its functions. */
typedef struct walk {
    uint64_t counts[MOCK_SLOT_COUNT];
    vyre_profile profile;
} walk;

static void check_answers(vyre_device *device, const mock_spec *spec, vyre_profile *out_profile) {
    assert_string_equal(vyre_device_id(device), "mock");
    assert_string_equal(vyre_device_version(device), spec->version);
    assert_ptr_equal(vyre_device_supported_ops(device), spec->ops);
    assert_int_equal(vyre_device_features(device), spec->features);
    vyre_device_profile(device, out_profile);
    assert_memory_equal(out_profile->max_workgroup_size, spec->max_workgroup_size,
                        sizeof spec->max_workgroup_size);
    assert_memory_equal(out_profile->max_workgroups_per_dimension, spec->max_workgroups,
                        sizeof spec->max_workgroups);
    assert_int_equal(out_profile->max_invocations_per_workgroup, spec->max_invocations);
    assert_int_equal(out_profile->subgroup_size, spec->subgroup_size);
    assert_int_equal(out_profile->max_storage_buffer_bytes, spec->max_storage_buffer_bytes);
    assert_string_equal(out_profile->backend, "mock");
    assert_string_equal(out_profile->device, spec->profile.device);
    assert_string_equal(out_profile->driver, spec->profile.driver);
    assert_int_equal(out_profile->l2_cache_bytes, spec->profile.l2_cache_bytes);
    assert_int_equal(out_profile->flags, VYRE_PROFILE_HAS_MUL_HIGH | VYRE_PROFILE_SUPPORTS_F16);
    assert_int_equal(out_profile->timing_quality, spec->profile.timing_quality);
}

static void walk_host_runs(vyre_pipeline *pipeline) {
    uint32_t x[CONTRACT_LENGTH], owned[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    const vyre_input input = {x, sizeof x};
    const vyre_output given = {(uint8_t *)owned, sizeof owned};
    vyre_outputs outputs;
    vyre_timing timing;
    vyre_pending *pending;
    expect_ok(vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs));
    expect_ok(vyre_pipeline_dispatch_into(pipeline, &input, 1, NULL, &outputs));
    expect_twice(&outputs);
    const vyre_output arguments[] = {{(uint8_t *)x, sizeof x}, given};
    expect_ok(vyre_pipeline_dispatch_in_place(pipeline, arguments, 2, NULL));
    expect_numbers(owned, CONTRACT_LENGTH, 2);
    expect_ok(vyre_pipeline_dispatch_timed(pipeline, &input, 1, NULL, &outputs, &timing));
    assert_int_equal(timing.device_ns, 700); /* as the mock says */
    expect_twice(&outputs);
    expect_ok(vyre_pipeline_dispatch_async(pipeline, &input, 1, NULL, &pending));
    expect_ok(vyre_pending_await(pending, &outputs));
    vyre_pending_free(pending);
    expect_twice(&outputs);
    uint32_t doubled[CONTRACT_LENGTH];
    const vyre_output places[] = {{(uint8_t *)x, sizeof x}, {(uint8_t *)doubled, sizeof doubled}};
    expect_ok(vyre_pipeline_dispatch_in_place(pipeline, places, 2, NULL));
    assert_int_equal(doubled[1], 2 * x[1]);
    memcpy(owned, x, sizeof x);
    expect_ok(vyre_pipeline_dispatch_owned(pipeline, &given, 1, NULL, &outputs));
    expect_twice(&outputs);
    memcpy(owned, x, sizeof x);
    expect_ok(vyre_pipeline_dispatch_owned_async(pipeline, &given, 1, NULL, &pending));
    expect_ok(vyre_pending_await(pending, &outputs));
    vyre_pending_free(pending);
    expect_twice(&outputs);
}

static void walk_resident_runs(vyre_device *device, vyre_pipeline *pipeline) {
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    vyre_ticket ticket;
    vyre_timing timing;
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
    expect_ok(vyre_device_wait(device, ticket));
    assert_true(vyre_device_is_done(device, ticket));
    expect_resident(device, y, 2);
    expect_ok(vyre_pipeline_dispatch_resident(pipeline, bindings, 2, NULL, &timing));
    assert_int_equal(timing.device_ns, 700);
    expect_ok(vyre_resident_free(device, x));
    expect_ok(vyre_resident_free(device, y));
}

static void walk_shared_memory(vyre_device *device) {
    uint32_t numbers[CONTRACT_LENGTH] = {0};
    const vyre_memory memory = {
        .address = (uintptr_t)numbers, .size = sizeof numbers, .place = VYRE_MEMORY_HOST};
    vyre_resident all, half;
    expect_ok(vyre_resident_import(device, &memory, NULL, NULL, &all));
    expect_ok(vyre_resident_range(device, all, 0, sizeof numbers / 2, &half));
    expect_ok(vyre_resident_fill(device, half, 0, sizeof numbers / 2, &(uint32_t){7}, 4));
    expect_ok(vyre_resident_copy(device, all, sizeof numbers / 2, half, 0, sizeof numbers / 2));
    assert_int_equal(numbers[CONTRACT_LENGTH - 1], 7);
    expect_ok(vyre_resident_free(device, half));
    expect_ok(vyre_resident_free(device, all));
    expect_ok(vyre_memory_pin(numbers, sizeof numbers));
    expect_ok(vyre_memory_unpin(numbers));
}

/* Every function of a device, on a program that needs no phases. */
static void walk_device(uint64_t slots, uint32_t features, walk *out) {
    vyre_op_set ops = *vyre_core_supported_ops(); /* without those that the host would add */
    ops.words[VYRE_OP_GRID_BARRIER / 64] &= ~(UINT64_C(1) << VYRE_OP_GRID_BARRIER % 64);
    ops.words[VYRE_OP_ITERATION / 64] &= ~(UINT64_C(1) << VYRE_OP_ITERATION % 64);
    const mock_spec spec = {
        .slots = slots,
        .version = "7.8",
        .ops = &ops,
        .features = VYRE_FEATURE_F16 | VYRE_FEATURE_SPECULATION | features,
        .max_workgroup_size = {3, 5, 7},
        .max_workgroups = {11, 12, 13},
        .max_invocations = 13,
        .subgroup_size = 17,
        .max_storage_buffer_bytes = 1900,
        .profile = {.device = "a device",
                    .driver = "a driver",
                    .l2_cache_bytes = 23,
                    .flags = VYRE_PROFILE_HAS_MUL_HIGH,
                    .timing_quality = VYRE_TIMING_DEVICE_TIMESTAMPS},
        .without_artifact = true,
        .pipeline_bytes = 1000,
    };
    mock *m = mock_create(&spec);
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    vyre_pipeline *pipeline;
    vyre_cache_counts counts;
    check_answers(device, &spec, &out->profile);
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    walk_host_runs(pipeline);
    walk_resident_runs(device, pipeline);
    walk_shared_memory(device);
    assert_true(vyre_device_backend_cache(device, &counts));
    expect_ok(vyre_device_flush(device));
    mock_lose(m);
    assert_true(vyre_device_lost(device));
    vyre_pipeline_release(pipeline);
    expect_ok(vyre_device_recover(device));
    expect_ok(vyre_device_shutdown(device));
    vyre_program_release(program);
    vyre_device_release(device);
    for (int slot = 0; slot < MOCK_SLOT_COUNT; slot++) {
        out->counts[slot] = mock_count(m, (mock_slot)slot);
    }
    mock_free(m);
}

/* Slot by slot: a device answers what its backend answers and calls what the run needs of it,
 * whether the host splits programs for it or not. */
static void device_R14_shows_every_slot_as_it_is(void **state) {
    (void)state;
    static const uint64_t without[] = {
        0,                                                         /* executables of its own */
        MOCK_BIT(compile_native_shared),                           /* by the other slot */
        MOCK_BIT(compile_native_shared) | MOCK_BIT(compile_native) /* none: through its slots */
    };
    bool reached[MOCK_SLOT_COUNT] = {false};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        walk split, whole;
        walk_device(MOCK_ALL & ~without[i], 0, &split);
        walk_device(MOCK_ALL & ~without[i], CONTRACT_WHOLE, &whole);
        assert_memory_equal(&split.profile, &whole.profile, sizeof whole.profile);
        for (int slot = 0; slot < MOCK_SLOT_COUNT; slot++) {
            reached[slot] = reached[slot] || split.counts[slot];
            if (split.counts[slot] != whole.counts[slot]) {
                fail_msg("%s: %llu calls where the host splits programs, %llu where it does not",
                         mock_slot_name((mock_slot)slot), (unsigned long long)split.counts[slot],
                         (unsigned long long)whole.counts[slot]);
            }
        }
    }
    for (int slot = MOCK_id; slot < MOCK_SLOT_COUNT; slot++) {
        if (!reached[slot]) {
            fail_msg("no function of a device leads to %s", mock_slot_name((mock_slot)slot));
        }
    }
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_R14_shows_every_slot_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
