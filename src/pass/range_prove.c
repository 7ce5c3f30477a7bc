/* Whether a polynomial cannot be negative: atoms are replaced one by one by what bounds them, the
 * last ones first, until intervals will do. */
#include "ir/cases.h"
#include "ir/lookup.h"
#include "pass/range_state.h"

enum { DEPTH = 14, STEPS = 160, SECOND_STEPS = 100, FACTS = 24 };

static vyre_wide clamp(vyre_wide number) {
    return number > RANGE_ENDLESS    ? RANGE_ENDLESS
           : number < -RANGE_ENDLESS ? -RANGE_ENDLESS
                                     : number;
}

vyre_wide range_times(vyre_wide a, vyre_wide b) {
    vyre_wide size_a = a < 0 ? -a : a, size_b = b < 0 ? -b : b;
    if (size_b && size_a > RANGE_ENDLESS / size_b) {
        return (a < 0) == (b < 0) ? RANGE_ENDLESS : -RANGE_ENDLESS;
    }
    return a * b;
}

/* The term's least (or greatest) value. */
static vyre_wide term_end(const range_state *s, const poly_term *term, bool least) {
    vyre_wide low = term->by, high = term->by;
    for (int i = 0; i < POLY_FACTORS && term->atoms[i] != POLY_NO_ATOM; i++) {
        const range_atom *atom = &s->atoms.items[term->atoms[i]];
        const vyre_wide ends[4] = {range_times(low, atom->min), range_times(low, atom->max),
                                   range_times(high, atom->min), range_times(high, atom->max)};
        low = high = ends[0];
        for (int k = 1; k < 4; k++) {
            low = ends[k] < low ? ends[k] : low;
            high = ends[k] > high ? ends[k] : high;
        }
    }
    return least ? low : high;
}

/* Once endless, a sum stays so: a large term of the other sign does not bring it back. */
static vyre_wide sum_ends(const range_state *s, const poly *p, bool least) {
    vyre_wide sum = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        vyre_wide end = term_end(s, &p->terms[i], least);
        if (least ? end <= -RANGE_ENDLESS : end >= RANGE_ENDLESS) {
            return end;
        }
        sum = clamp(sum + end);
    }
    return sum;
}

vyre_wide range_least(const range_state *s, const poly *p) {
    return sum_ends(s, p, true);
}

vyre_wide range_greatest(const range_state *s, const poly *p) {
    return sum_ends(s, p, false);
}

uint32_t range_factor(const poly *p) {
    uint64_t factor = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        int64_t by = p->terms[i].by;
        uint64_t left = by < 0 ? 0 - (uint64_t)by : (uint64_t)by;
        while (left) {
            uint64_t rest = factor % left;
            factor = left;
            left = rest;
        }
    }
    return factor > UINT32_MAX ? 1 : (uint32_t)factor;
}

static bool prove(range_state *s, const poly *goal, uint32_t depth);

/* goal = factor * x + rest, and bound = by * x + other is not negative, of which a multiple is
 * taken from the goal so that x goes. `up` is the sign of the factor. */
static bool try_bound(range_state *s, const poly *factor, const poly *rest, const poly *bound,
                      uint32_t x, bool up, uint32_t depth) {
    poly by, other, scaled, next;
    int64_t number;
    if (!poly_split(bound, x, &by, &other) || !by.count) {
        return false;
    }
    if (poly_is_constant(&by, &number)) {
        if ((number > 0) != up || number == INT64_MIN) {
            return false;
        }
        int64_t size = number < 0 ? -number : number;
        poly zero = {0};
        return poly_add(&scaled, &zero, rest, size) && poly_mul(&next, factor, &other) &&
               poly_add(&next, &scaled, &next, up ? -1 : 1) && prove(s, &next, depth);
    }
    return false;
}

/* The same with a bound in which x has a factor that is no number: the term that both have goes,
 * and whatever else there is of x stays. */
static bool try_product(range_state *s, const poly *goal, const poly *bound, uint32_t x,
                        uint32_t depth) {
    poly by, other, left, rest, next;
    int64_t number;
    if (!poly_split(bound, x, &by, &other) || poly_is_constant(&by, &number) || by.count != 1 ||
        !poly_split(goal, x, &left, &rest)) {
        return false;
    }
    for (uint32_t i = 0; i < left.count; i++) {
        int64_t times = left.terms[i].by / by.terms[0].by;
        bool same = times > 0;
        for (int k = 0; k < POLY_FACTORS; k++) {
            same = same && left.terms[i].atoms[k] == by.terms[0].atoms[k];
        }
        if (same) {
            return poly_add(&next, goal, bound, -times) && prove(s, &next, depth);
        }
    }
    return false;
}

static bool try_number(range_state *s, const poly *factor, const poly *rest, vyre_wide number,
                       uint32_t depth) {
    poly next;
    return number >= INT64_MIN && number <= INT64_MAX &&
           poly_add(&next, rest, factor, (int64_t)number) && prove(s, &next, depth);
}

static bool prove_with(range_state *s, const poly *factor, const poly *rest, uint32_t operand,
                       uint32_t depth) {
    poly value, product, next;
    return range_poly_of(s, operand, &value) && poly_mul(&product, factor, &value) &&
           poly_add(&next, rest, &product, 1) && prove(s, &next, depth);
}

/* An atom that is one of two values: both must do, each under its condition. */
static bool try_cases(range_state *s, const poly *factor, const poly *rest, uint32_t x,
                      uint32_t depth) {
    uint32_t inst = s->atoms.items[x].inst;
    const vyre_inst *i = inst == VYRE_NONE ? NULL : &s->ir->insts[inst];
    if (!i || (i->op != VYRE_OP_SELECT && i->op != VYRE_OP_MIN && i->op != VYRE_OP_MAX)) {
        return false;
    }
    if (i->op != VYRE_OP_SELECT) {
        return prove_with(s, factor, rest, i->a, depth) && prove_with(s, factor, rest, i->b, depth);
    }
    size_t before = s->facts.count;
    range_assume(s, i->a, true);
    bool yes = prove_with(s, factor, rest, i->b, depth);
    s->facts.count = before;
    if (!yes) {
        return false;
    }
    range_assume(s, i->a, false);
    bool no = prove_with(s, factor, rest, i->c, depth);
    s->facts.count = before;
    return no;
}

static bool try_products(range_state *s, const poly *goal, uint32_t x, uint32_t depth) {
    for (uint32_t at = s->atoms.items[x].bounds; at != POLY_NO_ATOM;
         at = s->bounds.items[at].next) {
        poly bound = range_unkeep(s->bounds.items[at].poly);
        if (try_product(s, goal, &bound, x, depth)) {
            return true;
        }
    }
    return false;
}

/* All ways to do without x. */
static bool eliminate(range_state *s, const poly *factor, const poly *rest, uint32_t x, bool up,
                      uint32_t depth) {
    enum { SMALL = 65536 };
    vyre_wide end = up ? s->atoms.items[x].min : s->atoms.items[x].max;
    bool is_first = s->numbers_first && end > -SMALL && end < SMALL;
    if (is_first && try_number(s, factor, rest, end, depth)) {
        return true;
    }
    for (uint32_t at = s->atoms.items[x].bounds; at != POLY_NO_ATOM;
         at = s->bounds.items[at].next) {
        poly bound = range_unkeep(s->bounds.items[at].poly);
        if (try_bound(s, factor, rest, &bound, x, up, depth)) {
            return true;
        }
    }
    for (size_t at = s->facts.count; at-- > 0 && s->facts.count - at <= FACTS;) {
        poly fact = range_unkeep(s->facts.items[at]);
        if (try_bound(s, factor, rest, &fact, x, up, depth)) {
            return true;
        }
    }
    return (!is_first && try_number(s, factor, rest, end, depth)) ||
           try_cases(s, factor, rest, x, depth);
}

static bool prove(range_state *s, const poly *goal, uint32_t depth) {
    poly reduced = *goal, factor, rest;
    poly_reduce(&reduced);
    if (range_least(s, &reduced) >= 0) {
        return true;
    }
    if (!depth || !s->budget || s->no_memory) {
        return false;
    }
    s->budget--;
    for (uint32_t x = poly_last_atom(&reduced, POLY_NO_ATOM); x != POLY_NO_ATOM;
         x = poly_last_atom(&reduced, x)) {
        if (!poly_split(&reduced, x, &factor, &rest)) {
            continue;
        }
        bool up = range_least(s, &factor) >= 0;
        if (try_products(s, &reduced, x, depth - 1)) {
            return true;
        }
        if (up || range_greatest(s, &factor) <= 0) {
            return eliminate(s, &factor, &rest, x, up, depth - 1);
        }
    }
    return false;
}

/* What is left of a goal once small numbers stand for atoms ends soon, and for parts of positions
 * they are as good as any bound: where the bounds lead nowhere, numbers come first. */
bool range_prove(range_state *s, const poly *not_negative) {
    s->budget = STEPS;
    s->numbers_first = false;
    if (prove(s, not_negative, DEPTH)) {
        return true;
    }
    bool gave_up = !s->budget;
    s->budget = SECOND_STEPS;
    s->numbers_first = true;
    return gave_up && prove(s, not_negative, DEPTH);
}

bool range_prove_within(range_state *s, const poly *p, vyre_wide min, vyre_wide max) {
    poly above;
    if (range_least(s, p) < min &&
        (min <= INT64_MIN || !poly_shift(&above, p, (int64_t)-min) || !range_prove(s, &above))) {
        return false;
    }
    if (range_greatest(s, p) <= max) {
        return true;
    }
    poly below, zero = {0};
    if (max > INT64_MAX || !poly_add(&below, &zero, p, -1)) {
        return false;
    }
    poly room;
    if (poly_shift(&room, &below, (int64_t)max) && range_prove(s, &room)) {
        return true;
    }
    for (size_t i = 0; i < s->caps.count && max >= UINT32_MAX; i++) {
        poly cap = range_unkeep(s->caps.items[i]);
        /* A length that is a multiple of something ends that much earlier. */
        uint32_t factor = range_factor(&cap), spare = factor ? UINT32_MAX % factor : 0;
        if (poly_add(&room, &below, &cap, 1) && poly_shift(&room, &room, spare) &&
            range_prove(s, &room)) {
            return true;
        }
    }
    return false;
}

/* Conditions */

void range_assume_fact(range_state *s, const poly *not_negative) {
    range_kept kept = range_keep(s, not_negative);
    if (!s->no_memory && !vyre_vec_push(&s->facts, kept)) {
        s->no_memory = true;
    }
}

/* left + gap <= right. */
static void assume_order(range_state *s, uint32_t left, uint32_t right, int64_t gap) {
    poly a, b;
    if (range_poly_of(s, left, &a) && range_poly_of(s, right, &b) && poly_add(&b, &b, &a, -1) &&
        poly_shift(&b, &b, -gap)) {
        range_assume_fact(s, &b);
    }
}

static bool is_integer(const range_state *s, uint32_t operand) {
    return vyre_lookup_class(vyre_operand_type(s->ir, operand)) & VYRE_CLASS_INTEGER;
}

static void assume_less(range_state *s, const vyre_inst *i, bool holds) {
    if (is_integer(s, i->a)) {
        bool strict = (i->op == VYRE_OP_LT) == holds;
        assume_order(s, holds ? i->a : i->b, holds ? i->b : i->a, strict);
    }
}

static void assume_equal(range_state *s, const vyre_inst *i, bool equal) {
    if (!is_integer(s, i->a)) {
        return;
    }
    if (equal) {
        assume_order(s, i->a, i->b, 0);
        assume_order(s, i->b, i->a, 0);
        return;
    }
    /* Another number than the least there is. */
    for (int side = 0; side < 2; side++) {
        uint32_t value = side ? i->b : i->a, other = side ? i->a : i->b;
        range_value constant = range_value_of(s, other);
        poly p;
        if (constant.min == constant.max && constant.min == range_value_of(s, value).min &&
            constant.min >= -INT32_MAX && constant.min <= UINT32_MAX &&
            range_poly_of(s, value, &p) && poly_shift(&p, &p, (int64_t)-constant.min - 1)) {
            range_assume_fact(s, &p);
        }
    }
}

/* The invocation lies inside the domain. */
static void assume_domain(range_state *s) {
    for (uint32_t d = 0; d < s->phase->dimensions; d++) {
        const vyre_inst gid = {.op = VYRE_OP_GID, .type = VYRE_TYPE_U32, .a = d};
        poly at = range_position(s, &gid), room;
        if (s->has_domain[d] && poly_add(&room, &s->domain[d], &at, -1) &&
            poly_shift(&room, &room, -1)) {
            range_assume_fact(s, &room);
        }
    }
}

static void assume(range_state *s, uint32_t condition, bool holds, uint32_t depth);

/* A bool that left a branch: where the other side gave the opposite, this side was taken. */
static void assume_result(range_state *s, const vyre_inst *result, bool holds, uint32_t depth) {
    uint32_t owner = vyre_pick_owner(result), k = vyre_pick_index(result);
    if (s->ir->insts[owner].op != VYRE_OP_IF) {
        return;
    }
    const vyre_block sides[2] = {vyre_then_block(s->ir, owner), vyre_else_block(s->ir, owner)};
    uint32_t given[2]; /* VYRE_NONE from a side that leaves elsewhere */
    for (int side = 0; side < 2; side++) {
        const vyre_inst *end = &s->ir->insts[vyre_block_terminator(sides[side])];
        given[side] =
            end->op == VYRE_OP_YIELD ? vyre_inst_operands(s->ir, end).items[k] : VYRE_NONE;
    }
    for (int side = 0; side < 2; side++) {
        uint32_t other = given[!side];
        if (other == VYRE_NONE || vyre_operand_has_bits(s->ir, other, !holds)) {
            assume(s, s->ir->insts[owner].a, side == 0, depth);
            assume(s, given[side], holds, depth);
        }
    }
}

static void assume(range_state *s, uint32_t condition, bool holds, uint32_t depth) {
    if (!vyre_operand_is_value(condition) || !depth) {
        return;
    }
    const vyre_inst *i = &s->ir->insts[condition];
    if (i->op == VYRE_OP_IN_DOMAIN && holds) {
        assume_domain(s);
        return;
    }
    switch (vyre_inst_op(i)) {
    case VYRE_OP_NOT: assume(s, i->a, !holds, depth - 1); return;
    case VYRE_ONE_OF(AND, OR):
        if (holds == (i->op == VYRE_OP_AND)) {
            assume(s, i->a, holds, depth - 1);
            assume(s, i->b, holds, depth - 1);
        }
        return;
    case VYRE_OP_RESULT: assume_result(s, i, holds, depth - 1); return;
    case VYRE_ONE_OF(LT, LE): assume_less(s, i, holds); return;
    case VYRE_ONE_OF(EQ, NE): assume_equal(s, i, holds == (i->op == VYRE_OP_EQ)); return;
    case VYRE_ONE_OF(XOR, ARG):
    case VYRE_ANY_OF(SURROUNDINGS, ARITHMETIC, INTEGER, SHIFT, BITS, FLOAT, CHOICE, ELEMENTARY,
                     ACCESS, BARRIER, SUBGROUP, BLOCK, JUMP, NONE):
        return;
    }
}

void range_assume(range_state *s, uint32_t condition, bool holds) {
    enum { NESTED = 8 };
    assume(s, condition, holds, NESTED);
}
