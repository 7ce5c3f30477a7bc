#include <stdio.h>
#include <string.h>

#include "ir/builder.h"
#include "ir/lookup.h"
#include "text/lower.h"
#include "text/lower_array.h"
#include "text/lower_sum.h"
#include "text/lower_view.h"

/* A constant array whose elements are being computed. */
typedef struct filling {
    uint32_t number; /* of the constant */
    vyre_type type;
    uint32_t lengths[VYRE_MOST_DIMENSIONS];
    uint32_t dimensions;
} filling;

static bool put(vyre_lower *lower, const filling *f, uint64_t bits, size_t times) {
    vyre_constant *constant = &lower->unit->constants.items[f->number];
    for (size_t i = 0; i < times; i++) {
        if (!vyre_vec_push(&constant->bits, bits)) {
            lower_no_memory(lower);
            return false;
        }
    }
    return true;
}

static bool fill_element(vyre_lower *lower, const filling *f, uint32_t number, size_t times) {
    vyre_spot spot = lower_spot(lower, number);
    if (lower_node(lower, number).kind == VYRE_NODE_ROW) {
        lower_report(lower, spot, 604, "nest one list for each dimension",
                     "a list stands where an element is expected");
        return false;
    }
    vyre_operand value = lower_evaluate(lower, number, f->type);
    lower_settle_constant(lower, &value, f->type, spot);
    return value.kind == VYRE_OPERAND_VALUE && put(lower, f, value.value, times);
}

/* False, after a report, for what should be a list and is none. */
static bool is_row(vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number);
    if (node.kind != VYRE_NODE_ROW && node.kind != VYRE_NODE_ERROR) {
        lower_report(lower, vyre_node_spot(&node), 604,
                     "write each row as a list of its own, as in [[1, 2], [3, 4]]",
                     "an element stands where a list is expected");
    }
    return node.kind == VYRE_NODE_ROW;
}

static bool fill_row(vyre_lower *lower, const filling *f, uint32_t number, uint32_t dimension);

/* One thing of a row, an element or a row itself. */
static bool fill_part(vyre_lower *lower, const filling *f, uint32_t number, uint32_t dimension,
                      size_t times) {
    if (dimension + 1 == f->dimensions) {
        return fill_element(lower, f, number, times);
    }
    if (!is_row(lower, number)) {
        return false;
    }
    size_t first = lower->unit->constants.items[f->number].bits.count;
    if (!fill_row(lower, f, number, dimension + 1)) {
        return false;
    }
    size_t end = lower->unit->constants.items[f->number].bits.count;
    for (size_t i = 1; i < times; i++) {
        for (size_t k = first; k < end; k++) {
            if (!put(lower, f, lower->unit->constants.items[f->number].bits.items[k], 1)) {
                return false;
            }
        }
    }
    return true;
}

static bool fill_row(vyre_lower *lower, const filling *f, uint32_t number, uint32_t dimension) {
    vyre_node row = lower_node(lower, number);
    uint32_t wanted = f->lengths[dimension], found = vyre_parser_count(&lower->parser, row.a);
    uint32_t listed = found;
    if (listed && dimension + 1 < f->dimensions &&
        !is_row(lower, vyre_parser_item(&lower->parser, row.a, 0))) {
        return false;
    }
    if (row.b != VYRE_NONE) {
        found = lower_count(lower, row.b, VYRE_LIMIT_CONSTANT_BYTES, 604, "a list");
        if (!found) {
            return false;
        }
    }
    if (found != wanted) {
        lower_report(lower, vyre_node_spot(&row), 604,
                     "write as many elements as the array has, or repeat one, as in [0; 64]",
                     "the list has %u element%s, expected %u", found, found == 1 ? "" : "s",
                     wanted);
        return false;
    }
    bool valid = true;
    for (uint32_t i = 0; i < listed && !lower->unit->source.no_memory; i++) {
        valid &= fill_part(lower, f, vyre_parser_item(&lower->parser, row.a, i), dimension,
                           row.b == VYRE_NONE ? 1 : wanted);
    }
    return valid && !lower->unit->source.no_memory;
}

/* Counts the elements of an array; false, after a report, if the text has too many. */
static bool count_elements(vyre_lower *lower, uint64_t count, vyre_spot spot) {
    uint64_t before = lower->unit->elements;
    lower->unit->elements += count;
    if (before <= VYRE_LIMIT_TEXT_ELEMENTS && before + count > VYRE_LIMIT_TEXT_ELEMENTS) {
        lower_report(lower, spot, 701, "remove some, or pass them as buffers",
                     "the constant arrays of the text have more than %d elements",
                     VYRE_LIMIT_TEXT_ELEMENTS);
    }
    return before + count <= VYRE_LIMIT_TEXT_ELEMENTS;
}

/* The lengths that the type states; false after a report. */
static bool read_lengths(vyre_lower *lower, uint32_t list, filling *f) {
    uint64_t bytes = vyre_type_bytes(f->type);
    f->dimensions = vyre_parser_count(&lower->parser, list);
    for (uint32_t i = 0; i < f->dimensions; i++) {
        uint32_t node = vyre_parser_item(&lower->parser, list, i);
        f->lengths[i] =
            lower_count(lower, node, VYRE_LIMIT_CONSTANT_BYTES, 604, "a constant array");
        if (!f->lengths[i]) {
            return false;
        }
        bytes *= f->lengths[i];
        if (bytes > VYRE_LIMIT_CONSTANT_BYTES) {
            lower_report(lower, lower_spot(lower, node), 701, "pass it as a buffer",
                         "the constant array takes more than %d bytes", VYRE_LIMIT_CONSTANT_BYTES);
            return false;
        }
    }
    return f->dimensions > 0 &&
           count_elements(lower, bytes / vyre_type_bytes(f->type),
                          lower_spot(lower, vyre_parser_item(&lower->parser, list, 0)));
}

bool lower_elements(vyre_lower *lower, uint32_t number, vyre_node node) {
    vyre_node name = lower_node(lower, node.a);
    filling f = {.number = number, .type = (vyre_type)name.detail};
    lower->unit->constants.items[number].array =
        (vyre_name_binding){.kind = VYRE_BINDING_POISON, .constant = true};
    /* What is computed here is no part of a program. */
    vyre_builder *builder = lower->builder;
    lower->builder = NULL;
    bool is_scalar = vyre_type_is_scalar(name.detail);
    if (!is_scalar) {
        lower_report(lower, vyre_node_spot(&name), 306, "use an array for each of the scalars",
                     "the elements of a constant array are scalars");
    }
    bool valid = is_scalar && f.type != VYRE_TYPE_VOID && read_lengths(lower, name.b, &f) &&
                 fill_row(lower, &f, node.b, 0);
    lower->builder = builder;
    if (valid) {
        vyre_constant *constant = &lower->unit->constants.items[number];
        constant->dimensions = f.dimensions;
        memcpy(constant->lengths, f.lengths, sizeof f.lengths);
        constant->array = (vyre_name_binding){.kind = VYRE_BINDING_ARRAY,
                                              .symbol = name.a,
                                              .type = name.detail,
                                              .handle = VYRE_NONE,
                                              .size = VYRE_NONE,
                                              .bits = constant->bits.count,
                                              .constant = true,
                                              .used = true};
    }
    return valid;
}

/* Shapes */

static uint32_t add_shape(vyre_lower *lower, vyre_array_shape shape) {
    if (shape.dimensions < 2) {
        return 0;
    }
    if (!vyre_vec_push(&lower->shapes, shape)) {
        lower_no_memory(lower);
        return 0;
    }
    return (uint32_t)lower->shapes.count;
}

uint32_t lower_fixed_shape(vyre_lower *lower, uint32_t lengths, const char *what) {
    vyre_array_shape shape = {.dimensions = vyre_parser_count(&lower->parser, lengths),
                              .fixed = true};
    for (uint32_t i = 0; i < shape.dimensions && shape.dimensions > 1; i++) {
        uint32_t node = vyre_parser_item(&lower->parser, lengths, i);
        shape.lengths[i] = lower_count(lower, node, VYRE_LIMIT_SHARED_BYTES, 604, what);
        if (!shape.lengths[i]) {
            return 0;
        }
    }
    return add_shape(lower, shape);
}

/* Sizes that are numbers all become so. */
static void fix_lengths(const vyre_lower *lower, vyre_array_shape *shape) {
    uint32_t numbers[VYRE_MOST_DIMENSIONS];
    for (uint32_t i = 0; i < shape->dimensions; i++) {
        vyre_size_node node = lower->builder->sizes.items[shape->lengths[i]].node;
        if (shape->dimensions < 2 || node.op != VYRE_SIZE_CONST || node.b) {
            return;
        }
        numbers[i] = node.a;
    }
    shape->fixed = true;
    memcpy(shape->lengths, numbers, sizeof numbers);
}

uint32_t lower_shape(vyre_lower *lower, uint32_t lengths) {
    vyre_array_shape shape = {.dimensions = vyre_parser_count(&lower->parser, lengths)};
    for (uint32_t i = 0; i < shape.dimensions && shape.dimensions > 1; i++) {
        shape.lengths[i] = lower_size(lower, vyre_parser_item(&lower->parser, lengths, i));
        if (shape.lengths[i] == VYRE_NONE) {
            return 0;
        }
    }
    fix_lengths(lower, &shape);
    return add_shape(lower, shape);
}

uint32_t lower_any_shape(vyre_lower *lower, uint32_t dimensions) {
    return add_shape(lower, (vyre_array_shape){dimensions, true, {1, 1, 1}});
}

static vyre_array_shape shape_of(const vyre_lower *lower, const vyre_name_binding *array) {
    return array->shape ? lower->shapes.items[array->shape - 1]
                        : (vyre_array_shape){.dimensions = 1};
}

uint32_t lower_dimensions(const vyre_lower *lower, const vyre_name_binding *array) {
    return shape_of(lower, array).dimensions;
}

uint32_t lower_length_size(vyre_lower *lower, const vyre_name_binding *array, uint32_t dimension) {
    vyre_array_shape shape = shape_of(lower, array);
    if (shape.dimensions == 1) {
        return lower_length_of(lower, array);
    }
    return shape.fixed ? vyre_build_size_const(lower->builder, shape.lengths[dimension])
                       : vyre_build_size_copy(lower->builder, shape.lengths[dimension]);
}

static uint32_t length_value(vyre_lower *lower, const vyre_array_shape *shape, uint32_t dimension) {
    vyre_builder *builder = lower->builder;
    if (shape->fixed) {
        return vyre_build_u32(builder, shape->lengths[dimension]);
    }
    vyre_size_node node = builder->sizes.items[shape->lengths[dimension]].node;
    bool is_own = node.op == VYRE_SIZE_PARAM && builder->args.items[node.a].type == VYRE_TYPE_U32;
    return is_own ? vyre_build_param(builder, node.a)
                  : lower_size_value(lower, shape->lengths[dimension], VYRE_TYPE_U32);
}

uint32_t lower_length_value(vyre_lower *lower, const vyre_name_binding *array, uint32_t dimension) {
    vyre_array_shape shape = shape_of(lower, array);
    return shape.dimensions > 1 ? length_value(lower, &shape, dimension)
           : array->sum         ? lower_sum_length(lower, array)
                                : lower_len(lower, array);
}

static void report_no_dimension(vyre_lower *lower, vyre_spot spot, uint32_t dimensions,
                                uint64_t found) {
    lower_report(lower, spot, 604, "count dimensions from 0, as they are declared",
                 "the array has %u dimension%s, and no dimension %llu", dimensions,
                 dimensions == 1 ? "" : "s", (unsigned long long)found);
}

uint32_t lower_dimension_of(vyre_lower *lower, const vyre_name_binding *array, uint32_t node) {
    uint32_t dimensions = lower_dimensions(lower, array);
    vyre_operand value = lower_evaluate(lower, node, VYRE_TYPE_U32);
    vyre_spot spot = lower_spot(lower, node);
    lower_settle_constant(lower, &value, VYRE_TYPE_U32, spot);
    if (value.kind != VYRE_OPERAND_VALUE) {
        return VYRE_NONE;
    }
    if (value.value >= dimensions) {
        report_no_dimension(lower, spot, dimensions, value.value);
        return VYRE_NONE;
    }
    return (uint32_t)value.value;
}

/* Indices. A number past the end of any array stands for an element outside of a dimension, so that
 * the rule for that is the one of all arrays. */

static const uint32_t outside_all = UINT32_MAX;

/* An index as a u32, and whether it is inside of its dimension; the comparison is VYRE_NONE where
 * it always is. */
typedef struct part {
    uint32_t value, inside;
    bool never; /* inside */
} part;

/* Numbers of other types are compared as they are: a negative one is never inside. */
static part make_part(vyre_lower *lower, const vyre_array_shape *shape, uint32_t dimension,
                      uint32_t index, uint32_t length) {
    vyre_builder *builder = lower->builder;
    vyre_type type = vyre_build_type(builder, index);
    bool is_signed = vyre_type_class_of(type) == VYRE_CLASS_SIGNED;
    bool is_small = shape->fixed && shape->lengths[dimension] <= (uint32_t)INT32_MAX + 1;
    part result = {.value = index, .inside = VYRE_NONE};
    if (vyre_operand_is_constant(index) && shape->fixed) {
        uint64_t bits = builder_bits(builder, index);
        bool is_negative = is_signed && bits >> (vyre_type_bytes(type) * 8 - 1);
        result.never = is_negative || bits >= shape->lengths[dimension];
        result.value = vyre_build_u32(builder, (uint32_t)bits);
        return result;
    }
    if (vyre_type_bytes(type) == 8 || (is_signed && !is_small)) {
        uint32_t wide = vyre_build_convert(builder, VYRE_TYPE_U64, index);
        length = vyre_build_convert(builder, VYRE_TYPE_U64, length);
        result.inside = vyre_build_op(builder, VYRE_OP_LT, wide, length, VYRE_NONE);
        result.value = vyre_build_convert(builder, VYRE_TYPE_U32, wide);
        return result;
    }
    result.value =
        type == VYRE_TYPE_U32 ? index : vyre_build_convert(builder, VYRE_TYPE_U32, index);
    result.inside = vyre_build_op(builder, VYRE_OP_LT, result.value, length, VYRE_NONE);
    return result;
}

/* The number of an element of several indices: (y * width + x) where both are inside. */
static uint32_t flatten(vyre_lower *lower, const vyre_array_shape *shape, const uint32_t *indices,
                        bool is_far, vyre_spot spot) {
    vyre_builder *builder = lower->builder;
    uint32_t flat = VYRE_NONE, inside = VYRE_NONE;
    bool never = false;
    for (uint32_t i = 0; i < shape->dimensions; i++) {
        uint32_t length = length_value(lower, shape, i);
        part next = make_part(lower, shape, i, indices[i], length);
        never |= next.never;
        if (next.inside != VYRE_NONE) {
            inside = inside == VYRE_NONE
                         ? next.inside
                         : vyre_build_op(builder, VYRE_OP_AND, inside, next.inside, VYRE_NONE);
        }
        if (i && shape->fixed && vyre_operand_is_constant(flat) &&
            vyre_operand_is_constant(next.value)) {
            uint64_t row = builder_bits(builder, flat) * shape->lengths[i];
            flat = vyre_build_u32(builder, (uint32_t)(row + builder_bits(builder, next.value)));
        } else if (i) {
            flat = vyre_build_op(builder, VYRE_OP_MUL, flat, length, VYRE_NONE);
            flat = vyre_build_op(builder, VYRE_OP_ADD, flat, next.value, VYRE_NONE);
        } else {
            flat = next.value;
        }
    }
    if (never && is_far) {
        lower_report(lower, spot, 803,
                     "use indices from 0 to the length of their dimension minus 1",
                     "an index is out of bounds of its dimension");
    }
    uint32_t outside = vyre_build_u32(builder, outside_all);
    return never                 ? outside
           : inside == VYRE_NONE ? flat
                                 : vyre_build_op(builder, VYRE_OP_SELECT, inside, flat, outside);
}

static void report_dimensions(vyre_lower *lower, vyre_node element, uint32_t wanted,
                              uint32_t found) {
    vyre_name_text text;
    lower_report(lower, vyre_node_spot(&element), 604,
                 wanted == 1
                     ? "compute one index, as in a[row * width + column], or declare the "
                       "array with several lengths, as in [height][width]"
                     : "write an index in brackets for each dimension, as in a[row][column]",
                 "`%s` has %u dimension%s, found %u ind%s", lower_name(lower, element.a, &text),
                 wanted, wanted == 1 ? "" : "s", found, found == 1 ? "ex" : "ices");
}

/* False, after a report, for what is no integer; of a single index the builder says so. */
static bool check_index(vyre_lower *lower, vyre_node element, uint32_t node, uint32_t index) {
    vyre_type type = vyre_build_type(lower->builder, index);
    vyre_name_text text;
    if (vyre_type_class_of(type) & VYRE_CLASS_INTEGER) {
        return true;
    }
    lower_report(lower, lower_spot(lower, node), 301, "convert it with u32(...)",
                 "an index of `%s` is %s, expected an integer", lower_name(lower, element.a, &text),
                 vyre_type_name(type));
    return false;
}

uint32_t lower_element_index(vyre_lower *lower, const vyre_name_binding *array, vyre_node element) {
    vyre_node head = lower_node(lower, element.b);
    bool several = head.kind == VYRE_NODE_INDICES;
    vyre_array_shape shape = array ? shape_of(lower, array) : (vyre_array_shape){.dimensions = 1};
    bool has_array = array;
    uint32_t resource = array ? lower_resource_of(lower, array) : VYRE_NONE;
    uint32_t count = several ? vyre_parser_count(&lower->parser, head.a) : 1;
    uint32_t indices[VYRE_MOST_DIMENSIONS];
    bool valid = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = several ? vyre_parser_item(&lower->parser, head.a, i) : element.b;
        uint32_t index = lower_index(lower, node);
        valid &= index != VYRE_NONE && (!several || check_index(lower, element, node, index));
        if (i < VYRE_MOST_DIMENSIONS) {
            indices[i] = index;
        }
    }
    if (has_array && count != shape.dimensions) {
        report_dimensions(lower, element, shape.dimensions, count);
        return VYRE_NONE;
    }
    if (!valid || !has_array) {
        return VYRE_NONE;
    }
    lower_at(lower, vyre_node_spot(&element));
    /* The verifier warns of constants past the end where it knows the length. */
    bool is_far = count > 1 && !lower->silent &&
                  vyre_resource_is_global(&lower->builder->resources.items[resource].row);
    return count == 1 ? indices[0]
                      : flatten(lower, &shape, indices, is_far, vyre_node_spot(&element));
}

/* Declares the array in the program that is being built, once. */
static void declare(vyre_lower *lower, vyre_constant *constant) {
    vyre_type type = (vyre_type)constant->array.type;
    uint32_t bytes = vyre_type_bytes(type), length = (uint32_t)constant->bits.count;
    uint8_t *elements = vyre_alloc_array(length, bytes);
    if (!elements) {
        lower_no_memory(lower);
        return;
    }
    for (uint32_t i = 0; i < length; i++) {
        uint64_t bits = constant->bits.items[i];
        uint32_t half = (uint32_t)bits;
        uint16_t quarter = (uint16_t)bits;
        uint8_t byte = (uint8_t)bits;
        const void *element = bytes == 8   ? (const void *)&bits
                              : bytes == 4 ? (const void *)&half
                              : bytes == 2 ? (const void *)&quarter
                                           : &byte;
        memcpy(elements + (size_t)i * bytes, element, bytes);
    }
    vyre_name_text text;
    constant->array.handle = vyre_build_constant_array(
        lower->builder, lower_name(lower, constant->array.symbol, &text), type, length, elements);
    constant->program = lower->program;
    vyre_array_shape shape = {.dimensions = constant->dimensions, .fixed = true};
    memcpy(shape.lengths, constant->lengths, sizeof shape.lengths);
    constant->array.shape = add_shape(lower, shape);
    vyre_free(elements);
}

const vyre_name_binding *lower_constant_array(vyre_lower *lower, uint32_t symbol) {
    uint32_t item = lower->unit->names.symbols.items[symbol].item;
    if (item == VYRE_NONE || lower->unit->items.items[item].kind != VYRE_ITEM_CONSTANT) {
        return NULL;
    }
    uint32_t number = lower->unit->items.items[item].index;
    lower_constant_item(lower, number);
    vyre_constant *constant = &lower->unit->constants.items[number];
    if (!constant->array.constant) {
        return NULL;
    }
    if (constant->array.kind == VYRE_BINDING_ARRAY && lower->builder &&
        constant->program != lower->program) {
        declare(lower, constant);
    }
    return &constant->array;
}

vyre_operand lower_constant_dimension(vyre_lower *lower, uint32_t symbol, uint32_t node) {
    uint32_t item = lower->unit->names.symbols.items[symbol].item;
    uint32_t number = lower->unit->items.items[item].index;
    vyre_operand value = lower_expression(lower, node, VYRE_TYPE_U32);
    lower_settle_constant(lower, &value, VYRE_TYPE_U32, lower_spot(lower, node));
    const vyre_constant *constant = &lower->unit->constants.items[number];
    if (value.kind == VYRE_OPERAND_VALUE && value.value >= constant->dimensions) {
        report_no_dimension(lower, lower_spot(lower, node), constant->dimensions, value.value);
        return lower_poison();
    }
    return value.kind == VYRE_OPERAND_VALUE
               ? lower_constant(lower, VYRE_TYPE_U32, constant->lengths[value.value])
               : lower_poison();
}

void lower_clear(vyre_lower *lower, const vyre_name_binding *array) {
    uint32_t width = lower_width(lower, array->type);
    for (uint32_t i = 0; i < width; i++) {
        uint32_t leaf = lower_leaf_handle(lower, array->type, array->handle, i);
        vyre_build_clear(lower->builder, lower_viewed(lower, leaf));
    }
}

/* `len` may name a dimension behind the array. */
bool lower_check_len(vyre_lower *lower, vyre_node call) {
    return vyre_parser_count(&lower->parser, call.b) == 2 ||
           lower_check_count(lower, call, "len", 1);
}

vyre_operand lower_constant_length(vyre_lower *lower, vyre_node call) {
    if (!lower_check_len(lower, call)) {
        return lower_poison();
    }
    vyre_node node = lower_node(lower, vyre_parser_item(&lower->parser, call.b, 0));
    const vyre_name_binding *array =
        node.kind == VYRE_NODE_NAME && !vyre_names_find(&lower->unit->names, node.a)
            ? lower_constant_array(lower, node.a)
            : NULL;
    if (!array && node.kind != VYRE_NODE_ERROR) {
        lower_report(lower, vyre_node_spot(&call), 307, "write the name of a constant array",
                     "the operand of `len` is not known at compile time");
    }
    if (!array || array->kind != VYRE_BINDING_ARRAY) {
        return lower_poison();
    }
    if (vyre_parser_count(&lower->parser, call.b) == 1) {
        return lower_constant(lower, VYRE_TYPE_U32, array->bits);
    }
    return lower_constant_dimension(lower, node.a, vyre_parser_item(&lower->parser, call.b, 1));
}

vyre_operand lower_constant_element(vyre_lower *lower, vyre_node element) {
    const vyre_name_binding *array = vyre_names_find(&lower->unit->names, element.a)
                                         ? NULL
                                         : lower_constant_array(lower, element.a);
    if (!array) {
        lower_report(lower, vyre_node_spot(&element), 307,
                     "use numbers, other constants and operators on them",
                     "an element of an array is not known at compile time");
        return lower_poison();
    }
    uint32_t item = lower->unit->names.symbols.items[element.a].item;
    uint32_t number = lower->unit->items.items[item].index;
    vyre_node head = lower_node(lower, element.b);
    bool several = head.kind == VYRE_NODE_INDICES;
    uint32_t count = several ? vyre_parser_count(&lower->parser, head.a) : 1;
    uint32_t dimensions = lower->unit->constants.items[number].dimensions;
    if (array->kind != VYRE_BINDING_ARRAY) {
        return lower_poison();
    }
    if (count != dimensions) {
        report_dimensions(lower, element, dimensions, count);
        return lower_poison();
    }
    uint64_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = several ? vyre_parser_item(&lower->parser, head.a, i) : element.b;
        vyre_operand index = lower_expression(lower, node, VYRE_TYPE_U32);
        lower_settle_constant(lower, &index, VYRE_TYPE_U32, lower_spot(lower, node));
        uint32_t length = lower->unit->constants.items[number].lengths[i];
        if (index.kind == VYRE_OPERAND_VALUE && index.value >= length) {
            lower_report(lower, lower_spot(lower, node), 307,
                         "use an index from 0 to the length minus 1",
                         "the index %llu is past the end of a constant array of %u elements",
                         (unsigned long long)index.value, length);
        }
        if (index.kind != VYRE_OPERAND_VALUE || index.value >= length) {
            return lower_poison();
        }
        at = at * length + index.value;
    }
    const vyre_constant *constant = &lower->unit->constants.items[number];
    return lower_constant(lower, (vyre_type)constant->array.type, constant->bits.items[at]);
}

const vyre_name_binding *lower_array_or_sums(vyre_lower *lower, vyre_node node, uint32_t symbol) {
    vyre_name_binding *binding = vyre_names_find(&lower->unit->names, symbol);
    const vyre_word *word = lower_word(lower, symbol);
    const vyre_name_binding *constant = binding ? NULL : lower_constant_array(lower, symbol);
    if (constant) {
        return constant->kind == VYRE_BINDING_ARRAY ? constant : NULL;
    }
    if (binding) {
        binding->used = true;
        if (binding->kind == VYRE_BINDING_ARRAY) {
            return binding;
        }
        if (binding->kind == VYRE_BINDING_POISON) {
            return NULL;
        }
    }
    if (!binding && word->class_of != VYRE_WORD_OP &&
        lower->unit->names.symbols.items[symbol].item == VYRE_NONE) {
        lower_unknown(lower, node, symbol, false);
        return NULL;
    }
    uint32_t number = lower->unit->names.symbols.items[symbol].item;
    vyre_item item = number == VYRE_NONE ? (vyre_item){0} : lower->unit->items.items[number];
    if (!binding && number != VYRE_NONE && item.kind == VYRE_ITEM_CONSTANT &&
        lower_constant_item(lower, item.index).kind == VYRE_OPERAND_POISON) {
        return NULL;
    }
    vyre_name_text text;
    vyre_spot spot = vyre_node_spot(&node);
    spot.length = (uint32_t)vyre_symbol_text(&lower->unit->names, symbol).size;
    lower_report(lower, spot, 204,
                 binding && vyre_type_is_vector(binding->type)
                     ? "name a component, as in v.x, or use an array"
                     : "use a buffer, scratch, shared or private array here",
                 "`%s` is %s, not an array", lower_name(lower, symbol, &text),
                 lower_kind_of(lower, symbol));
    return NULL;
}

static void note_written(vyre_lower *lower, uint32_t resource) {
    while (lower->written.count <= resource && resource != VYRE_NONE) {
        if (!vyre_vec_push(&lower->written, 0)) {
            lower_no_memory(lower);
            return;
        }
    }
    if (resource != VYRE_NONE) {
        lower->written.items[resource] = true;
    }
}

bool lower_check_writable(vyre_lower *lower, vyre_node node, const vyre_name_binding *array) {
    if (array->writable) {
        uint32_t width = lower_width(lower, array->type);
        for (uint32_t i = 0; i < width; i++) {
            uint32_t leaf = lower_leaf_handle(lower, array->type, array->handle, i);
            note_written(lower, lower_viewed(lower, leaf));
        }
        return true;
    }
    vyre_name_text text;
    vyre_type_text room;
    char fix[VYRE_LIMIT_NAME_BYTES + 40];
    if (array->constant) {
        lower_report(lower, vyre_node_spot(&node), 401,
                     "copy it into an array that `var` declares, and write that",
                     "`%s` is a constant array", lower_name(lower, node.a, &text));
        return false;
    }
    snprintf(fix, sizeof fix, "declare it as `inout buffer<%s>`",
             lower_type_name(lower, array->type, &room));
    vyre_spot spot = vyre_node_spot(&node);
    lower_report(lower, spot, 401, fix, "`%s` is declared as a read-only buffer",
                 lower_name(lower, array->symbol, &text));
    return false;
}
