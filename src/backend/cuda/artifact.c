#include "backend/cuda/artifact.h"

#include <string.h>

#include "driver/artifact.h"

typedef struct head {
    char magic[8];
    uint32_t version, sm, isa, driver, phase_count, zero;
} head;

typedef struct phase_row {
    uint32_t threads, parts, shared_bytes, dynamic_bytes, local_bytes, flags;
} phase_row;

enum { STRIDES = 1, ORDERED = 2, COOPERATIVE = 4 };

static head make_head(const cuda_artifact_key *key) {
    return (head){
        .magic = {'v', 'y', 'r', 'e', 'c', 'u', 'd', 'a'},
        .version = CUDA_ARTIFACT_VERSION,
        .sm = key->sm,
        .isa = key->isa,
        .driver = key->driver,
        .phase_count = key->phase_count,
    };
}

static phase_row row_of(const cuda_phase_info *info) {
    return (phase_row){
        .threads = info->threads,
        .parts = info->parts,
        .shared_bytes = info->shared_bytes,
        .dynamic_bytes = info->dynamic_bytes,
        .local_bytes = info->local_bytes,
        .flags = (info->strides ? (uint32_t)STRIDES : 0) | (info->ordered ? (uint32_t)ORDERED : 0) |
                 (info->cooperative ? (uint32_t)COOPERATIVE : 0),
    };
}

static cuda_phase_info info_of(const phase_row *row) {
    return (cuda_phase_info){
        .threads = row->threads,
        .parts = row->parts,
        .shared_bytes = row->shared_bytes,
        .dynamic_bytes = row->dynamic_bytes,
        .local_bytes = row->local_bytes,
        .strides = row->flags & STRIDES,
        .ordered = row->flags & ORDERED,
        .cooperative = row->flags & COOPERATIVE,
    };
}

void cuda_artifact_write(const cuda_artifact_key *key, const cuda_phase_info *infos,
                         const void *image, size_t image_bytes, vyre_text *out) {
    const head h = make_head(key);
    size_t body = vyre_artifact_begin(&h, sizeof h, out);
    for (uint32_t i = 0; i < key->phase_count; i++) {
        const phase_row row = row_of(&infos[i]);
        vyre_text_add(out, (const char *)&row, sizeof row);
    }
    vyre_text_add(out, image, image_bytes);
    vyre_artifact_end(out, body);
}

bool cuda_artifact_read(const cuda_artifact_key *key, const uint8_t *artifact, size_t size,
                        cuda_phase_info *out_infos, const uint8_t **out_image,
                        size_t *out_image_bytes) {
    const head h = make_head(key);
    size_t rows = key->phase_count * sizeof(phase_row), bytes;
    const uint8_t *body = vyre_artifact_body(&h, sizeof h, artifact, size, rows, &bytes);
    for (uint32_t i = 0; i < key->phase_count && body; i++) {
        phase_row row;
        memcpy(&row, body + i * sizeof row, sizeof row);
        out_infos[i] = info_of(&row);
    }
    if (body) {
        *out_image = body + rows;
        *out_image_bytes = bytes - rows;
    }
    return body;
}
