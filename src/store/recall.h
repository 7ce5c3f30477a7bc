/* Facts about this machine that one process finds out and later ones read, as small files in the
 * folder of the store. A file repeats its key, so that a fact is taken for no other one. Trouble
 * reads as nothing known. */
#ifndef VYRE_STORE_RECALL_H
#define VYRE_STORE_RECALL_H

#include "base/strbuf.h"

/* What was remembered under that kind and key, in `out_value`, which must be empty. */
bool vyre_recall(const char *kind, const vyre_strbuf *key, vyre_strbuf *out_value);
void vyre_remember(const char *kind, const vyre_strbuf *key, const vyre_strbuf *value);

/* Appends a line that changes when the file does, for keys; an empty one if there is no such file.
 */
void vyre_describe_file(const char *path, vyre_strbuf *out);

#endif
