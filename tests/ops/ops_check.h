/* What the tests of the standard library share: an operation of ops/ by its id, run on every device
 * of VYRE_TEST_DEVICES (names with commas between; "reference,cpu" if it is not set), its entry and
 * each of its variants, and held against arrays that the test computed in C.
 *
 *     ops_expect("reduce.sum_u32", OPS(OPS_ARRAY(x, n)), OPS(OPS_SCALAR("total", total)));
 *
 * Values are given by name; those of `inout` buffers on both sides. */
#ifndef VYRE_TESTS_OPS_CHECK_H
#define VYRE_TESTS_OPS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <vyre/vyre.h>

#include "base/file.h"
#include "base/toml.h"

enum { OPS_MOST_VALUES = 16, OPS_TEXT_LIMIT = 1 << 22, OPS_MOST_DEVICES = 8, OPS_NAME = 128 };

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

static inline const ops_value *ops_find(const ops_values *values, const char *name) {
    for (size_t k = 0; k < OPS_MOST_VALUES && values->items[k].name; k++) {
        if (!strcmp(values->items[k].name, name)) {
            return &values->items[k];
        }
    }
    return NULL;
}

/* A function as a program that applies it to each element of buffers of its parameters' names; a
 * scalar result is `result`. */
static inline void ops_wrap_function(vyre_text *text, const char *entry) {
    char start[OPS_NAME + 8], names[OPS_MOST_VALUES][OPS_NAME], types[OPS_MOST_VALUES][OPS_NAME];
    char given[OPS_NAME];
    size_t count = 0;
    snprintf(start, sizeof start, "fn %s(", entry);
    const char *at = strstr(text->data, start);
    if (!at) {
        return; /* a program */
    }
    at += strlen(start);
    while (*at != ')' && count < OPS_MOST_VALUES) {
        int used = 0;
        assert_int_equal(
            sscanf(at, " %127[a-zA-Z0-9_] : %127[a-z0-9<> ] %n", names[count], types[count], &used),
            2);
        at += used;
        at += *at == ',';
        count++;
    }
    assert_int_equal(sscanf(at, ") -> %127[a-z0-9]", given), 1);
    vyre_text_printf(text, "\nprogram ops_apply(");
    for (size_t k = 0; k < count; k++) {
        bool is_buffer = !strncmp(types[k], "buffer", 6);
        vyre_text_printf(text, "%s: %s%s%s, ", names[k], is_buffer ? "" : "buffer<", types[k],
                         is_buffer ? "" : ">");
    }
    vyre_text_printf(text, "result: out buffer<%s>[len(%s)]) over result { result[gid] = %s(",
                     given, names[0], entry);
    for (size_t k = 0; k < count; k++) {
        bool is_buffer = !strncmp(types[k], "buffer", 6);
        vyre_text_printf(text, "%s%s%s", k ? ", " : "", names[k], is_buffer ? "" : "[gid]");
    }
    vyre_text_printf(text, "); }\n");
}

static inline void ops_run(vyre_device *device, const char *id, const vyre_program *program,
                           const ops_values *inputs, const ops_values *expected) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_input given[OPS_MOST_VALUES];
    const ops_value *wanted[OPS_MOST_VALUES];
    size_t input_count = 0, wanted_count = 0;
    for (uint32_t k = 0; k < ir->arg_count; k++) {
        const char *name = ir->strings + ir->args[k].name;
        const vyre_resource *buffer =
            ir->args[k].resource == VYRE_NONE ? NULL : &ir->resources[ir->args[k].resource];
        if (!buffer || buffer->access != VYRE_ACCESS_OUT) {
            const ops_value *value = ops_find(inputs, name);
            if (!value) {
                fail_msg("%s: the test gives no value for `%s`", id, name);
            }
            given[input_count++] = (vyre_input){value->size ? value->data : NULL, value->size};
        }
        if (buffer && buffer->access != VYRE_ACCESS_IN) {
            wanted[wanted_count] = ops_find(expected, name);
            if (!wanted[wanted_count++]) {
                fail_msg("%s: the test expects nothing of `%s`", id, name);
            }
        }
    }
    vyre_outputs outputs;
    ops_ok(vyre_device_dispatch(device, program, given, input_count, NULL, &outputs), id);
    assert_int_equal(outputs.count, wanted_count);
    for (size_t k = 0; k < wanted_count; k++) {
        const uint8_t *right = wanted[k]->data, *found = outputs.items[k].data;
        if (outputs.items[k].size != wanted[k]->size) {
            fail_msg("%s (%s) on %s: `%s` has %zu bytes, expected %zu", id,
                     vyre_program_name(program), vyre_device_name(device), wanted[k]->name,
                     outputs.items[k].size, wanted[k]->size);
        }
        for (size_t b = 0; b < wanted[k]->size; b++) {
            if (found[b] != right[b]) {
                fail_msg("%s (%s) on %s: `%s` differs at byte %zu of %zu: %02x, expected %02x", id,
                         vyre_program_name(program), vyre_device_name(device), wanted[k]->name, b,
                         wanted[k]->size, found[b], right[b]);
            }
        }
    }
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

static inline void ops_read(const char *name, vyre_text *out) {
    char path[2 * OPS_NAME];
    *out = (vyre_text){0};
    snprintf(path, sizeof path, "ops/%s", name);
    ops_ok(vyre_file_read(path, OPS_TEXT_LIMIT, out), path);
}

/* The programs of an operation: its entry, then its variants. */
typedef struct ops_operation {
    char id[OPS_NAME];
    vyre_module *modules[OPS_MOST_VALUES];
    vyre_program *programs[OPS_MOST_VALUES];
    size_t count;
} ops_operation;

static inline void ops_add(ops_operation *to, const char *source, const char *entry) {
    vyre_text text;
    vyre_diagnostics *diagnostics;
    ops_read(source, &text);
    ops_wrap_function(&text, entry);
    ops_ok(vyre_diagnostics_create(&diagnostics), entry);
    ops_ok(vyre_module_parse(source, text.data, text.size, diagnostics, &to->modules[to->count]),
           source);
    vyre_diagnostics_free(diagnostics);
    to->programs[to->count] = vyre_module_find(to->modules[to->count], entry);
    if (!to->programs[to->count]) {
        to->programs[to->count] = vyre_module_find(to->modules[to->count], "ops_apply");
    }
    if (!to->programs[to->count++]) {
        fail_msg("%s has neither program nor function `%s`", source, entry);
    }
    vyre_text_free(&text);
}

static inline void ops_open(const char *id, ops_operation *out) {
    char dialect[OPS_NAME], file[OPS_NAME + 8], source[OPS_NAME + 8], entry[OPS_NAME];
    const vyre_toml_value *all, *found = NULL, *value;
    vyre_text text;
    vyre_toml *document;
    *out = (ops_operation){.count = 0};
    snprintf(out->id, sizeof out->id, "%s", id);
    snprintf(dialect, sizeof dialect, "%.*s", (int)strcspn(id, "."), id);
    snprintf(file, sizeof file, "%s.toml", dialect);
    snprintf(source, sizeof source, "%s.vyre", dialect);
    snprintf(entry, sizeof entry, "%s", id + strcspn(id, ".") + 1);
    for (char *c = entry; *c; c++) {
        *c = *c == '.' ? '_' : *c;
    }
    ops_read(file, &text);
    ops_ok(vyre_toml_read(file, text.data, text.size, &document), file);
    ops_ok(vyre_toml_get(vyre_toml_root(document), "operation", VYRE_TOML_ARRAY, &all), file);
    for (size_t k = 0; k < all->array.count && !found; k++) {
        ops_ok(vyre_toml_get(&all->array.items[k], "id", VYRE_TOML_STRING, &value), file);
        found = !strcmp(value->string.data, id) ? &all->array.items[k] : NULL;
    }
    if (!found) {
        fail_msg("%s has no operation `%s`", file, id);
    }
    if ((value = vyre_toml_find(found, "source"))) {
        snprintf(source, sizeof source, "%s", value->string.data);
    }
    if ((value = vyre_toml_find(found, "entry"))) {
        snprintf(entry, sizeof entry, "%s", value->string.data);
    }
    ops_add(out, source, entry);
    const vyre_toml_value *variants = vyre_toml_find(found, "variant");
    for (size_t k = 0; variants && k < variants->array.count; k++) {
        ops_ok(vyre_toml_get(&variants->array.items[k], "entry", VYRE_TOML_STRING, &value), file);
        ops_add(out, source, value->string.data);
    }
    vyre_toml_free(document);
    vyre_text_free(&text);
}

static inline void ops_expect(const char *id, ops_values inputs, ops_values expected) {
    static ops_operation open; /* the last one: tests ask for the same with many sizes */
    vyre_device *const *devices;
    size_t count = ops_devices(&devices);
    if (strcmp(open.id, id)) {
        for (size_t k = 0; k < open.count; k++) {
            vyre_module_free(open.modules[k]);
        }
        ops_open(id, &open);
    }
    for (size_t d = 0; d < count; d++) {
        for (size_t k = 0; k < open.count; k++) {
            ops_run(devices[d], id, open.programs[k], &inputs, &expected);
        }
    }
}

/* Numbers that are the same in every run. */
static inline uint32_t ops_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) ^ (uint32_t)(*state >> 21);
}

#endif
