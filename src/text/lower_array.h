/* Constant arrays, and arrays of several dimensions. */
#ifndef VYRE_TEXT_LOWER_ARRAY_H
#define VYRE_TEXT_LOWER_ARRAY_H

#include "text/lower.h"

/* Computes the elements of a constant array; false after a report. `node` is its CONSTANT. */
bool lower_elements(vyre_lower *lower, uint32_t number, vyre_node node);

/* The constant array that a symbol stands for, as a resource of the program; NULL if it is none. A
 * mistake in it was reported, and gives a POISON. */
const vyre_name_binding *lower_constant_array(vyre_lower *lower, uint32_t symbol);

/* The shape of an array with these lengths, as bindings have it: numbers, or sizes of the program.
 * 0 for one dimension, or after a report. */
uint32_t lower_fixed_shape(vyre_lower *lower, uint32_t lengths, const char *what);
uint32_t lower_shape(vyre_lower *lower, uint32_t lengths);

/* A shape of so many dimensions, for a function without a caller. */
uint32_t lower_any_shape(vyre_lower *lower, uint32_t dimensions);

/* The number of dimensions of an array. */
uint32_t lower_dimensions(const vyre_lower *lower, const vyre_name_binding *array);

/* The index of an element, the b of its node, as one number; VYRE_NONE after a report. Where an
 * index is outside of its dimension, so is that number. `array` may be NULL. */
uint32_t lower_element_index(vyre_lower *lower, const vyre_name_binding *array, vyre_node element);

/* A length of an array as a size of the program, and as a value; `dimension` exists. */
uint32_t lower_length_size(vyre_lower *lower, const vyre_name_binding *array, uint32_t dimension);
uint32_t lower_length_value(vyre_lower *lower, const vyre_name_binding *array, uint32_t dimension);

/* The dimension that the second operand of `len` names; VYRE_NONE after a report. */
uint32_t lower_dimension_of(vyre_lower *lower, const vyre_name_binding *array, uint32_t node);

/* A length of the constant array that a symbol stands for, of the dimension that a node names. */
vyre_operand lower_constant_dimension(vyre_lower *lower, uint32_t symbol, uint32_t node);

/* Whether `len` has an array and maybe a dimension; reports if not. And its value where a constant
 * is computed: of a constant array. */
bool lower_check_len(vyre_lower *lower, vyre_node call);
vyre_operand lower_constant_length(vyre_lower *lower, vyre_node call);

/* Zeros an array. */
void lower_clear(vyre_lower *lower, const vyre_name_binding *array);

/* An element of a constant array where a constant is computed. */
vyre_operand lower_constant_element(vyre_lower *lower, vyre_node element);

/* An array that a name stands for, NULL if none; reports. lower_array refuses sums. */
const vyre_name_binding *lower_array(vyre_lower *lower, vyre_node node, uint32_t symbol);
const vyre_name_binding *lower_array_or_sums(vyre_lower *lower, vyre_node node, uint32_t symbol);

/* False, after a report, if the array may not be written. From then on it counts as written. */
bool lower_check_writable(vyre_lower *lower, vyre_node node, const vyre_name_binding *array);

#endif
