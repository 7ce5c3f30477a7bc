/* Runs of neighbouring elements: those of all parts of a thread (rows), or of several accesses of
 * one invocation (groups), done by few instructions. Whether a run is aligned and inside is looked
 * at when it comes to that, where it is not known; otherwise its elements are accessed one by one.
 */
#include <stdio.h>

#include "backend/cuda/codegen/emit_state.h"
#include "ir/lookup.h"

enum { MOST_RUN = 32, MOST_VECTOR = 4, WIDEST = 16 /* bytes of an access */ };

typedef struct run {
    uint32_t resource, count;
    vyre_type type; /* of an element */
    vyre_type index_type;
    uint32_t bytes;  /* of an element */
    cuda_reg first;  /* index */
    bool is_inside;  /* known */
    bool from_base;  /* aligned if the array is; else its address tells */
    uint32_t widest; /* fields: bytes of an access that all records are aligned for */
    cuda_reg guard;  /* fields: whether the record is inside; none if it is known to be */
    bool is_mixed;   /* fields: of several types */
    emit_where where;
    cuda_reg values[MOST_RUN];
} run;

static run make_run(emit *e, uint32_t resource, vyre_type index_type, cuda_reg first,
                    uint32_t count, bool is_inside) {
    vyre_type type = vyre_resource_type(&e->ir->resources[resource]);
    return (run){.resource = resource,
                 .count = count,
                 .type = type,
                 .index_type = index_type,
                 .bytes = vyre_type_bytes(type),
                 .first = first,
                 .is_inside = is_inside};
}

static void new_values(emit *e, run *r) {
    for (uint32_t k = 0; k < r->count; k++) {
        r->values[k] = cuda_new(&e->w, cuda_emit_memory_class(r->type));
    }
}

/* A list of registers in braces, for an access of several. */
static void put_vector(emit *e, const cuda_reg *regs, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        vyre_strbuf_puts(&e->w.code, k ? ", " : "{");
        vyre_strbuf_puts(&e->w.code, cuda_reg_name(regs[k]).text);
    }
    vyre_strbuf_putc(&e->w.code, '}');
}

/* The line of an instruction starts, which is done where the guard holds. */
static void begin_line(emit *e, const run *r) {
    vyre_strbuf_putc(&e->w.code, '\t');
    if (r->guard.kind) {
        vyre_strbuf_printf(&e->w.code, "@%s ", cuda_reg_name(r->guard).text);
    }
}

/* Small elements are accessed as words. */
static void load_words(emit *e, const run *r, const cuda_reg *values, uint32_t count,
                       const char *place) {
    uint32_t width = cuda_width(r->type), a_word = 32 / width, words = count / a_word;
    cuda_reg list[MOST_VECTOR] = {{0}};
    for (uint32_t k = 0; k < words; k++) {
        list[k] = r->guard.kind ? cuda_emit_zero(e, CUDA_B32) : cuda_new(&e->w, CUDA_B32);
    }
    begin_line(e, r);
    vyre_strbuf_printf(&e->w.code, "%s.v%u.u32 ", cuda_emit_load_name(e, r->resource), words);
    put_vector(e, list, words);
    vyre_strbuf_printf(&e->w.code, ", %s;\n", place);
    for (uint32_t k = 0; k < count; k++) {
        cuda_line(&e->w, "bfe.%s %s, %s, %u, %u", cuda_is_signed(r->type) ? "s32" : "u32",
                  cuda_reg_name(values[k]).text, cuda_reg_name(list[k / a_word]).text,
                  k % a_word * width, width);
    }
}

static void store_words(emit *e, const run *r, const cuda_reg *values, uint32_t count,
                        const char *place) {
    uint32_t width = cuda_width(r->type), a_word = 32 / width, words = count / a_word;
    cuda_reg list[MOST_VECTOR] = {{0}};
    for (uint32_t k = 0; k < count; k++) {
        cuda_reg *word = &list[k / a_word];
        cuda_reg before = k % a_word ? *word : cuda_u32(0);
        *word = cuda_new(&e->w, CUDA_B32);
        cuda_line(&e->w, "bfi.b32 %s, %s, %s, %u, %u", cuda_reg_name(*word).text,
                  cuda_reg_name(values[k]).text, cuda_reg_name(before).text, k % a_word * width,
                  width);
    }
    begin_line(e, r);
    vyre_strbuf_printf(&e->w.code, "st.%s.v%u.u32 %s, ", cuda_emit_space(e, r->resource), words,
                       place);
    put_vector(e, list, words);
    vyre_strbuf_puts(&e->w.code, ";\n");
}

/* `count` elements, a power of 2, by one instruction. */
static void access_piece(emit *e, const run *r, uint32_t from, uint32_t count, bool stores) {
    emit_place_text place =
        cuda_emit_place_of(e, r->resource, r->where, (int64_t)from * (int64_t)r->bytes);
    const cuda_reg *values = r->values + from;
    const char *type = !r->is_mixed    ? cuda_emit_memory_type(r->type)
                       : r->bytes == 4 ? "b32"
                                       : "b64";
    char vector[8] = "";
    if (count > MOST_VECTOR) {
        if (stores) {
            store_words(e, r, values, count, place.text);
        } else {
            load_words(e, r, values, count, place.text);
        }
        return;
    }
    if (count > 1) {
        snprintf(vector, sizeof vector, ".v%u", count);
    }
    begin_line(e, r);
    if (stores) {
        vyre_strbuf_printf(&e->w.code, "st.%s%s.%s %s, ", cuda_emit_space(e, r->resource), vector,
                           type, place.text);
    } else {
        vyre_strbuf_printf(&e->w.code, "%s%s.%s ", cuda_emit_load_name(e, r->resource), vector,
                           type);
    }
    if (count > 1) {
        put_vector(e, values, count);
    } else {
        vyre_strbuf_puts(&e->w.code, cuda_reg_name(values[0]).text);
    }
    vyre_strbuf_printf(&e->w.code, stores ? ";\n" : ", %s;\n", place.text);
}

/* A run that starts `lead` elements behind where 16 bytes start, in as large pieces as there are.
 */
static void access_pieces(emit *e, const run *r, uint32_t lead, bool stores) {
    for (uint32_t k = 0; k < r->count;) {
        uint32_t piece = e->target->general ? 1 : (r->widest ? r->widest : WIDEST) / r->bytes;
        while (piece > r->count - k || (lead + k) % piece) {
            piece /= 2;
        }
        access_piece(e, r, k, piece, stores);
        k += piece;
    }
}

/* One element, by its place in the run, if it is inside; else a load gives 0. */
static void access_checked(emit *e, const run *r, cuda_reg place_in_run, cuda_reg value,
                           bool stores) {
    bool is_first = place_in_run.immediate && !place_in_run.bits;
    cuda_reg index =
        is_first ? r->first : cuda_two(&e->w, "add.u32", CUDA_B32, r->first, place_in_run);
    cuda_reg inside = cuda_emit_inside(e, r->resource, r->index_type, index);
    /* An index that wraps around is not behind the first one. */
    emit_place_text place = cuda_emit_place_of(
        e, r->resource, cuda_emit_where(e, r->resource, r->index_type, index), 0);
    const char *type = cuda_emit_memory_type(r->type);
    cuda_name name = cuda_reg_name(value);
    if (stores) {
        cuda_emit_if(e, inside, "st.%s.%s %s, %s", cuda_emit_space(e, r->resource), type,
                     place.text, name.text);
    } else {
        cuda_move(&e->w, value, cuda_number((cuda_class)value.kind, 0));
        cuda_emit_if(e, inside, "%s.%s %s, %s", cuda_emit_load_name(e, r->resource), type,
                     name.text, place.text);
    }
}

/* A run, from or to memory of the thread's own. */
static void access_own(emit *e, const run *r, uint32_t offset, bool stores) {
    const char *type = cuda_emit_memory_type(r->type);
    uint32_t vector = r->bytes == 4 && r->count % 4 == 0 ? 4 : 1;
    for (uint32_t k = 0; k < r->count; k += vector) {
        vyre_strbuf *code = &e->w.code;
        uint32_t at = offset + k * r->bytes;
        vyre_strbuf_printf(code, "\t%s.local%s.%s ", stores ? "st" : "ld", vector == 4 ? ".v4" : "",
                           type);
        if (stores) {
            vyre_strbuf_printf(code, "[%s_private+%u], ", e->name, at);
        }
        if (vector == 4) {
            put_vector(e, r->values + k, vector);
        } else {
            vyre_strbuf_puts(code, cuda_reg_name(r->values[k]).text);
        }
        if (!stores) {
            vyre_strbuf_printf(code, ", [%s_private+%u]", e->name, at);
        }
        vyre_strbuf_puts(code, ";\n");
    }
}

/* A run that is not all inside, one after the other in a loop, since that is seldom and code for
 * each takes long to translate. Registers have no numbers there, so that it goes through memory. */
static void access_in_loop(emit *e, const run *r, bool stores) {
    uint32_t head = cuda_emit_label(e), offset = cuda_emit_spare(e, r->count * r->bytes);
    const char *type = cuda_emit_memory_type(r->type);
    cuda_reg at = cuda_emit_zero(e, CUDA_B32),
             value = cuda_new(&e->w, (cuda_class)r->values[0].kind);
    if (stores) {
        access_own(e, r, offset, true);
    }
    cuda_emit_place(e, head);
    cuda_reg own = cuda_three(&e->w, "mad.lo.u32", CUDA_B32, at, cuda_u32(r->bytes),
                              cuda_emit_block_start(e, false));
    if (stores) {
        cuda_line(&e->w, "ld.local.%s %s, [%s+%u]", type, cuda_reg_name(value).text,
                  cuda_reg_name(own).text, offset);
    }
    access_checked(e, r, at, value, stores);
    if (!stores) {
        cuda_line(&e->w, "st.local.%s [%s+%u], %s", type, cuda_reg_name(own).text, offset,
                  cuda_reg_name(value).text);
    }
    cuda_line(&e->w, "add.u32 %s, %s, 1", cuda_reg_name(at).text, cuda_reg_name(at).text);
    cuda_emit_branch(e, cuda_two(&e->w, "setp.lt.u32", CUDA_PRED, at, cuda_u32(r->count)), true,
                     head, false);
    if (!stores) {
        access_own(e, r, offset, false);
    }
}

static void access_apart(emit *e, const run *r, bool stores) {
    enum { FEW = 3 };
    if (!r->is_inside && r->count > FEW) {
        access_in_loop(e, r, stores);
        return;
    }
    for (uint32_t k = 0; k < r->count; k++) {
        if (r->is_inside) {
            access_piece(e, r, k, 1, stores);
        } else {
            access_checked(e, r, cuda_u32(k), r->values[k], stores);
        }
    }
}

static cuda_reg both(emit *e, cuda_reg left, cuda_reg right) {
    return !left.kind    ? right
           : !right.kind ? left
                         : cuda_two(&e->w, "and.pred", CUDA_PRED, left, right);
}

/* Whether all of a run is inside. */
static cuda_reg is_whole(emit *e, const run *r) {
    cuda_reg limit = cuda_emit_limit(e, r->resource, cuda_is_signed(r->index_type));
    if (limit.immediate) {
        return cuda_two(&e->w, "setp.le.u32", CUDA_PRED, r->first,
                        cuda_u32((uint32_t)limit.bits - r->count));
    }
    cuda_reg room = cuda_two(&e->w, "sub.u32", CUDA_B32, limit, cuda_u32(r->count));
    cuda_reg inside = cuda_two(&e->w, "setp.le.u32", CUDA_PRED, r->first, room);
    cuda_reg long_enough = cuda_two(&e->w, "setp.ge.u32", CUDA_PRED, limit, cuda_u32(r->count));
    return both(e, inside, long_enough);
}

/* Both ways there are: in pieces, or one by one. */
static void access_run(emit *e, const run *r, bool stores) {
    cuda_reg inside = r->is_inside ? cuda_none() : is_whole(e, r);
    if (r->from_base) {
        uint32_t apart = cuda_emit_label(e), behind = cuda_emit_label(e);
        if (inside.kind) {
            cuda_emit_branch(e, inside, false, apart, false);
        }
        access_pieces(e, r, 0, stores);
        if (inside.kind) {
            cuda_emit_jump(e, behind);
            cuda_emit_place(e, apart);
            access_apart(e, r, stores);
            cuda_emit_place(e, behind);
        }
        return;
    }
    uint32_t wanted = r->count * r->bytes < WIDEST ? r->count * r->bytes : WIDEST;
    uint32_t behind = cuda_emit_label(e);
    cuda_reg low = cuda_one(&e->w, "cvt.u32.u64", CUDA_B32, r->where.base);
    if (r->where.offset) {
        low = cuda_two(&e->w, "add.u32", CUDA_B32, low, cuda_u32((uint32_t)r->where.offset));
    }
    low = cuda_two(&e->w, "and.b32", CUDA_B32, low, cuda_u32(wanted - 1));
    /* Runs that are no power of 2 start anywhere, often in the middle of 16 bytes. */
    bool odd = r->count & (r->count - 1) && r->bytes < WIDEST / 2;
    for (uint32_t from = 0; from <= (odd ? WIDEST / 2 : 0); from += WIDEST / 2) {
        uint32_t other = cuda_emit_label(e);
        cuda_reg fits = cuda_two(&e->w, "setp.eq.u32", CUDA_PRED, low, cuda_u32(from));
        cuda_emit_branch(e, both(e, inside, fits), false, other, false);
        access_pieces(e, r, from / r->bytes, stores);
        cuda_emit_jump(e, behind);
        cuda_emit_place(e, other);
    }
    access_apart(e, r, stores);
    cuda_emit_place(e, behind);
}

/* Of several runs of a power of 2 at once: in pieces if all of them can be. */
static void load_runs(emit *e, run *runs, uint32_t count, uint32_t escape) {
    cuda_reg fits = cuda_none(), odd = cuda_none();
    uint32_t apart = cuda_emit_label(e), behind = cuda_emit_label(e);
    for (uint32_t i = 0; i < count; i++) {
        const run *r = &runs[i];
        uint32_t wanted = r->count * r->bytes < WIDEST ? r->count * r->bytes : WIDEST;
        cuda_reg low = cuda_one(&e->w, "cvt.u32.u64", CUDA_B32, r->where.base);
        if (r->where.offset % WIDEST) {
            low = cuda_two(&e->w, "add.u32", CUDA_B32, low, cuda_u32((uint32_t)r->where.offset));
        }
        low = cuda_two(&e->w, "and.b32", CUDA_B32, low, cuda_u32(wanted - 1));
        odd = odd.kind ? cuda_two(&e->w, "or.b32", CUDA_B32, odd, low) : low;
        fits = r->is_inside ? fits : both(e, fits, is_whole(e, r));
    }
    if (escape && fits.kind) {
        cuda_emit_branch(e, fits, false, escape, false);
        fits = cuda_none();
        for (uint32_t i = 0; i < count; i++) {
            runs[i].is_inside = true;
        }
    }
    fits = both(e, fits, cuda_two(&e->w, "setp.eq.u32", CUDA_PRED, odd, cuda_u32(0)));
    cuda_emit_branch(e, fits, false, apart, false);
    for (uint32_t i = 0; i < count; i++) {
        access_pieces(e, &runs[i], 0, false);
    }
    cuda_emit_jump(e, behind);
    cuda_emit_place(e, apart);
    for (uint32_t i = 0; i < count; i++) {
        access_apart(e, &runs[i], false);
    }
    cuda_emit_place(e, behind);
}

void cuda_emit_rows(emit *e, const emit_row *rows, uint32_t count, uint32_t escape) {
    run runs[EMIT_MOST_ROWS];
    for (uint32_t i = 0; i < count; i++) {
        const emit_row *row = &rows[i];
        runs[i] =
            make_run(e, row->resource, row->index_type, row->first, row->count, row->is_inside);
        runs[i].where = cuda_emit_where(e, row->resource, row->index_type, row->first);
        new_values(e, &runs[i]);
    }
    load_runs(e, runs, count, escape);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < rows[i].count; k++) {
            rows[i].out_values[k] = cuda_emit_from_memory(e, runs[i].type, runs[i].values[k]);
        }
    }
}

/* Rows */

static bool is_row(const emit *e, uint32_t resource, uint32_t index) {
    return e->parts > 1 && e->end_part - e->first_part == e->parts &&
           e->ir->resources[resource].kind <= VYRE_RESOURCE_SCRATCH &&
           vyre_operand_is_value(index) && emit_fact(e, index)->unit;
}

/* Whether it is the row at the thread's own position, which fits: otherwise the thread would have
 * taken its parts one by one. */
static bool is_own_row(const emit *e, uint32_t index) {
    return e->phase->dimensions == 1 && vyre_operand_is_value(index) &&
           e->ir->insts[index].op == VYRE_OP_GID;
}

cuda_reg cuda_emit_own_rows_fit(emit *e, cuda_reg x) {
    cuda_writer *w = &e->w;
    uint32_t parts = e->facts.parts;
    cuda_reg reach = e->domain[0];
    for (uint32_t r = 0; r < e->layout.array_count; r++) {
        bool found = false, inside = true;
        for (uint32_t inst = e->phase->first; inst < e->phase->end; inst++) {
            const vyre_inst *i = &e->ir->insts[inst];
            if ((i->op == VYRE_OP_LOAD || i->op == VYRE_OP_STORE) && vyre_access_resource(i) == r &&
                is_own_row(e, vyre_access_index(e->ir, i))) {
                found = true;
                inside = inside && cuda_is_inside(&e->facts, inst);
            }
        }
        if (found && !inside) {
            reach = cuda_two(w, "min.u64", CUDA_B64, reach, cuda_emit_length(e, r));
        }
    }
    cuda_reg end = cuda_two(w, "add.u64", CUDA_B64, x, cuda_u64(parts));
    return cuda_two(w, "setp.le.u64", CUDA_PRED, end, reach);
}

/* Position of an access in its group. */
static uint32_t place_in(const vyre_access_group *group, uint32_t inst) {
    uint32_t k = 0;
    while (group->members[k] != inst) {
        k++;
    }
    return k;
}

/* The row of the parts and of all neighbours of an access: each element once. */
static void load_wide_row(emit *e, const vyre_access_group *group) {
    const vyre_inst *i = &e->ir->insts[group->head];
    uint32_t resource = vyre_access_resource(i), index = vyre_access_index(e->ir, i);
    uint32_t before = place_in(group, group->head);
    cuda_reg values[MOST_RUN];
    cuda_reg first = cuda_emit_operand(e, index, 0);
    if (before) {
        first = cuda_two(&e->w, "sub.u32", CUDA_B32, first, cuda_u32(before));
    }
    vyre_type type = vyre_operand_type(e->ir, index);
    run r = make_run(e, resource, type, first, group->count + e->parts - 1, true);
    r.where = cuda_emit_where_of(e, resource, index, 0);
    r.where.offset -= (int64_t)before * r.bytes;
    new_values(e, &r);
    access_run(e, &r, false);
    for (uint32_t k = 0; k < r.count; k++) {
        values[k] = cuda_emit_from_memory(e, r.type, r.values[k]);
    }
    for (uint32_t k = 0; k < group->count; k++) {
        for (uint32_t part = 0; part < e->parts; part++) {
            *emit_slot(e, group->members[k], part) = values[k + part];
        }
    }
}

static run row_of(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i), index = vyre_access_index(e->ir, i);
    run r = make_run(e, resource, vyre_operand_type(e->ir, index), cuda_emit_operand(e, index, 0),
                     e->parts, cuda_is_inside(&e->facts, inst));
    r.where = cuda_emit_where_of(e, resource, index, 0);
    return r;
}

static void access_row(emit *e, const run *r, uint32_t inst, bool stores) {
    if (is_own_row(e, vyre_access_index(e->ir, &e->ir->insts[inst]))) {
        access_pieces(e, r, 0, stores);
    } else {
        access_run(e, r, stores);
    }
}

/* Groups */

/* The group that an access is done with, of one invocation; NULL if it is done by itself. */
static const vyre_access_group *group_of(const emit *e, uint32_t inst) {
    const vyre_access_group *group = vyre_access_group_of(&e->facts.accesses, inst);
    if (!group || group->fields || !group->aligned) {
        return NULL;
    }
    uint32_t resource = vyre_access_resource(&e->ir->insts[inst]);
    const vyre_resource *row = &e->ir->resources[resource];
    if (row->kind > VYRE_RESOURCE_SCRATCH && row->length < group->count) {
        return NULL;
    }
    bool can = true; /* the same answer for all of them, whose indices may be of other types */
    for (uint32_t k = 0; k < group->count && !group->in_bounds; k++) {
        uint32_t index = vyre_access_index(e->ir, &e->ir->insts[group->members[k]]);
        can = can && cuda_width(vyre_operand_type(e->ir, index)) == 32 &&
              vyre_operand_is_value(index);
    }
    return can ? group : NULL;
}

/* Of `inst`, one of the group's members, whose index is known. */
static run run_of(emit *e, const vyre_access_group *group, uint32_t inst, uint32_t part) {
    /* All indices are known where the stores are done. */
    inst = e->ir->insts[inst].op == VYRE_OP_STORE ? group->members[0] : inst;
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i), operand = vyre_access_index(e->ir, i);
    vyre_type type = vyre_operand_type(e->ir, operand);
    cuda_reg index = cuda_emit_operand(e, operand, part);
    uint32_t before = place_in(group, inst);
    if (before && index.immediate) {
        index.bits -= before;
    } else if (before) {
        bool wide = cuda_width(type) == 64;
        index = cuda_two(&e->w, wide ? "sub.u64" : "sub.u32", wide ? CUDA_B64 : CUDA_B32, index,
                         cuda_number((cuda_class)index.kind, before));
    }
    run r = make_run(e, resource, type, index, group->count, group->in_bounds);
    r.where = cuda_emit_where_of(e, resource, operand, part);
    r.where.offset -= (int64_t)before * r.bytes;
    r.from_base = true;
    return r;
}

/* Fields of a record: all inside or none, and aligned as the record is. */

/* Whether the fields of a group are accessed together, which is the same for all of them. */
static bool are_fields(const emit *e, const vyre_access_group *group) {
    bool can = group && group->fields;
    for (uint32_t k = 0; can && k < group->count && !group->in_bounds; k++) {
        can = vyre_operand_is_value(vyre_access_index(e->ir, &e->ir->insts[group->members[k]]));
    }
    return can;
}

static vyre_type member_type(const emit *e, const vyre_access_group *group, uint32_t k) {
    return vyre_resource_type(vyre_access_array(e->ir, &e->ir->insts[group->members[k]]));
}

/* By `inst`, one of the members, whose index is known. False if the record is surely outside. */
static bool find_fields(emit *e, const vyre_access_group *group, uint32_t inst, uint32_t part,
                        run *out) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t resource = vyre_access_resource(i), operand = vyre_access_index(e->ir, i);
    vyre_type type = vyre_operand_type(e->ir, operand);
    cuda_reg index = cuda_emit_operand(e, operand, part);
    if (!group->in_bounds && index.immediate &&
        index.bits > (cuda_is_signed(type) ? INT32_MAX : UINT32_MAX)) {
        return false;
    }
    *out = make_run(e, resource, type, index, group->count, true);
    out->guard = group->in_bounds ? cuda_none() : cuda_emit_inside(e, resource, type, index);
    out->where = cuda_emit_where_of(e, resource, operand, part);
    out->where.offset -= (int64_t)place_in(group, inst) * out->bytes;
    uint32_t record = vyre_resource_stride(e->ir, &e->ir->resources[resource]) | WIDEST;
    out->widest = record & (~record + 1);
    for (uint32_t k = 0; k < group->count; k++) {
        /* Loads of memory that somebody writes have another name. */
        uint32_t own = vyre_access_resource(&e->ir->insts[group->members[k]]);
        out->resource = e->facts.written[own] ? own : out->resource;
        out->is_mixed |= member_type(e, group, k) != out->type;
    }
    return true;
}

static void access_fields(emit *e, const vyre_access_group *group, const run *r, bool stores) {
    const vyre_inst *first = &e->ir->insts[group->members[0]];
    uint32_t offset = vyre_access_array(e->ir, first)->length;
    access_pieces(e, r, offset % WIDEST / r->bytes, stores);
}

static void load_fields(emit *e, const vyre_access_group *group, uint32_t part) {
    run r = {0};
    bool can_be_inside = find_fields(e, group, group->head, part, &r);
    for (uint32_t k = 0; k < group->count; k++) {
        cuda_class kind = cuda_emit_memory_class(member_type(e, group, k));
        bool needs_zero = !can_be_inside || r.guard.kind;
        r.values[k] = needs_zero ? cuda_emit_zero(e, kind) : cuda_new(&e->w, kind);
    }
    if (can_be_inside) {
        access_fields(e, group, &r, false);
    }
    for (uint32_t k = 0; k < group->count; k++) {
        *emit_slot(e, group->members[k], part) = r.values[k];
    }
}

static void store_fields(emit *e, const vyre_access_group *group, uint32_t last, uint32_t part) {
    run r = {0};
    if (!find_fields(e, group, last, part, &r)) {
        return;
    }
    for (uint32_t k = 0; k < group->count; k++) {
        uint32_t value = vyre_access_value(e->ir, &e->ir->insts[group->members[k]]);
        r.values[k] =
            cuda_emit_to_memory(e, member_type(e, group, k), cuda_emit_operand(e, value, part));
    }
    access_fields(e, group, &r, true);
}

bool cuda_emit_load_run(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    const vyre_access_group *group = vyre_access_group_of(&e->facts.accesses, inst);
    if (i->op != VYRE_OP_LOAD) {
        return false;
    }
    if (are_fields(e, group)) {
        for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
            if (inst == group->head) {
                load_fields(e, group, part);
            }
        }
        return true;
    }
    uint32_t index = vyre_access_index(e->ir, i);
    bool has_row = is_row(e, vyre_access_resource(i), index);
    if (has_row && group && group->in_bounds && group->count + e->parts - 1 <= MOST_RUN) {
        if (inst == group->head) {
            load_wide_row(e, group);
        }
        return true;
    }
    if (has_row && !emit_fact(e, index)->shifted) {
        run r = row_of(e, inst);
        new_values(e, &r);
        access_row(e, &r, inst, false);
        for (uint32_t k = 0; k < e->parts; k++) {
            *emit_slot(e, inst, k) = cuda_emit_from_memory(e, r.type, r.values[k]);
        }
        return true;
    }
    group = group_of(e, inst);
    if (!group || inst != group->head) {
        return group != NULL;
    }
    for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
        run r = run_of(e, group, inst, part);
        new_values(e, &r);
        access_run(e, &r, false);
        for (uint32_t k = 0; k < r.count; k++) {
            *emit_slot(e, group->members[k], part) = cuda_emit_from_memory(e, r.type, r.values[k]);
        }
    }
    return true;
}

/* The stores of a group are done with the last of them. */
static void store_group(emit *e, const vyre_access_group *group, uint32_t last) {
    bool alike = true;
    for (uint32_t k = 0; k < group->count; k++) {
        alike = alike && cuda_emit_stores_alike(e, group->members[k]);
    }
    for (uint32_t part = e->first_part; part < (alike ? e->first_part + 1 : e->end_part); part++) {
        if (group->fields) {
            store_fields(e, group, last, part);
            continue;
        }
        run r = run_of(e, group, last, part);
        for (uint32_t k = 0; k < r.count; k++) {
            uint32_t value = vyre_access_value(e->ir, &e->ir->insts[group->members[k]]);
            r.values[k] = cuda_emit_to_memory(e, r.type, cuda_emit_operand(e, value, part));
        }
        access_run(e, &r, true);
    }
}

bool cuda_emit_store_run(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t index = vyre_access_index(e->ir, i), value = vyre_access_value(e->ir, i);
    if (is_row(e, vyre_access_resource(i), index) && !emit_fact(e, index)->shifted) {
        run r = row_of(e, inst);
        for (uint32_t k = 0; k < e->parts; k++) {
            r.values[k] = cuda_emit_to_memory(e, r.type, cuda_emit_operand(e, value, k));
        }
        access_row(e, &r, inst, true);
        return true;
    }
    const vyre_access_group *group = vyre_access_group_of(&e->facts.accesses, inst);
    group = are_fields(e, group) ? group : group_of(e, inst);
    if (!group) {
        return false;
    }
    uint32_t last = group->head;
    for (uint32_t k = 0; k < group->count; k++) {
        last = group->members[k] > last ? group->members[k] : last;
    }
    if (inst == last) {
        store_group(e, group, last);
    }
    return true;
}
