/* Writing LLVM IR as text. A value is a number: %t7 is value 7. Lanes are 1 for a scalar. */
#ifndef VYRE_CPU_CODEGEN_WRITE_H
#define VYRE_CPU_CODEGEN_WRITE_H

#include <vyre/op.h>

#include "base/strbuf.h"

typedef struct cpu_writer {
    vyre_strbuf code;         /* of the function under way */
    vyre_strbuf declarations; /* of intrinsics, one a line, none twice */
    uint32_t next;            /* value */
    vyre_op unknown;          /* one that there is no code for, if somebody asked for it */
    /* What the machine has instructions for. Without, other code does it. */
    bool has_half; /* f16 to and from f32: F16C, AArch64 */
    bool has_long; /* vectors of 64-bit integers to and from floats: AVX-512DQ, AArch64 */
} cpu_writer;

enum { CPU_TYPE_BYTES = 24 };
typedef struct cpu_type_text {
    char text[CPU_TYPE_BYTES];
} cpu_type_text;

/* How LLVM calls a type of ours: bool is i1; f16 and bf16 are i16, their bits. */
cpu_type_text cpu_type(vyre_type type, uint32_t lanes);

/* A pure operation (arithmetic, bits, comparison, select, convert, bitcast; no elementary
 * functions) on operands of `type`. A NaN in an f32 or f64 result may be any NaN; everything else
 * is as docs/semantics.md says. Operands that the operation does not have are ignored. */
uint32_t cpu_write_op(cpu_writer *w, vyre_op op, vyre_type type, vyre_type result, uint32_t lanes,
                      uint32_t a, uint32_t b, uint32_t c);

/* The same value with the canonical NaN for any NaN; f32 and f64. */
uint32_t cpu_write_canonical(cpu_writer *w, vyre_type type, uint32_t lanes, uint32_t a);

/* A constant by its bits; a scalar in all lanes; lane numbers 0, 1, 2, ... as u32. */
uint32_t cpu_write_const(cpu_writer *w, vyre_type type, uint32_t lanes, uint64_t bits);
uint32_t cpu_write_splat(cpu_writer *w, vyre_type type, uint32_t lanes, uint32_t scalar);
uint32_t cpu_write_lane_numbers(cpu_writer *w, uint32_t lanes);

/* Declares an intrinsic, once: "declare <8 x float> @llvm.sqrt.v8f32(<8 x float>)". */
void cpu_write_declare(cpu_writer *w, const char *format, ...) VYRE_PRINTF(2, 3);

#endif
