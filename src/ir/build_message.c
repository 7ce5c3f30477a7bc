#include <string.h>

#include "ir/builder.h"
#include "ir/lookup.h"
#include "ir/message.h"

static vyre_str text_of(const vyre_builder *builder, uint32_t resource) {
    const vyre_resource *row = &builder->resources.items[resource].row;
    return (vyre_str){(const char *)builder->data.items + row->size, row->length};
}

/* Whether all operands are values; their types. */
static bool check_operands(vyre_builder *builder, const char *name, uint32_t count,
                           const uint32_t *operands, vyre_type *out_types) {
    bool valid = true;
    for (uint32_t i = 0; i < count; i++) {
        out_types[i] = builder_value(builder, name, i + 1, operands[i]);
        valid &= out_types[i] != VYRE_TYPE_VOID;
    }
    return valid;
}

static bool check_message(vyre_builder *builder, vyre_op op, vyre_str text, uint32_t count,
                          const uint32_t *operands) {
    vyre_type types[VYRE_LIMIT_MESSAGE_VALUES + 1] = {VYRE_TYPE_VOID};
    vyre_rule_error error;
    uint32_t seen = count <= VYRE_LIMIT_MESSAGE_VALUES + 1 ? count : VYRE_LIMIT_MESSAGE_VALUES + 1;
    return check_operands(builder, vyre_lookup_op(op)->name, seen, operands, types) &&
           (vyre_message_check(op, text, types, count, &error) ||
            builder_refuse(builder, error.code, error.fix, "%s", error.message));
}

void builder_message(vyre_builder *builder, vyre_op op, uint32_t text, uint32_t count,
                     const uint32_t *operands) {
    uint32_t list;
    if (builder_ready(builder, vyre_lookup_op(op)->name) && text != VYRE_NONE &&
        check_message(builder, op, text_of(builder, text), count, operands) &&
        builder_list(builder, count, operands, &list)) {
        builder_emit(builder, (vyre_inst){.op = (uint16_t)op, .a = text, .b = list, .c = count});
    }
}

static void build(vyre_builder *builder, vyre_op op, const char *text, uint32_t count,
                  const uint32_t *operands) {
    size_t size = text ? strlen(text) : 0;
    if (builder_ready(builder, vyre_lookup_op(op)->name) &&
        check_message(builder, op, (vyre_str){text, size}, count, operands)) {
        builder_message(
            builder, op,
            vyre_build_constant_array(builder, NULL, VYRE_TYPE_U8, (uint32_t)size, text), count,
            operands);
    }
}

void vyre_build_print(vyre_builder *builder, const char *text, uint32_t count,
                      const uint32_t *values) {
    build(builder, VYRE_OP_PRINT, text, count, values);
}

void vyre_build_assert(vyre_builder *builder, uint32_t condition, const char *text, uint32_t count,
                       const uint32_t *values) {
    uint32_t operands[VYRE_LIMIT_MESSAGE_VALUES + 1] = {condition};
    uint32_t kept = count <= VYRE_LIMIT_MESSAGE_VALUES ? count : VYRE_LIMIT_MESSAGE_VALUES;
    if (kept) {
        memcpy(operands + 1, values, kept * sizeof *values);
    }
    build(builder, VYRE_OP_ASSERT, text, count + 1, operands);
}
