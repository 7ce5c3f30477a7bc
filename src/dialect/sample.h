/* Samples: what a manifest says of arguments of any size, words with expressions over n in braces.
 *
 *     x=rand:{n}    a=rand:{root(n) * root(n)}    step=0x1p-{log2(n)}
 *
 * An expression has whole numbers, n, + - * / and parentheses, root(a) and log2(a), which are
 * rounded down, min(a, b) and max(a, b). Its arithmetic is that of u64 and never wraps: a result
 * below 0 or past the largest is an error, as is a division by 0. log2(0) is 0. */
#ifndef VYRE_DIALECT_SAMPLE_H
#define VYRE_DIALECT_SAMPLE_H

#include <vyre/base.h>
#include <vyre/status.h>

#include "base/strbuf.h"

/* Every sample has a value for sizes from 1 to this one. */
#define VYRE_SAMPLE_LARGEST ((uint64_t)1 << 26)

/* The value of an expression. What is wrong with the way it is written is MALFORMED, whatever n is;
 * a value that does not exist for this n is LIMIT. */
VYRE_MUST_USE vyre_status vyre_sample_number(vyre_str expression, uint64_t n, uint64_t *out);

/* Appends `words` with each {...} replaced by its value. */
VYRE_MUST_USE vyre_status vyre_sample_expand(const char *words, uint64_t n, vyre_strbuf *out);

#endif
