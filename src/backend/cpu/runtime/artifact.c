#include "backend/cpu/runtime/artifact.h"

#include <string.h>

#include "base/hash.h"
#include "store/artifact.h"

typedef struct head {
    char magic[8];
    uint32_t version, lanes, phase_count, semantics;
    uint64_t cpu, features; /* hashes */
} head;

typedef struct phase_row {
    uint64_t storage_bytes;
    uint32_t block, zero;
} phase_row;

static head make_head(const cpu_artifact_key *key) {
    return (head){
        .magic = {'v', 'y', 'r', 'e', ' ', 'c', 'p', 'u'},
        .version = CPU_ARTIFACT_VERSION,
        .lanes = key->lanes,
        .phase_count = key->phase_count,
        .semantics = VYRE_SEMANTICS,
        .cpu = vyre_hash(key->cpu, strlen(key->cpu)),
        .features = vyre_hash(key->features, strlen(key->features)),
    };
}

void cpu_artifact_write(const cpu_artifact_key *key, const cpu_phase_info *infos,
                        const vyre_strbuf *object, vyre_strbuf *out) {
    const head h = make_head(key);
    size_t body = vyre_artifact_begin(&h, sizeof h, out);
    for (uint32_t i = 0; i < key->phase_count; i++) {
        const phase_row row = {infos[i].storage_bytes, infos[i].block, 0};
        vyre_strbuf_add(out, (const char *)&row, sizeof row);
    }
    vyre_strbuf_add(out, object->data, object->size);
    vyre_artifact_end(out, body);
}

bool cpu_artifact_read(const cpu_artifact_key *key, const uint8_t *artifact, size_t size,
                       cpu_phase_info *out_infos, const uint8_t **out_object,
                       size_t *out_object_size) {
    const head h = make_head(key);
    size_t rows = key->phase_count * sizeof(phase_row), bytes;
    const uint8_t *body = vyre_artifact_body(&h, sizeof h, artifact, size, rows, &bytes);
    for (uint32_t i = 0; i < key->phase_count && body; i++) {
        phase_row row;
        memcpy(&row, body + i * sizeof row, sizeof row);
        out_infos[i] = (cpu_phase_info){.storage_bytes = row.storage_bytes, .block = row.block};
    }
    if (body) {
        *out_object = body + rows;
        *out_object_size = bytes - rows;
    }
    return body;
}
