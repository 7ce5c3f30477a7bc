/* Lanes whose elements lie at a constant distance from one another. Where neighbouring elements are
 * asked for, too, whole words are loaded lane by lane and transposed. */
#include <stdio.h>

#include "backend/cpu/codegen/emit_state.h"

enum { MOST_STRIDE = 64, MOST_WORDS = 16 };

uint32_t emit_all(emit *e, uint32_t mask) {
    uint32_t bits = emit_put(e, "bitcast <%u x i1> %%t%u to i%u", e->lanes, mask, e->lanes);
    return emit_put(e, "icmp eq i%u %%t%u, -1", e->lanes, bits);
}

static bool is_wide_enough(vyre_type type) {
    return type == VYRE_TYPE_U32 || type == VYRE_TYPE_I32 || type == VYRE_TYPE_U64 ||
           type == VYRE_TYPE_I64;
}

/* Whether the first element, in 64 bits, and those of all lanes behind it are inside. */
static uint32_t has_room(emit *e, uint32_t resource, vyre_type type, uint32_t first,
                         uint64_t elements) {
    uint32_t length = e->lengths[resource];
    if (type == VYRE_TYPE_I32) { /* beyond, an index would iteration negative */
        uint32_t less = emit_put(e, "icmp ult i64 %%t%u, 2147483648", length);
        length = emit_put(e, "select i1 %%t%u, i64 %%t%u, i64 2147483648", less, length);
    }
    uint32_t room = emit_put(e, "icmp uge i64 %%t%u, %llu", length, (unsigned long long)elements);
    uint32_t last = emit_put(e, "sub i64 %%t%u, %llu", length, (unsigned long long)elements);
    uint32_t before = emit_put(e, "icmp ule i64 %%t%u, %%t%u", first, last);
    return emit_put(e, "and i1 %%t%u, %%t%u", room, before);
}

/* Whether all of an access's neighbours are known to be inside, as it is. */
static bool all_inside(const emit *e, uint32_t inst, uint32_t count, bool *out_tested) {
    const vyre_access_group *group = count > 1 ? vyre_access_group_of(&e->accesses, inst) : NULL;
    uint32_t members = group ? group->count : 1;
    bool inside = true;
    *out_tested = true;
    for (uint32_t k = 0; k < members; k++) {
        uint32_t member = group ? group->members[k] : inst;
        inside = inside && emit_is_inside(e, member);
        *out_tested = *out_tested && e->tested[member - e->phase->first];
    }
    return inside;
}

bool emit_find_span(emit *e, uint32_t inst, int64_t below, uint32_t count, emit_span *out) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i), index = vyre_access_index(e->ir, i);
    vyre_type type = vyre_operand_type(e->ir, index);
    vyre_stride form = emit_stride_of(e, index);
    bool is_field = vyre_resource_is_field(&e->ir->resources[resource]);
    if (form.kind != VYRE_STRIDE_AFFINE || !is_wide_enough(type) || form.stride < 1 ||
        form.stride > MOST_STRIDE) {
        return false;
    }
    uint32_t first = emit_widen(e, type, 1, emit_first(e, index));
    if (below && !is_field) {
        first = emit_put(e, "sub i64 %%t%u, %lld", first, (long long)below);
    }
    bool tested, inside = all_inside(e, inst, count, &tested);
    uint32_t bytes = emit_element_bytes(e, resource);
    *out = (emit_span){.distance = (uint64_t)form.stride * bytes};
    out->pointer = emit_pointer_to(e, emit_array_start(e, resource), first, bytes);
    if (below && is_field) {
        out->pointer =
            emit_put(e, "getelementptr i8, ptr %%t%u, i64 %lld", out->pointer,
                     -below * (long long)vyre_type_bytes(emit_element_type(e, resource)));
    }
    /* Lane 0 must run for its index to be one of the array. */
    out->masked = !tested && inside && form.exact && e->mask == e->whole;
    if (!tested && !out->masked) {
        uint32_t own = is_field ? 1 : count; /* a record is one element of its buffer */
        out->inside =
            has_room(e, resource, type, first, (uint64_t)form.stride * (e->lanes - 1) + own);
    }
    return true;
}

/* Vectors of n-bit integers */

static uint32_t shuffle(emit *e, uint32_t bits, uint32_t lanes, uint32_t a, uint32_t b,
                        const uint32_t *from, uint32_t count) {
    char type[32];
    snprintf(type, sizeof type, "<%u x i%u>", lanes, bits);
    return emit_shuffle(e, type, a, b, from, count);
}

/* Two vectors as one of twice the lanes. */
static uint32_t join(emit *e, uint32_t bits, uint32_t lanes, uint32_t a, uint32_t b) {
    uint32_t from[64];
    for (uint32_t k = 0; k < 2 * lanes; k++) {
        from[k] = k;
    }
    return shuffle(e, bits, lanes, a, b, from, 2 * lanes);
}

/* The two vectors that hold, in each block of `block` lanes, lanes of a and b by these patterns: p
 * is lane p of a, block + p is lane p of b. */
static void mix(emit *e, uint32_t bits, uint32_t block, uint32_t *a, uint32_t *b,
                const uint32_t *low, const uint32_t *high) {
    uint32_t from[2][64];
    for (uint32_t k = 0; k < e->lanes; k++) {
        uint32_t start = k / block * block, at = k % block;
        const uint32_t *patterns[2] = {low, high};
        for (int half = 0; half < 2; half++) {
            uint32_t pick = patterns[half][at];
            from[half][k] = pick < block ? start + pick : e->lanes + start + pick - block;
        }
    }
    uint32_t first = shuffle(e, bits, e->lanes, *a, *b, from[0], e->lanes);
    *b = shuffle(e, bits, e->lanes, *a, *b, from[1], e->lanes);
    *a = first;
}

/* Transposes blocks of `words` by `words` in as many vectors: halves change places, then halves of
 * those, down to blocks of 4, which interleaving does in one step each. */
static void transpose(emit *e, uint32_t bits, uint32_t words, uint32_t *vectors) {
    for (uint32_t d = words / 2; d >= 1; d /= 2) {
        if (d == 2) {
            static const uint32_t low[] = {0, 4, 1, 5}, high[] = {2, 6, 3, 7};
            static const uint32_t left[] = {0, 1, 4, 5}, right[] = {2, 3, 6, 7};
            for (uint32_t k = 0; k < words; k += 4) {
                uint32_t *v = vectors + k, middle;
                mix(e, bits, 4, &v[0], &v[1], low, high);
                mix(e, bits, 4, &v[2], &v[3], low, high);
                mix(e, bits, 4, &v[0], &v[2], left, right);
                mix(e, bits, 4, &v[1], &v[3], left, right);
                middle = v[1];
                v[1] = v[2];
                v[2] = middle;
            }
            return;
        }
        uint32_t low[MOST_WORDS], high[MOST_WORDS];
        for (uint32_t p = 0; p < 2 * d; p++) {
            low[p] = p < d ? p : d + p;
            high[p] = p < d ? p + d : 2 * d + p;
        }
        for (uint32_t k = 0; k < words; k++) {
            if (!(k & d)) {
                mix(e, bits, 2 * d, &vectors[k], &vectors[k + d], low, high);
            }
        }
    }
}

/* The words of each lane, one after the other. */
static void load_rows(emit *e, const emit_span *span, uint32_t element, uint32_t bits,
                      uint32_t words, uint32_t *rows) {
    char type[32];
    snprintf(type, sizeof type, words > 1 ? "<%u x i%u>" : "i%u", words > 1 ? words : bits, bits);
    for (uint32_t lane = 0; lane < e->lanes; lane++) {
        uint32_t at = emit_offset(e, span->pointer, span->distance * lane);
        rows[lane] =
            emit_put(e, "load %s, ptr %%t%u, align %u%s", type, at, element, emit_alias(e).text);
    }
}

/* `words` words of each lane, as that many vectors. */
static void load_words(emit *e, const emit_span *span, uint32_t element, uint32_t bits,
                       uint32_t words, uint32_t *vectors) {
    uint32_t rows[64], lanes = e->lanes;
    if (words == 1 && span->distance * 8 == bits) { /* side by side */
        vectors[0] = emit_put(e, "load <%u x i%u>, ptr %%t%u, align %u%s", lanes, bits,
                              span->pointer, element, emit_alias(e).text);
        return;
    }
    load_rows(e, span, element, bits, words, rows);
    if (words == 1) {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            char before[16] = "poison";
            if (lane) {
                snprintf(before, sizeof before, "%%t%u", vectors[0]);
            }
            vectors[0] = emit_put(e, "insertelement <%u x i%u> %s, i%u %%t%u, i64 %u", lanes, bits,
                                  before, bits, rows[lane], lane);
        }
        return;
    }
    /* Vector k holds rows k, k + words, k + 2 words and so on. */
    for (uint32_t k = 0; k < words; k++) {
        uint32_t parts[64], count = lanes / words;
        for (uint32_t m = 0; m < count; m++) {
            parts[m] = rows[k + m * words];
        }
        for (uint32_t size = words; size < lanes; size *= 2) {
            count /= 2;
            for (uint32_t m = 0; m < count; m++) {
                parts[m] = join(e, bits, size, parts[(size_t)2 * m], parts[(size_t)2 * m + 1]);
            }
        }
        vectors[k] = parts[0];
    }
    transpose(e, bits, words, vectors);
}

/* Element `number` of the words, as a value of the type. */
static uint32_t element_of(emit *e, vyre_type type, const uint32_t *vectors, uint32_t bits,
                           uint32_t number) {
    vyre_type stored = emit_stored_type(type);
    uint32_t own = vyre_type_bytes(stored) * 8, at = number * own;
    uint32_t id = vectors[at / bits], shift = at % bits;
    if (shift) {
        uint32_t by = cpu_write_const(&e->w,
                                      bits == 64   ? VYRE_TYPE_U64
                                      : bits == 32 ? VYRE_TYPE_U32
                                                   : VYRE_TYPE_U16,
                                      e->lanes, shift);
        id = emit_put(e, "lshr <%u x i%u> %%t%u, %%t%u", e->lanes, bits, id, by);
    }
    if (own < bits) {
        id = emit_put(e, "trunc <%u x i%u> %%t%u to <%u x i%u>", e->lanes, bits, id, e->lanes, own);
    }
    if (stored == VYRE_TYPE_F32 || stored == VYRE_TYPE_F64) {
        id = emit_put(e, "bitcast <%u x i%u> %%t%u to %s", e->lanes, own, id,
                      cpu_type(stored, e->lanes).text);
    }
    return emit_from_memory(e, type, e->lanes, id);
}

/* The members of a group that are accessed with one of them, and how many elements that takes: a
 * power of 2, no more than fit. */
typedef struct run {
    uint32_t first, count; /* in the group */
    uint32_t own;          /* which of them the access at hand is */
    uint32_t lead, all;    /* elements in front of the first that nobody asks for; all of them */
} run;

static const run run_of_one = {.count = 1, .all = 1};

/* How many elements may be accessed at once. */
static uint32_t most_elements(const emit *e, uint32_t bytes) {
    uint32_t most = MOST_WORDS < e->lanes ? MOST_WORDS : e->lanes;
    return most * (bytes < 4 ? 4 / bytes : 1);
}

static run find_run(const emit *e, const vyre_access_group *group, uint32_t inst, uint32_t bytes) {
    uint32_t most = most_elements(e, bytes);
    run r = run_of_one;
    for (uint32_t left = group->count; left;) {
        r.count = 1;
        while (r.count * 2 <= left && r.count * 2 <= most) {
            r.count *= 2;
        }
        r.all = r.count;
        for (r.own = 0; r.own < r.count; r.own++) {
            if (group->members[r.first + r.own] == inst) {
                return r;
            }
        }
        r.first += r.count;
        left -= r.count;
    }
    return run_of_one;
}

static const vyre_resource *member_array(const emit *e, uint32_t inst) {
    return vyre_access_array(e->ir, &e->ir->insts[inst]);
}

/* Fields that are loaded may come with others of their record, so that they are a power of 2. */
static run find_fields(const emit *e, const vyre_access_group *group, uint32_t inst,
                       uint32_t bytes) {
    run r = {.count = group->count, .all = 1};
    const vyre_resource *first = member_array(e, group->members[0]);
    uint32_t record = vyre_resource_stride(e->ir, first) / bytes, start = first->length / bytes;
    while (r.all < r.count) {
        r.all *= 2;
    }
    if (r.all > record || r.all > most_elements(e, bytes)) {
        return find_run(e, group, inst, bytes);
    }
    r.lead = start + r.all > record ? start + r.all - record : 0;
    while (group->members[r.own] != inst) {
        r.own++;
    }
    return r;
}

/* Lane by lane, where not all is inside: an element beside the access's own, or a field. */
static uint32_t load_beside(emit *e, uint32_t inst, uint32_t member, int64_t distance) {
    uint32_t resource = vyre_access_resource(&e->ir->insts[member]);
    uint32_t wide = emit_lane_indices(e, vyre_access_index(e->ir, &e->ir->insts[inst]));
    if (distance && !vyre_resource_is_field(&e->ir->resources[resource])) {
        uint32_t by = cpu_write_const(&e->w, VYRE_TYPE_U64, e->lanes, (uint64_t)distance);
        wide = emit_put(e, "add <%u x i64> %%t%u, %%t%u", e->lanes, wide, by);
    }
    return emit_gather(e, emit_element_type(e, resource), emit_lane_pointers(e, resource, wide),
                       emit_inside_mask(e, member, wide));
}

static vyre_type member_type(const emit *e, uint32_t inst) {
    return vyre_resource_type(member_array(e, inst));
}

bool emit_load_span(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    const vyre_resource *array = vyre_access_array(e->ir, i);
    uint32_t bytes = vyre_type_bytes(vyre_resource_type(array));
    bool is_field = vyre_resource_is_field(array);
    emit_span span;
    const vyre_access_group *group = vyre_access_group_of(&e->accesses, inst);
    run r = !group     ? run_of_one
            : is_field ? find_fields(e, group, inst, bytes)
                       : find_run(e, group, inst, bytes);
    if (i->op != VYRE_OP_LOAD || array->kind == VYRE_RESOURCE_PRIVATE || (is_field && r.all == 1) ||
        !emit_find_span(e, inst, r.lead + r.own, r.all, &span)) {
        return false;
    }
    uint32_t bits = r.all * bytes <= 8 ? r.all * bytes * 8 : bytes == 8 ? 64 : 32;
    uint32_t words = r.all * bytes * 8 / bits, vectors[MOST_WORDS] = {0}, slots[MOST_WORDS * 4];
    uint32_t members[MOST_WORDS * 4];
    uint32_t inside = span.masked ? emit_all(e, e->mask) : span.inside;
    uint32_t fast = emit_label(e), slow = emit_label(e), behind = emit_label(e);
    for (uint32_t k = 0; k < r.count; k++) {
        members[k] = group ? group->members[r.first + k] : inst;
        slots[k] = emit_variable(e, member_type(e, members[k]), e->lanes);
    }
    if (inside) {
        emit_branch(e, inside, fast, slow);
        emit_start(e, fast);
    }
    load_words(e, &span, bytes, bits, words, vectors);
    for (uint32_t k = 0; k < r.count; k++) {
        vyre_type type = member_type(e, members[k]);
        emit_assign(e, type, e->lanes, slots[k], element_of(e, type, vectors, bits, r.lead + k));
    }
    if (inside) {
        emit_jump(e, behind);
        emit_start(e, slow);
        for (uint32_t k = 0; k < r.count; k++) {
            emit_assign(e, member_type(e, members[k]), e->lanes, slots[k],
                        load_beside(e, inst, members[k], (int64_t)k - (int64_t)r.own));
        }
        emit_start(e, behind);
    }
    for (uint32_t k = 0; k < r.count; k++) {
        emit_define(e, members[k], emit_read(e, member_type(e, members[k]), e->lanes, slots[k]));
        e->loaded[members[k] - e->phase->first] = members[k] != inst;
    }
    return true;
}

/* A value as n-bit integers. */
static uint32_t as_words(emit *e, vyre_type type, uint32_t bits, uint32_t value) {
    bool is_float = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
    return is_float ? emit_put(e, "bitcast %s %%t%u to <%u x i%u>", cpu_type(type, e->lanes).text,
                               value, e->lanes, bits)
                    : value;
}

/* `words` words of each lane, a power of 2, from that many vectors. */
static void store_words(emit *e, const emit_span *span, uint64_t offset, uint32_t bits,
                        uint32_t words, uint32_t *vectors) {
    transpose(e, bits, words, vectors);
    for (uint32_t lane = 0; lane < e->lanes; lane++) {
        uint32_t from[MOST_WORDS];
        for (uint32_t k = 0; k < words; k++) {
            from[k] = lane / words * words + k;
        }
        uint32_t whole = vectors[lane % words];
        uint32_t row = shuffle(e, bits, e->lanes, whole, whole, from, words);
        uint32_t at = emit_offset(e, span->pointer, span->distance * lane + offset);
        emit_line(e, "store <%u x i%u> %%t%u, ptr %%t%u, align %u%s", words, bits, row, at,
                  bits / 8, emit_alias(e).text);
    }
}

/* All fields of a group, where all lanes run and all records are inside. */
static void store_records(emit *e, const vyre_access_group *group, const emit_span *span,
                          const uint32_t *values, uint32_t bytes) {
    uint32_t most = most_elements(e, bytes);
    for (uint32_t first = 0; first < group->count;) {
        uint32_t count = 1, vectors[MOST_WORDS];
        while (count * 2 <= most && first + count * 2 <= group->count) {
            count *= 2;
        }
        for (uint32_t k = 0; k < count; k++) {
            vectors[k] = as_words(e, member_type(e, group->members[first + k]), bytes * 8,
                                  values[first + k]);
        }
        if (count > 1) {
            store_words(e, span, (uint64_t)first * bytes, bytes * 8, count, vectors);
        } else {
            emit_store_spaced(e, member_type(e, group->members[first]), values[first], span,
                              (uint64_t)first * bytes);
        }
        first += count;
    }
}

bool emit_store_span(emit *e, uint32_t inst) {
    const vyre_access_group *group = vyre_access_group_of(&e->accesses, inst);
    uint32_t bytes = vyre_type_bytes(member_type(e, inst)), last = inst, own = 0;
    if (!group || !group->fields || bytes < 4) {
        return false;
    }
    uint32_t values[VYRE_ACCESS_MEMBERS];
    for (uint32_t k = 0; k < group->count; k++) {
        last = group->members[k] > last ? group->members[k] : last;
        own = group->members[k] == inst ? k : own;
    }
    if (inst != last) {
        return true;
    }
    for (uint32_t k = 0; k < group->count; k++) {
        values[k] = emit_vector(e, vyre_access_value(e->ir, &e->ir->insts[group->members[k]]));
    }
    emit_span span;
    uint32_t fast = emit_label(e), slow = emit_label(e), behind = emit_label(e);
    if (emit_find_span(e, inst, own, group->count, &span)) {
        uint32_t inside = emit_all(e, e->mask);
        inside = span.inside ? emit_put(e, "and i1 %%t%u, %%t%u", inside, span.inside) : inside;
        emit_branch(e, inside, fast, slow);
        emit_start(e, fast);
        store_records(e, group, &span, values, bytes);
        emit_jump(e, behind);
    }
    emit_start(e, slow);
    for (uint32_t k = 0; k < group->count; k++) {
        emit_store_lanes(e, group->members[k], values[k]);
    }
    emit_start(e, behind);
    return true;
}
