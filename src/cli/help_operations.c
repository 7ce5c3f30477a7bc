/* The topic `operations`: the operation table for readers of the language. */
#include <stdio.h>

#include <vyre/op.h>

#include "cli/help.h"
#include "ir/cases.h"
#include "ir/word.h"

/* Numbers of operations that belong together start at multiples of 16. */
static const struct {
    uint32_t first;
    const char *heading, *text;
} groups[] = {
    {VYRE_OP_PARAM, "Surroundings", "Values that every invocation has without computing them."},
    {VYRE_OP_ADD, "Arithmetic", NULL},
    {VYRE_OP_AND, "Bits", NULL},
    {VYRE_OP_FMA, "Floats", NULL},
    {VYRE_OP_EQ, "Comparison, choice, conversion",
     "`a > b` and `a >= b` are `b < a` and `b <= a`. T(a) of an `a` that has type T is `a`: a NaN "
     "keeps its bits."},
    {VYRE_OP_EXP, "Elementary functions",
     "On f16 and bf16 all of them are correctly rounded, also those of two arguments. On f64 a "
     "result "
     "is at most 1 ULP off."},
    {VYRE_OP_LOAD, "Memory and barriers",
     "`x` is an array. A load past its end returns 0, and a store past its end does nothing. "
     "Atomics take an optional ordering and scope after their operands. All but `atomic_store` "
     "return the old value."},
    {VYRE_OP_SHUFFLE, "Subgroups",
     "OP is `add`, `mul`, `min` or `max` for numbers, and `and`, `or` or `xor` for integers and "
     "bool."},
    {VYRE_OP_IF, "Control flow",
     "The statements of the language; docs/language.md shows their syntax."},
    {VYRE_OP_PRINT, "Messages",
     "The host replaces these before a backend sees the program; docs/language.md shows their "
     "texts."},
};

/* How a type rule reads. */
static const char *rule_text(vyre_rule rule) {
    switch (rule) {
    case VYRE_RULE_NONE: return "";
    case VYRE_RULE_OWN: return "";
    case VYRE_RULE_NUMBER: return "integers, floats";
    case VYRE_RULE_INTEGER: return "integers";
    case VYRE_RULE_NEGATABLE: return "signed integers, floats";
    case VYRE_RULE_BITS: return "integers, bool";
    case VYRE_RULE_FLOAT:
    case VYRE_RULE_ELEMENTARY: return "floats";
    case VYRE_RULE_SHIFT: return "integers; b is u32";
    case VYRE_RULE_EQUAL: return "all; returns bool";
    case VYRE_RULE_ORDER: return "integers, floats; returns bool";
    case VYRE_RULE_SELECT: return "all; a is bool";
    case VYRE_RULE_CONVERT: return "all";
    case VYRE_RULE_BITCAST: return "all but bool; T as large as a's";
    case VYRE_RULE_LANE: return "all; b is u32";
    case VYRE_RULE_BALLOT: return "bool; returns u32, u64 for 64 lanes";
    case VYRE_RULE_VOTE: return "bool";
    case VYRE_RULE_COMBINE: return "see above";
    case VYRE_RULE_MATRIX: return "u32 a, b; i32 c";
    }
    return "";
}

static const char *types_of(vyre_op op, const vyre_op_info *info) {
    switch (op) {
    case VYRE_OP_PARAM: return "its own";
    case VYRE_OP_IN_DOMAIN: return "bool";
    case VYRE_ONE_OF(GID, LID, WID, NUM_WORKGROUPS, LANE, SUBGROUP_ID, ITERATION, LEN):
        return "u32";
    case VYRE_ONE_OF(LOAD, STORE, UNIFORM_LOAD): return "all";
    case VYRE_ANY_OF(ATOMIC): return "i32, u32, i64, u64";
    case VYRE_OP_CLEAR:
    case VYRE_ANY_OF(PURE, ELEMENTARY, BARRIER, SUBGROUP, CONTROL, NONE): break;
    }
    return rule_text((vyre_rule)info->rule);
}

/* How the operation is written: values are a, b, c, an array is x. */
static void write_form(char *form, size_t size, vyre_op op, const vyre_op_info *info) {
    const char *operator_form = vyre_operator_form(op);
    const char *values = "";
    switch (info->shape) {
    case VYRE_SHAPE_V1: values = "a"; break;
    case VYRE_SHAPE_V2: values = "a, b"; break;
    case VYRE_SHAPE_V3: values = "a, b, c"; break;
    case VYRE_SHAPE_R: values = "x"; break;
    case VYRE_SHAPE_R_V1: values = "x[i]"; break;
    case VYRE_SHAPE_R_V2: values = "x[i], a"; break;
    case VYRE_SHAPE_R_LIST: values = "x[i], a, b"; break;
    case VYRE_SHAPE_GROUP: values = "a0..a3, b0, b1, c0..c3"; break;
    default: break;
    }
    switch (op) {
    case VYRE_OP_PARAM: snprintf(form, size, "NAME"); return;
    case VYRE_OP_ITERATION: snprintf(form, size, "NAME of a repeat"); return;
    case VYRE_OP_LOAD: snprintf(form, size, "x[i]"); return;
    case VYRE_OP_STORE: snprintf(form, size, "x[i] = a"); return;
    case VYRE_OP_CONVERT: snprintf(form, size, "T(a)"); return;
    case VYRE_OP_BITCAST: snprintf(form, size, "bitcast<T>(a)"); return;
    case VYRE_OP_NOT: snprintf(form, size, "~a, !a"); return;
    case VYRE_OP_PRINT: snprintf(form, size, "print(\"{}\", a)"); return;
    case VYRE_OP_ASSERT: snprintf(form, size, "assert(a, \"{}\", b)"); return;
    case VYRE_ONE_OF(GID, LID, WID, NUM_WORKGROUPS):
        snprintf(form, size, "%s, %s.x .y .z", info->name, info->name);
        return;
    case VYRE_ONE_OF(IN_DOMAIN, LANE, SUBGROUP_ID, LEN, CLEAR, UNIFORM_LOAD, SELECT):
    case VYRE_ONE_OF(AND, OR, XOR):
    case VYRE_ANY_OF(ARITHMETIC, INTEGER, SHIFT, BITS, FLOAT, COMPARE, ELEMENTARY, ATOMIC, BARRIER,
                     SUBGROUP, CONTROL):
    case VYRE_ONE_OF(NONE, COUNT): break; /* as its operator, or as a call */
    }
    if (*operator_form) {
        snprintf(form, size, "%s", operator_form);
    } else if (*values) {
        snprintf(form, size, "%s%s(%s)", info->name, info->rule == VYRE_RULE_COMBINE ? "_OP" : "",
                 values);
    } else {
        snprintf(form, size, "%s", info->name);
    }
}

/* Block arguments, results and ends that have no word exist only in programs, not in text. */
static bool is_written(vyre_op op, const vyre_op_info *info) {
    return info->name && info->shape != VYRE_SHAPE_PICK && op != VYRE_OP_UNREACHABLE;
}

static void add_rows(vyre_table *table, uint32_t first, uint32_t end) {
    for (uint32_t op = first; op < end; op++) {
        const vyre_op_info *info = vyre_op_info_of(op);
        if (!is_written((vyre_op)op, info)) {
            continue;
        }
        char form[64];
        write_form(form, sizeof form, (vyre_op)op, info);
        VYRE_TABLE_CELLS(table, form, types_of((vyre_op)op, info));
        vyre_table_add(table, "%u", info->cost);
        vyre_table_add(table, "%s", info->doc);
    }
}

static void add_small_functions(vyre_page *page) {
    static const char *const operands[] = {"", "a", "a, b", "a, b, c"};
    vyre_table table = {.columns = 3, .code = 1};
    VYRE_TABLE_CELLS(&table, "written", "types", "meaning");
    for (uint32_t i = 0; i < VYRE_SMALL_COUNT; i++) {
        const vyre_small_info *info = &vyre_small_functions[i];
        bool is_number = info->classes == VYRE_CLASS_NUMBER;
        vyre_table_add(&table, "%s(%s)", info->name, operands[info->operands]);
        VYRE_TABLE_CELLS(&table, is_number ? "integers, floats" : "floats", info->doc);
    }
    vyre_page_heading(page, "Functions of several operations");
    vyre_page_paragraph(page,
                        "Each is short for the operations that its meaning shows. A declared "
                        "function of the same name hides it. The same holds for `exp10`, `log10` "
                        "and `fmod`. On vectors they work component by "
                        "component.");
    vyre_page_table(page, &table);
}

void cli_help_operations(vyre_page *page) {
    vyre_page_title(page, "Operations");
    vyre_page_paragraph(page,
                        "Every operation of the language. The operands are `a`, `b` and `c`. All "
                        "operands of an operation, and its result, have the same type T, one of "
                        "those listed, unless the table says otherwise. The cost is a rough count "
                        "of cycles.");
    size_t count = sizeof groups / sizeof groups[0];
    for (size_t i = 0; i < count; i++) {
        vyre_table table = {.columns = 4, .right = 4, .code = 1};
        VYRE_TABLE_CELLS(&table, "written", "types", "cost", "meaning");
        add_rows(&table, groups[i].first, i + 1 < count ? groups[i + 1].first : VYRE_OP_COUNT);
        vyre_page_heading(page, groups[i].heading);
        if (groups[i].text) {
            vyre_page_paragraph(page, groups[i].text);
        }
        vyre_page_table(page, &table);
    }
    add_small_functions(page);
    cli_help_source(page, "include/vyre/op.h");
}
