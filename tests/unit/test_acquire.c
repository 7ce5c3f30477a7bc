/* Acquiring by name: what registrations are, and what becomes of their factories. */
#include "tests/unit/tiny_backends.h"

#include <stdio.h>

#include <vyre/op.h>

#include "runtime/device.h"
#include "tests/unit/failing_allocator.h"

static void acquire_S12_unknown_id(void **state) {
    (void)state;
    tiny_reset();
    tiny[0].id = "vulkan";
    tiny[1].id = "cuda";
    vyre_registry *registry = tiny_registry(2);
    vyre_device *device = (vyre_device *)&registry;
    vyre_status status = vyre_registry_acquire(registry, "opencl", &device);
    assert_null(device);
    assert_string_equal(vyre_status_message(status),
                        "backend `opencl` is not linked into this binary");
    assert_string_equal(
        vyre_status_fix(status),
        "link the driver that registers it or choose a registered id: vulkan, cuda");
    vyre_status_free(status);
    expect_fail(vyre_registry_acquire(registry, "opencl:3", &device), VYRE_STATUS_NOT_FOUND,
                "`opencl` is not");
    expect_fail(vyre_registry_acquire(registry, "vulcan", &device), VYRE_STATUS_NOT_FOUND,
                "backend `vulcan` is not linked into this binary; did you mean `vulkan`");
    assert_int_equal(tiny[0].created + tiny[1].created, 0);
    vyre_registry_free(registry);

    expect_ok(vyre_registry_create(&registry));
    status = vyre_registry_acquire(registry, "a", &device);
    assert_string_equal(vyre_status_fix(status),
                        "link the driver that registers it or choose a registered id");
    vyre_status_free(status);
    vyre_registry_free(registry);
}

static void acquire_S13_S39_passes_the_factory_error_on_unchanged(void **state) {
    (void)state;
    tiny_reset();
    tiny[0].failure = "there is no such card here. Fix: plug one in";
    tiny[1].failure = "there is no driver";
    vyre_registry *registry = tiny_registry(2);
    vyre_device *device;
    vyre_status status = vyre_registry_acquire(registry, "a", &device);
    assert_int_equal(tiny[0].created, 1);
    assert_null(device);
    assert_ptr_equal(status, tiny[0].returned);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNAVAILABLE);
    assert_string_equal(vyre_status_text(status), tiny[0].failure);
    assert_string_equal(vyre_status_fix(status), "plug one in");
    vyre_status_free(status);
    /* A factory that says nothing of a Fix still returns one. */
    expect_fail(vyre_registry_acquire(registry, "b", &device), VYRE_STATUS_UNAVAILABLE,
                "there is no driver. Fix: ");
    vyre_registry_free(registry);
}

static void acquire_S14_oracles_and_emission_only_backends(void **state) {
    (void)state;
    tiny_reset();
    tiny[0].id = "reference";
    tiny[1].id = "cpu-ref";
    tiny[2].emission_only = true;
    tiny[3].undeclared = true;
    vyre_registry *registry = tiny_registry(4);
    for (size_t i = 0; i < 4; i++) {
        vyre_device *device;
        expect_ok(vyre_registry_acquire(registry, tiny[i].id, &device));
        assert_string_equal(vyre_device_id(device), tiny[i].id);
        assert_int_equal(tiny[i].created, 1);
        vyre_device_release(device);
        assert_int_equal(tiny[i].destroyed, 1);
    }
    vyre_registry_free(registry);
}

static void acquire_takes_the_number_of_a_device(void **state) {
    (void)state;
    tiny_reset();
    vyre_registry *registry = tiny_registry(1);
    vyre_device *device;
    expect_ok(vyre_registry_acquire(registry, "a:7", &device));
    assert_int_equal(tiny[0].last_device, 7);
    assert_string_equal(vyre_device_name(device), "a:7");
    assert_string_equal(vyre_device_id(device), "a");
    vyre_device_release(device);
    expect_ok(vyre_registry_acquire(registry, "a:4294967295", &device));
    assert_int_equal((uint32_t)tiny[0].last_device, 4294967295u);
    vyre_device_release(device);
    static const char *const malformed[] = {"",
                                            ":",
                                            ":1",
                                            "a:",
                                            "a:b",
                                            "a:-1",
                                            "a:4294967296",
                                            "a:1:2",
                                            "a: 1",
                                            "a:+1",
                                            "a:1 ",
                                            "a:0x1",
                                            "a:18446744073709551616"};
    int created = tiny[0].created;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        char text[64];
        snprintf(text, sizeof text, "`%s` does not name a device", malformed[i]);
        expect_fail(vyre_registry_acquire(registry, malformed[i], &device),
                    VYRE_STATUS_INVALID_ARGUMENT, text);
        assert_null(device);
    }
    expect_fail(vyre_registry_acquire(registry, NULL, &device), VYRE_STATUS_INVALID_ARGUMENT,
                "name");
    assert_int_equal(tiny[0].created, created);
    vyre_registry_free(registry);
}

static void acquire_preferred_is_preferred_selection(void **state) {
    (void)state;
    tiny_reset();
    tiny[1].has_profile = true;
    tiny[1].profile.max_storage_buffer_bytes = 1;
    vyre_registry *registry = tiny_registry(2);
    vyre_device *device;
    expect_ok(vyre_registry_acquire(registry, "preferred", &device));
    assert_string_equal(vyre_device_name(device), "b");
    assert_int_equal(tiny[0].created, 1); /* all that dispatch are tried */
    vyre_device_release(device);
    expect_ok(vyre_registry_acquire(registry, "preferred:3", &device));
    assert_string_equal(vyre_device_name(device), "b:3");
    vyre_device_release(device);
    vyre_registry_free(registry);
}

/* The router's word: without a program there is nothing to route. */
static void acquire_refuses_auto_and_names_the_right_word(void **state) {
    (void)state;
    tiny_reset();
    vyre_registry *registry = tiny_registry(1);
    vyre_device *device;
    static const char *const names[] = {"auto", "auto:1"};
    for (size_t i = 0; i < 2; i++) {
        vyre_status status = vyre_registry_acquire(registry, names[i], &device);
        assert_null(device);
        assert_non_null(strstr(vyre_status_fix(status), "use `preferred`"));
        expect_fail(status, VYRE_STATUS_INVALID_ARGUMENT, "`auto` chooses a device for a program");
    }
    assert_int_equal(tiny[0].created, 0);
    vyre_registry_free(registry);
    expect_fail(vyre_acquire("auto", &device), VYRE_STATUS_INVALID_ARGUMENT, "`preferred`");
    expect_fail(vyre_acquire(NULL, &device), VYRE_STATUS_INVALID_ARGUMENT, "does not name");
}

static void acquire_survives_every_allocation_that_fails(void **state) {
    (void)state;
    tiny_reset();
    static const char *const names[] = {"a:1", "nobody"};
    for (size_t k = 0; k < 2; k++) {
        for (size_t n = 1;; n++) {
            vyre_registry *registry = NULL;
            vyre_device *device = NULL;
            failing_allocator_start(n);
            vyre_status status = vyre_registry_create(&registry);
            status = status ? status : vyre_registry_add(registry, tiny_make_bundle(2));
            status = status ? status : vyre_registry_acquire(registry, names[k], &device);
            assert_true(!status == (device != NULL));
            assert_true(!status || strstr(vyre_status_text(status), "Fix: "));
            vyre_device_release(device);
            vyre_status_free(status);
            vyre_registry_free(registry);
            failing_allocator_stop();
            assert_int_equal(tiny[0].created, tiny[0].destroyed);
            if (!failing_allocator_failed()) {
                break;
            }
        }
    }
}

static void ops_S35_the_core_set_is_one_object(void **state) {
    (void)state;
    const vyre_op_set *core = vyre_core_supported_ops();
    assert_ptr_equal(core, vyre_core_supported_ops());
    /* It is what a backend gets that does not say. */
    tiny_reset();
    vyre_registry *registry = tiny_registry(1);
    vyre_device *device;
    expect_ok(vyre_registry_acquire(registry, "a", &device));
    assert_ptr_equal(vyre_device_supported_ops(device), core);
    vyre_device_release(device);
    vyre_registry_free(registry);
    /* It has the operations of the language but messages, which the host takes out, and no other.
     */
    bool known[1024] = {false};
#define KNOWN(name, number, text, shape, rule, effects, cost, doc)                                 \
    known[number] = !((effects)&VYRE_EFFECT_MESSAGE);
    VYRE_OPS(KNOWN)
#undef KNOWN
    for (size_t i = 0; i < 1024; i++) {
        assert_int_equal(core->words[i / 64] >> i % 64 & 1, known[i]);
    }
}

static const vyre_op_set few = {{6}};
static const vyre_op_set *few_ops(void) {
    return &few;
}

static void registration_S38_has_id_factory_and_operations(void **state) {
    (void)state;
    tiny_reset();
    tiny[0].own_id = "impostor";
    vyre_registry *registry = tiny_registry(1);
    vyre_device *device;
    expect_fail(vyre_registry_acquire(registry, "a", &device), VYRE_STATUS_BACKEND,
                "the table of backend `a` gives the ID `impostor`");
    assert_null(device);
    assert_int_equal(tiny[0].created, 1);
    assert_int_equal(tiny[0].destroyed, 1);
    vyre_registry_free(registry);

    /* The provider's set lives as long as the process: it is the same whenever it is asked. */
    static const vyre_registration with_ops = {"few", tiny_create_0, few_ops, NULL};
    static const vyre_bundle bundle = {VYRE_BUNDLE_HEAD, &with_ops, 1, NULL, 0, NULL, 0};
    const vyre_registration *found;
    expect_ok(vyre_registry_create(&registry));
    expect_ok(vyre_registry_add(registry, &bundle));
    expect_ok(vyre_registry_find(registry, "few", &found));
    assert_string_equal(found->id, "few");
    assert_ptr_equal(found->create, tiny_create_0);
    const vyre_op_set *ops = found->supported_ops();
    vyre_registry_free(registry);
    assert_ptr_equal(ops, with_ops.supported_ops());
    assert_int_equal(ops->words[0], 6);

    /* And the backend must keep to it: this one has the core set. */
    tiny_reset();
    static const vyre_registration untrue = {"a", tiny_create_0, few_ops, NULL};
    static const vyre_registration just = {"a", tiny_create_0, vyre_core_supported_ops, NULL};
    expect_fail(vyre_registration_acquire(&untrue, 0, &device), VYRE_STATUS_BACKEND,
                "supports other operations than its registration says");
    assert_null(device);
    assert_int_equal(tiny[0].destroyed, 1);
    expect_ok(vyre_registration_acquire(&just, 0, &device));
    vyre_device_release(device);
}

/* The sum of all of x in each element of y: an element waits for all others. */
#define SUM_BEHIND_BARRIER                                                                         \
    "program total(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 4 { "              \
    "y[gid] = x[gid]; grid_barrier; var sum = 0u; "                                                \
    "for i in 0..len(x) { sum = sum + y[i]; } grid_barrier; y[gid] = sum; }"

/* Each built-in backend says what it has without being created, and has it then. */
static void registration_S38_of_each_built_in_backend_has_operations(void **state) {
    (void)state;
    size_t count;
    const vyre_registration *const *list = vyre_registry_backends(vyre_registry_default(), &count);
    assert_true(count >= 3);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(list[i]->supported_ops);
        assert_non_null(list[i]->supported_ops());
        assert_ptr_equal(list[i]->supported_ops(), list[i]->supported_ops());
    }
    vyre_device *device;
    expect_ok(vyre_acquire("reference", &device));
    const vyre_registration *found;
    expect_ok(vyre_registry_find(vyre_registry_default(), "reference", &found));
    assert_memory_equal(vyre_device_supported_ops(device), found->supported_ops(),
                        sizeof(vyre_op_set));
    vyre_device_release(device);
}

static void registration_S40_acquiring_gives_the_same_wrapped_kind(void **state) {
    (void)state;
    mock *m = mock_create(
        &(mock_spec){.single_phase = true,
                     .slots = MOCK_BIT(max_workgroup_size) | MOCK_BIT(max_workgroups_per_dimension),
                     .max_workgroup_size = {4, 1, 1},
                     .max_workgroups = {CONTRACT_LENGTH, 1, 1}});
    vyre_registry *registry;
    const vyre_registration *found;
    expect_ok(vyre_registry_create(&registry));
    expect_ok(vyre_registry_add(registry, mock_bundle(m)));
    expect_ok(vyre_registry_find(registry, "mock", &found));
    vyre_device *devices[3];
    expect_ok(vyre_registration_acquire(found, 0, &devices[0]));
    expect_ok(vyre_registry_acquire(registry, "mock", &devices[1]));
    expect_ok(vyre_registry_acquire_preferred(registry, NULL, NULL, &devices[2]));
    vyre_program *program = contract_program(SUM_BEHIND_BARRIER);
    uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    vyre_input input = {x, sizeof x};
    for (size_t i = 0; i < 3; i++) {
        /* The backend has no grid barriers: the host splits the program for each of them. */
        assert_false(vyre_device_features(devices[i]) & VYRE_FEATURE_GRID_SYNC);
        vyre_pipeline *pipeline;
        expect_ok(vyre_device_compile(devices[i], program, NULL, &pipeline));
        assert_non_null(pipeline->sequence);
        vyre_pipeline_release(pipeline);
        vyre_outputs outputs;
        expect_ok(vyre_device_dispatch(devices[i], program, &input, 1, NULL, &outputs));
        assert_int_equal(outputs.count, 1);
        assert_int_equal(outputs.items[0].size, sizeof x);
        for (size_t k = 0; k < CONTRACT_LENGTH; k++) {
            uint32_t sum;
            memcpy(&sum, outputs.items[0].data + k * sizeof sum, sizeof sum);
            assert_int_equal(sum, CONTRACT_LENGTH * (CONTRACT_LENGTH + 1) / 2);
        }
        vyre_outputs_free(&outputs);
    }
    for (size_t i = 0; i < 3; i++) {
        vyre_device_release(devices[i]);
    }
    vyre_program_release(program);
    vyre_registry_free(registry);
    mock_free(m);
}

static void registration_S41_the_raw_factory_gives_the_backend_itself(void **state) {
    (void)state;
    tiny_reset();
    vyre_registry *registry = tiny_registry(1);
    const vyre_registration *found;
    expect_ok(vyre_registry_find(registry, "a", &found));
    vyre_backend raw = {.host = vyre_host_services()};
    expect_ok(found->create(raw.host, 2, &raw));
    assert_ptr_equal(raw.slots, &tiny_plain_slots);
    assert_ptr_equal(raw.slots->dispatch, tiny_dispatch);
    assert_null(raw.slots->compile_native);
    assert_int_equal(tiny[0].last_device, 2);
    assert_string_equal(raw.slots->id(&raw), "a");
    raw.slots->destroy(&raw);
    vyre_registry_free(registry);

    /* The host splits nothing for it: it gets the grid barrier that it does not have. */
    mock *m = mock_create(&(mock_spec){.single_phase = true});
    vyre_program *program = contract_program(SUM_BEHIND_BARRIER);
    uint32_t x[CONTRACT_LENGTH] = {0}, y[CONTRACT_LENGTH];
    const vyre_input input = {x, sizeof x};
    vyre_output output = {(uint8_t *)y, sizeof y};
    vyre_plan plan;
    raw = (vyre_backend){.host = vyre_host_services()};
    expect_ok(mock_bundle(m)->registrations[0].create(raw.host, 0, &raw));
    expect_ok(vyre_plan_init(&plan, program, &input, 1, vyre_config_or_default(NULL)));
    const vyre_call call = vyre_plan_call(&plan, &input, NULL);
    expect_fail(raw.slots->dispatch(&raw, &call, &output), VYRE_STATUS_UNSUPPORTED,
                "the mock runs no program with a grid barrier");
    vyre_plan_deinit(&plan);
    vyre_program_release(program);
    mock_free(m);

    vyre_device *device;
    expect_fail(vyre_registration_acquire(NULL, 0, &device), VYRE_STATUS_INVALID_ARGUMENT,
                "the registration is NULL");
    assert_null(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acquire_S12_unknown_id),
        cmocka_unit_test(acquire_S13_S39_passes_the_factory_error_on_unchanged),
        cmocka_unit_test(acquire_S14_oracles_and_emission_only_backends),
        cmocka_unit_test(acquire_takes_the_number_of_a_device),
        cmocka_unit_test(acquire_preferred_is_preferred_selection),
        cmocka_unit_test(acquire_refuses_auto_and_names_the_right_word),
        cmocka_unit_test(acquire_survives_every_allocation_that_fails),
        cmocka_unit_test(ops_S35_the_core_set_is_one_object),
        cmocka_unit_test(registration_S38_has_id_factory_and_operations),
        cmocka_unit_test(registration_S38_of_each_built_in_backend_has_operations),
        cmocka_unit_test(registration_S40_acquiring_gives_the_same_wrapped_kind),
        cmocka_unit_test(registration_S41_the_raw_factory_gives_the_backend_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
