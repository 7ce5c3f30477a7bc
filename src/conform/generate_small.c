/* Small programs: each is about one kind of rule, and the kinds and the operations of each take
 * turns, so that a few hundred seeds come by all of them. What goes in are the numbers at which
 * rules differ. */
#include "base/status.h"
#include "conform/generate.h"
#include "ir/builder.h"
#include "ir/rule.h"

static vyre_type nth_type(uint32_t n) {
    return (vyre_type)(VYRE_TYPE_BOOL + (int)(n % (VYRE_TYPE_COUNT - VYRE_TYPE_BOOL)));
}

/* The same for arrays, which have no bool. */
static vyre_type nth_array_type(uint32_t n) {
    return nth_type(1 + n % (VYRE_TYPE_COUNT - VYRE_TYPE_BOOL - 1));
}

static uint32_t op2(generator *g, vyre_op op, uint32_t a, uint32_t b) {
    return vyre_build_op(g->b, op, a, b, VYRE_NONE);
}

static uint32_t number(generator *g, uint32_t value) {
    return vyre_build_u32(g->b, value);
}

/* Elements that have now and then to do with those of an argument of the same type, or NULL. */
static uint8_t *fill(generator *g, const char *name, vyre_type type, uint32_t count,
                     const uint8_t *others) {
    uint8_t *data = generate_argument(g, name, type, count);
    for (uint32_t i = 0; data && i < count; i++) {
        size_t at = (size_t)i * vyre_type_bytes(type);
        generate_special(g, type, others ? others + at : NULL, data + at);
    }
    return data;
}

static uint32_t input(generator *g, const char *name, vyre_type type, uint32_t count) {
    uint32_t buffer = vyre_build_buffer(g->b, name, VYRE_ACCESS_IN, type, VYRE_NONE);
    fill(g, name, type, count, NULL);
    return buffer;
}

static uint32_t output(generator *g, const char *name, vyre_type type, uint32_t count) {
    return vyre_build_buffer(g->b, name, VYRE_ACCESS_OUT, type, vyre_build_size_const(g->b, count));
}

static const char *const names[] = {"x", "y", "z", "s", "t", "u"};
enum { MOST_OUTPUTS = sizeof names / sizeof *names };

static void open_phase(generator *g, uint32_t domain, uint32_t workgroup, uint32_t subgroup) {
    const vyre_phase_desc desc = {.domain = {vyre_build_size_const(g->b, domain)},
                                  .workgroup = {workgroup},
                                  .subgroup = subgroup};
    vyre_build_phase(g->b, &desc);
}

static uint32_t own_number(generator *g) {
    return vyre_build_position(g->b, VYRE_OP_GID, 0);
}

/* A small integer in the bits of a wide one, so that what is above it is seen, too. */
static vyre_type seen_type(vyre_type type) {
    bool is_small = vyre_type_bytes(type) < 4 && vyre_type_class_of(type) & VYRE_CLASS_INTEGER;
    return is_small ? VYRE_TYPE_I64 : type == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : type;
}

static void show(generator *g, uint32_t buffer, uint32_t index, uint32_t value) {
    vyre_type type = seen_type(vyre_build_type(g->b, value));
    vyre_build_store(g->b, buffer, index, vyre_build_convert(g->b, type, value));
}

/* Operations on values */

typedef struct rule_case {
    vyre_op op;
    vyre_type wanted, result;
} rule_case;

/* The operations that take a type, one after the other; gives how many there are. */
static uint32_t find_cases(vyre_type type, rule_case *out, uint32_t room) {
    static const vyre_op operations[] = {
#define PURE(name, number, text, shape, rule, effects, cost, doc)                                  \
    VYRE_RULE_##rule > VYRE_RULE_OWN &&VYRE_RULE_##rule != VYRE_RULE_ELEMENTARY && (effects) == 0  \
        ? VYRE_OP_##name                                                                           \
        : VYRE_OP_NONE,
        VYRE_OPS(PURE)
#undef PURE
    };
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        vyre_op op = operations[i];
        uint32_t rule = op == VYRE_OP_NONE ? (uint32_t)VYRE_RULE_NONE : vyre_op_info_of(op)->rule;
        bool has_wish = rule == VYRE_RULE_CONVERT || rule == VYRE_RULE_BITCAST;
        for (uint32_t k = 0; op != VYRE_OP_NONE && k < (has_wish ? VYRE_TYPE_COUNT : 1u); k++) {
            vyre_type wanted = has_wish ? nth_type(k) : type, result;
            vyre_type types[3] = {rule == VYRE_RULE_SELECT ? VYRE_TYPE_BOOL : type,
                                  rule == VYRE_RULE_SHIFT ? VYRE_TYPE_U32 : type, type};
            vyre_rule_error error;
            if (count < room && wanted != (has_wish ? type : VYRE_TYPE_VOID) &&
                vyre_rule_check(op, 0, wanted, 32, types, &result, &error)) {
                out[count++] = (rule_case){op, wanted, result};
            }
        }
    }
    return count;
}

static uint32_t operand(generator *g, vyre_type type, uint32_t loaded, uint32_t one_in) {
    uint64_t bits = 0;
    if (!generate_one_in(g, one_in)) {
        return loaded;
    }
    generate_special(g, type, NULL, (uint8_t *)&bits);
    return vyre_build_const(g->b, type, bits);
}

static void make_values(generator *g, uint32_t turn) {
    enum { AT_ONCE = 5, COUNT = 500, ROOM = 64 };
    vyre_type type = nth_type(turn);
    rule_case cases[ROOM];
    uint32_t count = find_cases(type, cases, ROOM), first = turn / 13 * AT_ONCE;
    uint32_t outputs[AT_ONCE], inputs[3], counts = input(g, "n", VYRE_TYPE_U32, COUNT);
    bool is_bool = type == VYRE_TYPE_BOOL;
    static const char *const input_names[] = {"a", "b", "c"};
    const uint8_t *first_data = NULL;
    for (uint32_t k = 0; k < 3; k++) {
        vyre_type stored = is_bool ? VYRE_TYPE_U8 : type;
        inputs[k] = vyre_build_buffer(g->b, input_names[k], VYRE_ACCESS_IN, stored, VYRE_NONE);
        const uint8_t *data = fill(g, input_names[k], stored, COUNT, first_data);
        first_data = k ? first_data : data;
    }
    for (uint32_t k = 0; k < AT_ONCE; k++) {
        outputs[k] = output(g, names[k], seen_type(cases[(first + k) % count].result), COUNT);
    }
    open_phase(g, COUNT - generate_below(g, 8), 0, 0);
    uint32_t own = own_number(g), loaded[3];
    for (uint32_t k = 0; k < 3; k++) {
        loaded[k] = vyre_build_load(g->b, inputs[k], own);
        loaded[k] = is_bool ? vyre_build_convert(g->b, type, loaded[k]) : loaded[k];
    }
    uint32_t shift = vyre_build_load(g->b, counts, own);
    for (uint32_t k = 0; k < AT_ONCE; k++) {
        const rule_case *c = &cases[(first + k) % count];
        uint32_t rule = vyre_op_info_of(c->op)->rule, arity = vyre_rule_arity(c->op);
        uint32_t a = loaded[0], b = VYRE_NONE, d = VYRE_NONE;
        if (arity > 1) {
            bool divides = c->op == VYRE_OP_DIV || c->op == VYRE_OP_REM;
            b = rule == VYRE_RULE_SHIFT ? operand(g, VYRE_TYPE_U32, shift, 4)
                                        : operand(g, type, loaded[1], divides ? 2 : 8);
        }
        if (rule == VYRE_RULE_SELECT) {
            d = b;
            b = a;
            a = vyre_build_convert(g->b, VYRE_TYPE_BOOL, op2(g, VYRE_OP_AND, shift, number(g, 1)));
        } else if (arity > 2) {
            d = operand(g, type, loaded[2], 8);
        }
        show(g, outputs[k], own, builder_op(g->b, c->op, c->wanted, (uint32_t[]){a, b, d}));
    }
    vyre_build_phase_end(g->b);
}

/* Arrays: neighbours in one expression, at a distance from invocation to invocation, partly past
 * the end, in types of indices that wrap. */

static uint32_t index_of(generator *g, uint32_t turn, uint32_t value) {
    static const vyre_type types[] = {VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_U32, VYRE_TYPE_I8,
                                      VYRE_TYPE_U32, VYRE_TYPE_I64, VYRE_TYPE_U32, VYRE_TYPE_U16};
    return vyre_build_convert(g->b, types[turn % 8], value);
}

enum { MOST_NEAR = 16 };

static uint32_t draw_near(generator *g) {
    static const uint32_t some[] = {1, 2, 3, 4, 4, 5, 8, 8, MOST_NEAR};
    return some[generate_below(g, sizeof some / sizeof *some)];
}

/* Neighbours of an array, as many as `near`, at each `stride`th element and `past` the end. */
typedef struct loads {
    uint32_t array;
    vyre_type type;
    uint32_t count, near, stride, past;
} loads;

static void make_loads(generator *g, uint32_t turn, loads of) {
    vyre_type type = of.type;
    uint32_t a = of.array, near = of.near, stride = of.stride;
    uint32_t lanes = 1 + of.count / stride + of.past,
             offset = generate_one_in(g, 4) ? generate_below(g, 9) : 0;
    uint32_t x = output(g, "x", seen_type(type), near * (lanes - 1) + 1);
    bool guarded = generate_one_in(g, 4), in_loop = generate_one_in(g, 3);
    open_phase(g, lanes, 0, 0);
    uint32_t own = own_number(g), first = op2(g, VYRE_OP_MUL, own, number(g, stride));
    uint32_t to = op2(g, VYRE_OP_MUL, own, number(g, near));
    if (offset) {
        first = op2(g, VYRE_OP_SUB, first, number(g, offset));
    }
    if (guarded) {
        vyre_build_if(g->b,
                      op2(g, VYRE_OP_NE, op2(g, VYRE_OP_AND, own, number(g, 5)), number(g, 1)));
    }
    if (in_loop) {
        uint32_t i =
            vyre_build_for(g->b, number(g, 0), number(g, near), number(g, 1), 0, NULL, NULL);
        uint32_t index = index_of(g, turn / 3, op2(g, VYRE_OP_ADD, first, i));
        uint32_t value = vyre_build_load(g->b, a, index);
        show(g, x, op2(g, VYRE_OP_ADD, to, i), value);
        vyre_build_loop_end(g->b, 0, NULL);
    } else {
        uint32_t values[MOST_NEAR];
        for (uint32_t k = 0; k < near; k++) {
            uint32_t index = k ? op2(g, VYRE_OP_ADD, first, number(g, k)) : first;
            values[k] = vyre_build_load(g->b, a, index_of(g, turn / 3, index));
        }
        for (uint32_t k = 0; k < near; k++) {
            show(g, x, k ? op2(g, VYRE_OP_ADD, to, number(g, k)) : to, values[k]);
        }
    }
    if (guarded) {
        vyre_build_if_end(g->b, 0, NULL);
    }
    vyre_build_phase_end(g->b);
}

/* Constant arrays, short ones too; and what others find in them by numbers of an argument. */
static void make_constants(generator *g, uint32_t turn) {
    enum { COUNT = 70, FEW = 20, MOST = 150 };
    uint8_t elements[MOST * 8];
    vyre_type type = nth_type(turn);
    bool has_neighbours = generate_one_in(g, 2);
    uint32_t count = 1 + generate_below(g, generate_one_in(g, 2) ? 9
                                           : has_neighbours      ? MOST - 1
                                                                 : FEW);
    for (uint32_t i = 0; i < count; i++) {
        generate_special(g, type, NULL, elements + (size_t)i * vyre_type_bytes(type));
    }
    uint32_t a = vyre_build_constant_array(g->b, "a", type, count, elements);
    if (has_neighbours) {
        uint32_t near = draw_near(g), stride = generate_one_in(g, 2) ? near : 1;
        make_loads(g, turn, (loads){a, type, count, near, stride, generate_below(g, 3)});
        return;
    }
    uint32_t n = input(g, "n", VYRE_TYPE_U32, COUNT), x = output(g, "x", seen_type(type), COUNT);
    uint32_t y = output(g, "y", seen_type(type), COUNT);
    bool is_inside = generate_one_in(g, 2);
    uint32_t fixed = generate_below(g, count + 2);
    open_phase(g, COUNT, 0, 0);
    uint32_t own = own_number(g), at = vyre_build_load(g->b, n, own);
    if (is_inside) {
        at = op2(g, VYRE_OP_REM, at, vyre_build_len(g->b, a));
    }
    show(g, x, own, vyre_build_load(g->b, a, index_of(g, turn / 3, at)));
    show(g, y, own, vyre_build_load(g->b, a, number(g, fixed)));
    vyre_build_phase_end(g->b);
}

/* One in five has constant arrays, so that both come upon all types. */
static void make_memory(generator *g, uint32_t turn) {
    if (turn % 5 == 4) {
        make_constants(g, turn / 5);
        return;
    }
    vyre_type type = nth_array_type(turn);
    uint32_t near = draw_near(g), stride = generate_one_in(g, 2) ? near : 1;
    uint32_t count = 90 + generate_below(g, 60), past = generate_below(g, 3);
    uint32_t a = input(g, "a", type, count);
    make_loads(g, turn, (loads){a, type, count, near, stride, past});
}

/* Private arrays, written and cleared by some of the lanes. */
static void make_private(generator *g, uint32_t turn) {
    enum { COUNT = 70 };
    vyre_type type = nth_array_type(turn);
    uint32_t length = 1 + generate_below(g, 9), a = input(g, "a", type, COUNT);
    uint32_t n = input(g, "n", VYRE_TYPE_U32, COUNT), x = output(g, "x", type, COUNT);
    uint32_t y = output(g, "y", type, COUNT);
    open_phase(g, COUNT, 0, 0);
    uint32_t other = vyre_build_private(g->b, NULL, type, 1 + generate_below(g, 5));
    uint32_t array = vyre_build_private(g->b, NULL, type, length), own = own_number(g);
    uint32_t value = vyre_build_load(g->b, a, own), some = vyre_build_load(g->b, n, own);
    uint32_t at = op2(g, VYRE_OP_REM, some, number(g, length)), constant = number(g, length - 1);
    bool by_number = generate_one_in(g, 2), clears = generate_one_in(g, 2);
    vyre_build_store(g->b, array, by_number ? constant : at, value);
    vyre_build_store(g->b, other, number(g, 0), value);
    vyre_build_if(g->b, op2(g, VYRE_OP_LT, op2(g, VYRE_OP_AND, some, number(g, 7)), number(g, 3)));
    if (clears) {
        vyre_build_clear(g->b, array);
    } else {
        vyre_build_store(g->b, array, constant, vyre_build_load(g->b, other, number(g, 0)));
    }
    vyre_build_if_end(g->b, 0, NULL);
    vyre_build_store(g->b, x, own, vyre_build_load(g->b, array, by_number ? at : constant));
    vyre_build_store(g->b, y, own, vyre_build_load(g->b, array, number(g, 0)));
    vyre_build_phase_end(g->b);
}

/* Control flow */

/* A loop that carries two values which change places, and may be left early. */
static void make_loop(generator *g, uint32_t turn) {
    enum { COUNT = 70 };
    static const vyre_type types[] = {VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_U8,
                                      VYRE_TYPE_I64, VYRE_TYPE_U64, VYRE_TYPE_I16};
    vyre_type type = types[turn % 6];
    uint32_t a = input(g, "a", VYRE_TYPE_U32, COUNT), n = input(g, "n", VYRE_TYPE_U32, COUNT);
    uint32_t x = output(g, "x", VYRE_TYPE_U32, COUNT), y = output(g, "y", VYRE_TYPE_U32, COUNT);
    bool uniform = generate_one_in(g, 3);
    open_phase(g, COUNT, 0, 0);
    uint32_t own = own_number(g), some = vyre_build_load(g->b, n, own);
    uint32_t turns = generate_below(g, 9);
    uint32_t end = uniform ? number(g, turns) : op2(g, VYRE_OP_AND, some, number(g, 7));
    uint32_t initial[2] = {own, vyre_build_load(g->b, a, own)}, args[2], next[2];
    uint32_t start = generate_below(g, 3), step = 1 + generate_below(g, 3);
    uint32_t counter = vyre_build_for(g->b, vyre_build_const(g->b, type, start),
                                      vyre_build_convert(g->b, type, end),
                                      vyre_build_const(g->b, type, step), 2, initial, args);
    uint32_t way = generate_below(g, 4), wide = vyre_build_convert(g->b, VYRE_TYPE_U32, counter);
    if (way == 1 || way == 2) {
        uint32_t bits = op2(g, VYRE_OP_AND, op2(g, VYRE_OP_XOR, some, args[0]), number(g, 3));
        vyre_build_if(g->b, op2(g, VYRE_OP_EQ, bits, number(g, 1)));
        next[0] = wide;
        next[1] = args[0];
        if (way == 1) {
            vyre_build_break(g->b, 2, next);
        } else {
            vyre_build_continue(g->b, 2, next);
        }
        vyre_build_if_end(g->b, 0, NULL);
    }
    uint32_t from = way == 3 ? vyre_build_load(g->b, a, op2(g, VYRE_OP_ADD, own, wide)) : wide;
    next[0] = args[1];
    next[1] = op2(g, VYRE_OP_ADD, args[0], from);
    vyre_build_continue(g->b, 2, next);
    uint32_t results[2];
    vyre_build_loop_end(g->b, 2, results);
    vyre_build_store(g->b, x, own, results[0]);
    vyre_build_store(g->b, y, own, results[1]);
    vyre_build_phase_end(g->b);
}

/* Both ways of a branch, with stores on each, values behind it, and a call inside that returns. */
static void make_branches(generator *g, uint32_t turn) {
    enum { COUNT = 70 };
    vyre_type type = nth_array_type(turn);
    uint32_t a = input(g, "a", type, COUNT), n = input(g, "n", VYRE_TYPE_U32, COUNT);
    uint32_t x = output(g, "x", type, COUNT), y = output(g, "y", VYRE_TYPE_U32, COUNT);
    open_phase(g, COUNT, 0, 0);
    uint32_t own = own_number(g), some = vyre_build_load(g->b, n, own);
    uint32_t value = vyre_build_load(g->b, a, own);
    vyre_build_store(g->b, x, own, value);
    uint32_t variable = vyre_build_var(g->b, NULL, some);
    uint32_t bit = op2(g, VYRE_OP_AND, some, number(g, 1 + generate_below(g, 3)));
    vyre_build_if(g->b, op2(g, VYRE_OP_NE, bit, number(g, 0)));
    vyre_build_set(g->b, variable, own);
    vyre_build_else(g->b);
    vyre_build_store(g->b, x, own, vyre_build_const(g->b, type, 0));
    if (generate_one_in(g, 2)) {
        uint32_t result, yes = number(g, 77);
        vyre_build_inline(g->b);
        vyre_build_if(g->b, op2(g, VYRE_OP_LT, own, op2(g, VYRE_OP_AND, some, number(g, 63))));
        vyre_build_return(g->b, 1, &yes);
        vyre_build_if_end(g->b, 0, NULL);
        vyre_build_return(g->b, 1, &own);
        vyre_build_inline_end(g->b, 1, &result);
        vyre_build_set(g->b, variable, result);
    }
    vyre_build_if_end(g->b, 0, NULL);
    vyre_build_store(g->b, y, own, vyre_build_get(g->b, variable));
    vyre_build_phase_end(g->b);
}

/* Subgroups */

static uint32_t exchange(generator *g, uint32_t turn, uint32_t value, uint32_t lane) {
    static const vyre_op lanes[] = {VYRE_OP_SHUFFLE, VYRE_OP_SHUFFLE_UP, VYRE_OP_SHUFFLE_DOWN,
                                    VYRE_OP_SHUFFLE_XOR, VYRE_OP_BROADCAST};
    static const vyre_op votes[] = {VYRE_OP_BALLOT, VYRE_OP_ANY, VYRE_OP_ALL};
    static const vyre_op combines[] = {VYRE_OP_REDUCE, VYRE_OP_SCAN, VYRE_OP_SCAN_EXCLUSIVE};
    vyre_type type = vyre_build_type(g->b, value), result;
    vyre_rule_error error;
    if (turn % 3 == 0) {
        vyre_op op = lanes[turn / 3 % 5];
        bool fixed = op == VYRE_OP_BROADCAST || generate_one_in(g, 2);
        uint32_t constant = number(g, generate_below(g, g->subgroup));
        return op2(g, op, value, fixed ? constant : lane);
    }
    if (turn % 6 == 1) {
        uint32_t holds = op2(g, VYRE_OP_LT, lane, number(g, generate_one_in(g, 3) ? 99 : 7));
        return vyre_build_op(g->b, votes[turn / 6 % 3], holds, VYRE_NONE, VYRE_NONE);
    }
    vyre_combination how = (vyre_combination)generate_below(g, VYRE_COMBINE_COUNT);
    vyre_op op = combines[turn / 3 % 3];
    while (!vyre_rule_check(op, how, type, 32, &type, &result, &error)) {
        how = (vyre_combination)((how + 1) % VYRE_COMBINE_COUNT);
    }
    return vyre_build_combine(g->b, op, how, value);
}

static void make_matrix(generator *g, uint32_t own, uint32_t a, uint32_t n, uint32_t x) {
    uint32_t operands[VYRE_MATRIX_OPERANDS], results[VYRE_MATRIX_C];
    for (uint32_t i = 0; i < VYRE_MATRIX_OPERANDS; i++) {
        bool is_word = i < VYRE_MATRIX_A + VYRE_MATRIX_B;
        uint32_t index = i ? op2(g, VYRE_OP_ADD, own, number(g, 3 * i)) : own;
        operands[i] = vyre_build_load(g->b, is_word ? n : a, index);
    }
    vyre_build_matrix_mad(g->b, operands, results);
    for (uint32_t i = 0; i < VYRE_MATRIX_C; i++) {
        uint32_t index = op2(g, VYRE_OP_ADD, op2(g, VYRE_OP_MUL, own, number(g, 4)), number(g, i));
        vyre_build_store(g->b, x, index, results[i]);
    }
}

static void make_subgroup(generator *g, uint32_t turn) {
    static const uint32_t sizes[] = {32, 8, 64, 16, 32};
    bool is_matrix = turn % 20 == 0;
    g->subgroup = sizes[turn % 5];
    uint32_t lanes = g->subgroup * (1 + generate_below(g, 2)), count = 2 * lanes;
    vyre_type type = is_matrix ? VYRE_TYPE_I32 : nth_array_type(turn);
    uint32_t a = input(g, "a", type, count), n = input(g, "n", VYRE_TYPE_U32, count);
    uint32_t x = output(g, "x", type, 4 * count), y = output(g, "y", VYRE_TYPE_U64, count);
    bool in_loop = generate_one_in(g, 4) && !is_matrix;
    open_phase(g, count, lanes, g->subgroup);
    uint32_t own = own_number(g), lane = vyre_build_load(g->b, n, own), i = VYRE_NONE;
    if (is_matrix) {
        make_matrix(g, own, a, n, x);
        vyre_build_phase_end(g->b);
        return;
    }
    if (in_loop) { /* some of what it loads is missing */
        i = vyre_build_for(g->b, number(g, 0), number(g, 4), number(g, 1), 0, NULL, NULL);
    }
    uint32_t index =
        in_loop ? op2(g, VYRE_OP_ADD, own, op2(g, VYRE_OP_MUL, i, number(g, 40))) : own;
    uint32_t value = exchange(g, turn, vyre_build_load(g->b, a, index), lane);
    uint32_t to = in_loop ? op2(g, VYRE_OP_ADD, op2(g, VYRE_OP_MUL, own, number(g, 4)), i) : own;
    if (vyre_build_type(g->b, value) == type) {
        vyre_build_store(g->b, x, to, value);
    } else {
        vyre_build_store(g->b, y, own, vyre_build_convert(g->b, VYRE_TYPE_U64, value));
    }
    if (in_loop) {
        vyre_build_loop_end(g->b, 0, NULL);
    }
    vyre_build_phase_end(g->b);
}

/* What others wrote, behind a barrier of the workgroup or of all. */
static void make_shared(generator *g, uint32_t turn) {
    vyre_type type = nth_array_type(turn);
    uint32_t lanes = 32 * (1 + generate_below(g, 3)), count = 3 * lanes;
    uint32_t a = input(g, "a", type, count), x = output(g, "x", type, count);
    uint32_t z = output(g, "z", type, count);
    bool whole_grid = generate_one_in(g, 4);
    open_phase(g, count, lanes, 32);
    uint32_t length = lanes - generate_below(g, 3);
    uint32_t first = vyre_build_shared(g->b, NULL, type, 1 + generate_below(g, 40));
    uint32_t second = vyre_build_shared(g->b, NULL, type, length);
    uint32_t own = own_number(g), lid = vyre_build_position(g->b, VYRE_OP_LID, 0);
    uint32_t value = vyre_build_load(g->b, a, own);
    uint32_t before = vyre_build_load(g->b, second, lid);
    vyre_build_store(g->b, first, lid, value);
    vyre_build_store(g->b, second, lid, value);
    if (whole_grid) {
        vyre_build_store(g->b, z, own, value);
    }
    vyre_build_barrier(g->b, whole_grid ? VYRE_OP_GRID_BARRIER : VYRE_OP_BARRIER);
    uint32_t taken;
    if (whole_grid) {
        uint32_t far =
            op2(g, VYRE_OP_REM, op2(g, VYRE_OP_ADD, own, number(g, 40)), number(g, count));
        taken = vyre_build_load(g->b, z, far);
    } else {
        uint32_t other = op2(g, VYRE_OP_ADD, lid, number(g, 33));
        taken = vyre_build_load(g->b, second, op2(g, VYRE_OP_REM, other, number(g, lanes)));
        bool early = generate_one_in(g, 2);
        vyre_build_store(g->b, z, own, early ? before : vyre_build_load(g->b, first, lid));
    }
    vyre_build_store(g->b, x, own, taken);
    vyre_build_phase_end(g->b);
}

/* Atomics: on elements of its own, whose old value is seen, or on some for all. */

static vyre_op nth_atomic(uint32_t n, bool for_all) {
    static const vyre_op updates[] = {VYRE_OP_ATOMIC_ADD, VYRE_OP_ATOMIC_SUB, VYRE_OP_ATOMIC_AND,
                                      VYRE_OP_ATOMIC_OR,  VYRE_OP_ATOMIC_XOR, VYRE_OP_ATOMIC_MIN,
                                      VYRE_OP_ATOMIC_MAX};
    return for_all ? updates[n % 7] : (vyre_op)(VYRE_OP_ATOMIC_LOAD + (int)(n % 11));
}

static void make_one_atomic(generator *g, vyre_op op, uint32_t array, uint32_t index,
                            uint32_t value, uint32_t before, uint32_t old) {
    uint32_t desired = VYRE_NONE;
    if (op == VYRE_OP_ATOMIC_CAS) { /* most are what is expected */
        desired = value;
        value = generate_one_in(g, 4) ? value : before;
    } else if (op == VYRE_OP_ATOMIC_AND) { /* few bits go, or none would be left of many */
        uint32_t kept = vyre_build_const(g->b, vyre_build_type(g->b, value), ~(uint64_t)3);
        value = op2(g, VYRE_OP_OR, value, kept);
    }
    value = op == VYRE_OP_ATOMIC_LOAD ? VYRE_NONE : value;
    uint32_t got = vyre_build_atomic(g->b, op, array, index, value, desired, VYRE_ORDERING_RELAXED,
                                     VYRE_SCOPE_DEVICE);
    if (old != VYRE_NONE && op != VYRE_OP_ATOMIC_STORE) {
        vyre_build_store(g->b, old, own_number(g), got);
    }
}

static void make_atomic(generator *g, uint32_t turn) {
    enum { COUNT = 96, AT_ONCE = 3 };
    static const vyre_type types[] = {VYRE_TYPE_I32, VYRE_TYPE_U32, VYRE_TYPE_I64, VYRE_TYPE_U64};
    bool for_all = turn % 2, shared = turn % 6 < 2;
    vyre_type type = types[turn / 2 % 4];
    uint32_t a = input(g, "a", type, COUNT), n = input(g, "n", VYRE_TYPE_U32, COUNT);
    uint32_t length = for_all ? 5 : COUNT - 3, arrays[AT_ONCE], olds[AT_ONCE];
    for (uint32_t k = 0; k < AT_ONCE; k++) {
        arrays[k] = vyre_build_buffer(g->b, names[k], VYRE_ACCESS_INOUT, type, VYRE_NONE);
        fill(g, names[k], type, length, NULL);
    }
    for (uint32_t k = 0; k < AT_ONCE; k++) {
        olds[k] = output(g, names[AT_ONCE + k], type, COUNT);
    }
    open_phase(g, COUNT, 32, 32);
    uint32_t array = shared ? vyre_build_shared(g->b, NULL, type, 32) : VYRE_NONE;
    uint32_t own = own_number(g), lid = vyre_build_position(g->b, VYRE_OP_LID, 0);
    uint32_t some = vyre_build_load(g->b, n, own), value = vyre_build_load(g->b, a, own);
    uint32_t before[AT_ONCE];
    for (uint32_t k = 0; k < AT_ONCE && !for_all; k++) {
        before[k] = vyre_build_load(g->b, arrays[k], own);
    }
    if (shared) {
        uint32_t start = for_all ? value : before[0];
        vyre_build_store(g->b, array, lid, start);
        vyre_build_barrier(g->b, VYRE_OP_BARRIER);
    }
    bool guarded = generate_one_in(g, 2);
    if (guarded) {
        uint32_t bits = op2(g, VYRE_OP_AND, some, number(g, 7));
        vyre_build_if(g->b, op2(g, VYRE_OP_LT, bits, number(g, 5)));
    }
    for (uint32_t k = 0; k < AT_ONCE; k++) {
        bool is_shared = shared && !k;
        uint32_t index = is_shared ? lid : own;
        if (for_all) {
            uint32_t fixed = number(g, generate_below(g, 6));
            index = generate_one_in(g, 2) ? fixed : op2(g, VYRE_OP_REM, some, number(g, 6));
        }
        make_one_atomic(g, nth_atomic(turn / 2 * AT_ONCE + turn / 6 + k, for_all),
                        is_shared ? array : arrays[k], index, value, for_all ? value : before[k],
                        for_all ? VYRE_NONE : olds[k]);
    }
    if (guarded) {
        vyre_build_if_end(g->b, 0, NULL);
    }
    if (shared) {
        vyre_build_barrier(g->b, VYRE_OP_BARRIER);
        vyre_build_store(g->b, for_all ? olds[0] : arrays[0], own,
                         vyre_build_load(g->b, array, lid));
    }
    vyre_build_phase_end(g->b);
}

/* Phases one after the other, repeats, domains from memory and of several dimensions. */
static void make_phases(generator *g, uint32_t turn) {
    vyre_type type = nth_array_type(turn);
    type = vyre_type_class_of(type) == VYRE_CLASS_FLOAT ? VYRE_TYPE_I32 : type;
    uint32_t from = input(g, "a", type, 4), x = output(g, "x", VYRE_TYPE_U32, 400);
    bool aside = generate_one_in(g, 4), repeats = generate_one_in(g, 2);
    bool reads = turn % 3 == 0, grouped = generate_one_in(g, 2);
    uint32_t scratch = x;
    if (aside) {
        uint32_t size = vyre_build_size_const(g->b, 400);
        scratch = vyre_build_scratch(g->b, NULL, VYRE_TYPE_U32, size);
    }
    uint32_t turns = 1 + generate_below(g, 3), repeat = VYRE_NONE;
    vyre_phase_desc desc = {.dimensions = reads ? 1 : 1 + turn % 3};
    static const uint32_t shapes[][3] = {{32, 1, 1}, {8, 4, 1}, {4, 2, 4}};
    uint32_t sides[3] = {5 + generate_below(g, 60), 1 + generate_below(g, 5),
                         1 + generate_below(g, 4)};
    if (repeats) {
        repeat = vyre_build_repeat(g->b, NULL, vyre_build_size_const(g->b, turns));
    }
    for (uint32_t d = 0; d < desc.dimensions; d++) {
        desc.domain[d] = vyre_build_size_const(g->b, sides[d]);
        desc.workgroup[d] = grouped ? shapes[desc.dimensions - 1][d] : 0;
    }
    desc.subgroup = grouped ? 32 : 0;
    desc.from_memory = reads;
    desc.from_resource = reads ? from : 0;
    desc.from_index = reads ? vyre_build_size_const(g->b, generate_below(g, 5)) : 0;
    vyre_build_phase(g->b, &desc);
    uint32_t place = number(g, 0), side = 1;
    for (uint32_t d = 0; d < desc.dimensions; d++) {
        uint32_t at = vyre_build_position(g->b, VYRE_OP_GID, d);
        place = op2(g, VYRE_OP_ADD, place, op2(g, VYRE_OP_MUL, at, number(g, side)));
        side *= grouped ? (sides[d] + desc.workgroup[d] - 1) / desc.workgroup[d] * desc.workgroup[d]
                        : sides[d];
    }
    uint32_t sum = op2(g, VYRE_OP_ADD, vyre_build_load(g->b, scratch, place), number(g, 3));
    if (repeats) {
        sum = op2(g, VYRE_OP_ADD, sum, vyre_build_iteration(g->b, repeat));
    }
    if (grouped) {
        uint32_t inside = vyre_build_position(g->b, VYRE_OP_IN_DOMAIN, 0);
        uint32_t last = desc.dimensions - 1;
        uint32_t group = vyre_build_position(g->b, VYRE_OP_WID, last);
        uint32_t local = vyre_build_position(g->b, VYRE_OP_LID, last);
        sum = op2(g, VYRE_OP_ADD, sum, vyre_build_convert(g->b, VYRE_TYPE_U32, inside));
        sum = op2(g, VYRE_OP_XOR, sum, op2(g, VYRE_OP_MUL, group, number(g, 1 << 20)));
        sum = op2(g, VYRE_OP_XOR, sum, op2(g, VYRE_OP_MUL, local, number(g, 1 << 10)));
    }
    vyre_build_store(g->b, scratch, place, sum);
    vyre_build_phase_end(g->b);
    if (repeats) {
        vyre_build_repeat_end(g->b);
    }
    if (aside) {
        open_phase(g, 400, 0, 0);
        uint32_t own = own_number(g);
        vyre_build_store(g->b, x, own, vyre_build_load(g->b, scratch, own));
        vyre_build_phase_end(g->b);
    }
}

vyre_status conform_generate_small(uint64_t seed, conform_trial *out_trial) {
    static void (*const kinds[])(generator * g, uint32_t turn) = {
        make_values, make_memory, make_loop,   make_values, make_subgroup, make_private,
        make_values, make_atomic, make_shared, make_values, make_branches, make_phases,
    };
    enum { KINDS = sizeof kinds / sizeof *kinds, VALUES = 4 };
    uint64_t turn = seed / KINDS;
    uint32_t kind = (uint32_t)(seed % KINDS);
    turn = kinds[kind] == make_values ? turn * VALUES + kind / 3 : turn;
    /* Floats, which no atomic adds. These programs are long, so plainer ones go first. */
    if (kinds[kind] == make_atomic && turn >= 40 && turn % 4 == 3) {
        return generate_sums(~seed, (uint32_t)(turn / 4 % 1000003), out_trial);
    }
    generator g;
    VYRE_TRY(generate_begin(&g, ~seed, out_trial));
    if (kinds[kind] == make_phases && turn % 4 == 3) { /* phases among other steps */
        generate_turns(&g, (uint32_t)(turn / 4 % 1000003));
    } else if (kinds[kind] == make_memory && turn % 2) {
        generate_records(&g, (uint32_t)(turn / 2 % 1000003));
    } else if (kinds[kind] == make_memory) {
        make_memory(&g, (uint32_t)(turn / 2 % 1000003));
    } else {
        kinds[kind](&g, (uint32_t)(turn % 1000003));
    }
    return generate_end(&g);
}
