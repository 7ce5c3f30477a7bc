/* Operations by their ids from C. */
#include "tests/unit/dialect_check.h"

#include <stdlib.h>

#include <vyre/vyre.h>

#include "tests/unit/failing_allocator.h"

static vyre_status sum(const char *device, const char *id, const vyre_argument *arguments,
                       size_t count) {
    return vyre_run_operation(device, id, arguments, count, NULL);
}

static void a_program_runs_by_its_id(void **state) {
    (void)state;
    uint32_t x[] = {1, 2, 3}, total = 0;
    const vyre_argument arguments[] = {{"total", NULL, &total, sizeof total},
                                       {"x", x, NULL, sizeof x}}; /* in any order */
    expect_ok(sum("reference", "reduce.sum_u32", arguments, 2));
    assert_int_equal(total, 6);
    const vyre_argument none[] = {{"x", NULL, NULL, 0}, {"total", NULL, &total, sizeof total}};
    expect_ok(sum("reference", "reduce.sum_u32", none, 2));
    assert_int_equal(total, 0);
}

/* A fn works element by element. */
static void a_function_runs_by_its_id(void **state) {
    (void)state;
    const uint8_t a[] = {250, 1, 0}, b[] = {10, 2, 0};
    uint8_t result[] = {9, 9, 9};
    const vyre_argument arguments[] = {{"a", a, NULL, sizeof a},
                                       {"b", b, NULL, sizeof b},
                                       {"result", NULL, result, sizeof result}};
    expect_ok(sum("reference", "bitset.add_sat_u8", arguments, 3));
    assert_memory_equal(result, ((uint8_t[]){255, 3, 0}), sizeof result);
}

static void what_cannot_run_says_why(void **state) {
    (void)state;
    uint32_t x[] = {1}, total = 77;
    vyre_argument arguments[] = {{"x", x, NULL, sizeof x}, {"total", NULL, &total, sizeof total}};
    expect_words(sum("reference", "reduce.sum_u33", arguments, 2), VYRE_STATUS_NOT_FOUND,
                 "reduce.sum_u33", "`reduce.sum_u32`", NULL);
    expect_words(sum("reference", "", arguments, 2), VYRE_STATUS_NOT_FOUND, "``", NULL);
    expect_words(sum("reference", "io.dma_from_nvme", NULL, 0), VYRE_STATUS_UNSUPPORTED,
                 "io.dma_from_nvme", "vyre/io.h", NULL);
    expect_words(sum("nobody", "reduce.sum_u32", arguments, 2), VYRE_STATUS_NOT_FOUND, "nobody",
                 NULL);
    assert_int_equal(total, 77);
}

static void wrong_arguments_are_refused(void **state) {
    (void)state;
    uint32_t x[] = {1, 2}, total = 77;
    const vyre_argument good_x = {"x", x, NULL, sizeof x};
    const vyre_argument good_total = {"total", NULL, &total, sizeof total};
    const struct {
        vyre_argument arguments[3];
        size_t count;
        const char *name, *what;
    } rows[] = {
        {{good_x}, 1, "`total`", "missing"},
        {{good_total}, 1, "`x`", "missing"},
        {{good_x, good_x, good_total}, 3, "`x`", "twice"},
        {{good_x, good_total, {"y", x, NULL, sizeof x}}, 3, "`y`", "no such"},
        {{good_x, good_total, {NULL, x, NULL, sizeof x}}, 3, "``", "no such"},
        {{{"x", NULL, NULL, 4}, good_total}, 2, "`x`", "`in` is NULL"},
        {{{"x", x, x, sizeof x}, good_total}, 2, "`x`", "only reads it"},
        {{good_x, {"total", &total, &total, 4}}, 2, "`total`", "`in` is set"},
        {{good_x, {"total", NULL, NULL, 4}}, 2, "`total`", "`out` is NULL"},
        {{good_x, {"total", NULL, &total, 3}}, 2, "`total`", "and the memory 3"},
        {{{"x", x, NULL, 7}, good_total}, 2, "`x`", "7"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_words(sum("reference", "reduce.sum_u32", rows[i].arguments, rows[i].count),
                     VYRE_STATUS_INVALID_ARGUMENT, rows[i].name, rows[i].what, NULL);
        assert_int_equal(total, 77);
    }
}

static const vyre_program *choose(const vyre_operation *operation, const vyre_device *device) {
    const vyre_program *program;
    expect_ok(vyre_operation_choose(operation, device, &program));
    return program;
}

/* The form for the backend, else for its kind, else the operation's own. */
static void the_form_suits_the_device(void **state) {
    (void)state;
    vyre_program *programs[3];
    for (size_t i = 0; i < 3; i++) {
        char text[64];
        snprintf(text, sizeof text, "program p%zu(x: inout buffer<u32>) over x { x[gid] = 1; }", i);
        programs[i] = check_program(text);
    }
    vyre_device *device;
    expect_ok(vyre_acquire("reference", &device));
    vyre_variant variants[] = {{"p1", "cpu", programs[1]}, {"p2", "reference", programs[2]}};
    vyre_operation operation = {.built = programs[0], .variants = variants};
    assert_ptr_equal(choose(&operation, device), programs[0]);
    operation.variant_count = 1;
    assert_ptr_equal(choose(&operation, device), programs[1]);
    operation.variant_count = 2;
    assert_ptr_equal(choose(&operation, device), programs[2]);
    variants[1].suits = variants[0].suits = "gpu"; /* the reference is none */
    assert_ptr_equal(choose(&operation, device), programs[0]);
    assert_null(choose(&(vyre_operation){.id = "a.b"}, device));
    vyre_device_release(device);
    for (size_t i = 0; i < 3; i++) {
        vyre_program_release(programs[i]);
    }
}

/* Who runs while others install keeps what he found. */
static void a_run_uses_the_snapshot_in_force(void **state) {
    (void)state;
    vyre_program *program =
        check_program("program p(x: inout buffer<u32>) over x { x[gid] = x[gid] + 7; }");
    const vyre_operation operation = {.id = "own.seven", .dialect = "own", .built = program};
    const vyre_operation *list[] = {&operation};
    uint32_t x[] = {1, 2};
    const vyre_argument arguments[] = {{"x", x, x, sizeof x}};
    vyre_dialects *snapshot;
    expect_ok(vyre_dialects_make(list, 1, &snapshot));
    vyre_dialects_install(snapshot);
    expect_ok(sum("reference", "own.seven", arguments, 1));
    assert_int_equal(x[1], 9);
    expect_words(sum("reference", "reduce.sum_u32", arguments, 1), VYRE_STATUS_NOT_FOUND,
                 "reduce.sum_u32", NULL);
    expect_ok(vyre_dialects_load(&snapshot));
    vyre_dialects_install(snapshot);
    vyre_program_release(program);
}

static void without_memory_it_fails_whole(void **state) {
    (void)state;
    uint32_t x[] = {1, 2, 3}, total = 77;
    const vyre_argument arguments[] = {{"x", x, NULL, sizeof x},
                                       {"total", NULL, &total, sizeof total}};
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_status status = sum("reference", "reduce.sum_u32", arguments, 2);
        failing_allocator_end(); /* devices keep what they compiled */
        if (!failing_allocator_failed()) {
            expect_ok(status);
            break;
        }
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
        assert_int_equal(total, 77);
        vyre_status_free(status);
    }
    assert_int_equal(total, 6);
}

#define TIMES(name, factor)                                                                        \
    "program " name                                                                                \
    "(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid] * " factor "; }"

/* The lowering that was registered for a backend's target is what runs there. */
static void a_registered_lowering_runs(void **state) {
    (void)state;
    vyre_program *twice = check_program(TIMES("twice", "2"));
    vyre_program *thrice = check_program(TIMES("thrice", "3"));
    const vyre_lowering lowerings[] = {{check_target(VYRE_TARGET_REFERENCE_BACKEND), thrice, NULL}};
    const vyre_operation operations[] = {
        {.id = "t.both",
         .dialect = "t",
         .built = twice,
         .lowerings = lowerings,
         .lowering_count = 1},
        {.id = "t.lowered", .dialect = "t", .lowerings = lowerings, .lowering_count = 1},
    };
    const vyre_operation *const all[] = {&operations[0], &operations[1]};
    vyre_dialects *snapshot;
    expect_ok(vyre_dialects_make(all, 2, &snapshot));
    vyre_dialects_install(snapshot);
    uint32_t x[] = {1, 2}, y[] = {0, 0};
    const vyre_argument arguments[] = {{"x", x, NULL, sizeof x}, {"y", NULL, y, sizeof y}};
    expect_ok(sum("reference", "t.both", arguments, 2));
    assert_memory_equal(y, ((uint32_t[]){3, 6}), sizeof y);
    memset(y, 0, sizeof y);
    expect_ok(sum("reference", "t.lowered", arguments, 2));
    assert_memory_equal(y, ((uint32_t[]){3, 6}), sizeof y);
    vyre_device *cpu;
    vyre_status absent = vyre_acquire("cpu", &cpu);
    if (!absent) { /* another target, for which nothing was registered */
        expect_ok(sum("cpu", "t.both", arguments, 2));
        assert_memory_equal(y, ((uint32_t[]){2, 4}), sizeof y);
        expect_words(sum("cpu", "t.lowered", arguments, 2), VYRE_STATUS_UNSUPPORTED, "t.lowered",
                     "no program for device cpu", NULL);
    }
    vyre_status_free(absent);
    vyre_device_release(cpu);
    vyre_program_release(twice);
    vyre_program_release(thrice);
}

int main(void) {
    setenv("VYRE_DIALECT_PATH", "none", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_runs_by_its_id),
        cmocka_unit_test(a_function_runs_by_its_id),
        cmocka_unit_test(what_cannot_run_says_why),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(the_form_suits_the_device),
        cmocka_unit_test(a_run_uses_the_snapshot_in_force),
        cmocka_unit_test(without_memory_it_fails_whole),
        cmocka_unit_test(a_registered_lowering_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
