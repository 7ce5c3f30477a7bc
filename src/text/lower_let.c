/* `let k = 3;` makes an i32, as a plain number without a type does. Where that would be a mistake
 * and nothing has used `k` before, it takes the type that is asked for instead. */
#include "text/lower_let.h"

enum { REAL = 1, NEGATIVE = 2, WRAPS = 4, LITERAL = 8 };

void lower_remember_plain(vyre_name_binding *binding, vyre_operand plain) {
    binding->is_plain = true;
    binding->plain = (uint8_t)((plain.real ? REAL : 0) | (plain.negative ? NEGATIVE : 0) |
                               (plain.wraps ? WRAPS : 0) | (plain.literal ? LITERAL : 0));
    binding->bits = plain.value;
}

/* The plain number that a node names, NULL if it names none. */
static vyre_name_binding *plain_of(const vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number);
    vyre_name_binding *binding = lower->builder && node.kind == VYRE_NODE_NAME
                                     ? vyre_names_find(&lower->unit->names, node.a)
                                     : NULL;
    return binding && binding->kind == VYRE_BINDING_VALUE && binding->is_plain ? binding : NULL;
}

bool lower_adopt(vyre_lower *lower, uint32_t node, vyre_operand *operand, vyre_value_type type) {
    if (operand->kind != VYRE_OPERAND_VALUE || operand->type == type ||
        !vyre_type_is_scalar(type) || type == VYRE_TYPE_VOID) {
        return false;
    }
    vyre_name_binding *binding = plain_of(lower, node);
    if (!binding || binding->reads != 1) {
        return false;
    }
    uint8_t flags = binding->plain;
    vyre_plain plain = {flags & REAL, flags & NEGATIVE, flags & WRAPS, flags & LITERAL,
                        binding->bits};
    uint64_t bits;
    if (!vyre_plain_fit(lower->unit->source.text, &plain, (vyre_type)type, &bits)) {
        return false;
    }
    vyre_operand other = lower_constant(lower, (vyre_type)type, bits);
    if (other.kind != VYRE_OPERAND_VALUE) {
        return false;
    }
    *operand = other;
    binding->type = (uint16_t)type;
    binding->handle = (uint32_t)other.value;
    binding->is_plain = false;
    return true;
}

void lower_adopt_either(vyre_lower *lower, const uint32_t nodes[2], vyre_operand *left,
                        vyre_operand *right) {
    if (left->kind < VYRE_OPERAND_VALUE || right->kind < VYRE_OPERAND_VALUE ||
        vyre_scalar_of(left->type) == vyre_scalar_of(right->type)) {
        return;
    }
    if (!lower_adopt(lower, nodes[0], left, vyre_scalar_of(right->type))) {
        lower_adopt(lower, nodes[1], right, vyre_scalar_of(left->type));
    }
}

void lower_adopt_same(vyre_lower *lower, const uint32_t *nodes, vyre_operand *operands,
                      uint32_t count, uint32_t same) {
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < i && same >> i & 1; k++) {
            if (same >> k & 1 && nodes[i] != VYRE_NONE && nodes[k] != VYRE_NONE) {
                lower_adopt_either(lower, (const uint32_t[2]){nodes[i], nodes[k]}, &operands[i],
                                   &operands[k]);
            }
        }
    }
}

void lower_forget_read(vyre_lower *lower, uint32_t node) {
    vyre_name_binding *binding = plain_of(lower, node);
    if (binding && binding->reads == 1) {
        binding->reads = 0;
    }
}
