#include "ir/uniformity.h"

#include <string.h>

#include "base/alloc.h"
#include "ir/cases.h"
#include "ir/lookup.h"

/* An instruction whose blocks are open. */
typedef struct region {
    uint32_t owner; /* VYRE_NONE for the phase */
    uint32_t end;
    uint32_t control;    /* where its blocks stand now */
    uint32_t before;     /* control flow in front of it */
    uint32_t head;       /* if: at the start of a branch; loop: of an iteration */
    uint32_t after;      /* where its ways out meet; 0 while there is no such point */
    uint32_t exits;      /* ways out seen so far; of an if, its yields */
    uint32_t iterations; /* loops: ways to go on seen so far */
    uint32_t loop, call; /* regions of the innermost loop and inline, itself included */
    uint32_t escape; /* outermost region that a jump from inside leaves for; own number if none */
    bool in_then;
} region;

/* The graph is walked twice: the first time edges are counted, the second they are written, so that
 * they take no more memory than they need. */
typedef struct analysis {
    const vyre_ir *ir;
    const vyre_phase *phase;
    vyre_uniformity_map *map;
    uint8_t *written;  /* by resource */
    uint32_t *starts;  /* by node: its edges in `targets`; while counting, how many */
    uint32_t *targets; /* NULL while counting */
    region regions[VYRE_LIMIT_NESTING + 2];
    uint32_t depth;
} analysis;

enum { SYNC_EFFECTS = VYRE_EFFECT_SYNC | VYRE_EFFECT_SUBGROUP };

static uint32_t inst_count(const analysis *a) {
    return a->phase->end - a->phase->first;
}

static void add_edge(analysis *a, uint32_t from, uint32_t to) {
    if (a->targets) {
        a->targets[--a->starts[from]] = to;
    } else {
        a->starts[from]++;
    }
}

/* From a value operand to a node; constants are uniform for everybody. */
static void depend(analysis *a, uint32_t operand, uint32_t node) {
    if (vyre_operand_is_value(operand)) {
        add_edge(a, operand - a->phase->first, node);
    }
}

/* A point of control flow. Also used for what else several values depend on. */
static uint32_t new_control(analysis *a) {
    return a->map->count++;
}

/* Points that an instruction may need, if it holds blocks. */
enum { MOST_CONTROLS = 3 };

static uint32_t node_of(const analysis *a, uint32_t inst) {
    return inst - a->phase->first;
}

/* While the levels settle, a byte holds the level, the floor below which it cannot fall, whether
 * the node waits to be looked at, and whether it is an operation of a group. */
enum { LEVEL_MASK = 3, FLOOR_SHIFT = 2, FLOOR_MASK = 12, WAITING = 16, SYNC = 32 };

/* What an instruction's value is worth before its operands are looked at, and its floor. */
static uint8_t start_level(const analysis *a, const vyre_inst *inst) {
    uint32_t level = VYRE_UNIFORM_GRID, floor = VYRE_VARYING;
    switch (vyre_inst_op(inst)) {
    case VYRE_ONE_OF(GID, LID, LANE, IN_DOMAIN, SHUFFLE, SHUFFLE_XOR, SHUFFLE_UP, SHUFFLE_DOWN,
                     SCAN, SCAN_EXCLUSIVE):
    case VYRE_ANY_OF(ATOMIC): level = VYRE_VARYING; break;
    case VYRE_OP_SUBGROUP_ID: level = VYRE_UNIFORM_SUBGROUP; break;
    case VYRE_OP_WID: level = VYRE_UNIFORM_WORKGROUP; break;
    case VYRE_OP_LOAD:
        level = a->written[vyre_access_resource(inst)] ? VYRE_VARYING : VYRE_UNIFORM_GRID;
        break;
    case VYRE_ONE_OF(BROADCAST, REDUCE):
    case VYRE_ANY_OF(VOTE): floor = VYRE_UNIFORM_SUBGROUP; break;
    case VYRE_OP_UNIFORM_LOAD:
        floor = VYRE_UNIFORM_WORKGROUP;
        if (vyre_access_array(a->ir, inst)->kind == VYRE_RESOURCE_SHARED) {
            level = VYRE_UNIFORM_WORKGROUP;
        }
        break;
    case VYRE_OP_RESULT:
        level = vyre_is_grouped(a->ir, inst) ? VYRE_VARYING : VYRE_UNIFORM_GRID;
        break;
    case VYRE_ONE_OF(PARAM, NUM_WORKGROUPS, ITERATION, LEN, STORE, CLEAR, MATRIX_MAD, ARG):
    case VYRE_ANY_OF(PURE, ELEMENTARY, BARRIER, BLOCK, JUMP, NONE): break; /* its operands tell */
    }
    bool is_sync = vyre_lookup_op(inst->op)->effects & SYNC_EFFECTS;
    return (uint8_t)(level | floor << FLOOR_SHIFT | (is_sync ? SYNC : 0));
}

static region *open_region(analysis *a, uint32_t at, uint32_t end, uint32_t control) {
    region *parent = &a->regions[a->depth - 1];
    region *opened = &a->regions[a->depth];
    *opened = (region){.owner = at,
                       .end = end,
                       .control = control,
                       .before = parent->control,
                       .loop = parent->loop,
                       .call = parent->call,
                       .escape = a->depth};
    a->depth++;
    return opened;
}

static void open_if(analysis *a, uint32_t at, const vyre_inst *inst) {
    uint32_t control = new_control(a);
    add_edge(a, a->regions[a->depth - 1].control, control);
    depend(a, inst->a, control);
    region *opened = open_region(a, at, vyre_then_block(a->ir, at).end, control);
    opened->head = control;
    opened->in_then = true;
}

static void open_loop(analysis *a, uint32_t at, const vyre_inst *inst) {
    vyre_list initial = vyre_loop_initial(a->ir, at);
    uint32_t control = new_control(a);
    add_edge(a, a->regions[a->depth - 1].control, control);
    region *opened = open_region(a, at, vyre_owner_end(a->ir, at), control);
    opened->head = control;
    opened->after = new_control(a);
    opened->loop = a->depth - 1;
    for (uint32_t k = 0; k < initial.count; k++) {
        depend(a, initial.items[k], node_of(a, vyre_loop_arg(a->ir, at, k)));
    }
    if (inst->op != VYRE_OP_FOR) {
        return;
    }
    /* The counter follows first number and step; all three decide who takes another iteration. */
    vyre_for_range range = vyre_for_range_of(a->ir, at);
    uint32_t counter = node_of(a, vyre_for_counter(at)), taken = new_control(a);
    add_edge(a, control, opened->after);
    depend(a, range.first, counter);
    depend(a, range.step, counter);
    depend(a, range.first, taken);
    depend(a, range.end, taken);
    depend(a, range.step, taken);
    add_edge(a, taken, control);
    for (uint32_t k = 0; k < initial.count; k++) {
        uint32_t result = node_of(a, vyre_result(a->ir, at, k));
        add_edge(a, taken, result);
        add_edge(a, node_of(a, vyre_loop_arg(a->ir, at, k)), result);
    }
}

static void open_inline(analysis *a, uint32_t at) {
    region *opened =
        open_region(a, at, vyre_owner_end(a->ir, at), a->regions[a->depth - 1].control);
    opened->call = a->depth - 1;
    opened->loop = VYRE_NONE;
}

/* The values of a terminator arrive at the args or results of an owner. Unless `node` is VYRE_NONE,
 * what arrives there depends on it, too. */
static void hand_on(analysis *a, const vyre_inst *inst, uint32_t owner, uint32_t node) {
    vyre_list values = vyre_inst_operands(a->ir, inst);
    for (uint32_t k = 0; k < values.count; k++) {
        uint32_t target = node_of(a, vyre_jump_target(a->ir, inst, owner, k));
        depend(a, values.items[k], target);
        if (node != VYRE_NONE) {
            add_edge(a, node, target);
        }
    }
}

static void visit_yield(analysis *a, const vyre_inst *inst, region *top) {
    hand_on(a, inst, top->owner, VYRE_NONE);
    top->exits++;
    if (!top->after) {
        top->after = new_control(a);
    }
    add_edge(a, top->control, top->after);
}

/* Some may break in an earlier iteration than others, so who does shows in the results. */
static void visit_break(analysis *a, const vyre_inst *inst, region *loop, uint32_t control) {
    hand_on(a, inst, loop->owner, ++loop->exits == 1 ? loop->after : VYRE_NONE);
    add_edge(a, control, loop->after);
}

/* All take their turns in step, so one `continue` shows nothing; of several, who took which
 * does. */
static void visit_continue(analysis *a, const vyre_inst *inst, region *loop, uint32_t control) {
    hand_on(a, inst, loop->owner, ++loop->iterations == 2 ? loop->head : VYRE_NONE);
    add_edge(a, control, loop->head);
}

/* As with `continue`; but some may return in an earlier iteration of a loop than others. The first
 * return needs no look at its control flow: who does not take it parts from those who do, and
 * returns later. */
static void visit_return(analysis *a, const vyre_inst *inst, region *call, uint32_t control,
                         bool in_loop) {
    call->exits++;
    bool meets = !call->after && (in_loop || call->exits == 2);
    if (meets) {
        call->after = new_control(a);
    }
    hand_on(a, inst, call->owner, meets ? call->after : VYRE_NONE);
    if (call->after) {
        add_edge(a, control, call->after);
    }
}

static void visit_end(analysis *a, const vyre_inst *inst) {
    region *top = &a->regions[a->depth - 1];
    uint32_t target = a->depth - 1;
    if (inst->op == VYRE_OP_YIELD) {
        visit_yield(a, inst, top);
    } else if (inst->op == VYRE_OP_BREAK) {
        target = top->loop;
        visit_break(a, inst, &a->regions[target], top->control);
    } else if (inst->op == VYRE_OP_CONTINUE) {
        target = top->loop;
        visit_continue(a, inst, &a->regions[target], top->control);
    } else if (inst->op == VYRE_OP_RETURN) {
        target = top->call == VYRE_NONE ? 0 : top->call;
        if (target) {
            visit_return(a, inst, &a->regions[target], top->control, top->loop != VYRE_NONE);
        }
    }
    top->escape = target < top->escape ? target : top->escape;
}

static void close_region(analysis *a) {
    region *closed = &a->regions[--a->depth];
    region *parent = &a->regions[a->depth - 1];
    const vyre_inst *owner = &a->ir->insts[closed->owner];
    bool escapes = closed->escape < a->depth;
    if (escapes && closed->escape < parent->escape) {
        parent->escape = closed->escape;
    }
    if (owner->op == VYRE_OP_IF && closed->exits == 2) {
        /* Which branch a value came from shows only in the condition. */
        vyre_block results = vyre_results(a->ir, closed->owner);
        for (uint32_t result = results.first; result < results.end; result++) {
            depend(a, owner->a, node_of(a, result));
        }
    }
    parent->control = escapes && closed->after ? closed->after : closed->before;
}

static void add_sync(analysis *a, uint32_t at) {
    uint32_t control = a->regions[a->depth - 1].control;
    a->map->syncs[a->map->sync_count++] = (vyre_sync){at, control};
}

static void visit_value(analysis *a, uint32_t at, const vyre_inst *inst) {
    uint32_t node = node_of(a, at);
    uint8_t level = a->map->levels[node];
    if (level & SYNC) {
        add_sync(a, at);
    }
    if ((level & LEVEL_MASK) == VYRE_VARYING) {
        return; /* as low as can be */
    }
    vyre_list values = vyre_inst_operands(a->ir, inst);
    for (uint32_t i = 0; i < values.count; i++) {
        depend(a, values.items[i], node);
    }
    if (inst->op == VYRE_OP_UNIFORM_LOAD) {
        add_edge(a, a->regions[a->depth - 1].control, node);
    }
}

/* An instruction without a value: nobody can depend on it but by control flow. */
static void visit_effect(analysis *a, uint32_t at, const vyre_inst *inst) {
    switch (vyre_inst_op(inst)) {
    case VYRE_OP_IF: open_if(a, at, inst); return;
    case VYRE_ONE_OF(LOOP, FOR): open_loop(a, at, inst); return;
    case VYRE_OP_INLINE: open_inline(a, at); return;
    case VYRE_ONE_OF(YIELD, BREAK, CONTINUE, RETURN): visit_end(a, inst); return;
    case VYRE_ONE_OF(MATRIX_MAD, BARRIER, GRID_BARRIER): add_sync(a, at); return;
    case VYRE_OP_UNREACHABLE:
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, SHUFFLE, VOTE, COMBINE, PICK, NONE):
        return;
    }
}

/* Blocks that end here: a then goes on as the else, others close. */
static void end_blocks(analysis *a, uint32_t at) {
    while (a->depth > 1 && a->regions[a->depth - 1].end == at) {
        region *top = &a->regions[a->depth - 1];
        if (top->in_then) {
            top->in_then = false;
            top->end = vyre_owner_end(a->ir, top->owner);
            top->control = top->head;
            break;
        }
        close_region(a);
    }
}

static void walk(analysis *a) {
    a->map->count = inst_count(a);
    a->map->sync_count = 0;
    a->depth = 1;
    a->regions[0] = (region){.owner = VYRE_NONE,
                             .end = a->phase->end,
                             .control = new_control(a),
                             .loop = VYRE_NONE,
                             .call = VYRE_NONE};
    uint32_t block_end = a->phase->end;
    for (uint32_t at = a->phase->first; at < a->phase->end; at++) {
        const vyre_inst *inst = &a->ir->insts[at];
        if (at == block_end) {
            end_blocks(a, at);
            block_end = a->regions[a->depth - 1].end;
        }
        if (a->map->controls) {
            a->map->controls[node_of(a, at)] = a->regions[a->depth - 1].control;
        }
        if (inst->type == VYRE_TYPE_VOID) {
            visit_effect(a, at, inst);
            block_end = a->regions[a->depth - 1].end;
        } else {
            visit_value(a, at, inst);
        }
    }
}

/* Both walks; false without memory. */
static bool make_graph(analysis *a, uint32_t most_nodes) {
    a->starts = vyre_alloc_zeroed((size_t)most_nodes + 1, sizeof *a->starts);
    if (!a->starts) {
        return false;
    }
    walk(a);
    /* Each node's edges are written from the back, after which `starts` is what its name says. */
    uint32_t nodes = a->map->count;
    for (uint32_t i = 1; i < nodes; i++) {
        a->starts[i] += a->starts[i - 1];
    }
    uint32_t edges = a->starts[nodes - 1];
    a->starts[nodes] = edges;
    a->targets = vyre_alloc_array(edges, sizeof *a->targets);
    if (!a->targets) {
        return false;
    }
    walk(a);
    return true;
}

/* Lowers levels along the edges until nothing changes. A node waits once at a time. */
static bool settle(analysis *a) {
    vyre_uniformity_map *map = a->map;
    uint8_t *levels = map->levels;
    uint32_t *causes = map->causes;
    uint32_t nodes = map->count, waiting = 0;
    uint32_t *work = vyre_alloc_array(nodes, sizeof *work);
    if (!work) {
        return false;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        bool lowered = (levels[i] & LEVEL_MASK) < VYRE_UNIFORM_GRID;
        if (lowered) {
            levels[i] |= WAITING;
            work[waiting++] = i;
        }
        if (causes) {
            causes[i] = lowered ? i : VYRE_NONE;
        }
    }
    while (waiting) {
        uint32_t node = work[--waiting];
        levels[node] &= LEVEL_MASK | FLOOR_MASK;
        uint32_t level = levels[node] & LEVEL_MASK;
        for (uint32_t i = a->starts[node]; i < a->starts[node + 1]; i++) {
            uint32_t to = a->targets[i];
            uint32_t floor = levels[to] >> FLOOR_SHIFT & LEVEL_MASK;
            uint32_t lowered = level < floor ? floor : level;
            if (lowered < (levels[to] & LEVEL_MASK)) {
                if (!(levels[to] & WAITING)) {
                    work[waiting++] = to;
                }
                levels[to] = (uint8_t)((levels[to] & FLOOR_MASK) | WAITING | lowered);
                if (causes) {
                    causes[to] = node;
                }
            }
        }
    }
    for (uint32_t i = 0; i < nodes; i++) {
        levels[i] &= LEVEL_MASK;
    }
    vyre_free(work);
    return true;
}

/* What has to be known before the walks: which arrays the phase writes, and the most that there can
 * be of nodes and synchronising instructions. */
static uint32_t survey(analysis *a, uint32_t *out_syncs) {
    uint32_t most_nodes = inst_count(a) + 1, syncs = 0;
    for (uint32_t i = a->phase->first; i < a->phase->end; i++) {
        const vyre_inst *inst = &a->ir->insts[i];
        uint32_t effects = vyre_lookup_op(inst->op)->effects;
        if (effects & VYRE_EFFECT_BLOCK) {
            most_nodes += MOST_CONTROLS;
        } else if (effects & VYRE_EFFECT_WRITE) {
            a->written[vyre_access_resource(inst)] = 1;
        }
        syncs += (effects & SYNC_EFFECTS) != 0;
    }
    *out_syncs = syncs;
    return most_nodes;
}

bool vyre_uniformity_init(vyre_uniformity_map *map, const vyre_ir *ir, uint32_t phase,
                          bool with_causes, bool with_controls) {
    analysis a = {.ir = ir, .phase = &ir->phases[phase], .map = map};
    *map = (vyre_uniformity_map){.first = a.phase->first};
    bool done = false;
    a.written = vyre_alloc_zeroed(ir->resource_count, 1);
    if (!a.written) {
        goto done;
    }
    uint32_t insts = inst_count(&a), syncs, most_nodes = survey(&a, &syncs);
    map->levels = vyre_alloc_array(most_nodes, 1);
    map->syncs = vyre_alloc_array(syncs, sizeof *map->syncs);
    map->causes = with_causes ? vyre_alloc_array(most_nodes, sizeof *map->causes) : NULL;
    map->controls = with_controls ? vyre_alloc_array(insts, sizeof *map->controls) : NULL;
    if (!map->levels || !map->syncs || (with_causes && !map->causes) ||
        (with_controls && !map->controls)) {
        goto done;
    }
    for (uint32_t i = 0; i < insts; i++) {
        const vyre_inst *inst = &ir->insts[a.phase->first + i];
        map->levels[i] = inst->type == VYRE_TYPE_VOID ? VYRE_UNIFORM_GRID : start_level(&a, inst);
    }
    memset(map->levels + insts, VYRE_UNIFORM_GRID, most_nodes - insts);
    done = make_graph(&a, most_nodes) && settle(&a);
done:
    vyre_free(a.written);
    vyre_free(a.starts);
    vyre_free(a.targets);
    if (!done) {
        vyre_uniformity_deinit(map);
    }
    return done;
}

void vyre_uniformity_deinit(vyre_uniformity_map *map) {
    vyre_free(map->levels);
    vyre_free(map->causes);
    vyre_free(map->syncs);
    vyre_free(map->controls);
    *map = (vyre_uniformity_map){0};
}
