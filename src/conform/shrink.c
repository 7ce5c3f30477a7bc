/* The shrinker works on the printed program, which has one instruction a line: it takes lines and
 * blocks away, puts zeros and operands in the place of values, drops arguments, makes numbers
 * smaller. What the parser or the verifier refuses costs little, so it need not know the language
 * well. Arguments are cut down at the end. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/text.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "conform/compare.h"
#include "ir/lookup.h"
#include "ir/print.h"

/* A backend that hangs makes every try as long as the timeout of a run. */
enum { MOST_TRIES = 50000, MOST_SECONDS = 300 };

typedef struct line {
    const char *text;
    size_t size;
    int opens, closes; /* braces */
} line;

typedef struct shrinker {
    const conform_pair *conform;
    conform_trial *trial;
    conform_comparison *comparison;
    char *text; /* the smallest so far */
    size_t size;
    VYRE_VEC(line) lines;
    uint32_t tries;
    uint64_t end_ns; /* by vyre_now_ns */
    bool failed;     /* no memory */
    bool judge_errs; /* who says whether there is one answer does not know it of the trial itself */
    size_t syncs;    /* barriers of the trial */
} shrinker;

static bool split(shrinker *s) {
    s->lines.count = 0;
    for (const char *at = s->text, *end = at + s->size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        line row = {at, (size_t)(stop - at), 0, 0};
        for (const char *c = at; c < stop && *c != '"'; c++) {
            row.opens += *c == '{';
            row.closes += *c == '}';
        }
        if (!vyre_vec_push(&s->lines, row)) {
            return false;
        }
        at = stop + 1;
    }
    return true;
}

/* How large a text is: lines first, then characters, then the numbers in it. */
static uint64_t weigh(const char *text, size_t size) {
    uint64_t lines = 0, numbers = 0;
    for (size_t i = 0; i < size; i++) {
        lines += text[i] == '\n';
        bool starts = isdigit((unsigned char)text[i]) &&
                      (!i || (!isalnum((unsigned char)text[i - 1]) && text[i - 1] != '_'));
        if (starts) {
            uint64_t number = strtoull(text + i, NULL, 10);
            numbers += number < 0xffff ? number : 0xffff;
        }
    }
    numbers = numbers < 0xfffff ? numbers : 0xfffff;
    return lines << 40 | (uint64_t)(size & 0xfffff) << 20 | numbers;
}

static bool is_over(const shrinker *s) {
    return s->failed || s->tries > MOST_TRIES || vyre_now_ns() >= s->end_ns;
}

static size_t count_syncs(const vyre_program *program) {
    const vyre_ir *ir = vyre_program_ir(program);
    size_t count = 0;
    for (uint32_t i = 0; i < ir->inst_count; i++) {
        count += (vyre_op_info_of(ir->insts[i].op)->effects & VYRE_EFFECT_SYNC) != 0;
    }
    return count;
}

static bool same_bytes(const vyre_outputs *left, const vyre_outputs *right) {
    bool same = left->count == right->count;
    for (size_t i = 0; i < left->count && same; i++) {
        const vyre_output *a = &left->items[i], *b = &right->items[i];
        same = a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
    }
    return same;
}

/* Whether there is one answer. Where the fault is in the judge himself, as one that holds for all
 * that waits as it did and gives the same bytes again. */
static bool has_one_answer(const shrinker *s, const vyre_program *program, const vyre_input *inputs,
                           size_t input_count, const vyre_outputs *expected) {
    if (!s->judge_errs) {
        return s->conform->has_one_answer(program, inputs, input_count);
    }
    bool same = count_syncs(program) == s->syncs;
    for (int i = 0; i < 2 && same; i++) {
        vyre_outputs again;
        vyre_status status = conform_expect(s->conform, s->trial, program, &again);
        same = !status && same_bytes(expected, &again);
        vyre_status_free(status);
        vyre_outputs_free(&again);
    }
    return same;
}

/* Void if there is none of that name. An element of a buffer has `element` bytes. */
static vyre_type argument_type(const vyre_program *program, const char *name, bool *is_buffer,
                               size_t *element) {
    const vyre_ir *ir = vyre_program_ir(program);
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        if (!strcmp(ir->strings + ir->args[i].name, name)) {
            *is_buffer = ir->args[i].resource != VYRE_NONE;
            *element = vyre_arg_bytes(ir, &ir->args[i]);
            return vyre_arg_shown_type(&ir->args[i]);
        }
    }
    return VYRE_TYPE_VOID;
}

/* Leaves bytes behind the last whole element of a buffer out: elements may have become smaller. */
static void cut_values(conform_trial *trial, const vyre_program *program, size_t *out_sizes) {
    for (size_t i = 0; i < trial->value_count; i++) {
        conform_trial_value *value = &trial->values[i];
        bool is_buffer = false;
        size_t element = 1;
        argument_type(program, value->name, &is_buffer, &element);
        out_sizes[i] = value->size;
        value->size -= is_buffer ? value->size % element : 0;
    }
}

static void restore_values(conform_trial *trial, const size_t *sizes) {
    for (size_t i = 0; i < trial->value_count; i++) {
        trial->values[i].size = sizes[i];
    }
}

/* Whether a program fails in the same way, and has one answer. */
static bool still_fails(shrinker *s, const vyre_program *program) {
    if (is_over(s)) {
        return false;
    }
    conform_comparison comparison;
    size_t input_count, sizes[VYRE_LIMIT_ARGUMENTS];
    cut_values(s->trial, program, sizes);
    vyre_input *inputs = conform_trial_inputs(s->trial, program, &input_count);
    if (!inputs) {
        restore_values(s->trial, sizes);
        return false;
    }
    vyre_outputs expected;
    vyre_status status = conform_expect(s->conform, s->trial, program, &expected);
    /* A fault may have cost the device, where all else would fail in the same way. */
    if (!status && vyre_device_lost(s->conform->subject)) {
        status = vyre_device_recover(s->conform->subject);
    }
    if (!status) {
        status = conform_compare(s->conform, s->trial, program, &expected, &comparison);
    }
    bool fails = !status && comparison.verdict == s->comparison->verdict &&
                 has_one_answer(s, program, inputs, input_count, &expected);
    vyre_status_free(status);
    vyre_outputs_free(&expected);
    vyre_free(inputs);
    if (fails) {
        *s->comparison = comparison;
    } else {
        restore_values(s->trial, sizes);
    }
    return fails;
}

/* Takes a text in place of the one so far, if it is smaller and still fails. */
static bool try_text(shrinker *s, vyre_strbuf *text) {
    vyre_module *module = NULL;
    vyre_program *program = NULL;
    char *printed = NULL;
    size_t size = 0;
    bool taken = false;
    s->failed |= text->failed;
    if (is_over(s)) {
        goto done;
    }
    s->tries++;
    vyre_status status = vyre_module_parse("shrunk", text->data, text->size, NULL, &module);
    if (!status && vyre_module_count(module) == 1) {
        program = vyre_module_program(module, 0);
        status = vyre_program_print(program, &printed, &size);
    }
    vyre_status_free(status);
    if (printed && weigh(printed, size) < weigh(s->text, s->size) && still_fails(s, program)) {
        vyre_string_free(s->text);
        s->text = printed;
        s->size = size;
        printed = NULL;
        vyre_program_release(s->trial->program);
        s->trial->program = vyre_program_retain(program);
        s->failed |= !split(s);
        taken = true;
    }
done:
    vyre_string_free(printed);
    vyre_module_free(module);
    vyre_strbuf_free(text);
    return taken;
}

static void put_lines(const shrinker *s, vyre_strbuf *text, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        vyre_strbuf_add(text, s->lines.items[i].text, s->lines.items[i].size);
        vyre_strbuf_putc(text, '\n');
    }
}

static bool is_balanced(const shrinker *s, size_t first, size_t end) {
    int depth = 0;
    for (size_t i = first; i < end; i++) {
        const line *row = &s->lines.items[i];
        if (row->closes > depth) {
            return false;
        }
        depth += row->opens - row->closes;
    }
    return depth == 0;
}

static bool drop_lines(shrinker *s) {
    bool any = false;
    for (size_t size = s->lines.count / 2; size > 0; size /= 2) {
        for (size_t i = 1; i + size < s->lines.count && !s->failed;) {
            vyre_strbuf text = {0};
            if (is_balanced(s, i, i + size)) {
                put_lines(s, &text, 0, i);
                put_lines(s, &text, i + size, s->lines.count);
            }
            bool taken = text.size && try_text(s, &text);
            any |= taken;
            i += !taken;
        }
    }
    return any;
}

/* The line on which what opens on line `first` closes: an `else`, or the end. */
static size_t find_close(const shrinker *s, size_t first) {
    int depth = s->lines.items[first].opens;
    for (size_t i = first + 1; i < s->lines.count; i++) {
        depth -= s->lines.items[i].closes;
        if (depth == 0) {
            return i;
        }
        depth += s->lines.items[i].opens;
    }
    return s->lines.count - 1;
}

/* Takes a block away, or puts its inside in its place. */
static bool unwrap(shrinker *s) {
    bool any = false;
    for (size_t i = 1; i + 1 < s->lines.count && !s->failed; i++) {
        if (s->lines.items[i].opens == 0 || s->lines.items[i].closes) {
            continue;
        }
        size_t middle = find_close(s, i);
        size_t end = s->lines.items[middle].opens ? find_close(s, middle) : middle;
        size_t parts[3][2] = {{i, i}, {i + 1, middle}, {middle + 1, end}};
        for (int k = 0; k < (end > middle ? 3 : 2); k++) {
            vyre_strbuf text = {0};
            put_lines(s, &text, 0, i);
            put_lines(s, &text, parts[k][0], parts[k][1]);
            put_lines(s, &text, end + 1, s->lines.count);
            if (try_text(s, &text)) {
                any = true;
                break;
            }
        }
    }
    return any;
}

static bool in_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Adds `text` with each word `name` replaced. */
static void put_replaced(vyre_strbuf *to, const char *text, size_t size, const char *name,
                         size_t name_size, const char *by, size_t by_size) {
    for (size_t i = 0; i < size;) {
        if (!in_word(text[i])) {
            vyre_strbuf_putc(to, text[i++]);
            continue;
        }
        size_t end = i;
        while (end < size && in_word(text[end])) {
            end++;
        }
        bool same = end - i == name_size && !memcmp(text + i, name, name_size);
        vyre_strbuf_add(to, same ? by : text + i, same ? by_size : end - i);
        i = end;
    }
}

/* Takes the definition on lines [first, end) away and puts something in the place of its value. */
static bool replace_value(shrinker *s, size_t first, size_t end, const char *name, size_t name_size,
                          const char *by, size_t by_size) {
    vyre_strbuf text = {0};
    put_lines(s, &text, 0, first);
    for (size_t i = end; i < s->lines.count; i++) {
        put_replaced(&text, s->lines.items[i].text, s->lines.items[i].size, name, name_size, by,
                     by_size);
        vyre_strbuf_putc(&text, '\n');
    }
    return try_text(s, &text);
}

/* Puts a number in the place of the counter of a repeat, in sizes and values. */
static bool drop_counters(shrinker *s) {
    static const char word[] = "repeat ";
    static const char *const numbers[] = {"1u", "0u"};
    bool any = false;
    for (size_t i = 1; i < s->lines.count && !s->failed; i++) {
        const line *row = &s->lines.items[i];
        size_t at = 0, end;
        while (at < row->size && row->text[at] == ' ') {
            at++;
        }
        if (row->size - at <= sizeof word || memcmp(row->text + at, word, sizeof word - 1) != 0) {
            continue;
        }
        at += sizeof word - 1;
        for (end = at; end < row->size && in_word(row->text[end]);) {
            end++;
        }
        bool taken = false;
        for (int k = 0; k < 2 && !taken; k++) {
            row = &s->lines.items[i];
            vyre_strbuf text = {0};
            put_lines(s, &text, 0, i + 1);
            for (size_t l = i + 1; l < s->lines.count; l++) {
                put_replaced(&text, s->lines.items[l].text, s->lines.items[l].size, row->text + at,
                             end - at, numbers[k], 2);
                vyre_strbuf_putc(&text, '\n');
            }
            taken = try_text(s, &text);
        }
        any |= taken;
    }
    return any;
}

/* A zero of the type that the value of an instruction has; the printer ends its name with its
 * number. */
static bool zero_of(const shrinker *s, const char *name, size_t size, char *out, size_t room) {
    size_t digits = size;
    while (digits > 0 && isdigit((unsigned char)name[digits - 1])) {
        digits--;
    }
    const vyre_ir *ir = vyre_program_ir(s->trial->program);
    unsigned long number = digits < size ? strtoul(name + digits, NULL, 10) : ir->inst_count;
    if (number >= ir->inst_count) {
        return false;
    }
    vyre_type type = (vyre_type)ir->insts[number].type;
    if (type == VYRE_TYPE_BOOL) {
        snprintf(out, room, "false");
    } else {
        bool is_float = vyre_type_class_of(type) == VYRE_CLASS_FLOAT;
        snprintf(out, room, "%s%s", is_float ? "0.0" : "0", vyre_type_name(type));
    }
    return true;
}

/* Tries a zero, then each word to the right of the `=`, in the place of a value. */
static bool drop_value(shrinker *s, size_t at) {
    const line *row = &s->lines.items[at];
    const char *name = row->text, *end = row->text + row->size;
    while (name < end && *name == ' ') {
        name++;
    }
    if (end - name < 8 || memcmp(name, "let ", 4) != 0) {
        return false;
    }
    name += 4;
    const char *stop = name;
    while (stop < end && in_word(*stop)) {
        stop++;
    }
    size_t last = at;
    while (s->lines.items[last].opens && (last = find_close(s, last)) + 1 < s->lines.count) {
    }
    char zero[24];
    if (stop == name || !zero_of(s, name, (size_t)(stop - name), zero, sizeof zero)) {
        return false;
    }
    if (replace_value(s, at, last + 1, name, (size_t)(stop - name), zero, strlen(zero))) {
        return true;
    }
    for (const char *word = stop; word < end && last == at;) {
        const char *after = word;
        while (after < end && (in_word(*after) || *after == '.')) {
            after++;
        }
        if (after > word && replace_value(s, at, last + 1, name, (size_t)(stop - name), word,
                                          (size_t)(after - word))) {
            return true;
        }
        word = after > word ? after : word + 1;
    }
    return false;
}

static bool drop_values(shrinker *s) {
    bool any = false;
    for (size_t i = 1; i + 1 < s->lines.count && !s->failed;) {
        bool taken = drop_value(s, i);
        any |= taken;
        i += !taken;
    }
    return any;
}

/* The line of the program itself, behind its structs and constant arrays. */
static size_t head_line(const shrinker *s) {
    static const char start[] = "program ";
    size_t at = 0;
    while (at + 1 < s->lines.count &&
           (s->lines.items[at].size < sizeof start ||
            memcmp(s->lines.items[at].text, start, sizeof start - 1) != 0)) {
        at++;
    }
    return at;
}

/* Arguments of the program, and the claim behind them, are parts of its first line. */
static bool drop_arguments(shrinker *s) {
    bool any = false;
    for (size_t from = 0; from < s->lines.items[head_line(s)].size && !s->failed;) {
        size_t at_head = head_line(s);
        const line *head = &s->lines.items[at_head];
        bool starts = head->text[from] == '(' || head->text[from] == ',';
        size_t end = from + 1;
        int depth = 0;
        while (starts && end < head->size &&
               (depth || (head->text[end] != ',' && head->text[end] != ')'))) {
            depth += head->text[end] == '(' || head->text[end] == '[';
            depth -= head->text[end] == ')' || head->text[end] == ']';
            end++;
        }
        vyre_strbuf text = {0};
        if (starts && end < head->size) {
            bool first = head->text[from] == '(';
            put_lines(s, &text, 0, at_head);
            vyre_strbuf_add(&text, head->text, first ? from + 1 : from);
            end += first && head->text[end] == ',';
            vyre_strbuf_add(&text, head->text + end, head->size - end);
            vyre_strbuf_putc(&text, '\n');
            put_lines(s, &text, at_head + 1, s->lines.count);
        }
        bool taken = text.size && try_text(s, &text);
        any |= taken;
        from += !taken;
    }
    static const char claim[] = " deterministic";
    const char *at = strstr(s->text, claim);
    if (at) {
        vyre_strbuf text = {0};
        vyre_strbuf_add(&text, s->text, (size_t)(at - s->text));
        vyre_strbuf_puts(&text, at + sizeof claim - 1);
        any |= try_text(s, &text);
    }
    return any;
}

/* Adds a line without the field behind elements of an array. */
static void put_elements(vyre_strbuf *to, const line *row, const char *array, const char *field) {
    size_t size = strlen(array), field_size = strlen(field), depth = 0;
    bool in_element = false;
    for (size_t i = 0; i < row->size; i++) {
        const char *at = row->text + i;
        bool starts = !in_element && i + size < row->size && !memcmp(at, array, size) &&
                      at[size] == '[' && (!i || !in_word(at[-1]));
        in_element |= starts;
        depth += in_element && *at == '[';
        vyre_strbuf_putc(to, *at);
        if (in_element && *at == ']' && !--depth) {
            in_element = false;
            bool follows = i + field_size < row->size && !memcmp(at + 1, field, field_size);
            i += follows ? field_size : 0;
        }
    }
    vyre_strbuf_putc(to, '\n');
}

/* Makes records of one scalar scalars, with the struct that stands on these lines. */
static bool open_record(shrinker *s, size_t first) {
    char name[VYRE_LIMIT_NAME_BYTES + 9], field[32], type[8];
    const vyre_ir *ir = vyre_program_ir(s->trial->program);
    if (sscanf(s->lines.items[first].text, "struct %263s {", name) != 1 ||
        sscanf(s->lines.items[first + 1].text, " %30[a-z0-9]: %7[a-z0-9],", field + 1, type) != 2) {
        return false;
    }
    field[0] = '.';
    for (uint32_t arg = 0; arg < ir->arg_count; arg++) {
        uint32_t resource = ir->args[arg].resource;
        vyre_strbuf own = {0}, text = {0}, all = {0};
        if (resource != VYRE_NONE && vyre_resource_has_records(&ir->resources[resource])) {
            vyre_record_name_print(&own, ir, resource);
        }
        if (own.size && !own.failed && !strcmp(vyre_strbuf_string(&own), name)) {
            put_lines(s, &text, 0, first);
            for (size_t i = first + 3; i < s->lines.count; i++) {
                put_elements(&text, &s->lines.items[i], ir->strings + ir->args[arg].name, field);
            }
            put_replaced(&all, text.data, text.size, name, strlen(name), type, strlen(type));
        }
        vyre_strbuf_free(&own);
        vyre_strbuf_free(&text);
        if (all.size) {
            return try_text(s, &all);
        }
    }
    return false;
}

static bool open_records(shrinker *s) {
    bool any = false;
    for (size_t i = 0; i + 3 < s->lines.count && !s->failed;) {
        bool is_one = s->lines.items[i].opens && s->lines.items[i + 2].closes &&
                      !s->lines.items[i + 1].opens && i < head_line(s);
        bool taken = is_one && open_record(s, i);
        any |= taken;
        i += !taken;
    }
    return any;
}

/* Puts its maximum in the place of a domain that is read from memory. */
static bool fix_domains(shrinker *s) {
    static const char over[] = " over ", max[] = "] max ";
    bool any = false;
    for (size_t from = 0; from < s->size && !s->failed;) {
        const char *start = strstr(s->text + from, over);
        const char *line_end = start ? strchr(start, '\n') : NULL;
        const char *end = start ? strstr(start, max) : NULL;
        if (!start) {
            break;
        }
        vyre_strbuf text = {0};
        from = (size_t)(start - s->text) + sizeof over - 1;
        if (end && line_end && end < line_end) {
            vyre_strbuf_add(&text, s->text, from);
            vyre_strbuf_puts(&text, end + sizeof max - 1);
        }
        any |= text.size && try_text(s, &text);
    }
    return any;
}

/* The text of a constant array's declaration: the length stands in its first brackets, the elements
 * in the second. */
typedef struct constant_text {
    const char *length, *list, *list_end;
} constant_text;

static bool find_constant(const shrinker *s, size_t at, constant_text *out) {
    const char *open = strchr(s->text + at, '['), *list = open ? strstr(open, "= [") : NULL;
    const char *end = list ? strstr(list, "];") : NULL;
    *out = (constant_text){open ? open + 1 : NULL, list ? list + 3 : NULL, end};
    return end;
}

/* Tries an array of other elements, or of other length. */
static bool try_constant(shrinker *s, constant_text c, unsigned long length, const char *list,
                         size_t list_size, const char *suffix) {
    vyre_strbuf text = {0};
    vyre_strbuf_add(&text, s->text, (size_t)(c.length - s->text));
    vyre_strbuf_u64(&text, length);
    vyre_strbuf_puts(&text, "] = [");
    vyre_strbuf_add(&text, list, list_size);
    vyre_strbuf_puts(&text, suffix);
    vyre_strbuf_puts(&text, c.list_end);
    return try_text(s, &text);
}

/* The first or the last element for all. */
static bool even_constant(shrinker *s, size_t at, bool last) {
    constant_text c;
    if (!find_constant(s, at, &c) || memchr(c.list, ';', (size_t)(c.list_end - c.list))) {
        return false;
    }
    const char *from = c.list, *to = c.list_end;
    while (to > from && (isspace((unsigned char)to[-1]) || to[-1] == ',')) {
        to--;
    }
    for (const char *comma = from; (comma = memchr(comma, ',', (size_t)(to - comma))); comma++) {
        if (!last) {
            to = comma;
            break;
        }
        from = comma + 1;
    }
    unsigned long length = strtoul(c.length, NULL, 10);
    char suffix[32];
    snprintf(suffix, sizeof suffix, "; %lu", length);
    return try_constant(s, c, length, from, (size_t)(to - from), suffix);
}

/* The first `kept` elements. */
static bool shorten_constant(shrinker *s, size_t at, unsigned long kept) {
    constant_text c;
    if (!find_constant(s, at, &c)) {
        return false;
    }
    char suffix[32] = "";
    const char *stop = memchr(c.list, ';', (size_t)(c.list_end - c.list));
    if (stop) {
        snprintf(suffix, sizeof suffix, "; %lu", kept);
    } else {
        stop = c.list;
        for (unsigned long i = 0; i < kept && stop; i++) {
            stop = strpbrk(stop + (i > 0), ",]");
        }
    }
    return stop && try_constant(s, c, kept, c.list, (size_t)(stop - c.list), suffix);
}

static bool at_constant(const shrinker *s, size_t at) {
    static const char start[] = "const ";
    return at + sizeof start < s->size && (!at || s->text[at - 1] == '\n') &&
           !memcmp(s->text + at, start, sizeof start - 1);
}

static bool shorten_constants(shrinker *s) {
    bool any = false;
    for (size_t at = 0; at < s->size && !s->failed; at++) {
        bool shorter = at_constant(s, at);
        any |= shorter && (even_constant(s, at, false) || even_constant(s, at, true));
        while (shorter && at_constant(s, at)) {
            constant_text c;
            unsigned long length = find_constant(s, at, &c) ? strtoul(c.length, NULL, 10) : 1;
            const unsigned long lengths[] = {1, length / 8, length / 2, length - 1};
            shorter = false;
            for (size_t k = 0; k < sizeof lengths / sizeof *lengths && !shorter; k++) {
                shorter = lengths[k] && lengths[k] < length && shorten_constant(s, at, lengths[k]);
            }
            any |= shorter;
        }
    }
    return any;
}

/* Makes whole numbers smaller, suffixes kept: 0, 1, then a half. */
static bool lower_numbers(shrinker *s) {
    bool any = false;
    for (size_t i = 1; i < s->size && !s->failed; i++) {
        if (!isdigit((unsigned char)s->text[i]) || in_word(s->text[i - 1])) {
            continue;
        }
        bool lower = true;
        while (lower) { /* by halves, as far as it goes */
            char *end;
            unsigned long long number = strtoull(s->text + i, &end, 10);
            unsigned long long smaller[] = {0, 1, 4, number / 8, number / 2};
            lower = false;
            for (size_t k = 0; k < sizeof smaller / sizeof *smaller && !lower; k++) {
                if (smaller[k] >= number || (k && smaller[k] <= smaller[k - 1])) {
                    continue;
                }
                vyre_strbuf text = {0};
                vyre_strbuf_add(&text, s->text, i);
                vyre_strbuf_u64(&text, smaller[k]);
                vyre_strbuf_puts(&text, end);
                lower = try_text(s, &text);
            }
            any |= lower;
            lower = lower && i < s->size && isdigit((unsigned char)s->text[i]);
        }
    }
    return any;
}

/* Drops arguments that are not asked for, shortens buffers, puts zeros where they do. */
static void shrink_values(shrinker *s) {
    conform_trial *trial = s->trial;
    for (size_t i = 0; i < trial->value_count;) {
        conform_trial_value *value = &trial->values[i];
        bool is_buffer = false;
        size_t element = 1;
        vyre_type type = argument_type(trial->program, value->name, &is_buffer, &element);
        if (type == VYRE_TYPE_VOID) {
            vyre_free(value->name);
            vyre_free(value->data);
            *value = trial->values[--trial->value_count];
            continue;
        }
        size_t bytes = vyre_type_bytes(type);
        for (size_t size = value->size; is_buffer && size;) {
            size_t before = value->size;
            value->size = size / 2 / element * element;
            if (!still_fails(s, trial->program)) {
                value->size = before - element;
                if (!still_fails(s, trial->program)) {
                    value->size = before;
                    break;
                }
            }
            size = value->size;
        }
        for (size_t k = 0; k + bytes <= value->size && k < 64 * bytes; k += bytes) {
            uint8_t before[8];
            memcpy(before, value->data + k, bytes);
            memset(value->data + k, 0, bytes);
            if (!still_fails(s, trial->program)) {
                memcpy(value->data + k, before, bytes);
            }
        }
        i++;
    }
}

vyre_status conform_shrink(const conform_pair *conform, conform_trial *trial,
                           conform_comparison *comparison) {
    uint64_t end_ns = vyre_now_ns() + (uint64_t)MOST_SECONDS * 1000000000u;
    bool is_sooner = conform->end_ns && conform->end_ns < end_ns;
    shrinker s = {
        .conform = conform,
        .trial = trial,
        .comparison = comparison,
        .end_ns = is_sooner ? conform->end_ns : end_ns,
    };
    VYRE_TRY(vyre_program_print(trial->program, &s.text, &s.size));
    s.failed = !split(&s);
    s.syncs = count_syncs(trial->program);
    size_t input_count;
    vyre_input *inputs = conform_trial_inputs(trial, trial->program, &input_count);
    s.judge_errs = inputs && !conform->has_one_answer(trial->program, inputs, input_count);
    vyre_free(inputs);
    /* Lines before numbers: those do not matter to what can be left out, but for bounds. */
    bool any = true;
    while (any && !is_over(&s)) {
        size_t before = s.size;
        while (any && !is_over(&s)) {
            any = drop_lines(&s);
            any |= unwrap(&s);
            any |= drop_values(&s);
            any |= drop_counters(&s);
            any |= drop_arguments(&s);
            any |= open_records(&s);
            any |= fix_domains(&s);
            any |= shorten_constants(&s);
        }
        any = lower_numbers(&s) && before != s.size;
    }
    if (!s.failed) {
        shrink_values(&s);
    }
    vyre_vec_free(&s.lines);
    vyre_string_free(s.text);
    return s.failed ? vyre_no_memory("to reduce a program") : VYRE_OK;
}
