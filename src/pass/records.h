/* Records: buffers of records become buffers of integers, for backends that have none.
 *
 * The integers, all of one size, are the largest that every field and the record consist of. A
 * field is one or several of them; bitcasts and shifts put it together. */
#ifndef VYRE_PASS_RECORDS_H
#define VYRE_PASS_RECORDS_H

#include <vyre/program.h>

/* Whether a program has buffers of records. */
bool vyre_has_records(const vyre_program *program);

/* The program with buffers of as many bytes in their place. Refuses atomics on fields that do not
 * become one integer. */
VYRE_MUST_USE vyre_status vyre_lower_records(const vyre_program *program,
                                             vyre_program **out_program);

#endif
