/* For tests of the cuda backend on the fake driver: setup, teardown, and programs of several
 * launches. */
#ifndef VYRE_TESTS_CUDA_CHECK_H
#define VYRE_TESTS_CUDA_CHECK_H

#include "tests/fake_cuda/device.h"

static const fake_cuda *fake;

#define STEPS                                                                                      \
    "program steps(n: u32, x: buffer<u32>, y: inout buffer<u32>, z: out buffer<u32>[len(x)]) { "   \
    "scratch s: u32[len(x)]; scratch left: u32[2]; "                                               \
    "phase over x { s[gid] = s[gid] + x[gid]; if gid == 0 { left[0] = 5; left[1] = n; } } "        \
    "repeat i in 3 { phase over x { s[gid] = s[gid] * 3 + i; } } "                                 \
    "phase over left[1] max len(x) { z[gid] = s[gid]; } "                                          \
    "repeat while left[0] { phase over x { y[gid] = y[gid] + s[gid]; } "                           \
    "phase over 1 { left[0] = left[0] - 1; } } }"
/* y = (2 x + 1) * 3^3 in five launches and a fill of scratch; a graph. */
#define ROW                                                                                        \
    "program row(x: buffer<u32>, y: inout buffer<u32>) { scratch s: u32[len(x)]; "                 \
    "phase over x { s[gid] = s[gid] + x[gid] * 2; } phase over x { s[gid] = s[gid] + 1; } "        \
    "repeat i in 3 { phase over x { s[gid] = s[gid] * 3; } } "                                     \
    "phase over x { y[gid] = s[gid]; } }"

static int begin(void **state) {
    (void)state;
    fake->reset();
    fake->on_launch(fake_device_run);
    return 0;
}

/* Whatever a test did, nothing of it is left on the device. */
static int end(void **state) {
    (void)state;
    fake_device_forget();
    fake_live live = fake->live();
    const fake_live none = {0};
    return memcmp(&live, &none, sizeof live) ? -1 : 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
