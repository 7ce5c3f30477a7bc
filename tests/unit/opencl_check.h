/* What the tests of the opencl backend share. Where there is no OpenCL device they are skipped. */
#ifndef VYRE_TESTS_OPENCL_CHECK_H
#define VYRE_TESTS_OPENCL_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include <vyre/registry.h>

#include "tests/unit/contract_check.h"

/* For ctest: skipped. */
enum { OPENCL_SKIPPED = 77 };

/* Whether there is a device; prints why not. Call it first: OpenCL is off in tests that do not ask
 * for it. */
static inline bool opencl_check_available(void) {
    vyre_device *device = NULL;
    unsetenv("VYRE_OPENCL");
    vyre_status status = vyre_acquire("opencl", &device);
    bool available = !status;
    if (status) {
        printf("skipped: %s\n", vyre_status_text(status));
        vyre_status_free(status);
    }
    vyre_device_release(device);
    return available;
}

static inline vyre_device *open_opencl(void) {
    vyre_device *device;
    expect_ok(vyre_acquire("opencl", &device));
    return device;
}

#endif
