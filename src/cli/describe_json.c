#include "cli/describe.h"

#include "ir/lookup.h"
#include "ir/message.h"
#include "ir/size.h"

/* A name, or null where the author gave none or it was not kept. */
static void add_name(vyre_json *json, const char *name) {
    vyre_json_add_string(json, "name", *name ? name : NULL);
}

static void write_size(vyre_json *json, const vyre_ir *ir, uint32_t size) {
    if (size == VYRE_NONE) {
        vyre_json_null(json);
        return;
    }
    vyre_strbuf text = {0};
    vyre_size_print(&text, ir, size);
    json->text->failed |= text.failed;
    vyre_json_string(json, vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
}

static void write_element(vyre_json *json, const vyre_ir *ir, uint32_t resource, uint32_t index) {
    vyre_strbuf text = {0};
    cli_describe_element(&text, ir, resource, index);
    json->text->failed |= text.failed;
    vyre_json_string(json, vyre_strbuf_string(&text));
    vyre_strbuf_free(&text);
}

static void add_arguments(vyre_json *json, const vyre_ir *ir) {
    vyre_json_add_array(json, "arguments");
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        const vyre_arg *arg = &ir->args[i];
        bool is_scalar = arg->resource == VYRE_NONE;
        vyre_json_object(json);
        add_name(json, ir->strings + arg->name);
        vyre_json_add_string(json, "kind", is_scalar ? "scalar" : "buffer");
        vyre_json_add_string(json, "type", vyre_type_name((vyre_type)arg->type));
        if (!is_scalar) {
            const vyre_resource *buffer = &ir->resources[arg->resource];
            vyre_json_add_string(json, "access", cli_access_name(buffer->access));
            vyre_json_key(json, "size");
            write_size(json, ir, buffer->size);
        }
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

/* Arrays of one kind within a range of resources. */
static void add_arrays(vyre_json *json, const vyre_ir *ir, const char *key, vyre_resource_kind kind,
                       uint32_t first, uint32_t end) {
    vyre_json_add_array(json, key);
    for (uint32_t i = first; i < end; i++) {
        const vyre_resource *array = &ir->resources[i];
        if (array->kind != kind ||
            (kind == VYRE_RESOURCE_CONSTANT && !vyre_message_is_table(ir, i))) {
            continue;
        }
        vyre_json_object(json);
        add_name(json, cli_array_name(ir, i));
        vyre_json_add_string(json, "type", vyre_type_name((vyre_type)array->type));
        if (array->kind != VYRE_RESOURCE_CONSTANT && array->size != VYRE_NONE) {
            vyre_json_key(json, "size");
            write_size(json, ir, array->size);
        } else {
            vyre_json_add_u64(json, "length", array->length);
        }
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void add_phase(vyre_json *json, const vyre_ir *ir, const vyre_phase *phase) {
    vyre_json_add_array(json, "domain");
    for (uint32_t i = 0; i < phase->dimensions; i++) {
        write_size(json, ir, phase->domain[i]);
    }
    vyre_json_array_end(json);
    if (phase->from_resource != VYRE_NONE) {
        vyre_json_key(json, "from");
        write_element(json, ir, phase->from_resource, phase->from_index);
    }
    vyre_json_key(json, "workgroup");
    if (phase->workgroup[0]) {
        vyre_json_array(json);
        for (uint32_t i = 0; i < phase->dimensions; i++) {
            vyre_json_u64(json, phase->workgroup[i]);
        }
        vyre_json_array_end(json);
    } else {
        vyre_json_null(json);
    }
    vyre_json_key(json, "subgroup");
    if (phase->subgroup) {
        vyre_json_u64(json, phase->subgroup);
    } else {
        vyre_json_null(json);
    }
    add_arrays(json, ir, "shared", VYRE_RESOURCE_SHARED, phase->first_resource,
               phase->end_resource);
    add_arrays(json, ir, "private", VYRE_RESOURCE_PRIVATE, phase->first_resource,
               phase->end_resource);
}

/* A repeat holds its steps; repeats are not nested deeply. */
static void add_steps(vyre_json *json, const vyre_ir *ir, uint32_t first, uint32_t end) {
    static const char *const kinds[] = {"phase", "repeat", "repeat", "swap", "if", "else"};
    vyre_json_add_array(json, "steps");
    for (uint32_t i = first; i < end; i = ir->steps[i].end) {
        const vyre_step *step = &ir->steps[i];
        vyre_json_object(json);
        vyre_json_add_string(json, "kind", kinds[step->kind]);
        add_name(json, cli_step_name(ir, i));
        switch (step->kind) {
        case VYRE_STEP_PHASE: add_phase(json, ir, &ir->phases[step->size]); break;
        case VYRE_STEP_REPEAT_COUNT:
            vyre_json_key(json, "count");
            write_size(json, ir, step->size);
            break;
        case VYRE_STEP_REPEAT_WHILE:
        case VYRE_STEP_IF:
            vyre_json_key(json, step->kind == VYRE_STEP_IF ? "if" : "while");
            write_element(json, ir, step->resource, step->size);
            break;
        case VYRE_STEP_SWAP:
            vyre_json_add_array(json, "arrays");
            vyre_json_string(json, cli_array_name(ir, step->resource));
            vyre_json_string(json, cli_array_name(ir, step->size));
            vyre_json_array_end(json);
            break;
        default: break;
        }
        if (vyre_step_is_container(step)) {
            add_steps(json, ir, i + 1, step->end);
        }
        vyre_json_object_end(json);
    }
    vyre_json_array_end(json);
}

static void add_requirements(vyre_json *json, const vyre_ir *ir) {
    vyre_strbuf size = {0};
    vyre_json_add_array(json, "requires");
    for (uint32_t i = 0; i < ir->requirement_count; i++) {
        vyre_strbuf_cut(&size, 0);
        vyre_size_print(&size, ir, ir->requirements[i].left);
        vyre_strbuf_puts(&size, " == ");
        vyre_size_print(&size, ir, ir->requirements[i].right);
        vyre_json_string(json, vyre_strbuf_string(&size));
    }
    vyre_json_array_end(json);
    json->text->failed |= size.failed;
    vyre_strbuf_free(&size);
}

static void add_statistics(vyre_json *json, const vyre_stats *stats) {
    vyre_json_add_object(json, "statistics");
#define ROW(field, name, one, several)                                                             \
    vyre_json_key(json, name);                                                                     \
    vyre_json_u64(json, stats->field);
    CLI_STATISTICS(ROW)
#undef ROW
    vyre_json_add_u64(json, "cost", stats->cost);
    vyre_json_object_end(json);
}

static void add_variants(vyre_json *json, const vyre_program *program) {
    vyre_json_key(json, "variants");
    vyre_json_array(json);
    for (uint32_t i = 0; i < program->variant_count; i++) {
        vyre_strbuf suits = {0}, digest = {0};
        cli_describe_suits(&suits, program->variants[i].suits);
        cli_describe_digest(&digest, program->variants[i].program);
        vyre_json_object(json);
        vyre_json_add_string(json, "suits", vyre_strbuf_string(&suits));
        vyre_json_add_string(json, "digest", vyre_strbuf_string(&digest));
        vyre_json_object_end(json);
        json->text->failed |= suits.failed || digest.failed;
        vyre_strbuf_free(&suits);
        vyre_strbuf_free(&digest);
    }
    vyre_json_array_end(json);
}

void cli_describe_json(vyre_json *json, const vyre_program *program) {
    const vyre_ir *ir = vyre_program_ir(program);
    vyre_stats stats = vyre_program_stats(program);
    vyre_strbuf digest = {0};
    cli_describe_digest(&digest, program);
    vyre_json_object(json);
    add_name(json, vyre_program_name(program));
    vyre_json_add_string(json, "class", vyre_determinism_name(vyre_program_determinism(program)));
    vyre_json_add_string(json, "reason", vyre_program_determinism_reason(program));
    vyre_json_add_string(json, "digest", vyre_strbuf_string(&digest));
    if (program->variant_count) {
        add_variants(json, program);
    }
    add_arguments(json, ir);
    add_arrays(json, ir, "scratch", VYRE_RESOURCE_SCRATCH, 0, ir->resource_count);
    if (ir->data_bytes) {
        add_arrays(json, ir, "constants", VYRE_RESOURCE_CONSTANT, 0, ir->resource_count);
    }
    if (ir->requirement_count) {
        add_requirements(json, ir);
    }
    add_steps(json, ir, 0, ir->step_count);
    add_statistics(json, &stats);
    vyre_json_object_end(json);
    json->text->failed |= digest.failed;
    vyre_strbuf_free(&digest);
}
