#include "base/near.h"
#include "ir/lookup.h"
#include "text/lower.h"
#include "text/lower_array.h"
#include "text/lower_let.h"
#include "text/lower_view.h"

static vyre_text_place no_place(void) {
    return (vyre_text_place){.kind = VYRE_PLACE_NONE, .symbol = VYRE_NONE};
}

static vyre_text_place place_of_operand(vyre_operand operand, vyre_spot spot) {
    if (operand.kind != VYRE_OPERAND_VALUE && operand.kind != VYRE_OPERAND_COMPOSITE) {
        return no_place();
    }
    return (vyre_text_place){.kind = VYRE_PLACE_VALUE,
                             .type = operand.type,
                             .handle = operand.value,
                             .spot = spot,
                             .symbol = VYRE_NONE};
}

/* Parts */

static void report_no_field(vyre_lower *lower, vyre_value_type type, vyre_str name,
                            vyre_spot spot) {
    vyre_type_text room;
    vyre_strbuf fix = {0};
    if (vyre_type_is_struct(type)) {
        const vyre_struct *owner = vyre_struct_of(&lower->types, type);
        vyre_near near;
        vyre_near_init(&near, name);
        for (uint32_t i = 0; i < owner->field_count; i++) {
            vyre_near_add(&near, lower->types.fields.items[owner->fields + i].name);
        }
        vyre_near_print(&near, &fix, "did you mean ");
        vyre_strbuf_puts(&fix, near.count ? "?" : "use a field that the struct declares");
    } else if (vyre_type_is_vector(type)) {
        uint32_t count = vyre_vector_count(type);
        vyre_strbuf_printf(&fix, "write up to four of %.*s, or of %.*s", (int)count, "xyzw",
                           (int)count, "rgba");
    } else {
        vyre_strbuf_puts(&fix, "remove what follows the point");
    }
    lower_report(lower, spot, 201, vyre_strbuf_string(&fix),
                 vyre_type_is_struct(type)   ? "%s has no field `%.*s`"
                 : vyre_type_is_vector(type) ? "%s has no components `%.*s`"
                                             : "a value of type %s has no part `%.*s`",
                 lower_type_name(lower, type, &room), (int)name.size, name.data);
    if (fix.failed) {
        lower_no_memory(lower);
    }
    vyre_strbuf_free(&fix);
}

/* The components of a place that a swizzle names, one or several. */
static vyre_text_place select_components(vyre_lower *lower, vyre_text_place place,
                                         const uint32_t *indices, uint32_t count, bool is_written,
                                         vyre_spot spot) {
    size_t leaves = lower->leaves.count;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t leaf = lower->leaves.items[place.handle + indices[i]];
        if (seen & 1u << indices[i] && is_written) {
            lower_report(lower, spot, 207, "name each component once",
                         "a component is assigned to twice");
            return no_place();
        }
        seen |= 1u << indices[i];
        if (count == 1) {
            place.handle = leaf;
        } else if (!lower_add_leaf(lower, leaf)) {
            return no_place();
        }
    }
    place.handle = count == 1 ? place.handle : leaves;
    place.type = vyre_vector_of(vyre_scalar_of(place.type), count);
    return place;
}

/* A part of a place, by the name behind the point. */
static vyre_text_place select_part(vyre_lower *lower, vyre_text_place place, vyre_node node,
                                   bool is_written) {
    vyre_str name = vyre_symbol_text(&lower->unit->names, node.b);
    vyre_spot last = vyre_node_spot(&node);
    last.column += last.length - (uint32_t)name.size;
    last.length = (uint32_t)name.size;
    place.spot = vyre_node_spot(&node);
    if (place.kind == VYRE_PLACE_NONE) {
        return place;
    }
    if (!lower_width(lower, place.type)) {
        lower->poisoned = true; /* the struct itself is wrong */
        lower_spoil(lower);
        return no_place();
    }
    const vyre_field *field =
        vyre_type_is_struct(place.type) ? vyre_struct_field(&lower->types, place.type, name) : NULL;
    if (field) {
        place.type = field->type;
        place.handle = vyre_type_is_scalar(field->type)
                           ? lower->leaves.items[place.handle + field->first]
                           : place.handle + field->first;
        return place;
    }
    uint32_t indices[4];
    uint32_t count = vyre_type_is_vector(place.type)
                         ? vyre_swizzle_read(name, vyre_vector_count(place.type), indices)
                         : 0;
    if (count) {
        return select_components(lower, place, indices, count, is_written, last);
    }
    report_no_field(lower, place.type, name, last);
    return no_place();
}

/* Places */

static vyre_text_place resolve_element(vyre_lower *lower, vyre_node node, bool is_written) {
    const vyre_name_binding *array = lower_array(lower, node, node.a);
    vyre_text_place place = no_place();
    vyre_name_binding own = array ? *array : (vyre_name_binding){.kind = VYRE_BINDING_POISON};
    bool is_known = array;
    if (array && (!is_written || lower_check_writable(lower, node, array))) {
        place = (vyre_text_place){.kind = VYRE_PLACE_ELEMENT,
                                  .type = array->type,
                                  .handle = array->handle,
                                  .spot = vyre_node_spot(&node),
                                  .symbol = node.a};
    }
    place.index = lower_element_index(lower, is_known ? &own : NULL, node);
    place.kind = place.index == VYRE_NONE ? VYRE_PLACE_NONE : place.kind;
    return place;
}

static void report_not_assignable(vyre_lower *lower, vyre_node node,
                                  const vyre_name_binding *binding) {
    vyre_name_text text;
    bool is_array = binding && binding->kind == VYRE_BINDING_ARRAY;
    bool is_value = binding && binding->kind == VYRE_BINDING_VALUE;
    bool is_counter = binding && binding->kind == VYRE_BINDING_COUNTER;
    bool is_parameter = binding && binding->kind == VYRE_BINDING_PARAMETER;
    lower_report(lower, vyre_node_spot(&node), 207,
                 is_array       ? "assign to an element, as in a[gid] = x"
                 : is_value     ? "declare it with `var` to assign to it"
                 : is_counter   ? "use a `while` loop with a variable of your own"
                 : is_parameter ? "copy it to a variable, or declare the parameter as `inout`"
                                : "assign to a variable that `var` declares",
                 "`%s` is %s and cannot be assigned to", lower_name(lower, node.a, &text),
                 lower_kind_of(lower, node.a));
}

/* A name that is to be written. */
static vyre_text_place resolve_name(vyre_lower *lower, vyre_node node) {
    vyre_name_binding *binding = vyre_names_find(&lower->unit->names, node.a);
    uint32_t item = lower->unit->names.symbols.items[node.a].item;
    const vyre_word *word = lower_word(lower, node.a);
    if (binding && binding->kind == VYRE_BINDING_VARIABLE) {
        return (vyre_text_place){.kind = VYRE_PLACE_VARIABLE,
                                 .type = binding->type,
                                 .handle = binding->handle,
                                 .spot = vyre_node_spot(&node),
                                 .symbol = node.a};
    }
    if (!binding && item == VYRE_NONE && word->class_of != VYRE_WORD_OP) {
        lower_unknown(lower, node, node.a, false);
        return no_place();
    }
    if (!binding || binding->kind != VYRE_BINDING_POISON) {
        report_not_assignable(lower, node, binding);
    }
    if (binding) {
        binding->used = true;
    }
    return no_place();
}

/* A name of which a part is to be read. */
static vyre_text_place resolve_value(vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number);
    vyre_name_binding *binding = lower->builder && node.kind == VYRE_NODE_NAME
                                     ? vyre_names_find(&lower->unit->names, node.a)
                                     : NULL;
    if (binding && binding->kind == VYRE_BINDING_VARIABLE) {
        binding->used = true;
        return resolve_name(lower, node);
    }
    return place_of_operand(lower_expression(lower, number, VYRE_TYPE_VOID), vyre_node_spot(&node));
}

static vyre_text_place resolve(vyre_lower *lower, uint32_t number, bool is_written) {
    vyre_node node = lower_node(lower, number);
    if (node.kind == VYRE_NODE_FIELD) {
        return select_part(lower, resolve(lower, node.a, is_written), node, is_written);
    }
    if (node.kind == VYRE_NODE_ELEMENT && lower->builder) {
        return resolve_element(lower, node, is_written);
    }
    if (!is_written) {
        return resolve_value(lower, number);
    }
    if (node.kind == VYRE_NODE_NAME) {
        return resolve_name(lower, node);
    }
    if (node.kind != VYRE_NODE_ERROR) {
        lower_report(lower, vyre_node_spot(&node), 102,
                     "assign to a variable or to an element of an array",
                     "the left side cannot be assigned to");
    }
    return no_place();
}

vyre_text_place lower_writable(vyre_lower *lower, uint32_t number) {
    return resolve(lower, number, true);
}

vyre_text_place lower_element_place(vyre_lower *lower, uint32_t number, bool is_written) {
    vyre_node root = lower_node(lower, number);
    while (root.kind == VYRE_NODE_FIELD) {
        root = lower_node(lower, root.a);
    }
    return root.kind == VYRE_NODE_ELEMENT ? resolve(lower, number, is_written) : no_place();
}

/* Reading and writing */

vyre_operand lower_read(vyre_lower *lower, const vyre_text_place *place) {
    bool is_scalar = vyre_type_is_scalar(place->type);
    uint32_t width = lower_width(lower, place->type);
    size_t leaves = lower->leaves.count;
    if (place->kind == VYRE_PLACE_VALUE) {
        return is_scalar ? lower_scalar(place->type, place->handle)
                         : lower_composite(lower, place->type, place->handle);
    }
    if (place->kind == VYRE_PLACE_NONE || place->kind == VYRE_PLACE_NOWHERE) {
        return lower_poison();
    }
    for (uint32_t i = 0; i < width; i++) {
        uint32_t handle = lower_leaf_handle(lower, place->type, (uint32_t)place->handle, i);
        lower_at(lower, place->spot);
        uint32_t value = place->kind == VYRE_PLACE_VARIABLE
                             ? vyre_build_get(lower->builder, handle)
                             : lower_load(lower, handle, place->index, VYRE_OP_LOAD);
        if (value == VYRE_NONE) {
            return lower_poison();
        }
        if (is_scalar) {
            return lower_scalar(place->type, value);
        }
        if (!lower_add_leaf(lower, value)) {
            return lower_poison();
        }
    }
    return lower_composite(lower, place->type, leaves);
}

void lower_write(vyre_lower *lower, const vyre_text_place *place, vyre_operand value) {
    bool is_place = place->kind == VYRE_PLACE_VARIABLE || place->kind == VYRE_PLACE_ELEMENT;
    if (!is_place || value.kind < VYRE_OPERAND_VALUE) {
        return;
    }
    uint32_t width = lower_width(lower, place->type);
    for (uint32_t i = 0; i < width; i++) {
        uint32_t handle = lower_leaf_handle(lower, place->type, (uint32_t)place->handle, i);
        uint32_t leaf = (uint32_t)lower_leaf(lower, value, i).value;
        lower_at(lower, place->spot);
        if (place->kind == VYRE_PLACE_VARIABLE) {
            vyre_build_set(lower->builder, handle, leaf);
        } else {
            lower_store(lower, handle, place->index, leaf);
        }
    }
}

/* gid.x and the like. */
static vyre_operand component_of_position(vyre_lower *lower, vyre_node node, vyre_op op) {
    vyre_str name = vyre_symbol_text(&lower->unit->names, node.b);
    uint32_t component = name.size == 1 ? (uint32_t)(*name.data - 'x') : 3;
    if (component > 2) {
        vyre_spot last = vyre_node_spot(&node);
        last.column += last.length - (uint32_t)name.size;
        last.length = (uint32_t)name.size;
        lower_report(lower, last, 102, "write .x, .y or .z",
                     "expected the component x, y or z, found `%.*s`", (int)name.size, name.data);
        return lower_poison();
    }
    return lower_position(lower, node, op, component);
}

vyre_operand lower_field(vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number);
    vyre_node base = lower_node(lower, node.a);
    const vyre_word *word =
        base.kind == VYRE_NODE_NAME ? lower_word(lower, base.a) : vyre_word_of(0);
    if (word->class_of == VYRE_WORD_OP && vyre_op_is_position(word->code)) {
        return component_of_position(lower, node, (vyre_op)word->code);
    }
    vyre_text_place place = resolve(lower, number, false);
    return lower_read(lower, &place);
}

/* Assignments */

static vyre_token_kind operator_of(vyre_token_kind assignment) {
    switch (assignment) {
    case VYRE_TOKEN_ASSIGN_PLUS: return VYRE_TOKEN_PLUS;
    case VYRE_TOKEN_ASSIGN_MINUS: return VYRE_TOKEN_MINUS;
    case VYRE_TOKEN_ASSIGN_STAR: return VYRE_TOKEN_STAR;
    case VYRE_TOKEN_ASSIGN_SLASH: return VYRE_TOKEN_SLASH;
    case VYRE_TOKEN_ASSIGN_PERCENT: return VYRE_TOKEN_PERCENT;
    case VYRE_TOKEN_ASSIGN_AND: return VYRE_TOKEN_AND;
    case VYRE_TOKEN_ASSIGN_OR: return VYRE_TOKEN_OR;
    case VYRE_TOKEN_ASSIGN_XOR: return VYRE_TOKEN_XOR;
    case VYRE_TOKEN_ASSIGN_SHIFT_LEFT: return VYRE_TOKEN_SHIFT_LEFT;
    default: return VYRE_TOKEN_SHIFT_RIGHT;
    }
}

static const char assigned[] = "the value assigned to";

/* The value to be written: the right side, combined with what was there before where the assignment
 * has an operator. */
static vyre_operand lower_assigned(vyre_lower *lower, uint32_t number,
                                   const vyre_text_place *place) {
    vyre_node node = lower_node(lower, number);
    vyre_value_type type = place->kind == VYRE_PLACE_NONE ? VYRE_TYPE_VOID : place->type;
    if (node.detail == VYRE_TOKEN_ASSIGN) {
        return lower_typed(lower, node.b, type, assigned, place->symbol);
    }
    vyre_token_kind operation = operator_of(node.detail);
    vyre_operand before = lower_read(lower, place);
    vyre_operand operand =
        lower_expression(lower, node.b, vyre_token_is_shift(operation) ? VYRE_TYPE_U32 : type);
    vyre_operand result = lower_binary(lower, operation, before, operand, type,
                                       (const uint32_t[3]){number, number, node.b});
    lower_check_type(lower, &result, type, assigned, place->symbol, lower_spot(lower, node.b));
    return result;
}

void lower_assign(vyre_lower *lower, uint32_t number) {
    vyre_text_place place = lower_writable(lower, lower_node(lower, number).a);
    vyre_operand value = lower_assigned(lower, number, &place);
    lower_write(lower, &place, value);
}

static bool is_nowhere(const vyre_lower *lower, vyre_node node) {
    return node.kind == VYRE_NODE_NAME &&
           vyre_str_is(vyre_symbol_text(&lower->unit->names, node.a), "_");
}

void lower_assign_list(vyre_lower *lower, vyre_node node) {
    uint32_t count = vyre_parser_count(&lower->parser, node.a);
    size_t first = lower->places.count, values = lower->operands.count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = vyre_parser_item(&lower->parser, node.a, i);
        vyre_text_place place = {.kind = VYRE_PLACE_NOWHERE, .symbol = VYRE_NONE};
        if (!is_nowhere(lower, lower_node(lower, number))) {
            place = lower_writable(lower, number);
        }
        if (!vyre_vec_push(&lower->places, place)) {
            lower_no_memory(lower);
            return;
        }
    }
    lower_several(lower, node.b, count);
    vyre_node right = lower_node(lower, node.b);
    bool is_list =
        right.kind == VYRE_NODE_LIST && vyre_parser_count(&lower->parser, right.a) == count;
    for (uint32_t i = 0; i < count && !lower->unit->source.no_memory; i++) {
        vyre_text_place place = lower->places.items[first + i];
        vyre_operand value = lower->operands.items[values + i];
        bool is_open = place.kind == VYRE_PLACE_NONE || place.kind == VYRE_PLACE_NOWHERE;
        vyre_value_type type = is_open ? VYRE_TYPE_VOID : place.type;
        if (is_list) {
            lower_adopt(lower, vyre_parser_item(&lower->parser, right.a, i), &value, type);
        }
        if (lower_check_type(lower, &value, type, assigned, place.symbol,
                             lower_spot(lower, node.b))) {
            lower_write(lower, &place, value);
        }
    }
    lower->places.count = first;
    lower->operands.count = values;
}
