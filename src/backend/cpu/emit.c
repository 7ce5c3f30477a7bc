#include "backend/cpu/emit.h"

#include <stdarg.h>
#include <string.h>

#include "backend/cpu/emit_state.h"
#include "base/alloc.h"

enum { BLOCK = 2048 }; /* the most invocations of a block, where there are no workgroups */

void emit_line(emit *e, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vyre_text_puts(&e->w.code, "  ");
    vyre_text_vprintf(&e->w.code, format, arguments);
    vyre_text_putc(&e->w.code, '\n');
    va_end(arguments);
}

uint32_t emit_new(emit *e) {
    return e->w.next++;
}

uint32_t emit_label(emit *e) {
    return e->w.next++;
}

void emit_start(emit *e, uint32_t label) {
    if (!e->terminated) {
        emit_jump(e, label);
    }
    vyre_text_printf(&e->w.code, "b%u:\n", label);
    e->terminated = false;
}

void emit_jump(emit *e, uint32_t label) {
    if (!e->terminated) {
        emit_line(e, "br label %%b%u", label);
        e->terminated = true;
    }
}

void emit_branch(emit *e, uint32_t condition, uint32_t yes, uint32_t no) {
    emit_line(e, "br i1 %%t%u, label %%b%u, label %%b%u", condition, yes, no);
    e->terminated = true;
}

/* Variables */

static uint32_t make_variable(emit *e, const char *type) {
    uint32_t id = emit_new(e);
    vyre_text_printf(&e->allocas,
                     "  %%t%u = alloca %s, align 64\n  store %s zeroinitializer, ptr %%t%u\n", id,
                     type, type, id);
    return id;
}

/* LLVM has no zeroinitializer for scalars of some types. */
static uint32_t make_scalar_variable(emit *e, const char *type, const char *zero) {
    uint32_t id = emit_new(e);
    vyre_text_printf(&e->allocas, "  %%t%u = alloca %s\n  store %s %s, ptr %%t%u\n", id, type, type,
                     zero, id);
    return id;
}

uint32_t emit_variable(emit *e, vyre_type type, uint32_t lanes) {
    cpu_type_text name = cpu_type(type, lanes);
    const char *text = name.text;
    bool is_float = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
    return lanes > 1 ? make_variable(e, text)
                     : make_scalar_variable(e, text, is_float ? "0.0" : "0");
}

uint32_t emit_mask_variable(emit *e) {
    return emit_variable(e, VYRE_TYPE_BOOL, e->lanes);
}

uint32_t emit_read(emit *e, vyre_type type, uint32_t lanes, uint32_t variable) {
    uint32_t id = emit_new(e);
    emit_line(e, "%%t%u = load %s, ptr %%t%u", id, cpu_type(type, lanes).text, variable);
    return id;
}

void emit_assign(emit *e, vyre_type type, uint32_t lanes, uint32_t variable, uint32_t value) {
    emit_line(e, "store %s %%t%u, ptr %%t%u", cpu_type(type, lanes).text, value, variable);
}

/* Masks */

uint32_t emit_any(emit *e, uint32_t mask) {
    uint32_t bits = emit_new(e), id = emit_new(e);
    emit_line(e, "%%t%u = bitcast <%u x i1> %%t%u to i%u", bits, e->lanes, mask, e->lanes);
    emit_line(e, "%%t%u = icmp ne i%u %%t%u, 0", id, e->lanes, bits);
    return id;
}

uint32_t emit_and(emit *e, uint32_t left, uint32_t right) {
    uint32_t id = emit_new(e);
    emit_line(e, "%%t%u = and <%u x i1> %%t%u, %%t%u", id, e->lanes, left, right);
    return id;
}

uint32_t emit_and_not(emit *e, uint32_t left, uint32_t right) {
    uint32_t all = cpu_write_const(&e->w, VYRE_TYPE_BOOL, e->lanes, 1), id = emit_new(e);
    emit_line(e, "%%t%u = xor <%u x i1> %%t%u, %%t%u", id, e->lanes, right, all);
    return emit_and(e, left, id);
}

uint32_t emit_pick(emit *e, vyre_type type, uint32_t mask, uint32_t yes, uint32_t no) {
    uint32_t id = emit_new(e);
    cpu_type_text text = cpu_type(type, e->lanes);
    emit_line(e, "%%t%u = select <%u x i1> %%t%u, %s %%t%u, %s %%t%u", id, e->lanes, mask,
              text.text, yes, text.text, no);
    return id;
}

/* Values */

static emit_value *value_of(emit *e, uint32_t inst) {
    return &e->values[inst - e->phase->first];
}

static uint32_t memory_bytes(vyre_type type) {
    return vyre_type_bytes(type);
}

uint32_t emit_storage_at(emit *e, uint64_t offset, uint64_t bytes_a_chunk) {
    uint32_t at = emit_new(e);
    if (e->in_group || !bytes_a_chunk) { /* what all chunks agree on is read from the first */
        emit_line(e, "%%t%u = getelementptr i8, ptr %%t%u, i64 %llu", at, e->storage,
                  (unsigned long long)offset);
        return at;
    }
    uint32_t chunk = emit_new(e), scaled = emit_new(e), sum = emit_new(e);
    emit_line(e, "%%t%u = load i64, ptr %%t%u", chunk, e->chunk);
    emit_line(e, "%%t%u = mul i64 %%t%u, %llu", scaled, chunk, (unsigned long long)bytes_a_chunk);
    emit_line(e, "%%t%u = add i64 %%t%u, %llu", sum, scaled, (unsigned long long)offset);
    emit_line(e, "%%t%u = getelementptr i8, ptr %%t%u, i64 %%t%u", at, e->storage, sum);
    return at;
}

/* The storage holds bools as bytes. */
static uint32_t load_storage(emit *e, vyre_type type, uint32_t lanes, uint32_t at) {
    vyre_type stored = type == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : type;
    uint32_t id = emit_new(e);
    emit_line(e, "%%t%u = load %s, ptr %%t%u, align %u", id, cpu_type(stored, lanes).text, at,
              memory_bytes(stored));
    if (type == VYRE_TYPE_BOOL) {
        uint32_t bit = emit_new(e);
        emit_line(e, "%%t%u = trunc %s %%t%u to %s", bit, cpu_type(VYRE_TYPE_U8, lanes).text, id,
                  cpu_type(VYRE_TYPE_BOOL, lanes).text);
        return bit;
    }
    return id;
}

static void store_storage(emit *e, vyre_type type, uint32_t lanes, uint32_t at, uint32_t value) {
    vyre_type stored = type == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : type;
    if (type == VYRE_TYPE_BOOL) {
        uint32_t byte = emit_new(e);
        emit_line(e, "%%t%u = zext %s %%t%u to %s", byte, cpu_type(VYRE_TYPE_BOOL, lanes).text,
                  value, cpu_type(VYRE_TYPE_U8, lanes).text);
        value = byte;
    }
    emit_line(e, "store %s %%t%u, ptr %%t%u, align %u", cpu_type(stored, lanes).text, value, at,
              memory_bytes(stored));
}

static uint64_t crossing_bytes(const emit *e, uint32_t inst) {
    uint32_t lanes = emit_lanes_of(e, cpu_fact_of(&e->facts, inst)->varying);
    return (uint64_t)memory_bytes((vyre_type)e->ir->insts[inst].type) * lanes;
}

void emit_store_crossing(emit *e, uint32_t inst, uint32_t id) {
    uint32_t lanes = emit_lanes_of(e, cpu_fact_of(&e->facts, inst)->varying);
    uint32_t at = emit_storage_at(e, value_of(e, inst)->offset, crossing_bytes(e, inst));
    store_storage(e, (vyre_type)e->ir->insts[inst].type, lanes, at, id);
}

uint32_t emit_load_crossing(emit *e, uint32_t inst) {
    uint32_t lanes = emit_lanes_of(e, cpu_fact_of(&e->facts, inst)->varying);
    uint32_t at = emit_storage_at(e, value_of(e, inst)->offset, crossing_bytes(e, inst));
    return load_storage(e, (vyre_type)e->ir->insts[inst].type, lanes, at);
}

static bool is_here(emit *e, uint32_t inst) {
    return !e->in_group && cpu_fact_of(&e->facts, inst)->region == e->region;
}

uint32_t emit_operand(emit *e, uint32_t operand) {
    if (operand & VYRE_CONSTANT) {
        const vyre_const *c = &e->ir->consts[operand & ~VYRE_CONSTANT];
        return cpu_write_const(&e->w, (vyre_type)c->type, 1, c->bits);
    }
    return is_here(e, operand) ? value_of(e, operand)->id : emit_load_crossing(e, operand);
}

uint32_t emit_scalar(emit *e, uint32_t operand) {
    uint32_t id = emit_operand(e, operand);
    if (cpu_varies(&e->facts, operand)) { /* the workgroup agrees on it: lane 0 will do */
        uint32_t lane = emit_new(e);
        emit_line(e, "%%t%u = extractelement %s %%t%u, i64 0", lane,
                  cpu_type(vyre_operand_type(e->ir, operand), e->lanes).text, id);
        return lane;
    }
    return id;
}

uint32_t emit_vector(emit *e, uint32_t operand) {
    uint32_t id = emit_operand(e, operand);
    return cpu_varies(&e->facts, operand)
               ? id
               : cpu_write_splat(&e->w, vyre_operand_type(e->ir, operand), e->lanes, id);
}

uint32_t emit_base(emit *e, uint32_t operand, bool *no_wrap) {
    *no_wrap = false;
    if (operand & VYRE_CONSTANT || !is_here(e, operand)) {
        return 0;
    }
    *no_wrap = value_of(e, operand)->no_wrap;
    return value_of(e, operand)->base;
}

void emit_define(emit *e, uint32_t inst, uint32_t id) {
    value_of(e, inst)->id = id;
    if (cpu_fact_of(&e->facts, inst)->crosses) {
        emit_store_crossing(e, inst, id);
    }
}

/* A value that grows by 1 from lane to lane. */
static void define_row(emit *e, uint32_t inst, uint32_t base, bool no_wrap) {
    uint32_t all = cpu_write_splat(&e->w, VYRE_TYPE_U32, e->lanes, base);
    uint32_t lanes = cpu_write_lane_numbers(&e->w, e->lanes), id = emit_new(e);
    emit_line(e, "%%t%u = add <%u x i32> %%t%u, %%t%u", id, e->lanes, all, lanes);
    emit_define(e, inst, id);
    value_of(e, inst)->base = base;
    value_of(e, inst)->no_wrap = no_wrap;
}

/* Positions */

/* Number of lane 0 in the workgroup, u32. */
static uint32_t first_lane(emit *e) {
    uint32_t chunk = emit_new(e), narrow = emit_new(e), id = emit_new(e);
    emit_line(e, "%%t%u = load i64, ptr %%t%u", chunk, e->chunk);
    emit_line(e, "%%t%u = trunc i64 %%t%u to i32", narrow, chunk);
    emit_line(e, "%%t%u = mul i32 %%t%u, %u", id, narrow, e->lanes);
    return id;
}

static uint32_t divided(emit *e, uint32_t lanes, uint32_t value, uint32_t by, const char *op) {
    uint32_t id = emit_new(e);
    uint32_t divisor = cpu_write_const(&e->w, VYRE_TYPE_U32, lanes, by);
    emit_line(e, "%%t%u = %s %s %%t%u, %%t%u", id, op, cpu_type(VYRE_TYPE_U32, lanes).text, value,
              divisor);
    return id;
}

/* Position in the workgroup of lane 0 (lanes 1) or of all lanes. */
static uint32_t local_position(emit *e, uint32_t d, uint32_t lanes) {
    const uint32_t *size = e->phase->workgroup;
    uint32_t linear = first_lane(e);
    if (lanes > 1) {
        uint32_t all = cpu_write_splat(&e->w, VYRE_TYPE_U32, lanes, linear);
        uint32_t numbers = cpu_write_lane_numbers(&e->w, lanes), id = emit_new(e);
        emit_line(e, "%%t%u = add <%u x i32> %%t%u, %%t%u", id, lanes, all, numbers);
        linear = id;
    }
    if (d > 0) {
        linear = divided(e, lanes, linear, d == 1 ? size[0] : size[0] * size[1], "udiv");
    }
    return d < 2 ? divided(e, lanes, linear, size[d], "urem") : linear;
}

static uint32_t add_group(emit *e, uint32_t d, uint32_t lanes, uint32_t local) {
    uint32_t start = emit_new(e), id = emit_new(e);
    emit_line(e, "%%t%u = mul i32 %%t%u, %u", start, e->wid[d], e->phase->workgroup[d]);
    uint32_t all = lanes > 1 ? cpu_write_splat(&e->w, VYRE_TYPE_U32, lanes, start) : start;
    emit_line(e, "%%t%u = add %s %%t%u, %%t%u", id, cpu_type(VYRE_TYPE_U32, lanes).text, all,
              local);
    return id;
}

static void emit_position(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    bool varying = cpu_fact_of(&e->facts, inst)->varying;
    bool is_global = i->op == VYRE_OP_GID;
    if (!e->phase->workgroup[0]) {
        if (i->a == 0) {
            define_row(e, inst, e->row, true);
        } else {
            emit_define(e, inst, e->wid[i->a]);
        }
        return;
    }
    if (varying && i->a == 0 && e->facts.rows_are_chunks) {
        uint32_t base = local_position(e, 0, 1);
        define_row(e, inst, is_global ? add_group(e, 0, 1, base) : base, true);
        return;
    }
    uint32_t lanes = emit_lanes_of(e, varying), local = local_position(e, i->a, lanes);
    emit_define(e, inst, is_global ? add_group(e, i->a, lanes, local) : local);
}

static uint32_t frame_field(emit *e, const char *type, uint64_t offset) {
    uint32_t at = emit_new(e), id = emit_new(e);
    emit_line(e, "%%t%u = getelementptr i8, ptr %%frame, i64 %llu", at, (unsigned long long)offset);
    emit_line(e, "%%t%u = load %s, ptr %%t%u, !invariant.load !0", id, type, at);
    return id;
}

static uint32_t table_entry(emit *e, const char *type, uint32_t table, uint64_t offset) {
    uint32_t at = emit_new(e), id = emit_new(e);
    emit_line(e, "%%t%u = getelementptr i8, ptr %%t%u, i64 %llu", at, table,
              (unsigned long long)offset);
    emit_line(e, "%%t%u = load %s, ptr %%t%u, !invariant.load !0", id, type, at);
    return id;
}

/* The low bits of a 64-bit number as a value of a type. */
static uint32_t from_bits(emit *e, vyre_type type, uint32_t bits) {
    uint32_t narrow = emit_new(e), width = type == VYRE_TYPE_BOOL ? 1 : vyre_type_bytes(type) * 8;
    bool is_float = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
    if (width < 64) {
        emit_line(e, "%%t%u = trunc i64 %%t%u to i%u", narrow, bits, width);
    } else {
        narrow = bits;
    }
    if (is_float) {
        uint32_t id = emit_new(e);
        emit_line(e, "%%t%u = bitcast i%u %%t%u to %s", id, width, narrow, cpu_type(type, 1).text);
        return id;
    }
    return narrow;
}

static void emit_in_domain(emit *e, uint32_t inst) {
    uint32_t result = cpu_write_const(&e->w, VYRE_TYPE_BOOL, e->lanes, 1);
    for (uint32_t d = 0; d < e->phase->dimensions; d++) {
        uint32_t local = local_position(e, d, e->lanes), wide = emit_new(e), start = emit_new(e);
        uint32_t scaled = emit_new(e), sum = emit_new(e), inside = emit_new(e);
        emit_line(e, "%%t%u = zext <%u x i32> %%t%u to <%u x i64>", wide, e->lanes, local,
                  e->lanes);
        emit_line(e, "%%t%u = zext i32 %%t%u to i64", start, e->wid[d]);
        emit_line(e, "%%t%u = mul i64 %%t%u, %u", scaled, start, e->phase->workgroup[d]);
        uint32_t all = cpu_write_splat(&e->w, VYRE_TYPE_U64, e->lanes, scaled);
        emit_line(e, "%%t%u = add <%u x i64> %%t%u, %%t%u", sum, e->lanes, wide, all);
        uint32_t domain = frame_field(e, "i64", offsetof(cpu_frame, domain) + 8ull * d);
        uint32_t most = cpu_write_splat(&e->w, VYRE_TYPE_U64, e->lanes, domain);
        emit_line(e, "%%t%u = icmp ult <%u x i64> %%t%u, %%t%u", inside, e->lanes, sum, most);
        result = emit_and(e, result, inside);
    }
    emit_define(e, inst, result);
}

/* What a kernel finds around it; false if it is something else. */
static bool emit_surroundings(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    switch (i->op) {
    case VYRE_OP_PARAM: {
        uint32_t table = frame_field(e, "ptr", offsetof(cpu_frame, arguments));
        emit_define(e, inst,
                    from_bits(e, (vyre_type)i->type, table_entry(e, "i64", table, 8ull * i->a)));
        return true;
    }
    case VYRE_OP_ITERATION: {
        uint32_t table = frame_field(e, "ptr", offsetof(cpu_frame, iterations));
        emit_define(e, inst, table_entry(e, "i32", table, 4ull * i->a));
        return true;
    }
    case VYRE_OP_LEN: {
        uint32_t id = emit_new(e);
        emit_line(e, "%%t%u = trunc i64 %%t%u to i32", id, e->lengths[i->a]);
        emit_define(e, inst, id);
        return true;
    }
    case VYRE_OP_GID:
    case VYRE_OP_LID: emit_position(e, inst); return true;
    case VYRE_OP_WID: emit_define(e, inst, e->wid[i->a]); return true;
    case VYRE_OP_NUM_WORKGROUPS: {
        uint32_t id = emit_new(e);
        emit_line(e, "%%t%u = trunc i64 %%t%u to i32", id,
                  frame_field(e, "i64", offsetof(cpu_frame, groups) + 8ull * i->a));
        emit_define(e, inst, id);
        return true;
    }
    case VYRE_OP_IN_DOMAIN: emit_in_domain(e, inst); return true;
    case VYRE_OP_LANE: {
        uint32_t base = cpu_write_const(&e->w, VYRE_TYPE_U32, 1, 0);
        define_row(e, inst, base, true); /* a chunk is a subgroup */
        return true;
    }
    case VYRE_OP_SUBGROUP_ID: {
        uint32_t chunk = emit_new(e), id = emit_new(e);
        emit_line(e, "%%t%u = load i64, ptr %%t%u", chunk, e->chunk);
        emit_line(e, "%%t%u = trunc i64 %%t%u to i32", id, chunk);
        emit_define(e, inst, id);
        return true;
    }
    default: return false;
    }
}

/* Arithmetic */

/* Sums and differences with what does not vary keep growing by 1. */
static void keep_base(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    emit_value *own = value_of(e, inst);
    vyre_type type = (vyre_type)i->type;
    bool no_wrap, other_wrap;
    own->base = 0;
    own->no_wrap = false;
    if (i->op == VYRE_OP_ADD || i->op == VYRE_OP_SUB) {
        uint32_t a = emit_base(e, i->a, &no_wrap), b = emit_base(e, i->b, &other_wrap);
        bool is_sub = i->op == VYRE_OP_SUB;
        if (a && !cpu_varies(&e->facts, i->b)) {
            own->base =
                cpu_write_op(&e->w, (vyre_op)i->op, type, type, 1, a, emit_scalar(e, i->b), 0);
        } else if (b && !is_sub && !cpu_varies(&e->facts, i->a)) {
            own->base =
                cpu_write_op(&e->w, (vyre_op)i->op, type, type, 1, emit_scalar(e, i->a), b, 0);
        }
    } else if (i->op == VYRE_OP_CONVERT) {
        vyre_type from = vyre_operand_type(e->ir, i->a);
        uint32_t a = emit_base(e, i->a, &no_wrap);
        bool is_integer = vyre_type_class_of(type) == VYRE_CLASS_SIGNED ||
                          vyre_type_class_of(type) == VYRE_CLASS_UNSIGNED;
        bool same = is_integer && vyre_type_bytes(type) == vyre_type_bytes(from);
        if (a &&
            (same || (is_integer && no_wrap && vyre_type_bytes(type) > vyre_type_bytes(from)))) {
            own->base = cpu_write_op(&e->w, VYRE_OP_CONVERT, from, type, 1, a, 0, 0);
            own->no_wrap = no_wrap && !same;
        }
    }
}

static void emit_pure(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    const uint32_t *values;
    uint32_t count = vyre_inst_values(e->ir, i, &values), ids[3] = {0};
    const cpu_fact *fact = cpu_fact_of(&e->facts, inst);
    uint32_t lanes = emit_lanes_of(e, fact->varying);
    for (uint32_t k = 0; k < count && k < 3; k++) {
        ids[k] = fact->varying ? emit_vector(e, values[k]) : emit_scalar(e, values[k]);
    }
    vyre_type type = vyre_operand_type(e->ir, values[i->op == VYRE_OP_SELECT ? 1 : 0]);
    vyre_type result = (vyre_type)i->type;
    uint32_t id = cpu_write_op(&e->w, (vyre_op)i->op, type, result, lanes, ids[0], ids[1], ids[2]);
    if (fact->observed && cpu_gives_any_nan((vyre_op)i->op, result)) {
        id = cpu_write_canonical(&e->w, result, lanes, id);
    }
    emit_define(e, inst, id);
    if (fact->varying) {
        keep_base(e, inst);
    }
}

void emit_instruction(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t effects = vyre_op_info_of(i->op)->effects;
    if (effects & VYRE_EFFECT_BLOCK) {
        emit_control(e, inst);
    } else if (effects & VYRE_EFFECT_END) {
        emit_jump_out(e, inst);
    } else if (effects & VYRE_EFFECT_SUBGROUP) {
        emit_subgroup(e, inst);
    } else if (effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE)) {
        emit_memory(e, inst);
    } else if (i->op != VYRE_OP_ARG && i->op != VYRE_OP_RESULT && !emit_surroundings(e, inst)) {
        emit_pure(e, inst);
    }
}

/* Functions */

void emit_stop_check(emit *e, uint32_t away) {
    uint32_t at = frame_field(e, "ptr", offsetof(cpu_frame, stop)), flag = emit_new(e);
    uint32_t go_on = emit_label(e), id = emit_new(e);
    emit_line(e, "%%t%u = load volatile i32, ptr %%t%u", flag, at);
    emit_line(e, "%%t%u = icmp eq i32 %%t%u, 0", id, flag);
    emit_branch(e, id, go_on, away);
    emit_start(e, go_on);
}

uint64_t emit_reserve(emit *e, uint64_t bytes) {
    uint64_t at = e->storage_bytes;
    e->storage_bytes = (at + bytes + 63) / 64 * 64;
    return at;
}

/* Places in the storage: shared arrays, private ones where there are regions, values that cross. */
static void lay_out(emit *e) {
    const vyre_phase *phase = e->phase;
    for (uint32_t r = phase->first_resource; r < phase->end_resource; r++) {
        const vyre_resource *row = &e->ir->resources[r];
        uint64_t bytes = (uint64_t)row->length * vyre_type_bytes((vyre_type)row->type);
        bool is_private = row->kind == VYRE_RESOURCE_PRIVATE;
        if (!is_private || e->facts.has_groups) {
            e->array_offsets[r] =
                emit_reserve(e, is_private ? bytes * e->lanes * e->chunks : bytes);
        }
    }
    for (uint32_t inst = phase->first; inst < phase->end; inst++) {
        if (cpu_fact_of(&e->facts, inst)->crosses) {
            value_of(e, inst)->offset = emit_reserve(e, crossing_bytes(e, inst) * e->chunks);
        }
    }
}

/* Of the private arrays of a chunk's lanes. */
static uint64_t private_bytes(const emit *e, uint32_t resource) {
    const vyre_resource *row = &e->ir->resources[resource];
    return (uint64_t)row->length * vyre_type_bytes((vyre_type)row->type) * e->lanes;
}

/* Pointers and lengths of all arrays that the phase touches. */
static void find_arrays(emit *e) {
    uint32_t arrays = frame_field(e, "ptr", offsetof(cpu_frame, arrays));
    uint32_t lengths = frame_field(e, "ptr", offsetof(cpu_frame, lengths));
    for (uint32_t r = 0; r < e->ir->resource_count; r++) {
        e->arrays[r] = e->lengths[r] = 0;
    }
    for (uint32_t inst = e->phase->first; inst < e->phase->end; inst++) {
        const vyre_inst *i = &e->ir->insts[inst];
        uint32_t effects = vyre_op_info_of(i->op)->effects;
        bool touches = effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE) || i->op == VYRE_OP_LEN;
        if (!touches || e->lengths[i->a]) {
            continue;
        }
        const vyre_resource *row = &e->ir->resources[i->a];
        if (row->kind == VYRE_RESOURCE_BUFFER || row->kind == VYRE_RESOURCE_SCRATCH) {
            e->arrays[i->a] = table_entry(e, "ptr", arrays, 8ull * i->a);
            e->lengths[i->a] = table_entry(e, "i64", lengths, 8ull * i->a);
        } else {
            e->lengths[i->a] = cpu_write_const(&e->w, VYRE_TYPE_U64, 1, row->length);
        }
        if (row->kind == VYRE_RESOURCE_PRIVATE && !e->facts.has_groups) {
            unsigned long long bytes = private_bytes(e, i->a);
            e->arrays[i->a] = emit_new(e);
            vyre_text_printf(&e->allocas, "  %%t%u = alloca [%llu x i8], align 64\n",
                             e->arrays[i->a], bytes + 1);
        }
    }
}

static uint32_t storage_place(emit *e, uint64_t offset) {
    uint32_t at = emit_new(e);
    emit_line(e, "%%t%u = getelementptr i8, ptr %%t%u, i64 %llu", at, e->storage,
              (unsigned long long)offset);
    return at;
}

static void fill_bytes(emit *e, uint32_t at, uint32_t byte, uint64_t bytes) {
    cpu_write_declare(&e->w, "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)");
    emit_line(e, "call void @llvm.memset.p0.i64(ptr align 64 %%t%u, i8 %u, i64 %llu, i1 false)", at,
              byte, (unsigned long long)bytes);
}

/* Shared arrays when a workgroup starts; private ones, of which each lane has its own, when the
 * chunk does, or with the workgroup where there are regions. */
static void clear_arrays(emit *e, vyre_resource_kind kind) {
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        const vyre_resource *row = &e->ir->resources[r];
        uint64_t bytes = (uint64_t)row->length * vyre_type_bytes((vyre_type)row->type);
        if (!bytes || !e->lengths[r] || row->kind != kind) {
            continue;
        }
        bool is_private = kind == VYRE_RESOURCE_PRIVATE;
        if (is_private && !e->facts.has_groups) {
            fill_bytes(e, e->arrays[r], 0, private_bytes(e, r));
        } else {
            fill_bytes(e, storage_place(e, e->array_offsets[r]), 0,
                       is_private ? private_bytes(e, r) * e->chunks : bytes);
        }
    }
}

/* Position of a unit in the grid, x fastest. */
static void find_group(emit *e, uint32_t unit) {
    uint32_t left = unit;
    for (uint32_t d = 0; d < 3; d++) {
        uint32_t groups = frame_field(e, "i64", offsetof(cpu_frame, groups) + 8ull * d);
        uint32_t at = emit_new(e), next = emit_new(e);
        emit_line(e, "%%t%u = urem i64 %%t%u, %%t%u", at, left, groups);
        emit_line(e, "%%t%u = udiv i64 %%t%u, %%t%u", next, left, groups);
        e->wid[d] = emit_new(e);
        emit_line(e, "%%t%u = trunc i64 %%t%u to i32", e->wid[d], at);
        left = next;
    }
}

static void open_phase(emit *e, uint32_t rest) {
    e->depth = 0;
    e->stack[e->depth++] =
        (emit_open){.owner = VYRE_NONE, .exit = rest, .latch = rest, .rest = rest};
    if (e->group ? e->group->partial : e->facts.partial) {
        e->stack[0].live = emit_mask_variable(e);
        emit_assign(e, VYRE_TYPE_BOOL, e->lanes, e->stack[0].live, e->mask);
    }
}

uint32_t emit_alive(emit *e, const emit_group *group) {
    while (group && !group->partial) {
        group = group->outer;
    }
    if (!group) {
        return cpu_write_const(&e->w, VYRE_TYPE_BOOL, e->lanes, 1);
    }
    uint32_t at = emit_storage_at(e, group->alive, e->lanes);
    return load_storage(e, VYRE_TYPE_BOOL, e->lanes, at);
}

void emit_set_alive(emit *e, const emit_group *group, uint32_t mask) {
    store_storage(e, VYRE_TYPE_BOOL, e->lanes, emit_storage_at(e, group->alive, e->lanes), mask);
}

/* Lanes of a workgroup's chunk that exist, and have not ended in an earlier region. */
static uint32_t chunk_mask(emit *e) {
    const uint32_t *size = e->phase->workgroup;
    uint32_t lanes = size[0] * size[1] * size[2];
    uint32_t mask = cpu_write_const(&e->w, VYRE_TYPE_BOOL, e->lanes, 1);
    if (lanes % e->lanes) {
        uint32_t first = cpu_write_splat(&e->w, VYRE_TYPE_U32, e->lanes, first_lane(e));
        uint32_t numbers = cpu_write_lane_numbers(&e->w, e->lanes), sum = emit_new(e);
        uint32_t most = cpu_write_const(&e->w, VYRE_TYPE_U32, e->lanes, lanes);
        mask = emit_new(e);
        emit_line(e, "%%t%u = add <%u x i32> %%t%u, %%t%u", sum, e->lanes, first, numbers);
        emit_line(e, "%%t%u = icmp ult <%u x i32> %%t%u, %%t%u", mask, e->lanes, sum, most);
    }
    return e->group ? emit_and(e, mask, emit_alive(e, e->group)) : mask;
}

void emit_for_chunks(emit *e, emit_body body, const void *user) {
    uint32_t head = emit_label(e), inside = emit_label(e), behind = emit_label(e);
    uint32_t more = emit_new(e), at = emit_new(e), next = emit_new(e), now = emit_new(e);
    emit_line(e, "store i64 0, ptr %%t%u", e->chunk);
    emit_start(e, head);
    emit_line(e, "%%t%u = load i64, ptr %%t%u", at, e->chunk);
    emit_line(e, "%%t%u = icmp ult i64 %%t%u, %u", more, at, e->chunks);
    emit_branch(e, more, inside, behind);
    emit_start(e, inside);
    e->in_group = false;
    e->mask = chunk_mask(e);
    uint32_t rest = emit_label(e);
    open_phase(e, rest);
    if (e->stack[0].live) { /* nobody may be left */
        uint32_t some = emit_label(e);
        emit_branch(e, emit_any(e, e->mask), some, rest);
        emit_start(e, some);
    }
    body(e, user);
    emit_start(e, rest);
    if (e->group && e->group->partial) {
        emit_set_alive(e, e->group, emit_read(e, VYRE_TYPE_BOOL, e->lanes, e->stack[0].live));
    }
    emit_line(e, "%%t%u = load i64, ptr %%t%u", now, e->chunk);
    emit_line(e, "%%t%u = add i64 %%t%u, 1", next, now);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", next, e->chunk);
    emit_jump(e, head);
    emit_start(e, behind);
    e->in_group = true;
    e->depth = 0;
}

static void whole_phase(emit *e, const void *user) {
    (void)user;
    clear_arrays(e, VYRE_RESOURCE_PRIVATE);
    emit_region_block(e, e->phase->first, e->phase->end);
}

/* A workgroup: all its chunks, region by region where it waits. */
static void emit_workgroup(emit *e) {
    e->group_end = emit_label(e);
    clear_arrays(e, VYRE_RESOURCE_SHARED);
    if (!e->facts.has_groups) {
        e->region = 0;
        emit_for_chunks(e, whole_phase, NULL);
    } else {
        clear_arrays(e, VYRE_RESOURCE_PRIVATE);
        e->in_group = true;
        emit_group_code(e, e->phase->first, e->phase->end);
    }
    emit_start(e, e->group_end);
}

/* A block of a row: full vectors first, then the lanes that are left. The code is written once, as
 * a function that is always inlined: with a mask that is known to be full it loses its masks. */
static void emit_row(emit *e) {
    uint32_t step = e->lanes, at = emit_variable(e, VYRE_TYPE_U64, 1);
    uint32_t begin = emit_new(e), wide = emit_new(e), limit = emit_new(e), less = emit_new(e);
    uint32_t end = emit_new(e);
    uint32_t domain = frame_field(e, "i64", offsetof(cpu_frame, domain));
    emit_line(e, "%%t%u = zext i32 %%t%u to i64", wide, e->wid[0]);
    uint32_t block = frame_field(e, "i64", offsetof(cpu_frame, block));
    emit_line(e, "%%t%u = mul i64 %%t%u, %%t%u", begin, wide, block);
    emit_line(e, "%%t%u = add i64 %%t%u, %%t%u", limit, begin, block);
    emit_line(e, "%%t%u = icmp ult i64 %%t%u, %%t%u", less, limit, domain);
    emit_line(e, "%%t%u = select i1 %%t%u, i64 %%t%u, i64 %%t%u", end, less, limit, domain);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", begin, at);
    uint32_t head = emit_label(e), full = emit_label(e), tail = emit_label(e);
    uint32_t part = emit_label(e), behind = emit_label(e);
    uint32_t x = emit_new(e), next = emit_new(e), fits = emit_new(e), narrow = emit_new(e);
    emit_start(e, head);
    emit_line(e, "%%t%u = load i64, ptr %%t%u", x, at);
    emit_line(e, "%%t%u = add i64 %%t%u, %u", next, x, step);
    emit_line(e, "%%t%u = icmp ule i64 %%t%u, %%t%u", fits, next, end);
    emit_branch(e, fits, full, tail);
    emit_start(e, full);
    uint32_t all = cpu_write_const(&e->w, VYRE_TYPE_BOOL, e->lanes, 1);
    emit_line(e, "%%t%u = trunc i64 %%t%u to i32", narrow, x);
    emit_line(e,
              "call void @phase_%u_chunk(ptr %%frame, ptr %%t%u, <%u x i1> %%t%u, i32 %%t%u, i32 "
              "%%t%u, i32 %%t%u)",
              e->phase_index, e->storage, e->lanes, all, narrow, e->wid[1], e->wid[2]);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", next, at);
    emit_jump(e, head);
    emit_start(e, tail);
    uint32_t x2 = emit_new(e), some = emit_new(e), left = emit_new(e), left32 = emit_new(e);
    uint32_t mask = emit_new(e), narrow2 = emit_new(e);
    emit_line(e, "%%t%u = load i64, ptr %%t%u", x2, at);
    emit_line(e, "%%t%u = icmp ult i64 %%t%u, %%t%u", some, x2, end);
    emit_branch(e, some, part, behind);
    emit_start(e, part);
    emit_line(e, "%%t%u = sub i64 %%t%u, %%t%u", left, end, x2);
    emit_line(e, "%%t%u = trunc i64 %%t%u to i32", left32, left);
    uint32_t most = cpu_write_splat(&e->w, VYRE_TYPE_U32, e->lanes, left32);
    uint32_t numbers = cpu_write_lane_numbers(&e->w, e->lanes);
    emit_line(e, "%%t%u = icmp ult <%u x i32> %%t%u, %%t%u", mask, e->lanes, numbers, most);
    emit_line(e, "%%t%u = trunc i64 %%t%u to i32", narrow2, x2);
    emit_line(e,
              "call void @phase_%u_chunk(ptr %%frame, ptr %%t%u, <%u x i1> %%t%u, i32 %%t%u, i32 "
              "%%t%u, i32 %%t%u)",
              e->phase_index, e->storage, e->lanes, mask, narrow2, e->wid[1], e->wid[2]);
    emit_jump(e, behind);
    emit_start(e, behind);
}

static void begin_function(emit *e) {
    vyre_text_cut(&e->w.code, 0);
    vyre_text_cut(&e->allocas, 0);
    e->terminated = false;
    e->depth = 0;
}

static void end_function(emit *e, vyre_text *out, const char *head) {
    vyre_text_printf(out, "%s {\nentry:\n%s  br label %%start\nstart:\n%s  ret void\n}\n\n", head,
                     vyre_text_string(&e->allocas), vyre_text_string(&e->w.code));
    out->failed |= e->allocas.failed | e->w.code.failed;
}

/* The code of a chunk of a row. */
static void emit_chunk_function(emit *e, vyre_text *out) {
    begin_function(e);
    e->storage = emit_new(e);
    e->mask = emit_new(e);
    e->row = emit_new(e);
    e->wid[1] = emit_new(e);
    e->wid[2] = emit_new(e);
    e->in_group = false;
    e->region = 0;
    vyre_text head = {0};
    vyre_text_printf(
        &head,
        "define internal void @phase_%u_chunk(ptr %%frame, ptr %%t%u, <%u x i1> %%t%u, "
        "i32 %%t%u, i32 %%t%u, i32 %%t%u) alwaysinline nounwind",
        e->phase_index, e->storage, e->lanes, e->mask, e->row, e->wid[1], e->wid[2]);
    find_arrays(e);
    clear_arrays(e, VYRE_RESOURCE_PRIVATE);
    uint32_t rest = emit_label(e);
    open_phase(e, rest);
    emit_region_block(e, e->phase->first, e->phase->end);
    emit_start(e, rest);
    end_function(e, out, vyre_text_string(&head));
    out->failed |= head.failed;
    vyre_text_free(&head);
}

static void emit_kernel(emit *e, vyre_text *out) {
    begin_function(e);
    uint32_t first = emit_new(e), end = emit_new(e);
    e->storage = emit_new(e);
    vyre_text head = {0};
    vyre_text_printf(&head,
                     "define void @phase_%u(ptr %%frame, i64 %%t%u, i64 %%t%u, ptr %%t%u) nounwind",
                     e->phase_index, first, end, e->storage);
    e->chunk = emit_variable(e, VYRE_TYPE_U64, 1);
    uint32_t unit = emit_variable(e, VYRE_TYPE_U64, 1), at = emit_new(e), more = emit_new(e);
    uint32_t head_label = emit_label(e), inside = emit_label(e), behind = emit_label(e);
    uint32_t now = emit_new(e), next = emit_new(e);
    find_arrays(e);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", first, unit);
    emit_start(e, head_label);
    emit_line(e, "%%t%u = load i64, ptr %%t%u", at, unit);
    emit_line(e, "%%t%u = icmp ult i64 %%t%u, %%t%u", more, at, end);
    emit_branch(e, more, inside, behind);
    emit_start(e, inside);
    emit_stop_check(e, behind);
    find_group(e, at);
    if (e->phase->workgroup[0]) {
        emit_workgroup(e);
    } else {
        emit_row(e);
    }
    emit_line(e, "%%t%u = load i64, ptr %%t%u", now, unit);
    emit_line(e, "%%t%u = add i64 %%t%u, 1", next, now);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", next, unit);
    emit_jump(e, head_label);
    emit_start(e, behind);
    end_function(e, out, vyre_text_string(&head));
    out->failed |= head.failed;
    vyre_text_free(&head);
}

static bool emit_phase(emit *e, uint32_t index, uint32_t lanes, vyre_text *out,
                       cpu_phase_info *info) {
    e->phase_index = index;
    e->phase = &e->ir->phases[index];
    if (!cpu_analyse(&e->facts, e->ir, index, lanes)) {
        return false;
    }
    const uint32_t *size = e->phase->workgroup;
    uint32_t count = e->phase->end - e->phase->first;
    e->lanes = e->facts.lanes;
    e->chunks = size[0] ? (size[0] * size[1] * size[2] + e->lanes - 1) / e->lanes : 1;
    e->storage_bytes = 0;
    e->group = NULL;
    e->values = vyre_alloc_zeroed(count, sizeof *e->values);
    e->slots = vyre_alloc_zeroed(count, sizeof *e->slots);
    bool made = e->values && e->slots;
    if (made) {
        lay_out(e);
        if (!size[0]) {
            emit_chunk_function(e, out);
        }
        emit_kernel(e, out);
        *info = (cpu_phase_info){e->storage_bytes, size[0] ? 0 : BLOCK};
    }
    vyre_free(e->values);
    vyre_free(e->slots);
    cpu_facts_free(&e->facts);
    return made;
}

vyre_status cpu_emit(const vyre_program *program, const cpu_target *target, vyre_text *out_ir,
                     cpu_phase_info *out_infos) {
    const vyre_ir *ir = vyre_program_ir(program);
    emit e = {.ir = ir, .w = {.next = 1}};
    e.w.has_half = target->has_half;
    e.w.has_long = target->has_long;
    e.arrays = vyre_alloc_zeroed(ir->resource_count, sizeof *e.arrays);
    e.lengths = vyre_alloc_zeroed(ir->resource_count, sizeof *e.lengths);
    e.array_offsets = vyre_alloc_zeroed(ir->resource_count, sizeof *e.array_offsets);
    bool made = e.arrays && e.lengths && e.array_offsets;
    vyre_text_puts(out_ir, "@zeros = internal constant [512 x i8] zeroinitializer, align 64\n\n");
    for (uint32_t i = 0; i < ir->phase_count && made; i++) {
        made = emit_phase(&e, i, target->lanes, out_ir, &out_infos[i]);
    }
    vyre_text_puts(out_ir, vyre_text_string(&e.w.declarations));
    vyre_text_puts(out_ir, "!0 = !{}\n");
    made = made && !out_ir->failed && !e.w.code.failed && !e.w.declarations.failed;
    vyre_text_free(&e.w.code);
    vyre_text_free(&e.w.declarations);
    vyre_text_free(&e.allocas);
    vyre_free(e.arrays);
    vyre_free(e.lengths);
    vyre_free(e.array_offsets);
    return made ? VYRE_OK
                : vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again",
                                   "no memory to compile `%s`", vyre_program_name(program));
}
