#include "conform/generate.h"

#include "ir/builder.h"
#include "ir/rule.h"

vyre_type generate_type(generator *g) {
    return (vyre_type)(VYRE_TYPE_BOOL + (int)generate_below(g, VYRE_TYPE_COUNT - VYRE_TYPE_BOOL));
}

vyre_type generate_array_type(generator *g) {
    if (generate_one_in(g, 3)) {
        return VYRE_TYPE_U32;
    }
    vyre_type type = generate_one_in(g, 4) ? VYRE_TYPE_F32 : generate_type(g);
    return type == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : type;
}

void generate_remember(generator *g, uint32_t value, level same) {
    if (value != VYRE_NONE && g->value_count < MOST_VALUES) {
        g->values[g->value_count++] = (pool_value){value, vyre_build_type(g->b, value), same};
    }
}

/* Bits that are likely to be special in some way. */
static uint64_t random_bits(generator *g, vyre_type type) {
    uint32_t width = vyre_type_bytes(type) * 8;
    uint64_t bits = vyre_random(&g->random), top = (uint64_t)1 << (width - 1);
    if (type == VYRE_TYPE_BOOL) {
        return bits & 1;
    }
    switch (generate_below(g, 7)) {
    case 0: return bits;
    case 1: return top | (bits & 3);
    case 2: return top - 1 - (bits & 1);
    case 3: return ~(bits & 7);
    default: break;
    }
    switch (type) { /* small numbers */
    case VYRE_TYPE_F16: return (bits & 0x83ff) | (bits & 1 ? 0x3c00 : 0x4000);
    case VYRE_TYPE_BF16: return (bits & 0x807f) | (bits & 1 ? 0x3f80 : 0x4000);
    case VYRE_TYPE_F32: return (bits & 0x807fffff) | (bits & 1 ? 0x3f800000 : 0x41000000);
    case VYRE_TYPE_F64: return (bits & 0x800fffffffffffff) | 0x3ff0000000000000;
    default: return bits & 15;
    }
}

static uint32_t constant(generator *g, vyre_type type) {
    return vyre_build_const(g->b, type, random_bits(g, type));
}

uint32_t generate_pick(generator *g, vyre_type type, level same) {
    for (uint32_t tries = 0; tries < 12 && g->value_count; tries++) {
        /* New ones are more interesting than old ones. */
        uint32_t from = generate_one_in(g, 2) && g->value_count > 12 ? g->value_count - 12 : 0;
        const pool_value *v = &g->values[from + generate_below(g, g->value_count - from)];
        if (v->same < same) {
            continue;
        }
        if (v->type == type) {
            return v->value;
        }
        if (tries > 6 && v->type != VYRE_TYPE_BOOL) {
            return vyre_build_convert(g->b, type, v->value);
        }
    }
    if (same == LEVEL_LANE && g->variable_count && generate_one_in(g, 2)) {
        uint32_t i = generate_below(g, g->variable_count);
        if (g->variable_types[i] == type) {
            return vyre_build_get(g->b, g->variables[i]);
        }
    }
    return constant(g, type);
}

uint32_t generate_index(generator *g, uint32_t resource, level same) {
    static const vyre_type types[] = {VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_U64,
                                      VYRE_TYPE_U8,  VYRE_TYPE_I64, VYRE_TYPE_U16};
    uint32_t index =
        generate_pick(g, generate_one_in(g, 3) ? types[generate_below(g, 6)] : VYRE_TYPE_U32, same);
    if (vyre_build_type(g->b, index) == VYRE_TYPE_U32 && !generate_one_in(g, 5)) {
        index = vyre_build_op(g->b, VYRE_OP_REM, index, vyre_build_len(g->b, resource), VYRE_NONE);
    }
    return index;
}

level generate_level_of(const generator *g, uint32_t value) {
    for (uint32_t i = 0; i < g->value_count; i++) {
        if (g->values[i].value == value) {
            return g->values[i].same;
        }
    }
    return LEVEL_LANE;
}

/* The result of an operation on random operands. */
void generate_operation(generator *g) {
    static const vyre_op operations[] = {
#define PURE(name, number, text, shape, rule, effects, cost, doc)                                  \
    VYRE_RULE_##rule > VYRE_RULE_OWN && (effects) == 0 ? VYRE_OP_##name : VYRE_OP_NONE,
        VYRE_OPS(PURE)
#undef PURE
    };
    enum { MESSAGES = 2 }; /* the last of the table, for which nothing is drawn */
    vyre_op op = VYRE_OP_NONE;
    while (op == VYRE_OP_NONE) {
        op = operations[generate_below(g, sizeof operations / sizeof *operations - MESSAGES)];
        if (vyre_op_info_of(op)->rule == VYRE_RULE_ELEMENTARY && !generate_one_in(g, 8)) {
            op = VYRE_OP_NONE;
        }
    }
    uint32_t rule = vyre_op_info_of(op)->rule, arity = vyre_rule_arity(op);
    vyre_type type, wanted, types[3], result;
    vyre_rule_error error;
    do {
        /* What there are values of already, so that they come together. */
        bool known = g->value_count && !generate_one_in(g, 4);
        type = known ? g->values[generate_below(g, g->value_count)].type : generate_type(g);
        wanted = generate_type(g);
        for (uint32_t i = 0; i < 3; i++) {
            types[i] = type;
        }
        if (rule == VYRE_RULE_SHIFT) {
            types[1] = VYRE_TYPE_U32;
        } else if (rule == VYRE_RULE_SELECT) {
            types[0] = VYRE_TYPE_BOOL;
        }
    } while (!vyre_rule_check(op, 0, wanted, 32, types, &result, &error));
    level wish = generate_one_in(g, 4) ? LEVEL_GRID : LEVEL_LANE, same = LEVEL_GRID;
    uint32_t operands[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    for (uint32_t i = 0; i < arity; i++) {
        operands[i] = generate_pick(g, types[i], wish);
        same = wish == LEVEL_GRID ? same : generate_lower(same, generate_level_of(g, operands[i]));
    }
    generate_remember(g, builder_op(g->b, op, wanted, operands), same);
}

static void generate_matrix(generator *g) {
    uint32_t operands[VYRE_MATRIX_OPERANDS], results[VYRE_MATRIX_C];
    for (uint32_t i = 0; i < VYRE_MATRIX_OPERANDS; i++) {
        bool is_word = i < VYRE_MATRIX_A + VYRE_MATRIX_B;
        operands[i] = generate_pick(g, is_word ? VYRE_TYPE_U32 : VYRE_TYPE_I32, LEVEL_LANE);
    }
    vyre_build_matrix_mad(g->b, operands, results);
    for (uint32_t i = 0; i < VYRE_MATRIX_C; i++) {
        if (!generate_one_in(g, 4)) {
            generate_remember(g, results[i], LEVEL_LANE);
        }
    }
}

void generate_subgroup_operation(generator *g) {
    static const vyre_op moves[] = {VYRE_OP_SHUFFLE, VYRE_OP_SHUFFLE_XOR, VYRE_OP_SHUFFLE_UP,
                                    VYRE_OP_SHUFFLE_DOWN};
    static const vyre_op votes[] = {VYRE_OP_BALLOT, VYRE_OP_ANY, VYRE_OP_ALL};
    static const vyre_op combines[] = {VYRE_OP_REDUCE, VYRE_OP_SCAN, VYRE_OP_SCAN_EXCLUSIVE};
    vyre_type type = generate_type(g), result;
    uint32_t lane = vyre_build_u32(g->b, generate_below(g, g->subgroup));
    switch (generate_below(g, g->subgroup == VYRE_MATRIX_LANES ? 5 : 4)) {
    case 0: {
        vyre_op op = moves[generate_below(g, 4)];
        lane = generate_one_in(g, 2) ? lane : generate_pick(g, VYRE_TYPE_U32, LEVEL_LANE);
        uint32_t value = generate_pick(g, type, LEVEL_LANE);
        generate_remember(g, vyre_build_op(g->b, op, value, lane, VYRE_NONE), LEVEL_LANE);
        break;
    }
    case 1: {
        uint32_t value = generate_pick(g, type, LEVEL_LANE);
        value = vyre_build_op(g->b, VYRE_OP_BROADCAST, value, lane, VYRE_NONE);
        generate_remember(g, value, LEVEL_SUBGROUP);
        break;
    }
    case 2: {
        vyre_op op = votes[generate_below(g, 3)];
        uint32_t value = generate_pick(g, VYRE_TYPE_BOOL, LEVEL_LANE);
        value = vyre_build_op(g->b, op, value, VYRE_NONE, VYRE_NONE);
        generate_remember(g, value, LEVEL_SUBGROUP);
        break;
    }
    case 4: generate_matrix(g); break;
    default: {
        vyre_combination how = (vyre_combination)generate_below(g, VYRE_COMBINE_COUNT);
        vyre_op op = combines[generate_below(g, 3)];
        vyre_rule_error error;
        while (!vyre_rule_check(op, how, type, 32, &type, &result, &error)) {
            type = generate_type(g);
        }
        uint32_t value = vyre_build_combine(g->b, op, how, generate_pick(g, type, LEVEL_LANE));
        generate_remember(g, value, op == VYRE_OP_REDUCE ? LEVEL_SUBGROUP : LEVEL_LANE);
    }
    }
}

uint32_t generate_digest(generator *g, vyre_type type) {
    uint32_t sum = generate_pick(g, type, LEVEL_LANE);
    if (!(vyre_type_class_of(type) & VYRE_CLASS_INTEGER)) {
        return sum;
    }
    static const vyre_type of_bytes[] = {
        [1] = VYRE_TYPE_U8, [2] = VYRE_TYPE_U16, [4] = VYRE_TYPE_U32, [8] = VYRE_TYPE_U64};
    for (uint32_t i = 0; i < g->value_count; i++) {
        const pool_value *v = &g->values[i];
        uint32_t bits = v->value;
        if (vyre_type_class_of(v->type) == VYRE_CLASS_FLOAT) {
            bits = vyre_build_bitcast(g->b, of_bytes[vyre_type_bytes(v->type)], bits);
        }
        bits = vyre_build_convert(g->b, type, bits);
        sum = vyre_build_op(g->b, VYRE_OP_XOR, sum, bits, VYRE_NONE);
    }
    return sum;
}
