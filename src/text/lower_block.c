#include <string.h>

#include "text/lower.h"
#include "text/lower_match.h"

static vyre_lower_block *top(vyre_lower *lower) {
    return &lower->blocks.items[lower->blocks.count - 1];
}

/* Keeps the names of a list beyond their statement. `stride` 2 takes every other one. */
static bool keep_names(vyre_lower *lower, uint32_t list, uint32_t stride, uint32_t *first,
                       uint32_t *count) {
    *first = (uint32_t)lower->block_names.count;
    *count = vyre_parser_count(&lower->parser, list) / stride;
    for (uint32_t i = 0; i < *count; i++) {
        vyre_node name = lower_node(lower, vyre_parser_item(&lower->parser, list, i * stride));
        if (!vyre_vec_push(&lower->block_names, name)) {
            lower_no_memory(lower);
            return false;
        }
    }
    return true;
}

/* The type of a name in block_names: what it was declared with, or what the first exit gave. */
static vyre_value_type type_of(vyre_node name) {
    return name.detail ? name.detail : name.b;
}

/* How many scalars so many names in block_names have. */
static uint32_t count_values(const vyre_lower *lower, uint32_t names, uint32_t count) {
    uint32_t values = 0;
    for (uint32_t i = 0; i < count; i++) {
        values += lower_width(lower, type_of(lower->block_names.items[names + i]));
    }
    return values;
}

static uint32_t count_results(const vyre_lower *lower, const vyre_lower_block *block) {
    return block->gives                   ? count_values(lower, block->results, block->result_count)
           : block->kind == VYRE_NODE_FOR ? block->carried_values /* though nobody names them */
                                          : 0;
}

static void bind_value(vyre_lower *lower, vyre_node name, uint32_t value, vyre_name_kind kind,
                       bool used) {
    vyre_type type = vyre_build_type(lower->builder, value);
    value = type == VYRE_TYPE_VOID ? VYRE_NONE : value;
    if (value != VYRE_NONE && name.kind == VYRE_NODE_NAME) {
        vyre_name_text text;
        vyre_build_name(lower->builder, value, lower_name(lower, name.a, &text));
    }
    lower_bind(lower, name,
               (vyre_name_binding){
                   .kind = (uint8_t)kind, .type = (uint16_t)type, .handle = value, .used = used});
}

/* Binds a name of block_names to what stands in `values`; gives how many those are. */
static uint32_t bind_values(vyre_lower *lower, vyre_node name, size_t at, bool used) {
    vyre_value_type type = type_of(name);
    if (vyre_type_is_scalar(type)) {
        bind_value(lower, name, lower->values.items[at], VYRE_BINDING_VALUE, used);
        return 1;
    }
    uint32_t width = lower_width(lower, type);
    vyre_name_text text, full;
    vyre_operand value = lower_gather(lower, type, at);
    bool valid = value.kind == VYRE_OPERAND_COMPOSITE;
    for (uint32_t i = 0; i < width && valid && name.kind == VYRE_NODE_NAME; i++) {
        vyre_build_name(lower->builder, lower->values.items[at + i],
                        lower_leaf_name(lower, lower_name(lower, name.a, &text), type, i, &full));
    }
    lower_bind(lower, name,
               (vyre_name_binding){.kind = VYRE_BINDING_VALUE,
                                   .type = (uint16_t)type,
                                   .handle = valid ? (uint32_t)value.value : VYRE_NONE,
                                   .used = used});
    return width;
}

/* The first values of what a loop carries, pushed onto `values`; their types go to the names. */
static bool lower_carried(vyre_lower *lower, uint32_t list, vyre_lower_block *block) {
    if (!keep_names(lower, list, 2, &block->carried, &block->carried_count)) {
        return false;
    }
    for (uint32_t i = 0; i < block->carried_count; i++) {
        uint32_t node = vyre_parser_item(&lower->parser, list, i * 2 + 1);
        vyre_value_type type = lower->block_names.items[block->carried + i].detail;
        vyre_operand value = lower_typed(lower, node, type, "the first value", VYRE_NONE);
        if (!type && value.kind != VYRE_OPERAND_POISON) {
            lower->block_names.items[block->carried + i].detail = value.type;
        }
        if (!lower_push_operand(lower, value, type)) {
            return false;
        }
    }
    block->carried_values = count_values(lower, block->carried, block->carried_count);
    return true;
}

/* Opens a loop whose carried values are the last of `values`, and binds names to its arguments. */
static void open_loop(vyre_lower *lower, vyre_node head, vyre_lower_block block,
                      const uint32_t *range, bool down, vyre_node counter) {
    uint32_t count = block.carried_values;
    size_t initial = lower->values.count - count;
    if (!vyre_vec_reserve(&lower->values, count)) {
        lower_no_memory(lower);
        return;
    }
    uint32_t *args = lower->values.items + initial + count;
    memset(args, 0xff, count * sizeof *args);
    lower_at(lower, vyre_node_spot(&head));
    uint32_t iteration = VYRE_NONE;
    if (range) {
        iteration = vyre_build_for(lower->builder, range[0], range[1], range[2], count,
                                   lower->values.items + initial, args);
    } else {
        vyre_build_loop(lower->builder, count, lower->values.items + initial, args);
    }
    lower->loops++;
    if (!lower_open(lower, block)) {
        return;
    }
    if (down) {
        iteration = lower_complement(lower, iteration, vyre_node_spot(&counter));
    }
    if (range) {
        bind_value(lower, counter, iteration, VYRE_BINDING_COUNTER, true);
    }
    size_t at = initial + count;
    lower->values.count = at + count;
    for (uint32_t i = 0; i < block.carried_count; i++) {
        at += bind_values(lower, lower->block_names.items[block.carried + i], at, true);
    }
    lower->values.count = initial;
}

static void lower_for(vyre_lower *lower, vyre_node node, vyre_lower_block block) {
    const vyre_parser *parser = &lower->parser;
    uint32_t nodes[3] = {vyre_parser_part(parser, node.a, VYRE_FOR_FIRST),
                         vyre_parser_part(parser, node.a, VYRE_FOR_END),
                         vyre_parser_part(parser, node.a, VYRE_FOR_STEP)};
    vyre_node counter = lower_node(lower, vyre_parser_part(parser, node.a, VYRE_FOR_NAME));
    uint32_t range[3];
    bool down = lower_range(lower, nodes, range);
    uint32_t carried = vyre_parser_part(parser, node.a, VYRE_FOR_CARRIED);
    if (!lower_carried(lower, carried, &block)) {
        return;
    }
    for (uint32_t i = 0; i < block.result_count && i < block.carried_count && block.gives; i++) {
        lower->block_names.items[block.results + i].b =
            lower->block_names.items[block.carried + i].detail;
    }
    open_loop(lower, node, block, range, down, counter);
}

/* Opens an `if`. */
static void lower_condition(vyre_lower *lower, uint32_t number) {
    vyre_type type;
    uint32_t value = lower_value(lower, number, VYRE_TYPE_BOOL, &type);
    vyre_node node = lower_node(lower, number);
    if (value != VYRE_NONE && type != VYRE_TYPE_BOOL) {
        lower_report(lower, vyre_node_spot(&node), 301, "compare it with something, as in x != 0",
                     "the condition is %s, expected bool", vyre_type_name(type));
        value = VYRE_NONE;
    }
    lower_at(lower, vyre_node_spot(&node));
    vyre_build_if(lower->builder, value);
}

static void lower_while(vyre_lower *lower, vyre_node node, vyre_lower_block block) {
    open_loop(lower, node, block, NULL, false, (vyre_node){0});
    vyre_node condition = lower_node(lower, node.a);
    if (condition.kind == VYRE_NODE_BOOL && condition.detail) {
        return;
    }
    lower_condition(lower, node.a);
    vyre_build_else(lower->builder);
    vyre_build_break(lower->builder, 0, NULL);
    vyre_build_if_end(lower->builder, 0, NULL);
}

void lower_head(vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number);
    vyre_lower_block *outer = top(lower);
    vyre_lower_block block = {.kind = node.kind, .warned = outer->warned};
    lower_take_label(lower, &block);
    bool may_give = node.kind != VYRE_NODE_WHILE && node.kind != VYRE_NODE_BLOCK;
    bool chained = node.kind == VYRE_NODE_IF && node.detail;
    if (chained && outer->gives) {
        block.gives = block.chained = true;
        block.results = outer->results;
        block.result_count = outer->result_count;
    } else if (may_give && node.b != VYRE_NONE) {
        block.gives = true;
        if (!keep_names(lower, node.b, 1, &block.results, &block.result_count)) {
            return;
        }
    }
    switch (node.kind) {
    case VYRE_NODE_IF:
        lower_condition(lower, node.a);
        lower_open(lower, block);
        break;
    case VYRE_NODE_FOR: lower_for(lower, node, block); break;
    case VYRE_NODE_WHILE: lower_while(lower, node, block); break;
    case VYRE_NODE_MATCH: lower_match(lower, node, block); break;
    case VYRE_NODE_LOOP:
        if (lower_carried(lower, node.a, &block)) {
            open_loop(lower, node, block, NULL, false, (vyre_node){0});
        }
        break;
    case VYRE_NODE_INLINE:
        lower_at(lower, vyre_node_spot(&node));
        vyre_build_inline(lower->builder);
        lower_open(lower, block);
        break;
    default: lower_open(lower, block); break;
    }
}

void lower_else(vyre_lower *lower) {
    vyre_lower_block *block = top(lower);
    lower_forget(lower, block->bindings);
    if (block->kind == VYRE_NODE_STEP_IF) {
        block->kind = VYRE_NODE_STEP_ELSE;
        vyre_build_branch_else(lower->builder);
        return;
    }
    block->kind = VYRE_NODE_ELSE;
    vyre_build_else(lower->builder);
    block->warned = !vyre_build_reachable(lower->builder);
}

/* Closes the builder's block; its results are the last of `values`. */
static void end_in_builder(vyre_lower *lower, const vyre_lower_block *block) {
    uint32_t count = count_results(lower, block);
    if (!vyre_vec_reserve(&lower->values, count)) {
        lower_no_memory(lower);
        return;
    }
    uint32_t *results = lower->values.items + lower->values.count;
    memset(results, 0xff, count * sizeof *results);
    lower->values.count += count;
    switch (block->kind) {
    case VYRE_NODE_IF:
    case VYRE_NODE_ELSE: vyre_build_if_end(lower->builder, count, results); break;
    case VYRE_NODE_INLINE: vyre_build_inline_end(lower->builder, count, results); break;
    case VYRE_NODE_MATCH: lower_match_end(lower, block, count); break;
    default: vyre_build_loop_end(lower->builder, count, results); break;
    }
}

static void check_result_type(vyre_lower *lower, vyre_node name, uint32_t value) {
    vyre_type type = vyre_build_type(lower->builder, value);
    if (value != VYRE_NONE && vyre_type_is_scalar(name.detail) && name.detail &&
        name.detail != type) {
        lower_report(lower, vyre_node_spot(&name), 301, "change the type, or convert the value",
                     "the value is %s, declared %s", vyre_type_name(type),
                     vyre_type_name((vyre_type)name.detail));
    }
}

void lower_end(vyre_lower *lower, vyre_node node) {
    lower->end = vyre_node_spot(&node);
    vyre_lower_block block = *top(lower);
    size_t base = lower->values.count;
    lower_at(lower, lower->end);
    switch (block.kind) {
    case VYRE_NODE_FOR:
    case VYRE_NODE_WHILE:
    case VYRE_NODE_LOOP:
        lower->loops--;
        end_in_builder(lower, &block);
        break;
    case VYRE_NODE_IF:
    case VYRE_NODE_ELSE:
    case VYRE_NODE_MATCH:
    case VYRE_NODE_INLINE: end_in_builder(lower, &block); break;
    case VYRE_NODE_PHASE: vyre_build_phase_end(lower->builder); break;
    case VYRE_NODE_REPEAT: vyre_build_repeat_end(lower->builder); break;
    case VYRE_NODE_STEP_IF:
    case VYRE_NODE_STEP_ELSE: vyre_build_branch_end(lower->builder); break;
    default: break;
    }
    lower_close(lower);
    if (block.kind == VYRE_NODE_CASE) {
        return;
    }
    lower_labels_end(lower, &block);
    if (block.chained) {
        vyre_build_yield(lower->builder, (uint32_t)(lower->values.count - base),
                         lower->values.items + base);
    } else if (block.gives && !lower->unit->source.no_memory) {
        size_t at = base;
        for (uint32_t i = 0; i < block.result_count; i++) {
            vyre_node name = lower->block_names.items[block.results + i];
            check_result_type(lower, name, lower->values.items[at]);
            at += bind_values(lower, name, at, false);
        }
    }
    if (!block.chained && (block.gives || block.carried_count)) {
        lower->block_names.count = block.gives ? block.results : block.carried;
    }
    lower->values.count = base;
}

/* `if` with a value in each branch. A plain number in the first takes the type of the second where
 * nothing else gives it one: such a branch has no code, so it may come last. */
vyre_operand lower_choice(vyre_lower *lower, vyre_node node, vyre_value_type expected) {
    uint32_t nodes[2] = {vyre_parser_part(&lower->parser, node.b, VYRE_CHOICE_YES),
                         vyre_parser_part(&lower->parser, node.b, VYRE_CHOICE_NO)};
    if (!lower->builder) {
        lower_report(lower, vyre_node_spot(&node), 307,
                     "use numbers, other constants and operators on them",
                     "the value of an `if` is not known at compile time");
        return lower_poison();
    }
    vyre_type type;
    uint32_t condition = lower_value(lower, node.a, VYRE_TYPE_BOOL, &type);
    if (condition != VYRE_NONE && type != VYRE_TYPE_BOOL) {
        lower_report(lower, lower_spot(lower, node.a), 301,
                     "compare it with something, as in x != 0",
                     "the condition is %s, expected bool", vyre_type_name(type));
        condition = VYRE_NONE;
    }
    bool swapped =
        !expected && lower_is_constant(lower, nodes[0]) && !lower_is_constant(lower, nodes[1]);
    lower_at(lower, vyre_node_spot(&node));
    if (swapped && condition != VYRE_NONE) {
        condition = vyre_build_op(lower->builder, VYRE_OP_NOT, condition, VYRE_NONE, VYRE_NONE);
    }
    vyre_build_if(lower->builder, condition);
    size_t base = lower->values.count;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t branch = nodes[swapped ? 1 - i : i];
        vyre_operand value = lower_typed(lower, branch, expected, "the value", VYRE_NONE);
        lower_push_operand(lower, value, expected);
        lower_at(lower, lower_spot(lower, branch));
        vyre_build_yield(lower->builder, (uint32_t)(lower->values.count - base),
                         lower->values.items + base);
        lower->values.count = base;
        expected = expected || value.kind < VYRE_OPERAND_VALUE ? expected : value.type;
        if (!i) {
            vyre_build_else(lower->builder);
        }
    }
    if (!lower_push_none(lower, lower_width(lower, expected))) {
        return lower_poison();
    }
    vyre_build_if_end(lower->builder, (uint32_t)(lower->values.count - base),
                      lower->values.items + base);
    vyre_operand result = lower_gather(lower, expected, base);
    lower->values.count = base;
    return expected ? result : lower_poison();
}

/* Jumps */

/* The innermost block of the current function that the jump leaves, NULL if there is none. */
static vyre_lower_block *find_target(vyre_lower *lower, vyre_node_kind jump) {
    for (size_t i = lower->blocks.count; i > lower->frame; i--) {
        vyre_lower_block *block = &lower->blocks.items[i - 1];
        bool is_loop = block->kind == VYRE_NODE_FOR || block->kind == VYRE_NODE_LOOP ||
                       block->kind == VYRE_NODE_WHILE;
        bool is_branch = block->kind == VYRE_NODE_IF || block->kind == VYRE_NODE_ELSE ||
                         block->kind == VYRE_NODE_CASE;
        switch (jump) {
        case VYRE_NODE_YIELD:
            if (block->kind != VYRE_NODE_BLOCK) {
                return is_branch && block->gives ? block : NULL;
            }
            break;
        case VYRE_NODE_RETURN:
            if (block->kind == VYRE_NODE_INLINE) {
                return block;
            }
            break;
        default:
            if (is_loop) {
                return block;
            }
            if (block->kind == VYRE_NODE_INLINE) {
                return NULL;
            }
            break;
        }
    }
    return NULL;
}

/* Lowers the values of a jump onto `values`. The names (in block_names) of what they become may
 * have a type; where they have none, the first jump decides for plain numbers of the others. */
static void push_values(vyre_lower *lower, uint32_t list, uint32_t names, uint32_t name_count) {
    uint32_t count = vyre_parser_count(&lower->parser, list);
    bool composite = false;
    size_t base = lower->values.count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = vyre_parser_item(&lower->parser, list, i);
        vyre_node name = {0};
        if (i < name_count) {
            name = lower->block_names.items[names + i];
        }
        vyre_value_type found = type_of(name);
        vyre_operand value = lower_expression(lower, node, found);
        /* The builder compares scalars of several exits, and says where both are. */
        bool by_builder =
            !name.detail && vyre_type_is_scalar(found) && value.kind == VYRE_OPERAND_VALUE;
        if (!by_builder) {
            lower_check_type(lower, &value, found, "the value", VYRE_NONE, lower_spot(lower, node));
        }
        composite |= value.kind == VYRE_OPERAND_COMPOSITE;
        if (i < name_count && !name.b && value.kind != VYRE_OPERAND_POISON) {
            lower->block_names.items[names + i].b = value.type;
        }
        if (!lower_push_operand(lower, value, found)) {
            return;
        }
    }
    if (composite && name_count && count != name_count) {
        lower_report(lower, lower_spot(lower, vyre_parser_item(&lower->parser, list, 0)), 506,
                     "write one value for each name", "%u value%s for %u name%s", count,
                     count == 1 ? "" : "s", name_count, name_count == 1 ? "" : "s");
        lower->values.count = base;
        lower_push_none(lower, count_values(lower, names, name_count));
    }
}

/* A return of the function itself: as many values as it has results, of their types. */
static void lower_return(vyre_lower *lower, vyre_node node) {
    vyre_function function = lower->unit->functions.items[lower->function];
    uint32_t count = vyre_parser_count(&lower->parser, node.a);
    size_t base = lower->values.count;
    vyre_name_text text;
    bool matches = count == function.result_count;
    if (!matches) {
        lower_name(lower, lower->unit->items.items[function.item].symbol, &text);
        if (!function.result_count) {
            lower_report(lower, vyre_node_spot(&node), 506,
                         "write the type of the result after `->`",
                         "`%s` is declared to return no value", text.text);
        } else {
            lower_report(lower, vyre_node_spot(&node), 506,
                         "return as many values as `->` declares",
                         "`%s` returns %u value%s, found %u", text.text, function.result_count,
                         function.result_count == 1 ? "" : "s", count);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value_node = vyre_parser_item(&lower->parser, node.a, i);
        vyre_value_type type = i < function.result_count
                                   ? lower->unit->result_types.items[function.results + i]
                                   : VYRE_TYPE_VOID;
        vyre_operand value = lower_typed(lower, value_node, type, "the returned value", VYRE_NONE);
        if (matches && !lower_push_operand(lower, value, type)) {
            return;
        }
    }
    if (!matches && !lower_push_none(lower, function.result_values)) {
        return;
    }
    if (lower->spliced) {
        lower->returned = base;
        return;
    }
    lower_at(lower, vyre_node_spot(&node));
    vyre_build_return(lower->builder, function.result_values, lower->values.items + base);
    lower->values.count = base;
}

/* What could not be read may have been the values of its branch, which are then not missed. */
void lower_unread(vyre_lower *lower) {
    const vyre_lower_block *target = find_target(lower, VYRE_NODE_YIELD);
    if (!target || !lower_has_mistakes(lower) || !vyre_build_reachable(lower->builder)) {
        return;
    }
    size_t base = lower->values.count;
    if (!lower_push_none(lower, count_results(lower, target))) {
        return;
    }
    vyre_build_yield(lower->builder, (uint32_t)(lower->values.count - base),
                     lower->values.items + base);
    lower->values.count = base;
}

void lower_jump(vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number);
    if (lower_labelled_jump(lower, node)) {
        return;
    }
    vyre_lower_block *found = find_target(lower, (vyre_node_kind)node.kind);
    vyre_lower_block target = found ? *found : (vyre_lower_block){0};
    vyre_spot spot = vyre_node_spot(&node);
    size_t base = lower->values.count;
    if (node.kind == VYRE_NODE_RETURN && !found && lower->function != VYRE_NONE) {
        lower_return(lower, node);
        return;
    }
    uint32_t count = vyre_parser_count(&lower->parser, node.a);
    bool is_program_value = node.kind == VYRE_NODE_RETURN && !found && count;
    if (is_program_value) {
        lower_report(lower, spot, 506, "store it in a buffer instead",
                     "a program returns no value");
    } else if (node.kind != VYRE_NODE_RETURN && !found) {
        bool is_yield = node.kind == VYRE_NODE_YIELD;
        lower_report(lower, spot, 504,
                     is_yield ? "yield directly in a branch of `let a = if ... else ...;`"
                              : "use it inside a loop of the same function",
                     is_yield                       ? "`yield` is outside an `if` that gives values"
                     : node.kind == VYRE_NODE_BREAK ? "`break` is outside a loop"
                                                    : "`continue` is outside a loop");
        push_values(lower, node.a, 0, 0);
        lower->values.count = base;
        return;
    }
    bool to_next_iteration = node.kind == VYRE_NODE_CONTINUE ||
                             (node.kind == VYRE_NODE_BREAK && target.kind == VYRE_NODE_FOR);
    push_values(lower, node.a, to_next_iteration ? target.carried : target.results,
                to_next_iteration ? target.carried_count
                : target.gives    ? target.result_count
                                  : 0);
    lower_at(lower, spot);
    count = is_program_value ? 0 : (uint32_t)(lower->values.count - base);
    const uint32_t *values = lower->values.items + base;
    switch (node.kind) {
    case VYRE_NODE_BREAK: vyre_build_break(lower->builder, count, values); break;
    case VYRE_NODE_CONTINUE: vyre_build_continue(lower->builder, count, values); break;
    case VYRE_NODE_YIELD: vyre_build_yield(lower->builder, count, values); break;
    default: vyre_build_return(lower->builder, count, values); break;
    }
    lower->values.count = base;
}
