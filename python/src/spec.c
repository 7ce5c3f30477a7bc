#include "spec.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

static bool has_prints(const vyre_ir *ir) {
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        if (ir->insts[i].op == VYRE_OP_PRINT) {
            return true;
        }
    }
    return false;
}

static size_t count_fields(const vyre_ir *ir) {
    size_t count = 0;
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        count += ir->resources[i].kind == VYRE_RESOURCE_FIELD;
    }
    return count;
}

static char *name_place(const char *program, const char *argument) {
    size_t size = strlen(program) + strlen(argument) + sizeof "(): argument ``";
    char *where = PyMem_Malloc(size);
    if (where) {
        snprintf(where, size, "%s(): argument `%s`", program, argument);
    } else {
        PyErr_NoMemory();
    }
    return where;
}

/* Fields are sorted by buffer, so those of one argument are neighbours. */
static void take_fields(program_spec *self, argument_spec *argument, const vyre_ir *ir,
                        uint32_t resource, size_t *taken) {
    argument->fields = self->fields + *taken;
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        const vyre_resource *field = &ir->resources[i];
        if (field->kind == VYRE_RESOURCE_FIELD && field->size == resource) {
            self->fields[(*taken)++] = (view_field){field->length, (vyre_type)field->type};
            argument->field_count++;
        }
    }
}

static int describe(program_spec *self, const vyre_program *program, const char *kernel,
                    uint32_t index, size_t *taken_fields) {
    const vyre_ir *ir = vyre_program_ir(program);
    const vyre_arg *arg = &ir->args[index];
    const char *name = ir->strings + arg->name;
    argument_spec *argument = &self->arguments[index];
    *argument = (argument_spec){.type = (vyre_type)arg->type,
                                .is_buffer = arg->resource != VYRE_NONE,
                                .size = VYRE_NONE,
                                .shaped_like = VYRE_NONE,
                                .element_bytes = vyre_type_bytes((vyre_type)arg->type)};
    self->count = index + 1;
    if (argument->is_buffer) {
        const vyre_resource *resource = &ir->resources[arg->resource];
        argument->access = (vyre_access)resource->access;
        if (argument->type == VYRE_TYPE_VOID) {
            argument->element_bytes = resource->length;
            take_fields(self, argument, ir, arg->resource, taken_fields);
        }
        if (argument->access == VYRE_ACCESS_OUT) {
            const vyre_size_node *node = &ir->sizes[resource->size];
            argument->size = resource->size;
            argument->side_count = vyre_program_sides(program, index, argument->sides);
            argument->shaped_like = node->op == VYRE_SIZE_LEN ? node->a : VYRE_NONE;
            self->output_count++;
        }
    }
    argument->name = PyUnicode_InternFromString(name);
    argument->where = argument->name ? name_place(kernel, name) : NULL;
    return argument->where ? 0 : -1;
}

int spec_init(program_spec *self, const vyre_program *program, const char *name) {
    const vyre_ir *ir = vyre_program_ir(program);
    size_t taken_fields = 0;
    *self = (program_spec){.prints = has_prints(ir)};
    self->arguments = PyMem_Calloc(ir->arg_count + 1, sizeof *self->arguments);
    self->fields = PyMem_Calloc(count_fields(ir) + 1, sizeof *self->fields);
    if (!self->arguments || !self->fields) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (describe(self, program, name, i, &taken_fields)) {
            return -1;
        }
    }
    return 0;
}

void spec_deinit(program_spec *self) {
    for (size_t i = 0; i < self->count; i++) {
        Py_XDECREF(self->arguments[i].name);
        PyMem_Free(self->arguments[i].where);
    }
    PyMem_Free(self->arguments);
    PyMem_Free(self->fields);
}

Py_ssize_t spec_find(const program_spec *self, PyObject *name) {
    for (size_t i = 0; i < self->count; i++) {
        if (self->arguments[i].name == name) {
            return (Py_ssize_t)i;
        }
    }
    for (size_t i = 0; i < self->count; i++) {
        int same = PyObject_RichCompareBool(self->arguments[i].name, name, Py_EQ);
        if (same) {
            return same < 0 ? -1 : (Py_ssize_t)i;
        }
    }
    return (Py_ssize_t)self->count;
}

static int refuse_dtype(const argument_spec *self, const view *array) {
    char found[128], fix[128];
    view_describe(array, found, sizeof found);
    if (self->type == VYRE_TYPE_VOID) {
        return error_refuse(ERROR_TYPE,
                            "use a structured dtype with the fields of the struct, made with "
                            "numpy.dtype(..., align=True)",
                            "%s has %s, and the kernel needs records of %zu bytes with C's layout",
                            self->where, found, self->element_bytes);
    }
    const char *needed = view_dtype_name(self->type);
    bool is_flags = array->type == VYRE_TYPE_BOOL && self->type == VYRE_TYPE_U8;
    snprintf(fix, sizeof fix, "convert the array with .%s(\"%s\"), or change the kernel",
             is_flags ? "view" : "astype", needed);
    return error_refuse(ERROR_TYPE, fix, "%s has %s, and the kernel needs %s", self->where, found,
                        needed);
}

/* An array of scalars fits records whose fields all have its type, if its last dimension is one
 * record: shape (n, 3) for vec3. */
static bool is_last_dimension(const argument_spec *self, const view *array) {
    if (array->dimensions < 2 || array->type == VYRE_TYPE_VOID ||
        (size_t)array->shape[array->dimensions - 1] * array->element_bytes != self->element_bytes) {
        return false;
    }
    for (size_t i = 0; i < self->field_count; i++) {
        if (self->fields[i].type != array->type) {
            return false;
        }
    }
    return true;
}

static bool has_records(const argument_spec *self, const view *array) {
    return is_last_dimension(self, array) ||
           (array->element_bytes == self->element_bytes &&
            view_has_fields(array->format, self->fields, self->field_count));
}

Py_ssize_t spec_check(const argument_spec *self, view *array) {
    bool is_right =
        self->type == VYRE_TYPE_VOID ? has_records(self, array) : array->type == self->type;
    if (!is_right) {
        return refuse_dtype(self, array);
    }
    if (self->access != VYRE_ACCESS_IN && array->is_read_only) {
        return error_refuse(ERROR_VALUE, "pass a writable copy, such as x.copy()",
                            "%s is read-only, and the kernel writes it", self->where);
    }
    if (self->access != VYRE_ACCESS_IN && !array->is_contiguous) {
        return error_refuse(
            ERROR_VALUE, "pass numpy.ascontiguousarray(x), and copy what comes out back",
            "%s is not C-contiguous, and the kernel writes it in place", self->where);
    }
    if (!array->is_contiguous && view_copy(array)) {
        return -1;
    }
    return (Py_ssize_t)(array->bytes / self->element_bytes);
}
