#include <string.h>

#include "backend/reference/machine.h"

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
    const vyre_inst *inst = &m->ir->insts[at];
    const uint8_t *condition = value_of(m, f, inst->a), *mask = top_frame(f)->mask;
    frame *opened = push_frame(m, f, at, inst->b);
    for (uint32_t i = 0; i < m->layout.lanes; i++) {
        opened->mask[i] = mask[i] & condition[i];
        opened->other[i] = mask[i] & (condition[i] ^ 1);
    }
    opened->in_then = true;
    f->pc = any(opened->mask, m->layout.lanes) ? at + 1 : inst->b;
}

/* Moves values into a loop's args, all at once: an arg may be what another one becomes. */
static void set_args(machine *m, fiber *f, const uint32_t *values, uint32_t count, uint32_t first,
                     const uint8_t *mask) {
    uint32_t lanes = m->layout.lanes;
    size_t stride = (size_t)lanes * REGISTER_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bytes = vyre_type_bytes((vyre_type)m->ir->insts[first + i].type);
        memcpy(m->copies + i * stride, value_of(m, f, values[i]), (size_t)bytes * lanes);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bytes = vyre_type_bytes((vyre_type)m->ir->insts[first + i].type);
        copy_masked(value_of(m, f, first + i), m->copies + i * stride, mask, bytes, lanes);
    }
}

/* One lane's worth of a value into an arg or result, for the lanes of a mask. */
static void copy_value(machine *m, fiber *f, uint32_t to, uint32_t from, const uint8_t *mask) {
    uint32_t bytes = vyre_type_bytes((vyre_type)m->ir->insts[to].type);
    copy_masked(value_of(m, f, to), value_of(m, f, from), mask, bytes, m->layout.lanes);
}

/* A lane's integer of any type, extended to 64 bits. */
static uint64_t read_integer(const uint8_t *values, vyre_type type, uint32_t lane) {
    switch (type) {
    case VYRE_TYPE_I8: return (uint64_t)(int64_t)((const int8_t *)values)[lane];
    case VYRE_TYPE_U8: return values[lane];
    case VYRE_TYPE_I16: return (uint64_t)(int64_t)((const int16_t *)(const void *)values)[lane];
    case VYRE_TYPE_U16: return ((const uint16_t *)(const void *)values)[lane];
    case VYRE_TYPE_I32: return (uint64_t)(int64_t)((const int32_t *)(const void *)values)[lane];
    case VYRE_TYPE_U32: return ((const uint32_t *)(const void *)values)[lane];
    default: return ((const uint64_t *)(const void *)values)[lane];
    }
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
    const vyre_inst *inst = &m->ir->insts[loop->owner];
    const uint64_t *iterations = iterations_left(m, f, loop->owner);
    uint32_t lanes = m->layout.lanes;
    for (uint32_t i = 0; i < lanes; i++) {
        loop->other[i] = loop->mask[i] & (iterations[i] == 0);
        loop->mask[i] &= iterations[i] != 0;
    }
    if (any(loop->other, lanes)) {
        for (uint32_t i = 0; i < inst->b - 3; i++) {
            copy_value(m, f, inst->c + i, loop->owner + 2 + i, loop->other);
        }
        join(loop->left, loop->other, lanes);
        memset(loop->other, 0, lanes);
    }
}

static void open_for(machine *m, fiber *f, uint32_t at) {
    const vyre_inst *inst = &m->ir->insts[at];
    const uint32_t *values = m->ir->operands + inst->a;
    uint32_t lanes = m->layout.lanes;
    vyre_type type = vyre_operand_type(m->ir, values[0]);
    bool is_signed = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    uint64_t *iterations = iterations_left(m, f, at);
    for (uint32_t i = 0; i < lanes; i++) {
        iterations[i] =
            count_iterations(read_integer(value_of(m, f, values[0]), type, i),
                             read_integer(value_of(m, f, values[1]), type, i),
                             read_integer(value_of(m, f, values[2]), type, i), is_signed);
    }
    const uint8_t *mask = top_frame(f)->mask;
    frame *opened = push_frame(m, f, at, inst->c);
    opened->loop = f->depth - 1;
    memcpy(opened->mask, mask, lanes);
    memset(opened->other, 0, lanes);
    set_args(m, f, values, 1, at + 1, mask);
    set_args(m, f, values + 3, inst->b - 3, at + 2, mask);
    leave_used_up(m, f, opened);
    f->pc = any(opened->mask, lanes) ? at + inst->b - 1 : inst->c;
}

static void open_loop(machine *m, fiber *f, uint32_t at) {
    const vyre_inst *inst = &m->ir->insts[at];
    const uint8_t *mask = top_frame(f)->mask;
    frame *opened = push_frame(m, f, at, inst->c);
    opened->loop = f->depth - 1;
    memcpy(opened->mask, mask, m->layout.lanes);
    memset(opened->other, 0, m->layout.lanes);
    set_args(m, f, inst->b ? m->ir->operands + inst->a : NULL, inst->b, at + 1, mask);
    f->pc = at + 1 + inst->b;
}

static void open_inline(machine *m, fiber *f, uint32_t at) {
    const uint8_t *mask = top_frame(f)->mask;
    frame *opened = push_frame(m, f, at, m->ir->insts[at].c);
    opened->call = f->depth - 1;
    opened->loop = VYRE_NONE;
    memcpy(opened->mask, mask, m->layout.lanes);
    f->pc = at + 1;
}

void control_open(machine *m, fiber *f, uint32_t at) {
    switch (m->ir->insts[at].op) {
    case VYRE_OP_IF: open_if(m, f, at); break;
    case VYRE_OP_FOR: open_for(m, f, at); break;
    case VYRE_OP_LOOP: open_loop(m, f, at); break;
    default: open_inline(m, f, at); break;
    }
}

/* Leaving. The lanes that run go where the terminator sends them, and the block is through. */

void control_leave(machine *m, fiber *f, uint32_t at) {
    const vyre_inst *inst = &m->ir->insts[at];
    const uint32_t *values = inst->b ? m->ir->operands + inst->a : NULL;
    frame *top = top_frame(f), *target = top;
    uint32_t lanes = m->layout.lanes;
    switch (inst->op) {
    case VYRE_OP_BREAK:
    case VYRE_OP_CONTINUE: target = &f->frames[top->loop]; break;
    case VYRE_OP_RETURN: target = &f->frames[top->call == VYRE_NONE ? 0 : top->call]; break;
    default: break;
    }
    if (inst->op == VYRE_OP_CONTINUE) {
        bool is_for = m->ir->insts[target->owner].op == VYRE_OP_FOR;
        set_args(m, f, values, inst->b, target->owner + 1 + is_for, top->mask);
        join(target->other, top->mask, lanes);
    } else if (inst->op != VYRE_OP_UNREACHABLE) {
        for (uint32_t i = 0; i < inst->b; i++) {
            copy_value(m, f, m->ir->insts[target->owner].c + i, values[i], top->mask);
        }
        join(target->left, top->mask, lanes);
    }
    memset(top->mask, 0, lanes);
    f->pc = top->end;
}

/* Closing */

/* Starts the next iteration of a loop for the lanes that want one; false if nobody does. */
static bool next_iteration(machine *m, fiber *f, frame *loop) {
    const vyre_inst *inst = &m->ir->insts[loop->owner];
    uint32_t lanes = m->layout.lanes, args = inst->b;
    memcpy(loop->mask, loop->other, lanes);
    memset(loop->other, 0, lanes);
    if (inst->op == VYRE_OP_FOR) {
        args -= 2;
        uint64_t *iterations = iterations_left(m, f, loop->owner);
        for (uint32_t i = 0; i < lanes; i++) {
            iterations[i] -= loop->mask[i];
        }
        leave_used_up(m, f, loop);
        uint32_t counter = loop->owner + 1, step = m->ir->operands[inst->a + 2];
        vyre_type type = (vyre_type)m->ir->insts[counter].type;
        vyre_eval_find(VYRE_OP_ADD, type, type)(m->copies, value_of(m, f, counter),
                                                value_of(m, f, step), NULL, lanes);
        copy_masked(value_of(m, f, counter), m->copies, loop->mask, vyre_type_bytes(type), lanes);
    }
    f->pc = loop->owner + 1 + args;
    return any(loop->mask, lanes);
}

bool control_close(machine *m, fiber *f) {
    frame *top = top_frame(f);
    const vyre_inst *inst = &m->ir->insts[top->owner];
    if (top->in_then) {
        top->in_then = false;
        top->end = inst->c;
        memcpy(top->mask, top->other, m->layout.lanes);
        f->pc = any(top->mask, m->layout.lanes) ? inst->b : inst->c;
        return false;
    }
    if ((inst->op == VYRE_OP_LOOP || inst->op == VYRE_OP_FOR) && next_iteration(m, f, top)) {
        return true;
    }
    frame *parent = top - 1;
    memcpy(parent->mask, top->left, m->layout.lanes);
    f->depth--;
    f->pc = any(parent->mask, m->layout.lanes) ? inst->c : parent->end;
    return false;
}
