/* Facts about this machine that one process finds out and later ones read, as small files in the
 * folder of the store. A file repeats its key, so that a fact is taken for no other one. Trouble
 * reads as nothing known. */
#ifndef VYRE_STORE_RECALL_H
#define VYRE_STORE_RECALL_H

#include "base/strbuf.h"

/* What was remembered under that kind and key, in `out_value`, which must be empty. */
bool vyre_recall(const char *kind, const vyre_strbuf *key, vyre_strbuf *out_value);
void vyre_remember(const char *kind, const vyre_strbuf *key, const vyre_strbuf *value);

/* What a loader of drivers finds depends on these: its own file, folders with files that name the
 * drivers, folders of devices, and variables of the environment. The lists end with NULL. */
typedef struct vyre_finder {
    const char *kind; /* names the fact */
    const char *const *variables, *const *paths;
} vyre_finder;

/* Whether the last process that asked the loader found nothing but software devices, and none of
 * these things has changed since. */
bool vyre_recall_software(const vyre_finder *finder);
/* Keeps the answer for later processes. */
void vyre_remember_software(const vyre_finder *finder, bool only_software);

/* Appends a line that changes when the file does, for keys; an empty one if there is no such file.
 */
void vyre_describe_file(const char *path, vyre_strbuf *out);

#endif
