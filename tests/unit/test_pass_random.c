/* Every pass of the table, and all of them in a row, leave what random programs compute as it is:
 * same bytes in two schedules, no data race that was not there, no worse class of determinism. Each
 * of them must have changed enough programs for that to say something. Programs come from the
 * generator of conformance, which has everything, and from one in which things come again. */
#include "base/alloc.h"
#include "base/random.h"
#include "conform/trial.h"
#include "pass/pass.h"
#include "tests/unit/dense_programs.h"
#include "tests/unit/reference_check.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"

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

typedef struct tally {
    uint32_t programs, changed[VYRE_PASS_COUNT + 1];
} tally;

static void check_all(uint64_t seed, const vyre_program *program, check_list inputs,
                      tally *counts) {
    static const vyre_pass all = {.name = "optimise", .run = vyre_optimise};
    vyre_outputs expected = run(seed, "no pass", program, program, inputs, 0);
    for (size_t i = 0; i <= VYRE_PASS_COUNT; i++) {
        const vyre_pass *pass = i < VYRE_PASS_COUNT ? &vyre_passes[i] : &all;
        counts->changed[i] += check(seed, pass, program, &expected, inputs);
    }
    counts->programs++;
    vyre_outputs_free(&expected);
}

static void check_tally(const tally *counts, bool has_functions) {
    for (size_t i = 0; i <= VYRE_PASS_COUNT; i++) {
        printf("%s changed %u of %u programs\n",
               i < VYRE_PASS_COUNT ? vyre_passes[i].name : "optimise", counts->changed[i],
               counts->programs);
        if (i != VYRE_PASS_MATH || has_functions) {
            assert_true(counts->changed[i] * TIMES_LEAST >= counts->programs);
        }
    }
}

static void programs_of_all_kinds(void **state) {
    (void)state;
    tally counts = {0};
    for (uint64_t seed = 1; seed <= test_work(500, 80); seed++) {
        conform_trial trial;
        assert_null(trial_generate(seed, &trial));
        check_list inputs = {0};
        vyre_input *items = conform_trial_inputs(&trial, trial.program, &inputs.count);
        inputs.items = items;
        check_all(seed, trial.program, inputs, &counts);
        vyre_free(items);
        conform_trial_free(&trial);
    }
    check_tally(&counts, true);
}

static void programs_of_few_words(void **state) {
    (void)state;
    tally counts = {0};
    for (uint64_t seed = 1; seed <= test_work(500, 80); seed++) {
        uint32_t x[DENSE_INVOCATIONS], y[DENSE_INVOCATIONS * DENSE_ELEMENTS], h[2] = {1, 2};
        uint64_t random = seed;
        for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
            x[i] = (uint32_t)vyre_random_below(&random, i % 4 ? 8 : 0xffffffff);
        }
        for (size_t i = 0; i < sizeof y / sizeof *y; i++) {
            y[i] = (uint32_t)vyre_random_below(&random, 8);
        }
        vyre_strbuf text = dense_program(seed);
        vyre_program *program = check_parse(vyre_strbuf_string(&text));
        check_all(seed, program, LIST(BYTES(x), BYTES(y), BYTES(h)), &counts);
        vyre_program_release(program);
        vyre_strbuf_free(&text);
    }
    check_tally(&counts, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_of_all_kinds),
        cmocka_unit_test(programs_of_few_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
