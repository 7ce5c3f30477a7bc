#include "ir/builder.h"
#include "ir/lookup.h"
#include "text/lower.h"
#include "text/lower_array.h"
#include "text/lower_generic.h"
#include "text/lower_sum.h"
#include "text/lower_view.h"

/* A buffer of composites: its elements are records, and each leaf is a field of them. */
static bool lower_records(vyre_lower *lower, vyre_value_type type, const char *name,
                          vyre_access access, uint32_t size, uint32_t *out_handle) {
    uint32_t width = lower_width(lower, type);
    if (!width) {
        lower->poisoned = true; /* the struct itself is wrong */
        lower_spoil(lower);
        return false;
    }
    for (uint32_t i = 0; i < width; i++) {
        if (vyre_leaf_type(&lower->types, type, i) == VYRE_TYPE_BOOL) {
            vyre_name_text full;
            vyre_build_report(lower->builder, 306, "use u8 and compare with 0",
                              "buffer `%s` has elements with a bool, `%s`, and a host may pass "
                              "bytes other than 0 and 1",
                              name, lower_leaf_name(lower, name, type, i, &full));
            return false;
        }
    }
    uint32_t buffer = vyre_build_records(lower->builder, name, access,
                                         vyre_value_bytes(&lower->types, type), size);
    *out_handle = (uint32_t)lower->leaves.count;
    for (uint32_t i = 0; i < width; i++) {
        uint32_t field =
            vyre_build_field(lower->builder, buffer, vyre_leaf_type(&lower->types, type, i),
                             vyre_leaf_offset(&lower->types, type, i));
        if (field == VYRE_NONE || !lower_add_leaf(lower, field)) {
            return false;
        }
    }
    return true;
}

static bool lower_buffer(vyre_lower *lower, vyre_node node, vyre_value_type type, const char *name,
                         uint32_t size, uint32_t *out_handle) {
    static const vyre_access accesses[] = {[VYRE_ARGUMENT_IN] = VYRE_ACCESS_IN,
                                           [VYRE_ARGUMENT_INOUT] = VYRE_ACCESS_INOUT,
                                           [VYRE_ARGUMENT_OUT] = VYRE_ACCESS_OUT};
    vyre_access access = accesses[node.detail];
    if (!vyre_type_is_scalar(type)) {
        return lower_records(lower, type, name, access, size, out_handle);
    }
    *out_handle = vyre_build_buffer(lower->builder, name, access, (vyre_type)type, size);
    return *out_handle != VYRE_NONE;
}

/* Of the argument that was added last. */
static void declare_dimensions(vyre_lower *lower, const vyre_name_binding *array) {
    vyre_builder *builder = lower->builder;
    if (array->kind == VYRE_BINDING_ARRAY) {
        builder->args.items[builder->args.count - 1].dimensions =
            (uint8_t)lower_dimensions(lower, array);
    }
}

static void lower_argument(vyre_lower *lower, vyre_node node) {
    vyre_node name = lower_node(lower, node.a);
    vyre_value_type type = name.detail;
    bool is_buffer = node.detail != VYRE_ARGUMENT_SCALAR;
    uint32_t size = node.b == VYRE_NONE ? VYRE_NONE : lower_size(lower, node.b);
    bool size_failed = node.b != VYRE_NONE && size == VYRE_NONE;
    vyre_name_binding binding = {.kind = VYRE_BINDING_POISON,
                                 .type = (uint16_t)type,
                                 .size = VYRE_NONE,
                                 .writable = node.detail != VYRE_ARGUMENT_IN,
                                 .used = true};
    if (!is_buffer && !vyre_type_is_scalar(type)) {
        vyre_type_text room;
        lower_report(lower, vyre_node_spot(&name), 301,
                     "use one argument for each scalar, or a buffer of one element",
                     "an argument of a program cannot be %s", lower_type_name(lower, type, &room));
        type = VYRE_TYPE_VOID;
    }
    if (name.kind == VYRE_NODE_NAME && type != VYRE_TYPE_VOID) {
        vyre_name_text text;
        lower_name(lower, name.a, &text);
        lower_at(lower, vyre_node_spot(&name));
        /* A size that is wrong was reported; any other one serves for the checks that follow. */
        size = size_failed ? vyre_build_size_const(lower->builder, 1) : size;
        if (is_buffer) {
            binding.kind = lower_buffer(lower, node, type, text.text, size, &binding.handle)
                               ? VYRE_BINDING_ARRAY
                               : VYRE_BINDING_POISON;
            binding.shape =
                binding.kind == VYRE_BINDING_ARRAY && !size_failed ? lower_shape(lower, name.b) : 0;
            declare_dimensions(lower, &binding);
        } else {
            binding.handle = vyre_build_scalar(lower->builder, text.text, (vyre_type)type);
            binding.kind = binding.handle == VYRE_NONE ? VYRE_BINDING_POISON : VYRE_BINDING_SCALAR;
        }
    }
    lower_bind(lower, name, binding);
}

static void lower_scratch(vyre_lower *lower, vyre_node node) {
    vyre_node name = lower_node(lower, node.a);
    uint32_t size = lower_size(lower, node.b);
    vyre_name_binding binding = {.kind = VYRE_BINDING_POISON,
                                 .type = name.detail,
                                 .size = VYRE_NONE,
                                 .writable = true,
                                 .used = true};
    if (name.kind == VYRE_NODE_NAME && name.detail && size != VYRE_NONE) {
        vyre_name_text text, full;
        lower_name(lower, name.a, &text);
        lower_at(lower, vyre_node_spot(&name));
        uint32_t elements =
            node.detail ? lower_sum_digits(lower, (vyre_type)node.detail, size) : size;
        vyre_array_declaration array = {.kind = VYRE_RESOURCE_SCRATCH,
                                        .type = name.detail,
                                        .name = lower_step_name(lower, text.text, &full),
                                        .size = elements};
        bool declared =
            elements != VYRE_NONE && lower_declare_array(lower, &array, &binding.handle);
        if (declared) {
            binding.kind = VYRE_BINDING_ARRAY;
            binding.used = false;
            binding.size = size;
            binding.shape = lower_shape(lower, name.b);
            binding.sum = (uint8_t)node.detail;
        }
        /* It is zeros when the spliced program starts, each time. */
        bool again = lower->splice && lower->builder->open_repeats.count;
        if (declared && again &&
            !vyre_vec_push(&lower->fills, (vyre_fill){binding.handle, elements, name.detail})) {
            lower_no_memory(lower);
        }
    }
    lower_bind(lower, name, binding);
}

/* An element outside of phases: its array and, as a size, its index. */
static bool lower_outer_element(vyre_lower *lower, uint32_t number, uint32_t *resource,
                                uint32_t *index) {
    vyre_node node = lower_node(lower, number);
    if (node.kind != VYRE_NODE_ELEMENT) {
        return false;
    }
    const vyre_name_binding *array = lower_array(lower, node, node.a);
    if (array && !vyre_type_is_scalar(array->type)) {
        vyre_operand element = {.kind = VYRE_OPERAND_COMPOSITE, .type = array->type};
        lower_refuse_composite(lower, &element, vyre_node_spot(&node));
        array = NULL;
    }
    if (array && lower_refuse_view(lower, array->handle, node.a, "a condition or count of steps",
                                   vyre_node_spot(&node))) {
        array = NULL;
    }
    *resource = array ? array->handle : VYRE_NONE;
    if (array && lower_node(lower, node.b).kind == VYRE_NODE_INDICES) {
        lower_report(lower, vyre_node_spot(&node), 604, "count in an array of one dimension",
                     "an element that steps read has one index");
        return false;
    }
    *index = lower_size(lower, node.b);
    return array && *index != VYRE_NONE;
}

/* Dimensions of an array whose name alone is a domain; 1 for all else. */
static uint32_t domain_dimensions(vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number);
    if (node.kind != VYRE_NODE_NAME) {
        return 1;
    }
    const vyre_name_binding *binding = vyre_names_find(&lower->unit->names, node.a);
    binding = binding ? binding : lower_constant_array(lower, node.a);
    return binding && binding->kind == VYRE_BINDING_ARRAY ? lower_dimensions(lower, binding) : 1;
}

void lower_phase(vyre_lower *lower, vyre_node node) {
    const vyre_parser *parser = &lower->parser;
    lower_make_room(lower);
    vyre_name_text text, full;
    vyre_phase_desc desc = {.from_resource = VYRE_NONE, .from_index = VYRE_NONE};
    uint32_t name = vyre_parser_part(parser, node.a, VYRE_PHASE_NAME);
    if (name != VYRE_NONE) {
        desc.name = lower_name(lower, lower_node(lower, name).a, &text);
    }
    desc.name = lower_step_name(lower, desc.name, &full);
    uint32_t from = vyre_parser_part(parser, node.a, VYRE_PHASE_FROM);
    if (from != VYRE_NONE) {
        desc.from_memory = lower_outer_element(lower, from, &desc.from_resource, &desc.from_index);
    }
    uint32_t domain = vyre_parser_part(parser, node.a, VYRE_PHASE_DOMAIN);
    uint32_t count = vyre_parser_count(parser, domain);
    if (count > 3) {
        lower_report(lower, vyre_node_spot(&node), 601, "use one, two or three",
                     "the domain has %u dimensions", count);
        count = 3;
    }
    uint32_t dimensions =
        count == 1 ? domain_dimensions(lower, vyre_parser_item(parser, domain, 0)) : 1;
    if (dimensions > 1) {
        vyre_node array = lower_node(lower, vyre_parser_item(parser, domain, 0));
        vyre_name_binding own = *lower_array_or_sums(lower, array, array.a);
        for (uint32_t i = 0; i < dimensions; i++) { /* columns first */
            desc.domain[i] = lower_length_size(lower, &own, dimensions - 1 - i);
        }
        count = dimensions;
    }
    for (uint32_t i = 0; i < count && dimensions == 1; i++) {
        desc.domain[i] = lower_size(lower, vyre_parser_item(parser, domain, i));
        if (desc.domain[i] == VYRE_NONE) { /* reported; the phase is looked through all the same */
            desc.domain[i] = vyre_build_size_const(lower->builder, 1);
        }
    }
    if (!count) {
        desc.domain[0] = vyre_build_size_const(lower->builder, 1);
    }
    desc.dimensions = lower->dimensions = count ? count : 1;
    uint32_t workgroup = vyre_parser_part(parser, node.a, VYRE_PHASE_WORKGROUP);
    count = vyre_parser_count(parser, workgroup);
    if (count > desc.dimensions) {
        lower_report(lower, vyre_node_spot(&node), 602, "give both the same number of dimensions",
                     "the workgroup has %u dimensions, the domain %u", count, desc.dimensions);
        count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = lower_count(lower, vyre_parser_item(parser, workgroup, i),
                                    VYRE_LIMIT_WORKGROUP, 602, "a workgroup");
        desc.workgroup[i] = size ? size : 32;
    }
    uint32_t subgroup = vyre_parser_part(parser, node.a, VYRE_PHASE_SUBGROUP);
    if (subgroup != VYRE_NONE) {
        desc.subgroup = lower_count(lower, subgroup, 64, 602, "a subgroup");
    }
    lower_limit_additions(lower, &desc, vyre_node_spot(&node));
    lower_at(lower, vyre_node_spot(&node));
    vyre_build_phase(lower->builder, &desc);
    lower->loops = 0;
    lower_open(lower, (vyre_lower_block){.kind = VYRE_NODE_PHASE});
}

/* How often a range runs: not at all if its end is not behind its first number. */
static uint32_t lower_range_count(vyre_lower *lower, vyre_node range, uint32_t *out_first) {
    vyre_builder *builder = lower->builder;
    uint32_t first = lower_size(lower, range.a), end = lower_size(lower, range.b);
    uint64_t numbers[2];
    if (first == VYRE_NONE || end == VYRE_NONE) {
        return VYRE_NONE;
    }
    bool first_is_number = lower_size_is_number(lower, first, &numbers[0]);
    if (first_is_number && !numbers[0]) {
        return end;
    }
    *out_first = first;
    lower_at(lower, vyre_node_spot(&range));
    if (first_is_number && lower_size_is_number(lower, end, &numbers[1])) {
        if (numbers[0] < numbers[1]) {
            return vyre_build_size_const(builder, numbers[1] - numbers[0]);
        }
        lower_report(lower, vyre_node_spot(&range), 605, "write the smaller number first",
                     "the range %llu..%llu is empty", (unsigned long long)numbers[0],
                     (unsigned long long)numbers[1]);
        return VYRE_NONE;
    }
    uint32_t most =
        vyre_build_size_op(builder, VYRE_SIZE_MAX, end, vyre_build_size_copy(builder, first));
    return vyre_build_size_op(builder, VYRE_SIZE_SUB, most, vyre_build_size_copy(builder, first));
}

static uint32_t lower_repeat_count(vyre_lower *lower, uint32_t number, uint32_t *out_first) {
    vyre_node node = lower_node(lower, number);
    *out_first = VYRE_NONE;
    return node.kind == VYRE_NODE_RANGE ? lower_range_count(lower, node, out_first)
                                        : lower_size(lower, number);
}

static void lower_repeat(vyre_lower *lower, vyre_node node) {
    vyre_name_text text, full;
    vyre_node name = node.a == VYRE_NONE ? (vyre_node){0} : lower_node(lower, node.a);
    const char *label = name.kind == VYRE_NODE_NAME ? lower_name(lower, name.a, &text) : NULL;
    label = lower_step_name(lower, label, &full);
    uint32_t handle = VYRE_NONE, first = VYRE_NONE;
    bool valid;
    if (node.kind == VYRE_NODE_REPEAT_WHILE) {
        uint32_t resource, index;
        valid = lower_outer_element(lower, node.b, &resource, &index);
        lower_at(lower, vyre_node_spot(&node));
        if (valid) {
            handle = vyre_build_repeat_while(lower->builder, label, resource, index);
        }
    } else {
        uint32_t size = lower_repeat_count(lower, node.b, &first);
        valid = size != VYRE_NONE;
        lower_at(lower, vyre_node_spot(&node));
        if (valid) {
            handle = vyre_build_repeat(lower->builder, label, size);
        }
    }
    if (!valid) { /* reported; the steps are looked through all the same */
        handle = vyre_build_repeat(lower->builder, label, vyre_build_size_const(lower->builder, 1));
    }
    if (!lower_open(lower, (vyre_lower_block){.kind = VYRE_NODE_REPEAT})) {
        return;
    }
    lower_bind(
        lower, name,
        (vyre_name_binding){.kind = handle == VYRE_NONE ? VYRE_BINDING_POISON : VYRE_BINDING_REPEAT,
                            .type = VYRE_TYPE_U32,
                            .handle = handle,
                            .size = first,
                            .used = true});
}

static void lower_branch(vyre_lower *lower, vyre_node node) {
    uint32_t resource, index;
    bool valid = lower_outer_element(lower, node.a, &resource, &index);
    lower_at(lower, vyre_node_spot(&node));
    if (valid) {
        vyre_build_branch(lower->builder, resource, index);
    } else { /* reported; the steps are looked through all the same */
        vyre_build_repeat(lower->builder, NULL, vyre_build_size_const(lower->builder, 1));
    }
    lower_open(lower, (vyre_lower_block){.kind = valid ? VYRE_NODE_STEP_IF : VYRE_NODE_REPEAT});
}

static void lower_swap(vyre_lower *lower, vyre_node node) {
    uint32_t handles[2];
    vyre_value_type types[2] = {VYRE_TYPE_VOID, VYRE_TYPE_VOID};
    for (int i = 0; i < 2; i++) {
        vyre_node name = lower_node(lower, i ? node.b : node.a);
        const vyre_name_binding *array =
            name.kind == VYRE_NODE_NAME ? lower_array(lower, name, name.a) : NULL;
        if (!array || !lower_check_writable(lower, name, array) ||
            lower_refuse_view(lower, lower_leaf_handle(lower, array->type, array->handle, 0),
                              name.a, "`swap`", vyre_node_spot(&name))) {
            return;
        }
        handles[i] = array->handle;
        types[i] = array->type;
    }
    vyre_type_text rooms[2];
    if (types[0] != types[1]) {
        lower_report(lower, vyre_node_spot(&node), 608, "swap arrays of the same type",
                     "`swap` cannot exchange elements of %s and %s",
                     lower_type_name(lower, types[0], &rooms[0]),
                     lower_type_name(lower, types[1], &rooms[1]));
        return;
    }
    uint32_t first = lower_leaf_handle(lower, types[0], handles[0], 0);
    uint32_t second = lower_leaf_handle(lower, types[1], handles[1], 0);
    const vyre_resource *a = &lower->builder->resources.items[first].row;
    const vyre_resource *b = &lower->builder->resources.items[second].row;
    if (vyre_resource_is_field(a) != vyre_resource_is_field(b)) {
        lower_report(lower, vyre_node_spot(&node), 608,
                     "swap two buffers, or two scratch arrays; a scratch array keeps each scalar "
                     "of its elements in an array of its own",
                     "`swap` cannot exchange a buffer and a scratch array of %s",
                     lower_type_name(lower, types[0], &rooms[0]));
        return;
    }
    if (vyre_resource_is_field(a)) {
        lower_at(lower, vyre_node_spot(&node));
        vyre_build_swap(lower->builder, a->size, b->size);
        return;
    }
    uint32_t width = first == second ? 1 : lower_width(lower, types[0]);
    for (uint32_t i = 0; i < width; i++) {
        lower_at(lower, vyre_node_spot(&node));
        vyre_build_swap(lower->builder, lower_leaf_handle(lower, types[0], handles[0], i),
                        lower_leaf_handle(lower, types[1], handles[1], i));
    }
}

static void lower_require(vyre_lower *lower, vyre_node node) {
    if (node.a == VYRE_NONE) {
        return;
    }
    uint32_t left = lower_size(lower, node.a), right = lower_size(lower, node.b);
    lower_at(lower, vyre_node_spot(&node));
    if (left != VYRE_NONE && right != VYRE_NONE) {
        vyre_build_require(lower->builder, left, right);
    }
}

void lower_step(vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number);
    if (node.kind != VYRE_NODE_SCRATCH && node.kind != VYRE_NODE_REQUIRE &&
        node.kind != VYRE_NODE_VIEW) {
        lower_start_steps(lower);
    }
    switch (node.kind) {
    case VYRE_NODE_SCRATCH: lower_scratch(lower, node); break;
    case VYRE_NODE_VIEW: lower_view(lower, node); break;
    case VYRE_NODE_REQUIRE: lower_require(lower, node); break;
    case VYRE_NODE_STEP_CALL: lower_splice(lower, node.a); break;
    case VYRE_NODE_PHASE: lower_phase(lower, node); break;
    case VYRE_NODE_STEP_IF: lower_branch(lower, node); break;
    case VYRE_NODE_SWAP: lower_swap(lower, node); break;
    default: lower_repeat(lower, node); break;
    }
}

static void lower_head_of_program(vyre_lower *lower, vyre_node node) {
    const vyre_parser *parser = &lower->parser;
    if (vyre_parser_part(parser, node.b, VYRE_PROGRAM_CLAIM)) {
        vyre_build_deterministic(lower->builder);
    }
    uint32_t arguments = vyre_parser_part(parser, node.b, VYRE_PROGRAM_ARGUMENTS);
    uint32_t count = vyre_parser_count(parser, arguments);
    for (uint32_t i = 0; i < count; i++) {
        lower_argument(lower, lower_node(lower, vyre_parser_item(parser, arguments, i)));
    }
    uint32_t phase = vyre_parser_part(parser, node.b, VYRE_PROGRAM_PHASE);
    if (phase != VYRE_NONE) {
        lower_phase(lower, lower_node(lower, phase));
    }
}

/* What the verifier says about the program as a whole has no place; it gets that of the name. */
static void finish(vyre_lower *lower, vyre_spot name, vyre_program **out_program) {
    vyre_status status = VYRE_OK;
    if (!lower->found) {
        status = vyre_diagnostics_create(&lower->found);
    }
    if (!status) {
        status = vyre_builder_finish(lower->builder, lower->found, out_program);
    }
    /* A mistake that is not in the list was lost on its way there. */
    if (vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY ||
        (status && !vyre_diagnostics_errors(lower->found))) {
        lower_no_memory(lower);
    }
    vyre_status_free(status);
    size_t count = lower->found ? vyre_diagnostics_count(lower->found) : 0;
    for (size_t i = 0; i < count; i++) {
        vyre_diagnostic item = *vyre_diagnostics_get(lower->found, i);
        if (!item.line) {
            item.line = name.line;
            item.column = name.column;
            item.length = name.length;
        }
        lower_keep(lower, &item);
    }
    if (count) {
        vyre_diagnostics_free(lower->found);
        lower->found = NULL;
    }
}

/* Builds the program whose head the parser has just read; NULL if it has mistakes. `instance` is
 * its name with types, NULL if it states none. */
static vyre_program *lower_program(vyre_lower *lower, uint32_t number, const char *instance) {
    vyre_node node = lower_node(lower, number);
    vyre_node name = lower_node(lower, node.a);
    vyre_name_text text = {"program"};
    if (name.kind == VYRE_NODE_NAME) {
        lower_name(lower, name.a, &text);
    }
    vyre_program *program = NULL;
    if (!lower_start(lower, instance ? instance : text.text)) {
        return NULL;
    }
    lower->function = VYRE_NONE;
    lower->frame = 0;
    lower->unit->names.frame = 0;
    lower->silent = lower->poisoned = false;
    lower->blocks.count = 0;
    lower->block_names.count = lower->values.count = lower->spine.count = 0;
    lower->calls.count = lower->fills.count = lower->written.count = 0;
    lower->splice = NULL;
    vyre_build_file(lower->builder, lower->unit->source.name);
    if (lower->unit->instance != VYRE_NONE) { /* messages name it */
        lower_at(lower, (vyre_spot){0});
        vyre_build_scope(lower->builder, instance);
    }
    lower_at(lower, vyre_node_spot(&name));
    lower_spoil(lower);
    if (lower_open(lower, (vyre_lower_block){.kind = VYRE_NODE_PROGRAM})) {
        lower_head_of_program(lower, node);
        lower_statements(lower);
    }
    if (!lower->unit->source.no_memory) {
        lower_spoil(lower);
        finish(lower, vyre_node_spot(&name), &program);
    }
    lower->builder = NULL;
    return program;
}

vyre_program *lower_program_item(vyre_lower *lower, uint32_t item) {
    vyre_item row = lower->unit->items.items[item];
    vyre_parser *parser = &lower->parser;
    uint32_t before = lower_bind_types(lower->unit, item);
    vyre_parser_open(parser, &row.place);
    uint32_t node = vyre_parse_item(parser);
    vyre_program *program = NULL;
    if (vyre_parser_node(parser, node).kind == VYRE_NODE_PROGRAM) {
        program = lower_program(lower, node, row.name);
        vyre_parser_end(parser);
    }
    lower_bind_types(lower->unit, before);
    return program;
}
