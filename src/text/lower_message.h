/* Prints and asserts. */
#ifndef VYRE_TEXT_LOWER_MESSAGE_H
#define VYRE_TEXT_LOWER_MESSAGE_H

#include "text/lower.h"

/* VYRE_WORD_PRINT or VYRE_WORD_ASSERT if that is what is called. */
vyre_context_word lower_message_word(const vyre_lower *lower, vyre_node call);
void lower_message(vyre_lower *lower, vyre_node call);

#endif
