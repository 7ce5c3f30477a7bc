/* What is known, as comments beside the instructions. */
#include "base/alloc.h"
#include "base/status.h"
#include "ir/lookup.h"
#include "ir/print.h"
#include "pass/access.h"
#include "pass/range_state.h"
#include "pass/stride.h"

typedef struct phase_facts {
    vyre_ranges ranges;
    vyre_strides strides;
    vyre_accesses accesses;
} phase_facts;

typedef struct facts {
    const vyre_ir *ir;
    phase_facts *phases;
} facts;

static void put_number(vyre_strbuf *text, vyre_wide number) {
    if (number < 0) {
        vyre_strbuf_putc(text, '-');
        number = -number;
    }
    vyre_strbuf_u64(text, (uint64_t)number);
}

/* Nothing where more than half of the type's numbers may be: that is no news. */
static bool put_range(vyre_strbuf *text, const vyre_range *range, vyre_type type) {
    vyre_wide least, most;
    range_type(type, &least, &most);
    if (range->max - range->min > (most - least) / 2) {
        return false;
    }
    put_number(text, range->min);
    if (range->max != range->min) {
        vyre_strbuf_puts(text, "..");
        put_number(text, range->max);
    }
    return true;
}

static void put_stride(vyre_strbuf *text, vyre_stride form, bool is_first) {
    if (form.kind == VYRE_STRIDE_UNKNOWN) {
        return;
    }
    vyre_strbuf_puts(text, is_first ? "" : ", ");
    if (form.kind == VYRE_STRIDE_UNIFORM) {
        vyre_strbuf_puts(text, "uniform");
    } else {
        vyre_strbuf_printf(text, "stride %lld%s", (long long)form.stride,
                           form.exact ? "" : " wrapping");
    }
}

static void note_access(const facts *f, const phase_facts *p, uint32_t inst, vyre_strbuf *text) {
    uint32_t index = vyre_access_index(f->ir, &f->ir->insts[inst]);
    vyre_strbuf_puts(text, vyre_range_of(&p->ranges, inst)->in_bounds ? "in bounds" : "checked");
    put_stride(text, vyre_stride_operand(&p->strides, index), false);
    const vyre_access_group *group = vyre_access_group_of(&p->accesses, inst);
    for (uint32_t k = 0; group && k < group->count; k++) {
        if (group->members[k] == inst) {
            vyre_strbuf_printf(text, ", %u of %u neighbours%s", k + 1, group->count,
                               group->aligned ? ", aligned" : "");
        }
    }
}

static void note(void *user, uint32_t inst, vyre_strbuf *text) {
    const facts *f = user;
    const vyre_inst *i = &f->ir->insts[inst];
    uint32_t phase = 0;
    while (inst >= f->ir->phases[phase].end) {
        phase++;
    }
    const phase_facts *p = &f->phases[phase];
    uint32_t value = i->op == VYRE_OP_FOR ? vyre_for_counter(inst) : inst;
    const vyre_range *range = vyre_range_of(&p->ranges, value);
    vyre_type type = vyre_inst_type(&f->ir->insts[value]);
    if (vyre_inst_effects(i) & (VYRE_EFFECT_READ | VYRE_EFFECT_WRITE) && i->op != VYRE_OP_CLEAR) {
        note_access(f, p, inst, text);
    } else if (vyre_lookup_class(type) & VYRE_CLASS_INTEGER) {
        bool has_range = put_range(text, range, type);
        put_stride(text, vyre_stride_operand(&p->strides, value), !has_range);
    }
}

vyre_status vyre_facts_print(const vyre_program *program, char **out_text, size_t *out_size) {
    const vyre_ir *ir = vyre_program_ir(program);
    facts f = {ir, vyre_alloc_zeroed(ir->phase_count, sizeof *f.phases)};
    bool made = f.phases;
    *out_text = NULL;
    *out_size = 0;
    for (uint32_t i = 0; i < ir->phase_count && made; i++) {
        phase_facts *p = &f.phases[i];
        made = vyre_ranges_init(&p->ranges, ir, i, true) &&
               vyre_strides_init(&p->strides, ir, i, &p->ranges, NULL) &&
               vyre_accesses_init(&p->accesses, ir, i, &p->ranges);
    }
    vyre_status status = made ? vyre_program_print_notes(program, note, &f, out_text, out_size)
                              : vyre_no_memory("to look into `%s`", vyre_program_name(program));
    for (uint32_t i = 0; f.phases && i < ir->phase_count; i++) {
        vyre_ranges_deinit(&f.phases[i].ranges);
        vyre_strides_deinit(&f.phases[i].strides);
        vyre_accesses_deinit(&f.phases[i].accesses);
    }
    vyre_free(f.phases);
    return status;
}
