#include <string.h>

#include "base/environment.h"
#include "base/units.h"
#include "base/visible.h"
#include "cli/describe.h"
#include "ir/message.h"
#include "ir/print.h"
#include "ir/program.h"
#include "ir/size.h"

enum { INDENT = 4, LABEL = 11, WIDTH = 100 };

const char *cli_array_name(const vyre_ir *ir, uint32_t resource) {
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (ir->args[i].resource == resource) {
            return ir->strings + ir->args[i].name;
        }
    }
    return vyre_ir_resource_name(ir, resource);
}

const char *cli_step_name(const vyre_ir *ir, uint32_t step) {
    return ir->step_name_count ? ir->debug_strings + ir->step_names[step] : "";
}

const char *cli_access_name(uint32_t access) {
    static const char *const names[] = {"in", "inout", "out"};
    return names[access];
}

void cli_describe_digest(vyre_strbuf *text, const vyre_program *program) {
    vyre_digest digest = vyre_program_digest(program);
    vyre_strbuf_printf(text, "%016llx%016llx", (unsigned long long)digest.high,
                       (unsigned long long)digest.low);
}

void cli_describe_cache(vyre_strbuf *text, const vyre_cache_list *list) {
    vyre_strbuf_printf(text, "%s: %zu program%s, ", list->path, list->entry_count,
                       vyre_plural(list->entry_count));
    vyre_units_bytes(text, list->total_bytes);
    if (list->limit_bytes) {
        vyre_strbuf_puts(text, " of ");
        vyre_units_bytes(text, list->limit_bytes);
        vyre_strbuf_putc(text, '\n');
    } else {
        vyre_strbuf_puts(text, "; not used, because VYRE_CACHE_LIMIT is 0\n");
    }
}

void cli_describe_no_home(vyre_strbuf *text, const char *variable) {
    if (vyre_environment_is_foreign()) {
        vyre_strbuf_puts(text, "this process runs with more privileges than its user\n");
    } else {
        vyre_strbuf_printf(text, "neither %s nor HOME is an absolute path\n", variable);
    }
}

/* An array whose name was not kept goes by its number. */
static void describe_name(vyre_strbuf *text, const vyre_ir *ir, uint32_t resource) {
    const char *name = cli_array_name(ir, resource);
    vyre_strbuf_puts(text, *name ? name : "array");
    if (!*name) {
        vyre_strbuf_u64(text, resource);
    }
}

void cli_describe_element(vyre_strbuf *text, const vyre_ir *ir, uint32_t resource, uint32_t index) {
    describe_name(text, ir, resource);
    vyre_strbuf_putc(text, '[');
    vyre_size_print(text, ir, index);
    vyre_strbuf_putc(text, ']');
}

void cli_describe_label(vyre_strbuf *text, const char *label) {
    vyre_strbuf_printf(text, "%*s%-*s", INDENT, "", LABEL, label);
}

void cli_describe_suits(vyre_strbuf *text, vyre_suits suits) {
    static const char *const kinds[] = {
        [VYRE_KIND_ANY] = "", [VYRE_KIND_CPU] = "cpu", [VYRE_KIND_GPU] = "gpu"};
    const char *backend = suits.backend ? suits.backend : "";
    vyre_strbuf_printf(text, "%s%s%s", backend, *backend && suits.kind ? " " : "",
                       kinds[suits.kind]);
}

/* The forms for other devices of a program that calls library operations. */
static void describe_variants(vyre_strbuf *text, const vyre_program *program) {
    for (uint32_t i = 0; i < program->variant_count; i++) {
        cli_describe_label(text, i ? "" : "variants");
        cli_describe_suits(text, program->variants[i].suits);
        vyre_strbuf_puts(text, ": ");
        cli_describe_digest(text, program->variants[i].program);
        vyre_strbuf_putc(text, '\n');
    }
}

static void describe_arguments(vyre_strbuf *text, const vyre_ir *ir) {
    if (!ir->arg_count) {
        cli_describe_label(text, "arguments");
        vyre_strbuf_puts(text, "none\n");
    }
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        cli_describe_label(text, i ? "" : "arguments");
        vyre_argument_print(text, ir, i);
        vyre_strbuf_putc(text, '\n');
    }
}

static void describe_array(vyre_strbuf *text, const vyre_ir *ir, uint32_t resource) {
    const vyre_resource *array = &ir->resources[resource];
    describe_name(text, ir, resource);
    vyre_strbuf_printf(text, ": %s[", vyre_type_name((vyre_type)array->type));
    if (array->kind != VYRE_RESOURCE_CONSTANT && array->size != VYRE_NONE) {
        vyre_size_print(text, ir, array->size);
    } else {
        vyre_strbuf_u64(text, array->length);
    }
    vyre_strbuf_putc(text, ']');
}

/* Arrays of the program, of one kind. */
static void describe_arrays(vyre_strbuf *text, const vyre_ir *ir, vyre_resource_kind kind,
                            const char *label) {
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        if (ir->resources[i].kind == kind &&
            (kind != VYRE_RESOURCE_CONSTANT || vyre_message_is_table(ir, i))) {
            cli_describe_label(text, label);
            describe_array(text, ir, i);
            vyre_strbuf_putc(text, '\n');
            label = "";
        }
    }
}

static void describe_requirements(vyre_strbuf *text, const vyre_ir *ir) {
    for (uint32_t i = 0; i < ir->requirement_count; i++) {
        cli_describe_label(text, i ? "" : "requires");
        vyre_size_print(text, ir, ir->requirements[i].left);
        vyre_strbuf_puts(text, " == ");
        vyre_size_print(text, ir, ir->requirements[i].right);
        vyre_strbuf_putc(text, '\n');
    }
}

static void describe_list(vyre_strbuf *text, const uint32_t *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        vyre_strbuf_puts(text, i ? ", " : "");
        vyre_strbuf_u64(text, numbers[i]);
    }
}

static void describe_phase(vyre_strbuf *text, const vyre_ir *ir, const vyre_phase *phase) {
    vyre_strbuf_puts(text, "over ");
    if (phase->from_resource != VYRE_NONE) {
        cli_describe_element(text, ir, phase->from_resource, phase->from_index);
        vyre_strbuf_puts(text, " max ");
        vyre_size_print(text, ir, phase->domain[0]);
    } else {
        vyre_strbuf_puts(text, phase->dimensions > 1 ? "(" : "");
        for (uint32_t i = 0; i < phase->dimensions; i++) {
            vyre_strbuf_puts(text, i ? ", " : "");
            vyre_size_print(text, ir, phase->domain[i]);
        }
        vyre_strbuf_puts(text, phase->dimensions > 1 ? ")" : "");
    }
    if (phase->workgroup[0]) {
        vyre_strbuf_puts(text, " workgroup ");
        describe_list(text, phase->workgroup, phase->dimensions);
    }
    if (phase->subgroup) {
        vyre_strbuf_printf(text, " subgroup %u", phase->subgroup);
    }
}

/* One line an array, below its phase. */
static void describe_phase_arrays(vyre_strbuf *text, const vyre_ir *ir, const vyre_phase *phase,
                                  uint32_t depth) {
    for (uint32_t i = phase->first_resource; i < phase->end_resource; i++) {
        bool is_shared = ir->resources[i].kind == VYRE_RESOURCE_SHARED;
        vyre_strbuf_putc(text, '\n');
        cli_describe_label(text, "");
        vyre_strbuf_repeat(text, ' ', ((size_t)depth + 1) * INDENT);
        vyre_strbuf_puts(text, is_shared ? "shared " : "private ");
        describe_array(text, ir, i);
    }
}

static void describe_steps(vyre_strbuf *text, const vyre_ir *ir) {
    uint32_t ends[VYRE_LIMIT_REPEATS], depth = 0;
    for (uint32_t i = 0; i < ir->step_count; i++) {
        while (depth && ends[depth - 1] == i) {
            depth--;
        }
        const vyre_step *step = &ir->steps[i];
        const char *name = cli_step_name(ir, i);
        cli_describe_label(text, i ? "" : ir->step_count > 1 ? "steps" : "phase");
        vyre_strbuf_repeat(text, ' ', (size_t)depth * INDENT);
        if (step->kind == VYRE_STEP_PHASE) {
            if (ir->step_count > 1) {
                vyre_strbuf_printf(text, "phase %s%s", name, *name ? " " : "");
            }
            describe_phase(text, ir, &ir->phases[step->size]);
            describe_phase_arrays(text, ir, &ir->phases[step->size], depth);
        } else if (step->kind == VYRE_STEP_SWAP) {
            vyre_strbuf_puts(text, "swap ");
            describe_name(text, ir, step->resource);
            vyre_strbuf_puts(text, " and ");
            describe_name(text, ir, step->size);
        } else if (step->kind == VYRE_STEP_IF) {
            vyre_strbuf_puts(text, "if ");
            cli_describe_element(text, ir, step->resource, step->size);
            ends[depth++] = step->end;
        } else if (step->kind == VYRE_STEP_ELSE) {
            vyre_strbuf_puts(text, "else");
            ends[depth++] = step->end;
        } else {
            vyre_strbuf_printf(text, "repeat %s%s", name, *name ? " " : "");
            ends[depth++] = step->end;
            if (step->kind == VYRE_STEP_REPEAT_WHILE) {
                vyre_strbuf_puts(text, "while ");
                cli_describe_element(text, ir, step->resource, step->size);
            } else {
                vyre_strbuf_puts(text, *name ? "in " : "");
                vyre_size_print(text, ir, step->size);
            }
        }
        vyre_strbuf_putc(text, '\n');
    }
}

/* Everything that there is any of, wrapped at WIDTH. */
static void describe_statistics(vyre_strbuf *text, const vyre_stats *stats) {
    const struct {
        uint64_t count;
        const char *one, *several;
    } rows[] = {
#define ROW(field, name, one, several) {stats->field, one, several},
        CLI_STATISTICS(ROW)
#undef ROW
    };
    cli_describe_label(text, "code");
    size_t line = text->size - INDENT - LABEL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i].count) {
            continue;
        }
        vyre_strbuf item = {0};
        vyre_strbuf_printf(&item, "%llu %s", (unsigned long long)rows[i].count,
                           rows[i].count == 1 ? rows[i].one : rows[i].several);
        vyre_strbuf_puts(text, i ? "," : "");
        if (text->size - line + item.size + 2 > WIDTH) {
            vyre_strbuf_putc(text, '\n');
            line = text->size;
            cli_describe_label(text, "");
        } else {
            vyre_strbuf_puts(text, i ? " " : "");
        }
        vyre_strbuf_puts(text, vyre_strbuf_string(&item));
        vyre_strbuf_free(&item);
    }
    vyre_strbuf_putc(text, '\n');
}

void cli_describe_text(vyre_strbuf *text, const vyre_program *program, const char *file,
                       bool color) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_determinism class_of = vyre_program_determinism(program);
    const char *reason = vyre_program_determinism_reason(program);
    vyre_stats stats = vyre_program_stats(program);
    const char *name = vyre_program_name(program);
    vyre_strbuf_puts(text, color ? "program \033[1m" : "program ");
    vyre_strbuf_visible(text, name, strlen(name));
    vyre_strbuf_puts(text, color ? "\033[0m in " : " in ");
    vyre_strbuf_visible(text, file, strlen(file));
    size_t rest = text->size;
    vyre_strbuf_putc(text, '\n');
    cli_describe_label(text, "class");
    vyre_strbuf_printf(text, "%s%s%s\n", vyre_determinism_name(class_of), *reason ? ": " : "",
                       reason);
    cli_describe_label(text, "digest");
    cli_describe_digest(text, program);
    vyre_strbuf_putc(text, '\n');
    describe_variants(text, program);
    describe_arguments(text, ir);
    describe_arrays(text, ir, VYRE_RESOURCE_SCRATCH, "scratch");
    describe_arrays(text, ir, VYRE_RESOURCE_CONSTANT, "constants");
    describe_requirements(text, ir);
    describe_steps(text, ir);
    describe_statistics(text, &stats);
    vyre_visible_clean(text, rest, true);
}
