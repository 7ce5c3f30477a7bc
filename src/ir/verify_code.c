#include "base/alloc.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "ir/message.h"
#include "ir/program.h"
#include "ir/rule.h"
#include "ir/verify.h"
#include "ir/word.h"

/* A block that is open while the sweep goes through it. */
typedef struct frame {
    uint32_t owner; /* VYRE_NONE for the phase */
    uint32_t end;
    uint32_t results; /* how many values leave the owner */
    uint32_t exits;   /* ways out seen so far */
    uint32_t loop,
        call; /* frames of the innermost loop and inline, itself included; or VYRE_NONE */
    bool in_then;
} frame;

typedef struct sweep {
    verifier *v;
    const vyre_ir *ir;
    const vyre_phase *phase;
    uint32_t step; /* the phase among the steps */
    phase_facts *facts;
    uint32_t *visible_until; /* by instruction of the phase: end of the block that defines it */
    uint32_t at;
    frame *frames;
    uint32_t depth;
    bool must_be_unreachable; /* the instruction before never completes */
} sweep;

static const char structure_fix[] =
    "rebuild the program with the builder or from text, which give it a valid structure";

static bool malformed(sweep *s, const char *what) {
    const char *name = vyre_lookup_op(s->ir->insts[s->at].op)->name;
    return verify_error(s->v, s->at, 703, structure_fix, "instruction %u (`%s`) %s", s->at,
                        name ? name : "?", what);
}

/* Operands */

static bool unknown_value(sweep *s, uint32_t operand) {
    return verify_error(s->v, s->at, 309,
                        "use a value inside the block that defines it; pass it out with yield, "
                        "break, continue or return",
                        "`%s` uses value %u, which does not exist at instruction %u",
                        vyre_lookup_op(s->ir->insts[s->at].op)->name, operand, s->at);
}

static inline bool check_operand(sweep *s, uint32_t operand, vyre_type *out_type) {
    const vyre_ir *ir = s->ir;
    *out_type = VYRE_TYPE_VOID;
    if (operand & VYRE_CONSTANT) {
        uint32_t index = operand & ~VYRE_CONSTANT;
        if (index > s->v->next_const || index >= ir->const_count) {
            return malformed(s, "uses constants out of order");
        }
        s->v->next_const += index == s->v->next_const;
        *out_type = (vyre_type)ir->consts[index].type;
        return true;
    }
    if (operand >= s->at || operand < s->phase->first ||
        s->visible_until[operand - s->phase->first] <= s->at ||
        ir->insts[operand].type == VYRE_TYPE_VOID) {
        return unknown_value(s, operand);
    }
    *out_type = (vyre_type)ir->insts[operand].type;
    return true;
}

/* A list stands where the last one ended. */
static bool check_list(sweep *s, uint32_t at, uint32_t count, uint32_t limit) {
    if (at != s->v->next_operand || count > s->ir->operand_count - at) {
        return malformed(s, "has its operands out of order");
    }
    if (count > limit) {
        return verify_error(s->v, s->at, 701, "carry fewer values",
                            "instruction %u carries %u values, and at most %u are allowed", s->at,
                            count, limit);
    }
    s->v->next_operand += count;
    return true;
}

static inline bool expect(sweep *s, bool condition, const char *what) {
    return condition || malformed(s, what);
}

/* The words that an operation does not use are zero. */
static bool check_spare_words(sweep *s, const vyre_inst *inst, const vyre_op_info *info) {
    enum { ALL = -1 };
    static const struct {
        int32_t a, b, c; /* bits that are zero */
    } spare[] = {[VYRE_SHAPE_NONE] = {ALL, ALL, ALL}, [VYRE_SHAPE_NUMBER] = {0, ALL, ALL},
                 [VYRE_SHAPE_V1] = {0, ALL, ALL},     [VYRE_SHAPE_V2] = {0, 0, ALL},
                 [VYRE_SHAPE_V3] = {0, 0, 0},         [VYRE_SHAPE_R] = {0, ALL, ALL},
                 [VYRE_SHAPE_R_V1] = {0, 0, ALL},     [VYRE_SHAPE_R_V2] = {0, 0, 0},
                 [VYRE_SHAPE_R_LIST] = {0, 0, 0},     [VYRE_SHAPE_LIST] = {0, 0, ALL},
                 [VYRE_SHAPE_PICK] = {0, 0, ALL},     [VYRE_SHAPE_IF] = {0, 0, 0},
                 [VYRE_SHAPE_LOOP] = {0, 0, 0},       [VYRE_SHAPE_INLINE] = {ALL, ALL, 0},
                 [VYRE_SHAPE_GROUP] = {0, 0, 0},      [VYRE_SHAPE_MESSAGE] = {0, 0, 0}};
    uint32_t set = (inst->a & (uint32_t)spare[info->shape].a) |
                   (inst->b & (uint32_t)spare[info->shape].b) |
                   (inst->c & (uint32_t)spare[info->shape].c);
    bool has_aux = info->effects & VYRE_EFFECT_ATOMIC || info->rule == VYRE_RULE_COMBINE;
    return expect(s, !set && (!inst->aux || has_aux), "has a word set that it does not use");
}

/* Surroundings */

static bool check_workgroup(sweep *s, const char *name) {
    return s->phase->workgroup[0] ||
           verify_error(s->v, s->at, 603, "add a clause such as `workgroup 256` to the phase",
                        "`%s` needs a workgroup clause", name);
}

/* Whether the phase stands inside the repeat that is step `repeat`. */
static bool inside_repeat(const sweep *s, uint32_t repeat) {
    return repeat < s->step && vyre_step_is_repeat(&s->ir->steps[repeat]) &&
           s->step < s->ir->steps[repeat].end;
}

static bool check_surroundings(sweep *s, const vyre_inst *inst, const vyre_op_info *info) {
    vyre_type type = VYRE_TYPE_U32;
    bool needs_workgroup = true, has_dimensions = false;
    switch (vyre_inst_op(inst)) {
    case VYRE_OP_PARAM:
        if (!expect(s, inst->a < s->ir->arg_count && s->ir->args[inst->a].resource == VYRE_NONE,
                    "is not a scalar argument")) {
            return false;
        }
        type = vyre_arg_type(&s->ir->args[inst->a]);
        needs_workgroup = false;
        break;
    case VYRE_OP_ITERATION:
        if (!expect(s, inside_repeat(s, inst->a), "counts a repeat that is not around it")) {
            return false;
        }
        needs_workgroup = false;
        break;
    case VYRE_OP_IN_DOMAIN: type = VYRE_TYPE_BOOL; break;
    case VYRE_OP_GID:
        needs_workgroup = false;
        has_dimensions = true;
        break;
    case VYRE_ONE_OF(LID, WID, NUM_WORKGROUPS): has_dimensions = true; break;
    case VYRE_ONE_OF(LANE, SUBGROUP_ID): s->facts->uses_subgroup = true; break;
    case VYRE_OP_LEN:
    case VYRE_ANY_OF(PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, CONTROL, NONE):
        return malformed(s, "is not of the surroundings");
    }
    if (has_dimensions && inst->a >= s->phase->dimensions) {
        return verify_error(s->v, s->at, 607, "use a component that the domain has",
                            "`%s` has no component %s: the domain has %u", info->name,
                            vyre_rule_component(inst->a), s->phase->dimensions);
    }
    return (!needs_workgroup || check_workgroup(s, info->name)) &&
           expect(s, inst->type == type, "has the wrong type");
}

/* Memory */

/* Constant arrays stand in the order of their first use. */
static bool check_constant(sweep *s, uint32_t resource) {
    uint32_t number = resource - s->v->first_constant;
    if (!expect(s, number <= s->v->used_constants, "uses a constant array out of order")) {
        return false;
    }
    s->v->used_constants += number == s->v->used_constants;
    return true;
}

static bool check_resource(sweep *s, uint32_t resource) {
    bool known = resource < s->ir->resource_count &&
                 (vyre_resource_is_global(&s->ir->resources[resource]) ||
                  s->ir->resources[resource].kind == VYRE_RESOURCE_CONSTANT ||
                  (resource >= s->phase->first_resource && resource < s->phase->end_resource));
    return expect(s, known, "uses an array that does not exist in its phase") &&
           (s->ir->resources[resource].kind != VYRE_RESOURCE_CONSTANT ||
            check_constant(s, resource));
}

static void warn_out_of_bounds(sweep *s, const vyre_resource *row, uint32_t resource,
                               uint32_t index) {
    if (!(index & VYRE_CONSTANT)) {
        return;
    }
    row = vyre_resource_is_field(row) ? &s->ir->resources[row->size] : row;
    uint64_t length = row->length;
    if (row->kind <= VYRE_RESOURCE_SCRATCH && row->size != VYRE_NONE &&
        s->ir->sizes[row->size].op == VYRE_SIZE_CONST) {
        const vyre_size_node *node = &s->ir->sizes[row->size];
        length = node->a | (uint64_t)node->b << 32;
    } else if (row->kind <= VYRE_RESOURCE_SCRATCH ||
               (row->kind == VYRE_RESOURCE_SHARED && row->size != VYRE_NONE)) {
        return;
    }
    const vyre_const *value = &s->ir->consts[index & ~VYRE_CONSTANT];
    uint32_t bits = vyre_type_bytes((vyre_type)value->type) * 8;
    bool negative =
        vyre_lookup_class((vyre_type)value->type) == VYRE_CLASS_SIGNED && value->bits >> (bits - 1);
    if (negative || value->bits >= length) {
        verify_warning(s->v, s->at, 803, "use an index from 0 to the length minus 1",
                       "the index %s%llu is out of bounds of `%s`, which has %llu elements",
                       negative ? "-" : "",
                       (unsigned long long)(negative ? ((uint64_t)1 << (bits - 1)) * 2 - value->bits
                                                     : value->bits),
                       verify_resource_name(s->v, resource), (unsigned long long)length);
    }
}

static bool check_stored(sweep *s, const vyre_resource *row, uint32_t operand) {
    vyre_type type;
    return check_operand(s, operand, &type) &&
           (type == (vyre_type)row->type ||
            verify_error(s->v, s->at, 302, "convert it to the array's element type",
                         "the value is %s, the elements of the array are %s", vyre_type_name(type),
                         vyre_type_name((vyre_type)row->type)));
}

static bool check_atomic(sweep *s, const vyre_inst *inst, const vyre_op_info *info,
                         const vyre_resource *row) {
    uint32_t ordering = inst->aux & 7, scope = inst->aux >> 3;
    bool is_shared = row->kind == VYRE_RESOURCE_SHARED;
    if (row->kind == VYRE_RESOURCE_PRIVATE || row->access == VYRE_ACCESS_IN) {
        return verify_error(s->v, s->at, 402, "use an ordinary load or store",
                            "`%s` is private or read-only, so `%s` does not apply to it",
                            verify_resource_name(s->v, inst->a), info->name);
    }
    if (!vyre_rule_atomic_type((vyre_type)row->type)) {
        return verify_error(s->v, s->at, 404, "use elements of i32, u32, i64 or u64",
                            "`%s` takes i32, u32, i64 and u64, and the elements are %s", info->name,
                            vyre_type_name((vyre_type)row->type));
    }
    if (!vyre_rule_ordering_allowed((vyre_op)inst->op, ordering)) {
        char fix[VYRE_RULE_ADVICE];
        vyre_rule_ordering_advice((vyre_op)inst->op, fix);
        return verify_error(s->v, s->at, 403, fix, "`%s` cannot have that ordering", info->name);
    }
    return expect(s, scope <= VYRE_SCOPE_WORKGROUP && (!is_shared || scope), "has a wrong scope") &&
           (!scope || check_workgroup(s, info->name));
}

static bool check_memory(sweep *s, const vyre_inst *inst, const vyre_op_info *info) {
    if (!check_resource(s, inst->a)) {
        return false;
    }
    const vyre_resource *row = &s->ir->resources[inst->a];
    s->facts->uses_shared |= row->kind == VYRE_RESOURCE_SHARED;
    if (inst->op == VYRE_OP_LEN) {
        return expect(s, inst->type == VYRE_TYPE_U32, "has the wrong type") &&
               expect(s, !vyre_resource_is_field(row), "asks for the length of a field");
    }
    if (!expect(s, !vyre_resource_has_records(row), "accesses a record as a whole")) {
        return false;
    }
    if (vyre_resource_is_field(row)) {
        s->v->used_fields[inst->a / 64] |= (uint64_t)1 << inst->a % 64;
    }
    if (info->effects & VYRE_EFFECT_WRITE && row->access == VYRE_ACCESS_IN) {
        bool is_buffer = row->kind == VYRE_RESOURCE_BUFFER;
        return verify_error(s->v, s->at, 401,
                            is_buffer ? "declare it `inout buffer` or `out buffer`"
                                      : "write a private array instead",
                            "%s `%s` is read-only, and `%s` writes it",
                            is_buffer ? "buffer" : "constant array",
                            verify_resource_name(s->v, inst->a), info->name);
    }
    bool is_private = row->kind == VYRE_RESOURCE_PRIVATE;
    if (inst->op == VYRE_OP_UNIFORM_LOAD &&
        !expect(s, row->kind != VYRE_RESOURCE_CONSTANT, "reads a constant array")) {
        return false;
    }
    if (inst->op == VYRE_OP_CLEAR) {
        return expect(s, is_private, "clears an array that is not private") &&
               expect(s, inst->type == VYRE_TYPE_VOID, "has the wrong type");
    }
    if (inst->op == VYRE_OP_UNIFORM_LOAD &&
        (!expect(s, !is_private, "reads a private array") || !check_workgroup(s, info->name))) {
        return false;
    }
    if (info->effects & VYRE_EFFECT_ATOMIC && !check_atomic(s, inst, info, row)) {
        return false;
    }
    if (info->shape == VYRE_SHAPE_R_LIST &&
        (!expect(s, inst->c == 3, "has the wrong number of operands") ||
         !check_list(s, inst->b, inst->c, 3))) {
        return false;
    }
    vyre_list values = vyre_inst_operands(s->ir, inst);
    vyre_type index_type;
    if (!check_operand(s, values.items[0], &index_type)) {
        return false;
    }
    if (!(vyre_lookup_class(index_type) & VYRE_CLASS_INTEGER)) {
        return verify_error(s->v, s->at, 301, "convert it with u32(...)",
                            "the index of `%s` is %s, expected an integer",
                            verify_resource_name(s->v, inst->a), vyre_type_name(index_type));
    }
    warn_out_of_bounds(s, row, inst->a, values.items[0]);
    for (uint32_t i = 1; i < values.count; i++) {
        if (!check_stored(s, row, values.items[i])) {
            return false;
        }
    }
    bool has_result = info->effects & VYRE_EFFECT_READ;
    return expect(s, inst->type == (has_result ? row->type : VYRE_TYPE_VOID), "has the wrong type");
}

static bool check_message(sweep *s, const vyre_inst *inst) {
    vyre_type types[VYRE_LIMIT_MESSAGE_VALUES + 1];
    if (!check_resource(s, inst->a) ||
        !expect(s, vyre_message_is_text(s->ir, inst->a), "has no text") ||
        !check_list(s, inst->b, inst->c, VYRE_LIMIT_MESSAGE_VALUES + 1)) {
        return false;
    }
    vyre_list values = vyre_inst_operands(s->ir, inst);
    for (uint32_t i = 0; i < values.count; i++) {
        if (!check_operand(s, values.items[i], &types[i])) {
            return false;
        }
    }
    vyre_rule_error error;
    return vyre_message_check((vyre_op)inst->op, vyre_message_text(s->ir, inst), types,
                              values.count, &error) ||
           verify_error(s->v, s->at, error.code, error.fix, "%s", error.message);
}

/* Values */

static bool check_subgroups(sweep *s, const vyre_inst *inst) {
    s->facts->syncs = s->facts->uses_subgroup = true;
    return s->phase->workgroup[0] || check_workgroup(s, vyre_op_written(inst->op, inst->aux));
}

static bool check_rule(sweep *s, const vyre_inst *inst, const vyre_op_info *info) {
    vyre_list values = vyre_inst_operands(s->ir, inst);
    vyre_type types[3] = {VYRE_TYPE_VOID, VYRE_TYPE_VOID, VYRE_TYPE_VOID}, type;
    for (uint32_t i = 0; i < values.count; i++) {
        if (!check_operand(s, values.items[i], &types[i])) {
            return false;
        }
    }
    if (info->effects & VYRE_EFFECT_SUBGROUP && !check_subgroups(s, inst)) {
        return false;
    }
    vyre_rule_error error;
    if (!vyre_rule_check((vyre_op)inst->op, inst->aux, (vyre_type)inst->type, s->phase->subgroup,
                         types, &type, &error)) {
        return verify_error(s->v, s->at, error.code, error.fix, "%s", error.message);
    }
    return expect(s, inst->type == type, "has the wrong type");
}

/* Structure */

static uint32_t count_results(const sweep *s, uint32_t owner, uint32_t end) {
    uint32_t count = 0;
    while (end + count < s->phase->end && s->ir->insts[end + count].op == VYRE_OP_RESULT &&
           s->ir->insts[end + count].a == owner && s->ir->insts[end + count].b == count) {
        count++;
    }
    return count;
}

/* An operation with several values has no block; its results follow at once. */
static bool check_matrix(sweep *s, const vyre_inst *inst) {
    vyre_type types[VYRE_MATRIX_OPERANDS];
    if (!expect(s, inst->type == VYRE_TYPE_VOID, "has the wrong type") ||
        !expect(s, inst->b == VYRE_MATRIX_OPERANDS, "has the wrong number of operands") ||
        !check_list(s, inst->a, inst->b, VYRE_MATRIX_OPERANDS)) {
        return false;
    }
    for (uint32_t i = 0; i < inst->b; i++) {
        if (!check_operand(s, s->ir->operands[inst->a + i], &types[i])) {
            return false;
        }
    }
    vyre_rule_error error;
    if (!check_subgroups(s, inst)) {
        return false;
    }
    if (!vyre_rule_check_matrix(types, s->phase->subgroup, &error)) {
        return verify_error(s->v, s->at, error.code, error.fix, "%s", error.message);
    }
    bool followed = inst->c == s->at + 1 && count_results(s, s->at, inst->c) == VYRE_MATRIX_C;
    for (uint32_t i = 0; followed && i < VYRE_MATRIX_C; i++) {
        followed = s->ir->insts[inst->c + i].type == VYRE_TYPE_I32;
    }
    return expect(s, followed, "does not match its results");
}

static bool open_frame(sweep *s, const vyre_inst *inst, uint32_t end) {
    frame *parent = &s->frames[s->depth - 1];
    bool is_if = inst->op == VYRE_OP_IF;
    if (!expect(s,
                end > s->at + 1 && inst->c >= end && inst->c < parent->end &&
                    (!is_if || inst->c > end),
                "has blocks that do not lie inside its own")) {
        return false;
    }
    if (s->depth > VYRE_LIMIT_NESTING) {
        return verify_error(s->v, s->at, 701, "move inner blocks into straight code",
                            "more than %d blocks are nested", VYRE_LIMIT_NESTING);
    }
    frame *opened = &s->frames[s->depth];
    *opened = (frame){.owner = s->at,
                      .end = end,
                      .results = count_results(s, s->at, inst->c),
                      .loop = parent->loop,
                      .call = parent->call,
                      .in_then = is_if,
                      .exits = inst->op == VYRE_OP_FOR};
    if (inst->op == VYRE_OP_FOR || inst->op == VYRE_OP_LOOP) {
        opened->loop = s->depth;
    } else if (inst->op == VYRE_OP_INLINE) {
        opened->call = s->depth;
        opened->loop = VYRE_NONE;
    }
    s->depth++;
    return true;
}

static bool check_if(sweep *s, const vyre_inst *inst) {
    vyre_type type;
    if (!check_operand(s, inst->a, &type)) {
        return false;
    }
    if (type != VYRE_TYPE_BOOL) {
        return verify_error(s->v, s->at, 301, "compare it with something, as in x != 0",
                            "the condition of `if` is %s, expected bool", vyre_type_name(type));
    }
    return open_frame(s, inst, inst->b);
}

/* Args stand behind the loop, of the types of what they start with. */
static bool check_loop(sweep *s, const vyre_inst *inst) {
    const vyre_ir *ir = s->ir;
    uint32_t head = inst->op == VYRE_OP_FOR ? 3 : 0;
    if (!expect(s, inst->b >= head, "has no range") ||
        !check_list(s, inst->a, inst->b, VYRE_LIMIT_CARRIED + head)) {
        return false;
    }
    uint32_t args = inst->b - head + (head ? 1 : 0);
    if (!open_frame(s, inst, inst->c) ||
        !expect(s, inst->c - s->at - 1 > args, "has no room for its args")) {
        return false;
    }
    if (head && !expect(s, s->frames[s->depth - 1].results == inst->b - head,
                        "gives another number of values than it carries")) {
        return false;
    }
    vyre_type range = VYRE_TYPE_VOID;
    for (uint32_t i = 0; i < inst->b; i++) {
        vyre_type type;
        if (!check_operand(s, ir->operands[inst->a + i], &type)) {
            return false;
        }
        if (i < head) {
            range = i ? range : type;
            if (type != range || !(vyre_lookup_class(type) & VYRE_CLASS_INTEGER)) {
                return verify_error(s->v, s->at, 301, "use one integer type for the range",
                                    "the range of `for` has a bound of type %s",
                                    vyre_type_name(type));
            }
        }
        uint32_t arg = i < head ? 0 : i - head + (head ? 1 : 0);
        const vyre_inst *found = &ir->insts[s->at + 1 + arg];
        if (!expect(s,
                    found->op == VYRE_OP_ARG && found->type == type && found->a == s->at &&
                        found->b == arg,
                    "does not match its args") ||
            (head && i >= head &&
             !expect(s, ir->insts[inst->c + i - head].type == type,
                     "does not match its results"))) {
            return false;
        }
    }
    return true;
}

static bool check_pick(sweep *s, const vyre_inst *inst) {
    const vyre_inst *owner = inst->a < s->at ? &s->ir->insts[inst->a] : NULL;
    bool placed = false;
    if (owner && inst->a >= s->phase->first && inst->op == VYRE_OP_ARG) {
        bool is_for = owner->op == VYRE_OP_FOR;
        placed = (is_for || owner->op == VYRE_OP_LOOP) && inst->a + 1 + inst->b == s->at &&
                 inst->b < owner->b - (is_for ? 2 : 0);
    } else if (owner && inst->a >= s->phase->first) {
        const vyre_inst *before = inst - 1;
        const vyre_op_info *info = vyre_lookup_op(owner->op);
        bool has_results = info->effects & VYRE_EFFECT_BLOCK ||
                           (info->shape == VYRE_SHAPE_GROUP && inst->b < VYRE_MATRIX_C);
        placed = has_results && inst->b < s->at && owner->c == s->at - inst->b &&
                 (!inst->b || (before->op == VYRE_OP_RESULT && before->a == inst->a));
    }
    return expect(s, placed && inst->type > VYRE_TYPE_VOID && inst->type < VYRE_TYPE_COUNT,
                  "does not follow its owner");
}

/* Values that leave for `target` match its results, or its args when the loop goes on. */
static bool check_end_values(sweep *s, const vyre_inst *inst, frame *target) {
    const vyre_ir *ir = s->ir;
    uint32_t wanted = 0, first = 0;
    if (target && target->owner != VYRE_NONE) {
        const vyre_inst *owner = &ir->insts[target->owner];
        wanted = target->results;
        first = owner->c;
        if (inst->op == VYRE_OP_CONTINUE) {
            bool is_for = owner->op == VYRE_OP_FOR;
            wanted = owner->b - (is_for ? 3 : 0);
            first = target->owner + 1 + is_for;
        } else {
            target->exits++;
        }
    }
    if (inst->b != wanted) {
        return verify_error(s->v, s->at, 506, "give as many values as the block expects",
                            "`%s` gives %u values, expected %u", vyre_lookup_op(inst->op)->name,
                            inst->b, wanted);
    }
    for (uint32_t i = 0; i < wanted; i++) {
        vyre_type type;
        if (!check_operand(s, ir->operands[inst->a + i], &type)) {
            return false;
        }
        if (type != (vyre_type)ir->insts[first + i].type) {
            return verify_error(s->v, s->at, 506, "convert it",
                                "value %u of `%s` is %s, expected %s", i + 1,
                                vyre_lookup_op(inst->op)->name, vyre_type_name(type),
                                vyre_type_name((vyre_type)ir->insts[first + i].type));
        }
    }
    return true;
}

static bool check_end(sweep *s, const vyre_inst *inst) {
    frame *top = &s->frames[s->depth - 1], *target = NULL;
    if (inst->op == VYRE_OP_UNREACHABLE) {
        return expect(s, s->must_be_unreachable, "can be reached");
    }
    if (!check_list(s, inst->a, inst->b, VYRE_LIMIT_CARRIED)) {
        return false;
    }
    if (inst->op == VYRE_OP_YIELD) {
        bool in_branch = top->owner != VYRE_NONE && s->ir->insts[top->owner].op == VYRE_OP_IF;
        target = in_branch ? top : NULL;
    } else if (inst->op == VYRE_OP_BREAK || inst->op == VYRE_OP_CONTINUE) {
        target = top->loop != VYRE_NONE ? &s->frames[top->loop] : NULL;
    } else if (inst->op == VYRE_OP_RETURN) {
        target = &s->frames[top->call == VYRE_NONE ? 0 : top->call];
    }
    return expect(s, target, "is where there is no block to leave") &&
           check_end_values(s, inst, target);
}

static bool check_inst(sweep *s) {
    const vyre_inst *inst = &s->ir->insts[s->at];
    const vyre_op_info *info = vyre_lookup_op(inst->op);
    if (!info->name || !check_spare_words(s, inst, info)) {
        return info->name ? false : malformed(s, "is not an operation");
    }
    bool last = s->at + 1 == s->frames[s->depth - 1].end;
    bool ends = info->effects & VYRE_EFFECT_END;
    if (!expect(s, ends == last, last ? "does not end its block" : "ends inside its block") ||
        !expect(s, !s->must_be_unreachable || inst->op == VYRE_OP_UNREACHABLE,
                "follows an instruction that never completes") ||
        !expect(s, info->rule != VYRE_RULE_NONE || inst->type == VYRE_TYPE_VOID, "has a type")) {
        return false;
    }
    switch ((vyre_shape)info->shape) {
    case VYRE_SHAPE_R:
    case VYRE_SHAPE_R_V1:
    case VYRE_SHAPE_R_V2:
    case VYRE_SHAPE_R_LIST:
        s->facts->syncs |= inst->op == VYRE_OP_UNIFORM_LOAD;
        return check_memory(s, inst, info);
    case VYRE_SHAPE_V1:
    case VYRE_SHAPE_V2:
    case VYRE_SHAPE_V3: return check_rule(s, inst, info);
    case VYRE_SHAPE_GROUP: return check_matrix(s, inst);
    case VYRE_SHAPE_MESSAGE: return check_message(s, inst);
    case VYRE_SHAPE_IF: return check_if(s, inst);
    case VYRE_SHAPE_LOOP: return check_loop(s, inst);
    case VYRE_SHAPE_INLINE: return open_frame(s, inst, inst->c);
    case VYRE_SHAPE_PICK: return check_pick(s, inst);
    case VYRE_SHAPE_LIST: return check_end(s, inst);
    case VYRE_SHAPE_NUMBER: return check_surroundings(s, inst, info);
    case VYRE_SHAPE_NONE: break;
    }
    if (inst->op == VYRE_OP_UNREACHABLE) {
        return check_end(s, inst);
    }
    if (inst->op == VYRE_OP_GRID_BARRIER) {
        s->facts->syncs = s->facts->grid_barriers = true;
        return true;
    }
    if (inst->op == VYRE_OP_BARRIER) {
        s->facts->syncs = true;
        return check_workgroup(s, info->name);
    }
    return check_surroundings(s, inst, info);
}

/* Frames that end before the next instruction: a then goes on as the else, others close. */
static void close_frames(sweep *s) {
    while (s->depth > 1) {
        frame *top = &s->frames[s->depth - 1];
        if (top->end != s->at) {
            return;
        }
        if (top->in_then) {
            top->in_then = false;
            top->end = s->ir->insts[top->owner].c;
            return;
        }
        s->must_be_unreachable = !top->exits;
        s->depth--;
    }
}

bool verify_code(verifier *v, uint32_t phase, uint32_t step, phase_facts *facts) {
    const vyre_ir *ir = v->ir;
    const vyre_phase *row = &ir->phases[phase];
    uint32_t count = row->end - row->first;
    frame frames[VYRE_LIMIT_NESTING + 2];
    frames[0] = (frame){.owner = VYRE_NONE, .end = row->end, .loop = VYRE_NONE, .call = VYRE_NONE};
    uint32_t few[256]; /* enough for most, so that these take no memory */
    uint32_t *many = count > 256 ? vyre_alloc_array(count, sizeof *many) : NULL;
    sweep s = {.v = v,
               .ir = ir,
               .phase = row,
               .step = step,
               .facts = facts,
               .visible_until = count > 256 ? many : few,
               .frames = frames,
               .depth = 1};
    if (!s.visible_until) {
        v->no_memory = true;
        return false;
    }
    bool valid = true;
    for (s.at = s.phase->first; s.at < s.phase->end;) {
        s.visible_until[s.at - s.phase->first] = s.frames[s.depth - 1].end;
        valid = check_inst(&s);
        if (!valid) {
            break;
        }
        s.must_be_unreachable = false;
        s.at++;
        close_frames(&s);
    }
    vyre_free(many);
    if (valid && facts->uses_subgroup != (s.phase->subgroup != 0)) {
        return verify_error(v, s.phase->first, 703, structure_fix,
                            "phase %u declares a subgroup width and does not use it, or uses one "
                            "without declaring it",
                            phase);
    }
    return valid;
}
