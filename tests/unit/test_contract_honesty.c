/* Honest capability: whatever a backend claims it must do, by itself and in the open. Each claim of
 * each backend that is built in is put to the test, without the sequences that would help it. Right
 * bytes are not enough: where a feature stands for instructions of the device, the code that is
 * emitted for it must have them, and where it stands for calls of the driver, these must be seen.
 * What is seen must be claimed, too. With VYRE_CUDA naming the libcuda that runs PTX on the host,
 * or on a machine with a GPU, the cuda backend is tested, too. */
#include <ctype.h>
#include <stdio.h>

#include <vyre/reference.h>
#include <vyre/wire.h>

#include "backend/table.h"
#include "base/alloc.h"
#include "registry/registry.h"
#include "runtime/device.h"
#include "tests/unit/contract_check.h"
#include "tests/unit/witness.h"

/* The number of invocations of the second phase is one that the first one writes. */
#define CHOSEN                                                                                     \
    "program chosen(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch n: u32[1]; phase a "     \
    "over "                                                                                        \
    "1 { n[0] = x[2]; } phase b over n[0] max len(x) { y[gid] = u32(gid) + 5; } }"

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
    {VYRE_FEATURE_STEPS, "program fewer(x: buffer<u32>, y: out buffer<u32>[len(x)]) { repeat k in "
                         "len(x) { phase a over "
                         "len(x) - k { y[gid] = y[gid] * 3 + x[k]; } } }"},
    {VYRE_FEATURE_STEPS,
     "program swapped(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch t: u32[len(x)]; repeat "
     "3 { phase a over x { t[gid] = y[7 - gid] + x[gid]; } swap(y, t); } }"},
    {VYRE_FEATURE_STEPS,
     "program either(x: buffer<u32>, y: out buffer<u32>[len(x)]) { if x[9] { phase a over x { "
     "y[gid] = 1; } } else { phase b over x { y[gid] = x[gid]; } } }"},
    {VYRE_FEATURE_GRID_SYNC,
     "program turned(x: buffer<u32>, t: inout buffer<u32>, y: out buffer<u32>[len(x)]) over x "
     "workgroup 2 { t[gid] = x[gid] * 3; grid_barrier; y[gid] = t[7 - gid]; }"},
    {VYRE_FEATURE_RECORDS,
     "struct R { a: u8, b: u32, c: u16 } program records(x: buffer<vec2<u32>>, y: out "
     "buffer<R>[len(x)]) over x { y[gid] = R(u8(x[gid].y), x[gid].x, 7); }"},
    {VYRE_FEATURE_SUBGROUP_OPS,
     "program lanes(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 32 { let v = "
     "subgroup_add(x[gid]); if in_domain { y[gid] = v; } }"},
    {VYRE_FEATURE_TENSOR_CORES,
     "program tile(x: buffer<u32>, y: out buffer<i32>[len(x)]) over x workgroup 32 { let (d, _e, "
     "_f, _g) = subgroup_matrix_mad(x[lane % 8], lane, x[lane / 4], ~lane, x[7 - lane % 8], lane "
     "* 77, 1, i32(lane), 0, -1); if in_domain { y[gid] = d; } }"},
    {VYRE_FEATURE_F16,
     "program halves(x: buffer<u32>, y: out buffer<f16>[len(x)]) over x { y[gid] = f16(x[gid]) * "
     "f16(3.0) + f16(x[7 - gid]); }"},
    {VYRE_FEATURE_BF16,
     "program brains(x: buffer<u32>, y: out buffer<bf16>[len(x)]) over x { y[gid] = bf16(x[gid]) * "
     "bf16(3.0) + bf16(x[7 - gid]); }"},
    {VYRE_FEATURE_CONSTANT_ARRAYS, "const k: u32[5] = [3, 1, 4, 1, 5]; program looked(x: "
                                   "buffer<u32>, y: out buffer<u32>[len(x)]) "
                                   "over x { y[gid] = k[x[gid] % 7] + k[gid]; }"},
    {VYRE_FEATURE_INDIRECT_DISPATCH, CHOSEN},
};

/* What the code of such a program has where a device does it itself: one of the words, in what
 * stands behind `behind` for the last time. A claim without a row here is not about instructions; a
 * stage without one for the claim has none that would do, and then a witness must have seen it. */
static const struct {
    uint32_t feature;
    const char *stage, *behind, *words[4];
} instructions[] = {
    {VYRE_FEATURE_SUBGROUP_OPS, "ptx", ".entry", {"redux.sync", "shfl.sync", "vote.sync"}},
    {VYRE_FEATURE_TENSOR_CORES, "ptx", ".entry", {"mma.sync"}},
    {VYRE_FEATURE_F16, "ptx", ".entry", {"mul.rn.f16", "mul.f16", "fma.rn.f16"}},
    {VYRE_FEATURE_BF16, "ptx", ".entry", {"mul.rn.bf16", "mul.bf16", "fma.rn.bf16"}},
    {VYRE_FEATURE_INDIRECT_DISPATCH, "ptx", ".entry", {"ld.global"}},
    {VYRE_FEATURE_TENSOR_CORES, "asm", "", {"tdpbssd", "tdpbuud", "smmla"}},
    {VYRE_FEATURE_F16, "asm", "", {"vmulph", "vmulsh", "vfmadd213ph", ".8h"}},
    {VYRE_FEATURE_BF16, "asm", "", {"vmulnepbf16", "vmulbf16", "bfmul"}},
    {VYRE_FEATURE_SUBGROUP_OPS, "asm", "", {NULL}},
    {VYRE_FEATURE_SUBGROUP_OPS, "opencl", "", {"redux.sync", "shfl.sync", "vote.sync"}},
    {VYRE_FEATURE_TENSOR_CORES, "opencl", "__kernel", {"mma.sync"}},
    {VYRE_FEATURE_SUBGROUP_OPS, "spirv", "", {"OpGroupNonUniform"}},
};
enum { INSTRUCTIONS = sizeof instructions / sizeof *instructions };

/* The code that a backend emits for a program, and the stage that it is of; NULL without any. */
typedef const char *(*show_code)(const vyre_backend *backend, const vyre_program *program,
                                 vyre_strbuf *out);

static bool has_word(const char *code, const char *word) {
    for (const char *at = code; (at = strstr(at, word)) != NULL; at++) {
        if (*word == '.' || at == code || !isalnum((unsigned char)at[-1])) {
            return true;
        }
    }
    return false;
}

/* Whether the emitted code has what a feature claims, where that is a question of instructions.
 * `is_seen`: the driver was asked for it. */
static bool emits(const vyre_backend *backend, show_code show, uint32_t feature, const char *text,
                  bool is_seen) {
    bool is_asked = false, has_row = false, found = false;
    for (size_t i = 0; i < INSTRUCTIONS; i++) {
        is_asked = is_asked || instructions[i].feature == feature;
    }
    if (!is_asked) {
        return true;
    }
    vyre_program *program = contract_program(text);
    vyre_strbuf out = {0};
    const char *stage = show ? show(backend, program, &out) : NULL;
    for (size_t i = 0; i < INSTRUCTIONS && stage && !found; i++) {
        if (instructions[i].feature != feature || strcmp(instructions[i].stage, stage) != 0) {
            continue;
        }
        has_row = true;
        const char *code = vyre_strbuf_string(&out), *last;
        while (*instructions[i].behind && (last = strstr(code, instructions[i].behind)) != NULL) {
            code = last + 1;
        }
        for (size_t w = 0; w < 4 && instructions[i].words[w] && !found; w++) {
            found = has_word(code, instructions[i].words[w]);
        }
    }
    vyre_strbuf_free(&out);
    vyre_program_release(program);
    return has_row ? found : is_seen;
}
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

/* The backend's executable of a program; NULL if it does not compile. */
static vyre_native *compile(const vyre_backend *backend, const vyre_program *program) {
    const vyre_compile request = {.program = program};
    vyre_native made = {0}, *native = NULL;
    if (vyre_backend_compiles(backend)) {
        expect_ok(backend->slots->compile_native(backend, &request, &made));
        expect_ok(vyre_native_adopt(&made, backend, &native));
        vyre_free(made.artifact);
    }
    return native;
}

/* Whether work goes on by itself: it has a ticket before it is waited for, and buffers that it does
 * not use can be written and read meanwhile. */
static bool overlaps(const vyre_backend *backend, const vyre_dispatch_config *config) {
    const vyre_backend_slots *slots = backend->slots;
    enum { BYTES = CONTRACT_LENGTH * sizeof(uint32_t) };
    vyre_program *program = contract_program(TWICE);
    vyre_native *native = compile(backend, program);
    if (!native || !vyre_backend_has_residents(backend)) {
        vyre_native_drop(native);
        vyre_program_release(program);
        return false;
    }
    uint64_t buffers[3], ticket = 0;
    uint32_t x[CONTRACT_LENGTH], found[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    for (size_t i = 0; i < 3; i++) {
        expect_ok(slots->resident_allocate(backend, BYTES, &buffers[i]));
    }
    expect_ok(slots->resident_upload(backend, buffers[0], 0, x, BYTES));
    const vyre_plan_value values[] = {{BYTES, 0}, {BYTES, 0}};
    vyre_plan plan;
    expect_ok(vyre_plan_init_resident(&plan, program, values, 2, config));
    const vyre_call call = vyre_plan_call(&plan, NULL, native);
    expect_ok(native->slots->enqueue(native, &call, buffers, &ticket));
    expect_ok(slots->resident_upload(backend, buffers[2], 0, x, BYTES));
    expect_ok(slots->resident_read(backend, buffers[2], 0, found, BYTES));
    expect_numbers(found, CONTRACT_LENGTH, 1);
    expect_ok(slots->ticket_wait(backend, ticket));
    expect_ok(slots->resident_read(backend, buffers[1], 0, found, BYTES));
    expect_numbers(found, CONTRACT_LENGTH, 2);
    for (size_t i = 0; i < 3; i++) {
        expect_ok(slots->resident_free(backend, buffers[i]));
    }
    vyre_plan_deinit(&plan);
    vyre_native_drop(native);
    vyre_program_release(program);
    return ticket;
}

/* The device dispatches what it has counted itself, and the host waits for neither. */
static bool vulkan_dispatches_indirectly(const vyre_backend *backend) {
    witness_watch_vulkan(backend->state);
    bool runs_it = runs(backend, CHOSEN);
    witness_leave_vulkan(backend->state);
    return runs_it && witness.indirect && !witness.round_trip;
}

/* CUDA has no launch whose size is in memory: blocks without work end. The host does not wait. */
static bool cuda_dispatches_indirectly(const vyre_backend *backend) {
    witness_watch_cuda(backend->state);
    bool runs_it = runs(backend, CHOSEN);
    witness_leave_cuda(backend->state);
    return runs_it && witness.launches && !witness.round_trip;
}

/* A copy does not stand behind the kernel of a run that is under way. */
static bool cuda_copies_beside_kernels(const vyre_backend *backend) {
    witness_watch_cuda(backend->state);
    bool goes_on = overlaps(backend, &(vyre_dispatch_config){0});
    witness_leave_cuda(backend->state);
    return goes_on && witness.overlaps;
}

static bool mock_is_watched, mock_did;

static bool mock_is_seen(const vyre_backend *backend) {
    (void)backend;
    return mock_did;
}

/* What drivers are asked for by backends that can be watched. */
static const struct {
    const char *backend;
    uint32_t feature;
    bool (*sees)(const vyre_backend *backend);
} witnesses[] = {
    {"vulkan", VYRE_FEATURE_INDIRECT_DISPATCH, vulkan_dispatches_indirectly},
    {"cuda", VYRE_FEATURE_INDIRECT_DISPATCH, cuda_dispatches_indirectly},
    {"cuda", VYRE_FEATURE_ASYNC_COMPUTE, cuda_copies_beside_kernels},
    {"mock", VYRE_FEATURE_INDIRECT_DISPATCH, mock_is_seen},
};

/* Whether somebody watches a feature of a backend; and whether it was seen. */
static bool is_watched(const vyre_backend *backend, uint32_t feature, bool *out_seen) {
    const char *id = backend->slots->id(backend);
    *out_seen = false;
    for (size_t i = 0; i < sizeof witnesses / sizeof *witnesses; i++) {
        if (witnesses[i].feature == feature && !strcmp(witnesses[i].backend, id) &&
            (mock_is_watched || strcmp(id, "mock") != 0)) {
            *out_seen = witnesses[i].sees(backend);
            return true;
        }
    }
    return false;
}

/* The first claim that is not true, or the first thing that is done and not claimed; NULL if the
 * backend is honest. A claim that nothing here can test is not believed. */
static const char *find_lie(const vyre_backend *backend, show_code show) {
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
        bool claims = claimed & features[i].bit, is_seen;
        if (is_watched(backend, features[i].bit, &is_seen) && is_seen != claims) {
            return features[i].name;
        }
        for (size_t p = 0; p < PROOFS && claims; p++) {
            if (proofs[p].feature == features[i].bit) {
                tested++;
                if (!runs(backend, proofs[p].text) ||
                    !emits(backend, show, proofs[p].feature, proofs[p].text, is_seen)) {
                    return features[i].name;
                }
            }
        }
        if (claims && features[i].bit == VYRE_FEATURE_ASYNC_COMPUTE) {
            tested += overlaps(backend, &(vyre_dispatch_config){0});
        }
        if (claims && features[i].bit == VYRE_FEATURE_STREAMS) { /* the device's default stream */
            tested += overlaps(backend, &(vyre_dispatch_config){.flags = VYRE_DISPATCH_STREAM});
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

/* The last stage of a built-in backend, for the device at hand: as the backend shows it, or for
 * what its version says it writes for, as "sm_90", if that is said. */
static const char *show_builtin(const vyre_backend *backend, const vyre_program *program,
                                vyre_strbuf *out) {
    const char *id = backend->slots->id(backend);
    for (size_t b = 0; vyre_builtins[b]; b++) {
        const vyre_builtin *built_in = vyre_builtins[b];
        const vyre_stage *stage = built_in->stages;
        if (strcmp(built_in->bundle->registrations->id, id) != 0 || !stage) {
            continue;
        }
        while (stage[1].name) {
            stage++;
        }
        if (built_in->show_for) {
            expect_ok(built_in->show_for(backend, program, out));
            return stage->name;
        }
        const char *sm = strstr(backend->slots->version(backend), "sm_");
        if (!sm) {
            expect_ok(stage->print(program, out));
            return stage->name;
        }
        char device[16];
        uint8_t *bytes;
        size_t size;
        snprintf(device, sizeof device, "%.*s", (int)strcspn(sm, ", "), sm);
        expect_ok(vyre_emit(built_in->emitter, program, &(vyre_emit_options){.device = device},
                            &bytes, &size));
        vyre_strbuf_add(out, (const char *)bytes, size);
        vyre_bytes_free(bytes);
        return stage->name;
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
            status = adopted->slots->prepare(adopted);
            if (status) { /* a device that fails its own tests claims nothing, either */
                print_message("%s\n", vyre_status_text(status));
                vyre_status_free(status);
                vyre_backend_drop(adopted);
                continue;
            }
            const char *lie = find_lie(adopted, show_builtin);
            if (lie) {
                fail_msg("backend `%s` is not honest about %s", registration->id, lie);
            }
            print_message("%s is honest\n", registration->id);
            expect_ok(adopted->slots->shutdown(adopted));
            vyre_backend_drop(adopted);
            count++;
        }
    }
    assert_true(count >= 1);
}

/* Code with what each feature needs. */
static const char *show_all(const vyre_backend *backend, const vyre_program *program,
                            vyre_strbuf *out) {
    (void)backend, (void)program;
    vyre_strbuf_puts(out, ".entry a\n .entry b\n redux.sync.add.u32; mma.sync; mul.rn.f16; "
                          "fma.rn.bf16; ld.global.u32;\n");
    return "ptx";
}

/* Code that does the same by other means. */
static const char *show_other(const vyre_backend *backend, const vyre_program *program,
                              vyre_strbuf *out) {
    (void)backend, (void)program;
    vyre_strbuf_puts(out, "redux.sync.add.u32; mul.rn.f16;\n.entry a\n mul.rn.f32; xmma.sync;\n");
    return "ptx";
}

static const char *lie_of(const mock_spec *spec, show_code show) {
    mock *m = mock_create(spec);
    vyre_backend made = mock_made(m);
    vyre_backend *adopted;
    expect_ok(vyre_backend_adopt(&made, "mock", &adopted));
    const char *lie = find_lie(adopted, show);
    vyre_backend_drop(adopted);
    mock_free(m);
    return lie;
}

static const char *lie_about(uint32_t features, show_code show) {
    return lie_of(&(mock_spec){.slots = MOCK_BIT(features), .features = features}, show);
}

/* The test finds out who lies. */
static void honesty_S70_a_false_claim_is_found(void **state) {
    (void)state;
    assert_null(lie_of(&(mock_spec){0}, NULL));
    assert_null(lie_of(&(mock_spec){.single_phase = true}, NULL));
    assert_null(lie_about(VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC, NULL));
    assert_string_equal(lie_of(&(mock_spec){.slots = MOCK_BIT(features),
                                            .features = VYRE_FEATURE_PHASES,
                                            .single_phase = true},
                               NULL),
                        "phases");
    assert_string_equal(lie_of(&(mock_spec){.slots = MOCK_BIT(features),
                                            .features = VYRE_FEATURE_GRID_SYNC,
                                            .single_phase = true},
                               NULL),
                        "grid_sync");
    assert_string_equal(lie_about(VYRE_FEATURE_SPECULATION, show_all), "speculation");
    assert_string_equal(
        lie_of(&(mock_spec){.slots = MOCK_BIT(device_profile),
                            .profile = {.flags = VYRE_PROFILE_HAS_SUBGROUP_SHUFFLE}},
               NULL),
        "profile");
}

/* Right bytes with other instructions are no honest claim, and neither are they without code. */
static void honesty_S70_a_claim_is_held_against_the_emitted_code(void **state) {
    (void)state;
    static const struct {
        uint32_t feature;
        const char *name;
    } rows[] = {{VYRE_FEATURE_F16, "f16"},
                {VYRE_FEATURE_BF16, "bf16"},
                {VYRE_FEATURE_SUBGROUP_OPS, "subgroup_ops"},
                {VYRE_FEATURE_TENSOR_CORES, "tensor_cores"},
                {VYRE_FEATURE_INDIRECT_DISPATCH, "indirect_dispatch"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_null(lie_about(rows[i].feature, show_all));
        assert_string_equal(lie_about(rows[i].feature, show_other), rows[i].name);
        assert_string_equal(lie_about(rows[i].feature, NULL), rows[i].name);
    }
}

/* Neither are right bytes by other calls, nor is what is done in secret. */
static void honesty_S70_a_claim_is_held_against_calls_of_the_driver(void **state) {
    (void)state;
    mock_is_watched = true;
    for (int i = 0; i < 4; i++) {
        uint32_t claimed = i & 1 ? VYRE_FEATURE_INDIRECT_DISPATCH : 0;
        mock_did = i & 2;
        const char *lie = lie_about(claimed, show_all);
        if (mock_did == (claimed != 0)) {
            assert_null(lie);
        } else {
            assert_string_equal(lie, "indirect_dispatch");
        }
    }
    mock_is_watched = mock_did = false;
}

/* Work that is over when the call returns overlaps with nothing. */
static void honesty_S70_async_work_has_a_ticket(void **state) {
    (void)state;
    const uint64_t slots = MOCK_BIT(features) | MOCK_RESIDENT | MOCK_COMPILE;
    mock_spec spec = {.slots = slots, .features = VYRE_FEATURE_ASYNC_COMPUTE};
    assert_string_equal(lie_of(&spec, NULL), "async_compute");
    spec.slots |= MOCK_QUEUE;
    spec.mode = MOCK_RUNS_AT_WAIT;
    assert_null(lie_of(&spec, NULL));
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honesty_S70_of_every_backend_that_is_built_in),
        cmocka_unit_test(honesty_S70_a_false_claim_is_found),
        cmocka_unit_test(honesty_S70_a_claim_is_held_against_the_emitted_code),
        cmocka_unit_test(honesty_S70_a_claim_is_held_against_calls_of_the_driver),
        cmocka_unit_test(honesty_S70_async_work_has_a_ticket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
