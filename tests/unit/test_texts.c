/* Texts that run again are not parsed again, unless they or the library changed. */
#define _GNU_SOURCE /* P_tmpdir */
#include "tests/unit/dialect_files.h"

#include <pthread.h>
#include <sys/wait.h>

#include <vyre/dialect.h>
#include <vyre/run.h>

#include "route/texts.h"
#include "tests/unit/failing_allocator.h"

#define CALLS "program p(x: inout buffer<u32>) over x { x[gid] = d.f(x[gid]); }"
#define PLAIN "program p(x: inout buffer<u32>) over x { x[gid] += 1; }"

static vyre_program *program_of(const char *text) {
    vyre_program *program;
    expect_ok(vyre_texts_program(text, &program));
    return program;
}

/* The address alone, which is that of a program that is kept. */
static const void *address_of(const char *text) {
    vyre_program *program = program_of(text);
    vyre_program_release(program);
    return program;
}

static void reload(void) {
    vyre_dialects *snapshot;
    expect_ok(vyre_dialects_load(&snapshot));
    vyre_dialects_install(snapshot);
}

static uint32_t run_calls(void) {
    uint32_t x[] = {10};
    const vyre_argument argument = {"x", x, x, sizeof x};
    expect_ok(vyre_run("reference", CALLS, &argument, 1, NULL));
    return x[0];
}

static void the_same_text_is_found_again(void **state) {
    (void)state;
    char copy[] = PLAIN;
    vyre_program *first = program_of(PLAIN);
    assert_ptr_equal(address_of(PLAIN), first);
    assert_ptr_equal(address_of(copy), first); /* bytes count, not where they lie */
    copy[strlen(copy) - 4] = '2';
    assert_ptr_not_equal(address_of(copy), first);
    assert_ptr_not_equal(address_of(PLAIN " "), first);
    vyre_program_release(first);
}

/* Counted by allocations: finding a text again makes none. */
static void nothing_is_parsed_twice(void **state) {
    (void)state;
    (void)address_of(PLAIN);
    failing_allocator_start(0);
    (void)address_of(PLAIN);
    failing_allocator_stop();
    assert_int_equal(failing_allocator_largest(), 0);
}

static void a_changed_library_is_noticed(void **state) {
    (void)state;
    write_dialect("one", "d", "1.0.0", "a + 1");
    reload();
    assert_int_equal(run_calls(), 11);
    assert_int_equal(run_calls(), 11);
    const void *before = address_of(CALLS);
    assert_ptr_equal(address_of(CALLS), before);
    vyre_program *kept = program_of(CALLS);
    write_dialect("one", "d", "1.0.1", "a + 2");
    reload();
    assert_int_equal(run_calls(), 12);
    assert_ptr_not_equal(address_of(CALLS), kept);
    vyre_program_release(kept);
}

static void mistakes_are_told_each_time(void **state) {
    (void)state;
    vyre_program *program;
    for (int i = 0; i < 2; i++) {
        expect_error(vyre_texts_program("program p(", &program), VYRE_STATUS_INVALID_PROGRAM, "V0");
        expect_error(vyre_texts_program(PLAIN "program q(x: inout buffer<u32>) over x { x[gid] = "
                                              "1; }",
                                        &program),
                     VYRE_STATUS_INVALID_ARGUMENT, "2 programs");
    }
}

static void make_text(char text[128], unsigned number) {
    snprintf(text, 128, "program p(x: inout buffer<u32>) over x { x[gid] += %u; }", number);
}

/* Texts that are made up as they run do not fill the memory. */
static void the_number_of_texts_is_bounded(void **state) {
    (void)state;
    enum { MANY = 4000, MOST = 256 };
    char text[128];
    for (unsigned i = 0; i < MANY / 2; i++) {
        make_text(text, i);
        (void)address_of(text);
    }
    failing_allocator_start(0);
    for (unsigned i = MANY / 2; i < MANY; i++) {
        make_text(text, i);
        (void)address_of(text);
    }
    failing_allocator_end();
    assert_true(failing_allocator_state.live < 16 * MOST);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char text[128];
    bool done = false;
    for (unsigned n = 1; !done; n++) {
        vyre_program *program = NULL;
        make_text(text, 100000 + n);
        failing_allocator_start(n);
        vyre_status status = vyre_texts_program(text, &program);
        failing_allocator_end();
        done = !failing_allocator_failed();
        /* What is not kept for want of memory runs all the same. */
        assert_true(status ? vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY
                           : program != NULL);
        vyre_status_free(status);
        vyre_program_release(program);
    }
}

enum { THREADS = 32, ROUNDS = 200 };

static void *run_texts(void *user) {
    unsigned own = *(unsigned *)user, wrong = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        char text[128];
        unsigned number = (own + i) % 300;
        uint32_t x = 5;
        const vyre_argument argument = {"x", &x, &x, sizeof x};
        make_text(text, number);
        vyre_status status = vyre_run("reference", text, &argument, 1, NULL);
        wrong += status || x != 5 + number;
        vyre_status_free(status);
    }
    *(unsigned *)user = wrong;
    return NULL;
}

static void threads_share_them(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i * 9;
        assert_int_equal(pthread_create(&threads[i], NULL, run_texts, &numbers[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        reload();
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(numbers[i], 0);
    }
}

/* A child has texts of its own: a lock of the parent's may be held for ever. */
static void a_child_runs_texts(void **state) {
    (void)state;
    assert_int_equal(run_calls(), 12);
    pid_t child = fork();
    if (!child) {
        _exit(run_calls() == 12 ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
}

int main(void) {
    setenv("VYRE_CACHE_LIMIT", "0", 1);
    dialect_root_make(NULL);
    make_folder("one", 0755);
    setenv("VYRE_DIALECT_PATH", below("one"), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_text_is_found_again),
        cmocka_unit_test(nothing_is_parsed_twice),
        cmocka_unit_test(a_changed_library_is_noticed),
        cmocka_unit_test(mistakes_are_told_each_time),
        cmocka_unit_test(the_number_of_texts_is_bounded),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(threads_share_them),
        cmocka_unit_test(a_child_runs_texts),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    dialect_root_remove(NULL);
    return failed;
}
