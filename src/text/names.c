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

static uint32_t find_or_add(vyre_names *names, const char *at, uint32_t length) {
    search wanted = {names, at, length};
    uint64_t hash = vyre_hash_key(wanted.data, length);
    const uint32_t *found = vyre_map_find(&names->map, hash, same_name, &wanted);
    if (found) {
        return *found;
    }
    uint32_t symbol = (uint32_t)names->symbols.count;
    vyre_symbol row = {.offset = (uint32_t)(at - names->text),
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

uint32_t vyre_names_symbol(vyre_names *names, const char *at, uint32_t length) {
    uint32_t symbol = find_or_add(names, at, length);
    if (symbol != VYRE_NONE && length < VYRE_RECENT_BYTES && names->end - at >= VYRE_RECENT_BYTES) {
        vyre_name_bytes low = vyre_name_start(at);
        vyre_name_bytes high = low.count == 8 ? vyre_name_start(at + 8) : (vyre_name_bytes){0, 0};
        names->recent[vyre_names_slot(low.bytes, high.bytes)] = (vyre_recent_name){
            low.bytes, high.bytes, symbol, (uint8_t)length, names->symbols.items[symbol].token};
    }
    return symbol;
}

uint32_t vyre_names_other(vyre_names *names, uint32_t symbol) {
    vyre_symbol row = names->symbols.items[symbol];
    if (row.other) {
        return row.other;
    }
    uint32_t other = (uint32_t)names->symbols.count;
    row.binding = row.item = VYRE_NONE;
    row.type = 0;
    row.is_program = row.generic = false;
    if (!vyre_vec_push(&names->symbols, row)) {
        return VYRE_NONE;
    }
    names->symbols.items[symbol].other = other;
    return other;
}

bool vyre_names_bind(vyre_names *names, vyre_name_binding binding) {
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
    const vyre_name_binding *last = &names->bindings.items[--names->bindings.count];
    names->symbols.items[last->symbol].binding = last->previous;
}
