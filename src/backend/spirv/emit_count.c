/* How many workgroups a phase has whose domain comes from memory: a kernel of one invocation, the
 * same for all phases. What it must know is in memory, a spirv_count. */
#include <stddef.h>

#include "backend/spirv/emit_state.h"

#define FIELD(name) (uint32_t) offsetof(spirv_count, name)

static spv_id smaller(emit *e, spv_id x, spv_id y) {
    spv_id less = spirv_two(&e->b, SPV_ULessThan, SPIRV_BOOL, x, y);
    return spirv_choose(&e->b, SPIRV_U64, less, x, y);
}

static spv_id further(emit *e, spv_id address, uint64_t bytes) {
    return spirv_two(&e->b, SPV_IAdd, SPIRV_U64, address, spirv_u64(&e->b, bytes));
}

/* The bits of an element of 1, 2, 4 or 8 bytes at the upper end of 64. No device has to be able to
 * load bytes. */
static spv_id load_high(emit *e, spv_id address, spv_id bytes) {
    spirv_builder *b = &e->b;
    spv_id three = spirv_u64(b, 3), eight = spirv_u64(b, 8);
    spv_id within = spirv_two(b, SPV_BitwiseAnd, SPIRV_U64, address, three);
    spv_id aligned = spirv_two(b, SPV_ISub, SPIRV_U64, address, within);
    spv_id is_wide = spirv_two(b, SPV_IEqual, SPIRV_BOOL, bytes, eight);
    spv_id second = spirv_choose(b, SPIRV_U64, is_wide, further(e, aligned, 4), aligned);
    spv_id low = spirv_widen(b, spirv_emit_read(e, SPIRV_U32, aligned), false);
    spv_id high = spirv_widen(b, spirv_emit_read(e, SPIRV_U32, second), false);
    high = spirv_two(b, SPV_ShiftLeftLogical, SPIRV_U64, high, spirv_u64(b, 32));
    spv_id all = spirv_two(b, SPV_BitwiseOr, SPIRV_U64, low, high);
    spv_id down = spirv_two(b, SPV_IMul, SPIRV_U64, within, eight);
    spv_id free = spirv_two(b, SPV_ISub, SPIRV_U64, eight, bytes);
    spv_id up = spirv_two(b, SPV_IMul, SPIRV_U64, free, eight);
    all = spirv_two(b, SPV_ShiftRightLogical, SPIRV_U64, all, down);
    return spirv_two(b, SPV_ShiftLeftLogical, SPIRV_U64, all, up);
}

/* The domain in a dimension, at most `most`. */
static spv_id count_side(emit *e, uint32_t d, spv_id most) {
    spirv_builder *b = &e->b;
    spv_id number = spirv_u64(b, d), zero = spirv_u64(b, 0), one = spirv_u64(b, 1);
    spv_id bytes = spirv_emit_frame(e, SPIRV_U64, FIELD(bytes));
    spv_id exists = spirv_two(b, SPV_ULessThan, SPIRV_BOOL, number,
                              spirv_emit_frame(e, SPIRV_U64, FIELD(present)));
    spv_id address = spirv_two(b, SPV_IAdd, SPIRV_U64, spirv_emit_frame(e, SPIRV_U64, FIELD(from)),
                               spirv_two(b, SPV_IMul, SPIRV_U64, bytes, number));
    spv_id high = load_high(e, spirv_choose(b, SPIRV_U64, exists, address, e->frame), bytes);
    spv_id negative = spirv_two(b, SPV_SLessThan, SPIRV_BOOL, high, zero);
    spv_id has_sign = spirv_two(b, SPV_INotEqual, SPIRV_BOOL,
                                spirv_emit_frame(e, SPIRV_U64, FIELD(is_signed)), zero);
    negative = spirv_two(b, SPV_LogicalAnd, SPIRV_BOOL, negative, has_sign);
    spv_id free = spirv_two(b, SPV_ISub, SPIRV_U64, spirv_u64(b, 8), bytes);
    spv_id down = spirv_two(b, SPV_IMul, SPIRV_U64, free, spirv_u64(b, 8));
    spv_id count = spirv_two(b, SPV_ShiftRightLogical, SPIRV_U64, high, down);
    count = spirv_choose(b, SPIRV_U64, negative, zero, count);
    count = spirv_choose(b, SPIRV_U64, exists, count, zero);
    spv_id is_side = spirv_two(b, SPV_ULessThan, SPIRV_BOOL, number,
                               spirv_emit_frame(e, SPIRV_U64, FIELD(dimensions)));
    return smaller(e, spirv_choose(b, SPIRV_U64, is_side, count, one), most);
}

void spirv_emit_counting(emit *e) {
    spirv_builder *b = &e->b;
    spv_id field = spirv_emit_frame(e, SPIRV_U64, FIELD(field)), groups[3];
    spv_id all = spirv_u64(b, 1);
    for (uint32_t d = 0; d < 3; d++) {
        uint32_t offset = d * (uint32_t)sizeof(uint64_t);
        spv_id tile = spirv_emit_frame(e, SPIRV_U64, FIELD(tile) + offset);
        spv_id place = further(e, field, offset);
        spv_id domain = count_side(e, d, spirv_emit_read(e, SPIRV_U64, place));
        spv_id more = spirv_two(b, SPV_ISub, SPIRV_U64, tile, spirv_u64(b, 1));
        more = spirv_two(b, SPV_IAdd, SPIRV_U64, domain, more);
        groups[d] = spirv_two(b, SPV_UDiv, SPIRV_U64, more, tile);
        all = spirv_two(b, SPV_IMul, SPIRV_U64, all, groups[d]);
        spirv_emit_write(e, SPIRV_U64, place, domain);
        spirv_emit_write(e, SPIRV_U64, further(e, place, 3 * sizeof(uint64_t)), groups[d]);
    }
    spv_id ordered = spirv_two(b, SPV_INotEqual, SPIRV_BOOL,
                               spirv_emit_frame(e, SPIRV_U64, FIELD(ordered)), spirv_u64(b, 0));
    groups[0] = spirv_choose(b, SPIRV_U64, ordered, all, groups[0]);
    spv_id room = spirv_emit_frame(e, SPIRV_U64, FIELD(room));
    for (uint32_t d = 0; d < 3; d++) {
        spv_id most = spirv_emit_frame(e, SPIRV_U64, FIELD(most) + d * (uint32_t)sizeof(uint64_t));
        spv_id size = smaller(e, smaller(e, groups[d], most), room);
        spv_id is_empty = spirv_two(b, SPV_IEqual, SPIRV_BOOL, size, spirv_u64(b, 0));
        spv_id by = spirv_choose(b, SPIRV_U64, is_empty, spirv_u64(b, 1), size);
        room = spirv_two(b, SPV_UDiv, SPIRV_U64, room, by);
        spirv_emit_write(e, SPIRV_U32,
                         further(e, e->frame, FIELD(grid) + d * (uint32_t)sizeof(uint32_t)),
                         spirv_one(b, SPV_UConvert, SPIRV_U32, size));
    }
}
