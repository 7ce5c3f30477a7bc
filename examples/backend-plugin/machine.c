#include "machine.h"

#include <string.h>
#include <time.h>

#include "value.h"

enum { STEPS_A_LOOK = 65536 };

static uint64_t now_ns(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void look_at_the_clock(machine *m) {
    m->steps = STEPS_A_LOOK;
    if (m->end_ns && now_ns() > m->end_ns) {
        m->status = m->host->status_make(VYRE_FAIL_TIMEOUT, "give it more time, or less to do",
                                         "the scalar backend ran into the timeout");
    }
}

static uint64_t operand(const machine *m, uint32_t operand) {
    return operand & VYRE_CONSTANT ? m->ir->consts[operand & ~VYRE_CONSTANT].bits
                                   : m->values[operand];
}

/* Memory */

/* Where an element lies; NULL out of bounds. An index is the number that it is: a negative one is
 * never inside. */
static unsigned char *element(const machine *m, uint32_t resource, uint32_t index) {
    const machine_array *array = &m->arrays[resource];
    vyre_type type = vyre_operand_type(m->ir, index);
    uint64_t number = (uint64_t)value_signed(type, operand(m, index));
    vyre_type element_type = (vyre_type)m->ir->resources[resource].type;
    return number < array->length ? array->data + number * vyre_type_bytes(element_type) : NULL;
}

/* What an atomic writes. Invocations run one after the other, so that nothing more is needed. */
static uint64_t updated(const machine *m, const vyre_inst *inst, uint64_t old) {
    static const vyre_op operations[] = {VYRE_OP_ADD, VYRE_OP_SUB, VYRE_OP_AND, VYRE_OP_OR,
                                         VYRE_OP_XOR, VYRE_OP_MIN, VYRE_OP_MAX};
    vyre_type type = (vyre_type)m->ir->resources[inst->a].type;
    const uint32_t *list = m->ir->operands + inst->b; /* of a cas: index, expected, wanted */
    switch (inst->op) {
    case VYRE_OP_STORE:
    case VYRE_OP_ATOMIC_STORE:
    case VYRE_OP_ATOMIC_EXCHANGE: return operand(m, inst->c);
    case VYRE_OP_LOAD:
    case VYRE_OP_ATOMIC_LOAD: return old;
    case VYRE_OP_ATOMIC_CAS: return old == operand(m, list[1]) ? operand(m, list[2]) : old;
    default:
        return value_compute(operations[inst->op - VYRE_OP_ATOMIC_ADD], type, type, old,
                             operand(m, inst->c), 0);
    }
}

/* Loads, stores and atomics; gives the value before. Memory is little-endian, as is every machine
 * that this example means to run on. */
static uint64_t access(const machine *m, const vyre_inst *inst) {
    bool is_cas = inst->op == VYRE_OP_ATOMIC_CAS;
    unsigned char *at = element(m, inst->a, is_cas ? m->ir->operands[inst->b] : inst->b);
    size_t size = vyre_type_bytes((vyre_type)m->ir->resources[inst->a].type);
    uint64_t old = 0;
    if (at) {
        memcpy(&old, at, size);
        if (inst->op != VYRE_OP_LOAD) {
            uint64_t bits = updated(m, inst, old);
            memcpy(at, &bits, size);
        }
    }
    return old;
}

static void clear(machine *m, uint32_t resource) {
    size_t size = vyre_type_bytes((vyre_type)m->ir->resources[resource].type);
    memset(m->arrays[resource].data, 0, m->arrays[resource].length * size);
}

/* Blocks */

static uint32_t run_block(machine *m, uint32_t at);

/* Copies a list of values to as many instructions, all at once: one may be what another becomes. */
static void move(machine *m, const uint32_t *from, uint32_t count, uint32_t to) {
    for (uint32_t i = 0; i < count; i++) {
        m->carried[i] = operand(m, from[i]);
    }
    memcpy(m->values + to, m->carried, count * sizeof *m->carried);
}

/* Hands what a terminator carries to the results behind a block. */
static uint32_t leave(machine *m, uint32_t terminator, uint32_t results) {
    const vyre_inst *inst = &m->ir->insts[terminator];
    move(m, m->ir->operands + inst->a, inst->b, results);
    return results;
}

/* How many turns `first..end step s` takes; none if it is empty or does not go forward. */
static uint64_t count_turns(const machine *m, const uint32_t *range) {
    vyre_type type = vyre_operand_type(m->ir, range[0]);
    bool has_sign = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    int64_t first = value_signed(type, operand(m, range[0]));
    int64_t end = value_signed(type, operand(m, range[1]));
    int64_t step = value_signed(type, operand(m, range[2]));
    bool is_empty =
        has_sign ? first >= end || step <= 0 : (uint64_t)first >= (uint64_t)end || step == 0;
    return is_empty ? 0 : ((uint64_t)end - (uint64_t)first - 1) / (uint64_t)step + 1;
}

/* Runs a `for` or a `loop`. Both give where to go on in *next, or the terminator that leaves more
 * than the loop. */
static bool run_loop(machine *m, uint32_t at, uint32_t *next) {
    const vyre_inst *inst = &m->ir->insts[at];
    const uint32_t *list = m->ir->operands + inst->a;
    bool counts = inst->op == VYRE_OP_FOR;
    uint32_t head = counts ? 3 : 0, carried = inst->b - head;
    uint32_t counter = at + 1, args = at + 1 + counts, body = args + carried;
    uint64_t turns = counts ? count_turns(m, list) : 1;
    if (counts) {
        m->values[counter] = operand(m, list[0]);
    }
    move(m, list + head, carried, args);
    while (turns) {
        uint32_t end = run_block(m, body);
        const vyre_inst *terminator = &m->ir->insts[end];
        if (m->status || terminator->op == VYRE_OP_RETURN) {
            *next = end;
            return false;
        }
        if (terminator->op == VYRE_OP_BREAK) {
            *next = leave(m, end, inst->c);
            return true;
        }
        move(m, m->ir->operands + terminator->a, terminator->b, args); /* continue */
        if (counts) {
            vyre_type type = (vyre_type)m->ir->insts[counter].type;
            m->values[counter] = value_cut(type, m->values[counter] + operand(m, list[2]));
            turns--;
        }
    }
    /* The range is used up: what is carried leaves the loop. */
    memcpy(m->values + inst->c, m->values + args, carried * sizeof *m->values);
    *next = inst->c;
    return true;
}

/* Runs an instruction that holds blocks. True if the code behind it goes on, at *next; false if
 * *next is a terminator that means a block around it. */
static bool run_nested(machine *m, uint32_t at, uint32_t *next) {
    const vyre_inst *inst = &m->ir->insts[at];
    if (inst->op == VYRE_OP_FOR || inst->op == VYRE_OP_LOOP) {
        return run_loop(m, at, next);
    }
    bool is_call = inst->op == VYRE_OP_INLINE;
    uint32_t end = run_block(m, is_call || operand(m, inst->a) ? at + 1 : inst->b);
    if (m->status || m->ir->insts[end].op != (is_call ? VYRE_OP_RETURN : VYRE_OP_YIELD)) {
        *next = end;
        return false;
    }
    *next = leave(m, end, inst->c);
    return true;
}

/* What an instruction without blocks gives. */
static uint64_t run_plain(machine *m, const vyre_inst *inst) {
    const vyre_op_info *info = vyre_op_info_of(inst->op);
    vyre_type to = (vyre_type)inst->type;
    switch (inst->op) {
    case VYRE_OP_PARAM: return value_cut(to, m->call->arguments[inst->a]);
    case VYRE_OP_GID: return m->gid[inst->a];
    case VYRE_OP_LEN: return m->arrays[inst->a].length;
    case VYRE_OP_CLEAR: clear(m, inst->a); return 0;
    default: break;
    }
    if (info->effects) {
        return access(m, inst);
    }
    uint32_t count = info->shape - VYRE_SHAPE_V1 + 1u;
    vyre_type type = vyre_operand_type(m->ir, inst->a);
    return value_compute((vyre_op)inst->op, type, to, operand(m, inst->a),
                         count > 1 ? operand(m, inst->b) : 0, count > 2 ? operand(m, inst->c) : 0);
}

/* Runs from an instruction to the end of its block; gives the terminator. */
static uint32_t run_block(machine *m, uint32_t at) {
    for (;;) {
        const vyre_inst *inst = &m->ir->insts[at];
        uint32_t effects = vyre_op_info_of(inst->op)->effects;
        if (m->steps-- == 0) {
            look_at_the_clock(m);
        }
        if (m->status || effects & VYRE_EFFECT_END) {
            return at;
        }
        if (effects & VYRE_EFFECT_BLOCK) {
            if (!run_nested(m, at, &at)) {
                return at;
            }
        } else {
            if (inst->op != VYRE_OP_RESULT) { /* set by the block that it left */
                m->values[at] = run_plain(m, inst);
            }
            at++;
        }
    }
}

vyre_status machine_run(machine *m) {
    const uint64_t *domain = m->call->grids[0].domain;
    const vyre_phase *phase = &m->ir->phases[0];
    uint64_t timeout = m->call->config->timeout_ns;
    m->steps = STEPS_A_LOOK;
    m->end_ns = timeout ? now_ns() + timeout : 0;
    m->status = NULL;
    for (uint64_t z = 0; z < domain[2]; z++) {
        for (uint64_t y = 0; y < domain[1]; y++) {
            for (uint64_t x = 0; x < domain[0] && !m->status; x++) {
                m->gid[0] = (uint32_t)x, m->gid[1] = (uint32_t)y, m->gid[2] = (uint32_t)z;
                for (uint32_t i = phase->first_resource; i < phase->end_resource; i++) {
                    clear(m, i); /* private arrays */
                }
                run_block(m, phase->first);
            }
        }
    }
    return m->status;
}
