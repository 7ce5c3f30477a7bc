/* Snapshots that are replaced while they are read: by one thread, by many, and in a storm. */
#include "tests/unit/dialect_check.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <vyre/allocator.h>
#include <vyre/device.h>

#include "dialect/guard.h"
#include "dialect/provider.h"
#include "tests/unit/settings.h"

/* Blocks of the library's memory, whoever asks for them. What is freed is overwritten, so that who
 * still reads it sees nothing good. */
static atomic_long blocks;
static atomic_bool refusing;

static void *count_resize(void *user, void *memory, size_t size) {
    (void)user;
    void *result = atomic_load(&refusing) ? NULL : realloc(memory, size);
    atomic_fetch_add(&blocks, !memory && result);
    return result;
}

static void count_free(void *user, void *memory) {
    (void)user;
    atomic_fetch_sub(&blocks, memory != NULL);
    memset(memory, 0xdd, malloc_usable_size(memory));
    free(memory);
}

/* Two threads, turn by turn. */
typedef struct talk {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int turn;
} talk;
#define TALK                                                                                       \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }

static void say(talk *t, int turn) {
    pthread_mutex_lock(&t->lock);
    t->turn = turn;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

static void hear(talk *t, int turn) {
    pthread_mutex_lock(&t->lock);
    while (t->turn < turn) {
        pthread_cond_wait(&t->changed, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
}

static void *in_thread(void *(*run)(void *argument), void *argument) {
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, run, argument), 0);
    pthread_join(thread, &result);
    return result;
}

static atomic_bool stop; /* ends the storm below */

/* What threads find wrong, as text; NULL: nothing. */
#define EXPECT(condition)                                                                          \
    if (!(condition)) {                                                                            \
        atomic_store(&stop, true);                                                                 \
        return (void *)(uintptr_t) #condition;                                                     \
    }
static void expect_well(const void *result) {
    if (result) {
        fail_msg("in a thread: %s", (const char *)result);
    }
}

static void *read_old(void *argument) {
    talk *t = argument;
    vyre_dialects_guard guard;
    const vyre_dialects *mine = vyre_dialects_enter(&guard);
    const vyre_operation *old = vyre_dialects_find(mine, "test.old");
    EXPECT(old);
    say(t, 1);
    hear(t, 2);
    EXPECT(vyre_dialects_find(mine, "test.old") == old);
    EXPECT(!strcmp(old->id, "test.old"));
    EXPECT(!vyre_dialects_find(mine, "test.new"));
    vyre_dialects_leave(&guard);
    EXPECT(!guard.snapshot);
    return NULL;
}

/* Tests assert only after the reader has ended: it uses their stack. */
static void reader_S98_keeps_its_snapshot_after_install(void **state) {
    (void)state;
    vyre_dialects_install(check_snapshot(1, "test.old"));
    talk t = TALK;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_old, &t), 0);
    hear(&t, 1);
    vyre_dialects_install(check_snapshot(1, "test.new"));
    size_t replaced = vyre_guards_replaced();
    say(&t, 2);
    void *result;
    pthread_join(thread, &result);
    expect_well(result);
    assert_int_equal(replaced, 1);
    assert_int_equal(vyre_guards_replaced(), 0); /* the last to read it was the end of it */
}

static void *read_new(void *argument) {
    (void)argument;
    vyre_dialects_guard guard;
    const vyre_dialects *mine = vyre_dialects_enter(&guard);
    EXPECT(vyre_dialects_find(mine, "test.after"));
    EXPECT(!vyre_dialects_find(mine, "test.before"));
    vyre_dialects_leave(&guard);
    return NULL;
}

static void reader_S99_later_sees_the_new_snapshot_alone(void **state) {
    (void)state;
    vyre_dialects_install(check_snapshot(1, "test.before"));
    vyre_dialects_install(check_snapshot(1, "test.after"));
    expect_well(in_thread(read_new, NULL));
    expect_well(read_new(NULL)); /* and one that had seen the one before */
}

static vyre_dialects *with_text(const char *id, vyre_operation_form form, const char *text) {
    const vyre_operation operation = {.id = id,
                                      .dialect = "test",
                                      .version = "1.0.0",
                                      .form = form,
                                      .file = "test.vyre",
                                      .text = text,
                                      .text_size = strlen(text),
                                      .entry = "f"};
    const vyre_operation name_alone = {.id = "test.name", .dialect = "test"};
    const vyre_operation *const all[] = {&operation, &name_alone};
    vyre_dialects *snapshot;
    expect_ok(vyre_dialects_make(all, 2, &snapshot));
    return snapshot;
}

static bool provided(const vyre_library_view *view, const char *id,
                     vyre_library_source *out_source) {
    return vyre_dialects_library.find(view, (vyre_str){id, strlen(id)}, out_source);
}

/* The language asks the registry, and has one snapshot as long as it looks at it. */
static void language_S98_S99_S102_follows_the_newest_snapshot(void **state) {
    (void)state;
    expect_ok(vyre_provider_install(&vyre_dialects_library)); /* again, and accepted */
    vyre_dialects_install(with_text("test.one", VYRE_OPERATION_FUNCTION, "fn f() { }"));
    vyre_library_view view, later;
    vyre_library_source source;
    expect_ok(vyre_dialects_library.enter(&view));
    vyre_dialects_install(with_text("test.two", VYRE_OPERATION_PROGRAM, "program f() over 1 { }"));
    expect_ok(vyre_dialects_library.enter(&later));
    assert_true(provided(&view, "test.one", &source));
    assert_int_equal(source.form, VYRE_LIBRARY_FUNCTION);
    assert_string_equal(source.text, "fn f() { }");
    assert_int_equal(source.text_size, 10);
    assert_string_equal(source.entry, "f");
    assert_string_equal(source.file, "test.vyre");
    assert_string_equal(source.dialect, "test");
    assert_string_equal(source.version, "1.0.0");
    assert_false(provided(&view, "test.two", &source));
    assert_false(provided(&later, "test.one", &source));
    assert_true(provided(&later, "test.two", &source));
    assert_int_equal(source.form, VYRE_LIBRARY_PROGRAM);
    assert_true(provided(&later, "test.name", &source));
    assert_int_equal(source.form, VYRE_LIBRARY_OPAQUE);
    assert_null(source.text);
    assert_string_equal(vyre_dialects_library.at(&later, 0).data, "test.name");
    assert_string_equal(vyre_dialects_library.at(&later, 1).data, "test.two");
    assert_null(vyre_dialects_library.at(&later, 2).data);
    assert_int_equal(vyre_guards_replaced(), 1);
    vyre_dialects_library.leave(&view);
    assert_int_equal(vyre_guards_replaced(), 0);
    vyre_dialects_library.leave(&later);
}

static void install_S97_replaces_and_frees(void **state) {
    (void)state;
    vyre_dialects_install(check_snapshot(1, "test.one"));
    vyre_dialects_guard guard;
    const vyre_dialects *one = vyre_dialects_enter(&guard);
    long before = atomic_load(&blocks);
    vyre_dialects *two = check_snapshot(1, "test.two");
    long size = atomic_load(&blocks) - before;
    assert_true(size > 0);
    vyre_dialects_install(two);
    /* Not touched where it stands, and there as long as it is read. */
    assert_ptr_equal(guard.snapshot, one);
    assert_non_null(check_find(one, "test.one"));
    assert_null(check_find(one, "test.two"));
    assert_int_equal(vyre_guards_replaced(), 1);
    assert_int_equal(atomic_load(&blocks), before + size);
    vyre_dialects_leave(&guard);
    assert_int_equal(vyre_guards_replaced(), 0);
    assert_int_equal(atomic_load(&blocks), before);
    /* Without a reader it is gone at once. */
    for (int i = 0; i < 100; i++) {
        vyre_dialects_install(check_snapshot(1, "test.one"));
        assert_int_equal(vyre_guards_replaced(), 0);
        assert_int_equal(atomic_load(&blocks), before);
    }
}

static void installing_the_same_snapshot_again(void **state) {
    (void)state;
    vyre_dialects *one = check_snapshot(1, "test.one");
    vyre_dialects_guard guards[3];
    vyre_dialects_install(vyre_dialects_retain(one));
    vyre_dialects_install(vyre_dialects_retain(one)); /* in force already */
    vyre_dialects_enter(&guards[0]);
    vyre_dialects_install(check_snapshot(1, "test.two"));
    vyre_dialects_install(vyre_dialects_retain(one)); /* replaced, read, and in force again */
    vyre_dialects_enter(&guards[1]);
    vyre_dialects_install(check_snapshot(1, "test.three"));
    assert_int_equal(vyre_guards_replaced(), 1); /* twice, but one */
    vyre_dialects_enter(&guards[2]);
    vyre_dialects_leave(&guards[0]);
    assert_int_equal(vyre_guards_replaced(), 1);
    assert_non_null(check_find(guards[1].snapshot, "test.one"));
    vyre_dialects_leave(&guards[1]);
    assert_int_equal(vyre_guards_replaced(), 0);
    assert_non_null(check_find(one, "test.one")); /* the caller's own reference */
    assert_non_null(check_find(guards[2].snapshot, "test.three"));
    vyre_dialects_leave(&guards[2]);
    vyre_dialects_release(one);
}

/* More than a thread has places for, each of another snapshot, left in another order. */
static void guards_of_a_thread_nest(void **state) {
    (void)state;
    enum { GUARDS = 24 };
    vyre_dialects_guard guards[GUARDS];
    char id[32];
    vyre_dialects_install(check_snapshot(1, "test.start"));
    long before = atomic_load(&blocks);
    for (int i = 0; i < GUARDS; i++) {
        snprintf(id, sizeof id, "test.nested_%d", i);
        vyre_dialects_install(check_snapshot(1, id));
        const vyre_dialects *mine = vyre_dialects_enter(&guards[i]);
        assert_ptr_equal(guards[i].snapshot, mine);
    }
    vyre_dialects_install(check_snapshot(1, "test.start"));
    assert_true(vyre_guards_replaced() > 0);
    for (int k = 0; k < GUARDS; k++) {
        int i = k * 7 % GUARDS;
        for (int other = 0; other < GUARDS; other++) {
            snprintf(id, sizeof id, "test.nested_%d", other);
            assert_int_equal(check_find(guards[i].snapshot, id) != NULL, other == i);
        }
        vyre_dialects_leave(&guards[i]);
    }
    assert_int_equal(vyre_guards_replaced(), 0);
    assert_int_equal(atomic_load(&blocks), before);
}

/* Sleeps with a guard while many are replaced: only its own is kept. */
static void sleeping_reader_keeps_one_snapshot(void **state) {
    (void)state;
    vyre_dialects_install(check_snapshot(1, "test.old"));
    talk t = TALK;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_old, &t), 0);
    hear(&t, 1);
    size_t most = 0;
    for (int i = 0; i < 1000; i++) {
        vyre_dialects_install(check_snapshot(1, "test.new"));
        size_t replaced = vyre_guards_replaced();
        most = replaced > most ? replaced : most;
    }
    say(&t, 2);
    void *result;
    pthread_join(thread, &result);
    expect_well(result);
    assert_int_equal(most, 1);
    assert_int_equal(vyre_guards_replaced(), 0);
}

static void *enter_and_leave(void *argument) {
    (void)argument;
    vyre_dialects_guard outer, inner;
    vyre_dialects_enter(&outer);
    vyre_dialects_enter(&inner);
    EXPECT(outer.snapshot == inner.snapshot);
    vyre_dialects_leave(&outer);
    vyre_dialects_leave(&inner);
    return NULL;
}

static void threads_that_end_leave_nothing(void **state) {
    (void)state;
    expect_well(in_thread(enter_and_leave, NULL));
    long before = atomic_load(&blocks);
    for (int i = 0; i < 200; i++) {
        expect_well(in_thread(enter_and_leave, NULL));
    }
    assert_int_equal(atomic_load(&blocks), before);
}

static void *enter_without_memory(void *argument) {
    (void)argument;
    vyre_dialects_guard guard;
    atomic_store(&refusing, true);
    const vyre_dialects *mine = vyre_dialects_enter(&guard);
    bool found = vyre_dialects_find(mine, "test.start");
    vyre_dialects_leave(&guard);
    atomic_store(&refusing, false);
    EXPECT(found);
    return NULL;
}

static void threads_without_memory_read_all_the_same(void **state) {
    (void)state;
    vyre_dialects_install(check_snapshot(1, "test.start"));
    expect_well(in_thread(enter_without_memory, NULL));
    vyre_dialects_install(check_snapshot(1, "test.start"));
    assert_int_equal(vyre_guards_replaced(), 0);
}

/* In the child the reader is not there, and what it read is freed; its own guard holds. */
static void fork_leaves_other_readers_behind(void **state) {
    (void)state;
    vyre_dialects_install(check_snapshot(1, "test.old"));
    talk t = TALK;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_old, &t), 0);
    hear(&t, 1);
    vyre_dialects_install(check_snapshot(1, "test.own"));
    vyre_dialects_guard guard;
    vyre_dialects_enter(&guard);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        bool good = vyre_guards_replaced() == 1;
        vyre_dialects_install(check_snapshot(1, "test.child"));
        good =
            good && vyre_guards_replaced() == 1 && vyre_dialects_find(guard.snapshot, "test.own");
        vyre_dialects_leave(&guard);
        good = good && vyre_guards_replaced() == 0;
        good = good && vyre_dialects_find(vyre_dialects_enter(&guard), "test.child");
        vyre_dialects_leave(&guard);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    pid_t waited = waitpid(child, &status, 0);
    vyre_dialects_leave(&guard);
    size_t replaced = vyre_guards_replaced();
    say(&t, 2);
    void *result;
    pthread_join(thread, &result);
    expect_well(result);
    assert_int_equal(waited, child);
    assert_int_equal(status, 0);
    assert_int_equal(replaced, 1);
    assert_int_equal(vyre_guards_replaced(), 0);
}

/* Many threads, with the registry that the process has by itself. */
enum { READERS = 16, LOOKUPS = 100 };

static void *look_up(void *argument) {
    vyre_dialects_guard guard;
    const vyre_dialects *mine = vyre_dialects_enter(&guard);
    for (int i = 0; i < LOOKUPS; i++) {
        const vyre_operation *found = vyre_dialects_find(mine, "io.dma_from_nvme");
        EXPECT(found);
        EXPECT(!strcmp(found->id, "io.dma_from_nvme"));
        EXPECT(found == argument);
    }
    vyre_dialects_leave(&guard);
    return NULL;
}

static void readers_S100_S103_of_many_threads_agree(void **state) {
    (void)state;
    vyre_dialects *loaded;
    expect_ok(vyre_dialects_load(&loaded));
    void *expected = (void *)(uintptr_t)check_find(loaded, "io.dma_from_nvme");
    assert_non_null(expected);
    vyre_dialects_install(loaded);
    pthread_t threads[READERS];
    for (size_t i = 0; i < READERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, look_up, expected), 0);
    }
    for (size_t i = 0; i < READERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        expect_well(result);
    }
}

/* The storm. Snapshot n has eight operations that say n, and of four others the one that says
 * n % 4, with a program that writes it. */
enum { SAME = 8, KINDS = 4, WRITERS = 2 };
static vyre_program *programs[KINDS];
static uint32_t same_names[SAME], kind_names[KINDS];
static vyre_device *device;
static atomic_ulong installed, lookups, dispatches;

static vyre_status make_numbered(unsigned long number, vyre_dialects **out_snapshot) {
    vyre_operation operations[SAME + 1];
    const vyre_operation *pointers[SAME + 1];
    char ids[SAME + 1][32], doc[32];
    snprintf(doc, sizeof doc, "%lu", number);
    for (size_t i = 0; i <= SAME; i++) {
        if (i < SAME) {
            snprintf(ids[i], sizeof ids[i], "storm.same_%zu", i);
        } else {
            snprintf(ids[i], sizeof ids[i], "storm.kind_%lu", number % KINDS);
        }
        operations[i] = (vyre_operation){.id = ids[i], .dialect = "storm", .doc = doc};
        operations[i].built = programs[number % KINDS];
        pointers[i] = &operations[i];
    }
    return vyre_dialects_make(pointers, SAME + 1, out_snapshot);
}

static void *write_many(void *argument) {
    (void)argument;
    while (!atomic_load(&stop)) {
        vyre_dialects *snapshot;
        vyre_status status = make_numbered(atomic_fetch_add(&installed, 1), &snapshot);
        EXPECT(!status);
        vyre_dialects_install(snapshot);
        EXPECT(vyre_guards_replaced() <= 2 * READERS + WRITERS); /* two guards each */
    }
    return NULL;
}

static const char *check_view(const vyre_dialects *mine, bool dispatch) {
    const vyre_operation *first = vyre_dialects_lookup(mine, same_names[0]);
    if (!first || vyre_dialects_count(mine) != SAME + 1) {
        return "an operation is missing";
    }
    for (size_t i = 1; i < SAME; i++) {
        const vyre_operation *found = vyre_dialects_lookup(mine, same_names[i]);
        if (!found || strcmp(found->doc, first->doc) != 0 || found->built != first->built) {
            return "two snapshots in one view";
        }
    }
    unsigned long kind = strtoul(first->doc, NULL, 10) % KINDS;
    for (size_t i = 0; i < KINDS; i++) {
        if ((vyre_dialects_lookup(mine, kind_names[i]) != NULL) != (i == kind)) {
            return "another snapshot's operation";
        }
    }
    if (dispatch) {
        vyre_outputs outputs;
        vyre_status status = vyre_device_dispatch(device, first->built, NULL, 0, NULL, &outputs);
        if (status) {
            vyre_status_free(status);
            return "a dispatch failed";
        }
        uint32_t value;
        memcpy(&value, outputs.items[0].data, sizeof value);
        vyre_outputs_free(&outputs);
        atomic_fetch_add(&dispatches, 1);
        if (value != kind) {
            return "another program's output";
        }
    }
    return NULL;
}

/* Is seldom anywhere but in between entering and leaving. */
static void *read_quickly(void *argument) {
    (void)argument;
    unsigned long count = 0;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        vyre_dialects_guard guard;
        const vyre_dialects *mine = vyre_dialects_enter(&guard);
        EXPECT(vyre_dialects_count(mine) == SAME + 1);
        EXPECT(vyre_dialects_lookup(mine, same_names[0]));
        vyre_dialects_leave(&guard);
        count++;
    }
    atomic_fetch_add(&lookups, count);
    return NULL;
}

static void *read_many(void *argument) {
    (void)argument;
    unsigned long count = 0;
    const char *wrong = NULL;
    while (!wrong && !atomic_load_explicit(&stop, memory_order_relaxed)) {
        vyre_dialects_guard guard, inner;
        const vyre_dialects *mine = vyre_dialects_enter(&guard);
        wrong = check_view(mine, count % 64 == 0);
        if (!wrong && count % 16 == 0) { /* a later one inside, and the first one still whole */
            wrong = check_view(vyre_dialects_enter(&inner), false);
            wrong = wrong ? wrong : check_view(mine, false);
            vyre_dialects_leave(&inner);
        }
        vyre_dialects_leave(&guard);
        count++;
    }
    atomic_fetch_add(&lookups, count);
    if (wrong) {
        atomic_store(&stop, true);
    }
    return (void *)(uintptr_t)wrong;
}

static void readers_S100_in_a_storm_see_one_snapshot_each(void **state) {
    (void)state;
    char id[64];
    for (unsigned i = 0; i < KINDS; i++) {
        snprintf(id, sizeof id, "program p(y: out buffer<u32>[1]) over y { y[gid] = %u; }", i);
        programs[i] = check_program(id);
        snprintf(id, sizeof id, "storm.kind_%u", i);
        kind_names[i] = check_name(id);
    }
    for (unsigned i = 0; i < SAME; i++) {
        snprintf(id, sizeof id, "storm.same_%u", i);
        same_names[i] = check_name(id);
    }
    expect_ok(vyre_acquire("reference", &device));
    vyre_dialects *first;
    expect_ok(make_numbered(atomic_fetch_add(&installed, 1), &first));
    vyre_dialects_install(first);
    expect_well(check_view(first, true)); /* what is made once is there */
    long before = atomic_load(&blocks);

    pthread_t threads[READERS + WRITERS];
    for (size_t i = 0; i < READERS + WRITERS; i++) {
        void *(*run)(void *) = i >= READERS ? write_many : i % 2 ? read_quickly : read_many;
        assert_int_equal(pthread_create(&threads[i], NULL, run, NULL), 0);
    }
    unsigned long snapshots = test_work(3000, 1000), runs = test_work(300, 50);
    while (!atomic_load(&stop) &&
           (atomic_load(&installed) < snapshots || atomic_load(&dispatches) < runs)) {
        sched_yield();
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < READERS + WRITERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        expect_well(result);
    }
    print_message("%lu snapshots, %lu views, %lu dispatches\n", atomic_load(&installed),
                  atomic_load(&lookups), atomic_load(&dispatches));
    assert_true(atomic_load(&lookups) > READERS);
    assert_int_equal(vyre_guards_replaced(), 0);
    vyre_device_release(device);
    vyre_dialects_install(check_snapshot(1, "test.end"));
    vyre_dialects *last = check_snapshot(1, "test.end");
    expect_ok(make_numbered(0, &first));
    vyre_dialects_release(last);
    assert_true(atomic_load(&blocks) <= before); /* with one of the storm's snapshots again */
    vyre_dialects_release(first);
    for (size_t i = 0; i < KINDS; i++) {
        vyre_program_release(programs[i]);
    }
}

int main(void) {
    static const vyre_allocator counting = {count_resize, count_free, NULL};
    vyre_allocator_set(&counting);
#ifdef PORTABLE_GUARDS
    vyre_guards_portable();
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_S98_keeps_its_snapshot_after_install),
        cmocka_unit_test(reader_S99_later_sees_the_new_snapshot_alone),
        cmocka_unit_test(language_S98_S99_S102_follows_the_newest_snapshot),
        cmocka_unit_test(install_S97_replaces_and_frees),
        cmocka_unit_test(installing_the_same_snapshot_again),
        cmocka_unit_test(guards_of_a_thread_nest),
        cmocka_unit_test(sleeping_reader_keeps_one_snapshot),
        cmocka_unit_test(threads_that_end_leave_nothing),
        cmocka_unit_test(threads_without_memory_read_all_the_same),
        cmocka_unit_test(fork_leaves_other_readers_behind),
        cmocka_unit_test(readers_S100_S103_of_many_threads_agree),
        cmocka_unit_test(readers_S100_in_a_storm_see_one_snapshot_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
