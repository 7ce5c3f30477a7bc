#include <string.h>

#include "text/lower.h"

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
        lower_report(lower, spot, 604, "write as many lists in one another as there are lengths",
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
    return f->dimensions > 0;
}

bool lower_elements(vyre_lower *lower, uint32_t number, vyre_node node) {
    vyre_node name = lower_node(lower, node.a);
    filling f = {.number = number, .type = (vyre_type)name.detail};
    lower->unit->constants.items[number].array =
        (vyre_name_binding){.kind = VYRE_BINDING_POISON, .constant = true};
    /* What is computed here is no part of a program. */
    vyre_builder *builder = lower->builder;
    lower->builder = NULL;
    bool valid = f.type != VYRE_TYPE_VOID && read_lengths(lower, name.b, &f) &&
                 fill_row(lower, &f, node.b, 0);
    lower->builder = builder;
    if (valid) {
        vyre_constant *constant = &lower->unit->constants.items[number];
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
    vyre_operand index = lower_expression(lower, element.b, VYRE_TYPE_U32);
    lower_settle_constant(lower, &index, VYRE_TYPE_U32, lower_spot(lower, element.b));
    if (array->kind != VYRE_BINDING_ARRAY || index.kind != VYRE_OPERAND_VALUE) {
        return lower_poison();
    }
    if (index.value >= array->bits) {
        lower_report(lower, lower_spot(lower, element.b), 307,
                     "use an index from 0 to the length minus 1",
                     "the index %llu is past the end of a constant array of %llu elements",
                     (unsigned long long)index.value, (unsigned long long)array->bits);
        return lower_poison();
    }
    uint32_t item = lower->unit->names.symbols.items[element.a].item;
    const vyre_constant *constant =
        &lower->unit->constants.items[lower->unit->items.items[item].index];
    return lower_constant(lower, (vyre_type)array->type, constant->bits.items[index.value]);
}
