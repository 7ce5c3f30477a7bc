#include "backend/cuda/runtime/artifact.h"

#include <string.h>

#include "store/artifact.h"

typedef struct head {
    char magic[8];
    uint32_t version, sm, isa, driver, phase_count, semantics;
} head;

typedef struct phase_row {
    uint32_t threads, parts, shared_bytes, dynamic_bytes, local_bytes, image, flags;
} phase_row;

/* In front of the images. */
typedef struct image_table {
    uint64_t count, bytes[CUDA_MOST_IMAGES];
} image_table;

enum { STRIDES = 1, ORDERED = 2, COOPERATIVE = 4 };

static head make_head(const cuda_artifact_key *key) {
    return (head){
        .magic = {'v', 'y', 'r', 'e', 'c', 'u', 'd', 'a'},
        .version = CUDA_ARTIFACT_VERSION,
        .sm = key->sm,
        .isa = key->isa,
        .driver = key->driver,
        .phase_count = key->phase_count,
        .semantics = VYRE_SEMANTICS,
    };
}

static phase_row row_of(const cuda_phase_info *info) {
    return (phase_row){
        .threads = info->threads,
        .parts = info->parts,
        .shared_bytes = info->shared_bytes,
        .dynamic_bytes = info->dynamic_bytes,
        .local_bytes = info->local_bytes,
        .image = info->image,
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
        .image = row->image,
        .strides = row->flags & STRIDES,
        .ordered = row->flags & ORDERED,
        .cooperative = row->flags & COOPERATIVE,
    };
}

void cuda_artifact_write(const cuda_artifact_key *key, const cuda_phase_info *infos,
                         const cuda_images *images, vyre_strbuf *out) {
    const head h = make_head(key);
    image_table table = {.count = images->count};
    size_t body = vyre_artifact_begin(&h, sizeof h, out);
    for (uint32_t i = 0; i < key->phase_count; i++) {
        const phase_row row = row_of(&infos[i]);
        vyre_strbuf_add(out, (const char *)&row, sizeof row);
    }
    memcpy(table.bytes, images->bytes, images->count * sizeof *table.bytes);
    vyre_strbuf_add(out, (const char *)&table, sizeof table);
    for (uint32_t i = 0; i < images->count; i++) {
        vyre_strbuf_add(out, (const char *)images->data[i], (size_t)images->bytes[i]);
    }
    vyre_artifact_end(out, body);
}

/* False if they are not exactly what is there. */
static bool find_images(const image_table *table, const uint8_t *at, uint64_t bytes,
                        cuda_images *out_images) {
    bool fits = table->count && table->count <= CUDA_MOST_IMAGES;
    out_images->count = (uint32_t)table->count;
    for (uint32_t i = 0; fits && i < table->count; i++) {
        fits = table->bytes[i] <= bytes;
        out_images->data[i] = at;
        out_images->bytes[i] = table->bytes[i];
        at += fits ? table->bytes[i] : 0;
        bytes -= fits ? table->bytes[i] : 0;
    }
    return fits && !bytes;
}

bool cuda_artifact_read(const cuda_artifact_key *key, const uint8_t *artifact, size_t size,
                        cuda_phase_info *out_infos, cuda_images *out_images) {
    const head h = make_head(key);
    image_table table;
    size_t rows = key->phase_count * sizeof(phase_row), bytes;
    const uint8_t *body =
        vyre_artifact_body(&h, sizeof h, artifact, size, rows + sizeof table, &bytes);
    if (!body) {
        return false;
    }
    memcpy(&table, body + rows, sizeof table);
    bool fits =
        find_images(&table, body + rows + sizeof table, bytes - rows - sizeof table, out_images);
    for (uint32_t i = 0; i < key->phase_count && fits; i++) {
        phase_row row;
        memcpy(&row, body + i * sizeof row, sizeof row);
        out_infos[i] = info_of(&row);
        fits = row.image < table.count;
    }
    return fits;
}
