/* Host memory that is pinned for all devices. */
#include <pthread.h>
#include <stdio.h>

#include <sys/wait.h>
#include <unistd.h>

#include <vyre/log.h>
#include <vyre/memory.h>

#include "tests/unit/contract_check.h"
#include "tests/unit/failing_allocator.h"

static const uint64_t pins = MOCK_BIT(memory_pin) | MOCK_BIT(memory_unpin);

static mock *make_mock(void) {
    return mock_create(&(mock_spec){.slots = pins | MOCK_LOSS | MOCK_BIT(prepare)});
}

static vyre_device *open_prepared(mock *m) {
    vyre_device *device = contract_device(m);
    expect_ok(vyre_device_prepare(device));
    return device;
}

/* Calls of the two slots since they were last asked for. */
static void expect_calls(mock *m, uint64_t pinned, uint64_t unpinned) {
    assert_int_equal(mock_count(m, MOCK_memory_pin), pinned);
    assert_int_equal(mock_count(m, MOCK_memory_unpin), unpinned);
    mock_forget(m);
}

static void memory_is_aligned_and_can_be_written(void **state) {
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, (4 << 20) - 1, 4 << 20, (9 << 20) + 5};
    void *memory[8];
    for (size_t i = 0; i < 8; i++) {
        expect_ok(vyre_memory_allocate(sizes[i], &memory[i]));
        assert_non_null(memory[i]);
        assert_int_equal((uintptr_t)memory[i] % page, 0);
        assert_true(sizes[i] < 4 << 20 || (uintptr_t)memory[i] % (2 << 20) == 0);
        memset(memory[i], (int)i, sizes[i]);
    }
    for (size_t i = 0; i < 8; i++) {
        assert_true(!sizes[i] || ((uint8_t *)memory[i])[sizes[i] - 1] == i);
        expect_ok(vyre_memory_free(memory[i]));
    }
    expect_ok(vyre_memory_free(NULL));
    expect_fail(vyre_memory_allocate(SIZE_MAX, memory), VYRE_STATUS_OUT_OF_MEMORY, "Fix: ");
    assert_null(memory[0]);
}

static void memory_is_pinned_for_devices_of_now_and_later(void **state) {
    (void)state;
    mock *first = make_mock(), *second = make_mock();
    vyre_device *now = open_prepared(first), *later;
    void *memory;
    uint8_t own[100];
    expect_ok(vyre_memory_allocate(5000, &memory));
    mock_record pinned = mock_last(first, MOCK_memory_pin);
    assert_true(pinned.buffer == (uintptr_t)memory && pinned.size >= 5000);
    expect_ok(vyre_memory_pin(own, sizeof own));
    pinned = mock_last(first, MOCK_memory_pin);
    assert_true(pinned.buffer == (uintptr_t)own && pinned.size == sizeof own);
    expect_calls(first, 2, 0);
    expect_ok(mock_open(second, &later));
    expect_calls(second, 0, 0); /* it is not prepared */
    expect_ok(vyre_device_prepare(later));
    expect_calls(second, 2, 0);
    expect_ok(vyre_memory_unpin(own));
    expect_calls(first, 0, 1);
    expect_calls(second, 0, 1);
    vyre_device_release(now); /* without the memory */
    expect_calls(first, 0, 1);
    expect_ok(vyre_memory_free(memory));
    expect_calls(first, 0, 0);
    assert_true(mock_last(second, MOCK_memory_unpin).buffer == (uintptr_t)memory);
    expect_calls(second, 0, 1);
    vyre_device_release(later);
    expect_calls(second, 0, 0);
    mock_free(first);
    mock_free(second);
}

static void devices_unpin_it_before_they_end(void **state) {
    (void)state;
    mock *m = make_mock();
    vyre_device *device = open_prepared(m);
    void *memory;
    expect_ok(vyre_memory_allocate(1, &memory));
    expect_calls(m, 1, 0);
    mock_lose(m);
    expect_ok(vyre_device_recover(device));
    expect_calls(m, 0, 1);
    expect_ok(vyre_device_prepare(device));
    expect_calls(m, 1, 0);
    mock_fail(m, MOCK_try_recover, 1, VYRE_FAIL_BACKEND, NULL);
    expect_fail(vyre_device_recover(device), VYRE_STATUS_BACKEND, "");
    expect_calls(m, 1, 1); /* it goes on as it was */
    expect_ok(vyre_device_shutdown(device));
    expect_calls(m, 0, 1);
    expect_ok(vyre_memory_free(memory));
    vyre_device_release(device);
    expect_calls(m, 0, 0);
    mock_free(m);
}

static void memory_may_be_allocated_while_a_device_is_lost(void **state) {
    (void)state;
    mock *m = make_mock();
    vyre_device *device = open_prepared(m);
    void *memory;
    mock_lose(m);
    mock_fail(m, MOCK_memory_pin, 1, VYRE_FAIL_DEVICE_LOST, NULL);
    expect_ok(vyre_memory_allocate(1, &memory));
    expect_calls(m, 1, 0);
    expect_ok(vyre_device_recover(device));
    expect_ok(vyre_device_prepare(device));
    expect_calls(m, 1, 0);
    expect_ok(vyre_memory_free(memory));
    expect_calls(m, 0, 1);
    vyre_device_release(device);
    mock_free(m);
}

static void wrong_addresses_are_refused(void **state) {
    (void)state;
    uint8_t own[100];
    void *memory;
    expect_ok(vyre_memory_allocate(4096, &memory));
    expect_ok(vyre_memory_pin(own, sizeof own));
    expect_fail(vyre_memory_pin(own + 99, 2), VYRE_STATUS_INVALID_ARGUMENT, "which are pinned");
    expect_fail(vyre_memory_pin((uint8_t *)memory + 7, 1), VYRE_STATUS_INVALID_ARGUMENT,
                "vyre_memory_allocate has pinned it");
    expect_fail(vyre_memory_pin(own, 0), VYRE_STATUS_INVALID_ARGUMENT, " 0 bytes");
    expect_fail(vyre_memory_pin(own + 100, SIZE_MAX), VYRE_STATUS_INVALID_ARGUMENT, "no memory at");
    expect_fail(vyre_memory_pin(own + 100, SIZE_MAX - (uintptr_t)own), VYRE_STATUS_INVALID_ARGUMENT,
                "no memory at");
    expect_fail(vyre_memory_free(own), VYRE_STATUS_INVALID_ARGUMENT,
                "is not from vyre_memory_allocate");
    expect_fail(vyre_memory_unpin(memory), VYRE_STATUS_INVALID_ARGUMENT, "was not pinned");
    expect_fail(vyre_memory_unpin(own + 1), VYRE_STATUS_INVALID_ARGUMENT, "was not pinned");
    expect_ok(vyre_memory_unpin(own));
    expect_fail(vyre_memory_unpin(own), VYRE_STATUS_INVALID_ARGUMENT, "was not pinned");
    expect_ok(vyre_memory_free(memory));
    expect_fail(vyre_memory_free(memory), VYRE_STATUS_INVALID_ARGUMENT, "or was freed");
}

static void failures_of_a_device_are_told(void **state) {
    (void)state;
    mock *first = make_mock(), *second = make_mock();
    vyre_device *one = open_prepared(first), *two = open_prepared(second);
    uint8_t own[100];
    void *memory;
    /* The device that was prepared last is asked first. */
    mock_fail(first, MOCK_memory_pin, 1, VYRE_FAIL_OUT_OF_MEMORY, NULL);
    expect_fail(vyre_memory_allocate(10, &memory), VYRE_STATUS_OUT_OF_MEMORY, "for device mock");
    assert_null(memory);
    expect_calls(first, 1, 0);
    expect_calls(second, 1, 1);
    expect_ok(vyre_memory_pin(own, sizeof own));
    mock_fail(first, MOCK_memory_unpin, 1, VYRE_FAIL_BACKEND, NULL);
    expect_fail(vyre_memory_unpin(own), VYRE_STATUS_BACKEND, "unpinning memory on device mock");
    expect_fail(vyre_memory_pin(own, 1), VYRE_STATUS_INVALID_ARGUMENT, "which are pinned");
    expect_ok(vyre_memory_unpin(own));
    /* One device pins it, the other does not, and the first one keeps it. */
    mock_fail(first, MOCK_memory_pin, 1, VYRE_FAIL_OUT_OF_MEMORY, NULL);
    mock_fail(second, MOCK_memory_unpin, 1, VYRE_FAIL_BACKEND, NULL);
    expect_fail(vyre_memory_pin(own, sizeof own), VYRE_STATUS_OUT_OF_MEMORY, "still has it pinned");
    expect_ok(vyre_memory_unpin(own));
    vyre_device_release(one);
    vyre_device_release(two);
    mock_free(first);
    mock_free(second);
}

/* Memory that could neither be given out nor unpinned goes with the device that has it. */
static void memory_of_nobody_is_freed_later(void **state) {
    (void)state;
    mock *first = make_mock(), *second = make_mock();
    vyre_device *one = open_prepared(first), *two = open_prepared(second);
    void *memory;
    mock_fail(first, MOCK_memory_pin, 1, VYRE_FAIL_OUT_OF_MEMORY, NULL);
    mock_fail(second, MOCK_memory_unpin, 1, VYRE_FAIL_BACKEND, NULL);
    expect_fail(vyre_memory_allocate(10, &memory), VYRE_STATUS_OUT_OF_MEMORY, "for device mock");
    expect_calls(first, 1, 0);
    expect_calls(second, 1, 1);
    vyre_device_release(one);
    one = open_prepared(first);
    expect_calls(first, 0, 0);
    vyre_device_release(two);
    expect_calls(second, 0, 1);
    expect_calls(first, 0, 0);
    vyre_device_release(one);
    mock_free(first);
    mock_free(second);
}

/* Calls of a callback of the log that work. */
static void allocate_for_message(void *user, vyre_log_level level, const char *message) {
    void *memory;
    (void)level;
    assert_non_null(strstr(message, "memory"));
    expect_ok(vyre_memory_allocate(10, &memory));
    expect_ok(vyre_memory_free(memory));
    ++*(int *)user;
}

static void callbacks_of_the_log_may_allocate(void **state) {
    (void)state;
    mock *m = make_mock();
    void *memory;
    int messages = 0;
    expect_ok(vyre_memory_allocate(10, &memory));
    vyre_log_set(allocate_for_message, &messages, VYRE_LOG_WARNING);
    alarm(60); /* a lock that is taken twice */
    mock_fail(m, MOCK_memory_pin, 1, VYRE_FAIL_OUT_OF_MEMORY, NULL);
    vyre_device *device = open_prepared(m);
    assert_int_equal(messages, 1);
    vyre_device_release(device);
    device = open_prepared(m);
    mock_fail(m, MOCK_memory_unpin, 1, VYRE_FAIL_BACKEND, NULL);
    vyre_device_release(device);
    assert_int_equal(messages, 2);
    alarm(0);
    vyre_log_set(NULL, NULL, VYRE_LOG_ERROR);
    expect_ok(vyre_memory_free(memory));
    mock_free(m);
}

static void backends_without_the_slots_take_it(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){0});
    vyre_device *device = open_prepared(m);
    void *memory;
    expect_ok(vyre_memory_allocate(10, &memory));
    expect_ok(vyre_memory_free(memory));
    expect_calls(m, 0, 0);
    vyre_device_release(device);
    mock_free(m);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    mock *m = make_mock();
    vyre_device *device = open_prepared(m);
    uint8_t own[100];
    for (size_t n = 1; failing_allocator_start(n); n++) {
        void *memory;
        vyre_status status = vyre_memory_allocate(5 << 20, &memory);
        status = status ? status : vyre_memory_pin(own, sizeof own);
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        expect_ok(vyre_memory_free(memory));
        if (!code) {
            expect_ok(vyre_memory_unpin(own));
        }
        failing_allocator_stop();
        if (!failing_allocator_failed()) {
            break;
        }
        assert_int_equal(code, VYRE_STATUS_OUT_OF_MEMORY);
    }
    vyre_device_release(device);
    mock_free(m);
}

/* The child has the memory, but nothing of the parent's devices. */
static void children_may_use_and_free_it(void **state) {
    (void)state;
    mock *m = make_mock();
    vyre_device *device = open_prepared(m);
    uint8_t *memory, own[10];
    void *made;
    expect_ok(vyre_memory_allocate(100, &made));
    memory = made;
    memory[0] = 5;
    mock_forget(m);
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        bool well = memory[0] == 5 && !vyre_memory_free(memory) && !vyre_memory_pin(own, 10) &&
                    !vyre_memory_unpin(own) && !mock_count(m, MOCK_memory_pin) &&
                    !mock_count(m, MOCK_memory_unpin);
        _exit(well ? 0 : 1);
    }
    int ended = -1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    expect_ok(vyre_memory_free(memory));
    expect_calls(m, 0, 1);
    vyre_device_release(device);
    mock_free(m);
}

static void *allocate_often(void *argument) {
    vyre_status *failure = argument;
    for (size_t i = 0; i < 200 && !*failure; i++) {
        void *memory;
        *failure = vyre_memory_allocate(i * 100, &memory);
        *failure = *failure ? *failure : vyre_memory_free(memory);
    }
    return NULL;
}

static void threads_may_allocate_while_devices_come_and_go(void **state) {
    (void)state;
    enum { THREADS = 4 };
    mock *m = make_mock();
    pthread_t threads[THREADS];
    vyre_status failures[THREADS] = {0};
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_often, &failures[i]), 0);
    }
    for (size_t i = 0; i < 50; i++) {
        vyre_device_release(open_prepared(m));
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        expect_ok(failures[i]);
    }
    assert_int_equal(mock_count(m, MOCK_memory_pin), mock_count(m, MOCK_memory_unpin));
    mock_free(m);
}

int main(void) {
    contract_without_cache();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_and_can_be_written),
        cmocka_unit_test(memory_is_pinned_for_devices_of_now_and_later),
        cmocka_unit_test(devices_unpin_it_before_they_end),
        cmocka_unit_test(memory_may_be_allocated_while_a_device_is_lost),
        cmocka_unit_test(wrong_addresses_are_refused),
        cmocka_unit_test(failures_of_a_device_are_told),
        cmocka_unit_test(memory_of_nobody_is_freed_later),
        cmocka_unit_test(callbacks_of_the_log_may_allocate),
        cmocka_unit_test(backends_without_the_slots_take_it),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(children_may_use_and_free_it),
        cmocka_unit_test(threads_may_allocate_while_devices_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
