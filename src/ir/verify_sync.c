#include <stdio.h>

#include "base/alloc.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "ir/uniformity.h"
#include "ir/verify.h"
#include "ir/word.h"

/* Uniformity */

static const char *const group_names[] = {"invocation", "subgroup", "workgroup", "grid"};

static void describe_value(const verifier *v, uint32_t inst, char *out, size_t size) {
    const vyre_ir *ir = v->ir;
    char place[128];
    inst = vyre_is_grouped(ir, &ir->insts[inst]) ? ir->insts[inst].a : inst;
    uint32_t line = vyre_ir_line(ir, inst);
    const char *file = vyre_ir_other_file(ir, inst);
    snprintf(place, sizeof place, line ? "line %u%s%.80s" : "instruction %u%s%.80s",
             line ? line : inst, *file ? " of " : "", file);
    if (ir->insts[inst].op == VYRE_OP_LOAD) {
        snprintf(out, size, "an element of `%.60s`, which the phase also writes (%s)",
                 verify_resource_name(v, ir->insts[inst].a), place);
    } else {
        snprintf(out, size, "`%s` (%s)", vyre_op_written(ir->insts[inst].op, ir->insts[inst].aux),
                 place);
    }
}

/* What made a point of control flow or a value less uniform: the value at the root of it. */
static void describe_cause(const verifier *v, const vyre_uniformity_map *map, uint32_t node,
                           char *out, size_t size) {
    while (map->causes[node] != node && map->causes[node] != VYRE_NONE) {
        node = map->causes[node];
    }
    describe_value(v, map->first + node, out, size);
}

/* How large a group has to arrive together for an operation. */
static vyre_uniformity needed_level(const vyre_inst *inst) {
    switch (vyre_inst_op(inst)) {
    case VYRE_OP_GRID_BARRIER: return VYRE_UNIFORM_GRID;
    case VYRE_ONE_OF(BARRIER, UNIFORM_LOAD): return VYRE_UNIFORM_WORKGROUP;
    case VYRE_ANY_OF(SUBGROUP): return VYRE_UNIFORM_SUBGROUP;
    case VYRE_ONE_OF(LOAD, STORE, CLEAR):
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ATOMIC, CONTROL, NONE): break;
    }
    return VYRE_VARYING;
}

/* The operand that must agree within the group, if the operation has one. */
static uint32_t uniform_operand(const vyre_inst *inst) {
    bool has_one = inst->op == VYRE_OP_UNIFORM_LOAD || inst->op == VYRE_OP_BROADCAST;
    return has_one && vyre_operand_is_value(inst->b) ? inst->b : VYRE_NONE;
}

/* Whether all arrive together at an instruction, and agree where they must. Explains if not, where
 * the map knows causes. */
static bool check_sync(verifier *v, const vyre_uniformity_map *map, vyre_sync sync) {
    const vyre_inst *inst = &v->ir->insts[sync.inst];
    vyre_uniformity needed = needed_level(inst);
    bool is_subgroup = needed == VYRE_UNIFORM_SUBGROUP;
    uint32_t operand = uniform_operand(inst);
    bool arrive = map->levels[sync.control] >= needed;
    bool agree = operand == VYRE_NONE || map->levels[operand - map->first] >= needed;
    if ((arrive && agree) || !map->causes) {
        return arrive && agree;
    }
    const char *name = vyre_op_written(inst->op, inst->aux);
    char cause[288];
    if (!arrive) {
        describe_cause(v, map, sync.control, cause, sizeof cause);
        return verify_error(
            v, sync.inst, is_subgroup ? 502 : 501,
            is_subgroup ? "move it out of that branch or loop, or make the condition the same for "
                          "the subgroup, as with subgroup_any(...)"
                        : "move it out of that branch or loop, or make the condition the same for "
                          "all of them, as with uniform_load(...)",
            "`%s` must be reached by the whole %s together, but whether an invocation gets there "
            "depends on %s",
            name, group_names[needed], cause);
    }
    describe_cause(v, map, operand - map->first, cause, sizeof cause);
    return verify_error(v, sync.inst, 503,
                        is_subgroup
                            ? "use subgroup_shuffle, where each invocation chooses its own lane"
                            : "use an index that does not depend on it",
                        "operand 2 of `%s` must be the same for the whole %s, but it depends on %s",
                        name, group_names[needed], cause);
}

static bool check_syncs(verifier *v, uint32_t phase, bool explain) {
    vyre_uniformity_map map;
    bool valid = true;
    if (!vyre_uniformity_init(&map, v->ir, phase, explain, false)) {
        v->no_memory = true;
        return true;
    }
    for (uint32_t i = 0; i < map.sync_count; i++) {
        valid &= check_sync(v, &map, map.syncs[i]);
    }
    vyre_uniformity_deinit(&map);
    return valid;
}

void verify_uniformity(verifier *v, uint32_t phase) {
    if (!check_syncs(v, phase, false)) {
        check_syncs(v, phase, true);
    }
}

/* Shared arrays across grid barriers. A grid barrier leaves shared arrays zero; a read that can see
 * nothing but that, of an array written before, is a mistake. */

typedef struct shared_state {
    uint64_t written; /* arrays that may have been written */
    uint64_t stale;   /* arrays that may have lost contents and not been written since */
    bool reachable;
} shared_state;

typedef struct shared_frame {
    uint32_t owner, end;
    shared_state entry; /* if: before the branches; loop: at the start of an iteration */
    shared_state exit;  /* joined over the ways out */
    bool in_then;
} shared_frame;

typedef struct shared_walk {
    verifier *v;
    const vyre_phase *phase;
    shared_state
        *iterations; /* by instruction of the phase: what loops have at the start of an iteration */
    uint64_t *bits;  /* by array of the phase: its own bit if it is shared, else 0 */
    shared_frame frames[VYRE_LIMIT_NESTING + 2];
    uint32_t depth;
    shared_state now;
    bool changed, report;
} shared_walk;

static void join_state(shared_state *into, shared_state from) {
    if (from.reachable) {
        into->written |= from.written;
        into->stale |= from.stale;
        into->reachable = true;
    }
}

static uint64_t array_bit(const shared_walk *w, const vyre_inst *inst) {
    uint32_t first = w->phase->first_resource;
    return inst->a < first ? 0 : w->bits[inst->a - first];
}

static void number_arrays(shared_walk *w) {
    uint32_t index = 0;
    for (uint32_t i = w->phase->first_resource; i < w->phase->end_resource; i++) {
        if (w->v->ir->resources[i].kind == VYRE_RESOURCE_SHARED) {
            w->bits[i - w->phase->first_resource] = (uint64_t)1 << index++;
        }
    }
}

static void visit_access(shared_walk *w, uint32_t at, const vyre_inst *inst, uint32_t effects) {
    uint64_t bit = array_bit(w, inst);
    if (effects & VYRE_EFFECT_READ && w->now.stale & bit && w->report) {
        verify_error(w->v, at, 405,
                     "write it again after the grid barrier, or keep the values in a scratch "
                     "buffer",
                     "`%s` reads shared array `%s`, which a grid barrier zeroed after it was "
                     "written",
                     vyre_lookup_op(inst->op)->name, verify_resource_name(w->v, inst->a));
    }
    if (effects & VYRE_EFFECT_WRITE) {
        w->now.written |= bit;
        w->now.stale &= ~bit;
    }
}

static void visit_block(shared_walk *w, uint32_t at, const vyre_inst *inst) {
    shared_frame *opened = &w->frames[w->depth];
    bool is_loop = inst->op == VYRE_OP_LOOP || inst->op == VYRE_OP_FOR;
    if (is_loop) {
        join_state(&w->iterations[at - w->phase->first], w->now);
        w->now = w->iterations[at - w->phase->first];
    }
    *opened = (shared_frame){.owner = at,
                             .end = inst->op == VYRE_OP_IF ? inst->b : inst->c,
                             .entry = w->now,
                             .in_then = inst->op == VYRE_OP_IF};
    if (inst->op == VYRE_OP_FOR) {
        opened->exit = w->now; /* the range may be used up */
    }
    w->depth++;
}

static void visit_end(shared_walk *w, const vyre_inst *inst) {
    uint32_t target = w->depth - 1;
    while (!vyre_jump_ends(w->v->ir, inst->op, w->frames[target].owner)) {
        target--;
    }
    if (inst->op == VYRE_OP_CONTINUE) {
        shared_state *iteration = &w->iterations[w->frames[target].owner - w->phase->first];
        shared_state before = *iteration;
        join_state(iteration, w->now);
        w->changed |= iteration->written != before.written || iteration->stale != before.stale;
    } else if (inst->op != VYRE_OP_UNREACHABLE) {
        join_state(&w->frames[target].exit, w->now);
    }
    w->now.reachable = false;
}

static void walk_shared(shared_walk *w) {
    const vyre_ir *ir = w->v->ir;
    w->now = (shared_state){.reachable = true};
    w->depth = 1;
    w->frames[0] = (shared_frame){.owner = VYRE_NONE, .end = w->phase->end};
    for (uint32_t at = w->phase->first; at < w->phase->end; at++) {
        while (w->depth > 1 && w->frames[w->depth - 1].end == at) {
            shared_frame *top = &w->frames[w->depth - 1];
            if (top->in_then) {
                top->in_then = false;
                top->end = ir->insts[top->owner].c;
                w->now = top->entry;
                break;
            }
            w->now = top->exit;
            w->depth--;
        }
        const vyre_inst *inst = &ir->insts[at];
        uint32_t effects = vyre_lookup_op(inst->op)->effects;
        if (effects & VYRE_EFFECT_BLOCK) {
            visit_block(w, at, inst);
        } else if (effects & VYRE_EFFECT_END) {
            visit_end(w, inst);
        } else if (inst->op == VYRE_OP_GRID_BARRIER) {
            w->now.stale |= w->now.written;
        } else if (effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE)) {
            visit_access(w, at, inst, effects);
        }
    }
}

void verify_shared(verifier *v, uint32_t phase) {
    shared_walk w = {.v = v, .phase = &v->ir->phases[phase]};
    w.iterations = vyre_alloc_zeroed(w.phase->end - w.phase->first, sizeof *w.iterations);
    w.bits = vyre_alloc_zeroed(w.phase->end_resource - w.phase->first_resource, sizeof *w.bits);
    if (!w.iterations || !w.bits) {
        v->no_memory = true;
        goto done;
    }
    number_arrays(&w);
    /* States only grow, so this ends; as a rule after two rounds, at most one more a nested
     * loop. */
    do {
        w.changed = false;
        walk_shared(&w);
    } while (w.changed);
    w.report = true;
    walk_shared(&w);
done:
    vyre_free(w.iterations);
    vyre_free(w.bits);
}
