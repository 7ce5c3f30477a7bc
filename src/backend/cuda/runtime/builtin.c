#include "backend/cuda/codegen/ahead.h"
#include "backend/cuda/runtime/backend.h"

CUDA_OPTIONS(VYRE_OPTION_DEFINE)

static vyre_status show_ptx(const vyre_program *program, vyre_strbuf *out) {
    return cuda_ahead(program, NULL, out);
}

#define STAGE(name, documentation, function) {name, function},
static const vyre_stage stages[] = {CUDA_STAGES(STAGE){NULL, NULL}};
static const vyre_option *const options[] = {CUDA_OPTIONS(VYRE_OPTION_LIST) NULL};

const vyre_builtin cuda_builtin = {.bundle = &cuda_bundle,
                                   .is_gpu = true,
                                   .emitter = &cuda_emitter,
                                   .stages = stages,
                                   .options = options};
