#include "text/names.h"

#include <string.h>

#include "base/hash.h"
#include "text/lexer.h"

typedef struct search {
    const vyre_names *names;
    const char *data;
    uint32_t length;
} search;

static bool same_name(const void *context, uint32_t value) {
    const search *wanted = context;
    const vyre_symbol *symbol = &wanted->names->symbols.items[value];
    return symbol->length == wanted->length &&
           !memcmp(wanted->names->text + symbol->offset, wanted->data, wanted->length);
}

void vyre_names_init(vyre_names *names, const char *text, const char *end) {
    *names = (vyre_names){.text = text, .end = end};
}

void vyre_names_deinit(vyre_names *names) {
    vyre_map_free(&names->map);
    vyre_vec_free(&names->symbols);
    vyre_vec_free(&names->bindings);
}

uint32_t vyre_names_add(vyre_names *names, uint32_t offset, uint32_t length) {
    search wanted = {names, names->text + offset, length};
    uint64_t hash = vyre_hash_key(wanted.data, length);
    const uint32_t *found = vyre_map_find(&names->map, hash, same_name, &wanted);
    if (found) {
        return *found;
    }
    uint32_t symbol = (uint32_t)names->symbols.count;
    vyre_symbol row = {.offset = offset,
                       .binding = VYRE_NONE,
                       .item = VYRE_NONE,
                       .length = (uint8_t)length,
                       .word = (uint16_t)vyre_word_find((vyre_str){wanted.data, length})};
    row.token = (uint8_t)vyre_token_of_word(row.word);
    if (!vyre_vec_push(&names->symbols, row)) {
        return VYRE_NONE;
    }
    if (!vyre_map_add(&names->map, hash, symbol)) {
        names->symbols.count--;
        return VYRE_NONE;
    }
    return symbol;
}

bool vyre_names_bind(vyre_names *names, vyre_binding binding) {
    vyre_symbol *symbol = &names->symbols.items[binding.symbol];
    binding.previous = symbol->binding;
    uint32_t number = (uint32_t)names->bindings.count;
    if (!vyre_vec_push(&names->bindings, binding)) {
        return false;
    }
    symbol->binding = number;
    return true;
}

void vyre_names_pop(vyre_names *names) {
    const vyre_binding *last = &names->bindings.items[--names->bindings.count];
    names->symbols.items[last->symbol].binding = last->previous;
}
