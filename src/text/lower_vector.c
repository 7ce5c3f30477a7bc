#include "ir/lookup.h"
#include "text/lower.h"

enum { COMPONENTS = 4, OPERANDS = 3 };

/* A vector of components that were computed one by one; a mistake if one of them is. */
static vyre_operand vector_of(vyre_lower *lower, const vyre_operand *parts, uint32_t count) {
    size_t leaves = lower->leaves.count;
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i].kind != VYRE_OPERAND_VALUE || !lower_add_leaf(lower, parts[i].value)) {
            return lower_poison();
        }
    }
    return lower_composite(lower, vyre_vector_of((vyre_type)parts[0].type, count), leaves);
}

/* How many components the vectors among the operands have; 1 if all are scalars, 0 after a report
 * of a struct or of vectors that differ. */
static uint32_t count_components(vyre_lower *lower, const vyre_operand *operands, uint32_t count,
                                 const char *name, vyre_spot spot) {
    vyre_type_text rooms[2];
    const vyre_operand *first = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const vyre_operand *here = &operands[i];
        if (here->kind != VYRE_OPERAND_COMPOSITE) {
            continue;
        }
        if (vyre_type_is_struct(here->type)) {
            lower_report(lower, spot, 301, "use its fields, one by one",
                         "`%s` is not defined for the struct %s", name,
                         lower_type_name(lower, here->type, &rooms[0]));
            return 0;
        }
        if (first && vyre_vector_count(first->type) != vyre_vector_count(here->type)) {
            lower_report(lower, spot, 302, "use vectors of the same length, or scalars",
                         "operand %u of `%s` is %s, another one %s", i + 1, name,
                         lower_type_name(lower, here->type, &rooms[0]),
                         lower_type_name(lower, first->type, &rooms[1]));
            return 0;
        }
        first = first ? first : here;
    }
    return first ? vyre_vector_count(first->type) : 1;
}

vyre_operand lower_vector_binary(vyre_lower *lower, vyre_token_kind operation, vyre_operand left,
                                 vyre_operand right, vyre_value_type expected,
                                 const uint32_t nodes[3]) {
    vyre_operand operands[2] = {left, right}, parts[COMPONENTS];
    uint32_t count = count_components(lower, operands, 2, vyre_token_text(operation),
                                      lower_spot(lower, nodes[0]));
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = lower_binary(lower, operation, lower_leaf(lower, left, i),
                                lower_leaf(lower, right, i), vyre_scalar_of(expected), nodes);
        if (parts[i].kind != VYRE_OPERAND_VALUE) {
            return lower_poison(); /* one report is enough */
        }
    }
    return count ? vector_of(lower, parts, count) : lower_poison();
}

vyre_operand lower_vector_unary(vyre_lower *lower, vyre_token_kind operation, vyre_operand operand,
                                vyre_spot spot) {
    vyre_operand parts[COMPONENTS];
    uint32_t count = count_components(lower, &operand, 1, vyre_token_text(operation), spot);
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = lower_negate(lower, operation, lower_leaf(lower, operand, i), spot);
        if (parts[i].kind != VYRE_OPERAND_VALUE) {
            return lower_poison();
        }
    }
    return count ? vector_of(lower, parts, count) : lower_poison();
}

vyre_operand lower_each(vyre_lower *lower, const vyre_operand *operands, uint32_t count,
                        const char *name, vyre_spot spot, lower_each_function *apply,
                        const void *context) {
    vyre_operand parts[COMPONENTS], given[OPERANDS];
    uint32_t components = count_components(lower, operands, count, name, spot);
    for (uint32_t i = 0; i < components; i++) {
        for (uint32_t k = 0; k < count; k++) {
            given[k] = lower_leaf(lower, operands[k], i);
        }
        parts[i] = apply(lower, context, given, spot);
        if (parts[i].kind != VYRE_OPERAND_VALUE) {
            return lower_poison();
        }
    }
    return components > 1 ? vector_of(lower, parts, components)
           : components   ? parts[0]
                          : lower_poison();
}

/* Functions */

/* A call while it is being lowered. */
typedef struct vector_call {
    vyre_node node;
    const char *name;
    vyre_spot spot;
    vyre_operand operands[OPERANDS];
    uint32_t count;
} vector_call;

static vyre_operand build_each(vyre_lower *lower, const void *context, const vyre_operand *operands,
                               vyre_spot spot) {
    vyre_op op = *(const vyre_op *)context;
    uint32_t count = vyre_lookup_op(op)->shape == VYRE_SHAPE_V1 ? 1 : 2;
    return lower_operation(lower, op, operands, count, spot);
}

/* An operation on scalars, component by component. */
static vyre_operand build(vyre_lower *lower, const vector_call *call, vyre_op op, vyre_operand left,
                          vyre_operand right) {
    vyre_operand operands[2] = {left, right};
    uint32_t count = vyre_lookup_op(op)->shape == VYRE_SHAPE_V1 ? 1 : 2;
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].kind == VYRE_OPERAND_POISON) {
            return lower_poison();
        }
    }
    return lower_each(lower, operands, count, call->name, call->spot, build_each, &op);
}

bool lower_alike(vyre_lower *lower, vyre_node call, uint32_t count, vyre_type asked,
                 vyre_operand *operands) {
    bool valid = true;
    vyre_type same = VYRE_TYPE_VOID;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = vyre_parser_item(&lower->parser, call.b, i);
        operands[i] = lower_expression(lower, node, same ? same : asked);
        valid &= operands[i].kind != VYRE_OPERAND_POISON;
        if (!same && operands[i].kind > VYRE_OPERAND_PLAIN) {
            same = vyre_scalar_of(operands[i].type);
        }
    }
    same = same ? same : asked;
    for (uint32_t i = 0; i < count && valid; i++) {
        uint32_t node = vyre_parser_item(&lower->parser, call.b, i);
        valid = operands[i].kind != VYRE_OPERAND_PLAIN ||
                lower_settle(lower, &operands[i], same, lower_spot(lower, node));
        same = same || !valid ? same : (vyre_type)operands[i].type;
    }
    return valid;
}

/* False, after a report, unless all operands are vectors of such scalars. */
static bool check_vectors(vyre_lower *lower, const vector_call *call, vyre_type_class class) {
    vyre_type_text room;
    for (uint32_t i = 0; i < call->count; i++) {
        vyre_value_type type = call->operands[i].type;
        if (!vyre_type_is_vector(type) || !(vyre_type_class_of(vyre_scalar_of(type)) & class)) {
            lower_report(lower, call->spot, 301,
                         class == VYRE_CLASS_BOOL    ? "compare vectors, as in `all(a == b)`"
                         : class == VYRE_CLASS_FLOAT ? "use a vector of floats"
                                                     : "use vectors of numbers",
                         "operand %u of `%s` is %s, expected a vector of %s", i + 1, call->name,
                         lower_type_name(lower, type, &room),
                         class == VYRE_CLASS_BOOL    ? "bool"
                         : class == VYRE_CLASS_FLOAT ? "floats"
                                                     : "numbers");
            return false;
        }
    }
    return true;
}

/* The components of a vector combined from the first to the last. */
static vyre_operand combine(vyre_lower *lower, const vector_call *call, vyre_op op,
                            vyre_operand vector) {
    if (vector.kind != VYRE_OPERAND_COMPOSITE) {
        return lower_poison();
    }
    vyre_operand sum = lower_leaf(lower, vector, 0);
    for (uint32_t i = 1; i < vyre_vector_count(vector.type); i++) {
        sum = build(lower, call, op, sum, lower_leaf(lower, vector, i));
    }
    return sum;
}

static vyre_operand lower_dot(vyre_lower *lower, const vector_call *call, vyre_operand left,
                              vyre_operand right) {
    return combine(lower, call, VYRE_OP_ADD, build(lower, call, VYRE_OP_MUL, left, right));
}

static vyre_operand lower_cross(vyre_lower *lower, const vector_call *call) {
    vyre_operand parts[3];
    for (uint32_t i = 0; i < 2; i++) {
        if (vyre_vector_count(call->operands[i].type) != 3) {
            vyre_type_text room;
            lower_report(lower, call->spot, 301, "use vectors of three components",
                         "operand %u of `cross` is %s, expected a vec3", i + 1,
                         lower_type_name(lower, call->operands[i].type, &room));
            return lower_poison();
        }
    }
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t next = (i + 1) % 3, last = (i + 2) % 3;
        vyre_operand left =
            build(lower, call, VYRE_OP_MUL, lower_leaf(lower, call->operands[0], next),
                  lower_leaf(lower, call->operands[1], last));
        vyre_operand right =
            build(lower, call, VYRE_OP_MUL, lower_leaf(lower, call->operands[0], last),
                  lower_leaf(lower, call->operands[1], next));
        parts[i] = build(lower, call, VYRE_OP_SUB, left, right);
    }
    return vector_of(lower, parts, 3);
}

static vyre_operand lower_length(vyre_lower *lower, const vector_call *call) {
    vyre_operand square = lower_dot(lower, call, call->operands[0], call->operands[0]);
    return build(lower, call, VYRE_OP_SQRT, square, square);
}

vyre_operand lower_vector_call(vyre_lower *lower, vyre_node node, vyre_context_word word,
                               vyre_value_type expected) {
    if (word >= VYRE_WORD_VEC2 && word <= VYRE_WORD_VEC4) {
        return lower_construct_any(lower, node, word - VYRE_WORD_VEC2 + 2, expected);
    }
    vector_call call = {
        .node = node, .name = vyre_word_of(word)->text, .spot = vyre_node_spot(&node), .count = 1};
    if (!lower->builder) {
        lower_report(lower, call.spot, 307, "use operators, conversions, min and max",
                     "`%s` cannot be computed at compile time", call.name);
        return lower_poison();
    }
    call.count = word == VYRE_WORD_DOT || word == VYRE_WORD_CROSS ? 2 : 1;
    bool is_scalar = word == VYRE_WORD_DOT || word == VYRE_WORD_LENGTH;
    vyre_type asked = is_scalar ? VYRE_TYPE_VOID : vyre_scalar_of(expected);
    if (!lower_check_count(lower, node, call.name, call.count) ||
        !lower_alike(lower, node, call.count, asked, call.operands)) {
        return lower_poison();
    }
    vyre_type_class class = word == VYRE_WORD_ANY || word == VYRE_WORD_ALL ? VYRE_CLASS_BOOL
                            : word == VYRE_WORD_LENGTH || word == VYRE_WORD_NORMALIZE
                                ? VYRE_CLASS_FLOAT
                                : VYRE_CLASS_NUMBER;
    if (!check_vectors(lower, &call, class)) {
        return lower_poison();
    }
    const vyre_operand *operands = call.operands;
    switch (word) {
    case VYRE_WORD_ANY: return combine(lower, &call, VYRE_OP_OR, operands[0]);
    case VYRE_WORD_ALL: return combine(lower, &call, VYRE_OP_AND, operands[0]);
    case VYRE_WORD_DOT: return lower_dot(lower, &call, operands[0], operands[1]);
    case VYRE_WORD_CROSS: return lower_cross(lower, &call);
    case VYRE_WORD_LENGTH: return lower_length(lower, &call);
    default: return build(lower, &call, VYRE_OP_DIV, operands[0], lower_length(lower, &call));
    }
}
