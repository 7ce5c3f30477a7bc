/* The contract table: what is required, what each hole is filled with, and what the host makes of
 * tables that are not as they should be. */
#include <stdio.h>

#include <vyre/reference.h>

#include "runtime/device.h"
#include "tests/unit/contract_check.h"

static const uint32_t all_features = 0
#define FEATURE(name, bit, text) | VYRE_FEATURE_##name
    VYRE_FEATURES(FEATURE)
#undef FEATURE
    ;

/* The least a backend can be, written out as an author would. */
static const char *least_id(const vyre_backend *backend) {
    (void)backend;
    return "least";
}

static vyre_status least_dispatch(const vyre_backend *backend, const vyre_call *call,
                                  vyre_output *outputs) {
    (void)backend;
    vyre_outputs own;
    vyre_status status = vyre_reference_run(call->program, call->inputs, call->input_count,
                                            call->config, NULL, &own);
    for (size_t i = 0; i < own.count; i++) {
        memcpy(outputs[i].data, own.items[i].data, own.items[i].size);
    }
    vyre_outputs_free(&own);
    return status;
}

static const vyre_backend_slots least = {
    VYRE_BACKEND_HEAD,
    .id = least_id,
    .dispatch = least_dispatch,
};

static vyre_status open_table(const vyre_backend_slots *slots, vyre_device **out_device) {
    vyre_backend made = {slots, NULL, vyre_host_services()};
    return vyre_device_open(&made, "least", 0, out_device);
}

static void slots_S48_id_and_dispatch_are_enough(void **state) {
    (void)state;
    vyre_device *device;
    expect_ok(open_table(&least, &device));
    expect_works(device);
    assert_string_equal(vyre_device_id(device), "least");
    vyre_device_release(device);
}

static void slots_S48_missing_required_ones_are_refused(void **state) {
    (void)state;
    vyre_device *device;
    vyre_backend_slots table = least;
    table.id = NULL;
    expect_fail(open_table(&table, &device), VYRE_STATUS_BACKEND, "least");
    assert_null(device);
    table = least;
    table.dispatch = NULL;
    expect_fail(open_table(&table, &device), VYRE_STATUS_BACKEND, "dispatch");
    expect_fail(open_table(NULL, &device), VYRE_STATUS_BACKEND, "least");
}

static void slots_S48_no_hole_is_left(void **state) {
    (void)state;
    vyre_backend made = {&least, NULL, vyre_host_services()};
    vyre_backend *adopted;
    expect_ok(vyre_backend_adopt(&made, "least", &adopted));
#define IS_THERE(name) assert_non_null(adopted->slots->name);
    VYRE_OPTIONAL_SLOTS(IS_THERE)
    vyre_backend_drop(adopted);

    vyre_pipeline_slots pipeline = {VYRE_PIPELINE_HEAD, .dispatch = NULL};
    expect_ok(vyre_backend_adopt(&made, "least", &adopted));
    vyre_native *native;
    expect_ok(vyre_native_adopt(&(vyre_native){.slots = &pipeline}, adopted, &native));
#undef IS_THERE
#define IS_THERE(name) assert_non_null(native->slots->name);
    VYRE_PIPELINE_SLOTS(IS_THERE)
#undef IS_THERE
    vyre_native_drop(native);
    vyre_backend_drop(adopted);
}

/* Each slot alone, so that no default rests on another slot being absent too. */
static void slots_S48_any_one_slot_may_be_there(void **state) {
    (void)state;
    for (int slot = MOCK_dispatch + 1; slot < MOCK_execution; slot++) {
        mock *m = mock_create(&(mock_spec){.slots = UINT64_C(1) << slot,
                                           .max_workgroup_size = {4, 4, 4},
                                           .features = all_features});
        vyre_device *device = contract_device(m);
        expect_works(device);
        vyre_device_release(device);
        mock_free(m);
    }
}

static const char *no_version(const vyre_backend *backend) {
    (void)backend;
    return NULL;
}

static const vyre_op_set *no_ops(const vyre_backend *backend) {
    (void)backend;
    return NULL;
}

static void slots_that_give_nothing_are_refused(void **state) {
    (void)state;
    vyre_device *device;
    vyre_backend_slots table = least;
    table.version = no_version;
    expect_fail(open_table(&table, &device), VYRE_STATUS_BACKEND, "`version`");
    table = least;
    table.supported_ops = no_ops;
    expect_fail(open_table(&table, &device), VYRE_STATUS_BACKEND, "`supported_ops`");
    assert_null(device);
}

static void slots_S49_the_marker_is_required(void **state) {
    (void)state;
    vyre_device *device;
    vyre_backend_slots table = least;
    table.marker = 0;
    expect_fail(open_table(&table, &device), VYRE_STATUS_BACKEND, "magic number");
    assert_null(device);
    table.marker = VYRE_BACKEND_MARKER + 1;
    expect_fail(open_table(&table, &device), VYRE_STATUS_BACKEND, "least");
}

static void slots_another_abi_is_refused(void **state) {
    (void)state;
    vyre_device *device;
    const uint32_t others[] = {0, VYRE_ABI + 1, VYRE_ABI - (1u << 16), VYRE_ABI + (1u << 16)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        vyre_backend_slots table = least;
        table.abi = others[i];
        expect_fail(open_table(&table, &device), VYRE_STATUS_BACKEND, "ABI");
        assert_null(device);
    }
}

static void slots_too_short_a_table_is_refused(void **state) {
    (void)state;
    vyre_device *device;
    const size_t sizes[] = {0, 4, offsetof(vyre_backend_slots, id),
                            offsetof(vyre_backend_slots, dispatch),
                            offsetof(vyre_backend_slots, version) - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        vyre_backend_slots table = least;
        table.struct_size = (uint32_t)sizes[i];
        expect_fail(open_table(&table, &device), VYRE_STATUS_BACKEND, "least");
    }
}

/* What stands behind the end of a table is not looked at. */
static void slots_shorter_tables_get_defaults(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_ALL, .version = "seven"});
    mock_table(m)->struct_size = offsetof(vyre_backend_slots, supported_ops) + 4; /* half a slot */
    memset(&mock_table(m)->supported_ops, 0xff,
           sizeof *mock_table(m) - offsetof(vyre_backend_slots, supported_ops));
    vyre_device *device = contract_device(m);
    assert_string_equal(vyre_device_version(device), "seven");
    assert_memory_equal(vyre_device_supported_ops(device), vyre_core_supported_ops(),
                        sizeof(vyre_op_set));
    assert_int_equal(vyre_device_features(device) &
                         (uint32_t) ~(VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC),
                     0);
    expect_works(device);
    vyre_device_release(device);
    assert_int_equal(mock_count(m, MOCK_destroy), 0);
    mock_free(m);
}

static void slots_longer_tables_are_accepted(void **state) {
    (void)state;
    struct {
        vyre_backend_slots slots;
        void *later[4];
    } table = {least, {&table, &table, &table, &table}};
    table.slots.struct_size = sizeof table;
    vyre_device *device;
    expect_ok(open_table(&table.slots, &device));
    expect_works(device);
    vyre_device_release(device);
}

static void slots_S50_the_id_is_the_registrations(void **state) {
    (void)state;
    vyre_device *device;
    vyre_backend made = {&least, NULL, vyre_host_services()};
    expect_fail(vyre_device_open(&made, "other", 0, &device), VYRE_STATUS_BACKEND, "other");
    assert_null(device);
    expect_ok(vyre_device_open(&made, "least", 0, &device));
    assert_string_equal(vyre_device_id(device), "least");
    assert_ptr_equal(vyre_device_id(device), vyre_device_id(device));
    vyre_profile profile;
    vyre_device_profile(device, &profile);
    assert_string_equal(profile.backend, "least");
    vyre_device_release(device);
}

static void slots_S50_what_was_made_is_destroyed_when_refused(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_BIT(destroy)});
    vyre_backend made = mock_made(m);
    vyre_device *device;
    expect_fail(vyre_device_open(&made, "other", 0, &device), VYRE_STATUS_BACKEND, "mock");
    assert_int_equal(mock_count(m, MOCK_destroy), 1);
    mock_free(m);
}

static void slots_names_of_devices(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){0});
    vyre_device *device;
    expect_ok(mock_open_index(m, 0, &device));
    assert_string_equal(vyre_device_name(device), "mock");
    vyre_device_release(device);
    expect_ok(mock_open_index(m, 3, &device));
    assert_string_equal(vyre_device_name(device), "mock:3");
    assert_string_equal(vyre_device_id(device), "mock");
    vyre_device_release(device);
    mock_free(m);
}

static void slots_S51_version(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.version = "1.2"});
    vyre_device *device = contract_device(m);
    assert_string_equal(vyre_device_version(device), "unspecified");
    vyre_device_release(device);
    mock_free(m);
    m = mock_create(&(mock_spec){.version = "1.2", .slots = MOCK_BIT(version)});
    device = contract_device(m);
    assert_string_equal(vyre_device_version(device), "1.2");
    vyre_device_release(device);
    mock_free(m);
}

static void slots_S52_supported_ops(void **state) {
    (void)state;
    vyre_backend made = {&least, NULL, vyre_host_services()};
    vyre_backend *adopted;
    expect_ok(vyre_backend_adopt(&made, "least", &adopted));
    assert_ptr_equal(adopted->slots->supported_ops(adopted), vyre_core_supported_ops());
    vyre_backend_drop(adopted);

    mock *m = mock_create(&(mock_spec){0});
    vyre_device *device = contract_device(m);
    assert_memory_equal(vyre_device_supported_ops(device), vyre_core_supported_ops(),
                        sizeof(vyre_op_set));
    vyre_device_release(device);
    mock_free(m);

    vyre_op_set few = *vyre_core_supported_ops();
    few.words[VYRE_OP_MUL / 64] &= ~(UINT64_C(1) << VYRE_OP_MUL % 64);
    m = mock_create(&(mock_spec){.ops = &few, .slots = MOCK_BIT(supported_ops)});
    device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    uint32_t x[CONTRACT_LENGTH] = {0};
    vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    expect_fail(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs),
                VYRE_STATUS_UNSUPPORTED, "mul");
    vyre_pipeline *pipeline;
    expect_fail(vyre_device_compile(device, program, NULL, &pipeline), VYRE_STATUS_UNSUPPORTED,
                "mul");
    assert_null(pipeline);
    assert_int_equal(mock_count(m, MOCK_dispatch), 0);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

/* A backend gets programs as bytes of the wire form and as nothing else: neither table nor services
 * have a place for source text. */
static void slots_S53_programs_are_no_text(void **state) {
    (void)state;
    const vyre_host *host = vyre_host_services();
    vyre_program *program = contract_program(TWICE);
    uint8_t *bytes;
    size_t size;
    expect_ok(host->program_wire(program, &bytes, &size));
    static const char *const words[] = {"program ", "buffer<", "y[gid]", "over "};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        size_t length = strlen(words[w]);
        for (size_t i = 0; i + length <= size; i++) {
            assert_memory_not_equal(bytes + i, words[w], length);
        }
    }
    host->free(bytes);
    FILE *header = fopen("include/vyre/backend.h", "r");
    assert_non_null(header);
    char line[256];
    while (fgets(line, sizeof line, header)) {
        assert_null(strstr(line, "_source"));
        assert_null(strstr(line, "_shader"));
        assert_null(strstr(line, "_text)(const vyre_backend"));
    }
    fclose(header);
    vyre_program_release(program);
}

static void slots_host_services(void **state) {
    (void)state;
    const vyre_host *host = vyre_host_services();
    assert_ptr_equal(host, vyre_host_services());
    assert_int_equal(host->struct_size, sizeof *host);
    assert_int_equal(host->abi, VYRE_ABI);
    vyre_status status = host->status_make(VYRE_FAIL_TIMEOUT, "wait longer", "too 100%s slow");
    assert_int_equal(host->status_code(status), VYRE_FAIL_TIMEOUT);
    assert_non_null(strstr(host->status_text(status), "too 100%s slow"));
    assert_non_null(strstr(host->status_text(status), "Fix: wait longer"));
    host->status_free(status);
    status = host->status_make(12345, NULL, "what is this");
    assert_int_equal(host->status_code(status), VYRE_FAIL_BACKEND);
    assert_non_null(strstr(host->status_text(status), "Fix: "));
    host->status_free(status);
    void *memory = host->alloc(100);
    assert_non_null(memory);
    memset(memory, 1, 100);
    host->free(memory);
    vyre_program *program = contract_program(TWICE_BY("t"));
    vyre_program *renamed = contract_program(TWICE_BY("u"));
    assert_string_equal(host->program_name(program), "twice");
    uint64_t left[2], right[2];
    host->program_digest(program, left);
    host->program_digest(renamed, right);
    assert_memory_equal(left, right, sizeof left);
    assert_ptr_equal(host->program_retain(program), program);
    host->program_release(program);
    host->log(99, "a level that there is not is no trouble");
    vyre_program_release(program);
    vyre_program_release(renamed);
}

static void slots_S69_features_are_off(void **state) {
    (void)state;
    vyre_backend made = {&least, NULL, vyre_host_services()};
    vyre_backend *adopted;
    expect_ok(vyre_backend_adopt(&made, "least", &adopted));
    uint32_t features = adopted->slots->features(adopted);
#define IS_OFF(name, bit, text) assert_false(features &VYRE_FEATURE_##name);
    VYRE_FEATURES(IS_OFF)
#undef IS_OFF
    assert_int_equal(features, 0);
    vyre_backend_drop(adopted);
}

static void slots_S69_features_are_the_backends(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_BIT(features), .features = all_features});
    vyre_device *device = contract_device(m);
    assert_int_equal(vyre_device_features(device), all_features);
    vyre_device_release(device);
    mock_free(m);
}

/* The default profile says of each capability what the slots say, and claims nothing else. */
/* What a profile says of features goes by the slot `features`, whatever stands in the profile. */
static void slots_S70_a_profile_claims_no_more_than_the_slots(void **state) {
    (void)state;
    const uint64_t claims = VYRE_PROFILE_SUPPORTS_SUBGROUP_OPS | VYRE_PROFILE_SUPPORTS_F16 |
                            VYRE_PROFILE_SUPPORTS_BF16 | VYRE_PROFILE_SUPPORTS_TENSOR_CORES |
                            VYRE_PROFILE_SUPPORTS_INDIRECT_DISPATCH;
    mock *m = mock_create(&(mock_spec){
        .slots = MOCK_BIT(device_profile) | MOCK_BIT(features),
        .features = VYRE_FEATURE_F16,
        .profile = {.flags = claims | VYRE_PROFILE_HAS_MUL_HIGH},
    });
    vyre_device *device = contract_device(m);
    vyre_profile profile;
    vyre_device_profile(device, &profile);
    assert_int_equal(profile.flags, VYRE_PROFILE_SUPPORTS_F16 | VYRE_PROFILE_HAS_MUL_HIGH);
    vyre_device_release(device);
    mock_free(m);
}

static void slots_S70_the_default_profile_claims_no_more_than_the_slots(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits <= all_features; bits++) {
        mock *m = mock_create(&(mock_spec){.slots = MOCK_BIT(features), .features = bits});
        vyre_backend made = mock_made(m);
        vyre_backend *adopted;
        expect_ok(vyre_backend_adopt(&made, "mock", &adopted));
        vyre_profile profile = {0};
        adopted->slots->device_profile(adopted, &profile);
        static const uint32_t same[][2] = {
            {VYRE_FEATURE_SUBGROUP_OPS, VYRE_PROFILE_SUPPORTS_SUBGROUP_OPS},
            {VYRE_FEATURE_SUBGROUP_OPS, VYRE_PROFILE_HAS_SUBGROUP_SHUFFLE},
            {VYRE_FEATURE_F16, VYRE_PROFILE_SUPPORTS_F16},
            {VYRE_FEATURE_BF16, VYRE_PROFILE_SUPPORTS_BF16},
            {VYRE_FEATURE_TENSOR_CORES, VYRE_PROFILE_SUPPORTS_TENSOR_CORES},
            {VYRE_FEATURE_INDIRECT_DISPATCH, VYRE_PROFILE_SUPPORTS_INDIRECT_DISPATCH},
        };
        uint64_t flags = 0;
        for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
            flags |= bits & same[i][0] ? same[i][1] : 0;
        }
        assert_int_equal(profile.flags, flags);
        vyre_backend_drop(adopted);
        mock_free(m);
    }
}

static vyre_profile profile_of(const vyre_device *device) {
    vyre_profile profile;
    vyre_device_profile(device, &profile);
    return profile;
}

static void limits_S72_workgroups(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){0});
    vyre_device *device = contract_device(m);
    static const uint32_t ones[3] = {1, 1, 1};
    vyre_profile profile = profile_of(device);
    assert_memory_equal(profile.max_workgroup_size, ones, sizeof ones);
    assert_memory_equal(profile.max_workgroups_per_dimension, ones, sizeof ones);
    vyre_device_release(device);
    mock_free(m);
}

static void limits_S73_invocations_are_the_product(void **state) {
    (void)state;
    static const struct {
        uint32_t size[3], product;
    } cases[] = {
        {{1, 1, 1}, 1},
        {{8, 4, 2}, 64},
        {{1024, 1024, 64}, 67108864},
        {{65536, 65536, 1}, UINT32_MAX},
        {{65536, 65535, 1}, 4294901760u},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, UINT32_MAX},
        {{UINT32_MAX, 1, 1}, UINT32_MAX},
        {{UINT32_MAX, UINT32_MAX, 0}, 0},
        {{0x80000000u, 0x80000000u, 4}, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mock_spec spec = {.slots = MOCK_BIT(max_workgroup_size)};
        memcpy(spec.max_workgroup_size, cases[i].size, sizeof spec.max_workgroup_size);
        mock *m = mock_create(&spec);
        vyre_device *device = contract_device(m);
        assert_int_equal(profile_of(device).max_invocations_per_workgroup, cases[i].product);
        vyre_device_release(device);
        mock_free(m);
    }
    mock *m = mock_create(&(mock_spec){.slots = MOCK_BIT(max_workgroup_size) |
                                                MOCK_BIT(max_invocations_per_workgroup),
                                       .max_workgroup_size = {64, 64, 64},
                                       .max_invocations = 256});
    vyre_device *device = contract_device(m);
    assert_int_equal(profile_of(device).max_invocations_per_workgroup, 256);
    vyre_device_release(device);
    mock_free(m);
}

static void limits_S74_subgroup_size(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.subgroup_size = 32});
    vyre_device *device = contract_device(m);
    assert_int_equal(profile_of(device).subgroup_size, 0);
    vyre_device_release(device);
    mock_free(m);
    m = mock_create(&(mock_spec){.slots = MOCK_BIT(subgroup_size), .subgroup_size = 32});
    device = contract_device(m);
    assert_int_equal(profile_of(device).subgroup_size, 32);
    vyre_device_release(device);
    mock_free(m);
}

/* 0 is "not reported": a buffer is neither refused for it, nor does anybody see another number. */
/* What is advised is a multiple of the subgroup where it is known, else the largest workgroup. */
static void limits_S74_planned_workgroups(void **state) {
    (void)state;
    static const struct {
        uint32_t subgroup, most, expected;
    } rows[] = {{0, 100, 100}, {32, 100, 96}, {32, 128, 128}, {32, 20, 20}, {1, 77, 77}};
    vyre_program *program =
        contract_program("program p(x: inout buffer<u32>) over x workgroup 1000 { x[gid] = lid; }");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mock *m = mock_create(&(mock_spec){
            .slots = MOCK_BIT(subgroup_size) | MOCK_BIT(max_workgroup_size),
            .subgroup_size = rows[i].subgroup,
            .max_workgroup_size = {rows[i].most, 1, 1},
        });
        vyre_device *device = contract_device(m);
        vyre_profile profile;
        char advice[64];
        vyre_pipeline *pipeline;
        vyre_device_profile(device, &profile);
        assert_int_equal(vyre_profile_workgroup(&profile), rows[i].expected);
        snprintf(advice, sizeof advice, "a workgroup of at most %u,", rows[i].expected);
        expect_fail(vyre_device_compile(device, program, NULL, &pipeline), VYRE_STATUS_UNSUPPORTED,
                    advice);
        vyre_device_release(device);
        mock_free(m);
    }
    vyre_program_release(program);
}

/* A limit that is not reported is not the lack of one. */
static void limits_S75_not_reported_is_not_unlimited(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){0});
    vyre_device *device = contract_device(m);
    vyre_program *program =
        contract_program("program p(n: u32, y: out buffer<u32>[n]) over 1 { y[gid] = 7; }");
    uint32_t n = VYRE_UNREPORTED_STORAGE_BYTES / sizeof(uint32_t) + 1;
    const vyre_input input = {&n, sizeof n};
    vyre_outputs outputs;
    expect_fail(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs), VYRE_STATUS_LIMIT,
                "does not report");
    assert_int_equal(mock_count(m, MOCK_dispatch), 0);
    n = 16;
    expect_ok(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs));
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
    vyre_device_release(device);
    mock_free(m);
}

static void limits_S75_storage_buffers(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){0});
    vyre_device *device = contract_device(m);
    assert_int_equal(profile_of(device).max_storage_buffer_bytes, 0);
    expect_works(device);
    vyre_device_release(device);
    mock_free(m);

    m = mock_create(&(mock_spec){.slots = MOCK_BIT(max_storage_buffer_bytes),
                                 .max_storage_buffer_bytes = 4096});
    device = contract_device(m);
    assert_int_equal(profile_of(device).max_storage_buffer_bytes, 4096);
    vyre_device_release(device);
    mock_free(m);
}

static void profile_S76_default(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_BIT(features) | MOCK_BIT(max_workgroup_size) |
                                                MOCK_BIT(subgroup_size) |
                                                MOCK_BIT(max_storage_buffer_bytes),
                                       .features = all_features,
                                       .max_workgroup_size = {8, 4, 2},
                                       .subgroup_size = 16,
                                       .max_storage_buffer_bytes = 1 << 20});
    vyre_device *device = contract_device(m);
    vyre_profile found;
    memset(&found, 0xff, sizeof found);
    vyre_device_profile(device, &found);
    vyre_profile expected = {
        .backend = "mock",
        .flags = VYRE_PROFILE_SUPPORTS_SUBGROUP_OPS | VYRE_PROFILE_SUPPORTS_INDIRECT_DISPATCH |
                 VYRE_PROFILE_SUPPORTS_F16 | VYRE_PROFILE_SUPPORTS_BF16 |
                 VYRE_PROFILE_SUPPORTS_TENSOR_CORES | VYRE_PROFILE_HAS_SUBGROUP_SHUFFLE,
        .max_native_int_width = 32,
        .max_invocations_per_workgroup = 64,
        .max_storage_buffer_bytes = 1 << 20,
        .subgroup_size = 16,
        .max_workgroup_size = {8, 4, 2},
    };
    assert_string_equal(found.backend, expected.backend);
    assert_string_equal(found.device, "");
    assert_string_equal(found.driver, "");
#define IS_SAME(field) assert_int_equal(found.field, expected.field);
    VYRE_PROFILE_NUMBERS(IS_SAME)
    IS_SAME(flags)
#undef IS_SAME
    for (int i = 0; i < 3; i++) {
        assert_int_equal(found.max_workgroup_size[i], expected.max_workgroup_size[i]);
        assert_int_equal(found.ideal_workgroup_tile[i], 0);
    }
    assert_int_equal(found.timing_quality, VYRE_TIMING_HOST_ONLY);
    assert_int_equal(found.grade, VYRE_GRADE_EXACT);
    vyre_device_release(device);
    mock_free(m);
}

static void profile_S76_without_any_slot(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){0});
    vyre_device *device = contract_device(m);
    vyre_profile found;
    vyre_device_profile(device, &found);
    assert_int_equal(found.flags, 0);
#define IS_ZERO(field)                                                                             \
    assert_int_equal(found.field, !strcmp(#field, "max_native_int_width")            ? 32          \
                                  : !strcmp(#field, "max_invocations_per_workgroup") ? 1           \
                                                                                     : 0);
    VYRE_PROFILE_NUMBERS(IS_ZERO)
#undef IS_ZERO
    vyre_device_release(device);
    mock_free(m);
}

static void profile_is_the_backends_where_it_has_one(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_BIT(device_profile),
                                       .profile = {.device = "card",
                                                   .driver = "9",
                                                   .flags = VYRE_PROFILE_IS_GPU,
                                                   .compute_units = 7,
                                                   .timing_quality = VYRE_TIMING_DEVICE_TIMESTAMPS,
                                                   .grade = VYRE_GRADE_NORMAL_RANGE}});
    vyre_device *device = contract_device(m);
    vyre_profile found;
    vyre_device_profile(device, &found);
    assert_string_equal(found.device, "card");
    assert_string_equal(found.driver, "9");
    assert_int_equal(found.flags, VYRE_PROFILE_IS_GPU);
    assert_int_equal(found.compute_units, 7);
    assert_int_equal(found.timing_quality, VYRE_TIMING_DEVICE_TIMESTAMPS);
    assert_int_equal(found.grade, VYRE_GRADE_NORMAL_RANGE);
    assert_int_equal(found.max_native_int_width, 0);
    vyre_device_release(device);
    mock_free(m);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_S48_id_and_dispatch_are_enough),
        cmocka_unit_test(slots_S48_missing_required_ones_are_refused),
        cmocka_unit_test(slots_S48_no_hole_is_left),
        cmocka_unit_test(slots_S48_any_one_slot_may_be_there),
        cmocka_unit_test(slots_that_give_nothing_are_refused),
        cmocka_unit_test(slots_S49_the_marker_is_required),
        cmocka_unit_test(slots_another_abi_is_refused),
        cmocka_unit_test(slots_too_short_a_table_is_refused),
        cmocka_unit_test(slots_shorter_tables_get_defaults),
        cmocka_unit_test(slots_longer_tables_are_accepted),
        cmocka_unit_test(slots_S50_the_id_is_the_registrations),
        cmocka_unit_test(slots_S50_what_was_made_is_destroyed_when_refused),
        cmocka_unit_test(slots_names_of_devices),
        cmocka_unit_test(slots_S51_version),
        cmocka_unit_test(slots_S52_supported_ops),
        cmocka_unit_test(slots_S53_programs_are_no_text),
        cmocka_unit_test(slots_host_services),
        cmocka_unit_test(slots_S69_features_are_off),
        cmocka_unit_test(slots_S69_features_are_the_backends),
        cmocka_unit_test(slots_S70_the_default_profile_claims_no_more_than_the_slots),
        cmocka_unit_test(slots_S70_a_profile_claims_no_more_than_the_slots),
        cmocka_unit_test(limits_S72_workgroups),
        cmocka_unit_test(limits_S73_invocations_are_the_product),
        cmocka_unit_test(limits_S74_subgroup_size),
        cmocka_unit_test(limits_S74_planned_workgroups),
        cmocka_unit_test(limits_S75_storage_buffers),
        cmocka_unit_test(limits_S75_not_reported_is_not_unlimited),
        cmocka_unit_test(profile_S76_default),
        cmocka_unit_test(profile_S76_without_any_slot),
        cmocka_unit_test(profile_is_the_backends_where_it_has_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
