#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/map.h"
#include "ir/lookup.h"
#include "ir/print.h"
#include "ir/size.h"
#include "ir/verify.h"
#include "ir/word.h"

typedef struct data_key {
    const vyre_ir *ir;
    const vyre_resource *row;
} data_key;

static const char order_fix[] = "rebuild the program with the builder or from text";

static bool bad_name(verifier *v, uint32_t at, uint32_t number, uint32_t code, const char *what) {
    const char *fix = code == 203   ? "choose another name"
                      : code == 204 ? "use letters, digits and _, at most 255 of them"
                                    : order_fix;
    return number ? verify_item_error(v, VYRE_SECTION_STRINGS, at, code, fix,
                                      "the name of argument %u %s", number - 1, what)
                  : verify_item_error(v, VYRE_SECTION_STRINGS, at, code, fix,
                                      "the name of the program %s", what);
}

/* What names are made of: letters and `_` are 1, digits 2. */
/* clang-format off */
static const uint8_t name_classes[256] = {
    ['0'] = 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
    ['A'] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    ['_'] = 1,
    ['a'] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
};
/* clang-format on */

/* Behind a type: the name of a scalar, or a vector of them such as vec2<f32>. NULL if it is none.
 */
static const char *skip_type(const char *at, const char *end, bool may_be_vector) {
    const char *start = at;
    while (at < end && name_classes[(unsigned char)*at]) {
        at++;
    }
    vyre_str name = {start, (size_t)(at - start)};
    bool is_vector = may_be_vector && name.size == 4 && !memcmp(start, "vec", 3) &&
                     start[3] >= '2' && start[3] <= '4';
    if (is_vector && at < end && *at == '<') {
        at = skip_type(at + 1, end, false);
        return at && at < end && *at == '>' ? at + 1 : NULL;
    }
    return vyre_type_from_name(name) != VYRE_TYPE_VOID ? at : NULL;
}

/* Whether the name of a program ends with the types of an instance: <type{,type}>. */
static bool is_type_list(const char *at, const char *end) {
    bool opens = at < end && *at == '<';
    while (opens && at && at < end && (*at == '<' || *at == ',')) {
        at = skip_type(at + 1, end, true);
        opens = at && at < end && *at != '<';
    }
    return opens && at + 1 == end && *at == '>';
}

/* Names: the program's, then the arguments', each ended by a NUL, nothing else. */
static bool check_strings(verifier *v) {
    const vyre_ir *ir = v->ir;
    uint32_t next = 0;
    for (uint32_t i = 0; i <= ir->arg_count; i++) {
        const char *rest = ir->strings + next;
        const char *end = next < ir->string_bytes ? memchr(rest, 0, ir->string_bytes - next) : NULL;
        if (!end) {
            return bad_name(v, next, i, 703, "is missing");
        }
        if (i && ir->args[i - 1].name != next) {
            return verify_not_canonical(v, VYRE_SECTION_ARGS, i - 1, "has its name out of order");
        }
        if (end - rest > VYRE_LIMIT_NAME_BYTES || end == rest) {
            return bad_name(v, next, i, 204, "is empty or too long");
        }
        const char *wrong = name_classes[(unsigned char)*rest] == 1 ? rest + 1 : rest;
        while (wrong > rest && wrong < end && name_classes[(unsigned char)*wrong]) {
            wrong++;
        }
        bool is_instance = !i && wrong > rest && is_type_list(wrong, end);
        if (wrong < end && !is_instance) {
            return bad_name(v, (uint32_t)(wrong - ir->strings), i, 204,
                            "has a character that is not allowed in names");
        }
        if (vyre_word_is_reserved((vyre_str){rest, (size_t)(end - rest)})) {
            return bad_name(v, next, i, 203, "is a keyword");
        }
        next += (uint32_t)(end - rest) + 1;
    }
    return next == ir->string_bytes ||
           verify_not_canonical(v, VYRE_SECTION_STRINGS, next, "belongs to no name");
}

static bool is_scalar_type(uint32_t type) {
    return type > VYRE_TYPE_VOID && type < VYRE_TYPE_COUNT;
}

static bool check_args(verifier *v) {
    const vyre_ir *ir = v->ir;
    uint32_t buffers = 0;
    for (uint32_t i = 0; i < ir->arg_count; i++) {
        const vyre_arg *arg = &ir->args[i];
        bool has_records = arg->type == VYRE_TYPE_VOID && arg->resource != VYRE_NONE;
        if (!is_scalar_type(arg->type) && !has_records) {
            return verify_not_canonical(v, VYRE_SECTION_ARGS, i, "has no type");
        }
        if (arg->resource != VYRE_NONE) {
            if (arg->resource != buffers || buffers >= ir->resource_count ||
                ir->resources[buffers].kind != VYRE_RESOURCE_BUFFER ||
                ir->resources[buffers].type != arg->type) {
                return verify_not_canonical(v, VYRE_SECTION_ARGS, i, "does not match its buffer");
            }
            buffers++;
        }
        for (uint32_t k = 0; k < i; k++) {
            if (!strcmp(ir->strings + ir->args[k].name, ir->strings + arg->name)) {
                return verify_item_error(
                    v, VYRE_SECTION_ARGS, i, 202, "give every argument its own name",
                    "argument `%s` is declared twice", ir->strings + arg->name);
            }
        }
    }
    if (buffers < ir->resource_count && ir->resources[buffers].kind == VYRE_RESOURCE_BUFFER) {
        return verify_not_canonical(v, VYRE_SECTION_RESOURCES, buffers,
                                    "is a buffer without an argument");
    }
    return true;
}

/* Sizes are postfix code: an operator's operands are the two expressions right before it. */
static bool check_size_nodes(verifier *v) {
    const vyre_ir *ir = v->ir;
    if (!ir->size_count) {
        return true;
    }
    typedef struct span {
        uint32_t first, depth;
    } span;
    span few[64]; /* enough for most, so that these take no memory */
    span *many = ir->size_count > 64 ? vyre_alloc_array(ir->size_count, sizeof *many) : NULL;
    span *spans = ir->size_count > 64 ? many : few;
    if (!spans) {
        v->no_memory = true;
        return false;
    }
    bool valid = true;
    for (uint32_t i = 0; i < ir->size_count && valid; i++) {
        const vyre_size_node *node = &ir->sizes[i];
        spans[i] = (span){i, 1};
        switch (node->op) {
        case VYRE_SIZE_CONST: break;
        case VYRE_SIZE_LEN:
            valid = node->a < ir->arg_count && ir->args[node->a].resource != VYRE_NONE && !node->b;
            break;
        case VYRE_SIZE_ITERATION: valid = node->a < ir->step_count && !node->b; break;
        case VYRE_SIZE_PARAM:
            valid = node->a < ir->arg_count && ir->args[node->a].resource == VYRE_NONE &&
                    vyre_type_class_of((vyre_type)ir->args[node->a].type) & VYRE_CLASS_INTEGER &&
                    !node->b;
            break;
        default:
            valid = vyre_size_is_operator(node->op) && i >= 2 && node->b == i - 1 &&
                    spans[node->b].first > 0 && node->a == spans[node->b].first - 1;
            if (valid) {
                uint32_t left = spans[node->a].depth, right = spans[node->b].depth;
                spans[i] = (span){spans[node->a].first, 1 + (left > right ? left : right)};
                valid = spans[i].depth <= VYRE_LIMIT_EXPRESSION_NESTING;
            }
        }
        if (!valid) {
            verify_not_canonical(v, VYRE_SECTION_SIZES, i,
                                 "is not a number, length, argument, counter or operator");
        }
    }
    vyre_free(many);
    return valid;
}

/* The counters that a size of a step uses are those of repeats around that step. */
static bool check_counters(verifier *v, uint32_t first, uint32_t size, uint32_t step) {
    const vyre_ir *ir = v->ir;
    for (uint32_t i = first; i <= size; i++) {
        uint32_t repeat = ir->sizes[i].a;
        if (ir->sizes[i].op == VYRE_SIZE_ITERATION &&
            (step == VYRE_NONE || repeat >= step || ir->steps[repeat].end <= step ||
             !vyre_step_is_repeat(&ir->steps[repeat]))) {
            return verify_item_error(v, VYRE_SECTION_SIZES, i, 604,
                                     "use it in the steps inside that repeat",
                                     "a size uses the counter of step %u, which is not a repeat "
                                     "around it",
                                     repeat);
        }
    }
    return true;
}

/* The size that comes next in canonical order: its last node is `size`. It belongs to a step, or to
 * none. */
static bool take_size(verifier *v, uint32_t size, uint32_t *next, vyre_section_id section,
                      uint32_t item, uint32_t step) {
    const vyre_ir *ir = v->ir;
    if (size == VYRE_NONE || size >= ir->size_count) {
        return verify_not_canonical(v, section, item, "has no size");
    }
    uint32_t first = vyre_size_first(ir, size);
    if (first != *next) {
        return verify_not_canonical(v, section, item, "has a size out of order");
    }
    *next = size + 1;
    return check_counters(v, first, size, step);
}

/* A buffer's size, the terms from `first` on, uses only arguments declared before it: so no size
 * depends on itself, and they can be computed one after the other. */
static bool check_buffer_size(verifier *v, uint32_t buffer, uint32_t first, uint32_t end) {
    const vyre_ir *ir = v->ir;
    uint32_t arg = 0;
    while (ir->args[arg].resource != buffer) {
        arg++;
    }
    for (uint32_t i = first; i < end; i++) {
        bool uses_arg = ir->sizes[i].op == VYRE_SIZE_LEN || ir->sizes[i].op == VYRE_SIZE_PARAM;
        if (uses_arg && ir->sizes[i].a >= arg) {
            return verify_item_error(
                v, VYRE_SECTION_SIZES, i, 604, "use arguments that are declared before it",
                "the size of `%s` depends on `%s`, which is not declared before",
                ir->strings + ir->args[arg].name, ir->strings + ir->args[ir->sizes[i].a].name);
        }
    }
    return true;
}

/* A field lies in a record of its buffer, behind the field before it. */
static bool check_field(verifier *v, uint32_t index) {
    const vyre_ir *ir = v->ir;
    const vyre_resource *row = &ir->resources[index], *before = index ? row - 1 : row;
    const vyre_resource *base = row->size < index ? &ir->resources[row->size] : row;
    uint32_t bytes = vyre_type_bytes((vyre_type)row->type);
    bool fits = vyre_resource_has_records(base) && row->access == base->access &&
                row->type != VYRE_TYPE_BOOL && row->length % bytes == 0 &&
                base->length % bytes == 0 && row->length < base->length;
    bool follows = before->kind != VYRE_RESOURCE_FIELD || before->size < row->size ||
                   (before->size == row->size &&
                    before->length + vyre_type_bytes((vyre_type)before->type) <= row->length);
    return (fits && follows) || verify_not_canonical(v, VYRE_SECTION_RESOURCES, index,
                                                     "is no field of a record, or out of order");
}

/* The kind as its place in the order of arrays: those of phases come last, in any order. */
static uint32_t stage_of(const vyre_resource *row) {
    return row->kind <= VYRE_RESOURCE_SCRATCH    ? row->kind
           : row->kind == VYRE_RESOURCE_CONSTANT ? VYRE_RESOURCE_SCRATCH + 1
           : vyre_resource_is_field(row)         ? VYRE_RESOURCE_SCRATCH + 2
                                                 : VYRE_RESOURCE_SCRATCH + 3;
}

/* The elements of a constant array stand behind those of the one before, padded with zeros. */
static bool check_data(verifier *v, uint32_t resource, uint32_t *next_data) {
    const vyre_ir *ir = v->ir;
    const vyre_resource *row = &ir->resources[resource];
    uint32_t start = (*next_data + 7) / 8 * 8;
    uint64_t end = start + (uint64_t)row->length * vyre_type_bytes((vyre_type)row->type);
    if (row->access != VYRE_ACCESS_IN || !row->length || row->size != start ||
        end > ir->data_bytes) {
        return verify_not_canonical(v, VYRE_SECTION_RESOURCES, resource,
                                    "has no elements of its own");
    }
    for (uint32_t i = *next_data; i < end; i++) {
        if (ir->data[i] && (i < start || (row->type == VYRE_TYPE_BOOL && ir->data[i] > 1))) {
            return verify_not_canonical(v, VYRE_SECTION_DATA, i,
                                        i < start ? "is not zero" : "is no bool");
        }
    }
    *next_data = (uint32_t)end;
    return true;
}

static bool same_elements(const void *context, uint32_t resource) {
    const data_key *key = context;
    const vyre_resource *row = &key->ir->resources[resource];
    return row->type == key->row->type && row->length == key->row->length &&
           !memcmp(key->ir->data + row->size, key->ir->data + key->row->size,
                   (size_t)vyre_resource_bytes(row));
}

/* No two constant arrays are equal, and together they are all the data. */
static bool check_constants(verifier *v) {
    const vyre_ir *ir = v->ir;
    vyre_map seen = {0};
    uint32_t next_data = 0;
    bool valid = true;
    for (uint32_t i = 0; i < ir->resource_count && valid && !v->no_memory; i++) {
        const vyre_resource *row = &ir->resources[i];
        if (row->kind != VYRE_RESOURCE_CONSTANT) {
            continue;
        }
        if (!check_data(v, i, &next_data)) {
            valid = false;
            break;
        }
        v->first_constant = v->constant_count++ ? v->first_constant : i;
        data_key key = {ir, row};
        uint64_t hash = vyre_hash(ir->data + row->size, (size_t)vyre_resource_bytes(row));
        if (vyre_map_find(&seen, hash, same_elements, &key)) {
            valid = verify_not_canonical(v, VYRE_SECTION_RESOURCES, i,
                                         "has the elements of another one");
        }
        v->no_memory |= valid && !vyre_map_add(&seen, hash, i);
    }
    vyre_map_free(&seen);
    if (valid && next_data != ir->data_bytes) {
        valid = verify_not_canonical(v, VYRE_SECTION_DATA, next_data, "belongs to no array");
    }
    return valid && !v->no_memory;
}

static bool check_resources(verifier *v, uint32_t *next_size) {
    const vyre_ir *ir = v->ir;
    uint32_t stage = 0;
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        const vyre_resource *row = &ir->resources[i];
        uint32_t kind = row->kind;
        bool has_records = vyre_resource_has_records(row);
        if (kind > VYRE_RESOURCE_FIELD || stage_of(row) < stage || row->zero ||
            (!is_scalar_type(row->type) && !has_records) || row->access > VYRE_ACCESS_OUT) {
            return verify_not_canonical(v, VYRE_SECTION_RESOURCES, i,
                                        "is malformed or out of order");
        }
        stage = stage_of(row);
        if (vyre_resource_is_field(row)) {
            if (!check_field(v, i)) {
                return false;
            }
            continue;
        }
        if (kind == VYRE_RESOURCE_CONSTANT) {
            continue; /* check_constants */
        }
        if (kind > VYRE_RESOURCE_SCRATCH) {
            bool is_sized = row->kind == VYRE_RESOURCE_SHARED && row->size != VYRE_NONE;
            if (is_sized == (row->length != 0) || row->access != VYRE_ACCESS_INOUT ||
                (!is_sized && row->size != VYRE_NONE)) {
                return verify_not_canonical(v, VYRE_SECTION_RESOURCES, i,
                                            "has no length of its own");
            }
            if (is_sized &&
                !take_size(v, row->size, next_size, VYRE_SECTION_RESOURCES, i, VYRE_NONE)) {
                return false;
            }
            continue;
        }
        if ((has_records ? !row->length || row->length > VYRE_LIMIT_RECORD_BYTES : row->length) ||
            (kind == VYRE_RESOURCE_SCRATCH && row->access != VYRE_ACCESS_INOUT)) {
            return verify_not_canonical(v, VYRE_SECTION_RESOURCES, i,
                                        "has fields that its kind does not have");
        }
        if (kind == VYRE_RESOURCE_BUFFER && row->type == VYRE_TYPE_BOOL) {
            return verify_item_error(v, VYRE_SECTION_RESOURCES, i, 306, "use u8 and compare with 0",
                                     "buffer `%s` has elements of bool",
                                     verify_resource_name(v, i));
        }
        bool sized = row->size != VYRE_NONE || kind == VYRE_RESOURCE_SCRATCH ||
                     row->access == VYRE_ACCESS_OUT;
        uint32_t first_size = *next_size;
        if (sized &&
            (!take_size(v, row->size, next_size, VYRE_SECTION_RESOURCES, i, VYRE_NONE) ||
             (kind == VYRE_RESOURCE_BUFFER && !check_buffer_size(v, i, first_size, *next_size)))) {
            return false;
        }
    }
    return true;
}

static bool check_requirements(verifier *v, uint32_t *next_size) {
    for (uint32_t i = 0; i < v->ir->requirement_count; i++) {
        const vyre_requirement *row = &v->ir->requirements[i];
        if (!take_size(v, row->left, next_size, VYRE_SECTION_REQUIREMENTS, i, VYRE_NONE) ||
            !take_size(v, row->right, next_size, VYRE_SECTION_REQUIREMENTS, i, VYRE_NONE)) {
            return false;
        }
    }
    return true;
}

/* Domain, workgroup and arrays of a phase. */
static bool check_phase(verifier *v, uint32_t index, uint32_t step, uint32_t *next_size,
                        uint32_t *next_resource) {
    const vyre_ir *ir = v->ir;
    const vyre_phase *phase = &ir->phases[index];
    uint32_t expected = index ? ir->phases[index - 1].end : 0;
    if (phase->first != expected || phase->end <= phase->first || phase->end > ir->inst_count ||
        phase->first_resource != *next_resource || phase->end_resource < *next_resource ||
        phase->end_resource > ir->resource_count) {
        return verify_not_canonical(v, VYRE_SECTION_PHASES, index,
                                    "does not follow the one before");
    }
    *next_resource = phase->end_resource;
    if (phase->dimensions < 1 || phase->dimensions > 3) {
        return verify_not_canonical(v, VYRE_SECTION_PHASES, index, "has no dimensions");
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (i >= phase->dimensions
                ? phase->domain[i] != VYRE_NONE
                : !take_size(v, phase->domain[i], next_size, VYRE_SECTION_PHASES, index, step)) {
            return v->has_errors ? false
                                 : verify_not_canonical(v, VYRE_SECTION_PHASES, index,
                                                        "has spare dimensions");
        }
    }
    if (phase->from_resource != VYRE_NONE) {
        if (phase->from_resource >= ir->resource_count ||
            ir->resources[phase->from_resource].kind > VYRE_RESOURCE_SCRATCH) {
            return verify_not_canonical(v, VYRE_SECTION_PHASES, index,
                                        "has a domain from no array");
        }
        vyre_type type = (vyre_type)ir->resources[phase->from_resource].type;
        if (!(vyre_type_class_of(type) & VYRE_CLASS_INTEGER)) {
            return verify_item_error(v, VYRE_SECTION_PHASES, index, 601, "count in an array of u32",
                                     "the domain comes from `%s`, whose elements are %s",
                                     verify_resource_name(v, phase->from_resource),
                                     vyre_type_name(type));
        }
        if (!take_size(v, phase->from_index, next_size, VYRE_SECTION_PHASES, index, step)) {
            return false;
        }
    } else if (phase->from_index != VYRE_NONE) {
        return verify_not_canonical(v, VYRE_SECTION_PHASES, index, "has an index without an array");
    }
    uint64_t total = 1;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t size = phase->workgroup[i];
        if (!size != !phase->workgroup[0] || size > VYRE_LIMIT_WORKGROUP ||
            (i >= phase->dimensions && size > 1)) {
            return verify_item_error(v, VYRE_SECTION_PHASES, index, 602,
                                     "give each dimension of the domain 1 to 1024 invocations",
                                     "a workgroup of %u x %u x %u is not valid here",
                                     phase->workgroup[0], phase->workgroup[1], phase->workgroup[2]);
        }
        total *= size;
    }
    uint32_t width = phase->subgroup;
    if (total > VYRE_LIMIT_WORKGROUP ||
        (width &&
         (!total || total % width || (width != 8 && width != 16 && width != 32 && width != 64)))) {
        return verify_item_error(
            v, VYRE_SECTION_PHASES, index, 602,
            "use at most 1024 invocations, a multiple of the subgroup width, which is 8, 16, 32 or "
            "64",
            "a workgroup of %llu invocations in subgroups of %u is not valid",
            (unsigned long long)total, width);
    }
    uint64_t shared_bytes = 0, private_bytes = 0, shared_arrays = 0;
    for (uint32_t i = phase->first_resource; i < phase->end_resource; i++) {
        const vyre_resource *row = &ir->resources[i];
        uint64_t bytes = (uint64_t)row->length * vyre_type_bytes((vyre_type)row->type);
        if (stage_of(row) <= VYRE_RESOURCE_SCRATCH + 1) {
            return verify_not_canonical(v, VYRE_SECTION_RESOURCES, i, "is not an array of a phase");
        }
        bool is_shared = row->kind == VYRE_RESOURCE_SHARED;
        if (is_shared && !phase->workgroup[0]) {
            return verify_item_error(
                v, VYRE_SECTION_RESOURCES, i, 603, "add a workgroup clause to the phase",
                "shared array `%s` has no workgroup", verify_resource_name(v, i));
        }
        shared_arrays += is_shared;
        *(is_shared ? &shared_bytes : &private_bytes) += bytes;
    }
    if (shared_bytes > VYRE_LIMIT_SHARED_BYTES || private_bytes > VYRE_LIMIT_PRIVATE_BYTES ||
        shared_arrays > VYRE_LIMIT_SHARED_ARRAYS) {
        return verify_item_error(
            v, VYRE_SECTION_PHASES, index, 701, "use fewer or smaller arrays, or scratch buffers",
            "phase %u has %llu shared arrays of %llu bytes and %llu bytes of private arrays; the "
            "limits are %d, %d and %d",
            index, (unsigned long long)shared_arrays, (unsigned long long)shared_bytes,
            (unsigned long long)private_bytes, VYRE_LIMIT_SHARED_ARRAYS, VYRE_LIMIT_SHARED_BYTES,
            VYRE_LIMIT_PRIVATE_BYTES);
    }
    return true;
}

static bool check_swap(verifier *v, uint32_t index) {
    const vyre_ir *ir = v->ir;
    const vyre_step *step = &ir->steps[index];
    if (step->end != index + 1 || step->resource >= step->size ||
        step->size >= ir->resource_count) {
        return verify_not_canonical(v, VYRE_SECTION_STEPS, index, "does not swap two arrays");
    }
    const vyre_resource *a = &ir->resources[step->resource], *b = &ir->resources[step->size];
    if (a->kind > VYRE_RESOURCE_SCRATCH || b->kind > VYRE_RESOURCE_SCRATCH ||
        a->access == VYRE_ACCESS_IN || b->access == VYRE_ACCESS_IN || a->type != b->type ||
        a->length != b->length) {
        return verify_item_error(
            v, VYRE_SECTION_STEPS, index, 608,
            "swap scratch arrays and buffers of the same type that are not read-only",
            "`%s` and `%s` cannot be swapped", verify_resource_name(v, step->resource),
            verify_resource_name(v, step->size));
    }
    v->swaps_records |= vyre_resource_has_records(a);
    return true;
}

/* A step that contains others; `before` is the one in front of it at the same level. */
static bool check_container(verifier *v, uint32_t index, uint32_t before, uint32_t *next_size) {
    const vyre_step *step = &v->ir->steps[index];
    if (step->kind == VYRE_STEP_ELSE) {
        bool valid = before != VYRE_NONE && v->ir->steps[before].kind == VYRE_STEP_IF &&
                     step->size == VYRE_NONE && step->resource == VYRE_NONE;
        return valid ||
               verify_not_canonical(v, VYRE_SECTION_STEPS, index, "is an `else` without an `if`");
    }
    if (step->kind == VYRE_STEP_REPEAT_COUNT) {
        if (step->resource != VYRE_NONE) {
            return verify_not_canonical(v, VYRE_SECTION_STEPS, index,
                                        "has an array it does not need");
        }
    } else {
        bool is_if = step->kind == VYRE_STEP_IF;
        if (step->resource >= v->ir->resource_count ||
            v->ir->resources[step->resource].kind > VYRE_RESOURCE_SCRATCH) {
            return verify_not_canonical(v, VYRE_SECTION_STEPS, index,
                                        "depends on an element of no array");
        }
        vyre_type type = (vyre_type)v->ir->resources[step->resource].type;
        if (!(vyre_type_class_of(type) & VYRE_CLASS_INTEGER)) {
            return verify_item_error(
                v, VYRE_SECTION_STEPS, index, 605, "keep the flag in an array of u32",
                "%s depends on `%s`, whose elements are %s", is_if ? "an `if`" : "a repeat",
                verify_resource_name(v, step->resource), vyre_type_name(type));
        }
    }
    return take_size(v, step->size, next_size, VYRE_SECTION_STEPS, index, index);
}

static bool check_steps(verifier *v, uint32_t *next_size) {
    const vyre_ir *ir = v->ir;
    uint32_t open[VYRE_LIMIT_REPEATS], depth = 0, phase = 0, next_resource = 0;
    while (next_resource < ir->resource_count &&
           stage_of(&ir->resources[next_resource]) <= VYRE_RESOURCE_SCRATCH + 2) {
        next_resource++;
    }
    for (uint32_t i = 0; i < ir->step_count; i++) {
        const vyre_step *step = &ir->steps[i];
        uint32_t before = VYRE_NONE;
        while (depth && ir->steps[open[depth - 1]].end == i) {
            before = open[--depth];
        }
        uint32_t limit = depth ? ir->steps[open[depth - 1]].end : ir->step_count;
        if (step->kind == VYRE_STEP_PHASE) {
            if (step->end != i + 1 || step->size != phase || phase >= ir->phase_count ||
                step->resource != VYRE_NONE) {
                return verify_not_canonical(v, VYRE_SECTION_STEPS, i, "is not the next phase");
            }
            if (!check_phase(v, phase++, i, next_size, &next_resource)) {
                return false;
            }
            continue;
        }
        if (step->kind == VYRE_STEP_SWAP) {
            if (!check_swap(v, i)) {
                return false;
            }
            continue;
        }
        if (step->kind > VYRE_STEP_ELSE || step->end <= i + 1 || step->end > limit) {
            return verify_not_canonical(v, VYRE_SECTION_STEPS, i,
                                        "contains no phase, or extends past the step around it");
        }
        if (depth == VYRE_LIMIT_REPEATS) {
            return verify_item_error(v, VYRE_SECTION_STEPS, i, 701, "nest fewer repeats",
                                     "more than %d repeats are nested", VYRE_LIMIT_REPEATS);
        }
        if (!check_container(v, i, before, next_size)) {
            return false;
        }
        open[depth++] = i;
    }
    if (!phase) {
        return verify_item_error(v, VYRE_SECTION_PHASES, 0, 606, "add a phase",
                                 "the program has no phase");
    }
    static const char unused[] = "is not used by any phase";
    if (phase != ir->phase_count) {
        return verify_not_canonical(v, VYRE_SECTION_PHASES, phase, "is not a step");
    }
    if (ir->phases[phase - 1].end != ir->inst_count) {
        return verify_not_canonical(v, VYRE_SECTION_INSTS, ir->phases[phase - 1].end, unused);
    }
    if (next_resource != ir->resource_count) {
        return verify_not_canonical(v, VYRE_SECTION_RESOURCES, next_resource, unused);
    }
    return *next_size == ir->size_count ||
           verify_not_canonical(v, VYRE_SECTION_SIZES, *next_size, unused);
}

typedef struct const_key {
    const vyre_const *consts, *row;
} const_key;

static bool same_const(const void *context, uint32_t index) {
    const const_key *key = context;
    return key->consts[index].bits == key->row->bits && key->consts[index].type == key->row->type;
}

/* Whether a constant stands there before, too: a few are compared with each, more go through a
 * map. */
static bool is_repeated(verifier *v, vyre_map *seen, uint32_t index) {
    enum { FEW = 16 };
    const_key key = {v->ir->consts, &v->ir->consts[index]};
    bool found = false;
    if (v->ir->const_count <= FEW) {
        for (uint32_t i = 0; i < index && !found; i++) {
            found = same_const(&key, i);
        }
        return found;
    }
    uint64_t hash = vyre_hash_key(key.row, sizeof *key.row);
    found = vyre_map_find(seen, hash, same_const, &key);
    v->no_memory |= !found && !vyre_map_add(seen, hash, index);
    return found;
}

/* Every constant fits its type and stands there once. */
static bool check_consts(verifier *v) {
    vyre_map seen = {0};
    bool valid = true;
    for (uint32_t i = 0; i < v->ir->const_count && valid && !v->no_memory; i++) {
        const vyre_const *row = &v->ir->consts[i];
        uint32_t bytes = vyre_type_bytes((vyre_type)row->type);
        if (!is_scalar_type(row->type) || row->zero || (bytes < 8 && row->bits >> bytes * 8) ||
            (row->type == VYRE_TYPE_BOOL && row->bits > 1)) {
            valid = verify_not_canonical(v, VYRE_SECTION_CONSTS, i, "does not fit its type");
            break;
        }
        if (is_repeated(v, &seen, i)) {
            valid = verify_not_canonical(v, VYRE_SECTION_CONSTS, i, "is listed twice");
        }
    }
    vyre_map_free(&seen);
    return valid && !v->no_memory;
}

/* Records that are swapped are of one type: where their fields overlap, they are the same. */
static bool check_swapped_records(verifier *v) {
    const vyre_ir *ir = v->ir;
    uint32_t firsts[VYRE_LIMIT_ARGUMENTS];
    vyre_swapped_firsts(ir, firsts);
    for (uint32_t i = 0; i < ir->resource_count; i++) {
        const vyre_resource *a = &ir->resources[i];
        for (uint32_t k = i + 1; k < ir->resource_count && vyre_resource_is_field(a); k++) {
            const vyre_resource *b = &ir->resources[k];
            if (!vyre_resource_is_field(b) || firsts[a->size] != firsts[b->size] ||
                a->length + vyre_type_bytes(vyre_resource_type(a)) <= b->length ||
                b->length + vyre_type_bytes(vyre_resource_type(b)) <= a->length ||
                (a->length == b->length && a->type == b->type)) {
                continue;
            }
            return verify_item_error(
                v, VYRE_SECTION_RESOURCES, k, 608, "swap buffers of the same records",
                "`%s` and `%s` are swapped, and their records differ",
                verify_resource_name(v, a->size), verify_resource_name(v, b->size));
        }
    }
    return true;
}

bool verify_tables(verifier *v) {
    uint32_t next_size = 0;
    return check_strings(v) && check_args(v) && check_size_nodes(v) &&
           check_resources(v, &next_size) && check_constants(v) &&
           check_requirements(v, &next_size) && check_steps(v, &next_size) && check_consts(v) &&
           (!v->swaps_records || check_swapped_records(v));
}
