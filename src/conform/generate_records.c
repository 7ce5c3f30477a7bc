/* Small programs of records: whole ones and parts, fields that are computed alike and not, loads
 * and stores that alternate, records in and out of bounds. */
#include "conform/generate.h"

enum { MOST_FIELDS = 9 };

/* Two buffers of the same records: one to read from, one to change. */
typedef struct parts {
    vyre_type type;
    uint32_t count; /* fields, one behind the other */
    uint32_t a[MOST_FIELDS], x[MOST_FIELDS];
    vyre_type x_types[MOST_FIELDS]; /* or another type of the same size */
} parts;

static uint32_t op2(generator *g, vyre_op op, uint32_t left, uint32_t right) {
    return vyre_build_op(g->b, op, left, right, VYRE_NONE);
}

static parts declare(generator *g, uint32_t turn) {
    static const vyre_type types[] = {VYRE_TYPE_F32, VYRE_TYPE_U32, VYRE_TYPE_F64, VYRE_TYPE_U8,
                                      VYRE_TYPE_I16, VYRE_TYPE_F16, VYRE_TYPE_I64};
    static const uint32_t counts[] = {4, 2, 8, 3, 5, MOST_FIELDS, 7};
    parts p = {.type = types[turn % 7], .count = counts[turn / 2 % 7]};
    uint32_t bytes = vyre_type_bytes(p.type);
    uint32_t lead = generate_one_in(g, 3) ? generate_below(g, 4) : 0;
    uint32_t rest = generate_one_in(g, 6) ? generate_below(g, 4) : 0;
    uint32_t record = (lead + p.count + rest) * bytes;
    uint32_t a = vyre_build_records(g->b, "a", VYRE_ACCESS_IN, record, VYRE_NONE);
    uint32_t x = vyre_build_records(g->b, "x", VYRE_ACCESS_INOUT, record, VYRE_NONE);
    for (uint32_t k = 0; k < p.count; k++) {
        bool other = p.type == VYRE_TYPE_F32 && generate_one_in(g, 6);
        p.x_types[k] = other ? VYRE_TYPE_U32 : p.type;
        p.a[k] = vyre_build_field(g->b, a, p.type, (lead + k) * bytes);
        p.x[k] = vyre_build_field(g->b, x, p.x_types[k], (lead + k) * bytes);
    }
    generate_argument(g, "a", VYRE_TYPE_U8, (size_t)record * (60 + generate_below(g, 80)));
    generate_argument(g, "x", VYRE_TYPE_U8, (size_t)record * (60 + generate_below(g, 80)));
    return p;
}

/* The record to read from. */
static uint32_t make_index(generator *g, uint32_t own) {
    uint32_t number = vyre_build_u32(g->b, generate_below(g, 40));
    switch (generate_below(g, 12)) {
    case 0: return op2(g, VYRE_OP_ADD, own, number);
    case 1: return op2(g, VYRE_OP_MUL, own, vyre_build_u32(g->b, 3));
    case 2: return op2(g, VYRE_OP_SUB, own, number);
    case 3: return number;
    default: return own;
    }
}

static void store(generator *g, const parts *p, uint32_t k, uint32_t own, uint32_t value) {
    vyre_type type = p->x_types[k];
    value = type == p->type ? value : vyre_build_bitcast(g->b, type, value);
    vyre_build_store(g->b, p->x[k], own, value);
}

static uint32_t load_own(generator *g, const parts *p, uint32_t k, uint32_t own) {
    uint32_t value = vyre_build_load(g->b, p->x[k], own);
    return p->x_types[k] == p->type ? value : vyre_build_bitcast(g->b, p->type, value);
}

/* All fields by the same operations: from the field beside it if `turned`. */
static void change_all(generator *g, const parts *p, uint32_t own, bool turned) {
    uint32_t values[MOST_FIELDS], index = make_index(g, own);
    vyre_op op = generate_one_in(g, 3) ? VYRE_OP_MAX : VYRE_OP_ADD;
    for (uint32_t k = 0; k < p->count; k++) {
        uint32_t from = turned ? (k + 1) % p->count : k;
        values[k] = vyre_build_load(g->b, p->a[from], index);
    }
    bool has_factor = generate_one_in(g, 2);
    uint32_t factor = vyre_build_convert(g->b, p->type, own);
    for (uint32_t k = 0; k < p->count; k++) {
        values[k] = op2(g, VYRE_OP_MUL, values[k], has_factor ? factor : values[k]);
        values[k] = op2(g, op, values[k], load_own(g, p, k, own));
    }
    for (uint32_t k = 0; k < p->count; k++) {
        store(g, p, k, own, values[k]);
    }
}

/* Each field from those beside it, as they are by then. The first one is written between a load of
 * its neighbour and one of its own. */
static void change_in_turn(generator *g, const parts *p, uint32_t own) {
    uint32_t second = load_own(g, p, 1, own);
    store(g, p, 0, own, vyre_build_load(g->b, p->a[0], own));
    uint32_t first = load_own(g, p, 0, own);
    store(g, p, 0, own, op2(g, VYRE_OP_SUB, second, first));
    for (uint32_t k = 0; k < p->count; k++) {
        uint32_t beside = load_own(g, p, (k + 1 + generate_below(g, 2)) % p->count, own);
        store(g, p, k, own, op2(g, VYRE_OP_ADD, load_own(g, p, k, own), beside));
    }
}

/* Some fields, and the same ones again. */
static void change_some(generator *g, const parts *p, uint32_t own) {
    uint32_t index = make_index(g, own), sum = VYRE_NONE;
    for (uint32_t k = 0; k < p->count; k++) {
        if (generate_below(g, 4)) {
            uint32_t value = vyre_build_load(g->b, p->a[k], index);
            sum = sum == VYRE_NONE ? value : op2(g, VYRE_OP_ADD, sum, value);
        }
    }
    for (uint32_t k = 0; k < p->count && sum != VYRE_NONE; k++) {
        if (generate_below(g, 4)) {
            store(g, p, k, own, op2(g, VYRE_OP_SUB, sum, load_own(g, p, k, own)));
        }
    }
}

void generate_records(generator *g, uint32_t turn) {
    parts p = declare(g, turn / 4);
    uint32_t size = generate_one_in(g, 2) ? vyre_build_size_len(g->b, p.x[0])
                                          : vyre_build_size_const(g->b, 1 + generate_below(g, 160));
    vyre_build_phase(g->b, &(vyre_phase_desc){.domain = {size}});
    uint32_t own = vyre_build_position(g->b, VYRE_OP_GID, 0), kind = turn % 4;
    bool guarded = generate_one_in(g, 8);
    if (guarded) {
        uint32_t odd = op2(g, VYRE_OP_AND, own, vyre_build_u32(g->b, 1));
        vyre_build_if(g->b, vyre_build_convert(g->b, VYRE_TYPE_BOOL, odd));
    }
    if (kind == 0) {
        change_in_turn(g, &p, own);
    } else if (kind == 1) {
        change_some(g, &p, own);
    } else {
        change_all(g, &p, own, kind == 2);
    }
    if (guarded) {
        vyre_build_if_end(g->b, 0, NULL);
    }
    vyre_build_phase_end(g->b);
}
