#include "backend/reference/sanitizer.h"

#include <string.h>

#include "backend/reference/report.h"
#include "base/alloc.h"
#include "ir/lookup.h"

/* Accesses of one kind to one element that nothing orders: the first and the last few. An access
 * that is not ordered after all there were is as a rule not ordered after one of these. */
enum { READS = 3, ATOMICS = 2 };

/* What is remembered of an element. Stamps of an earlier epoch are void. */
typedef struct cell {
    stamp write, reads[READS];
    uint32_t epoch;
    uint32_t atomics : 30; /* 1 + its number in a pool; 0 if it has none */
    uint32_t next_read : 1;
    uint32_t written : 1;
} cell;

/* More of an element that atomics work on. */
typedef struct atomic_cell {
    stamp writes[ATOMICS], reads[ATOMICS];
    knowledge left; /* what releasing atomics left here */
    uint32_t head_group, head_lane;
    bool single; /* all of it is from this lane, the head */
} atomic_cell;

typedef struct pool {
    atomic_cell *items;
    uint32_t used, capacity;
} pool;

#define POOL_LIMIT ((1u << 30) - 2)

struct sanitizer {
    vyre_findings *findings;
    cell **cells; /* by resource: one an element of buffers and scratch */
    uint32_t resource_count;
    uint32_t epoch;
    pool atomics;
};

struct fiber_watch {
    knowledge group;  /* what all lanes know */
    knowledge *lanes; /* what each knows on top of that, since the last barrier */
    uint32_t *clocks; /* by lane */
    uint32_t barriers, epoch;
    cell **cells; /* by array of the phase: shared ones have cells */
    pool atomics; /* of these */
};

vyre_findings *sanitizer_findings(const machine *m) {
    return m->watch->findings;
}

/* Pools */

static void pool_free(pool *p) {
    for (uint32_t i = 0; i < p->capacity; i++) {
        knowledge_free(&p->items[i].left);
    }
    vyre_free(p->items);
    *p = (pool){0};
}

/* The next number, 0 without memory. */
static uint32_t pool_take(machine *m, pool *p) {
    if (p->used == p->capacity) {
        uint32_t capacity = p->capacity ? p->capacity * 2 : 16;
        uint64_t more = (uint64_t)(capacity - p->capacity) * sizeof *p->items;
        if (capacity > POOL_LIMIT || !machine_reserve(m, more, "tracking its atomics")) {
            return 0;
        }
        atomic_cell *items = vyre_resize(p->items, capacity, sizeof *items);
        if (!items) {
            return 0;
        }
        memset(items + p->capacity, 0, (size_t)more);
        p->items = items;
        p->capacity = capacity;
    }
    atomic_cell *taken = &p->items[p->used];
    knowledge_clear(m, &taken->left);
    for (int i = 0; i < ATOMICS; i++) {
        taken->writes[i].group = taken->reads[i].group = NOBODY;
    }
    return ++p->used;
}

/* Life */

static bool make_cells(machine *m) {
    sanitizer *watch = m->watch;
    for (uint32_t i = 0; i < watch->resource_count; i++) {
        if (!vyre_resource_is_global(&m->ir->resources[i])) {
            continue;
        }
        uint64_t length = array_length(m, i);
        if (!machine_reserve(m, length * sizeof(cell), "tracking its arrays")) {
            return false;
        }
        watch->cells[i] = vyre_alloc_zeroed((size_t)length, sizeof(cell));
        if (!watch->cells[i]) {
            return machine_no_memory(m);
        }
        /* What the caller brings counts as written, wherever a swap takes it. */
        bool is_buffer = m->ir->resources[i].kind != VYRE_RESOURCE_SCRATCH;
        for (uint64_t k = 0; k < length && is_buffer; k++) {
            watch->cells[i][k].written = true;
        }
    }
    return true;
}

void sanitizer_swap(sanitizer *watch, uint32_t first, uint32_t second) {
    cell *kept = watch->cells[first];
    watch->cells[first] = watch->cells[second];
    watch->cells[second] = kept;
}

bool sanitizer_init(machine *m, vyre_findings *findings) {
    sanitizer *watch = vyre_alloc_zeroed(1, sizeof *watch);
    m->watch = watch;
    if (!watch) {
        return machine_no_memory(m);
    }
    watch->findings = findings;
    watch->resource_count = m->ir->resource_count;
    watch->cells = vyre_alloc_zeroed(m->ir->resource_count, sizeof *watch->cells);
    return watch->cells ? make_cells(m) : machine_no_memory(m);
}

void sanitizer_free(sanitizer *watch) {
    if (watch) {
        for (uint32_t i = 0; watch->cells && i < watch->resource_count; i++) {
            vyre_free(watch->cells[i]);
        }
        pool_free(&watch->atomics);
        vyre_free(watch->cells);
        vyre_free(watch);
    }
}

void sanitizer_separate(sanitizer *watch) {
    watch->epoch++;
    watch->atomics.used = 0;
}

bool sanitizer_enter(machine *m) {
    sanitizer_separate(m->watch);
    pool_free(&m->watch->atomics); /* what it takes is reserved phase by phase */
    if (m->group_count >= NOBODY) {
        m->status = vyre_status_make(VYRE_STATUS_LIMIT, "check it with a smaller domain",
                                     "program `%s`: a phase of %llu workgroups is too large to "
                                     "check for races",
                                     vyre_program_name(m->plan->program),
                                     (unsigned long long)m->group_count);
        return false;
    }
    return true;
}

static bool has_cells(const machine *m, uint32_t resource) {
    return m->ir->resources[resource].kind == VYRE_RESOURCE_SHARED;
}

uint64_t fiber_watch_bytes(const machine *m) {
    uint64_t bytes =
        sizeof(fiber_watch) + (uint64_t)m->layout.lanes * (sizeof(knowledge) + sizeof(uint32_t));
    for (uint32_t i = m->phase->first_resource; i < m->phase->end_resource; i++) {
        bytes += sizeof(cell *) + (has_cells(m, i) ? array_length(m, i) * sizeof(cell) : 0);
    }
    return bytes;
}

fiber_watch *fiber_watch_new(const machine *m) {
    uint32_t lanes = m->layout.lanes, first = m->phase->first_resource;
    uint32_t arrays = m->phase->end_resource - first;
    fiber_watch *watch = vyre_alloc_zeroed(1, sizeof *watch);
    if (!watch) {
        return NULL;
    }
    watch->lanes = vyre_alloc_zeroed(lanes, sizeof *watch->lanes);
    watch->clocks = vyre_alloc_zeroed(lanes, sizeof *watch->clocks);
    watch->cells = vyre_alloc_zeroed(arrays, sizeof *watch->cells);
    bool made = watch->lanes && watch->clocks && watch->cells;
    for (uint32_t i = 0; made && i < arrays; i++) {
        if (has_cells(m, first + i)) {
            watch->cells[i] = vyre_alloc_zeroed((size_t)array_length(m, first + i), sizeof(cell));
            made = watch->cells[i];
        }
    }
    if (!made) {
        fiber_watch_free(m, watch);
        return NULL;
    }
    return watch;
}

void fiber_watch_start(machine *m, fiber_watch *watch) {
    knowledge_clear(m, &watch->group);
    watch->barriers = 0;
    watch->epoch++;
    watch->atomics.used = 0;
    for (uint32_t i = 0; i < m->layout.lanes; i++) {
        knowledge_clear(m, &watch->lanes[i]);
        watch->clocks[i] = 0;
    }
}

void fiber_watch_free(const machine *m, fiber_watch *watch) {
    if (!watch) {
        return;
    }
    knowledge_free(&watch->group);
    for (uint32_t i = 0; watch->lanes && i < m->layout.lanes; i++) {
        knowledge_free(&watch->lanes[i]);
    }
    uint32_t arrays = m->phase->end_resource - m->phase->first_resource;
    for (uint32_t i = 0; watch->cells && i < arrays; i++) {
        vyre_free(watch->cells[i]);
    }
    pool_free(&watch->atomics);
    vyre_free(watch->lanes);
    vyre_free(watch->clocks);
    vyre_free(watch->cells);
    vyre_free(watch);
}

/* Races */

typedef struct access {
    machine *m;
    fiber *f;
    uint32_t resource, lane;
    uint64_t index;
    stamp now;
    cell *cell;
    atomic_cell *atomics; /* NULL where no atomic works on the element */
    bool is_atomic, writes, reads;
} access;

/* Whether `before` is bound to have happened before the access. */
static bool is_ordered(const access *a, const stamp *before) {
    const fiber_watch *watch = a->f->watch;
    if (before->group == a->now.group &&
        (stamp_lane(before) == a->lane || before->barriers < a->now.barriers)) {
        return true;
    }
    return knowledge_has(&watch->group, before) || knowledge_has(&watch->lanes[a->lane], before);
}

/* Whether the scope of an atomic keeps it apart from another workgroup's. */
static bool is_narrow(const machine *m, const stamp *atomic) {
    return vyre_atomic_scope(&m->ir->insts[stamp_inst(atomic)]) == VYRE_SCOPE_WORKGROUP;
}

static bool meet(const access *a, const stamp *before, bool before_atomic) {
    if (before->group == NOBODY) {
        return true;
    }
    if (a->is_atomic && before_atomic &&
        (before->group == a->now.group ||
         (!is_narrow(a->m, before) && !is_narrow(a->m, &a->now)))) {
        return true;
    }
    return is_ordered(a, before) || report_race(a->m, a->resource, a->index, before, &a->now);
}

static bool meet_all(const access *a, const stamp *before, int count, bool before_atomic) {
    for (int i = 0; i < count; i++) {
        if (!meet(a, &before[i], before_atomic)) {
            return false;
        }
    }
    return true;
}

/* Puts the access where there is room, or where one is that it comes after; else in place of
 * `oldest`, which is not the first. */
static void keep(const access *a, stamp *kept, int count, int oldest) {
    for (int i = 0; i < count; i++) {
        if (kept[i].group == NOBODY || is_ordered(a, &kept[i])) {
            kept[i] = a->now;
            return;
        }
    }
    kept[oldest] = a->now;
}

static void forget(stamp *kept, int count) {
    for (int i = 0; i < count; i++) {
        kept[i].group = NOBODY;
    }
}

static bool check_races(const access *a) {
    cell *c = a->cell;
    atomic_cell *more = a->atomics;
    if (!meet(a, &c->write, false) || (more && !meet_all(a, more->writes, ATOMICS, true)) ||
        (a->writes && !meet_all(a, c->reads, READS, false)) ||
        (a->writes && more && !meet_all(a, more->reads, ATOMICS, true))) {
        return false;
    }
    if (a->is_atomic) {
        keep(a, a->writes ? more->writes : more->reads, ATOMICS, ATOMICS - 1);
    } else if (!a->writes) {
        keep(a, c->reads, READS, 1 + c->next_read);
        c->next_read ^= 1;
    } else {
        /* Whoever is not ordered after one of these is not ordered after this write either. */
        c->write = a->now;
        forget(c->reads, READS);
        if (more) {
            forget(more->reads, ATOMICS);
            forget(more->writes, ATOMICS);
            knowledge_clear(a->m, &more->left);
        }
    }
    return true;
}

/* Joining takes time, too. */
static bool charge_joins(machine *m, const fiber *f) {
    uint64_t joined = m->joined;
    m->joined = 0;
    return machine_charge(m, f, joined);
}

/* What atomics hand over. A release leaves what its lane knows with the element; an acquire takes
 * it. An update without a release passes on what is there; a store ends it, unless it is by the
 * lane that left it. */
static bool hand_over(const access *a) {
    vyre_ordering ordering = vyre_atomic_ordering(&a->m->ir->insts[stamp_inst(&a->now)]);
    bool acquires =
        a->reads && ordering != VYRE_ORDERING_RELAXED && ordering != VYRE_ORDERING_RELEASE;
    bool releases =
        a->writes && ordering != VYRE_ORDERING_RELAXED && ordering != VYRE_ORDERING_ACQUIRE;
    fiber_watch *watch = a->f->watch;
    atomic_cell *c = a->atomics;
    bool is_head = c->single && c->head_group == a->now.group && c->head_lane == a->lane;
    if (acquires && !knowledge_join(a->m, &watch->lanes[a->lane], &c->left)) {
        return false;
    }
    if (a->writes && !a->reads && !is_head) {
        knowledge_clear(a->m, &c->left);
    }
    if (releases) {
        c->single = !c->left.root || is_head;
        c->head_group = a->now.group;
        c->head_lane = a->lane;
        mark own = {a->now.group, a->lane, ++watch->clocks[a->lane], watch->barriers};
        if (!knowledge_join(a->m, &c->left, &watch->lanes[a->lane]) ||
            !knowledge_join(a->m, &c->left, &watch->group) || !knowledge_add(a->m, &c->left, own)) {
            return false;
        }
    }
    return charge_joins(a->m, a->f);
}

/* Accesses */

/* The cell of the element, its stamps those of the epoch at hand; NULL for a private or constant
 * array. */
static cell *find_cell(const access *a) {
    const machine *m = a->m;
    const fiber_watch *watch = a->f->watch;
    bool is_shared = !vyre_resource_is_global(&m->ir->resources[a->resource]);
    if (m->ir->resources[a->resource].kind == VYRE_RESOURCE_CONSTANT) {
        return NULL;
    }
    cell *cells = is_shared ? watch->cells[a->resource - m->phase->first_resource]
                            : m->watch->cells[a->resource];
    if (!cells) {
        return NULL;
    }
    cell *c = &cells[a->index];
    uint32_t epoch = is_shared ? watch->epoch : m->watch->epoch;
    if (c->epoch != epoch) {
        c->epoch = epoch;
        c->written = !is_shared && c->written;
        c->atomics = 0;
        c->write.group = NOBODY;
        forget(c->reads, READS);
    }
    return c;
}

static bool find_atomics(access *a) {
    bool is_shared = !vyre_resource_is_global(&a->m->ir->resources[a->resource]);
    pool *p = is_shared ? &a->f->watch->atomics : &a->m->watch->atomics;
    if (a->is_atomic && !a->cell->atomics) {
        a->cell->atomics = pool_take(a->m, p) & 0x3fffffff;
        if (!a->cell->atomics) {
            return false;
        }
    }
    a->atomics = a->cell->atomics ? &p->items[a->cell->atomics - 1] : NULL;
    return true;
}

static bool watch_lane(machine *m, fiber *f, uint32_t at, uint32_t lane, bool writes) {
    const vyre_inst *inst = &m->ir->insts[at];
    uint32_t effects = vyre_inst_effects(inst);
    access a = {.m = m,
                .f = f,
                .resource = vyre_access_resource(inst),
                .lane = lane,
                .index = m->indices[lane],
                .now = {.group = (uint32_t)f->group,
                        .who = at << LANE_BITS | lane,
                        .barriers = f->watch->barriers,
                        .clock = f->watch->clocks[lane]},
                .is_atomic = effects & VYRE_EFFECT_ATOMIC,
                .writes = writes,
                .reads = effects & VYRE_EFFECT_READ};
    if (a.index >= array_length(m, a.resource)) {
        return report_bounds(m, a.resource, a.index, &a.now);
    }
    a.cell = find_cell(&a);
    if (!a.cell) {
        return true;
    }
    const vyre_resource *row = &m->ir->resources[a.resource];
    bool is_buffer = row->kind == VYRE_RESOURCE_BUFFER || vyre_resource_is_field(row);
    if (!a.cell->written && !a.writes && !a.is_atomic && !is_buffer &&
        !report_unwritten(m, a.resource, a.index, &a.now)) {
        return false;
    }
    a.cell->written |= a.writes;
    return find_atomics(&a) && check_races(&a) && (!a.is_atomic || hand_over(&a));
}

bool sanitizer_access(machine *m, fiber *f, uint32_t at) {
    const uint8_t *mask = top_frame(f)->mask;
    bool writes = vyre_inst_effects(&m->ir->insts[at]) & VYRE_EFFECT_WRITE;
    for (uint32_t lane = 0; lane < m->layout.lanes; lane++) {
        if (mask[lane] && !watch_lane(m, f, at, lane, writes)) {
            return false;
        }
    }
    return true;
}

bool sanitizer_atomic(machine *m, fiber *f, uint32_t at, uint32_t lane, bool writes) {
    return watch_lane(m, f, at, lane, writes);
}

/* Barriers */

bool sanitizer_barrier(machine *m, fiber *f, uint32_t at) {
    uint32_t lanes = m->layout.lanes, there = lanes;
    if (!m->phase->workgroup[0] && m->invocation_count - f->first < lanes) {
        there = (uint32_t)(m->invocation_count - f->first); /* the last ones may be fewer */
    }
    const uint8_t *mask = top_frame(f)->mask;
    const uint8_t *missing = memchr(mask, 0, there), *present = memchr(mask, 1, there);
    if (missing && present &&
        !report_missing_lane(m, f, at, (uint32_t)(present - mask), (uint32_t)(missing - mask))) {
        return false;
    }
    fiber_watch *watch = f->watch;
    for (uint32_t i = 0; i < lanes; i++) {
        if (!knowledge_join(m, &watch->group, &watch->lanes[i])) {
            return false;
        }
        knowledge_clear(m, &watch->lanes[i]);
    }
    watch->barriers++;
    return charge_joins(m, f);
}
