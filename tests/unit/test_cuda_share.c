/* Memory and streams of the caller on the cuda backend: imports, ranges, copies, fills, order. */
#include "backend/cuda/codegen/emit.h"
#include "backend/cuda/runtime/driver.h"
#include "tests/unit/cuda_check.h"

enum { BYTES = CONTRACT_LENGTH * sizeof(uint32_t) };

static const cuda_table *cuda;
static CUcontext context;

/* What a caller has of its own, beside the backend. */
static void enter(void) {
    expect_ok(cuda_driver_open(&cuda));
    assert_int_equal(cuda->cuDevicePrimaryCtxRetain(&context, 0), 0);
    assert_int_equal(cuda->cuCtxSetCurrent(context), 0);
}

static void leave(void) {
    assert_int_equal(cuda->cuCtxSetCurrent(NULL), 0);
    assert_int_equal(cuda->cuDevicePrimaryCtxRelease(0), 0);
}

static CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address;
    assert_int_equal(cuda->cuMemAlloc(&address, bytes), 0);
    return address;
}

static vyre_memory memory_of(CUdeviceptr address, size_t size, uint32_t place) {
    return (vyre_memory){.address = address, .size = size, .place = place};
}

static void count_release(void *owner) {
    ++*(int *)owner;
}

static vyre_resident import(vyre_device *device, CUdeviceptr address, size_t size, int *releases) {
    vyre_resident made;
    const vyre_memory memory = memory_of(address, size, VYRE_MEMORY_DEVICE);
    expect_ok(vyre_resident_import(device, &memory, count_release, releases, &made));
    return made;
}

static void device_memory_is_used_where_it_lies(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(TWICE);
    uint32_t numbers[CONTRACT_LENGTH];
    int releases = 0;
    enter();
    CUdeviceptr at = allocate(4 * BYTES);
    contract_numbers(numbers, CONTRACT_LENGTH);
    memcpy((void *)(uintptr_t)at, numbers, sizeof numbers); /* the fake's is the host's */
    vyre_resident all = import(device, at, 4 * BYTES, &releases), in, out;
    expect_ok(vyre_resident_range(device, all, 0, BYTES, &in));
    expect_ok(vyre_resident_range(device, all, 2 * BYTES, BYTES, &out));
    const vyre_binding bindings[] = {vyre_bind(in), vyre_bind(out)};
    expect_ok(vyre_device_dispatch_resident(device, program, bindings, 2, NULL, NULL));
    expect_numbers((const uint8_t *)(uintptr_t)at + 2 * BYTES, CONTRACT_LENGTH, 2);
    vyre_memory found;
    expect_ok(vyre_resident_memory(device, out, &found));
    assert_true(found.address == at + 2 * BYTES && found.size == BYTES);
    assert_int_equal(found.place, VYRE_MEMORY_DEVICE);
    vyre_resident again = import(device, at + 2 * BYTES, BYTES, &releases);
    const vyre_binding bad[] = {vyre_bind(again), vyre_bind(out)};
    expect_fail(vyre_device_dispatch_resident(device, program, bad, 2, NULL, NULL),
                VYRE_STATUS_INVALID_ARGUMENT, "arguments `x` and `y`");
    const vyre_resident made[] = {all, in, out, again};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(releases, 0);
        expect_ok(vyre_resident_free(device, made[i]));
    }
    assert_int_equal(releases, 2);
    assert_int_equal(cuda->cuMemFree(at), 0); /* it is still the caller's */
    leave();
    vyre_program_release(program);
    vyre_device_release(device);
}

static void memory_that_the_device_does_not_reach_is_refused(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    uint32_t plain[4] = {0};
    vyre_resident made;
    int releases = 0;
    void *pinned;
    enter();
    CUdeviceptr at = allocate(64);
    vyre_memory memory = memory_of((uintptr_t)plain, sizeof plain, VYRE_MEMORY_HOST);
    expect_fail(vyre_resident_import(device, &memory, count_release, &releases, &made),
                VYRE_STATUS_UNSUPPORTED, "only host memory that is pinned or managed");
    memory.place = VYRE_MEMORY_DEVICE;
    expect_fail(vyre_resident_import(device, &memory, count_release, &releases, &made),
                VYRE_STATUS_INVALID_ARGUMENT, "are not memory of Fake GPU 0");
    memory = memory_of(at, 65, VYRE_MEMORY_DEVICE);
    expect_fail(vyre_resident_import(device, &memory, count_release, &releases, &made),
                VYRE_STATUS_INVALID_ARGUMENT, "the 65 bytes");
    memory = memory_of(at, 64, VYRE_MEMORY_HOST);
    expect_fail(vyre_resident_import(device, &memory, count_release, &releases, &made),
                VYRE_STATUS_INVALID_ARGUMENT, "are not memory of");
    fake->spec()->memory_device = 1;
    memory.place = VYRE_MEMORY_DEVICE;
    expect_fail(vyre_resident_import(device, &memory, count_release, &releases, &made),
                VYRE_STATUS_INVALID_ARGUMENT, "import it on the device that it belongs to");
    assert_int_equal(releases, 0);
    assert_int_equal(cuda->cuMemHostAlloc(&pinned, 64, 0), 0);
    memory = memory_of((uintptr_t)pinned, 64, VYRE_MEMORY_HOST);
    expect_ok(vyre_resident_import(device, &memory, count_release, &releases, &made));
    expect_ok(vyre_resident_fill(device, made, 0, 64, &(uint32_t){7}, 4));
    assert_int_equal(((uint32_t *)pinned)[15], 7);
    vyre_device_release(device); /* frees what was left */
    assert_int_equal(releases, 1);
    assert_int_equal(cuda->cuMemFreeHost(pinned), 0);
    assert_int_equal(cuda->cuMemFree(at), 0);
    leave();
}

static void copies_and_fills(void **state) {
    (void)state;
    static const uint8_t pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    enum { LARGE = (1 << 20) + 32 };
    vyre_device *device = fake_device_open(0);
    uint8_t *found = malloc(LARGE);
    vyre_resident a, b;
    assert_non_null(found);
    expect_ok(vyre_resident_allocate(device, LARGE, &a));
    expect_ok(vyre_resident_allocate(device, LARGE, &b));
    for (size_t size = 1; size <= 16; size *= 2) {
        for (size_t offset = 0; offset < 4; offset++) { /* aligned for the driver's fills or not */
            expect_ok(vyre_resident_fill(device, a, 0, LARGE, &(uint8_t){0}, 1));
            expect_ok(vyre_resident_fill(device, a, offset, LARGE - 16, pattern, size));
            expect_ok(vyre_resident_copy(device, b, 16, a, 0, LARGE - 16));
            expect_ok(vyre_resident_read(device, b, 16, found, LARGE - 16));
            for (size_t i = 0; i < LARGE - 16; i++) {
                bool is_filled = i >= offset && i < LARGE - 16 + offset;
                if (found[i] != (is_filled ? pattern[(i - offset) % size] : 0)) {
                    fail_msg("pattern of %zu at %zu: byte %zu is %u", size, offset, i, found[i]);
                }
            }
        }
    }
    assert_true(fake->calls(FAKE_cuMemsetD16Async) == 2 && fake->calls(FAKE_cuMemsetD32Async) == 1);
    free(found);
    vyre_device_release(device);
}

static void arrays_may_start_at_any_element(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(TWICE);
    vyre_pipeline *pipeline;
    vyre_ticket ticket;
    uint32_t numbers[CONTRACT_LENGTH];
    vyre_resident all, in, out = contract_resident(device, 1);
    contract_numbers(numbers, CONTRACT_LENGTH);
    expect_ok(vyre_resident_allocate(device, 2 * BYTES, &all));
    expect_ok(vyre_resident_range(device, all, 4, BYTES, &in));
    expect_ok(vyre_resident_upload(device, in, numbers, BYTES));
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    const vyre_binding bindings[] = {vyre_bind(in), vyre_bind(out)};
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
    expect_ok(vyre_device_wait(device, ticket));
    expect_resident(device, out, 2);
    expect_ok(vyre_resident_fill(device, out, 0, BYTES, "", 1));
    expect_ok(vyre_pipeline_dispatch_resident(pipeline, bindings, 2, NULL, NULL));
    expect_resident(device, out, 2);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
}

static bool accesses_several_at_once(const vyre_program *program, bool general) {
    cuda_target target = cuda_baseline();
    cuda_phase_info info;
    vyre_strbuf ptx = {0};
    target.general = general;
    expect_ok(cuda_emit(program, &target, &ptx, &info));
    bool found = strstr(vyre_strbuf_string(&ptx), "global.v4") ||
                 strstr(vyre_strbuf_string(&ptx), "global.nc.v4");
    vyre_strbuf_free(&ptx);
    return found;
}

static void arrays_that_start_anywhere_are_accessed_by_element(void **state) {
    (void)state;
    vyre_program *program = fake_device_program(TWICE);
    assert_true(accesses_several_at_once(program, false));
    assert_false(accesses_several_at_once(program, true));
    vyre_program_release(program);
}

/* The caller's stream brings x before the run and takes y behind it, and nobody waits in between:
 * without an order, the fake would do one of it too early. */
static void check_order(uint64_t stream, const vyre_dispatch_config *config, bool is_enqueued) {
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(TWICE);
    vyre_pipeline *pipeline;
    int releases = 0;
    void *numbers;
    vyre_ticket ticket;
    assert_int_equal(cuda->cuMemHostAlloc(&numbers, BYTES, 0), 0);
    contract_numbers(numbers, CONTRACT_LENGTH);
    CUstream own = (CUstream)(uintptr_t)stream;
    CUdeviceptr x = allocate(BYTES), y = allocate(BYTES), z = allocate(BYTES);
    vyre_resident in = import(device, x, BYTES, &releases),
                  out = import(device, y, BYTES, &releases);
    const vyre_binding bindings[] = {vyre_bind(in), vyre_bind(out)};
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    for (uint32_t turn = 0; turn < 3; turn++) {
        assert_int_equal(cuda->cuMemsetD8Async(z, 0, BYTES, own), 0);
        assert_int_equal(cuda->cuMemcpyHtoDAsync(x, numbers, BYTES, own), 0);
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, config, &ticket));
        assert_true(!ticket == !is_enqueued);
        assert_int_equal(cuda->cuMemcpyDtoDAsync(z, y, BYTES, own), 0);
        assert_int_equal(cuda->cuMemsetD8Async(x, 0xff, BYTES, own), 0);
        assert_int_equal(cuda->cuStreamSynchronize(own), 0);
        expect_numbers((const void *)(uintptr_t)z, CONTRACT_LENGTH, 2);
        expect_ok(vyre_device_wait(device, ticket));
    }
    assert_int_equal(cuda->cuMemcpyHtoDAsync(x, numbers, BYTES, own), 0);
    expect_ok(vyre_pipeline_dispatch_resident(pipeline, bindings, 2, config, NULL));
    expect_resident(device, out, 2);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(releases, 2);
    const CUdeviceptr made[] = {x, y, z};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(cuda->cuMemFree(made[i]), 0);
    }
    assert_int_equal(cuda->cuMemFreeHost(numbers), 0);
}

static void runs_are_in_the_order_of_the_callers_stream(void **state) {
    (void)state;
    CUstream own;
    enter();
    assert_int_equal(cuda->cuStreamCreate(&own, 0), 0);
    const uint64_t streams[] = {(uintptr_t)own, 0}; /* one of its own, and the one without a name */
    for (size_t i = 0; i < 2; i++) {
        vyre_dispatch_config config = {.flags = VYRE_DISPATCH_STREAM, .stream = streams[i]};
        check_order(streams[i], &config, true);
        config.timeout_ns =
            UINT64_C(60000000000); /* such a run needs the host, and is waited for */
        check_order(streams[i], &config, false);
    }
    assert_int_equal(cuda->cuStreamDestroy(own), 0);
    leave();
}

static void failures_of_the_callers_stream_are_told(void **state) {
    (void)state;
    static const struct {
        fake_entry entry;
        uint64_t n;
        CUresult result;
        vyre_status_code code;
        const char *part;
    } cases[] = {
        {FAKE_cuStreamIsCapturing, 1, CUDA_ERROR_INVALID_HANDLE, VYRE_STATUS_INVALID_ARGUMENT,
         "the stream in the config is none of Fake GPU 0"},
        {FAKE_cuEventRecord, 1, CUDA_ERROR_INVALID_HANDLE, VYRE_STATUS_INVALID_ARGUMENT,
         "the stream in the config is none of Fake GPU 0"},
        {FAKE_cuEventCreate, 1, CUDA_ERROR_OUT_OF_MEMORY, VYRE_STATUS_OUT_OF_MEMORY, "an event"},
        {FAKE_cuStreamWaitEvent, 1, 1, VYRE_STATUS_BACKEND, "making a stream wait"},
        {FAKE_cuEventRecord, 2, 1, VYRE_STATUS_BACKEND, "marking a stream"},
        {FAKE_cuStreamWaitEvent, 2, 1, VYRE_STATUS_BACKEND, "making the caller's stream wait"},
    };
    vyre_program *program = fake_device_program(TWICE);
    const vyre_dispatch_config config = {.flags = VYRE_DISPATCH_STREAM};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vyre_device *device = fake_device_open(0);
        vyre_pipeline *pipeline;
        vyre_ticket ticket;
        vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
        const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        fake->fail_at(cases[i].entry, cases[i].n, cases[i].result);
        expect_fail(vyre_pipeline_enqueue(pipeline, bindings, 2, &config, &ticket), cases[i].code,
                    cases[i].part);
        assert_true(ticket == 0);
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, &config, &ticket));
        expect_ok(vyre_device_wait(device, ticket));
        expect_resident(device, y, 2);
        fake->spec()->is_capturing = true;
        expect_fail(vyre_pipeline_enqueue(pipeline, bindings, 2, &config, &ticket),
                    VYRE_STATUS_UNSUPPORTED, "records a CUDA graph");
        fake->spec()->is_capturing = false;
        vyre_pipeline_release(pipeline);
        vyre_device_release(device);
    }
    vyre_program_release(program);
}

/* Tickets that were never given, of every kind that numbers below the last one can have. */
static void tickets_that_were_never_given_are_refused(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0), *other = fake_device_open(0);
    vyre_program *program = fake_device_program(TWICE);
    vyre_pipeline *pipeline;
    vyre_ticket last;
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    for (int i = 0; i < 4; i++) { /* all on one stream */
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &last));
    }
    for (vyre_ticket ticket = last + 16; ticket > last - 8; ticket--) {
        if (ticket == last) {
            continue;
        }
        assert_true(vyre_device_is_done(device, ticket));
        expect_fail(vyre_device_wait(device, ticket), VYRE_STATUS_INVALID_ARGUMENT, "never gave");
    }
    expect_fail(vyre_device_wait(other, last), VYRE_STATUS_INVALID_ARGUMENT, "never gave");
    expect_ok(vyre_device_wait(device, last));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
    vyre_device_release(other);
}

/* What a lost device took with it is not used any more, and its owner is told. */
static void owners_hear_of_a_lost_device(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_program *program = fake_device_program(
        "program fault(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid]; }");
    int releases = 0;
    enter();
    vyre_resident x = import(device, allocate(BYTES), BYTES, &releases), part, y;
    expect_ok(vyre_resident_range(device, x, 0, BYTES, &part));
    expect_ok(vyre_resident_allocate(device, BYTES, &y));
    const vyre_binding bindings[] = {vyre_bind(part), vyre_bind(y)};
    expect_fail(vyre_device_dispatch_resident(device, program, bindings, 2, NULL, NULL),
                VYRE_STATUS_DEVICE_LOST, "");
    assert_true(vyre_device_lost(device));
    assert_int_equal(releases, 0);
    expect_ok(vyre_device_recover(device));
    assert_int_equal(releases, 1);
    leave();
    vyre_program_release(program);
    vyre_device_release(device);
    assert_int_equal(releases, 1);
}

int main(void) {
    contract_without_cache();
    fake = fake_device_start();
    const struct CMUnitTest tests[] = {
        TEST(device_memory_is_used_where_it_lies),
        TEST(memory_that_the_device_does_not_reach_is_refused),
        TEST(copies_and_fills),
        TEST(arrays_may_start_at_any_element),
        TEST(arrays_that_start_anywhere_are_accessed_by_element),
        TEST(runs_are_in_the_order_of_the_callers_stream),
        TEST(failures_of_the_callers_stream_are_told),
        TEST(tickets_that_were_never_given_are_refused),
        TEST(owners_hear_of_a_lost_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
