/* Small programs of steps, each about one kind: counters in sizes, swaps, branches, domains from
 * memory, shared arrays with sizes from arguments. */
#include "conform/generate.h"

enum { LENGTH = 24, MOST_TURNS = 4 };

/* What all of them have: a buffer in and out, a scratch array of the same length, and flags of
 * which some are 0. */
typedef struct parts {
    uint32_t x, t, flags;
} parts;

static parts declare(generator *g) {
    parts p;
    p.flags = vyre_build_buffer(g->b, "a", VYRE_ACCESS_IN, VYRE_TYPE_U32, VYRE_NONE);
    uint8_t *data = generate_argument(g, "a", VYRE_TYPE_U32, MOST_TURNS);
    for (uint32_t i = 0; data && i < MOST_TURNS; i++) {
        uint32_t flag = generate_below(g, 2) * (1 + generate_below(g, 7));
        conform_element_put(data, i, VYRE_TYPE_U32, flag);
    }
    p.x = vyre_build_buffer(g->b, "x", VYRE_ACCESS_INOUT, VYRE_TYPE_U32, VYRE_NONE);
    generate_argument(g, "x", VYRE_TYPE_U32, LENGTH);
    p.t = vyre_build_scratch(g->b, NULL, VYRE_TYPE_U32, vyre_build_size_len(g->b, p.x));
    return p;
}

/* to[gid] = from[gid] * 3 + more */
static void change(generator *g, uint32_t to, uint32_t from, uint32_t size, uint32_t more) {
    vyre_build_phase(g->b, &(vyre_phase_desc){.domain = {size}});
    uint32_t own = vyre_build_position(g->b, VYRE_OP_GID, 0);
    uint32_t value = vyre_build_load(g->b, from, own);
    value = vyre_build_op(g->b, VYRE_OP_MUL, value, vyre_build_u32(g->b, 3), VYRE_NONE);
    value = vyre_build_op(g->b, VYRE_OP_ADD, value, vyre_build_u32(g->b, more), VYRE_NONE);
    vyre_build_store(g->b, to, own, value);
    vyre_build_phase_end(g->b);
}

static uint32_t length_of(generator *g, const parts *p) {
    return vyre_build_size_len(g->b, p->x);
}

static uint32_t turns_of(generator *g) {
    return vyre_build_size_const(g->b, 1 + generate_below(g, MOST_TURNS));
}

static void make_counter(generator *g, const parts *p, uint32_t turn) {
    (void)turn;
    uint32_t repeat = vyre_build_repeat(g->b, NULL, turns_of(g));
    uint32_t counter = vyre_build_size_iteration(g->b, repeat);
    uint32_t factor = vyre_build_size_const(g->b, 1 + generate_below(g, 6));
    counter = vyre_build_size_op(g->b, VYRE_SIZE_MUL, counter, factor);
    change(g, p->x, p->x, vyre_build_size_op(g->b, VYRE_SIZE_SUB, length_of(g, p), counter), 1);
    vyre_build_repeat_end(g->b);
}

static void make_swap(generator *g, const parts *p, uint32_t turn) {
    (void)turn;
    vyre_build_repeat(g->b, NULL, turns_of(g));
    change(g, p->t, p->x, length_of(g, p), 2);
    vyre_build_swap(g->b, p->x, p->t);
    vyre_build_repeat_end(g->b);
}

static void make_branch(generator *g, const parts *p, uint32_t turn) {
    (void)turn;
    uint32_t index = generate_below(g, MOST_TURNS + 1);
    vyre_build_branch(g->b, p->flags, vyre_build_size_const(g->b, index));
    change(g, p->x, p->x, length_of(g, p), 3);
    vyre_build_branch_else(g->b);
    change(g, p->x, p->x, length_of(g, p), 4);
    vyre_build_branch_end(g->b);
}

/* Sides from memory; what is not there is 0. */
static void make_domain(generator *g, const parts *p, uint32_t turn) {
    (void)turn;
    uint32_t index = generate_below(g, 2), dimensions = 2 + generate_below(g, 2);
    bool grouped = generate_one_in(g, 2);
    vyre_phase_desc desc = {
        .domain = {vyre_build_size_const(g->b, 2), vyre_build_size_const(g->b, 3)},
        .dimensions = dimensions,
        .from_memory = true,
        .from_resource = p->flags,
        .from_index = vyre_build_size_const(g->b, index)};
    if (dimensions == 3) {
        desc.domain[2] = vyre_build_size_const(g->b, 4);
    }
    for (uint32_t i = 0; i < dimensions && grouped; i++) {
        desc.workgroup[i] = i ? 2 : 1;
    }
    vyre_build_phase(g->b, &desc);
    uint32_t place = vyre_build_position(g->b, VYRE_OP_GID, dimensions - 1);
    for (uint32_t i = dimensions - 1; i-- > 0;) {
        uint32_t side = vyre_build_u32(g->b, i ? 4 : 2); /* of whole workgroups */
        place = vyre_build_op(g->b, VYRE_OP_MUL, place, side, VYRE_NONE);
        place = vyre_build_op(g->b, VYRE_OP_ADD, place, vyre_build_position(g->b, VYRE_OP_GID, i),
                              VYRE_NONE);
    }
    vyre_build_store(g->b, p->x, place, vyre_build_u32(g->b, 77));
    vyre_build_phase_end(g->b);
}

static void make_shared(generator *g, const parts *p, uint32_t turn) {
    (void)turn;
    uint32_t size = vyre_build_size_op(g->b, VYRE_SIZE_DIV, length_of(g, p),
                                       vyre_build_size_const(g->b, 1 + generate_below(g, 8)));
    vyre_build_phase(g->b, &(vyre_phase_desc){.domain = {length_of(g, p)}, .workgroup = {8}});
    uint32_t shared = vyre_build_shared_sized(g->b, NULL, VYRE_TYPE_U32, size);
    uint32_t own = vyre_build_position(g->b, VYRE_OP_GID, 0);
    uint32_t lid = vyre_build_position(g->b, VYRE_OP_LID, 0);
    vyre_build_store(g->b, shared, lid, vyre_build_load(g->b, p->x, own));
    vyre_build_barrier(g->b, VYRE_OP_BARRIER);
    uint32_t other = vyre_build_op(g->b, VYRE_OP_XOR, lid, vyre_build_u32(g->b, 7), VYRE_NONE);
    uint32_t value = vyre_build_op(g->b, VYRE_OP_ADD, vyre_build_load(g->b, shared, other),
                                   vyre_build_len(g->b, shared), VYRE_NONE);
    vyre_build_store(g->b, p->x, own, value);
    vyre_build_phase_end(g->b);
}

/* As often as an element says, each time over less and with arrays exchanged. */
static void make_while(generator *g, const parts *p, uint32_t turn) {
    uint32_t left = vyre_build_buffer(g->b, "b", VYRE_ACCESS_INOUT, VYRE_TYPE_U32, VYRE_NONE);
    uint8_t *data = generate_argument(g, "b", VYRE_TYPE_U32, 1);
    uint32_t turns = 5 + turn % 8; /* a backend may run many at once */
    if (data) {
        conform_element_put(data, 0, VYRE_TYPE_U32, turns);
    }
    uint32_t repeat = vyre_build_repeat_while(g->b, NULL, left, vyre_build_size_const(g->b, 0));
    uint32_t size = length_of(g, p);
    if (turn % 2) { /* below zero in the end */
        uint32_t counter = vyre_build_size_iteration(g->b, repeat);
        uint32_t factor = vyre_build_size_const(g->b, 5);
        counter = vyre_build_size_op(g->b, VYRE_SIZE_MUL, counter, factor);
        size = vyre_build_size_op(g->b, VYRE_SIZE_SUB, size, counter);
    }
    change(g, p->t, p->x, size, 5);
    vyre_build_swap(g->b, p->x, p->t);
    vyre_build_phase(g->b, &(vyre_phase_desc){.domain = {vyre_build_size_const(g->b, 1)}});
    uint32_t zero = vyre_build_u32(g->b, 0), now = vyre_build_load(g->b, left, zero);
    now = vyre_build_op(g->b, VYRE_OP_SUB, now, vyre_build_u32(g->b, 1), VYRE_NONE);
    vyre_build_store(g->b, left, zero, now);
    vyre_build_phase_end(g->b);
    vyre_build_repeat_end(g->b);
}

void generate_turns(generator *g, uint32_t turn) {
    static void (*const kinds[])(generator * g, const parts *p, uint32_t turn) = {
        make_counter, make_swap, make_branch, make_domain, make_shared, make_while,
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    parts p = declare(g);
    kinds[turn % KINDS](g, &p, turn / KINDS);
}
