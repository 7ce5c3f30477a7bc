#include "store/artifact.h"

#include <string.h>

#include "base/hash.h"

size_t vyre_artifact_begin(const void *head, size_t head_bytes, vyre_strbuf *out) {
    const uint64_t sum = 0; /* written at the end */
    vyre_strbuf_add(out, head, head_bytes);
    vyre_strbuf_add(out, (const char *)&sum, sizeof sum);
    return out->size;
}

void vyre_artifact_end(vyre_strbuf *out, size_t body) {
    if (!out->failed) {
        uint64_t sum = vyre_hash(out->data + body, out->size - body);
        memcpy(out->data + body - sizeof sum, &sum, sizeof sum);
    }
}

const uint8_t *vyre_artifact_body(const void *head, size_t head_bytes, const uint8_t *artifact,
                                  size_t size, size_t least, size_t *out_bytes) {
    uint64_t sum;
    size_t before = head_bytes + sizeof sum;
    if (size < before + least || memcmp(artifact, head, head_bytes) != 0) {
        return NULL;
    }
    const uint8_t *body = artifact + before;
    memcpy(&sum, artifact + head_bytes, sizeof sum);
    *out_bytes = size - before;
    return sum == vyre_hash(body, *out_bytes) ? body : NULL;
}
