/* Cases that are written as text: suite_programs.txt, which says at its head how. */
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "base/hash.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "conform/suite.h"
#include "ir/program.h"
#include "values/element.h"

extern const char conform_suite_programs_text[];

enum { MOST_VARIABLES = 3, FIELDS = 5 };

/* The parts of a head. */
typedef enum field {
    FIELD_ID,
    FIELD_VARIABLES,
    FIELD_ARGUMENTS,
    FIELD_TAGS,
    FIELD_PROPERTIES
} field;

typedef struct variable {
    vyre_str name, words; /* separated by commas */
    size_t count;
} variable;

typedef struct family {
    vyre_str fields[FIELDS];
    vyre_str text; /* of the program */
    variable variables[MOST_VARIABLES];
    size_t variable_count, combinations;
} family;

static vyre_str trimmed(const char *data, size_t size) {
    while (size && (*data == ' ' || *data == '\n')) {
        data++;
        size--;
    }
    while (size && (data[size - 1] == ' ' || data[size - 1] == '\n')) {
        size--;
    }
    return (vyre_str){data, size};
}

/* Takes the next word off a text; false behind the last. */
static bool next_word(vyre_str *text, char separator, vyre_str *out) {
    *text = trimmed(text->data, text->size);
    size_t size = 0;
    while (size < text->size && text->data[size] != separator) {
        size++;
    }
    *out = (vyre_str){text->data, size};
    bool any = text->size > 0;
    size_t taken = size < text->size ? size + 1 : size;
    text->data += taken;
    text->size -= taken;
    return any;
}

static void read_variables(family *f) {
    vyre_str rest = f->fields[FIELD_VARIABLES], word;
    f->combinations = 1;
    while (f->variable_count < MOST_VARIABLES && next_word(&rest, ' ', &word)) {
        variable *v = &f->variables[f->variable_count++];
        vyre_str item;
        (void)next_word(&word, '=', &v->name);
        v->words = word;
        for (v->count = 0; next_word(&word, ',', &item);) {
            v->count++;
        }
        f->combinations *= v->count;
    }
}

/* Reads the family that begins at `at`, an '@', and gives where the next one does; NULL behind the
 * last. Heads that stand together share the program behind them. */
static const char *read_family(const char *at, family *out) {
    *out = (family){0};
    const char *line_end = at + strcspn(at, "\n");
    vyre_str head = {at + 1, (size_t)(line_end - at - 1)}, part;
    for (size_t i = 0; i < FIELDS && next_word(&head, '|', &part); i++) {
        out->fields[i] = trimmed(part.data, part.size);
    }
    const char *text = line_end;
    while (text[0] == '\n' && text[1] == '@') {
        text += 1 + strcspn(text + 1, "\n");
    }
    const char *end = strstr(text, "\n@");
    out->text = trimmed(text, end ? (size_t)(end - text) : strlen(text));
    read_variables(out);
    return strstr(at, "\n@") ? strstr(at, "\n@") + 1 : NULL;
}

static const char *first_family(void) {
    const char *at = strstr(conform_suite_programs_text, "\n@");
    return at ? at + 1 : NULL;
}

/* The value of a variable in a combination. */
static vyre_str value_of(const family *f, size_t which, size_t combination) {
    for (size_t i = 0; i < which; i++) {
        combination /= f->variables[i].count;
    }
    vyre_str words = f->variables[which].words, word = {0};
    for (size_t i = 0; i <= combination % f->variables[which].count; i++) {
        (void)next_word(&words, ',', &word);
    }
    return word;
}

static bool is_letter(char c) {
    return c >= 'A' && c <= 'Z';
}

/* The text with the values of variables in the place of $NAME. */
static void put_text(const family *f, size_t combination, vyre_str text, vyre_strbuf *out) {
    for (size_t i = 0; i < text.size; i++) {
        size_t size = 0;
        while (text.data[i] == '$' && i + 1 + size < text.size &&
               is_letter(text.data[i + 1 + size])) {
            size++;
        }
        size_t which = f->variable_count;
        for (size_t k = 0; size && k < f->variable_count; k++) {
            vyre_str name = f->variables[k].name;
            if (name.size == size && !memcmp(name.data, text.data + i + 1, size)) {
                which = k;
            }
        }
        if (which == f->variable_count) {
            vyre_strbuf_putc(out, text.data[i]);
            continue;
        }
        vyre_str value = value_of(f, which, combination);
        vyre_strbuf_add(out, value.data, value.size);
        i += size;
    }
}

/* Listing */

static uint64_t tags_of(const family *f, size_t combination) {
    vyre_str rest = f->fields[FIELD_TAGS], word;
    uint64_t tags = 0;
    while (next_word(&rest, ' ', &word)) {
        for (conform_tag tag = 1; tag < CONFORM_TAG_COUNT; tag++) {
            tags |= vyre_str_is(word, conform_tag_name(tag)) ? CONFORM_TAG_BIT(tag) : 0;
        }
    }
    for (size_t i = 0; i < f->variable_count; i++) {
        vyre_type type = vyre_type_from_name(value_of(f, i, combination));
        tags |= type ? CONFORM_TAG_BIT(type) : 0;
    }
    return tags | (f->fields[FIELD_PROPERTIES].size ? CONFORM_TAG_BIT(CONFORM_TAG_SCHEDULE) : 0);
}

void conform_suite_programs_list(conform_suite *suite, bool *failed) {
    const char *name = conform_suite_name(suite->kind);
    uint32_t group = suite->list.count ? suite->list.items[suite->list.count - 1].group : 0;
    for (const char *at = first_family(); at && !*failed;) {
        family f;
        uint32_t place = (uint32_t)(at - conform_suite_programs_text);
        at = read_family(at, &f);
        bool is_ours = f.fields[FIELD_ID].size > strlen(name) &&
                       !memcmp(f.fields[FIELD_ID].data, name, strlen(name)) &&
                       f.fields[FIELD_ID].data[strlen(name)] == '.';
        for (size_t i = 0; is_ours && i < f.combinations; i++) {
            vyre_strbuf id = {0};
            put_text(&f, i, f.fields[FIELD_ID], &id);
            const uint32_t part[3] = {0, place, (uint32_t)i};
            *failed |= id.failed;
            conform_suite_add(suite, failed, tags_of(&f, i), ++group, part, "%s",
                              vyre_strbuf_string(&id));
            vyre_strbuf_free(&id);
        }
    }
}

/* Building */

static const vyre_arg *find_argument(const vyre_ir *ir, vyre_str name) {
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (vyre_str_is(name, ir->strings + ir->args[i].name)) {
            return &ir->args[i];
        }
    }
    return NULL;
}

/* A number of a type as the text has it. */
static uint64_t read_number(vyre_type type, vyre_str word) {
    char digits[32] = {0};
    memcpy(digits, word.data, word.size < sizeof digits - 1 ? word.size : sizeof digits - 1);
    uint64_t bits = 0;
    bool overflow = false;
    if (vyre_type_class_of(type) != VYRE_CLASS_FLOAT) {
        return *digits == '-' ? 0 - strtoull(digits + 1, NULL, 0) : strtoull(digits, NULL, 0);
    }
    (void)vyre_float_parse(word.data, word.size, values_float_format(type), &bits, &overflow);
    return bits;
}

/* "x[1000]", elements drawn at random; "x[1000]#7", such below 7; "x=1,2,3". */
static bool add_value(conform_trial *trial, vyre_str word, uint64_t *random) {
    size_t name_size = 0;
    while (name_size < word.size && word.data[name_size] != '[' && word.data[name_size] != '=') {
        name_size++;
    }
    vyre_str name = {word.data, name_size}, rest = {word.data + name_size, word.size - name_size};
    const vyre_arg *arg = find_argument(vyre_program_ir(trial->program), name);
    if (!arg || rest.size < 2) {
        return false;
    }
    char copy[VYRE_LIMIT_NAME_BYTES + 1] = {0};
    memcpy(copy, name.data, name.size);
    vyre_type type = (vyre_type)arg->type;
    uint8_t *data;
    if (rest.data[0] == '[') {
        char digits[64] = {0};
        memcpy(digits, rest.data + 1, rest.size - 1 < 63 ? rest.size - 1 : 63);
        char *end;
        size_t count = strtoull(digits, &end, 10);
        uint64_t bound = *end == ']' && end[1] == '#' ? strtoull(end + 2, NULL, 10) : 0;
        data = conform_trial_add(trial, copy, type, count);
        for (size_t i = 0; data && i < count; i++) {
            uint64_t bits = conform_random_value(type, random);
            conform_element_put(data, i, type, bound ? bits % bound : bits);
        }
        return data;
    }
    vyre_str list = {rest.data + 1, rest.size - 1}, counted = list, item;
    size_t count = 0;
    while (next_word(&counted, ',', &item)) {
        count++;
    }
    data = conform_trial_add(trial, copy, type, count);
    for (size_t i = 0; data && next_word(&list, ',', &item); i++) {
        conform_element_put(data, i, type, read_number(type, item));
    }
    return data;
}

/* "name:permutation" for outputs that are not compared byte for byte. */
static bool read_properties(const family *f, conform_suite_trial *out) {
    const vyre_ir *ir = vyre_program_ir(out->trial.program);
    vyre_str rest = f->fields[FIELD_PROPERTIES], word;
    bool known = true;
    while (next_word(&rest, ' ', &word)) {
        vyre_str name;
        (void)next_word(&word, ':', &name);
        uint32_t output = 0;
        bool found = false;
        for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
            bool is_output = vyre_ir_is_output(ir, arg);
            bool is_named = is_output && vyre_str_is(name, ir->strings + ir->args[arg].name);
            for (conform_property p = 1; is_named && p < CONFORM_PROPERTY_COUNT; p++) {
                if (vyre_str_is(word, conform_property_name(p))) {
                    out->properties[output] = (uint8_t)p;
                    out->trial.properties = out->properties;
                    found = true;
                }
            }
            output += is_output;
        }
        known &= found;
    }
    return known;
}

vyre_status conform_suite_programs_build(const conform_suite_case *chosen,
                                         conform_suite_trial *out_trial) {
    family f;
    vyre_strbuf text = {0}, arguments = {0};
    vyre_module *module = NULL;
    size_t combination = chosen->part[2];
    (void)read_family(conform_suite_programs_text + chosen->part[1], &f);
    put_text(&f, combination, f.text, &text);
    put_text(&f, combination, f.fields[FIELD_ARGUMENTS], &arguments);
    bool stored = !text.failed && !arguments.failed;
    vyre_status status =
        stored ? vyre_module_parse("conform", text.data, text.size, NULL, &module) : VYRE_OK;
    bool fits = stored && !status;
    if (fits) {
        uint64_t random = vyre_hash(chosen->id, strlen(chosen->id));
        vyre_str rest = {arguments.data, arguments.size}, word;
        out_trial->trial.program =
            vyre_program_retain(vyre_module_program(module, vyre_module_count(module) - 1));
        while (fits && next_word(&rest, ' ', &word)) {
            fits = add_value(&out_trial->trial, word, &random);
        }
        fits = fits && read_properties(&f, out_trial);
    }
    if (!status && !fits) {
        status = vyre_no_memory("for the case");
    }
    vyre_module_free(module);
    vyre_strbuf_free(&text);
    vyre_strbuf_free(&arguments);
    return status;
}
