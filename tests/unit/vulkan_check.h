/* For tests of the vulkan backend: a device of this machine, the first one, or a reason to skip. */
#ifndef VYRE_TESTS_VULKAN_CHECK_H
#define VYRE_TESTS_VULKAN_CHECK_H

#include <stdio.h>

#include <vyre/reference.h>

#include "backend/table.h"
#include "backend/vulkan/device.h"
#include "runtime/device.h"
#include "tests/unit/contract_check.h"

enum { VULKAN_SKIPPED = 77 };

/* Whether there is a device. Call it first: Vulkan is off in tests that do not ask for it. */
static inline bool vulkan_check_begin(void) {
    contract_without_cache();
    unsetenv("VYRE_VULKAN");
    vyre_device *device;
    vyre_status status = vyre_acquire("vulkan", &device);
    if (status) {
        printf("skipped: %s\n", vyre_status_text(status));
        vyre_status_free(status);
        return false;
    }
    vyre_device_release(device);
    return true;
}

static inline vyre_device *vulkan_check_open(void) {
    vyre_device *device;
    expect_ok(vyre_acquire("vulkan", &device));
    return device;
}

/* The bytes of the reference. */
static inline void expect_reference(vyre_device *device, const char *text, const vyre_input *inputs,
                                    size_t count) {
    vyre_program *program = contract_program(text);
    vyre_outputs found, expected;
    expect_ok(vyre_reference_run(program, inputs, count, NULL, NULL, &expected));
    expect_ok(vyre_device_dispatch(device, program, inputs, count, NULL, &found));
    assert_int_equal(found.count, expected.count);
    for (size_t i = 0; i < found.count; i++) {
        assert_int_equal(found.items[i].size, expected.items[i].size);
        if (found.items[i].size &&
            memcmp(found.items[i].data, expected.items[i].data, found.items[i].size)) {
            fail_msg("`%s`: output %zu differs", vyre_program_name(program), i);
        }
    }
    vyre_outputs_free(&found);
    vyre_outputs_free(&expected);
    vyre_program_release(program);
}

#endif
