/* A program that was compiled for a device: a pipeline for each phase, and what the host must know
 * to run them. */
#ifndef VYRE_VULKAN_EXECUTABLE_H
#define VYRE_VULKAN_EXECUTABLE_H

#include <vyre/program.h>

#include "backend/vulkan/device.h"
#include "base/strbuf.h"

typedef struct vulkan_phase {
    VkPipeline pipeline; /* VK_NULL_HANDLE: not on the device any more */
    spirv_phase_info info;
} vulkan_phase;

struct vulkan_executable {
    vulkan_device *device;
    atomic_uint references; /* of the pipeline, and of batches on their way */
    vyre_program *program;
    const vyre_ir *ir; /* of it */
    spirv_layout layout;
    vulkan_phase *phases;
    uint32_t phase_count;
    uint32_t *overwritten; /* by resource, as vyre_fill_find says */
    bool has_while;        /* the host looks at memory to know how it goes on */
    bool swaps;            /* arrays */
    bool has_counters;     /* phases with counters of their own */
    bool is_general;       /* it runs any domain */
    size_t code_bytes;
    vulkan_block *constants;    /* what frames call so; NULL: none */
    vulkan_executable *general; /* such code for the same program, once a run asked for it */
    vulkan_executable *next, *previous; /* of the device */
};

/* Takes the code from an artifact that fits. Where there is none it is compiled, and
 * `out_artifact`, which must be empty, has what can be stored. */
VYRE_MUST_USE vyre_status vulkan_executable_make(vulkan_device *device, const vyre_program *program,
                                                 const uint8_t *artifact, size_t artifact_size,
                                                 vyre_strbuf *out_artifact,
                                                 vulkan_executable **out_executable);
/* The same without corrections and artifact, for the probe. */
VYRE_MUST_USE vyre_status vulkan_executable_make_plain(vulkan_device *device,
                                                       const vyre_program *program,
                                                       vulkan_executable **out_executable);
/* The code for runs whose config brings a domain. It lives as long as `executable`. */
VYRE_MUST_USE vyre_status vulkan_executable_general(vulkan_executable *executable,
                                                    vulkan_executable **out_executable);
vulkan_executable *vulkan_executable_retain(vulkan_executable *executable);
void vulkan_executable_release(vulkan_executable *executable); /* NULL is allowed */

/* A pipeline of the entry point `main`. `subgroup`: the width that it needs, 0 for any. */
VkResult vulkan_pipeline_make(vulkan_device *device, VkPipelineCache cache, uint32_t subgroup,
                              const spirv_module *from, VkPipeline *out_pipeline);

/* Takes the code of all off the device; nothing runs it. */
void vulkan_executables_unload(vulkan_device *device);

#endif
