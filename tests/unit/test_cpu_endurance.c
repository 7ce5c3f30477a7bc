/* Programs compiled and run one after the other, each another one: memory stays as it is. */
#include "tests/unit/cpu_check.h"

#include <unistd.h>

#include <vyre/text.h>

#include "backend/cpu/runtime/backend.h"
#include "runtime/device.h"
#include "tests/unit/settings.h"

enum { LENGTH = 500 };

/* A phase by itself, several in turn, and workgroups that wait; `%u` makes each one new. */
static const char *const kinds[] = {
    "program one(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid] + %uu; }",
    "program steps(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch s: u32[len(x)]; "
    "phase over x { s[gid] = x[gid] * 3; } repeat 2 { phase over x { s[gid] += %uu; } } "
    "phase over x { y[gid] = s[gid] - x[gid] * 2 - %uu; } }",
    "program groups(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x workgroup 64 { "
    "shared t: u32[64]; t[lid] = x[gid]; barrier; let v = t[63 - lid]; barrier; t[63 - lid] = v; "
    "barrier; grid_barrier; if in_domain { y[gid] = x[gid] + %uu; } }",
};

static size_t resident_bytes(void) {
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &all, &resident), 2);
    fclose(file);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void cycle(vyre_device *device, uint32_t number) {
    static uint32_t x[LENGTH];
    char text[512];
    snprintf(text, sizeof text, kinds[number % 3], number, number);
    vyre_program *program = contract_program(text);
    vyre_pipeline *pipeline;
    vyre_outputs outputs;
    const vyre_input input = {x, sizeof x};
    for (uint32_t i = 0; i < LENGTH; i++) {
        x[i] = i * 7;
    }
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    assert_true(vyre_pipeline_is_native(pipeline));
    expect_ok(vyre_pipeline_dispatch(pipeline, &input, 1, NULL, &outputs));
    for (uint32_t i = 0; i < LENGTH; i++) {
        assert_int_equal(((uint32_t *)(void *)outputs.items[0].data)[i], x[i] + number);
    }
    vyre_outputs_free(&outputs);
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
}

static void memory_stays_flat(void **state) {
    (void)state;
    const size_t room = (size_t)4 << 20; /* for what the C library has not given back */
    uint32_t cycles = (uint32_t)test_work(300, 40);
    size_t warm = 0;
    vyre_device *device = NULL;
    for (uint32_t i = 0; i < cycles; i++) {
        if (i % 100 == 0) {
            vyre_device_release(device);
            vyre_backend made = {.host = vyre_host_services()};
            expect_ok(cpu_bundle.registrations[0].create(vyre_host_services(), 0, &made));
            expect_ok(vyre_device_open(&made, "cpu", 0, &device));
            vyre_device_cache_limit(device, 0);
        }
        cycle(device, i);
        if (i == cycles / 4) {
            warm = resident_bytes();
        }
    }
    vyre_device_release(device);
    size_t end = resident_bytes();
    print_message(
        "%u programs compiled and run: %.1f MiB after a quarter of them, %.1f at the end\n", cycles,
        (double)warm / 1048576, (double)end / 1048576);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(end < warm + room);
#else
    (void)room; /* sanitizers keep what was freed */
#endif
}

int main(void) {
    contract_without_cache();
    if (!cpu_check_available()) {
        return CPU_SKIPPED;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_stays_flat)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
