/* The code of a program as PTX, divided among several texts that are translated side by side:
 * nearly all the time of compiling is the driver's compiler. */
#ifndef VYRE_CUDA_RUNTIME_TEXTS_H
#define VYRE_CUDA_RUNTIME_TEXTS_H

#include "backend/cuda/runtime/executable.h"

/* Of the entries of each code. */
extern const char *const cuda_prefixes[CUDA_CODES];

typedef struct cuda_texts {
    vyre_strbuf images[CUDA_MOST_IMAGES]; /* each ends with a NUL that its size does not count */
    uint32_t count;
    vyre_strbuf entries[CUDA_CODES];   /* of one phase behind the other */
    vyre_strbuf constants[CUDA_CODES]; /* constant arrays, which go to each text */
    size_t *ends;                      /* by phase of all codes: in the text of its own */
} cuda_texts;

/* `texts` is empty, and to be freed whatever comes out. `infos` has one a phase of all codes. */
VYRE_MUST_USE vyre_status cuda_texts_write(cuda_texts *texts, const cuda_executable *executable,
                                           uint32_t phases, cuda_phase_info *infos);
void cuda_texts_free(cuda_texts *texts);

#endif
