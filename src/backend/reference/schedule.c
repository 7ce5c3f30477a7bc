#include <string.h>

#include "backend/reference/report.h"
#include "base/alloc.h"
#include "ir/lookup.h"

static size_t round_up(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/* How the one allocation behind a fiber is divided, in bytes. */
typedef struct fiber_parts {
    size_t frames, registers, masks, shared, privates, total;
} fiber_parts;

static fiber_parts divide_fiber(const machine *m) {
    const phase_layout *layout = &m->layout;
    size_t lanes = layout->lanes;
    fiber_parts parts = {.frames = round_up((layout->depth + 1) * sizeof(frame)),
                         .registers = round_up(layout->registers * lanes * REGISTER_BYTES),
                         .masks = round_up(((size_t)layout->depth + 1) * 3 * lanes),
                         .shared = round_up(layout->shared_bytes),
                         .privates = round_up(layout->private_bytes)};
    parts.total = parts.frames + parts.registers + parts.masks + parts.shared + parts.privates;
    return parts;
}

/* What a fiber needs, with what is remembered of it. */
static uint64_t fiber_bytes(const machine *m) {
    return divide_fiber(m).total + (m->watch ? fiber_watch_bytes(m) : 0);
}

/* The memory is reserved already. */
static bool fiber_init(machine *m, fiber *f) {
    fiber_parts parts = divide_fiber(m);
    /* Zeroed: operations run over lanes that are not there, too, and may look at anything but
     * memory that nobody wrote. */
    f->memory = vyre_alloc_zeroed(parts.total, 1);
    if (!f->memory) {
        return machine_no_memory(m);
    }
    f->frames = (void *)f->memory;
    f->registers = f->memory + parts.frames;
    f->masks = f->registers + parts.registers;
    f->shared = f->masks + parts.masks;
    f->privates = f->shared + parts.shared;
    if (m->watch) {
        f->watch = fiber_watch_new(m);
        return f->watch || machine_no_memory(m);
    }
    return true;
}

static void fiber_deinit(const machine *m, fiber *f) {
    fiber_watch_free(m, f->watch);
    vyre_free(f->memory);
}

/* Puts workgroup `group` at its start; false beyond the budget. */
static bool fiber_start(machine *m, fiber *f, uint64_t group) {
    uint32_t lanes = m->layout.lanes, active = lanes;
    f->group = group;
    f->first = group * lanes;
    if (m->phase->workgroup[0]) {
        f->wid[0] = (uint32_t)(group % m->grid.groups[0]);
        f->wid[1] = (uint32_t)(group / m->grid.groups[0] % m->grid.groups[1]);
        f->wid[2] = (uint32_t)(group / m->grid.groups[0] / m->grid.groups[1]);
    } else {
        uint64_t left = m->invocation_count - f->first;
        active = left < lanes ? (uint32_t)left : lanes;
    }
    f->state = FIBER_READY;
    f->pc = m->phase->first;
    f->depth = 1;
    f->frames[0] = (frame){.owner = VYRE_NONE,
                           .end = m->phase->end,
                           .loop = VYRE_NONE,
                           .call = VYRE_NONE,
                           .mask = f->masks,
                           .other = f->masks + lanes,
                           .left = f->masks + 2 * (size_t)lanes};
    memset(f->frames[0].mask, 0, 3 * (size_t)lanes);
    memset(f->frames[0].mask, 1, active);
    memset(f->shared, 0, m->layout.shared_bytes);
    memset(f->privates, 0, m->layout.private_bytes);
    if (f->watch) {
        fiber_watch_start(m, f->watch);
    }
    return machine_charge(m, f, lanes + (m->layout.shared_bytes + m->layout.private_bytes) / 8);
}

/* One workgroup after the other, in one fiber: the shortest schedule there is. Waiting for a later
 * workgroup never ends here, as the language says. */
static void run_in_order(machine *m) {
    fiber f = {0};
    if (machine_reserve(m, fiber_bytes(m), "a workgroup in flight") && fiber_init(m, &f)) {
        for (uint64_t group = 0; group < m->group_count && !m->status; group++) {
            if (fiber_start(m, &f, group)) {
                fiber_run(m, &f);
            }
        }
    }
    fiber_deinit(m, &f);
}

/* Workgroups in flight: those that can go on, then those that wait at a grid barrier, then unused
 * fibers. */
typedef struct window {
    fiber *fibers;
    fiber **order;
    size_t size, ready, waiting;
    size_t turn; /* if nothing is drawn: the one of those that can go on whose turn it is */
} window;

static void swap(fiber **order, size_t a, size_t b) {
    fiber *kept = order[a];
    order[a] = order[b];
    order[b] = kept;
}

/* Workgroup `f` waits at a grid barrier that another one did not come to: that one is through, or
 * waits elsewhere. The verifier sees to it, but a data race can still make workgroups disagree. */
static void refuse_grid_barrier(machine *m, const fiber *f, const fiber *other) {
    if (m->watch && !report_missing_group(m, f, other)) {
        machine_no_memory(m);
        return;
    }
    m->status = vyre_status_make(
        VYRE_STATUS_INVALID_PROGRAM,
        "look for a data race in the condition around it: `vyre check --races`",
        "program `%s`: workgroup %llu waits at a grid barrier that not all others reach",
        vyre_program_name(m->plan->program), (unsigned long long)f->group);
}

/* Nobody can go on before the grid barrier, so all must be there: then shared memory is emptied and
 * all go on, the first one last in the list, where turns start. */
static void pass_grid_barrier(machine *m, window *w) {
    for (size_t i = 0; i < w->size; i++) {
        const fiber *waits = w->order[0], *f = &w->fibers[i];
        if (f->state == FIBER_DONE || f->barrier > waits->barrier) {
            refuse_grid_barrier(m, waits, f);
            return;
        }
        if (f->barrier < waits->barrier) {
            refuse_grid_barrier(m, f, waits);
            return;
        }
    }
    for (size_t i = 0; i < w->size; i++) {
        fiber *f = &w->fibers[i];
        w->order[w->size - 1 - f->group] = f;
        f->state = FIBER_READY;
        memset(f->shared, 0, m->layout.shared_bytes);
        if (f->watch) {
            fiber_watch_start(m, f->watch);
        }
    }
    if (m->watch) {
        sanitizer_separate(m->watch);
    }
    w->ready = w->waiting;
    w->waiting = 0;
    w->turn = w->ready - 1;
}

/* Starts the next workgroup in an unused fiber. */
static bool start_next(machine *m, window *w, uint64_t group) {
    fiber *f = w->order[w->ready + w->waiting];
    if ((!f->memory && !fiber_init(m, f)) || !fiber_start(m, f, group)) {
        return false;
    }
    swap(w->order, w->ready, w->ready + w->waiting);
    w->ready++;
    return true;
}

/* Lets one of the workgroups go on, and puts it where it belongs afterwards. True if it is through.
 */
static bool advance(machine *m, window *w) {
    size_t pick = m->interleaves ? machine_random(m, w->ready) : w->turn % w->ready;
    fiber *f = w->order[pick];
    outcome how = fiber_run(m, f);
    w->turn = (pick ? pick : w->ready) - 1;
    if (how == OUTCOME_FAILED || f->state == FIBER_READY) {
        return false;
    }
    w->ready--;
    swap(w->order, pick, w->ready);
    if (f->state == FIBER_AT_GRID_BARRIER) {
        w->waiting++;
        return false;
    }
    swap(w->order, w->ready, w->ready + w->waiting);
    return true;
}

static void run_all(machine *m, window *w) {
    uint64_t started = 0, done = 0;
    while (done < m->group_count && !m->status) {
        bool may_start = started < m->group_count && w->ready + w->waiting < w->size;
        if (!w->ready && !may_start) {
            pass_grid_barrier(m, w);
        } else if (may_start &&
                   (!w->ready || (m->interleaves && !machine_random(m, w->ready + 1)))) {
            started += start_next(m, w, started);
        } else {
            done += advance(m, w);
        }
    }
}

/* At each turn one of the workgroups in flight goes on, or the next one starts: drawn at random if
 * the schedule interleaves, else one after the other. */
static void run_window(machine *m, size_t size) {
    window w = {.size = size};
    uint64_t bytes = fiber_bytes(m) + sizeof *w.fibers + sizeof *w.order;
    if (bytes > UINT64_MAX / size) {
        bytes = UINT64_MAX / size;
    }
    if (!machine_reserve(m, bytes * size, "its workgroups in flight")) {
        return;
    }
    w.fibers = vyre_alloc_zeroed(size, sizeof *w.fibers);
    w.order = vyre_alloc_array(size, sizeof *w.order);
    if (w.fibers && w.order) {
        for (size_t i = 0; i < size; i++) {
            w.order[i] = &w.fibers[i];
        }
        run_all(m, &w);
    } else {
        machine_no_memory(m);
    }
    for (size_t i = 0; w.fibers && i < size; i++) {
        fiber_deinit(m, &w.fibers[i]);
    }
    vyre_free(w.fibers);
    vyre_free(w.order);
}

/* How many workgroups are in flight at a time: a number that is drawn, as far as memory goes. */
static size_t draw_window(machine *m) {
    uint64_t most = m->group_count < 64 ? m->group_count : 64;
    uint64_t drawn = 1 + machine_random(m, most);
    uint64_t room = machine_memory_left(m) / (fiber_bytes(m) + sizeof(fiber) + sizeof(fiber *));
    return (size_t)(drawn < room ? drawn : room ? room : 1);
}

void schedule_phase(machine *m) {
    bool grid_barriers = false, atomics = false;
    for (uint32_t at = m->phase->first; at < m->phase->end; at++) {
        grid_barriers |= m->ir->insts[at].op == VYRE_OP_GRID_BARRIER;
        atomics |= (vyre_inst_effects(&m->ir->insts[at]) & VYRE_EFFECT_ATOMIC) != 0;
    }
    m->interleaves = m->options->seed && (atomics || grid_barriers);
    /* Behind a grid barrier all have started, and each may wait for any other by atomics. */
    m->yields = m->interleaves || (atomics && grid_barriers);
    if (grid_barriers) {
        run_window(m, m->group_count < SIZE_MAX ? (size_t)m->group_count : SIZE_MAX);
    } else if (m->interleaves) {
        run_window(m, draw_window(m));
    } else {
        run_in_order(m);
    }
}
