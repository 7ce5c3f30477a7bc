/* Copies between the host and the device: parts, helpers, pinned memory, failures. */
#include <pthread.h>

#include <vyre/memory.h>

#include "backend/cuda/runtime/device.h"
#include "backend/cuda/runtime/driver.h"
#include "base/random.h"
#include "base/status.h"
#include "runtime/device.h"
#include "tests/unit/cuda_check.h"

enum { KIB = 1 << 10, MIB = 1 << 20, FENCE = 64 };

/* A device with more helpers than this machine may have CPUs for. */
static vyre_device *open_device(uint32_t helpers) {
    vyre_device *device = fake_device_open(0);
    expect_ok(vyre_device_prepare(device));
    ((cuda_device *)device->backend->state)->helpers.most = helpers;
    return device;
}

static uint32_t helper_count(const vyre_device *device) {
    return ((const cuda_device *)device->backend->state)->helpers.count;
}

static void fill_random(uint8_t *bytes, size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; i += sizeof seed) {
        uint64_t word = vyre_random(&seed);
        memcpy(bytes + i, &word, count - i < sizeof word ? count - i : sizeof word);
    }
}

/* Writes a part of a buffer and reads it again, both at addresses that are not aligned. */
static vyre_status copy_both(vyre_device *device, size_t bytes, uint64_t seed) {
    uint8_t *from = malloc(bytes + 1), *to = malloc(bytes + 2 * FENCE);
    vyre_resident buffer;
    fill_random(from + 1, bytes, seed);
    memset(to, 0xee, bytes + 2 * FENCE);
    vyre_status status = vyre_resident_allocate(device, bytes + 3, &buffer);
    if (!status) {
        status = vyre_resident_upload_at(device, buffer, 2, from + 1, bytes);
        status = status ? status : vyre_resident_read(device, buffer, 2, to + FENCE, bytes);
        status = vyre_first_failure(status, vyre_resident_free(device, buffer));
    }
    if (!status) {
        assert_memory_equal(to + FENCE, from + 1, bytes);
        for (size_t i = 0; i < FENCE; i++) {
            assert_int_equal(to[i], 0xee);
            assert_int_equal(to[FENCE + bytes + i], 0xee);
        }
    }
    free(from);
    free(to);
    return status;
}

static void bytes_are_right_around_the_borders_of_parts(void **state) {
    (void)state;
    static const size_t sizes[] = {0,
                                   1,
                                   64 * KIB,
                                   64 * KIB + 1,
                                   256 * KIB - 1,
                                   256 * KIB,
                                   256 * KIB + 1,
                                   512 * KIB + 3,
                                   2 * MIB - 1,
                                   2 * MIB,
                                   2 * MIB + 1,
                                   8 * MIB - 1,
                                   8 * MIB + 1,
                                   16 * MIB + 7,
                                   33 * MIB + 5};
    for (uint32_t helpers = 0; helpers <= 5; helpers += 5) {
        vyre_device *device = open_device(helpers);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            expect_ok(copy_both(device, sizes[i], i));
        }
        assert_int_equal(helper_count(device), helpers);
        vyre_device_release(device);
    }
}

/* The calls of the driver that copy `bytes` each way. */
static void count_copies(vyre_device *device, vyre_resident buffer, void *host, size_t bytes,
                         uint64_t *out_in, uint64_t *out_out) {
    *out_in = fake->calls(FAKE_cuMemcpyHtoDAsync);
    *out_out = fake->calls(FAKE_cuMemcpyDtoHAsync);
    expect_ok(vyre_resident_upload_at(device, buffer, 0, host, bytes));
    memset(host, 0, bytes);
    expect_ok(vyre_resident_read(device, buffer, 0, host, bytes));
    *out_in = fake->calls(FAKE_cuMemcpyHtoDAsync) - *out_in;
    *out_out = fake->calls(FAKE_cuMemcpyDtoHAsync) - *out_out;
}

static void expect_copies(vyre_device *device, vyre_resident buffer, uint8_t *host, size_t bytes,
                          uint64_t wanted) {
    uint64_t in, out;
    uint8_t *before = malloc(bytes);
    fill_random(host, bytes, bytes);
    memcpy(before, host, bytes);
    count_copies(device, buffer, host, bytes, &in, &out);
    assert_memory_equal(host, before, bytes);
    assert_int_equal(in, wanted);
    assert_int_equal(out, wanted);
    free(before);
}

static void large_copies_have_parts_of_the_stated_sizes(void **state) {
    (void)state;
    vyre_device *device = open_device(3);
    vyre_resident buffer;
    uint8_t *host = malloc(64 * MIB);
    expect_ok(vyre_resident_allocate(device, 64 * MIB, &buffer));
    expect_copies(device, buffer, host, 64 * KIB, 1);
    expect_copies(device, buffer, host, 1 * MIB, 4);
    assert_int_equal(helper_count(device), 0);
    expect_copies(device, buffer, host, 8 * MIB, 32);
    expect_copies(device, buffer, host, 64 * MIB, 64);
    assert_int_equal(helper_count(device), 3);
    free(host);
    vyre_device_release(device);
}

static void pinned_memory_is_copied_directly(void **state) {
    (void)state;
    enum { BYTES = 4 * MIB };
    vyre_device *device = open_device(2);
    vyre_resident buffer;
    void *own, *foreign;
    uint8_t *plain = malloc(BYTES);
    const cuda_table *cuda;
    CUcontext before;
    expect_ok(cuda_driver_open(&cuda));
    expect_ok(cuda_device_enter(device->backend->state, &before));
    expect_ok(vyre_resident_allocate(device, BYTES, &buffer));
    expect_ok(vyre_memory_allocate(BYTES, &own));
    expect_copies(device, buffer, own, BYTES, 1);
    expect_copies(device, buffer, (uint8_t *)own + 3, BYTES - 3, 1);
    assert_int_equal(helper_count(device), 0);
    assert_int_equal(cuda->cuMemHostAlloc(&foreign, BYTES, 0), 0);
    expect_copies(device, buffer, foreign, BYTES, 1); /* of another library */
    expect_ok(vyre_memory_pin(foreign, BYTES));       /* which has pinned it */
    expect_ok(vyre_memory_unpin(foreign));
    expect_copies(device, buffer, foreign, BYTES, 1);
    fake->spec()->hides_ranges = true;
    expect_copies(device, buffer, foreign, BYTES, 16);
    fake->spec()->hides_ranges = false;
    assert_int_equal(cuda->cuMemFreeHost(foreign), 0);
    expect_copies(device, buffer, plain, BYTES, 16);
    expect_ok(vyre_memory_pin(plain, BYTES));
    expect_copies(device, buffer, plain, BYTES, 1);
    expect_ok(vyre_memory_unpin(plain));
    expect_copies(device, buffer, plain, BYTES, 16);
    expect_ok(vyre_memory_pin(plain, BYTES / 2)); /* the rest is not */
    expect_copies(device, buffer, plain, BYTES, 16);
    expect_ok(vyre_memory_unpin(plain));
    free(plain);
    expect_ok(vyre_memory_free(own));
    vyre_device_release(device);
}

static void pinned_memory_is_imported(void **state) {
    (void)state;
    vyre_device *device = open_device(0);
    vyre_resident x, y;
    void *memory;
    vyre_program *program = fake_device_program(TWICE);
    expect_ok(vyre_memory_allocate(8192, &memory));
    contract_numbers(memory, CONTRACT_LENGTH);
    const vyre_memory shared = {.address = (uintptr_t)memory,
                                .size = CONTRACT_LENGTH * sizeof(uint32_t),
                                .place = VYRE_MEMORY_HOST};
    expect_ok(vyre_resident_import(device, &shared, NULL, NULL, &x));
    expect_ok(vyre_resident_allocate(device, shared.size, &y));
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    expect_ok(vyre_device_dispatch_resident(device, program, bindings, 2, NULL, NULL));
    expect_resident(device, y, 2);
    vyre_program_release(program);
    vyre_device_release(device);
    expect_ok(vyre_memory_free(memory));
}

/* Both devices share the fake's context, as the driver registers memory for all of them. */
static void memory_stays_pinned_for_the_device_that_is_left(void **state) {
    (void)state;
    vyre_device *first = open_device(0), *second = fake_device_open(1);
    void *memory;
    expect_ok(vyre_device_prepare(second));
    expect_ok(vyre_memory_allocate(100, &memory));
    assert_int_equal(fake->live().registered, 1);
    assert_int_equal(fake->calls(FAKE_cuMemHostRegister), 1);
    vyre_device_release(second); /* the first one that pinned it */
    assert_int_equal(fake->live().registered, 1);
    assert_int_equal(fake->calls(FAKE_cuMemHostRegister), 2);
    vyre_device_release(first);
    assert_int_equal(fake->live().registered, 0);
    expect_ok(vyre_memory_free(memory));
}

static void memory_that_others_registered_in_part_is_refused(void **state) {
    (void)state;
    vyre_device *device = open_device(0);
    const cuda_table *cuda;
    CUcontext before;
    uint8_t bytes[256];
    expect_ok(cuda_driver_open(&cuda));
    expect_ok(cuda_device_enter(device->backend->state, &before));
    assert_int_equal(cuda->cuMemHostRegister(bytes, 256, 0), 0);
    expect_ok(vyre_memory_pin(bytes, 128)); /* all of it is pinned */
    expect_ok(vyre_memory_unpin(bytes));
    assert_int_equal(fake->live().registered, 1);
    assert_int_equal(cuda->cuMemHostUnregister(bytes), 0);
    assert_int_equal(cuda->cuMemHostRegister(bytes + 128, 128, 0), 0);
    expect_fail(vyre_memory_pin(bytes, 256), VYRE_STATUS_INVALID_ARGUMENT,
                "a part of the 256 bytes is registered");
    expect_fail(vyre_memory_unpin(bytes), VYRE_STATUS_INVALID_ARGUMENT, "was not pinned");
    assert_int_equal(cuda->cuMemHostUnregister(bytes + 128), 0);
    vyre_device_release(device);
}

static void memory_that_others_unregistered_is_freed(void **state) {
    (void)state;
    vyre_device *device = open_device(0);
    const cuda_table *cuda;
    CUcontext before;
    uint8_t bytes[256];
    void *memory;
    expect_ok(cuda_driver_open(&cuda));
    expect_ok(cuda_device_enter(device->backend->state, &before));
    expect_ok(vyre_memory_allocate(100, &memory));
    expect_ok(vyre_memory_pin(bytes, sizeof bytes));
    assert_int_equal(cuda->cuMemHostUnregister(memory), 0);
    assert_int_equal(cuda->cuMemHostUnregister(bytes), 0);
    expect_ok(vyre_memory_free(memory));
    expect_ok(vyre_memory_unpin(bytes));
    vyre_device_release(device);
}

/* Each call fails once in copies that helpers share; what comes next is right again. */
static void drill(fake_entry entry, CUresult result, bool may_go_on) {
    for (uint64_t n = 1;; n += 1 + n / 2) {
        vyre_device *device = open_device(4);
        uint64_t calls = fake->calls(entry);
        fake->fail_at(entry, n, result);
        vyre_status status = copy_both(device, 2 * MIB + 3, n);
        bool is_past = fake->calls(entry) - calls < n;
        fake->fail_at(entry, 0, 0);
        if (!is_past && !may_go_on) {
            assert_non_null(status);
        }
        if (status) {
            assert_non_null(strstr(vyre_status_text(status), "Fix: "));
            assert_int_equal(vyre_device_lost(device), result == CUDA_ERROR_LAUNCH_FAILED);
        }
        vyre_status_free(status);
        if (vyre_device_lost(device)) {
            expect_ok(vyre_device_recover(device));
        }
        expect_ok(copy_both(device, 2 * MIB + 3, n + 1000));
        vyre_device_release(device);
        if (is_past) {
            break;
        }
    }
}

static void every_call_of_a_shared_copy_may_fail(void **state) {
    (void)state;
    static const fake_entry entries[] = {FAKE_cuMemcpyHtoDAsync, FAKE_cuMemcpyDtoHAsync,
                                         FAKE_cuEventRecord, FAKE_cuEventSynchronize};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        drill(entries[i], 1, false);
        drill(entries[i], CUDA_ERROR_LAUNCH_FAILED, false);
    }
    /* A copy goes without helpers for which there is no memory, and asks about memory in vain. */
    drill(FAKE_cuMemHostAlloc, CUDA_ERROR_OUT_OF_MEMORY, true);
    drill(FAKE_cuEventCreate, CUDA_ERROR_OUT_OF_MEMORY, true);
    drill(FAKE_cuPointerGetAttribute, 1, true);
    drill(FAKE_cuCtxSetCurrent, 1, true);
    drill(FAKE_cuStreamSynchronize, 1, true);
}

static void runs_copy_inputs_and_outputs(void **state) {
    (void)state;
    enum { COUNT = MIB, BYTES = 4 * COUNT };
    vyre_device *device = open_device(4);
    vyre_program *program = fake_device_program(TWICE);
    uint32_t *x = malloc(BYTES), *y = malloc(BYTES);
    contract_numbers(x, COUNT);
    const vyre_output arguments[] = {{(uint8_t *)x, BYTES}, {(uint8_t *)y, BYTES}};
    expect_ok(vyre_device_dispatch_in_place(device, program, arguments, 2, NULL));
    expect_numbers(y, COUNT, 2);
    assert_int_equal(helper_count(device), 4);
    vyre_pending *pending;
    const vyre_input input = {x, BYTES};
    for (int i = 0; i < 4; i++) { /* dropped while inputs are under way, or about that */
        expect_ok(vyre_device_dispatch_async(device, program, &input, 1, NULL, &pending));
        vyre_pending_free(pending);
    }
    expect_ok(vyre_device_dispatch_in_place(device, program, arguments, 2, NULL));
    expect_numbers(y, COUNT, 2);
    free(x);
    free(y);
    vyre_program_release(program);
    vyre_device_release(device);
}

typedef struct member {
    vyre_device *device;
    uint64_t seed;
} member;

static void *copy_often(void *argument) {
    const member *m = argument;
    uint64_t random = m->seed;
    for (int i = 0; i < 12; i++) {
        size_t bytes = (size_t)vyre_random_below(&random, 6 * MIB);
        expect_ok(copy_both(m->device, bytes, m->seed * 100 + (uint64_t)i));
    }
    return NULL;
}

static void threads_share_the_helpers(void **state) {
    (void)state;
    enum { THREADS = 4 };
    vyre_device *device = open_device(5);
    pthread_t threads[THREADS];
    member members[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        members[i] = (member){device, i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, copy_often, &members[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    vyre_device_release(device);
}

int main(void) {
    contract_without_cache();
    fake = fake_device_start();
    const struct CMUnitTest tests[] = {
        TEST(bytes_are_right_around_the_borders_of_parts),
        TEST(large_copies_have_parts_of_the_stated_sizes),
        TEST(pinned_memory_is_copied_directly),
        TEST(pinned_memory_is_imported),
        TEST(memory_stays_pinned_for_the_device_that_is_left),
        TEST(memory_that_others_registered_in_part_is_refused),
        TEST(memory_that_others_unregistered_is_freed),
        TEST(every_call_of_a_shared_copy_may_fail),
        TEST(runs_copy_inputs_and_outputs),
        TEST(threads_share_the_helpers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
