/* Control flow: structured blocks are blocks of C. Only who leaves an inlined call or the phase out
 * of the middle of something else jumps to a label. Every loop that may run for long can be
 * stopped.
 */
#include <stdio.h>

#include "backend/opencl/codegen/emit_state.h"
#include "ir/cases.h"
#include "ir/lookup.h"

enum { POLL_ITERATIONS = 1024, POLL_BARRIERS = 64 /* the same where the workgroup waits for it */ };

static vyre_type type_of(const emit *e, uint32_t inst) {
    return vyre_inst_type(&e->ir->insts[inst]);
}

static bool is_last(const emit *e, uint32_t inst, uint32_t owner) {
    vyre_block blocks =
        owner == VYRE_NONE ? vyre_phase_block(e->phase) : vyre_owner_blocks(e->ir, owner);
    return inst == vyre_block_terminator(blocks);
}

/* Variables for args and results, which are written where control flow meets. */
static void declare(emit *e, vyre_block slots) {
    for (uint32_t inst = slots.first; inst < slots.end; inst++) {
        opencl_line(e, "%s %s = 0;", opencl_type(type_of(e, inst)), opencl_value(inst).text);
    }
}

/* Whether one of the values is an arg of the loop that is assigned before it is read. */
static bool overlaps(const emit *e, uint32_t first, vyre_list values) {
    bool found = false;
    for (uint32_t k = 1; k < values.count; k++) {
        uint32_t value = values.items[k];
        found = found || (vyre_operand_is_value(value) && value >= first && value < first + k);
    }
    (void)e;
    return found;
}

/* All at once: an arg may be what another one becomes. */
static void assign(emit *e, uint32_t first, vyre_list values) {
    bool aside = overlaps(e, first, values);
    if (aside) {
        opencl_line(e, "{");
        e->indent++;
    }
    for (uint32_t pass = aside ? 0 : 1; pass < 2; pass++) {
        for (uint32_t k = 0; k < values.count; k++) {
            opencl_name to = opencl_value(first + k), from = opencl_operand(e, values.items[k]);
            if (!pass) {
                opencl_line(e, "const %s x%u = %s;", opencl_type(type_of(e, first + k)), k,
                            from.text);
            } else if (aside) {
                opencl_line(e, "%s = x%u;", to.text, k);
            } else if (values.items[k] != first + k) {
                opencl_line(e, "%s = %s;", to.text, from.text);
            }
        }
    }
    if (aside) {
        e->indent--;
        opencl_line(e, "}");
    }
}

static void open_block(emit *e, uint32_t owner) {
    e->stack[e->depth++] = (emit_open){.owner = owner};
    e->indent++;
}

static emit_open close_block(emit *e) {
    e->indent--;
    return e->stack[--e->depth];
}

void opencl_emit_block(emit *e, vyre_block code) {
    for (uint32_t inst = code.first; inst < code.end; inst = vyre_inst_next(e->ir, inst)) {
        opencl_emit_instruction(e, inst);
    }
}

/* PoCL's compiler makes loops over invocations of the code between any two barriers of a kernel.
 * Version 3.1 has three faults there, which the code goes around:
 *
 * - LLVM gives accesses with which several ways to a loop end a block of their own. If one of these
 *   ways comes from outside and another from inside, the loop has two entries. PoCL, which copies
 *   what follows a barrier, then recurs until the stack overflows, or loses a way. Where several
 *   ways may lead to a loop, an empty assembly statement, which LLVM never moves, makes them one.
 * - PoCL adds barriers to loops that it takes for uniform, and overlooks that some invocations may
 *   have left a loop around them. A loop that not all reach together stands behind a condition that
 *   always holds, and of which PoCL does not know it.
 * - PoCL copies what follows a block that has a barrier for each way out of the block. It sends all
 *   invocations the same way. A barrier at the end of the block leaves one way. */

static void put_statement(emit *e) {
    opencl_line(e, "__asm__ volatile(\"\");");
}

bool opencl_begin_loop(emit *e, uint32_t inside) {
    bool is_apart = e->is_cut && !opencl_is_together(&e->facts, inside);
    if (is_apart) {
        opencl_line(e, "if (l < 0x80000000u) {");
        e->indent++;
    }
    if (e->is_cut && e->is_branched) {
        put_statement(e);
    }
    e->is_branched = false;
    return is_apart;
}

void opencl_end_loop(emit *e, bool is_apart) {
    opencl_line(e, "}");
    if (is_apart) {
        e->indent--;
        opencl_line(e, "}");
    }
    e->is_branched = true;
}

/* A branch of an `if`. */
static void write_branch(emit *e, uint32_t inst, vyre_block code) {
    open_block(e, inst);
    opencl_emit_block(e, code);
    if (e->is_cut && opencl_has_barrier(e->ir, inst)) {
        opencl_line(e, "barrier(CLK_LOCAL_MEM_FENCE);");
        put_statement(e); /* or both branches get one barrier, behind them */
    }
    close_block(e);
}

static void write_if(emit *e, uint32_t inst) {
    vyre_block other = vyre_else_block(e->ir, inst);
    bool was_branched = e->is_branched;
    declare(e, vyre_results(e->ir, inst));
    opencl_line(e, "if (%s) {", opencl_operand(e, e->ir->insts[inst].a).text);
    write_branch(e, inst, vyre_then_block(e->ir, inst));
    if (!vyre_block_is_empty(e->ir, other)) {
        opencl_line(e, "} else {");
        e->is_branched = was_branched;
        write_branch(e, inst, other);
    }
    opencl_line(e, "}");
    e->is_branched = true;
}

static void write_inline(emit *e, uint32_t inst) {
    declare(e, vyre_results(e->ir, inst));
    opencl_line(e, "{");
    open_block(e, inst);
    opencl_emit_block(e, vyre_body_block(e->ir, inst));
    emit_open was = close_block(e);
    opencl_line(e, "}");
    e->is_branched |= was.is_left;
    if (was.is_left) {
        opencl_line(e, "end%u:;", inst);
    }
}

/* Stopping. In a phase without barriers whoever sees the stop word ends. Where a workgroup waits
 * for itself in a loop, it looks together and ends together. In other loops of such a phase an
 * invocation leaves the loop, and all end together at the next place that all reach.
 *
 * In a phase with subgroups the lanes of one look and end together, if they go through the loop
 * together. There nobody has to wait for who ended: NVIDIA's barriers and exchanges do not. */

static bool ends_alone(const emit *e) {
    return !e->facts.has_barriers || e->facts.has_subgroups;
}

static bool is_long(const emit *e, uint32_t inst) {
    return vyre_op_is_loop(e->ir->insts[inst].op) && !opencl_ends_soon(e->ir, inst);
}

static bool is_polled(const emit *e, uint32_t inst) {
    return e->target->polls && is_long(e, inst);
}

bool opencl_stops_apart(const emit *e) {
    bool apart = false;
    for (uint32_t inst = e->phase->first; inst < e->phase->end && e->facts.has_subgroups; inst++) {
        apart = apart || (is_polled(e, inst) && !opencl_turns_together(&e->facts, inst));
    }
    return apart;
}

static uint32_t turns_of(const emit *e, uint32_t loop) {
    return opencl_has_barrier(e->ir, loop) ? POLL_BARRIERS : POLL_ITERATIONS;
}

static void count_turns(emit *e, uint32_t loop) {
    if (is_polled(e, loop)) {
        opencl_line(e, "uint turns%u = %uu;", loop, turns_of(e, loop));
    }
}

/* Whether the invocation is to stop, or its subgroup. */
static void poll_alone(emit *e, uint32_t loop, const char *stop) {
    if (e->facts.has_subgroups && opencl_turns_together(&e->facts, loop)) {
        e->functions |= OPENCL_FUNCTION(OPENCL_BALLOT);
        opencl_line(e, "    if (vyre_ballot(*%s, %s)) {", stop,
                    opencl_members(e, vyre_body_block(e->ir, loop).first).text);
    } else {
        opencl_line(e, "    if (*%s) {", stop);
    }
}

static void poll(emit *e, uint32_t loop) {
    e->info->is_long = e->info->is_long || is_long(e, loop);
    if (!is_polled(e, loop)) {
        return;
    }
    e->is_branched = true;
    opencl_name stop = opencl_parameter_name(e, OPENCL_STOP, 0);
    if (ends_alone(e)) {
        opencl_line(e, "if (--turns%u == 0) {", loop);
        opencl_line(e, "    turns%u = %uu;", loop, turns_of(e, loop));
        poll_alone(e, loop, stop.text);
        opencl_line(e, "        return;");
        opencl_line(e, "    }");
        opencl_line(e, "}");
    } else if (opencl_has_barrier(e->ir, loop)) {
        e->has_poll = true;
        opencl_line(e, "if (--turns%u == 0) {", loop);
        opencl_line(e, "    turns%u = %uu;", loop, turns_of(e, loop));
        opencl_line(e, "    barrier(CLK_LOCAL_MEM_FENCE);");
        opencl_line(e, "    if (l == 0) {");
        opencl_line(e, "        stopped = *%s;", stop.text);
        opencl_line(e, "    }");
        opencl_line(e, "    barrier(CLK_LOCAL_MEM_FENCE);");
        opencl_line(e, "    if (stopped) {");
        opencl_line(e, "        return;");
        opencl_line(e, "    }");
        opencl_line(e, "}");
    } else {
        e->has_halt = true;
        opencl_line(e, "if (--turns%u == 0 || halt) {", loop);
        opencl_line(e, "    turns%u = %uu;", loop, turns_of(e, loop));
        opencl_line(e, "    halt |= *%s;", stop.text);
        opencl_line(e, "    if (halt) {");
        opencl_line(e, "        break;");
        opencl_line(e, "    }");
        opencl_line(e, "}");
    }
}

/* Behind a block in which somebody may have left a loop to stop. */
static void end_together(emit *e, uint32_t next) {
    if (next >= e->phase->end || !opencl_is_together(&e->facts, next)) {
        return; /* nobody waits for anybody any more */
    }
    e->has_halt = true;
    opencl_line(e, "if (halt) {");
    opencl_line(e, "    halted = 1;");
    opencl_line(e, "}");
    opencl_line(e, "barrier(CLK_LOCAL_MEM_FENCE);");
    opencl_line(e, "halt = halted;");
    opencl_line(e, "barrier(CLK_LOCAL_MEM_FENCE);");
    opencl_line(e, "if (halt) {");
    opencl_line(e, "    return;");
    opencl_line(e, "}");
    e->may_halt = false;
}

/* Loops of a block that somebody may leave to stop. */
static uint32_t count_open_loops(const emit *e, uint32_t owner) {
    vyre_block blocks = vyre_owner_blocks(e->ir, owner);
    uint32_t count = is_polled(e, owner);
    for (uint32_t inst = blocks.first; inst < blocks.end; inst++) {
        count += is_polled(e, inst);
    }
    return count;
}

/* How many turns are left is counted apart, so that the counter never has to wrap. One that goes up
 * by one never does: it ends at the end. The condition tells behind the loop
 * that no jump has left it. */
typedef struct range_end {
    bool is_apart;
    char condition[112];
} range_end;

static range_end write_range(emit *e, uint32_t inst) {
    vyre_for_range range = vyre_for_range_of(e->ir, inst);
    vyre_type type = type_of(e, vyre_for_counter(inst));
    const char *wide = vyre_type_bytes(type) == 8 ? "ulong" : "uint", *name = opencl_type(type);
    opencl_name first = opencl_operand(e, range.first), end = opencl_operand(e, range.end);
    opencl_name step = opencl_operand(e, range.step);
    opencl_name counter = opencl_value(vyre_for_counter(inst));
    range_end result;
    if (vyre_operand_has_bits(e->ir, range.step, 1)) {
        count_turns(e, inst);
        result.is_apart = opencl_begin_loop(e, vyre_body_block(e->ir, inst).first);
        opencl_line(e, "for (; %s < %s; %s++) {", counter.text, end.text, counter.text);
        snprintf(result.condition, sizeof result.condition, "%s >= %s", counter.text, end.text);
        return result;
    }
    opencl_line(e,
                "%s left%u = %s < %s && %s > 0 ? ((%s)%s - (%s)%s - 1) / (%s)(%s > 0 ? %s : "
                "(%s)1) + 1 : 0;",
                wide, inst, first.text, end.text, step.text, wide, end.text, wide, first.text, wide,
                step.text, step.text, name);
    count_turns(e, inst);
    result.is_apart = opencl_begin_loop(e, vyre_body_block(e->ir, inst).first);
    opencl_line(e, "for (; left%u; left%u--, %s = (%s)((%s)%s + (%s)%s)) {", inst, inst,
                counter.text, name, wide, counter.text, wide, step.text);
    snprintf(result.condition, sizeof result.condition, "!left%u", inst);
    return result;
}

static void write_for(emit *e, uint32_t inst) {
    uint32_t counter = vyre_for_counter(inst);
    declare(e, vyre_results(e->ir, inst));
    opencl_line(e, "%s %s = %s;", opencl_type(type_of(e, counter)), opencl_value(counter).text,
                opencl_operand(e, vyre_for_range_of(e->ir, inst).first).text);
    declare(e, vyre_carried_args(e->ir, inst));
    assign(e, vyre_loop_arg(e->ir, inst, 0), vyre_loop_initial(e->ir, inst));
    const range_end ended = write_range(e, inst);
    open_block(e, inst);
    poll(e, inst);
    opencl_emit_block(e, vyre_body_block(e->ir, inst));
    close_block(e);
    opencl_end_loop(e, ended.is_apart);
    vyre_block results = vyre_results(e->ir, inst);
    if (results.first < results.end) {
        opencl_line(e, "if (%s) {", ended.condition);
        for (uint32_t k = 0; k < results.end - results.first; k++) {
            opencl_line(e, "    %s = %s;", opencl_value(results.first + k).text,
                        opencl_value(vyre_loop_arg(e->ir, inst, k)).text);
        }
        opencl_line(e, "}");
    }
}

static void write_loop(emit *e, uint32_t inst) {
    declare(e, vyre_results(e->ir, inst));
    declare(e, vyre_carried_args(e->ir, inst));
    assign(e, vyre_loop_arg(e->ir, inst, 0), vyre_loop_initial(e->ir, inst));
    count_turns(e, inst);
    bool is_apart = opencl_begin_loop(e, vyre_body_block(e->ir, inst).first);
    opencl_line(e, "for (;;) {");
    open_block(e, inst);
    poll(e, inst);
    opencl_emit_block(e, vyre_body_block(e->ir, inst));
    close_block(e);
    opencl_end_loop(e, is_apart);
}

/* Behind a loop: NaNs of its sums, which nobody looked at before. */
static void settle(emit *e, uint32_t owner) {
    vyre_block results = vyre_results(e->ir, owner);
    for (uint32_t inst = results.first; inst < results.end; inst++) {
        if (vyre_nan_settles_late(&e->facts.nans, inst)) {
            opencl_emit_canonical(e, type_of(e, inst), opencl_value(inst).text);
        }
    }
}

static void write_control(emit *e, uint32_t inst) {
    switch (vyre_inst_op(&e->ir->insts[inst])) {
    case VYRE_OP_IF: write_if(e, inst); return;
    case VYRE_OP_INLINE: write_inline(e, inst); return;
    case VYRE_OP_LOOP:
        write_loop(e, inst);
        settle(e, inst);
        return;
    case VYRE_OP_FOR:
        write_for(e, inst);
        settle(e, inst);
        return;
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, PICK, JUMP, NONE):
        break;
    }
    opencl_emit_unknown(e, inst);
}

void opencl_emit_control(emit *e, uint32_t inst) {
    bool begins = !ends_alone(e) && e->alone == VYRE_NONE && !opencl_has_barrier(e->ir, inst) &&
                  count_open_loops(e, inst);
    if (begins) {
        bool is_simple = vyre_op_is_loop(e->ir->insts[inst].op) && count_open_loops(e, inst) == 1;
        e->alone = inst;
        e->may_halt = e->may_halt || !is_simple;
    }
    write_control(e, inst);
    if (begins) {
        e->alone = VYRE_NONE;
        e->may_halt = true;
        end_together(e, vyre_results(e->ir, inst).end);
    }
}

static uint32_t target_of(const emit *e, uint32_t op) {
    uint32_t level = e->depth - 1;
    while (!vyre_jump_ends(e->ir, op, e->stack[level].owner)) {
        level--;
    }
    return level;
}

/* The end of a block. */
void opencl_emit_jump(emit *e, uint32_t inst) {
    const vyre_inst *i = &e->ir->insts[inst];
    if (i->op == VYRE_OP_UNREACHABLE) {
        opencl_line(e, "return;");
        return;
    }
    emit_open *target = &e->stack[target_of(e, i->op)];
    if (target->owner == VYRE_NONE) {
        if (!is_last(e, inst, VYRE_NONE)) {
            opencl_line(e, "return;");
        }
        return;
    }
    vyre_list values = vyre_inst_operands(e->ir, i);
    if (values.count) {
        assign(e, vyre_jump_target(e->ir, i, target->owner, 0), values);
    }
    if (i->op == VYRE_OP_BREAK) {
        opencl_line(e, "break;");
    } else if (i->op == VYRE_OP_CONTINUE && !is_last(e, inst, target->owner)) {
        opencl_line(e, "continue;");
    } else if (i->op == VYRE_OP_RETURN && !is_last(e, inst, target->owner)) {
        target->is_left = true;
        opencl_line(e, "goto end%u;", target->owner);
    }
}
