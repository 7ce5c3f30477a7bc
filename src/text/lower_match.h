/* Lowering of `match`, and of labels of loops. */
#ifndef VYRE_TEXT_LOWER_MATCH_H
#define VYRE_TEXT_LOWER_MATCH_H

#include "text/lower.h"

/* The head of a `match` and of a case; the end of the former, whose results are the last of
 * `values`; and a whole one that gives a value. */
void lower_match(vyre_lower *lower, vyre_node node, vyre_lower_block block);
void lower_case(vyre_lower *lower, vyre_node node);
void lower_match_end(vyre_lower *lower, const vyre_lower_block *match, uint32_t count);
vyre_operand lower_match_value(vyre_lower *lower, vyre_node node, vyre_value_type expected);

/* A LABEL, and giving it to the loop that is about to be opened. */
void lower_label(vyre_lower *lower, vyre_node node);
void lower_take_label(vyre_lower *lower, vyre_lower_block *block);

/* Whether a BREAK or CONTINUE names a label, and if so the whole jump. */
bool lower_labelled_jump(vyre_lower *lower, vyre_node node);

/* Behind a loop that has just been closed: goes on to where jumps left it for. */
void lower_labels_end(vyre_lower *lower, const vyre_lower_block *block);

#endif
