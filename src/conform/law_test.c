/* Each law on functions of two buffers, of one buffer to one element, and of buffers to as many. */
#include <string.h>

#include "base/status.h"
#include "conform/compare.h"
#include "conform/law.h"
#include "dialect/law.h"
#include "values/element.h"

void conform_law_data_free(conform_law_data *data) {
    for (size_t i = 0; i < data->count; i++) {
        vyre_strbuf_free(&data->items[i]);
    }
    *data = (conform_law_data){0};
}

vyre_status conform_law_no_memory(const conform_law_test *t) {
    return vyre_no_memory("to test the laws of `%s`", t->f.operation->id);
}

/* Making lists. They belong to the test until its data is done with. */

static conform_law_data *make_data(conform_law_test *t, size_t count) {
    conform_law_data *data = &t->made[t->made_count++]; /* no law makes more than there are */
    data->count = count;
    return data;
}

static vyre_strbuf *make_list(conform_law_test *t) {
    return &make_data(t, 1)->items[0];
}

static const vyre_strbuf *join(conform_law_test *t, const vyre_strbuf *a, const vyre_strbuf *b) {
    vyre_strbuf *joined = make_list(t);
    vyre_strbuf_add(joined, a->data, a->size);
    vyre_strbuf_add(joined, b->data, b->size);
    return joined;
}

/* Elements in the opposite order. */
static const vyre_strbuf *reverse(conform_law_test *t, const vyre_strbuf *a) {
    size_t width = vyre_type_bytes(t->f.types[0]);
    vyre_strbuf *reversed = make_list(t);
    for (size_t i = a->size; i >= width; i -= width) {
        vyre_strbuf_add(reversed, a->data + i - width, width);
    }
    return reversed;
}

/* The value between the parentheses of the law; NULL if it is none of the type. */
static const vyre_strbuf *operand(conform_law_test *t) {
    uint64_t bits;
    vyre_str text = {t->law->operand, strlen(t->law->operand)};
    vyre_strbuf *value = make_list(t);
    t->trouble = values_element_parse(t->f.operation->id, t->f.types[0], text, &bits);
    if (t->trouble) {
        return NULL;
    }
    values_element_store(value, t->f.types[0], bits);
    return value->failed ? NULL : value;
}

/* A list of the same length with one value in it. */
static const vyre_strbuf *repeat(conform_law_test *t, const vyre_strbuf *value, size_t size) {
    vyre_strbuf *list = make_list(t);
    while (list->size < size && !list->failed && !value->failed) {
        vyre_strbuf_add(list, value->data, value->size);
    }
    return list;
}

/* Puts the lower element of each pair first. */
static void sort_pairs(vyre_strbuf *a, vyre_strbuf *b, vyre_type type) {
    size_t width = vyre_type_bytes(type);
    for (size_t i = 0; i < a->size && i < b->size; i += width) {
        uint8_t swap[8], *x = (uint8_t *)a->data + i, *y = (uint8_t *)b->data + i;
        int order = conform_law_order(type, x, y);
        if (order == 1) {
            memcpy(swap, x, width);
            memcpy(x, y, width);
            memcpy(y, swap, width);
        } else if (order == 2) {
            memcpy(y, x, width); /* no order: the same */
        }
    }
}

/* Running */

void conform_law_name(const conform_law_test *t) {
    vyre_strbuf_printf(t->failures, "%s: the law ", t->f.operation->id);
    vyre_law_print(t->failures, t->law);
}

/* A run that fails is a failure of the law, or ends the test. */
static void refuse(conform_law_test *t, vyre_status status) {
    if (vyre_status_code_of(status) == VYRE_STATUS_OUT_OF_MEMORY) {
        t->trouble = status;
        return;
    }
    conform_law_name(t);
    vyre_strbuf_printf(t->failures, " cannot be tested: %s\n", vyre_status_text(status));
    t->claims->unsupported += vyre_status_code_of(status) == VYRE_STATUS_UNSUPPORTED;
    vyre_status_free(status);
    t->failed = true;
}

/* Applies a function; NULL if that fails, or something did before. Runs count for the digest of all
 * outputs, so that no two of them stand in one expression, whose order C leaves open. */
static const conform_law_data *apply(conform_law_test *t, const conform_law_function *f,
                                     const vyre_strbuf *const *data) {
    vyre_input inputs[VYRE_LIMIT_ARGUMENTS];
    vyre_outputs outputs = {0};
    bool stored = true;
    memcpy(inputs, f->binding.inputs, f->binding.input_count * sizeof *inputs);
    for (size_t i = 0; i < f->data_count; i++) {
        if (!data[i] || data[i]->failed) {
            return NULL;
        }
        inputs[f->data[i]] = (vyre_input){data[i]->size ? data[i]->data : NULL, data[i]->size};
    }
    if (t->failed || t->trouble) {
        return NULL;
    }
    vyre_status status =
        vyre_device_dispatch(t->device, f->program, inputs, f->binding.input_count, NULL, &outputs);
    if (status) {
        refuse(t, status);
        return NULL;
    }
    t->claims->digest = conform_digest(t->claims->digest, &outputs);
    conform_law_data *out =
        make_data(t, outputs.count < CONFORM_LAW_DATA ? outputs.count : CONFORM_LAW_DATA);
    for (size_t i = 0; i < out->count; i++) {
        vyre_strbuf_add(&out->items[i], (const char *)outputs.items[i].data, outputs.items[i].size);
        stored &= !out->items[i].failed;
    }
    vyre_outputs_free(&outputs);
    return stored ? out : NULL;
}

static const vyre_strbuf *first(const conform_law_data *data) {
    return data ? &data->items[0] : NULL;
}

static const vyre_strbuf *apply_one(conform_law_test *t, const vyre_strbuf *a) {
    return first(apply(t, &t->f, (const vyre_strbuf *const[]){a}));
}

static const vyre_strbuf *apply_two(conform_law_test *t, const vyre_strbuf *a,
                                    const vyre_strbuf *b) {
    return first(apply(t, &t->f, (const vyre_strbuf *const[]){a, b}));
}

/* Comparing */

static void print_element(vyre_strbuf *text, vyre_type type, const vyre_strbuf *data,
                          size_t index) {
    size_t width = vyre_type_bytes(type);
    if ((index + 1) * width <= data->size) {
        values_element_print(text, type, (const uint8_t *)data->data + index * width);
    } else {
        vyre_strbuf_puts(text, "nothing");
    }
}

/* The data that go in, as `a`, `b` and so on. */
typedef struct given {
    const vyre_strbuf *data[3];
    size_t count;
} given;

static void tell(conform_law_test *t, const vyre_strbuf *left, const vyre_strbuf *right,
                 vyre_type type, size_t index, given from) {
    t->failed = true;
    conform_law_name(t);
    vyre_strbuf_printf(t->failures, ", %s, does not hold: ", vyre_law_meaning(t->law->kind));
    print_element(t->failures, type, left, index);
    vyre_strbuf_puts(t->failures, " and ");
    print_element(t->failures, type, right, index);
    for (size_t i = 0; i < from.count && t->f.by_element; i++) {
        vyre_strbuf_printf(t->failures, "%s%c = ", i ? ", " : " with ", (char)('a' + i));
        print_element(t->failures, t->f.types[0], from.data[i], index);
    }
    vyre_strbuf_printf(t->failures, t->f.by_element ? "\n" : " at element %zu\n", index);
}

/* Whether two lists are the same bits. */
static void expect_same(conform_law_test *t, const vyre_strbuf *left, const vyre_strbuf *right,
                        vyre_type type, given from) {
    size_t width = vyre_type_bytes(type), index = 0;
    if (t->failed || !left || !right ||
        (left->size == right->size &&
         (!left->size || !memcmp(left->data, right->data, left->size)))) {
        return;
    }
    size_t shorter = left->size < right->size ? left->size : right->size;
    while ((index + 1) * width <= shorter &&
           !memcmp(left->data + index * width, right->data + index * width, width)) {
        index++;
    }
    tell(t, left, right, type, index, from);
}

/* Whether no element is above the one in the other list. */
static void expect_order(conform_law_test *t, const vyre_strbuf *left, const vyre_strbuf *right,
                         given from) {
    vyre_type type = t->f.results[0];
    size_t width = vyre_type_bytes(type);
    if (!left || !right || left->size != right->size) {
        return;
    }
    for (size_t i = 0; !t->failed && (i + 1) * width <= left->size; i++) {
        if (conform_law_order(type, (const uint8_t *)left->data + i * width,
                              (const uint8_t *)right->data + i * width) == 1) {
            tell(t, left, right, type, i, from);
        }
    }
}

/* The laws, by shape */

static void test_pair(conform_law_test *t, vyre_strbuf *a, vyre_strbuf *b, const vyre_strbuf *c) {
    const given one = {{a}, 1}, two = {{a, b}, 2}, three = {{a, b, c}, 3};
    const vyre_strbuf *left, *right, *value;
    vyre_type type = t->f.results[0];
    switch (t->law->kind) {
    case VYRE_LAW_COMMUTATIVE:
        left = apply_two(t, a, b);
        right = apply_two(t, b, a);
        expect_same(t, left, right, type, two);
        break;
    case VYRE_LAW_IDEMPOTENT: expect_same(t, apply_two(t, a, a), a, type, one); break;
    case VYRE_LAW_IDENTITY:
    case VYRE_LAW_ABSORBING:
        value = operand(t);
        if (value) {
            const vyre_strbuf *list = repeat(t, value, a->size);
            const vyre_strbuf *expected = t->law->kind == VYRE_LAW_ABSORBING ? list : a;
            left = apply_two(t, a, list);
            right = apply_two(t, list, a);
            expect_same(t, left, expected, type, one);
            expect_same(t, right, expected, type, one);
        }
        break;
    case VYRE_LAW_ASSOCIATIVE:
        left = apply_two(t, a, b);
        right = apply_two(t, b, c);
        left = apply_two(t, left, c);
        right = apply_two(t, a, right);
        expect_same(t, left, right, type, three);
        break;
    case VYRE_LAW_INVERSE: /* g(f(a, b), b) = a */
        left = apply_two(t, a, b);
        right = first(apply(t, &t->g, (const vyre_strbuf *const[]){left, b}));
        expect_same(t, right, a, t->f.types[0], two);
        break;
    case VYRE_LAW_MONOTONE:
        sort_pairs(a, b, t->f.types[0]);
        left = apply_two(t, a, c);
        right = apply_two(t, b, c);
        expect_order(t, left, right, three);
        left = apply_two(t, c, a);
        right = apply_two(t, c, b);
        expect_order(t, left, right, three);
        break;
    case VYRE_LAW_INVOLUTION: break;
    }
}

/* f(f(a)) or g(f(a)) against a or f(a). */
static void test_twice(conform_law_test *t, const conform_law_data *a,
                       const conform_law_function *outer, bool against_first) {
    const vyre_strbuf *data[CONFORM_LAW_DATA];
    for (size_t i = 0; i < a->count; i++) {
        data[i] = &a->items[i];
    }
    const conform_law_data *there = apply(t, &t->f, data);
    for (size_t i = 0; there && i < there->count; i++) {
        data[i] = &there->items[i];
    }
    const conform_law_data *back = there ? apply(t, outer, data) : NULL;
    const conform_law_data *expected = against_first ? there : a;
    for (size_t i = 0; back && i < back->count && i < expected->count; i++) {
        expect_same(t, &back->items[i], &expected->items[i], t->f.types[i],
                    (given){{&a->items[0]}, 1});
    }
}

static void test_monotone(conform_law_test *t, vyre_strbuf *a, vyre_strbuf *b, given from) {
    sort_pairs(a, b, t->f.types[0]);
    const vyre_strbuf *low = apply_one(t, a), *high = apply_one(t, b);
    expect_order(t, low, high, from);
}

static void test_map(conform_law_test *t, conform_law_data *a, vyre_strbuf *b) {
    switch (t->law->kind) {
    case VYRE_LAW_IDEMPOTENT: test_twice(t, a, &t->f, true); break;
    case VYRE_LAW_INVOLUTION: test_twice(t, a, &t->f, false); break;
    case VYRE_LAW_INVERSE: test_twice(t, a, &t->g, false); break;
    case VYRE_LAW_MONOTONE: test_monotone(t, &a->items[0], b, (given){{&a->items[0], b}, 2}); break;
    default: break;
    }
}

/* A fold of one operation: its law shows in how lists can be taken apart. */
static void test_fold(conform_law_test *t, vyre_strbuf *a, vyre_strbuf *b) {
    const given none = {{NULL}, 0};
    const vyre_strbuf *all = apply_one(t, a), *value, *other;
    vyre_type type = t->f.results[0];
    if (!all) {
        return;
    }
    switch (t->law->kind) {
    case VYRE_LAW_COMMUTATIVE: expect_same(t, apply_one(t, reverse(t, a)), all, type, none); break;
    case VYRE_LAW_IDEMPOTENT: expect_same(t, apply_one(t, all), all, type, none); break;
    case VYRE_LAW_IDENTITY:
    case VYRE_LAW_ABSORBING:
        value = operand(t);
        if (value) {
            const vyre_strbuf *expected = t->law->kind == VYRE_LAW_ABSORBING ? value : all;
            expect_same(t, apply_one(t, join(t, a, value)), expected, type, none);
            expect_same(t, apply_one(t, join(t, value, a)), expected, type, none);
        }
        break;
    case VYRE_LAW_ASSOCIATIVE:
        other = apply_one(t, b);
        value = apply_one(t, join(t, a, b));
        if (other) {
            expect_same(t, apply_one(t, join(t, all, other)), value, type, none);
        }
        break;
    case VYRE_LAW_MONOTONE: test_monotone(t, a, b, none); break;
    default: break;
    }
}

static void test_shape(conform_law_test *t, conform_law_shape kind, conform_law_data *data) {
    if (kind == CONFORM_SHAPE_PAIR) {
        test_pair(t, &data->items[0], &data->items[1], &data->items[2]);
    } else if (kind == CONFORM_SHAPE_FOLD) {
        test_fold(t, &data->items[0], &data->items[1]);
    } else {
        conform_law_data all = *data;
        all.count = t->f.data_count;
        test_map(t, &all, &data->items[t->f.data_count]);
    }
}

static bool has_memory(const conform_law_data *data) {
    bool has = true;
    for (size_t i = 0; i < data->count; i++) {
        has &= !data->items[i].failed;
    }
    return has;
}

vyre_status conform_law_test_data(conform_law_test *t, conform_law_shape kind,
                                  conform_law_data *data) {
    size_t width = vyre_type_bytes(t->f.types[0]);
    bool has = has_memory(data);
    t->claims->cases += t->f.by_element ? data->items[0].size / width : 1;
    t->trouble = VYRE_OK;
    if (has) {
        test_shape(t, kind, data);
    }
    for (; t->made_count; t->made_count--) {
        has &= has_memory(&t->made[t->made_count - 1]);
        conform_law_data_free(&t->made[t->made_count - 1]);
    }
    return t->trouble ? t->trouble : has ? VYRE_OK : conform_law_no_memory(t);
}
