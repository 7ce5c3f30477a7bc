#include "text/lower.h"

vyre_value_type lower_declare_struct(vyre_lower *lower, uint32_t item, const vyre_token *name) {
    vyre_value_type type = VYRE_FIRST_STRUCT + (uint32_t)lower->types.structs.count;
    if (type > VYRE_LAST_STRUCT) {
        vyre_source_report(&lower->unit->source, vyre_token_spot(name), 701, "use fewer structs",
                           "there are more than %d structs", VYRE_LAST_STRUCT - VYRE_FIRST_STRUCT);
        return 0;
    }
    vyre_struct row = {.name = {lower->unit->source.text + name->offset, name->length},
                       .item = item};
    if (!vyre_vec_push(&lower->types.structs, row)) {
        lower_no_memory(lower);
        return 0;
    }
    lower->unit->names.symbols.items[name->symbol].type = (uint16_t)type;
    return type;
}

static void read_field(vyre_lower *lower, vyre_value_type owner, vyre_node name) {
    if (name.kind != VYRE_NODE_NAME || !name.detail) {
        return; /* reported */
    }
    vyre_str text = vyre_symbol_text(&lower->unit->names, name.a);
    if (vyre_struct_field(&lower->types, owner, text)) {
        lower_report(lower, vyre_node_spot(&name), 202, "rename one of them",
                     "the field `%.*s` is declared twice", (int)text.size, text.data);
        return;
    }
    if (!vyre_vec_push(&lower->types.fields, (vyre_field){.name = text, .type = name.detail})) {
        lower_no_memory(lower);
        return;
    }
    lower->types.structs.items[owner - VYRE_FIRST_STRUCT].field_count++;
}

/* Reads the names and types of the fields; false after a mistake. */
static bool read_fields(vyre_lower *lower, const vyre_item *item) {
    vyre_parser *parser = &lower->parser;
    vyre_struct *row = &lower->types.structs.items[item->index - VYRE_FIRST_STRUCT];
    row->fields = (uint32_t)lower->types.fields.count;
    vyre_parser_open(parser, &item->place);
    vyre_node node = vyre_parser_node(parser, vyre_parse_item(parser));
    if (node.kind != VYRE_NODE_STRUCT) {
        return false;
    }
    uint32_t count = vyre_parser_count(parser, node.b);
    for (uint32_t i = 0; i < count; i++) {
        read_field(lower, item->index, lower_node(lower, vyre_parser_item(parser, node.b, i)));
    }
    if (!count) {
        lower_report(lower, item->spot, 102, "declare a field, as in `mass: f32`",
                     "a struct needs at least one field");
    }
    return count == row->field_count && !parser->failed;
}

/* Adds a field with its leaves to the struct that is being measured. */
static bool add_field(vyre_lower *lower, vyre_field *field, vyre_struct *owner) {
    vyre_types *types = &lower->types;
    uint32_t width = vyre_type_width(types, field->type);
    if (!width) {
        return false; /* the field's own struct is wrong */
    }
    uint32_t alignment = vyre_value_alignment(types, field->type);
    field->first = (uint32_t)types->leaf_types.count - owner->leaves;
    field->offset = (owner->bytes + alignment - 1) / alignment * alignment;
    for (uint32_t i = 0; i < width; i++) {
        uint8_t type = (uint8_t)vyre_leaf_type(types, field->type, i);
        uint32_t offset = field->offset + vyre_leaf_offset(types, field->type, i);
        if (!vyre_vec_push(&types->leaf_types, type) ||
            !vyre_vec_push(&types->leaf_offsets, offset)) {
            lower_no_memory(lower);
            return false;
        }
    }
    owner->bytes = field->offset + vyre_value_bytes(types, field->type);
    owner->alignment = alignment > owner->alignment ? alignment : owner->alignment;
    return true;
}

/* Finds out what scalars a struct consists of. One that is wrong has none. */
static void measure(vyre_lower *lower, vyre_value_type type, uint32_t depth) {
    vyre_types *types = &lower->types;
    uint32_t number = type - VYRE_FIRST_STRUCT;
    vyre_spot spot = lower->unit->items.items[types->structs.items[number].item].spot;
    vyre_str name = types->structs.items[number].name;
    if (types->structs.items[number].state == VYRE_STRUCT_ACTIVE) {
        lower_report(lower, spot, 205, "remove one of the fields; a struct has a fixed size",
                     "the struct `%.*s` contains itself", (int)name.size, name.data);
        return;
    }
    if (types->structs.items[number].state == VYRE_STRUCT_DONE || depth > VYRE_LIMIT_NESTING) {
        return;
    }
    types->structs.items[number].state = VYRE_STRUCT_ACTIVE;
    vyre_struct row = types->structs.items[number];
    for (uint32_t i = 0; i < row.field_count; i++) {
        vyre_value_type inner = types->fields.items[row.fields + i].type;
        if (vyre_type_is_struct(inner)) {
            measure(lower, inner, depth + 1);
        }
    }
    row.leaves = (uint32_t)types->leaf_types.count;
    row.alignment = 1;
    bool valid = row.field_count > 0;
    for (uint32_t i = 0; i < row.field_count && valid; i++) {
        valid = add_field(lower, &types->fields.items[row.fields + i], &row);
        if (types->leaf_types.count - row.leaves > VYRE_LIMIT_STRUCT_SCALARS) {
            lower_report(lower, spot, 701, "use smaller structs",
                         "the struct `%.*s` has more than %d scalars", (int)name.size, name.data,
                         VYRE_LIMIT_STRUCT_SCALARS);
            valid = false;
        }
    }
    row.bytes = (row.bytes + row.alignment - 1) / row.alignment * row.alignment;
    if (!valid) {
        types->leaf_types.count = types->leaf_offsets.count = row.leaves;
    }
    row.leaf_count = (uint32_t)types->leaf_types.count - row.leaves;
    row.state = VYRE_STRUCT_DONE;
    types->structs.items[number] = row;
}

void lower_read_structs(vyre_lower *lower) {
    vyre_parser_state saved = lower->parser.state;
    for (uint32_t i = 0; i < lower->unit->items.count && !lower->unit->source.no_memory; i++) {
        vyre_item item = lower->unit->items.items[i];
        if (item.kind == VYRE_ITEM_STRUCT && item.index && !read_fields(lower, &item)) {
            lower->types.structs.items[item.index - VYRE_FIRST_STRUCT].state = VYRE_STRUCT_DONE;
        }
        if (item.kind == VYRE_ITEM_STRUCT) {
            vyre_parser_end(&lower->parser);
            vyre_parser_restore(&lower->parser, &saved);
        }
    }
    for (uint32_t i = 0; i < lower->unit->items.count; i++) {
        const vyre_item *item = &lower->unit->items.items[i];
        if (item->kind == VYRE_ITEM_STRUCT && item->index) {
            measure(lower, item->index, 0);
        }
    }
}
