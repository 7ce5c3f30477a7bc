#include "pass/message.h"

#include <stdio.h>
#include <string.h>

#include "ir/message.h"
#include "pass/rebuild.h"

static bool drop(vyre_rebuild *r, uint32_t at) {
    return vyre_op_is_message(r->ir->insts[at].op);
}

vyre_status vyre_messages_drop(const vyre_program *program, vyre_program **out_program) {
    *out_program = NULL;
    vyre_rebuild hooks = {.replace = drop};
    return vyre_messages_of(vyre_program_ir(program))
               ? vyre_rebuild_run(program, hooks, out_program)
               : VYRE_OK;
}

/* Layout */

enum {
    POSITION_WORDS = 4, /* gid.z, gid.y, gid.x, messages before */
    MOST_KEY_WORDS = 2 * VYRE_LIMIT_REPEATS + 1 + POSITION_WORDS
};
_Static_assert(VYRE_LOG_LIMIT + MOST_KEY_WORDS <= VYRE_LOG_WORDS, "a key fits into a head");

/* The repeats around a step, outermost first. */
static uint32_t find_repeats(const vyre_ir *ir, uint32_t step,
                             uint32_t repeats[VYRE_LIMIT_REPEATS]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < step; i++) {
        if (vyre_step_is_repeat(&ir->steps[i]) && ir->steps[i].end > step) {
            repeats[count++] = i;
        }
    }
    return count;
}

static uint32_t value_words(const vyre_ir *ir, const vyre_inst *inst) {
    vyre_list values = vyre_inst_operands(ir, inst);
    uint32_t words = 0;
    for (uint32_t i = vyre_message_head(inst->op); i < values.count; i++) {
        words += vyre_type_bytes(vyre_operand_type(ir, values.items[i])) == 8 ? 2 : 1;
    }
    return words;
}

vyre_record_layout vyre_messages_layout(const vyre_ir *ir) {
    uint32_t deepest = 0, most = 0, repeats[VYRE_LIMIT_REPEATS];
    for (uint32_t i = 0; i < ir->step_count; i++) {
        uint32_t depth = ir->steps[i].kind == VYRE_STEP_PHASE ? find_repeats(ir, i, repeats) : 0;
        deepest = depth > deepest ? depth : deepest;
    }
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        uint32_t words = vyre_op_is_message(ir->insts[i].op) ? value_words(ir, &ir->insts[i]) : 0;
        most = words > most ? words : most;
    }
    uint32_t key_words = 2 * deepest + 1 + POSITION_WORDS;
    return (vyre_record_layout){.key_words = key_words, .words = key_words + 1 + most};
}

/* Recording */

typedef struct recorder {
    uint32_t kinds;
    vyre_record_layout layout;
    uint32_t buffer;
    uint32_t next_step; /* whose phase comes next */
    uint32_t step;      /* whose phase is being copied */
    uint32_t sequence;  /* variable: messages of the invocation so far */
} recorder;

static uint32_t word(vyre_rebuild *r, uint32_t number) {
    return vyre_build_u32(r->to, number);
}

static uint32_t op2(vyre_rebuild *r, vyre_op op, uint32_t a, uint32_t b) {
    return vyre_build_op(r->to, op, a, b, VYRE_NONE);
}

static uint32_t load_word(vyre_rebuild *r, uint32_t at) {
    const recorder *s = r->user;
    return vyre_build_load(r->to, s->buffer, word(r, at));
}

static uint32_t count_up(vyre_rebuild *r, uint32_t at) {
    const recorder *s = r->user;
    return vyre_build_atomic(r->to, VYRE_OP_ATOMIC_ADD, s->buffer, word(r, at), word(r, 1),
                             VYRE_NONE, VYRE_ORDERING_RELAXED, VYRE_SCOPE_DEVICE);
}

/* The key of the next message of the invocation, which is counted. */
static void make_key(vyre_rebuild *r, uint32_t key[MOST_KEY_WORDS]) {
    const recorder *s = r->user;
    uint32_t repeats[VYRE_LIMIT_REPEATS], at = 0, depth = find_repeats(r->ir, s->step, repeats);
    for (uint32_t i = 0; i < depth; i++) {
        key[at++] = word(r, repeats[i]);
        key[at++] = vyre_build_iteration(r->to, r->repeats[repeats[i]]);
    }
    key[at++] = word(r, s->step);
    while (at < s->layout.key_words - POSITION_WORDS) {
        key[at++] = word(r, 0);
    }
    uint32_t dimensions = r->ir->phases[r->ir->steps[s->step].size].dimensions;
    for (uint32_t i = 3; i-- > 0;) {
        key[at++] = i < dimensions ? vyre_build_position(r->to, VYRE_OP_GID, i) : word(r, 0);
    }
    key[at] = vyre_build_get(r->to, s->sequence);
    vyre_build_set(r->to, s->sequence, op2(r, VYRE_OP_ADD, key[at], word(r, 1)));
}

/* Whether a key is at most the limit of a log. */
static uint32_t is_within(vyre_rebuild *r, uint32_t log, const uint32_t *key) {
    const recorder *s = r->user;
    uint32_t result = vyre_build_bool(r->to, true);
    for (uint32_t i = s->layout.key_words; i-- > 0;) {
        uint32_t limit = load_word(r, log + VYRE_LOG_LIMIT + i);
        uint32_t less = op2(r, VYRE_OP_LT, key[i], limit);
        uint32_t equal = op2(r, VYRE_OP_EQ, key[i], limit);
        result = op2(r, VYRE_OP_OR, less, op2(r, VYRE_OP_AND, equal, result));
    }
    return result;
}

typedef struct target {
    uint32_t first, next; /* word of the record, and which of its words comes next */
} target;

static void put(vyre_rebuild *r, target *to, uint32_t value) {
    const recorder *s = r->user;
    vyre_build_store(r->to, s->buffer, op2(r, VYRE_OP_ADD, to->first, word(r, to->next++)), value);
}

/* The bits of a value, as one word or two. */
static void put_value(vyre_rebuild *r, target *to, vyre_type type, uint32_t value) {
    vyre_type_class kind = vyre_lookup_class(type);
    uint32_t bytes = vyre_type_bytes(type);
    vyre_type bits = bytes == 8 ? VYRE_TYPE_U64 : bytes == 4 ? VYRE_TYPE_U32 : VYRE_TYPE_U16;
    if (kind == VYRE_CLASS_SIGNED && bytes < 4) {
        value = vyre_build_convert(r->to, VYRE_TYPE_I32, value);
        bits = VYRE_TYPE_U32;
    }
    if (kind == VYRE_CLASS_FLOAT || kind == VYRE_CLASS_SIGNED) {
        value = vyre_build_bitcast(r->to, bits, value);
    }
    if (bytes < 8) {
        put(r, to, vyre_build_convert(r->to, VYRE_TYPE_U32, value));
        return;
    }
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t part = op2(r, VYRE_OP_SHR, value, word(r, 32 * half));
        part = op2(r, VYRE_OP_AND, part, vyre_build_const(r->to, VYRE_TYPE_U64, UINT32_MAX));
        put(r, to, vyre_build_convert(r->to, VYRE_TYPE_U32, part));
    }
}

static void put_record(vyre_rebuild *r, uint32_t log, uint32_t slot, uint32_t at,
                       const uint32_t *key) {
    const recorder *s = r->user;
    const vyre_inst *inst = &r->ir->insts[at];
    vyre_list values = vyre_inst_operands(r->ir, inst);
    uint32_t offset = op2(r, VYRE_OP_MUL, slot, word(r, s->layout.words));
    target to = {.first = op2(r, VYRE_OP_ADD, load_word(r, log + VYRE_LOG_FIRST), offset)};
    for (uint32_t i = 0; i < s->layout.key_words; i++) {
        put(r, &to, key[i]);
    }
    put(r, &to, word(r, at));
    for (uint32_t i = vyre_message_head(inst->op); i < values.count; i++) {
        put_value(r, &to, vyre_operand_type(r->ir, values.items[i]),
                  vyre_rebuild_operand(r, values.items[i]));
    }
}

/* Appends a record while there is room. The count does not go on for ever, so that it cannot come
 * back to 0. */
static void append(vyre_rebuild *r, uint32_t log, uint32_t at, const uint32_t *key) {
    const recorder *s = r->user;
    uint32_t capacity = load_word(r, log + VYRE_LOG_CAPACITY);
    uint32_t count =
        vyre_build_atomic(r->to, VYRE_OP_ATOMIC_LOAD, s->buffer, word(r, log + VYRE_LOG_COUNT),
                          VYRE_NONE, VYRE_NONE, VYRE_ORDERING_RELAXED, VYRE_SCOPE_DEVICE);
    vyre_build_if(r->to, op2(r, VYRE_OP_LE, count, capacity));
    uint32_t slot = count_up(r, log + VYRE_LOG_COUNT);
    vyre_build_if(r->to, op2(r, VYRE_OP_LT, slot, capacity));
    put_record(r, log, slot, at, key);
    vyre_build_if_end(r->to, 0, NULL);
    vyre_build_if_end(r->to, 0, NULL);
}

static void record(vyre_rebuild *r, uint32_t log, uint32_t at) {
    uint32_t key[MOST_KEY_WORDS];
    make_key(r, key);
    uint32_t total = count_up(r, log + VYRE_LOG_TOTAL);
    vyre_build_if(r->to, op2(r, VYRE_OP_EQ, total, word(r, UINT32_MAX)));
    count_up(r, log + VYRE_LOG_TOTAL_HIGH);
    vyre_build_if_end(r->to, 0, NULL);
    vyre_build_if(r->to, is_within(r, log, key));
    append(r, log, at, key);
    vyre_build_if_end(r->to, 0, NULL);
}

/* At the start of a phase. */
static void enter_phase(vyre_rebuild *r, uint32_t at) {
    recorder *s = r->user;
    const vyre_ir *ir = r->ir;
    while (s->next_step < ir->step_count && ir->steps[s->next_step].kind != VYRE_STEP_PHASE) {
        s->next_step++;
    }
    if (s->next_step < ir->step_count && ir->phases[ir->steps[s->next_step].size].first == at) {
        s->step = s->next_step++;
        s->sequence = vyre_build_var(r->to, NULL, word(r, 0));
    }
}

static bool replace(vyre_rebuild *r, uint32_t at) {
    const recorder *s = r->user;
    const vyre_inst *inst = &r->ir->insts[at];
    enter_phase(r, at);
    if (!vyre_op_is_message(inst->op)) {
        return false;
    }
    if (!(s->kinds & vyre_message_kind(inst->op))) {
        return true;
    }
    if (inst->op == VYRE_OP_PRINT) {
        record(r, 0, at);
        return true;
    }
    uint32_t condition = vyre_rebuild_operand(r, vyre_inst_operands(r->ir, inst).items[0]);
    vyre_build_if(r->to, vyre_build_op(r->to, VYRE_OP_NOT, condition, VYRE_NONE, VYRE_NONE));
    record(r, VYRE_LOG_WORDS, at);
    vyre_build_if_end(r->to, 0, NULL);
    return true;
}

static bool replace_block(vyre_rebuild *r, uint32_t at) {
    enter_phase(r, at);
    return false;
}

/* The buffer, with a name that no argument has. */
static void declare(vyre_rebuild *r) {
    recorder *s = r->user;
    char name[VYRE_LIMIT_NAME_BYTES] = "messages";
    size_t size = strlen(name);
    for (uint32_t i = 0; i < r->ir->arg_count; i++) {
        if (!strcmp(r->ir->strings + r->ir->args[i].name, name)) {
            snprintf(name + size, sizeof name - size, "%u", i);
            i = VYRE_NONE; /* from the first again */
        }
    }
    s->buffer = vyre_build_buffer(r->to, name, VYRE_ACCESS_INOUT, VYRE_TYPE_U32, VYRE_NONE);
}

vyre_status vyre_messages_record(const vyre_program *program, uint32_t kinds,
                                 vyre_program **out_program) {
    recorder s = {.kinds = kinds, .layout = vyre_messages_layout(vyre_program_ir(program))};
    vyre_rebuild hooks = {
        .replace = replace, .replace_block = replace_block, .declare = declare, .user = &s};
    return vyre_rebuild_run(program, hooks, out_program);
}
