#include "runtime/shared.h"

#include "base/alloc.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "ir/program.h"
#include "ir/size.h"
#include "pass/shared.h"

/* The arguments that a size uses, with their values. */
static void print_arguments(vyre_strbuf *text, const vyre_plan *plan, uint32_t size) {
    const vyre_ir *ir = plan->ir;
    const char *separator = "";
    for (uint32_t i = vyre_size_first(ir, size); i <= size; i++) {
        const vyre_size_node *node = &ir->sizes[i];
        if (node->op == VYRE_SIZE_LEN || node->op == VYRE_SIZE_PARAM) {
            vyre_strbuf_puts(text, separator);
            vyre_size_print(text, ir, i);
            vyre_strbuf_printf(text, " = %llu", (unsigned long long)plan->arguments[node->a]);
            separator = ", ";
        }
    }
}

static vyre_status refuse(const vyre_plan *plan, uint32_t resource, uint64_t bytes, uint64_t most,
                          const char *device) {
    const vyre_resource *row = &plan->ir->resources[resource];
    const char *name = vyre_ir_resource_name(plan->ir, resource);
    vyre_strbuf size = {0}, arguments = {0};
    vyre_size_print(&size, plan->ir, row->size);
    print_arguments(&arguments, plan, row->size);
    vyre_status status =
        bytes
            ? vyre_status_make(
                  VYRE_STATUS_LIMIT, "pass smaller arguments, or use another device",
                  "program `%s`: shared array `%s` has %s elements, with %s; the phase then takes "
                  "%llu bytes of shared memory, and %s has at most %llu",
                  vyre_program_name(plan->program), name, vyre_strbuf_string(&size),
                  vyre_strbuf_string(&arguments), (unsigned long long)bytes, device,
                  (unsigned long long)most)
            : vyre_status_make(
                  VYRE_STATUS_INVALID_ARGUMENT, "pass arguments that give it an element",
                  "program `%s`: shared array `%s` has %s elements, which is 0 with %s",
                  vyre_program_name(plan->program), name, vyre_strbuf_string(&size),
                  vyre_strbuf_string(&arguments));
    vyre_strbuf_free(&size);
    vyre_strbuf_free(&arguments);
    return status;
}

static bool is_idle(const vyre_grid *grid) {
    return !grid->domain[0] || !grid->domain[1] || !grid->domain[2];
}

/* Of all arrays with a size, the largest is named. */
static vyre_status size_phase(const vyre_plan *plan, uint32_t index, uint64_t most,
                              const char *device, uint32_t *out_lengths) {
    const vyre_ir *ir = plan->ir;
    const vyre_phase *phase = &ir->phases[index];
    uint64_t all = 0, largest = 0;
    uint32_t named = VYRE_NONE;
    for (uint32_t i = phase->first_resource; i < phase->end_resource; i++) {
        const vyre_resource *row = &ir->resources[i];
        if (row->kind != VYRE_RESOURCE_SHARED) {
            continue;
        }
        uint64_t length = row->size == VYRE_NONE ? row->length : plan->sizes[row->size], bytes;
        if (!length && !is_idle(&plan->grids[index])) {
            return refuse(plan, i, 0, most, device);
        }
        length = length ? length : 1; /* nobody is there to see it */
        out_lengths[i] = (uint32_t)length;
        if (__builtin_mul_overflow(length, vyre_type_bytes((vyre_type)row->type), &bytes) ||
            __builtin_add_overflow(all, bytes, &all)) {
            all = bytes = UINT64_MAX;
        }
        if (row->size != VYRE_NONE && bytes > largest) {
            largest = bytes;
            named = i;
        }
    }
    return named == VYRE_NONE || all <= most ? VYRE_OK : refuse(plan, named, all, most, device);
}

vyre_status vyre_shared_lengths(const vyre_plan *plan, uint64_t most_bytes, const char *device,
                                uint32_t *out_lengths) {
    uint64_t most =
        most_bytes && most_bytes < VYRE_LIMIT_SHARED_BYTES ? most_bytes : VYRE_LIMIT_SHARED_BYTES;
    for (uint32_t i = 0; i < plan->ir->phase_count; i++) {
        VYRE_TRY(size_phase(plan, i, most, device, out_lengths));
    }
    return VYRE_OK;
}

vyre_status vyre_shared_program(const vyre_plan *plan, uint64_t most_bytes, const char *device,
                                vyre_program **out_program) {
    *out_program = NULL;
    if (!vyre_shared_is_sized(plan->ir)) {
        return VYRE_OK;
    }
    uint32_t *lengths = vyre_alloc_zeroed(plan->ir->resource_count, sizeof *lengths);
    if (!lengths) {
        return vyre_no_memory("to run `%s`", vyre_program_name(plan->program));
    }
    vyre_status status = vyre_shared_lengths(plan, most_bytes, device, lengths);
    status = status ? status : vyre_shared_fix(plan->program, lengths, out_program);
    vyre_free(lengths);
    return status;
}
