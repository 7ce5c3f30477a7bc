/* The form in which compiled programs are stored: a head, what is known of each phase, the binaries
 * that the driver made. One that is damaged, of another layout, or made for another device or by
 * another driver does not fit. */
#ifndef VYRE_CUDA_RUNTIME_ARTIFACT_H
#define VYRE_CUDA_RUNTIME_ARTIFACT_H

#include "backend/cuda/codegen/emit.h"
#include "base/strbuf.h"

/* Grows whenever the same program is translated into other code by this version of the library. */
enum { CUDA_ARTIFACT_VERSION = 12 };

/* What the code was made for. */
typedef struct cuda_artifact_key {
    uint32_t sm, isa;
    uint32_t driver;      /* its version */
    uint32_t phase_count; /* of all codes together */
} cuda_artifact_key;

/* The binaries of a program; a phase's info says which of them has it. */
enum { CUDA_MOST_IMAGES = 8 };
typedef struct cuda_images {
    uint32_t count;
    const uint8_t *data[CUDA_MOST_IMAGES];
    uint64_t bytes[CUDA_MOST_IMAGES];
} cuda_images;

/* Appends to `out`; a failure is in out->failed. */
void cuda_artifact_write(const cuda_artifact_key *key, const cuda_phase_info *infos,
                         const cuda_images *images, vyre_strbuf *out);

/* Whether it fits; then `out_infos` has one a phase and the images are parts of the artifact. */
bool cuda_artifact_read(const cuda_artifact_key *key, const uint8_t *artifact, size_t size,
                        cuda_phase_info *out_infos, cuda_images *out_images);

#endif
