/* Integers and bools. Narrow ones are computed in 32 bits and cut off. What wraps is computed
 * without a sign, because in C an overflow of signed numbers means nothing. */
#include "backend/opencl/codegen/write_parts.h"
#include "ir/cases.h"
#include "ir/lookup.h"

typedef struct parts {
    const char *type, *plain; /* the type, and the same without a sign */
    const char *wide;         /* what it is computed in, without a sign */
    const char *least;        /* of types that are not narrower than what they are computed in */
    uint32_t bits;
    bool is_signed;
} parts;

static parts parts_of(vyre_type type) {
    uint32_t bits = vyre_type_bytes(type) * 8;
    return (parts){
        .type = opencl_type(type),
        .plain = opencl_unsigned_type(type),
        .wide = bits == 64 ? "ulong" : "uint",
        .least = bits == 64 ? "(long)0x8000000000000000UL" : "(int)0x80000000u",
        .bits = bits,
        .is_signed = opencl_is_signed(type),
    };
}

static bool write_wrapping(vyre_strbuf *out, const parts *p, const char *sign, const char *a,
                           const char *b) {
    vyre_strbuf_printf(out, "(%s)((%s)%s %s (%s)%s)", p->type, p->wide, a, sign, p->wide, b);
    return true;
}

/* Of i16. NVIDIA's ptxas (up to 13.0 at least) takes a negation of 16 bits for one that fits, so
 * that -MIN is 32768 once it is widened; and its compiler makes negations of `0 - x`, `~x + 1` and
 * `x * -1`. Of these it does not. False for what is written as for other types. */
static bool write_half(vyre_strbuf *out, vyre_op op, const char *a, const char *b) {
    bool is_constant = *a != 'v' || (b && *b != 'v'); /* those of values are v and a number */
    if (op == VYRE_OP_NEG) {
        vyre_strbuf_printf(out, "(short)mul24((int)%s, -1)", a);
    } else if (op == VYRE_OP_ABS) {
        vyre_strbuf_printf(out, "(short)(%s < 0 ? mul24((int)%s, -1) : (int)%s)", a, a, a);
    } else if (op == VYRE_OP_MUL) {
        vyre_strbuf_printf(out, "(short)mul24((int)%s, (int)%s)", a, b);
    } else if (op == VYRE_OP_ADD && is_constant) {
        vyre_strbuf_printf(out, "(short)mad24((int)%s, 1, (int)%s)", a, b);
    } else if (op == VYRE_OP_SUB) {
        vyre_strbuf_printf(out, "(short)mad24((int)%s, -1, (int)%s)", b, a);
    } else {
        return false;
    }
    return true;
}

/* x / 0 = x, x % 0 = 0, MIN / -1 = MIN, MIN % -1 = 0: all as if the divisor were 1. */
static bool write_quotient(vyre_strbuf *out, const parts *p, const char *sign, const char *a,
                           const char *b) {
    if (p->is_signed && p->bits >= 32) {
        vyre_strbuf_printf(out, "%s %s (%s == 0 || (%s == -1 && %s == %s) ? (%s)1 : %s)", a, sign,
                           b, b, a, p->least, p->type, b);
    } else {
        vyre_strbuf_printf(out, "(%s)(%s %s (%s == 0 ? (%s)1 : %s))", p->type, a, sign, b, p->type,
                           b);
    }
    return true;
}

/* Bits that leave on one side come back on the other; `to` is the shift that is meant. */
static bool write_rotation(vyre_strbuf *out, const parts *p, const char *to, const char *back,
                           const char *a, const char *b) {
    vyre_strbuf_printf(out, "(%s)((%s)(%s)%s %s (%s & %uu) | (%s)(%s)%s %s (-%s & %uu))", p->type,
                       p->wide, p->plain, a, to, b, p->bits - 1, p->wide, p->plain, a, back, b,
                       p->bits - 1);
    return true;
}

static bool write_builtin(vyre_strbuf *out, const char *name, const char *a, const char *b) {
    vyre_strbuf_printf(out, "%s(%s, %s)", name, a, b);
    return true;
}

static bool write_bits(vyre_strbuf *out, vyre_op op, const parts *p, const char *a) {
    if (op == VYRE_OP_CLZ) {
        vyre_strbuf_printf(out, "(%s)clz((%s)%s)", p->type, p->plain, a);
    } else if (op == VYRE_OP_POPCOUNT) {
        vyre_strbuf_printf(out, "(%s)popcount((%s)%s)", p->type, p->plain, a);
    } else if (op == VYRE_OP_CTZ) { /* the ones below the lowest bit */
        vyre_strbuf_printf(out, "(%s)popcount((%s)(((%s)%s & -(%s)%s) - 1))", p->type, p->plain,
                           p->wide, a, p->wide, a);
    } else if (p->bits == 64) {
        vyre_strbuf_printf(out, "(%s)vyre_reverse_64((ulong)%s)", p->type, a);
    } else {
        vyre_strbuf_printf(out, "(%s)(vyre_reverse_32((uint)(%s)%s) >> %u)", p->type, p->plain, a,
                           32 - p->bits);
    }
    return true;
}

static bool write_comparison(vyre_strbuf *out, const char *sign, const char *a, const char *b) {
    vyre_strbuf_printf(out, "%s %s %s", a, sign, b);
    return true;
}

bool opencl_write_integer(vyre_strbuf *out, vyre_op op, vyre_type type, const char *a,
                          const char *b) {
    const parts p = parts_of(type);
    if (type == VYRE_TYPE_I16 && write_half(out, op, a, b)) {
        return true;
    }
    switch (op) {
    case VYRE_OP_ADD: return write_wrapping(out, &p, "+", a, b);
    case VYRE_OP_SUB: return write_wrapping(out, &p, "-", a, b);
    case VYRE_OP_MUL: return write_wrapping(out, &p, "*", a, b);
    case VYRE_OP_DIV: return write_quotient(out, &p, "/", a, b);
    case VYRE_OP_REM: return write_quotient(out, &p, "%", a, b);
    case VYRE_OP_MIN: return write_builtin(out, "min", a, b);
    case VYRE_OP_MAX: return write_builtin(out, "max", a, b);
    case VYRE_OP_NEG: vyre_strbuf_printf(out, "(%s)-(%s)%s", p.type, p.wide, a); return true;
    case VYRE_OP_ABS:
        vyre_strbuf_printf(out, "(%s)(%s < 0 ? -(%s)%s : (%s)%s)", p.type, a, p.wide, a, p.wide, a);
        return true;
    case VYRE_OP_MUL_HIGH: return write_builtin(out, "mul_hi", a, b);
    case VYRE_OP_ADD_SAT: return write_builtin(out, "add_sat", a, b);
    case VYRE_OP_SUB_SAT: return write_builtin(out, "sub_sat", a, b);
    case VYRE_OP_AND: vyre_strbuf_printf(out, "(%s)(%s & %s)", p.type, a, b); return true;
    case VYRE_OP_OR: vyre_strbuf_printf(out, "(%s)(%s | %s)", p.type, a, b); return true;
    case VYRE_OP_XOR: vyre_strbuf_printf(out, "(%s)(%s ^ %s)", p.type, a, b); return true;
    case VYRE_OP_NOT:
        vyre_strbuf_printf(out, type == VYRE_TYPE_BOOL ? "(%s)!%s" : "(%s)~%s", p.type, a);
        return true;
    case VYRE_OP_SHL:
        vyre_strbuf_printf(out, "(%s)((%s)%s << (%s & %uu))", p.type, p.wide, a, b, p.bits - 1);
        return true;
    case VYRE_OP_SHR:
        vyre_strbuf_printf(out, "(%s)(%s >> (%s & %uu))", p.type, a, b, p.bits - 1);
        return true;
    case VYRE_OP_ROTL: return write_rotation(out, &p, "<<", ">>", a, b);
    case VYRE_OP_ROTR: return write_rotation(out, &p, ">>", "<<", a, b);
    case VYRE_ONE_OF(CLZ, CTZ, POPCOUNT, REVERSE_BITS): return write_bits(out, op, &p, a);
    case VYRE_OP_EQ: return write_comparison(out, "==", a, b);
    case VYRE_OP_NE: return write_comparison(out, "!=", a, b);
    case VYRE_OP_LT: return write_comparison(out, "<", a, b);
    case VYRE_OP_LE: return write_comparison(out, "<=", a, b);
    case VYRE_ANY_OF(SURROUNDINGS, FLOAT, CHOICE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL,
                     NONE):
        break;
    }
    return false;
}
