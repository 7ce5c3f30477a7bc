/* Resident buffers that share memory: the caller's own, ranges, copies and fills, on every device
 * that works in the host's memory, and on mocks that have none of it. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vyre/vyre.h>

#include "base/status.h"
#include "runtime/device.h"
#include "tests/unit/contract_check.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/opencl_check.h"

enum { BYTES = CONTRACT_LENGTH * sizeof(uint32_t) };

static const uint64_t sharing = MOCK_RESIDENT | MOCK_SHARE | MOCK_QUEUE | MOCK_COMPILE;

static vyre_memory memory_of(const void *data, size_t size, uint32_t flags) {
    return (vyre_memory){
        .address = (uintptr_t)data, .size = size, .place = VYRE_MEMORY_HOST, .flags = flags};
}

static void count_release(void *owner) {
    ++*(int *)owner;
}

static vyre_resident import(vyre_device *device, void *data, size_t size, uint32_t flags,
                            int *releases) {
    vyre_resident made;
    const vyre_memory memory = memory_of(data, size, flags);
    expect_ok(
        vyre_resident_import(device, &memory, releases ? count_release : NULL, releases, &made));
    return made;
}

static vyre_resident range(vyre_device *device, vyre_resident of, size_t offset, size_t size) {
    vyre_resident made;
    expect_ok(vyre_resident_range(device, of, offset, size, &made));
    return made;
}

static bool has_opencl; /* whose first device is a CPU */

static bool find_opencl(void) {
    vyre_profile profile = {0};
    vyre_device *device = opencl_check_available() ? open_opencl() : NULL;
    if (device) {
        vyre_device_profile(device, &profile);
        vyre_device_release(device);
    }
    return profile.flags & VYRE_PROFILE_IS_SOFTWARE;
}

/* Calls a test with each device that has all of it. */
static void on_each(void (*test)(vyre_device *device)) {
    static const char *const names[] = {"reference", "cpu", "opencl"};
    for (size_t i = 0; i < sizeof names / sizeof *names - !has_opencl; i++) {
        vyre_device *device;
        expect_ok(vyre_acquire(names[i], &device));
        test(device);
        vyre_device_release(device);
    }
    mock *m = mock_create(&(mock_spec){.slots = sharing, .mode = MOCK_RUNS_AT_WAIT});
    vyre_device *device = contract_device(m);
    test(device);
    vyre_device_release(device);
    assert_int_equal(mock_residents(m), 0);
    mock_free(m);
}

static void run_in_callers_memory(vyre_device *device) {
    uint32_t x[CONTRACT_LENGTH], y[CONTRACT_LENGTH] = {0};
    int releases = 0;
    contract_numbers(x, CONTRACT_LENGTH);
    vyre_program *program = contract_program(TWICE);
    vyre_resident in = import(device, x, sizeof x, VYRE_MEMORY_READ_ONLY, &releases),
                  out = import(device, y, sizeof y, 0, &releases);
    const vyre_binding bindings[] = {vyre_bind(in), vyre_bind(out)};
    expect_ok(vyre_device_dispatch_resident(device, program, bindings, 2, NULL, NULL));
    expect_numbers(y, CONTRACT_LENGTH, 2);
    x[0] = 21; /* nothing was copied: what the caller writes is what the next run reads */
    expect_ok(vyre_device_dispatch_resident(device, program, bindings, 2, NULL, NULL));
    assert_int_equal(y[0], 42);
    vyre_memory memory;
    expect_ok(vyre_resident_memory(device, out, &memory));
    assert_true(memory.address == (uintptr_t)y && memory.size == sizeof y);
    assert_int_equal(memory.place, VYRE_MEMORY_HOST);
    assert_int_equal(memory.flags, 0);
    expect_ok(vyre_resident_memory(device, in, &memory));
    assert_int_equal(memory.flags, VYRE_MEMORY_READ_ONLY);
    assert_int_equal(releases, 0);
    expect_ok(vyre_resident_free(device, in));
    assert_int_equal(releases, 1);
    expect_ok(vyre_resident_free(device, out));
    assert_int_equal(releases, 2);
    vyre_program_release(program);
}

static void import_runs_where_the_memory_lies(void **state) {
    (void)state;
    on_each(run_in_callers_memory);
}

static void run_on_ranges(vyre_device *device) {
    uint32_t found[3 * CONTRACT_LENGTH];
    vyre_resident all;
    vyre_program *program = contract_program(TWICE);
    vyre_pipeline *pipeline;
    vyre_ticket ticket;
    contract_numbers(found, 3 * CONTRACT_LENGTH);
    expect_ok(vyre_resident_allocate(device, sizeof found, &all));
    expect_ok(vyre_resident_upload(device, all, found, sizeof found));
    /* Disjoint ranges of one buffer may be read and written by one run. */
    vyre_resident first = range(device, all, 0, BYTES), last = range(device, all, 2 * BYTES, BYTES);
    const vyre_binding bindings[] = {vyre_bind(first), vyre_bind(last)};
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
    expect_ok(vyre_resident_read(device, all, 0, found, sizeof found));
    expect_numbers(found, 2 * CONTRACT_LENGTH, 1);
    expect_numbers(found + 2 * CONTRACT_LENGTH, CONTRACT_LENGTH, 2);
    /* A range of a range starts where its own starts. */
    vyre_resident inner = range(device, last, 4, 8);
    expect_ok(vyre_resident_upload(device, inner, (uint32_t[]){70, 80}, 8));
    expect_ok(vyre_resident_read(device, all, 2 * BYTES, found, BYTES));
    assert_true(found[0] == 2 && found[1] == 70 && found[2] == 80 && found[3] == 8);
    vyre_memory whole, part;
    expect_ok(vyre_resident_memory(device, all, &whole));
    expect_ok(vyre_resident_memory(device, inner, &part));
    assert_true(part.address == whole.address + 2 * BYTES + 4 && part.size == 8);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    expect_ok(vyre_resident_free(device, all)); /* the ranges keep the memory */
    expect_fail(vyre_resident_read(device, all, 0, found, 4), VYRE_STATUS_INVALID_ARGUMENT,
                "freed");
    expect_ok(vyre_resident_free(device, last));
    expect_ok(vyre_resident_read(device, inner, 0, found, 8));
    assert_true(found[0] == 70 && found[1] == 80);
    expect_ok(vyre_resident_free(device, inner));
    expect_resident(device, first, 1);
    expect_ok(vyre_resident_free(device, first));
}

static void ranges_share_memory_and_keep_it(void **state) {
    (void)state;
    on_each(run_on_ranges);
}

/* Behind a slow run, one on a range waits in the queue; what is uploaded to the whole comes later.
 */
static void uploads_come_after_runs_on_ranges(void **state) {
    (void)state;
    vyre_device *device;
    vyre_pipeline *slow, *fast;
    vyre_program *twice = contract_program(TWICE);
    vyre_program *program =
        contract_program("program slow(x: inout buffer<u32>) over x { var v = x[gid]; for i in "
                         "0..20000000 { v = v * 1664525 + 1013904223; v = v ^ v >> 13; } "
                         "x[gid] = v; }");
    uint32_t none[2 * CONTRACT_LENGTH] = {0}, found[CONTRACT_LENGTH];
    contract_numbers(found, CONTRACT_LENGTH);
    expect_ok(vyre_acquire("cpu", &device));
    expect_ok(vyre_device_compile(device, program, NULL, &slow));
    expect_ok(vyre_device_compile(device, twice, NULL, &fast));
    vyre_resident all, other = contract_resident(device, 1), y = contract_resident(device, 0);
    expect_ok(vyre_resident_allocate(device, sizeof none, &all));
    vyre_resident half = range(device, all, BYTES, BYTES);
    expect_ok(vyre_resident_upload(device, half, found, sizeof found));
    const vyre_binding first = vyre_bind(other), second[] = {vyre_bind(half), vyre_bind(y)};
    expect_ok(vyre_pipeline_enqueue(slow, &first, 1, NULL, NULL));
    expect_ok(vyre_pipeline_enqueue(fast, second, 2, NULL, NULL));
    expect_ok(vyre_resident_upload(device, all, none, sizeof none));
    expect_resident(device, y, 2);
    vyre_pipeline_release(slow);
    vyre_pipeline_release(fast);
    vyre_program_release(program);
    vyre_program_release(twice);
    vyre_device_release(device);
}

static void copy_and_fill(vyre_device *device) {
    static const uint8_t pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    enum { LARGE = (3 << 20) + 48 };
    uint8_t *found = malloc(LARGE);
    vyre_resident a, b;
    assert_non_null(found);
    expect_ok(vyre_resident_allocate(device, LARGE, &a));
    expect_ok(vyre_resident_allocate(device, LARGE, &b));
    for (size_t size = 1; size <= 16; size *= 2) {
        const uint8_t zero = 0;
        expect_ok(vyre_resident_fill(device, a, 0, LARGE, &zero, 1));
        expect_ok(vyre_resident_fill(device, a, 3, LARGE - 16, pattern, size));
        expect_ok(vyre_resident_copy(device, b, 16, a, 0, LARGE - 16));
        expect_ok(vyre_resident_read(device, b, 16, found, LARGE - 16));
        for (size_t i = 0; i < LARGE - 16; i++) {
            uint8_t expected = i < 3 || i >= LARGE - 13 ? 0 : pattern[(i - 3) % size];
            if (found[i] != expected) {
                fail_msg("pattern of %zu: byte %zu is %u, expected %u", size, i, found[i],
                         expected);
            }
        }
    }
    expect_ok(vyre_resident_fill(device, a, LARGE, 0, pattern, 16));
    expect_ok(vyre_resident_copy(device, a, LARGE, b, LARGE, 0));
    expect_fail(vyre_resident_fill(device, a, 0, 12, pattern, 8), VYRE_STATUS_INVALID_ARGUMENT,
                "12 bytes has a pattern of 8");
    expect_fail(vyre_resident_fill(device, a, 0, 12, pattern, 3), VYRE_STATUS_INVALID_ARGUMENT,
                "a pattern of 3");
    expect_fail(vyre_resident_fill(device, a, 0, 0, pattern, 0), VYRE_STATUS_INVALID_ARGUMENT,
                "a pattern of 0");
    expect_fail(vyre_resident_fill(device, a, LARGE, 1, pattern, 1), VYRE_STATUS_INVALID_ARGUMENT,
                "exceeds");
    expect_fail(vyre_resident_copy(device, a, 1, b, 0, LARGE), VYRE_STATUS_INVALID_ARGUMENT,
                "exceeds");
    expect_fail(vyre_resident_copy(device, a, 0, b, SIZE_MAX, 2), VYRE_STATUS_INVALID_ARGUMENT,
                "exceeds");
    /* Inside one buffer a copy is fine as long as it does not overwrite what it reads. */
    vyre_resident part = range(device, a, 8, 32);
    expect_ok(vyre_resident_upload_at(device, a, 0, pattern, 16));
    expect_ok(vyre_resident_copy(device, part, 8, a, 0, 16));
    expect_ok(vyre_resident_read(device, a, 16, found, 16));
    assert_memory_equal(found, pattern, 16);
    expect_fail(vyre_resident_copy(device, part, 0, a, 0, 9), VYRE_STATUS_INVALID_ARGUMENT,
                "would overwrite what it reads");
    expect_ok(vyre_resident_free(device, part));
    expect_ok(vyre_resident_free(device, a));
    expect_ok(vyre_resident_free(device, b));
    free(found);
}

static void copies_and_fills_give_their_bytes(void **state) {
    (void)state;
    on_each(copy_and_fill);
    /* The same through the defaults of a backend that knows nothing of them. */
    mock *m = mock_create(&(mock_spec){.slots = MOCK_RESIDENT});
    vyre_device *device = contract_device(m);
    copy_and_fill(device);
    vyre_device_release(device);
    mock_free(m);
}

static void refuse_overlaps(vyre_device *device) {
    uint32_t x[2 * CONTRACT_LENGTH] = {0};
    vyre_program *twice = contract_program(TWICE), *sum = contract_program(SUM);
    vyre_resident all = import(device, x, sizeof x, 0, NULL), other;
    vyre_resident left = range(device, all, 0, BYTES), middle = range(device, all, 4, BYTES),
                  right = range(device, all, BYTES, BYTES);
    const vyre_binding bad[] = {vyre_bind(left), vyre_bind(middle)};
    expect_fail(vyre_device_dispatch_resident(device, twice, bad, 2, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "arguments `x` and `y`");
    const vyre_binding same[] = {vyre_bind(all), vyre_bind(all)};
    expect_fail(vyre_device_dispatch_resident(device, twice, same, 2, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "arguments `x` and `y`");
    expect_ok(vyre_resident_allocate(device, BYTES, &other));
    const vyre_binding good[] = {vyre_bind(left), vyre_bind(middle), vyre_bind(other)};
    expect_ok(vyre_device_dispatch_resident(device, sum, good, 3, NULL, NULL));
    const vyre_binding worse[] = {vyre_bind(left), vyre_bind(other), vyre_bind(left)};
    expect_fail(vyre_device_dispatch_resident(device, sum, worse, 3, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "arguments `x` and `z`");
    expect_fail(vyre_resident_range(device, all, 4, sizeof x, &other), VYRE_STATUS_INVALID_ARGUMENT,
                "exceeds a resident buffer of 64");
    assert_int_equal(other.owner, 0);
    const vyre_resident made[] = {all, left, middle, right, good[2].buffer};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        expect_ok(vyre_resident_free(device, made[i]));
    }
    vyre_program_release(twice);
    vyre_program_release(sum);
}

static void arguments_share_only_what_nobody_writes(void **state) {
    (void)state;
    on_each(refuse_overlaps);
}

static void import_twice(vyre_device *device) {
    uint32_t x[3 * CONTRACT_LENGTH] = {0};
    int releases[3] = {0};
    vyre_program *program = contract_program(TWICE);
    vyre_resident outer = import(device, x, 2 * BYTES, 0, &releases[0]);
    vyre_resident inner = import(device, x + CONTRACT_LENGTH, BYTES, 0, &releases[1]);
    vyre_resident part = range(device, inner, 0, 8), failed;
    vyre_resident left = range(device, outer, 4, BYTES);
    const vyre_binding bad[] = {vyre_bind(left), vyre_bind(inner)};
    expect_fail(vyre_device_dispatch_resident(device, program, bad, 2, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "arguments `x` and `y`");
    /* Memory that is partly another's cannot be told apart from it by whole buffers. */
    const vyre_memory partly = memory_of(x + 1, 2 * BYTES, 0);
    expect_fail(vyre_resident_import(device, &partly, count_release, &releases[2], &failed),
                VYRE_STATUS_INVALID_ARGUMENT,
                "overlaps a resident buffer of 64 bytes that does not contain it");
    const vyre_memory around = memory_of(x, sizeof x, VYRE_MEMORY_READ_ONLY);
    expect_fail(vyre_resident_import(device, &around, count_release, &releases[2], &failed),
                VYRE_STATUS_INVALID_ARGUMENT,
                "overlaps a resident buffer of 64 bytes that does not contain it");
    assert_int_equal(releases[2], 0);
    /* The memory of the outer one stays as long as anything lies in it. */
    expect_ok(vyre_resident_free(device, outer));
    expect_ok(vyre_resident_free(device, left));
    expect_ok(vyre_resident_free(device, inner));
    assert_true(releases[0] == 0 && releases[1] == 0);
    expect_ok(vyre_resident_fill(device, part, 0, 8, &(uint32_t){9}, 4));
    assert_true(x[CONTRACT_LENGTH] == 9 && x[CONTRACT_LENGTH + 2] == 0);
    expect_ok(vyre_resident_free(device, part));
    assert_true(releases[0] == 1 && releases[1] == 1);
    vyre_program_release(program);
}

static void imports_of_the_same_memory_are_one(void **state) {
    (void)state;
    on_each(import_twice);
}

static void read_only(vyre_device *device) {
    uint32_t x[CONTRACT_LENGTH] = {0}, y[CONTRACT_LENGTH] = {0};
    vyre_program *program = contract_program(TWICE);
    vyre_resident fixed = import(device, x, sizeof x, VYRE_MEMORY_READ_ONLY, NULL), failed;
    vyre_resident again = import(device, x, sizeof x, VYRE_MEMORY_READ_ONLY, NULL);
    vyre_resident part = range(device, fixed, 0, 8), other = import(device, y, sizeof y, 0, NULL);
    const vyre_binding bad[] = {vyre_bind(other), vyre_bind(fixed)};
    expect_fail(vyre_device_dispatch_resident(device, program, bad, 2, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT,
                "argument `y` is written, and its resident buffer is read-only");
    expect_fail(vyre_resident_upload(device, fixed, y, sizeof y), VYRE_STATUS_INVALID_ARGUMENT,
                "read-only");
    expect_fail(vyre_resident_upload_at(device, part, 0, y, 4), VYRE_STATUS_INVALID_ARGUMENT,
                "read-only");
    expect_fail(vyre_resident_fill(device, part, 0, 4, y, 1), VYRE_STATUS_INVALID_ARGUMENT,
                "read-only");
    expect_fail(vyre_resident_copy(device, fixed, 0, other, 0, 4), VYRE_STATUS_INVALID_ARGUMENT,
                "read-only");
    expect_ok(vyre_resident_copy(device, other, 0, fixed, 0, 4));
    const vyre_memory writable = memory_of(x, sizeof x, 0);
    expect_fail(vyre_resident_import(device, &writable, NULL, NULL, &failed),
                VYRE_STATUS_INVALID_ARGUMENT, "that is read-only");
    const vyre_resident made[] = {fixed, again, part, other};
    for (size_t i = 0; i < 4; i++) {
        expect_ok(vyre_resident_free(device, made[i]));
    }
    vyre_program_release(program);
}

static void read_only_memory_is_never_written(void **state) {
    (void)state;
    on_each(read_only);
}

static void misaligned(vyre_device *device) {
    uint32_t x[CONTRACT_LENGTH + 1] = {0}, y[CONTRACT_LENGTH] = {0};
    vyre_program *program = contract_program(TWICE);
    vyre_resident odd = import(device, (uint8_t *)x + 2, BYTES, 0, NULL);
    vyre_resident out = import(device, y, sizeof y, 0, NULL);
    vyre_resident large;
    expect_ok(vyre_resident_allocate(device, BYTES + 4, &large));
    vyre_resident shifted = range(device, large, 1, BYTES);
    const vyre_binding by_import[] = {vyre_bind(odd), vyre_bind(out)};
    expect_fail(vyre_device_dispatch_resident(device, program, by_import, 2, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT,
                "argument `x` has a resident buffer that is not "
                "aligned to 4 bytes");
    const vyre_binding by_range[] = {vyre_bind(out), vyre_bind(shifted)};
    expect_fail(vyre_device_dispatch_resident(device, program, by_range, 2, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT,
                "argument `y` has a resident buffer that is not "
                "aligned to 4 bytes");
    const vyre_resident made[] = {odd, out, large, shifted};
    for (size_t i = 0; i < 4; i++) {
        expect_ok(vyre_resident_free(device, made[i]));
    }
    vyre_program_release(program);
}

static void alignment_is_checked_by_argument(void **state) {
    (void)state;
    on_each(misaligned);
}

static void import_refuses_what_is_no_memory(void **state) {
    (void)state;
    uint32_t x[CONTRACT_LENGTH] = {0};
    const vyre_memory good = memory_of(x, sizeof x, 0);
    vyre_memory bad[6];
    for (size_t i = 0; i < 6; i++) {
        bad[i] = good;
    }
    bad[0].place = 0;
    bad[1].place = 3;
    bad[2].flags = 2;
    bad[3].reserved[3] = 1;
    bad[4].address = 0;
    bad[5].size = SIZE_MAX;
    vyre_device *device;
    vyre_resident made;
    int releases = 0;
    expect_ok(vyre_acquire("cpu", &device));
    for (size_t i = 0; i < 6; i++) {
        expect_fail(vyre_resident_import(device, &bad[i], count_release, &releases, &made),
                    VYRE_STATUS_INVALID_ARGUMENT, "the memory to import has");
        assert_int_equal(made.owner, 0);
    }
    vyre_memory of_device = good;
    of_device.place = VYRE_MEMORY_DEVICE;
    expect_fail(vyre_resident_import(device, &of_device, count_release, &releases, &made),
                VYRE_STATUS_UNSUPPORTED, "backend `cpu` works in the host's memory");
    made = import(device, NULL, 0, 0, &releases); /* nothing is memory, too */
    assert_int_equal(releases, 0);
    vyre_device_release(device);
    assert_int_equal(releases, 1);
}

/* A backend of before knows nothing of it: transfers work, and runs take whole buffers. */
static void defaults_of_older_backends(void **state) {
    (void)state;
    mock *m = mock_create(&(mock_spec){.slots = MOCK_RESIDENT});
    mock_table(m)->abi = VYRE_ABI_MAJOR << 16;
    mock_table(m)->struct_size = offsetof(vyre_backend_slots, resident_import);
    vyre_device *device = contract_device(m);
    vyre_program *program = contract_program(TWICE);
    vyre_resident a = contract_resident(device, 3), b = contract_resident(device, 1), made;
    vyre_memory memory = memory_of(&a, sizeof a, 0);
    expect_fail(vyre_resident_import(device, &memory, NULL, NULL, &made), VYRE_STATUS_UNSUPPORTED,
                "resident buffers of the caller's memory");
    expect_fail(vyre_resident_memory(device, a, &memory), VYRE_STATUS_UNSUPPORTED,
                "does not tell the addresses");
    vyre_resident part = range(device, a, 4, 8);
    uint32_t found[2];
    expect_ok(vyre_resident_read(device, part, 0, found, sizeof found));
    assert_true(found[0] == 6 && found[1] == 9);
    expect_ok(vyre_resident_fill(device, part, 0, 8, &(uint32_t){5}, 4));
    expect_ok(vyre_resident_copy(device, b, 0, part, 0, 8));
    expect_ok(vyre_resident_read(device, b, 0, found, sizeof found));
    assert_true(found[0] == 5 && found[1] == 5);
    const vyre_binding bindings[] = {vyre_bind(part), vyre_bind(b)};
    expect_fail(vyre_device_dispatch_resident(device, program, bindings, 2, NULL, NULL),
                VYRE_STATUS_UNSUPPORTED, "argument `x` is a range");
    const vyre_binding whole[] = {vyre_bind(b), vyre_bind(a)};
    expect_ok(vyre_device_dispatch_resident(device, program, whole, 2, NULL, NULL));
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(mock_residents(m), 0);
    mock_free(m);
}

/* Who owns memory is told once, whatever ends the buffer. */
static void owners_are_told_once(void **state) {
    (void)state;
    uint32_t x[CONTRACT_LENGTH] = {0};
    for (int way = 0; way < 5; way++) {
        int releases = 0;
        mock *m = mock_create(&(mock_spec){.slots = sharing | MOCK_LOSS});
        vyre_device *device = contract_device(m);
        vyre_resident a = import(device, x, sizeof x, 0, &releases), b = range(device, a, 0, 8);
        if (way == 0) { /* the backend fails to free it at first */
            expect_ok(vyre_resident_free(device, b));
            mock_fail(m, MOCK_resident_free, 1, VYRE_FAIL_BACKEND, "no");
            expect_fail(vyre_resident_free(device, a), VYRE_STATUS_BACKEND, "no");
            assert_int_equal(releases, 0);
            expect_ok(vyre_resident_free(device, a));
            assert_int_equal(releases, 1);
            expect_fail(vyre_resident_free(device, a), VYRE_STATUS_INVALID_ARGUMENT, "freed");
        } else if (way == 1) {
            expect_ok(vyre_device_shutdown(device));
            assert_int_equal(releases, 1);
        } else if (way == 2) {
            mock_lose(m);
            assert_int_equal(releases, 0);
            expect_ok(vyre_device_recover(device));
            assert_int_equal(releases, 1);
            expect_fail(vyre_resident_read(device, a, 0, x, 4), VYRE_STATUS_INVALID_ARGUMENT,
                        "freed or lost");
        } else if (way == 3) {
            expect_ok(vyre_resident_free(device, a));
            assert_int_equal(releases, 0);
        } else {
            mock_lose(m);
        }
        vyre_device_release(device);
        assert_int_equal(releases, 1);
        mock_free(m);
    }
}

static void owners_are_not_told_of_failed_imports(void **state) {
    (void)state;
    uint32_t x[CONTRACT_LENGTH] = {0};
    const vyre_memory memory = memory_of(x, sizeof x, 0);
    static const mock_slot failing[] = {MOCK_resident_import, MOCK_resident_address,
                                        MOCK_resident_range};
    int releases = 0;
    mock *m = mock_create(&(mock_spec){.slots = sharing});
    vyre_device *device = contract_device(m);
    vyre_resident made, outer = import(device, x, sizeof x, 0, NULL);
    for (size_t i = 0; i < 3; i++) {
        mock_fail(m, failing[i], 1, VYRE_FAIL_BACKEND, "it broke");
        expect_fail(vyre_resident_import(device, &memory, count_release, &releases, &made),
                    VYRE_STATUS_BACKEND, "it broke");
        assert_int_equal(mock_residents(m), 1);
    }
    expect_ok(vyre_resident_free(device, outer));
    for (size_t n = 1, done = false; !done; n++) {
        failing_allocator_start(n);
        vyre_status status = vyre_resident_import(device, &memory, count_release, &releases, &made);
        bool is_made = !status;
        done = failing_allocator_judge(n, status);
        assert_int_equal(releases, 0);
        if (is_made) {
            expect_ok(vyre_resident_free(device, made));
            assert_int_equal(releases, 1);
        }
        failing_allocator_stop();
    }
    vyre_device_release(device);
    assert_int_equal(mock_residents(m), 0);
    mock_free(m);
}

/* Every allocation of the library may fail, and leaves nothing behind. */
static vyre_status share_all(vyre_device *device, uint32_t *x, int *releases) {
    const vyre_memory memory = memory_of(x, BYTES, 0);
    vyre_resident all, part, inner, other;
    VYRE_TRY(vyre_resident_import(device, &memory, count_release, releases, &all));
    VYRE_TRY(vyre_resident_range(device, all, 0, 8, &part));
    VYRE_TRY(vyre_resident_import(device, &memory, count_release, releases, &inner));
    VYRE_TRY(vyre_resident_allocate(device, BYTES, &other));
    VYRE_TRY(vyre_resident_fill(device, part, 0, 8, x, 4));
    VYRE_TRY(vyre_resident_copy(device, other, 0, inner, 0, BYTES));
    return VYRE_OK;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const uint64_t kinds[] = {sharing, MOCK_RESIDENT | MOCK_BIT(resident_import)};
    uint32_t x[CONTRACT_LENGTH] = {0};
    for (size_t kind = 0; kind < 4; kind++) {
        for (size_t n = 1;; n++) {
            int releases = 0;
            mock *m = kind < 2 ? mock_create(&(mock_spec){.slots = kinds[kind]}) : NULL;
            vyre_device *device = m ? contract_device(m) : NULL;
            if (!m) {
                expect_ok(vyre_acquire(kind == 2 ? "reference" : "cpu", &device));
            }
            failing_allocator_start(n);
            bool done = failing_allocator_judge(n, share_all(device, x, &releases));
            failing_allocator_end();
            vyre_device_release(device);
            assert_true(done ? releases == 2 : releases <= 2);
            mock_free(m);
            if (done) {
                assert_true(n > (kind == 0 ? 1u : 3u));
                break;
            }
        }
    }
}

/* Threads that use ranges of one buffer, take more and free them, while others import the memory.
 */
enum { THREADS = 4, TURNS = 200 };

typedef struct sharer {
    vyre_device *device;
    vyre_resident all;
    uint32_t *data;
    vyre_pipeline *pipeline;
    int number, releases;
} sharer;

static void *share_often(void *argument) {
    sharer *self = argument;
    size_t place = (size_t)self->number * 2 * CONTRACT_LENGTH;
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        uint32_t found[CONTRACT_LENGTH];
        vyre_ticket ticket;
        vyre_resident x = range(self->device, self->all, place * 4, BYTES);
        vyre_resident y =
            import(self->device, self->data + place + CONTRACT_LENGTH, BYTES, 0, &self->releases);
        const vyre_binding bindings[] = {vyre_named("y", vyre_bind(y)),
                                         vyre_named("x", vyre_bind(x))};
        expect_ok(vyre_resident_fill(self->device, x, 0, BYTES, &turn, 4));
        expect_ok(vyre_pipeline_enqueue(self->pipeline, bindings, 2, NULL, &ticket));
        expect_ok(vyre_resident_read(self->device, y, 0, found, sizeof found));
        for (size_t i = 0; i < CONTRACT_LENGTH; i++) {
            assert_int_equal(found[i], 2 * turn);
        }
        const vyre_resident mine[] = {x, y};
        for (size_t i = 0; i < 2; i++) {
            vyre_status status;
            while ((status = vyre_resident_free(self->device, mine[i])) != VYRE_OK) {
                assert_non_null(strstr(vyre_status_text(status), "in use")); /* by a neighbour */
                vyre_status_free(status);
            }
        }
    }
    return NULL;
}

static void threads_share_one_buffer(void **state) {
    (void)state;
    static uint32_t data[THREADS * 2 * CONTRACT_LENGTH];
    static const char *const names[] = {"reference", "cpu"};
    vyre_program *program = contract_program(TWICE);
    for (size_t i = 0; i < 2; i++) {
        vyre_device *device;
        vyre_pipeline *pipeline;
        sharer sharers[THREADS];
        pthread_t threads[THREADS];
        int releases = 0;
        expect_ok(vyre_acquire(names[i], &device));
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        vyre_resident all = import(device, data, sizeof data, 0, &releases);
        for (int t = 0; t < THREADS; t++) {
            sharers[t] = (sharer){device, all, data, pipeline, t, 0};
            assert_int_equal(pthread_create(&threads[t], NULL, share_often, &sharers[t]), 0);
        }
        for (int t = 0; t < THREADS; t++) {
            pthread_join(threads[t], NULL);
        }
        vyre_pipeline_release(pipeline);
        expect_ok(vyre_resident_free(device, all));
        assert_int_equal(releases, 1);
        vyre_device_release(device);
        for (int t = 0; t < THREADS; t++) {
            assert_int_equal(sharers[t].releases, TURNS);
        }
    }
    vyre_program_release(program);
}

/* In a child of fork() every call fails, and no owner is told: the memory is still the parent's. */
static void forked_children_leave_it_alone(void **state) {
    (void)state;
    uint32_t x[CONTRACT_LENGTH] = {0};
    int releases = 0;
    vyre_device *device;
    expect_ok(vyre_acquire("cpu", &device));
    vyre_resident a = import(device, x, sizeof x, 0, &releases);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        const vyre_memory memory = memory_of(x, sizeof x, 0);
        vyre_resident made;
        vyre_memory found;
        vyre_status statuses[] = {
            vyre_resident_import(device, &memory, count_release, &releases, &made),
            vyre_resident_range(device, a, 0, 4, &made),
            vyre_resident_copy(device, a, 0, a, 16, 4),
            vyre_resident_fill(device, a, 0, 4, x, 4),
            vyre_resident_memory(device, a, &found),
            vyre_resident_free(device, a),
        };
        bool good = true;
        for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
            good = good && statuses[i] && strstr(vyre_status_text(statuses[i]), "fork()");
        }
        vyre_device_release(device);
        _exit(good && !releases ? 0 : 1);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    expect_ok(vyre_resident_free(device, a));
    assert_int_equal(releases, 1);
    vyre_device_release(device);
}

int main(void) {
    contract_without_cache();
    has_opencl = find_opencl();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(import_runs_where_the_memory_lies),
        cmocka_unit_test(ranges_share_memory_and_keep_it),
        cmocka_unit_test(uploads_come_after_runs_on_ranges),
        cmocka_unit_test(copies_and_fills_give_their_bytes),
        cmocka_unit_test(arguments_share_only_what_nobody_writes),
        cmocka_unit_test(imports_of_the_same_memory_are_one),
        cmocka_unit_test(read_only_memory_is_never_written),
        cmocka_unit_test(alignment_is_checked_by_argument),
        cmocka_unit_test(import_refuses_what_is_no_memory),
        cmocka_unit_test(defaults_of_older_backends),
        cmocka_unit_test(owners_are_told_once),
        cmocka_unit_test(owners_are_not_told_of_failed_imports),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(threads_share_one_buffer),
        cmocka_unit_test(forked_children_leave_it_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
