#include <string.h>

#include "base/hash.h"
#include "ir/builder.h"
#include "ir/lookup.h"
#include "ir/rule.h"
#include "ir/word.h"

bool builder_ready(vyre_builder *builder, const char *what) {
    if (builder->in_phase && builder->blocks.count) {
        return true;
    }
    if (!builder->no_memory) {
        vyre_build_report(builder, 108, "open a phase first", "`%s` is outside a phase", what);
    }
    return false;
}

void builder_absent(vyre_builder *builder, const char *what, const char *kind) {
    /* What leaves a block that nothing leaves is absent, too; all after it is never reached. */
    bool is_dead = builder->blocks.count && !vyre_build_reachable(builder);
    if (!vyre_diagnostics_errors(builder->diagnostics) && !builder->no_memory && !is_dead) {
        vyre_build_report(builder, 309, "pass one that was made earlier", "`%s` has no %s", what,
                          kind);
    }
}

void builder_no_value(vyre_builder *builder, const char *what, uint32_t operand, uint32_t value) {
    if (value == VYRE_NONE) {
        static const char *const kinds[] = {"operand 1", "operand 2", "operand 3", "operand 4"};
        builder_absent(builder, what, operand <= 4 ? kinds[operand - 1] : "operand");
    } else {
        vyre_build_report(builder, 309, "pass a value that was built earlier in the same phase",
                          "operand %u of `%s` is not a value", operand, what);
    }
}

bool builder_resource(vyre_builder *builder, const char *what, uint32_t resource) {
    if (resource == VYRE_NONE) {
        builder_absent(builder, what, "array");
        return false;
    }
    if (resource < builder->resources.count) {
        uint32_t phase = builder->resources.items[resource].phase;
        if (phase == VYRE_NONE || phase + 1 == builder->phases.count) {
            return true;
        }
    }
    return builder_refuse(builder, 309, "pass an array of the program or of this phase",
                          "the array of `%s` does not exist here", what);
}

uint32_t builder_emit(vyre_builder *builder, vyre_inst inst) {
    if (builder->insts.count >= 2 * (size_t)VYRE_LIMIT_INSTRUCTIONS) {
        return builder_none(builder, 701, "split the program, or inline less",
                            "the program has more than %d instructions", VYRE_LIMIT_INSTRUCTIONS);
    }
    if (!vyre_vec_reserve(&builder->insts, 1) ||
        !vyre_vec_push(&builder->places, builder_place(builder))) {
        builder_no_memory(builder);
        return VYRE_NONE;
    }
    builder->insts.items[builder->insts.count++] = inst;
    return (uint32_t)builder->insts.count - 1;
}

bool builder_list(vyre_builder *builder, uint32_t count, const uint32_t *values, uint32_t *at) {
    *at = (uint32_t)builder->operands.count;
    if (builder->operands.count + count > 2 * (size_t)VYRE_LIMIT_OPERANDS) {
        return builder_refuse(builder, 701, "split the program, or carry fewer values",
                              "the program has more than %d operands in lists",
                              VYRE_LIMIT_OPERANDS);
    }
    if (!vyre_vec_reserve(&builder->operands, count)) {
        builder_no_memory(builder);
        return false;
    }
    if (count) {
        memcpy(builder->operands.items + *at, values, count * sizeof *values);
    }
    builder->operands.count += count;
    return true;
}

vyre_type vyre_build_type(const vyre_builder *builder, uint32_t value) {
    return builder_type(builder, value);
}

void vyre_build_name(vyre_builder *builder, uint32_t value, const char *name) {
    if (value & VYRE_CONSTANT || value >= builder->insts.count) {
        return; /* constants have no place of their own, and mistakes are reported already */
    }
    vyre_value_name row = {value, builder_name(builder, name)};
    if (row.name) {
        (void)builder_add(builder, names, row);
    }
}

/* Constants */

/* The first few constants are looked through, the map is for more. */
enum { FEW_CONSTS = 12 };

typedef struct const_key {
    const vyre_const *consts;
    uint64_t bits;
    uint32_t type;
} const_key;

static bool same_const(const void *context, uint32_t index) {
    const const_key *key = context;
    return key->consts[index].bits == key->bits && key->consts[index].type == key->type;
}

static uint64_t hash_const(vyre_type type, uint64_t bits) {
    uint64_t words[2] = {bits, type};
    return vyre_hash_key(words, sizeof words);
}

static uint32_t find_const(const vyre_builder *builder, vyre_type type, uint64_t bits) {
    const_key key = {builder->consts.items, bits, type};
    if (builder->consts.count <= FEW_CONSTS) {
        for (uint32_t i = 0; i < builder->consts.count; i++) {
            if (same_const(&key, i)) {
                return i;
            }
        }
        return VYRE_NONE;
    }
    const uint32_t *found =
        vyre_map_find(&builder->const_map, hash_const(type, bits), same_const, &key);
    return found ? *found : VYRE_NONE;
}

/* Enters the newest constant into the map, and all others once they are no longer few. */
static bool map_consts(vyre_builder *builder) {
    size_t count = builder->consts.count;
    bool done = true;
    for (size_t i = builder->const_map.count; count > FEW_CONSTS && i < count && done; i++) {
        const vyre_const *row = &builder->consts.items[i];
        done = vyre_map_add(&builder->const_map, hash_const((vyre_type)row->type, row->bits),
                            (uint32_t)i);
    }
    return done;
}

uint32_t vyre_build_const(vyre_builder *builder, vyre_type type, uint64_t bits) {
    uint32_t bytes = vyre_type_bytes(type);
    if (!bytes || (type == VYRE_TYPE_BOOL && bits > 1)) {
        return builder_none(builder, 304, "pass a scalar type, and 0 or 1 for a bool",
                            "no constant of type %s has the bits 0x%llx", vyre_type_name(type),
                            (unsigned long long)bits);
    }
    bits = bytes == 8 ? bits : bits & (((uint64_t)1 << bytes * 8) - 1);
    uint32_t index = find_const(builder, type, bits);
    if (index != VYRE_NONE) {
        return index | VYRE_CONSTANT;
    }
    index = (uint32_t)builder->consts.count;
    if (index >= 2 * VYRE_LIMIT_CONSTANTS) {
        return builder_none(builder, 701, "read them from a buffer",
                            "the program has more than %d constants", VYRE_LIMIT_CONSTANTS);
    }
    if (!vyre_vec_push(&builder->consts, (vyre_const){bits, type, 0}) || !map_consts(builder)) {
        builder_no_memory(builder);
        return VYRE_NONE;
    }
    return index | VYRE_CONSTANT;
}

uint32_t vyre_build_u32(vyre_builder *builder, uint32_t value) {
    return vyre_build_const(builder, VYRE_TYPE_U32, value);
}

uint32_t vyre_build_i32(vyre_builder *builder, int32_t value) {
    return vyre_build_const(builder, VYRE_TYPE_I32, (uint32_t)value);
}

uint32_t vyre_build_f32(vyre_builder *builder, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return vyre_build_const(builder, VYRE_TYPE_F32, bits);
}

uint32_t vyre_build_bool(vyre_builder *builder, bool value) {
    return vyre_build_const(builder, VYRE_TYPE_BOOL, value);
}

/* Surroundings */

static const vyre_phase *open_phase(const vyre_builder *builder) {
    return &builder->phases.items[builder->phases.count - 1];
}

/* Whether the phase has workgroups; reports if not. */
static bool check_workgroups(vyre_builder *builder, const char *name) {
    return open_phase(builder)->workgroup[0] ||
           builder_refuse(builder, 603, "add a clause such as `workgroup 256` to the phase",
                          "`%s` needs a workgroup clause", name);
}

static uint32_t emit_plain(vyre_builder *builder, vyre_op op, vyre_type type, uint32_t a) {
    return builder_emit(builder, (vyre_inst){.op = (uint16_t)op, .type = (uint8_t)type, .a = a});
}

uint32_t vyre_build_position(vyre_builder *builder, vyre_op op, uint32_t dimension) {
    const char *name = vyre_lookup_op(op)->name;
    bool has_dimensions = vyre_lookup_op(op)->shape == VYRE_SHAPE_NUMBER;
    if (!builder_ready(builder, name ? name : "position")) {
        return VYRE_NONE;
    }
    if (!vyre_op_is_position(op)) {
        return builder_none(builder, 206, "use a position such as GID, LID, WID or NUM_WORKGROUPS",
                            "%d is not a position", (int)op);
    }
    const vyre_phase *phase = open_phase(builder);
    if (op != VYRE_OP_GID && !check_workgroups(builder, name)) {
        return VYRE_NONE;
    }
    if (dimension >= (has_dimensions ? phase->dimensions : 1)) {
        return builder_none(builder, 607, "use a component that the domain has",
                            "`%s` has no component %s: the domain has %u", name,
                            vyre_rule_component(dimension), phase->dimensions);
    }
    return emit_plain(builder, op, op == VYRE_OP_IN_DOMAIN ? VYRE_TYPE_BOOL : VYRE_TYPE_U32,
                      dimension);
}

uint32_t vyre_build_param(vyre_builder *builder, uint32_t scalar) {
    if (!builder_ready(builder, "param")) {
        return VYRE_NONE;
    }
    if (scalar == VYRE_NONE) {
        builder_absent(builder, "param", "argument");
        return VYRE_NONE;
    }
    if (scalar >= builder->args.count || builder->args.items[scalar].resource != VYRE_NONE) {
        return builder_none(builder, 309, "pass a value that vyre_build_scalar returned",
                            "operand 1 of `param` is not a scalar argument");
    }
    return emit_plain(builder, VYRE_OP_PARAM, (vyre_type)builder->args.items[scalar].type, scalar);
}

uint32_t vyre_build_iteration(vyre_builder *builder, uint32_t repeat) {
    if (!builder_ready(builder, "iteration")) {
        return VYRE_NONE;
    }
    if (repeat == VYRE_NONE) {
        builder_absent(builder, "iteration", "repeat");
        return VYRE_NONE;
    }
    if (builder_in_repeat(builder, repeat)) {
        return emit_plain(builder, VYRE_OP_ITERATION, VYRE_TYPE_U32, repeat);
    }
    return builder_none(builder, 309, "use it inside that repeat",
                        "operand 1 of `iteration` is not a repeat around this phase");
}

uint32_t builder_buffer_of(const vyre_builder *builder, uint32_t resource) {
    bool is_field = resource < builder->resources.count &&
                    vyre_resource_is_field(&builder->resources.items[resource].row);
    return is_field ? builder->resources.items[resource].row.size : resource;
}

uint32_t vyre_build_len(vyre_builder *builder, uint32_t resource) {
    resource = builder_buffer_of(builder, resource);
    if (!builder_ready(builder, "len") || !builder_resource(builder, "len", resource)) {
        return VYRE_NONE;
    }
    return emit_plain(builder, VYRE_OP_LEN, VYRE_TYPE_U32, resource);
}

/* Operations on values */

/* An operand that the operation does not take must be VYRE_NONE. */
static bool check_spare(vyre_builder *builder, const char *name, uint32_t operand, uint32_t value) {
    return value == VYRE_NONE ||
           builder_refuse(builder, 303, "pass VYRE_NONE in its place",
                          "`%s` takes no operand %u, but one is passed", name, operand);
}

static uint32_t build_rule(vyre_builder *builder, vyre_op op, uint32_t aux, vyre_type wanted,
                           const uint32_t *values, uint32_t given) {
    const vyre_op_info *info = vyre_lookup_op(op);
    uint32_t count = vyre_rule_arity(op);
    const char *name = info->name ? info->name : "?";
    if (!count || info->rule == VYRE_RULE_OWN || info->rule == VYRE_RULE_NONE) {
        return builder_none(builder, 206, "use the builder function for this operation",
                            "`%s` is not an operation on values", name);
    }
    if (!builder_ready(builder, name)) {
        return VYRE_NONE;
    }
    if (info->effects & VYRE_EFFECT_SUBGROUP &&
        !check_workgroups(builder, vyre_op_written(op, aux))) {
        return VYRE_NONE;
    }
    vyre_type types[3] = {VYRE_TYPE_VOID, VYRE_TYPE_VOID, VYRE_TYPE_VOID}, type;
    bool valid = true;
    for (uint32_t i = 0; i < count; i++) {
        types[i] = builder_value(builder, name, i + 1, values[i]);
        valid &= types[i] != VYRE_TYPE_VOID;
    }
    for (uint32_t i = count; i < given && valid; i++) {
        valid = check_spare(builder, name, i + 1, values[i]);
    }
    vyre_rule_error error;
    if (!valid) {
        return VYRE_NONE;
    }
    uint32_t subgroup = open_phase(builder)->subgroup;
    if (!vyre_rule_check(op, aux, wanted, subgroup, types, &type, &error)) {
        return builder_none(builder, error.code, error.fix, "%s", error.message);
    }
    return builder_emit(builder, (vyre_inst){.op = (uint16_t)op,
                                             .type = (uint8_t)type,
                                             .aux = (uint8_t)aux,
                                             .a = values[0],
                                             .b = count > 1 ? values[1] : 0,
                                             .c = count > 2 ? values[2] : 0});
}

uint32_t vyre_build_op(vyre_builder *builder, vyre_op op, uint32_t a, uint32_t b, uint32_t c) {
    uint8_t rule = vyre_lookup_op(op)->rule;
    if (rule == VYRE_RULE_CONVERT || rule == VYRE_RULE_BITCAST || rule == VYRE_RULE_COMBINE) {
        return builder_none(builder, 206, "use the builder function for this operation",
                            "`%s` needs more than operands", vyre_lookup_op(op)->name);
    }
    return build_rule(builder, op, 0, VYRE_TYPE_VOID, (uint32_t[]){a, b, c}, 3);
}

uint32_t vyre_build_convert(vyre_builder *builder, vyre_type type, uint32_t value) {
    if (value != VYRE_NONE && builder_type(builder, value) == type) {
        return value;
    }
    return build_rule(builder, VYRE_OP_CONVERT, 0, type, &value, 1);
}

uint32_t vyre_build_bitcast(vyre_builder *builder, vyre_type type, uint32_t value) {
    if (value != VYRE_NONE && builder_type(builder, value) == type) {
        return value;
    }
    return build_rule(builder, VYRE_OP_BITCAST, 0, type, &value, 1);
}

uint32_t builder_op(vyre_builder *builder, vyre_op op, vyre_type result,
                    const uint32_t operands[3]) {
    return op == VYRE_OP_CONVERT ? vyre_build_convert(builder, result, operands[0])
           : op == VYRE_OP_BITCAST
               ? vyre_build_bitcast(builder, result, operands[0])
               : vyre_build_op(builder, op, operands[0], operands[1], operands[2]);
}

uint32_t vyre_build_combine(vyre_builder *builder, vyre_op op, vyre_combination how,
                            uint32_t value) {
    if (vyre_lookup_op(op)->rule != VYRE_RULE_COMBINE || how >= VYRE_COMBINE_COUNT) {
        return builder_none(builder, 206, "use REDUCE, SCAN or SCAN_EXCLUSIVE with a combination",
                            "%d is not a subgroup combination", (int)op);
    }
    return build_rule(builder, op, how, VYRE_TYPE_VOID, &value, 1);
}

void vyre_build_matrix_mad(vyre_builder *builder, const uint32_t operands[VYRE_MATRIX_OPERANDS],
                           uint32_t results[VYRE_MATRIX_C]) {
    const char *name = vyre_lookup_op(VYRE_OP_MATRIX_MAD)->name;
    memset(results, 0xff, VYRE_MATRIX_C * sizeof *results); /* VYRE_NONE */
    if (!builder_ready(builder, name) || !check_workgroups(builder, name)) {
        return;
    }
    vyre_type types[VYRE_MATRIX_OPERANDS];
    bool valid = true;
    for (uint32_t i = 0; i < VYRE_MATRIX_OPERANDS; i++) {
        types[i] = builder_value(builder, name, i + 1, operands[i]);
        valid &= types[i] != VYRE_TYPE_VOID;
    }
    vyre_rule_error error;
    uint32_t subgroup = open_phase(builder)->subgroup;
    subgroup = subgroup ? subgroup : 32; /* as the phase will have */
    if (valid && !vyre_rule_check_matrix(types, subgroup, &error)) {
        vyre_build_report(builder, error.code, error.fix, "%s", error.message);
        valid = false;
    }
    uint32_t list;
    if (!valid || !builder_list(builder, VYRE_MATRIX_OPERANDS, operands, &list)) {
        return;
    }
    uint32_t owner = builder_emit(
        builder, (vyre_inst){.op = VYRE_OP_MATRIX_MAD, .a = list, .b = VYRE_MATRIX_OPERANDS});
    for (uint32_t i = 0; i < VYRE_MATRIX_C && owner != VYRE_NONE; i++) {
        results[i] = builder_emit(
            builder, (vyre_inst){.op = VYRE_OP_RESULT, .type = VYRE_TYPE_I32, .a = owner, .b = i});
    }
}

/* Memory */

static const char *array_name(const vyre_builder *builder, uint32_t resource) {
    uint32_t name = builder->resources.items[builder_buffer_of(builder, resource)].name;
    return name ? builder->debug_strings.data + name : "the array";
}

/* The checks every access shares: a place to stand, an array, an index, rights. */
static bool check_access(vyre_builder *builder, vyre_op op, uint32_t resource, uint32_t index) {
    const vyre_op_info *info = vyre_lookup_op(op);
    if (!builder_ready(builder, info->name) || !builder_resource(builder, info->name, resource)) {
        return false;
    }
    vyre_type index_type = builder_value(builder, info->name, 2, index);
    if (index_type == VYRE_TYPE_VOID) {
        return false;
    }
    if (!(vyre_lookup_class(index_type) & VYRE_CLASS_INTEGER)) {
        return builder_refuse(builder, 301, "convert it with u32(...)",
                              "the index of `%s` is %s, expected an integer",
                              array_name(builder, resource), vyre_type_name(index_type));
    }
    const vyre_resource *row = &builder->resources.items[resource].row;
    if (vyre_resource_has_records(row)) {
        return builder_refuse(builder, 309, "access one of its fields",
                              "the elements of `%s` are records", array_name(builder, resource));
    }
    if (info->effects & VYRE_EFFECT_WRITE && row->kind == VYRE_RESOURCE_CONSTANT) {
        return builder_refuse(builder, 401, "copy it into a private array, and write that",
                              "`%s` is a constant array, and `%s` writes it",
                              array_name(builder, resource), info->name);
    }
    if (info->effects & VYRE_EFFECT_WRITE && vyre_resource_is_global(row) &&
        row->access == VYRE_ACCESS_IN) {
        return builder_refuse(builder, 401, "declare it `inout buffer` or `out buffer`",
                              "buffer `%s` is read-only, and `%s` writes it",
                              array_name(builder, resource), info->name);
    }
    return true;
}

static bool check_stored(vyre_builder *builder, vyre_op op, uint32_t operand, uint32_t resource,
                         uint32_t value) {
    vyre_type wanted = (vyre_type)builder->resources.items[resource].row.type;
    vyre_type type = builder_value(builder, vyre_lookup_op(op)->name, operand, value);
    if (type == VYRE_TYPE_VOID) {
        return false;
    }
    if (type != wanted) {
        return builder_refuse(builder, 302,
                              wanted == VYRE_TYPE_BOOL ? "compare it with something, as in x != 0"
                                                       : "convert it to the array's element type",
                              "the value for `%s` is %s, its elements are %s",
                              array_name(builder, resource), vyre_type_name(type),
                              vyre_type_name(wanted));
    }
    return true;
}

static uint32_t emit_access(vyre_builder *builder, vyre_op op, bool has_result, uint32_t aux,
                            uint32_t resource, uint32_t b, uint32_t c) {
    uint8_t type = has_result ? builder->resources.items[resource].row.type : VYRE_TYPE_VOID;
    return builder_emit(
        builder,
        (vyre_inst){
            .op = (uint16_t)op, .type = type, .aux = (uint8_t)aux, .a = resource, .b = b, .c = c});
}

uint32_t vyre_build_load(vyre_builder *builder, uint32_t resource, uint32_t index) {
    if (!check_access(builder, VYRE_OP_LOAD, resource, index)) {
        return VYRE_NONE;
    }
    return emit_access(builder, VYRE_OP_LOAD, true, 0, resource, index, 0);
}

uint32_t vyre_build_uniform_load(vyre_builder *builder, uint32_t resource, uint32_t index) {
    if (!check_access(builder, VYRE_OP_UNIFORM_LOAD, resource, index)) {
        return VYRE_NONE;
    }
    if (builder->resources.items[resource].row.kind == VYRE_RESOURCE_CONSTANT) {
        return builder_none(builder, 402,
                            "use an ordinary load; with a uniform index it is uniform",
                            "`%s` is a constant array, which needs no `uniform_load`",
                            array_name(builder, resource));
    }
    if (builder->resources.items[resource].row.kind == VYRE_RESOURCE_PRIVATE) {
        return builder_none(builder, 402, "use an ordinary load, or a shared array",
                            "`%s` is private, so its elements are not uniform",
                            array_name(builder, resource));
    }
    return check_workgroups(builder, "uniform_load")
               ? emit_access(builder, VYRE_OP_UNIFORM_LOAD, true, 0, resource, index, 0)
               : VYRE_NONE;
}

void vyre_build_store(vyre_builder *builder, uint32_t resource, uint32_t index, uint32_t value) {
    if (check_access(builder, VYRE_OP_STORE, resource, index) &&
        check_stored(builder, VYRE_OP_STORE, 3, resource, value)) {
        emit_access(builder, VYRE_OP_STORE, false, 0, resource, index, value);
    }
}

void vyre_build_clear(vyre_builder *builder, uint32_t resource) {
    if (!builder_ready(builder, "clear") || !builder_resource(builder, "clear", resource)) {
        return;
    }
    if (builder->resources.items[resource].row.kind != VYRE_RESOURCE_PRIVATE) {
        vyre_build_report(builder, 402, "write zeros in a loop",
                          "`%s` is not a private array, and only private arrays can be cleared",
                          array_name(builder, resource));
        return;
    }
    emit_access(builder, VYRE_OP_CLEAR, false, 0, resource, 0, 0);
}

static bool check_atomic(vyre_builder *builder, vyre_op op, uint32_t resource,
                         vyre_ordering ordering, vyre_scope scope) {
    const char *name = vyre_lookup_op(op)->name;
    const vyre_resource *row = &builder->resources.items[resource].row;
    if (row->kind == VYRE_RESOURCE_PRIVATE || row->access == VYRE_ACCESS_IN) {
        return builder_refuse(builder, 402, "use an ordinary load or store",
                              "`%s` is %s, which needs no `%s`", array_name(builder, resource),
                              row->kind == VYRE_RESOURCE_PRIVATE ? "private" : "only read", name);
    }
    if (!vyre_rule_atomic_type((vyre_type)row->type)) {
        bool is_sum = (op == VYRE_OP_ATOMIC_ADD || op == VYRE_OP_ATOMIC_SUB) &&
                      vyre_type_class_of((vyre_type)row->type) == VYRE_CLASS_FLOAT;
        return builder_refuse(builder, 404,
                              is_sum ? "declare `scratch s: sum<f32>[n];`, add with sum_add(s[k], "
                                       "x), and read f32(s[k]) in a later phase"
                                     : "use elements of i32, u32, i64 or u64",
                              "`%s` takes i32, u32, i64 and u64, and the elements of `%s` are %s",
                              name, array_name(builder, resource),
                              vyre_type_name((vyre_type)row->type));
    }
    if (!vyre_rule_ordering_allowed(op, ordering)) {
        const char *text = vyre_ordering_name(ordering);
        char fix[VYRE_RULE_ADVICE];
        vyre_rule_ordering_advice(op, fix);
        if (text) {
            vyre_build_report(builder, 403, fix, "`%s` cannot have the ordering %s", name, text);
        } else {
            vyre_build_report(builder, 403, fix, "`%s` has the ordering %d, which does not exist",
                              name, (int)ordering);
        }
        return false;
    }
    if (scope != VYRE_SCOPE_DEVICE && scope != VYRE_SCOPE_WORKGROUP) {
        return builder_refuse(builder, 403, "use VYRE_SCOPE_DEVICE or VYRE_SCOPE_WORKGROUP",
                              "`%s` cannot have the scope %d", name, (int)scope);
    }
    if (scope == VYRE_SCOPE_WORKGROUP && !open_phase(builder)->workgroup[0]) {
        return builder_refuse(builder, 603, "use `device`, or add a workgroup clause to the phase",
                              "the scope `workgroup` needs a workgroup clause");
    }
    return true;
}

uint32_t vyre_build_atomic(vyre_builder *builder, vyre_op op, uint32_t resource, uint32_t index,
                           uint32_t value, uint32_t desired, vyre_ordering ordering,
                           vyre_scope scope) {
    const vyre_op_info *info = vyre_lookup_op(op);
    if (!(info->effects & VYRE_EFFECT_ATOMIC)) {
        return builder_none(builder, 206, "use an operation such as ATOMIC_ADD",
                            "%d is not an atomic operation", (int)op);
    }
    if (!check_access(builder, op, resource, index) ||
        !check_atomic(builder, op, resource, ordering, scope) ||
        !(op == VYRE_OP_ATOMIC_LOAD ? check_spare(builder, info->name, 3, value)
                                    : check_stored(builder, op, 3, resource, value)) ||
        !(op == VYRE_OP_ATOMIC_CAS ? check_stored(builder, op, 4, resource, desired)
                                   : check_spare(builder, info->name, 4, desired))) {
        return VYRE_NONE;
    }
    if (builder->resources.items[resource].row.kind == VYRE_RESOURCE_SHARED) {
        scope = VYRE_SCOPE_WORKGROUP;
    }
    uint32_t aux = (uint32_t)ordering + 8 * (uint32_t)scope;
    if (op == VYRE_OP_ATOMIC_CAS) {
        uint32_t at;
        return builder_list(builder, 3, (uint32_t[]){index, value, desired}, &at)
                   ? emit_access(builder, op, true, aux, resource, at, 3)
                   : VYRE_NONE;
    }
    return emit_access(builder, op, op != VYRE_OP_ATOMIC_STORE, aux, resource, index,
                       op == VYRE_OP_ATOMIC_LOAD ? 0 : value);
}

void vyre_build_barrier(vyre_builder *builder, vyre_op barrier_or_grid_barrier) {
    vyre_op op = barrier_or_grid_barrier;
    if (op != VYRE_OP_BARRIER && op != VYRE_OP_GRID_BARRIER) {
        vyre_build_report(builder, 206, "use BARRIER or GRID_BARRIER", "%d is not a barrier",
                          (int)op);
        return;
    }
    if (builder_ready(builder, vyre_lookup_op(op)->name) &&
        (op == VYRE_OP_GRID_BARRIER || check_workgroups(builder, "barrier"))) {
        emit_plain(builder, op, VYRE_TYPE_VOID, 0);
    }
}
