/* Operands, labels, and what the frame holds. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/lookup.h"

uint32_t cuda_emit_label(emit *e) {
    return ++e->labels;
}

/* A jump there that stands right in front is none. */
void cuda_emit_place(emit *e, uint32_t label) {
    vyre_strbuf *code = &e->w.code;
    char jump[32];
    size_t size = (size_t)snprintf(jump, sizeof jump, "\tbra L%u;\n", label);
    if (code->size >= size && !memcmp(code->data + code->size - size, jump, size)) {
        vyre_strbuf_cut(code, code->size - size);
    }
    vyre_strbuf_printf(code, "L%u:\n", label);
}

void cuda_emit_jump(emit *e, uint32_t label) {
    cuda_line(&e->w, "bra.uni L%u", label);
}

void cuda_emit_branch(emit *e, cuda_reg predicate, bool holds, uint32_t label, bool uniform) {
    cuda_line(&e->w, "@%s%s bra%s L%u", holds ? "" : "!", cuda_reg_name(predicate).text,
              uniform ? ".uni" : "", label);
}

void cuda_emit_if(emit *e, cuda_reg predicate, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_putc(&e->w.code, '\t');
    if (predicate.kind) {
        vyre_strbuf_printf(&e->w.code, "@%s ", cuda_reg_name(predicate).text);
    }
    vyre_strbuf_vprintf(&e->w.code, format, arguments);
    vyre_strbuf_puts(&e->w.code, ";\n");
    va_end(arguments);
}

static void swap(vyre_strbuf *left, vyre_strbuf *right) {
    vyre_strbuf kept = *left;
    *left = *right;
    *right = kept;
}

void cuda_emit_begin_head(emit *e) {
    swap(&e->w.code, &e->head);
}

void cuda_emit_end_head(emit *e) {
    swap(&e->w.code, &e->head);
}

void cuda_emit_begin_cold(emit *e) {
    swap(&e->w.code, &e->cold);
}

void cuda_emit_end_cold(emit *e) {
    swap(&e->w.code, &e->cold);
}

cuda_reg cuda_emit_frame(emit *e, cuda_class kind, uint32_t offset) {
    cuda_emit_begin_head(e);
    cuda_reg reg = cuda_new(&e->w, kind);
    const char *type = kind == CUDA_B64 ? "u64" : "u32";
    if (e->frame.kind) {
        cuda_line(&e->w, "ld.global.nc.%s %s, [%s+%u]", type, cuda_reg_name(reg).text,
                  cuda_reg_name(e->frame).text, offset);
    } else {
        cuda_line(&e->w, "ld.param.%s %s, [frame+%u]", type, cuda_reg_name(reg).text, offset);
    }
    cuda_emit_end_head(e);
    return reg;
}

/* Where a field's pointer and length are: with its buffer. */
static uint32_t table_entry(const emit *e, uint32_t resource) {
    const vyre_resource *row = &e->ir->resources[resource];
    return vyre_resource_is_field(row) ? row->size : resource;
}

cuda_reg cuda_emit_length(emit *e, uint32_t resource) {
    resource = table_entry(e, resource);
    const vyre_resource *row = &e->ir->resources[resource];
    cuda_reg length = e->arrays[resource].length;
    if (row->kind > VYRE_RESOURCE_SCRATCH) {
        return cuda_u64(row->length);
    }
    if (!length.kind) {
        length = cuda_emit_frame(e, CUDA_B64, e->layout.lengths + 8 * resource);
        e->arrays[resource].length = length;
    }
    return length;
}

/* A negative number is one of 2^31 or more: none may pass for an index. */
cuda_reg cuda_emit_limit(emit *e, uint32_t resource, bool is_signed) {
    resource = table_entry(e, resource);
    const vyre_resource *row = &e->ir->resources[resource];
    emit_array *array = &e->arrays[resource];
    cuda_reg length = cuda_emit_length(e, resource);
    if (row->kind > VYRE_RESOURCE_SCRATCH) {
        return cuda_u32(row->length); /* is small */
    }
    if (!array->limit.kind) {
        cuda_emit_begin_head(e);
        array->limit = cuda_one(&e->w, "cvt.u32.u64", CUDA_B32, length);
        cuda_emit_end_head(e);
    }
    if (is_signed && !array->signed_limit.kind) {
        cuda_emit_begin_head(e);
        array->signed_limit =
            cuda_two(&e->w, "min.u32", CUDA_B32, array->limit, cuda_u32(UINT32_C(1) << 31));
        cuda_emit_end_head(e);
    }
    return is_signed ? array->signed_limit : array->limit;
}

cuda_reg cuda_emit_base(emit *e, uint32_t resource) {
    resource = table_entry(e, resource);
    cuda_reg base = e->arrays[resource].base;
    if (!base.kind) {
        base = e->ir->resources[resource].kind == VYRE_RESOURCE_CONSTANT
                   ? cuda_emit_constant_base(e, resource)
                   : cuda_emit_frame(e, CUDA_B64, e->layout.arrays + 8 * resource);
        e->arrays[resource].base = base;
    }
    return base;
}

cuda_reg cuda_emit_counters(emit *e) {
    if (!e->counters.kind) {
        e->counters = cuda_emit_frame(e, CUDA_B64, e->layout.counters);
    }
    return e->counters;
}

void cuda_emit_stop_check(emit *e) {
    if (!e->stop.kind) {
        e->stop = cuda_emit_frame(e, CUDA_B64, e->layout.stop);
    }
    cuda_reg at = e->stop;
    if (!e->may_stop.kind) {
        cuda_emit_begin_head(e);
        e->may_stop = cuda_two(&e->w, "setp.ne.u64", CUDA_PRED, at, cuda_u64(0));
        cuda_emit_end_head(e);
    }
    cuda_writer *w = &e->w;
    cuda_reg word = cuda_emit_zero(e, CUDA_B32), told = cuda_emit_zero(e, CUDA_B32);
    cuda_reg host = cuda_new(w, CUDA_B64), clock = cuda_new(w, CUDA_B32);
    cuda_name at_name = cuda_reg_name(at), told_name = cuda_reg_name(told);
    cuda_name host_name = cuda_reg_name(host), clock_name = cuda_reg_name(clock);
    cuda_emit_if(e, e->may_stop, "ld.relaxed.gpu.global.u32 %s, [%s]", cuda_reg_name(word).text,
                 at_name.text);
    cuda_line(w, "mov.u32 %s, 0xffffffff", clock_name.text);
    cuda_emit_if(e, e->may_stop, "mov.u32 %s, %%clock", clock_name.text);
    cuda_reg draw = cuda_two(w, "mul.lo.u32", CUDA_B32, clock, cuda_u32(CUDA_STOP_FACTOR));
    cuda_reg asks = cuda_two(w, "setp.lt.u32", CUDA_PRED, draw, cuda_u32(CUDA_STOP_SHARE));
    cuda_emit_if(e, asks, "ld.global.u64 %s, [%s+%d]", host_name.text, at_name.text,
                 CUDA_STOP_HOST_AT);
    cuda_emit_if(e, asks, "ld.relaxed.sys.global.u32 %s, [%s]", told_name.text, host_name.text);
    word = cuda_two(w, "or.b32", CUDA_B32, word, told);
    cuda_reg stopped = cuda_two(w, "setp.ne.u32", CUDA_PRED, word, cuda_u32(0));
    cuda_emit_if(e, stopped, "st.relaxed.gpu.global.u32 [%s], %s", at_name.text,
                 cuda_reg_name(word).text);
    cuda_emit_if(e, stopped, "exit");
}

cuda_reg cuda_emit_operand(emit *e, uint32_t operand, uint32_t part) {
    if (vyre_operand_is_constant(operand)) {
        const vyre_const *row = vyre_operand_const(e->ir, operand);
        return cuda_constant(&e->w, vyre_const_type(row), row->bits);
    }
    return *emit_slot(e, operand, cuda_varies(&e->facts, operand) ? part : 0);
}

/* The low bits of a 64-bit number as a value of a type. */
static cuda_reg from_bits(emit *e, vyre_type type, cuda_reg bits) {
    if (cuda_width(type) == 64) {
        return cuda_from_bits(&e->w, type, bits);
    }
    cuda_reg low = cuda_one(&e->w, "cvt.u32.u64", CUDA_B32, bits);
    if (type == VYRE_TYPE_BOOL) {
        cuda_reg bit = cuda_two(&e->w, "and.b32", CUDA_B32, low, cuda_u32(1));
        return cuda_two(&e->w, "setp.ne.u32", CUDA_PRED, bit, cuda_u32(0));
    }
    return cuda_from_bits(&e->w, type, cuda_narrow(&e->w, type, low));
}

/* From the frame, or from where the device counts the turns itself. */
static cuda_reg iteration(emit *e, uint32_t step) {
    cuda_reg number = cuda_emit_frame(e, CUDA_B32, e->layout.iterations + 4 * step);
    cuda_reg iterations = cuda_emit_frame(e, CUDA_B64, e->layout.device_iterations);
    cuda_emit_begin_head(e);
    cuda_reg counted = cuda_two(&e->w, "setp.ne.u64", CUDA_PRED, iterations, cuda_u64(0));
    cuda_emit_if(e, counted, "ld.global.u32 %s, [%s+%u]", cuda_reg_name(number).text,
                 cuda_reg_name(iterations).text, 4 * step);
    cuda_emit_end_head(e);
    return number;
}

static cuda_reg global_position(emit *e, uint32_t d, uint32_t part) {
    if (e->phase->workgroup[0]) {
        return cuda_three(&e->w, "mad.lo.u32", CUDA_B32, e->group[d],
                          cuda_u32(e->phase->workgroup[d]), e->position[d]);
    }
    return d || !part ? e->position[d]
                      : cuda_two(&e->w, "add.u32", CUDA_B32, e->position[0], cuda_u32(part));
}

static cuda_reg in_domain(emit *e) {
    cuda_reg inside = cuda_none();
    for (uint32_t d = 0; d < e->phase->dimensions; d++) {
        cuda_reg start = cuda_two(&e->w, "mul.wide.u32", CUDA_B64, e->group[d],
                                  cuda_u32(e->phase->workgroup[d]));
        cuda_reg wide = cuda_one(&e->w, "cvt.u64.u32", CUDA_B64, e->position[d]);
        cuda_reg at = cuda_two(&e->w, "add.u64", CUDA_B64, start, wide);
        cuda_reg less = cuda_two(&e->w, "setp.lt.u64", CUDA_PRED, at, e->domain[d]);
        inside = inside.kind ? cuda_two(&e->w, "and.pred", CUDA_PRED, inside, less) : less;
    }
    return inside;
}

static cuda_reg subgroup_id(emit *e) {
    uint32_t shift = 0;
    while (e->phase->subgroup >> shift > 1) {
        shift++;
    }
    return cuda_two(&e->w, "shr.u32", CUDA_B32, e->thread, cuda_u32(shift));
}

static cuda_reg surrounding(emit *e, const vyre_inst *i, uint32_t part) {
    switch (vyre_inst_op(i)) {
    case VYRE_OP_PARAM:
        return from_bits(e, vyre_inst_type(i),
                         cuda_emit_frame(e, CUDA_B64, e->layout.arguments + 8 * i->a));
    case VYRE_OP_ITERATION: return iteration(e, i->a);
    case VYRE_OP_LEN: return cuda_emit_limit(e, vyre_access_resource(i), false);
    case VYRE_OP_GID: return global_position(e, i->a, part);
    case VYRE_OP_LID: return e->position[i->a];
    case VYRE_OP_WID: return e->group[i->a];
    case VYRE_OP_NUM_WORKGROUPS: return cuda_one(&e->w, "cvt.u32.u64", CUDA_B32, e->groups[i->a]);
    case VYRE_OP_IN_DOMAIN: return in_domain(e);
    case VYRE_OP_LANE:
        return cuda_two(&e->w, "and.b32", CUDA_B32, e->thread, cuda_u32(e->phase->subgroup - 1));
    case VYRE_OP_SUBGROUP_ID: return subgroup_id(e);
    case VYRE_ANY_OF(PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    return cuda_unknown(&e->w, vyre_inst_op(i));
}

void cuda_emit_surroundings(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    for (uint32_t part = emit_first(e, inst); part < emit_end(e, inst); part++) {
        *emit_slot(e, inst, part) = surrounding(e, i, part);
    }
}
