#include "pass/subgroup_share.h"
#include "ir/cases.h"
#include "ir/eval.h"

static uint32_t op2(vyre_rebuild *r, vyre_op op, uint32_t a, uint32_t b) {
    return vyre_build_op(r->to, op, a, b, VYRE_NONE);
}

static uint32_t number(vyre_rebuild *r, uint32_t value) {
    return vyre_build_u32(r->to, value);
}

/* Values as words, and back */

static bool is_double(vyre_type type) {
    return vyre_type_bytes(type) == 8;
}

static vyre_type bits_type(vyre_type type) {
    switch (vyre_type_bytes(type)) {
    case 2: return VYRE_TYPE_U16;
    case 4: return VYRE_TYPE_U32;
    default: return VYRE_TYPE_U64;
    }
}

static uint32_t to_words(vyre_rebuild *r, uint32_t value) {
    vyre_type type = vyre_build_type(r->to, value);
    if (vyre_lookup_class(type) == VYRE_CLASS_FLOAT) {
        value = vyre_build_bitcast(r->to, bits_type(type), value);
    }
    return vyre_build_convert(r->to, is_double(type) ? VYRE_TYPE_U64 : VYRE_TYPE_U32, value);
}

static uint32_t from_words(vyre_rebuild *r, vyre_type type, uint32_t words) {
    if (vyre_lookup_class(type) == VYRE_CLASS_FLOAT) {
        return vyre_build_bitcast(r->to, type, vyre_build_convert(r->to, bits_type(type), words));
    }
    return vyre_build_convert(r->to, type, words);
}

/* Exchanges */

static uint32_t array_of(vyre_rebuild *r, vyre_type type) {
    share_state *state = r->user;
    uint32_t *array = &state->arrays[is_double(type)];
    if (*array == VYRE_NONE) {
        const vyre_phase *phase = &r->ir->phases[state->phase];
        *array = vyre_build_shared(r->to, NULL, is_double(type) ? VYRE_TYPE_U64 : VYRE_TYPE_U32,
                                   share_invocations(phase));
    }
    return *array;
}

void share_begin(vyre_rebuild *r, const vyre_phase *phase, uint32_t value) {
    uint32_t array = array_of(r, vyre_build_type(r->to, value));
    vyre_build_store(r->to, array, share_number(r, phase), to_words(r, value));
    vyre_build_barrier(r->to, VYRE_OP_BARRIER);
}

uint32_t share_load(vyre_rebuild *r, vyre_type type, uint32_t at) {
    return from_words(r, type, vyre_build_load(r->to, array_of(r, type), at));
}

void share_end(vyre_rebuild *r) {
    vyre_build_barrier(r->to, VYRE_OP_BARRIER);
}

/* The number of the invocation that is lane `lane`, kept inside of the subgroup. */
static uint32_t number_of_lane(vyre_rebuild *r, const vyre_phase *phase, uint32_t lane) {
    uint32_t inside = op2(r, VYRE_OP_AND, lane, number(r, phase->subgroup - 1));
    return op2(r, VYRE_OP_OR, share_base(r, phase), inside);
}

static uint32_t exchange(vyre_rebuild *r, const vyre_phase *phase, uint32_t value, uint32_t lane) {
    share_begin(r, phase, value);
    uint32_t found = share_load(r, vyre_build_type(r->to, value), number_of_lane(r, phase, lane));
    share_end(r);
    return found;
}

/* A result that is the same for the subgroup. Where that is the whole workgroup, others have to be
 * able to see that it is: control flow may depend on it, and operations stand in there. */
static uint32_t settle(vyre_rebuild *r, const vyre_phase *phase, uint32_t value) {
    vyre_type type = vyre_build_type(r->to, value);
    if (share_invocations(phase) != phase->subgroup) {
        return value;
    }
    uint32_t array = array_of(r, type), zero = number(r, 0);
    vyre_build_if(r->to, op2(r, VYRE_OP_EQ, share_number(r, phase), zero));
    vyre_build_store(r->to, array, zero, to_words(r, value));
    vyre_build_if_end(r->to, 0, NULL);
    return from_words(r, type, vyre_build_uniform_load(r->to, array, zero));
}

/* Where the lanes agree on a value, nothing has to be exchanged. Others then see as well as before
 * for whom the result is the same, and control flow may depend on that. */
static bool is_agreed(const vyre_rebuild *r, uint32_t at) {
    const share_state *state = r->user;
    return state->agreed[at];
}

/* Shuffles */

void share_shuffle(vyre_rebuild *r, const vyre_phase *phase, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    vyre_op op = vyre_inst_op(inst);
    vyre_type type = vyre_inst_type(inst);
    uint32_t value = vyre_rebuild_operand(r, inst->a), by = vyre_rebuild_operand(r, inst->b);
    uint32_t lane = by, exists = VYRE_NONE, width = number(r, phase->subgroup);
    if (op == VYRE_OP_SHUFFLE_UP) {
        lane = op2(r, VYRE_OP_SUB, share_lane(r, phase), by);
        exists = op2(r, VYRE_OP_LE, by, share_lane(r, phase));
    } else if (op == VYRE_OP_SHUFFLE_DOWN) {
        lane = op2(r, VYRE_OP_ADD, share_lane(r, phase), by);
        exists = op2(r, VYRE_OP_LT, by, op2(r, VYRE_OP_SUB, width, share_lane(r, phase)));
    } else {
        lane = op == VYRE_OP_SHUFFLE_XOR ? op2(r, VYRE_OP_XOR, share_lane(r, phase), by) : by;
        exists = op2(r, VYRE_OP_LT, lane, width);
    }
    bool agreed = is_agreed(r, at);
    uint32_t found = agreed ? value : exchange(r, phase, value, lane);
    uint32_t result =
        vyre_build_op(r->to, VYRE_OP_SELECT, exists, found, vyre_build_const(r->to, type, 0));
    r->values[at] = op == VYRE_OP_BROADCAST && !agreed ? settle(r, phase, result) : result;
}

/* Loops over the values of the subgroup */

/* How a loop that looks at all lanes in order puts their values together. */
typedef struct gathering {
    vyre_type type; /* of the values */
    uint32_t start;
    bool is_scan, is_exclusive; /* only lanes up to this one, or below it */
    vyre_op op;                 /* NONE: a bit for each value that is not 0 */
} gathering;

static uint32_t gather(vyre_rebuild *r, const vyre_phase *phase, uint32_t value, gathering g) {
    share_begin(r, phase, value);
    uint32_t base = share_base(r, phase), own = share_lane(r, phase), so_far, result;
    uint32_t lane = vyre_build_for(r->to, number(r, 0), number(r, phase->subgroup), number(r, 1), 1,
                                   &g.start, &so_far);
    uint32_t other = share_load(r, g.type, op2(r, VYRE_OP_OR, base, lane)), next;
    if (g.op == VYRE_OP_NONE) {
        vyre_type type = vyre_build_type(r->to, g.start);
        next = op2(r, VYRE_OP_OR, so_far,
                   op2(r, VYRE_OP_SHL, vyre_build_convert(r->to, type, other), lane));
    } else {
        next = op2(r, g.op, so_far, other);
    }
    if (g.is_scan) {
        uint32_t counts = op2(r, g.is_exclusive ? VYRE_OP_LT : VYRE_OP_LE, lane, own);
        next = vyre_build_op(r->to, VYRE_OP_SELECT, counts, next, so_far);
    }
    vyre_build_continue(r->to, 1, &next);
    vyre_build_loop_end(r->to, 1, &result);
    share_end(r);
    return result;
}

/* The ballot in which all lanes have the same vote. */
static uint32_t all_or_none(vyre_rebuild *r, const vyre_phase *phase, vyre_type type,
                            uint32_t vote) {
    uint32_t all = vyre_build_const(r->to, type, UINT64_MAX >> (64 - phase->subgroup));
    return vyre_build_op(r->to, VYRE_OP_SELECT, vote, all, vyre_build_const(r->to, type, 0));
}

void share_vote(vyre_rebuild *r, const vyre_phase *phase, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    vyre_op op = vyre_inst_op(inst);
    uint32_t value = vyre_rebuild_operand(r, inst->a);
    gathering g = {.type = VYRE_TYPE_BOOL};
    if (is_agreed(r, at)) {
        r->values[at] =
            op == VYRE_OP_BALLOT ? all_or_none(r, phase, vyre_inst_type(inst), value) : value;
        return;
    }
    if (op == VYRE_OP_BALLOT) {
        g.start = vyre_build_const(r->to, vyre_inst_type(inst), 0);
    } else {
        g.op = op == VYRE_OP_ANY ? VYRE_OP_OR : VYRE_OP_AND;
        g.start = vyre_build_bool(r->to, op == VYRE_OP_ALL);
    }
    r->values[at] = settle(r, phase, gather(r, phase, value, g));
}

/* Rounds, as docs/semantics.md defines them, where the order of sums shows */

static uint32_t identity(vyre_rebuild *r, uint32_t combination, vyre_type type) {
    return vyre_build_const(r->to, type, vyre_eval_identity(combination, type));
}

/* How a lane comes by the value of another one. */
typedef enum source {
    FROM_MEMORY,
    FROM_DEVICE, /* the device's own shuffles */
    FROM_ITSELF  /* all lanes have the same value */
} source;

/* The value of lane `by(own lane, distance)`. */
static uint32_t of_lane(vyre_rebuild *r, const vyre_phase *phase, source from, vyre_op shuffle,
                        uint32_t value, uint32_t distance) {
    if (from == FROM_ITSELF) {
        return value;
    }
    if (from == FROM_DEVICE) {
        return op2(r, shuffle, value, number(r, distance));
    }
    vyre_op by = shuffle == VYRE_OP_SHUFFLE_XOR ? VYRE_OP_XOR : VYRE_OP_SUB;
    return exchange(r, phase, value, op2(r, by, share_lane(r, phase), number(r, distance)));
}

static uint32_t own_lane(vyre_rebuild *r, const vyre_phase *phase, source from) {
    return from == FROM_DEVICE ? vyre_build_position(r->to, VYRE_OP_LANE, 0) : share_lane(r, phase);
}

static uint32_t reduce_rounds(vyre_rebuild *r, const vyre_phase *phase, source from, vyre_op op,
                              uint32_t value) {
    for (uint32_t distance = phase->subgroup / 2; distance; distance /= 2) {
        value = op2(r, op, value, of_lane(r, phase, from, VYRE_OP_SHUFFLE_XOR, value, distance));
    }
    return value;
}

static uint32_t scan_rounds(vyre_rebuild *r, const vyre_phase *phase, source from, vyre_op op,
                            uint32_t value) {
    for (uint32_t distance = 1; distance < phase->subgroup; distance *= 2) {
        uint32_t below = of_lane(r, phase, from, VYRE_OP_SHUFFLE_UP, value, distance);
        uint32_t has = op2(r, VYRE_OP_LE, number(r, distance), own_lane(r, phase, from));
        value = vyre_build_op(r->to, VYRE_OP_SELECT, has, op2(r, op, below, value), value);
    }
    return value;
}

static uint32_t combine_rounds(vyre_rebuild *r, const vyre_phase *phase, source from,
                               const vyre_inst *inst) {
    uint32_t value = vyre_rebuild_operand(r, inst->a);
    vyre_op op = vyre_eval_combining(inst->aux);
    if (inst->op == VYRE_OP_REDUCE) {
        return reduce_rounds(r, phase, from, op, value);
    }
    value = scan_rounds(r, phase, from, op, value);
    if (inst->op == VYRE_OP_SCAN) {
        return value;
    }
    uint32_t below = of_lane(r, phase, from, VYRE_OP_SHUFFLE_UP, value, 1);
    uint32_t is_first = op2(r, VYRE_OP_EQ, own_lane(r, phase, from), number(r, 0));
    return vyre_build_op(r->to, VYRE_OP_SELECT, is_first,
                         identity(r, inst->aux, vyre_inst_type(inst)), below);
}

void share_combine(vyre_rebuild *r, const vyre_phase *phase, uint32_t at) {
    const share_state *state = r->user;
    const vyre_inst *inst = &r->ir->insts[at];
    vyre_type type = vyre_inst_type(inst);
    bool is_reduce = inst->op == VYRE_OP_REDUCE;
    source from = state->keep_widths & phase->subgroup ? FROM_DEVICE
                  : is_reduce && is_agreed(r, at)      ? FROM_ITSELF
                                                       : FROM_MEMORY;
    uint32_t result;
    if (from == FROM_ITSELF || vyre_lookup_class(type) == VYRE_CLASS_FLOAT) {
        result = combine_rounds(r, phase, from, inst);
    } else {
        gathering g = {.type = type,
                       .start = identity(r, inst->aux, type),
                       .is_scan = !is_reduce,
                       .is_exclusive = inst->op == VYRE_OP_SCAN_EXCLUSIVE,
                       .op = vyre_eval_combining(inst->aux)};
        result = gather(r, phase, vyre_rebuild_operand(r, inst->a), g);
    }
    r->values[at] = is_reduce && from == FROM_MEMORY ? settle(r, phase, result) : result;
}
