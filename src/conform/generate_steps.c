/* Steps of random programs beyond phases and plain repeats: sizes that use counters, swaps,
 * branches. Programs of some seeds have them, so that those of all others stay as they are. */
#include "conform/generate.h"

enum { MOST_COUNT = 4, MOST_FACTOR = 40 }; /* iterations of a repeat; what they are multiplied by */

/* Another buffer of the same records, with the same fields. */
static uint32_t add_record_twin(generator *g, const char *name, const generated_array *first) {
    generated_array like = *first;
    uint32_t size = vyre_build_size_len(g->b, like.buffer), count = g->array_count;
    uint32_t twin = vyre_build_records(g->b, name, VYRE_ACCESS_OUT, like.record_bytes, size);
    for (uint32_t i = 0; i < count; i++) {
        const generated_array *field = &g->arrays[i];
        if (field->is_field && field->buffer == like.buffer) {
            generate_field(g, twin, field->type, field->offset, like.record_bytes, ARRAY_GLOBAL);
        }
    }
    return twin;
}

static bool has_twin(const generator *g, uint32_t resource) {
    bool found = false;
    for (uint32_t i = 0; i < g->twin_count && !found; i++) {
        found = g->twins[i][0] == resource;
    }
    return found;
}

/* Arrays that can be swapped: another one for an output, of the same type and length. */
void generate_twins(generator *g) {
    static const char *const names[] = {"u", "v", "w"};
    uint32_t count = g->array_count;
    for (uint32_t i = 0; i < count && g->twin_count < GENERATE_TWINS; i++) {
        const generated_array *array = &g->arrays[i];
        if (array->kind != ARRAY_GLOBAL || array->is_scratch) {
            continue;
        }
        if (array->is_field) {
            if (!has_twin(g, array->buffer)) {
                uint32_t *pair = g->twins[g->twin_count];
                pair[0] = array->buffer;
                pair[1] = add_record_twin(g, names[g->twin_count++], array);
            }
            continue;
        }
        uint32_t size = vyre_build_size_len(g->b, array->resource);
        bool is_scratch = generate_one_in(g, 2);
        uint32_t twin = is_scratch ? vyre_build_scratch(g->b, NULL, array->type, size)
                                   : vyre_build_buffer(g->b, names[g->twin_count], VYRE_ACCESS_OUT,
                                                       array->type, size);
        g->twins[g->twin_count][0] = array->resource;
        g->twins[g->twin_count++][1] = twin;
        g->arrays[g->array_count++] = (generated_array){.resource = twin,
                                                        .type = array->type,
                                                        .kind = ARRAY_GLOBAL,
                                                        .is_scratch = is_scratch,
                                                        .stride = 1};
    }
}

/* A side of a domain that is at most `side`, and changes from iteration to iteration. */
uint32_t generate_side(generator *g, uint32_t side) {
    uint32_t most = vyre_build_size_const(g->b, side);
    if (!g->has_steps || !g->repeat_count || generate_one_in(g, 2)) {
        return most;
    }
    uint32_t counter = vyre_build_size_iteration(g->b, g->repeats[g->repeat_count - 1]);
    if (generate_one_in(g, 3)) {
        uint32_t factor = vyre_build_size_const(g->b, 1 + generate_below(g, MOST_FACTOR));
        counter = vyre_build_size_op(g->b, VYRE_SIZE_MUL, counter, factor);
    }
    switch (generate_below(g, 4)) {
    case 0: return vyre_build_size_op(g->b, VYRE_SIZE_MIN, counter, most);
    case 1: {
        uint32_t one = vyre_build_size_const(g->b, 1);
        uint32_t by = vyre_build_size_op(g->b, VYRE_SIZE_ADD, counter, one);
        vyre_size_op op = generate_one_in(g, 2) ? VYRE_SIZE_DIV : VYRE_SIZE_CEIL_DIV;
        return vyre_build_size_op(g->b, op, most, by);
    }
    case 2: /* never below zero, or cut off there */
        if (g->in_while || (side >= MOST_COUNT * MOST_FACTOR)) {
            return vyre_build_size_op(g->b, VYRE_SIZE_SUB, most, counter);
        }
        return vyre_build_size_op(
            g->b, VYRE_SIZE_REM, most,
            vyre_build_size_op(g->b, VYRE_SIZE_MAX, counter, vyre_build_size_const(g->b, 1)));
    default: {
        uint32_t cut =
            vyre_build_size_op(g->b, VYRE_SIZE_MIN, counter, vyre_build_size_const(g->b, side));
        return vyre_build_size_op(g->b, VYRE_SIZE_SUB, most, cut);
    }
    }
}

/* A shared array of at most that length, which may come from the length of a buffer. */
uint32_t generate_shared(generator *g, vyre_type type, uint32_t length) {
    uint32_t from = 0;
    while (from < g->global_count && g->arrays[from].is_scratch) {
        from++;
    }
    if (!g->has_steps || from == g->global_count || !generate_one_in(g, 3)) {
        return vyre_build_shared(g->b, NULL, type, length);
    }
    uint32_t size = vyre_build_size_len(g->b, g->arrays[from].resource);
    size = vyre_build_size_op(g->b, VYRE_SIZE_MIN, size, vyre_build_size_const(g->b, length));
    size = vyre_build_size_op(g->b, VYRE_SIZE_MAX, size, vyre_build_size_const(g->b, 1));
    return vyre_build_shared_sized(g->b, NULL, type, size);
}

static void make_swap(generator *g) {
    if (g->twin_count) {
        const uint32_t *pair = g->twins[generate_below(g, g->twin_count)];
        vyre_build_swap(g->b, pair[0], pair[1]);
    }
}

/* An element that decides: any integer array will do. VYRE_NONE if there is none. */
static uint32_t pick_flags(generator *g) {
    uint32_t first = g->global_count ? generate_below(g, g->global_count) : 0;
    for (uint32_t i = 0; i < g->global_count; i++) {
        const generated_array *array = &g->arrays[(first + i) % g->global_count];
        vyre_type_class class = vyre_type_class_of(array->type);
        bool is_integer = class == VYRE_CLASS_SIGNED || class == VYRE_CLASS_UNSIGNED;
        if (is_integer && array->kind != ARRAY_CONSTANT && !array->is_field) {
            return array->resource;
        }
    }
    return VYRE_NONE;
}

static void make_branch(generator *g) {
    uint32_t flags = pick_flags(g);
    if (flags == VYRE_NONE) {
        generate_phase(g);
        return;
    }
    vyre_build_branch(g->b, flags, vyre_build_size_const(g->b, generate_below(g, 8)));
    generate_phase(g);
    if (generate_one_in(g, 2)) {
        make_swap(g);
    }
    if (generate_one_in(g, 2)) {
        vyre_build_branch_else(g->b);
        generate_phase(g);
    }
    vyre_build_branch_end(g->b);
}

static void make_repeat(generator *g) {
    uint32_t count = vyre_build_size_const(g->b, generate_below(g, MOST_COUNT));
    if (g->repeat_count && generate_one_in(g, 2)) { /* as often as the one around it says */
        uint32_t counter = vyre_build_size_iteration(g->b, g->repeats[0]);
        count = vyre_build_size_op(g->b, VYRE_SIZE_MIN, counter, count);
    }
    g->repeats[g->repeat_count++] = vyre_build_repeat(g->b, NULL, count);
    generate_phase(g);
    make_swap(g);
    if (g->repeat_count < 2 && generate_one_in(g, 2)) {
        make_repeat(g);
    } else if (generate_one_in(g, 2)) {
        make_branch(g);
    }
    vyre_build_repeat_end(g->b);
    g->repeat_count--;
}

void generate_steps(generator *g) {
    uint32_t count = 1 + generate_below(g, 3);
    for (uint32_t i = 0; i < count; i++) {
        switch (generate_below(g, 6)) {
        case 0: generate_phase(g); break;
        case 1:
        case 2: make_repeat(g); break;
        case 3: make_branch(g); break;
        case 4: generate_countdown(g); break;
        default:
            generate_phase(g);
            make_swap(g);
            generate_phase(g);
            break;
        }
    }
}
