/* Writing PTX: registers, lines, and single operations, exact.
 *
 * How types lie in registers: bool is a predicate; integers of 8 and 16 bits are extended to 32 by
 * their own sign rule, and always are; f16 and bf16 are their bits in 32, the upper half zero.
 *
 * write.c  lines, constants, choice     write_integer.c  integers and bool
 * write_float.c  floats                 write_convert.c  conversions
 */
#ifndef VYRE_CUDA_CODEGEN_WRITE_H
#define VYRE_CUDA_CODEGEN_WRITE_H

#include <vyre/op.h>

#include "base/strbuf.h"

/* X(name, letters of its registers, type for declarations and moves) */
#define CUDA_CLASSES(X)                                                                            \
    X(NONE, "?", "?")                                                                              \
    X(PRED, "p", "pred")                                                                           \
    X(B16, "h", "b16")                                                                             \
    X(B32, "r", "b32")                                                                             \
    X(B64, "d", "b64")                                                                             \
    X(F32, "f", "f32")                                                                             \
    X(F64, "e", "f64")

typedef enum cuda_class {
#define CUDA_CLASS_ENUM(name, letters, type) CUDA_##name,
    CUDA_CLASSES(CUDA_CLASS_ENUM)
#undef CUDA_CLASS_ENUM
        CUDA_CLASS_COUNT
} cuda_class;

/* A register, or a number that stands in an instruction; the class none is no operand at all. */
typedef struct cuda_reg {
    uint8_t kind; /* cuda_class */
    bool immediate;
    uint64_t bits; /* number of the register, or the number itself */
} cuda_reg;

typedef struct cuda_writer {
    vyre_strbuf code;
    uint32_t next[CUDA_CLASS_COUNT]; /* register of each class */
    vyre_op unknown;                 /* one that there is no code for, if somebody asked for it */
} cuda_writer;

enum { CUDA_NAME_BYTES = 24 };
typedef struct cuda_name {
    char text[CUDA_NAME_BYTES];
} cuda_name;

cuda_name cuda_reg_name(cuda_reg reg);
const char *cuda_class_type(cuda_class kind);
cuda_class cuda_class_of(vyre_type type);
bool cuda_is_signed(vyre_type type);
uint32_t cuda_width(vyre_type type);

cuda_reg cuda_new(cuda_writer *w, cuda_class kind);
static inline cuda_reg cuda_none(void) {
    return (cuda_reg){CUDA_NONE, false, 0};
}
static inline cuda_reg cuda_number(cuda_class kind, uint64_t bits) {
    return (cuda_reg){(uint8_t)kind, true, bits};
}
static inline cuda_reg cuda_u32(uint32_t number) {
    return cuda_number(CUDA_B32, number);
}
static inline cuda_reg cuda_u64(uint64_t number) {
    return cuda_number(CUDA_B64, number);
}

/* Lines. `op` is the whole of the instruction's name; operands follow with commas. */
void cuda_line(cuda_writer *w, const char *format, ...) VYRE_PRINTF(2, 3);
cuda_reg cuda_one(cuda_writer *w, const char *op, cuda_class to, cuda_reg a);
cuda_reg cuda_two(cuda_writer *w, const char *op, cuda_class to, cuda_reg a, cuda_reg b);
cuda_reg cuda_three(cuda_writer *w, const char *op, cuda_class to, cuda_reg a, cuda_reg b,
                    cuda_reg c);
void cuda_move(cuda_writer *w, cuda_reg to, cuda_reg from);

/* A number in a register, for instructions that take no others. */
cuda_reg cuda_in_register(cuda_writer *w, cuda_reg a);

/* The first where the predicate holds, else the second; any class. */
cuda_reg cuda_choose(cuda_writer *w, cuda_reg predicate, cuda_reg yes, cuda_reg no);

/* A constant of a type of ours by its bits, as it lies in registers. */
cuda_reg cuda_constant(cuda_writer *w, vyre_type type, uint64_t bits);

/* Bits of a float as an integer, and back; other classes stay as they are. */
cuda_reg cuda_to_bits(cuda_writer *w, cuda_reg a);
cuda_reg cuda_from_bits(cuda_writer *w, vyre_type type, cuda_reg a);

/* The upper bits as the type wants them, of a result that may have others. */
cuda_reg cuda_narrow(cuda_writer *w, vyre_type type, cuda_reg a);

/* A pure operation (no elementary function) on operands of `type`. A NaN in an f32 or f64 result
 * may be any NaN. With `bits_seen` unset, neg and abs may change the bits of a NaN. */
cuda_reg cuda_write_op(cuda_writer *w, vyre_op op, vyre_type type, vyre_type result, bool bits_seen,
                       cuda_reg a, cuda_reg b, cuda_reg c);
cuda_reg cuda_write_canonical(cuda_writer *w, vyre_type type, cuda_reg a);

/* An operation that nothing is written for; the writer remembers it. */
cuda_reg cuda_unknown(cuda_writer *w, vyre_op op);

/* The parts, by file. */
cuda_reg cuda_integer_op(cuda_writer *w, vyre_op op, vyre_type type, cuda_reg a, cuda_reg b);
cuda_reg cuda_float_op(cuda_writer *w, vyre_op op, vyre_type type, bool bits_seen, cuda_reg a,
                       cuda_reg b, cuda_reg c);
cuda_reg cuda_convert(cuda_writer *w, vyre_type from, vyre_type to, cuda_reg a);
cuda_reg cuda_half_widen(cuda_writer *w, vyre_type type, cuda_reg a);
cuda_reg cuda_half_narrow(cuda_writer *w, vyre_type type, cuda_reg a);

#endif
