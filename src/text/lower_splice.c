#include <stdio.h>

#include "ir/builder.h"
#include "ir/size.h"
#include "text/lower.h"
#include "text/lower_array.h"
#include "text/lower_generic.h"
#include "text/lower_view.h"

const char *lower_step_name(const vyre_lower *lower, const char *name, vyre_name_text *out) {
    if (!lower->splice) {
        return name;
    }
    int size = snprintf(out->text, sizeof out->text, "%s%s%s", lower->splice->id, name ? "." : "",
                        name ? name : "");
    return size > 0 && (size_t)size < sizeof out->text ? out->text : name;
}

/* The parameters of a program, pushed onto `head`; false if it cannot be read. */
static bool read_head(vyre_lower *lower, vyre_callee callee) {
    vyre_unit *from = lower->unit;
    vyre_parser *parser = &lower->parser;
    vyre_parser_state saved = parser->state;
    bool failed = parser->failed;
    lower_switch(lower, callee.unit);
    uint32_t instance = lower_bind_types(callee.unit, callee.item);
    vyre_parser_open(parser, &callee.unit->items.items[callee.item].place);
    vyre_node node = lower_node(lower, vyre_parse_item(parser));
    bool valid = node.kind == VYRE_NODE_PROGRAM && !parser->failed;
    uint32_t list = valid ? vyre_parser_part(parser, node.b, VYRE_PROGRAM_ARGUMENTS) : VYRE_NONE;
    for (uint32_t i = 0; i < vyre_parser_count(parser, list); i++) {
        uint32_t argument = vyre_parser_item(parser, list, i);
        if (!vyre_vec_push(&lower->head, lower_parameter(lower, argument))) {
            lower_no_memory(lower);
            valid = false;
        }
    }
    vyre_parser_forget_types(parser);
    lower_bind_types(callee.unit, instance);
    lower_switch(lower, from);
    vyre_parser_restore(parser, &saved);
    parser->failed = failed;
    lower->poisoned |= !valid;
    lower_spoil(lower);
    return valid;
}

/* Arguments, in the caller's words */

static vyre_given poisoned(vyre_spot spot) {
    return (vyre_given){.binding = {.kind = VYRE_BINDING_POISON}, .spot = spot};
}

/* Whether an array still holds the zeros it started with. */
static bool is_untouched(const vyre_lower *lower, uint32_t resource) {
    const vyre_builder *builder = lower->builder;
    const vyre_resource *row = &builder->resources.items[resource].row;
    bool starts_zero = row->kind == VYRE_RESOURCE_SCRATCH || row->access == VYRE_ACCESS_OUT;
    bool written = resource < lower->written.count && lower->written.items[resource];
    return starts_zero && !written && !builder->open_repeats.count;
}

static vyre_given array_argument(vyre_lower *lower, uint32_t node, vyre_lower_parameter parameter,
                                 uint32_t position, vyre_callee callee) {
    vyre_node head = lower_node(lower, node);
    const vyre_name_binding *named =
        head.kind == VYRE_NODE_NAME ? vyre_names_find(&lower->unit->names, head.a) : NULL;
    bool zero = named && named->kind == VYRE_BINDING_ARRAY &&
                is_untouched(lower, lower_resource_of(lower, named));
    const vyre_name_binding *array = lower_array_argument(lower, node, parameter, position, callee);
    vyre_spot spot = vyre_node_spot(&head);
    return array ? (vyre_given){.binding = *array, .spot = spot, .zero = zero} : poisoned(spot);
}

static vyre_given wrong_scalar(vyre_lower *lower, vyre_node node, vyre_callee callee,
                               uint32_t position, const char *found, vyre_type wanted) {
    vyre_strbuf how = {0};
    vyre_name_text name;
    lower_report(lower, vyre_node_spot(&node), 301,
                 lower_how(callee, "pass one of that type", &how),
                 "argument %u of `%s` is %s, expected %s", position,
                 lower_callee_name(callee, &name), found, vyre_type_name(wanted));
    vyre_strbuf_free(&how);
    return poisoned(vyre_node_spot(&node));
}

/* A scalar argument or the count of a repeat goes on as what it is. */
static vyre_given named_scalar(vyre_lower *lower, vyre_node node, const vyre_name_binding *binding,
                               vyre_lower_parameter parameter, uint32_t position,
                               vyre_callee callee) {
    if (binding->type != parameter.type) {
        vyre_type_text room;
        return wrong_scalar(lower, node, callee, position,
                            lower_type_name(lower, binding->type, &room),
                            vyre_scalar_of(parameter.type));
    }
    return (vyre_given){.binding = *binding, .spot = vyre_node_spot(&node)};
}

static vyre_given constant_scalar(vyre_lower *lower, uint32_t number,
                                  vyre_lower_parameter parameter, uint32_t position,
                                  vyre_callee callee) {
    vyre_node node = lower_node(lower, number);
    vyre_type wanted = vyre_scalar_of(parameter.type);
    vyre_spot spot = vyre_node_spot(&node);
    vyre_builder *builder = lower->builder;
    vyre_operand value = lower_evaluate(lower, number, wanted);
    if (value.kind == VYRE_OPERAND_PLAIN) {
        lower->builder = NULL;
        lower_settle(lower, &value, wanted, spot);
        lower->builder = builder;
        lower_spoil(lower);
    }
    if (value.kind != VYRE_OPERAND_VALUE) {
        return poisoned(spot);
    }
    if (value.type != wanted) {
        vyre_type_text room;
        return wrong_scalar(lower, node, callee, position,
                            lower_type_name(lower, value.type, &room), wanted);
    }
    return (vyre_given){
        .binding = {.kind = VYRE_BINDING_NUMBER, .type = value.type, .bits = value.value},
        .spot = spot};
}

/* A value that exists only once the program runs; between phases nothing computes. */
static vyre_given computed_scalar(vyre_lower *lower, vyre_node node, vyre_callee callee,
                                  uint32_t position) {
    vyre_name_text name;
    bool is_element = node.kind == VYRE_NODE_ELEMENT;
    lower_report(lower, vyre_node_spot(&node), 301,
                 is_element ? "pass a scalar argument of the program or a constant; only a phase "
                              "reads elements"
                            : "pass a scalar argument of the program or a constant; only a phase "
                              "computes values",
                 "argument %u of `%s` is %s, expected a scalar argument or a constant", position,
                 lower_callee_name(callee, &name),
                 is_element ? "an element of an array" : "a computed value");
    return poisoned(vyre_node_spot(&node));
}

static vyre_given scalar_argument(vyre_lower *lower, uint32_t number,
                                  vyre_lower_parameter parameter, uint32_t position,
                                  vyre_callee callee) {
    vyre_node node = lower_node(lower, number);
    vyre_type wanted = vyre_scalar_of(parameter.type);
    const vyre_name_binding *binding =
        node.kind == VYRE_NODE_NAME ? vyre_names_find(&lower->unit->names, node.a) : NULL;
    if (binding && binding->kind != VYRE_BINDING_ARRAY) {
        return named_scalar(lower, node, binding, parameter, position, callee);
    }
    if (binding) {
        return wrong_scalar(lower, node, callee, position, "an array", wanted);
    }
    if (node.kind == VYRE_NODE_ERROR) {
        return poisoned(vyre_node_spot(&node));
    }
    if (lower_is_constant(lower, number)) {
        return constant_scalar(lower, number, parameter, position, callee);
    }
    if (node.kind == VYRE_NODE_ELEMENT || !(vyre_type_class_of(wanted) & VYRE_CLASS_INTEGER)) {
        return computed_scalar(lower, node, callee, position);
    }
    uint32_t size = lower_size(lower, number);
    vyre_spot spot = vyre_node_spot(&node);
    return size == VYRE_NONE
               ? poisoned(spot)
               : (vyre_given){
                     .binding = {.kind = VYRE_BINDING_SIZE, .type = (uint8_t)wanted, .size = size},
                     .spot = spot};
}

/* No array goes to two parameters, unless both only read it. */
static bool check_aliases(vyre_lower *lower, vyre_callee callee, size_t head, size_t first,
                          uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        const vyre_given *now = &lower->given.items[first + i];
        for (uint32_t k = 0; k < i && now->binding.kind == VYRE_BINDING_ARRAY; k++) {
            const vyre_given *before = &lower->given.items[first + k];
            bool writes = lower->head.items[head + i].kind != VYRE_ARGUMENT_IN ||
                          lower->head.items[head + k].kind != VYRE_ARGUMENT_IN;
            if (before->binding.kind == VYRE_BINDING_ARRAY && writes &&
                lower_resource_of(lower, &before->binding) ==
                    lower_resource_of(lower, &now->binding)) {
                bool is_view = before->binding.handle != now->binding.handle;
                vyre_name_text name, array;
                lower_report(lower, now->spot, 402, "pass a copy, or another array",
                             is_view ? "what `%s` shows is argument %u and %u of `%s`, which "
                                       "writes to it"
                                     : "`%s` is argument %u and %u of `%s`, which writes to it",
                             lower_name(lower, now->binding.symbol, &array), k + 1, i + 1,
                             lower_callee_name(callee, &name));
                return false;
            }
        }
    }
    return true;
}

/* Pushes all arguments of a call; false if one is wrong. */
static bool read_arguments(vyre_lower *lower, vyre_callee callee, vyre_node call, size_t head) {
    size_t first = lower->given.count;
    uint32_t count = vyre_parser_count(&lower->parser, call.b);
    bool valid = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = vyre_parser_item(&lower->parser, call.b, i);
        vyre_lower_parameter parameter = lower->head.items[head + i];
        vyre_given argument = parameter.kind == VYRE_ARGUMENT_SCALAR
                                  ? scalar_argument(lower, node, parameter, i + 1, callee)
                                  : array_argument(lower, node, parameter, i + 1, callee);
        valid &= argument.binding.kind != VYRE_BINDING_POISON;
        if (!vyre_vec_push(&lower->given, argument)) {
            lower_no_memory(lower);
            return false;
        }
    }
    return check_aliases(lower, callee, head, first, count) && valid;
}

/* Parameters, in the words of what is called */

/* The most that a size can be, whatever the arguments are. */
static uint64_t size_at_most(const vyre_builder *builder, uint32_t size) {
    vyre_size_node node = builder->sizes.items[size].node;
    bool has_operands = vyre_size_is_operator(node.op);
    uint64_t left = has_operands ? size_at_most(builder, node.a) : 0, all;
    uint64_t right = has_operands ? size_at_most(builder, node.b) : 0;
    switch (node.op) {
    case VYRE_SIZE_CONST: return node.a | (uint64_t)node.b << 32;
    case VYRE_SIZE_PARAM:
        return vyre_type_bytes((vyre_type)builder->args.items[node.a].type) == 8 ? UINT64_MAX
                                                                                 : UINT32_MAX;
    case VYRE_SIZE_LEN:
    case VYRE_SIZE_ITERATION: return UINT32_MAX;
    case VYRE_SIZE_ADD: return __builtin_add_overflow(left, right, &all) ? UINT64_MAX : all;
    case VYRE_SIZE_MUL: return __builtin_mul_overflow(left, right, &all) ? UINT64_MAX : all;
    case VYRE_SIZE_MIN: return left < right ? left : right;
    case VYRE_SIZE_MAX: return left > right ? left : right;
    default: return left; /* of a difference, a quotient or a remainder */
    }
}

/* A computed scalar has to fit its type, which the host finds out. */
static void require_fit(vyre_lower *lower, const vyre_given *argument) {
    vyre_builder *builder = lower->builder;
    vyre_type type = (vyre_type)argument->binding.type;
    uint32_t size = argument->binding.size, bits = vyre_type_bytes(type) * 8;
    bits -= vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    if (builder->sizes.items[size].node.op == VYRE_SIZE_LEN && bits >= 32) {
        return; /* as any length does */
    }
    uint64_t most = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    if (builder->sizes.items[size].counts) { /* no host computes it before the run */
        if (size_at_most(builder, size) > most) {
            lower_report(lower, argument->spot, 604,
                         "keep it within bounds with `min`, or pass the counter itself",
                         "a size that uses the counter of a repeat may not fit %s",
                         vyre_type_name(type));
        }
        return;
    }
    uint32_t cut = vyre_build_size_op(builder, VYRE_SIZE_MIN, vyre_build_size_copy(builder, size),
                                      vyre_build_size_const(builder, most));
    vyre_build_require(builder, vyre_build_size_copy(builder, size), cut);
}

/* An array has to have the length that its parameter states. What cannot be is told to the caller,
 * at the argument. */
static void require_length(vyre_lower *lower, vyre_callee callee, const vyre_given *argument,
                           uint32_t position, uint32_t size, vyre_spot spot) {
    vyre_builder *builder = lower->builder;
    lower_at(lower, spot);
    uint32_t length = lower_length_of(lower, &argument->binding);
    uint64_t numbers[2];
    if (size == VYRE_NONE || length == VYRE_NONE) {
        return;
    }
    if (builder_match_sizes(builder, length, size, numbers) != SIZES_DIFFER) {
        vyre_build_require(builder, length, size);
        return;
    }
    uint32_t scope = builder->scope;
    vyre_name_text name;
    vyre_build_scope_end(builder);
    lower_report(lower, argument->spot, 604, "pass an array of that length",
                 "argument %u of `%s` has %llu elements, expected %llu", position,
                 lower_callee_name(callee, &name), (unsigned long long)numbers[0],
                 (unsigned long long)numbers[1]);
    builder->scope = scope;
}

static void bind_argument(vyre_lower *lower, vyre_callee callee, vyre_node node, uint32_t position,
                          const vyre_given *argument) {
    vyre_node name = lower_node(lower, node.a);
    vyre_name_binding binding = argument->binding;
    uint32_t size = node.b == VYRE_NONE ? VYRE_NONE : lower_size(lower, node.b);
    if (binding.kind == VYRE_BINDING_ARRAY && node.b != VYRE_NONE) {
        require_length(lower, callee, argument, position, size, vyre_node_spot(&name));
    }
    if (binding.kind == VYRE_BINDING_SIZE) {
        lower_at(lower, vyre_node_spot(&name));
        require_fit(lower, argument);
    }
    if (node.detail == VYRE_ARGUMENT_OUT && !argument->zero &&
        !vyre_vec_push(&lower->fills, (vyre_fill){binding.handle, binding.size, binding.type})) {
        lower_no_memory(lower);
    }
    binding.writable = node.detail != VYRE_ARGUMENT_IN;
    binding.used = true;
    binding.shape = binding.kind == VYRE_BINDING_ARRAY ? lower_shape(lower, name.b) : 0;
    lower_bind(lower, name, binding);
}

/* One phase that zeros all arrays which have to be. It runs over the longest; what it writes behind
 * the end of a shorter one is not written. */
void lower_start_steps(vyre_lower *lower) {
    vyre_splice *splice = lower->splice;
    vyre_builder *builder = lower->builder;
    if (!splice || splice->started) {
        return;
    }
    splice->started = true;
    if (lower->fills.count == splice->fills) {
        return;
    }
    uint32_t domain = VYRE_NONE;
    for (size_t i = splice->fills; i < lower->fills.count; i++) {
        vyre_name_binding array = {.type = lower->fills.items[i].type,
                                   .handle = lower->fills.items[i].resource,
                                   .size = lower->fills.items[i].size};
        uint32_t length = lower_length_of(lower, &array);
        domain = domain == VYRE_NONE ? length
                                     : vyre_build_size_op(builder, VYRE_SIZE_MAX, domain, length);
    }
    vyre_name_text name;
    vyre_build_phase(builder, &(vyre_phase_desc){.name = lower_step_name(lower, "zeros", &name),
                                                 .domain = {domain}});
    for (size_t i = splice->fills; i < lower->fills.count; i++) {
        vyre_fill fill = lower->fills.items[i];
        uint32_t width = lower_width(lower, fill.type);
        for (uint32_t leaf = 0; leaf < width; leaf++) {
            vyre_type type = vyre_leaf_type(&lower->types, fill.type, leaf);
            lower_store(lower, lower_leaf_handle(lower, fill.type, fill.resource, leaf),
                        vyre_build_position(builder, VYRE_OP_GID, 0),
                        vyre_build_const(builder, type, 0));
        }
    }
    vyre_build_phase_end(builder);
    lower->fills.count = splice->fills;
}

static void splice_body(vyre_lower *lower, vyre_callee callee, vyre_spot call, size_t first) {
    vyre_parser *parser = &lower->parser;
    vyre_caller caller;
    vyre_name_text name;
    vyre_splice splice = {.id = lower_callee_name(callee, &name), .fills = lower->fills.count};
    lower_enter(lower, callee, call, &caller);
    lower->silent = true; /* a program warns when it is built by itself */
    lower->function = VYRE_NONE;
    lower->silent = true; /* whoever checks the program itself gets its warnings */
    lower->splice = &splice;
    vyre_parser_open(parser, &callee.unit->items.items[callee.item].place);
    vyre_node node = lower_node(lower, vyre_parse_item(parser));
    if (node.kind == VYRE_NODE_PROGRAM &&
        lower_open(lower, (vyre_lower_block){.kind = VYRE_NODE_PROGRAM})) {
        uint32_t list = vyre_parser_part(parser, node.b, VYRE_PROGRAM_ARGUMENTS);
        for (uint32_t i = 0; i < vyre_parser_count(parser, list); i++) {
            vyre_given argument = lower->given.items[first + i];
            bind_argument(lower, callee, lower_node(lower, vyre_parser_item(parser, list, i)),
                          i + 1, &argument);
        }
        uint32_t phase = vyre_parser_part(parser, node.b, VYRE_PROGRAM_PHASE);
        if (phase != VYRE_NONE) {
            lower_start_steps(lower);
            lower_phase(lower, lower_node(lower, phase));
        }
        lower_statements(lower);
        lower->poisoned |= parser->failed;
    }
    vyre_parser_restore(parser, &caller.parser);
    lower->fills.count = splice.fills;
    lower_leave(lower, &caller);
    lower_spoil(lower);
}

/* Tells the types of a generic program from an argument, as far as they are known. */
static void learn_from(vyre_lower *lower, vyre_generic_call *to, vyre_value_type type,
                       uint32_t number, bool plain_too) {
    vyre_node node = lower_node(lower, number);
    const vyre_name_binding *binding =
        node.kind == VYRE_NODE_NAME ? vyre_names_find(&lower->unit->names, node.a) : NULL;
    if (binding && binding->kind != VYRE_BINDING_POISON) {
        lower_learn_type(to, type, binding->type);
    } else if (!binding && lower_known_type(to, type) == VYRE_TYPE_VOID &&
               lower_is_constant(lower, number)) {
        vyre_operand value = lower_evaluate(lower, number, VYRE_TYPE_VOID);
        if (value.kind == VYRE_OPERAND_VALUE) {
            lower_learn_type(to, type, value.type);
        } else if (value.kind == VYRE_OPERAND_PLAIN && plain_too) {
            lower_learn_type(to, type, value.real ? VYRE_TYPE_F32 : VYRE_TYPE_I32);
        }
    }
}

/* Puts the instance that a call means in place of a generic program, and its types into what was
 * read of its head; false after a report. */
static bool choose_instance(vyre_lower *lower, vyre_node call, size_t head, vyre_callee *callee) {
    vyre_generic_call to = {.callee = *callee};
    if (callee->id) {
        return true; /* its id has the types */
    }
    if (!lower_read_types(lower, call, &to)) {
        return false;
    }
    if (!lower_is_generic(*callee)) {
        return true;
    }
    uint32_t count = (uint32_t)(lower->head.count - head);
    for (uint32_t i = 0; i < 2 * count; i++) { /* numbers without a type come last */
        uint32_t at = i % count;
        learn_from(lower, &to, lower->head.items[head + at].type,
                   vyre_parser_item(&lower->parser, call.b, at), i >= count);
    }
    for (uint32_t i = 0; i < count; i++) {
        vyre_lower_parameter *parameter = &lower->head.items[head + i];
        parameter->type = (uint16_t)lower_known_type(&to, parameter->type);
        bool is_unknown = parameter->type == VYRE_TYPE_VOID;
        if (is_unknown && parameter->kind != VYRE_ARGUMENT_SCALAR &&
            !lower_array_argument(lower, vyre_parser_item(&lower->parser, call.b, i), *parameter,
                                  i + 1, *callee)) {
            return false; /* what it is wrong with, and not what it fails to tell */
        }
    }
    *callee = lower_instance(lower, &to, vyre_node_spot(&call));
    return callee->unit != NULL;
}

/* What a step calls; without a unit after a report. */
static vyre_callee called_program(vyre_lower *lower, vyre_node call) {
    vyre_name_text id;
    if (call.kind == VYRE_NODE_LIBRARY_CALL) {
        return lower_operation_of(lower, call, VYRE_LIBRARY_PROGRAM);
    }
    if (call.kind != VYRE_NODE_CALL) {
        return (vyre_callee){0};
    }
    if (lower->unit->names.symbols.items[call.a].is_program) {
        return (vyre_callee){.unit = lower->unit,
                             .item = lower->unit->names.symbols.items[call.a].item};
    }
    if (!lower_used_id(lower, call, &id)) {
        lower_unknown(lower, call, call.a, true);
        return (vyre_callee){0};
    }
    return *id.text ? lower_operation_by_id(lower, call, id.text, VYRE_LIBRARY_PROGRAM)
                    : (vyre_callee){0};
}

void lower_splice(vyre_lower *lower, uint32_t number) {
    vyre_node call = lower_node(lower, number);
    vyre_callee callee = called_program(lower, call);
    size_t head = lower->head.count, first = lower->given.count;
    if (callee.unit && read_head(lower, callee) &&
        lower_may_call(lower, callee, call, (uint32_t)(lower->head.count - head)) &&
        choose_instance(lower, call, head, &callee) && read_arguments(lower, callee, call, head) &&
        !lower->unit->source.no_memory) {
        lower->depth++;
        lower->inlined++;
        splice_body(lower, callee, vyre_node_spot(&call), first);
        lower->depth--;
    }
    lower->head.count = head;
    lower->given.count = first;
}
