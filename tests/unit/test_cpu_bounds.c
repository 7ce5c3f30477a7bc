/* Bounds in the code of the cpu backend: checks that were left out, loops that are tested once,
 * lanes at constant distances. Every buffer lies between guard pages, and bytes are the oracle's.
 */
#define _GNU_SOURCE /* guarded.h */

#include "backend/reference/backend.h"
#include "tests/unit/cpu_check.h"
#include "tests/unit/guarded.h"
#include "tests/unit/index_programs.h"
#include "tests/unit/settings.h"

static vyre_device *oracle, *cpu;
static const char *const widths[] = {"4", "8", "16", "1x2"};
enum { WIDTHS = sizeof widths / sizeof *widths };

static int open_devices(void **state) {
    (void)state;
    guarded_expect_ok(vyre_reference_open_oracle(&oracle));
    guarded_expect_ok(vyre_acquire("cpu", &cpu));
    vyre_device_cache_limit(cpu, 0); /* another width is other code */
    return 0;
}

static int close_devices(void **state) {
    (void)state;
    vyre_device_release(oracle);
    vyre_device_release(cpu);
    return 0;
}

/* Buffers end at a page, or begin there, in turn. */
static uint32_t turns;

/* Another width is other code; with one the code is kept. */
static void take_width(size_t k) {
    setenv("VYRE_CPU_LANES", widths[k], 1);
    vyre_device_cache_limit(cpu, 0);
    vyre_device_cache_limit(cpu, 1 << 20);
}

static void run_text(const char *text, const vyre_input *inputs, size_t count, size_t first,
                     size_t step) {
    vyre_program *program = contract_program(text);
    for (size_t k = first; k < WIDTHS; k += step) {
        take_width(k);
        guarded_run(oracle, cpu, program, inputs, count, NULL, turns++ % 2);
    }
    vyre_program_release(program);
}

static void programs_about_indices(void **state) {
    (void)state;
    static index_program p;
    uint64_t first = test_seed() * 1000;
    for (uint64_t seed = first; seed < first + test_work(12, 4); seed++) {
        index_generate(&p, seed);
        if (getenv("VYRE_TEST_SHOW")) {
            print_message("%llu\n%s\n", (unsigned long long)seed, vyre_strbuf_string(&p.text));
        }
        run_text(vyre_strbuf_string(&p.text), p.inputs, INDEX_INPUTS, 0, 1);
        vyre_strbuf_free(&p.text);
    }
}

static uint32_t numbers[4096];

static void fill_numbers(void) {
    uint64_t random = 7;
    for (size_t i = 0; i < 4096; i++) {
        numbers[i] = (uint32_t)vyre_random(&random);
    }
}

/* A domain that the config makes larger, or smaller, than what the buffers were made for. */
static void domains_of_the_config(void **state) {
    (void)state;
    fill_numbers();
    static const char text[] = "program p(x: buffer<u32>, y: inout buffer<u32>[len(x)]) over x { "
                               "y[gid] = x[gid] + y[gid] + x[len(x) - 1 - gid]; }";
    const vyre_input inputs[] = {{numbers, 400}, {numbers + 100, 400}};
    static const uint32_t grids[] = {1, 99, 100, 101, 128, 5000};
    vyre_program *program = contract_program(text);
    for (size_t k = 0; k < WIDTHS; k++) {
        take_width(k);
        for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
            const vyre_dispatch_config config = {.grid = {grids[i], 0, 0}};
            guarded_run(oracle, cpu, program, inputs, 2, &config, turns++ % 2);
        }
    }
    vyre_program_release(program);
}

static void run_loops(const vyre_program *program, uint32_t turn) {
    static const uint32_t hostile[] = {0, 1, 2, 4294967295, 4294967290, 2147483648, 3, 17};
    uint64_t random = turn;
    uint32_t k = (uint32_t)vyre_random_below(&random, 40);
    uint32_t first = turn % 3 ? (uint32_t)vyre_random_below(&random, 8) : hostile[turn % 8];
    uint32_t step = turn % 5 ? 1 + (uint32_t)vyre_random_below(&random, 3) : hostile[turn % 7];
    size_t a = (size_t)vyre_random_below(&random, 600) * 4;
    size_t b = (size_t)vyre_random_below(&random, 80) * 4;
    const vyre_input inputs[] = {{&k, 4}, {&first, 4}, {&step, 4}, {numbers, a}, {numbers, b}};
    guarded_run(oracle, cpu, program, inputs, 5, NULL, turn % 2);
}

/* Rows of a matrix times a vector; some rows lie past the end, so both forms of the loop run. */
static void loops_are_tested_once(void **state) {
    (void)state;
    fill_numbers();
    static const char text[] =
        "program p(k: u32, first: u32, step: u32, a: buffer<u32>, b: buffer<u32>, y: out "
        "buffer<u32>[70]) over y { var sum = 0u; for i in first..k step step { sum = sum * 3 + "
        "a[gid * 8 + i] + b[i] + b[k - i] + b[first * i + 3]; } for i in 0..k { sum += a[i * 16 "
        "+ gid] * b[i - first]; } for i in -2i..i32(k) { sum += a[i] + a[i32(gid) - i]; } y[gid] "
        "= sum; }";
    vyre_program *program = contract_program(text);
    for (size_t k = 0; k < WIDTHS; k++) {
        take_width(k);
        for (uint32_t turn = 0; turn < 24; turn++) {
            run_loops(program, turn + (uint32_t)k);
        }
    }
    vyre_program_release(program);
}

/* All widths of elements, distances and numbers of neighbours. */
static void distances(void **state) {
    (void)state;
    fill_numbers();
    static const char *const types[] = {"u8", "i8", "u16", "f16", "u32", "f32", "u64", "f64"};
    static const uint32_t strides[] = {1, 2, 3, 4, 7, 8, 16, 17, 64, 65};
    for (uint32_t turn = 0; turn < 40; turn++) {
        const char *type = types[turn % 8];
        uint32_t stride = strides[turn % 10], neighbours = 1 + turn % 17;
        size_t bytes = vyre_type_bytes(vyre_type_from_name((vyre_str){type, strlen(type)}));
        char text[4096];
        int at = snprintf(text, sizeof text,
                          "program p(x: buffer<%s>, y: out buffer<%s>[%u * 41], z: out "
                          "buffer<%s>[len(x)]) over 41 { ",
                          type, type, neighbours, type);
        for (uint32_t i = 0; i < neighbours; i++) {
            at += snprintf(text + at, sizeof text - (size_t)at,
                           "let v%u = x[gid * %u + %u]; y[gid * %u + %u] = v%u; ", i, stride, i,
                           neighbours, i, i);
        }
        snprintf(text + at, sizeof text - (size_t)at, "z[gid * %u] = v0; }", stride);
        /* Long enough for some lanes, or for all. */
        size_t most = sizeof numbers / bytes, elements = turn % 3 ? stride * 40 + neighbours : 30;
        const vyre_input input = {numbers, (elements < most ? elements : most) * bytes};
        run_text(text, &input, 1, turn / 8 % 2, 2); /* each type meets every width */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_about_indices),
        cmocka_unit_test(domains_of_the_config),
        cmocka_unit_test(loops_are_tested_once),
        cmocka_unit_test(distances),
    };
    contract_without_cache();
    return cpu_check_available() ? cmocka_run_group_tests(tests, open_devices, close_devices)
                                 : CPU_SKIPPED;
}
