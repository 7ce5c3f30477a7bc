#include <stdio.h>

#include "ir/lookup.h"
#include "text/lower.h"
#include "text/lower_array.h"
#include "text/lower_let.h"
#include "text/lower_match.h"
#include "text/lower_sum.h"

/* What the builder gave, or a mistake. */
static vyre_operand built_as(vyre_type type, uint32_t value) {
    return value == VYRE_NONE ? lower_poison() : lower_scalar(type, value);
}

vyre_operand lower_built(const vyre_lower *lower, uint32_t value) {
    vyre_type type = vyre_build_type(lower->builder, value);
    return type == VYRE_TYPE_VOID ? lower_poison() : lower_scalar(type, value);
}

static void not_constant(vyre_lower *lower, vyre_node node, const char *what) {
    lower_report(lower, vyre_node_spot(&node), 307,
                 "use numbers, other constants and operators on them",
                 "%s is not known at compile time", what);
}

static bool is_logic(vyre_token_kind operation) {
    return operation == VYRE_TOKEN_AND_AND || operation == VYRE_TOKEN_OR_OR;
}

/* Plain numbers */

bool lower_settle_plain(vyre_lower *lower, vyre_operand *operand, vyre_value_type asked,
                        vyre_spot spot) {
    vyre_type type = vyre_scalar_of(asked);
    vyre_type wanted = type != VYRE_TYPE_VOID ? type
                       : operand->real        ? VYRE_TYPE_F32
                                              : VYRE_TYPE_I32;
    uint64_t bits = 0;
    vyre_plain plain = vyre_operand_plain(*operand);
    const char *source = lower->unit->source.text;
    if (vyre_plain_fit(source, &plain, wanted, &bits)) {
        *operand = lower_constant(lower, wanted, bits);
        return operand->kind == VYRE_OPERAND_VALUE;
    }
    char shown[VYRE_PLAIN_SHOWN];
    vyre_plain_show(source, &plain, shown);
    const char *name = vyre_type_name(wanted);
    vyre_type_class class = vyre_type_class_of(wanted);
    if (class == VYRE_CLASS_BOOL) {
        lower_report(lower, spot, 304, "write true or false, or compare numbers",
                     "found the number %s, expected a bool", shown);
    } else if (plain.real && class & VYRE_CLASS_INTEGER) {
        lower_report(lower, spot, 304,
                     "write an integer, or convert the other operand to a float type",
                     "the number %s is not an integer, and the type is %s", shown, name);
    } else if (plain.negative && class == VYRE_CLASS_UNSIGNED) {
        lower_report(lower, spot, 304, "use a signed type, or write the bits as in 0xffffffff",
                     "the number %s does not fit in %s, which is unsigned", shown, name);
    } else {
        lower_report(lower, spot, 304,
                     class == VYRE_CLASS_FLOAT ? "use a wider type, such as f32 or f64"
                     : type == VYRE_TYPE_VOID  ? "give it a type, as in 7u or 7u64"
                                               : "use a wider type",
                     "the number %s does not fit in %s", shown, name);
    }
    *operand = lower_poison();
    return false;
}

static vyre_operand lower_plain_error(vyre_lower *lower, vyre_plain_error error, vyre_spot spot) {
    switch (error) {
    case VYRE_PLAIN_TOO_LARGE:
        lower_report(lower, spot, 304, "use smaller numbers, or a typed one such as 1.5f64",
                     "the number needs more than 64 bits");
        break;
    case VYRE_PLAIN_ZERO_DIVISOR:
        lower_report(lower, spot, 310, "divide by another number, or give the operands a type",
                     "a constant expression divides by zero");
        break;
    case VYRE_PLAIN_NOT_INTEGER:
        lower_report(lower, spot, 301, "use integers", "the operator takes integers only");
        break;
    default:
        lower_report(lower, spot, 304, "shift by 0 to 63", "the shift count is out of range");
        break;
    }
    return lower_poison();
}

/* Most numbers: a few digits, without a suffix or with that of a 32-bit integer. */
static bool read_short(vyre_str text, bool negative, vyre_plain *out, vyre_type *suffix) {
    enum { DIGITS = 9 };
    char last = text.data[text.size - 1];
    *suffix = last == 'u' ? VYRE_TYPE_U32 : last == 'i' ? VYRE_TYPE_I32 : VYRE_TYPE_VOID;
    size_t digits = text.size - (*suffix != VYRE_TYPE_VOID);
    uint64_t number = 0;
    for (size_t i = 0; i < digits; i++) {
        unsigned digit = (unsigned)(text.data[i] - '0');
        if (digit > 9 || i >= DIGITS) {
            return false;
        }
        number = number * 10 + digit;
    }
    *out = (vyre_plain){.negative = negative && number, .number = number};
    return true;
}

static vyre_operand lower_number(vyre_lower *lower, vyre_node node) {
    vyre_str text = {lower->unit->source.text + node.a, node.b};
    vyre_plain plain;
    vyre_literal literal = {.base = 10, .body = node.b};
    if (!read_short(text, node.detail, &plain, &literal.suffix)) {
        literal.suffix = VYRE_TYPE_VOID;
        bool is_word = *text.data == 'i' || *text.data == 'n';
        if (!is_word && !vyre_literal_read(text, &literal)) {
            return lower_poison();
        }
        vyre_plain_error error =
            vyre_plain_read(lower->unit->source.text, node.a, &literal, node.detail, &plain);
        if (error) {
            return lower_plain_error(lower, error, vyre_node_spot(&node));
        }
    }
    vyre_operand operand = vyre_plain_operand(plain);
    if (literal.suffix != VYRE_TYPE_VOID) {
        lower_settle(lower, &operand, literal.suffix, vyre_node_spot(&node));
    }
    return operand;
}

/* Operations on values or, while a constant is computed, on bits */

vyre_operand lower_constant(vyre_lower *lower, vyre_type type, uint64_t bits) {
    return lower->builder ? built_as(type, vyre_build_const(lower->builder, type, bits))
                          : lower_scalar(type, bits);
}

/* Arithmetic of constants is exact: a result that does not fit the type of its operands is a
 * mistake, so that no rule about wrapping is needed to read one. */
static vyre_operand settle_exact(vyre_lower *lower, vyre_plain_error error, vyre_plain plain,
                                 vyre_type type, vyre_spot spot) {
    if (error) {
        return lower_plain_error(lower, error, spot);
    }
    vyre_operand result = vyre_plain_operand(plain);
    lower_settle(lower, &result, type, spot);
    return result;
}

static vyre_operand evaluate_bools(vyre_token_kind operation, bool left, bool right) {
    bool result = operation == VYRE_TOKEN_AND || operation == VYRE_TOKEN_AND_AND ? left && right
                  : operation == VYRE_TOKEN_OR || operation == VYRE_TOKEN_OR_OR  ? left || right
                  : operation == VYRE_TOKEN_EQUAL                                ? left == right
                                                                                 : left != right;
    return lower_scalar(VYRE_TYPE_BOOL, result);
}

/* False, after a report, if an operator that the builder does not see, or sees as another one, does
 * not take operands of these types. */
static bool check_types(vyre_lower *lower, vyre_token_kind operation, vyre_type left,
                        vyre_type right, vyre_spot spot) {
    vyre_type wanted = vyre_token_is_shift(operation) ? VYRE_TYPE_U32 : left;
    bool takes_bool = operation == VYRE_TOKEN_AND || operation == VYRE_TOKEN_OR ||
                      operation == VYRE_TOKEN_XOR || operation == VYRE_TOKEN_EQUAL ||
                      operation == VYRE_TOKEN_NOT_EQUAL;
    if (right != wanted) {
        lower_report(lower, spot, 302, "convert one of them with a type's name, as in u32(x)",
                     "operand 2 of `%s` is %s, expected %s", vyre_token_text(operation),
                     vyre_type_name(right), vyre_type_name(wanted));
        return false;
    }
    if (left == VYRE_TYPE_BOOL && !takes_bool) {
        lower_report(lower, spot, 301, "use it with numbers", "`%s` is not defined for bool",
                     vyre_token_text(operation));
        return false;
    }
    return true;
}

static vyre_operand evaluate_binary(vyre_lower *lower, vyre_token_kind operation,
                                    const vyre_operand *left, const vyre_operand *right,
                                    vyre_spot spot) {
    vyre_type type = (vyre_type)left->type, right_type = (vyre_type)right->type;
    if (!check_types(lower, operation, type, right_type, spot)) {
        return lower_poison();
    }
    if (type == VYRE_TYPE_BOOL) {
        return evaluate_bools(operation, left->value, right->value);
    }
    vyre_plain a = vyre_plain_from(type, left->value), result;
    vyre_plain b = vyre_plain_from(right_type, right->value);
    vyre_plain_error error = vyre_plain_binary(NULL, operation, &a, &b, &result);
    if (vyre_token_is_comparison(operation)) {
        return lower_scalar(VYRE_TYPE_BOOL, result.number);
    }
    return settle_exact(lower, error, result, type, spot);
}

vyre_operand lower_operation(vyre_lower *lower, vyre_op op, const vyre_operand *operands,
                             uint32_t count, vyre_spot spot) {
    uint32_t values[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].kind != VYRE_OPERAND_VALUE) {
            return lower_poison();
        }
        values[i] = (uint32_t)operands[i].value;
    }
    lower_at(lower, spot);
    return lower_built(lower, vyre_build_op(lower->builder, op, values[0], values[1], values[2]));
}

/* Operators */

static vyre_op op_of(vyre_token_kind operation) {
    switch (operation) {
    case VYRE_TOKEN_PLUS: return VYRE_OP_ADD;
    case VYRE_TOKEN_MINUS: return VYRE_OP_SUB;
    case VYRE_TOKEN_STAR: return VYRE_OP_MUL;
    case VYRE_TOKEN_SLASH: return VYRE_OP_DIV;
    case VYRE_TOKEN_PERCENT: return VYRE_OP_REM;
    case VYRE_TOKEN_AND: return VYRE_OP_AND;
    case VYRE_TOKEN_OR: return VYRE_OP_OR;
    case VYRE_TOKEN_XOR: return VYRE_OP_XOR;
    case VYRE_TOKEN_SHIFT_LEFT: return VYRE_OP_SHL;
    case VYRE_TOKEN_SHIFT_RIGHT: return VYRE_OP_SHR;
    case VYRE_TOKEN_EQUAL: return VYRE_OP_EQ;
    case VYRE_TOKEN_NOT_EQUAL: return VYRE_OP_NE;
    case VYRE_TOKEN_LESS:
    case VYRE_TOKEN_GREATER: return VYRE_OP_LT;
    default: return VYRE_OP_LE;
    }
}

vyre_operand lower_binary(vyre_lower *lower, vyre_token_kind operation, vyre_operand left,
                          vyre_operand right, vyre_value_type expected, const uint32_t nodes[3]) {
    if (left.kind == VYRE_OPERAND_POISON || right.kind == VYRE_OPERAND_POISON) {
        return lower_poison();
    }
    bool shifts = vyre_token_is_shift(operation);
    if (shifts) {
        lower_adopt(lower, nodes[2], &right, VYRE_TYPE_U32);
    } else {
        lower_adopt_either(lower, nodes + 1, &left, &right);
    }
    if (left.kind == VYRE_OPERAND_COMPOSITE || right.kind == VYRE_OPERAND_COMPOSITE) {
        return lower_vector_binary(lower, operation, left, right, expected, nodes);
    }
    uint32_t blamed = nodes[0];
    if (left.kind == VYRE_OPERAND_PLAIN && right.kind == VYRE_OPERAND_PLAIN) {
        vyre_plain a = vyre_operand_plain(left), b = vyre_operand_plain(right), folded;
        vyre_plain_error error =
            vyre_plain_binary(lower->unit->source.text, operation, &a, &b, &folded);
        if (error) {
            return lower_plain_error(lower, error, lower_spot(lower, blamed));
        }
        return vyre_token_is_comparison(operation)
                   ? lower_constant(lower, VYRE_TYPE_BOOL, folded.number)
                   : vyre_plain_operand(folded);
    }
    if (left.kind == VYRE_OPERAND_PLAIN) {
        lower_settle(lower, &left, shifts ? expected : (vyre_type)right.type,
                     lower_spot(lower, nodes[1]));
    }
    if (right.kind == VYRE_OPERAND_PLAIN) {
        lower_settle(lower, &right, shifts ? VYRE_TYPE_U32 : (vyre_type)left.type,
                     lower_spot(lower, nodes[2]));
    }
    if (left.kind != VYRE_OPERAND_VALUE || right.kind != VYRE_OPERAND_VALUE) {
        return lower_poison();
    }
    if (left.type != right.type && !shifts) {
        blamed = nodes[2]; /* the operand at fault rather than the operator */
    }
    if (!lower->builder) {
        return evaluate_binary(lower, operation, &left, &right, lower_spot(lower, blamed));
    }
    bool swapped = operation == VYRE_TOKEN_GREATER || operation == VYRE_TOKEN_GREATER_EQUAL;
    if (swapped && !check_types(lower, operation, (vyre_type)left.type, (vyre_type)right.type,
                                lower_spot(lower, blamed))) {
        return lower_poison();
    }
    uint32_t first = (uint32_t)(swapped ? right.value : left.value);
    uint32_t second = (uint32_t)(swapped ? left.value : right.value);
    lower_at(lower, lower_spot(lower, blamed));
    uint32_t value = vyre_build_op(lower->builder, op_of(operation), first, second, VYRE_NONE);
    return built_as(vyre_token_is_comparison(operation) ? VYRE_TYPE_BOOL : (vyre_type)left.type,
                    value);
}

bool lower_runs_anywhere(vyre_lower *lower, uint32_t from, uint32_t to) {
    for (uint32_t i = from + 1; i <= to; i++) {
        vyre_node node = lower_node(lower, i);
        if (node.kind == VYRE_NODE_ELEMENT || node.kind == VYRE_NODE_LIBRARY_CALL) {
            return false;
        }
        if (node.kind != VYRE_NODE_CALL) {
            continue;
        }
        const vyre_word *word = lower_called(lower, node);
        if (word->class_of == VYRE_WORD_OP) {
            if (vyre_op_info_of(word->code)->effects) {
                return false;
            }
        } else if (word->class_of != VYRE_WORD_FUNCTION &&
                   !lower_call_is_pure(lower->unit, node.a, 0)) {
            return false;
        }
    }
    return true;
}

/* False, after a report, if an operand of `&&`, `||` or `!` is no bool. */
static bool check_bool(vyre_lower *lower, vyre_operand *operand, const char *operation,
                       vyre_spot spot) {
    if (!lower_settle(lower, operand, VYRE_TYPE_BOOL, spot)) {
        return false;
    }
    if (operand->type != VYRE_TYPE_BOOL) {
        const char *fix = *operation == '!'   ? "compare it with 0, or use ~ for its bits"
                          : *operation == '&' ? "compare it with 0, or use & for its bits"
                                              : "compare it with 0, or use | for its bits";
        lower_report(lower, spot, 301, fix, "an operand of `%s` is %s, expected bool", operation,
                     vyre_type_name((vyre_type)operand->type));
        return false;
    }
    return true;
}

/* `&&` and `||`, whose right side runs only if needed, unless nobody can tell. */
static vyre_operand lower_logic(vyre_lower *lower, vyre_node node, vyre_operand left) {
    bool is_and = node.detail == VYRE_TOKEN_AND_AND;
    const char *name = is_and ? "&&" : "||";
    vyre_spot left_spot = lower_spot(lower, node.a), right_spot = lower_spot(lower, node.b);
    bool valid = check_bool(lower, &left, name, left_spot);
    if (!lower->builder || lower_runs_anywhere(lower, node.a, node.b)) {
        vyre_operand right = lower_expression(lower, node.b, VYRE_TYPE_BOOL);
        if (!check_bool(lower, &right, name, right_spot) || !valid) {
            return lower_poison();
        }
        if (!lower->builder) {
            return evaluate_bools(node.detail, left.value, right.value);
        }
        vyre_operand operands[2] = {left, right};
        return lower_operation(lower, is_and ? VYRE_OP_AND : VYRE_OP_OR, operands, 2,
                               vyre_node_spot(&node));
    }
    lower_at(lower, vyre_node_spot(&node));
    vyre_build_if(lower->builder, valid ? (uint32_t)left.value : VYRE_NONE);
    if (!is_and) {
        uint32_t yes = vyre_build_bool(lower->builder, true);
        vyre_build_yield(lower->builder, 1, &yes);
        vyre_build_else(lower->builder);
    }
    vyre_operand right = lower_expression(lower, node.b, VYRE_TYPE_BOOL);
    valid &= check_bool(lower, &right, name, right_spot);
    uint32_t given = right.kind == VYRE_OPERAND_VALUE ? (uint32_t)right.value : VYRE_NONE;
    lower_at(lower, vyre_node_spot(&node));
    vyre_build_yield(lower->builder, 1, &given);
    if (is_and) {
        vyre_build_else(lower->builder);
        uint32_t no = vyre_build_bool(lower->builder, false);
        vyre_build_yield(lower->builder, 1, &no);
    }
    uint32_t result = VYRE_NONE;
    vyre_build_if_end(lower->builder, 1, &result);
    return valid ? lower_built(lower, result) : lower_poison();
}

/* Operators that group to the left form a spine that may be as long as the text; it is walked down
 * and up again without recursion. */
static vyre_operand lower_spine(vyre_lower *lower, uint32_t node, vyre_value_type expected) {
    size_t base = lower->spine.count;
    vyre_node head = lower_node(lower, node);
    while (head.kind == VYRE_NODE_BINARY) {
        if (!vyre_vec_push(&lower->spine, node) || !vyre_vec_push(&lower->spine, expected)) {
            lower_no_memory(lower);
            lower->spine.count = base;
            return lower_poison();
        }
        expected = is_logic(head.detail)                   ? VYRE_TYPE_BOOL
                   : vyre_token_is_comparison(head.detail) ? VYRE_TYPE_VOID
                                                           : expected;
        node = head.a;
        head = lower_node(lower, node);
    }
    vyre_operand left = lower_expression(lower, node, expected);
    while (lower->spine.count > base) {
        expected = lower->spine.items[--lower->spine.count];
        node = lower->spine.items[--lower->spine.count];
        head = lower_node(lower, node);
        if (is_logic(head.detail)) {
            left = lower_logic(lower, head, left);
            continue;
        }
        vyre_value_type inner = vyre_token_is_comparison(head.detail) ? VYRE_TYPE_VOID : expected;
        vyre_value_type hint = vyre_token_is_shift(head.detail)  ? VYRE_TYPE_U32
                               : left.kind >= VYRE_OPERAND_VALUE ? left.type
                                                                 : inner;
        vyre_operand right = lower_expression(lower, head.b, hint);
        left = lower_binary(lower, head.detail, left, right, inner,
                            (const uint32_t[3]){node, head.a, head.b});
    }
    return left;
}

vyre_operand lower_negate(vyre_lower *lower, vyre_token_kind operation, vyre_operand operand,
                          vyre_spot spot) {
    if (operation == VYRE_TOKEN_NOT) {
        if (!check_bool(lower, &operand, "!", spot)) {
            return lower_poison();
        }
        return lower->builder ? lower_operation(lower, VYRE_OP_NOT, &operand, 1, spot)
                              : lower_scalar(VYRE_TYPE_BOOL, !operand.value);
    }
    if (operand.kind == VYRE_OPERAND_PLAIN) {
        vyre_plain plain = vyre_operand_plain(operand), folded;
        vyre_plain_error error = vyre_plain_unary(operation, &plain, &folded);
        return error ? lower_plain_error(lower, error, spot) : vyre_plain_operand(folded);
    }
    if (operand.type == VYRE_TYPE_BOOL) {
        lower_report(lower, spot, 301, "use ! on a bool", "the operand of `%s` is bool",
                     vyre_token_text(operation));
        return lower_poison();
    }
    if (!lower->builder) {
        vyre_plain plain = vyre_plain_from((vyre_type)operand.type, operand.value), result;
        vyre_plain_error error = vyre_plain_unary(operation, &plain, &result);
        return settle_exact(lower, error, result, (vyre_type)operand.type, spot);
    }
    vyre_op op = operation == VYRE_TOKEN_MINUS ? VYRE_OP_NEG : VYRE_OP_NOT;
    return lower_operation(lower, op, &operand, 1, spot);
}

static vyre_operand lower_unary(vyre_lower *lower, vyre_node node, vyre_value_type expected) {
    vyre_spot spot = vyre_node_spot(&node);
    bool is_not = node.detail == VYRE_TOKEN_NOT;
    vyre_operand operand = lower_expression(lower, node.a, is_not ? VYRE_TYPE_BOOL : expected);
    switch (operand.kind) {
    case VYRE_OPERAND_POISON: return operand;
    case VYRE_OPERAND_COMPOSITE: return lower_vector_unary(lower, node.detail, operand, spot);
    default: return lower_negate(lower, node.detail, operand, spot);
    }
}

/* Names */

vyre_operand lower_position(vyre_lower *lower, vyre_node node, vyre_op op, uint32_t component) {
    const char *name = vyre_op_info_of(op)->name;
    vyre_spot spot = vyre_node_spot(&node);
    if (!lower->builder) {
        not_constant(lower, node, "the position of an invocation");
        return lower_poison();
    }
    bool has_components = vyre_op_info_of(op)->shape == VYRE_SHAPE_NUMBER;
    if (!has_components && component < 3) {
        lower_report(lower, spot, 204, "remove what follows the point",
                     "`%s` is a single value without components", name);
        return lower_poison();
    }
    if (has_components && component == 3 && lower->dimensions > 1) {
        lower_report(lower, spot, 607, "name a component: .x or .y, or .z if there are three",
                     "`%s` has %u components here", name, lower->dimensions);
        return lower_poison();
    }
    lower_at(lower, spot);
    uint32_t dimension = component < 3 ? component : 0;
    vyre_type type = op == VYRE_OP_IN_DOMAIN ? VYRE_TYPE_BOOL : VYRE_TYPE_U32;
    return built_as(type, vyre_build_position(lower->builder, op, dimension));
}

/* The counter of a repeat; that of a range starts with its first number. */
static uint32_t lower_counter(vyre_lower *lower, const vyre_name_binding *binding) {
    uint32_t value = vyre_build_iteration(lower->builder, binding->handle);
    return binding->size == VYRE_NONE
               ? value
               : vyre_build_op(lower->builder, VYRE_OP_ADD,
                               lower_size_value(lower, binding->size, VYRE_TYPE_U32), value,
                               VYRE_NONE);
}

static vyre_operand lower_binding(vyre_lower *lower, vyre_node node, vyre_name_binding *binding) {
    vyre_name_text text;
    binding->used = true;
    uint32_t handle = binding->handle;
    vyre_type type = (vyre_type)binding->type;
    switch (binding->kind) {
    case VYRE_BINDING_VALUE:
    case VYRE_BINDING_PARAMETER:
    case VYRE_BINDING_COUNTER:
        binding->reads = binding->reads ? 2 : 1;
        return handle == VYRE_NONE                  ? lower_poison()
               : vyre_type_is_scalar(binding->type) ? lower_scalar(type, handle)
                                                    : lower_composite(lower, binding->type, handle);
    case VYRE_BINDING_VARIABLE:
        if (!vyre_type_is_scalar(binding->type)) {
            vyre_text_place place = {.kind = VYRE_PLACE_VARIABLE,
                                     .type = binding->type,
                                     .handle = handle,
                                     .spot = vyre_node_spot(&node)};
            return lower_read(lower, &place);
        }
        lower_at(lower, vyre_node_spot(&node));
        return built_as(type, vyre_build_get(lower->builder, handle));
    case VYRE_BINDING_SCALAR:
        lower_at(lower, vyre_node_spot(&node));
        return built_as(type, vyre_build_param(lower->builder, handle));
    case VYRE_BINDING_NUMBER: return lower_constant(lower, type, binding->bits);
    case VYRE_BINDING_SIZE:
        lower_at(lower, vyre_node_spot(&node));
        return built_as(type, lower_size_value(lower, binding->size, type));
    case VYRE_BINDING_REPEAT:
        lower_at(lower, vyre_node_spot(&node));
        return built_as(type, lower_counter(lower, binding));
    case VYRE_BINDING_ARRAY:
        lower_report(lower, vyre_node_spot(&node), 204,
                     "name an element as in a[gid], or its length as in len(a)",
                     "`%s` is an array, expected a value", lower_name(lower, node.a, &text));
        return lower_poison();
    default: return lower_poison();
    }
}

/* A constant of several scalars, in the program that uses it. */
static vyre_operand constant_composite(vyre_lower *lower, vyre_operand value) {
    size_t leaves = lower->leaves.count;
    uint32_t width = lower_width(lower, value.type);
    for (uint32_t i = 0; i < width; i++) {
        vyre_operand leaf = lower_leaf(lower, value, i);
        leaf = lower_constant(lower, (vyre_type)leaf.type, leaf.value);
        if (leaf.kind != VYRE_OPERAND_VALUE || !lower_add_leaf(lower, leaf.value)) {
            return lower_poison();
        }
    }
    return lower_composite(lower, value.type, leaves);
}

static vyre_operand lower_named(vyre_lower *lower, vyre_node node) {
    vyre_symbol symbol = lower->unit->names.symbols.items[node.a];
    vyre_name_text text;
    vyre_name_binding *binding = vyre_names_find(&lower->unit->names, node.a);
    if (binding && lower->builder) {
        return lower_binding(lower, node, binding);
    }
    if (binding) {
        not_constant(lower, node, lower_kind_of(lower, node.a));
        return lower_poison();
    }
    const vyre_word *word = lower_word(lower, node.a);
    if (word->class_of == VYRE_WORD_OP) {
        if (vyre_op_is_position(word->code)) {
            return lower_position(lower, node, (vyre_op)word->code, 3);
        }
    }
    if (word->class_of == VYRE_WORD_OP || word->class_of == VYRE_WORD_FUNCTION) {
        lower_report(lower, vyre_node_spot(&node), 204, "call it with its operands in parentheses",
                     "`%s` is an operation, expected a value", word->text);
        return lower_poison();
    }
    if (symbol.item == VYRE_NONE) {
        lower_unknown(lower, node, node.a, false);
        return lower_poison();
    }
    vyre_item item = lower->unit->items.items[symbol.item];
    const vyre_name_binding *array = lower_constant_array(lower, node.a);
    if (array) {
        if (array->kind == VYRE_BINDING_ARRAY) {
            lower_report(lower, vyre_node_spot(&node), 204,
                         "name an element as in a[0], or its length as in len(a)",
                         "`%s` is an array, expected a value", lower_name(lower, node.a, &text));
        }
        return lower_poison();
    }
    if (item.kind == VYRE_ITEM_CONSTANT) {
        vyre_operand value = lower_constant_item(lower, item.index);
        return value.kind == VYRE_OPERAND_VALUE
                   ? lower_constant(lower, (vyre_type)value.type, value.value)
               : value.kind == VYRE_OPERAND_COMPOSITE ? constant_composite(lower, value)
                                                      : value;
    }
    lower_report(lower, vyre_node_spot(&node), 204,
                 item.kind == VYRE_ITEM_FUNCTION ? "call it with its arguments in parentheses"
                 : item.kind == VYRE_ITEM_STRUCT ? "list the values of its fields in parentheses"
                                                 : "call it as a step of a program, between phases",
                 "`%s` is %s, expected a value", lower_name(lower, node.a, &text),
                 lower_kind_of(lower, node.a));
    return lower_poison();
}

static vyre_operand lower_element(vyre_lower *lower, uint32_t number) {
    if (!lower->builder) {
        return lower_constant_element(lower, lower_node(lower, number));
    }
    vyre_text_place place = lower_element_place(lower, number, false);
    return lower_read(lower, &place);
}

uint32_t lower_index(vyre_lower *lower, uint32_t node) {
    vyre_operand index = lower_expression(lower, node, VYRE_TYPE_U32);
    lower_forget_read(lower, node); /* any integer will do */
    vyre_spot spot = lower_spot(lower, node);
    vyre_type type = VYRE_TYPE_U32;
    if (index.kind == VYRE_OPERAND_PLAIN) {
        if (index.real || index.negative) {
            char shown[VYRE_PLAIN_SHOWN];
            vyre_plain plain = vyre_operand_plain(index);
            vyre_plain_show(lower->unit->source.text, &plain, shown);
            lower_report(lower, spot, 304, "use an integer of at least 0",
                         "the number %s cannot be an index", shown);
            return VYRE_NONE;
        }
        type = index.value > UINT32_MAX ? VYRE_TYPE_U64 : VYRE_TYPE_U32;
    }
    return lower_settle(lower, &index, type, spot) ? (uint32_t)index.value : VYRE_NONE;
}

/* Conversions */

/* A conversion of a constant is exact too. */
static vyre_operand evaluate_convert(vyre_lower *lower, vyre_operand operand, vyre_type type,
                                     bool is_bitcast, vyre_spot spot) {
    vyre_type from = (vyre_type)operand.type;
    if (from == type) {
        return operand;
    }
    if (is_bitcast) {
        if (from == VYRE_TYPE_BOOL || type == VYRE_TYPE_BOOL ||
            vyre_type_bytes(from) != vyre_type_bytes(type)) {
            lower_report(lower, spot, 305, "use types of the same size, and no bool",
                         "`bitcast` from %s to %s is not possible", vyre_type_name(from),
                         vyre_type_name(type));
            return lower_poison();
        }
        return lower_scalar(type, operand.value);
    }
    vyre_plain number = {.number = operand.value};
    if (from != VYRE_TYPE_BOOL) {
        number = vyre_plain_from(from, operand.value);
    }
    return type == VYRE_TYPE_BOOL ? lower_scalar(type, !vyre_plain_is_zero(NULL, &number))
                                  : settle_exact(lower, VYRE_PLAIN_OK, number, type, spot);
}

vyre_operand lower_converted(vyre_lower *lower, vyre_operand operand, vyre_type type,
                             bool is_bitcast, vyre_spot spot) {
    if (operand.kind == VYRE_OPERAND_PLAIN && !is_bitcast) {
        if (type == VYRE_TYPE_BOOL) {
            vyre_plain plain = vyre_operand_plain(operand);
            return lower_constant(lower, type,
                                  !vyre_plain_is_zero(lower->unit->source.text, &plain));
        }
        lower_settle(lower, &operand, type, spot);
        return operand;
    }
    if (!lower_settle(lower, &operand, VYRE_TYPE_VOID, spot)) {
        return lower_poison();
    }
    if (!lower->builder) {
        return evaluate_convert(lower, operand, type, is_bitcast, spot);
    }
    lower_at(lower, spot);
    uint32_t value = (uint32_t)operand.value;
    return lower_built(lower, is_bitcast ? vyre_build_bitcast(lower->builder, type, value)
                                         : vyre_build_convert(lower->builder, type, value));
}

static vyre_operand lower_convert(vyre_lower *lower, vyre_node node) {
    if (lower_is_sum(lower, node)) {
        return lower_sum_value(lower, node);
    }
    vyre_operand operand = lower_expression(lower, node.a, VYRE_TYPE_VOID);
    vyre_spot spot = vyre_node_spot(&node);
    bool is_bitcast = node.kind == VYRE_NODE_BITCAST;
    if (vyre_type_is_scalar(node.detail)) {
        return lower_converted(lower, operand, (vyre_type)node.detail, is_bitcast, spot);
    }
    if (operand.kind == VYRE_OPERAND_POISON) {
        return operand;
    }
    if (!vyre_type_is_vector(node.detail) || !vyre_type_is_vector(operand.type) ||
        vyre_vector_count(operand.type) != vyre_vector_count(node.detail)) {
        vyre_type_text rooms[2];
        lower_settle(lower, &operand, VYRE_TYPE_VOID, spot);
        lower_report(lower, spot, 305, "use vectors of as many components",
                     "`bitcast` from %s to %s is not possible",
                     lower_type_name(lower, operand.type, &rooms[0]),
                     lower_type_name(lower, node.detail, &rooms[1]));
        return lower_poison();
    }
    return lower_convert_each(lower, operand, vyre_scalar_of(node.detail), true, spot);
}

static vyre_operand lower_bits(vyre_lower *lower, vyre_node node) {
    vyre_operand operand = lower_expression(lower, node.a, VYRE_TYPE_VOID);
    vyre_type type = vyre_scalar_of(node.detail);
    if (operand.kind == VYRE_OPERAND_POISON) {
        return operand;
    }
    if (!vyre_type_is_scalar(node.detail)) {
        lower_report(lower, vyre_node_spot(&node), 304, "write the bits of each component",
                     "`bits` gives a single number");
        return lower_poison();
    }
    uint32_t bytes = vyre_type_bytes(type);
    if (type == VYRE_TYPE_BOOL || operand.kind != VYRE_OPERAND_PLAIN || operand.real ||
        operand.negative || (bytes < 8 && operand.value >> (bytes * 8))) {
        lower_report(lower, vyre_node_spot(&node), 304,
                     "write the bits as a number without a suffix, as in bits<f32>(0x7fc00000)",
                     "`bits<%s>` takes a number without a suffix, of at most %u bits",
                     vyre_type_name(type), bytes * 8);
        return lower_poison();
    }
    return lower_constant(lower, type, operand.value);
}

static vyre_operand lower_any(vyre_lower *lower, uint32_t number, vyre_value_type expected) {
    vyre_node node = lower_node(lower, number);
    switch (node.kind) {
    case VYRE_NODE_NUMBER: return lower_number(lower, node);
    case VYRE_NODE_STRING:
        lower_report(lower, vyre_node_spot(&node), 101, VYRE_STRING_FIX, VYRE_STRING_MISTAKE);
        return lower_poison();
    case VYRE_NODE_BOOL: return lower_constant(lower, VYRE_TYPE_BOOL, node.detail);
    case VYRE_NODE_NAME: return lower_named(lower, node);
    case VYRE_NODE_FIELD: return lower_field(lower, number);
    case VYRE_NODE_ELEMENT: return lower_element(lower, number);
    case VYRE_NODE_CONSTRUCT: return lower_construct(lower, node);
    case VYRE_NODE_CHOICE: return lower_choice(lower, node, expected);
    case VYRE_NODE_MATCH_VALUE: return lower_match_value(lower, node, expected);
    case VYRE_NODE_CALL:
    case VYRE_NODE_LIBRARY_CALL: return lower_call(lower, number, expected);
    case VYRE_NODE_CONVERT:
    case VYRE_NODE_BITCAST: return lower_convert(lower, node);
    case VYRE_NODE_BITS: return lower_bits(lower, node);
    case VYRE_NODE_UNARY: return lower_unary(lower, node, expected);
    case VYRE_NODE_BINARY: return lower_spine(lower, number, expected);
    default: return lower_poison();
    }
}

vyre_operand lower_expression(vyre_lower *lower, uint32_t node, vyre_value_type expected) {
    if (lower->depth >= VYRE_LIMIT_EXPRESSION_NESTING) {
        lower_report(lower, lower_spot(lower, node), 701,
                     "name parts of the expression with `let`, or nest calls less deeply",
                     "expressions and calls are nested deeper than %d levels",
                     VYRE_LIMIT_EXPRESSION_NESTING);
        return lower_poison();
    }
    lower->depth++;
    vyre_operand operand = lower_any(lower, node, expected);
    lower->depth--;
    return operand;
}

uint32_t lower_value(vyre_lower *lower, uint32_t node, vyre_type expected, vyre_type *out_type) {
    vyre_operand operand = lower_expression(lower, node, expected);
    bool valid = lower_settle(lower, &operand, expected, lower_spot(lower, node));
    if (out_type) {
        *out_type = valid ? (vyre_type)operand.type : VYRE_TYPE_VOID;
    }
    return valid ? (uint32_t)operand.value : VYRE_NONE;
}

bool lower_check_type(vyre_lower *lower, vyre_operand *operand, vyre_value_type type,
                      const char *what, uint32_t symbol, vyre_spot spot) {
    if (operand->kind == VYRE_OPERAND_PLAIN) {
        lower_settle_plain(lower, operand, type, spot);
    }
    if (operand->kind == VYRE_OPERAND_POISON || type == VYRE_TYPE_VOID || operand->type == type) {
        return operand->kind != VYRE_OPERAND_POISON;
    }
    vyre_name_text name = {""};
    if (symbol != VYRE_NONE) {
        lower_name(lower, symbol, &name);
    }
    vyre_type_text rooms[2];
    char fix[VYRE_LIMIT_NAME_BYTES + 32];
    const char *wanted = lower_type_name(lower, type, &rooms[0]);
    if (operand->kind == VYRE_OPERAND_COMPOSITE && vyre_type_is_scalar(type)) {
        snprintf(fix, sizeof fix, "%s",
                 vyre_type_is_vector(operand->type) ? "name one of its components, as in v.x"
                                                    : "name one of its fields");
    } else {
        snprintf(fix, sizeof fix, "%s %s(...)",
                 vyre_type_is_scalar(type) ? "convert it with" : "make one with", wanted);
    }
    lower_report(lower, spot, 301, fix, "%s%s%s%s is %s, expected %s", what, *name.text ? " `" : "",
                 name.text, *name.text ? "`" : "", lower_type_name(lower, operand->type, &rooms[1]),
                 wanted);
    *operand = lower_poison();
    return false;
}

vyre_operand lower_typed(vyre_lower *lower, uint32_t node, vyre_value_type type, const char *what,
                         uint32_t symbol) {
    vyre_operand operand = lower_expression(lower, node, type);
    lower_adopt(lower, node, &operand, type);
    lower_check_type(lower, &operand, type, what, symbol, lower_spot(lower, node));
    return operand;
}
