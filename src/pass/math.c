/* Math expansion: elementary functions become the arithmetic that defines them, from math.vyre. */
#include <pthread.h>
#include <stdio.h>

#include "base/status.h"
#include "base/strbuf.h"
#include "ir/lookup.h"
#include "pass/pass.h"
#include "pass/rebuild.h"
#include "text/module.h"

/* The texts of math.vyre, and of polynomials.vyre with math_f64.vyre, put into the library by the
 * build. */
extern const char vyre_math_text[], vyre_math_f64_text[];

/* Which form of a function an operand's type takes, and the type that form computes in. */
typedef enum form { FORM_F32, FORM_HALF, FORM_F64, FORM_COUNT } form;
static const char *const form_names[FORM_COUNT] = {"f32", "half", "f64"};

static form form_of(vyre_op op, vyre_type type) {
    uint32_t bytes = vyre_type_bytes(type);
    bool is_exact = op == VYRE_OP_FMOD; /* so that the detour is no second rounding */
    return bytes == 8 || is_exact ? FORM_F64 : bytes == 2 ? FORM_HALF : FORM_F32;
}

static vyre_type type_of(form which) {
    return which == FORM_F64 ? VYRE_TYPE_F64 : VYRE_TYPE_F32;
}

/* A function in one of its forms, with a program around it. */
static void put_program(vyre_strbuf *text, const char *function, form which,
                        const char *arguments) {
    const char *type = vyre_type_name(type_of(which)), *name = form_names[which];
    vyre_strbuf_printf(text,
                       "program of_%s_%s(x: %s, y: %s, r: out buffer<%s>[1]) over 1 { "
                       "r[0] = %s_%s(%s); }\n",
                       function, name, type, type, type, function, name, arguments);
}

/* The text with a program around each function, so that its code can be had. */
static vyre_status parse_functions(bool is_wide, vyre_module **out_module) {
    vyre_strbuf text = {0};
    vyre_strbuf_puts(&text, is_wide ? vyre_math_f64_text : vyre_math_text);
    for (form which = FORM_F32; which < FORM_COUNT; which++) {
#define PROGRAM(name, number, function, shape, rule, effects, cost, doc)                           \
    if ((which == FORM_F64) == is_wide && (is_wide || VYRE_OP_##name != VYRE_OP_FMOD)) {           \
        put_program(&text, function, which, VYRE_SHAPE_##shape == VYRE_SHAPE_V2 ? "x, y" : "x");   \
    }
        VYRE_OPS_ELEMENTARY(PROGRAM, PROGRAM)
#undef PROGRAM
    }
    vyre_status status = text.failed
                             ? vyre_no_memory("for the elementary functions")
                             : vyre_module_parse_with(&(vyre_parse_options){0},
                                                      is_wide ? "math_f64.vyre" : "math.vyre",
                                                      text.data, text.size, NULL, out_module);
    vyre_strbuf_free(&text);
    return status;
}

/* Parsed on first use and kept as long as the process; a failure for lack of memory is tried again.
 * Those of f64 are apart, since few programs need them. */
static vyre_status find_functions(bool is_wide, const vyre_module **out_module) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static vyre_module *modules[2];
    vyre_status status = VYRE_OK;
    pthread_mutex_lock(&lock);
    if (!modules[is_wide]) {
        status = parse_functions(is_wide, &modules[is_wide]);
    }
    *out_module = modules[is_wide];
    pthread_mutex_unlock(&lock);
    return status;
}

/* The modules that a program needs: of f64, and of the other types. */
typedef struct functions {
    const vyre_module *of[2];
} functions;

static uint32_t argument(vyre_rebuild *rebuild, uint32_t operand, vyre_type type) {
    return vyre_build_convert(rebuild->to, type, vyre_rebuild_operand(rebuild, operand));
}

static bool expand(vyre_rebuild *rebuild, uint32_t at) {
    const vyre_inst *inst = &rebuild->ir->insts[at];
    const vyre_op_info *info = vyre_lookup_op(inst->op);
    if (info->rule != VYRE_RULE_ELEMENTARY) {
        return false;
    }
    const functions *known = rebuild->user;
    form which = form_of(vyre_inst_op(inst), vyre_inst_type(inst));
    char name[32];
    snprintf(name, sizeof name, "of_%s_%s", info->name, form_names[which]);
    vyre_program *function = vyre_module_find(known->of[which == FORM_F64], name);
    uint32_t arguments[2] = {argument(rebuild, inst->a, type_of(which))};
    arguments[1] = info->shape == VYRE_SHAPE_V2 ? argument(rebuild, inst->b, type_of(which))
                                                : arguments[0]; /* not looked at */
    uint32_t result = vyre_rebuild_splice(rebuild->to, function, info->name, arguments);
    rebuild->values[at] = vyre_build_convert(rebuild->to, vyre_inst_type(inst), result);
    return true;
}

vyre_status vyre_math_expand(const vyre_program *program, vyre_program **out_program) {
    const vyre_ir *ir = vyre_program_ir(program);
    bool needed[2] = {false, false};
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        vyre_op op = vyre_inst_op(&ir->insts[i]);
        if (vyre_lookup_op(op)->rule == VYRE_RULE_ELEMENTARY) {
            needed[form_of(op, vyre_inst_type(&ir->insts[i])) == FORM_F64] = true;
        }
    }
    *out_program = NULL;
    if (!needed[false] && !needed[true]) {
        return VYRE_OK;
    }
    functions known = {{NULL, NULL}};
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        if (needed[is_wide]) {
            VYRE_TRY(find_functions(is_wide, &known.of[is_wide]));
        }
    }
    vyre_rebuild hooks = {.replace = expand, .user = &known};
    return vyre_rebuild_run(program, hooks, out_program);
}
