#include <pthread.h>

#include "backend/spirv/ahead.h"
#include "backend/vulkan/backend.h"
#include "backend/vulkan/device.h"
#include "backend/vulkan/module.h"
#include "backend/vulkan/physical.h"
#include "base/status.h"
#include "base/strbuf.h"

VULKAN_OPTIONS(VYRE_OPTION_DEFINE)

static const vyre_option *const options[] = {VULKAN_OPTIONS(VYRE_OPTION_LIST) NULL};

#define STAGE(name, documentation, function) {name, function},
static const vyre_stage stages[] = {SPIRV_STAGES(STAGE){NULL, NULL}};

/* The module of each phase. */
static vyre_status show_for(const vyre_backend *backend, const vyre_program *program,
                            vyre_strbuf *out) {
    const vulkan_device *device = backend->state;
    vulkan_code code;
    vyre_status status = vulkan_code_write(device, program, 0, false, &code);
    bool made = true;
    if (!status) {
        vyre_strbuf_printf(out, "; for %s, corrects %s\n", device->info.name, device->corrections);
    }
    for (uint32_t i = 0; i < code.phase_count && !status && made; i++) {
        vyre_strbuf_printf(out, "%s; phase %u\n", i ? "\n" : "", i);
        made = spirv_disassemble(&code.modules[i], out);
    }
    vulkan_code_free(&code);
    return made ? status : vyre_no_memory("to show `%s`", vyre_program_name(program));
}

enum { NOTE_BYTES = 512 };
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char note[NOTE_BYTES];

static void describe_once(void) {
    size_t used = 0;
    for (uint32_t i = 0; i < vulkan_physical_count(); i++) {
        vulkan_device *device;
        vyre_status status = vulkan_device_create(i, &device);
        if (!status) {
            vyre_strbuf text = {0};
            vyre_strbuf_printf(&text, "%s%s: corrections of %s", used ? "; " : "",
                               device->info.name, device->corrections);
            for (size_t k = 0; k < text.size && used < NOTE_BYTES - 1; k++) {
                note[used++] = text.data[k];
            }
            vyre_strbuf_free(&text);
            vulkan_device_free(device);
        }
        vyre_status_free(status);
    }
}

const char *vulkan_note(void) {
    pthread_once(&once, describe_once);
    return *note ? note : NULL;
}

const vyre_builtin vulkan_builtin = {.bundle = &vulkan_bundle,
                                     .is_gpu = true,
                                     .emitter = &spirv_emitter,
                                     .stages = stages,
                                     .show_for = show_for,
                                     .options = options,
                                     .note = vulkan_note,
                                     .is_known_software = vulkan_physical_known_software};
