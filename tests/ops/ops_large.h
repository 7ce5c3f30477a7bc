/* Operations on arrays that are too long for the reference backend to take its time with: on the
 * other devices of VYRE_TEST_DEVICES, all programs of an operation. */
#ifndef VYRE_TESTS_OPS_LARGE_H
#define VYRE_TESTS_OPS_LARGE_H

#include "ops_check.h"

static inline void ops_expect_large(const char *id, ops_values inputs, ops_values expected) {
    ops_operation operation;
    vyre_device *const *devices;
    size_t count = ops_devices(&devices);
    ops_open(id, &operation);
    for (size_t d = 0; d < count; d++) {
        bool is_reference = !strcmp(vyre_device_id(devices[d]), "reference");
        for (size_t k = 0; k < operation.count && !is_reference; k++) {
            ops_run(devices[d], id, operation.programs[k], &inputs, &expected);
        }
    }
    for (size_t k = 0; k < operation.count; k++) {
        vyre_module_free(operation.modules[k]);
    }
}

#endif
