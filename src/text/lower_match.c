/* `match`: a chain of `if`s on one value, each in the `else` of the one before. */
#include "text/lower_match.h"

enum { MOST_CASES = 100 }; /* as many levels of `else` */

static void report_many(vyre_lower *lower, vyre_spot spot) {
    lower_report(lower, spot, 701, "look the number up in a constant array, or match parts of it",
                 "the `match` has more than %d cases", MOST_CASES);
}

static vyre_lower_block *top(vyre_lower *lower) {
    return &lower->blocks.items[lower->blocks.count - 1];
}

/* The value to match, an integer; VYRE_NONE after a report. */
static uint32_t lower_matched(vyre_lower *lower, uint32_t node, vyre_type *out_type) {
    uint32_t value = lower_value(lower, node, VYRE_TYPE_VOID, out_type);
    if (value != VYRE_NONE && !(vyre_type_class_of(*out_type) & VYRE_CLASS_INTEGER)) {
        lower_report(lower, lower_spot(lower, node), 301,
                     *out_type == VYRE_TYPE_BOOL ? "write `if`"
                                                 : "convert it to an integer, or write `if`",
                     "`match` takes an integer, found %s", vyre_type_name(*out_type));
        value = VYRE_NONE;
        *out_type = VYRE_TYPE_VOID;
    }
    return value;
}

/* Notes a number of a case; false, after a report, if it has come before. */
static bool note_case(vyre_lower *lower, size_t first, uint64_t number, vyre_spot spot) {
    for (size_t i = first; i < lower->cases.count; i++) {
        if (lower->cases.items[i] == number) {
            lower_report(lower, spot, 509, "remove one of them",
                         "the number is a case of this `match` already");
            return false;
        }
    }
    if (!vyre_vec_push(&lower->cases, number)) {
        lower_no_memory(lower);
        return false;
    }
    return true;
}

/* Gives the number of a case the type of the value, if that is known. */
static void settle_case(vyre_lower *lower, vyre_operand *number, vyre_type type, vyre_spot spot) {
    vyre_builder *builder = lower->builder;
    lower->builder = NULL;
    if (type != VYRE_TYPE_VOID) {
        lower_check_type(lower, number, type, "the case", VYRE_NONE, spot);
    }
    lower->builder = builder;
    lower_spoil(lower);
}

/* Whether the value is one of the constants of a case; VYRE_NONE after a report. */
static uint32_t lower_condition(vyre_lower *lower, uint32_t list, uint32_t value, vyre_type type,
                                size_t first) {
    uint32_t count = vyre_parser_count(&lower->parser, list), all = VYRE_NONE;
    bool valid = value != VYRE_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = vyre_parser_item(&lower->parser, list, i);
        vyre_spot spot = lower_spot(lower, node);
        if (!lower_is_constant(lower, node)) {
            lower_report(lower, spot, 307, "use numbers and constants, or write `if`",
                         "a case is not known at compile time");
            valid = false;
            continue;
        }
        vyre_operand number = lower_evaluate(lower, node, type);
        settle_case(lower, &number, type, spot);
        if (number.kind != VYRE_OPERAND_VALUE || value == VYRE_NONE ||
            !note_case(lower, first, number.value, spot)) {
            valid = false;
            continue;
        }
        lower_at(lower, spot);
        uint32_t is_it =
            vyre_build_op(lower->builder, VYRE_OP_EQ, value,
                          vyre_build_const(lower->builder, type, number.value), VYRE_NONE);
        all = all == VYRE_NONE ? is_it
                               : vyre_build_op(lower->builder, VYRE_OP_OR, all, is_it, VYRE_NONE);
    }
    return valid ? all : VYRE_NONE;
}

void lower_match(vyre_lower *lower, vyre_node node, vyre_lower_block block) {
    vyre_type type = VYRE_TYPE_VOID;
    block.matched = lower_matched(lower, node.a, &type);
    block.matched_type = (uint8_t)type;
    block.cases = lower->cases.count;
    lower_open(lower, block);
}

void lower_case(vyre_lower *lower, vyre_node node) {
    vyre_lower_block match = *top(lower);
    if (match.kind != VYRE_NODE_MATCH) {
        return;
    }
    vyre_spot spot = vyre_node_spot(&node);
    bool is_else = node.a == VYRE_NONE;
    bool is_one_too_many = match.branches >= MOST_CASES && !is_else;
    if (is_one_too_many && !match.has_else) {
        report_many(lower, spot);
    }
    if (match.branches && !match.has_else) {
        vyre_build_else(lower->builder);
    }
    bool reachable = vyre_build_reachable(lower->builder);
    if (is_one_too_many) {
        top(lower)->has_else = true;
    } else if (!is_else) {
        uint32_t condition = lower_condition(lower, node.a, match.matched,
                                             (vyre_type)match.matched_type, match.cases);
        lower_at(lower, spot);
        vyre_build_if(lower->builder, condition);
    } else if (!match.branches) {
        lower_report(lower, spot, 505, "write a case in front of it, or remove the `match`",
                     "`else` is the only case");
        vyre_build_if(lower->builder, VYRE_NONE);
    }
    top(lower)->branches += is_else ? !match.branches : !is_one_too_many;
    top(lower)->has_else |= is_else && match.branches;
    lower_open(lower, (vyre_lower_block){.kind = VYRE_NODE_CASE,
                                         .warned = match.warned || !reachable,
                                         .gives = match.gives,
                                         .results = match.results,
                                         .result_count = match.result_count});
}

/* Ends all `if`s. What an inner one gives, the outer one does. */
void lower_match_end(vyre_lower *lower, const vyre_lower_block *match, uint32_t count) {
    size_t base = lower->values.count - count;
    for (uint32_t i = match->branches; i > 0; i--) {
        vyre_build_if_end(lower->builder, count, lower->values.items + base);
        if (i > 1 && match->gives) {
            vyre_build_yield(lower->builder, count, lower->values.items + base);
        }
    }
    lower->cases.count = match->cases;
}

/* Values */

static vyre_node case_of(const vyre_lower *lower, uint32_t list, uint32_t index) {
    return lower_node(lower, vyre_parser_item(&lower->parser, list, index));
}

/* The conditions of all cases onto `values`, 0 for `else`; false after a report. */
static bool push_conditions(vyre_lower *lower, vyre_node node) {
    vyre_type type = VYRE_TYPE_VOID;
    uint32_t value = lower_matched(lower, node.a, &type);
    uint32_t count = vyre_parser_count(&lower->parser, node.b);
    size_t cases = lower->cases.count;
    bool valid = true;
    for (uint32_t i = 0; i < count; i++) {
        vyre_node here = case_of(lower, node.b, i);
        bool is_else = here.a == VYRE_NONE;
        if (is_else && !i) {
            lower_report(lower, vyre_node_spot(&here), 505,
                         "write a case in front of it, or remove the `match`",
                         "`else` is the only case");
            valid = false;
        }
        uint32_t condition = is_else ? 0 : lower_condition(lower, here.a, value, type, cases);
        valid &= condition != VYRE_NONE && lower_push(lower, condition);
    }
    lower->cases.count = cases;
    return valid;
}

/* Whether none of the cases that are still to come is meant, but `else`, the last one. */
static uint32_t build_else_condition(vyre_lower *lower, size_t first, uint32_t count) {
    vyre_builder *builder = lower->builder;
    uint32_t any = VYRE_NONE;
    for (uint32_t i = 0; i + 1 < count; i++) {
        uint32_t condition = lower->values.items[first + i];
        any = any == VYRE_NONE ? condition
              : condition == VYRE_NONE
                  ? any
                  : vyre_build_op(builder, VYRE_OP_OR, any, condition, VYRE_NONE);
    }
    return vyre_build_op(builder, VYRE_OP_NOT, any, VYRE_NONE, VYRE_NONE);
}

/* Lowers one value and gives it to its branch; its type is that of all if they have none yet. */
static void give(vyre_lower *lower, uint32_t node, vyre_value_type *type) {
    size_t base = lower->values.count;
    vyre_operand value = lower_typed(lower, node, *type, "the value", VYRE_NONE);
    lower_push_operand(lower, value, *type);
    lower_at(lower, lower_spot(lower, node));
    vyre_build_yield(lower->builder, (uint32_t)(lower->values.count - base),
                     lower->values.items + base);
    lower->values.count = base;
    *type = *type || value.kind < VYRE_OPERAND_VALUE ? *type : value.type;
}

/* A case whose value is a plain number comes behind the others, whose type it takes: cases exclude
 * one another, so that their order does not show. The last of all needs no condition. Conditions
 * stand in `values` from `base` on. */
static void build_cases(vyre_lower *lower, uint32_t list, size_t base, vyre_value_type *type) {
    uint32_t count = vyre_parser_count(&lower->parser, list), opened = 0;
    for (uint32_t turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < count; i++) {
            vyre_node here = case_of(lower, list, i);
            bool is_late = !*type && lower_is_constant(lower, here.b);
            bool has_come = lower->values.items[base + i] == VYRE_NONE;
            if (has_come || (!turn && is_late)) {
                continue;
            }
            if (opened + 1 < count) {
                lower_at(lower, vyre_node_spot(&here));
                vyre_build_if(lower->builder, here.a == VYRE_NONE
                                                  ? build_else_condition(lower, base, count)
                                                  : lower->values.items[base + i]);
            }
            lower->values.items[base + i] = VYRE_NONE;
            give(lower, here.b, type);
            opened++;
            if (opened < count) {
                vyre_build_else(lower->builder);
            }
        }
    }
}

vyre_operand lower_match_value(vyre_lower *lower, vyre_node node, vyre_value_type expected) {
    if (!lower->builder) {
        lower_report(lower, vyre_node_spot(&node), 307,
                     "use numbers, other constants and operators on them",
                     "the value of a `match` is not known at compile time");
        return lower_poison();
    }
    size_t base = lower->values.count;
    uint32_t count = vyre_parser_count(&lower->parser, node.b);
    if (count > MOST_CASES + 1) {
        report_many(lower, vyre_node_spot(&node));
        return lower_poison();
    }
    if (!push_conditions(lower, node)) {
        lower->values.count = base;
        return lower_poison();
    }
    build_cases(lower, node.b, base, &expected);
    lower->values.count = base;
    uint32_t width = lower_width(lower, expected);
    if (!lower_push_none(lower, width)) {
        return lower_poison();
    }
    lower_at(lower, vyre_node_spot(&node));
    for (uint32_t i = count - 1; i > 0; i--) {
        vyre_build_if_end(lower->builder, width, lower->values.items + base);
        if (i > 1) {
            vyre_build_yield(lower->builder, width, lower->values.items + base);
        }
    }
    vyre_operand result = lower_gather(lower, expected, base);
    lower->values.count = base;
    return expected ? result : lower_poison();
}
