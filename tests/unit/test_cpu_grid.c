/* Grid barriers of the cpu backend itself: random programs that have some are held against the
 * oracle, each by every way in which a program can be run, never as a sequence. */
#include "tests/unit/cpu_check.h"

#include <pthread.h>

#include <vyre/reference.h>

#include "backend/cpu/runtime/backend.h"
#include "base/alloc.h"
#include "conform/trial.h"
#include "ir/program.h"
#include "runtime/device.h"
#include "runtime/sequence.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

#define TURNED                                                                                     \
    "program turned(x: buffer<u32>, t: inout buffer<u32>, y: out buffer<u32>[len(x)]) over x "     \
    "workgroup 64 { t[gid] = x[gid] * 3; grid_barrier; y[gid] = t[len(x) - 1 - gid]; }"
/* As many barriers as x[0] says, of which each invocation must see what the last one left. */
#define ROUNDS                                                                                     \
    "program rounds(x: buffer<u32>, y: inout buffer<u32>, z: out buffer<u32>[len(y)]) over y "     \
    "workgroup 32 { var sum = gid; for i in 0..x[0] { "                                            \
    "if in_domain { y[gid] = y[gid] + sum; } grid_barrier; "                                       \
    "sum += y[(gid + 77) % len(y)]; grid_barrier; } if in_domain { z[gid] = sum; } }"

/* One run of a program, and what must come out. */
typedef struct setting {
    const vyre_program *program;
    const vyre_input *inputs;
    size_t input_count;
    vyre_outputs expected;
} setting;

static vyre_device *open_cpu(void) {
    vyre_backend made = {.host = vyre_host_services()};
    vyre_device *device;
    expect_ok(cpu_bundle.registrations[0].create(vyre_host_services(), 0, &made));
    expect_ok(vyre_device_open(&made, "cpu", 0, &device));
    return device;
}

static void expect_same(const setting *s, const vyre_outputs *found, const char *way) {
    assert_int_equal(found->count, s->expected.count);
    for (size_t i = 0; i < found->count; i++) {
        size_t size = s->expected.items[i].size;
        assert_int_equal(found->items[i].size, size);
        if (size && memcmp(found->items[i].data, s->expected.items[i].data, size) != 0) {
            fail_msg("`%s`, %s: output %zu differs", vyre_program_name(s->program), way, i);
        }
    }
}

static void run_plainly(vyre_device *device, const setting *s) {
    vyre_outputs found;
    expect_ok(vyre_device_dispatch(device, s->program, s->inputs, s->input_count, NULL, &found));
    expect_same(s, &found, "by plain dispatch");
    vyre_outputs_free(&found);
}

static void run_compiled(const setting *s, vyre_pipeline *pipeline) {
    vyre_outputs found;
    assert_true(vyre_pipeline_is_native(pipeline));
    expect_ok(vyre_pipeline_dispatch(pipeline, s->inputs, s->input_count, NULL, &found));
    expect_same(s, &found, "compiled");
    expect_ok(vyre_pipeline_dispatch_into(pipeline, s->inputs, s->input_count, NULL, &found));
    expect_same(s, &found, "compiled, into old outputs");
    vyre_outputs_free(&found);
}

static void run_on_its_own(vyre_device *device, const setting *s) {
    vyre_pending *pending[2];
    for (size_t i = 0; i < 2; i++) {
        expect_ok(vyre_device_dispatch_async(device, s->program, s->inputs, s->input_count, NULL,
                                             &pending[i]));
    }
    for (size_t i = 0; i < 2; i++) {
        vyre_outputs found;
        expect_ok(vyre_pending_await(pending[i], &found));
        expect_same(s, &found, "by itself");
        vyre_outputs_free(&found);
        vyre_pending_free(pending[i]);
    }
}

/* Binds every argument, buffers to resident ones with the contents of the inputs. */
static size_t bind(vyre_device *device, const setting *s, vyre_binding *bindings) {
    const vyre_ir *ir = vyre_program_ir(s->program);
    size_t input = 0, output = 0;
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t resource = ir->args[arg].resource;
        const vyre_input *from = vyre_ir_is_out(ir, arg) ? NULL : &s->inputs[input++];
        bindings[arg] = (vyre_binding){0};
        if (resource == VYRE_NONE) {
            memcpy(&bindings[arg].bits, from->data, from->size);
            continue;
        }
        bool is_output = ir->resources[resource].access != VYRE_ACCESS_IN;
        size_t size = is_output ? s->expected.items[output++].size : from->size;
        expect_ok(vyre_resident_allocate(device, size, &bindings[arg].buffer));
        if (from) {
            expect_ok(vyre_resident_upload(device, bindings[arg].buffer, from->data, size));
        }
    }
    return ir->arg_count;
}

static void expect_in_residents(vyre_device *device, const setting *s, const vyre_binding *bindings,
                                const char *way) {
    const vyre_ir *ir = vyre_program_ir(s->program);
    vyre_output items[VYRE_LIMIT_ARGUMENTS];
    vyre_outputs found = {items, 0};
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t resource = ir->args[arg].resource;
        if (resource != VYRE_NONE && ir->resources[resource].access != VYRE_ACCESS_IN) {
            size_t size = s->expected.items[found.count].size;
            items[found.count] = (vyre_output){malloc(size + 1), size};
            expect_ok(
                vyre_resident_read(device, bindings[arg].buffer, 0, items[found.count].data, size));
            found.count++;
        }
    }
    expect_same(s, &found, way);
    for (size_t i = 0; i < found.count; i++) {
        free(items[i].data);
    }
}

static void run_resident(vyre_device *device, const setting *s, vyre_pipeline *pipeline) {
    const vyre_ir *ir = vyre_program_ir(s->program);
    for (int enqueued = 0; enqueued < 2; enqueued++) {
        vyre_binding bindings[VYRE_LIMIT_ARGUMENTS];
        vyre_timing timing;
        vyre_ticket ticket;
        size_t count = bind(device, s, bindings);
        if (enqueued) {
            expect_ok(vyre_pipeline_enqueue(pipeline, bindings, count, NULL, &ticket));
        } else {
            expect_ok(
                vyre_device_dispatch_resident(device, s->program, bindings, count, NULL, &timing));
        }
        expect_in_residents(device, s, bindings, enqueued ? "enqueued" : "on resident buffers");
        for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
            if (ir->args[arg].resource != VYRE_NONE) {
                expect_ok(vyre_resident_free(device, bindings[arg].buffer));
            }
        }
    }
}

static void run_every_way(vyre_device *device, const vyre_program *program,
                          const vyre_input *inputs, size_t count) {
    setting s = {.program = program, .inputs = inputs, .input_count = count};
    vyre_pipeline *pipeline;
    expect_ok(vyre_reference_run(program, inputs, count, NULL, NULL, &s.expected));
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    run_plainly(device, &s);
    run_compiled(&s, pipeline);
    run_on_its_own(device, &s);
    run_resident(device, &s, pipeline);
    vyre_pipeline_release(pipeline);
    vyre_outputs_free(&s.expected);
}

static void grid_sync_is_the_backends_own(void **state) {
    (void)state;
    vyre_backend made = {.host = vyre_host_services()};
    vyre_backend *adopted;
    vyre_program *program = contract_program(TURNED);
    expect_ok(cpu_bundle.registrations[0].create(vyre_host_services(), 0, &made));
    expect_ok(vyre_backend_adopt(&made, "cpu", &adopted));
    assert_true(adopted->slots->features(adopted) & VYRE_FEATURE_GRID_SYNC);
    assert_true(vyre_program_stats(program).grid_barriers);
    assert_false(vyre_sequence_needed(adopted, program));
    vyre_program_release(program);
    vyre_backend_drop(adopted);
}

static void grid_barriers_let_all_see_all(void **state) {
    (void)state;
    enum { LENGTH = 1000 };
    static const char *const lanes[] = {"4", "8", "16"};
    uint32_t x[LENGTH], t[LENGTH], turns = 5;
    contract_numbers(x, LENGTH);
    contract_numbers(t, LENGTH);
    for (size_t i = 0; i < 3; i++) {
        setenv("VYRE_CPU_LANES", lanes[i], 1);
        vyre_device *device = open_cpu();
        vyre_program *turned = contract_program(TURNED), *rounds = contract_program(ROUNDS);
        run_every_way(device, turned, (vyre_input[]){{x, sizeof x}, {t, sizeof t}}, 2);
        run_every_way(device, turned, (vyre_input[]){{NULL, 0}, {t, sizeof t}}, 2);
        run_every_way(device, rounds, (vyre_input[]){{&turns, 4}, {t, sizeof t}}, 2);
        vyre_program_release(turned);
        vyre_program_release(rounds);
        vyre_device_release(device);
    }
    unsetenv("VYRE_CPU_LANES");
}

static void random_programs_with_grid_barriers_run_every_way(void **state) {
    (void)state;
    uint64_t programs = test_work(30, 8), done = 0;
    vyre_device *device = open_cpu();
    for (uint64_t seed = 700000; done < programs; seed++) {
        conform_trial trial;
        size_t count;
        expect_ok(trial_generate(seed, &trial));
        if (vyre_program_stats(trial.program).grid_barriers) {
            vyre_input *inputs = conform_trial_inputs(&trial, trial.program, &count);
            assert_non_null(inputs);
            run_every_way(device, trial.program, inputs, count);
            vyre_free(inputs);
            done++;
        }
        conform_trial_free(&trial);
    }
    vyre_device_release(device);
}

/* Values that cross the barriers have room for the program's own domain. */
static void another_grid_is_refused(void **state) {
    (void)state;
    uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    vyre_device *device = open_cpu();
    vyre_program *program = contract_program(TURNED);
    vyre_outputs found;
    const vyre_input inputs[] = {{x, sizeof x}, {x, sizeof x}};
    expect_fail(vyre_device_dispatch(device, program, inputs, 2,
                                     &(vyre_dispatch_config){.grid = {4}}, &found),
                VYRE_STATUS_UNSUPPORTED, "over its own domain");
    vyre_program_release(program);
    vyre_device_release(device);
}

static void *call_again_and_again(void *argument) {
    setting *s = argument;
    vyre_device *device = open_cpu();
    for (int i = 0; i < 20; i++) {
        run_plainly(device, s);
        run_on_its_own(device, s);
    }
    vyre_device_release(device);
    return NULL;
}

static void threads_pass_barriers_at_once(void **state) {
    (void)state;
    enum { THREADS = 3, LENGTH = 5000 };
    static uint32_t y[LENGTH];
    uint32_t turns = 3;
    contract_numbers(y, LENGTH);
    vyre_program *program = contract_program(ROUNDS);
    const vyre_input inputs[] = {{&turns, 4}, {y, sizeof y}};
    setting s = {.program = program, .inputs = inputs, .input_count = 2};
    expect_ok(vyre_reference_run(program, inputs, 2, NULL, NULL, &s.expected));
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, call_again_and_again, &s), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    vyre_outputs_free(&s.expected);
    vyre_program_release(program);
}

int main(void) {
    setenv("VYRE_THREADS", "4", 1);
    contract_without_cache();
    if (!cpu_check_available()) {
        return CPU_SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_sync_is_the_backends_own),
        cmocka_unit_test(grid_barriers_let_all_see_all),
        cmocka_unit_test(random_programs_with_grid_barriers_run_every_way),
        cmocka_unit_test(another_grid_is_refused),
        cmocka_unit_test(threads_pass_barriers_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
