/* NumPy's .npz files: ZIP archives of .npy files, stored or compressed by deflate. */
#ifndef VYRE_VALUES_NPZ_H
#define VYRE_VALUES_NPZ_H

#include <vyre/status.h>

#include "base/strbuf.h"

/* Replaces the bytes of an archive by those of its member, a .npy file, which is named with or
 * without the suffix. Without a name (NULL) it is the only member, or the one that is named like
 * the `argument`. MALFORMED where the archive is damaged, INVALID_ARGUMENT where it has no such
 * member. */
VYRE_MUST_USE vyre_status values_npz_take(vyre_strbuf *bytes, const char *name, const char *member,
                                          const char *argument);

/* An archive that is written: members are stored as they are. Free it whatever comes out. */
typedef struct values_npz {
    vyre_strbuf bytes, directory;
    uint32_t count;
} values_npz;

/* Adds the .npy file of an array under a name without suffix. False where the archive would have
 * more than 4 GiB or 65535 members. */
bool values_npz_add(values_npz *archive, vyre_str name, const char *data, size_t size);
/* Completes `bytes`, which fails without memory. */
void values_npz_end(values_npz *archive);
void values_npz_free(values_npz *archive);

#endif
