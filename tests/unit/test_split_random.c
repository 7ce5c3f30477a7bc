/* Random programs with grid barriers give the same bytes when they are split at them. */
#include "base/alloc.h"
#include "base/random.h"
#include "conform/trial.h"
#include "pass/split.h"
#include "tests/unit/reference_check.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

typedef struct tally {
    uint32_t programs, in_loops, in_branches, in_calls, with_atomics, with_arrays, in_repeats,
        without_groups, from_memory;
} tally;

static void count_barriers(const vyre_ir *ir, tally *counts) {
    uint32_t owners[VYRE_LIMIT_NESTING + 1], depth = 0;
    bool in_loop = false, in_branch = false, in_call = false, with_atomics = false;
    bool with_arrays = false, in_repeat = false, from_memory = false;
    bool without_groups = false;
    for (uint32_t p = 0; p < ir->phase_count; p++) {
        const vyre_phase *phase = &ir->phases[p];
        bool has_any = false, atomics = false;
        for (uint32_t at = phase->first; at < phase->end; at++) {
            while (depth && ir->insts[owners[depth - 1]].c == at) {
                depth--;
            }
            uint32_t effects = vyre_op_info_of(ir->insts[at].op)->effects;
            atomics |= (effects & VYRE_EFFECT_ATOMIC) != 0;
            if (ir->insts[at].op == VYRE_OP_GRID_BARRIER) {
                has_any = true;
                for (uint32_t i = 0; i < depth; i++) {
                    uint32_t op = ir->insts[owners[i]].op;
                    in_loop |= op == VYRE_OP_FOR || op == VYRE_OP_LOOP;
                    in_branch |= op == VYRE_OP_IF;
                    in_call |= op == VYRE_OP_INLINE;
                }
            }
            if (effects & VYRE_EFFECT_BLOCK) {
                owners[depth++] = at;
            }
        }
        depth = 0;
        with_atomics |= has_any && atomics;
        with_arrays |= has_any && phase->end_resource > phase->first_resource;
        without_groups |= has_any && !phase->workgroup[0];
        from_memory |= has_any && phase->from_resource != VYRE_NONE;
        for (uint32_t i = 0; i < ir->step_count && has_any; i++) {
            if (ir->steps[i].kind != VYRE_STEP_PHASE) {
                for (uint32_t k = i + 1; k < ir->steps[i].end; k++) {
                    in_repeat |= ir->steps[k].kind == VYRE_STEP_PHASE && ir->steps[k].size == p;
                }
            }
        }
    }
    counts->programs++;
    counts->in_loops += in_loop;
    counts->in_branches += in_branch;
    counts->in_calls += in_call;
    counts->with_atomics += with_atomics;
    counts->with_arrays += with_arrays;
    counts->in_repeats += in_repeat;
    counts->without_groups += without_groups;
    counts->from_memory += from_memory;
}

static void fail_at(uint64_t seed, const char *what, const vyre_program *program) {
    char *text;
    size_t size;
    assert_null(vyre_program_print(program, &text, &size));
    fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, what, text);
}

static vyre_outputs run(uint64_t seed, const vyre_program *program, check_list inputs,
                        uint64_t schedule) {
    vyre_outputs outputs;
    vyre_reference_options options = {.seed = schedule, .max_steps = CHECK_STEPS};
    vyre_status status =
        vyre_reference_run(program, inputs.items, inputs.count, NULL, &options, &outputs);
    if (status) {
        fail_at(seed, vyre_status_text(status), program);
    }
    return outputs;
}

static void compare(uint64_t seed, const vyre_program *program, const vyre_program *result,
                    check_list inputs) {
    uint64_t random = seed;
    uint64_t schedules[2] = {0, vyre_random(&random) | 1};
    vyre_outputs expected = run(seed, program, inputs, 0);
    for (int i = 0; i < 2; i++) {
        vyre_outputs found = run(seed, result, inputs, schedules[i]);
        assert_int_equal(found.count, expected.count);
        for (size_t k = 0; k < found.count; k++) {
            if (found.items[k].size != expected.items[k].size ||
                memcmp(found.items[k].data, expected.items[k].data, found.items[k].size) != 0) {
                fail_at(seed, "the outputs differ", program);
            }
        }
        vyre_outputs_free(&found);
    }
    vyre_outputs_free(&expected);
}

static void check_races(uint64_t seed, const vyre_program *result, check_list inputs) {
    vyre_findings *findings;
    vyre_sanitize_options options = {.seed = seed, .max_steps = CHECK_STEPS};
    vyre_status status = vyre_sanitize(result, inputs.items, inputs.count, &options, &findings);
    if (status) {
        fail_at(seed, vyre_status_text(status), result);
    }
    for (size_t i = 0; i < vyre_findings_count(findings); i++) {
        const vyre_finding *finding = vyre_findings_get(findings, i);
        if (vyre_finding_is_error(finding->kind)) {
            fail_at(seed, finding->message, result);
        }
    }
    vyre_findings_free(findings);
}

static void random_programs(void **state) {
    (void)state;
    tally counts = {0};
    uint64_t seed = 1;
    for (; counts.programs < test_work(600, 60); seed++) {
        conform_trial trial;
        assert_null(trial_generate(seed, &trial));
        vyre_program *result;
        vyre_status status = vyre_split_grid_barriers(trial.program, &result);
        if (status) {
            fail_at(seed, vyre_status_text(status), trial.program);
        }
        bool has_any = vyre_program_stats(trial.program).grid_barriers != 0;
        assert_int_equal(has_any, result != NULL);
        if (result) {
            assert_int_equal(vyre_program_stats(result).grid_barriers, 0);
            assert_true(vyre_program_determinism(result) <=
                        vyre_program_determinism(trial.program));
            check_list inputs = {0};
            vyre_input *items = conform_trial_inputs(&trial, trial.program, &inputs.count);
            inputs.items = items;
            compare(seed, trial.program, result, inputs);
            if (seed % 4 == 0) {
                check_races(seed, result, inputs);
            }
            vyre_free(items);
            count_barriers(vyre_program_ir(trial.program), &counts);
        }
        vyre_program_release(result);
        conform_trial_free(&trial);
    }
    printf(
        "%u programs with grid barriers of %llu: %u in loops, %u in branches, %u in calls, %u "
        "with atomics, %u with shared or private arrays, %u in repeats, %u from memory, %u without "
        "workgroups\n",
        counts.programs, (unsigned long long)seed - 1, counts.in_loops, counts.in_branches,
        counts.in_calls, counts.with_atomics, counts.with_arrays, counts.in_repeats,
        counts.from_memory, counts.without_groups);
    /* The issue is where barriers stand, so there must be enough of each. */
    assert_true(counts.in_loops * 8 > counts.programs);
    assert_true(counts.in_branches * 8 > counts.programs);
    assert_true(counts.with_atomics * 4 > counts.programs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
