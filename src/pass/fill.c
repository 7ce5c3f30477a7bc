#include "pass/fill.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "pass/cover.h"
#include "pass/fill_value.h"

enum {
    MOST_LOOKED_AT = 64, /* earlier stores that a load may come from */
    MOST_STORES = 4096,  /* of a phase that may cover an array */
    MOST_CONDITIONS = 8, /* in one another */
};

/* A block that is open. */
typedef struct frame {
    uint32_t owner; /* VYRE_NONE for the phase */
    uint32_t end;
    uint32_t guards; /* how many hold in front of it */
    bool is_lost;    /* nobody knows who comes here from now on */
    bool in_then;
    bool left_then, left_else; /* nobody comes to the end of that branch */
} frame;

/* A store, for loads of the same element. */
typedef struct own_store {
    uint32_t resource, operand, index, end; /* of its block */
    vyre_type type;
} own_store;

typedef struct full_store {
    uint32_t resource;
    cover_store store;
} full_store;

typedef enum array_state { NOT_ASKED, OPEN, OVERWRITTEN } array_state;

typedef struct walk {
    const vyre_ir *ir;
    sum_table sums;
    uint8_t *states;  /* by resource: array_state */
    uint32_t *phases; /* by resource, of those that are overwritten */
    uint32_t open_count;
    fill_values values;

    /* The phase at hand. */
    const vyre_phase *phase;
    frame frames[VYRE_LIMIT_NESTING + 2];
    uint32_t depth;
    cover_guard guards[COVER_GUARDS];
    uint32_t guard_count;
    VYRE_VEC(own_store) own;
    VYRE_VEC(full_store) full;
    bool no_memory;
} walk;

/* Conditions */

static bool push_guard(walk *w, uint32_t less, uint32_t end, bool is_exact) {
    if (less == SUM_UNKNOWN || end == SUM_UNKNOWN || w->guard_count == COVER_GUARDS) {
        return false;
    }
    w->guards[w->guard_count++] = (cover_guard){.less = less, .end = end, .is_exact = is_exact};
    return true;
}

/* left < right + more */
static bool push_less(walk *w, uint32_t left, uint32_t right, int64_t more) {
    bool left_exact, right_exact;
    vyre_type type = vyre_operand_type(w->ir, left);
    uint32_t less = fill_value_sum(&w->values, left, &left_exact);
    uint32_t end = fill_value_sum(&w->values, right, &right_exact);
    return fill_is_unsigned(type) &&
           push_guard(w, less, sum_add(&w->sums, end, sum_number(&w->sums, more)), right_exact);
}

static bool push_domain(walk *w) {
    bool all = w->phase->from_resource == VYRE_NONE;
    for (uint32_t i = 0; i < w->phase->dimensions && all; i++) {
        all = push_guard(w, sum_of(&w->sums, SUM_GID, i, 0),
                         sum_of_size(&w->sums, w->phase->domain[i]), true);
    }
    return all;
}

/* Takes a condition that holds, or does not, as guards; false if it cannot. */
static bool push_condition(walk *w, uint32_t condition, bool holds, uint32_t depth) {
    if (vyre_operand_is_constant(condition)) {
        return (vyre_operand_bits(w->ir, condition) != 0) == holds;
    }
    if (depth == MOST_CONDITIONS) {
        return false;
    }
    const vyre_inst *inst = &w->ir->insts[condition];
    if (inst->op == VYRE_OP_IN_DOMAIN) {
        return holds && push_domain(w);
    }
    switch (vyre_inst_op(inst)) {
    case VYRE_OP_NOT: return push_condition(w, inst->a, !holds, depth + 1);
    case VYRE_ONE_OF(AND, OR):
        return holds == (inst->op == VYRE_OP_AND) && push_condition(w, inst->a, holds, depth + 1) &&
               push_condition(w, inst->b, holds, depth + 1);
    case VYRE_OP_LT: return holds && push_less(w, inst->a, inst->b, 0);
    case VYRE_OP_LE:
        return holds ? push_less(w, inst->a, inst->b, 1) : push_less(w, inst->b, inst->a, 0);
    case VYRE_ONE_OF(EQ, NE): /* nothing but zero is less than one */
        return vyre_operand_has_bits(w->ir, inst->b, 0) && holds == (inst->op == VYRE_OP_EQ) &&
               push_less(w, inst->a, inst->b, 1);
    case VYRE_OP_XOR:
    case VYRE_ANY_OF(SURROUNDINGS, ARITHMETIC, INTEGER, SHIFT, BITS, FLOAT, CHOICE, ELEMENTARY,
                     ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    }
    return false;
}

/* Blocks */

static frame *top_of(walk *w) {
    return &w->frames[w->depth - 1];
}

/* Whether an iteration of a loop may be its last before the range is used up. */
static bool may_end_early(const vyre_ir *ir, uint32_t loop) {
    vyre_block body = vyre_body_block(ir, loop);
    uint32_t inner_end = 0;
    for (uint32_t i = body.first; i < body.end; i++) {
        uint32_t op = ir->insts[i].op;
        if (op == VYRE_OP_RETURN || (op == VYRE_OP_BREAK && i >= inner_end)) {
            return true;
        }
        if (vyre_op_is_loop(op) && vyre_owner_end(ir, i) > inner_end) {
            inner_end = vyre_owner_end(ir, i);
        }
        if (op == VYRE_OP_INLINE) { /* nothing leaves more than that */
            i = vyre_block_terminator(vyre_owner_blocks(ir, i));
        }
    }
    return false;
}

/* The counter of a `for` is first + step * iteration, as long as that is less than the end. */
static bool open_for(walk *w, uint32_t at, uint32_t depth) {
    vyre_for_range range = vyre_for_range_of(w->ir, at);
    vyre_type type = vyre_operand_type(w->ir, range.first);
    bool first_exact, end_exact, step_exact;
    int64_t number;
    uint32_t first = fill_value_sum(&w->values, range.first, &first_exact);
    uint32_t end = fill_value_sum(&w->values, range.end, &end_exact);
    uint32_t step = fill_value_sum(&w->values, range.step, &step_exact);
    if (!fill_is_unsigned(type) || !first_exact || !sum_is_number(&w->sums, step, &number) ||
        number <= 0) {
        return false;
    }
    uint32_t iteration = sum_of(&w->sums, SUM_ITERATION, depth, 0);
    uint32_t counter = sum_add(&w->sums, first, sum_multiply(&w->sums, step, iteration));
    fill_value_set(&w->values, vyre_for_counter(at), counter);
    return push_guard(w, counter, end, end_exact);
}

static void open_block(walk *w, uint32_t at) {
    const vyre_inst *inst = &w->ir->insts[at];
    const frame *parent = top_of(w);
    frame *opened = &w->frames[w->depth];
    bool is_if = inst->op == VYRE_OP_IF;
    *opened = (frame){.owner = at,
                      .end = is_if ? vyre_then_block(w->ir, at).end : vyre_owner_end(w->ir, at),
                      .guards = w->guard_count,
                      .is_lost = parent->is_lost,
                      .in_then = is_if};
    if (is_if) {
        opened->is_lost |= !push_condition(w, inst->a, true, 0);
    } else if (vyre_op_is_loop(inst->op)) {
        opened->is_lost |= inst->op != VYRE_OP_FOR || !open_for(w, at, w->depth);
        opened->is_lost = opened->is_lost || may_end_early(w->ir, at);
    }
    w->depth++;
}

/* Blocks that end in front of an instruction. */
static void close_blocks(walk *w, uint32_t at) {
    while (w->depth > 1 && top_of(w)->end == at) {
        frame *top = top_of(w), *parent = top - 1;
        const vyre_inst *inst = &w->ir->insts[top->owner];
        w->guard_count = top->guards;
        if (top->in_then) {
            top->in_then = false;
            top->end = vyre_owner_end(w->ir, top->owner);
            top->is_lost = parent->is_lost || !push_condition(w, inst->a, false, 0);
            return;
        }
        w->depth--;
        if (top->left_then && !push_condition(w, inst->a, false, 0)) {
            parent->is_lost = true;
        }
        if (top->left_else && !push_condition(w, inst->a, true, 0)) {
            parent->is_lost = true;
        }
    }
}

static void see_end(walk *w, const vyre_inst *inst) {
    frame *top = top_of(w);
    uint32_t here = w->depth - 1, target = here;
    while (!vyre_jump_ends(w->ir, inst->op, w->frames[target].owner)) {
        target--;
    }
    if (here == target + 1 && w->ir->insts[top->owner].op == VYRE_OP_IF) {
        top->left_then |= top->in_then;
        top->left_else |= !top->in_then;
        return;
    }
    for (uint32_t i = target; i < here; i++) {
        w->frames[i].is_lost = true;
    }
}

/* Accesses */

static void give_up(walk *w, uint32_t resource) {
    if (w->states[resource] == OPEN) {
        w->states[resource] = NOT_ASKED;
        w->open_count--;
    }
}

/* Whether the invocation has written the element itself, where it surely came by. */
static bool is_own(walk *w, uint32_t at, const vyre_inst *inst) {
    bool exact;
    uint32_t operand = vyre_access_index(w->ir, inst), resource = vyre_access_resource(inst);
    uint32_t index = fill_value_sum(&w->values, operand, &exact);
    vyre_type type = vyre_operand_type(w->ir, operand);
    size_t count = w->own.count, least = count > MOST_LOOKED_AT ? count - MOST_LOOKED_AT : 0;
    for (size_t i = count; i-- > least;) {
        const own_store *store = &w->own.items[i];
        if (store->resource == resource && store->end > at &&
            (store->operand == operand ||
             (store->type == type && sum_same(&w->sums, store->index, index)))) {
            return true;
        }
    }
    return false;
}

static void see_store(walk *w, const vyre_inst *inst) {
    const frame *top = top_of(w);
    bool exact;
    uint32_t operand = vyre_access_index(w->ir, inst);
    full_store found = {.resource = vyre_access_resource(inst)};
    cover_store *store = &found.store;
    store->index = fill_value_sum(&w->values, operand, &exact);
    vyre_type type = vyre_operand_type(w->ir, operand);
    own_store own = {found.resource, operand, store->index, top->end, type};
    w->no_memory |= !vyre_vec_push(&w->own, own);
    bool counts = fill_is_unsigned(type) || type == VYRE_TYPE_I64;
    if (top->is_lost || !counts || store->index == SUM_UNKNOWN ||
        w->phase->from_resource != VYRE_NONE || w->full.count == MOST_STORES) {
        return;
    }
    store->guard_count = (uint8_t)w->guard_count;
    memcpy(store->guards, w->guards, w->guard_count * sizeof *w->guards);
    for (uint32_t i = 1; i < w->depth; i++) {
        if (w->ir->insts[w->frames[i].owner].op != VYRE_OP_FOR) {
            continue;
        }
        if (store->loop_count == COVER_LOOPS) {
            return;
        }
        store->loops[store->loop_count++] = (uint8_t)i;
    }
    w->no_memory |= !vyre_vec_push(&w->full, found);
}

static void walk_code(walk *w, const vyre_phase *phase) {
    const vyre_ir *ir = w->ir;
    w->phase = w->values.phase = phase;
    w->frames[0] = (frame){.owner = VYRE_NONE, .end = phase->end};
    w->depth = 1;
    w->guard_count = 0;
    w->own.count = w->full.count = 0;
    for (uint32_t at = phase->first; at < phase->end && w->open_count; at++) {
        const vyre_inst *inst = &ir->insts[at];
        uint32_t effects = vyre_inst_effects(inst);
        close_blocks(w, at);
        if (effects & VYRE_EFFECT_BLOCK) {
            open_block(w, at);
        } else if (effects & VYRE_EFFECT_END) {
            see_end(w, inst);
        } else if (effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE) &&
                   w->states[vyre_access_resource(inst)] == OPEN) {
            if (!(effects & VYRE_EFFECT_READ)) {
                see_store(w, inst);
            } else if (inst->op != VYRE_OP_LOAD || !is_own(w, at, inst)) {
                give_up(w, vyre_access_resource(inst));
            }
        }
    }
}

/* Which of the arrays the phase that was walked overwrites. */
static void find_covered(walk *w, uint32_t phase) {
    cover_store stores[COVER_STORES];
    for (size_t first = 0; first < w->full.count; first++) {
        uint32_t resource = w->full.items[first].resource, count = 0;
        if (resource == VYRE_NONE || w->states[resource] != OPEN) {
            continue;
        }
        for (size_t i = first; i < w->full.count; i++) {
            full_store *found = &w->full.items[i];
            if (found->resource == resource) {
                found->resource = VYRE_NONE; /* has had its turn */
                if (count < COVER_STORES) {
                    stores[count++] = found->store;
                }
            }
        }
        uint32_t length = sum_of_length(&w->sums, resource);
        if (cover_reaches(&w->sums, w->phase, stores, count, length)) {
            w->states[resource] = OVERWRITTEN;
            w->phases[resource] = phase;
            w->open_count--;
        }
    }
}

static void walk_steps(walk *w, uint32_t first, uint32_t end, bool is_certain) {
    const vyre_ir *ir = w->ir;
    for (uint32_t i = first; i < end && w->open_count; i = ir->steps[i].end) {
        const vyre_step *step = &ir->steps[i];
        if (step->kind == VYRE_STEP_PHASE) {
            const vyre_phase *phase = &ir->phases[step->size];
            if (phase->from_resource != VYRE_NONE) {
                give_up(w, phase->from_resource);
            }
            walk_code(w, phase);
            if (is_certain) {
                find_covered(w, step->size);
            }
            continue;
        }
        if (step->kind == VYRE_STEP_SWAP) { /* zeros that are there go elsewhere */
            give_up(w, step->resource);
            give_up(w, step->size);
            continue;
        }
        bool has_iteration = false;
        if (step->kind == VYRE_STEP_REPEAT_WHILE || step->kind == VYRE_STEP_IF) {
            give_up(w, step->resource);
        } else if (step->kind == VYRE_STEP_REPEAT_COUNT) {
            has_iteration =
                sum_reaches(&w->sums, sum_of_size(&w->sums, step->size), sum_number(&w->sums, 1));
        }
        walk_steps(w, i + 1, step->end, is_certain && has_iteration);
    }
}

static bool starts_as_zeros(const vyre_resource *row) {
    return row->kind == VYRE_RESOURCE_SCRATCH ||
           (row->kind == VYRE_RESOURCE_BUFFER && row->access == VYRE_ACCESS_OUT);
}

static vyre_status no_memory(const vyre_program *program) {
    return vyre_no_memory("to look through `%s`", vyre_program_name(program));
}

vyre_status vyre_fill_find(const vyre_program *program, uint32_t *out_phases) {
    const vyre_ir *ir = vyre_program_ir(program);
    uint32_t count = 0;
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        out_phases[i] = VYRE_NONE;
        count += starts_as_zeros(&ir->resources[i]);
    }
    if (!count) {
        return VYRE_OK;
    }
    vyre_status status = VYRE_OK;
    walk *w = vyre_alloc_zeroed(1, sizeof *w);
    if (!w) {
        return no_memory(program);
    }
    w->ir = ir;
    w->phases = out_phases;
    w->open_count = count;
    w->states = vyre_alloc_zeroed(ir->resource_count, sizeof *w->states);
    w->values = (fill_values){.ir = ir, .sums = &w->sums};
    w->values.indices = vyre_alloc_zeroed(ir->inst_count, sizeof *w->values.indices);
    bool has_sums = sum_table_init(&w->sums, ir);
    if (w->states && w->values.indices && has_sums) {
        for (uint32_t i = 0; i < ir->resource_count; i++) {
            w->states[i] = starts_as_zeros(&ir->resources[i]) ? OPEN : NOT_ASKED;
        }
        walk_steps(w, 0, ir->step_count, true);
        status = w->no_memory || w->sums.no_memory ? no_memory(program) : VYRE_OK;
    } else {
        status = no_memory(program);
    }
    sum_table_deinit(&w->sums);
    vyre_vec_free(&w->own);
    vyre_vec_free(&w->full);
    vyre_free(w->states);
    vyre_free(w->values.indices);
    vyre_free(w);
    return status;
}

/* For people */

static const char *phase_name(const vyre_ir *ir, uint32_t phase) {
    for (uint32_t i = 0; i < ir->step_name_count; i++) {
        if (ir->steps[i].kind == VYRE_STEP_PHASE && ir->steps[i].size == phase) {
            return ir->debug_strings + ir->step_names[i];
        }
    }
    return "";
}

static void print_array(vyre_strbuf *out, const vyre_ir *ir, uint32_t resource) {
    const char *kind = ir->resources[resource].kind == VYRE_RESOURCE_SCRATCH ? "scratch" : "out";
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        if (ir->args[arg].resource == resource) {
            vyre_strbuf_printf(out, "%s `%s`", kind, ir->strings + ir->args[arg].name);
            return;
        }
    }
    const char *name =
        resource < ir->resource_name_count ? ir->debug_strings + ir->resource_names[resource] : "";
    if (*name) {
        vyre_strbuf_printf(out, "%s `%s`", kind, name);
    } else {
        vyre_strbuf_printf(out, "%s %u", kind, resource);
    }
}

vyre_status vyre_fill_print(const vyre_program *program, const char *prefix, vyre_strbuf *out) {
    const vyre_ir *ir = vyre_program_ir(program);
    uint32_t *phases = vyre_alloc_array(ir->resource_count, sizeof *phases);
    vyre_status status = phases ? vyre_fill_find(program, phases) : no_memory(program);
    for (uint32_t i = 0; i < ir->resource_count && !status; i++) {
        if (!starts_as_zeros(&ir->resources[i])) {
            continue;
        }
        vyre_strbuf_puts(out, prefix);
        print_array(out, ir, i);
        if (phases[i] == VYRE_NONE) {
            vyre_strbuf_puts(out, " is filled with zeros first\n");
            continue;
        }
        const char *name = phase_name(ir, phases[i]);
        vyre_strbuf_puts(out, " is not filled: ");
        if (*name) {
            vyre_strbuf_printf(out, "phase `%s`", name);
        } else {
            vyre_strbuf_printf(out, "phase %u", phases[i]);
        }
        vyre_strbuf_puts(out, " overwrites all of it before anything reads it\n");
    }
    vyre_free(phases);
    return status;
}
