/* Devices made worse on purpose are probed, corrected, and give the bytes of the reference. */
#include "tests/unit/settings.h"
#include "tests/unit/vulkan_check.h"
#include "tests/vulkan/worsen.h"

#define ARITHMETIC                                                                                 \
    "program arithmetic(x: buffer<f32>, y: buffer<f32>, z: buffer<f32>, "                          \
    "a: out buffer<f32>[len(x)], b: out buffer<f32>[len(x)], c: out buffer<f32>[len(x)], "         \
    "d: out buffer<f32>[len(x)], e: out buffer<f32>[len(x)], f: out buffer<f32>[len(x)], "         \
    "g: out buffer<u32>[len(x)]) over x { "                                                        \
    "let u = x[gid]; let v = y[gid]; a[gid] = u + v; b[gid] = u - v; c[gid] = u * v; "             \
    "d[gid] = u / v; e[gid] = sqrt(abs(u)); f[gid] = fma(u, v, z[gid]); "                          \
    "g[gid] = u32(u < v) + 2 * u32(u == v) + 4 * u32(max(u, v) <= min(u, v)); }"

enum {
    LENGTH = 6000,
    FLUSHED = VYRE_CORRECT_FLUSHED(VYRE_CORRECT_LINEAR | VYRE_CORRECT_DIV | VYRE_CORRECT_SQRT),
    FLUSHED_SUMS = VYRE_CORRECT_FLUSHED(VYRE_CORRECT_LINEAR)
};

static uint32_t mix(uint64_t *state) {
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(x ^ x >> 31);
}

/* Any bits; a third is small, a third is near 1. */
static void fill(uint32_t *out, uint64_t seed) {
    for (uint32_t i = 0; i < LENGTH; i++) {
        uint32_t bits = mix(&seed);
        out[i] = i % 3 == 0   ? bits & 0x80ffffff
                 : i % 3 == 1 ? (bits & 0x80ffffff) | 0x3f000000
                              : bits;
    }
}

static void expect_corrected(uint32_t how, uint32_t needed) {
    static uint32_t x[LENGTH], y[LENGTH], z[LENGTH];
    worsen_how = how;
    vulkan_drill.worsen = worsen_module;
    vulkan_drill.forgets = true;
    vyre_device *device = vulkan_check_open();
    vyre_profile profile;
    vyre_device_profile(device, &profile);
    print_message("worse by %u: %s\n", how, profile.driver);
    const vulkan_device *own = device->backend->state;
    if ((own->needed.f32 & needed) != needed) {
        fail_msg("worse by %u: corrections %x lack some of %x", how, own->needed.f32, needed);
    }
    for (uint64_t round = 0; round < test_work(2, 1); round++) {
        fill(x, 1 + round);
        fill(y, 1000 + round * 7);
        fill(z, 2000 + round * 5);
        const vyre_input inputs[] = {{x, sizeof x}, {y, sizeof y}, {z, sizeof z}};
        expect_reference(device, ARITHMETIC, inputs, 3);
    }
    vyre_device_release(device);
    vulkan_drill.worsen = NULL;
    vulkan_drill.forgets = false;
}

static void a_device_as_it_is_is_exact(void **state) {
    (void)state;
    expect_corrected(0, 0);
}

static void flushed_subnormals_are_corrected(void **state) {
    (void)state;
    expect_corrected(WORSE_FLUSH, FLUSHED);
}

static void loose_division_is_corrected(void **state) {
    (void)state;
    expect_corrected(WORSE_DIVIDE, VYRE_CORRECT_DIV);
}

static void loose_roots_are_corrected(void **state) {
    (void)state;
    expect_corrected(WORSE_ROOT, VYRE_CORRECT_SQRT);
}

static void all_at_once_are_corrected(void **state) {
    (void)state;
    expect_corrected(WORSE_FLUSH | WORSE_DIVIDE | WORSE_ROOT,
                     FLUSHED_SUMS | VYRE_CORRECT_DIV | VYRE_CORRECT_SQRT);
}

int main(void) {
    if (!vulkan_check_begin()) {
        return VULKAN_SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_as_it_is_is_exact),
        cmocka_unit_test(flushed_subnormals_are_corrected),
        cmocka_unit_test(loose_division_is_corrected),
        cmocka_unit_test(loose_roots_are_corrected),
        cmocka_unit_test(all_at_once_are_corrected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
