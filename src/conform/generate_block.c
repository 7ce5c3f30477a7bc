#include "conform/generate.h"

typedef struct outside {
    uint32_t values, variables;
    bool in_divergent_loop, in_call, in_grid_loop, in_grid_call;
    vyre_type call_type;
} outside;

static outside enter(generator *g) {
    g->depth++;
    return (outside){.values = g->value_count,
                     .variables = g->variable_count,
                     .in_divergent_loop = g->in_divergent_loop,
                     .in_call = g->in_call,
                     .in_grid_loop = g->in_grid_loop,
                     .in_grid_call = g->in_grid_call,
                     .call_type = g->call_type};
}

/* What was made inside is not there any more. */
static void forget(generator *g, const outside *before) {
    g->value_count = before->values;
    g->variable_count = before->variables;
    g->in_divergent_loop = before->in_divergent_loop;
    g->in_call = before->in_call;
    g->in_grid_loop = before->in_grid_loop;
    g->in_grid_call = before->in_grid_call;
    g->call_type = before->call_type;
}

static void leave(generator *g, const outside *before) {
    forget(g, before);
    g->depth--;
}

/* Whether the block may hold barriers: then everybody meets before it, at its end and after it,
 * since it may be passed over, or run again. */
static bool draw_meetings(generator *g, level here, bool *out_whole_grid) {
    *out_whole_grid = g->has_grid_barriers && here == LEVEL_GRID && !generate_one_in(g, 4);
    bool may_meet = g->has_workgroup ? here >= LEVEL_WORKGROUP : *out_whole_grid;
    return may_meet && generate_one_in(g, 2);
}

static void make_if(generator *g, level here) {
    level same = (level)generate_below(g, LEVEL_GRID + 1);
    uint32_t condition = generate_pick(g, VYRE_TYPE_BOOL, same);
    level inside =
        generate_lower(here, same == LEVEL_LANE ? generate_level_of(g, condition) : same);
    bool whole_grid = false, meets = draw_meetings(g, inside, &whole_grid);
    inside = meets ? inside : generate_lower(inside, LEVEL_SUBGROUP);
    inside = whole_grid ? inside : generate_lower(inside, LEVEL_WORKGROUP);
    if (meets) {
        generate_barrier(g, whole_grid);
    }
    outside before = enter(g);
    vyre_build_if(g->b, condition);
    generate_block(g, inside);
    if (meets && vyre_build_reachable(g->b)) {
        generate_barrier(g, whole_grid);
    }
    if (generate_one_in(g, 2)) {
        forget(g, &before);
        vyre_build_else(g->b);
        if (meets) {
            generate_barrier(g, whole_grid);
        }
        generate_block(g, inside);
    }
    leave(g, &before);
    vyre_build_if_end(g->b, 0, NULL);
    if (meets && vyre_build_reachable(g->b)) {
        generate_barrier(g, whole_grid);
    }
}

static void make_loop(generator *g, level here) {
    uint32_t iterations = 1 + generate_below(g, 5);
    if (g->iterations * iterations > 60) {
        return;
    }
    bool may_meet = g->has_grid_barriers && here == LEVEL_GRID;
    bool divergent = generate_one_in(g, may_meet ? 4 : 2), whole_grid = false;
    level inside = divergent ? LEVEL_LANE : here;
    bool meets = draw_meetings(g, inside, &whole_grid);
    inside = meets ? inside : generate_lower(inside, LEVEL_SUBGROUP);
    inside = whole_grid ? inside : generate_lower(inside, LEVEL_WORKGROUP);
    bool counted = generate_one_in(g, 2);
    static const vyre_type types[] = {VYRE_TYPE_U32, VYRE_TYPE_I32, VYRE_TYPE_U8,
                                      VYRE_TYPE_I64, VYRE_TYPE_U64, VYRE_TYPE_I16};
    vyre_type type = types[generate_below(g, 6)];
    uint32_t end = vyre_build_const(g->b, type, iterations), one = vyre_build_const(g->b, type, 1);
    uint32_t zero = vyre_build_const(g->b, type, 0), counter = VYRE_NONE;
    level of_counter = LEVEL_GRID;
    if (divergent && counted) { /* as many turns as a value says */
        end = vyre_build_op(g->b, VYRE_OP_AND, generate_pick(g, type, LEVEL_LANE),
                            vyre_build_const(g->b, type, iterations), VYRE_NONE);
        of_counter = LEVEL_LANE;
    } else if (divergent) {
        of_counter = LEVEL_LANE;
    }
    if (!counted) {
        counter = vyre_build_var(g->b, NULL, zero);
    }
    outside before = enter(g);
    g->iterations *= iterations;
    if (counted) {
        generate_remember(g, vyre_build_for(g->b, zero, end, one, 0, NULL, NULL), of_counter);
    } else {
        vyre_build_loop(g->b, 0, NULL, NULL);
        uint32_t now = vyre_build_get(g->b, counter);
        vyre_build_if(g->b, vyre_build_op(g->b, VYRE_OP_LE, end, now, VYRE_NONE));
        vyre_build_break(g->b, 0, NULL);
        vyre_build_if_end(g->b, 0, NULL);
        vyre_build_set(g->b, counter, vyre_build_op(g->b, VYRE_OP_ADD, now, one, VYRE_NONE));
        generate_remember(g, now, LEVEL_LANE);
    }
    g->in_divergent_loop = divergent;
    g->in_call = divergent && g->in_call;
    g->in_grid_loop = meets && whole_grid;
    if (meets) {
        generate_barrier(g, whole_grid);
    }
    generate_block(g, inside);
    if (meets && vyre_build_reachable(g->b)) {
        generate_barrier(g, whole_grid);
    }
    g->iterations /= iterations;
    leave(g, &before);
    vyre_build_loop_end(g->b, 0, NULL);
    if (meets) {
        generate_barrier(g, whole_grid);
    }
}

/* An inlined call that returns from several places. One that holds grid barriers is left by all at
 * once until its last block, and everybody meets in front of it and behind. */
static void make_call(generator *g, level here) {
    bool whole_grid = g->has_grid_barriers && here == LEVEL_GRID && generate_one_in(g, 2);
    if (whole_grid) {
        generate_barrier(g, true);
    }
    outside before = enter(g);
    g->in_call = !whole_grid;
    g->in_grid_call = whole_grid;
    g->in_divergent_loop = g->in_grid_loop = false;
    g->call_type = generate_type(g);
    vyre_type type = g->call_type;
    vyre_build_inline(g->b);
    if (whole_grid) {
        generate_block(g, LEVEL_GRID);
        g->in_call = true;
        g->in_grid_call = false;
    }
    if (vyre_build_reachable(g->b)) {
        generate_block(g, LEVEL_LANE);
    }
    if (vyre_build_reachable(g->b)) {
        uint32_t value = generate_pick(g, type, LEVEL_LANE);
        vyre_build_return(g->b, 1, &value);
    }
    leave(g, &before);
    uint32_t result = VYRE_NONE;
    vyre_build_inline_end(g->b, 1, &result);
    if (!vyre_build_reachable(g->b)) {
        return;
    }
    generate_remember(g, result, LEVEL_LANE);
    if (whole_grid) {
        generate_barrier(g, true);
    }
}

/* Leaves a loop or a call: in some lanes, or in all of them where they meet behind it. */
static void make_jump(generator *g, level here) {
    bool together = here == LEVEL_GRID && (g->in_grid_loop || g->in_grid_call);
    bool in_loop = together ? g->in_grid_loop : g->in_divergent_loop;
    bool in_call = together ? g->in_grid_call : g->in_call;
    if (!in_loop && !in_call) {
        return;
    }
    vyre_build_if(g->b, generate_pick(g, VYRE_TYPE_BOOL, together ? LEVEL_GRID : LEVEL_LANE));
    if (in_call && (!in_loop || generate_one_in(g, 2))) {
        uint32_t value = generate_pick(g, g->call_type, LEVEL_LANE);
        vyre_build_return(g->b, 1, &value);
    } else if (generate_one_in(g, 2)) {
        vyre_build_break(g->b, 0, NULL);
    } else {
        vyre_build_continue(g->b, 0, NULL);
    }
    vyre_build_if_end(g->b, 0, NULL);
}

static void make_variable(generator *g) {
    if (g->variable_count && !generate_one_in(g, 3)) {
        uint32_t i = generate_below(g, g->variable_count);
        vyre_build_set(g->b, g->variables[i], generate_pick(g, g->variable_types[i], LEVEL_LANE));
    } else if (g->variable_count < MOST_VARIABLES) {
        vyre_type type = generate_type(g);
        g->variables[g->variable_count] =
            vyre_build_var(g->b, NULL, generate_pick(g, type, LEVEL_LANE));
        g->variable_types[g->variable_count++] = type;
    }
}

static void make_statement(generator *g, level here) {
    uint32_t kind = generate_below(g, 20);
    if (g->has_grid_barriers && here == LEVEL_GRID && generate_one_in(g, 8)) {
        kind = 14 + generate_below(g, 6); /* where grid barriers can be, blocks with them */
    }
    if (kind < 7) {
        for (uint32_t count = 1 + generate_below(g, 4); count > 0; count--) {
            generate_operation(g);
        }
    } else if (kind < 12) {
        generate_access(g, here);
    } else if (kind < 14) {
        make_variable(g);
    } else if (kind == 14) {
        make_jump(g, here);
    } else if (kind == 15 && g->has_workgroup && here >= LEVEL_SUBGROUP) {
        generate_subgroup_operation(g);
    } else if (kind == 16 && g->has_workgroup && here >= LEVEL_WORKGROUP) {
        generate_barrier(g, g->has_grid_barriers && here == LEVEL_GRID && generate_one_in(g, 2));
    } else if (kind == 16 && g->has_grid_barriers && here == LEVEL_GRID) {
        generate_barrier(g, true);
    } else if (kind > 16 && g->depth < MOST_DEPTH) {
        switch (kind) {
        case 17: make_if(g, here); break;
        case 18: make_loop(g, here); break;
        default: make_call(g, here); break;
        }
    } else {
        generate_operation(g);
    }
}

void generate_block(generator *g, level here) {
    uint32_t count = 1 + generate_below(g, 8);
    for (uint32_t i = 0; i < count && g->budget && vyre_build_reachable(g->b); i++) {
        g->budget--;
        generate_message(g);
        make_statement(g, here);
    }
}

level generate_parting(generator *g) {
    /* From here on arrays are used in one way, whichever way the invocations go. */
    generate_barrier(g, true);
    uint32_t condition = generate_pick(g, VYRE_TYPE_BOOL, LEVEL_GRID);
    outside before = enter(g);
    vyre_build_if(g->b, condition);
    vyre_build_barrier(g->b, VYRE_OP_GRID_BARRIER);
    generate_refill(g);
    g->budget = 2 + generate_below(g, 6);
    generate_block(g, LEVEL_SUBGROUP);
    level left = (level)generate_below(g, LEVEL_GRID);
    vyre_build_if(g->b, generate_pick(g, VYRE_TYPE_BOOL, left));
    vyre_build_return(g->b, 0, NULL);
    vyre_build_if_end(g->b, 0, NULL);
    generate_block(g, LEVEL_LANE);
    leave(g, &before);
    vyre_build_if_end(g->b, 0, NULL);
    g->budget = 2 + generate_below(g, 6);
    return left;
}
