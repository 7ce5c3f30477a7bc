#include "ir/uniformity.h"

#include <string.h>

#include "base/vec.h"

typedef struct edge {
    uint32_t from, to;
} edge;

/* An instruction whose blocks are open. */
typedef struct region {
    uint32_t owner; /* VYRE_NONE for the phase */
    uint32_t end;
    uint32_t control;      /* where its blocks stand now */
    uint32_t before;       /* control flow in front of it */
    uint32_t after;        /* control flow behind it if somebody jumps out */
    uint32_t head;         /* loops: control flow at the start of a turn */
    uint32_t ends[2];      /* how many ways there are to go on, and to leave */
    uint32_t first_end[2]; /* control flow at the first of them */
    uint32_t loop, call;   /* regions of the innermost loop and inline, itself included */
    uint32_t escape;       /* outermost region that a jump from inside leaves for; own number if none */
    bool in_then;
} region;

typedef struct analysis {
    const vyre_ir *ir;
    const vyre_phase *phase;
    vyre_uniformity_map *map;
    uint8_t *written; /* by resource */
    uint8_t *floors;  /* by instruction: the level it cannot fall below */
    VYRE_VEC(edge) edges;
    VYRE_VEC(uint8_t) control_levels;
    region regions[VYRE_LIMIT_NESTING + 2];
    uint32_t depth;
    bool failed;
} analysis;

enum { CONTINUES, LEAVES };

static uint32_t inst_count(const analysis *a) {
    return a->phase->end - a->phase->first;
}

static void add_edge(analysis *a, uint32_t from, uint32_t to) {
    a->failed |= !vyre_vec_push(&a->edges, (edge){from, to});
}

/* From a value operand to a node; constants are uniform for everybody. */
static void depend(analysis *a, uint32_t operand, uint32_t node) {
    if (!(operand & VYRE_CONSTANT)) {
        add_edge(a, operand - a->phase->first, node);
    }
}

static uint32_t new_control(analysis *a) {
    a->failed |= !vyre_vec_push(&a->control_levels, VYRE_UNIFORM_GRID);
    return inst_count(a) + (uint32_t)a->control_levels.count - 1;
}

static uint32_t node_of(const analysis *a, uint32_t inst) {
    return inst - a->phase->first;
}

/* What an instruction's value is worth before its operands are looked at. */
static vyre_uniformity start_level(const analysis *a, const vyre_inst *inst) {
    switch (inst->op) {
    case VYRE_OP_GID:
    case VYRE_OP_LID:
    case VYRE_OP_LANE:
    case VYRE_OP_IN_DOMAIN:
    case VYRE_OP_SHUFFLE:
    case VYRE_OP_SHUFFLE_XOR:
    case VYRE_OP_SHUFFLE_UP:
    case VYRE_OP_SHUFFLE_DOWN:
    case VYRE_OP_SCAN:
    case VYRE_OP_SCAN_EXCLUSIVE: return VYRE_VARYING;
    case VYRE_OP_SUBGROUP_ID: return VYRE_UNIFORM_SUBGROUP;
    case VYRE_OP_WID: return VYRE_UNIFORM_WORKGROUP;
    case VYRE_OP_LOAD: return a->written[inst->a] ? VYRE_VARYING : VYRE_UNIFORM_GRID;
    case VYRE_OP_UNIFORM_LOAD:
        return a->ir->resources[inst->a].kind == VYRE_RESOURCE_SHARED ? VYRE_UNIFORM_WORKGROUP
                                                                      : VYRE_UNIFORM_GRID;
    default:
        return vyre_op_info_of(inst->op)->effects & VYRE_EFFECT_ATOMIC ? VYRE_VARYING
                                                                       : VYRE_UNIFORM_GRID;
    }
}

static vyre_uniformity floor_level(const vyre_inst *inst) {
    switch (inst->op) {
    case VYRE_OP_BROADCAST:
    case VYRE_OP_BALLOT:
    case VYRE_OP_ANY:
    case VYRE_OP_ALL:
    case VYRE_OP_REDUCE: return VYRE_UNIFORM_SUBGROUP;
    case VYRE_OP_UNIFORM_LOAD: return VYRE_UNIFORM_WORKGROUP;
    default: return VYRE_VARYING;
    }
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
    region *opened = open_region(a, at, inst->b, control);
    opened->head = control;
    opened->in_then = true;
}

static void open_loop(analysis *a, uint32_t at, const vyre_inst *inst) {
    const uint32_t *values = a->ir->operands + inst->a;
    bool is_for = inst->op == VYRE_OP_FOR;
    uint32_t head = is_for ? 3 : 0;
    uint32_t control = new_control(a);
    add_edge(a, a->regions[a->depth - 1].control, control);
    region *opened = open_region(a, at, inst->c, control);
    opened->head = control;
    opened->after = new_control(a);
    opened->loop = a->depth - 1;
    uint32_t first_arg = node_of(a, at) + 1 + is_for;
    for (uint32_t i = head; i < inst->b; i++) {
        depend(a, values[i], first_arg + i - head);
    }
    if (!is_for) {
        return;
    }
    /* The counter follows first number and step; all three decide who takes another turn. */
    add_edge(a, control, opened->after);
    depend(a, values[0], first_arg - 1);
    depend(a, values[2], first_arg - 1);
    for (uint32_t i = 0; i < 3; i++) {
        depend(a, values[i], control);
        for (uint32_t k = 0; k < inst->b - head; k++) {
            depend(a, values[i], node_of(a, inst->c) + k);
        }
    }
    for (uint32_t k = 0; k < inst->b - head; k++) {
        add_edge(a, first_arg + k, node_of(a, inst->c) + k);
    }
}

static void open_inline(analysis *a, uint32_t at, const vyre_inst *inst) {
    region *opened = open_region(a, at, inst->c, a->regions[a->depth - 1].control);
    opened->call = a->depth - 1;
    opened->loop = VYRE_NONE;
}

/* Values meet at `first`, one a list entry. Where several ways lead there, who took which way shows. */
static void join(analysis *a, const vyre_inst *inst, region *to, int way, uint32_t first,
                 uint32_t control) {
    to->ends[way]++;
    if (to->ends[way] == 1) {
        to->first_end[way] = control;
    }
    for (uint32_t i = 0; i < inst->b; i++) {
        depend(a, a->ir->operands[inst->a + i], first + i);
        if (to->ends[way] == 2) {
            add_edge(a, to->first_end[way], first + i);
        }
        if (to->ends[way] > 1) {
            add_edge(a, control, first + i);
        }
    }
}

static void visit_end(analysis *a, const vyre_inst *inst) {
    region *top = &a->regions[a->depth - 1];
    uint32_t control = top->control, target = a->depth - 1;
    switch (inst->op) {
    case VYRE_OP_YIELD: {
        uint32_t first = node_of(a, a->ir->insts[top->owner].c);
        for (uint32_t i = 0; i < inst->b; i++) {
            depend(a, a->ir->operands[inst->a + i], first + i);
        }
        top->ends[LEAVES]++;
        if (!top->after) {
            top->after = new_control(a);
        }
        add_edge(a, control, top->after);
        break;
    }
    case VYRE_OP_BREAK: {
        target = top->loop;
        region *to = &a->regions[target];
        uint32_t first = node_of(a, a->ir->insts[to->owner].c);
        for (uint32_t i = 0; i < inst->b; i++) {
            /* Some may break in an earlier turn than others. */
            depend(a, a->ir->operands[inst->a + i], first + i);
            add_edge(a, control, first + i);
        }
        add_edge(a, control, to->after);
        break;
    }
    case VYRE_OP_CONTINUE: {
        target = top->loop;
        region *to = &a->regions[target];
        bool is_for = a->ir->insts[to->owner].op == VYRE_OP_FOR;
        join(a, inst, to, CONTINUES, node_of(a, to->owner) + 1 + is_for, control);
        add_edge(a, control, to->head);
        break;
    }
    case VYRE_OP_RETURN:
        target = top->call == VYRE_NONE ? 0 : top->call;
        if (target) {
            region *to = &a->regions[target];
            join(a, inst, to, LEAVES, node_of(a, a->ir->insts[to->owner].c), control);
        }
        break;
    default: break;
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
    if (owner->op == VYRE_OP_IF && closed->ends[LEAVES] == 2) {
        /* Which branch a value came from shows only in the condition. */
        const vyre_inst *result = &a->ir->insts[owner->c];
        for (uint32_t k = 0; result[k].op == VYRE_OP_RESULT && result[k].a == closed->owner; k++) {
            depend(a, owner->a, node_of(a, owner->c) + k);
        }
    }
    parent->control = escapes && closed->after ? closed->after : closed->before;
}

static void visit(analysis *a, uint32_t at) {
    const vyre_inst *inst = &a->ir->insts[at];
    uint32_t node = node_of(a, at);
    uint32_t control = a->regions[a->depth - 1].control;
    a->map->control[node] = control;
    a->map->levels[node] = (uint8_t)start_level(a, inst);
    a->floors[node] = (uint8_t)floor_level(inst);
    switch (inst->op) {
    case VYRE_OP_IF: open_if(a, at, inst); return;
    case VYRE_OP_LOOP:
    case VYRE_OP_FOR: open_loop(a, at, inst); return;
    case VYRE_OP_INLINE: open_inline(a, at, inst); return;
    default: break;
    }
    if (vyre_op_info_of(inst->op)->effects & VYRE_EFFECT_END) {
        visit_end(a, inst);
        return;
    }
    const uint32_t *values;
    uint32_t count = vyre_inst_values(a->ir, inst, &values);
    for (uint32_t i = 0; i < count; i++) {
        depend(a, values[i], node);
    }
    if (inst->op == VYRE_OP_UNIFORM_LOAD) {
        add_edge(a, control, node);
    }
}

static void walk(analysis *a) {
    a->depth = 1;
    a->regions[0] = (region){.owner = VYRE_NONE,
                             .end = a->phase->end,
                             .control = new_control(a),
                             .loop = VYRE_NONE,
                             .call = VYRE_NONE};
    for (uint32_t at = a->phase->first; at < a->phase->end && !a->failed; at++) {
        while (a->depth > 1 && a->regions[a->depth - 1].end == at) {
            region *top = &a->regions[a->depth - 1];
            if (top->in_then) {
                top->in_then = false;
                top->end = a->ir->insts[top->owner].c;
                top->control = top->head;
                break;
            }
            close_region(a);
        }
        visit(a, at);
    }
}

/* Lowers levels along the edges until nothing changes. */
static bool settle(analysis *a) {
    vyre_uniformity_map *map = a->map;
    uint32_t insts = inst_count(a), nodes = insts + (uint32_t)a->control_levels.count;
    uint8_t *levels = vyre_resize(map->levels, nodes, 1);
    uint32_t *first = vyre_alloc_zeroed((size_t)nodes + 1, sizeof *first);
    uint32_t *targets = vyre_alloc_array(a->edges.count, sizeof *targets);
    VYRE_VEC(uint32_t) work = {0};
    map->levels = levels ? levels : map->levels;
    map->causes = vyre_alloc_array(nodes, sizeof *map->causes);
    map->count = nodes;
    bool done = false;
    if (!levels || !first || !targets || !map->causes || !vyre_vec_reserve(&work, nodes)) {
        goto done;
    }
    memset(levels + insts, VYRE_UNIFORM_GRID, nodes - insts);
    for (size_t i = 0; i < a->edges.count; i++) {
        first[a->edges.items[i].from + 1]++;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        first[i + 1] += first[i];
    }
    for (size_t i = a->edges.count; i-- > 0;) {
        edge e = a->edges.items[i];
        targets[--first[e.from + 1]] = e.to;
    }
    /* first[i + 1] now says where the targets of node i start, first[i + 2] where they end. */
    for (uint32_t i = 0; i < nodes; i++) {
        bool lowered = levels[i] < VYRE_UNIFORM_GRID;
        map->causes[i] = lowered ? i : VYRE_NONE;
        if (lowered) {
            work.items[work.count++] = i;
        }
    }
    while (work.count) {
        uint32_t node = work.items[--work.count];
        size_t end = node + 2 <= nodes ? first[node + 2] : a->edges.count;
        for (size_t i = first[node + 1]; i < end; i++) {
            uint32_t to = targets[i];
            uint8_t floor = to < insts ? a->floors[to] : VYRE_VARYING;
            uint8_t level = levels[node] < floor ? floor : levels[node];
            if (level < levels[to]) {
                levels[to] = level;
                map->causes[to] = node;
                if (!vyre_vec_push(&work, to)) {
                    goto done;
                }
            }
        }
    }
    done = true;
done:
    vyre_free(first);
    vyre_free(targets);
    vyre_vec_free(&work);
    return done;
}

bool vyre_uniformity_init(vyre_uniformity_map *map, const vyre_ir *ir, uint32_t phase) {
    analysis a = {.ir = ir, .phase = &ir->phases[phase], .map = map};
    uint32_t insts = inst_count(&a);
    *map = (vyre_uniformity_map){.first = a.phase->first};
    map->levels = vyre_alloc_array(insts, 1);
    map->control = vyre_alloc_array(insts, sizeof *map->control);
    a.floors = vyre_alloc_array(insts, 1);
    a.written = vyre_alloc_zeroed(ir->resource_count, 1);
    a.failed = !map->levels || !map->control || !a.floors || !a.written;
    for (uint32_t i = a.phase->first; i < a.phase->end && !a.failed; i++) {
        const vyre_inst *inst = &ir->insts[i];
        if (vyre_op_info_of(inst->op)->effects & VYRE_EFFECT_WRITE) {
            a.written[inst->a] = 1;
        }
    }
    if (!a.failed) {
        walk(&a);
    }
    bool done = !a.failed && settle(&a);
    vyre_free(a.floors);
    vyre_free(a.written);
    vyre_vec_free(&a.edges);
    vyre_vec_free(&a.control_levels);
    if (!done) {
        vyre_uniformity_deinit(map);
    }
    return done;
}

void vyre_uniformity_deinit(vyre_uniformity_map *map) {
    vyre_free(map->levels);
    vyre_free(map->causes);
    vyre_free(map->control);
    *map = (vyre_uniformity_map){0};
}
