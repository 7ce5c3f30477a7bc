#include "wire/variants.h"

#include <string.h>

#include <vyre/wire.h>

#include "base/status.h"
#include "wire/layout.h"

static void pad(vyre_strbuf *out) {
    vyre_strbuf_repeat(out, '\0', wire_align(out->size) - out->size);
}

static vyre_status encode_row(const vyre_program_variant *row, vyre_strbuf *out) {
    uint8_t head[WIRE_VARIANT_HEAD], *bytes;
    size_t size, id_bytes = row->suits.backend ? strlen(row->suits.backend) : 0;
    VYRE_TRY(vyre_wire_encode(row->program, 0, &bytes, &size));
    wire_put(head + WIRE_VARIANT_KIND, 4, row->suits.kind);
    wire_put(head + WIRE_VARIANT_ID_BYTES, 4, id_bytes);
    wire_put(head + WIRE_VARIANT_BYTES, 8, size);
    vyre_strbuf_add(out, (const char *)head, sizeof head);
    vyre_strbuf_add(out, row->suits.backend, id_bytes);
    pad(out);
    vyre_strbuf_add(out, (const char *)bytes, size);
    pad(out);
    vyre_bytes_free(bytes);
    return VYRE_OK;
}

vyre_status wire_variants_encode(const vyre_program *program, vyre_strbuf *out) {
    for (uint32_t i = 0; i < program->variant_count; i++) {
        VYRE_TRY(encode_row(&program->variants[i], out));
    }
    return out->failed
               ? vyre_no_memory("for the variants of program `%s`", vyre_program_name(program))
               : VYRE_OK;
}

static vyre_status refuse(size_t at, const char *what) {
    return vyre_status_make(VYRE_STATUS_MALFORMED, "encode the program again with this vyre",
                            "at byte %zu: %s", at, what);
}

static bool are_zeros(const uint8_t *bytes, size_t count) {
    while (count && !bytes[count - 1]) {
        count--;
    }
    return !count;
}

/* One row, whose end it gives. */
static vyre_status decode_row(const uint8_t *bytes, size_t at, size_t size, vyre_program *program,
                              size_t *out_size) {
    const uint8_t *head = bytes + at;
    if (size < WIRE_VARIANT_HEAD) {
        return refuse(at, "a variant ends after the last byte");
    }
    uint32_t kind = wire_get_u32(head + WIRE_VARIANT_KIND);
    uint32_t id_bytes = wire_get_u32(head + WIRE_VARIANT_ID_BYTES);
    uint64_t image = wire_get(head + WIRE_VARIANT_BYTES, 8);
    size_t left = size - WIRE_VARIANT_HEAD, id_room = wire_align(id_bytes);
    if (kind > VYRE_KIND_GPU || (kind == VYRE_KIND_ANY && !id_bytes) ||
        id_bytes > VYRE_LIMIT_NAME_BYTES) {
        return refuse(at, "a variant suits no device");
    }
    if (id_room > left || image > left - id_room || image % WIRE_ALIGNMENT) {
        return refuse(at + WIRE_VARIANT_BYTES, "a variant ends after the last byte");
    }
    const uint8_t *id = head + WIRE_VARIANT_HEAD;
    char backend[VYRE_LIMIT_NAME_BYTES + 1] = {0};
    memcpy(backend, id, id_bytes);
    if (strlen(backend) != id_bytes || !are_zeros(id + id_bytes, id_room - id_bytes)) {
        return refuse(at + WIRE_VARIANT_HEAD, "the id of a variant's backend is no text");
    }
    size_t start = at + WIRE_VARIANT_HEAD + id_room;
    vyre_program *variant;
    VYRE_TRY(vyre_status_annotate(wire_decode_one(bytes + start, (size_t)image, true, &variant),
                                  "in the variant at byte %zu", start));
    *out_size = WIRE_VARIANT_HEAD + id_room + (size_t)image;
    vyre_suits suits = {id_bytes ? backend : NULL, (vyre_device_kind)kind};
    return vyre_status_annotate(vyre_program_add_variant(program, suits, variant), "at byte %zu",
                                at);
}

vyre_status wire_variants_decode(const uint8_t *bytes, size_t at, size_t size,
                                 vyre_program *program) {
    for (size_t done = 0, row; done < size; done += row) {
        VYRE_TRY(decode_row(bytes, at + done, size - done, program, &row));
    }
    return VYRE_OK;
}
