#include "text/lower.h"
#include "text/lower_sum.h"

#include <string.h>

#include "base/near.h"
#include "base/strbuf.h"
#include "ir/diagnostic.h"
#include "ir/lookup.h"
#include "text/foreign.h"

void lower_no_memory(vyre_lower *lower) {
    lower->unit->source.no_memory = true;
    lower->parser.state.lexer.at = lower->unit->source.end;
    lower->parser.state.token.kind = VYRE_TOKEN_END;
}

bool lower_start(vyre_lower *lower, const char *name) {
    vyre_status status = lower->spare ? vyre_builder_reset(lower->spare, name)
                                      : vyre_builder_create(name, &lower->spare);
    if (status) {
        vyre_status_free(status);
        lower_no_memory(lower);
        return false;
    }
    lower->builder = lower->spare;
    lower->program++;
    lower->shapes.count = 0;
    lower->views.count = 0;
    lower->has_sums = lower->adds = false;
    return true;
}

void lower_report(vyre_lower *lower, vyre_spot spot, uint32_t code, const char *fix,
                  const char *format, ...) {
    vyre_strbuf message = {0};
    va_list arguments;
    va_start(arguments, format);
    vyre_strbuf_vprintf(&message, format, arguments);
    va_end(arguments);
    if (message.failed) {
        lower_no_memory(lower);
    } else if (lower->builder) {
        lower_at(lower, spot);
        vyre_build_report(lower->builder, code, fix, "%s", message.data);
    } else {
        vyre_source_report(&lower->unit->source, spot, code, fix, "%s", message.data);
        lower->poisoned = true;
    }
    vyre_strbuf_free(&message);
}

/* The line of a diagnostic, if it is about this text or one of its files. */
static const char *find_excerpt(const vyre_source *source, const vyre_diagnostic *item,
                                vyre_source_line *out) {
    for (uint32_t i = 1; i < source->part_count; i++) {
        if (source->parts[i].file && !strcmp(source->parts[i].file, item->file)) {
            return vyre_source_excerpt(source, source->parts[i].lines_before + item->line, out);
        }
    }
    bool is_own = source->foreign && !strcmp(source->name, item->file);
    return is_own ? vyre_source_excerpt(source, item->line, out) : NULL;
}

void lower_keep(vyre_lower *lower, const vyre_diagnostic *item) {
    vyre_diagnostic kept = *item;
    vyre_source_line line;
    if (item->file && item->severity != VYRE_SEVERITY_ERROR) {
        return;
    }
    if (item->file && !kept.excerpt) {
        kept.excerpt = find_excerpt(&lower->unit->source, item, &line);
    }
    for (size_t i = 0; i < lower->units.count && item->file && !kept.excerpt; i++) {
        kept.excerpt = find_excerpt(&lower->units.items[i]->source, item, &line);
    }
    vyre_diagnostics_add(lower->unit->source.diagnostics, &kept, item->code, item->fix, "%s",
                         item->message);
}

void lower_spoil(vyre_lower *lower) {
    const vyre_diagnostics *list = lower->unit->source.diagnostics;
    if (!lower->builder || !(lower->parser.failed || lower->poisoned) ||
        vyre_builder_errors(lower->builder)) {
        return;
    }
    for (size_t i = 0; i < vyre_diagnostics_count(list); i++) {
        const vyre_diagnostic *item = vyre_diagnostics_get(list, i);
        if (item->severity == VYRE_SEVERITY_ERROR) {
            vyre_builder_repeat(lower->builder, item);
            return;
        }
    }
}

bool lower_has_mistakes(const vyre_lower *lower) {
    return lower->poisoned || lower->parser.failed || vyre_builder_errors(lower->builder);
}

const char *lower_name(const vyre_lower *lower, uint32_t symbol, vyre_name_text *out) {
    vyre_str text =
        symbol == VYRE_NONE ? (vyre_str){"fn", 2} : vyre_symbol_text(&lower->unit->names, symbol);
    memcpy(out->text, text.data, text.size);
    out->text[text.size] = '\0';
    return out->text;
}

bool lower_push(vyre_lower *lower, uint32_t value) {
    bool stored = vyre_vec_push(&lower->values, value);
    if (!stored) {
        lower_no_memory(lower);
    }
    return stored;
}

bool lower_push_none(vyre_lower *lower, uint32_t count) {
    bool stored = true;
    for (uint32_t i = 0; i < count && stored; i++) {
        stored = lower_push(lower, VYRE_NONE);
    }
    return stored;
}

/* Whether the text declares something to call: nothing else hides a function of the language. */
static bool is_declared(const vyre_unit *unit, uint32_t symbol) {
    uint32_t item = unit->names.symbols.items[symbol].item;
    return item != VYRE_NONE && (unit->items.items[item].kind == VYRE_ITEM_FUNCTION ||
                                 unit->items.items[item].kind == VYRE_ITEM_STRUCT);
}

const vyre_word *lower_word(const vyre_lower *lower, uint32_t symbol) {
    const vyre_symbol *found = &lower->unit->names.symbols.items[symbol];
    const vyre_word *word = vyre_word_of(found->word);
    bool is_hidden =
        vyre_word_gives_way(word) &&
        (found->item != VYRE_NONE || vyre_names_find(&lower->unit->names, symbol) != NULL);
    return is_hidden ? vyre_word_of(0) : word;
}

/* The word `step` of a loop, where it is called. */
static const vyre_word called_step = {"step", VYRE_WORD_FUNCTION, VYRE_SMALL_STEP, 0};

const vyre_word *lower_called(const vyre_lower *lower, vyre_node node) {
    if (node.kind != VYRE_NODE_CALL) {
        return vyre_word_of(0);
    }
    const vyre_word *word = vyre_word_of(lower->unit->names.symbols.items[node.a].word);
    bool is_step = word->class_of == VYRE_WORD_CONTEXT && word->code == VYRE_WORD_STEP;
    bool is_hidden = (is_step || vyre_word_gives_way(word)) && is_declared(lower->unit, node.a);
    return is_hidden ? vyre_word_of(0) : is_step ? &called_step : word;
}

void lower_bind(vyre_lower *lower, vyre_node name, vyre_name_binding binding) {
    vyre_str own =
        name.kind == VYRE_NODE_NAME ? vyre_symbol_text(&lower->unit->names, name.a) : (vyre_str){0};
    if (!own.size || (own.size == 1 && *own.data == '_')) {
        return; /* `_` is for what nobody wants to name */
    }
    const vyre_name_binding *found = vyre_names_find(&lower->unit->names, name.a);
    uint32_t scope = lower->blocks.items[lower->blocks.count - 1].bindings;
    if (found && found >= lower->unit->names.bindings.items + scope &&
        found->kind != VYRE_BINDING_POISON) {
        vyre_name_text text;
        uint32_t first = found->line;
        vyre_source_file_of(&lower->unit->source, &first);
        lower_report(lower, vyre_node_spot(&name), 202, "rename one of them",
                     "`%s` is declared twice in this block, first in line %u",
                     lower_name(lower, name.a, &text), first);
        binding.kind = VYRE_BINDING_POISON;
    }
    if (vyre_word_is_reserved(own)) {
        binding.kind = VYRE_BINDING_POISON; /* reserved, as the parser said */
    }
    binding.used |= lower->blocks.items[lower->blocks.count - 1].warned; /* that is enough */
    binding.symbol = name.a;
    binding.line = name.line;
    binding.column = name.column;
    binding.used |= *own.data == '_';
    if (!vyre_names_bind(&lower->unit->names, binding)) {
        lower_no_memory(lower);
    }
}

const char *lower_kind_of(const vyre_lower *lower, uint32_t symbol) {
    static const char *const bindings[] = {
        [VYRE_BINDING_POISON] = "a mistake",      [VYRE_BINDING_VALUE] = "a value",
        [VYRE_BINDING_PARAMETER] = "a parameter", [VYRE_BINDING_COUNTER] = "the counter of a loop",
        [VYRE_BINDING_VARIABLE] = "a variable",   [VYRE_BINDING_SCALAR] = "an argument",
        [VYRE_BINDING_ARRAY] = "an array",        [VYRE_BINDING_REPEAT] = "the count of a repeat",
        [VYRE_BINDING_NUMBER] = "an argument",    [VYRE_BINDING_SIZE] = "an argument"};
    static const char *const items[] = {[VYRE_ITEM_PROGRAM] = "a program",
                                        [VYRE_ITEM_FUNCTION] = "a function",
                                        [VYRE_ITEM_CONSTANT] = "a constant",
                                        [VYRE_ITEM_STRUCT] = "a struct"};
    const vyre_name_binding *binding = vyre_names_find(&lower->unit->names, symbol);
    if (binding) {
        return bindings[binding->kind];
    }
    uint32_t item = lower->unit->names.symbols.items[symbol].item;
    return item == VYRE_NONE ? "part of the language" : items[lower->unit->items.items[item].kind];
}

static bool is_function_word(uint32_t word) {
    return (word >= VYRE_WORD_VEC2 && word <= VYRE_WORD_ALL) ||
           lower_is_sum_word((vyre_context_word)word);
}

vyre_context_word lower_function_word(const vyre_unit *unit, uint32_t symbol) {
    uint32_t word = unit->names.symbols.items[symbol].word;
    return is_function_word(word) && !is_declared(unit, symbol) ? (vyre_context_word)word
                                                                : VYRE_WORD_NO_CONTEXT;
}

/* Names one could have meant: locals that are visible, items of the file, words of the language. */
static void find_near(const vyre_lower *lower, vyre_near *near, bool is_call) {
    const vyre_names *names = &lower->unit->names;
    for (size_t i = names->frame; i < names->bindings.count && !is_call; i++) {
        vyre_near_add(near, vyre_symbol_text(names, names->bindings.items[i].symbol));
    }
    for (size_t i = 0; i < lower->unit->items.count; i++) {
        const vyre_item *item = &lower->unit->items.items[i];
        bool fits = is_call ? item->kind == VYRE_ITEM_FUNCTION || item->kind == VYRE_ITEM_STRUCT
                            : item->kind == VYRE_ITEM_CONSTANT;
        if (fits && item->symbol != VYRE_NONE && item->origin == VYRE_NONE) {
            vyre_near_add(near, vyre_symbol_text(names, item->symbol));
        }
    }
    for (uint32_t i = 1; i < vyre_word_count(); i++) {
        const vyre_word *word = vyre_word_of(i);
        bool stands_alone = word->class_of == VYRE_WORD_OP && vyre_op_is_position(word->code);
        bool is_called = (word->class_of == VYRE_WORD_OP && !stands_alone) ||
                         word->class_of == VYRE_WORD_FUNCTION ||
                         (word->class_of == VYRE_WORD_CONTEXT && is_function_word(word->code));
        vyre_str text = {word->text, strlen(word->text)};
        if (vyre_word_find(text) == i && (is_call ? is_called : stands_alone)) {
            vyre_near_add(near, text);
        }
    }
}

/* One report of a word of other languages is enough for a line, as in the index of a thread. */
static bool is_told(vyre_lower *lower, uint32_t line) {
    bool told =
        lower->foreign_line == line && lower->builder && vyre_builder_errors(lower->builder) > 0;
    lower->foreign_line = line;
    return told;
}

/* From here on the name is passed over in silence. */
static void poison_name(vyre_lower *lower, uint32_t symbol, bool is_call) {
    vyre_name_binding poison = {.symbol = symbol, .kind = VYRE_BINDING_POISON, .used = true};
    if (!is_call && lower->builder && lower->blocks.count &&
        !vyre_names_bind(&lower->unit->names, poison)) {
        lower_no_memory(lower);
    }
}

void lower_unknown(vyre_lower *lower, vyre_node node, uint32_t symbol, bool is_call) {
    vyre_str text = vyre_symbol_text(&lower->unit->names, symbol);
    const vyre_word *word = lower_word(lower, symbol);
    vyre_strbuf fix = {0};
    if (lower->builder && vyre_builder_errors(lower->builder) > VYRE_LIMIT_DIAGNOSTICS) {
        return; /* nobody will see it */
    }
    const char *foreign = vyre_foreign_fix(text), *type = vyre_foreign_type(text);
    const char *file = lower_hidden_in(lower, text);
    if (!file && foreign && is_told(lower, node.line)) {
        poison_name(lower, symbol, is_call);
        return;
    }
    if (file) {
        vyre_strbuf_printf(&fix, "move it out of %s, into a file that both use", file);
    } else if (foreign) {
        vyre_strbuf_puts(&fix, foreign);
    } else if (type) {
        vyre_strbuf_printf(&fix, is_call ? "write %s(...)" : "write %s", type);
    } else if (word->class_of == VYRE_WORD_OPERATOR && is_call) {
        vyre_strbuf_printf(&fix, "write it as an operator: %s",
                           vyre_operator_form((vyre_op)word->code));
    } else {
        vyre_near near;
        vyre_near_init(&near, text);
        find_near(lower, &near, is_call);
        if (is_call) {
            lower_near_used(lower, node.line, &near);
        }
        vyre_near_print(&near, &fix, "did you mean ");
        vyre_strbuf_puts(&fix, near.count ? "?"
                               : is_call
                                   ? "declare a function of that name with `fn`; `vyre help "
                                     "operations` lists the operations"
                                   : "declare it with `let`, `var` or `const` before using it");
    }
    vyre_spot spot = vyre_node_spot(&node);
    lower_report(lower, spot, is_call ? 206 : 201, vyre_strbuf_string(&fix),
                 is_call ? "unknown operation or function `%.*s`" : "unknown name `%.*s`",
                 (int)text.size, text.data);
    if (fix.failed) {
        lower_no_memory(lower);
    }
    vyre_strbuf_free(&fix);
    poison_name(lower, symbol, is_call);
}

bool lower_open(vyre_lower *lower, vyre_lower_block block) {
    block.bindings = (uint32_t)lower->unit->names.bindings.count;
    if (!vyre_vec_push(&lower->blocks, block)) {
        lower_no_memory(lower);
        return false;
    }
    return true;
}

static void warn_unused(vyre_lower *lower, const vyre_name_binding *binding) {
    static const char *const kinds[] = {[VYRE_BINDING_VALUE] = "value",
                                        [VYRE_BINDING_PARAMETER] = "parameter",
                                        [VYRE_BINDING_VARIABLE] = "variable",
                                        [VYRE_BINDING_ARRAY] = "array"};
    if (binding->used || lower->silent || lower_has_mistakes(lower) ||
        binding->kind >= sizeof kinds / sizeof *kinds || !kinds[binding->kind]) {
        return;
    }
    vyre_name_text text;
    const char *name = lower_name(lower, binding->symbol, &text);
    vyre_spot spot = {binding->line, binding->column, (uint32_t)strlen(name)};
    lower_report(lower, spot, 801, "remove it, or start its name with `_` to keep it",
                 "the %s `%s` is never used", kinds[binding->kind], name);
}

void lower_forget(vyre_lower *lower, uint32_t bindings) {
    while (lower->unit->names.bindings.count > bindings) {
        warn_unused(lower,
                    &lower->unit->names.bindings.items[lower->unit->names.bindings.count - 1]);
        vyre_names_pop(&lower->unit->names);
    }
}

void lower_close(vyre_lower *lower) {
    lower_forget(lower, lower->blocks.items[--lower->blocks.count].bindings);
}
