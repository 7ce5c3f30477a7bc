/* Single operations, exact to the bit. */
#ifndef VYRE_SPIRV_WRITE_H
#define VYRE_SPIRV_WRITE_H

#include <vyre/program.h>

#include "backend/spirv/build.h"
#include "ir/lookup.h"

/* A value: bits, or a number of type float; of bools, a truth. */
typedef struct spirv_slot {
    spv_id id;
    bool is_real;
} spirv_slot;

static inline uint32_t spirv_width(vyre_type type) {
    return vyre_type_bytes(type) * 8;
}

static inline bool spirv_is_signed(vyre_type type) {
    return vyre_lookup_class(type) == VYRE_CLASS_SIGNED;
}

/* What a type is computed with, as bits. */
static inline spirv_kind spirv_kind_of(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? SPIRV_BOOL : spirv_width(type) == 64 ? SPIRV_U64 : SPIRV_U32;
}

static inline bool spirv_is_real(vyre_type type) {
    return type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
}

static inline spirv_kind spirv_real_kind(vyre_type type) {
    return type == VYRE_TYPE_F64 ? SPIRV_REAL64 : SPIRV_REAL32;
}

/* A constant of a type, as bits. */
spv_id spirv_constant(spirv_builder *b, vyre_type type, uint64_t bits);

/* Between bits and numbers of a float type. */
spv_id spirv_to_bits(spirv_builder *b, vyre_type type, spirv_slot slot);
spv_id spirv_to_real(spirv_builder *b, vyre_type type, spirv_slot slot);

/* 32 bits extended as the type has it. */
spv_id spirv_narrow(spirv_builder *b, vyre_type type, spv_id word);

/* A word as 64 bits; and what was loaded of a type of 8 or 16 bits as a word. Neither is left to
 * OpSConvert: Mesa 22.3 compares what that gives with constants as if it had no sign. */
spv_id spirv_widen(spirv_builder *b, spv_id word, bool is_signed);
spv_id spirv_from_narrow(spirv_builder *b, vyre_type type, spv_id loaded);

/* All of these give 0 for what they do not know. */
spv_id spirv_integer_op(spirv_builder *b, vyre_op op, vyre_type type, spv_id x, spv_id y);
spirv_slot spirv_float_op(spirv_builder *b, vyre_op op, vyre_type type, spirv_slot x, spirv_slot y,
                          spirv_slot z);
spirv_slot spirv_convert(spirv_builder *b, vyre_type from, vyre_type to, spirv_slot x);
spv_id spirv_bitcast(spirv_builder *b, vyre_type from, vyre_type to, spirv_slot x);

/* Whether bits of f32 or f64 are those of a NaN; and the canonical NaN instead of any. */
spv_id spirv_is_nan(spirv_builder *b, vyre_type type, spv_id bits);
spv_id spirv_canonical(spirv_builder *b, vyre_type type, spv_id bits);

/* Of anything: `type` is that of the operands, but of `select` the result's. */
spirv_slot spirv_op(spirv_builder *b, vyre_op op, vyre_type type, vyre_type result, spirv_slot x,
                    spirv_slot y, spirv_slot z);

#endif
