/* Programs that call library operations which have variants: the whole program once more for each
 * kind of device, so that a device takes the one that fits it. */
#include <string.h>

#include <vyre/dialect.h>

#include "base/alloc.h"
#include "ir/diagnostic.h"
#include "text/lower.h"

static vyre_device_kind kind_of(const char *suits) {
    return !strcmp(suits, "gpu")   ? VYRE_KIND_GPU
           : !strcmp(suits, "cpu") ? VYRE_KIND_CPU
                                   : VYRE_KIND_ANY;
}

static void meet(vyre_lower *lower, const char *suits) {
    for (size_t i = 0; i < lower->met.count; i++) {
        if (!strcmp(lower->met.items[i], suits)) {
            return;
        }
    }
    if (!vyre_vec_push(&lower->met, suits)) {
        lower_no_memory(lower);
    }
}

void lower_choose_entry(vyre_lower *lower, vyre_library_source *source) {
    const char *backend = lower->suits.backend, *entry = NULL;
    for (size_t i = 0; i < source->variant_count; i++) {
        const vyre_variant *variant = &source->variants[i];
        vyre_device_kind kind = kind_of(variant->suits);
        meet(lower, variant->suits);
        if (backend && !strcmp(variant->suits, backend)) {
            entry = variant->entry;
            break;
        }
        bool is_first = !entry && kind != VYRE_KIND_ANY && kind == lower->suits.kind;
        entry = is_first ? variant->entry : entry;
    }
    source->entry = entry ? entry : source->entry;
}

/* Warns that devices run the program as it is. */
static void warn(vyre_lower *lower, vyre_spot spot, vyre_suits suits, const char *why,
                 const char *fix) {
    const char *kinds[] = {[VYRE_KIND_ANY] = "", [VYRE_KIND_CPU] = "cpu", [VYRE_KIND_GPU] = "gpu"};
    vyre_source_report(&lower->unit->source, spot, 808, fix,
                       "operations keep their own form on %s devices: %s",
                       suits.backend ? suits.backend : kinds[suits.kind], why);
}

/* All texts report to a list. */
static void report_to(vyre_lower *lower, vyre_diagnostics *list) {
    lower->unit->source.diagnostics = list;
    for (size_t i = 0; i < lower->units.count; i++) {
        lower->units.items[i]->source.diagnostics = list;
    }
}

/* Texts that were read only for a variant which failed: whoever needs them reads them again. */
static void forget_units(vyre_lower *lower, size_t count) {
    while (lower->units.count > count) {
        vyre_unit *unit = lower->units.items[--lower->units.count];
        lower_free_unit(unit);
        vyre_free(unit);
    }
}

static const vyre_diagnostic *first_error(const vyre_diagnostics *list) {
    for (size_t i = 0; i < vyre_diagnostics_count(list); i++) {
        if (vyre_diagnostics_get(list, i)->severity == VYRE_SEVERITY_ERROR) {
            return vyre_diagnostics_get(list, i);
        }
    }
    return NULL;
}

static vyre_program *build(vyre_lower *lower, uint32_t item, vyre_suits suits) {
    uint64_t inlined = lower->inlined;
    lower->suits = suits;
    vyre_program *program = lower_program_item(lower, item);
    lower->suits = (vyre_suits){0};
    lower->inlined = inlined; /* of the program itself */
    lower->exhausted = false;
    return program;
}

static void add_variant(vyre_lower *lower, uint32_t item, vyre_program *program, vyre_suits suits) {
    vyre_diagnostics *list = lower->unit->source.diagnostics, *scratch = NULL;
    vyre_spot spot = lower->unit->items.items[item].spot;
    vyre_status status = vyre_diagnostics_create(&scratch);
    if (!status && program->variant_count == VYRE_MOST_VARIANTS) {
        warn(lower, spot, suits, "there are too many", "call fewer of them in one program");
    } else if (!status) {
        size_t units = lower->units.count;
        report_to(lower, scratch);
        vyre_program *made = build(lower, item, suits);
        const vyre_diagnostic *error = made ? NULL : first_error(scratch);
        if (!made) {
            forget_units(lower, units);
        }
        report_to(lower, list);
        if (made) {
            status = vyre_program_add_variant(program, suits, made);
        } else if (!lower->unit->source.no_memory) {
            warn(lower, spot, suits, error ? error->message : "it cannot be built",
                 error ? error->fix : "call the operation in a program of its own");
        }
    }
    if (status) {
        vyre_status_free(status);
        lower_no_memory(lower);
    }
    vyre_diagnostics_free(scratch);
}

void lower_variants(vyre_lower *lower, uint32_t item, vyre_program *program) {
    size_t count = lower->met.count;
    bool has_kind[] = {[VYRE_KIND_ANY] = true, [VYRE_KIND_CPU] = false, [VYRE_KIND_GPU] = false};
    for (size_t i = 0; i < count; i++) {
        has_kind[kind_of(lower->met.items[i])] = true;
    }
    for (int kind = VYRE_KIND_CPU; kind <= VYRE_KIND_GPU; kind++) {
        if (has_kind[kind] && !lower->unit->source.no_memory) {
            add_variant(lower, item, program, (vyre_suits){NULL, (vyre_device_kind)kind});
        }
    }
    for (size_t i = 0; i < count; i++) {
        /* A backend has devices of some kind, whose variants serve where it has none of its own. */
        const char *backend = lower->met.items[i];
        for (int kind = VYRE_KIND_GPU; kind_of(backend) == VYRE_KIND_ANY && kind >= 0; kind--) {
            if (has_kind[kind] && !lower->unit->source.no_memory) {
                add_variant(lower, item, program, (vyre_suits){backend, (vyre_device_kind)kind});
            }
        }
    }
}
