#include "ir/program.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/status.h"
#include "ir/diagnostic.h"
#include "ir/section.h"
#include "ir/verify.h"

/* Hash of the meaning: flags, then each section's count and hash. Sections that version 1.0 of the
 * binary form does not have count where there are any. */
static bool compute_digest(const vyre_ir *ir, vyre_digest *out_digest) {
    uint64_t parts[1 + 3 * VYRE_SECTION_COUNT] = {ir->flags};
    size_t at = 1;
    for (uint32_t id = 0; id < VYRE_SECTION_COUNT; id++) {
        vyre_section_id section = (vyre_section_id)id;
        uint32_t count = vyre_section_count(ir, section);
        if (!vyre_section_is_meaning(id) || (id > VYRE_SECTION_STRINGS && !count)) {
            continue;
        }
        const void *items = vyre_section_items(ir, section);
        void *copy = NULL;
        if (vyre_section_needs_copy()) {
            copy = vyre_alloc_array(count, vyre_section_item_bytes(section));
            if (!copy) {
                return false;
            }
            vyre_section_copy(section, copy, items, count);
            items = copy;
        }
        vyre_hash128 hash = vyre_hash_128(items, count * vyre_section_item_bytes(section));
        vyre_free(copy);
        parts[at++] = count;
        parts[at++] = hash.low;
        parts[at++] = hash.high;
    }
    unsigned char bytes[sizeof parts];
    for (size_t i = 0; i < at; i++) {
        for (size_t k = 0; k < 8; k++) {
            bytes[i * 8 + k] = (unsigned char)(parts[i] >> k * 8);
        }
    }
    vyre_hash128 hash = vyre_hash_128(bytes, at * 8);
    *out_digest = (vyre_digest){hash.low, hash.high};
    return true;
}

/* Fills in what follows from the arrays. */
static vyre_status judge(vyre_program *program, const vyre_ir *ir, vyre_diagnostics *diagnostics) {
    if (!compute_digest(ir, &program->digest) ||
        !vyre_determinism_classify(ir, &program->determinism, &program->determinism_reason)) {
        return vyre_no_memory("for a program of %u instructions", ir->inst_count);
    }
    if (ir->flags & VYRE_PROGRAM_DETERMINISTIC && program->determinism == VYRE_DETERMINISTIC) {
        vyre_diagnostics_add(
            diagnostics, &(vyre_diagnostic){.inst = VYRE_NONE}, 805, "remove `deterministic`",
            "program `%s` claims to be deterministic, and vyre can prove it without the claim",
            ir->strings);
        return vyre_diagnostics_status(diagnostics, NULL);
    }
    return VYRE_OK;
}

vyre_status vyre_program_seal(vyre_ir *ir, vyre_diagnostics *diagnostics, vyre_fault *out_fault,
                              vyre_program **out_program) {
    *out_program = NULL;
    vyre_status status = vyre_verify(ir, diagnostics, out_fault);
    vyre_program *program = status ? NULL : vyre_alloc_zeroed(1, sizeof *program);
    if (program) {
        atomic_init(&program->references, 1);
        status = judge(program, ir, diagnostics);
    } else if (!status) {
        status = vyre_no_memory("for a program of %u instructions", ir->inst_count);
    }
    if (status) {
        vyre_program_release(program);
        vyre_sections_free(ir);
        return status;
    }
    program->ir = *ir;
    *ir = (vyre_ir){0};
    *out_program = program;
    return VYRE_OK;
}

vyre_program *vyre_program_retain(vyre_program *program) {
    atomic_fetch_add_explicit(&program->references, 1, memory_order_relaxed);
    return program;
}

void vyre_program_release(vyre_program *program) {
    if (program && atomic_fetch_sub_explicit(&program->references, 1, memory_order_acq_rel) == 1) {
        vyre_sections_free(&program->ir);
        vyre_free(program->determinism_reason);
        vyre_free(program);
    }
}

const vyre_ir *vyre_program_ir(const vyre_program *program) {
    return &program->ir;
}

const char *vyre_program_name(const vyre_program *program) {
    return program->ir.strings;
}

vyre_digest vyre_program_digest(const vyre_program *program) {
    return program->digest;
}

vyre_determinism vyre_program_determinism(const vyre_program *program) {
    return program->determinism;
}

const char *vyre_program_determinism_reason(const vyre_program *program) {
    return program->determinism_reason ? program->determinism_reason : "";
}

void vyre_string_free(char *text) {
    vyre_free(text);
}
