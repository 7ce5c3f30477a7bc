/* What the tests of the standard library share: an operation by its id, its entry and each of its
 * variants, run on every device of VYRE_TEST_DEVICES (names with commas between; "reference,cpu" if
 * it is not set), and held against arrays that the test computed in C.
 *
 *     ops_expect("reduce.sum_u32", OPS(OPS_ARRAY(x, n)), OPS(OPS_SCALAR("total", total)));
 *
 * Values are given by name; those of `inout` buffers on both sides. With VYRE_TEST_COMMAND in the
 * environment the same goes through `vyre run` and files, in the form that it chooses. */
#ifndef VYRE_TESTS_OPS_CHECK_H
#define VYRE_TESTS_OPS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "base/file.h"
#include "ir/program.h"

enum { OPS_MOST_VALUES = 16, OPS_MOST_DEVICES = 8 };

typedef struct ops_value {
    const char *name;
    const void *data;
    size_t size; /* bytes */
} ops_value;

typedef struct ops_values {
    ops_value items[OPS_MOST_VALUES]; /* up to the first without a name */
} ops_values;

#define OPS(...)                                                                                   \
    (const ops_values) {                                                                           \
        { __VA_ARGS__ }                                                                            \
    }
/* A C array of the argument's name, and its number of elements. */
#define OPS_ARRAY(array, count)                                                                    \
    { #array, array, (count) * sizeof *(array) }
/* A C variable for an argument of one element, or a scalar. */
#define OPS_SCALAR(name, variable)                                                                 \
    { name, &(variable), sizeof(variable) }
#define OPS_NAMED(name, array, count)                                                              \
    { name, array, (count) * sizeof *(array) }

/* A status that must be a success; prints what it says otherwise. */
static inline void ops_ok(vyre_status status, const char *what) {
    if (status) {
        print_error("%s: %s\n", what, vyre_status_text(status));
        vyre_status_free(status);
        fail();
    }
}

static inline const ops_value *ops_find(const ops_values *values, const char *id,
                                        const char *name) {
    for (size_t k = 0; k < OPS_MOST_VALUES && values->items[k].name; k++) {
        if (!strcmp(values->items[k].name, name)) {
            return &values->items[k];
        }
    }
    fail_msg("%s: the test has no value for `%s`", id, name);
    return NULL;
}

/* What came out of an argument against what is right. */
static inline void ops_compare(const char *id, const char *form, const char *device,
                               const ops_value *right, const void *found, size_t size) {
    const uint8_t *a = right->data, *b = found;
    if (size != right->size) {
        fail_msg("%s (%s) on %s: `%s` has %zu bytes, expected %zu", id, form, device, right->name,
                 size, right->size);
    }
    for (size_t k = 0; k < size; k++) {
        if (a[k] != b[k]) {
            fail_msg("%s (%s) on %s: `%s` differs at byte %zu of %zu: %02x, expected %02x", id,
                     form, device, right->name, k, size, b[k], a[k]);
        }
    }
}

static inline void ops_run(vyre_device *device, const char *id, const vyre_program *program,
                           const ops_values *inputs, const ops_values *expected) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_input given[OPS_MOST_VALUES];
    vyre_outputs outputs;
    size_t count = 0;
    for (uint32_t k = 0; k < ir->arg_count; k++) {
        if (!vyre_ir_is_out(ir, k)) {
            const ops_value *value = ops_find(inputs, id, ir->strings + ir->args[k].name);
            given[count++] = (vyre_input){value->size ? value->data : NULL, value->size};
        }
    }
    ops_ok(vyre_device_dispatch(device, program, given, count, NULL, &outputs), id);
    count = 0;
    for (uint32_t k = 0; k < ir->arg_count; k++) {
        uint32_t resource = ir->args[k].resource;
        if (resource != VYRE_NONE && ir->resources[resource].access != VYRE_ACCESS_IN) {
            const vyre_output *output = &outputs.items[count++];
            ops_compare(id, vyre_program_name(program), vyre_device_name(device),
                        ops_find(expected, id, ir->strings + ir->args[k].name), output->data,
                        output->size);
        }
    }
    assert_int_equal(outputs.count, count);
    vyre_outputs_free(&outputs);
}

/* The devices, acquired once a process. */
static inline size_t ops_devices(vyre_device *const **out_devices) {
    static vyre_device *devices[OPS_MOST_DEVICES];
    static size_t count;
    if (!count) {
        char names[256];
        const char *wish = getenv("VYRE_TEST_DEVICES");
        snprintf(names, sizeof names, "%s", wish ? wish : "reference,cpu");
        for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
            assert_true(count < OPS_MOST_DEVICES);
            vyre_status status = vyre_acquire(name, &devices[count]);
            if (!status) {
                count++;
            } else if (wish) {
                ops_ok(status, name);
            } else {
                print_message("skipped on %s: %s\n", name, vyre_status_text(status));
                vyre_status_free(status);
            }
        }
        assert_true(count > 0);
    }
    *out_devices = devices;
    return count;
}

/* A scalar as it is typed. */
static inline void ops_type_scalar(vyre_strbuf *command, vyre_type type, const ops_value *value) {
    uint64_t bits = 0;
    float number;
    memcpy(&bits, value->data, value->size);
    memcpy(&number, value->data, sizeof number);
    if (type == VYRE_TYPE_F32) {
        vyre_strbuf_printf(command, " %s=%.9g", value->name, (double)number);
    } else {
        assert_true(type == VYRE_TYPE_U32 || type == VYRE_TYPE_U64 || type == VYRE_TYPE_U8);
        vyre_strbuf_printf(command, " %s=%llu", value->name, (unsigned long long)bits);
    }
}

/* A folder for files, and for what the command compiles: once an operation. */
static inline const char *ops_folder(void);

static inline void ops_remove_folder(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", ops_folder());
    if (system(command)) {
        print_error("%s is left\n", ops_folder());
    }
}

static inline const char *ops_folder(void) {
    static char folder[] = P_tmpdir "/vyre-ops-XXXXXX";
    static bool is_made;
    if (!is_made) {
        assert_non_null(mkdtemp(folder));
        is_made = true;
        setenv("XDG_CACHE_HOME", folder, 1);
        setenv("VYRE_CACHE_LIMIT", "64M", 1);
        atexit(ops_remove_folder);
    }
    return folder;
}

/* Processes cost time: of an operation's cases the first few go through the command, and those that
 * are much larger than all before. */
static inline bool ops_is_worth_a_process(const char *id, const ops_values *inputs) {
    enum { MOST_OPERATIONS = 64, FIRST = 4, MUCH = 16 };
    static struct {
        char id[64];
        size_t count, largest;
    } rows[MOST_OPERATIONS];
    size_t size = 0, row = 0;
    for (size_t k = 0; k < OPS_MOST_VALUES && inputs->items[k].name; k++) {
        size += inputs->items[k].size;
    }
    while (rows[row].count && strcmp(rows[row].id, id)) {
        assert_true(++row < MOST_OPERATIONS);
    }
    snprintf(rows[row].id, sizeof rows[row].id, "%s", id);
    bool is_worth = rows[row].count++ < FIRST || size > MUCH * rows[row].largest;
    rows[row].largest = is_worth && size > rows[row].largest ? size : rows[row].largest;
    return is_worth;
}

/* The same by `vyre run`, on the device that it takes by itself. */
static inline void ops_command(const vyre_operation *operation, const ops_values *inputs,
                               const ops_values *expected) {
    const char *folder = ops_folder();
    char path[64];
    vyre_strbuf command = {0};
    vyre_strbuf_printf(&command, "\"$VYRE\" run '%s'", operation->id);
    for (size_t k = 0; k < operation->parameter_count; k++) {
        const vyre_parameter *p = &operation->parameters[k];
        if (p->role == VYRE_ROLE_ATTRIBUTE) {
            ops_type_scalar(&command, p->type, ops_find(inputs, operation->id, p->name));
            continue;
        }
        if (p->role != VYRE_ROLE_OUTPUT) {
            const ops_value *value = ops_find(inputs, operation->id, p->name);
            snprintf(path, sizeof path, "%s/%zu.bin", folder, k);
            ops_ok(vyre_file_replace(path, value->data, value->size), path);
            vyre_strbuf_printf(&command, " %s=@%s", p->name, path);
        }
        if (p->role != VYRE_ROLE_INPUT) {
            vyre_strbuf_printf(&command, " --out %s=%s/%zu.out.bin", p->name, folder, k);
        }
    }
    vyre_strbuf_printf(&command, " 2>%s/log", folder);
    assert_false(command.failed);
    int status = system(vyre_strbuf_string(&command));
    if (status) {
        fail_msg("status %d of: %s", status, vyre_strbuf_string(&command));
    }
    vyre_strbuf_free(&command);
    for (size_t k = 0; k < operation->parameter_count; k++) {
        const vyre_parameter *p = &operation->parameters[k];
        if (p->role == VYRE_ROLE_OUTPUT || p->role == VYRE_ROLE_UPDATED) {
            const ops_value *right = ops_find(expected, operation->id, p->name);
            vyre_strbuf found = {0};
            snprintf(path, sizeof path, "%s/%zu.out.bin", folder, k);
            ops_ok(vyre_file_read(path, right->size + 1, &found), path);
            ops_compare(operation->id, "vyre run", "auto", right, found.data, found.size);
            vyre_strbuf_free(&found);
            assert_int_equal(unlink(path), 0);
        }
    }
}

/* Which forms go to which devices. */
typedef enum ops_reach {
    OPS_EVERYWHERE,
    OPS_LARGE,  /* arrays that are too long for the reference backend to take its time with */
    OPS_FITTING /* forms for GPUs take long to compile for CPUs */
} ops_reach;

static inline void ops_on_all(const char *id, ops_values inputs, ops_values expected,
                              ops_reach reach) {
    vyre_device *const *devices;
    vyre_dialects_guard guard;
    const vyre_dialects *library;
    if (getenv("VYRE_TEST_LIST")) { /* what would be tested */
        printf("operation %s\n", id);
        return;
    }
    ops_ok(vyre_dialects_try_enter(&guard, &library), "the library");
    const vyre_operation *operation = vyre_dialects_find(library, id);
    if (!operation || !vyre_operation_has_program(operation)) {
        fail_msg("there is no operation `%s`", id);
    } else if (getenv("VYRE_TEST_COMMAND")) {
        if (ops_is_worth_a_process(id, &inputs)) {
            ops_command(operation, &inputs, &expected);
        }
    } else {
        size_t count = ops_devices(&devices);
        for (size_t d = 0; d < count; d++) {
            if (reach == OPS_LARGE && !strcmp(vyre_device_id(devices[d]), "reference")) {
                continue;
            }
            bool is_fitting = reach == OPS_FITTING && !strcmp(vyre_device_id(devices[d]), "cpu");
            const vyre_program *program;
            ops_ok(vyre_operation_program(operation, NULL, &program), id);
            ops_run(devices[d], id, program, &inputs, &expected);
            for (size_t k = 0; k < operation->variant_count; k++) {
                if (is_fitting && !strcmp(operation->variants[k].suits, "gpu")) {
                    continue;
                }
                ops_ok(vyre_operation_program(operation, &operation->variants[k], &program), id);
                ops_run(devices[d], id, program, &inputs, &expected);
            }
        }
    }
    vyre_dialects_leave(&guard);
}

static inline void ops_expect(const char *id, ops_values inputs, ops_values expected) {
    ops_on_all(id, inputs, expected, OPS_EVERYWHERE);
}

static inline void ops_expect_large(const char *id, ops_values inputs, ops_values expected) {
    ops_on_all(id, inputs, expected, OPS_LARGE);
}

static inline void ops_expect_fitting(const char *id, ops_values inputs, ops_values expected) {
    ops_on_all(id, inputs, expected, OPS_FITTING);
}

/* Numbers that are the same in every run. */
static inline uint32_t ops_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) ^ (uint32_t)(*state >> 21);
}

#endif
