#include "backend/vulkan/module.h"

#include <string.h>

#include "backend/vulkan/executable.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/program.h"
#include "pass/pass.h"
#include "pass/subgroup.h"
#include "store/artifact.h"

/* Grows whenever the same program becomes other code by this version of the library. */
enum { ARTIFACT_VERSION = 8 };

static vyre_status make_room(vulkan_code *code, uint32_t phase_count) {
    memset(code, 0, sizeof *code);
    code->infos = vyre_alloc_zeroed(phase_count, sizeof *code->infos);
    code->modules = vyre_alloc_zeroed(phase_count, sizeof *code->modules);
    code->phase_count = code->modules ? phase_count : 0;
    return code->infos && code->modules ? VYRE_OK : vyre_no_memory("for the code of a program");
}

void vulkan_code_free(vulkan_code *code) {
    for (uint32_t i = 0; i < code->phase_count; i++) {
        spirv_module_free(&code->modules[i]);
    }
    vyre_free(code->modules);
    vyre_free(code->infos);
    vyre_free(code->data);
    vyre_free(code->cache);
    memset(code, 0, sizeof *code);
}

static bool copy_bytes(const uint8_t *from, size_t bytes, uint8_t **out_copy) {
    *out_copy = bytes ? vyre_alloc(bytes) : NULL;
    if (*out_copy) {
        memcpy(*out_copy, from, bytes);
    }
    return *out_copy || !bytes;
}

static vyre_status copy_data(vulkan_code *code, const vyre_program *lowered) {
    const vyre_ir *ir = vyre_program_ir(lowered);
    code->data_bytes = ir->data_bytes;
    return copy_bytes(ir->data, ir->data_bytes, &code->data)
               ? VYRE_OK
               : vyre_no_memory("for the constant arrays of a program");
}

vyre_status vulkan_code_write(const vulkan_device *device, const vyre_program *program,
                              unsigned variant, bool is_plain, vulkan_code *out_code) {
    vyre_program *shared = NULL, *lowered = NULL;
    spirv_target target = device->target;
    bool general = variant & VULKAN_GENERAL;
    target.general = general;
    target.polls = variant & VULKAN_STOPS;
    vyre_status status = make_room(out_code, vyre_program_ir(program)->phase_count);
    status = status ? status : vyre_subgroups_share(program, device->keep_widths, &shared);
    const vyre_program *from = shared ? shared : program;
    if (!status) {
        status = is_plain ? vyre_lower_program(from, !general, &lowered)
                          : vyre_lower_corrected(from, !general, &device->needed, &lowered);
    }
    status = status ? status : copy_data(out_code, lowered);
    for (uint32_t i = 0; i < out_code->phase_count && !status; i++) {
        status = spirv_emit(lowered, &target, i, &out_code->modules[i], out_code->infos);
    }
    vyre_program_release(lowered);
    vyre_program_release(shared);
    return status;
}

/* What the code was made for. */
typedef struct head {
    char magic[8];
    uint32_t version, phase_count, semantics, api;
    uint32_t f32, f64, rounds, keeps_nan, keeps_denorms, flags;
    uint64_t widths;
    uint32_t most_turns, push_bytes;
    char identity[sizeof((vulkan_info *)0)->identity];
    char padding[8 - sizeof((vulkan_info *)0)->identity % 8];
} head;

typedef struct row {
    uint32_t threads, subgroup, shared_bytes, private_bytes, flags, reserved;
    uint64_t words;
} row;

/* Behind the rows; then come data, modules, and what the driver made. */
typedef struct tail {
    uint64_t data_bytes;
} tail;

enum { ORDERED = 1, COOPERATIVE = 2, HAS_LOOPS = 4 };

static head make_head(const vulkan_device *device, uint32_t phase_count) {
    const spirv_target *t = &device->target;
    head made;
    memset(&made, 0, sizeof made);
    memcpy(made.magic, "vyrevulk", sizeof made.magic);
    made.version = ARTIFACT_VERSION;
    made.phase_count = phase_count;
    made.semantics = VYRE_SEMANTICS;
    made.api = t->version;
    made.f32 = device->needed.f32;
    made.f64 = device->needed.f64;
    made.rounds = t->rounds;
    made.keeps_nan = t->keeps_nan;
    made.keeps_denorms = t->keeps_denorms;
    made.flags = (uint32_t)t->vulkan_model | (uint32_t)t->storage8 << 1 |
                 (uint32_t)t->storage16 << 2 | (uint32_t)t->int8 << 3 | (uint32_t)t->int16 << 4 |
                 (uint32_t)t->f64 << 5 | (uint32_t)t->atomics64 << 6 |
                 (uint32_t)t->shared_atomics64 << 7 | (uint32_t)t->no_fences << 8 |
                 (uint32_t)t->polls << 9 | (uint32_t)t->folds_zeros << 10;
    made.most_turns = t->most_turns;
    made.push_bytes = t->push_bytes;
    made.widths = device->keep_widths;
    memcpy(made.identity, device->info.identity, sizeof made.identity);
    return made;
}

void vulkan_code_store(const vulkan_device *device, const vulkan_code *code, vyre_strbuf *out) {
    const head h = make_head(device, code->phase_count);
    size_t body = vyre_artifact_begin(&h, sizeof h, out);
    for (uint32_t i = 0; i < code->phase_count; i++) {
        const spirv_phase_info *info = &code->infos[i];
        const row stored = {
            .threads = info->threads,
            .subgroup = info->subgroup,
            .shared_bytes = info->shared_bytes,
            .private_bytes = info->private_bytes,
            .flags = (info->ordered ? (uint32_t)ORDERED : 0) |
                     (info->cooperative ? (uint32_t)COOPERATIVE : 0) |
                     (info->has_loops ? (uint32_t)HAS_LOOPS : 0),
            .words = code->modules[i].count,
        };
        vyre_strbuf_add(out, (const char *)&stored, sizeof stored);
    }
    const tail behind = {code->data_bytes};
    vyre_strbuf_add(out, (const char *)&behind, sizeof behind);
    if (code->data_bytes) {
        vyre_strbuf_add(out, (const char *)code->data, code->data_bytes);
    }
    for (uint32_t i = 0; i < code->phase_count; i++) {
        vyre_strbuf_add(out, (const char *)code->modules[i].words, code->modules[i].count * 4);
    }
    if (code->cache_bytes) {
        vyre_strbuf_add(out, (const char *)code->cache, code->cache_bytes);
    }
    vyre_artifact_end(out, body);
}

bool vulkan_code_load(const vulkan_device *device, uint32_t phase_count, const uint8_t *artifact,
                      size_t size, vulkan_code *out_code) {
    const head h = make_head(device, phase_count);
    size_t rows = phase_count * sizeof(row), left;
    tail behind;
    const uint8_t *body =
        vyre_artifact_body(&h, sizeof h, artifact, size, rows + sizeof behind, &left);
    if (!body) {
        return false;
    }
    vyre_status status = make_room(out_code, phase_count);
    bool fits = !status;
    const uint8_t *at = body + rows + sizeof behind;
    vyre_status_free(status);
    left -= rows + sizeof behind;
    memcpy(&behind, body + rows, sizeof behind);
    if (fits && behind.data_bytes) {
        out_code->data_bytes = (size_t)behind.data_bytes;
        fits = behind.data_bytes <= left && copy_bytes(at, out_code->data_bytes, &out_code->data);
        at += fits ? out_code->data_bytes : 0;
        left -= fits ? out_code->data_bytes : 0;
    }
    for (uint32_t i = 0; i < phase_count && fits; i++) {
        row stored;
        memcpy(&stored, body + i * sizeof stored, sizeof stored);
        out_code->infos[i] = (spirv_phase_info){
            .threads = stored.threads,
            .subgroup = stored.subgroup,
            .shared_bytes = stored.shared_bytes,
            .private_bytes = stored.private_bytes,
            .ordered = stored.flags & ORDERED,
            .cooperative = stored.flags & COOPERATIVE,
            .has_loops = stored.flags & HAS_LOOPS,
        };
        spirv_module *module = &out_code->modules[i];
        fits = stored.words && stored.words <= left / 4;
        module->words = fits ? vyre_alloc_array((size_t)stored.words, 4) : NULL;
        fits = module->words;
        if (fits) {
            module->count = (size_t)stored.words;
            memcpy(module->words, at, module->count * 4);
            at += module->count * 4;
            left -= module->count * 4;
        }
    }
    if (fits && left) {
        fits = copy_bytes(at, left, &out_code->cache);
        out_code->cache_bytes = fits ? left : 0;
    }
    if (!fits) {
        vulkan_code_free(out_code);
    }
    return fits;
}
