/* Subgroups: lanes of a warp of NVIDIA's, or of a part of one, exchange words by its own
 * instructions, as PTX in the code. Phases of other widths do not come here, and neither do
 * reductions and scans of floats (pass/subgroup.h). */
#include <stdio.h>

#include "backend/opencl/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/eval.h"
#include "ir/lookup.h"

enum { WARP = OPENCL_WARP, HAS_REDUX = 80, HAS_MMA = 80 /* compute capabilities */ };

typedef struct expression {
    char text[160];
} expression;

static opencl_name lane_of(const emit *e) {
    opencl_name lane;
    snprintf(lane.text, sizeof lane.text, "(l & %uu)", e->phase->subgroup - 1);
    return lane;
}

/* A name beside that of an instruction's value. */
static opencl_name name_of(const char *prefix, uint32_t inst) {
    opencl_name name;
    snprintf(name.text, sizeof name.text, "%s%u", prefix, inst);
    return name;
}

opencl_name opencl_members(const emit *e, uint32_t inst) {
    uint32_t width = e->phase->subgroup, threads = e->info->threads;
    bool together = opencl_is_together(&e->facts, inst);
    opencl_name name;
    if (width == WARP || (together && threads % WARP == 0)) {
        snprintf(name.text, sizeof name.text, "0xffffffffu");
    } else if (together && threads < WARP) {
        snprintf(name.text, sizeof name.text, "0x%xu", ((uint32_t)1 << threads) - 1);
    } else { /* others of the warp may be elsewhere */
        snprintf(name.text, sizeof name.text, "0x%xu << (l & %uu)", ((uint32_t)1 << width) - 1,
                 WARP - width);
    }
    return name;
}

/* Declares a variable with the value of a lane of the subgroup, which exists. */
static void fetch(emit *e, uint32_t inst, vyre_type type, const char *name, const char *value,
                  const char *lane) {
    bool is_wide = vyre_type_bytes(type) == 8;
    bool is_real = type == VYRE_TYPE_F32 || type == VYRE_TYPE_F64;
    const char *bits = is_wide ? "ulong" : "uint";
    e->functions |= OPENCL_FUNCTION(OPENCL_SHUFFLE_32);
    e->functions |= is_wide ? OPENCL_FUNCTION(OPENCL_SHUFFLE_64) : 0;
    opencl_begin(e);
    vyre_strbuf_printf(&e->code, "const %s %s = ", opencl_type(type), name);
    if (is_real) {
        vyre_strbuf_printf(&e->code, "as_%s(vyre_shuffle_%u(as_%s(%s), ", opencl_type(type),
                           is_wide ? 64u : 32u, bits, value);
    } else {
        vyre_strbuf_printf(&e->code, "(%s)vyre_shuffle_%u((%s)%s, ", opencl_type(type),
                           is_wide ? 64u : 32u, bits, value);
    }
    if (e->phase->subgroup < WARP) {
        vyre_strbuf_printf(&e->code, "(l & %uu) + (%s)", WARP - e->phase->subgroup, lane);
    } else {
        vyre_strbuf_puts(&e->code, lane);
    }
    vyre_strbuf_printf(&e->code, ", %s)%s;\n", opencl_members(e, inst).text, is_real ? ")" : "");
}

/* The same for any number, of which it takes the bits that name a lane. */
static void fetch_inside(emit *e, uint32_t inst, vyre_type type, const char *name,
                         const char *value, const char *lane) {
    char inside[192];
    snprintf(inside, sizeof inside, "(%s) & %uu", lane, e->phase->subgroup - 1);
    fetch(e, inst, type, name, value, inside);
}

/* A lane that each names for itself; one that does not exist gives 0. All fetch before anybody
 * chooses: nobody may leave the others alone. */
static void write_shuffle(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = vyre_inst_type(i);
    uint32_t width = e->phase->subgroup;
    opencl_name value = opencl_operand(e, i->a), by = opencl_operand(e, i->b);
    opencl_name own = opencl_value(inst), lane = lane_of(e), got = name_of("got", inst);
    bool is_far = i->op == VYRE_OP_SHUFFLE_UP || i->op == VYRE_OP_SHUFFLE_DOWN;
    expression from, exists;
    if (i->op == VYRE_OP_SHUFFLE_UP) {
        snprintf(from.text, sizeof from.text, "%s - %s", lane.text, by.text);
        snprintf(exists.text, sizeof exists.text, "%s <= %s", by.text, lane.text);
    } else if (i->op == VYRE_OP_SHUFFLE_DOWN) {
        snprintf(from.text, sizeof from.text, "%s + %s", lane.text, by.text);
        snprintf(exists.text, sizeof exists.text, "%s < %uu - %s", by.text, width, lane.text);
    } else {
        bool is_xor = i->op == VYRE_OP_SHUFFLE_XOR;
        snprintf(from.text, sizeof from.text, "%s%s%s", is_xor ? lane.text : "",
                 is_xor ? " ^ " : "", by.text);
        snprintf(exists.text, sizeof exists.text, "%s < %uu", by.text, width);
    }
    if (!is_far && vyre_range_operand(&e->facts.ranges, e->ir, i->b).max < width) {
        fetch(e, inst, type, own.text, value.text, from.text);
        return;
    }
    fetch_inside(e, inst, type, got.text, value.text, from.text);
    opencl_line(e, "const %s %s = %s ? %s : %s;", opencl_type(type), own.text, exists.text,
                got.text, opencl_constant(type, 0).text);
}

static void write_combined(emit *e, uint32_t inst, vyre_type type, const char *a, const char *b) {
    if (!opencl_write_op(&e->code, vyre_eval_combining(e->ir->insts[inst].aux), type, type, a, b,
                         NULL)) {
        opencl_emit_unknown(e, inst);
    }
    vyre_strbuf_puts(&e->code, ";\n");
}

/* Whether one instruction reduces a warp's values: their order does not matter. */
static bool has_redux(const emit *e, const vyre_inst *i) {
    vyre_type type = vyre_inst_type(i);
    return e->target->sm >= HAS_REDUX && e->phase->subgroup == WARP && i->aux != VYRE_COMBINE_MUL &&
           vyre_type_bytes(type) == 4;
}

static void write_redux(emit *e, uint32_t inst) {
    static const char *const names[] = {
        [VYRE_COMBINE_ADD] = "add.u32", [VYRE_COMBINE_MIN] = "min.u32",
        [VYRE_COMBINE_MAX] = "max.u32", [VYRE_COMBINE_AND] = "and.b32",
        [VYRE_COMBINE_OR] = "or.b32",   [VYRE_COMBINE_XOR] = "xor.b32",
    };
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = vyre_inst_type(i);
    const char *name = names[i->aux];
    if (opencl_is_signed(type) && i->aux == VYRE_COMBINE_MIN) {
        name = "min.s32";
    } else if (opencl_is_signed(type) && i->aux == VYRE_COMBINE_MAX) {
        name = "max.s32";
    }
    opencl_line(e, "%s %s;", opencl_type(type), opencl_value(inst).text);
    opencl_line(e,
                "asm volatile(\"redux.sync.%s %%0, %%1, 0xffffffff;\" : \"=r\"(%s) : \"r\"(%s));",
                name, opencl_value(inst).text, opencl_operand(e, i->a).text);
}

static void write_reduction(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = vyre_inst_type(i);
    opencl_name own = opencl_value(inst);
    if (has_redux(e, i)) {
        write_redux(e, inst);
        return;
    }
    expression from;
    snprintf(from.text, sizeof from.text, "%s ^ d", lane_of(e).text);
    opencl_line(e, "%s %s = %s;", opencl_type(type), own.text, opencl_operand(e, i->a).text);
    opencl_line(e, "for (uint d = %uu; d; d /= 2) {", e->phase->subgroup / 2);
    e->indent++;
    fetch(e, inst, type, "got", own.text, from.text);
    opencl_begin(e);
    vyre_strbuf_printf(&e->code, "%s = ", own.text);
    write_combined(e, inst, type, own.text, "got");
    e->indent--;
    opencl_line(e, "}");
}

/* A lane that has none below it at a distance keeps its value. */
static void write_scan(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    vyre_type type = vyre_inst_type(i);
    const char *name = opencl_type(type);
    bool is_exclusive = i->op == VYRE_OP_SCAN_EXCLUSIVE;
    opencl_name own = opencl_value(inst), lane = lane_of(e), got = name_of("got", inst);
    opencl_name upto = is_exclusive ? name_of("upto", inst) : own;
    expression from;
    opencl_line(e, "%s %s = %s;", name, upto.text, opencl_operand(e, i->a).text);
    opencl_line(e, "for (uint d = 1; d < %uu; d *= 2) {", e->phase->subgroup);
    e->indent++;
    snprintf(from.text, sizeof from.text, "%s - d", lane.text);
    fetch_inside(e, inst, type, "got", upto.text, from.text);
    opencl_begin(e);
    vyre_strbuf_printf(&e->code, "const %s both = ", name);
    write_combined(e, inst, type, "got", upto.text);
    opencl_line(e, "%s = %s >= d ? both : %s;", upto.text, lane.text, upto.text);
    e->indent--;
    opencl_line(e, "}");
    if (is_exclusive) {
        snprintf(from.text, sizeof from.text, "%s - 1u", lane.text);
        fetch_inside(e, inst, type, got.text, upto.text, from.text);
        opencl_line(e, "const %s %s = %s ? %s : %s;", name, own.text, lane.text, got.text,
                    opencl_constant(type, vyre_eval_identity(i->aux, type)).text);
    }
}

/* A bit for each lane of the subgroup. */
static expression ballot(emit *e, uint32_t inst) {
    uint32_t width = e->phase->subgroup;
    opencl_name members = opencl_members(e, inst);
    opencl_name condition = opencl_operand(e, e->ir->insts[inst].a);
    expression text;
    e->functions |= OPENCL_FUNCTION(OPENCL_BALLOT);
    if (width == WARP) {
        snprintf(text.text, sizeof text.text, "vyre_ballot(%s, %s)", condition.text, members.text);
    } else {
        snprintf(text.text, sizeof text.text, "(vyre_ballot(%s, %s) >> (l & %uu) & 0x%xu)",
                 condition.text, members.text, WARP - width, ((uint32_t)1 << width) - 1);
    }
    return text;
}

static void write_vote(emit *e, uint32_t inst) {
    uint32_t op = e->ir->insts[inst].op;
    expression bits = ballot(e, inst);
    opencl_name own = opencl_value(inst);
    if (op == VYRE_OP_BALLOT) {
        opencl_line(e, "const uint %s = %s;", own.text, bits.text);
    } else if (op == VYRE_OP_ANY) {
        opencl_line(e, "const bool %s = %s != 0;", own.text, bits.text);
    } else {
        opencl_line(e, "const bool %s = %s == 0x%xu;", own.text, bits.text,
                    UINT32_MAX >> (WARP - e->phase->subgroup));
    }
}

/* Products of matrices, whose elements docs/semantics.md spreads over the lanes as the instruction
 * does. */

static void multiply_whole(emit *e, const vyre_list *values, uint32_t first) {
    opencl_line(e, "asm volatile(\"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%%0, %%1, %%2, "
                   "%%3}, {%%4, %%5, %%6, %%7}, {%%8, %%9}, {%%10, %%11, %%12, %%13};\"");
    opencl_begin(e);
    for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
        vyre_strbuf_printf(&e->code, "%s\"=r\"(%s)", k ? ", " : "    : ",
                           opencl_value(first + k).text);
    }
    for (uint32_t k = 0; k < VYRE_MATRIX_OPERANDS; k++) {
        vyre_strbuf_printf(&e->code, "%s\"r\"(%s)", k ? ", " : " : ",
                           opencl_operand(e, values->items[k]).text);
    }
    vyre_strbuf_puts(&e->code, ");\n");
}

/* Where there is no such instruction: each lane fetches the words of its rows and columns. */
static void multiply_words(emit *e, uint32_t inst, const vyre_list *values, uint32_t first) {
    const uint32_t *a = values->items, *b = a + VYRE_MATRIX_A, *c = b + VYRE_MATRIX_B;
    e->functions |= OPENCL_FUNCTION(OPENCL_DOT);
    for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
        opencl_line(e, "%s = %s;", opencl_value(first + k).text, opencl_operand(e, c[k]).text);
    }
    for (uint32_t step = 0; step < 8; step++) {
        uint32_t far = step / 4, t = step % 4;
        opencl_line(e, "{");
        e->indent++;
        for (uint32_t k = 0; k < 2; k++) {
            static const char *const columns[] = {"left", "right"}, *const rows[] = {"up", "low"};
            expression from;
            snprintf(from.text, sizeof from.text, "(l & 3u) * 8 + %u", 4 * k + t);
            fetch(e, inst, VYRE_TYPE_U32, columns[k], opencl_operand(e, b[far]).text, from.text);
            snprintf(from.text, sizeof from.text, "(l & 28u) + %u", t);
            fetch(e, inst, VYRE_TYPE_U32, rows[k], opencl_operand(e, a[2 * far + k]).text,
                  from.text);
        }
        for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
            opencl_name sum = opencl_value(first + k);
            opencl_line(e, "%s = vyre_dot(%s, %s, %s);", sum.text, k < 2 ? "up" : "low",
                        k % 2 ? "right" : "left", sum.text);
        }
        e->indent--;
        opencl_line(e, "}");
    }
}

static void write_product(emit *e, uint32_t inst) {
    vyre_list values = vyre_inst_operands(e->ir, &e->ir->insts[inst]);
    uint32_t first = vyre_result(e->ir, inst, 0);
    for (uint32_t k = 0; k < VYRE_MATRIX_C; k++) {
        opencl_line(e, "int %s;", opencl_value(first + k).text);
    }
    if (opencl_has_matrices(e->target)) {
        multiply_whole(e, &values, first);
    } else {
        multiply_words(e, inst, &values, first);
    }
}

uint64_t opencl_widths(const opencl_target *target) {
    return target->sm ? 8 + 16 + WARP : 0;
}

bool opencl_has_matrices(const opencl_target *target) {
    return target->sm >= HAS_MMA;
}

void opencl_emit_subgroup(emit *e, uint32_t inst) {
    vyre_op op = vyre_inst_op(&e->ir->insts[inst]);
    if (!(opencl_widths(e->target) & e->phase->subgroup)) {
        opencl_emit_unknown(e, inst);
        return;
    }
    switch (op) {
    case VYRE_ANY_OF(SHUFFLE): write_shuffle(e, inst); return;
    case VYRE_ANY_OF(VOTE): write_vote(e, inst); return;
    case VYRE_OP_REDUCE: write_reduction(e, inst); return;
    case VYRE_ONE_OF(SCAN, SCAN_EXCLUSIVE): write_scan(e, inst); return;
    case VYRE_OP_MATRIX_MAD: write_product(e, inst); return;
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, CONTROL, NONE): break;
    }
    opencl_emit_unknown(e, inst);
}
