/* Printing: a program as text, with comments beside its instructions, and parts of one. */
#ifndef VYRE_IR_PRINT_H
#define VYRE_IR_PRINT_H

#include <vyre/program.h>

#include "base/number.h"

/* Adds what there is to say about an instruction, on one line; or nothing. */
typedef void (*vyre_print_note)(void *user, uint32_t inst, vyre_strbuf *text);

/* As vyre_program_print, with notes behind instructions. */
VYRE_MUST_USE vyre_status vyre_program_print_notes(const vyre_program *program,
                                                   vyre_print_note note, void *user,
                                                   char **out_text, size_t *out_size);

/* The format of a float type. */
vyre_float_format vyre_type_format(vyre_type type);

/* "y: inout buffer<f32>[n]": an argument as the author declared it. */
void vyre_argument_print(vyre_strbuf *text, const vyre_ir *ir, uint32_t index);

/* The struct for the records of a buffer and of all that it is swapped with, once, and its name. */
void vyre_record_print(vyre_strbuf *text, const vyre_ir *ir, uint32_t buffer);
void vyre_record_name_print(vyre_strbuf *text, const vyre_ir *ir, uint32_t buffer);

/* By buffer, VYRE_LIMIT_ARGUMENTS of them: the first one of records that swaps connect with it.
 * They have one struct. */
void vyre_swapped_firsts(const vyre_ir *ir, uint32_t *firsts);

#endif
