/* Constant arrays: variables of the module, in constant memory or, beyond its size, in global
 * memory that nobody writes. */
#include <string.h>

#include "backend/cuda/codegen/emit_state.h"
#include "ir/lookup.h"
#include "ir/program.h"

static bool fits(const vyre_ir *ir, const cuda_target *target) {
    /* Each array starts at a multiple of 16 bytes, of 8 in `data`. */
    uint32_t bytes = ir->data_bytes + 8 * ir->resource_count;
    return bytes <= CUDA_CONSTANT_BYTES / (target->codes ? target->codes : 1);
}

const char *cuda_emit_constant_space(const emit *e) {
    return fits(e->ir, e->target) ? "const" : "global";
}

cuda_reg cuda_emit_constant_base(emit *e, uint32_t resource) {
    cuda_emit_begin_head(e);
    cuda_reg base = cuda_new(&e->w, CUDA_B64);
    cuda_line(&e->w, "mov.u64 %s, %s_constant_%u", cuda_reg_name(base).text, e->target->prefix,
              resource);
    cuda_emit_end_head(e);
    return base;
}

static uint64_t word_at(const vyre_ir *ir, const vyre_resource *row, uint64_t at) {
    uint64_t bytes = vyre_resource_bytes(row), word = 0;
    for (uint64_t i = 0; i < 8 && at + i < bytes; i++) {
        word |= (uint64_t)vyre_constant_data(ir, row)[at + i] << 8 * i;
    }
    return word;
}

void cuda_emit_constants(const vyre_program *program, const cuda_target *target,
                         vyre_strbuf *out_ptx) {
    enum { A_LINE = 4 };
    const vyre_ir *ir = vyre_program_ir(program);
    for (uint32_t r = 0; r < ir->resource_count && ir->data_bytes; r++) {
        const vyre_resource *row = &ir->resources[r];
        if (row->kind != VYRE_RESOURCE_CONSTANT) {
            continue;
        }
        uint64_t words = (vyre_resource_bytes(row) + 7) / 8;
        vyre_strbuf_printf(out_ptx, ".%s .align 16 .u64 %s_constant_%u[%llu] = {",
                           fits(ir, target) ? "const" : "global", target->prefix, r,
                           (unsigned long long)words);
        for (uint64_t i = 0; i < words; i++) {
            vyre_strbuf_printf(out_ptx, "%s0x%llx",
                               !i           ? ""
                               : i % A_LINE ? ", "
                                            : ",\n\t",
                               (unsigned long long)word_at(ir, row, i * 8));
        }
        vyre_strbuf_puts(out_ptx, "};\n\n");
    }
}
