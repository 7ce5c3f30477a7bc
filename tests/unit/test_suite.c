/* The suites of conformance: what is on record, what it rests on, and that nothing is left out.
 *
 * test_suite --update writes the records anew; look at what changed before keeping it. */
#include "tests/unit/eval_exact.h"
#include "tests/unit/eval_host.h"
#include "tests/unit/eval_integer.h"
#include "tests/unit/eval_number.h"

#include <vyre/sanitize.h>

#include "backend/reference/backend.h"
#include "base/alloc.h"
#include "conform/suite.h"
#include "tests/unit/failing_allocator.h"

enum { MOST_GROUP = 64 };

static const char records_path[] = "src/conform/suite_records.txt";
static vyre_device *oracle;

static void expect_ok(vyre_status status) {
    if (status) {
        fail_msg("%s", vyre_status_text(status));
    }
}

static conform_suite make(conform_suite_kind kind) {
    conform_suite suite;
    expect_ok(conform_suite_make(kind, &suite));
    return suite;
}

static size_t take_group(const conform_suite *suite, size_t first,
                         const conform_suite_case **cases) {
    size_t end = conform_suite_group_end(suite, first);
    assert_in_range(end - first, 1, MOST_GROUP);
    for (size_t i = first; i < end; i++) {
        cases[i - first] = &suite->cases[i];
    }
    return end;
}

/* Records */

typedef struct record {
    char id[120];
    uint64_t digest;
} record;

static int by_id(const void *left, const void *right) {
    return strcmp(((const record *)left)->id, ((const record *)right)->id);
}

static size_t collect(record *out, size_t room) {
    const conform_suite_runner runner = {
        .oracle = oracle, .device = oracle, .runs = 1, .ignores_records = true};
    size_t count = 0;
    for (conform_suite_kind kind = 0; kind < CONFORM_SUITE_FIXED; kind++) {
        conform_suite suite = make(kind);
        for (size_t first = 0, end; first < suite.case_count; first = end) {
            const conform_suite_case *cases[MOST_GROUP];
            conform_suite_result results[MOST_GROUP];
            end = take_group(&suite, first, cases);
            expect_ok(conform_suite_run(&runner, &suite, cases, end - first, results));
            for (size_t i = 0; i < end - first; i++) {
                if (results[i].verdict) {
                    fail_msg("%s: %s", cases[i]->id, results[i].text);
                }
                assert_true(count < room && strlen(cases[i]->id) < sizeof out->id);
                snprintf(out[count].id, sizeof out->id, "%s", cases[i]->id);
                out[count++].digest = results[i].digest;
            }
        }
        conform_suite_free(&suite);
    }
    qsort(out, count, sizeof *out, by_id);
    for (size_t i = 1; i < count; i++) {
        if (!by_id(&out[i - 1], &out[i])) {
            fail_msg("two cases are called %s", out[i].id);
        }
    }
    return count;
}

enum { MOST_CASES = 8000 };
static record all[MOST_CASES];

static void update_records(void) {
    size_t count = collect(all, MOST_CASES);
    FILE *file = fopen(records_path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < count; i++) {
        fprintf(file, "%s %016llx\n", all[i].id, (unsigned long long)all[i].digest);
    }
    assert_int_equal(fclose(file), 0);
    printf("%zu records in %s\n", count, records_path);
}

static void every_case_gives_the_bytes_on_record(void **state) {
    (void)state;
    extern const char conform_suite_records_text[];
    size_t count = collect(all, MOST_CASES), lines = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t digest;
        if (!conform_suite_recorded(all[i].id, &digest)) {
            fail_msg("%s is not on record: run ./dev update", all[i].id);
        }
        if (digest != all[i].digest) {
            fail_msg("%s gives %016llx, on record is %016llx", all[i].id,
                     (unsigned long long)all[i].digest, (unsigned long long)digest);
        }
    }
    for (const char *at = conform_suite_records_text; *at; at++) {
        lines += *at == '\n';
    }
    assert_int_equal(lines, count); /* none is left from a case that is gone */
    uint64_t digest;
    assert_false(conform_suite_recorded("special.f32.ad", &digest));
    assert_false(conform_suite_recorded("special.f32.addd", &digest));
    assert_false(conform_suite_recorded("zzz", &digest));
    assert_false(conform_suite_recorded("", &digest));
}

/* What the records of operations on values rest on: the host's arithmetic and whole numbers. */

static uint64_t by_host(const eval_case *c, const uint64_t *x) {
    return c->types[0] == VYRE_TYPE_F32
               ? host_f32(c->op, (uint32_t)x[0], (uint32_t)x[1], (uint32_t)x[2])
               : host_f64(c->op, x[0], x[1], x[2]);
}

static uint64_t same_bits(const eval_case *c, const uint64_t *x) {
    (void)c;
    return x[0];
}

static uint64_t by_halves(const eval_case *c, const uint64_t *x) {
    return exact_operation(c->op, c->types[0], x);
}

/* NULL: nobody here knows, but others do (tools/prove-math). */
static eval_oracle oracle_of(const eval_case *c) {
    vyre_type type = c->types[c->operands - 1];
    if (c->op == VYRE_OP_CONVERT || c->op == VYRE_OP_BITCAST) {
        return c->op == VYRE_OP_CONVERT ? number_conversion : same_bits;
    }
    if (vyre_type_class_of(type) != VYRE_CLASS_FLOAT) {
        return integer_oracles[c->op];
    }
    bool is_half = vyre_type_bytes(type) == 2;
    return number_oracle_of(c->op, is_half ? by_halves : by_host);
}

static const conform_trial_value *find_value(const conform_trial *trial, const char *name) {
    for (size_t i = 0; i < trial->value_count; i++) {
        if (!strcmp(trial->values[i].name, name)) {
            return &trial->values[i];
        }
    }
    return NULL;
}

/* The case alone: its first output is that of operands from memory. */
static bool check_case(const conform_suite *suite, const conform_suite_case *chosen) {
    static const char *const names[] = {"a", "b", "c"};
    vyre_type type = (vyre_type)(chosen->part[1] & 0xff);
    eval_case c = {.op = chosen->part[0], .result = (vyre_type)(chosen->part[1] >> 8)};
    const vyre_op_info *info = vyre_op_info_of(c.op);
    const char *from[3] = {"a", "b", "c"};
    c.operands = vyre_rule_arity((vyre_op)c.op);
    for (uint32_t k = 0; k < c.operands; k++) {
        bool is_choice = info->rule == VYRE_RULE_SELECT && !k;
        bool is_count = info->rule == VYRE_RULE_SHIFT && k;
        c.types[k] = is_choice ? VYRE_TYPE_BOOL : is_count ? VYRE_TYPE_U32 : type;
        from[k] = is_choice  ? "p"
                  : is_count ? "n"
                             : names[info->rule == VYRE_RULE_SELECT ? k - 1 : k];
    }
    eval_oracle expected = info->rule == VYRE_RULE_ELEMENTARY ? NULL : oracle_of(&c);
    if (!expected || chosen->tags & CONFORM_TAG_BIT(CONFORM_TAG_CONSTANT)) {
        return false;
    }
    conform_suite_trial made;
    vyre_outputs outputs;
    const conform_pair conform = {.oracle = oracle};
    expect_ok(conform_suite_build(suite, &chosen, 1, &made));
    expect_ok(conform_expect(&conform, &made.trial, made.trial.program, &outputs));
    const conform_trial_value *values[3] = {0};
    for (uint32_t k = 0; k < c.operands; k++) {
        values[k] = find_value(&made.trial, from[k]);
        assert_non_null(values[k]);
    }
    uint32_t bytes = vyre_type_bytes(c.result);
    size_t count = outputs.items[0].size / bytes;
    assert_true(count >= 4);
    for (size_t i = 0; i < count; i++) {
        uint64_t x[3] = {0};
        for (uint32_t k = 0; k < c.operands; k++) {
            x[k] = eval_get(values[k]->data, i, vyre_type_bytes(c.types[k]));
            x[k] = c.types[k] == VYRE_TYPE_BOOL ? x[k] != 0 : x[k];
        }
        uint64_t found = eval_get(outputs.items[0].data, i, bytes), right = expected(&c, x);
        if (found != right) {
            fail_msg("%s of %llx %llx %llx is %llx, not %llx", chosen->id, (unsigned long long)x[0],
                     (unsigned long long)x[1], (unsigned long long)x[2], (unsigned long long)found,
                     (unsigned long long)right);
        }
    }
    vyre_outputs_free(&outputs);
    conform_trial_free(&made.trial);
    return true;
}

static void records_of_values_are_those_of_other_arithmetic(void **state) {
    (void)state;
    size_t checked = 0;
    for (conform_suite_kind kind = CONFORM_SUITE_OPERATIONS; kind <= CONFORM_SUITE_FLOATS; kind++) {
        conform_suite suite = make(kind);
        for (size_t i = 0; i < suite.case_count; i++) {
            if (suite.cases[i].part[0]) {
                checked += check_case(&suite, &suite.cases[i]);
            }
        }
        conform_suite_free(&suite);
    }
    print_message("%zu cases\n", checked);
    assert_true(checked > 800);
    exact_free();
}

/* Programs that are written */

static bool is_sound(const vyre_program *program, const vyre_input *inputs, size_t count) {
    vyre_findings *findings;
    expect_ok(vyre_sanitize(program, inputs, count, NULL, &findings));
    bool sound = true;
    for (size_t i = 0; i < vyre_findings_count(findings); i++) {
        sound &= !vyre_finding_is_error(vyre_findings_get(findings, i)->kind);
    }
    vyre_findings_free(findings);
    return sound;
}

static void programs_have_no_races_and_one_answer_or_a_property(void **state) {
    (void)state;
    size_t free_ones = 0;
    for (conform_suite_kind kind = 0; kind < CONFORM_SUITE_FIXED; kind++) {
        conform_suite suite = make(kind);
        for (size_t i = 0; i < suite.case_count; i++) {
            const conform_suite_case *one = &suite.cases[i];
            if (one->part[0] || one->tags & CONFORM_TAG_BIT(CONFORM_TAG_SLOW)) {
                continue;
            }
            conform_suite_trial made;
            size_t count;
            expect_ok(conform_suite_build(&suite, &one, 1, &made));
            const vyre_program *program = made.trial.program;
            vyre_input *inputs = conform_trial_inputs(&made.trial, program, &count);
            assert_non_null(inputs);
            bool depends = vyre_program_determinism(program) == VYRE_SCHEDULE_DEPENDENT;
            bool is_tagged = one->tags & CONFORM_TAG_BIT(CONFORM_TAG_SCHEDULE);
            if (depends != (made.trial.properties != NULL) || depends != is_tagged) {
                fail_msg("%s: %s", one->id, vyre_program_determinism_reason(program));
            }
            if (!is_sound(program, inputs, count)) {
                fail_msg("%s has a race", one->id);
            }
            if (!depends && !vyre_reference_has_one_answer(program, inputs, count)) {
                fail_msg("%s has no single answer", one->id);
            }
            free_ones += depends;
            vyre_free(inputs);
            conform_trial_free(&made.trial);
        }
        conform_suite_free(&suite);
    }
    assert_true(free_ones >= 5);
}

/* Every schedule gives what the property asks for, and the bytes themselves differ. */
static void properties_hold_in_all_schedules(void **state) {
    (void)state;
    conform_suite suite = make(CONFORM_SUITE_OPERATIONS);
    bool any_differs = false;
    for (size_t i = 0; i < suite.case_count; i++) {
        const conform_suite_case *one = &suite.cases[i];
        if (!(one->tags & CONFORM_TAG_BIT(CONFORM_TAG_SCHEDULE))) {
            continue;
        }
        conform_suite_trial made;
        vyre_outputs expected;
        conform_pair conform = {.oracle = oracle};
        expect_ok(conform_suite_build(&suite, &one, 1, &made));
        expect_ok(conform_expect(&conform, &made.trial, made.trial.program, &expected));
        for (uint64_t seed = 1; seed <= 5; seed++) {
            conform_comparison comparison;
            const vyre_reference_options schedule = {.seed = seed};
            expect_ok(vyre_reference_open(&schedule, &conform.subject));
            expect_ok(
                conform_compare(&conform, &made.trial, made.trial.program, &expected, &comparison));
            if (comparison.verdict) {
                fail_msg("%s: %s", one->id, comparison.text);
            }
            conform_trial by_bytes = made.trial;
            vyre_outputs plain;
            by_bytes.properties = NULL;
            expect_ok(conform_expect(&conform, &by_bytes, by_bytes.program, &plain));
            expect_ok(conform_compare(&conform, &by_bytes, by_bytes.program, &plain, &comparison));
            any_differs |= comparison.verdict == CONFORM_VERDICT_DIFFERENT;
            vyre_outputs_free(&plain);
            vyre_device_release(conform.subject);
        }
        vyre_outputs_free(&expected);
        conform_trial_free(&made.trial);
    }
    assert_true(any_differs);
    conform_suite_free(&suite);
}

static void properties_take_out_what_may_vary(void **state) {
    (void)state;
    uint8_t left[] = {1, 0, 2, 0, 3, 1}, right[] = {3, 1, 1, 0, 2, 0};
    conform_property_settle(CONFORM_PROPERTY_SAME, VYRE_TYPE_U16, left, sizeof left);
    assert_memory_not_equal(left, right, sizeof left);
    conform_property_settle(CONFORM_PROPERTY_PERMUTATION, VYRE_TYPE_U16, left, sizeof left);
    conform_property_settle(CONFORM_PROPERTY_PERMUTATION, VYRE_TYPE_U16, right, sizeof right);
    assert_memory_equal(left, right, sizeof left);
    uint8_t swapped[] = {0, 1, 2, 0, 3, 1}; /* bytes of one element changed places */
    conform_property_settle(CONFORM_PROPERTY_PERMUTATION, VYRE_TYPE_U16, swapped, sizeof swapped);
    assert_memory_not_equal(left, swapped, sizeof left);
    uint8_t sums[] = {0xff, 0xff, 1, 0, 2, 0}, total[] = {2, 0, 0, 0, 0, 0};
    conform_property_settle(CONFORM_PROPERTY_TOTAL, VYRE_TYPE_U16, sums, sizeof sums);
    assert_memory_equal(sums, total, sizeof sums);
}

/* Every operation and type comes up. */
static void suites_use_everything(void **state) {
    (void)state;
    static uint32_t seen[VYRE_OP_COUNT], types[VYRE_TYPE_COUNT];
    uint64_t tags = 0;
    for (conform_suite_kind kind = 0; kind < CONFORM_SUITE_FIXED; kind++) {
        conform_suite suite = make(kind);
        for (size_t first = 0, end; first < suite.case_count; first = end) {
            const conform_suite_case *cases[MOST_GROUP];
            conform_suite_trial made;
            end = take_group(&suite, first, cases);
            tags |= cases[0]->tags;
            expect_ok(conform_suite_build(&suite, cases, end - first, &made));
            const vyre_ir *ir = vyre_program_ir(made.trial.program);
            for (uint32_t i = 0; i < ir->inst_count; i++) {
                seen[ir->insts[i].op]++;
                types[ir->insts[i].type]++;
            }
            conform_trial_free(&made.trial);
        }
        conform_suite_free(&suite);
    }
#define CHECK_OP(name, number, text, shape, rule, effects, cost, doc)                              \
    if (!seen[number] && number != VYRE_OP_UNREACHABLE) {                                          \
        fail_msg("no case uses %s", text);                                                         \
    }
    VYRE_OPS(CHECK_OP)
#undef CHECK_OP
    for (uint32_t type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
        assert_true(types[type] > 100);
    }
    for (conform_tag tag = 1; tag < CONFORM_TAG_COUNT; tag++) {
        bool is_elsewhere = tag == CONFORM_TAG_LAW || tag == CONFORM_TAG_WITNESS ||
                            tag == CONFORM_TAG_SAMPLE || tag == CONFORM_TAG_RANDOM;
        if (!is_elsewhere && !(tags & CONFORM_TAG_BIT(tag))) {
            fail_msg("no case has the tag %s", conform_tag_name(tag));
        }
    }
}

/* Memory */

static vyre_status run_some(void) {
    conform_suite suite;
    vyre_device *device;
    const vyre_reference_options plain = {0};
    vyre_status status = conform_suite_make(CONFORM_SUITE_SIZES, &suite);
    if (status) {
        return status;
    }
    status = vyre_reference_open(&plain, &device);
    const conform_suite_runner runner = {.oracle = device, .device = device, .runs = 1};
    const conform_suite_case *one = &suite.cases[5];
    conform_suite_result result = {0};
    status = status ? status : conform_suite_run(&runner, &suite, &one, 1, &result);
    /* The device may be the one that found no memory. */
    if (!status && result.verdict == CONFORM_VERDICT_FAILED) {
        status = vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, NULL, "%s", result.text);
    }
    vyre_free(result.text);
    vyre_device_release(device);
    conform_suite_free(&suite);
    return status;
}

static vyre_status build_some(void) {
    conform_suite suite;
    conform_suite_trial made;
    vyre_status status = conform_suite_make(CONFORM_SUITE_OPERATIONS, &suite);
    if (status) {
        return status;
    }
    const conform_suite_case *cases[2] = {&suite.cases[0], &suite.cases[1]};
    status = conform_suite_build(&suite, cases, 2, &made);
    conform_trial_free(&made.trial);
    conform_suite_free(&suite);
    return status;
}

static void sweep(vyre_status (*run)(void), size_t most) {
    vyre_status_free(run()); /* what is made once and stays */
    for (size_t n = 1;; n += n < most ? 1 : 97) {
        failing_allocator_start(n);
        vyre_status status = run();
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        failing_allocator_end();
        assert_int_equal(failing_allocator_state.live, 0);
        if (!failing_allocator_failed()) {
            assert_int_equal(code, VYRE_STATUS_OK);
            return;
        }
        assert_int_equal(code, VYRE_STATUS_OUT_OF_MEMORY);
    }
}

static void suites_survive_any_allocation_failing(void **state) {
    (void)state;
    sweep(run_some, 40);
    sweep(build_some, 40);
}

int main(int argc, char **argv) {
    const vyre_reference_options plain = {0};
    vyre_status status = vyre_reference_open(&plain, &oracle);
    if (status) {
        fprintf(stderr, "%s\n", vyre_status_text(status));
        return 1;
    }
    if (argc > 1 && !strcmp(argv[1], "--update")) {
        update_records();
        vyre_device_release(oracle);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_gives_the_bytes_on_record),
        cmocka_unit_test(records_of_values_are_those_of_other_arithmetic),
        cmocka_unit_test(programs_have_no_races_and_one_answer_or_a_property),
        cmocka_unit_test(properties_hold_in_all_schedules),
        cmocka_unit_test(properties_take_out_what_may_vary),
        cmocka_unit_test(suites_use_everything),
        cmocka_unit_test(suites_survive_any_allocation_failing),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    vyre_device_release(oracle);
    return failed;
}
