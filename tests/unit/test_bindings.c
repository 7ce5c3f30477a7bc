/* Arguments of runs on resident buffers: by name and by type, streams that a device does not have,
 * and tickets that it never gave. */
#include <vyre/vyre.h>

#include "tests/unit/contract_check.h"

#define MANY                                                                                       \
    "program many(a: f32, b: f64, c: i32, d: u32, e: i64, f: u64, g: bool, x: buffer<u32>, "       \
    "y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid] + u32(a) + u32(b) + u32(c) + d + "       \
    "u32(e) + u32(f) + select(g, 1u, 0u); }"

enum { ARGUMENTS = 9, BYTES = CONTRACT_LENGTH * sizeof(uint32_t) };

typedef struct bound {
    vyre_device *device;
    vyre_program *program;
    vyre_resident x, y;
    vyre_binding all[ARGUMENTS];
} bound;

static void start(bound *b, const char *name) {
    expect_ok(vyre_acquire(name, &b->device));
    b->program = contract_program(MANY);
    b->x = contract_resident(b->device, 1);
    b->y = contract_resident(b->device, 0);
    const vyre_binding all[] = {vyre_bind_f32(1),     vyre_bind_f64(2), vyre_bind_i32(3),
                                vyre_bind_u32(4),     vyre_bind_i64(5), vyre_bind_u64(6),
                                vyre_bind_bool(true), vyre_bind(b->x),  vyre_bind(b->y)};
    memcpy(b->all, all, sizeof all);
}

static void end(bound *b) {
    vyre_program_release(b->program);
    vyre_device_release(b->device);
}

static vyre_status run(bound *b, const vyre_binding *bindings, size_t count) {
    return vyre_device_dispatch_resident(b->device, b->program, bindings, count, NULL, NULL);
}

static void expect_sum(bound *b) {
    uint32_t found[CONTRACT_LENGTH];
    expect_ok(vyre_resident_read(b->device, b->y, 0, found, sizeof found));
    for (uint32_t i = 0; i < CONTRACT_LENGTH; i++) {
        assert_int_equal(found[i], i + 1 + 22);
    }
    expect_ok(vyre_resident_fill(b->device, b->y, 0, BYTES, &(uint32_t){0}, 4));
}

static const char *const names[ARGUMENTS] = {"a", "b", "c", "d", "e", "f", "g", "x", "y"};

static void bindings_go_by_place_by_name_or_both(void **state) {
    (void)state;
    static const char *const devices[] = {"reference", "cpu"};
    for (size_t d = 0; d < 2; d++) {
        bound b;
        vyre_binding turned[ARGUMENTS];
        start(&b, devices[d]);
        expect_ok(run(&b, b.all, ARGUMENTS));
        expect_sum(&b);
        for (size_t i = 0; i < ARGUMENTS; i++) {
            turned[ARGUMENTS - 1 - i] = vyre_named(names[i], b.all[i]);
        }
        expect_ok(run(&b, turned, ARGUMENTS));
        expect_sum(&b);
        memcpy(turned, b.all, sizeof turned);
        turned[7] = vyre_named("y", b.all[8]);
        turned[8] = vyre_named("x", b.all[7]);
        expect_ok(run(&b, turned, ARGUMENTS));
        expect_sum(&b);
        turned[2] = vyre_bind_bits(3); /* of any type */
        expect_ok(run(&b, turned, ARGUMENTS));
        expect_sum(&b);
        end(&b);
    }
}

static void bindings_by_wrong_names_are_refused(void **state) {
    (void)state;
    bound b;
    start(&b, "cpu");
    vyre_binding named[ARGUMENTS];
    for (size_t i = 0; i < ARGUMENTS; i++) {
        named[i] = vyre_named(names[i], b.all[i]);
    }
    named[7].name = "z";
    expect_fail(run(&b, named, ARGUMENTS), VYRE_STATUS_INVALID_ARGUMENT, "no argument `z`");
    named[7].name = "X";
    expect_fail(run(&b, named, ARGUMENTS), VYRE_STATUS_INVALID_ARGUMENT, "did you mean `x`");
    named[7].name = "y";
    expect_fail(run(&b, named, ARGUMENTS), VYRE_STATUS_INVALID_ARGUMENT,
                "argument `y` is bound twice");
    named[7].name = "x";
    expect_fail(run(&b, named, ARGUMENTS - 1), VYRE_STATUS_INVALID_ARGUMENT,
                "argument `y` is not bound");
    expect_fail(run(&b, named + 1, ARGUMENTS - 1), VYRE_STATUS_INVALID_ARGUMENT,
                "argument `a` is not bound");
    vyre_binding more[ARGUMENTS + 1];
    memcpy(more, named, sizeof named);
    more[ARGUMENTS] = vyre_bind(b.x);
    expect_fail(run(&b, more, ARGUMENTS + 1), VYRE_STATUS_INVALID_ARGUMENT,
                "has 9 arguments, found 10");
    expect_fail(run(&b, b.all, ARGUMENTS - 1), VYRE_STATUS_INVALID_ARGUMENT,
                "has 9 arguments, found 8");
    end(&b);
}

static void bindings_of_wrong_types_are_refused(void **state) {
    (void)state;
    static const char *const found[] = {
        "argument `a` has the type f32, found f64",  "argument `b` has the type f64, found f32",
        "argument `c` has the type i32, found u32",  "argument `d` has the type u32, found i32",
        "argument `e` has the type i64, found u64",  "argument `f` has the type u64, found i64",
        "argument `g` has the type bool, found f32", "argument `x` is a buffer, found a scalar"};
    bound b;
    start(&b, "cpu");
    const vyre_binding wrong[] = {vyre_bind_f64(1), vyre_bind_f32(1), vyre_bind_u32(1),
                                  vyre_bind_i32(1), vyre_bind_u64(1), vyre_bind_i64(1),
                                  vyre_bind_f32(1), vyre_bind_u32(1)};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vyre_binding all[ARGUMENTS];
        memcpy(all, b.all, sizeof all);
        all[i] = wrong[i];
        expect_fail(run(&b, all, ARGUMENTS), VYRE_STATUS_INVALID_ARGUMENT, found[i]);
        all[i] = vyre_bind(b.x);
        if (i < 7) {
            expect_fail(run(&b, all, ARGUMENTS), VYRE_STATUS_INVALID_ARGUMENT,
                        "is a scalar, found a resident buffer");
        }
        all[i] = (vyre_binding){0};
        if (i == 7) {
            expect_fail(run(&b, all, ARGUMENTS), VYRE_STATUS_INVALID_ARGUMENT, "argument `x`");
        }
    }
    end(&b);
}

static void streams_of_callers_need_a_device_that_has_them(void **state) {
    (void)state;
    static const char *const devices[] = {"reference", "cpu"};
    const vyre_dispatch_config config = {.flags = VYRE_DISPATCH_STREAM, .stream = 1};
    for (size_t d = 0; d < 2; d++) {
        bound b;
        vyre_pipeline *pipeline;
        vyre_outputs outputs;
        start(&b, devices[d]);
        assert_false(vyre_device_features(b.device) & VYRE_FEATURE_STREAMS);
        expect_ok(vyre_device_compile(b.device, b.program, NULL, &pipeline));
        expect_fail(vyre_pipeline_enqueue(pipeline, b.all, ARGUMENTS, &config, NULL),
                    VYRE_STATUS_UNSUPPORTED, "has no streams of callers");
        expect_fail(vyre_pipeline_dispatch_resident(pipeline, b.all, ARGUMENTS, &config, NULL),
                    VYRE_STATUS_UNSUPPORTED, "has no streams of callers");
        vyre_program *twice = contract_program(TWICE);
        uint32_t x[CONTRACT_LENGTH] = {0};
        const vyre_input input = {x, sizeof x};
        expect_fail(vyre_device_dispatch(b.device, twice, &input, 1, &config, &outputs),
                    VYRE_STATUS_UNSUPPORTED, "on data of the host has no order in a stream");
        vyre_program_release(twice);
        vyre_pipeline_release(pipeline);
        end(&b);
    }
}

/* A backend with streams gets flag and stream; one without never sees them. */
static void streams_reach_the_backend(void **state) {
    (void)state;
    mock *m = mock_create(
        &(mock_spec){.slots = MOCK_RESIDENT | MOCK_QUEUE | MOCK_COMPILE | MOCK_BIT(features),
                     .features = CONTRACT_WHOLE | VYRE_FEATURE_STREAMS});
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE),
                 *loud = contract_program(
                     "program loud(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { "
                     "assert(x[gid] > 0, \"positive\"); y[gid] = x[gid] * 2; }");
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 0);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    const vyre_dispatch_config config = {.flags = VYRE_DISPATCH_STREAM | VYRE_DISPATCH_NO_ASSERTS,
                                         .stream = 77};
    const vyre_dispatch_config checked = {.flags = VYRE_DISPATCH_STREAM, .stream = 78};
    expect_ok(vyre_device_dispatch_resident(device, program, bindings, 2, &config, NULL));
    mock_record last = mock_last(m, MOCK_resident_dispatch_timed);
    assert_true(last.config.flags == VYRE_DISPATCH_STREAM && last.config.stream == 77);
    expect_ok(vyre_device_dispatch_resident(device, loud, bindings, 2, &checked, NULL));
    last = mock_last(m, MOCK_resident_dispatch_timed);
    assert_true(last.config.flags == VYRE_DISPATCH_STREAM && last.config.stream == 78);
    vyre_program_release(program);
    vyre_program_release(loud);
    vyre_device_release(device);
    mock_free(m);
}

static void tickets_of_others_are_refused_at_once(void **state) {
    (void)state;
    bound b, other;
    vyre_pipeline *pipeline;
    vyre_ticket ticket;
    start(&b, "cpu");
    start(&other, "cpu");
    expect_fail(vyre_device_wait(b.device, 1), VYRE_STATUS_INVALID_ARGUMENT, "never gave");
    expect_ok(vyre_device_compile(other.device, other.program, NULL, &pipeline));
    expect_ok(vyre_pipeline_enqueue(pipeline, other.all, ARGUMENTS, NULL, &ticket));
    assert_true(ticket != 0);
    expect_fail(vyre_device_wait(b.device, ticket), VYRE_STATUS_INVALID_ARGUMENT, "never gave");
    expect_fail(vyre_device_wait(other.device, ticket + 1), VYRE_STATUS_INVALID_ARGUMENT,
                "never gave");
    expect_fail(vyre_device_wait(other.device, UINT64_MAX), VYRE_STATUS_INVALID_ARGUMENT,
                "never gave");
    expect_ok(vyre_device_wait(other.device, ticket));
    vyre_pipeline_release(pipeline);
    end(&b);
    end(&other);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bindings_go_by_place_by_name_or_both),
        cmocka_unit_test(bindings_by_wrong_names_are_refused),
        cmocka_unit_test(bindings_of_wrong_types_are_refused),
        cmocka_unit_test(streams_of_callers_need_a_device_that_has_them),
        cmocka_unit_test(streams_reach_the_backend),
        cmocka_unit_test(tickets_of_others_are_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
