/* The standard library: defined without a program, built program by program, the same as ops/. */
#include "tests/unit/dialect_check.h"

#include <pthread.h>
#include <stdatomic.h>

#include "dialect/folder.h"
#include "dialect/library.h"
#include "tests/unit/failing_allocator.h"

/* The library, and how many there are of it. */
static const vyre_operation *operations;
static size_t count;

static size_t count_built(void) {
    size_t built = 0;
    for (size_t i = 0; i < count; i++) {
        const vyre_operation *operation = &operations[i];
        for (size_t k = 0; k <= operation->variant_count; k++) {
            built += atomic_load(&operation->library->built[k]) != NULL;
        }
    }
    return built;
}

static const vyre_program *program_of(const vyre_operation *operation,
                                      const vyre_variant *variant) {
    const vyre_program *program;
    expect_ok(vyre_operation_program(operation, variant, &program));
    assert_non_null(program);
    return program;
}

/* The first call of the process, which reads the definitions; what it reads stays. */
static void reading_may_run_out_of_memory(void **state) {
    (void)state;
    bool was_read = false;
    for (size_t n = 1; !was_read && failing_allocator_start(n); n++) {
        vyre_status status = vyre_library_read(&operations, &count);
        was_read = !status;
        assert_true(was_read || vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY);
        assert_int_equal(was_read, operations != NULL);
        assert_int_equal(was_read, !failing_allocator_failed());
        vyre_status_free(status);
        failing_allocator_state.live = was_read ? 0 : failing_allocator_state.live;
        failing_allocator_stop();
    }
    assert_in_range(count, 100, 1000);
}

static void loading_S84_builds_no_program(void **state) {
    (void)state;
    vyre_dialects_guard guard;
    const vyre_dialects *now;
    expect_ok(vyre_dialects_try_enter(&guard, &now));
    assert_in_range(vyre_dialects_count(now), 100, 1000);
    const vyre_operation *sort = check_find(now, "sort.keys_u32");
    assert_true(vyre_operation_has_program(sort));
    assert_null(sort->built);
    assert_int_equal(sort->parameter_count, 2);
    assert_string_equal(sort->parameters[0].name, "keys");
    assert_int_equal(count_built(), 0);

    const vyre_program *program = program_of(sort, NULL);
    assert_string_equal(vyre_program_name(program), "keys_u32");
    assert_int_equal(count_built(), 1);
    assert_ptr_equal(program_of(sort, NULL), program);
    vyre_dialects_leave(&guard);
}

/* A text that calls operations needs their texts alone. */
static void parsing_a_call_builds_no_program(void **state) {
    (void)state;
    size_t before = count_built();
    vyre_program_release(check_program("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) "
                                       "{ scan.inclusive_u32(x, y); }"));
    assert_int_equal(count_built(), before);
}

/* A copy of a definition, in another snapshot, is still one of the library. */
static void copies_share_the_program(void **state) {
    (void)state;
    vyre_dialects *snapshot;
    vyre_operation copy = operations[0];
    const vyre_operation *only = &copy;
    expect_ok(vyre_dialects_make(&only, 1, &snapshot));
    copy = (vyre_operation){0};
    const vyre_operation *found = vyre_dialects_at(snapshot, 0);
    assert_string_equal(found->id, operations[0].id);
    assert_ptr_equal(program_of(found, NULL), program_of(&operations[0], NULL));
    vyre_dialects_release(snapshot);
}

#define TEXT(name, call)                                                                           \
    "program " name "(x: buffer<u32>, y: out buffer<u32>[len(x)]) { " call "(x, y); }\n"

/* An operation of the library may call others of it, whatever snapshot is in force. */
static void operations_call_each_other(void **state) {
    (void)state;
    static const char text[] = TEXT("sums", "scan.inclusive_u32") TEXT("wrong", "scan.sums");
    static const char *const names[] = {"sums", "wrong", "missing"};
    static _Atomic(vyre_program *) built[3];
    static const vyre_library_entry entry = {text, sizeof text - 1, names, built};
    const vyre_variant variants[] = {{"wrong", "cpu", NULL}, {"missing", "gpu", NULL}};
    const vyre_operation operation = {.id = "t.sums",
                                      .file = "t.vyre",
                                      .variants = variants,
                                      .variant_count = 2,
                                      .library = &entry};
    vyre_dialects_install(check_snapshot(1, "t.other"));
    assert_string_equal(vyre_program_name(program_of(&operation, NULL)), "sums");

    const vyre_program *program;
    expect_words(vyre_operation_program(&operation, &variants[0], &program),
                 VYRE_STATUS_INVALID_PROGRAM, "unknown operation `scan.sums`", NULL);
    assert_null(program);
    expect_words(vyre_operation_program(&operation, &variants[1], &program), VYRE_STATUS_INTERNAL,
                 "`missing`", NULL);
    assert_null(program);
    vyre_program_release(atomic_load(&entry.built[0]));
}

static void expect_same_text(const char *left, const char *right) {
    assert_int_equal(left == NULL, right == NULL);
    if (left && right) {
        assert_string_equal(left, right);
    }
}

static void expect_same_program(const vyre_operation *operation, const vyre_variant *variant,
                                const vyre_program *expected) {
    vyre_digest a = vyre_program_digest(program_of(operation, variant)),
                b = vyre_program_digest(expected);
    if (a.low != b.low || a.high != b.high) {
        fail_msg("%s%s%s is not what ops/ says", operation->id, variant ? ", " : "",
                 variant ? variant->entry : "");
    }
}

static void expect_same_lists(const vyre_operation *left, const vyre_operation *right) {
    assert_int_equal(left->parameter_count, right->parameter_count);
    for (size_t i = 0; i < left->parameter_count; i++) {
        assert_string_equal(left->parameters[i].name, right->parameters[i].name);
        assert_int_equal(left->parameters[i].role, right->parameters[i].role);
        assert_int_equal(left->parameters[i].type, right->parameters[i].type);
        assert_int_equal(left->parameters[i].is_buffer, right->parameters[i].is_buffer);
    }
    assert_int_equal(left->law_count, right->law_count);
    for (size_t i = 0; i < left->law_count; i++) {
        assert_int_equal(left->laws[i].kind, right->laws[i].kind);
        expect_same_text(left->laws[i].operand, right->laws[i].operand);
    }
    assert_int_equal(left->witness_count, right->witness_count);
    for (size_t i = 0; i < left->witness_count; i++) {
        assert_string_equal(left->witnesses[i].arguments, right->witnesses[i].arguments);
        assert_string_equal(left->witnesses[i].expected, right->witnesses[i].expected);
    }
    assert_int_equal(left->variant_count, right->variant_count);
    for (size_t i = 0; i < left->variant_count; i++) {
        assert_string_equal(left->variants[i].entry, right->variants[i].entry);
        assert_string_equal(left->variants[i].suits, right->variants[i].suits);
        expect_same_program(left, &left->variants[i], right->variants[i].built);
    }
}

static void expect_same(const vyre_operation *left, const vyre_operation *right) {
    assert_string_equal(left->id, right->id);
    assert_string_equal(left->dialect, right->dialect);
    assert_string_equal(left->version, right->version);
    assert_string_equal(left->doc, right->doc);
    assert_int_equal(left->category, right->category);
    assert_int_equal(left->form, right->form);
    expect_same_text(left->file, right->file);
    expect_same_text(left->entry, right->entry);
    assert_int_equal(left->text_size, right->text_size);
    assert_memory_equal(left->text, right->text, left->text_size);
    expect_same_text(left->sample, right->sample);
    expect_same_text(left->work, right->work);
    expect_same_lists(left, right);
    expect_same_program(left, NULL, right->built);
}

/* The folder read as any other is, and compared with what the build made of it. */
static void library_is_what_the_folder_says(void **state) {
    (void)state;
    vyre_folder_list list = {0};
    vyre_folder_search found;
    vyre_streams streams = {0};
    vyre_dialects *snapshot;
    expect_ok(vyre_folder_list_add(&list, "ops", "this test", true));
    expect_ok(vyre_folder_search_run(&found, &list, NULL, &streams));
    expect_ok(vyre_folder_search_give(&found, &streams));
    expect_ok(vyre_dialects_make(streams.operations.items, streams.operations.count, &snapshot));
    assert_int_equal(vyre_dialects_count(snapshot), count);
    for (size_t i = 0; i < count; i++) {
        const vyre_operation *read = check_find(snapshot, operations[i].id);
        assert_non_null(read);
        expect_same(&operations[i], read);
    }
    vyre_dialects_release(snapshot);
    vyre_streams_free(&streams);
    vyre_folder_search_deinit(&found);
    vyre_folder_list_deinit(&list);
}

/* As if nobody had asked for it yet. */
static void forget(const vyre_operation *operation) {
    vyre_program_release(atomic_exchange(&operation->library->built[0], NULL));
}

static const vyre_operation *contested;
static pthread_barrier_t together;

static void *build(void *out) {
    pthread_barrier_wait(&together);
    vyre_status status = vyre_operation_program(contested, NULL, (const vyre_program **)out);
    return status;
}

static void threads_share_one_program(void **state) {
    (void)state;
    enum { THREADS = 8, ROUNDS = 20 };
    pthread_t threads[THREADS];
    const vyre_program *programs[THREADS];
    assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
    for (size_t round = 0; round < ROUNDS; round++) {
        contested = &operations[round];
        forget(contested);
        for (size_t i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, build, &programs[i]), 0);
        }
        for (size_t i = 0; i < THREADS; i++) {
            void *failed;
            assert_int_equal(pthread_join(threads[i], &failed), 0);
            assert_null(failed);
        }
        for (size_t i = 0; i < THREADS; i++) {
            assert_ptr_equal(programs[i], program_of(contested, NULL));
        }
    }
    pthread_barrier_destroy(&together);
}

static void building_may_run_out_of_memory(void **state) {
    (void)state;
    for (size_t i = 0; i < count; i += 20) {
        const vyre_operation *operation = &operations[i];
        forget(operation);
        for (size_t n = 1; failing_allocator_start(n); n++) {
            const vyre_program *program;
            vyre_status status = vyre_operation_program(operation, NULL, &program);
            bool is_memory = vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY;
            assert_true(status ? is_memory && !program : program != NULL);
            vyre_status_free(status);
            forget(operation);
            failing_allocator_stop();
            if (!failing_allocator_failed()) {
                assert_false(is_memory);
                break;
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_may_run_out_of_memory),
        cmocka_unit_test(loading_S84_builds_no_program),
        cmocka_unit_test(parsing_a_call_builds_no_program),
        cmocka_unit_test(copies_share_the_program),
        cmocka_unit_test(operations_call_each_other),
        cmocka_unit_test(library_is_what_the_folder_says),
        cmocka_unit_test(threads_share_one_program),
        cmocka_unit_test(building_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
