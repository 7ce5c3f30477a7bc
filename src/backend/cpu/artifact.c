#include "backend/cpu/artifact.h"

#include <string.h>

#include "base/hash.h"

typedef struct head {
    char magic[8];
    uint32_t version, lanes, phase_count, zero;
    uint64_t cpu, features; /* hashes */
    uint64_t object_bytes;
    uint64_t checksum; /* of what follows */
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
        .cpu = vyre_hash(key->cpu, strlen(key->cpu)),
        .features = vyre_hash(key->features, strlen(key->features)),
    };
}

void cpu_artifact_write(const cpu_artifact_key *key, const cpu_phase_info *infos,
                        const vyre_text *object, vyre_text *out) {
    head h = make_head(key);
    h.object_bytes = object->size;
    size_t start = out->size;
    vyre_text_add(out, (const char *)&h, sizeof h);
    for (uint32_t i = 0; i < key->phase_count; i++) {
        const phase_row row = {infos[i].storage_bytes, infos[i].block, 0};
        vyre_text_add(out, (const char *)&row, sizeof row);
    }
    vyre_text_add(out, object->data, object->size);
    if (!out->failed) {
        size_t body = start + sizeof h;
        h.checksum = vyre_hash(out->data + body, out->size - body);
        memcpy(out->data + start, &h, sizeof h);
    }
}

bool cpu_artifact_read(const cpu_artifact_key *key, const uint8_t *artifact, size_t size,
                       cpu_phase_info *out_infos, const uint8_t **out_object,
                       size_t *out_object_size) {
    head found, wanted = make_head(key);
    size_t rows = key->phase_count * sizeof(phase_row);
    if (size < sizeof found + rows) {
        return false;
    }
    memcpy(&found, artifact, sizeof found);
    const uint8_t *body = artifact + sizeof found;
    wanted.object_bytes = size - sizeof found - rows;
    wanted.checksum = vyre_hash(body, size - sizeof found);
    if (memcmp(&found, &wanted, sizeof found) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < key->phase_count; i++) {
        phase_row row;
        memcpy(&row, body + i * sizeof row, sizeof row);
        out_infos[i] = (cpu_phase_info){.storage_bytes = row.storage_bytes, .block = row.block};
    }
    *out_object = body + rows;
    *out_object_size = wanted.object_bytes;
    return true;
}
