/* Arrays: data that stays on a device. */
#ifndef VYRE_PYTHON_ARRAY_H
#define VYRE_PYTHON_ARRAY_H

#include "device.h"
#include "view.h"

typedef struct array {
    PyObject_HEAD PyObject *weak_references;
    device_object *device;
    PyObject *dtype; /* NumPy's, for records; else NULL */
    char *format;    /* the buffer protocol's, for records; else NULL */
    vyre_resident resident;
    bool is_resident; /* the buffer is to be freed */
    bool is_read_only, has_stream;
    uint64_t stream;        /* of the library that the memory came from */
    PyObject *stream_owner; /* keeps the stream alive; NULL if there is none */
    vyre_type type;
    size_t element_bytes, bytes;
    int dimensions;
    Py_ssize_t shape[VIEW_DIMENSIONS];
} array;

/* Makes a view of an array's elements; it has no data. */
void array_describe(array *self, view *out_view);

#endif
