#include <stdio.h>

#include "ir/builder.h"
#include "text/lower.h"
#include "text/lower_array.h"
#include "text/lower_generic.h"

/* Constants */

enum { STATE_NEW, STATE_ACTIVE, STATE_DONE };

/* Computes an expression of constants: no builder, no local names. */
vyre_operand lower_evaluate(vyre_lower *lower, uint32_t node, vyre_value_type expected) {
    vyre_builder *builder = lower->builder;
    lower->builder = NULL;
    vyre_operand value = lower_expression(lower, node, expected);
    lower->builder = builder;
    lower_spoil(lower);
    return value;
}

/* Gives a constant the type it was declared with. */
void lower_settle_constant(vyre_lower *lower, vyre_operand *value, vyre_value_type type,
                           vyre_spot spot) {
    if (type == VYRE_TYPE_VOID || value->kind == VYRE_OPERAND_POISON) {
        return;
    }
    vyre_builder *builder = lower->builder;
    lower->builder = NULL;
    if (value->kind == VYRE_OPERAND_PLAIN) {
        lower_settle(lower, value, type, spot);
    }
    if (value->kind != VYRE_OPERAND_POISON && value->type != type) {
        vyre_type_text rooms[2];
        lower_report(lower, spot, 301, "convert the value, or change the type",
                     "the value of the constant is %s, declared %s",
                     lower_type_name(lower, value->type, &rooms[0]),
                     lower_type_name(lower, type, &rooms[1]));
        *value = lower_poison();
    }
    lower->builder = builder;
}

vyre_operand lower_constant_item(vyre_lower *lower, uint32_t number) {
    vyre_constant *constant = &lower->unit->constants.items[number];
    const vyre_item *item = &lower->unit->items.items[constant->item];
    vyre_name_text text;
    if (constant->state == STATE_DONE) {
        lower->poisoned |= constant->value.kind == VYRE_OPERAND_POISON &&
                           constant->array.kind == VYRE_BINDING_POISON;
        lower_spoil(lower);
        return constant->value;
    }
    if (constant->state == STATE_ACTIVE) {
        vyre_source_report(&lower->unit->source, item->spot, 307,
                           "replace one of the references with a "
                           "number",
                           "the constant `%s` depends on itself",
                           lower_name(lower, item->symbol, &text));
        return lower_poison();
    }
    constant->state = STATE_ACTIVE;
    vyre_parser *parser = &lower->parser;
    vyre_parser_state saved = parser->state;
    uint32_t frame = lower->unit->names.frame;
    bool failed = parser->failed;
    uint32_t instance = lower_bind_types(lower->unit, VYRE_NONE);
    lower->unit->names.frame = (uint32_t)lower->unit->names.bindings.count;
    vyre_parser_open(parser, &item->place);
    vyre_node node = vyre_parser_node(parser, vyre_parse_item(parser));
    vyre_operand value = lower_poison();
    bool poisoned = true;
    if (node.kind == VYRE_NODE_CONSTANT) {
        vyre_node name = vyre_parser_node(parser, node.a);
        vyre_node expression = vyre_parser_node(parser, node.b);
        vyre_value_type type = name.detail;
        if (expression.kind == VYRE_NODE_ROW) {
            poisoned = !lower_elements(lower, number, node);
        } else {
            value = lower_evaluate(lower, node.b, type);
            lower_settle_constant(lower, &value, type, vyre_node_spot(&expression));
            poisoned = value.kind == VYRE_OPERAND_POISON;
        }
        vyre_parser_end(parser);
    }
    vyre_parser_restore(parser, &saved);
    parser->failed = failed;
    lower->unit->names.frame = frame;
    lower_bind_types(lower->unit, instance);
    constant = &lower->unit->constants.items[number];
    constant->state = STATE_DONE;
    constant->value = value;
    lower->poisoned |= poisoned;
    lower_spoil(lower);
    return value;
}

/* A whole number that is not negative, out of a constant. */
static bool whole_number(const vyre_operand *value, uint64_t *out) {
    if (value->kind == VYRE_OPERAND_PLAIN) {
        *out = value->value;
        return !value->real && !value->negative;
    }
    vyre_type type = vyre_scalar_of(value->type);
    *out = value->value;
    uint32_t width = vyre_type_bytes(type) * 8;
    bool negative = vyre_type_class_of(type) == VYRE_CLASS_SIGNED && value->value >> (width - 1);
    return value->kind == VYRE_OPERAND_VALUE && vyre_type_class_of(type) & VYRE_CLASS_INTEGER &&
           !negative;
}

uint32_t lower_count(vyre_lower *lower, uint32_t node, uint32_t most, uint32_t code,
                     const char *what) {
    vyre_operand value = lower_evaluate(lower, node, VYRE_TYPE_VOID);
    if (value.kind == VYRE_OPERAND_POISON) {
        lower->poisoned = true;
        return 0;
    }
    uint64_t number;
    if (!whole_number(&value, &number) || !number || number > most) {
        lower_report(lower, lower_spot(lower, node), code, "use an integer within these bounds",
                     "the size of %s is not between 1 and %u", what, most);
        return 0;
    }
    return (uint32_t)number;
}

/* Sizes */

static uint32_t refuse(vyre_lower *lower, vyre_node node, const char *what) {
    lower_report(
        lower, vyre_node_spot(&node), 604,
        "use numbers, constants, integer arguments, len(buffer), counters of repeats, + - * / "
        "%, min, max and ceil_div",
        "%s cannot be part of a size", what);
    return VYRE_NONE;
}

static uint32_t lower_size_constant(vyre_lower *lower, vyre_node node, vyre_operand value) {
    uint64_t number;
    if (value.kind == VYRE_OPERAND_POISON) {
        return VYRE_NONE;
    }
    if (!whole_number(&value, &number)) {
        return refuse(lower, node, "a number that is negative or not an integer");
    }
    lower_at(lower, vyre_node_spot(&node));
    return vyre_build_size_const(lower->builder, number);
}

uint32_t lower_length_of(vyre_lower *lower, const vyre_name_binding *array) {
    return array->constant ? vyre_build_size_const(lower->builder, array->bits)
           : array->size == VYRE_NONE
               ? vyre_build_size_len(lower->builder,
                                     lower_leaf_handle(lower, array->type, array->handle, 0))
               : vyre_build_size_copy(lower->builder, array->size);
}

static uint32_t lower_length(vyre_lower *lower, vyre_node node, uint32_t symbol) {
    const vyre_name_binding *array = lower_array_or_sums(lower, node, symbol);
    lower_at(lower, vyre_node_spot(&node));
    return array ? lower_length_of(lower, array) : VYRE_NONE;
}

/* The counter of a repeat, which may run over a range. */
static uint32_t lower_size_counter(vyre_lower *lower, vyre_name_binding *binding) {
    vyre_builder *builder = lower->builder;
    binding->used = true;
    uint32_t iteration = vyre_build_size_iteration(builder, binding->handle);
    return iteration == VYRE_NONE || binding->size == VYRE_NONE
               ? iteration
               : vyre_build_size_op(builder, VYRE_SIZE_ADD,
                                    vyre_build_size_copy(builder, binding->size), iteration);
}

static uint32_t lower_size_name(vyre_lower *lower, vyre_node node) {
    vyre_symbol symbol = lower->unit->names.symbols.items[node.a];
    const vyre_word *word = lower_word(lower, node.a);
    vyre_name_binding *binding = vyre_names_find(&lower->unit->names, node.a);
    if (word->class_of == VYRE_WORD_OP) {
        vyre_name_text text;
        snprintf(text.text, sizeof text.text, "`%s`", word->text);
        return refuse(lower, node, text.text);
    }
    if (!binding && symbol.item == VYRE_NONE) {
        lower_unknown(lower, node, node.a, false);
        return VYRE_NONE;
    }
    if (!binding && lower_constant_array(lower, node.a)) {
        return lower_length(lower, node, node.a);
    }
    if (!binding && lower->unit->items.items[symbol.item].kind == VYRE_ITEM_CONSTANT) {
        uint32_t constant = lower->unit->items.items[symbol.item].index;
        return lower_size_constant(lower, node, lower_constant_item(lower, constant));
    }
    if (binding && binding->kind == VYRE_BINDING_SCALAR) {
        lower_at(lower, vyre_node_spot(&node));
        return vyre_build_size_param(lower->builder, binding->handle);
    }
    if (binding && binding->kind == VYRE_BINDING_NUMBER) {
        return lower_size_constant(lower, node,
                                   (vyre_operand){.kind = VYRE_OPERAND_VALUE,
                                                  .type = binding->type,
                                                  .value = binding->bits});
    }
    if (binding && binding->kind == VYRE_BINDING_SIZE) {
        lower_at(lower, vyre_node_spot(&node));
        return vyre_build_size_copy(lower->builder, binding->size);
    }
    if (binding && binding->kind == VYRE_BINDING_REPEAT) {
        lower_at(lower, vyre_node_spot(&node));
        return lower_size_counter(lower, binding);
    }
    if (binding && binding->kind == VYRE_BINDING_ARRAY) {
        return lower_length(lower, node, node.a);
    }
    if (binding && binding->kind == VYRE_BINDING_REPEAT) {
        lower_report(lower, vyre_node_spot(&node), 604,
                     "use the largest size, and compare with the count inside the phase, as in `if "
                     "gid < i { ... }`",
                     "the count of a repeat cannot be part of a size");
        return VYRE_NONE;
    }
    return binding && binding->kind == VYRE_BINDING_POISON
               ? VYRE_NONE
               : refuse(lower, node, lower_kind_of(lower, node.a));
}

static uint32_t lower_size_op(vyre_lower *lower, vyre_node node, vyre_size_op op, uint32_t left,
                              uint32_t right) {
    uint32_t a = lower_size(lower, left);
    uint32_t b = lower_size(lower, right);
    if (a == VYRE_NONE || b == VYRE_NONE) {
        return VYRE_NONE;
    }
    lower_at(lower, vyre_node_spot(&node));
    return vyre_build_size_op(lower->builder, op, a, b);
}

/* len(a, dimension) */
static uint32_t lower_size_dimension(vyre_lower *lower, vyre_node array, uint32_t node) {
    const vyre_name_binding *found = lower_array_or_sums(lower, array, array.a);
    if (!found) {
        return VYRE_NONE;
    }
    vyre_name_binding own = *found;
    uint32_t dimension = lower_dimension_of(lower, &own, node);
    lower_at(lower, vyre_node_spot(&array));
    return dimension == VYRE_NONE ? VYRE_NONE : lower_length_size(lower, &own, dimension);
}

static uint32_t lower_size_call(vyre_lower *lower, vyre_node node) {
    const vyre_word *word = lower_called(lower, node);
    uint32_t count = vyre_parser_count(&lower->parser, node.b);
    bool is_op = word->class_of == VYRE_WORD_OP;
    bool is_len = is_op && word->code == VYRE_OP_LEN;
    vyre_size_op op = is_op && word->code == VYRE_OP_MIN   ? VYRE_SIZE_MIN
                      : is_op && word->code == VYRE_OP_MAX ? VYRE_SIZE_MAX
                      : word->class_of == VYRE_WORD_CONTEXT && word->code == VYRE_WORD_CEIL_DIV
                          ? VYRE_SIZE_CEIL_DIV
                          : VYRE_SIZE_CONST;
    if (!is_len && op == VYRE_SIZE_CONST) {
        return refuse(lower, node, "a call of another operation");
    }
    if (count != (is_len ? 1u : 2u) && !(is_len && count == 2)) {
        lower_report(lower, vyre_node_spot(&node), 303,
                     "write len(a), or two operands as in "
                     "min(a, b)",
                     "`%s` takes %d operand%s, found %u", word->text, is_len ? 1 : 2,
                     is_len ? "" : "s", count);
        return VYRE_NONE;
    }
    uint32_t first = vyre_parser_item(&lower->parser, node.b, 0);
    if (!is_len) {
        return lower_size_op(lower, node, op, first, vyre_parser_item(&lower->parser, node.b, 1));
    }
    vyre_node array = lower_node(lower, first);
    if (array.kind != VYRE_NODE_NAME) {
        return array.kind == VYRE_NODE_ERROR
                   ? VYRE_NONE
                   : refuse(lower, array, "the length of something that is not an array");
    }
    return count == 1
               ? lower_length(lower, array, array.a)
               : lower_size_dimension(lower, array, vyre_parser_item(&lower->parser, node.b, 1));
}

static uint32_t lower_size_any(vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number);
    switch (node.kind) {
    case VYRE_NODE_ERROR: return VYRE_NONE;
    case VYRE_NODE_NUMBER:
        return lower_size_constant(lower, node, lower_evaluate(lower, number, VYRE_TYPE_VOID));
    case VYRE_NODE_NAME: return lower_size_name(lower, node);
    case VYRE_NODE_CALL: return lower_size_call(lower, node);
    case VYRE_NODE_BINARY:
        switch (node.detail) {
        case VYRE_TOKEN_PLUS: return lower_size_op(lower, node, VYRE_SIZE_ADD, node.a, node.b);
        case VYRE_TOKEN_MINUS: return lower_size_op(lower, node, VYRE_SIZE_SUB, node.a, node.b);
        case VYRE_TOKEN_STAR: return lower_size_op(lower, node, VYRE_SIZE_MUL, node.a, node.b);
        case VYRE_TOKEN_SLASH: return lower_size_op(lower, node, VYRE_SIZE_DIV, node.a, node.b);
        case VYRE_TOKEN_PERCENT: return lower_size_op(lower, node, VYRE_SIZE_REM, node.a, node.b);
        default: return refuse(lower, node, "this operator");
        }
    case VYRE_NODE_ELEMENT:
        return vyre_names_find(&lower->unit->names, node.a) || !lower_constant_array(lower, node.a)
                   ? refuse(lower, node, "an element of an array")
                   : lower_size_constant(lower, node,
                                         lower_evaluate(lower, number, VYRE_TYPE_VOID));
    default: return refuse(lower, node, "this expression");
    }
}

uint32_t lower_size(vyre_lower *lower, uint32_t node) {
    if (lower->depth >= VYRE_LIMIT_EXPRESSION_NESTING || lower->inlined > VYRE_LIMIT_INSTRUCTIONS) {
        lower_report(lower, lower_spot(lower, node), 701, "use fewer terms, or a constant",
                     "the size nests more than %d terms", VYRE_LIMIT_EXPRESSION_NESTING);
        return VYRE_NONE;
    }
    lower->inlined++;
    lower->depth++;
    uint32_t size = lower_size_any(lower, node);
    lower->depth--;
    return size;
}

bool lower_size_is_number(const vyre_lower *lower, uint32_t size, uint64_t *out_number) {
    const vyre_size_node *row = &lower->builder->sizes.items[size].node;
    *out_number = row->a | (uint64_t)row->b << 32;
    return row->op == VYRE_SIZE_CONST;
}

/* Sizes as values: the same numbers, since the host has computed them without an error. */

static uint32_t size_value(vyre_lower *lower, uint32_t size) {
    vyre_builder *builder = lower->builder;
    vyre_size_node node = builder->sizes.items[size].node;
    switch (node.op) {
    case VYRE_SIZE_CONST:
        return vyre_build_const(builder, VYRE_TYPE_U64, node.a | (uint64_t)node.b << 32);
    case VYRE_SIZE_LEN:
        return vyre_build_convert(builder, VYRE_TYPE_U64,
                                  vyre_build_len(builder, builder->args.items[node.a].resource));
    case VYRE_SIZE_PARAM:
        return vyre_build_convert(builder, VYRE_TYPE_U64, vyre_build_param(builder, node.a));
    case VYRE_SIZE_ITERATION:
        return vyre_build_convert(builder, VYRE_TYPE_U64, vyre_build_iteration(builder, node.a));
    default: break;
    }
    static const vyre_op ops[VYRE_SIZE_COUNT] = {
        [VYRE_SIZE_ADD] = VYRE_OP_ADD, [VYRE_SIZE_SUB] = VYRE_OP_SUB,
        [VYRE_SIZE_MUL] = VYRE_OP_MUL, [VYRE_SIZE_DIV] = VYRE_OP_DIV,
        [VYRE_SIZE_REM] = VYRE_OP_REM, [VYRE_SIZE_MIN] = VYRE_OP_MIN,
        [VYRE_SIZE_MAX] = VYRE_OP_MAX, [VYRE_SIZE_CEIL_DIV] = VYRE_OP_DIV};
    uint32_t left = size_value(lower, node.a), right = size_value(lower, node.b);
    if (node.op == VYRE_SIZE_SUB && builder->sizes.items[size].counts) {
        right = vyre_build_op(builder, VYRE_OP_MIN, left, right, VYRE_NONE); /* not below 0 */
    }
    uint32_t value = vyre_build_op(builder, ops[node.op], left, right, VYRE_NONE);
    if (node.op == VYRE_SIZE_CEIL_DIV) {
        uint32_t rest = vyre_build_op(builder, VYRE_OP_REM, left, right, VYRE_NONE);
        uint32_t one = vyre_build_const(builder, VYRE_TYPE_U64, 1);
        rest = vyre_build_op(builder, VYRE_OP_MIN, rest, one, VYRE_NONE);
        value = vyre_build_op(builder, VYRE_OP_ADD, value, rest, VYRE_NONE);
    }
    return value;
}

uint32_t lower_size_value(vyre_lower *lower, uint32_t size, vyre_type type) {
    vyre_builder *builder = lower->builder;
    vyre_size_node node = builder->sizes.items[size].node;
    if (node.op == VYRE_SIZE_LEN) { /* a u32 as it is */
        return vyre_build_convert(builder, type,
                                  vyre_build_len(builder, builder->args.items[node.a].resource));
    }
    return vyre_build_convert(builder, type, size_value(lower, size));
}

static bool are_constant(vyre_lower *lower, uint32_t list) {
    uint32_t count = vyre_parser_count(&lower->parser, list);
    for (uint32_t i = 0; i < count; i++) {
        if (!lower_is_constant(lower, vyre_parser_item(&lower->parser, list, i))) {
            return false;
        }
    }
    return true;
}

/* Whether a call makes a vector or struct. */
static bool makes_value(const vyre_lower *lower, uint32_t symbol) {
    vyre_context_word word = lower_function_word(lower->unit, symbol);
    uint32_t item = lower->unit->names.symbols.items[symbol].item;
    return (word >= VYRE_WORD_VEC2 && word <= VYRE_WORD_VEC4) ||
           (item != VYRE_NONE && lower->unit->items.items[item].kind == VYRE_ITEM_STRUCT);
}

bool lower_is_constant(vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number);
    while (node.kind == VYRE_NODE_BINARY) { /* as many to the left as the text has */
        if (!lower_is_constant(lower, node.b)) {
            return false;
        }
        node = lower_node(lower, node.a);
    }
    switch (node.kind) {
    case VYRE_NODE_NAME:
        return !vyre_names_find(&lower->unit->names, node.a) &&
               (lower->unit->names.symbols.items[node.a].item != VYRE_NONE ||
                lower_word(lower, node.a)->class_of != VYRE_WORD_OP);
    case VYRE_NODE_UNARY:
    case VYRE_NODE_CONVERT:
    case VYRE_NODE_BITCAST:
    case VYRE_NODE_FIELD:
    case VYRE_NODE_BITS: return lower_is_constant(lower, node.a);
    case VYRE_NODE_CONSTRUCT: return are_constant(lower, node.b);
    case VYRE_NODE_CALL: {
        const vyre_word *word = lower_called(lower, node);
        bool is_choice = word->class_of == VYRE_WORD_OP &&
                         (word->code == VYRE_OP_MIN || word->code == VYRE_OP_MAX);
        return (is_choice || makes_value(lower, node.a)) && are_constant(lower, node.b);
    }
    case VYRE_NODE_ELEMENT:
    case VYRE_NODE_CHOICE:
    case VYRE_NODE_MATCH_VALUE:
    case VYRE_NODE_LIBRARY_CALL: return false;
    default: return true;
    }
}
