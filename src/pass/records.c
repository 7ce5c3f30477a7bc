#include "pass/records.h"

#include "base/alloc.h"
#include "base/status.h"
#include "ir/cases.h"
#include "pass/rebuild.h"

bool vyre_has_records(const vyre_program *program) {
    const vyre_ir *ir = vyre_program_ir(program);
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (ir->args[i].resource != VYRE_NONE && ir->args[i].type == VYRE_TYPE_VOID) {
            return true;
        }
    }
    return false;
}

static vyre_type unsigned_of(uint32_t bytes) {
    return bytes == 1   ? VYRE_TYPE_U8
           : bytes == 2 ? VYRE_TYPE_U16
           : bytes == 4 ? VYRE_TYPE_U32
                        : VYRE_TYPE_U64;
}

/* The type with the same bits and a sign. */
static vyre_type signed_of(vyre_type type) {
    return type == VYRE_TYPE_U32 ? VYRE_TYPE_I32 : VYRE_TYPE_I64;
}

/* Units */

/* The largest power of 2, up to 8, that divides the record and all offsets and sizes of fields. */
static uint32_t unit_bytes(const vyre_ir *ir, uint32_t buffer) {
    uint32_t all = 8 | ir->resources[buffer].length;
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        const vyre_resource *row = &ir->resources[i];
        if (vyre_resource_is_field(row) && row->size == buffer) {
            all |= row->length | vyre_type_bytes(vyre_resource_type(row));
        }
    }
    return all & (~all + 1);
}

/* Buffers that are swapped have units of one type: the smaller, with a sign if one has it. */
static void join_swapped(const vyre_ir *ir, vyre_record_unit *units) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < ir->step_count; i++) {
            const vyre_step *step = &ir->steps[i];
            if (step->kind != VYRE_STEP_SWAP || !units[step->resource].count) {
                continue;
            }
            vyre_record_unit *a = &units[step->resource], *b = &units[step->size];
            bool a_is_more =
                a->count > b->count ||
                (a->count == b->count && vyre_lookup_class(a->type) == VYRE_CLASS_SIGNED);
            changed |= a->type != b->type;
            *a = *b = a_is_more ? *a : *b;
        }
    }
}

static void find_units(const vyre_ir *ir, vyre_record_unit *units) {
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        const vyre_resource *row = &ir->resources[i];
        if (vyre_resource_has_records(row)) {
            uint32_t bytes = unit_bytes(ir, i);
            units[i] = (vyre_record_unit){unsigned_of(bytes), row->length / bytes};
        }
    }
    join_swapped(ir, units);
}

/* Whether the order of numbers matters to an atomic. */
static bool compares(const vyre_inst *inst) {
    return inst->op == VYRE_OP_ATOMIC_MIN || inst->op == VYRE_OP_ATOMIC_MAX;
}

/* Atomics need a field that is one unit, of one sign where they compare. */
static vyre_status check_atomics(const vyre_program *program, vyre_record_unit *units) {
    const vyre_ir *ir = vyre_program_ir(program);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < ir->inst_count; i++) {
            const vyre_inst *inst = &ir->insts[i];
            if (!vyre_inst_has_resource(inst) || !(vyre_inst_effects(inst) & VYRE_EFFECT_ATOMIC) ||
                !vyre_resource_is_field(vyre_access_array(ir, inst))) {
                continue;
            }
            const vyre_resource *row = vyre_access_array(ir, inst);
            vyre_type type = vyre_resource_type(row);
            vyre_record_unit *unit = &units[row->size];
            bool is_signed = vyre_lookup_class(type) == VYRE_CLASS_SIGNED;
            bool fits = vyre_type_bytes(type) == vyre_type_bytes(unit->type);
            if (fits && !round && compares(inst) && is_signed) {
                unit->type = signed_of(unsigned_of(vyre_type_bytes(type)));
            }
            bool same = vyre_lookup_class(unit->type) == vyre_lookup_class(type);
            if (!fits || (round && compares(inst) && !same)) {
                return vyre_status_make(
                    VYRE_STATUS_UNSUPPORTED,
                    "run it on reference, cpu or cuda, or put what is updated into a buffer of its "
                    "own",
                    "program `%s` has atomics on a field of records, and the backend takes only "
                    "buffers of numbers",
                    vyre_program_name(program));
            }
        }
        join_swapped(ir, units);
    }
    return VYRE_OK;
}

/* Code */

static uint32_t number(vyre_rebuild *r, uint64_t value) {
    return vyre_build_const(r->to, VYRE_TYPE_U64, value);
}

static uint32_t op2(vyre_rebuild *r, vyre_op op, uint32_t a, uint32_t b) {
    return vyre_build_op(r->to, op, a, b, VYRE_NONE);
}

/* The bits of a value as another type of the same size. */
static uint32_t as(vyre_rebuild *r, vyre_type type, uint32_t value) {
    return vyre_build_type(r->to, value) == type ? value : vyre_build_bitcast(r->to, type, value);
}

/* The first unit of a field in a record, in 64 bits. An index past the end stays past the end. */
static uint32_t first_unit(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    const vyre_resource *row = vyre_access_array(r->ir, inst);
    vyre_record_unit unit = r->units[row->size];
    uint32_t operand = vyre_access_index(r->ir, inst);
    vyre_type type = vyre_operand_type(r->ir, operand);
    uint32_t index = vyre_build_convert(r->to, VYRE_TYPE_U64, vyre_rebuild_operand(r, operand));
    if (vyre_type_bytes(type) == 8 || vyre_lookup_class(type) == VYRE_CLASS_SIGNED) {
        index = op2(r, VYRE_OP_MIN, index, number(r, (uint64_t)1 << 32));
    }
    uint32_t record = op2(r, VYRE_OP_MUL, index, number(r, unit.count));
    return op2(r, VYRE_OP_ADD, record, number(r, row->length / vyre_type_bytes(unit.type)));
}

static uint32_t load_units(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    const vyre_resource *row = vyre_access_array(r->ir, inst);
    vyre_type type = vyre_resource_type(row), unit = (vyre_type)r->units[row->size].type;
    uint32_t bytes = vyre_type_bytes(type), width = vyre_type_bytes(unit);
    uint32_t first = first_unit(r, at), bits = VYRE_NONE, buffer = r->resources[row->size];
    vyre_type whole = unsigned_of(bytes);
    for (uint32_t k = 0; k < bytes / width; k++) {
        uint32_t index = k ? op2(r, VYRE_OP_ADD, first, number(r, k)) : first;
        uint32_t part = inst->op == VYRE_OP_UNIFORM_LOAD
                            ? vyre_build_uniform_load(r->to, buffer, index)
                            : vyre_build_load(r->to, buffer, index);
        part = vyre_build_convert(r->to, whole, as(r, unsigned_of(width), part));
        if (k) {
            part = op2(r, VYRE_OP_SHL, part, vyre_build_u32(r->to, k * width * 8));
        }
        bits = k ? op2(r, VYRE_OP_OR, bits, part) : part;
    }
    return as(r, type, bits);
}

static void store_units(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    const vyre_resource *row = vyre_access_array(r->ir, inst);
    vyre_type type = vyre_resource_type(row), unit = (vyre_type)r->units[row->size].type;
    uint32_t bytes = vyre_type_bytes(type), width = vyre_type_bytes(unit);
    uint32_t first = first_unit(r, at), buffer = r->resources[row->size];
    uint32_t bits =
        as(r, unsigned_of(bytes), vyre_rebuild_operand(r, vyre_access_value(r->ir, inst)));
    for (uint32_t k = 0; k < bytes / width; k++) {
        uint32_t index = k ? op2(r, VYRE_OP_ADD, first, number(r, k)) : first;
        uint32_t part = k ? op2(r, VYRE_OP_SHR, bits, vyre_build_u32(r->to, k * width * 8)) : bits;
        part = vyre_build_convert(r->to, unsigned_of(width), part);
        vyre_build_store(r->to, buffer, index, as(r, unit, part));
    }
}

static uint32_t update_unit(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    const vyre_resource *row = vyre_access_array(r->ir, inst);
    vyre_type unit = (vyre_type)r->units[row->size].type;
    uint32_t given[2] = {vyre_access_value(r->ir, inst), vyre_access_desired(r->ir, inst)};
    for (uint32_t i = 0; i < 2; i++) {
        given[i] =
            given[i] == VYRE_NONE ? VYRE_NONE : as(r, unit, vyre_rebuild_operand(r, given[i]));
    }
    uint32_t old =
        vyre_build_atomic(r->to, vyre_inst_op(inst), r->resources[row->size], first_unit(r, at),
                          given[0], given[1], vyre_atomic_ordering(inst), vyre_atomic_scope(inst));
    return inst->op == VYRE_OP_ATOMIC_STORE ? VYRE_NONE : as(r, vyre_resource_type(row), old);
}

static bool replace(vyre_rebuild *r, uint32_t at) {
    const vyre_inst *inst = &r->ir->insts[at];
    const vyre_resource *row = vyre_inst_has_resource(inst) ? vyre_access_array(r->ir, inst) : NULL;
    if (row && inst->op == VYRE_OP_LEN && vyre_resource_has_records(row)) {
        uint32_t units = vyre_build_len(r->to, r->resources[vyre_access_resource(inst)]);
        uint32_t count = r->units[vyre_access_resource(inst)].count;
        r->values[at] = op2(r, VYRE_OP_DIV, units, vyre_build_u32(r->to, count));
        return true;
    }
    if (!row || !vyre_resource_is_field(row)) {
        return false;
    }
    switch (vyre_inst_op(inst)) {
    case VYRE_ONE_OF(LOAD, UNIFORM_LOAD): r->values[at] = load_units(r, at); return true;
    case VYRE_OP_STORE: store_units(r, at); return true;
    case VYRE_ANY_OF(ATOMIC): r->values[at] = update_unit(r, at); return true;
    case VYRE_OP_CLEAR:
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    return false;
}

vyre_status vyre_lower_records(const vyre_program *program, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_record_unit *units = vyre_alloc_zeroed(ir->resource_count, sizeof *units);
    *out_program = NULL;
    if (!units) {
        return vyre_no_memory("to lower the records of `%s`", vyre_program_name(program));
    }
    find_units(ir, units);
    vyre_status status = check_atomics(program, units);
    if (!status) {
        vyre_rebuild hooks = {.replace = replace, .units = units};
        status = vyre_rebuild_run(program, hooks, out_program);
    }
    vyre_free(units);
    return status;
}
