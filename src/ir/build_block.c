#include <string.h>

#include "base/units.h"
#include "ir/builder.h"
#include "ir/lookup.h"

static bool is_dead(const vyre_builder *builder) {
    const block *top = &builder->blocks.items[builder->blocks.count - 1];
    return top->dead || top->unreachable;
}

bool vyre_build_reachable(const vyre_builder *builder) {
    return builder->blocks.count && !is_dead(builder);
}

/* What a call hands out if it comes to nothing; a count that cannot be right says nothing about how
 * many there is room for. */
static void clear_handles(uint32_t count, uint32_t *handles) {
    for (uint32_t i = 0; i < count && count <= VYRE_LIMIT_CARRIED; i++) {
        handles[i] = VYRE_NONE;
    }
}

static bool open_block(vyre_builder *builder, block_kind kind, uint32_t owner, uint32_t args) {
    if (builder->blocks.count > VYRE_LIMIT_NESTING) {
        vyre_build_report(builder, 701, "move inner blocks into straight code or another phase",
                          "more than %d blocks are nested", VYRE_LIMIT_NESTING);
    }
    block opened = {.kind = kind,
                    .serial = builder->block_serial++,
                    .owner = owner,
                    .loop = VYRE_NONE,
                    .call = VYRE_NONE,
                    .exits = kind == BLOCK_FOR, /* the range may be used up */
                    .results = kind == BLOCK_FOR ? args : VYRE_NONE,
                    .types = (uint32_t)builder->type_stack.count,
                    .args = args};
    uint32_t self = (uint32_t)builder->blocks.count;
    if (self) {
        const block *parent = builder_block(builder);
        opened.loop = parent->loop;
        opened.call = parent->call;
        opened.unreachable = is_dead(builder);
    }
    if (kind == BLOCK_LOOP || kind == BLOCK_FOR) {
        opened.loop = self;
    }
    if (kind == BLOCK_INLINE) {
        opened.call = self;
        opened.loop = VYRE_NONE; /* jumps do not leave a call */
    }
    return builder_add(builder, blocks, opened) != VYRE_NONE;
}

/* What was built after the block's terminator goes away. */
static void cut_dead(vyre_builder *builder) {
    block *top = builder_block(builder);
    if (!top->dead) {
        return;
    }
    builder->insts.count = builder->places.count = top->dead_insts;
    builder->operands.count = top->dead_operands;
    size_t kept = top->dead_names;
    for (size_t i = kept; i < builder->names.count; i++) {
        if (builder->names.items[i].value < top->dead_insts) {
            builder->names.items[kept++] = builder->names.items[i];
        }
    }
    builder->names.count = kept;
}

static void die(vyre_builder *builder) {
    block *top = builder_block(builder);
    if (!top->dead) {
        top->dead = true;
        top->dead_insts = builder->insts.count;
        top->dead_operands = builder->operands.count;
        top->dead_names = builder->names.count;
    }
}

static void emit_end(vyre_builder *builder, vyre_op op, uint32_t count, const uint32_t *values) {
    uint32_t at;
    if (builder_list(builder, count, values, &at)) {
        builder_emit(builder, (vyre_inst){.op = (uint16_t)op, .a = at, .b = count});
    }
    die(builder);
}

/* Reported before the list is looked at, which may well be shorter. */
static void too_many(vyre_builder *builder, const char *name, uint32_t count) {
    vyre_build_report(builder, 701, "carry fewer values",
                      "`%s` has %u values, and at most %d are allowed", name, count,
                      VYRE_LIMIT_CARRIED);
}

/* The values on a way out of `target` agree with the other ways out, or are the first. */
static bool check_results(vyre_builder *builder, uint32_t target, vyre_op op, uint32_t count,
                          const uint32_t *values) {
    const char *name = vyre_lookup_op(op)->name;
    block *to = &builder->blocks.items[target];
    if (count > VYRE_LIMIT_CARRIED) {
        if (!to->mistaken) {
            too_many(builder, name, count);
        }
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!builder_value(builder, name, i + 1, values[i])) {
            return false;
        }
    }
    if (to->results == VYRE_NONE) {
        to->types = (uint32_t)builder->type_stack.count;
        if (!vyre_vec_reserve(&builder->type_stack, count)) {
            builder_no_memory(builder);
            return false;
        }
        for (uint32_t i = 0; i < count; i++) {
            builder->type_stack.items[builder->type_stack.count++] =
                (uint8_t)builder_type(builder, values[i]);
        }
        to->results = count;
        return true;
    }
    if (to->results != count) {
        return builder_refuse(builder, 506, "give the same number of values on every path",
                              "`%s` gives %u value%s, and another path gives %u", name, count,
                              vyre_plural(count), to->results);
    }
    for (uint32_t i = 0; i < count; i++) {
        vyre_type wanted = (vyre_type)builder->type_stack.items[to->types + i];
        vyre_type type = builder_type(builder, values[i]);
        if (type != wanted) {
            return builder_refuse(builder, 506, "convert one of them",
                                  "value %u of `%s` is %s, and on another path it is %s", i + 1,
                                  name, vyre_type_name(type), vyre_type_name(wanted));
        }
    }
    return true;
}

static void leave(vyre_builder *builder, uint32_t target, vyre_op op, uint32_t count,
                  const uint32_t *values) {
    bool valid = check_results(builder, target, op, count, values);
    builder->blocks.items[target].exits += !is_dead(builder);
    builder->blocks.items[target].mistaken |= !valid;
    if (valid) {
        emit_end(builder, op, count, values);
    } else {
        die(builder);
    }
}

/* The handles of what left a block that just closed; none if nothing can leave it. */
static void emit_results(vyre_builder *builder, const block *closed, uint32_t count,
                         uint32_t *results) {
    uint32_t given = closed->results == VYRE_NONE ? 0 : closed->results;
    if (!closed->exits) {
        builder_emit(builder, (vyre_inst){.op = VYRE_OP_UNREACHABLE});
        die(builder);
        return;
    }
    if (builder->no_memory) {
        return; /* types of results may be missing */
    }
    if (given != count) {
        if (closed->mistaken) {
            return;
        }
        vyre_build_report(builder, 506, "take as many values as the block gives",
                          "%u value%s %s taken from a block that gives %u", count,
                          vyre_plural(count), count == 1 ? "is" : "are", given);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint8_t type = builder->type_stack.items[closed->types + i];
        results[i] = builder_emit(
            builder, (vyre_inst){.op = VYRE_OP_RESULT, .type = type, .a = closed->owner, .b = i});
    }
}

static void close_block(vyre_builder *builder, uint32_t count, uint32_t *results) {
    cut_dead(builder);
    block closed = *builder_block(builder);
    builder->blocks.count--;
    if (closed.owner != VYRE_NONE) {
        builder->insts.items[closed.owner].c = (uint32_t)builder->insts.count;
        emit_results(builder, &closed, count, results);
    }
}

static bool top_is(vyre_builder *builder, block_kind kind, block_kind other, const char *what) {
    if (builder->blocks.count) {
        block_kind found = builder_block(builder)->kind;
        if (found == kind || found == other) {
            return true;
        }
    }
    if (!builder->no_memory) {
        vyre_build_report(builder, 507, "open and close blocks in pairs",
                          "%s does not match the innermost open block", what);
    }
    return false;
}

void builder_open_phase_block(vyre_builder *builder) {
    open_block(builder, BLOCK_PHASE, VYRE_NONE, 0);
}

void builder_close_phase_block(vyre_builder *builder) {
    if (builder->blocks.count > 1) {
        vyre_build_report(builder, 507, "close every if, loop and inline",
                          "a phase ends with %zu block%s still open", builder->blocks.count - 1,
                          vyre_plural(builder->blocks.count - 1));
    }
    if (builder->blocks.count) {
        builder->blocks.count = 1;
        if (!builder_block(builder)->dead) {
            emit_end(builder, VYRE_OP_RETURN, 0, NULL);
        }
        close_block(builder, 0, NULL);
    }
    builder->type_stack.count = 0;
}

/* if */

void vyre_build_if(vyre_builder *builder, uint32_t condition) {
    if (!builder_ready(builder, "if")) {
        return;
    }
    if (builder_value(builder, "if", 1, condition) &&
        builder_type(builder, condition) != VYRE_TYPE_BOOL) {
        vyre_build_report(builder, 301, "compare it with something, as in x != 0",
                          "the condition of `if` is %s, expected bool",
                          vyre_type_name(builder_type(builder, condition)));
    }
    uint32_t owner = builder_emit(builder, (vyre_inst){.op = VYRE_OP_IF, .a = condition});
    open_block(builder, BLOCK_THEN, owner, 0);
}

/* Ends the branch that is open with an empty yield, unless it has ended. */
static void end_branch(vyre_builder *builder) {
    block *top = builder_block(builder);
    if (!top->dead) {
        if (top->results != VYRE_NONE && top->results != 0) {
            vyre_build_report(builder, 505, "end both branches with `yield` and their values",
                              "a branch ends without the %u value%s that the other branch gives",
                              top->results, vyre_plural(top->results));
            top->exits += !is_dead(builder);
            die(builder);
        } else {
            leave(builder, (uint32_t)builder->blocks.count - 1, VYRE_OP_YIELD, 0, NULL);
        }
    }
    cut_dead(builder);
}

void vyre_build_else(vyre_builder *builder) {
    if (!top_is(builder, BLOCK_THEN, BLOCK_THEN, "else")) {
        return;
    }
    end_branch(builder);
    block *top = builder_block(builder);
    top->kind = BLOCK_ELSE;
    top->serial = builder->block_serial++;
    top->dead = false;
    if (top->owner != VYRE_NONE) {
        builder->insts.items[top->owner].b = (uint32_t)builder->insts.count;
    }
}

void vyre_build_if_end(vyre_builder *builder, uint32_t count, uint32_t *results) {
    clear_handles(count, results);
    if (!top_is(builder, BLOCK_THEN, BLOCK_ELSE, "the end of an if")) {
        return;
    }
    if (builder_block(builder)->kind == BLOCK_THEN) {
        vyre_build_else(builder);
    }
    end_branch(builder);
    close_block(builder, count, results);
}

void vyre_build_yield(vyre_builder *builder, uint32_t count, const uint32_t *values) {
    if (top_is(builder, BLOCK_THEN, BLOCK_ELSE, "a yield")) {
        leave(builder, (uint32_t)builder->blocks.count - 1, VYRE_OP_YIELD, count, values);
    }
}

/* Loops */

static void emit_loop(vyre_builder *builder, vyre_op op, uint32_t head, uint32_t count,
                      const uint32_t *list, uint32_t *args) {
    const char *name = vyre_lookup_op(op)->name;
    for (uint32_t i = 0; i < head + count; i++) {
        builder_value(builder, name, i + 1, list[i]);
    }
    uint32_t at = 0, owner = VYRE_NONE;
    if (builder_list(builder, head + count, list, &at)) {
        owner = builder_emit(builder, (vyre_inst){.op = (uint16_t)op, .a = at, .b = head + count});
    }
    uint32_t counters = head ? 1 : 0;
    uint32_t types = (uint32_t)builder->type_stack.count;
    if (!open_block(builder, head ? BLOCK_FOR : BLOCK_LOOP, owner, count) ||
        !vyre_vec_reserve(&builder->type_stack, count)) {
        builder_no_memory(builder);
        clear_handles(counters + count, args);
        return;
    }
    builder_block(builder)->types = types;
    for (uint32_t i = 0; i < counters + count; i++) {
        uint32_t initial = list[i < counters ? i : i - counters + head];
        uint8_t type = (uint8_t)builder_type(builder, initial);
        if (i >= counters) {
            builder->type_stack.items[builder->type_stack.count++] = type;
        }
        /* A mistake gives an argument nobody can tell from a mistake. */
        args[i] =
            type == VYRE_TYPE_VOID || owner == VYRE_NONE
                ? VYRE_NONE
                : builder_emit(builder,
                               (vyre_inst){.op = VYRE_OP_ARG, .type = type, .a = owner, .b = i});
    }
}

/* The loop just opened was to carry more than there can be: nobody knows what. */
static void forget_carried(vyre_builder *builder) {
    if (!builder->no_memory) {
        block *top = builder_block(builder);
        top->args = top->results = VYRE_NONE;
        top->mistaken = true;
    }
}

void vyre_build_loop(vyre_builder *builder, uint32_t count, const uint32_t *initial,
                     uint32_t *args) {
    if (!builder_ready(builder, "loop")) {
        clear_handles(count, args);
        return;
    }
    if (count > VYRE_LIMIT_CARRIED) {
        too_many(builder, "loop", count);
        emit_loop(builder, VYRE_OP_LOOP, 0, 0, NULL, NULL);
        forget_carried(builder);
        return;
    }
    emit_loop(builder, VYRE_OP_LOOP, 0, count, initial, args);
}

uint32_t vyre_build_for(vyre_builder *builder, uint32_t first, uint32_t end, uint32_t step,
                        uint32_t count, const uint32_t *initial, uint32_t *args) {
    if (!builder_ready(builder, "for")) {
        clear_handles(count, args);
        return VYRE_NONE;
    }
    bool fits = count <= VYRE_LIMIT_CARRIED;
    if (!fits) {
        too_many(builder, "for", count);
        count = 0;
    }
    uint32_t range[3] = {first, end, step};
    vyre_type type = builder_type(builder, first);
    static const char *const names[3] = {"first number", "end", "step"};
    for (int i = 0; i < 3; i++) {
        vyre_type found = builder_type(builder, range[i]);
        if (found == VYRE_TYPE_VOID || type == VYRE_TYPE_VOID) {
            continue;
        }
        if (found != type || !(vyre_type_class_of(found) & VYRE_CLASS_INTEGER)) {
            vyre_build_report(builder, found == type ? 301 : 302,
                              "use one integer type for the range",
                              "the %s of `for` is %s, expected %s", names[i], vyre_type_name(found),
                              found == type ? "an integer" : vyre_type_name(type));
            break;
        }
    }
    VYRE_VEC(uint32_t) list = {0};
    uint32_t counter = VYRE_NONE;
    if (vyre_vec_reserve(&list, 2 * (size_t)count + 7)) {
        memcpy(list.items, range, sizeof range);
        if (count) {
            memcpy(list.items + 3, initial, count * sizeof *initial);
        }
        uint32_t *all = list.items + 3 + count;
        memset(all, 0xff, (1 + (size_t)count) * sizeof *all);
        emit_loop(builder, VYRE_OP_FOR, 3, count, list.items, all);
        counter = all[0];
        if (count) {
            memcpy(args, all + 1, count * sizeof *args);
        }
    } else {
        builder_no_memory(builder);
        clear_handles(count, args);
    }
    vyre_vec_free(&list);
    if (!fits) {
        forget_carried(builder);
    }
    return counter;
}

void vyre_build_loop_end(vyre_builder *builder, uint32_t count, uint32_t *results) {
    clear_handles(count, results);
    if (!top_is(builder, BLOCK_LOOP, BLOCK_FOR, "the end of a loop")) {
        return;
    }
    block *top = builder_block(builder);
    if (!top->dead) {
        if (top->args && top->args != VYRE_NONE) {
            vyre_build_report(
                builder, 505, "end the block with `continue` and the next values",
                "a loop that carries %u value%s reaches its end without the next ones", top->args,
                vyre_plural(top->args));
        }
        emit_end(builder, VYRE_OP_CONTINUE, 0, NULL);
    }
    close_block(builder, count, results);
}

static bool find_loop(vyre_builder *builder, const char *what, uint32_t *out_loop) {
    if (!builder_ready(builder, what)) {
        return false;
    }
    *out_loop = builder_block(builder)->loop;
    if (*out_loop == VYRE_NONE) {
        return builder_refuse(builder, 504, "use it inside a loop of the same function",
                              "`%s` is outside a loop", what);
    }
    return true;
}

void vyre_build_break(vyre_builder *builder, uint32_t count, const uint32_t *values) {
    uint32_t loop;
    if (find_loop(builder, "break", &loop)) {
        leave(builder, loop, VYRE_OP_BREAK, count, values);
    }
}

void vyre_build_continue(vyre_builder *builder, uint32_t count, const uint32_t *values) {
    uint32_t loop;
    if (!find_loop(builder, "continue", &loop)) {
        return;
    }
    const block *to = &builder->blocks.items[loop];
    if (to->args != count || count > VYRE_LIMIT_CARRIED) {
        if (to->args != VYRE_NONE) {
            vyre_build_report(builder, 506, "give the next iteration every value the loop carries",
                              "`continue` gives %u value%s, the loop carries %u", count,
                              vyre_plural(count), to->args);
        }
        die(builder);
        return;
    }
    uint32_t first_arg = to->owner + 1 + (to->kind == BLOCK_FOR);
    for (uint32_t i = 0; i < count; i++) {
        if (!builder_value(builder, "continue", i + 1, values[i])) {
            die(builder);
            return;
        }
        vyre_type wanted = builder_type(builder, first_arg + i);
        vyre_type type = builder_type(builder, values[i]);
        if (to->owner != VYRE_NONE && type != wanted) {
            vyre_build_report(builder, 506, "convert it, or start the loop with another type",
                              "value %u of `continue` is %s, the loop carries %s there", i + 1,
                              vyre_type_name(type), vyre_type_name(wanted));
            die(builder);
            return;
        }
    }
    emit_end(builder, VYRE_OP_CONTINUE, count, values);
}

/* Calls */

void vyre_build_inline(vyre_builder *builder) {
    if (builder_ready(builder, "inline")) {
        uint32_t owner = builder_emit(builder, (vyre_inst){.op = VYRE_OP_INLINE});
        open_block(builder, BLOCK_INLINE, owner, 0);
    }
}

void vyre_build_inline_end(vyre_builder *builder, uint32_t count, uint32_t *results) {
    clear_handles(count, results);
    if (!top_is(builder, BLOCK_INLINE, BLOCK_INLINE, "the end of an inline")) {
        return;
    }
    if (!builder_block(builder)->dead) {
        if (count) {
            vyre_build_report(builder, 505, "return a value on every path",
                              "a path reaches the end of a call without the %u value%s it returns",
                              count, vyre_plural(count));
            die(builder);
        } else {
            leave(builder, (uint32_t)builder->blocks.count - 1, VYRE_OP_RETURN, 0, NULL);
        }
    }
    close_block(builder, count, results);
}

void vyre_build_return(vyre_builder *builder, uint32_t count, const uint32_t *values) {
    if (!builder_ready(builder, "return")) {
        return;
    }
    uint32_t call = builder_block(builder)->call;
    if (call != VYRE_NONE) {
        leave(builder, call, VYRE_OP_RETURN, count, values);
        return;
    }
    if (count) {
        vyre_build_report(builder, 506, "store the result in a buffer",
                          "a program returns no values, but `return` gives %u", count);
    }
    emit_end(builder, VYRE_OP_RETURN, 0, NULL);
}

/* Variables */

static draft_variable *find_variable(vyre_builder *builder, const char *what, uint32_t variable) {
    if (variable == VYRE_NONE) {
        builder_absent(builder, what, "variable");
        return NULL;
    }
    if (variable < builder->variables.count) {
        draft_variable *found = &builder->variables.items[variable];
        for (size_t i = builder->blocks.count; i-- > 0;) {
            if (builder->blocks.items[i].serial == found->block) {
                return found;
            }
        }
    }
    vyre_build_report(builder, 309, "use a variable only inside the block that declares it",
                      "the variable of `%s` does not exist here", what);
    return NULL;
}

uint32_t vyre_build_var(vyre_builder *builder, const char *name, uint32_t initial) {
    if (!builder_ready(builder, "var") || !builder_value(builder, "var", 1, initial)) {
        return VYRE_NONE;
    }
    draft_variable row = {.name = builder_name(builder, name),
                          .declared = (uint32_t)builder->insts.count,
                          .block = builder_block(builder)->serial,
                          .type = (uint8_t)builder_type(builder, initial)};
    uint32_t variable = builder_add(builder, variables, row);
    if (variable != VYRE_NONE) {
        builder_emit(builder, (vyre_inst){.op = DRAFT_VAR, .a = variable, .b = initial});
    }
    return variable;
}

uint32_t vyre_build_get(vyre_builder *builder, uint32_t variable) {
    if (!builder_ready(builder, "get")) {
        return VYRE_NONE;
    }
    const draft_variable *row = find_variable(builder, "get", variable);
    return row ? builder_emit(builder,
                              (vyre_inst){.op = DRAFT_GET, .type = row->type, .a = variable})
               : VYRE_NONE;
}

void vyre_build_set(vyre_builder *builder, uint32_t variable, uint32_t value) {
    if (!builder_ready(builder, "set") || !builder_value(builder, "set", 1, value)) {
        return;
    }
    const draft_variable *row = find_variable(builder, "set", variable);
    if (!row) {
        return;
    }
    vyre_type type = builder_type(builder, value);
    if (type != (vyre_type)row->type) {
        vyre_build_report(builder, 302,
                          row->type == VYRE_TYPE_BOOL ? "compare it with something, as in x != 0"
                                                      : "convert it to the variable's type",
                          "the value for `%s` is %s, the variable is %s",
                          row->name ? builder->debug_strings.data + row->name : "the variable",
                          vyre_type_name(type), vyre_type_name((vyre_type)row->type));
        return;
    }
    builder_emit(builder, (vyre_inst){.op = DRAFT_SET, .a = variable, .b = value});
}
