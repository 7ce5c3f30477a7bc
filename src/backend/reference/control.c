#include <string.h>

#include "backend/reference/machine.h"
#include "ir/cases.h"

/* Masks */

static bool any(const uint8_t *mask, uint32_t lanes) {
    return memchr(mask, 1, lanes) != NULL;
}

static void join(uint8_t *into, const uint8_t *mask, uint32_t lanes) {
    for (uint32_t i = 0; i < lanes; i++) {
        into[i] |= mask[i];
    }
}

/* Copies the lanes of a mask. */
static void copy_masked(uint8_t *to, const uint8_t *from, const uint8_t *mask, uint32_t bytes,
                        uint32_t lanes) {
    if (!memchr(mask, 0, lanes)) {
        memmove(to, from, (size_t)bytes * lanes);
        return;
    }
    for (uint32_t i = 0; i < lanes; i++) {
        if (mask[i]) {
            memmove(to + (size_t)i * bytes, from + (size_t)i * bytes, bytes);
        }
    }
}

/* Opening */

static frame *push_frame(machine *m, fiber *f, uint32_t owner, uint32_t end) {
    uint32_t lanes = m->layout.lanes;
    const frame *parent = top_frame(f);
    frame *opened = &f->frames[f->depth];
    *opened = (frame){.owner = owner,
                      .end = end,
                      .loop = parent->loop,
                      .call = parent->call,
                      .mask = f->masks + (size_t)f->depth * 3 * lanes,
                      .other = f->masks + ((size_t)f->depth * 3 + 1) * lanes,
                      .left = f->masks + ((size_t)f->depth * 3 + 2) * lanes};
    f->depth++;
    memset(opened->left, 0, lanes);
    return opened;
}

static void open_if(machine *m, fiber *f, uint32_t at) {
    vyre_block then = vyre_then_block(m->ir, at);
    const uint8_t *condition = value_of(m, f, m->ir->insts[at].a), *mask = top_frame(f)->mask;
    frame *opened = push_frame(m, f, at, then.end);
    for (uint32_t i = 0; i < m->layout.lanes; i++) {
        opened->mask[i] = mask[i] & condition[i];
        opened->other[i] = mask[i] & (condition[i] ^ 1);
    }
    opened->in_then = true;
    f->pc = any(opened->mask, m->layout.lanes) ? then.first : then.end;
}

/* Moves values into a loop's args, all at once: an arg may be what another one becomes. */
static void set_args(machine *m, fiber *f, const uint32_t *values, uint32_t count, uint32_t loop,
                     const uint8_t *mask) {
    uint32_t lanes = m->layout.lanes;
    size_t stride = (size_t)lanes * REGISTER_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bytes = vyre_type_bytes(vyre_operand_type(m->ir, values[i]));
        memcpy(m->copies + i * stride, value_of(m, f, values[i]), (size_t)bytes * lanes);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t arg = vyre_loop_arg(m->ir, loop, i);
        uint32_t bytes = vyre_type_bytes(vyre_operand_type(m->ir, arg));
        copy_masked(value_of(m, f, arg), m->copies + i * stride, mask, bytes, lanes);
    }
}

/* One lane's worth of a value into an arg or result, for the lanes of a mask. */
static void copy_value(machine *m, fiber *f, uint32_t to, uint32_t from, const uint8_t *mask) {
    uint32_t bytes = vyre_type_bytes(vyre_inst_type(&m->ir->insts[to]));
    copy_masked(value_of(m, f, to), value_of(m, f, from), mask, bytes, m->layout.lanes);
}

/* A lane's integer of any type, extended to 64 bits by its own sign rule. */
static uint64_t read_integer(const uint8_t *values, vyre_type type, uint32_t lane) {
    uint32_t bytes = vyre_type_bytes(type), spare = 64 - 8 * bytes;
    uint64_t bits = 0;
    for (uint32_t k = 0; k < bytes; k++) {
        bits |= (uint64_t)values[(size_t)lane * bytes + k] << (8 * k);
    }
    return vyre_lookup_class(type) == VYRE_CLASS_SIGNED
               ? (uint64_t)((int64_t)(bits << spare) >> spare)
               : bits;
}

/* How many turns a range has: ceil((end - first) / step), none if empty or the step is not
 * positive. */
static uint64_t count_iterations(uint64_t first, uint64_t end, uint64_t step, bool is_signed) {
    bool empty =
        is_signed ? (int64_t)first >= (int64_t)end || (int64_t)step <= 0 : first >= end || !step;
    return empty ? 0 : (end - first - 1) / step + 1;
}

static uint64_t *iterations_left(const machine *m, const fiber *f, uint32_t owner) {
    size_t stride = (size_t)m->layout.lanes * REGISTER_BYTES;
    return (void *)(f->registers + m->layout.spare[owner - m->phase->first] * stride);
}

/* Lanes whose range is used up leave a `for` with what they carry; the others stay in `mask`. */
static void leave_used_up(machine *m, fiber *f, frame *loop) {
    vyre_list initial = vyre_loop_initial(m->ir, loop->owner);
    const uint64_t *iterations = iterations_left(m, f, loop->owner);
    uint32_t lanes = m->layout.lanes;
    for (uint32_t i = 0; i < lanes; i++) {
        loop->other[i] = loop->mask[i] & (iterations[i] == 0);
        loop->mask[i] &= iterations[i] != 0;
    }
    if (any(loop->other, lanes)) {
        for (uint32_t k = 0; k < initial.count; k++) {
            copy_value(m, f, vyre_result(m->ir, loop->owner, k),
                       vyre_loop_arg(m->ir, loop->owner, k), loop->other);
        }
        join(loop->left, loop->other, lanes);
        memset(loop->other, 0, lanes);
    }
}

/* Opens a loop with what it carries; its iterations start behind the args. */
static frame *push_loop(machine *m, fiber *f, uint32_t at) {
    const uint8_t *mask = top_frame(f)->mask;
    vyre_list initial = vyre_loop_initial(m->ir, at);
    frame *opened = push_frame(m, f, at, vyre_owner_end(m->ir, at));
    opened->loop = f->depth - 1;
    memcpy(opened->mask, mask, m->layout.lanes);
    memset(opened->other, 0, m->layout.lanes);
    set_args(m, f, initial.items, initial.count, at, mask);
    f->pc = vyre_body_block(m->ir, at).first;
    return opened;
}

static void open_for(machine *m, fiber *f, uint32_t at) {
    vyre_for_range range = vyre_for_range_of(m->ir, at);
    uint32_t lanes = m->layout.lanes;
    vyre_type type = vyre_operand_type(m->ir, range.first);
    bool is_signed = vyre_lookup_class(type) == VYRE_CLASS_SIGNED;
    uint64_t *iterations = iterations_left(m, f, at);
    for (uint32_t i = 0; i < lanes; i++) {
        iterations[i] =
            count_iterations(read_integer(value_of(m, f, range.first), type, i),
                             read_integer(value_of(m, f, range.end), type, i),
                             read_integer(value_of(m, f, range.step), type, i), is_signed);
    }
    copy_value(m, f, vyre_for_counter(at), range.first, top_frame(f)->mask);
    frame *opened = push_loop(m, f, at);
    leave_used_up(m, f, opened);
    if (!any(opened->mask, lanes)) {
        f->pc = opened->end;
    }
}

static void open_inline(machine *m, fiber *f, uint32_t at) {
    const uint8_t *mask = top_frame(f)->mask;
    vyre_block body = vyre_body_block(m->ir, at);
    frame *opened = push_frame(m, f, at, body.end);
    opened->call = f->depth - 1;
    opened->loop = VYRE_NONE;
    memcpy(opened->mask, mask, m->layout.lanes);
    f->pc = body.first;
}

bool control_open(machine *m, fiber *f, uint32_t at) {
    switch (vyre_inst_op(&m->ir->insts[at])) {
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, PICK, JUMP, NONE):
        break;
    case VYRE_OP_IF: open_if(m, f, at); return true;
    case VYRE_OP_FOR: open_for(m, f, at); return true;
    case VYRE_OP_LOOP: push_loop(m, f, at); return true;
    case VYRE_OP_INLINE: open_inline(m, f, at); return true;
    }
    return machine_unknown(m, at);
}

/* Leaving. The lanes that run go where the terminator sends them, and the block is through. */

bool control_leave(machine *m, fiber *f, uint32_t at) {
    const vyre_inst *inst = &m->ir->insts[at];
    vyre_list values = vyre_inst_operands(m->ir, inst);
    frame *top = top_frame(f), *target = top;
    uint32_t lanes = m->layout.lanes;
    switch (vyre_inst_op(inst)) {
    case VYRE_ONE_OF(BREAK, CONTINUE): target = &f->frames[top->loop]; break;
    case VYRE_OP_RETURN: target = &f->frames[top->call == VYRE_NONE ? 0 : top->call]; break;
    case VYRE_ONE_OF(YIELD, UNREACHABLE): break;
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, BLOCK, PICK, NONE):
        return machine_unknown(m, at);
    }
    if (inst->op == VYRE_OP_CONTINUE) {
        set_args(m, f, values.items, values.count, target->owner, top->mask);
        join(target->other, top->mask, lanes);
    } else if (inst->op != VYRE_OP_UNREACHABLE) {
        for (uint32_t k = 0; k < values.count; k++) {
            copy_value(m, f, vyre_result(m->ir, target->owner, k), values.items[k], top->mask);
        }
        join(target->left, top->mask, lanes);
    }
    memset(top->mask, 0, lanes);
    f->pc = top->end;
    return true;
}

/* Closing */

/* Starts the next iteration of a loop for the lanes that want one; false if nobody does. */
static bool next_iteration(machine *m, fiber *f, frame *loop) {
    uint32_t lanes = m->layout.lanes;
    memcpy(loop->mask, loop->other, lanes);
    memset(loop->other, 0, lanes);
    if (m->ir->insts[loop->owner].op == VYRE_OP_FOR) {
        uint64_t *iterations = iterations_left(m, f, loop->owner);
        for (uint32_t i = 0; i < lanes; i++) {
            iterations[i] -= loop->mask[i];
        }
        leave_used_up(m, f, loop);
        uint32_t counter = vyre_for_counter(loop->owner);
        uint32_t step = vyre_for_range_of(m->ir, loop->owner).step;
        vyre_type type = vyre_inst_type(&m->ir->insts[counter]);
        vyre_eval_find(VYRE_OP_ADD, type, type)(m->copies, value_of(m, f, counter),
                                                value_of(m, f, step), NULL, lanes);
        copy_masked(value_of(m, f, counter), m->copies, loop->mask, vyre_type_bytes(type), lanes);
    }
    f->pc = vyre_body_block(m->ir, loop->owner).first;
    return any(loop->mask, lanes);
}

bool control_close(machine *m, fiber *f) {
    frame *top = top_frame(f);
    if (top->in_then) {
        vyre_block other = vyre_else_block(m->ir, top->owner);
        top->in_then = false;
        top->end = other.end;
        memcpy(top->mask, top->other, m->layout.lanes);
        f->pc = any(top->mask, m->layout.lanes) ? other.first : other.end;
        return false;
    }
    if (vyre_op_is_loop(m->ir->insts[top->owner].op) && next_iteration(m, f, top)) {
        return true;
    }
    frame *parent = top - 1;
    memcpy(parent->mask, top->left, m->layout.lanes);
    f->depth--;
    f->pc = any(parent->mask, m->layout.lanes) ? vyre_owner_end(m->ir, top->owner) : parent->end;
    return false;
}
