/* Types: the scalar types of kernels, in one table. */
#ifndef VYRE_TYPES_H
#define VYRE_TYPES_H

#include <vyre/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, number, text, bytes, class). The binary form stores the numbers. A bool takes one byte
 * and is 0 or 1. */
#define VYRE_TYPES(X)                                                                              \
    X(VOID, 0, "void", 0, NONE)                                                                    \
    X(BOOL, 1, "bool", 1, BOOL)                                                                    \
    X(I8, 2, "i8", 1, SIGNED)                                                                      \
    X(U8, 3, "u8", 1, UNSIGNED)                                                                    \
    X(I16, 4, "i16", 2, SIGNED)                                                                    \
    X(U16, 5, "u16", 2, UNSIGNED)                                                                  \
    X(I32, 6, "i32", 4, SIGNED)                                                                    \
    X(U32, 7, "u32", 4, UNSIGNED)                                                                  \
    X(I64, 8, "i64", 8, SIGNED)                                                                    \
    X(U64, 9, "u64", 8, UNSIGNED)                                                                  \
    X(F16, 10, "f16", 2, FLOAT)                                                                    \
    X(BF16, 11, "bf16", 2, FLOAT)                                                                  \
    X(F32, 12, "f32", 4, FLOAT)                                                                    \
    X(F64, 13, "f64", 8, FLOAT)

typedef enum vyre_type {
#define VYRE_TYPE_ENUM(name, number, text, bytes, class_name) VYRE_TYPE_##name = number,
    VYRE_TYPES(VYRE_TYPE_ENUM)
#undef VYRE_TYPE_ENUM
        VYRE_TYPE_COUNT
} vyre_type;

/* Classes are bits, so that a rule can accept several. */
typedef enum vyre_type_class {
    VYRE_CLASS_NONE = 0,
    VYRE_CLASS_BOOL = 1,
    VYRE_CLASS_SIGNED = 2,
    VYRE_CLASS_UNSIGNED = 4,
    VYRE_CLASS_FLOAT = 8,
    VYRE_CLASS_INTEGER = VYRE_CLASS_SIGNED | VYRE_CLASS_UNSIGNED,
    VYRE_CLASS_NUMBER = VYRE_CLASS_INTEGER | VYRE_CLASS_FLOAT,
    VYRE_CLASS_ANY = VYRE_CLASS_NUMBER | VYRE_CLASS_BOOL
} vyre_type_class;

/* For a number that is no type these return "?", 0 and VYRE_CLASS_NONE. */
VYRE_API const char *vyre_type_name(vyre_type type);
VYRE_API uint32_t vyre_type_bytes(vyre_type type);
VYRE_API vyre_type_class vyre_type_class_of(vyre_type type);

/* Returns VYRE_TYPE_VOID for an unknown name, and for "void". */
VYRE_API vyre_type vyre_type_from_name(vyre_str name);

#ifdef __cplusplus
}
#endif

#endif
