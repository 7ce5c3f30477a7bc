/* Nothing is allocated before the sizes are known to fit the bytes that are there. What the bytes
 * mean is the verifier's to judge; here they are only put where they belong. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <vyre/wire.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/status.h"
#include "ir/program.h"
#include "wire/layout.h"
#include "wire/variants.h"

typedef struct input {
    const uint8_t *bytes;
    size_t size;
    size_t offsets[VYRE_SECTION_COUNT]; /* of the sections; 0 where there is none */
    uint32_t counts[VYRE_SECTION_COUNT];
    size_t variants, variant_bytes; /* where they are, 0 where there are none */
    bool is_variant;                /* which has none of its own */
} input;

static const char *const section_names[VYRE_SECTION_COUNT] = {
#define NAME(name, array, count, type, layout, limit) #name,
    VYRE_SECTIONS(NAME)
#undef NAME
};

static const char damaged_fix[] = "copy the bytes again from their source; they were changed or "
                                  "truncated on the way";

static const char as_bytes_fix[] = "send or copy the bytes again as binary, not as text; in git, "
                                   "mark such files as binary";

static vyre_status refuse(size_t at, const char *format, ...) VYRE_PRINTF(2, 3);

static vyre_status refuse(size_t at, const char *format, ...) {
    char what[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return vyre_status_make(VYRE_STATUS_MALFORMED, damaged_fix, "malformed program at byte %zu: %s",
                            at, what);
}

/* The magic number holds CR LF and LF, so that whatever changes line ends changes it. */
static vyre_status refuse_magic(const input *in) {
    static const char magic[] = WIRE_MAGIC;
    static const struct {
        const char *start, *change;
    } changes[] = {
        {"VYRE\r\r\n", "LF became CR LF"}, {"VYRE\r\n\x1a\r", "LF became CR LF"},
        {"VYRE\n\x1a", "CR LF became LF"}, {"VYRE\n\n", "CR became LF"},
        {"VYRE\r\r", "LF became CR"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        size_t size = strlen(changes[i].start);
        if (in->size >= size && !memcmp(in->bytes, changes[i].start, size)) {
            size_t at = 0;
            while (in->bytes[at] == (uint8_t)magic[at]) {
                at++;
            }
            return vyre_status_make(VYRE_STATUS_MALFORMED, as_bytes_fix,
                                    "malformed program at byte %zu: %s here, as happens when bytes "
                                    "are sent or stored as text",
                                    at, changes[i].change);
        }
    }
    return vyre_status_make(VYRE_STATUS_MALFORMED,
                            "pass the encoded bytes of a program; to read source text, parse it",
                            "malformed program at byte 0: the bytes do not start with the magic "
                            "number of the binary form");
}

/* Every program has bytes of 0xff: a phase among its steps has no array. */
static bool has_lost_high_bits(const input *in) {
    for (size_t i = 0; i < in->size; i++) {
        if (in->bytes[i] & 0x80) {
            return false;
        }
    }
    return true;
}

static vyre_status check_header(const input *in) {
    size_t magic_bytes = in->size < 8 ? in->size : 8;
    if (magic_bytes && memcmp(in->bytes, WIRE_MAGIC, magic_bytes) != 0) {
        return refuse_magic(in);
    }
    if (in->size < WIRE_AT_TABLE) {
        return refuse(in->size, "the bytes end inside the header");
    }
    uint32_t major = (uint32_t)wire_get(in->bytes + WIRE_AT_MAJOR, 2);
    uint32_t minor = (uint32_t)wire_get(in->bytes + WIRE_AT_MINOR, 2);
    if (major != WIRE_MAJOR || minor > WIRE_MINOR) {
        return vyre_status_make(
            VYRE_STATUS_UNSUPPORTED,
            "upgrade vyre to a release that reads this version, or encode the "
            "program again with this one",
            "at byte %d: the program has version %u.%u of the binary form, vyre "
            "%s reads %d.%d",
            WIRE_AT_MAJOR, major, minor, VYRE_VERSION_STRING, WIRE_MAJOR, WIRE_MINOR);
    }
    uint64_t length = wire_get(in->bytes + WIRE_AT_LENGTH, 8);
    if (length > VYRE_LIMIT_WIRE_BYTES) {
        return vyre_status_make(VYRE_STATUS_LIMIT, "split the program",
                                "at byte %d: the program has %llu bytes, the limit is %d",
                                WIRE_AT_LENGTH, (unsigned long long)length, VYRE_LIMIT_WIRE_BYTES);
    }
    if (length > in->size) {
        return refuse(in->size, "the bytes end here, and the header says that there are %llu",
                      (unsigned long long)length);
    }
    uint64_t stated = wire_get(in->bytes + WIRE_AT_CHECKSUM, 8);
    uint64_t found = vyre_hash(in->bytes + WIRE_CHECKED_FROM, in->size - WIRE_CHECKED_FROM);
    if (length == in->size && stated == found) {
        return VYRE_OK;
    }
    if (has_lost_high_bits(in)) {
        return vyre_status_make(VYRE_STATUS_MALFORMED, as_bytes_fix,
                                "malformed program at byte %d: from here on no byte has its "
                                "highest bit set, as happens when bytes are sent as 7-bit text",
                                WIRE_AT_MAJOR);
    }
    if (length < in->size) {
        unsigned long long more = in->size - length;
        return refuse((size_t)length, "%llu byte%s the end that the header gives", more,
                      more == 1 ? " follows" : "s follow");
    }
    return refuse(WIRE_AT_CHECKSUM,
                  "the checksum is %016llx, and that of the bytes after it is "
                  "%016llx",
                  (unsigned long long)stated, (unsigned long long)found);
}

static vyre_status check_padding(const input *in, size_t at, size_t end) {
    for (; at < end; at++) {
        if (in->bytes[at]) {
            return refuse(at, "a byte between sections is not zero");
        }
    }
    return VYRE_OK;
}

/* One entry of the section table: `*end` is where the section before ends, and then this one. */
static vyre_status check_section(input *in, size_t entry, uint32_t *next_id, size_t *end) {
    const uint8_t *row = in->bytes + entry;
    uint32_t number = wire_get_u32(row + WIRE_ENTRY_NUMBER);
    uint32_t item_bytes = wire_get_u32(row + WIRE_ENTRY_ITEM_BYTES);
    uint32_t count = wire_get_u32(row + WIRE_ENTRY_COUNT);
    uint32_t offset = wire_get_u32(row + WIRE_ENTRY_OFFSET);
    bool is_variants = number == WIRE_VARIANTS && *next_id <= number && !in->is_variant;
    if (!is_variants && (number < *next_id || number >= VYRE_SECTION_COUNT)) {
        return refuse(entry + WIRE_ENTRY_NUMBER, "section %u is unknown or out of order", number);
    }
    vyre_section_id id = (vyre_section_id)number;
    const char *name = is_variants ? "VARIANTS" : section_names[id];
    size_t right_bytes = is_variants ? 1 : vyre_section_item_bytes(id);
    uint32_t limit = is_variants ? VYRE_LIMIT_WIRE_BYTES : vyre_section_limit(id);
    if (item_bytes != right_bytes) {
        return refuse(entry + WIRE_ENTRY_ITEM_BYTES, "items of %s have size %u, expected %zu", name,
                      item_bytes, right_bytes);
    }
    if (!count) {
        return refuse(entry + WIRE_ENTRY_COUNT, "section %s is listed but has no items", name);
    }
    if (count > limit) {
        return vyre_status_make(VYRE_STATUS_LIMIT, "split the program",
                                "at byte %zu: section %s has %u items, the limit is %u",
                                entry + WIRE_ENTRY_COUNT, name, count, limit);
    }
    size_t expected = wire_align(*end);
    if (offset != expected) {
        return refuse(entry + WIRE_ENTRY_OFFSET, "section %s starts at byte %u, expected %zu", name,
                      offset, expected);
    }
    size_t bytes = count * (size_t)item_bytes;
    if (expected > in->size || bytes > in->size - expected) {
        return refuse(entry + WIRE_ENTRY_COUNT,
                      "section %s, with %u items, ends after the last byte", name, count);
    }
    vyre_status status = check_padding(in, *end, expected);
    if (is_variants) {
        in->variants = expected;
        in->variant_bytes = bytes;
    } else {
        in->offsets[id] = expected;
        in->counts[id] = count;
    }
    *next_id = number + 1;
    *end = expected + bytes;
    return status;
}

/* The version is the lowest that has all that is there, as wire_minor says. */
static vyre_status check_minor(const input *in) {
    uint32_t needed = in->variant_bytes                       ? WIRE_VARIANTS_MINOR
                      : in->counts[VYRE_SECTION_DATA]         ? 2
                      : in->counts[VYRE_SECTION_REQUIREMENTS] ? 1
                                                              : 0;
    needed = wire_higher(
        needed, wire_name_minor((const char *)in->bytes + in->offsets[VYRE_SECTION_STRINGS],
                                in->counts[VYRE_SECTION_STRINGS]));
    const uint8_t *scopes = in->bytes + in->offsets[VYRE_SECTION_SCOPES];
    for (uint32_t i = 0; i < in->counts[VYRE_SECTION_SCOPES] && !needed; i++) {
        needed = wire_get_u32(scopes + i * sizeof(vyre_call_scope) +
                              offsetof(vyre_call_scope, file)) != 0;
    }
    const uint8_t *inst = in->bytes + in->offsets[VYRE_SECTION_INSTS];
    for (uint32_t i = 0; i < in->counts[VYRE_SECTION_INSTS] && needed < WIRE_MINOR; i++) {
        uint32_t minor = wire_op_minor((uint32_t)wire_get(inst + offsetof(vyre_inst, op), 2),
                                       inst[offsetof(vyre_inst, type)]);
        needed = wire_higher(needed, minor);
        inst += sizeof(vyre_inst);
    }
    const uint8_t *step = in->bytes + in->offsets[VYRE_SECTION_STEPS];
    for (uint32_t i = 0; i < in->counts[VYRE_SECTION_STEPS]; i++) {
        needed = wire_higher(needed, wire_step_minor(wire_get_u32(step + i * sizeof(vyre_step))));
    }
    const uint8_t *array = in->bytes + in->offsets[VYRE_SECTION_RESOURCES];
    for (uint32_t i = 0; i < in->counts[VYRE_SECTION_RESOURCES]; i++) {
        uint32_t array_size = wire_get_u32(array + offsetof(vyre_resource, size));
        needed = wire_higher(needed,
                             wire_resource_minor(array[offsetof(vyre_resource, kind)],
                                                 array[offsetof(vyre_resource, type)], array_size));
        array += sizeof(vyre_resource);
    }
    const uint8_t *phase = in->bytes + in->offsets[VYRE_SECTION_PHASES];
    for (uint32_t i = 0; i < in->counts[VYRE_SECTION_PHASES]; i++) {
        uint32_t from = wire_get_u32(phase + offsetof(vyre_phase, from_resource));
        uint32_t dimensions = wire_get_u32(phase + offsetof(vyre_phase, dimensions));
        needed = wire_higher(needed, wire_phase_minor(from, dimensions));
        phase += sizeof(vyre_phase);
    }
    const uint8_t *size = in->bytes + in->offsets[VYRE_SECTION_SIZES];
    for (uint32_t i = 0; i < in->counts[VYRE_SECTION_SIZES]; i++) {
        needed =
            wire_higher(needed, wire_size_minor(wire_get_u32(size + i * sizeof(vyre_size_node))));
    }
    uint32_t stated = (uint32_t)wire_get(in->bytes + WIRE_AT_MINOR, 2);
    return stated == needed ? VYRE_OK
                            : refuse(WIRE_AT_MINOR,
                                     "the header gives version %d.%u, and the program needs %d.%u",
                                     WIRE_MAJOR, stated, WIRE_MAJOR, needed);
}

static vyre_status check_sections(input *in) {
    uint32_t sections = wire_get_u32(in->bytes + WIRE_AT_SECTIONS);
    if (sections > (in->size - WIRE_AT_TABLE) / WIRE_ENTRY_BYTES) {
        return refuse(WIRE_AT_SECTIONS, "a section table of length %u ends after the last byte",
                      sections);
    }
    size_t end = WIRE_AT_TABLE + sections * (size_t)WIRE_ENTRY_BYTES;
    uint32_t next_id = 0;
    for (uint32_t i = 0; i < sections; i++) {
        size_t entry = WIRE_AT_TABLE + i * (size_t)WIRE_ENTRY_BYTES;
        VYRE_TRY(check_section(in, entry, &next_id, &end));
    }
    static const vyre_section_id required[] = {VYRE_SECTION_STEPS, VYRE_SECTION_PHASES,
                                               VYRE_SECTION_INSTS, VYRE_SECTION_STRINGS};
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        if (!in->counts[required[i]]) {
            return refuse(WIRE_AT_SECTIONS, "section %s is missing", section_names[required[i]]);
        }
    }
    if (wire_align(end) != in->size) {
        return refuse(end, "more bytes follow the last section");
    }
    VYRE_TRY(check_padding(in, end, in->size));
    return check_minor(in);
}

/* Copies the sections into arrays of their own; false without memory. */
static bool copy_sections(const input *in, vyre_ir *ir) {
    ir->flags = wire_get_u32(in->bytes + WIRE_AT_FLAGS);
    ir->file = wire_get_u32(in->bytes + WIRE_AT_FILE);
    for (uint32_t id = 0; id < VYRE_SECTION_COUNT; id++) {
        if (!in->counts[id]) {
            continue;
        }
        void *items = vyre_alloc_array(in->counts[id], vyre_section_item_bytes(id));
        if (!items) {
            return false;
        }
        vyre_section_set(ir, id, items, in->counts[id]);
        vyre_section_copy(id, items, in->bytes + in->offsets[id], in->counts[id]);
    }
    return true;
}

/* The byte at which the verifier's first error lies: the row of a table, the table's entry where
 * the row does not exist, or a field of the header. */
static size_t find_fault(const input *in, vyre_fault fault) {
    if (fault.section >= VYRE_SECTION_COUNT) {
        return WIRE_AT_FLAGS;
    }
    if (fault.item < in->counts[fault.section]) {
        return in->offsets[fault.section] +
               fault.item * vyre_section_item_bytes((vyre_section_id)fault.section);
    }
    size_t entry = WIRE_AT_TABLE;
    for (uint32_t id = 0; id < (uint32_t)fault.section; id++) {
        entry += in->counts[id] ? WIRE_ENTRY_BYTES : 0;
    }
    return in->counts[fault.section] ? entry + WIRE_ENTRY_COUNT : WIRE_AT_SECTIONS;
}

vyre_status wire_decode_one(const uint8_t *bytes, size_t size, bool is_variant,
                            vyre_program **out_program) {
    *out_program = NULL;
    input in = {.bytes = bytes, .size = size, .is_variant = is_variant};
    vyre_ir ir = {0};
    vyre_diagnostics *diagnostics = NULL;
    vyre_status status = check_header(&in);
    if (!status) {
        status = check_sections(&in);
    }
    if (!status) {
        status = vyre_diagnostics_create(&diagnostics);
    }
    if (status) {
        goto done;
    }
    if (!copy_sections(&in, &ir)) {
        status = vyre_no_memory("to decode a program of %zu bytes", size);
        goto done;
    }
    vyre_fault fault = {VYRE_SECTION_COUNT, 0};
    status = vyre_program_seal(&ir, diagnostics, &fault, out_program);
    if (status && vyre_status_code_of(status) != VYRE_STATUS_OUT_OF_MEMORY) {
        status = vyre_status_annotate(status, "at byte %zu", find_fault(&in, fault));
    }
    if (!status) {
        status = wire_variants_decode(bytes, in.variants, in.variant_bytes, *out_program);
    }
    if (status) {
        vyre_program_release(*out_program);
        *out_program = NULL;
    }
done:
    vyre_sections_free(&ir);
    vyre_diagnostics_free(diagnostics);
    return status;
}

vyre_status vyre_wire_decode(const uint8_t *bytes, size_t size, vyre_program **out_program) {
    return wire_decode_one(bytes, size, false, out_program);
}
