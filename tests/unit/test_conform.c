/* The conformance engine: what it accepts, and that it finds bugs put in on purpose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/reference.h>
#include <vyre/text.h>

#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "conform/compare.h"
#include "conform/session.h"
#include "pass/rebuild.h"
#include "runtime/device.h"
#include "tests/unit/failing_allocator.h"

enum { NONE_AT_ALL = 0, SHORT = 16 };

/* Bugs of a compiler: an instruction replaced by something nearly right. */

static uint32_t operand(vyre_rebuild *r, uint32_t at, int which) {
    const vyre_inst *inst = &r->ir->insts[at];
    return vyre_rebuild_operand(r, which == 0 ? inst->a : which == 1 ? inst->b : inst->c);
}

static bool is_op(const vyre_rebuild *r, uint32_t at, vyre_op op, vyre_type type) {
    return r->ir->insts[at].op == op && r->ir->insts[at].type == type;
}

/* The lowest bit of a sum is wrong where both operands have their highest bit. */
static bool flip_one_bit(vyre_rebuild *r, uint32_t at) {
    if (!is_op(r, at, VYRE_OP_ADD, VYRE_TYPE_U32)) {
        return false;
    }
    uint32_t a = operand(r, at, 0), b = operand(r, at, 1);
    uint32_t sum = vyre_build_op(r->to, VYRE_OP_ADD, a, b, VYRE_NONE);
    uint32_t both = vyre_build_op(r->to, VYRE_OP_AND, a, b, VYRE_NONE);
    uint32_t bit = vyre_build_op(r->to, VYRE_OP_SHR, both, vyre_build_u32(r->to, 31), VYRE_NONE);
    r->values[at] = vyre_build_op(r->to, VYRE_OP_XOR, sum, bit, VYRE_NONE);
    return true;
}

static bool round_twice(vyre_rebuild *r, uint32_t at) {
    if (r->ir->insts[at].op != VYRE_OP_FMA) {
        return false;
    }
    uint32_t a = operand(r, at, 0), b = operand(r, at, 1), c = operand(r, at, 2);
    uint32_t product = vyre_build_op(r->to, VYRE_OP_MUL, a, b, VYRE_NONE);
    r->values[at] = vyre_build_op(r->to, VYRE_OP_ADD, product, c, VYRE_NONE);
    return true;
}

/* A minimum that does not know NaN and signed zeros. */
static bool compare_only(vyre_rebuild *r, uint32_t at) {
    if (r->ir->insts[at].op != VYRE_OP_MIN) {
        return false;
    }
    uint32_t a = operand(r, at, 0), b = operand(r, at, 1);
    uint32_t less = vyre_build_op(r->to, VYRE_OP_LT, a, b, VYRE_NONE);
    r->values[at] = vyre_build_op(r->to, VYRE_OP_SELECT, less, a, b);
    return true;
}

static bool include_the_lane(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    if (inst->op != VYRE_OP_SCAN_EXCLUSIVE) {
        return false;
    }
    r->values[at] =
        vyre_build_combine(r->to, VYRE_OP_SCAN, (vyre_combination)inst->aux, operand(r, at, 0));
    return true;
}

static bool add_instead(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    if (inst->op != VYRE_OP_ATOMIC_SUB) {
        return false;
    }
    uint32_t index = operand(r, at, 1), value = operand(r, at, 2);
    r->values[at] =
        vyre_build_atomic(r->to, VYRE_OP_ATOMIC_ADD, r->resources[inst->a], index, value, VYRE_NONE,
                          (vyre_ordering)(inst->aux & 7), (vyre_scope)(inst->aux >> 3));
    return true;
}

/* A load past the end gives the last element. */
static bool clamp_index(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    if (inst->op != VYRE_OP_LOAD) {
        return false;
    }
    uint32_t index = operand(r, at, 1), length = vyre_build_len(r->to, r->resources[inst->a]);
    if (vyre_build_type(r->to, index) != VYRE_TYPE_U32) {
        return false;
    }
    uint32_t last = vyre_build_op(r->to, VYRE_OP_SUB, length, vyre_build_u32(r->to, 1), VYRE_NONE);
    index = vyre_build_op(r->to, VYRE_OP_MIN, index, last, VYRE_NONE);
    r->values[at] = vyre_build_load(r->to, r->resources[inst->a], index);
    return true;
}

typedef bool (*miscompile)(vyre_rebuild *rebuild, uint32_t inst);

static vyre_status run_program(const vyre_program *program, const vyre_call *call,
                               vyre_output *outputs) {
    vyre_outputs own;
    vyre_status status =
        vyre_reference_run(program, call->inputs, call->input_count, call->config, NULL, &own);
    for (size_t i = 0; i < own.count; i++) {
        if (own.items[i].size) {
            memcpy(outputs[i].data, own.items[i].data, own.items[i].size);
        }
    }
    vyre_outputs_free(&own);
    return status;
}

static vyre_status run_miscompiled(const vyre_backend *backend, const vyre_call *call,
                                   vyre_output *outputs) {
    const miscompile *bug = backend->state;
    vyre_program *wrong = NULL;
    vyre_rebuild hooks = {.replace = *bug};
    vyre_status status = vyre_rebuild_run(call->program, hooks, &wrong);
    if (!status) {
        status = run_program(wrong, call, outputs);
    }
    vyre_program_release(wrong);
    return status;
}

/* Bugs of a runtime: something wrong around a right run. */

static vyre_status run_right(const vyre_call *call, vyre_output *outputs) {
    return run_program(call->program, call, outputs);
}

static vyre_status write_behind(const vyre_backend *backend, const vyre_call *call,
                                vyre_output *outputs) {
    (void)backend;
    vyre_status status = run_right(call, outputs);
    if (call->output_count) {
        outputs[0].data[outputs[0].size] ^= 1;
    }
    return status;
}

static vyre_status write_before(const vyre_backend *backend, const vyre_call *call,
                                vyre_output *outputs) {
    (void)backend;
    vyre_status status = run_right(call, outputs);
    if (call->output_count) {
        outputs[0].data[-1] ^= 1;
    }
    return status;
}

static vyre_status write_input(const vyre_backend *backend, const vyre_call *call,
                               vyre_output *outputs) {
    (void)backend;
    vyre_status status = run_right(call, outputs);
    for (size_t i = 0; i < call->input_count; i++) {
        if (call->inputs[i].size) {
            ((uint8_t *)call->inputs[i].data)[0] ^= 0x80;
        }
    }
    return status;
}

/* Leaves alone what the program does not write, instead of giving zeros. */
static vyre_status leave_garbage(const vyre_backend *backend, const vyre_call *call,
                                 vyre_output *outputs) {
    (void)backend;
    bool any = call->output_count && outputs[0].size;
    uint8_t *last = any ? &outputs[0].data[outputs[0].size - 1] : NULL;
    uint8_t before = any ? *last : 0;
    vyre_status status = run_right(call, outputs);
    if (any && !*last) {
        *last = before;
    }
    return status;
}

static vyre_status break_off(const vyre_backend *backend, const vyre_call *call,
                             vyre_output *outputs) {
    (void)backend;
    return vyre_program_ir(call->program)->phase_count > 1
               ? vyre_status_make(VYRE_STATUS_IO, "plug it in again", "the device is gone")
               : run_right(call, outputs);
}

static vyre_status refuse_subgroups(const vyre_backend *backend, const vyre_call *call,
                                    vyre_output *outputs) {
    (void)backend;
    const vyre_ir *ir = vyre_program_ir(call->program);
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        if (vyre_op_info_of(ir->insts[i].op)->effects & VYRE_EFFECT_SUBGROUP) {
            return vyre_status_make(VYRE_STATUS_UNSUPPORTED, "use another device",
                                    "there are no subgroups here");
        }
    }
    return run_right(call, outputs);
}

/* A backend around one of these, which gets whole programs and borrowed inputs. */

static const char *subject_id(const vyre_backend *backend) {
    (void)backend;
    return "subject";
}

static uint32_t subject_features(const vyre_backend *backend) {
    (void)backend;
    return VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC | VYRE_FEATURE_STEPS |
           VYRE_FEATURE_CONSTANT_ARRAYS | VYRE_FEATURE_RECORDS;
}

typedef vyre_status (*dispatch_function)(const vyre_backend *backend, const vyre_call *call,
                                         vyre_output *outputs);

static vyre_status open_subject(dispatch_function dispatch, const miscompile *bug,
                                vyre_device **out_device) {
    const vyre_backend_slots slots = {
        VYRE_BACKEND_HEAD,
        .id = subject_id,
        .dispatch = dispatch,
        .dispatch_borrowed = dispatch,
        .features = subject_features,
        .max_workgroup_size = vyre_any_workgroup_size,
        .max_workgroups_per_dimension = vyre_any_workgroup_count,
    };
    const vyre_backend made = {&slots, (void *)(uintptr_t)bug, NULL};
    return vyre_device_open(&made, "subject", 0, out_device);
}

static vyre_status open_both(dispatch_function dispatch, const miscompile *bug,
                             conform_pair *conform) {
    *conform = (conform_pair){.has_one_answer = vyre_reference_has_one_answer};
    vyre_status status = vyre_reference_open_oracle(&conform->oracle);
    status = status ? status : open_subject(dispatch, bug, &conform->subject);
    return status;
}

static void close_both(conform_pair *conform) {
    vyre_device_release(conform->oracle);
    vyre_device_release(conform->subject);
}

static vyre_status compare(const conform_pair *conform, const conform_trial *trial,
                           conform_comparison *comparison) {
    vyre_outputs expected;
    vyre_status status = conform_expect(conform, trial, trial->program, &expected);
    if (!status) {
        status = conform_compare(conform, trial, trial->program, &expected, comparison);
    }
    vyre_outputs_free(&expected);
    return status;
}

static size_t count_lines(const char *text) {
    size_t lines = 0;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

/* Notes whether a run has a timeout. */
static vyre_status note_timeout(const vyre_backend *backend, const vyre_call *call,
                                vyre_output *outputs) {
    bool *is_untimed = (bool *)(uintptr_t)backend->state;
    *is_untimed = !call->config->timeout_ns;
    return run_right(call, outputs);
}

static void software_profile(const vyre_backend *backend, vyre_profile *out_profile) {
    (void)backend;
    out_profile->flags = VYRE_PROFILE_IS_SOFTWARE;
}

/* Devices may have other code for runs without a timeout. A GPU that hangs may hang for all, so
 * only software devices do half of the programs without. */
static void software_runs_with_and_without_timeouts(void **state) {
    (void)state;
    for (int is_software = 0; is_software <= 1; is_software++) {
        bool is_untimed;
        conform_pair conform = {0};
        const vyre_backend_slots slots = {
            VYRE_BACKEND_HEAD,
            .id = subject_id,
            .dispatch = note_timeout,
            .dispatch_borrowed = note_timeout,
            .features = subject_features,
            .max_workgroup_size = vyre_any_workgroup_size,
            .max_workgroups_per_dimension = vyre_any_workgroup_count,
            .device_profile = is_software ? software_profile : NULL,
        };
        const vyre_backend made = {&slots, &is_untimed, NULL};
        assert_null(vyre_reference_open_oracle(&conform.oracle));
        assert_null(vyre_device_open(&made, "subject", 0, &conform.subject));
        for (uint64_t seed = 1; seed <= 4; seed++) {
            conform_trial trial;
            conform_comparison comparison;
            assert_null(conform_seeds_generate(CONFORM_SUITE_SMALL, seed, &trial));
            assert_null(compare(&conform, &trial, &comparison));
            assert_int_equal(comparison.verdict, CONFORM_VERDICT_SAME);
            assert_int_equal(is_untimed, is_software && seed % 2);
            conform_trial_free(&trial);
        }
        close_both(&conform);
    }
}

/* Looks for a program that shows the bug; gives the lines of the smallest one, 0 if there is none.
 */
static size_t find_and_shrink(const char *name, dispatch_function dispatch, const miscompile *bug,
                              conform_verdict expected, uint64_t programs) {
    conform_pair conform;
    size_t lines = NONE_AT_ALL;
    assert_null(open_both(dispatch, bug, &conform));
    for (uint64_t seed = 1; seed <= programs; seed++) {
        conform_trial trial;
        conform_comparison comparison;
        assert_null(conform_generate(seed, &trial));
        assert_null(compare(&conform, &trial, &comparison));
        if (comparison.verdict == CONFORM_VERDICT_SAME) {
            assert_string_equal(comparison.text, "");
            conform_trial_free(&trial);
            continue;
        }
        assert_int_equal(comparison.verdict, expected);
        assert_true(*comparison.text);
        assert_null(conform_shrink(&conform, &trial, &comparison));
        assert_int_equal(comparison.verdict, expected);
        /* What is left still fails. */
        conform_comparison again;
        assert_null(compare(&conform, &trial, &again));
        assert_int_equal(again.verdict, expected);
        assert_string_equal(again.text, comparison.text);
        char *text;
        size_t size;
        assert_null(vyre_program_print(trial.program, &text, &size));
        lines = count_lines(text);
        print_message("%s: seed %llu, %zu lines: %s\n%s", name, (unsigned long long)seed, lines,
                      comparison.text, text);
        vyre_string_free(text);
        conform_trial_free(&trial);
        break;
    }
    close_both(&conform);
    return lines;
}

static void conform_finds_and_shrinks_bugs_of_a_compiler(void **state) {
    (void)state;
    static const struct {
        const char *name;
        miscompile bug;
    } rows[] = {
        {"one bit", flip_one_bit},       {"two roundings", round_twice},
        {"naive minimum", compare_only}, {"inclusive scan", include_the_lane},
        {"wrong atomic", add_instead},   {"clamped load", clamp_index},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t lines = find_and_shrink(rows[i].name, run_miscompiled, &rows[i].bug,
                                       CONFORM_VERDICT_DIFFERENT, 2000);
        assert_true(lines > 2);
        assert_true(lines < SHORT);
    }
}

static void conform_finds_and_shrinks_bugs_of_a_runtime(void **state) {
    (void)state;
    static const struct {
        const char *name;
        dispatch_function dispatch;
        conform_verdict verdict;
    } rows[] = {
        {"writes behind", write_behind, CONFORM_VERDICT_FENCE},
        {"writes before", write_before, CONFORM_VERDICT_FENCE},
        {"writes inputs", write_input, CONFORM_VERDICT_FENCE},
        {"leaves garbage", leave_garbage, CONFORM_VERDICT_DIFFERENT},
        {"breaks off", break_off, CONFORM_VERDICT_FAILED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t lines = find_and_shrink(rows[i].name, rows[i].dispatch, NULL, rows[i].verdict, 50);
        assert_true(lines > 1);
        assert_true(lines < SHORT);
    }
}

static void conform_tells_unsupported_from_wrong(void **state) {
    (void)state;
    conform_pair conform;
    size_t same = 0, unsupported = 0;
    assert_null(open_both(refuse_subgroups, NULL, &conform));
    for (uint64_t seed = 1; seed <= 60; seed++) {
        conform_trial trial;
        conform_comparison comparison;
        assert_null(conform_generate(seed, &trial));
        assert_null(compare(&conform, &trial, &comparison));
        same += comparison.verdict == CONFORM_VERDICT_SAME;
        unsupported += comparison.verdict == CONFORM_VERDICT_UNSUPPORTED;
        conform_trial_free(&trial);
    }
    close_both(&conform);
    assert_int_equal(same + unsupported, 60);
    assert_true(same > 5);
    assert_true(unsupported > 5);
}

static void generated_programs_have_one_answer(void **state) {
    (void)state;
    for (uint64_t seed = 5000; seed < 5100; seed++) {
        conform_trial trial, again;
        size_t count;
        assert_null(conform_generate(seed, &trial));
        assert_null(conform_generate(seed, &again));
        vyre_digest left = vyre_program_digest(trial.program);
        vyre_digest right = vyre_program_digest(again.program);
        assert_memory_equal(&left, &right, sizeof left);
        vyre_input *inputs = conform_trial_inputs(&trial, trial.program, &count);
        assert_non_null(inputs);
        if (!vyre_reference_has_one_answer(trial.program, inputs, count)) {
            fail_msg("the program of seed %llu has no single answer", (unsigned long long)seed);
        }
        vyre_free(inputs);
        conform_trial_free(&trial);
        conform_trial_free(&again);
    }
}

/* Every operation and type must come up, or conformance would not be about them. */
static void generated_programs_use_everything(void **state) {
    (void)state;
    static uint32_t seen[VYRE_OP_COUNT], types[VYRE_TYPE_COUNT], shapes[4];
    for (uint64_t seed = 1; seed <= 600; seed++) {
        conform_trial trial;
        assert_null(conform_generate(seed, &trial));
        const vyre_ir *ir = vyre_program_ir(trial.program);
        for (uint32_t i = 0; i < ir->inst_count; i++) {
            seen[ir->insts[i].op]++;
            types[ir->insts[i].type]++;
        }
        for (uint32_t i = 0; i < ir->phase_count; i++) {
            shapes[0] += ir->phases[i].from_resource != VYRE_NONE;
            shapes[1] += ir->phases[i].dimensions == 3;
        }
        for (uint32_t i = 0; i < ir->step_count; i++) {
            shapes[2] += ir->steps[i].kind == VYRE_STEP_REPEAT_COUNT;
            shapes[3] += ir->steps[i].kind == VYRE_STEP_REPEAT_WHILE;
        }
        conform_trial_free(&trial);
    }
#define CHECK_OP(name, number, text, shape, rule, effects, cost, doc)                              \
    if (!seen[number] && number != VYRE_OP_UNREACHABLE && number != VYRE_OP_CLEAR) {               \
        fail_msg("no random program uses %s", text);                                               \
    }
    VYRE_OPS(CHECK_OP)
#undef CHECK_OP
    for (uint32_t type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
        assert_true(types[type] > 100);
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        assert_true(shapes[i] > 0);
    }
}

static vyre_status generate_one(void) {
    conform_trial trial;
    vyre_status status = conform_generate(7, &trial);
    conform_trial_free(&trial);
    return status;
}

/* Compares a small program. */
static vyre_status compare_one(void) {
    static const char text[] = "program p(a: buffer<u32>, x: out buffer<u32>[2]) over x {"
                               " x[gid] = (a[gid] + a[gid]) | 3; }";
    static uint8_t data[] = {0, 0, 0, 0x80, 0, 0, 0, 0x80}; /* two large numbers */
    static const miscompile bug = flip_one_bit;
    conform_pair conform;
    conform_trial trial = {0};
    conform_comparison comparison = {0};
    vyre_module *module = NULL;
    vyre_status status = open_both(run_miscompiled, &bug, &conform);
    status = status ? status : vyre_module_parse("text", text, sizeof text - 1, NULL, &module);
    if (!status) {
        trial.program = vyre_program_retain(vyre_module_program(module, 0));
        trial.values = vyre_alloc_zeroed(1, sizeof *trial.values);
        trial.value_count = trial.values ? 1 : 0;
        if (trial.values) {
            trial.values[0] = (conform_trial_value){vyre_alloc(2), vyre_alloc(8), sizeof data};
        }
        if (trial.values && trial.values[0].name && trial.values[0].data) {
            memcpy(trial.values[0].name, "a", 2);
            memcpy(trial.values[0].data, data, sizeof data);
            status = compare(&conform, &trial, &comparison);
        } else {
            status = vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, NULL, "no memory for the trial");
        }
        vyre_module_free(module);
    }
    /* The subject may be the one that found no memory. */
    if (!status && comparison.verdict == CONFORM_VERDICT_FAILED) {
        status = vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, NULL, "%s", comparison.text);
    }
    close_both(&conform);
    conform_trial_free(&trial);
    return status;
}

static void sweep(vyre_status (*run)(void), size_t least) {
    vyre_status_free(run()); /* what is made once and stays */
    for (size_t n = 1;; n++) {
        failing_allocator_start(n);
        vyre_status status = run();
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        failing_allocator_end();
        assert_int_equal(failing_allocator_state.live, 0);
        if (!failing_allocator_failed()) {
            assert_int_equal(code, VYRE_STATUS_OK);
            assert_true(n > least);
            return;
        }
        assert_int_equal(code, VYRE_STATUS_OUT_OF_MEMORY);
    }
}

static void conform_survives_any_allocation_failing(void **state) {
    (void)state;
    sweep(generate_one, 20);
    sweep(compare_one, 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conform_finds_and_shrinks_bugs_of_a_compiler),
        cmocka_unit_test(conform_finds_and_shrinks_bugs_of_a_runtime),
        cmocka_unit_test(conform_tells_unsupported_from_wrong),
        cmocka_unit_test(software_runs_with_and_without_timeouts),
        cmocka_unit_test(generated_programs_have_one_answer),
        cmocka_unit_test(generated_programs_use_everything),
        cmocka_unit_test(conform_survives_any_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
