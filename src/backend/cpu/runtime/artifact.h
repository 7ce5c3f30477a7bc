/* The form in which compiled programs are stored: a head, what is known of each phase, the object.
 * One that is damaged, of another layout, for another CPU or of other lanes does not fit. */
#ifndef VYRE_CPU_RUNTIME_ARTIFACT_H
#define VYRE_CPU_RUNTIME_ARTIFACT_H

#include "backend/cpu/codegen/emit.h"
#include "base/strbuf.h"

/* Grows whenever the same program is translated into other code by this version of the library. */
enum { CPU_ARTIFACT_VERSION = 12 };

/* What the code was made for. */
typedef struct cpu_artifact_key {
    const char *cpu, *features; /* as LLVM calls them */
    uint32_t lanes;
    uint32_t phase_count;
} cpu_artifact_key;

/* Appends to `out`; a failure is in out->failed. */
void cpu_artifact_write(const cpu_artifact_key *key, const cpu_phase_info *infos,
                        const vyre_strbuf *object, vyre_strbuf *out);

/* Whether it fits; then `out_infos` has one a phase and the object is a part of the artifact. */
bool cpu_artifact_read(const cpu_artifact_key *key, const uint8_t *artifact, size_t size,
                       cpu_phase_info *out_infos, const uint8_t **out_object,
                       size_t *out_object_size);

#endif
