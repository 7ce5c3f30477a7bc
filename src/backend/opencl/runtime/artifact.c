#include "backend/opencl/runtime/artifact.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "store/artifact.h"

typedef struct head {
    char magic[8];
    uint32_t version, semantics, phase_count, f32, f64, zero;
    uint64_t device, name; /* hashes */
} head;

typedef struct phase_row {
    uint32_t threads, shared_bytes, flags, parameter_count, assumption_count;
} phase_row;

enum { ORDERED = 1, FRAME = 2, LONG = 4 };

static head make_head(const opencl_artifact_key *key) {
    return (head){
        .magic = {'v', 'y', 'r', 'e', ' ', 'o', 'c', 'l'},
        .version = OPENCL_ARTIFACT_VERSION,
        .semantics = VYRE_SEMANTICS,
        .phase_count = key->phase_count,
        .f32 = key->corrections.f32,
        .f64 = key->corrections.f64,
        .device = vyre_hash(key->device, strlen(key->device)),
        .name = vyre_hash(key->name, strlen(key->name)),
    };
}

void opencl_artifact_write(const opencl_artifact_key *key, const opencl_phase_info *infos,
                           const vyre_strbuf *binary, vyre_strbuf *out) {
    const head h = make_head(key);
    size_t body = vyre_artifact_begin(&h, sizeof h, out);
    for (uint32_t i = 0; i < key->phase_count; i++) {
        const opencl_phase_info *info = &infos[i];
        const phase_row row = {
            .threads = info->threads,
            .shared_bytes = info->shared_bytes,
            .flags = (info->ordered ? (uint32_t)ORDERED : 0) |
                     (info->has_frame ? (uint32_t)FRAME : 0) | (info->is_long ? (uint32_t)LONG : 0),
            .parameter_count = info->parameter_count,
            .assumption_count = info->assumption_count,
        };
        vyre_strbuf_add(out, (const char *)&row, sizeof row);
        vyre_strbuf_add(out, (const char *)info->parameters,
                        info->parameter_count * sizeof *info->parameters);
        vyre_strbuf_add(out, (const char *)info->assumptions,
                        info->assumption_count * sizeof *info->assumptions);
    }
    vyre_strbuf_add(out, binary->data, binary->size);
    vyre_artifact_end(out, body);
}

/* Takes bytes off the front; false if there are not so many. */
static bool take(const uint8_t **at, size_t *bytes, void *out, size_t size) {
    if (*bytes < size) {
        return false;
    }
    memcpy(out, *at, size);
    *at += size;
    *bytes -= size;
    return true;
}

/* The same for a list of its own. */
static bool take_list(const uint8_t **at, size_t *bytes, void **out, uint32_t count, size_t size) {
    *out = *bytes / size >= count ? vyre_alloc_array(count, size) : NULL;
    return *out && take(at, bytes, *out, count * size);
}

static bool take_phase(const uint8_t **at, size_t *bytes, opencl_phase_info *out) {
    phase_row row;
    void *parameters = NULL, *assumptions = NULL;
    if (!take(at, bytes, &row, sizeof row)) {
        return false;
    }
    bool fits = take_list(at, bytes, &parameters, row.parameter_count, sizeof *out->parameters) &&
                take_list(at, bytes, &assumptions, row.assumption_count, sizeof *out->assumptions);
    *out = (opencl_phase_info){
        .threads = row.threads,
        .shared_bytes = row.shared_bytes,
        .ordered = row.flags & ORDERED,
        .has_frame = row.flags & FRAME,
        .is_long = row.flags & LONG,
        .parameter_count = row.parameter_count,
        .parameters = parameters,
        .assumption_count = row.assumption_count,
        .assumptions = assumptions,
    };
    return fits;
}

bool opencl_artifact_read(const opencl_artifact_key *key, const uint8_t *artifact, size_t size,
                          opencl_phase_info *out_infos, const uint8_t **out_binary,
                          size_t *out_bytes) {
    const head h = make_head(key);
    size_t bytes;
    const uint8_t *body = vyre_artifact_body(&h, sizeof h, artifact, size, 0, &bytes);
    bool fits = body;
    for (uint32_t i = 0; i < key->phase_count && fits; i++) {
        fits = take_phase(&body, &bytes, &out_infos[i]);
    }
    *out_binary = body;
    *out_bytes = bytes;
    return fits && bytes;
}
