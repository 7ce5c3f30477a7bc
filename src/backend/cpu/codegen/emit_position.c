/* What a kernel finds around it: positions, arguments, lengths. */
#include "backend/cpu/codegen/emit.h"
#include "backend/cpu/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/lookup.h"

/* From lane 0 of a chunk to the scalar at hand. */
static uint32_t add_lane(emit *e, uint32_t base) {
    if (!e->first_lane) {
        return base;
    }
    return emit_put(e, "add i32 %%t%u, %u", base, e->first_lane);
}

/* A value that grows by 1 from lane to lane. */
static void define_row(emit *e, uint32_t inst, uint32_t base) {
    if (e->scalar) {
        emit_define(e, inst, add_lane(e, base));
        return;
    }
    uint32_t all = cpu_write_splat(&e->w, VYRE_TYPE_U32, e->lanes, base);
    uint32_t lanes = cpu_write_lane_numbers(&e->w, e->lanes);
    uint32_t id = emit_put(e, "add <%u x i32> %%t%u, %%t%u", e->lanes, all, lanes);
    emit_define(e, inst, id);
    emit_value_of(e, inst)->base = base;
}

/* Positions */

/* Number of lane 0 in the workgroup, u32. */
uint32_t emit_first_lane(emit *e) {
    uint32_t chunk = emit_put(e, "load i64, ptr %%t%u", e->chunk);
    uint32_t narrow = emit_put(e, "trunc i64 %%t%u to i32", chunk);
    return emit_put(e, "mul i32 %%t%u, %u", narrow, e->facts.lanes);
}

static uint32_t divided(emit *e, uint32_t lanes, uint32_t value, uint32_t by, const char *op) {
    uint32_t divisor = cpu_write_const(&e->w, VYRE_TYPE_U32, lanes, by);
    return emit_put(e, "%s %s %%t%u, %%t%u", op, cpu_type(VYRE_TYPE_U32, lanes).text, value,
                    divisor);
}

/* Number in the workgroup of lane 0, or where it varies of all lanes. */
static uint32_t local_number(emit *e, bool varying) {
    uint32_t linear = emit_first_lane(e), lanes = emit_lanes_of(e, varying);
    if (e->scalar) {
        return varying ? add_lane(e, linear) : linear;
    }
    if (lanes > 1) {
        uint32_t all = cpu_write_splat(&e->w, VYRE_TYPE_U32, lanes, linear);
        uint32_t numbers = cpu_write_lane_numbers(&e->w, lanes);
        linear = emit_put(e, "add <%u x i32> %%t%u, %%t%u", lanes, all, numbers);
    }
    return linear;
}

/* Position in the workgroup of lane 0, or of all lanes. */
static uint32_t local_position(emit *e, uint32_t d, bool varying) {
    const uint32_t *size = e->phase->workgroup;
    uint32_t linear = local_number(e, varying), lanes = emit_lanes_of(e, varying);
    if (d > 0) {
        linear = divided(e, lanes, linear, d == 1 ? size[0] : size[0] * size[1], "udiv");
    }
    return d < 2 ? divided(e, lanes, linear, size[d], "urem") : linear;
}

static uint32_t add_group(emit *e, uint32_t d, uint32_t lanes, uint32_t local) {
    uint32_t start = emit_put(e, "mul i32 %%t%u, %u", e->wid[d], e->phase->workgroup[d]);
    uint32_t all = lanes > 1 ? cpu_write_splat(&e->w, VYRE_TYPE_U32, lanes, start) : start;
    return emit_put(e, "add %s %%t%u, %%t%u", cpu_type(VYRE_TYPE_U32, lanes).text, all, local);
}

static void emit_position(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    bool varying = cpu_varies(&e->facts, inst);
    bool is_global = i->op == VYRE_OP_GID;
    if (!e->phase->workgroup[0]) {
        if (i->a == 0) {
            define_row(e, inst, e->row);
        } else {
            emit_define(e, inst, e->wid[i->a]);
        }
        return;
    }
    if (varying && i->a == 0 && e->facts.rows_are_chunks) {
        uint32_t base = local_position(e, 0, false);
        define_row(e, inst, is_global ? add_group(e, 0, 1, base) : base);
        return;
    }
    uint32_t lanes = emit_lanes_of(e, varying), local = local_position(e, i->a, varying);
    emit_define(e, inst, is_global ? add_group(e, i->a, lanes, local) : local);
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
        return emit_put(e, "bitcast i%u %%t%u to %s", width, narrow, cpu_type(type, 1).text);
    }
    return narrow;
}

static void emit_in_domain(emit *e, uint32_t inst) {
    uint32_t result = cpu_write_const(&e->w, VYRE_TYPE_BOOL, e->lanes, 1);
    cpu_type_text type = cpu_type(VYRE_TYPE_U64, e->lanes);
    for (uint32_t d = 0; d < e->phase->dimensions; d++) {
        uint32_t local = local_position(e, d, true);
        uint32_t wide = emit_put(e, "zext %s %%t%u to %s", cpu_type(VYRE_TYPE_U32, e->lanes).text,
                                 local, type.text);
        uint32_t start = emit_put(e, "zext i32 %%t%u to i64", e->wid[d]);
        uint32_t scaled = emit_put(e, "mul i64 %%t%u, %u", start, e->phase->workgroup[d]);
        uint32_t all = cpu_write_splat(&e->w, VYRE_TYPE_U64, e->lanes, scaled);
        uint32_t sum = emit_put(e, "add %s %%t%u, %%t%u", type.text, wide, all);
        uint32_t domain = emit_frame_field(e, "i64", offsetof(cpu_frame, domain) + 8ull * d);
        uint32_t most = cpu_write_splat(&e->w, VYRE_TYPE_U64, e->lanes, domain);
        uint32_t inside = emit_put(e, "icmp ult %s %%t%u, %%t%u", type.text, sum, most);
        result = emit_and(e, result, inside);
    }
    emit_define(e, inst, result);
}

/* Number of the lane in its subgroup, or of that in the workgroup. A chunk is a subgroup. */
static uint32_t subgroup_number(emit *e, uint32_t inst, const char *op) {
    uint32_t number = local_number(e, cpu_varies(&e->facts, inst));
    return divided(e, 1, number, e->phase->subgroup, op);
}

static void emit_lane(emit *e, uint32_t inst) {
    if (e->scalar) {
        emit_define(e, inst, subgroup_number(e, inst, "urem"));
    } else {
        define_row(e, inst, cpu_write_const(&e->w, VYRE_TYPE_U32, 1, 0));
    }
}

static uint32_t subgroup_id(emit *e, uint32_t inst) {
    if (e->scalar) {
        return subgroup_number(e, inst, "udiv");
    }
    uint32_t chunk = emit_put(e, "load i64, ptr %%t%u", e->chunk);
    return emit_put(e, "trunc i64 %%t%u to i32", chunk);
}

static uint32_t truncated(emit *e, uint32_t wide) {
    return emit_put(e, "trunc i64 %%t%u to i32", wide);
}

/* An entry of a table whose pointer lies in the frame. */
static uint32_t frame_entry(emit *e, const char *type, size_t table, uint64_t offset) {
    return emit_table_entry(e, type, emit_frame_field(e, "ptr", table), offset);
}

void emit_surroundings(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t id;
    switch (vyre_inst_op(i)) {
    case VYRE_OP_PARAM:
        id = frame_entry(e, "i64", offsetof(cpu_frame, arguments), 8ull * i->a);
        emit_define(e, inst, from_bits(e, vyre_inst_type(i), id));
        return;
    case VYRE_OP_ITERATION:
        emit_define(e, inst, frame_entry(e, "i32", offsetof(cpu_frame, iterations), 4ull * i->a));
        return;
    case VYRE_OP_LEN:
        emit_define(e, inst, truncated(e, e->lengths[vyre_access_resource(i)]));
        return;
    case VYRE_ONE_OF(GID, LID): emit_position(e, inst); return;
    case VYRE_OP_WID: emit_define(e, inst, e->wid[i->a]); return;
    case VYRE_OP_NUM_WORKGROUPS:
        id = emit_frame_field(e, "i64", offsetof(cpu_frame, groups) + 8ull * i->a);
        emit_define(e, inst, emit_put(e, "trunc i64 %%t%u to i32", id));
        return;
    case VYRE_OP_IN_DOMAIN: emit_in_domain(e, inst); return;
    case VYRE_OP_LANE: emit_lane(e, inst); return;
    case VYRE_OP_SUBGROUP_ID: emit_define(e, inst, subgroup_id(e, inst)); return;
    case VYRE_ANY_OF(PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    emit_unknown(e, inst);
}
