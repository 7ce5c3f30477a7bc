#include <string.h>

#include "base/alloc.h"
#include "ir/builder.h"
#include "ir/diagnostic.h"
#include "text/lower.h"
#include "text/lower_generic.h"
#include "text/parse.h"

/* The name of a program whose types are stated, as an instance is printed: `gather<f32>` without
 * what stands between its parts. NULL if it has none, or is generic; the parser reports what is
 * wrong. */
static char *stated_name(vyre_lower *lower, const vyre_token *name, vyre_lexer lexer) {
    vyre_strbuf text = {0};
    const char *source = lower->unit->source.text;
    vyre_token token;
    vyre_lexer_next(&lexer, &token);
    vyre_strbuf_add(&text, source + name->offset, name->length);
    bool fits = parse_at_stated_types(&lower->unit->names, token, lexer);
    for (uint32_t open = 0; fits;) {
        uint32_t closes = token.kind == VYRE_TOKEN_GREATER       ? 1
                          : token.kind == VYRE_TOKEN_SHIFT_RIGHT ? 2
                                                                 : 0;
        open += token.kind == VYRE_TOKEN_LESS;
        vyre_strbuf_add(&text, source + token.offset, token.length);
        if (closes >= open || text.failed) {
            break;
        }
        open -= closes;
        vyre_lexer_next(&lexer, &token);
        fits = text.size < VYRE_LIMIT_NAME_BYTES && token.kind != VYRE_TOKEN_END;
    }
    if (text.failed) {
        lower_no_memory(lower);
    }
    if (!fits || text.failed) {
        vyre_strbuf_free(&text);
    }
    return text.data;
}

/* Whether two programs state different types behind the same name. */
static bool is_other_instance(const vyre_lower *lower, uint32_t first, const vyre_item *item) {
    for (uint32_t i = first; i < lower->unit->items.count && item->name; i++) {
        const vyre_item *other = &lower->unit->items.items[i];
        if (other->symbol == item->symbol && (!other->name || !strcmp(other->name, item->name))) {
            return false;
        }
    }
    return item->name != NULL;
}

static void report_twice(vyre_lower *lower, vyre_spot spot, uint32_t symbol) {
    vyre_source *source = &lower->unit->source;
    uint32_t item = lower->unit->names.symbols.items[symbol].item;
    uint32_t first = lower->unit->items.items[item].spot.line, line = spot.line;
    vyre_name_text text;
    lower_name(lower, symbol, &text);
    bool is_one_file =
        vyre_source_part_of_line(source, first) == vyre_source_part_of_line(source, line);
    const char *file = vyre_source_file_of(source, &first);
    if (is_one_file) {
        vyre_source_report(source, spot, 202, "rename one of them",
                           "`%s` is declared twice in this file, first in line %u", text.text,
                           first);
    } else {
        vyre_source_report(source, spot, 202, "rename one of them",
                           "`%s` is also declared in line %u of %s", text.text, first,
                           file ? file : vyre_source_name(source->name));
    }
}

/* Enters an item by its name, unless the name is wrong, which the parser reports, or taken. */
static bool declare(vyre_lower *lower, vyre_item item, const vyre_token *name) {
    uint32_t number = (uint32_t)lower->unit->items.count;
    item.origin = VYRE_NONE;
    if (name->kind == VYRE_TOKEN_NAME) {
        vyre_symbol *symbol = &lower->unit->names.symbols.items[name->symbol];
        const vyre_word *word = vyre_word_of(symbol->word);
        bool reserved = word->class_of == VYRE_WORD_OP && !vyre_word_gives_way(word);
        item.symbol = name->symbol;
        item.spot = vyre_token_spot(name);
        if (symbol->item != VYRE_NONE && !is_other_instance(lower, symbol->item, &item)) {
            report_twice(lower, item.spot, name->symbol);
        } else if (!reserved && symbol->item == VYRE_NONE) {
            symbol->item = number;
            symbol->part = (uint8_t)vyre_source_part_of_line(&lower->unit->source, name->line);
            symbol->is_program = item.kind == VYRE_ITEM_PROGRAM;
            symbol->generic = item.generic;
        }
    }
    bool room = true;
    if (item.kind == VYRE_ITEM_FUNCTION) {
        item.index = (uint32_t)lower->unit->functions.count;
        room = vyre_vec_push(&lower->unit->functions, (vyre_function){.item = number});
    } else if (item.kind == VYRE_ITEM_CONSTANT) {
        item.index = (uint32_t)lower->unit->constants.count;
        room = vyre_vec_push(&lower->unit->constants, (vyre_constant){.item = number});
    } else if (item.kind == VYRE_ITEM_STRUCT && item.symbol != VYRE_NONE) {
        item.index = lower_declare_struct(lower, number, name);
    }
    return room && vyre_vec_push(&lower->unit->items, item);
}

void lower_find_items(vyre_lower *lower) {
    vyre_lexer lexer;
    vyre_lexer_init(&lexer, &lower->unit->source, &lower->unit->names);
    for (vyre_lexer_find_item(&lexer); lexer.at < lower->unit->source.end;
         vyre_lexer_find_item(&lexer)) {
        vyre_item item = {.symbol = VYRE_NONE, .place = lexer};
        vyre_token keyword, name;
        vyre_lexer_next(&lexer, &keyword);
        vyre_lexer ahead = lexer;
        vyre_lexer_next(&ahead, &name);
        item.kind = keyword.kind == VYRE_TOKEN_FN      ? VYRE_ITEM_FUNCTION
                    : keyword.kind == VYRE_TOKEN_CONST ? VYRE_ITEM_CONSTANT
                    : keyword.kind == VYRE_TOKEN_NAME  ? VYRE_ITEM_STRUCT
                                                       : VYRE_ITEM_PROGRAM;
        if (item.kind == VYRE_ITEM_FUNCTION || item.kind == VYRE_ITEM_PROGRAM) {
            bool is_program = item.kind == VYRE_ITEM_PROGRAM && name.kind == VYRE_TOKEN_NAME;
            item.name = is_program ? stated_name(lower, &name, ahead) : NULL;
            vyre_token behind;
            vyre_lexer_next(&ahead, &behind);
            item.generic = behind.kind == VYRE_TOKEN_LESS && !item.name;
        }
        if (keyword.kind == VYRE_TOKEN_END || lower->unit->source.no_memory ||
            !declare(lower, item, &name)) {
            vyre_free(item.name);
            lower_no_memory(lower);
            return;
        }
    }
    lower->unit->source.hides_items = lower->unit->source.part_count > 1;
}

/* What stands in front of the first item is wrong, whatever it is. */
static void check_start(vyre_lower *lower) {
    vyre_lexer start;
    vyre_lexer_init(&start, &lower->unit->source, &lower->unit->names);
    vyre_parser_open(&lower->parser, &start);
    vyre_parser_end(&lower->parser);
}

/* The type parameters of a program, which calls have to know. */
static void survey_program(vyre_lower *lower, uint32_t number) {
    vyre_parser *parser = &lower->parser;
    vyre_parser_state saved = parser->state;
    vyre_parser_open(parser, &lower->unit->items.items[number].place);
    parser->blind = true;
    vyre_node node = lower_node(lower, vyre_parse_item(parser));
    if (node.kind == VYRE_NODE_PROGRAM) {
        lower_keep_type_parameters(lower, number,
                                   vyre_parser_part(parser, node.b, VYRE_PROGRAM_TYPES));
        parser->blocks.count = parser->state.base;
    }
    parser->blind = false;
    vyre_parser_forget_types(parser);
    vyre_parser_restore(parser, &saved);
}

void lower_read_unit(vyre_lower *lower) {
    lower->unit->instance = VYRE_NONE;
    lower_read_uses(lower);
    if (lower->unit->source.no_memory) {
        return;
    }
    check_start(lower);
    lower_check_uses(lower);
    lower_find_items(lower);
    lower_read_structs(lower);
    for (uint32_t i = 0; i < lower->unit->items.count && !lower->unit->source.no_memory; i++) {
        const vyre_item *item = &lower->unit->items.items[i];
        if (item->kind == VYRE_ITEM_PROGRAM && item->generic) {
            survey_program(lower, i);
        }
    }
    for (uint32_t i = 0; i < lower->unit->functions.count && !lower->unit->source.no_memory &&
                         !vyre_diagnostics_full(lower->unit->source.diagnostics);
         i++) {
        lower_survey(lower, i);
    }
}

void lower_free_unit(vyre_unit *unit) {
    vyre_names_deinit(&unit->names);
    for (size_t i = 0; i < unit->items.count; i++) {
        vyre_free(unit->items.items[i].name);
    }
    vyre_vec_free(&unit->items);
    vyre_vec_free(&unit->type_parameters);
    vyre_vec_free(&unit->type_arguments);
    for (size_t i = 0; i < unit->constants.count; i++) {
        vyre_vec_free(&unit->constants.items[i].bits);
    }
    vyre_vec_free(&unit->constants);
    vyre_vec_free(&unit->functions);
    vyre_vec_free(&unit->parameters);
    vyre_vec_free(&unit->result_types);
    vyre_vec_free(&unit->callees);
    vyre_vec_free(&unit->parts);
    vyre_vec_free(&unit->uses);
    vyre_arena_deinit(&unit->files);
}

/* Without memory everything ends, in all texts. */
void lower_switch(vyre_lower *lower, vyre_unit *unit) {
    unit->source.no_memory |= lower->unit->source.no_memory;
    lower->unit = unit;
    lower->parser.source = &unit->source;
    lower->parser.names = &unit->names;
}

const char *lower_callee_name(vyre_callee callee, vyre_name_text *out) {
    const vyre_item *item = &callee.unit->items.items[callee.item];
    uint32_t symbol = item->symbol;
    vyre_str text = callee.id             ? vyre_str_of(callee.id)
                    : item->name          ? vyre_str_of(item->name)
                    : symbol == VYRE_NONE ? (vyre_str){"fn", 2}
                                          : vyre_symbol_text(&callee.unit->names, symbol);
    size_t size = text.size < sizeof out->text ? text.size : sizeof out->text - 1;
    memcpy(out->text, text.data, size);
    out->text[size] = '\0';
    return out->text;
}

void lower_enter(vyre_lower *lower, vyre_callee callee, vyre_spot call, vyre_caller *out_caller) {
    vyre_unit *unit = callee.unit, *from = lower->unit;
    vyre_name_text text;
    *out_caller = (vyre_caller){
        .unit = from,
        .callee = unit,
        .parser = lower->parser.state,
        .site = {.function = callee.id ? callee.id : unit->items.items[callee.item].name,
                 .line = call.line,
                 .column = call.column,
                 .caller = from->source.calls},
        .calls = unit->source.calls,
        .names_frame = unit->names.frame,
        .function = lower->function,
        .frame = lower->frame,
        .returned = lower->returned,
        .spliced = lower->spliced,
        .silent = lower->silent,
        .failed = lower->parser.failed,
        .splice = lower->splice,
    };
    out_caller->site.file = vyre_source_file_of(&from->source, &out_caller->site.line);
    lower_at(lower, call);
    uint32_t part =
        vyre_source_part_of_line(&unit->source, unit->items.items[callee.item].spot.line);
    const char *file = part ? unit->source.parts[part].file : NULL;
    lower_callee_name(callee, &text);
    if (callee.id || file) {
        vyre_build_scope_of(lower->builder, text.text, file ? file : unit->source.name);
    } else {
        vyre_build_scope(lower->builder, text.text);
    }
    if (out_caller->site.function) {
        unit->source.calls = &out_caller->site;
    }
    out_caller->instance = lower_bind_types(unit, callee.item);
    if (!vyre_vec_push(&lower->calls, callee)) {
        lower_no_memory(lower);
    }
    lower_switch(lower, unit);
    unit->names.frame = (uint32_t)unit->names.bindings.count;
    lower->frame = lower->blocks.count;
    lower->silent |= unit->source.foreign;
}

void lower_leave(vyre_lower *lower, const vyre_caller *caller) {
    vyre_build_scope_end(lower->builder);
    lower->calls.count -= lower->calls.count ? 1 : 0;
    caller->callee->names.frame = caller->names_frame;
    caller->callee->source.calls = caller->calls;
    lower_bind_types(caller->callee, caller->instance);
    lower_switch(lower, caller->unit);
    lower->function = caller->function;
    lower->frame = caller->frame;
    lower->returned = caller->returned;
    lower->spliced = caller->spliced;
    lower->silent = caller->silent;
    lower->splice = caller->splice;
    lower->parser.failed = caller->failed;
}
