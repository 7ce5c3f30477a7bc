/* Programs of all kinds of steps, for tests of whoever runs them. Each takes a number and two
 * buffers of 12 elements: n: u32, x: inout buffer<u32>, y: inout buffer<u32>. */
#ifndef VYRE_TESTS_STEP_CHECK_H
#define VYRE_TESTS_STEP_CHECK_H

#include <stdio.h>

#include <vyre/reference.h>
#include <vyre/vyre.h>

#include "tests/unit/contract_check.h"

enum { STEP_LENGTH = 12 };

#define STEP_HEAD "program p(n: u32, x: inout buffer<u32>, y: inout buffer<u32>) {"
#define STEP_TEMP STEP_HEAD "scratch t: u32[len(x)];"
#define STEP_GO STEP_TEMP "scratch go: u32[1]; phase over 1 { go[0] = n; }"

static const char *const step_texts[] = {
    /* Counters in domains, counts and indices. */
    STEP_HEAD "repeat k in n { phase over len(x) - k { x[gid] = x[gid] * 3 + k; } } }",
    STEP_HEAD "repeat k in 2..n { phase over (k, n - k) { atomic_add(x[gid.x], gid.y + k); } } }",
    STEP_HEAD "repeat k in n { repeat j in k..n { phase over j - k + 1 { x[gid] += j * k; } } } }",
    STEP_HEAD "repeat k in n { repeat j in n - k { phase over n - k - j { x[gid] += 1; } } } }",
    STEP_HEAD "repeat k in n { phase over y[k] max 9 { x[gid] += k + 1; } } }",
    STEP_HEAD "repeat k in n { phase over ceil_div(12, k + 1) workgroup 2 {"
              " x[gid] += num_workgroups; } } }",
    STEP_HEAD "repeat k in n { phase over 12 - k workgroup 4 { y[gid] = x[11 - gid]; grid_barrier;"
              " x[gid] += y[gid / 2]; } } }",
    STEP_GO "repeat k while go[0] { phase over 5 - k { x[gid] += k + 1; }"
            " phase over 1 { go[0] -= 1; } } }",
    STEP_GO "repeat k while go[0] { repeat j in min(k, 3) { phase over j + 1 { x[gid] += k; } }"
            " phase over 1 { go[0] -= 1; } } }",
    STEP_GO "repeat k in 3 { phase over 1 { go[0] = n; } repeat while go[0] {"
            " phase over k + 1 { x[gid] += 1; } phase over 1 { go[0] -= 1; } } } }",
    /* Swaps: with scratch, of two buffers, of three arrays, conditional, and inside repeats. */
    STEP_TEMP "repeat n { phase over x { t[gid] = x[gid] * 2 + 1; } swap(x, t); } }",
    STEP_HEAD "repeat k in n { phase over x { x[gid] += k + 1; } swap(x, y); } }",
    STEP_TEMP "repeat k in n { phase over x { x[gid] += k + 1; } swap(x, y); swap(y, t); } }",
    STEP_TEMP
    "phase over t { t[gid] = 7; } swap(x, t); swap(t, y); phase over x { x[gid] += 1; } }",
    STEP_TEMP "swap(x, t); repeat n { phase over x { x[gid] += y[gid]; } } }",
    STEP_GO "repeat k while go[0] { phase over x { t[gid] = x[gid] * 3 + k; } swap(x, t);"
            " phase over 1 { go[0] -= 1; } } }",
    STEP_GO "repeat k while go[0] { phase over x { x[gid] += k; } swap(x, y); swap(y, t);"
            " phase over 1 { go[0] -= 1; } } }",
    STEP_GO "repeat 3 { phase over 1 { go[0] = n; } repeat k while go[0] {"
            " phase over x { x[gid] += k; } phase over 1 { go[0] -= 1; } } swap(x, y); } }",
    STEP_TEMP "scratch go: u32[1]; scratch gone: u32[1]; phase over 1 { go[0] = n; }"
              " repeat k while go[0] { phase over x { x[gid] += k; }"
              " phase over 1 { gone[0] = go[0] - 1; } swap(go, gone); } }",
    /* Branches. */
    STEP_HEAD "if x[n] { phase over x { x[gid] = 1; } } else { phase over y { y[gid] = 2; } } }",
    STEP_HEAD "if x[99] { phase over x { x[gid] = 1; } } }",
    STEP_HEAD "repeat k in n { if x[k] { swap(x, y); } else if y[k] { phase over k {"
              " x[gid] += 5; } } phase over x { x[gid] += y[gid]; } } }",
    STEP_GO "repeat k while go[0] { if x[k] { phase over x { x[gid] += k; } }"
            " phase over 1 { go[0] -= 1; } } }",
    /* Shared arrays with sizes from arguments. */
    STEP_HEAD "phase over x workgroup 4 { shared t: u32[n + 1]; t[lid] = x[gid]; barrier;"
              " y[gid] += t[3 - lid] + t[n] * 100 + len(t) * 10; } }",
    STEP_HEAD
    "repeat 2 { phase over x workgroup 4 { shared t: u32[max(n, 1)]; shared u: u8[len(x)];"
    " grid_barrier; t[lid] = x[gid]; u[lid] = u8(n); barrier;"
    " x[gid] += t[lid] + len(u) + u32(u[0]); } swap(x, y); } }",
    /* Domains from memory in several dimensions. */
    STEP_HEAD "phase over x[n] max (3, 4) { y[gid.y * 3 + gid.x] += 1 + gid.x; } }",
    STEP_HEAD "phase over x[n] max (2, 3, 2) { x[(gid.z * 3 + gid.y) * 2 + gid.x] += 9; } }",
    STEP_HEAD "phase over y[n] max (3, 4) workgroup 2, 2 { if in_domain {"
              " x[gid.y * 3 + gid.x] = num_workgroups.x * 10 + num_workgroups.y; } } }",
};
enum { STEP_TEXTS = sizeof step_texts / sizeof *step_texts };

/* Numbers of which some are 0, and all are small enough to be domains. */
static inline void step_numbers(uint32_t *x, uint32_t *y) {
    for (uint32_t i = 0; i < STEP_LENGTH; i++) {
        x[i] = i * 7 % 5;
        y[i] = i * 5 % 4;
    }
}

/* One program on a device: with data on the host, and on resident buffers, twice. */
static inline void step_check(vyre_device *device, const vyre_program *program, const char *text,
                              uint32_t n) {
    uint32_t x[STEP_LENGTH], y[STEP_LENGTH], found[2][STEP_LENGTH];
    const vyre_input inputs[] = {{&n, 4}, {x, sizeof x}, {y, sizeof y}};
    vyre_outputs expected, outputs;
    step_numbers(x, y);
    expect_ok(vyre_reference_run(program, inputs, 3, NULL, NULL, &expected));
    expect_ok(vyre_device_dispatch(device, program, inputs, 3, NULL, &outputs));
    for (size_t i = 0; i < 2; i++) {
        if (memcmp(outputs.items[i].data, expected.items[i].data, sizeof x) != 0) {
            fail_msg("n = %u, output %zu on the host: %s", n, i, text);
        }
    }
    vyre_outputs_free(&outputs);
    vyre_resident buffers[2];
    vyre_status status = vyre_resident_allocate(device, sizeof x, &buffers[0]);
    if (vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED) {
        vyre_status_free(status);
        vyre_outputs_free(&expected);
        return;
    }
    expect_ok(status);
    expect_ok(vyre_resident_allocate(device, sizeof y, &buffers[1]));
    vyre_pipeline *pipeline;
    expect_ok(vyre_device_compile(device, program, NULL, &pipeline));
    for (int turn = 0; turn < 2; turn++) {
        const vyre_binding bindings[] = {vyre_bind_bits(n), vyre_bind(buffers[turn]),
                                         vyre_bind(buffers[1 - turn])};
        vyre_ticket ticket;
        expect_ok(vyre_resident_upload(device, buffers[turn], x, sizeof x));
        expect_ok(vyre_resident_upload(device, buffers[1 - turn], y, sizeof y));
        expect_ok(vyre_pipeline_enqueue(pipeline, bindings, 3, NULL, &ticket));
        expect_ok(vyre_device_wait(device, ticket));
        for (int i = 0; i < 2; i++) {
            int buffer = i ? 1 - turn : turn;
            expect_ok(vyre_resident_read(device, buffers[buffer], 0, found[i], sizeof found[i]));
            if (memcmp(found[i], expected.items[i].data, sizeof x) != 0) {
                fail_msg("n = %u, turn %d, output %d on the device: %s", n, turn, i, text);
            }
        }
    }
    vyre_pipeline_release(pipeline);
    for (int i = 0; i < 2; i++) {
        expect_ok(vyre_resident_free(device, buffers[i]));
    }
    vyre_outputs_free(&expected);
}

#endif
