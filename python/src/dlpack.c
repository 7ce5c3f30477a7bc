#include "dlpack.h"

#include <string.h>

#include "error.h"

int dlpack_take(PyObject *capsule, dlpack_tensor *out_tensor) {
    *out_tensor = (dlpack_tensor){0};
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        out_tensor->versioned = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (out_tensor->versioned->version.major != 1) {
            return error_refuse(ERROR_VALUE, "convert the array with numpy.asarray(x)",
                                "the array uses version %u of DLPack, and vyre supports version 1",
                                out_tensor->versioned->version.major);
        }
        return PyCapsule_SetName(capsule, "used_dltensor_versioned");
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        out_tensor->old = PyCapsule_GetPointer(capsule, "dltensor");
        return PyCapsule_SetName(capsule, "used_dltensor");
    }
    return error_refuse(ERROR_TYPE, "pass what __dlpack__() returns, and pass it once",
                        "this is not a DLPack capsule that is still to be used");
}

void dlpack_release(dlpack_tensor *tensor) {
    if (tensor->old && tensor->old->deleter) {
        tensor->old->deleter(tensor->old);
    }
    if (tensor->versioned && tensor->versioned->deleter) {
        tensor->versioned->deleter(tensor->versioned);
    }
    *tensor = (dlpack_tensor){0};
}

const DLTensor *dlpack_look(const dlpack_tensor *tensor) {
    return tensor->old ? &tensor->old->tensor : &tensor->versioned->tensor;
}

bool dlpack_is_read_only(const dlpack_tensor *tensor) {
    return tensor->versioned && tensor->versioned->flags & DLPACK_FLAG_BITMASK_READ_ONLY;
}

static vyre_type tensor_type(const DLTensor *tensor) {
    static const struct {
        uint8_t code, bits;
        vyre_type type;
    } types[] = {{kDLBool, 8, VYRE_TYPE_BOOL},    {kDLInt, 8, VYRE_TYPE_I8},
                 {kDLUInt, 8, VYRE_TYPE_U8},      {kDLInt, 16, VYRE_TYPE_I16},
                 {kDLUInt, 16, VYRE_TYPE_U16},    {kDLInt, 32, VYRE_TYPE_I32},
                 {kDLUInt, 32, VYRE_TYPE_U32},    {kDLInt, 64, VYRE_TYPE_I64},
                 {kDLUInt, 64, VYRE_TYPE_U64},    {kDLFloat, 16, VYRE_TYPE_F16},
                 {kDLBfloat, 16, VYRE_TYPE_BF16}, {kDLFloat, 32, VYRE_TYPE_F32},
                 {kDLFloat, 64, VYRE_TYPE_F64}};
    for (size_t i = 0; i < sizeof types / sizeof *types && tensor->dtype.lanes == 1; i++) {
        if (types[i].code == tensor->dtype.code && types[i].bits == tensor->dtype.bits) {
            return types[i].type;
        }
    }
    return VYRE_TYPE_VOID;
}

static bool is_compact(const DLTensor *tensor) {
    int64_t step = 1;
    bool is_compact = true;
    for (int32_t i = tensor->ndim - 1; i >= 0 && tensor->strides; i--) {
        is_compact &= tensor->shape[i] == 1 || tensor->strides[i] == step;
        step *= tensor->shape[i];
    }
    return is_compact || !step; /* an array without elements always is */
}

void dlpack_describe(const dlpack_tensor *tensor, view *out_view) {
    const DLTensor *from = dlpack_look(tensor);
    size_t length = 1;
    for (int32_t i = 0; i < from->ndim; i++) {
        length *= (size_t)from->shape[i];
    }
    out_view->type = tensor_type(from);
    out_view->element_bytes = (size_t)from->dtype.bits * from->dtype.lanes / 8;
    out_view->bytes = length * out_view->element_bytes;
    out_view->data = (char *)from->data + from->byte_offset;
    out_view->format = "of DLPack";
    out_view->is_read_only = dlpack_is_read_only(tensor);
    out_view->is_contiguous = is_compact(from);
    out_view->dimensions = from->ndim;
    out_view->shape = (const Py_ssize_t *)from->shape;
}

static char *copy_part(const DLTensor *tensor, int32_t dimension, const char *from, char *to) {
    size_t bytes = tensor->dtype.bits / 8u;
    if (dimension == tensor->ndim) {
        memcpy(to, from, bytes);
        return to + bytes;
    }
    for (int64_t i = 0; i < tensor->shape[dimension]; i++) {
        to = copy_part(tensor, dimension + 1,
                       from + i * tensor->strides[dimension] * (int64_t)bytes, to);
    }
    return to;
}

void dlpack_copy(const DLTensor *tensor, void *to, size_t bytes) {
    const char *from = (const char *)tensor->data + tensor->byte_offset;
    if (tensor->strides && bytes) {
        copy_part(tensor, 0, from, to);
    } else if (bytes) {
        memcpy(to, from, bytes);
    }
}

/* An exported tensor: the structure of the version that was asked for, and the shape. */
typedef struct exported {
    DLManagedTensor old;
    DLManagedTensorVersioned versioned;
    PyObject *owner;
    int64_t shape[VIEW_DIMENSIONS], strides[VIEW_DIMENSIONS];
} exported;

/* Any thread may call a deleter, also one that does not hold the GIL. After Python's end nothing is
 * left to release. */
static void delete_exported(exported *self) {
    if (!Py_IsInitialized()) {
        return;
    }
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(self->owner);
    PyMem_Free(self);
    PyGILState_Release(state);
}

static void delete_old(DLManagedTensor *self) {
    delete_exported(self->manager);
}

static void delete_versioned(DLManagedTensorVersioned *self) {
    delete_exported(self->manager);
}

/* A capsule that was never consumed still owns its tensor. */
static void drop_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        DLManagedTensor *tensor = PyCapsule_GetPointer(capsule, "dltensor");
        tensor->deleter(tensor);
    } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        DLManagedTensorVersioned *tensor = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        tensor->deleter(tensor);
    }
}

static void fill_dtype(vyre_type type, DLTensor *tensor) {
    static const uint8_t codes[] = {[VYRE_CLASS_BOOL] = kDLBool,
                                    [VYRE_CLASS_SIGNED] = kDLInt,
                                    [VYRE_CLASS_UNSIGNED] = kDLUInt,
                                    [VYRE_CLASS_FLOAT] = kDLFloat};
    tensor->dtype.code =
        type == VYRE_TYPE_BF16 ? (uint8_t)kDLBfloat : codes[vyre_type_class_of(type)];
    tensor->dtype.bits = (uint8_t)(8 * vyre_type_bytes(type));
    tensor->dtype.lanes = 1;
}

static void fill_tensor(const dlpack_export *what, exported *self, DLTensor *tensor) {
    int64_t step = 1;
    tensor->data = what->data;
    tensor->device.type = what->device_type;
    tensor->device.id = what->device_id;
    tensor->ndim = what->dimensions;
    tensor->shape = self->shape;
    tensor->strides = self->strides;
    fill_dtype(what->type, tensor);
    for (int i = what->dimensions - 1; i >= 0; i--) {
        self->shape[i] = what->shape[i];
        self->strides[i] = step;
        step *= what->shape[i];
    }
}

PyObject *dlpack_give(const dlpack_export *what, PyObject *owner) {
    exported *self = PyMem_Calloc(1, sizeof *self);
    if (!self) {
        return PyErr_NoMemory();
    }
    self->owner = Py_NewRef(owner);
    self->old.manager = self->versioned.manager = self;
    self->old.deleter = delete_old;
    self->versioned.deleter = delete_versioned;
    self->versioned.version.major = 1;
    self->versioned.flags = (what->is_read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0) |
                            (what->is_copied ? DLPACK_FLAG_BITMASK_IS_COPIED : 0);
    fill_tensor(what, self, what->is_versioned ? &self->versioned.tensor : &self->old.tensor);
    PyObject *capsule = what->is_versioned
                            ? PyCapsule_New(&self->versioned, "dltensor_versioned", drop_capsule)
                            : PyCapsule_New(&self->old, "dltensor", drop_capsule);
    if (!capsule) {
        delete_exported(self);
    }
    return capsule;
}
