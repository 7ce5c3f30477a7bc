/* Texts: the programs of texts that ran before, for runs of the same text. A process has one set of
 * them, which is bounded. A text counts as the same if all its bytes are, and if no snapshot of the
 * operation library was installed since. */
#ifndef VYRE_ROUTE_TEXTS_H
#define VYRE_ROUTE_TEXTS_H

#include <vyre/program.h>

/* The program of a text that holds one: parsed, or found again. The caller releases it. */
VYRE_MUST_USE vyre_status vyre_texts_program(const char *text, vyre_program **out_program);

#endif
