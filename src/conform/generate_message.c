#include "conform/generate.h"

static uint32_t draw(generator *g, uint32_t bound) {
    return (uint32_t)vyre_random_below(&g->message_random, bound);
}

/* A condition that holds in some invocations. */
static uint32_t make_condition(generator *g) {
    const pool_value *picked = &g->values[draw(g, g->value_count)];
    if (picked->type == VYRE_TYPE_BOOL) {
        return picked->value;
    }
    uint32_t other = vyre_build_const(g->b, picked->type, draw(g, 64));
    return vyre_build_op(g->b, draw(g, 2) ? VYRE_OP_LE : VYRE_OP_NE, other, picked->value,
                         VYRE_NONE);
}

void generate_message(generator *g) {
    enum { MOST = 3 };
    static const char *const texts[MOST + 1] = {"here", "a = {}", "{} and {{{}}}", "{}, {}, {}"};
    if (!g->has_messages || !g->value_count || g->iterations > 4 || draw(g, 6)) {
        return;
    }
    uint32_t values[MOST], count = draw(g, MOST + 1);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = g->values[draw(g, g->value_count)].value;
    }
    if (draw(g, 3)) {
        vyre_build_print(g->b, texts[count], count, values);
    } else {
        vyre_build_assert(g->b, make_condition(g), texts[count], count, values);
    }
}
