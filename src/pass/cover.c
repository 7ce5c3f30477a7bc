#include "pass/cover.h"

enum { MOST_BOUNDS = 6, MOST_COORDINATES = 9 + COVER_LOOPS, MOST_OFFSETS = COVER_STORES };

/* Something that an index goes up with. It takes all numbers from 0 up to its bounds, all of them;
 * without any, up to what the guards allow. */
typedef struct coordinate {
    bool is_offset; /* which of several stores, else */
    sum_kind kind;
    uint32_t a;
    uint32_t stride;
    uint32_t bounds[MOST_BOUNDS];
    uint32_t bound_count;
    bool is_used;
} coordinate;

typedef struct prover {
    sum_table *sums;
    const vyre_phase *phase;
    uint32_t domain[3];
    uint32_t length;
    coordinate coordinates[MOST_COORDINATES + MOST_OFFSETS];
    uint32_t count;
    cover_guard guards[COVER_GUARDS];
    uint32_t guard_count;
} prover;

static bool add_bound(uint32_t *bounds, uint32_t *count, uint32_t bound) {
    if (*count == MOST_BOUNDS || bound == SUM_UNKNOWN) {
        return false;
    }
    bounds[(*count)++] = bound;
    return true;
}

static void add_coordinate(prover *p, sum_kind kind, uint32_t a, uint32_t bound) {
    coordinate *added = &p->coordinates[p->count++];
    *added = (coordinate){.kind = kind, .a = a};
    if (kind != SUM_ITERATION) {
        added->bounds[added->bound_count++] = bound;
    }
}

/* Whether anything about the stores speaks of a kind of position. */
static bool speaks_of(const sum_table *sums, const cover_store *store, sum_kind kind, uint32_t a) {
    bool found = sum_mentions(sums, store->index, kind, a);
    for (uint32_t i = 0; i < store->guard_count; i++) {
        found = found || sum_mentions(sums, store->guards[i].less, kind, a) ||
                sum_mentions(sums, store->guards[i].end, kind, a);
    }
    return found;
}

static void replace(sum_table *sums, cover_store *store, sum_kind kind, uint32_t a, uint32_t by) {
    store->index = sum_replace(sums, store->index, kind, a, by);
    for (uint32_t i = 0; i < store->guard_count; i++) {
        store->guards[i].less = sum_replace(sums, store->guards[i].less, kind, a, by);
        store->guards[i].end = sum_replace(sums, store->guards[i].end, kind, a, by);
    }
}

/* gid = wid * size + lid, and lid = subgroup * width + lane: speaks of the finest that come up.
 * False if they cannot be had. */
static bool choose_positions(prover *p, cover_store *store) {
    sum_table *sums = p->sums;
    const vyre_phase *phase = p->phase;
    bool has_lanes = speaks_of(sums, store, SUM_LANE, 0) || speaks_of(sums, store, SUM_SUBGROUP, 0);
    if (has_lanes && (!phase->subgroup || phase->workgroup[1] != 1 || phase->workgroup[2] != 1)) {
        return false; /* lanes follow one another through several dimensions */
    }
    p->count = 0;
    for (uint32_t k = 0; k < phase->dimensions; k++) {
        uint32_t domain = p->domain[k];
        bool by_lane = has_lanes && !k;
        if (!by_lane && !speaks_of(sums, store, SUM_WID, k) &&
            !speaks_of(sums, store, SUM_LID, k)) {
            add_coordinate(p, SUM_GID, k, domain);
            continue;
        }
        uint32_t size = sum_number(sums, phase->workgroup[k]), wid = sum_of(sums, SUM_WID, k, 0);
        uint32_t lid = sum_of(sums, SUM_LID, k, 0);
        replace(sums, store, SUM_GID, k, sum_add(sums, sum_multiply(sums, wid, size), lid));
        add_coordinate(p, SUM_WID, k, sum_divide(sums, SUM_CEIL_DIV, domain, size));
        if (!by_lane) {
            add_coordinate(p, SUM_LID, k, size);
            continue;
        }
        uint32_t width = sum_number(sums, phase->subgroup), lane = sum_of(sums, SUM_LANE, 0, 0);
        uint32_t subgroup = sum_of(sums, SUM_SUBGROUP, 0, 0);
        replace(sums, store, SUM_LID, 0, sum_add(sums, sum_multiply(sums, subgroup, width), lane));
        add_coordinate(p, SUM_SUBGROUP, 0, sum_divide(sums, SUM_DIV, size, width));
        add_coordinate(p, SUM_LANE, 0, width);
    }
    for (uint32_t i = 0; i < store->loop_count; i++) {
        add_coordinate(p, SUM_ITERATION, store->loops[i], SUM_UNKNOWN);
    }
    return true;
}

/* Whether a guard's end is a number that can be counted on: an array never has more elements than
 * fit in 32 bits. */
static bool is_certain(const prover *p, const cover_guard *guard) {
    return guard->is_exact || sum_same(p->sums, guard->end, p->length);
}

/* Guards that keep out nothing but what lies past the end go away. */
static void drop_guards(const prover *p, cover_store *store) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < store->guard_count; i++) {
        cover_guard guard = store->guards[i];
        bool is_bounds_check = sum_same(p->sums, guard.less, store->index) &&
                               is_certain(p, &guard) && sum_reaches(p->sums, guard.end, p->length);
        if (!is_bounds_check) {
            store->guards[kept++] = guard;
        }
    }
    store->guard_count = (uint8_t)kept;
}

/* Strides of all coordinates; what is left of the index is the offset. */
static bool find_strides(prover *p, uint32_t index, uint32_t *out_offset) {
    for (uint32_t i = 0; i < p->count; i++) {
        coordinate *c = &p->coordinates[i];
        if (!sum_take(p->sums, index, c->kind, c->a, &c->stride, &index)) {
            return false;
        }
    }
    *out_offset = index;
    bool is_fixed = sum_is_fixed(p->sums, index);
    for (uint32_t i = 0; i < p->count; i++) { /* no products of coordinates */
        is_fixed = is_fixed && sum_is_fixed(p->sums, p->coordinates[i].stride);
    }
    return is_fixed;
}

/* A guard of one coordinate, factor * coordinate + number < end, becomes a bound of it. Below zero
 * the left side would wrap around and keep the first ones out. */
static bool use_as_bound(prover *p, const cover_guard *guard) {
    for (uint32_t i = 0; i < p->count && is_certain(p, guard); i++) {
        coordinate *c = &p->coordinates[i];
        uint32_t factor, rest;
        int64_t by, number;
        if (c->is_offset || !sum_take(p->sums, guard->less, c->kind, c->a, &factor, &rest) ||
            !sum_is_number(p->sums, factor, &by) || by <= 0 ||
            !sum_is_number(p->sums, rest, &number) || number < 0) {
            continue;
        }
        uint32_t room = sum_subtract(p->sums, guard->end, rest);
        return sum_is_fixed(p->sums, room) && sum_is_positive(p->sums, room) &&
               add_bound(c->bounds, &c->bound_count,
                         sum_divide(p->sums, SUM_CEIL_DIV, room, factor));
    }
    return false;
}

static bool contains(const sum_table *sums, const uint32_t *list, uint32_t count, uint32_t sum) {
    uint32_t i = 0;
    while (i < count && !sum_same(sums, list[i], sum)) {
        i++;
    }
    return i < count;
}

/* Offsets 0, s, 2s, ... become a coordinate of stride s, and what they start from the next. */
static bool use_offsets(prover *p, uint32_t *offsets, uint32_t count) {
    sum_table *sums = p->sums;
    uint32_t zero = sum_number(sums, 0);
    while (count > 1) {
        uint32_t step = sum_same(sums, offsets[0], zero) ? offsets[1] : offsets[0];
        uint32_t iterations = 1, kept = 0, at = step;
        for (; contains(sums, offsets, count, at); iterations++) {
            at = sum_add(sums, at, step);
        }
        uint32_t starts[MOST_OFFSETS];
        for (uint32_t i = 0; i < count; i++) {
            if (contains(sums, offsets, count, sum_subtract(sums, offsets[i], step))) {
                continue;
            }
            uint32_t run = 1;
            for (at = sum_add(sums, offsets[i], step);
                 run < iterations && contains(sums, offsets, count, at); run++) {
                at = sum_add(sums, at, step);
            }
            if (run == iterations) {
                starts[kept++] = offsets[i];
            }
        }
        if (iterations < 2 || kept >= count) {
            return false;
        }
        p->coordinates[p->count++] = (coordinate){.is_offset = true,
                                                  .stride = step,
                                                  .bounds = {sum_number(sums, iterations)},
                                                  .bound_count = 1};
        count = kept;
        for (uint32_t i = 0; i < kept; i++) {
            offsets[i] = starts[i];
        }
    }
    return count == 1 && sum_same(sums, offsets[0], zero);
}

/* What is reached so far without a gap: everything up to the least of the bounds. */
typedef struct reach {
    uint32_t bounds[MOST_BOUNDS];
    uint32_t bound_count;
    uint32_t index;  /* what the coordinates since the last guard add to it */
    uint32_t stride; /* of the first of these; SUM_UNKNOWN in front of it */
} reach;

static bool reaches(prover *p, const reach *r, uint32_t sum) {
    for (uint32_t i = 0; i < r->bound_count; i++) {
        if (!sum_reaches(p->sums, r->bounds[i], sum)) {
            return false;
        }
    }
    return sum != SUM_UNKNOWN;
}

/* The next coordinate: one that goes on right where the others end, or else one that comes before.
 */
static coordinate *next_coordinate(prover *p, const reach *r) {
    coordinate *found = NULL;
    for (uint32_t i = 0; i < p->count; i++) {
        coordinate *c = &p->coordinates[i];
        int64_t number;
        bool is_absent = sum_is_number(p->sums, c->stride, &number) && !number;
        if (c->is_used || is_absent) {
            continue;
        }
        if (r->bound_count && sum_same(p->sums, r->bounds[0], c->stride) &&
            reaches(p, r, c->stride)) {
            return c;
        }
        if (!found && reaches(p, r, c->stride)) {
            found = c;
        }
    }
    return found;
}

static bool go_on(prover *p, reach *r, coordinate *c) {
    r->bound_count = 0;
    for (uint32_t i = 0; i < c->bound_count; i++) {
        if (!add_bound(r->bounds, &r->bound_count,
                       sum_multiply(p->sums, c->stride, c->bounds[i]))) {
            return false;
        }
    }
    c->is_used = true;
    uint32_t added = c->is_offset
                         ? SUM_UNKNOWN
                         : sum_multiply(p->sums, c->stride, sum_of(p->sums, c->kind, c->a, 0));
    r->index = sum_add(p->sums, r->index, added);
    r->stride = r->stride == SUM_UNKNOWN ? c->stride : r->stride;
    return true;
}

/* A guard of what the last coordinates make up cuts it off; those that come now start anew. */
static bool cut_off(prover *p, reach *r) {
    uint32_t kept = 0;
    bool is_cut = false;
    for (uint32_t i = 0; i < p->guard_count; i++) {
        cover_guard guard = p->guards[i];
        if (!sum_same(p->sums, sum_multiply(p->sums, r->stride, guard.less), r->index) ||
            !is_certain(p, &guard) || !sum_is_fixed(p->sums, guard.end)) {
            p->guards[kept++] = guard;
        } else if (add_bound(r->bounds, &r->bound_count,
                             sum_multiply(p->sums, r->stride, guard.end))) {
            is_cut = true;
        } else {
            return false;
        }
    }
    p->guard_count = kept;
    if (is_cut) {
        r->index = sum_number(p->sums, 0);
        r->stride = SUM_UNKNOWN;
    }
    return true;
}

static bool prove(prover *p) {
    sum_table *sums = p->sums;
    reach r = {.bounds = {sum_number(sums, 1)}, .bound_count = 1, .index = sum_number(sums, 0)};
    for (coordinate *c; (c = next_coordinate(p, &r));) {
        if (!go_on(p, &r, c) || !cut_off(p, &r)) {
            return false;
        }
    }
    /* Who has no part in the index is there all the same. */
    for (uint32_t i = 0; i < p->count; i++) {
        const coordinate *c = &p->coordinates[i];
        int64_t number;
        if (c->is_used) {
            continue;
        }
        if (!sum_is_number(sums, c->stride, &number) || number || !c->bound_count) {
            return false;
        }
        for (uint32_t k = 0; k < c->bound_count; k++) {
            if (!sum_reaches(sums, c->bounds[k], sum_number(sums, 1))) {
                return false;
            }
        }
    }
    return !p->guard_count && reaches(p, &r, p->length);
}

static bool same_guards(const sum_table *sums, const cover_store *left, const cover_store *right) {
    bool same = left->guard_count == right->guard_count && left->loop_count == right->loop_count;
    for (uint32_t i = 0; same && i < left->loop_count; i++) {
        same = left->loops[i] == right->loops[i];
    }
    for (uint32_t i = 0; same && i < left->guard_count; i++) {
        same = sum_same(sums, left->guards[i].less, right->guards[i].less) &&
               sum_same(sums, left->guards[i].end, right->guards[i].end);
    }
    return same;
}

/* A store with all that differ from it by an offset alone. */
static bool prove_with(prover *p, const cover_store *stores, uint32_t count, uint32_t which) {
    uint32_t offsets[MOST_OFFSETS], offset_count = 0, first;
    if (!find_strides(p, stores[which].index, &first)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t apart = sum_subtract(p->sums, stores[i].index, stores[which].index);
        uint32_t offset = sum_add(p->sums, first, apart);
        bool is_apart = sum_is_fixed(p->sums, apart) && offset != SUM_UNKNOWN &&
                        same_guards(p->sums, &stores[i], &stores[which]);
        if (is_apart && !contains(p->sums, offsets, offset_count, offset)) {
            offsets[offset_count++] = offset;
        }
    }
    if (!use_offsets(p, offsets, offset_count)) {
        return false;
    }
    p->guard_count = 0;
    for (uint32_t i = 0; i < stores[which].guard_count; i++) {
        if (!use_as_bound(p, &stores[which].guards[i])) {
            p->guards[p->guard_count++] = stores[which].guards[i];
        }
    }
    return prove(p);
}

bool cover_reaches(sum_table *sums, const vyre_phase *phase, cover_store *stores, uint32_t count,
                   uint32_t length) {
    prover p = {.sums = sums, .phase = phase, .length = length};
    bool found = false;
    for (uint32_t i = 0; i < phase->dimensions; i++) {
        p.domain[i] = sum_of_size(sums, phase->domain[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        drop_guards(&p, &stores[i]);
    }
    for (uint32_t i = 0; i < count && !found; i++) {
        /* Positions are spoken of as this store does; others that do otherwise do not match. */
        sum_mark mark = sum_table_mark(sums);
        cover_store kept = stores[i];
        found = choose_positions(&p, &stores[i]) && prove_with(&p, stores, count, i);
        stores[i] = kept;
        sum_table_reset(sums, mark);
    }
    return found;
}
