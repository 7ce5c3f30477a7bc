/* Where things stand in the binary form; docs/wire.md is the contract this follows.
 *
 *     header | section table | sections, each at a multiple of 8, zeros between
 *
 * Numbers are little-endian. The sections are those of ir/section.h under their number there, those
 * that have items, in order. */
#ifndef VYRE_WIRE_LAYOUT_H
#define VYRE_WIRE_LAYOUT_H

#include <string.h>

#include "ir/section.h"

#define WIRE_MAGIC "VYRE\r\n\x1a\n" /* the line ends tell when somebody sent it as text */

enum {
    WIRE_MAJOR = 1,
    WIRE_MINOR = 2, /* the newest that is read; written is the lowest that will do */

    /* Header */
    WIRE_AT_MAGIC = 0,     /* 8 bytes */
    WIRE_AT_MAJOR = 8,     /* 2 */
    WIRE_AT_MINOR = 10,    /* 2 */
    WIRE_AT_SECTIONS = 12, /* 4: entries of the section table */
    WIRE_AT_LENGTH = 16,   /* 8: of everything */
    WIRE_AT_CHECKSUM = 24, /* 8: XXH3-64 of everything behind it */
    WIRE_AT_FLAGS = 32,    /* 4: of the program */
    WIRE_AT_FILE = 36,     /* 4: of the program, in DEBUG_STRINGS */
    WIRE_AT_TABLE = 40,

    WIRE_CHECKED_FROM = WIRE_AT_CHECKSUM + 8,

    /* Entry of the section table */
    WIRE_ENTRY_NUMBER = 0,     /* 4 */
    WIRE_ENTRY_ITEM_BYTES = 4, /* 4 */
    WIRE_ENTRY_COUNT = 8,      /* 4 */
    WIRE_ENTRY_OFFSET = 12,    /* 4: from the first byte of the header */
    WIRE_ENTRY_BYTES = 16,

    WIRE_ALIGNMENT = 8
};

/* The numbers are part of the form, so the order of the sections may not change. */
_Static_assert(VYRE_SECTION_ARGS == 0 && VYRE_SECTION_INSTS == 7 && VYRE_SECTION_STRINGS == 8 &&
                   VYRE_SECTION_DEBUG_STRINGS == 14 && VYRE_SECTION_REQUIREMENTS == 15 &&
                   VYRE_SECTION_REQUIREMENT_PLACES == 16 && VYRE_SECTION_DATA == 17 &&
                   VYRE_SECTION_COUNT == 18,
               "a change of the sections needs a new version of the binary form");

/* The lowest minor version that has an operation; a new one comes with a new version. Elementary
 * functions on f64 came later than those on the other types. */
static inline uint32_t wire_op_minor(uint32_t op, uint32_t type) {
    bool is_new = op == VYRE_OP_EXP10 || op == VYRE_OP_LOG10 || op == VYRE_OP_FMOD ||
                  op == VYRE_OP_PRINT || op == VYRE_OP_ASSERT;
    bool is_wide = op < VYRE_OP_COUNT && type == VYRE_TYPE_F64 &&
                   vyre_op_info_of(op)->rule == VYRE_RULE_ELEMENTARY;
    return is_new || is_wide ? 2 : op == VYRE_OP_MATRIX_MAD ? 1 : 0;
}

#define WIRE_COUNT_OP(name, number, text, shape, rule, effects, cost, doc) +1
_Static_assert(VYRE_OPS(WIRE_COUNT_OP) == 111,
               "give a new operation its version in wire_op_minor, then count it here");
#undef WIRE_COUNT_OP

/* The same for a step and for a term of a size. */
static inline uint32_t wire_step_minor(uint32_t kind) {
    return kind > VYRE_STEP_REPEAT_WHILE ? 2 : 0;
}
static inline uint32_t wire_size_minor(uint32_t op) {
    return op == VYRE_SIZE_ITERATION ? 2 : 0;
}
_Static_assert(VYRE_STEP_ELSE == 5 && VYRE_SIZE_COUNT == 12,
               "give a new kind of step or size its version here");

/* A domain from memory in several dimensions. */
static inline uint32_t wire_phase_minor(uint32_t from_resource, uint32_t dimensions) {
    return from_resource != VYRE_NONE && dimensions > 1 ? 2 : 0;
}

/* A shared array whose size is not a number, a buffer of records, a field. */
static inline uint32_t wire_resource_minor(uint32_t kind, uint32_t type, uint32_t size) {
    return (kind == VYRE_RESOURCE_SHARED && size != VYRE_NONE) || kind == VYRE_RESOURCE_FIELD ||
                   type == VYRE_TYPE_VOID
               ? 2
               : 0;
}

/* The name of an instance, which states its types; the program's is the first of all strings. */
static inline uint32_t wire_name_minor(const char *strings, size_t size) {
    const char *end = memchr(strings, 0, size);
    return end && memchr(strings, '<', (size_t)(end - strings)) ? 2 : 0;
}

static inline uint32_t wire_higher(uint32_t minor, uint32_t needed) {
    return needed > minor ? needed : minor;
}

/* The same for all that a program uses. */
static inline uint32_t wire_minor(const vyre_ir *ir) {
    uint32_t minor = ir->data_bytes ? 2 : ir->requirement_count ? 1 : 0;
    minor = wire_higher(minor, wire_name_minor(ir->strings, ir->string_bytes));
    for (uint32_t i = 0; i < ir->step_count; i++) {
        minor = wire_higher(minor, wire_step_minor(ir->steps[i].kind));
    }
    for (uint32_t i = 0; i < ir->size_count; i++) {
        minor = wire_higher(minor, wire_size_minor(ir->sizes[i].op));
    }
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        const vyre_resource *row = &ir->resources[i];
        minor = wire_higher(minor, wire_resource_minor(row->kind, row->type, row->size));
    }
    for (uint32_t i = 0; i < ir->phase_count; i++) {
        const vyre_phase *phase = &ir->phases[i];
        minor = wire_higher(minor, wire_phase_minor(phase->from_resource, phase->dimensions));
    }
    for (uint32_t i = 0; i < ir->scope_count && !minor; i++) {
        minor = ir->scopes[i].file ? 1 : 0;
    }
    for (uint32_t i = 0; i < ir->inst_count && minor < WIRE_MINOR; i++) {
        minor = wire_higher(minor, wire_op_minor(ir->insts[i].op, ir->insts[i].type));
    }
    return minor;
}

static inline uint64_t wire_get(const uint8_t *bytes, int size) {
    uint64_t number = 0;
    for (int i = 0; i < size; i++) {
        number |= (uint64_t)bytes[i] << 8 * i;
    }
    return number;
}

static inline uint32_t wire_get_u32(const uint8_t *bytes) {
    return (uint32_t)wire_get(bytes, 4);
}

static inline void wire_put(uint8_t *bytes, int size, uint64_t number) {
    for (int i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(number >> 8 * i);
    }
}

static inline size_t wire_align(size_t offset) {
    return (offset + WIRE_ALIGNMENT - 1) / WIRE_ALIGNMENT * WIRE_ALIGNMENT;
}

#endif
