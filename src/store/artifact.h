/* The stored form of what a backend compiled: a head that says what it was made for, the sum of the
 * bytes behind it, and these. One that is damaged, or whose head is another, does not fit.
 *
 *     size_t body = vyre_artifact_begin(&head, sizeof head, out);
 *     vyre_strbuf_add(out, ...);
 *     vyre_artifact_end(out, body);
 */
#ifndef VYRE_STORE_ARTIFACT_H
#define VYRE_STORE_ARTIFACT_H

#include "base/strbuf.h"

/* Appends to `out`; a failure is in out->failed. */
size_t vyre_artifact_begin(const void *head, size_t head_bytes, vyre_strbuf *out);
void vyre_artifact_end(vyre_strbuf *out, size_t body);

/* What lies behind the head, at least `least` bytes and aligned to nothing; NULL if the artifact
 * does not fit. */
const uint8_t *vyre_artifact_body(const void *head, size_t head_bytes, const uint8_t *artifact,
                                  size_t size, size_t least, size_t *out_bytes);

#endif
