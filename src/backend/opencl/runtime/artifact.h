/* The form in which compiled programs are stored: a head, what is known of each phase, the driver's
 * binary. One that is damaged, or made for another device, driver or set of options does not fit.
 */
#ifndef VYRE_OPENCL_RUNTIME_ARTIFACT_H
#define VYRE_OPENCL_RUNTIME_ARTIFACT_H

#include "backend/opencl/codegen/emit.h"
#include "base/strbuf.h"
#include "pass/correct.h"

/* Grows whenever the same program is translated into other code by this version of the library. */
enum { OPENCL_ARTIFACT_VERSION = 6 };

/* What the code was made for. */
typedef struct opencl_artifact_key {
    const char *device; /* driver and options */
    const char *name;   /* of the device */
    vyre_corrections corrections;
    uint32_t phase_count;
} opencl_artifact_key;

/* Appends to `out`; a failure is in out->failed. */
void opencl_artifact_write(const opencl_artifact_key *key, const opencl_phase_info *infos,
                           const vyre_strbuf *binary, vyre_strbuf *out);

/* Whether it fits; then `out_infos`, zeroed before, has one a phase, with lists of its own, and the
 * binary is a part of the artifact. */
bool opencl_artifact_read(const opencl_artifact_key *key, const uint8_t *artifact, size_t size,
                          opencl_phase_info *out_infos, const uint8_t **out_binary,
                          size_t *out_bytes);

#endif
