#include "ir/word.h"

#include <stdatomic.h>
#include <string.h>

#include <vyre/intern.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/strbuf.h"

/* BINARY(operation, name, sign) and UNARY of the same */
#define OPERATORS(BINARY, UNARY)                                                                   \
    BINARY(ADD, "add", "+")                                                                        \
    BINARY(SUB, "sub", "-")                                                                        \
    BINARY(MUL, "mul", "*")                                                                        \
    BINARY(DIV, "div", "/")                                                                        \
    BINARY(REM, "rem", "%")                                                                        \
    UNARY(NEG, "neg", "-")                                                                         \
    BINARY(AND, "and", "&")                                                                        \
    BINARY(OR, "or", "|")                                                                          \
    BINARY(XOR, "xor", "^")                                                                        \
    UNARY(NOT, "not", "~")                                                                         \
    BINARY(SHL, "shl", "<<")                                                                       \
    BINARY(SHR, "shr", ">>")                                                                       \
    BINARY(EQ, "eq", "==")                                                                         \
    BINARY(NE, "ne", "!=")                                                                         \
    BINARY(LT, "lt", "<")                                                                          \
    BINARY(LE, "le", "<=")

const char *vyre_operator_form(vyre_op op) {
    static const char *const forms[VYRE_OP_COUNT] = {
#define BINARY(operation, name, sign) [VYRE_OP_##operation] = "a " sign " b",
#define UNARY(operation, name, sign) [VYRE_OP_##operation] = sign "a",
        OPERATORS(BINARY, UNARY)
#undef BINARY
#undef UNARY
    };
    return forms[op] ? forms[op] : "";
}

const char *vyre_operator_sign(uint32_t op) {
    static const char *const signs[VYRE_OP_COUNT] = {
#define ROW(operation, name, sign) [VYRE_OP_##operation] = sign,
        OPERATORS(ROW, ROW)
#undef ROW
    };
    return op < VYRE_OP_COUNT ? signs[op] : NULL;
}

#define COMBINED(op, prefix)                                                                       \
    {prefix "_add", VYRE_WORD_OP, VYRE_OP_##op, VYRE_COMBINE_ADD},                                 \
        {prefix "_mul", VYRE_WORD_OP, VYRE_OP_##op, VYRE_COMBINE_MUL},                             \
        {prefix "_min", VYRE_WORD_OP, VYRE_OP_##op, VYRE_COMBINE_MIN},                             \
        {prefix "_max", VYRE_WORD_OP, VYRE_OP_##op, VYRE_COMBINE_MAX},                             \
        {prefix "_and", VYRE_WORD_OP, VYRE_OP_##op, VYRE_COMBINE_AND},                             \
        {prefix "_or", VYRE_WORD_OP, VYRE_OP_##op, VYRE_COMBINE_OR}, {                             \
        prefix "_xor", VYRE_WORD_OP, VYRE_OP_##op, VYRE_COMBINE_XOR                                \
    }

const vyre_small_info vyre_small_functions[VYRE_SMALL_COUNT] = {
#define ROW(name, text, operands, class_name, doc)                                                 \
    [VYRE_SMALL_##name] = {text, operands, VYRE_CLASS_##class_name, doc},
    VYRE_SMALL_FUNCTIONS(ROW)
#undef ROW
};

/* Where two rows have the same text, the first one counts. */
const vyre_word vyre_words[] = {[VYRE_WORD_NO_CONTEXT] = {"", VYRE_WORD_NONE, 0, 0},
#define ROW(name, text) [VYRE_WORD_##name] = {text, VYRE_WORD_CONTEXT, VYRE_WORD_##name, 0},
                                VYRE_CONTEXT_WORDS(ROW)
#undef ROW
#define ROW(name, text) {text, VYRE_WORD_KEYWORD, VYRE_KEYWORD_##name, 0},
                                    VYRE_KEYWORDS(ROW)
#undef ROW
#define ROW(name, number, text) {text, VYRE_WORD_ORDERING, number, 0},
                                        VYRE_ORDERINGS(ROW)
#undef ROW
#define ROW(name, number, text, bytes, class_name) {text, VYRE_WORD_TYPE, number, 0},
                                            VYRE_TYPES(ROW)
#undef ROW
#define ROW(operation, name, sign) {name, VYRE_WORD_OPERATOR, VYRE_OP_##operation, 0},
                                                OPERATORS(ROW, ROW)
#undef ROW
                                                    COMBINED(REDUCE, "subgroup"),
                                COMBINED(SCAN, "subgroup_inclusive"),
                                COMBINED(SCAN_EXCLUSIVE, "subgroup_exclusive"),
#define ROW(name, number, text, shape, rule, effects, cost, doc) {text, VYRE_WORD_OP, number, 0},
                                VYRE_OPS(ROW)
#undef ROW
#define ROW(name, text, operands, class_name, doc) {text, VYRE_WORD_FUNCTION, VYRE_SMALL_##name, 0},
                                    VYRE_SMALL_FUNCTIONS(ROW)
#undef ROW
};

enum { WORDS = sizeof vyre_words / sizeof *vyre_words };

const char *vyre_op_written(uint32_t op, uint32_t how) {
    const vyre_op_info *info = vyre_op_info_of(op);
    const char *sign = vyre_operator_sign(op);
    for (uint32_t i = 1; info->rule == VYRE_RULE_COMBINE && i < WORDS; i++) {
        const vyre_word *word = &vyre_words[i];
        if (word->class_of == VYRE_WORD_OP && word->code == op && word->extra == how) {
            return word->text;
        }
    }
    return sign ? sign : info->name ? info->name : "?";
}

/* Operations that syntax of their own stands for; their names are free. */
static bool has_syntax(const vyre_word *word) {
    if (word->class_of == VYRE_WORD_TYPE) {
        return word->code == VYRE_TYPE_VOID;
    }
    if (word->class_of != VYRE_WORD_OP) {
        return false;
    }
    const vyre_op_info *info = vyre_op_info_of(word->code);
    bool is_written_apart = word->code == VYRE_OP_PARAM || word->code == VYRE_OP_ITERATION ||
                            word->code == VYRE_OP_CONVERT || word->code == VYRE_OP_LOAD ||
                            word->code == VYRE_OP_STORE || info->shape == VYRE_SHAPE_PICK;
    return is_written_apart || info->effects & (VYRE_EFFECT_BLOCK | VYRE_EFFECT_END) ||
           (info->rule == VYRE_RULE_COMBINE && !strcmp(info->name, word->text));
}

/* Numbers of words by the numbers of interned names; made once, kept as long as those. */
typedef struct numbers {
    uint32_t count;
    uint16_t items[];
} numbers;

static _Atomic(numbers *) known;

vyre_status vyre_words_prepare(void) {
    if (atomic_load_explicit(&known, memory_order_acquire)) {
        return VYRE_OK;
    }
    uint32_t ids[WORDS];
    uint32_t count = 0;
    for (uint32_t i = 1; i < WORDS; i++) {
        VYRE_TRY(vyre_intern(vyre_str_of(vyre_words[i].text), &ids[i]));
        count = ids[i] >= count ? ids[i] + 1 : count;
    }
    numbers *made = vyre_alloc_zeroed(1, sizeof *made + count * sizeof made->items[0]);
    if (!made) {
        return vyre_no_memory("for the words of the language");
    }
    made->count = count;
    for (uint32_t i = 1; i < WORDS; i++) {
        if (!made->items[ids[i]] && !has_syntax(&vyre_words[i])) {
            made->items[ids[i]] = (uint16_t)i;
        }
    }
    numbers *none = NULL;
    if (!atomic_compare_exchange_strong(&known, &none, made)) {
        vyre_free(made); /* another thread was faster */
    }
    return VYRE_OK;
}

uint32_t vyre_word_find(vyre_str name) {
    const numbers *table = atomic_load_explicit(&known, memory_order_acquire);
    uint32_t id = vyre_intern_find(name);
    return table && id < table->count ? table->items[id] : 0;
}

bool vyre_word_gives_way(const vyre_word *word) {
    return word->class_of == VYRE_WORD_FUNCTION ||
           (word->class_of == VYRE_WORD_OP &&
            (word->code == VYRE_OP_EXP10 || word->code == VYRE_OP_LOG10 ||
             word->code == VYRE_OP_FMOD));
}

bool vyre_word_is_reserved(vyre_str name) {
    const vyre_word *word = &vyre_words[vyre_word_find(name)];
    return (name.size == 1 && *name.data == '_') || word->class_of == VYRE_WORD_KEYWORD ||
           word->class_of == VYRE_WORD_TYPE ||
           (word->class_of == VYRE_WORD_OP && !vyre_word_gives_way(word));
}

uint32_t vyre_word_count(void) {
    return WORDS;
}
