#include <string.h>

#include "ir/builder.h"
#include "ir/diagnostic.h"
#include "ir/lookup.h"
#include "ir/program.h"
#include "ir/section.h"
#include "ir/size.h"

#include "base/alloc.h"
#include "base/status.h"

/* The tables that the draft keeps in its own order, on their way to the final one. */
typedef struct finishing {
    vyre_builder *draft;
    vyre_ir ir;
    vyre_arg *args;
    vyre_resource *resources;
    vyre_size_node *sizes;
    uint8_t *data;
    vyre_step *steps;
    vyre_phase *phases;
    vyre_requirement *requirements;
    uint32_t *resource_names, *step_names;
    uint32_t *resource_map; /* draft resource -> final one */
    bool failed;
} finishing;

/* An array of the program, to be filled. */
static void *take(finishing *f, vyre_section_id section, size_t count) {
    void *items = count ? vyre_alloc_array(count, vyre_section_item_bytes(section)) : NULL;
    f->failed |= count && !items;
    vyre_section_set(&f->ir, section, items, items ? (uint32_t)count : 0);
    return items;
}

static void copy(finishing *f, vyre_section_id section, const void *items, size_t count) {
    void *copied = take(f, section, count);
    if (copied) {
        memcpy(copied, items, count * vyre_section_item_bytes(section));
    }
}

static void place_resource(finishing *f, uint32_t from, uint32_t *next) {
    const draft_resource *row = &f->draft->resources.items[from];
    f->resource_map[from] = *next;
    f->resources[*next] = row->row;
    f->resource_names[*next] = row->name;
    ++*next;
}

/* Marks fields that an instruction uses: those of the map that are 0. */
static void find_fields(finishing *f) {
    const vyre_builder *draft = f->draft;
    for (uint32_t i = 0; i < draft->resources.count; i++) {
        f->resource_map[i] = VYRE_NONE;
    }
    for (size_t i = 0; i < draft->insts.count; i++) {
        const vyre_inst *inst = &draft->insts.items[i];
        if (inst->op < DRAFT_VAR && vyre_inst_has_resource(inst) &&
            vyre_resource_is_field(&draft->resources.items[inst->a].row)) {
            f->resource_map[inst->a] = 0;
        }
    }
}

/* Fields that are used, by buffer and offset. There are few, so that each is looked for. */
static void order_fields(finishing *f, uint32_t *next) {
    const vyre_builder *draft = f->draft;
    uint32_t last_buffer = 0, last_end = 0;
    for (;;) {
        uint32_t best = VYRE_NONE;
        for (uint32_t i = 0; i < draft->resources.count; i++) {
            const vyre_resource *row = &draft->resources.items[i].row;
            bool follows =
                row->size > last_buffer || (row->size == last_buffer && row->length >= last_end);
            if (!vyre_resource_is_field(row) || f->resource_map[i] || !follows) {
                continue;
            }
            const vyre_resource *found =
                best == VYRE_NONE ? NULL : &draft->resources.items[best].row;
            if (!found || row->size < found->size ||
                (row->size == found->size && row->length < found->length)) {
                best = i;
            }
        }
        if (best == VYRE_NONE) {
            return;
        }
        vyre_resource row = draft->resources.items[best].row;
        last_buffer = row.size;
        last_end = row.length + vyre_type_bytes(vyre_resource_type(&row));
        row.size = f->resource_map[row.size];
        f->resource_map[best] = *next;
        f->resources[*next] = row;
        f->resource_names[*next] = 0;
        ++*next;
    }
}

/* Constant arrays that are used, with their elements behind one another. */
static void place_constants(finishing *f, uint32_t *next) {
    vyre_builder *draft = f->draft;
    uint32_t first = *next, at = 0;
    builder_order_constants(draft, next);
    for (uint32_t i = 0; i<draft->resources.count && * next> first; i++) {
        if (draft->resources.items[i].row.kind == VYRE_RESOURCE_CONSTANT &&
            f->resource_map[i] != VYRE_NONE) {
            f->resources[f->resource_map[i]] = draft->resources.items[i].row;
            f->resource_names[f->resource_map[i]] = draft->resources.items[i].name;
        }
    }
    for (uint32_t i = first; i < *next; i++) {
        vyre_resource *row = &f->resources[i];
        uint32_t bytes = row->length * vyre_type_bytes((vyre_type)row->type);
        uint32_t start = (at + 7) / 8 * 8;
        memset(f->data + at, 0, start - at);
        memcpy(f->data + start, draft->data.items + row->size, bytes);
        row->size = start;
        at = start + bytes;
    }
    f->ir.data_bytes = at;
}

/* Buffers, then scratch, then constant arrays, then fields, then the arrays of each phase. */
static void order_resources(finishing *f) {
    const vyre_builder *draft = f->draft;
    uint32_t next = 0;
    find_fields(f);
    for (int kind = VYRE_RESOURCE_BUFFER; kind <= VYRE_RESOURCE_SCRATCH; kind++) {
        for (uint32_t i = 0; i < draft->resources.count; i++) {
            if (draft->resources.items[i].row.kind == kind) {
                place_resource(f, i, &next);
            }
        }
    }
    place_constants(f, &next);
    order_fields(f, &next);
    /* Arrays are declared while their phase is open, so they stand in the order of phases. */
    uint32_t from = 0;
    for (uint32_t phase = 0; phase < draft->phases.count; phase++) {
        f->phases[phase].first_resource = next;
        for (; from < draft->resources.count && (draft->resources.items[from].phase == VYRE_NONE ||
                                                 draft->resources.items[from].phase == phase);
             from++) {
            if (draft->resources.items[from].phase == phase) {
                place_resource(f, from, &next);
            }
        }
        f->phases[phase].end_resource = next;
    }
    f->ir.resource_count = f->ir.resource_name_count = next;
}

/* Writes a size behind those already written, operands first, and gives its number. */
static uint32_t place_size(finishing *f, uint32_t size) {
    if (size == VYRE_NONE) {
        return VYRE_NONE;
    }
    vyre_size_node node = f->draft->sizes.items[size].node;
    if (vyre_size_is_operator(node.op)) {
        node.a = place_size(f, node.a);
        node.b = place_size(f, node.b);
    }
    f->sizes[f->ir.size_count] = node;
    return f->ir.size_count++;
}

static void place_sizes(finishing *f) {
    f->ir.size_count = 0;
    for (uint32_t i = 0; i < f->ir.resource_count; i++) {
        if (f->resources[i].kind != VYRE_RESOURCE_CONSTANT &&
            !vyre_resource_is_field(&f->resources[i])) {
            f->resources[i].size = place_size(f, f->resources[i].size);
        }
    }
    for (uint32_t i = 0; i < f->ir.requirement_count; i++) {
        f->requirements[i].left = place_size(f, f->requirements[i].left);
        f->requirements[i].right = place_size(f, f->requirements[i].right);
    }
    for (uint32_t i = 0; i < f->ir.step_count; i++) {
        vyre_step *step = &f->steps[i];
        if (step->resource != VYRE_NONE) {
            step->resource = f->resource_map[step->resource];
        }
        if (step->kind == VYRE_STEP_SWAP) {
            uint32_t other = f->resource_map[step->size];
            step->size = other < step->resource ? step->resource : other;
            step->resource = other < step->resource ? other : step->resource;
            continue;
        }
        if (step->kind != VYRE_STEP_PHASE) {
            step->size = place_size(f, step->size);
            continue;
        }
        vyre_phase *phase = &f->phases[step->size];
        for (int k = 0; k < 3; k++) {
            phase->domain[k] = place_size(f, phase->domain[k]);
        }
        phase->from_index = place_size(f, phase->from_index);
        if (phase->from_resource != VYRE_NONE) {
            phase->from_resource = f->resource_map[phase->from_resource];
        }
    }
}

static void make_tables(finishing *f) {
    const vyre_builder *draft = f->draft;
    f->args = take(f, VYRE_SECTION_ARGS, draft->args.count);
    f->resources = take(f, VYRE_SECTION_RESOURCES, draft->resources.count);
    f->resource_names = take(f, VYRE_SECTION_RESOURCE_NAMES, draft->resources.count);
    f->sizes = take(f, VYRE_SECTION_SIZES, draft->sizes.count);
    /* Another array may be the last, so the one that is last in the draft gets its padding, too. */
    f->data = take(f, VYRE_SECTION_DATA, (draft->data.count + 7) / 8 * 8);
    f->steps = take(f, VYRE_SECTION_STEPS, draft->steps.count);
    f->step_names = take(f, VYRE_SECTION_STEP_NAMES, draft->steps.count);
    f->phases = take(f, VYRE_SECTION_PHASES, draft->phases.count);
    f->requirements = take(f, VYRE_SECTION_REQUIREMENTS, draft->requirements.count);
    vyre_place *required = take(f, VYRE_SECTION_REQUIREMENT_PLACES, draft->requirements.count);
    copy(f, VYRE_SECTION_STRINGS, draft->strings.data, draft->strings.size);
    copy(f, VYRE_SECTION_DEBUG_STRINGS, draft->debug_strings.data, draft->debug_strings.size);
    copy(f, VYRE_SECTION_SCOPES, draft->scopes.items, draft->scopes.count);
    f->failed |= !vyre_vec_reserve(&f->draft->resource_map, draft->resources.count);
    if (f->failed) {
        return;
    }
    f->resource_map = draft->resource_map.items;
    for (size_t i = 0; i < draft->steps.count; i++) {
        f->steps[i] = draft->steps.items[i].row;
        f->step_names[i] = draft->steps.items[i].name;
    }
    if (draft->phases.count) {
        memcpy(f->phases, draft->phases.items, draft->phases.count * sizeof *f->phases);
    }
    for (size_t i = 0; i < draft->requirements.count; i++) {
        f->requirements[i] = draft->requirements.items[i].row;
        required[i] = draft->requirements.items[i].place;
    }
    order_resources(f);
    for (size_t i = 0; i < draft->args.count; i++) {
        const draft_arg *arg = &draft->args.items[i];
        f->args[i] =
            (vyre_arg){arg->name, arg->type,
                       arg->resource == VYRE_NONE ? VYRE_NONE : f->resource_map[arg->resource]};
    }
    place_sizes(f);
}

static void make_code(finishing *f) {
    const ssa_arrays *code = &f->draft->ssa;
    for (uint32_t i = 0; i < f->ir.phase_count; i++) {
        vyre_phase *phase = &f->phases[i];
        const ssa_phase *row = &code->phases.items[i];
        phase->first = row->first;
        phase->end = i + 1 < f->ir.phase_count ? row[1].first : (uint32_t)code->insts.count;
        /* The width is stated where it means something, and nowhere else. */
        phase->subgroup = !row->uses_subgroup ? 0 : phase->subgroup ? phase->subgroup : 32;
    }
    copy(f, VYRE_SECTION_INSTS, code->insts.items, code->insts.count);
    copy(f, VYRE_SECTION_PLACES, code->places.items, code->places.count);
    copy(f, VYRE_SECTION_OPERANDS, code->operands.items, code->operands.count);
    copy(f, VYRE_SECTION_CONSTS, code->consts.items, code->consts.count);
    copy(f, VYRE_SECTION_VALUE_NAMES, code->value_names.items, code->value_names.count);
}

/* What only the end can tell. */
static void check_closed(vyre_builder *builder) {
    size_t open = builder->open_repeats.count;
    bool is_branch = open && builder->steps.items[builder->open_repeats.items[open - 1]].row.kind >
                                 VYRE_STEP_REPEAT_WHILE;
    if (builder->in_phase || open) {
        vyre_build_report(builder, 507, "close it before you finish the builder",
                          "a %s is still open",
                          builder->in_phase ? "phase"
                          : is_branch       ? "branch"
                                            : "repeat");
    } else if (!builder->phases.count && !vyre_diagnostics_errors(builder->diagnostics)) {
        vyre_build_report(builder, 606, "add one: over a domain, or `phase` inside the body",
                          "program `%s` has no phase", builder->strings.data);
    }
}

/* Only the texts of programs know of several dimensions. */
static vyre_status keep_dimensions(const vyre_builder *builder, vyre_program *program) {
    uint8_t most = 1;
    for (size_t i = 0; i < builder->args.count; i++) {
        most = builder->args.items[i].dimensions > most ? builder->args.items[i].dimensions : most;
    }
    if (most == 1) {
        return VYRE_OK;
    }
    program->dimensions = vyre_alloc(builder->args.count);
    if (!program->dimensions) {
        return vyre_no_memory("for program `%s`", builder->strings.data);
    }
    for (size_t i = 0; i < builder->args.count; i++) {
        program->dimensions[i] = builder->args.items[i].dimensions;
    }
    return VYRE_OK;
}

static vyre_status make_program(vyre_builder *builder, vyre_program **out_program) {
    finishing f = {.draft = builder};
    const char *file = builder->debug_strings.data + builder->file;
    vyre_status status = VYRE_OK;
    bool is_large = builder->insts.count > 4096; /* whose memory others need */
    make_tables(&f);
    bool made = !f.failed && vyre_build_ssa(builder);
    bool too_many = !made && builder->ssa.insts.count >= VYRE_LIMIT_INSTRUCTIONS;
    if (is_large) {
        builder_free_draft(builder);
    }
    if (made) {
        make_code(&f);
    }
    if (is_large) {
        builder_free_code(builder);
    }
    if (made && !f.failed) {
        f.ir.flags = builder->flags;
        f.ir.file = builder->file;
        status = vyre_program_seal(&f.ir, builder->diagnostics, NULL, out_program);
        status = status ? status : keep_dimensions(builder, *out_program);
        if (status) {
            vyre_program_release(*out_program);
            *out_program = NULL;
        }
    } else if (too_many) {
        vyre_build_report(builder, 701, "split the program, or inline less",
                          "the program has more than %d instructions", VYRE_LIMIT_INSTRUCTIONS);
        status = vyre_diagnostics_status(builder->diagnostics, builder->file ? file : NULL);
    } else {
        status = vyre_no_memory("for program `%s`", builder->strings.data);
    }
    vyre_sections_free(&f.ir);
    return status;
}

vyre_status vyre_builder_finish(vyre_builder *builder, vyre_diagnostics *diagnostics,
                                vyre_program **out_program) {
    *out_program = NULL;
    vyre_status status = VYRE_OK;
    if (builder->finished) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "create a new builder",
                                "the builder of `%s` was already finished", builder->strings.data);
    }
    builder->finished = true;
    const char *file = builder->file ? builder->debug_strings.data + builder->file : NULL;
    check_closed(builder);
    if (builder->no_memory) {
        status = vyre_no_memory("left while building `%s`", builder->strings.data);
    } else {
        status = vyre_diagnostics_status(builder->diagnostics, file);
    }
    if (!status) {
        status = make_program(builder, out_program);
    }
    if (diagnostics && !vyre_diagnostics_merge(diagnostics, builder->diagnostics) && !status) {
        vyre_program_release(*out_program);
        *out_program = NULL;
        status = vyre_diagnostics_status(diagnostics, file);
    }
    return status;
}
