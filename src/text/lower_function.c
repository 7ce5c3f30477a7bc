#include <stdio.h>
#include <string.h>

#include "text/lower.h"
#include "text/lower_array.h"
#include "text/lower_generic.h"
#include "text/lower_let.h"
#include "text/lower_sum.h"

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
        vyre_lower_parameter parameter = lower_parameter(lower, argument);
        function->touches |= parameter.kind == VYRE_ARGUMENT_VARIABLE;
        if (!vyre_vec_push(&lower->unit->parameters, parameter)) {
            return false;
        }
    }
    function->results = (uint32_t)lower->unit->result_types.count;
    function->result_count = vyre_parser_count(parser, results);
    for (uint32_t i = 0; i < function->result_count; i++) {
        vyre_node type = vyre_parser_node(parser, vyre_parser_item(parser, results, i));
        function->result_values += lower_width(lower, type.detail); /* an instance counts anew */
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
    parser->blind = true;
    uint32_t node = vyre_parse_item(parser);
    bool failed = parser->failed;
    if (vyre_parser_node(parser, node).kind == VYRE_NODE_FUNCTION) {
        uint32_t at = vyre_parser_node(parser, node).b;
        lower_keep_type_parameters(lower, function.item,
                                   vyre_parser_part(parser, at, VYRE_FUNCTION_TYPES));
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
    parser->blind = false;
    vyre_parser_forget_types(parser);
    vyre_parser_restore(parser, &saved);
    lower->unit->functions.items[number] = function;
}

vyre_lower_parameter lower_parameter(const vyre_lower *lower, uint32_t number) {
    vyre_node node = lower_node(lower, number), name = lower_node(lower, node.a);
    uint32_t lengths = node.detail == VYRE_ARGUMENT_SCALAR || node.detail == VYRE_ARGUMENT_VARIABLE
                           ? VYRE_NONE
                           : name.b;
    return (vyre_lower_parameter){name.kind == VYRE_NODE_NAME ? name.a : VYRE_NONE,
                                  name.line,
                                  name.column,
                                  (uint8_t)node.detail,
                                  name.detail,
                                  (uint8_t)vyre_parser_count(&lower->parser, lengths)};
}

bool lower_call_is_pure(const vyre_unit *unit, uint32_t symbol, uint32_t depth) {
    uint32_t item = unit->names.symbols.items[symbol].item;
    if (item == VYRE_NONE) {
        vyre_context_word word = lower_function_word(unit, symbol);
        return word != VYRE_WORD_NO_CONTEXT && !lower_is_sum_word(word);
    }
    const vyre_item *row = &unit->items.items[item];
    return row->kind == VYRE_ITEM_STRUCT ||
           (row->kind == VYRE_ITEM_FUNCTION && lower_is_pure(unit, row->index, depth));
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
        pure = lower_call_is_pure(unit, unit->callees.items[function->callees + i], depth + 1);
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

/* How many of `values` an argument is: the scalars of a value, or one handle. */
static uint32_t argument_width(const vyre_lower *lower, vyre_lower_parameter parameter) {
    return parameter.kind == VYRE_ARGUMENT_SCALAR ? lower_width(lower, parameter.type) : 1;
}

/* The handle of an argument that stands in `values`. */
static uint32_t argument_handle(vyre_lower *lower, vyre_lower_parameter parameter, size_t at) {
    if (parameter.kind != VYRE_ARGUMENT_SCALAR || vyre_type_is_scalar(parameter.type)) {
        return lower->values.items[at];
    }
    vyre_operand value = lower_gather(lower, parameter.type, at);
    return value.kind == VYRE_OPERAND_POISON ? VYRE_NONE : (uint32_t)value.value;
}

/* Arguments are the shapes of all, then their values. */
static void bind_parameters(vyre_lower *lower, const vyre_function *function, size_t arguments) {
    static const uint8_t kinds[] = {[VYRE_ARGUMENT_SCALAR] = VYRE_BINDING_PARAMETER,
                                    [VYRE_ARGUMENT_IN] = VYRE_BINDING_ARRAY,
                                    [VYRE_ARGUMENT_INOUT] = VYRE_BINDING_ARRAY,
                                    [VYRE_ARGUMENT_OUT] = VYRE_BINDING_ARRAY,
                                    [VYRE_ARGUMENT_VARIABLE] = VYRE_BINDING_VARIABLE};
    size_t at = arguments + function->parameter_count;
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        vyre_lower_parameter parameter = lower->unit->parameters.items[function->parameters + i];
        uint32_t shape = lower->values.items[arguments + i];
        uint32_t handle = argument_handle(lower, parameter, at);
        at += argument_width(lower, parameter);
        if (parameter.symbol == VYRE_NONE) {
            continue;
        }
        vyre_node name = {
            .kind = VYRE_NODE_NAME,
            .line = parameter.line,
            .column = parameter.column,
            .length = (uint32_t)vyre_symbol_text(&lower->unit->names, parameter.symbol).size,
            .a = parameter.symbol};
        vyre_name_binding binding = {.kind = handle == VYRE_NONE ? VYRE_BINDING_POISON
                                                                 : kinds[parameter.kind],
                                     .type = parameter.type,
                                     .handle = handle,
                                     .size = VYRE_NONE,
                                     .shape = shape,
                                     .writable = parameter.kind == VYRE_ARGUMENT_INOUT,
                                     .used = parameter.kind == VYRE_ARGUMENT_VARIABLE};
        lower_bind(lower, name, binding);
    }
}

/* Values that leave the function: pushed in place of its arguments. */
static void push_results(vyre_lower *lower, const vyre_function *function, size_t base,
                         bool by_block) {
    uint32_t count = function->result_values;
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

/* The body of a function, whose arguments are the values from `arguments` on, as bind_parameters
 * has them; its results take their place. */
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
    uint32_t origin = callee.unit->items.items[callee.item].origin;
    if (origin != VYRE_NONE) {
        callee.unit->functions.items[callee.unit->items.items[origin].index].seen = true;
    }
    lower_function_of(callee)->failed |= vyre_builder_errors(lower->builder) > errors;
    lower_leave(lower, &caller);
}

void lower_inline_values(vyre_lower *lower, vyre_callee callee, size_t arguments, vyre_spot call) {
    lower->depth++;
    inline_body(lower, callee, arguments, call);
    lower->depth--;
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
        vyre_type_text rooms[2];
        lower_report(lower, spot, 301,
                     lower_how(callee, "pass an array of that type, or change the parameter", &how),
                     "argument %u of `%s` has %s elements, expected %s", position,
                     lower_callee_name(callee, &name),
                     lower_type_name(lower, array->type, &rooms[0]),
                     lower_type_name(lower, parameter.type, &rooms[1]));
        vyre_strbuf_free(&how);
        return NULL;
    }
    bool is_written = parameter.kind == VYRE_ARGUMENT_INOUT || parameter.kind == VYRE_ARGUMENT_OUT;
    return is_written && !lower_check_writable(lower, head, array) ? NULL : array;
}

/* Gives a value the type that a parameter has; a mistake if it has another. */
static void settle_value(vyre_lower *lower, vyre_operand *operand, vyre_value_type wanted,
                         uint32_t node, uint32_t position, const char *name) {
    lower_adopt(lower, node, operand, wanted);
    if (operand->kind == VYRE_OPERAND_PLAIN) {
        lower_settle(lower, operand, wanted, lower_spot(lower, node));
    }
    if (operand->kind != VYRE_OPERAND_POISON && wanted != VYRE_TYPE_VOID &&
        operand->type != wanted) {
        vyre_type_text rooms[2];
        char fix[VYRE_LIMIT_NAME_BYTES + 32];
        snprintf(fix, sizeof fix, "%s %s(...)",
                 vyre_type_is_scalar(wanted) ? "convert it with" : "make one with",
                 lower_type_name(lower, wanted, &rooms[0]));
        lower_report(lower, lower_spot(lower, node), 301, fix,
                     "argument %u of `%s` is %s, expected %s", position, name,
                     lower_type_name(lower, operand->type, &rooms[1]),
                     lower_type_name(lower, wanted, &rooms[0]));
        *operand = lower_poison();
    }
}

/* Whether two places of variables share one. */
static bool do_overlap(const vyre_lower *lower, const vyre_text_place *a,
                       const vyre_text_place *b) {
    uint32_t width = lower_width(lower, a->type), others = lower_width(lower, b->type);
    for (uint32_t i = 0; i < width; i++) {
        uint32_t handle = lower_leaf_handle(lower, a->type, (uint32_t)a->handle, i);
        for (uint32_t k = 0; k < others; k++) {
            if (lower_leaf_handle(lower, b->type, (uint32_t)b->handle, k) == handle) {
                return true;
            }
        }
    }
    return false;
}

/* A variable that the function may change, as its handle; its place goes to `places`, with those of
 * the call from `first` on. An element goes into a variable until the function ends. */
static vyre_operand variable_argument(vyre_lower *lower, uint32_t node,
                                      vyre_lower_parameter parameter, uint32_t position,
                                      const char *name, size_t first) {
    vyre_node root = lower_node(lower, node);
    while (root.kind == VYRE_NODE_FIELD) {
        root = lower_node(lower, root.a);
    }
    vyre_text_place place = {.kind = VYRE_PLACE_NONE, .symbol = VYRE_NONE};
    if (root.kind == VYRE_NODE_NAME || root.kind == VYRE_NODE_ELEMENT) {
        place = lower_writable(lower, node);
    } else if (root.kind != VYRE_NODE_ERROR) {
        lower_report(lower, lower_spot(lower, node), 309,
                     "pass a variable, or an element of an array",
                     "argument %u of `%s` is a value, expected something that can be changed",
                     position, name);
    }
    vyre_name_binding *binding =
        place.symbol == VYRE_NONE ? NULL : vyre_names_find(&lower->unit->names, place.symbol);
    if (binding) {
        binding->used = true;
    }
    if (place.kind != VYRE_PLACE_NONE && parameter.type != VYRE_TYPE_VOID &&
        place.type != parameter.type) {
        vyre_type_text rooms[2];
        lower_report(lower, lower_spot(lower, node), 301,
                     "pass a variable of that type, or change the parameter",
                     "argument %u of `%s` is %s, expected a variable of type %s", position, name,
                     lower_type_name(lower, place.type, &rooms[0]),
                     lower_type_name(lower, parameter.type, &rooms[1]));
        place.kind = VYRE_PLACE_NONE;
    }
    for (size_t i = first; i < lower->places.count && place.kind == VYRE_PLACE_VARIABLE; i++) {
        if (lower->places.items[i].kind == VYRE_PLACE_VARIABLE &&
            do_overlap(lower, &lower->places.items[i], &place)) {
            lower_report(lower, place.spot, 402, "pass two variables, and copy one before",
                         "argument %u of `%s` is a variable that it is given already", position,
                         name);
            place.kind = VYRE_PLACE_NONE;
        }
    }
    uint32_t handle = (uint32_t)place.handle;
    if (place.kind == VYRE_PLACE_ELEMENT) {
        vyre_operand before = lower_read(lower, &place);
        if (before.kind == VYRE_OPERAND_POISON ||
            !lower_variable(lower, "element", before, &handle)) {
            place.kind = VYRE_PLACE_NONE;
        }
        place.variable = handle;
    }
    if (!vyre_vec_push(&lower->places, place)) {
        lower_no_memory(lower);
        return lower_poison();
    }
    return place.kind == VYRE_PLACE_NONE ? lower_poison() : lower_scalar(place.type, handle);
}

/* Writes elements back that a function may have changed, once it has ended. */
static void write_back(vyre_lower *lower, size_t first) {
    for (size_t i = first; i < lower->places.count; i++) {
        vyre_text_place place = lower->places.items[i];
        if (place.kind == VYRE_PLACE_ELEMENT && vyre_build_reachable(lower->builder)) {
            vyre_text_place changed = {.kind = VYRE_PLACE_VARIABLE,
                                       .type = place.type,
                                       .handle = place.variable,
                                       .spot = place.spot};
            lower_write(lower, &place, lower_read(lower, &changed));
        }
    }
}

/* Reports a circle of calls, with all that are in it. */
static void report_circle(vyre_lower *lower, size_t first, vyre_callee callee, vyre_spot spot) {
    vyre_name_text text;
    vyre_strbuf circle = {0};
    for (size_t i = first; i < lower->calls.count; i++) {
        vyre_strbuf_printf(&circle, "%s -> ", lower_callee_name(lower->calls.items[i], &text));
    }
    vyre_strbuf_puts(&circle, lower_callee_name(callee, &text));
    bool is_program = callee.unit->items.items[callee.item].kind == VYRE_ITEM_PROGRAM;
    const char *fix = is_program ? "write a `repeat`; the steps of a program replace its call"
                                 : "write a loop; functions are always inlined";
    if (circle.failed) {
        lower_no_memory(lower);
    } else if (first + 1 == lower->calls.count) {
        lower_report(lower, spot, 205, fix, "`%s` calls itself", text.text);
    } else {
        lower_report(lower, spot, 205, fix, "`%s` calls itself through others: %s", text.text,
                     circle.data);
    }
    vyre_strbuf_free(&circle);
}

static uint32_t generic_of(vyre_callee callee) {
    uint32_t origin = callee.unit->items.items[callee.item].origin;
    return origin == VYRE_NONE ? callee.item : origin;
}

/* Whether two calls go to the same text: an instance of what is generic never ends up in another
 * one without coming back. */
static bool is_same(vyre_callee a, vyre_callee b) {
    return a.unit == b.unit && generic_of(a) == generic_of(b);
}

bool lower_may_call(vyre_lower *lower, vyre_callee callee, vyre_node call, uint32_t wanted) {
    vyre_spot spot = vyre_node_spot(&call);
    uint32_t found = vyre_parser_count(&lower->parser, call.b);
    for (size_t i = 0; i < lower->calls.count; i++) {
        if (is_same(lower->calls.items[i], callee)) {
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

/* False, after a report, for an array of other dimensions than a parameter that states them. */
static bool check_dimensions(vyre_lower *lower, uint32_t node, const vyre_name_binding *array,
                             vyre_lower_parameter parameter, uint32_t position, const char *name) {
    uint32_t found = lower_dimensions(lower, array), wanted = parameter.dimensions;
    if (!wanted || found == wanted) {
        return true;
    }
    lower_report(lower, lower_spot(lower, node), 604,
                 "pass an array of as many dimensions; a parameter without brackets takes any",
                 "argument %u of `%s` has %u dimension%s, expected %u", position, name, found,
                 found == 1 ? "" : "s", wanted);
    return false;
}

/* The arguments of a call, as operands: values, or handles of arrays and variables. `shapes` is
 * where those of arrays go, among `values`. False if one may not be used. */
static bool read_arguments(vyre_lower *lower, vyre_generic_call *to, vyre_node node, size_t shapes,
                           const char *name) {
    vyre_function function = *lower_function_of(to->callee);
    bool is_generic = lower_is_generic(to->callee);
    uint32_t count = vyre_parser_count(&lower->parser, node.b);
    size_t places = lower->places.count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t argument = vyre_parser_item(&lower->parser, node.b, i);
        vyre_lower_parameter parameter = {.symbol = VYRE_NONE};
        vyre_operand operand = lower_poison();
        if (i < function.parameter_count) {
            parameter = to->callee.unit->parameters.items[function.parameters + i];
        }
        vyre_value_type type = parameter.type;
        parameter.type = (uint16_t)lower_known_type(to, type);
        if (parameter.kind == VYRE_ARGUMENT_SCALAR) {
            operand = lower_expression(lower, argument, parameter.type);
            if (!is_generic || parameter.type != VYRE_TYPE_VOID) {
                settle_value(lower, &operand, parameter.type, argument, i + 1, name);
            }
        } else if (parameter.kind == VYRE_ARGUMENT_VARIABLE) {
            operand = variable_argument(lower, argument, parameter, i + 1, name, places);
        } else {
            const vyre_name_binding *array =
                lower_array_argument(lower, argument, parameter, i + 1, to->callee);
            bool fits = array && check_dimensions(lower, argument, array, parameter, i + 1, name);
            if (fits && parameter.dimensions && shapes + i < lower->values.count) {
                lower->values.items[shapes + i] = array->shape;
            }
            operand = fits ? lower_scalar(array->type, array->handle) : operand;
        }
        if (operand.kind >= VYRE_OPERAND_VALUE) {
            lower_learn_type(to, type, operand.type);
        }
        if (!vyre_vec_push(&lower->operands, operand)) {
            lower_no_memory(lower);
            return false;
        }
    }
    return true;
}

/* What arguments have not told: the place of the call does, then numbers without a type. Gives the
 * instance. */
static vyre_callee choose_instance(vyre_lower *lower, vyre_generic_call *to, vyre_node node,
                                   vyre_value_type expected, size_t operands) {
    vyre_function function = *lower_function_of(to->callee);
    bool is_wrong = false;
    if (function.result_count == 1 && expected != VYRE_TYPE_VOID) {
        lower_learn_type(to, to->callee.unit->result_types.items[function.results], expected);
    }
    for (uint32_t i = 0; i < function.parameter_count; i++) {
        vyre_value_type type = to->callee.unit->parameters.items[function.parameters + i].type;
        vyre_operand *operand = &lower->operands.items[operands + i];
        is_wrong |= operand->kind == VYRE_OPERAND_POISON;
        if (operand->kind == VYRE_OPERAND_PLAIN && lower_known_type(to, type) == VYRE_TYPE_VOID) {
            lower_learn_type(to, type, operand->real ? VYRE_TYPE_F32 : VYRE_TYPE_I32);
        }
    }
    return is_wrong ? (vyre_callee){0} : lower_instance(lower, to, vyre_node_spot(&node));
}

/* Pushes what operands consist of, once all types are known. */
static bool push_arguments(vyre_lower *lower, vyre_callee callee, vyre_node node, size_t operands,
                           const char *name) {
    vyre_function function = *lower_function_of(callee);
    bool stored = true;
    for (uint32_t i = 0; i < function.parameter_count && stored; i++) {
        vyre_lower_parameter parameter = callee.unit->parameters.items[function.parameters + i];
        uint32_t argument = vyre_parser_item(&lower->parser, node.b, i);
        vyre_operand operand = lower->operands.items[operands + i];
        bool is_value = parameter.kind == VYRE_ARGUMENT_SCALAR;
        if (is_value) {
            settle_value(lower, &operand, parameter.type, argument, i + 1, name);
        }
        stored = is_value ? lower_push_operand(lower, operand, parameter.type)
                          : lower_push(lower, operand.kind == VYRE_OPERAND_POISON
                                                  ? VYRE_NONE
                                                  : (uint32_t)operand.value);
    }
    return stored;
}

vyre_callee lower_inline(vyre_lower *lower, vyre_callee callee, uint32_t call,
                         vyre_value_type expected) {
    vyre_node node = lower_node(lower, call);
    vyre_function function = *lower_function_of(callee);
    bool is_generic = lower_is_generic(callee);
    vyre_generic_call to = {.callee = callee};
    vyre_name_text text;
    const char *name = lower_callee_name(callee, &text);
    bool allowed = lower_may_call(lower, callee, node, function.parameter_count) &&
                   lower_read_types(lower, node, &to);
    if (allowed && (function.failed || function.broken)) {
        lower->poisoned = true;
        lower_spoil(lower);
        allowed = false;
    }
    uint32_t count = vyre_parser_count(&lower->parser, node.b);
    size_t base = lower->values.count, places = lower->places.count;
    size_t operands = lower->operands.count;
    for (uint32_t i = 0; i < count; i++) {
        allowed &= lower_push(lower, 0);
    }
    allowed &= read_arguments(lower, &to, node, base, name);
    if (is_generic) {
        callee = allowed ? choose_instance(lower, &to, node, expected, operands) : (vyre_callee){0};
        allowed = callee.unit != NULL;
    }
    if (allowed && is_generic) {
        name = lower_callee_name(callee, &text);
        allowed = !lower_function_of(callee)->failed;
        lower->poisoned |= !allowed;
        lower_spoil(lower);
    }
    allowed = allowed && push_arguments(lower, callee, node, operands, name);
    lower->operands.count = operands;
    if (allowed) {
        lower->depth++;
        inline_body(lower, callee, base, vyre_node_spot(&node));
        write_back(lower, places);
        lower->depth--;
    } else {
        lower->values.count = base;
        lower_push_none(lower, callee.unit ? lower_function_of(callee)->result_values : 0);
    }
    lower->places.count = places;
    return callee;
}

/* Functions that no program uses */

/* What depends on the program that calls it cannot be told without one. */
static bool depends_on_caller(uint32_t code) {
    return code >= 500 && code < 700 && code != 504 && code != 505 && code != 506;
}

/* An argument of the program that checks a function, or as many as a value has scalars; an array of
 * composites is several buffers. Handles go to `values`. */
static bool push_stand_in(vyre_lower *lower, vyre_lower_parameter parameter, uint32_t number) {
    bool is_array =
        parameter.kind != VYRE_ARGUMENT_SCALAR && parameter.kind != VYRE_ARGUMENT_VARIABLE;
    uint32_t width = lower_width(lower, parameter.type);
    size_t leaves = lower->leaves.count;
    for (uint32_t i = 0; i < width; i++) {
        vyre_type type = vyre_leaf_type(&lower->types, parameter.type, i);
        char name[32];
        snprintf(name, sizeof name, width > 1 ? "p%u_%u" : "p%u", number, i);
        uint32_t handle = VYRE_NONE;
        if (type != VYRE_TYPE_VOID) {
            handle = is_array ? vyre_build_buffer(lower->builder, name, VYRE_ACCESS_INOUT, type,
                                                  VYRE_NONE)
                              : vyre_build_scalar(lower->builder, name, type);
        }
        if (vyre_type_is_scalar(parameter.type) || !is_array ? !lower_push(lower, handle)
                                                             : !lower_add_leaf(lower, handle)) {
            return false;
        }
    }
    return vyre_type_is_scalar(parameter.type) || !is_array || lower_push(lower, (uint32_t)leaves);
}

/* Inside the phase, the values of those arguments take their place; a variable is one handle. */
static bool read_stand_ins(vyre_lower *lower, const vyre_function *function, size_t base) {
    size_t from = base, to = base;
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        vyre_lower_parameter parameter = lower->unit->parameters.items[function->parameters + i];
        bool is_variable = parameter.kind == VYRE_ARGUMENT_VARIABLE;
        bool is_value = is_variable || parameter.kind == VYRE_ARGUMENT_SCALAR;
        uint32_t width = is_value ? lower_width(lower, parameter.type) : 1;
        for (uint32_t k = 0; k < width; k++) {
            uint32_t handle = lower->values.items[from + k];
            lower->values.items[to + k] = handle == VYRE_NONE || !is_value
                                              ? handle
                                              : vyre_build_param(lower->builder, handle);
        }
        if (is_variable) {
            vyre_operand first = lower_gather(lower, parameter.type, to);
            uint32_t handle = VYRE_NONE;
            if (first.kind != VYRE_OPERAND_POISON &&
                !lower_variable(lower, "parameter", first, &handle)) {
                return false;
            }
            lower->values.items[to] = handle;
        }
        from += width;
        to += is_variable ? 1 : width;
    }
    return true;
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
        if (!lower_push(lower, lower_any_shape(lower, parameter.dimensions))) {
            goto done;
        }
    }
    for (uint32_t i = 0; i < function.parameter_count; i++) {
        vyre_lower_parameter parameter = lower->unit->parameters.items[function.parameters + i];
        if (!push_stand_in(lower, parameter, i)) {
            goto done;
        }
    }
    vyre_build_phase(builder, &(vyre_phase_desc){.domain = {vyre_build_size_const(builder, 1),
                                                            vyre_build_size_const(builder, 1),
                                                            vyre_build_size_const(builder, 1)},
                                                 .dimensions = 3,
                                                 .workgroup = {16, 2, 1}});
    if (!read_stand_ins(lower, &function, base + function.parameter_count)) {
        goto done;
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
    vyre_status finished = vyre_builder_finish(builder, found, &program);
    if (vyre_status_code_of(finished) == VYRE_STATUS_OUT_OF_MEMORY) {
        lower_no_memory(lower);
    }
    vyre_status_free(finished);
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
