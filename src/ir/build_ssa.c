/* The draft's variables become values: what a block assigns leaves it as one more result, what a
 * loop assigns is carried by one more argument.
 *
 * The first sweep finds, for each instruction that holds blocks, the variables of the outside that
 * are assigned within. The second writes the final instructions, with the current value of each
 * variable at hand. Both are linear in the size of draft and result. */
#include <stdlib.h>
#include <string.h>

#include "ir/builder.h"
#include "ir/lookup.h"

typedef struct ssa {
    vyre_builder *draft;
    ssa_arrays *out;
    uint32_t *map;       /* draft value -> final value or draft constant */
    uint32_t *const_map; /* draft constant -> final constant */
    uint32_t *current;   /* variable -> final value or draft constant */
    size_t room;         /* for instructions: more there cannot be, or are too many */
    size_t next_name;    /* in the draft's names */
    size_t next_region;
    bool failed;
} ssa;

static int compare_u32(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static bool holds_blocks(uint32_t op) {
    return vyre_lookup_op(op)->effects & VYRE_EFFECT_BLOCK;
}

/* First sweep */

/* Sorts the region's assigned variables and stores those from outside as its list. They stay in
 * `pending`, now as assignments of the region around. */
static bool finish_region(ssa *s) {
    ssa_region *top = &s->out->regions.items[s->out->regions.count - 1];
    size_t list = top->list;
    size_t count = s->out->pending.count - top->first, kept = 0;
    uint32_t *found = count ? s->out->pending.items + top->first : NULL;
    if (count > 1) {
        qsort(found, count, sizeof *found, compare_u32);
    }
    for (size_t i = 0; i < count; i++) {
        bool outside = s->draft->variables.items[found[i]].declared < top->owner;
        if (outside && (!kept || found[kept - 1] != found[i])) {
            found[kept++] = found[i];
        }
    }
    s->out->pending.count = top->first + kept;
    s->out->carried_lists.items[list * 2] = (uint32_t)s->out->carried.count;
    s->out->carried_lists.items[list * 2 + 1] = (uint32_t)kept;
    if (!vyre_vec_reserve(&s->out->carried, kept)) {
        return false;
    }
    if (kept) {
        memcpy(s->out->carried.items + s->out->carried.count, found, kept * sizeof *found);
    }
    s->out->carried.count += kept;
    s->out->regions.count--;
    return true;
}

static bool find_carried(ssa *s) {
    const vyre_builder *draft = s->draft;
    for (uint32_t i = 0; i < draft->insts.count; i++) {
        while (s->out->regions.count && s->out->regions.items[s->out->regions.count - 1].end == i) {
            if (!finish_region(s)) {
                return false;
            }
        }
        const vyre_inst *inst = &draft->insts.items[i];
        if (inst->op == DRAFT_SET && !vyre_vec_push(&s->out->pending, inst->a)) {
            return false;
        }
        if (holds_blocks(inst->op)) {
            ssa_region opened = {.owner = i,
                                 .end = inst->c,
                                 .first = (uint32_t)s->out->pending.count,
                                 .list = (uint32_t)(s->out->carried_lists.count / 2)};
            if (!vyre_vec_push(&s->out->regions, opened) ||
                !vyre_vec_push(&s->out->carried_lists, 0) ||
                !vyre_vec_push(&s->out->carried_lists, 0)) {
                return false;
            }
        }
    }
    return true;
}

/* Second sweep */

/* `map` and `current` hold final values and draft constants: a constant gets its final number when
 * an instruction uses it, so that they come out in the order of first use. */
static uint32_t resolve(ssa *s, uint32_t value) {
    if (!(value & VYRE_CONSTANT)) {
        return value;
    }
    uint32_t *mapped = &s->const_map[value & ~VYRE_CONSTANT];
    if (*mapped == VYRE_NONE) {
        *mapped = (uint32_t)s->out->consts.count;
        s->failed |=
            !vyre_vec_push(&s->out->consts, s->draft->consts.items[value & ~VYRE_CONSTANT]);
    }
    return *mapped | VYRE_CONSTANT;
}

static uint32_t draft_value(const ssa *s, uint32_t operand) {
    return operand & VYRE_CONSTANT ? operand : s->map[operand];
}

static uint32_t map_operand(ssa *s, uint32_t operand) {
    return resolve(s, draft_value(s, operand));
}

static uint32_t emit(ssa *s, vyre_inst inst, vyre_place place) {
    size_t index = s->out->insts.count;
    if (index == s->room) {
        s->failed = true;
        return (uint32_t)index;
    }
    s->out->insts.items[index] = inst;
    s->out->places.items[index] = place;
    s->out->insts.count = s->out->places.count = index + 1;
    return (uint32_t)index;
}

static void name_value(ssa *s, uint32_t value, uint32_t name) {
    if (name) {
        s->failed |= !vyre_vec_push(&s->out->value_names, (vyre_value_name){value, name});
    }
}

/* Copies the names of a draft value to the final one; the last of several wins. */
static void copy_names(ssa *s, uint32_t draft_value, uint32_t value) {
    uint32_t name = 0;
    while (s->next_name < s->draft->names.count &&
           s->draft->names.items[s->next_name].value <= draft_value) {
        if (s->draft->names.items[s->next_name].value == draft_value) {
            name = s->draft->names.items[s->next_name].name;
        }
        s->next_name++;
    }
    name_value(s, value, name);
}

static uint32_t add_list(ssa *s, uint32_t from, uint32_t count, const ssa_region *target) {
    uint32_t at = (uint32_t)s->out->operands.count;
    uint32_t extra = target ? target->count : 0;
    if (!vyre_vec_reserve(&s->out->operands, (size_t)count + extra)) {
        s->failed = true;
        return at;
    }
    for (uint32_t i = 0; i < count; i++) {
        s->out->operands.items[at + i] = map_operand(s, s->draft->operands.items[from + i]);
    }
    for (uint32_t i = 0; i < extra; i++) {
        s->out->operands.items[at + count + i] =
            resolve(s, s->current[s->out->carried.items[target->first + i]]);
    }
    s->out->operands.count += (size_t)count + extra;
    return at;
}

static void open_region(ssa *s, uint32_t owner, uint32_t final_owner) {
    const vyre_inst *inst = &s->draft->insts.items[owner];
    const uint32_t *list = s->out->carried_lists.items + 2 * s->next_region++;
    ssa_region opened = {.owner = owner,
                         .final_owner = final_owner,
                         .end = inst->c,
                         .first = list[0],
                         .count = list[1],
                         .saved = (uint32_t)s->out->saves.count,
                         .else_at = inst->op == VYRE_OP_IF ? inst->b : VYRE_NONE,
                         .loop = VYRE_NONE,
                         .call = VYRE_NONE};
    uint32_t self = (uint32_t)s->out->regions.count;
    if (self) {
        opened.loop = s->out->regions.items[self - 1].loop;
        opened.call = s->out->regions.items[self - 1].call;
    }
    if (inst->op == VYRE_OP_LOOP || inst->op == VYRE_OP_FOR) {
        opened.loop = self;
    } else if (inst->op == VYRE_OP_INLINE) {
        opened.call = self;
    }
    for (uint32_t i = 0; inst->op == VYRE_OP_IF && i < opened.count; i++) {
        uint32_t variable = s->out->carried.items[opened.first + i];
        s->failed |= !vyre_vec_push(&s->out->saves, s->current[variable]);
    }
    s->failed |= !vyre_vec_push(&s->out->regions, opened);
}

static void start_else(ssa *s, ssa_region *top) {
    top->else_at = VYRE_NONE;
    s->out->insts.items[top->final_owner].b = (uint32_t)s->out->insts.count;
    for (uint32_t i = 0; i < top->count; i++) {
        s->current[s->out->carried.items[top->first + i]] = s->out->saves.items[top->saved + i];
    }
}

/* Emits the `arg`s or `result`s of an owner: those that stand in the draft from `at` on, then one a
 * variable. Returns how many draft instructions were used up. */
static uint32_t emit_picks(ssa *s, const ssa_region *owner, vyre_op op, uint32_t at) {
    uint32_t used = 0;
    for (; at + used < s->draft->insts.count; used++) {
        vyre_inst inst = s->draft->insts.items[at + used];
        if (inst.op != op || inst.a != owner->owner) {
            break;
        }
        inst.a = owner->final_owner;
        s->map[at + used] = emit(s, inst, s->draft->places.items[at + used]);
        copy_names(s, at + used, s->map[at + used]);
    }
    if (at + used < s->draft->insts.count &&
        s->draft->insts.items[at + used].op == VYRE_OP_UNREACHABLE) {
        return used; /* nothing leaves it */
    }
    for (uint32_t i = 0; i < owner->count; i++) {
        uint32_t variable = s->out->carried.items[owner->first + i];
        const draft_variable *row = &s->draft->variables.items[variable];
        vyre_inst inst = {
            .op = (uint16_t)op, .type = row->type, .a = owner->final_owner, .b = used + i};
        s->current[variable] = emit(s, inst, s->draft->places.items[owner->owner]);
        name_value(s, s->current[variable], row->name);
    }
    return used;
}

static uint32_t close_region(ssa *s, uint32_t at) {
    ssa_region closed = s->out->regions.items[--s->out->regions.count];
    s->out->saves.count = closed.saved;
    s->out->insts.items[closed.final_owner].c = (uint32_t)s->out->insts.count;
    return emit_picks(s, &closed, VYRE_OP_RESULT, at);
}

static uint32_t emit_loop(ssa *s, uint32_t at) {
    vyre_inst inst = s->draft->insts.items[at];
    const uint32_t *list = s->out->carried_lists.items + 2 * s->next_region;
    ssa_region self = {.first = list[0], .count = list[1]};
    inst.a = add_list(s, inst.a, inst.b, &self);
    inst.b += self.count;
    s->map[at] = emit(s, inst, s->draft->places.items[at]);
    open_region(s, at, s->map[at]);
    if (s->failed) {
        return 1;
    }
    ssa_region opened = s->out->regions.items[s->out->regions.count - 1];
    return 1 + emit_picks(s, &opened, VYRE_OP_ARG, at + 1);
}

/* Where the values of a terminator go; NULL for the end of an invocation. */
static const ssa_region *end_target(const ssa *s, uint32_t op) {
    const ssa_region *top =
        s->out->regions.count ? &s->out->regions.items[s->out->regions.count - 1] : NULL;
    if (!top || op == VYRE_OP_YIELD) {
        return top;
    }
    uint32_t target = op == VYRE_OP_RETURN ? top->call : top->loop;
    return target == VYRE_NONE ? NULL : &s->out->regions.items[target];
}

/* An operation with several values: they stand behind it and carry no variables. */
static uint32_t emit_group(ssa *s, uint32_t at, vyre_inst inst) {
    inst.a = add_list(s, inst.a, inst.b, NULL);
    inst.c = (uint32_t)s->out->insts.count + 1;
    s->map[at] = emit(s, inst, s->draft->places.items[at]);
    const ssa_region self = {.owner = at, .final_owner = s->map[at]};
    return 1 + emit_picks(s, &self, VYRE_OP_RESULT, at + 1);
}

/* Returns how many draft instructions were used up. */
static uint32_t emit_inst(ssa *s, uint32_t at) {
    vyre_inst inst = s->draft->insts.items[at];
    if (inst.op == DRAFT_VAR || inst.op == DRAFT_SET) {
        s->current[inst.a] = draft_value(s, inst.b);
        return 1;
    }
    if (inst.op == DRAFT_GET) {
        s->map[at] = s->current[inst.a];
        return 1;
    }
    if (vyre_op_is_loop(inst.op)) {
        return emit_loop(s, at);
    }
    const vyre_op_info *info = vyre_lookup_op(inst.op);
    if (info->effects & VYRE_EFFECT_SUBGROUP || inst.op == VYRE_OP_LANE ||
        inst.op == VYRE_OP_SUBGROUP_ID) {
        s->out->phases.items[s->out->phases.count - 1].uses_subgroup = true;
    }
    switch ((vyre_shape)info->shape) {
    case VYRE_SHAPE_GROUP: return emit_group(s, at, inst);
    case VYRE_SHAPE_V3:
        inst.a = map_operand(s, inst.a);
        inst.b = map_operand(s, inst.b);
        inst.c = map_operand(s, inst.c);
        break;
    case VYRE_SHAPE_V2:
        inst.a = map_operand(s, inst.a);
        inst.b = map_operand(s, inst.b);
        break;
    case VYRE_SHAPE_V1:
    case VYRE_SHAPE_IF: inst.a = map_operand(s, inst.a); break;
    case VYRE_SHAPE_R_V2:
        inst.a = s->draft->resource_map.items[inst.a];
        inst.b = map_operand(s, inst.b);
        inst.c = map_operand(s, inst.c);
        break;
    case VYRE_SHAPE_R_V1:
        inst.a = s->draft->resource_map.items[inst.a];
        inst.b = map_operand(s, inst.b);
        break;
    case VYRE_SHAPE_R_LIST:
    case VYRE_SHAPE_MESSAGE:
        inst.a = s->draft->resource_map.items[inst.a];
        inst.b = add_list(s, inst.b, inst.c, NULL);
        break;
    case VYRE_SHAPE_R: inst.a = s->draft->resource_map.items[inst.a]; break;
    case VYRE_SHAPE_LIST: {
        const ssa_region *target = end_target(s, inst.op);
        inst.a = add_list(s, inst.a, inst.b, target);
        inst.b += target ? target->count : 0;
        break;
    }
    case VYRE_SHAPE_NONE:
    case VYRE_SHAPE_NUMBER:
    case VYRE_SHAPE_PICK: /* emitted with their owner */
    case VYRE_SHAPE_LOOP:
    case VYRE_SHAPE_INLINE: break;
    }
    bool opens = info->effects & VYRE_EFFECT_BLOCK;
    if (opens) {
        inst.b = inst.c = 0; /* known when the blocks are */
    }
    s->map[at] = emit(s, inst, s->draft->places.items[at]);
    copy_names(s, at, s->map[at]);
    if (opens) {
        open_region(s, at, s->map[at]);
    }
    return 1;
}

static void rewrite(ssa *s) {
    const vyre_builder *draft = s->draft;
    for (uint32_t at = 0; at < draft->insts.count && !s->failed;) {
        size_t phase = s->out->phases.count;
        if (phase < draft->phases.count && draft->phases.items[phase].first == at) {
            s->out->phases.items[s->out->phases.count++] =
                (ssa_phase){(uint32_t)s->out->insts.count, false};
        }
        ssa_region *top =
            s->out->regions.count ? &s->out->regions.items[s->out->regions.count - 1] : NULL;
        if (top && top->end == at) {
            at += close_region(s, at);
            continue;
        }
        if (top && top->else_at == at) {
            start_else(s, top);
        }
        at += emit_inst(s, at);
    }
}

static int compare_names(const void *left, const void *right) {
    uint32_t a = ((const vyre_value_name *)left)->value;
    uint32_t b = ((const vyre_value_name *)right)->value;
    return (a > b) - (a < b);
}

bool vyre_build_ssa(vyre_builder *draft) {
    ssa s = {.draft = draft, .out = &draft->ssa};
    size_t insts = draft->insts.count, consts = draft->consts.count;
    if (!vyre_vec_reserve(&s.out->map, insts + consts + draft->variables.count) ||
        !vyre_vec_reserve(&s.out->phases, draft->phases.count) || !find_carried(&s)) {
        return false;
    }
    /* A variable that a region carries goes in at most once and comes out once. */
    s.room = insts + 2 * s.out->carried.count;
    s.room = s.room < VYRE_LIMIT_INSTRUCTIONS ? s.room : VYRE_LIMIT_INSTRUCTIONS;
    if (!vyre_vec_reserve(&s.out->insts, s.room) || !vyre_vec_reserve(&s.out->places, s.room)) {
        return false;
    }
    s.map = s.out->map.items;
    s.const_map = s.map + insts;
    s.current = s.const_map + consts;
    memset(s.map, 0xff, (insts + consts) * sizeof *s.map);
    if (draft->names.count) {
        qsort(draft->names.items, draft->names.count, sizeof *draft->names.items, compare_names);
    }
    rewrite(&s);
    return !s.failed;
}
