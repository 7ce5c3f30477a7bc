/* Texts: keeps the programs of recent texts, for later runs of the same text. A process has one
 * bounded set of them. A program is found again if all bytes of the text are the same, and no
 * snapshot of the operation library was installed since. */
#ifndef VYRE_ROUTE_TEXTS_H
#define VYRE_ROUTE_TEXTS_H

#include <vyre/program.h>

/* Parses a text with one program, or finds its program again. The caller releases it. */
VYRE_MUST_USE vyre_status vyre_texts_program(const char *text, vyre_program **out_program);

#endif
