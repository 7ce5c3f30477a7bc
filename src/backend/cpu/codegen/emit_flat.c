/* Records whose fields are all computed alike, such as vectors: then their numbers are an array,
 * and nothing needs to be transposed. A vector of a record's type takes as many pieces as it has
 * fields; element k of the pieces together is field k % width of record k / width. */
#include <string.h>

#include "backend/cpu/codegen/emit_state.h"
#include "base/alloc.h"
#include "ir/cases.h"

enum { MOST_NODES = 64 };

/* The same operation on all fields. */
typedef struct node {
    uint32_t operands[VYRE_ACCESS_MEMBERS]; /* by field */
    uint32_t pieces[VYRE_ACCESS_MEMBERS];
} node;

/* A group of accesses: where its records are, and what is stored there. */
typedef struct flat_group {
    emit_span span;
    uint32_t pieces[VYRE_ACCESS_MEMBERS];
} flat_group;

typedef struct flat {
    emit *e;
    flat_group *groups;
    const uint8_t *ready; /* by instruction: needs no memory */
    uint32_t width;       /* fields of a record */
    node nodes[MOST_NODES];
    uint32_t count;
} flat;

static bool is_ready(const flat *f, uint32_t operand) {
    return vyre_operand_is_constant(operand) || f->ready[operand - f->e->phase->first];
}

static bool are_same(const flat *f, const uint32_t *operands) {
    bool same = true;
    for (uint32_t k = 1; k < f->width; k++) {
        same = same && operands[k] == operands[0];
    }
    return same;
}

/* The group of an access that is all of a record, each in the lane behind the one before. */
static const vyre_access_group *whole_group(const emit *e, uint32_t inst) {
    const vyre_access_group *group = vyre_access_group_of(&e->accesses, inst);
    if (!group || !group->fields) {
        return NULL;
    }
    const vyre_inst *first = &e->ir->insts[group->members[0]];
    const vyre_resource *row = vyre_access_array(e->ir, first);
    uint32_t index = vyre_access_index(e->ir, first);
    vyre_stride form = emit_stride_of(e, index);
    bool alike = vyre_type_bytes(vyre_operand_type(e->ir, index)) >= 4;
    for (uint32_t k = 1; k < group->count; k++) {
        const vyre_inst *other = &e->ir->insts[group->members[k]];
        alike = alike && vyre_access_array(e->ir, other)->type == row->type;
    }
    bool is_all =
        group->count * vyre_type_bytes(vyre_resource_type(row)) == vyre_resource_stride(e->ir, row);
    return alike && is_all && form.kind == VYRE_STRIDE_AFFINE && form.stride == 1 ? group : NULL;
}

static bool is_whole_load(const flat *f, const uint32_t *operands) {
    const vyre_access_group *group = whole_group(f->e, operands[0]);
    bool same = group && group->count == f->width;
    for (uint32_t k = 0; k < f->width && same; k++) {
        same = group->members[k] == operands[k];
    }
    return same;
}

/* Whether fields come about by the same operation; their operands are then looked at in turn. */
static bool are_alike(const flat *f, const uint32_t *operands) {
    const vyre_ir *ir = f->e->ir;
    bool alike = true;
    for (uint32_t k = 0; k < f->width && alike; k++) {
        alike = vyre_operand_is_value(operands[k]);
    }
    for (uint32_t k = 1; k < f->width && alike; k++) {
        const vyre_inst *a = &ir->insts[operands[0]], *b = &ir->insts[operands[k]];
        vyre_list left = vyre_inst_operands(ir, a), right = vyre_inst_operands(ir, b);
        alike = a->op == b->op && a->type == b->type && left.count == right.count;
        for (uint32_t i = 0; i < left.count && alike; i++) {
            alike = vyre_operand_type(ir, left.items[i]) == vyre_operand_type(ir, right.items[i]);
        }
    }
    return alike;
}

static void operands_of(const flat *f, const node *n, uint32_t number, uint32_t *out) {
    for (uint32_t k = 0; k < f->width; k++) {
        out[k] = vyre_inst_operands(f->e->ir, &f->e->ir->insts[n->operands[k]]).items[number];
    }
}

/* The node of some operands; false if it is a new one. */
static bool find_node(flat *f, const uint32_t *operands, uint32_t *out) {
    for (*out = 0; *out < f->count; ++*out) {
        bool same = true;
        for (uint32_t k = 0; k < f->width && same; k++) {
            same = f->nodes[*out].operands[k] == operands[k];
        }
        if (same) {
            return true;
        }
    }
    return false;
}

static bool is_pure(const vyre_inst *inst) {
    switch (vyre_inst_op(inst)) {
    case VYRE_ANY_OF(PURE): return true;
    case VYRE_ANY_OF(SURROUNDINGS, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    return false;
}

/* Adds nodes for operands, those of theirs first; false if they are not computed alike. */
static bool add_nodes(flat *f, const uint32_t *operands, uint32_t depth) {
    uint32_t at;
    if (find_node(f, operands, &at)) {
        return true;
    }
    bool is_leaf = (are_same(f, operands) && is_ready(f, operands[0])) ||
                   (are_alike(f, operands) && is_whole_load(f, operands));
    node own = {0};
    for (uint32_t k = 0; k < f->width; k++) {
        own.operands[k] = operands[k];
    }
    if (!is_leaf) {
        if (!depth || !are_alike(f, operands)) {
            return false;
        }
        if (!is_pure(&f->e->ir->insts[operands[0]])) {
            return false;
        }
        vyre_list values = vyre_inst_operands(f->e->ir, &f->e->ir->insts[operands[0]]);
        for (uint32_t i = 0; i < values.count; i++) {
            uint32_t next[VYRE_ACCESS_MEMBERS];
            operands_of(f, &own, i, next);
            if (!add_nodes(f, next, depth - 1)) {
                return false;
            }
        }
    }
    if (f->count == MOST_NODES) {
        return false;
    }
    f->nodes[f->count++] = own;
    return true;
}

static bool add_group(flat *f, const vyre_access_group *stores) {
    enum { MOST_DEPTH = 32 };
    uint32_t values[VYRE_ACCESS_MEMBERS];
    f->width = stores->count;
    f->count = 0;
    for (uint32_t k = 0; k < stores->count; k++) {
        values[k] = vyre_access_value(f->e->ir, &f->e->ir->insts[stores->members[k]]);
    }
    return add_nodes(f, values, MOST_DEPTH);
}

/* Code */

static void load_pieces(emit *e, const vyre_access_group *group, const emit_span *span,
                        uint32_t *pieces) {
    uint32_t resource = vyre_access_resource(&e->ir->insts[group->members[0]]);
    vyre_type type = emit_element_type(e, resource);
    e->touched = resource;
    for (uint32_t p = 0; p < group->count; p++) {
        uint64_t offset = (uint64_t)p * e->lanes * vyre_type_bytes(type);
        pieces[p] = emit_load_at(e, type, e->lanes, emit_offset(e, span->pointer, offset));
    }
    e->touched = VYRE_NONE;
}

/* A value that all fields of a record share. */
static void spread(emit *e, uint32_t operand, uint32_t width, uint32_t *pieces) {
    uint32_t value = emit_vector(e, operand);
    cpu_type_text type = cpu_type(vyre_operand_type(e->ir, operand), e->lanes);
    for (uint32_t p = 0; p < width; p++) {
        uint32_t from[64];
        for (uint32_t k = 0; k < e->lanes; k++) {
            from[k] = (p * e->lanes + k) / width;
        }
        pieces[p] = cpu_varies(&e->facts, operand)
                        ? emit_shuffle(e, type.text, value, value, from, e->lanes)
                        : value;
    }
}

static void compute(flat *f, node *n) {
    emit *e = f->e;
    const vyre_inst *i = &e->ir->insts[n->operands[0]];
    vyre_list values = vyre_inst_operands(e->ir, i);
    uint32_t ids[3] = {0}, nodes[3] = {0};
    bool settles = false;
    for (uint32_t k = 0; k < values.count && k < 3; k++) {
        uint32_t next[VYRE_ACCESS_MEMBERS];
        operands_of(f, n, k, next);
        find_node(f, next, &nodes[k]);
    }
    for (uint32_t k = 0; k < f->width; k++) {
        settles |= vyre_nan_settles(&e->facts.nans, n->operands[k]);
    }
    vyre_type type = vyre_operand_type(e->ir, values.items[i->op == VYRE_OP_SELECT ? 1 : 0]);
    vyre_type result = vyre_inst_type(i);
    for (uint32_t p = 0; p < f->width; p++) {
        for (uint32_t k = 0; k < values.count && k < 3; k++) {
            ids[k] = f->nodes[nodes[k]].pieces[p];
        }
        uint32_t id =
            cpu_write_op(&e->w, vyre_inst_op(i), type, result, e->lanes, ids[0], ids[1], ids[2]);
        n->pieces[p] = settles ? cpu_write_canonical(&e->w, result, e->lanes, id) : id;
    }
}

/* What a group of stores stores. */
static void compute_group(flat *f, const vyre_access_group *stores) {
    emit *e = f->e;
    bool known = add_group(f, stores);
    for (uint32_t i = 0; i < f->count && known; i++) {
        node *n = &f->nodes[i];
        if (are_same(f, n->operands) && is_ready(f, n->operands[0])) {
            spread(e, n->operands[0], f->width, n->pieces);
        } else if (e->ir->insts[n->operands[0]].op == VYRE_OP_LOAD) {
            const vyre_access_group *group = vyre_access_group_of(&e->accesses, n->operands[0]);
            load_pieces(e, group, &f->groups[group - e->accesses.rows].span, n->pieces);
        } else {
            compute(f, n);
        }
    }
    memcpy(f->groups[stores - e->accesses.rows].pieces, f->nodes[f->count - 1].pieces,
           sizeof f->nodes[0].pieces);
}

static void store_pieces(emit *e, const vyre_access_group *group, const flat_group *found) {
    uint32_t resource = vyre_access_resource(&e->ir->insts[group->members[0]]);
    vyre_type type = emit_element_type(e, resource);
    e->touched = resource;
    for (uint32_t p = 0; p < group->count; p++) {
        uint64_t offset = (uint64_t)p * e->lanes * vyre_type_bytes(type);
        emit_store_at(e, type, e->lanes, emit_offset(e, found->span.pointer, offset),
                      found->pieces[p]);
    }
    e->touched = VYRE_NONE;
}

/* Which instructions need no memory; false where there is more than straight code, with all loads
 * before all stores and of whole records. */
static bool find_ready(const emit *e, uint8_t *ready) {
    bool has_stores = false;
    for (uint32_t inst = e->phase->first; inst < e->phase->end; inst++) {
        const vyre_inst *i = &e->ir->insts[inst];
        uint8_t *own = &ready[inst - e->phase->first];
        switch (vyre_inst_op(i)) {
        case VYRE_ANY_OF(SURROUNDINGS): *own = true; break;
        case VYRE_ANY_OF(PURE): {
            vyre_list values = vyre_inst_operands(e->ir, i);
            *own = true;
            for (uint32_t k = 0; k < values.count; k++) {
                uint32_t operand = values.items[k];
                *own =
                    *own && (vyre_operand_is_constant(operand) || ready[operand - e->phase->first]);
            }
            break;
        }
        case VYRE_OP_LOAD:
        case VYRE_OP_STORE:
            has_stores |= i->op == VYRE_OP_STORE;
            if (!whole_group(e, inst) || (i->op == VYRE_OP_LOAD && has_stores)) {
                return false;
            }
            break;
        case VYRE_OP_RETURN: return has_stores && vyre_inst_next(e->ir, inst) == e->phase->end;
        case VYRE_ONE_OF(UNIFORM_LOAD, CLEAR, YIELD, BREAK, CONTINUE, UNREACHABLE):
        case VYRE_ANY_OF(ATOMIC, ELEMENTARY, BARRIER, SUBGROUP, BLOCK, PICK, NONE): return false;
        }
    }
    return has_stores;
}

static bool stores(const emit *e, uint32_t group) {
    return e->ir->insts[e->accesses.rows[group].head].op == VYRE_OP_STORE;
}

/* Whether all stores of the phase are of records whose fields are computed alike. */
static bool can_flatten(flat *f) {
    bool can = true;
    for (uint32_t g = 0; g < f->e->accesses.group_count && can; g++) {
        can = !stores(f->e, g) || add_group(f, &f->e->accesses.rows[g]);
    }
    return can;
}

/* The way for records that are all inside; the label behind it, and code goes on at the other way.
 * Everything is loaded before anything is stored, as lanes do. */
static uint32_t write_flat(flat *f) {
    emit *e = f->e;
    const vyre_accesses *accesses = &e->accesses;
    for (uint32_t inst = e->phase->first; inst < e->phase->end; inst++) {
        if (f->ready[inst - e->phase->first]) {
            emit_instruction(e, inst);
        }
    }
    uint32_t inside = emit_all(e, e->mask);
    for (uint32_t g = 0; g < accesses->group_count; g++) {
        emit_span *span = &f->groups[g].span;
        emit_find_span(e, accesses->rows[g].members[0], 0, accesses->rows[g].count, span);
        inside = span->inside ? emit_put(e, "and i1 %%t%u, %%t%u", inside, span->inside) : inside;
    }
    uint32_t alike = emit_label(e), apart = emit_label(e), behind = emit_label(e);
    emit_branch(e, inside, alike, apart);
    emit_start(e, alike);
    for (uint32_t g = 0; g < accesses->group_count; g++) {
        if (stores(e, g)) {
            compute_group(f, &accesses->rows[g]);
        }
    }
    for (uint32_t g = 0; g < accesses->group_count; g++) {
        if (stores(e, g)) {
            store_pieces(e, &accesses->rows[g], &f->groups[g]);
        }
    }
    emit_jump(e, behind);
    emit_start(e, apart);
    return behind;
}

bool emit_flat(emit *e, uint32_t *out_behind) {
    uint32_t count = e->phase->end - e->phase->first;
    *out_behind = 0;
    if (e->scalar || !e->accesses.group_count) {
        return true;
    }
    uint8_t *ready = vyre_alloc_zeroed(count, 1);
    flat *f = vyre_alloc_zeroed(1, sizeof *f);
    flat_group *groups = vyre_alloc_zeroed(e->accesses.group_count, sizeof *groups);
    bool made = ready && f && groups;
    if (made && find_ready(e, ready)) {
        f->e = e;
        f->ready = ready;
        f->groups = groups;
        *out_behind = can_flatten(f) ? write_flat(f) : 0;
    }
    vyre_free(ready);
    vyre_free(f);
    vyre_free(groups);
    return made;
}
