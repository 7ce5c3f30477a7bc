/* A backend that was built for ABI 1.1 knows the elementary functions of that time alone. */
#include <vyre/vyre.h>

#include "ir/lookup.h"
#include "ir/program.h"
#include "runtime/device.h"
#include "tests/unit/reference_check.h"

static uint32_t own_features, runs, seen; /* seen: elementary functions in the program */

static vyre_status dispatch(const vyre_backend *backend, const vyre_call *call,
                            vyre_output *outputs) {
    (void)backend;
    const vyre_ir *ir = vyre_program_ir(call->program);
    runs++;
    seen = 0;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        seen += vyre_lookup_op(ir->insts[i].op)->rule == VYRE_RULE_ELEMENTARY;
    }
    return check_dispatch(call, outputs);
}

static const char *id(const vyre_backend *backend) {
    (void)backend;
    return "older";
}

static uint32_t features(const vyre_backend *backend) {
    (void)backend;
    return own_features;
}

/* Runs a program on a backend of that ABI and gives how many elementary functions it saw. */
static uint32_t run_on(uint32_t abi, const char *text, check_list inputs, check_list expected) {
    vyre_backend_slots slots = {VYRE_BACKEND_HEAD, .id = id, .dispatch = dispatch,
                                .features = features};
    slots.abi = abi;
    const vyre_backend made = {&slots, NULL, NULL};
    vyre_device *device;
    vyre_outputs outputs;
    vyre_program *program = check_parse(text);
    runs = 0;
    assert_null(vyre_device_open(&made, "older", 0, &device));
    vyre_status status =
        vyre_device_dispatch(device, program, inputs.items, inputs.count, NULL, &outputs);
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
    assert_true(runs > 0);
    assert_int_equal(outputs.count, expected.count);
    check_bytes(program, 0, 0, &outputs.items[0], &expected.items[0]);
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
    vyre_device_release(device);
    return seen;
}

enum { OLDEST = 0x10000, OLDER = 0x10001, NEWER = 0x10002 };

/* An expression of x[gid], and how many elementary functions of it older and newer backends see. */
static void check(const char *type, const char *expression, check_list x, uint32_t older,
                  uint32_t newer) {
    static const uint32_t sets[] = {0, VYRE_FEATURE_PHASES,
                                    VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC};
    char text[400];
    uint8_t y[32];
    size_t size = x.items[0].size;
    snprintf(text, sizeof text,
             "program p(x: buffer<%s>, y: out buffer<%s>[len(x)]) {\n"
             "    phase over x { y[gid] = %s; }\n"
             "}\n",
             type, type, expression);
    check_output(text, x, y, size);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        own_features = sets[i];
        assert_int_equal(run_on(OLDEST, text, x, LIST({y, size})), older);
        assert_int_equal(run_on(OLDER, text, x, LIST({y, size})), older);
        assert_int_equal(run_on(NEWER, text, x, LIST({y, size})), newer);
    }
}

static void older_backends_get_the_code_of_newer_functions(void **state) {
    (void)state;
    const double wide[4] = {0.1, 1, 2.5, 7};
    const float narrow[4] = {0.1f, 1, 2.5f, 7};
    check("f64", "exp(x[gid]) + pow(x[gid], 2.5)", LIST(BYTES(wide)), 0, 2);
    check("f64", "sqrt(x[gid]) + 1", LIST(BYTES(wide)), 0, 0);
    check("f32", "exp10(x[gid])", LIST(BYTES(narrow)), 0, 1);
    check("f32", "log10(x[gid])", LIST(BYTES(narrow)), 0, 1);
    check("f32", "fmod(x[gid], 0.75)", LIST(BYTES(narrow)), 0, 1);
    check("f32", "exp(x[gid]) + pow(x[gid], 2.5)", LIST(BYTES(narrow)), 2, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_backends_get_the_code_of_newer_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
