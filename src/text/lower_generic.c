#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "ir/diagnostic.h"
#include "text/lower.h"
#include "text/lower_generic.h"

/* Types of all instances of a text, so that finding one stays cheap. */
enum { MOST_TYPES = 4096 };

void lower_keep_type_parameters(vyre_lower *lower, uint32_t item, uint32_t list) {
    const vyre_parser *parser = &lower->parser;
    vyre_unit *unit = lower->unit;
    uint32_t count = vyre_parser_count(parser, list);
    unit->items.items[item].types = (uint32_t)unit->type_parameters.count;
    unit->items.items[item].type_count = count;
    for (uint32_t i = 0; i < count; i++) {
        vyre_node node = lower_node(lower, vyre_parser_item(parser, list, i));
        vyre_node name = lower_node(lower, node.a);
        vyre_lower_type_parameter row = {name.kind == VYRE_NODE_NAME ? name.a : VYRE_NONE, node.b};
        if (!vyre_vec_push(&unit->type_parameters, row)) {
            unit->items.items[item].type_count = 0;
            lower_no_memory(lower);
            return;
        }
    }
}

static const vyre_lower_type_parameter *parameter_at(const vyre_generic_call *call,
                                                     uint32_t number) {
    const vyre_item *item = &call->callee.unit->items.items[call->callee.item];
    return &call->callee.unit->type_parameters.items[item->types + number];
}

bool lower_read_types(vyre_lower *lower, vyre_node node, vyre_generic_call *call) {
    uint32_t wanted = call->callee.unit->items.items[call->callee.item].type_count;
    uint32_t found = node.detail;
    vyre_name_text text;
    if (found && found != wanted) {
        lower_report(lower, vyre_node_spot(&node), 303,
                     wanted ? "write one for each type parameter, or leave all of them out"
                            : "remove them",
                     "`%s` takes %u type argument%s, found %u",
                     lower_callee_name(call->callee, &text), wanted, wanted == 1 ? "" : "s", found);
        return false;
    }
    bool valid = true;
    for (uint32_t i = 0; i < found; i++) {
        call->types[i] = lower->parser.syntax.words.items[node.b - found + i];
        valid &= call->types[i] != VYRE_TYPE_VOID;
    }
    return valid;
}

vyre_value_type lower_known_type(const vyre_generic_call *call, vyre_value_type type) {
    if (!vyre_type_is_parameter(type)) {
        return type;
    }
    vyre_value_type known = call->types[vyre_type_parameter_number(type)];
    uint32_t count = vyre_type_parameter_count(type);
    if (count == 1) {
        return known;
    }
    return known != VYRE_TYPE_VOID && vyre_type_is_scalar(known)
               ? vyre_vector_of((vyre_type)known, count)
               : VYRE_TYPE_VOID;
}

void lower_learn_type(vyre_generic_call *call, vyre_value_type type, vyre_value_type found) {
    if (!vyre_type_is_parameter(type)) {
        return;
    }
    vyre_value_type *known = &call->types[vyre_type_parameter_number(type)];
    uint32_t count = vyre_type_parameter_count(type);
    if (*known == VYRE_TYPE_VOID && count == 1) {
        *known = found;
    } else if (*known == VYRE_TYPE_VOID && !vyre_type_is_struct(found)) {
        *known = vyre_vector_count(found) == count || vyre_type_is_scalar(found)
                     ? vyre_scalar_of(found)
                     : VYRE_TYPE_VOID;
    }
}

uint32_t lower_bind_types(vyre_unit *unit, uint32_t item) {
    uint32_t before = unit->instance;
    item = item == VYRE_NONE || unit->items.items[item].origin == VYRE_NONE ? VYRE_NONE : item;
    if (item == before) {
        return before;
    }
    for (int is_new = 0; is_new < 2; is_new++) {
        const vyre_item *row = &unit->items.items[is_new ? item : before];
        for (uint32_t i = 0; (is_new ? item : before) != VYRE_NONE && i < row->type_count; i++) {
            const vyre_item *origin = &unit->items.items[row->origin];
            uint32_t symbol = unit->type_parameters.items[origin->types + i].symbol;
            unit->names.symbols.items[symbol].type =
                is_new ? unit->type_arguments.items[row->types + i] : 0;
        }
    }
    unit->instance = item;
    return before;
}

/* Making instances */

/* Whether all types are known and allowed; reports if not. */
static bool check_types(vyre_lower *lower, const vyre_generic_call *call, vyre_spot spot) {
    const vyre_unit *unit = call->callee.unit;
    uint32_t count = unit->items.items[call->callee.item].type_count;
    bool valid = true;
    for (uint32_t i = 0; i < count; i++) {
        const vyre_lower_type_parameter *parameter = parameter_at(call, i);
        if (parameter->symbol == VYRE_NONE) {
            return false; /* reported */
        }
        vyre_str name = vyre_symbol_text(&unit->names, parameter->symbol);
        vyre_name_text text;
        vyre_type_text room;
        const char *callee = lower_callee_name(call->callee, &text);
        if (call->types[i] == VYRE_TYPE_VOID) {
            vyre_strbuf fix = {0};
            vyre_strbuf_printf(&fix, "write it, as in %s<%s>(...)", callee,
                               count == 1 ? "f32" : "f32, ...");
            lower_report(lower, spot, 301, vyre_strbuf_string(&fix),
                         "the type `%.*s` of `%s` cannot be inferred", (int)name.size, name.data,
                         callee);
            vyre_strbuf_free(&fix);
            valid = false;
        } else if (!vyre_type_set_has(parameter->set, call->types[i])) {
            vyre_strbuf set = {0};
            vyre_type_set_print(parameter->set, &set);
            lower_report(lower, spot, 301, "call it with another type, or widen the bound",
                         "the type `%.*s` of `%s` is %s, expected %s", (int)name.size, name.data,
                         callee, lower_type_name(lower, call->types[i], &room),
                         vyre_strbuf_string(&set));
            vyre_strbuf_free(&set);
            valid = false;
        }
    }
    return valid;
}

static char *instance_name(vyre_lower *lower, const vyre_generic_call *call) {
    uint32_t count = call->callee.unit->items.items[call->callee.item].type_count;
    vyre_strbuf name = {0};
    vyre_name_text text;
    vyre_type_text room;
    vyre_strbuf_puts(
        &name, lower_callee_name((vyre_callee){call->callee.unit, call->callee.item, NULL}, &text));
    for (uint32_t i = 0; i < count; i++) {
        vyre_strbuf_printf(&name, "%s%s", i ? "," : "<",
                           lower_type_name(lower, call->types[i], &room));
    }
    vyre_strbuf_puts(&name, ">");
    if (name.failed) {
        vyre_strbuf_free(&name);
    }
    return name.data;
}

/* A type of a head as the instance has it; VYRE_TYPE_VOID, after a report, if there is none. */
static vyre_value_type instance_type(vyre_lower *lower, const vyre_generic_call *call,
                                     vyre_value_type type, vyre_spot spot) {
    vyre_value_type known = lower_known_type(call, type);
    if (known == VYRE_TYPE_VOID && vyre_type_is_parameter(type)) {
        uint32_t number = vyre_type_parameter_number(type);
        vyre_str name =
            vyre_symbol_text(&call->callee.unit->names, parameter_at(call, number)->symbol);
        vyre_name_text text;
        vyre_type_text room;
        lower_report(lower, spot, 301, "call it with a scalar for that type",
                     "the type `%.*s` of `%s` is %s, which cannot be the component of a vector",
                     (int)name.size, name.data, lower_callee_name(call->callee, &text),
                     lower_type_name(lower, call->types[number], &room));
    }
    return known;
}

/* The function of an instance: that of the generic one, with other types in its head. */
static bool add_function(vyre_lower *lower, const vyre_generic_call *call, uint32_t item,
                         vyre_spot spot) {
    vyre_unit *unit = call->callee.unit;
    vyre_function function = *lower_function_of(call->callee);
    uint32_t parameters = function.parameters, results = function.results;
    bool stored = true, valid = true;
    function.item = item;
    function.parameters = (uint32_t)unit->parameters.count;
    function.results = (uint32_t)unit->result_types.count;
    function.result_values = 0;
    function.failed = false;
    for (uint32_t i = 0; i < function.parameter_count && stored; i++) {
        vyre_lower_parameter parameter = unit->parameters.items[parameters + i];
        vyre_value_type type = instance_type(lower, call, parameter.type, spot);
        valid &= type != VYRE_TYPE_VOID || parameter.type == VYRE_TYPE_VOID;
        parameter.type = (uint16_t)type;
        stored = vyre_vec_push(&unit->parameters, parameter);
    }
    for (uint32_t i = 0; i < function.result_count && stored; i++) {
        vyre_value_type type =
            instance_type(lower, call, unit->result_types.items[results + i], spot);
        valid &= type != VYRE_TYPE_VOID;
        function.result_values += lower_width(lower, type);
        stored = vyre_vec_push(&unit->result_types, (uint16_t)type);
    }
    unit->items.items[item].index = (uint32_t)unit->functions.count;
    if (!stored || !vyre_vec_push(&unit->functions, function)) {
        lower_no_memory(lower);
        return false;
    }
    unit->functions.items[unit->functions.count - 1].failed = !valid;
    return true;
}

static uint32_t find_instance(const vyre_generic_call *call) {
    const vyre_unit *unit = call->callee.unit;
    for (uint32_t i = call->callee.item + 1; i < unit->items.count; i++) {
        const vyre_item *item = &unit->items.items[i];
        bool is_same = item->origin == call->callee.item;
        for (uint32_t k = 0; is_same && k < item->type_count; k++) {
            is_same = unit->type_arguments.items[item->types + k] == call->types[k];
        }
        if (is_same) {
            return i;
        }
    }
    return VYRE_NONE;
}

/* VYRE_NONE after a report. */
static uint32_t add_instance(vyre_lower *lower, const vyre_generic_call *call, vyre_spot spot) {
    vyre_unit *unit = call->callee.unit;
    if (unit->type_arguments.count >= MOST_TYPES) {
        lower_report(lower, spot, 701, "call generic functions with fewer types",
                     "the instances of a text have more than %d types", MOST_TYPES);
        return VYRE_NONE;
    }
    uint32_t number = (uint32_t)unit->items.count;
    vyre_item item = unit->items.items[call->callee.item];
    item.generic = false;
    item.origin = call->callee.item;
    item.types = (uint32_t)unit->type_arguments.count;
    item.name = instance_name(lower, call);
    bool stored = item.name != NULL;
    for (uint32_t i = 0; i < item.type_count && stored; i++) {
        stored = vyre_vec_push(&unit->type_arguments, (uint16_t)call->types[i]);
    }
    if (!stored || !vyre_vec_push(&unit->items, item)) {
        vyre_free(item.name);
        lower_no_memory(lower);
        return VYRE_NONE;
    }
    bool is_function = item.kind == VYRE_ITEM_FUNCTION;
    return is_function && !add_function(lower, call, number, spot) ? VYRE_NONE : number;
}

vyre_callee lower_instance(vyre_lower *lower, const vyre_generic_call *call, vyre_spot spot) {
    vyre_callee instance = call->callee;
    if (!check_types(lower, call, spot)) {
        return (vyre_callee){0};
    }
    instance.item = find_instance(call);
    if (instance.item == VYRE_NONE) {
        instance.item = add_instance(lower, call, spot);
    }
    return instance.item == VYRE_NONE ? (vyre_callee){0} : instance;
}

/* A type as a name states it, which the text moves behind; VYRE_TYPE_VOID if it is none. */
static vyre_value_type read_type(const char **text) {
    const char *at = *text + strspn(*text, " ");
    size_t size = strcspn(at, "<>, ");
    vyre_value_type type = vyre_type_from_name((vyre_str){at, size});
    *text = at + size;
    bool is_vector = size == 4 && !memcmp(at, "vec", 3) && at[3] >= '2' && at[3] <= '4';
    if (is_vector && **text == '<') {
        uint32_t count = (uint32_t)(at[3] - '0');
        ++*text;
        type = read_type(text);
        is_vector = **text == '>' && type != VYRE_TYPE_VOID && vyre_type_is_scalar(type);
        *text += is_vector;
        type = is_vector ? vyre_vector_of((vyre_type)type, count) : VYRE_TYPE_VOID;
    }
    *text += strspn(*text, " ");
    return type;
}

vyre_callee lower_stated_instance(vyre_lower *lower, vyre_callee callee, const char *name,
                                  vyre_spot spot) {
    vyre_generic_call call = {.callee = callee};
    const vyre_item *row = &callee.unit->items.items[callee.item];
    const char *at = name + strcspn(name, "<");
    uint32_t wanted = row->type_count, found = 0;
    bool valid = *at == '<';
    while (valid && (*at == '<' || *at == ',')) {
        at++;
        vyre_value_type type = read_type(&at);
        valid = type != VYRE_TYPE_VOID && found < VYRE_MOST_TYPE_PARAMETERS;
        if (valid) {
            call.types[found++] = type;
        }
    }
    if (!valid || found != wanted || strcmp(at, ">") != 0) {
        vyre_name_text text;
        vyre_strbuf fix = {0};
        lower_callee_name(call.callee, &text);
        vyre_strbuf_printf(&fix, "write a scalar or vector for each, as in %s<f32%s>", text.text,
                           wanted > 1 ? ",..." : "");
        lower_report(lower, spot, 303, vyre_strbuf_string(&fix),
                     "`%s` is no instance of `%s`, which has %u type parameter%s", name, text.text,
                     wanted, wanted == 1 ? "" : "s");
        vyre_strbuf_free(&fix);
        return (vyre_callee){0};
    }
    return lower_instance(lower, &call, spot);
}

/* What nothing has an instance of */

/* Types that serve as examples: usual ones, then all scalars, then structs. */
static vyre_value_type example(const vyre_lower *lower, uint32_t number) {
    static const uint16_t usual[] = {VYRE_TYPE_F32, VYRE_TYPE_U32, VYRE_TYPE_I32,
                                     VYRE_TYPE_F32 + 2 * VYRE_VECTOR_STEP};
    uint32_t count = sizeof usual / sizeof *usual, scalars = VYRE_TYPE_COUNT - VYRE_TYPE_BOOL;
    if (number < count) {
        return usual[number];
    }
    number -= count;
    return number < scalars                                ? VYRE_TYPE_BOOL + number
           : number - scalars < lower->types.structs.count ? VYRE_FIRST_STRUCT + number - scalars
                                                           : VYRE_TYPE_VOID;
}

/* Gives each type parameter that type, or the first example that it allows; false if none does, or
 * if all take others. */
static bool set_examples(const vyre_lower *lower, vyre_generic_call *call, vyre_value_type wanted) {
    uint32_t count = call->callee.unit->items.items[call->callee.item].type_count;
    bool is_used = false;
    for (uint32_t i = 0; i < count; i++) {
        vyre_type_set set = parameter_at(call, i)->set;
        vyre_value_type type = wanted;
        for (uint32_t k = 0; type != VYRE_TYPE_VOID && !vyre_type_set_has(set, type); k++) {
            type = example(lower, k);
        }
        call->types[i] = type;
        is_used |= type == wanted;
        if (type == VYRE_TYPE_VOID) {
            return false;
        }
    }
    return is_used;
}

static void set_diagnostics(vyre_lower *lower, vyre_diagnostics *list) {
    lower->unit->source.diagnostics = list;
    for (size_t i = 0; i < lower->units.count; i++) {
        lower->units.items[i]->source.diagnostics = list;
    }
}

/* Checks one instance; what is wrong goes to `found`. */
static void check_instance(vyre_lower *lower, const vyre_generic_call *call,
                           vyre_diagnostics *found) {
    vyre_diagnostics *list = lower->unit->source.diagnostics;
    set_diagnostics(lower, found);
    vyre_callee instance =
        lower_instance(lower, call, lower->unit->items.items[call->callee.item].spot);
    vyre_item item = instance.unit ? lower->unit->items.items[instance.item] : (vyre_item){0};
    if (instance.unit && item.kind == VYRE_ITEM_FUNCTION) {
        lower_check_function(lower, item.index);
    } else if (instance.unit) {
        vyre_program_release(lower_program_item(lower, instance.item));
    }
    set_diagnostics(lower, list);
}

/* Checks with one example after the other until it is right. Gives what is wrong with the first. */
static vyre_diagnostics *try_examples(vyre_lower *lower, vyre_generic_call *call) {
    enum { MOST_EXAMPLES = 64 };
    vyre_diagnostics *first = NULL;
    for (uint32_t i = 0; i < MOST_EXAMPLES && !lower->unit->source.no_memory; i++) {
        vyre_value_type wanted = example(lower, i);
        vyre_diagnostics *found = NULL;
        if (wanted == VYRE_TYPE_VOID) {
            break;
        }
        if (!set_examples(lower, call, wanted)) {
            continue;
        }
        vyre_status status = vyre_diagnostics_create(&found);
        if (status) {
            vyre_status_free(status);
            lower_no_memory(lower);
            break;
        }
        check_instance(lower, call, found);
        bool is_right = !vyre_diagnostics_errors(found);
        vyre_diagnostics_free(is_right || !first ? first : found);
        first = is_right || !first ? found : first;
        if (is_right) {
            break;
        }
    }
    return first;
}

void lower_check_generic(vyre_lower *lower, uint32_t item) {
    vyre_generic_call call = {.callee = {.unit = lower->unit, .item = item}};
    vyre_diagnostics *found = try_examples(lower, &call);
    for (size_t i = 0; found && i < vyre_diagnostics_count(found); i++) {
        lower_keep(lower, vyre_diagnostics_get(found, i));
    }
    vyre_diagnostics_free(found);
}
