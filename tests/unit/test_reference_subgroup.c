/* Subgroup operations of every width, type and combination, against the same computed here. */
#include "ir/eval.h"
#include "tests/unit/reference_check.h"

enum { LANES = 256 }; /* two workgroups of 128 */

static const uint32_t widths[] = {8, 16, 32, 64};

typedef struct type_row {
    const char *name;
    vyre_type type;
    size_t bytes;
} type_row;

static const type_row types[] = {
    {"i8", VYRE_TYPE_I8, 1},     {"u8", VYRE_TYPE_U8, 1},   {"i16", VYRE_TYPE_I16, 2},
    {"u16", VYRE_TYPE_U16, 2},   {"i32", VYRE_TYPE_I32, 4}, {"u32", VYRE_TYPE_U32, 4},
    {"i64", VYRE_TYPE_I64, 8},   {"u64", VYRE_TYPE_U64, 8}, {"f16", VYRE_TYPE_F16, 2},
    {"bf16", VYRE_TYPE_BF16, 2}, {"f32", VYRE_TYPE_F32, 4}, {"f64", VYRE_TYPE_F64, 8},
};

typedef struct combination_row {
    const char *name;
    vyre_op op;
    bool for_floats;
} combination_row;

static const combination_row combinations[] = {
    {"add", VYRE_OP_ADD, true},  {"mul", VYRE_OP_MUL, true},  {"min", VYRE_OP_MIN, true},
    {"max", VYRE_OP_MAX, true},  {"and", VYRE_OP_AND, false}, {"or", VYRE_OP_OR, false},
    {"xor", VYRE_OP_XOR, false},
};

static uint64_t random_state = 1;

static uint64_t draw(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 20 ^ random_state << 31;
}

/* Elements of a type; floats are near 1, so that sums depend on their order. */
static void fill(const type_row *type, uint8_t *data) {
    for (size_t i = 0; i < LANES; i++) {
        uint64_t bits = draw();
        switch (type->type) {
        case VYRE_TYPE_F16: bits = (bits & 0x83ff) | (0x3800 + (bits >> 50 & 3) * 0x400); break;
        case VYRE_TYPE_BF16: bits = (bits & 0x807f) | (0x3f00 + (bits >> 50 & 3) * 0x80); break;
        case VYRE_TYPE_F32:
            bits = (bits & 0x807fffff) | (0x3f000000 + (bits >> 50 & 3) * 0x800000);
            break;
        case VYRE_TYPE_F64: bits = (bits & 0x800fffffffffffff) | 0x3fe0000000000000; break;
        default: break;
        }
        memcpy(data + i * type->bytes, &bits, type->bytes);
    }
}

static uint64_t identity_of(const char *how, const type_row *t) {
    uint64_t ones = t->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << t->bytes * 8) - 1;
    uint64_t sign = (uint64_t)1 << (t->bytes * 8 - 1), infinity = 0, one = 1;
    switch (t->type) {
    case VYRE_TYPE_F16: infinity = 0x7c00, one = 0x3c00; break;
    case VYRE_TYPE_BF16: infinity = 0x7f80, one = 0x3f80; break;
    case VYRE_TYPE_F32: infinity = 0x7f800000, one = 0x3f800000; break;
    case VYRE_TYPE_F64: infinity = 0x7ff0000000000000, one = 0x3ff0000000000000; break;
    default: break;
    }
    bool is_signed = *t->name == 'i';
    if (!strcmp(how, "mul")) {
        return one;
    }
    if (!strcmp(how, "and")) {
        return ones;
    }
    if (!strcmp(how, "min")) {
        return infinity ? infinity : is_signed ? ones ^ sign : ones;
    }
    if (!strcmp(how, "max")) {
        return infinity ? infinity | sign : is_signed ? sign : 0;
    }
    return 0;
}

/* One after the other, as docs/semantics.md puts it. */
static void combine_here(const combination_row *how, const type_row *t, uint32_t width,
                         const uint8_t *x, uint8_t *reduced, uint8_t *scanned, uint8_t *below) {
    vyre_evaluator op = vyre_eval_find(how->op, t->type, t->type);
    size_t bytes = t->bytes;
    uint8_t next[LANES * 8];
    memcpy(reduced, x, LANES * bytes);
    memcpy(scanned, x, LANES * bytes);
    for (uint32_t d = width / 2; d; d /= 2) {
        for (uint32_t i = 0; i < LANES; i++) {
            uint32_t other = i / width * width + (i % width ^ d);
            op(next + i * bytes, reduced + i * bytes, reduced + other * bytes, NULL, 1);
        }
        memcpy(reduced, next, LANES * bytes);
    }
    for (uint32_t d = 1; d < width; d *= 2) {
        memcpy(next, scanned, LANES * bytes);
        for (uint32_t i = 0; i < LANES; i++) {
            if (i % width >= d) {
                op(next + i * bytes, scanned + (i - d) * bytes, scanned + i * bytes, NULL, 1);
            }
        }
        memcpy(scanned, next, LANES * bytes);
    }
    uint64_t identity = identity_of(how->name, t);
    for (uint32_t i = 0; i < LANES; i++) {
        memcpy(below + i * bytes, i % width ? scanned + (i - 1) * bytes : (void *)&identity, bytes);
    }
}

static void check_combination(const combination_row *how, const type_row *t, uint32_t width) {
    char text[600];
    snprintf(text, sizeof text,
             "program p(x: buffer<%s>, a: out buffer<%s>[256], b: out buffer<%s>[256],\n"
             "    c: out buffer<%s>[256]) over 256 workgroup 128 subgroup %u {\n"
             "    a[gid] = subgroup_%s(x[gid]);\n"
             "    b[gid] = subgroup_inclusive_%s(x[gid]);\n"
             "    c[gid] = subgroup_exclusive_%s(x[gid]);\n"
             "}\n",
             t->name, t->name, t->name, t->name, width, how->name, how->name, how->name);
    uint8_t x[LANES * 8], reduced[LANES * 8], scanned[LANES * 8], below[LANES * 8];
    size_t size = LANES * t->bytes;
    fill(t, x);
    combine_here(how, t, width, x, reduced, scanned, below);
    vyre_program *program = check_parse(text);
    vyre_input input[] = {{x, size}},
               expected[] = {{reduced, size}, {scanned, size}, {below, size}};
    vyre_outputs outputs = check_run_seed(program, (check_list){input, 1}, 0);
    for (size_t i = 0; i < 3; i++) {
        check_bytes(program, 0, i, &outputs.items[i], &expected[i]);
    }
    vyre_outputs_free(&outputs);
    vyre_program_release(program);
}

static void combinations_of_every_width_and_type(void **state) {
    (void)state;
    for (size_t w = 0; w < 4; w++) {
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            for (size_t c = 0; c < sizeof combinations / sizeof *combinations; c++) {
                if (combinations[c].for_floats || types[t].type < VYRE_TYPE_F16) {
                    check_combination(&combinations[c], &types[t], widths[w]);
                }
            }
        }
    }
}

/* A sum of floats by hand: ((1 + 2^-24) + ...) rounds otherwise than the tree does. */
static void floats_are_added_as_a_tree(void **state) {
    (void)state;
    const float e = 0x1p-24f;
    float x[8] = {1, e, e, 0, e, 0, 0, e}, y[8];
    /* Lane 0: 1 + e = 1 with lane 4, 1 + e = 1 with lane 2 (e + 0), 1 + 2e with lane 1 (e + 0, then
     * e + e with lane 3). */
    for (int i = 0; i < 8; i++) {
        y[i] = 1 + 2 * e;
    }
    /* d = 1: 1, 1, 2e, e, e, e, 0, e    d = 2: 1, 1, 1 + 2e, 1, 3e, 2e, e, 2e
     * d = 4: 1 + 3e lies in the middle and goes to the even one, 1 + 4e. */
    float z[8] = {1, 1, 1 + 2 * e, 1, 1 + 4 * e, 1 + 2 * e, 1 + 4 * e, 1 + 2 * e};
    check_run("program p(x: buffer<f32>, y: out buffer<f32>[8], z: out buffer<f32>[8])\n"
              "over x workgroup 8 subgroup 8 {\n"
              "    y[gid] = subgroup_add(x[gid]);\n"
              "    z[gid] = subgroup_inclusive_add(x[gid]);\n"
              "}\n",
              LIST(BYTES(x)), LIST(BYTES(y), BYTES(z)));
}

/* The lane that each of the five ways to exchange reads, absent if not below the width. */
static uint64_t source_of(size_t way, uint32_t lane, uint32_t k) {
    switch (way) {
    case 0: return k;
    case 1: return lane ^ k;
    case 2: return (uint64_t)lane - k;
    case 3: return (uint64_t)lane + k;
    default: return k;
    }
}

static void shuffles_of_every_width_and_type(void **state) {
    (void)state;
    static const char *const ways[] = {"shuffle", "shuffle_xor", "shuffle_up", "shuffle_down",
                                       "broadcast"};
    for (size_t w = 0; w < 4; w++) {
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            for (size_t way = 0; way < 5; way++) {
                bool uniform = way == 4;
                uint8_t x[LANES * 8], y[LANES * 8] = {0};
                uint32_t k[LANES], width = widths[w];
                size_t bytes = types[t].bytes;
                fill(&types[t], x);
                for (uint32_t i = 0; i < LANES; i++) {
                    uint64_t drawn = draw();
                    uint32_t near = (uint32_t)(drawn >> 8) % (width + 3);
                    k[i] = drawn % 7 ? near : drawn % 2 ? UINT32_MAX - near : 0x80000000u + near;
                    k[i] = uniform ? width / 3 : k[i];
                    uint64_t from = source_of(way, i % width, k[i]);
                    if (from < width) {
                        memcpy(y + i * bytes, x + (i / width * width + from) * bytes, bytes);
                    }
                }
                char text[400];
                snprintf(text, sizeof text,
                         "program p(x: buffer<%s>, k: buffer<u32>, y: out buffer<%s>[256])\n"
                         "over 256 workgroup 128 subgroup %u {\n"
                         "    y[gid] = subgroup_%s(x[gid], k[%s]);\n"
                         "}\n",
                         types[t].name, types[t].name, width, ways[way], uniform ? "0" : "gid");
                vyre_program *program = check_parse(text);
                vyre_input inputs[] = {{x, LANES * bytes}, BYTES(k)}, expected = {y, LANES * bytes};
                vyre_outputs outputs = check_run_seed(program, (check_list){inputs, 2}, 0);
                check_bytes(program, 0, 0, &outputs.items[0], &expected);
                vyre_outputs_free(&outputs);
                vyre_program_release(program);
            }
        }
    }
}

static void a_broadcast_of_an_absent_lane_gives_0(void **state) {
    (void)state;
    uint32_t y[64] = {0}, k[1] = {32};
    check_run("program p(k: u32, y: out buffer<u32>[64]) over 64 workgroup 64 subgroup 32 {\n"
              "    y[gid] = subgroup_broadcast(gid + 1, k);\n"
              "}\n",
              LIST(BYTES(k)), LIST(BYTES(y)));
}

static void votes_of_every_width(void **state) {
    (void)state;
    for (size_t w = 0; w < 4; w++) {
        uint32_t x[LANES], width = widths[w];
        uint64_t ballot[LANES];
        uint32_t any[LANES], all[LANES];
        for (uint32_t i = 0; i < LANES; i++) {
            uint32_t group = i / width;
            x[i] = group % 3 == 0 ? 0 : group % 3 == 1 ? 1 : (uint32_t)draw() % 2;
        }
        for (uint32_t i = 0; i < LANES; i++) {
            uint32_t base = i / width * width;
            ballot[i] = 0;
            for (uint32_t lane = 0; lane < width; lane++) {
                ballot[i] |= (uint64_t)x[base + lane] << lane;
            }
            any[i] = ballot[i] != 0;
            all[i] = ballot[i] == (width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1);
        }
        char text[500];
        snprintf(text, sizeof text,
                 "program p(x: buffer<u32>, a: out buffer<u64>[256], b: out buffer<u32>[256],\n"
                 "    c: out buffer<u32>[256]) over 256 workgroup 128 subgroup %u {\n"
                 "    let v = x[gid] == 1;\n"
                 "    a[gid] = u64(subgroup_ballot(v));\n"
                 "    b[gid] = u32(subgroup_any(v));\n"
                 "    c[gid] = u32(subgroup_all(v));\n"
                 "}\n",
                 width);
        if (width == 64) { /* is a u64 already */
            char *conversion = strstr(text, "u64(subgroup");
            memcpy(conversion, "   (", 4);
        }
        check_run(text, LIST(BYTES(x)), LIST(BYTES(ballot), BYTES(any), BYTES(all)));
    }
}

static void bools_combine_and_move(void **state) {
    (void)state;
    uint32_t x[32], y[32];
    for (uint32_t i = 0; i < 32; i++) {
        x[i] = (uint32_t)draw() % 2;
    }
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t base = i / 16 * 16, ands = 1, ors = 0, xors = 0, below = 1;
        for (uint32_t k = base; k < base + 16; k++) {
            ands &= x[k];
            ors |= x[k];
            xors ^= x[k];
            below &= k < i ? x[k] : 1;
        }
        y[i] = ands + 2 * ors + 4 * xors + 8 * x[i ^ 3] + 16 * below;
    }
    check_run(
        "program p(x: buffer<u32>, y: out buffer<u32>[32]) over 32 workgroup 32 subgroup 16 {\n"
        "    let v = x[gid] == 1;\n"
        "    y[gid] = u32(subgroup_and(v)) + 2 * u32(subgroup_or(v))\n"
        "        + 4 * u32(subgroup_xor(v)) + 8 * u32(subgroup_shuffle_xor(v, 3))\n"
        "        + 16 * u32(subgroup_exclusive_and(v));\n"
        "}\n",
        LIST(BYTES(x)), LIST(BYTES(y)));
}

static void lanes_follow_the_linear_position(void **state) {
    (void)state;
    uint32_t y[2 * 96];
    for (uint32_t i = 0; i < 96; i++) {
        y[2 * i] = i % 32;
        y[2 * i + 1] = i / 32;
    }
    check_run("program p(y: out buffer<u32>[192]) over (8, 4, 3) workgroup 8, 4, 3 {\n"
              "    let at = 2 * (lid.x + 8 * (lid.y + 4 * lid.z));\n"
              "    y[at] = lane;\n"
              "    y[at + 1] = subgroup_id;\n"
              "    if subgroup_any(false) { y[at] = 99; }\n"
              "}\n",
              NOTHING, LIST(BYTES(y)));
}

/* Subgroups go different ways, each as a whole; the others' values do not mix in. */
static void subgroups_take_their_own_branches(void **state) {
    (void)state;
    uint32_t y[128];
    for (uint32_t i = 0; i < 128; i++) {
        uint32_t s = i / 16, sum = 0, base = s * 16;
        for (uint32_t k = base; k < base + 16; k++) {
            sum += s % 2 ? k : k * k;
        }
        for (uint32_t turn = 0; turn < s; turn++) {
            sum += turn * 16;
        }
        y[i] = sum;
    }
    check_run("program p(y: out buffer<u32>[128]) over 128 workgroup 128 subgroup 16 {\n"
              "    var sum = 0u;\n"
              "    if subgroup_id % 2 == 1 {\n"
              "        sum = subgroup_add(gid);\n"
              "    } else {\n"
              "        sum = subgroup_add(gid * gid);\n"
              "    }\n"
              "    for turn in 0..subgroup_id { sum += subgroup_add(turn); }\n"
              "    y[gid] = sum;\n"
              "}\n",
              NOTHING, LIST(BYTES(y)));
}

/* docs/semantics.md: what a shuffle passes on was done before what follows it. Another lane has its
 * turn each time, each subgroup with a counter of its own. */
static void atomics_behind_a_shuffle_of_their_results_come_later(void **state) {
    (void)state;
    uint32_t y[128];
    for (uint32_t i = 0; i < 128; i++) {
        y[i] = i % 32;
    }
    check_run("program p(y: out buffer<u32>[128]) deterministic over 128 workgroup 128 {\n"
              "    shared counts: u32[4];\n"
              "    for turn in 0..32 {\n"
              "        let leader = (turn * 7 + 3) & 31;\n"
              "        var first = 0u;\n"
              "        if lane == leader {\n"
              "            first = atomic_add(counts[subgroup_id], 1, relaxed, workgroup);\n"
              "        }\n"
              "        let place = subgroup_shuffle(first, leader);\n"
              "        if lane == turn { y[gid] = place; }\n"
              "    }\n"
              "}\n",
              NOTHING, LIST(BYTES(y)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(combinations_of_every_width_and_type),
        cmocka_unit_test(floats_are_added_as_a_tree),
        cmocka_unit_test(shuffles_of_every_width_and_type),
        cmocka_unit_test(a_broadcast_of_an_absent_lane_gives_0),
        cmocka_unit_test(votes_of_every_width),
        cmocka_unit_test(bools_combine_and_move),
        cmocka_unit_test(lanes_follow_the_linear_position),
        cmocka_unit_test(subgroups_take_their_own_branches),
        cmocka_unit_test(atomics_behind_a_shuffle_of_their_results_come_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
