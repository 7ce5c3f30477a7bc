#include <stdio.h>

#include "ir/lookup.h"
#include "text/lower.h"
#include "text/lower_array.h"
#include "text/lower_let.h"
#include "text/lower_match.h"

/* Names a value for people, unless it is a constant or bears a name already. */
static void name_value(vyre_lower *lower, vyre_operand value, vyre_node name, vyre_node from) {
    if (value.kind < VYRE_OPERAND_VALUE || name.kind != VYRE_NODE_NAME) {
        return;
    }
    if (from.kind == VYRE_NODE_NAME) {
        const vyre_name_binding *binding = vyre_names_find(&lower->unit->names, from.a);
        if (binding && binding->kind >= VYRE_BINDING_VALUE &&
            binding->kind <= VYRE_BINDING_COUNTER) {
            return;
        }
    }
    vyre_name_text text, full;
    lower_name(lower, name.a, &text);
    uint32_t width = lower_width(lower, value.type);
    for (uint32_t i = 0; i < width; i++) {
        uint32_t leaf = (uint32_t)lower_leaf(lower, value, i).value;
        if (vyre_operand_is_value(leaf)) {
            vyre_build_name(lower->builder, leaf,
                            width == 1 ? text.text
                                       : lower_leaf_name(lower, text.text, value.type, i, &full));
        }
    }
}

/* Binds a name to what an expression gave. */
static void bind_operand(vyre_lower *lower, vyre_node name, vyre_operand value,
                         vyre_operand given) {
    bool valid = value.kind >= VYRE_OPERAND_VALUE;
    vyre_name_binding binding = {.kind = VYRE_BINDING_VALUE,
                                 .type = valid ? value.type : VYRE_TYPE_VOID,
                                 .handle = valid ? (uint32_t)value.value : VYRE_NONE};
    if (valid && given.kind == VYRE_OPERAND_PLAIN && !name.detail) {
        lower_remember_plain(&binding, given);
    }
    lower_bind(lower, name, binding);
}

static void lower_let(vyre_lower *lower, vyre_node node) {
    vyre_node name = lower_node(lower, node.a);
    vyre_operand given = lower_expression(lower, node.b, name.detail), value = given;
    lower_adopt(lower, node.b, &value, name.detail);
    lower_check_type(lower, &value, name.detail, "the value of", name.kind ? name.a : VYRE_NONE,
                     lower_spot(lower, node.b));
    name_value(lower, value, name, lower_node(lower, node.b));
    bind_operand(lower, name, value, given);
}

static void lower_let_list(vyre_lower *lower, vyre_node node) {
    uint32_t count = vyre_parser_count(&lower->parser, node.a);
    size_t base = lower->operands.count;
    lower_several(lower, node.b, count);
    for (uint32_t i = 0; i < count && !lower->unit->source.no_memory; i++) {
        vyre_node name = lower_node(lower, vyre_parser_item(&lower->parser, node.a, i));
        vyre_operand value = lower->operands.items[base + i];
        if (value.kind != VYRE_OPERAND_POISON && name.detail && name.detail != value.type) {
            vyre_type_text rooms[2];
            lower_report(lower, vyre_node_spot(&name), 301, "change the type, or convert the value",
                         "the value is %s, declared %s",
                         lower_type_name(lower, value.type, &rooms[0]),
                         lower_type_name(lower, name.detail, &rooms[1]));
        }
        name_value(lower, value, name, lower_node(lower, node.b));
        bind_operand(lower, name, value, value);
    }
    lower->operands.count = base;
}

/* Zeros of a type. */
static vyre_operand lower_zero(vyre_lower *lower, vyre_value_type type) {
    uint32_t width = lower_width(lower, type);
    size_t leaves = lower->leaves.count;
    for (uint32_t i = 0; i < width; i++) {
        vyre_operand zero = lower_constant(lower, vyre_leaf_type(&lower->types, type, i), 0);
        if (vyre_type_is_scalar(type)) {
            return zero;
        }
        if (zero.kind != VYRE_OPERAND_VALUE || !lower_add_leaf(lower, zero.value)) {
            return lower_poison();
        }
    }
    return lower_composite(lower, type, leaves);
}

bool lower_variable(vyre_lower *lower, const char *name, vyre_operand first, uint32_t *out_handle) {
    uint32_t width = lower_width(lower, first.type);
    vyre_name_text full;
    size_t leaves = lower->leaves.count;
    *out_handle = (uint32_t)leaves;
    for (uint32_t i = 0; i < width; i++) {
        bool is_scalar = vyre_type_is_scalar(first.type);
        uint32_t handle = vyre_build_var(
            lower->builder, is_scalar ? name : lower_leaf_name(lower, name, first.type, i, &full),
            (uint32_t)lower_leaf(lower, first, i).value);
        if (handle == VYRE_NONE || (!is_scalar && !lower_add_leaf(lower, handle))) {
            return false;
        }
        *out_handle = is_scalar ? handle : *out_handle;
    }
    return true;
}

static void lower_var(vyre_lower *lower, vyre_node node) {
    vyre_node name = lower_node(lower, node.a);
    vyre_operand first = lower_poison();
    if (node.b != VYRE_NONE) {
        first =
            lower_typed(lower, node.b, name.detail, "the value of", name.kind ? name.a : VYRE_NONE);
    } else if (name.detail) {
        first = lower_zero(lower, name.detail);
    }
    bool valid = first.kind >= VYRE_OPERAND_VALUE;
    vyre_name_binding binding = {
        .kind = VYRE_BINDING_POISON, .type = valid ? first.type : name.detail, .used = true};
    if (valid && name.kind == VYRE_NODE_NAME) {
        vyre_name_text text;
        lower_at(lower, vyre_node_spot(&name));
        if (lower_variable(lower, lower_name(lower, name.a, &text), first, &binding.handle)) {
            binding.kind = VYRE_BINDING_VARIABLE;
            binding.used = false;
        }
    }
    lower_bind(lower, name, binding);
}

/* The size of a shared array that is no constant; VYRE_NONE if it is wrong, or a number after all:
 * a spliced program's scalar. That is its length then. */
static uint32_t lower_shared_size(vyre_lower *lower, uint32_t node, uint32_t *out_length) {
    uint32_t size = lower_size(lower, node);
    uint64_t number;
    if (size == VYRE_NONE || !lower_size_is_number(lower, size, &number)) {
        return size;
    }
    if (number && number <= VYRE_LIMIT_SHARED_BYTES) {
        *out_length = (uint32_t)number;
    } else {
        lower_report(lower, lower_spot(lower, node), 604, "use an integer within these bounds",
                     "the size of a shared array is not between 1 and %d", VYRE_LIMIT_SHARED_BYTES);
    }
    return VYRE_NONE;
}

bool lower_declare_array(vyre_lower *lower, const vyre_array_declaration *array,
                         uint32_t *out_handle) {
    uint32_t width = lower_width(lower, array->type);
    bool is_scalar = vyre_type_is_scalar(array->type);
    *out_handle = (uint32_t)lower->leaves.count;
    for (uint32_t i = 0; i < width; i++) {
        vyre_name_text full;
        vyre_type type = vyre_leaf_type(&lower->types, array->type, i);
        const char *name = is_scalar || !array->name
                               ? array->name
                               : lower_leaf_name(lower, array->name, array->type, i, &full);
        uint32_t size = array->size;
        if (size != VYRE_NONE && i) {
            size = vyre_build_size_copy(lower->builder, size);
        }
        uint32_t handle = array->kind == VYRE_RESOURCE_SCRATCH
                              ? vyre_build_scratch(lower->builder, name, type, size)
                          : size != VYRE_NONE
                              ? vyre_build_shared_sized(lower->builder, name, type, size)
                          : array->kind == VYRE_RESOURCE_SHARED
                              ? vyre_build_shared(lower->builder, name, type, array->length)
                              : vyre_build_private(lower->builder, name, type, array->length);
        if (handle == VYRE_NONE || (!is_scalar && !lower_add_leaf(lower, handle))) {
            return false;
        }
        *out_handle = is_scalar ? handle : *out_handle;
    }
    return width > 0;
}

/* Private and shared arrays. A private one is zero each time its line is reached. */
static void lower_array_declaration(vyre_lower *lower, vyre_node node) {
    vyre_node name = lower_node(lower, node.a);
    bool is_shared = node.kind == VYRE_NODE_SHARED;
    uint32_t most = is_shared ? VYRE_LIMIT_SHARED_BYTES : VYRE_LIMIT_PRIVATE_BYTES;
    uint32_t length = 0, size = VYRE_NONE;
    if (is_shared && !lower_is_constant(lower, node.b)) {
        size = lower_shared_size(lower, node.b, &length);
    } else {
        length =
            lower_count(lower, node.b, most, 604, is_shared ? "a shared array" : "a private array");
    }
    vyre_name_binding binding = {.kind = VYRE_BINDING_POISON,
                                 .type = name.detail,
                                 .size = VYRE_NONE,
                                 .writable = true,
                                 .used = true};
    if ((length || size != VYRE_NONE) && name.kind == VYRE_NODE_NAME && name.detail) {
        vyre_name_text text;
        lower_at(lower, vyre_node_spot(&name));
        vyre_array_declaration array = {.kind = is_shared ? VYRE_RESOURCE_SHARED
                                                          : VYRE_RESOURCE_PRIVATE,
                                        .type = name.detail,
                                        .name = lower_name(lower, name.a, &text),
                                        .size = size,
                                        .length = length};
        binding.shape = size != VYRE_NONE
                            ? lower_shape(lower, name.b)
                            : lower_fixed_shape(lower, name.b,
                                                is_shared ? "a shared array" : "a private array");
        lower_at(lower, vyre_node_spot(&name));
        if (lower_declare_array(lower, &array, &binding.handle)) {
            binding.kind = VYRE_BINDING_ARRAY;
            binding.used = false;
            if (!is_shared && lower->loops) {
                lower_clear(lower, &binding);
            }
        }
    }
    lower_bind(lower, name, binding);
}

static void warn_unreachable(vyre_lower *lower, vyre_node node) {
    vyre_lower_block *block = &lower->blocks.items[lower->blocks.count - 1];
    if (block->warned || vyre_build_reachable(lower->builder)) {
        return;
    }
    block->warned = true;
    if (node.kind == VYRE_NODE_ASSIGN) {
        node = lower_node(lower, node.a);
    }
    if (!lower->silent && !lower_has_mistakes(lower)) {
        lower_report(lower, vyre_node_spot(&node), 802, "remove it, or the jump before it",
                     "this statement is never reached");
    }
}

static void poison(vyre_lower *lower, uint32_t name) {
    lower_bind(lower, lower_node(lower, name), (vyre_name_binding){.kind = VYRE_BINDING_POISON});
}

static void poison_list(vyre_lower *lower, uint32_t list) {
    for (uint32_t i = 0; i < vyre_parser_count(&lower->parser, list); i++) {
        poison(lower, vyre_parser_item(&lower->parser, list, i));
    }
}

/* A statement whose text is wrong has had its report: what it declares counts as declared, its
 * block is looked at, and its expressions are not. True if nothing is left to lower. */
static bool lower_broken(vyre_lower *lower, uint32_t number) {
    vyre_node *node = &lower->parser.syntax.nodes.items[number];
    uint32_t *words = lower->parser.syntax.words.items;
    switch (node->kind) {
    case VYRE_NODE_LET:
    case VYRE_NODE_VAR:
    case VYRE_NODE_ARRAY:
    case VYRE_NODE_SHARED: poison(lower, node->a); return true;
    case VYRE_NODE_LET_LIST: poison_list(lower, node->a); return true;
    case VYRE_NODE_ASSIGN:
    case VYRE_NODE_ASSIGN_LIST:
    case VYRE_NODE_EVALUATE:
    case VYRE_NODE_BARRIER: return true;
    case VYRE_NODE_IF:
    case VYRE_NODE_MATCH:
    case VYRE_NODE_WHILE: node->a = 0; return false;
    case VYRE_NODE_FOR:
        words[node->a + VYRE_FOR_FIRST] = words[node->a + VYRE_FOR_END] = 0;
        words[node->a + VYRE_FOR_STEP] = VYRE_NONE;
        return false;
    case VYRE_NODE_CASE:
    case VYRE_NODE_BREAK:
    case VYRE_NODE_CONTINUE:
    case VYRE_NODE_YIELD:
    case VYRE_NODE_RETURN:
        for (uint32_t i = 0; node->a != VYRE_NONE && i < words[node->a]; i++) {
            words[node->a + 1 + i] = 0;
        }
        return false;
    default: return false;
    }
}

void lower_statement(vyre_lower *lower, uint32_t number) {
    lower_spoil(lower);
    if (lower->parser.broken && lower_broken(lower, number)) {
        return;
    }
    vyre_node node = lower_node(lower, number);
    bool is_own = node.kind != VYRE_NODE_ERROR && node.kind != VYRE_NODE_END &&
                  node.kind != VYRE_NODE_ELSE && node.kind != VYRE_NODE_CASE &&
                  node.kind < VYRE_NODE_SCRATCH;
    if (is_own) {
        warn_unreachable(lower, node);
    }
    switch (node.kind) {
    case VYRE_NODE_LET: lower_let(lower, node); break;
    case VYRE_NODE_LET_LIST: lower_let_list(lower, node); break;
    case VYRE_NODE_VAR: lower_var(lower, node); break;
    case VYRE_NODE_ARRAY:
    case VYRE_NODE_SHARED: lower_array_declaration(lower, node); break;
    case VYRE_NODE_ASSIGN: lower_assign(lower, number); break;
    case VYRE_NODE_ASSIGN_LIST: lower_assign_list(lower, node); break;
    case VYRE_NODE_EVALUATE: lower_call_statement(lower, node.a); break;
    case VYRE_NODE_BARRIER:
        lower_at(lower, vyre_node_spot(&node));
        vyre_build_barrier(lower->builder, (vyre_op)node.detail);
        break;
    case VYRE_NODE_IF:
    case VYRE_NODE_FOR:
    case VYRE_NODE_WHILE:
    case VYRE_NODE_LOOP:
    case VYRE_NODE_INLINE:
    case VYRE_NODE_MATCH:
    case VYRE_NODE_BLOCK: lower_head(lower, number); break;
    case VYRE_NODE_CASE: lower_case(lower, node); break;
    case VYRE_NODE_LABEL: lower_label(lower, node); break;
    case VYRE_NODE_ELSE:
    case VYRE_NODE_STEP_ELSE: lower_else(lower); break;
    case VYRE_NODE_ERROR: lower_unread(lower); break;
    case VYRE_NODE_END: lower_end(lower, node); break;
    case VYRE_NODE_BREAK:
    case VYRE_NODE_CONTINUE:
    case VYRE_NODE_YIELD:
    case VYRE_NODE_RETURN: lower_jump(lower, number); break;
    case VYRE_NODE_SCRATCH:
    case VYRE_NODE_VIEW:
    case VYRE_NODE_REQUIRE:
    case VYRE_NODE_STEP_CALL:
    case VYRE_NODE_PHASE:
    case VYRE_NODE_STEP_IF:
    case VYRE_NODE_SWAP:
    case VYRE_NODE_REPEAT:
    case VYRE_NODE_REPEAT_WHILE: lower_step(lower, number); break;
    default: break;
    }
}
