#include "pass/correct_group.h"

#include "ir/lookup.h"

/* Of a number whose field of the exponent is E, twice its bits less 1 is at least E * 2^24 - 1. A 0
 * comes out as the largest of all, so a minimum passes over it. */
enum {
    FIELD_OF_ONE_UNIT = 150,          /* of numbers that are multiples of 1 */
    SMALLEST_ADDEND = (24 << 24) - 1, /* of multiples of 2^-126 */
    LEAST_PRODUCT = 175, /* the sum of two, one more than is needed as bits below count */
    LARGEST_FIELD = 254,
    COARSE = -40 /* a factor that is a multiple of 2 to this needs no test */
};

typedef enum bucket { LEFT, RIGHT, ADDENDS, BUCKETS } bucket;

/* What a group is tested by. */
typedef struct sizes {
    uint32_t seen[BUCKETS][CORRECT_GROUP_MEMBERS], count[BUCKETS];
    uint32_t least[BUCKETS]; /* values of `to` */
} sizes;

static uint32_t binary(vyre_rebuild *r, vyre_op op, uint32_t a, uint32_t b) {
    return vyre_build_op(r->to, op, a, b, VYRE_NONE);
}

static uint32_t u32(vyre_rebuild *r, uint32_t value) {
    return vyre_build_u32(r->to, value);
}

static const correct_grains *grains_of(const vyre_rebuild *r) {
    const correct_state *state = r->user;
    return &state->grains;
}

static correct_group *group_of(const vyre_rebuild *r) {
    const correct_state *state = r->user;
    return state->group;
}

/* Where somebody sees the bits of a NaN it is made canonical as it is computed, which may be in a
 * loop that everybody runs (pass/nan.h). A difference from 0 keeps every number and is a NaN of its
 * own, so that only its bits are seen. */
static uint32_t set_apart(vyre_rebuild *r, uint32_t value) {
    const correct_state *state = r->user;
    bool is_kept = state->needed.f32 & VYRE_CORRECT_FLUSHED(VYRE_CORRECT_LINEAR);
    return is_kept ? value : binary(r, VYRE_OP_SUB, value, vyre_build_f32(r->to, 0));
}

/* NaNs from memory are as they are. */
static bool is_settled(const vyre_rebuild *r, uint32_t operand) {
    if (!vyre_operand_is_value(operand)) {
        return true;
    }
    vyre_op op = vyre_inst_op(&r->ir->insts[operand]);
    return op == VYRE_OP_LOAD || op == VYRE_OP_UNIFORM_LOAD || op == VYRE_OP_BITCAST;
}

/* Sizes */

static uint32_t size_of(vyre_rebuild *r, uint32_t value) {
    uint32_t twice = binary(r, VYRE_OP_SHL, correct_bits(r, value), u32(r, 1));
    return binary(r, VYRE_OP_SUB, twice, u32(r, 1));
}

static void narrow(vyre_rebuild *r, sizes *s, bucket of, uint32_t size) {
    s->least[of] = binary(r, VYRE_OP_MIN, s->least[of], size);
}

/* `value` is what `operand` of `from` became. */
static void measure(vyre_rebuild *r, sizes *s, bucket of, uint32_t operand, uint32_t value) {
    for (uint32_t i = 0; i < s->count[of]; i++) {
        if (s->seen[of][i] == value) {
            return;
        }
    }
    s->seen[of][s->count[of]++] = value;
    narrow(r, s, of, size_of(r, is_settled(r, operand) ? value : set_apart(r, value)));
}

/* Of `from`. */
static uint32_t operand_of(const vyre_rebuild *r, const correct_member *m, uint32_t k) {
    return vyre_inst_operands(r->ir, &r->ir->insts[m->inst]).items[k];
}

static void measure_factor(vyre_rebuild *r, sizes *s, const correct_member *m, uint32_t k,
                           const uint32_t *results) {
    uint32_t operand = operand_of(r, m, k);
    int grain = correct_grain_of(grains_of(r), operand, false);
    bucket of = k ? RIGHT : LEFT;
    if (!vyre_operand_is_value(operand) || grain >= COARSE) {
        int field = grain + FIELD_OF_ONE_UNIT;
        if (field < LARGEST_FIELD) {
            narrow(r, s, of, u32(r, ((uint32_t)field << 24) - 1));
        }
    } else {
        measure(r, s, of, operand, m->fed[k] ? results[m->operands[k]] : m->operands[k]);
    }
}

static void measure_factors(vyre_rebuild *r, sizes *s, const uint32_t *results) {
    const correct_group *g = group_of(r);
    for (uint32_t i = 0; i < g->count; i++) {
        measure_factor(r, s, &g->members[i], 0, results);
        measure_factor(r, s, &g->members[i], 1, results);
    }
}

static bool may_be_small(const correct_grains *grains, uint32_t addend, bool assumed) {
    return correct_grain_of(grains, addend, assumed) < CORRECT_GRAIN_NORMAL;
}

/* An addend that may be too small only after another fma gave such a result. */
static bool follows(const correct_grains *grains, uint32_t addend) {
    return may_be_small(grains, addend, false) && !may_be_small(grains, addend, true);
}

/* What the flag promises needs no test. */
static bool is_promised(const vyre_rebuild *r, const correct_member *m) {
    return !m->fed[2] && follows(grains_of(r), operand_of(r, m, 2));
}

static bool measure_addends(vyre_rebuild *r, sizes *s) {
    const correct_group *g = group_of(r);
    bool any = false;
    for (uint32_t i = 0; i < g->count; i++) {
        const correct_member *m = &g->members[i];
        uint32_t operand = operand_of(r, m, 2);
        bool is_open = !m->fed[2] && may_be_small(grains_of(r), operand, false);
        if (is_open && !is_promised(r, m)) {
            measure(r, s, ADDENDS, operand, m->operands[2]);
            any = true;
        }
    }
    return any;
}

static uint32_t both(vyre_rebuild *r, uint32_t a, uint32_t b) {
    return binary(r, VYRE_OP_AND, a, b);
}

static uint32_t at_least(vyre_rebuild *r, uint32_t value, uint32_t limit) {
    return binary(r, VYRE_OP_LE, u32(r, limit), value);
}

/* Whether no factor is subnormal, and products of any two are multiples of what is normal. */
static uint32_t factors_fit(vyre_rebuild *r, const sizes *s) {
    uint32_t one = u32(r, 1), left = s->least[LEFT], right = s->least[RIGHT];
    uint32_t sum = binary(r, VYRE_OP_ADD, binary(r, VYRE_OP_SHR, left, one),
                          binary(r, VYRE_OP_SHR, right, one));
    uint32_t least = binary(r, VYRE_OP_MIN, left, right);
    return both(r, at_least(r, sum, (uint32_t)LEAST_PRODUCT << 23),
                at_least(r, least, (1u << 24) - 1));
}

static uint32_t addends_fit(vyre_rebuild *r, const sizes *s) {
    return at_least(r, s->least[ADDENDS], SMALLEST_ADDEND);
}

/* Results */

static void operands_of(const correct_member *m, const uint32_t *results, uint32_t *out) {
    for (uint32_t k = 0; k < 3; k++) {
        out[k] = m->fed[k] ? results[m->operands[k]] : m->operands[k];
    }
}

static void by_device(vyre_rebuild *r, uint32_t *results) {
    const correct_group *g = group_of(r);
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t operands[3];
        operands_of(&g->members[i], results, operands);
        results[i] = vyre_build_op(r->to, VYRE_OP_FMA, operands[0], operands[1], operands[2]);
    }
}

static uint32_t with_care(vyre_rebuild *r, const char *function, const uint32_t *operands) {
    uint32_t values[3];
    for (uint32_t k = 0; k < 3; k++) {
        values[k] = set_apart(r, operands[k]);
    }
    uint32_t result = correct_call(r, CORRECT_F32, function, VYRE_TYPE_F32, values, 3);
    return result == VYRE_NONE ? result : set_apart(r, result);
}

/* The flag promises nothing any more once a result is too small. */
static void watch(vyre_rebuild *r, uint32_t result) {
    const correct_group *g = group_of(r);
    if (g->flag != VYRE_NONE && result != VYRE_NONE) {
        uint32_t is_small = binary(r, VYRE_OP_LT, size_of(r, result), u32(r, SMALLEST_ADDEND));
        vyre_build_set(r->to, g->flag,
                       binary(r, VYRE_OP_OR, vyre_build_get(r->to, g->flag), is_small));
    }
}

/* Whether the device's result of a member may be wrong, or too small for what the flag promises. */
static uint32_t is_doubtful(vyre_rebuild *r, const correct_member *m, const uint32_t *results,
                            uint32_t result) {
    uint32_t operands[3], size[3], none = u32(r, UINT32_MAX);
    operands_of(m, results, operands);
    for (uint32_t k = 0; k < 3; k++) {
        bool is_kept = !m->fed[k] && is_settled(r, operand_of(r, m, k));
        size[k] = size_of(r, is_kept ? operands[k] : set_apart(r, operands[k]));
    }
    uint32_t factor = binary(r, VYRE_OP_MIN, size[0], size[1]);
    uint32_t least = binary(r, VYRE_OP_MIN, factor, size[2]);
    uint32_t most = binary(r, VYRE_OP_MAX, size[0], size[1]);
    uint32_t is_zero = binary(r, VYRE_OP_EQ, binary(r, VYRE_OP_MIN, most, size[2]), none);
    uint32_t magnitude = vyre_build_op(r->to, VYRE_OP_ABS, result, VYRE_NONE, VYRE_NONE);
    uint32_t limit = vyre_build_f32(r->to, 0x1p-103f);
    uint32_t is_small = binary(r, VYRE_OP_LT, magnitude, limit);
    uint32_t is_odd = binary(r, VYRE_OP_LT, least, u32(r, (1u << 24) - 1));
    uint32_t is_number = vyre_build_op(r->to, VYRE_OP_NOT, is_zero, VYRE_NONE, VYRE_NONE);
    return binary(r, VYRE_OP_OR, is_odd, both(r, is_small, is_number));
}

/* Operand k of the member whose number is `which`. What the loop carries is the member's addend
 * until it is its result: so both need one register. */
static uint32_t choose(vyre_rebuild *r, uint32_t k, const uint32_t *carried, uint32_t which) {
    const correct_group *g = group_of(r);
    uint32_t chosen = VYRE_NONE, last = VYRE_NONE;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t operands[3];
        operands_of(&g->members[i], carried, operands);
        operands[2] = g->members[i].fed[2] ? operands[2] : carried[i];
        if (i && operands[k] != last) {
            uint32_t is_from = binary(r, VYRE_OP_LE, u32(r, i), which);
            chosen = vyre_build_op(r->to, VYRE_OP_SELECT, is_from, operands[k], chosen);
        } else if (!i) {
            chosen = operands[k];
        }
        last = operands[k];
    }
    return chosen;
}

/* The members in doubt, a bit each; all if a result that is may be the operand of another. Carried
 * values start as the results of the device, or as the addends of these members. */
static uint32_t find_doubtful(vyre_rebuild *r, vyre_type type, const uint32_t *results,
                              uint32_t *out_carried) {
    const correct_group *g = group_of(r);
    uint32_t doubtful[CORRECT_GROUP_MEMBERS], set = vyre_build_const(r->to, type, 0);
    uint32_t none = set;
    bool any_fed = false;
    for (uint32_t i = 0; i < g->count; i++) {
        const correct_member *m = &g->members[i];
        uint32_t bit = vyre_build_const(r->to, type, (uint64_t)1 << i);
        doubtful[i] = is_doubtful(r, m, results, results[i]);
        bit = vyre_build_op(r->to, VYRE_OP_SELECT, doubtful[i], bit, none);
        set = binary(r, VYRE_OP_OR, set, bit);
        any_fed |= m->fed[0] || m->fed[1] || m->fed[2];
    }
    uint32_t any = binary(r, VYRE_OP_NE, set, none);
    for (uint32_t i = 0; i < g->count; i++) {
        const correct_member *m = &g->members[i];
        uint32_t addend = m->fed[2] ? vyre_build_f32(r->to, 0) : m->operands[2];
        out_carried[i] =
            vyre_build_op(r->to, VYRE_OP_SELECT, any_fed ? any : doubtful[i], addend, results[i]);
    }
    uint32_t all = vyre_build_const(r->to, type, UINT64_MAX >> (64 - g->count));
    return any_fed ? vyre_build_op(r->to, VYRE_OP_SELECT, any, all, none) : set;
}

/* Does those in doubt one after the other. */
static void one_by_one(vyre_rebuild *r, uint32_t *results) {
    const correct_group *g = group_of(r);
    vyre_type type = g->count > 32 ? VYRE_TYPE_U64 : VYRE_TYPE_U32;
    uint32_t carried[CORRECT_GROUP_MEMBERS + 1], args[CORRECT_GROUP_MEMBERS + 1], operands[3];
    uint32_t set = find_doubtful(r, type, results, carried);
    uint32_t count = vyre_build_op(r->to, VYRE_OP_POPCOUNT, set, VYRE_NONE, VYRE_NONE);
    carried[g->count] = set;
    vyre_build_for(r->to, u32(r, 0), vyre_build_convert(r->to, VYRE_TYPE_U32, count), u32(r, 1),
                   g->count + 1, carried, args);
    set = args[g->count];
    uint32_t which = vyre_build_op(r->to, VYRE_OP_CTZ, set, VYRE_NONE, VYRE_NONE);
    which = vyre_build_convert(r->to, VYRE_TYPE_U32, which);
    for (uint32_t k = 0; k < 3; k++) {
        operands[k] = choose(r, k, args, which);
    }
    uint32_t result = with_care(r, "fma_f32_soft", operands);
    watch(r, result);
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t is_own = binary(r, VYRE_OP_EQ, which, u32(r, i));
        carried[i] = vyre_build_op(r->to, VYRE_OP_SELECT, is_own, result, args[i]);
    }
    uint32_t without = binary(r, VYRE_OP_SUB, set, vyre_build_const(r->to, type, 1));
    carried[g->count] = binary(r, VYRE_OP_AND, set, without);
    vyre_build_continue(r->to, g->count + 1, carried);
    vyre_build_loop_end(r->to, g->count + 1, args);
    for (uint32_t i = 0; i < g->count; i++) {
        results[i] = args[i];
    }
}

static bool any_is_promised(const vyre_rebuild *r) {
    const correct_group *g = group_of(r);
    bool any = false;
    for (uint32_t i = 0; i < g->count; i++) {
        any |= is_promised(r, &g->members[i]);
    }
    return any;
}

/* Whether a result is a factor: then it is tested, too, and all are computed first. */
static bool has_fed_factor(const correct_group *g) {
    bool any = false;
    for (uint32_t i = 0; i < g->count; i++) {
        any |= g->members[i].fed[0] || g->members[i].fed[1];
    }
    return any;
}

static void compute(vyre_rebuild *r) {
    correct_group *g = group_of(r);
    correct_state *state = r->user;
    uint32_t results[CORRECT_GROUP_MEMBERS];
    sizes s = {0};
    for (uint32_t i = 0; i < BUCKETS; i++) {
        s.least[i] = u32(r, UINT32_MAX);
    }
    bool first = has_fed_factor(g);
    if (first) {
        by_device(r, results);
    }
    measure_factors(r, &s, results);
    uint32_t fits = factors_fit(r, &s);
    if (measure_addends(r, &s)) {
        fits = both(r, fits, addends_fit(r, &s));
    }
    if (any_is_promised(r)) {
        uint32_t flag = vyre_build_get(r->to, g->flag);
        fits = both(r, fits, vyre_build_op(r->to, VYRE_OP_NOT, flag, VYRE_NONE, VYRE_NONE));
    }
    vyre_build_if(r->to, fits);
    if (!first) {
        by_device(r, results);
    }
    vyre_build_yield(r->to, g->count, results);
    vyre_build_else(r->to);
    if (g->count == 1) {
        results[0] = with_care(r, "fma_f32_flush", g->members[0].operands);
        watch(r, results[0]);
    } else {
        if (!first) {
            by_device(r, results);
        }
        one_by_one(r, results);
    }
    vyre_build_yield(r->to, g->count, results);
    vyre_build_if_end(r->to, g->count, results);
    for (uint32_t i = 0; i < g->count; i++) {
        r->values[g->members[i].inst] = results[i];
    }
    g->count = 0;
    state->changed = true;
}

/* Members */

static uint32_t member_of(const correct_group *g, uint32_t operand) {
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->members[i].inst == operand) {
            return i;
        }
    }
    return VYRE_NONE;
}

static bool uses_members(const vyre_rebuild *r, const vyre_inst *inst) {
    vyre_list list = vyre_inst_operands(r->ir, inst);
    bool uses = false;
    for (uint32_t i = 0; i < list.count && !uses; i++) {
        uses = member_of(group_of(r), list.items[i]) != VYRE_NONE;
    }
    return uses;
}

void correct_group_settle(vyre_rebuild *r, uint32_t at) {
    correct_group *g = group_of(r);
    for (; g->seen < at; g->seen++) {
        if (r->ir->insts[g->seen].op == VYRE_OP_UNREACHABLE) {
            g->count = 0; /* nobody gets there */
        }
    }
    const vyre_inst *inst = &r->ir->insts[at];
    bool ends = vyre_inst_effects(inst) & (VYRE_EFFECT_BLOCK | VYRE_EFFECT_END | VYRE_EFFECT_SYNC);
    bool is_member = correct_grains_may_group(grains_of(r), at);
    if (g->count &&
        (ends || g->count == CORRECT_GROUP_MEMBERS || (!is_member && uses_members(r, inst)))) {
        compute(r);
    }
}

void correct_group_take(vyre_rebuild *r, uint32_t at) {
    correct_group *g = group_of(r);
    const uint32_t *operands = vyre_inst_operands(r->ir, &r->ir->insts[at]).items;
    correct_member m = {.inst = at};
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t member = member_of(g, operands[k]);
        m.fed[k] = member != VYRE_NONE;
        m.operands[k] = m.fed[k] ? member : vyre_rebuild_operand(r, operands[k]);
    }
    g->members[g->count++] = m;
}

static bool is_flag_needed(const correct_grains *grains, const vyre_phase *phase) {
    bool needed = false;
    for (uint32_t i = phase->first; i < phase->end; i++) {
        const vyre_inst *inst = &grains->ir->insts[i];
        needed |= correct_grains_may_group(grains, i) &&
                  follows(grains, vyre_inst_operands(grains->ir, inst).items[2]);
    }
    return needed;
}

void correct_group_begin(vyre_rebuild *r, const vyre_phase *phase, bool groups) {
    correct_group *g = group_of(r);
    g->count = 0;
    g->seen = phase->first;
    g->flag = groups && is_flag_needed(grains_of(r), phase)
                  ? vyre_build_var(r->to, "small", vyre_build_bool(r->to, false))
                  : VYRE_NONE;
}
