#include "backend/cuda/runtime/texts.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/status.h"
#include "pass/pass.h"

const char *const cuda_prefixes[CUDA_CODES] = {"phase", "part"};

void cuda_texts_free(cuda_texts *t) {
    for (uint32_t i = 0; i < CUDA_CODES; i++) {
        vyre_strbuf_free(&t->entries[i]);
        vyre_strbuf_free(&t->constants[i]);
    }
    for (uint32_t i = 0; i < CUDA_MOST_IMAGES; i++) {
        vyre_strbuf_free(&t->images[i]);
    }
    vyre_free(t->ends);
}

static vyre_status emit(const cuda_executable *executable, const vyre_program *program,
                        const char *prefix, vyre_strbuf *out_constants, vyre_strbuf *out_ptx,
                        cuda_phase_info *out_infos, size_t *out_ends) {
    const cuda_target target = {executable->device->info.sm, executable->device->info.isa, prefix,
                                executable->is_general, executable->code_count};
    vyre_program *lowered;
    VYRE_TRY(vyre_lower_program(program, !executable->is_general, &lowered));
    cuda_emit_constants(lowered, &target, out_constants);
    vyre_status status = cuda_emit_entries(lowered, &target, out_ptx, out_infos, out_ends);
    vyre_program_release(lowered);
    return status;
}

/* Which binary each phase goes to: as many as take no longer to translate, side by side, than the
 * largest phase alone, and processors are there; small programs have one. */
static uint32_t divide(const size_t *sizes, uint32_t count, cuda_phase_info *infos) {
    enum { SMALL = 4096 };
    size_t all = 0, largest = 1, loads[CUDA_MOST_IMAGES] = {0};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (uint32_t i = 0; i < count; i++) {
        all += sizes[i];
        largest = sizes[i] > largest ? sizes[i] : largest;
    }
    size_t images = all < SMALL ? 1 : (all + largest - 1) / largest;
    images = images > CUDA_MOST_IMAGES ? CUDA_MOST_IMAGES : images;
    images = processors > 0 && images > (size_t)processors ? (size_t)processors : images;
    for (uint32_t i = 0; i < count; i++) {
        infos[i].image = UINT32_MAX;
    }
    for (uint32_t round = 0; round < count; round++) {
        /* The largest that is left goes to the one that has least; many go as they come. */
        enum { SORTED = 64 };
        uint32_t next = round, to = 0;
        for (uint32_t i = 0; count <= SORTED && i < count; i++) {
            bool is_better = infos[next].image != UINT32_MAX || sizes[i] > sizes[next];
            next = infos[i].image == UINT32_MAX && is_better ? i : next;
        }
        for (uint32_t i = 1; i < images; i++) {
            to = loads[i] < loads[to] ? i : to;
        }
        infos[next].image = to;
        loads[to] += sizes[next];
    }
    return (uint32_t)images;
}

/* The texts of all binaries; the entries of a code stand behind a line that says what it is. */
static void put_together(const cuda_executable *executable, const cuda_phase_info *infos,
                         cuda_texts *t) {
    for (uint32_t k = 0; k < t->count; k++) {
        vyre_strbuf *out = &t->images[k];
        const cuda_target target = {executable->device->info.sm, executable->device->info.isa,
                                    cuda_prefixes[0], executable->is_general,
                                    executable->code_count};
        cuda_emit_head(&target, out);
        if (!k && (executable->codes[0].has_while || executable->codes[1].has_while)) {
            cuda_iterations_write(out);
        }
        uint32_t phase = 0;
        for (uint32_t c = 0; c < executable->code_count; c++) {
            const vyre_program *program = executable->codes[c].program;
            vyre_digest digest = vyre_program_digest(program);
            size_t start = 0;
            vyre_strbuf_printf(out, "\n// %s_N: phases of `%s`, %016llx%016llx\n", cuda_prefixes[c],
                               vyre_program_name(program), (unsigned long long)digest.high,
                               (unsigned long long)digest.low);
            vyre_strbuf_puts(out, vyre_strbuf_string(&t->constants[c]));
            out->failed |= t->constants[c].failed;
            for (uint32_t i = 0; i < executable->codes[c].phase_count; i++, phase++) {
                if (infos[phase].image == k) {
                    vyre_strbuf_add(out, t->entries[c].data + start, t->ends[phase] - start);
                }
                start = t->ends[phase];
            }
        }
        vyre_strbuf_string(out); /* ends with a NUL */
    }
}

vyre_status cuda_texts_write(cuda_texts *t, const cuda_executable *executable, uint32_t phases,
                             cuda_phase_info *infos) {
    vyre_status status = VYRE_OK;
    uint32_t phase = 0;
    t->ends = vyre_alloc_zeroed((size_t)phases + 1, 2 * sizeof *t->ends);
    if (!t->ends) {
        return vyre_no_memory("to compile `%s`", vyre_program_name(executable->codes[0].program));
    }
    size_t *sizes = t->ends + phases + 1;
    for (uint32_t c = 0; c < executable->code_count && !status; c++) {
        status = emit(executable, executable->codes[c].program, cuda_prefixes[c], &t->constants[c],
                      &t->entries[c], infos + phase, t->ends + phase);
        size_t start = 0;
        for (uint32_t i = 0; i < executable->codes[c].phase_count && !status; i++, phase++) {
            sizes[phase] = t->ends[phase] - start;
            start = t->ends[phase];
        }
    }
    if (status) {
        return status;
    }
    t->count = divide(sizes, phases, infos);
    put_together(executable, infos, t);
    bool failed = false;
    for (uint32_t i = 0; i < t->count; i++) {
        failed |= t->images[i].failed;
    }
    return failed
               ? vyre_no_memory("to compile `%s`", vyre_program_name(executable->codes[0].program))
               : VYRE_OK;
}
