#include <string.h>

#include <vyre/wire.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/status.h"
#include "wire/layout.h"
#include "wire/variants.h"

/* A program within all limits fits into the limit of the binary form. */
enum {
#define SECTION_BYTES(name, array, count, type, layout, limit)                                     \
    +(uint64_t)VYRE_LIMIT_##limit * sizeof(type) + WIRE_ENTRY_BYTES + WIRE_ALIGNMENT
    FITS = WIRE_AT_TABLE VYRE_SECTIONS(SECTION_BYTES) <= (uint64_t)VYRE_LIMIT_WIRE_BYTES
#undef SECTION_BYTES
};
_Static_assert(FITS, "raise VYRE_LIMIT_WIRE_BYTES with the limits of the sections");

static size_t section_bytes(const vyre_ir *ir, vyre_section_id id) {
    return vyre_section_count(ir, id) * vyre_section_item_bytes(id);
}

static void put_entry(uint8_t *entry, uint32_t number, size_t item_bytes, size_t count, size_t at) {
    wire_put(entry + WIRE_ENTRY_NUMBER, 4, number);
    wire_put(entry + WIRE_ENTRY_ITEM_BYTES, 4, item_bytes);
    wire_put(entry + WIRE_ENTRY_COUNT, 4, count);
    wire_put(entry + WIRE_ENTRY_OFFSET, 4, at);
}

static vyre_status encode(const vyre_program *program, uint32_t flags, const vyre_strbuf *variants,
                          uint8_t **out_bytes, size_t *out_size) {
    const vyre_ir *ir = vyre_program_ir(program);
    bool has_debug = !(flags & VYRE_WIRE_NO_DEBUG);
    vyre_ir written = *ir;
    for (uint32_t id = 0; id < VYRE_SECTION_COUNT && !has_debug; id++) {
        if (!vyre_section_is_meaning(id)) {
            vyre_section_set(&written, id, NULL, 0);
        }
    }
    ir = &written;
    uint32_t sections = variants->size != 0;
    size_t size = variants->size;
    for (uint32_t id = 0; id < VYRE_SECTION_COUNT; id++) {
        sections += vyre_section_count(ir, id) != 0;
        size += wire_align(section_bytes(ir, id));
    }
    size_t at = WIRE_AT_TABLE + sections * (size_t)WIRE_ENTRY_BYTES;
    size += at;
    if (size > VYRE_LIMIT_WIRE_BYTES) {
        return vyre_status_make(VYRE_STATUS_LIMIT, "call fewer operations in one program",
                                "program `%s` and its variants have %zu bytes, the limit is %d",
                                vyre_program_name(program), size, VYRE_LIMIT_WIRE_BYTES);
    }
    uint8_t *bytes = vyre_alloc(size);
    if (!bytes) {
        return vyre_no_memory("for the %zu bytes of program `%s`", size,
                              vyre_program_name(program));
    }
    uint8_t *entry = bytes + WIRE_AT_TABLE;
    for (uint32_t id = 0; id < VYRE_SECTION_COUNT; id++) {
        uint32_t count = vyre_section_count(ir, id);
        if (!count) {
            continue;
        }
        put_entry(entry, id, vyre_section_item_bytes(id), count, at);
        entry += WIRE_ENTRY_BYTES;
        vyre_section_copy(id, bytes + at, vyre_section_items(ir, id), count);
        size_t used = section_bytes(ir, id);
        memset(bytes + at + used, 0, wire_align(used) - used);
        at += wire_align(used);
    }
    if (variants->size) {
        put_entry(entry, WIRE_VARIANTS, 1, variants->size, at);
        memcpy(bytes + at, variants->data, variants->size);
    }
    memcpy(bytes + WIRE_AT_MAGIC, WIRE_MAGIC, 8);
    wire_put(bytes + WIRE_AT_MAJOR, 2, WIRE_MAJOR);
    wire_put(bytes + WIRE_AT_MINOR, 2, variants->size ? WIRE_VARIANTS_MINOR : wire_minor(ir));
    wire_put(bytes + WIRE_AT_SECTIONS, 4, sections);
    wire_put(bytes + WIRE_AT_LENGTH, 8, size);
    wire_put(bytes + WIRE_AT_FLAGS, 4, ir->flags);
    wire_put(bytes + WIRE_AT_FILE, 4, has_debug ? ir->file : 0);
    wire_put(bytes + WIRE_AT_CHECKSUM, 8,
             vyre_hash(bytes + WIRE_CHECKED_FROM, size - WIRE_CHECKED_FROM));
    *out_bytes = bytes;
    *out_size = size;
    return VYRE_OK;
}

vyre_status vyre_wire_encode(const vyre_program *program, uint32_t flags, uint8_t **out_bytes,
                             size_t *out_size) {
    *out_bytes = NULL;
    *out_size = 0;
    if (flags & ~(uint32_t)VYRE_WIRE_NO_DEBUG) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "pass 0 or VYRE_WIRE_NO_DEBUG",
                                "unknown flags 0x%x", flags);
    }
    vyre_strbuf variants = {0};
    vyre_status status =
        flags & VYRE_WIRE_NO_DEBUG ? VYRE_OK : wire_variants_encode(program, &variants);
    status = status ? status : encode(program, flags, &variants, out_bytes, out_size);
    vyre_strbuf_free(&variants);
    return status;
}

void vyre_bytes_free(uint8_t *bytes) {
    vyre_free(bytes);
}
