#include <inttypes.h>
#include <stdio.h>

#include "ir/lookup.h"
#include "text/lower.h"
#include "text/lower_let.h"

enum { FIRST, END, STEP };

typedef struct range {
    const uint32_t *nodes; /* VYRE_NONE for a step that is not written */
    vyre_operand operands[3];
    vyre_type type;
    bool down;
} range;

static vyre_spot spot_of(const vyre_lower *lower, const range *r, uint32_t part) {
    return lower_spot(lower, r->nodes[part] == VYRE_NONE ? r->nodes[FIRST] : r->nodes[part]);
}

/* One integer type for all, that of the first number that has one, else u32. */
static void read_operands(vyre_lower *lower, range *r) {
    vyre_type type = VYRE_TYPE_VOID;
    for (uint32_t i = 0; i < 3; i++) {
        if (r->nodes[i] == VYRE_NONE) {
            r->operands[i] = vyre_plain_operand((vyre_plain){.number = 1});
            continue;
        }
        r->operands[i] = lower_expression(lower, r->nodes[i], type ? type : VYRE_TYPE_U32);
        if (!type && r->operands[i].kind == VYRE_OPERAND_VALUE) {
            type = (vyre_type)r->operands[i].type;
        }
    }
    lower_adopt_same(lower, r->nodes, r->operands, 3, 7);
    for (uint32_t i = 3; i > 0; i--) {
        type = r->operands[i - 1].kind == VYRE_OPERAND_VALUE ? (vyre_type)r->operands[i - 1].type
                                                             : type;
    }
    r->type = type ? type : VYRE_TYPE_U32;
}

/* The number, extended to 64 bits, that a part of the range is known to be. */
static bool known_number(vyre_lower *lower, const range *r, uint32_t part, uint64_t *out) {
    vyre_operand operand = r->operands[part];
    if (operand.kind == VYRE_OPERAND_VALUE) {
        operand = lower_evaluate(lower, r->nodes[part], r->type);
    }
    vyre_plain plain = vyre_operand_plain(operand);
    if (operand.kind == VYRE_OPERAND_VALUE && operand.type == r->type) {
        plain = vyre_plain_from(r->type, operand.value);
    } else if (operand.kind != VYRE_OPERAND_PLAIN) {
        return false;
    }
    *out = plain.negative ? 0 - plain.number : plain.number;
    uint64_t bits;
    return plain.real ? false : vyre_plain_fit(lower->unit->source.text, &plain, r->type, &bits);
}

/* A step by its bits, as a program is printed with, is no number that is written. */
static bool is_number(vyre_lower *lower, uint32_t node) {
    return node != VYRE_NONE && lower_node(lower, node).kind != VYRE_NODE_BITS &&
           lower_is_constant(lower, node);
}

/* A constant negative step counts down by its magnitude. */
static void turn_step(vyre_lower *lower, range *r) {
    vyre_operand *step = &r->operands[STEP];
    if (step->kind == VYRE_OPERAND_PLAIN) {
        bool is_signed = vyre_type_class_of(r->type) == VYRE_CLASS_SIGNED;
        r->down = step->negative && !step->real && (!step->wraps || is_signed);
        step->negative = step->negative && !r->down;
        return;
    }
    uint64_t number;
    if (step->kind != VYRE_OPERAND_VALUE || vyre_type_class_of(r->type) != VYRE_CLASS_SIGNED ||
        !is_number(lower, r->nodes[STEP]) || !known_number(lower, r, STEP, &number) ||
        !(number >> 63)) {
        return;
    }
    r->down = true;
    *step = vyre_plain_operand((vyre_plain){.number = 0 - number});
}

/* The number that stands in the text at a part, NULL where something else does. */
static const uint64_t *written(vyre_lower *lower, const range *r, uint32_t part, uint64_t *out) {
    uint32_t node = r->nodes[part];
    bool is_literal = node != VYRE_NONE && lower_node(lower, node).kind == VYRE_NODE_NUMBER;
    return is_literal && known_number(lower, r, part, out) ? out : NULL;
}

static void show(const range *r, const uint64_t *number, char out[24]) {
    bool is_signed = vyre_type_class_of(r->type) == VYRE_CLASS_SIGNED;
    if (!number) {
        snprintf(out, 24, "%s", vyre_type_name(r->type));
    } else if (is_signed) {
        snprintf(out, 24, "%" PRId64, (int64_t)*number);
    } else {
        snprintf(out, 24, "%" PRIu64, *number);
    }
}

/* Reports a range that cannot run, whatever the values are that are not written as numbers. */
static void check_range(vyre_lower *lower, const range *r) {
    uint64_t numbers[3];
    const uint64_t *first = written(lower, r, FIRST, &numbers[FIRST]);
    const uint64_t *end = written(lower, r, END, &numbers[END]);
    const uint64_t *step = written(lower, r, STEP, &numbers[STEP]);
    if (step && !*step) {
        lower_report(lower, spot_of(lower, r, STEP), 508, "write a step that is not 0",
                     "the range never runs: its step is 0");
        return;
    }
    if (!vyre_range_never_runs(r->type, first, end, r->down)) {
        return;
    }
    char from[24], to[24];
    show(r, first, from);
    show(r, end, to);
    vyre_spot spot = spot_of(lower, r, FIRST);
    if (first && end && *first == *end) {
        lower_report(lower, spot, 508,
                     "remove the loop, or write another end; a range excludes its end",
                     "the range never runs: it ends where it starts, at %s", from);
        return;
    }
    lower_report(lower, spot, 508,
                 r->down ? "remove the sign of the step to count up, or swap the numbers"
                         : "write `step -1` to count down, or swap the numbers",
                 !first ? "the range never runs: no %s is %s %s"
                 : end  ? "the range never runs: %s is not %s %s"
                        : "the range never runs: %s is not %s any %s",
                 from, r->down ? "above" : "below", to);
}

/* The builder's numbers; VYRE_NONE for a mistake. */
static void settle(vyre_lower *lower, range *r, uint32_t values[3]) {
    for (uint32_t i = 0; i < 3; i++) {
        bool valid = lower_settle(lower, &r->operands[i], r->type, spot_of(lower, r, i));
        values[i] = valid ? (uint32_t)r->operands[i].value : VYRE_NONE;
    }
}

bool lower_range(vyre_lower *lower, const uint32_t nodes[3], uint32_t values[3]) {
    range r = {.nodes = nodes};
    read_operands(lower, &r);
    if (vyre_type_class_of(r.type) & VYRE_CLASS_INTEGER) {
        turn_step(lower, &r);
        check_range(lower, &r);
    }
    settle(lower, &r, values);
    if (!r.down) {
        return false;
    }
    /* ~ reverses the order of every integer type, so counting up between complements counts down
     * between the numbers. */
    for (uint32_t i = FIRST; i <= END; i++) {
        values[i] = lower_complement(lower, values[i], spot_of(lower, &r, i));
    }
    return true;
}

uint32_t lower_complement(vyre_lower *lower, uint32_t value, vyre_spot spot) {
    lower_at(lower, spot);
    return value == VYRE_NONE
               ? VYRE_NONE
               : vyre_build_op(lower->builder, VYRE_OP_NOT, value, VYRE_NONE, VYRE_NONE);
}
