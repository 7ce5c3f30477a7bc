#include <stdio.h>
#include <string.h>

#include "text/lower.h"
#include "text/lower_array.h"
#include "text/lower_let.h"
#include "text/lower_message.h"
#include "text/lower_sum.h"
#include "text/lower_view.h"

static uint32_t argument(const vyre_lower *lower, vyre_node call, uint32_t index) {
    return vyre_parser_item(&lower->parser, call.b, index);
}

vyre_operand lower_look_through(vyre_lower *lower, vyre_node call) {
    uint32_t count = vyre_parser_count(&lower->parser, call.b);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = argument(lower, call, i);
        vyre_node_kind kind = (vyre_node_kind)lower_node(lower, node).kind;
        if (kind != VYRE_NODE_NAME && kind != VYRE_NODE_STRING) {
            lower_expression(lower, node, VYRE_TYPE_VOID);
        }
    }
    return lower_poison();
}

bool lower_check_count(vyre_lower *lower, vyre_node call, const char *name, uint32_t wanted) {
    uint32_t found = vyre_parser_count(&lower->parser, call.b);
    if (found == wanted) {
        return true;
    }
    if (found && argument(lower, call, found - 1) == 0) {
        return false; /* the list itself is broken, as was reported */
    }
    lower_report(lower, vyre_node_spot(&call), 303,
                 found < wanted ? "add the missing ones" : "remove the extra ones",
                 "`%s` takes %u operand%s, found %u", name, wanted, wanted == 1 ? "" : "s", found);
    lower_look_through(lower, call);
    return false;
}

/* Operations on values */

enum role { ROLE_SAME, ROLE_U32, ROLE_BOOL };

static enum role role_of(vyre_rule rule, uint32_t operand) {
    switch (rule) {
    case VYRE_RULE_SHIFT:
    case VYRE_RULE_LANE: return operand == 1 ? ROLE_U32 : ROLE_SAME;
    case VYRE_RULE_SELECT: return operand == 0 ? ROLE_BOOL : ROLE_SAME;
    case VYRE_RULE_BALLOT:
    case VYRE_RULE_VOTE: return ROLE_BOOL;
    default: return ROLE_SAME;
    }
}

/* The type plain operands take where no other operand has one: what the place asks for, if the
 * operation can give that. */
static vyre_type plain_type(vyre_rule rule, vyre_type expected) {
    vyre_type_class allowed;
    switch (rule) {
    case VYRE_RULE_FLOAT:
    case VYRE_RULE_ELEMENTARY: allowed = VYRE_CLASS_FLOAT; break;
    case VYRE_RULE_INTEGER:
    case VYRE_RULE_SHIFT: allowed = VYRE_CLASS_INTEGER; break;
    case VYRE_RULE_EQUAL:
    case VYRE_RULE_ORDER: allowed = VYRE_CLASS_NONE; break; /* it asks for a bool */
    default: allowed = VYRE_CLASS_NUMBER; break;
    }
    if (vyre_type_class_of(expected) & allowed) {
        return expected;
    }
    return allowed == VYRE_CLASS_FLOAT ? VYRE_TYPE_F32 : VYRE_TYPE_VOID;
}

static vyre_operand lower_combined(vyre_lower *lower, const vyre_word *word, vyre_operand operand,
                                   vyre_spot spot) {
    lower_at(lower, spot);
    return lower_built(lower,
                       vyre_build_combine(lower->builder, (vyre_op)word->code,
                                          (vyre_combination)word->extra, (uint32_t)operand.value));
}

/* Whether min or max of two numbers is the second one. */
static bool choose(const vyre_lower *lower, vyre_plain a, vyre_plain b, vyre_op op) {
    vyre_plain less;
    vyre_plain_binary(lower->unit->source.text,
                      op == VYRE_OP_MIN ? VYRE_TOKEN_LESS : VYRE_TOKEN_GREATER, &b, &a, &less);
    return less.number;
}

/* A call of an operation on values. */
typedef struct value_call {
    vyre_node node;
    const vyre_word *word;
    vyre_type expected;
    uint32_t count; /* operands */
} value_call;

/* The operation on operands that are scalars. */
static vyre_operand apply_scalars(vyre_lower *lower, const void *context, const vyre_operand *given,
                                  vyre_spot spot) {
    const value_call *of = context;
    vyre_node call = of->node;
    const vyre_word *word = of->word;
    vyre_type expected = of->expected;
    uint32_t count = of->count;
    vyre_op op = (vyre_op)word->code;
    vyre_rule rule = (vyre_rule)vyre_op_info_of(op)->rule;
    vyre_operand operands[3];
    vyre_type same = VYRE_TYPE_VOID;
    bool plain = true;
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = given[i];
        if (given[i].kind == VYRE_OPERAND_VALUE && role_of(rule, i) == ROLE_SAME) {
            same = same ? same : (vyre_type)given[i].type;
            plain = false;
        }
    }
    bool is_choice = op == VYRE_OP_MIN || op == VYRE_OP_MAX;
    if (plain && is_choice) {
        bool second =
            choose(lower, vyre_operand_plain(operands[0]), vyre_operand_plain(operands[1]), op);
        return operands[second];
    }
    if (!lower->builder && !is_choice) {
        lower_report(lower, spot, 307, "use operators, conversions, min and max",
                     "`%s` cannot be computed at compile time", word->text);
        return lower_poison();
    }
    same = same ? same : plain_type(rule, expected);
    for (uint32_t i = 0; i < count; i++) {
        enum role role = role_of(rule, i);
        vyre_type type = role == ROLE_U32    ? VYRE_TYPE_U32
                         : role == ROLE_BOOL ? VYRE_TYPE_BOOL
                                             : same;
        if (!lower_settle(lower, &operands[i], type, lower_spot(lower, argument(lower, call, i)))) {
            return lower_poison();
        }
        same = same || role != ROLE_SAME ? same : (vyre_type)operands[i].type;
    }
    if (!lower->builder) {
        if (operands[0].type != operands[1].type || same == VYRE_TYPE_BOOL) {
            lower_report(lower, spot, 302, "convert one of them with a type's name, as in u32(x)",
                         "the operands of `%s` are %s and %s, expected numbers of the same type",
                         word->text, vyre_type_name((vyre_type)operands[0].type),
                         vyre_type_name((vyre_type)operands[1].type));
            return lower_poison();
        }
        vyre_plain a = vyre_plain_from(same, operands[0].value);
        vyre_plain b = vyre_plain_from(same, operands[1].value);
        return operands[choose(lower, a, b, op)];
    }
    return rule == VYRE_RULE_COMBINE ? lower_combined(lower, word, operands[0], spot)
                                     : lower_operation(lower, op, operands, count, spot);
}

/* `select` of two composites by one condition, which may be structs. */
static vyre_operand select_composite(vyre_lower *lower, const value_call *call,
                                     const vyre_operand *operands, vyre_spot spot) {
    vyre_type_text rooms[2];
    if (operands[1].type != operands[2].type) {
        lower_report(lower, spot, 302, "select among two of the same type",
                     "operand 3 of `select` is %s, expected %s",
                     lower_type_name(lower, operands[2].type, &rooms[0]),
                     lower_type_name(lower, operands[1].type, &rooms[1]));
        return lower_poison();
    }
    size_t base = lower->values.count;
    uint32_t width = lower_width(lower, operands[1].type);
    for (uint32_t i = 0; i < width; i++) {
        vyre_operand leaves[3] = {operands[0], lower_leaf(lower, operands[1], i),
                                  lower_leaf(lower, operands[2], i)};
        vyre_operand chosen = apply_scalars(lower, call, leaves, spot);
        if (!lower_push_operand(lower, chosen, VYRE_TYPE_VOID) ||
            chosen.kind != VYRE_OPERAND_VALUE) {
            lower->values.count = base;
            return lower_poison();
        }
    }
    vyre_operand result = lower_gather(lower, operands[1].type, base);
    lower->values.count = base;
    return result;
}

static vyre_operand lower_values(vyre_lower *lower, vyre_node node, const vyre_word *word,
                                 vyre_value_type expected) {
    vyre_op op = (vyre_op)word->code;
    const vyre_op_info *info = vyre_op_info_of(op);
    vyre_rule rule = (vyre_rule)info->rule;
    value_call call = {node, word, vyre_scalar_of(expected),
                       info->shape == VYRE_SHAPE_V1   ? 1
                       : info->shape == VYRE_SHAPE_V2 ? 2
                                                      : 3};
    if (!lower_check_count(lower, node, word->text, call.count)) {
        return lower_poison();
    }
    vyre_operand operands[3];
    vyre_type same = VYRE_TYPE_VOID;
    uint32_t nodes[3], shared = 0; /* bits of those that have one type */
    bool valid = true, composite = false;
    for (uint32_t i = 0; i < call.count; i++) {
        enum role role = role_of(rule, i);
        vyre_type hint = role == ROLE_U32    ? VYRE_TYPE_U32
                         : role == ROLE_BOOL ? VYRE_TYPE_BOOL
                         : same              ? same
                                             : plain_type(rule, call.expected);
        nodes[i] = argument(lower, node, i);
        operands[i] = lower_expression(lower, nodes[i], hint);
        shared |= role == ROLE_SAME ? 1u << i : 0;
        if (role == ROLE_U32) {
            lower_adopt(lower, nodes[i], &operands[i], VYRE_TYPE_U32);
        }
        valid &= operands[i].kind != VYRE_OPERAND_POISON;
        composite |= operands[i].kind == VYRE_OPERAND_COMPOSITE;
        if (operands[i].kind >= VYRE_OPERAND_VALUE && role == ROLE_SAME) {
            same = same ? same : vyre_scalar_of(operands[i].type);
        }
    }
    vyre_spot spot = vyre_node_spot(&node);
    if (!valid) {
        return lower_poison();
    }
    lower_adopt_same(lower, nodes, operands, call.count, shared);
    if (!composite) {
        return apply_scalars(lower, &call, operands, spot);
    }
    bool is_one = rule == VYRE_RULE_BALLOT || rule == VYRE_RULE_VOTE;
    if (is_one) {
        lower_settle(lower, &operands[0], VYRE_TYPE_BOOL, spot); /* refused */
        return lower_poison();
    }
    if (op == VYRE_OP_SELECT && operands[0].kind == VYRE_OPERAND_VALUE &&
        vyre_type_is_struct(operands[1].type)) {
        return select_composite(lower, &call, operands, spot);
    }
    return lower_each(lower, operands, call.count, word->text, spot, apply_scalars, &call);
}

/* Operations that give several values */

static void lower_group(vyre_lower *lower, vyre_node call) {
    const char *name = vyre_op_info_of(VYRE_OP_MATRIX_MAD)->name;
    uint32_t operands[VYRE_MATRIX_OPERANDS], results[VYRE_MATRIX_C];
    bool valid = lower_check_count(lower, call, name, VYRE_MATRIX_OPERANDS);
    for (uint32_t i = 0; valid && i < VYRE_MATRIX_OPERANDS; i++) {
        bool is_word = i < VYRE_MATRIX_A + VYRE_MATRIX_B;
        operands[i] = lower_value(lower, argument(lower, call, i),
                                  is_word ? VYRE_TYPE_U32 : VYRE_TYPE_I32, NULL);
    }
    for (uint32_t i = 0; valid && i < VYRE_MATRIX_OPERANDS; i++) {
        valid = operands[i] != VYRE_NONE;
    }
    memset(results, 0xff, sizeof results); /* VYRE_NONE */
    if (valid) {
        lower_at(lower, vyre_node_spot(&call));
        vyre_build_matrix_mad(lower->builder, operands, results);
    }
    for (uint32_t i = 0; i < VYRE_MATRIX_C; i++) {
        lower_push(lower, results[i]);
    }
}

/* Operations on arrays */

/* len(a) and clear(a) */
static vyre_operand lower_of_array(vyre_lower *lower, vyre_node call, const vyre_word *word) {
    bool is_len = word->code == VYRE_OP_LEN;
    if (is_len ? !lower_check_len(lower, call) : !lower_check_count(lower, call, word->text, 1)) {
        return lower_poison();
    }
    vyre_node node = lower_node(lower, argument(lower, call, 0));
    if (node.kind != VYRE_NODE_NAME) {
        if (node.kind != VYRE_NODE_ERROR) {
            lower_report(lower, vyre_node_spot(&node), 309,
                         "write the name of an array, without an "
                         "index",
                         "the operand of `%s` is not an array", word->text);
        }
        return lower_poison();
    }
    const vyre_name_binding *array =
        is_len ? lower_array_or_sums(lower, node, node.a) : lower_array(lower, node, node.a);
    if (!array) {
        return lower_poison();
    }
    lower_at(lower, vyre_node_spot(&call));
    if (is_len && array->sum && vyre_parser_count(&lower->parser, call.b) == 1) {
        return lower_built(lower, lower_sum_length(lower, array));
    }
    if (is_len && vyre_parser_count(&lower->parser, call.b) == 2) {
        vyre_name_binding own = *array;
        uint32_t dimension = lower_dimension_of(lower, &own, argument(lower, call, 1));
        lower_at(lower, vyre_node_spot(&call));
        return dimension == VYRE_NONE
                   ? lower_poison()
                   : lower_built(lower, lower_length_value(lower, &own, dimension));
    }
    if (is_len) {
        return lower_built(lower, lower_len(lower, array));
    }
    if (lower_check_writable(lower, node, array)) {
        lower_at(lower, vyre_node_spot(&call));
        lower_clear(lower, array);
    }
    return lower_poison();
}

/* Words behind the operands of an atomic: an ordering, a scope. False after a report. */
static bool read_ordering(vyre_lower *lower, vyre_node call, uint32_t first,
                          vyre_ordering *ordering, vyre_scope *scope) {
    uint32_t count = vyre_parser_count(&lower->parser, call.b);
    bool has_ordering = false, has_scope = false;
    for (uint32_t i = first; i < count; i++) {
        vyre_node node = lower_node(lower, argument(lower, call, i));
        const vyre_word *word =
            node.kind == VYRE_NODE_NAME ? lower_word(lower, node.a) : vyre_word_of(0);
        bool is_scope = word->class_of == VYRE_WORD_CONTEXT &&
                        (word->code == VYRE_WORD_WORKGROUP || word->code == VYRE_WORD_DEVICE);
        if (word->class_of == VYRE_WORD_ORDERING && !has_ordering && !has_scope) {
            *ordering = (vyre_ordering)word->code;
            has_ordering = true;
        } else if (is_scope && !has_scope) {
            *scope = word->code == VYRE_WORD_WORKGROUP ? VYRE_SCOPE_WORKGROUP : VYRE_SCOPE_DEVICE;
            has_scope = true;
        } else {
            if (node.kind != VYRE_NODE_ERROR) {
                lower_report(lower, vyre_node_spot(&node), 403,
                             "end with relaxed, acquire, release, acq_rel or seq_cst, then "
                             "workgroup or device",
                             "operand %u is neither an ordering nor a scope", i + 1);
            }
            return false;
        }
    }
    return true;
}

/* All scalars of an element. */
static vyre_operand uniform_load(vyre_lower *lower, const vyre_text_place *place) {
    size_t base = lower->values.count;
    uint32_t width = lower_width(lower, place->type);
    for (uint32_t i = 0; i < width; i++) {
        uint32_t array = lower_leaf_handle(lower, place->type, (uint32_t)place->handle, i);
        lower_push(lower, lower_load(lower, array, place->index, VYRE_OP_UNIFORM_LOAD));
    }
    bool stored = lower->values.count == base + width;
    vyre_operand result = stored ? lower_gather(lower, place->type, base) : lower_poison();
    lower->values.count = base;
    return result;
}

/* Atomics and uniform_load: the first operand is a place. */
static vyre_operand lower_of_element(vyre_lower *lower, vyre_node call, const vyre_word *word) {
    vyre_op op = (vyre_op)word->code;
    const vyre_op_info *info = vyre_op_info_of(op);
    uint32_t count = vyre_parser_count(&lower->parser, call.b);
    uint32_t values = info->shape == VYRE_SHAPE_R_V1 ? 0 : info->shape == VYRE_SHAPE_R_V2 ? 1 : 2;
    bool is_atomic = info->effects & VYRE_EFFECT_ATOMIC;
    if (count < 1 + values || (!is_atomic && count > 1)) {
        lower_check_count(lower, call, word->text, 1 + values);
        return lower_poison();
    }
    vyre_node head = lower_node(lower, argument(lower, call, 0)), root = head;
    while (root.kind == VYRE_NODE_FIELD) {
        root = lower_node(lower, root.a);
    }
    if (root.kind != VYRE_NODE_ELEMENT) {
        if (head.kind != VYRE_NODE_ERROR) {
            lower_report(lower, vyre_node_spot(&head), 309,
                         "write the element first, as in atomic_add(a[i], 1)",
                         "the first operand of `%s` is not an element of an array", word->text);
        }
        return lower_look_through(lower, call);
    }
    vyre_text_place place =
        lower_element_place(lower, argument(lower, call, 0), info->effects & VYRE_EFFECT_WRITE);
    bool valid = place.kind != VYRE_PLACE_NONE;
    if (valid && is_atomic && !vyre_type_is_scalar(place.type)) {
        vyre_operand composite = {.kind = VYRE_OPERAND_COMPOSITE, .type = (uint16_t)place.type};
        lower_refuse_composite(lower, &composite, place.spot);
        valid = false;
    }
    valid = valid && !(is_atomic && lower_refuse_view(lower, (uint32_t)place.handle, place.symbol,
                                                      "an atomic", place.spot));
    vyre_type type = valid ? vyre_scalar_of(place.type) : VYRE_TYPE_VOID;
    uint32_t operands[2] = {VYRE_NONE, VYRE_NONE};
    for (uint32_t i = 0; i < values; i++) {
        uint32_t node = argument(lower, call, 1 + i);
        vyre_operand operand = lower_expression(lower, node, type);
        lower_adopt(lower, node, &operand, type);
        valid &= lower_settle(lower, &operand, type, lower_spot(lower, node));
        operands[i] = (uint32_t)operand.value;
    }
    vyre_ordering ordering = VYRE_ORDERING_RELAXED;
    vyre_scope scope = VYRE_SCOPE_DEVICE;
    valid &= read_ordering(lower, call, 1 + values, &ordering, &scope);
    if (!valid) {
        return lower_poison();
    }
    lower_at(lower, vyre_node_spot(&call));
    if (!is_atomic) {
        return uniform_load(lower, &place);
    }
    return lower_built(lower,
                       vyre_build_atomic(lower->builder, op, (uint32_t)place.handle, place.index,
                                         operands[0], operands[1], ordering, scope));
}

/* Calls */

static vyre_operand lower_named_operation(vyre_lower *lower, vyre_node call, const vyre_word *word,
                                          vyre_value_type expected) {
    const vyre_op_info *info = vyre_op_info_of(word->code);
    bool on_values = info->shape >= VYRE_SHAPE_V1 && info->shape <= VYRE_SHAPE_V3;
    if (!lower->builder && word->code == VYRE_OP_LEN) {
        return lower_constant_length(lower, call);
    }
    if (!lower->builder && !on_values) {
        lower_report(lower, vyre_node_spot(&call), 307,
                     "use numbers, other constants and operators on them",
                     "`%s` is not known at compile time", word->text);
        return lower_poison();
    }
    if (on_values) {
        return lower_values(lower, call, word, expected);
    }
    switch (info->shape) {
    case VYRE_SHAPE_R: return lower_of_array(lower, call, word);
    case VYRE_SHAPE_R_V1:
    case VYRE_SHAPE_R_V2:
    case VYRE_SHAPE_R_LIST: return lower_of_element(lower, call, word);
    case VYRE_SHAPE_GROUP:
        lower_report(lower, vyre_node_spot(&call), 309,
                     "name all of them, as in `let (a, b, c, d) = ...;`", "`%s` gives %d values",
                     word->text, VYRE_MATRIX_C);
        return lower_look_through(lower, call);
    default:
        lower_report(lower, vyre_node_spot(&call), 204, "write it without parentheses",
                     "`%s` is a value and cannot be called", word->text);
        return lower_poison();
    }
}

vyre_callee lower_callee(vyre_lower *lower, vyre_node node) {
    if (node.kind == VYRE_NODE_LIBRARY_CALL) {
        vyre_callee callee = lower_operation_of(lower, node, VYRE_LIBRARY_FUNCTION);
        if (!callee.unit) {
            lower_look_through(lower, node);
        }
        return callee;
    }
    const vyre_symbol *symbol = &lower->unit->names.symbols.items[node.a];
    const vyre_name_binding *binding = vyre_names_find(&lower->unit->names, node.a);
    if (!binding && symbol->item == VYRE_NONE) {
        const vyre_word *word = vyre_word_of(symbol->word);
        vyre_name_text id;
        if (word->class_of == VYRE_WORD_CONTEXT && word->code == VYRE_WORD_CEIL_DIV) {
            lower_report(lower, vyre_node_spot(&node), 206, "write (a + b - 1) / b",
                         "`ceil_div` can be used only in sizes");
        } else if (lower_used_id(lower, node, &id)) {
            vyre_callee callee =
                *id.text ? lower_operation_by_id(lower, node, id.text, VYRE_LIBRARY_FUNCTION)
                         : (vyre_callee){0};
            if (!callee.unit) {
                lower_look_through(lower, node);
            }
            return callee;
        } else {
            lower_unknown(lower, node, node.a, true);
        }
        lower_look_through(lower, node);
        return (vyre_callee){0};
    }
    if (!binding && lower->unit->items.items[symbol->item].kind == VYRE_ITEM_FUNCTION) {
        return (vyre_callee){.unit = lower->unit, .item = symbol->item};
    }
    if (!binding || binding->kind != VYRE_BINDING_POISON) {
        vyre_name_text text;
        const char *name = lower_name(lower, node.a, &text);
        bool is_array = binding && binding->kind == VYRE_BINDING_ARRAY;
        bool is_program =
            !binding && lower->unit->items.items[symbol->item].kind == VYRE_ITEM_PROGRAM;
        lower_report(lower, vyre_node_spot(&node), 204,
                     is_array     ? "write its index in brackets: a[i]"
                     : is_program ? "call it as a step of a program, between phases"
                                  : "call a function or an operation",
                     "`%s` is %s and cannot be called%s", name, lower_kind_of(lower, node.a),
                     is_program ? " here" : "");
    }
    lower_look_through(lower, node);
    return (vyre_callee){0};
}

/* What the language itself has behind a name that is not reserved, or a struct of the file. */
static bool is_made_here(const vyre_lower *lower, vyre_node call, vyre_context_word *word,
                         vyre_value_type *type) {
    if (call.kind != VYRE_NODE_CALL) {
        return false;
    }
    *word = lower_function_word(lower->unit, call.a);
    uint32_t item = lower->unit->names.symbols.items[call.a].item;
    bool is_struct = item != VYRE_NONE && !vyre_names_find(&lower->unit->names, call.a) &&
                     lower->unit->items.items[item].kind == VYRE_ITEM_STRUCT;
    *type = is_struct ? lower->unit->items.items[item].index : VYRE_TYPE_VOID;
    return *word || *type;
}

vyre_operand lower_call(vyre_lower *lower, uint32_t number, vyre_value_type expected) {
    vyre_node node = lower_node(lower, number);
    const vyre_word *word = lower_called(lower, node);
    if (word->class_of == VYRE_WORD_OP) {
        if (word->code == VYRE_OP_CLEAR || word->code == VYRE_OP_ATOMIC_STORE) {
            lower_report(lower, vyre_node_spot(&node), 309, "write it as a statement of its own",
                         "`%s` gives no value", word->text);
            return lower_look_through(lower, node);
        }
        return lower_named_operation(lower, node, word, expected);
    }
    if (word->class_of == VYRE_WORD_FUNCTION) {
        return lower_small(lower, node, word, expected);
    }
    if (lower_message_word(lower, node)) {
        vyre_name_text name;
        lower_report(lower, vyre_node_spot(&node), 309, "write it as a statement of its own",
                     "`%s` gives no value", lower_name(lower, node.a, &name));
        return lower_look_through(lower, node);
    }
    vyre_context_word made;
    vyre_value_type type;
    if (is_made_here(lower, node, &made, &type)) {
        if (lower_is_sum_word(made)) {
            return lower_sum_in_value(lower, node, made);
        }
        return made ? lower_vector_call(lower, node, made, expected)
                    : lower_construct_struct(lower, node, type);
    }
    vyre_callee callee = lower_callee(lower, node);
    if (!callee.unit) {
        return lower_poison();
    }
    vyre_name_text text;
    lower_callee_name(callee, &text);
    if (!lower->builder) {
        lower_report(
            lower, vyre_node_spot(&node), 307, "use numbers, other constants and operators on them",
            "`%s` is a function, and functions cannot be called at compile time", text.text);
        return lower_poison();
    }
    const vyre_function *function = lower_function_of(callee);
    uint32_t results = function->result_count;
    if (results != 1 && !function->failed) {
        if (results) {
            lower_report(lower, vyre_node_spot(&node), 309,
                         "name all of them, as in `let (a, b) = f(x);`",
                         "`%s` gives %u values, expected one", text.text, results);
        } else {
            lower_report(lower, vyre_node_spot(&node), 309,
                         "call it in a statement of its own, or let it return a value",
                         "`%s` gives no value", text.text);
        }
        lower_look_through(lower, node);
        return lower_poison();
    }
    size_t base = lower->values.count;
    callee = lower_inline(lower, callee, number, expected);
    results = callee.unit ? results : 0;
    type = results ? callee.unit->result_types.items[lower_function_of(callee)->results]
                   : VYRE_TYPE_VOID;
    uint32_t width = lower_width(lower, type);
    bool whole = results == 1 && lower->values.count == base + width;
    vyre_operand result = whole ? lower_gather(lower, type, base) : lower_poison();
    lower->values.count = base;
    return vyre_type_is_scalar(type) && result.kind == VYRE_OPERAND_VALUE
               ? lower_built(lower, (uint32_t)result.value)
               : result;
}

static bool push_result(vyre_lower *lower, vyre_operand operand) {
    bool stored = vyre_vec_push(&lower->operands, operand);
    if (!stored) {
        lower_no_memory(lower);
    }
    return stored;
}

/* The results of a function, onto `operands`; gives how many there are. */
static uint32_t push_results(vyre_lower *lower, uint32_t number, vyre_callee callee,
                             uint32_t wanted) {
    size_t base = lower->values.count, at = base;
    callee = lower_inline(lower, callee, number, VYRE_TYPE_VOID);
    if (!callee.unit) {
        return wanted;
    }
    const vyre_function *function = lower_function_of(callee);
    bool failed = function->failed || lower->values.count != base + function->result_values;
    for (uint32_t i = 0; i < function->result_count && !failed; i++) {
        vyre_value_type type = callee.unit->result_types.items[function->results + i];
        push_result(lower, lower_gather(lower, type, at));
        at += lower_width(lower, type);
    }
    lower->values.count = base;
    return failed ? wanted : function->result_count;
}

/* What gives several values, onto `operands`. Gives how many there are; VYRE_NONE after a report.
 */
static uint32_t push_several(vyre_lower *lower, uint32_t number, uint32_t wanted,
                             vyre_name_text *name) {
    vyre_node node = lower_node(lower, number);
    const vyre_word *word = lower_called(lower, node);
    vyre_context_word made;
    vyre_value_type type;
    if (node.kind == VYRE_NODE_LIST) {
        uint32_t count = vyre_parser_count(&lower->parser, node.a);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t item = vyre_parser_item(&lower->parser, node.a, i);
            push_result(lower, lower_expression(lower, item, VYRE_TYPE_VOID));
        }
        snprintf(name->text, sizeof name->text, "(...)");
        return count;
    }
    if (word->class_of == VYRE_WORD_OP && vyre_op_info_of(word->code)->shape == VYRE_SHAPE_GROUP) {
        size_t base = lower->values.count;
        lower_group(lower, node);
        for (size_t i = base; i < lower->values.count; i++) {
            push_result(lower, lower_built(lower, lower->values.items[i]));
        }
        lower->values.count = base;
        snprintf(name->text, sizeof name->text, "%s", vyre_op_info_of(word->code)->name);
        return VYRE_MATRIX_C;
    }
    bool is_call = node.kind == VYRE_NODE_LIBRARY_CALL || node.kind == VYRE_NODE_CALL;
    if (is_call && word->class_of != VYRE_WORD_OP && word->class_of != VYRE_WORD_FUNCTION &&
        !is_made_here(lower, node, &made, &type)) {
        vyre_callee callee = lower_callee(lower, node);
        if (!callee.unit) {
            return VYRE_NONE;
        }
        lower_callee_name(callee, name);
        return push_results(lower, number, callee, wanted);
    }
    if (node.kind != VYRE_NODE_ERROR) {
        lower_report(lower, vyre_node_spot(&node), 309, "name one value, as in `let a = ...;`",
                     "only a function call or a block gives several values");
    }
    return VYRE_NONE;
}

void lower_several(vyre_lower *lower, uint32_t number, uint32_t count) {
    size_t base = lower->operands.count;
    vyre_name_text name = {""};
    uint32_t given = push_several(lower, number, count, &name);
    if (given != VYRE_NONE && given != count) {
        lower_report(lower, lower_spot(lower, number), 506, "write one name for each value",
                     "`%s` gives %u value%s, %u are named", name.text, given, given == 1 ? "" : "s",
                     count);
        lower->operands.count = base;
    }
    while (lower->operands.count < base + count && push_result(lower, lower_poison())) {
    }
}

void lower_call_statement(vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number);
    if (node.kind != VYRE_NODE_CALL && node.kind != VYRE_NODE_LIBRARY_CALL) {
        return;
    }
    static const char fix[] = "use the value, as in `let name = ...;`, or remove the statement";
    const vyre_word *word = lower_called(lower, node);
    bool is_small = word->class_of == VYRE_WORD_FUNCTION;
    if (word->class_of == VYRE_WORD_OP || is_small) {
        vyre_operand result = is_small ? lower_small(lower, node, word, VYRE_TYPE_VOID)
                                       : lower_named_operation(lower, node, word, VYRE_TYPE_VOID);
        uint32_t effects = is_small ? 0 : vyre_op_info_of(word->code)->effects;
        if (!(effects & ~(uint32_t)VYRE_EFFECT_SUBGROUP) && result.kind != VYRE_OPERAND_POISON) {
            lower_report(lower, vyre_node_spot(&node), 107, fix,
                         "the result of `%s` is not used, and it has no other effect", word->text);
        }
        return;
    }
    if (lower_message_word(lower, node)) {
        lower_message(lower, node);
        return;
    }
    vyre_context_word made;
    vyre_value_type type;
    if (is_made_here(lower, node, &made, &type)) {
        vyre_name_text name;
        if (lower_is_sum_word(made)) {
            lower_sum_call(lower, node, made);
            return;
        }
        if (lower_call(lower, number, VYRE_TYPE_VOID).kind != VYRE_OPERAND_POISON) {
            lower_report(lower, vyre_node_spot(&node), 107, fix,
                         "the result of `%s` is not used, and it has no other effect",
                         lower_name(lower, node.a, &name));
        }
        return;
    }
    vyre_callee callee = lower_callee(lower, node);
    if (!callee.unit) {
        return;
    }
    size_t base = lower->values.count;
    callee = lower_inline(lower, callee, number, VYRE_TYPE_VOID);
    lower->values.count = base;
    if (!callee.unit) {
        return;
    }
    const vyre_function *function = lower_function_of(callee);
    if (!function->result_count || function->failed) {
        return;
    }
    vyre_name_text text;
    lower_callee_name(callee, &text);
    if (lower_is_pure(callee.unit, callee.unit->items.items[callee.item].index, 0)) {
        lower_report(lower, vyre_node_spot(&node), 107, fix,
                     "the result of `%s` is not used, and it has no other effect", text.text);
    } else if (!lower->silent) {
        lower_report(lower, vyre_node_spot(&node), 804, "write `let _ = ...;` to discard it",
                     "the result of `%s` is not used", text.text);
    }
}
