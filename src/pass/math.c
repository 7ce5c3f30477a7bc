/* Math expansion: elementary functions become the arithmetic that defines them, from math.vyre. */
#include <pthread.h>
#include <stdio.h>

#include "base/status.h"
#include "base/strbuf.h"
#include "ir/lookup.h"
#include "pass/pass.h"
#include "pass/rebuild.h"
#include "text/module.h"

/* The text of math.vyre, put into the library by the build. */
extern const char vyre_math_text[];

/* A function of math.vyre for f32 and for the types of 16 bits, each with a program around it. */
static void put_programs(vyre_strbuf *text, const char *function, const char *arguments) {
    static const char *const forms[] = {"f32", "half"};
    for (size_t i = 0; i < 2; i++) {
        vyre_strbuf_printf(text,
                           "program of_%s_%s(x: f32, y: f32, r: out buffer<f32>[1]) over 1 { "
                           "r[0] = %s_%s(%s); }\n",
                           function, forms[i], function, forms[i], arguments);
    }
}

/* math.vyre with a program around each function, so that its code can be had. Parsed on first use
 * and kept as long as the process; a failure for lack of memory is tried again. */
static vyre_status parse_functions(vyre_module **out_module) {
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, vyre_math_text);
#define PROGRAM(name, number, function, shape, rule, effects, cost, doc)                           \
    put_programs(&text, function, VYRE_SHAPE_##shape == VYRE_SHAPE_V2 ? "x, y" : "x");
    VYRE_OPS_ELEMENTARY(PROGRAM, PROGRAM)
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

static bool expand(vyre_rebuild *rebuild, uint32_t at) {
    const vyre_inst *inst = &rebuild->ir->insts[at];
    const vyre_op_info *info = vyre_lookup_op(inst->op);
    if (info->rule != VYRE_RULE_ELEMENTARY) {
        return false;
    }
    char name[32];
    bool is_half = vyre_type_bytes(vyre_inst_type(inst)) == 2;
    snprintf(name, sizeof name, "of_%s_%s", info->name, is_half ? "half" : "f32");
    vyre_program *function = vyre_module_find(rebuild->user, name);
    uint32_t arguments[2] = {
        vyre_build_convert(rebuild->to, VYRE_TYPE_F32, vyre_rebuild_operand(rebuild, inst->a))};
    arguments[1] = arguments[0]; /* not looked at where there is one */
    if (info->shape == VYRE_SHAPE_V2) {
        arguments[1] =
            vyre_build_convert(rebuild->to, VYRE_TYPE_F32, vyre_rebuild_operand(rebuild, inst->b));
    }
    uint32_t result = vyre_rebuild_splice(rebuild->to, function, info->name, arguments);
    rebuild->values[at] = vyre_build_convert(rebuild->to, vyre_inst_type(inst), result);
    return true;
}

vyre_status vyre_math_expand(const vyre_program *program, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    bool has_any = false;
    for (uint32_t i = 0; i < ir->inst_count && !has_any; i++) {
        has_any = vyre_lookup_op(ir->insts[i].op)->rule == VYRE_RULE_ELEMENTARY;
    }
    *out_program = NULL;
    if (!has_any) {
        return VYRE_OK;
    }
    const vyre_module *functions;
    VYRE_TRY(find_functions(&functions));
    vyre_rebuild hooks = {.replace = expand, .user = (void *)functions};
    return vyre_rebuild_run(program, hooks, out_program);
}
