/* The opencl backend as a device: runs on host data, in place and on resident buffers, tickets,
 * timeouts, threads, lack of memory, and what it says where there is no loader. */
#include <pthread.h>
#include <unistd.h>

#include <sys/wait.h>

#include <vyre/dispatch.h>
#include <vyre/reference.h>

#include "backend/opencl/runtime/backend.h"
#include "base/clock.h"
#include "runtime/slots.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/opencl_check.h"

/* Runs on a device and on the reference, and compares. */
static void expect_reference(vyre_device *device, const char *text, const vyre_input *inputs,
                             size_t count) {
    vyre_program *program = contract_program(text);
    vyre_outputs expected, found;
    expect_ok(vyre_reference_run(program, inputs, count, NULL, NULL, &expected));
    expect_ok(vyre_device_dispatch(device, program, inputs, count, NULL, &found));
    assert_int_equal(expected.count, found.count);
    for (size_t i = 0; i < found.count; i++) {
        assert_int_equal(expected.items[i].size, found.items[i].size);
        if (found.items[i].size) {
            assert_memory_equal(expected.items[i].data, found.items[i].data, found.items[i].size);
        }
    }
    vyre_outputs_free(&expected);
    vyre_outputs_free(&found);
    vyre_program_release(program);
}

/* All invocations of a workgroup update the same elements, in each way; the last ones in loops. */
#define UPDATES(type)                                                                              \
    "program updates(x: buffer<u32>, y: out buffer<" type ">[9 * 5]) over 160 workgroup 32 { "     \
    "shared s: " type "[9]; if lid == 0 { s[3] = ~" type "(0); } barrier; "                        \
    "let v = " type "(gid * 2654435761); "                                                         \
    "atomic_add(s[0], v); atomic_sub(s[1], v); atomic_or(s[2], " type "(1) << (lid % 29)); "       \
    "atomic_and(s[3], ~(" type "(1) << (lid % 5))); atomic_xor(s[4], v); atomic_min(s[5], v); "    \
    "atomic_max(s[6], v); for i in 0..lid { atomic_add(s[7], v); } "                               \
    "if atomic_exchange(s[8], v) == v { atomic_cas(s[8], v, " type "(7)); } barrier; "             \
    "if lid < 8 { atomic_add(y[wid * 9 + lid], s[lid], relaxed, workgroup); } }"

static const char *const texts[] = {
    TWICE,
    "program some(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { "
    "if gid % 3 == 0 { y[gid] = x[gid]; } }",
    "program steps(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch t: u32[len(x)]; "
    "repeat k in 3 { phase over x { t[gid] = y[len(x) - 1 - gid] * 3 + x[gid] + k; } swap(y, t); "
    "} }",
    "program until(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch go: u32[1]; phase a over "
    "1 { go[0] = 5; } repeat while go[0] { phase b over x { y[gid] = y[gid] + x[gid]; } phase c "
    "over 1 { go[0] = go[0] - 1; } } }",
    "program part(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch n: u32[1]; phase a over 1 "
    "{ n[0] = x[2]; } phase b over n[0] max len(x) { y[gid] = x[gid] * 2; } }",
    "program group(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 32 { "
    "shared s: u32[32]; if in_domain { s[lid] = x[gid]; } barrier; "
    "if in_domain { y[gid] = s[31 - lid] + wid; } }",
    "program sides(x: buffer<u32>, y: out buffer<u32>[len(x)]) over (5, 7, 3) { "
    "y[gid.x + 5 * (gid.y + 7 * gid.z)] = x[gid.x] + gid.y * gid.z; }",
    "program sums(x: buffer<u32>, y: out buffer<u64>[2]) over x workgroup 8 { "
    "atomic_add(y[0], u64(x[gid])); atomic_max(y[1], u64(x[gid])); }",
    "struct R { a: u8, b: u32, c: u16 } program records(x: buffer<u32>, y: out "
    "buffer<R>[len(x)]) over x { y[gid] = R(u8(x[gid]), x[gid] * 3, 7); }",
    "program wide(x: buffer<u32>, y: out buffer<f64>[len(x)]) over x { "
    "y[gid] = sqrt(f64(x[gid])) / 3.0; }",
    "program halves(x: buffer<u32>, y: out buffer<f16>[len(x)]) over x { "
    "y[gid] = f16(x[gid]) * f16(0.3) + f16(1.0); }",
    "program lanes(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 32 { "
    "let v = subgroup_inclusive_add(x[gid]); if in_domain { y[gid] = v; } }",
    /* Neighbours, all at one time, if a compiler took them for strangers. */
    "program meet(x: buffer<u32>, y: out buffer<u32>[64]) over 1024 workgroup 256 { "
    "shared s: u32[16]; atomic_add(s[gid * gid % 16], gid); barrier; "
    "if lid < 16 { y[wid * 16 + lid] = s[lid]; } }",
    "program meet(x: buffer<u32>, y: out buffer<u32>[4]) over 1024 workgroup 256 { "
    "atomic_add(y[wid], gid, relaxed, workgroup); }",
    UPDATES("u32"),
    UPDATES("i32"),
    UPDATES("u64"),
    UPDATES("i64"),
    /* Ranges that end where their type does. */
    "program ends(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { var n = 0u; "
    "for i in (0u - x[gid])..0xffff_ffff { n += i; if n % 7 == 3 { break; } } "
    "for i in 120i8..127i8 { n += u32(i); } for i in i64(gid)..3 { n += u32(i) + 5; } "
    "for i in -3i32..2i32 { n = n * 3 + u32(i); } y[gid] = n; }",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static void the_bytes_are_the_references(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 100, 257};
    uint32_t x[257];
    contract_numbers(x, 257);
    vyre_device *device = open_opencl();
    for (size_t i = 0; i < TEXTS; i++) {
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            const vyre_input input = {x, lengths[k] * sizeof *x};
            expect_reference(device, texts[i], &input, 1);
        }
    }
    vyre_device_release(device);
}

/* NaNs of all kinds give the canonical one; all else stays, to the bit. */
static void nans_are_canonical(void **state) {
    (void)state;
    static const uint32_t narrow[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
                                      0x3f800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
                                      0x7f800001, 0xff800001, 0x7fc00000, 0xffc00000, 0x7fffffff,
                                      0xffffffff, 0x7fa55555, 0xffe12345};
    static const uint64_t wide[] = {0,
                                    0x8000000000000000,
                                    1,
                                    0x800fffffffffffff,
                                    0x3ff0000000000000,
                                    0xffefffffffffffff,
                                    0x7ff0000000000000,
                                    0xfff0000000000000,
                                    0x7ff0000000000001,
                                    0xfff0000000000001,
                                    0x7ff8000000000000,
                                    0xfff8000000000000,
                                    0x7fffffffffffffff,
                                    0xffffffffffffffff};
    static const char *const sums[] = {
        "program sums(x: buffer<f32>, y: out buffer<f32>[len(x) * len(x)]) over len(x) * len(x) { "
        "let a = x[gid % len(x)]; let b = x[gid / len(x)]; "
        "y[gid] = select(gid % 2 == 0, a * b, a + b); }",
        "program loops(x: buffer<f32>, y: out buffer<f32>[len(x) * 2]) over x { var a = x[gid]; "
        "for i in 0..gid % 3 { a = a * x[i] - x[gid]; } y[gid] = a; y[len(x) + gid] = -x[gid]; }"};
    static const char *const wide_sums =
        "program sums(x: buffer<f64>, y: out buffer<f64>[len(x) * len(x)]) over len(x) * len(x) { "
        "let a = x[gid % len(x)]; let b = x[gid / len(x)]; "
        "y[gid] = select(gid % 2 == 0, a * b, a + b); }";
    vyre_device *device = open_opencl();
    const vyre_input input = {narrow, sizeof narrow}, wide_input = {wide, sizeof wide};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        expect_reference(device, sums[i], &input, 1);
    }
    expect_reference(device, wide_sums, &wide_input, 1);
    vyre_device_release(device);
}

/* Few entries of a CPU's tables cover them. */
static void large_buffers_begin_with_a_huge_page(void **state) {
    (void)state;
    enum { LARGE = 4 << 20, HUGE_PAGE = 2 << 20 };
    vyre_device *device = open_opencl();
    vyre_resident buffer;
    vyre_memory memory;
    uint64_t last = 1;
    expect_ok(vyre_resident_allocate(device, LARGE, &buffer));
    vyre_status status = vyre_resident_memory(device, buffer, &memory);
    if (!status) { /* a CPU's */
        assert_int_equal(memory.address % HUGE_PAGE, 0);
    }
    vyre_status_free(status);
    expect_ok(vyre_resident_read(device, buffer, LARGE - sizeof last, &last, sizeof last));
    assert_int_equal(last, 0);
    expect_ok(vyre_resident_free(device, buffer));
    vyre_device_release(device);
}

static void runs_in_place_touch_nothing_else(void **state) {
    (void)state;
    enum { GUARD = 16, LENGTH = 100 };
    vyre_device *device = open_opencl();
    vyre_program *program = contract_program(ADD);
    uint32_t k = 3, x[LENGTH], y[LENGTH + 2 * GUARD];
    contract_numbers(x, LENGTH);
    for (size_t i = 0; i < LENGTH + 2 * GUARD; i++) {
        y[i] = 7;
    }
    const vyre_output arguments[] = {
        {(uint8_t *)&k, sizeof k}, {(uint8_t *)x, sizeof x}, {(uint8_t *)(y + GUARD), sizeof x}};
    expect_ok(vyre_device_dispatch_in_place(device, program, arguments, 3, NULL));
    for (uint32_t i = 0; i < LENGTH + 2 * GUARD; i++) {
        bool inside = i >= GUARD && i < GUARD + LENGTH;
        assert_int_equal(y[i], inside ? 7 + 3 * (i - GUARD + 1) : 7);
    }
    expect_numbers(x, LENGTH, 1);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void enqueued_runs_keep_their_order(void **state) {
    (void)state;
    vyre_device *device = open_opencl();
    vyre_program *program = contract_program(ADD);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    vyre_resident a = contract_resident(device, 1), b = contract_resident(device, 1);
    vyre_ticket ticket = 0, before;
    for (int i = 0; i < 10; i++) { /* b += a; a += b: Fibonacci */
        before = ticket;
        const vyre_binding first[] = {vyre_bind_bits(1), vyre_bind(a), vyre_bind(b)};
        const vyre_binding second[] = {vyre_bind_bits(1), vyre_bind(b), vyre_bind(a)};
        expect_ok(vyre_pipeline_enqueue(pipeline, first, 3, NULL, &ticket));
        expect_ok(vyre_pipeline_enqueue(pipeline, second, 3, NULL, &ticket));
        assert_true(ticket > before + 1);
    }
    expect_resident(device, a, 17711); /* reading waits for it */
    expect_ok(vyre_device_wait(device, ticket));
    assert_true(vyre_device_is_done(device, ticket));
    expect_ok(vyre_device_flush(device));
    expect_ok(vyre_resident_free(device, a));
    expect_ok(vyre_resident_free(device, b));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
}

#define ENDLESS                                                                                    \
    "program endless(go: buffer<u32>, y: out buffer<u32>[len(go)]) over go { "                     \
    "var n = 0u; loop { if go[n % 2] == 0 { break; } n += 1; } y[gid] = n; }"
/* Some invocations leave to stop before others come to the barrier. */
#define ENDLESS_BARRIER                                                                            \
    "program endless(go: buffer<u32>, y: out buffer<u32>[len(go)]) over go workgroup 8 { "         \
    "shared s: u32[8]; var n = lid; "                                                              \
    "loop { if go[n % 2] == 0 { break; } n += 1; } s[lid] = n; barrier; y[gid] = s[7 - lid]; }"
/* A workgroup waits for itself in each iteration. */
#define ENDLESS_TOGETHER                                                                           \
    "program endless(go: buffer<u32>, y: out buffer<u32>[len(go)]) over go workgroup 8 { "         \
    "shared s: u32[8]; var n = 0u; "                                                               \
    "loop { s[lid] += 1; barrier; n = uniform_load(s[0]); if n == 0 { break; } } y[gid] = n; }"
/* Lanes vote in each iteration; and meet behind a loop that each may leave alone. */
#define ENDLESS_VOTE                                                                               \
    "program endless(go: buffer<u32>, y: out buffer<u32>[len(go)]) over go workgroup 32 { "        \
    "shared s: u32[32]; var n = lane; "                                                            \
    "loop { if subgroup_all(go[n % 2] == 0) { break; } n += 1; } s[lid] = n; barrier; "            \
    "y[gid] = s[31 - lid]; }"
#define ENDLESS_LANES                                                                              \
    "program endless(go: buffer<u32>, y: out buffer<u32>[len(go)]) over go workgroup 32 { "        \
    "shared s: u32[32]; var n = lane; "                                                            \
    "loop { if go[n % 2] == 0 { break; } n += 1; } s[lid] = subgroup_add(n); barrier; "            \
    "y[gid] = s[31 - lid]; }"
#define ENDLESS_REPEAT                                                                             \
    "program endless(go: buffer<u32>, y: out buffer<u32>[len(go)]) { "                             \
    "repeat while go[0] { phase over go { y[gid] += 1; } } }"

static void runs_end_in_time(void **state) {
    (void)state;
    static const char *const endless[] = {ENDLESS,      ENDLESS_BARRIER, ENDLESS_TOGETHER,
                                          ENDLESS_VOTE, ENDLESS_LANES,   ENDLESS_REPEAT};
    vyre_device *device = open_opencl();
    uint32_t go[CONTRACT_LENGTH];
    contract_numbers(go, CONTRACT_LENGTH);
    const vyre_input input = {go, sizeof go};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        vyre_program *program = contract_program(endless[i]);
        const vyre_dispatch_config config = {.timeout_ns = 100000000};
        vyre_outputs outputs;
        vyre_pipeline *pipeline;
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        uint64_t begin = vyre_now_ns();
        expect_fail(vyre_pipeline_dispatch(pipeline, &input, 1, &config, &outputs),
                    VYRE_STATUS_TIMEOUT, "took longer than its timeout");
        assert_true(vyre_now_ns() - begin >= config.timeout_ns);
        assert_null(outputs.items);
        vyre_pipeline_release(pipeline);
        vyre_program_release(program);
        expect_works(device);
    }
    vyre_device_release(device);
}

static void a_ticket_tells_what_went_wrong(void **state) {
    (void)state;
    vyre_device *device = open_opencl();
    vyre_program *program = contract_program(ENDLESS);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    const vyre_dispatch_config config = {.timeout_ns = 50000000};
    vyre_ticket ticket;
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, &config, &ticket));
    for (int i = 0; i < 2; i++) {
        expect_fail(vyre_device_wait(device, ticket), VYRE_STATUS_TIMEOUT, "`endless` took");
    }
    expect_ok(vyre_resident_free(device, x));
    expect_ok(vyre_resident_free(device, y));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
}

/* A workgroup waits for the one before it. */
static void workgroups_start_in_order(void **state) {
    (void)state;
    vyre_device *device = open_opencl();
    enum { GROUPS = 500 };
    uint32_t x[GROUPS * 4];
    contract_numbers(x, GROUPS * 4);
    const vyre_input input = {x, sizeof x};
    expect_reference(device,
                     "program chain(x: buffer<u32>, y: out buffer<u32>[len(x)], s: out "
                     "buffer<u32>[len(x)]) over x workgroup 4 { "
                     "if lid == 0 { if wid > 0 { loop { "
                     "if atomic_load(s[wid - 1], acquire) != 0 { break; } } "
                     "y[wid] = y[wid - 1] + x[wid]; } atomic_store(s[wid], 1, release); } }",
                     &input, 1);
    vyre_device_release(device);
}

/* Threads */

enum { THREADS = 32, TURNS = 20 };

static void *run_often(void *argument) {
    vyre_device *device = argument;
    vyre_program *program = contract_program(ADD);
    uint32_t k = 5, x[CONTRACT_LENGTH], y[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    vyre_resident a = contract_resident(device, 1), b = contract_resident(device, 1);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        contract_numbers(y, CONTRACT_LENGTH);
        const vyre_input inputs[] = {{&k, sizeof k}, {x, sizeof x}, {y, sizeof y}};
        vyre_outputs outputs;
        expect_ok(vyre_pipeline_dispatch(pipeline, inputs, 3, NULL, &outputs));
        expect_numbers(outputs.items[0].data, CONTRACT_LENGTH, 6);
        vyre_outputs_free(&outputs);
        const vyre_binding bindings[] = {vyre_bind_bits(1), vyre_bind(a), vyre_bind(b)};
        vyre_ticket ticket;
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
        expect_ok(vyre_device_wait(device, ticket));
        expect_resident(device, b, turn + 2);
    }
    expect_ok(vyre_resident_free(device, a));
    expect_ok(vyre_resident_free(device, b));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    return NULL;
}

static void threads_share_a_device(void **state) {
    (void)state;
    vyre_device *device = open_opencl();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, device), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    vyre_device_release(device);
}

/* Lack of memory */

static vyre_status run_once(void) {
    static const char text[] =
        "program steps(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch t: u32[len(x)]; "
        "phase over x { t[gid] = x[gid]; } phase over x { y[gid] = t[gid] * 2; } }";
    vyre_device *device = NULL;
    vyre_module *module = NULL;
    uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    const vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    vyre_status status = vyre_acquire("opencl", &device);
    status = status ? status : vyre_module_parse("t.vyre", text, sizeof text - 1, NULL, &module);
    if (!status) {
        status =
            vyre_device_dispatch(device, vyre_module_program(module, 0), &input, 1, NULL, &outputs);
        if (!status) {
            expect_twice(&outputs);
        }
    }
    vyre_module_free(module);
    vyre_device_release(device);
    return status;
}

/* Without memory the store is left alone, and the run is right all the same. */
static void every_allocation_may_fail(void **state) {
    (void)state;
    bool failed = true;
    expect_ok(run_once());
    for (size_t n = 1; failed; n += n < 100 ? 1 : 7) { /* most are those of passes */
        failing_allocator_start(n);
        vyre_status status = run_once();
        failing_allocator_end();
        failed = failing_allocator_failed();
        if (status) {
            assert_int_equal(vyre_status_code_of(status), VYRE_STATUS_OUT_OF_MEMORY);
            assert_true(failed);
            vyre_status_free(status);
        }
    }
    expect_ok(run_once());
}

/* What is missing */

/* In a process of its own: a loader is opened once. */
static void expect_absence(const char *value, const char *part) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        setenv("VYRE_OPENCL", value, 1);
        setenv("ABSENCE_PART", part, 1);
        execl("/proc/self/exe", "test_opencl_backend", "--absence", (char *)NULL);
        _exit(9);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
}

static int tell_absence(void) {
    vyre_backend made = {.host = vyre_host_services()};
    vyre_status status = opencl_bundle.registrations[0].create(vyre_host_services(), 0, &made);
    const char *text = vyre_status_text(status);
    bool is_told = vyre_status_code_of(status) == VYRE_STATUS_UNAVAILABLE &&
                   strstr(text, getenv("ABSENCE_PART")) && strstr(text, "Fix: ");
    if (!is_told) {
        fprintf(stderr, "%s\n", text);
    }
    vyre_status_free(status);
    return is_told ? 0 : 1;
}

static void what_is_not_there_is_told(void **state) {
    (void)state;
    expect_absence("none", "Fix: unset VYRE_OPENCL");
    expect_absence("no-such-library.so", "`no-such-library.so` cannot be opened");
    expect_absence("libm.so.6", "too old: it lacks clGetPlatformIDs");
}

static void there_is_no_device_of_that_number(void **state) {
    (void)state;
    vyre_device *device;
    expect_fail(vyre_acquire("opencl:1000", &device), VYRE_STATUS_NOT_FOUND, "no device 1000");
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--absence")) {
        return tell_absence();
    }
    const struct CMUnitTest absence[] = {cmocka_unit_test(what_is_not_there_is_told)};
    int failed = cmocka_run_group_tests(absence, NULL, NULL);
    if (failed || !opencl_check_available()) {
        return failed ? failed : OPENCL_SKIPPED;
    }
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_the_references),
        cmocka_unit_test(nans_are_canonical),
        cmocka_unit_test(large_buffers_begin_with_a_huge_page),
        cmocka_unit_test(runs_in_place_touch_nothing_else),
        cmocka_unit_test(enqueued_runs_keep_their_order),
        cmocka_unit_test(runs_end_in_time),
        cmocka_unit_test(a_ticket_tells_what_went_wrong),
        cmocka_unit_test(workgroups_start_in_order),
        cmocka_unit_test(threads_share_a_device),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(there_is_no_device_of_that_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
