#include "text/module.h"

#include <fenv.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "ir/diagnostic.h"
#include "text/lower.h"

struct vyre_module {
    VYRE_VEC(vyre_program *) programs;
    VYRE_VEC(vyre_module_function) functions;
    VYRE_VEC(const char *) constants;
    vyre_arena arena; /* names and signatures */
};

void vyre_module_free(vyre_module *module) {
    if (module) {
        for (size_t i = 0; i < module->programs.count; i++) {
            vyre_program_release(module->programs.items[i]);
        }
        vyre_vec_free(&module->programs);
        vyre_vec_free(&module->functions);
        vyre_vec_free(&module->constants);
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

vyre_program *vyre_module_find(const vyre_module *module, const char *program_name) {
    for (size_t i = 0; i < module->programs.count; i++) {
        if (!strcmp(vyre_program_name(module->programs.items[i]), program_name)) {
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

bool vyre_module_has(const vyre_module *module, const char *name) {
    bool found = vyre_module_find(module, name) || vyre_module_find_function(module, name);
    for (size_t i = 0; i < module->constants.count && !found; i++) {
        found = !strcmp(module->constants.items[i], name);
    }
    return found;
}

/* Enters an item by its name, unless the name is wrong, which the parser reports, or taken. */
static bool declare(vyre_lower *lower, vyre_item item, const vyre_token *name) {
    uint32_t number = (uint32_t)lower->items.count;
    if (name->kind == VYRE_TOKEN_NAME) {
        vyre_symbol *symbol = &lower->names.symbols.items[name->symbol];
        bool reserved = vyre_word_of(symbol->word)->class_of == VYRE_WORD_OP;
        item.symbol = name->symbol;
        item.spot = vyre_token_spot(name);
        if (symbol->item != VYRE_NONE) {
            vyre_name_text text;
            vyre_source_report(lower->source, item.spot, 202, "rename one of them",
                               "`%s` is declared twice in this file, first in line %u",
                               lower_name(lower, name->symbol, &text),
                               lower->items.items[symbol->item].spot.line);
        } else if (!reserved) {
            symbol->item = number;
        }
    }
    bool room = true;
    if (item.kind == VYRE_ITEM_FUNCTION) {
        item.index = (uint32_t)lower->functions.count;
        room = vyre_vec_push(&lower->functions, (vyre_function){.item = number});
    } else if (item.kind == VYRE_ITEM_CONSTANT) {
        item.index = (uint32_t)lower->constants.count;
        room = vyre_vec_push(&lower->constants, (vyre_constant){.item = number});
    }
    return room && vyre_vec_push(&lower->items, item);
}

/* Finds all items, so that each may be used before it is declared. */
static void find_items(vyre_lower *lower) {
    vyre_lexer lexer;
    vyre_lexer_init(&lexer, lower->source, &lower->names);
    for (vyre_lexer_find_item(&lexer); lexer.at < lower->source->end;
         vyre_lexer_find_item(&lexer)) {
        vyre_item item = {.symbol = VYRE_NONE, .place = lexer};
        vyre_token keyword, name;
        vyre_lexer_next(&lexer, &keyword);
        vyre_lexer ahead = lexer;
        vyre_lexer_next(&ahead, &name);
        item.kind = keyword.kind == VYRE_TOKEN_FN      ? VYRE_ITEM_FUNCTION
                    : keyword.kind == VYRE_TOKEN_CONST ? VYRE_ITEM_CONSTANT
                                                       : VYRE_ITEM_PROGRAM;
        if (keyword.kind == VYRE_TOKEN_END || lower->source->no_memory ||
            !declare(lower, item, &name)) {
            lower_no_memory(lower);
            return;
        }
    }
}

/* What stands in front of the first item is wrong, whatever it is. */
static void check_start(vyre_lower *lower) {
    vyre_lexer start;
    vyre_lexer_init(&start, lower->source, &lower->names);
    vyre_parser_open(&lower->parser, &start);
    if (!vyre_parser_done(&lower->parser)) {
        vyre_parse_item(&lower->parser);
    }
}

static void build_program(vyre_lower *lower, const vyre_item *item, vyre_module *module) {
    vyre_parser *parser = &lower->parser;
    vyre_parser_open(parser, &item->place);
    uint32_t node = vyre_parse_item(parser);
    if (vyre_parser_node(parser, node).kind != VYRE_NODE_PROGRAM) {
        return;
    }
    vyre_program *program = lower_program(lower, node);
    if (!vyre_parser_done(parser)) {
        vyre_parse_item(parser); /* reports what follows */
    }
    if (program && !vyre_vec_push(&module->programs, program)) {
        vyre_program_release(program);
        lower_no_memory(lower);
    }
}

static bool is_over(const vyre_lower *lower) {
    return lower->source->no_memory || vyre_diagnostics_full(lower->source->diagnostics);
}

static void read_text(vyre_lower *lower, vyre_module *module) {
    check_start(lower);
    find_items(lower);
    for (uint32_t i = 0; i < lower->functions.count && !is_over(lower); i++) {
        lower_survey(lower, i);
    }
    for (uint32_t i = 0; i < lower->constants.count && !is_over(lower); i++) {
        lower_constant_item(lower, i);
    }
    for (uint32_t i = 0; i < lower->items.count && !is_over(lower); i++) {
        if (lower->items.items[i].kind == VYRE_ITEM_PROGRAM) {
            build_program(lower, &lower->items.items[i], module);
        }
    }
    for (uint32_t i = 0; i < lower->functions.count && !is_over(lower); i++) {
        if (!lower->functions.items[i].seen && lower->functions.items[i].body.at) {
            lower_check_function(lower, i);
        }
    }
}

static const char *keep_name(vyre_lower *lower, vyre_module *module, uint32_t symbol) {
    vyre_str text =
        symbol == VYRE_NONE ? (vyre_str){"", 0} : vyre_symbol_text(&lower->names, symbol);
    return vyre_arena_copy(&module->arena, text.data, text.size);
}

static bool keep_function(vyre_lower *lower, const vyre_function *function, vyre_module *module) {
    uint32_t parameters = function->parameter_count, results = function->result_count;
    size_t count = (size_t)parameters + results;
    vyre_module_value *values = vyre_arena_alloc(&module->arena, (count + 1) * sizeof *values);
    bool stored = values != NULL;
    for (uint32_t i = 0; i < parameters && stored; i++) {
        const vyre_parameter *parameter = &lower->parameters.items[function->parameters + i];
        values[i] = (vyre_module_value){.name = keep_name(lower, module, parameter->symbol),
                                        .type = (vyre_type)parameter->type,
                                        .is_buffer = parameter->kind != VYRE_ARGUMENT_SCALAR,
                                        .is_written = parameter->kind == VYRE_ARGUMENT_INOUT};
        stored = values[i].name != NULL;
    }
    for (uint32_t i = 0; i < results && stored; i++) {
        values[parameters + i] = (vyre_module_value){
            .name = "", .type = (vyre_type)lower->result_types.items[function->results + i]};
    }
    const char *name = keep_name(lower, module, lower->items.items[function->item].symbol);
    return stored && name &&
           vyre_vec_push(&module->functions,
                         (vyre_module_function){.name = name,
                                                .parameters = values,
                                                .results = values + parameters,
                                                .parameter_count = parameters,
                                                .result_count = results});
}

/* What of a text without mistakes is known when it is gone. */
static void keep_items(vyre_lower *lower, vyre_module *module) {
    bool stored = true;
    for (uint32_t i = 0; i < lower->functions.count && stored; i++) {
        stored = keep_function(lower, &lower->functions.items[i], module);
    }
    for (uint32_t i = 0; i < lower->constants.count && stored; i++) {
        const vyre_item *item = &lower->items.items[lower->constants.items[i].item];
        const char *name = keep_name(lower, module, item->symbol);
        stored = name && vyre_vec_push(&module->constants, name);
    }
    if (!stored) {
        lower_no_memory(lower);
    }
}

static void free_lower(vyre_lower *lower) {
    vyre_names_deinit(&lower->names);
    vyre_parser_deinit(&lower->parser);
    vyre_vec_free(&lower->items);
    vyre_vec_free(&lower->constants);
    vyre_vec_free(&lower->functions);
    vyre_vec_free(&lower->parameters);
    vyre_vec_free(&lower->result_types);
    vyre_vec_free(&lower->callees);
    vyre_vec_free(&lower->blocks);
    vyre_vec_free(&lower->block_names);
    vyre_vec_free(&lower->values);
    vyre_vec_free(&lower->spine);
    vyre_vec_free(&lower->scratch_sizes);
    vyre_diagnostics_free(lower->found);
    vyre_builder_free(lower->spare);
}

static vyre_status no_memory(const char *name) {
    return vyre_status_annotate(
        vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory and try again", "out of memory"),
        "reading %s", vyre_source_name(name));
}

static vyre_status parse(const char *name, const char *text, size_t size,
                         vyre_diagnostics *diagnostics, vyre_module **out_module) {
    text = text ? text : ""; /* of 0 bytes */
    vyre_diagnostics *own = NULL;
    vyre_module *module = NULL;
    vyre_lower lower = {0};
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
    vyre_arena_init(&module->arena);
    vyre_source source = {
        .name = name, .text = text, .end = text + size, .diagnostics = diagnostics};
    if (vyre_source_check(&source)) {
        lower.source = &source;
        vyre_names_init(&lower.names, text, text + size);
        vyre_parser_init(&lower.parser, &source, &lower.names);
        source.no_memory |= !vyre_vec_reserve(&lower.values, 1);
        if (!source.no_memory) {
            read_text(&lower, module);
        }
        if (!source.no_memory && !vyre_diagnostics_errors(diagnostics)) {
            keep_items(&lower, module);
        }
    }
    status = source.no_memory ? no_memory(name)
                              : vyre_diagnostics_status(diagnostics, vyre_source_name(name));
    if (!status) {
        *out_module = module;
        module = NULL;
    }
done:
    free_lower(&lower);
    vyre_module_free(module);
    vyre_diagnostics_free(own);
    return status;
}

/* Constants are folded in the host's arithmetic, so the host must round as IEEE 754 does by
 * default, whatever the calling thread has set. */
vyre_status vyre_module_parse(const char *name, const char *text, size_t size,
                              vyre_diagnostics *diagnostics, vyre_module **out_module) {
    fenv_t callers;
    *out_module = NULL;
    if (fegetenv(&callers) || fesetenv(FE_DFL_ENV)) {
        return vyre_status_make(VYRE_STATUS_UNSUPPORTED, "parse it in another thread",
                                "the floating-point environment of the thread cannot be set");
    }
    vyre_status status = parse(name, text, size, diagnostics, out_module);
    fesetenv(&callers);
    return status;
}

vyre_status vyre_text_outline(const char *text, size_t size,
                              void (*item)(void *user, vyre_str name, bool is_function),
                              void *user) {
    vyre_lower lower = {0};
    vyre_diagnostics *diagnostics = NULL;
    vyre_status status = vyre_words_prepare();
    status = status ? status : vyre_diagnostics_create(&diagnostics);
    if (status) {
        return status;
    }
    vyre_source source = {.text = text, .end = text + size, .diagnostics = diagnostics};
    if (vyre_source_check(&source)) {
        lower.source = &source;
        vyre_names_init(&lower.names, text, text + size);
        vyre_parser_init(&lower.parser, &source, &lower.names);
        find_items(&lower);
    }
    for (size_t i = 0; i < lower.items.count; i++) {
        const vyre_item *found = &lower.items.items[i];
        if (found->symbol != VYRE_NONE && found->kind != VYRE_ITEM_CONSTANT) {
            item(user, vyre_symbol_text(&lower.names, found->symbol),
                 found->kind == VYRE_ITEM_FUNCTION);
        }
    }
    status = source.no_memory ? no_memory(NULL) : VYRE_OK;
    free_lower(&lower);
    vyre_diagnostics_free(diagnostics);
    return status;
}
