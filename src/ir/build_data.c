#include <string.h>

#include "base/hash.h"
#include "ir/builder.h"
#include "ir/lookup.h"
#include "ir/section.h"

typedef struct data_key {
    const vyre_builder *builder;
    vyre_resource row;
} data_key;

static size_t row_bytes(const vyre_resource *row) {
    return (size_t)row->length * vyre_type_bytes((vyre_type)row->type);
}

/* Whether an array has the elements that stand at the end of the data. */
static bool same_data(const void *context, uint32_t resource) {
    const data_key *key = context;
    const vyre_resource *row = &key->builder->resources.items[resource].row;
    const uint8_t *data = key->builder->data.items;
    return row->type == key->row.type && row->length == key->row.length &&
           !memcmp(data + row->size, data + key->row.size, row_bytes(row));
}

/* Elements as memory has them become little-endian bytes; a bool is 0 or 1. */
static void turn_elements(uint8_t *data, const vyre_resource *row) {
    uint32_t bytes = vyre_type_bytes((vyre_type)row->type);
    bool is_bool = row->type == VYRE_TYPE_BOOL;
    for (size_t i = 0; i < row->length && (is_bool || vyre_section_needs_copy()); i++) {
        uint8_t *element = data + i * bytes;
        for (uint32_t k = 0; k < bytes / 2; k++) {
            uint8_t low = element[k];
            element[k] = element[bytes - 1 - k];
            element[bytes - 1 - k] = low;
        }
        element[0] = is_bool ? element[0] != 0 : element[0];
    }
}

/* Room for an array behind those that are there, at a multiple of 8; false without memory. */
static bool make_room(vyre_builder *builder, size_t bytes, uint32_t *out_start) {
    size_t start = (builder->data.count + 7) / 8 * 8, padding = start - builder->data.count;
    if (!vyre_vec_reserve(&builder->data, padding + bytes)) {
        builder_no_memory(builder);
        return false;
    }
    if (padding) {
        memset(builder->data.items + builder->data.count, 0, padding);
    }
    builder->data.count = start + bytes;
    *out_start = (uint32_t)start;
    return true;
}

static uint32_t add_array(vyre_builder *builder, const char *name, vyre_resource row,
                          const void *elements, bool is_copy) {
    size_t before = builder->data.count;
    if (!make_room(builder, row_bytes(&row), &row.size)) {
        return VYRE_NONE;
    }
    memcpy(builder->data.items + row.size, elements, row_bytes(&row));
    if (!is_copy) {
        turn_elements(builder->data.items + row.size, &row);
    }
    data_key key = {builder, row};
    uint64_t hash = vyre_hash(builder->data.items + row.size, row_bytes(&row)) ^ row.type;
    const uint32_t *found = vyre_map_find(&builder->data_map, hash, same_data, &key);
    if (found) {
        builder->data.count = before;
        return *found;
    }
    uint32_t resource = builder_add_resource(builder, name, row, VYRE_NONE);
    if (resource != VYRE_NONE && !vyre_map_add(&builder->data_map, hash, resource)) {
        builder_no_memory(builder);
    }
    return resource;
}

uint32_t vyre_build_constant_array(vyre_builder *builder, const char *name, vyre_type type,
                                   uint32_t length, const void *elements) {
    const char *shown = name && *name ? name : "?";
    vyre_resource row = {.kind = VYRE_RESOURCE_CONSTANT,
                         .type = (uint8_t)type,
                         .access = VYRE_ACCESS_IN,
                         .length = length};
    if (!vyre_type_class_of(type)) {
        return builder_none(builder, 306, "use one of the scalar types",
                            "constant array `%s` has no element type", shown);
    }
    if (!length || !elements) {
        return builder_none(builder, 604, "give it at least one element",
                            "constant array `%s` has no elements", shown);
    }
    uint64_t bytes = (uint64_t)length * vyre_type_bytes(type);
    if (bytes > VYRE_LIMIT_CONSTANT_BYTES ||
        (builder->data.count + 7) / 8 * 8 + (bytes + 7) / 8 * 8 > VYRE_LIMIT_CONSTANT_BYTES) {
        return builder_none(builder, 701, "pass it as a buffer",
                            "constant array `%s` takes %llu bytes, and all of a program may take "
                            "%d",
                            shown, (unsigned long long)bytes, VYRE_LIMIT_CONSTANT_BYTES);
    }
    return add_array(builder, name, row, elements, false);
}

uint32_t builder_copy_constant(vyre_builder *builder, const char *name, const vyre_ir *ir,
                               const vyre_resource *constant) {
    return add_array(builder, name, *constant, vyre_constant_data(ir, constant), true);
}

void builder_order_constants(vyre_builder *builder, uint32_t *next) {
    for (size_t i = 0; i < builder->insts.count && builder->data.count; i++) {
        const vyre_inst *inst = &builder->insts.items[i];
        if (!vyre_inst_has_resource(inst)) {
            continue;
        }
        uint32_t resource = vyre_access_resource(inst);
        uint32_t *number = &builder->resource_map.items[resource];
        if (builder->resources.items[resource].row.kind == VYRE_RESOURCE_CONSTANT &&
            *number == VYRE_NONE) {
            *number = (*next)++;
        }
    }
}
