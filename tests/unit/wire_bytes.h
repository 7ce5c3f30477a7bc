/* Bytes of programs to be damaged on purpose. */
#ifndef VYRE_TESTS_WIRE_BYTES_H
#define VYRE_TESTS_WIRE_BYTES_H

#include <stdlib.h>
#include <string.h>

#include <vyre/wire.h>

#include "base/hash.h"
#include "tests/unit/sample_programs.h"
#include "wire/layout.h"

typedef struct wire_bytes {
    uint8_t *data;
    size_t size;
} wire_bytes;

/* A sample program's bytes in memory of their own size, so that reading past them is noticed. */
static inline wire_bytes wire_of_sample(const char *name, uint32_t flags) {
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        if (strcmp(sample_rows[i].name, name) != 0) {
            continue;
        }
        vyre_program *program = sample_program(i);
        wire_bytes bytes;
        uint8_t *encoded;
        assert_null(vyre_wire_encode(program, flags, &encoded, &bytes.size));
        bytes.data = malloc(bytes.size);
        assert_non_null(bytes.data);
        memcpy(bytes.data, encoded, bytes.size);
        vyre_bytes_free(encoded);
        vyre_program_release(program);
        return bytes;
    }
    fail_msg("there is no sample program `%s`", name);
    return (wire_bytes){0};
}

static inline wire_bytes wire_copy(wire_bytes bytes, size_t size) {
    wire_bytes copy = {malloc(size ? size : 1), size};
    assert_non_null(copy.data);
    memset(copy.data, 0, size);
    memcpy(copy.data, bytes.data, size < bytes.size ? size : bytes.size);
    return copy;
}

static inline void wire_fix_checksum(wire_bytes bytes) {
    wire_put(bytes.data + WIRE_AT_CHECKSUM, 8,
             vyre_hash(bytes.data + WIRE_CHECKED_FROM, bytes.size - WIRE_CHECKED_FROM));
}

/* The entry of a section in the table. */
static inline size_t wire_entry_of(wire_bytes bytes, uint32_t section) {
    uint32_t count = wire_get_u32(bytes.data + WIRE_AT_SECTIONS);
    for (uint32_t i = 0; i < count; i++) {
        size_t entry = WIRE_AT_TABLE + i * (size_t)WIRE_ENTRY_BYTES;
        if (wire_get_u32(bytes.data + entry) == section) {
            return entry;
        }
    }
    fail_msg("there is no section %u", section);
    return 0;
}

static inline size_t wire_offset_of(wire_bytes bytes, uint32_t section) {
    return wire_get_u32(bytes.data + wire_entry_of(bytes, section) + WIRE_ENTRY_OFFSET);
}

#endif
