/* A program that was compiled for a device: a pipeline for each phase, and what the host must know
 * to run them. */
#ifndef VYRE_VULKAN_EXECUTABLE_H
#define VYRE_VULKAN_EXECUTABLE_H

#include <vyre/backend.h>
#include <vyre/program.h>

#include "backend/vulkan/device.h"
#include "base/strbuf.h"

typedef struct vulkan_phase {
    VkPipeline pipeline; /* VK_NULL_HANDLE: not on the device any more */
    spirv_phase_info info;
} vulkan_phase;

/* The code of a program is compiled for most runs, and when it comes to that for others, in any
 * combination. */
enum {
    VULKAN_GENERAL = 1, /* runs whose config brings a domain */
    VULKAN_STOPS = 2,   /* runs with a timeout: its loops look at the stop word */
    VULKAN_VARIANTS = 4 /* such combinations */
};

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
    bool has_loops;        /* that may run for long */
    unsigned variant;      /* what else it can do */
    size_t code_bytes;
    vulkan_block *constants;                      /* what frames call so; NULL: none */
    vulkan_executable *variants[VULKAN_VARIANTS]; /* each from its first run on, or NULL */
    vulkan_executable *next, *previous;           /* of the device */
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
/* The code for a run with this config. It lives as long as `executable`. */
VYRE_MUST_USE vyre_status vulkan_executable_variant(vulkan_executable *executable,
                                                    const vyre_dispatch_config *config,
                                                    vulkan_executable **out_executable);
vulkan_executable *vulkan_executable_retain(vulkan_executable *executable);
void vulkan_executable_release(vulkan_executable *executable); /* NULL is allowed */

/* A pipeline of the entry point `main`. `subgroup`: the width that it needs, 0 for any. */
VkResult vulkan_pipeline_make(vulkan_device *device, VkPipelineCache cache, uint32_t subgroup,
                              const spirv_module *from, VkPipeline *out_pipeline);

/* Takes the code of all off the device; nothing runs it. */
void vulkan_executables_unload(vulkan_device *device);

#endif
