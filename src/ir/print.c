/* A program as text: one instruction a line, blocks with explicit values. What it prints parses
 * back to the same program. */

#include <string.h>

#include <vyre/program.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/status.h"
#include "ir/cases.h"
#include "ir/lookup.h"
#include "ir/message.h"
#include "ir/print.h"
#include "ir/program.h"
#include "ir/size.h"
#include "ir/word.h"

typedef struct printer {
    const vyre_ir *ir;
    vyre_strbuf text;
    uint8_t *used;    /* by instruction: whether its value is */
    bool *tables;     /* by resource: whether an instruction reads it */
    size_t next_name; /* in value_names */
    uint32_t *names;  /* by instruction of the phase: its name, 0 if none */
    uint32_t phase_first;
    int indent;
    bool may_collide; /* the name of the program or of an argument ends like a local one */
    vyre_print_note note;
    void *note_user;
} printer;

/* The end of an instruction's line, with what there is to say about it. */
static void end_line(printer *p, uint32_t at, const char *end) {
    vyre_strbuf_puts(&p->text, end);
    if (p->note) {
        size_t before = p->text.size;
        vyre_strbuf_puts(&p->text, "  // ");
        size_t start = p->text.size;
        p->note(p->note_user, at, &p->text);
        if (p->text.size == start) {
            vyre_strbuf_cut(&p->text, before);
        }
    }
    vyre_strbuf_putc(&p->text, '\n');
}

static void line(printer *p) {
    vyre_strbuf_repeat(&p->text, ' ', (size_t)p->indent * 4);
}

/* Names */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The name of an argument, or of the program, which constant arrays stand beside. */
static bool is_arg_name(const vyre_ir *ir, const char *name) {
    bool found = !strcmp(ir->strings, name);
    for (uint32_t i = 0; i < ir->arg_count && !found; i++) {
        found = !strcmp(ir->strings + ir->args[i].name, name);
    }
    return found;
}

static bool ends_like_local(const char *name) {
    char last = name[strlen(name) - 1];
    return last == '_' || is_digit(last);
}

/* Local names end in a number that nobody else has; arguments keep theirs, so a local name that
 * happens to be an argument's gets one more character. */
static void print_local(printer *p, const char *start_with, vyre_str name, const char *separator,
                        uint32_t number) {
    size_t start = p->text.size;
    vyre_strbuf_puts(&p->text, start_with);
    for (size_t i = 0; i < name.size; i++) { /* an operation's id has points, an instance types */
        vyre_strbuf_putc(&p->text, strchr(".<>,", name.data[i]) ? '_' : name.data[i]);
    }
    vyre_strbuf_puts(&p->text, separator);
    vyre_strbuf_u64(&p->text, number);
    while (p->may_collide && !p->text.failed && is_arg_name(p->ir, p->text.data + start)) {
        vyre_strbuf_putc(&p->text, '_');
    }
}

/* The author's part of a name for people: without the numbers that printing puts behind it, so
 * that they do not pile up when a printed program is parsed and printed again. `otherwise` if
 * nothing is left, or if it is no name of the language with room for a number. */
static vyre_str stem(const char *name, const char *otherwise) {
    size_t size = strlen(name);
    for (size_t at = size; at > 0;) {
        while (at > 0 && is_digit(name[at - 1])) {
            at--;
        }
        bool lettered = at > 1 && (name[at - 1] == 'm' || name[at - 1] == 's');
        size_t cut = at - lettered;
        if (at == size || cut < 2 || name[cut - 1] != '_') {
            break;
        }
        size = at = cut - 1;
    }
    bool valid = size > 0 && size <= VYRE_LIMIT_NAME_BYTES - 16;
    bool numbered = name[0] == 'v' && size > 1; /* as values without a name are printed */
    for (size_t i = 0; i < size && valid; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        valid = letter || (i > 0 && (is_digit(c) || strchr(".<>,", c)));
        numbered = numbered && (i == 0 || is_digit(c));
    }
    return valid && !numbered ? (vyre_str){name, size} : (vyre_str){otherwise, strlen(otherwise)};
}

/* Buffers are arguments and keep their names; other arrays get a letter before the number, which
 * values do not have. */
static void print_resource(printer *p, uint32_t resource) {
    const vyre_ir *ir = p->ir;
    if (ir->resources[resource].kind == VYRE_RESOURCE_BUFFER) {
        for (uint32_t i = 0; i < ir->arg_count; i++) {
            if (ir->args[i].resource == resource) {
                vyre_strbuf_puts(&p->text, ir->strings + ir->args[i].name);
                return;
            }
        }
    }
    const char *name = vyre_ir_resource_name(ir, resource);
    print_local(p, "", stem(name, "array"), "_m", resource);
}

static void print_step_name(printer *p, uint32_t step) {
    const char *name = p->ir->step_name_count ? p->ir->debug_strings + p->ir->step_names[step] : "";
    print_local(p, "", stem(name, "step"), "_s", step);
}

/* Values that nobody uses start with `_`, which keeps the parser from warning. */
static void print_value(printer *p, uint32_t inst) {
    uint32_t offset = p->names[inst - p->phase_first];
    const char *name = offset ? p->ir->debug_strings + offset : "";
    const char *hidden = p->used[inst] ? "" : "_";
    vyre_str prefix = stem(name + (*name == '_'), "");
    if (prefix.size) {
        print_local(p, hidden, prefix, "_", inst);
    } else {
        print_local(p, hidden, (vyre_str){"v", 1}, "", inst);
    }
}

/* Constants */

vyre_float_format vyre_type_format(vyre_type type) {
    return type == VYRE_TYPE_F16    ? VYRE_FLOAT_F16
           : type == VYRE_TYPE_BF16 ? VYRE_FLOAT_BF16
           : type == VYRE_TYPE_F32  ? VYRE_FLOAT_F32
                                    : VYRE_FLOAT_F64;
}

static const char *suffix(vyre_type type) {
    return type == VYRE_TYPE_U32   ? "u"
           : type == VYRE_TYPE_I32 ? "i"
           : type == VYRE_TYPE_F32 ? "f"
                                   : vyre_type_name(type);
}

static void print_float(printer *p, vyre_type type, uint64_t bits) {
    vyre_float_format format = vyre_type_format(type);
    uint64_t exponent = bits >> format.mantissa_bits & ((1u << format.exponent_bits) - 1);
    if (exponent == (1u << format.exponent_bits) - 1) {
        vyre_strbuf_printf(&p->text, "bits<%s>(0x%llx)", vyre_type_name(type),
                           (unsigned long long)bits);
        return;
    }
    vyre_float_print(&p->text, format, bits);
    vyre_strbuf_puts(&p->text, suffix(type));
}

static void print_const(printer *p, const vyre_const *row) {
    vyre_type type = vyre_const_type(row);
    vyre_type_class kind = vyre_lookup_class(type);
    if (kind == VYRE_CLASS_FLOAT) {
        print_float(p, type, row->bits);
        return;
    }
    vyre_bits_print(&p->text, type, row->bits);
    vyre_strbuf_puts(&p->text, kind == VYRE_CLASS_BOOL ? "" : suffix(type));
}

static void print_operand(printer *p, uint32_t operand) {
    if (vyre_operand_is_constant(operand)) {
        print_const(p, vyre_operand_const(p->ir, operand));
    } else {
        print_value(p, operand);
    }
}

static void print_operands(printer *p, const uint32_t *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        vyre_strbuf_puts(&p->text, i ? ", " : "");
        print_operand(p, values[i]);
    }
}

/* Expressions */

static void print_element(printer *p, const vyre_inst *inst) {
    const vyre_resource *row = vyre_access_array(p->ir, inst);
    bool is_field = vyre_resource_is_field(row);
    print_resource(p, is_field ? row->size : vyre_access_resource(inst));
    vyre_strbuf_putc(&p->text, '[');
    print_operand(p, vyre_access_index(p->ir, inst));
    vyre_strbuf_putc(&p->text, ']');
    if (is_field) {
        vyre_strbuf_printf(&p->text, ".at%u", row->length);
    }
}

/* A call whose first argument is an element: atomics and uniform_load. */
static void print_element_call(printer *p, const vyre_inst *inst, const vyre_op_info *info) {
    vyre_list values = vyre_inst_operands(p->ir, inst);
    vyre_strbuf_printf(&p->text, "%s(", info->name);
    print_element(p, inst);
    for (uint32_t i = 1; i < values.count; i++) {
        vyre_strbuf_puts(&p->text, ", ");
        print_operand(p, values.items[i]);
    }
    if (info->effects & VYRE_EFFECT_ATOMIC) {
        bool is_shared = vyre_access_array(p->ir, inst)->kind == VYRE_RESOURCE_SHARED;
        bool workgroup = vyre_atomic_scope(inst) == VYRE_SCOPE_WORKGROUP && !is_shared;
        vyre_ordering ordering = vyre_atomic_ordering(inst);
        if (ordering != VYRE_ORDERING_RELAXED || workgroup) {
            vyre_strbuf_printf(&p->text, ", %s", vyre_ordering_name(ordering));
        }
        vyre_strbuf_puts(&p->text, workgroup ? ", workgroup" : "");
    }
    vyre_strbuf_putc(&p->text, ')');
}

/* A call with the values of an instruction. */
static void print_call(printer *p, const vyre_inst *inst, const char *name) {
    vyre_list values = vyre_inst_operands(p->ir, inst);
    vyre_strbuf_printf(&p->text, "%s(", name);
    print_operands(p, values.items, values.count);
    vyre_strbuf_putc(&p->text, ')');
}

static void print_expression(printer *p, const vyre_inst *inst) {
    const vyre_op_info *info = vyre_lookup_op(inst->op);
    const char *sign = vyre_operator_sign(inst->op);
    if (sign && info->shape == VYRE_SHAPE_V2) {
        print_operand(p, inst->a);
        vyre_strbuf_putc(&p->text, ' ');
        vyre_strbuf_puts(&p->text, sign);
        vyre_strbuf_putc(&p->text, ' ');
        print_operand(p, inst->b);
        return;
    }
    switch (vyre_inst_op(inst)) {
    case VYRE_OP_PARAM:
        vyre_strbuf_puts(&p->text, p->ir->strings + p->ir->args[inst->a].name);
        return;
    case VYRE_OP_ITERATION: print_step_name(p, inst->a); return;
    case VYRE_ONE_OF(GID, LID, WID, NUM_WORKGROUPS):
        vyre_strbuf_printf(&p->text, "%s.%c", info->name, "xyz"[inst->a]);
        return;
    case VYRE_OP_LEN:
        vyre_strbuf_puts(&p->text, "len(");
        print_resource(p, vyre_access_resource(inst));
        vyre_strbuf_putc(&p->text, ')');
        return;
    case VYRE_OP_LOAD: print_element(p, inst); return;
    case VYRE_OP_NEG: /* the parentheses keep the sign out of a constant */
        print_call(p, inst, "-");
        return;
    case VYRE_OP_NOT:
        vyre_strbuf_putc(&p->text, inst->type == VYRE_TYPE_BOOL ? '!' : '~');
        print_operand(p, inst->a);
        return;
    case VYRE_OP_CONVERT: print_call(p, inst, vyre_type_name(vyre_inst_type(inst))); return;
    case VYRE_OP_BITCAST:
        vyre_strbuf_printf(&p->text, "bitcast<%s>", vyre_type_name(vyre_inst_type(inst)));
        print_call(p, inst, "");
        return;
    case VYRE_ANY_OF(COMBINE): print_call(p, inst, vyre_op_written(inst->op, inst->aux)); return;
    case VYRE_OP_UNIFORM_LOAD:
    case VYRE_ANY_OF(ATOMIC): print_element_call(p, inst, info); return;
    case VYRE_ONE_OF(IN_DOMAIN, LANE, SUBGROUP_ID):
    case VYRE_ANY_OF(BARRIER): vyre_strbuf_puts(&p->text, info->name); return;
    case VYRE_ONE_OF(ABS, AND, OR, XOR, SELECT, MATRIX_MAD):
    case VYRE_ANY_OF(LINEAR, QUOTIENT, EXTREME, INTEGER, SHIFT, BITS, FLOAT, COMPARE, ELEMENTARY,
                     SHUFFLE, VOTE):
        print_call(p, inst, info->name);
        return;
    case VYRE_OP_STORE: /* statements */
    case VYRE_OP_CLEAR:
    case VYRE_ANY_OF(CONTROL, NONE): return;
    }
}

/* Statements */

/* "let (a, b) = " for the results of a block, or of an operation that gives several. */
static void print_results(printer *p, uint32_t owner) {
    uint32_t count = vyre_result_count(p->ir, owner);
    if (!count) {
        return;
    }
    vyre_strbuf_puts(&p->text, count > 1 ? "let (" : "let ");
    for (uint32_t i = 0; i < count; i++) {
        vyre_strbuf_puts(&p->text, i ? ", " : "");
        print_value(p, vyre_result(p->ir, owner, i));
    }
    vyre_strbuf_puts(&p->text, count > 1 ? ") = " : " = ");
}

/* The part of a range, by its bits where the language would not take the number as it is. */
static void print_bound(printer *p, uint32_t operand, bool by_bits) {
    if (!by_bits || vyre_operand_is_value(operand)) {
        print_operand(p, operand);
        return;
    }
    const vyre_const *row = vyre_operand_const(p->ir, operand);
    vyre_strbuf_printf(&p->text, "bits<%s>(0x%llx)", vyre_type_name(vyre_const_type(row)),
                       (unsigned long long)row->bits);
}

/* The language counts down by a negative number and refuses a range that shows it never runs. */
static void print_range(printer *p, uint32_t loop) {
    vyre_for_range range = vyre_for_range_of(p->ir, loop);
    vyre_type type = vyre_inst_type(&p->ir->insts[vyre_for_counter(loop)]);
    bool is_signed = vyre_lookup_class(type) == VYRE_CLASS_SIGNED;
    const uint32_t parts[3] = {range.first, range.end, range.step};
    uint64_t numbers[3];
    const uint64_t *known[3];
    for (int i = 0; i < 3; i++) {
        bool is_constant = vyre_operand_is_constant(parts[i]);
        numbers[i] = is_constant ? vyre_const_extended(vyre_operand_const(p->ir, parts[i])) : 0;
        known[i] = is_constant ? &numbers[i] : NULL;
    }
    bool by_bits = vyre_range_never_runs(type, known[0], known[1], false) ||
                   (known[2] && (!numbers[2] || (is_signed && numbers[2] >> 63)));
    print_bound(p, range.first, by_bits);
    vyre_strbuf_puts(&p->text, "..");
    print_bound(p, range.end, by_bits);
    vyre_strbuf_puts(&p->text, " step ");
    print_bound(p, range.step, by_bits);
    vyre_strbuf_putc(&p->text, ' ');
}

static void print_carried(printer *p, uint32_t loop, const char *prefix) {
    vyre_list initial = vyre_loop_initial(p->ir, loop);
    if (!initial.count) {
        return;
    }
    vyre_strbuf_printf(&p->text, "%s(", prefix);
    for (uint32_t i = 0; i < initial.count; i++) {
        vyre_strbuf_puts(&p->text, i ? ", " : "");
        print_value(p, vyre_loop_arg(p->ir, loop, i));
        vyre_strbuf_puts(&p->text, " = ");
        print_operand(p, initial.items[i]);
    }
    vyre_strbuf_puts(&p->text, ") ");
}

static void open_block(printer *p, uint32_t at) {
    const vyre_inst *inst = &p->ir->insts[at];
    line(p);
    print_results(p, at);
    vyre_strbuf_printf(&p->text, "%s ", vyre_lookup_op(inst->op)->name);
    switch (vyre_inst_op(inst)) {
    case VYRE_OP_IF:
        print_operand(p, inst->a);
        vyre_strbuf_putc(&p->text, ' ');
        break;
    case VYRE_OP_LOOP: print_carried(p, at, ""); break;
    case VYRE_OP_FOR:
        print_value(p, vyre_for_counter(at));
        vyre_strbuf_puts(&p->text, " in ");
        print_range(p, at);
        print_carried(p, at, "with ");
        break;
    case VYRE_OP_INLINE:
    case VYRE_ANY_OF(SURROUNDINGS, PURE, ELEMENTARY, ACCESS, BARRIER, SUBGROUP, PICK, JUMP, NONE):
        break;
    }
    end_line(p, at, "{");
    p->indent++;
}

static void print_end(printer *p, const vyre_inst *inst, bool implied) {
    if (inst->op == VYRE_OP_UNREACHABLE || (implied && !inst->b)) {
        return;
    }
    line(p);
    vyre_strbuf_puts(&p->text, vyre_lookup_op(inst->op)->name);
    vyre_strbuf_puts(&p->text, inst->b ? " " : "");
    vyre_list values = vyre_inst_operands(p->ir, inst);
    print_operands(p, values.items, values.count);
    vyre_strbuf_puts(&p->text, ";\n");
}

static void print_message(printer *p, const vyre_inst *inst) {
    vyre_list values = vyre_inst_operands(p->ir, inst);
    uint32_t head = vyre_message_head(inst->op);
    vyre_strbuf_printf(&p->text, "%s(", vyre_lookup_op(inst->op)->name);
    print_operands(p, values.items, head);
    vyre_strbuf_puts(&p->text, head ? ", " : "");
    vyre_message_quote(&p->text, vyre_message_text(p->ir, inst));
    vyre_strbuf_puts(&p->text, values.count > head ? ", " : "");
    print_operands(p, values.items + head, values.count - head);
    vyre_strbuf_putc(&p->text, ')');
}

static void print_inst(printer *p, uint32_t at) {
    const vyre_inst *inst = &p->ir->insts[at];
    if (inst->op == VYRE_OP_ARG || inst->op == VYRE_OP_RESULT) {
        return; /* printed with their owner */
    }
    line(p);
    if (vyre_inst_shape(inst) == VYRE_SHAPE_GROUP) {
        print_results(p, at);
        print_expression(p, inst);
    } else if (inst->op == VYRE_OP_STORE) {
        print_element(p, inst);
        vyre_strbuf_puts(&p->text, " = ");
        print_operand(p, vyre_access_value(p->ir, inst));
    } else if (inst->op == VYRE_OP_CLEAR) {
        vyre_strbuf_puts(&p->text, "clear(");
        print_resource(p, inst->a);
        vyre_strbuf_putc(&p->text, ')');
    } else if (vyre_op_is_message(inst->op)) {
        print_message(p, inst);
    } else if (inst->op == VYRE_OP_ATOMIC_STORE) {
        print_element_call(p, inst, vyre_lookup_op(inst->op));
    } else {
        bool drop = inst->type == VYRE_TYPE_VOID ||
                    (!p->used[at] && vyre_inst_effects(inst) & VYRE_EFFECT_ATOMIC);
        if (!drop) {
            vyre_strbuf_puts(&p->text, "let ");
            print_value(p, at);
            vyre_strbuf_puts(&p->text, " = ");
        }
        print_expression(p, inst);
    }
    end_line(p, at, ";");
}

/* Whether an end without values goes without saying: a branch's yield, the last continue of a loop,
 * the last return of a phase. */
static bool is_implied(const printer *p, uint32_t at, uint32_t owner, uint32_t phase_end) {
    uint32_t op = p->ir->insts[at].op;
    bool in_loop = owner != VYRE_NONE && vyre_op_is_loop(p->ir->insts[owner].op);
    return op == VYRE_OP_YIELD || (op == VYRE_OP_CONTINUE && in_loop) ||
           (op == VYRE_OP_RETURN && at + 1 == phase_end);
}

static void print_code(printer *p, const vyre_phase *phase) {
    const vyre_ir *ir = p->ir;
    uint32_t owners[VYRE_LIMIT_NESTING + 1], ends[VYRE_LIMIT_NESTING + 1], depth = 0;
    for (uint32_t at = phase->first; at < phase->end; at++) {
        const vyre_inst *inst = &ir->insts[at];
        uint32_t effects = vyre_inst_effects(inst);
        if (effects & VYRE_EFFECT_BLOCK) {
            open_block(p, at);
            owners[depth] = at;
            ends[depth++] = inst->op == VYRE_OP_IF ? inst->b : inst->c;
        } else if (effects & VYRE_EFFECT_END) {
            uint32_t owner = depth ? owners[depth - 1] : VYRE_NONE;
            print_end(p, inst, is_implied(p, at, owner, phase->end));
        } else {
            print_inst(p, at);
        }
        if (depth && ends[depth - 1] == at + 1) {
            const vyre_inst *owner = &ir->insts[owners[depth - 1]];
            bool has_else = ends[depth - 1] != owner->c;
            const vyre_inst *next = &ir->insts[at + 1];
            bool empty_else =
                has_else && owner->c == at + 2 && next->op == VYRE_OP_YIELD && !next->b;
            p->indent--;
            line(p);
            if (has_else && !empty_else) {
                vyre_strbuf_puts(&p->text, "} else {\n");
                p->indent++;
                ends[depth - 1] = owner->c;
                continue;
            }
            at += empty_else;
            vyre_strbuf_puts(&p->text, vyre_result_count(ir, owners[depth - 1]) ? "};\n" : "}\n");
            depth--;
        }
    }
}

/* Declarations */

static void print_counter(void *user, vyre_strbuf *text, uint32_t step) {
    (void)text; /* the printer's own */
    print_step_name(user, step);
}

static void print_size(printer *p, uint32_t size) {
    vyre_size_print_named(&p->text, p->ir, size, print_counter, p);
}

static void print_arrays(printer *p, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
        const vyre_resource *row = &p->ir->resources[i];
        line(p);
        vyre_strbuf_puts(&p->text, row->kind == VYRE_RESOURCE_SHARED    ? "shared "
                                   : row->kind == VYRE_RESOURCE_PRIVATE ? "var "
                                                                        : "scratch ");
        print_resource(p, i);
        vyre_strbuf_printf(&p->text, ": %s[", vyre_type_name(vyre_resource_type(row)));
        if (row->size != VYRE_NONE) {
            print_size(p, row->size);
        } else {
            vyre_strbuf_u64(&p->text, row->length);
        }
        vyre_strbuf_puts(&p->text, "];\n");
    }
}

static void print_constant_element(printer *p, const vyre_resource *row, uint32_t index) {
    print_const(p,
                &(vyre_const){.bits = vyre_constant_element(p->ir, row, index), .type = row->type});
}

/* Some elements a line, or one for all. */
static void print_elements(printer *p, const vyre_resource *row) {
    enum { A_LINE = 8 };
    uint64_t first = vyre_constant_element(p->ir, row, 0);
    uint32_t alike = 1;
    while (alike < row->length && vyre_constant_element(p->ir, row, alike) == first) {
        alike++;
    }
    if (alike == row->length && alike > 1) {
        print_constant_element(p, row, 0);
        vyre_strbuf_printf(&p->text, "; %u", row->length);
        return;
    }
    bool is_long = row->length > A_LINE;
    for (uint32_t k = 0; k < row->length; k++) {
        vyre_strbuf_puts(&p->text, k % A_LINE ? ", " : !is_long ? "" : k ? ",\n    " : "\n    ");
        print_constant_element(p, row, k);
    }
    vyre_strbuf_puts(&p->text, is_long ? ",\n" : "");
}

/* Constant arrays stand in front of the program. */
static void print_constants(printer *p) {
    for (uint32_t i = 0; i < p->ir->resource_count; i++) {
        const vyre_resource *row = &p->ir->resources[i];
        if (row->kind != VYRE_RESOURCE_CONSTANT || !p->tables[i]) {
            continue;
        }
        vyre_strbuf_puts(&p->text, "const ");
        print_resource(p, i);
        vyre_strbuf_printf(&p->text, ": %s[%u] = [", vyre_type_name(vyre_resource_type(row)),
                           row->length);
        print_elements(p, row);
        vyre_strbuf_puts(&p->text, "];\n");
    }
}

static void print_requirements(printer *p) {
    for (uint32_t i = 0; i < p->ir->requirement_count; i++) {
        line(p);
        vyre_strbuf_puts(&p->text, "require ");
        print_size(p, p->ir->requirements[i].left);
        vyre_strbuf_puts(&p->text, " == ");
        print_size(p, p->ir->requirements[i].right);
        vyre_strbuf_puts(&p->text, ";\n");
    }
}

static void print_domain(printer *p, const vyre_phase *phase) {
    vyre_strbuf_puts(&p->text, " over ");
    if (phase->from_resource != VYRE_NONE) {
        print_resource(p, phase->from_resource);
        vyre_strbuf_putc(&p->text, '[');
        print_size(p, phase->from_index);
        vyre_strbuf_puts(&p->text, "] max ");
    }
    vyre_strbuf_puts(&p->text, phase->dimensions > 1 ? "(" : "");
    for (uint32_t i = 0; i < phase->dimensions; i++) {
        vyre_strbuf_puts(&p->text, i ? ", " : "");
        print_size(p, phase->domain[i]);
    }
    vyre_strbuf_puts(&p->text, phase->dimensions > 1 ? ")" : "");
    if (phase->workgroup[0]) {
        vyre_strbuf_puts(&p->text, " workgroup ");
        for (uint32_t i = 0; i < phase->dimensions; i++) {
            vyre_strbuf_puts(&p->text, i ? ", " : "");
            vyre_strbuf_u64(&p->text, phase->workgroup[i]);
        }
    }
    if (phase->subgroup) {
        vyre_strbuf_puts(&p->text, " subgroup ");
        vyre_strbuf_u64(&p->text, phase->subgroup);
    }
}

static void print_phase(printer *p, const vyre_phase *phase) {
    print_domain(p, phase);
    vyre_strbuf_puts(&p->text, " {\n");
    p->indent++;
    p->phase_first = phase->first;
    memset(p->names, 0, (phase->end - phase->first) * sizeof *p->names);
    for (; p->next_name < p->ir->value_name_count &&
           p->ir->value_names[p->next_name].value < phase->end;
         p->next_name++) {
        const vyre_value_name *row = &p->ir->value_names[p->next_name];
        p->names[row->value - phase->first] = row->name;
    }
    print_arrays(p, phase->first_resource, phase->end_resource);
    print_code(p, phase);
    p->indent--;
    line(p);
    vyre_strbuf_puts(&p->text, "}\n");
}

static void print_outer_element(printer *p, const vyre_step *step) {
    print_resource(p, step->resource);
    vyre_strbuf_putc(&p->text, '[');
    print_size(p, step->size);
    vyre_strbuf_putc(&p->text, ']');
}

/* The head of a step that contains others. */
static void print_container(printer *p, uint32_t index) {
    const vyre_step *step = &p->ir->steps[index];
    if (step->kind == VYRE_STEP_ELSE) {
        vyre_strbuf_puts(&p->text, "else");
        return;
    }
    if (step->kind == VYRE_STEP_IF) {
        vyre_strbuf_puts(&p->text, "if ");
        print_outer_element(p, step);
        return;
    }
    vyre_strbuf_puts(&p->text, "repeat ");
    print_step_name(p, index);
    if (step->kind == VYRE_STEP_REPEAT_WHILE) {
        vyre_strbuf_puts(&p->text, " while ");
        print_outer_element(p, step);
    } else {
        vyre_strbuf_puts(&p->text, " in ");
        print_size(p, step->size);
    }
}

/* Closes steps that end before step `at`; an `if` goes on with its `else` in the same line. */
static bool close_steps(printer *p, uint32_t at, const uint32_t *open, uint32_t *depth) {
    const vyre_ir *ir = p->ir;
    bool goes_on = false;
    while (*depth && ir->steps[open[*depth - 1]].end == at) {
        --*depth;
        p->indent--;
        line(p);
        goes_on = at < ir->step_count && ir->steps[at].kind == VYRE_STEP_ELSE &&
                  !(*depth && ir->steps[open[*depth - 1]].end == at);
        vyre_strbuf_puts(&p->text, goes_on ? "} " : "}\n");
    }
    return goes_on;
}

static void print_steps(printer *p) {
    const vyre_ir *ir = p->ir;
    uint32_t open[VYRE_LIMIT_REPEATS], depth = 0;
    for (uint32_t i = 0; i <= ir->step_count; i++) {
        bool goes_on = close_steps(p, i, open, &depth);
        if (i == ir->step_count) {
            return;
        }
        const vyre_step *step = &ir->steps[i];
        if (!goes_on) {
            line(p);
        }
        if (step->kind == VYRE_STEP_PHASE) {
            vyre_strbuf_puts(&p->text, "phase ");
            print_step_name(p, i);
            print_phase(p, &ir->phases[step->size]);
        } else if (step->kind == VYRE_STEP_SWAP) {
            vyre_strbuf_puts(&p->text, "swap(");
            print_resource(p, step->resource);
            vyre_strbuf_puts(&p->text, ", ");
            print_resource(p, step->size);
            vyre_strbuf_puts(&p->text, ");\n");
        } else {
            print_container(p, i);
            vyre_strbuf_puts(&p->text, " {\n");
            p->indent++;
            open[depth++] = i;
        }
    }
}

static void print_header(printer *p) {
    const vyre_ir *ir = p->ir;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        uint32_t resource = ir->args[i].resource;
        if (resource != VYRE_NONE && vyre_resource_has_records(&ir->resources[resource])) {
            vyre_record_print(&p->text, ir, resource);
        }
    }
    vyre_strbuf_printf(&p->text, "program %s(", ir->strings);
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        vyre_strbuf_puts(&p->text, i ? ", " : "");
        vyre_argument_print(&p->text, ir, i);
    }
    vyre_strbuf_puts(&p->text, ir->flags & VYRE_PROGRAM_DETERMINISTIC ? ") deterministic" : ")");
}

static bool prepare(printer *p) {
    const vyre_ir *ir = p->ir;
    p->used = vyre_alloc_zeroed(ir->inst_count, 1);
    p->names = vyre_alloc_array(ir->inst_count, sizeof *p->names);
    p->tables = vyre_alloc_array(ir->resource_count, sizeof *p->tables);
    if (!p->used || !p->names || !p->tables) {
        return false;
    }
    vyre_message_find_tables(ir, p->tables);
    p->may_collide = ends_like_local(ir->strings);
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        p->may_collide |= ends_like_local(ir->strings + ir->args[i].name);
    }
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        vyre_list values = vyre_inst_operands(ir, &ir->insts[i]);
        for (uint32_t k = 0; k < values.count; k++) {
            if (vyre_operand_is_value(values.items[k])) {
                p->used[values.items[k]] = 1;
            }
        }
    }
    return true;
}

vyre_status vyre_program_print(const vyre_program *program, char **out_text, size_t *out_size) {
    return vyre_program_print_notes(program, NULL, NULL, out_text, out_size);
}

vyre_status vyre_program_print_notes(const vyre_program *program, vyre_print_note note, void *user,
                                     char **out_text, size_t *out_size) {
    *out_text = NULL;
    *out_size = 0;
    const vyre_ir *ir = &program->ir;
    printer p = {.ir = ir, .note = note, .note_user = user};
    if (prepare(&p)) {
        uint32_t scratch = 0;
        while (scratch < ir->resource_count &&
               ir->resources[scratch].kind == VYRE_RESOURCE_BUFFER) {
            scratch++;
        }
        uint32_t arrays = scratch;
        while (arrays < ir->resource_count && ir->resources[arrays].kind == VYRE_RESOURCE_SCRATCH) {
            arrays++;
        }
        print_constants(&p);
        print_header(&p);
        if (ir->step_count == 1 && arrays == scratch && !ir->requirement_count) {
            print_phase(&p, &ir->phases[0]);
        } else {
            vyre_strbuf_puts(&p.text, " {\n");
            p.indent++;
            print_arrays(&p, scratch, arrays);
            print_requirements(&p);
            print_steps(&p);
            vyre_strbuf_puts(&p.text, "}\n");
        }
    } else {
        p.text.failed = true;
    }
    vyre_free(p.used);
    vyre_free(p.tables);
    vyre_free(p.names);
    if (p.text.failed) {
        vyre_strbuf_free(&p.text);
        return vyre_no_memory("to print program `%s`", vyre_program_name(program));
    }
    *out_text = p.text.data;
    *out_size = p.text.size;
    return VYRE_OK;
}
