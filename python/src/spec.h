/* Specs: the arguments of a program, as a call checks them. */
#ifndef VYRE_PYTHON_SPEC_H
#define VYRE_PYTHON_SPEC_H

#include "view.h"

typedef struct argument_spec {
    PyObject *name;
    char *where;    /* for errors: "saxpy(): argument `a`" */
    vyre_type type; /* of the scalar or the elements; void for records */
    bool is_buffer;
    vyre_access access;
    uint32_t size;                                    /* of an `out` buffer, for vyre_size_eval */
    uint32_t sides[VYRE_MOST_DIMENSIONS], side_count; /* the same, if it has several dimensions */
    uint32_t shaped_like; /* an `out` buffer of the length of that argument; else VYRE_NONE */
    size_t element_bytes;
    const view_field *fields; /* of records */
    size_t field_count;
} argument_spec;

typedef struct program_spec {
    argument_spec *arguments;
    view_field *fields; /* of all arguments */
    size_t count, output_count;
    bool prints;
} program_spec;

/* `name` is that of the kernel in errors. */
int spec_init(program_spec *self, const vyre_program *program, const char *name);
void spec_deinit(program_spec *self);

/* Whether an argument is an `out` buffer. */
static inline bool spec_is_output(const argument_spec *argument) {
    return argument->is_buffer && argument->access == VYRE_ACCESS_OUT;
}

/* Returns the index of an argument, `count` if none has that name, or -1. */
Py_ssize_t spec_find(const program_spec *self, PyObject *name);

/* Checks that an array fits an argument and returns its length in elements, or -1. */
Py_ssize_t spec_check(const argument_spec *self, view *array);

#endif
