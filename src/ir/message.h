/* Messages: the texts of `print` and `assert`, with their places for values.
 *
 * A text is a constant array of u8, in UTF-8. `{}` stands for the next value, `{:x}` for its bits
 * in hexadecimal, `{{` and `}}` for a brace. */
#ifndef VYRE_IR_MESSAGE_H
#define VYRE_IR_MESSAGE_H

#include <vyre/program.h>

#include "base/strbuf.h"
#include "ir/rule.h"

static inline bool vyre_op_is_message(uint32_t op) {
    return op == VYRE_OP_PRINT || op == VYRE_OP_ASSERT;
}

/* Kinds of messages, as bits. */
enum { VYRE_MESSAGES_PRINT = 1, VYRE_MESSAGES_ASSERT = 2 };

static inline uint32_t vyre_message_kind(uint32_t op) {
    return op == VYRE_OP_PRINT    ? VYRE_MESSAGES_PRINT
           : op == VYRE_OP_ASSERT ? VYRE_MESSAGES_ASSERT
                                  : 0;
}

/* The kinds that a program has. */
uint32_t vyre_messages_of(const vyre_ir *ir);

/* The values that come before those that the text shows: the condition of an assert. */
static inline uint32_t vyre_message_head(uint32_t op) {
    return op == VYRE_OP_ASSERT ? 1 : 0;
}

/* Whether a resource can be a text at all. */
bool vyre_message_is_text(const vyre_ir *ir, uint32_t resource);

/* The text of an instruction; the program owns it. */
vyre_str vyre_message_text(const vyre_ir *ir, const vyre_inst *inst);

/* Whether an operation with a text takes values of these types, all of its operands; `error` says
 * why not. */
bool vyre_message_check(vyre_op op, vyre_str text, const vyre_type *types, uint32_t count,
                        vyre_rule_error *error);

/* Appends the text with these values, given as bits. Texts and types have been checked. */
void vyre_message_format(vyre_strbuf *out, vyre_str text, const vyre_type *types,
                         const uint64_t *bits);

/* Appends the text as the language writes it, in quotes. */
void vyre_message_quote(vyre_strbuf *out, vyre_str text);

/* Appends a number with the fewest digits that read back as the same; every NaN is `nan`. */
void vyre_bits_print(vyre_strbuf *out, vyre_type type, uint64_t bits);

/* Whether an instruction reads a resource as an array, and not as a text. */
bool vyre_message_is_table(const vyre_ir *ir, uint32_t resource);
/* The same for all. */
void vyre_message_find_tables(const vyre_ir *ir, bool *out_is_table);

#endif
