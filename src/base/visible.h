/* Text from outside, made visible. File names, files and plugins may hold characters that move the
 * cursor, repaint the terminal or turn the order of what follows. People read those as escapes:
 * `\x1b` for a byte, `\u{202e}` for a character. */
#ifndef VYRE_BASE_VISIBLE_H
#define VYRE_BASE_VISIBLE_H

#include "base/strbuf.h"

/* Whether a character changes the direction of the text around it: the marks, embeddings, overrides
 * and isolates of Unicode. */
bool vyre_is_bidi(uint32_t c);

/* Bytes of the character at the start of `data`, 1 where none is valid and 0 where `size` is. Says
 * whether it may be shown as it is. Controls, line feed and tab among them, may not. */
size_t vyre_visible_next(const char *data, size_t size, bool *out_shown);

/* Appends `data`, each character that may not be shown as an escape. */
void vyre_strbuf_visible(vyre_strbuf *text, const char *data, size_t size);

/* Makes visible what the buffer holds from byte `from` on, where line feeds and tabs may stay.
 * Cannot fail: without memory for escapes, question marks take their place. */
void vyre_visible_clean(vyre_strbuf *text, size_t from, bool keep_lines);

#endif
