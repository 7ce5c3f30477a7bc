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

static uint64_t leaf_value(const vyre_size_node *node, const uint64_t *arguments,
                           const uint32_t *iterations) {
    return node->op == VYRE_SIZE_CONST       ? const_value(node)
           : node->op != VYRE_SIZE_ITERATION ? arguments[node->a]
           : iterations                      ? iterations[node->a]
                                             : 0;
}

static bool is_call(uint32_t op) {
    return op == VYRE_SIZE_MIN || op == VYRE_SIZE_MAX || op == VYRE_SIZE_CEIL_DIV;
}

typedef struct printing {
    vyre_strbuf *text;
    const vyre_ir *ir;
    vyre_size_step_name name;
    void *user;
} printing;

static void print(const printing *p, uint32_t size);

static void print_operand(const printing *p, uint32_t size, bool in_operator) {
    uint32_t op = p->ir->sizes[size].op;
    bool wrap = in_operator && vyre_size_is_operator(op) && !is_call(op);
    vyre_strbuf_puts(p->text, wrap ? "(" : "");
    print(p, size);
    vyre_strbuf_puts(p->text, wrap ? ")" : "");
}

/* The depth of sizes is limited, and so is this recursion. */
static void print(const printing *p, uint32_t size) {
    const vyre_ir *ir = p->ir;
    const vyre_size_node *node = &ir->sizes[size];
    switch (node->op) {
    case VYRE_SIZE_CONST: vyre_strbuf_u64(p->text, const_value(node)); return;
    case VYRE_SIZE_LEN:
        vyre_strbuf_printf(p->text, "len(%s)", ir->strings + ir->args[node->a].name);
        return;
    case VYRE_SIZE_PARAM: vyre_strbuf_puts(p->text, ir->strings + ir->args[node->a].name); return;
    case VYRE_SIZE_ITERATION: p->name(p->user, p->text, node->a); return;
    default: break;
    }
    if (is_call(node->op)) {
        vyre_strbuf_printf(p->text, "%s(", names[node->op]);
        print_operand(p, node->a, false);
        vyre_strbuf_puts(p->text, ", ");
        print_operand(p, node->b, false);
        vyre_strbuf_putc(p->text, ')');
    } else {
        print_operand(p, node->a, true);
        vyre_strbuf_printf(p->text, " %s ", names[node->op]);
        print_operand(p, node->b, true);
    }
}

void vyre_size_print_named(vyre_strbuf *text, const vyre_ir *ir, uint32_t size,
                           vyre_size_step_name name, void *user) {
    print(&(printing){text, ir, name, user}, size);
}

/* As the author called it. */
static void print_step(void *user, vyre_strbuf *text, uint32_t step) {
    const vyre_ir *ir = user;
    const char *name = ir->step_name_count ? ir->debug_strings + ir->step_names[step] : "";
    if (*name) {
        vyre_strbuf_puts(text, name);
    } else {
        vyre_strbuf_printf(text, "the counter of step %u", step);
    }
}

void vyre_size_print(vyre_strbuf *text, const vyre_ir *ir, uint32_t size) {
    vyre_size_print_named(text, ir, size, print_step, (void *)(uintptr_t)ir);
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
    case VYRE_SIZE_ITERATION:
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

vyre_status vyre_size_eval_at(const vyre_program *program, uint32_t size, const uint64_t *arguments,
                              const uint32_t *iterations, uint64_t *out_value) {
    const vyre_ir *ir = &program->ir;
    *out_value = 0;
    if (size >= ir->size_count) {
        return vyre_status_make(VYRE_STATUS_INVALID_ARGUMENT, "pass a size of this program",
                                "program `%s` has no size %u", vyre_program_name(program), size);
    }
    uint32_t first = vyre_size_first(ir, size);
    /* A nesting of n needs at most n + 1 values at once. */
    uint64_t stack[VYRE_LIMIT_EXPRESSION_NESTING + 1];
    uint32_t depth = 0;
    for (uint32_t i = first; i <= size; i++) {
        const vyre_size_node *node = &ir->sizes[i];
        if (!vyre_size_is_operator(node->op)) {
            uint64_t value = leaf_value(node, arguments, iterations);
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

vyre_status vyre_size_eval(const vyre_program *program, uint32_t size, const uint64_t *arguments,
                           uint64_t *out_value) {
    return vyre_size_eval_at(program, size, arguments, NULL, out_value);
}

bool vyre_size_counts(const vyre_ir *ir, uint32_t size) {
    uint32_t first = vyre_size_first(ir, size);
    while (first < size && ir->sizes[first].op != VYRE_SIZE_ITERATION) {
        first++;
    }
    return ir->sizes[first].op == VYRE_SIZE_ITERATION;
}

bool vyre_repeat_is_open(const vyre_ir *ir, uint32_t step) {
    return ir->steps[step].kind == VYRE_STEP_REPEAT_WHILE ||
           vyre_size_is_open(ir, ir->steps[step].size);
}

/* A count uses counters of repeats further out alone, and few of these nest. */
bool vyre_size_is_open(const vyre_ir *ir, uint32_t size) {
    bool open = false;
    for (uint32_t i = vyre_size_first(ir, size); i <= size && !open; i++) {
        open = ir->sizes[i].op == VYRE_SIZE_ITERATION && vyre_repeat_is_open(ir, ir->sizes[i].a);
    }
    return open;
}

uint64_t vyre_size_now(const vyre_ir *ir, uint32_t size, const uint64_t *arguments,
                       const uint32_t *iterations) {
    uint64_t stack[VYRE_LIMIT_EXPRESSION_NESTING + 1];
    uint32_t depth = 0;
    for (uint32_t i = vyre_size_first(ir, size); i <= size; i++) {
        const vyre_size_node *node = &ir->sizes[i];
        if (!vyre_size_is_operator(node->op)) {
            stack[depth++] = leaf_value(node, arguments, iterations);
            continue;
        }
        const char *problem;
        uint64_t right = stack[--depth], left = stack[depth - 1];
        if (!vyre_size_apply(node->op, left, right, &stack[depth - 1], &problem)) {
            stack[depth - 1] = 0; /* a difference below zero */
        }
    }
    return stack[0];
}
