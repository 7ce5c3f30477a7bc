/* Definitions, snapshots of them, and the registry of the process, built on first use. */
#include "tests/unit/dialect_check.h"

#include <pthread.h>

#include "dialect/guard.h"
#include "dialect/registry.h"
#include "tests/unit/failing_allocator.h"

/* Registered in the wrong order, before the first use. */
static const vyre_extern_dialect extern_dialects[] = {
    {"vyre-libs-two", "2.0.0", "https://two.example"},
    {"vyre-libs-one", "1.0.0", "https://one.example"},
};
static const vyre_extern_operation extern_operations[] = {
    {"vyre-libs-two", "vyre-libs-two::b"},
    {"vyre-libs-one", "vyre-libs-one::z"},
    {"vyre-libs-two", "vyre-libs-two::a"},
};

static int register_early(void **state) {
    (void)state;
    expect_ok(vyre_dialects_register_extern(extern_dialects, 2, extern_operations, 3));
    return 0;
}

/* Called by each test that counts with it, since a test may run alone. */
static void register_late(void) {
    static const vyre_extern_operation late = {"vyre-libs-one", "vyre-libs-one::late"};
    static bool is_registered;
    if (!is_registered) {
        expect_ok(vyre_dialects_register_extern(NULL, 0, &late, 1));
        is_registered = true;
    }
}

enum { ASKING = 8 };
static const vyre_dialects *seen[ASKING];

static void *ask_first(void *argument) {
    vyre_dialects_guard guard;
    *(const vyre_dialects **)argument = vyre_dialects_enter(&guard);
    vyre_dialects_leave(&guard);
    return NULL;
}

static void global_S84_S103_is_built_once_from_all_that_is_registered(void **state) {
    (void)state;
    assert_false(vyre_guards_filled()); /* on first use, not before */
    pthread_t threads[ASKING];
    for (size_t i = 0; i < ASKING; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask_first, &seen[i]), 0);
    }
    for (size_t i = 0; i < ASKING; i++) {
        pthread_join(threads[i], NULL);
    }
    vyre_dialects_guard guard;
    const vyre_dialects *now;
    expect_ok(vyre_dialects_try_enter(&guard, &now));
    for (size_t i = 0; i < ASKING; i++) {
        assert_ptr_equal(seen[i], now);
    }
    const vyre_operation *io = check_find(now, "io.dma_from_nvme");
    assert_non_null(io);
    assert_string_equal(io->dialect, "io");
    assert_int_equal(io->category, VYRE_CATEGORY_INTRINSIC);
    assert_non_null(check_find(now, "vyre-libs-one::z"));

    /* What comes later is for the next load, not for the one that is built. */
    register_late();
    vyre_dialects_guard again;
    assert_ptr_equal(vyre_dialects_enter(&again), now);
    assert_null(check_find(now, "vyre-libs-one::late"));
    vyre_dialects_leave(&again);
    vyre_dialects *loaded;
    expect_ok(vyre_dialects_load(&loaded));
    assert_non_null(check_find(loaded, "vyre-libs-one::late"));
    assert_non_null(check_find(loaded, "io.dma_from_nvme"));
    assert_int_equal(vyre_dialects_count(loaded), vyre_dialects_count(now) + 1);
    vyre_dialects_release(loaded);
    vyre_dialects_leave(&guard);
}

static void extern_S85_S86_operations_are_defined_in_order(void **state) {
    (void)state;
    vyre_streams streams = {0};
    register_late();
    expect_ok(vyre_extern_read(&streams));
    static const char *const order[][3] = {
        {"vyre-libs-one", "vyre-libs-one::late", "1.0.0"},
        {"vyre-libs-one", "vyre-libs-one::z", "1.0.0"},
        {"vyre-libs-two", "vyre-libs-two::a", "2.0.0"},
        {"vyre-libs-two", "vyre-libs-two::b", "2.0.0"},
    };
    assert_int_equal(streams.operations.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const vyre_operation *operation = streams.operations.items[i];
        assert_string_equal(operation->dialect, order[i][0]);
        assert_string_equal(operation->id, order[i][1]);
        assert_string_equal(operation->version, order[i][2]);
        assert_int_equal(operation->category, VYRE_CATEGORY_EXTENSION);
        assert_int_equal(operation->form, VYRE_OPERATION_NAME);
        assert_int_equal(operation->parameter_count, 0);
        assert_int_equal(operation->law_count, 0);
        assert_int_equal(operation->witness_count, 0);
        assert_int_equal(operation->lowering_count, 0);
        assert_null(operation->built);
        assert_null(operation->text);
    }
    vyre_streams_free(&streams);

    /* The reference is there, and says that it is nothing to run. */
    vyre_dialects_guard guard;
    const vyre_dialects *now = vyre_dialects_enter(&guard);
    vyre_lowering lowering;
    bool found;
    expect_ok(vyre_dialects_get_lowering(now, check_name("vyre-libs-one::z"),
                                         check_target(VYRE_TARGET_REFERENCE_BACKEND), &found,
                                         &lowering));
    assert_true(found);
    vyre_outputs outputs;
    expect_words(lowering.reference(check_find(now, "vyre-libs-one::z"), NULL, 0, &outputs),
                 VYRE_STATUS_UNSUPPORTED, "vyre-libs-one::z", NULL);
    vyre_dialects_leave(&guard);
}

static void order_S89_is_by_dialect_and_id_before_ids_are_compared(void **state) {
    (void)state;
    /* In the order given "z" repeats first; by dialect and id it is "y". */
    const vyre_operation operations[] = {
        {.id = "z", .dialect = "d"}, {.id = "z", .dialect = "c"}, {.id = "y", .dialect = "b"},
        {.id = "x", .dialect = "a"}, {.id = "y", .dialect = "a"},
    };
    const vyre_operation *const all[] = {&operations[0], &operations[1], &operations[2],
                                         &operations[3], &operations[4]};
    vyre_dialects *snapshot;
    expect_words(vyre_dialects_make(all, 5, &snapshot), VYRE_STATUS_INVALID_ARGUMENT,
                 "`y` is registered twice: first by `a`, then by `b`", NULL);
    assert_null(snapshot);
    static const char *const sorted[] = {"x", "z", "y"}; /* a.x, a.z, b.y */
    const vyre_operation mixed[] = {
        {.id = "y", .dialect = "b"}, {.id = "z", .dialect = "a"}, {.id = "x", .dialect = "a"}};
    const vyre_operation *const three[] = {&mixed[0], &mixed[1], &mixed[2]};
    expect_ok(vyre_dialects_make(three, 3, &snapshot));
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(vyre_dialects_at(snapshot, i)->id, sorted[i]);
    }
    vyre_dialects_release(snapshot);
}

static void duplicate_S90_nothing_is_published(void **state) {
    (void)state;
    vyre_dialects_guard before, after;
    const vyre_dialects *now = vyre_dialects_enter(&before);
    const vyre_operation operation = {.id = "io.twice", .dialect = "io"};
    const vyre_operation *const all[] = {&operation, &operation};
    vyre_dialects *snapshot = (vyre_dialects *)(uintptr_t)now;
    failing_allocator_start(0);
    vyre_status status = vyre_dialects_make(all, 2, &snapshot);
    assert_null(snapshot);
    expect_words(status, VYRE_STATUS_INVALID_ARGUMENT, "`io.twice`", NULL);
    failing_allocator_stop(); /* nothing is left of it */
    assert_ptr_equal(vyre_dialects_enter(&after), now);
    assert_null(check_find(now, "io.twice"));
    vyre_dialects_leave(&after);
    vyre_dialects_leave(&before);
}

static void duplicate_S91_names_the_id_and_both_registrants(void **state) {
    (void)state;
    static const struct {
        const char *first, *second, *words;
    } rows[] = {
        {"a", "b", "first by `a`, then by `b`"},
        {"a", "a", "first by `a`, then by `a`"},
        {"", "b", "first by `<unknown dialect>`, then by `b`"},
        {"a", NULL, "first by `a`, then by `<unknown dialect>`"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const vyre_operation operations[] = {{.id = "same", .dialect = rows[i].first},
                                             {.id = "same", .dialect = rows[i].second}};
        const vyre_operation *const all[] = {&operations[0], &operations[1]};
        vyre_duplicate duplicate;
        vyre_status status = vyre_dialects_validate(all, 2, &duplicate);
        assert_string_equal(duplicate.id, "same");
        assert_non_null(strstr(rows[i].words, duplicate.first));
        assert_non_null(strstr(rows[i].words, duplicate.second));
        assert_non_null(strstr(vyre_status_fix(status), "keep one owner"));
        assert_non_null(strstr(vyre_status_fix(status), "rename or remove the other"));
        expect_words(status, VYRE_STATUS_INVALID_ARGUMENT, "`same`", rows[i].words, NULL);
    }
}

static void validation_S92_reports_the_first_repeat_of_any_list(void **state) {
    (void)state;
    const vyre_operation operations[] = {
        {.id = "z", .dialect = "1"}, {.id = "a", .dialect = "2"}, {.id = "z", .dialect = "3"},
        {.id = "a", .dialect = "4"}, {.id = "z", .dialect = "5"},
    };
    const vyre_operation *const all[] = {&operations[0], &operations[1], &operations[2],
                                         &operations[3], &operations[4]};
    vyre_duplicate duplicate;
    expect_words(vyre_dialects_validate(all, 5, &duplicate), VYRE_STATUS_INVALID_ARGUMENT, "`z`",
                 NULL);
    assert_string_equal(duplicate.id, "z");
    assert_string_equal(duplicate.first, "1");
    assert_string_equal(duplicate.second, "3");
    expect_words(vyre_dialects_validate(&all[1], 4, NULL), VYRE_STATUS_INVALID_ARGUMENT, "`a`",
                 NULL);
    expect_ok(vyre_dialects_validate(all, 2, &duplicate));
    assert_null(duplicate.id);
    expect_ok(vyre_dialects_validate(NULL, 0, NULL));
    const vyre_operation nameless = {.id = "", .dialect = "lost"};
    const vyre_operation *const one[] = {&nameless};
    expect_words(vyre_dialects_validate(one, 1, NULL), VYRE_STATUS_INVALID_ARGUMENT, "`lost`",
                 "has no ID", NULL);
}

static void names_S93_are_the_same_across_snapshots(void **state) {
    (void)state;
    uint32_t before = check_name("s93.operation");
    vyre_dialects *first = check_snapshot(1, "s93.operation");
    vyre_dialects *second = check_snapshot(3, "s93.another", "s93.operation", "s93.third");
    assert_int_equal(check_name("s93.operation"), before);
    assert_int_not_equal(check_name("s93.another"), before);
    assert_int_not_equal(check_name("s93.nobody registers it"), before);
    assert_string_equal(vyre_dialects_lookup(first, before)->id, "s93.operation");
    assert_string_equal(vyre_dialects_lookup(second, before)->id, "s93.operation");
    vyre_dialects_release(first);
    assert_int_equal(check_name("s93.operation"), before);
    vyre_dialects_release(second);
}

static void lookup_S94_unknown_is_nothing_and_known_stays_while_kept(void **state) {
    (void)state;
    check_name("s94.nobody registers it"); /* so that 0 is a name, and not of the two */
    vyre_dialects *snapshot = check_snapshot(2, "s94.known", "s94.other");
    assert_null(check_find(snapshot, "s94.unknown"));
    assert_null(check_find(snapshot, ""));
    assert_null(vyre_dialects_lookup(snapshot, VYRE_INTERN_NONE));
    assert_null(vyre_dialects_lookup(snapshot, 0));
    assert_null(vyre_dialects_lookup(snapshot, VYRE_INTERN_NONE - 1));
    vyre_dialects *empty = check_snapshot(0);
    assert_null(check_find(empty, "s94.known"));
    assert_int_equal(vyre_dialects_count(empty), 0);
    vyre_dialects_release(empty);

    vyre_dialects_guard before, guard;
    vyre_dialects *own = vyre_dialects_retain(vyre_dialects_enter(&before));
    vyre_dialects_leave(&before);
    vyre_dialects_install(snapshot);
    const vyre_dialects *now = vyre_dialects_enter(&guard);
    vyre_dialects *kept = vyre_dialects_retain(now);
    const vyre_operation *known = check_find(now, "s94.known");
    vyre_dialects_leave(&guard);
    vyre_dialects_install(check_snapshot(1, "s94.newer"));
    vyre_dialects_install(own);
    assert_string_equal(known->id, "s94.known"); /* two swaps later */
    assert_ptr_equal(check_find(kept, "s94.known"), known);
    vyre_dialects_release(kept);
}

static void iteration_S96_has_each_operation_once(void **state) {
    (void)state;
    vyre_dialects_guard guard;
    const vyre_dialects *now = vyre_dialects_enter(&guard);
    size_t count = vyre_dialects_count(now);
    assert_true(count >= 4);
    assert_null(vyre_dialects_at(now, count));
    for (size_t i = 0; i < count; i++) {
        const vyre_operation *operation = vyre_dialects_at(now, i);
        assert_ptr_equal(check_find(now, operation->id), operation);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(vyre_dialects_at(now, k)->id, operation->id);
        }
    }
    vyre_dialects_leave(&guard);
}

/* How many slots of what: a number, then words. */
static void expect_kind(const char *said) {
    const char *count = strstr(said, "could not reserve "), *end = strstr(said, " slot(s)");
    assert_non_null(count);
    assert_non_null(end);
    count += strlen("could not reserve ");
    size_t digits = strspn(count, "0123456789");
    if (!digits || count + digits >= end || count[digits + 1] < 'a' || count[digits + 1] > 'z') {
        fail_msg("no count, or no kind of slot: %s", said);
    }
}

/* What a definition can have, in memory that is overwritten before it is looked at. */
static vyre_dialects *make_full(vyre_program *program) {
    char id[] = "full.operation", dialect[] = "full", version[] = "1.2.3", doc[] = "All of it.";
    char file[] = "full.vyre", text[] = "program entry() over 1 { }", entry[] = "entry";
    char x[] = "x", operand[] = "0", arguments[] = "x=1", expected[] = "y=2", gpu[] = "gpu";
    char mine[] = "mine", sample[] = "x=rand:{n}", work[] = "2 * n";
    vyre_parameter parameters[] = {{x, VYRE_ROLE_INPUT, VYRE_TYPE_U32, true}};
    vyre_law laws[] = {{VYRE_LAW_COMMUTATIVE, NULL}, {VYRE_LAW_IDENTITY, operand}};
    vyre_witness witnesses[] = {{arguments, expected}};
    vyre_variant variants[] = {{entry, gpu, program}};
    vyre_lowering lowerings[] = {{{VYRE_TARGET_EXTENSION, mine}, program, NULL}};
    vyre_operation operation = {
        id,
        dialect,
        version,
        doc,
        VYRE_CATEGORY_COMPOSITE,
        VYRE_OPERATION_PROGRAM,
        parameters,
        1,
        laws,
        2,
        witnesses,
        1,
        file,
        text,
        entry,
        26,
        program,
        variants,
        1,
        lowerings,
        1,
        sample,
        work,
        NULL,
    };
    vyre_operation second = operation;
    char second_id[] = "full.second";
    second.id = second_id;
    const vyre_operation *const all[] = {&operation, &second};
    vyre_dialects *snapshot;
    vyre_status status = vyre_dialects_make(all, 2, &snapshot);
    if (status) {
        const char *said = vyre_status_text(status);
        assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
        expect_kind(said);
        assert_non_null(strstr(said, "Fix: reduce the inventory"));
        assert_non_null(strstr(said, "split registry initialization"));
        vyre_status_free(status);
        assert_null(snapshot);
    }
    memset(id, '?', sizeof id - 1);
    memset(dialect, '?', sizeof dialect - 1);
    memset(version, '?', sizeof version - 1);
    memset(doc, '?', sizeof doc - 1);
    memset(file, '?', sizeof file - 1);
    memset(text, '?', sizeof text - 1);
    memset(entry, '?', sizeof entry - 1);
    x[0] = operand[0] = arguments[0] = expected[0] = gpu[0] = mine[0] = '?';
    sample[0] = work[0] = '?';
    memset(parameters, 0, sizeof parameters);
    memset(laws, 0, sizeof laws);
    memset(witnesses, 0, sizeof witnesses);
    memset(variants, 0, sizeof variants);
    memset(lowerings, 0, sizeof lowerings);
    return snapshot;
}

static vyre_program *small_program(void) {
    return check_program("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { "
                         "y[gid] = x[gid]; }");
}

static void snapshots_copy_all_that_a_definition_points_to(void **state) {
    (void)state;
    vyre_program *program = small_program();
    vyre_dialects *snapshot = make_full(program);
    vyre_program_release(program);
    const vyre_operation *full = check_find(snapshot, "full.operation");
    assert_string_equal(full->id, "full.operation");
    assert_string_equal(full->dialect, "full");
    assert_string_equal(full->version, "1.2.3");
    assert_string_equal(full->doc, "All of it.");
    assert_string_equal(full->file, "full.vyre");
    assert_string_equal(full->text, "program entry() over 1 { }");
    assert_string_equal(full->entry, "entry");
    assert_string_equal(full->parameters[0].name, "x");
    assert_int_equal(full->parameters[0].type, VYRE_TYPE_U32);
    assert_null(full->laws[0].operand);
    assert_string_equal(full->laws[1].operand, "0");
    assert_string_equal(full->witnesses[0].arguments, "x=1");
    assert_string_equal(full->witnesses[0].expected, "y=2");
    assert_string_equal(full->sample, "x=rand:{n}");
    assert_string_equal(full->work, "2 * n");
    assert_string_equal(full->variants[0].entry, "entry");
    assert_string_equal(full->variants[0].suits, "gpu");
    assert_string_equal(full->lowerings[0].target.extension, "mine");
    assert_string_equal(vyre_program_name(full->built), "p");
    assert_string_equal(vyre_program_name(full->variants[0].built), "p");
    assert_string_equal(vyre_program_name(full->lowerings[0].program), "p");
    /* One text, however many operations are in it. */
    assert_ptr_equal(check_find(snapshot, "full.second")->text, full->text);
    vyre_dialects_release(snapshot);
}

static void building_S104_without_memory_names_the_slots(void **state) {
    (void)state;
    vyre_program *program = small_program();
    vyre_dialects_release(make_full(program)); /* names are interned for good */
    size_t failures = 0;
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_dialects *snapshot = make_full(program);
        bool failed = failing_allocator_failed();
        assert_int_equal(snapshot == NULL, failed);
        vyre_dialects_release(snapshot);
        failing_allocator_stop();
        failures += failed;
        if (!failed) {
            break;
        }
    }
    assert_true(failures >= 6);
    vyre_program_release(program);
}

static void building_S104_extern_without_memory_names_the_slots(void **state) {
    (void)state;
    size_t failures = 0;
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_streams streams = {0};
        vyre_status status = vyre_extern_read(&streams);
        assert_int_equal(status != VYRE_OK, failing_allocator_failed());
        if (status) {
            expect_kind(vyre_status_text(status));
            expect_words(status, VYRE_STATUS_OUT_OF_MEMORY, "could not reserve ", " slot(s)",
                         "reduce the inventory", NULL);
        }
        vyre_streams_free(&streams);
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            break;
        }
        failures++;
    }
    assert_true(failures >= 5);
}

static void building_S104_counts_that_overflow_are_refused(void **state) {
    (void)state;
    const vyre_operation *const none[] = {NULL};
    vyre_dialects *snapshot;
    expect_words(vyre_dialects_make(none, SIZE_MAX, &snapshot), VYRE_STATUS_LIMIT,
                 "18446744073709551615 operation definition slot(s)", NULL);
    assert_null(snapshot);
    expect_words(vyre_dialects_validate(none, SIZE_MAX, NULL), VYRE_STATUS_LIMIT,
                 "18446744073709551615 operation id slot(s)", NULL);
    vyre_streams streams = {0};
    expect_ok(vyre_streams_add(&streams, NULL));
    streams.operations.count = streams.operations.capacity = SIZE_MAX - 1;
    const vyre_operation **items = streams.operations.items;
    expect_words(vyre_streams_add(&streams, NULL), VYRE_STATUS_LIMIT, " slot(s)", NULL);
    assert_ptr_equal(streams.operations.items, items);
    vyre_streams_free(&streams);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(global_S84_S103_is_built_once_from_all_that_is_registered),
        cmocka_unit_test(extern_S85_S86_operations_are_defined_in_order),
        cmocka_unit_test(order_S89_is_by_dialect_and_id_before_ids_are_compared),
        cmocka_unit_test(duplicate_S90_nothing_is_published),
        cmocka_unit_test(duplicate_S91_names_the_id_and_both_registrants),
        cmocka_unit_test(validation_S92_reports_the_first_repeat_of_any_list),
        cmocka_unit_test(names_S93_are_the_same_across_snapshots),
        cmocka_unit_test(lookup_S94_unknown_is_nothing_and_known_stays_while_kept),
        cmocka_unit_test(iteration_S96_has_each_operation_once),
        cmocka_unit_test(snapshots_copy_all_that_a_definition_points_to),
        cmocka_unit_test(building_S104_without_memory_names_the_slots),
        cmocka_unit_test(building_S104_extern_without_memory_names_the_slots),
        cmocka_unit_test(building_S104_counts_that_overflow_are_refused),
    };
    return cmocka_run_group_tests(tests, register_early, NULL);
}
