/* Near names: which of the names that exist was probably meant by one that does not.
 *
 *     vyre_near near;
 *     vyre_near_init(&near, misspelt);
 *     for (...) { vyre_near_add(&near, candidate); }
 *     vyre_near_print(&near, &text, "; did you mean ");     ->  ; did you mean `gid` or `lid`
 *
 * Letters may be missing, added, wrong, swapped with a neighbour, or in the other case. The answer
 * does not depend on the order of the candidates: nearest first, then by bytes. */
#ifndef VYRE_BASE_NEAR_H
#define VYRE_BASE_NEAR_H

#include <vyre/status.h>

#include "base/strbuf.h"

enum { VYRE_NEAR_NAMES = 3 };

typedef struct vyre_near {
    vyre_str wanted;
    size_t count; /* names kept, nearest first */
    vyre_str names[VYRE_NEAR_NAMES];
    uint32_t distances[VYRE_NEAR_NAMES];
} vyre_near;

/* Names stay with the caller until the last use. */
void vyre_near_init(vyre_near *near, vyre_str wanted);

/* A name that is not near enough, or was there before, changes nothing. */
void vyre_near_add(vyre_near *near, vyre_str candidate);

/* Appends `before` and the names; nothing where there is none. */
void vyre_near_print(const vyre_near *near, vyre_strbuf *text, const char *before);

/* An INVALID_ARGUMENT with the names behind its message: "there is no `cpuu`; did you mean `cpu`?"
 */
VYRE_MUST_USE vyre_status vyre_near_refuse(const vyre_near *near, const char *fix,
                                           const char *format, ...) VYRE_PRINTF(3, 4);

#endif
