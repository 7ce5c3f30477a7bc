/* Floats: f32 and f64 by the device's own operations, of halves only what concerns their bits. */
#include "backend/opencl/codegen/write_parts.h"
#include "ir/cases.h"
#include "ir/lookup.h"

typedef struct parts {
    const char *type, *plain, *sign, *magnitude; /* masks of bits */
} parts;

static parts parts_of(vyre_type type) {
    return type == VYRE_TYPE_F64
               ? (parts){"double", "ulong", "0x8000000000000000UL", "0x7fffffffffffffffUL"}
               : (parts){"float", "uint", "0x80000000u", "0x7fffffffu"};
}

static bool write_two(vyre_strbuf *out, const char *sign, const char *a, const char *b) {
    vyre_strbuf_printf(out, "%s %s %s", a, sign, b);
    return true;
}

static bool write_call(vyre_strbuf *out, const char *name, const char *a) {
    vyre_strbuf_printf(out, "%s(%s)", name, a);
    return true;
}

static bool write_half(vyre_strbuf *out, vyre_op op, const char *a, const char *b) {
    if (op == VYRE_OP_NEG) {
        vyre_strbuf_printf(out, "(ushort)(%s ^ 0x8000)", a);
    } else if (op == VYRE_OP_ABS) {
        vyre_strbuf_printf(out, "(ushort)(%s & 0x7fff)", a);
    } else if (op == VYRE_OP_COPYSIGN) {
        vyre_strbuf_printf(out, "(ushort)((%s & 0x7fff) | (%s & 0x8000))", a, b);
    } else {
        return false;
    }
    return true;
}

bool opencl_write_float(vyre_strbuf *out, vyre_op op, vyre_type type, const char *a, const char *b,
                        const char *c) {
    const parts p = parts_of(type);
    if (opencl_is_half(type)) {
        return write_half(out, op, a, b);
    }
    switch (op) {
    case VYRE_OP_ADD: return write_two(out, "+", a, b);
    case VYRE_OP_SUB: return write_two(out, "-", a, b);
    case VYRE_OP_MUL: return write_two(out, "*", a, b);
    case VYRE_OP_DIV: return write_two(out, "/", a, b);
    case VYRE_OP_MIN: vyre_strbuf_printf(out, "vyre_min_%s(%s, %s)", p.type, a, b); return true;
    case VYRE_OP_MAX: vyre_strbuf_printf(out, "vyre_max_%s(%s, %s)", p.type, a, b); return true;
    case VYRE_OP_NEG:
        vyre_strbuf_printf(out, "as_%s(as_%s(%s) ^ %s)", p.type, p.plain, a, p.sign);
        return true;
    case VYRE_OP_ABS:
        vyre_strbuf_printf(out, "as_%s(as_%s(%s) & %s)", p.type, p.plain, a, p.magnitude);
        return true;
    case VYRE_OP_COPYSIGN:
        vyre_strbuf_printf(out, "as_%s((as_%s(%s) & %s) | (as_%s(%s) & %s))", p.type, p.plain, a,
                           p.magnitude, p.plain, b, p.sign);
        return true;
    case VYRE_OP_FMA: vyre_strbuf_printf(out, "fma(%s, %s, %s)", a, b, c); return true;
    case VYRE_OP_SQRT: return write_call(out, "sqrt", a);
    case VYRE_OP_FLOOR: return write_call(out, "floor", a);
    case VYRE_OP_CEIL: return write_call(out, "ceil", a);
    case VYRE_OP_TRUNC: return write_call(out, "trunc", a);
    case VYRE_OP_ROUND: return write_call(out, "rint", a);
    case VYRE_OP_EQ: return write_two(out, "==", a, b);
    case VYRE_OP_NE: return write_two(out, "!=", a, b);
    case VYRE_OP_LT: return write_two(out, "<", a, b);
    case VYRE_OP_LE: return write_two(out, "<=", a, b);
    case VYRE_OP_REM:
    case VYRE_ANY_OF(SURROUNDINGS, INTEGER, LOGIC, BITS, CHOICE, ELEMENTARY, ACCESS, BARRIER,
                     SUBGROUP, CONTROL, NONE):
        break;
    }
    return false;
}

void opencl_write_bitcast(vyre_strbuf *out, vyre_type from, vyre_type to, const char *a) {
    bool is_plain = vyre_lookup_class(from) != VYRE_CLASS_FLOAT || opencl_is_half(from);
    bool to_plain = vyre_lookup_class(to) != VYRE_CLASS_FLOAT || opencl_is_half(to);
    vyre_strbuf_printf(out, is_plain && to_plain ? "(%s)%s" : "as_%s(%s)", opencl_type(to), a);
}

bool opencl_write_convert(vyre_strbuf *out, vyre_type from, vyre_type to, const char *a) {
    bool from_float = vyre_lookup_class(from) == VYRE_CLASS_FLOAT;
    bool to_float = vyre_lookup_class(to) == VYRE_CLASS_FLOAT;
    const char *type = opencl_type(to);
    if (opencl_is_half(from) || opencl_is_half(to)) {
        return false;
    }
    if (to == VYRE_TYPE_BOOL) {
        vyre_strbuf_printf(out, "%s != 0", a);
    } else if (from == VYRE_TYPE_BOOL) {
        vyre_strbuf_printf(out, "%s ? (%s)1 : (%s)0", a, type, type);
    } else if (from_float && !to_float) {
        vyre_strbuf_printf(out, "vyre_%s_of_%s(%s)", type, opencl_type(from), a);
    } else {
        vyre_strbuf_printf(out, "(%s)%s", type, a);
    }
    return true;
}
