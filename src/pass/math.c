#include "pass/math.h"

#include <pthread.h>

#include "base/status.h"
#include "base/strbuf.h"
#include "pass/rebuild.h"
#include "text/module.h"

/* The text of math.vyre, put into the library by the build. */
extern const char vyre_math_text[];

/* The operations it defines, by the functions <name>_f32 there: X(name in vyre_op, text, arguments)
 */
#define ELEMENTARY(X)                                                                              \
    X(EXP, "exp", 1)                                                                               \
    X(EXP2, "exp2", 1)                                                                             \
    X(LOG, "log", 1)                                                                               \
    X(LOG2, "log2", 1)                                                                             \
    X(SIN, "sin", 1)                                                                               \
    X(COS, "cos", 1)                                                                               \
    X(TAN, "tan", 1)                                                                               \
    X(ASIN, "asin", 1)                                                                             \
    X(ACOS, "acos", 1)                                                                             \
    X(ATAN, "atan", 1)                                                                             \
    X(SINH, "sinh", 1)                                                                             \
    X(COSH, "cosh", 1)                                                                             \
    X(TANH, "tanh", 1)                                                                             \
    X(ERF, "erf", 1)                                                                               \
    X(CBRT, "cbrt", 1)                                                                             \
    X(POW, "pow", 2)                                                                               \
    X(ATAN2, "atan2", 2)                                                                           \
    X(HYPOT, "hypot", 2)

/* math.vyre with a program around each function, so that its code can be had. Parsed on first use
 * and kept as long as the process; a failure for lack of memory is tried again. */
static vyre_status parse_functions(vyre_module **out_module) {
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, vyre_math_text);
#define PROGRAM(name, function, arguments)                                                         \
    vyre_strbuf_printf(&text,                                                                      \
                       "program of_%s(x: f32, y: f32, r: out buffer<f32>[1]) over 1 { "            \
                       "r[0] = %s_f32(x%s); }\n",                                                  \
                       function, function, arguments == 2 ? ", y" : "");
    ELEMENTARY(PROGRAM)
#undef PROGRAM
    vyre_status status = text.failed
                             ? vyre_no_memory("for the elementary functions")
                             : vyre_module_parse_with(&(vyre_parse_options){0}, "math.vyre",
                                                      text.data, text.size, NULL, out_module);
    vyre_strbuf_free(&text);
    return status;
}

static vyre_status find_functions(const vyre_module **out_module) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static vyre_module *module;
    vyre_status status = VYRE_OK;
    pthread_mutex_lock(&lock);
    if (!module) {
        status = parse_functions(&module);
    }
    *out_module = module;
    pthread_mutex_unlock(&lock);
    return status;
}

/* The position in the table above, which is that of the program in the module; 18 for any other
 * operation. */
static size_t find_row(uint32_t op) {
    static const uint16_t operations[] = {
#define OPERATION(name, function, arguments) VYRE_OP_##name,
        ELEMENTARY(OPERATION)
#undef OPERATION
    };
    size_t row = 0;
    while (row < sizeof operations / sizeof *operations && operations[row] != op) {
        row++;
    }
    return row;
}

static bool expand(vyre_rebuild *rebuild, uint32_t at) {
    const vyre_inst *inst = &rebuild->ir->insts[at];
    const vyre_op_info *info = vyre_op_info_of(inst->op);
    if (info->rule != VYRE_RULE_ELEMENTARY) {
        return false;
    }
    vyre_program *function = vyre_module_program(rebuild->user, find_row(inst->op));
    uint32_t arguments[2] = {
        vyre_build_convert(rebuild->to, VYRE_TYPE_F32, vyre_rebuild_operand(rebuild, inst->a))};
    arguments[1] = arguments[0]; /* not looked at where there is one */
    if (info->shape == VYRE_SHAPE_V2) {
        arguments[1] =
            vyre_build_convert(rebuild->to, VYRE_TYPE_F32, vyre_rebuild_operand(rebuild, inst->b));
    }
    uint32_t result = vyre_rebuild_splice(rebuild->to, function, info->name, arguments);
    rebuild->values[at] = vyre_build_convert(rebuild->to, (vyre_type)inst->type, result);
    return true;
}

vyre_status vyre_math_expand(const vyre_program *program, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    bool has_any = false;
    for (uint32_t i = 0; i < ir->inst_count && !has_any; i++) {
        has_any = vyre_op_info_of(ir->insts[i].op)->rule == VYRE_RULE_ELEMENTARY;
    }
    *out_program = NULL;
    if (!has_any) {
        return VYRE_OK;
    }
    const vyre_module *functions;
    vyre_status status = find_functions(&functions);
    vyre_rebuild rebuild;
    status = status ? status : vyre_rebuild_init(&rebuild, program);
    if (status) {
        return status;
    }
    rebuild.replace = expand;
    rebuild.user = (void *)functions;
    status = vyre_rebuild_run(&rebuild, out_program);
    vyre_rebuild_deinit(&rebuild);
    return status;
}
