#include <stdio.h>

#include "ir/lookup.h"
#include "text/lower.h"

/* Names a value for people, unless it is a constant or bears a name already. */
static void name_value(vyre_lower *lower, uint32_t value, vyre_node name, vyre_node from) {
    if (!vyre_operand_is_value(value) || name.kind != VYRE_NODE_NAME) {
        return;
    }
    if (from.kind == VYRE_NODE_NAME) {
        const vyre_name_binding *binding = vyre_names_find(&lower->unit->names, from.a);
        if (binding && binding->kind >= VYRE_BINDING_VALUE &&
            binding->kind <= VYRE_BINDING_COUNTER) {
            return;
        }
    }
    vyre_name_text text;
    vyre_build_name(lower->builder, value, lower_name(lower, name.a, &text));
}

static void lower_let(vyre_lower *lower, vyre_node node) {
    vyre_node name = lower_node(lower, node.a);
    vyre_type type = (vyre_type)name.detail;
    uint32_t value = type == VYRE_TYPE_VOID ? lower_value(lower, node.b, type, &type)
                                            : lower_typed(lower, node.b, type, "the value of",
                                                          name.kind ? name.a : VYRE_NONE);
    name_value(lower, value, name, lower_node(lower, node.b));
    lower_bind(
        lower, name,
        (vyre_name_binding){.kind = VYRE_BINDING_VALUE, .type = (uint8_t)type, .handle = value});
}

static void lower_let_list(vyre_lower *lower, vyre_node node) {
    vyre_node call = lower_node(lower, node.b);
    uint32_t count = vyre_parser_count(&lower->parser, node.a);
    uint32_t given = VYRE_NONE; /* how many values; unknown after a report */
    vyre_name_text text;
    const char *called = "";
    size_t base = lower->values.count;
    const vyre_word *word = lower_called(lower, call);
    if (word->class_of == VYRE_WORD_OP && vyre_op_info_of(word->code)->shape == VYRE_SHAPE_GROUP) {
        lower_group(lower, call);
        called = vyre_op_info_of(word->code)->name;
        given = VYRE_MATRIX_C;
    } else if (call.kind == VYRE_NODE_LIBRARY_CALL ||
               (call.kind == VYRE_NODE_CALL && word->class_of != VYRE_WORD_OP &&
                word->class_of != VYRE_WORD_FUNCTION)) {
        vyre_callee callee = lower_callee(lower, call);
        if (callee.unit) {
            lower_inline(lower, callee, node.b);
            bool failed = lower_function_of(callee)->failed;
            called = lower_callee_name(callee, &text);
            given = failed ? count : lower_function_of(callee)->result_count;
        }
    } else if (call.kind != VYRE_NODE_ERROR) {
        lower_report(lower, vyre_node_spot(&call), 309, "name one value, as in `let a = ...;`",
                     "only a function call or a block gives several values");
    }
    if (given != VYRE_NONE && given != count) {
        lower_report(lower, vyre_node_spot(&call), 506, "write one name for each value",
                     "`%s` gives %u value%s, %u are named", called, given, given == 1 ? "" : "s",
                     count);
        given = VYRE_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        vyre_node name = lower_node(lower, vyre_parser_item(&lower->parser, node.a, i));
        uint32_t value = given != VYRE_NONE && base + i < lower->values.count
                             ? lower->values.items[base + i]
                             : VYRE_NONE;
        vyre_type type = vyre_build_type(lower->builder, value);
        if (value != VYRE_NONE && name.detail && name.detail != type) {
            lower_report(lower, vyre_node_spot(&name), 301, "change the type, or convert the value",
                         "the value is %s, declared %s", vyre_type_name(type),
                         vyre_type_name((vyre_type)name.detail));
        }
        name_value(lower, value, name, call);
        lower_bind(lower, name,
                   (vyre_name_binding){
                       .kind = VYRE_BINDING_VALUE, .type = (uint8_t)type, .handle = value});
    }
    lower->values.count = base;
}

static void lower_var(vyre_lower *lower, vyre_node node) {
    vyre_node name = lower_node(lower, node.a);
    vyre_type type = (vyre_type)name.detail;
    uint32_t first = VYRE_NONE;
    if (node.b == VYRE_NONE) {
        first = type ? vyre_build_const(lower->builder, type, 0) : VYRE_NONE;
    } else if (type == VYRE_TYPE_VOID) {
        first = lower_value(lower, node.b, type, &type);
    } else {
        first = lower_typed(lower, node.b, type, "the value of", name.kind ? name.a : VYRE_NONE);
    }
    vyre_name_binding binding = {.kind = VYRE_BINDING_POISON, .type = (uint8_t)type, .used = true};
    if (first != VYRE_NONE && name.kind == VYRE_NODE_NAME) {
        vyre_name_text text;
        lower_at(lower, vyre_node_spot(&name));
        binding.handle = vyre_build_var(lower->builder, lower_name(lower, name.a, &text), first);
        if (binding.handle != VYRE_NONE) {
            binding.kind = VYRE_BINDING_VARIABLE;
            binding.used = false;
        }
    }
    lower_bind(lower, name, binding);
}

/* Private and shared arrays. A private one is zero each time its line is reached. */
static void lower_array_declaration(vyre_lower *lower, vyre_node node) {
    vyre_node name = lower_node(lower, node.a);
    bool is_shared = node.kind == VYRE_NODE_SHARED;
    uint32_t most = is_shared ? VYRE_LIMIT_SHARED_BYTES : VYRE_LIMIT_PRIVATE_BYTES;
    uint32_t length =
        lower_count(lower, node.b, most, 604, is_shared ? "a shared array" : "a private array");
    vyre_name_binding binding = {.kind = VYRE_BINDING_POISON,
                                 .type = name.detail,
                                 .size = VYRE_NONE,
                                 .writable = true,
                                 .used = true};
    if (length && name.kind == VYRE_NODE_NAME && name.detail) {
        vyre_name_text text;
        lower_name(lower, name.a, &text);
        lower_at(lower, vyre_node_spot(&name));
        vyre_type type = (vyre_type)name.detail;
        binding.handle = is_shared ? vyre_build_shared(lower->builder, text.text, type, length)
                                   : vyre_build_private(lower->builder, text.text, type, length);
        if (binding.handle != VYRE_NONE) {
            binding.kind = VYRE_BINDING_ARRAY;
            binding.used = false;
            if (!is_shared && lower->loops) {
                vyre_build_clear(lower->builder, binding.handle);
            }
        }
    }
    lower_bind(lower, name, binding);
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

/* The value to be written: the right side, combined with what was there before (`old`) where the
 * assignment has an operator. */
static uint32_t lower_assigned(vyre_lower *lower, uint32_t number, uint32_t old, vyre_type type,
                               uint32_t symbol) {
    vyre_node node = lower_node(lower, number);
    if (node.detail == VYRE_TOKEN_ASSIGN) {
        return lower_typed(lower, node.b, type, "the value assigned to", symbol);
    }
    vyre_token_kind operation = operator_of(node.detail);
    bool shifts = vyre_token_is_shift(operation);
    vyre_operand operand = lower_expression(lower, node.b, shifts ? VYRE_TYPE_U32 : type);
    vyre_operand before = {.kind = old == VYRE_NONE ? VYRE_OPERAND_POISON : VYRE_OPERAND_VALUE,
                           .type = (uint8_t)type,
                           .value = old};
    vyre_operand result = lower_binary(lower, operation, before, operand, type,
                                       (const uint32_t[3]){number, number, node.b});
    return result.kind == VYRE_OPERAND_VALUE ? (uint32_t)result.value : VYRE_NONE;
}

static void lower_assign_element(vyre_lower *lower, uint32_t number, vyre_node place) {
    vyre_node node = lower_node(lower, number);
    const vyre_name_binding *array = lower_array(lower, place, place.a);
    vyre_type type = array ? (vyre_type)array->type : VYRE_TYPE_VOID;
    uint32_t resource = VYRE_NONE;
    if (array && lower_check_writable(lower, place, array)) {
        resource = array->handle;
    }
    uint32_t index = lower_index(lower, place.b);
    uint32_t old = VYRE_NONE;
    bool valid = resource != VYRE_NONE && index != VYRE_NONE;
    if (valid && node.detail != VYRE_TOKEN_ASSIGN) {
        lower_at(lower, vyre_node_spot(&place));
        old = vyre_build_load(lower->builder, resource, index);
    }
    uint32_t value = lower_assigned(lower, number, old, type, place.a);
    if (valid && value != VYRE_NONE) {
        lower_at(lower, vyre_node_spot(&place));
        vyre_build_store(lower->builder, resource, index, value);
    }
}

static void lower_assign_name(vyre_lower *lower, uint32_t number, vyre_node place) {
    vyre_node node = lower_node(lower, number);
    vyre_name_binding *binding = vyre_names_find(&lower->unit->names, place.a);
    uint32_t item = lower->unit->names.symbols.items[place.a].item;
    const vyre_word *word = lower_word(lower, place.a);
    if (!binding && item == VYRE_NONE && word->class_of != VYRE_WORD_OP) {
        lower_unknown(lower, place, place.a, false);
        lower_expression(lower, node.b, VYRE_TYPE_VOID);
        return;
    }
    if (binding && binding->kind == VYRE_BINDING_VARIABLE) {
        uint32_t variable = binding->handle, old = VYRE_NONE;
        vyre_type type = (vyre_type)binding->type;
        if (node.detail != VYRE_TOKEN_ASSIGN) {
            lower_at(lower, vyre_node_spot(&place));
            old = vyre_build_get(lower->builder, variable);
        }
        uint32_t value = lower_assigned(lower, number, old, type, place.a);
        if (value != VYRE_NONE) {
            lower_at(lower, vyre_node_spot(&node));
            vyre_build_set(lower->builder, variable, value);
        }
        return;
    }
    if (!binding || binding->kind != VYRE_BINDING_POISON) {
        vyre_name_text text;
        bool is_array = binding && binding->kind == VYRE_BINDING_ARRAY;
        bool is_value = binding && binding->kind == VYRE_BINDING_VALUE;
        bool is_counter = binding && binding->kind == VYRE_BINDING_COUNTER;
        lower_report(lower, vyre_node_spot(&place), 207,
                     is_array     ? "assign to an element, as in a[gid] = x"
                     : is_value   ? "declare it with `var` to assign to it"
                     : is_counter ? "use a `while` loop with a variable of your own"
                                  : "assign to a variable that `var` declares",
                     "`%s` is %s and cannot be assigned to", lower_name(lower, place.a, &text),
                     lower_kind_of(lower, place.a));
    }
    if (binding) {
        binding->used = true;
    }
    lower_expression(lower, node.b, VYRE_TYPE_VOID);
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
    case VYRE_NODE_EVALUATE:
    case VYRE_NODE_BARRIER: return true;
    case VYRE_NODE_IF:
    case VYRE_NODE_WHILE: node->a = 0; return false;
    case VYRE_NODE_FOR:
        words[node->a + VYRE_FOR_FIRST] = words[node->a + VYRE_FOR_END] = 0;
        words[node->a + VYRE_FOR_STEP] = VYRE_NONE;
        return false;
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
                  node.kind != VYRE_NODE_ELSE && node.kind < VYRE_NODE_SCRATCH;
    if (is_own) {
        warn_unreachable(lower, node);
    }
    switch (node.kind) {
    case VYRE_NODE_LET: lower_let(lower, node); break;
    case VYRE_NODE_LET_LIST: lower_let_list(lower, node); break;
    case VYRE_NODE_VAR: lower_var(lower, node); break;
    case VYRE_NODE_ARRAY:
    case VYRE_NODE_SHARED: lower_array_declaration(lower, node); break;
    case VYRE_NODE_ASSIGN: {
        vyre_node place = lower_node(lower, node.a);
        if (place.kind == VYRE_NODE_ELEMENT) {
            lower_assign_element(lower, number, place);
        } else if (place.kind == VYRE_NODE_NAME) {
            lower_assign_name(lower, number, place);
        }
        break;
    }
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
    case VYRE_NODE_BLOCK: lower_head(lower, number); break;
    case VYRE_NODE_ELSE: lower_else(lower); break;
    case VYRE_NODE_ERROR: lower_unread(lower); break;
    case VYRE_NODE_END: lower_end(lower, node); break;
    case VYRE_NODE_BREAK:
    case VYRE_NODE_CONTINUE:
    case VYRE_NODE_YIELD:
    case VYRE_NODE_RETURN: lower_jump(lower, number); break;
    case VYRE_NODE_SCRATCH:
    case VYRE_NODE_REQUIRE:
    case VYRE_NODE_STEP_CALL:
    case VYRE_NODE_PHASE:
    case VYRE_NODE_REPEAT:
    case VYRE_NODE_REPEAT_WHILE: lower_step(lower, number); break;
    default: break;
    }
}
