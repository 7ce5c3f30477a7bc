/* Arbitrary bytes as a program's binary form. Magic, version, length and checksum are put right
 * first, so that what lies behind them is looked at; the mutator changes, doubles and removes items
 * of sections and moves the rest, so that the sections stay where the decoder expects them.
 *
 * What decodes must encode to the same bytes again, and can be counted and printed. What is printed
 * must parse to a program of the same digest, unless a name of its interface is a word of the
 * language. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>
#include <vyre/wire.h>

#include "base/hash.h"
#include "wire/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

static void fix_header(uint8_t *bytes, size_t size) {
    memcpy(bytes, WIRE_MAGIC, 8);
    wire_put(bytes + WIRE_AT_MAJOR, 2, WIRE_MAJOR);
    wire_put(bytes + WIRE_AT_MINOR, 2, WIRE_MINOR);
    wire_put(bytes + WIRE_AT_LENGTH, 8, size);
    wire_put(bytes + WIRE_AT_CHECKSUM, 8,
             vyre_hash(bytes + WIRE_CHECKED_FROM, size - WIRE_CHECKED_FROM));
}

/* Whether a name of the interface is `_`, which the language reads as no name. */
static bool has_no_name(const vyre_program *program) {
    const vyre_ir *ir = vyre_program_ir(program);
    bool found = !strcmp(ir->strings, "_");
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        found |= !strcmp(ir->strings + ir->args[i].name, "_");
    }
    return found;
}

static void parse_back(const vyre_program *program, const char *text, size_t size) {
    vyre_module *module;
    vyre_status status = vyre_module_parse("printed", text, size, NULL, &module);
    if (status) {
        if (!strstr(vyre_status_text(status), "V0203") && !has_no_name(program)) {
            abort();
        }
        vyre_status_free(status);
        return;
    }
    vyre_digest wanted = vyre_program_digest(program);
    vyre_digest found = vyre_program_digest(vyre_module_program(module, 0));
    if (wanted.low != found.low || wanted.high != found.high) {
        abort();
    }
    vyre_module_free(module);
}

static void use_program(const vyre_program *program, const uint8_t *bytes, size_t size) {
    uint8_t *again;
    size_t again_size;
    if (vyre_wire_encode(program, 0, &again, &again_size) || again_size != size ||
        memcmp(again, bytes, size) != 0) {
        abort(); /* a second form of the same program */
    }
    vyre_bytes_free(again);
    char *text;
    size_t text_size;
    if (vyre_program_print(program, &text, &text_size) || strlen(text) != text_size) {
        abort();
    }
    parse_back(program, text, text_size);
    vyre_string_free(text);
    vyre_stats stats = vyre_program_stats(program);
    if (stats.insts == 0 || stats.depth > VYRE_LIMIT_NESTING) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *bytes = malloc(size ? size : 1); /* its own block: the end is guarded */
    if (!bytes) {
        return 0;
    }
    if (size) {
        memcpy(bytes, data, size);
    }
    if (size >= WIRE_AT_TABLE) {
        fix_header(bytes, size);
    }
    vyre_program *program;
    vyre_status status = vyre_wire_decode(bytes, size, &program);
    if (!status) {
        use_program(program, bytes, size);
    }
    vyre_status_free(status);
    vyre_program_release(program);
    free(bytes);
    return 0;
}

static uint32_t draw(uint64_t *random, uint32_t below) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33) % below;
}

/* Gives the section of entry `index` room for `items`, moving those behind it; 0 if it cannot. */
static size_t resize_section(uint8_t *data, size_t size, size_t most, uint32_t index,
                             uint32_t items) {
    uint32_t sections = wire_get_u32(data + WIRE_AT_SECTIONS);
    uint8_t *entry = data + WIRE_AT_TABLE + index * (size_t)WIRE_ENTRY_BYTES;
    size_t item_bytes = wire_get_u32(entry + WIRE_ENTRY_ITEM_BYTES);
    size_t offset = wire_get_u32(entry + WIRE_ENTRY_OFFSET);
    size_t old_bytes = wire_align(wire_get_u32(entry + WIRE_ENTRY_COUNT) * item_bytes);
    size_t new_bytes = wire_align(items * item_bytes);
    if (size - old_bytes + new_bytes > most) {
        return 0;
    }
    size_t behind = offset + old_bytes;
    memmove(data + offset + new_bytes, data + behind, size - behind);
    if (new_bytes > old_bytes) {
        memset(data + behind, 0, new_bytes - old_bytes);
    }
    memset(data + offset + items * item_bytes, 0, new_bytes - items * item_bytes);
    wire_put(entry + WIRE_ENTRY_COUNT, 4, items);
    for (uint32_t i = index + 1; i < sections; i++) {
        entry += WIRE_ENTRY_BYTES;
        wire_put(entry + WIRE_ENTRY_OFFSET, 4,
                 wire_get_u32(entry + WIRE_ENTRY_OFFSET) + new_bytes - old_bytes);
    }
    return size - old_bytes + new_bytes;
}

/* Whether the table can be used to find the sections. */
static bool has_sections(const uint8_t *data, size_t size) {
    uint32_t sections = size < WIRE_AT_TABLE ? 0 : wire_get_u32(data + WIRE_AT_SECTIONS);
    if (!sections || sections > (size - WIRE_AT_TABLE) / WIRE_ENTRY_BYTES) {
        return false;
    }
    for (uint32_t i = 0; i < sections; i++) {
        const uint8_t *entry = data + WIRE_AT_TABLE + i * (size_t)WIRE_ENTRY_BYTES;
        uint64_t item_bytes = wire_get_u32(entry + WIRE_ENTRY_ITEM_BYTES);
        uint64_t count = wire_get_u32(entry + WIRE_ENTRY_COUNT);
        uint64_t offset = wire_get_u32(entry + WIRE_ENTRY_OFFSET);
        if (!item_bytes || item_bytes > 64 || count > size ||
            offset + wire_align(count * item_bytes) > size || offset < WIRE_AT_TABLE) {
            return false;
        }
    }
    return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    uint64_t random = seed;
    draw(&random, 2);
    if (!has_sections(data, size) || draw(&random, 16) == 0) {
        return LLVMFuzzerMutate(data, size, most);
    }
    uint32_t index = draw(&random, wire_get_u32(data + WIRE_AT_SECTIONS));
    const uint8_t *entry = data + WIRE_AT_TABLE + index * (size_t)WIRE_ENTRY_BYTES;
    uint32_t item_bytes = wire_get_u32(entry + WIRE_ENTRY_ITEM_BYTES);
    uint32_t count = wire_get_u32(entry + WIRE_ENTRY_COUNT);
    uint8_t *items = data + wire_get_u32(entry + WIRE_ENTRY_OFFSET);
    uint32_t at = count ? draw(&random, count) : 0;
    switch (draw(&random, 8)) {
    case 0: { /* doubles an item */
        size_t grown = count ? resize_section(data, size, most, index, count + 1) : 0;
        if (grown) {
            memmove(items + (at + 1) * (size_t)item_bytes, items + at * (size_t)item_bytes,
                    (count - at) * (size_t)item_bytes);
            return grown;
        }
        break;
    }
    case 1: /* removes one */
        if (count > 1) {
            memmove(items + at * (size_t)item_bytes, items + (at + 1) * (size_t)item_bytes,
                    (count - at - 1) * (size_t)item_bytes);
            return resize_section(data, size, most, index, count - 1);
        }
        break;
    case 2: /* copies one over another */
        if (count > 1) {
            memmove(items + draw(&random, count) * (size_t)item_bytes,
                    items + at * (size_t)item_bytes, item_bytes);
            return size;
        }
        break;
    case 3: /* counts a word up or down */
        if (count && item_bytes >= 4) {
            uint8_t *word = items + at * (size_t)item_bytes + 4 * draw(&random, item_bytes / 4);
            wire_put(word, 4, wire_get_u32(word) + draw(&random, 9) - 4);
            return size;
        }
        break;
    default: break;
    }
    if (count) { /* changes bytes of one, and no more */
        LLVMFuzzerMutate(items + at * (size_t)item_bytes, item_bytes, item_bytes);
    }
    return size;
}
