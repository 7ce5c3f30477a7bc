#include "conform/generate.h"

#include "ir/rule.h"

static void draw_usage(generator *g, generated_array *array) {
    static const vyre_op updates[] = {VYRE_OP_ATOMIC_ADD, VYRE_OP_ATOMIC_SUB, VYRE_OP_ATOMIC_AND,
                                      VYRE_OP_ATOMIC_OR,  VYRE_OP_ATOMIC_XOR, VYRE_OP_ATOMIC_MIN,
                                      VYRE_OP_ATOMIC_MAX};
    array->use = (usage)generate_below(g, vyre_rule_atomic_type(array->type) ? 3 : 2);
    array->stride = 1 + (generate_one_in(g, 4) ? generate_below(g, 3) : 0);
    array->update = updates[generate_below(g, 7)];
}

void generate_meet(generator *g, bool whole_grid) {
    for (uint32_t i = 0; i < g->array_count; i++) {
        generated_array *array = &g->arrays[i];
        if (array->kind == ARRAY_SHARED || (array->kind == ARRAY_GLOBAL && whole_grid)) {
            draw_usage(g, array);
        }
    }
}

void generate_refill(generator *g) {
    bool any = false;
    for (uint32_t i = 0; i < g->array_count; i++) {
        const generated_array *array = &g->arrays[i];
        if (array->kind == ARRAY_SHARED) {
            vyre_build_store(g->b, array->resource, g->own_in_workgroup,
                             generate_pick(g, array->type, LEVEL_LANE));
            any = true;
        }
    }
    if (any) {
        vyre_build_barrier(g->b, VYRE_OP_BARRIER);
    }
}

void generate_barrier(generator *g, bool whole_grid) {
    vyre_build_barrier(g->b, whole_grid ? VYRE_OP_GRID_BARRIER : VYRE_OP_BARRIER);
    if (whole_grid) {
        generate_refill(g);
    }
    generate_meet(g, whole_grid);
}

uint32_t generate_own_index(generator *g, const generated_array *array) {
    uint32_t number = array->kind == ARRAY_SHARED ? g->own_in_workgroup : g->own;
    if (array->stride == 1) {
        return number;
    }
    uint32_t first =
        vyre_build_op(g->b, VYRE_OP_MUL, number, vyre_build_u32(g->b, array->stride), VYRE_NONE);
    return vyre_build_op(g->b, VYRE_OP_ADD, first,
                         vyre_build_u32(g->b, generate_below(g, array->stride)), VYRE_NONE);
}

static vyre_ordering random_ordering(generator *g, vyre_op op) {
    vyre_ordering ordering;
    do {
        ordering = (vyre_ordering)generate_below(g, VYRE_ORDERING_COUNT);
    } while (!vyre_rule_ordering_allowed(op, ordering));
    return ordering;
}

/* Nobody else touches the element, so that the old value is the same in every schedule. */
static void make_own_atomic(generator *g, const generated_array *array) {
    vyre_op op = (vyre_op)(VYRE_OP_ATOMIC_LOAD + (int)generate_below(g, 11));
    uint32_t value =
        op == VYRE_OP_ATOMIC_LOAD ? VYRE_NONE : generate_pick(g, array->type, LEVEL_LANE);
    uint32_t desired =
        op == VYRE_OP_ATOMIC_CAS ? generate_pick(g, array->type, LEVEL_LANE) : VYRE_NONE;
    uint32_t index = generate_own_index(g, array);
    vyre_ordering ordering = random_ordering(g, op);
    uint32_t old = vyre_build_atomic(
        g->b, op, array->resource, index, value, desired, ordering,
        g->has_workgroup && generate_one_in(g, 2) ? VYRE_SCOPE_WORKGROUP : VYRE_SCOPE_DEVICE);
    if (op != VYRE_OP_ATOMIC_STORE) {
        generate_remember(g, old, LEVEL_LANE);
    }
}

/* Reads or writes an element that nobody else touches. */
static void make_own_access(generator *g, const generated_array *array, uint32_t index) {
    if (generate_one_in(g, 2)) {
        generate_remember(g, vyre_build_load(g->b, array->resource, index), LEVEL_LANE);
    } else {
        vyre_build_store(g->b, array->resource, index, generate_pick(g, array->type, LEVEL_LANE));
    }
}

static void make_read(generator *g, const generated_array *array, level here) {
    if (array->kind == ARRAY_CONSTANT) { /* as much the same as its index */
        level same = generate_one_in(g, 3) ? LEVEL_GRID : LEVEL_LANE;
        uint32_t index = generate_index(g, array->resource, same);
        generate_remember(g, vyre_build_load(g->b, array->resource, index), same);
    } else if (here >= LEVEL_WORKGROUP && g->has_workgroup && generate_one_in(g, 3)) {
        uint32_t index = generate_index(g, array->resource, LEVEL_GRID);
        generate_remember(g, vyre_build_uniform_load(g->b, array->resource, index),
                          LEVEL_WORKGROUP);
    } else {
        uint32_t index = generate_index(g, array->resource, LEVEL_LANE);
        generate_remember(g, vyre_build_load(g->b, array->resource, index), LEVEL_LANE);
    }
}

static void make_update(generator *g, const generated_array *array) {
    uint32_t index = generate_index(g, array->resource, LEVEL_LANE);
    uint32_t value = generate_pick(g, array->type, LEVEL_LANE);
    vyre_build_atomic(g->b, array->update, array->resource, index, value, VYRE_NONE,
                      random_ordering(g, array->update), VYRE_SCOPE_DEVICE);
}

static void make_private_access(generator *g, const generated_array *array) {
    if (generate_one_in(g, 8)) {
        vyre_build_clear(g->b, array->resource);
    } else if (array->by_numbers) {
        vyre_type type = generate_one_in(g, 3) ? VYRE_TYPE_I8 : VYRE_TYPE_U32;
        uint64_t number = generate_one_in(g, 10) ? 200 : generate_below(g, 8);
        make_own_access(g, array, vyre_build_const(g->b, type, number));
    } else {
        make_own_access(g, array, generate_index(g, array->resource, LEVEL_LANE));
    }
}

void generate_access(generator *g, level here) {
    const generated_array *array = &g->arrays[generate_below(g, g->array_count)];
    if (array->kind == ARRAY_PRIVATE) {
        make_private_access(g, array);
    } else if (array->use == USAGE_READ) {
        make_read(g, array, here);
    } else if (array->use == USAGE_UPDATE) {
        make_update(g, array);
    } else if (vyre_rule_atomic_type(array->type) && generate_one_in(g, 3)) {
        make_own_atomic(g, array);
    } else {
        make_own_access(g, array, generate_own_index(g, array));
    }
}
