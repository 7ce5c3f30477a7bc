/* What the invocations of a workgroup have together: shared arrays and barriers. */
#include "backend/cuda/codegen/emit_state.h"

enum { STATIC_SHARED = 48 * 1024, SUBGROUP_BYTES = 8 };

static uint32_t take(uint32_t *bytes, uint32_t size) {
    uint32_t at = *bytes;
    *bytes += (size + 15) / 16 * 16;
    return at;
}

/* Places of the arrays in the shared and in the private block, each at a multiple of 16 bytes. */
void cuda_emit_lay_out(emit *e) {
    e->shared_bytes = e->local_bytes = e->spare_bytes = 0;
    for (uint32_t r = e->phase->first_resource; r < e->phase->end_resource; r++) {
        const vyre_resource *row = &e->ir->resources[r];
        uint32_t bytes = (uint32_t)vyre_resource_bytes(row);
        if (e->facts.used[r]) {
            e->arrays[r].offset =
                take(row->kind == VYRE_RESOURCE_SHARED ? &e->shared_bytes : &e->local_bytes, bytes);
        }
    }
    e->zeroed_bytes = e->shared_bytes;
    if (e->facts.has_subgroups && e->phase->subgroup > 32) {
        e->exchange = take(&e->shared_bytes, e->info->threads * SUBGROUP_BYTES);
    }
    if (e->info->ordered) {
        e->ticket = take(&e->shared_bytes, 8);
    }
    bool large = e->shared_bytes > STATIC_SHARED;
    e->info->shared_bytes = large ? 0 : e->shared_bytes;
    e->info->dynamic_bytes = large ? e->shared_bytes : 0;
    e->info->local_bytes = e->local_bytes;
}

uint32_t cuda_emit_spare(emit *e, uint32_t bytes) {
    if (bytes > e->spare_bytes) { /* a larger one takes the place of the first */
        e->spare = take(&e->local_bytes, bytes);
        e->spare_bytes = bytes;
        e->info->local_bytes = e->local_bytes;
    }
    return e->spare;
}

void cuda_emit_barrier(emit *e) {
    cuda_line(&e->w, "bar.sync 0");
}

/* All threads together, 16 bytes each, and a barrier behind. */
void cuda_emit_clear_shared(emit *e) {
    if (!e->zeroed_bytes) {
        return;
    }
    uint32_t head = cuda_emit_label(e), behind = cuda_emit_label(e), step = e->info->threads * 16;
    cuda_reg at = cuda_new(&e->w, CUDA_B32), base = cuda_new(&e->w, CUDA_B32);
    cuda_reg zero = cuda_emit_zero(e, CUDA_B32);
    cuda_name place = cuda_reg_name(at), number = cuda_reg_name(zero);
    cuda_line(&e->w, "mov.u32 %s, %s_shared", cuda_reg_name(base).text, e->name);
    cuda_line(&e->w, "mad.lo.u32 %s, %s, 16, %s", place.text, cuda_reg_name(e->thread).text,
              cuda_reg_name(base).text);
    cuda_reg end = cuda_two(&e->w, "add.u32", CUDA_B32, base, cuda_u32(e->zeroed_bytes));
    if (e->zeroed_bytes % step) {
        cuda_emit_branch(e, cuda_two(&e->w, "setp.ge.u32", CUDA_PRED, at, end), true, behind,
                         false);
    }
    cuda_emit_place(e, head);
    cuda_line(&e->w, "st.shared.v4.u32 [%s], {%s, %s, %s, %s}", place.text, number.text,
              number.text, number.text, number.text);
    if (e->zeroed_bytes > step) {
        cuda_line(&e->w, "add.u32 %s, %s, %u", place.text, place.text, step);
        cuda_emit_branch(e, cuda_two(&e->w, "setp.lt.u32", CUDA_PRED, at, end), true, head, false);
    }
    cuda_emit_place(e, behind);
    cuda_emit_barrier(e);
}

/* The workgroups count themselves in; the first of them adds what is missing to iteration the
 * highest bit, for which the others wait. So nobody has to set the word back. */
void cuda_emit_grid_barrier(emit *e) {
    enum { WORD = 16 };
    cuda_writer *w = &e->w;
    uint32_t behind = cuda_emit_label(e), spin = cuda_emit_label(e);
    cuda_name name = cuda_reg_name(cuda_emit_counters(e));
    const char *counters = name.text;
    cuda_emit_barrier(e);
    cuda_emit_branch(e, cuda_two(w, "setp.ne.u32", CUDA_PRED, e->thread, cuda_u32(0)), true, behind,
                     false);
    cuda_reg all = cuda_two(w, "mul.lo.u64", CUDA_B64, e->groups[0], e->groups[1]);
    all = cuda_two(w, "mul.lo.u64", CUDA_B64, all, e->groups[2]);
    cuda_reg count = cuda_one(w, "cvt.u32.u64", CUDA_B32, all);
    cuda_reg rest = cuda_two(w, "sub.u32", CUDA_B32, cuda_u32(0x80000001u), count);
    cuda_reg where = cuda_two(w, "or.b32", CUDA_B32, e->group[0], e->group[1]);
    where = cuda_two(w, "or.b32", CUDA_B32, where, e->group[2]);
    cuda_reg is_first = cuda_two(w, "setp.eq.u32", CUDA_PRED, where, cuda_u32(0));
    cuda_reg add = cuda_choose(w, is_first, rest, cuda_u32(1));
    cuda_reg old = cuda_new(w, CUDA_B32), now = cuda_new(w, CUDA_B32);
    cuda_line(w, "fence.acq_rel.gpu");
    cuda_line(w, "atom.acq_rel.gpu.global.add.u32 %s, [%s+%u], %s", cuda_reg_name(old).text,
              counters, WORD, cuda_reg_name(add).text);
    cuda_emit_place(e, spin);
    cuda_emit_stop_check(e);
    cuda_line(w, "ld.relaxed.gpu.global.u32 %s, [%s+%u]", cuda_reg_name(now).text, counters, WORD);
    cuda_reg turned = cuda_two(w, "xor.b32", CUDA_B32, old, now);
    cuda_emit_branch(e, cuda_two(w, "setp.ge.s32", CUDA_PRED, turned, cuda_u32(0)), true, spin,
                     false);
    cuda_line(w, "fence.acq_rel.gpu");
    cuda_emit_place(e, behind);
    cuda_emit_barrier(e);
    cuda_emit_clear_shared(e);
}

void cuda_emit_uniform_load(emit *e, uint32_t inst) {
    cuda_emit_barrier(e);
    cuda_emit_load(e, inst);
    cuda_emit_barrier(e);
}
