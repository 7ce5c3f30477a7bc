#include "tests/unit/cpu_check.h"

#include <fenv.h>
#include <pthread.h>

#include <sys/wait.h>
#include <unistd.h>

#include <vyre/reference.h>

#include "backend/cpu/runtime/backend.h"
#include "backend/cpu/runtime/executable.h"
#include "backend/cpu/runtime/memory.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "runtime/device.h"
#include "tests/unit/failing_allocator.h"

/* Several phases: a repeat with its counter, a scratch array, a domain from memory, a repeat that
 * ends by an element. */
#define STEPS                                                                                      \
    "program steps(n: u32, x: buffer<u32>, y: inout buffer<u32>, z: out buffer<u32>[len(x)]) { "   \
    "scratch s: u32[len(x)]; scratch left: u32[2]; "                                               \
    "phase over x { s[gid] = s[gid] + x[gid]; if gid == 0 { left[0] = 5; left[1] = n; } } "        \
    "repeat i in 3 { phase over x { s[gid] = s[gid] * 3 + i; } } "                                 \
    "phase over left[1] max len(x) { z[gid] = s[gid]; } "                                          \
    "repeat while left[0] { phase over x { y[gid] = y[gid] + s[gid]; } "                           \
    "phase over 1 { left[0] = left[0] - 1; } } }"

/* Runs until somebody stops it, unless `go` is 0. */
#define ENDLESS                                                                                    \
    "program endless(go: buffer<u32>, y: out buffer<u32>[64]) over 64 workgroup 8 { "              \
    "var n = 0u; loop { if atomic_add(y[gid], 0) == 1 || go[0] == 0 { break; } n += 1; } "         \
    "y[gid] = n + 7; }"
#define ENDLESS_REPEAT                                                                             \
    "program endless_repeat(x: buffer<u32>, y: inout buffer<u32>) { "                              \
    "repeat while x[0] { phase over y { y[gid] = y[gid] + 1; } } }"

/* As good as endless; all lanes count alike, or each for itself. */
#define LONG                                                                                       \
    "program long(x: buffer<u32>, y: out buffer<u64>[64]) over 64 { var s = 0u64; "                \
    "for i in 0u64..u64(x[0]) << 60 { s = (s ^ i) * 6364136223846793005u64; } y[gid] = s; }"
#define LONG_APART                                                                                 \
    "program long_apart(x: buffer<u32>, y: inout buffer<u32>) over y { var s = 0u64; "             \
    "for i in 0u64..(u64(x[0]) << 60) + u64(y[gid]) { s = (s ^ i) * 6364136223846793005u64; } "    \
    "y[gid] = u32(s >> 32); }"

static vyre_device *open_cpu(void) {
    vyre_backend made = {.host = vyre_host_services()};
    vyre_device *device;
    expect_ok(cpu_bundle.registrations[0].create(vyre_host_services(), 0, &made));
    expect_ok(vyre_device_open(&made, "cpu", 0, &device));
    return device;
}

/* Runs a program on a device and on the reference, and compares all bytes. */
static void expect_reference(vyre_device *device, const char *text, const vyre_input *inputs,
                             size_t count) {
    vyre_program *program = contract_program(text);
    vyre_outputs found, expected;
    expect_ok(vyre_reference_run(program, inputs, count, NULL, NULL, &expected));
    expect_ok(vyre_device_dispatch(device, program, inputs, count, NULL, &found));
    assert_int_equal(found.count, expected.count);
    for (size_t i = 0; i < found.count; i++) {
        assert_int_equal(found.items[i].size, expected.items[i].size);
        if (found.items[i].size) {
            assert_memory_equal(found.items[i].data, expected.items[i].data, found.items[i].size);
        }
    }
    vyre_outputs_free(&found);
    vyre_outputs_free(&expected);
    vyre_program_release(program);
}

static void backend_says_what_it_is(void **state) {
    (void)state;
    vyre_device *device = open_cpu();
    vyre_profile profile;
    uint32_t size[3], lanes;
    vyre_device_profile(device, &profile);
    assert_string_equal(vyre_device_id(device), "cpu");
    assert_non_null(strstr(vyre_device_version(device), "LLVM "));
    assert_true(profile.device[0] && !strncmp(profile.driver, "LLVM ", 5));
    assert_int_equal(profile.compute_units, atoi(getenv("VYRE_THREADS")));
    assert_true(profile.max_storage_buffer_bytes > 1 << 20);
    assert_false(profile.flags & (VYRE_PROFILE_IS_GPU | VYRE_PROFILE_IS_SOFTWARE));
    assert_int_equal(profile.grade, VYRE_GRADE_EXACT);
    vyre_device_max_workgroup_size(device, size);
    assert_int_equal(size[0], 1024);
    assert_int_equal(vyre_device_max_invocations_per_workgroup(device), 1024);
    expect_ok(cpu_executable_lanes(&lanes));
    assert_int_equal(vyre_device_subgroup_size(device), lanes);
    vyre_device_release(device);

    vyre_backend made = {.host = vyre_host_services()};
    expect_fail(cpu_bundle.registrations[0].create(vyre_host_services(), 1, &made),
                VYRE_STATUS_NOT_FOUND, "no number 1");
    setenv("VYRE_CPU_LANES", "5", 1);
    expect_fail(cpu_bundle.registrations[0].create(vyre_host_services(), 0, &made),
                VYRE_STATUS_INVALID_ARGUMENT, "VYRE_CPU_LANES");
    unsetenv("VYRE_CPU_LANES");
}

static void backend_gives_the_bytes_of_the_reference(void **state) {
    (void)state;
    static const char *const lanes[] = {"1", "1x4", "4", "8", "16", "32", "auto"};
    enum { LENGTH = 1003 };
    uint32_t x[LENGTH], y[LENGTH], k = 3, n = 700;
    contract_numbers(x, LENGTH);
    contract_numbers(y, LENGTH);
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        setenv("VYRE_CPU_LANES", lanes[i], 1);
        vyre_device *device = open_cpu();
        const vyre_input whole = {x, sizeof x}, none = {NULL, 0};
        const vyre_input add[] = {{&k, 4}, {x, sizeof x}, {y, sizeof y}};
        const vyre_input steps[] = {{&n, 4}, {x, sizeof x}, {y, sizeof y}};
        expect_reference(device, TWICE, &whole, 1);
        expect_reference(device, TWICE, &none, 1);
        expect_reference(device, ADD, add, 3);
        expect_reference(device, STEPS, steps, 3);
        expect_reference(device,
                         "program f(x: buffer<u32>, y: out buffer<f32>[len(x)]) over x { "
                         "y[gid] = exp(f32(x[gid]) * 0.01f) + sin(f32(gid)); }",
                         &whole, 1);
        expect_reference(device,
                         "program grid(x: buffer<u32>, s: out buffer<u32>[len(x)], "
                         "y: out buffer<u32>[len(x)]) over x workgroup 64 { s[gid] = x[gid]; "
                         "grid_barrier; y[gid] = s[len(x) - 1 - gid]; }",
                         &whole, 1);
        vyre_device_release(device);
    }
    unsetenv("VYRE_CPU_LANES");
}

/* Buffers at every address, between bytes that must stay as they are. */
static void buffers_need_no_alignment(void **state) {
    (void)state;
    vyre_device *device = open_cpu();
    vyre_program *program = contract_program(ADD);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    assert_true(vyre_pipeline_is_native(pipeline));
    for (size_t shift = 0; shift < 8; shift++) {
        uint8_t x[64], y[64], out[64];
        uint32_t k = 5, numbers[CONTRACT_LENGTH];
        contract_numbers(numbers, CONTRACT_LENGTH);
        memset(x, 99, sizeof x);
        memset(y, 99, sizeof y);
        memset(out, 99, sizeof out);
        memcpy(x + shift, numbers, sizeof numbers);
        memcpy(y + shift, numbers, sizeof numbers);
        const vyre_input inputs[] = {
            {&k, 4}, {x + shift, sizeof numbers}, {y + shift, sizeof numbers}};
        vyre_output item = {out + shift, sizeof numbers};
        vyre_outputs outputs = {&item, 1};
        expect_ok(vyre_pipeline_dispatch_into(pipeline, inputs, 3, NULL, &outputs));
        assert_ptr_equal(item.data, out + shift);
        expect_numbers(out + shift, CONTRACT_LENGTH, 6);
        expect_numbers(x + shift, CONTRACT_LENGTH, 1);
        expect_numbers(y + shift, CONTRACT_LENGTH, 1);
        for (size_t i = 0; i < sizeof out; i++) {
            assert_true((i >= shift && i < shift + sizeof numbers) || out[i] == 99);
        }
    }
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void runs_end_in_time(void **state) {
    (void)state;
    static const char *const texts[] = {ENDLESS, ENDLESS_REPEAT, LONG, LONG_APART};
    vyre_device *device = open_cpu();
    uint32_t go = 1, y[3] = {0};
    for (int turn = 0; turn < 8; turn++) {
        vyre_program *program = contract_program(texts[turn % 4]);
        const vyre_input inputs[] = {{&go, 4}, {y, sizeof y}};
        const vyre_dispatch_config config = {.timeout_ns = 30000000};
        vyre_outputs outputs;
        uint64_t start = vyre_now_ns();
        expect_fail(
            vyre_device_dispatch(device, program, inputs, 1 + (size_t)turn % 2, &config, &outputs),
            VYRE_STATUS_TIMEOUT, "took longer than its timeout");
        assert_true(vyre_now_ns() - start >= config.timeout_ns);
        assert_null(outputs.items);
        expect_works(device);
        vyre_program_release(program);
    }
    vyre_device_release(device);
}

/* More values than are moved at a time change places in a loop that waits. */
static void values_change_places_over_a_barrier(void **state) {
    (void)state;
    enum { VALUES = 150 };
    vyre_strbuf text = {0};
    uint32_t turns = 3, x[128];
    contract_numbers(x, 128);
    vyre_strbuf_printf(&text,
                       "program turn(n: u32, x: buffer<u32>, y: out buffer<u32>[len(x) * %d]) "
                       "over x workgroup 64 { ",
                       VALUES);
    for (int i = 0; i < VALUES; i++) {
        vyre_strbuf_printf(&text, "var v%d = x[gid] + %d; ", i, i);
    }
    vyre_strbuf_puts(&text, "for t in 0..n { barrier; let first = v0; ");
    for (int i = 0; i + 1 < VALUES; i++) {
        vyre_strbuf_printf(&text, "v%d = v%d; ", i, i + 1);
    }
    vyre_strbuf_printf(&text, "v%d = first; } ", VALUES - 1);
    for (int i = 0; i < VALUES; i++) {
        vyre_strbuf_printf(&text, "y[gid * %d + %d] = v%d; ", VALUES, i, i);
    }
    vyre_strbuf_puts(&text, "}");
    static const char *const lanes[] = {"1", "4", "auto"};
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        setenv("VYRE_CPU_LANES", lanes[i], 1);
        vyre_device *device = open_cpu();
        const vyre_input inputs[] = {{&turns, 4}, {x, sizeof x}};
        expect_reference(device, vyre_strbuf_string(&text), inputs, 2);
        vyre_device_release(device);
    }
    unsetenv("VYRE_CPU_LANES");
    vyre_strbuf_free(&text);
}

/* A thread with little room of its own runs programs with large private arrays. */
static void *run_large_arrays(void *argument) {
    uint32_t x[64];
    contract_numbers(x, 64);
    const vyre_input input = {x, sizeof x};
    expect_reference(argument,
                     "program large(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x "
                     "workgroup 64 subgroup 64 { var a: u32[16384]; "
                     "for i in 0..50 { a[(x[gid] * 7 + i * 331) & 16383] += i; } "
                     "y[gid] = a[x[gid] & 16383] + subgroup_add(a[gid]); }",
                     &input, 1);
    return NULL;
}

static void private_arrays_need_no_large_stack(void **state) {
    (void)state;
    enum { STACK = 768 << 10 };
    vyre_device *device = open_cpu();
    pthread_attr_t small;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, STACK), 0);
    assert_int_equal(pthread_create(&thread, &small, run_large_arrays, device), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
    vyre_device_release(device);
}

static void enqueued_runs_keep_their_order(void **state) {
    (void)state;
    vyre_device *device = open_cpu();
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
    const vyre_binding last[] = {vyre_bind_bits(2), vyre_bind(a), vyre_bind(b)};
    expect_ok(vyre_pipeline_enqueue(pipeline, last, 3, NULL, &ticket));
    vyre_device_cache_limit(device, 0);
    vyre_pipeline_release(pipeline); /* the run has what it needs */
    vyre_program_release(program);
    expect_ok(vyre_device_flush(device));
    expect_resident(device, b, 10946 + 2 * 17711);
    expect_ok(vyre_resident_free(device, a));
    expect_ok(vyre_resident_free(device, b));
    vyre_device_release(device);
}

static void a_ticket_tells_what_went_wrong(void **state) {
    (void)state;
    vyre_device *device = open_cpu();
    vyre_program *program = contract_program(ENDLESS_REPEAT);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    const vyre_dispatch_config config = {.timeout_ns = 10000000};
    vyre_ticket first, second;
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, &config, &first));
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, &config, &second));
    for (int i = 0; i < 2; i++) {
        expect_fail(vyre_device_wait(device, second), VYRE_STATUS_TIMEOUT, "`endless_repeat` took");
        expect_fail(vyre_device_wait(device, first), VYRE_STATUS_TIMEOUT, "`endless_repeat` took");
    }
    vyre_timing timing;
    expect_fail(vyre_device_dispatch_resident(device, program, bindings, 2, &config, &timing),
                VYRE_STATUS_TIMEOUT, "`endless_repeat` took");
    expect_ok(vyre_resident_free(device, x));
    expect_ok(vyre_resident_free(device, y));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void async_runs_go_on_by_themselves(void **state) {
    (void)state;
    vyre_device *device = open_cpu();
    vyre_program *endless = contract_program(ENDLESS_REPEAT), *twice = contract_program(TWICE);
    uint32_t x[CONTRACT_LENGTH], y[4] = {0};
    contract_numbers(x, CONTRACT_LENGTH);
    const vyre_input one[] = {{x, sizeof x}, {y, sizeof y}};
    vyre_pending *first, *second, *third;
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch_async(device, endless, one, 2, NULL, &first));
    expect_ok(vyre_device_dispatch_async(device, twice, one, 1, NULL, &second));
    expect_ok(vyre_device_dispatch_async(device, twice, one, 1, NULL, &third));
    memset(x, 0, sizeof x); /* borrowed inputs are gone */
    assert_false(vyre_pending_is_ready(first) || vyre_pending_is_ready(second));
    expect_works(device);     /* other runs do not wait for it */
    vyre_pending_free(third); /* before it starts */
    vyre_pending_free(first); /* while it runs, which ends it */
    uint64_t start = vyre_now_ns();
    while (!vyre_pending_is_ready(second) && vyre_now_ns() - start < UINT64_C(10000000000)) {
        sched_yield();
    }
    assert_true(vyre_pending_is_ready(second));
    expect_ok(vyre_pending_await(second, &outputs));
    expect_twice(&outputs);
    vyre_pending_free(second);
    vyre_program_release(endless);
    vyre_program_release(twice);
    vyre_device_release(device);
}

static void rounding_of_the_caller_does_not_matter(void **state) {
    (void)state;
    vyre_device *device = open_cpu();
    float x[64];
    for (int i = 0; i < 64; i++) {
        x[i] = 1.0f / (float)(i + 3);
    }
    const vyre_input input = {x, sizeof x};
    fesetround(FE_UPWARD);
    expect_reference(device,
                     "program f(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x { "
                     "y[gid] = x[gid] / 3.0 + x[gid] * x[gid]; }",
                     &input, 1);
    /* Constants alone, some of which are so behind a loop only. */
    vyre_program *program =
        contract_program("program g(x: buffer<f32>, y: out buffer<f32>[len(x)]) over x { "
                         "var a = 3.0f; for i in 0..2 { a = 1.0f / (a * 0.3f); } "
                         "y[gid] = sqrt(a) * a; }");
    vyre_outputs upward, nearest;
    expect_ok(vyre_device_dispatch(device, program, &input, 1, NULL, &upward));
    fesetround(FE_TONEAREST);
    expect_ok(vyre_reference_run(program, &input, 1, NULL, NULL, &nearest));
    assert_memory_equal(upward.items[0].data, nearest.items[0].data, sizeof x);
    vyre_outputs_free(&upward);
    vyre_outputs_free(&nearest);
    vyre_program_release(program);
    fesetround(FE_UPWARD);
    assert_int_equal(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    vyre_device_release(device);
}

static void artifacts_are_taken_or_made_again(void **state) {
    (void)state;
    vyre_program *program = contract_program(STEPS);
    vyre_strbuf artifact = {0}, none = {0};
    cpu_executable *native;
    expect_ok(cpu_executable_make(program, NULL, 0, &artifact, &native));
    assert_true(artifact.size > 100);
    cpu_executable_release(native);
    expect_ok(
        cpu_executable_make(program, (uint8_t *)artifact.data, artifact.size, &none, &native));
    assert_int_equal(none.size, 0); /* nothing new to store */
    cpu_executable_release(native);
    artifact.data[artifact.size / 2] ^= 1;
    expect_ok(
        cpu_executable_make(program, (uint8_t *)artifact.data, artifact.size, &none, &native));
    assert_int_equal(none.size, artifact.size);
    artifact.data[artifact.size / 2] ^= 1;
    assert_memory_equal(none.data, artifact.data, none.size);
    cpu_executable_release(native);
    vyre_strbuf_free(&none);
    vyre_strbuf_free(&artifact);
    vyre_program_release(program);
}

/* The head has them behind its name, its version, the lanes and the phases. */
static void artifacts_of_other_semantics_are_made_again(void **state) {
    (void)state;
    enum { AT = 20 };
    vyre_program *program = contract_program(STEPS);
    vyre_strbuf artifact = {0}, none = {0};
    cpu_executable *native;
    expect_ok(cpu_executable_make(program, NULL, 0, &artifact, &native));
    cpu_executable_release(native);
    assert_int_equal(artifact.data[AT], VYRE_SEMANTICS);
    artifact.data[AT]--;
    expect_ok(
        cpu_executable_make(program, (uint8_t *)artifact.data, artifact.size, &none, &native));
    assert_int_equal(none.size, artifact.size);
    cpu_executable_release(native);
    vyre_strbuf_free(&none);
    vyre_strbuf_free(&artifact);
    vyre_program_release(program);
}

static void programs_are_shown(void **state) {
    (void)state;
    vyre_program *program = contract_program(TWICE);
    vyre_strbuf text = {0};
    expect_ok(cpu_executable_show(program, false, &text));
    assert_non_null(strstr(text.data, "define"));
    vyre_strbuf_free(&text);
    expect_ok(cpu_executable_show(program, true, &text));
    assert_non_null(strstr(text.data, "phase_0:"));
    vyre_strbuf_free(&text);
    vyre_program_release(program);
}

/* VYRE_CPU_LANES says nothing of phases with subgroup operations. */
static void subgroups_have_their_own_lanes(void **state) {
    (void)state;
    static const char *const lanes[] = {"1", "1x4", "4", "16"};
    vyre_program *program =
        contract_program("program sums(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x "
                         "workgroup 64 subgroup 8 { y[gid] = subgroup_add(x[gid]); }");
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        vyre_strbuf text = {0};
        setenv("VYRE_CPU_LANES", lanes[i], 1);
        expect_ok(cpu_executable_show(program, false, &text));
        assert_non_null(strstr(text.data, "vectors of 8 lanes: the width of its subgroups"));
        vyre_strbuf_free(&text);
    }
    unsetenv("VYRE_CPU_LANES");
    vyre_program_release(program);
}

/* One walk through all that allocates in the calling thread alone. */
static vyre_status compile_and_run(const vyre_program *program, vyre_device **device) {
    uint32_t n = 2, x[4] = {1, 2, 3, 4}, y[4] = {0};
    uint8_t moved[32];
    memcpy(moved + 1, x, sizeof x);
    const vyre_input inputs[] = {{&n, 4}, {moved + 1, sizeof x}, {y, sizeof y}};
    vyre_outputs outputs = {0};
    vyre_resident residents[3] = {{0}};
    vyre_backend made = {.host = vyre_host_services()};
    *device = NULL;
    vyre_status status = cpu_bundle.registrations[0].create(vyre_host_services(), 0, &made);
    status = status ? status : vyre_device_open(&made, "cpu", 0, device);
    status = status ? status : vyre_device_dispatch(*device, program, inputs, 3, NULL, &outputs);
    vyre_outputs_free(&outputs);
    for (int i = 0; i < 3 && !status; i++) {
        status = vyre_resident_allocate(*device, sizeof x, &residents[i]);
    }
    const vyre_binding bindings[] = {vyre_bind_bits(n), vyre_bind(residents[0]),
                                     vyre_bind(residents[1]), vyre_bind(residents[2])};
    return status ? status
                  : vyre_device_dispatch_resident(*device, program, bindings, 4, NULL, NULL);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    if (getenv("VYRE_TEST_EMULATED")) {
        skip(); /* it compiles again and again, which takes long, and is the same everywhere */
    }
    vyre_program *program = contract_program(STEPS);
    cpu_memory_trim();
    for (size_t n = 1; failing_allocator_start(n); n++) {
        vyre_device *device;
        vyre_status status = compile_and_run(program, &device);
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        vyre_device_release(device);
        failing_allocator_stop();
        assert_int_equal(code, failing_allocator_failed() ? VYRE_STATUS_OUT_OF_MEMORY : 0);
        if (!failing_allocator_failed()) {
            break;
        }
    }
    vyre_program_release(program);
}

/* Threads that compile, run, enqueue and wait on one device. */
typedef struct member {
    pthread_t thread;
    vyre_device *device;
    uint32_t number, turns;
    uint64_t deadline_ns;
    bool failed;
} member;

static void *work(void *argument) {
    member *m = argument;
    vyre_program *program = contract_program(m->number % 2 ? ADD : STEPS);
    while (vyre_now_ns() < m->deadline_ns && !m->failed) {
        enum { LENGTH = 3000 };
        static uint32_t x[LENGTH], y[LENGTH];
        uint32_t k = 100;
        const vyre_input inputs[] = {{&k, 4}, {x, sizeof x}, {y, sizeof y}};
        vyre_outputs outputs = {0};
        vyre_pending *pending = NULL;
        vyre_status status =
            m->turns % 3
                ? vyre_device_dispatch(m->device, program, inputs, 3, NULL, &outputs)
                : vyre_device_dispatch_async(m->device, program, inputs, 3, NULL, &pending);
        if (pending && m->turns % 2) {
            status = vyre_pending_await(pending, &outputs);
        }
        vyre_pending_free(pending);
        m->failed = status;
        vyre_status_free(status);
        vyre_outputs_free(&outputs);
        m->turns++;
    }
    vyre_program_release(program);
    return NULL;
}

static void threads_share_a_device(void **state) {
    (void)state;
    const char *seconds = getenv("VYRE_TEST_SECONDS");
    vyre_device *device = open_cpu();
    member members[6];
    uint64_t deadline = vyre_now_ns() + (uint64_t)(seconds ? atoi(seconds) : 1) * 1000000000u / 2;
    for (uint32_t i = 0; i < 6; i++) {
        members[i] = (member){.device = device, .number = i, .turns = i, .deadline_ns = deadline};
        assert_int_equal(pthread_create(&members[i].thread, NULL, work, &members[i]), 0);
    }
    for (uint32_t i = 0; i < 6; i++) {
        pthread_join(members[i].thread, NULL);
        assert_false(members[i].failed);
        assert_true(members[i].turns > i);
    }
    vyre_device_release(device);
}

/* The same with a single thread, which the process must know from its start. */
static void one_thread_is_enough(void **state) {
    (void)state;
    if (getenv("VYRE_TEST_EMULATED")) {
        skip(); /* the system does not run what qemu-user does */
    }
    if (!strcmp(getenv("VYRE_THREADS"), "1")) {
        return;
    }
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        setenv("VYRE_THREADS", "1", 1);
        execl("/proc/self/exe", "test_cpu_backend", (char *)NULL);
        _exit(1);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(backend_says_what_it_is),
        cmocka_unit_test(backend_gives_the_bytes_of_the_reference),
        cmocka_unit_test(buffers_need_no_alignment),
        cmocka_unit_test(runs_end_in_time),
        cmocka_unit_test(values_change_places_over_a_barrier),
        cmocka_unit_test(private_arrays_need_no_large_stack),
        cmocka_unit_test(enqueued_runs_keep_their_order),
        cmocka_unit_test(a_ticket_tells_what_went_wrong),
        cmocka_unit_test(async_runs_go_on_by_themselves),
        cmocka_unit_test(rounding_of_the_caller_does_not_matter),
        cmocka_unit_test(artifacts_are_taken_or_made_again),
        cmocka_unit_test(artifacts_of_other_semantics_are_made_again),
        cmocka_unit_test(programs_are_shown),
        cmocka_unit_test(subgroups_have_their_own_lanes),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(threads_share_a_device),
        cmocka_unit_test(one_thread_is_enough),
    };
    contract_without_cache();
    setenv("VYRE_THREADS", "2", 0);
    return cpu_check_available() ? cmocka_run_group_tests(tests, NULL, NULL) : CPU_SKIPPED;
}
