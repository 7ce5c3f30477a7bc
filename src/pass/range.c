#include "pass/range.h"

#include "base/alloc.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "pass/range_state.h"

/* Phases larger than this are not looked into, so that no program takes too long. */
enum { MOST_INSTRUCTIONS = 1 << 18, MOST_GUESSES_DEEP = 2 };

/* A block that is open: where values that leave it meet. */
typedef struct open_block {
    uint32_t owner; /* VYRE_NONE: the phase */
    const struct open_block *outer;
    uint32_t loops; /* around, itself included */
} open_block;

static void walk_block(range_state *s, vyre_block code, const open_block *open);

static range_value *value_at(range_state *s, uint32_t inst) {
    return &s->values[inst - s->phase->first];
}

static bool is_number(const range_state *s, uint32_t inst) {
    return vyre_lookup_class(vyre_inst_type(&s->ir->insts[inst])) &
           (VYRE_CLASS_INTEGER | VYRE_CLASS_BOOL);
}

/* While a block is walked, its args and results gather what arrives: an interval, which is empty
 * at first. Of args that is kept behind the values, since they have a value already. */
static void start_gathering(range_value *at) {
    *at = (range_value){.min = RANGE_ENDLESS, .max = -RANGE_ENDLESS};
}

static void gather(range_state *s, range_value *at, uint32_t operand) {
    range_value value = range_value_of(s, operand);
    at->min = value.min < at->min ? value.min : at->min;
    at->max = value.max > at->max ? value.max : at->max;
}

static range_value *gathered(range_state *s, uint32_t arg) {
    return value_at(s, arg) + (s->phase->end - s->phase->first);
}

static void start_results(range_state *s, uint32_t owner) {
    uint32_t count = vyre_result_count(s->ir, owner);
    for (uint32_t k = 0; k < count; k++) {
        start_gathering(gathered(s, vyre_result(s->ir, owner, k)));
    }
}

/* Results become values of their own. Those of a branch that both sides agree on are that value. */
static void end_results(range_state *s, uint32_t owner) {
    uint32_t count = vyre_result_count(s->ir, owner);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t result = vyre_result(s->ir, owner, k);
        range_value all = *gathered(s, result);
        if (!is_number(s, result)) {
            *value_at(s, result) = (range_value){0};
            continue;
        }
        if (all.min > all.max) { /* nobody gets there */
            range_type(vyre_inst_type(&s->ir->insts[result]), &all.min, &all.max);
        }
        range_set(s, result, all.min, all.max);
    }
}

static const open_block *target_of(const range_state *s, const open_block *open, uint32_t op) {
    while (!vyre_jump_ends(s->ir, op, open->owner)) {
        open = open->outer;
    }
    return open;
}

static void visit_jump(range_state *s, uint32_t inst, const open_block *open) {
    const vyre_inst *i = &s->ir->insts[inst];
    uint32_t owner = target_of(s, open, i->op)->owner;
    vyre_list values = vyre_inst_operands(s->ir, i);
    for (uint32_t k = 0; k < values.count; k++) {
        gather(s, gathered(s, vyre_jump_target(s->ir, i, owner, k)), values.items[k]);
    }
}

/* Whether a block comes to its end, so that code behind its owner goes on. */
static bool goes_on(const range_state *s, vyre_block code) {
    return s->ir->insts[vyre_block_terminator(code)].op == VYRE_OP_YIELD;
}

static void walk_if(range_state *s, uint32_t inst, const open_block *outer) {
    const vyre_block then = vyre_then_block(s->ir, inst), other = vyre_else_block(s->ir, inst);
    uint32_t condition = s->ir->insts[inst].a;
    const open_block open = {inst, outer, outer->loops};
    size_t before = s->facts.count;
    start_results(s, inst);
    range_assume(s, condition, true);
    walk_block(s, then, &open);
    s->facts.count = before;
    range_assume(s, condition, false);
    walk_block(s, other, &open);
    s->facts.count = before;
    end_results(s, inst);
    bool yes = goes_on(s, then), no = goes_on(s, other);
    if (yes != no) {
        range_assume(s, condition, yes);
    }
}

static void walk_inline(range_state *s, uint32_t inst, const open_block *outer) {
    const open_block open = {inst, outer, outer->loops};
    size_t before = s->facts.count;
    start_results(s, inst);
    walk_block(s, vyre_body_block(s->ir, inst), &open);
    s->facts.count = before;
    end_results(s, inst);
}

/* The counter lies between the first number and the end, which it does not reach. */
static void set_counter(range_state *s, uint32_t loop) {
    vyre_for_range range = vyre_for_range_of(s->ir, loop);
    range_value first = range_value_of(s, range.first), end = range_value_of(s, range.end);
    range_value step = range_value_of(s, range.step);
    uint32_t counter = vyre_for_counter(loop);
    vyre_wide max = end.max - 1;
    if (first.min == first.max && step.min == step.max && step.min > 0 && max >= first.min) {
        max -= (max - first.min) % step.min;
    }
    range_set(s, counter, first.min, max);
    uint32_t atom = (uint32_t)s->atoms.count - 1;
    poly p;
    if (s->no_memory || s->atoms.items[atom].inst != counter) {
        return;
    }
    if (range_poly_of(s, range.first, &p)) {
        range_at_least(s, atom, &p);
    }
    if (range_poly_of(s, range.end, &p) && poly_shift(&p, &p, -1)) {
        range_at_most(s, atom, &p);
    }
}

static void walk_loop_once(range_state *s, uint32_t loop, const open_block *open) {
    vyre_list initial = vyre_loop_initial(s->ir, loop);
    size_t facts = s->facts.count;
    start_results(s, loop);
    if (s->ir->insts[loop].op == VYRE_OP_FOR) {
        set_counter(s, loop);
    }
    for (uint32_t k = 0; k < initial.count; k++) {
        range_value *all = gathered(s, vyre_loop_arg(s->ir, loop, k));
        start_gathering(all);
        gather(s, all, initial.items[k]);
    }
    walk_block(s, vyre_body_block(s->ir, loop), open);
    s->facts.count = facts;
}

/* How what is carried is guessed: as what comes in; with what came back, too; an end that was then
 * still passed being given up; and at last as any number. */
typedef enum guess { GUESS_FIRST, GUESS_ALL, GUESS_WIDE, GUESS_ANY } guess;

static void guess_arg(range_state *s, uint32_t arg, uint32_t initial, guess how) {
    vyre_wide min, max;
    range_type(vyre_inst_type(&s->ir->insts[arg]), &min, &max);
    range_value now = range_value_of(s, initial);
    range_value all = *gathered(s, arg), before = *value_at(s, arg);
    if (how == GUESS_ALL) {
        now.min = all.min < now.min ? all.min : now.min;
        now.max = all.max > now.max ? all.max : now.max;
    } else if (how == GUESS_WIDE) {
        now.min = all.min < before.min ? min : before.min;
        now.max = all.max > before.max ? max : before.max;
    } else if (how == GUESS_ANY) {
        now.min = min;
        now.max = max;
    }
    if (is_number(s, arg)) {
        range_set(s, arg, now.min, now.max);
    } else {
        *value_at(s, arg) = (range_value){0};
    }
}

/* Whether what came back to an arg is what was guessed. */
static bool guess_holds(range_state *s, uint32_t arg) {
    range_value all = *gathered(s, arg), now = *value_at(s, arg);
    return !is_number(s, arg) || (all.min >= now.min && all.max <= now.max);
}

static void walk_loop(range_state *s, uint32_t loop, const open_block *outer) {
    vyre_list initial = vyre_loop_initial(s->ir, loop);
    const open_block open = {loop, outer, outer->loops + 1};
    size_t atoms = s->atoms.count, bounds = s->bounds.count, places = s->places.count;
    bool holds = false;
    for (guess how = open.loops > MOST_GUESSES_DEEP ? GUESS_ANY : GUESS_FIRST;
         !holds && how <= GUESS_ANY; how++) {
        s->atoms.count = atoms;
        s->bounds.count = bounds;
        s->places.count = places;
        for (uint32_t k = 0; k < initial.count; k++) {
            guess_arg(s, vyre_loop_arg(s->ir, loop, k), initial.items[k], how);
        }
        walk_loop_once(s, loop, &open);
        holds = true;
        for (uint32_t k = 0; k < initial.count; k++) {
            holds = holds && guess_holds(s, vyre_loop_arg(s->ir, loop, k));
        }
    }
    bool is_for = s->ir->insts[loop].op == VYRE_OP_FOR;
    for (uint32_t k = 0; is_for && k < initial.count; k++) { /* when the range is used up */
        gather(s, gathered(s, vyre_result(s->ir, loop, k)), vyre_loop_arg(s->ir, loop, k));
    }
    end_results(s, loop);
}

static void visit_plain(range_state *s, uint32_t inst) {
    const vyre_inst *i = &s->ir->insts[inst];
    if (vyre_inst_effects(i) & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE) && i->op != VYRE_OP_CLEAR) {
        range_access_visit(s, inst);
    }
    if (i->type != VYRE_TYPE_VOID) {
        range_value_visit(s, inst);
        range_value *own = value_at(s, inst);
        own->always = own->exact && s->facts.count == s->own_facts;
    }
}

static void walk_block(range_state *s, vyre_block code, const open_block *open) {
    for (uint32_t inst = code.first; inst < code.end && !s->no_memory;
         inst = vyre_inst_next(s->ir, inst)) {
        const vyre_inst *i = &s->ir->insts[inst];
        switch (vyre_inst_op(i)) {
        case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, NONE):
            visit_plain(s, inst);
            break;
        case VYRE_OP_IF: walk_if(s, inst, open); break;
        case VYRE_OP_INLINE: walk_inline(s, inst, open); break;
        case VYRE_ONE_OF(FOR, LOOP): walk_loop(s, inst, open); break;
        case VYRE_ANY_OF(JUMP): visit_jump(s, inst, open); break;
        case VYRE_OP_RESULT:
            if (vyre_is_grouped(s->ir, i)) {
                range_value_visit(s, inst);
            }
            break;
        case VYRE_OP_ARG: break;
        }
    }
}

static void copy_rows(range_state *s) {
    uint32_t count = s->phase->end - s->phase->first;
    for (uint32_t k = 0; k < count; k++) {
        s->rows[k].min = s->values[k].min;
        s->rows[k].max = s->values[k].max;
        s->rows[k].exact = s->values[k].exact;
        s->rows[k].always = s->values[k].always;
    }
}

/* Nothing is known but what types hold. */
static void fill_rows(range_state *s) {
    for (uint32_t inst = s->phase->first; inst < s->phase->end; inst++) {
        vyre_range *row = &s->rows[inst - s->phase->first];
        *row = (vyre_range){.place = VYRE_NONE};
        if (is_number(s, inst)) {
            range_type(vyre_inst_type(&s->ir->insts[inst]), &row->min, &row->max);
        }
    }
}

bool vyre_ranges_init(vyre_ranges *ranges, const vyre_ir *ir, uint32_t phase, bool own_domain) {
    return vyre_ranges_decide(ranges, ir, phase, own_domain, NULL);
}

bool vyre_ranges_decide(vyre_ranges *ranges, const vyre_ir *ir, uint32_t phase, bool own_domain,
                        const uint8_t *asked) {
    range_state s = {
        .ir = ir, .phase = &ir->phases[phase], .own_domain = own_domain, .asked = asked};
    uint32_t count = s.phase->end - s.phase->first;
    *ranges = (vyre_ranges){.first = s.phase->first, .count = count};
    ranges->rows = s.rows = vyre_alloc_zeroed(count, sizeof *s.rows);
    if (!s.rows) {
        return false;
    }
    if (count > MOST_INSTRUCTIONS) {
        fill_rows(&s);
        return true;
    }
    vyre_arena_init(&s.arena);
    s.values = vyre_alloc_zeroed((size_t)count * 2, sizeof *s.values);
    s.lengths = vyre_alloc_zeroed(ir->resource_count, sizeof *s.lengths);
    s.has_length = vyre_alloc_zeroed(ir->resource_count, 1);
    s.elements = vyre_alloc_zeroed(ir->resource_count, sizeof *s.elements);
    s.no_memory = !s.values || !s.lengths || !s.has_length || !s.elements ||
                  !vyre_vec_reserve(&s.atoms, 1); /* so that there is an atom 0 */
    if (!s.no_memory) {
        const open_block open = {VYRE_NONE, NULL, 0};
        range_atom_make(&s, VYRE_NONE, 0, 0);
        range_symbols(&s);
        s.own_facts = s.facts.count;
        walk_block(&s, vyre_phase_block(s.phase), &open);
        copy_rows(&s);
    }
    vyre_arena_deinit(&s.arena);
    vyre_vec_free(&s.atoms);
    vyre_vec_free(&s.bounds);
    vyre_vec_free(&s.facts);
    vyre_vec_free(&s.caps);
    vyre_vec_free(&s.places);
    vyre_free(s.values);
    vyre_free(s.lengths);
    vyre_free(s.has_length);
    vyre_free(s.elements);
    if (s.no_memory) {
        vyre_ranges_deinit(ranges);
    }
    return !s.no_memory;
}

void vyre_ranges_deinit(vyre_ranges *ranges) {
    vyre_free(ranges->rows);
    *ranges = (vyre_ranges){0};
}

vyre_range vyre_range_operand(const vyre_ranges *ranges, const vyre_ir *ir, uint32_t operand) {
    if (vyre_operand_is_value(operand)) {
        return *vyre_range_of(ranges, operand);
    }
    range_state s = {.ir = ir};
    range_value value = range_value_of(&s, operand);
    return (vyre_range){
        .min = value.min, .max = value.max, .exact = true, .always = true, .place = VYRE_NONE};
}
