/* What the cuda backend makes of failures: every entry point of the driver, every allocation, a
 * device that is lost, devices and drivers that are not there. */
#include <stdio.h>

#include <sys/wait.h>
#include <unistd.h>

#include <vyre/memory.h>

#include "backend/cuda/codegen/emit.h"
#include "backend/cuda/runtime/backend.h"
#include "backend/cuda/runtime/driver.h"
#include "base/clock.h"
#include "base/status.h"
#include "runtime/device.h"
#include "tests/fake_cuda/device.h"
#include "tests/unit/failing_allocator.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { FINE = 1, STRIDE = 5 };
#else
enum { FINE = 8, STRIDE = 1 };
#endif

static const fake_cuda *fake;

#define ROW                                                                                        \
    "program row(x: buffer<u32>, y: inout buffer<u32>) { scratch s: u32[len(x)]; "                 \
    "phase over x { s[gid] = s[gid] + x[gid] * 2; } phase over x { s[gid] = s[gid] + 1; } "        \
    "repeat i in 2 { phase over x { s[gid] = s[gid] * 3; } } "                                     \
    "phase over x { y[gid] = s[gid]; } }"
#define LOOP                                                                                       \
    "program loop_down(x: buffer<u32>, y: inout buffer<u32>) { scratch n: u32[1]; "                \
    "phase over 1 { n[0] = 2; } repeat while n[0] { phase over y { y[gid] = y[gid] + x[gid]; } "   \
    "phase over n[0] max 4 { n[0] = n[0] - 1; } } }"
#define TURNS                                                                                      \
    "program turns(x: buffer<u32>, y: inout buffer<u32>) { scratch n: u32[1]; "                    \
    "phase over 1 { n[0] = 7; } repeat i while n[0] { phase over y { y[gid] = y[gid] + i; } "      \
    "phase over 1 { n[0] = n[0] - 1; } } }"
#define GRID                                                                                       \
    "program grid(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 64 { "              \
    "y[gid] = x[gid]; grid_barrier; y[gid] = y[gid] + x[len(x) - 1 - gid]; }"
#define SWAPPED                                                                                    \
    "program swapped(x: inout buffer<u32>, y: inout buffer<u32>) { scratch t: u32[len(x)]; "       \
    "repeat 3 { phase over x { t[gid] = y[gid] + x[gid]; } swap(x, t); } swap(x, y); }"
#define FAULT "program fault(x: buffer<u32>, y: inout buffer<u32>) over y { y[gid] = x[gid]; }"

static vyre_program *add, *twice, *row, *loop, *turns, *grid, *fault, *swapped;

static int begin(void **state) {
    (void)state;
    fake->reset();
    fake->on_launch(fake_device_run);
    add = fake_device_program(ADD);
    twice = fake_device_program(TWICE);
    row = fake_device_program(ROW);
    loop = fake_device_program(LOOP);
    turns = fake_device_program(TURNS);
    grid = fake_device_program(GRID);
    fault = fake_device_program(FAULT);
    swapped = fake_device_program(SWAPPED);
    return 0;
}

static int end(void **state) {
    (void)state;
    vyre_program *all[] = {add, twice, row, loop, turns, grid, fault, swapped};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        vyre_program_release(all[i]);
    }
    fake_device_forget();
    return 0;
}

static vyre_status dispatch(vyre_device *device, const vyre_program *program, size_t first,
                            size_t length) {
    uint32_t k = 2, *x = calloc(length, 4);
    const vyre_input inputs[] = {{&k, 4}, {x, length * 4}, {x, length * 4}};
    vyre_outputs outputs;
    vyre_timing timing;
    vyre_status status = vyre_device_dispatch_timed(
        device, program, inputs + first, program == grid || program == twice ? 1 : 3 - first, NULL,
        &outputs, &timing);
    vyre_outputs_free(&outputs);
    free(x);
    return status;
}

static vyre_status run_async(vyre_device *device) {
    uint32_t x[4] = {1, 2, 3, 4};
    const vyre_input input = {x, sizeof x};
    vyre_pending *pending;
    vyre_outputs outputs;
    vyre_status status = vyre_device_dispatch_async(device, twice, &input, 1, NULL, &pending);
    if (!status) {
        status = vyre_pending_await(pending, &outputs);
        vyre_outputs_free(&outputs);
        vyre_pending_free(pending);
    }
    return status;
}

/* Runs on resident buffers, of a graph, of one launch and of one that needs a host. */
static vyre_status run_resident(vyre_device *device, bool with_threads) {
    uint32_t numbers[20000] = {1, 2, 3, 4};
    vyre_resident buffers[2] = {{0}};
    vyre_pipeline *pipeline;
    vyre_ticket ticket;
    const vyre_program *programs[] = {row, row, swapped, loop};
    vyre_status status = VYRE_OK;
    for (int i = 0; i < 2 && !status; i++) {
        status = vyre_resident_allocate(device, sizeof numbers, &buffers[i]);
        status =
            status ? status : vyre_resident_upload(device, buffers[i], numbers, sizeof numbers);
    }
    for (int i = 0; i < (with_threads ? 4 : 3) && !status; i++) {
        const vyre_binding bindings[] = {vyre_bind(buffers[i % 2]), vyre_bind(buffers[1 - i % 2])};
        status = vyre_device_compile(device, programs[i], NULL, &pipeline);
        if (!status) {
            status = vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket);
            vyre_device_is_done(device, ticket);
            status = status ? status : vyre_device_wait(device, ticket);
            vyre_pipeline_release(pipeline);
        }
    }
    if (!status) {
        status = vyre_resident_read(device, buffers[1], 4, numbers, sizeof numbers - 4);
    }
    vyre_status_free(vyre_device_flush(device));
    for (int i = 0; i < 2; i++) {
        if (buffers[i].owner) {
            vyre_status freed = vyre_resident_free(device, buffers[i]);
            if (status) {
                vyre_status_free(freed);
            } else {
                status = freed;
            }
        }
    }
    return status;
}

/* Memory and streams of a caller. What is left when it fails, the release of the device frees. */
static vyre_status run_shared(vyre_device *device) {
    vyre_resident all, x, y;
    vyre_memory memory;
    VYRE_TRY(vyre_resident_allocate(device, 256, &all));
    VYRE_TRY(vyre_resident_memory(device, all, &memory));
    VYRE_TRY(vyre_resident_import(device, &memory, NULL, NULL, &x));
    VYRE_TRY(vyre_resident_range(device, all, 128, 128, &y));
    VYRE_TRY(vyre_resident_free(device, all));
    VYRE_TRY(vyre_resident_free(device, x));
    VYRE_TRY(vyre_resident_allocate(device, 128, &x));
    VYRE_TRY(vyre_resident_fill(device, x, 0, 128, "ab", 2));
    VYRE_TRY(vyre_resident_fill(device, x, 0, 64, "abcd", 4));
    VYRE_TRY(vyre_resident_copy(device, y, 0, x, 0, 128));
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    const vyre_dispatch_config config = {.flags = VYRE_DISPATCH_STREAM};
    vyre_pipeline *pipeline;
    VYRE_TRY(vyre_device_compile(device, twice, NULL, &pipeline));
    vyre_status status = vyre_pipeline_enqueue(pipeline, bindings, 2, &config, NULL);
    vyre_pipeline_release(pipeline);
    return status;
}

/* Copies of memory that is pinned, and of what is not. */
static vyre_status run_pinned(vyre_device *device) {
    enum { BYTES = 128 << 10 };
    vyre_resident buffer = {0};
    void *memory;
    VYRE_TRY(vyre_memory_allocate(BYTES, &memory));
    vyre_status status = vyre_resident_allocate(device, BYTES, &buffer);
    status = status ? status : vyre_resident_upload(device, buffer, memory, BYTES);
    status = status ? status : vyre_resident_read(device, buffer, 0, memory, BYTES);
    vyre_status freed = vyre_memory_free(memory);
    if (freed) { /* the memory is still there */
        expect_ok(vyre_memory_free(memory));
    }
    return vyre_first_failure(status, freed);
}

/* Everything that a device does. */
static vyre_status walk(vyre_device **out_device, bool with_threads) {
    vyre_backend made = {.host = vyre_host_services()};
    *out_device = NULL;
    vyre_status status = cuda_bundle.registrations[0].create(vyre_host_services(), 0, &made);
    status = status ? status : vyre_device_open(&made, "cuda", 0, out_device);
    status = status ? status : dispatch(*out_device, add, 0, 20000);
    status = status ? status : dispatch(*out_device, grid, 1, 256);
    status = status ? status : dispatch(*out_device, loop, 1, 8);
    status = status ? status : dispatch(*out_device, turns, 1, 8);
    status = status ? status : dispatch(*out_device, turns, 1, 4);
    status = status ? status : run_resident(*out_device, with_threads);
    status = status ? status : run_shared(*out_device);
    status = status ? status : run_pinned(*out_device);
    return status || !with_threads ? status : run_async(*out_device);
}

static bool gives_back(fake_entry entry) {
    switch (entry) {
    case FAKE_cuDevicePrimaryCtxRelease:
    case FAKE_cuLinkDestroy:
    case FAKE_cuModuleUnload:
    case FAKE_cuMemFree:
    case FAKE_cuMemFreeHost:
    case FAKE_cuMemHostUnregister:
    case FAKE_cuStreamDestroy:
    case FAKE_cuEventDestroy:
    case FAKE_cuGraphDestroy:
    case FAKE_cuGraphExecDestroy: return true;
    default: return false;
    }
}

/* Entry points that a process asks once. */
static bool is_asked_once(fake_entry entry) {
    return entry == FAKE_cuInit || entry == FAKE_cuDriverGetVersion;
}

static const char *const entry_names[] = {
#define NAME(name, entry, parameters) #name,
    CUDA_FUNCTIONS(NAME)
#undef NAME
};

/* Whether anything is left; a reset takes what earlier drills left. */
static bool is_more(const fake_live *after, const fake_live *before) {
    return after->contexts > before->contexts || after->modules > before->modules ||
           after->links > before->links || after->streams > before->streams ||
           after->events > before->events || after->graphs > before->graphs ||
           after->execs > before->execs || after->blocks > before->blocks ||
           after->pages > before->pages || after->registered > before->registered;
}

/* One walk in which the n-th call of an entry point fails. */
static void drill(fake_entry entry, uint64_t n, CUresult result) {
    vyre_device *device;
    fake->reset();
    fake->on_launch(fake_device_run);
    fake_live before = fake->live();
    fake->fail_at(entry, n, result);
    vyre_status status = walk(&device, true);
    bool is_lost = device && vyre_device_lost(device);
    if (status) {
        const char *text = vyre_status_text(status);
        if (!strstr(text, "Fix: ")) {
            fail_msg("%s, call %llu: %s", entry_names[entry], (unsigned long long)n, text);
        }
        if (is_lost != (vyre_status_code_of(status) == VYRE_STATUS_DEVICE_LOST) && !is_lost) {
            fail_msg("%s, call %llu: lost, but %s", entry_names[entry], (unsigned long long)n,
                     text);
        }
        vyre_status_free(status);
    }
    fake->fail_at(entry, 0, 0);
    if (device && is_lost) {
        expect_ok(vyre_device_recover(device));
        assert_false(vyre_device_lost(device));
    }
    if (device) {
        expect_works(device); /* whatever it was, it does not stay */
        vyre_device_release(device);
    }
    fake_live after = fake->live();
    if (!gives_back(entry) && is_more(&after, &before)) {
        fail_msg("%s, call %llu gives %d: left %llu contexts, %llu modules, %llu links, %llu "
                 "streams, %llu events, %llu graphs, %llu execs, %llu blocks, %llu pages",
                 entry_names[entry], (unsigned long long)n, result,
                 (unsigned long long)(after.contexts - before.contexts),
                 (unsigned long long)(after.modules - before.modules),
                 (unsigned long long)(after.links - before.links),
                 (unsigned long long)(after.streams - before.streams),
                 (unsigned long long)(after.events - before.events),
                 (unsigned long long)(after.graphs - before.graphs),
                 (unsigned long long)(after.execs - before.execs),
                 (unsigned long long)(after.blocks - before.blocks),
                 (unsigned long long)(after.pages - before.pages));
    }
}

static void drill_all(CUresult result) {
    vyre_device *device;
    uint64_t calls[FAKE_ENTRY_COUNT];
    expect_ok(walk(&device, true));
    vyre_device_release(device);
    for (int i = 0; i < FAKE_ENTRY_COUNT; i++) {
        calls[i] = fake->calls((fake_entry)i);
    }
    for (int i = 0; i < FAKE_ENTRY_COUNT; i++) {
        for (uint64_t n = 1; n <= calls[i] && !is_asked_once((fake_entry)i); n += 1 + n / FINE) {
            drill((fake_entry)i, n, result);
        }
    }
}

static void every_entry_point_may_fail(void **state) {
    (void)state;
    drill_all(1); /* invalid value: of no further meaning */
}

static void every_entry_point_may_be_out_of_memory(void **state) {
    (void)state;
    drill_all(CUDA_ERROR_OUT_OF_MEMORY);
}

static void every_entry_point_may_tell_of_a_fault(void **state) {
    (void)state;
    drill_all(CUDA_ERROR_LAUNCH_FAILED);
}

static void the_walk_uses_every_entry_point(void **state) {
    (void)state;
    vyre_device *device;
    expect_ok(walk(&device, true));
    vyre_device_release(device);
    for (int i = 0; i < FAKE_ENTRY_COUNT; i++) {
        bool is_used = fake->calls((fake_entry)i) || is_asked_once((fake_entry)i);
        switch (i) {
        case FAKE_cuGetErrorName:
        case FAKE_cuGetErrorString:
        case FAKE_cuMemGetInfo:
        case FAKE_cuFuncSetAttribute:
        case FAKE_cuDevicePrimaryCtxReset:
        case FAKE_cuGraphExecMemsetNodeSetParams:
        case FAKE_cuGraphExecMemcpyNodeSetParams: break; /* in other tests, or after a failure */
        default:
            if (!is_used) {
                fail_msg("%s is not called", entry_names[i]);
            }
        }
    }
}

/* What stands in for the device allocates, too, so of all phases only those that count turns run.
 */
static fake_result count_turns(const fake_launch *launch) {
    if (!strcmp(launch->entry, "iteration")) {
        return fake_device_run(launch);
    }
    bool is_loop = strstr(launch->image, "phases of `loop_down`");
    if (is_loop || strstr(launch->image, "phases of `turns`")) {
        cuda_layout layout = cuda_layout_of(vyre_program_ir(is_loop ? loop : turns));
        uint32_t *gate, *n;
        memcpy(&gate, launch->parameters + layout.gate, sizeof gate);
        memcpy(&n, launch->parameters + layout.arrays + 2 * sizeof n, sizeof n);
        *n = !strcmp(launch->entry, "phase_0")                       ? (is_loop ? 2 : 7)
             : !strcmp(launch->entry, "phase_2") && (!gate || *gate) ? *n - 1
                                                                     : *n;
    }
    return FAKE_DONE;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    fake->on_launch(count_turns);
    for (size_t n = 1; failing_allocator_start(n); n += STRIDE) {
        vyre_device *device;
        vyre_status status = walk(&device, false);
        vyre_status_code code = vyre_status_code_of(status);
        vyre_status_free(status);
        vyre_device_release(device);
        failing_allocator_stop();
        assert_int_equal(code, failing_allocator_failed() ? VYRE_STATUS_OUT_OF_MEMORY : 0);
        if (!failing_allocator_failed()) {
            break;
        }
    }
}

static void a_fault_loses_the_device(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    vyre_pipeline *pipeline, *old;
    expect_ok(vyre_device_compile(device, fault, NULL, &pipeline));
    expect_ok(vyre_device_compile(device, twice, NULL, &old));
    vyre_resident x = contract_resident(device, 1), y = contract_resident(device, 1);
    const vyre_binding bindings[] = {vyre_bind(x), vyre_bind(y)};
    vyre_ticket ticket;
    expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
    for (int i = 0; i < 2; i++) {
        expect_fail(vyre_device_wait(device, ticket), VYRE_STATUS_DEVICE_LOST, "Fake GPU 0");
    }
    assert_true(vyre_device_lost(device));
    expect_fail(dispatch(device, add, 0, 8), VYRE_STATUS_DEVICE_LOST, "lost");
    expect_fail(run_resident(device, true), VYRE_STATUS_DEVICE_LOST, "lost");
    expect_ok(vyre_device_recover(device));
    assert_false(vyre_device_lost(device));
    expect_works(device);
    expect_fail(vyre_device_wait(device, ticket), VYRE_STATUS_DEVICE_LOST, "lost together with");
    expect_fail(vyre_resident_free(device, x), VYRE_STATUS_INVALID_ARGUMENT, "freed or lost");
    expect_fail(vyre_pipeline_enqueue(old, bindings, 2, NULL, &ticket),
                VYRE_STATUS_INVALID_ARGUMENT, "before device");
    vyre_pipeline_release(pipeline);
    vyre_pipeline_release(old);
    expect_ok(run_resident(device, true));
    vyre_device_release(device);
    assert_int_equal(fake->live().blocks, 0);
    assert_int_equal(fake->live().contexts, 0);
}

static void a_fault_that_stays_asks_for_a_restart(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    fake->spec()->fails_to_reset = true;
    expect_fail(dispatch(device, fault, 1, 8), VYRE_STATUS_DEVICE_LOST, "ILLEGAL_ADDRESS");
    expect_fail(vyre_device_recover(device), VYRE_STATUS_DEVICE_LOST, "Fix: restart the process");
    assert_true(vyre_device_lost(device));
    expect_fail(dispatch(device, add, 0, 8), VYRE_STATUS_DEVICE_LOST, "lost");
    fake->spec()->fails_to_reset = false;
    expect_ok(vyre_device_recover(device)); /* it may be tried again */
    expect_works(device);
    vyre_device_release(device);
    assert_int_equal(fake->live().contexts, 0);
}

static void a_device_that_rounds_wrongly_is_refused(void **state) {
    (void)state;
    vyre_device *device = fake_device_open(0);
    fake->spec()->is_inexact = true;
    expect_fail(vyre_device_prepare(device), VYRE_STATUS_UNSUPPORTED, "+ of f32");
    fake->spec()->is_inexact = false;
    expect_works(device);
    vyre_device_release(device);
}

/* What is not there, each in a process of its own, since the driver is opened once. */
static void expect_absence(const char *variable, const char *value, const char *part) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        setenv(variable, value, 1);
        setenv("FAULT_PART", part, 1);
        execl("/proc/self/exe", "test_cuda_faults", "--absence", (char *)NULL);
        _exit(9);
    }
    int ended;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
}

static int tell_absence(void) {
    vyre_backend made = {.host = vyre_host_services()};
    vyre_status status = cuda_bundle.registrations[0].create(vyre_host_services(), 0, &made);
    const char *text = vyre_status_text(status);
    int result = vyre_status_code_of(status) == VYRE_STATUS_UNAVAILABLE &&
                         strstr(text, getenv("FAULT_PART")) && strstr(text, "Fix: ")
                     ? 0
                     : 1;
    if (result) {
        fprintf(stderr, "%s\n", text);
    }
    vyre_status_free(status);
    return result;
}

static void what_is_not_there_is_told(void **state) {
    (void)state;
    expect_absence("VYRE_CUDA", "none", "Fix: unset VYRE_CUDA");
    expect_absence("VYRE_CUDA", "no-such-library.so", "`no-such-library.so` cannot be opened");
    expect_absence("VYRE_CUDA", "libm.so.6", "too old: it lacks cuInit");
    expect_absence("FAKE_CUDA_DEVICES", "0", "the driver finds no device");
    expect_absence("FAKE_CUDA_VERSION", "10020", "for CUDA 10.2, is too old");
    expect_absence("FAKE_CUDA_MAJOR", "6", "compute capability 6.0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(int count, char **arguments) {
    static const struct CMUnitTest tests[] = {
        TEST(the_walk_uses_every_entry_point),
        TEST(every_entry_point_may_fail),
        TEST(every_entry_point_may_be_out_of_memory),
        TEST(every_entry_point_may_tell_of_a_fault),
        TEST(every_allocation_may_fail),
        TEST(a_fault_loses_the_device),
        TEST(a_fault_that_stays_asks_for_a_restart),
        TEST(a_device_that_rounds_wrongly_is_refused),
        TEST(what_is_not_there_is_told),
    };
    if (count > 1 && !strcmp(arguments[1], "--absence")) {
        return tell_absence();
    }
    fake = fake_device_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
