#include "backend/cpu/codegen/write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/codegen/write_parts.h"
#include "ir/lookup.h"

/* X(name in vyre_type, LLVM's type, its name in intrinsics) */
#define SPELLINGS(X)                                                                               \
    X(BOOL, "i1", "i1")                                                                            \
    X(I8, "i8", "i8")                                                                              \
    X(U8, "i8", "i8")                                                                              \
    X(I16, "i16", "i16")                                                                           \
    X(U16, "i16", "i16")                                                                           \
    X(I32, "i32", "i32")                                                                           \
    X(U32, "i32", "i32")                                                                           \
    X(I64, "i64", "i64")                                                                           \
    X(U64, "i64", "i64")                                                                           \
    X(F16, "i16", "i16")                                                                           \
    X(BF16, "i16", "i16")                                                                          \
    X(F32, "float", "f32")                                                                         \
    X(F64, "double", "f64")

#define TYPE_TEXT(name, text, suffix) [VYRE_TYPE_##name] = text,
#define TYPE_SUFFIX(name, text, suffix) [VYRE_TYPE_##name] = suffix,
static const char *const type_texts[VYRE_TYPE_COUNT] = {"void", SPELLINGS(TYPE_TEXT)};
static const char *const type_suffixes[VYRE_TYPE_COUNT] = {"void", SPELLINGS(TYPE_SUFFIX)};

cpu_type_text cpu_type(vyre_type type, uint32_t lanes) {
    cpu_type_text t;
    if (lanes == 1) {
        snprintf(t.text, sizeof t.text, "%s", type_texts[type]);
    } else {
        snprintf(t.text, sizeof t.text, "<%u x %s>", (unsigned)lanes, type_texts[type]);
    }
    return t;
}

cpu_intrinsic_text cpu_intrinsic(const char *name, vyre_type type, uint32_t lanes) {
    cpu_intrinsic_text t;
    if (lanes == 1) {
        snprintf(t.text, sizeof t.text, "llvm.%s.%s", name, type_suffixes[type]);
    } else {
        snprintf(t.text, sizeof t.text, "llvm.%s.v%u%s", name, (unsigned)lanes,
                 type_suffixes[type]);
    }
    return t;
}

void cpu_write_declare(cpu_writer *w, const char *format, ...) {
    char declaration[256];
    va_list arguments;
    va_start(arguments, format);
    size_t size = (size_t)vsnprintf(declaration, sizeof declaration, format, arguments);
    va_end(arguments);
    const char *at = vyre_strbuf_string(&w->declarations);
    while ((at = strstr(at, declaration)) && at[size] != '\n') {
        at += size;
    }
    if (!at) {
        vyre_strbuf_puts(&w->declarations, declaration);
        vyre_strbuf_putc(&w->declarations, '\n');
    }
}

uint32_t cpu_put(cpu_site s, const char *format, ...) {
    uint32_t value = s.w->next++;
    vyre_strbuf_puts(&s.w->code, "  %t");
    vyre_strbuf_u64(&s.w->code, value);
    vyre_strbuf_puts(&s.w->code, " = ");
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&s.w->code, format, arguments);
    va_end(arguments);
    vyre_strbuf_putc(&s.w->code, '\n');
    return value;
}

uint32_t cpu_put_two(cpu_site s, const char *name, vyre_type type, uint32_t a, uint32_t b) {
    return cpu_put(s, "%s %s %%t%u, %%t%u", name, cpu_type(type, s.lanes).text, a, b);
}

uint32_t cpu_put_with(cpu_site s, const char *name, vyre_type type, uint32_t a, uint64_t bits) {
    return cpu_put_two(s, name, type, a, cpu_put_const(s, type, bits));
}

uint32_t cpu_put_cast(cpu_site s, const char *name, vyre_type from, vyre_type to, uint32_t a) {
    return cpu_put(s, "%s %s %%t%u to %s", name, cpu_type(from, s.lanes).text, a,
                   cpu_type(to, s.lanes).text);
}

uint32_t cpu_put_select(cpu_site s, vyre_type type, uint32_t condition, uint32_t a, uint32_t b) {
    cpu_type_text t = cpu_type(type, s.lanes);
    return cpu_put(s, "select %s %%t%u, %s %%t%u, %s %%t%u", cpu_type(VYRE_TYPE_BOOL, s.lanes).text,
                   condition, t.text, a, t.text, b);
}

vyre_type cpu_bits_type(vyre_type type) {
    switch (vyre_type_bytes(type)) {
    case 1: return type == VYRE_TYPE_BOOL ? VYRE_TYPE_BOOL : VYRE_TYPE_U8;
    case 2: return VYRE_TYPE_U16;
    case 4: return VYRE_TYPE_U32;
    default: return VYRE_TYPE_U64;
    }
}

/* A bitcast makes a constant a value, and gives floats every bit: their decimal form cannot. */
uint32_t cpu_put_const(cpu_site s, vyre_type type, uint64_t bits) {
    vyre_type plain = cpu_bits_type(type);
    const char *element = type_texts[plain];
    vyre_strbuf *code = &s.w->code;
    uint32_t value = s.w->next++;
    bits &= plain == VYRE_TYPE_BOOL ? 1 : ~(uint64_t)0 >> (64 - 8 * vyre_type_bytes(plain));
    vyre_strbuf_printf(code, "  %%t%u = bitcast %s ", value, cpu_type(plain, s.lanes).text);
    if (bits == 0 && s.lanes > 1) {
        vyre_strbuf_puts(code, "zeroinitializer");
    } else {
        vyre_strbuf_puts(code, s.lanes > 1 ? "<" : "");
        for (uint32_t i = 0; i < s.lanes; i++) {
            vyre_strbuf_puts(code, i ? ", " : "");
            if (s.lanes > 1) {
                vyre_strbuf_puts(code, element);
                vyre_strbuf_putc(code, ' ');
            }
            vyre_strbuf_u64(code, bits);
        }
        vyre_strbuf_puts(code, s.lanes > 1 ? ">" : "");
    }
    vyre_strbuf_printf(code, " to %s\n", cpu_type(type, s.lanes).text);
    return value;
}

uint32_t cpu_put_call(cpu_site s, const char *name, vyre_type type, uint32_t count, uint32_t a,
                      uint32_t b, uint32_t c) {
    cpu_type_text t = cpu_type(type, s.lanes);
    cpu_intrinsic_text full = cpu_intrinsic(name, type, s.lanes);
    cpu_write_declare(s.w, "declare %s @%s(%s%s%s%s%s)", t.text, full.text, t.text,
                      count > 1 ? ", " : "", count > 1 ? t.text : "", count > 2 ? ", " : "",
                      count > 2 ? t.text : "");
    switch (count) {
    case 1: return cpu_put(s, "call %s @%s(%s %%t%u)", t.text, full.text, t.text, a);
    case 2:
        return cpu_put(s, "call %s @%s(%s %%t%u, %s %%t%u)", t.text, full.text, t.text, a, t.text,
                       b);
    default:
        return cpu_put(s, "call %s @%s(%s %%t%u, %s %%t%u, %s %%t%u)", t.text, full.text, t.text, a,
                       t.text, b, t.text, c);
    }
}

uint32_t cpu_put_bits(cpu_site s, vyre_type type, uint32_t a) {
    return cpu_put_cast(s, "bitcast", type, cpu_bits_type(type), a);
}

uint32_t cpu_put_from_bits(cpu_site s, vyre_type type, uint32_t a) {
    return cpu_put_cast(s, "bitcast", cpu_bits_type(type), type, a);
}

uint32_t cpu_put_unknown(cpu_site s, vyre_op op) {
    s.w->unknown = op;
    return 0;
}

uint32_t cpu_write_const(cpu_writer *w, vyre_type type, uint32_t lanes, uint64_t bits) {
    return cpu_put_const((cpu_site){w, lanes}, type, bits);
}

uint32_t cpu_write_splat(cpu_writer *w, vyre_type type, uint32_t lanes, uint32_t scalar) {
    if (lanes == 1) {
        return scalar;
    }
    cpu_site s = {w, lanes};
    cpu_type_text t = cpu_type(type, lanes);
    uint32_t first = cpu_put(s, "insertelement %s poison, %s %%t%u, i32 0", t.text,
                             cpu_type(type, 1).text, scalar);
    return cpu_put(s, "shufflevector %s %%t%u, %s poison, <%u x i32> zeroinitializer", t.text,
                   first, t.text, (unsigned)lanes);
}

uint32_t cpu_write_lane_numbers(cpu_writer *w, uint32_t lanes) {
    if (lanes == 1) {
        return cpu_write_const(w, VYRE_TYPE_U32, 1, 0);
    }
    cpu_type_text t = cpu_type(VYRE_TYPE_U32, lanes);
    uint32_t value = w->next++;
    vyre_strbuf_printf(&w->code, "  %%t%u = bitcast %s <", value, t.text);
    for (uint32_t i = 0; i < lanes; i++) {
        vyre_strbuf_printf(&w->code, "%si32 %u", i ? ", " : "", i);
    }
    vyre_strbuf_printf(&w->code, "> to %s\n", t.text);
    return value;
}

uint32_t cpu_write_canonical(cpu_writer *w, vyre_type type, uint32_t lanes, uint32_t a) {
    cpu_site s = {w, lanes};
    vyre_type bits = cpu_bits_type(type);
    uint64_t canonical = type == VYRE_TYPE_F32 ? 0x7fc00000 : 0x7ff8000000000000;
    uint32_t is_nan = cpu_put_two(s, "fcmp uno", type, a, a);
    uint32_t chosen = cpu_put_select(s, bits, is_nan, cpu_put_const(s, bits, canonical),
                                     cpu_put_bits(s, type, a));
    return cpu_put_from_bits(s, type, chosen);
}

uint32_t cpu_write_op(cpu_writer *w, vyre_op op, vyre_type type, vyre_type result, uint32_t lanes,
                      uint32_t a, uint32_t b, uint32_t c) {
    cpu_site s = {w, lanes};
    if (op == VYRE_OP_SELECT) {
        return cpu_put_select(s, result, a, b, c);
    }
    if (op == VYRE_OP_CONVERT) {
        return cpu_convert(s, type, result, a);
    }
    if (op == VYRE_OP_BITCAST) {
        bool same = strcmp(type_texts[type], type_texts[result]) == 0;
        return same ? a : cpu_put_cast(s, "bitcast", type, result, a);
    }
    return vyre_lookup_class(type) == VYRE_CLASS_FLOAT ? cpu_float_op(s, op, type, a, b, c)
                                                       : cpu_integer_op(s, op, type, a, b);
}
