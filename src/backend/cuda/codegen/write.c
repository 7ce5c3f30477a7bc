#include "backend/cuda/codegen/write.h"

#include <stdio.h>
#include <string.h>

#include "ir/lookup.h"

static const char *const letters[] = {
#define LETTERS(name, text, type) text,
    CUDA_CLASSES(LETTERS)
#undef LETTERS
};

static const char *const types[] = {
#define TYPE(name, text, type) type,
    CUDA_CLASSES(TYPE)
#undef TYPE
};

const char *cuda_class_type(cuda_class kind) {
    return types[kind];
}

cuda_class cuda_class_of(vyre_type type) {
    static const cuda_class classes[VYRE_TYPE_COUNT] = {
        CUDA_NONE, CUDA_PRED, CUDA_B32, CUDA_B32, CUDA_B32, CUDA_B32, CUDA_B32,
        CUDA_B32,  CUDA_B64,  CUDA_B64, CUDA_B32, CUDA_B32, CUDA_F32, CUDA_F64};
    return type < VYRE_TYPE_COUNT ? classes[type] : CUDA_NONE;
}

bool cuda_is_signed(vyre_type type) {
    return vyre_lookup_class(type) == VYRE_CLASS_SIGNED;
}

uint32_t cuda_width(vyre_type type) {
    return vyre_type_bytes(type) * 8;
}

cuda_name cuda_reg_name(cuda_reg reg) {
    cuda_name name;
    unsigned long long bits = reg.bits;
    if (!reg.immediate) {
        snprintf(name.text, sizeof name.text, "%%%s%llu", letters[reg.kind], bits);
    } else if (reg.kind == CUDA_F32) {
        snprintf(name.text, sizeof name.text, "0f%08llX", bits & 0xffffffff);
    } else if (reg.kind == CUDA_F64) {
        snprintf(name.text, sizeof name.text, "0d%016llX", bits);
    } else if (reg.kind == CUDA_PRED || bits < 65536) {
        snprintf(name.text, sizeof name.text, "%llu", bits);
    } else {
        snprintf(name.text, sizeof name.text, "0x%llx", bits);
    }
    return name;
}

cuda_reg cuda_new(cuda_writer *w, cuda_class kind) {
    return (cuda_reg){(uint8_t)kind, false, ++w->next[kind]};
}

void cuda_line(cuda_writer *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_putc(&w->code, '\t');
    vyre_strbuf_vprintf(&w->code, format, arguments);
    vyre_strbuf_puts(&w->code, ";\n");
    va_end(arguments);
}

static void put(cuda_writer *w, const char *op, const cuda_reg *operands, uint32_t count) {
    vyre_strbuf_putc(&w->code, '\t');
    vyre_strbuf_puts(&w->code, op);
    for (uint32_t i = 0; i < count; i++) {
        vyre_strbuf_puts(&w->code, i ? ", " : " ");
        vyre_strbuf_puts(&w->code, cuda_reg_name(operands[i]).text);
    }
    vyre_strbuf_puts(&w->code, ";\n");
}

cuda_reg cuda_one(cuda_writer *w, const char *op, cuda_class to, cuda_reg a) {
    cuda_reg list[] = {cuda_new(w, to), a};
    put(w, op, list, 2);
    return list[0];
}

/* After a branch on `setp.ne x, K`, ptxas 13.0 replaces x with K, and then loses a `not` of x that
 * it has merged into another operation: `a & ~x` becomes `a & K`. It does not do so after
 * `setp.eq`. */
static cuda_reg differ(cuda_writer *w, const char *type, cuda_reg a, cuda_reg b) {
    cuda_reg equal = cuda_new(w, CUDA_PRED);
    cuda_line(w, "setp.eq.%s %s, %s, %s", type, cuda_reg_name(equal).text, cuda_reg_name(a).text,
              cuda_reg_name(b).text);
    return cuda_one(w, "not.pred", CUDA_PRED, equal);
}

cuda_reg cuda_two(cuda_writer *w, const char *op, cuda_class to, cuda_reg a, cuda_reg b) {
    static const char differs[] = "setp.ne.";
    if (!strncmp(op, differs, sizeof differs - 1)) {
        return differ(w, op + sizeof differs - 1, a, b);
    }
    cuda_reg list[] = {cuda_new(w, to), a, b};
    put(w, op, list, 3);
    return list[0];
}

cuda_reg cuda_three(cuda_writer *w, const char *op, cuda_class to, cuda_reg a, cuda_reg b,
                    cuda_reg c) {
    cuda_reg list[] = {cuda_new(w, to), a, b, c};
    put(w, op, list, 4);
    return list[0];
}

void cuda_move(cuda_writer *w, cuda_reg to, cuda_reg from) {
    cuda_line(w, "mov.%s %s, %s", types[to.kind], cuda_reg_name(to).text, cuda_reg_name(from).text);
}

cuda_reg cuda_in_register(cuda_writer *w, cuda_reg a) {
    if (!a.immediate) {
        return a;
    }
    cuda_reg reg = cuda_new(w, (cuda_class)a.kind);
    cuda_move(w, reg, a);
    return reg;
}

cuda_reg cuda_choose(cuda_writer *w, cuda_reg predicate, cuda_reg yes, cuda_reg no) {
    if (yes.kind == CUDA_PRED) {
        cuda_reg first = cuda_two(w, "and.pred", CUDA_PRED, predicate, yes);
        cuda_reg second =
            cuda_two(w, "and.pred", CUDA_PRED, cuda_one(w, "not.pred", CUDA_PRED, predicate), no);
        return cuda_two(w, "or.pred", CUDA_PRED, first, second);
    }
    char op[16];
    snprintf(op, sizeof op, "selp.%s", types[yes.kind]);
    return cuda_three(w, op, (cuda_class)yes.kind, yes, no, predicate);
}

/* A sign that reaches the upper bits, for those types that keep it there. */
static uint64_t extended(vyre_type type, uint64_t bits) {
    uint32_t width = cuda_width(type);
    if (!cuda_is_signed(type) || width >= 32 || !(bits >> (width - 1) & 1)) {
        return bits;
    }
    return (bits | ~(uint64_t)0 << width) & 0xffffffff;
}

cuda_reg cuda_constant(cuda_writer *w, vyre_type type, uint64_t bits) {
    cuda_reg number = cuda_number(cuda_class_of(type), extended(type, bits));
    return type == VYRE_TYPE_BOOL ? cuda_in_register(w, number) : number;
}

cuda_reg cuda_to_bits(cuda_writer *w, cuda_reg a) {
    if (a.kind != CUDA_F32 && a.kind != CUDA_F64) {
        return a;
    }
    cuda_class to = a.kind == CUDA_F32 ? CUDA_B32 : CUDA_B64;
    return a.immediate ? cuda_number(to, a.bits)
                       : cuda_one(w, to == CUDA_B32 ? "mov.b32" : "mov.b64", to, a);
}

cuda_reg cuda_from_bits(cuda_writer *w, vyre_type type, cuda_reg a) {
    cuda_class to = cuda_class_of(type);
    if (to != CUDA_F32 && to != CUDA_F64) {
        return a;
    }
    return a.immediate ? cuda_number(to, a.bits)
                       : cuda_one(w, to == CUDA_F32 ? "mov.b32" : "mov.b64", to, a);
}

cuda_reg cuda_narrow(cuda_writer *w, vyre_type type, cuda_reg a) {
    uint32_t width = cuda_width(type);
    if (width >= 32 || type == VYRE_TYPE_BOOL) {
        return a;
    }
    if (cuda_is_signed(type)) {
        return cuda_one(w, width == 8 ? "cvt.s32.s8" : "cvt.s32.s16", CUDA_B32,
                        cuda_in_register(w, a));
    }
    return cuda_two(w, "and.b32", CUDA_B32, a, cuda_u32(((uint32_t)1 << width) - 1));
}

cuda_reg cuda_unknown(cuda_writer *w, vyre_op op) {
    w->unknown = op;
    return cuda_none();
}

cuda_reg cuda_write_canonical(cuda_writer *w, vyre_type type, cuda_reg a) {
    bool wide = type == VYRE_TYPE_F64;
    cuda_reg nan = wide ? cuda_number(CUDA_F64, UINT64_C(0x7ff8000000000000))
                        : cuda_number(CUDA_F32, 0x7fc00000);
    cuda_reg is_nan = cuda_two(w, wide ? "setp.nan.f64" : "setp.nan.f32", CUDA_PRED, a, a);
    return cuda_choose(w, is_nan, nan, a);
}

cuda_reg cuda_write_op(cuda_writer *w, vyre_op op, vyre_type type, vyre_type result, bool bits_seen,
                       cuda_reg a, cuda_reg b, cuda_reg c) {
    if (op == VYRE_OP_SELECT) {
        return cuda_choose(w, a, b, c);
    }
    if (op == VYRE_OP_CONVERT) {
        return cuda_convert(w, type, result, a);
    }
    if (op == VYRE_OP_BITCAST) {
        return cuda_from_bits(w, result, cuda_narrow(w, result, cuda_to_bits(w, a)));
    }
    return vyre_lookup_class(type) == VYRE_CLASS_FLOAT
               ? cuda_float_op(w, op, type, bits_seen, a, b, c)
               : cuda_integer_op(w, op, type, a, b);
}
