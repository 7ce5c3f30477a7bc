/* DLPack: imports and exports arrays. https://dmlc.github.io/dlpack */
#ifndef VYRE_PYTHON_DLPACK_H
#define VYRE_PYTHON_DLPACK_H

#include "view.h"

/* The structures of the specification, under its names. */
enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };
enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };
#define DLPACK_FLAG_BITMASK_READ_ONLY 1u
#define DLPACK_FLAG_BITMASK_IS_COPIED 2u

typedef struct DLTensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides in elements; NULL if the tensor is compact */
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor tensor;
    void *manager;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor tensor;
} DLManagedTensorVersioned;

/* A tensor that this module took over from a capsule. */
typedef struct dlpack_tensor {
    DLManagedTensor *old;
    DLManagedTensorVersioned *versioned; /* one of the two is set */
} dlpack_tensor;

/* Takes the tensor out of a capsule, which then holds none. */
int dlpack_take(PyObject *capsule, dlpack_tensor *out_tensor);
void dlpack_release(dlpack_tensor *tensor);
const DLTensor *dlpack_look(const dlpack_tensor *tensor);
bool dlpack_is_read_only(const dlpack_tensor *tensor);

/* Fills the fields of a view that describe elements. A dtype that kernels do not have becomes
 * void. */
void dlpack_describe(const dlpack_tensor *tensor, view *out_view);

/* Copies the elements of a tensor of the host, `bytes` in all, in C order. */
void dlpack_copy(const DLTensor *tensor, void *to, size_t bytes);

/* Makes a capsule for memory that `owner` keeps alive. */
typedef struct dlpack_export {
    void *data;
    int32_t device_type, device_id;
    vyre_type type;
    int dimensions;
    const Py_ssize_t *shape;
    bool is_read_only, is_copied, is_versioned;
} dlpack_export;
PyObject *dlpack_give(const dlpack_export *what, PyObject *owner);

#endif
