/* Constant arrays: global constants of the module, which end up in the read-only data of the
 * object.
 */
#include "backend/cpu/codegen/emit_state.h"
#include "ir/lookup.h"

static void write_byte(vyre_strbuf *out, uint8_t byte) {
    static const char digits[] = "0123456789ABCDEF";
    if (byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\') {
        vyre_strbuf_putc(out, (char)byte);
        return;
    }
    vyre_strbuf_putc(out, '\\');
    vyre_strbuf_putc(out, digits[byte >> 4]);
    vyre_strbuf_putc(out, digits[byte & 15]);
}

void emit_constants(vyre_strbuf *out, const vyre_ir *ir) {
    for (uint32_t r = 0; r < ir->resource_count && ir->data_bytes; r++) {
        const vyre_resource *row = &ir->resources[r];
        if (row->kind != VYRE_RESOURCE_CONSTANT) {
            continue;
        }
        uint64_t bytes = vyre_resource_bytes(row);
        vyre_strbuf_printf(out, "@constant_%u = internal constant [%llu x i8] c\"", r,
                           (unsigned long long)bytes);
        for (uint64_t i = 0; i < bytes; i++) {
            write_byte(out, vyre_constant_data(ir, row)[i]);
        }
        vyre_strbuf_puts(out, "\", align 64\n");
    }
}
