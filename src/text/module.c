#include "text/module.h"

#include <fenv.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/status.h"
#include "ir/diagnostic.h"
#include "text/lower.h"
#include "text/lower_generic.h"

struct vyre_module {
    VYRE_VEC(vyre_program *) programs;
    VYRE_VEC(vyre_module_function) functions;
    VYRE_VEC(const char *) others; /* names of constants, structs and what is generic */
    VYRE_VEC(vyre_module_generic) generics;
    const char *name; /* of a file with generic programs, from whose text instances are made */
    vyre_str text;
    vyre_arena arena; /* names, signatures, the layout and the text */
    const char *layout;
};

void vyre_module_free(vyre_module *module) {
    if (module) {
        for (size_t i = 0; i < module->programs.count; i++) {
            vyre_program_release(module->programs.items[i]);
        }
        vyre_vec_free(&module->programs);
        vyre_vec_free(&module->functions);
        vyre_vec_free(&module->others);
        vyre_vec_free(&module->generics);
        vyre_arena_deinit(&module->arena);
        vyre_free(module);
    }
}

size_t vyre_module_count(const vyre_module *module) {
    return module->programs.count;
}

vyre_program *vyre_module_program(const vyre_module *module, size_t index) {
    return index < module->programs.count ? module->programs.items[index] : NULL;
}

/* Whether two names are the same but for spaces between types. */
static bool is_same_name(vyre_str a, const char *b) {
    size_t i = 0;
    for (; *b; b++) {
        if (*b == ' ') {
            continue;
        }
        if (i == a.size || a.data[i++] != *b) {
            return false;
        }
    }
    return i == a.size;
}

vyre_program *vyre_module_find(const vyre_module *module, const char *program_name) {
    for (size_t i = 0; i < module->programs.count; i++) {
        if (is_same_name(vyre_str_of(vyre_program_name(module->programs.items[i])), program_name)) {
            return module->programs.items[i];
        }
    }
    return NULL;
}

const vyre_module_function *vyre_module_function_at(const vyre_module *module, size_t index) {
    return index < module->functions.count ? &module->functions.items[index] : NULL;
}

const vyre_module_function *vyre_module_find_function(const vyre_module *module, const char *name) {
    for (size_t i = 0; i < module->functions.count; i++) {
        if (!strcmp(module->functions.items[i].name, name)) {
            return &module->functions.items[i];
        }
    }
    return NULL;
}

const vyre_module_generic *vyre_module_generic_at(const vyre_module *module, size_t index) {
    return index < module->generics.count ? &module->generics.items[index] : NULL;
}

vyre_str vyre_module_text(const vyre_module *module, const char **out_name) {
    *out_name = module->name;
    return module->text;
}

vyre_status vyre_module_adopt(vyre_module *module, const vyre_module *from, size_t index) {
    vyre_program *program = vyre_program_retain(vyre_module_program(from, index));
    if (vyre_vec_push(&module->programs, program)) {
        return VYRE_OK;
    }
    vyre_program_release(program);
    return vyre_no_memory("for an instance of a program");
}

bool vyre_module_has(const vyre_module *module, const char *name) {
    bool found = vyre_module_find(module, name) || vyre_module_find_function(module, name);
    for (size_t i = 0; i < module->others.count && !found; i++) {
        found = !strcmp(module->others.items[i], name);
    }
    return found;
}

const char *vyre_module_layout(const vyre_module *module) {
    return module->layout ? module->layout : "";
}

static void build_program(vyre_lower *lower, uint32_t item, vyre_module *module) {
    lower->met.count = 0;
    vyre_program *program = lower_program_item(lower, item);
    if (program) {
        lower_variants(lower, item, program);
    }
    if (program && !vyre_vec_push(&module->programs, program)) {
        vyre_program_release(program);
        lower_no_memory(lower);
    }
}

static vyre_str item_name(const vyre_lower *lower, const vyre_item *item) {
    return item->name                  ? vyre_str_of(item->name)
           : item->symbol == VYRE_NONE ? (vyre_str){"", 0}
                                       : vyre_symbol_text(&lower->unit->names, item->symbol);
}

/* Whether an item is a program of the text itself, and not of a file that it uses. */
static bool is_own_program(const vyre_lower *lower, const vyre_item *item) {
    const vyre_source *source = &lower->unit->source;
    uint32_t part = vyre_source_part_at(source, item->place.at);
    return item->kind == VYRE_ITEM_PROGRAM && !(part && source->parts[part].file);
}

/* Builds the instance of a generic program that a name states, if there is such a program. */
static void build_instance(vyre_lower *lower, const char *name, vyre_module *module) {
    vyre_str stem = {name, strcspn(name, "<")};
    for (uint32_t i = 0; i < lower->unit->items.count && name[stem.size]; i++) {
        const vyre_item *item = &lower->unit->items.items[i];
        vyre_str own = item_name(lower, item);
        if (is_own_program(lower, item) && item->generic && own.size == stem.size &&
            !memcmp(own.data, stem.data, own.size)) {
            vyre_callee generic = {.unit = lower->unit, .item = i};
            vyre_callee instance = lower_stated_instance(lower, generic, name, item->spot);
            if (instance.unit) {
                build_program(lower, instance.item, module);
            }
            return;
        }
    }
}

static bool is_over(const vyre_lower *lower) {
    return lower->unit->source.no_memory || vyre_diagnostics_full(lower->unit->source.diagnostics);
}

static bool is_wanted(const vyre_lower *lower, const vyre_item *item,
                      const vyre_parse_options *options) {
    if (!is_own_program(lower, item) || item->generic || item->origin != VYRE_NONE ||
        item->place.at < lower->unit->source.text + options->from) {
        return false;
    }
    if (!options->entry) {
        return true;
    }
    return is_same_name(item_name(lower, item), options->entry);
}

/* Looks through functions that nothing uses: first those that are not generic, whose mistakes are
 * nobody else's. */
static void check_functions(vyre_lower *lower, bool generic) {
    for (uint32_t i = 0; i < lower->unit->functions.count && !is_over(lower); i++) {
        vyre_function function = lower->unit->functions.items[i];
        const vyre_item *item = &lower->unit->items.items[function.item];
        if (function.seen || !function.body.at || item->generic != generic ||
            item->origin != VYRE_NONE) {
            continue;
        }
        if (generic && !function.broken) {
            lower_check_generic(lower, function.item);
        } else if (!generic) {
            lower_check_function(lower, i);
        }
    }
}

/* Builds the programs that are wanted; whoever wants a part knows the rest to be right. */
static void read_text(vyre_lower *lower, const vyre_parse_options *options, vyre_module *module) {
    bool is_whole = !options->from && !options->entry;
    lower_read_unit(lower);
    for (uint32_t i = 0; i < lower->unit->constants.count && !is_over(lower); i++) {
        lower_constant_item(lower, i);
    }
    for (uint32_t i = 0; i < lower->unit->items.count && !is_over(lower); i++) {
        if (is_wanted(lower, &lower->unit->items.items[i], options)) {
            build_program(lower, i, module);
        }
    }
    if (options->entry && !module->programs.count) {
        build_instance(lower, options->entry, module);
    }
    for (size_t i = 0; i < options->instance_count && !is_over(lower); i++) {
        build_instance(lower, options->instances[i], module);
    }
    for (uint32_t generic = 0; generic < 2 && is_whole; generic++) {
        check_functions(lower, generic);
    }
    uint32_t count = (uint32_t)lower->unit->items.count; /* without instances */
    for (uint32_t i = 0; i < count && is_whole && !is_over(lower); i++) {
        const vyre_item *item = &lower->unit->items.items[i];
        if (is_own_program(lower, item) && item->generic && item->type_count) {
            lower_check_generic(lower, i);
        }
    }
}

static const char *keep_name(vyre_lower *lower, vyre_module *module, uint32_t symbol) {
    vyre_str text =
        symbol == VYRE_NONE ? (vyre_str){"", 0} : vyre_symbol_text(&lower->unit->names, symbol);
    return vyre_arena_copy(&module->arena, text.data, text.size);
}

static vyre_type scalar_type(vyre_value_type type) {
    return vyre_type_is_scalar(type) ? (vyre_type)type : VYRE_TYPE_VOID;
}

static bool keep_function(vyre_lower *lower, const vyre_function *function, vyre_module *module) {
    uint32_t parameters = function->parameter_count, results = function->result_count;
    size_t count = (size_t)parameters + results;
    vyre_module_value *values = vyre_arena_alloc(&module->arena, (count + 1) * sizeof *values);
    bool stored = values != NULL, is_elementwise = true;
    for (uint32_t i = 0; i < parameters && stored; i++) {
        const vyre_lower_parameter *parameter =
            &lower->unit->parameters.items[function->parameters + i];
        bool is_variable = parameter->kind == VYRE_ARGUMENT_VARIABLE;
        is_elementwise &= vyre_type_is_scalar(parameter->type) && !is_variable;
        values[i] = (vyre_module_value){.name = keep_name(lower, module, parameter->symbol),
                                        .type = scalar_type(parameter->type),
                                        .is_buffer =
                                            parameter->kind != VYRE_ARGUMENT_SCALAR && !is_variable,
                                        .is_written = parameter->kind == VYRE_ARGUMENT_INOUT};
        stored = values[i].name != NULL;
    }
    for (uint32_t i = 0; i < results && stored; i++) {
        vyre_value_type type = lower->unit->result_types.items[function->results + i];
        is_elementwise &= vyre_type_is_scalar(type);
        values[parameters + i] = (vyre_module_value){.name = "", .type = scalar_type(type)};
    }
    const char *name = keep_name(lower, module, lower->unit->items.items[function->item].symbol);
    return stored && name &&
           vyre_vec_push(&module->functions,
                         (vyre_module_function){.name = name,
                                                .parameters = values,
                                                .results = values + parameters,
                                                .parameter_count = parameters,
                                                .result_count = results,
                                                .is_elementwise = is_elementwise});
}

static bool keep_layout(const vyre_lower *lower, vyre_module *module) {
    const vyre_types *types = &lower->types;
    vyre_strbuf text = {0};
    for (size_t i = 0; i < lower->unit->items.count; i++) {
        const vyre_item *item = &lower->unit->items.items[i];
        if (item->kind == VYRE_ITEM_STRUCT && item->index) {
            vyre_type_layout_print(types, item->index, &text);
        }
    }
    bool stored = !text.failed;
    if (stored && text.size) {
        module->layout = vyre_arena_copy(&module->arena, text.data, text.size);
        stored = module->layout;
    }
    vyre_strbuf_free(&text);
    return stored;
}

/* A generic program, for those who make instances: with its type parameters as they are written. */
static bool keep_generic(vyre_lower *lower, const vyre_item *item, vyre_module *module) {
    const vyre_source *source = &lower->unit->source;
    vyre_lexer lexer = item->place;
    vyre_token name, token;
    vyre_lexer_next(&lexer, &token); /* the keyword */
    vyre_lexer_next(&lexer, &name);
    do {
        vyre_lexer_next(&lexer, &token);
    } while (token.kind != VYRE_TOKEN_LEFT_PAREN && token.kind != VYRE_TOKEN_END);
    const char *head = source->text + name.offset;
    vyre_module_generic row = {vyre_arena_copy(&module->arena, head, name.length),
                               vyre_arena_copy(&module->arena, head, token.offset - name.offset)};
    if (!module->text.data) {
        size_t size = (size_t)(source->end - source->text);
        const char *file = vyre_source_name(source->name);
        module->text = (vyre_str){vyre_arena_copy(&module->arena, source->text, size), size};
        module->name = vyre_arena_copy(&module->arena, file, strlen(file));
    }
    return row.name && row.head && module->text.data && module->name &&
           vyre_vec_push(&module->generics, row);
}

/* What of a text without mistakes is known when it is gone. */
static void keep_items(vyre_lower *lower, vyre_module *module) {
    bool stored = true;
    for (uint32_t i = 0; i < lower->unit->functions.count && stored; i++) {
        const vyre_function *function = &lower->unit->functions.items[i];
        const vyre_item *item = &lower->unit->items.items[function->item];
        stored =
            item->generic || item->origin != VYRE_NONE || keep_function(lower, function, module);
    }
    for (uint32_t i = 0; i < lower->unit->items.count && stored; i++) {
        const vyre_item *item = &lower->unit->items.items[i];
        if (item->kind == VYRE_ITEM_CONSTANT || item->kind == VYRE_ITEM_STRUCT || item->generic) {
            const char *name = keep_name(lower, module, item->symbol);
            stored = name && vyre_vec_push(&module->others, name);
        }
        if (is_own_program(lower, item) && item->generic) {
            stored = stored && keep_generic(lower, item, module);
        }
    }
    if (!stored || !keep_layout(lower, module)) {
        lower_no_memory(lower);
    }
}

static void free_lower(vyre_lower *lower) {
    vyre_parser_deinit(&lower->parser);
    for (size_t i = 0; i < lower->units.count; i++) {
        lower_free_unit(lower->units.items[i]);
        vyre_free(lower->units.items[i]);
    }
    vyre_vec_free(&lower->units);
    vyre_vec_free(&lower->calls);
    vyre_vec_free(&lower->blocks);
    vyre_vec_free(&lower->block_names);
    vyre_vec_free(&lower->values);
    vyre_vec_free(&lower->operands);
    vyre_vec_free(&lower->places);
    vyre_vec_free(&lower->leaves);
    vyre_types_free(&lower->types);
    vyre_vec_free(&lower->spine);
    vyre_vec_free(&lower->cases);
    vyre_vec_free(&lower->shapes);
    vyre_vec_free(&lower->views);
    vyre_vec_free(&lower->written);
    vyre_vec_free(&lower->fills);
    vyre_vec_free(&lower->head);
    vyre_vec_free(&lower->given);
    vyre_vec_free(&lower->met);
    vyre_diagnostics_free(lower->found);
    vyre_builder_free(lower->spare);
    if (lower->has_entered && lower->library.library->leave) {
        lower->library.library->leave(&lower->library);
    }
}

static vyre_status no_memory(const char *name) {
    return vyre_status_annotate(
        vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again", "out of memory"),
        "reading %s", vyre_source_name(name));
}

static vyre_status parse(const vyre_parse_options *options, const char *name, const char *text,
                         size_t size, vyre_diagnostics *diagnostics, vyre_module **out_module) {
    text = text ? text : ""; /* of 0 bytes */
    vyre_diagnostics *own = NULL;
    vyre_module *module = NULL;
    vyre_unit unit = {.source = {.name = name, .text = text, .end = text + size}};
    vyre_lower lower = {.unit = &unit, .library = {.library = options->library}};
    vyre_status status = vyre_words_prepare();
    if (!status && !diagnostics) {
        status = vyre_diagnostics_create(&own);
        diagnostics = own;
    }
    if (status) {
        goto done;
    }
    module = vyre_alloc_zeroed(1, sizeof *module);
    if (!module) {
        status = no_memory(name);
        goto done;
    }
    unit.source.diagnostics = diagnostics;
    if (vyre_source_check(&unit.source)) {
        vyre_names_init(&unit.names, text, text + size);
        vyre_parser_init(&lower.parser, &unit.source, &unit.names);
        unit.source.no_memory |= !vyre_vec_reserve(&lower.values, 1);
        if (!unit.source.no_memory) {
            read_text(&lower, options, module);
        }
        if (!unit.source.no_memory && !vyre_diagnostics_errors(diagnostics)) {
            keep_items(&lower, module);
        }
    }
    status = unit.source.no_memory ? no_memory(name)
                                   : vyre_diagnostics_status(diagnostics, vyre_source_name(name));
    if (!status) {
        *out_module = module;
        module = NULL;
    }
done:
    free_lower(&lower);
    lower_free_unit(&unit);
    vyre_module_free(module);
    vyre_diagnostics_free(own);
    return status;
}

/* Constants are folded in the host's arithmetic, so the host must round as IEEE 754 does by
 * default, whatever the calling thread has set. */
vyre_status vyre_module_parse_with(const vyre_parse_options *options, const char *name,
                                   const char *text, size_t size, vyre_diagnostics *diagnostics,
                                   vyre_module **out_module) {
    fenv_t callers;
    *out_module = NULL;
    if (fegetenv(&callers) || fesetenv(FE_DFL_ENV)) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, "parse it on another thread",
                                "cannot set the floating-point environment of this thread");
    }
    vyre_status status = parse(options, name, text, size, diagnostics, out_module);
    fesetenv(&callers);
    return status;
}

vyre_status vyre_text_outline(const char *text, size_t size,
                              void (*item)(void *user, vyre_str name, bool is_function),
                              void *user) {
    vyre_unit unit = {.source = {.text = text, .end = text + size}};
    vyre_lower lower = {.unit = &unit};
    VYRE_TRY(vyre_words_prepare());
    VYRE_TRY(vyre_diagnostics_create(&unit.source.diagnostics));
    if (vyre_source_check(&unit.source)) {
        vyre_names_init(&unit.names, text, text + size);
        vyre_parser_init(&lower.parser, &unit.source, &unit.names);
        lower_read_uses(&lower);
        lower_find_items(&lower);
    }
    for (size_t i = 0; i < unit.items.count; i++) {
        const vyre_item *found = &unit.items.items[i];
        if (found->symbol != VYRE_NONE &&
            (found->kind == VYRE_ITEM_PROGRAM || found->kind == VYRE_ITEM_FUNCTION)) {
            item(user, vyre_symbol_text(&unit.names, found->symbol),
                 found->kind == VYRE_ITEM_FUNCTION);
        }
    }
    vyre_status status = unit.source.no_memory ? no_memory(NULL) : VYRE_OK;
    vyre_diagnostics *diagnostics = unit.source.diagnostics;
    free_lower(&lower);
    lower_free_unit(&unit);
    vyre_diagnostics_free(diagnostics);
    return status;
}
