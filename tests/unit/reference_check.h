/* Kernels written as text, run on the reference backend, compared byte by byte.
 *
 *     uint32_t x[] = {1, 2}, y[] = {2, 4};
 *     check_run("program p(x: buffer<u32>, y: out buffer<u32>[len(x)]) over x { y[gid] = x[gid] *
 * 2; }", LIST(BYTES(x)), LIST(BYTES(y)));
 *
 * runs it under the seeds 0 to CHECK_SEEDS - 1: all must give what is expected. */
#ifndef VYRE_TESTS_REFERENCE_CHECK_H
#define VYRE_TESTS_REFERENCE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <vyre/backend.h>
#include <vyre/reference.h>
#include <vyre/sanitize.h>
#include <vyre/text.h>

enum { CHECK_SEEDS = 21 };

/* No program of these tests needs as many; one that does not end is found out soon. */
#define CHECK_STEPS ((uint64_t)2000000000)

typedef struct check_list {
    const vyre_input *items;
    size_t count;
} check_list;

#define BYTES(array)                                                                               \
    { (array), sizeof(array) }
#define EMPTY                                                                                      \
    { NULL, 0 }
#define LIST(...)                                                                                  \
    ((check_list){(const vyre_input[]){__VA_ARGS__},                                               \
                  sizeof((const vyre_input[]){__VA_ARGS__}) / sizeof(vyre_input)})
#define NOTHING ((check_list){NULL, 0})

/* The program of a text that holds one. Release it. */
static inline vyre_program *check_parse(const char *text) {
    vyre_module *module;
    vyre_status status = vyre_module_parse("test.vyre", text, strlen(text), NULL, &module);
    if (status) {
        fail_msg("%s\nin:\n%s", vyre_status_text(status), text);
    }
    assert_int_equal(vyre_module_count(module), 1);
    vyre_program *program = vyre_program_retain(vyre_module_program(module, 0));
    vyre_module_free(module);
    return program;
}

/* Runs once; the test fails if that does. Free the outputs. */
static inline vyre_outputs check_run_seed(const vyre_program *program, check_list inputs,
                                          uint64_t seed) {
    vyre_outputs outputs;
    vyre_reference_options options = {.seed = seed, .max_steps = CHECK_STEPS};
    vyre_status status =
        vyre_reference_run(program, inputs.items, inputs.count, NULL, &options, &outputs);
    if (status) {
        fail_msg("program `%s`, seed %llu: %s", vyre_program_name(program),
                 (unsigned long long)seed, vyre_status_text(status));
    }
    return outputs;
}

static inline void check_bytes(const vyre_program *program, uint64_t seed, size_t output,
                               const vyre_output *found, const vyre_input *expected) {
    if (found->size != expected->size) {
        fail_msg("program `%s`, seed %llu, output %zu: %zu bytes, expected %zu",
                 vyre_program_name(program), (unsigned long long)seed, output, found->size,
                 expected->size);
    }
    const uint8_t *bytes = expected->data;
    for (size_t i = 0; i < found->size; i++) {
        if (found->data[i] != bytes[i]) {
            fail_msg("program `%s`, seed %llu, output %zu, byte %zu (element %zu of 4 bytes): "
                     "%02x, expected %02x",
                     vyre_program_name(program), (unsigned long long)seed, output, i, i / 4,
                     found->data[i], bytes[i]);
        }
    }
}

static inline void check_run(const char *text, check_list inputs, check_list expected) {
    vyre_program *program = check_parse(text);
    for (uint64_t seed = 0; seed < CHECK_SEEDS; seed++) {
        vyre_outputs outputs = check_run_seed(program, inputs, seed);
        assert_int_equal(outputs.count, expected.count);
        for (size_t i = 0; i < outputs.count; i++) {
            check_bytes(program, seed, i, &outputs.items[i], &expected.items[i]);
        }
        vyre_outputs_free(&outputs);
    }
    vyre_program_release(program);
}

/* Runs a program of one output under seed 0 and copies that; its size must be `size`. */
static inline void check_output(const char *text, check_list inputs, void *out, size_t size) {
    vyre_program *program = check_parse(text);
    vyre_outputs outputs = check_run_seed(program, inputs, 0);
    assert_int_equal(outputs.count, 1);
    assert_int_equal(outputs.items[0].size, size);
    memcpy(out, outputs.items[0].data, size);
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
}

/* The slot `dispatch` of a backend that is the reference backend. */
static inline vyre_status check_dispatch(const vyre_call *call, vyre_output *outputs) {
    vyre_outputs own;
    vyre_status status =
        vyre_reference_run(call->program, call->inputs, call->input_count, NULL, NULL, &own);
    for (size_t i = 0; i < own.count; i++) {
        memcpy(outputs[i].data, own.items[i].data, own.items[i].size);
    }
    vyre_outputs_free(&own);
    return status;
}

static inline double check_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif
