/* Honest capability: whatever a backend claims it must do, by itself and in the open. Each claim of
 * each backend that is built in is put to the test, without the sequences that would help it. */
#include <vyre/reference.h>

#include "backend/table.h"
#include "registry/registry.h"
#include "runtime/plan.h"
#include "tests/unit/contract_check.h"

/* Programs that need a feature, and inputs of eight numbers where they take any. */
static const struct {
    uint32_t feature;
    const char *text;
} proofs[] = {
    {VYRE_FEATURE_PHASES,
     "program phases(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch t: u32[len(x)]; "
     "phase a over x { t[gid] = x[gid] + 1; } phase b over x { y[gid] = t[7 - gid]; } }"},
    {VYRE_FEATURE_PHASES,
     "program repeated(x: buffer<u32>, y: out buffer<u32>[len(x)]) { repeat 5 { phase a over x { "
     "y[gid] = y[gid] + x[gid]; } phase b over x { y[gid] = y[gid] * 3; } } }"},
    {VYRE_FEATURE_PHASES,
     "program some(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch n: u32[1]; phase a over 1 "
     "{ n[0] = x[2]; } phase b over n[0] max len(x) { y[gid] = x[gid] * 2; } }"},
    {VYRE_FEATURE_PHASES,
     "program until(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch go: u32[1]; phase a over "
     "1 { go[0] = 5; } repeat while go[0] { phase b over x { y[gid] = y[gid] + x[gid]; } phase c "
     "over 1 { go[0] = go[0] - 1; } } }"},
    {VYRE_FEATURE_GRID_SYNC,
     "program turned(x: buffer<u32>, t: inout buffer<u32>, y: out buffer<u32>[len(x)]) over x "
     "workgroup 2 { t[gid] = x[gid] * 3; grid_barrier; y[gid] = t[7 - gid]; }"},
    {VYRE_FEATURE_SUBGROUP_OPS,
     "program lanes(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 32 { let v = "
     "subgroup_add(x[gid]); if in_domain { y[gid] = v; } }"},
    {VYRE_FEATURE_TENSOR_CORES,
     "program tile(x: buffer<u32>, y: out buffer<i32>[len(x)]) over x workgroup 32 { let (d, _e, "
     "_f, _g) = subgroup_matrix_mad(x[lane % 8], lane, x[lane / 4], ~lane, x[7 - lane % 8], lane "
     "* 77, 1, i32(lane), 0, -1); if in_domain { y[gid] = d; } }"},
    {VYRE_FEATURE_F16,
     "program halves(x: buffer<u32>, y: out buffer<f16>[len(x)]) over x { y[gid] = f16(x[gid]) / "
     "f16(3.0); }"},
    {VYRE_FEATURE_BF16,
     "program brains(x: buffer<u32>, y: out buffer<bf16>[len(x)]) over x { y[gid] = bf16(x[gid]) / "
     "bf16(3.0); }"},
};
enum { PROOFS = sizeof proofs / sizeof *proofs };

/* Whether a backend gives the reference's bytes, when asked directly. */
static bool runs(const vyre_backend *backend, const char *text) {
    vyre_program *program = contract_program(text);
    uint32_t x[2][CONTRACT_LENGTH];
    contract_numbers(x[0], CONTRACT_LENGTH);
    contract_numbers(x[1], CONTRACT_LENGTH);
    const vyre_input inputs[] = {{x[0], sizeof x[0]}, {x[1], sizeof x[1]}};
    const vyre_dispatch_config config = {0};
    size_t count = strstr(text, "inout") ? 2 : 1;
    vyre_outputs expected;
    expect_ok(vyre_reference_run(program, inputs, count, NULL, NULL, &expected));
    vyre_plan plan;
    expect_ok(vyre_plan_init(&plan, program, inputs, count, &config));
    uint8_t found[2][sizeof x[0]];
    vyre_output outputs[2];
    for (size_t i = 0; i < expected.count; i++) {
        outputs[i] = (vyre_output){found[i], expected.items[i].size};
    }
    vyre_call call = vyre_plan_call(&plan, inputs, NULL);
    vyre_status status = backend->slots->dispatch_borrowed(backend, &call, outputs);
    bool same = !status;
    for (size_t i = 0; same && i < expected.count; i++) {
        same = !memcmp(found[i], expected.items[i].data, expected.items[i].size);
    }
    vyre_status_free(status);
    vyre_plan_deinit(&plan);
    vyre_outputs_free(&expected);
    vyre_program_release(program);
    return same;
}

/* The first claim that is not true; NULL if the backend is honest. A claim that nothing here can
 * test is not believed. */
static const char *find_lie(const vyre_backend *backend) {
    static const struct {
        uint32_t bit;
        const char *name;
    } features[] = {
#define ROW(name, bit, text) {VYRE_FEATURE_##name, text},
        VYRE_FEATURES(ROW)
#undef ROW
    };
    uint32_t claimed = backend->slots->features(backend);
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        size_t tested = 0;
        bool claims = claimed & features[i].bit;
        for (size_t p = 0; p < PROOFS && claims; p++) {
            if (proofs[p].feature == features[i].bit) {
                tested++;
                if (!runs(backend, proofs[p].text)) {
                    return features[i].name;
                }
            }
        }
        if (claims && !tested) {
            return features[i].name;
        }
    }
    vyre_profile profile = {0};
    backend->slots->device_profile(backend, &profile);
    /* Of the rest of what features mean the host sees to it itself. */
    if ((profile.flags & VYRE_PROFILE_HAS_SUBGROUP_SHUFFLE) &&
        !(claimed & VYRE_FEATURE_SUBGROUP_OPS)) {
        return "profile";
    }
    return NULL;
}

static void honesty_S70_of_every_backend_that_is_built_in(void **state) {
    (void)state;
    size_t count = 0;
    for (size_t b = 0; vyre_builtins[b]; b++) {
        const vyre_bundle *bundle = vyre_builtins[b]->bundle;
        for (size_t r = 0; r < bundle->registration_count; r++) {
            const vyre_registration *registration = vyre_bundle_registration(bundle, r);
            vyre_backend made = {.host = vyre_host_services()};
            vyre_backend *adopted;
            vyre_status status = registration->create(made.host, 0, &made);
            if (status) { /* not on this machine: nothing is claimed */
                vyre_status_free(status);
                continue;
            }
            expect_ok(vyre_backend_adopt(&made, registration->id, &adopted));
            const char *lie = find_lie(adopted);
            if (lie) {
                fail_msg("backend `%s` claims %s", registration->id, lie);
            }
            vyre_backend_drop(adopted);
            count++;
        }
    }
    assert_true(count >= 1);
}

static const char *lie_of(const mock_spec *spec) {
    mock *m = mock_create(spec);
    vyre_backend made = mock_made(m);
    vyre_backend *adopted;
    expect_ok(vyre_backend_adopt(&made, "mock", &adopted));
    const char *lie = find_lie(adopted);
    vyre_backend_drop(adopted);
    mock_free(m);
    return lie;
}

/* The test finds out who lies. */
static void honesty_S70_a_false_claim_is_found(void **state) {
    (void)state;
    assert_null(lie_of(&(mock_spec){0}));
    assert_null(lie_of(&(mock_spec){.single_phase = true}));
    const uint32_t honest = VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC | VYRE_FEATURE_F16 |
                            VYRE_FEATURE_BF16 | VYRE_FEATURE_SUBGROUP_OPS |
                            VYRE_FEATURE_TENSOR_CORES;
    assert_null(lie_of(&(mock_spec){.slots = MOCK_BIT(features), .features = honest}));
    assert_string_equal(lie_of(&(mock_spec){.slots = MOCK_BIT(features),
                                            .features = VYRE_FEATURE_PHASES,
                                            .single_phase = true}),
                        "phases");
    assert_string_equal(lie_of(&(mock_spec){.slots = MOCK_BIT(features),
                                            .features = VYRE_FEATURE_GRID_SYNC,
                                            .single_phase = true}),
                        "grid_sync");
    assert_string_equal(
        lie_of(&(mock_spec){.slots = MOCK_BIT(features), .features = VYRE_FEATURE_SPECULATION}),
        "speculation");
    assert_string_equal(
        lie_of(&(mock_spec){.slots = MOCK_BIT(device_profile),
                            .profile = {.flags = VYRE_PROFILE_HAS_SUBGROUP_SHUFFLE}}),
        "profile");
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honesty_S70_of_every_backend_that_is_built_in),
        cmocka_unit_test(honesty_S70_a_false_claim_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
