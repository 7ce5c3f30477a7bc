/* Labels of loops. A jump to one sets a variable of the labelled loop and leaves the innermost one;
 * behind each loop on the way the variable says how to go on. */
#include "text/lower_match.h"

enum { STAY, BREAK, CONTINUE };

static bool is_loop(const vyre_lower_block *block) {
    return block->kind == VYRE_NODE_FOR || block->kind == VYRE_NODE_LOOP ||
           block->kind == VYRE_NODE_WHILE;
}

void lower_label(vyre_lower *lower, vyre_node node) {
    lower->label = lower_node(lower, node.a);
    if (lower->label.kind != VYRE_NODE_NAME) {
        return;
    }
    vyre_name_text text;
    const char *name = lower_name(lower, lower->label.a, &text);
    const vyre_name_binding *found = vyre_names_find(&lower->unit->names, lower->label.a);
    if (found && found->kind != VYRE_BINDING_POISON) {
        lower_report(lower, vyre_node_spot(&lower->label), 202, "rename one of them",
                     "`%s` is %s already, declared in line %u", name,
                     lower_kind_of(lower, lower->label.a), found->line);
    }
}

void lower_take_label(vyre_lower *lower, vyre_lower_block *block) {
    vyre_node label = lower->label;
    lower->label = (vyre_node){0};
    if (label.kind != VYRE_NODE_NAME || !is_loop(block)) {
        return;
    }
    vyre_name_text text;
    lower_at(lower, vyre_node_spot(&label));
    block->label = label;
    block->leaving = vyre_build_var(lower->builder, lower_name(lower, label.a, &text),
                                    vyre_build_u32(lower->builder, STAY));
}

/* The labelled loop around this place that bears a name: its number plus 1, 0 if there is none. */
static size_t find_label(const vyre_lower *lower, uint32_t symbol) {
    for (size_t i = lower->blocks.count; i > lower->frame; i--) {
        const vyre_lower_block *block = &lower->blocks.items[i - 1];
        if (block->kind == VYRE_NODE_INLINE) {
            return 0;
        }
        if (is_loop(block) && block->label.kind == VYRE_NODE_NAME && block->label.a == symbol) {
            return i;
        }
    }
    return 0;
}

/* The innermost loop around this place, by the same numbers. */
static size_t find_loop(const vyre_lower *lower) {
    for (size_t i = lower->blocks.count; i > lower->frame; i--) {
        if (lower->blocks.items[i - 1].kind == VYRE_NODE_INLINE) {
            return 0;
        }
        if (is_loop(&lower->blocks.items[i - 1])) {
            return i;
        }
    }
    return 0;
}

/* Whether a name can only be a label: the loop takes no value, and nothing has that name. */
static bool is_lost_label(const vyre_lower *lower, vyre_node name) {
    size_t innermost = find_loop(lower);
    const vyre_lower_block *block = innermost ? &lower->blocks.items[innermost - 1] : NULL;
    return block && !block->gives && !block->carried_count &&
           lower->unit->names.symbols.items[name.a].item == VYRE_NONE &&
           lower_word(lower, name.a)->class_of != VYRE_WORD_OP;
}

static void build_jump(vyre_lower *lower, bool is_break) {
    if (is_break) {
        vyre_build_break(lower->builder, 0, NULL);
    } else {
        vyre_build_continue(lower->builder, 0, NULL);
    }
}

/* False, after a report, if a loop on the way takes values that the jump does not give. */
static bool check_way(vyre_lower *lower, size_t target, vyre_spot spot) {
    for (size_t i = lower->blocks.count; i >= target; i--) {
        const vyre_lower_block *block = &lower->blocks.items[i - 1];
        if (is_loop(block) && (block->gives || block->carried_count)) {
            lower_report(lower, spot, 504, "assign to variables instead of giving values",
                         "a jump to a label cannot leave a loop that gives or carries values");
            return false;
        }
    }
    return true;
}

bool lower_labelled_jump(vyre_lower *lower, vyre_node node) {
    bool is_jump = node.kind == VYRE_NODE_BREAK || node.kind == VYRE_NODE_CONTINUE;
    if (!is_jump || vyre_parser_count(&lower->parser, node.a) != 1) {
        return false;
    }
    vyre_node name = lower_node(lower, vyre_parser_item(&lower->parser, node.a, 0));
    const vyre_name_binding *found =
        name.kind == VYRE_NODE_NAME ? vyre_names_find(&lower->unit->names, name.a) : NULL;
    if (name.kind != VYRE_NODE_NAME || (found && found->kind != VYRE_BINDING_POISON)) {
        return false;
    }
    vyre_name_text text;
    size_t target = find_label(lower, name.a), inner = find_loop(lower);
    if (!target && !found && is_lost_label(lower, name)) {
        lower_report(lower, vyre_node_spot(&name), 504,
                     "name a loop of this function around the jump, as in `outer: for i in 0..n`",
                     "no enclosing loop has the label `%s`", lower_name(lower, name.a, &text));
        return true;
    }
    if (!target) {
        return false;
    }
    vyre_lower_block *loop = &lower->blocks.items[target - 1];
    bool is_break = node.kind == VYRE_NODE_BREAK, is_inner = target == inner;
    loop->is_named = true;
    if (!check_way(lower, target, vyre_node_spot(&node))) {
        return true;
    }
    lower_at(lower, vyre_node_spot(&node));
    if (!is_inner) {
        loop->has_break |= is_break;
        loop->has_continue |= !is_break;
        for (size_t i = target + 1; i <= inner; i++) {
            lower->blocks.items[i - 1].is_passed = true;
        }
        vyre_build_set(lower->builder, loop->leaving,
                       vyre_build_u32(lower->builder, is_break ? BREAK : CONTINUE));
    }
    build_jump(lower, is_break || !is_inner);
    return true;
}

static void warn_label(vyre_lower *lower, const vyre_lower_block *block) {
    vyre_name_text text;
    if (block->label.kind == VYRE_NODE_NAME && !block->is_named && !lower->silent &&
        !lower_has_mistakes(lower)) {
        lower_report(lower, vyre_node_spot(&block->label), 801, "remove it",
                     "the label `%s` is never used", lower_name(lower, block->label.a, &text));
    }
}

/* if leaving == way { jump } */
static void go_on(vyre_lower *lower, const vyre_lower_block *target, uint32_t way, bool is_there) {
    vyre_builder *builder = lower->builder;
    uint32_t leaving = vyre_build_get(builder, target->leaving);
    vyre_build_if(builder, vyre_build_op(builder, VYRE_OP_EQ, leaving, vyre_build_u32(builder, way),
                                         VYRE_NONE));
    if (is_there && way == CONTINUE) {
        vyre_build_set(builder, target->leaving, vyre_build_u32(builder, STAY));
    }
    build_jump(lower, way == BREAK || !is_there);
    vyre_build_if_end(builder, 0, NULL);
}

void lower_labels_end(vyre_lower *lower, const vyre_lower_block *block) {
    warn_label(lower, block);
    size_t parent = find_loop(lower);
    lower_at(lower, lower->end);
    for (size_t i = parent; block->is_passed && i > lower->frame; i--) {
        vyre_lower_block target = lower->blocks.items[i - 1];
        if (target.kind == VYRE_NODE_INLINE) {
            return;
        }
        if (is_loop(&target) && target.has_break) {
            go_on(lower, &target, BREAK, i == parent);
        }
        if (is_loop(&target) && target.has_continue) {
            go_on(lower, &target, CONTINUE, i == parent);
        }
    }
}
