/* The vulkan backend's runtime on a device of this machine: phases, repeats and swaps, resident
 * buffers, tickets, timeouts, memory in place and through copies, threads. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/vulkan/backend.h"
#include "backend/vulkan/batch.h"
#include "backend/vulkan/executable.h"
#include "backend/vulkan/loader.h"
#include "base/clock.h"
#include "tests/gpu/loops.h"
#include "tests/unit/failing_allocator.h"
#include "tests/unit/settings.h"
#include "tests/unit/trial_check.h"
#include "tests/unit/vulkan_check.h"

#define STEPS                                                                                      \
    "program steps(n: u32, x: buffer<u32>, y: inout buffer<u32>, z: out buffer<u32>[len(x)]) { "   \
    "scratch s: u32[len(x)]; scratch left: u32[2]; "                                               \
    "phase over x { s[gid] = s[gid] + x[gid]; if gid == 0 { left[0] = 5; left[1] = n; } } "        \
    "repeat i in 3 { phase over x { s[gid] = s[gid] * 3 + i; } } "                                 \
    "phase over left[1] max len(x) { z[gid] = s[gid]; } "                                          \
    "repeat while left[0] { phase over x { y[gid] = y[gid] + s[gid]; } "                           \
    "phase over 1 { left[0] = left[0] - 1; } } }"
#define ROW                                                                                        \
    "program row(x: buffer<u32>, y: inout buffer<u32>) { scratch s: u32[len(x)]; "                 \
    "phase over x { s[gid] = s[gid] + x[gid] * 2; } phase over x { s[gid] = s[gid] + 1; } "        \
    "repeat i in 3 { phase over x { s[gid] = s[gid] * 3; } } "                                     \
    "phase over x { y[gid] = s[gid]; } }"
#define LONG_ROW                                                                                   \
    "program long_row(x: buffer<u32>, y: inout buffer<u32>) { "                                    \
    "repeat i in 2500 { phase over x { y[gid] = y[gid] * 5 + x[gid] + i; } } }"
#define SWAPPED                                                                                    \
    "program swapped(x: inout buffer<u32>, y: inout buffer<u32>) { scratch t: u32[len(x)]; "       \
    "repeat 3 { phase over x { t[gid] = y[gid] + x[gid]; } swap(x, t); } swap(x, y); }"
/* The phase overwrites the number that its own domain comes from. */
#define OVERWRITES                                                                                 \
    "program overwrites(x: buffer<u32>, y: out buffer<u32>[len(x)]) { scratch n: u32[1]; "         \
    "phase over 1 { n[0] = x[1]; } "                                                               \
    "phase over n[0] max len(x) { y[gid] = x[gid] + 1; if gid == 0 { n[0] = 0; } } "               \
    "phase over n[0] max len(x) { y[gid] = 99; } }"
/* Domains of several dimensions, of which the last may lack elements. */
#define BOXES                                                                                      \
    "program boxes(n: buffer<u32>, y: inout buffer<u32>) { "                                       \
    "phase over n[0] max (40, 30, 20) { let at = (gid.z * 30 + gid.y) * 40 + gid.x; "              \
    "y[at] = y[at] + at; } "                                                                       \
    "phase over n[1] max (50, 7) workgroup 8, 4 { "                                                \
    "if in_domain { let at = gid.y * 50 + gid.x; y[at] = y[at] * 3; } } "                          \
    "phase over n[2] max (50, 7) { y[gid.y * 50 + gid.x] = 99; } }"
/* Workgroups that wait for the one before. */
#define IN_ORDER                                                                                   \
    "program in_order(n: buffer<u32>, y: inout buffer<u32>) { scratch sums: u32[400]; "            \
    "repeat 2 { phase over 400 { sums[gid] = 0; } "                                                \
    "phase over n[0] max len(y) workgroup 64 { if lid == 0 { let at = gid / 64; var s: u32 = 1; "  \
    "if at > 0 { s = atomic_load(sums[at - 1], acquire); "                                         \
    "while s == 0 { s = atomic_load(sums[at - 1], acquire); } s = s * 3 + y[gid]; } "              \
    "y[gid] = s; atomic_store(sums[at], s | 1, release); } } } }"
/* Domains that earlier phases write, the phase itself, and swaps. */
#define SHRINKING                                                                                  \
    "program shrinking(n: inout buffer<u32>, y: inout buffer<u32>) { scratch m: u32[len(n)]; "     \
    "repeat i in 5 { phase over n[0] max len(y) { y[gid] = y[gid] * 3 + i; } "                     \
    "phase over 1 { n[0] = n[0] / 2; m[1] = n[2] + i; } "                                          \
    "phase over n[1] max (i + 2, 9) { n[1] = 1; atomic_add(y[gid.y * 9 + gid.x], 1); } swap(n, "   \
    "m); "                                                                                         \
    "phase over n[1] max len(y) { y[gid] = y[gid] + 7; } swap(n, m); } "                           \
    "repeat i in 4 { phase over n[3 - i] max len(y) { y[gid] = y[gid] + 1; n[3 - i] = 0; } } }"
/* Counters of steps lie side by side in the frame. */
#define COUNTERS                                                                                   \
    "program counters(y: inout buffer<u32>) { repeat i in 3 { repeat j in 2 { phase over y { "     \
    "y[gid] = y[gid] * 5 + i * 16 + j; } } } }"
#define GRID                                                                                       \
    "program grid(x: buffer<u32>, s: out buffer<u32>[len(x)], y: out buffer<u32>[len(x)]) "        \
    "over x workgroup 64 { s[gid] = x[gid]; grid_barrier; y[gid] = s[len(x) - 1 - gid]; }"
#define CUBE                                                                                       \
    "program cube(n: u32, y: out buffer<u32>[n * n * n], z: out buffer<u32>[n * n]) { "            \
    "phase over (n, n, n) { y[(gid.z * n + gid.y) * n + gid.x] = gid.x + 7 * gid.y + gid.z; } "    \
    "phase over (n, n) workgroup 4, 8 { let at = gid.y * n + gid.x; "                              \
    "if in_domain { z[at] = at + lid.x * wid.y; } } }"
#define BYTES                                                                                      \
    "program bytes(x: buffer<u8>, y: out buffer<u8>[len(x)]) over len(x) / 2 { "                   \
    "y[gid * 2] = x[gid * 2] + 1; }"
#define FOREVER                                                                                    \
    "program forever(x: inout buffer<u32>) over x { while x[gid] < 100 { x[gid] = x[gid] % 50; } " \
    "}"
#define LONG_LOOP                                                                                  \
    "program long_loop(n: u32, x: inout buffer<u32>) over x { var s = x[gid]; "                    \
    "for i in 0..n { s = s * 5 + (s >> 3) + i; } x[gid] = s; }"
#define SQUARE                                                                                     \
    "program square(n: u32, side: u32, y: out buffer<u32>[side * side]) over (n, n) workgroup 1 "  \
    "{ if gid.x < side && gid.y < side { y[gid.y * side + gid.x] = gid.x * 7 + gid.y; } }"
#define COUNTED                                                                                    \
    "program counted(n: u32, sides: buffer<u32>, y: inout buffer<u32>) "                           \
    "over sides[0] max (n, n) { if gid.x == 5 && gid.y == 1 { y[0] = n; } }"
#define FOREVER_WHILE                                                                              \
    "program forever_while(x: inout buffer<u32>) { "                                               \
    "repeat while x[0] { phase over x { x[gid] = x[gid] | 1; } } }"

/* Loops that end at once, and loops that no invocation comes to. */
#define EMPTY_LOOPS                                                                                \
    "program empty_loops(m: u32, n: u32, x: inout buffer<u32>) over x { var s = x[gid]; "          \
    "for i in 0..n { for j in 0..m { s = s * 3 + x[j]; } for j in 0..m { s = s ^ x[j + 1]; } "     \
    "s = s * 3 + i; } x[gid] = s; }"
#define SKIPPED_LOOPS                                                                              \
    "program skipped_loops(m: u32, n: u32, x: inout buffer<u32>) over x { var s = x[gid]; "        \
    "for i in 0..n { if m != 0 { for j in 0..m { s = s * 3 + x[j]; } "                             \
    "for j in 0..m { for k in 0..j { s = s ^ x[k]; } } } s = s * 3 + i; } x[gid] = s; }"
#define SHORT_LOOPS                                                                                \
    "program short_loops(m: u32, n: u32, x: inout buffer<u32>) over x workgroup 48 { "             \
    "var s = x[gid]; for i in 0..n { for j in 0..3 { for k in 0..2 { if s == m + k { break; } "    \
    "s = s * 3 + j; } } if lid % 5 == 1 { for j in 0..m { s += x[j]; } } } x[gid] = s; }"

enum { LENGTH = 1003 };

static void programs_on(vyre_device *device) {
    uint32_t x[LENGTH], y[LENGTH], k = 3, n = 700;
    contract_numbers(x, LENGTH);
    contract_numbers(y, LENGTH);
    const vyre_input whole = {x, sizeof x}, none = {NULL, 0},
                     two[] = {{x, sizeof x}, {y, sizeof y}};
    const vyre_input add[] = {{&k, 4}, {x, sizeof x}, {y, sizeof y}};
    const vyre_input steps[] = {{&n, 4}, {x, sizeof x}, {y, sizeof y}};
    expect_reference(device, TWICE, &whole, 1);
    expect_reference(device, TWICE, &none, 1);
    expect_reference(device, ADD, add, 3);
    expect_reference(device, STEPS, steps, 3);
    expect_reference(device, ROW, two, 2);
    expect_reference(device, SWAPPED, two, 2);
    expect_reference(device, OVERWRITES, &whole, 1);
    expect_reference(device, GRID, &whole, 1);
    expect_reference(device, COUNTERS, &whole, 1);
    const vyre_input few[] = {{x, 40}, {y, 40}};
    expect_reference(device, LONG_ROW, few, 2);
    for (size_t size = 0; size < 9; size++) {
        const vyre_input bytes = {(uint8_t *)x + 1, size};
        expect_reference(device, BYTES, &bytes, 1);
    }
}

static void runs_give_the_bytes_of_the_reference(void **state) {
    (void)state;
    vyre_device *device = vulkan_check_open();
    programs_on(device);
    vyre_device_release(device);
}

/* The same as if the device had memory of its own. */
static void copies_give_the_bytes_of_the_reference(void **state) {
    (void)state;
    vulkan_drill.is_discrete = true;
    vyre_device *device = vulkan_check_open();
    programs_on(device);
    enum { LARGE = (9 << 20) / 4 + 7 };
    uint32_t *x = malloc(LARGE * sizeof *x), word = 7;
    vyre_resident a, b;
    contract_numbers(x, LARGE);
    expect_ok(vyre_resident_allocate(device, LARGE * sizeof *x, &a));
    expect_ok(vyre_resident_allocate(device, LARGE * sizeof *x, &b));
    expect_ok(vyre_resident_upload(device, a, x, LARGE * sizeof *x));
    memset(x, 0, LARGE * sizeof *x);
    expect_ok(vyre_resident_copy(device, b, 0, a, 0, LARGE * sizeof *x));
    expect_ok(vyre_resident_read(device, b, 0, x, LARGE * sizeof *x));
    expect_numbers(x, LARGE, 1);
    expect_ok(vyre_resident_fill(device, b, 8, 16, &word, 4));
    expect_ok(vyre_resident_fill(device, b, 3, 2, &word, 1));
    expect_ok(vyre_resident_read(device, b, 0, x, 32));
    assert_int_equal(x[0], 0x07000001);
    assert_int_equal(x[1], 7);
    assert_int_equal(x[5], 7);
    assert_int_equal(x[6], 7);
    expect_ok(vyre_resident_free(device, a));
    expect_ok(vyre_resident_free(device, b));
    free(x);
    vyre_device_release(device);
    vulkan_drill.is_discrete = false;
}

/* More groups than a launch may have, and frames that do not fit into the push constants. */
static void small_devices_give_the_bytes_of_the_reference(void **state) {
    (void)state;
    vulkan_drill.is_small = true;
    vyre_device *device = vulkan_check_open();
    uint32_t side = 70;
    const vyre_input input = {&side, sizeof side};
    programs_on(device);
    expect_reference(device, CUBE, &input, 1);
    vyre_device_release(device);
    vulkan_drill.is_small = false;
}

/* A look at the stop word costs a CPU much: only runs with a timeout have code for it. */
static void cpus_have_code_for_runs_with_a_timeout(void **state) {
    (void)state;
    static const vyre_dispatch_config plain, timed = {.timeout_ns = UINT64_C(60000000000)},
                                             large = {.grid = {9, 1, 1}};
    vyre_program *program = contract_program(LONG_LOOP);
    vulkan_device *device;
    vulkan_executable *executable, *found, *again;
    expect_ok(vulkan_device_create(0, &device));
    expect_ok(vulkan_device_open(device));
    expect_ok(vulkan_executable_make(device, program, NULL, 0, NULL, &executable));
    bool is_cpu = device->info.type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    assert_int_equal(executable->variant, is_cpu ? 0 : VULKAN_STOPS);
    expect_ok(vulkan_executable_variant(executable, &plain, &found));
    assert_ptr_equal(found, executable);
    expect_ok(vulkan_executable_variant(executable, &timed, &found));
    assert_int_equal(found == executable, !is_cpu);
    assert_int_equal(found->variant, VULKAN_STOPS);
    expect_ok(vulkan_executable_variant(executable, &timed, &again));
    assert_ptr_equal(again, found);
    expect_ok(vulkan_executable_variant(executable, &large, &found));
    assert_int_equal(found->variant, executable->variant | VULKAN_GENERAL);
    vulkan_executable_release(executable);
    vyre_program_release(program);
    program = contract_program(TWICE);
    expect_ok(vulkan_executable_make(device, program, NULL, 0, NULL, &executable));
    expect_ok(vulkan_executable_variant(executable, &timed, &found));
    assert_ptr_equal(found, executable); /* there is no loop that could look */
    vulkan_executable_release(executable);
    vulkan_device_free(device);
    vyre_program_release(program);
}

/* What conformance runs with a timeout, without one. */
static void random_programs_give_the_bytes_of_the_reference(void **state) {
    (void)state;
    vyre_device *device = vulkan_check_open();
    uint64_t count = test_work(60, 8), seed = 700000 + test_seed();
    for (uint64_t k = 0; k < count; k++) {
        conform_trial trial;
        vyre_program *bare;
        expect_ok(conform_generate_small(seed + k, &trial));
        expect_ok(vyre_messages_drop(trial.program, &bare));
        trial_take(&trial, bare);
        size_t inputs;
        vyre_input *input = conform_trial_inputs(&trial, trial.program, &inputs);
        vyre_outputs found, expected;
        vyre_status status =
            vyre_device_dispatch(device, trial.program, input, inputs, NULL, &found);
        if (vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED) {
            vyre_status_free(status);
        } else {
            expect_ok(status);
            expect_ok(vyre_reference_run(trial.program, input, inputs, NULL, NULL, &expected));
            for (size_t i = 0; i < found.count; i++) {
                assert_memory_equal(found.items[i].data, expected.items[i].data,
                                    found.items[i].size);
            }
            vyre_outputs_free(&expected);
        }
        vyre_outputs_free(&found);
        vyre_free(input);
        conform_trial_free(&trial);
    }
    vyre_device_release(device);
}

/* A domain from an element of any type: of none, some, all, and more than the maximum. */
static void expect_domains_of(vyre_device *device, const char *type, uint32_t bytes) {
    static const int64_t numbers[] = {0,  1,   255,        256,       1003,      1004, 40000,
                                      -1, -40, 2147483648, INT64_MAX, INT64_MIN, 65537};
    char text[512];
    snprintf(text, sizeof text,
             "program domains(n: buffer<%s>, x: buffer<u32>, y: inout buffer<u32>) { "
             "phase over n[1] max len(x) { y[gid] = y[gid] + x[gid]; } "
             "phase over n[1] max 3 workgroup 64 { if in_domain { y[gid] = y[gid] * 3; } } "
             "phase over n[3] max len(x) { y[gid] = 99; } }",
             type);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint32_t x[LENGTH], y[LENGTH];
        uint8_t n[24];
        contract_numbers(x, LENGTH);
        contract_numbers(y, LENGTH);
        memset(n, 0x5a, sizeof n);
        memcpy(n + bytes, &numbers[i], bytes);
        const vyre_input inputs[] = {{n, (size_t)bytes * 3}, {x, sizeof x}, {y, sizeof y}};
        expect_reference(device, text, inputs, 3);
    }
}

static void domains_on(vyre_device *device) {
    static const char *const types[] = {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"};
    for (uint32_t i = 0; i < 8; i++) {
        expect_domains_of(device, types[i], 1 << i / 2);
    }
    uint32_t y[24000];
    for (uint32_t i = 0; i < 6; i++) {
        static const uint32_t sides[6][3] = {{40, 30, 20}, {0, 5, 5}, {7, 0, 3},
                                             {33, 9, 0},   {1, 1, 1}, {1000, 17, 6}};
        contract_numbers(y, 24000);
        const vyre_input inputs[] = {{sides[i], sizeof sides[i]}, {y, sizeof y}};
        expect_reference(device, BOXES, inputs, 2);
        expect_reference(device, IN_ORDER, inputs, 2);
    }
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t n[] = {i * 400, 3 * i, i, 1000 - 250 * i};
        contract_numbers(y, LENGTH);
        const vyre_input inputs[] = {{n, sizeof n}, {y, LENGTH * sizeof *y}};
        expect_reference(device, SHRINKING, inputs, 2);
    }
}

static void domains_come_from_memory(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        vulkan_drill.is_discrete = i;
        vyre_device *device = vulkan_check_open();
        domains_on(device);
        vyre_device_release(device);
    }
    vulkan_drill.is_discrete = false;
}

static struct {
    PFN_vkCmdDispatchIndirect dispatch;
    VkBuffer buffer;
    VkDeviceSize offset;
    uint32_t count;
} indirect;

static VKAPI_ATTR void VKAPI_CALL note_indirect(VkCommandBuffer commands, VkBuffer buffer,
                                                VkDeviceSize offset) {
    indirect.buffer = buffer;
    indirect.offset = offset;
    indirect.count++;
    indirect.dispatch(commands, buffer, offset);
}

/* As many workgroups are dispatched as the domain has, no more than the maximum has, and no
 * more than a few thousand. */
static void few_workgroups_are_dispatched(void **state) {
    (void)state;
    static const struct {
        const char *domain;
        uint32_t sides[3], grid[3];
    } rows[] = {
        {"16777216", {1000, 0, 0}, {4, 1, 1}},
        {"16777216", {0, 0, 0}, {0, 1, 1}},
        {"16777216", {16000000, 0, 0}, {4096, 1, 1}},
        {"1000", {UINT32_MAX, 0, 0}, {4, 1, 1}},
        {"(512, 512, 512)", {33, 17, 1}, {2, 3, 1}},
        {"(512, 512, 512)", {33, 17, 0}, {2, 3, 0}},
        {"(512, 512, 512)", {512, 512, 512}, {16, 64, 4}},
        {"(512, 512) workgroup 8, 4", {9, 1000, 7}, {2, 128, 1}},
    };
    vyre_device *device = vulkan_check_open();
    vulkan_device *own = device->backend->state;
    expect_works(device); /* it is open */
    indirect.dispatch = own->vk.vkCmdDispatchIndirect;
    own->vk.vkCmdDispatchIndirect = note_indirect;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "program few(n: buffer<u32>, y: inout buffer<u32>) { phase over n[0] max %s { "
                 "atomic_add(y[0], 1); } }",
                 rows[i].domain);
        uint32_t y[1] = {0};
        const vyre_input inputs[] = {{rows[i].sides, sizeof rows[i].sides}, {y, sizeof y}};
        vyre_program *program = contract_program(text);
        vyre_outputs outputs;
        indirect.count = 0;
        expect_ok(vyre_device_dispatch(device, program, inputs, 2, NULL, &outputs));
        assert_int_equal(indirect.count, 1);
        const vulkan_batch *batch = own->free_batches;
        assert_true(batch && batch->frames && batch->frames->chunk->buffer == indirect.buffer);
        const uint8_t *grid = batch->frames->chunk->mapped + indirect.offset;
        assert_memory_equal(grid, rows[i].grid, sizeof rows[i].grid);
        vyre_outputs_free(&outputs);
        vyre_program_release(program);
    }
    own->vk.vkCmdDispatchIndirect = indirect.dispatch;
    vyre_device_release(device);
}

static void loops_are_those_of_the_reference(void **state) {
    (void)state;
    vyre_device *device = vulkan_check_open();
    for (size_t p = 0; p < sizeof loops / sizeof *loops; p++) {
        for (size_t t = 0; t < 8; t++) {
            uint32_t left = loop_turns[t], y[70];
            contract_numbers(y, 70);
            const vyre_input inputs[] = {{&left, sizeof left}, {y, sizeof y}};
            expect_reference(device, loops[p], inputs, 2);
        }
    }
    vyre_device_release(device);
}

/* A driver may count turns that nobody asked for. Who gives up says so, and nobody gives up
 * early.
 */
static void long_loops_are_whole_or_refused(void **state) {
    (void)state;
    static const char *const texts[] = {EMPTY_LOOPS, SKIPPED_LOOPS, SHORT_LOOPS};
    static const uint32_t turns[] = {100, 8000, 16000, 22000, 33000, 70000};
    vyre_device *device = vulkan_check_open();
    for (size_t i = 0; i < 18; i++) {
        uint32_t m = 0, n = turns[i % 6], x[100];
        contract_numbers(x, 100);
        const vyre_input inputs[] = {{&m, 4}, {&n, 4}, {x, sizeof x}};
        vyre_program *program = contract_program(texts[i / 6]);
        vyre_outputs outputs;
        vyre_status status = vyre_device_dispatch(device, program, inputs, 3, NULL, &outputs);
        if (i % 6 && vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED) {
            expect_fail(status, VYRE_STATUS_UNSUPPORTED, "turns");
        } else {
            expect_ok(status);
            expect_reference(device, texts[i / 6], inputs, 3);
        }
        vyre_outputs_free(&outputs);
        vyre_program_release(program);
    }
    vyre_device_release(device);
}

/* Large arrays are used where they are, and nothing around them is touched. */
static void memory_is_used_in_place(void **state) {
    (void)state;
    enum { LARGE = 100003, MARGIN = 64 };
    vyre_device *device = vulkan_check_open();
    vyre_program *program = contract_program(TWICE);
    uint32_t *x = malloc((LARGE + 2 * MARGIN) * 4), *y = malloc((LARGE + 2 * MARGIN) * 4);
    contract_numbers(x, LARGE + 2 * MARGIN);
    for (size_t offset = MARGIN; offset < MARGIN + 3; offset++) {
        memset(y, 0x55, (LARGE + 2 * MARGIN) * 4);
        const vyre_output arguments[] = {{(uint8_t *)(x + offset), LARGE * 4},
                                         {(uint8_t *)(y + offset), LARGE * 4}};
        expect_ok(vyre_device_dispatch_in_place(device, program, arguments, 2, NULL));
        for (size_t i = 0; i < LARGE + 2 * MARGIN; i++) {
            bool inside = i >= offset && i < offset + LARGE;
            assert_int_equal(x[i], i + 1);
            assert_int_equal(y[i], inside ? 2 * (i + 1) : 0x55555555);
        }
    }
    free(x);
    free(y);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void enqueued_runs_keep_their_order(void **state) {
    (void)state;
    vyre_device *device = vulkan_check_open();
    vyre_program *program = contract_program(ADD);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    assert_true(vyre_pipeline_is_native(pipeline));
    vyre_resident a = contract_resident(device, 1), b = contract_resident(device, 1);
    vyre_ticket ticket = 0, before;
    uint32_t fibonacci[2] = {1, 1};
    for (int i = 0; i < 200; i++) { /* b += a; a += b */
        before = ticket;
        const vyre_binding bindings[] = {vyre_bind_u32(1), vyre_bind(i % 2 ? b : a),
                                         vyre_bind(i % 2 ? a : b)};
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
        assert_true(ticket > before);
        fibonacci[1 - i % 2] += fibonacci[i % 2];
    }
    expect_ok(vyre_device_wait(device, ticket));
    assert_true(vyre_device_is_done(device, ticket));
    uint32_t found;
    expect_ok(vyre_resident_read(device, a, 0, &found, 4));
    assert_int_equal(found, fibonacci[0]);
    expect_ok(vyre_resident_read(device, b, 0, &found, 4));
    assert_int_equal(found, fibonacci[1]);
    expect_ok(vyre_resident_free(device, a));
    expect_ok(vyre_resident_free(device, b));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_device_release(device);
}

static void kernels_end_at_their_timeout(void **state) {
    (void)state;
    static const char *const texts[] = {FOREVER, FOREVER_WHILE};
    vyre_device *device = vulkan_check_open();
    for (size_t i = 0; i < 2; i++) {
        vyre_program *program = contract_program(texts[i]);
        uint32_t x[CONTRACT_LENGTH] = {1, 2, 3};
        const vyre_input input = {x, sizeof x};
        const vyre_dispatch_config config = {.timeout_ns = 300000000};
        vyre_pipeline *pipeline;
        vyre_outputs outputs;
        expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
        uint64_t start = vyre_now_ns();
        vyre_status status = vyre_device_dispatch(device, program, &input, 1, &config, &outputs);
        if (vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED) { /* the driver ends loops */
            expect_fail(status, VYRE_STATUS_UNSUPPORTED, "turns");
        } else {
            expect_fail(status, VYRE_STATUS_TIMEOUT, "took longer than its timeout");
        }
        assert_true(vyre_now_ns() - start < UINT64_C(15000000000));
        vyre_outputs_free(&outputs);
        vyre_pipeline_release(pipeline);
        vyre_program_release(program);
    }
    expect_works(device);
    vyre_device_release(device);
}

/* Without loops nobody looks at the stop word: a grid comes in parts. Where the domain is from
 * memory, workgroups look between their groups. A whole grid would take hours. */
static void grids_end_at_their_timeout(void **state) {
    (void)state;
    enum { SIDE = 600 };
    static const struct {
        uint32_t n;
        uint64_t timeout_ns;
    } rows[] = {{SIDE, UINT64_C(60000000000)}, {1 << 22, 300000000}};
    vyre_device *device = vulkan_check_open();
    vyre_program *program = contract_program(SQUARE);
    for (size_t i = 0; i < 2; i++) {
        const uint32_t n = rows[i].n, side = SIDE;
        const vyre_input inputs[] = {{&n, sizeof n}, {&side, sizeof side}};
        const vyre_dispatch_config config = {.timeout_ns = rows[i].timeout_ns};
        vyre_outputs outputs;
        vyre_status status = vyre_device_dispatch(device, program, inputs, 2, &config, &outputs);
        if (n == side) {
            expect_ok(status);
            const uint32_t *y = (const uint32_t *)(const void *)outputs.items[0].data;
            for (uint32_t at = 0; at < side * side; at++) {
                assert_int_equal(y[at], at % side * 7 + at / side);
            }
        } else {
            expect_fail(status, VYRE_STATUS_TIMEOUT, "took longer than its timeout");
        }
        vyre_outputs_free(&outputs);
    }
    vyre_program_release(program);
    program = contract_program(COUNTED);
    const uint32_t most = UINT32_MAX, sides[2] = {UINT32_MAX, 20};
    const vyre_input inputs[] = {{&most, sizeof most}, {sides, sizeof sides}, {&most, sizeof most}};
    const vyre_dispatch_config config = {.timeout_ns = 300000000};
    vyre_outputs outputs;
    vyre_status status = vyre_device_dispatch(device, program, inputs, 3, &config, &outputs);
    bool has_end = vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED; /* of loops */
    expect_fail(status, has_end ? VYRE_STATUS_UNSUPPORTED : VYRE_STATUS_TIMEOUT,
                has_end ? "turns" : "took longer than its timeout");
    vyre_outputs_free(&outputs);
    expect_works(device);
    vyre_program_release(program);
    vyre_device_release(device);
}

/* A run that waits in the queue past its timeout is no sign of a kernel that does not end. */
static void a_queue_is_no_loss(void **state) {
    (void)state;
    enum { LARGE = 20000, RUNS = 4, TURNS = 10000 };
    vulkan_drill.grace_ns = 300000000;
    vyre_device *device = vulkan_check_open();
    vyre_program *program = contract_program(LONG_LOOP), *twice = contract_program(TWICE);
    vyre_pipeline *pipeline;
    vyre_resident x;
    vyre_ticket ticket = 0;
    uint32_t few[CONTRACT_LENGTH] = {1}, turns = TURNS;
    const vyre_input input = {few, sizeof few};
    const vyre_dispatch_config config = {.timeout_ns = 50000000};
    vyre_outputs outputs;
    expect_works(device);
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    expect_ok(vyre_resident_allocate(device, LARGE * sizeof turns, &x));
    const vyre_binding bindings[] = {vyre_bind_u32(turns), vyre_bind(x)};
    for (int i = 0; i < RUNS; i++) {
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 2, NULL, &ticket));
    }
    vyre_status status = vyre_device_dispatch(device, twice, &input, 1, &config, &outputs);
    if (status) {
        expect_fail(status, VYRE_STATUS_TIMEOUT, "took longer than its timeout");
    }
    vyre_outputs_free(&outputs);
    expect_ok(vyre_device_wait(device, ticket));
    expect_works(device);
    vulkan_drill.grace_ns = 0;
    expect_ok(vyre_resident_free(device, x));
    vyre_pipeline_release(pipeline);
    vyre_program_release(program);
    vyre_program_release(twice);
    vyre_device_release(device);
}

static VkResult lose(void) {
    return VK_ERROR_DEVICE_LOST;
}

static void a_lost_device_recovers(void **state) {
    (void)state;
    vyre_device *device = vulkan_check_open();
    vyre_program *program = contract_program(TWICE);
    uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    const vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    vyre_resident kept = contract_resident(device, 1);
    expect_works(device);
    vulkan_drill.submit = lose;
    expect_fail(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs),
                VYRE_STATUS_DEVICE_LOST, "VK_ERROR_DEVICE_LOST");
    vyre_outputs_free(&outputs);
    vulkan_drill.submit = NULL;
    assert_true(vyre_device_lost(device));
    expect_fail(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs),
                VYRE_STATUS_DEVICE_LOST, "lost");
    vyre_outputs_free(&outputs);
    expect_ok(vyre_device_recover(device));
    expect_works(device);
    (void)kept;
    vyre_program_release(program);
    vyre_device_release(device);
}

/* Some memory is not missed: a cache, or what is known of loops. True when n is beyond the
 * last. */
static bool judge(size_t n, vyre_status status) {
    vyre_status_code code = vyre_status_code_of(status);
    bool failed = failing_allocator_failed();
    if (code && (code != VYRE_STATUS_OUT_OF_MEMORY || !failed)) {
        fail_msg("allocation %zu fails: %s", n, vyre_status_text(status));
    }
    vyre_status_free(status);
    return n && !failed;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const char *const texts[] = {ROW, SWAPPED, SHRINKING};
    if (getenv("VK_INSTANCE_LAYERS")) { /* takes long, and layers see nothing new of it */
        return;
    }
    uint32_t x[CONTRACT_LENGTH], y[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    contract_numbers(y, CONTRACT_LENGTH);
    const vyre_input inputs[] = {{x, sizeof x}, {y, sizeof y}};
    vyre_device *device = vulkan_check_open();
    vyre_device_cache_limit(device, 0);
    for (size_t p = 0; p < 3; p++) {
        vyre_program *program = contract_program(texts[p]);
        bool is_over = false;
        for (size_t n = 0; !is_over; n += n < 40 ? 1 : 23) {
            vyre_outputs outputs;
            failing_allocator_start(n);
            vyre_status status = vyre_device_dispatch(device, program, inputs, 2, NULL, &outputs);
            vyre_outputs_free(&outputs);
            failing_allocator_end();
            is_over = judge(n, status);
        }
        vyre_program_release(program);
    }
    vyre_device_release(device);
    /* A device, its memory and a run on resident buffers. */
    vyre_program *program = contract_program(TWICE);
    bool is_over = false;
    for (size_t n = 1; !is_over; n += n < 60 ? 1 : 17) {
        vyre_pipeline *pipeline = NULL;
        vyre_resident a = {0}, b = {0};
        vyre_ticket ticket = 0;
        device = NULL;
        failing_allocator_start(n);
        vyre_status status = vyre_acquire("vulkan", &device);
        status = status ? status : vyre_device_compile(device, program, NULL, &pipeline);
        status = status ? status : vyre_resident_allocate(device, sizeof x, &a);
        status = status ? status : vyre_resident_allocate(device, 1 << 20, &b);
        status = status ? status : vyre_resident_upload(device, a, x, sizeof x);
        if (!status) {
            vyre_resident fits;
            status = vyre_resident_allocate(device, sizeof x, &fits);
            const vyre_binding own[] = {vyre_bind(a), vyre_bind(fits)};
            status = status ? status : vyre_pipeline_enqueue(pipeline, own, 2, NULL, &ticket);
            status = status ? status : vyre_device_wait(device, ticket);
        }
        vyre_pipeline_release(pipeline);
        vyre_device_release(device);
        failing_allocator_end();
        is_over = judge(n, status);
    }
    vyre_program_release(program);
}

enum { THREADS = 32 };

static void *run_many(void *argument) {
    vyre_device *device = argument;
    vyre_program *add = contract_program(ADD), *row = contract_program(ROW);
    uint32_t x[CONTRACT_LENGTH], k = 2;
    contract_numbers(x, CONTRACT_LENGTH);
    const vyre_input inputs[] = {{&k, 4}, {x, sizeof x}, {x, sizeof x}};
    vyre_resident a = contract_resident(device, 1), b = contract_resident(device, 1);
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, add, NULL, &pipeline));
    for (uint32_t i = 0; i < 8; i++) {
        vyre_outputs outputs;
        vyre_ticket ticket;
        expect_ok(vyre_device_dispatch(device, add, inputs, 3, NULL, &outputs));
        expect_numbers(outputs.items[0].data, CONTRACT_LENGTH, 3);
        vyre_outputs_free(&outputs);
        const vyre_binding bindings[] = {vyre_bind_u32(1), vyre_bind(a), vyre_bind(b)};
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
        expect_ok(vyre_device_dispatch(device, row, &inputs[1], 2, NULL, &outputs));
        assert_int_equal(*(const uint32_t *)(const void *)outputs.items[0].data, 81);
        vyre_outputs_free(&outputs);
        expect_ok(vyre_device_wait(device, ticket));
        expect_resident(device, b, 2 + i);
    }
    expect_ok(vyre_resident_free(device, a));
    expect_ok(vyre_resident_free(device, b));
    vyre_pipeline_release(pipeline);
    vyre_program_release(add);
    vyre_program_release(row);
    return NULL;
}

static void threads_share_a_device(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    vyre_device *device = vulkan_check_open();
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_many, device), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    vyre_device_release(device);
}

/* The drivers' threads are the parent's. */
static void children_are_refused(void **state) {
    (void)state;
    pid_t child = fork();
    if (!child) {
        const vulkan_instance *vulkan;
        vyre_status status = vulkan_loader_open(&vulkan);
        _exit(vyre_status_code_of(status) == VYRE_STATUS_UNAVAILABLE ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
}

/* Claims, each with what it takes to make them. */
static void claims_are_honest(void **state) {
    (void)state;
    vyre_device *device = vulkan_check_open();
    vyre_profile profile;
    vyre_device_profile(device, &profile);
    assert_string_equal(vyre_device_name(device), "vulkan");
    assert_int_equal(profile.grade, VYRE_GRADE_EXACT);
    assert_true(vyre_device_features(device) & VYRE_FEATURE_INDIRECT_DISPATCH);
    assert_true(profile.max_storage_buffer_bytes >= 128 << 20);
    assert_non_null(strstr(profile.driver, "corrects f32: "));
    if (profile.flags & VYRE_PROFILE_SUPPORTS_DEVICE_TIMESTAMPS) {
        vyre_program *program = contract_program(TWICE);
        uint32_t x[CONTRACT_LENGTH];
        contract_numbers(x, CONTRACT_LENGTH);
        const vyre_input input = {x, sizeof x};
        vyre_outputs outputs;
        vyre_timing timing;
        expect_ok(vyre_device_dispatch_timed(device, program, &input, 1, NULL, &outputs, &timing));
        expect_twice(&outputs);
        assert_true(timing.device_ns <= timing.wall_ns);
        assert_true(timing.wait_ns <= timing.wall_ns);
        vyre_program_release(program);
    }
    vyre_device_release(device);
}

int main(void) {
    if (!vulkan_check_begin()) {
        return VULKAN_SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_are_honest),
        cmocka_unit_test(runs_give_the_bytes_of_the_reference),
        cmocka_unit_test(copies_give_the_bytes_of_the_reference),
        cmocka_unit_test(small_devices_give_the_bytes_of_the_reference),
        cmocka_unit_test(cpus_have_code_for_runs_with_a_timeout),
        cmocka_unit_test(random_programs_give_the_bytes_of_the_reference),
        cmocka_unit_test(domains_come_from_memory),
        cmocka_unit_test(few_workgroups_are_dispatched),
        cmocka_unit_test(loops_are_those_of_the_reference),
        cmocka_unit_test(long_loops_are_whole_or_refused),
        cmocka_unit_test(memory_is_used_in_place),
        cmocka_unit_test(enqueued_runs_keep_their_order),
        cmocka_unit_test(kernels_end_at_their_timeout),
        cmocka_unit_test(grids_end_at_their_timeout),
        cmocka_unit_test(a_queue_is_no_loss),
        cmocka_unit_test(a_lost_device_recovers),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(threads_share_a_device),
        cmocka_unit_test(children_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
