#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "ir/builder.h"
#include "ir/diagnostic.h"
#include "ir/lookup.h"
#include "ir/size.h"
#include "ir/word.h"

/* An empty builder, whatever memory it has, is given its name. */
static vyre_status start(vyre_builder *builder, const char *name) {
    vyre_status status = vyre_words_prepare();
    if (!status && !builder->diagnostics) {
        status = vyre_diagnostics_create(&builder->diagnostics);
    }
    name = name ? name : "";
    vyre_strbuf_add(&builder->strings, name, strlen(name) + 1);
    vyre_strbuf_add(&builder->debug_strings, "", 1);
    if (status || builder->strings.failed || builder->debug_strings.failed) {
        vyre_status_free(status);
        return vyre_no_memory("for a builder");
    }
    if (!*name) {
        vyre_build_report(builder, 204, "give every program a name of 1 to 255 bytes",
                          "the name of the program is missing");
    }
    return VYRE_OK;
}

vyre_status vyre_builder_create(const char *name, vyre_builder **out_builder) {
    *out_builder = NULL;
    vyre_builder *builder = vyre_alloc_zeroed(1, sizeof *builder);
    if (!builder) {
        return vyre_no_memory("for a builder");
    }
    vyre_status status = start(builder, name);
    if (status) {
        vyre_builder_free(builder);
        return status;
    }
    *out_builder = builder;
    return VYRE_OK;
}

/* Memory worth keeping is what the next program will use as well, not what a large one needed. */
enum { KEPT_BYTES = 65536 };

/* The vectors of a builder: what it keeps to the end, what becomes of its draft, and the code. */
#define OWN_VECS(X)                                                                                \
    X(args)                                                                                        \
    X(resources)                                                                                   \
    X(sizes)                                                                                       \
    X(data)                                                                                        \
    X(requirements)                                                                                \
    X(steps)                                                                                       \
    X(phases)                                                                                      \
    X(open_repeats) X(consts) X(scopes) X(variables) X(blocks) X(type_stack) X(resource_map)
#define DRAFT_VECS(X)                                                                              \
    X(operands)                                                                                    \
    X(insts)                                                                                       \
    X(places)                                                                                      \
    X(names)                                                                                       \
    X(ssa.pending) X(ssa.carried) X(ssa.carried_lists) X(ssa.regions) X(ssa.saves) X(ssa.map)
#define CODE_VECS(X)                                                                               \
    X(ssa.insts) X(ssa.places) X(ssa.operands) X(ssa.consts) X(ssa.value_names) X(ssa.phases)

#define FREE_VEC(vec) vyre_vec_free(&builder->vec);
#define RESET_VEC(vec)                                                                             \
    if (builder->vec.capacity * sizeof *builder->vec.items > KEPT_BYTES) {                         \
        FREE_VEC(vec)                                                                              \
    }                                                                                              \
    builder->vec.count = 0;

static void reset_map(vyre_map *map) {
    if (map->capacity * sizeof *map->slots > KEPT_BYTES / 16) {
        vyre_map_free(map);
    } else if (map->count) {
        memset(map->slots, 0, map->capacity * sizeof *map->slots);
        map->count = 0;
    }
}

static void reset_text(vyre_strbuf *text) {
    if (text->capacity > KEPT_BYTES || text->failed) {
        vyre_strbuf_free(text);
    }
    vyre_strbuf_cut(text, 0);
}

vyre_status vyre_builder_reset(vyre_builder *builder, const char *name) {
    if (vyre_diagnostics_count(builder->diagnostics) ||
        vyre_diagnostics_full(builder->diagnostics)) {
        vyre_diagnostics_free(builder->diagnostics);
        builder->diagnostics = NULL;
    }
    reset_text(&builder->strings);
    reset_text(&builder->debug_strings);
    reset_map(&builder->debug_map);
    reset_map(&builder->const_map);
    reset_map(&builder->data_map);
    OWN_VECS(RESET_VEC)
    DRAFT_VECS(RESET_VEC)
    CODE_VECS(RESET_VEC)
    builder->no_memory = builder->finished = builder->in_phase = false;
    builder->flags = builder->file = builder->block_serial = 0;
    builder->line = builder->column = builder->length = builder->scope = 0;
    return start(builder, name);
}

void builder_free_draft(vyre_builder *builder) {
    DRAFT_VECS(FREE_VEC)
}

void builder_free_code(vyre_builder *builder) {
    CODE_VECS(FREE_VEC)
}

void vyre_builder_free(vyre_builder *builder) {
    if (!builder) {
        return;
    }
    vyre_diagnostics_free(builder->diagnostics);
    vyre_strbuf_free(&builder->strings);
    vyre_strbuf_free(&builder->debug_strings);
    vyre_map_free(&builder->debug_map);
    vyre_map_free(&builder->const_map);
    vyre_map_free(&builder->data_map);
    OWN_VECS(FREE_VEC)
    builder_free_draft(builder);
    builder_free_code(builder);
    vyre_free(builder);
}

void builder_no_memory(vyre_builder *builder) {
    builder->no_memory = true;
}

static vyre_diagnostic here(const vyre_builder *builder, vyre_call_list *calls) {
    vyre_diagnostic at = {.line = builder->line,
                          .column = builder->column,
                          .length = builder->length,
                          .inst = VYRE_NONE};
    const char *strings = builder->debug_strings.data;
    at.file = vyre_scope_file(builder->scopes.items, strings, builder->scope);
    at.calls = vyre_scope_calls(builder->scopes.items, strings, builder->scope, calls);
    return at;
}

void vyre_build_report(vyre_builder *builder, uint32_t code, const char *fix, const char *format,
                       ...) {
    vyre_call_list calls;
    vyre_diagnostic at = here(builder, &calls);
    va_list arguments;
    va_start(arguments, format);
    vyre_diagnostics_vadd(builder->diagnostics, &at, code, fix, format, arguments);
    va_end(arguments);
}

void vyre_builder_repeat(vyre_builder *builder, const vyre_diagnostic *item) {
    vyre_diagnostics_add(builder->diagnostics, item, item->code, item->fix, "%s", item->message);
}

size_t vyre_builder_errors(const vyre_builder *builder) {
    return vyre_diagnostics_errors(builder->diagnostics);
}

typedef struct name_key {
    const char *strings, *name;
} name_key;

static bool same_name(const void *context, uint32_t offset) {
    const name_key *key = context;
    return !strcmp(key->strings + offset, key->name);
}

uint32_t builder_name(vyre_builder *builder, const char *name) {
    if (!name || !*name) {
        return 0;
    }
    size_t size = strlen(name);
    uint64_t hash = vyre_hash_key(name, size);
    name_key key = {builder->debug_strings.data, name};
    uint32_t *found = vyre_map_find(&builder->debug_map, hash, same_name, &key);
    if (found) {
        return *found;
    }
    size_t offset = builder->debug_strings.size;
    if (size > VYRE_LIMIT_NAME_BYTES || offset + size >= VYRE_LIMIT_STRING_BYTES) {
        vyre_build_report(builder, 701, "use shorter or fewer names",
                          "the name `%.40s%s` does not fit", name, size > 40 ? "..." : "");
        return 0;
    }
    vyre_strbuf_add(&builder->debug_strings, name, size + 1);
    if (builder->debug_strings.failed ||
        !vyre_map_add(&builder->debug_map, hash, (uint32_t)offset)) {
        builder_no_memory(builder);
        return 0;
    }
    for (char *c = builder->debug_strings.data + offset; *c; c++) {
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c; /* terminals obey those */
    }
    return (uint32_t)offset;
}

/* What messages call something that may have no name: itself, or "array 3". */
typedef struct builder_label {
    char text[24];
} builder_label;

static const char *shown_name(const char *name, const char *kind, size_t number,
                              builder_label *label) {
    if (name && *name) {
        return name;
    }
    snprintf(label->text, sizeof label->text, "%s %zu", kind, number);
    return label->text;
}

/* Of a long path the end is what tells files apart. */
static uint32_t file_name(vyre_builder *builder, const char *file) {
    size_t size = file ? strlen(file) : 0;
    size_t cut = size > VYRE_LIMIT_NAME_BYTES ? size - VYRE_LIMIT_NAME_BYTES : 0;
    return builder_name(builder, file ? file + cut : NULL);
}

void vyre_build_file(vyre_builder *builder, const char *file) {
    builder->file = file_name(builder, file);
}

void vyre_build_at(vyre_builder *builder, uint32_t line, uint32_t column, uint32_t length) {
    builder->line = line;
    builder->column = column;
    builder->length = length;
}

/* A place keeps what fits: line and column stop at their largest number. */
vyre_place builder_place(const vyre_builder *builder) {
    uint32_t line = builder->line > 0xffffff ? 0xffffff : builder->line;
    uint32_t column = builder->column > 0xfff ? 0xfff : builder->column;
    return VYRE_PLACE(line, column, builder->scope);
}

static void open_scope(vyre_builder *builder, const char *function, uint32_t file) {
    vyre_call_scope scope = {
        .call = builder_place(builder), .name = builder_name(builder, function), .file = file};
    if (builder->scopes.count >= VYRE_LIMIT_SCOPES) {
        vyre_build_report(builder, 701, "split the program into several",
                          "more than %d calls are inlined", VYRE_LIMIT_SCOPES);
    } else if (builder_add(builder, scopes, scope) != VYRE_NONE) {
        builder->scope = (uint32_t)builder->scopes.count;
    }
}

void vyre_build_scope(vyre_builder *builder, const char *function) {
    open_scope(builder, function,
               builder->scope ? builder->scopes.items[builder->scope - 1].file : 0);
}

void vyre_build_scope_of(vyre_builder *builder, const char *function, const char *file) {
    open_scope(builder, function, file_name(builder, file));
}

void vyre_build_scope_end(vyre_builder *builder) {
    if (builder->scope) {
        builder->scope = VYRE_PLACE_SCOPE(builder->scopes.items[builder->scope - 1].call);
    }
}

void vyre_build_deterministic(vyre_builder *builder) {
    builder->flags |= VYRE_PROGRAM_DETERMINISTIC;
}

/* Interface */

static uint32_t add_arg(vyre_builder *builder, const char *name, vyre_type type,
                        uint32_t resource) {
    size_t size = name ? strlen(name) : 0;
    if (!size || size > VYRE_LIMIT_NAME_BYTES) {
        return builder_none(builder, 204, "give every argument a name of 1 to 255 bytes",
                            "an argument has %s name", size ? "too long a" : "no");
    }
    if (vyre_word_is_reserved((vyre_str){name, size})) {
        return builder_none(builder, 203, "choose another name",
                            "`%s` is a keyword and cannot be the name of an argument", name);
    }
    for (size_t i = 0; i < builder->args.count; i++) {
        if (!strcmp(builder->strings.data + builder->args.items[i].name, name)) {
            return builder_none(builder, 202, "give every argument its own name",
                                "argument `%s` is declared twice", name);
        }
    }
    if (builder->args.count >= VYRE_LIMIT_ARGUMENTS) {
        return builder_none(builder, 701, "pass several values in one buffer",
                            "a program has more than %d arguments", VYRE_LIMIT_ARGUMENTS);
    }
    draft_arg arg = {(uint32_t)builder->strings.size, type, resource, 1};
    vyre_strbuf_add(&builder->strings, name, size + 1);
    if (builder->strings.failed) {
        builder_no_memory(builder);
        return VYRE_NONE;
    }
    return builder_add(builder, args, arg);
}

uint32_t vyre_build_scalar(vyre_builder *builder, const char *name, vyre_type type) {
    if (!vyre_type_class_of(type)) {
        builder_label label;
        return builder_none(builder, 306, "use one of the scalar types",
                            "argument `%s` has no type",
                            shown_name(name, "argument", builder->args.count, &label));
    }
    return add_arg(builder, name, type, VYRE_NONE);
}

uint32_t builder_add_resource(vyre_builder *builder, const char *name, vyre_resource row,
                              uint32_t phase) {
    if (!vyre_type_class_of((vyre_type)row.type) && !vyre_resource_has_records(&row)) {
        builder_label label;
        return builder_none(builder, 306, "use one of the scalar types",
                            "array `%s` has no element type",
                            shown_name(name, "array", builder->resources.count, &label));
    }
    if (builder->resources.count >= VYRE_LIMIT_RESOURCES) {
        return builder_none(builder, 701, "merge some of them", "a program has more than %d arrays",
                            VYRE_LIMIT_RESOURCES);
    }
    return builder_add(builder, resources,
                       (draft_resource){row, builder_name(builder, name), phase});
}

/* `bytes` is 0 unless the elements are records. */
static uint32_t add_buffer(vyre_builder *builder, const char *name, vyre_access access,
                           vyre_type type, uint32_t bytes, uint32_t size) {
    builder_label label;
    const char *shown = shown_name(name, "array", builder->resources.count, &label);
    if (access != VYRE_ACCESS_IN && access != VYRE_ACCESS_INOUT && access != VYRE_ACCESS_OUT) {
        return builder_none(
            builder, 402, "use VYRE_ACCESS_IN, VYRE_ACCESS_INOUT or VYRE_ACCESS_OUT",
            "buffer `%s` has the access %d, which does not exist", shown, (int)access);
    }
    if (type == VYRE_TYPE_BOOL) {
        return builder_none(builder, 306, "use u8 and compare with 0",
                            "buffer `%s` has elements of bool, and a host may pass bytes other "
                            "than 0 and 1",
                            shown);
    }
    if (size != VYRE_NONE && !builder_use_fixed_size(builder, shown, size)) {
        return VYRE_NONE;
    }
    if (access == VYRE_ACCESS_OUT && size == VYRE_NONE) {
        return builder_none(builder, 604,
                            "declare its length, as in out buffer<u32>[256] or "
                            "[len(x)]",
                            "out buffer `%s` has no declared length", shown);
    }
    vyre_resource row = {.kind = VYRE_RESOURCE_BUFFER,
                         .type = (uint8_t)type,
                         .access = (uint8_t)access,
                         .size = size,
                         .length = bytes};
    uint32_t resource = builder_add_resource(builder, name, row, VYRE_NONE);
    if (resource != VYRE_NONE && add_arg(builder, name, type, resource) == VYRE_NONE) {
        return VYRE_NONE;
    }
    return resource;
}

uint32_t vyre_build_buffer(vyre_builder *builder, const char *name, vyre_access access,
                           vyre_type type, uint32_t size) {
    if (!vyre_type_class_of(type)) {
        builder_label label;
        return builder_none(builder, 306, "use one of the scalar types",
                            "array `%s` has no element type",
                            shown_name(name, "array", builder->resources.count, &label));
    }
    return add_buffer(builder, name, access, type, 0, size);
}

uint32_t vyre_build_records(vyre_builder *builder, const char *name, vyre_access access,
                            uint32_t bytes, uint32_t size) {
    if (!bytes || bytes > VYRE_LIMIT_RECORD_BYTES) {
        builder_label label;
        return builder_none(builder, 701, "use smaller records, or several buffers",
                            "the records of `%s` have %u bytes, and 1 to %d are allowed",
                            shown_name(name, "array", builder->resources.count, &label), bytes,
                            VYRE_LIMIT_RECORD_BYTES);
    }
    return add_buffer(builder, name, access, VYRE_TYPE_VOID, bytes, size);
}

/* The field that has some of these bytes of a record, VYRE_NONE if there is none. */
static uint32_t find_field(const vyre_builder *builder, uint32_t buffer, uint32_t first,
                           uint32_t end) {
    for (uint32_t i = 0; i < builder->resources.count; i++) {
        const vyre_resource *row = &builder->resources.items[i].row;
        if (vyre_resource_is_field(row) && row->size == buffer && row->length < end &&
            row->length + vyre_type_bytes(vyre_resource_type(row)) > first) {
            return i;
        }
    }
    return VYRE_NONE;
}

uint32_t vyre_build_field(vyre_builder *builder, uint32_t buffer, vyre_type type, uint32_t offset) {
    if (buffer == VYRE_NONE && vyre_diagnostics_errors(builder->diagnostics)) {
        return VYRE_NONE;
    }
    if (buffer >= builder->resources.count ||
        !vyre_resource_has_records(&builder->resources.items[buffer].row)) {
        return builder_none(builder, 309, "name a buffer that vyre_build_records declares",
                            "resource %u has no records", buffer);
    }
    vyre_resource base = builder->resources.items[buffer].row;
    uint32_t bytes = vyre_type_bytes(type);
    if (!(vyre_type_class_of(type) & VYRE_CLASS_NUMBER) || offset % bytes || base.length % bytes ||
        offset >= base.length) {
        return builder_none(builder, 306, "use a number type, at a multiple of its size",
                            "a record of %u bytes has no %s at byte %u", base.length,
                            vyre_type_name(type), offset);
    }
    uint32_t known = find_field(builder, buffer, offset, offset + bytes);
    if (known != VYRE_NONE) {
        const vyre_resource *row = &builder->resources.items[known].row;
        bool same = row->length == offset && row->type == type;
        return same ? known
                    : builder_none(builder, 306, "use the type that the bytes have",
                                   "a field at byte %u overlaps one at byte %u", offset,
                                   row->length);
    }
    vyre_resource row = {.kind = VYRE_RESOURCE_FIELD,
                         .type = (uint8_t)type,
                         .access = base.access,
                         .size = buffer,
                         .length = offset};
    return builder_add_resource(builder, NULL, row, VYRE_NONE);
}

uint32_t vyre_build_scratch(vyre_builder *builder, const char *name, vyre_type type,
                            uint32_t size) {
    builder_label label;
    const char *shown = shown_name(name, "array", builder->resources.count, &label);
    if (!builder_use_fixed_size(builder, shown, size)) {
        return VYRE_NONE;
    }
    vyre_resource row = {.kind = VYRE_RESOURCE_SCRATCH,
                         .type = (uint8_t)type,
                         .access = VYRE_ACCESS_INOUT,
                         .size = size};
    return builder_add_resource(builder, name, row, VYRE_NONE);
}

static uint32_t add_array(vyre_builder *builder, vyre_resource_kind kind, const char *name,
                          vyre_type type, uint32_t length) {
    const char *what = kind == VYRE_RESOURCE_SHARED ? "shared" : "private";
    builder_label label;
    const char *shown = shown_name(name, "array", builder->resources.count, &label);
    if (!builder->in_phase) {
        return builder_none(builder, 108, "declare it inside the phase that uses it",
                            "%s array `%s` is declared outside a phase", what, shown);
    }
    uint64_t limit =
        kind == VYRE_RESOURCE_SHARED ? VYRE_LIMIT_SHARED_BYTES : VYRE_LIMIT_PRIVATE_BYTES;
    if (!length) {
        return builder_none(builder, 604, "give it at least one element",
                            "%s array `%s` has no elements", what, shown);
    }
    if ((uint64_t)length * vyre_type_bytes(type) > limit) {
        return builder_none(builder, 701, "make it smaller or use a scratch buffer",
                            "%s array `%s` takes %llu bytes, and at most %llu are allowed", what,
                            shown, (unsigned long long)length * vyre_type_bytes(type),
                            (unsigned long long)limit);
    }
    uint32_t phase = (uint32_t)builder->phases.count - 1;
    if (kind == VYRE_RESOURCE_SHARED && !builder->phases.items[phase].workgroup[0]) {
        return builder_none(
            builder, 603, "add a clause such as `workgroup 256` to the phase",
            "shared array `%s` needs a workgroup, and the phase has no workgroup clause", shown);
    }
    vyre_resource row = {.kind = (uint8_t)kind,
                         .type = (uint8_t)type,
                         .access = VYRE_ACCESS_INOUT,
                         .size = VYRE_NONE,
                         .length = length};
    return builder_add_resource(builder, name, row, phase);
}

uint32_t vyre_build_shared_sized(vyre_builder *builder, const char *name, vyre_type type,
                                 uint32_t size) {
    uint32_t shared = add_array(builder, VYRE_RESOURCE_SHARED, name, type, 1);
    if (shared == VYRE_NONE || !builder_use_fixed_size(builder, "shared", size)) {
        return VYRE_NONE;
    }
    vyre_resource *row = &builder->resources.items[shared].row;
    row->size = size;
    row->length = 0;
    return shared;
}

uint32_t vyre_build_shared(vyre_builder *builder, const char *name, vyre_type type,
                           uint32_t length) {
    return add_array(builder, VYRE_RESOURCE_SHARED, name, type, length);
}

uint32_t vyre_build_private(vyre_builder *builder, const char *name, vyre_type type,
                            uint32_t length) {
    return add_array(builder, VYRE_RESOURCE_PRIVATE, name, type, length);
}

/* Sizes */

static uint32_t add_size(vyre_builder *builder, vyre_size_node node, uint32_t depth) {
    if (builder->sizes.count >= VYRE_LIMIT_SIZE_NODES || depth > VYRE_LIMIT_EXPRESSION_NESTING) {
        return builder_none(builder, 701, "simplify the size expressions",
                            "the size expressions are too large");
    }
    bool counts = node.op == VYRE_SIZE_ITERATION ||
                  (vyre_size_is_operator(node.op) &&
                   (builder->sizes.items[node.a].counts || builder->sizes.items[node.b].counts));
    return builder_add(builder, sizes, (draft_size){node, depth, false, counts});
}

bool builder_use_size(vyre_builder *builder, const char *what, uint32_t size) {
    if (size == VYRE_NONE) {
        builder_absent(builder, what, "size");
        return false;
    }
    if (size >= builder->sizes.count || builder->sizes.items[size].used) {
        return builder_refuse(
            builder, 604, "make a new size for each use", "the size of `%s` is %s", what,
            size >= builder->sizes.count ? "from another builder" : "already used elsewhere");
    }
    builder->sizes.items[size].used = true;
    return true;
}

bool builder_use_fixed_size(vyre_builder *builder, const char *what, uint32_t size) {
    if (!builder_use_size(builder, what, size)) {
        return false;
    }
    return !builder->sizes.items[size].counts ||
           builder_refuse(builder, 604, "use the largest size that any iteration needs",
                          "the size of `%s` changes with the counter of a repeat, and it has to be "
                          "known before the run",
                          what);
}

uint32_t vyre_build_size_const(vyre_builder *builder, uint64_t value) {
    vyre_size_node node = {VYRE_SIZE_CONST, (uint32_t)value, (uint32_t)(value >> 32)};
    return add_size(builder, node, 1);
}

uint32_t vyre_build_size_len(vyre_builder *builder, uint32_t buffer) {
    buffer = builder_buffer_of(builder, buffer);
    if (!builder_resource(builder, "len", buffer)) {
        return VYRE_NONE;
    }
    for (uint32_t i = 0; i < builder->args.count; i++) {
        if (builder->args.items[i].resource == buffer) {
            return add_size(builder, (vyre_size_node){VYRE_SIZE_LEN, i, 0}, 1);
        }
    }
    return builder_none(builder, 604, "use the length of an argument",
                        "a size can use only lengths of the program's buffers");
}

uint32_t vyre_build_size_param(vyre_builder *builder, uint32_t scalar) {
    if (scalar >= builder->args.count || builder->args.items[scalar].resource != VYRE_NONE ||
        !(vyre_type_class_of((vyre_type)builder->args.items[scalar].type) & VYRE_CLASS_INTEGER)) {
        if (scalar == VYRE_NONE) {
            builder_absent(builder, "size", "argument");
        } else {
            vyre_build_report(builder, 604, "use an argument of an integer type",
                              "a size can use only integer arguments");
        }
        return VYRE_NONE;
    }
    return add_size(builder, (vyre_size_node){VYRE_SIZE_PARAM, scalar, 0}, 1);
}

uint32_t vyre_build_size_iteration(vyre_builder *builder, uint32_t repeat) {
    if (repeat == VYRE_NONE) {
        builder_absent(builder, "size", "repeat");
        return VYRE_NONE;
    }
    return builder_in_repeat(builder, repeat)
               ? add_size(builder, (vyre_size_node){VYRE_SIZE_ITERATION, repeat, 0}, 1)
               : builder_none(builder, 604, "use it inside that repeat",
                              "a size uses the counter of a repeat that is not around it");
}

uint32_t vyre_build_size_op(vyre_builder *builder, vyre_size_op op, uint32_t left, uint32_t right) {
    if (!vyre_size_is_operator(op)) {
        return builder_none(builder, 604, "use an operation such as VYRE_SIZE_ADD",
                            "%d is not a size operation with two operands", (int)op);
    }
    if (!builder_use_size(builder, "a size", left) || !builder_use_size(builder, "a size", right)) {
        return VYRE_NONE;
    }
    uint32_t left_depth = builder->sizes.items[left].depth;
    uint32_t right_depth = builder->sizes.items[right].depth;
    uint32_t depth = 1 + (left_depth > right_depth ? left_depth : right_depth);
    return add_size(builder, (vyre_size_node){op, left, right}, depth);
}

uint32_t vyre_build_size_copy(vyre_builder *builder, uint32_t size) {
    if (size >= builder->sizes.count) {
        builder_absent(builder, "a size", "size");
        return VYRE_NONE;
    }
    draft_size from = builder->sizes.items[size];
    if (vyre_size_is_operator(from.node.op)) {
        from.node.a = vyre_build_size_copy(builder, from.node.a);
        from.node.b =
            from.node.a == VYRE_NONE ? VYRE_NONE : vyre_build_size_copy(builder, from.node.b);
        if (from.node.b == VYRE_NONE) {
            return VYRE_NONE;
        }
        builder->sizes.items[from.node.a].used = builder->sizes.items[from.node.b].used = true;
    }
    return add_size(builder, from.node, from.depth);
}

/* Whether two expressions are written the same way. */
static bool same_size(const vyre_builder *builder, uint32_t left, uint32_t right) {
    const vyre_size_node *a = &builder->sizes.items[left].node;
    const vyre_size_node *b = &builder->sizes.items[right].node;
    if (a->op != b->op || !vyre_size_is_operator(a->op)) {
        return a->op == b->op && a->a == b->a && a->b == b->b;
    }
    return same_size(builder, a->a, b->a) && same_size(builder, a->b, b->b);
}

static bool constant_size(const vyre_builder *builder, uint32_t size, uint64_t *out_value) {
    const vyre_size_node *node = &builder->sizes.items[size].node;
    if (node->op == VYRE_SIZE_CONST) {
        *out_value = node->a | (uint64_t)node->b << 32;
        return true;
    }
    uint64_t left, right;
    const char *problem;
    return vyre_size_is_operator(node->op) && constant_size(builder, node->a, &left) &&
           constant_size(builder, node->b, &right) &&
           vyre_size_apply(node->op, left, right, out_value, &problem);
}

/* A buffer that states its length has no other once the program runs: one step back suffices for
 * what people write. */
static uint32_t stated_size(const vyre_builder *builder, uint32_t size) {
    const vyre_size_node *node = &builder->sizes.items[size].node;
    if (node->op != VYRE_SIZE_LEN) {
        return size;
    }
    uint32_t stated = builder->resources.items[builder->args.items[node->a].resource].row.size;
    return stated == VYRE_NONE ? size : stated;
}

size_match builder_match_sizes(const vyre_builder *builder, uint32_t left, uint32_t right,
                               uint64_t numbers[2]) {
    if (left >= builder->sizes.count || right >= builder->sizes.count) {
        return SIZES_MAY_BE_EQUAL;
    }
    uint32_t stated_left = stated_size(builder, left), stated_right = stated_size(builder, right);
    if (same_size(builder, left, right) || same_size(builder, stated_left, right) ||
        same_size(builder, left, stated_right) || same_size(builder, stated_left, stated_right)) {
        return SIZES_ARE_EQUAL;
    }
    if (!constant_size(builder, stated_left, &numbers[0]) ||
        !constant_size(builder, stated_right, &numbers[1])) {
        return SIZES_MAY_BE_EQUAL;
    }
    return numbers[0] == numbers[1] ? SIZES_ARE_EQUAL : SIZES_DIFFER;
}

void vyre_build_require(vyre_builder *builder, uint32_t left, uint32_t right) {
    bool valid = builder_use_fixed_size(builder, "require", left);
    if (!builder_use_fixed_size(builder, "require", right) || !valid) {
        return;
    }
    uint64_t numbers[2];
    switch (builder_match_sizes(builder, left, right, numbers)) {
    case SIZES_ARE_EQUAL: return;
    case SIZES_DIFFER:
        vyre_build_report(builder, 604, "require sizes that can be equal",
                          "the sizes are %llu and %llu, and must be equal",
                          (unsigned long long)numbers[0], (unsigned long long)numbers[1]);
        return;
    case SIZES_MAY_BE_EQUAL: break;
    }
    if (builder->requirements.count >= VYRE_LIMIT_REQUIREMENTS) {
        vyre_build_report(builder, 701, "require less", "a program has more than %d requirements",
                          VYRE_LIMIT_REQUIREMENTS);
    } else {
        (void)builder_add(builder, requirements,
                          (draft_requirement){{left, right}, builder_place(builder)});
    }
}
