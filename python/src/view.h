/* Views: the memory of an object that a kernel is called with. */
#ifndef VYRE_PYTHON_VIEW_H
#define VYRE_PYTHON_VIEW_H

#include "python.h"

struct dlpack_tensor;

enum { VIEW_DIMENSIONS = 32 };

/* The elements of an array. `type` is void for a structured dtype, which `format` describes, and
 * for a dtype that kernels do not have. */
typedef struct view {
    void *data;
    size_t bytes, element_bytes;
    vyre_type type;
    bool is_read_only, is_contiguous;
    int dimensions;
    const Py_ssize_t *shape;
    const char *format;           /* as the buffer protocol writes it */
    Py_buffer buffer;             /* holds the object until the view is closed */
    struct dlpack_tensor *tensor; /* in place of the buffer, if DLPack gave the memory */
    PyObject *array;              /* owned: a vyre.Array; there is no data then */
    void *copy;                   /* C-contiguous elements; NULL unless view_copy was called */
} view;

/* How a view is opened. */
typedef struct view_request {
    vyre_type wanted;
    const char *where;      /* names the argument in errors */
    const uint64_t *stream; /* that arrays of other libraries get ready for; NULL: their own */
    bool is_read;           /* nothing is written: shared memory may overlap other such memory */
} view_request;

/* Opens the memory of an object. A failure leaves nothing to close. */
int view_open(view *self, PyObject *object, const view_request *request);
void view_close(view *self);

/* Replaces `data` with a contiguous copy of the elements, which the view owns. */
int view_copy(view *self);

/* A scalar of a record, at an offset in bytes. */
typedef struct view_field {
    size_t offset;
    vyre_type type;
} view_field;

/* Returns whether a structured dtype of that format has each of the fields. */
bool view_has_fields(const char *format, const view_field *fields, size_t count);

/* Describes the elements: "dtype float32", or the format itself. */
void view_describe(const view *self, char *out_text, size_t size);
/* NumPy's name for a scalar type: "float32". */
const char *view_dtype_name(vyre_type type);

#endif
