/* Automata that look for words in a text, as the match.dfa_ operations take them.
 *
 * The table gives the next state by state and byte, state * 256 + byte. The first state is 0, and
 * states from `accept` on are those behind one of the words. In u8 there is room for 256 states and
 * the table is always as large, in u16 for 65536. */
#ifndef VYRE_VALUES_WORDS_H
#define VYRE_VALUES_WORDS_H

#include <vyre/status.h>
#include <vyre/types.h>

#include "base/strbuf.h"

typedef struct values_automaton {
    uint32_t accept;
    uint32_t overlap; /* bytes after which the state before them does not matter */
} values_automaton;

/* Appends the table for `words`, which have commas between them, in elements of `type`. Errors name
 * the `argument`. */
VYRE_MUST_USE vyre_status values_words_make(const char *argument, vyre_type type, const char *words,
                                            vyre_strbuf *out_table,
                                            values_automaton *out_automaton);

#endif
