/* What the tests of the backend contract share: programs, devices of mocks, and statuses.
 *
 *     mock *m = mock_create(&(mock_spec){0});
 *     vyre_device *device = contract_device(m);
 *     expect_ok(vyre_device_dispatch(device, program, inputs, 1, NULL, &outputs));
 *     expect_fail(vyre_device_recover(device), VYRE_STATUS_UNSUPPORTED, "device recovery");
 */
#ifndef VYRE_TESTS_CONTRACT_CHECK_H
#define VYRE_TESTS_CONTRACT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/pipeline.h>
#include <vyre/text.h>

#include "tests/mock/mock.h"

enum { CONTRACT_LENGTH = 8 };

/* y = 2 x */
#define TWICE                                                                                      \
    "program twice(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid] * 2; }"
/* The same through a local variable of some name. */
#define TWICE_BY(name)                                                                             \
    "program twice(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { let " name                 \
    " = x[gid]; y[gid] = " name " * 2; }"
/* y += k x */
#define ADD                                                                                        \
    "program add(k: u32, x: buffer<u32>, y: inout buffer<u32>) over y { "                          \
    "y[gid] = y[gid] + k * x[gid]; }"
/* z = x + y */
#define SUM                                                                                        \
    "program sum(x: buffer<u32>, y: buffer<u32>, z: out buffer<u32>[len(x)]) over x { "            \
    "z[gid] = x[gid] + y[gid]; }"

static inline vyre_program *contract_program(const char *text) {
    vyre_module *module;
    vyre_status status = vyre_module_parse("test.vyre", text, strlen(text), NULL, &module);
    if (status) {
        fail_msg("%s\nin:\n%s", vyre_status_text(status), text);
    }
    vyre_program *program = vyre_program_retain(vyre_module_program(module, 0));
    vyre_module_free(module);
    return program;
}

#define expect_ok(call) expect_ok_at((call), #call, __FILE__, __LINE__)
static inline void expect_ok_at(vyre_status status, const char *call, const char *file, int line) {
    if (status) {
        print_error("%s\n", vyre_status_text(status));
        vyre_status_free(status);
        _fail(file, line);
    }
    (void)call;
}

/* A failure with this code, a Fix, and `part` somewhere in its text. */
#define expect_fail(call, code, part)                                                              \
    expect_fail_at((call), #call, (code), (part), __FILE__, __LINE__)
static inline void expect_fail_at(vyre_status status, const char *call, vyre_status_code code,
                                  const char *part, const char *file, int line) {
    if (!status) {
        print_error("%s: no failure, expected \"%s\"\n", call, part);
        _fail(file, line);
    }
    const char *text = vyre_status_text(status);
    if (vyre_status_code_of(status) != code || !strstr(text, part) || !strstr(text, "Fix: ")) {
        print_error("%s: code %s, text \"%s\"; expected %s, \"%s\" and a Fix\n", call,
                    vyre_status_code_name(vyre_status_code_of(status)), text,
                    vyre_status_code_name(code), part);
        _fail(file, line);
    }
    vyre_status_free(status);
}

static inline vyre_device *contract_device(mock *m) {
    vyre_device *device;
    expect_ok(mock_open(m, &device));
    assert_non_null(device);
    return device;
}

/* 1, 2, 3 and so on. */
static inline void contract_numbers(uint32_t *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        x[i] = (uint32_t)i + 1;
    }
}

static inline void expect_numbers(const void *found, size_t count, uint32_t factor) {
    for (size_t i = 0; i < count; i++) {
        uint32_t value;
        memcpy(&value, (const uint8_t *)found + i * sizeof value, sizeof value);
        assert_int_equal(value, factor * (i + 1));
    }
}

/* Outputs of TWICE. */
static inline void expect_twice(vyre_outputs *outputs) {
    assert_int_equal(outputs->count, 1);
    assert_int_equal(outputs->items[0].size, CONTRACT_LENGTH * sizeof(uint32_t));
    expect_numbers(outputs->items[0].data, CONTRACT_LENGTH, 2);
    vyre_outputs_free(outputs);
}

/* Runs TWICE on a device and looks at the result: whether it works, after all that happened. */
static inline void expect_works(vyre_device *device) {
    vyre_program *program = contract_program(TWICE);
    uint32_t x[CONTRACT_LENGTH];
    contract_numbers(x, CONTRACT_LENGTH);
    vyre_input input = {x, sizeof x};
    vyre_outputs outputs;
    expect_ok(vyre_device_dispatch(device, program, &input, 1, NULL, &outputs));
    expect_twice(&outputs);
    vyre_program_release(program);
}

/* A resident buffer with the numbers times a factor. */
static inline vyre_resident contract_resident(vyre_device *device, uint32_t factor) {
    uint32_t x[CONTRACT_LENGTH];
    vyre_resident resident;
    for (uint32_t i = 0; i < CONTRACT_LENGTH; i++) {
        x[i] = factor * (i + 1);
    }
    expect_ok(vyre_resident_allocate(device, sizeof x, &resident));
    expect_ok(vyre_resident_upload(device, resident, x, sizeof x));
    return resident;
}

static inline void expect_resident(vyre_device *device, vyre_resident resident, uint32_t factor) {
    uint32_t found[CONTRACT_LENGTH];
    expect_ok(vyre_resident_read(device, resident, 0, found, sizeof found));
    expect_numbers(found, CONTRACT_LENGTH, factor);
}

/* The features of a backend that takes every program whole, if it has the slot `features`. */
#define CONTRACT_WHOLE ((uint32_t)(VYRE_FEATURE_PHASES | VYRE_FEATURE_GRID_SYNC))

/* Nothing of these tests belongs into the user's cache. Call it first. */
static inline void contract_without_cache(void) {
    setenv("VYRE_CACHE_LIMIT", "0", 1);
}

#endif
