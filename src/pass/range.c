#include "pass/range.h"

#include <string.h>

#include "base/alloc.h"
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

static void walk_block(range_state *s, uint32_t first, uint32_t end, const open_block *open);

static range_value *value_at(range_state *s, uint32_t inst) {
    return &s->values[inst - s->phase->first];
}

static bool is_number(const range_state *s, uint32_t inst) {
    return vyre_lookup_class((vyre_type)s->ir->insts[inst].type) &
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

static uint32_t result_count(const range_state *s, uint32_t owner) {
    const vyre_inst *result = &s->ir->insts[s->ir->insts[owner].c];
    uint32_t count = 0;
    while (s->ir->insts[owner].c + count < s->phase->end && result[count].op == VYRE_OP_RESULT &&
           result[count].a == owner) {
        count++;
    }
    return count;
}

static void start_results(range_state *s, uint32_t owner) {
    uint32_t count = result_count(s, owner);
    for (uint32_t k = 0; k < count; k++) {
        start_gathering(gathered(s, s->ir->insts[owner].c + k));
    }
}

/* Results become values of their own. Those of a branch that both sides agree on are that value. */
static void end_results(range_state *s, uint32_t owner) {
    uint32_t count = result_count(s, owner), first = s->ir->insts[owner].c;
    for (uint32_t k = 0; k < count; k++) {
        range_value all = *gathered(s, first + k);
        if (!is_number(s, first + k)) {
            *value_at(s, first + k) = (range_value){0};
        } else if (all.min > all.max) { /* nobody gets there */
            range_type((vyre_type)s->ir->insts[first + k].type, &all.min, &all.max);
            range_set(s, first + k, all.min, all.max);
        } else {
            range_set(s, first + k, all.min, all.max);
        }
    }
}

static const open_block *target_of(const range_state *s, const open_block *open, uint32_t op) {
    while (open->owner != VYRE_NONE && !vyre_lookup_ends(op, s->ir->insts[open->owner].op)) {
        open = open->outer;
    }
    return open;
}

static void visit_jump(range_state *s, uint32_t inst, const open_block *open) {
    const vyre_inst *i = &s->ir->insts[inst];
    const open_block *target = target_of(s, open, i->op);
    if (i->op == VYRE_OP_UNREACHABLE || target->owner == VYRE_NONE) {
        return;
    }
    uint32_t kind = s->ir->insts[target->owner].op;
    bool back = vyre_lookup_is_loop(kind) && (i->op == VYRE_OP_YIELD || i->op == VYRE_OP_CONTINUE);
    uint32_t first =
        back ? target->owner + (kind == VYRE_OP_FOR ? 2 : 1) : s->ir->insts[target->owner].c;
    for (uint32_t k = 0; k < i->b; k++) {
        gather(s, gathered(s, first + k), s->ir->operands[i->a + k]);
    }
}

/* Whether the block that ends in front of `end` comes to its end, so that code behind goes on. */
static bool goes_on(const range_state *s, uint32_t end) {
    return s->ir->insts[end - 1].op == VYRE_OP_YIELD;
}

static void walk_if(range_state *s, uint32_t inst, const open_block *outer) {
    const vyre_inst *i = &s->ir->insts[inst];
    const open_block open = {inst, outer, outer->loops};
    size_t before = s->facts.count;
    start_results(s, inst);
    range_assume(s, i->a, true);
    walk_block(s, inst + 1, i->b, &open);
    s->facts.count = before;
    range_assume(s, i->a, false);
    walk_block(s, i->b, i->c, &open);
    s->facts.count = before;
    end_results(s, inst);
    bool yes = goes_on(s, i->b), no = goes_on(s, i->c);
    if (yes != no) {
        range_assume(s, i->a, yes);
    }
}

static void walk_inline(range_state *s, uint32_t inst, const open_block *outer) {
    const open_block open = {inst, outer, outer->loops};
    size_t before = s->facts.count;
    start_results(s, inst);
    walk_block(s, inst + 1, s->ir->insts[inst].c, &open);
    s->facts.count = before;
    end_results(s, inst);
}

/* The counter lies between the first number and the end, which it does not reach. */
static void set_counter(range_state *s, uint32_t inst) {
    const uint32_t *values = s->ir->operands + s->ir->insts[inst].a;
    range_value first = range_value_of(s, values[0]), end = range_value_of(s, values[1]);
    range_value step = range_value_of(s, values[2]);
    vyre_wide max = end.max - 1;
    if (first.min == first.max && step.min == step.max && step.min > 0 && max >= first.min) {
        max -= (max - first.min) % step.min;
    }
    range_set(s, inst + 1, first.min, max);
    uint32_t atom = (uint32_t)s->atoms.count - 1;
    poly p;
    if (s->no_memory || s->atoms.items[atom].inst != inst + 1) {
        return;
    }
    if (range_poly_of(s, values[0], &p)) {
        range_at_least(s, atom, &p);
    }
    if (range_poly_of(s, values[1], &p) && poly_shift(&p, &p, -1)) {
        range_at_most(s, atom, &p);
    }
}

static void walk_loop_once(range_state *s, uint32_t inst, const open_block *open) {
    const vyre_inst *i = &s->ir->insts[inst];
    bool is_for = i->op == VYRE_OP_FOR;
    uint32_t first = is_for ? inst + 2 : inst + 1, carried = is_for ? i->b - 3 : i->b;
    size_t facts = s->facts.count;
    start_results(s, inst);
    if (is_for) {
        set_counter(s, inst);
    }
    for (uint32_t k = 0; k < carried; k++) {
        start_gathering(gathered(s, first + k));
        gather(s, gathered(s, first + k), s->ir->operands[i->a + (is_for ? 3 : 0) + k]);
    }
    walk_block(s, first + carried, i->c, open);
    s->facts.count = facts;
}

/* How what is carried is guessed: as what comes in; with what came back, too; an end that was then
 * still passed being given up; and at last as any number. */
typedef enum guess { GUESS_FIRST, GUESS_ALL, GUESS_WIDE, GUESS_ANY } guess;

static void walk_loop(range_state *s, uint32_t inst, const open_block *outer) {
    const vyre_inst *i = &s->ir->insts[inst];
    bool is_for = i->op == VYRE_OP_FOR;
    uint32_t first = is_for ? inst + 2 : inst + 1, carried = is_for ? i->b - 3 : i->b;
    const open_block open = {inst, outer, outer->loops + 1};
    size_t atoms = s->atoms.count, bounds = s->bounds.count, places = s->places.count;
    guess iteration = open.loops > MOST_GUESSES_DEEP ? GUESS_ANY : GUESS_FIRST;
    for (;; iteration++) {
        s->atoms.count = atoms;
        s->bounds.count = bounds;
        s->places.count = places;
        for (uint32_t k = 0; k < carried; k++) {
            uint32_t arg = first + k;
            vyre_wide min, max;
            range_type((vyre_type)s->ir->insts[arg].type, &min, &max);
            range_value now = range_value_of(s, s->ir->operands[i->a + (is_for ? 3 : 0) + k]);
            range_value all = *gathered(s, arg), before = *value_at(s, arg);
            if (iteration == GUESS_ALL) {
                now.min = all.min < now.min ? all.min : now.min;
                now.max = all.max > now.max ? all.max : now.max;
            } else if (iteration == GUESS_WIDE) {
                now.min = all.min < before.min ? min : before.min;
                now.max = all.max > before.max ? max : before.max;
            } else if (iteration == GUESS_ANY) {
                now.min = min;
                now.max = max;
            }
            if (is_number(s, arg)) {
                range_set(s, arg, now.min, now.max);
            } else {
                *value_at(s, arg) = (range_value){0};
            }
        }
        walk_loop_once(s, inst, &open);
        bool holds = true;
        for (uint32_t k = 0; k < carried; k++) {
            range_value all = *gathered(s, first + k), now = *value_at(s, first + k);
            holds =
                holds && (!is_number(s, first + k) || (all.min >= now.min && all.max <= now.max));
        }
        if (holds || iteration == GUESS_ANY) {
            break;
        }
    }
    for (uint32_t k = 0; is_for && k < carried; k++) { /* when the range is used up */
        gather(s, gathered(s, i->c + k), first + k);
    }
    end_results(s, inst);
}

static void walk_block(range_state *s, uint32_t first, uint32_t end, const open_block *open) {
    for (uint32_t inst = first; inst < end && !s->no_memory;) {
        const vyre_inst *i = &s->ir->insts[inst];
        uint32_t effects = vyre_lookup_op(i->op)->effects;
        uint32_t next = effects & VYRE_EFFECT_BLOCK ? i->c : inst + 1;
        if (i->op == VYRE_OP_IF) {
            walk_if(s, inst, open);
        } else if (i->op == VYRE_OP_INLINE) {
            walk_inline(s, inst, open);
        } else if (vyre_lookup_is_loop(i->op)) {
            walk_loop(s, inst, open);
        } else if (effects & VYRE_EFFECT_END) {
            visit_jump(s, inst, open);
        } else if (vyre_lookup_is_grouped(s->ir, i)) {
            range_value_visit(s, inst);
        } else if (i->op != VYRE_OP_ARG && i->op != VYRE_OP_RESULT) {
            if (effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE) && i->op != VYRE_OP_CLEAR) {
                range_access_visit(s, inst);
            }
            if (i->type != VYRE_TYPE_VOID) {
                range_value_visit(s, inst);
                range_value *own = value_at(s, inst);
                own->always = own->exact && s->facts.count == s->own_facts;
            }
        }
        inst = next;
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
            range_type((vyre_type)s->ir->insts[inst].type, &row->min, &row->max);
        }
    }
}

bool vyre_ranges_init(vyre_ranges *ranges, const vyre_ir *ir, uint32_t phase, bool own_domain) {
    range_state s = {.ir = ir, .phase = &ir->phases[phase], .own_domain = own_domain};
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
    s.no_memory = !s.values || !s.lengths || !s.has_length ||
                  !vyre_vec_reserve(&s.atoms, 1); /* so that there is an atom 0 */
    if (!s.no_memory) {
        const open_block open = {VYRE_NONE, NULL, 0};
        range_atom_make(&s, VYRE_NONE, 0, 0);
        range_symbols(&s);
        s.own_facts = s.facts.count;
        walk_block(&s, s.phase->first, s.phase->end, &open);
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
    if (!(operand & VYRE_CONSTANT)) {
        return *vyre_range_of(ranges, operand);
    }
    range_state s = {.ir = ir};
    range_value value = range_value_of(&s, operand);
    return (vyre_range){
        .min = value.min, .max = value.max, .exact = true, .always = true, .place = VYRE_NONE};
}
