/* Whatever the analysis says of random programs must hold when they run: a value that it calls
 * uniform for a group is the same wherever invocations of the group compute it, and what it says
 * the group reaches together all of it reaches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/uniformity.h"
#include "tests/unit/random_programs.h"

enum { PROGRAMS = 3000, INVOCATIONS = 8, STEPS = 4000, SLOTS = 1 << 16 };

/* Two workgroups of two subgroups of two. */
static uint32_t group_of(uint32_t invocation, uint32_t level) {
    static const uint32_t sizes[] = {1, 2, 4, 8};
    return invocation / sizes[level];
}

static uint32_t group_size(uint32_t level) {
    return 1u << level;
}

/* An instruction in one turn of its loops, as one group sees it. */
typedef struct seen {
    uint64_t turns;
    uint32_t inst, group, value, count;
    bool used;
} seen;

static seen slots[SLOTS];

typedef struct experiment {
    uint64_t seed;
    const vyre_uniformity_map *map;
    uint32_t *sync_levels; /* by instruction: how large a group reaches it together */
    uint32_t invocation, observed;
    bool cut_off; /* some run was */
} experiment;

static seen *find_slot(uint32_t inst, uint64_t turns, uint32_t group) {
    uint64_t hash = ((turns ^ inst) * 0x9e3779b97f4a7c15u + group) * 0xbf58476d1ce4e5b9u;
    for (uint32_t at = (uint32_t)(hash >> 40) % SLOTS;; at = (at + 1) % SLOTS) {
        seen *slot = &slots[at];
        if (!slot->used || (slot->inst == inst && slot->turns == turns && slot->group == group)) {
            return slot;
        }
    }
}

static void observe(random_machine *m, uint32_t inst, uint32_t value) {
    experiment *e = m->user;
    bool is_sync = m->ir->insts[inst].op == VYRE_OP_STORE;
    uint32_t level = is_sync ? e->sync_levels[inst] : e->map->levels[inst];
    if (level == VYRE_VARYING || e->observed == SLOTS / 2) {
        return;
    }
    seen *slot = find_slot(inst, m->turns, group_of(e->invocation, level));
    if (!slot->used) {
        e->observed++;
        *slot = (seen){m->turns, inst, group_of(e->invocation, level), value, 0, true};
    }
    slot->count++;
    if (!is_sync && slot->value != value) {
        fail_msg("seed %llu: value %u (`%s`) is said to be uniform at level %u, and is %u and %u",
                 (unsigned long long)e->seed, inst, vyre_op_info_of(m->ir->insts[inst].op)->name,
                 level, slot->value, value);
    }
}

/* The analysis of the program with a barrier in the place of each store. */
static void analyse(const vyre_ir *ir, vyre_uniformity_map *map, uint32_t *sync_levels) {
    vyre_inst *insts = malloc(ir->inst_count * sizeof *insts);
    assert_non_null(insts);
    memcpy(insts, ir->insts, ir->inst_count * sizeof *insts);
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        if (insts[i].op == VYRE_OP_STORE) {
            insts[i] = (vyre_inst){.op = VYRE_OP_BARRIER};
        }
    }
    vyre_ir patched = *ir;
    patched.insts = insts;
    assert_true(vyre_uniformity_init(map, &patched, 0, true, false));
    for (uint32_t i = 0; i < map->sync_count; i++) {
        sync_levels[map->syncs[i].inst] = map->levels[map->syncs[i].control];
    }
    free(insts);
}

static void check_program(uint64_t seed, uint64_t counts[4]) {
    static random_source s;
    random_make(&s, seed);
    vyre_program *program = random_program(&s);
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_uniformity_map map;
    experiment e = {.seed = seed, .map = &map};
    e.sync_levels = calloc(ir->inst_count, sizeof *e.sync_levels);
    assert_non_null(e.sync_levels);
    analyse(ir, &map, e.sync_levels);
    memset(slots, 0, sizeof slots);
    for (e.invocation = 0; e.invocation < INVOCATIONS; e.invocation++) {
        random_machine m = {.gid = e.invocation,
                            .subgroup_id = e.invocation / 2 % 2,
                            .wid = e.invocation / 4,
                            .n = (uint32_t)seed,
                            .observe = observe,
                            .user = &e};
        random_run(&m, ir, STEPS);
        e.cut_off |= m.steps > m.most_steps;
    }
    for (uint32_t i = 0; i < SLOTS && !e.cut_off && e.observed < SLOTS / 2; i++) {
        uint32_t level = slots[i].used ? e.sync_levels[slots[i].inst] : 0;
        if (level && slots[i].count != group_size(level)) {
            fail_msg("seed %llu: instruction %u is said to be reached together at level %u, and %u "
                     "invocations reach it",
                     (unsigned long long)seed, slots[i].inst, level, slots[i].count);
        }
    }
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        counts[map.levels[i]] += ir->insts[i].type != VYRE_TYPE_VOID;
    }
    vyre_uniformity_deinit(&map);
    free(e.sync_levels);
    vyre_program_release(program);
}

static void uniformity_of_random_programs_holds_when_they_run(void **state) {
    (void)state;
    uint64_t counts[4] = {0};
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        check_program(seed, counts);
    }
    /* All levels occur often, so that there was something to be wrong about. */
    for (int level = 0; level < 4; level++) {
        assert_true(counts[level] > PROGRAMS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniformity_of_random_programs_holds_when_they_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
