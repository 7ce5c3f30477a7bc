/* Values for arguments that have none: large enough for several workgroups where that is
 * possible, small enough for the oracle with all its checks. */
#include <inttypes.h>

#include "ir/lookup.h"
#include "values/bind.h"
#include "values/element.h"

enum { LENGTH = 1024, MOST_INVOCATIONS = 16384, REPEATS = VYRE_LIMIT_REPEATS };

/* A size, or false where it cannot be computed. */
static bool size_of(const values_binding *binding, uint32_t size, uint64_t *out) {
    vyre_status status = vyre_size_eval(binding->program, size, binding->numbers, out);
    bool done = !status;
    vyre_status_free(status);
    return done;
}

static uint64_t largest_of(vyre_type type) {
    uint32_t bits = vyre_type_bytes(type) * 8 - (vyre_type_class_of(type) == VYRE_CLASS_SIGNED);
    return bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
}

/* Sets what was not given, with `scale` for integers; false where a declared length has no value
 * then, which is 0 instead. */
static bool set_numbers(values_binding *binding, uint64_t scale) {
    const vyre_ir *ir = vyre_program_ir(binding->program);
    bool done = true;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        const vyre_arg *arg = &ir->args[i];
        uint64_t largest = largest_of((vyre_type)arg->type);
        if (binding->given[i]) {
            continue;
        }
        if (arg->resource == VYRE_NONE) {
            binding->numbers[i] = scale < largest ? scale : largest;
            continue;
        }
        uint32_t size = ir->resources[arg->resource].size;
        binding->numbers[i] = LENGTH;
        if (size != VYRE_NONE && !size_of(binding, size, &binding->numbers[i])) {
            binding->numbers[i] = 0;
            done = false;
        }
    }
    return done;
}

/* Invocations of all phases, each as often as a count repeats it; false if that has no value. */
static bool count_invocations(const values_binding *binding, uint64_t *out) {
    const vyre_ir *ir = vyre_program_ir(binding->program);
    uint64_t times[REPEATS + 1] = {1};
    uint32_t ends[REPEATS], depth = 0;
    *out = 0;
    for (uint32_t i = 0; i < ir->step_count; i++) {
        const vyre_step *step = &ir->steps[i];
        while (depth && ends[depth - 1] == i) {
            depth--;
        }
        uint64_t count = times[depth], size;
        if (step->kind == VYRE_STEP_PHASE) {
            const vyre_phase *phase = &ir->phases[step->size];
            for (uint32_t k = 0; k < phase->dimensions; k++) {
                if (!size_of(binding, phase->domain[k], &size) ||
                    __builtin_mul_overflow(count, size, &count)) {
                    return false;
                }
            }
            if (__builtin_add_overflow(*out, count, out)) {
                return false;
            }
            continue;
        }
        if (step->kind == VYRE_STEP_SWAP) {
            continue;
        }
        ends[depth++] = step->end;
        times[depth] = count;
        if (step->kind == VYRE_STEP_REPEAT_COUNT &&
            (!size_of(binding, step->size, &size) ||
             __builtin_mul_overflow(count, size, &times[depth]))) {
            return false;
        }
    }
    return true;
}

void values_bind_scale(values_binding *binding) {
    static const uint64_t scales[] = {16, 24, 40, 100, LENGTH};
    uint64_t best = scales[0], most = 0, invocations;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (set_numbers(binding, scales[i]) && count_invocations(binding, &invocations) &&
            invocations > most && invocations <= MOST_INVOCATIONS) {
            best = scales[i];
            most = invocations;
        }
    }
    (void)set_numbers(binding, best);
}

void values_bind_example(const values_binding *binding, uint32_t arg, vyre_strbuf *text) {
    const vyre_ir *ir = vyre_program_ir(binding->program);
    vyre_type type = values_argument_type(ir, arg);
    vyre_type_class class_of = vyre_type_class_of(type);
    uint64_t number = binding->numbers[arg], largest = largest_of(type);
    vyre_strbuf_printf(text, "%s=", ir->strings + ir->args[arg].name);
    if (ir->args[arg].resource == VYRE_NONE) {
        vyre_strbuf_puts(text, class_of == VYRE_CLASS_FLOAT  ? "0.5"
                               : class_of == VYRE_CLASS_BOOL ? "true"
                                                             : "");
        if (class_of & VYRE_CLASS_INTEGER) {
            vyre_strbuf_u64(text, number);
        }
        return;
    }
    vyre_strbuf_printf(text, "rand:%" PRIu64, number);
    /* Integers are often places in another buffer. */
    if ((class_of & VYRE_CLASS_INTEGER) && number && largest >= number) {
        vyre_strbuf_printf(text, ":%u:%" PRIu64, arg, number);
    }
}
