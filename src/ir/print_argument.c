/* An argument as its author declared it. */
#include "ir/lookup.h"
#include "ir/print.h"
#include "ir/size.h"

void vyre_argument_print(vyre_strbuf *text, const vyre_ir *ir, uint32_t index) {
    static const char *const access[] = {"", "inout ", "out "};
    const vyre_arg *arg = &ir->args[index];
    const char *type = vyre_type_name(vyre_arg_type(arg));
    vyre_strbuf_printf(text, "%s: ", ir->strings + arg->name);
    if (arg->resource == VYRE_NONE) {
        vyre_strbuf_puts(text, type);
        return;
    }
    const vyre_resource *buffer = &ir->resources[arg->resource];
    vyre_strbuf_printf(text, "%sbuffer<", access[buffer->access]);
    if (vyre_resource_has_records(buffer)) {
        vyre_record_name_print(text, ir, arg->resource);
    } else {
        vyre_strbuf_puts(text, type);
    }
    vyre_strbuf_putc(text, '>');
    if (buffer->size != VYRE_NONE) {
        vyre_strbuf_putc(text, '[');
        vyre_size_print(text, ir, buffer->size);
        vyre_strbuf_putc(text, ']');
    }
}
