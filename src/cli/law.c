/* Laws: what a manifest claims of an operation, tested on a device.
 *
 * An operation is taken as a function of its buffers of data; what else it has comes from a
 * witness. It is one of three: of two such buffers, of one buffer to one value, or of buffers to as
 * many of the same types. A `fn` works element by element, so that a few runs test it on all tuples
 * of the values there are to try; a program is tested on the data of its witnesses, and on random
 * data of the same lengths. Results are compared bit by bit. */
#include <string.h>

#include "cli/bind.h"
#include "cli/law_values.h"
#include "cli/operation.h"
#include "cli/ops.h"
#include "cli/value.h"
#include "cli/witness.h"
#include "ir/program.h"

enum { DATA_MAX = 8, RANDOM_CASES = 3 };

typedef enum shape {
    SHAPE_OTHER,
    SHAPE_PAIR, /* two buffers of one type to one buffer */
    SHAPE_FOLD, /* one buffer to one element */
    SHAPE_MAP   /* buffers to as many, of the same types */
} shape;

/* An operation as a function of data. */
typedef struct function {
    const vyre_operation *operation;
    cli_binding binding;   /* of a witness: everything that is no data */
    size_t data[DATA_MAX]; /* numbers of inputs */
    vyre_type types[DATA_MAX];
    size_t data_count;
    vyre_type results[DATA_MAX];
    size_t result_count;
    bool is_one;     /* the result is one element, whatever goes in */
    bool by_element; /* a fn of scalars: data of any length will do */
} function;

typedef struct law_test {
    vyre_device *device;
    const vyre_dialects *snapshot;
    const vyre_law *law;
    function f, g; /* g: what undoes it */
    bool has_g;
    cli_ops_tally *tally;
    vyre_text *failures;
    bool failed;
    uint64_t seed;
} law_test;

/* Some data: a list of elements for each input or result. */
typedef struct data_set {
    vyre_text items[DATA_MAX];
    size_t count;
} data_set;

static void free_set(data_set *set) {
    for (size_t i = 0; i < set->count; i++) {
        vyre_text_free(&set->items[i]);
    }
    *set = (data_set){0};
}

static vyre_status no_memory(const law_test *t) {
    return vyre_status_make(VYRE_STATUS_OUT_OF_MEMORY, "free memory, then try again",
                            "no memory to test the laws of `%s`", t->f.operation->id);
}

/* Shapes */

static vyre_type parameter_type(const vyre_operation *operation, const char *name, vyre_type type) {
    for (size_t i = 0; i < operation->parameter_count; i++) {
        if (!strcmp(operation->parameters[i].name, name)) {
            return operation->parameters[i].type; /* a bool, where buffers have a u8 */
        }
    }
    return type;
}

static bool is_scalar(const vyre_operation *operation, const char *name) {
    for (size_t i = 0; i < operation->parameter_count; i++) {
        if (!strcmp(operation->parameters[i].name, name)) {
            return !operation->parameters[i].is_buffer;
        }
    }
    return false;
}

/* A size that is the number 1. */
static bool is_one(const vyre_ir *ir, uint32_t size) {
    return size != VYRE_NONE && ir->sizes[size].op == VYRE_SIZE_CONST && ir->sizes[size].a == 1 &&
           !ir->sizes[size].b;
}

static void add_argument(function *f, const vyre_ir *ir, uint32_t arg, size_t *input) {
    uint32_t resource = ir->args[arg].resource;
    const char *name = ir->strings + ir->args[arg].name;
    vyre_type type = parameter_type(f->operation, name, (vyre_type)ir->args[arg].type);
    uint32_t access = resource == VYRE_NONE ? VYRE_ACCESS_IN : ir->resources[resource].access;
    bool is_function = f->operation->form == VYRE_OPERATION_FUNCTION;
    bool is_data = resource != VYRE_NONE && access != VYRE_ACCESS_OUT &&
                   (!is_function || is_scalar(f->operation, name));
    f->by_element &= is_data || access == VYRE_ACCESS_OUT;
    if (is_data) {
        if (f->data_count < DATA_MAX) {
            f->types[f->data_count] = type;
            f->data[f->data_count] = *input;
        }
        f->data_count++;
    }
    *input += access != VYRE_ACCESS_OUT;
    if (resource != VYRE_NONE && access != VYRE_ACCESS_IN) {
        f->is_one = is_one(ir, ir->resources[resource].size);
        if (f->result_count < DATA_MAX) {
            f->results[f->result_count] = type;
        }
        f->result_count++;
    }
}

static vyre_status describe_function(function *f, const vyre_operation *operation,
                                     const vyre_witness *witness) {
    *f = (function){.operation = operation,
                    .by_element = operation->form == VYRE_OPERATION_FUNCTION};
    const vyre_ir *ir = vyre_program_ir(operation->composition);
    size_t input = 0;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        add_argument(f, ir, i, &input);
    }
    f->is_one = f->is_one && f->result_count == 1;
    return cli_witness_bind(operation, witness->arguments, &f->binding);
}

static shape shape_of(const function *f) {
    bool fits = f->data_count <= DATA_MAX && f->result_count <= DATA_MAX;
    if (fits && f->data_count == 2 && f->result_count == 1 && f->types[0] == f->types[1]) {
        return SHAPE_PAIR;
    }
    if (fits && f->data_count == 1 && f->is_one) {
        return SHAPE_FOLD;
    }
    bool same = fits && f->data_count && f->data_count == f->result_count;
    for (size_t i = 0; same && i < f->data_count; i++) {
        same = f->types[i] == f->results[i];
    }
    return same || (fits && f->data_count == 1 && f->result_count == 1) ? SHAPE_MAP : SHAPE_OTHER;
}

/* Running */

/* Applies a function; a run that fails is a failure of the law. */
static vyre_status apply(law_test *t, function *f, const vyre_text *const *data, data_set *out) {
    vyre_input inputs[VYRE_LIMIT_ARGUMENTS];
    vyre_outputs outputs = {0};
    *out = (data_set){0};
    memcpy(inputs, f->binding.inputs, f->binding.input_count * sizeof *inputs);
    for (size_t i = 0; i < f->data_count; i++) {
        inputs[f->data[i]] = (vyre_input){data[i]->size ? data[i]->data : NULL, data[i]->size};
    }
    vyre_status status = vyre_device_dispatch(t->device, f->operation->composition, inputs,
                                              f->binding.input_count, NULL, &outputs);
    if (status && vyre_status_code_of(status) != VYRE_STATUS_OUT_OF_MEMORY) {
        vyre_text_printf(t->failures, "%s: the law ", t->f.operation->id);
        cli_describe_law(t->failures, t->law);
        vyre_text_printf(t->failures, " cannot be tested: %s\n", vyre_status_text(status));
        vyre_status_free(status);
        t->failed = true;
        return VYRE_OK;
    }
    out->count = outputs.count < DATA_MAX ? outputs.count : DATA_MAX;
    bool stored = true;
    for (size_t i = 0; i < out->count; i++) {
        vyre_text_add(&out->items[i], (const char *)outputs.items[i].data, outputs.items[i].size);
        stored &= !out->items[i].failed;
    }
    vyre_outputs_free(&outputs);
    return status ? status : stored ? VYRE_OK : no_memory(t);
}

static vyre_status apply_one(law_test *t, const vyre_text *a, data_set *out) {
    return apply(t, &t->f, (const vyre_text *const[]){a}, out);
}

static vyre_status apply_two(law_test *t, const vyre_text *a, const vyre_text *b, data_set *out) {
    return apply(t, &t->f, (const vyre_text *const[]){a, b}, out);
}

/* Comparing */

static void print_element(vyre_text *text, vyre_type type, const vyre_text *data, size_t index) {
    size_t width = vyre_type_bytes(type);
    if ((index + 1) * width <= data->size) {
        cli_value_print(text, type, (const uint8_t *)data->data + index * width);
    } else {
        vyre_text_puts(text, "nothing");
    }
}

/* Tells of a difference; `given` are the data that go in, as `a`, `b` and so on. */
static void tell(law_test *t, const vyre_text *left, const vyre_text *right, vyre_type type,
                 size_t index, const vyre_text *const *given, size_t given_count) {
    t->failed = true;
    vyre_text_printf(t->failures, "%s: the law ", t->f.operation->id);
    cli_describe_law(t->failures, t->law);
    vyre_text_printf(t->failures, ", %s, does not hold: ", cli_law_meaning(t->law->kind));
    print_element(t->failures, type, left, index);
    vyre_text_puts(t->failures, " and ");
    print_element(t->failures, type, right, index);
    for (size_t i = 0; i < given_count && t->f.by_element; i++) {
        vyre_text_printf(t->failures, "%s%c = ", i ? ", " : " with ", (char)('a' + i));
        print_element(t->failures, t->f.types[0], given[i], index);
    }
    vyre_text_printf(t->failures, t->f.by_element ? "\n" : " at element %zu\n", index);
}

/* Whether two lists are the same bits. */
static void expect_same(law_test *t, const vyre_text *left, const vyre_text *right, vyre_type type,
                        const vyre_text *const *given, size_t given_count) {
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

static void expect_same_sets(law_test *t, const data_set *left, const data_set *right,
                             const vyre_type *types, const data_set *given) {
    for (size_t i = 0; i < left->count && i < right->count; i++) {
        const vyre_text *first[] = {&given->items[0]};
        expect_same(t, &left->items[i], &right->items[i], types[i], first, given->count ? 1 : 0);
    }
}

/* Whether no element is above the one in the other list. */
static void expect_order(law_test *t, const vyre_text *left, const vyre_text *right, vyre_type type,
                         const vyre_text *const *given, size_t given_count) {
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

static vyre_status parse_operand(law_test *t, vyre_text *out) {
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
static void fill(vyre_text *out, const vyre_text *like, const vyre_text *value) {
    vyre_text_cut(out, 0);
    while (out->size < like->size && !out->failed) {
        vyre_text_add(out, value->data, value->size);
    }
}

static vyre_status test_with_value(law_test *t, const vyre_text *a, bool absorbs) {
    data_set left = {0}, right = {0};
    vyre_text value = {0}, list = {0};
    const vyre_text *given[] = {a};
    vyre_status status = parse_operand(t, &value);
    if (!status && t->f.types[0] == t->f.results[0]) {
        fill(&list, a, &value);
        status = apply_two(t, a, &list, &left);
        status = status || t->failed ? status : apply_two(t, &list, a, &right);
        if (!status && !t->failed) {
            const vyre_text *expected = absorbs ? &list : a;
            expect_same(t, &left.items[0], expected, t->f.results[0], given, 1);
            expect_same(t, &right.items[0], expected, t->f.results[0], given, 1);
        }
    }
    free_set(&left);
    free_set(&right);
    vyre_text_free(&value);
    vyre_text_free(&list);
    return status;
}

static vyre_status test_associative(law_test *t, const vyre_text *a, const vyre_text *b,
                                    const vyre_text *c) {
    data_set ab = {0}, bc = {0}, left = {0}, right = {0};
    const vyre_text *given[] = {a, b, c};
    vyre_status status = apply_two(t, a, b, &ab);
    status = status || t->failed ? status : apply_two(t, b, c, &bc);
    status = status || t->failed ? status : apply_two(t, &ab.items[0], c, &left);
    status = status || t->failed ? status : apply_two(t, a, &bc.items[0], &right);
    if (!status && !t->failed) {
        expect_same(t, &left.items[0], &right.items[0], t->f.results[0], given, 3);
    }
    free_set(&ab);
    free_set(&bc);
    free_set(&left);
    free_set(&right);
    return status;
}

/* Puts the lower element of each pair first. */
static void sort_pairs(vyre_text *a, vyre_text *b, vyre_type type) {
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

static vyre_status test_monotone_pair(law_test *t, vyre_text *a, vyre_text *b, const vyre_text *c) {
    data_set low = {0}, high = {0};
    const vyre_text *given[] = {a, b, c};
    vyre_status status = VYRE_OK;
    sort_pairs(a, b, t->f.types[0]);
    for (int side = 0; side < 2 && !status && !t->failed; side++) {
        free_set(&low);
        free_set(&high);
        status = apply_two(t, side ? c : a, side ? a : c, &low);
        status = status || t->failed ? status : apply_two(t, side ? c : b, side ? b : c, &high);
        if (!status && !t->failed) {
            expect_order(t, &low.items[0], &high.items[0], t->f.results[0], given, 3);
        }
    }
    free_set(&low);
    free_set(&high);
    return status;
}

/* g(f(a, b), b) = a */
static vyre_status test_inverse_pair(law_test *t, const vyre_text *a, const vyre_text *b) {
    data_set there = {0}, back = {0};
    const vyre_text *given[] = {a, b};
    vyre_status status = apply_two(t, a, b, &there);
    if (!status && !t->failed) {
        const vyre_text *data[] = {&there.items[0], b};
        status = apply(t, &t->g, data, &back);
    }
    if (!status && !t->failed) {
        expect_same(t, &back.items[0], a, t->f.types[0], given, 2);
    }
    free_set(&there);
    free_set(&back);
    return status;
}

static vyre_status test_pair(law_test *t, vyre_text *a, vyre_text *b, const vyre_text *c) {
    data_set left = {0}, right = {0};
    const vyre_text *given[] = {a, b};
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
    free_set(&left);
    free_set(&right);
    return status;
}

/* f(f(a)) or g(f(a)) against a or f(a). */
static vyre_status test_twice(law_test *t, const data_set *a, function *outer, bool against_first) {
    data_set there = {0}, back = {0};
    const vyre_text *data[DATA_MAX];
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
    free_set(&there);
    free_set(&back);
    return status;
}

static vyre_status test_map(law_test *t, data_set *a, vyre_text *b) {
    data_set low = {0}, high = {0};
    const vyre_text *given[] = {&a->items[0], b};
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
    free_set(&low);
    free_set(&high);
    return status;
}

/* Of a fold: what two lists behind each other give, against what is expected. */
static vyre_status test_joined(law_test *t, const vyre_text *a, const vyre_text *b,
                               const vyre_text *expected) {
    data_set found = {0};
    vyre_text joined = {0};
    vyre_text_add(&joined, a->data, a->size);
    vyre_text_add(&joined, b->data, b->size);
    vyre_status status = joined.failed ? no_memory(t) : apply_one(t, &joined, &found);
    if (!status && !t->failed) {
        expect_same(t, &found.items[0], expected, t->f.results[0], NULL, 0);
    }
    free_set(&found);
    vyre_text_free(&joined);
    return status;
}

/* Elements in the opposite order. */
static void reverse(vyre_text *out, const vyre_text *a, vyre_type type) {
    size_t width = vyre_type_bytes(type);
    for (size_t i = a->size; i >= width; i -= width) {
        vyre_text_add(out, a->data + i - width, width);
    }
}

/* A fold of one operation: a law of that shows in how lists can be taken apart. */
static vyre_status test_fold(law_test *t, vyre_text *a, vyre_text *b) {
    data_set all = {0}, other = {0}, whole = {0};
    vyre_text value = {0}, parts = {0};
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
            const vyre_text *expected = t->law->kind == VYRE_LAW_ABSORBING ? &value : &all.items[0];
            status = test_joined(t, a, &value, expected);
            status = status ? status : test_joined(t, &value, a, expected);
        }
        break;
    case VYRE_LAW_ASSOCIATIVE:
        status = apply_one(t, b, &other);
        vyre_text_add(&parts, a->data, a->size);
        vyre_text_add(&parts, b->data, b->size);
        status = status || t->failed ? status : apply_one(t, &parts, &whole);
        status = status || t->failed
                     ? status
                     : test_joined(t, &all.items[0], &other.items[0], &whole.items[0]);
        break;
    case VYRE_LAW_MONOTONE:
        sort_pairs(a, b, t->f.types[0]);
        free_set(&all);
        status = apply_one(t, a, &all);
        status = status || t->failed ? status : apply_one(t, b, &other);
        if (!status && !t->failed) {
            expect_order(t, &all.items[0], &other.items[0], t->f.results[0], NULL, 0);
        }
        break;
    default: break;
    }
    free_set(&all);
    free_set(&other);
    free_set(&whole);
    vyre_text_free(&value);
    vyre_text_free(&parts);
    return status;
}

/* Whether the law says something of such a function. */
static bool fits(const law_test *t, shape kind) {
    const function *f = &t->f;
    bool same = f->data_count && f->types[0] == f->results[0];
    bool g_fits = t->has_g && t->g.data_count == f->data_count && t->g.result_count >= 1 &&
                  t->g.types[0] == f->results[0] && t->g.results[0] == f->types[0];
    switch (t->law->kind) {
    case VYRE_LAW_COMMUTATIVE: return kind == SHAPE_PAIR || kind == SHAPE_FOLD;
    case VYRE_LAW_ASSOCIATIVE:
    case VYRE_LAW_IDENTITY:
    case VYRE_LAW_ABSORBING: return (kind == SHAPE_PAIR || kind == SHAPE_FOLD) && same;
    case VYRE_LAW_IDEMPOTENT: return kind != SHAPE_OTHER && same;
    case VYRE_LAW_INVOLUTION: return kind == SHAPE_MAP && same;
    case VYRE_LAW_INVERSE: return (kind == SHAPE_MAP || kind == SHAPE_PAIR) && g_fits;
    case VYRE_LAW_MONOTONE: return kind != SHAPE_OTHER && f->data_count <= 2;
    }
    return false;
}

/* Cases */

static vyre_status test_case(law_test *t, shape kind, data_set *data) {
    size_t width = vyre_type_bytes(t->f.types[0]);
    t->tally->cases += t->f.by_element ? data->items[0].size / width : 1;
    for (size_t i = 0; i < data->count; i++) {
        if (data->items[i].failed) {
            return no_memory(t);
        }
    }
    if (kind == SHAPE_PAIR) {
        return test_pair(t, &data->items[0], &data->items[1], &data->items[2]);
    }
    if (kind == SHAPE_FOLD) {
        return test_fold(t, &data->items[0], &data->items[1]);
    }
    data_set first = *data;
    first.count = t->f.data_count;
    return test_map(t, &first, &data->items[t->f.data_count]);
}

/* How many of a, b and c the law speaks of. */
static size_t variables(const law_test *t, shape kind) {
    bool is_pair = kind == SHAPE_PAIR;
    switch (t->law->kind) {
    case VYRE_LAW_ASSOCIATIVE: return 3;
    case VYRE_LAW_MONOTONE: return is_pair ? 3 : 2;
    case VYRE_LAW_COMMUTATIVE: return 2;
    case VYRE_LAW_INVERSE: return is_pair ? 2 : 1;
    default: return 1;
    }
}

/* All tuples of the values there are to try; one value of `c` after the other. */
static vyre_status test_tuples(law_test *t, shape kind) {
    size_t width = vyre_type_bytes(t->f.types[0]), count = variables(t, kind);
    vyre_text values = {0};
    vyre_status status = VYRE_OK;
    cli_law_values(&values, t->f.types[0]);
    size_t each = values.size / width;
    for (size_t c = 0; c < (count > 2 ? each : 1) && !status && !t->failed; c++) {
        data_set data = {.count = 3};
        for (size_t b = 0; b < (count > 1 ? each : 1); b++) {
            vyre_text_add(&data.items[0], values.data, values.size);
            for (size_t i = 0; i < each; i++) {
                vyre_text_add(&data.items[1], values.data + b * width, width);
                vyre_text_add(&data.items[2], values.data + c * width, width);
            }
        }
        status = values.failed ? no_memory(t) : test_case(t, kind, &data);
        free_set(&data);
    }
    vyre_text_free(&values);
    return status;
}

/* The data of a witness, then random ones of the same lengths. */
static vyre_status test_data(law_test *t, shape kind) {
    vyre_status status = VYRE_OK;
    for (int turn = 0; turn <= RANDOM_CASES && !status && !t->failed; turn++) {
        data_set data = {.count = t->f.data_count + 2};
        for (size_t i = 0; i < data.count; i++) {
            size_t which = i < t->f.data_count ? i : 0;
            const vyre_input *given = &t->f.binding.inputs[t->f.data[which]];
            size_t width = vyre_type_bytes(t->f.types[which]);
            if (turn || i >= t->f.data_count) {
                cli_law_random(&data.items[i], t->f.types[which], given->size / width, &t->seed);
            } else {
                vyre_text_add(&data.items[i], given->data, given->size);
            }
        }
        status = test_case(t, kind, &data);
        free_set(&data);
    }
    return status;
}

static vyre_status find_inverse(law_test *t) {
    const vyre_operation *operation = cli_operation_find(t->snapshot, t->law->operand);
    t->has_g = false;
    if (!operation || !operation->composition || !operation->witness_count) {
        t->failed = true;
        vyre_text_printf(t->failures, "%s: the law ", t->f.operation->id);
        cli_describe_law(t->failures, t->law);
        vyre_text_puts(t->failures, " names no operation that can be run\n");
        return VYRE_OK;
    }
    t->has_g = true;
    return describe_function(&t->g, operation, &operation->witnesses[0]);
}

static vyre_status test_law(law_test *t) {
    vyre_status status = VYRE_OK;
    bool is_element = false;
    if (t->law->kind == VYRE_LAW_INVERSE) {
        status = find_inverse(t);
    }
    for (size_t i = 0; i < t->f.operation->witness_count && !status && !t->failed && !is_element;
         i++) {
        const vyre_operation *operation = t->f.operation;
        cli_binding_deinit(&t->f.binding);
        status = describe_function(&t->f, operation, &operation->witnesses[i]);
        shape kind = shape_of(&t->f);
        if (!status && !fits(t, kind)) {
            t->failed = true;
            vyre_text_printf(t->failures, "%s: the law ", operation->id);
            cli_describe_law(t->failures, t->law);
            vyre_text_printf(t->failures, ", %s, says nothing of such arguments\n",
                             cli_law_meaning(t->law->kind));
        } else if (!status) {
            is_element = t->f.by_element && (!t->has_g || t->g.by_element);
            status = is_element ? test_tuples(t, kind) : test_data(t, kind);
        }
    }
    cli_binding_deinit(&t->f.binding);
    cli_binding_deinit(&t->g.binding);
    return status;
}

vyre_status cli_laws_check(vyre_device *device, const vyre_dialects *snapshot,
                           const vyre_operation *operation, cli_ops_tally *tally,
                           vyre_text *failures) {
    vyre_status status = VYRE_OK;
    for (size_t i = 0; i < operation->law_count && !status; i++) {
        law_test t = {.device = device,
                      .snapshot = snapshot,
                      .law = &operation->laws[i],
                      .f = {.operation = operation},
                      .tally = tally,
                      .failures = failures,
                      .seed = i + 1};
        tally->laws++;
        status = test_law(&t);
        if (status && vyre_status_code_of(status) == VYRE_STATUS_INVALID_ARGUMENT) {
            t.failed = true;
            vyre_text_printf(failures, "%s: %s\n", operation->id, vyre_status_text(status));
            vyre_status_free(status);
            status = VYRE_OK;
        }
        tally->failures += t.failed;
    }
    return status;
}
