/* Laws: what a manifest claims of an operation, tested on a device.
 *
 * An operation is taken as a function of its buffers of data; what else it has comes from a
 * witness. It is one of three: of two such buffers, of one buffer to one value, or of buffers to as
 * many of the same types. A `fn` works element by element, so that a few runs test it on all tuples
 * of the values there are to try; a program is tested on the data of its witnesses, and on random
 * data of the same lengths. Results are compared bit by bit. */
#include "conform/law.h"

#include <string.h>

#include "base/status.h"
#include "dialect/law.h"
#include "ir/lookup.h"
#include "ir/program.h"

enum { RANDOM_CASES = 3, BRIEF_VALUES = 16 };

/* Shapes */

static const vyre_parameter *find_parameter(const vyre_operation *operation, const char *name) {
    for (size_t i = 0; i < operation->parameter_count; i++) {
        if (!strcmp(operation->parameters[i].name, name)) {
            return &operation->parameters[i];
        }
    }
    return NULL;
}

/* A size that is the number 1. */
static bool is_one(const vyre_ir *ir, uint32_t size) {
    return size != VYRE_NONE && ir->sizes[size].op == VYRE_SIZE_CONST && ir->sizes[size].a == 1 &&
           !ir->sizes[size].b;
}

static void add_argument(conform_law_function *f, const vyre_ir *ir, uint32_t arg, size_t *input) {
    uint32_t resource = ir->args[arg].resource;
    const vyre_parameter *parameter =
        find_parameter(f->operation, ir->strings + ir->args[arg].name);
    /* A parameter is a bool where its buffer has a u8. */
    vyre_type type = parameter ? parameter->type : vyre_arg_shown_type(&ir->args[arg]);
    uint32_t access = resource == VYRE_NONE ? VYRE_ACCESS_IN : ir->resources[resource].access;
    bool is_function = f->operation->form == VYRE_OPERATION_FUNCTION;
    bool is_data = resource != VYRE_NONE && access != VYRE_ACCESS_OUT &&
                   (!is_function || (parameter && !parameter->is_buffer));
    f->by_element &= is_data || access == VYRE_ACCESS_OUT;
    if (is_data) {
        if (f->data_count < CONFORM_LAW_DATA) {
            f->types[f->data_count] = type;
            f->data[f->data_count] = *input;
        }
        f->data_count++;
    }
    *input += access != VYRE_ACCESS_OUT;
    if (resource != VYRE_NONE && access != VYRE_ACCESS_IN) {
        f->is_one = is_one(ir, ir->resources[resource].size);
        if (f->result_count < CONFORM_LAW_DATA) {
            f->results[f->result_count] = type;
        }
        f->result_count++;
    }
}

static vyre_status describe_function(conform_law_function *f, const vyre_operation *operation,
                                     const vyre_witness *witness) {
    *f = (conform_law_function){.operation = operation,
                                .by_element = operation->form == VYRE_OPERATION_FUNCTION};
    VYRE_TRY(vyre_operation_program(operation, NULL, &f->program));
    const vyre_ir *ir = vyre_program_ir(f->program);
    size_t input = 0;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        add_argument(f, ir, i, &input);
    }
    f->is_one = f->is_one && f->result_count == 1;
    return conform_witness_bind(operation, f->program, witness->arguments, &f->binding);
}

static conform_law_shape shape_of(const conform_law_function *f) {
    bool fits = f->data_count <= CONFORM_LAW_DATA && f->result_count <= CONFORM_LAW_DATA;
    if (fits && f->data_count == 2 && f->result_count == 1 && f->types[0] == f->types[1]) {
        return CONFORM_SHAPE_PAIR;
    }
    if (fits && f->data_count == 1 && f->is_one) {
        return CONFORM_SHAPE_FOLD;
    }
    bool same = fits && f->data_count && f->data_count == f->result_count;
    for (size_t i = 0; same && i < f->data_count; i++) {
        same = f->types[i] == f->results[i];
    }
    return same || (fits && f->data_count == 1 && f->result_count == 1) ? CONFORM_SHAPE_MAP
                                                                        : CONFORM_SHAPE_OTHER;
}

/* Whether the law says something of such a function. */
static bool fits(const conform_law_test *t, conform_law_shape kind) {
    const conform_law_function *f = &t->f;
    bool same = f->data_count && f->types[0] == f->results[0];
    bool g_fits = t->has_g && t->g.data_count == f->data_count && t->g.result_count >= 1 &&
                  t->g.types[0] == f->results[0] && t->g.results[0] == f->types[0];
    switch (t->law->kind) {
    case VYRE_LAW_COMMUTATIVE: return kind == CONFORM_SHAPE_PAIR || kind == CONFORM_SHAPE_FOLD;
    case VYRE_LAW_ASSOCIATIVE:
    case VYRE_LAW_IDENTITY:
    case VYRE_LAW_ABSORBING:
        return (kind == CONFORM_SHAPE_PAIR || kind == CONFORM_SHAPE_FOLD) && same;
    case VYRE_LAW_IDEMPOTENT: return kind != CONFORM_SHAPE_OTHER && same;
    case VYRE_LAW_INVOLUTION: return kind == CONFORM_SHAPE_MAP && same;
    case VYRE_LAW_INVERSE:
        return (kind == CONFORM_SHAPE_MAP || kind == CONFORM_SHAPE_PAIR) && g_fits;
    case VYRE_LAW_MONOTONE: return kind != CONFORM_SHAPE_OTHER && f->data_count <= 2;
    }
    return false;
}

/* Cases */

/* How many of a, b and c the law speaks of. */
static size_t variables(const conform_law_test *t, conform_law_shape kind) {
    bool is_pair = kind == CONFORM_SHAPE_PAIR;
    switch (t->law->kind) {
    case VYRE_LAW_ASSOCIATIVE: return 3;
    case VYRE_LAW_MONOTONE: return is_pair ? 3 : 2;
    case VYRE_LAW_COMMUTATIVE: return 2;
    case VYRE_LAW_INVERSE: return is_pair ? 2 : 1;
    default: return 1;
    }
}

/* All tuples of the values there are to try; one value of `c` after the other. */
static vyre_status test_tuples(conform_law_test *t, conform_law_shape kind) {
    size_t width = vyre_type_bytes(t->f.types[0]), count = variables(t, kind);
    vyre_strbuf values = {0};
    vyre_status status = VYRE_OK;
    conform_law_values(&values, t->f.types[0]);
    size_t each = values.size / width;
    size_t stride = t->is_brief && each > BRIEF_VALUES ? each / BRIEF_VALUES + 1 : 1;
    for (size_t c = 0; c < (count > 2 ? each : 1) && !status && !t->failed; c += stride) {
        conform_law_data data = {.count = 3};
        for (size_t b = 0; b < (count > 1 ? each : 1); b++) {
            vyre_strbuf_add(&data.items[0], values.data, values.size);
            for (size_t i = 0; i < each; i++) {
                vyre_strbuf_add(&data.items[1], values.data + b * width, width);
                vyre_strbuf_add(&data.items[2], values.data + c * width, width);
            }
        }
        status = values.failed ? conform_law_no_memory(t) : conform_law_test_data(t, kind, &data);
        conform_law_data_free(&data);
    }
    vyre_strbuf_free(&values);
    return status;
}

/* The data of a witness, then random ones of the same lengths. */
static vyre_status test_data(conform_law_test *t, conform_law_shape kind) {
    vyre_status status = VYRE_OK;
    for (int iteration = 0; iteration <= RANDOM_CASES && !status && !t->failed; iteration++) {
        conform_law_data data = {.count = t->f.data_count + 2};
        for (size_t i = 0; i < data.count; i++) {
            size_t which = i < t->f.data_count ? i : 0;
            const vyre_input *given = &t->f.binding.inputs[t->f.data[which]];
            size_t width = vyre_type_bytes(t->f.types[which]);
            if (iteration || i >= t->f.data_count) {
                conform_law_random(&data.items[i], t->f.types[which], given->size / width,
                                   &t->seed);
            } else {
                vyre_strbuf_add(&data.items[i], given->data, given->size);
            }
        }
        status = conform_law_test_data(t, kind, &data);
        conform_law_data_free(&data);
    }
    return status;
}

static vyre_status find_inverse(conform_law_test *t) {
    const vyre_operation *operation = vyre_dialects_find(t->snapshot, t->law->operand);
    t->has_g = false;
    if (!operation || !vyre_operation_has_program(operation) || !operation->witness_count) {
        t->failed = true;
        conform_law_name(t);
        vyre_strbuf_puts(t->failures, " names an operation that does not exist or cannot run\n");
        return VYRE_OK;
    }
    t->has_g = true;
    return describe_function(&t->g, operation, &operation->witnesses[0]);
}

static vyre_status test_law(conform_law_test *t) {
    vyre_status status = VYRE_OK;
    bool is_element = false;
    if (t->law->kind == VYRE_LAW_INVERSE) {
        status = find_inverse(t);
    }
    for (size_t i = 0; i < t->f.operation->witness_count && !status && !t->failed && !is_element;
         i++) {
        const vyre_operation *operation = t->f.operation;
        values_binding_deinit(&t->f.binding);
        status = describe_function(&t->f, operation, &operation->witnesses[i]);
        conform_law_shape kind = shape_of(&t->f);
        if (!status && !fits(t, kind)) {
            t->failed = true;
            conform_law_name(t);
            vyre_strbuf_printf(t->failures, ", %s, does not apply to such arguments\n",
                               vyre_law_meaning(t->law->kind));
        } else if (!status) {
            is_element = t->f.by_element && (!t->has_g || t->g.by_element);
            status = is_element ? test_tuples(t, kind) : test_data(t, kind);
        }
    }
    values_binding_deinit(&t->f.binding);
    values_binding_deinit(&t->g.binding);
    return status;
}

vyre_status conform_law_check(vyre_device *device, const vyre_dialects *snapshot,
                              const vyre_operation *operation, size_t law, bool is_brief,
                              conform_claims *claims, vyre_strbuf *failures) {
    conform_law_test t = {.device = device,
                          .snapshot = snapshot,
                          .law = &operation->laws[law],
                          .f = {.operation = operation},
                          .claims = claims,
                          .failures = failures,
                          .is_brief = is_brief,
                          .seed = law + 1};
    claims->laws++;
    vyre_status status = test_law(&t);
    if (status && vyre_status_code_of(status) == VYRE_STATUS_INVALID_ARGUMENT) {
        t.failed = true;
        vyre_strbuf_printf(failures, "%s: %s\n", operation->id, vyre_status_text(status));
        vyre_status_free(status);
        status = VYRE_OK;
    }
    claims->failures += t.failed;
    return status;
}

vyre_status conform_laws_check(vyre_device *device, const vyre_dialects *snapshot,
                               const vyre_operation *operation, conform_claims *claims,
                               vyre_strbuf *failures) {
    for (size_t i = 0; i < operation->law_count; i++) {
        VYRE_TRY(conform_law_check(device, snapshot, operation, i, false, claims, failures));
    }
    return VYRE_OK;
}
