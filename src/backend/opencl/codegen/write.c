#include "backend/opencl/codegen/write.h"

#include <inttypes.h>
#include <stdio.h>

#include "backend/opencl/codegen/write_parts.h"
#include "ir/cases.h"
#include "ir/lookup.h"

typedef struct type_row {
    const char *name, *memory, *plain;
} type_row;

static const type_row *row_of(vyre_type type) {
    static const type_row rows[VYRE_TYPE_COUNT] = {
        [VYRE_TYPE_BOOL] = {"bool", "uchar", "uchar"},
        [VYRE_TYPE_I8] = {"char", "char", "uchar"},
        [VYRE_TYPE_U8] = {"uchar", "uchar", "uchar"},
        [VYRE_TYPE_I16] = {"short", "short", "ushort"},
        [VYRE_TYPE_U16] = {"ushort", "ushort", "ushort"},
        [VYRE_TYPE_I32] = {"int", "int", "uint"},
        [VYRE_TYPE_U32] = {"uint", "uint", "uint"},
        [VYRE_TYPE_I64] = {"long", "long", "ulong"},
        [VYRE_TYPE_U64] = {"ulong", "ulong", "ulong"},
        [VYRE_TYPE_F16] = {"ushort", "ushort", "ushort"},
        [VYRE_TYPE_BF16] = {"ushort", "ushort", "ushort"},
        [VYRE_TYPE_F32] = {"float", "float", "uint"},
        [VYRE_TYPE_F64] = {"double", "double", "ulong"},
    };
    return &rows[type];
}

const char *opencl_type(vyre_type type) {
    return row_of(type)->name;
}

const char *opencl_memory_type(vyre_type type) {
    return row_of(type)->memory;
}

const char *opencl_unsigned_type(vyre_type type) {
    return row_of(type)->plain;
}

bool opencl_is_signed(vyre_type type) {
    return vyre_lookup_class(type) == VYRE_CLASS_SIGNED;
}

opencl_name opencl_constant(vyre_type type, uint64_t bits) {
    opencl_name name = {{0}};
    uint32_t spare = 64 - vyre_type_bytes(type) * 8;
    int64_t number = (int64_t)(bits << spare) >> spare;
    if (type == VYRE_TYPE_BOOL) {
        snprintf(name.text, sizeof name.text, "%s", bits ? "true" : "false");
    } else if (type == VYRE_TYPE_F32) {
        snprintf(name.text, sizeof name.text, "as_float(0x%08" PRIx64 "u)", bits);
    } else if (type == VYRE_TYPE_F64) {
        snprintf(name.text, sizeof name.text, "as_double(0x%016" PRIx64 "UL)", bits);
    } else if (type == VYRE_TYPE_I64) {
        snprintf(name.text, sizeof name.text, number < 0 ? "(long)0x%" PRIx64 "UL" : "%" PRIu64 "L",
                 bits);
    } else if (type == VYRE_TYPE_U64) {
        snprintf(name.text, sizeof name.text, "%" PRIu64 "UL", bits);
    } else if (type == VYRE_TYPE_U32) {
        snprintf(name.text, sizeof name.text, "%" PRIu64 "u", bits);
    } else if (type == VYRE_TYPE_I32) {
        snprintf(name.text, sizeof name.text, number < 0 ? "(int)0x%" PRIx64 "u" : "%" PRIu64,
                 bits);
    } else if (opencl_is_signed(type)) {
        snprintf(name.text, sizeof name.text, "(%s)%" PRId64, opencl_type(type), number);
    } else {
        snprintf(name.text, sizeof name.text, "(%s)%" PRIu64, opencl_type(type), bits);
    }
    return name;
}

void opencl_write_canonical(vyre_strbuf *out, vyre_type type, bool calls, const char *value) {
    if (calls) {
        vyre_strbuf_printf(out, "vyre_canonical_%s(%s)", opencl_type(type), value);
        return;
    }
    vyre_strbuf_printf(
        out, "%s != %s ? %s : %s", value, value,
        type == VYRE_TYPE_F64 ? "as_double(0x7ff8000000000000UL)" : "as_float(0x7fc00000u)", value);
}

bool opencl_write_op(vyre_strbuf *out, vyre_op op, vyre_type type, vyre_type result, const char *a,
                     const char *b, const char *c) {
    vyre_type_class class = vyre_lookup_class(type);
    switch (op) {
    case VYRE_OP_SELECT: vyre_strbuf_printf(out, "%s ? %s : %s", a, b, c); return true;
    case VYRE_OP_CONVERT: return opencl_write_convert(out, type, result, a);
    case VYRE_OP_BITCAST: opencl_write_bitcast(out, type, result, a); return true;
    case VYRE_ANY_OF(ARITHMETIC, INTEGER, LOGIC, BITS, FLOAT, COMPARE):
        return class == VYRE_CLASS_FLOAT ? opencl_write_float(out, op, type, a, b, c)
                                         : opencl_write_integer(out, op, type, a, b);
    case VYRE_ANY_OF(SURROUNDINGS, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    return false;
}
