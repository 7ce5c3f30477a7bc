/* Samples of the standard library: every operation that has a program has one that grows with its
 * size, runs, and has a result that says something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "ir/program.h"
#include "tests/unit/cpu_check.h"
#include "tests/unit/settings.h"
#include "values/element.h"
#include "values/sample.h"

static const uint64_t sizes[] = {1, 7, 64, 4096};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* A run with a sample. */
typedef struct sample_run {
    const vyre_operation *operation;
    uint64_t n;
    values_binding binding;
    vyre_outputs outputs;
} sample_run;

static void check_ok(const sample_run *r, vyre_status status) {
    if (status) {
        fail_msg("%s at %llu: %s", r->operation->id, (unsigned long long)r->n,
                 vyre_status_text(status));
    }
}

static const vyre_program *program_of(const sample_run *r) {
    const vyre_program *program;
    check_ok(r, vyre_operation_program(r->operation, NULL, &program));
    return program;
}

static uint64_t bytes_of(const sample_run *r) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < r->binding.input_count; i++) {
        bytes += r->binding.inputs[i].size;
    }
    return bytes;
}

static size_t element_count(const vyre_output *output, vyre_type type) {
    return output->size / vyre_type_bytes(type);
}

static uint64_t element(const vyre_output *output, vyre_type type, size_t index) {
    return values_element_load(type, (const uint8_t *)output->data + index * vyre_type_bytes(type));
}

/* The number of different elements, as far as 2, and whether one of them is not 0. */
static size_t variety(const vyre_output *output, vyre_type type, bool *out_any) {
    size_t different = output->size != 0;
    *out_any = false;
    for (size_t i = 0; i < element_count(output, type); i++) {
        uint64_t bits = element(output, type, i);
        *out_any |= bits != 0;
        different += different == 1 && bits != element(output, type, 0);
    }
    return different;
}

/* Outputs that say nothing: all zeros, or, where there are many elements, all the same. */
static void check_result(const sample_run *r) {
    const vyre_ir *ir = vyre_program_ir(program_of(r));
    size_t output = 0;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        uint32_t resource = ir->args[i].resource;
        if (resource == VYRE_NONE || ir->resources[resource].access == VYRE_ACCESS_IN) {
            continue;
        }
        const vyre_output *found = &r->outputs.items[output++];
        const char *name = ir->strings + ir->args[i].name;
        vyre_type type = (vyre_type)ir->args[i].type;
        bool any;
        size_t different = variety(found, type, &any);
        if (!any || (element_count(found, type) > 8 && different < 2)) {
            fail_msg("%s: `%s` says nothing", r->operation->id, name);
        }
        if (!strcmp(name, "valid")) {
            assert_int_equal(element(found, type, 0), 1);
        }
    }
}

/* Results that are known, or nearly so: elements of an output that differ from `but`, in percent of
 * its elements or, if it has one alone, of the size. */
static const struct {
    const char *id;
    size_t output;
    uint64_t but;
    uint32_t least, most;
} known[] = {
    {"graph.bfs", 0, UINT32_MAX, 95, 100}, /* nodes are reached */
    {"graph.components", 0, 0, 1, 99},
    {"select.compact", 0, 0, 45, 55},
    {"select.unique", 0, 0, 50, 80},
    {"select.scatter", 0, 0, 99, 100}, /* each place is written */
    {"bitset.set_at", 0, 0, 90, 100},
    {"match.flags", 0, 0, 1, 3},
    {"match.find", 0, 0, 1, 3},
    {"match.dfa_words", 0, 0, 90, 100},
    {"match.dfa_records", 0, 0, 90, 100},
    {"match.dfa_hits_u8", 0, 0, 5, 8},
    {"match.dfa_hits_u16", 0, 0, 5, 8},
    {"text.lines", 0, 0, 1, 3},
    {"model.mandelbrot", 0, 256, 20, 90}, /* points leave the circle */
};

static void check_known(const sample_run *r) {
    const vyre_ir *ir = vyre_program_ir(program_of(r));
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(known[k].id, r->operation->id) != 0) {
            continue;
        }
        size_t output = 0;
        vyre_type type = VYRE_TYPE_U8;
        for (uint32_t i = 0; i < ir->arg_count; i++) {
            uint32_t resource = ir->args[i].resource;
            bool is_output =
                resource != VYRE_NONE && ir->resources[resource].access != VYRE_ACCESS_IN;
            if (is_output && output++ == known[k].output) {
                type = (vyre_type)ir->args[i].type;
            }
        }
        const vyre_output *found = &r->outputs.items[known[k].output];
        size_t count = element_count(found, type), matching = 0;
        for (size_t i = 0; i < count; i++) {
            matching += element(found, type, i) != known[k].but;
        }
        if (matching * 100 < known[k].least * count || matching * 100 > known[k].most * count) {
            fail_msg("%s: %zu of %zu elements, which is not %u to %u percent", known[k].id,
                     matching, count, known[k].least, known[k].most);
        }
    }
}

static void check_operation(const vyre_operation *operation, vyre_device *device) {
    vyre_pipeline *pipeline;
    sample_run r = {.operation = operation};
    if (!values_sample_exists(operation)) {
        fail_msg("%s has no sample", operation->id);
    }
    check_ok(&r, vyre_device_compile(device, program_of(&r), NULL, &pipeline));
    for (size_t i = 0; i < SIZES; i++) {
        r.n = sizes[i];
        check_ok(&r, values_sample_bind(&r.binding, operation, program_of(&r), r.n));
        check_ok(&r, vyre_pipeline_dispatch(pipeline, r.binding.inputs, r.binding.input_count, NULL,
                                            &r.outputs));
        if (i == SIZES - 1) {
            check_result(&r);
            check_known(&r);
        }
        vyre_outputs_free(&r.outputs);
        values_binding_deinit(&r.binding);
    }
    vyre_pipeline_release(pipeline);
}

static void every_operation_runs(void **state) {
    (void)state;
    vyre_dialects_guard guard;
    vyre_device *device;
    if (!cpu_check_available() || getenv("VYRE_TEST_EMULATED")) {
        skip(); /* emulated it takes minutes to compile them all, and shows nothing else */
    }
    const vyre_dialects *dialects = vyre_dialects_enter(&guard);
    vyre_status status = vyre_acquire("cpu", &device);
    assert_null(status);
    size_t count = 0;
    for (size_t i = 0; i < vyre_dialects_count(dialects); i++) {
        const vyre_operation *operation = vyre_dialects_at(dialects, i);
        if (vyre_operation_has_program(operation)) {
            if (test_takes(count)) {
                check_operation(operation, device);
            }
            count++;
        } else {
            assert_false(values_sample_exists(operation));
        }
    }
    assert_in_range(count, 100, 1000);
    vyre_device_release(device);
    vyre_dialects_leave(&guard);
}

/* Four times the size is about four times the bytes: tables that do not grow are small by then. */
static void bytes_grow_with_the_size(void **state) {
    (void)state;
    vyre_dialects_guard guard;
    const vyre_dialects *dialects = vyre_dialects_enter(&guard);
    for (size_t i = 0; i < vyre_dialects_count(dialects); i++) {
        sample_run r = {.operation = vyre_dialects_at(dialects, i)};
        uint64_t bytes[2];
        if (!vyre_operation_has_program(r.operation) ||
            !strcmp(r.operation->id, "hash.crc32_table") ||
            !strcmp(r.operation->id, "model.mandelbrot")) {
            continue; /* no buffer is read */
        }
        for (size_t k = 0; k < 2; k++) {
            r.n = (uint64_t)1 << (18 + 2 * k);
            check_ok(&r, values_sample_bind(&r.binding, r.operation, program_of(&r), r.n));
            bytes[k] = bytes_of(&r);
            values_binding_deinit(&r.binding);
        }
        if (bytes[1] < bytes[0] * 3 || bytes[1] > bytes[0] * 5) {
            fail_msg("%s: %llu bytes, then %llu", r.operation->id, (unsigned long long)bytes[0],
                     (unsigned long long)bytes[1]);
        }
    }
    vyre_dialects_leave(&guard);
}

/* Nothing that depends on the machine or the moment. */
static void bytes_are_the_same_each_time(void **state) {
    (void)state;
    vyre_dialects_guard guard;
    const vyre_dialects *dialects = vyre_dialects_enter(&guard);
    for (size_t i = 0; i < vyre_dialects_count(dialects); i++) {
        sample_run r = {.operation = vyre_dialects_at(dialects, i), .n = 1000}, again = r;
        if (!vyre_operation_has_program(r.operation)) {
            continue;
        }
        check_ok(&r, values_sample_bind(&r.binding, r.operation, program_of(&r), r.n));
        check_ok(&r, values_sample_bind(&again.binding, r.operation, program_of(&r), r.n));
        assert_int_equal(r.binding.input_count, again.binding.input_count);
        for (size_t k = 0; k < r.binding.input_count; k++) {
            assert_int_equal(r.binding.inputs[k].size, again.binding.inputs[k].size);
            if (r.binding.inputs[k].size) {
                assert_memory_equal(r.binding.inputs[k].data, again.binding.inputs[k].data,
                                    r.binding.inputs[k].size);
            }
        }
        values_binding_deinit(&r.binding);
        values_binding_deinit(&again.binding);
    }
    vyre_dialects_leave(&guard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_runs),
        cmocka_unit_test(bytes_grow_with_the_size),
        cmocka_unit_test(bytes_are_the_same_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
