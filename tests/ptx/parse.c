#define _DEFAULT_SOURCE /* strsep */

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/parts.h"

static const char *const type_names[] = {
#define NAME(name, text, bytes) text,
    PTX_TYPES(NAME)
#undef NAME
};
static const char *const op_names[] = {
#define NAME(name, text) text,
    PTX_OPS(NAME)
#undef NAME
};
static const char *const word_names[] = {
#define NAME(name, text) text,
    PTX_WORDS(NAME)
#undef NAME
};
static const char class_letters[] = "phrdfe";
enum { CLASSES = sizeof class_letters - 1 };

typedef struct label {
    char name[16];
    uint32_t at;
} label;

typedef struct parser {
    const char *at;
    uint32_t line;
    ptx_error *error;
    bool failed;
    ptx_module *module;
    ptx_entry *entry; /* the one that is open */
    uint32_t first_register[CLASSES], capacity;
    label *labels;
    uint32_t label_count, label_capacity;
} parser;

static void fail(parser *p, const char *format, ...) {
    if (p->failed) {
        return;
    }
    p->failed = true;
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(p->error->text, sizeof p->error->text, "line %u: %s", p->line, text);
}

/* Grows an array to hold one more; NULL ends the test, which has nothing better to do. */
static void *grown(void *items, uint32_t count, uint32_t *capacity, size_t item) {
    if (count < *capacity) {
        return items;
    }
    *capacity = *capacity ? *capacity * 2 : 64;
    void *larger = realloc(items, *capacity * item);
    if (!larger) {
        abort();
    }
    return larger;
}

static void skip_space(parser *p) {
    while (*p->at == ' ' || *p->at == '\t') {
        p->at++;
    }
}

static bool take(parser *p, const char *text) {
    skip_space(p);
    size_t length = strlen(text);
    if (strncmp(p->at, text, length) != 0) {
        return false;
    }
    p->at += length;
    return true;
}

static void need(parser *p, const char *text) {
    if (!take(p, text)) {
        fail(p, "expected `%s` before `%.20s`", text, p->at);
    }
}

static void take_name(parser *p, char *name, size_t size) {
    skip_space(p);
    size_t length = 0;
    while (isalnum((unsigned char)*p->at) || *p->at == '_' || *p->at == '.') {
        if (length + 1 < size) {
            name[length++] = *p->at;
        }
        p->at++;
    }
    name[length] = '\0';
}

static uint64_t take_number(parser *p) {
    skip_space(p);
    char *end;
    uint64_t number;
    if (p->at[0] == '0' && (p->at[1] == 'f' || p->at[1] == 'd')) {
        p->at += 2;
        number = strtoull(p->at, &end, 16);
    } else {
        number = strtoull(p->at, &end, 0);
    }
    if (end == p->at) {
        fail(p, "expected a number before `%.20s`", p->at);
    }
    p->at = end;
    return number;
}

static uint32_t take_register(parser *p) {
    const char *letter = *p->at ? strchr(class_letters, *p->at) : NULL;
    if (!letter) {
        fail(p, "no register: `%.20s`", p->at);
        return 0;
    }
    p->at++;
    char *end;
    uint32_t number = (uint32_t)strtoul(p->at, &end, 10);
    p->at = end;
    return p->first_register[letter - class_letters] + number;
}

static bool take_special(parser *p, ptx_operand *out) {
    static const struct {
        const char *name;
        uint32_t number;
    } rows[] = {{"tid.x", PTX_TID_X},       {"ctaid.x", PTX_CTAID_X},   {"ctaid.y", PTX_CTAID_Y},
                {"ctaid.z", PTX_CTAID_Z},   {"nctaid.x", PTX_NCTAID_X}, {"nctaid.y", PTX_NCTAID_Y},
                {"nctaid.z", PTX_NCTAID_Z}, {"clock", PTX_CLOCK}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (take(p, rows[i].name)) {
            *out = (ptx_operand){PTX_SPECIAL, rows[i].number, 0};
            return true;
        }
    }
    return false;
}

/* A symbol as the address it has in its space. */
static uint64_t take_symbol(parser *p) {
    char name[96];
    take_name(p, name, sizeof name);
    size_t length = strlen(name);
    if (!strcmp(name, "frame")) {
        return 0;
    }
    if (length > 7 && !strcmp(name + length - 7, "_shared")) {
        return PTX_SHARED_START;
    }
    if (length > 8 && !strcmp(name + length - 8, "_private")) {
        return PTX_LOCAL_START;
    }
    for (uint32_t i = 0; i < p->module->variable_count; i++) {
        if (!strcmp(p->module->variables[i].name, name)) {
            return (uintptr_t)p->module->variables[i].data;
        }
    }
    fail(p, "no symbol `%s`", name);
    return 0;
}

static uint32_t label_of(parser *p, const char *name) {
    for (uint32_t i = 0; i < p->label_count; i++) {
        if (!strcmp(p->labels[i].name, name)) {
            return i;
        }
    }
    p->labels = grown(p->labels, p->label_count, &p->label_capacity, sizeof *p->labels);
    label *made = &p->labels[p->label_count];
    snprintf(made->name, sizeof made->name, "%s", name);
    made->at = PTX_NOTHING;
    return p->label_count++;
}

static ptx_operand take_operand(parser *p) {
    ptx_operand operand = {0};
    skip_space(p);
    if (take(p, "[")) {
        operand = (ptx_operand){PTX_PLACE, PTX_NOTHING, 0};
        if (take(p, "%")) {
            operand.index = take_register(p);
        } else {
            operand.bits = take_symbol(p);
        }
        if (take(p, "+")) {
            operand.bits += take_number(p);
        }
        need(p, "]");
    } else if (take(p, "%")) {
        if (!take_special(p, &operand)) {
            operand = (ptx_operand){PTX_REGISTER, take_register(p), 0};
        }
    } else if (isdigit((unsigned char)*p->at)) {
        operand = (ptx_operand){PTX_NUMBER, 0, take_number(p)};
    } else if (p->at[0] == 'L' && isdigit((unsigned char)p->at[1])) {
        char name[16];
        take_name(p, name, sizeof name);
        operand = (ptx_operand){PTX_LABEL, label_of(p, name), 0};
    } else {
        operand = (ptx_operand){PTX_NUMBER, 0, take_symbol(p)};
    }
    return operand;
}

static bool find(const char *const *names, size_t count, const char *name, uint32_t *out) {
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(names[i], name)) {
            *out = (uint32_t)i;
            return true;
        }
    }
    return false;
}

/* "cvt.rn.f32.s64": a name, words, and one or two types at the end. */
static void read_mnemonic(parser *p, char *text, ptx_instruction *i) {
    uint32_t number, types = 0;
    char *rest = text, *word = strsep(&rest, ".");
    if (!find(op_names, PTX_OP_COUNT, word, &number)) {
        fail(p, "no instruction `%s`", word);
        return;
    }
    i->op = (uint8_t)number;
    while ((word = strsep(&rest, "."))) {
        if (find(type_names, PTX_TYPE_COUNT, word, &number)) {
            if (types++) {
                i->from = (uint8_t)number;
            } else {
                i->type = (uint8_t)number;
            }
        } else if (find(word_names, PTX_WORD_COUNT, word, &number)) {
            i->words |= (uint64_t)1 << number;
        } else {
            fail(p, "no word `%s`", word);
        }
    }
    _Static_assert(PTX_WORD_COUNT <= 64, "words are bits");
}

static void read_instruction(parser *p) {
    ptx_entry *e = p->entry;
    ptx_instruction i = {.guard = PTX_NOTHING, .line = p->line};
    if (take(p, "@")) {
        i.guard_not = take(p, "!");
        need(p, "%");
        i.guard = take_register(p);
    }
    char name[64];
    take_name(p, name, sizeof name);
    read_mnemonic(p, name, &i);
    while (!p->failed && !take(p, ";")) {
        if (take(p, ",") || take(p, "}") || take(p, "|")) {
            continue;
        }
        if (take(p, "{")) {
            if (i.op == PTX_OP_MOV && i.count) { /* two halves become a whole */
                i.words |= (uint64_t)1 << PTX_WORD_V2;
            }
            continue;
        }
        if (i.count == PTX_MOST_OPERANDS) {
            fail(p, "too many operands");
            return;
        }
        i.operands[i.count++] = take_operand(p);
    }
    e->instructions =
        grown(e->instructions, e->instruction_count, &p->capacity, sizeof *e->instructions);
    e->instructions[e->instruction_count++] = i;
}

static void open_entry(parser *p) {
    ptx_module *m = p->module;
    m->entries = realloc(m->entries, (m->entry_count + 1) * sizeof *m->entries);
    if (!m->entries) {
        abort();
    }
    p->entry = &m->entries[m->entry_count++];
    *p->entry = (ptx_entry){0};
    take_name(p, p->entry->name, sizeof p->entry->name);
    need(p, "(.param .align 8 .b8 frame[");
    p->entry->frame_bytes = (uint32_t)take_number(p);
    need(p, "])");
    p->capacity = p->label_count = 0;
    memset(p->first_register, 0, sizeof p->first_register);
}

static void close_entry(parser *p) {
    for (uint32_t k = 0; k < p->entry->instruction_count; k++) {
        ptx_instruction *i = &p->entry->instructions[k];
        for (uint32_t o = 0; o < i->count; o++) {
            if (i->operands[o].kind == PTX_LABEL) {
                i->operands[o].index = p->labels[i->operands[o].index].at;
                if (i->operands[o].index == PTX_NOTHING) {
                    fail(p, "a label that is nowhere, at line %u", i->line);
                }
            }
        }
    }
    p->entry = NULL;
}

/* NAME[COUNT] = {NUMBER, ...}; over several lines. */
static void read_variable(parser *p, bool is_const) {
    ptx_module *m = p->module;
    m->variables = realloc(m->variables, (m->variable_count + 1) * sizeof *m->variables);
    if (!m->variables) {
        abort();
    }
    ptx_variable *v = &m->variables[m->variable_count++];
    *v = (ptx_variable){.is_const = is_const};
    take_name(p, v->name, sizeof v->name);
    need(p, "[");
    uint64_t count = take_number(p);
    need(p, "] = {");
    v->size = (size_t)count * 8;
    v->data = aligned_alloc(16, (v->size + 15) / 16 * 16);
    if (!v->data) {
        abort();
    }
    for (uint64_t i = 0; i < count && !p->failed; i++) {
        if (i) {
            need(p, ",");
        }
        if (*p->at == '\n') {
            p->at++;
            p->line++;
        }
        v->data[i] = take_number(p);
    }
    need(p, "};");
}

static void read_declaration(parser *p) {
    char name[96];
    if (take(p, "reg .")) {
        take_name(p, name, sizeof name);
        need(p, "%");
        const char *letter = strchr(class_letters, *p->at);
        p->at++;
        need(p, "<");
        uint32_t count = (uint32_t)take_number(p);
        if (letter) {
            p->first_register[letter - class_letters] = p->entry->register_count;
        }
        p->entry->register_count += count;
    } else if (take(p, "shared .align 16 .b8")) {
        take_name(p, name, sizeof name);
        need(p, "[");
        p->entry->shared_bytes = (uint32_t)take_number(p);
    } else if (take(p, "local .align 16 .b8")) {
        take_name(p, name, sizeof name);
        need(p, "[");
        p->entry->local_bytes = (uint32_t)take_number(p);
    } else if (take(p, "const .align 16 .u64")) {
        read_variable(p, true);
    } else if (take(p, "global .align 16 .u64")) {
        read_variable(p, false);
    } else if (take(p, "visible .entry")) {
        open_entry(p);
    } else if (take(p, "maxntid")) {
        p->entry->threads = (uint32_t)take_number(p);
    } else if (!take(p, "version") && !take(p, "target") && !take(p, "address_size") &&
               !take(p, "file") && !take(p, "loc") && !take(p, "extern .shared")) {
        fail(p, "no declaration: `%.20s`", p->at);
    }
}

static void read_line(parser *p, bool *in_body) {
    skip_space(p);
    if (*p->at == '\n' || !*p->at || take(p, "//")) {
        return;
    }
    if (take(p, "{")) {
        *in_body = true;
    } else if (take(p, "}")) {
        close_entry(p);
        *in_body = false;
    } else if (take(p, ".")) {
        read_declaration(p);
    } else if (*in_body && p->at[0] == 'L' && isdigit((unsigned char)p->at[1])) {
        char name[16];
        take_name(p, name, sizeof name);
        uint32_t number = label_of(p, name); /* which may move them */
        p->labels[number].at = p->entry->instruction_count;
        need(p, ":");
    } else if (*in_body) {
        read_instruction(p);
    } else {
        fail(p, "nothing of this kind is known: `%.20s`", p->at);
    }
}

ptx_module *ptx_module_make(const char *text, ptx_error *out_error) {
    ptx_module *module = calloc(1, sizeof *module);
    parser p = {.at = text, .line = 1, .error = out_error, .module = module};
    bool in_body = false;
    if (!module) {
        abort();
    }
    while (*p.at && !p.failed) {
        read_line(&p, &in_body);
        p.at += strcspn(p.at, "\n");
        p.at += *p.at == '\n';
        p.line++;
    }
    free(p.labels);
    if (p.failed) {
        ptx_module_free(module);
        return NULL;
    }
    return module;
}

void ptx_module_free(ptx_module *module) {
    for (uint32_t i = 0; module && i < module->entry_count; i++) {
        free(module->entries[i].instructions);
    }
    for (uint32_t i = 0; module && i < module->variable_count; i++) {
        free(module->variables[i].data);
    }
    free(module ? module->variables : NULL);
    free(module ? module->entries : NULL);
    free(module);
}

bool ptx_module_has(const ptx_module *module, const char *entry, uint32_t *out_frame_bytes) {
    for (uint32_t i = 0; i < module->entry_count; i++) {
        if (!strcmp(module->entries[i].name, entry)) {
            *out_frame_bytes = module->entries[i].frame_bytes;
            return true;
        }
    }
    return false;
}
