/* Every pass of the table, and all of them in a row, leave what random programs compute as it is:
 * same bytes in two schedules, no data race that was not there, no worse class of determinism. Each
 * of them must have changed enough programs for that to say something. */
#include "base/alloc.h"
#include "base/random.h"
#include "driver/trial.h"
#include "pass/dce.h"
#include "pass/pass.h"
#include "tests/unit/reference_check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PROGRAMS = 200 };
#else
enum { PROGRAMS = 2000 };
#endif

enum {
    RACES_EVERY = 8, /* programs: the sanitizer is slow */
    TIMES_LEAST = 20 /* a pass must change one program in so many */
};

static void fail_at(uint64_t seed, const char *pass, const char *what, const vyre_program *before,
                    const vyre_program *after) {
    char *text, *other = NULL;
    size_t size;
    assert_null(vyre_program_print(before, &text, &size));
    if (after) {
        assert_null(vyre_program_print(after, &other, &size));
    }
    fail_msg("seed %llu, %s: %s\n%s\nafter it:\n%s", (unsigned long long)seed, pass, what, text,
             other ? other : "");
}

static vyre_outputs run(uint64_t seed, const char *pass, const vyre_program *before,
                        const vyre_program *program, check_list inputs, uint64_t schedule) {
    vyre_outputs outputs;
    vyre_reference_options options = {.seed = schedule, .max_steps = CHECK_STEPS};
    vyre_status status =
        vyre_reference_run(program, inputs.items, inputs.count, NULL, &options, &outputs);
    if (status) {
        fail_at(seed, pass, vyre_status_text(status), before, program);
    }
    return outputs;
}

static bool same_outputs(const vyre_outputs *one, const vyre_outputs *other) {
    bool same = one->count == other->count;
    for (size_t i = 0; same && i < one->count; i++) {
        same = one->items[i].size == other->items[i].size &&
               !memcmp(one->items[i].data, other->items[i].data, one->items[i].size);
    }
    return same;
}

static void check_races(uint64_t seed, const char *pass, const vyre_program *before,
                        const vyre_program *after, check_list inputs) {
    vyre_findings *findings;
    vyre_sanitize_options options = {.seed = seed, .max_steps = CHECK_STEPS};
    vyre_status status = vyre_sanitize(after, inputs.items, inputs.count, &options, &findings);
    if (status) {
        fail_at(seed, pass, vyre_status_text(status), before, after);
    }
    for (size_t i = 0; i < vyre_findings_count(findings); i++) {
        const vyre_finding *finding = vyre_findings_get(findings, i);
        if (vyre_finding_is_error(finding->kind)) {
            fail_at(seed, pass, finding->message, before, after);
        }
    }
    vyre_findings_free(findings);
}

/* The outline that a pass must not touch. */
static bool same_outline(const vyre_program *before, const vyre_program *after) {
    const vyre_ir *one = vyre_program_ir(before), *other = vyre_program_ir(after);
    bool same = one->arg_count == other->arg_count && one->step_count == other->step_count &&
                one->phase_count == other->phase_count && one->flags == other->flags &&
                one->size_count == other->size_count &&
                !memcmp(one->args, other->args, one->arg_count * sizeof *one->args) &&
                !memcmp(one->steps, other->steps, one->step_count * sizeof *one->steps) &&
                !memcmp(one->sizes, other->sizes, one->size_count * sizeof *one->sizes);
    for (uint32_t i = 0; same && i < one->phase_count; i++) {
        const vyre_phase *a = &one->phases[i], *b = &other->phases[i];
        same = a->dimensions == b->dimensions && !memcmp(a->domain, b->domain, sizeof a->domain) &&
               !memcmp(a->workgroup, b->workgroup, sizeof a->workgroup) &&
               a->from_resource == b->from_resource && a->from_index == b->from_index;
    }
    return same;
}

/* The class without code that nobody needs: an expanded function branches on its operands, and then
 * counts as if it needed them. */
static vyre_determinism determinism(const vyre_program *program) {
    vyre_program *result;
    assert_null(vyre_dce(program, &result));
    vyre_determinism class = vyre_program_determinism(result ? result : program);
    vyre_program_release(result);
    return class;
}

/* Whether the pass changed anything. */
static bool check(uint64_t seed, const vyre_pass *pass, const vyre_program *program,
                  const vyre_outputs *expected, check_list inputs) {
    vyre_program *result;
    vyre_status status = pass->run(program, &result);
    if (status) {
        fail_at(seed, pass->name, vyre_status_text(status), program, NULL);
    }
    if (!result) {
        return false;
    }
    vyre_digest before = vyre_program_digest(program), after = vyre_program_digest(result);
    if (before.low == after.low && before.high == after.high) {
        fail_at(seed, pass->name, "a copy, although nothing changed", program, NULL);
    }
    if (!same_outline(program, result)) {
        fail_at(seed, pass->name, "another interface or other steps", program, result);
    }
    if (determinism(result) > vyre_program_determinism(program)) {
        fail_at(seed, pass->name, "a worse class of determinism", program, result);
    }
    uint64_t random = seed;
    uint64_t schedules[2] = {0, vyre_random(&random) | 1};
    for (int i = 0; i < 2; i++) {
        vyre_outputs found = run(seed, pass->name, program, result, inputs, schedules[i]);
        if (!same_outputs(expected, &found)) {
            fail_at(seed, pass->name, "the outputs differ", program, result);
        }
        vyre_outputs_free(&found);
    }
    if (seed % RACES_EVERY == 0) {
        check_races(seed, pass->name, program, result, inputs);
    }
    vyre_program_release(result);
    return true;
}

static void random_programs(void **state) {
    (void)state;
    static const vyre_pass all = {.name = "optimise", .run = vyre_optimise};
    uint32_t changed[VYRE_PASS_COUNT + 1] = {0};
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        vyre_trial trial;
        assert_null(vyre_generate(seed, &trial));
        check_list inputs = {0};
        vyre_input *items = vyre_trial_inputs(&trial, trial.program, &inputs.count);
        inputs.items = items;
        vyre_outputs expected = run(seed, "no pass", trial.program, trial.program, inputs, 0);
        for (size_t i = 0; i <= VYRE_PASS_COUNT; i++) {
            const vyre_pass *pass = i < VYRE_PASS_COUNT ? &vyre_passes[i] : &all;
            changed[i] += check(seed, pass, trial.program, &expected, inputs);
        }
        vyre_outputs_free(&expected);
        vyre_free(items);
        vyre_trial_free(&trial);
    }
    for (size_t i = 0; i <= VYRE_PASS_COUNT; i++) {
        const char *name = i < VYRE_PASS_COUNT ? vyre_passes[i].name : all.name;
        printf("%s changed %u of %d programs\n", name, changed[i], PROGRAMS);
    }
    for (size_t i = 0; i <= VYRE_PASS_COUNT; i++) {
        assert_true(changed[i] * TIMES_LEAST >= PROGRAMS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
