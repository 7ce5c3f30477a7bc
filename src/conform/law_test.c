/* Each law on functions of two buffers, of one buffer to one element, and of buffers to as many. */
#include <string.h>

#include "cli/operation.h"
#include "conform/law.h"
#include "conform/law_values.h"
#include "values/value.h"

#include "base/status.h"

void cli_law_data_free(cli_law_data *data) {
    for (size_t i = 0; i < data->count; i++) {
        vyre_strbuf_free(&data->items[i]);
    }
    *data = (cli_law_data){0};
}

vyre_status cli_law_no_memory(const cli_law_test *t) {
    return vyre_no_memory("to test the laws of `%s`", t->f.operation->id);
}

/* Running */

/* Applies a function; a run that fails is a failure of the law. */
static vyre_status apply(cli_law_test *t, cli_law_function *f, const vyre_strbuf *const *data,
                         cli_law_data *out) {
    vyre_input inputs[VYRE_LIMIT_ARGUMENTS];
    vyre_outputs outputs = {0};
    *out = (cli_law_data){0};
    memcpy(inputs, f->binding.inputs, f->binding.input_count * sizeof *inputs);
    for (size_t i = 0; i < f->data_count; i++) {
        inputs[f->data[i]] = (vyre_input){data[i]->size ? data[i]->data : NULL, data[i]->size};
    }
    vyre_status status =
        vyre_device_dispatch(t->device, f->program, inputs, f->binding.input_count, NULL, &outputs);
    if (status && vyre_status_code_of(status) != VYRE_STATUS_OUT_OF_MEMORY) {
        vyre_strbuf_printf(t->failures, "%s: the law ", t->f.operation->id);
        cli_describe_law(t->failures, t->law);
        vyre_strbuf_printf(t->failures, " cannot be tested: %s\n", vyre_status_text(status));
        t->tally->unsupported += vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED;
        vyre_status_free(status);
        t->failed = true;
        return VYRE_OK;
    }
    cli_ops_tally_outputs(t->tally, &outputs);
    out->count = outputs.count < CLI_LAW_DATA ? outputs.count : CLI_LAW_DATA;
    bool stored = true;
    for (size_t i = 0; i < out->count; i++) {
        vyre_strbuf_add(&out->items[i], (const char *)outputs.items[i].data, outputs.items[i].size);
        stored &= !out->items[i].failed;
    }
    vyre_outputs_free(&outputs);
    return status ? status : stored ? VYRE_OK : cli_law_no_memory(t);
}

static vyre_status apply_one(cli_law_test *t, const vyre_strbuf *a, cli_law_data *out) {
    return apply(t, &t->f, (const vyre_strbuf *const[]){a}, out);
}

static vyre_status apply_two(cli_law_test *t, const vyre_strbuf *a, const vyre_strbuf *b,
                             cli_law_data *out) {
    return apply(t, &t->f, (const vyre_strbuf *const[]){a, b}, out);
}

/* Comparing */

static void print_element(vyre_strbuf *text, vyre_type type, const vyre_strbuf *data,
                          size_t index) {
    size_t width = vyre_type_bytes(type);
    if ((index + 1) * width <= data->size) {
        cli_value_print(text, type, (const uint8_t *)data->data + index * width);
    } else {
        vyre_strbuf_puts(text, "nothing");
    }
}

/* Tells of a difference; `given` are the data that go in, as `a`, `b` and so on. */
static void tell(cli_law_test *t, const vyre_strbuf *left, const vyre_strbuf *right, vyre_type type,
                 size_t index, const vyre_strbuf *const *given, size_t given_count) {
    t->failed = true;
    vyre_strbuf_printf(t->failures, "%s: the law ", t->f.operation->id);
    cli_describe_law(t->failures, t->law);
    vyre_strbuf_printf(t->failures, ", %s, does not hold: ", cli_law_meaning(t->law->kind));
    print_element(t->failures, type, left, index);
    vyre_strbuf_puts(t->failures, " and ");
    print_element(t->failures, type, right, index);
    for (size_t i = 0; i < given_count && t->f.by_element; i++) {
        vyre_strbuf_printf(t->failures, "%s%c = ", i ? ", " : " with ", (char)('a' + i));
        print_element(t->failures, t->f.types[0], given[i], index);
    }
    vyre_strbuf_printf(t->failures, t->f.by_element ? "\n" : " at element %zu\n", index);
}

/* Whether two lists are the same bits. */
static void expect_same(cli_law_test *t, const vyre_strbuf *left, const vyre_strbuf *right,
                        vyre_type type, const vyre_strbuf *const *given, size_t given_count) {
    size_t width = vyre_type_bytes(type), index = 0;
    size_t shorter = left->size < right->size ? left->size : right->size;
    if (t->failed || (left->size == right->size &&
                      (!left->size || !memcmp(left->data, right->data, left->size)))) {
        return;
    }
    while ((index + 1) * width <= shorter &&
           !memcmp(left->data + index * width, right->data + index * width, width)) {
        index++;
    }
    tell(t, left, right, type, index, given, given_count);
}

static void expect_same_sets(cli_law_test *t, const cli_law_data *left, const cli_law_data *right,
                             const vyre_type *types, const cli_law_data *given) {
    for (size_t i = 0; i < left->count && i < right->count; i++) {
        const vyre_strbuf *first[] = {&given->items[0]};
        expect_same(t, &left->items[i], &right->items[i], types[i], first, given->count ? 1 : 0);
    }
}

/* Whether no element is above the one in the other list. */
static void expect_order(cli_law_test *t, const vyre_strbuf *left, const vyre_strbuf *right,
                         vyre_type type, const vyre_strbuf *const *given, size_t given_count) {
    size_t width = vyre_type_bytes(type);
    for (size_t i = 0; !t->failed && (i + 1) * width <= left->size && left->size == right->size;
         i++) {
        if (cli_law_order(type, (const uint8_t *)left->data + i * width,
                          (const uint8_t *)right->data + i * width) == 1) {
            tell(t, left, right, type, i, given, given_count);
        }
    }
}

/* The laws, by shape */

static vyre_status parse_operand(cli_law_test *t, vyre_strbuf *out) {
    uint64_t bits;
    vyre_str text = {t->law->operand, strlen(t->law->operand)};
    vyre_type type = t->f.types[0];
    vyre_status status = cli_value_parse(t->f.operation->id, type, text, &bits);
    if (!status) {
        cli_value_store(out, type, bits);
    }
    return status;
}

/* A list of the same length with one value in it. */
static void fill(vyre_strbuf *out, const vyre_strbuf *like, const vyre_strbuf *value) {
    vyre_strbuf_cut(out, 0);
    while (out->size < like->size && !out->failed) {
        vyre_strbuf_add(out, value->data, value->size);
    }
}

static vyre_status test_with_value(cli_law_test *t, const vyre_strbuf *a, bool absorbs) {
    cli_law_data left = {0}, right = {0};
    vyre_strbuf value = {0}, list = {0};
    const vyre_strbuf *given[] = {a};
    vyre_status status = parse_operand(t, &value);
    if (!status && t->f.types[0] == t->f.results[0]) {
        fill(&list, a, &value);
        status = apply_two(t, a, &list, &left);
        status = status || t->failed ? status : apply_two(t, &list, a, &right);
        if (!status && !t->failed) {
            const vyre_strbuf *expected = absorbs ? &list : a;
            expect_same(t, &left.items[0], expected, t->f.results[0], given, 1);
            expect_same(t, &right.items[0], expected, t->f.results[0], given, 1);
        }
    }
    cli_law_data_free(&left);
    cli_law_data_free(&right);
    vyre_strbuf_free(&value);
    vyre_strbuf_free(&list);
    return status;
}

static vyre_status test_associative(cli_law_test *t, const vyre_strbuf *a, const vyre_strbuf *b,
                                    const vyre_strbuf *c) {
    cli_law_data ab = {0}, bc = {0}, left = {0}, right = {0};
    const vyre_strbuf *given[] = {a, b, c};
    vyre_status status = apply_two(t, a, b, &ab);
    status = status || t->failed ? status : apply_two(t, b, c, &bc);
    status = status || t->failed ? status : apply_two(t, &ab.items[0], c, &left);
    status = status || t->failed ? status : apply_two(t, a, &bc.items[0], &right);
    if (!status && !t->failed) {
        expect_same(t, &left.items[0], &right.items[0], t->f.results[0], given, 3);
    }
    cli_law_data_free(&ab);
    cli_law_data_free(&bc);
    cli_law_data_free(&left);
    cli_law_data_free(&right);
    return status;
}

/* Puts the lower element of each pair first. */
static void sort_pairs(vyre_strbuf *a, vyre_strbuf *b, vyre_type type) {
    size_t width = vyre_type_bytes(type);
    for (size_t i = 0; i < a->size && i < b->size; i += width) {
        uint8_t swap[8], *x = (uint8_t *)a->data + i, *y = (uint8_t *)b->data + i;
        int order = cli_law_order(type, x, y);
        if (order == 1) {
            memcpy(swap, x, width);
            memcpy(x, y, width);
            memcpy(y, swap, width);
        } else if (order == 2) {
            memcpy(y, x, width); /* no order: the same */
        }
    }
}

static vyre_status test_monotone_pair(cli_law_test *t, vyre_strbuf *a, vyre_strbuf *b,
                                      const vyre_strbuf *c) {
    cli_law_data low = {0}, high = {0};
    const vyre_strbuf *given[] = {a, b, c};
    vyre_status status = VYRE_OK;
    sort_pairs(a, b, t->f.types[0]);
    for (int side = 0; side < 2 && !status && !t->failed; side++) {
        cli_law_data_free(&low);
        cli_law_data_free(&high);
        status = apply_two(t, side ? c : a, side ? a : c, &low);
        status = status || t->failed ? status : apply_two(t, side ? c : b, side ? b : c, &high);
        if (!status && !t->failed) {
            expect_order(t, &low.items[0], &high.items[0], t->f.results[0], given, 3);
        }
    }
    cli_law_data_free(&low);
    cli_law_data_free(&high);
    return status;
}

/* g(f(a, b), b) = a */
static vyre_status test_inverse_pair(cli_law_test *t, const vyre_strbuf *a, const vyre_strbuf *b) {
    cli_law_data there = {0}, back = {0};
    const vyre_strbuf *given[] = {a, b};
    vyre_status status = apply_two(t, a, b, &there);
    if (!status && !t->failed) {
        const vyre_strbuf *data[] = {&there.items[0], b};
        status = apply(t, &t->g, data, &back);
    }
    if (!status && !t->failed) {
        expect_same(t, &back.items[0], a, t->f.types[0], given, 2);
    }
    cli_law_data_free(&there);
    cli_law_data_free(&back);
    return status;
}

static vyre_status test_pair(cli_law_test *t, vyre_strbuf *a, vyre_strbuf *b,
                             const vyre_strbuf *c) {
    cli_law_data left = {0}, right = {0};
    const vyre_strbuf *given[] = {a, b};
    vyre_status status = VYRE_OK;
    switch (t->law->kind) {
    case VYRE_LAW_COMMUTATIVE:
        status = apply_two(t, a, b, &left);
        status = status || t->failed ? status : apply_two(t, b, a, &right);
        if (!status && !t->failed) {
            expect_same(t, &left.items[0], &right.items[0], t->f.results[0], given, 2);
        }
        break;
    case VYRE_LAW_IDEMPOTENT:
        status = apply_two(t, a, a, &left);
        if (!status && !t->failed) {
            expect_same(t, &left.items[0], a, t->f.results[0], given, 1);
        }
        break;
    case VYRE_LAW_IDENTITY: status = test_with_value(t, a, false); break;
    case VYRE_LAW_ABSORBING: status = test_with_value(t, a, true); break;
    case VYRE_LAW_ASSOCIATIVE: status = test_associative(t, a, b, c); break;
    case VYRE_LAW_INVERSE: status = test_inverse_pair(t, a, b); break;
    case VYRE_LAW_MONOTONE: status = test_monotone_pair(t, a, b, c); break;
    case VYRE_LAW_INVOLUTION: break;
    }
    cli_law_data_free(&left);
    cli_law_data_free(&right);
    return status;
}

/* f(f(a)) or g(f(a)) against a or f(a). */
static vyre_status test_twice(cli_law_test *t, const cli_law_data *a, cli_law_function *outer,
                              bool against_first) {
    cli_law_data there = {0}, back = {0};
    const vyre_strbuf *data[CLI_LAW_DATA];
    for (size_t i = 0; i < a->count; i++) {
        data[i] = &a->items[i];
    }
    vyre_status status = apply(t, &t->f, data, &there);
    for (size_t i = 0; i < there.count; i++) {
        data[i] = &there.items[i];
    }
    status = status || t->failed ? status : apply(t, outer, data, &back);
    if (!status && !t->failed) {
        expect_same_sets(t, &back, against_first ? &there : a, t->f.types, a);
    }
    cli_law_data_free(&there);
    cli_law_data_free(&back);
    return status;
}

static vyre_status test_map(cli_law_test *t, cli_law_data *a, vyre_strbuf *b) {
    cli_law_data low = {0}, high = {0};
    const vyre_strbuf *given[] = {&a->items[0], b};
    vyre_status status = VYRE_OK;
    switch (t->law->kind) {
    case VYRE_LAW_IDEMPOTENT: return test_twice(t, a, &t->f, true);
    case VYRE_LAW_INVOLUTION: return test_twice(t, a, &t->f, false);
    case VYRE_LAW_INVERSE: return test_twice(t, a, &t->g, false);
    case VYRE_LAW_MONOTONE:
        sort_pairs(&a->items[0], b, t->f.types[0]);
        status = apply_one(t, &a->items[0], &low);
        status = status || t->failed ? status : apply_one(t, b, &high);
        if (!status && !t->failed) {
            expect_order(t, &low.items[0], &high.items[0], t->f.results[0], given, 2);
        }
        break;
    default: break;
    }
    cli_law_data_free(&low);
    cli_law_data_free(&high);
    return status;
}

/* Of a fold: what two lists behind each other give, against what is expected. */
static vyre_status test_joined(cli_law_test *t, const vyre_strbuf *a, const vyre_strbuf *b,
                               const vyre_strbuf *expected) {
    cli_law_data found = {0};
    vyre_strbuf joined = {0};
    vyre_strbuf_add(&joined, a->data, a->size);
    vyre_strbuf_add(&joined, b->data, b->size);
    vyre_status status = joined.failed ? cli_law_no_memory(t) : apply_one(t, &joined, &found);
    if (!status && !t->failed) {
        expect_same(t, &found.items[0], expected, t->f.results[0], NULL, 0);
    }
    cli_law_data_free(&found);
    vyre_strbuf_free(&joined);
    return status;
}

/* Elements in the opposite order. */
static void reverse(vyre_strbuf *out, const vyre_strbuf *a, vyre_type type) {
    size_t width = vyre_type_bytes(type);
    for (size_t i = a->size; i >= width; i -= width) {
        vyre_strbuf_add(out, a->data + i - width, width);
    }
}

/* A fold of one operation: a law of that shows in how lists can be taken apart. */
static vyre_status test_fold(cli_law_test *t, vyre_strbuf *a, vyre_strbuf *b) {
    cli_law_data all = {0}, other = {0}, whole = {0};
    vyre_strbuf value = {0}, parts = {0};
    vyre_status status = apply_one(t, a, &all);
    if (status || t->failed) {
        return status;
    }
    switch (t->law->kind) {
    case VYRE_LAW_COMMUTATIVE:
        reverse(&parts, a, t->f.types[0]);
        status = test_joined(t, &parts, &value, &all.items[0]);
        break;
    case VYRE_LAW_IDEMPOTENT: status = test_joined(t, &all.items[0], &value, &all.items[0]); break;
    case VYRE_LAW_IDENTITY:
    case VYRE_LAW_ABSORBING:
        status = parse_operand(t, &value);
        if (!status) {
            const vyre_strbuf *expected =
                t->law->kind == VYRE_LAW_ABSORBING ? &value : &all.items[0];
            status = test_joined(t, a, &value, expected);
            status = status ? status : test_joined(t, &value, a, expected);
        }
        break;
    case VYRE_LAW_ASSOCIATIVE:
        status = apply_one(t, b, &other);
        vyre_strbuf_add(&parts, a->data, a->size);
        vyre_strbuf_add(&parts, b->data, b->size);
        status = status || t->failed ? status : apply_one(t, &parts, &whole);
        status = status || t->failed
                     ? status
                     : test_joined(t, &all.items[0], &other.items[0], &whole.items[0]);
        break;
    case VYRE_LAW_MONOTONE:
        sort_pairs(a, b, t->f.types[0]);
        cli_law_data_free(&all);
        status = apply_one(t, a, &all);
        status = status || t->failed ? status : apply_one(t, b, &other);
        if (!status && !t->failed) {
            expect_order(t, &all.items[0], &other.items[0], t->f.results[0], NULL, 0);
        }
        break;
    default: break;
    }
    cli_law_data_free(&all);
    cli_law_data_free(&other);
    cli_law_data_free(&whole);
    vyre_strbuf_free(&value);
    vyre_strbuf_free(&parts);
    return status;
}

vyre_status cli_law_test_data(cli_law_test *t, cli_law_shape kind, cli_law_data *data) {
    size_t width = vyre_type_bytes(t->f.types[0]);
    t->tally->cases += t->f.by_element ? data->items[0].size / width : 1;
    for (size_t i = 0; i < data->count; i++) {
        if (data->items[i].failed) {
            return cli_law_no_memory(t);
        }
    }
    if (kind == CLI_SHAPE_PAIR) {
        return test_pair(t, &data->items[0], &data->items[1], &data->items[2]);
    }
    if (kind == CLI_SHAPE_FOLD) {
        return test_fold(t, &data->items[0], &data->items[1]);
    }
    cli_law_data first = *data;
    first.count = t->f.data_count;
    return test_map(t, &first, &data->items[t->f.data_count]);
}
