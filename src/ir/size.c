#include "ir/size.h"

#include "ir/program.h"

static const char *const names[VYRE_SIZE_COUNT] = {
#define NAME(name, number, text, operands) [number] = text,
    VYRE_SIZE_OPS(NAME)
#undef NAME
};

static uint64_t const_value(const vyre_size_node *node) {
    return node->a | (uint64_t)node->b << 32;
}

static bool is_call(uint32_t op) {
    return op == VYRE_SIZE_MIN || op == VYRE_SIZE_MAX || op == VYRE_SIZE_CEIL_DIV;
}

static void print_operand(vyre_strbuf *text, const vyre_ir *ir, uint32_t size, bool in_operator) {
    bool wrap = in_operator && ir->sizes[size].op >= VYRE_SIZE_ADD && !is_call(ir->sizes[size].op);
    vyre_strbuf_puts(text, wrap ? "(" : "");
    vyre_size_print(text, ir, size);
    vyre_strbuf_puts(text, wrap ? ")" : "");
}

/* The depth of sizes is limited, and so is this recursion. */
void vyre_size_print(vyre_strbuf *text, const vyre_ir *ir, uint32_t size) {
    const vyre_size_node *node = &ir->sizes[size];
    switch (node->op) {
    case VYRE_SIZE_CONST: vyre_strbuf_u64(text, const_value(node)); return;
    case VYRE_SIZE_LEN:
        vyre_strbuf_printf(text, "len(%s)", ir->strings + ir->args[node->a].name);
        return;
    case VYRE_SIZE_PARAM: vyre_strbuf_puts(text, ir->strings + ir->args[node->a].name); return;
    default: break;
    }
    if (is_call(node->op)) {
        vyre_strbuf_printf(text, "%s(", names[node->op]);
        print_operand(text, ir, node->a, false);
        vyre_strbuf_puts(text, ", ");
        print_operand(text, ir, node->b, false);
        vyre_strbuf_putc(text, ')');
    } else {
        print_operand(text, ir, node->a, true);
        vyre_strbuf_printf(text, " %s ", names[node->op]);
        print_operand(text, ir, node->b, true);
    }
}

bool vyre_size_apply(uint32_t op, uint64_t left, uint64_t right, uint64_t *out,
                     const char **problem) {
    switch ((vyre_size_op)op) {
    case VYRE_SIZE_ADD:
        *problem = "is larger than 64 bits can hold";
        *out = left + right;
        return *out >= left;
    case VYRE_SIZE_SUB:
        *problem = "is less than zero";
        *out = left - right;
        return left >= right;
    case VYRE_SIZE_MUL:
        *problem = "is larger than 64 bits can hold";
        *out = left * right;
        return !left || *out / left == right;
    case VYRE_SIZE_DIV:
        *problem = "divides by zero";
        *out = right ? left / right : 0;
        return right;
    case VYRE_SIZE_REM:
        *problem = "divides by zero";
        *out = right ? left % right : 0;
        return right;
    case VYRE_SIZE_CEIL_DIV:
        *problem = "divides by zero";
        *out = right ? left / right + (left % right != 0) : 0;
        return right;
    case VYRE_SIZE_MIN: *out = left < right ? left : right; return true;
    case VYRE_SIZE_MAX: *out = left > right ? left : right; return true;
    case VYRE_SIZE_CONST:
    case VYRE_SIZE_LEN:
    case VYRE_SIZE_PARAM:
    case VYRE_SIZE_COUNT: break;
    }
    *problem = "is not an expression";
    return false;
}

static vyre_status refuse(const vyre_program *program, uint32_t part, const char *problem,
                          uint64_t left, uint64_t right) {
    vyre_strbuf text = {0};
    vyre_size_print(&text, &program->ir, part);
    vyre_status status = vyre_status_make(
        VYRE_STATUS_INVALID_ARGUMENT, "pass buffers and arguments that give a valid size",
        "program `%s`: the size %s %s, with operands %llu and %llu", vyre_program_name(program),
        vyre_strbuf_string(&text), problem, (unsigned long long)left, (unsigned long long)right);
    vyre_strbuf_free(&text);
    return status;
}

vyre_status vyre_size_eval(const vyre_program *program, uint32_t size, const uint64_t *arguments,
                           uint64_t *out_value) {
    const vyre_ir *ir = &program->ir;
    *out_value = 0;
    if (size >= ir->size_count) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "pass a size of this program",
                                "program `%s` has no size %u", vyre_program_name(program), size);
    }
    uint32_t first = size;
    for (uint32_t open = ir->sizes[size].op >= VYRE_SIZE_ADD ? 2 : 0; open; open--) {
        first--;
        open += ir->sizes[first].op >= VYRE_SIZE_ADD ? 2 : 0;
    }
    /* A nesting of n needs at most n + 1 values at once. */
    uint64_t stack[VYRE_LIMIT_EXPRESSION_NESTING + 1];
    uint32_t depth = 0;
    for (uint32_t i = first; i <= size; i++) {
        const vyre_size_node *node = &ir->sizes[i];
        if (node->op < VYRE_SIZE_ADD) {
            uint64_t value = node->op == VYRE_SIZE_CONST ? const_value(node) : arguments[node->a];
            bool is_signed =
                node->op == VYRE_SIZE_PARAM &&
                vyre_type_class_of((vyre_type)ir->args[node->a].type) == VYRE_CLASS_SIGNED;
            if (is_signed && (int64_t)value < 0) {
                return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "pass a positive number",
                                        "program `%s`: argument `%s` is %lld, and a size uses it",
                                        vyre_program_name(program),
                                        ir->strings + ir->args[node->a].name, (long long)value);
            }
            stack[depth++] = value;
            continue;
        }
        const char *problem = "";
        uint64_t right = stack[--depth], left = stack[depth - 1];
        if (!vyre_size_apply(node->op, left, right, &stack[depth - 1], &problem)) {
            return refuse(program, i, problem, left, right);
        }
    }
    *out_value = stack[0];
    return VYRE_OK;
}
