#include "backend/cpu/codegen/emit.h"

#include <stdio.h>

#include "backend/cpu/codegen/emit_state.h"
#include "backend/cpu/codegen/llvm_effort.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "pass/pass.h"
#include "pass/shared.h"

enum {
    BLOCK = 2048,          /* the most invocations of a block, where there are no workgroups */
    MOST_ON_STACK = 65536, /* bytes of private arrays; nobody knows how large the caller's is */
};

/* Bytes of stack that a function may take; LLVM reports one that takes more. */
#define STACK_LIMIT "\"warn-stack-size\"=\"163840\""

/* Arithmetic */

/* Where lanes lie at constant distances, lane 0 is kept as a scalar, too. */
static void keep_base(emit *e, uint32_t inst, vyre_list values) {
    const vyre_inst *i = &e->ir->insts[inst];
    uint32_t ids[3] = {0};
    emit_value_of(e, inst)->base = 0;
    if (e->lanes == 1 || emit_stride_of(e, inst).kind != VYRE_STRIDE_AFFINE) {
        return;
    }
    for (uint32_t k = 0; k < values.count && k < 3; k++) {
        ids[k] = emit_first(e, values.items[k]);
    }
    vyre_type type = vyre_operand_type(e->ir, values.items[0]);
    emit_value_of(e, inst)->base =
        cpu_write_op(&e->w, vyre_inst_op(i), type, vyre_inst_type(i), 1, ids[0], ids[1], ids[2]);
}

static void emit_pure(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_list values = vyre_inst_operands(e->ir, i);
    uint32_t ids[3] = {0};
    bool varying = cpu_varies(&e->facts, inst);
    uint32_t lanes = emit_lanes_of(e, varying);
    for (uint32_t k = 0; k < values.count && k < 3; k++) {
        ids[k] = varying ? emit_vector(e, values.items[k]) : emit_scalar(e, values.items[k]);
    }
    vyre_type type = vyre_operand_type(e->ir, values.items[i->op == VYRE_OP_SELECT ? 1 : 0]);
    vyre_type result = vyre_inst_type(i);
    uint32_t id = cpu_write_op(&e->w, vyre_inst_op(i), type, result, lanes, ids[0], ids[1], ids[2]);
    if (vyre_nan_settles(&e->facts.nans, inst)) {
        id = cpu_write_canonical(&e->w, result, lanes, id);
    }
    emit_define(e, inst, id);
    if (varying) {
        keep_base(e, inst, values);
    }
}

void emit_unknown(emit *e, uint32_t inst) {
    e->w.unknown = vyre_inst_op(&e->ir->insts[inst]);
}

void emit_instruction(emit *e, uint32_t inst) {
    switch (vyre_inst_op(&e->ir->insts[inst])) {
    case VYRE_ANY_OF(SURROUNDINGS): emit_surroundings(e, inst); return;
    case VYRE_ANY_OF(PURE): emit_pure(e, inst); return;
    case VYRE_ANY_OF(ACCESS): emit_memory(e, inst); return;
    case VYRE_ANY_OF(SUBGROUP): emit_subgroup(e, inst); return;
    case VYRE_ANY_OF(BLOCK): emit_control(e, inst); return;
    case VYRE_ANY_OF(JUMP): emit_jump_out(e, inst); return;
    case VYRE_ANY_OF(PICK): return; /* comes with its owner */
    case VYRE_ANY_OF(ELEMENTARY, BARRIER, NONE): break;
    }
    emit_unknown(e, inst);
}

/* Functions */

void emit_stop_check(emit *e, uint32_t away) {
    uint32_t at = emit_frame_field(e, "ptr", offsetof(cpu_frame, stop));
    uint32_t go_on = emit_label(e);
    uint32_t flag = emit_put(e, "load volatile i32, ptr %%t%u", at);
    uint32_t id = emit_put(e, "icmp eq i32 %%t%u, 0", flag);
    emit_branch(e, id, go_on, away);
    emit_start(e, go_on);
}

uint64_t emit_reserve(emit *e, uint64_t bytes) {
    uint64_t at = e->storage_bytes;
    e->storage_bytes = (at + bytes + 63) / 64 * 64;
    return at;
}

/* Of the private arrays of a chunk's lanes. */
static uint64_t private_bytes(const emit *e, uint32_t resource) {
    const vyre_resource *row = &e->ir->resources[resource];
    return vyre_resource_bytes(row) * e->facts.lanes;
}

/* Places in the storage: shared arrays, private ones where there are regions or that are large,
 * values that cross. */
static void lay_out(emit *e) {
    const vyre_phase *phase = e->phase;
    uint64_t on_stack = 0;
    for (uint32_t r = phase->first_resource; r < phase->end_resource; r++) {
        bool is_private = e->ir->resources[r].kind == VYRE_RESOURCE_PRIVATE;
        on_stack += is_private ? private_bytes(e, r) : 0;
    }
    e->uses_stack = !e->facts.has_groups && on_stack <= MOST_ON_STACK;
    for (uint32_t r = phase->first_resource; r < phase->end_resource; r++) {
        const vyre_resource *row = &e->ir->resources[r];
        uint64_t bytes = vyre_resource_bytes(row);
        bool is_private = row->kind == VYRE_RESOURCE_PRIVATE;
        if (!is_private || !e->uses_stack) {
            e->array_offsets[r] = emit_reserve(
                e,
                is_private ? private_bytes(e, r) * (e->facts.has_groups ? e->chunks : 1) : bytes);
        }
    }
    for (uint32_t inst = phase->first; inst < phase->end; inst++) {
        if (cpu_fact_of(&e->facts, inst)->crosses) {
            emit_value_of(e, inst)->offset =
                emit_reserve(e, emit_crossing_bytes(e, inst) * e->chunks);
        }
    }
}

/* What a program says of an array's length as a number has been held against it. */
static bool has_known_length(const vyre_ir *ir, const vyre_resource *row) {
    return row->kind <= VYRE_RESOURCE_SCRATCH && row->size != VYRE_NONE &&
           ir->sizes[row->size].op == VYRE_SIZE_CONST;
}

static uint64_t known_length(const vyre_ir *ir, const vyre_resource *row) {
    if (!has_known_length(ir, row)) {
        return row->length;
    }
    const vyre_size_node *size = &ir->sizes[row->size];
    return (uint64_t)size->b << 32 | size->a;
}

/* The pointer and the length of an array, from the tables of the frame. */
static void find_array(emit *e, uint32_t resource, uint32_t arrays, uint32_t lengths) {
    const vyre_resource *row = &e->ir->resources[resource];
    bool is_far = vyre_resource_is_global(row), is_field = vyre_resource_is_field(row);
    uint32_t in_table = is_field ? row->size : resource;
    if (is_far) {
        e->arrays[resource] = emit_table_entry(e, "ptr", arrays, 8ull * in_table);
    }
    if (is_field) {
        e->arrays[resource] = emit_offset(e, e->arrays[resource], row->length);
        row = &e->ir->resources[row->size];
    }
    e->lengths[resource] = is_far && !has_known_length(e->ir, row)
                               ? emit_table_entry(e, "i64", lengths, 8ull * in_table)
                               : cpu_write_const(&e->w, VYRE_TYPE_U64, 1, known_length(e->ir, row));
    if (row->kind == VYRE_RESOURCE_CONSTANT) {
        e->arrays[resource] = emit_put(e, "getelementptr i8, ptr @constant_%u, i64 0", resource);
    }
    if (row->kind == VYRE_RESOURCE_PRIVATE && e->uses_stack) {
        unsigned long long bytes = private_bytes(e, resource);
        e->arrays[resource] = emit_new(e);
        vyre_strbuf_printf(&e->allocas, "  %%t%u = alloca [%llu x i8], align 64\n",
                           e->arrays[resource], bytes + 1);
    }
}

/* Pointers and lengths of all arrays that the phase touches. */
static void find_arrays(emit *e) {
    uint32_t arrays = emit_frame_field(e, "ptr", offsetof(cpu_frame, arrays));
    uint32_t lengths = emit_frame_field(e, "ptr", offsetof(cpu_frame, lengths));
    for (uint32_t r = 0; r < e->ir->resource_count; r++) {
        e->arrays[r] = e->lengths[r] = 0;
    }
    for (uint32_t inst = e->phase->first; inst < e->phase->end; inst++) {
        const vyre_inst *i = &e->ir->insts[inst];
        uint32_t effects = vyre_inst_effects(i);
        bool touches = effects & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE) || i->op == VYRE_OP_LEN;
        if (touches && !e->lengths[vyre_access_resource(i)]) {
            find_array(e, vyre_access_resource(i), arrays, lengths);
        }
    }
}

static uint32_t storage_place(emit *e, uint64_t offset) {
    return emit_offset(e, e->storage, offset);
}

void emit_zeros(emit *e, uint32_t at, uint64_t bytes) {
    cpu_write_declare(&e->w, "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)");
    emit_line(e, "call void @llvm.memset.p0.i64(ptr %%t%u, i8 0, i64 %llu, i1 false)", at,
              (unsigned long long)bytes);
}

/* Shared arrays when a workgroup starts; private ones, of which each lane has its own, when the
 * chunk does, or with the workgroup where there are regions. */
static void clear_arrays(emit *e, vyre_resource_kind kind) {
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        const vyre_resource *row = &e->ir->resources[r];
        uint64_t bytes = vyre_resource_bytes(row);
        if (!bytes || !e->lengths[r] || row->kind != kind) {
            continue;
        }
        bool is_private = kind == VYRE_RESOURCE_PRIVATE;
        if (is_private && !e->facts.has_groups) {
            emit_zeros(e, e->uses_stack ? e->arrays[r] : storage_place(e, e->array_offsets[r]),
                       private_bytes(e, r));
        } else {
            emit_zeros(e, storage_place(e, e->array_offsets[r]),
                       is_private ? private_bytes(e, r) * e->chunks : bytes);
        }
    }
}

/* Position of a unit in the grid, x fastest. */
static void find_group(emit *e, uint32_t unit) {
    uint32_t left = unit;
    for (uint32_t d = 0; d < 3; d++) {
        uint32_t groups = emit_frame_field(e, "i64", offsetof(cpu_frame, groups) + 8ull * d);
        uint32_t at = emit_put(e, "urem i64 %%t%u, %%t%u", left, groups);
        uint32_t next = emit_put(e, "udiv i64 %%t%u, %%t%u", left, groups);
        e->wid[d] = emit_put(e, "trunc i64 %%t%u to i32", at);
        left = next;
    }
}

static void open_phase(emit *e, uint32_t rest) {
    e->depth = 0;
    e->stack[e->depth++] =
        (emit_open){.owner = VYRE_NONE, .exit = rest, .latch = rest, .rest = rest};
    if (e->group ? e->group->partial : e->facts.divergence.partial && !e->scalar) {
        e->stack[0].live = emit_mask_variable(e);
        emit_assign(e, VYRE_TYPE_BOOL, e->lanes, e->stack[0].live, e->mask);
    }
}

/* Lanes of a workgroup's chunk that exist, and have not ended in an earlier region. */
static uint32_t chunk_mask(emit *e) {
    const uint32_t *size = e->phase->workgroup;
    uint32_t lanes = size[0] * size[1] * size[2];
    uint32_t mask = cpu_write_const(&e->w, VYRE_TYPE_BOOL, e->lanes, 1);
    if (lanes % e->facts.lanes) { /* with scalars it never is */
        uint32_t first = cpu_write_splat(&e->w, VYRE_TYPE_U32, e->lanes, emit_first_lane(e));
        uint32_t numbers = cpu_write_lane_numbers(&e->w, e->lanes);
        uint32_t most = cpu_write_const(&e->w, VYRE_TYPE_U32, e->lanes, lanes);
        uint32_t sum = emit_put(e, "add <%u x i32> %%t%u, %%t%u", e->lanes, first, numbers);
        mask = emit_put(e, "icmp ult <%u x i32> %%t%u, %%t%u", e->lanes, sum, most);
    }
    return e->group ? emit_and(e, mask, emit_alive(e, e->group)) : mask;
}

/* The chunks of a workgroup, without those that all lanes have left if `left_out`. */
static void for_chunks(emit *e, emit_body body, const void *user, bool left_out) {
    uint32_t head = emit_label(e), inside = emit_label(e), behind = emit_label(e);
    emit_line(e, "store i64 0, ptr %%t%u", e->chunk);
    emit_start(e, head);
    uint32_t at = emit_put(e, "load i64, ptr %%t%u", e->chunk);
    uint32_t more = emit_put(e, "icmp ult i64 %%t%u, %u", at, e->chunks);
    emit_branch(e, more, inside, behind);
    emit_start(e, inside);
    e->in_group = false;
    e->mask = chunk_mask(e);
    e->whole = emit_has_left(e->group) ? 0 : e->mask;
    uint32_t rest = emit_label(e);
    open_phase(e, rest);
    if (left_out && !e->whole) {
        uint32_t some = emit_label(e);
        emit_branch(e, emit_any(e, e->mask), some, rest);
        emit_start(e, some);
    }
    body(e, user);
    emit_start(e, rest);
    if (e->group && e->group->partial) {
        emit_set_alive(e, e->group, emit_read(e, VYRE_TYPE_BOOL, e->lanes, e->stack[0].live));
    }
    uint32_t now = emit_put(e, "load i64, ptr %%t%u", e->chunk);
    uint32_t next = emit_put(e, "add i64 %%t%u, 1", now);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", next, e->chunk);
    emit_jump(e, head);
    emit_start(e, behind);
    e->in_group = true;
    e->depth = 0;
}

void emit_for_chunks(emit *e, emit_body body, const void *user) {
    for_chunks(e, body, user, true);
}

void emit_for_all_chunks(emit *e, emit_body body, const void *user) {
    for_chunks(e, body, user, false);
}

static void whole_phase(emit *e, const void *user) {
    (void)user;
    clear_arrays(e, VYRE_RESOURCE_PRIVATE);
    emit_region_block(e, vyre_phase_block(e->phase));
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
        emit_group_code(e, vyre_phase_block(e->phase));
    }
    emit_start(e, e->group_end);
}

/* A call of the chunk's code for the lanes of a mask, or of the code for `count` scalars. */
static void call_chunk(emit *e, uint32_t count, uint32_t mask, uint32_t x) {
    uint32_t narrow = emit_put(e, "trunc i64 %%t%u to i32", x);
    emit_line(e,
              "call void @phase_%u_chunk_%u(ptr %%frame, ptr %%t%u, %s %%t%u, i32 %%t%u, i32 "
              "%%t%u, i32 %%t%u)",
              e->phase_index, count, e->storage, cpu_type(VYRE_TYPE_BOOL, e->lanes).text, mask,
              narrow, e->wid[1], e->wid[2]);
}

/* What is left of a row, in one masked vector or scalar by scalar. */
static void emit_row_end(emit *e, uint32_t at, uint32_t end) {
    uint32_t tail = emit_label(e), part = emit_label(e), behind = emit_label(e);
    uint32_t mask = emit_new(e);
    emit_start(e, tail);
    uint32_t x = emit_put(e, "load i64, ptr %%t%u", at);
    uint32_t some = emit_put(e, "icmp ult i64 %%t%u, %%t%u", x, end);
    emit_branch(e, some, part, behind);
    emit_start(e, part);
    if (e->scalar) {
        emit_line(e, "%%t%u = bitcast i1 true to i1", mask);
        call_chunk(e, 1, mask, x);
        uint32_t next = emit_put(e, "add i64 %%t%u, 1", x);
        emit_line(e, "store i64 %%t%u, ptr %%t%u", next, at);
        emit_jump(e, tail);
    } else {
        uint32_t left = emit_put(e, "sub i64 %%t%u, %%t%u", end, x);
        uint32_t narrow = emit_put(e, "trunc i64 %%t%u to i32", left);
        uint32_t most = cpu_write_splat(&e->w, VYRE_TYPE_U32, e->lanes, narrow);
        uint32_t numbers = cpu_write_lane_numbers(&e->w, e->lanes);
        emit_line(e, "%%t%u = icmp ult <%u x i32> %%t%u, %%t%u", mask, e->lanes, numbers, most);
        call_chunk(e, e->facts.lanes, mask, x);
    }
    emit_start(e, behind);
}

/* A block of a row: full chunks first, then the lanes that are left. The code is written once, as
 * a function that is always inlined: with a mask that is known to be full it loses its masks. */
static void emit_row(emit *e) {
    uint32_t step = e->facts.lanes, at = emit_variable(e, VYRE_TYPE_U64, 1);
    uint32_t domain = emit_frame_field(e, "i64", offsetof(cpu_frame, domain));
    uint32_t wide = emit_put(e, "zext i32 %%t%u to i64", e->wid[0]);
    uint32_t block = emit_frame_field(e, "i64", offsetof(cpu_frame, block));
    uint32_t begin = emit_put(e, "mul i64 %%t%u, %%t%u", wide, block);
    uint32_t limit = emit_put(e, "add i64 %%t%u, %%t%u", begin, block);
    uint32_t less = emit_put(e, "icmp ult i64 %%t%u, %%t%u", limit, domain);
    uint32_t end = emit_put(e, "select i1 %%t%u, i64 %%t%u, i64 %%t%u", less, limit, domain);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", begin, at);
    uint32_t head = emit_label(e), full = emit_label(e), tail = emit_label(e);
    emit_start(e, head);
    uint32_t x = emit_put(e, "load i64, ptr %%t%u", at);
    uint32_t next = emit_put(e, "add i64 %%t%u, %u", x, step);
    uint32_t fits = emit_put(e, "icmp ule i64 %%t%u, %%t%u", next, end);
    emit_branch(e, fits, full, tail);
    emit_start(e, full);
    call_chunk(e, step, cpu_write_const(&e->w, VYRE_TYPE_BOOL, e->lanes, 1), x);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", next, at);
    emit_jump(e, head);
    emit_start(e, tail);
    if (step > 1) {
        emit_row_end(e, at, end);
    }
}

static void begin_function(emit *e) {
    vyre_strbuf_cut(&e->w.code, 0);
    vyre_strbuf_cut(&e->allocas, 0);
    e->terminated = false;
    e->depth = 0;
    e->sink = 0;
    for (size_t type = 0; type < VYRE_TYPE_COUNT; type++) {
        e->spare[0][type].count = e->spare[1][type].count = 0;
    }
}

static void end_function(emit *e, vyre_strbuf *out, const char *head) {
    vyre_strbuf_printf(out, "%s {\nentry:\n%s  br label %%start\nstart:\n%s  ret void\n}\n\n", head,
                       vyre_strbuf_string(&e->allocas), vyre_strbuf_string(&e->w.code));
    out->failed |= e->allocas.failed | e->w.code.failed;
}

/* The code of a chunk of a row, or of its first `count` scalars. */
static void emit_chunk_function(emit *e, uint32_t count, vyre_strbuf *out) {
    begin_function(e);
    e->lane_count = e->scalar ? count : 1;
    e->storage = emit_new(e);
    e->mask = e->whole = emit_new(e);
    e->row = emit_new(e);
    e->wid[1] = emit_new(e);
    e->wid[2] = emit_new(e);
    e->in_group = false;
    e->region = 0;
    vyre_strbuf head = {0};
    vyre_strbuf_printf(&head,
                       "define internal void @phase_%u_chunk_%u(ptr %%frame, ptr %%t%u, %s %%t%u, "
                       "i32 %%t%u, i32 %%t%u, i32 %%t%u) alwaysinline nounwind " STACK_LIMIT,
                       e->phase_index, count, e->storage, cpu_type(VYRE_TYPE_BOOL, e->lanes).text,
                       e->mask, e->row, e->wid[1], e->wid[2]);
    find_arrays(e);
    clear_arrays(e, VYRE_RESOURCE_PRIVATE);
    uint32_t rest = emit_label(e);
    open_phase(e, rest);
    uint32_t behind;
    out->failed |= !emit_flat(e, &behind);
    emit_region_block(e, vyre_phase_block(e->phase));
    emit_start(e, rest);
    if (behind) {
        emit_start(e, behind);
    }
    end_function(e, out, vyre_strbuf_string(&head));
    out->failed |= head.failed;
    vyre_strbuf_free(&head);
}

static void emit_multiply_function(emit *e, vyre_strbuf *out) {
    char head[96];
    snprintf(head, sizeof head,
             "define internal void @phase_%u_multiply(ptr %%list) noinline nounwind",
             e->phase_index);
    begin_function(e);
    emit_multiply_body(e);
    end_function(e, out, head);
}

static void emit_kernel(emit *e, vyre_strbuf *out) {
    begin_function(e);
    uint32_t first = emit_new(e), end = emit_new(e);
    e->storage = emit_new(e);
    vyre_strbuf head = {0};
    vyre_strbuf_printf(
        &head,
        "define void @phase_%u(ptr %%frame, i64 %%t%u, i64 %%t%u, ptr %%t%u) nounwind "
        "\"probe-stack\"=\"inline-asm\" " STACK_LIMIT,
        e->phase_index, first, end, e->storage);
    e->chunk = emit_variable(e, VYRE_TYPE_U64, 1);
    uint32_t unit = emit_variable(e, VYRE_TYPE_U64, 1);
    uint32_t head_label = emit_label(e), inside = emit_label(e), behind = emit_label(e);
    find_arrays(e);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", first, unit);
    emit_start(e, head_label);
    uint32_t at = emit_put(e, "load i64, ptr %%t%u", unit);
    uint32_t more = emit_put(e, "icmp ult i64 %%t%u, %%t%u", at, end);
    emit_branch(e, more, inside, behind);
    emit_start(e, inside);
    emit_stop_check(e, behind);
    find_group(e, at);
    if (e->phase->workgroup[0]) {
        emit_workgroup(e);
    } else {
        emit_row(e);
    }
    uint32_t now = emit_put(e, "load i64, ptr %%t%u", unit);
    uint32_t next = emit_put(e, "add i64 %%t%u, 1", now);
    emit_line(e, "store i64 %%t%u, ptr %%t%u", next, unit);
    emit_jump(e, head_label);
    emit_start(e, behind);
    end_function(e, out, vyre_strbuf_string(&head));
    out->failed |= head.failed;
    vyre_strbuf_free(&head);
}

static bool find_facts(emit *e, uint32_t index, bool own_domain) {
    uint32_t count = e->phase->end - e->phase->first;
    uint8_t *varies = vyre_alloc_array(count, 1);
    e->loaded = vyre_alloc_zeroed(count, 1);
    e->tested = vyre_alloc_zeroed(count, 1);
    for (uint32_t k = 0; varies && k < count; k++) {
        varies[k] = e->facts.divergence.rows[k].varying;
    }
    bool made = varies && e->loaded && e->tested &&
                vyre_ranges_init(&e->ranges, e->ir, index, own_domain) &&
                vyre_strides_init(&e->strides, e->ir, index, &e->ranges, varies) &&
                vyre_accesses_init(&e->accesses, e->ir, index, &e->ranges);
    vyre_free(varies);
    return made;
}

/* Arrays do not overlap: each is a scope of its own, and accesses say which ones they stay out of.
 * Node 1 is the domain, then come the scopes, the lists of one, and the lists of all others. */
static void write_scopes(vyre_strbuf *out, uint32_t count) {
    vyre_strbuf_puts(out, "!1 = distinct !{!1}\n");
    for (uint32_t r = 0; r < count; r++) {
        uint32_t own = 2 + r;
        vyre_strbuf_printf(out, "!%u = distinct !{!%u, !1}\n!%u = !{!%u}\n!%u = !{", own, own,
                           own + count, own, own + 2 * count);
        for (uint32_t other = 0, some = 0; other < count; other++) {
            if (other != r) {
                vyre_strbuf_printf(out, "%s!%u", some++ ? ", " : "", 2 + other);
            }
        }
        vyre_strbuf_puts(out, "}\n");
    }
}

static bool emit_phase(emit *e, uint32_t index, const cpu_target *target, vyre_strbuf *out,
                       cpu_phase_info *info) {
    e->phase_index = index;
    e->phase = &e->ir->phases[index];
    cpu_choice choice;
    if (!cpu_choose(target, e->ir, index, &e->facts, &choice)) {
        return false;
    }
    const uint32_t *size = e->phase->workgroup;
    uint32_t count = e->phase->end - e->phase->first, chunk = e->facts.lanes;
    e->scalar = choice.scalar;
    e->is_plain = choice.is_plain;
    e->lanes = e->scalar ? 1 : chunk;
    e->first_lane = 0;
    e->lane_count = e->scalar ? chunk : 1;
    e->chunks = size[0] ? (size[0] * size[1] * size[2] + chunk - 1) / chunk : 1;
    e->storage_bytes = 0;
    e->group = NULL;
    e->values = vyre_alloc_zeroed((size_t)count * e->lane_count, sizeof *e->values);
    e->slots = vyre_alloc_zeroed((size_t)count * e->lane_count, sizeof *e->slots);
    bool made = e->values && e->slots && find_facts(e, index, !target->any_domain);
    if (made) {
        lay_out(e);
        if (emit_multiplies_apart(e)) {
            emit_multiply_function(e, out);
        }
        if (!size[0]) {
            emit_chunk_function(e, chunk, out);
        }
        if (!size[0] && e->scalar && chunk > 1) {
            emit_chunk_function(e, 1, out);
        }
        emit_kernel(e, out);
        *info = (cpu_phase_info){e->storage_bytes, size[0] ? 0 : BLOCK, choice};
    }
    vyre_free(e->values);
    vyre_free(e->slots);
    vyre_free(e->loaded);
    vyre_free(e->tested);
    e->loaded = e->tested = NULL;
    vyre_ranges_deinit(&e->ranges);
    vyre_strides_deinit(&e->strides);
    vyre_accesses_deinit(&e->accesses);
    cpu_facts_free(&e->facts);
    return made;
}

/* A phase in the form that is best, if LLVM can take it in time, else in the plain one. */
static bool emit_in_time(emit *e, uint32_t index, const cpu_target *target, vyre_strbuf *out,
                         cpu_phase_info *info) {
    size_t before = out->size;
    bool made = emit_phase(e, index, target, out, info);
    if (made && !info->choice.is_plain && !target->forced &&
        cpu_llvm_effort_of(vyre_strbuf_string(out) + before) != CPU_LLVM_FULL) {
        cpu_target plain = *target;
        plain.is_plain = true;
        vyre_strbuf_cut(out, before);
        made = emit_phase(e, index, &plain, out, info);
    }
    return made;
}

static vyre_status emit_program(const vyre_program *program, const cpu_target *target,
                                vyre_strbuf *out_ir, cpu_phase_info *out_infos) {
    const vyre_ir *ir = vyre_program_ir(program);
    if (vyre_shared_is_sized(ir)) {
        return vyre_shared_refuse(program);
    }
    emit e = {.ir = ir, .w = {.next = 1}, .touched = VYRE_NONE};
    e.w.has_half = target->has_half;
    e.w.has_long = target->has_long;
    e.arrays = vyre_alloc_zeroed(ir->resource_count, sizeof *e.arrays);
    e.lengths = vyre_alloc_zeroed(ir->resource_count, sizeof *e.lengths);
    e.array_offsets = vyre_alloc_zeroed(ir->resource_count, sizeof *e.array_offsets);
    bool made = e.arrays && e.lengths && e.array_offsets;
    vyre_strbuf_puts(out_ir, "@zeros = internal constant [512 x i8] zeroinitializer, align 64\n");
    emit_constants(out_ir, ir);
    vyre_strbuf_puts(out_ir, "\n");
    for (uint32_t i = 0; i < ir->phase_count && made; i++) {
        made = emit_in_time(&e, i, target, out_ir, &out_infos[i]);
    }
    vyre_strbuf_puts(out_ir, vyre_strbuf_string(&e.w.declarations));
    vyre_strbuf_puts(out_ir, "!0 = !{}\n");
    if (ir->resource_count <= EMIT_MOST_SCOPES) {
        write_scopes(out_ir, ir->resource_count);
    }
    made = made && !out_ir->failed && !e.w.code.failed && !e.w.declarations.failed;
    vyre_strbuf_free(&e.w.code);
    vyre_strbuf_free(&e.w.declarations);
    vyre_strbuf_free(&e.allocas);
    for (size_t type = 0; type < VYRE_TYPE_COUNT; type++) {
        vyre_vec_free(&e.spare[0][type]);
        vyre_vec_free(&e.spare[1][type]);
    }
    vyre_free(e.arrays);
    vyre_free(e.lengths);
    vyre_free(e.array_offsets);
    if (!made) {
        return vyre_no_memory("to compile `%s`", vyre_program_name(program));
    }
    return e.w.unknown ? vyre_internal_error("the cpu backend has no code for `%s`",
                                             vyre_lookup_op(e.w.unknown)->name)
                       : VYRE_OK;
}

static bool takes_full_effort(const vyre_strbuf *ir) {
    return cpu_llvm_effort_of(vyre_strbuf_string(ir)) == CPU_LLVM_FULL;
}

/* Phases that are small one by one may be too much for LLVM together. */
vyre_status cpu_emit(const vyre_program *program, const cpu_target *target, vyre_strbuf *out_ir,
                     cpu_phase_info *out_infos) {
    VYRE_TRY(emit_program(program, target, out_ir, out_infos));
    if (!target->is_plain && !target->forced && !takes_full_effort(out_ir)) {
        cpu_target plain = *target;
        plain.is_plain = true;
        vyre_strbuf_cut(out_ir, 0);
        VYRE_TRY(emit_program(program, &plain, out_ir, out_infos));
    }
    return cpu_llvm_effort_of(vyre_strbuf_string(out_ir)) != CPU_LLVM_NONE
               ? VYRE_OK
               : vyre_status_make(VYRE_STATUS_UNSUPPORTED,
                                  "make several programs of it, or use another backend",
                                  "`%s` is too large for backend `cpu`: its code has %zu bytes "
                                  "before LLVM has seen it",
                                  vyre_program_name(program), out_ir->size);
}

static uint32_t count_loops(const vyre_program *program) {
    const vyre_ir *ir = vyre_program_ir(program);
    uint32_t count = 0;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        count += vyre_op_is_loop(ir->insts[i].op);
    }
    return count;
}

static bool has_plain(const cpu_phase_info *infos, uint32_t count) {
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        found |= infos[i].choice.is_plain;
    }
    return found;
}

/* With the loops that unrolling took away, if that leaves less than LLVM's full effort: the effort
 * is worth more. */
static vyre_status emit_rolled(const vyre_program *program, const cpu_target *target,
                               vyre_strbuf *out_ir, cpu_phase_info *out_infos) {
    vyre_program *rolled;
    VYRE_TRY(vyre_lower_program_rolled(program, !target->any_domain, &rolled));
    vyre_strbuf_cut(out_ir, 0);
    vyre_status status = cpu_emit(rolled, target, out_ir, out_infos);
    vyre_program_release(rolled);
    return status;
}

vyre_status cpu_lower_and_emit(const vyre_program *program, const cpu_target *target,
                               vyre_strbuf *out_ir, cpu_phase_info *out_infos) {
    vyre_program *lowered;
    VYRE_TRY(vyre_lower_program(program, !target->any_domain, &lowered));
    vyre_status status = cpu_emit(lowered, target, out_ir, out_infos);
    bool is_too_large = status ? vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED
                               : has_plain(out_infos, vyre_program_ir(lowered)->phase_count);
    bool is_unrolled = count_loops(lowered) < count_loops(program);
    vyre_program_release(lowered);
    if (is_too_large && is_unrolled) {
        vyre_status_free(status);
        return emit_rolled(program, target, out_ir, out_infos);
    }
    return status;
}
