#include <stdio.h>

#include "text/lower.h"
#include "text/lower_let.h"

bool lower_add_leaf(vyre_lower *lower, uint64_t leaf) {
    bool stored = lower->leaves.count < VYRE_NONE && vyre_vec_push(&lower->leaves, leaf);
    if (!stored) {
        lower_no_memory(lower);
    }
    return stored;
}

vyre_operand lower_composite(vyre_lower *lower, vyre_value_type type, size_t first) {
    if (lower->unit->source.no_memory) {
        return lower_poison();
    }
    return (vyre_operand){
        .kind = VYRE_OPERAND_COMPOSITE, .type = (uint16_t)type, .value = (uint64_t)first};
}

vyre_operand lower_leaf(const vyre_lower *lower, vyre_operand operand, uint32_t leaf) {
    if (operand.kind != VYRE_OPERAND_COMPOSITE) {
        return operand;
    }
    return lower_scalar(vyre_leaf_type(&lower->types, operand.type, leaf),
                        lower->leaves.items[operand.value + leaf]);
}

bool lower_push_operand(vyre_lower *lower, vyre_operand operand, vyre_value_type type) {
    if (operand.kind == VYRE_OPERAND_VALUE) {
        return lower_push(lower, (uint32_t)operand.value);
    }
    if (operand.kind != VYRE_OPERAND_COMPOSITE) {
        return lower_push_none(lower, lower_width(lower, type));
    }
    bool stored = true;
    uint32_t width = lower_width(lower, operand.type);
    for (uint32_t i = 0; i < width && stored; i++) {
        stored = lower_push(lower, (uint32_t)lower->leaves.items[operand.value + i]);
    }
    return stored;
}

vyre_operand lower_gather(vyre_lower *lower, vyre_value_type type, size_t first) {
    uint32_t width = lower_width(lower, type);
    size_t leaves = lower->leaves.count;
    for (uint32_t i = 0; i < width; i++) {
        uint32_t value = lower->values.items[first + i];
        if (value == VYRE_NONE) {
            return lower_poison();
        }
        if (vyre_type_is_scalar(type)) {
            return lower_scalar(type, value);
        }
        if (!lower_add_leaf(lower, value)) {
            return lower_poison();
        }
    }
    return lower_composite(lower, type, leaves);
}

const char *lower_leaf_name(const vyre_lower *lower, const char *name, vyre_value_type type,
                            uint32_t leaf, vyre_name_text *out) {
    int written = snprintf(out->text, sizeof out->text, "%s", name);
    size_t used = written < 0 ? 0 : (size_t)written;
    if (used < sizeof out->text) {
        vyre_leaf_path(&lower->types, type, leaf, out->text + used, sizeof out->text - used);
    }
    return out->text;
}

void lower_refuse_composite(vyre_lower *lower, vyre_operand *operand, vyre_spot spot) {
    vyre_type_text room;
    bool is_vector = vyre_type_is_vector(operand->type);
    bool is_bool = is_vector && vyre_scalar_of(operand->type) == VYRE_TYPE_BOOL;
    lower_report(lower, spot, 301,
                 is_bool     ? "combine its components with all(...) or any(...)"
                 : is_vector ? "name one of its components, as in v.x"
                             : "name one of its fields",
                 "found a %s, expected a single value",
                 lower_type_name(lower, operand->type, &room));
    *operand = lower_poison();
}

/* Making vectors */

/* Lowers the arguments of a call onto `operands`; false if one is wrong. Their type is expected,
 * and perhaps needed. */
static bool lower_arguments(vyre_lower *lower, vyre_node call, vyre_value_type expected,
                            bool is_needed) {
    uint32_t count = vyre_parser_count(&lower->parser, call.b);
    bool valid = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = vyre_parser_item(&lower->parser, call.b, i);
        vyre_operand operand = lower_expression(lower, node, expected);
        if (is_needed) {
            lower_adopt(lower, node, &operand, expected);
        }
        valid &= operand.kind != VYRE_OPERAND_POISON;
        if (!vyre_vec_push(&lower->operands, operand)) {
            lower_no_memory(lower);
            return false;
        }
    }
    return valid;
}

static void wrong_component(vyre_lower *lower, vyre_spot spot, uint32_t position,
                            vyre_value_type found, vyre_value_type type) {
    vyre_type_text rooms[2];
    vyre_type scalar = vyre_scalar_of(type);
    char fix[64];
    snprintf(fix, sizeof fix, "convert it with %s(...)",
             lower_type_name(lower,
                             vyre_type_is_vector(found)
                                 ? vyre_vector_of(scalar, vyre_vector_count(found))
                                 : scalar,
                             &rooms[0]));
    lower_report(lower, spot, 301, fix, "argument %u of `%s` is %s, expected %s", position,
                 lower_type_name(lower, type, &rooms[1]), lower_type_name(lower, found, &rooms[0]),
                 vyre_type_name(scalar));
}

/* Adds the components of an argument; false after a report. */
static bool add_components(vyre_lower *lower, vyre_operand operand, vyre_value_type type,
                           vyre_spot spot, uint32_t position) {
    vyre_type scalar = vyre_scalar_of(type);
    if (operand.kind == VYRE_OPERAND_PLAIN && !lower_settle(lower, &operand, scalar, spot)) {
        return false;
    }
    if (vyre_scalar_of(operand.type) != scalar) {
        wrong_component(lower, spot, position, operand.type, type);
        return false;
    }
    bool stored = true;
    uint32_t width = lower_width(lower, operand.type);
    for (uint32_t i = 0; i < width && stored; i++) {
        stored = lower_add_leaf(lower, lower_leaf(lower, operand, i).value);
    }
    return stored;
}

/* A vector of what stands in `operands` from `first` on: a component each, several from a vector,
 * or all from one. */
static vyre_operand make_vector(vyre_lower *lower, vyre_node call, vyre_value_type type,
                                size_t first) {
    uint32_t wanted = vyre_vector_count(type);
    uint32_t count = (uint32_t)(lower->operands.count - first);
    vyre_operand only = count == 1 ? lower->operands.items[first] : lower_poison();
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        vyre_operand operand = lower->operands.items[first + i];
        found += operand.kind == VYRE_OPERAND_COMPOSITE ? lower_width(lower, operand.type) : 1;
    }
    bool splat = count == 1 && only.kind != VYRE_OPERAND_COMPOSITE;
    if (found != wanted && !splat) {
        vyre_type_text room;
        lower_report(lower, vyre_node_spot(&call), 303,
                     "give a value for each component, or one for all",
                     "`%s` takes %u components, found %u", lower_type_name(lower, type, &room),
                     wanted, found);
        return lower_poison();
    }
    if (count == 1 && vyre_type_is_vector(only.type)) {
        return lower_convert_each(lower, only, vyre_scalar_of(type), false, vyre_node_spot(&call));
    }
    size_t leaves = lower->leaves.count;
    for (uint32_t i = 0; i < (splat ? wanted : count); i++) {
        uint32_t at = splat ? 0 : i;
        vyre_spot spot = lower_spot(lower, vyre_parser_item(&lower->parser, call.b, at));
        if (!add_components(lower, lower->operands.items[first + at], type, spot, at + 1)) {
            return lower_poison();
        }
    }
    return lower_composite(lower, type, leaves);
}

/* T(x), where T stands for a scalar. */
static vyre_operand construct_scalar(vyre_lower *lower, vyre_node node) {
    vyre_type type = (vyre_type)node.detail;
    if (!lower_check_count(lower, node, vyre_type_name(type), 1)) {
        return lower_poison();
    }
    uint32_t argument = vyre_parser_item(&lower->parser, node.b, 0);
    return lower_converted(lower, lower_expression(lower, argument, VYRE_TYPE_VOID), type, false,
                           vyre_node_spot(&node));
}

vyre_operand lower_construct(vyre_lower *lower, vyre_node node) {
    if (!vyre_type_is_vector(node.detail)) {
        return vyre_type_is_scalar(node.detail) ? construct_scalar(lower, node)
                                                : lower_construct_struct(lower, node, node.detail);
    }
    size_t first = lower->operands.count;
    vyre_operand result = lower_poison();
    if (lower_arguments(lower, node, vyre_scalar_of(node.detail), true)) {
        result = make_vector(lower, node, node.detail, first);
    }
    lower->operands.count = first;
    return result;
}

/* Components have one type. */
static void adopt_components(vyre_lower *lower, vyre_node call, size_t first) {
    uint32_t nodes[4], count = vyre_parser_count(&lower->parser, call.b);
    for (uint32_t i = 0; i < count && count <= 4; i++) {
        nodes[i] = vyre_parser_item(&lower->parser, call.b, i);
    }
    if (count <= 4) {
        lower_adopt_same(lower, nodes, lower->operands.items + first, count, 0xf);
    }
}

vyre_operand lower_construct_any(vyre_lower *lower, vyre_node call, uint32_t count,
                                 vyre_value_type expected) {
    size_t first = lower->operands.count;
    vyre_operand result = lower_poison();
    vyre_type scalar = vyre_scalar_of(expected);
    if (lower_arguments(lower, call, scalar, false)) {
        adopt_components(lower, call, first);
        bool real = false;
        vyre_type found = VYRE_TYPE_VOID;
        for (size_t i = first; i < lower->operands.count && !found; i++) {
            vyre_operand operand = lower->operands.items[i];
            real |= operand.real;
            found = operand.kind == VYRE_OPERAND_PLAIN ? found : vyre_scalar_of(operand.type);
        }
        scalar = found ? found : scalar ? scalar : real ? VYRE_TYPE_F32 : VYRE_TYPE_I32;
        result = make_vector(lower, call, vyre_vector_of(scalar, count), first);
    }
    lower->operands.count = first;
    return result;
}

/* Making structs */

static bool check_field(vyre_lower *lower, vyre_operand *operand, const vyre_struct *owner,
                        const vyre_field *field, vyre_spot spot) {
    vyre_type_text rooms[2];
    if (operand->kind == VYRE_OPERAND_PLAIN && !lower_settle(lower, operand, field->type, spot)) {
        return false;
    }
    if (operand->kind != VYRE_OPERAND_POISON && operand->type != field->type) {
        char fix[VYRE_LIMIT_NAME_BYTES + 32];
        const char *wanted = lower_type_name(lower, field->type, &rooms[0]);
        snprintf(fix, sizeof fix, "write %s(...)", wanted);
        lower_report(lower, spot, 301, fix, "the field `%.*s` of `%.*s` is %s, found %s",
                     (int)field->name.size, field->name.data, (int)owner->name.size,
                     owner->name.data, wanted, lower_type_name(lower, operand->type, &rooms[1]));
        return false;
    }
    return operand->kind != VYRE_OPERAND_POISON;
}

vyre_operand lower_construct_struct(vyre_lower *lower, vyre_node call, vyre_value_type type) {
    vyre_struct owner = *vyre_struct_of(&lower->types, type);
    vyre_name_text name;
    snprintf(name.text, sizeof name.text, "%.*s", (int)owner.name.size, owner.name.data);
    if (!owner.leaf_count) {
        lower->poisoned = true; /* the struct itself is wrong */
        lower_spoil(lower);
        return lower_look_through(lower, call);
    }
    if (!lower_check_count(lower, call, name.text, owner.field_count)) {
        return lower_poison();
    }
    size_t first = lower->operands.count;
    bool valid = true;
    for (uint32_t i = 0; i < owner.field_count; i++) {
        vyre_field field = lower->types.fields.items[owner.fields + i];
        uint32_t node = vyre_parser_item(&lower->parser, call.b, i);
        vyre_operand operand = lower_expression(lower, node, field.type);
        lower_adopt(lower, node, &operand, field.type);
        valid &= check_field(lower, &operand, &owner, &field, lower_spot(lower, node));
        if (!vyre_vec_push(&lower->operands, operand)) {
            lower_no_memory(lower);
            valid = false;
        }
    }
    size_t leaves = lower->leaves.count;
    for (size_t i = first; i < lower->operands.count && valid; i++) {
        vyre_operand operand = lower->operands.items[i];
        uint32_t width = lower_width(lower, operand.type);
        for (uint32_t leaf = 0; leaf < width && valid; leaf++) {
            valid = lower_add_leaf(lower, lower_leaf(lower, operand, leaf).value);
        }
    }
    lower->operands.count = first;
    return valid ? lower_composite(lower, type, leaves) : lower_poison();
}

vyre_operand lower_convert_each(vyre_lower *lower, vyre_operand operand, vyre_type type,
                                bool is_bitcast, vyre_spot spot) {
    uint64_t parts[4];
    uint32_t count = vyre_vector_count(operand.type);
    for (uint32_t i = 0; i < count; i++) {
        vyre_operand part =
            lower_converted(lower, lower_leaf(lower, operand, i), type, is_bitcast, spot);
        if (part.kind != VYRE_OPERAND_VALUE) {
            return lower_poison();
        }
        parts[i] = part.value;
    }
    size_t leaves = lower->leaves.count;
    for (uint32_t i = 0; i < count; i++) {
        if (!lower_add_leaf(lower, parts[i])) {
            return lower_poison();
        }
    }
    return lower_composite(lower, vyre_vector_of(type, count), leaves);
}
