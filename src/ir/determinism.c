/* Invocations can tell their order only by atomics, data races being errors. A phase is proven
 * deterministic if nobody uses what an atomic returns, and each array is updated by one kind of
 * atomic whose order does not show: add with sub, and, or, xor, min, max, or stores of one
 * constant. */
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "ir/program.h"

enum { UNTOUCHED = 0, LOADED = 1 };

/* Kinds of updates that commute with themselves; each of the others is one of its own. */
static uint16_t update_kind(vyre_op op) {
    switch (op) {
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, MEMORY, BARRIER, SUBGROUP, CONTROL, NONE):
        break;
    case VYRE_OP_ATOMIC_LOAD: return LOADED;
    case VYRE_ONE_OF(ATOMIC_ADD, ATOMIC_SUB): return VYRE_OP_ATOMIC_ADD;
    case VYRE_ONE_OF(ATOMIC_STORE, ATOMIC_EXCHANGE): return VYRE_OP_ATOMIC_STORE;
    case VYRE_ONE_OF(ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR, ATOMIC_MIN, ATOMIC_MAX, ATOMIC_CAS):
        return (uint16_t)op;
    }
    return UNTOUCHED;
}

typedef struct use {
    uint16_t kind;
    uint32_t constant; /* stores: what is stored */
} use;

static bool is_pure(uint32_t op) {
    return !(vyre_lookup_op(op)->effects & ~(uint32_t)VYRE_EFFECT_READ);
}

/* Which values matter: operands of anything with an effect, and of values that matter. */
static void mark_needed(const vyre_ir *ir, uint8_t *needed) {
    memset(needed, 0, ir->inst_count);
    for (uint32_t i = ir->inst_count; i-- > 0;) {
        const vyre_inst *inst = &ir->insts[i];
        if (is_pure(inst->op) && !needed[i]) {
            continue;
        }
        vyre_list values = vyre_inst_operands(ir, inst);
        for (uint32_t k = 0; k < values.count; k++) {
            if (vyre_operand_is_value(values.items[k])) {
                needed[values.items[k]] = 1;
            }
        }
    }
}

static void explain(const vyre_ir *ir, vyre_strbuf *text, uint32_t inst, const char *what) {
    uint32_t line = vyre_ir_line(ir, inst);
    vyre_strbuf_printf(text, "`%s`", vyre_lookup_op(ir->insts[inst].op)->name);
    const char *file = vyre_ir_other_file(ir, inst);
    vyre_strbuf_printf(text, line ? " in line %u " : " at instruction %u ", line ? line : inst);
    if (*file) {
        vyre_strbuf_printf(text, "of %s ", file);
    }
    vyre_strbuf_puts(text, what);
}

/* Looks for the first reason in a phase; leaves `text` empty if there is none. */
static void judge_phase(const vyre_ir *ir, const vyre_phase *phase, const uint8_t *needed,
                        use *uses, vyre_strbuf *text) {
    memset(uses, 0, ir->resource_count * sizeof *uses);
    for (uint32_t i = phase->first; i < phase->end && !text->size && !text->failed; i++) {
        const vyre_inst *inst = &ir->insts[i];
        if (!(vyre_lookup_op(inst->op)->effects & VYRE_EFFECT_ATOMIC)) {
            continue;
        }
        uint16_t kind = update_kind(vyre_inst_op(inst));
        if (kind == VYRE_OP_ATOMIC_CAS) {
            explain(ir, text, i,
                    "succeeds or fails depending on what other invocations did before");
            break;
        }
        if (needed[i] && kind != LOADED) {
            explain(ir, text, i, "returns an old value that may reach an output");
            break;
        }
        if (kind == LOADED && !needed[i]) {
            continue;
        }
        use *found = &uses[vyre_access_resource(inst)];
        uint32_t value = vyre_access_value(ir, inst);
        if (found->kind == UNTOUCHED) {
            *found = (use){kind, value};
        }
        if (found->kind != kind) {
            explain(ir, text, i,
                    "is mixed with another kind of atomic on the same array in the same phase");
        } else if (kind == VYRE_OP_ATOMIC_STORE &&
                   (vyre_operand_is_value(value) || found->constant != value)) {
            explain(ir, text, i, "leaves the value of whichever invocation runs last");
        }
    }
}

bool vyre_determinism_classify(const vyre_ir *ir, vyre_determinism *out_class, char **out_reason) {
    *out_class = VYRE_DETERMINISTIC;
    *out_reason = NULL;
    bool has_atomics = false;
    for (uint32_t i = 0; i < ir->inst_count && !has_atomics; i++) {
        has_atomics = vyre_lookup_op(ir->insts[i].op)->effects & VYRE_EFFECT_ATOMIC;
    }
    if (!has_atomics) {
        return true;
    }
    uint8_t *needed = vyre_alloc_array(ir->inst_count, 1);
    use *uses = vyre_alloc_array(ir->resource_count, sizeof *uses);
    vyre_strbuf text = {0};
    bool done = needed && uses;
    if (done) {
        mark_needed(ir, needed);
        for (uint32_t i = 0; i < ir->phase_count && !text.size; i++) {
            judge_phase(ir, &ir->phases[i], needed, uses, &text);
        }
        done = !text.failed;
    }
    vyre_free(needed);
    vyre_free(uses);
    if (!done || !text.size) {
        vyre_strbuf_free(&text);
        return done;
    }
    *out_class = ir->flags & VYRE_PROGRAM_DETERMINISTIC ? VYRE_CLAIMED : VYRE_SCHEDULE_DEPENDENT;
    *out_reason = text.data;
    return true;
}

const char *vyre_determinism_name(vyre_determinism determinism) {
    switch (determinism) {
    case VYRE_DETERMINISTIC: return "deterministic";
    case VYRE_CLAIMED: return "claimed deterministic";
    case VYRE_SCHEDULE_DEPENDENT: return "schedule-dependent";
    }
    return "unknown";
}
