/* Records as structs, whose names and fields a program does not bear. */
#include <string.h>

#include "ir/lookup.h"
#include "ir/print.h"
#include "ir/program.h"

void vyre_swapped_firsts(const vyre_ir *ir, uint32_t *firsts) {
    for (uint32_t i = 0; i < VYRE_LIMIT_ARGUMENTS; i++) {
        firsts[i] = i;
    }
    for (uint32_t i = 0; i < ir->step_count; i++) {
        const vyre_step *step = &ir->steps[i];
        if (step->kind != VYRE_STEP_SWAP ||
            !vyre_resource_has_records(&ir->resources[step->resource])) {
            continue;
        }
        uint32_t a = firsts[step->resource], b = firsts[step->size];
        for (uint32_t k = 0; k < VYRE_LIMIT_ARGUMENTS && a != b; k++) {
            uint32_t *first = &firsts[k];
            *first = *first == a || *first == b ? (a < b ? a : b) : *first;
        }
    }
}

static uint32_t first_of(const vyre_ir *ir, uint32_t buffer) {
    uint32_t firsts[VYRE_LIMIT_ARGUMENTS];
    vyre_swapped_firsts(ir, firsts);
    return firsts[buffer];
}

/* The argument of a buffer. */
static const vyre_arg *argument_of(const vyre_ir *ir, uint32_t buffer) {
    const vyre_arg *arg = ir->args;
    while (arg->resource != buffer) {
        arg++;
    }
    return arg;
}

void vyre_record_name_print(vyre_strbuf *text, const vyre_ir *ir, uint32_t buffer) {
    size_t start = text->size;
    const vyre_arg *arg = argument_of(ir, first_of(ir, buffer));
    vyre_strbuf_printf(text, "%s_record", ir->strings + arg->name);
    if (!text->failed && !strcmp(text->data + start, ir->strings)) {
        vyre_strbuf_putc(text, '_');
    }
}

/* Scalars that nobody uses, until what is aligned so stands at `end`: as large as they can be
 * without moving others. Gives the largest size, or `alignment`. */
static uint32_t print_unused(vyre_strbuf *text, uint32_t at, uint32_t end, uint32_t alignment,
                             uint32_t record_bytes) {
    uint32_t largest = alignment;
    while ((at + alignment - 1) / alignment * alignment != end) {
        uint32_t bytes = 8;
        while (at % bytes || at + bytes > end || record_bytes % bytes) {
            bytes /= 2;
        }
        vyre_strbuf_printf(text, "    at%u: u%u,\n", at, bytes * 8);
        at += bytes;
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

/* The next field from an offset on, of a buffer or one that it is swapped with; NULL if none. */
static const vyre_resource *next_field(const vyre_ir *ir, const uint32_t *firsts, uint32_t buffer,
                                       uint32_t at) {
    const vyre_resource *found = NULL;
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        const vyre_resource *row = &ir->resources[i];
        if (vyre_resource_is_field(row) && row->length >= at &&
            (!found || row->length < found->length) && firsts[row->size] == buffer) {
            found = row;
        }
    }
    return found;
}

void vyre_record_print(vyre_strbuf *text, const vyre_ir *ir, uint32_t buffer) {
    uint32_t at = 0, alignment = 1, record_bytes = ir->resources[buffer].length;
    uint32_t firsts[VYRE_LIMIT_ARGUMENTS];
    vyre_swapped_firsts(ir, firsts);
    if (firsts[buffer] != buffer) {
        return;
    }
    vyre_strbuf_puts(text, "struct ");
    vyre_record_name_print(text, ir, buffer);
    vyre_strbuf_puts(text, " {\n");
    for (;;) {
        const vyre_resource *row = next_field(ir, firsts, buffer, at);
        if (!row) {
            break;
        }
        vyre_type type = vyre_resource_type(row);
        uint32_t bytes = vyre_type_bytes(type);
        uint32_t largest = print_unused(text, at, row->length, bytes, record_bytes);
        alignment = largest > alignment ? largest : alignment;
        vyre_strbuf_printf(text, "    at%u: %s,\n", row->length, vyre_type_name(type));
        at = row->length + bytes;
    }
    print_unused(text, at, record_bytes, alignment, record_bytes);
    vyre_strbuf_puts(text, "}\n\n");
}
