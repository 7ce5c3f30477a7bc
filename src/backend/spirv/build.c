#include "backend/spirv/build.h"

#include <string.h>

#include "base/hash.h"

void spirv_builder_init(spirv_builder *b) {
    *b = (spirv_builder){.next = 1};
    b->out = &b->code;
}

void spirv_builder_free(spirv_builder *b) {
    spirv_section *const sections[] = {
        &b->modes,        &b->entries,   &b->strings, &b->names,     &b->decorations,
        &b->globals,      &b->functions, &b->head,    &b->variables, &b->code,
        &b->capabilities, &b->interface, &b->own};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        vyre_vec_free(sections[i]);
    }
    vyre_vec_free(&b->numbers);
    vyre_vec_free(&b->derived);
    vyre_map_free(&b->number_map);
    vyre_map_free(&b->derived_map);
}

spv_id spirv_new(spirv_builder *b) {
    return b->next++;
}

/* Instructions */

void spirv_append(spirv_builder *b, spirv_section *to, const uint32_t *words, size_t count) {
    if (b->failed || !count || !vyre_vec_reserve(to, count)) {
        b->failed |= count > 0;
        return;
    }
    memcpy(to->items + to->count, words, count * sizeof *words);
    to->count += count;
}

static void put_head(spirv_builder *b, spirv_section *to, spv_op op, size_t count) {
    enum { MOST = 0xffff };
    b->failed |= count >= MOST;
    const uint32_t head = (uint32_t)(count + 1) << 16 | (uint32_t)op;
    spirv_append(b, to, &head, 1);
}

void spirv_put(spirv_builder *b, spirv_section *to, spv_op op, const uint32_t *words,
               size_t count) {
    put_head(b, to, op, count);
    spirv_append(b, to, words, count);
}

void spirv_put_string(spirv_builder *b, spirv_section *to, spv_op op, const uint32_t *before,
                      size_t before_count, const char *string, const uint32_t *after,
                      size_t after_count) {
    enum { MOST = 1024 }; /* bytes; names are for people */
    size_t size = strlen(string);
    size = size < MOST ? size : MOST;
    size_t words = size / 4 + 1;
    put_head(b, to, op, before_count + words + after_count);
    spirv_append(b, to, before, before_count);
    for (size_t i = 0; i < words; i++) {
        uint32_t word = 0;
        for (size_t k = 0; k < 4 && i * 4 + k < size; k++) {
            word |= (uint32_t)(unsigned char)string[i * 4 + k] << 8 * k;
        }
        spirv_append(b, to, &word, 1);
    }
    spirv_append(b, to, after, after_count);
}

void spirv_line(spirv_builder *b, spv_op op, const uint32_t *words, size_t count) {
    if (b->block || b->out == &b->head) {
        spirv_put(b, b->out, op, words, count);
    }
}

spv_id spirv_value(spirv_builder *b, spv_op op, spv_id type, const uint32_t *words, size_t count) {
    spv_id id = spirv_new(b);
    if (b->block || b->out == &b->head) {
        const uint32_t first[] = {type, id};
        put_head(b, b->out, op, count + 2);
        spirv_append(b, b->out, first, 2);
        spirv_append(b, b->out, words, count);
    }
    return id;
}

spv_id spirv_one(spirv_builder *b, spv_op op, spirv_kind kind, spv_id x) {
    return SPIRV_VALUE(b, op, kind, x);
}

spv_id spirv_two(spirv_builder *b, spv_op op, spirv_kind kind, spv_id x, spv_id y) {
    return SPIRV_VALUE(b, op, kind, x, y);
}

spv_id spirv_choose(spirv_builder *b, spirv_kind kind, spv_id condition, spv_id x, spv_id y) {
    return SPIRV_VALUE(b, SPV_Select, kind, condition, x, y);
}

spv_id spirv_extended(spirv_builder *b, uint32_t number, spirv_kind kind, const spv_id *operands,
                      size_t count) {
    enum { MOST = 3 };
    b->extended = b->extended ? b->extended : spirv_new(b);
    uint32_t words[2 + MOST] = {b->extended, number, 0, 0, 0};
    count = count < MOST ? count : MOST;
    memcpy(words + 2, operands, count * sizeof *operands);
    return spirv_value(b, SPV_ExtInst, spirv_type(b, kind), words, count + 2);
}

/* Declarations */

void spirv_need(spirv_builder *b, uint32_t capability) {
    for (size_t i = 0; i < b->capabilities.count; i++) {
        if (b->capabilities.items[i] == capability) {
            return;
        }
    }
    spirv_append(b, &b->capabilities, &capability, 1);
}

static spv_id declare(spirv_builder *b, spirv_kind kind) {
    enum { BYTE = 8, HALF = 16, WORD = 32, LONG = 64 };
    spirv_section *to = &b->globals;
    spv_id u32 = kind > SPIRV_REAL64 ? spirv_type(b, SPIRV_U32) : 0, id = spirv_new(b);
    switch (kind) {
    case SPIRV_VOID: SPIRV_PUT(b, to, SPV_TypeVoid, id); break;
    case SPIRV_BOOL: SPIRV_PUT(b, to, SPV_TypeBool, id); break;
    case SPIRV_U8: SPIRV_PUT(b, to, SPV_TypeInt, id, BYTE, 0); break;
    case SPIRV_U16: SPIRV_PUT(b, to, SPV_TypeInt, id, HALF, 0); break;
    case SPIRV_U32: SPIRV_PUT(b, to, SPV_TypeInt, id, WORD, 0); break;
    case SPIRV_U64: SPIRV_PUT(b, to, SPV_TypeInt, id, LONG, 0); break;
    case SPIRV_REAL32: SPIRV_PUT(b, to, SPV_TypeFloat, id, WORD); break;
    case SPIRV_REAL64:
        spirv_need(b, SPV_C_Float64);
        SPIRV_PUT(b, to, SPV_TypeFloat, id, LONG);
        break;
    case SPIRV_PAIR: SPIRV_PUT(b, to, SPV_TypeVector, id, u32, 2); break;
    case SPIRV_TRIPLE: SPIRV_PUT(b, to, SPV_TypeVector, id, u32, 3); break;
    case SPIRV_WORDS: SPIRV_PUT(b, to, SPV_TypeVector, id, u32, 4); break;
    case SPIRV_KIND_COUNT: break;
    }
    return id;
}

spv_id spirv_type(spirv_builder *b, spirv_kind kind) {
    if (!b->kinds[kind]) {
        b->kinds[kind] = declare(b, kind);
    }
    return b->kinds[kind];
}

typedef struct derived_key {
    const spirv_builder *b;
    uint32_t storage, element, length;
} derived_key;

static bool is_derived(const void *context, uint32_t value) {
    const derived_key *key = context;
    const spirv_derived *row = &key->b->derived.items[value];
    return row->storage == key->storage && row->element == key->element &&
           row->length == key->length;
}

enum { OF_ZEROS = 0x7fffffff }; /* instead of a storage class: no type, but a constant of one */

static spv_id derive(spirv_builder *b, uint32_t storage, spv_id element, uint32_t length) {
    const derived_key key = {b, storage, element, length};
    const uint32_t words[] = {storage, element, length};
    uint64_t hash = vyre_hash(words, sizeof words);
    const uint32_t *found = vyre_map_find(&b->derived_map, hash, is_derived, &key);
    if (found) {
        return b->derived.items[*found].id;
    }
    spv_id count = storage ? 0 : spirv_u32(b, length), id = spirv_new(b);
    if (storage == OF_ZEROS) {
        SPIRV_PUT(b, &b->globals, SPV_ConstantNull, element, id);
    } else if (storage) {
        SPIRV_PUT(b, &b->globals, SPV_TypePointer, id, storage, element);
    } else {
        SPIRV_PUT(b, &b->globals, SPV_TypeArray, id, element, count);
    }
    uint32_t index = (uint32_t)b->derived.count;
    if (!vyre_vec_push(&b->derived, (spirv_derived){storage, element, length, id}) ||
        !vyre_map_add(&b->derived_map, hash, index)) {
        b->failed = true;
    }
    return id;
}

spv_id spirv_pointer(spirv_builder *b, uint32_t storage, spv_id element) {
    return derive(b, storage, element, 0);
}

spv_id spirv_array(spirv_builder *b, spv_id element, uint32_t length) {
    return derive(b, 0, element, length);
}

spv_id spirv_null(spirv_builder *b, spv_id type) {
    return derive(b, OF_ZEROS, type, 0);
}

typedef struct number_key {
    const spirv_builder *b;
    uint64_t bits;
    spirv_kind kind;
} number_key;

static bool is_number(const void *context, uint32_t value) {
    const number_key *key = context;
    const spirv_number *row = &key->b->numbers.items[value];
    return row->bits == key->bits && row->kind == key->kind;
}

spv_id spirv_number_of(spirv_builder *b, spirv_kind kind, uint64_t bits) {
    if (kind == SPIRV_BOOL) {
        return spirv_truth(b, bits != 0);
    }
    const number_key key = {b, bits, kind};
    const uint64_t words[] = {bits, (uint64_t)kind};
    uint64_t hash = vyre_hash(words, sizeof words);
    const uint32_t *found = vyre_map_find(&b->number_map, hash, is_number, &key);
    if (found) {
        return b->numbers.items[*found].id;
    }
    spv_id type = spirv_type(b, kind), id = spirv_new(b);
    const uint32_t parts[] = {type, id, (uint32_t)bits, (uint32_t)(bits >> 32)};
    spirv_put(b, &b->globals, SPV_Constant, parts, spirv_kind_bytes(kind) == 8 ? 4 : 3);
    uint32_t index = (uint32_t)b->numbers.count;
    if (!vyre_vec_push(&b->numbers, (spirv_number){bits, kind, id}) ||
        !vyre_map_add(&b->number_map, hash, index)) {
        b->failed = true;
    }
    return id;
}

spv_id spirv_truth(spirv_builder *b, bool truth) {
    spv_id *id = truth ? &b->yes : &b->no;
    if (!*id) {
        spv_id type = spirv_type(b, SPIRV_BOOL);
        *id = spirv_new(b);
        SPIRV_PUT(b, &b->globals, truth ? SPV_ConstantTrue : SPV_ConstantFalse, type, *id);
    }
    return *id;
}

spv_id spirv_global(spirv_builder *b, uint32_t storage, spv_id type) {
    spv_id pointer = spirv_pointer(b, storage, type), id = spirv_new(b);
    SPIRV_PUT(b, &b->globals, SPV_Variable, pointer, id, storage);
    spirv_append(b, storage == SPV_S_Workgroup ? &b->own : &b->interface, &id, 1);
    return id;
}

spv_id spirv_local(spirv_builder *b, spv_id type) {
    spv_id pointer = spirv_pointer(b, SPV_S_Function, type), id = spirv_new(b);
    SPIRV_PUT(b, &b->variables, SPV_Variable, pointer, id, SPV_S_Function);
    return id;
}

spv_id spirv_builtin(spirv_builder *b, uint32_t builtin, spirv_kind kind) {
    if (!b->builtins[builtin]) {
        spv_id id = spirv_global(b, SPV_S_Input, spirv_type(b, kind));
        SPIRV_PUT(b, &b->decorations, SPV_Decorate, id, SPV_D_BuiltIn, builtin);
        b->builtins[builtin] = id;
    }
    return b->builtins[builtin];
}

/* Blocks */

void spirv_place(spirv_builder *b, spv_id label) {
    spirv_jump(b, label);
    SPIRV_PUT(b, &b->code, SPV_Label, label);
    b->block = label;
}

void spirv_jump(spirv_builder *b, spv_id label) {
    SPIRV_LINE(b, SPV_Branch, label);
    b->block = 0;
}

void spirv_branch(spirv_builder *b, spv_id condition, spv_id yes, spv_id no) {
    SPIRV_LINE(b, SPV_BranchConditional, condition, yes, no);
    b->block = 0;
}

void spirv_end(spirv_builder *b, spv_op op) {
    spirv_line(b, op, NULL, 0);
    b->block = 0;
}

spv_id spirv_begin_if(spirv_builder *b, spv_id condition) {
    spv_id yes = spirv_new(b), behind = spirv_new(b);
    SPIRV_LINE(b, SPV_SelectionMerge, behind, 0);
    spirv_branch(b, condition, yes, behind);
    spirv_place(b, yes);
    return behind;
}

void spirv_end_if(spirv_builder *b, spv_id behind) {
    spirv_place(b, behind);
}

spirv_turns spirv_begin_turns(spirv_builder *b, spv_id first, spv_id step, spv_id limit) {
    spirv_turns turns = {.head = spirv_new(b), .latch = spirv_new(b), .exit = spirv_new(b)};
    spv_id test = spirv_new(b), body = spirv_new(b);
    turns.step = step;
    turns.at = spirv_local(b, spirv_type(b, SPIRV_U32));
    SPIRV_LINE(b, SPV_Store, turns.at, first);
    spirv_place(b, turns.head);
    SPIRV_LINE(b, SPV_LoopMerge, turns.exit, turns.latch, 0);
    spirv_place(b, test);
    turns.now = SPIRV_VALUE(b, SPV_Load, SPIRV_U32, turns.at);
    spv_id more = spirv_two(b, SPV_ULessThan, SPIRV_BOOL, turns.now, limit);
    spirv_branch(b, more, body, turns.exit);
    spirv_place(b, body);
    return turns;
}

void spirv_end_turns(spirv_builder *b, const spirv_turns *turns) {
    spirv_place(b, turns->latch);
    SPIRV_LINE(b, SPV_Store, turns->at, spirv_two(b, SPV_IAdd, SPIRV_U32, turns->now, turns->step));
    spirv_jump(b, turns->head);
    spirv_place(b, turns->exit);
}

/* Functions */

void spirv_begin_function(spirv_builder *b, spv_id function) {
    spv_id nothing = spirv_type(b, SPIRV_VOID);
    if (!b->function_type) {
        b->function_type = spirv_new(b);
        SPIRV_PUT(b, &b->globals, SPV_TypeFunction, b->function_type, nothing);
    }
    SPIRV_PUT(b, &b->functions, SPV_Function, nothing, function, 0, b->function_type);
    spv_id first = spirv_new(b);
    SPIRV_PUT(b, &b->functions, SPV_Label, first);
    b->variables.count = b->head.count = b->code.count = 0;
    b->block = first;
}

void spirv_end_function(spirv_builder *b) {
    spirv_end(b, SPV_Return);
    spirv_append(b, &b->functions, b->variables.items, b->variables.count);
    spirv_append(b, &b->functions, b->head.items, b->head.count);
    spirv_append(b, &b->functions, b->code.items, b->code.count);
    spirv_put(b, &b->functions, SPV_FunctionEnd, NULL, 0);
}

void spirv_name(spirv_builder *b, spv_id id, const char *name) {
    spirv_put_string(b, &b->names, SPV_Name, &id, 1, name, NULL, 0);
}

/* The module */

uint32_t *spirv_finish(spirv_builder *b, uint32_t version, bool vulkan_model, size_t *out_count) {
    spirv_section all = {0};
    spv_id import = b->extended;
    const uint32_t header[SPV_HEADER] = {SPV_MAGIC, version, 0, b->next, 0};
    spirv_append(b, &all, header, SPV_HEADER);
    for (size_t i = 0; i < b->capabilities.count; i++) {
        SPIRV_PUT(b, &all, SPV_Capability, b->capabilities.items[i]);
    }
    if (import) {
        spirv_put_string(b, &all, SPV_ExtInstImport, &import, 1, "GLSL.std.450", NULL, 0);
    }
    SPIRV_PUT(b, &all, SPV_MemoryModel, SPV_A_PhysicalStorageBuffer64,
              vulkan_model ? SPV_M_Vulkan : SPV_M_GLSL450);
    const spirv_section *const sections[] = {&b->entries,     &b->modes,   &b->strings,  &b->names,
                                             &b->decorations, &b->globals, &b->functions};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        spirv_append(b, &all, sections[i]->items, sections[i]->count);
    }
    if (b->failed) {
        vyre_vec_free(&all);
        return NULL;
    }
    *out_count = all.count;
    return all.items;
}
