/* Lowering of sums of floats: arrays of integers, and calls of the functions of sum.vyre. */
#ifndef VYRE_TEXT_LOWER_SUM_H
#define VYRE_TEXT_LOWER_SUM_H

#include "text/lower.h"

/* The scratch array behind sums of a type, as many as a size says; VYRE_NONE after a report. */
uint32_t lower_sum_digits(vyre_lower *lower, vyre_type type, uint32_t size);

/* How many sums there are, as a value. */
uint32_t lower_sum_length(vyre_lower *lower, const vyre_name_binding *sums);

/* sum_add(s[k], x); and sum_clear(s[k]); where a value is needed there is a report. */
void lower_sum_call(vyre_lower *lower, vyre_node node, vyre_context_word word);
vyre_operand lower_sum_in_value(vyre_lower *lower, vyre_node node, vyre_context_word word);
static inline bool lower_is_sum_word(vyre_context_word word) {
    return word == VYRE_WORD_SUM_ADD || word == VYRE_WORD_SUM_CLEAR;
}

/* Whether a CONVERT reads a sum, which f32(s[k]) does, and what it gives. */
bool lower_is_sum(const vyre_lower *lower, vyre_node convert);
vyre_operand lower_sum_value(vyre_lower *lower, vyre_node convert);

/* In front of a phase whose statements follow: makes room in the sums that it adds to. */
void lower_make_room(vyre_lower *lower);
/* And lets the host refuse a domain of 2^31 invocations or more, if it adds to any. */
void lower_limit_additions(vyre_lower *lower, const vyre_phase_desc *phase, vyre_spot spot);

#endif
