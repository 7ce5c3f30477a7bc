/* The parts of the writer, by file, and the lines of LLVM IR that they are made of.
 *
 * write_integer.c  integers and bool     write_float.c  floats     write_convert.c  conversions
 */
#ifndef VYRE_CPU_CODEGEN_WRITE_PARTS_H
#define VYRE_CPU_CODEGEN_WRITE_PARTS_H

#include "backend/cpu/codegen/write.h"
#include "ir/lookup.h"

/* Where a line goes, and how many lanes its values have. */
typedef struct cpu_site {
    cpu_writer *w;
    uint32_t lanes;
} cpu_site;

static inline uint32_t cpu_width(vyre_type type) {
    return vyre_type_bytes(type) * 8;
}

static inline bool cpu_is_signed(vyre_type type) {
    return vyre_lookup_class(type) == VYRE_CLASS_SIGNED;
}

/* A line "%tN = ..."; gives N. */
uint32_t cpu_put(cpu_site s, const char *format, ...) VYRE_PRINTF(2, 3);

/* Instructions of two operands of one type, comparisons ("icmp ult") among them; the second one
 * may be a constant, given by its bits. */
uint32_t cpu_put_two(cpu_site s, const char *name, vyre_type type, uint32_t a, uint32_t b);
uint32_t cpu_put_with(cpu_site s, const char *name, vyre_type type, uint32_t a, uint64_t bits);

uint32_t cpu_put_cast(cpu_site s, const char *name, vyre_type from, vyre_type to, uint32_t a);
uint32_t cpu_put_select(cpu_site s, vyre_type type, uint32_t condition, uint32_t a, uint32_t b);
uint32_t cpu_put_const(cpu_site s, vyre_type type, uint64_t bits);

/* Calls llvm.NAME on `count` operands of the result's type. */
uint32_t cpu_put_call(cpu_site s, const char *name, vyre_type type, uint32_t count, uint32_t a,
                      uint32_t b, uint32_t c);

/* The name of an intrinsic for a type: "llvm.sqrt.v8f32". */
enum { CPU_INTRINSIC_BYTES = 48 };
typedef struct cpu_intrinsic_text {
    char text[CPU_INTRINSIC_BYTES];
} cpu_intrinsic_text;
cpu_intrinsic_text cpu_intrinsic(const char *name, vyre_type type, uint32_t lanes);

/* The unsigned type of the same size, and an f32 or f64 as a value of it. */
vyre_type cpu_bits_type(vyre_type type);
uint32_t cpu_put_bits(cpu_site s, vyre_type type, uint32_t a);
uint32_t cpu_put_from_bits(cpu_site s, vyre_type type, uint32_t a);

/* An operation that nothing is written for; the writer remembers it. */
uint32_t cpu_put_unknown(cpu_site s, vyre_op op);

uint32_t cpu_integer_op(cpu_site s, vyre_op op, vyre_type type, uint32_t a, uint32_t b);
uint32_t cpu_float_op(cpu_site s, vyre_op op, vyre_type type, uint32_t a, uint32_t b, uint32_t c);
uint32_t cpu_convert(cpu_site s, vyre_type from, vyre_type to, uint32_t a);

/* Between f16 or bf16 and f32; a NaN of the narrow type comes out canonical. An exact number is one
 * that needs no rounding. */
uint32_t cpu_widen(cpu_site s, vyre_type type, uint32_t a);
uint32_t cpu_narrow(cpu_site s, vyre_type type, uint32_t a);
uint32_t cpu_narrow_exact(cpu_site s, vyre_type type, uint32_t a);

#endif
