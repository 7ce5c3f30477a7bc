/* The probe: on devices that are worse in one way or several (tests/unit/worsen.h), its judge asks
 * for the corrections of these ways and no others. */
#include <math.h>
#include <stdlib.h>

#include "pass/probe.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/reference_check.h"
#include "tests/unit/worsen.h"

/* Runs the probe on such a device. */
static vyre_corrections probed(bool has_f64, const vyre_corrections *bad) {
    vyre_program *program;
    vyre_probe probe;
    vyre_corrections needed;
    assert_null(vyre_probe_program(has_f64, &program));
    assert_null(vyre_probe_inputs(has_f64, &probe));
    vyre_program *worse = worsen(program, bad);
    vyre_input inputs[VYRE_PROBE_ARRAYS];
    for (uint32_t i = 0; i < probe.count; i++) {
        inputs[i] = (vyre_input){probe.inputs[i], probe.input_bytes[i]};
    }
    vyre_outputs found = check_run_seed(worse, (check_list){inputs, probe.count}, 0);
    const void *outputs[VYRE_PROBE_ARRAYS] = {NULL};
    assert_int_equal(found.count, probe.count);
    for (uint32_t i = 0; i < probe.count; i++) {
        assert_int_equal(found.items[i].size, probe.output_bytes[i]);
        outputs[i] = found.items[i].data;
    }
    assert_null(vyre_probe_judge(&probe, outputs, &needed));
    vyre_outputs_free(&found);
    vyre_program_release(worse);
    vyre_program_release(program);
    vyre_probe_deinit(&probe);
    return needed;
}

/* Where results are wrong anyway, the judge does not ask whether others are flushed. */
static uint32_t seen(uint32_t wanted) {
    return wanted & ~VYRE_CORRECT_FLUSHED(wanted & 0xffff);
}

static void expect(bool has_f64, vyre_corrections bad, vyre_corrections wanted) {
    wanted.f32 = seen(wanted.f32), wanted.f64 = seen(wanted.f64);
    /* Between both types it is f32 that has subnormal numbers. */
    wanted.f32 &= has_f64 ? ~UINT32_C(0) : ~VYRE_CORRECT_FLUSHED(CONVERT);
    wanted.f64 &= ~VYRE_CORRECT_FLUSHED(CONVERT);
    vyre_corrections found = probed(has_f64, &bad);
    if (found.f32 != wanted.f32 || found.f64 != wanted.f64) {
        vyre_strbuf text = {0};
        vyre_corrections_print(&wanted, &text);
        vyre_strbuf_puts(&text, ", found ");
        vyre_corrections_print(&found, &text);
        fail_msg("wanted %s", vyre_strbuf_string(&text));
    }
}

static void each_mistake_is_found(void **state) {
    (void)state;
    static const uint32_t ways[] = {0,
                                    FLUSH,
                                    DIV,
                                    SQRT,
                                    FMA,
                                    CONVERT,
                                    ROUND,
                                    COMPARE,
                                    DIV | SQRT,
                                    FLUSH | FMA,
                                    FLUSH | DIV | SQRT,
                                    FLUSH | FMA | DIV | SQRT,
                                    VYRE_CORRECT_FLUSHED(LINEAR),
                                    VYRE_CORRECT_FLUSHED(DIV),
                                    VYRE_CORRECT_FLUSHED(SQRT),
                                    VYRE_CORRECT_FLUSHED(FMA),
                                    VYRE_CORRECT_FLUSHED(COMPARE),
                                    VYRE_CORRECT_FLUSHED(FMA | COMPARE) | SQRT};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        uint32_t of_both = ways[i] & CONVERT;
        expect(false, (vyre_corrections){ways[i], 0}, (vyre_corrections){ways[i], ABSENT});
        expect(true, (vyre_corrections){ways[i], 0}, (vyre_corrections){ways[i], 0});
        expect(true, (vyre_corrections){0, ways[i]}, (vyre_corrections){of_both, ways[i]});
    }
    /* What is wrong about sums is so about an fma here, too. */
    expect(true, (vyre_corrections){LINEAR, 0}, (vyre_corrections){LINEAR | FMA, 0});
    expect(true, (vyre_corrections){0, LINEAR}, (vyre_corrections){0, LINEAR | FMA});
}

/* The results of an exact device, changed by hand. */
typedef struct exact_results {
    vyre_probe probe;
    vyre_outputs outputs;
} exact_results;

static exact_results exact(void) {
    exact_results e;
    vyre_program *program;
    assert_null(vyre_probe_program(false, &program));
    assert_null(vyre_probe_inputs(false, &e.probe));
    vyre_input input = {e.probe.inputs[0], e.probe.input_bytes[0]};
    e.outputs = check_run_seed(program, (check_list){&input, 1}, 0);
    vyre_program_release(program);
    return e;
}

static void wrong_integers_are_refused(void **state) {
    (void)state;
    exact_results e = exact();
    uint32_t *words = (uint32_t *)(void *)e.outputs.items[0].data;
    const void *outputs[] = {words};
    vyre_corrections needed;
    words[27 * VYRE_PROBE_COUNT + 5] ^= 1;
    vyre_status status = vyre_probe_judge(&e.probe, outputs, &needed);
    assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_UNSUPPORTED);
    vyre_status_free(status);
    vyre_outputs_free(&e.outputs);
    vyre_probe_deinit(&e.probe);
}

/* A device that contracts gives b c + a, rounded once; columns 12 and 13 are where it may. */
static void contraction_is_found(void **state) {
    (void)state;
    exact_results e = exact();
    uint32_t *words = (uint32_t *)(void *)e.outputs.items[0].data;
    const uint32_t *operands = e.probe.inputs[0];
    const void *outputs[] = {words};
    for (uint32_t column = 12; column <= 13; column++) {
        uint32_t saved[VYRE_PROBE_COUNT], *results = words + column * VYRE_PROBE_COUNT;
        memcpy(saved, results, sizeof saved);
        for (uint32_t i = 0; i < VYRE_PROBE_COUNT; i++) {
            float o[3], result;
            for (uint32_t k = 0; k < 3; k++) {
                memcpy(&o[k], &operands[k * VYRE_PROBE_COUNT + i], 4);
            }
            result =
                column == 12 ? __builtin_fmaf(o[1], o[2], o[0]) : __builtin_fmaf(o[2], o[0], -o[1]);
            memcpy(&results[i], &result, 4);
        }
        vyre_corrections needed;
        assert_null(vyre_probe_judge(&e.probe, outputs, &needed));
        assert_int_equal(needed.f32, LINEAR);
        memcpy(results, saved, sizeof saved);
    }
    vyre_outputs_free(&e.outputs);
    vyre_probe_deinit(&e.probe);
}

/* A device that takes the odd one of two subnormal numbers where a quotient is in their middle. */
static void quotients_in_the_middle_are_asked_for(void **state) {
    (void)state;
    exact_results e = exact();
    uint32_t *quotients = (uint32_t *)(void *)e.outputs.items[0].data + 3 * VYRE_PROBE_COUNT;
    const uint32_t *operands = e.probe.inputs[0];
    const void *outputs[] = {e.outputs.items[0].data};
    uint32_t count = 0;
    for (uint32_t i = 0; i < VYRE_PROBE_COUNT; i++) {
        float a, b;
        memcpy(&a, &operands[i], sizeof a);
        memcpy(&b, &operands[VYRE_PROBE_COUNT + i], sizeof b);
        double ratio = (double)a / (double)b, steps = fabs(ratio) * 0x1p149;
        bool is_middle = steps < 0x1p23 && steps - floor(steps) == 0.5 && ratio * (double)b == a;
        if (is_middle && fmod(floor(steps), 2) == 1) {
            quotients[i]--;
            count++;
        }
    }
    vyre_corrections needed;
    assert_null(vyre_probe_judge(&e.probe, outputs, &needed));
    assert_int_equal(needed.f32, DIV);
    assert_true(count > 20);
    vyre_outputs_free(&e.outputs);
    vyre_probe_deinit(&e.probe);
}

/* A device whose comparisons take subnormal numbers for 0, but not min and max, and which takes a
 * NaN for false. One column shows both. */
static void flushed_comparisons_are_found_beside_wrong_truths(void **state) {
    (void)state;
    exact_results e = exact();
    uint32_t *compared = (uint32_t *)(void *)e.outputs.items[0].data + 15 * VYRE_PROBE_COUNT;
    const uint32_t *operands = e.probe.inputs[0];
    const void *outputs[] = {e.outputs.items[0].data};
    for (uint32_t i = 0; i < VYRE_PROBE_COUNT; i++) {
        uint32_t x = operands[i] << 1, y = operands[VYRE_PROBE_COUNT + i] << 1;
        if (x < 0x01000000 && y < 0x01000000) {
            compared[i] = 9; /* equal */
        }
        compared[i] &= x > 0xff000000 ? ~16u : ~0u;
    }
    vyre_corrections needed;
    assert_null(vyre_probe_judge(&e.probe, outputs, &needed));
    assert_int_equal(needed.f32, CONVERT | VYRE_CORRECT_FLUSHED(COMPARE));
    vyre_outputs_free(&e.outputs);
    vyre_probe_deinit(&e.probe);
}

/* One result of each column that is off by its last bit asks for something. */
static void every_column_is_looked_at(void **state) {
    (void)state;
    exact_results e = exact();
    uint32_t *words = (uint32_t *)(void *)e.outputs.items[0].data;
    const void *outputs[] = {words};
    for (uint32_t column = 0; column < 26; column++) {
        vyre_corrections needed = {0};
        for (uint32_t i = 1; i <= 40 && !needed.f32; i++) { /* some are NaNs */
            uint32_t *result = &words[(column + 1) * VYRE_PROBE_COUNT - i];
            *result ^= 1;
            assert_null(vyre_probe_judge(&e.probe, outputs, &needed));
            *result ^= 1;
        }
        assert_int_not_equal(needed.f32, 0);
    }
    vyre_outputs_free(&e.outputs);
    vyre_probe_deinit(&e.probe);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        vyre_program *program = NULL;
        vyre_probe probe = {0};
        failing_allocator_start(n);
        vyre_status status = vyre_probe_inputs(true, &probe);
        status = status ? status : vyre_probe_program(true, &program);
        failed = failing_allocator_failed();
        assert_true(failed ? !program : !status && program);
        assert_true(!failed || vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY);
        vyre_status_free(status);
        vyre_program_release(program);
        vyre_probe_deinit(&probe);
        failing_allocator_stop();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_is_found),
        cmocka_unit_test(wrong_integers_are_refused),
        cmocka_unit_test(contraction_is_found),
        cmocka_unit_test(flushed_comparisons_are_found_beside_wrong_truths),
        cmocka_unit_test(every_column_is_looked_at),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(quotients_in_the_middle_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
