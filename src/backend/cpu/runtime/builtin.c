#include "backend/cpu/codegen/option.h"
#include "backend/cpu/runtime/backend.h"
#include "backend/cpu/runtime/bandwidth.h"
#include "backend/cpu/runtime/compiler.h"
#include "backend/cpu/runtime/executable.h"

static vyre_status show_llvm(const vyre_program *program, vyre_strbuf *out) {
    return cpu_executable_show(program, false, out);
}

static vyre_status show_assembly(const vyre_program *program, vyre_strbuf *out) {
    return cpu_executable_show(program, true, out);
}

#define STAGE(name, documentation, function) {name, function},
static const vyre_stage stages[] = {CPU_STAGES(STAGE){NULL, NULL}};
static const vyre_option *const options[] = {CPU_OPTIONS(VYRE_OPTION_LIST) NULL};

const vyre_builtin cpu_builtin = {.bundle = &cpu_bundle,
                                  .emitter = &cpu_emitter,
                                  .stages = stages,
                                  .options = options,
                                  .measure = cpu_bandwidth_learn,
                                  .note = cpu_compiler_describe};
