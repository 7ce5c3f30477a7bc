#include "conform/generate.h"

#include "base/status.h"

/* Arguments */

uint8_t *generate_argument(generator *g, const char *name, vyre_type type, size_t count) {
    uint8_t *data = conform_trial_add(g->trial, name, type, count);
    g->failed |= !data;
    for (size_t i = 0; data && i < count; i++) {
        uint64_t bits = vyre_random(&g->random);
        if (type == VYRE_TYPE_BOOL) {
            bits &= 1;
        } else if (bits >> 62 == 0) {
            bits &= 0xff; /* small numbers meet more often */
        }
        conform_element_put(data, i, type, bits);
    }
    return data;
}

static void add_array(generator *g, uint32_t resource, vyre_type type, array_kind kind) {
    g->arrays[g->array_count++] =
        (generated_array){.resource = resource, .type = type, .kind = kind, .stride = 1};
}

void generate_field(generator *g, uint32_t buffer, vyre_type type, uint32_t offset,
                    uint32_t record_bytes, array_kind kind) {
    add_array(g, vyre_build_field(g->b, buffer, type, offset), type, kind);
    generated_array *array = &g->arrays[g->array_count - 1];
    array->is_field = true;
    array->buffer = buffer;
    array->offset = offset;
    array->record_bytes = record_bytes;
}

/* A buffer of records with up to four fields, the first of that type; padding and unused bytes are
 * between some of them. Each field is an array of its own. */
static uint32_t add_records(generator *g, const char *name, vyre_access access, vyre_type type,
                            uint32_t size, array_kind kind, uint32_t *out_bytes) {
    vyre_type types[4];
    uint32_t offsets[4], bytes = 0, alignment = 1;
    uint32_t count = 1 + (uint32_t)vyre_random_below(&g->record_random, 4);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t drawn = (uint32_t)vyre_random_below(&g->record_random, VYRE_TYPE_COUNT);
        types[i] = !i ? type : drawn > VYRE_TYPE_BOOL ? (vyre_type)drawn : VYRE_TYPE_F32;
        uint32_t own = vyre_type_bytes(types[i]);
        offsets[i] = (bytes + own - 1) / own * own;
        bytes = offsets[i] + own + (uint32_t)vyre_random_below(&g->record_random, 3) * 2;
        alignment = own > alignment ? own : alignment;
    }
    *out_bytes = (bytes + alignment - 1) / alignment * alignment;
    uint32_t buffer = vyre_build_records(g->b, name, access, *out_bytes, size);
    for (uint32_t i = 0; i < count; i++) {
        generate_field(g, buffer, types[i], offsets[i], *out_bytes, kind);
    }
    return buffer;
}

/* A buffer of scalars or, where the program has them, of records. */
static uint32_t add_buffer(generator *g, const char *name, vyre_access access, vyre_type type,
                           uint32_t size, array_kind kind, uint32_t *out_bytes) {
    if (g->has_records && vyre_random_below(&g->record_random, 4)) {
        return add_records(g, name, access, type, size, kind, out_bytes);
    }
    uint32_t buffer = vyre_build_buffer(g->b, name, access, type, size);
    *out_bytes = 0;
    add_array(g, buffer, type, kind);
    return buffer;
}

/* Its elements, of which a record has so many bytes, or 0. */
static void fill_buffer(generator *g, const char *name, vyre_type type, uint32_t bytes,
                        size_t count) {
    if (bytes) {
        generate_argument(g, name, VYRE_TYPE_U8, count * bytes);
    } else {
        generate_argument(g, name, type, count);
    }
}

/* A size of up to a few hundred, from what is declared so far. */
static uint32_t random_size(generator *g, uint32_t buffer) {
    uint32_t constant = vyre_build_size_const(g->b, 1 + generate_below(g, 300));
    if (buffer == VYRE_NONE || generate_one_in(g, 3)) {
        return constant;
    }
    static const vyre_size_op operations[] = {VYRE_SIZE_ADD, VYRE_SIZE_MAX, VYRE_SIZE_MIN};
    uint32_t length = vyre_build_size_len(g->b, buffer);
    return vyre_build_size_op(g->b, operations[generate_below(g, 3)], length, constant);
}

static void declare_constants(generator *g) {
    enum { MOST = 300 };
    uint32_t count = generate_one_in(g, 2) ? generate_below(g, 3) : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t elements[MOST * 8];
        vyre_type type = generate_one_in(g, 4) ? generate_type(g) : generate_array_type(g);
        uint32_t length = 1 + generate_below(g, generate_one_in(g, 3) ? MOST : 12);
        for (uint32_t k = 0; k < length; k++) {
            generate_special(g, type, NULL, elements + (size_t)k * vyre_type_bytes(type));
        }
        add_array(g, vyre_build_constant_array(g->b, NULL, type, length, elements), type,
                  ARRAY_CONSTANT);
    }
}

static void declare_interface(generator *g) {
    static const char *const scalar_names[] = {"p", "q", "r", "s"};
    static const char *const input_names[] = {"a", "b", "c"};
    static const char *const output_names[] = {"x", "y", "z"};
    g->scalar_count = generate_below(g, 4);
    for (uint32_t i = 0; i < g->scalar_count; i++) {
        g->scalar_types[i] = generate_one_in(g, 2) ? VYRE_TYPE_U32 : generate_type(g);
        g->scalars[i] = vyre_build_scalar(g->b, scalar_names[i], g->scalar_types[i]);
        generate_argument(g, scalar_names[i], g->scalar_types[i], 1);
    }
    uint32_t inputs = generate_below(g, 4), first = VYRE_NONE;
    for (uint32_t i = 0; i < inputs; i++) {
        vyre_type type = generate_array_type(g);
        uint32_t bytes;
        uint32_t buffer =
            add_buffer(g, input_names[i], VYRE_ACCESS_IN, type, VYRE_NONE, ARRAY_INPUT, &bytes);
        first = first == VYRE_NONE ? buffer : first;
        fill_buffer(g, input_names[i], type, bytes,
                    generate_one_in(g, 8) ? 0 : generate_below(g, 300));
    }
    uint32_t outputs = 1 + generate_below(g, 3);
    for (uint32_t i = 0; i < outputs; i++) {
        vyre_type type = generate_array_type(g);
        bool both = generate_one_in(g, 3);
        uint32_t bytes;
        add_buffer(g, output_names[i], both ? VYRE_ACCESS_INOUT : VYRE_ACCESS_OUT, type,
                   both ? VYRE_NONE : random_size(g, first), ARRAY_GLOBAL, &bytes);
        if (both) {
            fill_buffer(g, output_names[i], type, bytes, 1 + generate_below(g, 300));
        }
    }
    uint32_t scratch = generate_below(g, 3);
    for (uint32_t i = 0; i < scratch; i++) {
        vyre_type type = generate_array_type(g);
        uint32_t array = vyre_build_scratch(g->b, NULL, type, random_size(g, first));
        add_array(g, array, type, ARRAY_GLOBAL);
        g->arrays[g->array_count - 1].is_scratch = true;
    }
    if (g->has_steps) {
        generate_twins(g);
    }
    declare_constants(g);
    g->global_count = g->array_count;
}

/* Phases */

static uint32_t position(generator *g, vyre_op op, uint32_t dimension) {
    uint32_t value = vyre_build_position(g->b, op, dimension);
    generate_remember(g, value,
                      op == VYRE_OP_WID              ? LEVEL_WORKGROUP
                      : op == VYRE_OP_NUM_WORKGROUPS ? LEVEL_GRID
                                                     : LEVEL_LANE);
    return value;
}

static uint32_t times_plus(generator *g, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t product = vyre_build_op(g->b, VYRE_OP_MUL, a, b, VYRE_NONE);
    return vyre_build_op(g->b, VYRE_OP_ADD, product, c, VYRE_NONE);
}

/* A number that no other invocation has, in the grid and in its workgroup. */
static void number_invocations(generator *g, uint32_t dimensions, const uint32_t *domain,
                               const uint32_t *workgroup) {
    vyre_op op = g->has_workgroup ? VYRE_OP_WID : VYRE_OP_GID;
    uint32_t number = position(g, op, dimensions - 1);
    for (uint32_t i = dimensions - 1; i-- > 0;) {
        uint32_t side = g->has_workgroup ? position(g, VYRE_OP_NUM_WORKGROUPS, i)
                                         : vyre_build_u32(g->b, domain[i]);
        uint32_t along = position(g, op, i);
        number = times_plus(g, number, side, along);
    }
    g->own = number;
    if (g->has_workgroup) {
        uint32_t inside = position(g, VYRE_OP_LID, dimensions - 1);
        for (uint32_t i = dimensions - 1; i-- > 0;) {
            uint32_t along = position(g, VYRE_OP_LID, i);
            inside = times_plus(g, inside, vyre_build_u32(g->b, workgroup[i]), along);
        }
        g->own_in_workgroup = inside;
        g->own = times_plus(g, number, vyre_build_u32(g->b, g->workgroup_lanes), inside);
        generate_remember(g, vyre_build_position(g->b, VYRE_OP_IN_DOMAIN, 0), LEVEL_LANE);
        generate_remember(g, vyre_build_position(g->b, VYRE_OP_LANE, 0), LEVEL_LANE);
        generate_remember(g, vyre_build_position(g->b, VYRE_OP_SUBGROUP_ID, 0), LEVEL_SUBGROUP);
    }
    generate_remember(g, g->own, LEVEL_LANE);
}

static void draw_shape(generator *g, vyre_phase_desc *desc, uint32_t *domain) {
    static const uint32_t sizes[] = {8, 16, 32, 64};
    desc->dimensions = generate_one_in(g, 3) ? 2 + generate_below(g, 2) : 1;
    uint32_t most = MOST_LANES;
    for (uint32_t i = 0; i < desc->dimensions; i++) {
        uint32_t side = i + 1 < desc->dimensions ? 24 : most;
        domain[i] = generate_one_in(g, 12) ? generate_below(g, 2)
                                           : 1 + generate_below(g, side < most ? side : most);
        most = most / (domain[i] ? domain[i] : 1);
        most = most ? most : 1;
    }
    g->has_workgroup = !generate_one_in(g, 3);
    g->has_grid_barriers = generate_one_in(g, g->has_workgroup ? 3 : 6);
    if (g->has_workgroup) {
        desc->subgroup = sizes[generate_below(g, 4)];
        uint32_t lanes = desc->subgroup * (1 + generate_below(g, 3)), rest = lanes;
        for (uint32_t i = 0; i < desc->dimensions; i++) {
            uint32_t side = i + 1 == desc->dimensions ? rest
                            : rest % 4                ? 1
                                                      : 1u << generate_below(g, 3);
            desc->workgroup[i] = side;
            rest /= side;
        }
        g->workgroup_lanes = lanes;
        g->subgroup = desc->subgroup;
        /* Workgroups that hardly lie in the domain would add up. */
        for (uint32_t i = 0; i < desc->dimensions && desc->dimensions > 1; i++) {
            uint32_t most_side = 4 * desc->workgroup[i];
            domain[i] = domain[i] < most_side ? domain[i] : most_side;
        }
    }
    for (uint32_t i = 0; i < desc->dimensions; i++) {
        desc->domain[i] = generate_side(g, domain[i]);
    }
    /* A domain from memory: any integer array will do. */
    for (uint32_t i = 0; i < g->global_count && (g->has_steps || desc->dimensions == 1); i++) {
        vyre_type_class class = vyre_type_class_of(g->arrays[i].type);
        if ((class == VYRE_CLASS_SIGNED || class == VYRE_CLASS_UNSIGNED) &&
            g->arrays[i].kind != ARRAY_CONSTANT && !g->arrays[i].is_field &&
            generate_one_in(g, 12)) {
            desc->from_memory = true;
            desc->from_resource = g->arrays[i].resource;
            desc->from_index = vyre_build_size_const(g->b, generate_below(g, 4));
            break;
        }
    }
}

static void declare_local_arrays(generator *g) {
    uint32_t shared = g->has_workgroup ? generate_below(g, 3) : 0;
    uint32_t private = generate_below(g, 2);
    for (uint32_t i = 0; i < shared; i++) {
        vyre_type type = generate_one_in(g, 4) ? generate_type(g) : generate_array_type(g);
        uint32_t length = 1 + generate_below(g, 2 * g->workgroup_lanes);
        add_array(g, generate_shared(g, type, length), type, ARRAY_SHARED);
    }
    for (uint32_t i = 0; i < private; i++) {
        vyre_type type = generate_type(g);
        add_array(g, vyre_build_private(g->b, NULL, type, 1 + generate_below(g, 8)), type,
                  ARRAY_PRIVATE);
        g->arrays[g->array_count - 1].by_numbers = generate_one_in(g, 2);
    }
}

void generate_phase(generator *g) {
    vyre_phase_desc desc = {0};
    uint32_t domain[3] = {1, 1, 1};
    draw_shape(g, &desc, domain);
    vyre_build_phase(g->b, &desc);
    g->value_count = g->variable_count = g->depth = 0;
    g->in_divergent_loop = g->in_call = g->in_grid_loop = g->in_grid_call = false;
    g->iterations = 1;
    g->budget = 12 + generate_below(g, 36);
    declare_local_arrays(g);
    generate_meet(g, true);
    number_invocations(g, desc.dimensions, domain, desc.workgroup);
    for (uint32_t i = 0; i < g->scalar_count; i++) {
        generate_remember(g, vyre_build_param(g->b, g->scalars[i]), LEVEL_GRID);
    }
    for (uint32_t i = 0; i < g->repeat_count; i++) {
        generate_remember(g, vyre_build_iteration(g->b, g->repeats[i]), LEVEL_GRID);
    }
    while (g->budget && vyre_build_reachable(g->b)) {
        generate_block(g, g->has_workgroup || g->has_grid_barriers ? LEVEL_GRID : LEVEL_LANE);
    }
    if (g->has_grid_barriers && generate_one_in(g, 3) && vyre_build_reachable(g->b)) {
        level left = generate_parting(g);
        generate_block(g, left);
    }
    /* What was computed should be seen. */
    for (uint32_t i = 0; i < g->global_count; i++) {
        generated_array *array = &g->arrays[i];
        if (array->kind == ARRAY_GLOBAL && array->use == USAGE_OWN) {
            uint32_t index = generate_own_index(g, array);
            vyre_build_store(g->b, array->resource, index, generate_digest(g, array->type));
        }
    }
    vyre_build_phase_end(g->b);
    g->array_count = g->global_count;
}

/* Phases that repeat as often as an element says, which one of them counts down. */
void generate_countdown(generator *g) {
    uint32_t flag = vyre_build_scratch(g->b, "left", VYRE_TYPE_U32, vyre_build_size_const(g->b, 1));
    vyre_phase_desc one = {.domain = {vyre_build_size_const(g->b, 1)}};
    uint32_t zero = vyre_build_u32(g->b, 0);
    vyre_build_phase(g->b, &one);
    vyre_build_store(g->b, flag, zero, vyre_build_u32(g->b, generate_below(g, 4)));
    vyre_build_phase_end(g->b);
    g->repeats[g->repeat_count++] =
        vyre_build_repeat_while(g->b, NULL, flag, vyre_build_size_const(g->b, 0));
    one.domain[0] = vyre_build_size_const(g->b, 1);
    vyre_build_phase(g->b, &one);
    zero = vyre_build_u32(g->b, 0);
    uint32_t left = vyre_build_load(g->b, flag, zero);
    vyre_build_store(g->b, flag, zero,
                     vyre_build_op(g->b, VYRE_OP_SUB, left, vyre_build_u32(g->b, 1), VYRE_NONE));
    vyre_build_phase_end(g->b);
    g->in_while = true;
    generate_phase(g);
    g->in_while = false;
    vyre_build_repeat_end(g->b);
    g->repeat_count--;
}

static void make_steps(generator *g) {
    uint32_t count = 1 + generate_below(g, 3);
    for (uint32_t i = 0; i < count; i++) {
        if (generate_one_in(g, 6)) {
            g->repeats[g->repeat_count++] =
                vyre_build_repeat(g->b, NULL, vyre_build_size_const(g->b, generate_below(g, 4)));
            generate_phase(g);
            vyre_build_repeat_end(g->b);
            g->repeat_count--;
        } else if (generate_one_in(g, 8)) {
            generate_countdown(g);
        } else {
            generate_phase(g);
        }
    }
}

vyre_status generate_begin(generator *g, uint64_t seed, conform_trial *out_trial) {
    *out_trial = (conform_trial){0};
    *g = (generator){.random = seed, .record_random = ~seed, .trial = out_trial};
    vyre_random(&g->random);
    g->has_records = vyre_random(&g->record_random) % 4 == 0;
    return vyre_builder_create("random", &g->b);
}

vyre_status generate_end(generator *g) {
    vyre_status status = vyre_builder_finish(g->b, NULL, &g->trial->program);
    vyre_builder_free(g->b);
    if (!status && g->failed) {
        status = vyre_no_memory("for the arguments of a random program");
    }
    if (status) {
        conform_trial_free(g->trial);
    }
    return status;
}

vyre_status conform_generate(uint64_t seed, conform_trial *out_trial) {
    generator g;
    VYRE_TRY(generate_begin(&g, seed, out_trial));
    vyre_build_deterministic(g.b);
    g.has_steps = seed % 4 == 3;
    g.has_messages = seed % 8 > 5;
    g.message_random = ~seed;
    declare_interface(&g);
    if (g.has_steps) {
        generate_steps(&g);
    } else {
        make_steps(&g);
    }
    return generate_end(&g);
}
