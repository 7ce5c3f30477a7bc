/* Common subexpressions: what an instruction gives that was computed before, in the same block or
 * one around it, is taken from there.
 *
 * Loads count as well, as long as nothing can have changed the array in between: a write of the
 * invocation itself, a barrier, or an atomic that orders memory. Arrays that the phase never writes
 * do not change. That other invocations write at the same time would be a data race.
 *
 * What is cheap is computed again behind a barrier (VYRE_PASS_CHEAP). */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/vec.h"
#include "ir/lookup.h"
#include "pass/fold.h"
#include "pass/pass.h"
#include "pass/rebuild.h"

/* What an instruction computes; equal ones give equal values. */
typedef struct expression {
    uint16_t op;
    uint8_t type, aux;
    uint32_t operands[3];
    uint32_t version; /* of the memory that it reads, and of time if it is cheap */
} expression;

/* An instruction that holds blocks and is open. */
typedef struct scope {
    uint32_t owner;
    size_t known;   /* how many expressions were known before */
    size_t changes; /* and how many changes of memory there had been */
} scope;

/* A version that memory had before something changed it. */
typedef struct change {
    uint32_t place, version;
} change;

typedef struct search {
    const vyre_ir *ir;
    uint32_t *same;     /* by instruction: the first one that gives the same, itself as a rule */
    uint32_t *versions; /* by place: a resource; behind them, all memory and the time of barriers */
    uint32_t *merged;   /* by place: the version with which a block last left it */
    bool *written;      /* by resource: the phase writes it */
    uint32_t version;   /* the last one given out */
    expression *expressions;  /* by instruction, of those that are known */
    uint32_t *buckets, *next; /* of known expressions, newest first; by hash, by instruction */
    uint32_t bucket_mask;
    VYRE_VEC(uint32_t) known; /* those in the table, oldest first */
    VYRE_VEC(change) changes;
    VYRE_VEC(uint32_t) writes; /* all instructions that change memory */
    bool found, failed;
} search;

/* Memory */

static bool writes_memory(uint32_t effects) {
    return effects & (VYRE_EFFECT_WRITE | VYRE_EFFECT_SYNC | VYRE_EFFECT_ATOMIC);
}

static void renew(search *s, uint32_t place) {
    s->failed |= !vyre_vec_push(&s->changes, (change){place, s->versions[place]});
    s->versions[place] = ++s->version;
}

/* What an instruction that writes or waits does to memory whose versions are not newer than
 * `last`. */
static void change_memory(search *s, const vyre_inst *inst, uint32_t last) {
    uint32_t effects = vyre_inst_effects(inst), all = s->ir->resource_count;
    uint32_t time = all + 1;
    bool orders =
        effects & VYRE_EFFECT_SYNC ||
        (effects & VYRE_EFFECT_ATOMIC && vyre_atomic_ordering(inst) != VYRE_ORDERING_RELAXED);
    if (orders && s->versions[all] <= last) {
        renew(s, all);
    }
    if (effects & VYRE_EFFECT_SYNC && s->versions[time] <= last) {
        renew(s, time);
    }
    if (effects & VYRE_EFFECT_WRITE && s->versions[vyre_access_resource(inst)] <= last) {
        renew(s, vyre_access_resource(inst));
    }
}

/* An iteration of a loop sees what the iterations before it wrote. */
static void enter_loop(search *s, vyre_block loop) {
    size_t low = 0, high = s->writes.count;
    uint32_t last = s->version;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->writes.items[middle] < loop.first) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < s->writes.count && s->writes.items[low] < loop.end; low++) {
        change_memory(s, &s->ir->insts[s->writes.items[low]], last);
    }
}

/* A branch starts with the memory that its `if` found. */
static void restore_memory(search *s, const scope *opened) {
    for (size_t i = s->changes.count; i-- > opened->changes;) {
        s->versions[s->changes.items[i].place] = s->changes.items[i].version;
    }
}

/* Behind a block, all that may have changed in it has changed. Of several changes of one place the
 * first is kept, which knows what was before. */
static void merge_memory(search *s, const scope *closed) {
    size_t kept = closed->changes;
    uint32_t last = s->version;
    for (size_t i = kept; i < s->changes.count; i++) {
        change item = s->changes.items[i];
        if (s->merged[item.place] <= last) {
            s->merged[item.place] = s->versions[item.place] = ++s->version;
            s->changes.items[kept++] = item;
        }
    }
    s->changes.count = kept;
}

/* Loads of private arrays are ordered by the invocation alone. */
static uint32_t version_of(const search *s, uint32_t resource) {
    if (!s->written[resource]) {
        return 0;
    }
    uint32_t own = s->versions[resource], all = s->versions[s->ir->resource_count];
    bool is_private = s->ir->resources[resource].kind == VYRE_RESOURCE_PRIVATE;
    return is_private || own > all ? own : all;
}

/* Expressions */

static uint32_t same_operand(const search *s, uint32_t operand) {
    return vyre_operand_is_constant(operand) ? operand : s->same[operand];
}

/* Operations with several values: their key has the hash of their operands alone. */
static bool same_group(const search *s, const vyre_inst *left, const vyre_inst *right) {
    vyre_list lefts = vyre_inst_operands(s->ir, left), rights = vyre_inst_operands(s->ir, right);
    bool same = lefts.count == rights.count;
    for (uint32_t i = 0; i < lefts.count && same; i++) {
        same = same_operand(s, lefts.items[i]) == same_operand(s, rights.items[i]);
    }
    return same;
}

/* False for what is not computed from operands and memory alone. Lanes of a subgroup exchange
 * values together or not at all, so doing it twice gives the same. */
static bool express(const search *s, uint32_t at, expression *out) {
    const vyre_inst *inst = &s->ir->insts[at];
    const vyre_op_info *info = vyre_lookup_op(inst->op);
    bool is_load = inst->op == VYRE_OP_LOAD;
    if ((!is_load && info->effects & ~(uint32_t)VYRE_EFFECT_SUBGROUP) ||
        info->shape == VYRE_SHAPE_PICK) {
        return false;
    }
    /* An array, a number or nothing stands in front of the values. */
    *out = (expression){.op = inst->op, .type = inst->type, .aux = inst->aux};
    vyre_list values = vyre_inst_operands(s->ir, inst);
    uint32_t list[VYRE_MATRIX_OPERANDS];
    for (uint32_t i = 0; i < values.count; i++) {
        list[i] = same_operand(s, values.items[i]);
    }
    if (info->shape == VYRE_SHAPE_GROUP) {
        out->operands[0] = (uint32_t)vyre_hash_key(list, values.count * sizeof *list);
    } else {
        uint32_t first = info->shape < VYRE_SHAPE_V1 || info->shape > VYRE_SHAPE_V3;
        out->operands[0] = inst->a;
        memcpy(out->operands + first, list, values.count * sizeof *list);
    }
    if (vyre_fold_commutes(vyre_inst_op(inst)) && out->operands[0] > out->operands[1]) {
        uint32_t kept = out->operands[0];
        out->operands[0] = out->operands[1];
        out->operands[1] = kept;
    }
    out->version = is_load ? version_of(s, vyre_access_resource(inst)) : 0;
    uint32_t time = s->versions[s->ir->resource_count + 1];
    if (info->cost <= VYRE_PASS_CHEAP && time > out->version) {
        out->version = time;
    }
    return true;
}

static void look_up(search *s, uint32_t at) {
    expression *key = &s->expressions[at];
    const vyre_inst *inst = &s->ir->insts[at];
    bool is_group = vyre_inst_shape(inst) == VYRE_SHAPE_GROUP;
    if (!express(s, at, key)) {
        return;
    }
    uint32_t bucket = (uint32_t)vyre_hash_key(key, sizeof *key) & s->bucket_mask;
    for (uint32_t i = s->buckets[bucket]; i != VYRE_NONE; i = s->next[i]) {
        if (!memcmp(&s->expressions[i], key, sizeof *key) &&
            (!is_group || same_group(s, inst, &s->ir->insts[i]))) {
            for (uint32_t k = 0; is_group && k < VYRE_MATRIX_C; k++) {
                s->same[vyre_result(s->ir, at, k)] = vyre_result(s->ir, i, k);
            }
            s->same[at] = i;
            s->found = true;
            return;
        }
    }
    s->next[at] = s->buckets[bucket];
    s->buckets[bucket] = at;
    s->failed |= !vyre_vec_push(&s->known, bucket);
}

/* What was computed since is not known any more: in each bucket the newest stand in front. */
static void forget(search *s, size_t known) {
    while (s->known.count > known) {
        uint32_t bucket = s->known.items[--s->known.count];
        s->buckets[bucket] = s->next[s->buckets[bucket]];
    }
}

/* Blocks */

static void walk(search *s, const vyre_phase *phase) {
    const vyre_ir *ir = s->ir;
    scope open[VYRE_LIMIT_NESTING + 1];
    uint32_t depth = 0;
    for (uint32_t at = phase->first; at < phase->end && !s->failed; at++) {
        const vyre_inst *inst = &ir->insts[at];
        uint32_t effects = vyre_inst_effects(inst);
        while (depth && vyre_owner_end(ir, open[depth - 1].owner) == at) {
            forget(s, open[--depth].known);
            merge_memory(s, &open[depth]);
        }
        if (depth && ir->insts[open[depth - 1].owner].op == VYRE_OP_IF &&
            vyre_else_block(ir, open[depth - 1].owner).first == at) {
            forget(s, open[depth - 1].known);
            restore_memory(s, &open[depth - 1]);
        }
        if (effects & VYRE_EFFECT_BLOCK) {
            open[depth++] = (scope){at, s->known.count, s->changes.count};
            if (vyre_op_is_loop(inst->op)) {
                enter_loop(s, vyre_owner_blocks(ir, at));
            }
        } else if (writes_memory(effects)) {
            change_memory(s, inst, s->version);
        } else {
            look_up(s, at);
        }
    }
    forget(s, 0);
    s->changes.count = 0;
}

static bool prepare(search *s, const vyre_ir *ir) {
    size_t buckets = 64;
    while (buckets < ir->inst_count) {
        buckets *= 2;
    }
    s->ir = ir;
    s->bucket_mask = (uint32_t)buckets - 1;
    s->same = vyre_alloc_array(ir->inst_count, sizeof *s->same);
    s->versions = vyre_alloc_zeroed((size_t)ir->resource_count + 2, sizeof *s->versions);
    s->merged = vyre_alloc_zeroed((size_t)ir->resource_count + 2, sizeof *s->merged);
    s->written = vyre_alloc_zeroed(ir->resource_count, sizeof *s->written);
    s->expressions = vyre_alloc_array(ir->inst_count, sizeof *s->expressions);
    s->buckets = vyre_alloc_array(buckets, sizeof *s->buckets);
    s->next = vyre_alloc_array(ir->inst_count, sizeof *s->next);
    if (!s->same || !s->versions || !s->merged || !s->written || !s->expressions || !s->buckets ||
        !s->next) {
        return false;
    }
    memset(s->buckets, 0xff, buckets * sizeof *s->buckets); /* VYRE_NONE */
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        s->same[i] = i;
        if (writes_memory(vyre_inst_effects(&ir->insts[i])) && !vyre_vec_push(&s->writes, i)) {
            return false;
        }
    }
    return true;
}

static void set_written(search *s, size_t write, bool written) {
    const vyre_inst *inst = &s->ir->insts[s->writes.items[write]];
    if (vyre_inst_effects(inst) & VYRE_EFFECT_WRITE) {
        s->written[vyre_access_resource(inst)] = written;
    }
}

static void search_phase(search *s, uint32_t index, size_t *next_write) {
    const vyre_phase *phase = &s->ir->phases[index];
    size_t first = *next_write;
    for (; *next_write < s->writes.count && s->writes.items[*next_write] < phase->end;
         ++*next_write) {
        set_written(s, *next_write, true);
    }
    walk(s, phase);
    for (size_t i = first; i < *next_write; i++) {
        set_written(s, i, false);
    }
}

static bool take_same(vyre_rebuild *r, uint32_t at) {
    const search *s = r->user;
    if (s->same[at] == at) {
        return false;
    }
    r->values[at] = r->values[s->same[at]];
    if (vyre_inst_shape(&s->ir->insts[at]) == VYRE_SHAPE_GROUP) {
        for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
            uint32_t result = vyre_result(s->ir, at, k);
            r->values[result] = r->values[s->same[result]];
        }
    }
    return true;
}

vyre_status vyre_cse(const vyre_program *program, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_status status = VYRE_OK;
    search s = {0};
    size_t next_write = 0;
    *out_program = NULL;
    s.failed = !prepare(&s, ir);
    for (uint32_t i = 0; i < ir->phase_count && !s.failed; i++) {
        search_phase(&s, i, &next_write);
    }
    if (s.failed) {
        status = vyre_no_memory("to optimise `%s`", vyre_program_name(program));
    } else if (s.found) {
        vyre_rebuild hooks = {.replace = take_same, .user = &s};
        status = vyre_rebuild_run(program, hooks, out_program);
    }
    vyre_free(s.same);
    vyre_free(s.versions);
    vyre_free(s.merged);
    vyre_free(s.written);
    vyre_free(s.expressions);
    vyre_free(s.buckets);
    vyre_free(s.next);
    vyre_vec_free(&s.known);
    vyre_vec_free(&s.changes);
    vyre_vec_free(&s.writes);
    return status;
}
