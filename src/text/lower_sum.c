/* Reproducible sums: s[k] of `scratch s: sum<f32>[n];` is a few numbers of 64 bits, and what is
 * done with it is a call of a function of sum.vyre. */
#include <stdio.h>
#include <string.h>

#include "ir/builder.h"
#include "ir/diagnostic.h"
#include "text/lower_array.h"
#include "text/lower_sum.h"

/* The text of sum.vyre, put into the library by the build. */
extern const char vyre_sum_text[];

/* How many numbers a sum is, as sum.vyre has it. */
static uint32_t width_of(vyre_type type) {
    return type == VYRE_TYPE_F64 ? 67 : 10;
}

uint32_t lower_sum_digits(vyre_lower *lower, vyre_type type, uint32_t size) {
    vyre_builder *builder = lower->builder;
    lower->has_sums = true;
    return vyre_build_size_op(builder, VYRE_SIZE_MUL, vyre_build_size_copy(builder, size),
                              vyre_build_size_const(builder, width_of(type)));
}

uint32_t lower_sum_length(vyre_lower *lower, const vyre_name_binding *sums) {
    uint32_t width = vyre_build_u32(lower->builder, width_of((vyre_type)sums->sum));
    return vyre_build_op(lower->builder, VYRE_OP_DIV, vyre_build_len(lower->builder, sums->handle),
                         width, VYRE_NONE);
}

static void refuse_sums(vyre_lower *lower, const vyre_name_binding *sums, vyre_spot spot) {
    vyre_name_text text;
    char fix[128];
    snprintf(fix, sizeof fix,
             "add with sum_add(s[k], x), read with %s(s[k]) in a later phase, and empty with "
             "sum_clear(s[k])",
             vyre_type_name((vyre_type)sums->sum));
    lower_report(lower, spot, 402, fix, "`%s` holds sums, which are not numbers",
                 lower_name(lower, sums->symbol, &text));
}

const vyre_name_binding *lower_array(vyre_lower *lower, vyre_node node, uint32_t symbol) {
    const vyre_name_binding *array = lower_array_or_sums(lower, node, symbol);
    if (array && array->sum) {
        refuse_sums(lower, array, vyre_node_spot(&node));
        return NULL;
    }
    return array;
}

/* Calls a function of sum.vyre, "add" being add_f32 or add_f64, with the array, the number of the
 * sum and, unless it is VYRE_NONE, one value more. */
static vyre_operand call(vyre_lower *lower, const char *id, const char *function,
                         const vyre_name_binding *sums, uint32_t index, uint32_t value,
                         vyre_node node) {
    char entry[32];
    snprintf(entry, sizeof entry, "%s_%s", function, vyre_type_name((vyre_type)sums->sum));
    vyre_library_source source = {.id = id,
                                  .file = VYRE_SUM_FILE,
                                  .text = vyre_sum_text,
                                  .text_size = strlen(vyre_sum_text),
                                  .form = VYRE_LIBRARY_FUNCTION,
                                  .entry = entry};
    vyre_callee callee = lower_entry_of(lower, node, &source);
    uint32_t count = value == VYRE_NONE ? 2 : 3;
    size_t base = lower->values.count;
    bool stored = callee.unit;
    for (uint32_t i = 0; i < count && stored; i++) {
        stored = lower_push(lower, 0); /* no shapes */
    }
    stored = stored && lower_push(lower, sums->handle) && lower_push(lower, index) &&
             (value == VYRE_NONE || lower_push(lower, value));
    vyre_operand result = lower_poison();
    if (stored) {
        lower_inline_values(lower, callee, base, vyre_node_spot(&node));
        bool gives = lower->values.count > base;
        result = gives ? lower_built(lower, lower->values.items[base]) : result;
    }
    lower->values.count = base;
    return result;
}

/* The sums of which a node is an element, NULL if it is none. */
static vyre_name_binding *sums_of(const vyre_lower *lower, vyre_node element) {
    vyre_name_binding *binding =
        element.kind == VYRE_NODE_ELEMENT ? vyre_names_find(&lower->unit->names, element.a) : NULL;
    return binding && binding->kind == VYRE_BINDING_ARRAY && binding->sum ? binding : NULL;
}

/* The number of a sum as a u32; VYRE_NONE after a report. What is no u32 becomes a number that is
 * out of bounds of any array of sums. */
static uint32_t lower_which(vyre_lower *lower, const vyre_name_binding *sums, vyre_node element) {
    vyre_builder *builder = lower->builder;
    uint32_t index = lower_element_index(lower, sums, element);
    vyre_type type = vyre_build_type(builder, index);
    lower_at(lower, vyre_node_spot(&element));
    if (index == VYRE_NONE || type == VYRE_TYPE_U32) {
        return index;
    }
    if (!(vyre_type_class_of(type) & VYRE_CLASS_INTEGER)) {
        vyre_name_text text;
        lower_report(lower, lower_spot(lower, element.b), 301, "convert it with u32(...)",
                     "an index of `%s` is %s, expected an integer",
                     lower_name(lower, element.a, &text), vyre_type_name(type));
        return VYRE_NONE;
    }
    if (vyre_type_bytes(type) == 8) {
        index =
            vyre_build_op(builder, VYRE_OP_MIN, vyre_build_convert(builder, VYRE_TYPE_U64, index),
                          vyre_build_const(builder, VYRE_TYPE_U64, UINT32_MAX), VYRE_NONE);
    }
    return vyre_build_convert(builder, VYRE_TYPE_U32, index);
}

/* False, after a report, if a sum cannot be used in this phase because it is added to. */
static bool check_phase(vyre_lower *lower, const vyre_name_binding *sums, const char *how,
                        vyre_spot spot) {
    vyre_name_text text;
    if (!sums->is_summed) {
        return true;
    }
    lower_report(lower, spot, 402, "do it in another phase",
                 "`%s` is %s in the phase that adds to it", lower_name(lower, sums->symbol, &text),
                 how);
    return false;
}

void lower_sum_call(vyre_lower *lower, vyre_node node, vyre_context_word word) {
    const char *name = vyre_word_of(word)->text;
    bool is_add = word == VYRE_WORD_SUM_ADD;
    uint32_t wanted = is_add ? 2 : 1, count = vyre_parser_count(&lower->parser, node.b);
    if (count != wanted) {
        lower_report(lower, vyre_node_spot(&node), 303,
                     is_add ? "write sum_add(s[k], x)" : "write sum_clear(s[k])",
                     "`%s` takes %u operand%s, found %u", name, wanted, wanted == 1 ? "" : "s",
                     count);
        return;
    }
    uint32_t first = vyre_parser_item(&lower->parser, node.b, 0);
    vyre_node element = lower_node(lower, first);
    const vyre_name_binding *found = sums_of(lower, element);
    if (!found) {
        bool is_known =
            element.kind != VYRE_NODE_ELEMENT || lower_array_or_sums(lower, element, element.a);
        if (is_known && element.kind != VYRE_NODE_ERROR) {
            lower_report(lower, vyre_node_spot(&element), 309,
                         "declare `scratch s: sum<f32>[n];` and write its element, as in "
                         "sum_add(s[k], x)",
                         "the first operand of `%s` is not an element of an array of sums", name);
        }
        lower_look_through(lower, node);
        return;
    }
    vyre_names_find(&lower->unit->names, element.a)->used = true;
    vyre_name_binding sums = *found;
    uint32_t index = lower_which(lower, &sums, element), value = VYRE_NONE;
    bool valid = index != VYRE_NONE;
    if (is_add) {
        vyre_operand operand = lower_typed(lower, vyre_parser_item(&lower->parser, node.b, 1),
                                           sums.sum, "what is added to", element.a);
        valid &= operand.kind == VYRE_OPERAND_VALUE;
        value = valid ? (uint32_t)operand.value : VYRE_NONE;
    } else {
        valid &= check_phase(lower, &sums, "emptied", vyre_node_spot(&node));
    }
    if (valid) {
        call(lower, name, is_add ? "add" : "clear", &sums, index, value, node);
    }
}

vyre_operand lower_sum_in_value(vyre_lower *lower, vyre_node node, vyre_context_word word) {
    lower_report(lower, vyre_node_spot(&node), 309, "write it as a statement of its own",
                 "`%s` gives no value", vyre_word_of(word)->text);
    return lower_poison();
}

bool lower_is_sum(const vyre_lower *lower, vyre_node convert) {
    return lower->builder && convert.kind == VYRE_NODE_CONVERT &&
           sums_of(lower, lower_node(lower, convert.a));
}

vyre_operand lower_sum_value(vyre_lower *lower, vyre_node convert) {
    vyre_node element = lower_node(lower, convert.a);
    vyre_name_binding *found = sums_of(lower, element);
    found->used = true;
    vyre_name_binding sums = *found;
    vyre_spot spot = vyre_node_spot(&convert);
    uint32_t index = lower_which(lower, &sums, element);
    if (convert.detail != sums.sum) {
        const char *type = vyre_type_name((vyre_type)sums.sum);
        vyre_name_text text;
        char fix[64];
        snprintf(fix, sizeof fix, "write %s(%s(s[k]))", vyre_type_name((vyre_type)convert.detail),
                 type);
        lower_report(lower, spot, 305, fix, "the sums of `%s` are read as %s",
                     lower_name(lower, element.a, &text), type);
        return lower_poison();
    }
    return index != VYRE_NONE && check_phase(lower, &sums, "read", spot)
               ? call(lower, vyre_type_name((vyre_type)sums.sum), "value", &sums, index, VYRE_NONE,
                      convert)
               : lower_poison();
}

/* A phase that makes digits of 32 bits again. */
static void normalise(vyre_lower *lower, const vyre_name_binding *sums) {
    vyre_builder *builder = lower->builder;
    vyre_name_text name;
    vyre_build_phase(builder, &(vyre_phase_desc){.name = lower_step_name(lower, "normalise", &name),
                                                 .domain = {lower_length_of(lower, sums)},
                                                 .from_resource = VYRE_NONE,
                                                 .from_index = VYRE_NONE});
    call(lower, "sum_add", "normalise", sums, vyre_build_position(builder, VYRE_OP_GID, 0),
         VYRE_NONE, (vyre_node){.line = sums->line, .column = sums->column});
    vyre_build_phase_end(builder);
}

/* Functions do not see sums, so that the text of a phase shows all that it adds to. */
void lower_make_room(vyre_lower *lower) {
    vyre_names *names = &lower->unit->names;
    if (!lower->has_sums) {
        return;
    }
    for (size_t i = names->frame; i < names->bindings.count; i++) {
        names->bindings.items[i].is_summed = false;
    }
    vyre_lexer lexer = vyre_parser_here(&lower->parser);
    vyre_token token;
    bool adds = false; /* the word and any number of parentheses stand in front */
    for (uint32_t open = 1; open;) {
        vyre_lexer_next(&lexer, &token);
        open += token.kind == VYRE_TOKEN_LEFT_BRACE;
        open -= token.kind == VYRE_TOKEN_RIGHT_BRACE;
        bool is_name = token.kind == VYRE_TOKEN_NAME;
        vyre_name_binding *sums = adds && is_name ? vyre_names_find(names, token.symbol) : NULL;
        if (sums && sums->sum) {
            sums->is_summed = true;
        }
        adds = (adds && token.kind == VYRE_TOKEN_LEFT_PAREN) ||
               (is_name && lower_function_word(lower->unit, token.symbol) == VYRE_WORD_SUM_ADD);
        if (token.kind == VYRE_TOKEN_END) {
            break;
        }
    }
    lower->adds = false;
    bool again = lower->builder->open_repeats.count;
    for (size_t i = names->frame; i < names->bindings.count; i++) {
        vyre_name_binding sums = names->bindings.items[i];
        if (sums.is_summed && (again || sums.may_be_summed)) {
            normalise(lower, &sums);
        }
        names->bindings.items[i].may_be_summed |= sums.is_summed;
        lower->adds |= sums.is_summed;
    }
}

/* An invocation may add several times, which nobody counts; the host counts the invocations. */
void lower_limit_additions(vyre_lower *lower, const vyre_phase_desc *phase, vyre_spot spot) {
    enum { MOST = INT32_MAX };
    vyre_builder *builder = lower->builder;
    uint64_t number, all = 1;
    bool is_number = true;
    if (!lower->adds) {
        return;
    }
    for (uint32_t i = 0; i < phase->dimensions; i++) {
        if (phase->domain[i] == VYRE_NONE) {
            return;
        }
        is_number &= lower_size_is_number(lower, phase->domain[i], &number) &&
                     !__builtin_mul_overflow(all, number, &all);
        if (builder->sizes.items[phase->domain[i]].counts) {
            return;
        }
    }
    if (is_number && all > MOST) {
        lower_report(lower, spot, 601, "add in several phases",
                     "the phase has %llu invocations, and a sum takes fewer than 2^31 additions",
                     (unsigned long long)all);
    }
    if (is_number) {
        return;
    }
    lower_at(lower, spot);
    uint32_t size = vyre_build_size_copy(builder, phase->domain[0]);
    for (uint32_t i = 1; i < phase->dimensions; i++) {
        size = vyre_build_size_op(builder, VYRE_SIZE_MUL, size,
                                  vyre_build_size_copy(builder, phase->domain[i]));
    }
    uint32_t most = vyre_build_size_op(builder, VYRE_SIZE_MIN, vyre_build_size_copy(builder, size),
                                       vyre_build_size_const(builder, MOST));
    vyre_build_require(builder, size, most);
}
