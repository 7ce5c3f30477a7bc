#include "ir/program.h"

#include <string.h>

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

bool vyre_program_same_arguments(const vyre_program *left, const vyre_program *right) {
    const vyre_ir *a = &left->ir, *b = &right->ir;
    bool same = a->arg_count == b->arg_count;
    for (uint32_t i = 0; same && i < a->arg_count; i++) {
        const vyre_arg *x = &a->args[i], *y = &b->args[i];
        same = !strcmp(a->strings + x->name, b->strings + y->name) && x->type == y->type &&
               (x->resource == VYRE_NONE) == (y->resource == VYRE_NONE) &&
               (x->resource == VYRE_NONE ||
                a->resources[x->resource].access == b->resources[y->resource].access);
    }
    return same;
}

static void free_variant(vyre_program_variant *variant) {
    vyre_free((char *)(uintptr_t)variant->suits.backend);
    vyre_program_release(variant->program);
}

vyre_status vyre_program_add_variant(vyre_program *program, vyre_suits suits,
                                     vyre_program *variant) {
    vyre_program_variant row = {{NULL, suits.kind}, variant};
    vyre_status status = VYRE_OK;
    if (!vyre_program_same_arguments(program, variant) || variant->variant_count) {
        status = vyre_status_make(VYRE_STATUS_INVALID_PROGRAM, "give both the same arguments",
                                  "a variant of program `%s` takes other arguments, or has "
                                  "variants of its own",
                                  vyre_program_name(program));
    } else if (program->variant_count == VYRE_MOST_VARIANTS) {
        status = vyre_status_make(VYRE_STATUS_LIMIT, "use fewer",
                                  "program `%s` has more than %d variants",
                                  vyre_program_name(program), VYRE_MOST_VARIANTS);
    }
    if (!status && !program->variants) {
        program->variants = vyre_alloc_zeroed(VYRE_MOST_VARIANTS, sizeof *program->variants);
    }
    if (!status && suits.backend) {
        size_t size = strlen(suits.backend) + 1;
        char *copy = vyre_alloc(size);
        row.suits.backend = copy ? memcpy(copy, suits.backend, size) : NULL;
    }
    if (!status && (!program->variants || !row.suits.backend != !suits.backend)) {
        status = vyre_no_memory("for a variant of program `%s`", vyre_program_name(program));
    }
    if (status) {
        free_variant(&row);
        return status;
    }
    program->variants[program->variant_count++] = row;
    return VYRE_OK;
}

const vyre_program *vyre_program_suited(const vyre_program *program, const char *backend,
                                        bool is_gpu) {
    vyre_device_kind kind = is_gpu ? VYRE_KIND_GPU : VYRE_KIND_CPU;
    const vyre_program *best = program;
    for (uint32_t i = 0; i < program->variant_count; i++) {
        const vyre_program_variant *row = &program->variants[i];
        bool is_for_backend = row->suits.backend && !strcmp(row->suits.backend, backend);
        bool is_kind = row->suits.kind == kind || row->suits.kind == VYRE_KIND_ANY;
        if (is_for_backend && is_kind) {
            return row->program;
        }
        best = !row->suits.backend && is_kind ? row->program : best;
    }
    return best;
}

vyre_digest vyre_program_whole_digest(const vyre_program *program) {
    vyre_digest digest = program->digest;
    for (uint32_t i = 0; i < program->variant_count; i++) {
        vyre_digest other = program->variants[i].program->digest;
        const vyre_suits *suits = &program->variants[i].suits;
        size_t size = suits->backend ? strlen(suits->backend) : 0;
        uint64_t parts[] = {digest.low, digest.high, other.low,
                            other.high, suits->kind, vyre_hash(suits->backend, size)};
        vyre_hash128 hash = vyre_hash_128(parts, sizeof parts);
        digest = (vyre_digest){hash.low, hash.high};
    }
    return digest;
}

vyre_program *vyre_program_retain(vyre_program *program) {
    atomic_fetch_add_explicit(&program->references, 1, memory_order_relaxed);
    return program;
}

void vyre_program_release(vyre_program *program) {
    if (program && atomic_fetch_sub_explicit(&program->references, 1, memory_order_acq_rel) == 1) {
        for (uint32_t i = 0; i < program->variant_count; i++) {
            free_variant(&program->variants[i]);
        }
        vyre_free(program->variants);
        vyre_sections_free(&program->ir);
        vyre_free(program->determinism_reason);
        vyre_free(program->dimensions);
        vyre_free(program);
    }
}

const vyre_ir *vyre_program_ir(const vyre_program *program) {
    return &program->ir;
}

const char *vyre_program_name(const vyre_program *program) {
    return program->ir.strings;
}

uint32_t vyre_program_sides(const vyre_program *program, uint32_t argument,
                            uint32_t out_sizes[VYRE_MOST_DIMENSIONS]) {
    const vyre_ir *ir = &program->ir;
    if (argument >= ir->arg_count || ir->args[argument].resource == VYRE_NONE) {
        return 0;
    }
    uint32_t size = ir->resources[ir->args[argument].resource].size;
    uint32_t count = program->dimensions ? program->dimensions[argument] : 1;
    if (size == VYRE_NONE) {
        return 0;
    }
    for (uint32_t i = count - 1; i > 0; i--) { /* the length is (a * b) * c */
        out_sizes[i] = ir->sizes[size].b;
        size = ir->sizes[size].a;
    }
    out_sizes[0] = size;
    return count;
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
