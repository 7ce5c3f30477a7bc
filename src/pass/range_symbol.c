/* What is known before anything runs: sizes, lengths, the domain, positions. */
#include <string.h>

#include "ir/cases.h"
#include "ir/lookup.h"
#include "ir/size.h"
#include "pass/range_state.h"

range_kept range_keep(range_state *s, const poly *p) {
    range_kept kept = {0};
    poly_term *terms = vyre_arena_alloc(&s->arena, (p->count + 1) * sizeof *terms);
    if (!terms) {
        s->no_memory = true;
        return kept;
    }
    memcpy(terms, p->terms, p->count * sizeof *terms);
    kept.terms = terms;
    kept.count = p->count;
    return kept;
}

poly range_unkeep(range_kept kept) {
    poly p = {.count = kept.count};
    if (kept.count) {
        memcpy(p.terms, kept.terms, kept.count * sizeof *p.terms);
    }
    return p;
}

/* Atoms */

uint32_t range_atom_make(range_state *s, uint32_t inst, vyre_wide min, vyre_wide max) {
    uint32_t atom = (uint32_t)s->atoms.count;
    if (!vyre_vec_push(&s->atoms, (range_atom){.min = min,
                                               .max = max < min ? min : max,
                                               .bounds = POLY_NO_ATOM,
                                               .inst = inst})) {
        s->no_memory = true;
        return 0; /* there always is one */
    }
    return atom;
}

static void add_bound(range_state *s, uint32_t atom, const poly *not_negative) {
    range_bound bound = {range_keep(s, not_negative), s->atoms.items[atom].bounds};
    if (s->no_memory || !vyre_vec_push(&s->bounds, bound)) {
        s->no_memory = true;
        return;
    }
    s->atoms.items[atom].bounds = (uint32_t)s->bounds.count - 1;
}

void range_at_most(range_state *s, uint32_t atom, const poly *p) {
    poly own = poly_atom(atom), room;
    if (poly_add(&room, p, &own, -1)) {
        add_bound(s, atom, &room);
    }
}

void range_at_least(range_state *s, uint32_t atom, const poly *p) {
    poly own = poly_atom(atom), room;
    if (poly_add(&room, &own, p, -1)) {
        add_bound(s, atom, &room);
    }
}

static bool is_kept(range_kept kept, const poly *p) {
    return poly_terms_equal(kept.terms, kept.count, p->terms, p->count);
}

uint32_t range_symbol_atom(range_state *s, range_symbol op, const poly *left, const poly *right,
                           vyre_wide min, vyre_wide max, bool *out_new) {
    enum { LOOKED_AT = 256 }; /* the first, which are the sizes, and the last */
    size_t count = s->atoms.count;
    for (size_t i = 0; i < count; i++) {
        if (i == LOOKED_AT && count > 2 * (size_t)LOOKED_AT) {
            i = count - LOOKED_AT;
        }
        const range_atom *atom = &s->atoms.items[i];
        if (atom->op == (uint32_t)op && is_kept(atom->left, left) && is_kept(atom->right, right)) {
            *out_new = false;
            return (uint32_t)i;
        }
    }
    *out_new = true;
    uint32_t atom = range_atom_make(s, VYRE_NONE, min, max);
    range_kept a = range_keep(s, left), b = range_keep(s, right);
    if (!s->no_memory) {
        s->atoms.items[atom].op = op;
        s->atoms.items[atom].left = a;
        s->atoms.items[atom].right = b;
    }
    return atom;
}

/* Sizes: numbers of 64 bits that are never negative, since the host computed them. */

static vyre_wide not_below_0(vyre_wide number) {
    return number < 0 ? 0 : number;
}

/* Bounds of the symbol q = x / by: q by <= x <= q by + by - 1, the second where by is not 0. */
static void bound_quotient(range_state *s, uint32_t q, const poly *x, const poly *by, bool not_0) {
    poly own = poly_atom(q), product, room;
    if (!poly_mul(&product, &own, by)) {
        return;
    }
    if (poly_add(&room, x, &product, -1)) {
        add_bound(s, q, &room);
    }
    if (not_0 && poly_add(&room, &product, x, -1) && poly_add(&room, &room, by, 1) &&
        poly_shift(&room, &room, -1)) {
        add_bound(s, q, &room);
    }
    range_at_most(s, q, x);
}

/* x / by where by divides all of x but a constant. */
static bool divide(const poly *x, int64_t by, poly *out) {
    poly whole = *x;
    int64_t rest = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        if (x->terms[i].atoms[0] == POLY_NO_ATOM) {
            rest = (x->terms[i].by % by + by) % by;
        }
    }
    return poly_shift(&whole, &whole, -rest) && poly_divide(out, &whole, by);
}

bool range_quotient(range_state *s, const poly *x, const poly *by, poly *out) {
    int64_t number;
    if (poly_is_constant(by, &number) && number > 0 && number < INT64_MAX / 2 &&
        divide(x, number, out)) {
        return true;
    }
    vyre_wide least = range_least(s, by), most = range_greatest(s, by);
    vyre_wide max = not_below_0(range_greatest(s, x)), min = not_below_0(range_least(s, x));
    if (least >= 1) {
        max /= least;
    }
    min = most >= 1 ? min / most : min;
    bool is_new;
    uint32_t atom = range_symbol_atom(s, SYMBOL_DIV, x, by, min, max, &is_new);
    if (is_new && !s->no_memory) {
        bound_quotient(s, atom, x, by, least >= 1);
    }
    *out = poly_atom(atom);
    return true;
}

static bool size_poly(range_state *s, uint32_t size, poly *out);

/* min, max and % of sizes. */
static bool size_symbol(range_state *s, uint32_t op, const poly *a, const poly *b, poly *out) {
    vyre_wide a_max = range_greatest(s, a), b_max = range_greatest(s, b);
    vyre_wide a_min = not_below_0(range_least(s, a)), b_min = not_below_0(range_least(s, b));
    vyre_wide low = a_max < b_max ? a_max : b_max, high = a_max > b_max ? a_max : b_max;
    poly less;
    bool is_new;
    uint32_t atom;
    switch (op) {
    case VYRE_SIZE_MIN:
        atom = range_symbol_atom(s, SYMBOL_MIN, a, b, a_min < b_min ? a_min : b_min, low, &is_new);
        if (is_new) {
            range_at_most(s, atom, a);
            range_at_most(s, atom, b);
        }
        break;
    case VYRE_SIZE_MAX:
        atom = range_symbol_atom(s, SYMBOL_MAX, a, b, a_min > b_min ? a_min : b_min, high, &is_new);
        if (is_new) {
            range_at_least(s, atom, a);
            range_at_least(s, atom, b);
        }
        break;
    default: /* a remainder; the host refuses to divide by 0 */
        atom = range_symbol_atom(s, SYMBOL_REM, a, b, 0, low, &is_new);
        if (is_new && poly_shift(&less, b, -1)) {
            range_at_most(s, atom, a);
            range_at_most(s, atom, &less);
        }
        break;
    }
    *out = poly_atom(atom);
    return true;
}

static bool size_poly(range_state *s, uint32_t size, poly *out) {
    const vyre_size_node *node = &s->ir->sizes[size];
    poly a, b;
    switch (node->op) {
    case VYRE_SIZE_CONST:
        *out = poly_constant((int64_t)(node->a | (uint64_t)node->b << 32));
        return !(node->b >> 31);
    case VYRE_SIZE_LEN: return range_length(s, s->ir->args[node->a].resource, out);
    case VYRE_SIZE_PARAM: {
        const vyre_inst param = {
            .op = VYRE_OP_PARAM, .type = (uint8_t)s->ir->args[node->a].type, .a = node->a};
        *out = range_position(s, &param);
        return true;
    }
    case VYRE_SIZE_ITERATION: {
        const vyre_inst counter = {.op = VYRE_OP_ITERATION, .type = VYRE_TYPE_U32, .a = node->a};
        *out = range_position(s, &counter);
        return !vyre_repeat_is_open(s->ir, node->a); /* a difference may be cut off at 0 */
    }
    default: break;
    }
    if (!size_poly(s, node->a, &a) || !size_poly(s, node->b, &b)) {
        return false;
    }
    switch (node->op) {
    case VYRE_SIZE_ADD: return poly_add(out, &a, &b, 1);
    case VYRE_SIZE_SUB: return poly_add(out, &a, &b, -1);
    case VYRE_SIZE_MUL: return poly_mul(out, &a, &b);
    case VYRE_SIZE_DIV: return range_quotient(s, &a, &b, out);
    case VYRE_SIZE_CEIL_DIV:
        return poly_add(&a, &a, &b, 1) && poly_shift(&a, &a, -1) && range_quotient(s, &a, &b, out);
    default: return size_symbol(s, node->op, &a, &b, out);
    }
}

/* An array's length as an atom of its own. */
static poly length_atom(range_state *s, uint32_t resource) {
    poly key = poly_constant(VYRE_OP_LEN), which = poly_constant(resource);
    bool is_new;
    return poly_atom(range_symbol_atom(s, SYMBOL_POSITION, &key, &which, 0, UINT32_MAX, &is_new));
}

bool range_length(range_state *s, uint32_t resource, poly *out) {
    const vyre_resource *row = &s->ir->resources[resource];
    if (vyre_resource_is_field(row)) {
        return range_length(s, row->size, out);
    }
    if (row->kind > VYRE_RESOURCE_SCRATCH) {
        *out = poly_constant(row->length);
        return true;
    }
    if (s->has_length[resource] == 2) {
        *out = range_unkeep(s->lengths[resource]);
        return true;
    }
    bool in_circle = s->has_length[resource];
    s->has_length[resource] = 1;
    if (in_circle || row->size == VYRE_NONE || !size_poly(s, row->size, out)) {
        *out = length_atom(s, resource);
    }
    if (!in_circle) {
        s->lengths[resource] = range_keep(s, out);
        s->has_length[resource] = 2;
    }
    return true;
}

/* Whether a size names the argument, so that the host refused it if it is negative. */
static bool is_in_size(const range_state *s, uint32_t arg) {
    for (uint32_t i = 0; i < s->ir->size_count; i++) {
        if (s->ir->sizes[i].op == VYRE_SIZE_PARAM && s->ir->sizes[i].a == arg) {
            return true;
        }
    }
    return false;
}

static poly position_atom(range_state *s, const vyre_inst *inst, vyre_wide min, vyre_wide max,
                          const poly *below) {
    poly key = poly_constant(inst->op), which = poly_constant(inst->a), most;
    bool is_new;
    uint32_t atom = range_symbol_atom(s, SYMBOL_POSITION, &key, &which, min, max, &is_new);
    if (is_new && below && poly_shift(&most, below, -1)) {
        range_at_most(s, atom, &most);
    }
    return poly_atom(atom);
}

/* Invocations of a workgroup. */
static uint32_t group_size(const vyre_phase *phase) {
    return phase->workgroup[0] * phase->workgroup[1] * phase->workgroup[2];
}

static vyre_wide last_below(const range_state *s, const poly *end) {
    vyre_wide most = range_greatest(s, end) - 1;
    return most > UINT32_MAX ? UINT32_MAX : most;
}

static poly gid(range_state *s, const vyre_inst *inst) {
    uint32_t d = inst->a, size = s->phase->workgroup[0] ? s->phase->workgroup[d] : 0;
    if (!size) {
        const poly *domain = s->has_domain[d] ? &s->domain[d] : NULL;
        return position_atom(s, inst, 0, domain ? last_below(s, domain) : UINT32_MAX, domain);
    }
    const vyre_inst parts[2] = {{.op = VYRE_OP_WID, .type = VYRE_TYPE_U32, .a = d},
                                {.op = VYRE_OP_LID, .type = VYRE_TYPE_U32, .a = d}};
    poly group = range_position(s, &parts[0]), local = range_position(s, &parts[1]), sum;
    /* The host sees to it that every position is a u32. */
    bool fits = poly_add(&sum, &local, &group, size);
    return fits ? sum : position_atom(s, inst, 0, UINT32_MAX, NULL);
}

/* The counter of a repeat is below its count. */
static poly counter(range_state *s, const vyre_inst *inst) {
    const vyre_step *repeat = &s->ir->steps[inst->a];
    poly count;
    bool has_count = repeat->kind == VYRE_STEP_REPEAT_COUNT && size_poly(s, repeat->size, &count);
    return position_atom(s, inst, 0, has_count ? last_below(s, &count) : UINT32_MAX,
                         has_count ? &count : NULL);
}

poly range_position(range_state *s, const vyre_inst *inst) {
    vyre_wide min, max;
    const vyre_phase *phase = s->phase;
    range_type(vyre_inst_type(inst), &min, &max);
    switch (vyre_inst_op(inst)) {
    case VYRE_OP_PARAM:
        return position_atom(s, inst, min < 0 && is_in_size(s, inst->a) ? 0 : min, max, NULL);
    case VYRE_OP_GID: return gid(s, inst);
    case VYRE_OP_LID:
        return position_atom(s, inst, 0, (vyre_wide)phase->workgroup[inst->a] - 1, NULL);
    case VYRE_OP_WID:
        return s->has_groups[inst->a]
                   ? position_atom(s, inst, 0, last_below(s, &s->groups[inst->a]),
                                   &s->groups[inst->a])
                   : position_atom(s, inst, 0, UINT32_MAX, NULL);
    case VYRE_OP_NUM_WORKGROUPS:
        return s->has_groups[inst->a] && phase->from_resource == VYRE_NONE
                   ? s->groups[inst->a]
                   : position_atom(s, inst, 0, UINT32_MAX, NULL);
    case VYRE_OP_LANE: return position_atom(s, inst, 0, (vyre_wide)phase->subgroup - 1, NULL);
    case VYRE_OP_SUBGROUP_ID:
        return position_atom(s, inst, 0,
                             phase->subgroup ? group_size(phase) / phase->subgroup - 1 : 0, NULL);
    case VYRE_OP_ITERATION: return counter(s, inst);
    case VYRE_ONE_OF(IN_DOMAIN, LEN):
    case VYRE_ANY_OF(PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    return position_atom(s, inst, min, max, NULL);
}

/* Lengths. Those that are no constants are u32 all the same. */
static void find_lengths(range_state *s) {
    enum { MOST_CAPS = 12 };
    for (uint32_t r = 0; r < s->ir->resource_count; r++) {
        poly length;
        int64_t number;
        if (s->ir->resources[r].kind > VYRE_RESOURCE_SCRATCH || !range_length(s, r, &length) ||
            poly_is_constant(&length, &number) || s->caps.count == MOST_CAPS) {
            continue;
        }
        range_kept kept = range_keep(s, &length);
        if (s->no_memory || !vyre_vec_push(&s->caps, kept)) {
            s->no_memory = true;
            return;
        }
    }
}

void range_symbols(range_state *s) {
    const vyre_phase *phase = s->phase;
    for (uint32_t d = 0; s->own_domain && d < phase->dimensions; d++) {
        if (phase->domain[d] == VYRE_NONE || !size_poly(s, phase->domain[d], &s->domain[d])) {
            continue;
        }
        s->has_domain[d] = true;
        poly some, whole, size = poly_constant(phase->workgroup[0] ? phase->workgroup[d] : 0);
        if (poly_shift(&some, &s->domain[d], -1)) {
            range_assume_fact(s, &some); /* or there would be no invocation */
        }
        s->has_groups[d] = phase->workgroup[0] && poly_add(&whole, &s->domain[d], &size, 1) &&
                           poly_shift(&whole, &whole, -1) &&
                           range_quotient(s, &whole, &size, &s->groups[d]);
    }
    find_lengths(s);
}
