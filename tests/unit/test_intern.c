#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <pthread.h>
#include <stdatomic.h>

#include <cmocka.h>

#include <vyre/intern.h>

#include "tests/unit/failing_allocator.h"

enum { THREADS = 8, NAMES = 20000 };

static vyre_str str(const char *string) {
    return (vyre_str){string, strlen(string)};
}

static uint32_t intern(const char *name) {
    uint32_t id;
    assert_null(vyre_intern(str(name), &id));
    return id;
}

static void intern_S93_same_name_same_id_different_names_different_ids(void **state) {
    (void)state;
    uint32_t first = intern("hash.fnv1a32"), second = intern("hash.fnv1a64");
    assert_int_not_equal(first, second);
    assert_int_equal(intern("hash.fnv1a32"), first);
    char copy[] = "hash.fnv1a64";
    assert_int_equal(intern(copy), second);
    copy[0] = 'H';
    assert_int_not_equal(intern(copy), second);
    assert_int_equal(intern("hash.fnv1a64"), second);
    /* Nobody registered this one, which does not matter. */
    assert_int_not_equal(intern("no such operation"), VYRE_INTERN_NONE);
}

static void intern_ids_are_dense_and_lead_back_to_names(void **state) {
    (void)state;
    uint32_t before = intern("dense") + 1;
    for (uint32_t i = 0; i < 3000; i++) {
        char name[40];
        snprintf(name, sizeof name, "dense.%u", i);
        assert_int_equal(intern(name), before + i);
        assert_null(vyre_intern_name(before + i + 1).data);
    }
    for (uint32_t i = 0; i < 3000; i++) {
        char name[40];
        snprintf(name, sizeof name, "dense.%u", i);
        assert_string_equal(vyre_intern_name(before + i).data, name);
        assert_int_equal(vyre_intern_name(before + i).size, strlen(name));
    }
    assert_null(vyre_intern_name(before + 3000).data);
    assert_null(vyre_intern_name(VYRE_INTERN_NONE).data);
}

static void intern_find_does_not_add(void **state) {
    (void)state;
    uint32_t last = intern("the last one");
    assert_int_equal(vyre_intern_find(str("only asked for")), VYRE_INTERN_NONE);
    assert_null(vyre_intern_name(last + 1).data);
    uint32_t id = intern("only asked for");
    assert_int_equal(id, last + 1);
    assert_int_equal(vyre_intern_find(str("only asked for")), id);
}

static void intern_any_bytes_are_a_name(void **state) {
    (void)state;
    uint32_t empty, nul, two;
    assert_null(vyre_intern((vyre_str){NULL, 0}, &empty));
    assert_null(vyre_intern((vyre_str){"\0", 1}, &nul));
    assert_null(vyre_intern((vyre_str){"\0\0", 2}, &two));
    assert_true(empty != nul && nul != two && empty != two);
    assert_int_equal(vyre_intern_find((vyre_str){"", 0}), empty);
    assert_int_equal(vyre_intern_name(two).size, 2);
    static char huge[100000];
    memset(huge, 'x', sizeof huge);
    uint32_t id;
    assert_null(vyre_intern((vyre_str){huge, sizeof huge}, &id));
    assert_memory_equal(vyre_intern_name(id).data, huge, sizeof huge);
}

typedef struct worker {
    pthread_t thread;
    uint32_t number;
    uint32_t mistakes;
    uint32_t ids[NAMES];
} worker;

static atomic_bool go;

/* Interns all names in an order of its own, looking up and reading back others meanwhile. */
static void *intern_all(void *argument) {
    worker *self = argument;
    while (!atomic_load(&go)) {
    }
    for (uint32_t i = 0; i < NAMES; i++) {
        uint32_t k = (i * (2 * self->number + 1) + self->number * 997) % NAMES;
        char name[40], other[40];
        snprintf(name, sizeof name, "shared.%u", k);
        self->mistakes += vyre_intern(str(name), &self->ids[k]) != VYRE_OK;
        self->mistakes += vyre_intern_find(str(name)) != self->ids[k];
        snprintf(other, sizeof other, "shared.%u", (k * 7 + 13) % NAMES);
        uint32_t found = vyre_intern_find(str(other));
        if (found != VYRE_INTERN_NONE) {
            vyre_str back = vyre_intern_name(found);
            self->mistakes += !back.data || strcmp(back.data, other) != 0;
        }
    }
    return NULL;
}

static void intern_S93_gives_all_threads_the_same_ids(void **state) {
    (void)state;
    static worker workers[THREADS];
    uint32_t before = intern("shared") + 1;
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].number = i * 5; /* 2 * number + 1 is prime to the number of names */
        assert_int_equal(pthread_create(&workers[i].thread, NULL, intern_all, &workers[i]), 0);
    }
    atomic_store(&go, true);
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    assert_null(vyre_intern_name(before + NAMES).data);
    static bool seen[NAMES];
    for (uint32_t k = 0; k < NAMES; k++) {
        uint32_t id = workers[0].ids[k];
        for (uint32_t i = 0; i < THREADS; i++) {
            assert_int_equal(workers[i].ids[k], id);
        }
        assert_true(id >= before && id < before + NAMES);
        assert_false(seen[id - before]);
        seen[id - before] = true;
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].mistakes, 0);
    }
}

/* So many names that all kinds of memory grow several times, and each growth fails first. */
static void intern_failed_allocations_leave_the_name_unknown(void **state) {
    (void)state;
    size_t failures = 0;
    uint32_t first = intern("growing") + 1;
    for (uint32_t i = 0; i < 40000; i++) {
        char name[40];
        uint32_t id = VYRE_INTERN_NONE;
        snprintf(name, sizeof name, "growing.%u", i);
        for (size_t n = 1; id == VYRE_INTERN_NONE; n++) {
            failing_allocator_start(n);
            vyre_status status = vyre_intern(str(name), &id);
            failing_allocator_end(); /* what was interned stays for good */
            assert_int_equal(status != VYRE_OK, failing_allocator_failed());
            if (status) {
                failures++;
                assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
                assert_int_equal(id, VYRE_INTERN_NONE);
                assert_int_equal(vyre_intern_find(str(name)), VYRE_INTERN_NONE);
                assert_null(vyre_intern_name(first + i).data);
                vyre_status_free(status);
            }
        }
        assert_int_equal(id, first + i);
    }
    assert_true(failures >= 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intern_S93_same_name_same_id_different_names_different_ids),
        cmocka_unit_test(intern_ids_are_dense_and_lead_back_to_names),
        cmocka_unit_test(intern_find_does_not_add),
        cmocka_unit_test(intern_any_bytes_are_a_name),
        cmocka_unit_test(intern_S93_gives_all_threads_the_same_ids),
        cmocka_unit_test(intern_failed_allocations_leave_the_name_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
