/* Single operations as expressions of OpenCL C, exact to the bit.
 *
 * Names of values are names of variables or constants: they may appear several times. Halves are
 * patterns of 16 bits. */
#ifndef VYRE_OPENCL_CODEGEN_WRITE_H
#define VYRE_OPENCL_CODEGEN_WRITE_H

#include <vyre/program.h>

#include "base/strbuf.h"

typedef struct opencl_name {
    char text[48];
} opencl_name;

/* The type of a variable, and of an element in memory. */
const char *opencl_type(vyre_type type);
const char *opencl_memory_type(vyre_type type);

/* An integer type of the same width, without a sign. */
const char *opencl_unsigned_type(vyre_type type);

bool opencl_is_signed(vyre_type type);
static inline bool opencl_is_half(vyre_type type) {
    return type == VYRE_TYPE_F16 || type == VYRE_TYPE_BF16;
}

opencl_name opencl_constant(vyre_type type, uint64_t bits);

/* Functions that expressions call: bits of a set. A truncation is from f32 or f64 to each integer
 * type. */
typedef enum opencl_function {
    OPENCL_REVERSE_32,
    OPENCL_REVERSE_64, /* calls that of 32 bits */
    OPENCL_MIN_F32,
    OPENCL_MIN_F64,
    OPENCL_MAX_F32,
    OPENCL_MAX_F64,
    OPENCL_CANONICAL_F32,
    OPENCL_CANONICAL_F64,
    OPENCL_FENCE,
    OPENCL_SHUFFLE_32,
    OPENCL_SHUFFLE_64, /* calls that of 32 bits */
    OPENCL_BALLOT,
    OPENCL_DOT,
    OPENCL_TRUNCATION,
    OPENCL_FUNCTION_COUNT = OPENCL_TRUNCATION + 16
} opencl_function;

#define OPENCL_FUNCTION(name) (1u << (name))

/* What the expression of an operation calls; its types as in opencl_write_op. */
uint32_t opencl_functions_of(vyre_op op, vyre_type type, vyre_type result);
void opencl_write_functions(vyre_strbuf *out, uint32_t functions);

/* The canonical NaN of a type in place of any other: as a choice, or by a call of
 * OPENCL_CANONICAL_F32 or F64. */
void opencl_write_canonical(vyre_strbuf *out, vyre_type type, bool calls, const char *value);

/* `type` is that of the operands, of a select that of its values. False if there is no code for the
 * operation on the type. */
VYRE_MUST_USE bool opencl_write_op(vyre_strbuf *out, vyre_op op, vyre_type type, vyre_type result,
                                   const char *a, const char *b, const char *c);

#endif
