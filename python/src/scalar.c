#include "scalar.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

static int refuse_kind(PyObject *number, vyre_type type, const char *where, const char *fix) {
    PyObject *found = PyType_GetName(Py_TYPE(number));
    const char *name = found ? PyUnicode_AsUTF8AndSize(found, NULL) : NULL;
    if (name) {
        error_refuse(ERROR_TYPE, fix, "%s is %s, and the kernel needs a number of type %s", where,
                     name, vyre_type_name(type));
    }
    Py_XDECREF(found);
    return -1;
}

static int refuse_range(PyObject *number, vyre_type type, const char *where) {
    PyObject *found = PyObject_Str(number);
    if (!found &&
        PyErr_ExceptionMatches(PyExc_ValueError)) { /* Python writes 4300 digits at most */
        PyErr_Clear();
        found = PyUnicode_FromString("a number of thousands of digits");
    }
    const char *text = found ? PyUnicode_AsUTF8AndSize(found, NULL) : NULL;
    if (text) {
        error_refuse(ERROR_VALUE, "pass a number in the range of the type, or widen the type",
                     "%s is %.64s, which %s cannot hold", where, text, vyre_type_name(type));
    }
    Py_XDECREF(found);
    return -1;
}

/* Rounds to nearest even, to a format with `mantissa` stored bits whose normal numbers have
 * exponents from `lowest`. Scales the last place of the result to 1, where rint rounds. */
static double round_to(double value, int mantissa, int lowest) {
    int exponent;
    if (value == 0 || !isfinite(value)) {
        return value;
    }
    frexp(value, &exponent);
    exponent = exponent - 1 < lowest ? lowest : exponent - 1;
    return ldexp(rint(ldexp(value, mantissa - exponent)), exponent - mantissa);
}

/* The bits of a value that the format holds exactly. */
static uint64_t half_bits(double value, int mantissa, int lowest) {
    int exponent_bits = 15 - mantissa, exponent;
    uint64_t sign = signbit(value) ? 0x8000 : 0;
    uint64_t infinite = ((1u << exponent_bits) - 1) << mantissa;
    if (isnan(value)) {
        return infinite | 1u << (mantissa - 1);
    }
    if (isinf(value)) {
        return sign | infinite;
    }
    double magnitude = fabs(value);
    if (magnitude < ldexp(1, lowest)) {
        return sign | (uint64_t)ldexp(magnitude, mantissa - lowest);
    }
    frexp(magnitude, &exponent);
    uint64_t units = (uint64_t)ldexp(magnitude, mantissa - (exponent - 1));
    return sign | (((uint64_t)(exponent - lowest) << mantissa) + units - (1u << mantissa));
}

static uint64_t float_bits(vyre_type type, double value) {
    uint64_t bits = 0;
    if (type == VYRE_TYPE_F64) {
        memcpy(&bits, &value, sizeof value);
    } else if (type == VYRE_TYPE_F32) {
        float narrow = (float)value;
        memcpy(&bits, &narrow, sizeof narrow);
    } else if (type == VYRE_TYPE_F16) {
        bits = half_bits(round_to(value, 10, -14), 10, -14);
    } else {
        bits = half_bits(round_to(value, 7, -126), 7, -126);
    }
    return bits;
}

/* The least magnitude that rounds to infinity: the largest value plus half of its last place. */
static double too_large(vyre_type type) {
    switch (type) {
    case VYRE_TYPE_F16: return 65520;
    case VYRE_TYPE_BF16: return ldexp(511, 119);
    case VYRE_TYPE_F32: return ldexp(33554431, 103);
    default: return INFINITY;
    }
}

static int read_float(PyObject *number, vyre_type type, const char *where, uint64_t *out_bits) {
    double value = PyFloat_AsDouble(number);
    if (value == -1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear();
            return refuse_range(number, type, where);
        }
        PyErr_Clear();
        return refuse_kind(number, type, where, "pass a number");
    }
    if (isfinite(value) && fabs(value) >= too_large(type)) {
        return refuse_range(number, type, where);
    }
    *out_bits = float_bits(type, value);
    return 0;
}

static int read_bool(PyObject *number, const char *where, uint64_t *out_bits) {
    PyObject *type_name = PyType_GetName(Py_TYPE(number));
    const char *name = type_name ? PyUnicode_AsUTF8AndSize(type_name, NULL) : NULL;
    bool is_bool =
        PyBool_Check(number) || (name && (!strcmp(name, "bool") || !strcmp(name, "bool_")));
    Py_XDECREF(type_name);
    int truth = is_bool ? PyObject_IsTrue(number) : -1;
    if (!is_bool && !PyErr_Occurred()) {
        return refuse_kind(number, VYRE_TYPE_BOOL, where, "pass True or False");
    }
    *out_bits = (uint64_t)truth;
    return truth < 0 ? -1 : 0;
}

static bool fits(vyre_type type, int64_t value) {
    unsigned bits = 8 * vyre_type_bytes(type);
    if (vyre_type_class_of(type) == VYRE_CLASS_UNSIGNED) {
        return value >= 0 && (bits == 64 || value < (int64_t)1 << bits);
    }
    return bits == 64 || (value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1));
}

static int read_integer(PyObject *number, vyre_type type, const char *where, uint64_t *out_bits) {
    PyObject *index = PyNumber_Index(number);
    if (!index) {
        PyErr_Clear();
        return refuse_kind(number, type, where, "pass an integer, such as int(x)");
    }
    int overflow;
    int64_t value = PyLong_AsLongLongAndOverflow(index, &overflow);
    uint64_t bits = (uint64_t)value;
    bool is_good = !overflow && fits(type, value);
    if (overflow > 0 && type == VYRE_TYPE_U64) {
        bits = PyLong_AsUnsignedLongLong(index);
        is_good = !PyErr_Occurred();
        PyErr_Clear();
    }
    Py_DECREF(index);
    if (!is_good) {
        return refuse_range(number, type, where);
    }
    unsigned width = 8 * vyre_type_bytes(type);
    *out_bits = width == 64 ? bits : bits & (((uint64_t)1 << width) - 1);
    return 0;
}

int scalar_read(PyObject *number, vyre_type type, const char *where, uint64_t *out_bits) {
    switch (vyre_type_class_of(type)) {
    case VYRE_CLASS_FLOAT: return read_float(number, type, where, out_bits);
    case VYRE_CLASS_BOOL: return read_bool(number, where, out_bits);
    default: return read_integer(number, type, where, out_bits);
    }
}

uint64_t scalar_extend(vyre_type type, uint64_t bits) {
    unsigned shift = 64 - 8 * vyre_type_bytes(type);
    if (vyre_type_class_of(type) != VYRE_CLASS_SIGNED) {
        return bits;
    }
    return (uint64_t)((int64_t)(bits << shift) >> shift);
}
