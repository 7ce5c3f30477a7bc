/* Cases of pure operations, from the table of operations and its rules of types. A program loads
 * operands and stores what each of its cases makes of them, in several forms: operands from memory,
 * the same one twice, from arguments, or known to the compiler. */
#include <stdio.h>

#include <vyre/builder.h>

#include "base/random.h"
#include "base/status.h"
#include "conform/suite.h"
#include "ir/builder.h"
#include "ir/rule.h"

/* What goes together into one program. */
typedef enum batch {
    BATCH_PLAIN,      /* of up to two numbers, and choice */
    BATCH_THREE,      /* of three */
    BATCH_CONVERT,    /* to all other types */
    BATCH_ELEMENTARY, /* of one number */
    BATCH_PAIR,       /* elementary, of two */
    BATCH_CONSTANT,   /* with one operand that is known */
    BATCH_COUNT
} batch;

/* How many cases a program has: more would only make one compiler wait for another. */
static const uint32_t batch_cases[BATCH_COUNT] = {
    [BATCH_PLAIN] = 12,     [BATCH_THREE] = 12, [BATCH_CONVERT] = 16,
    [BATCH_ELEMENTARY] = 5, [BATCH_PAIR] = 3,   [BATCH_CONSTANT] = 6,
};

/* Where operands come from: arrays and arguments of these names. */
typedef enum slot { SLOT_A, SLOT_B, SLOT_C, SLOT_COUNTS, SLOT_CHOICE, SLOTS } slot;
static const char *const array_names[SLOTS] = {"a", "b", "c", "n", "p"};
static const char *const scalar_names[SLOTS] = {"sa", "sb", "sc", "sn", "sp"};

typedef struct operation {
    vyre_op op;
    vyre_type type;   /* of its numbers */
    vyre_type result; /* of the operation */
    uint32_t arity;
    slot slots[3];
} operation;

static vyre_type slot_type(slot s, vyre_type type) {
    return s == SLOT_COUNTS ? VYRE_TYPE_U32 : s == SLOT_CHOICE ? VYRE_TYPE_BOOL : type;
}

/* Buffers hold no bool. */
static vyre_type stored(vyre_type type) {
    return type == VYRE_TYPE_BOOL ? VYRE_TYPE_U8 : type;
}

/* Fills in an operation; false where it is none of values, or not for the type. */
static bool describe(vyre_op op, vyre_type type, vyre_type wanted, operation *out) {
    const vyre_op_info *info = vyre_op_info_of(op);
    bool is_pure =
        info->name && !info->effects && info->rule != VYRE_RULE_NONE && info->rule != VYRE_RULE_OWN;
    if (!is_pure) {
        return false;
    }
    *out = (operation){.op = op, .type = type, .arity = vyre_rule_arity(op)};
    vyre_type types[3];
    for (uint32_t k = 0; k < out->arity; k++) {
        out->slots[k] = (slot)k;
        if (info->rule == VYRE_RULE_SELECT) {
            out->slots[k] = k ? (slot)(k - 1) : SLOT_CHOICE;
        } else if (info->rule == VYRE_RULE_SHIFT && k) {
            out->slots[k] = SLOT_COUNTS;
        }
        types[k] = slot_type(out->slots[k], type);
    }
    vyre_rule_error error;
    return vyre_rule_check(op, 0, wanted, 0, types, &out->result, &error);
}

static bool converts(vyre_op op) {
    return op == VYRE_OP_CONVERT || op == VYRE_OP_BITCAST;
}

/* Of `floats` is what rounds, compares or converts floats; what moves their bits is not. */
static bool is_of_suite(conform_suite_kind kind, const operation *o, batch which) {
    vyre_rule rule = vyre_op_info_of(o->op)->rule;
    bool is_float = vyre_type_class_of(o->type) == VYRE_CLASS_FLOAT ||
                    vyre_type_class_of(o->result) == VYRE_CLASS_FLOAT;
    bool is_vector = is_float && o->type != VYRE_TYPE_BOOL && o->op != VYRE_OP_BITCAST &&
                     rule != VYRE_RULE_ELEMENTARY && rule != VYRE_RULE_SELECT;
    return which == BATCH_CONSTANT        ? kind == CONFORM_SUITE_SPECIAL
           : kind == CONFORM_SUITE_FLOATS ? is_vector
                                          : true;
}

static bool is_batch(batch which, const operation *o) {
    bool elementary = vyre_op_info_of(o->op)->rule == VYRE_RULE_ELEMENTARY;
    switch (which) {
    case BATCH_CONVERT: return converts(o->op);
    case BATCH_ELEMENTARY: return elementary && o->arity == 1;
    case BATCH_PAIR: return elementary && o->arity == 2;
    case BATCH_THREE: return o->op == VYRE_OP_FMA;
    case BATCH_CONSTANT: return !elementary && o->arity == 2;
    default: return !elementary && !converts(o->op) && o->op != VYRE_OP_FMA;
    }
}

/* Listing */

static uint64_t tags_of(const operation *o, batch which) {
    bool is_float = vyre_type_class_of(o->type) == VYRE_CLASS_FLOAT ||
                    vyre_type_class_of(o->result) == VYRE_CLASS_FLOAT;
    uint64_t tags = CONFORM_TAG_BIT(o->type) |
                    CONFORM_TAG_BIT(is_float ? CONFORM_TAG_FLOAT : CONFORM_TAG_INTEGER);
    tags |=
        converts(o->op) ? CONFORM_TAG_BIT(CONFORM_TAG_CONVERSION) | CONFORM_TAG_BIT(o->result) : 0;
    tags |= which == BATCH_CONSTANT ? CONFORM_TAG_BIT(CONFORM_TAG_CONSTANT) : 0;
    bool elementary = which == BATCH_ELEMENTARY || which == BATCH_PAIR;
    return tags | (elementary ? CONFORM_TAG_BIT(CONFORM_TAG_ELEMENTARY) : 0);
}

static void list_one(conform_suite *suite, bool *failed, const operation *o, batch which,
                     uint32_t group) {
    const char *name = vyre_op_info_of(o->op)->name, *type = vyre_type_name(o->type);
    const uint32_t part[3] = {o->op, (uint32_t)o->type | (uint32_t)o->result << 8, which};
    const char *suite_name = conform_suite_name(suite->kind);
    uint64_t tags = tags_of(o, which);
    if (converts(o->op)) {
        conform_suite_add(suite, failed, tags, group, part, "%s.%s.%s_%s", suite_name, type, name,
                          vyre_type_name(o->result));
    } else {
        conform_suite_add(suite, failed, tags, group, part, "%s.%s.%s%s", suite_name, type, name,
                          which == BATCH_CONSTANT ? "_constant" : "");
    }
}

static void list_batch(conform_suite *suite, bool *failed, vyre_type type, batch which) {
    uint32_t group = suite->list.count ? suite->list.items[suite->list.count - 1].group : 0;
    uint32_t room = 0;
    for (uint32_t op = 0; op < VYRE_OP_COUNT; op++) {
        uint32_t results = converts((vyre_op)op) ? VYRE_TYPE_COUNT : 1;
        for (uint32_t result = 0; result < results; result++) {
            operation o;
            if (!describe((vyre_op)op, type, (vyre_type)result, &o) || !is_batch(which, &o) ||
                !is_of_suite(suite->kind, &o, which)) {
                continue;
            }
            group += room == 0;
            room = room ? room - 1 : batch_cases[which] - 1;
            list_one(suite, failed, &o, which, group);
        }
    }
}

void conform_suite_table_list(conform_suite *suite, bool *failed) {
    for (vyre_type type = VYRE_TYPE_BOOL; type < VYRE_TYPE_COUNT; type++) {
        for (batch which = 0; which < BATCH_COUNT; which++) {
            list_batch(suite, failed, type, which);
        }
    }
}

/* Building */

typedef struct building {
    vyre_builder *b;
    const conform_suite *suite;
    conform_suite_trial *out;
    vyre_type type;
    batch batch;
    uint32_t arrays[SLOTS], scalars[SLOTS]; /* VYRE_NONE if there is none */
    uint32_t loaded[SLOTS];
    uint32_t outputs[VYRE_LIMIT_ARGUMENTS], output_count; /* resources, in order */
    uint32_t next;                                        /* the one to store to */
    uint32_t at;                                          /* the element */
} building;

static uint32_t as_value(building *s, vyre_type type, uint32_t value) {
    return type == VYRE_TYPE_BOOL ? vyre_build_convert(s->b, VYRE_TYPE_BOOL, value) : value;
}

static uint32_t from_array(building *s, slot from) {
    if (s->loaded[from] == VYRE_NONE) {
        uint32_t value = vyre_build_load(s->b, s->arrays[from], s->at);
        s->loaded[from] = as_value(s, slot_type(from, s->type), value);
    }
    return s->loaded[from];
}

static uint32_t constant(building *s, slot from, size_t which) {
    uint64_t values[CONFORM_PLAIN_CONSTANTS];
    vyre_type type = slot_type(from, s->type);
    uint32_t width = vyre_type_bytes(s->type) * 8;
    const uint64_t counts[CONFORM_PLAIN_CONSTANTS] = {0, 1, 7, 8, width - 1, width, width + 3, 100};
    size_t count = conform_plain_constants(type, values);
    return vyre_build_const(s->b, type,
                            from == SLOT_COUNTS ? counts[which % CONFORM_PLAIN_CONSTANTS]
                                                : values[which % count]);
}

static void store(building *s, const operation *o, const uint32_t x[3]) {
    uint32_t value = builder_op(s->b, o->op, o->result, x);
    if (o->result == VYRE_TYPE_BOOL) {
        value = vyre_build_convert(s->b, VYRE_TYPE_U8, value);
    }
    vyre_build_store(s->b, s->outputs[s->next++], s->at, value);
}

/* The forms of a case. */
enum { LEFT_CONSTANTS = 3 };
typedef enum form { FORM_LOADED, FORM_SAME, FORM_UNIFORM, FORM_FOLDED, FORMS } form;
static const char *const form_names[FORMS] = {"", "_same", "_uniform", "_folded"};

static bool has_form(const building *s, const operation *o, form which) {
    if (which == FORM_LOADED) {
        return true;
    }
    bool same = o->arity >= 2 && o->slots[0] == SLOT_A && o->slots[1] == SLOT_B;
    return s->suite->kind == CONFORM_SUITE_OPERATIONS && (which != FORM_SAME || same);
}

static void store_form(building *s, const operation *o, form which) {
    uint32_t x[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
    for (uint32_t k = 0; k < o->arity; k++) {
        slot from = o->slots[k];
        switch (which) {
        case FORM_SAME: x[k] = from_array(s, SLOT_A); break;
        case FORM_UNIFORM: x[k] = vyre_build_param(s->b, s->scalars[from]); break;
        case FORM_FOLDED:
            x[k] = constant(s, from, (o->op + 3 * k) % CONFORM_PLAIN_CONSTANTS);
            break;
        default: x[k] = from_array(s, from); break;
        }
    }
    store(s, o, x);
}

static void store_constants(building *s, const operation *o) {
    for (size_t i = 0; i < CONFORM_PLAIN_CONSTANTS + LEFT_CONSTANTS; i++) {
        bool is_left = i >= CONFORM_PLAIN_CONSTANTS;
        uint32_t x[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
        x[is_left] = from_array(s, o->slots[is_left]);
        x[!is_left] = constant(s, o->slots[!is_left], i % CONFORM_PLAIN_CONSTANTS);
        store(s, o, x);
    }
}

static operation operation_of(const conform_suite_case *chosen) {
    operation o = {0};
    vyre_type result = (vyre_type)(chosen->part[1] >> 8);
    (void)describe((vyre_op)chosen->part[0], (vyre_type)(chosen->part[1] & 0xff), result, &o);
    return o;
}

static void declare_output(building *s, const operation *o, uint16_t owner, const char *suffix,
                           size_t number) {
    char name[96];
    const char *what = vyre_op_info_of(o->op)->name;
    const char *to = converts(o->op) ? vyre_type_name(o->result) : "";
    if (number) {
        snprintf(name, sizeof name, "r_%s%s%zu", what, suffix, number);
    } else {
        snprintf(name, sizeof name, "r_%s%s%s%s", what, *to ? "_" : "", to, suffix);
    }
    uint32_t size = vyre_build_size_len(s->b, s->arrays[SLOT_A]);
    s->out->owners[s->output_count] = owner;
    s->outputs[s->output_count++] =
        vyre_build_buffer(s->b, name, VYRE_ACCESS_OUT, stored(o->result), size);
}

static void declare_outputs(building *s, const operation *o, uint16_t owner) {
    if (s->batch == BATCH_CONSTANT) {
        for (size_t i = 0; i < CONFORM_PLAIN_CONSTANTS; i++) {
            declare_output(s, o, owner, "_right", i + 1);
        }
        for (size_t i = 0; i < LEFT_CONSTANTS; i++) {
            declare_output(s, o, owner, "_left", i + 1);
        }
        return;
    }
    for (form which = 0; which < FORMS; which++) {
        if (has_form(s, o, which)) {
            declare_output(s, o, owner, form_names[which], 0);
        }
    }
}

/* Which slots the cases use; of arguments only where there is a form of that kind. */
static uint32_t used_slots(const conform_suite_case *const *cases, size_t count) {
    uint32_t used = 1u << SLOT_A; /* the domain */
    for (size_t i = 0; i < count; i++) {
        operation o = operation_of(cases[i]);
        for (uint32_t k = 0; k < o.arity; k++) {
            used |= 1u << o.slots[k];
        }
    }
    return used;
}

/* Data */

enum {
    RANDOM_ELEMENTS = 1009, /* no multiple of any width */
    MORE_RANDOM = 2000,
    TRIPLES = 30,
};

static const uint64_t shift_counts[] = {
    0,  1,  2,   7,   8,   9,   15,  16,  17,  31,         32,         33,         40,        63,
    64, 65, 100, 127, 128, 129, 255, 256, 257, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff8};

/* Places in the list of special floats that products and sums of three are made of. */
static const uint8_t triple_places[TRIPLES / 2] = {0,  1,  7,  8,  14, 16, 18, 21,
                                                   22, 23, 25, 33, 52, 53, 56};

typedef struct values {
    uint64_t items[CONFORM_SPECIALS];
    size_t count;
} values;

/* How many elements there are, and what they are made of. */
static size_t count_elements(const building *s, values *specials) {
    specials->count = conform_special_values(s->type, specials->items);
    if (s->suite->kind == CONFORM_SUITE_OPERATIONS) {
        return RANDOM_ELEMENTS;
    }
    if (s->batch == BATCH_THREE) {
        values all = *specials;
        for (size_t i = 0; i < TRIPLES; i++) {
            specials->items[i] = all.items[triple_places[i / 2] + (i & 1 ? all.count / 2 : 0)];
        }
        specials->count = TRIPLES;
        return (size_t)TRIPLES * TRIPLES * TRIPLES;
    }
    bool is_single =
        s->batch == BATCH_CONVERT || s->batch == BATCH_ELEMENTARY || s->batch == BATCH_CONSTANT;
    if (is_single) {
        return vyre_type_bytes(s->type) == 2 && s->batch != BATCH_CONSTANT
                   ? 65536
                   : specials->count + MORE_RANDOM;
    }
    return specials->count * specials->count;
}

static uint64_t element(const building *s, const values *specials, slot from, size_t i, size_t n,
                        uint64_t *random) {
    size_t m = specials->count;
    vyre_type type = slot_type(from, s->type);
    if (from == SLOT_CHOICE) {
        return (i ^ i >> 1) & 1;
    }
    if (from == SLOT_COUNTS) {
        size_t counts = sizeof shift_counts / sizeof *shift_counts;
        return i & 64 && s->suite->kind == CONFORM_SUITE_OPERATIONS ? vyre_random(random)
                                                                    : shift_counts[i % counts];
    }
    if (s->suite->kind == CONFORM_SUITE_OPERATIONS) {
        return conform_random_value(type, random);
    }
    if (s->batch == BATCH_THREE) {
        return specials->items[from == SLOT_A ? i / m / m : from == SLOT_B ? i / m % m : i % m];
    }
    if (n == m * m) {
        return specials->items[from == SLOT_A ? i / m : i % m];
    }
    return n == 65536 ? i : i < m ? specials->items[i] : conform_random_value(type, random);
}

static bool fill_vectors(conform_trial *trial, vyre_type type, uint32_t used, uint64_t first,
                         size_t count) {
    uint8_t *data[3] = {NULL};
    uint32_t arity = 0;
    for (; arity < 3 && used & 1u << arity; arity++) {
        data[arity] = conform_trial_add(trial, array_names[arity], type, count);
        if (!data[arity]) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t x[3];
        conform_vector(type, arity, first + i, x);
        for (uint32_t k = 0; k < arity; k++) {
            conform_element_put(data[k], i, type, x[k]);
        }
    }
    return true;
}

static size_t part_size(const conform_suite *suite, uint64_t part) {
    uint64_t left = suite->vectors - part * CONFORM_PART_VECTORS;
    return left < CONFORM_PART_VECTORS ? (size_t)left : CONFORM_PART_VECTORS;
}

vyre_status conform_suite_take_part(const conform_suite *suite, const conform_suite_case *first,
                                    uint64_t part, conform_trial *trial) {
    conform_trial other = {.program = vyre_program_retain(trial->program),
                           .properties = trial->properties};
    uint32_t used = (1u << trial->value_count) - 1;
    bool filled = fill_vectors(&other, (vyre_type)(first->part[1] & 0xff), used,
                               part * CONFORM_PART_VECTORS, part_size(suite, part));
    conform_trial_free(trial);
    *trial = other;
    return filled ? VYRE_OK : vyre_no_memory("for the operands of `%s`", first->id);
}

static bool fill(building *s, uint32_t used) {
    if (s->suite->kind == CONFORM_SUITE_FLOATS) {
        return fill_vectors(&s->out->trial, s->type, used, 0, part_size(s->suite, 0));
    }
    values specials;
    size_t n = count_elements(s, &specials);
    uint64_t random = (uint64_t)s->type * 1000 + (uint64_t)s->batch * 10 + s->suite->kind;
    for (slot from = 0; from < SLOTS; from++) {
        vyre_type type = slot_type(from, s->type);
        uint64_t state = random + (uint64_t)from * 0x100000;
        uint8_t *data = used & 1u << from
                            ? conform_trial_add(&s->out->trial, array_names[from], stored(type), n)
                            : NULL;
        if (!data && used & 1u << from) {
            return false;
        }
        for (size_t i = 0; data && i < n; i++) {
            conform_element_put(data, i, stored(type), element(s, &specials, from, i, n, &state));
        }
        if (s->scalars[from] == VYRE_NONE) {
            continue;
        }
        data = conform_trial_add(&s->out->trial, scalar_names[from], type, 1);
        if (!data) {
            return false;
        }
        conform_element_put(data, 0, type, conform_random_value(type, &state));
    }
    return true;
}

static void declare_inputs(building *s, uint32_t used) {
    bool has_uniform = s->suite->kind == CONFORM_SUITE_OPERATIONS;
    for (slot from = 0; from < SLOTS; from++) {
        vyre_type type = slot_type(from, s->type);
        bool is_used = used & 1u << from;
        s->loaded[from] = s->arrays[from] = s->scalars[from] = VYRE_NONE;
        if (is_used) {
            s->arrays[from] =
                vyre_build_buffer(s->b, array_names[from], VYRE_ACCESS_IN, stored(type), VYRE_NONE);
        }
        if (is_used && has_uniform) {
            s->scalars[from] = vyre_build_scalar(s->b, scalar_names[from], type);
        }
    }
}

vyre_status conform_suite_table_build(const conform_suite *suite,
                                      const conform_suite_case *const *cases, size_t count,
                                      conform_suite_trial *out_trial) {
    building s = {.suite = suite, .out = out_trial};
    s.type = (vyre_type)(cases[0]->part[1] & 0xff);
    s.batch = (batch)cases[0]->part[2];
    VYRE_TRY(vyre_builder_create("conform", &s.b));
    uint32_t used = used_slots(cases, count);
    declare_inputs(&s, used);
    for (size_t i = 0; i < count; i++) {
        operation o = operation_of(cases[i]);
        declare_outputs(&s, &o, (uint16_t)i);
    }
    uint32_t domain = vyre_build_size_len(s.b, s.arrays[SLOT_A]);
    vyre_build_phase(s.b, &(vyre_phase_desc){.domain = {domain}});
    s.at = vyre_build_position(s.b, VYRE_OP_GID, 0);
    for (size_t i = 0; i < count; i++) {
        operation o = operation_of(cases[i]);
        if (s.batch == BATCH_CONSTANT) {
            store_constants(&s, &o);
        }
        for (form which = 0; which < FORMS && s.batch != BATCH_CONSTANT; which++) {
            if (has_form(&s, &o, which)) {
                store_form(&s, &o, which);
            }
        }
    }
    vyre_build_phase_end(s.b);
    vyre_status status = vyre_builder_finish(s.b, NULL, &out_trial->trial.program);
    vyre_builder_free(s.b);
    if (!status && !fill(&s, used)) {
        status = vyre_no_memory("for the operands of `%s`", cases[0]->id);
    }
    return status;
}
