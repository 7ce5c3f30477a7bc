#include <stdio.h>
#include <string.h>

#include "text/lower.h"

/* What is known about a function */

enum { PURITY_UNKNOWN, PURITY_PURE, PURITY_IMPURE };

static bool read_signature(vyre_lower *lower, vyre_function *function, vyre_node node) {
    const vyre_parser *parser = &lower->parser;
    uint32_t parameters = vyre_parser_part(parser, node.b, VYRE_FUNCTION_PARAMETERS);
    uint32_t results = vyre_parser_part(parser, node.b, VYRE_FUNCTION_RESULTS);
    function->parameters = (uint32_t)lower->unit->parameters.count;
    function->parameter_count = vyre_parser_count(parser, parameters);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        uint32_t argument = vyre_parser_item(parser, parameters, i);
        if (!vyre_vec_push(&lower->unit->parameters, lower_parameter(lower, argument))) {
            return false;
        }
    }
    function->results = (uint32_t)lower->unit->result_types.count;
    function->result_count = vyre_parser_count(parser, results);
    for (uint32_t i = 0; i < function->result_count; i++) {
        vyre_node type = vyre_parser_node(parser, vyre_parser_item(parser, results, i));
        if (!vyre_vec_push(&lower->unit->result_types, type.detail)) {
            return false;
        }
    }
    return true;
}

/* Notes what a statement does, from its nodes. */
static bool note_nodes(vyre_lower *lower, vyre_function *function) {
    const vyre_parser *parser = &lower->parser;
    for (size_t i = parser->state.nodes; i < parser->syntax.nodes.count; i++) {
        vyre_node node = parser->syntax.nodes.items[i];
        switch (node.kind) {
        case VYRE_NODE_ELEMENT:
        case VYRE_NODE_LIBRARY_CALL:
        case VYRE_NODE_ARRAY:
        case VYRE_NODE_BARRIER:
        case VYRE_NODE_WHILE:
        case VYRE_NODE_LOOP:
        case VYRE_NODE_FOR: function->touches = true; break;
        case VYRE_NODE_CALL: {
            const vyre_word *word = lower_called(lower, node);
            if (word->class_of == VYRE_WORD_OP) {
                function->touches |= vyre_op_info_of(word->code)->effects != 0;
            } else if (word->class_of != VYRE_WORD_FUNCTION &&
                       !vyre_vec_push(&lower->unit->callees, node.a)) {
                return false;
            }
            break;
        }
        default: break;
        }
    }
    return true;
}

static bool is_inside_inline(const vyre_parser *parser) {
    for (size_t i = parser->state.base; i < parser->blocks.count; i++) {
        if (parser->blocks.items[i].kind == VYRE_NODE_INLINE) {
            return true;
        }
    }
    return false;
}

static bool survey_body(vyre_lower *lower, vyre_function *function) {
    vyre_parser *parser = &lower->parser;
    function->callees = (uint32_t)lower->unit->callees.count;
    for (uint32_t node; (node = vyre_parse_next(parser)) != VYRE_NONE;) {
        vyre_node head = vyre_parser_node(parser, node);
        if (head.kind == VYRE_NODE_END && head.detail == VYRE_NODE_FUNCTION) {
            continue;
        }
        function->early |= function->last; /* something follows what seemed the last return */
        if (head.kind == VYRE_NODE_RETURN && !is_inside_inline(parser)) {
            bool outermost = parser->blocks.count == parser->state.base + 1;
            function->last = outermost;
            function->early |= !outermost;
        }
        if (!note_nodes(lower, function)) {
            return false;
        }
    }
    function->callee_count = (uint32_t)lower->unit->callees.count - function->callees;
    return true;
}

void lower_survey(vyre_lower *lower, uint32_t number) {
    vyre_parser *parser = &lower->parser;
    vyre_function function = lower->unit->functions.items[number];
    vyre_parser_state saved = parser->state;
    vyre_parser_open(parser, &lower->unit->items.items[function.item].place);
    uint32_t node = vyre_parse_item(parser);
    bool failed = parser->failed;
    if (vyre_parser_node(parser, node).kind == VYRE_NODE_FUNCTION) {
        bool memory = read_signature(lower, &function, vyre_parser_node(parser, node));
        function.body = vyre_parser_here(parser);
        vyre_parse_body(parser);
        if (!memory || !survey_body(lower, &function)) {
            lower_no_memory(lower);
        }
        failed |= parser->failed;
        vyre_parser_end(parser);
    } else {
        function.failed = true;
    }
    function.broken = failed;
    vyre_parser_restore(parser, &saved);
    lower->unit->functions.items[number] = function;
}

vyre_lower_parameter lower_parameter(const vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number), name = lower_node(lower, node.a);
    return (vyre_lower_parameter){name.kind == VYRE_NODE_NAME ? name.a : VYRE_NONE, name.line,
                                  name.column, node.detail, name.detail};
}

bool lower_is_pure(const vyre_unit *unit, uint32_t number, uint32_t depth) {
    enum { DEEPEST = 64 };
    vyre_function *function = &unit->functions.items[number];
    if (function->purity != PURITY_UNKNOWN || depth > DEEPEST) {
        return function->purity == PURITY_PURE;
    }
    function->purity = PURITY_IMPURE; /* until proven; also what a circle of calls finds */
    bool pure = !function->touches;
    for (uint32_t i = 0; i < function->callee_count && pure; i++) {
        uint32_t symbol = unit->callees.items[function->callees + i];
        uint32_t item = unit->names.symbols.items[symbol].item;
        pure = item != VYRE_NONE && unit->items.items[item].kind == VYRE_ITEM_FUNCTION &&
               lower_is_pure(unit, unit->items.items[item].index, depth + 1);
    }
    function->purity = pure ? PURITY_PURE : PURITY_IMPURE;
    return pure;
}

/* Inlining */

void lower_statements(vyre_lower *lower) {
    vyre_parser *parser = &lower->parser;
    for (uint32_t node; (node = vyre_parse_next(parser)) != VYRE_NONE;) {
        if (lower->function != VYRE_NONE || lower->splice) {
            lower->inlined += parser->syntax.nodes.count - parser->state.nodes;
        }
        lower_statement(lower, node);
        if (lower->unit->source.no_memory) {
            return;
        }
    }
}

static void bind_parameters(vyre_lower *lower, const vyre_function *function, size_t arguments) {
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        vyre_lower_parameter parameter = lower->unit->parameters.items[function->parameters + i];
        uint32_t handle = lower->values.items[arguments + i];
        if (parameter.symbol == VYRE_NONE) {
            continue;
        }
        vyre_node name = {
            .kind = VYRE_NODE_NAME,
            .line = parameter.line,
            .column = parameter.column,
            .length = (uint32_t)vyre_symbol_text(&lower->unit->names, parameter.symbol).size,
            .a = parameter.symbol};
        bool is_array = parameter.kind != VYRE_ARGUMENT_SCALAR;
        vyre_name_binding binding = {.kind = handle == VYRE_NONE ? VYRE_BINDING_POISON
                                             : is_array          ? VYRE_BINDING_ARRAY
                                                                 : VYRE_BINDING_PARAMETER,
                                     .type = parameter.type,
                                     .handle = handle,
                                     .size = VYRE_NONE,
                                     .writable = parameter.kind == VYRE_ARGUMENT_INOUT};
        lower_bind(lower, name, binding);
    }
}

/* Values that leave the function: pushed in place of its arguments. */
static void push_results(vyre_lower *lower, const vyre_function *function, size_t base,
                         bool by_block) {
    uint32_t count = function->result_count;
    size_t returned = lower->returned;
    bool has_returned = returned != VYRE_NOT_RETURNED;
    lower->values.count = has_returned ? lower->values.count : base;
    if (!vyre_vec_reserve(&lower->values, count)) {
        lower_no_memory(lower);
        return;
    }
    uint32_t *results = lower->values.items + base;
    if (by_block) {
        vyre_build_inline_end(lower->builder, count, results);
    } else if (has_returned) {
        memmove(results, lower->values.items + returned, count * sizeof *results);
    } else {
        memset(results, 0xff, count * sizeof *results);
    }
    lower->values.count = base + count;
}

/* The body of a function, whose arguments are the values from `arguments` on; its results take
 * their place. */
static void inline_body(vyre_lower *lower, vyre_callee callee, size_t arguments, vyre_spot call) {
    vyre_function function = *lower_function_of(callee);
    vyre_name_text text;
    lower_callee_name(callee, &text);
    size_t errors = vyre_builder_errors(lower->builder);
    vyre_caller caller;
    lower_enter(lower, callee, call, &caller);
    bool own_block = function.early;
    if (own_block) {
        vyre_build_inline(lower->builder);
    }
    lower->function = callee.unit->items.items[callee.item].index;
    lower->spliced = !own_block;
    lower->returned = VYRE_NOT_RETURNED;
    lower->silent |= function.seen;
    if (lower_open(lower, (vyre_lower_block){.kind = VYRE_NODE_FUNCTION})) {
        bind_parameters(lower, &function, arguments);
        vyre_parser_open(&lower->parser, &function.body);
        vyre_parse_body(&lower->parser);
        lower_statements(lower);
        vyre_parser_restore(&lower->parser, &caller.parser);
    }
    if (function.result_count && lower->returned == VYRE_NOT_RETURNED &&
        vyre_build_reachable(lower->builder) && !function.broken) {
        lower_report(lower, lower->end, 505, "end the function with `return` and its value",
                     "a path reaches the end of `%s` without returning a value", text.text);
    }
    push_results(lower, &function, arguments, own_block);
    lower_function_of(callee)->seen = true;
    lower_function_of(callee)->failed |= vyre_builder_errors(lower->builder) > errors;
    lower_leave(lower, &caller);
}

const vyre_name_binding *lower_array_argument(vyre_lower *lower, uint32_t node,
                                              vyre_lower_parameter parameter, uint32_t position,
                                              vyre_callee callee) {
    vyre_node head = lower_node(lower, node);
    vyre_spot spot = vyre_node_spot(&head);
    vyre_name_text name;
    vyre_strbuf how = {0};
    if (head.kind != VYRE_NODE_NAME) {
        if (head.kind != VYRE_NODE_ERROR) {
            lower_report(lower, spot, 309,
                         lower_how(callee, "pass the name of an array, without an index", &how),
                         "argument %u of `%s` is a value, expected an array", position,
                         lower_callee_name(callee, &name));
            vyre_strbuf_free(&how);
        }
        return NULL;
    }
    const vyre_name_binding *array = lower_array(lower, head, head.a);
    if (!array) {
        return NULL;
    }
    if (parameter.type != VYRE_TYPE_VOID && array->type != parameter.type) {
        lower_report(lower, spot, 301,
                     lower_how(callee, "pass an array of that type, or change the parameter", &how),
                     "argument %u of `%s` has %s elements, expected %s", position,
                     lower_callee_name(callee, &name), vyre_type_name((vyre_type)array->type),
                     vyre_type_name((vyre_type)parameter.type));
        vyre_strbuf_free(&how);
        return NULL;
    }
    bool is_written = parameter.kind == VYRE_ARGUMENT_INOUT || parameter.kind == VYRE_ARGUMENT_OUT;
    return is_written && !lower_check_writable(lower, head, array) ? NULL : array;
}

static uint32_t lower_scalar_argument(vyre_lower *lower, uint32_t node,
                                      vyre_lower_parameter parameter, uint32_t position,
                                      const char *name) {
    vyre_type wanted = (vyre_type)parameter.type, found;
    uint32_t value = lower_value(lower, node, wanted, &found);
    if (value != VYRE_NONE && wanted != VYRE_TYPE_VOID && found != wanted) {
        char fix[40];
        snprintf(fix, sizeof fix, "convert it with %s(...)", vyre_type_name(wanted));
        lower_report(lower, lower_spot(lower, node), 301, fix,
                     "argument %u of `%s` is %s, expected %s", position, name,
                     vyre_type_name(found), vyre_type_name(wanted));
        return VYRE_NONE;
    }
    return value;
}

/* Reports a circle of calls, with all that are in it. */
static void report_circle(vyre_lower *lower, size_t first, vyre_callee callee, vyre_spot spot) {
    vyre_name_text text;
    vyre_strbuf circle = {0};
    for (size_t i = first; i < lower->calls.count; i++) {
        vyre_strbuf_printf(&circle, "%s -> ", lower_callee_name(lower->calls.items[i], &text));
    }
    vyre_strbuf_puts(&circle, lower_callee_name(callee, &text));
    if (circle.failed) {
        lower_no_memory(lower);
    } else if (first + 1 == lower->calls.count) {
        lower_report(lower, spot, 205, "write a loop; functions are always inlined",
                     "`%s` calls itself", text.text);
    } else {
        lower_report(lower, spot, 205, "write a loop; functions are always inlined",
                     "`%s` calls itself through others: %s", text.text, circle.data);
    }
    vyre_strbuf_free(&circle);
}

bool lower_may_call(vyre_lower *lower, vyre_callee callee, vyre_node call, uint32_t wanted) {
    vyre_spot spot = vyre_node_spot(&call);
    uint32_t found = vyre_parser_count(&lower->parser, call.b);
    for (size_t i = 0; i < lower->calls.count; i++) {
        if (lower->calls.items[i].unit == callee.unit &&
            lower->calls.items[i].item == callee.item) {
            report_circle(lower, i, callee, spot);
            return false;
        }
    }
    if (found && vyre_parser_item(&lower->parser, call.b, found - 1) == 0) {
        return false; /* the list of arguments is broken, as was reported */
    }
    if (found != wanted) {
        vyre_name_text text;
        vyre_strbuf how = {0};
        const char *fix = found < wanted ? "add the missing ones" : "remove the extra ones";
        lower_report(lower, spot, 303, lower_how(callee, fix, &how),
                     "`%s` takes %u argument%s, found %u", lower_callee_name(callee, &text), wanted,
                     wanted == 1 ? "" : "s", found);
        vyre_strbuf_free(&how);
        return false;
    }
    if (lower->exhausted) {
        lower->poisoned = true;
        return false;
    }
    if (lower->inlined > VYRE_LIMIT_INSTRUCTIONS) {
        lower->exhausted = true;
        lower_report(lower, spot, 701, "call functions in fewer places, or in a loop",
                     "inlining makes the program longer than %d instructions",
                     VYRE_LIMIT_INSTRUCTIONS);
        return false;
    }
    if (lower->depth >= VYRE_LIMIT_EXPRESSION_NESTING) {
        lower_report(lower, spot, 701, "nest calls less deeply",
                     "expressions and calls are nested deeper than %d levels",
                     VYRE_LIMIT_EXPRESSION_NESTING);
        return false;
    }
    return true;
}

void lower_inline(vyre_lower *lower, vyre_callee callee, uint32_t call) {
    vyre_node node = lower_node(lower, call);
    vyre_function function = *lower_function_of(callee);
    vyre_name_text text;
    const char *name = lower_callee_name(callee, &text);
    bool allowed = lower_may_call(lower, callee, node, function.parameter_count);
    if (allowed && (function.failed || function.broken)) {
        lower->poisoned = true;
        lower_spoil(lower);
        allowed = false;
    }
    uint32_t count = vyre_parser_count(&lower->parser, node.b);
    size_t base = lower->values.count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t argument = vyre_parser_item(&lower->parser, node.b, i);
        vyre_lower_parameter parameter = {.symbol = VYRE_NONE};
        if (i < function.parameter_count) {
            parameter = callee.unit->parameters.items[function.parameters + i];
        }
        uint32_t value;
        if (parameter.kind == VYRE_ARGUMENT_SCALAR) {
            value = lower_scalar_argument(lower, argument, parameter, i + 1, name);
        } else {
            const vyre_name_binding *array =
                lower_array_argument(lower, argument, parameter, i + 1, callee);
            value = array ? array->handle : VYRE_NONE;
        }
        allowed &= lower_push(lower, value);
    }
    if (allowed) {
        lower->depth++;
        inline_body(lower, callee, base, vyre_node_spot(&node));
        lower->depth--;
        return;
    }
    lower->values.count = base;
    lower_push_none(lower, function.result_count);
}

/* Functions that no program uses */

/* What depends on the program that calls it cannot be told without one. */
static bool depends_on_caller(uint32_t code) {
    return code >= 500 && code < 700 && code != 504 && code != 505 && code != 506;
}

void lower_check_function(vyre_lower *lower, uint32_t number) {
    vyre_function function = lower->unit->functions.items[number];
    vyre_diagnostics *found = NULL;
    vyre_program *program = NULL;
    vyre_status status = vyre_diagnostics_create(&found);
    if (status) {
        goto done;
    }
    if (!lower_start(lower, "check")) {
        goto done;
    }
    vyre_builder *builder = lower->builder;
    size_t base = lower->values.count;
    for (uint32_t i = 0; i < function.parameter_count; i++) {
        vyre_lower_parameter parameter = lower->unit->parameters.items[function.parameters + i];
        vyre_type type = (vyre_type)parameter.type;
        char name[16];
        snprintf(name, sizeof name, "p%u", i);
        uint32_t handle = VYRE_NONE;
        if (type != VYRE_TYPE_VOID) {
            handle = parameter.kind == VYRE_ARGUMENT_SCALAR
                         ? vyre_build_scalar(builder, name, type)
                         : vyre_build_buffer(builder, name, VYRE_ACCESS_INOUT, type, VYRE_NONE);
        }
        if (!lower_push(lower, handle)) {
            goto done;
        }
    }
    vyre_build_phase(builder, &(vyre_phase_desc){.domain = {vyre_build_size_const(builder, 1),
                                                            vyre_build_size_const(builder, 1),
                                                            vyre_build_size_const(builder, 1)},
                                                 .dimensions = 3,
                                                 .workgroup = {16, 2, 1}});
    for (uint32_t i = 0; i < function.parameter_count; i++) {
        if (lower->unit->parameters.items[function.parameters + i].kind == VYRE_ARGUMENT_SCALAR) {
            uint32_t *value = &lower->values.items[base + i];
            *value = *value == VYRE_NONE ? VYRE_NONE : vyre_build_param(builder, *value);
        }
    }
    lower->dimensions = 0;
    lower->poisoned = lower->silent = false;
    lower->function = VYRE_NONE;
    lower->parser.failed = function.broken;
    lower->calls.count = lower->fills.count = lower->written.count = 0;
    lower->splice = NULL;
    inline_body(lower, (vyre_callee){.unit = lower->unit, .item = function.item}, base,
                (vyre_spot){0});
    lower->values.count = base;
    vyre_build_phase_end(builder);
    vyre_status_free(vyre_builder_finish(builder, found, &program));
    for (size_t i = 0; i < vyre_diagnostics_count(found); i++) {
        const vyre_diagnostic *item = vyre_diagnostics_get(found, i);
        if (!depends_on_caller(item->code)) {
            lower_keep(lower, item);
        }
    }
done:
    if (status) {
        vyre_status_free(status);
        lower_no_memory(lower);
    }
    vyre_program_release(program);
    lower->builder = NULL;
    vyre_diagnostics_free(found);
}
