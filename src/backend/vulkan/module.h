/* Modules: the SPIR-V of a program, with the corrections that a device needs, and its stored form.
 */
#ifndef VYRE_VULKAN_MODULE_H
#define VYRE_VULKAN_MODULE_H

#include "backend/vulkan/device.h"
#include "base/strbuf.h"

/* The modules of a program, by phase. */
typedef struct vulkan_code {
    uint32_t phase_count;
    spirv_phase_info *infos;
    spirv_module *modules;
    uint8_t *data; /* that the modules read constants from; NULL: none */
    size_t data_bytes;
    uint8_t *cache; /* what the driver made of them once; or NULL */
    size_t cache_bytes;
} vulkan_code;

/* Lowers, corrects and writes. `variant`: VULKAN_ bits of what else the code can do. Free with
 * vulkan_code_free, after a failure, too. */
VYRE_MUST_USE vyre_status vulkan_code_write(const vulkan_device *device,
                                            const vyre_program *program, unsigned variant,
                                            bool is_plain, vulkan_code *out_code);
void vulkan_code_free(vulkan_code *code);

/* Appends to `out`; a failure is in out->failed. */
void vulkan_code_store(const vulkan_device *device, const vulkan_code *code, vyre_strbuf *out);
/* False if the artifact was made for another device, driver or version, or is damaged; or without
 * memory. */
bool vulkan_code_load(const vulkan_device *device, uint32_t phase_count, const uint8_t *artifact,
                      size_t size, vulkan_code *out_code);

#endif
